/* SPDX-License-Identifier: Apache-2.0
 * From a specification to a file in memory, whose tiles are all the same zeros. */
#ifndef TESTS_SUPPORT_SPEC_FILE_H
#define TESTS_SUPPORT_SPEC_FILE_H

#include "support/emitted.h"
#include "tiff/image/image.h"

/* Memory that spec_file_make needs beside the file itself. */
typedef struct spec_tables {
    uint64_t *offsets;
    uint32_t *sizes;
} spec_tables;

static inline spec_tables spec_tables_make(uint64_t tiles, uint32_t bytes)
{
    spec_tables tables = {calloc((size_t)tiles, sizeof *tables.offsets),
                          calloc((size_t)tiles, sizeof *tables.sizes)};
    assert_non_null(tables.offsets);
    assert_non_null(tables.sizes);
    for (uint64_t i = 0; i < tiles; i++) {
        tables.offsets[i] = TZ_EMIT_HEADER_SIZE;
        tables.sizes[i] = bytes;
    }
    return tables;
}

static inline tz_emit_ifd spec_directory(const tz_image *image, const tz_image_tags *tags,
                                         uint64_t tiles, spec_tables tables)
{
    return (tz_emit_ifd){.tags = tags->list,
                         .tag_count = tags->count,
                         .strips = image->options.strips,
                         .tile_count = tiles,
                         .tile_offsets = tables.offsets,
                         .tile_sizes = tables.sizes};
}

/* An image that was made, as a file. */
static inline tz_result spec_file_emit_with(emitted *out, const tz_image *image,
                                            const tz_statistics *statistics,
                                            const tz_bytes *jpeg_tables, unsigned format,
                                            const tz_context *ctx)
{
    tz_arena arena = {0};
    tz_image_tags tags[2] = {{0}};
    const size_t parts = image->spec.mask ? 2 : 1;
    const uint64_t mask_tiles = (uint64_t)image->tiles_across * image->tiles_down;
    const uint32_t bytes = (uint32_t)tz_tile_bytes(&image->format);
    spec_tables tables = spec_tables_make(image->tile_count, bytes);
    tz_result result = TZ_OK;
    for (unsigned i = 0; i < parts && result == TZ_OK; i++)
        result = tz_image_build_tags(&tags[i], image, i ? TZ_IFD_MASK : TZ_IFD_IMAGE, statistics,
                                     jpeg_tables, &arena, ctx);
    const tz_emit_ifd directories[] = {
        spec_directory(image, &tags[0], image->tile_count, tables),
        spec_directory(image, &tags[1], mask_tiles, tables),
    };
    *out = (emitted){0};
    if (result == TZ_OK)
        result = emitted_make(out, directories, parts, format,
                              (TZ_EMIT_HEADER_SIZE + (size_t)bytes + 15) / 16 * 16, 256, ctx);
    free(tables.offsets);
    free(tables.sizes);
    tz_arena_deinit(&arena);
    return result;
}

static inline tz_result spec_file_emit(emitted *out, const tz_image *image,
                                       const tz_statistics *statistics, unsigned format,
                                       const tz_context *ctx)
{
    return spec_file_emit_with(out, image, statistics, NULL, format, ctx);
}

static inline tz_result spec_file_make(emitted *out, const tz_image_spec *spec,
                                       const tz_write_options *options, unsigned format,
                                       const tz_context *ctx)
{
    tz_image image;
    tz_write_options how = *options;
    how.big_endian = (format & TB_BIG_ENDIAN) != 0;
    *out = (emitted){0};
    tz_result result = tz_image_init(&image, spec, &how, ctx);
    if (result == TZ_OK)
        result = spec_file_emit(out, &image, NULL, format, ctx);
    tz_image_deinit(&image);
    return result;
}

/* Opens without a warning, but for that of builds that do not read metadata. */
static inline tz_file *spec_file_open(const emitted *file)
{
    tz_error err;
    tz_file *handle = NULL;
    if (tz_open_memory(&handle, file->data, file->size, NULL, &err) != TZ_OK)
        fail_msg("%s", err.message);
    const tz_info *info = tz_file_get_info(handle);
    for (uint32_t i = 0; i < info->warning_count; i++)
        if (tz_file_get_warning(handle, i)->tag != TZ_TAG_GDAL_METADATA ||
            tz_build_feature("expat"))
            fail_msg("%s", tz_file_get_warning(handle, i)->message);
    return handle;
}

#endif
