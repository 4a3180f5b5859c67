/* SPDX-License-Identifier: Apache-2.0
 * The kernels by number. X(NUMBER, function, kinds of its arguments: see tz_argument_kind) */
#ifndef TZ_DEVICE_KERNEL_LIST_H
#define TZ_DEVICE_KERNEL_LIST_H

#define TZ_KERNEL_LIST(X)                                                                          \
    X(PLACE_ROWS, tz_kernel_place_rows, "mm88844444")                                              \
    X(UNDO2_U8, tz_kernel_undo2_u8, "m884444")                                                     \
    X(UNDO2_U16, tz_kernel_undo2_u16, "m884444")                                                   \
    X(UNDO2_U32, tz_kernel_undo2_u32, "m884444")                                                   \
    X(UNDO2_U64, tz_kernel_undo2_u64, "m884444")

#define TZ_KERNEL_NUMBER(number, function, kinds) TZ_KERNEL_##number,
enum { TZ_KERNEL_LIST(TZ_KERNEL_NUMBER) TZ_KERNEL_COUNT };
#undef TZ_KERNEL_NUMBER

/* Items of a group: one size for all kernels, since some compilers compile anew for each. */
#define TZ_GROUP_ITEMS 64u

#endif
