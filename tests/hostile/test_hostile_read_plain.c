/* SPDX-License-Identifier: Apache-2.0
 * Hostile cases 34, 38, 39, 43, 44, 46 to 48 and 57, read: tiles that lie about their size, and the
 * codecs and predictors that every build has. Every case in both byte orders, classic and BigTIFF.
 */
#include <stdlib.h>
#include <string.h>

#include "support/alloc_hook.h"
#include "support/codec/bit_writer.h"
#include "support/plain_read.h"
#include "support/tile_file.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const tile_stream *const none = &tile_streams[STREAM_NONE];
static const tile_stream *const packbits = &tile_streams[STREAM_PACKBITS];
static const tile_stream *const lzw = &tile_streams[STREAM_LZW];

/* Tile 1 of 2 has these bytes. */
static tb *with_tile(unsigned format, const tile_stream *stream, const void *bytes, size_t size)
{
    tb *b = tf_new(format, stream, 2, 1, NULL);
    tf_put(b, 1, bytes, size);
    return b;
}

/* ---- what is good is read ---- */

static void every_stream_is_read_without_a_word(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (size_t i = 0; i < STREAM_COUNT; i++) {
            if (tf_available(&tile_streams[i]))
                tf_done_reads(tf_new(f, &tile_streams[i], 3, 2, NULL), &tile_streams[i], 0);
        }
    }
}

/* ---- 38: sizes that no tile can have ---- */

/* A source that claims to be large: after the bytes there are zeros without end. */
typedef struct vast_source {
    tz_source source;
    const tb *b;
    uint64_t largest; /* range asked for */
} vast_source;

static tz_result vast_submit(tz_source *source, tz_request *request, tz_error *err)
{
    vast_source *self = (vast_source *)source;
    (void)err;
    for (size_t i = 0; i < request->count; i++) {
        const tz_range *range = &request->ranges[i];
        if (range->size > self->largest)
            self->largest = range->size;
        memset(range->dst, 0, range->size);
        if (range->offset < self->b->size) {
            const uint64_t there = self->b->size - range->offset;
            memcpy(range->dst, self->b->data + range->offset,
                   there < range->size ? (size_t)there : range->size);
        }
    }
    return TZ_OK;
}

static tz_result vast_wait(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source, (void)request, (void)err;
    return TZ_OK;
}

static void vast_close(tz_source *source)
{
    (void)source;
}

static void case_38_a_tile_of_a_terabyte(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (size_t i = 0; i < STREAM_COUNT; i++) {
            const tile_stream *stream = &tile_streams[i];
            if (i == STREAM_NONE || !tf_available(stream))
                continue;
            tb *b = tf_new(f, stream, 2, 1, NULL);
            const uint64_t size = f & TB_BIGTIFF ? UINT64_C(1) << 40 : UINT32_MAX - 1000;
            tb_patch_tile(b, 0, 1, 8, size);
            vast_source vast = {.source = {.struct_size = sizeof(tz_source),
                                           .size = UINT64_C(1) << 41,
                                           .submit = vast_submit,
                                           .wait = vast_wait,
                                           .close = vast_close},
                                .b = b};
            tz_file *file = NULL;
            tz_error err;
            uint8_t *pixels;
            assert_int_equal(tz_open_source(&file, &vast.source, "vast", NULL, &err), TZ_OK);
            vast.largest = 0;
            alloc_hook_install();
            assert_int_equal(tf_read(file, (tz_window){0}, 1, 0, &pixels, NULL, &err),
                             TZ_ERR_LIMIT);
            const alloc_stats stats = alloc_hook_stats();
            alloc_hook_remove();
            free(pixels);
            check_error(&err, DEFECT(LIMIT, LIMIT, .tile = 1, .found = size,
                                     .text = "far more compressed bytes"));
            assert_true(stats.peak_bytes < 1 << 20);
            assert_true(vast.largest < 1 << 20);
            assert_int_equal(
                tf_read(file, (tz_window){0, 0, TILE, TILE}, 1, 0, &pixels, NULL, &err), TZ_OK);
            assert_int_equal(pixels[TILE], tf_pixel(stream, 0, 1, 0));
            free(pixels);
            tz_close(file);
            tb_free(b);
        }
    }
}

