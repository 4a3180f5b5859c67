/* SPDX-License-Identifier: Apache-2.0
 * The table of codecs, what all of them share, and the codec that does nothing. */
#include "support/codec/bit_writer.h"
#include "support/codec/codec_run.h"

static tz_tile_format make_format(uint32_t width, uint32_t height, uint16_t compression)
{
    return (tz_tile_format){.width = width,
                            .height = height,
                            .samples = 1,
                            .bits = 8,
                            .sample_format = 1,
                            .compression = compression};
}

/* Finding codecs ------------------------------------------------------------------------------- */

static void every_codec_is_found_by_each_of_its_numbers(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    unsigned count = 0;
    for (const tz_codec *codec = tz_codecs; codec < tz_codecs + TZ_CODEC_COUNT; codec++) {
        assert_non_null(codec->name);
        assert_int_not_equal(codec->infos[0].compression, 0);
        if (!codec->decoder)
            continue;
        assert_non_null(codec->decoder->decode);
        for (const tz_codec_info *info = codec->infos; info->name; info++) {
            for (int k = -1; k < 3 && (k < 0 || info->other_compressions[k] != 0); k++) {
                const uint16_t number = k < 0 ? info->compression : info->other_compressions[k];
                const tz_decoder *found = NULL;
                assert_ptr_equal(tz_codec_find(number), codec);
                assert_string_equal(tz_compression_name(number), info->name);
                assert_int_equal(tz_decoder_find(number, &b.ctx, &found), TZ_OK);
                assert_ptr_equal(found, codec->decoder);
                count++;
            }
        }
    }
    assert_true(count >= 7);
    bench_deinit(&b);
}

/* All that the library may have: found, or missing with the name of what it takes. */
static void what_a_build_lacks_is_named(void **state)
{
    (void)state;
    static const struct {
        uint16_t number;
        const char *text;
    } codecs[] = {
        {8, "Deflate (8) needs libdeflate"},           {32946, "Deflate (32946) needs libdeflate"},
        {50000, "ZSTD (50000) needs libzstd"},         {34925, "LZMA (34925) needs liblzma"},
        {50004, "LZ4 (50004) needs liblz4"},           {7, "JPEG (7) needs libjpeg-turbo"},
        {6, "old-style JPEG (6) needs libjpeg-turbo"}, {50001, "WebP (50001) needs libwebp"},
        {34712, "JPEG 2000 (34712) needs OpenJPEG"},   {33003, "JPEG 2000 (33003) needs OpenJPEG"},
        {33005, "JPEG 2000 (33005) needs OpenJPEG"},   {50002, "JPEG XL (50002) needs libjxl"},
        {52546, "JPEG XL (52546) needs libjxl"},
    };
    bench b;
    bench_init(&b);
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        const tz_decoder *codec = NULL;
        if (tz_decoder_find(codecs[i].number, &b.ctx, &codec) == TZ_OK)
            continue;
        assert_null(codec);
        assert_int_equal(b.err.result, TZ_ERR_UNSUPPORTED);
        assert_int_equal(b.err.cause, TZ_CAUSE_UNSUPPORTED);
        assert_non_null(strstr(b.err.message, codecs[i].text));
        assert_non_null(strstr(b.err.message, "which this build does not have"));
    }
    bench_deinit(&b);
}

/* Our decoder needs no library, but the encoder does. */
static void what_only_writing_needs_is_named(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    const tz_encoder *encoder = NULL;
    const tz_decoder *decoder = NULL;
    assert_int_equal(tz_decoder_find(34887, &b.ctx, &decoder), TZ_OK);
    if (tz_encoder_find(34887, &b.ctx, &encoder) != TZ_OK) {
        assert_int_equal(b.err.result, TZ_ERR_UNSUPPORTED);
        assert_non_null(strstr(b.err.message, "LERC writing (34887) needs liblerc"));
    }
    assert_string_equal(tz_codec_find(34887)->infos[0].library, "liblerc");
    bench_deinit(&b);
}

static void case_57_what_has_no_decoder_is_named(void **state)
{
    (void)state;
    static const struct {
        uint16_t number;
        const char *text;
    } codecs[] = {{0, "compression 0 (unknown)"},
                  {34661, "compression 34661 (JBIG)"},
                  {65000, "compression 65000 (unknown)"}};
    bench b;
    bench_init(&b);
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        const tz_decoder *codec = NULL;
        assert_int_equal(tz_decoder_find(codecs[i].number, &b.ctx, &codec), TZ_ERR_UNSUPPORTED);
        assert_int_equal(b.err.cause, TZ_CAUSE_UNSUPPORTED);
        assert_non_null(strstr(b.err.message, codecs[i].text));
    }
    bench_deinit(&b);
}

