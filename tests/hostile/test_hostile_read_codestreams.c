/* SPDX-License-Identifier: Apache-2.0
 * Hostile cases 49 to 56, read: JPEG, WebP, LERC, JPEG 2000 and JPEG XL streams that contradict the
 * directory or themselves. Each is a good stream of another encoder with a few bytes changed. */
#include <stdlib.h>
#include <string.h>

#include "support/alloc_hook.h"
#include "support/tile_file.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

static inline bytes copy_of(const tile_stream *stream)
{
    bytes b = {malloc(stream->size), stream->size};
    assert_non_null(b.data);
    memcpy(b.data, stream->data, stream->size);
    return b;
}

static inline void insert(bytes *b, size_t at, const void *more, size_t size)
{
    b->data = realloc(b->data, b->size + size);
    assert_non_null(b->data);
    memmove(b->data + at + size, b->data + at, b->size - at);
    memcpy(b->data + at, more, size);
    b->size += size;
}

static inline void cut(bytes *b, size_t at, size_t size)
{
    memmove(b->data + at, b->data + at + size, b->size - at - size);
    b->size -= size;
}

static inline void set16(bytes *b, size_t at, unsigned value)
{
    b->data[at] = (uint8_t)(value >> 8);
    b->data[at + 1] = (uint8_t)value;
}

static inline tb *with_tile(unsigned format, const tile_stream *stream, const bytes *data)
{
    tb *b = tf_new(format, stream, 2, 1, NULL);
    tf_put(b, 1, data->data, data->size);
    return b;
}

/* Refused in tile 1, whatever the file's format; the bytes are freed. */
static inline void refuse(const tile_stream *stream, bytes data, tz_result result, const char *text)
{
    FORMATS(f)
    {
        const tz_cause cause = result == TZ_ERR_FORMAT  ? TZ_CAUSE_CODEC
                               : result == TZ_ERR_LIMIT ? TZ_CAUSE_LIMIT
                                                        : TZ_CAUSE_UNSUPPORTED;
        check_defect defect = *DEFECT(FORMAT, CODEC, .tile = 1, .text = text);
        defect.result = result;
        defect.cause = cause;
        defect.limit = result == TZ_ERR_LIMIT ? text : NULL;
        tf_done_refuses(with_tile(f, stream, &data), stream, &defect);
    }
    free(data.data);
}

/* An error, or pixels that are the tile's or 0: never what memory held. */
static inline void bear(const tile_stream *stream, bytes data)
{
    tb *b = with_tile(TB_CLASSIC, stream, &data);
    tz_file *file = tf_open(b);
    uint8_t *first, *second;
    const tz_window window = {TILE, 0, TILE, TILE};
    const tz_result result = tf_read(file, window, 1, 0x5A, &first, NULL, NULL);
    assert_int_equal(tf_read(file, window, 1, 0xA5, &second, NULL, NULL), result);
    if (result == TZ_OK)
        assert_memory_equal(first, second, (size_t)TILE * TILE * stream->bands);
    free(first);
    free(second);
    tz_close(file);
    tb_free(b);
    free(data.data);
}

static inline void refuse_when_cut(const tile_stream *stream, size_t least_missing)
{
    for (size_t size = 1; size + least_missing < stream->size; size += 1 + stream->size / 12) {
        bytes b = copy_of(stream);
        b.size = size;
        refuse(stream, b, TZ_ERR_FORMAT, NULL);
    }
}

/* ---- 49: JPEG tables ---- */

#ifdef TZ_HAVE_JPEG

static const tile_stream *const grey = &tile_streams[STREAM_JPEG];
static const tile_stream *const color = &tile_streams[STREAM_JPEG_RGB];

enum { SOF0 = 0xC0, DHT = 0xC4, SOS = 0xDA, DQT = 0xDB };

/* Returns the offset of a marker, which must exist. */
static size_t find(const bytes *b, uint8_t marker)
{
    size_t at = 2;
    while (b->data[at + 1] != marker) {
        at += 2u + 256u * b->data[at + 2] + b->data[at + 3];
        assert_true(at + 4 < b->size && b->data[at] == 0xFF);
    }
    return at;
}

static void cut_marker(bytes *b, uint8_t marker)
{
    const size_t at = find(b, marker);
    cut(b, at, 2u + 256u * b->data[at + 2] + b->data[at + 3]);
}

