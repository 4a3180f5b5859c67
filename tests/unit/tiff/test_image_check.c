/* SPDX-License-Identifier: Apache-2.0
 * Images that cannot be written are refused before a file exists, with the reason: shape, type,
 * codec and colours. */
#include "support/check.h"
#include "support/sized.h"
#include "support/spec_case.h"

/* ---- structure ---- */

static void struct_sizes(void **state)
{
    (void)state;
    bench b;
    tz_image image;
    bench_init(&b);
    assert_int_equal(tz_image_init(&image, NULL, NULL, &b.ctx), TZ_ERR_ARG);
    assert_non_null(strstr(b.err.message, "no specification"));
    tz_image_deinit(&image);
    bench_deinit(&b);
    REFUSED("spec->struct_size is wrong", spec.struct_size = 0);
    REFUSED("spec->struct_size is wrong", spec.struct_size = (size_t)1 << 20);
    REFUSED("options->struct_size is wrong", options.struct_size = 4);
    REFUSED("options->struct_size is wrong", options.struct_size = SIZE_MAX);
    /* Members that an older program did not know have their defaults. */
    ACCEPTED(image_of_old, spec.struct_size = offsetof(tz_image_spec, photometric),
             spec.photometric = TZ_PHOTOMETRIC_MASK,
             options.struct_size = offsetof(tz_write_options, tile_width), options.tile_width = 7);
    assert_int_equal(image_of_old.photometric, TZ_PHOTOMETRIC_MIN_IS_BLACK);
    assert_int_equal(image_of_old.tile_width, 256);
    tz_image_deinit(&image_of_old);
}

static void size_and_type(void **state)
{
    (void)state;
    REFUSED("an image of 0 x 50 pixels has none", spec.width = 0);
    REFUSED("an image of 100 x 0 pixels has none", spec.height = 0);
    REFUSED("0 bands; there may be 1 to 65535", spec.bands = 0);
    REFUSED("65536 bands; there may be 1 to 65535", spec.bands = 65536);
    REFUSED("spec->dtype is 0", spec.dtype = TZ_DTYPE_NONE);
    REFUSED("spec->dtype is 17", spec.dtype = (tz_dtype)17);
    REFUSED("spec->dtype is -1", spec.dtype = (tz_dtype)-1);
    REFUSED("type uint8 cannot have 9 bits", spec.bits_per_sample = 9);
    REFUSED("type uint16 cannot have 8 bits", spec.dtype = TZ_DTYPE_UINT16,
            spec.bits_per_sample = 8);
    REFUSED("type int8 cannot have 1 bits", spec.dtype = TZ_DTYPE_INT8, spec.bits_per_sample = 1);
    REFUSED("type uint64 cannot have 33 bits", spec.dtype = TZ_DTYPE_UINT64,
            spec.bits_per_sample = 33);
    REFUSED("type float32 cannot have 24 bits", spec.dtype = TZ_DTYPE_FLOAT32,
            spec.bits_per_sample = 24);
    REFUSED("the orientation is 9; it must be 1 to 8", spec.orientation = 9);
    ACCEPTED(narrow, spec.dtype = TZ_DTYPE_UINT32, spec.bits_per_sample = 17);
    assert_int_equal(narrow.format.bits, 17);
    assert_int_equal(narrow.sample_format, 1);
    assert_int_equal(narrow.spec.orientation, 1);
    tz_image_deinit(&narrow);
    ACCEPTED(many, spec.bands = 65535, options.interleave = TZ_INTERLEAVE_BAND);
    assert_int_equal(many.planes, 65535);
    assert_int_equal(many.format.samples, 1);
    assert_int_equal(many.tile_count, 65535);
    tz_image_deinit(&many);
}

static void options_of_layout(void **state)
{
    (void)state;
    REFUSED("options->interleave is 3", options.interleave = (tz_interleave)3);
    REFUSED("options->bigtiff is 4", options.bigtiff = (tz_bigtiff)4);
    REFUSED("options->codec.lossless is 3", options.codec.lossless = (tz_choice)3);
    REFUSED("options->codec.jpeg_tables is 5", options.codec.jpeg_tables = (tz_jpeg_tables)5);
    REFUSED("options->verify is 3", options.verify = (tz_verify)3);
    REFUSED("the alignment is 3; it must be a power of two", options.alignment = 3);
    REFUSED("the alignment is 131072", options.alignment = 131072);
    ACCEPTED(aligned, options.alignment = 65536);
    tz_image_deinit(&aligned);
    /* One band is never apart from others. */
    ACCEPTED(single, options.interleave = TZ_INTERLEAVE_TILE);
    assert_int_equal(single.planar, 1);
    tz_image_deinit(&single);
    ACCEPTED(apart, spec.bands = 2, options.interleave = TZ_INTERLEAVE_TILE);
    assert_int_equal(apart.planar, 2);
    assert_int_equal(apart.tile_count, 2);
    tz_image_deinit(&apart);
}

