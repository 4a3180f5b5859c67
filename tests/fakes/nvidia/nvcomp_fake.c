/* SPDX-License-Identifier: Apache-2.0
 * A release of nvCOMP, which NVCOMP_FAKE_VERSION says; NVCOMP_FAKE_TOLD is another version that
 * it says to be. */
#include "fakes/nvidia/nvcomp_fake.h"

#include <stdlib.h>

#include "fakes/nvidia/nvcomp_batch.h"

#ifndef NVCOMP_FAKE_TOLD
#define NVCOMP_FAKE_TOLD NVCOMP_FAKE_VERSION
#endif

#define EXPORT __attribute__((visibility("default")))

EXPORT nvcomp_fake_control *nvcomp_fake(void);
nvcomp_fake_control *nvcomp_fake(void)
{
    return &nvcomp_control;
}

EXPORT tz_nvcomp_status nvcompGetProperties(tz_nvcomp_properties *out);
tz_nvcomp_status nvcompGetProperties(tz_nvcomp_properties *out)
{
    if (!out)
        return TZ_NVCOMP_InvalidValue;
    *out = (tz_nvcomp_properties){NVCOMP_FAKE_TOLD, 13000};
    return 0;
}

/* ---- what functions of all releases do ---- */

/* Note a question; not 0: what it is to answer instead. */
static tz_nvcomp_status begin(const char *name, bool with_context, tz_cu_stream stream)
{
    const cuda_vendor *cuda = cuda_vendor_find();
    if (!cuda)
        return 0;
    const cuda_vendor_answer answer = cuda->call(name, 0, stream, with_context);
    if (answer.code == 0)
        return 0;
    return answer.put_in ? answer.code : TZ_NVCOMP_CudaError;
}

static bool known_algorithm(tz_nvcomp_codec codec, int32_t algorithm)
{
    return codec != TZ_NVCOMP_DEFLATE || (algorithm >= 0 && algorithm <= 5);
}

tz_nvcomp_status nvcomp_fake_align(const char *name, tz_nvcomp_codec codec, bool compress,
                                   int32_t algorithm, tz_nvcomp_alignments *out)
{
    const tz_nvcomp_status status = begin(name, false, NULL);
    if (status != 0)
        return status;
    if (compress && !known_algorithm(codec, algorithm))
        return TZ_NVCOMP_NotSupported;
    *out = sizes_align(codec, compress);
    return 0;
}

tz_nvcomp_status nvcomp_fake_max_output(const char *name, tz_nvcomp_codec codec, int32_t algorithm,
                                        size_t chunk, size_t *out)
{
    const tz_nvcomp_status status = begin(name, false, NULL);
    if (status != 0)
        return status;
    if (!known_algorithm(codec, algorithm))
        return TZ_NVCOMP_NotSupported;
    if (chunk > sizes_limit(codec, true))
        return TZ_NVCOMP_ChunkSizeTooLarge;
    *out = sizes_output(codec, chunk);
    return 0;
}

tz_nvcomp_status nvcomp_fake_compress_temp(const char *name, tz_nvcomp_codec codec,
                                           int32_t algorithm, size_t count, size_t chunk,
                                           size_t total, size_t *out, tz_cu_stream stream)
{
    const tz_nvcomp_status status = begin(name, codec == TZ_NVCOMP_ZSTD, stream);
    if (status != 0)
        return status;
    if (!known_algorithm(codec, algorithm))
        return TZ_NVCOMP_NotSupported;
    return sizes_compress_temp(codec, algorithm, count, chunk, total, cuda_vendor_find() != NULL,
                               out);
}

tz_nvcomp_status nvcomp_fake_decompress_temp(const char *name, tz_nvcomp_codec codec, size_t count,
                                             size_t total, size_t *out, tz_cu_stream stream)
{
    const tz_nvcomp_status status = begin(name, MAJOR == 4 && codec == TZ_NVCOMP_ZSTD, stream);
    if (status != 0)
        return status;
    return sizes_decompress_temp(codec, count, total, cuda_vendor_find() != NULL, out);
}

/* Which arrays of results a release insists on. */
static bool results_given(const nvcomp_job *job)
{
    if (job->compress)
        return job->out_sizes;
    if (MAJOR != 5)
        return job->out_sizes && job->statuses;
    if (job->codec == TZ_NVCOMP_LZ4)
        return true;
    if (job->codec == TZ_NVCOMP_ZSTD)
        return job->out_sizes;
    return !job->out_sizes == !job->statuses;
}

static bool looks_at_temp(const nvcomp_job *job)
{
    return job->compress ? job->codec != TZ_NVCOMP_ZSTD : job->codec == TZ_NVCOMP_ZSTD;
}

static tz_nvcomp_status check(const nvcomp_job *job)
{
    if (!job->in || !job->in_sizes || !job->out || (!job->compress && !job->room) ||
        !results_given(job))
        return TZ_NVCOMP_InvalidValue;
    if (job->compress && !known_algorithm(job->codec, job->algorithm))
        return TZ_NVCOMP_NotSupported;
    if (job->compress && job->max_chunk > sizes_limit(job->codec, true))
        return TZ_NVCOMP_ChunkSizeTooLarge;
    const size_t alignment = sizes_align(job->codec, job->compress).temp;
    if (looks_at_temp(job) && (uintptr_t)job->temp % alignment != 0)
        return TZ_NVCOMP_Alignment;
    return 0;
}

/* The least that this batch can need: what the caller says of the total is not used here. */
static size_t least_temp(const nvcomp_job *job)
{
    size_t bytes = 0;
    if (job->compress)
        (void)sizes_compress_temp(job->codec, job->algorithm, job->count, job->max_chunk, 0, true,
                                  &bytes);
    else
        (void)sizes_decompress_temp(job->codec, job->count, 0, true, &bytes);
    return bytes;
}

tz_nvcomp_status nvcomp_fake_start(const char *name, const nvcomp_job *wanted, tz_cu_stream stream)
{
    const tz_nvcomp_status status = check(wanted);
    if (status != 0)
        return status;
    const cuda_vendor *cuda = cuda_vendor_find();
    if (!cuda)
        return NO_DEVICE;
    if (wanted->count == 0 || wanted->temp_bytes < least_temp(wanted))
        return TZ_NVCOMP_InvalidValue;
    nvcomp_job *job = malloc(sizeof *job);
    *job = *wanted;
    const cuda_vendor_answer answer = cuda->enqueue(name, wanted->count, stream, nvcomp_run, job);
    if (answer.code == 0)
        return 0;
    return answer.put_in ? answer.code : TZ_NVCOMP_CudaError;
}
