/* SPDX-License-Identifier: Apache-2.0
 * JPEG 2000 at lower resolutions: those of the stream as OpenJPEG makes them, means of squares
 * where it has no more of them, and nothing else of streams that are broken. */
#include "support/codec/jp2_streams.h"

/* ---- as OpenJPEG makes them ---- */

typedef struct input {
    const stream *s;
    size_t at;
} input;

static OPJ_SIZE_T read_bytes(void *to, OPJ_SIZE_T size, void *user)
{
    input *in = user;
    const size_t left = in->s->size - in->at;
    size = size < left ? size : left;
    memcpy(to, in->s->data + in->at, size);
    in->at += size;
    return size > 0 ? size : (OPJ_SIZE_T)-1;
}

static opj_image_t *reduce_by_library(const stream *s, bool boxes, unsigned times)
{
    input in = {s, 0};
    opj_dparameters_t parameters;
    opj_image_t *image = NULL;
    opj_codec_t *codec = opj_create_decompress(boxes ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
    opj_stream_t *from = opj_stream_create(4096, OPJ_TRUE);
    opj_stream_set_user_data(from, &in, NULL);
    opj_stream_set_user_data_length(from, s->size);
    opj_stream_set_read_function(from, read_bytes);
    opj_set_default_decoder_parameters(&parameters);
    parameters.cp_reduce = times;
    assert_true(opj_setup_decoder(codec, &parameters));
    assert_true(opj_read_header(from, codec, &image));
    assert_true(opj_decode(codec, from, image));
    opj_stream_destroy(from);
    opj_destroy_codec(codec);
    return image;
}

static void check_resolutions(recipe r)
{
    fixture f;
    const unsigned levels = r.resolutions ? (unsigned)r.resolutions - 1 : 3;
    begin(&f, r);
    for (unsigned times = 1; times <= levels; times++) {
        f.format.decode_reduction = (uint8_t)times;
        uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        opj_image_t *expected = reduce_by_library(&f.s, r.boxes, times);
        assert_int_equal(expected->comps[0].w, tz_tile_columns(&f.format));
        assert_int_equal(expected->comps[0].h, tz_tile_rows(&f.format));
        for (unsigned i = 0; i < expected->comps[0].w * expected->comps[0].h; i++)
            for (unsigned c = 0; c < r.components; c++)
                assert_int_equal(get_sample(&f.format, out, c, i % expected->comps[0].w,
                                            i / expected->comps[0].w),
                                 expected->comps[c].data[i]);
        opj_image_destroy(expected);
        free(out);
    }
    bench_silent(&f.run.bench);
    end(&f);
}

static void resolutions_are_the_streams(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = {{64, 64}, {100, 77}, {33, 8}, {8, 40}, {129, 128}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (unsigned components = 1; components <= 5; components++)
            check_resolutions(
                (recipe){.width = sizes[i][0], .height = sizes[i][1], .components = components});
}

static void of_every_kind_of_stream(void **state)
{
    (void)state;
    check_resolutions((recipe){.width = 90, .height = 70, .components = 2, .bits = 16});
    check_resolutions(
        (recipe){.width = 90, .height = 70, .components = 1, .bits = 16, .is_signed = true});
    check_resolutions(
        (recipe){.width = 90, .height = 70, .components = 3, .is_signed = true, .resolutions = 6});
    check_resolutions((recipe){.width = 90, .height = 70, .components = 3, .boxes = true});
    check_resolutions((recipe){.width = 90, .height = 70, .components = 3, .tile = 32});
    check_resolutions((recipe){.width = 90, .height = 70, .components = 1, .tile = 27});
    check_resolutions((recipe){.width = 90, .height = 70, .components = 3, .layers = 3});
    check_resolutions((recipe){.width = 90, .height = 70, .components = 1, .precinct = 32});
    check_resolutions((recipe){.width = 90, .height = 70, .components = 3, .transform = true});
    check_resolutions((recipe){.width = 90, .height = 70, .components = 3, .lossy = true});
}

/* ---- where there are no more of them ---- */

static int32_t mean_of(const tz_tile_format *format, const uint8_t *out, unsigned c, unsigned x,
                       unsigned y, unsigned side)
{
    int64_t sum = 0, count = 0;
    for (unsigned row = y; row < y + side && row < tz_tile_rows(format); row++)
        for (unsigned column = x; column < x + side && column < tz_tile_columns(format); column++) {
            sum += get_sample(format, out, c, column, row);
            count++;
        }
    const int64_t twice = 2 * (sum < 0 ? -sum : sum) + count;
    return (int32_t)(sum < 0 ? -(twice / (2 * count)) : twice / (2 * count));
}

/* The most reduced that the stream has, and squares of that. */
static void check_means(recipe r, unsigned own)
{
    fixture f;
    begin(&f, r);
    tz_tile_format smallest = f.format;
    smallest.decode_reduction = (uint8_t)own;
    uint8_t *from = run_decode(&f.run, &smallest, f.s.data, f.s.size);
    for (unsigned times = own; times <= TZ_MAX_DECODE_REDUCTION; times++) {
        f.format.decode_reduction = (uint8_t)times;
        const unsigned side = 1u << (times - own);
        uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        for (unsigned y = 0; y < tz_tile_rows(&f.format); y++)
            for (unsigned x = 0; x < tz_tile_columns(&f.format); x++)
                for (unsigned c = 0; c < r.components; c++)
                    assert_int_equal(get_sample(&f.format, out, c, x, y),
                                     mean_of(&smallest, from, c, x * side, y * side, side));
        free(out);
    }
    bench_silent(&f.run.bench);
    free(from);
    end(&f);
}

static void then_means_of_squares(void **state)
{
    (void)state;
    for (unsigned own = 0; own < 4; own++) {
        const int resolutions = (int)own + 1;
        check_means(
            (recipe){.width = 90, .height = 71, .components = 1, .resolutions = resolutions}, own);
        check_means((recipe){.width = 40,
                             .height = 300,
                             .components = 3,
                             .bits = 16,
                             .is_signed = true,
                             .resolutions = resolutions},
                    own);
    }
}

/* Whose resolutions are those of other squares. */
static void of_images_that_begin_elsewhere(void **state)
{
    (void)state;
    check_means((recipe){.width = 50, .height = 41, .components = 2, .left = 3}, 0);
}

static void colours_of_half_the_size(void **state)
{
    (void)state;
    fixture f;
    for (unsigned times = 1; times <= 5; times++) {
        begin(&f, (recipe){.width = 41, .height = 31, .components = 3, .dx = 2, .dy = 2});
        f.format.compression = 33003;
        f.format.decode_reduction = (uint8_t)times;
        free(run_decode(&f.run, &f.format, f.s.data, f.s.size));
        end(&f);
    }
}

/* ---- defects ---- */

static void smaller_images_leave_zeros(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 21, .height = 10, .components = 2, .bits = 16, .resolutions = 2});
    const tz_tile_format exact = {.width = 21,
                                  .height = 10,
                                  .samples = 2,
                                  .bits = 16,
                                  .sample_format = 1,
                                  .compression = 34712,
                                  .decode_reduction = 2};
    uint8_t *expected = run_decode(&f.run, &exact, f.s.data, f.s.size);
    f.format.width = 32;
    f.format.height = 24;
    f.format.decode_reduction = 2;
    uint8_t *out = run_warns(&f.run, &f.format, f.s.data, f.s.size, "the rest is 0");
    for (unsigned y = 0; y < 6; y++)
        for (unsigned x = 0; x < 8; x++)
            for (unsigned c = 0; c < 2; c++)
                assert_int_equal(get_sample(&f.format, out, c, x, y),
                                 x < 6 && y < 3 ? get_sample(&exact, expected, c, x, y) : 0);
    free(out);
    free(expected);
    f.format.width = 20; /* though both would have 5 columns */
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    end(&f);
}

