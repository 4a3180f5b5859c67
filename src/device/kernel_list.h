/* SPDX-License-Identifier: Apache-2.0
 * The kernels by number, in families. A family is one program, which is compiled when one of its
 * kernels is first launched. Rows are X(NUMBER, FAMILY, function, kinds of its arguments as in
 * tz_argument_kind); a launch whose arguments have other kinds is refused. */
#ifndef TZ_DEVICE_KERNEL_LIST_H
#define TZ_DEVICE_KERNEL_LIST_H

#include <stdint.h>

/* X(FAMILY, name of its text: see cmake/TerrazzoKernels.cmake). The first one is compiled when a
 * device is opened, because a device that cannot compile is of no use. */
#define TZ_FAMILY_LIST(X)                                                                          \
    X(CONVERT, convert)                                                                            \
    X(INFLATE, inflate)                                                                            \
    X(LZW, lzw)                                                                                    \
    X(LZ4, lz4)                                                                                    \
    X(PACKBITS, packbits)                                                                          \
    X(ZSTD, zstd)                                                                                  \
    X(VENDOR_DECODE, vendor_decode)                                                                \
    X(EXTRACT, extract)                                                                            \
    X(STATS, stats)                                                                                \
    X(DEFLATE, deflate)                                                                            \
    X(ENCODE_PACKBITS, encode_packbits)                                                            \
    X(VENDOR_ENCODE, vendor_encode)                                                                \
    X(COMPACT, compact)                                                                            \
    X(OVERVIEW_INTEGER, overview_integer)                                                          \
    X(OVERVIEW_F64, overview_f64)

/* Kernels for devices of every kind; the images for CUDA have only these. */
#define TZ_GPU_KERNEL_LIST(X)                                                                      \
    X(CONVERT, CONVERT, tz_kernel_convert, "mmm88")                                                \
    X(UNPREDICT, CONVERT, tz_kernel_unpredict, "m8")                                               \
    X(INFLATE_WORK_GROUP, INFLATE, tz_kernel_inflate_work_group, "m888")                           \
    X(LZW_WORK_GROUP, LZW, tz_kernel_lzw_work_group, "m888")                                       \
    X(LZ4_WORK_GROUP, LZ4, tz_kernel_lz4_work_group, "m888")                                       \
    X(PACKBITS_WORK_GROUP, PACKBITS, tz_kernel_packbits_work_group, "m888")                        \
    X(ZSTD_WORK_GROUP, ZSTD, tz_kernel_zstd_work_group, "m888")                                    \
    X(VENDOR_DECODE_ARRANGE, VENDOR_DECODE, tz_kernel_vendor_decode_arrange, "m8888")              \
    X(VENDOR_DECODE_LIST, VENDOR_DECODE, tz_kernel_vendor_decode_list, "m8884444")                 \
    X(VENDOR_DECODE_CHECK, VENDOR_DECODE, tz_kernel_vendor_decode_check, "m88884")                 \
    X(EXTRACT_U8, EXTRACT, tz_kernel_extract_u8, "mm888448888444448884")                           \
    X(EXTRACT_U16, EXTRACT, tz_kernel_extract_u16, "mm888448888444448884")                         \
    X(EXTRACT_U32, EXTRACT, tz_kernel_extract_u32, "mm888448888444448884")                         \
    X(EXTRACT_U64, EXTRACT, tz_kernel_extract_u64, "mm888448888444448884")                         \
    X(INSPECT_WORK_GROUP, EXTRACT, tz_kernel_inspect_work_group, "m88844844444488")                \
    X(STORE_ROWS_WORK_GROUP, EXTRACT, tz_kernel_store_rows_work_group, "m88844884444444")          \
    X(COPY_ROWS, EXTRACT, tz_kernel_copy_rows, "mm8888888884444")                                  \
    X(STATS_WORK_GROUP, STATS, tz_kernel_stats_work_group, "mm88844844444888")                     \
    X(DEFLATE_WORK_GROUP, DEFLATE, tz_kernel_deflate_work_group, "m88")                            \
    X(ENCODE_PACKBITS_WORK_GROUP, ENCODE_PACKBITS, tz_kernel_encode_packbits_work_group, "m884")   \
    X(VENDOR_ENCODE_LIST, VENDOR_ENCODE, tz_kernel_vendor_encode_list, "m8884")                    \
    X(VENDOR_ENCODE_FRAME, VENDOR_ENCODE, tz_kernel_vendor_encode_frame, "m888844")                \
    X(ENCODE_NONE, COMPACT, tz_kernel_encode_none, "m888")                                         \
    X(COMPACT_SCAN, COMPACT, tz_kernel_compact_scan, "m88844")                                     \
    X(COMPACT_MOVE, COMPACT, tz_kernel_compact_move, "m8888444")                                   \
    X(OVERVIEW_PICK, OVERVIEW_INTEGER, tz_kernel_overview_pick, "mmmmmmm8")                        \
    X(OVERVIEW_HALF_U8, OVERVIEW_INTEGER, tz_kernel_overview_half_u8, "mmmmmmm8")                  \
    X(OVERVIEW_HALF_U16, OVERVIEW_INTEGER, tz_kernel_overview_half_u16, "mmmmmmm8")                \
    X(OVERVIEW_HALF_I16, OVERVIEW_INTEGER, tz_kernel_overview_half_i16, "mmmmmmm8")                \
    X(OVERVIEW_HALF_F32, OVERVIEW_F64, tz_kernel_overview_half_f32, "mmmmmmm8")                    \
    X(OVERVIEW_MEAN_U8, OVERVIEW_F64, tz_kernel_overview_mean_u8, "mmmmmmm8")                      \
    X(OVERVIEW_MEAN_U16, OVERVIEW_F64, tz_kernel_overview_mean_u16, "mmmmmmm8")                    \
    X(OVERVIEW_MEAN_I16, OVERVIEW_F64, tz_kernel_overview_mean_i16, "mmmmmmm8")                    \
    X(OVERVIEW_MEAN_F32, OVERVIEW_F64, tz_kernel_overview_mean_f32, "mmmmmmm8")                    \
    X(OVERVIEW_MEAN, OVERVIEW_F64, tz_kernel_overview_mean, "mmmmmmm8")                            \
    X(OVERVIEW_FILTER, OVERVIEW_F64, tz_kernel_overview_filter, "mmmmmmm8")                        \
    X(OVERVIEW_EXTREME, OVERVIEW_F64, tz_kernel_overview_extreme, "mmmmmmm8")                      \
    X(OVERVIEW_CHOICE, OVERVIEW_F64, tz_kernel_overview_choice, "mmmmmmm8")

