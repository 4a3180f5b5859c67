/* SPDX-License-Identifier: Apache-2.0
 * JPEG XL: tiles made by libjxl itself, then broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jxl/decode.h>
#include <jxl/encode.h>
#ifdef TZ_HAVE_JPEG
#include <stdio.h>

#include <jpeglib.h>
#endif

#include "codec/jxl_headers.h"
#include "support/codec/codec_run.h"

/* ---------------------------------------------------------------------------------------------
 * Streams
 * ------------------------------------------------------------------------------------------ */

typedef struct setting {
    JxlEncoderFrameSettingId id;
    int32_t value;
} setting;

typedef struct recipe {
    unsigned width, height;
    unsigned colors;  /* 1 or 3 */
    unsigned extra;   /* channels beyond */
    bool alpha;       /* the first of them is alpha */
    bool together;    /* and given together with the colours */
    JxlDataType type; /* (float) */
    float distance;   /* 0: lossless */
    bool container;
    bool letters; /* a picture that repeats itself, as text does */
    setting settings[2];
    JxlOrientation orientation;
} recipe;

typedef struct stream {
    uint8_t *data;
    size_t size;
} stream;

static size_t size_of(JxlDataType type)
{
    return type == JXL_TYPE_UINT8 ? 1 : type == JXL_TYPE_FLOAT ? 4 : 2;
}

/* Samples of any type from bytes; halves are made of numbers that they hold exactly. */
static void store(uint8_t *out, JxlDataType type, uint8_t value)
{
    uint16_t wide = (uint16_t)(value * 257u), half = (uint16_t)(0x3800 + value);
    float real = (float)value / 255.0f;
    if (type == JXL_TYPE_UINT8)
        *out = value;
    else if (type == JXL_TYPE_UINT16)
        memcpy(out, &wide, 2);
    else if (type == JXL_TYPE_FLOAT16)
        memcpy(out, &half, 2);
    else
        memcpy(out, &real, 4);
}

/* A few shapes, the same over and over again, on a plain ground. */
static void write_letters(uint8_t *picture, const recipe *r, unsigned samples)
{
    memset(picture, 250, (size_t)r->width * r->height * samples);
    for (unsigned y = 4; y + 14 < r->height; y += 16)
        for (unsigned x = 4; x + 10 < r->width; x += 12)
            for (unsigned i = 0; i < 9 * 7; i++)
                if ((0x5D6B3F1C2A94ull >> ((i * 7 + x / 12 % 3 * 5) % 47)) & 1)
                    memset(picture + (((size_t)y + i / 7) * r->width + x + i % 7) * samples, 20,
                           samples);
}

/* All samples of all pixels, as the tile has them. */
static uint8_t *make_samples(const recipe *r)
{
    unsigned samples = r->colors + r->extra;
    size_t count = (size_t)r->width * r->height * samples;
    uint8_t *picture = run_picture(r->width, r->height, samples);
    uint8_t *out = run_alloc(count * size_of(r->type));
    if (r->letters)
        write_letters(picture, r, samples);
    for (size_t i = 0; i < count; i++)
        store(out + i * size_of(r->type), r->type, picture[i]);
    free(picture);
    return out;
}

/* Some of the samples of every pixel. */
static uint8_t *pick(const recipe *r, const uint8_t *samples, unsigned first, unsigned count)
{
    size_t size = size_of(r->type), all = (r->colors + r->extra) * size;
    size_t pixels = (size_t)r->width * r->height;
    uint8_t *picked = run_alloc(pixels * count * size);
    for (size_t i = 0; i < pixels; i++)
        memcpy(picked + i * count * size, samples + i * all + first * size, count * size);
    return picked;
}

