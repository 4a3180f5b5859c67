/* SPDX-License-Identifier: Apache-2.0
 * Checks that creation options go together. */
#include "base/mem.h"
#include "tiff/tags.h"
#include "write/creation/creation.h"

/* ---- codecs ---- */

/* Returns the option that chooses the codec this one belongs to: COMPRESS, or OVERVIEW_COMPRESS
 * where that is given. */
static tz_creation_id codec_option(const tz_creation_values *c, const tz_creation_row *row)
{
    bool other = (row->codecs & FOR_OVERVIEWS) != 0 && c->value[CO_OVERVIEW_COMPRESS] != 0;
    return other ? CO_OVERVIEW_COMPRESS : CO_COMPRESS;
}

/* Returns the bit of a codec in tz_creation_row.codecs. */
static unsigned codec_bit(int64_t compression)
{
    static const struct {
        int compression;
        unsigned bit;
    } bits[] = {{TZ_COMPRESSION_LZW, FOR_LZW},
                {TZ_COMPRESSION_DEFLATE, FOR_DEFLATE},
                {TZ_COMPRESSION_ZSTD, FOR_ZSTD},
                {TZ_COMPRESSION_LZMA, FOR_LZMA},
                {TZ_COMPRESSION_LZ4, FOR_LZ4},
                {TZ_COMPRESSION_JPEG, FOR_JPEG},
                {TZ_COMPRESSION_WEBP, FOR_WEBP},
                {TZ_COMPRESSION_JXL, FOR_JXL},
                {TZ_COMPRESSION_JPEG2000, FOR_JPEG2000},
                {TZ_COMPRESSION_LERC, FOR_LERC},
                {CREATION_LERC_DEFLATE, FOR_LERC_DEFLATE},
                {CREATION_LERC_ZSTD, FOR_LERC_ZSTD}};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        if (bits[i].compression == compression)
            return bits[i].bit;
    }
    return 0;
}

static const char *word_of(const tz_creation_driver *driver, const tz_creation_values *c,
                           tz_creation_id id)
{
    const tz_creation_word *word = driver->rows[id].words;
    while (word->value != c->value[id])
        word++;
    return word->text;
}

/* Warnings have one format, and are about one option each, so tz_warn would count them as one. */
static tz_result warn_useless(tz_creation *creation, tz_creation_id id, tz_creation_id codec,
                              const tz_context *ctx)
{
    const tz_creation_driver *driver = creation->driver;
    const uint32_t count = creation->warning_count;
    tz_error *list = tz_realloc_array(creation->warnings, count + 1, sizeof *list);
    if (!list)
        return tz_fail_nomem(ctx, (count + 1) * sizeof *list);
    creation->warnings = list;
    creation->warning_count++;
    const tz_context within = {.err = &list[count], .ifd = -1};
    (void)TZ_FAIL_ARG(&within, "%s has no effect with %s=%s", driver->rows[id].shown.name,
                      driver->rows[codec].shown.name, word_of(driver, &creation->used, codec));
    return TZ_OK;
}

/* Options of other codecs are ignored, as by GDAL, but with a warning. */
static tz_result drop_useless(tz_creation *creation, const tz_context *ctx)
{
    tz_creation_values defaults;
    tz_creation_values *c = &creation->used;
    tz_creation_set_defaults(&defaults, creation->driver);
    for (int id = 0; id < CO_COUNT; id++) {
        const tz_creation_row *row = &creation->driver->rows[id];
        const tz_creation_id codec = codec_option(c, row);
        if (row->codecs == 0 || (row->codecs & codec_bit(tz_creation_number(c, codec))) != 0)
            continue;
        if (c->value[id] != defaults.value[id])
            TZ_TRY(warn_useless(creation, (tz_creation_id)id, codec, ctx));
        c->value[id] = defaults.value[id];
        c->given[id] = false;
    }
    return TZ_OK;
}

/* LEVEL and QUALITY stand for the option that each codec has of its own. */

static tz_creation_id level_option(unsigned codec)
{
    if ((codec & (FOR_DEFLATE | FOR_LERC_DEFLATE)) != 0)
        return CO_ZLEVEL;
    if ((codec & (FOR_ZSTD | FOR_LERC_ZSTD)) != 0)
        return CO_ZSTD_LEVEL;
    return (codec & FOR_LZMA) != 0 ? CO_LZMA_PRESET : CO_LZ4_LEVEL;
}

