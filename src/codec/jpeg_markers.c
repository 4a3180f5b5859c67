/* SPDX-License-Identifier: Apache-2.0
 * The marker segments of a JPEG stream (ITU-T T.81 annex B). Markers are found as libjpeg finds
 * them, with garbage between segments skipped, so that both see the same stream.
 *
 * One pass over the stream: table segments are noted, the frame header fills tz_jpeg_info, and each
 * scan header is checked against both. Of entropy-coded data only its end is looked for, and only
 * in images of many scans; libjpeg looks no further after the first scan of the others. */
#include "codec/jpeg.h"

#include <string.h>

#include "base/mem.h"
#include "codec/cursor.h"

typedef struct jpeg_parser {
    tz_cursor cursor;
    tz_jpeg_table_set tables;
    tz_jpeg_info info;
    uint8_t covered; /* components whose scans were seen */
    uint16_t restart_interval;
    bool has_frame;
    const tz_codec_call *call;
} jpeg_parser;

/* Kinds of frames that are not decoded, by marker. */
static const char *const unsupported_frames[256] = {
    [0xC5] = "hierarchical",
    [0xC6] = "hierarchical",
    [0xC7] = "hierarchical",
    [0xC9] = "arithmetic-coded",
    [0xCA] = "arithmetic-coded",
    [0xCB] = "lossless arithmetic-coded",
    [0xCD] = "hierarchical arithmetic-coded",
    [0xCE] = "hierarchical arithmetic-coded",
    [0xCF] = "hierarchical arithmetic-coded",
    [TZ_MARKER_JPEG_LS] = "JPEG-LS",
};

static bool stands_alone(uint8_t marker)
{
    return marker == TZ_MARKER_TEM || tz_marker_is_restart(marker);
}

/* Finds the next marker, past any bytes before it; 0 at the end. */
static uint8_t next_marker(tz_cursor *cursor)
{
    while (tz_cursor_left(cursor) > 0) {
        const uint8_t *found = memchr(cursor->at, 0xFF, tz_cursor_left(cursor));
        if (!found)
            break;
        cursor->at = found;
        uint8_t code = 0xFF;
        while (code == 0xFF && tz_cursor_left(cursor) > 0)
            code = *cursor->at++;
        if (code != 0 && code != 0xFF)
            return code;
    }
    cursor->at = cursor->end;
    return 0;
}

/* Notes the Huffman tables of a segment. Codes of DC tables are kept for lossless scans, which are
 * decoded without libjpeg. */
static tz_result read_huffman_tables(jpeg_parser *p, tz_cursor segment)
{
    while (tz_cursor_left(&segment) > 0) {
        uint8_t which = tz_cursor_u8(&segment);
        const uint8_t *counts = tz_cursor_bytes(&segment, 16);
        unsigned symbols = 0;
        for (int i = 0; counts && i < 16; i++)
            symbols += counts[i];
        tz_cursor_bytes(&segment, symbols);
        if (segment.overrun || symbols > 256 || (which >> 4) > 1 || (which & 15) > 3)
            return tz_codec_fail(p->call, "JPEG: broken Huffman table %02X", which);
        uint8_t bit = (uint8_t)(1u << (which & 15));
        if (which >> 4) {
            p->tables.ac |= bit;
        } else {
            p->tables.dc |= bit;
            p->tables.dc_codes[which & 15] = counts;
        }
    }
    p->info.changes_tables = true;
    return TZ_OK;
}

static tz_result read_quantization_tables(jpeg_parser *p, tz_cursor segment)
{
    while (tz_cursor_left(&segment) > 0) {
        uint8_t which = tz_cursor_u8(&segment);
        tz_cursor_bytes(&segment, which >> 4 ? 128 : 64);
        if (segment.overrun || (which >> 4) > 1 || (which & 15) > 3)
            return tz_codec_fail(p->call, "JPEG: broken quantization table %02X", which);
        p->tables.quant |= (uint8_t)(1u << (which & 15));
    }
    p->info.changes_tables = true;
    return TZ_OK;
}

