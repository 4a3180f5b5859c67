/* SPDX-License-Identifier: Apache-2.0
 * The pixels of a block, in memory as a whole.
 *
 * A block of level 0 is read from the image. For a block of an overview, the window that it needs
 * in the level above is found, divided into parts, and each part is computed in the same way from
 * the level above that, down to the image: a recursion as deep as the level. Results are those of
 * cog, which computes levels one from the other, too. */
#include "block_pixels.h"

#include <stdlib.h>

#include "band_list.h"
#include "convert_rows.h"
#include "problem.h"
#include "sidecars.h"

/* Memory --------------------------------------------------------------------------------------- */

static tz_result make_buffer(tz_buffer *out, tz_dtype dtype, uint32_t bands,
                             const tz_window *window, tz_error *err)
{
    uint64_t row = (uint64_t)tz_dtype_size(dtype) * window->width;
    uint64_t max = SIZE_MAX / 2 / bands;
    if (window->height > 0 && row <= max / window->height)
        out->data = malloc((size_t)(row * window->height * bands));
    if (out->data == NULL)
        return problem_nomem(err, "the pixels of the block");
    *out = (tz_buffer){.struct_size = sizeof *out,
                       .data = out->data,
                       .dtype = dtype,
                       .bands = bands,
                       .height = window->height,
                       .width = window->width,
                       .column_stride = (int64_t)tz_dtype_size(dtype),
                       .row_stride = (int64_t)row,
                       .band_stride = (int64_t)(row * window->height)};
    return TZ_OK;
}

tz_result block_pixels_make(block_pixels *out, const tz_cog_plan_info *info,
                            const tz_window *window, tz_error *err)
{
    *out = (block_pixels){0};
    tz_result result = make_buffer(&out->pixels, info->dtype, info->bands, window, err);
    if (result == TZ_OK && info->mask)
        result = make_buffer(&out->mask, TZ_DTYPE_UINT8, 1, window, err);
    if (result != TZ_OK)
        block_pixels_free(out);
    return result;
}

void block_pixels_free(block_pixels *b)
{
    free(b->pixels.data);
    free(b->mask.data);
    *b = (block_pixels){0};
}

static tz_buffer sub_buffer(const tz_buffer *buffer, const tz_window *whole, const tz_window *part)
{
    tz_buffer cut = *buffer;
    if (buffer->data == NULL)
        return cut;
    cut.data = (uint8_t *)buffer->data + (part->row - whole->row) * buffer->row_stride +
               (part->column - whole->column) * buffer->column_stride;
    cut.width = part->width;
    cut.height = part->height;
    return cut;
}

/* Levels --------------------------------------------------------------------------------------- */

typedef struct descent {
    const tz_cog_plan *plan;
    tz_row_source image;
    uint32_t side; /* pixels, of a part that is computed at a time */
} descent;

static tz_result read_window(const descent *d, uint32_t level, const tz_window *window,
                             const block_pixels *into, tz_error *err);

/* Computes a part of an overview: reads its source into memory, and resamples it. */
static tz_result reduce_part(const descent *d, uint32_t level, const tz_window *window,
                             const block_pixels *into, tz_error *err)
{
    block_pixels from;
    tz_window source;
    tz_result result = tz_cog_plan_get_source(&source, d->plan, level, window, err);
    if (result != TZ_OK)
        return result;
    result = block_pixels_make(&from, tz_cog_plan_get_info(d->plan), &source, err);
    if (result != TZ_OK)
        return result;
    result = read_window(d, level - 1, &source, &from, err);
    if (result == TZ_OK)
        result = tz_overview_window(d->plan, level, window, &from.pixels,
                                    from.mask.data != NULL ? &from.mask : NULL, &into->pixels,
                                    into->mask.data != NULL ? &into->mask : NULL, NULL, err);
    block_pixels_free(&from);
    return result;
}

static uint32_t min_side(uint64_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

/* Reads or computes a window part by part, so that no level is ever in memory as a whole. */
static tz_result read_window(const descent *d, uint32_t level, const tz_window *window,
                             const block_pixels *into, tz_error *err)
{
    if (level == 0)
        return d->image.read(d->image.user, window, &into->pixels, &into->mask, err);
    for (uint64_t row = 0; row < window->height; row += d->side)
        for (uint64_t column = 0; column < window->width; column += d->side) {
            const tz_window part = {.column = window->column + (int64_t)column,
                                    .row = window->row + (int64_t)row,
                                    .width = min_side(window->width - column, d->side),
                                    .height = min_side(window->height - row, d->side)};
            const block_pixels cut = {sub_buffer(&into->pixels, window, &part),
                                      sub_buffer(&into->mask, window, &part)};
            tz_result result = reduce_part(d, level, &part, &cut, err);
            if (result != TZ_OK)
                return result;
        }
    return TZ_OK;
}

/* Returns the side of a part for which memory suffices. Each level between holds one source, which
 * is about twice as high and as wide as its part. */
static uint32_t side_for(const tz_cog_plan_info *info, uint32_t level, uint64_t memory)
{
    enum { MIN_SIDE = 64, MAX_SIDE = 4096 }; /* pixels */
    uint64_t pixel = info->bands * tz_dtype_size(info->dtype) + (info->mask ? 1 : 0);
    uint64_t pixels = memory / (level > 0 ? level : 1) / pixel;
    uint32_t side = MIN_SIDE;
    while (side < MAX_SIDE && (uint64_t)side * side * 16 <= pixels)
        side *= 2;
    return side;
}

/* The image ------------------------------------------------------------------------------------ */

static tz_result wrong_image(const char *path, const char *what, tz_error *err)
{
    return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                        "'%.300s' is not the image of the plan: it has another %s", path, what);
}

