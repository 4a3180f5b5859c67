/* SPDX-License-Identifier: Apache-2.0
 * The encoding of tiles: codec, predictor, options and discarded bits, and the codec of the mask.
 * tz_image_resolve_codec runs first, because the layout of the image depends on the codec;
 * tz_image_resolve_encoding runs when the layout is known and asks the encoder if it takes such
 * tiles. All that differs from codec to codec is in its row of the table (codec/codec.h). */
#include <string.h>

#include "base/mem.h"
#include "tiff/image/image_steps.h"
#include "tiff/tags.h"

/* ---- codec and predictor ---- */

/* The options that the codec uses, as its row has them: TZ_OPTION_... Files with another of its
 * numbers (32946, 52546) are written with its defaults. */
static unsigned codec_options(const tz_image *image)
{
    const tz_compression compression = image->options.codec.compression;
    const tz_codec *codec = tz_codec_find((uint16_t)compression);
    return codec && codec->infos[0].compression == compression ? codec->options : 0;
}

static bool is_whole_byte_depth(uint16_t bits)
{
    return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

/* Neighbours in a palette are not related, so a predictor does not help. */
static uint16_t default_predictor(const tz_image *image)
{
    if (!(codec_options(image) & TZ_OPTION_PREDICTOR) ||
        image->photometric == TZ_PHOTOMETRIC_PALETTE)
        return TZ_PREDICTOR_NONE;
    if (image->sample_format == TZ_SAMPLE_FORMAT_FLOAT)
        return TZ_PREDICTOR_FLOAT;
    return image->sample_format <= TZ_SAMPLE_FORMAT_INT &&
                   is_whole_byte_depth(image->spec.bits_per_sample)
               ? TZ_PREDICTOR_HORIZONTAL
               : TZ_PREDICTOR_NONE;
}

/* Finds the encoder, and the predictor if the codec takes one: 0 chooses it by the samples. */
tz_result tz_image_resolve_codec(tz_image *image, const tz_context *ctx)
{
    const tz_compression compression = image->options.codec.compression;
    uint16_t *predictor = &image->options.codec.predictor;
    if ((unsigned)compression > UINT16_MAX)
        return TZ_FAIL_ARG(ctx, "options->codec.compression is %u, which is not a TIFF number",
                           (unsigned)compression);
    TZ_TRY(tz_encoder_find((uint16_t)compression, ctx, &image->encoder));
    if (*predictor == 0)
        *predictor = default_predictor(image);
    if (*predictor == TZ_PREDICTOR_NONE)
        return TZ_OK;
    if (*predictor > TZ_PREDICTOR_FLOAT)
        return TZ_FAIL_ARG(ctx, "the predictor is %u; it must be 1, 2 or 3", *predictor);
    if (!(codec_options(image) & TZ_OPTION_PREDICTOR))
        return TZ_FAIL_ARG(ctx, "%s does not take a predictor",
                           tz_compression_name((uint16_t)compression));
    if (*predictor == TZ_PREDICTOR_HORIZONTAL && !is_whole_byte_depth(image->spec.bits_per_sample))
        return TZ_FAIL_ARG(ctx, "predictor 2 takes samples of 8, 16, 32 or 64 bits, not of %u",
                           image->spec.bits_per_sample);
    if (*predictor == TZ_PREDICTOR_FLOAT && image->sample_format != TZ_SAMPLE_FORMAT_FLOAT)
        return TZ_FAIL_ARG(ctx, "predictor 3 takes floating-point samples, not %s",
                           tz_dtype_name(image->spec.dtype));
    return TZ_OK;
}

/* ---- options ---- */

/* An option that was given, and the codecs that use it. Warnings are distinguished by their text,
 * so each option has one. That a codec is to be lossless is never ignored: it is, or refuses. */
typedef struct option_use {
    bool given;
    unsigned options; /* TZ_OPTION_...: a codec with one of them uses it */
    const char *text;
} option_use;

static tz_result warn_unused_options(const tz_image *image, const tz_context *ctx)
{
    const tz_codec_options *o = &image->options.codec;
    const bool ycbcr = image->photometric == TZ_PHOTOMETRIC_YCBCR;
    const bool subsampled = o->jpeg_subsampling[0] != 0 || o->jpeg_subsampling[1] != 0;
    const bool in_lerc = o->lerc_compression != 0;
    const unsigned inner_level = in_lerc ? TZ_OPTION_INNER_LEVEL : 0;
    const unsigned lossy_quality = image->choice.lossless ? 0 : TZ_OPTION_LOSSY_QUALITY;
    const option_use uses[] = {
        {o->effort != 0, TZ_OPTION_LEVEL | inner_level, "%s: effort is ignored"},
        {o->quality != 0, TZ_OPTION_QUALITY | lossy_quality, "%s: quality is ignored"},
        {o->lossless == TZ_CHOICE_NO, TZ_OPTION_LOSSLESS, "%s: lossless is ignored"},
        {o->distance != 0, TZ_OPTION_DISTANCE, "%s: distance is ignored"},
        {o->alpha_distance != 0, TZ_OPTION_DISTANCE, "%s: alpha_distance is ignored"},
        {o->max_error != 0, TZ_OPTION_MAX_ERROR, "%s: max_error is ignored"},
        {in_lerc, TZ_OPTION_INNER_LEVEL, "%s: lerc_compression is ignored"},
        {o->jpeg_tables != TZ_JPEG_TABLES_DEFAULT, TZ_OPTION_JPEG_TABLES,
         "%s: jpeg_tables is ignored"},
        {subsampled && !ycbcr, 0, "%s: jpeg_subsampling is ignored"},
    };
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++)
        if (uses[i].given && !(uses[i].options & codec_options(image)))
            TZ_TRY(tz_warn(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), uses[i].text,
                           tz_compression_name((uint16_t)o->compression)));
    return TZ_OK;
}

