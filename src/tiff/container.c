/* SPDX-License-Identifier: Apache-2.0 */
#include "tiff/container.h"

#include <string.h>

#include "base/mem.h"
#include "io/source.h"
#include "tiff/byte_order.h"

static tz_result fail_short_header(const tz_reader *reader, uint64_t needed, const tz_context *ctx)
{
    const uint64_t size = reader->container->size;
    return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED,
                   tz_expecting(tz_at_offset(0), needed, size),
                   "header needs %u bytes, file has %u", (unsigned)needed, (unsigned)size);
}

static tz_result fail_not_tiff(const tz_reader *reader, const tz_context *ctx)
{
    const uint8_t *p = reader->front;
    return tz_fail(
        ctx, TZ_ERR_FORMAT, TZ_CAUSE_NOT_TIFF, tz_at_offset(0),
        "not a TIFF: the first four bytes are %02x %02x %02x %02x, expected II or MM and "
        "42 (TIFF) or 43 (BigTIFF)",
        p[0], p[1], p[2], p[3]);
}

static tz_result parse_bigtiff_header(const tz_reader *reader, tz_container *container,
                                      const tz_context *ctx)
{
    const uint8_t *p = reader->front;
    if (container->size < 16)
        return fail_short_header(reader, 16, ctx);
    const uint16_t offset_size = tz_read_endian_u16(p + 4, container->big_endian);
    const uint16_t reserved = tz_read_endian_u16(p + 6, container->big_endian);
    if (offset_size != 8)
        return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_HEADER,
                       tz_expecting(tz_at_offset(4), 8, offset_size),
                       "BigTIFF offset size must be 8");
    if (reserved != 0)
        return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_HEADER,
                       tz_expecting(tz_at_offset(6), 0, reserved),
                       "BigTIFF reserved word must be 0");
    container->first_ifd = tz_read_endian_u64(p + 8, container->big_endian);
    return TZ_OK;
}

static tz_result parse_tiff_header(const tz_reader *reader, tz_container *container,
                                   const tz_context *ctx)
{
    const uint8_t *p = reader->front;
    if (container->size < 4)
        return fail_short_header(reader, 8, ctx);
    if (!(p[0] == 'I' && p[1] == 'I') && !(p[0] == 'M' && p[1] == 'M'))
        return fail_not_tiff(reader, ctx);
    container->big_endian = p[0] == 'M';
    const uint16_t version = tz_read_endian_u16(p + 2, container->big_endian);
    if (version != 42 && version != 43)
        return fail_not_tiff(reader, ctx);
    container->bigtiff = version == 43;
    if (container->bigtiff)
        return parse_bigtiff_header(reader, container, ctx);
    if (container->size < 8)
        return fail_short_header(reader, 8, ctx);
    container->first_ifd = tz_read_endian_u32(p + 4, container->big_endian);
    return TZ_OK;
}

static tz_result fetch_from_source(tz_reader *reader, uint64_t offset, size_t size, void *dst,
                                   const tz_context *ctx)
{
    reader->bytes_read += size;
    reader->reads++;
    return tz_source_read(reader->container->source, offset, size, dst, ctx);
}

tz_result tz_reader_open(tz_reader *reader, tz_container *container, const tz_context *ctx)
{
    *reader = (tz_reader){.container = container};
    for (unsigned i = 0; i < TZ_READER_BLOCK_COUNT; i++)
        reader->block_start[i] = TZ_NONE;
    reader->front_size =
        container->size < TZ_READER_FRONT_SIZE ? container->size : TZ_READER_FRONT_SIZE;
    reader->front = tz_alloc((size_t)reader->front_size);
    if (!reader->front)
        return tz_fail_nomem(ctx, reader->front_size);
    if (reader->front_size > 0)
        TZ_TRY(fetch_from_source(reader, 0, (size_t)reader->front_size, reader->front, ctx));
    return parse_tiff_header(reader, container, ctx);
}

tz_reader tz_reader_direct(const tz_container *container)
{
    return (tz_reader){.container = container, .direct = true};
}

void tz_reader_close(tz_reader *reader)
{
    tz_free(reader->front);
    tz_free(reader->blocks);
    reader->front = NULL;
    reader->blocks = NULL;
}

