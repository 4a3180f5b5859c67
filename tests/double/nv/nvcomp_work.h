/* SPDX-License-Identifier: Apache-2.0
 * A batch of the doubles of nvCOMP, as its stream does it. */
#ifndef TESTS_DOUBLE_NV_NVCOMP_WORK_H
#define TESTS_DOUBLE_NV_NVCOMP_WORK_H

#include "double/cuda_guest.h"
#include "double/nv/nvcomp_double.h"
#include "double/nv/nvcomp_sizes.h"

typedef struct nvcomp_job {
    tz_nvcomp_codec codec;
    bool compress;
    int32_t algorithm;
    size_t count;
    size_t max_chunk; /* 0: not told */
    const void *in, *in_sizes, *out, *room, *out_sizes, *statuses, *temp;
    size_t temp_bytes;
} nvcomp_job;

extern nvcomp_double_control nvcomp_control;

/* A cuda_guest_run: state is the job. */
void nvcomp_run(cuda_guest_work *work, void *state);

/* ---- nvcomp_double.c: what functions of all releases do, by the name that they are called ---- */

tz_nvcomp_status double_align(const char *name, tz_nvcomp_codec codec, bool compress,
                              int32_t algorithm, tz_nvcomp_alignments *out);
tz_nvcomp_status double_max_output(const char *name, tz_nvcomp_codec codec, int32_t algorithm,
                                   size_t chunk, size_t *out);
tz_nvcomp_status double_compress_temp(const char *name, tz_nvcomp_codec codec, int32_t algorithm,
                                      size_t count, size_t chunk, size_t total, size_t *out,
                                      tz_cu_stream stream);
tz_nvcomp_status double_decompress_temp(const char *name, tz_nvcomp_codec codec, size_t count,
                                        size_t total, size_t *out, tz_cu_stream stream);
tz_nvcomp_status double_start(const char *name, const nvcomp_job *wanted, tz_cu_stream stream);

#endif
