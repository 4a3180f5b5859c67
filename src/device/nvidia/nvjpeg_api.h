/* SPDX-License-Identifier: Apache-2.0
 * The part of nvJPEG that is used here, declared by ourselves so that nothing has to be installed
 * to build. tests/check_nvidia.py compares all of this with the vendor's header. */
#ifndef TZ_DEVICE_NVIDIA_NVJPEG_API_H
#define TZ_DEVICE_NVIDIA_NVJPEG_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct CUstream_st *tz_cu_stream;

/* Result of all functions. X(name after NVJPEG_STATUS_, value) */
typedef int32_t tz_nvjpeg_status;
#define TZ_NVJPEG_STATUSES(X)                                                                      \
    X(SUCCESS, 0)                                                                                  \
    X(NOT_INITIALIZED, 1)                                                                          \
    X(INVALID_PARAMETER, 2)                                                                        \
    X(BAD_JPEG, 3)                                                                                 \
    X(JPEG_NOT_SUPPORTED, 4)                                                                       \
    X(ALLOCATOR_FAILURE, 5)                                                                        \
    X(EXECUTION_FAILED, 6)                                                                         \
    X(ARCH_MISMATCH, 7)                                                                            \
    X(INTERNAL_ERROR, 8)                                                                           \
    X(IMPLEMENTATION_NOT_SUPPORTED, 9)                                                             \
    X(INCOMPLETE_BITSTREAM, 10)

#define TZ_NVJPEG_STATUS(name, value) TZ_NVJPEG_##name = (value),
enum { TZ_NVJPEG_STATUSES(TZ_NVJPEG_STATUS) };
#undef TZ_NVJPEG_STATUS

typedef struct nvjpegHandle *tz_nvjpeg_handle;
typedef struct nvjpegJpegState *tz_nvjpeg_state;
typedef struct nvjpegEncoderState *tz_nvjpeg_encoder_state;
typedef struct nvjpegEncoderParams *tz_nvjpeg_encoder_params;

typedef struct tz_nvjpeg_device_allocator tz_nvjpeg_device_allocator; /* NULL: the runtime's own */
typedef struct tz_nvjpeg_pinned_allocator tz_nvjpeg_pinned_allocator;

typedef int32_t tz_nvjpeg_property; /* of a version: 0 major, 1 minor, 2 patch */

typedef int32_t tz_nvjpeg_backend;
#define TZ_NVJPEG_BACKEND_DEFAULT    0
#define TZ_NVJPEG_BACKEND_GPU_HYBRID 2 /* Huffman codes of large batches on the device */

/* A flag of CreateEx: chroma that is subsampled is interpolated when pixels are converted to RGB,
 * as libjpeg does; without it each value is repeated. */
#define TZ_NVJPEG_FLAG_INTERPOLATE 32u

/* Device memory for each channel; interleaved pixels are in the first. */
typedef struct tz_nvjpeg_image {
    unsigned char *channel[4];
    size_t pitch[4];
} tz_nvjpeg_image;

typedef int32_t tz_nvjpeg_output;
#define TZ_NVJPEG_OUTPUT_UNCHANGED  0 /* planes, as stored */
#define TZ_NVJPEG_OUTPUT_Y          2
#define TZ_NVJPEG_OUTPUT_RGBI       5  /* interleaved, converted to RGB */
#define TZ_NVJPEG_OUTPUT_UNCHANGEDI 10 /* interleaved, as stored; not in 12.x */
typedef int32_t tz_nvjpeg_input;
#define TZ_NVJPEG_INPUT_RGBI 5

typedef int32_t tz_nvjpeg_sampling;
#define TZ_NVJPEG_SAMPLING_444  0
#define TZ_NVJPEG_SAMPLING_422  1
#define TZ_NVJPEG_SAMPLING_420  2
#define TZ_NVJPEG_SAMPLING_GRAY 6

/* X(name after nvjpeg, arguments) */
#define TZ_NVJPEG_FUNCTIONS(X)                                                                     \
    X(GetProperty, (tz_nvjpeg_property, int *))                                                    \
    X(CreateEx, (tz_nvjpeg_backend, tz_nvjpeg_device_allocator *, tz_nvjpeg_pinned_allocator *,    \
                 unsigned, tz_nvjpeg_handle *))                                                    \
    X(Destroy, (tz_nvjpeg_handle))                                                                 \
    X(JpegStateCreate, (tz_nvjpeg_handle, tz_nvjpeg_state *))                                      \
    X(JpegStateDestroy, (tz_nvjpeg_state))                                                         \
    X(GetImageInfo, (tz_nvjpeg_handle, const unsigned char *, size_t, int *, tz_nvjpeg_sampling *, \
                     int *, int *))                                                                \
    X(DecodeBatchedInitialize, (tz_nvjpeg_handle, tz_nvjpeg_state, int, int, tz_nvjpeg_output))    \
    X(DecodeBatched, (tz_nvjpeg_handle, tz_nvjpeg_state, const unsigned char *const *,             \
                      const size_t *, tz_nvjpeg_image *, tz_cu_stream))                            \
    X(EncoderStateCreate, (tz_nvjpeg_handle, tz_nvjpeg_encoder_state *, tz_cu_stream))             \
    X(EncoderStateDestroy, (tz_nvjpeg_encoder_state))                                              \
    X(EncoderParamsCreate, (tz_nvjpeg_handle, tz_nvjpeg_encoder_params *, tz_cu_stream))           \
    X(EncoderParamsDestroy, (tz_nvjpeg_encoder_params))                                            \
    X(EncoderParamsSetQuality, (tz_nvjpeg_encoder_params, int, tz_cu_stream))                      \
    X(EncoderParamsSetSamplingFactors,                                                             \
      (tz_nvjpeg_encoder_params, tz_nvjpeg_sampling, tz_cu_stream))                                \
    X(EncodeImage, (tz_nvjpeg_handle, tz_nvjpeg_encoder_state, const tz_nvjpeg_encoder_params,     \
                    const tz_nvjpeg_image *, tz_nvjpeg_input, int, int, tz_cu_stream))             \
    X(EncodeYUV, (tz_nvjpeg_handle, tz_nvjpeg_encoder_state, const tz_nvjpeg_encoder_params,       \
                  const tz_nvjpeg_image *, tz_nvjpeg_sampling, int, int, tz_cu_stream))            \
    X(EncodeRetrieveBitstream,                                                                     \
      (tz_nvjpeg_handle, tz_nvjpeg_encoder_state, unsigned char *, size_t *, tz_cu_stream))

typedef struct tz_nvjpeg_api {
#define TZ_NVJPEG_MEMBER(name, arguments) tz_nvjpeg_status(*name) arguments;
    TZ_NVJPEG_FUNCTIONS(TZ_NVJPEG_MEMBER)
#undef TZ_NVJPEG_MEMBER
} tz_nvjpeg_api;

#endif
