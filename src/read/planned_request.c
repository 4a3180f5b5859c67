/* SPDX-License-Identifier: Apache-2.0
 * From a read request to a planned one: the tiles under its window, the formats of a tile (as it
 * is, as its codec sees it, and of one row), the conversion of samples, and the shortcuts that the
 * layout of the buffer allows. An item has a planned request for its pixels and, if another IFD or
 * an alpha band fills its mask buffer, a second one for the mask.
 *
 * The decision that is not obvious: requests of one layer share the codec, the formats and the
 * height of row ranges of the first one ("shared"). Only then can the wave find that they want the
 * same bytes. */
#include "read/read_request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/source.h"
#include "pixel/row_ops.h"
#include "tiff/file.h"
#include "tiff/tags.h"

/* Uncompressed tiles are read in row ranges of about this size: it stays in the second cache until
 * its pixels are stored, and gives several threads something to do in one large strip. */
#define RAW_RANGE_BYTES ((size_t)1 << 18)

/* A window this much narrower than the rows of a strip is read row by row. */
enum { NARROW_ROW = 16384, NARROW_FACTOR = 4 };

/* Bytes of all tables that JPEG knows, 8 to 64 KiB each by the length of their segments. */
#define MAX_JPEG_TABLES ((uint64_t)1 << 20)

/* Buffers from this size on are written past the cache. */
#define MIN_STREAM_BYTES ((uint64_t)1 << 23)

/* ---- tiles ---- */

uint64_t tz_planned_request_status_count(const tz_planned_request *planned)
{
    return (uint64_t)planned->status_across * planned->status_down * planned->plane_count;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Lists the planes that hold the wanted samples. */
static tz_result set_planes(tz_planned_request *planned, tz_arena *arena, const tz_context *ctx)
{
    const uint32_t wanted = planned->to_mask ? 1 : planned->band_count;
    planned->plane_count = 1;
    if (planned->layer.tables.planar != TZ_PLANAR_SEPARATE)
        return TZ_OK;
    uint32_t *planes = tz_arena_array(arena, wanted, sizeof *planes);
    if (!planes)
        return tz_fail_nomem(ctx, (uint64_t)wanted * sizeof *planes);
    for (uint32_t i = 0; i < wanted; i++)
        planes[i] = planned->to_mask ? planned->mask_sample
                    : planned->bands ? planned->bands[i]
                                     : i;
    qsort(planes, wanted, sizeof *planes, compare_numbers);
    uint32_t count = 1;
    for (uint32_t i = 1; i < wanted; i++) {
        if (planes[i] != planes[count - 1])
            planes[count++] = planes[i];
    }
    planned->planes = planes;
    planned->plane_count = count;
    return TZ_OK;
}

/* Sets the grids of tiles that follow from the window: the tiles under it, their row ranges, and
 * the tiles of the whole item, of which this may be a block; the outcome's list has the latter. A
 * window that is all outside the level leaves the grids empty. */
static void set_grids(tz_planned_request *planned, const tz_read_request *request,
                      const tz_planned_request *shared)
{
    const tz_level *level = &planned->layer.shape;
    const uint32_t rows = planned->tile.height;
    const size_t row_bytes = tz_row_bytes(&planned->row);
    tz_window inside;
    planned->column_shift = request->window.column;
    planned->row_shift = request->window.row;
    if (tz_window_clip(&request->window, level, &inside)) {
        planned->x0 = (uint32_t)inside.column;
        planned->y0 = (uint32_t)inside.row;
        planned->x1 = planned->x0 + inside.width;
        planned->y1 = planned->y0 + inside.height;
        planned->tile_x0 = planned->x0 / level->tile_width;
        planned->tile_y0 = planned->y0 / level->tile_height;
        planned->tile_x1 = (planned->x1 - 1) / level->tile_width + 1;
        planned->tile_y1 = (planned->y1 - 1) / level->tile_height + 1;
    }
    /* requests that share tiles must have the same row ranges */
    planned->row_range_height = shared ? shared->row_range_height : rows;
    if (!shared && tz_planned_request_is_raw(planned) && row_bytes > 0) {
        const uint64_t wanted = (uint64_t)(planned->x1 - planned->x0) * NARROW_FACTOR;
        const bool narrow = row_bytes >= NARROW_ROW && wanted < planned->tile.width;
        const size_t fit = row_bytes < RAW_RANGE_BYTES ? RAW_RANGE_BYTES / row_bytes : 1;
        planned->row_range_height = narrow ? 1 : (uint32_t)tz_min_size(fit, rows);
    }
    planned->row_ranges = (rows - 1) / planned->row_range_height + 1;
    planned->tile_read_count = (uint64_t)(planned->tile_x1 - planned->tile_x0) *
                               (planned->tile_y1 - planned->tile_y0) * planned->plane_count *
                               planned->row_ranges;
    planned->outcome = request->outcome;
    if (tz_window_clip(&request->item_window, level, &inside)) {
        const int64_t x1 = (inside.column + inside.width - 1) / level->tile_width + 1;
        const int64_t y1 = (inside.row + inside.height - 1) / level->tile_height + 1;
        planned->status_x0 = (uint32_t)(inside.column / level->tile_width);
        planned->status_y0 = (uint32_t)(inside.row / level->tile_height);
        planned->status_across = (uint32_t)(x1 - planned->status_x0);
        planned->status_down = (uint32_t)(y1 - planned->status_y0);
    }
}

/* ---- formats ---- */

/* Loads the tables that all tiles of a JPEG share, or the headers that old JPEG leaves out. */
static tz_result load_tables(tz_planned_request *planned, tz_arena *arena, const tz_context *ctx)
{
    const tz_tag_ref *value = &planned->layer.tables.jpeg_tables;
    const tz_container *container = &planned->file->containers[planned->layer.tables.container];
    const uint8_t *tables = NULL;
    size_t size = 0;
    if (planned->layer.shape.compression == TZ_COMPRESSION_OLD_JPEG) {
        TZ_TRY(tz_old_jpeg_headers(planned->file, tz_level_index(planned->level), &planned->layer,
                                   TZ_CODEC_SLACK, arena, ctx, &tables, &size));
    } else if (value->count > MAX_JPEG_TABLES) {
        return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                       tz_expecting(tz_at_tag(TZ_TAG_JPEG_TABLES, value->offset), MAX_JPEG_TABLES,
                                    value->count),
                       "more bytes than JPEG tables can have");
    } else if (value->count > 0) {
        size = (size_t)value->count;
        uint8_t *bytes = tz_arena_alloc(arena, size + TZ_CODEC_SLACK);
        if (!bytes)
            return tz_fail_nomem(ctx, value->count);
        TZ_TRY(tz_source_read(container->source, value->offset, size, bytes, ctx));
        tables = bytes;
    }
    planned->tile.tables = planned->stored.tables = tables;
    planned->tile.tables_size = planned->stored.tables_size = size;
    return TZ_OK;
}