/* Another number of rows than the last strip has. */
static void strips_of_another_height(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, .components = 1});
    f.format.decode_reduction = 2;
    uint8_t *whole = run_decode(&f.run, &f.format, f.s.data, f.s.size);
    f.format.height = 10;
    f.format.strip_height = 24;
    uint8_t out[24 * 8];
    memset(out, 0x5A, sizeof out);
    uint8_t *in = run_alloc(f.s.size + TZ_CODEC_SLACK);
    memcpy(in, f.s.data, f.s.size);
    const tz_codec_call call = {&f.run.bench.ctx, tz_at_tile(0, false, 7, 1000)};
    assert_int_equal(
        tz_decode_tile(&tz_decoder_jp2, f.run.state, &f.format, in, f.s.size, out, 8, &call),
        TZ_OK);
    assert_memory_equal(out, whole, 3 * 8);
    for (size_t i = 3 * 8; i < sizeof out; i++)
        assert_int_equal(out[i], 0x5A);
    free(in);
    free(whole);
    end(&f);
}

static void streams_cut_short_are_errors(void **state)
{
    (void)state;
    for (unsigned times = 1; times <= 6; times += 5) {
        fixture f;
        begin(&f, (recipe){.width = 32, .height = 24, .components = 3});
        f.format.decode_reduction = (uint8_t)times;
        for (size_t size = 0; size < f.s.size - 2; size++)
            run_refuses(&f.run, &f.format, f.s.data, size, REFUSED_CODEC);
        end(&f);
    }
}