/* Fills in the defaults that depend on the codec. on_device: a device may encode. */
static tz_encode_options encode_choice_from_options(const tz_codec_options *options, bool on_device)
{
    const tz_codec *codec = tz_codec_find((uint16_t)options->compression);
    const bool default_lossless = codec && codec->is_lossless_by_default &&
                                  codec->infos[0].compression == options->compression;
    /* A device without an effort to follow uses the class of efforts that devices have. */
    const bool by_device = on_device && options->compression == TZ_COMPRESSION_DEFLATE;
    return (tz_encode_options){
        .level = options->effort == 0 && by_device ? TZ_EFFORT_FAST : options->effort,
        .quality = options->quality,
        .lossless = options->lossless == TZ_CHOICE_AUTO ? default_lossless
                                                        : options->lossless == TZ_CHOICE_YES,
        .distance = options->distance,
        .alpha_distance = options->alpha_distance,
        .max_error = options->max_error,
        .jpeg_tables = options->jpeg_tables == TZ_JPEG_TABLES_DEFAULT ? TZ_JPEG_TABLES_BOTH
                                                                      : options->jpeg_tables,
    };
}

/* Byte counts of tiles have 32 bits in the file, and in ifd_emit.c. */
static tz_result check_encoded_bound(const tz_encoder *encoder, const tz_tile_format *format,
                                     const tz_encode_options *choice, const tz_context *ctx)
{
    const uint64_t bound = encoder->bound(format, choice);
    if (bound <= UINT32_MAX)
        return TZ_OK;
    return TZ_FAIL_UNSUPPORTED(ctx, tz_expecting(tz_no_location(), UINT32_MAX, bound),
                               "a tile may become larger than 4 GiB");
}

/* Finds the encoder of a mask that the caller chose. Tiles of a mask have bits, not samples, so the
 * codecs of bytes take them and those of images do not. */
static tz_result find_mask_encoder(tz_image *image, const tz_context *ctx)
{
    const tz_codec_options *given = &image->options.mask_codec;
    const tz_codec_options used = {.compression = given->compression, .effort = given->effort};
    if (memcmp(given, &used, sizeof used) != 0)
        return TZ_FAIL_ARG(
            ctx, "options->mask_codec: masks have a compression and an effort, and no more");
    if ((unsigned)given->compression > UINT16_MAX)
        return TZ_FAIL_ARG(ctx, "options->mask_codec.compression is %u, which is not a TIFF number",
                           (unsigned)given->compression);
    TZ_TRY(tz_encoder_find((uint16_t)given->compression, ctx, &image->mask_encoder));
    if (image->mask_encoder->flags & TZ_ENCODER_NATIVE_ENDIAN)
        return TZ_FAIL_UNSUPPORTED(ctx, tz_no_location(),
                                   "options->mask_codec: %s does not encode masks, which have 1 "
                                   "bit",
                                   tz_compression_name((uint16_t)given->compression));
    const tz_codec *codec = tz_codec_find((uint16_t)given->compression);
    if (given->effort != 0 && !(codec->options & TZ_OPTION_LEVEL))
        return TZ_FAIL_ARG(ctx, "options->mask_codec.effort is %d, and %s has none", given->effort,
                           tz_compression_name((uint16_t)given->compression));
    image->mask_format.compression = (uint16_t)given->compression;
    return TZ_OK;
}

/* A mask is encoded as options->mask_codec says. By default that is Deflate, or the best encoder
 * that this build has; None is always there. */
