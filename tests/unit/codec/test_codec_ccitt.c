/* SPDX-License-Identifier: Apache-2.0
 * Fax codes: pictures that come back, streams of libtiff, and streams that no encoder writes. */
#include "support/codec/codec_run.h"
#include "support/codec/fax_encoder.h"

static codec_run fax;

static int open_fax(void **state)
{
    (void)state;
    run_open(&fax, &tz_decoder_ccitt);
    return 0;
}

static int close_fax(void **state)
{
    (void)state;
    run_close(&fax);
    return 0;
}

static tz_tile_format fax_format(unsigned width, unsigned height, const fax_options *options)
{
    return (tz_tile_format){.width = width,
                            .height = height,
                            .samples = 1,
                            .bits = 1,
                            .sample_format = 1,
                            .compression = (uint16_t)options->compression,
                            .fill_order = 1,
                            .fax_options = options->two_dimensions ? 1 : 0};
}

static const fax_options group_4 = {.compression = 4};
static const fax_options all_options[] = {
    {.compression = 2},
    {.compression = 3},
    {.compression = 3, .no_end = true},
    {.compression = 3, .align_eol = true},
    {.compression = 3, .no_eol = true},
    {.compression = 3, .no_eol = true, .no_end = true},
    {.compression = 3, .two_dimensions = true},
    {.compression = 3, .two_dimensions = true, .align_eol = true},
    {.compression = 3, .two_dimensions = true, .no_end = true},
    {.compression = 4},
    {.compression = 4, .no_end = true},
};
enum { OPTIONS = sizeof all_options / sizeof all_options[0] };

/* Pictures: each kind exercises other codes. */
enum { KINDS = 7 };
static uint8_t pixel_of(unsigned kind, unsigned x, unsigned y, uint32_t random, uint8_t before,
                        uint8_t above)
{
    switch (kind) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
        return (x + y) & 1;
    case 3:
        return (uint8_t)(random >> 31);
    case 4: /* long runs */
        return (uint8_t)((random >> 20 & 63) == 0 ? !before : before);
    case 5: /* rows that resemble each other */
        return (uint8_t)((random >> 20 & 15) == 0 ? before : above);
    default: /* slanted bars */
        return (x + 2 * y) / 37 % 3 == 0;
    }
}

static fax_picture make_picture(unsigned width, unsigned height, unsigned kind)
{
    fax_picture picture = {run_alloc((size_t)width * height), width, height};
    uint32_t random = 99 + width * 7 + kind;
    for (unsigned y = 0; y < height; y++) {
        for (unsigned x = 0; x < width; x++) {
            uint8_t *pixel = picture.pixels + (size_t)y * width + x;
            random = random * 1664525u + 1013904223u;
            *pixel = pixel_of(kind, x, y, random, x > 0 ? pixel[-1] : 0,
                              y > 0 ? *(pixel - width) : x & 1);
        }
    }
    return picture;
}

static void check_pixels(const uint8_t *out, const fax_picture *picture)
{
    size_t row_bytes = (picture->width + 7u) / 8;
    for (unsigned y = 0; y < picture->height; y++) {
        for (unsigned x = 0; x < row_bytes * 8; x++) {
            unsigned found = out[y * row_bytes + x / 8] >> (7 - x % 8) & 1;
            unsigned expected =
                x < picture->width ? picture->pixels[(size_t)y * picture->width + x] : 0;
            if (found != expected)
                print_error("pixel %u of row %u\n", x, y);
            assert_int_equal(found, expected);
        }
    }
}

static void check_round_trip(const fax_picture *picture, const fax_options *options, bool low_first)
{
    bit_writer in = fax_encode(picture, options, low_first);
    tz_tile_format format = fax_format(picture->width, picture->height, options);
    format.fill_order = low_first ? 2 : 1;
    uint8_t *out = run_decode(&fax, &format, in.data, in.size);
    check_pixels(out, picture);
    free(out);
    free(in.data);
}

static void check_pictures(unsigned width, unsigned height)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        fax_picture picture = make_picture(width, height, kind);
        for (size_t i = 0; i < OPTIONS; i++)
            check_round_trip(&picture, &all_options[i], (i + width) % 2);
        free(picture.pixels);
    }
    bench_silent(&fax.bench);
}

/* Round trips ---------------------------------------------------------------------------------- */