static void set_up(JxlEncoder *encoder, const recipe *r)
{
    JxlBasicInfo info;
    JxlColorEncoding color;
    JxlEncoderInitBasicInfo(&info);
    info.xsize = r->width;
    info.ysize = r->height;
    info.bits_per_sample = (uint32_t)size_of(r->type) * 8;
    info.exponent_bits_per_sample = r->type == JXL_TYPE_FLOAT     ? 8
                                    : r->type == JXL_TYPE_FLOAT16 ? 5
                                                                  : 0;
    info.num_color_channels = r->colors;
    info.num_extra_channels = r->extra;
    info.uses_original_profile = r->distance == 0;
    info.orientation = r->orientation ? r->orientation : JXL_ORIENT_IDENTITY;
    if (r->alpha) {
        info.alpha_bits = info.bits_per_sample;
        info.alpha_exponent_bits = info.exponent_bits_per_sample;
    }
    if (r->type == JXL_TYPE_UINT16 || r->type == JXL_TYPE_FLOAT)
        assert_int_equal(JxlEncoderSetCodestreamLevel(encoder, 10), JXL_ENC_SUCCESS);
    if (r->extra > 4)
        JxlEncoderSetCodestreamLevel(encoder, 10);
    JxlEncoderUseContainer(encoder, r->container);
    assert_int_equal(JxlEncoderSetBasicInfo(encoder, &info), JXL_ENC_SUCCESS);
    for (unsigned i = 0; i < r->extra; i++) {
        JxlExtraChannelInfo channel;
        bool alpha = i == 0 && r->alpha;
        JxlEncoderInitExtraChannelInfo(alpha ? JXL_CHANNEL_ALPHA : JXL_CHANNEL_OPTIONAL, &channel);
        channel.bits_per_sample = info.bits_per_sample;
        channel.exponent_bits_per_sample = info.exponent_bits_per_sample;
        assert_int_equal(JxlEncoderSetExtraChannelInfo(encoder, i, &channel), JXL_ENC_SUCCESS);
    }
    JxlColorEncodingSetToSRGB(&color, r->colors == 1);
    assert_int_equal(JxlEncoderSetColorEncoding(encoder, &color), JXL_ENC_SUCCESS);
}

static void add_frame(JxlEncoder *encoder, const recipe *r, const uint8_t *samples)
{
    size_t size = size_of(r->type), pixels = (size_t)r->width * r->height;
    JxlEncoderFrameSettings *settings = JxlEncoderFrameSettingsCreate(encoder, NULL);
    JxlEncoderSetFrameLossless(settings, r->distance == 0);
    if (r->distance > 0)
        JxlEncoderSetFrameDistance(settings, r->distance);
    for (int i = 0; i < 2; i++)
        if (r->settings[i].value)
            assert_int_equal(
                JxlEncoderFrameSettingsSetOption(settings, r->settings[i].id, r->settings[i].value),
                JXL_ENC_SUCCESS);
    unsigned together = r->colors + (r->together ? 1 : 0);
    JxlPixelFormat format = {together, r->type, JXL_NATIVE_ENDIAN, 0};
    uint8_t *main_samples = pick(r, samples, 0, together);
    assert_int_equal(
        JxlEncoderAddImageFrame(settings, &format, main_samples, pixels * together * size),
        JXL_ENC_SUCCESS);
    format.num_channels = 1;
    for (unsigned i = r->together ? 1 : 0; i < r->extra; i++) {
        uint8_t *plane = pick(r, samples, r->colors + i, 1);
        assert_int_equal(
            JxlEncoderSetExtraChannelBuffer(settings, &format, plane, pixels * size, i),
            JXL_ENC_SUCCESS);
        free(plane);
    }
    free(main_samples);
}

static stream encode(const recipe *r, const uint8_t *samples)
{
    JxlEncoder *encoder = JxlEncoderCreate(NULL);
    assert_non_null(encoder);
    set_up(encoder, r);
    add_frame(encoder, r, samples);
    JxlEncoderCloseInput(encoder);
    size_t capacity = 1 << 21;
    stream s = {run_alloc(capacity), 0};
    uint8_t *next = s.data;
    size_t left = capacity;
    assert_int_equal(JxlEncoderProcessOutput(encoder, &next, &left), JXL_ENC_SUCCESS);
    s.size = capacity - left;
    JxlEncoderDestroy(encoder);
    return s;
}

typedef struct fixture {
    codec_run run;
    recipe recipe;
    uint8_t *samples;
    stream s;
    tz_tile_format format;
} fixture;