/* Returns the last band if it is alpha; UINT32_MAX: it is not. */
static uint32_t last_alpha(const tz_info *info)
{
    const uint32_t count = info->extra_sample_count;
    const bool is_alpha = count > 0 && info->bands > 1 &&
                          info->extra_samples[count - 1] != TZ_EXTRA_SAMPLE_UNSPECIFIED;
    return is_alpha ? info->bands - 1 : UINT32_MAX;
}

/* Describes the image as when the plan was made: bytes may be read as signed, floats as half
 * floats, and an alpha band or nodata as the mask. */
static tz_result describe_image(conversion *c, const tz_cog_plan *whole, const char *path,
                                tz_error *err)
{
    const tz_cog_plan_info *plan = tz_cog_plan_get_info(whole);
    const tz_cog_level *image = tz_cog_plan_get_level(whole, 0);
    const tz_info *info = c->info;
    bool same_bytes = tz_dtype_size(plan->dtype) == 1 && tz_dtype_size(info->dtype) == 1;
    bool has_mask = tz_file_get_level(c->file, 0)->has_mask;
    bool halved = plan->dtype == TZ_DTYPE_FLOAT16 && info->dtype == TZ_DTYPE_FLOAT32;
    bool by_alpha = plan->mask && !has_mask && info->bands == plan->bands + 1;
    if (info->width != image->width || info->height != image->height)
        return wrong_image(path, "size", err);
    if (info->bands != plan->bands && !by_alpha)
        return wrong_image(path, "number of bands", err);
    if (info->dtype != plan->dtype && !same_bytes && !halved)
        return wrong_image(path, "type of pixels", err);
    if (plan->mask && !has_mask && plan->nodata.kind == TZ_NODATA_KIND_NONE &&
        nodata_mask_make(&c->by_nodata, &info->nodata, plan->dtype))
        c->by_nodata.alpha = last_alpha(info);
    if (plan->mask && !by_alpha && !c->by_nodata.used && !has_mask)
        return wrong_image(path, "mask: none", err);
    c->spec.width = info->width;
    c->spec.height = info->height;
    c->spec.bands = plan->bands;
    c->spec.dtype = plan->dtype;
    c->spec.mask = plan->mask;
    c->from.window = (tz_window){.width = info->width, .height = info->height};
    c->from.dtype = halved ? plan->dtype : info->dtype;
    c->from.all_bands = !by_alpha;
    c->mask_of = by_alpha ? MASK_OF_BAND : has_mask ? MASK_OF_FILE : MASK_OF_NOTHING;
    c->mask_band = plan->bands;
    const tz_result result =
        band_list_read(NULL, c->file, &c->from.bands, &c->from.band_count, err);
    c->from.band_count = plan->bands;
    return result;
}

tz_result block_read_image(const block_pixels *into, const tz_cog_plan *plan, uint32_t level,
                           const tz_window *window, const char *path, const tz_open_options *open,
                           uint64_t memory, uint32_t threads, tz_error *err)
{
    const tz_cog_plan_info *info = tz_cog_plan_get_info(plan);
    conversion c = {.spec = TZ_IMAGE_SPEC_INIT, .options = TZ_WRITE_OPTIONS_INIT};
    convert_rows rows = {0};
    tz_result result = tz_open(&c.file, path, open, err);
    if (result != TZ_OK)
        return result;
    c.info = tz_file_get_info(c.file);
    sidecars_note(path, c.file, open->sidecars);
    c.options.threads = threads;
    result = describe_image(&c, plan, path, err);
    if (result == TZ_OK) {
        convert_rows_start(&rows, &c, memory / 4);
        const descent d = {.plan = plan,
                           .image = convert_rows_source(&rows),
                           .side = side_for(info, level, memory - memory / 4)};
        result = read_window(&d, level, window, into, err);
    }
    tz_read_report_free(rows.report);
    conversion_close(&c);
    return result;
}
