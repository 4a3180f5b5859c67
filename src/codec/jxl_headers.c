/* SPDX-License-Identifier: Apache-2.0
 * The container, image size and metadata of JPEG XL (ISO/IEC 18181). Names of fields are those of
 * the standard. */
#include "codec/jxl_headers.h"

#ifdef TZ_HAVE_JXL

#include <string.h>

/* ---------------------------------------------------------------------------------------------
 * Bits
 * ------------------------------------------------------------------------------------------ */

uint32_t tz_jxl_read_bits(tz_jxl_bits *bits, unsigned count)
{
    if (bits->size * 8 - bits->position < count) {
        bits->position = bits->size * 8;
        bits->overrun = true;
        return 0;
    }
    uint32_t value = 0;
    for (unsigned i = 0; i < count; i++, bits->position++)
        value |= (uint32_t)(bits->data[bits->position / 8] >> (bits->position % 8) & 1) << i;
    return value;
}

uint64_t tz_jxl_read_u64(tz_jxl_bits *bits)
{
    switch (tz_jxl_read_bits(bits, 2)) {
    case 0:
        return 0;
    case 1:
        return 1 + tz_jxl_read_bits(bits, 4);
    case 2:
        return 17 + tz_jxl_read_bits(bits, 8);
    default:
        break;
    }
    uint64_t value = tz_jxl_read_bits(bits, 12);
    for (unsigned shift = 12; tz_jxl_read_bits(bits, 1); shift += 8) {
        if (shift == 60)
            return value | (uint64_t)tz_jxl_read_bits(bits, 4) << shift;
        value |= (uint64_t)tz_jxl_read_bits(bits, 8) << shift;
    }
    return value;
}

uint32_t tz_jxl_read_u32(tz_jxl_bits *bits, const tz_jxl_distribution distributions[4])
{
    const tz_jxl_distribution *distribution = &distributions[tz_jxl_read_bits(bits, 2)];
    return distribution->offset + tz_jxl_read_bits(bits, distribution->bits);
}

static uint32_t read_enum(tz_jxl_bits *bits)
{
    static const tz_jxl_distribution distributions[4] = {{0, 0}, {0, 1}, {4, 2}, {6, 18}};
    return tz_jxl_read_u32(bits, distributions);
}

void tz_jxl_skip_name(tz_jxl_bits *bits)
{
    static const tz_jxl_distribution distributions[4] = {{0, 0}, {4, 0}, {5, 16}, {10, 48}};
    uint32_t length = tz_jxl_read_u32(bits, distributions);
    for (uint32_t i = 0; i < length; i++)
        tz_jxl_read_bits(bits, 8);
}

/* ---------------------------------------------------------------------------------------------
 * The container
 * ------------------------------------------------------------------------------------------ */

static const uint8_t container_signature[12] = {0,   0,   0,    12,   'J',  'X',
                                                'L', ' ', 0x0D, 0x0A, 0x87, 0x0A};

enum { BOX_JXLC = 0x6A786C63, BOX_JXLP = 0x6A786C70 };

static tz_result find_jxl_codestream(tz_cursor *out, const uint8_t *data, size_t size,
                                     const tz_codec_call *call)
{
    tz_cursor cursor = tz_cursor_of(data, size);
    *out = cursor;
    if (size < sizeof container_signature ||
        memcmp(data, container_signature, sizeof container_signature) != 0)
        return TZ_OK;
    uint32_t type;
    while (tz_cursor_box(&cursor, &type, out)) {
        if (type == BOX_JXLC)
            return TZ_OK;
        if (type == BOX_JXLP)
            return tz_fail(call->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, call->location,
                           "JPEG XL: a codestream in several boxes");
    }
    return tz_codec_fail(call, "JPEG XL: no codestream in the boxes");
}

/* ---------------------------------------------------------------------------------------------
 * Size and metadata
 * ------------------------------------------------------------------------------------------ */

static uint32_t read_length(tz_jxl_bits *bits, bool small)
{
    static const tz_jxl_distribution distributions[4] = {{9, 1}, {13, 1}, {18, 1}, {30, 1}};
    return small ? 8 * (tz_jxl_read_bits(bits, 5) + 1) : tz_jxl_read_u32(bits, distributions);
}

static void read_jxl_size(tz_jxl_bits *bits, uint32_t *width, uint32_t *height)
{
    static const uint8_t ratios[8][2] = {{1, 1}, {1, 1},  {12, 10}, {4, 3},
                                         {3, 2}, {16, 9}, {5, 4},   {2, 1}};
    bool small = tz_jxl_read_bits(bits, 1);
    *height = read_length(bits, small);
    uint32_t ratio = tz_jxl_read_bits(bits, 3);
    if (ratio == 0)
        *width = read_length(bits, small);
    else
        *width = (uint32_t)((uint64_t)*height * ratios[ratio][0] / ratios[ratio][1]);
}

