/* SPDX-License-Identifier: Apache-2.0
 * Compares pixels block by block.
 *
 * A block is read from both files in one batch; half of the memory holds both copies, the other
 * half is for the reads. Rows that are the same bytes are done with at once; only in the others
 * each sample is looked at. Files of different types are read as a type that holds every value of
 * both; if there is none, pixels are not compared, and the report says so. Masks are compared where
 * either file marks pixels as not valid. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "diff.h"
#include "problem.h"
#include "progress.h"
#include "sample.h"
#include "text.h"

/* Sizes and types ------------------------------------------------------------------------------ */

/* Halves a size level times, rounding up or down each time. */
static uint32_t halve_size(uint32_t size, uint32_t level, bool up)
{
    for (; level > 0 && size > 1; level--)
        size = size / 2 + (up ? size % 2 : 0);
    return size;
}

static bool is_rounded(const diff_side *side, uint32_t level, bool up)
{
    const tz_info *info = side->info;
    const tz_level *l = tz_file_get_level(side->file, level);
    return l->width == halve_size(info->width, level, up) &&
           l->height == halve_size(info->height, level, up);
}

/* Explains different sizes of two overviews of the same image; NULL: not by rounding. */
static const char *explain_rounding(const diff *d, uint32_t level)
{
    const tz_info *a = d->sides[0].info;
    const tz_info *b = d->sides[1].info;
    if (a->width != b->width || a->height != b->height || level >= a->level_count ||
        level >= b->level_count)
        return NULL;
    const tz_level *x = tz_file_get_level(d->sides[0].file, level);
    const tz_level *y = tz_file_get_level(d->sides[1].file, level);
    if (x->width == y->width && x->height == y->height)
        return NULL;
    if (is_rounded(&d->sides[0], level, true) && is_rounded(&d->sides[1], level, false))
        return "sizes of overviews are rounded up in A, as terrazzo and gdaladdo do, and "
               "down in B, as GDAL's COG driver does";
    if (is_rounded(&d->sides[0], level, false) && is_rounded(&d->sides[1], level, true))
        return "sizes of overviews are rounded up in B, as terrazzo and gdaladdo do, and "
               "down in A, as GDAL's COG driver does";
    return NULL;
}

static tz_result compare_size(diff *d, unsigned part, uint32_t level, tz_error *err)
{
    diff_fact size = {
        .part = part, .level = level, .what = "size", .note = explain_rounding(d, level)};
    diff_fact mask = {.part = part, .level = level, .what = "mask"};
    for (int i = 0; i < 2; i++) {
        const tz_level *l = tz_file_get_level(d->sides[i].file, level);
        text_pair(size.texts[i], l->width, l->height);
        diff_text(&mask, i, "%s", l->has_mask ? "yes" : "no");
    }
    tz_result result = diff_add_fact(d, &size, err);
    return result == TZ_OK ? diff_add_fact(d, &mask, err) : result;
}

tz_result diff_compare_overviews(diff *d, unsigned part, tz_error *err)
{
    const tz_info *infos[2] = {d->sides[0].info, d->sides[1].info};
    bool with_pixels = d->settings->all_levels && (d->settings->parts & DIFF_PIXELS) != 0;
    diff_fact levels = {.part = part, .level = DIFF_NONE, .what = "levels"};
    if (part != (with_pixels ? DIFF_PIXELS : DIFF_LAYOUT))
        return TZ_OK;
    for (int i = 0; i < 2; i++)
        diff_text(&levels, i, "%" PRIu32, infos[i]->level_count);
    if (infos[0]->level_count + 1 == infos[1]->level_count ||
        infos[1]->level_count + 1 == infos[0]->level_count)
        levels.note =
            explain_rounding(d, 1); /* a size that is rounded up needs more levels to fit a tile */
    tz_result result = diff_add_fact(d, &levels, err);
    for (uint32_t l = 1; l < infos[0]->level_count && l < infos[1]->level_count; l++) {
        if (result == TZ_OK)
            result = compare_size(d, part, l, err);
    }
    return result;
}