static const uint8_t *wanted_tables;
static size_t wanted_tables_size;

static void describe_tables(tb *b)
{
    tb_set_bytes(b, 0, TZ_TAG_JPEG_TABLES, TZ_TYPE_UNDEFINED, wanted_tables_size, wanted_tables,
                 wanted_tables_size);
}

static void refuse_tables(const uint8_t *tables, size_t size, const char *text)
{
    wanted_tables = tables;
    wanted_tables_size = size;
    FORMATS(f)
    tf_done_refuses(tf_new(f, grey, 2, 1, describe_tables), grey,
                    DEFECT(FORMAT, CODEC, .tag = ANY_INT, .tile = 0, .text = text));
}

static void case_49_jpeg_tables(void **state)
{
    (void)state;
    static const uint8_t start[] = {0xFF, 0xD8, 0xFF, 0xD9};
    static const uint8_t no_start[] = {0xFF, 0xD9, 0xFF, 0xD9};
    refuse_tables(start, 1, "JPEG");
    refuse_tables(start, 2, "JPEG");
    refuse_tables(no_start, 4, "SOI");
    refuse_tables(stream_jpeg, sizeof stream_jpeg, "JPEGTables hold an image");
    bytes scan = copy_of(grey);
    cut_marker(&scan, SOF0);
    refuse_tables(scan.data, scan.size, "JPEGTables");
    free(scan.data);
    wanted_tables = start; /* nothing in them, and nothing is missing */
    wanted_tables_size = 4;
    FORMATS(f)
    tf_done_reads(tf_new(f, grey, 2, 1, describe_tables), grey, 0);
}

static void case_49_jpeg_tables_of_megabytes(void **state)
{
    (void)state;
    uint8_t *tables = calloc(1, 100u << 20);
    assert_non_null(tables);
    memcpy(tables, "\xFF\xD8", 2);
    wanted_tables = tables;
    for (wanted_tables_size = 2u << 20; wanted_tables_size < 200u << 20; wanted_tables_size *= 7) {
        tb *b = tf_new(TB_CLASSIC, grey, 2, 1, describe_tables);
        alloc_hook_install();
        tz_file *file = tf_open(b);
        uint8_t *pixels;
        tz_error err;
        assert_int_equal(tf_read(file, (tz_window){0}, 1, 0, &pixels, NULL, &err), TZ_ERR_FORMAT);
        check_error(&err, DEFECT(FORMAT, CODEC, .tag = TZ_TAG_JPEG_TABLES,
                                 .found = wanted_tables_size, .text = "more bytes than"));
        free(pixels);
        tz_close(file);
        assert_true(alloc_hook_stats().peak_bytes < 1 << 20); /* none of them was read */
        alloc_hook_remove();
        tb_free(b);
    }
    free(tables);
}

/* ---- 50: frames ---- */

static bytes with_frame(const tile_stream *stream, unsigned width, unsigned height)
{
    bytes b = copy_of(stream);
    const size_t frame = find(&b, SOF0);
    set16(&b, frame + 5, height);
    set16(&b, frame + 7, width);
    return b;
}

static void case_50_jpeg_frames_larger_than_the_tile(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = {{65535, 65535}, {17, 16}, {16, 17}, {65535, 1}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        refuse(grey, with_frame(grey, sizes[i][0], sizes[i][1]), TZ_ERR_FORMAT, "in a tile of");
        refuse(color, with_frame(color, sizes[i][0], sizes[i][1]), TZ_ERR_FORMAT, "in a tile of");
    }
    refuse(grey, with_frame(grey, 0, 16), TZ_ERR_FORMAT, "JPEG");
    refuse(grey, with_frame(grey, 16, 0), TZ_ERR_FORMAT, "JPEG");
}

static void case_50_jpeg_frames_smaller_than_the_tile(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = {{1, 1}, {8, 16}, {16, 8}, {15, 15}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        bear(grey, with_frame(grey, sizes[i][0], sizes[i][1]));
        bear(color, with_frame(color, sizes[i][0], sizes[i][1]));
    }
}

