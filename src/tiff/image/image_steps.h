/* SPDX-License-Identifier: Apache-2.0
 * What the files named image_*.c share: the steps of tz_image_init and of tz_image_build_tags. */
#ifndef TZ_TIFF_IMAGE_IMAGE_STEPS_H
#define TZ_TIFF_IMAGE_IMAGE_STEPS_H

#include "tiff/geo/geo.h"
#include "tiff/image/image.h"

/* *out is a copy in arena of count things of size bytes; NULL when there are none. */
tz_result tz_copy_array(tz_arena *arena, const void *data, uint64_t count, size_t size,
                        const tz_context *ctx, void **out);

/* *out is a copy in the image's arena of count things of size bytes; NULL when there are none.
 * what names them where data is NULL although there are some. */
tz_result tz_image_copy_array(tz_image *image, const void *data, uint64_t count, size_t size,
                              const char *what, const tz_context *ctx, void **out);

/* The steps of tz_image_init, in this order. Each checks what it is named after, fills in defaults,
 * and replaces what the specification or the options point to by a copy. */
tz_result tz_image_resolve_type(tz_image *image, const tz_context *ctx);
tz_result tz_image_resolve_colors(tz_image *image, const tz_context *ctx);
tz_result tz_image_resolve_codec(tz_image *image, const tz_context *ctx); /* which, and predictor */
tz_result tz_image_resolve_tiles(tz_image *image, const tz_context *ctx);
tz_result tz_image_resolve_encoding(tz_image *image, const tz_context *ctx); /* how to encode */
tz_result tz_image_resolve_nodata(tz_image *image, const tz_context *ctx);
tz_result tz_image_resolve_geo(tz_image *image, const tz_context *ctx);
tz_result tz_image_resolve_metadata(tz_image *image, const tz_context *ctx);
tz_result tz_image_resolve_extra_tags(tz_image *image, const tz_context *ctx);

/* What a reader makes of the text of nodata, and of a nodata value once it is spelled; false when
 * it is no value of samples of so many bits. Integers stay what they are. */
bool tz_nodata_parse_exact(const char *text, tz_dtype dtype, uint16_t bits, tz_nodata *out);
bool tz_nodata_fit_type(const tz_nodata *given, tz_dtype dtype, uint16_t bits, tz_nodata *out);

/* Bytes of rows of a tile; TZ_NONE when that does not fit 64 bits. */
uint64_t tz_image_rows_bytes(const tz_image *image, uint64_t rows);

/* For qsort of tz_tag_value: by tag. */
int tz_tag_value_compare(const void *a, const void *b);

/* A list of tags that grows. The first failure stays in result, and what follows does nothing. */
typedef struct tz_tag_list {
    tz_tag_value *list;
    uint32_t count;
    uint32_t capacity;
    tz_arena *arena;
    const tz_context *ctx;
    tz_result result;
} tz_tag_list;
/* The data is kept by pointer. */
void tz_tag_list_add(tz_tag_list *tags, uint16_t tag, uint16_t type, uint64_t count,
                     const void *data);
/* Memory for count values of size bytes, zeroed; NULL after a failure. */
void *tz_tag_list_alloc(tz_tag_list *tags, size_t count, size_t size);

/* ModelTransformation of a transform, but with this corner. */
void tz_geo_matrix(const double *t, double x, double y, double out[TZ_MATRIX_VALUES]);

void tz_image_add_geo_tags(tz_tag_list *tags, const tz_geo *geo);
void tz_image_add_metadata_tag(tz_tag_list *tags, const tz_image *image,
                               const tz_statistics *statistics);

/* Tags that the writer makes itself, and tags that point into a file: neither are the caller's. */
bool tz_tag_is_generated(uint16_t tag);
bool tz_tag_is_pointer(uint16_t tag);

#endif