static void case_38_a_tile_of_a_terabyte_in_a_small_file(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (size_t i = 0; i < STREAM_COUNT; i++) {
            if (!tf_available(&tile_streams[i]))
                continue;
            tb *b = tf_new(f, &tile_streams[i], 2, 1, NULL);
            tb_patch_tile(b, 0, 1, 8, f & TB_BIGTIFF ? UINT64_C(1) << 40 : UINT32_MAX - 1000);
            tf_done_refuses(b, &tile_streams[i],
                            DEFECT(FORMAT, TRUNCATED, .tag = ANY_INT, .tile = 1));
        }
    }
}

/* ---- 39: uncompressed tiles ---- */

static void case_39_plain_tiles_with_too_few_bytes(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (size_t size = 1; size < none->size; size += 51)
            tf_done_refuses(
                with_tile(f, none, none->data, size), none,
                DEFECT(FORMAT, CODEC, .tile = 1, .found = size, .text = "too few bytes"));
    }
}

static void case_39_plain_tiles_with_too_many_bytes(void **state)
{
    (void)state;
    FORMATS(f)
    {
        uint8_t more[TILE * TILE + 7];
        memset(more, 0xEE, sizeof more);
        memcpy(more, none->data, none->size);
        tf_done_reads(with_tile(f, none, more, sizeof more), none, 1);
    }
}

/* ---- 34: strips of no size ---- */

/* Strips of 16 x 16 pixels, each the stream, in the order of the file; sizes are as given,
 * TZ_NO_VALUE: right. */
static tb *strips_of(unsigned format, const tile_stream *stream, uint32_t count,
                     const uint64_t *sizes)
{
    tb *b = tb_new(format);
    tb_image(b, &(tb_spec){.width = TILE,
                           .height = TILE * count,
                           .rows_per_strip = TILE,
                           .compression = stream->compression});
    tb_finish(b);
    for (uint32_t i = 0; i < count; i++)
        tf_put(b, i, stream->data, stream->size);
    for (uint32_t i = 0; i < count; i++)
        if (sizes[i] != TZ_NO_VALUE)
            tb_patch_item(b, 0, TZ_TAG_STRIP_BYTE_COUNTS, i, sizes[i]);
    return b;
}

/* All pixels, with one warning that counts the strips and has the position of the first. */
static void read_strips(tb *b, const tile_stream *stream, uint64_t first, uint64_t count,
                        uint64_t stated)
{
    tz_file *file = tf_open(b);
    uint8_t *pixels;
    plain_report report = {0};
    tz_error err;
    assert_int_equal(tf_read(file, (tz_window){0}, 2, 7, &pixels, &report, &err), TZ_OK);
    const uint32_t height = tz_file_get_info(file)->height;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < TILE; x++)
            assert_int_equal(pixels[y * TILE + x], tf_pixel(stream, 0, y % TILE, x));
    free(pixels);
    assert_int_equal(report.warning_count, 1);
    assert_int_equal(report.warnings[0].cause, TZ_CAUSE_LAYOUT);
    assert_int_equal(report.warnings[0].tag, TZ_TAG_STRIP_BYTE_COUNTS);
    assert_int_equal(report.warnings[0].tile, first);
    assert_int_equal(report.warnings[0].count, count);
    assert_int_equal(report.warnings[0].expected, stream->size);
    assert_int_equal(report.warnings[0].found, stated);
    tz_close(file);
    tz_open_options strictly = TZ_OPEN_OPTIONS_INIT;
    strictly.strict = true;
    assert_int_equal(tz_open_memory(&file, b->data, b->size, &strictly, &err), TZ_OK);
    assert_int_equal(tf_read(file, (tz_window){0}, 1, 7, &pixels, NULL, &err), TZ_ERR_FORMAT);
    check_error(&err, DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_STRIP_BYTE_COUNTS, .level = 0,
                             .tile = (int64_t)first));
    free(pixels);
    tz_close(file);
    tb_free(b);
}

static void case_34_strips_of_no_size_are_read(void **state)
{
    (void)state;
    static const uint64_t zero = 0, all[] = {0, 0, 0}, middle[] = {TZ_NO_VALUE, 0, TZ_NO_VALUE},
                          last[] = {TZ_NO_VALUE, TZ_NO_VALUE, 0};
    const tile_stream *const streams[] = {none, packbits, lzw};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(streams); i++) {
            const tile_stream *stream = streams[i];
            read_strips(strips_of(f, stream, 1, &zero), stream, 0, 1, 0);
            read_strips(strips_of(f, stream, 3, all), stream, 0, 3, 0);
            read_strips(strips_of(f, stream, 3, middle), stream, 1, 1, 0);
            read_strips(strips_of(f, stream, 3, last), stream, 2, 1, 0);
        }
    }
}

