/* SPDX-License-Identifier: Apache-2.0
 * What kind of file a mode says, for messages. */
#define _POSIX_C_SOURCE 200809L
#include "io/file_kind.h"

const char *tz_file_kind_name(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a directory";
    if (S_ISFIFO(mode))
        return "a FIFO";
    if (S_ISSOCK(mode))
        return "a socket";
    if (S_ISCHR(mode))
        return "a character device";
    if (S_ISBLK(mode))
        return "a block device";
    return "of an unknown kind";
}
