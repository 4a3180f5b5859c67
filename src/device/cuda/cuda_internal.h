/* SPDX-License-Identifier: Apache-2.0
 * Shared by the files of the CUDA driver: its state, and the functions of each file. Those that
 * take void *state are the driver's (device/driver.h), and the others are called with the context
 * current.
 *
 *     cu_api.h, cu_errors.h   declarations of CUDA's driver interface; a test compares them
 *     cuda.c                  finding, opening, closing; objects of the caller; commands; the table
 *     cuda_find.c             the library, its errors, descriptions of devices
 *     cuda_memory.c           the pool, pinned and plain memory
 *     cuda_module.c           loading of kernels
 *     side_stream.c           streams for libraries whose states do one task at a time
 *
 * NVIDIA's other libraries are in device/nvidia. They use this state; only opening, closing and the
 * table here know them. */
#ifndef TZ_DEVICE_CUDA_CUDA_INTERNAL_H
#define TZ_DEVICE_CUDA_CUDA_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/cuda/cu_api.h"
#include "device/cuda/cu_errors.h"
#include "device/driver.h"
#include "device/kernel_programs.h"
#include "device/nvidia/codestreams.h"
#include "device/nvidia/cufile.h"
#include "device/nvidia/nvcomp_codecs.h"
#include "device/nvidia/nvidia_libraries.h"
#include "device/nvidia/nvjpeg.h"
#include "device/nvidia/nvjpeg2k.h"

typedef struct tz_cu_state tz_cu_state;

/* ---- cuda_find.c ---- */

#define TZ_CU_LIBRARY "libcuda.so.1"

/* Loads the driver's library and all functions; false, with the reason, if that fails. The library
 * is a path or a name; NULL: TZ_CU_LIBRARY. */
bool tz_cu_load(tz_cu_api *api, const char *library, char *reason, size_t reason_size);
/* Initialises a library. False, with the reason, if it has no device. */
bool tz_cu_init(const tz_cu_api *api, uint32_t *device_count, char *reason, size_t reason_size);
void tz_cu_describe(const tz_cu_api *api, uint32_t index, tz_device_info *info,
                    tz_device_texts *texts);
/* Lowest version that a driver must have, for its functions and for the kernels. */
int tz_cu_needed_version(void);

/* Returns the name of a code, "CUDA_ERROR_ILLEGAL_ADDRESS"; never NULL. */
const char *tz_cu_error_text(tz_cu_code code);
/* Converts a result of CUDA: TZ_OK, or an error "cuEventQuery: CUDA_ERROR_ILLEGAL_ADDRESS (700)",
 * which is TZ_ERR_NOMEM or TZ_ERR_DEVICE. */
tz_result tz_cu_check(const char *function, tz_cu_code code, const tz_context *ctx);
/* The same for functions that allocate; the message names the bytes. */
tz_result tz_cu_check_memory(const char *function, tz_cu_code code, uint64_t size,
                             const tz_context *ctx);

/* ---- cuda_module.c ---- */

/* Modules by family, loaded when one of their kernels is first wanted; kernels by number. */
typedef struct tz_cu_module_set {
    pthread_mutex_t lock; /* held to load a module */
    atomic_bool loaded[TZ_FAMILY_COUNT];
    tz_cu_module modules[TZ_FAMILY_COUNT];
    tz_cu_function functions[TZ_GPU_KERNEL_COUNT];
} tz_cu_module_set;

/* Loads the first image that the driver accepts for its GPU; an empty one is passed over. A failure
 * is TZ_ERR_NOMEM, or TZ_ERR_DEVICE with the driver's version and the one that the kernels need. */
enum { TZ_CU_IMAGES = 2 };
tz_result tz_cu_load_module(const tz_cu_api *api, const tz_kernel_image *const list[TZ_CU_IMAGES],
                            tz_cu_module *out, const tz_context *ctx);
/* kernel: one of TZ_GPU_KERNEL_LIST. */
tz_result tz_cu_find_function(const tz_cu_api *api, tz_cu_module_set *set, uint32_t kernel,
                              tz_cu_function *out, const tz_context *ctx);
void tz_cu_unload_modules(const tz_cu_api *api, tz_cu_module_set *set); /* zeroed is fine */

/* ---- cuda.c ---- */

struct tz_cu_state {
    tz_cu_api api;
    tz_cu_device device;
    uint32_t index;
    tz_cu_context context;
    bool is_retained; /* the context is the primary one, not the caller's */
    tz_cu_stream queues[TZ_QUEUES];
    tz_cu_module_set modules;

    /* NVIDIA's libraries by TZ_NVIDIA_*: the caller's names of them; NULL: look for them. */
    char *library_names[TZ_NVIDIA_LIBRARY_COUNT];
    tz_cu_codecs codecs;
    tz_cu_j2k j2k;
    tz_cu_jpeg jpeg;
    tz_cu_files files;
    tz_cu_codestream_encoder_set encoders[TZ_CU_CODESTREAM_LIBRARIES];

    /* Memory is allocated and freed on a stream of its own. The events are recorded again for each
     * use: a stream that waits for one waits for its state at that moment. */
    pthread_mutex_t order_lock; /* held from a record to the waits for it */
    tz_cu_stream memory;
    tz_cu_pool pool;             /* NULL: all memory is plain */
    atomic_ullong pool_bytes;    /* allocated from the pool, and not freed */
    atomic_ullong pool_peak;     /* maximum of pool_bytes since it was 0 */
    uint64_t pool_threshold;     /* bytes that the pool keeps while none is allocated */
    tz_cu_event ready;           /* on the memory stream, or one of the caller's */
    tz_cu_event done[TZ_QUEUES]; /* on the queues */

    tz_cu_stream native_stream; /* for work of the caller's; see tz_device_get_stream */
    bool owns_native_stream;
    atomic_bool native_stream_known; /* to the caller: it may have work */
};

/* Make the device's context current, and then the caller's again. All calls of CUDA are between the
 * two. Leaving returns result, or the error of leaving if result is TZ_OK. */
tz_result tz_cu_enter(const tz_cu_state *s, const tz_context *ctx);
tz_result tz_cu_leave(const tz_cu_state *s, tz_result result, const tz_context *ctx);
/* Returns true if the context still works: an error of a library is then its own fault, and not the
 * device's. */
bool tz_cu_context_works(const tz_cu_state *s, tz_cu_stream stream);

static inline tz_cu_address tz_cu_address_of(const tz_device_memory *memory)
{
    return (tz_cu_address)(uintptr_t)memory->handle;
}

/* ---- cuda_memory.c ---- */

/* Makes s->pool, if the device can have one. threshold: bytes that it keeps; 0: the default, 1:
 * none.
 */
tz_result tz_cu_make_pool(tz_cu_state *s, uint64_t threshold, const tz_context *ctx);
/* Makes the queues wait for the work that is on another stream now. */
tz_cu_code tz_cu_queues_wait(tz_cu_state *s, tz_cu_stream stream);
tz_result tz_cu_alloc(void *state, tz_device_memory *memory, const tz_context *ctx);
tz_result tz_cu_alloc_pinned(void *state, tz_device_memory *memory, const tz_context *ctx);
void tz_cu_free(void *state, tz_device_memory *memory);
tz_result tz_cu_free_memory(void *state, uint64_t *bytes, const tz_context *ctx);

#endif
