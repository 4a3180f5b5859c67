/* SPDX-License-Identifier: Apache-2.0
 * What the files of the CUDA driver share. */
#ifndef TZ_DEVICE_CUDA_CUDA_INTERNAL_H
#define TZ_DEVICE_CUDA_CUDA_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/cuda/cu_api.h"
#include "device/cuda/cu_errors.h"
#include "device/driver.h"
#include "device/kernel_image.h"
#include "device/nvidia/codestream_encode.h"
#include "device/nvidia/cufile_files.h"
#include "device/nvidia/nvcomp.h"
#include "device/nvidia/nvjpeg2k_decode.h"
#include "device/nvidia/nvjpeg_decode.h"

/* ---- cuda_library.c ---- */

#define TZ_CU_LIBRARY "libcuda.so.1"

/* Load the driver's library and all functions; false, with the reason, when that cannot be done.
 */
bool tz_cu_load(tz_cu_api *api, const char *library, char *reason, size_t reason_size);

/* ---- cuda_errors.c ---- */

/* "CUDA_ERROR_ILLEGAL_ADDRESS"; never NULL. */
const char *tz_cu_error_text(tz_cu_code code);
/* What function returned: TZ_OK, or "cuEventQuery: CUDA_ERROR_ILLEGAL_ADDRESS (700)" as
 * TZ_ERR_NOMEM where the code says so, else TZ_ERR_DEVICE. */
tz_result tz_cu_check(const char *function, tz_cu_code code, const tz_context *ctx);
/* The same where memory is made. */
tz_result tz_cu_check_memory(const char *function, tz_cu_code code, uint64_t size,
                             const tz_context *ctx);

/* ---- cuda_find.c ---- */

/* Begin with a library. False, with the reason, when it has no device to offer. */
bool tz_cu_init(const tz_cu_api *api, uint32_t *device_count, char *reason, size_t reason_size);
void tz_cu_describe(const tz_cu_api *api, uint32_t index, tz_device_info *info);
/* The least version that a driver must have, for its functions and for the kernels. */
int tz_cu_needed_version(void);

/* ---- cuda_module.c ---- */

/* Modules by family, loaded when one of their kernels is wanted; kernels by number. */
typedef struct tz_cu_module_set {
    pthread_mutex_t lock; /* of loading */
    atomic_bool loaded[TZ_FAMILY_COUNT];
    tz_cu_module modules[TZ_FAMILY_COUNT];
    tz_cu_function functions[TZ_GPU_KERNEL_COUNT];
} tz_cu_module_set;

/* Load the first image that the driver takes for its GPU; one of no size is passed over. What it
 * answers to the last one is TZ_ERR_NOMEM, or TZ_ERR_DEVICE with the driver's version and the one
 * that the kernels need. All of these with the context current. */
enum { TZ_CU_IMAGES = 2 };
tz_result tz_cu_load_module(const tz_cu_api *api, const tz_kernel_image *const list[TZ_CU_IMAGES],
                            tz_cu_module *out, const tz_context *ctx);
/* kernel: one of TZ_GPU_KERNEL_LIST. */
tz_result tz_cu_find_function(const tz_cu_api *api, tz_cu_module_set *set, uint32_t kernel,
                              tz_cu_function *out, const tz_context *ctx);
void tz_cu_unload_modules(const tz_cu_api *api, tz_cu_module_set *set); /* zeroed is fine */

/* ---- nvcomp_decode.c: nvCOMP, where it is there ---- */

enum { TZ_CU_CODEC_UNTESTED, TZ_CU_CODEC_WORKS, TZ_CU_CODEC_OFF };

/* One codec of it: tried when it is first wanted, and switched off where it misbehaves. */
typedef struct tz_cu_codec {
    atomic_int state;          /* TZ_CU_CODEC_UNTESTED, ...; what follows is set before it */
    tz_vendor_decoder decoder; /* its reason is why it is off */
} tz_cu_codec;

typedef struct tz_cu_codecs {
    pthread_mutex_t lock; /* of looking for it, trying it and switching it off */
    char *library;        /* the caller's name of it; NULL: look for it */
    atomic_bool is_known; /* nvcomp */
    tz_nvcomp nvcomp;
    tz_cu_codec codecs[TZ_NVCOMP_CODEC_COUNT];
} tz_cu_codecs;

/* A copy of the name that the caller gave a library; NULL stays NULL. */
tz_result tz_cu_copy_library_name(char **to, const char *library, const tz_context *ctx);
void tz_cu_codecs_deinit(tz_cu_codecs *codecs);

typedef struct tz_cu_state tz_cu_state;
/* nvCOMP, looked for and tried when it is first wanted, and its name of a compression; NULL: not
 * there, or off. */
const tz_nvcomp *tz_cu_find_codec(tz_cu_state *s, uint16_t compression, tz_nvcomp_codec *codec);
void tz_cu_nvcomp_version(const tz_nvcomp *nvcomp, char *out, size_t size); /* "nvCOMP 5.3.0" */

/* A batch, in one direction. */
typedef struct tz_cu_direction {
    bool compress;
    int32_t algorithm; /* see tz_nvcomp_batch */
} tz_cu_direction;
/* What nvCOMP says against a batch while the context is well switches nvCOMP off, for this device,
 * and is TZ_ERR_UNSUPPORTED. */
tz_result tz_cu_run_chunks(tz_cu_state *s, uint32_t queue, const tz_vendor_batch *batch,
                           tz_cu_direction how, const tz_context *ctx);