static void read_depth(tz_jxl_bits *bits, uint32_t *size, uint32_t *exponent)
{
    static const tz_jxl_distribution integers[4] = {{0, 8}, {0, 10}, {0, 12}, {6, 1}};
    static const tz_jxl_distribution floats[4] = {{0, 32}, {0, 16}, {0, 24}, {6, 1}};
    bool is_float = tz_jxl_read_bits(bits, 1);
    *size = tz_jxl_read_u32(bits, is_float ? floats : integers);
    *exponent = is_float ? tz_jxl_read_bits(bits, 4) + 1 : 0;
}

/* Orientation, intrinsic size, preview, animation: the name of what stands in the way, or NULL. */
static const char *read_extra_fields(tz_jxl_bits *bits)
{
    uint32_t width, height;
    if (tz_jxl_read_bits(bits, 3) != 0)
        return "turned pixels";
    if (tz_jxl_read_bits(bits, 1))
        read_jxl_size(bits, &width, &height);
    if (tz_jxl_read_bits(bits, 1))
        return "a preview";
    return tz_jxl_read_bits(bits, 1) ? "an animation" : NULL;
}

static const char *read_extra_channel(tz_jxl_bits *bits)
{
    static const tz_jxl_distribution shifts[4] = {{0, 0}, {0, 3}, {0, 4}, {3, 1}};
    static const tz_jxl_distribution filters[4] = {{0, 1}, {2, 0}, {4, 3}, {8, 19}};
    enum { ALPHA = 0, SPOT_COLOR = 2, CFA = 5 };
    uint32_t size, exponent;
    if (tz_jxl_read_bits(bits, 1))
        return NULL; /* all_default: alpha of 8 bits */
    uint32_t type = read_enum(bits);
    read_depth(bits, &size, &exponent);
    if (tz_jxl_read_u32(bits, shifts) != 0)
        return "a channel of lower resolution";
    tz_jxl_skip_name(bits);
    if (type == ALPHA)
        tz_jxl_read_bits(bits, 1);
    if (type == SPOT_COLOR)
        for (int i = 0; i < 4; i++)
            tz_jxl_read_bits(bits, 16);
    if (type == CFA)
        tz_jxl_read_u32(bits, filters);
    return NULL;
}

/* Up to where ICC profiles are announced. */
static const char *read_metadata(tz_jxl_bits *bits, tz_jxl_info *info)
{
    static const tz_jxl_distribution counts[4] = {{0, 0}, {0, 1}, {4, 2}, {12, 1}};
    const char *unsupported = NULL;
    if (tz_jxl_read_bits(bits, 1)) { /* all_default */
        info->bits = 8;
        info->xyb = true;
        return NULL;
    }
    if (tz_jxl_read_bits(bits, 1))
        unsupported = read_extra_fields(bits);
    if (unsupported)
        return unsupported;
    read_depth(bits, &info->bits, &info->exponent);
    tz_jxl_read_bits(bits, 1); /* modular_16bit_buffers */
    info->extra_channels = tz_jxl_read_u32(bits, counts);
    for (uint32_t i = 0; !unsupported && i < info->extra_channels; i++)
        unsupported = read_extra_channel(bits);
    if (unsupported)
        return unsupported;
    info->xyb = tz_jxl_read_bits(bits, 1);
    bool default_colors = tz_jxl_read_bits(bits, 1);
    return !default_colors && tz_jxl_read_bits(bits, 1) ? "an ICC profile" : NULL;
}

tz_result tz_jxl_read_info(tz_jxl_info *out, const uint8_t *data, size_t size,
                           const tz_codec_call *call)
{
    tz_cursor stream;
    TZ_TRY(find_jxl_codestream(&stream, data, size, call));
    tz_jxl_info info = {.stream = stream.at, .stream_size = tz_cursor_left(&stream)};
    const uint8_t *signature = tz_cursor_bytes(&stream, 2);
    if (!signature || signature[0] != 0xFF || signature[1] != 0x0A)
        return tz_codec_fail(call, "JPEG XL: no codestream");
    tz_jxl_bits bits = {stream.at, tz_cursor_left(&stream), 0, false};
    read_jxl_size(&bits, &info.width, &info.height);
    const char *unsupported = read_metadata(&bits, &info);
    if (bits.overrun || info.width == 0)
        return tz_codec_fail(call, "JPEG XL: the header is cut off or empty");
    if (unsupported)
        return tz_fail(call->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, call->location,
                       "JPEG XL with %s", unsupported);
    *out = info;
    return TZ_OK;
}

#endif