/* The tile is stored as clumps of luminance with one pair of colours each: to the codec, rows of
 * bytes. Returns NULL, or the property that is not supported. */
static const char *set_subsampled(tz_planned_request *planned)
{
    const uint16_t *step = planned->tile.subsampling;
    if (planned->row.bits != 8 || planned->row.samples != 3 ||
        planned->row.predictor != TZ_PREDICTOR_NONE)
        return "subsampled YCbCr other than three samples of 8 bits without predictor";
    const uint64_t clumps = tz_ceil_div(planned->tile.width, step[0]);
    const uint64_t width = clumps * (step[0] * step[1] + 2u);
    if (width > UINT32_MAX)
        return "subsampled YCbCr of this width";
    planned->subsampled = true;
    planned->stored.width = (uint32_t)width;
    planned->stored.samples = 1;
    planned->stored.height = (uint32_t)tz_ceil_div(planned->tile.height, step[1]);
    return NULL;
}

/* Three formats: tile has the pixels, stored is given to the codec (the size before a
 * reduction, clumps of subsampled YCbCr as bytes), row is one decoded row. */
static tz_result set_tile_format(tz_planned_request *planned, const tz_context *ctx)
{
    const tz_level *level = &planned->layer.shape;
    const tz_level_tables *tables = &planned->layer.tables;
    const tz_container *container = &planned->file->containers[tables->container];
    const tz_info *info = &planned->file->info;
    const bool by_band = tables->planar == TZ_PLANAR_SEPARATE;
    const uint16_t samples = by_band ? 1 : level->samples;
    const bool ends_with_alpha =
        info->extra_sample_count > 0 &&
        info->extra_samples[info->extra_sample_count - 1] == TZ_EXTRA_SAMPLE_ALPHA;
    const bool is_subsampled = level->photometric == TZ_PHOTOMETRIC_YCBCR && !by_band &&
                               !(planned->codec->flags & TZ_DECODER_TO_RGB) &&
                               (tables->subsampling[0] > 1 || tables->subsampling[1] > 1);
    planned->tile =
        (tz_tile_format){.width = level->tile_width,
                         .height = level->tile_height,
                         .samples = samples,
                         .bits = level->bits_per_sample,
                         .sample_format = tables->sample_format,
                         .compression = level->compression,
                         .photometric = level->photometric,
                         .subsampling = {tables->subsampling[0], tables->subsampling[1]},
                         .fill_order = tables->fill_order,
                         .lerc_compression = level->lerc_compression,
                         .fax_options = tables->fax_options,
                         .big_endian = container->big_endian,
                         .alpha = !by_band && !planned->layer.is_mask && ends_with_alpha};
    planned->stored = planned->tile;
    planned->row = (tz_row_format){.dtype = tables->dtype,
                                   .bits = level->bits_per_sample,
                                   .sample_format = tables->sample_format,
                                   .samples = samples,
                                   .predictor = level->predictor,
                                   .width = level->tile_width};
    if (planned->decode_reduction > 0) { /* the codec sees the tile that the file has */
        const tz_level *whole = tz_planned_request_stored_level(planned);
        planned->stored.width = whole->tile_width;
        planned->stored.height = whole->tile_height;
        planned->stored.decode_reduction = planned->decode_reduction;
    }
    planned->row.swap = container->big_endian == tz_host_is_little_endian();
    if (planned->codec->flags & TZ_DECODER_NATIVE_ENDIAN)
        planned->row.swap = false;
    if (planned->codec->flags & TZ_DECODER_NO_PREDICTOR && level->predictor != TZ_PREDICTOR_NONE) {
        planned->row.predictor = TZ_PREDICTOR_NONE;
        TZ_TRY(tz_warn(
            ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG,
            tz_expecting(tz_at_tag(TZ_TAG_PREDICTOR, level->ifd_offset), 1, level->predictor),
            "a predictor that does not go with the compression is ignored"));
    }
    const char *unsupported = is_subsampled ? set_subsampled(planned) : NULL;
    if (!unsupported)
        unsupported = tz_row_unsupported(&planned->row);
    if (unsupported)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                       tz_at_tag(TZ_TAG_PREDICTOR, level->ifd_offset), "cannot read %s",
                       unsupported);
    return TZ_OK;
}

