/* SPDX-License-Identifier: Apache-2.0
 * One image directory: its entries, checked by the tag table, become a struct. Data that a count in
 * the file makes large is not loaded: such tags stay a reference into the file. */
#ifndef TZ_TIFF_IFD_H
#define TZ_TIFF_IFD_H

#include <terrazzo/terrazzo.h>

#include "base/arena.h"
#include "base/error.h"
#include "tiff/container.h"

/* One entry as it stands in the file. offset is that of its data, inline or not. */
typedef struct tz_ifd_entry {
    uint16_t tag;
    uint16_t type;
    uint64_t count;
    uint64_t
        size; /* bytes of data; 0 for an unknown type, TZ_NO_VALUE if it does not fit 64 bits */
    uint64_t offset;
    uint64_t entry_offset;
} tz_ifd_entry;

/* A tag's data, still in the file; checked to lie inside it. count 0: absent. */
typedef struct tz_tag_ref {
    uint64_t count;
    uint64_t offset;
    uint16_t type;
} tz_tag_ref;

/* Headers of old-style JPEG (compression 6). Values of the table tags are offsets, one for each
 * sample. */
typedef struct tz_old_jpeg {
    tz_tag_ref interchange; /* the offset of a stream, or of its headers only */
    tz_tag_ref interchange_size;
    tz_tag_ref quant_tables;
    tz_tag_ref dc_tables;
    tz_tag_ref ac_tables;
    tz_tag_ref predictors; /* of lossless images, like shifts */
    tz_tag_ref shifts;
    uint16_t process; /* 1 baseline, 14 lossless */
    uint16_t restart_interval;
} tz_old_jpeg;

/* A directory, after reading. Numbers have the value of the file or the standard's default; a
 * tz_tag_ref has count 0 if its tag is missing or defective. tz_ifd_has distinguishes a default
 * from a value. The names of members are those of the tags, with `sizes` for byte counts. */
typedef struct tz_ifd {
    uint64_t offset;
    uint64_t next; /* 0: the last of its chain */
    uint32_t entry_count;
    bool next_known;     /* false: the file ends before the next pointer */
    bool tables_damaged; /* an offset or size table cannot be used */
    uint64_t seen[2];    /* one bit per row of the tag table */

    uint32_t new_subfile_type;
    uint16_t subfile_type;
    uint32_t width;
    uint32_t height;
    uint32_t rows_per_strip;
    uint32_t tile_width;
    uint32_t tile_height;
    uint16_t compression;
    uint16_t photometric;
    uint16_t fill_order;
    uint16_t orientation;
    uint16_t samples;
    uint16_t planar;
    uint16_t predictor;
    uint16_t bits;          /* of the first sample */
    uint16_t sample_format; /* of the first sample */
    bool mixed_samples;     /* samples differ in depth or format */
    uint16_t ink_count;
    uint32_t t4_options;
    uint32_t t6_options;

    tz_tag_ref bits_per_sample;
    tz_tag_ref sample_formats;
    tz_tag_ref strip_offsets;
    tz_tag_ref strip_sizes;
    tz_tag_ref tile_offsets;
    tz_tag_ref tile_sizes;
    tz_tag_ref sub_ifds;
    tz_tag_ref color_map;
    tz_tag_ref extra_samples;
    tz_tag_ref ink_names;
    tz_tag_ref subsampling;
    tz_tag_ref jpeg_tables;
    tz_old_jpeg old_jpeg;
    tz_tag_ref lerc;
    tz_tag_ref exif;
    tz_tag_ref gps;
    tz_tag_ref icc;
    tz_tag_ref xmp;
    tz_tag_ref pixel_scale;
    tz_tag_ref tiepoints;
    tz_tag_ref transformation;
    tz_tag_ref geo_keys;
    tz_tag_ref geo_doubles;
    tz_tag_ref geo_ascii;
    tz_tag_ref rpc;
    tz_tag_ref metadata;
    tz_tag_ref nodata;
} tz_ifd;

/* Reads the directory at offset. ctx->ifd is its number in messages. After a failure ifd->next is
 * valid if ifd->next_known is set. */
tz_result tz_ifd_read(tz_ifd *ifd, tz_reader *reader, uint64_t offset, const tz_context *ctx);

/* Read the number of entries, and the entry with an index, of the directory at offset. */
tz_result tz_ifd_read_entry_count(tz_reader *reader, uint64_t offset, const tz_context *ctx,
                                  uint64_t *count);
tz_result tz_ifd_read_entry(tz_reader *reader, uint64_t offset, uint64_t index,
                            const tz_context *ctx, tz_ifd_entry *out);

/* Reads all entries of the directory at offset into arena; *end is one past its last byte. */
tz_result tz_ifd_read_entries(tz_reader *reader, uint64_t offset, tz_arena *arena,
                              const tz_context *ctx, tz_ifd_entry **out, uint32_t *count,
                              uint64_t *end);

/* Parses the bytes of an entry in the container's form. */
void tz_ifd_entry_parse(const tz_container *container, const uint8_t *bytes, uint64_t entry_offset,
                        tz_ifd_entry *out);

/* True if a tag that tz_ifd holds was present, also if it was skipped as defective. */
bool tz_ifd_has(const tz_ifd *ifd, uint16_t tag);
bool tz_ifd_is_tiled(const tz_ifd *ifd);

/* Reads one number of an integer-valued tag, of any integer type; a negative one is an error. */
tz_result tz_tag_ref_integer(tz_reader *reader, const tz_tag_ref *value, uint16_t tag,
                             uint64_t index, const tz_context *ctx, uint64_t *out);

/* Reads the integer at p, of this type; false if it is negative. */
bool tz_tag_integer_at(const uint8_t *p, uint16_t type, bool big_endian, uint64_t *out);

#endif
