/* SPDX-License-Identifier: Apache-2.0
 * Creation options as options of a write: tiles or strips, interleave, byte order, codec with its
 * effort and loss, overviews.
 *
 * Several creation options set one member of tz_write_options: the effort is ZLEVEL, ZSTD_LEVEL,
 * LZMA_PRESET and so on, depending on the codec. A member that no option sets stays 0, and the
 * library takes its default: which level Deflate has, for one, depends on whether the CPU or a
 * device encodes. */
#include "pixel/row_ops.h"
#include "tiff/image/image_steps.h"
#include "tiff/tags.h"
#include "write/creation/creation.h"

static bool wants_big_endian(const tz_creation_values *co)
{
    bool native_big = !tz_host_is_little_endian();
    int64_t asked = tz_creation_number(co, CO_ENDIANNESS);
    return asked == ENDIAN_BIG || (asked == ENDIAN_NATIVE && native_big) ||
           (asked == ENDIAN_INVERTED && !native_big);
}

/* Returns the interleave as GDAL has it: the source's, unless the output is compressed or a COG, or
 * INTERLEAVE is given. */
static tz_interleave interleave_of(const tz_creation_job *job)
{
    const tz_creation_values *co = job->co;
    const tz_info *source = job->source ? tz_file_get_info(job->source) : NULL;
    if (co->given[CO_INTERLEAVE] || job->cog)
        return (tz_interleave)tz_creation_number(co, CO_INTERLEAVE);
    if (tz_creation_compression(co, CO_COMPRESS) != TZ_COMPRESSION_NONE || !source ||
        source->planar != TZ_PLANAR_SEPARATE)
        return TZ_INTERLEAVE_PIXEL;
    return source->ghost->interleave == TZ_INTERLEAVE_TILE ? TZ_INTERLEAVE_TILE
                                                           : TZ_INTERLEAVE_BAND;
}

static void set_blocks(tz_write_options *o, const tz_creation_job *job)
{
    const tz_creation_values *co = job->co;
    o->cog = job->cog;
    o->strips = co->value[CO_TILED] == 0;
    o->tile_width = o->tile_height = 0;
    if (!o->strips)
        o->tile_width = (uint32_t)tz_creation_number(co, o->cog ? CO_BLOCKSIZE : CO_BLOCKXSIZE);
    if (o->cog)
        o->tile_height = o->tile_width;
    else if (!o->strips || co->given[CO_BLOCKYSIZE])
        o->tile_height = (uint32_t)tz_creation_number(co, CO_BLOCKYSIZE);
}

static void set_layout(tz_write_options *o, const tz_creation_job *job)
{
    const tz_creation_values *co = job->co;
    set_blocks(o, job);
    o->alignment = co->given[CO_ALIGN] ? (uint32_t)tz_creation_number(co, CO_ALIGN) : 0;
    o->big_endian = wants_big_endian(co);
    o->interleave = interleave_of(job);
    o->bigtiff = (tz_bigtiff)tz_creation_number(co, CO_BIGTIFF);
    o->sparse = co->value[CO_SPARSE_OK] != 0;
}

/* Returns the effort of the codec: one number, whichever option sets it. Without one the library
 * chooses, since Deflate's default depends on who encodes. */
static int32_t effort_of(const tz_creation_values *co)
{
    switch (tz_creation_number(co, CO_COMPRESS)) {
    case TZ_COMPRESSION_DEFLATE:
        if (!co->given[CO_ZLEVEL] && !co->given[CO_LEVEL])
            return 0;
        /* fall through */
    case CREATION_LERC_DEFLATE:
        return tz_creation_number(co, CO_ZLEVEL) == CREATION_FAST
                   ? TZ_EFFORT_FAST
                   : (int32_t)tz_creation_number(co, CO_ZLEVEL);
    case TZ_COMPRESSION_ZSTD:
    case CREATION_LERC_ZSTD:
        return (int32_t)tz_creation_number(co, CO_ZSTD_LEVEL);
    case TZ_COMPRESSION_LZMA:
        return tz_creation_number(co, CO_LZMA_PRESET) == 0
                   ? TZ_EFFORT_FAST
                   : (int32_t)tz_creation_number(co, CO_LZMA_PRESET);
    case TZ_COMPRESSION_LZ4:
        return (int32_t)tz_creation_number(co, CO_LZ4_LEVEL);
    case TZ_COMPRESSION_JXL:
        return (int32_t)tz_creation_number(co, CO_JXL_EFFORT);
    default:
        return 0;
    }
}

static void set_lossy(tz_codec_options *o, const tz_creation_values *co)
{
    static const tz_jpeg_tables tables[] = {TZ_JPEG_TABLES_NONE, TZ_JPEG_TABLES_QUANT,
                                            TZ_JPEG_TABLES_HUFFMAN, TZ_JPEG_TABLES_BOTH};
    double alpha = co->value[CO_JXL_ALPHA_DISTANCE];
    if (o->compression == TZ_COMPRESSION_JPEG) {
        o->quality = (uint32_t)tz_creation_number(co, CO_JPEG_QUALITY);
        o->jpeg_tables = tables[tz_creation_number(co, CO_JPEGTABLESMODE)];
    } else if (o->compression == TZ_COMPRESSION_WEBP) {
        o->lossless = co->value[CO_WEBP_LOSSLESS] != 0 ? TZ_CHOICE_YES : TZ_CHOICE_NO;
        if (o->lossless == TZ_CHOICE_NO)
            o->quality = (uint32_t)tz_creation_number(co, CO_WEBP_LEVEL);
    } else if (o->compression == TZ_COMPRESSION_JPEG2000) {
        o->lossless = co->value[CO_JPEG2000_LOSSLESS] != 0 ? TZ_CHOICE_YES : TZ_CHOICE_NO;
        if (o->lossless == TZ_CHOICE_NO)
            o->quality = (uint32_t)tz_creation_number(co, CO_JPEG2000_QUALITY);
    } else if (o->compression == TZ_COMPRESSION_JXL) {
        o->lossless = co->value[CO_JXL_LOSSLESS] != 0 ? TZ_CHOICE_YES : TZ_CHOICE_NO;
        o->distance = co->given[CO_JXL_DISTANCE] ? co->value[CO_JXL_DISTANCE] : 0;
        o->alpha_distance = alpha < 0 ? 0 : alpha == 0 ? -1 : alpha;
    }
}