/* Readers decode these straight into the caller's rows. That nothing between the rows is touched is
 * checked by run_decode, in the tests of each codec. */
static void codecs_that_write_rows_apart_say_so(void **state)
{
    (void)state;
    static const char *const names[] = {"none", "packbits", "ccitt",    "lerc",
                                        "jpeg", "webp",     "jpeg2000", "jpegxl"};
    unsigned found = 0, by_name = 0;
    for (const tz_codec *codec = tz_codecs; codec < tz_codecs + TZ_CODEC_COUNT; codec++) {
        if (!codec->decoder)
            continue;
        found += codec->decoder->flags & TZ_DECODER_ANY_STRIDE ? 1 : 0;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            if (strcmp(codec->name, names[i]) != 0)
                continue;
            by_name++;
            assert_true(codec->decoder->flags & TZ_DECODER_ANY_STRIDE);
        }
    }
    assert_int_equal(found, by_name);
    assert_true(by_name >= 4);
}

/* LERC needs no library: 4 x 4 pixels that are all 5, as a blob of version 2. */
static const uint8_t lerc_blob[] = {'L', 'e', 'r', 'c', '2', ' ', 2,  0,    0, 0, /* version */
                                    4,   0,   0,   0,   4,   0,   0,  0, /* height, width */
                                    16,  0,   0,   0,   8,   0,   0,  0, /* valid pixels, block */
                                    62,  0,   0,   0,   1,   0,   0,  0, /* bytes, type */
                                    0,   0,   0,   0,   0,   0,   0,  0x3f, /* error */
                                    0,   0,   0,   0,   0,   0,   20, 0x40, /* minimum: 5 */
                                    0,   0,   0,   0,   0,   0,   20, 0x40, /* maximum: 5 */
                                    0,   0,   0,   0};                      /* bytes of the mask */

static void lerc_is_in_every_build(void **state)
{
    (void)state;
    codec_run run;
    run_open(&run, &tz_decoder_lerc);
    tz_tile_format format = make_format(4, 4, 34887);
    uint8_t *out = run_decode(&run, &format, lerc_blob, sizeof lerc_blob);
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(out[i], 5);
    free(out);
    bench_silent(&run.bench);
    run_close(&run);
}

/* With Deflate or ZSTD around it, it needs these. */
static void what_lerc_lacks_is_named(void **state)
{
    (void)state;
    codec_run run;
    run_open(&run, &tz_decoder_lerc);
    tz_tile_format format = make_format(4, 4, 34887);
    static const char *const parts[] = {"libdeflate", "zstd"};
    static const char *const texts[] = {"LERC with deflate needs libdeflate",
                                        "LERC with zstd needs libzstd"};
    for (uint16_t i = 0; i < 2; i++) {
        format.lerc_compression = (uint16_t)(i + 1);
        if (tz_build_feature(parts[i]))
            run_refuses(&run, &format, lerc_blob, sizeof lerc_blob, REFUSED_CODEC);
        else
            run_refuses_saying(&run, &format, lerc_blob, sizeof lerc_blob, REFUSED_UNSUPPORTED,
                               texts[i]);
    }
    run_close(&run);
}

static void state_that_was_never_used_can_be_released(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    for (size_t i = 0; i < TZ_CODEC_COUNT; i++) {
        const tz_decoder *decoder = tz_codecs[i].decoder;
        if (!decoder)
            continue;
        void *zeroed = calloc(1, decoder->state_size + 1);
        assert_non_null(zeroed);
        if (decoder->deinit)
            decoder->deinit(zeroed);
        if (decoder->init)
            assert_int_equal(decoder->init(zeroed, &b.ctx), TZ_OK);
        if (decoder->deinit) {
            decoder->deinit(zeroed);
            decoder->deinit(zeroed);
        }
        free(zeroed);
    }
    bench_deinit(&b);
}

/* Shared functions ---------------------------------------------------------------------------- */

static void bits_are_turned_in_every_byte(void **state)
{
    (void)state;
    for (size_t size = 0; size < 300; size++) {
        uint8_t *bytes = run_alloc(size); /* exactly: nothing behind it may be touched */
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)(i * 7 + size);
        tz_codec_reverse_bits(bytes, size);
        for (size_t i = 0; i < size; i++)
            for (unsigned bit = 0; bit < 8; bit++)
                assert_int_equal(bytes[i] >> bit & 1, (uint8_t)(i * 7 + size) >> (7 - bit) & 1);
        free(bytes);
    }
}

