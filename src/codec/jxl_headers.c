/* SPDX-License-Identifier: Apache-2.0
 * The container, image size, metadata and frames of JPEG XL (ISO/IEC 18181). Names of fields are
 * those of the standard.
 *
 * tz_jxl_read_info reads up to the colour encoding, which may be entropy-coded; libjxl reads that,
 * and tz_jxl_check_frames goes on with the frames after it: header, table of contents, data. Frames
 * may be layers of the image, or hold patches or a coarse version for others. Their sizes are
 * summed up, since libjxl allocates all of them. Fields without a use here are read and dropped,
 * because the next one begins after them. */
#include <string.h>

#include "base/mem.h"
#include "codec/cursor.h"
#include "codec/jxl_headers.h"

/* ---------------------------------------------------------------------------------------------
 * Bits, the lowest first, and the number formats made of them (ISO/IEC 18181-1 section 9.2)
 * ------------------------------------------------------------------------------------------ */

typedef struct jxl_bits {
    const uint8_t *data;
    size_t size;
    size_t position; /* bits */
    bool overrun;    /* more was read than there is: all of that is 0 */
} jxl_bits;

/* Reads at most 32 bits. */
static uint32_t jxl_read_bits(jxl_bits *bits, unsigned count)
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

static uint64_t jxl_read_u64(jxl_bits *bits)
{
    switch (jxl_read_bits(bits, 2)) {
    case 0:
        return 0;
    case 1:
        return 1 + jxl_read_bits(bits, 4);
    case 2:
        return 17 + jxl_read_bits(bits, 8);
    default:
        break;
    }
    uint64_t value = jxl_read_bits(bits, 12);
    for (unsigned shift = 12; jxl_read_bits(bits, 1); shift += 8) {
        if (shift == 60)
            return value | (uint64_t)jxl_read_bits(bits, 4) << shift;
        value |= (uint64_t)jxl_read_bits(bits, 8) << shift;
    }
    return value;
}

/* One of four forms of a number, chosen by two bits: offset + a number of this many bits. */
typedef struct jxl_distribution {
    uint8_t bits;
    uint32_t offset;
} jxl_distribution;

static uint32_t jxl_read_u32(jxl_bits *bits, const jxl_distribution distributions[4])
{
    const jxl_distribution *distribution = &distributions[jxl_read_bits(bits, 2)];
    return distribution->offset + jxl_read_bits(bits, distribution->bits);
}

static void jxl_skip_name(jxl_bits *bits)
{
    static const jxl_distribution distributions[4] = {{0, 0}, {4, 0}, {5, 16}, {10, 48}};
    uint32_t length = jxl_read_u32(bits, distributions);
    for (uint32_t i = 0; i < length; i++)
        jxl_read_bits(bits, 8);
}

/* ---------------------------------------------------------------------------------------------
 * Size and metadata
 * ------------------------------------------------------------------------------------------ */

static uint32_t read_length(jxl_bits *bits, bool small)
{
    static const jxl_distribution distributions[4] = {{9, 1}, {13, 1}, {18, 1}, {30, 1}};
    return small ? 8 * (jxl_read_bits(bits, 5) + 1) : jxl_read_u32(bits, distributions);
}

/* The width may be stored as a ratio of the height. */
static void read_jxl_size(jxl_bits *bits, uint32_t *width, uint32_t *height)
{
    static const uint8_t ratios[8][2] = {{1, 1}, {1, 1},  {12, 10}, {4, 3},
                                         {3, 2}, {16, 9}, {5, 4},   {2, 1}};
    bool small = jxl_read_bits(bits, 1);
    *height = read_length(bits, small);
    uint32_t ratio = jxl_read_bits(bits, 3);
    if (ratio == 0)
        *width = read_length(bits, small);
    else
        *width = (uint32_t)((uint64_t)*height * ratios[ratio][0] / ratios[ratio][1]);
}

static void read_depth(jxl_bits *bits, uint32_t *size, uint32_t *exponent)
{
    static const jxl_distribution integers[4] = {{0, 8}, {0, 10}, {0, 12}, {6, 1}};
    static const jxl_distribution floats[4] = {{0, 32}, {0, 16}, {0, 24}, {6, 1}};
    bool is_float = jxl_read_bits(bits, 1);
    *size = jxl_read_u32(bits, is_float ? floats : integers);
    *exponent = is_float ? jxl_read_bits(bits, 4) + 1 : 0;
}

