/* SPDX-License-Identifier: Apache-2.0
 * One image directory:
 *
 *  classic TIFF                                  BigTIFF
 *  +---------+----------------------+------+     +---------+----------------------+------+
 *  | count 2 | count x 12-byte entry| next |     | count 8 | count x 20-byte entry| next |
 *  +---------+----------------------+  4   +     +---------+----------------------+  8   +
 *  entry: tag 2, type 2, count 4, value 4        entry: tag 2, type 2, count 8, value 8
 *
 * A value that fits the last field of its entry stands there; otherwise the field is its offset.
 *
 * tz_ifd_read passes every entry through the tag table (tags.c): its type, its count and the extent
 * of its data are checked, and a number, or a reference to the data, goes into the member of tz_ifd
 * that the row names. Data that a count in the file makes large is not loaded here. A defect of a
 * structural tag is an error of the directory; any other defect is a warning, and the member keeps
 * its default. BitsPerSample and SampleFormat have a value for each sample and are read last. */
#include "tiff/ifd.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "codec/codec.h"
#include "tiff/byte_order.h"
#include "tiff/tags.h"

/* ---- the tag table ---- */

/* Returns the number of a row, which is that of its bit in tz_ifd.seen. */
static size_t tag_row_index(const tz_tag_row *row)
{
    size_t count;
    return (size_t)(row - tz_tag_rows(&count));
}

static bool is_seen(const tz_ifd *ifd, const tz_tag_row *row)
{
    const size_t index = tag_row_index(row);
    return ifd->seen[index / 64] >> index % 64 & 1;
}

bool tz_ifd_has(const tz_ifd *ifd, uint16_t tag)
{
    const tz_tag_row *row = tz_tag_find(tag);
    return row && is_seen(ifd, row);
}

/* Any tag of tiles makes an image tiled: a writer may have left out one of them. */
bool tz_ifd_is_tiled(const tz_ifd *ifd)
{
    return tz_ifd_has(ifd, TZ_TAG_TILE_WIDTH) || tz_ifd_has(ifd, TZ_TAG_TILE_LENGTH) ||
           tz_ifd_has(ifd, TZ_TAG_TILE_OFFSETS);
}

/* ---- entries ---- */

/* Reads an offset, or a number of the same width: 32 bits in classic TIFF, 64 in BigTIFF. */
static uint64_t read_offset_field(const tz_container *container, const uint8_t *p)
{
    return container->bigtiff ? tz_read_endian_u64(p, container->big_endian)
                              : tz_read_endian_u32(p, container->big_endian);
}

void tz_ifd_entry_parse(const tz_container *container, const uint8_t *bytes, uint64_t entry_offset,
                        tz_ifd_entry *out)
{
    const unsigned capacity = tz_offset_size(container);
    const unsigned field = tz_ifd_entry_size(container) - capacity;
    out->tag = tz_read_endian_u16(bytes, container->big_endian);
    out->type = tz_read_endian_u16(bytes + 2, container->big_endian);
    out->count = read_offset_field(container, bytes + 4);
    if (!tz_mul(out->count, tz_type_size(out->type), &out->size))
        out->size = TZ_NO_VALUE;
    out->entry_offset = entry_offset;
    out->offset =
        out->size <= capacity ? entry_offset + field : read_offset_field(container, bytes + field);
}

/* Trusts nothing: the offset must be outside the header, the number within the limit, and all
 * entries inside the file. Reads of single entries need no further checks then. */