static void begin(fixture *f, recipe r)
{
    bool is_float = r.type == JXL_TYPE_FLOAT || r.type == JXL_TYPE_FLOAT16;
    f->recipe = r;
    f->samples = make_samples(&r);
    f->s = encode(&r, f->samples);
    f->format = (tz_tile_format){.width = r.width,
                                 .height = r.height,
                                 .samples = (uint16_t)(r.colors + r.extra),
                                 .bits = (uint16_t)(size_of(r.type) * 8),
                                 .sample_format = is_float ? 3 : 1,
                                 .compression = 50002,
                                 .photometric = r.colors == 1 ? 1 : 2};
    run_open(&f->run, &tz_decoder_jxl);
}

static void end(fixture *f)
{
    free(f->samples);
    free(f->s.data);
    run_close(&f->run);
}

static void check_round_trip(recipe r)
{
    fixture f;
    begin(&f, r);
    uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
    if (r.distance == 0)
        assert_memory_equal(out, f.samples, tz_tile_bytes(&f.format));
    bench_silent(&f.run.bench);
    free(out);
    end(&f);
}

#define BYTES  .type = JXL_TYPE_UINT8
#define SHORTS .type = JXL_TYPE_UINT16
#define HALVES .type = JXL_TYPE_FLOAT16
#define FLOATS .type = JXL_TYPE_FLOAT

/* ---------------------------------------------------------------------------------------------
 * Streams that are in order
 * ------------------------------------------------------------------------------------------ */

