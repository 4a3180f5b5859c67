/* SPDX-License-Identifier: Apache-2.0
 * The part of a plan that a GPU needs: the decoder of each request's tiles, the conversions of
 * their samples, the memories they go to, and the memory that a batch may take. */
#ifndef TZ_READ_GPU_GPU_PLAN_H
#define TZ_READ_GPU_GPU_PLAN_H

#include "device/device_codestreams.h"
#include "device/ops/convert_tiles.h"
#include "device/ops/decode.h"
#include "read/plan.h"

enum { TZ_GPU_MAX_CODECS = 8, TZ_GPU_CODESTREAM_LIBRARIES = 2 };

/* Sets a reason of a report unless it has one already: the first is kept. */
enum { TZ_REASON_BYTES = sizeof((tz_device_use *)0)->reason };
void tz_note_reason(char reason[TZ_REASON_BYTES], const char *text);

/* The GPU's part of one planned request. Requests that share tiles have the same route. */
typedef struct tz_gpu_request {
    tz_tile_route route; /* see tz_tile_read_route */
    /* TZ_ROUTE_DEVICE: index in tz_gpu_plan.codecs; TZ_ROUTE_CODESTREAMS: in its libraries */
    uint32_t codec;
    bool on_device;      /* its pixels or its mask go to device memory */
    bool copies_rows;    /* samples of a row are those of the buffer's row */
    bool is_interleaved; /* all samples of a pixel lie together in the buffer, and in the file */
    uint32_t file;       /* number in tz_gpu_plan.files, from 1; 0: it is read by the host */
    bool has_unpredict;
    tz_unpredict_entry unpredict;
    uint32_t pair;    /* index in tz_gpu_plan.pairs */
    uint32_t format;  /* of its first band; with scales, those of the other bands follow */
    uint32_t copy;    /* the format that copies samples of the buffer */
    uint32_t missing; /* constant for pixels of missing tiles; by band as formats are */
    /* constant for pixels outside the level and, with has_fill, for tiles that could not be read;
     * by band as formats are */
    uint32_t fill;
} tz_gpu_request;

/* A sample of a buffer that is known before any tile is. */
typedef struct tz_gpu_constant {
    uint8_t sample[16];
    uint32_t valid; /* by nodata: the value of the mask */
    uint32_t unused[3];
} tz_gpu_constant;

/* The memories that one launch converts to. NULL: none; &tz_gpu_staging: the part of the slab that
 * is downloaded. */
extern tz_device_memory tz_gpu_staging;
typedef struct tz_gpu_memory_pair {
    tz_device_memory *into;
    tz_device_memory *mask;
} tz_gpu_memory_pair;

/* A library of the device that decodes codestreams of some request. */
typedef struct tz_gpu_codestream_library {
    uint16_t compression;
    uint64_t samples; /* of the largest tile */
    tz_codestream_codec codec;
} tz_gpu_codestream_library;

/* A file that the device reads itself, once for all requests. */
typedef struct tz_direct_file {
    tz_source *source;
    void *handle; /* NULL: it could not be opened, and is not tried again */
} tz_direct_file;

/* A list that grows. Requests have indices in it, so entries never move within it. */
typedef struct tz_gpu_list {
    void *entries;
    uint32_t count, capacity;
} tz_gpu_list;

/* Bytes of device memory and of pinned host memory. */
typedef struct tz_gpu_sizes {
    uint64_t device, pinned;
} tz_gpu_sizes;