/* ---- tiles ---- */

static void tiles(void **state)
{
    (void)state;
    REFUSED("tiles of 17 x 256; both must be multiples of 16", options.tile_width = 17);
    REFUSED("tiles of 256 x 8; both must be multiples of 16", options.tile_height = 8);
    REFUSED_BY(TZ_ERR_LIMIT, "max_tile_bytes", options.tile_width = 65536,
               options.tile_height = 65536);
    REFUSED_BY(TZ_ERR_LIMIT, "max_tile_bytes",
               options.limits = SIZED_LIMITS(.max_tile_bytes = 65535));
    REFUSED_BY(TZ_ERR_UNSUPPORTED, "tiles of 4 GiB and more", options.tile_width = 65536,
               options.tile_height = 65536,
               options.limits = SIZED_LIMITS(.max_tile_bytes = TZ_UNLIMITED));
    REFUSED_BY(TZ_ERR_UNSUPPORTED, "tiles of 4 GiB and more", spec.bands = 65535,
               spec.dtype = TZ_DTYPE_COMPLEX_FLOAT64, options.tile_width = 4294967280u,
               options.tile_height = 4294967280u,
               options.limits = SIZED_LIMITS(.max_tile_bytes = TZ_UNLIMITED));
    REFUSED_BY(TZ_ERR_LIMIT, "make them larger", spec.width = spec.height = UINT32_MAX,
               options.tile_width = options.tile_height = 16);
    REFUSED_BY(TZ_ERR_LIMIT, "make them larger", spec.width = spec.height = UINT32_MAX,
               spec.bands = 65535, options.interleave = TZ_INTERLEAVE_BAND,
               options.tile_width = options.tile_height = 16);
    ACCEPTED(usual, spec.width = 257);
    assert_int_equal(usual.tile_width, 256);
    assert_int_equal(usual.tiles_across, 2);
    assert_int_equal(usual.tiles_down, 1);
    assert_int_equal(usual.options.tile_height, 256);
    tz_image_deinit(&usual);
}

static void strips(void **state)
{
    (void)state;
    REFUSED("a tile width of 16 for strips", options.strips = true, options.tile_width = 16);
    ACCEPTED(given, options.strips = true, options.tile_height = 7);
    assert_int_equal(given.tile_width, 100);
    assert_int_equal(given.tile_height, 7);
    assert_int_equal(given.tile_count, 8);
    tz_image_deinit(&given);
    ACCEPTED(tall, options.strips = true, options.tile_height = UINT32_MAX);
    assert_int_equal(tall.tile_height, 50);
    tz_image_deinit(&tall);
    ACCEPTED(usual, options.strips = true, spec.width = 1000, spec.height = 1000);
    assert_int_equal(usual.tile_height, 65);
    tz_image_deinit(&usual);
    ACCEPTED(wide, options.strips = true, spec.width = 100000);
    assert_int_equal(wide.tile_height, 1);
    tz_image_deinit(&wide);
}

static void jpeg_strips(void **state)
{
    (void)state;
    if (!has_encoder(TZ_COMPRESSION_JPEG))
        return;
    REFUSED("JPEG strips of 12 rows; here they must be a multiple of 8", options.strips = true,
            options.codec.compression = TZ_COMPRESSION_JPEG, options.tile_height = 12);
    ACCEPTED(grey, options.strips = true, options.codec.compression = TZ_COMPRESSION_JPEG,
             spec.width = 1000, spec.height = 1000);
    assert_int_equal(grey.tile_height, 64);
    tz_image_deinit(&grey);
    /* The only strip has as many rows as whole blocks need. */
    ACCEPTED(color, options.strips = true, options.codec.compression = TZ_COMPRESSION_JPEG,
             spec.bands = 3, spec.photometric = TZ_PHOTOMETRIC_YCBCR);
    assert_int_equal(color.tile_height, 64);
    assert_int_equal(color.tiles_down, 1);
    tz_image_deinit(&color);
}