tz_result tz_ifd_read_entry_count(tz_reader *reader, uint64_t offset, const tz_context *ctx,
                                  uint64_t *count)
{
    const tz_container *container = reader->container;
    const unsigned head = tz_ifd_entry_count_size(container);
    uint8_t bytes[8];
    if (offset < tz_header_size(container) || !tz_inside(container, offset, head))
        return TZ_FAIL_IFD(ctx, tz_expecting(tz_at_offset(offset), container->size, offset),
                           "directory offset %s",
                           offset < tz_header_size(container) ? "lies inside the header"
                                                              : "is beyond the end of the file");
    TZ_TRY(tz_reader_read(reader, offset, head, bytes, ctx));
    const uint64_t entries = container->bigtiff ? tz_read_endian_u64(bytes, container->big_endian)
                                                : tz_read_endian_u16(bytes, container->big_endian);
    if (entries == 0)
        return TZ_FAIL_IFD(ctx, tz_expecting(tz_at_offset(offset), 1, 0),
                           "directory has no entries");
    TZ_TRY(tz_check_limit(ctx, offsetof(tz_limits, max_ifd_entries), tz_at_offset(offset), entries,
                          "entries in a directory"));
    uint64_t size = 0;
    if (!tz_mul(entries, tz_ifd_entry_size(container), &size) ||
        !tz_inside(container, offset + head, size))
        return TZ_FAIL_TRUNCATED(
            ctx,
            tz_expecting(tz_at_offset(offset), entries,
                         (container->size - offset - head) / tz_ifd_entry_size(container)),
            "the file ends within the entries of a directory");
    *count = entries;
    return TZ_OK;
}

static tz_result read_ifd_entry(tz_reader *reader, uint64_t entry_offset, const tz_context *ctx,
                                tz_ifd_entry *out)
{
    uint8_t bytes[20];
    TZ_TRY(tz_reader_read(reader, entry_offset, tz_ifd_entry_size(reader->container), bytes, ctx));
    tz_ifd_entry_parse(reader->container, bytes, entry_offset, out);
    return TZ_OK;
}

tz_result tz_ifd_read_entry(tz_reader *reader, uint64_t offset, uint64_t index,
                            const tz_context *ctx, tz_ifd_entry *out)
{
    uint64_t count = 0;
    TZ_TRY(tz_ifd_read_entry_count(reader, offset, ctx, &count));
    if (index >= count)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_at_offset(offset), count, index),
                       "the directory has no such entry");
    return read_ifd_entry(reader,
                          offset + tz_ifd_entry_count_size(reader->container) +
                              index * tz_ifd_entry_size(reader->container),
                          ctx, out);
}

/* Reads all entries with few reads, for callers who look at every one of them (validate). */
tz_result tz_ifd_read_entries(tz_reader *reader, uint64_t offset, tz_arena *arena,
                              const tz_context *ctx, tz_ifd_entry **out, uint32_t *count,
                              uint64_t *end)
{
    const tz_container *container = reader->container;
    const unsigned size = tz_ifd_entry_size(container);
    const uint64_t first = offset + tz_ifd_entry_count_size(container);
    uint64_t entries = 0;
    TZ_TRY(tz_ifd_read_entry_count(reader, offset, ctx, &entries));
    if (entries > UINT32_MAX) /* only without a limit */
        return tz_fail(ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT, tz_at_offset(offset),
                       "more entries than can be counted");
    *out = tz_arena_array(arena, (size_t)entries, sizeof **out);
    if (!*out)
        return tz_fail_nomem(ctx, entries * sizeof **out);
    for (uint64_t i = 0; i < entries;) {
        uint8_t bytes[4000]; /* whole entries of either size */
        const uint64_t fit = sizeof bytes / size;
        const uint64_t some = tz_min(entries - i, fit);
        TZ_TRY(tz_reader_read(reader, first + i * size, (size_t)(some * size), bytes, ctx));
        for (uint64_t k = 0; k < some; k++, i++)
            tz_ifd_entry_parse(container, bytes + k * size, first + i * size, &(*out)[i]);
    }
    *count = (uint32_t)entries;
    *end = first + entries * size + tz_offset_size(container);
    return TZ_OK;
}

/* ---- integers ---- */

