/* SPDX-License-Identifier: Apache-2.0
 * Writes a hill of 5000 x 3000 pixels as a Cloud Optimized GeoTIFF, block by block. Here one loop
 * makes the blocks; each could be made by a process of its own, which has the plan's bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

enum { WIDTH = 5000, HEIGHT = 3000, MAX_LEVELS = 16, MAX_BLOCKS = 256 };

/* Pixels of all levels, and the blobs that were made of them. */
typedef struct job {
    const tz_cog_plan *plan;
    float *pixels[MAX_LEVELS];
    tz_memory blobs[MAX_BLOCKS];
    size_t count;
} job;

static void make_hill(float *pixels)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const double across = (x - WIDTH / 2) / 900.0, down = (y - HEIGHT / 2) / 700.0;
            pixels[(size_t)y * WIDTH + (size_t)x] =
                (float)(800.0 * exp(-across * across - down * down));
        }
}

/* A window of a level, where it is in memory. */
static tz_buffer window_buffer(const job *j, uint32_t level, const tz_window *window)
{
    const int64_t width = tz_cog_plan_get_level(j->plan, level)->width;
    return (tz_buffer){.struct_size = sizeof(tz_buffer),
                       .data = j->pixels[level] + window->row * width + window->column,
                       .dtype = TZ_DTYPE_FLOAT32,
                       .bands = 1,
                       .height = window->height,
                       .width = window->width,
                       .band_stride = (int64_t)sizeof(float),
                       .row_stride = width * (int64_t)sizeof(float),
                       .column_stride = (int64_t)sizeof(float)};
}

static tz_result make_block(job *j, uint32_t level, uint64_t block, tz_error *err)
{
    tz_cog_block what = TZ_COG_BLOCK_INIT;
    tz_result result = tz_cog_plan_get_block(&what, j->plan, level, block, err);
    if (result != TZ_OK)
        return result;
    const tz_buffer pixels = window_buffer(j, level, &what.window);
    if (level > 0) {
        const tz_buffer source = window_buffer(j, level - 1, &what.source);
        result = tz_overview_block(j->plan, level, block, &source, NULL, &pixels, NULL, NULL, err);
    }
    if (result == TZ_OK)
        result =
            tz_encode_block(&j->blobs[j->count], j->plan, level, block, &pixels, NULL, NULL, err);
    j->count += result == TZ_OK;
    return result;
}

static tz_result make_blocks(job *j, tz_error *err)
{
    const tz_cog_level *l;
    for (uint32_t level = 0; (l = tz_cog_plan_get_level(j->plan, level)) != NULL; level++) {
        j->pixels[level] = calloc((size_t)l->width * l->height, sizeof(float));
        if (!j->pixels[level] || j->count + l->block_count > MAX_BLOCKS)
            return tz_error_set(err, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, TZ_NO_VALUE, "no memory");
        if (level == 0)
            make_hill(j->pixels[0]);
        for (uint64_t block = 0; block < l->block_count; block++) {
            const tz_result result = make_block(j, level, block, err);
            if (result != TZ_OK)
                return result;
        }
    }
    return TZ_OK;
}

static tz_result read_blob(void *user, size_t blob, uint64_t offset, void *dst, size_t size,
                           tz_error *err)
{
    const job *j = user;
    if (offset > j->blobs[blob].size || size > j->blobs[blob].size - offset)
        return tz_error_set(err, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED, offset, "the blob is short");
    memcpy(dst, (const char *)j->blobs[blob].data + offset, size);
    return TZ_OK;
}

static tz_result write_hill(const char *path, tz_cog_plan *plan, tz_write_report **report,
                            tz_error *err)
{
    static job j;
    j.plan = plan;
    tz_result result = make_blocks(&j, err);
    tz_blobs blobs = TZ_BLOBS_INIT;
    blobs.count = j.count;
    blobs.read = read_blob;
    blobs.user = &j;
    if (result == TZ_OK)
        result = tz_assemble_file(path, plan, &blobs, NULL, report, err);
    for (size_t i = 0; i < j.count; i++)
        tz_memory_free(&j.blobs[i]);
    for (int i = 0; i < MAX_LEVELS; i++)
        free(j.pixels[i]);
    return result;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "hill.tif";
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    tz_cog_plan *plan = NULL;
    tz_write_report *report = NULL;
    tz_error err;
    spec.width = WIDTH;
    spec.height = HEIGHT;
    spec.bands = 1;
    spec.dtype = TZ_DTYPE_FLOAT32;
    tz_result result = tz_cog_plan_create(&plan, &spec, NULL, 4, &err);
    if (result == TZ_OK)
        result = write_hill(path, plan, &report, &err);
    tz_cog_plan_free(plan);
    if (result != TZ_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("%s: %llu bytes, %u levels\n", path, (unsigned long long)report->file_size,
           report->levels);
    tz_write_report_free(report);
    return 0;
}