static tz_result resolve_mask_encoding(tz_image *image, const tz_context *ctx)
{
    static const tz_compression candidates[] = {TZ_COMPRESSION_DEFLATE, TZ_COMPRESSION_LZW,
                                                TZ_COMPRESSION_NONE};
    tz_codec_options *codec = &image->options.mask_codec;
    if (!image->spec.mask)
        return TZ_OK;
    for (size_t i = 0; codec->compression == TZ_COMPRESSION_DEFAULT; i++)
        if (tz_codec_find((uint16_t)candidates[i])->encoder)
            codec->compression = candidates[i];
    image->mask_format = (tz_tile_format){
        .width = image->tile_width,
        .height = image->tile_height,
        .samples = 1,
        .bits = 1,
        .sample_format = TZ_SAMPLE_FORMAT_UINT,
        .photometric = TZ_PHOTOMETRIC_MASK,
        .subsampling = {1, 1},
        .fill_order = TZ_FILL_ORDER_HIGH_FIRST,
        .big_endian = image->options.big_endian,
    };
    TZ_TRY(find_mask_encoder(image, ctx));
    image->mask_choice = encode_choice_from_options(codec, false);
    TZ_TRY(tz_encoder_check(image->mask_encoder, &image->mask_format, &image->mask_choice, ctx));
    return check_encoded_bound(image->mask_encoder, &image->mask_format, &image->mask_choice, ctx);
}

/* ---- bits to discard ---- */

/* Bits of a sample that may be discarded: an integer keeps one, a floating-point number its sign
 * and exponent. */
static unsigned max_discarded_bits(const tz_image *image)
{
    switch (image->spec.dtype) {
    case TZ_DTYPE_FLOAT16:
        return 10;
    case TZ_DTYPE_FLOAT32:
        return 23;
    case TZ_DTYPE_FLOAT64:
        return 52;
    default:
        return image->sample_format <= TZ_SAMPLE_FORMAT_INT ? image->spec.bits_per_sample - 1u : 0;
    }
}

/* Makes one number for each band, also if one was given for all. */
static tz_result resolve_discard_bits(tz_image *image, const tz_context *ctx)
{
    tz_write_options *options = &image->options;
    const unsigned max_bits = max_discarded_bits(image);
    const uint32_t bands = image->spec.bands;
    const uint32_t given = options->discard_count;
    if (given == 0) {
        options->discard_bits = NULL;
        return TZ_OK;
    }
    if (given != 1 && given != bands)
        return TZ_FAIL_ARG(ctx, "%u numbers of bits to discard; there may be 1 or %u", given,
                           bands);
    if (!options->discard_bits)
        return TZ_FAIL_ARG(ctx, "options->discard_bits is NULL, although its count is %u", given);
    uint8_t *copy = tz_arena_alloc(&image->arena, bands);
    if (!copy)
        return tz_fail_nomem(ctx, bands);
    for (uint32_t band = 0; band < bands; band++) {
        copy[band] = options->discard_bits[given == 1 ? 0 : band];
        if (copy[band] > max_bits)
            return TZ_FAIL_ARG(ctx, "%u bits to discard of samples of type %s; at most %u can be",
                               copy[band], tz_dtype_name(image->spec.dtype), max_bits);
    }
    options->discard_bits = copy;
    options->discard_count = bands;
    if (image->encoder->lossy && image->encoder->lossy(&image->format, &image->choice))
        return TZ_FAIL_ARG(ctx, "bits are discarded where the codec is lossless, and %s is not",
                           tz_codec_find(image->format.compression)->name);
    return TZ_OK;
}

/* Describes a whole tile for the encoder, and asks it if it takes such tiles with such options. The
 * alpha that a codec encodes apart is the last band, if it is not premultiplied. */
tz_result tz_image_resolve_encoding(tz_image *image, const tz_context *ctx)
{
    const tz_image_spec *spec = &image->spec;
    const tz_codec_options *codec = &image->options.codec;
    const bool by_band = image->planar == TZ_PLANAR_SEPARATE;
    const uint32_t extras = spec->extra_sample_count;
    if (codec->lerc_compression > 2)
        return TZ_FAIL_ARG(ctx, "options->codec.lerc_compression is %u; it must be 0, 1 or 2",
                           codec->lerc_compression);
    image->format = (tz_tile_format){
        .width = image->tile_width,
        .height = image->tile_height,
        .samples = (uint16_t)(by_band ? 1 : spec->bands),
        .bits = spec->bits_per_sample,
        .sample_format = image->sample_format,
        .compression = (uint16_t)codec->compression,
        .photometric = image->photometric,
        .subsampling = {image->subsampling[0], image->subsampling[1]},
        .fill_order = TZ_FILL_ORDER_HIGH_FIRST,
        .lerc_compression = codec->compression == TZ_COMPRESSION_LERC ? codec->lerc_compression : 0,
        .big_endian = image->options.big_endian,
        .alpha = !by_band && extras > 0 && spec->extra_samples[extras - 1] == TZ_EXTRA_SAMPLE_ALPHA,
    };
    image->choice = encode_choice_from_options(codec, image->options.device != NULL);
    TZ_TRY(warn_unused_options(image, ctx));
    TZ_TRY(tz_encoder_check(image->encoder, &image->format, &image->choice, ctx));
    TZ_TRY(check_encoded_bound(image->encoder, &image->format, &image->choice, ctx));
    TZ_TRY(resolve_mask_encoding(image, ctx));
    return resolve_discard_bits(image, ctx);
}
