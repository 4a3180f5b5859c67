/* SPDX-License-Identifier: Apache-2.0
 * Headers of old-style JPEG (compression 6), whose streams are scattered over tags and tiles.
 * tz_old_jpeg_headers puts them together as a JPEG stream of tables, frame and scan header, in the
 * form that the codec expects before the data of a tile.
 *
 * Writers did one of these:
 *
 *   JPEGInterchangeFormat   a whole stream; the strip is its data, or all of it
 *   JPEGInterchangeFormat   headers up to SOF or SOS; strips are data, the first may begin with SOS
 *   table tags              offsets of bare tables; strips are data
 *
 * As in libtiff, headers are read as if the stream and the first tile were one, up to the first
 * byte that does not begin a marker. If there is a frame header among them, the table tags do not
 * count. Everything is copied into buffers of fixed size: no number of the file decides an
 * allocation. */
#include <string.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "codec/jpeg.h"
#include "tiff/byte_order.h"
#include "tiff/file.h"
#include "tiff/tags.h"

enum {
    MAX_SAMPLES = 4,
    MAX_TABLE_BYTES = 16384, /* bytes; all tables that JPEG knows are less than 3 KiB */
    MAX_SEGMENTS = 4096,
    QUANT_SIZE = 64,
    MAX_CODES = 256,
    FRAME_SIZE = 10 + 3 * MAX_SAMPLES, /* with the marker */
    SCAN_SIZE = 8 + 2 * MAX_SAMPLES,
    LOSSLESS_PROCESS = 14 /* of JPEGProc */
};
/* Offsets in a frame header, with its marker. */
enum { AT_HEIGHT = 5, AT_WIDTH = 7, AT_COMPONENTS = 10 };

/* The parts of the stream, as they are found. Their order in the file does not matter: they are put
 * together at the end. */
typedef struct assembled_headers {
    const tz_layer *layer;
    const tz_context *ctx;
    tz_reader reader;
    uint16_t restart_interval;
    uint8_t frame[FRAME_SIZE];
    size_t frame_size; /* 0: none yet */
    uint8_t scan[SCAN_SIZE];
    size_t scan_size; /* 0: none yet */
    uint8_t tables[MAX_TABLE_BYTES];
    size_t tables_size;
} assembled_headers;

static tz_result fail_old_jpeg(const assembled_headers *h, tz_location location, const char *text)
{
    return tz_fail(h->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC, location, "old-style JPEG: %s", text);
}

static tz_result fail_unsupported_old_jpeg(const assembled_headers *h, tz_location location,
                                           const char *text)
{
    return TZ_FAIL_UNSUPPORTED(h->ctx, location, "old-style JPEG %s is not supported", text);
}

/* Reads bytes at an offset that the file gives. */
static tz_result read_header_bytes(assembled_headers *h, uint16_t tag, uint64_t offset, size_t size,
                                   void *to)
{
    const tz_container *container = h->reader.container;
    if (offset < tz_header_size(container) || !tz_inside(container, offset, size))
        return TZ_FAIL_TRUNCATED(
            h->ctx,
            tz_expecting(tz_at_tag(tag, offset), size,
                         offset < container->size ? container->size - offset : 0),
            "old-style JPEG: a table is not inside the file");
    return tz_reader_read(&h->reader, offset, size, to, h->ctx);
}

static tz_result reserve_table_bytes(assembled_headers *h, size_t size, tz_location location,
                                     uint8_t **out)
{
    if (size > MAX_TABLE_BYTES - h->tables_size)
        return fail_old_jpeg(h, location, "more bytes than tables can have");
    *out = h->tables + h->tables_size;
    h->tables_size += size;
    return TZ_OK;
}

/* ---- headers in a stream ---- */

/* Stores a frame or scan header of size bytes, with its marker, at offset. The smallest scan
 * header, that of one component, has 10 bytes; a frame header is never shorter. */
static tz_result store_header(assembled_headers *h, uint16_t tag, uint64_t offset, size_t size,
                              uint8_t *to, size_t capacity, size_t *used)
{
    const tz_location location = tz_at_tag(tag, offset);
    if (*used > 0)
        return fail_old_jpeg(h, location, "two frame headers");
    if (size > capacity || size < 10)
        return fail_old_jpeg(h, location, "a header has a wrong size");
    *used = size;
    return read_header_bytes(h, tag, offset, size, to);
}

/* Copies tables and headers, notes the restart interval, and skips comments and application data.
 * Other markers do not belong before a scan. */
