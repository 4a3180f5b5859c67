/* SPDX-License-Identifier: Apache-2.0
 * The memory of a write, divided. The sizes of all allocations for pixels follow from it, and so
 * does the division of the input into tile rows. */
#ifndef TZ_WRITE_BUDGET_H
#define TZ_WRITE_BUDGET_H

#include "write/gpu/gpu_budget.h"

/* Buffers of an encoding. */
typedef struct tz_encoding_bytes {
    size_t tile;    /* before it is encoded; 0: it is made in its slot */
    size_t row;     /* before it is packed; 0: bits are not packed */
    size_t scratch; /* of storing a row */
    size_t bound;   /* of an encoded tile, at most */
} tz_encoding_bytes;

/* The encoding of the tiles of one kind. */
typedef struct tz_tile_encoding {
    const tz_encoder *encoder;
    const tz_encode_options *choice;
    /* The vendor library that encodes on a device: chunks, or whole codestreams. Both NULL: the
     * device's own kernels. */
    const tz_vendor_encode_plan *library;
    const tz_codestream_codec *codestreams;
    tz_tile_format format;
    tz_encoding_bytes bytes;
} tz_tile_encoding;

/* The kinds of tiles. Masks of overviews are encoded like the image's mask. */
enum { TZ_ENCODING_IMAGE, TZ_ENCODING_MASK, TZ_ENCODING_OVERVIEW, TZ_ENCODINGS };

typedef struct tz_budget {
    /* Without an encoder: no such tiles, or overviews are encoded like the image. */
    tz_tile_encoding encoding[TZ_ENCODINGS];
    uint64_t allowed; /* bytes: options.max_host_bytes, or the least that is needed */
    uint64_t planned; /* bytes that are held at most */
    uint64_t fixed;   /* of planned, whatever the number of threads: tables, directories */
    uint64_t worker;  /* bytes for each thread */
    size_t slot;      /* bytes of a slot with its tile */
    size_t pixel;     /* bytes of one pixel of all bands, and of its mask */
    unsigned threads;
    uint32_t slots;
    size_t overview_scratch; /* of worker, for tz_overview_make */
    uint32_t slabs;          /* 1, or 2: one is filled while the other is encoded */
    uint32_t level_slabs;    /* the same for each overview */
    uint32_t slab_rows;      /* a multiple of the tile height, or the image's height */
    uint32_t columns;        /* of tiles in a slab */
    uint32_t chunk_rows;     /* of the source; 0: any */
    tz_gpu_budget device;
} tz_budget;

/* source NULL: rows are pushed. device: makes the tiles; NULL: the CPU does. device_available:
 * bytes of device memory that can be allocated. TZ_ERR_NOMEM only for sizes that no memory has, and
 * TZ_ERR_LIMIT if the device has less than the least. */
tz_result tz_budget_make(tz_budget *out, const tz_output_pyramid *pyramid,
                         const tz_row_source *source, tz_device *device, uint64_t device_available,
                         const tz_context *ctx);

/* Bytes of host memory. */
uint64_t tz_budget_total(const tz_budget *budget, const tz_output_pyramid *pyramid);
/* Sets slab_rows to tile_rows rows of tiles, or to the whole image. */
void tz_budget_set_rows(tz_budget *budget, const tz_image *image, uint64_t tile_rows);

/* gpu_encode_codestreams.c: bytes of device and host memory that codestream libraries need. */
uint64_t tz_gpu_codestreams_device_bytes(const tz_budget *budget);
uint64_t tz_gpu_codestreams_host_bytes(const tz_budget *budget);

/* gpu_budget.c: bytes of one tile of the image, and of its mask, on a device. */
tz_gpu_part_bytes tz_gpu_tile_bytes(const tz_budget *budget, const tz_image *image, uint32_t level);
/* Plans device memory for batches of capacity tile positions; 0: of a single tile, the least. */
void tz_gpu_budget_make(tz_budget *budget, const tz_output_pyramid *pyramid, uint64_t capacity);
/* Sets the limit: at least the planned bytes, and more up to options->max_device_bytes and the
 * free memory. TZ_ERR_LIMIT if less than the plan can be allocated. */
tz_result tz_gpu_budget_allow(tz_budget *budget, const tz_output_pyramid *pyramid,
                              uint64_t device_available, const tz_context *ctx);
/* Plans again after another change of the budget; false: it exceeds the limit. */
bool tz_gpu_budget_fits(tz_budget *budget, const tz_output_pyramid *pyramid);
/* Makes slabs as high and batches as large as host and device memory allow. */
void tz_gpu_budget_grow(tz_budget *budget, const tz_output_pyramid *pyramid);
/* Bytes of host memory for the device, without slabs. */
uint64_t tz_gpu_budget_host_bytes(const tz_budget *budget, const tz_output_pyramid *pyramid);

/* Index of a tile's encoding. */
static inline unsigned tz_encoding_index(const tz_budget *budget, uint32_t level, bool is_mask)
{
    if (is_mask)
        return TZ_ENCODING_MASK;
    return level > 0 && budget->encoding[TZ_ENCODING_OVERVIEW].encoder ? TZ_ENCODING_OVERVIEW
                                                                       : TZ_ENCODING_IMAGE;
}

/* Returns the end of the tile row that begins at row; all division of the input is done here. It is
 * as many rows of tiles as a slab holds, or fewer if then a chunk of the source ends there, so that
 * no chunk is read twice. */
uint32_t tz_tile_row_end(const tz_budget *budget, const tz_image *image, uint32_t row);

/* Bytes of a slab of the image. */
uint64_t tz_slab_bytes(const tz_budget *budget, const tz_image *image);
/* Bytes of rows of a level in full width: of a slab of an overview, which holds one row of tiles,
 * or of a halo. */
uint64_t tz_rows_bytes(const tz_budget *budget, const tz_image *image, uint32_t rows);

/* Rows of a level that are kept for later rows of the next level, at most. */
uint32_t tz_halo_row_count(const tz_overview_params *next);

#endif
