/* SPDX-License-Identifier: Apache-2.0
 * Checks that creation options go together. */
#include <stdio.h>
#include <terrazzo/terrazzo.h>

#include "creation_table.h"
#include "terminal.h"

/* Codecs --------------------------------------------------------------------------------------- */

/* Returns the option that chooses the codec this one belongs to: COMPRESS, or OVERVIEW_COMPRESS
 * where that is given. */
static creation_id codec_option(const creation *c, const creation_option *option)
{
    bool other = (option->codecs & FOR_OVERVIEWS) != 0 && c->value[CO_OVERVIEW_COMPRESS] != 0;
    return other ? CO_OVERVIEW_COMPRESS : CO_COMPRESS;
}

/* Returns the bit of a codec in creation_option.codecs. */
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

static const char *word_of(const creation *c, creation_id id)
{
    const creation_word *word = c->driver->options[id].words;
    while (word->value != c->value[id])
        word++;
    return word->text;
}

/* Options of other codecs are ignored, as by GDAL, but with a warning. */
static void drop_useless(creation *c)
{
    creation defaults;
    char message[128];
    creation_start(&defaults, c->driver);
    for (int id = 0; id < CO_COUNT; id++) {
        const creation_option *option = &c->driver->options[id];
        creation_id codec = codec_option(c, option);
        if (option->codecs == 0 || (option->codecs & codec_bit(creation_number(c, codec))) != 0)
            continue;
        if (c->value[id] != defaults.value[id]) {
            snprintf(message, sizeof message, "%s has no effect with %s=%s", option->name,
                     c->driver->options[codec].name, word_of(c, codec));
            term_warning(message, 1);
        }
        c->value[id] = defaults.value[id];
        c->given[id] = false;
    }
}

/* LEVEL and QUALITY stand for the option that each codec has of its own. */

static creation_id level_option(unsigned codec)
{
    if ((codec & (FOR_DEFLATE | FOR_LERC_DEFLATE)) != 0)
        return CO_ZLEVEL;
    if ((codec & (FOR_ZSTD | FOR_LERC_ZSTD)) != 0)
        return CO_ZSTD_LEVEL;
    return (codec & FOR_LZMA) != 0 ? CO_LZMA_PRESET : CO_LZ4_LEVEL;
}

static bool resolve_level(creation *c)
{
    creation_id id = level_option(codec_bit(creation_number(c, CO_COMPRESS)));
    const creation_option *option = &creation_gtiff.options[id];
    double level = c->value[CO_LEVEL];
    char message[80];
    if (!c->given[CO_LEVEL])
        return true;
    c->value[id] = level;
    if ((level >= option->min && level <= option->max) ||
        (level == CREATION_FAST && id == CO_ZLEVEL))
        return true;
    snprintf(message, sizeof message, "LEVEL is %d to %d%s with COMPRESS=%s", (int)option->min,
             (int)option->max, id == CO_ZLEVEL ? " or FAST" : "", word_of(c, CO_COMPRESS));
    term_usage(message, NULL, "");
    return false;
}

static void resolve_quality(creation *c)
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

/* The whole ------------------------------------------------------------------------------------ */

static bool is_lerc(double compression)
{
    return compression == TZ_COMPRESSION_LERC || compression == CREATION_LERC_DEFLATE ||
           compression == CREATION_LERC_ZSTD;
}

static const char *find_problem(const creation *c)
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

bool creation_check(creation *c)
{
    drop_useless(c);
    const char *problem = find_problem(c);
    if (problem != NULL)
        term_usage(problem, NULL, "");
    if (problem != NULL || !resolve_level(c))
        return false;
    resolve_quality(c);
    return true;
}

/* Values --------------------------------------------------------------------------------------- */

int64_t creation_number(const creation *c, creation_id id)
{
    return (int64_t)c->value[id];
}

uint16_t creation_compression(const creation *c, creation_id id)
{
    return is_lerc(c->value[id]) ? TZ_COMPRESSION_LERC : (uint16_t)c->value[id];
}