/* Returns the codec inside LERC: none, Deflate or ZSTD. */
static uint16_t within_lerc(const tz_creation_values *co, tz_creation_id id)
{
    int64_t named = tz_creation_number(co, id);
    return named == CREATION_LERC_DEFLATE ? 1 : named == CREATION_LERC_ZSTD ? 2 : 0;
}

static tz_result set_codec(tz_write_options *o, const tz_creation_job *job)
{
    const tz_creation_values *co = job->co;
    tz_codec_options *codec = &o->codec;
    *codec =
        (tz_codec_options){.compression = (tz_compression)tz_creation_compression(co, CO_COMPRESS)};
    codec->predictor = (uint16_t)tz_creation_number(co, CO_PREDICTOR);
    codec->effort = effort_of(co);
    codec->max_error = co->value[CO_MAX_Z_ERROR];
    codec->lerc_compression = within_lerc(co, CO_COMPRESS);
    set_lossy(codec, co);
    o->discard_bits = NULL;
    o->discard_count = 0;
    if (co->discard_count == 0)
        return TZ_OK;
    void *copy;
    TZ_TRY(tz_copy_array(job->arena, co->discard, co->discard_count, 1, job->ctx, &copy));
    o->discard_bits = copy;
    o->discard_count = co->discard_count;
    return TZ_OK;
}

/* ---- overviews ---- */

static int32_t overview_count(const tz_creation_values *co)
{
    int32_t count = (int32_t)tz_creation_number(co, CO_OVERVIEW_COUNT);
    bool none = co->value[CO_OVERVIEWS] == OVERVIEWS_NONE;
    return none || (co->given[CO_OVERVIEW_COUNT] && count == 0) ? -1 : count;
}

/* Returns the predictor of overviews. YES is the image's if that was left to the type, too. */
static uint16_t overview_predictor(const tz_creation_job *job)
{
    const tz_creation_values *co = job->co;
    int64_t asked = tz_creation_number(co, CO_OVERVIEW_PREDICTOR);
    if (!co->given[CO_OVERVIEW_PREDICTOR] || asked != 0 || co->value[CO_PREDICTOR] == 0)
        return (uint16_t)asked;
    return job->spec->dtype >= TZ_DTYPE_FLOAT16 && job->spec->dtype <= TZ_DTYPE_FLOAT64 ? 3 : 2;
}

/* As for QUALITY, 100 is lossless if the codec can be. */
static void set_overview_quality(tz_write_options *o, const tz_creation_values *co)
{
    tz_codec_options *own = &o->overview_codec;
    tz_compression codec = own->compression != 0 ? own->compression : o->codec.compression;
    bool either = codec == TZ_COMPRESSION_WEBP || codec == TZ_COMPRESSION_JPEG2000;
    uint32_t quality = (uint32_t)tz_creation_number(co, CO_OVERVIEW_QUALITY);
    if (quality == 0)
        return;
    if (either)
        own->lossless = quality == 100 ? TZ_CHOICE_YES : TZ_CHOICE_NO;
    if (!either || quality < 100)
        own->quality = quality;
}

static void set_overviews(tz_write_options *o, const tz_creation_job *job)
{
    const tz_creation_values *co = job->co;
    tz_codec_options *own = &o->overview_codec;
    *own = (tz_codec_options){
        .compression = (tz_compression)tz_creation_compression(co, CO_OVERVIEW_COMPRESS)};
    double error = co->value[CO_MAX_Z_ERROR_OVERVIEW];
    tz_creation_id resampling =
        co->given[CO_OVERVIEW_RESAMPLING] ? CO_OVERVIEW_RESAMPLING : CO_RESAMPLING;
    o->overview_count = overview_count(co);
    o->overview_resampling = (tz_resampling)tz_creation_number(co, resampling);
    own->predictor = overview_predictor(job);
    set_overview_quality(o, co);
    own->max_error = co->given[CO_MAX_Z_ERROR_OVERVIEW] && error == 0 ? -1 : error;
    own->lerc_compression = within_lerc(co, CO_OVERVIEW_COMPRESS);
}

/* ---- all options ---- */

tz_result tz_creation_apply_layout(const tz_creation_job *job)
{
    const tz_creation_values *co = job->co;
    tz_write_options *o = job->options;
    set_layout(o, job);
    TZ_TRY(set_codec(o, job));
    set_overviews(o, job);
    if (co->given[CO_NUM_THREADS])
        o->threads = (uint32_t)tz_creation_number(co, CO_NUM_THREADS);
    return TZ_OK;
}