/* Widens an integer to 64 bits. Signed types are accepted for numbers that are not negative. */
bool tz_tag_integer_at(const uint8_t *p, uint16_t type, bool big_endian, uint64_t *out)
{
    switch (tz_type_size(type)) {
    case 1:
        *out = p[0];
        break;
    case 2:
        *out = tz_read_endian_u16(p, big_endian);
        break;
    case 4:
        *out = tz_read_endian_u32(p, big_endian);
        break;
    default:
        *out = tz_read_endian_u64(p, big_endian);
        break;
    }
    const unsigned sign = tz_type_size(type) * 8 - 1;
    return !((TZ_TYPES_SIGNED & TZ_TYPE_BIT(type)) && (*out >> sign & 1));
}

tz_result tz_tag_ref_integer(tz_reader *reader, const tz_tag_ref *value, uint16_t tag,
                             uint64_t index, const tz_context *ctx, uint64_t *out)
{
    uint8_t bytes[8];
    const unsigned width = tz_type_size(value->type);
    const uint64_t offset = value->offset + index * width;
    TZ_TRY(tz_reader_read(reader, offset, width, bytes, ctx));
    if (!tz_tag_integer_at(bytes, value->type, reader->container->big_endian, out))
        return TZ_FAIL_TAG(ctx, tz_at_tag(tag, offset), "value is negative");
    return TZ_OK;
}

/* ---- one entry by the table ---- */

/* Called only for a message: most entries are in order. */
static tz_location at_entry(const tz_ifd_entry *entry)
{
    return tz_at_tag(entry->tag, entry->entry_offset);
}

/* Checks the type and the number of values. The message names the type that the standard asks for,
 * not all that are accepted. */
static tz_result check_entry_type(const tz_tag_row *row, const tz_ifd_entry *entry,
                                  const tz_context *ctx)
{
    if (entry->type >= 32 || !(row->types & TZ_TYPE_BIT(entry->type))) {
        const uint16_t usual = tz_tag_usual_type(row);
        const char *name = tz_tag_type_name(entry->type);
        const char *expected = "SHORT or LONG";
        if (row->types == TZ_TYPES_SHORT_ONLY || usual == TZ_TYPE_DOUBLE || usual == TZ_TYPE_ASCII)
            expected = tz_tag_type_name(usual);
        else if (usual == TZ_TYPE_UNDEFINED)
            expected = "BYTE or UNDEFINED";
        return TZ_FAIL_TAG(ctx, tz_expecting(at_entry(entry), usual, entry->type),
                           "type is %s (%u), expected %s", name ? name : "an unknown type",
                           entry->type, expected);
    }
    if (entry->count < row->min_count)
        return TZ_FAIL_TAG(ctx, tz_expecting(at_entry(entry), row->min_count, entry->count),
                           "too few values");
    if (row->max_count && entry->count > row->max_count)
        return TZ_FAIL_TAG(ctx, tz_expecting(at_entry(entry), row->max_count, entry->count),
                           "too many values");
    return TZ_OK;
}

/* Checks that the data lies in the file, outside the header, and within the limit of a tag. Tile
 * tables have no limit, because they are never loaded as a whole. */
static tz_result check_entry_extent(const tz_tag_row *row, const tz_ifd_entry *entry,
                                    tz_reader *reader, const tz_context *ctx)
{
    if (!(row->flags & TZ_TAG_TABLE) && entry->size > ctx->limits->max_tag_bytes)
        return tz_check_limit(ctx, offsetof(tz_limits, max_tag_bytes), at_entry(entry), entry->size,
                              "bytes in one tag");
    if (!tz_inside(reader->container, entry->offset, entry->size))
        return TZ_FAIL_TRUNCATED(ctx,
                                 tz_expecting(at_entry(entry), entry->size,
                                              entry->offset < reader->container->size
                                                  ? reader->container->size - entry->offset
                                                  : 0),
                                 "data at byte %" PRIu64 " reaches past the end of the file",
                                 entry->offset);
    if (entry->offset < tz_header_size(reader->container))
        return TZ_FAIL_TAG(
            ctx, tz_expecting(at_entry(entry), tz_header_size(reader->container), entry->offset),
            "data lies inside the file header");
    return TZ_OK;
}

/* Checks an entry, and stores its number, or a reference to its data, in the member of tz_ifd that
 * its row names. */
