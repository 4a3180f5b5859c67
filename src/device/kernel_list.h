/* SPDX-License-Identifier: Apache-2.0
 * The kernels by number, in families: a family is one program, compiled when one of its kernels is
 * first wanted. X(NUMBER, FAMILY, function, kinds of its arguments: see tz_argument_kind) */
#ifndef TZ_DEVICE_KERNEL_LIST_H
#define TZ_DEVICE_KERNEL_LIST_H

/* X(FAMILY, where its text is: see terrazzo_kernel_family in CMakeLists.txt). The first one is
 * compiled when a device is opened: a device that cannot compile is of no use. */
#define TZ_FAMILY_LIST(X)                                                                          \
    X(TILES, tiles)                                                                                \
    X(HALVES, halves)                                                                              \
    X(REDUCE, reduce)

#define TZ_KERNEL_LIST(X)                                                                          \
    X(PLACE_ROWS, TILES, tz_kernel_place_rows, "mm88844444")                                       \
    X(UNDO2_U8, TILES, tz_kernel_undo2_u8, "m884444")                                              \
    X(UNDO2_U16, TILES, tz_kernel_undo2_u16, "m884444")                                            \
    X(UNDO2_U32, TILES, tz_kernel_undo2_u32, "m884444")                                            \
    X(UNDO2_U64, TILES, tz_kernel_undo2_u64, "m884444")                                            \
    X(REDUCE_PICK, HALVES, tz_kernel_reduce_pick, "mmmmmmm8")                                      \
    X(REDUCE_HALF_U8, HALVES, tz_kernel_reduce_half_u8, "mmmmmmm8")                                \
    X(REDUCE_HALF_U16, HALVES, tz_kernel_reduce_half_u16, "mmmmmmm8")                              \
    X(REDUCE_HALF_I16, HALVES, tz_kernel_reduce_half_i16, "mmmmmmm8")                              \
    X(REDUCE_HALF_F32, REDUCE, tz_kernel_reduce_half_f32, "mmmmmmm8")                              \
    X(REDUCE_MEAN, REDUCE, tz_kernel_reduce_mean, "mmmmmmm8")                                      \
    X(REDUCE_FILTER, REDUCE, tz_kernel_reduce_filter, "mmmmmmm8")                                  \
    X(REDUCE_EXTREME, REDUCE, tz_kernel_reduce_extreme, "mmmmmmm8")                                \
    X(REDUCE_CHOICE, REDUCE, tz_kernel_reduce_choice, "mmmmmmm8")

#define TZ_FAMILY_NUMBER(family, text) TZ_FAMILY_##family,
enum { TZ_FAMILY_LIST(TZ_FAMILY_NUMBER) TZ_FAMILY_COUNT };
#undef TZ_FAMILY_NUMBER

#define TZ_KERNEL_NUMBER(number, family, function, kinds) TZ_KERNEL_##number,
enum { TZ_KERNEL_LIST(TZ_KERNEL_NUMBER) TZ_KERNEL_COUNT };
#undef TZ_KERNEL_NUMBER

/* Items of a group: one size for all kernels, since some compilers compile anew for each. */
#define TZ_GROUP_ITEMS 64u

#endif