/* Fails if opening the file found that the level cannot be read. Opening kept that as a warning, as
 * other levels may be fine; here it becomes the error. */
static tz_result check_readable(const tz_planned_request *planned, const tz_context *ctx)
{
    const tz_level *level = &planned->layer.shape;
    if (level->readable)
        return TZ_OK;
    /* Return the warning among the file's that says why. */
    const tz_info *info = &planned->file->info;
    for (uint32_t i = 0; i < info->warning_count; i++) {
        const tz_error *warning = &planned->file->warnings.list[i];
        const bool about_pixels =
            warning->cause == TZ_CAUSE_UNSUPPORTED || warning->cause == TZ_CAUSE_LAYOUT ||
            warning->cause == TZ_CAUSE_LIMIT || warning->cause == TZ_CAUSE_TRUNCATED ||
            warning->cause == TZ_CAUSE_TAG;
        if (about_pixels && warning->ifd == level->ifd) {
            if (ctx->err)
                *ctx->err = *warning;
            return warning->result;
        }
    }
    return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_LAYOUT, tz_at_offset(level->ifd_offset),
                   "this level cannot be read; the file's warnings say why");
}

/* ---- conversions ---- */

/* Every NaN becomes the one of nodata_to_nan, which devices know. */
static tz_nodata replacement_of(const tz_read_options *how, tz_dtype to)
{
    const tz_nodata nan = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = (double)NAN}};
    if (how->nodata_to_nan)
        return tz_dtype_is_float(to) ? nan : (tz_nodata){.kind = TZ_NODATA_KIND_NONE};
    return tz_nodata_is_nan(&how->nodata_as) ? nan : how->nodata_as;
}

tz_result tz_read_request_conversion(const tz_read_request *request, const tz_read_options *how,
                                     tz_conversion *out, double **scales, tz_arena *arena,
                                     const tz_context *ctx)
{
    const tz_nodata *nodata = &request->file->info.nodata;
    bool any_scaled = request->scales || request->offsets;
    *scales = NULL;
    *out = (tz_conversion){.from = request->layer.tables.dtype, .to = request->into.dtype};
    if (request->layer.is_mask)
        return TZ_OK;
    out->nodata = *nodata;
    if (nodata->kind != TZ_NODATA_KIND_NONE)
        out->replacement = replacement_of(how, request->into.dtype);
    if (!how->scaled && !request->scales && !request->offsets)
        return TZ_OK;
    double *found = tz_arena_array(arena, request->band_count, 2 * sizeof *found);
    if (!found)
        return tz_fail_nomem(ctx, (uint64_t)request->band_count * 2 * sizeof *found);
    for (uint32_t i = 0; i < request->band_count; i++) {
        const tz_band *band =
            tz_file_get_band(request->file, request->bands ? request->bands[i] : i);
        found[2 * (size_t)i] = request->scales ? request->scales[i] : how->scaled ? band->scale : 1;
        found[2 * (size_t)i + 1] = request->offsets ? request->offsets[i]
                                   : how->scaled    ? band->offset
                                                    : 0;
        any_scaled = any_scaled || band->has_scale || band->has_offset;
    }
    *scales = any_scaled ? found : NULL;
    return TZ_OK;
}