static void pictures_of_every_width_come_back(void **state)
{
    (void)state;
    for (unsigned width = 1; width <= 140; width++)
        check_pictures(width, 5);
}

static void pages_come_back(void **state)
{
    (void)state;
    check_pictures(1728, 30);
    check_pictures(2623, 3);
    check_pictures(2624, 3);
    check_pictures(17000, 3);
    check_pictures(33, 500);
}

static void narrow_tiles_follow_wide_ones(void **state)
{
    (void)state;
    check_pictures(4000, 2);
    check_pictures(9, 2);
    check_pictures(8000, 2);
}

static void every_run_code_of_libtiff_decodes(void **state)
{
    (void)state;
    /* Row i is white for as many pixels as run code i says, and black up to 2624. */
    static const char hex[] = "3501f03c371c07c19c701f0660801f05a0b01f02c0c01f02b0e01f0590f01f058098"
                              "0f8140a00f8138380f81c040"
                              "0f81b82007c0900c07c14cd007c148d407c194a807c190ac07c15c4e03e0ac1803e0"
                              "aa1003e0a82e03e1b60603e1"
                              "b40803e0da5003e0d85603e1ae2603e1ac4803e1aa3003e1a80201f0d30301f0d21a"
                              "01f06b1b01f06a1201f06913"
                              "01f0681401f0cd1501f0cc1601f0cb1701f0ca2801f0302901f02e2a01f0502b01f0"
                              "6e2c01f0d82d01f0d00401f0"
                              "ce0501f0200a01f0600b01f05c5201f0c05301f0705401f0405501f0e02401f0a025"
                              "01f0805801f1005901f1405a"
                              "01f1805b01f24a01f34b01f63201f83301fc3401f4d9a80f86e091a80f06e05cd407"
                              "43706e6a0381b836350170dc"
                              "37350160dc64350150dc65350140dc68350130dc67350120dc661a80d0dc669a80c0"
                              "dc691a8080dc699a8194376a"
                              "1a8190376a9a816c376b1a8168376b9a8154376c1a8150376c9a814c376d1a814837"
                              "6d9a81dc374c1a81d8374c9a"
                              "81d4374d1a81d03760d40e61b84d9a81c8370106a04d0dc00186a04c0dc001a6a04b"
                              "0dc00123502506e001335036"
                              "86e00143503606e0015350350dc0016350340dc0017350330dc001c3505b0dc001d3"
                              "50c90dc001e350c80dc001f3"
                              "503c37";
    static uint8_t in[600];
    size_t size = from_hex(hex, in);
    fax_picture picture = {run_alloc(2624 * 104), 2624, 104};
    for (unsigned y = 0; y < 104; y++)
        for (unsigned x = 0; x < 2624; x++)
            picture.pixels[y * 2624 + x] = x >= (y < 64 ? y : (y - 63) * 64);
    tz_tile_format format = fax_format(2624, 104, &(fax_options){.compression = 2});
    uint8_t *out = run_decode(&fax, &format, in, size);
    check_pixels(out, &picture);
    bench_silent(&fax.bench);
    free(out);
    free(picture.pixels);
}

static void streams_of_libtiff_decode(void **state)
{
    (void)state;
    static const uint8_t expected[] = {0x1f, 0x80, 0x0f, 0x00, 0x0f, 0x0f, 0xe0, 0x0f, 0x00, 0x1f,
                                       0x07, 0xf8, 0x0e, 0x00, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x00,
                                       0x01, 0xff, 0x8c, 0x00, 0xff, 0x00, 0xff, 0xe0, 0x01, 0xff,
                                       0xc0, 0x7f, 0xf8, 0x03, 0xff, 0x00, 0x3f, 0xfe, 0x07, 0xff};
    static const struct {
        uint16_t compression, fill_order;
        uint32_t options;
        const char *hex;
    } streams[] = {
        {2, 1, 0, "82432180b1d1a0c0c17e410029f0919c5098520435fc3d0200382705"},
        {3, 1, 0, "001824321800d8e8d0600382fc8200129001f0919c500198520400135fc3d020009c138280"},
        {3, 1, 1, "001c12190c004c3d400782fc82001089ac37001f848ce28009862a00335fc3d020008586a0"},
        {3, 1, 5,
         "0001c12190c00130f50001e0bf208001089ac37001f848ce28000130c540019afe1e8100010b0d40"},
        {3, 2, 4, "008041c28401808d8b050380837e8200809400800f89390a80194a200080ac3fbc4000801ce4a0"},
        {4, 1, 0, "30450c90d87ab0e9444d61b9f08632715862a4d761a8b0d4004004"},
        {4, 2, 0, "0ca230091b5e0d9722b2869d0f614c8e1a4625eb86150d2b000220"},
    };
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        uint8_t in[64];
        size_t size = from_hex(streams[i].hex, in);
        tz_tile_format format = fax_format(40, 8, &group_4);
        format.compression = streams[i].compression;
        format.fill_order = streams[i].fill_order;
        format.fax_options = streams[i].options;
        uint8_t *out = run_decode(&fax, &format, in, size);
        assert_memory_equal(out, expected, sizeof expected);
        free(out);
    }
    bench_silent(&fax.bench);
}

