/* SPDX-License-Identifier: Apache-2.0
 * Requests, in two stages. A read request is an item in terms of its file: the level, the pixels of
 * it, and buffers whose rows and columns run as the file's do. A planned request is one grid of
 * tiles under its window and the destination of their pixels: the item's pixels, or its mask. */
#ifndef TZ_READ_READ_REQUEST_H
#define TZ_READ_READ_REQUEST_H

#include <terrazzo/terrazzo.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/codec.h"
#include "device/caller_buffer.h"
#include "pixel/pixel.h"
#include "read/read_report.h"
#include "tiff/file.h"

/* ---- read requests ---- */

typedef struct tz_read_request {
    const tz_file *file;
    tz_layer layer;
    uint32_t level; /* with TZ_MASK_LEVEL if a mask's own samples are wanted */
    /* layer is the level's, halved this often by the lower resolutions that its tiles hold */
    uint8_t decode_reduction;
    double x0, y0, x1, y1; /* area of the whole result, in pixels of the level */
    /* size of the whole result and position of the buffer in it, as the file's rows run */
    uint32_t grid_width, grid_height, grid_column, grid_row;
    /* area of the buffer in whole pixels, and those that resampling needs around it */
    tz_window window;
    tz_window item_window; /* window of the whole item */
    bool is_block;         /* this is a part of the item, whose outcome is ready */
    bool resampled;        /* the buffer has other pixels than the level */
    const uint32_t *bands; /* NULL: 0, 1, 2, ... */
    uint32_t band_count;
    const double *scales;  /* of the caller, for each wanted band; NULL: none */
    const double *offsets; /* the same */
    tz_pixel_buffer into;  /* strides resolved, turned to the file's orientation */
    tz_pixel_buffer mask;  /* may not exist */
    tz_outcome *outcome;   /* NULL: nobody asks for it, and no tile may fail */
} tz_read_request;

/* Axes of the upright image within the stored one. */
typedef struct tz_turn {
    bool swaps;       /* its rows are the stored columns */
    bool flip_column; /* stored columns run against it */
    bool flip_row;
} tz_turn;

/* An item in terms of the level that it names; level 0 for TZ_LEVEL_AUTO. */
typedef struct tz_located_item {
    tz_turn turn;
    uint32_t width, height; /* of that level, or of its mask */
    int32_t ifd;            /* of the same */
    tz_window window;       /* in its pixels, as the file's rows run */
} tz_located_item;

/* Begins a request: level, window and bands are checked, and the request has its number of bands.
 * The item is complete: of this version of the struct. */
tz_result tz_read_request_begin(tz_read_request *out, tz_located_item *located, const tz_item *item,
                                const tz_read_options *how, const tz_context *ctx);

/* Checks the shape of a buffer for so many bands, and sets its strides if the caller gave none. */
tz_result tz_buffer_check_shape(tz_pixel_buffer *buffer, uint32_t bands, const tz_context *ctx);

/* Completes a request that has its buffers: turns them, and finds the level, its pixels and the
 * grid. into may have a shape only, and no memory. */
tz_result tz_read_request_end(tz_read_request *request, const tz_located_item *located,
                              const tz_item *item, const tz_read_options *how,
                              const tz_context *ctx);

/* Does all of that. The item is complete: of this version of the struct. Memory of CUDA and OpenCL
 * is wrapped into the list. */
tz_result tz_read_request_make(tz_read_request *out, const tz_item *item,
                               const tz_read_options *how, tz_wrapped_list *wrapped,
                               const tz_context *ctx);

/* Bytes before and from the first sample of a buffer with resolved strides; UINT64_MAX: more than
 * memory has. */
typedef struct tz_byte_extent {
    uint64_t before, after;
} tz_byte_extent;
tz_byte_extent tz_buffer_extent(const tz_pixel_buffer *buffer);

static inline bool tz_dtype_is_float(tz_dtype dtype)
{
    return dtype == TZ_DTYPE_FLOAT16 || dtype == TZ_DTYPE_FLOAT32 || dtype == TZ_DTYPE_FLOAT64;
}

/* Fails because the subject needs more memory than the named limit of tz_read_options allows. */
tz_result tz_fail_memory_limit(const tz_context *ctx, const char *subject, const char *limit,
                               uint64_t allowed, uint64_t needed);

/* Clips a window to the level; false if nothing is left. */
bool tz_window_clip(const tz_window *window, const tz_level *level, tz_window *out);

/* ---- planned requests ---- */