static void lossless_samples_come_back(void **state)
{
    (void)state;
    /* floats of 33 x 1 are beyond the encoder of libjxl 0.7 */
    static const unsigned sizes[][2] = {{1, 1}, {15, 17}, {64, 64}, {300, 20}, {33, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (unsigned colors = 1; colors <= 3; colors += 2) {
            check_round_trip((recipe){sizes[i][0], sizes[i][1], colors, BYTES});
            check_round_trip((recipe){sizes[i][0], sizes[i][1], colors, SHORTS});
            if (sizes[i][0] != 33)
                check_round_trip((recipe){sizes[i][0], sizes[i][1], colors, FLOATS});
            check_round_trip((recipe){sizes[i][0], sizes[i][1], colors, HALVES});
        }
}

static void extra_channels_come_back(void **state)
{
    (void)state;
    for (unsigned colors = 1; colors <= 3; colors += 2) {
        check_round_trip(
            (recipe){40, 30, colors, BYTES, .extra = 1, .alpha = true, .together = true});
        check_round_trip((recipe){40, 30, colors, BYTES, .extra = 1});
        check_round_trip((recipe){40, 30, colors, BYTES, .extra = 3, .alpha = true});
        check_round_trip((recipe){40, 30, colors, SHORTS, .extra = 2});
        check_round_trip((recipe){40, 30, colors, FLOATS, .extra = 1, .alpha = true});
    }
    check_round_trip((recipe){40, 30, 1, BYTES, .extra = 6});
}

static void containers_are_read(void **state)
{
    (void)state;
    check_round_trip((recipe){40, 30, 3, BYTES, .container = true});
}

/* Decodes by libjxl alone. */
static uint8_t *reference(const fixture *f)
{
    JxlPixelFormat format = {f->format.samples, f->recipe.type, JXL_NATIVE_ENDIAN, 0};
    uint8_t *out = run_alloc(tz_tile_bytes(&f->format));
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    JxlDecoderSubscribeEvents(decoder, JXL_DEC_FULL_IMAGE);
    JxlDecoderSetInput(decoder, f->s.data, f->s.size);
    assert_int_equal(JxlDecoderProcessInput(decoder), JXL_DEC_NEED_IMAGE_OUT_BUFFER);
    assert_int_equal(JxlDecoderSetImageOutBuffer(decoder, &format, out, tz_tile_bytes(&f->format)),
                     JXL_DEC_SUCCESS);
    assert_int_equal(JxlDecoderProcessInput(decoder), JXL_DEC_FULL_IMAGE);
    JxlDecoderDestroy(decoder);
    return out;
}

/* Hidden frames (patches, coarse versions), many groups, groups in another order, several passes.
 */
static void every_way_to_encode_gives_libjxls_pixels(void **state)
{
    (void)state;
    static const recipe recipes[] = {
        {200, 150, 3, BYTES, .distance = 1},
        {600, 300, 3, BYTES, .distance = 1},
        {600, 300, 1, SHORTS, .distance = 2},
        {600, 300, 3, BYTES, .extra = 1, .alpha = true, .together = true, .distance = 1},
        {256, 256, 3, BYTES, .distance = 1, .letters = true},
        {256, 256, 3, BYTES, .letters = true, .settings = {{JXL_ENC_FRAME_SETTING_EFFORT, 8}}},
        {600, 300, 3, BYTES, .distance = 1,
         .settings = {{JXL_ENC_FRAME_SETTING_PROGRESSIVE_DC, 1}}},
        {600, 300, 3, BYTES, .distance = 1,
         .settings = {{JXL_ENC_FRAME_SETTING_PROGRESSIVE_AC, 1}}},
        {600, 300, 3, BYTES, .distance = 1,
         .settings = {{JXL_ENC_FRAME_SETTING_QPROGRESSIVE_AC, 1}}},
        {600, 600, 3, BYTES, .distance = 1, .settings = {{JXL_ENC_FRAME_SETTING_GROUP_ORDER, 1}}},
        {600, 300, 3, BYTES, .settings = {{JXL_ENC_FRAME_SETTING_RESPONSIVE, 1}}},
        {600, 300, 3, BYTES, .settings = {{JXL_ENC_FRAME_SETTING_MODULAR_GROUP_SIZE, 3}}},
        {300, 200, 3, BYTES, .distance = 1, .settings = {{JXL_ENC_FRAME_SETTING_RESAMPLING, 2}}},
        {300, 200, 3, BYTES, .distance = 2, .settings = {{JXL_ENC_FRAME_SETTING_MODULAR, 1}}},
        {300, 200, 3, BYTES, .distance = 3,
         .settings = {{JXL_ENC_FRAME_SETTING_EPF, 3}, {JXL_ENC_FRAME_SETTING_GABORISH, 1}}},
        {300, 200, 1, FLOATS, .distance = 1},
    };
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
        fixture f;
        begin(&f, recipes[i]);
        uint8_t *expected = reference(&f);
        uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        assert_memory_equal(out, expected, tz_tile_bytes(&f.format));
        bench_silent(&f.run.bench);
        free(out);
        free(expected);
        end(&f);
    }
}

#ifdef TZ_HAVE_JPEG
/* A JPEG file within, with coarser chroma: YCbCr, and blocks that are not square. */
static stream wrap_jpeg(unsigned width, unsigned height, int h, int v)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    uint8_t *pixels = run_picture(width, height, 3), *jpeg = NULL;
    unsigned long jpeg_size = 0;
    memset(&c, 0, sizeof c);
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &jpeg, &jpeg_size);
    c.image_width = width;
    c.image_height = height;
    c.input_components = 3;
    c.in_color_space = JCS_RGB;
    jpeg_set_defaults(&c);
    c.comp_info[0].h_samp_factor = h;
    c.comp_info[0].v_samp_factor = v;
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < height) {
        JSAMPROW row = pixels + (size_t)c.next_scanline * width * 3;
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    stream s = {run_alloc(1 << 20), 1 << 20};
    JxlEncoder *encoder = JxlEncoderCreate(NULL);
    JxlEncoderFrameSettings *settings = JxlEncoderFrameSettingsCreate(encoder, NULL);
    assert_int_equal(JxlEncoderAddJPEGFrame(settings, jpeg, jpeg_size), JXL_ENC_SUCCESS);
    JxlEncoderCloseInput(encoder);
    uint8_t *next = s.data;
    size_t left = s.size;
    assert_int_equal(JxlEncoderProcessOutput(encoder, &next, &left), JXL_ENC_SUCCESS);
    s.size -= left;
    JxlEncoderDestroy(encoder);
    free(pixels);
    free(jpeg);
    return s;
}

static void jpeg_files_within_give_libjxls_pixels(void **state)
{
    (void)state;
    static const int sampling[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}};
    for (size_t i = 0; i < 4; i++) {
        fixture f;
        begin(&f, (recipe){530, 300, 3, BYTES});
        free(f.s.data);
        f.s = wrap_jpeg(530, 300, sampling[i][0], sampling[i][1]);
        uint8_t *expected = reference(&f);
        uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        assert_memory_equal(out, expected, tz_tile_bytes(&f.format));
        free(out);
        free(expected);
        end(&f);
    }
}
#endif

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){30, 20, 3, BYTES, .extra = 2});
    run_without_memory(&tz_decoder_jxl, &f.format, f.s.data, f.s.size);
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Case 56
 * ------------------------------------------------------------------------------------------ */