static void case_38_stored_sizes_have_a_bound(void **state)
{
    (void)state;
    tz_tile_format format = make_format(16, 16, 8);
    assert_true(tz_codec_max_input(&format) < UINT64_C(1) << 40);
    assert_true(tz_codec_max_input(&format) >= 16 * 16 * 8);
    format = make_format(UINT32_MAX, UINT32_MAX, 8);
    format.bits = 64;
    assert_true(tz_codec_max_input(&format) >= tz_tile_bytes(&format));
}

/* Uncompressed --------------------------------------------------------------------------------- */

static void uncompressed_rows_are_copied(void **state)
{
    (void)state;
    codec_run run;
    run_open(&run, &tz_decoder_none);
    for (uint32_t width = 1; width < 50; width++) {
        tz_tile_format format = make_format(width, 7, 1);
        format.bits = (uint16_t)(width % 16 + 1); /* rows end on bytes */
        size_t size = tz_tile_bytes(&format);
        uint8_t *pixels = run_picture(size, 1, 1);
        uint8_t *out = run_decode(&run, &format, pixels, size);
        assert_memory_equal(out, pixels, size);
        free(out);
        free(pixels);
    }
    bench_silent(&run.bench);
    run_close(&run);
}

static void case_39_too_few_and_too_many_bytes(void **state)
{
    (void)state;
    codec_run run;
    run_open(&run, &tz_decoder_none);
    tz_tile_format format = make_format(30, 20, 1);
    uint8_t *pixels = run_picture(30, 21, 1);
    run_refuses_saying(&run, &format, pixels, 599, REFUSED_CODEC, "(expected 600, found 599)");
    run_refuses_saying(&run, &format, pixels, 0, REFUSED_CODEC, "(expected 600, found 0)");
    uint8_t *out = run_warns(&run, &format, pixels, 601, "(expected 600, found 601)");
    assert_memory_equal(out, pixels, 600);
    free(out);
    free(pixels);
    run_close(&run);
}

/* Heights that writers get wrong ----------------------------------------------------------------
 */

typedef struct height_case {
    codec_run run;
    tz_tile_format format;
    uint8_t *pixels; /* 64 rows of 20 */
    uint8_t in[64 * 21];
    size_t in_size;
} height_case;

/* PackBits of so many rows. */
static void height_begin(height_case *c, uint32_t stored_rows, uint32_t height)
{
    run_open(&c->run, &tz_decoder_packbits);
    c->pixels = run_picture(20, 64, 1);
    c->format = make_format(20, height, 32773);
    c->in_size = 0;
    for (size_t row = 0; row < stored_rows; row++) {
        c->in[c->in_size++] = 19;
        memcpy(c->in + c->in_size, c->pixels + row * 20, 20);
        c->in_size += 20;
    }
}

static void height_end(height_case *c)
{
    free(c->pixels);
    run_close(&c->run);
}

static tz_result height_decode(height_case *c, size_t stride, uint8_t *out)
{
    uint8_t in[sizeof c->in + TZ_CODEC_SLACK];
    memcpy(in, c->in, c->in_size);
    tz_codec_call call = {&c->run.bench.ctx, tz_at_tile(0, false, 7, 1000)};
    return tz_decode_tile(c->run.codec, c->run.state, &c->format, in, c->in_size, out, stride,
                          &call);
}

/* Bytes after the packet that ends the tile would only be a warning: break it. */
static void join_rows(height_case *c, uint32_t first)
{
    uint8_t joined[40];
    memcpy(joined, c->pixels + first * 20, 40);
    c->in_size -= 42;
    c->in[c->in_size++] = 39;
    memcpy(c->in + c->in_size, joined, 40);
    c->in_size += 40;
}

static void a_last_strip_may_have_all_rows(void **state)
{
    (void)state;
    height_case c;
    uint8_t out[5 * 20 + TZ_CODEC_SLACK];
    height_begin(&c, 6, 5);
    join_rows(&c, 4); /* rows 4 and 5 in one packet, of which the strip has row 4 */
    assert_int_equal(height_decode(&c, 20, out), TZ_ERR_FORMAT);
    c.format.strip_height = 6;
    assert_int_equal(height_decode(&c, 20, out), TZ_OK);
    assert_memory_equal(out, c.pixels, 5 * 20);
    bench_warned(&c.run.bench, TZ_CAUSE_CODEC, -1, 5, 6, "another number of rows");
    c.run.bench.ctx.strict = true;
    assert_int_equal(height_decode(&c, 20, out), TZ_ERR_FORMAT);
    height_end(&c);
}

