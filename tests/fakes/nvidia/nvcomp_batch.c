/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/nvidia/nvcomp_batch.h"

#include <libdeflate.h>
#include <lz4.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

enum { GARBAGE = 0xC3, FETCHED_AHEAD = 16 };

nvcomp_fake_control nvcomp_control;

/* ---- one chunk ---- */

typedef struct chunk {
    const uint8_t *in;
    size_t in_size;
    uint8_t *out;
    size_t room;
    size_t size; /* what became of it */
} chunk;

static bool inflate_chunk(chunk *c)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    size_t used = 0;
    const enum libdeflate_result result =
        libdeflate_deflate_decompress_ex(d, c->in, c->in_size, c->out, c->room, &used, &c->size);
    libdeflate_free_decompressor(d);
    return result == LIBDEFLATE_SUCCESS;
}

static bool decompress_chunk(tz_nvcomp_codec codec, chunk *c)
{
    if (codec == TZ_NVCOMP_DEFLATE)
        return inflate_chunk(c);
    if (codec == TZ_NVCOMP_ZSTD) {
        if (nvcomp_control.needs_size &&
            ZSTD_getFrameContentSize(c->in, c->in_size) == ZSTD_CONTENTSIZE_UNKNOWN)
            return false;
        c->size = ZSTD_decompress(c->out, c->room, c->in, c->in_size);
        return !ZSTD_isError(c->size);
    }
    const int size = LZ4_decompress_safe((const char *)c->in, (char *)c->out, (int)c->in_size,
                                         c->room > INT32_MAX ? INT32_MAX : (int)c->room);
    c->size = (size_t)size;
    return size >= 0;
}

static bool deflate_chunk(int32_t algorithm, chunk *c)
{
    static const int levels[] = {1, 1, 3, 3, 6, 9};
    struct libdeflate_compressor *d = libdeflate_alloc_compressor(levels[algorithm]);
    c->size = libdeflate_deflate_compress(d, c->in, c->in_size, c->out, c->room);
    libdeflate_free_compressor(d);
    return c->size > 0;
}

static bool compress_chunk(const nvcomp_job *job, chunk *c)
{
    if (job->codec == TZ_NVCOMP_DEFLATE)
        return deflate_chunk(job->algorithm, c);
    if (job->codec == TZ_NVCOMP_ZSTD) {
        c->size = ZSTD_compress(c->out, c->room, c->in, c->in_size, 3);
        return !ZSTD_isError(c->size);
    }
    const int size =
        LZ4_compress_default((const char *)c->in, (char *)c->out, (int)c->in_size, (int)c->room);
    c->size = (size_t)size;
    return size > 0;
}

/* Codecs get a copy of exactly the input's bytes: what lies after them is not theirs. */
static tz_nvcomp_status do_chunk(const nvcomp_job *job, chunk *c)
{
    const bool fails = nvcomp_control.fail_chunk > 0 && --nvcomp_control.fail_chunk == 0;
    tz_nvcomp_status status = job->compress ? TZ_NVCOMP_CannotCompress : TZ_NVCOMP_CannotDecompress;
    if (job->compress ? compress_chunk(job, c) : decompress_chunk(job->codec, c))
        status = 0;
    if (fails && nvcomp_control.fail_status != 0)
        status = nvcomp_control.fail_status;
    if (status != 0) {
        memset(c->out, GARBAGE, c->room);
        c->size = 0;
    } else if (fails) {
        c->out[c->size / 2] ^= 0x55;
    }
    return status;
}

/* ---- a batch ---- */

typedef struct arrays {
    const uint64_t *in;
    const size_t *in_sizes;
    const uint64_t *out;
    const size_t *room; /* NULL to compress */
    size_t *out_sizes;  /* may be NULL, as the next */
    tz_nvcomp_status *statuses;
} arrays;

static void *reach(cuda_vendor_work *work, const void *address, size_t size)
{
    return cuda_vendor_find()->reach(work, (uint64_t)(uintptr_t)address, size);
}

/* An array of the batch; one that may be NULL is left so. False: it is not all memory. */
static bool get_array(cuda_vendor_work *work, const nvcomp_job *job, const void *address,
                      size_t element, void *out)
{
    void *bytes = address ? reach(work, address, job->count * element) : NULL;
    memcpy(out, &bytes, sizeof bytes);
    return bytes || !address;
}

static bool get_arrays(cuda_vendor_work *work, const nvcomp_job *job, arrays *a)
{
    memset(a, 0, sizeof *a);
    return get_array(work, job, job->in, sizeof *a->in, &a->in) &&
           get_array(work, job, job->in_sizes, sizeof *a->in_sizes, &a->in_sizes) &&
           get_array(work, job, job->out, sizeof *a->out, &a->out) &&
           get_array(work, job, job->room, sizeof *a->room, &a->room) &&
           get_array(work, job, job->out_sizes, sizeof *a->out_sizes, &a->out_sizes) &&
           get_array(work, job, job->statuses, sizeof *a->statuses, &a->statuses);
}

/* Checks a chunk before any of its bytes is read. */
static tz_nvcomp_status check_chunk(const nvcomp_job *job, const arrays *a, size_t i)
{
    const tz_nvcomp_alignments is = sizes_align(job->codec, job->compress);
    if (a->in[i] % is.input != 0 || a->out[i] % is.output != 0)
        return TZ_NVCOMP_Alignment;
    if (a->in_sizes[i] == 0)
        return job->compress ? TZ_NVCOMP_CannotCompress : TZ_NVCOMP_CannotDecompress;
    if (job->compress && a->in_sizes[i] > job->max_chunk)
        return TZ_NVCOMP_ChunkSizeTooLarge;
    return 0;
}

/* False: the context is broken. */
static bool run_chunk(cuda_vendor_work *work, const nvcomp_job *job, const arrays *a, size_t i)
{
    chunk c = {.in_size = a->in_sizes[i],
               .room = job->compress ? sizes_output(job->codec, job->max_chunk) : a->room[i]};
    tz_nvcomp_status status = check_chunk(job, a, i);
    if (status == 0) {
        const size_t ahead = !job->compress && job->codec == TZ_NVCOMP_DEFLATE ? FETCHED_AHEAD : 0;
        c.in = cuda_vendor_find()->reach(work, a->in[i], c.in_size + ahead);
        c.out = c.in ? cuda_vendor_find()->reach(work, a->out[i], c.room) : NULL;
        if (!c.out)
            return false;
        status = do_chunk(job, &c);
    }
    if (a->out_sizes)
        a->out_sizes[i] = c.size;
    if (a->statuses)
        a->statuses[i] = status;
    return true;
}

void nvcomp_run(cuda_vendor_work *work, void *state)
{
    const nvcomp_job *job = state;
    arrays a;
    if (!work || !get_arrays(work, job, &a))
        return;
    if (job->temp_bytes > 0) {
        void *temp = reach(work, job->temp, job->temp_bytes);
        if (!temp)
            return;
        memset(temp, GARBAGE, job->temp_bytes);
    }
    nvcomp_control.batches++;
    nvcomp_control.chunks += job->count;
    for (size_t i = 0; i < job->count; i++) {
        if (!run_chunk(work, job, &a, i))
            return;
    }
}
