/* SPDX-License-Identifier: Apache-2.0
 * The start of a file, and the reads of opening.
 *
 * tz_reader_open fetches the first 4 KiB, or as much as the source suggests, which hold the header,
 * the ghost area and, in most files, all directories: a small or well-made file is opened with one
 * read. Other small reads go through four blocks of 4 KiB; data that is larger than a block
 * bypasses them, so that it does not evict them. Every read is counted (tz_info.reads, bytes_read,
 * directory_end), and one outside the file is an internal error: callers check offsets first, with
 * an error that names the tag. */
#include "tiff/container.h"

#include <string.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "io/source.h"
#include "tiff/byte_order.h"
#include "tiff/tags.h"

/* ---- header ---- */

static tz_result check_header_size(const tz_container *container, uint64_t needed,
                                   const tz_context *ctx)
{
    if (container->size >= needed)
        return TZ_OK;
    return TZ_FAIL_TRUNCATED(ctx, tz_expecting(tz_at_offset(0), needed, container->size),
                             "header needs %u bytes, file has %u", (unsigned)needed,
                             (unsigned)container->size);
}

/* classic TIFF: "II" or "MM", 42, and the offset of the first directory in 4 bytes
 * BigTIFF:      "II" or "MM", 43, 8 (bytes of an offset), 0, and the offset in 8 bytes
 *
 * Numbers are in the byte order that the first two bytes declare. Anything else is not a TIFF, and
 * the error shows the bytes: often they name the format that it is. */
static tz_result parse_header(const tz_reader *reader, tz_container *container,
                              const tz_context *ctx)
{
    const uint8_t *p = reader->front;
    if (container->size < 4)
        return check_header_size(container, 8, ctx);
    container->big_endian = p[0] == 'M';
    const uint16_t version = tz_read_endian_u16(p + 2, container->big_endian);
    if (p[0] != p[1] || (p[0] != 'I' && p[0] != 'M') || (version != 42 && version != 43))
        return tz_fail(
            ctx, TZ_ERR_FORMAT, TZ_CAUSE_NOT_TIFF, tz_at_offset(0),
            "not a TIFF: the first four bytes are %02x %02x %02x %02x, expected II or MM and "
            "42 (TIFF) or 43 (BigTIFF)",
            p[0], p[1], p[2], p[3]);
    container->bigtiff = version == 43;
    TZ_TRY(check_header_size(container, tz_header_size(container), ctx));
    if (!container->bigtiff) {
        container->first_ifd = tz_read_endian_u32(p + 4, container->big_endian);
        return TZ_OK;
    }
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

/* ---- reader ---- */

/* All reads of opening pass here and are counted: tz_info.reads and bytes_read come from it. */
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
        reader->block_start[i] = TZ_NO_VALUE;
    const uint64_t hint = tz_source_members(container->source).first_read_bytes;
    const uint64_t wanted = hint ? tz_min(tz_max(hint, TZ_READER_MIN_FRONT), TZ_READER_MAX_FRONT)
                                 : TZ_READER_FRONT_SIZE;
    reader->front_size = tz_min(container->size, wanted);
    reader->front = tz_alloc((size_t)reader->front_size);
    if (!reader->front)
        return tz_fail_nomem(ctx, reader->front_size);
    if (reader->front_size > 0)
        TZ_TRY(fetch_from_source(reader, 0, (size_t)reader->front_size, reader->front, ctx));
    return parse_header(reader, container, ctx);
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

/* Most files never need the blocks: they are allocated at the first read outside the front. */
static tz_result alloc_reader_blocks(tz_reader *reader, const tz_context *ctx)
{
    if (!reader->blocks)
        reader->blocks = tz_alloc_array(TZ_READER_BLOCK_COUNT, TZ_READER_BLOCK_SIZE);
    if (!reader->blocks)
        return tz_fail_nomem(ctx, (uint64_t)TZ_READER_BLOCK_COUNT * TZ_READER_BLOCK_SIZE);
    return TZ_OK;
}

/* Returns the block that starts at start, from memory or from the file. Blocks replace each other
 * in turn. A slot is empty while it is read, so that a failed read leaves nothing to be found. */
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
    reader->block_start[slot] = TZ_NO_VALUE;
    TZ_TRY(
        fetch_from_source(reader, start, (size_t)tz_min(left, TZ_READER_BLOCK_SIZE), block, ctx));
    reader->block_start[slot] = start;
    reader->next_block = (slot + 1) % TZ_READER_BLOCK_COUNT;
    *out = block;
    return TZ_OK;
}

