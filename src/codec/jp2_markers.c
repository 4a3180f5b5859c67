/* SPDX-License-Identifier: Apache-2.0
 * JP2 boxes and the marker segments of a JPEG 2000 codestream (ITU-T T.800 annexes A and I).
 *
 * tz_jp2_read_info reads the size; once the caller has compared it with the tile,
 * tz_jp2_read_headers goes through all other headers, main and of every tile part, and skips the
 * data. OpenJPEG allocates by these headers, far more than the stream has bytes if it is damaged,
 * so its memory is estimated from the coding styles and checked first. */
#include "codec/jp2_markers.h"

#include <string.h>

#include "base/mem.h"
#include "codec/cursor.h"

enum {
    MARKER_SOC = 0xFF4F,
    MARKER_CAP = 0xFF50,
    MARKER_SIZ = 0xFF51,
    MARKER_COD = 0xFF52,
    MARKER_COC = 0xFF53,
    MARKER_TLM = 0xFF55,
    MARKER_PLM = 0xFF57,
    MARKER_PLT = 0xFF58,
    MARKER_QCD = 0xFF5C,
    MARKER_QCC = 0xFF5D,
    MARKER_RGN = 0xFF5E,
    MARKER_POC = 0xFF5F,
    MARKER_PPM = 0xFF60,
    MARKER_PPT = 0xFF61,
    MARKER_CRG = 0xFF63,
    MARKER_COM = 0xFF64,
    MARKER_SOT = 0xFF90,
    MARKER_SOD = 0xFF93,
    MARKER_EOC = 0xFFD9
};

enum {
    BOX_JP2C = 0x6A703263, /* "jp2c" */
    MAX_LEVELS = 32,
    MAX_TILES = 65535,
    STYLE_HIGH_THROUGHPUT = 0xC0,
    WAVELET_REVERSIBLE = 1,
    /* bytes that OpenJPEG takes for each, generously */
    TILE_BYTES = 12288,
    TILE_COMPONENT_BYTES = 1536,
    PRECINCT_BYTES = 320,
    CODE_BLOCK_BYTES = 768
};

/* ---------------------------------------------------------------------------------------------
 * The main header: SIZ
 * ------------------------------------------------------------------------------------------ */

/* The image and its tiles lie on a grid, each with an offset. */
typedef struct grid_axis {
    uint32_t end;
    uint32_t start;
    uint32_t tile;
    uint32_t tile_start;
} grid_axis;

static bool is_valid_axis(const grid_axis *axis)
{
    return axis->end > axis->start && axis->tile > 0 && axis->tile_start <= axis->start &&
           (uint64_t)axis->tile_start + axis->tile > axis->start;
}

static uint64_t tiles_along(const grid_axis *axis)
{
    return tz_ceil_div((uint64_t)axis->end - axis->tile_start, axis->tile);
}

/* Reads the size marker: image, tiles and components. */
static tz_result read_siz_segment(tz_jp2_info *info, tz_cursor segment, const tz_codec_call *call)
{
    grid_axis x, y;
    tz_cursor_be16(&segment); /* capabilities */
    x.end = tz_cursor_be32(&segment);
    y.end = tz_cursor_be32(&segment);
    x.start = tz_cursor_be32(&segment);
    y.start = tz_cursor_be32(&segment);
    x.tile = tz_cursor_be32(&segment);
    y.tile = tz_cursor_be32(&segment);
    x.tile_start = tz_cursor_be32(&segment);
    y.tile_start = tz_cursor_be32(&segment);
    info->component_count = tz_cursor_be16(&segment);
    if (segment.overrun || tz_cursor_left(&segment) != 3u * info->component_count)
        return tz_codec_fail(call, "JPEG 2000: the size marker has a wrong length");
    if (!is_valid_axis(&x) || !is_valid_axis(&y))
        return tz_codec_fail(call, "JPEG 2000: impossible size of image or tiles");
    info->width = x.end - x.start;
    info->height = y.end - y.start;
    info->has_offset = x.start > 0 || y.start > 0;
    info->tile_width = tz_min_u32(x.tile, info->width);
    info->tile_height = tz_min_u32(y.tile, info->height);
    info->tile_count = tz_mul_capped(tiles_along(&x), tiles_along(&y));
    if (info->component_count == 0)
        return tz_codec_fail(call, "JPEG 2000: no components");
    if (info->component_count > TZ_JP2_MAX_COMPONENTS)
        return tz_codec_fail_unsupported(call, "JPEG 2000 with %u components",
                                         info->component_count);
    for (unsigned i = 0; i < info->component_count; i++) {
        tz_jp2_component *component = &info->components[i];
        uint8_t depth = tz_cursor_u8(&segment);
        component->precision = (uint8_t)((depth & 0x7f) + 1);
        component->is_signed = depth >> 7;
        component->dx = tz_cursor_u8(&segment);
        component->dy = tz_cursor_u8(&segment);
        if (component->precision > 31 || component->dx == 0 || component->dy == 0)
            return tz_codec_fail(call, "JPEG 2000: component %u of %u bits, for %u x %u pixels", i,
                                 component->precision, component->dx, component->dy);
    }
    return TZ_OK;
}

