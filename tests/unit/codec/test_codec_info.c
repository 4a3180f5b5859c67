/* SPDX-License-Identifier: Apache-2.0
 * What the library says of its codecs is what they do: images are written and read back by each,
 * with every effort and quality that it claims to take and none beyond, all through the public
 * header. choose_codec is the one place that knows the members of tz_write_options. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <terrazzo/terrazzo.h>

#include "codec/codec.h"
#include "support/plain_read.h"

enum { SIDE = 32, BANDS = 3, IMAGE_BYTES = SIDE * SIDE * BANDS };

/* The choices of a codec that a test makes; 0: the default. */
typedef struct choice {
    int32_t effort;
    uint32_t quality;
    double distance;
    double max_error;
    tz_choice lossless;
    uint16_t predictor;
} choice;

static tz_write_options choose_codec(const tz_codec_info *info, choice c)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = (tz_compression)info->compression;
    options.codec.effort = c.effort;
    options.codec.quality = c.quality;
    options.codec.distance = c.distance;
    options.codec.max_error = c.max_error;
    options.codec.lossless = c.lossless;
    options.codec.predictor = c.predictor;
    options.tile_width = options.tile_height = SIDE;
    options.threads = 1;
    return options;
}

/* Smooth, so that lossy codecs stay near it. */
static void fill_pixels(uint8_t *pixels)
{
    for (int band = 0; band < BANDS; band++)
        for (int i = 0; i < SIDE * SIDE; i++)
            pixels[band * SIDE * SIDE + i] = (uint8_t)(40 + 3 * (i % SIDE) + 2 * (i / SIDE) + band);
}

static tz_result write_image(tz_memory *file, const uint8_t *pixels,
                             const tz_write_options *options, tz_error *err)
{
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    spec.width = spec.height = SIDE;
    spec.bands = BANDS;
    spec.dtype = TZ_DTYPE_UINT8;
    const tz_buffer rows = {.struct_size = sizeof(tz_buffer),
                            .data = (void *)(uintptr_t)pixels,
                            .dtype = TZ_DTYPE_UINT8,
                            .bands = BANDS,
                            .height = SIDE,
                            .width = SIDE};
    tz_writer *writer = NULL;
    tz_result result = tz_create_memory(&writer, file, &spec, options, err);
    if (result == TZ_OK)
        result = tz_write_rows(writer, &rows, NULL, err);
    if (result == TZ_OK)
        result = tz_commit(writer, NULL, err);
    tz_writer_close(writer);
    return result;
}

/* Returns the compression of the file. */
static uint16_t read_image(uint8_t *pixels, const tz_memory *file)
{
    tz_error err;
    tz_file *opened = NULL;
    assert_int_equal(tz_open_memory(&opened, file->data, file->size, NULL, &err), TZ_OK);
    const uint16_t compression = tz_file_get_level(opened, 0)->compression;
    const plain_item item = {.file = opened,
                             .into = {.data = pixels,
                                      .dtype = TZ_DTYPE_UINT8,
                                      .bands = BANDS,
                                      .height = SIDE,
                                      .width = SIDE}};
    assert_int_equal(plain_read(&item, NULL, NULL, &err), TZ_OK);
    tz_close(opened);
    return compression;
}

/* Writes an image and reads it back; returns the largest difference. */
static int round_trip(const tz_codec_info *info, choice c)
{
    uint8_t pixels[IMAGE_BYTES], back[IMAGE_BYTES];
    const tz_write_options options = choose_codec(info, c);
    tz_memory file = {NULL, 0};
    tz_error err;
    fill_pixels(pixels);
    memset(back, 0, sizeof back);
    assert_int_equal(write_image(&file, pixels, &options, &err), TZ_OK);
    assert_int_equal(read_image(back, &file), info->compression);
    tz_memory_free(&file);
    int largest = 0;
    for (int i = 0; i < IMAGE_BYTES; i++)
        largest = abs(pixels[i] - back[i]) > largest ? abs(pixels[i] - back[i]) : largest;
    return largest;
}

