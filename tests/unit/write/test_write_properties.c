/* SPDX-License-Identifier: Apache-2.0
 * Random images, options and ways to give rows: whatever they are, the file that comes out holds
 * the pixels that went in, and a second one that was made another way is the same byte for byte. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "support/raster.h"

enum { ROUNDS = 400 };

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

static bool maybe(void)
{
    return pick(2) == 1;
}

static bool can_write(tz_compression compression)
{
    tz_error err;
    const tz_context ctx = {.err = &err, .ifd = -1};
    const tz_encoder *encoder;
    return tz_encoder_find((uint16_t)compression, &ctx, &encoder) == TZ_OK;
}

static tz_compression pick_codec(void)
{
    static const tz_compression codecs[] = {TZ_COMPRESSION_NONE,    TZ_COMPRESSION_PACKBITS,
                                            TZ_COMPRESSION_LZW,     TZ_COMPRESSION_DEFLATE,
                                            TZ_COMPRESSION_DEFLATE, TZ_COMPRESSION_ZSTD,
                                            TZ_COMPRESSION_LZMA,    TZ_COMPRESSION_LZ4};
    const tz_compression codec = codecs[pick(8)];
    return can_write(codec) ? codec : TZ_COMPRESSION_LZW;
}

static tz_write_options pick_options(void)
{
    tz_write_options o = TZ_WRITE_OPTIONS_INIT;
    o.codec.compression = pick_codec();
    if (o.codec.compression == TZ_COMPRESSION_DEFLATE)
        o.codec.effort = maybe() ? TZ_EFFORT_FAST : (int32_t)(1 + pick(12));
    o.codec.predictor = (uint16_t)pick(2);
    o.strips = pick(3) == 0;
    o.tile_width = o.strips ? 0 : 16 * (1 + pick(4));
    o.tile_height = o.strips ? pick(40) : 16 * (1 + pick(4));
    o.big_endian = maybe();
    o.sparse = pick(3) == 0;
    o.alignment = pick(4) == 0 ? 1u << pick(13) : 0;
    o.interleave = (tz_interleave)pick(3);
    o.bigtiff = (tz_bigtiff)pick(4);
    o.statistics_items = pick(4) == 0;
    o.verify = (tz_verify)pick(3);
    return o;
}

static raster pick_raster(void)
{
    const tz_dtype dtype = (tz_dtype)(TZ_DTYPE_UINT8 + pick(TZ_DTYPE_COMPLEX_FLOAT64));
    raster r = raster_make(dtype, 1 + pick(5), 1 + pick(120), 1 + pick(120), maybe());
    const bool whole = dtype == TZ_DTYPE_UINT8 || dtype == TZ_DTYPE_UINT16;
    if (whole && pick(4) == 0)
        r.spec.bits_per_sample = (uint16_t)(dtype == TZ_DTYPE_UINT8 ? 7 : 9 + pick(7));
    if (dtype == TZ_DTYPE_FLOAT32 && maybe())
        r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_FLOAT, {.f = -10}};
    if (dtype == TZ_DTYPE_UINT8 && maybe())
        r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_UINT, {.u = 0}};
    if (pick(5) == 0) /* something to leave out */
        memset(r.pixels.data, 0, (size_t)r.pixels.band_stride * r.spec.bands);
    return r;
}

/* other: another layout of the same pixels. */
static raster_variant pick_way(const tz_buffer *other)
{
    raster_variant way = {.batch = pick(3) == 0 ? 0 : 1 + pick(70), .pull = pick(3) == 0};
    if (maybe())
        way.pixels = *other;
    way.columns = maybe();
    way.chunk_rows = maybe() ? pick(50) : 0;
    return way;
}

static void pick_means(tz_write_options *o)
{
    static const uint64_t memory[] = {0, 1, 300000, 1 << 20};
    o->threads = 1 + pick(4);
    o->max_host_bytes = memory[pick(4)];
}

static void run_round(uint64_t round)
{
    seed = round * UINT64_C(0x9E3779B97F4A7C15) + 1;
    raster r = pick_raster();
    tz_write_options options = pick_options();
    void *memory = NULL;
    const tz_buffer other =
        maybe() ? raster_interleaved(&r, &memory) : raster_scattered(&r, &memory);
    tz_memory files[2];
    for (size_t i = 0; i < 2; i++) {
        const raster_variant way = pick_way(&other);
        pick_means(&options);
        files[i] = raster_write(&r, &options, &way, NULL);
    }
    if (files[0].size != files[1].size || memcmp(files[0].data, files[1].data, files[0].size) != 0)
        fail_msg("round %llu: two ways, two files", (unsigned long long)round);
    raster_check(&r, &files[0], NAN);
    tz_memory_free(&files[0]);
    tz_memory_free(&files[1]);
    free(memory);
    raster_free(&r);
}

static void what_goes_in_comes_out(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++)
        run_round(round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