static void case_56_sizes_that_are_not_the_tiles(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{41, 30}, {39, 30}, {40, 31}, {40, 29}, {1, 1}};
    fixture f;
    begin(&f, (recipe){40, 30, 3, BYTES});
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        f.format.width = sizes[i][0];
        f.format.height = sizes[i][1];
        alloc_hook_install();
        run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "40 x 30");
        assert_int_equal(alloc_hook_stats().allocations, 0);
        alloc_hook_remove();
    }
    end(&f);
}

/* A stream that begins with 2^30 x 2^30 pixels. */
static void case_56_the_largest_image_there_is(void **state)
{
    (void)state;
    static const uint8_t huge[] = {0xFF, 0x0A, 0xFE, 0xFF, 0xFF, 0xFF, 0x1F, 0xF8,
                                   0xFF, 0xFF, 0xFF, 0x0F, 0x00, 0x00, 0x00, 0x00};
    fixture f;
    begin(&f, (recipe){40, 30, 3, BYTES});
    run_refuses(&f.run, &f.format, huge, sizeof huge, REFUSED_CODEC);
    end(&f);
}

static void case_56_channels_and_types(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){40, 30, 3, BYTES, .extra = 1});
    for (uint16_t samples = 1; samples < 7; samples++) {
        f.format.samples = samples;
        if (samples != 4)
            run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    }
    f.format.samples = 4;
    f.format.bits = 16;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "bits");
    f.format.sample_format = 3;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "bits");
    f.format.sample_format = 2;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_UNSUPPORTED);
    f.format.sample_format = 1;
    f.format.bits = 32;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_UNSUPPORTED);
    end(&f);
    begin(&f, (recipe){40, 30, 1, HALVES});
    f.format.sample_format = 1;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "float");
    end(&f);
}

static void turned_pixels_are_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){40, 30, 3, BYTES, .orientation = JXL_ORIENT_ROTATE_90_CW});
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_UNSUPPORTED, "turned");
    end(&f);
}

static void memory_beyond_the_limit(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){256, 256, 3, BYTES});
    f.run.bench.limits.max_codec_bytes = 256 * 256 * 3 * 8 - 1;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT, "max_codec_bytes");
    f.run.bench.limits.max_codec_bytes = 256 * 256 * 3 * 8;
    free(run_decode(&f.run, &f.format, f.s.data, f.s.size));
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Frames made by hand: bits, the lowest first
 * ------------------------------------------------------------------------------------------ */

typedef struct writer {
    uint8_t data[64];
    size_t position;
} writer;

static void put(writer *w, uint32_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++, w->position++)
        if (value >> i & 1)
            w->data[w->position / 8] |= (uint8_t)(1u << w->position % 8);
}

/* The header of a frame of this size, up to where the next field would say how it is blended. */
static writer frame_of(uint32_t type, uint32_t width, uint32_t height)
{
    writer w = {{0}, 0};
    put(&w, 0, 1); /* not all_default */
    put(&w, type, 2);
    put(&w, 1, 1); /* modular */
    put(&w, 0, 2); /* no flags */
    put(&w, 0, 1); /* not YCbCr */
    put(&w, 0, 2); /* upsampling 1 */
    put(&w, 1, 2); /* group size 256 */
    if (type != 2)
        put(&w, 0, 2); /* one pass */
    put(&w, 1, 1);     /* a size of its own */
    if (type != 2) {
        put(&w, 0, 2), put(&w, 0, 8); /* x0, y0 */
        put(&w, 0, 2), put(&w, 0, 8);
    }
    put(&w, 3, 2), put(&w, width - 18688, 30);
    put(&w, 3, 2), put(&w, height - 18688, 30);
    if (type != 2) {
        put(&w, 0, 2); /* replaces */
        put(&w, 1, 1); /* is_last */
    } else {
        put(&w, 1, 2); /* save_as_reference */
        put(&w, 1, 1); /* save_before_ct */
    }
    put(&w, 0, 2); /* no name */
    put(&w, 1, 1); /* default filter */
    put(&w, 0, 2); /* no extensions */
    return w;
}

