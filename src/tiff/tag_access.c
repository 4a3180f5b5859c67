/* SPDX-License-Identifier: Apache-2.0
 * Any tag of any directory, for callers who want the file's own words. */
#include "io/source.h"
#include "tiff/byte_order.h"
#include "tiff/file.h"
#include "tiff/tags.h"

tz_result tz_tag_get(const tz_file *file, uint64_t ifd_offset, uint32_t index, tz_tag *out,
                     tz_error *err)
{
    const tz_context ctx = tz_file_context(file, err);
    tz_reader reader = tz_reader_direct(&file->containers[0]);
    tz_ifd_entry entry;
    TZ_TRY(tz_ifd_read_entry(&reader, ifd_offset, index, &ctx, &entry));
    *out = (tz_tag){.tag = entry.tag,
                    .type = entry.type,
                    .count = entry.count,
                    .size = entry.size,
                    .offset = entry.offset};
    return tz_source_check(file->containers[0].source, &ctx);
}

tz_result tz_tag_read(const tz_file *file, const tz_tag *tag, void *dst, size_t size, tz_error *err)
{
    const tz_context ctx = tz_file_context(file, err);
    tz_reader reader = tz_reader_direct(&file->containers[0]);
    const tz_location location = tz_at_tag(tag->tag, tag->offset);
    const unsigned word = tz_type_word_size(tag->type);
    if (tag->size > size)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_expecting(location, tag->size, size),
                       "the buffer is too small for the tag");
    if (!tz_inside(&file->containers[0], tag->offset, tag->size))
        return tz_fail(&ctx, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED,
                       tz_expecting(location, tag->size, TZ_NONE),
                       "the tag's data reaches past the end of the file");
    if (tag->size == 0)
        return TZ_OK;
    if (word == 0) /* tz_tag_get gives no such tag */
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, location, "the tag's type is unknown");
    TZ_TRY(tz_reader_read(&reader, tag->offset, (size_t)tag->size, dst, &ctx));
    tz_to_host_order(dst, tag->size / word, word, file->containers[0].big_endian);
    return tz_source_check(file->containers[0].source, &ctx);
}
