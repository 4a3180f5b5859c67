/* SPDX-License-Identifier: Apache-2.0
 * Times a given libtiff in the plainest fast loop: each tile is gathered from the rows and handed
 * to the one handle. A file of libtiff's has one writer, so this is one thread whatever the job
 * says; see writer.h. */
#include "libtiff_api.h"
#include "writer.h"

typedef struct output {
    void *handle;
    uint8_t *tile;
    size_t tile_size;
    bool whole; /* all rows came */
} output;

/* Name, value of tag Compression, tag of the level. */
static const struct codec {
    const char *name;
    uint32_t compression, level;
} codecs[] = {{"none", 1, 0},
              {"lzw", 5, 0},
              {"jpeg", COMPRESSION_JPEG, 0},
              {"deflate", 8, TAG_ZIP_QUALITY},
              {"packbits", 32773, 0},
              {"lerc", 34887, 0},
              {"lzma", 34925, TAG_LZMA_PRESET},
              {"zstd", 50000, TAG_ZSTD_LEVEL},
              {"webp", 50001, 0},
              {"webpll", 50001, 0}};

static const struct codec *codec_of(const job *what)
{
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        if (strcmp(codecs[i].name, what->codec) == 0)
            return &codecs[i];
    }
    failed("no codec %s", what->codec);
    return NULL;
}

static uint32_t photometric_of(const job *what)
{
    if (what->sample_size > 1 || what->bands < 3)
        return PHOTOMETRIC_MIN_IS_BLACK;
    return strcmp(what->codec, "jpeg") == 0 ? PHOTOMETRIC_YCBCR : PHOTOMETRIC_RGB;
}

/* Bands that the photometric does not speak of have to be declared. */
static void set_extra_samples(void *handle, const job *what)
{
    const uint16_t unspecified[16] = {0};
    const uint32_t usual = photometric_of(what) == PHOTOMETRIC_MIN_IS_BLACK ? 1 : 3;
    if (what->bands > usual)
        tiff.TIFFSetField(handle, TAG_EXTRA_SAMPLES, (int)(what->bands - usual), unspecified);
}

static void set_codec(void *handle, const job *what, const struct codec *codec)
{
    tiff.TIFFSetField(handle, TAG_COMPRESSION, codec->compression);
    if (what->predictor > 1)
        tiff.TIFFSetField(handle, TAG_PREDICTOR, what->predictor);
    if (codec->level != 0 && what->level != 0)
        tiff.TIFFSetField(handle, codec->level, what->level > 0 ? what->level : 1);
    if (strcmp(codec->name, "webpll") == 0)
        tiff.TIFFSetField(handle, TAG_WEBP_LOSSLESS, 1);
    if (codec->compression == COMPRESSION_JPEG) {
        tiff.TIFFSetField(handle, TAG_JPEG_COLOR_MODE, JPEG_COLOR_MODE_RGB);
        tiff.TIFFSetField(handle, TAG_JPEG_TABLES_MODE, JPEG_TABLES_QUANT);
    }
}

static void set_fields(void *handle, const job *what, const struct codec *codec)
{
    const int format = what->dtype[0] == 'u' ? 1 : what->dtype[0] == 'i' ? 2 : 3;
    tiff.TIFFSetField(handle, TAG_WIDTH, what->width);
    tiff.TIFFSetField(handle, TAG_HEIGHT, what->height);
    tiff.TIFFSetField(handle, TAG_BITS, (int)(8 * what->sample_size));
    tiff.TIFFSetField(handle, TAG_SAMPLES, what->bands);
    tiff.TIFFSetField(handle, TAG_SAMPLE_FORMAT, format);
    tiff.TIFFSetField(handle, TAG_PLANAR, PLANAR_CONTIGUOUS);
    tiff.TIFFSetField(handle, TAG_PHOTOMETRIC, photometric_of(what));
    tiff.TIFFSetField(handle, TAG_TILE_WIDTH, what->tile);
    tiff.TIFFSetField(handle, TAG_TILE_HEIGHT, what->tile);
    set_extra_samples(handle, what);
    set_codec(handle, what, codec);
}

static void *create(const job *what)
{
    const struct codec *codec = codec_of(what);
    output *o = codec != NULL ? calloc(1, sizeof *o) : NULL;
    if (o == NULL)
        return NULL;
    o->handle = tiff.TIFFOpen(what->out, "w");
    if (o->handle == NULL) {
        free(o);
        failed("%s: libtiff cannot create it", what->out);
        return NULL;
    }
    set_fields(o->handle, what, codec);
    o->tile_size = (size_t)tiff.TIFFTileSize(o->handle);
    o->tile = calloc(1, o->tile_size);
    return o;
}

static void gather_tile(output *o, const job *what, uint32_t column, uint32_t rows,
                        const uint8_t *from)
{
    const size_t pixel = what->bands * what->sample_size, row_size = what->width * pixel;
    const uint32_t columns = what->width - column < what->tile ? what->width - column : what->tile;
    for (uint32_t row = 0; row < rows; row++)
        memcpy(o->tile + row * what->tile * pixel, from + row * row_size + column * pixel,
               columns * pixel);
}

/* Tiles are whole: rows is a multiple of their height, or reaches the end. */
static bool write_rows(void *file, const job *what, uint32_t row, uint32_t rows,
                       const uint8_t *pixels)
{
    output *o = file;
    const size_t row_size = what->width * what->bands * what->sample_size;
    const uint32_t across = (what->width - 1) / what->tile + 1;
    if (row % what->tile != 0)
        return failed("libtiff takes whole tiles");
    for (uint32_t done = 0; done < rows; done += what->tile) {
        const uint32_t count = rows - done < what->tile ? rows - done : what->tile;
        for (uint32_t i = 0; i < across; i++) {
            const uint32_t tile = (row + done) / what->tile * across + i;
            gather_tile(o, what, i * what->tile, count, pixels + done * row_size);
            if (tiff.TIFFWriteEncodedTile(o->handle, tile, o->tile, (int64_t)o->tile_size) < 0)
                return failed("libtiff cannot write a tile");
        }
    }
    o->whole = row + rows == what->height;
    return true;
}

static bool close_file(void *file)
{
    output *o = file;
    const bool whole = o->whole;
    tiff.TIFFClose(o->handle);
    free(o->tile);
    free(o);
    return whole;
}

int main(int argc, char **argv)
{
    const writer by_libtiff = {.create = create, .write = write_rows, .close = close_file};
    if (argc != 2) {
        fprintf(stderr, "usage: write_libtiff LIBTIFF\n");
        return 2;
    }
    if (!tiff_load(argv[1])) {
        fprintf(stderr, "%s\n", failure);
        return 1;
    }
    return writer_main(&by_libtiff);
}
