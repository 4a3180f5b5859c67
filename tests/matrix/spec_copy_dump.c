/* SPDX-License-Identifier: Apache-2.0
 * Copies all but the pixels of files, for check_spec.py: reads lines "FORMAT FROM TO" from stdin,
 * FORMAT being 1 for big-endian and 2 for BigTIFF or their sum, and prints "ok" or "error MESSAGE".
 * The copy is uncompressed, and its tiles are zeros. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "tiff/image/ifd_emit.h"
#include "tiff/image/image.h"

static tz_result write_piece(void *user, uint64_t offset, const uint8_t *data, size_t size)
{
    FILE *file = user;
    return fseek(file, (long)offset, SEEK_SET) == 0 && fwrite(data, 1, size, file) == size
               ? TZ_OK
               : TZ_ERR_IO;
}

/* Every tile is the same zeros, right after the header. */
static tz_emit_ifd directory_of(const tz_image *image, const tz_image_tags *tags, uint64_t tiles)
{
    uint64_t *offsets = malloc((size_t)tiles * sizeof *offsets);
    uint32_t *sizes = malloc((size_t)tiles * sizeof *sizes);
    if (!offsets || !sizes)
        abort();
    for (uint64_t i = 0; i < tiles; i++) {
        offsets[i] = TZ_EMIT_HEADER_SIZE;
        sizes[i] = (uint32_t)tz_tile_bytes(&image->format);
    }
    return (tz_emit_ifd){.tags = tags->list,
                         .tag_count = tags->count,
                         .strips = image->options.strips,
                         .tile_count = tiles,
                         .tile_offsets = offsets,
                         .tile_sizes = sizes};
}

static tz_result write_file(const tz_image *image, unsigned format, FILE *file, tz_arena *arena,
                            const tz_context *ctx)
{
    tz_image_tags tags;
    uint8_t header[TZ_EMIT_HEADER_SIZE];
    uint8_t buffer[4096];
    const tz_emit_options how = {
        .bigtiff = (format & 2) != 0,
        .big_endian = (format & 1) != 0,
        .start = (TZ_EMIT_HEADER_SIZE + tz_tile_bytes(&image->format) + 15) / 16 * 16};
    TZ_TRY(tz_image_build_tags(&tags, image, TZ_IFD_IMAGE, NULL, NULL, arena, ctx));
    const tz_emit_ifd directory = directory_of(image, &tags, image->tile_count);
    tz_result result =
        tz_emit_directories(&directory, 1, &how, buffer, sizeof buffer, write_piece, file, ctx);
    tz_emit_header(&how, header);
    if (result == TZ_OK)
        result = write_piece(file, 0, header, sizeof header);
    free((void *)(uintptr_t)directory.tile_offsets);
    free((void *)(uintptr_t)directory.tile_sizes);
    return result;
}

static tz_result copy_spec(const tz_image_spec *spec, unsigned format, const char *to,
                           const tz_context *ctx)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    tz_arena arena = {0};
    tz_image image;
    options.codec.compression = TZ_COMPRESSION_NONE;
    options.big_endian = (format & 1) != 0;
    tz_result result = tz_image_init(&image, spec, &options, ctx);
    FILE *file = fopen(to, "wb");
    if (!file)
        abort();
    if (result == TZ_OK)
        result = write_file(&image, format, file, &arena, ctx);
    fclose(file);
    tz_image_deinit(&image);
    tz_arena_deinit(&arena);
    return result;
}

static tz_result copy_file(unsigned format, const char *from, const char *to, tz_error *err)
{
    tz_file *file = NULL;
    tz_image_spec *spec = NULL;
    tz_limits limits;
    tz_limits_resolve(&limits, NULL);
    const tz_context ctx = {.limits = &limits, .err = err, .ifd = -1};
    TZ_TRY(tz_open(&file, from, NULL, err));
    tz_result result = tz_image_spec_from_file(&spec, file, err);
    tz_close(file);
    if (result != TZ_OK)
        return result;
    spec->mask = false;
    result = copy_spec(spec, format, to, &ctx);
    tz_image_spec_free(spec);
    return result;
}

int main(void)
{
    char line[8192];
    while (fgets(line, sizeof line, stdin)) {
        tz_error err = {.message = ""};
        char *from = strchr(line, ' ');
        char *to = from ? strchr(from + 1, ' ') : NULL;
        if (!to)
            return 2;
        *from++ = *to++ = '\0';
        to[strcspn(to, "\n")] = '\0';
        if (copy_file((unsigned)atoi(line), from, to, &err) == TZ_OK)
            puts("ok");
        else
            printf("error %s\n", err.message);
        fflush(stdout);
    }
    return 0;
}
