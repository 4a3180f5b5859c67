/* SPDX-License-Identifier: Apache-2.0
 * Opens the input as a file in memory and reads a window of it, twice, over different poison. The
 * last bytes of the input, which are still part of the file, choose the window, bands, type and
 * options: a plain TIFF file is an input as it is. */
#include <stdlib.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHOICES = 10, MAX_BANDS = 4, MAX_SIDE = 64, SAMPLE = 16 };
enum { MAX_BYTES = MAX_BANDS * MAX_SIDE * MAX_SIDE * SAMPLE };

/* The request in the last bytes of the input. */
typedef struct read_wish {
    tz_item item;
    tz_buffer into;
    tz_read_options how;
    uint32_t bands[MAX_BANDS];
    bool masked;
} read_wish;

static tz_window make_window(const tz_level *level, const uint8_t *c, bool boundless)
{
    tz_window w = {.column = c[0] * (int64_t)level->width / 256,
                   .row = c[1] * (int64_t)level->height / 256,
                   .width = 1u + c[2] % MAX_SIDE,
                   .height = 1u + c[3] % MAX_SIDE};
    if (boundless) {
        w.column -= w.width / 2;
        w.row -= w.height / 2;
        return w;
    }
    if (w.width > level->width - (uint32_t)w.column)
        w.width = level->width - (uint32_t)w.column;
    if (w.height > level->height - (uint32_t)w.row)
        w.height = level->height - (uint32_t)w.row;
    return w;
}

static void make_wish(read_wish *wish, const tz_file *file, const uint8_t *c)
{
    const tz_info *info = tz_file_get_info(file);
    *wish = (read_wish){.item = TZ_ITEM_INIT, .into = TZ_BUFFER_INIT, .how = TZ_READ_OPTIONS_INIT};
    wish->item.file = file;
    wish->item.level = c[4] % info->level_count;
    const tz_level *level = tz_file_get_level(file, wish->item.level);
    const bool mask_itself = (c[4] & 0x40) && level->has_mask;
    wish->item.mask = mask_itself;
    wish->how.boundless = c[5] & 1;
    wish->how.scaled = c[5] & 2;
    wish->how.nodata_to_nan = c[5] & 4;
    if (!wish->how.nodata_to_nan && c[7] & 64)
        wish->how.nodata_as = (tz_nodata){(tz_nodata_kind)(c[7] & 3), {.u = UINT64_MAX - c[8]}};
    wish->how.threads = c[5] & 8 ? 2 : 1;
    wish->how.has_fill = c[6] & 16;
    wish->how.fill = c[5] / 3.0;
    wish->how.max_host_bytes = 32u << 20;
    wish->how.resampling = (tz_resampling)(c[6] >> 6);
    wish->masked = c[5] & 16 && !mask_itself;
    wish->how.salvage = c[5] & 32;
    wish->how.oriented = c[5] & 64;
    wish->how.reduced_tiles = c[5] & 128;
    wish->item.window = make_window(level, c, wish->how.boundless);
    wish->item.band_count = mask_itself ? 1 : 1u + c[7] % MAX_BANDS;
    for (uint32_t i = 0; i < wish->item.band_count; i++)
        wish->bands[i] = mask_itself ? 0 : (c[7] / 4u + i * c[8]) % info->bands;
    wish->item.bands = wish->bands;
    const tz_dtype dtype = (tz_dtype)(1 + c[6] % TZ_DTYPE_COMPLEX_FLOAT64);
    wish->into.dtype = c[6] & 32 && info->dtype ? info->dtype : dtype;
    wish->into.bands = wish->item.band_count;
    wish->into.height = wish->item.window.height;
    wish->into.width = wish->item.window.width;
    if (wish->how.resampling != TZ_RESAMPLING_NONE) {
        wish->into.width = 1u + c[8] % MAX_SIDE;
        wish->into.height = 1u + c[9] % MAX_SIDE;
    }
}

/* One read of a wish and all that it gave. */
typedef struct answer {
    uint8_t *pixels;
    uint8_t *mask;
    tz_result result;
    tz_error err;
    uint64_t failed; /* tiles */
} answer;

static size_t bytes_of(const tz_buffer *buffer)
{
    return (size_t)buffer->bands * buffer->height * buffer->width * tz_dtype_size(buffer->dtype);
}

static void read_once(answer *a, const read_wish *wish, uint8_t poison)
{
    tz_item item = wish->item;
    tz_buffer into = wish->into;
    tz_buffer mask = wish->into;
    const size_t size = bytes_of(&into);
    check(size <= MAX_BYTES);
    *a = (answer){.pixels = malloc(size), .mask = malloc(size)};
    check(a->pixels && a->mask);
    memset(a->pixels, poison, size);
    memset(a->mask, poison, size);
    into.data = a->pixels;
    mask.dtype = TZ_DTYPE_UINT8;
    mask.data = a->mask;
    item.into = &into;
    item.into_mask = wish->masked ? &mask : NULL;
    tz_read_report *report = NULL;
    tz_read_report *plan = NULL;
    a->result = tz_read(&item, &wish->how, &report, &a->err);
    const bool told = a->err.result == a->result && a->err.message[0] != '\0';
    check(a->result == TZ_OK || (told && a->result != TZ_ERR_INTERNAL && a->result != TZ_ERR_IO));
    if (a->result != TZ_OK)
        return;
    const tz_item_report *read = tz_read_report_get_item(report, 0);
    a->failed = read->tiles_failed;
    check(a->failed <= read->tile_count);
    for (uint64_t i = 0, failed = 0; wish->how.salvage && i < read->tile_count; i++) {
        failed += tz_read_report_get_tile(report, 0, i)->result != TZ_OK;
        check(i + 1 < read->tile_count || failed == a->failed);
    }
    check(tz_plan_read(&plan, &item, 1, &wish->how, NULL) == TZ_OK);
    check(plan->tiles == report->tiles && plan->bytes_read == report->bytes_read);
    tz_read_report_free(report);
    tz_read_report_free(plan);
}

static void forget(answer *a)
{
    free(a->pixels);
    free(a->mask);
}

static void read_twice(const tz_file *file, const uint8_t *choices)
{
    read_wish wish;
    answer first, second;
    make_wish(&wish, file, choices);
    read_once(&first, &wish, 0x00);
    read_once(&second, &wish, 0xFF);
    check(first.result == second.result && first.err.cause == second.err.cause);
    check(strcmp(first.err.message, second.err.message) == 0);
    check(first.failed == second.failed);
    if (first.result == TZ_OK) {
        const size_t size = bytes_of(&wish.into);
        check(memcmp(first.pixels, second.pixels, size) == 0);
        check(!wish.masked ||
              memcmp(first.mask, second.mask, size / tz_dtype_size(wish.into.dtype)) == 0);
    }
    forget(&first);
    forget(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    tz_limits limits = TZ_LIMITS_INIT;
    tz_file *file = NULL;
    limits.max_tile_bytes = 4u << 20;
    limits.max_codec_bytes = 8u << 20;
    options.limits = &limits;
    if (size < CHOICES || tz_open_memory(&file, data, size, &options, NULL) != TZ_OK)
        return 0;
    read_twice(file, data + size - CHOICES);
    tz_close(file);
    return 0;
}
