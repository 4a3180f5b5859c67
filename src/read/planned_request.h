/* SPDX-License-Identifier: Apache-2.0
 * One grid of tiles and where the pixels under a window of it go: an item, or the mask of one. */
#ifndef TZ_READ_PLANNED_REQUEST_H
#define TZ_READ_PLANNED_REQUEST_H

#include "base/arena.h"
#include "codec/codec.h"
#include "pixel/pixel.h"
#include "read/read_request.h"

typedef struct tz_planned_request {
    const tz_file *file;
    uint32_t level;    /* with TZ_MASK_OF for a mask */
    uint8_t reduction; /* of its tiles; layer, tile and row are of what is then left */
    uint32_t
        layer_id; /* the first target of the same file, level and reduction: they share tiles */
    tz_layer layer;
    const tz_decoder *codec;
    tz_tile_format tile;   /* of a full tile */
    tz_tile_format stored; /* the same as the codec sees it */
    bool subsampled;       /* YCbCr in clumps */
    tz_row_format row;

    uint32_t x0, y0, x1, y1;   /* the window within the level */
    uint32_t tile_x0, tile_x1; /* columns of tiles it touches, the last one excluded */
    uint32_t tile_y0, tile_y1;
    uint32_t *planes;     /* stored by band: the different ones that are wanted, ascending */
    uint32_t plane_count; /* 1 when stored by pixel */
    uint32_t
        row_range_height;     /* uncompressed tiles are read in parts of this many rows; else all */
    uint32_t row_ranges;      /* of one tile */
    uint64_t tile_read_count; /* parts of all tiles under the window */
    int64_t column_shift, row_shift; /* buffer position = level position - shift */

    tz_buffer into;        /* strides resolved */
    tz_buffer mask;        /* may not exist */
    bool to_mask;          /* samples become 0 or 255 in every band of mask, into is not used */
    uint32_t mask_sample;  /* of a pixel, that says so */
    const uint32_t *bands; /* NULL: 0, 1, 2, ... */
    uint32_t band_count;
    tz_conversion how;
    double *scales; /* scale and offset of each wanted band; NULL: none */
    bool same_rows; /* prepared rows are the buffer's: same samples, in the same order */
    bool straight;  /* and so are decoded ones */
    bool stream;    /* the buffer is too large to stay in the cache */

    tz_outcome *outcome;   /* NULL, or without a list: a bad tile is an error */
    uint64_t status_first; /* of this target's tiles in the outcome's list */
    uint32_t status_x0, status_y0, status_across, status_down; /* grid of tiles that it covers */
} tz_planned_request;

typedef enum tz_request_kind {
    TZ_REQUEST_PIXELS,
    TZ_REQUEST_MASK, /* the file's own mask */
    TZ_REQUEST_ALPHA /* a band that says what is valid */
} tz_request_kind;

/* Which target fills the view's mask buffer. */
tz_request_kind tz_mask_source(const tz_read_request *request);

/* What happens to the samples of a view on their way to its buffer; scales as in
 * tz_planned_request. */
tz_result tz_read_request_conversion(const tz_read_request *request, const tz_read_options *how,
                                     tz_conversion *out, double **scales, tz_arena *arena,
                                     const tz_context *ctx);

/* What happens to the samples of one band; scales as in tz_planned_request. */
tz_conversion tz_conversion_of_band(const tz_conversion *how, const double *scales, uint32_t band);

/* The sample of the buffer's type that a boundless read has outside of the level; 16 bytes. how is
 * that of the band. */
void tz_outside_sample(const tz_conversion *how, const tz_read_options *options, uint8_t *sample);

/* shared is the first target of the same file, level and reduction, or NULL. */
tz_result tz_planned_request_make(tz_planned_request *out, const tz_read_request *request,
                                  tz_request_kind kind, const tz_planned_request *shared,
                                  const tz_read_options *how, tz_arena *arena,
                                  const tz_context *ctx);

/* Tiles under the view's whole window, of pixels or of the mask: places in an outcome's list. */
uint64_t tz_planned_request_status_count(const tz_planned_request *planned);

/* Say in the outcome how many tiles there are, and reset its list. */
tz_result tz_planned_request_set_outcome(const tz_planned_request *planned, const tz_context *ctx);

static inline tz_source *tz_planned_request_source(const tz_planned_request *planned)
{
    return planned->file->containers[planned->layer.tables.container].source;
}

bool tz_dtype_is_float(tz_dtype dtype);

/* The level as it is in the file. */
const tz_level *tz_planned_request_stored_level(const tz_planned_request *planned);

/* Whether a tile's data is used as it is in the file: such tiles are read in parts. */
bool tz_planned_request_is_raw(const tz_planned_request *planned);

#endif