static tz_result compare_shape(diff *d, tz_error *err)
{
    diff_fact bands = {.part = DIFF_PIXELS, .level = DIFF_NONE, .what = "bands"};
    diff_fact type = {.part = DIFF_PIXELS, .level = DIFF_NONE, .what = "type"};
    for (int i = 0; i < 2; i++) {
        diff_text(&bands, i, "%" PRIu32, d->sides[i].info->bands);
        diff_text(&type, i, "%s", tz_dtype_name(d->sides[i].info->dtype));
    }
    tz_result result = diff_add_fact(d, &bands, err);
    if (result == TZ_OK)
        result = diff_add_fact(d, &type, err);
    if (result == TZ_OK)
        result = compare_size(d, DIFF_PIXELS, 0, err);
    return result == TZ_OK ? diff_compare_overviews(d, DIFF_PIXELS, err) : result;
}

static bool is_unsigned(tz_dtype dtype)
{
    return dtype == TZ_DTYPE_UINT8 || dtype == TZ_DTYPE_UINT16 || dtype == TZ_DTYPE_UINT32 ||
           dtype == TZ_DTYPE_UINT64;
}

static bool is_long(tz_dtype dtype)
{
    return dtype == TZ_DTYPE_UINT64 || dtype == TZ_DTYPE_INT64;
}

/* Returns a type that holds every value of both; TZ_DTYPE_NONE: there is none. */
static tz_dtype common_type(tz_dtype a, tz_dtype b)
{
    if (a == b)
        return a;
    if (is_long(a) || is_long(b)) {
        if (is_unsigned(a) && is_unsigned(b))
            return TZ_DTYPE_UINT64;
        bool integers = a < TZ_DTYPE_FLOAT16 && b < TZ_DTYPE_FLOAT16;
        bool fits = a != TZ_DTYPE_UINT64 && b != TZ_DTYPE_UINT64;
        return integers && fits ? TZ_DTYPE_INT64 : TZ_DTYPE_NONE;
    }
    return sample_is_complex(a) || sample_is_complex(b) ? TZ_DTYPE_COMPLEX_FLOAT64
                                                        : TZ_DTYPE_FLOAT64;
}

/* Returns true if a file marks some pixels as not valid. */
static bool says_validity(const diff_side *side, uint32_t level)
{
    const tz_info *info = side->info;
    if (tz_file_get_mask(side->file, level) != NULL || info->nodata.kind != TZ_NODATA_KIND_NONE)
        return true;
    for (uint32_t i = 0; i < info->extra_sample_count; i++) {
        if (info->extra_samples[i] != TZ_EXTRA_SAMPLE_UNSPECIFIED)
            return true;
    }
    return false;
}

/* Samples -------------------------------------------------------------------------------------- */

static double distance_of_longs(const void *a, const void *b, size_t index, bool is_signed)
{
    const uint64_t x = ((const uint64_t *)a)[index];
    const uint64_t y = ((const uint64_t *)b)[index];
    bool less = is_signed ? (int64_t)x < (int64_t)y : x < y;
    return (double)(less ? y - x : x - y);
}

/* Returns 0 for equal values, infinity if only one of them is a number. */
static double sample_distance(tz_dtype dtype, const void *a, const void *b, size_t index)
{
    if (is_long(dtype))
        return distance_of_longs(a, b, index, dtype == TZ_DTYPE_INT64);
    double x = sample_real(dtype, a, index);
    double y = sample_real(dtype, b, index);
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? 0 : INFINITY;
    return !(x < y) && !(x > y) ? 0 : fabs(x - y);
}

static void count_sample(diff_count *count, double by, uint32_t column, uint32_t row)
{
    bool first =
        count->different == 0 || row < count->row || (row == count->row && column < count->column);
    if (first) {
        count->column = column;
        count->row = row;
    }
    count->different++;
    if (by > count->largest)
        count->largest = by;
}

/* Two rows of one band. */
typedef struct row_pair {
    const char *a;
    const char *b;
    tz_dtype dtype;
    uint32_t column, row, width;
} row_pair;

static void compare_row(diff_count *count, const row_pair *pair, double tolerance)
{
    if (memcmp(pair->a, pair->b, pair->width * tz_dtype_size(pair->dtype)) == 0)
        return;
    bool is_pair = sample_is_complex(pair->dtype);
    tz_dtype part = sample_part(pair->dtype);
    for (uint32_t i = 0; i < pair->width; i++) {
        double by = sample_distance(part, pair->a, pair->b, is_pair ? 2 * (size_t)i : i);
        if (is_pair)
            by = fmax(by, sample_distance(part, pair->a, pair->b, 2 * (size_t)i + 1));
        if (by > tolerance)
            count_sample(count, by, pair->column + i, pair->row);
    }
}

/* Blocks --------------------------------------------------------------------------------------- */

