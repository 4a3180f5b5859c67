/* SPDX-License-Identifier: Apache-2.0
 * The kernels by number, in families: a family is one program, compiled when one of its kernels is
 * first wanted. X(NUMBER, FAMILY, function, kinds of its arguments: see tz_argument_kind) */
#ifndef TZ_DEVICE_KERNEL_LIST_H
#define TZ_DEVICE_KERNEL_LIST_H

/* X(FAMILY, where its text is: see terrazzo_kernel_family in CMakeLists.txt). The first one is
 * compiled when a device is opened: a device that cannot compile is of no use. */
#define TZ_FAMILY_LIST(X)                                                                          \
    X(TILES, tiles)                                                                                \
    X(DEFLATE, deflate)                                                                            \
    X(PACKBITS, packbits)                                                                          \
    X(COMPACT, compact)

#define TZ_KERNEL_LIST(X)                                                                          \
    X(PLACE_ROWS, TILES, tz_kernel_place_rows, "mm88844444")                                       \
    X(UNDO2_U8, TILES, tz_kernel_undo2_u8, "m884444")                                              \
    X(UNDO2_U16, TILES, tz_kernel_undo2_u16, "m884444")                                            \
    X(UNDO2_U32, TILES, tz_kernel_undo2_u32, "m884444")                                            \
    X(UNDO2_U64, TILES, tz_kernel_undo2_u64, "m884444")                                            \
    X(DEFLATE_ITEM, DEFLATE, tz_kernel_deflate_item, "m88")                                        \
    X(DEFLATE_GROUP, DEFLATE, tz_kernel_deflate_group, "m88")                                      \
    X(PACKBITS_ITEM, PACKBITS, tz_kernel_packbits_item, "m884")                                    \
    X(PACKBITS_GROUP, PACKBITS, tz_kernel_packbits_group, "m884")                                  \
    X(ENCODE_NONE, COMPACT, tz_kernel_encode_none, "m888")                                         \
    X(COMPACT_SCAN, COMPACT, tz_kernel_compact_scan, "m88844")                                     \
    X(COMPACT_MOVE, COMPACT, tz_kernel_compact_move, "m8888444")

#define TZ_FAMILY_NUMBER(family, text) TZ_FAMILY_##family,
enum { TZ_FAMILY_LIST(TZ_FAMILY_NUMBER) TZ_FAMILY_COUNT };
#undef TZ_FAMILY_NUMBER

#define TZ_KERNEL_NUMBER(number, family, function, kinds) TZ_KERNEL_##number,
enum { TZ_KERNEL_LIST(TZ_KERNEL_NUMBER) TZ_KERNEL_COUNT };
#undef TZ_KERNEL_NUMBER

/* Items of a group: one size for all kernels, since some compilers compile anew for each. */
#define TZ_GROUP_ITEMS 64u

#endif