/* ---- codec ---- */

static void compressions(void **state)
{
    (void)state;
    REFUSED_BY(TZ_ERR_UNSUPPORTED, "999", options.codec.compression = (tz_compression)999);
    REFUSED_BY(TZ_ERR_UNSUPPORTED, "4", options.codec.compression = (tz_compression)4);
    REFUSED("which is not a TIFF number", options.codec.compression = (tz_compression)65544);
    REFUSED("options->codec.lerc_compression is 3", options.codec.lerc_compression = 3);
    if (!has_encoder(TZ_COMPRESSION_DEFLATE))
        return;
    ACCEPTED(usual, options.codec.compression = TZ_COMPRESSION_DEFAULT);
    assert_int_equal(usual.options.codec.compression, TZ_COMPRESSION_DEFLATE);
    assert_int_equal(usual.format.compression, TZ_COMPRESSION_DEFLATE);
    tz_image_deinit(&usual);
}

static uint16_t predictor_of(tz_compression compression, tz_dtype dtype, uint16_t bits)
{
    ACCEPTED(image, options.codec.compression = compression, spec.dtype = dtype,
             spec.bits_per_sample = bits);
    const uint16_t predictor = image.options.codec.predictor;
    tz_image_deinit(&image);
    return predictor;
}

static void predictors(void **state)
{
    (void)state;
    REFUSED("the predictor is 4", options.codec.predictor = 4);
    REFUSED("NONE does not take a predictor", options.codec.predictor = 2);
    assert_int_equal(predictor_of(TZ_COMPRESSION_NONE, TZ_DTYPE_UINT16, 0), 1);
    if (!has_encoder(TZ_COMPRESSION_LZW))
        return;
    const tz_compression lzw = TZ_COMPRESSION_LZW;
    assert_int_equal(predictor_of(lzw, TZ_DTYPE_UINT8, 0), 2);
    assert_int_equal(predictor_of(lzw, TZ_DTYPE_INT64, 0), 2);
    assert_int_equal(predictor_of(lzw, TZ_DTYPE_FLOAT16, 0), 3);
    assert_int_equal(predictor_of(lzw, TZ_DTYPE_FLOAT64, 0), 3);
    assert_int_equal(predictor_of(lzw, TZ_DTYPE_UINT8, 4), 1);
    assert_int_equal(predictor_of(lzw, TZ_DTYPE_COMPLEX_INT16, 0), 1);
    assert_int_equal(predictor_of(TZ_COMPRESSION_PACKBITS, TZ_DTYPE_UINT8, 0), 1);
    REFUSED("PACKBITS does not take a predictor", options.codec.predictor = 2,
            options.codec.compression = TZ_COMPRESSION_PACKBITS);
    REFUSED("predictor 2 takes samples of 8, 16, 32 or 64 bits, not of 12",
            options.codec.predictor = 2, options.codec.compression = lzw,
            spec.dtype = TZ_DTYPE_UINT16, spec.bits_per_sample = 12);
    REFUSED("predictor 3 takes floating-point samples, not uint8", options.codec.predictor = 3,
            options.codec.compression = lzw);
    REFUSED("predictor 3 takes floating-point samples, not complex_float32",
            options.codec.predictor = 3, options.codec.compression = lzw,
            spec.dtype = TZ_DTYPE_COMPLEX_FLOAT32);
    /* Floating-point samples may be differenced like integers. */
    ACCEPTED(two, options.codec.predictor = 2, options.codec.compression = lzw,
             spec.dtype = TZ_DTYPE_FLOAT32);
    assert_int_equal(two.options.codec.predictor, 2);
    tz_image_deinit(&two);
}

/* One warning that names the option, although it was met once only. */
static void check_useless(const char *text, int line)
{
    bench b;
    tz_image image;
    bench_init(&b);
    if (tz_image_init(&image, &spec, &options, &b.ctx) != TZ_OK)
        fail_msg("line %d: %s", line, b.err.message);
    bench_warned(&b, TZ_CAUSE_ARG, -1, TZ_NO_VALUE, TZ_NO_VALUE, text);
    tz_image_deinit(&image);
    b.ctx.strict = true;
    assert_int_equal(tz_image_init(&image, &spec, &options, &b.ctx), TZ_ERR_ARG);
    tz_image_deinit(&image);
    bench_deinit(&b);
}
#define USELESS(text, ...)                                                                         \
    do {                                                                                           \
        start();                                                                                   \
        __VA_ARGS__;                                                                               \
        check_useless(text, __LINE__);                                                             \
    } while (0)

