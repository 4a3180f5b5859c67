/* SPDX-License-Identifier: Apache-2.0 */
#include "support/tile_file.h"

#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "support/alloc_hook.h"
#include "support/plain_read.h"

#define FAIL_AT(file, line, ...)                                                                   \
    do {                                                                                           \
        print_error(__VA_ARGS__);                                                                  \
        _fail(file, line);                                                                         \
    } while (0)

bool tf_available(const tile_stream *stream)
{
    const tz_context ctx = {.ifd = -1};
    const tz_decoder *codec;
    return tz_decoder_find(stream->compression, &ctx, &codec) == TZ_OK;
}

uint8_t tf_pixel(const tile_stream *stream, uint32_t band, uint32_t row, uint32_t column)
{
    return stream->lossy ? 100 : (uint8_t)(20 * (column / 4) + 11 * (row / 2) + 50 * band);
}

tb *tf_new(unsigned format, const tile_stream *stream, uint32_t across, uint32_t down,
           void (*describe)(tb *b))
{
    tb *b = tb_new(format);
    const bool ycbcr = stream->compression == 7 && stream->bands == 3;
    const uint16_t photometric = ycbcr ? 6 : stream->bands == 3 ? 2 : 1;
    tb_image(b, &(tb_spec){.width = across * TILE,
                           .height = down * TILE,
                           .tile_width = TILE,
                           .tile_height = TILE,
                           .samples = stream->bands,
                           .photometric = photometric,
                           .size_type = format & TB_BIGTIFF ? TZ_TYPE_LONG8 : TZ_TYPE_LONG,
                           .compression = stream->compression});
    if (ycbcr)
        TB_SHORTS(b, 0, TZ_TAG_YCBCR_SUBSAMPLING, 1, 1);
    if (stream->compression == 34887)
        TB_LONGS(b, 0, TZ_TAG_LERC_PARAMETERS, 4, 0);
    if (describe)
        describe(b);
    tb_finish(b);
    for (uint64_t tile = 0; tile < (uint64_t)across * down; tile++)
        tf_put(b, tile, stream->data, stream->size);
    return b;
}

void tf_put(tb *b, uint64_t tile, const void *bytes, size_t size)
{
    const uint64_t at = b->size;
    tb_patch_bytes(b, at, bytes, size);
    tb_patch_tile(b, 0, tile, at, size);
}

tz_file *tf_open_at(const tb *b, const char *file, int line)
{
    tz_file *opened = NULL;
    tz_error err;
    if (tz_open_memory(&opened, b->data, b->size, NULL, &err) != TZ_OK)
        FAIL_AT(file, line, "%s\n", err.message);
    return opened;
}

void tf_warm_up(void)
{
    tb *b = tf_new(TB_CLASSIC, &tile_streams[STREAM_NONE], 8, 8, NULL);
    tz_file *file = tf_open(b);
    uint8_t *pixels;
    for (uint32_t threads = 0; threads < 3; threads++) {
        if (tf_read(file, (tz_window){0}, threads, 0, &pixels, NULL, NULL) != TZ_OK)
            abort();
        free(pixels);
    }
    tz_close(file);
    tb_free(b);
}

tz_result tf_read(const tz_file *file, tz_window window, uint32_t threads, uint8_t poison,
                  uint8_t **pixels, plain_report *report, tz_error *err)
{
    const tz_info *info = tz_file_get_info(file);
    if (window.width == 0)
        window = (tz_window){0, 0, info->width, info->height};
    const size_t size = (size_t)window.width * window.height * info->bands;
    uint8_t *memory = malloc(size);
    if (!memory)
        abort();
    memset(memory, poison, size);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.threads = threads;
    plain_outcome outcome = {.tiles =
                                 NULL}; /* without a list a bad tile is an error all the same */
    const plain_item item = {.file = file,
                             .window = window,
                             .into = {.data = memory,
                                      .dtype = TZ_DTYPE_UINT8,
                                      .bands = info->bands,
                                      .height = window.height,
                                      .width = window.width},
                             .outcome = &outcome};
    *pixels = memory;
    return plain_read(&item, &how, report, err);
}

static void check_pixels(const tz_file *file, tz_window window, const uint8_t *pixels,
                         const tile_stream *stream, const char *source, int line)
{
    for (uint32_t band = 0; band < tz_file_get_info(file)->bands; band++) {
        for (uint32_t row = 0; row < window.height; row++) {
            for (uint32_t column = 0; column < window.width; column++, pixels++) {
                const uint8_t wanted = tf_pixel(stream, band, (uint32_t)(window.row + row) % TILE,
                                                (uint32_t)(window.column + column) % TILE);
                if (*pixels != wanted)
                    FAIL_AT(source, line, "band %u, row %u, column %u: %u, not %u\n", band, row,
                            column, *pixels, wanted);
            }
        }
    }
}