/* Every read of a caller passes here: it must lie in the file, and moves reader->end. */
static tz_result check_and_count_read(tz_reader *reader, uint64_t offset, uint64_t size,
                                      const tz_context *ctx)
{
    if (!tz_inside(reader->container, offset, size))
        return tz_fail(ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL,
                       tz_expecting(tz_at_offset(offset), TZ_NO_VALUE, size), "unchecked read");
    reader->end = tz_max(reader->end, offset + size);
    return TZ_OK;
}

/* A piece takes the memory of all blocks, which are forgotten. */
tz_result tz_reader_read_some(tz_reader *reader, uint64_t offset, uint64_t *size,
                              const uint8_t **out, const tz_context *ctx)
{
    const uint64_t capacity = (uint64_t)TZ_READER_BLOCK_COUNT * TZ_READER_BLOCK_SIZE;
    TZ_TRY(check_and_count_read(reader, offset, *size, ctx));
    if (offset < reader->front_size) {
        *size = tz_min(*size, reader->front_size - offset);
        *out = reader->front + (size_t)offset;
        return TZ_OK;
    }
    TZ_TRY(alloc_reader_blocks(reader, ctx));
    for (unsigned i = 0; i < TZ_READER_BLOCK_COUNT; i++)
        reader->block_start[i] = TZ_NO_VALUE;
    *size = tz_min(*size, capacity);
    *out = reader->blocks;
    return fetch_from_source(reader, offset, (size_t)*size, reader->blocks, ctx);
}

tz_result tz_reader_read(tz_reader *reader, uint64_t offset, size_t size, void *dst,
                         const tz_context *ctx)
{
    uint8_t *to = dst;
    TZ_TRY(check_and_count_read(reader, offset, size, ctx));
    /* Data larger than a block would only evict the small blocks. */
    if (reader->direct || (size > TZ_READER_BLOCK_SIZE && offset + size > reader->front_size))
        return fetch_from_source(reader, offset, size, dst, ctx);
    while (size > 0) {
        const uint8_t *from;
        uint64_t available;
        if (offset < reader->front_size) {
            from = reader->front + (size_t)offset;
            available = reader->front_size - offset;
        } else {
            const uint64_t within = offset % TZ_READER_BLOCK_SIZE;
            TZ_TRY(find_block(reader, offset - within, &from, ctx));
            from += (size_t)within;
            available = TZ_READER_BLOCK_SIZE - within;
        }
        const size_t done = (size_t)tz_min(available, size);
        memcpy(to, from, done);
        to += done;
        offset += done;
        size -= done;
    }
    return TZ_OK;
}

/* ---- ghost area ----
 * A COG has 43 bytes "GDAL_STRUCTURAL_METADATA_SIZE=NNNNNN bytes\n" right after the header, then
 * NNNNNN bytes of KEY=VALUE lines. */

#define GHOST_PREFIX      "GDAL_STRUCTURAL_METADATA_SIZE="
#define GHOST_PREFIX_SIZE (sizeof GHOST_PREFIX - 1)
#define GHOST_HEAD_SIZE   43u
#define MAX_GHOST_SIZE    4096u /* GDAL writes about 200 bytes */

/* A line that is understood, and the byte of tz_ghost that it sets. Lines with other values, such
 * as INTERLEAVE=PIXEL, leave the default; unknown lines are ignored, as with GDAL. */
