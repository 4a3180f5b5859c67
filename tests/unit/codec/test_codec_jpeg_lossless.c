/* SPDX-License-Identifier: Apache-2.0
 * Lossless JPEG: every form of it gives the samples that went in, and damage is an error. */
#include "codec/standalone_stream.h"
#include "support/codec/codec_run.h"
#include "support/codec/lossless_jpeg.h"

typedef struct fixture {
    codec_run run;
    lossless_recipe recipe;
    uint16_t *samples;
    lossless_stream s;
    tz_tile_format format;
} fixture;

/* Slopes, so that predictors differ, with noise in the whole range. */
static uint16_t *picture(const lossless_recipe *r)
{
    const size_t count = (size_t)r->width * r->height * r->components;
    uint16_t *samples = run_alloc(count * sizeof *samples);
    uint32_t random = 99;
    for (size_t i = 0; i < count; i++) {
        random = random * 1664525 + 1013904223;
        const uint32_t noise = random >> 28 == 0 ? random >> 8 : random >> 29;
        const uint32_t value = (uint32_t)(i * 3 / r->components) + noise;
        samples[i] = (uint16_t)((value & ((1u << r->precision) - 1)) >> r->shift << r->shift);
    }
    return samples;
}

static void begin(fixture *f, lossless_recipe r)
{
    r.predictor = r.predictor ? r.predictor : 1;
    r.precision = r.precision ? r.precision : 8;
    r.components = r.components ? r.components : 1;
    f->recipe = r;
    f->samples = picture(&r);
    f->s = lossless_encode(&r, f->samples);
    f->format = (tz_tile_format){.width = r.width,
                                 .height = r.height,
                                 .samples = (uint16_t)r.components,
                                 .bits = (uint16_t)r.precision,
                                 .sample_format = 1,
                                 .compression = 7,
                                 .photometric = r.components == 3 ? 2 : 1,
                                 .subsampling = {2, 2}};
    if (r.tables_apart) {
        f->format.tables = f->s.tables;
        f->format.tables_size = f->s.tables_size;
    }
    run_open(&f->run, &tz_decoder_jpeg);
}

static void end(fixture *f)
{
    run_close(&f->run);
    free(f->s.data);
    free(f->samples);
}

/* Sample number index of a packed row. */
static unsigned sample_of(const uint8_t *row, size_t index, unsigned bits)
{
    uint16_t word;
    if (bits == 16) {
        memcpy(&word, row + 2 * index, sizeof word);
        return word;
    }
    unsigned value = 0;
    for (size_t at = index * bits; at < (index + 1) * bits; at++)
        value = value << 1 | (row[at / 8] >> (7 - at % 8) & 1u);
    return value;
}

/* The tile has the samples in the order of rows, whatever its shape. */
static void check_samples(fixture *f)
{
    uint8_t *out = run_decode(&f->run, &f->format, f->s.data, f->s.size);
    const size_t row_samples = (size_t)f->format.width * f->format.samples;
    for (size_t i = 0; i < row_samples * f->format.height; i++)
        assert_int_equal(sample_of(out + i / row_samples * tz_tile_row_bytes(&f->format),
                                   i % row_samples, f->format.bits),
                         f->samples[i]);
    free(out);
}

static void check_round_trip(lossless_recipe r)
{
    fixture f;
    begin(&f, r);
    check_samples(&f);
    bench_silent(&f.run.bench);
    end(&f);
}

static void every_predictor_and_precision(void **state)
{
    (void)state;
    for (unsigned predictor = 1; predictor <= 7; predictor++)
        for (unsigned precision = 2; precision <= 16; precision++)
            for (unsigned components = 1; components <= 4; components++)
                check_round_trip((lossless_recipe){.width = 37,
                                                   .height = 11,
                                                   .components = components,
                                                   .precision = precision,
                                                   .predictor = predictor});
}

static void every_form_of_a_stream(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 64; form++)
        for (unsigned components = 1; components <= 4; components++)
            check_round_trip((lossless_recipe){.width = 19,
                                               .height = 23,
                                               .components = components,
                                               .precision = form & 1 ? 12 : 15,
                                               .predictor = 1 + form % 7,
                                               .shift = form & 2 ? 3 : 0,
                                               .restart_rows = form & 4 ? 2 : 0,
                                               .scans_apart = form & 8,
                                               .long_codes = form & 16,
                                               .tables_apart = form & 32});
}

