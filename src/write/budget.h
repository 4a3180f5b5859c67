/* SPDX-License-Identifier: Apache-2.0
 * What a write may hold in memory, divided: everything that is allocated for pixels follows from
 * this. And how the input is cut into swaths, which follows from it too. */
#ifndef TZ_WRITE_BUDGET_H
#define TZ_WRITE_BUDGET_H

#include "write/gpu/gpu_budget.h"

/* How tiles of one kind, the image's or the mask's, are made. */
typedef struct tz_tile_encoding {
    const tz_encoder *encoder;
    const tz_encode_options *choice;
    const tz_vendor_encode_plan *library; /* that encodes on a device; NULL: its own kernels do, */
    const tz_codestream_codec *codestreams; /* or this one */
    tz_tile_format format;
    struct {
        size_t tile;    /* a tile before it is encoded; 0: it is made where it is delivered from */
        size_t row;     /* a row before it is packed; 0: it is packed in place */
        size_t scratch; /* what storing a row takes */
        size_t bound;   /* a tile after it is encoded, at most */
    } bytes;
} tz_tile_encoding;

/* The kinds of tiles: of the image, of its mask and those of overviews, and of overviews. */
enum { TZ_ENCODING_IMAGE, TZ_ENCODING_MASK, TZ_ENCODING_OVERVIEW, TZ_ENCODINGS };

typedef struct tz_budget {
    tz_tile_encoding encoding[TZ_ENCODINGS]; /* without an encoder: there are no such tiles, or
                                 overviews are made like the image */
    uint64_t allowed;                        /* options.buffer_bytes, or what it takes at least */
    uint64_t planned;                        /* what is held at most */
    uint64_t fixed;  /* of that, whatever the threads: tables, directories */
    uint64_t worker; /* and for each thread */
    size_t slot;     /* bytes of an encoded tile with what is known of it */
    size_t pixel;    /* bytes of one pixel of all bands, and of its mask */
    unsigned threads;
    uint32_t slots;
    size_t overview_scratch; /* of what a thread has, that tz_overview_make takes */
    uint32_t slabs;          /* 1, or 2: one is filled while the other is encoded */
    uint32_t level_slabs;    /* the same, of each overview */
    uint32_t slab_rows;      /* a multiple of the tile height, or the image's height */
    uint32_t columns;        /* of tiles that a slab is wide */
    uint32_t chunk_rows;     /* the source's own; 0: none */
    tz_gpu_budget device;
} tz_budget;

/* source NULL: rows are pushed. device: that makes the tiles; NULL: the CPU does. device_available:
 * bytes of the device that can be allocated. TZ_ERR_NOMEM only for sizes that no memory has, and
 * TZ_ERR_LIMIT where a device does not have what it takes at least. */
tz_result tz_budget_make(tz_budget *out, const tz_output_pyramid *pyramid,
                         const tz_row_source *source, tz_device *device, uint64_t device_available,
                         const tz_context *ctx);

/* All that the host holds. */
uint64_t tz_budget_total(const tz_budget *budget, const tz_output_pyramid *pyramid);
/* Slabs of so many rows of tiles, or the whole image. */
void tz_budget_set_rows(tz_budget *budget, const tz_image *image, uint64_t tile_rows);

/* gpu_encode_codestreams.c: what libraries of pictures take of the device, and of the host. */
uint64_t tz_gpu_codestreams_device_bytes(const tz_budget *budget);
uint64_t tz_gpu_codestreams_host_bytes(const tz_budget *budget);

/* gpu_budget.c. Bytes that one tile takes on a device. */
tz_gpu_part_bytes tz_gpu_tile_bytes(const tz_budget *budget, const tz_image *image, uint32_t level,
                                    bool is_mask);
/* What it holds with batches of so many places of tiles, or where that is 0 of one tile: 0 is the
 * least. */
void tz_gpu_budget_make(tz_budget *budget, const tz_output_pyramid *pyramid, uint64_t capacity);
/* How much it may hold: what is planned, and more within options->device_buffer_bytes and what is
 * free. TZ_ERR_LIMIT when that is less than what is planned. */
tz_result tz_gpu_budget_allow(tz_budget *budget, const tz_output_pyramid *pyramid,
                              uint64_t device_available, const tz_context *ctx);
/* Whether it may hold it, after something else of the budget has changed. */
bool tz_gpu_budget_fits(tz_budget *budget, const tz_output_pyramid *pyramid);
/* Slabs as high and batches as large as host and device have room for. */
void tz_gpu_budget_grow(tz_budget *budget, const tz_output_pyramid *pyramid);
/* What the host holds for it, beside slabs. */
uint64_t tz_gpu_budget_host_bytes(const tz_budget *budget, const tz_output_pyramid *pyramid);

/* How tiles of a level are made. */
static inline unsigned tz_encoding_index(const tz_budget *budget, uint32_t level, bool is_mask)
{
    if (is_mask)
        return TZ_ENCODING_MASK;
    return level > 0 && budget->encoding[TZ_ENCODING_OVERVIEW].encoder ? TZ_ENCODING_OVERVIEW
                                                                       : TZ_ENCODING_IMAGE;
}

/* The one place where input is cut: the row behind the last one of the swath that begins at row.
 * Whole rows of tiles, as many as a slab holds, and rather up to where a chunk of the source ends,
 * so that no chunk is asked for twice. */
uint32_t tz_tile_row_end(const tz_budget *budget, const tz_image *image, uint32_t row);

/* Bytes of a slab; of an overview's: a row of its tiles. */
uint64_t tz_slab_bytes(const tz_budget *budget, const tz_image *image);
uint64_t tz_overview_slab_bytes(const tz_budget *budget, const tz_image *image);

/* Rows that are kept of a level for those of the next one that are still to come, at most; and
 * their bytes. */
uint32_t tz_halo_row_count(const tz_overview_params *next);
uint64_t tz_halo_bytes(const tz_budget *budget, const tz_image *image,
                       const tz_overview_params *next);

#endif
