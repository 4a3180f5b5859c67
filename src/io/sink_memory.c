/* SPDX-License-Identifier: Apache-2.0
 * Memory that grows, as a sink. Bytes that were never written are zero, as in a file with gaps.
 * commit hands the block to the caller; a sink without a receiver is a spool, which has neither
 * sync nor commit and keeps its bytes until it is closed.
 *
 * Capacity grows by half: few copies, and at most a third unused. commit returns the unused rest to
 * the allocator. */
#include <string.h>

#include "base/mem.h"
#include "io/sink.h"

/* The first capacity: otherwise the few bytes of a header would be followed by many small steps. */
#define MIN_CAPACITY ((size_t)64 << 10)

typedef struct memory_sink {
    tz_sink base;    /* first, so that both have one address */
    tz_memory *into; /* NULL: a spool */
    unsigned char *data;
    size_t size;
    size_t capacity;
    bool committed;
} memory_sink;

static tz_result fail_too_large(uint64_t offset, uint64_t size, const tz_context *ctx)
{
    return tz_fail(ctx, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, tz_at_offset(offset),
                   "%llu more bytes do not fit into memory", (unsigned long long)size);
}

static tz_result reserve_capacity(memory_sink *sink, size_t size, const tz_context *ctx)
{
    if (size <= sink->capacity)
        return TZ_OK;
    const size_t grown =
        sink->capacity <= SIZE_MAX / 2 ? sink->capacity + sink->capacity / 2 : SIZE_MAX;
    const size_t capacity = tz_max_size(size, tz_max_size(grown, MIN_CAPACITY));
    unsigned char *data = tz_realloc_array(sink->data, capacity, 1);
    if (!data)
        return tz_fail_nomem(ctx, capacity);
    sink->data = data;
    sink->capacity = capacity;
    return TZ_OK;
}

/* Makes the content at least size bytes long; new bytes are zero. */
static tz_result grow_with_zeros(memory_sink *sink, size_t size, const tz_context *ctx)
{
    if (size <= sink->size)
        return TZ_OK;
    TZ_TRY(reserve_capacity(sink, size, ctx));
    memset(sink->data + sink->size, 0, size - sink->size);
    sink->size = size;
    return TZ_OK;
}

static tz_result check_open(const memory_sink *sink, const tz_context *ctx)
{
    if (sink->committed)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "was committed already");
    return TZ_OK;
}

static tz_result write_memory(tz_sink *base, uint64_t offset, const tz_bytes *buffers, size_t count,
                              tz_error *err)
{
    memory_sink *sink = (memory_sink *)base;
    tz_context ctx = {.err = err, .ifd = -1};
    TZ_TRY(check_open(sink, &ctx));
    for (size_t i = 0; i < count; i++) {
        const tz_bytes *buffer = &buffers[i];
        uint64_t end;
        size_t size;
        if (buffer->size == 0)
            continue;
        if (!tz_add(offset, buffer->size, &end) || !tz_to_size(end, &size))
            return fail_too_large(offset, buffer->size, &ctx);
        TZ_TRY(reserve_capacity(sink, size, &ctx));
        if (offset > sink->size)
            TZ_TRY(grow_with_zeros(sink, (size_t)offset, &ctx));
        memcpy(sink->data + offset, buffer->data, buffer->size);
        sink->size = tz_max_size(sink->size, size);
        offset = end;
    }
    return TZ_OK;
}

static tz_result read_memory(tz_sink *base, uint64_t offset, void *dst, size_t size, tz_error *err)
{
    const memory_sink *sink = (const memory_sink *)base;
    tz_context ctx = {.err = err, .ifd = -1};
    TZ_TRY(check_open(sink, &ctx));
    uint64_t left = offset < sink->size ? sink->size - offset : 0;
    if (size > left)
        return tz_fail(&ctx, TZ_ERR_IO, TZ_CAUSE_TRUNCATED,
                       tz_expecting(tz_at_offset(offset), size, left),
                       "less was written than is read back");
    if (size > 0)
        memcpy(dst, sink->data + offset, size);
    return TZ_OK;
}

/* Does nothing to an empty sink, as in a file. */
static tz_result insert_memory(tz_sink *base, uint64_t size, tz_error *err)
{
    memory_sink *sink = (memory_sink *)base;
    tz_context ctx = {.err = err, .ifd = -1};
    uint64_t end;
    size_t wanted;
    TZ_TRY(check_open(sink, &ctx));
    if (sink->size == 0)
        return TZ_OK;
    if (!tz_add(sink->size, size, &end) || !tz_to_size(end, &wanted))
        return fail_too_large(0, size, &ctx);
    TZ_TRY(reserve_capacity(sink, wanted, &ctx));
    memmove(sink->data + size, sink->data, sink->size);
    memset(sink->data, 0, (size_t)size);
    sink->size = wanted;
    return TZ_OK;
}

static tz_result sync_memory(tz_sink *base, uint64_t size, tz_error *err)
{
    memory_sink *sink = (memory_sink *)base;
    tz_context ctx = {.err = err, .ifd = -1};
    size_t wanted;
    TZ_TRY(check_open(sink, &ctx));
    if (!tz_to_size(size, &wanted))
        return fail_too_large(0, size, &ctx);
    TZ_TRY(grow_with_zeros(sink, wanted, &ctx));
    sink->size = wanted;
    return TZ_OK;
}

static tz_result commit_memory(tz_sink *base, tz_error *err)
{
    memory_sink *sink = (memory_sink *)base;
    tz_context ctx = {.err = err, .ifd = -1};
    TZ_TRY(check_open(sink, &ctx));
    /* If the block cannot be made smaller, the caller gets it with its unused capacity. */
    void *fitting =
        sink->size < sink->capacity ? tz_realloc_array(sink->data, sink->size, 1) : NULL;
    *sink->into = (tz_memory){fitting ? fitting : sink->data, sink->size};
    sink->data = NULL;
    sink->committed = true;
    return TZ_OK;
}

static void close_memory_sink(tz_sink *base)
{
    tz_free(((memory_sink *)base)->data);
    tz_free(base);
}

static tz_result open_memory_sink(tz_sink **out, tz_memory *into, const tz_context *ctx)
{
    static const tz_sink spool = {.struct_size = sizeof spool,
                                  .write = write_memory,
                                  .read = read_memory,
                                  .close = close_memory_sink};
    static const tz_sink whole = {.struct_size = sizeof whole,
                                  .write = write_memory,
                                  .read = read_memory,
                                  .insert = insert_memory,
                                  .sync = sync_memory,
                                  .commit = commit_memory,
                                  .close = close_memory_sink};
    memory_sink *sink = tz_alloc(sizeof *sink);
    if (!sink)
        return tz_fail_nomem(ctx, sizeof *sink);
    *sink = (memory_sink){.base = into ? whole : spool, .into = into};
    *out = &sink->base;
    return TZ_OK;
}

tz_result tz_sink_open_memory(tz_sink **out, tz_memory *into, const tz_context *ctx)
{
    if (!into)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the memory to fill is NULL");
    return open_memory_sink(out, into, ctx);
}

tz_result tz_sink_open_memory_spool(tz_sink **out, const tz_context *ctx)
{
    return open_memory_sink(out, NULL, ctx);
}

bool tz_sink_is_memory(const tz_sink *sink)
{
    return sink && sink->write == write_memory;
}

void tz_memory_free(tz_memory *memory)
{
    if (!memory)
        return;
    tz_free(memory->data);
    *memory = (tz_memory){NULL, 0};
}