static void case_34_plain_strips_of_a_wrong_size_are_read(void **state)
{
    (void)state;
    static const uint64_t less = TILE * TILE - 1, more = UINT32_MAX,
                          all_more[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    FORMATS(f)
    {
        read_strips(strips_of(f, none, 1, &less), none, 0, 1, less);
        read_strips(strips_of(f, none, 1, &more), none, 0, 1, more);
        read_strips(strips_of(f, none, 3, all_more), none, 0, 3, more);
    }
}

/* More strips than are planned at once: each counts once. */
static void case_34_each_strip_counts_once(void **state)
{
    (void)state;
    enum { STRIPS = 20000 };
    tb *b = tb_new(TB_CLASSIC);
    tb_image(b, &(tb_spec){.width = 1, .height = STRIPS, .rows_per_strip = 1, .tile_bytes = 1});
    tb_finish(b);
    for (uint64_t i = 1; i < STRIPS; i++)
        tb_patch_item(b, 0, TZ_TAG_STRIP_BYTE_COUNTS, i, 0);
    tz_file *file = tf_open(b);
    uint8_t *pixels;
    plain_report report = {0};
    tz_error err;
    assert_int_equal(tf_read(file, (tz_window){0}, 2, 7, &pixels, &report, &err), TZ_OK);
    free(pixels);
    assert_true(report.waves > 1);
    assert_int_equal(report.warning_count, 1);
    assert_int_equal(report.warnings[0].tile, 1);
    assert_int_equal(report.warnings[0].count, STRIPS - 1);
    tz_close(file);
    tb_free(b);
}

/* Offsets and sizes in any combination: an error or pixels, and nothing else. */
static void case_34_hostile_sizes_and_offsets(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        static const uint64_t right[] = {TZ_NO_VALUE, TZ_NO_VALUE, TZ_NO_VALUE};
        const tile_stream *stream = i == 0 ? none : i == 1 ? packbits : lzw;
        uint32_t random = 5;
        for (unsigned round = 0; round < 100; round++) {
            tb *b = strips_of(round % TB_FORMATS, stream, 3, right);
            const uint64_t values[] = {0,           1,       8,           tb_ifd_at(b, 0),
                                       b->size / 2, b->size, b->size - 1, tb_tile_at(b, 0, 0),
                                       UINT32_MAX,  1u << 31};
            for (uint64_t k = 0; k < 6; k++) {
                random = random * 1664525u + 1013904223u;
                if (random >> 30 != 0)
                    tb_patch_item(b, 0, k % 2 ? TZ_TAG_STRIP_OFFSETS : TZ_TAG_STRIP_BYTE_COUNTS,
                                  k / 2, values[(random >> 8) % COUNT(values)]);
            }
            tz_file *file = tf_open(b);
            uint8_t *pixels;
            tz_error err = {.result = TZ_OK};
            const tz_result result = tf_read(file, (tz_window){0}, 1, 7, &pixels, NULL, &err);
            assert_true(result == TZ_OK || result == TZ_ERR_FORMAT || result == TZ_ERR_LIMIT);
            assert_true(result == TZ_OK || err.tile >= 0);
            free(pixels);
            tz_close(file);
            tb_free(b);
        }
    }
}

/* ---- 43: LZW ---- */

enum { CLEAR = 256, END = 257 };