static tz_result read_jp2_segment(tz_cursor *cursor, tz_cursor *segment, const tz_codec_call *call)
{
    uint16_t length = tz_cursor_be16(cursor);
    *segment = tz_cursor_slice(cursor, length >= 2 ? length - 2u : 0);
    if (length < 2 || segment->overrun)
        return tz_codec_fail(call, "JPEG 2000: a marker is cut off");
    return TZ_OK;
}

tz_result tz_jp2_read_info(tz_jp2_info *out, const uint8_t *data, size_t size,
                           const tz_codec_call *call)
{
    tz_cursor stream, segment;
    static const uint32_t boxes[2] = {BOX_JP2C, BOX_JP2C};
    if (tz_cursor_find_box(data, size, "jP  ", boxes, &stream) == 0)
        return tz_codec_fail(call, "JPEG 2000: no codestream in the boxes");
    tz_jp2_info info = {.stream = stream.at, .stream_size = tz_cursor_left(&stream)};
    if (tz_cursor_be16(&stream) != MARKER_SOC || tz_cursor_be16(&stream) != MARKER_SIZ)
        return tz_codec_fail(call, "JPEG 2000: the codestream does not begin with SOC and SIZ");
    TZ_TRY(read_jp2_segment(&stream, &segment, call));
    TZ_TRY(read_siz_segment(&info, segment, call));
    *out = info;
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Coding styles
 * ------------------------------------------------------------------------------------------ */

typedef struct jp2_parser {
    tz_jp2_info *info;
    tz_cursor cursor;
    bool has_style;       /* a COD or COC was there */
    uint16_t layers;      /* the most of any COD */
    uint64_t style_bytes; /* the most of any COD or COC, for one component */
    uint64_t packets;     /* the most of any COD or COC, for one component and layer */
    const tz_codec_call *call;
} jp2_parser;

/* Returns the most cells of a grid, 2^shift wide, that a line of this length touches. */
static uint64_t grid_cells(uint64_t length, unsigned shift)
{
    return ((length + (UINT64_C(1) << shift) - 2) >> shift) + 1;
}

/* Adds the memory of one level of resolution: precincts, and the code blocks in them. */
static void count_resolution(jp2_parser *p, unsigned level, unsigned levels, uint8_t precinct,
                             const uint8_t block[2], uint64_t *bytes, uint64_t *max_precincts)
{
    uint64_t width = tz_ceil_div(p->info->tile_width, UINT64_C(1) << (levels - level));
    uint64_t height = tz_ceil_div(p->info->tile_height, UINT64_C(1) << (levels - level));
    unsigned shift_x = precinct & 15, shift_y = precinct >> 4;
    unsigned bands = level == 0 ? 1 : 3, halved = level == 0 ? 0 : 1;
    uint64_t precincts = tz_mul_capped(grid_cells(width, shift_x), grid_cells(height, shift_y));
    unsigned block_x = tz_min_u32(block[0], shift_x - halved);
    unsigned block_y = tz_min_u32(block[1], shift_y - halved);
    uint64_t blocks = tz_mul_capped(grid_cells((width + halved) >> halved, block_x),
                                    grid_cells((height + halved) >> halved, block_y));
    *bytes = tz_add_capped(*bytes, tz_mul_capped(precincts, bands * PRECINCT_BYTES));
    *bytes = tz_add_capped(*bytes, tz_mul_capped(blocks, bands * CODE_BLOCK_BYTES));
    *max_precincts = tz_max(*max_precincts, precincts);
}

/* Reads the part that COD and COC have in common. */
static tz_result read_style(jp2_parser *p, tz_cursor *segment, bool has_precincts)
{
    uint8_t levels = tz_cursor_u8(segment);
    uint8_t block[2];
    block[0] = (uint8_t)(tz_cursor_u8(segment) + 2);
    block[1] = (uint8_t)(tz_cursor_u8(segment) + 2);
    uint8_t style = tz_cursor_u8(segment);
    p->info->is_irreversible |= tz_cursor_u8(segment) != WAVELET_REVERSIBLE;
    if (segment->overrun || levels > MAX_LEVELS || block[0] > 10 || block[1] > 10 ||
        block[0] + block[1] > 12)
        return tz_codec_fail(p->call, "JPEG 2000: impossible coding style");
    if (style & STYLE_HIGH_THROUGHPUT)
        return tz_codec_fail_unsupported(p->call, "high-throughput JPEG 2000 is not supported");
    tz_jp2_info *info = p->info;
    info->has_other_levels |= p->has_style && levels != info->levels;
    info->levels = p->has_style && info->levels < levels ? info->levels : levels;
    p->has_style = true;
    uint64_t bytes = 0, max_precincts = 0;
    for (unsigned level = 0; level <= levels; level++) {
        uint8_t precinct = has_precincts ? tz_cursor_u8(segment) : 0xFF;
        if (segment->overrun || (level > 0 && ((precinct & 15) == 0 || precinct >> 4 == 0)))
            return tz_codec_fail(p->call, "JPEG 2000: impossible precincts");
        count_resolution(p, level, levels, precinct, block, &bytes, &max_precincts);
    }
    p->style_bytes = tz_max(p->style_bytes, bytes);
    p->packets = tz_max(p->packets, tz_mul_capped(max_precincts, levels + 1u));
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Headers and tile parts
 * ------------------------------------------------------------------------------------------ */

/* Reads a marker of the main header or of a tile part. Markers that change nothing for us are
 * passed over; unknown ones may change everything, so they are refused. */
static tz_result read_jp2_marker(jp2_parser *p, uint16_t marker)
{
    tz_cursor segment;
    uint16_t component, layers;
    uint8_t flags;
    TZ_TRY(read_jp2_segment(&p->cursor, &segment, p->call));
    switch (marker) {
    case MARKER_COD:
        flags = tz_cursor_u8(&segment);
        tz_cursor_u8(&segment); /* progression */
        layers = tz_cursor_be16(&segment);
        tz_cursor_u8(&segment); /* component transform */
        if (layers == 0)
            return tz_codec_fail(p->call, "JPEG 2000: no layers");
        p->layers = layers > p->layers ? layers : p->layers;
        return read_style(p, &segment, flags & 1);
    case MARKER_COC:
        component =
            p->info->component_count < 257 ? tz_cursor_u8(&segment) : tz_cursor_be16(&segment);
        if (component >= p->info->component_count)
            return tz_codec_fail(p->call, "JPEG 2000: a coding style for component %u", component);
        flags = tz_cursor_u8(&segment);
        return read_style(p, &segment, flags & 1);
    case MARKER_RGN:
    case MARKER_POC:
    case MARKER_PPM:
    case MARKER_PPT:
        p->info->is_unusual = true;
        return TZ_OK;
    case MARKER_TLM:
    case MARKER_PLM:
    case MARKER_PLT:
    case MARKER_QCD:
    case MARKER_QCC:
    case MARKER_CRG:
    case MARKER_COM:
        return TZ_OK;
    case MARKER_CAP:
        return tz_codec_fail_unsupported(p->call, "high-throughput JPEG 2000 is not supported");
    case MARKER_SIZ:
        return tz_codec_fail(p->call, "JPEG 2000: two size markers");
    default:
        return tz_codec_fail_unsupported(p->call, "JPEG 2000: unknown marker %04X", marker);
    }
}

/* Reads a tile part, from after its SOT marker to its end. */
static tz_result read_tile_part(jp2_parser *p, uint8_t *seen)
{
    const uint8_t *start = p->cursor.at - 2;
    tz_cursor segment;
    TZ_TRY(read_jp2_segment(&p->cursor, &segment, p->call));
    uint16_t tile = tz_cursor_be16(&segment);
    uint32_t length = tz_cursor_be32(&segment);
    tz_cursor_be16(&segment); /* number of this part, and of all */
    if (segment.overrun || tz_cursor_left(&segment) != 0 || tile >= p->info->tile_count)
        return tz_codec_fail(p->call, "JPEG 2000: a broken tile part");
    size_t left = (size_t)(p->cursor.end - start);
    if (length == 0) { /* up to the end */
        bool has_end = left > 2 && start[left - 2] == 0xFF && start[left - 1] == 0xD9;
        length = left <= UINT32_MAX ? (uint32_t)left - (has_end ? 2 : 0) : UINT32_MAX;
    }
    if (length < 14 || length > left)
        return tz_codec_fail_size(p->call, length, left, "JPEG 2000: a tile part is cut off");
    tz_cursor rest = {start + length, p->cursor.end, false};
    p->cursor.end = start + length;
    uint16_t marker = tz_cursor_be16(&p->cursor);
    for (; marker != MARKER_SOD; marker = tz_cursor_be16(&p->cursor))
        TZ_TRY(read_jp2_marker(p, marker));
    p->cursor = rest;
    seen[tile >> 3] |= (uint8_t)(1u << (tile & 7));
    return TZ_OK;
}

tz_result tz_jp2_read_headers(tz_jp2_info *info, const tz_codec_call *call)
{
    jp2_parser p = {
        .info = info, .cursor = tz_cursor_of(info->stream, info->stream_size), .call = call};
    uint8_t seen[(MAX_TILES + 7) / 8];
    tz_cursor segment;
    TZ_TRY(tz_codec_check_memory(call, tz_mul_capped(info->tile_count, TILE_BYTES),
                                 "bytes of memory for the tiles of a JPEG 2000 image"));
    if (info->tile_count > MAX_TILES)
        return tz_codec_fail(call, "JPEG 2000: more tiles than can be numbered");
    tz_cursor_bytes(&p.cursor, 4); /* SOC and SIZ */
    TZ_TRY(read_jp2_segment(&p.cursor, &segment, call));
    uint16_t marker = tz_cursor_be16(&p.cursor);
    for (; marker != MARKER_SOT; marker = tz_cursor_be16(&p.cursor))
        TZ_TRY(read_jp2_marker(&p, marker));
    if (p.layers == 0)
        return tz_codec_fail(call, "JPEG 2000: no coding style");
    memset(seen, 0, (size_t)(info->tile_count + 7) / 8);
    while (marker == MARKER_SOT) {
        TZ_TRY(read_tile_part(&p, seen));
        marker = tz_cursor_be16(&p.cursor);
    }
    /* A stream without the marker at its end is complete if every tile was seen. */
    info->has_end = marker == MARKER_EOC;
    if (!info->has_end && !p.cursor.overrun)
        return tz_codec_fail(call, "JPEG 2000: marker %04X between tile parts", marker);
    for (uint32_t tile = 0; tile < info->tile_count; tile++)
        if (!(seen[tile >> 3] >> (tile & 7) & 1))
            return tz_codec_fail(call, "JPEG 2000: tile %u is missing", tile);

    /* OpenJPEG also marks the packets that it has seen, all layers of all components in one array.
     */
    uint64_t per_tile = TILE_BYTES + (uint64_t)TILE_COMPONENT_BYTES * info->component_count;
    uint64_t packets = tz_mul_capped(p.packets, (p.layers + 1u) * sizeof(uint16_t));
    uint64_t bytes = tz_mul_capped(info->tile_count, per_tile);
    bytes = tz_add_capped(bytes, tz_mul_capped(p.style_bytes, info->component_count));
    info->coding_bytes = tz_add_capped(bytes, tz_mul_capped(packets, info->component_count));
    return TZ_OK;
}