/* Reads the frame header, of which a stream has one. */
static tz_result read_jpeg_frame(jpeg_parser *p, tz_cursor segment, uint8_t marker)
{
    if (unsupported_frames[marker])
        return tz_codec_fail_unsupported(p->call, "%s JPEG (marker %02X) is not supported",
                                         unsupported_frames[marker], marker);
    if (p->has_frame)
        return tz_codec_fail(p->call, "JPEG: two frame headers");
    tz_jpeg_info *info = &p->info;
    info->progressive = marker == TZ_MARKER_SOF2;
    info->lossless = marker == TZ_MARKER_SOF3;
    info->precision = tz_cursor_u8(&segment);
    info->height = tz_cursor_be16(&segment);
    info->width = tz_cursor_be16(&segment);
    info->component_count = tz_cursor_u8(&segment);
    if (segment.overrun || tz_cursor_left(&segment) != 3u * info->component_count)
        return tz_codec_fail(p->call, "JPEG: the frame header has a wrong size");
    if (info->width == 0 || info->height == 0)
        return tz_codec_fail(p->call, "JPEG: the frame is %u x %u", info->width, info->height);
    if (info->component_count == 0 || info->component_count > TZ_JPEG_MAX_COMPONENTS)
        return tz_codec_fail(p->call, "JPEG: %u components", info->component_count);
    for (unsigned i = 0; i < info->component_count; i++) {
        tz_jpeg_component *component = &info->components[i];
        component->id = tz_cursor_u8(&segment);
        const uint8_t sampling = tz_cursor_u8(&segment);
        component->h = sampling >> 4;
        component->v = sampling & 15;
        component->quant = tz_cursor_u8(&segment);
        for (unsigned k = 0; k < i; k++)
            if (info->components[k].id == component->id)
                return tz_codec_fail(p->call, "JPEG: two components have the id %u", component->id);
        if (component->h < 1 || component->h > 4 || component->v < 1 || component->v > 4)
            return tz_codec_fail(p->call, "JPEG: sampling factors %u x %u of component %u",
                                 component->h, component->v, i);
        if (component->quant > 3)
            return tz_codec_fail(p->call, "JPEG: component %u has quantization table %u", i,
                                 component->quant);
    }
    p->has_frame = true;
    return TZ_OK;
}

/* Notes a scan of a lossless image, whose components and tables have been checked. The
 * entropy-coded bytes begin at the cursor. Each component is decoded once, so that there are never
 * more scans than components. */
static tz_result keep_lossless_scan(jpeg_parser *p, unsigned count, const uint8_t *indices,
                                    const uint8_t *selection, const uint8_t *spectral,
                                    uint8_t in_scan)
{
    const tz_jpeg_info *info = &p->info;
    tz_jpeg_lossless_scan scan = {.count = (uint8_t)count,
                                  .predictor = spectral[0],
                                  .shift = spectral[2] & 15,
                                  .restart_interval = p->restart_interval,
                                  .data = p->cursor.at};
    if (p->covered & in_scan)
        return tz_codec_fail(p->call, "JPEG: two lossless scans of one component");
    if (scan.predictor < 1 || scan.predictor > 7 || spectral[1] != 0 || spectral[2] >> 4 != 0 ||
        scan.shift >= info->precision)
        return tz_codec_fail(p->call, "JPEG: lossless with predictor %u, end %u, shifts %u and %u",
                             scan.predictor, spectral[1], spectral[2] >> 4, scan.shift);
    for (unsigned i = 0; i < count; i++) {
        const tz_jpeg_component *component = &info->components[indices[i]];
        scan.components[i] = indices[i];
        scan.codes[i] = p->tables.dc_codes[selection[2 * i + 1] >> 4];
        if (count > 1 && (component->h != 1 || component->v != 1))
            return tz_codec_fail_unsupported(
                p->call, "lossless JPEG with sampling factors %u x %u is not supported",
                component->h, component->v);
    }
    p->info.lossless_scans[p->info.scans] = scan;
    return TZ_OK;
}

