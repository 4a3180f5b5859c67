/* SPDX-License-Identifier: Apache-2.0
 * How a plan is carried out on a device: which tiles it decodes, what becomes of their samples,
 * where they go, and how much memory a wave may take. */
#ifndef TZ_READ_GPU_GPU_PLAN_H
#define TZ_READ_GPU_GPU_PLAN_H

#include "device/device_codestreams.h"
#include "device/ops/convert_tiles.h"
#include "read/gpu/gpu_batch.h"

/* What happens to the tiles of a target: one of each for every target of the plan. Targets that
 * share tiles have the same way. */
typedef struct tz_gpu_request {
    tz_tile_route route;
    uint32_t codec;      /* TZ_ROUTE_DEVICE: which of tz_gpu_plan.codecs; TZ_ROUTE_CODESTREAMS: of
                            libraries */
    bool on_device;      /* some of what it wants goes to memory of the device */
    bool copies_rows;    /* samples of a row are those of the buffer's row */
    bool is_interleaved; /* all samples of a pixel lie together in the buffer, and in the file */
    uint32_t file;       /* of tz_gpu_plan.files, from 1: it is read from there; 0: it is not */
    bool has_unpredict;
    tz_unpredict_entry unpredict;
    uint32_t pair;    /* which of tz_gpu_plan.pairs its samples go to */
    uint32_t format;  /* of its first band; with scales, those of the others follow */
    uint32_t copy;    /* the format that copies samples of the buffer */
    uint32_t missing; /* the constant for pixels of missing tiles; by band as formats are */
    uint32_t fill;    /* the one for pixels outside of the level, or one for each band */
} tz_gpu_request;

/* A sample of a buffer that is known before any tile is. */
typedef struct tz_gpu_constant {
    uint8_t sample[16];
    uint32_t valid; /* by nodata: what the mask says */
    uint32_t unused[3];
} tz_gpu_constant;

/* Memory that one launch places to. NULL: none; tz_gpu_staging: to a part of the slab that goes
 * down.
 */
extern tz_device_memory tz_gpu_staging;
typedef struct tz_gpu_memory_pair {
    tz_device_memory *into;
    tz_device_memory *mask;
} tz_gpu_memory_pair;

/* A library of pictures that some target has tiles for. */
enum { TZ_GPU_CODESTREAM_LIBRARIES = 2 };
typedef struct tz_gpu_codestream_library {
    uint16_t compression;
    uint64_t samples; /* of the largest tile */
    tz_codestream_codec codec;
} tz_gpu_codestream_library;

struct tz_gpu_plan {
    tz_device *device;
    tz_gpu_request *requests;
    tz_convert_format *formats;
    uint32_t format_count, format_capacity;
    tz_gpu_constant *constants;
    uint32_t constant_count, constant_capacity;
    tz_gpu_memory_pair *pairs;
    uint32_t pair_count, pair_capacity;
    uint16_t codecs[TZ_GPU_MAX_CODECS];
    uint32_t codec_count;
    tz_direct_file *files;
    uint32_t file_count, file_capacity;
    bool has_files; /* some of these are open */
    tz_gpu_codestream_library libraries[TZ_GPU_CODESTREAM_LIBRARIES];
    uint32_t library_count;
    uint64_t library_bytes;   /* of the device, that they take beside all else */
    char library_reason[160]; /* why tiles that one could decode are left to the cores */
    char tile_reason[160];    /* why tiles of a codec of the device's are; empty: none are */
    bool on_device;           /* some buffer is in its memory */
    bool has_long_rows;
    bool fills;                /* pixels outside of a level are its work */
    uint64_t device_budget;    /* bytes of the device that there are for all of it */
    tz_gpu_sizes batch_budget; /* that a wave may take */
    tz_gpu_sizes slot_size;    /* that the largest takes */
    tz_gpu_sizes redo_size; /* that the CPU takes for one tile that the device could not decode */
    uint64_t redo_waiting_bytes; /* the most bytes of a wave's tiles that wait meanwhile */
    size_t max_tile_reads;       /* of the largest */
    size_t max_fetches;          /* the same */
    size_t max_reads;            /* the same, that go straight to the device; 0: none does */
    uint64_t fill_capacity;      /* entries of a table for what no tile fills */
    unsigned slots;              /* waves under way at the same time */
    uint64_t by_cpu;             /* tiles that it leaves to the cores */
};

/* Whether it is a device other than the cores. NULL is none. */
bool tz_device_is_gpu(const tz_device *device);

/* Of the targets of a plan. Where the device has nothing to do, or cannot do it, plan->gpu is
 * NULL afterwards and the report has the reason. */
tz_result tz_gpu_plan_make(tz_plan *plan);
void tz_gpu_plan_free(tz_gpu_plan *gpu); /* NULL is fine */

/* How much memory there is for it. */
tz_result tz_gpu_plan_set_budget(tz_plan *plan);

/* Cut the wave at hand, and note the largest part and what it all costs. */
void tz_gpu_plan_measure(tz_plan *plan);

typedef enum tz_gpu_fit {
    TZ_GPU_FITS,
    TZ_GPU_FIT_AGAIN, /* measure again, with smaller fetches or a single slot */
    TZ_GPU_FIT_CPU,   /* dropped: measure again, for the CPU */
    TZ_GPU_FIT_BOUNCE /* dropped: the CPU has to fill buffers in device memory */
} tz_gpu_fit;

/* Chooses the number and size of slots, after all waves were measured. */
tz_result tz_gpu_plan_fit(tz_plan *plan, tz_gpu_fit *out);

/* Halves the device memory of the plan, after that of the plan could not be allocated. The plan has
 * to be measured again. */
void tz_gpu_plan_halve(tz_plan *plan);

/* Leave all of it to the CPU, buffers in device memory included. */
void tz_gpu_plan_give_up(tz_plan *plan, const char *reason);

/* Memory of the host that lanes take. */
uint64_t tz_gpu_plan_host_bytes(const tz_gpu_plan *gpu);

/* Leave it to the cores. */
void tz_gpu_plan_drop(tz_plan *plan, const char *reason);

#endif