/* Habits of encoders -----------------------------------------------------------------------------
 */

static void runs_of_no_pixels_can_be_referred_to(void **state)
{
    (void)state;
    /* As ImageGear writes: a row that begins with an empty run of each colour, and in the next row
     * a pass over them. Both rows are white, 5 black, white. */
    bit_writer in = {0};
    put_bits(&in, 1, 3);
    put_run(&in, 0, 0);
    put_run(&in, 1, 0);
    put_bits(&in, 1, 3);
    put_run(&in, 0, 10);
    put_run(&in, 1, 5);
    put_vertical(&in, 0);
    put_bits(&in, 1, 4);
    put_vertical(&in, 0);
    put_vertical(&in, 0);
    put_vertical(&in, 0);
    tz_tile_format format = fax_format(24, 2, &group_4);
    uint8_t *out = run_decode(&fax, &format, in.data, in.size);
    assert_memory_equal(out, ((const uint8_t[]){0, 0x3e, 0, 0, 0x3e, 0}), 6);
    free(out);
    free(in.data);
}

static void other_bytes_after_the_last_row_are_a_warning(void **state)
{
    (void)state;
    fax_picture picture = make_picture(40, 3, 6);
    for (size_t i = 0; i < OPTIONS; i++) {
        bit_writer in = fax_encode(&picture, &all_options[i], false);
        tz_tile_format format = fax_format(40, 3, &all_options[i]);
        put_align(&in);
        put_bits(&in, 0, 16);
        free(run_decode(&fax, &format, in.data, in.size)); /* zeros are none */
        bench_silent(&fax.bench);
        put_bits(&in, 0xFFFF, 16);
        free(run_warns(&fax, &format, in.data, in.size, "bytes after the end"));
        free(in.data);
    }
    free(picture.pixels);
}

/* Damage -----------------------------------------------------------------------------------------
 */

static void check_refused(bit_writer *in, unsigned width, unsigned height,
                          const fax_options *options, const char *text)
{
    tz_tile_format format = fax_format(width, height, options);
    run_refuses_saying(&fax, &format, in->data, in->size, REFUSED_CODEC, text);
    free(in->data);
}

/* Rows of the picture, then one that is white from some pixel on, then white ones. Returns how many
 * are not those of the picture or are beyond it. */
static unsigned check_upper_rows(const uint8_t *out, const fax_picture *picture, unsigned height)
{
    const size_t row_bytes = (picture->width + 7u) / 8;
    unsigned whole = 0;
    bool white = false;
    for (unsigned y = 0; y < height; y++) {
        const bool first = !white;
        for (unsigned x = 0; x < picture->width; x++) {
            const unsigned found = out[y * row_bytes + x / 8] >> (7 - x % 8) & 1;
            const unsigned expected =
                y < picture->height ? picture->pixels[(size_t)y * picture->width + x] : 2;
            white = white || found != expected;
            assert_false(white && found != 0);
        }
        whole += first && !white;
    }
    return height - whole;
}

/* Kinds of streams of which the end may be missing: those of group 3 in one dimension. */
static bool may_end_early(const fax_options *options)
{
    return options->compression == 3 && !options->two_dimensions;
}