static void the_lowest_tiles_may_have_the_rows_of_the_image_alone(void **state)
{
    (void)state;
    height_case c;
    uint8_t out[16 * 20 + TZ_CODEC_SLACK];
    height_begin(&c, 9, 16);
    assert_int_equal(height_decode(&c, 20, out), TZ_ERR_FORMAT);
    c.format.image_rows = 9;
    memset(out, 0xA7, sizeof out);
    assert_int_equal(height_decode(&c, 20, out), TZ_OK);
    assert_memory_equal(out, c.pixels, 9 * 20);
    for (size_t i = 9 * 20; i < 16 * 20; i++)
        assert_int_equal(out[i], 0);
    bench_warned(&c.run.bench, TZ_CAUSE_CODEC, -1, 16, 9, "another number of rows");
    height_end(&c);
}

static void the_first_error_stands_when_neither_height_fits(void **state)
{
    (void)state;
    height_case c;
    uint8_t out[16 * 20 + TZ_CODEC_SLACK];
    height_begin(&c, 7, 16);
    c.format.image_rows = 9;
    assert_int_equal(height_decode(&c, 20, out), TZ_ERR_FORMAT);
    assert_int_equal(c.run.bench.err.expected, 16 * 20);
    assert_int_equal(c.run.bench.err.found, 7 * 20);
    bench_silent(&c.run.bench);
    c.format.image_rows = 0;
    c.format.strip_height = UINT32_MAX; /* never that much memory */
    alloc_hook_install();
    assert_int_equal(height_decode(&c, 20, out), TZ_ERR_FORMAT);
    assert_int_equal(alloc_hook_stats().allocations, 0);
    alloc_hook_remove();
    assert_int_equal(c.run.bench.err.expected, 16 * 20);
    height_end(&c);
}

static void memory_for_the_other_height_may_run_out(void **state)
{
    (void)state;
    height_case c;
    uint8_t out[16 * 20 + TZ_CODEC_SLACK];
    height_begin(&c, 9, 16);
    c.format.image_rows = 9;
    alloc_hook_install();
    alloc_hook_fail_at(1, false);
    assert_int_equal(height_decode(&c, 20, out), TZ_ERR_NOMEM);
    assert_int_equal(c.run.bench.err.result, TZ_ERR_NOMEM);
    assert_int_equal(alloc_hook_stats().live_bytes, 0);
    alloc_hook_remove();
    height_end(&c);
}

static void rows_of_the_other_height_go_where_they_belong(void **state)
{
    (void)state;
    codec_run run;
    run_open(&run, &tz_decoder_none);
    tz_tile_format format = make_format(20, 16, 1);
    format.image_rows = 9;
    uint8_t *pixels = run_picture(20, 9, 1);
    uint8_t in[9 * 20 + TZ_CODEC_SLACK], out[15 * 30 + 20];
    memcpy(in, pixels, 9 * 20);
    memset(out, 0xA7, sizeof out);
    tz_codec_call call = {&run.bench.ctx, tz_at_tile(0, false, 7, 1000)};
    assert_int_equal(tz_decode_tile(run.codec, run.state, &format, in, 9 * 20, out, 30, &call),
                     TZ_OK);
    for (size_t row = 0; row < 16; row++)
        for (size_t x = 0; x < (row < 15 ? 30 : 20); x++)
            assert_int_equal(out[row * 30 + x], x >= 20   ? 0xA7
                                                : row < 9 ? pixels[row * 20 + x]
                                                          : 0);
    free(pixels);
    run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_codec_is_found_by_each_of_its_numbers),
        cmocka_unit_test(what_a_build_lacks_is_named),
        cmocka_unit_test(what_only_writing_needs_is_named),
        cmocka_unit_test(case_57_what_has_no_decoder_is_named),
        cmocka_unit_test(codecs_that_write_rows_apart_say_so),
        cmocka_unit_test(lerc_is_in_every_build),
        cmocka_unit_test(what_lerc_lacks_is_named),
        cmocka_unit_test(state_that_was_never_used_can_be_released),
        cmocka_unit_test(bits_are_turned_in_every_byte),
        cmocka_unit_test(case_38_stored_sizes_have_a_bound),
        cmocka_unit_test(uncompressed_rows_are_copied),
        cmocka_unit_test(case_39_too_few_and_too_many_bytes),
        cmocka_unit_test(a_last_strip_may_have_all_rows),
        cmocka_unit_test(the_lowest_tiles_may_have_the_rows_of_the_image_alone),
        cmocka_unit_test(the_first_error_stands_when_neither_height_fits),
        cmocka_unit_test(memory_for_the_other_height_may_run_out),
        cmocka_unit_test(rows_of_the_other_height_go_where_they_belong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
