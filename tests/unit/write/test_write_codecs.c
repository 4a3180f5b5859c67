/* SPDX-License-Identifier: Apache-2.0
 * Codecs of overviews and masks: what overviews take from the image, and what they have of their
 * own. */
#include <math.h>
#include <string.h>

#include "codec/codec.h"
#include "support/context.h"
#include "support/raster.h"
#include "write/output_pyramid.h"

enum { TILE = 32 };

static tz_write_options cog_of(tz_compression compression)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.cog = true;
    options.codec.compression = compression;
    options.tile_width = options.tile_height = TILE;
    return options;
}

static bool has_encoder(tz_compression compression)
{
    const tz_codec *codec = tz_codec_find((uint16_t)compression);
    return codec && codec->encoder;
}

/* The codec of the last of three levels, with its defaults filled in. */
typedef struct resolved {
    tz_codec_options codec;
    tz_encode_options choice;
    uint16_t subsampling[2];
} resolved;

static resolved overview_of(tz_dtype dtype, uint32_t bands, const tz_write_options *options)
{
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    static tz_output_pyramid pyramid;
    bench b;
    bench_init(&b);
    spec.width = spec.height = 4 * TILE, spec.bands = bands, spec.dtype = dtype;
    if (bands == 3 && options->codec.compression == TZ_COMPRESSION_JPEG)
        spec.photometric = TZ_PHOTOMETRIC_YCBCR;
    if (tz_output_pyramid_make(&pyramid, &spec, options, &b.ctx) != TZ_OK)
        fail_msg("%s", b.err.message);
    assert_int_equal(pyramid.count, 3);
    const tz_image *image = &pyramid.levels[2].image;
    const resolved found = {.codec = image->options.codec,
                            .choice = image->choice,
                            .subsampling = {image->subsampling[0], image->subsampling[1]}};
    tz_output_pyramid_deinit(&pyramid);
    bench_deinit(&b);
    return found;
}

/* ---- overviews ---- */

static void what_is_not_given_is_that_of_the_image(void **state)
{
    (void)state;
    tz_write_options options = cog_of(TZ_COMPRESSION_LZW);
    options.codec.predictor = 1;
    assert_int_equal(overview_of(TZ_DTYPE_UINT8, 1, &options).codec.predictor, 1);
    options.overview_codec.compression = TZ_COMPRESSION_LZW; /* the same, by name */
    assert_int_equal(overview_of(TZ_DTYPE_UINT8, 1, &options).codec.predictor, 1);
    options.overview_codec.predictor = 2;
    assert_int_equal(overview_of(TZ_DTYPE_UINT8, 1, &options).codec.predictor, 2);
    if (has_encoder(TZ_COMPRESSION_DEFLATE)) {
        options = cog_of(TZ_COMPRESSION_DEFAULT);
        options.codec.effort = 3;
        assert_int_equal(overview_of(TZ_DTYPE_UINT8, 1, &options).choice.level, 3);
        options.overview_codec.compression = TZ_COMPRESSION_DEFLATE;
        assert_int_equal(overview_of(TZ_DTYPE_UINT8, 1, &options).choice.level, 3);
        options.overview_codec.effort = 11;
        assert_int_equal(overview_of(TZ_DTYPE_UINT8, 1, &options).choice.level, 11);
        options.overview_codec.effort = TZ_EFFORT_FAST;
        assert_int_equal(overview_of(TZ_DTYPE_UINT8, 1, &options).choice.level, TZ_EFFORT_FAST);
    }
}

static void another_codec_has_its_own_defaults(void **state)
{
    (void)state;
    if (!has_encoder(TZ_COMPRESSION_DEFLATE) || !has_encoder(TZ_COMPRESSION_ZSTD))
        return;
    tz_write_options options = cog_of(TZ_COMPRESSION_ZSTD);
    options.codec.effort = 3;
    options.codec.predictor = 1;
    options.overview_codec.compression = TZ_COMPRESSION_DEFLATE;
    const resolved found = overview_of(TZ_DTYPE_FLOAT32, 1, &options);
    assert_int_equal(found.choice.level, 6);
    assert_int_equal(found.codec.predictor, 3);
}