static void data_cut_off_anywhere(void **state)
{
    (void)state;
    unsigned decoded = 0;
    for (unsigned kind = 2; kind < KINDS; kind++) {
        fax_picture picture = make_picture(100, 6, kind);
        for (size_t i = 0; i < OPTIONS; i++) {
            fax_options options = all_options[i];
            options.no_end = true;
            bit_writer in = fax_encode(&picture, &options, false);
            tz_tile_format format = fax_format(100, 6, &options);
            for (size_t size = 0; size < in.size; size++) {
                uint8_t *out;
                tz_warnings_deinit(&fax.bench.warnings);
                const tz_result result = run_once(&fax, &format, in.data, size, 13, 7, &out);
                if (result == TZ_OK) {
                    const unsigned rows = check_upper_rows(out, &picture, 6);
                    bench_warned(&fax.bench, TZ_CAUSE_CODEC, -1, 6,
                                 fax.bench.warnings.list[0].found, "end early or are missing");
                    const tz_error *warning = &fax.bench.warnings.list[0];
                    assert_int_equal(warning->found, 6 - warning->count);
                    /* the row that ended may have been white there anyway */
                    assert_true(warning->count == rows || warning->count == rows + 1);
                    assert_int_equal(warning->tile, 7);
                    decoded++;
                }
                assert_true(result == TZ_OK || strstr(fax.bench.err.message, "row "));
                assert_true(result != TZ_OK || may_end_early(&options) || options.compression == 4);
                free(out);
            }
            free(in.data);
        }
        free(picture.pixels);
    }
    assert_true(decoded > 100);
    tz_warnings_deinit(&fax.bench.warnings);
}

static void rows_that_are_missing_are_white(void **state)
{
    (void)state;
    fax_picture picture = make_picture(100, 6, 6);
    for (size_t i = 0; i < OPTIONS; i++) {
        const fax_options *options = &all_options[i];
        bit_writer in = fax_encode(&picture, options, false);
        const bool by_eols = options->two_dimensions && !options->no_end; /* of the RTC */
        const bool unclear = options->no_eol && !options->no_end; /* an EOL, where none was */
        if (options->compression == 2 || unclear || (options->two_dimensions && !by_eols)) {
            check_refused(&in, 100, 9, options, "row 6");
            continue;
        }
        tz_tile_format format = fax_format(100, 9, options);
        uint8_t *out = run_warns(&fax, &format, in.data, in.size, "from row 6 on");
        assert_int_equal(check_upper_rows(out, &picture, 9), 3);
        free(out);
        free(in.data);
    }
    free(picture.pixels);
}

/* A lowest tile without the rows that the image does not have: not a defect of its rows. */
static void rows_below_the_image_may_be_missing(void **state)
{
    (void)state;
    fax_picture picture = make_picture(100, 6, 6);
    for (size_t i = 0; i < OPTIONS; i++) {
        bit_writer in = fax_encode(&picture, &all_options[i], false);
        tz_tile_format format = fax_format(100, 9, &all_options[i]);
        format.image_rows = 6;
        const tz_codec_call call = {&fax.bench.ctx, tz_at_tile(0, false, 7, 1000)};
        uint8_t *out = run_alloc(9 * 13 + TZ_CODEC_SLACK),
                *data = run_alloc(in.size + TZ_CODEC_SLACK);
        memcpy(data, in.data, in.size);
        assert_int_equal(
            tz_decode_tile(fax.codec, fax.state, &format, data, in.size, out, 13, &call), TZ_OK);
        bench_warned(&fax.bench, TZ_CAUSE_CODEC, -1, 9, 6, "another number of rows");
        assert_int_equal(check_upper_rows(out, &picture, 9), 3);
        tz_warnings_deinit(&fax.bench.warnings);
        free(out);
        free(data);
        free(in.data);
    }
    free(picture.pixels);
}

/* One row of group 3 between two good ones: runs, then the EOL of the next. */
typedef struct short_row {
    unsigned runs[4]; /* white, black, ...; 0 after the first: no more */
    unsigned count;
    bool open; /* a make-up code of 64 pixels follows, without the rest of its run */
} short_row;

static bit_writer with_short_row(const fax_picture *picture, const short_row *row, bool tagged,
                                 bool align)
{
    const fax_options options = {.compression = 3, .two_dimensions = tagged, .align_eol = align};
    bit_writer in = {0};
    for (unsigned y = 0; y < 3; y++) {
        put_eol(&in, &options);
        if (tagged)
            put_bit(&in, 1);
        if (y != 1)
            put_row_1d(&in, picture->pixels + (size_t)y * picture->width, (int)picture->width);
        for (unsigned i = 0; y == 1 && i < row->count; i++)
            put_run(&in, (int)i % 2, row->runs[i]);
        if (y == 1 && row->open) {
            const fax_code code = row->count % 2 ? fax_black_codes[64] : fax_white_codes[64];
            put_bits(&in, code.bits, code.size);
        }
    }
    return in;
}

