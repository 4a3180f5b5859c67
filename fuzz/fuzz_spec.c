/* SPDX-License-Identifier: Apache-2.0
 * The specification of the input, which is a file, made into another file without pixels. That one
 * must open; and what is made of its specification must be the same bytes. The last byte of the
 * input chooses format and layout. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tiff/image/ifd_emit.h"
#include "tiff/image/image.h"

enum { MAX_TILES = 4096, BUFFER_SIZE = 64 };

typedef struct output {
    uint8_t *data;
    size_t size;
} output;

static tz_result append_bytes(void *user, uint64_t offset, const uint8_t *data, size_t size)
{
    const output *out = user;
    check(offset <= out->size && size <= out->size - offset);
    memcpy(out->data + offset, data, size);
    return TZ_OK;
}

/* All tiles are sparse. */
static void emit(output *out, const tz_image *image, unsigned choice, tz_arena *arena,
                 const tz_context *ctx)
{
    tz_image_tags tags[2] = {{0}};
    tz_emit_ifd directories[2] = {{0}};
    const size_t directory_count = image->spec.mask ? 2 : 1;
    const tz_emit_options how = {
        .bigtiff = choice & 1, .big_endian = choice & 2, .start = TZ_EMIT_HEADER_SIZE};
    uint8_t buffer[BUFFER_SIZE];
    for (size_t i = 0; i < directory_count; i++) {
        const tz_ifd_kind part = i ? TZ_IFD_MASK : TZ_IFD_IMAGE;
        const uint64_t tiles =
            i ? (uint64_t)image->tiles_across * image->tiles_down : image->tile_count;
        check(tz_image_build_tags(&tags[i], image, part, NULL, NULL, arena, ctx) == TZ_OK);
        directories[i] =
            (tz_emit_ifd){.tags = tags[i].list,
                          .tag_count = tags[i].count,
                          .strips = image->options.strips,
                          .tile_count = tiles,
                          .tile_offsets = tz_arena_array(arena, (size_t)tiles, sizeof(uint64_t)),
                          .tile_sizes = tz_arena_array(arena, (size_t)tiles, sizeof(uint32_t))};
    }
    const uint64_t size = tz_emit_size(directories, directory_count, &how);
    check(size != TZ_NO_VALUE);
    out->size = TZ_EMIT_HEADER_SIZE + (size_t)size;
    out->data = malloc(out->size);
    check(out->data != NULL);
    tz_emit_header(&how, out->data);
    check(tz_emit_directories(directories, directory_count, &how, buffer, BUFFER_SIZE, append_bytes,
                              out, ctx) == TZ_OK);
}

/* False when such an image is refused, or has too many tiles for a test. */
static bool make(output *out, const tz_image_spec *spec, unsigned choice)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    tz_arena arena = {0};
    tz_image image;
    tz_error err = {.result = TZ_OK};
    const tz_context ctx = {.name = "fuzz", .err = &err, .ifd = -1};
    options.codec.compression = TZ_COMPRESSION_NONE;
    options.big_endian = choice & 2;
    options.strips = choice & 4;
    options.interleave = choice & 8 ? TZ_INTERLEAVE_BAND : TZ_INTERLEAVE_PIXEL;
    const tz_result result = tz_image_init(&image, spec, &options, &ctx);
    check(result != TZ_ERR_INTERNAL && (result == TZ_OK || err.message[0] != '\0'));
    const bool made = result == TZ_OK && image.tile_count <= MAX_TILES;
    if (made)
        emit(out, &image, choice, &arena, &ctx);
    tz_image_deinit(&image);
    tz_arena_deinit(&arena);
    return made;
}

static tz_image_spec *spec_of(const uint8_t *data, size_t size, bool must)
{
    tz_file *file = NULL;
    tz_image_spec *spec = NULL;
    tz_error err = {.result = TZ_OK};
    const bool opened = tz_open_memory(&file, data, size, NULL, &err) == TZ_OK;
    const bool copied = opened && tz_image_spec_from_file(&spec, file, &err) == TZ_OK;
    check(copied || (!must && err.result != TZ_ERR_INTERNAL));
    tz_close(file);
    return spec;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const unsigned choice = size > 0 ? data[size - 1] : 0;
    output first = {0};
    output second = {0};
    tz_image_spec *spec = spec_of(data, size, false);
    if (spec && make(&first, spec, choice)) {
        tz_image_spec *again = spec_of(first.data, first.size, true);
        check(make(&second, again, choice));
        check(second.size == first.size && memcmp(second.data, first.data, first.size) == 0);
        tz_image_spec_free(again);
    }
    tz_image_spec_free(spec);
    free(first.data);
    free(second.data);
    return 0;
}