static void useless_options(void **state)
{
    (void)state;
    USELESS("NONE: effort is ignored", options.codec.effort = 3);
    USELESS("NONE: quality is ignored", options.codec.quality = 3);
    USELESS("NONE: lossless is ignored", options.codec.lossless = TZ_CHOICE_NO);
    USELESS("NONE: distance is ignored", options.codec.distance = 3);
    USELESS("NONE: alpha_distance is ignored", options.codec.alpha_distance = 3);
    USELESS("NONE: max_error is ignored", options.codec.max_error = 3);
    USELESS("NONE: lerc_compression is ignored", options.codec.lerc_compression = 1);
    USELESS("NONE: jpeg_tables is ignored", options.codec.jpeg_tables = TZ_JPEG_TABLES_BOTH);
    USELESS("NONE: jpeg_subsampling is ignored", options.codec.jpeg_subsampling[0] = 1);
    ACCEPTED(lossless, options.codec.lossless = TZ_CHOICE_YES);
    tz_image_deinit(&lossless);
    if (!has_encoder(TZ_COMPRESSION_JPEG))
        return;
    REFUSED("JPEG is not lossless", options.codec.lossless = TZ_CHOICE_YES,
            options.codec.compression = TZ_COMPRESSION_JPEG);
    REFUSED("JPEG quality is 1 to 100", options.codec.quality = 101,
            options.codec.compression = TZ_COMPRESSION_JPEG);
    USELESS("JPEG: jpeg_subsampling is ignored", options.codec.jpeg_subsampling[0] = 1,
            options.codec.compression = TZ_COMPRESSION_JPEG);
}

/* An option is a warning if the codec has no use for it, and only then. */
static void options_of_codecs(void **state)
{
    (void)state;
    static const struct {
        tz_compression compression;
        bool level, quality, distance;
    } codecs[] = {
        {TZ_COMPRESSION_DEFLATE, true, false, false},  {TZ_COMPRESSION_ZSTD, true, false, false},
        {TZ_COMPRESSION_LZMA, true, false, false},     {TZ_COMPRESSION_LZW, false, false, false},
        {TZ_COMPRESSION_JPEG, false, true, false},     {TZ_COMPRESSION_WEBP, false, true, false},
        {TZ_COMPRESSION_JPEG2000, false, true, false}, {TZ_COMPRESSION_JXL, true, false, true},
        {TZ_COMPRESSION_LERC, false, false, false},    {TZ_COMPRESSION_LZ4, true, false, false},
    };
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        if (!has_encoder(codecs[i].compression))
            continue;
        const bool lossy = codecs[i].quality || codecs[i].distance;
        bench b;
        tz_image image;
        bench_init(&b);
        start();
        spec.bands = 3;
        options.codec.compression = codecs[i].compression;
        options.codec.lossless = lossy ? TZ_CHOICE_NO : TZ_CHOICE_AUTO;
        options.codec.effort = 5, options.codec.quality = 60, options.codec.distance = 2;
        if (tz_image_init(&image, &spec, &options, &b.ctx) != TZ_OK)
            fail_msg("%s", b.err.message);
        assert_int_equal(bench_find(&b, ": effort is ignored") == NULL, codecs[i].level);
        assert_int_equal(bench_find(&b, ": quality is ignored") == NULL, codecs[i].quality);
        assert_int_equal(bench_find(&b, ": distance is ignored") == NULL, codecs[i].distance);
        tz_image_deinit(&image);
        bench_deinit(&b);
    }
}

static void jpeg_xl_is_lossless_by_default(void **state)
{
    (void)state;
    if (!has_encoder(TZ_COMPRESSION_JXL))
        return;
    REFUSED("a distance only when it is not lossless", options.codec.distance = 2,
            options.codec.compression = TZ_COMPRESSION_JXL);
    ACCEPTED(image, options.codec.compression = TZ_COMPRESSION_JXL);
    assert_true(image.choice.lossless);
    tz_image_deinit(&image);
}

