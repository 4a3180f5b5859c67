/* SPDX-License-Identifier: Apache-2.0
 * Times a given libtiff in the plainest fast loop: a handle for each thread, which takes the next
 * tile, has it decoded into memory of its own and copies its rows; see reader.h. */
#include "libtiff_api.h"
#include "reader.h"

typedef struct image {
    void *handle;
    char *path;
    uint8_t *tile; /* decoded */
    size_t tile_size;
    shape what;
    uint32_t tile_width, tile_height, across, down;
    bool tiled, planar;
} image;

static void *open_handle(const char *path)
{
    uint16_t compression = 0, photometric = 0;
    void *handle = tiff.TIFFOpen(path, "r");
    if (handle == NULL)
        return NULL;
    tiff.TIFFGetField(handle, TAG_COMPRESSION, &compression);
    tiff.TIFFGetField(handle, TAG_PHOTOMETRIC, &photometric);
    if (compression == COMPRESSION_JPEG && photometric == PHOTOMETRIC_YCBCR)
        tiff.TIFFSetField(handle, TAG_JPEG_COLOR_MODE, JPEG_COLOR_MODE_RGB);
    return handle;
}

static image *open_image(const char *path)
{
    uint16_t bits = 8, samples = 1, planar = 1;
    image *i = calloc(1, sizeof *i);
    if (i == NULL || (i->handle = open_handle(path)) == NULL) {
        free(i);
        failed("%s: libtiff cannot open it", path);
        return NULL;
    }
    i->path = strdup(path);
    tiff.TIFFGetField(i->handle, TAG_WIDTH, &i->what.width);
    tiff.TIFFGetField(i->handle, TAG_HEIGHT, &i->what.height);
    tiff.TIFFGetFieldDefaulted(i->handle, TAG_BITS, &bits);
    tiff.TIFFGetFieldDefaulted(i->handle, TAG_SAMPLES, &samples);
    tiff.TIFFGetFieldDefaulted(i->handle, TAG_PLANAR, &planar);
    i->what.bands = samples;
    i->what.sample_size = bits / 8;
    i->planar = planar == 2;
    i->tiled = tiff.TIFFIsTiled(i->handle);
    i->tile_width = i->what.width;
    if (i->tiled) {
        tiff.TIFFGetField(i->handle, TAG_TILE_WIDTH, &i->tile_width);
        tiff.TIFFGetField(i->handle, TAG_TILE_HEIGHT, &i->tile_height);
    } else {
        tiff.TIFFGetFieldDefaulted(i->handle, TAG_ROWS_PER_STRIP, &i->tile_height);
    }
    i->across = (i->what.width - 1) / i->tile_width + 1;
    i->down = (i->what.height - 1) / i->tile_height + 1;
    i->tile_size =
        (size_t)(i->tiled ? tiff.TIFFTileSize(i->handle) : tiff.TIFFStripSize(i->handle));
    i->tile = malloc(i->tile_size);
    return i;
}

static void *open_file(const char *path, unsigned threads, shape *what)
{
    (void)threads;
    image *i = open_image(path);
    if (i != NULL)
        *what = i->what;
    return i;
}

static void close_file(void *file)
{
    image *i = file;
    tiff.TIFFClose(i->handle);
    free(i->tile);
    free(i->path);
    free(i);
}

/* ---- tiles ---- */

typedef struct job {
    window where;
    bool by_pixel;
    uint8_t *into;
    uint32_t column0, columns, row0, rows, planes; /* of tiles under the window */
    atomic_uint next;
    atomic_bool failed;
    image *main;
} job;

static uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The rows of the tile that is in i->tile; band: of a file that is stored by band. */
static void copy_tile(const image *i, const job *j, uint32_t column, uint32_t row, uint32_t band)
{
    const window *w = &j->where;
    const uint32_t x = column * i->tile_width, y = row * i->tile_height;
    const uint32_t x0 = max_u32(x, w->column);
    const uint32_t x1 = min_u32(x + i->tile_width, w->column + w->width);
    const uint32_t y0 = max_u32(y, w->row), y1 = min_u32(y + i->tile_height, w->row + w->height);
    const size_t pixel = i->what.sample_size * (i->planar ? 1 : i->what.bands);
    uint8_t *plane = j->into + (size_t)band * w->width * w->height * pixel;
    for (uint32_t line = y0; line < y1; line++) {
        const uint8_t *from = i->tile + ((size_t)(line - y) * i->tile_width + (x0 - x)) * pixel;
        uint8_t *to = plane + ((size_t)(line - w->row) * w->width + (x0 - w->column)) * pixel;
        memcpy(to, from, (x1 - x0) * pixel);
    }
}

static void read_tiles(image *i, job *j)
{
    const uint32_t count = j->columns * j->rows * j->planes;
    uint32_t at;
    while ((at = atomic_fetch_add(&j->next, 1)) < count) {
        const uint32_t column = j->column0 + at % j->columns;
        const uint32_t row = j->row0 + at / j->columns % j->rows;
        const uint32_t band = at / j->columns / j->rows;
        const uint32_t tile = (band * i->down + row) * i->across + column;
        const int64_t size = (int64_t)i->tile_size;
        const int64_t got = i->tiled ? tiff.TIFFReadEncodedTile(i->handle, tile, i->tile, size)
                                     : tiff.TIFFReadEncodedStrip(i->handle, tile, i->tile, size);
        if (got < 0)
            atomic_store(&j->failed, true);
        else
            copy_tile(i, j, column, row, band);
    }
}

static void *help(void *user)
{
    job *j = user;
    image *own = open_image(j->main->path);
    if (own == NULL) {
        atomic_store(&j->failed, true);
        return NULL;
    }
    read_tiles(own, j);
    close_file(own);
    return NULL;
}

static bool read_window(void *file, const window *w, bool by_pixel, unsigned threads, uint8_t *into)
{
    image *i = file;
    pthread_t helpers[MAX_THREADS];
    job j = {.where = *w, .by_pixel = by_pixel, .into = into, .main = i};
    if (by_pixel == i->planar && i->what.bands > 1)
        return failed("the layout is not that of the file");
    j.column0 = w->column / i->tile_width;
    j.columns = (w->column + w->width - 1) / i->tile_width - j.column0 + 1;
    j.row0 = w->row / i->tile_height;
    j.rows = (w->row + w->height - 1) / i->tile_height - j.row0 + 1;
    j.planes = i->planar ? i->what.bands : 1;
    for (unsigned t = 1; t < threads; t++)
        pthread_create(&helpers[t], NULL, help, &j);
    read_tiles(i, &j);
    for (unsigned t = 1; t < threads; t++)
        pthread_join(helpers[t], NULL);
    return !atomic_load(&j.failed) || failed("%s: libtiff cannot read a tile", i->path);
}

int main(int argc, char **argv)
{
    const reader by_libtiff = {open_file, read_window, close_file, NULL};
    if (argc != 2) {
        fprintf(stderr, "usage: read_libtiff LIBTIFF\n");
        return 2;
    }
    if (!tiff_load(argv[1])) {
        fprintf(stderr, "%s\n", failure);
        return 1;
    }
    return reader_main(&by_libtiff);
}