/* Reads the description of an extra channel; returns the name of an unsupported feature, or NULL.
 */
static const char *read_extra_channel(jxl_bits *bits)
{
    static const jxl_distribution types[4] = {{0, 0}, {0, 1}, {4, 2}, {6, 18}};
    static const jxl_distribution shifts[4] = {{0, 0}, {0, 3}, {0, 4}, {3, 1}};
    static const jxl_distribution filters[4] = {{0, 1}, {2, 0}, {4, 3}, {8, 19}};
    enum { ALPHA = 0, SPOT_COLOR = 2, CFA = 5 };
    uint32_t size, exponent;
    if (jxl_read_bits(bits, 1))
        return NULL; /* all_default: alpha of 8 bits */
    uint32_t type = jxl_read_u32(bits, types);
    read_depth(bits, &size, &exponent);
    if (jxl_read_u32(bits, shifts) != 0)
        return "a channel of lower resolution";
    jxl_skip_name(bits);
    if (type == ALPHA)
        jxl_read_bits(bits, 1);
    if (type == SPOT_COLOR)
        for (int i = 0; i < 4; i++)
            jxl_read_bits(bits, 16);
    if (type == CFA)
        jxl_read_u32(bits, filters);
    return NULL;
}

/* Reads metadata up to the flag for ICC profiles; returns the name of an unsupported feature, or
 * NULL. */
static const char *read_metadata(jxl_bits *bits, tz_jxl_info *info)
{
    static const jxl_distribution counts[4] = {{0, 0}, {0, 1}, {4, 2}, {12, 1}};
    const char *unsupported = NULL;
    uint32_t width, height;
    if (jxl_read_bits(bits, 1)) { /* all_default */
        info->bits = 8;
        info->xyb = true;
        return NULL;
    }
    if (jxl_read_bits(bits, 1)) { /* extra_fields */
        if (jxl_read_bits(bits, 3) != 0)
            return "turned pixels";
        if (jxl_read_bits(bits, 1)) /* intrinsic size */
            read_jxl_size(bits, &width, &height);
        if (jxl_read_bits(bits, 1))
            return "a preview";
        if (jxl_read_bits(bits, 1))
            return "an animation";
    }
    read_depth(bits, &info->bits, &info->exponent);
    jxl_read_bits(bits, 1); /* modular_16bit_buffers */
    info->extra_channels = jxl_read_u32(bits, counts);
    for (uint32_t i = 0; !unsupported && i < info->extra_channels; i++)
        unsupported = read_extra_channel(bits);
    if (unsupported)
        return unsupported;
    info->xyb = jxl_read_bits(bits, 1);
    bool default_colors = jxl_read_bits(bits, 1);
    return !default_colors && jxl_read_bits(bits, 1) ? "an ICC profile" : NULL;
}

enum { BOX_JXLC = 0x6A786C63, BOX_JXLP = 0x6A786C70 }; /* "jxlc", and "jxlp": a part of it */