typedef struct tz_planned_request {
    const tz_file *file;
    uint32_t level;           /* with TZ_MASK_LEVEL for a mask */
    uint8_t decode_reduction; /* of its tiles; layer, tile and row are those after it */
    /* the first planned request of the same file, level and reduction: they share tiles */
    uint32_t layer_id;
    tz_layer layer;
    const tz_decoder *codec;
    tz_tile_format tile;   /* of a full tile */
    tz_tile_format stored; /* the same as the codec sees it */
    bool subsampled;       /* YCbCr in clumps */
    tz_row_format row;

    uint32_t x0, y0, x1, y1;   /* the window within the level */
    uint32_t tile_x0, tile_x1; /* columns of tiles it touches, the last one excluded */
    uint32_t tile_y0, tile_y1;
    uint32_t *planes;          /* stored by band: the planes that are wanted, ascending */
    uint32_t plane_count;      /* 1 when stored by pixel */
    uint32_t row_range_height; /* rows of an uncompressed tile that are read at once; else all */
    uint32_t row_ranges;       /* of one tile */
    uint64_t tile_read_count;  /* row ranges of all tiles under the window */
    int64_t column_shift, row_shift; /* buffer position = level position - shift */

    tz_pixel_buffer into;  /* strides resolved */
    tz_pixel_buffer mask;  /* may not exist */
    bool to_mask;          /* samples become 0 or 255 in every band of mask; into is not used */
    uint32_t mask_sample;  /* to_mask: the sample of a pixel that decides */
    const uint32_t *bands; /* NULL: 0, 1, 2, ... */
    uint32_t band_count;
    tz_conversion conversion;
    double *scales; /* scale and offset of each wanted band; NULL: none */
    bool same_rows; /* prepared rows are the buffer's: same samples, in the same order */
    bool straight;  /* and so are decoded ones */
    bool stream;    /* the buffer is too large to stay in the cache */

    tz_outcome *outcome;   /* NULL: nobody asks for it */
    uint64_t status_first; /* of this request's tiles in the outcome's list */
    uint32_t status_x0, status_y0, status_across, status_down; /* grid of tiles in that list */
} tz_planned_request;

typedef enum tz_request_kind {
    TZ_REQUEST_PIXELS,
    TZ_REQUEST_MASK, /* the file's own mask */
    TZ_REQUEST_ALPHA /* a band that says which pixels are valid */
} tz_request_kind;

/* The kind of request that fills the mask buffer of a read request. */
tz_request_kind tz_mask_source(const tz_read_request *request);

/* The conversion of samples on their way to the buffer; scales as in tz_planned_request. */
tz_result tz_read_request_conversion(const tz_read_request *request, const tz_read_options *how,
                                     tz_conversion *out, double **scales, tz_arena *arena,
                                     const tz_context *ctx);

/* The conversion of one band's samples; scales as in tz_planned_request. */
tz_conversion tz_conversion_of_band(const tz_conversion *how, const double *scales, uint32_t band);

/* The sample, of the buffer's type, that a boundless read has outside the level; 16 bytes. With
 * has_fill, tiles that could not be read have it too. how is the conversion of the band. */
void tz_outside_sample(const tz_conversion *how, const tz_read_options *options, uint8_t *sample);

/* shared is the first planned request of the same file, level and reduction, or NULL. */
tz_result tz_planned_request_make(tz_planned_request *out, const tz_read_request *request,
                                  tz_request_kind kind, const tz_planned_request *shared,
                                  const tz_read_options *how, tz_arena *arena,
                                  const tz_context *ctx);

/* Tiles under the window of the whole item, of its pixels or of its mask: entries in an outcome's
 * list. */
uint64_t tz_planned_request_status_count(const tz_planned_request *planned);

/* Allocates the list of an outcome for count tiles, unless it has one. */
tz_result tz_outcome_alloc_tiles(tz_outcome *outcome, uint64_t count, tz_arena *arena,
                                 const tz_context *ctx);

/* True if the list of an outcome says that a tile of the pixels could not be read. */
bool tz_outcome_has_failed(const tz_outcome *outcome, uint64_t tile);

/* Sets the outcome's number of tiles, and resets its list. */
void tz_planned_request_reset_outcome(const tz_planned_request *planned);

static inline tz_source *tz_planned_request_source(const tz_planned_request *planned)
{
    return planned->file->containers[planned->layer.tables.container].source;
}

/* The level as it is in the file. */
const tz_level *tz_planned_request_stored_level(const tz_planned_request *planned);

/* True if a tile's bytes in the file are its rows: such tiles are read in row ranges. */
bool tz_planned_request_is_raw(const tz_planned_request *planned);

#endif