static void refuse_codes(const uint16_t *codes, size_t count, const char *text)
{
    bit_writer out = {0};
    for (size_t i = 0; i < count; i++)
        put_bits(&out, codes[i], 9);
    FORMATS(f)
    tf_done_refuses(with_tile(f, lzw, out.data, out.size), lzw,
                    DEFECT(FORMAT, CODEC, .tile = 1, .text = text));
    free(out.data);
}
#define REFUSE_CODES(text, ...)                                                                    \
    refuse_codes((const uint16_t[]){__VA_ARGS__},                                                  \
                 sizeof((const uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t), text)

static void case_43_lzw_codes_that_no_encoder_writes(void **state)
{
    (void)state;
    REFUSE_CODES("begin with a Clear", 'a', 'b', END);
    REFUSE_CODES("follows a Clear", CLEAR, 258, 'a', END);
    REFUSE_CODES("table ends at", CLEAR, 'a', 259, END);
    REFUSE_CODES("too early", CLEAR, END);
    REFUSE_CODES("too early", CLEAR, CLEAR, END);
    REFUSE_CODES("too early", CLEAR, 'a', 258, 259, 'b', END);
    REFUSE_CODES("too early", CLEAR, 'a');
}

static void case_43_lzw_with_more_codes_than_its_table_holds(void **state)
{
    (void)state;
    /* 3,841 codes of one byte each: a tile of 16 x 16 pixels ends long before, one of 64 x 64 does
     * not */
    bit_writer out = {0};
    unsigned width = 9, next = 258;
    put_bits(&out, CLEAR, 9);
    for (unsigned i = 0; i < 3900; i++) {
        put_bits(&out, i & 255, width);
        if (i > 0 && next < 4095 && ++next >= (1u << width) - 1 && width < 12)
            width++;
    }
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(
            b,
            &(tb_spec){
                .width = 64, .height = 128, .tile_width = 64, .tile_height = 64, .compression = 5});
        tb_finish(b);
        tf_put(b, 1, out.data, out.size);
        tb_patch_tile(b, 0, 0, 0, 0); /* sparse */
        tz_file *file = tf_open(b);
        uint8_t *pixels;
        tz_error err;
        assert_int_equal(tf_read(file, (tz_window){0}, 1, 0, &pixels, NULL, &err), TZ_ERR_FORMAT);
        check_error(&err, DEFECT(FORMAT, CODEC, .tile = 1, .text = "LZW"));
        free(pixels);
        assert_int_equal(tf_read(file, (tz_window){0, 0, 64, 64}, 1, 1, &pixels, NULL, &err),
                         TZ_OK);
        assert_int_equal(pixels[64 * 64 - 1], 0);
        free(pixels);
        tz_close(file);
        tb_free(b);
    }
    free(out.data);
}

/* Cut off anywhere: an error, or the whole tile when only the end mark is gone. */
static void cut_anywhere(const tile_stream *stream, size_t from, size_t step)
{
    FORMATS(f)
    {
        for (size_t size = from; size + 2 < stream->size; size += step)
            tf_done_refuses(with_tile(f, stream, stream->data, size), stream,
                            DEFECT(FORMAT, CODEC, .tile = 1));
    }
}

static void case_43_lzw_cut_off_anywhere(void **state)
{
    (void)state;
    cut_anywhere(lzw, 1, 13);
}

static void case_43_lzw_in_the_old_bit_order_cut_off(void **state)
{
    (void)state;
    bit_writer out = {.low_first = true};
    put_bits(&out, CLEAR, 9);
    for (unsigned i = 0; i < 100; i++)
        put_bits(&out, i, 9);
    FORMATS(f)
    tf_done_refuses(with_tile(f, lzw, out.data, out.size), lzw,
                    DEFECT(FORMAT, CODEC, .tile = 1, .text = "LZW"));
    free(out.data);
}

/* Reads a tile of which every pixel is 100, with a warning about its last string. */
static void read_flat_tile(unsigned format, uint32_t tile, const bit_writer *stored, unsigned found)
{
    tb *b = tf_new(format, lzw, 2, 1, NULL);
    tf_put(b, tile, stored->data, stored->size);
    tz_file *file = tf_open(b);
    uint8_t *pixels;
    plain_report report = {0};
    tz_error err;
    const tz_window window = {tile * TILE, 0, TILE, TILE};
    assert_int_equal(tf_read(file, window, 1, 7, &pixels, &report, &err), TZ_OK);
    for (size_t i = 0; i < (size_t)TILE * TILE; i++)
        assert_int_equal(pixels[i], 100);
    free(pixels);
    assert_int_equal(report.warning_count, stored->low_first ? 2 : 1);
    const tz_error *warning = &report.warnings[stored->low_first ? 1 : 0];
    assert_int_equal(warning->tile, tile);
    assert_int_equal(warning->expected, 3);
    assert_int_equal(warning->found, found);
    tz_close(file);
    tb_free(b);
}