tz_result tz_jxl_read_info(tz_jxl_info *out, const uint8_t *data, size_t size,
                           const tz_codec_call *call)
{
    tz_cursor stream;
    static const uint32_t boxes[2] = {BOX_JXLC, BOX_JXLP};
    const uint32_t box = tz_cursor_find_box(data, size, "JXL ", boxes, &stream);
    if (box == BOX_JXLP)
        return tz_codec_fail_unsupported(call, "JPEG XL: a codestream in several boxes");
    if (box == 0)
        return tz_codec_fail(call, "JPEG XL: no codestream in the boxes");
    tz_jxl_info info = {.stream = stream.at, .stream_size = tz_cursor_left(&stream)};
    const uint8_t *signature = tz_cursor_bytes(&stream, 2);
    if (!signature || signature[0] != 0xFF || signature[1] != 0x0A)
        return tz_codec_fail(call, "JPEG XL: no codestream");
    jxl_bits bits = {stream.at, tz_cursor_left(&stream), 0, false};
    read_jxl_size(&bits, &info.width, &info.height);
    const char *unsupported = read_metadata(&bits, &info);
    if (bits.overrun || info.width == 0)
        return tz_codec_fail(call, "JPEG XL: the header is cut off or empty");
    if (unsupported)
        return tz_codec_fail_unsupported(call, "JPEG XL with %s", unsupported);
    *out = info;
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Frames
 * ------------------------------------------------------------------------------------------ */

enum { FRAME_REGULAR = 0, FRAME_LF = 1, FRAME_REFERENCE = 2, FRAME_SKIP_PROGRESSIVE = 3 };
enum { FLAG_SPLINES = 16, FLAG_USE_LF_FRAME = 32 };
enum { BLEND_REPLACE = 0, BLEND_BLEND = 2, BLEND_MUL_ADD = 3, BLEND_MUL = 4 };

enum {
    MAX_FRAMES = 64,
    MAX_SECTIONS = 65536, /* libjxl's own limit */
    GROUP_SIZE = 128,     /* pixels, times 2^group_size_shift */
    BYTES_PER_SAMPLE = 8  /* an integer and a float */
};

typedef struct jxl_frame {
    uint32_t type;
    bool is_modular;
    bool ycbcr;
    uint64_t flags;
    uint32_t subsampling[3];
    uint32_t upsampling;
    uint32_t group_size_shift;
    uint32_t passes;
    uint32_t lf_level;
    bool is_cropped;
    bool is_partial;
    uint32_t width;
    uint32_t height;
    uint32_t blend_mode;
    bool is_last;
} jxl_frame;

static const jxl_distribution one_two_four_eight[4] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}};
static const jxl_distribution zero_to_three[4] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};

/* ---------------------------------------------------------------------------------------------
 * The header of a frame
 * ------------------------------------------------------------------------------------------ */

static bool is_visible(const jxl_frame *f)
{
    return f->type == FRAME_REGULAR || f->type == FRAME_SKIP_PROGRESSIVE;
}

/* Reads the passes of a progressive frame: only their number matters, for the table of contents. */
static void read_passes(jxl_bits *bits, jxl_frame *f)
{
    static const jxl_distribution counts[4] = {{0, 1}, {0, 2}, {0, 3}, {3, 4}};
    static const jxl_distribution downsamples[4] = {{0, 0}, {0, 1}, {0, 2}, {1, 3}};
    static const jxl_distribution last_passes[4] = {{0, 0}, {0, 1}, {0, 2}, {3, 0}};
    f->passes = jxl_read_u32(bits, counts);
    if (f->passes == 1)
        return;
    uint32_t count = jxl_read_u32(bits, downsamples);
    jxl_read_bits(bits, 2 * (f->passes - 1));
    for (uint32_t i = 0; i < count; i++)
        jxl_read_u32(bits, one_two_four_eight);
    for (uint32_t i = 0; i < count; i++)
        jxl_read_u32(bits, last_passes);
}

static int64_t unpack_signed(uint32_t value)
{
    return value & 1 ? -(int64_t)(value >> 1) - 1 : (int64_t)(value >> 1);
}

/* Reads the position and size of a frame that is not as large as the image. */
static void read_crop(jxl_bits *bits, jxl_frame *f, const tz_jxl_info *info)
{
    static const jxl_distribution sizes[4] = {{8, 0}, {11, 256}, {14, 2304}, {30, 18688}};
    int64_t x = 0, y = 0;
    f->is_cropped = jxl_read_bits(bits, 1);
    if (!f->is_cropped)
        return;
    if (is_visible(f)) {
        x = unpack_signed(jxl_read_u32(bits, sizes));
        y = unpack_signed(jxl_read_u32(bits, sizes));
    }
    f->width = jxl_read_u32(bits, sizes);
    f->height = jxl_read_u32(bits, sizes);
    f->is_partial = is_visible(f) &&
                    (x > 0 || y > 0 || x + f->width < info->width || y + f->height < info->height);
}