static void odd_sizes(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = {{1, 1}, {1, 50}, {50, 1}, {3, 2}, {513, 5}, {65535, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (unsigned predictor = 1; predictor <= 7; predictor++)
            check_round_trip((lossless_recipe){.width = sizes[i][0],
                                               .height = sizes[i][1],
                                               .precision = 16,
                                               .predictor = predictor,
                                               .restart_rows = i == 5 ? 1 : 0});
}

/* As DNG has it: pairs of neighbours are components, so that colours predict their like. */
static void frame_and_tile_may_have_other_shapes(void **state)
{
    (void)state;
    static const struct {
        unsigned width, height, components; /* of the frame */
        unsigned tile_width, tile_height, samples;
    } shapes[] = {{16, 24, 2, 32, 24, 1}, {64, 12, 1, 32, 24, 1}, {32, 6, 4, 32, 24, 1},
                  {32, 24, 3, 96, 24, 1}, {32, 8, 3, 32, 8, 3},   {24, 8, 4, 32, 8, 3},
                  {7, 15, 1, 5, 7, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (unsigned apart = 0; apart < 2; apart++) {
            fixture f;
            begin(&f, (lossless_recipe){.width = shapes[i].width,
                                        .height = shapes[i].height,
                                        .components = shapes[i].components,
                                        .precision = 12,
                                        .predictor = 4,
                                        .scans_apart = apart});
            f.format.width = shapes[i].tile_width;
            f.format.height = shapes[i].tile_height;
            f.format.samples = (uint16_t)shapes[i].samples;
            check_samples(&f);
            bench_silent(&f.run.bench);
            f.format.height++;
            if (shapes[i].components != shapes[i].samples)
                run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
            end(&f);
        }
}

static void fewer_pixels_and_bits_are_warnings(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (lossless_recipe){.width = 20, .height = 10, .precision = 14});
    f.format.bits = 16;
    free(run_warns(&f.run, &f.format, f.s.data, f.s.size, "fewer bits"));
    f.format.bits = 14;
    f.format.width = 32;
    f.format.height = 16;
    uint8_t *out = run_warns(&f.run, &f.format, f.s.data, f.s.size, "only 20 x 10");
    for (size_t y = 0; y < 16; y++)
        for (size_t x = 0; x < 32; x++)
            assert_int_equal(sample_of(out + y * tz_tile_row_bytes(&f.format), x, 14),
                             y < 10 && x < 20 ? f.samples[y * 20 + x] : 0);
    free(out);
    f.format.width = 20;
    f.format.height = 6;
    f.format.strip_height = 10;
    free(run_warns(&f.run, &f.format, f.s.data, f.s.size, "last strip"));
    end(&f);
}

static void tiles_that_are_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (lossless_recipe){.width = 20, .height = 10, .components = 3});
    tz_tile_format format = f.format;
    format.bits = 7;
    run_refuses(&f.run, &format, f.s.data, f.s.size, REFUSED_CODEC);
    format = f.format, format.width = 19;
    run_refuses(&f.run, &format, f.s.data, f.s.size, REFUSED_CODEC);
    format = f.format, format.photometric = 6;
    run_refuses(&f.run, &format, f.s.data, f.s.size, REFUSED_UNSUPPORTED);
    format = f.format, format.bits = 16, format.sample_format = 2;
    run_refuses(&f.run, &format, f.s.data, f.s.size, REFUSED_CODEC);
    f.run.bench.limits.max_codec_bytes = 100;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT);
    end(&f);
}

static size_t find_marker(const lossless_stream *s, uint8_t marker)
{
    size_t at = 0;
    while (s->data[at] != 0xFF || s->data[at + 1] != marker)
        at++;
    return at;
}

/* Byte at of the segment of this marker is another one. */
static void refuse_byte(lossless_recipe r, uint8_t marker, size_t at, uint8_t value,
                        refusal refused)
{
    fixture f;
    begin(&f, r);
    f.s.data[find_marker(&f.s, marker) + at] = value;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, refused);
    end(&f);
}

static void headers_that_are_refused(void **state)
{
    (void)state;
    enum { SOF3 = 0xC3, DHT = 0xC4, SOS = 0xDA, DRI = 0xDD };
    const lossless_recipe r = {.width = 20, .height = 10, .components = 3, .restart_rows = 2};
    refuse_byte(r, SOF3, 4, 1, REFUSED_CODEC);           /* precision */
    refuse_byte(r, SOF3, 4, 17, REFUSED_CODEC);          /* precision */
    refuse_byte(r, SOF3, 11, 0x21, REFUSED_UNSUPPORTED); /* sampling */
    refuse_byte(r, SOS, 6, 0x10, REFUSED_CODEC);         /* no such table */
    refuse_byte(r, SOS, 11, 0, REFUSED_CODEC);           /* predictor */
    refuse_byte(r, SOS, 11, 8, REFUSED_CODEC);           /* predictor */
    refuse_byte(r, SOS, 12, 1, REFUSED_CODEC);           /* end of selection */
    refuse_byte(r, SOS, 13, 8, REFUSED_CODEC);           /* point transform */
    refuse_byte(r, SOS, 13, 0x10, REFUSED_CODEC);        /* successive approximation */
    refuse_byte(r, DRI, 5, 41, REFUSED_CODEC);           /* not whole rows */
    refuse_byte(r, DRI, 3, 3, REFUSED_CODEC);            /* size of the segment */
    refuse_byte(r, DHT, 5, 3, REFUSED_CODEC);            /* three codes of one bit */
    refuse_byte(r, DHT, 21, 17, REFUSED_CODEC);          /* a symbol */
    refuse_byte(r, DHT, 4, 1, REFUSED_CODEC);            /* the table is another one */
}

