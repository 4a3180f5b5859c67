/* SPDX-License-Identifier: Apache-2.0
 * The program whose instructions check_instructions.py counts.
 *
 *     instruction_load predictor|lzw|store|tally|encode_lzw|encode_packbits|deflate_fast FILE
 *
 * FILE is one of make_samples.py. Its tiles are decoded, then their rows prepared into a raster,
 * from which they are stored again and tallied, or their bytes are encoded; only what one of the
 * measured_ functions does counts. Prints the bytes that went through it, or "plain" where the
 * pixel loops have no form for this machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "codec/codec.h"
#include "codec/deflate_fast.h"
#include "pixel/row_ops.h"
#include "pixel/store.h"

enum { MOST_TILES = 64 };

typedef struct image {
    tz_row_format row;
    uint32_t across; /* tiles */
    uint32_t count;
    uint32_t height; /* of a tile */
    uint8_t *stored[MOST_TILES];
    size_t stored_sizes[MOST_TILES];
    uint8_t *tiles;
    size_t tile_bytes;
    uint8_t *raster;
    void *state;
    void *encoder_state;
    uint8_t *encoded; /* room for twice a tile */
} image;

static void stop(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static void *must_alloc(size_t size)
{
    void *block = calloc(1, size);
    if (!block)
        stop("no memory");
    return block;
}

static tz_tile_format format_of(const image *im)
{
    return (tz_tile_format){.width = im->row.width,
                            .height = im->height,
                            .samples = im->row.samples,
                            .bits = im->row.bits};
}

__attribute__((noinline)) static void measured_lzw(const image *im)
{
    const tz_tile_format format = format_of(im);
    tz_error err = {0};
    const tz_context ctx = {.err = &err};
    const tz_codec_call call = {.ctx = &ctx};
    for (uint32_t i = 0; i < im->count; i++) {
        if (tz_decoder_lzw.decode(im->state, &format, im->stored[i], im->stored_sizes[i],
                                  im->tiles + i * im->tile_bytes, tz_row_bytes(&im->row), &call))
            stop(err.message);
    }
}

__attribute__((noinline)) static void measured_predictor(const image *im)
{
    const size_t row = tz_row_bytes(&im->row);
    const size_t stride = row * im->across;
    for (uint32_t i = 0; i < im->count; i++) {
        uint8_t *from = im->tiles + i * im->tile_bytes;
        uint8_t *to = im->raster + i / im->across * im->height * stride + i % im->across * row;
        for (uint32_t y = 0; y < im->height; y++, from += row, to += stride)
            tz_row_prepare(&im->row, from, im->row.width, to, NULL);
    }
}

/* The raster's rows are used up. */
__attribute__((noinline)) static void measured_store(const image *im)
{
    const size_t row = tz_row_bytes(&im->row);
    const uint32_t rows = im->count / im->across * im->height;
    for (uint32_t i = 0; i < rows * im->across; i++)
        tz_store_row(&im->row, im->raster + i * row, im->tiles + i * row, NULL);
}

__attribute__((noinline)) static void measured_tally(const image *im)
{
    const tz_nodata none = {.kind = TZ_NODATA_KIND_NONE};
    const size_t row = tz_row_bytes(&im->row);
    const size_t size = tz_dtype_size(im->row.dtype);
    const uint32_t rows = im->count / im->across * im->height;
    tz_stats tallies[4] = {{0}};
    for (uint32_t i = 0; i < rows * im->across; i++) {
        for (uint32_t s = 0; s < im->row.samples; s++)
            tz_stats_row(&tallies[s % 4], im->row.dtype, im->raster + i * row + s * size,
                         (ptrdiff_t)(size * im->row.samples), im->row.width, &none, NULL);
    }
}

/* Bytes of one tile by one encoder, again and again to the same memory. */
static void encode_tiles(const image *im, const tz_encoder *encoder)
{
    const tz_tile_format format = format_of(im);
    const tz_encode_options choice = {0};
    const tz_codec_call call = {0};
    size_t size;
    for (uint32_t i = 0; i < im->count; i++)
        if (encoder->encode(im->encoder_state, &format, &choice, im->tiles + i * im->tile_bytes,
                            im->encoded, &size, &call))
            stop("a tile cannot be encoded");
}

__attribute__((noinline)) static void measured_encode_lzw(const image *im)
{
    encode_tiles(im, &tz_encoder_lzw);
}

__attribute__((noinline)) static void measured_encode_packbits(const image *im)
{
    encode_tiles(im, &tz_encoder_packbits);
}

/* The choice as well, whatever it is. */
__attribute__((noinline)) static void measured_deflate_fast(const image *im)
{
    for (uint32_t i = 0; i < im->count; i++) {
        const uint8_t *tile = im->tiles + i * im->tile_bytes;
        (void)tz_deflate_wants_matches(tile, im->tile_bytes);
        tz_deflate_fast(tile, im->tile_bytes, im->encoded);
    }
}

static const struct {
    const char *name;
    void (*measured)(const image *im);
} loads[] = {
    {"predictor", measured_predictor},
    {"store", measured_store},
    {"tally", measured_tally},
    {"encode_lzw", measured_encode_lzw},
    {"encode_packbits", measured_encode_packbits},
    {"deflate_fast", measured_deflate_fast},
};

static void describe(image *im, const tz_file *file)
{
    const tz_info *info = tz_file_get_info(file);
    const tz_level *level = tz_file_get_level(file, 0);
    if (level->tile_count > MOST_TILES || level->compression != 5)
        stop("not such a file");
    im->row = (tz_row_format){.dtype = info->dtype,
                              .bits = level->bits_per_sample,
                              .sample_format = info->dtype == TZ_DTYPE_FLOAT32 ? 3 : 1,
                              .samples = level->samples,
                              .predictor = level->predictor,
                              .width = level->tile_width};
    im->across = level->tiles_across;
    im->count = (uint32_t)level->tile_count;
    im->height = level->tile_height;
    im->tile_bytes = tz_row_bytes(&im->row) * im->height;
}

static void load_tiles(image *im, const tz_file *file, const char *path)
{
    FILE *bytes = fopen(path, "rb");
    tz_error err;
    for (uint32_t i = 0; i < im->count; i++) {
        tz_tile_span span;
        if (tz_file_locate_tile(&span, file, 0, false, i, &err))
            stop(err.message);
        im->stored_sizes[i] = (size_t)span.size;
        im->stored[i] = must_alloc(im->stored_sizes[i] + TZ_CODEC_SLACK);
        if (!bytes || fseek(bytes, (long)span.offset, SEEK_SET) ||
            fread(im->stored[i], 1, im->stored_sizes[i], bytes) != im->stored_sizes[i])
            stop("the file cannot be read");
    }
    fclose(bytes);
}

int main(int argc, char **argv)
{
    image im = {0};
    tz_file *file = NULL;
    tz_error err;
    if (argc != 3)
        stop("usage: instruction_load WHAT FILE");
    if (tz_row_ops_get() == &tz_row_ops_scalar) {
        puts("plain");
        return 0;
    }
    if (tz_open(&file, argv[2], NULL, &err))
        stop(err.message);
    describe(&im, file);
    load_tiles(&im, file, argv[2]);
    im.tiles = must_alloc(im.count * im.tile_bytes + TZ_CODEC_SLACK);
    im.raster = must_alloc(im.count * im.tile_bytes + TZ_CODEC_SLACK);
    im.state = must_alloc(tz_decoder_lzw.state_size);
    if (tz_decoder_lzw.init && tz_decoder_lzw.init(im.state, &(tz_context){.err = &err}))
        stop(err.message);
    im.encoder_state = must_alloc(tz_encoder_lzw.state_size);
    im.encoded = must_alloc(2 * im.tile_bytes);
    measured_lzw(&im);
    if (strcmp(argv[1], "store") == 0 || strcmp(argv[1], "tally") == 0)
        measured_predictor(&im); /* makes the rows that they take */
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        if (strcmp(argv[1], loads[i].name) == 0)
            loads[i].measured(&im);
    printf("%zu\n", im.count * im.tile_bytes);
    tz_close(file);
    return 0; /* and the system takes the rest */
}