static void case_50_jpeg_without_or_with_two_frames(void **state)
{
    (void)state;
    bytes none = copy_of(grey);
    cut_marker(&none, SOF0);
    refuse(grey, none, TZ_ERR_FORMAT, "JPEG");
    bytes two = copy_of(grey);
    const size_t frame = find(&two, SOF0);
    uint8_t copy[32];
    const size_t size = 2u + two.data[frame + 3];
    memcpy(copy, two.data + frame, size);
    insert(&two, frame, copy, size);
    refuse(grey, two, TZ_ERR_FORMAT, "two frame");
}

/* ---- 51: components ---- */

static void case_51_jpeg_components_that_are_not_the_samples(void **state)
{
    (void)state;
    refuse(color, copy_of(grey), TZ_ERR_FORMAT, "components");
    refuse(grey, copy_of(color), TZ_ERR_FORMAT, "components");
}

static void case_51_jpeg_precision(void **state)
{
    (void)state;
    for (uint8_t bits = 12; bits <= 16; bits += 4) {
        bytes b = copy_of(grey);
        b.data[find(&b, SOF0) + 4] = bits;
        refuse(grey, b, TZ_ERR_FORMAT, "bits");
    }
}

static void case_51_jpeg_sampling(void **state)
{
    (void)state;
    static const uint8_t factors[] = {0x44, 0x01, 0x10, 0x00, 0x51, 0xFF};
    for (size_t i = 0; i < COUNT(factors); i++) {
        bytes b = copy_of(color);
        b.data[find(&b, SOF0) + 11] = factors[i];
        refuse(color, b, TZ_ERR_FORMAT, "JPEG");
    }
}

/* ---- 52: kinds of JPEG ---- */

static void case_52_jpeg_of_80000_scans(void **state)
{
    (void)state;
    static const uint8_t scan[] = {0xFF, 0xDA, 0, 8, 1, 1, 0, 1, 63, 0x00, 0x00};
    bytes b = copy_of(grey);
    uint8_t *many = malloc(sizeof scan * 80000);
    assert_non_null(many);
    for (size_t i = 0; i < 80000; i++)
        memcpy(many + i * sizeof scan, scan, sizeof scan);
    b.data[find(&b, SOF0) + 1] = 0xC2; /* progressive */
    const size_t first = find(&b, SOS);
    b.data[first + 8] = 0; /* of the first scan: DC only */
    insert(&b, b.size - 2, many, sizeof scan * 80000);
    free(many);
    refuse(grey, b, TZ_ERR_LIMIT, "max_jpeg_scans");
}

static void case_52_jpeg_kinds_that_are_refused(void **state)
{
    (void)state;
    static const uint8_t frames[] = {0xC9, 0xCA, 0xCB};
    for (size_t i = 0; i < COUNT(frames); i++) {
        bytes b = copy_of(grey);
        b.data[find(&b, SOF0) + 1] = frames[i];
        refuse(grey, b, TZ_ERR_UNSUPPORTED, "not supported");
    }
}

/* ---- 53: tables of a scan ---- */

static void case_53_jpeg_tables_that_are_not_there(void **state)
{
    (void)state;
    for (unsigned table = 1; table < 16; table += 3) {
        bytes b = copy_of(grey);
        b.data[find(&b, SOS) + 6] = (uint8_t)(table << 4 | table);
        refuse(grey, b, TZ_ERR_FORMAT, "JPEG");
    }
    bytes no_codes = copy_of(grey);
    cut_marker(&no_codes, DHT);
    refuse(grey, no_codes, TZ_ERR_FORMAT, "JPEG");
    bytes no_steps = copy_of(grey);
    cut_marker(&no_steps, DQT);
    refuse(grey, no_steps, TZ_ERR_FORMAT, "JPEG");
}

static void jpeg_cut_off_anywhere(void **state)
{
    (void)state;
    refuse_when_cut(grey, 12);
    refuse_when_cut(color, 12);
}

#endif

/* ---- 54: WebP ---- */

#ifdef TZ_HAVE_WEBP

static const tile_stream *const webp = &tile_streams[STREAM_WEBP];

/* Width, height and alpha of a lossless stream. */
static bytes webp_of(uint32_t width, uint32_t height, uint32_t alpha)
{
    bytes b = copy_of(webp);
    assert_memory_equal(b.data + 12, "VP8L", 4);
    const uint32_t head = (width - 1) | (height - 1) << 14 | alpha << 28;
    for (size_t i = 0; i < 4; i++)
        b.data[21 + i] = (uint8_t)(head >> 8 * i);
    return b;
}