static tz_result check_frames(codec_run *run, const writer *w, size_t size)
{
    tz_jxl_info info = {
        .stream = w->data, .stream_size = size, .width = 40, .height = 30, .bits = 8};
    tz_codec_call call = {&run->bench.ctx, tz_at_tile(0, false, 7, 1000)};
    return tz_jxl_check_frames(&info, 0, &call);
}

/* libjxl would allocate the frame, whatever the size of the image. */
static void case_56_frames_larger_than_the_image(void **state)
{
    (void)state;
    codec_run run;
    run_open(&run, &tz_decoder_jxl);
    writer visible = frame_of(0, 65536, 65536);
    assert_int_equal(check_frames(&run, &visible, sizeof visible.data), TZ_ERR_FORMAT);
    assert_int_equal(run.bench.err.cause, TZ_CAUSE_CODEC);
    assert_non_null(strstr(run.bench.err.message, "65536 x 65536"));
    writer hidden = frame_of(2, 65536, 65536);
    assert_int_equal(check_frames(&run, &hidden, sizeof hidden.data), TZ_ERR_LIMIT);
    assert_string_equal(run.bench.err.limit, "max_codec_bytes");
    writer largest = frame_of(2, 1u << 30, 1u << 30);
    run.bench.limits.max_codec_bytes = UINT64_MAX;
    assert_int_equal(check_frames(&run, &largest, sizeof largest.data), TZ_ERR_FORMAT);
    run_close(&run);
}

/* Splines, extensions: refused by name before libjxl sees them. */
static void frames_with_splines_or_extensions(void **state)
{
    (void)state;
    codec_run run;
    run_open(&run, &tz_decoder_jxl);
    writer splines = {{0}, 0};
    put(&splines, 0, 1), put(&splines, 0, 2), put(&splines, 1, 1);
    put(&splines, 1, 2), put(&splines, 15, 4); /* flags: 16 */
    put(&splines, 0, 1), put(&splines, 0, 2), put(&splines, 1, 2), put(&splines, 0, 2);
    put(&splines, 0, 1), put(&splines, 0, 2), put(&splines, 1, 1), put(&splines, 0, 2);
    put(&splines, 1, 1), put(&splines, 0, 2);
    assert_int_equal(check_frames(&run, &splines, sizeof splines.data), TZ_ERR_UNSUPPORTED);
    assert_non_null(strstr(run.bench.err.message, "splines"));
    writer extended = {{0}, 0};
    put(&extended, 0, 1), put(&extended, 0, 2), put(&extended, 1, 1), put(&extended, 0, 2);
    put(&extended, 0, 1), put(&extended, 0, 2), put(&extended, 1, 2), put(&extended, 0, 2);
    put(&extended, 0, 1), put(&extended, 0, 2), put(&extended, 1, 1), put(&extended, 0, 2);
    put(&extended, 0, 1);                       /* a filter of its own: */
    put(&extended, 1, 1), put(&extended, 1, 1); /* with weights */
    for (int i = 0; i < 6; i++)
        put(&extended, 0x3C00, 16);
    put(&extended, 1, 2); /* and with edges: weights, sigmas */
    put(&extended, 1, 1);
    for (int i = 0; i < 5; i++)
        put(&extended, 0x3C00, 16);
    put(&extended, 1, 1);
    for (int i = 0; i < 4; i++)
        put(&extended, 0x3C00, 16);
    put(&extended, 0, 2); /* no extension of the filter */
    put(&extended, 3, 2), put(&extended, 5, 12), put(&extended, 0, 1);
    assert_int_equal(check_frames(&run, &extended, sizeof extended.data), TZ_ERR_UNSUPPORTED);
    assert_non_null(strstr(run.bench.err.message, "extensions"));
    run_close(&run);
}