/* The first tile and the last of the file; by one byte and by most of the string. */
static void case_43_lzw_whose_last_string_passes_the_end(void **state)
{
    (void)state;
    enum { STRINGS = 22, LAST = TILE * TILE - STRINGS * (STRINGS + 1) / 2 };
    for (unsigned size = LAST + 1; size <= STRINGS + 1; size += 6) {
        for (unsigned low_first = 0; low_first < 2; low_first++) {
            bit_writer out = {.low_first = low_first};
            put_bits(&out, CLEAR, 9);
            put_bits(&out, 100, 9);
            for (unsigned i = 2; i <= STRINGS; i++) /* of i bytes */
                put_bits(&out, 256 + i, 9);
            put_bits(&out, 256 + size, 9);
            put_bits(&out, END, 9);
            FORMATS(f)
            {
                read_flat_tile(f, 0, &out, size);
                read_flat_tile(f, 1, &out, size);
            }
            free(out.data);
        }
    }
}

/* ---- fax data ---- */

/* Strips of 16 rows, of which each has a few: one warning counts the rows of all. */
static void fax_rows_that_are_missing_are_white(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.width = 16,
                               .height = 48,
                               .rows_per_strip = 16,
                               .bits = 1,
                               .photometric = 1,
                               .compression = 3});
        tb_finish(b);
        for (unsigned i = 0; i < 3; i++) {
            bit_writer out = {0};
            for (unsigned y = 0; y < 14 + i; y++) { /* 14, 15 and all rows */
                put_bits(&out, 1, 12);
                put_bits(&out, 7, 4); /* 2 white */
                put_bits(&out, 3, 2); /* 2 black */
                put_bits(&out, 8, 6); /* 12 white */
            }
            tf_put(b, i, out.data, out.size);
            free(out.data);
        }
        tz_file *file = tf_open(b);
        uint8_t *pixels;
        plain_report report = {0};
        tz_error err;
        assert_int_equal(tf_read(file, (tz_window){0}, 1, 7, &pixels, &report, &err), TZ_OK);
        for (unsigned y = 0; y < 48; y++)
            for (unsigned x = 0; x < 16; x++)
                assert_int_equal(pixels[y * 16 + x],
                                 (x == 2 || x == 3) && y % 16 < 14 + y / 16 ? 1 : 0);
        free(pixels);
        assert_int_equal(report.warning_count, 1);
        assert_int_equal(report.warnings[0].cause, TZ_CAUSE_CODEC);
        assert_int_equal(report.warnings[0].tile, 0);
        assert_int_equal(report.warnings[0].count, 3);
        assert_int_equal(report.warnings[0].expected, 16);
        assert_int_equal(report.warnings[0].found, 14);
        tz_close(file);
        tb_free(b);
    }
}

/* ---- 44: PackBits ---- */

static void case_44_packbits_that_run_over(void **state)
{
    (void)state;
    static const uint8_t literal_past_the_input[] = {127, 1, 2, 3};
    static const uint8_t run_without_a_byte[] = {0x81};
    static const uint8_t nothing_but_no_ops[] = {0x80, 0x80, 0x80, 0x80};
    static const uint8_t run_past_the_tile[] = {0x81, 7, 0x81, 7, 0x81, 7}; /* 384 bytes of 256 */
    static const struct {
        const uint8_t *bytes;
        size_t size;
        const char *text;
    } streams[] = {
        {literal_past_the_input, sizeof literal_past_the_input, "inside a packet"},
        {run_without_a_byte, sizeof run_without_a_byte, "PackBits"},
        {nothing_but_no_ops, sizeof nothing_but_no_ops, "too early"},
    };
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(streams); i++)
            tf_done_refuses(with_tile(f, packbits, streams[i].bytes, streams[i].size), packbits,
                            DEFECT(FORMAT, CODEC, .tile = 1, .text = streams[i].text));
        /* two runs make the tile, the third lies after it; or a run that reaches over its end */
        tb *b = with_tile(f, packbits, run_past_the_tile, sizeof run_past_the_tile);
        tz_file *file = tf_open(b);
        uint8_t *pixels;
        assert_int_equal(tf_read(file, (tz_window){16, 0, 16, 16}, 1, 0, &pixels, NULL, NULL),
                         TZ_OK);
        assert_int_equal(pixels[255], 7);
        free(pixels);
        tz_close(file);
        tb_free(b);
    }
}