static const struct {
    const char *text;
    size_t member;
    uint8_t value;
} ghost_lines[] = {
    {"LAYOUT=IFDS_BEFORE_DATA", offsetof(tz_ghost, ifds_before_data), true},
    {"BLOCK_ORDER=ROW_MAJOR", offsetof(tz_ghost, row_major), true},
    {"BLOCK_LEADER=SIZE_AS_UINT4", offsetof(tz_ghost, leaders), true},
    {"BLOCK_TRAILER=LAST_4_BYTES_REPEATED", offsetof(tz_ghost, trailers), true},
    {"MASK_INTERLEAVED_WITH_IMAGERY=YES", offsetof(tz_ghost, mask_interleaved), true},
    {"KNOWN_INCOMPATIBLE_EDITION=YES", offsetof(tz_ghost, edited), true},
    {"INTERLEAVE=BAND", offsetof(tz_ghost, interleave), 1},
    {"INTERLEAVE=TILE", offsetof(tz_ghost, interleave), 2},
};
_Static_assert(sizeof(bool) == 1, "members of tz_ghost are set as bytes");

/* Parses "NNNNNN bytes\n"; false if the text is something else. */
static bool parse_ghost_size(const char *text, uint32_t *size)
{
    *size = 0;
    for (unsigned i = 0; i < 6; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *size = *size * 10 + (uint32_t)(text[i] - '0');
    }
    return memcmp(text + 6, " bytes\n", 7) == 0;
}

tz_result tz_ghost_read(tz_ghost *out, tz_reader *reader, const tz_context *ctx)
{
    const uint64_t at = tz_header_size(reader->container);
    char head[GHOST_HEAD_SIZE];
    char text[MAX_GHOST_SIZE];
    uint32_t size = 0;
    *out = (tz_ghost){0};
    if (!tz_inside(reader->container, at, GHOST_HEAD_SIZE))
        return TZ_OK;
    TZ_TRY(tz_reader_read(reader, at, GHOST_HEAD_SIZE, head, ctx));
    if (memcmp(head, GHOST_PREFIX, GHOST_PREFIX_SIZE) != 0)
        return TZ_OK;
    if (!parse_ghost_size(head + GHOST_PREFIX_SIZE, &size))
        return TZ_WARN_META(
            ctx, tz_at_offset(at + GHOST_PREFIX_SIZE),
            "size of the ghost area is not six digits and \" bytes\"; it is ignored");
    if (size > MAX_GHOST_SIZE || !tz_inside(reader->container, at + GHOST_HEAD_SIZE, size))
        return TZ_WARN_META(
            ctx, tz_expecting(tz_at_offset(at + GHOST_PREFIX_SIZE), MAX_GHOST_SIZE, size),
            "size of the ghost area is impossible; it is ignored");
    TZ_TRY(tz_reader_read(reader, at + GHOST_HEAD_SIZE, size, text, ctx));
    for (const char *line = text, *end = text + size; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline ? newline : end;
        const char *next = newline ? newline + 1 : end;
        /* Spaces after a value reserve bytes for a longer one. */
        while (stop > line && (stop[-1] == ' ' || stop[-1] == '\0'))
            stop--;
        while (line < stop && *line == ' ')
            line++;
        const size_t length = (size_t)(stop - line);
        for (size_t i = 0; i < sizeof ghost_lines / sizeof ghost_lines[0]; i++)
            if (strlen(ghost_lines[i].text) == length &&
                memcmp(ghost_lines[i].text, line, length) == 0)
                ((uint8_t *)out)[ghost_lines[i].member] = ghost_lines[i].value;
        line = next;
    }
    out->present = true;
    out->size = GHOST_HEAD_SIZE + size;
    if (out->edited)
        return TZ_WARN_META(
            ctx, tz_at_offset(at),
            "the file was edited after it was written as a COG: its ghost area says so");
    return TZ_OK;
}