/* Checks a scan header. In a progressive image, DC and AC coefficients have scans of their own, and
 * scans that refine coefficients of earlier ones need no DC table. */
static tz_result read_scan(jpeg_parser *p, tz_cursor segment)
{
    if (!p->has_frame)
        return tz_codec_fail(p->call, "JPEG: a scan before the frame header");
    uint8_t count = tz_cursor_u8(&segment);
    if (count < 1 || count > p->info.component_count || tz_cursor_left(&segment) != 2u * count + 3)
        return tz_codec_fail(p->call, "JPEG: a scan header has a wrong size");
    const uint8_t *selection = tz_cursor_bytes(&segment, 2u * count);
    const uint8_t *spectral = tz_cursor_bytes(&segment, 3);
    bool first_pass = spectral[2] >> 4 == 0;
    bool has_dc = !p->info.progressive || spectral[0] == 0;
    bool needs_dc = has_dc && (!p->info.progressive || first_pass);
    bool needs_ac = !p->info.lossless && (!p->info.progressive || spectral[0] > 0);
    uint8_t in_scan = 0, indices[TZ_JPEG_MAX_COMPONENTS];
    unsigned blocks = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint8_t id = selection[2 * i];
        const uint8_t dc = selection[2 * i + 1] >> 4, ac = selection[2 * i + 1] & 15;
        uint8_t index = 0;
        while (index < p->info.component_count && p->info.components[index].id != id)
            index++;
        if (index == p->info.component_count || (in_scan >> index & 1))
            return tz_codec_fail(p->call, "JPEG: a scan names component %u, which is not there",
                                 id);
        if (dc > 3 || ac > 3)
            return tz_codec_fail(p->call, "JPEG: a scan names Huffman tables %u and %u", dc, ac);
        if ((needs_dc && !(p->tables.dc >> dc & 1)) || (needs_ac && !(p->tables.ac >> ac & 1)))
            return tz_codec_fail(p->call, "JPEG: a Huffman table is missing");
        const tz_jpeg_component *component = &p->info.components[index];
        if (!p->info.lossless && !(p->tables.quant >> component->quant & 1))
            return tz_codec_fail(p->call, "JPEG: quantization table %u is missing",
                                 component->quant);
        in_scan |= (uint8_t)(1u << index);
        indices[i] = index;
        blocks += component->h * component->v;
    }
    if (count > 1 && blocks > 10) /* T.81 forbids more in the unit of an interleaved scan */
        return tz_codec_fail(p->call, "JPEG: sampling factors give %u blocks a unit", blocks);
    if (p->info.lossless)
        TZ_TRY(keep_lossless_scan(p, count, indices, selection, spectral, in_scan));
    if (needs_dc)
        p->covered |= in_scan;
    p->info.scans++;
    if (p->info.scans == 1)
        p->info.many_scans = p->info.progressive || count < p->info.component_count;
    return tz_check_limit(p->call->ctx, offsetof(tz_limits, max_jpeg_scans), p->call->location,
                          p->info.scans, "scans of a JPEG");
}