bool tz_cu_find_decoder(void *state, uint16_t compression, tz_vendor_decoder *out);
tz_result tz_cu_decode(void *state, uint32_t queue, const tz_vendor_batch *batch,
                       const tz_context *ctx);

/* ---- codestream_libraries.c: libraries of pictures, by compression ---- */

bool tz_cu_find_codestream_codec(void *state, uint16_t compression, bool encodes, uint64_t samples,
                                 tz_codestream_codec *out);
tz_result tz_cu_decode_codestreams(void *state, uint32_t queue, const tz_codestream_batch *batch,
                                   const tz_context *ctx);
tz_result tz_cu_encode_codestreams(void *state, uint32_t queue, const tz_codestream_batch *batch,
                                   const tz_codestream_encoding *how, tz_codestream_output *out,
                                   const tz_context *ctx);

/* ---- nvcomp_encode.c ---- */

bool tz_cu_find_encoder(void *state, uint16_t compression, int32_t level, uint64_t max_chunk,
                        tz_vendor_encoder *out);
tz_result tz_cu_encode(void *state, uint32_t queue, int32_t level, const tz_vendor_batch *batch,
                       const tz_context *ctx);

/* ---- cuda.c ---- */

struct tz_cu_state {
    tz_cu_api api;
    tz_cu_device device;
    uint32_t index;
    tz_cu_context context;
    bool is_retained; /* it is the primary one, not the caller's */
    tz_cu_stream queues[TZ_QUEUES];
    tz_cu_module_set modules;
    tz_cu_codecs codecs;
    tz_cu_j2k j2k;
    tz_cu_jpeg jpeg;
    tz_cu_files files;
    tz_cu_codestream_encoder_set jpeg_encoders, j2k_encoders;
    tz_nvjpeg2k_encoder j2k_encoder; /* of all of the latter */

    /* Memory comes and goes on a stream of its own. Events are recorded anew each time: who waits
     * for one waits for what it was at that moment. */
    pthread_mutex_t order_lock; /* from a record to the waits for it */
    tz_cu_stream memory;
    tz_cu_pool pool;             /* NULL: all memory is plain */
    atomic_ullong pool_bytes;    /* that are taken from it, and not freed */
    atomic_ullong pool_peak;     /* the most of that since none was taken */
    uint64_t pool_threshold;     /* bytes that it keeps when none are taken */
    tz_cu_event ready;           /* of the stream of memory, or of the meeting */
    tz_cu_event done[TZ_QUEUES]; /* of the queues */

    tz_cu_stream native_stream; /* where work of the caller's is; see tz_device_native_stream */
    bool owns_native_stream;
    atomic_bool is_known; /* that stream, to the caller */
};

/* Every call of CUDA's is between these two: the caller's thread has its own context back
 * afterwards. Leaving returns result, or what goes wrong there. */
tz_result tz_cu_enter(const tz_cu_state *s, const tz_context *ctx);
tz_result tz_cu_leave(const tz_cu_state *s, tz_result result, const tz_context *ctx);

static inline tz_cu_address tz_cu_address_of(const tz_device_memory *memory)
{
    return (tz_cu_address)(uintptr_t)memory->handle;
}

/* ---- cuda_memory.c ---- */

/* s->pool, where the device can have one; with the context current. */
/* kept: bytes that the pool keeps for later; 0: the default. */
tz_result tz_cu_make_pool(tz_cu_state *s, uint64_t threshold, const tz_context *ctx);
tz_result tz_cu_alloc(void *state, tz_device_memory *memory, const tz_context *ctx);
tz_result tz_cu_alloc_pinned(void *state, tz_device_memory *memory, const tz_context *ctx);
void tz_cu_free(void *state, tz_device_memory *memory);
tz_result tz_cu_free_memory(void *state, uint64_t *bytes, const tz_context *ctx);

/* ---- cuda_interop.c: what is the caller's ---- */

/* s->context becomes the caller's; TZ_ERR_ARG when it is not of s->device. */
tz_result tz_cu_adopt_context(tz_cu_state *s, void *given, const tz_context *ctx);
/* s->meeting becomes the caller's; TZ_ERR_ARG when it is not of s->context. */
tz_result tz_cu_adopt_stream(tz_cu_state *s, void *given, const tz_context *ctx);
tz_result tz_cu_wrap(void *state, tz_device_memory *memory, const tz_context *ctx);
void *tz_cu_native_context(void *state);
void *tz_cu_native_stream(void *state);
tz_result tz_cu_wait_for_stream(void *state, const tz_context *ctx);

/* ---- cuda_commands.c ---- */

/* The queues wait for what is on another stream by now; with the context current. */
tz_cu_code tz_cu_queues_wait(tz_cu_state *s, tz_cu_stream stream);

tz_result tz_cu_upload(void *state, uint32_t queue, const tz_device_memory *to, uint64_t offset,
                       const void *from, uint64_t size, const tz_context *ctx);
tz_result tz_cu_download(void *state, uint32_t queue, void *to, const tz_device_memory *from,
                         uint64_t offset, uint64_t size, const tz_context *ctx);
tz_result tz_cu_launch(void *state, uint32_t queue, const tz_launch *launch, const tz_context *ctx);
tz_result tz_cu_record(void *state, uint32_t queue, tz_device_event *event, const tz_context *ctx);
tz_result tz_cu_wait(void *state, uint32_t queue, const tz_device_event *event,
                     const tz_context *ctx);
tz_result tz_cu_query(void *state, const tz_device_event *event, bool *happened,
                      const tz_context *ctx);
void tz_cu_free_event(void *state, tz_device_event *event);
tz_result tz_cu_sync(void *state, uint32_t queue, const tz_context *ctx);

#endif