/* Reads the blending of colours or of an extra channel; returns its mode. */
static uint32_t read_blending(jxl_bits *bits, const jxl_frame *f, const tz_jxl_info *info)
{
    static const jxl_distribution modes[4] = {{0, 0}, {0, 1}, {0, 2}, {2, 3}};
    static const jxl_distribution channels[4] = {{0, 0}, {0, 1}, {0, 2}, {3, 3}};
    uint32_t mode = jxl_read_u32(bits, modes);
    bool by_alpha = info->extra_channels > 0 && (mode == BLEND_BLEND || mode == BLEND_MUL_ADD);
    if (by_alpha)
        jxl_read_u32(bits, channels);
    if (by_alpha || mode == BLEND_MUL)
        jxl_read_bits(bits, 1);
    if (mode != BLEND_REPLACE || f->is_partial)
        jxl_read_u32(bits, zero_to_three);
    return mode;
}

static void skip_float16s(jxl_bits *bits, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        jxl_read_bits(bits, 16);
}

/* Reads the restoration filter; false: it has an extension. */
static bool read_filter(jxl_bits *bits, const jxl_frame *f)
{
    if (jxl_read_bits(bits, 1)) /* all_default */
        return true;
    if (jxl_read_bits(bits, 1) && jxl_read_bits(bits, 1)) /* gab, gab_custom */
        skip_float16s(bits, 6);
    if (jxl_read_bits(bits, 2) > 0) { /* epf_iters */
        if (!f->is_modular && jxl_read_bits(bits, 1))
            skip_float16s(bits, 8); /* epf_sharp_lut */
        if (jxl_read_bits(bits, 1))
            skip_float16s(bits, 5); /* epf_channel_scale and epf_zeroflush */
        if (jxl_read_bits(bits, 1))
            skip_float16s(bits, f->is_modular ? 3 : 4); /* sigmas */
        if (f->is_modular)
            skip_float16s(bits, 1);
    }
    return jxl_read_u64(bits) == 0;
}

/* Reads a frame's header; false: it has an extension. */
static bool read_frame_header(jxl_bits *bits, jxl_frame *f, const tz_jxl_info *info)
{
    static const jxl_distribution levels[4] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}};
    *f = (jxl_frame){.upsampling = 1,
                     .group_size_shift = 1,
                     .passes = 1,
                     .width = info->width,
                     .height = info->height,
                     .is_last = true};
    if (jxl_read_bits(bits, 1)) /* all_default */
        return true;
    f->type = jxl_read_bits(bits, 2);
    f->is_modular = jxl_read_bits(bits, 1);
    f->flags = jxl_read_u64(bits);
    f->ycbcr = !info->xyb && jxl_read_bits(bits, 1);
    bool uses_lf_frame = f->flags & FLAG_USE_LF_FRAME;
    for (int i = 0; f->ycbcr && !uses_lf_frame && i < 3; i++)
        f->subsampling[i] = jxl_read_bits(bits, 2);
    if (!uses_lf_frame) {
        f->upsampling = jxl_read_u32(bits, one_two_four_eight);
        for (uint32_t i = 0; i < info->extra_channels; i++)
            jxl_read_u32(bits, one_two_four_eight);
    }
    if (f->is_modular)
        f->group_size_shift = jxl_read_bits(bits, 2);
    else if (info->xyb)
        jxl_read_bits(bits, 6); /* x_qm_scale, b_qm_scale */
    if (f->type != FRAME_REFERENCE)
        read_passes(bits, f);
    if (f->type == FRAME_LF)
        f->lf_level = jxl_read_u32(bits, levels);
    else
        read_crop(bits, f, info);

    f->is_last = false;
    if (is_visible(f)) {
        f->blend_mode = read_blending(bits, f, info);
        for (uint32_t i = 0; i < info->extra_channels; i++)
            read_blending(bits, f, info);
        f->is_last = jxl_read_bits(bits, 1);
    }
    if (f->type != FRAME_REGULAR)
        f->is_last = false;
    if (f->type != FRAME_LF && !f->is_last)
        jxl_read_u32(bits, zero_to_three); /* save_as_reference */
    bool resets = !f->is_last && f->blend_mode == BLEND_REPLACE && !f->is_partial && is_visible(f);
    if (resets || f->type == FRAME_REFERENCE)
        jxl_read_bits(bits, 1); /* save_before_ct */
    jxl_skip_name(bits);
    return read_filter(bits, f) && jxl_read_u64(bits) == 0;
}