static void rows_that_end_early_are_white_from_there_on(void **state)
{
    (void)state;
    static const short_row rows[] = {{{0}, 0, false},           {{10}, 1, false},
                                     {{10, 20}, 2, false},      {{0, 20, 30}, 3, false},
                                     {{1, 1, 1, 96}, 4, false}, {{0, 0}, 2, false},
                                     {{5, 9}, 2, true}};
    fax_picture picture = make_picture(100, 3, 6);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memset(picture.pixels + 100, 0, 100);
        for (unsigned k = 0, x = 0; k < rows[i].count; x += rows[i].runs[k++])
            memset(picture.pixels + 100 + x, (int)k % 2, rows[i].runs[k]);
        for (unsigned kind = 0; kind < 4; kind++) {
            bit_writer in = with_short_row(&picture, &rows[i], kind % 2, kind / 2);
            tz_tile_format format =
                fax_format(100, 3, &(fax_options){.compression = 3, .two_dimensions = kind % 2});
            uint8_t *out = run_warns(&fax, &format, in.data, in.size, "from row 1 on");
            check_pixels(out, &picture);
            free(out);
            free(in.data);
        }
    }
    free(picture.pixels);
}

/* The next row in two dimensions refers to the row as it came out. */
static void a_short_row_can_be_referred_to(void **state)
{
    (void)state;
    for (unsigned runs = 1; runs <= 2; runs++) {
        fax_picture picture = make_picture(100, 3, 6);
        memset(picture.pixels + 100, 0, 100);
        memset(picture.pixels + 110, runs == 2, 30);
        bit_writer in = {0};
        put_bits(&in, 3, 13);
        put_row_1d(&in, picture.pixels, 100);
        put_bits(&in, 3, 13);
        put_run(&in, 0, 10);
        if (runs == 2)
            put_run(&in, 1, 30);
        put_bits(&in, 2, 13);
        put_row_2d(&in, picture.pixels + 200, picture.pixels + 100, 100);
        tz_tile_format format =
            fax_format(100, 3, &(fax_options){.compression = 3, .two_dimensions = true});
        uint8_t *out = run_warns(&fax, &format, in.data, in.size, "from row 1 on");
        check_pixels(out, &picture);
        free(out);
        free(in.data);
        free(picture.pixels);
    }
}

static void rows_that_end_early_otherwise_are_errors(void **state)
{
    (void)state;
    fax_picture picture = make_picture(100, 3, 6);
    const fax_options options = {.compression = 3};
    /* within a black run, of which decoders make different things */
    bit_writer in = with_short_row(&picture, &(short_row){{5}, 1, true}, false, false);
    check_refused(&in, 100, 3, &options, "row 1 of the fax data ends at pixel 5 of 100");
    /* an EOL within rows that had none */
    in = (bit_writer){0};
    put_row_1d(&in, picture.pixels, 100);
    put_run(&in, 0, 10);
    put_eol(&in, &options);
    put_row_1d(&in, picture.pixels + 200, 100);
    check_refused(&in, 100, 3, &options, "row 1 of the fax data ends at pixel 10 of 100");
    /* in two dimensions */
    in = (bit_writer){0};
    put_bits(&in, 3, 13);
    put_row_1d(&in, picture.pixels, 100);
    put_bits(&in, 2, 13);
    put_bits(&in, 1, 3);
    put_run(&in, 0, 10);
    put_run(&in, 1, 20);
    put_bits(&in, 3, 13);
    put_row_1d(&in, picture.pixels + 200, 100);
    check_refused(&in, 100, 3, &(fax_options){.compression = 3, .two_dimensions = true}, "row 1");
    in = (bit_writer){0}; /* and of group 4 */
    put_row_2d(&in, picture.pixels, (const uint8_t[100]){0}, 100);
    put_bits(&in, 1, 3);
    put_run(&in, 0, 10);
    put_run(&in, 1, 20);
    put_bits(&in, 1, 12);
    put_bits(&in, 1, 12);
    check_refused(&in, 100, 3, &group_4, "row 1 of the fax data ends at pixel 30 of 100");
    free(picture.pixels);
}