static void a_lossy_choice_is_kept(void **state)
{
    (void)state;
    if (!has_encoder(TZ_COMPRESSION_LERC))
        return;
    ACCEPTED(lerc, options.codec.compression = TZ_COMPRESSION_LERC, options.codec.max_error = 0.5,
             spec.dtype = TZ_DTYPE_FLOAT32);
    assert_true(lerc.choice.max_error == 0.5);
    assert_true(lerc.encoder->lossy(&lerc.format, &lerc.choice));
    tz_image_deinit(&lerc);
    static const uint8_t bits[] = {3};
    REFUSED("bits are discarded where the codec is lossless, and lerc is not",
            options.codec.compression = TZ_COMPRESSION_LERC, options.codec.max_error = 0.5,
            spec.dtype = TZ_DTYPE_FLOAT32, options.discard_bits = bits, options.discard_count = 1);
}

static void discarded_bits(void **state)
{
    (void)state;
    static const uint8_t bits[] = {7, 0, 8};
    REFUSED("options->discard_bits is NULL, although its count is 1", options.discard_count = 1);
    REFUSED("2 numbers of bits to discard; there may be 1 or 3", spec.bands = 3,
            options.discard_bits = bits, options.discard_count = 2);
    REFUSED("8 bits to discard of samples of type uint8; at most 7 can be", spec.bands = 3,
            options.discard_bits = bits, options.discard_count = 3);
    REFUSED("at most 3 can be", spec.bits_per_sample = 4, options.discard_bits = bits,
            options.discard_count = 1);
    REFUSED("at most 0 can be", spec.dtype = TZ_DTYPE_COMPLEX_FLOAT32, options.discard_bits = bits,
            options.discard_count = 1);
    ACCEPTED(image, spec.bands = 2, options.discard_bits = bits, options.discard_count = 2);
    assert_ptr_not_equal(image.options.discard_bits, bits);
    assert_memory_equal(image.options.discard_bits, bits, 2);
    tz_image_deinit(&image);
}

static void masks(void **state)
{
    (void)state;
    ACCEPTED(image, spec.mask = true, spec.bands = 3, options.interleave = TZ_INTERLEAVE_BAND,
             options.strips = true, options.tile_height = 16);
    assert_non_null(image.mask_encoder);
    assert_int_equal(image.mask_format.width, 100);
    assert_int_equal(image.mask_format.height, 16);
    assert_int_equal(image.mask_format.bits, 1);
    assert_int_equal(image.mask_format.samples, 1);
    if (has_encoder(TZ_COMPRESSION_DEFLATE))
        assert_int_equal(image.mask_format.compression, TZ_COMPRESSION_DEFLATE);
    tz_image_deinit(&image);
}

/* ---- colours ---- */

static uint16_t photometric_of(uint32_t bands, tz_dtype dtype)
{
    ACCEPTED(image, spec.bands = bands, spec.dtype = dtype);
    const uint16_t photometric = image.photometric;
    tz_image_deinit(&image);
    return photometric;
}

static void photometric(void **state)
{
    (void)state;
    assert_int_equal(photometric_of(1, TZ_DTYPE_UINT8), 1);
    assert_int_equal(photometric_of(2, TZ_DTYPE_UINT8), 1);
    assert_int_equal(photometric_of(3, TZ_DTYPE_UINT8), 2);
    assert_int_equal(photometric_of(4, TZ_DTYPE_UINT8), 2);
    assert_int_equal(photometric_of(5, TZ_DTYPE_UINT8), 1);
    assert_int_equal(photometric_of(3, TZ_DTYPE_UINT16), 1);
    REFUSED("an image cannot be a mask; set spec->mask", spec.photometric = TZ_PHOTOMETRIC_MASK);
    REFUSED("spec->photometric is 7, which is not written", spec.photometric = (tz_photometric)7);
    REFUSED("RGB needs 3 bands, and the image has 1", spec.photometric = TZ_PHOTOMETRIC_RGB);
    REFUSED("CMYK needs 4 bands, and the image has 3", spec.photometric = TZ_PHOTOMETRIC_CMYK,
            spec.bands = 3);
    REFUSED("CIELab needs 3 bands", spec.photometric = TZ_PHOTOMETRIC_CIELAB);
    REFUSED("YCbCr is written in JPEG only", spec.photometric = TZ_PHOTOMETRIC_YCBCR,
            spec.bands = 3);
    REFUSED("YCbCr takes 3 bands, and the image has 4", spec.photometric = TZ_PHOTOMETRIC_YCBCR,
            spec.bands = 4);
    REFUSED("YCbCr takes samples of uint8, interleaved by pixel",
            spec.photometric = TZ_PHOTOMETRIC_YCBCR, spec.bands = 3,
            options.codec.compression = TZ_COMPRESSION_JPEG,
            options.interleave = TZ_INTERLEAVE_BAND);
    REFUSED("YCbCr takes samples of uint8, interleaved by pixel",
            spec.photometric = TZ_PHOTOMETRIC_YCBCR, spec.bands = 3, spec.dtype = TZ_DTYPE_UINT16,
            options.codec.compression = TZ_COMPRESSION_JPEG);
    REFUSED("a subsampling of 4 x 0; both must be 1 or 2", spec.bands = 3,
            spec.photometric = TZ_PHOTOMETRIC_YCBCR,
            options.codec.compression = TZ_COMPRESSION_JPEG, options.codec.jpeg_subsampling[0] = 4);
    ACCEPTED(white, spec.photometric = TZ_PHOTOMETRIC_MIN_IS_WHITE);
    assert_int_equal(white.photometric, 0);
    tz_image_deinit(&white);
}