static tz_result alloc_reader_blocks(tz_reader *reader, const tz_context *ctx)
{
    if (!reader->blocks)
        reader->blocks = tz_alloc_array(TZ_READER_BLOCK_COUNT, TZ_READER_BLOCK_SIZE);
    if (!reader->blocks)
        return tz_fail_nomem(ctx, (uint64_t)TZ_READER_BLOCK_COUNT * TZ_READER_BLOCK_SIZE);
    return TZ_OK;
}

/* The block that starts at start, from memory or from the file. */
static tz_result find_block(tz_reader *reader, uint64_t start, const uint8_t **out,
                            const tz_context *ctx)
{
    for (unsigned i = 0; i < TZ_READER_BLOCK_COUNT; i++) {
        if (reader->block_start[i] == start) {
            *out = reader->blocks + (size_t)i * TZ_READER_BLOCK_SIZE;
            return TZ_OK;
        }
    }
    TZ_TRY(alloc_reader_blocks(reader, ctx));
    const unsigned slot = reader->next_block;
    const uint64_t left = reader->container->size - start;
    uint8_t *block = reader->blocks + (size_t)slot * TZ_READER_BLOCK_SIZE;
    reader->block_start[slot] = TZ_NONE;
    TZ_TRY(fetch_from_source(reader, start,
                             left < TZ_READER_BLOCK_SIZE ? (size_t)left : TZ_READER_BLOCK_SIZE,
                             block, ctx));
    reader->block_start[slot] = start;
    reader->next_block = (slot + 1) % TZ_READER_BLOCK_COUNT;
    *out = block;
    return TZ_OK;
}

/* The part of [offset, offset + size) that one block holds; *done is how much that was. */
static tz_result copy_from_block(tz_reader *reader, uint64_t offset, size_t size, uint8_t *dst,
                                 size_t *done, const tz_context *ctx)
{
    const uint8_t *from;
    uint64_t available;
    if (offset < reader->front_size) {
        from = reader->front + (size_t)offset;
        available = reader->front_size - offset;
    } else {
        const uint64_t start = offset - offset % TZ_READER_BLOCK_SIZE;
        const uint8_t *block = NULL;
        TZ_TRY(find_block(reader, start, &block, ctx));
        from = block + (size_t)(offset - start);
        available = TZ_READER_BLOCK_SIZE - (offset - start);
    }
    *done = available < size ? (size_t)available : size;
    memcpy(dst, from, *done);
    return TZ_OK;
}

/* Every read of a caller passes here: it lies in the file, and is remembered. */
static tz_result check_and_count_read(tz_reader *reader, uint64_t offset, uint64_t size,
                                      const tz_context *ctx)
{
    if (!tz_inside(reader->container, offset, size))
        return tz_fail(ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL,
                       tz_expecting(tz_at_offset(offset), TZ_NONE, size), "unchecked read");
    if (offset + size > reader->end)
        reader->end = offset + size;
    return TZ_OK;
}

tz_result tz_reader_read_some(tz_reader *reader, uint64_t offset, uint64_t *size,
                              const uint8_t **out, const tz_context *ctx)
{
    const uint64_t capacity = (uint64_t)TZ_READER_BLOCK_COUNT * TZ_READER_BLOCK_SIZE;
    TZ_TRY(check_and_count_read(reader, offset, *size, ctx));
    if (offset < reader->front_size) {
        const uint64_t left = reader->front_size - offset;
        *size = *size < left ? *size : left;
        *out = reader->front + (size_t)offset;
        return TZ_OK;
    }
    TZ_TRY(alloc_reader_blocks(reader, ctx));
    for (unsigned i = 0; i < TZ_READER_BLOCK_COUNT; i++)
        reader->block_start[i] = TZ_NONE;
    *size = *size < capacity ? *size : capacity;
    *out = reader->blocks;
    return fetch_from_source(reader, offset, (size_t)*size, reader->blocks, ctx);
}

tz_result tz_reader_read(tz_reader *reader, uint64_t offset, size_t size, void *dst,
                         const tz_context *ctx)
{
    uint8_t *to = dst;
    TZ_TRY(check_and_count_read(reader, offset, size, ctx));
    /* Large data would only wash the small blocks out. */
    if (reader->direct || (size > TZ_READER_BLOCK_SIZE && offset + size > reader->front_size))
        return fetch_from_source(reader, offset, size, dst, ctx);
    while (size > 0) {
        size_t done = 0;
        TZ_TRY(copy_from_block(reader, offset, size, to, &done, ctx));
        to += done;
        offset += done;
        size -= done;
    }
    return TZ_OK;
}
