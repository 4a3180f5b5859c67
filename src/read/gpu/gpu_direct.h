/* SPDX-License-Identifier: Apache-2.0
 * Tiles that are read from files straight into a device's memory: which, and where they go. */
#ifndef TZ_READ_GPU_GPU_DIRECT_H
#define TZ_READ_GPU_GPU_DIRECT_H

#include "io/spans.h"
#include "read/plan.h"

/* Offsets, sizes and places of such reads are whole pages of a disk: what is not takes a detour
 * within the device. */
enum { TZ_DIRECT_PAGE = 4096 };

/* A file that the device reads, once for all targets. */
typedef struct tz_direct_file {
    tz_source *source;
    void *handle;
} tz_direct_file;

/* Spans in memory, one behind the other, and the reads that fetch them: neighbours that share pages
 * are one. */
typedef struct tz_direct_space {
    const tz_direct_file *file; /* of the last read */
    uint64_t offset, end;       /* of it, in the file */
    uint64_t at;                /* and where it goes */
    uint64_t bytes;             /* of memory */
    uint64_t reads;             /* how many there are */
    uint64_t read_bytes;        /* that they bring: files end somewhere */
} tz_direct_space;
/* One more: where its first byte goes. */
uint64_t tz_direct_space_add(tz_direct_space *space, const tz_direct_file *file,
                             const tz_span *span);

/* Open the files of the plan's targets for the device. What cannot be is said in the report, and
 * read through memory of the host. */
tz_result tz_direct_open(tz_plan *plan);
void tz_direct_close(tz_gpu_plan *gpu);

/* Whether a read goes straight to the device, and from which file; NULL: it does not. */
const tz_direct_file *tz_direct_file_of(const tz_plan *plan, const tz_span *fetch,
                                        tz_tile_route route);
/* Bytes of one that could, were it of another file, or larger; 0: it is none of these. */
uint64_t tz_direct_bounced(const tz_plan *plan, const tz_span *fetch, tz_tile_route route);

/* The first reason why not is kept. */
void tz_direct_note_reason(tz_device_use *use, const char *reason);

#endif