/* The fewest of any component count. */
static void levels_of_components(void **state)
{
    (void)state;
    static const uint8_t coc[] = {0xFF, 0x53, 0, 9, 0, 0, 1, 4, 4, 0, 1};
    fixture f;
    for (unsigned times = 1; times <= 4; times++) {
        begin(&f, (recipe){.width = 64, .height = 48, .components = 1, .resolutions = 2});
        f.format.decode_reduction = (uint8_t)times;
        uint8_t *expected = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        f.s.data[find_marker(&f.s, COD) + 9] = 3; /* as no component has it */
        insert(&f.s, find_marker(&f.s, 0x5C), coc, sizeof coc);
        uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        assert_memory_equal(out, expected, tz_tile_bytes(&f.format));
        free(out);
        free(expected);
        end(&f);
    }
}

/* The declared number of levels is not the real one. */
static void levels_that_are_lies(void **state)
{
    (void)state;
    static const uint8_t coc[] = {0xFF, 0x53, 0, 9, 0, 0, 1, 4, 4, 0, 1};
    fixture f;
    begin(&f, (recipe){.width = 64, .height = 48, .components = 2});
    insert(&f.s, find_marker(&f.s, 0x5C), coc, sizeof coc); /* of the first component */
    for (unsigned times = 0; times <= TZ_MAX_DECODE_REDUCTION; times++) {
        f.format.decode_reduction = (uint8_t)times;
        (void)run_damaged(&f.run, &f.format, f.s.data, f.s.size, 20);
    }
    end(&f);
}

static void damaged_bytes_never_show_what_the_buffer_held(void **state)
{
    (void)state;
    static const recipe recipes[] = {
        {.width = 40, .height = 40, .components = 3},
        {.width = 40, .height = 40, .components = 1, .bits = 16, .boxes = true},
        {.width = 40, .height = 40, .components = 3, .lossy = true, .tile = 24, .layers = 2},
        {.width = 40, .height = 40, .components = 2, .precinct = 32}};
    for (size_t i = 0; i < 3 * sizeof recipes / sizeof recipes[0]; i++) {
        fixture f;
        begin(&f, recipes[i / 3]);
        f.format.decode_reduction = (uint8_t)(i % 3 * 2 + 1);
        (void)run_damaged(&f.run, &f.format, f.s.data, f.s.size, 700);
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resolutions_are_the_streams),
        cmocka_unit_test(of_every_kind_of_stream),
        cmocka_unit_test(then_means_of_squares),
        cmocka_unit_test(of_images_that_begin_elsewhere),
        cmocka_unit_test(colours_of_half_the_size),
        cmocka_unit_test(smaller_images_leave_zeros),
        cmocka_unit_test(strips_of_another_height),
        cmocka_unit_test(streams_cut_short_are_errors),
        cmocka_unit_test(levels_of_components),
        cmocka_unit_test(levels_that_are_lies),
        cmocka_unit_test(damaged_bytes_never_show_what_the_buffer_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