static tz_result store_entry(tz_ifd *ifd, const tz_tag_row *row, const tz_ifd_entry *entry,
                             tz_reader *reader, const tz_context *ctx)
{
    const tz_tag_ref value = {.count = entry->count, .offset = entry->offset, .type = entry->type};
    const uint64_t max_value = row->field == TZ_FIELD_U16 ? UINT16_MAX : UINT32_MAX;
    void *member = (char *)ifd + row->offset;
    uint64_t number = 0;
    TZ_TRY(check_entry_type(row, entry, ctx));
    TZ_TRY(check_entry_extent(row, entry, reader, ctx));
    if (row->field == TZ_FIELD_REF) {
        memcpy(member, &value, sizeof value);
        return TZ_OK;
    }
    TZ_TRY(tz_tag_ref_integer(reader, &value, entry->tag, 0, ctx, &number));
    if (number > max_value)
        return TZ_FAIL_TAG(ctx, tz_expecting(at_entry(entry), max_value, number),
                           "value is too large");
    if (TZ_TYPES_SIGNED & TZ_TYPE_BIT(entry->type))
        TZ_TRY(TZ_WARN_TAG(ctx, tz_expecting(at_entry(entry), TZ_TYPE_LONG, entry->type),
                           "type is signed"));
    if (entry->count > 1)
        TZ_TRY(TZ_WARN_TAG(ctx, tz_expecting(at_entry(entry), 1, entry->count),
                           "repeated for every sample; the first value counts"));
    const uint16_t narrow = (uint16_t)number;
    const uint32_t wide = (uint32_t)number;
    if (row->field == TZ_FIELD_U16)
        memcpy(member, &narrow, sizeof narrow);
    else
        memcpy(member, &wide, sizeof wide);
    return TZ_OK;
}

/* Reads one entry; previous is the tag before it. A defect of a structural tag is an error, that of
 * another tag a warning, and its member keeps the default. If a tag occurs twice, the first counts,
 * as in libtiff and tifffile; of tags without a member only neighbours are compared. */
static tz_result read_tag(tz_ifd *ifd, const tz_ifd_entry *entry, uint32_t previous,
                          tz_reader *reader, const tz_context *ctx)
{
    static const tz_tag_row unknown = {.field = TZ_FIELD_NONE};
    const tz_tag_row *found = tz_tag_find(entry->tag);
    const tz_tag_row *row = found && found->field != TZ_FIELD_NONE ? found : &unknown;
    if (row == &unknown ? entry->tag == previous : is_seen(ifd, row))
        return TZ_WARN_TAG(ctx, at_entry(entry), "duplicate tag; the first counts");
    if (row == &unknown && tz_type_size(entry->type) == 0)
        return TZ_WARN_TAG(ctx, tz_expecting(at_entry(entry), TZ_NO_VALUE, entry->type),
                           "unknown field type; the tag is skipped");
    if (row != &unknown) {
        const size_t index = tag_row_index(row);
        ifd->seen[index / 64] |= UINT64_C(1) << index % 64;
    }
    if (row->flags & TZ_TAG_STRUCTURAL)
        return store_entry(ifd, row, entry, reader, ctx);
    tz_error failed;
    const tz_context quiet = tz_quiet_context(ctx, &failed);
    const tz_result result = row == &unknown ? check_entry_extent(row, entry, reader, &quiet)
                                             : store_entry(ifd, row, entry, reader, &quiet);
    if (result == TZ_OK)
        return TZ_OK;
    if (row->flags & TZ_TAG_TABLE)
        ifd->tables_damaged = true;
    return tz_warn_from_error(ctx, &failed, "defective tag");
}

/* ---- the directory ---- */