static tz_result read_old_jpeg_segment(assembled_headers *h, uint16_t tag, uint8_t marker,
                                       uint64_t offset, size_t size)
{
    const tz_location location = tz_at_tag(tag, offset);
    uint8_t *to = NULL;
    uint8_t interval[2];
    if (marker == TZ_MARKER_SOS)
        return store_header(h, tag, offset, size, h->scan, SCAN_SIZE, &h->scan_size);
    if (tz_marker_is_frame(marker))
        return store_header(h, tag, offset, size, h->frame, FRAME_SIZE, &h->frame_size);
    switch (marker) {
    case TZ_MARKER_DHT:
    case TZ_MARKER_DQT:
        TZ_TRY(reserve_table_bytes(h, size, location, &to));
        return read_header_bytes(h, tag, offset, size, to);
    case TZ_MARKER_DRI:
        if (size != 6)
            return fail_old_jpeg(h, location, "a restart interval has a wrong size");
        TZ_TRY(read_header_bytes(h, tag, offset + 4, 2, interval));
        h->restart_interval = tz_read_endian_u16(interval, true);
        return TZ_OK;
    case TZ_MARKER_COM:
        return TZ_OK;
    default:
        if (marker >= TZ_MARKER_APP0 && marker <= TZ_MARKER_APP15)
            return TZ_OK;
        return fail_old_jpeg(h, location, "an unexpected marker");
    }
}

/* Reads the segments at offset, up to the first scan header or to data. A fill byte 0xFF before a
 * marker is skipped alone; a stuffed or restart marker is already data. */
static tz_result read_old_jpeg_segments(assembled_headers *h, uint16_t tag, uint64_t offset,
                                        uint64_t size)
{
    for (unsigned i = 0; i < MAX_SEGMENTS && size >= 2 && h->scan_size == 0; i++) {
        uint8_t front[4] = {0};
        TZ_TRY(read_header_bytes(h, tag, offset, size < 4 ? 2 : 4, front));
        const uint8_t marker = front[1];
        size_t used = marker == 0xFF ? 1 : 2;
        if (front[0] != 0xFF || marker == 0 || marker == TZ_MARKER_EOI ||
            tz_marker_is_restart(marker))
            return TZ_OK;
        if (marker != 0xFF && marker != TZ_MARKER_SOI) {
            const size_t length = (size_t)front[2] << 8 | front[3];
            if (size < 4 || length < 2 || length > size - 2)
                return fail_old_jpeg(h, tz_at_tag(tag, offset),
                                     "a marker is cut off or has no size");
            used += length;
            TZ_TRY(read_old_jpeg_segment(h, tag, marker, offset, used));
        }
        offset += used;
        size -= used;
    }
    return TZ_OK;
}

/* Reads one of the two tags; a negative number is a warning and gives 0. */
static tz_result read_interchange_value(tz_reader *reader, const tz_tag_ref *value, uint16_t tag,
                                        const tz_context *ctx, uint64_t *out)
{
    tz_error failed;
    const tz_context quiet = tz_quiet_context(ctx, &failed);
    *out = 0;
    if (value->count == 0 || tz_tag_ref_integer(reader, value, tag, 0, &quiet, out) == TZ_OK)
        return TZ_OK;
    *out = 0;
    return tz_warn_from_error(ctx, &failed, "defective tag");
}

tz_result tz_old_jpeg_extent(const tz_old_jpeg *old, tz_reader *reader, const tz_context *ctx,
                             tz_tile_span *out, bool *has_size)
{
    const tz_container *container = reader->container;
    *out = (tz_tile_span){0, 0};
    *has_size = false;
    uint64_t offset = 0;
    uint64_t size = 0;
    TZ_TRY(
        read_interchange_value(reader, &old->interchange, TZ_TAG_JPEG_INTERCHANGE, ctx, &offset));
    TZ_TRY(read_interchange_value(reader, &old->interchange_size, TZ_TAG_JPEG_INTERCHANGE_SIZE, ctx,
                                  &size));
    if (offset == 0)
        return TZ_OK;
    if (offset < tz_header_size(container) || offset >= container->size)
        return TZ_WARN_TAG(ctx,
                           tz_expecting(tz_at_tag(TZ_TAG_JPEG_INTERCHANGE, old->interchange.offset),
                                        container->size, offset),
                           "not inside the file; ignored");
    const uint64_t rest = container->size - offset;
    *has_size = size > 0 && size <= rest;
    *out = (tz_tile_span){.offset = offset, .size = *has_size ? size : rest};
    if (size <= rest)
        return TZ_OK;
    return TZ_WARN_TAG(
        ctx,
        tz_expecting(tz_at_tag(TZ_TAG_JPEG_INTERCHANGE_SIZE, old->interchange_size.offset), rest,
                     size),
        "reaches past the end of the file; the rest of it is taken");
}