static void extra_samples(void **state)
{
    (void)state;
    static const uint16_t list[] = {2, 0, 1, 3};
    REFUSED("2 extra samples; RGB leaves 1 of 4 bands", spec.bands = 4, spec.extra_samples = list,
            spec.extra_sample_count = 2);
    REFUSED("1 extra samples; MinIsBlack leaves 0 of 1 bands", spec.extra_samples = list,
            spec.extra_sample_count = 1);
    REFUSED("spec->extra_samples is NULL", spec.bands = 4, spec.extra_sample_count = 1);
    REFUSED("extra sample 3 is 3; it must be 0, 1 or 2", spec.bands = 7,
            spec.photometric = TZ_PHOTOMETRIC_RGB, spec.extra_samples = list,
            spec.extra_sample_count = 4);
    ACCEPTED(alpha, spec.bands = 4);
    assert_int_equal(alpha.spec.extra_sample_count, 1);
    assert_int_equal(alpha.spec.extra_samples[0], 2);
    assert_true(alpha.format.alpha);
    tz_image_deinit(&alpha);
    ACCEPTED(unknown, spec.bands = 5);
    assert_int_equal(unknown.spec.extra_sample_count, 4);
    assert_int_equal(unknown.spec.extra_samples[0], 0);
    assert_false(unknown.format.alpha);
    tz_image_deinit(&unknown);
}

static void color_maps(void **state)
{
    (void)state;
    static uint16_t map[3 * 256];
    REFUSED("a colour map of 255 entries; samples of 8 bits need 256", spec.color_map = map,
            spec.color_map_size = 255);
    REFUSED("spec->color_map is NULL", spec.color_map_size = 256);
    REFUSED("a palette takes integers of up to 16 bits", spec.dtype = TZ_DTYPE_FLOAT16,
            spec.color_map = map, spec.color_map_size = 256);
    REFUSED("a palette takes integers of up to 16 bits", spec.dtype = TZ_DTYPE_UINT32,
            spec.color_map = map, spec.color_map_size = 256);
    REFUSED("a colour map of 0 entries", spec.photometric = TZ_PHOTOMETRIC_PALETTE);
    REFUSED("a colour map is for palettes, and the image is MinIsBlack", spec.color_map = map,
            spec.color_map_size = 256, spec.photometric = TZ_PHOTOMETRIC_MIN_IS_BLACK);
    ACCEPTED(palette, spec.bits_per_sample = 4, spec.color_map = map, spec.color_map_size = 16);
    assert_int_equal(palette.photometric, TZ_PHOTOMETRIC_PALETTE);
    tz_image_deinit(&palette);
    ACCEPTED(more, spec.dtype = TZ_DTYPE_INT8, spec.bands = 3, spec.color_map = map,
             spec.color_map_size = 256);
    assert_int_equal(more.photometric, TZ_PHOTOMETRIC_PALETTE);
    assert_int_equal(more.spec.extra_sample_count, 2);
    tz_image_deinit(&more);
}

int main(void)
{
    const struct CMUnitTest list[] = {
        CASE(struct_sizes),
        CASE(size_and_type),
        CASE(options_of_layout),
        CASE(tiles),
        CASE(strips),
        CASE(jpeg_strips),
        CASE(compressions),
        CASE(predictors),
        CASE(useless_options),
        CASE(options_of_codecs),
        CASE(jpeg_xl_is_lossless_by_default),
        CASE(a_lossy_choice_is_kept),
        CASE(discarded_bits),
        CASE(masks),
        CASE(photometric),
        CASE(extra_samples),
        CASE(color_maps),
    };
    return cmocka_run_group_tests(list, NULL, NULL);
}
