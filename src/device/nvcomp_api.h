/* SPDX-License-Identifier: Apache-2.0
 * The types of nvCOMP's batched interface, declared by ourselves so that nothing has to be
 * installed to build. tests/check_nvidia.py compares all of this with the vendor's headers. */
#ifndef TZ_DEVICE_NVCOMP_API_H
#define TZ_DEVICE_NVCOMP_API_H

#include <stddef.h>
#include <stdint.h>

#include "device/nvcomp_calls.h"

typedef struct CUstream_st *tz_cu_stream;

typedef int32_t tz_nvcomp_status; /* 0: success; else one of: */
enum {
#define TZ_NVCOMP_ERROR(name, number) TZ_NVCOMP_##name = (number),
    TZ_NVCOMP_ERRORS(TZ_NVCOMP_ERROR) TZ_NVCOMP_ERRORS_5_3(TZ_NVCOMP_ERROR)
#undef TZ_NVCOMP_ERROR
};

typedef struct tz_nvcomp_properties {
    uint32_t version;        /* 1000 * major + 100 * minor + patch */
    uint32_t cudart_version; /* of the runtime inside */
} tz_nvcomp_properties;
typedef tz_nvcomp_status (*tz_nvcomp_get_properties)(tz_nvcomp_properties *);

/* Of where chunks begin, in bytes: powers of two. */
typedef struct tz_nvcomp_alignments {
    size_t input;
    size_t output;
    size_t temp;
} tz_nvcomp_alignments;

/* All structures of options have one size, and are passed in the same way, whatever is in them. So
 * one type serves all; what is not named below is 0. */
typedef struct tz_nvcomp_options {
    int32_t words[16];
} tz_nvcomp_options;
#define TZ_NVCOMP_ALGORITHM_WORD 0 /* Deflate, while compressing: 0 to 5 */

typedef struct tz_nvcomp_options4 {
    int32_t word; /* Deflate: the algorithm; others: 0 */
} tz_nvcomp_options4;

#define TZ_NVCOMP_OPTION_TYPES(CODEC, codec)                                                       \
    typedef tz_nvcomp_options4 tz_nvcomp_##codec##Options;                                         \
    typedef tz_nvcomp_options tz_nvcomp_##codec##Compress;                                         \
    typedef tz_nvcomp_options tz_nvcomp_##codec##Decompress;
TZ_NVCOMP_CODECS(TZ_NVCOMP_OPTION_TYPES)
#undef TZ_NVCOMP_OPTION_TYPES

typedef enum tz_nvcomp_codec {
#define TZ_NVCOMP_CONSTANT(CODEC, codec) TZ_NVCOMP_##CODEC,
    TZ_NVCOMP_CODECS(TZ_NVCOMP_CONSTANT)
#undef TZ_NVCOMP_CONSTANT
        TZ_NVCOMP_CODEC_COUNT
} tz_nvcomp_codec;

/* The functions of one codec: all have the types of Deflate's. */
#define TZ_NVCOMP_MEMBER(CODEC, codec, name, arguments) tz_nvcomp_status(*name) arguments;
typedef struct tz_nvcomp_calls4 {
    TZ_NVCOMP_CALLS_4(TZ_NVCOMP_MEMBER, DEFLATE, Deflate)
} tz_nvcomp_calls4;
typedef struct tz_nvcomp_calls5 {
    TZ_NVCOMP_CALLS_5_6(TZ_NVCOMP_MEMBER, DEFLATE, Deflate)
    TZ_NVCOMP_CALLS_5(TZ_NVCOMP_MEMBER, DEFLATE, Deflate) /* NULL with 6.x */
    TZ_NVCOMP_CALLS_6(TZ_NVCOMP_MEMBER, DEFLATE, Deflate) /* NULL with 5.x */
} tz_nvcomp_calls5;
#undef TZ_NVCOMP_MEMBER

#endif