static void case_44_a_packbits_run_over_the_end(void **state)
{
    (void)state;
    static const uint8_t over[] = {0x81, 7, 0x82, 7, 0x81, 7}; /* 128 + 127 + 128 */
    FORMATS(f)
    tf_done_refuses(with_tile(f, packbits, over, sizeof over), packbits,
                    DEFECT(FORMAT, CODEC, .tile = 1, .text = "past the end of the tile"));
}

static void case_44_a_packbits_bomb(void **state)
{
    (void)state;
    /* 2 MB that would make 128 MB: larger than any 16 x 16 tile can be */
    const size_t size = 2u << 20;
    uint8_t *bomb = malloc(size);
    assert_non_null(bomb);
    memset(bomb, 0x81, size);
    FORMATS(f)
    tf_done_refuses(with_tile(f, packbits, bomb, size), packbits,
                    DEFECT(LIMIT, LIMIT, .tile = 1, .found = size));
    free(bomb);
}

static void case_44_packbits_cut_off_anywhere(void **state)
{
    (void)state;
    cut_anywhere(packbits, 1, 7);
}

/* ---- 46 to 48: predictors ---- */

static uint16_t wanted_predictor;

static void describe_predictor(tb *b)
{
    TB_SHORTS(b, 0, TZ_TAG_PREDICTOR, wanted_predictor);
}

static void case_46_predictors_that_do_not_exist(void **state)
{
    (void)state;
    static const uint16_t numbers[] = {0, 4, 65535};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(numbers); i++) {
            wanted_predictor = numbers[i];
            tf_done_refuses(tf_new(f, lzw, 2, 1, describe_predictor), lzw,
                            DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = TZ_TAG_PREDICTOR,
                                   .found = numbers[i], .text = "predictor"));
        }
    }
}

static void case_46_predictors_that_do_not_fit_the_samples(void **state)
{
    (void)state;
    static const struct {
        uint16_t predictor, bits, sample_format;
    } images[] = {{2, 1, 1},  {2, 12, 1}, {2, 24, 1}, {2, 24, 3},
                  {3, 16, 1}, {3, 32, 2}, {3, 8, 1},  {3, 64, 6}};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(images); i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.width = 32,
                                   .height = 16,
                                   .tile_width = 16,
                                   .tile_height = 16,
                                   .compression = 5,
                                   .bits = images[i].bits,
                                   .sample_format = images[i].sample_format,
                                   .predictor = images[i].predictor});
            tb_finish(b);
            tz_file *file = tf_open(b);
            uint8_t *pixels;
            tz_error err;
            assert_int_equal(tf_read(file, (tz_window){0}, 1, 0, &pixels, NULL, &err),
                             TZ_ERR_UNSUPPORTED);
            check_error(&err, DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = TZ_TAG_PREDICTOR));
            free(pixels);
            tz_close(file);
            tb_free(b);
        }
    }
}

/* Predictors mean nothing to codecs that are not of bytes. */
static void case_46_predictor_2_with_codestream_codecs(void **state)
{
    (void)state;
    static const int codecs[] = {STREAM_JPEG, STREAM_JPEG_RGB, STREAM_WEBP,
                                 STREAM_LERC, STREAM_JP2,      STREAM_JXL};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(codecs); i++) {
            wanted_predictor = 2;
            if (tf_available(&tile_streams[codecs[i]]))
                tf_done_reads(tf_new(f, &tile_streams[codecs[i]], 2, 1, describe_predictor),
                              &tile_streams[codecs[i]], 1);
        }
    }
}

/* PackBits data of a tile of zeros: whatever the predictor, zeros come out. */
static void put_zeros(tb *b, uint64_t tile, size_t size)
{
    uint8_t packets[4096];
    size_t used = 0;
    for (; size >= 128; size -= 128) {
        packets[used++] = 0x81;
        packets[used++] = 0;
    }
    for (; size > 0; size--) {
        packets[used++] = 0;
        packets[used++] = 0;
    }
    tf_put(b, tile, packets, used);
}