static void jpeg_has_tables_quality_and_subsampling(void **state)
{
    (void)state;
    if (!has_encoder(TZ_COMPRESSION_JPEG))
        return;
    tz_write_options options = cog_of(TZ_COMPRESSION_JPEG);
    options.codec.quality = 40;
    options.codec.jpeg_tables = TZ_JPEG_TABLES_QUANT;
    options.codec.jpeg_subsampling[0] = options.codec.jpeg_subsampling[1] = 1;
    resolved found = overview_of(TZ_DTYPE_UINT8, 3, &options);
    assert_int_equal(found.choice.quality, 40);
    assert_int_equal(found.choice.jpeg_tables, TZ_JPEG_TABLES_QUANT);
    assert_int_equal(found.subsampling[0], 1);
    options.overview_codec.quality = 90;
    options.overview_codec.jpeg_tables = TZ_JPEG_TABLES_NONE;
    options.overview_codec.jpeg_subsampling[0] = 2;
    found = overview_of(TZ_DTYPE_UINT8, 3, &options);
    assert_int_equal(found.choice.quality, 90);
    assert_int_equal(found.choice.jpeg_tables, TZ_JPEG_TABLES_NONE);
    assert_int_equal(found.subsampling[0], 2);
    assert_int_equal(found.subsampling[1], 2); /* the default: the pair is one member */
}

/* A lossy image may have lossless overviews, and the other way round. */
static void loss_is_chosen_for_overviews(void **state)
{
    (void)state;
    if (has_encoder(TZ_COMPRESSION_WEBP)) {
        tz_write_options options = cog_of(TZ_COMPRESSION_WEBP);
        options.codec.quality = 40;
        assert_int_equal(overview_of(TZ_DTYPE_UINT8, 3, &options).choice.quality, 40);
        options.overview_codec.lossless = TZ_CHOICE_YES;
        const resolved found = overview_of(TZ_DTYPE_UINT8, 3, &options);
        assert_true(found.choice.lossless);
        assert_int_equal(found.codec.quality, 0);
        options.overview_codec.lossless = TZ_CHOICE_NO;
        assert_int_equal(overview_of(TZ_DTYPE_UINT8, 3, &options).choice.quality, 75);
    }
    if (has_encoder(TZ_COMPRESSION_JXL)) {
        tz_write_options options = cog_of(TZ_COMPRESSION_JXL);
        options.codec.lossless = TZ_CHOICE_NO;
        options.codec.distance = 3;
        resolved found = overview_of(TZ_DTYPE_UINT8, 1, &options);
        assert_true(!found.choice.lossless && found.choice.distance == 3);
        options.overview_codec.distance = 5;
        found = overview_of(TZ_DTYPE_UINT8, 1, &options);
        assert_true(found.choice.distance == 5);
        options.overview_codec = (tz_codec_options){.lossless = TZ_CHOICE_YES};
        found = overview_of(TZ_DTYPE_UINT8, 1, &options);
        assert_true(found.choice.lossless && found.choice.distance == 0);
        options.codec = (tz_codec_options){.compression = TZ_COMPRESSION_JXL};
        options.overview_codec.alpha_distance = -1; /* lossless in any case */
        assert_true(overview_of(TZ_DTYPE_UINT8, 1, &options).codec.alpha_distance == -1);
        options.codec.alpha_distance = -1;
        options.overview_codec = (tz_codec_options){.compression = TZ_COMPRESSION_DEFAULT};
        assert_true(overview_of(TZ_DTYPE_UINT8, 1, &options).codec.alpha_distance == -1);
    }
}

static void lerc_has_an_error_and_a_codec_within(void **state)
{
    (void)state;
    if (!has_encoder(TZ_COMPRESSION_LERC) || !has_encoder(TZ_COMPRESSION_DEFLATE) ||
        !has_encoder(TZ_COMPRESSION_ZSTD))
        return;
    tz_write_options options = cog_of(TZ_COMPRESSION_LERC);
    options.codec.max_error = 0.5;
    options.codec.lerc_compression = 1;
    resolved found = overview_of(TZ_DTYPE_FLOAT32, 1, &options);
    assert_true(found.choice.max_error == 0.5);
    assert_int_equal(found.codec.lerc_compression, 1);
    options.overview_codec.max_error = 2;
    options.overview_codec.lerc_compression = 2;
    found = overview_of(TZ_DTYPE_FLOAT32, 1, &options);
    assert_true(found.choice.max_error == 2);
    assert_int_equal(found.codec.lerc_compression, 2);
    assert_int_equal(found.choice.level, 9); /* that of ZSTD */
    options.overview_codec.max_error = -1;
    assert_true(overview_of(TZ_DTYPE_FLOAT32, 1, &options).choice.max_error == 0);
    options = cog_of(TZ_COMPRESSION_LZW);
    options.overview_codec.compression = TZ_COMPRESSION_LERC;
    options.overview_codec.lerc_compression = 1;
    assert_int_equal(overview_of(TZ_DTYPE_FLOAT32, 1, &options).codec.lerc_compression, 1);
}

