/* SPDX-License-Identifier: Apache-2.0
 * A batch of the fakes of nvCOMP, as its stream does it. */
#ifndef TESTS_FAKES_NVIDIA_NVCOMP_BATCH_H
#define TESTS_FAKES_NVIDIA_NVCOMP_BATCH_H

#include "fakes/cuda/cuda_vendor.h"
#include "fakes/nvidia/nvcomp_fake.h"
#include "fakes/nvidia/nvcomp_sizes.h"

typedef struct nvcomp_job {
    tz_nvcomp_codec codec;
    bool compress;
    int32_t algorithm;
    size_t count;
    size_t max_chunk; /* 0: not reported */
    const void *in, *in_sizes, *out, *room, *out_sizes, *statuses, *temp;
    size_t temp_bytes;
} nvcomp_job;

extern nvcomp_fake_control nvcomp_control;

/* A cuda_vendor_run: state is the job. */
void nvcomp_run(cuda_vendor_work *work, void *state);

/* ---- nvcomp_fake.c: what functions of all releases do, by the name that they are called ---- */

tz_nvcomp_status nvcomp_fake_align(const char *name, tz_nvcomp_codec codec, bool compress,
                                   int32_t algorithm, tz_nvcomp_alignments *out);
tz_nvcomp_status nvcomp_fake_max_output(const char *name, tz_nvcomp_codec codec, int32_t algorithm,
                                        size_t chunk, size_t *out);
tz_nvcomp_status nvcomp_fake_compress_temp(const char *name, tz_nvcomp_codec codec,
                                           int32_t algorithm, size_t count, size_t chunk,
                                           size_t total, size_t *out, tz_cu_stream stream);
tz_nvcomp_status nvcomp_fake_decompress_temp(const char *name, tz_nvcomp_codec codec, size_t count,
                                             size_t total, size_t *out, tz_cu_stream stream);
tz_nvcomp_status nvcomp_fake_start(const char *name, const nvcomp_job *wanted, tz_cu_stream stream);

#endif
