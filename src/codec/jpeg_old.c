/* SPDX-License-Identifier: Apache-2.0
 * Joins the headers of old-style JPEG, which the caller collected from the file, with a tile: SOI,
 * the tables of both, one frame header, one scan header, and the entropy-coded data. */
#include "codec/jpeg.h"

#include <string.h>

#include "base/mem.h"
#include "codec/cursor.h"

/* A marker and its segment. */
typedef struct jpeg_segment {
    uint8_t marker;
    const uint8_t *at; /* its FF */
    size_t size;       /* with the marker */
} jpeg_segment;

/* Reads the marker at the cursor with its segment; false if none begins there, and the cursor
 * stays.
 */
static bool next_segment(tz_cursor *cursor, jpeg_segment *out)
{
    const size_t left = tz_cursor_left(cursor);
    if (left < 2 || cursor->at[0] != 0xFF || cursor->at[1] == 0 || cursor->at[1] == 0xFF)
        return false;
    *out = (jpeg_segment){cursor->at[1], cursor->at, 2};
    if (out->marker != TZ_MARKER_SOI && !tz_marker_is_restart(out->marker)) {
        if (left < 4)
            return false;
        const size_t size = (size_t)cursor->at[2] << 8 | cursor->at[3];
        if (size < 2 || size > left - 2)
            return false;
        out->size += size;
    }
    cursor->at += out->size;
    return true;
}

enum { AT_HEIGHT = 5, AT_WIDTH = 7, MIN_FRAME = 10 }; /* offsets in a frame header, its size */

static uint16_t read_be16_at(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static void replace_zero(uint8_t *at, uint32_t value)
{
    if (read_be16_at(at) == 0) {
        at[0] = (uint8_t)(value >> 8);
        at[1] = (uint8_t)value;
    }
}

/* Appends entropy-coded bytes. Those of a strip that is part of a longer stream go on with the
 * numbers of the restart markers before them. */
static uint8_t *append_scan_data(uint8_t *to, const uint8_t *in, size_t size)
{
    uint8_t *end = tz_jpeg_append(to, in, size);
    uint8_t first = 0;
    for (uint8_t *at = to; at + 1 < end; at++) {
        at = memchr(at, 0xFF, (size_t)(end - at - 1));
        if (!at)
            break;
        if (at[1] == 0 || at[1] == 0xFF)
            continue;
        if (!tz_marker_is_restart(at[1]))
            break; /* the end of the scan */
        if (first == 0)
            first = at[1];
        at[1] = (uint8_t)(TZ_MARKER_RST0 + (at[1] - first + 8) % 8);
    }
    return end;
}

/* The headers at the cursor, up to data. */
typedef struct jpeg_headers {
    jpeg_segment frame; /* size 0: none, as the next */
    jpeg_segment scan;
} jpeg_headers;

/* Appends the tables at the cursor to the stream, and finds frame and scan. */
static uint8_t *append_tables(uint8_t *to, tz_cursor *cursor, jpeg_headers *out)
{
    jpeg_segment found;
    *out = (jpeg_headers){{0, cursor->at, 0}, {0, cursor->at, 0}};
    while (out->scan.size == 0 && next_segment(cursor, &found)) {
        if (found.marker == TZ_MARKER_DHT || found.marker == TZ_MARKER_DQT ||
            found.marker == TZ_MARKER_DRI)
            to = tz_jpeg_append(to, found.at, found.size);
        else if (tz_marker_is_frame(found.marker))
            out->frame = found;
        else if (found.marker == TZ_MARKER_SOS)
            out->scan = found;
    }
    return to;
}

tz_result tz_jpeg_old_join(tz_codec_buffer *stream, const tz_tile_format *format, const uint8_t *in,
                           size_t in_size, const tz_codec_call *call, size_t *size)
{
    if (!format->tables)
        return tz_codec_fail(call, "old-style JPEG without headers");
    if (format->width > UINT16_MAX || format->height > UINT16_MAX)
        return tz_codec_fail(call, "old-style JPEG of %u x %u pixels", format->width,
                             format->height);
    TZ_TRY(tz_codec_reserve(stream, tz_add_capped(tz_add_capped(format->tables_size, in_size), 2),
                            "bytes of memory for old-style JPEG", call));
    tz_cursor file_cursor = tz_cursor_of(format->tables, format->tables_size);
    tz_cursor tile_cursor = tz_cursor_of(in, in_size);
    jpeg_headers file, tile;
    uint8_t *end = tz_jpeg_append(stream->data, (const uint8_t[]){0xFF, TZ_MARKER_SOI}, 2);
    end = append_tables(end, &file_cursor, &file);
    end = append_tables(end, &tile_cursor, &tile);
    const bool fits = tile.frame.size >= MIN_FRAME &&
                      read_be16_at(tile.frame.at + AT_WIDTH) <= format->width &&
                      read_be16_at(tile.frame.at + AT_HEIGHT) <= format->height;
    const jpeg_segment *frame = fits ? &tile.frame : &file.frame;
    uint8_t *const start = end;
    end = tz_jpeg_append(end, frame->at, frame->size);
    if (frame->size >= MIN_FRAME) {
        replace_zero(start + AT_HEIGHT, format->height);
        replace_zero(start + AT_WIDTH, format->width);
    }
    end = tz_jpeg_append(end, tile.scan.size > 0 ? tile.scan.at : file.scan.at,
                         tile.scan.size > 0 ? tile.scan.size : file.scan.size);
    end = append_scan_data(end, tile_cursor.at, tz_cursor_left(&tile_cursor));
    *size = (size_t)(end - stream->data);
    return TZ_OK;
}