tz_conversion tz_conversion_of_band(const tz_conversion *how, const double *scales, uint32_t band)
{
    tz_conversion out = *how;
    if (scales) {
        out.scaled = true;
        out.scale = scales[2 * (size_t)band];
        out.offset = scales[2 * (size_t)band + 1];
    }
    return out;
}

/* Nodata outside the range of the samples' type matches no sample, so the conversion would not
 * replace it: the replacement is stored here. */
void tz_outside_sample(const tz_conversion *how, const tz_read_options *options, uint8_t *sample)
{
    const tz_nodata fill = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = options->fill}};
    uint8_t stored[16] = {0};
    memset(sample, 0, 16);
    if (options->has_fill) {
        tz_row_fill(how->to, &fill, sample, 0, 1);
    } else if (how->replacement.kind != TZ_NODATA_KIND_NONE) {
        tz_row_fill(how->to, &how->replacement, sample, 0, 1);
    } else if (how->nodata.kind != TZ_NODATA_KIND_NONE) {
        tz_row_fill(how->from, &how->nodata, stored, 0, 1);
        tz_row_convert(how, stored, 0, sample, 0, 1, NULL, 0);
    }
}

/* True if a row of the tile is a row of the buffer, sample for sample: the same type, and every
 * band in order. */
static bool has_same_rows(const tz_planned_request *planned)
{
    const tz_conversion *how = &planned->conversion;
    const int64_t size = (int64_t)tz_dtype_size(how->to);
    if (planned->to_mask || tz_pixel_buffer_exists(&planned->mask) || how->from != how->to ||
        how->replacement.kind != TZ_NODATA_KIND_NONE || planned->scales)
        return false;
    if (planned->row.samples == 1)
        return planned->into.column_stride == size && (planned->planes || planned->band_count == 1);
    for (uint32_t i = 0; planned->bands && i < planned->band_count; i++) {
        if (planned->bands[i] != i)
            return false;
    }
    return planned->band_count == planned->row.samples && planned->into.band_stride == size &&
           planned->into.column_stride == size * planned->row.samples;
}

/* ---- masks ---- */

/* The first extra sample that is alpha; UINT32_MAX: none. */
static uint32_t alpha_band(const tz_info *info)
{
    for (uint32_t i = 0; i < info->extra_sample_count && i < info->bands; i++) {
        if (info->extra_samples[i] == TZ_EXTRA_SAMPLE_PREMULTIPLIED ||
            info->extra_samples[i] == TZ_EXTRA_SAMPLE_ALPHA)
            return info->bands - info->extra_sample_count + i;
    }
    return UINT32_MAX;
}

/* A mask of the file comes first, then nodata, then alpha: GDAL's order. */
tz_request_kind tz_mask_source(const tz_read_request *request)
{
    const tz_info *info = &request->file->info;
    if (request->layer.is_mask)
        return TZ_REQUEST_PIXELS;
    if (request->file->levels[request->level].has_mask)
        return TZ_REQUEST_MASK;
    return info->nodata.kind == TZ_NODATA_KIND_NONE && alpha_band(info) < info->bands
               ? TZ_REQUEST_ALPHA
               : TZ_REQUEST_PIXELS;
}

/* ---- outcomes ---- */

/* The list has planes in ascending order, and the tiles of each row by row; see also
 * tz_tile_read_mark_failed, which finds a tile in it. */
void tz_planned_request_reset_outcome(const tz_planned_request *planned)
{
    tz_outcome *outcome = planned->outcome;
    const tz_level *level = &planned->layer.shape;
    const uint64_t count = tz_planned_request_status_count(planned);
    outcome->report.tile_count = planned->status_first + count;
    outcome->report.tiles_failed = 0;
    if (!planned->to_mask)
        outcome->pixel_tiles = count;
    for (uint64_t i = 0; outcome->tiles && i < count; i++) {
        const uint64_t plane =
            planned->planes ? planned->planes[i / planned->status_across / planned->status_down]
                            : 0;
        const uint64_t y = planned->status_y0 + i / planned->status_across % planned->status_down;
        const uint64_t x = planned->status_x0 + i % planned->status_across;
        outcome->tiles[planned->status_first + i] =
            (tz_tile_status){.tile = (plane * level->tiles_down + y) * level->tiles_across + x,
                             .level = tz_level_index(planned->level),
                             .mask = planned->layer.is_mask};
    }
}