static tz_result resolve_level(tz_creation *creation, const tz_context *ctx)
{
    tz_creation_values *c = &creation->used;
    const tz_creation_id id = level_option(codec_bit(tz_creation_number(c, CO_COMPRESS)));
    const tz_creation_row *row = &tz_creation_gtiff.rows[id];
    const double level = c->value[CO_LEVEL];
    if (!c->given[CO_LEVEL])
        return TZ_OK;
    c->value[id] = level;
    if ((level >= row->min && level <= row->max) || (level == CREATION_FAST && id == CO_ZLEVEL))
        return TZ_OK;
    return TZ_FAIL_ARG(ctx, "LEVEL is %d to %d%s with COMPRESS=%s", (int)row->min, (int)row->max,
                       id == CO_ZLEVEL ? " or FAST" : "",
                       word_of(creation->driver, c, CO_COMPRESS));
}

static void resolve_quality(tz_creation_values *c)
{
    double quality = c->value[CO_QUALITY];
    bool lossless = quality == 100;
    if (!c->given[CO_QUALITY])
        return;
    c->value[CO_JPEG_QUALITY] = quality;
    c->value[CO_WEBP_LEVEL] = quality;
    c->value[CO_WEBP_LOSSLESS] = lossless;
    c->value[CO_JPEG2000_QUALITY] = quality;
    c->value[CO_JPEG2000_LOSSLESS] = lossless;
}

/* ---- all options ---- */

static bool is_lerc(double compression)
{
    return compression == TZ_COMPRESSION_LERC || compression == CREATION_LERC_DEFLATE ||
           compression == CREATION_LERC_ZSTD;
}

static const char *find_problem(const tz_creation_values *c)
{
    double overviews = c->value[CO_OVERVIEW_COMPRESS];
    if (c->given[CO_BLOCKXSIZE] && c->value[CO_TILED] == 0)
        return "BLOCKXSIZE needs TILED=YES: strips are as wide as the image";
    if ((c->given[CO_JXL_DISTANCE] || c->given[CO_JXL_ALPHA_DISTANCE]) &&
        c->value[CO_JXL_LOSSLESS] != 0)
        return "JXL_DISTANCE and JXL_ALPHA_DISTANCE need JXL_LOSSLESS=NO";
    if (c->given[CO_WEBP_LEVEL] && c->value[CO_WEBP_LOSSLESS] != 0)
        return "WEBP_LEVEL needs WEBP_LOSSLESS=NO";
    if (c->given[CO_JPEG2000_QUALITY] && c->value[CO_JPEG2000_LOSSLESS] != 0)
        return "JPEG2000_QUALITY needs JPEG2000_LOSSLESS=NO";
    if (c->value[CO_STATISTICS] == STATISTICS_YES && c->value[CO_PROFILE] != PROFILE_GDAL)
        return "STATISTICS=YES needs PROFILE=GDALGeoTIFF: they are GDAL metadata";
    if (c->value[CO_TFW] != 0 && c->value[CO_WORLDFILE] != 0)
        return "TFW and WORLDFILE: one world file is enough";
    if (c->domain_count > 0 && c->given[CO_COPY_SRC_MDD] && c->value[CO_COPY_SRC_MDD] == 0)
        return "SRC_MDD and COPY_SRC_MDD=NO do not go together";
    if (c->value[CO_OVERVIEWS] == OVERVIEWS_NONE && c->value[CO_OVERVIEW_COUNT] > 0)
        return "OVERVIEWS=NONE and OVERVIEW_COUNT do not go together";
    if (is_lerc(overviews) && is_lerc(c->value[CO_COMPRESS]) && overviews != c->value[CO_COMPRESS])
        return "COMPRESS and OVERVIEW_COMPRESS: where both are LERC, what is within is the same";
    return NULL;
}

tz_result tz_creation_check(tz_creation *creation, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!creation)
        return TZ_FAIL_ARG(&ctx, "creation is NULL");
    creation->warning_count = 0;
    creation->used = creation->set;
    TZ_TRY(drop_useless(creation, &ctx));
    const char *problem = find_problem(&creation->used);
    if (problem)
        return TZ_FAIL_ARG(&ctx, "%s", problem);
    TZ_TRY(resolve_level(creation, &ctx));
    resolve_quality(&creation->used);
    return TZ_OK;
}

const tz_error *tz_creation_get_warning(const tz_creation *creation, uint32_t index)
{
    return index < creation->warning_count ? &creation->warnings[index] : NULL;
}

/* ---- values ---- */

int64_t tz_creation_number(const tz_creation_values *values, tz_creation_id id)
{
    return (int64_t)values->value[id];
}

uint16_t tz_creation_compression(const tz_creation_values *values, tz_creation_id id)
{
    return is_lerc(values->value[id]) ? TZ_COMPRESSION_LERC : (uint16_t)values->value[id];
}
