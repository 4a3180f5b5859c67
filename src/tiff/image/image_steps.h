/* SPDX-License-Identifier: Apache-2.0
 * The steps of tz_image_init and of tz_image_build_tags, which are in the files image_*.c. */
#ifndef TZ_TIFF_IMAGE_IMAGE_STEPS_H
#define TZ_TIFF_IMAGE_IMAGE_STEPS_H

#include "tiff/geo/geo.h"
#include "tiff/image/image.h"

/* Copies count elements of size bytes to arena; *out is NULL if there are none. */
tz_result tz_copy_array(tz_arena *arena, const void *data, uint64_t count, size_t size,
                        const tz_context *ctx, void **out);

/* The same to the image's arena. Fails, naming what, if data is NULL although count is not 0. */
tz_result tz_image_copy_array(tz_image *image, const void *data, uint64_t count, size_t size,
                              const char *what, const tz_context *ctx, void **out);

/* Copies an array of sized structs of the caller to count elements of size bytes. The caller's
 * elements may have another size. */
tz_result tz_copy_elements(void *out, size_t size, const void *array, uint32_t count,
                           const char *argument, const char *init, const tz_context *ctx);

/* Copies georeferencing of the caller to arena; given may be of another size, and NULL gives an
 * empty one. What it points to is not copied. */
tz_result tz_copy_geo(tz_arena *arena, const tz_geo *given, const tz_context *ctx, tz_geo **out);

/* Returns the interpretation of the pixels: TZ_PHOTOMETRIC_AUTO becomes the one that suits them. */
tz_photometric tz_spec_photometric(const tz_image_spec *spec);

/* Returns true for an item STATISTICS_... of GDAL, which describes the pixels. */
bool tz_item_is_statistics(const tz_metadata_item *item);

/* The steps of tz_image_init, in this order. Each checks its subject, fills in defaults, and
 * replaces pointers of the specification or the options by copies. */
tz_result tz_image_resolve_type(tz_image *image, const tz_context *ctx);
tz_result tz_image_resolve_colors(tz_image *image, const tz_context *ctx);
tz_result tz_image_resolve_codec(tz_image *image, const tz_context *ctx); /* which, and predictor */
tz_result tz_image_resolve_tiles(tz_image *image, const tz_context *ctx);
tz_result tz_image_resolve_encoding(tz_image *image, const tz_context *ctx); /* how to encode */
tz_result tz_image_resolve_nodata(tz_image *image, const tz_context *ctx);
tz_result tz_image_resolve_geo(tz_image *image, const tz_context *ctx);
tz_result tz_image_resolve_metadata(tz_image *image, const tz_context *ctx);
tz_result tz_image_resolve_extra_tags(tz_image *image, const tz_context *ctx);

/* Checks an item of an image of this many bands. A domain or role that is NULL becomes "". */
tz_result tz_check_metadata_item(tz_metadata_item *item, uint32_t bands, const tz_context *ctx);

/* Returns the bytes of rows of a tile; TZ_NO_VALUE if they do not fit 64 bits. */
uint64_t tz_image_rows_bytes(const tz_image *image, uint64_t rows);

/* A list of tags that grows. The first failure stays in result and turns later calls into no-ops,
 * so that callers look at it once, at the end. */
typedef struct tz_tag_list {
    tz_tag_value *list;
    uint32_t count;
    uint32_t capacity;
    tz_arena *arena;
    const tz_context *ctx;
    tz_result result;
} tz_tag_list;
/* Adds a tag. The data is kept by pointer. */
void tz_tag_list_add(tz_tag_list *tags, uint16_t tag, uint16_t type, uint64_t count,
                     const void *data);
/* Does the same with a copy of the data. */
void tz_tag_list_add_copy(tz_tag_list *tags, uint16_t tag, uint16_t type, uint64_t count,
                          const void *values);
/* Allocates count values of size bytes, zeroed; NULL after a failure. */
void *tz_tag_list_alloc(tz_tag_list *tags, size_t count, size_t size);

void tz_image_add_geo_tags(tz_tag_list *tags, const tz_geo *geo);
void tz_image_add_metadata_tag(tz_tag_list *tags, const tz_image *image,
                               const tz_statistics *statistics);

#endif