/* Reads headers from JPEGInterchangeFormat and then from the first tile, as one stream. */
static tz_result read_stream_headers(assembled_headers *h, const tz_file *file, uint32_t level)
{
    tz_tile_span spans[2] = {{0, 0}, {0, 0}};
    const size_t count = h->layer->shape.tile_count > 1 ? 2 : 1;
    tz_tile_span stream;
    bool has_size;
    tz_context quiet = *h->ctx; /* opening has warned of odd tags already */
    quiet.warnings = NULL;
    quiet.strict = false;
    TZ_TRY(tz_layer_spans(file, level, h->layer, 0, count, spans, h->ctx->err));
    TZ_TRY(tz_old_jpeg_extent(&h->layer->tables.old_jpeg, &h->reader, &quiet, &stream, &has_size));
    if (stream.size > 0) {
        TZ_TRY(read_old_jpeg_segments(h, TZ_TAG_JPEG_INTERCHANGE, stream.offset, stream.size));
        const bool has_second =
            spans[1].offset > stream.offset && spans[1].offset - stream.offset < stream.size;
        /* Strips of one stream can be decoded one by one only between restart markers. */
        if (has_second && h->scan_size > 0 && h->restart_interval == 0)
            return fail_unsupported_old_jpeg(
                h, tz_at_tag(TZ_TAG_JPEG_INTERCHANGE, stream.offset),
                "of one stream in several strips without restart markers");
    }
    const uint16_t tag = h->layer->shape.tiled ? TZ_TAG_TILE_OFFSETS : TZ_TAG_STRIP_OFFSETS;
    if (h->scan_size == 0 && spans[0].offset != 0 &&
        tz_inside(h->reader.container, spans[0].offset, spans[0].size))
        return read_old_jpeg_segments(h, tag, spans[0].offset, spans[0].size);
    return TZ_OK;
}

/* ---- a frame header of a stream ---- */

/* Number of MCUs in a row of the frame at this width. An MCU of a lossless frame (SOF3) has samples
 * in the place of blocks of 8 x 8. */
static uint64_t mcus_across(const assembled_headers *h, uint32_t width)
{
    unsigned max_sampling = 1;
    for (size_t at = AT_COMPONENTS; at + 2 < h->frame_size; at += 3)
        max_sampling = tz_max_u32(max_sampling, h->frame[at + 1] >> 4);
    return tz_ceil_div(width, h->frame[1] == TZ_MARKER_SOF3 ? max_sampling : 8 * max_sampling);
}

/* Sides that the codec shall take from the tile become 0: the height of a frame in several strips,
 * both sides of a frame in several tiles, and a side that is padded to whole MCUs. */
static tz_result adapt_frame(assembled_headers *h)
{
    const tz_level *shape = &h->layer->shape;
    const uint16_t height = tz_read_endian_u16(h->frame + AT_HEIGHT, true);
    const uint16_t width = tz_read_endian_u16(h->frame + AT_WIDTH, true);
    const bool in_strips = shape->tile_count > 1;
    const bool in_tiles = in_strips && shape->tiled;
    const bool is_higher = !in_strips && height > shape->tile_height;
    const bool is_wider = !in_tiles && width > shape->tile_width &&
                          mcus_across(h, width) == mcus_across(h, shape->tile_width);
    if (in_strips || is_higher)
        memset(h->frame + AT_HEIGHT, 0, 2);
    if (in_tiles || is_wider)
        memset(h->frame + AT_WIDTH, 0, 2);
    if (!is_higher && !is_wider)
        return TZ_OK;
    return tz_warn(h->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                   tz_at_tag(TZ_TAG_JPEG_INTERCHANGE, shape->ifd_offset),
                   "old-style JPEG: a frame of %u x %u in a tile of %u x %u; the rest is left out",
                   width, height, shape->tile_width, shape->tile_height);
}

/* ---- headers from tags ---- */

/* Puts a marker and the length of its segment. The length counts its own two bytes, and not those
 * of the marker. */
static uint8_t *put_marker(uint8_t *to, uint8_t marker, size_t size)
{
    const uint8_t bytes[] = {0xFF, marker, (uint8_t)((size + 2) >> 8), (uint8_t)(size + 2)};
    memcpy(to, bytes, sizeof bytes);
    return to + sizeof bytes;
}