/* A tile of which nothing is there is not a white one. */
static void data_without_a_row_is_an_error(void **state)
{
    (void)state;
    static const unsigned eols[] = {0, 1, 2, 6, 50};
    for (size_t i = 0; i < sizeof eols / sizeof eols[0]; i++) {
        bit_writer in = {0};
        put_bits(&in, 0, 8);
        for (unsigned k = 0; k < eols[i]; k++)
            put_bits(&in, 1, 12);
        check_refused(&in, 100, 20, &(fax_options){.compression = 3}, "no row");
        in = (bit_writer){0};
        put_bits(&in, 0, 8);
        for (unsigned k = 0; k < eols[i]; k++)
            put_bits(&in, 1, 12);
        check_refused(&in, 100, 20, &group_4, "row 0");
    }
}

static void a_run_that_is_too_long_is_an_error(void **state)
{
    (void)state;
    bit_writer in = {0};
    put_run(&in, 0, 20);
    put_run(&in, 1, 80);
    check_refused(&in, 99, 1, &(fax_options){.compression = 2},
                  "row 0 of the fax data has more than 99");
    in = (bit_writer){0};
    for (unsigned i = 0; i < 100000; i++)
        put_bits(&in, 0x1f, 12); /* 2560 pixels each, and no end of it */
    check_refused(&in, 1000000, 1, &(fax_options){.compression = 2}, "more than 1000000 pixels");
}

static void codes_that_lead_out_of_the_row_are_errors(void **state)
{
    (void)state;
    for (int distance = 1; distance <= 3; distance++) {
        bit_writer in = {0};
        put_vertical(&in, distance);
        check_refused(&in, 16, 1, &group_4, "from pixel 0 of row 0 to pixel");
        in = (bit_writer){0};
        put_bits(&in, 1, 3); /* to 15, whence one back */
        put_run(&in, 0, 14);
        put_run(&in, 1, 1);
        put_vertical(&in, -distance);
        put_vertical(&in, -distance);
        put_vertical(&in, -distance);
        put_bits(&in, 0, 20);
        check_refused(&in, 16, 1, &group_4, "row 0");
    }
}

static void bits_that_are_no_code_are_an_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < OPTIONS; i++) {
        bit_writer in = {0};
        if (all_options[i].two_dimensions)
            put_bits(&in, 3, 13);
        put_bits(&in, 1, 9); /* eight zeros and a one */
        put_bits(&in, 0x55555555, 32);
        check_refused(&in, 100, 2, &all_options[i], "row 0");
    }
}

static void a_row_without_eol_in_two_dimensions_is_an_error(void **state)
{
    (void)state;
    fax_picture picture = make_picture(100, 6, 6);
    fax_options options = {.compression = 3, .two_dimensions = true, .no_eol = true};
    bit_writer in = fax_encode(&picture, &options, false);
    check_refused(&in, 100, 6, &options, "does not begin with an EOL");
    free(picture.pixels);
}

static void uncompressed_mode_is_not_supported(void **state)
{
    (void)state;
    bit_writer in = {0};
    put_bits(&in, 0x0f, 10);
    tz_tile_format format = fax_format(16, 1, &group_4);
    run_refuses_saying(&fax, &format, in.data, in.size, REFUSED_UNSUPPORTED,
                       "uncompressed fax data");
    free(in.data);
}

static void pixels_of_more_than_one_bit_are_not_supported(void **state)
{
    (void)state;
    static const uint8_t in[] = {1, 2, 3};
    tz_tile_format format = fax_format(16, 1, &group_4);
    format.bits = 8;
    run_refuses_saying(&fax, &format, in, sizeof in, REFUSED_UNSUPPORTED, "1 samples of 8 bits");
    format.bits = 1;
    format.samples = 3;
    run_refuses_saying(&fax, &format, in, sizeof in, REFUSED_UNSUPPORTED, "3 samples of 1 bits");
}