/* The tiles of the image are the same, whatever overviews do, and the file is right. */
static void overviews_are_written_with_their_own(void **state)
{
    (void)state;
    if (!has_encoder(TZ_COMPRESSION_DEFLATE))
        return;
    raster r = raster_make(TZ_DTYPE_UINT16, 1, 150, 100, true);
    tz_write_options options = cog_of(TZ_COMPRESSION_DEFLATE);
    uint64_t sizes[2][2];
    for (unsigned i = 0; i < 2; i++) {
        tz_file *file = NULL;
        uint64_t sparse;
        options.overview_codec.effort = i == 0 ? 0 : 12;
        options.codec.effort = 1;
        tz_memory memory = raster_write(&r, &options, NULL, NULL);
        raster_check(&r, &memory, NAN);
        assert_int_equal(tz_open_memory(&file, memory.data, memory.size, NULL, NULL), TZ_OK);
        for (uint32_t level = 0; level < 2; level++)
            assert_int_equal(
                tz_level_stored_size(&sizes[i][level], &sparse, file, level, false, NULL, NULL),
                TZ_OK);
        tz_close(file);
        tz_memory_free(&memory);
    }
    assert_int_equal(sizes[0][0], sizes[1][0]);
    assert_true(sizes[1][1] < sizes[0][1]);
    raster_free(&r);
}

/* ---- masks ---- */

static tz_compression mask_compression(const tz_memory *memory, uint64_t *bytes)
{
    tz_file *file = NULL;
    uint64_t sparse;
    assert_int_equal(tz_open_memory(&file, memory->data, memory->size, NULL, NULL), TZ_OK);
    const tz_compression found = (tz_compression)tz_file_get_mask(file, 1)->compression;
    assert_int_equal(tz_level_stored_size(bytes, &sparse, file, 0, true, NULL, NULL), TZ_OK);
    tz_close(file);
    return found;
}

static void masks_have_the_codec_that_is_asked_for(void **state)
{
    (void)state;
    static const tz_compression codecs[] = {
        TZ_COMPRESSION_NONE, TZ_COMPRESSION_LZW,  TZ_COMPRESSION_DEFLATE, TZ_COMPRESSION_PACKBITS,
        TZ_COMPRESSION_LZMA, TZ_COMPRESSION_ZSTD, TZ_COMPRESSION_LZ4};
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        raster r = raster_make(TZ_DTYPE_UINT8, 2, 150, 100, true);
        tz_write_options options = cog_of(TZ_COMPRESSION_PACKBITS); /* devices have it, too */
        uint64_t bytes;
        options.mask_codec.compression = codecs[i];
        if (!has_encoder(codecs[i]))
            continue;
        for (unsigned plain = 0; plain < 2; plain++) {
            options.cog = !plain;
            options.verify = TZ_VERIFY_ALL;
            tz_memory memory = raster_write(&r, &options, NULL, NULL);
            raster_check(&r, &memory, NAN);
            if (options.cog)
                assert_int_equal(mask_compression(&memory, &bytes), codecs[i]);
            tz_memory_free(&memory);
        }
        raster_free(&r);
    }
}