/* Adds a table of the file as a segment with this number. The tag points to bare tables: 64 numbers
 * for quantization; for Huffman codes 16 counts, one for each length, and then the symbols. */
static tz_result add_table(assembled_headers *h, uint16_t tag, uint64_t offset, uint8_t number)
{
    const bool quant = tag == TZ_TAG_JPEG_QUANT_TABLES;
    uint8_t counts[16] = {0};
    const size_t head = quant ? 0 : sizeof counts;
    size_t values = quant ? QUANT_SIZE : 0;
    uint8_t *to = NULL;
    if (!quant) {
        TZ_TRY(read_header_bytes(h, tag, offset, head, counts));
        for (size_t i = 0; i < head; i++)
            values += counts[i];
        if (values == 0 || values > MAX_CODES)
            return fail_old_jpeg(h, tz_at_tag(tag, offset), "a broken Huffman table");
    }
    TZ_TRY(reserve_table_bytes(h, 4 + 1 + head + values, tz_at_tag(tag, offset), &to));
    to = put_marker(to, quant ? TZ_MARKER_DQT : TZ_MARKER_DHT, 1 + head + values);
    *to++ = number;
    memcpy(to, counts, head);
    return read_header_bytes(h, tag, offset + head, values, to + head);
}

/* Adds the tables of one tag. kind: 16 for AC Huffman tables, else 0. numbers gets the table of
 * each sample; samples with the same offset share one. */
static tz_result add_tag_tables(assembled_headers *h, const tz_tag_ref *value, uint16_t tag,
                                uint8_t kind, uint8_t numbers[MAX_SAMPLES])
{
    uint64_t offsets[MAX_SAMPLES] = {0};
    const unsigned samples = h->layer->shape.samples;
    const tz_location location = tz_at_tag(tag, value->offset);
    if (value->count == 0)
        return fail_old_jpeg(h, tz_at_tag(tag, h->layer->shape.ifd_offset), "missing tables");
    if (value->count < samples)
        TZ_TRY(TZ_WARN_TAG(h->ctx, tz_expecting(location, samples, value->count),
                           "fewer tables than samples; the last one counts"));
    for (unsigned i = 0; i < samples; i++) {
        if (i < value->count)
            TZ_TRY(tz_tag_ref_integer(&h->reader, value, tag, i, h->ctx, &offsets[i]));
        if (offsets[i] == 0 && i > 0) /* libtiff's rule */
            offsets[i] = offsets[i - 1];
        unsigned same = 0;
        while (offsets[same] != offsets[i])
            same++;
        numbers[i] = (uint8_t)same;
        if (same == i)
            TZ_TRY(add_table(h, tag, offsets[i], (uint8_t)(kind | i)));
    }
    return TZ_OK;
}

/* Reads a number that must be the same for all samples, because a scan has just one. */
static tz_result read_common_value(assembled_headers *h, const tz_tag_ref *value, uint16_t tag,
                                   uint8_t missing, uint8_t *out)
{
    *out = missing;
    for (uint64_t i = 0; i < value->count && i < MAX_SAMPLES; i++) {
        uint64_t number = 0;
        TZ_TRY(tz_tag_ref_integer(&h->reader, value, tag, i, h->ctx, &number));
        if ((i > 0 && number != *out) || number > 15)
            return fail_unsupported_old_jpeg(
                h, tz_expecting(tz_at_tag(tag, value->offset), *out, number), "with such numbers");
        *out = (uint8_t)number;
    }
    return TZ_OK;
}

/* Makes a frame and a scan header from the tags. Component i has the id i + 1. A lossless scan has
 * its predictor and point transform in the bytes of spectral selection and approximation. */