static void case_54_webp_that_is_not_the_tile(void **state)
{
    (void)state;
    refuse(webp, webp_of(17, 16, 0), TZ_ERR_FORMAT, "in a tile of");
    refuse(webp, webp_of(16, 15, 0), TZ_ERR_FORMAT, "in a tile of");
    refuse(webp, webp_of(16384, 16384, 0), TZ_ERR_FORMAT, "in a tile of");
    refuse(webp, webp_of(16, 16, 1), TZ_ERR_FORMAT, "alpha");
    static uint8_t animation[] = {'R', 'I', 'F', 'F', 36,  0,  0, 0, 'W', 'E', 'B',
                                  'P', 'V', 'P', '8', 'X', 10, 0, 0, 0,   2,   0,
                                  0,   0,   15,  0,   0,   15, 0, 0, 'A', 'N', 'I',
                                  'M', 6,   0,   0,   0,   0,  0, 0, 0,   0,   0};
    bytes b = copy_of(webp);
    cut(&b, 0, b.size);
    insert(&b, 0, animation, sizeof animation);
    refuse(webp, b, TZ_ERR_FORMAT, "animation");
    refuse_when_cut(webp, 0);
}

#endif

/* ---- 55: LERC ---- */

static const tile_stream *const lerc = &tile_streams[STREAM_LERC];

enum {
    LERC_VERSION = 6,
    LERC_ROWS = 14,
    LERC_COLUMNS = 18,
    LERC_DEPTH = 22,
    LERC_VALID = 26,
    LERC_SIZE = 34,
    LERC_TYPE = 38
};

static bytes lerc_with(size_t at, uint32_t value)
{
    bytes b = copy_of(lerc);
    assert_true(b.data[LERC_VERSION] >= 4);
    for (size_t i = 0; i < 4; i++)
        b.data[at + i] = (uint8_t)(value >> 8 * i);
    return b;
}

static void case_55_lerc_headers(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {0, 1, 15, 17, 65535, 0x7fffffff, 0x80000000, 0xffffffff};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        refuse(lerc, lerc_with(LERC_ROWS, numbers[i]), TZ_ERR_FORMAT, "LERC");
        refuse(lerc, lerc_with(LERC_COLUMNS, numbers[i]), TZ_ERR_FORMAT, "LERC");
        if (numbers[i] != 1)
            refuse(lerc, lerc_with(LERC_DEPTH, numbers[i]), TZ_ERR_FORMAT, "LERC");
        refuse(lerc, lerc_with(LERC_VALID, numbers[i]), TZ_ERR_FORMAT, "LERC");
        if (numbers[i] != 1)
            refuse(lerc, lerc_with(LERC_TYPE, numbers[i]), TZ_ERR_FORMAT, "LERC");
        refuse(lerc, lerc_with(LERC_SIZE, numbers[i]), TZ_ERR_FORMAT, "LERC");
    }
    refuse(lerc, lerc_with(LERC_VERSION, 99), TZ_ERR_UNSUPPORTED, "version 2.99");
    bytes checksum = copy_of(lerc);
    checksum.data[10] ^= 1;
    refuse(lerc, checksum, TZ_ERR_FORMAT, "checksum");
    refuse_when_cut(lerc, 0);
}

static uint64_t lerc_parameters[2];
static size_t lerc_parameter_count;

static void describe_lerc(tb *b)
{
    tb_set(b, 0, TZ_TAG_LERC_PARAMETERS, TZ_TYPE_LONG, lerc_parameters, lerc_parameter_count);
}

static void case_55_lerc_parameters(void **state)
{
    (void)state;
    lerc_parameters[0] = 4;
    lerc_parameters[1] = 9;
    lerc_parameter_count = 2;
    FORMATS(f)
    tf_done_refuses(tf_new(f, lerc, 2, 1, describe_lerc), lerc,
                    DEFECT(FORMAT, CODEC, .tile = 0, .text = "unknown additional compression 9"));
    lerc_parameter_count = 1; /* says nothing of a further compression: there is none */
    FORMATS(f)
    tf_done_reads(tf_new(f, lerc, 2, 1, describe_lerc), lerc, 0);
}

