/* SPDX-License-Identifier: Apache-2.0
 * Overviews for check_overviews.py: reads from stdin lines of "METHOD DTYPE BITS BANDS NODATA MASK
 * ALPHA WIDTH HEIGHT" (numbers but for METHOD, the name, and NODATA, a number or "none"), each
 * followed by the pixels, band after band, and the mask if MASK is 1. Prints pixels and mask of
 * half the size, tile by tile, which is how a writer asks for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pixel/overview_level.h"
#include "pixel/pixel.h"

enum { TILE = 48 };

static void *check_alloc(size_t size)
{
    void *block = calloc(size > 0 ? size : 1, 1);
    if (!block)
        abort();
    return block;
}

static tz_pixel_buffer make_buffer(tz_dtype dtype, uint32_t bands, uint32_t width, uint32_t height)
{
    const int64_t size = (int64_t)tz_dtype_size(dtype);
    tz_pixel_buffer out = {.dtype = dtype, .bands = bands, .width = width, .height = height};
    out.data = check_alloc((size_t)size * bands * width * height);
    out.column_stride = size;
    out.row_stride = size * width;
    out.band_stride = out.row_stride * height;
    return out;
}

static size_t buffer_bytes(const tz_pixel_buffer *b)
{
    return (size_t)(b->band_stride * b->bands);
}

static void read_buffer(const tz_pixel_buffer *b)
{
    if (fread(b->data, 1, buffer_bytes(b), stdin) != buffer_bytes(b))
        abort();
}

static tz_pixel_buffer part_of(const tz_pixel_buffer *b, const tz_window *window)
{
    tz_pixel_buffer out = *b;
    out.data = tz_buffer_at(b, 0, window->row, window->column);
    out.width = window->width;
    out.height = window->height;
    return out;
}

static void reduce(const tz_overview_params *how, const tz_overview_source *from,
                   const tz_pixel_buffer *pixels, const tz_pixel_buffer *mask)
{
    void *scratch = check_alloc(tz_overview_scratch_bytes(how, TILE));
    for (uint32_t row = 0; row < how->to_height; row += TILE) {
        for (uint32_t column = 0; column < how->to_width; column += TILE) {
            const uint32_t right = how->to_width - column;
            const uint32_t below = how->to_height - row;
            const tz_window window = {column, row, right < TILE ? right : TILE,
                                      below < TILE ? below : TILE};
            const tz_pixel_buffer into = part_of(pixels, &window);
            const tz_pixel_buffer mask_into = part_of(mask, &window);
            tz_overview_make(how, from, &window, &into, &mask_into, scratch);
        }
    }
    free(scratch);
}

static tz_resampling method_of(const char *name)
{
    for (int i = TZ_RESAMPLING_NEAREST; i <= TZ_RESAMPLING_MEDIAN; i++) {
        if (strcmp(tz_resampling_name((tz_resampling)i), name) == 0)
            return (tz_resampling)i;
    }
    abort();
}

static void set_nodata(tz_overview_params *how, const char *text)
{
    const bool is_float = how->dtype >= TZ_DTYPE_FLOAT16;
    if (strcmp(text, "none") == 0)
        return;
    how->nodata.kind = is_float ? TZ_NODATA_KIND_FLOAT : TZ_NODATA_KIND_INT;
    if (is_float)
        how->nodata.value.f = strtod(text, NULL);
    else
        how->nodata.value.i = strtoll(text, NULL, 10);
}

static void make_overview(tz_overview_params *how)
{
    tz_overview_source from = {0};
    from.row_ranges[1].pixels =
        make_buffer(how->dtype, how->bands, how->from_width, how->from_height);
    read_buffer(&from.row_ranges[1].pixels);
    if (how->mask) {
        from.row_ranges[1].mask = make_buffer(TZ_DTYPE_UINT8, 1, how->from_width, how->from_height);
        read_buffer(&from.row_ranges[1].mask);
    }
    how->to_width = (how->from_width + 1) / 2;
    how->to_height = (how->from_height + 1) / 2;
    const tz_pixel_buffer pixels =
        make_buffer(how->dtype, how->bands, how->to_width, how->to_height);
    const tz_pixel_buffer mask = make_buffer(TZ_DTYPE_UINT8, 1, how->to_width, how->to_height);
    reduce(how, &from, &pixels, &mask);
    fwrite(pixels.data, 1, buffer_bytes(&pixels), stdout);
    fwrite(mask.data, 1, buffer_bytes(&mask), stdout);
    fflush(stdout);
    free(from.row_ranges[1].pixels.data);
    free(from.row_ranges[1].mask.data);
    free(pixels.data);
    free(mask.data);
}

int main(void)
{
    char method[16];
    char nodata[64];
    int dtype, bits, mask;
    unsigned bands, alpha, width, height;
    while (scanf("%15s %d %d %u %63s %d %u %u %u", method, &dtype, &bits, &bands, nodata, &mask,
                 &alpha, &width, &height) == 9) {
        tz_overview_params how = {.method = method_of(method),
                                  .dtype = (tz_dtype)dtype,
                                  .bits = (uint16_t)bits,
                                  .bands = bands,
                                  .mask = mask != 0,
                                  .alpha = alpha,
                                  .from_width = width,
                                  .from_height = height};
        if (getchar() != '\n')
            abort();
        set_nodata(&how, nodata);
        make_overview(&how);
    }
    return 0;
}