/* Comparing one level. */
typedef struct comparison {
    diff *d;
    diff_level *level;
    tz_dtype dtype;
    uint32_t *bands; /* 0, 1, 2, ... */
    char *pixels[2];
    char *masks[2]; /* NULL: not compared */
    tz_read_options how;
    progress progress;
} comparison;

static void compare_planes(const comparison *c, const block *where, char *const data[2],
                           tz_dtype dtype, bool is_mask)
{
    size_t row_size = where->width * tz_dtype_size(dtype);
    for (uint32_t band = 0; band < where->bands; band++) {
        diff_count *count = is_mask ? &c->level->mask : &c->level->bands[where->band + band];
        for (uint32_t row = 0; row < where->height; row++) {
            size_t offset = ((size_t)band * where->height + row) * row_size;
            const row_pair pair = {data[0] + offset, data[1] + offset, dtype,
                                   where->column,    where->row + row, where->width};
            compare_row(count, &pair, is_mask ? 0 : c->d->settings->tolerance);
        }
    }
}

/* The items of both files for a block, and their buffers; they must not move. */
typedef struct item_pair {
    tz_item items[2];
    tz_buffer pixels[2];
    tz_buffer masks[2];
} item_pair;

static void make_item_pair(item_pair *out, const comparison *c, const block *where)
{
    for (int i = 0; i < 2; i++) {
        out->pixels[i] = (tz_buffer){.struct_size = sizeof out->pixels[i],
                                     .data = c->pixels[i],
                                     .dtype = c->dtype,
                                     .bands = where->bands,
                                     .height = where->height,
                                     .width = where->width};
        out->masks[i] = out->pixels[i];
        out->masks[i].data = c->masks[i];
        out->masks[i].dtype = TZ_DTYPE_UINT8;
        out->items[i] =
            (tz_item){.struct_size = sizeof out->items[i],
                      .file = c->d->sides[i].file,
                      .level = c->level->level,
                      .window = {where->column, where->row, where->width, where->height},
                      .bands = c->bands + where->band,
                      .band_count = where->bands,
                      .into = &out->pixels[i],
                      .into_mask = c->masks[i] != NULL ? &out->masks[i] : NULL};
    }
}

static tz_result compare_block(comparison *c, const block *where, tz_error *err)
{
    item_pair made;
    make_item_pair(&made, c, where);
    c->how.progress =
        progress_next(&c->progress, (uint64_t)where->bands * where->height * where->width);
    tz_result result = tz_read_batch(made.items, 2, &c->how, NULL, err);
    if (result != TZ_OK && memory_is_short(err))
        return memory_refuse_blocks(&c->d->memory, c->d->memory.work - c->how.max_host_bytes,
                                    err->found, err);
    if (result != TZ_OK)
        return result;
    compare_planes(c, where, c->pixels, c->dtype, false);
    if (c->level->has_mask)
        compare_planes(c, where, c->masks, TZ_DTYPE_UINT8, true);
    return TZ_OK;
}

/* Blocks follow the tiles of the file that has the larger ones. */
static block_shape comparison_shape(const comparison *c)
{
    const tz_info *a = c->d->sides[0].info;
    const tz_info *b = c->d->sides[1].info;
    const tz_level *x = tz_file_get_level(c->d->sides[0].file, c->level->level);
    const tz_level *y = tz_file_get_level(c->d->sides[1].file, c->level->level);
    const tz_level *tiles = y->tile_height > x->tile_height ? y : x;
    return (block_shape){.bands = a->bands,
                         .height = x->height,
                         .width = x->width,
                         .tile_height = tiles->tile_height,
                         .tile_width = tiles->tile_width,
                         .sample_size = 2 * (tz_dtype_size(c->dtype) + c->level->has_mask),
                         .by_band =
                             a->planar == TZ_PLANAR_SEPARATE && b->planar == TZ_PLANAR_SEPARATE};
}

/* Bytes that a read needs beside a block that does not fit, before the block is allocated. */
static uint64_t reading_least(const comparison *c, const blocks *b)
{
    static char nowhere;
    comparison planned = *c;
    blocks first = *b;
    block where;
    item_pair made;
    for (int i = 0; i < 2; i++) {
        planned.pixels[i] = &nowhere;
        planned.masks[i] = c->level->has_mask ? &nowhere : NULL;
    }
    if (!blocks_next(&first, &where))
        return 1;
    make_item_pair(&made, &planned, &where);
    return 1 + memory_to_read(made.items, 2, &c->how);
}