static tz_result build_headers_from_tags(assembled_headers *h)
{
    const tz_layer *layer = h->layer;
    const tz_old_jpeg *old = &layer->tables.old_jpeg;
    const unsigned samples = layer->shape.samples;
    const bool lossless = old->process == LOSSLESS_PROCESS;
    const bool subsampled = layer->shape.photometric == TZ_PHOTOMETRIC_YCBCR && samples == 3;
    const uint16_t *steps = layer->tables.subsampling;
    uint8_t quant[MAX_SAMPLES] = {0}, dc[MAX_SAMPLES] = {0}, ac[MAX_SAMPLES] = {0};
    uint8_t predictor = 0, shift = 0;
    if (old->process > 1 && !lossless) /* 0: the tag is missing */
        return fail_unsupported_old_jpeg(
            h,
            tz_expecting(tz_at_tag(TZ_TAG_JPEG_PROCESS, layer->shape.ifd_offset), 1, old->process),
            "of another process than baseline and lossless");
    h->tables_size = 0; /* tables of a stream without a frame do not count */
    TZ_TRY(add_tag_tables(h, &old->dc_tables, TZ_TAG_JPEG_DC_TABLES, 0, dc));
    if (lossless) {
        TZ_TRY(read_common_value(h, &old->predictors, TZ_TAG_JPEG_PREDICTORS, 1, &predictor));
        TZ_TRY(read_common_value(h, &old->shifts, TZ_TAG_JPEG_SHIFTS, 0, &shift));
    } else {
        TZ_TRY(add_tag_tables(h, &old->quant_tables, TZ_TAG_JPEG_QUANT_TABLES, 0, quant));
        TZ_TRY(add_tag_tables(h, &old->ac_tables, TZ_TAG_JPEG_AC_TABLES, 16, ac));
    }
    uint8_t *frame =
        put_marker(h->frame, lossless ? TZ_MARKER_SOF3 : TZ_MARKER_SOF0, 6 + 3 * samples);
    uint8_t *scan = put_marker(h->scan, TZ_MARKER_SOS, 4 + 2 * samples);
    *frame++ = (uint8_t)layer->shape.bits_per_sample;
    memset(frame, 0, 4); /* the size is that of the tile */
    frame += 4;
    *frame++ = *scan++ = (uint8_t)samples;
    for (unsigned i = 0; i < samples; i++) {
        *frame++ = *scan++ = (uint8_t)(i + 1);
        *frame++ = i == 0 && subsampled && !lossless ? (uint8_t)(steps[0] << 4 | steps[1]) : 0x11;
        *frame++ = quant[i];
        *scan++ = (uint8_t)(dc[i] << 4 | ac[i]);
    }
    *scan++ = predictor;
    *scan++ = lossless ? 0 : 63;
    *scan++ = shift;
    h->frame_size = (size_t)(frame - h->frame);
    h->scan_size = (size_t)(scan - h->scan);
    return TZ_OK;
}

/* ---- the stream ---- */

tz_result tz_old_jpeg_headers(const tz_file *file, uint32_t level, const tz_layer *layer,
                              size_t slack, tz_arena *arena, const tz_context *ctx,
                              const uint8_t **out, size_t *size)
{
    const tz_level *shape = &layer->shape;
    const tz_location location = tz_at_tag(TZ_TAG_JPEG_INTERCHANGE, shape->ifd_offset);
    assembled_headers h = {.layer = layer,
                           .ctx = ctx,
                           .reader = tz_reader_direct(&file->containers[layer->tables.container]),
                           .restart_interval = layer->tables.old_jpeg.restart_interval};
    if (shape->samples > MAX_SAMPLES)
        return fail_unsupported_old_jpeg(&h, tz_at_tag(TZ_TAG_SAMPLES_PER_PIXEL, shape->ifd_offset),
                                         "of more than four samples");
    if (layer->tables.planar == TZ_PLANAR_SEPARATE && shape->samples > 1)
        return fail_unsupported_old_jpeg(&h, tz_at_tag(TZ_TAG_PLANAR, shape->ifd_offset),
                                         "with bands stored apart");
    TZ_TRY(read_stream_headers(&h, file, level));
    if ((h.frame_size == 0) != (h.scan_size == 0))
        return fail_old_jpeg(&h, location,
                             h.frame_size == 0 ? "a scan without a frame header"
                                               : "a frame without a scan header");
    TZ_TRY(h.frame_size == 0 ? build_headers_from_tags(&h) : adapt_frame(&h));
    const uint8_t interval[] = {
        0xFF, TZ_MARKER_DRI, 0, 4, (uint8_t)(h.restart_interval >> 8), (uint8_t)h.restart_interval};
    const size_t total = 2 + h.tables_size + sizeof interval + h.frame_size + h.scan_size;
    uint8_t *bytes = tz_arena_alloc(arena, total + slack);
    if (!bytes)
        return tz_fail_nomem(ctx, total + slack);
    uint8_t *at = bytes;
    *at++ = 0xFF;
    *at++ = TZ_MARKER_SOI;
    memcpy(at, h.tables, h.tables_size);
    at += h.tables_size;
    memcpy(at, interval, sizeof interval);
    at += sizeof interval;
    memcpy(at, h.frame, h.frame_size);
    at += h.frame_size;
    memcpy(at, h.scan, h.scan_size);
    *out = bytes;
    *size = total;
    return TZ_OK;
}