static void codestreams_in_several_boxes_are_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){40, 30, 3, BYTES, .container = true});
    size_t at = 0;
    while (at + 4 < f.s.size && memcmp(f.s.data + at, "jxlc", 4) != 0)
        at++;
    assert_true(at + 4 < f.s.size);
    f.s.data[at + 3] = 'p';
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_UNSUPPORTED, "boxes");
    f.s.data[at + 3] = 'x';
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "boxes");
    end(&f);
}

static void frames_without_end(void **state)
{
    (void)state;
    codec_run run;
    run_open(&run, &tz_decoder_jxl);
    uint8_t *frames = run_alloc(10000);
    writer hidden = {{0}, 0};
    put(&hidden, 0, 1), put(&hidden, 2, 2), put(&hidden, 1, 1), put(&hidden, 0, 2);
    put(&hidden, 0, 1), put(&hidden, 0, 2), put(&hidden, 1, 2);
    put(&hidden, 1, 1), put(&hidden, 0, 2), put(&hidden, 8, 8), put(&hidden, 0, 2);
    put(&hidden, 8, 8), put(&hidden, 1, 2), put(&hidden, 1, 1), put(&hidden, 0, 2);
    put(&hidden, 1, 1), put(&hidden, 0, 2);
    put(&hidden, 0, 1); /* sections in order */
    hidden.position = (hidden.position + 7) / 8 * 8;
    put(&hidden, 0, 12); /* one, of no bytes */
    size_t size = (hidden.position + 7) / 8;
    for (size_t at = 0; at + size <= 10000; at += size)
        memcpy(frames + at, hidden.data, size);
    tz_jxl_info info = {
        .stream = frames, .stream_size = 10000 / size * size, .width = 40, .height = 30, .bits = 8};
    tz_codec_call call = {&run.bench.ctx, tz_at_tile(0, false, 7, 1000)};
    assert_int_equal(tz_jxl_check_frames(&info, 0, &call), TZ_ERR_FORMAT);
    assert_non_null(strstr(run.bench.err.message, "frames"));
    free(frames);
    run_close(&run);
}

/* ---------------------------------------------------------------------------------------------
 * Damage
 * ------------------------------------------------------------------------------------------ */

static void streams_cut_short_are_errors(void **state)
{
    (void)state;
    for (int container = 0; container < 2; container++) {
        fixture f;
        begin(&f, (recipe){40, 30, 3, BYTES, .container = container});
        for (size_t size = 0; size < f.s.size; size += size < 40 ? 1 : 13)
            run_refuses(&f.run, &f.format, f.s.data, size, REFUSED_CODEC);
        end(&f);
    }
}

static void damaged_bytes_never_show_what_the_buffer_held(void **state)
{
    (void)state;
    static const recipe recipes[] = {{40, 30, 3, BYTES},
                                     {40, 30, 1, SHORTS, .extra = 1},
                                     {40, 30, 3, BYTES, .distance = 1},
                                     {40, 30, 3, FLOATS, .container = true}};
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
        fixture f;
        begin(&f, recipes[i]);
        uint8_t *before = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        run_damaged(&f.run, &f.format, f.s.data, f.s.size, 1000);
        uint8_t *after = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        assert_memory_equal(before, after, tz_tile_bytes(&f.format));
        free(before);
        free(after);
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lossless_samples_come_back),
        cmocka_unit_test(extra_channels_come_back),
        cmocka_unit_test(containers_are_read),
        cmocka_unit_test(every_way_to_encode_gives_libjxls_pixels),
#ifdef TZ_HAVE_JPEG
        cmocka_unit_test(jpeg_files_within_give_libjxls_pixels),
#endif
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(case_56_sizes_that_are_not_the_tiles),
        cmocka_unit_test(case_56_the_largest_image_there_is),
        cmocka_unit_test(case_56_channels_and_types),
        cmocka_unit_test(turned_pixels_are_refused),
        cmocka_unit_test(memory_beyond_the_limit),
        cmocka_unit_test(case_56_frames_larger_than_the_image),
        cmocka_unit_test(frames_with_splines_or_extensions),
        cmocka_unit_test(codestreams_in_several_boxes_are_refused),
        cmocka_unit_test(frames_without_end),
        cmocka_unit_test(streams_cut_short_are_errors),
        cmocka_unit_test(damaged_bytes_never_show_what_the_buffer_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