struct tz_gpu_plan {
    tz_device *device;
    tz_gpu_request *requests; /* one for each planned request */
    tz_gpu_list formats;      /* of tz_convert_format */
    tz_gpu_list constants;    /* of tz_gpu_constant */
    tz_gpu_list pairs;        /* of tz_gpu_memory_pair */
    uint16_t codecs[TZ_GPU_MAX_CODECS];
    uint32_t codec_count;
    tz_direct_file *files;
    uint32_t file_count, file_capacity;
    bool has_files; /* some of these are open */
    tz_gpu_codestream_library libraries[TZ_GPU_CODESTREAM_LIBRARIES];
    uint32_t library_count;
    uint64_t library_bytes;               /* device memory that they take beside all else */
    char library_reason[TZ_REASON_BYTES]; /* why the CPU decodes tiles that a library could */
    char tile_reason[TZ_REASON_BYTES]; /* why the CPU decodes tiles that a kernel could; empty: it
                                          does not */
    bool on_device;                    /* some buffer is in device memory */
    bool has_long_rows;
    bool has_replacement;        /* of nodata, by another value than NaN */
    bool fills;                  /* the device fills pixels outside a level */
    uint64_t device_budget;      /* bytes of device memory for all slots */
    tz_gpu_sizes batch_budget;   /* of one batch */
    tz_gpu_sizes slot_size;      /* of the largest batch */
    tz_gpu_sizes redo_size;      /* of one tile that the CPU decodes after the device failed to */
    uint64_t redo_waiting_bytes; /* most bytes of other such tiles of a batch that wait meanwhile */
    size_t max_tile_reads;       /* of a batch */
    size_t max_fetches;          /* of a batch */
    size_t max_reads;            /* of a batch, straight to the device; 0: none */
    uint64_t fill_capacity;      /* entries of a table for pixels that no tile fills */
    unsigned slots;              /* batches in flight */
    uint64_t by_cpu;             /* tiles that the CPU decodes */
};

/* Makes the GPU's part of a plan. If the device has nothing to do, or cannot do it, plan->gpu is
 * NULL afterwards, plan->runner is another one and the report says why. */
tz_result tz_gpu_plan_make(tz_plan *plan);
void tz_gpu_plan_free(tz_gpu_plan *gpu);

/* Frees plan->gpu and leaves the plan to another runner. */
void tz_gpu_plan_drop(tz_plan *plan, tz_runner runner, const char *reason);

/* Counts the batches of the wave that is listed. */
void tz_gpu_plan_measure(tz_plan *plan);

typedef enum tz_gpu_fit {
    TZ_GPU_FITS,
    TZ_GPU_FIT_AGAIN, /* measure again, with smaller fetches or a single slot */
    TZ_GPU_FIT_CPU,   /* dropped: measure again, for the CPU */
    TZ_GPU_FIT_BOUNCE /* dropped: the CPU has to fill buffers in device memory */
} tz_gpu_fit;

/* Chooses the number and size of slots after all waves were measured. */
tz_result tz_gpu_plan_fit(tz_plan *plan, tz_gpu_fit *out);

/* Halves the device memory of the plan, because it could not be allocated. The plan has to be
 * measured again. */
void tz_gpu_plan_halve(tz_plan *plan);

/* Bytes of host memory that slots and lists take. */
uint64_t tz_gpu_plan_host_bytes(const tz_gpu_plan *gpu);

/* ---- gpu_bounce.c: buffers in device memory that the CPU has to fill ---- */

/* The CPU fills host memory, which is uploaded at the end, each buffer at once. */
typedef struct tz_bounce_buffer tz_bounce_buffer;
typedef struct tz_bounce {
    tz_bounce_buffer *buffers;
    size_t count;
    uint64_t bytes; /* of host memory */
    tz_device_use use;
} tz_bounce;

/* Gives requests buffers in host memory; bytes between the samples of their own are kept.
 * how->max_host_bytes is less by these afterwards. dry: nothing is allocated. */
tz_result tz_bounce_begin(tz_bounce *bounce, tz_read_request *requests, size_t count,
                          tz_read_options *how, bool dry, const tz_context *ctx);

/* Uploads them. */
tz_result tz_bounce_upload(tz_bounce *bounce, const tz_context *ctx);
void tz_bounce_deinit(tz_bounce *bounce); /* zeroed state is fine */

#endif
