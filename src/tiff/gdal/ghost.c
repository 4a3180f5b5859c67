/* SPDX-License-Identifier: Apache-2.0
 *
 * The ghost area of a COG: 43 bytes "GDAL_STRUCTURAL_METADATA_SIZE=NNNNNN bytes\n" right after the
 * header, then NNNNNN bytes of KEY=VALUE lines. */
#include <stdlib.h>
#include <string.h>

#include "tiff/file.h"

#define GHOST_PREFIX      "GDAL_STRUCTURAL_METADATA_SIZE="
#define GHOST_PREFIX_SIZE (sizeof GHOST_PREFIX - 1)
#define GHOST_HEAD_SIZE   43u
#define MAX_GHOST_SIZE    4096u /* GDAL writes about 200 bytes */

typedef struct ghost_flag {
    const char *line;
    size_t flag; /* member of tz_ghost to set */
} ghost_flag;

static const ghost_flag ghost_flags[] = {
    {"LAYOUT=IFDS_BEFORE_DATA", offsetof(tz_ghost, ifds_before_data)},
    {"BLOCK_ORDER=ROW_MAJOR", offsetof(tz_ghost, row_major)},
    {"BLOCK_LEADER=SIZE_AS_UINT4", offsetof(tz_ghost, leaders)},
    {"BLOCK_TRAILER=LAST_4_BYTES_REPEATED", offsetof(tz_ghost, trailers)},
    {"MASK_INTERLEAVED_WITH_IMAGERY=YES", offsetof(tz_ghost, mask_interleaved)},
    {"KNOWN_INCOMPATIBLE_EDITION=YES", offsetof(tz_ghost, edited)},
};

/* Spaces after a value are room for a longer one. */
static bool line_equals(const char *line, size_t size, const char *wanted)
{
    while (size > 0 && (line[size - 1] == ' ' || line[size - 1] == '\0'))
        size--;
    return size == strlen(wanted) && memcmp(line, wanted, size) == 0;
}

static void parse_ghost_line(tz_ghost *ghost, const char *line, size_t size)
{
    while (size > 0 && *line == ' ') {
        line++;
        size--;
    }
    for (size_t i = 0; i < sizeof ghost_flags / sizeof ghost_flags[0]; i++) {
        if (line_equals(line, size, ghost_flags[i].line))
            *((bool *)((char *)ghost + ghost_flags[i].flag)) = true;
    }
    if (line_equals(line, size, "INTERLEAVE=BAND"))
        ghost->interleave = 1;
    if (line_equals(line, size, "INTERLEAVE=TILE"))
        ghost->interleave = 2;
}

static void parse_ghost_lines(tz_ghost *ghost, const char *text, size_t size)
{
    const char *end = text + size;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        parse_ghost_line(ghost, text, (size_t)(stop - text));
        text = newline ? newline + 1 : end;
    }
}

/* "NNNNNN bytes\n"; false when it is something else. */
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

static tz_result read_ghost_lines(tz_ghost *out, tz_reader *reader, uint64_t at, uint32_t size,
                                  const tz_context *ctx)
{
    char text[MAX_GHOST_SIZE];
    TZ_TRY(tz_reader_read(reader, at + GHOST_HEAD_SIZE, size, text, ctx));
    parse_ghost_lines(out, text, size);
    out->present = true;
    out->size = GHOST_HEAD_SIZE + size;
    if (out->edited)
        return tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, tz_at_offset(at),
                       "the file was edited after it was written as a COG: its ghost area says so");
    return TZ_OK;
}

tz_result tz_ghost_read(tz_ghost *out, tz_reader *reader, const tz_context *ctx)
{
    const uint64_t at = tz_header_size(reader->container);
    char head[GHOST_HEAD_SIZE];
    uint32_t size = 0;
    *out = (tz_ghost){0};
    if (!tz_inside(reader->container, at, GHOST_HEAD_SIZE))
        return TZ_OK;
    TZ_TRY(tz_reader_read(reader, at, GHOST_HEAD_SIZE, head, ctx));
    if (memcmp(head, GHOST_PREFIX, GHOST_PREFIX_SIZE) != 0)
        return TZ_OK;
    if (!parse_ghost_size(head + GHOST_PREFIX_SIZE, &size))
        return tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, tz_at_offset(at + GHOST_PREFIX_SIZE),
                       "size of the ghost area is not six digits and \" bytes\"; it is ignored");
    if (size > MAX_GHOST_SIZE || !tz_inside(reader->container, at + GHOST_HEAD_SIZE, size))
        return tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META,
                       tz_expecting(tz_at_offset(at + GHOST_PREFIX_SIZE), MAX_GHOST_SIZE, size),
                       "size of the ghost area is impossible; it is ignored");
    return read_ghost_lines(out, reader, at, size, ctx);
}
