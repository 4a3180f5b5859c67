/* SPDX-License-Identifier: Apache-2.0
 * The part of nvJPEG2000 that is used here, declared by ourselves so that nothing has to be
 * installed to build. tests/check_nvidia.py compares all of this with the vendor's header. */
#ifndef TZ_DEVICE_NVIDIA_NVJPEG2K_API_H
#define TZ_DEVICE_NVIDIA_NVJPEG2K_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct CUstream_st *tz_cu_stream;

/* Result of all functions. X(name after NVJPEG2K_STATUS_, value) */
typedef int32_t tz_nvjpeg2k_status;
#define TZ_NVJPEG2K_STATUSES(X)                                                                    \
    X(SUCCESS, 0)                                                                                  \
    X(NOT_INITIALIZED, 1)                                                                          \
    X(INVALID_PARAMETER, 2)                                                                        \
    X(BAD_JPEG, 3)                                                                                 \
    X(JPEG_NOT_SUPPORTED, 4)                                                                       \
    X(ALLOCATOR_FAILURE, 5)                                                                        \
    X(EXECUTION_FAILED, 6)                                                                         \
    X(ARCH_MISMATCH, 7)                                                                            \
    X(INTERNAL_ERROR, 8)                                                                           \
    X(IMPLEMENTATION_NOT_SUPPORTED, 9)

typedef struct nvjpeg2kHandle *tz_nvjpeg2k_handle;
typedef struct nvjpeg2kDecodeState *tz_nvjpeg2k_decode_state;
typedef struct nvjpeg2kStream *tz_nvjpeg2k_stream; /* a parsed codestream, not a stream of CUDA's */
typedef struct nvjpeg2kDecodeParams *tz_nvjpeg2k_decode_params;
typedef struct nvjpeg2kEncoder *tz_nvjpeg2k_encoder;
typedef struct nvjpeg2kEncodeState *tz_nvjpeg2k_encode_state;
typedef struct nvjpeg2kEncodeParams *tz_nvjpeg2k_encode_params;

typedef int32_t tz_nvjpeg2k_property; /* of a version: 0 major, 1 minor, 2 patch */

typedef struct tz_nvjpeg2k_image_info {
    uint32_t image_width, image_height;
    uint32_t tile_width, tile_height;
    uint32_t num_tiles_x, num_tiles_y;
    uint32_t num_components;
} tz_nvjpeg2k_image_info;

typedef struct tz_nvjpeg2k_component_info {
    uint32_t component_width, component_height;
    uint8_t precision;
    uint8_t sgn; /* 1: samples are signed */
} tz_nvjpeg2k_component_info;

/* The structure and its two arrays are in host memory; planes are device memory. */
typedef struct tz_nvjpeg2k_image {
    void **pixel_data;
    size_t *pitch_in_bytes;
    int32_t pixel_type; /* TZ_NVJPEG2K_UINT8, ... */
    uint32_t num_components;
} tz_nvjpeg2k_image;
#define TZ_NVJPEG2K_UINT8  0 /* up to 8 bits, unsigned; signed ones have no type */
#define TZ_NVJPEG2K_UINT16 1 /* 9 to 16 bits */
#define TZ_NVJPEG2K_INT16  2

typedef int32_t tz_nvjpeg2k_format;
#define TZ_NVJPEG2K_PLANAR      0
#define TZ_NVJPEG2K_INTERLEAVED 1 /* the first pointer and pitch are all */

#define TZ_NVJPEG2K_MAX_RESOLUTIONS 33
typedef struct tz_nvjpeg2k_encode_config {
    int32_t stream_type; /* TZ_NVJPEG2K_CODE_STREAM */
    int32_t color_space; /* TZ_NVJPEG2K_SRGB, TZ_NVJPEG2K_GRAY; others are refused */
    uint16_t rsiz;
    uint32_t image_width, image_height;
    uint32_t enable_tiling;
    uint32_t tile_width, tile_height;
    uint32_t num_components; /* 1 to 4 */
    tz_nvjpeg2k_component_info *image_comp_info;
    uint32_t enable_SOP_marker, enable_EPH_marker; /* 0 */
    int32_t prog_order;  /* 0: by layer, resolution, component, position */
    uint32_t num_layers; /* 1 */
    uint32_t mct_mode;   /* 1: for RGB */
    uint32_t num_resolutions;
    uint32_t code_block_w, code_block_h; /* 32 or 64 */
    uint32_t encode_modes;
    uint32_t irreversible; /* 0: lossless */
    uint32_t num_precincts_init;
    uint32_t precinct_width[TZ_NVJPEG2K_MAX_RESOLUTIONS];
    uint32_t precinct_height[TZ_NVJPEG2K_MAX_RESOLUTIONS];
} tz_nvjpeg2k_encode_config;
#define TZ_NVJPEG2K_CODE_STREAM 0
#define TZ_NVJPEG2K_SRGB        1
#define TZ_NVJPEG2K_GRAY        2