static void check_window(const tz_file *file, tz_window window, const tile_stream *stream,
                         plain_report *report, const char *source, int line)
{
    static const uint8_t poisons[] = {0x00, 0xFF};
    for (size_t i = 0; i < 2; i++) {
        uint8_t *pixels;
        tz_error err;
        if (tf_read(file, window, (uint32_t)i + 1, poisons[i], &pixels, report, &err) != TZ_OK)
            FAIL_AT(source, line, "%s\n", err.message);
        check_pixels(file, window, pixels, stream, source, line);
        free(pixels);
    }
}

/* One read that fails, with everything released. */
static void refuse_once(const tz_file *file, uint32_t threads, tz_error *err, const char *source,
                        int line)
{
    uint8_t *pixels;
    *err = (tz_error){.result = TZ_OK};
    alloc_hook_install();
    const tz_result result =
        tf_read(file, (tz_window){0}, threads, (uint8_t)threads, &pixels, NULL, err);
    const alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    free(pixels);
    if (result == TZ_OK)
        FAIL_AT(source, line, "the read succeeded\n");
    if (result != err->result || stats.live_bytes != 0)
        FAIL_AT(source, line, "%s: result %d, %lld bytes kept\n", err->message, (int)result,
                (long long)stats.live_bytes);
}

/* The same read with a list for tiles: one failure is noted, all other tiles are right. */
static void check_noted(const tz_file *file, const tile_stream *stream, const tz_error *err,
                        const char *source, int line)
{
    const tz_info *info = tz_file_get_info(file);
    const tz_level *level = tz_file_get_level(file, 0);
    const size_t size = (size_t)info->width * info->height * info->bands;
    uint8_t *pixels = malloc(size);
    uint8_t *mask = malloc(size);
    tz_tile_status *tiles = calloc((size_t)level->tile_count, sizeof *tiles);
    plain_outcome outcome = {.tiles = tiles, .tile_room = level->tile_count};
    plain_item item = {.file = file,
                       .into = {.data = pixels,
                                .dtype = TZ_DTYPE_UINT8,
                                .bands = info->bands,
                                .height = info->height,
                                .width = info->width},
                       .outcome = &outcome};
    tz_error second;
    item.mask = item.into;
    item.mask.data = mask;
    memset(pixels, 0xA5, size);
    memset(mask, 0xA5, size);
    if (plain_read(&item, NULL, NULL, &second) != TZ_OK)
        FAIL_AT(source, line, "with a list: %s\n", second.message);
    if (outcome.tiles_failed != 1 || outcome.tile_count != level->tile_count ||
        tiles[err->tile].result != err->result || tiles[err->tile].cause != err->cause)
        FAIL_AT(source, line, "%llu of %llu tiles failed\n",
                (unsigned long long)outcome.tiles_failed, (unsigned long long)outcome.tile_count);
    for (size_t i = 0; i < size; i++) {
        const uint32_t row = (uint32_t)(i / info->width % info->height);
        const uint32_t column = (uint32_t)(i % info->width);
        const int64_t tile = (int64_t)(row / TILE) * level->tiles_across + column / TILE;
        const uint32_t band = (uint32_t)(i / info->width / info->height);
        const bool failed = tile == err->tile;
        const uint8_t wanted = failed ? 0 : tf_pixel(stream, band, row % TILE, column % TILE);
        if (pixels[i] != wanted || mask[i] != (failed ? 0 : 255))
            FAIL_AT(source, line, "with a list, row %u, column %u: %u (%u), not %u\n", row, column,
                    pixels[i], mask[i], wanted);
    }
    free(pixels);
    free(mask);
    free(tiles);
}

void tf_refuses_at(const tb *b, const tile_stream *stream, const check_defect *defect,
                   const char *source, int line)
{
    static const tz_window first = {0, 0, TILE, TILE};
    tz_file *file = tf_open_at(b, source, line);
    tz_error err, again;
    refuse_once(file, 1, &err, source, line);
    check_error_at(&err, defect, source, line);
    for (uint32_t threads = 1; threads < 4; threads++) {
        refuse_once(file, threads, &again, source, line);
        if (strcmp(err.message, again.message) != 0 || err.cause != again.cause ||
            err.tile != again.tile)
            FAIL_AT(source, line, "first: %s\nthen: %s\n", err.message, again.message);
    }
    if (defect->tile > 0) {
        check_window(file, first, stream, NULL, source, line);
        check_noted(file, stream, &err, source, line);
    }
    tz_close(file);
}

void tf_reads_at(const tb *b, const tile_stream *stream, uint32_t warnings, const char *source,
                 int line)
{
    tz_file *file = tf_open_at(b, source, line);
    const tz_info *info = tz_file_get_info(file);
    plain_report report = {0};
    check_window(file, (tz_window){0, 0, info->width, info->height}, stream, &report, source, line);
    if (report.warning_count != warnings) {
        for (uint32_t i = 0; i < report.warning_count && i < PLAIN_WARNINGS; i++)
            print_error("%s\n", report.warnings[i].message);
        FAIL_AT(source, line, "%u warnings, not %u\n", report.warning_count, warnings);
    }
    tz_close(file);
}