static void case_47_tiles_of_odd_width_with_a_predictor(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (uint16_t predictor = 2; predictor <= 3; predictor++) {
            for (uint32_t width = 1; width < 20; width += 3) {
                tb *b = tb_new(f);
                const uint16_t bits = predictor == 2 ? 16 : 32;
                tb_image(b, &(tb_spec){.width = width,
                                       .height = 5,
                                       .rows_per_strip = 5,
                                       .samples = 3,
                                       .bits = bits,
                                       .sample_format = predictor == 2 ? 1 : 3,
                                       .predictor = predictor,
                                       .compression = 32773});
                tb_finish(b);
                put_zeros(b, 0, width * 5u * 3u * bits / 8u);
                tz_file *file = tf_open(b);
                uint8_t *pixels;
                tz_error err;
                assert_int_equal(tf_read(file, (tz_window){0}, 1, 0xAA, &pixels, NULL, &err),
                                 TZ_OK);
                for (size_t i = 0; i < (size_t)width * 15; i++)
                    assert_int_equal(pixels[i], 0);
                free(pixels);
                tz_close(file);
                tb_free(b);
            }
        }
    }
}

static void case_48_predictors_on_one_pixel_of_65535_samples(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(
            b,
            &(tb_spec){
                .width = 1, .height = 1, .samples = 65535, .predictor = 2, .compression = 32773});
        tb_finish(b);
        uint8_t packets[2 * 512];
        for (size_t i = 0; i < 512; i++) {
            packets[2 * i] = i < 511 ? 0x81 : 0x82; /* 511 * 128 + 127 */
            packets[2 * i + 1] = (uint8_t)i;
        }
        tf_put(b, 0, packets, sizeof packets);
        tz_file *file = tf_open(b);
        uint8_t *pixels;
        tz_error err;
        const tz_result result = tf_read(file, (tz_window){0}, 1, 0xAA, &pixels, NULL, &err);
        assert_true(result == TZ_OK || result == TZ_ERR_LIMIT);
        for (size_t i = 0; result == TZ_OK && i < 65535; i++)
            assert_int_equal(pixels[i], i / 128 & 255); /* the first pixel is not a difference */
        free(pixels);
        tz_close(file);
        tb_free(b);
    }
}

/* ---- 57: compressions that nobody decodes ---- */

static uint16_t wanted_compression;

static void describe_compression(tb *b)
{
    TB_SHORTS(b, 0, TZ_TAG_COMPRESSION, wanted_compression);
}

static void case_57_compressions_without_a_decoder(void **state)
{
    (void)state;
    static const struct {
        uint16_t number;
        const char *text;
    } numbers[] = {{0, "compression 0"}, {34661, "JBIG"}, {65000, "65000"}};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(numbers); i++) {
            wanted_compression = numbers[i].number;
            tf_done_refuses(
                tf_new(f, none, 2, 1, describe_compression), none,
                DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = ANY_INT, .text = numbers[i].text));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_stream_is_read_without_a_word),
        CASE(case_38_a_tile_of_a_terabyte),
        CASE(case_38_a_tile_of_a_terabyte_in_a_small_file),
        CASE(case_39_plain_tiles_with_too_few_bytes),
        CASE(case_39_plain_tiles_with_too_many_bytes),
        CASE(case_34_strips_of_no_size_are_read),
        CASE(case_34_plain_strips_of_a_wrong_size_are_read),
        CASE(case_34_each_strip_counts_once),
        CASE(case_34_hostile_sizes_and_offsets),
        CASE(case_43_lzw_codes_that_no_encoder_writes),
        CASE(case_43_lzw_with_more_codes_than_its_table_holds),
        CASE(case_43_lzw_cut_off_anywhere),
        CASE(case_43_lzw_in_the_old_bit_order_cut_off),
        CASE(case_43_lzw_whose_last_string_passes_the_end),
        CASE(fax_rows_that_are_missing_are_white),
        CASE(case_44_packbits_that_run_over),
        CASE(case_44_a_packbits_run_over_the_end),
        CASE(case_44_a_packbits_bomb),
        CASE(case_44_packbits_cut_off_anywhere),
        CASE(case_46_predictors_that_do_not_exist),
        CASE(case_46_predictors_that_do_not_fit_the_samples),
        CASE(case_46_predictor_2_with_codestream_codecs),
        CASE(case_47_tiles_of_odd_width_with_a_predictor),
        CASE(case_48_predictors_on_one_pixel_of_65535_samples),
        CASE(case_57_compressions_without_a_decoder),
    };
    tf_warm_up();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