/* Returns the result of writing; the file is thrown away. */
static tz_result try_write(const tz_codec_info *info, choice c, tz_error *err)
{
    uint8_t pixels[IMAGE_BYTES];
    const tz_write_options options = choose_codec(info, c);
    tz_memory file = {NULL, 0};
    fill_pixels(pixels);
    const tz_result result = write_image(&file, pixels, &options, err);
    tz_memory_free(&file);
    return result;
}

/* The loop over all codecs. */
#define EACH_CODEC(info)                                                                           \
    for (size_t index_ = 0; index_ < tz_codec_count(); index_++)                                   \
        for (const tz_codec_info *info = tz_codec_get(index_); info; info = NULL)

static void every_codec_is_listed_once(void **state)
{
    (void)state;
    assert_int_equal(tz_codec_count(), 18);
    assert_null(tz_codec_get(tz_codec_count()));
    assert_null(tz_codec_get(SIZE_MAX));
    EACH_CODEC(info)
    {
        tz_compression found;
        assert_non_null(info->title);
        assert_string_equal(tz_compression_name(info->compression), info->name);
        assert_true(tz_compression_from_name(&found, info->name));
        assert_int_equal(found, info->compression);
        for (size_t k = 0; k < 3 && info->other_compressions[k] != 0; k++)
            assert_string_equal(tz_compression_name(info->other_compressions[k]), info->name);
        assert_true(info->lossy || info->lossless);
        assert_true(info->library || info->built);
        assert_int_equal(info->library_version != NULL, info->library && info->built);
        assert_true(!info->built || info->can_read);
        assert_true(info->can_read || !info->can_write);
    }
}

/* Also of those that are left out, so that their error can be the library's name. */
static void what_can_be_found_is_what_can_be_read_and_written(void **state)
{
    (void)state;
    tz_error err;
    const tz_context ctx = {.err = &err, .ifd = -1};
    EACH_CODEC(info)
    {
        const tz_decoder *decoder = NULL;
        const tz_encoder *encoder = NULL;
        assert_int_equal(tz_decoder_find(info->compression, &ctx, &decoder) == TZ_OK,
                         info->can_read);
        assert_int_equal(tz_encoder_find(info->compression, &ctx, &encoder) == TZ_OK,
                         info->can_write);
    }
}

static void what_cannot_be_written_is_refused_by_name(void **state)
{
    (void)state;
    EACH_CODEC(info)
    {
        tz_error err;
        if (info->can_write)
            continue;
        assert_int_equal(try_write(info, (choice){0}, &err), TZ_ERR_UNSUPPORTED);
        assert_int_equal(err.cause, TZ_CAUSE_UNSUPPORTED);
        assert_true(strstr(err.message, info->name) ||
                    (!info->built && strstr(err.message, info->library)));
    }
}

static void what_can_be_written_is_read_back(void **state)
{
    (void)state;
    unsigned count = 0;
    EACH_CODEC(info)
    {
        if (!info->can_write)
            continue;
        const int difference = round_trip(info, (choice){0});
        assert_true(info->lossy ? difference < 24 : difference == 0);
        if (info->lossy && info->lossless && !info->has_max_error)
            assert_int_equal(round_trip(info, (choice){.lossless = TZ_CHOICE_YES}), 0);
        if (info->lossy && !info->has_max_error)
            assert_true(round_trip(info, (choice){.lossless = TZ_CHOICE_NO}) < 24);
        count++;
    }
    assert_true(count >= 3);
}

static void codecs_that_cannot_be_lossless_refuse_it(void **state)
{
    (void)state;
    EACH_CODEC(info)
    {
        tz_error err;
        if (info->can_write && !info->lossless)
            assert_int_equal(try_write(info, (choice){.lossless = TZ_CHOICE_YES}, &err),
                             TZ_ERR_ARG);
    }
}

static void efforts_are_those_that_are_taken(void **state)
{
    (void)state;
    EACH_CODEC(info)
    {
        tz_error err;
        if (!info->has_effort)
            assert_true(info->min_effort == 0 && info->max_effort == 0 &&
                        info->default_effort == 0);
        if (!info->can_write || !info->has_effort)
            continue;
        assert_true(info->min_effort <= info->default_effort);
        assert_true(info->default_effort <= info->max_effort);
        for (int32_t effort = info->min_effort; effort <= info->max_effort; effort++)
            assert_int_equal(round_trip(info, (choice){.effort = effort}), 0);
        assert_int_equal(try_write(info, (choice){.effort = info->max_effort + 1}, &err),
                         TZ_ERR_ARG);
        assert_int_equal(try_write(info, (choice){.effort = TZ_EFFORT_FAST}, &err),
                         info->has_fast_effort ? TZ_OK : TZ_ERR_ARG);
        assert_int_equal(try_write(info, (choice){.effort = TZ_EFFORT_FAST - 1}, &err), TZ_ERR_ARG);
    }
}

