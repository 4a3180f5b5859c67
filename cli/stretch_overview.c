/* SPDX-License-Identifier: Apache-2.0
 * Reads the overview that a stretch is measured from.
 *
 * A picture of few pixels is measured itself. For a larger one an overview of the same window is
 * read; without one, tz_image_measure looks at every n-th pixel of the picture. */
#include "stretch_overview.h"

#include <stdlib.h>

#include "problem.h"

#define MAX_PIXELS ((uint64_t)512 * 512)

/* Allocates pixels and mask of a size, one after the other. */
static tz_result allocate_pixels(stretch_overview *s, const request *r, uint32_t width,
                                 uint32_t height, tz_error *err)
{
    size_t samples = (size_t)width * height * r->band_count;
    size_t size = samples * tz_dtype_size(r->dtype);
    s->memory = malloc(size + samples);
    if (s->memory == NULL)
        return problem_nomem(err, "the pixels to measure");
    s->pixels = (tz_buffer){.struct_size = sizeof s->pixels,
                            .data = s->memory,
                            .dtype = r->dtype,
                            .bands = r->band_count,
                            .height = height,
                            .width = width};
    s->mask = s->pixels;
    s->mask.data = (char *)s->memory + size;
    s->mask.dtype = TZ_DTYPE_UINT8;
    return TZ_OK;
}

static double scale_of(const request *r, uint32_t level)
{
    const tz_level *overview = tz_file_get_level(r->file, level);
    double across = (double)overview->width / r->info->width;
    double down = (double)overview->height / r->info->height;
    return across < down ? across : down;
}

static uint32_t scale_side(uint32_t side, double scale)
{
    double size = side * scale;
    return size < 1 ? 1 : (uint32_t)size;
}

/* Chooses the size that the window has in the largest overview where it is small enough. If it is
 * too large in all of them, chooses the largest size that is allowed. */
static void choose_overview_size(const request *r, uint32_t *width, uint32_t *height)
{
    const tz_window *w = &r->window;
    *width = w->width;
    *height = w->height;
    for (uint32_t i = 1; i < r->info->level_count; i++) {
        *width = scale_side(w->width, scale_of(r, i));
        *height = scale_side(w->height, scale_of(r, i));
        if ((uint64_t)*width * *height <= MAX_PIXELS)
            return;
    }
    while ((uint64_t)*width * *height > MAX_PIXELS) {
        *width = (*width + 1) / 2;
        *height = (*height + 1) / 2;
    }
}

/* An overview that cannot be read is not an error: the picture itself was read. */
static tz_result read_overview(stretch_overview *s, const request *r, uint64_t memory,
                               tz_error *err)
{
    tz_read_report *report = NULL;
    tz_read_options how = r->how;
    uint32_t width;
    uint32_t height;
    choose_overview_size(r, &width, &height);
    tz_result result = allocate_pixels(s, r, width, height, err);
    if (result != TZ_OK)
        return result;
    how.device = NULL;
    how.reduced_tiles = false;
    how.resampling = TZ_RESAMPLING_NEAREST;
    how.max_host_bytes = memory;
    const tz_item item = {.struct_size = sizeof item,
                          .file = r->file,
                          .level = TZ_LEVEL_AUTO,
                          .window = r->window,
                          .bands = r->bands,
                          .band_count = r->band_count,
                          .into = &s->pixels,
                          .into_mask = &s->mask};
    result = tz_plan_read(&report, &item, 1, &how, err);
    const uint32_t level = result == TZ_OK ? tz_read_report_get_item(report, 0)->level : 0;
    tz_read_report_free(report);
    if (level > 0)
        result = tz_read(&item, &how, NULL, err);
    if (result == TZ_OK)
        s->level = level;
    return result == TZ_ERR_NOMEM ? result : TZ_OK;
}

tz_result stretch_overview_read(stretch_overview *out, const request *r, const tz_buffer *pixels,
                                tz_error *err)
{
    uint64_t count = (uint64_t)pixels->width * pixels->height;
    uint64_t taken = count * r->band_count * (tz_dtype_size(r->dtype) + 1);
    *out = (stretch_overview){0};
    if (count <= MAX_PIXELS || r->info->level_count == 1 || r->settings->has_level ||
        taken >= r->settings->memory)
        return TZ_OK;
    tz_result result = read_overview(out, r, r->settings->memory - taken, err);
    if (result != TZ_OK || out->level == 0)
        stretch_overview_free(out);
    return result;
}

void stretch_overview_free(stretch_overview *s)
{
    free(s->memory);
    *s = (stretch_overview){0};
}
