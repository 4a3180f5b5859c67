/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of other libraries as buffers of terrazzo, and the other way round, by DLPack: in memory
 * of the host, or of a CUDA or OpenCL device. The structures have the layout of DLPack 1 under
 * names of their own, so that DLPack's own header may be included beside this one: cast a DLTensor
 * * to a tz_dl_tensor *, a DLManagedTensorVersioned * to a tz_dl_managed *, and a DLManagedTensor *
 * to a tz_dl_managed_legacy *.
 */
#ifndef TERRAZZO_DLPACK_H
#define TERRAZZO_DLPACK_H

#include <terrazzo/terrazzo.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------
 * The layout
 * ------------------------------------------------------------------------------------------ */

/* The version that is made here; tensors of any minor version are taken. */
#define TZ_DL_MAJOR 1
#define TZ_DL_MINOR 0

/* Device types that are understood. */
#define TZ_DL_CPU          1
#define TZ_DL_CUDA         2  /* data is an address of the device */
#define TZ_DL_CUDA_HOST    3  /* memory of the host */
#define TZ_DL_OPENCL       4  /* data is a cl_mem */
#define TZ_DL_CUDA_MANAGED 13 /* memory of the host and of all devices; used as that of one */

/* Type codes. */
#define TZ_DL_INT     0
#define TZ_DL_UINT    1
#define TZ_DL_FLOAT   2
#define TZ_DL_COMPLEX 5

/* Bits of flags. */
#define TZ_DL_READ_ONLY ((uint64_t)1)
#define TZ_DL_IS_COPY   ((uint64_t)2)

/* Device of a tensor. Fixed layout. */
typedef struct tz_dl_device {
    int32_t type;
    int32_t id;
} tz_dl_device;

/* Type of an element. Fixed layout. */
typedef struct tz_dl_dtype {
    uint8_t code;
    uint8_t bits; /* of complex numbers: of both parts */
    uint16_t lanes;
} tz_dl_dtype;

/* Tensor. Fixed layout. */
typedef struct tz_dl_tensor {
    void *data;
    tz_dl_device device;
    int32_t ndim;
    tz_dl_dtype dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: packed, the last dimension fastest */
    uint64_t byte_offset;
} tz_dl_tensor;

/* Version of DLPack. Fixed layout. */
typedef struct tz_dl_version {
    uint32_t major;
    uint32_t minor;
} tz_dl_version;

/* Tensor with its owner. Fixed layout. */
typedef struct tz_dl_managed tz_dl_managed;
struct tz_dl_managed {
    tz_dl_version version;
    void *manager_ctx;
    void (*deleter)(tz_dl_managed *self);
    uint64_t flags;
    tz_dl_tensor tensor;
};

/* The same of DLPack before 1. Fixed layout. */
typedef struct tz_dl_managed_legacy tz_dl_managed_legacy;
struct tz_dl_managed_legacy {
    tz_dl_tensor tensor;
    void *manager_ctx;
    void (*deleter)(tz_dl_managed_legacy *self);
};

/* ---------------------------------------------------------------------------------------------
 * Tensors and buffers
 * ------------------------------------------------------------------------------------------ */

/* Meaning of the dimensions of a tensor. */
typedef enum tz_dl_axes {
    TZ_DL_AXES_BANDS_FIRST = 0, /* bands, height, width */
    TZ_DL_AXES_BANDS_LAST = 1,  /* height, width, bands */
    TZ_DL_AXES_ONE_BAND = 2     /* height, width: made of a buffer of one band */
} tz_dl_axes;

/* Zero in any member means the default. Set struct_size with TZ_DLPACK_OPTIONS_INIT. */
typedef struct tz_dlpack_options {
    size_t struct_size;
    tz_dl_axes axes; /* of two dimensions: always height, width */
    /* to a buffer */
    bool writable;     /* pixels will be written there */
    tz_device *device; /* on which a tensor of CUDA is, whose context one of OpenCL is of; NULL:
                          host memory only */
    /* from a buffer */
    bool read_only; /* tell consumers so; a legacy tensor cannot: TZ_ERR_UNSUPPORTED */
    void (*release)(
        void *user); /* called once, by the deleter, from any thread; NULL: memory of a
                        device is released by tz_device_memory_free, and host memory is not */
    void *user;
} tz_dlpack_options;
#define TZ_DLPACK_OPTIONS_INIT TZ_INIT(tz_dlpack_options)
TZ_API void tz_dlpack_options_init(tz_dlpack_options *options, size_t size);

/* The pixels of a tensor as a buffer: nothing is copied, and the tensor must live as long as the
 * buffer is used. It has two or three dimensions, none of them 0, any strides, one lane, and a type
 * of tz_dtype (not bool and not bfloat). Of a tensor of a device, out is of TZ_MEMORY_KIND_DEVICE,
 * and its data is a wrapper that the caller releases with tz_device_memory_free; the device number
 * is the producer's own and is not looked at. Work that makes the pixels must be finished, or be on
 * tz_device_get_stream or the stream of the call that uses them (tz_read_options.stream,
 * tz_write_rows_on_stream). What terrazzo cannot express is TZ_ERR_UNSUPPORTED; a tensor that
 * contradicts itself, is read only although writable is set, is not on options->device, or reaches
 * beyond its memory is TZ_ERR_ARG. options and err may be NULL. *out, which TZ_BUFFER_INIT has set,
 * is written only on success. */
TZ_API TZ_NODISCARD tz_result tz_dlpack_to_buffer(tz_buffer *out, const tz_dl_managed *managed,
                                                  const tz_dlpack_options *options, tz_error *err);
/* The same of a bare tensor, or of a legacy one: those do not tell whether they are read only. */
TZ_API TZ_NODISCARD tz_result tz_dlpack_tensor_to_buffer(tz_buffer *out, const tz_dl_tensor *tensor,
                                                         const tz_dlpack_options *options,
                                                         tz_error *err);

/* A tensor of the pixels of a buffer, for other libraries: (*out)->deleter(*out) ends it. Strides
 * that are no multiples of a sample, and complex integers, cannot be told: TZ_ERR_UNSUPPORTED.
 * options and err may be NULL. *out is written only on success, and only then the memory is the
 * tensor's. */
TZ_API TZ_NODISCARD tz_result tz_dlpack_from_buffer(tz_dl_managed **out, const tz_buffer *buffer,
                                                    const tz_dlpack_options *options,
                                                    tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_dlpack_legacy_from_buffer(tz_dl_managed_legacy **out,
                                                           const tz_buffer *buffer,
                                                           const tz_dlpack_options *options,
                                                           tz_error *err);

#ifdef __cplusplus
}
#endif

#endif