static tz_result allocate_blocks(comparison *c, const blocks *b, tz_error *err)
{
    uint64_t samples = blocks_largest(b);
    uint64_t bytes = samples * b->shape.sample_size;
    uint64_t memory = c->d->memory.work;
    c->bands = malloc(b->shape.bands * sizeof *c->bands);
    if (c->bands == NULL)
        return problem_nomem(err, "the list of bands");
    for (uint32_t i = 0; i < b->shape.bands; i++)
        c->bands[i] = i;
    if (bytes >= memory)
        return memory_refuse_blocks(&c->d->memory, bytes, reading_least(c, b), err);
    c->how.max_host_bytes = memory - bytes;
    bool all = true;
    for (int i = 0; i < 2; i++) {
        c->pixels[i] = malloc((size_t)samples * tz_dtype_size(c->dtype));
        c->masks[i] = c->level->has_mask ? malloc((size_t)samples) : NULL;
        all = all && c->pixels[i] != NULL && (c->masks[i] != NULL || !c->level->has_mask);
    }
    c->level->bands = calloc(b->shape.bands, sizeof *c->level->bands);
    if (!all || c->level->bands == NULL)
        return problem_nomem(err, "the pixels");
    return TZ_OK;
}

static tz_result compare_blocks(comparison *c, tz_error *err)
{
    blocks b;
    block where;
    const block_shape shape = comparison_shape(c);
    blocks_start(&b, &shape, c->d->memory.work / 2);
    uint64_t samples = (uint64_t)shape.bands * shape.height * shape.width;
    progress_start(&c->progress, samples, samples * shape.sample_size);
    tz_result result = allocate_blocks(c, &b, err);
    while (result == TZ_OK && blocks_next(&b, &where))
        result = compare_block(c, &where, err);
    progress_end(&c->progress);
    for (int i = 0; i < 2; i++) {
        free(c->pixels[i]);
        free(c->masks[i]);
    }
    free(c->bands);
    return result;
}

/* Levels --------------------------------------------------------------------------------------- */

static bool level_differs(const diff_level *level)
{
    for (uint32_t i = 0; i < level->band_count; i++) {
        if (level->bands[i].different > 0)
            return true;
    }
    return level->mask.different > 0;
}

static tz_result compare_level(diff *d, uint32_t index, tz_dtype dtype, tz_error *err)
{
    const tz_info *a = d->sides[0].info;
    void *levels = d->levels;
    diff_level *level = diff_grow(&levels, &d->level_count, sizeof *level);
    d->levels = levels;
    if (level == NULL)
        return problem_nomem(err, "the list of levels");
    *level = (diff_level){.level = index,
                          .band_count = a->bands,
                          .has_mask = says_validity(&d->sides[0], index) ||
                                      says_validity(&d->sides[1], index)};
    comparison c = {.d = d, .level = level, .dtype = dtype, .how = TZ_READ_OPTIONS_INIT};
    c.how.threads = d->settings->threads;
    tz_result result = compare_blocks(&c, err);
    if (result == TZ_OK && level_differs(level))
        d->different |= DIFF_PIXELS;
    return result;
}

tz_result diff_compare_pixels(diff *d, tz_error *err)
{
    const tz_info *a = d->sides[0].info;
    const tz_info *b = d->sides[1].info;
    tz_dtype dtype = common_type(a->dtype, b->dtype);
    tz_result result = compare_shape(d, err);
    if (a->bands != b->bands)
        d->not_compared = "not the same number of bands";
    else if (a->width != b->width || a->height != b->height)
        d->not_compared = "not the same size";
    else if (a->dtype == TZ_DTYPE_NONE || b->dtype == TZ_DTYPE_NONE)
        d->not_compared = "samples without a type that can be read";
    else if (dtype == TZ_DTYPE_NONE)
        d->not_compared = "no type holds the values of both";
    if (result != TZ_OK || d->not_compared != NULL)
        return result;
    uint32_t count = a->level_count < b->level_count ? a->level_count : b->level_count;
    for (uint32_t i = 0; i < (d->settings->all_levels ? count : 1) && result == TZ_OK; i++) {
        const tz_level *x = tz_file_get_level(d->sides[0].file, i);
        const tz_level *y = tz_file_get_level(d->sides[1].file, i);
        if (x->width == y->width && x->height == y->height)
            result = compare_level(d, i, dtype, err);
    }
    return result;
}