/* ---------------------------------------------------------------------------------------------
 * Table of contents
 * ------------------------------------------------------------------------------------------ */

/* Counts the sections of a frame, each with an entry in its table of contents. */
static uint64_t count_sections(const jxl_frame *f)
{
    uint64_t group = (uint64_t)GROUP_SIZE << f->group_size_shift;
    uint64_t width = tz_ceil_div(f->width, UINT64_C(1) << (3 * f->lf_level));
    uint64_t height = tz_ceil_div(f->height, UINT64_C(1) << (3 * f->lf_level));
    width = tz_ceil_div(width, f->upsampling);
    height = tz_ceil_div(height, f->upsampling);
    unsigned shift_x = 0, shift_y = 0;
    for (int i = 0; i < 3; i++) { /* modes: none, both, horizontal, vertical */
        shift_x |= f->subsampling[i] == 1 || f->subsampling[i] == 2;
        shift_y |= f->subsampling[i] == 1 || f->subsampling[i] == 3;
    }
    uint64_t blocks_x = tz_ceil_div(width, 8u << shift_x) << shift_x;
    uint64_t blocks_y = tz_ceil_div(height, 8u << shift_y) << shift_y;
    uint64_t groups = tz_ceil_div(width, group) * tz_ceil_div(height, group);
    uint64_t lf_groups = tz_ceil_div(blocks_x, group) * tz_ceil_div(blocks_y, group);
    return groups == 1 && f->passes == 1 ? 1 : 2 + lf_groups + groups * f->passes;
}

static void align_to_byte(jxl_bits *bits)
{
    bits->position = (bits->position + 7) / 8 * 8;
}

/* Moves past the data of the frame. Permuted sections are not followed: false. */
static bool skip_sections(jxl_bits *bits, const jxl_frame *f)
{
    static const jxl_distribution sizes[4] = {{10, 0}, {14, 1024}, {22, 17408}, {30, 4211712}};
    uint64_t count = count_sections(f), total = 0;
    if (count > MAX_SECTIONS)
        bits->overrun = true;
    if (jxl_read_bits(bits, 1)) /* permuted */
        return false;
    align_to_byte(bits);
    for (uint64_t i = 0; !bits->overrun && i < count; i++)
        total += jxl_read_u32(bits, sizes);
    align_to_byte(bits);
    if (bits->overrun || total > bits->size - bits->position / 8)
        bits->overrun = true;
    else
        bits->position += total * 8;
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * All frames
 * ------------------------------------------------------------------------------------------ */

tz_result tz_jxl_check_frames(const tz_jxl_info *info, size_t first, const tz_codec_call *call)
{
    jxl_bits bits = {info->stream, info->stream_size, first * 8, false};
    uint64_t memory = 0;
    for (unsigned i = 0; i < MAX_FRAMES; i++) {
        jxl_frame f;
        bool is_known = read_frame_header(&bits, &f, info);
        if (bits.overrun)
            return tz_codec_fail(call, "JPEG XL: frames are cut off");
        if (!is_known)
            return tz_codec_fail_unsupported(call, "JPEG XL with extensions");
        if (f.flags & FLAG_SPLINES)
            return tz_codec_fail_unsupported(call, "JPEG XL with splines");
        if (f.width == 0 || f.height == 0 ||
            (is_visible(&f) && (f.width > info->width || f.height > info->height)))
            return tz_codec_fail(call, "JPEG XL: a frame of %u x %u in an image of %u x %u",
                                 f.width, f.height, info->width, info->height);
        memory =
            tz_add_capped(memory, tz_mul_capped((uint64_t)f.width * f.height,
                                                (3u + info->extra_channels) * BYTES_PER_SAMPLE));
        TZ_TRY(tz_codec_check_memory(call, memory, "bytes of memory for libjxl"));
        bool followed = skip_sections(&bits, &f);
        if (bits.overrun)
            return tz_codec_fail(call, "JPEG XL: a frame is cut off");
        if (f.is_last)
            return TZ_OK;
        if (!followed)
            return tz_codec_fail_unsupported(
                call, "JPEG XL: permuted sections in a frame that is not the last");
    }
    return tz_codec_fail(call, "JPEG XL: more than %d frames", MAX_FRAMES);
}