/* The numbers of the tiles ascend. */
bool tz_outcome_has_failed(const tz_outcome *outcome, uint64_t tile)
{
    uint64_t low = 0;
    uint64_t high = outcome->pixel_tiles;
    while (high - low > 1) {
        const uint64_t middle = (low + high) / 2;
        if (outcome->tiles[middle].tile <= tile)
            low = middle;
        else
            high = middle;
    }
    return high > 0 && outcome->tiles[low].tile == tile && outcome->tiles[low].result != TZ_OK;
}

tz_result tz_outcome_alloc_tiles(tz_outcome *outcome, uint64_t count, tz_arena *arena,
                                 const tz_context *ctx)
{
    const uint64_t bytes = tz_mul_capped(count, sizeof *outcome->tiles);
    if (outcome->tiles || count == 0)
        return TZ_OK;
    outcome->tiles = bytes <= SIZE_MAX ? tz_arena_alloc(arena, (size_t)bytes) : NULL;
    return outcome->tiles ? TZ_OK : tz_fail_nomem(ctx, bytes);
}

/* A request that shares its layer with an earlier one takes over the codec and all formats; only
 * its window, its conversion and its buffers are its own. */
tz_result tz_planned_request_make(tz_planned_request *out, const tz_read_request *request,
                                  tz_request_kind kind, const tz_planned_request *shared,
                                  const tz_read_options *how, tz_arena *arena,
                                  const tz_context *ctx)
{
    tz_context at_level = *ctx;
    const uint32_t level = kind == TZ_REQUEST_MASK ? TZ_MASK_LEVEL(request->level) : request->level;
    *out = (tz_planned_request){.file = request->file,
                                .level = level,
                                .decode_reduction = request->decode_reduction,
                                .layer = request->layer,
                                .into = request->into,
                                .mask = request->mask,
                                .to_mask = kind != TZ_REQUEST_PIXELS,
                                .bands = request->bands,
                                .band_count = request->band_count};
    if (kind == TZ_REQUEST_MASK)
        TZ_TRY(tz_file_layer(request->file, request->level, true, ctx, &out->layer));
    if (kind == TZ_REQUEST_ALPHA)
        out->mask_sample = alpha_band(&request->file->info);
    at_level.ifd = out->layer.shape.ifd;
    if (shared) {
        out->codec = shared->codec;
        out->tile = shared->tile;
        out->stored = shared->stored;
        out->subsampled = shared->subsampled;
        out->row = shared->row;
    } else {
        TZ_TRY(check_readable(out, &at_level));
        TZ_TRY(tz_decoder_find(out->layer.shape.compression, &at_level, &out->codec));
        TZ_TRY(set_tile_format(out, &at_level));
        TZ_TRY(load_tables(out, arena, &at_level));
    }
    if (out->to_mask) {
        out->conversion = (tz_conversion){.from = out->row.dtype, .to = out->row.dtype};
        out->conversion.nodata.kind = TZ_NODATA_KIND_UINT; /* 0 */
    } else {
        if (tz_mask_source(request) != TZ_REQUEST_PIXELS)
            out->mask = (tz_pixel_buffer){0}; /* another request fills it */
        TZ_TRY(tz_read_request_conversion(request, how, &out->conversion, &out->scales, arena,
                                          &at_level));
    }
    TZ_TRY(set_planes(out, arena, &at_level));
    set_grids(out, request, shared);
    out->stream =
        tz_mul_capped((uint64_t)out->into.width * out->into.height,
                      out->band_count * tz_dtype_size(out->into.dtype)) >= MIN_STREAM_BYTES;
    out->same_rows = has_same_rows(out);
    out->straight = out->same_rows && tz_row_is_plain(&out->row);
    return TZ_OK;
}

const tz_level *tz_planned_request_stored_level(const tz_planned_request *planned)
{
    return planned->decode_reduction > 0 ? &planned->file->levels[planned->level]
                                         : &planned->layer.shape;
}

bool tz_planned_request_is_raw(const tz_planned_request *planned)
{
    return planned->layer.shape.compression == TZ_COMPRESSION_NONE && !planned->subsampled;
}