/* Reads the segment of a marker. */
static tz_result read_jpeg_marker(jpeg_parser *p, uint8_t marker)
{
    tz_cursor segment;
    const uint8_t *text;
    if (stands_alone(marker))
        return TZ_OK;
    const uint16_t size = tz_cursor_be16(&p->cursor);
    segment = tz_cursor_slice(&p->cursor, size >= 2 ? size - 2u : 0);
    if (size < 2 || segment.overrun)
        return tz_codec_fail(p->call, "JPEG: marker %02X is cut off or has no size", marker);
    if (tz_marker_is_frame(marker))
        return read_jpeg_frame(p, segment, marker);
    switch (marker) {
    case TZ_MARKER_DHT:
        return read_huffman_tables(p, segment);
    case TZ_MARKER_DQT:
        return read_quantization_tables(p, segment);
    case TZ_MARKER_DRI:
        p->restart_interval = tz_cursor_be16(&segment);
        if (segment.overrun || tz_cursor_left(&segment) > 0)
            return tz_codec_fail(p->call, "JPEG: the restart interval has a wrong size");
        return TZ_OK;
    case TZ_MARKER_SOS:
        return read_scan(p, segment);
    case TZ_MARKER_APP14:
        text = tz_cursor_bytes(&segment, 12);
        if (text && memcmp(text, "Adobe", 5) == 0)
            p->info.adobe_transform = text[11];
        return TZ_OK;
    case TZ_MARKER_DAC:
    case TZ_MARKER_DNL:
    case TZ_MARKER_COM:
        return TZ_OK;
    default:
        if (marker >= TZ_MARKER_APP0 && marker <= TZ_MARKER_APP15)
            return TZ_OK;
        return tz_codec_fail(p->call, "JPEG: unexpected marker %02X", marker);
    }
}

static tz_result start_parser(jpeg_parser *p, const uint8_t *data, size_t size,
                              const tz_codec_call *call)
{
    *p =
        (jpeg_parser){.cursor = tz_cursor_of(data, size), .call = call, .info.adobe_transform = -1};
    if (size < 4 || data[0] != 0xFF || data[1] != TZ_MARKER_SOI)
        return tz_codec_fail(call, "JPEG: the stream does not begin with SOI");
    p->cursor.at += 2;
    return TZ_OK;
}

tz_result tz_jpeg_read_tables(tz_jpeg_table_set *out, const uint8_t *data, size_t size,
                              const tz_codec_call *call)
{
    jpeg_parser p;
    TZ_TRY(start_parser(&p, data, size, call));
    for (;;) {
        uint8_t marker = next_marker(&p.cursor);
        if (marker == 0 || marker == TZ_MARKER_EOI)
            break;
        if (tz_marker_is_frame(marker) || marker == TZ_MARKER_SOS)
            return tz_codec_fail(call, "JPEGTables hold an image, not only tables");
        TZ_TRY(read_jpeg_marker(&p, marker));
    }
    *out = p.tables;
    return TZ_OK;
}

tz_result tz_jpeg_read_info(tz_jpeg_info *out, const uint8_t *data, size_t size,
                            tz_jpeg_table_set tables, const tz_codec_call *call)
{
    jpeg_parser p;
    TZ_TRY(start_parser(&p, data, size, call));
    p.tables = tables;
    uint8_t marker = next_marker(&p.cursor);
    while (marker != 0 && marker != TZ_MARKER_EOI) {
        TZ_TRY(read_jpeg_marker(&p, marker));
        if (marker == TZ_MARKER_SOS && !p.info.many_scans)
            break;                                    /* libjpeg looks no further */
        const bool in_scan = marker == TZ_MARKER_SOS; /* whose data may have restart markers */
        do
            marker = next_marker(&p.cursor);
        while (in_scan && stands_alone(marker));
    }
    if (!p.has_frame)
        return tz_codec_fail(call, "JPEG: no frame header");
    if (p.covered != (1u << p.info.component_count) - 1)
        return tz_codec_fail(call, "JPEG: components without a scan");
    *out = p.info;
    return TZ_OK;
}

uint64_t tz_jpeg_coefficient_bytes(const tz_jpeg_info *info)
{
    unsigned h_max = 1, v_max = 1;
    for (unsigned i = 0; i < info->component_count; i++) {
        const tz_jpeg_component *component = &info->components[i];
        h_max = tz_max_u32(h_max, component->h);
        v_max = tz_max_u32(v_max, component->v);
    }
    uint64_t units = tz_ceil_div(info->width, 8 * h_max) * tz_ceil_div(info->height, 8 * v_max);
    uint64_t blocks = 0; /* of one unit */
    for (unsigned i = 0; i < info->component_count; i++)
        blocks += (uint64_t)info->components[i].h * info->components[i].v;
    return units * blocks * 64 * sizeof(int16_t);
}