typedef int32_t tz_nvjpeg2k_quality; /* meaning of the quality of a lossy codestream */
#define TZ_NVJPEG2K_TARGET_PSNR 0

/* X(name after nvjpeg2k, arguments). Resolutions of a tile are numbered from the lowest, 0;
 * DecodeTile takes the number of them to decode, 0 being all. */
#define TZ_NVJPEG2K_FUNCTIONS(X)                                                                   \
    X(GetProperty, (tz_nvjpeg2k_property, int *))                                                  \
    X(CreateSimple, (tz_nvjpeg2k_handle *))                                                        \
    X(Destroy, (tz_nvjpeg2k_handle))                                                               \
    X(DecodeStateCreate, (tz_nvjpeg2k_handle, tz_nvjpeg2k_decode_state *))                         \
    X(DecodeStateDestroy, (tz_nvjpeg2k_decode_state))                                              \
    X(StreamCreate, (tz_nvjpeg2k_stream *))                                                        \
    X(StreamDestroy, (tz_nvjpeg2k_stream))                                                         \
    X(StreamParse,                                                                                 \
      (tz_nvjpeg2k_handle, const unsigned char *, size_t, int, int, tz_nvjpeg2k_stream))           \
    X(StreamGetImageInfo, (tz_nvjpeg2k_stream, tz_nvjpeg2k_image_info *))                          \
    X(StreamGetImageComponentInfo, (tz_nvjpeg2k_stream, tz_nvjpeg2k_component_info *, uint32_t))   \
    X(StreamGetResolutionsInTile, (tz_nvjpeg2k_stream, uint32_t, uint32_t *))                      \
    X(StreamGetResolutionComponentDim,                                                             \
      (tz_nvjpeg2k_stream, uint32_t, uint32_t, uint32_t, uint32_t *, uint32_t *))                  \
    X(DecodeParamsCreate, (tz_nvjpeg2k_decode_params *))                                           \
    X(DecodeParamsDestroy, (tz_nvjpeg2k_decode_params))                                            \
    X(DecodeParamsSetRGBOutput, (tz_nvjpeg2k_decode_params, int32_t))                              \
    X(DecodeParamsSetOutputFormat, (tz_nvjpeg2k_decode_params, tz_nvjpeg2k_format))                \
    X(DecodeImage, (tz_nvjpeg2k_handle, tz_nvjpeg2k_decode_state, tz_nvjpeg2k_stream,              \
                    tz_nvjpeg2k_decode_params, tz_nvjpeg2k_image *, tz_cu_stream))                 \
    X(DecodeTile,                                                                                  \
      (tz_nvjpeg2k_handle, tz_nvjpeg2k_decode_state, tz_nvjpeg2k_stream,                           \
       tz_nvjpeg2k_decode_params, uint32_t, uint32_t, tz_nvjpeg2k_image *, tz_cu_stream))          \
    X(EncoderCreateSimple, (tz_nvjpeg2k_encoder *))                                                \
    X(EncoderDestroy, (tz_nvjpeg2k_encoder))                                                       \
    X(EncodeStateCreate, (tz_nvjpeg2k_encoder, tz_nvjpeg2k_encode_state *))                        \
    X(EncodeStateDestroy, (tz_nvjpeg2k_encode_state))                                              \
    X(EncodeParamsCreate, (tz_nvjpeg2k_encode_params *))                                           \
    X(EncodeParamsDestroy, (tz_nvjpeg2k_encode_params))                                            \
    X(EncodeParamsSetEncodeConfig, (tz_nvjpeg2k_encode_params, tz_nvjpeg2k_encode_config *))       \
    X(EncodeParamsSpecifyQuality, (tz_nvjpeg2k_encode_params, tz_nvjpeg2k_quality, double))        \
    X(EncodeParamsSetInputFormat, (tz_nvjpeg2k_encode_params, tz_nvjpeg2k_format))                 \
    X(Encode, (tz_nvjpeg2k_encoder, tz_nvjpeg2k_encode_state, const tz_nvjpeg2k_encode_params,     \
               const tz_nvjpeg2k_image *, tz_cu_stream))                                           \
    X(EncodeRetrieveBitstream,                                                                     \
      (tz_nvjpeg2k_encoder, tz_nvjpeg2k_encode_state, unsigned char *, size_t *, tz_cu_stream))

typedef struct tz_nvjpeg2k_api {
#define TZ_NVJPEG2K_MEMBER(name, arguments) tz_nvjpeg2k_status(*name) arguments;
    TZ_NVJPEG2K_FUNCTIONS(TZ_NVJPEG2K_MEMBER)
#undef TZ_NVJPEG2K_MEMBER
} tz_nvjpeg2k_api;

#endif