/* A table without codes, and one whose codes are all ones. */
static void tables_without_use(void **state)
{
    (void)state;
    static const uint8_t none[] = {0xFF, 0xD8, 0xFF, 0xC4, 0, 19, 0, 0, 0, 0, 0,    0,   0,
                                   0,    0,    0,    0,    0, 0,  0, 0, 0, 0, 0xFF, 0xD9};
    fixture f;
    begin(&f, (lossless_recipe){.width = 20, .height = 10, .tables_apart = true});
    f.format.tables = none;
    f.format.tables_size = sizeof none;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    f.format.tables_size = 12;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    f.format.tables = NULL;
    f.format.tables_size = 0;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    end(&f);
}

static void data_that_ends_early_is_an_error_at_every_byte(void **state)
{
    (void)state;
    for (unsigned apart = 0; apart < 2; apart++) {
        fixture f;
        begin(&f, (lossless_recipe){.width = 20,
                                    .height = 6,
                                    .components = 2,
                                    .restart_rows = 2,
                                    .scans_apart = apart});
        for (size_t size = 0; size + 2 < f.s.size; size++)
            run_refuses(&f.run, &f.format, f.s.data, size, REFUSED_CODEC);
        free(run_decode(&f.run, &f.format, f.s.data, f.s.size - 2)); /* the end of image */
        bench_silent(&f.run.bench);
        end(&f);
    }
}

static void restart_markers_must_be_where_they_belong(void **state)
{
    (void)state;
    const lossless_recipe r = {.width = 20, .height = 10, .restart_rows = 2};
    refuse_byte(r, 0xD1, 1, 0xD2, REFUSED_CODEC);
    refuse_byte(r, 0xD1, 1, 0xD9, REFUSED_CODEC);
    refuse_byte(r, 0xD1, 0, 0xFE, REFUSED_CODEC);
    fixture f;
    begin(&f, r);
    const size_t at = find_marker(&f.s, 0xD0);
    memmove(f.s.data + at, f.s.data + at + 2, f.s.size - at - 2);
    run_refuses(&f.run, &f.format, f.s.data, f.s.size - 2, REFUSED_CODEC);
    end(&f);
}

static void two_scans_of_one_component_are_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (lossless_recipe){.width = 20, .height = 10, .components = 2, .scans_apart = true});
    size_t second = find_marker(&f.s, 0xDA) + 2;
    while (f.s.data[second] != 0xFF || f.s.data[second + 1] != 0xDA)
        second++;
    f.s.data[second + 5] = 1;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    end(&f);
}

static void damage_gives_the_same_each_time(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (lossless_recipe){.width = 30,
                                .height = 20,
                                .components = 3,
                                .precision = 12,
                                .predictor = 6,
                                .restart_rows = 3});
    run_damaged(&f.run, &f.format, f.s.data, f.s.size, 3000);
    end(&f);
}

/* Libraries of devices decode lossy JPEG only: these tiles are left to the CPU. */
static void no_library_of_a_device_gets_it(void **state)
{
    (void)state;
    fixture f;
    tz_standalone_stream stream;
    begin(&f, (lossless_recipe){.width = 30, .height = 20});
    assert_true(tz_standalone_is_possible(&f.format));
    assert_false(
        tz_standalone_find(&stream, &f.format, f.s.data, f.s.size, NULL, &f.run.bench.limits));
    end(&f);
}

static void memory(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (lossless_recipe){.width = 30, .height = 20, .components = 3, .tables_apart = true});
    run_without_memory(&tz_decoder_jpeg, &f.format, f.s.data, f.s.size);
    free(run_decode(&f.run, &f.format, f.s.data, f.s.size));
    assert_int_equal(run_allocations(&f.run, &f.format, f.s.data, f.s.size), 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_predictor_and_precision),
        cmocka_unit_test(every_form_of_a_stream),
        cmocka_unit_test(odd_sizes),
        cmocka_unit_test(frame_and_tile_may_have_other_shapes),
        cmocka_unit_test(fewer_pixels_and_bits_are_warnings),
        cmocka_unit_test(tiles_that_are_refused),
        cmocka_unit_test(headers_that_are_refused),
        cmocka_unit_test(tables_without_use),
        cmocka_unit_test(data_that_ends_early_is_an_error_at_every_byte),
        cmocka_unit_test(restart_markers_must_be_where_they_belong),
        cmocka_unit_test(two_scans_of_one_component_are_refused),
        cmocka_unit_test(damage_gives_the_same_each_time),
        cmocka_unit_test(no_library_of_a_device_gets_it),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