static tz_result read_ifd_entries(tz_ifd *ifd, tz_reader *reader, uint64_t first,
                                  const tz_context *ctx)
{
    uint32_t previous = UINT32_MAX; /* no tag */
    bool unsorted = false;
    for (uint32_t i = 0; i < ifd->entry_count; i++) {
        tz_ifd_entry entry;
        TZ_TRY(read_ifd_entry(reader, first + (uint64_t)i * tz_ifd_entry_size(reader->container),
                              ctx, &entry));
        if (previous != UINT32_MAX && entry.tag < previous && !unsorted) {
            unsorted = true; /* one warning is enough */
            TZ_TRY(TZ_WARN_IFD(ctx, at_entry(&entry), "tags are not in ascending order"));
        }
        TZ_TRY(read_tag(ifd, &entry, previous, reader, ctx));
        previous = entry.tag;
    }
    return TZ_OK;
}

/* Reads one number per sample: the first counts, the others must agree. Many directories that share
 * one long array would each read it, so that the bytes of all of them together are bounded. */
static tz_result read_per_sample(tz_ifd *ifd, tz_reader *reader, const tz_tag_ref *value,
                                 uint16_t tag, uint16_t *first, const tz_context *ctx)
{
    const tz_location location = tz_at_tag(tag, value->offset);
    if (value->count == 0)
        return TZ_OK;
    if (value->count != ifd->samples)
        TZ_TRY(TZ_WARN_TAG(ctx, tz_expecting(location, ifd->samples, value->count),
                           "as many values expected as there are samples"));
    const uint64_t count = tz_min(value->count, ifd->samples);
    const uint64_t max_bytes = 4 * reader->container->size; /* some sharing is harmless */
    reader->sample_bytes += count * tz_type_size(value->type);
    if (reader->sample_bytes > max_bytes)
        return TZ_FAIL_TAG(ctx, tz_expecting(location, max_bytes, reader->sample_bytes),
                           "the directories share their data and would be larger than the file");
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = 0;
        TZ_TRY(tz_tag_ref_integer(reader, value, tag, i, ctx, &number));
        if (number > UINT16_MAX)
            return TZ_FAIL_TAG(ctx, tz_expecting(location, UINT16_MAX, number),
                               "value is too large");
        if (i == 0)
            *first = (uint16_t)number;
        else if (number != *first)
            ifd->mixed_samples = true;
    }
    return TZ_OK;
}