/* Kernels in which one work-item does the work of a group, for CPU devices of OpenCL. */
#define TZ_CPU_KERNEL_LIST(X)                                                                      \
    X(INFLATE_WORK_ITEM, INFLATE, tz_kernel_inflate_work_item, "m888")                             \
    X(LZW_WORK_ITEM, LZW, tz_kernel_lzw_work_item, "m888")                                         \
    X(LZ4_WORK_ITEM, LZ4, tz_kernel_lz4_work_item, "m888")                                         \
    X(PACKBITS_WORK_ITEM, PACKBITS, tz_kernel_packbits_work_item, "m888")                          \
    X(ZSTD_WORK_ITEM, ZSTD, tz_kernel_zstd_work_item, "m888")                                      \
    X(INSPECT, EXTRACT, tz_kernel_inspect, "m88844844444488")                                      \
    X(STORE_ROWS, EXTRACT, tz_kernel_store_rows, "m88844884444444")                                \
    X(STATS, STATS, tz_kernel_stats, "mm88844844444888")                                           \
    X(DEFLATE_WORK_ITEM, DEFLATE, tz_kernel_deflate_work_item, "m88")                              \
    X(ENCODE_PACKBITS_WORK_ITEM, ENCODE_PACKBITS, tz_kernel_encode_packbits_work_item, "m884")

#define TZ_KERNEL_LIST(X) TZ_GPU_KERNEL_LIST(X) TZ_CPU_KERNEL_LIST(X)

#define TZ_FAMILY_NUMBER(family, text) TZ_FAMILY_##family,
enum { TZ_FAMILY_LIST(TZ_FAMILY_NUMBER) TZ_FAMILY_COUNT };
#undef TZ_FAMILY_NUMBER

#define TZ_KERNEL_NUMBER(number, family, function, kinds) TZ_KERNEL_##number,
enum {
    TZ_GPU_KERNEL_LIST(TZ_KERNEL_NUMBER) TZ_GPU_KERNEL_COUNT,
    TZ_LAST_GPU_KERNEL = TZ_GPU_KERNEL_COUNT - 1,
    TZ_CPU_KERNEL_LIST(TZ_KERNEL_NUMBER) TZ_KERNEL_COUNT
};
#undef TZ_KERNEL_NUMBER

/* The name of the function and the family of each kernel. */
extern const char *const tz_kernel_names[TZ_KERNEL_COUNT];
extern const uint32_t tz_kernel_families[TZ_KERNEL_COUNT];

/* Work-items of a group: one size for all kernels, since some compilers compile again for each. */
#define TZ_WORK_GROUP_ITEMS 64u

#endif