static void masks_have_an_effort(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 300, 300, true);
    tz_write_options options = cog_of(TZ_COMPRESSION_LZW);
    uint64_t first, last;
    if (has_encoder(TZ_COMPRESSION_DEFLATE)) {
        options.tile_width = options.tile_height = 256;
        options.mask_codec.effort = TZ_EFFORT_FAST; /* of the default, Deflate */
        tz_memory memory = raster_write(&r, &options, NULL, NULL);
        assert_int_equal(mask_compression(&memory, &first), TZ_COMPRESSION_DEFLATE);
        tz_memory_free(&memory);
        options.mask_codec.effort = 12;
        memory = raster_write(&r, &options, NULL, NULL);
        assert_int_equal(mask_compression(&memory, &last), TZ_COMPRESSION_DEFLATE);
        raster_check(&r, &memory, NAN);
        tz_memory_free(&memory);
        assert_true(last < first);
    }
    raster_free(&r);
}

static void refuses_mask(const tz_write_options *options, tz_result result, const char *text)
{
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 40, 40, true);
    tz_memory out = {0};
    tz_error err = {0};
    assert_int_equal(raster_try(&r, options, NULL, &out, NULL, &err), result);
    if (!strstr(err.message, text))
        fail_msg("\"%s\" does not say \"%s\"", err.message, text);
    raster_free(&r);
}

static void masks_refuse_what_they_cannot_have(void **state)
{
    (void)state;
    static const tz_compression images[] = {TZ_COMPRESSION_JPEG, TZ_COMPRESSION_JPEG2000,
                                            TZ_COMPRESSION_LERC, TZ_COMPRESSION_WEBP,
                                            TZ_COMPRESSION_JXL};
    tz_write_options options = cog_of(TZ_COMPRESSION_LZW);
    for (size_t i = 0; i < sizeof images / sizeof images[0]; i++) {
        options.mask_codec.compression = images[i];
        if (has_encoder(images[i]))
            refuses_mask(&options, TZ_ERR_UNSUPPORTED, "does not encode masks");
    }
    options.mask_codec.compression = (tz_compression)4; /* CCITT is only read */
    refuses_mask(&options, TZ_ERR_UNSUPPORTED, "");
    options.mask_codec.compression = (tz_compression)70000;
    refuses_mask(&options, TZ_ERR_ARG, "mask_codec.compression is 70000");
    options.mask_codec = (tz_codec_options){.compression = TZ_COMPRESSION_LZW, .effort = 3};
    refuses_mask(&options, TZ_ERR_ARG, "mask_codec.effort is 3, and LZW has none");
    options.mask_codec = (tz_codec_options){.predictor = 2};
    refuses_mask(&options, TZ_ERR_ARG, "a compression and an effort");
    options.mask_codec = (tz_codec_options){.quality = 2};
    refuses_mask(&options, TZ_ERR_ARG, "a compression and an effort");
    if (has_encoder(TZ_COMPRESSION_ZSTD)) {
        options.mask_codec = (tz_codec_options){.compression = TZ_COMPRESSION_ZSTD, .effort = 23};
        refuses_mask(&options, TZ_ERR_ARG, "1 to 22");
    }
}

/* ---- members of other versions ---- */

static void reserved_bytes_are_zero(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        tz_write_options options = cog_of(TZ_COMPRESSION_LZW);
        tz_codec_options *const codecs[] = {&options.codec, &options.overview_codec,
                                            &options.mask_codec};
        codecs[i]->reserved[sizeof codecs[i]->reserved - 1] = 1;
        refuses_mask(&options, TZ_ERR_ARG, "does not have, at byte 127");
        codecs[i]->reserved[sizeof codecs[i]->reserved - 1] = 0;
        codecs[i]->lossless = (tz_choice)3;
        refuses_mask(&options, TZ_ERR_ARG, "lossless is 3");
        codecs[i]->lossless = TZ_CHOICE_AUTO;
        codecs[i]->jpeg_tables = (tz_jpeg_tables)5;
        refuses_mask(&options, TZ_ERR_ARG, "jpeg_tables is 5");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_given_is_that_of_the_image),
        cmocka_unit_test(another_codec_has_its_own_defaults),
        cmocka_unit_test(jpeg_has_tables_quality_and_subsampling),
        cmocka_unit_test(loss_is_chosen_for_overviews),
        cmocka_unit_test(lerc_has_an_error_and_a_codec_within),
        cmocka_unit_test(overviews_are_written_with_their_own),
        cmocka_unit_test(masks_have_the_codec_that_is_asked_for),
        cmocka_unit_test(masks_have_an_effort),
        cmocka_unit_test(masks_refuse_what_they_cannot_have),
        cmocka_unit_test(reserved_bytes_are_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