/* Checks the numbers without which the image has no pixels. */
static tz_result check_required_values(const tz_ifd *ifd, const tz_context *ctx)
{
    const bool tiled = tz_ifd_is_tiled(ifd);
    const struct {
        uint16_t tag;
        uint32_t value;
        bool good;
    } checks[] = {
        {TZ_TAG_IMAGE_WIDTH, ifd->width, ifd->width > 0},
        {TZ_TAG_IMAGE_LENGTH, ifd->height, ifd->height > 0},
        {TZ_TAG_SAMPLES_PER_PIXEL, ifd->samples, ifd->samples > 0},
        {TZ_TAG_PLANAR, ifd->planar,
         ifd->planar == TZ_PLANAR_CONTIG || ifd->planar == TZ_PLANAR_SEPARATE},
        {TZ_TAG_TILE_WIDTH, ifd->tile_width, !tiled || ifd->tile_width > 0},
        {TZ_TAG_TILE_LENGTH, ifd->tile_height, !tiled || ifd->tile_height > 0},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (!checks[i].good)
            return TZ_FAIL_TAG(
                ctx,
                tz_expecting(tz_at_tag(checks[i].tag, ifd->offset), TZ_NO_VALUE, checks[i].value),
                tz_ifd_has(ifd, checks[i].tag) ? "impossible value" : "required tag is missing");
    return TZ_OK;
}

/* Writers of old-style JPEG left tags out, or declared YCbCr as RGB. The values are those that
 * libtiff assumes. */
static tz_result complete_old_jpeg_tags(tz_ifd *ifd, const tz_context *ctx)
{
    if (!tz_ifd_has(ifd, TZ_TAG_PHOTOMETRIC) || ifd->photometric == TZ_PHOTOMETRIC_RGB) {
        const uint16_t found = ifd->photometric;
        ifd->photometric = TZ_PHOTOMETRIC_YCBCR;
        TZ_TRY(TZ_WARN_TAG(
            ctx,
            tz_expecting(tz_at_tag(TZ_TAG_PHOTOMETRIC, ifd->offset), TZ_PHOTOMETRIC_YCBCR, found),
            "the colours of old-style JPEG are taken as YCbCr"));
    }
    if (!tz_ifd_has(ifd, TZ_TAG_BITS_PER_SAMPLE)) {
        ifd->bits = 8;
        TZ_TRY(TZ_WARN_TAG(
            ctx, tz_expecting(tz_at_tag(TZ_TAG_BITS_PER_SAMPLE, ifd->offset), 8, TZ_NO_VALUE),
            "missing; old-style JPEG is taken as 8 bits"));
    }
    if (!tz_ifd_has(ifd, TZ_TAG_SAMPLES_PER_PIXEL)) {
        ifd->samples = ifd->photometric == TZ_PHOTOMETRIC_YCBCR ? 3 : 1;
        TZ_TRY(TZ_WARN_TAG(ctx,
                           tz_expecting(tz_at_tag(TZ_TAG_SAMPLES_PER_PIXEL, ifd->offset),
                                        ifd->samples, TZ_NO_VALUE),
                           "missing; taken from the colours"));
    }
    return TZ_OK;
}

tz_result tz_ifd_read(tz_ifd *ifd, tz_reader *reader, uint64_t offset, const tz_context *ctx)
{
    const tz_container *container = reader->container;
    const unsigned width = tz_offset_size(container);
    uint64_t count = 0;
    uint8_t bytes[8];
    /* The defaults of TIFF 6.0; those of old-style JPEG follow below. */
    *ifd = (tz_ifd){.offset = offset,
                    .rows_per_strip = UINT32_MAX,
                    .compression = TZ_COMPRESSION_NONE,
                    .photometric = TZ_PHOTOMETRIC_MIN_IS_BLACK,
                    .fill_order = TZ_FILL_ORDER_HIGH_FIRST,
                    .orientation = 1,
                    .samples = 1,
                    .planar = TZ_PLANAR_CONTIG,
                    .predictor = TZ_PREDICTOR_NONE,
                    .bits = 1,
                    .sample_format = TZ_SAMPLE_FORMAT_UINT};
    TZ_TRY(tz_ifd_read_entry_count(reader, offset, ctx, &count));
    const uint64_t capacity = container->size / tz_ifd_entry_size(container);
    reader->entries += count;
    if (reader->entries > capacity)
        return TZ_FAIL_IFD(
            ctx, tz_expecting(tz_at_offset(offset), capacity, reader->entries),
            "the directories overlap and have more entries than the file has room for");
    ifd->entry_count = (uint32_t)count;
    const uint64_t first = offset + tz_ifd_entry_count_size(container);
    const uint64_t end = first + count * tz_ifd_entry_size(container);
    /* The next offset is read first, so that a defective directory does not end the chain. */
    if (tz_inside(container, end, width)) {
        TZ_TRY(tz_reader_read(reader, end, width, bytes, ctx));
        ifd->next = read_offset_field(container, bytes);
        ifd->next_known = true;
    } else {
        TZ_TRY(tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED,
                       tz_expecting(tz_at_offset(end), width, container->size - end),
                       "the file ends before the offset of the next directory"));
    }
    if (offset % 2 != 0)
        TZ_TRY(TZ_WARN_IFD(ctx, tz_at_offset(offset), "directory offset is odd"));
    TZ_TRY(read_ifd_entries(ifd, reader, first, ctx));
    if (ifd->compression == TZ_COMPRESSION_OLD_JPEG)
        TZ_TRY(complete_old_jpeg_tags(ifd, ctx));
    TZ_TRY(check_required_values(ifd, ctx));
    TZ_TRY(read_per_sample(ifd, reader, &ifd->bits_per_sample, TZ_TAG_BITS_PER_SAMPLE, &ifd->bits,
                           ctx));
    return read_per_sample(ifd, reader, &ifd->sample_formats, TZ_TAG_SAMPLE_FORMAT,
                           &ifd->sample_format, ctx);
}
