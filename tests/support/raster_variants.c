/* SPDX-License-Identifier: Apache-2.0 */
#include "support/raster_variants.h"

#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"

bool raster_can_write(tz_compression compression)
{
    tz_error err;
    const tz_context ctx = {.err = &err, .ifd = -1};
    const tz_encoder *encoder;
    return tz_encoder_find((uint16_t)compression, &ctx, &encoder) == TZ_OK;
}

tz_write_options raster_small_tiles(tz_compression compression)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = compression;
    options.tile_width = 32;
    options.tile_height = 32;
    return options;
}

void raster_check_same(const tz_memory *a, tz_memory *b, const char *what)
{
    if (a->size != b->size || memcmp(a->data, b->data, a->size) != 0)
        fail_msg("%s: other bytes (%zu and %zu of them)", what, a->size, b->size);
    tz_memory_free(b);
}

/* The thread sanitizer looks at threads beside each other, of which one alone has none, and all
 * pairs are compared without it. */
#ifdef __SANITIZE_THREAD__
enum { FIRST_THREADS = 1, HAS_PAIRS = 0 };
#else
enum { FIRST_THREADS = 0, HAS_PAIRS = 1 };
#endif

/* Tries all pairs of threads and memory, or each with one other. */
static void check_ways(const raster *r, tz_write_options options, double nan, bool all)
{
    void *interleaved = NULL, *scattered = NULL;
    const tz_buffer by_pixel = raster_interleaved(r, &interleaved);
    const raster_variant ways[] = {
        {.batch = 1},
        {.batch = 24},
        {.ragged = true},
        {.batch = 7, .pixels = by_pixel},
        {.batch = 100, .pixels = raster_scattered(r, &scattered)},
        {.pixels = by_pixel},
        {.pull = true},
        {.pull = true, .chunk_rows = 24},
        {.pull = true, .columns = true},
    };
    static const uint32_t threads[] = {1, 2, 8};
    static const uint64_t memory[] = {0, 1, 1 << 20};
    options.threads = 1;
    tz_memory first = raster_write(r, &options, NULL, NULL);
    raster_check(r, &first, nan);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
        for (size_t t = FIRST_THREADS; t < 3; t++)
            for (size_t m = 0; m < 3; m++) {
                if (!all && m != (t + w) % 3)
                    continue;
                options.threads = threads[t];
                options.max_host_bytes = memory[m];
                tz_memory other = raster_write(r, &options, &ways[w], NULL);
                raster_check_same(&first, &other, "another way");
            }
    tz_memory_free(&first);
    free(interleaved);
    free(scattered);
}

void raster_check_variants(const raster *r, tz_write_options options, double nan)
{
    check_ways(r, options, nan, HAS_PAIRS);
}

void raster_check_some_variants(const raster *r, tz_write_options options, double nan)
{
    check_ways(r, options, nan, false);
}