static void endless_empty_runs_and_zeros_end_soon(void **state)
{
    (void)state;
    bit_writer in = {0};
    for (unsigned i = 0; i < 10000; i++) {
        put_bits(&in, 1, 3);
        put_run(&in, 0, 0);
        put_run(&in, 1, 0);
    }
    check_refused(&in, 100, 1, &group_4, "more runs than pixels");
    in = (bit_writer){0};
    put_bits(&in, 1, 32);
    for (unsigned i = 0; i < 1000000; i++)
        put_bit(&in, 0);
    check_refused(&in, 100, 1, &(fax_options){.compression = 3}, "no row");
    in = (bit_writer){0};
    for (unsigned i = 0; i < 100000; i++)
        put_bits(&in, 1, 12);
    check_refused(&in, 100, 1, &(fax_options){.compression = 3}, "no row");
    for (unsigned size = 8; size <= 12; size += 4) { /* a row, then zeros, or EOLs, without end */
        in = (bit_writer){0};
        put_bits(&in, 1, 12);
        put_run(&in, 0, 100);
        for (unsigned i = 0; i < 200000; i++)
            put_bits(&in, size == 12, size);
        tz_tile_format format = fax_format(100, 100000, &(fax_options){.compression = 3});
        free(run_warns(&fax, &format, in.data, in.size, "from row 1 on"));
        free(in.data);
    }
}

static void rows_that_take_too_much_memory_meet_the_limit(void **state)
{
    (void)state;
    static const uint8_t in[] = {0x80};
    tz_tile_format format = fax_format(20000000, 1, &group_4);
    run_refuses_saying(&fax, &format, in, sizeof in, REFUSED_LIMIT, "max_codec_bytes");
    assert_string_equal(fax.bench.err.limit, "max_codec_bytes");
}

static void damage_never_depends_on_what_is_around(void **state)
{
    (void)state;
    for (unsigned kind = 2; kind < KINDS; kind++) {
        fax_picture picture = make_picture(150, 40, kind);
        for (size_t i = 0; i < OPTIONS; i++) {
            bit_writer in = fax_encode(&picture, &all_options[i], false);
            tz_tile_format format = fax_format(150, 40, &all_options[i]);
            run_damaged(&fax, &format, in.data, in.size, 200);
            free(in.data);
        }
        free(picture.pixels);
    }
    tz_warnings_deinit(&fax.bench.warnings);
}

static void memory_is_kept_and_may_run_out(void **state)
{
    (void)state;
    fax_picture picture = make_picture(150, 4, 3);
    bit_writer in = fax_encode(&picture, &group_4, false);
    tz_tile_format format = fax_format(150, 4, &group_4);
    run_without_memory(&tz_decoder_ccitt, &format, in.data, in.size);
    assert_int_equal(run_allocations(&fax, &format, in.data, in.size), 0);
    free(in.data);
    free(picture.pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_of_every_width_come_back),
        cmocka_unit_test(pages_come_back),
        cmocka_unit_test(narrow_tiles_follow_wide_ones),
        cmocka_unit_test(every_run_code_of_libtiff_decodes),
        cmocka_unit_test(streams_of_libtiff_decode),
        cmocka_unit_test(runs_of_no_pixels_can_be_referred_to),
        cmocka_unit_test(other_bytes_after_the_last_row_are_a_warning),
        cmocka_unit_test(data_cut_off_anywhere),
        cmocka_unit_test(rows_that_are_missing_are_white),
        cmocka_unit_test(rows_below_the_image_may_be_missing),
        cmocka_unit_test(rows_that_end_early_are_white_from_there_on),
        cmocka_unit_test(a_short_row_can_be_referred_to),
        cmocka_unit_test(rows_that_end_early_otherwise_are_errors),
        cmocka_unit_test(data_without_a_row_is_an_error),
        cmocka_unit_test(a_run_that_is_too_long_is_an_error),
        cmocka_unit_test(codes_that_lead_out_of_the_row_are_errors),
        cmocka_unit_test(bits_that_are_no_code_are_an_error),
        cmocka_unit_test(a_row_without_eol_in_two_dimensions_is_an_error),
        cmocka_unit_test(uncompressed_mode_is_not_supported),
        cmocka_unit_test(pixels_of_more_than_one_bit_are_not_supported),
        cmocka_unit_test(endless_empty_runs_and_zeros_end_soon),
        cmocka_unit_test(rows_that_take_too_much_memory_meet_the_limit),
        cmocka_unit_test(damage_never_depends_on_what_is_around),
        cmocka_unit_test(memory_is_kept_and_may_run_out),
    };
    return cmocka_run_group_tests(tests, open_fax, close_fax);
}