/* ---- 56: JPEG 2000 and JPEG XL ---- */

#ifdef TZ_HAVE_OPENJPEG

static const tile_stream *const jp2 = &tile_streams[STREAM_JP2];

enum { JP2_WIDTH = 8, JP2_HEIGHT = 12, JP2_TILE_WIDTH = 24, JP2_TILE_HEIGHT = 28, JP2_COUNT = 40 };

static bytes jp2_with(size_t at, uint32_t value)
{
    bytes b = copy_of(jp2);
    assert_int_equal(b.data[3], 0x51); /* SIZ after SOC */
    set16(&b, at, value >> 16);
    set16(&b, at + 2, value & 0xffff);
    return b;
}

static void case_56_jpeg_2000_larger_than_the_tile(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {17, 65535, 0x7fffffff, 0xffffffff};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        refuse(jp2, jp2_with(JP2_WIDTH, numbers[i]), TZ_ERR_FORMAT, "JPEG 2000");
        refuse(jp2, jp2_with(JP2_HEIGHT, numbers[i]), TZ_ERR_FORMAT, "JPEG 2000");
    }
    refuse(jp2, jp2_with(JP2_WIDTH, 0), TZ_ERR_FORMAT, "JPEG 2000");
    refuse(jp2, jp2_with(JP2_TILE_WIDTH, 0), TZ_ERR_FORMAT, "JPEG 2000");
    bytes components = copy_of(jp2);
    set16(&components, JP2_COUNT, 16384);
    refuse(jp2, components, TZ_ERR_FORMAT, "JPEG 2000");
    bear(jp2, jp2_with(JP2_TILE_WIDTH, 1)); /* 16 tiles where there is data for one */
    refuse_when_cut(jp2, 2);
}

#endif

#ifdef TZ_HAVE_JXL

static const tile_stream *const jxl = &tile_streams[STREAM_JXL];

static void case_56_jpeg_xl_larger_than_the_tile(void **state)
{
    (void)state;
    for (unsigned eighths = 3; eighths <= 32; eighths += 7) {
        bytes b = copy_of(jxl); /* after the signature: small, height / 8 - 1, as wide as high */
        assert_int_equal(b.data[2] & 0x7f, 1 | 1 << 1 | 1 << 6);
        b.data[2] = (uint8_t)((b.data[2] & 0xC1) | (eighths - 1) << 1);
        refuse(jxl, b, TZ_ERR_FORMAT, "in a tile of");
    }
    refuse_when_cut(jxl, 0);
}

#endif

static void a_codestream_codec_may_be_missing(void **state)
{
    (void)state;
    for (size_t i = 0; i < STREAM_COUNT; i++) {
        if (!tf_available(&tile_streams[i]))
            tf_done_refuses(tf_new(TB_CLASSIC, &tile_streams[i], 2, 1, NULL), &tile_streams[i],
                            DEFECT(UNSUPPORTED, UNSUPPORTED, .text = "which this build does not"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef TZ_HAVE_JPEG
        CASE(case_49_jpeg_tables),
        CASE(case_49_jpeg_tables_of_megabytes),
        CASE(case_50_jpeg_frames_larger_than_the_tile),
        CASE(case_50_jpeg_frames_smaller_than_the_tile),
        CASE(case_50_jpeg_without_or_with_two_frames),
        CASE(case_51_jpeg_components_that_are_not_the_samples),
        CASE(case_51_jpeg_precision),
        CASE(case_51_jpeg_sampling),
        CASE(case_52_jpeg_of_80000_scans),
        CASE(case_52_jpeg_kinds_that_are_refused),
        CASE(case_53_jpeg_tables_that_are_not_there),
        CASE(jpeg_cut_off_anywhere),
#endif
#ifdef TZ_HAVE_WEBP
        CASE(case_54_webp_that_is_not_the_tile),
#endif
        CASE(case_55_lerc_headers),
        CASE(case_55_lerc_parameters),
#ifdef TZ_HAVE_OPENJPEG
        CASE(case_56_jpeg_2000_larger_than_the_tile),
#endif
#ifdef TZ_HAVE_JXL
        CASE(case_56_jpeg_xl_larger_than_the_tile),
#endif
        CASE(a_codestream_codec_may_be_missing),
    };
    tf_warm_up();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
