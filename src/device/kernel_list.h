/* SPDX-License-Identifier: Apache-2.0
 * The kernels by number, in families: a family is one program, compiled when one of its kernels is
 * first wanted. X(NUMBER, FAMILY, function, kinds of its arguments: see tz_argument_kind) */
#ifndef TZ_DEVICE_KERNEL_LIST_H
#define TZ_DEVICE_KERNEL_LIST_H

#include <stdint.h>

/* X(FAMILY, where its text is: see terrazzo_kernel_family in CMakeLists.txt). The first one is
 * compiled when a device is opened: a device that cannot compile is of no use. */
#define TZ_FAMILY_LIST(X)                                                                          \
    X(TILES, tiles)                                                                                \
    X(INFLATE, inflate)                                                                            \
    X(LZW, lzw)                                                                                    \
    X(LZ4, lz4)                                                                                    \
    X(PACKBITS, packbits)                                                                          \
    X(ZSTD, zstd)                                                                                  \
    X(CHUNKS, chunks)                                                                              \
    X(CUT, cut)                                                                                    \
    X(TALLY, tally)                                                                                \
    X(DEFLATE, deflate)                                                                            \
    X(ENCODE_PACKBITS, encode_packbits)                                                            \
    X(ENCODE_LIBRARY, encode_library)                                                              \
    X(COMPACT, compact)                                                                            \
    X(HALVES, halves)                                                                              \
    X(REDUCE, reduce)

/* Kernels for devices of every kind; the images for CUDA have these alone. */
#define TZ_GPU_KERNEL_LIST(X)                                                                      \
    X(PLACE, TILES, tz_kernel_place, "mmm88")                                                      \
    X(UNDO, TILES, tz_kernel_undo, "m8")                                                           \
    X(INFLATE_GROUP, INFLATE, tz_kernel_inflate_group, "m888")                                     \
    X(LZW_GROUP, LZW, tz_kernel_lzw_group, "m888")                                                 \
    X(LZ4_GROUP, LZ4, tz_kernel_lz4_group, "m888")                                                 \
    X(PACKBITS_GROUP, PACKBITS, tz_kernel_packbits_group, "m888")                                  \
    X(ZSTD_GROUP, ZSTD, tz_kernel_zstd_group, "m888")                                              \
    X(CHUNK_ARRANGE, CHUNKS, tz_kernel_chunk_arrange, "m8888")                                     \
    X(CHUNK_LIST, CHUNKS, tz_kernel_chunk_list, "m8884444")                                        \
    X(CHUNK_CHECK, CHUNKS, tz_kernel_chunk_check, "m88884")                                        \
    X(CUT_U8, CUT, tz_kernel_cut_u8, "mm888448888444448884")                                       \
    X(CUT_U16, CUT, tz_kernel_cut_u16, "mm888448888444448884")                                     \
    X(CUT_U32, CUT, tz_kernel_cut_u32, "mm888448888444448884")                                     \
    X(CUT_U64, CUT, tz_kernel_cut_u64, "mm888448888444448884")                                     \
    X(INSPECT_GROUP, CUT, tz_kernel_inspect_group, "m88844844444488")                              \
    X(STORE_ROWS_GROUP, CUT, tz_kernel_store_rows_group, "m88844884444444")                        \
    X(COPY_ROWS, CUT, tz_kernel_copy_rows, "mm8888888884444")                                      \
    X(TALLY_GROUP, TALLY, tz_kernel_tally_group, "mm88844844444888")                               \
    X(DEFLATE_GROUP, DEFLATE, tz_kernel_deflate_group, "m88")                                      \
    X(ENCODE_PACKBITS_GROUP, ENCODE_PACKBITS, tz_kernel_encode_packbits_group, "m884")             \
    X(LIBRARY_LIST, ENCODE_LIBRARY, tz_kernel_library_list, "m8884")                               \
    X(LIBRARY_FRAME, ENCODE_LIBRARY, tz_kernel_library_frame, "m888844")                           \
    X(ENCODE_NONE, COMPACT, tz_kernel_encode_none, "m888")                                         \
    X(COMPACT_SCAN, COMPACT, tz_kernel_compact_scan, "m88844")                                     \
    X(COMPACT_MOVE, COMPACT, tz_kernel_compact_move, "m8888444")                                   \
    X(REDUCE_PICK, HALVES, tz_kernel_reduce_pick, "mmmmmmm8")                                      \
    X(REDUCE_HALF_U8, HALVES, tz_kernel_reduce_half_u8, "mmmmmmm8")                                \
    X(REDUCE_HALF_U16, HALVES, tz_kernel_reduce_half_u16, "mmmmmmm8")                              \
    X(REDUCE_HALF_I16, HALVES, tz_kernel_reduce_half_i16, "mmmmmmm8")                              \
    X(REDUCE_HALF_F32, REDUCE, tz_kernel_reduce_half_f32, "mmmmmmm8")                              \
    X(REDUCE_MEAN_U8, REDUCE, tz_kernel_reduce_mean_u8, "mmmmmmm8")                                \
    X(REDUCE_MEAN_U16, REDUCE, tz_kernel_reduce_mean_u16, "mmmmmmm8")                              \
    X(REDUCE_MEAN_I16, REDUCE, tz_kernel_reduce_mean_i16, "mmmmmmm8")                              \
    X(REDUCE_MEAN_F32, REDUCE, tz_kernel_reduce_mean_f32, "mmmmmmm8")                              \
    X(REDUCE_MEAN, REDUCE, tz_kernel_reduce_mean, "mmmmmmm8")                                      \
    X(REDUCE_FILTER, REDUCE, tz_kernel_reduce_filter, "mmmmmmm8")                                  \
    X(REDUCE_EXTREME, REDUCE, tz_kernel_reduce_extreme, "mmmmmmm8")                                \
    X(REDUCE_CHOICE, REDUCE, tz_kernel_reduce_choice, "mmmmmmm8")

/* Kernels of which one item works alone, for devices that are CPUs: CUDA has no such device. */
#define TZ_CPU_KERNEL_LIST(X)                                                                      \
    X(INFLATE_ITEM, INFLATE, tz_kernel_inflate_item, "m888")                                       \
    X(LZW_ITEM, LZW, tz_kernel_lzw_item, "m888")                                                   \
    X(LZ4_ITEM, LZ4, tz_kernel_lz4_item, "m888")                                                   \
    X(PACKBITS_ITEM, PACKBITS, tz_kernel_packbits_item, "m888")                                    \
    X(ZSTD_ITEM, ZSTD, tz_kernel_zstd_item, "m888")                                                \
    X(INSPECT, CUT, tz_kernel_inspect, "m88844844444488")                                          \
    X(STORE_ROWS, CUT, tz_kernel_store_rows, "m88844884444444")                                    \
    X(TALLY, TALLY, tz_kernel_tally, "mm88844844444888")                                           \
    X(DEFLATE_ITEM, DEFLATE, tz_kernel_deflate_item, "m88")                                        \
    X(ENCODE_PACKBITS_ITEM, ENCODE_PACKBITS, tz_kernel_encode_packbits_item, "m884")

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

/* By number: the name of the function, and the family. */
extern const char *const tz_kernel_names[TZ_KERNEL_COUNT];
extern const uint32_t tz_kernel_families[TZ_KERNEL_COUNT];

/* Items of a group: one size for all kernels, since some compilers compile anew for each. */
#define TZ_GROUP_ITEMS 64u

#endif