static void qualities_and_distances_are_those_that_are_taken(void **state)
{
    (void)state;
    EACH_CODEC(info)
    {
        tz_error err;
        choice c = {.lossless = TZ_CHOICE_NO};
        if (!info->can_write)
            continue;
        if (info->has_quality) {
            c.quality = info->min_quality;
            assert_int_equal(try_write(info, c, &err), TZ_OK);
            c.quality = info->default_quality;
            assert_int_equal(round_trip(info, c),
                             round_trip(info, (choice){.lossless = TZ_CHOICE_NO}));
            c.quality = info->max_quality;
            assert_int_equal(try_write(info, c, &err), TZ_OK);
            c.quality = info->max_quality + 1;
            assert_int_equal(try_write(info, c, &err), TZ_ERR_ARG);
        }
        c.quality = 0;
        if (info->has_distance) {
            c.distance = info->min_distance;
            assert_int_equal(try_write(info, c, &err), TZ_OK);
            c.distance = info->max_distance;
            assert_int_equal(try_write(info, c, &err), TZ_OK);
            c.distance = nextafter(info->max_distance, 100);
            assert_int_equal(try_write(info, c, &err), TZ_ERR_ARG);
        }
        if (info->has_max_error) {
            assert_int_equal(round_trip(info, (choice){.max_error = 0}), 0);
            assert_true(round_trip(info, (choice){.max_error = 2}) <= 2);
        }
    }
}

static void predictors_are_taken_where_it_says_so(void **state)
{
    (void)state;
    EACH_CODEC(info)
    {
        tz_error err;
        if (info->can_write)
            assert_int_equal(try_write(info, (choice){.predictor = 2}, &err) == TZ_OK,
                             info->takes_predictor);
    }
}

/* The table has both, for callers and for the writer. */
static void options_of_a_row_are_those_of_its_first_codec(void **state)
{
    (void)state;
    for (const tz_codec *codec = tz_codecs; codec < tz_codecs + TZ_CODEC_COUNT; codec++) {
        const tz_codec_info *info = &codec->infos[0];
        const unsigned quality = TZ_OPTION_QUALITY | TZ_OPTION_LOSSY_QUALITY;
        assert_int_equal(info->takes_predictor, (codec->options & TZ_OPTION_PREDICTOR) != 0);
        assert_int_equal(info->has_effort, (codec->options & TZ_OPTION_LEVEL) != 0);
        assert_int_equal(info->has_quality, (codec->options & quality) != 0);
        assert_int_equal(info->has_distance, (codec->options & TZ_OPTION_DISTANCE) != 0);
        assert_int_equal(info->has_max_error, (codec->options & TZ_OPTION_MAX_ERROR) != 0);
        assert_int_equal(info->lossy, (codec->options & TZ_OPTION_LOSSLESS) != 0);
        assert_int_equal(info->can_read, codec->decoder != NULL);
        assert_int_equal(info->can_write, codec->encoder != NULL);
        assert_true(!codec->feature || tz_build_feature(codec->feature) == info->library_version);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_codec_is_listed_once),
        cmocka_unit_test(what_can_be_found_is_what_can_be_read_and_written),
        cmocka_unit_test(what_cannot_be_written_is_refused_by_name),
        cmocka_unit_test(what_can_be_written_is_read_back),
        cmocka_unit_test(codecs_that_cannot_be_lossless_refuse_it),
        cmocka_unit_test(efforts_are_those_that_are_taken),
        cmocka_unit_test(qualities_and_distances_are_those_that_are_taken),
        cmocka_unit_test(predictors_are_taken_where_it_says_so),
        cmocka_unit_test(options_of_a_row_are_those_of_its_first_codec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
