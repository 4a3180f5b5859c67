/* SPDX-License-Identifier: Apache-2.0
 * Comparisons of two declarations by the compiler. */
#ifndef TESTS_NVIDIA_SAME_H
#define TESTS_NVIDIA_SAME_H

#include <stddef.h>

#define SAME_SIZE(ours, theirs)                                                                    \
    _Static_assert(sizeof(ours) == sizeof(theirs), #theirs " has another size")
/* A member, under two names, has the same offset. */
#define SAME_MEMBER(ours, member, theirs, their_member)                                            \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, their_member) &&                     \
                       sizeof(((ours *)0)->member) == sizeof(((theirs *)0)->their_member),         \
                   #their_member " of " #theirs " is elsewhere")
#define SAME_PLACE(ours, theirs, member) SAME_MEMBER(ours, member, theirs, member)
#define SAME_VALUE(ours, theirs)                                                                   \
    _Static_assert((long long)(ours) == (long long)(theirs), #theirs " has another value")
#define SAME_FUNCTION(function, type)                                                              \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&function), type),                      \
                   #function " has another type")

#endif
