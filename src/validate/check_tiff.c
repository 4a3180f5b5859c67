/* SPDX-License-Identifier: Apache-2.0
 * TIFF 6.0 and BigTIFF. A failure means that a part of the file cannot be read or is in doubt; a
 * warning, that the file does not follow the letter of the format, but readers cope with it. Many
 * rows have no code of their own: opening has found the defects, and open_warnings.c assigns its
 * warnings to them. The others look at the entries of the directories that validate.c has read. */
#include "io/source.h"
#include "tiff/byte_order.h"
#include "tiff/tags.h"
#include "validate/checker.h"

enum { TAG_X_RESOLUTION = 282, TAG_Y_RESOLUTION = 283, TAG_DATE_TIME = 306 };

/* ---- files that could not be opened ---- */

static bool is_header_error(const tz_error *err)
{
    return err->cause == TZ_CAUSE_NOT_TIFF || err->cause == TZ_CAUSE_HEADER ||
           (err->cause == TZ_CAUSE_TRUNCATED && err->ifd < 0);
}

static tz_result check_tiff_header(tz_checker *checker)
{
    if (checker->open_error && is_header_error(checker->open_error))
        tz_checker_add_finding(checker, TZ_CHECK_FAIL, checker->open_error);
    return TZ_OK;
}

static tz_result check_file_opens(tz_checker *checker)
{
    if (checker->open_error && is_header_error(checker->open_error))
        return tz_checker_skip(checker, "the file is not a TIFF");
    if (checker->open_error)
        tz_checker_add_finding(checker, TZ_CHECK_FAIL, checker->open_error);
    return TZ_OK;
}

/* ---- directories ---- */

typedef void (*entry_checker)(tz_checker *checker, const tz_checked_ifd *directory,
                              const tz_ifd_entry *entry);

static void check_each_entry(tz_checker *checker, entry_checker check)
{
    for (uint32_t i = 0; i < tz_checker_layer_count(checker); i++) {
        const tz_checked_ifd *directory = &checker->directories[i];
        tz_layer layer;
        uint32_t level;
        if (!tz_checker_own_layer(checker, i, &layer, &level))
            continue;
        for (uint32_t k = 0; k < directory->count; k++)
            check(checker, directory, &directory->entries[k]);
    }
}

static bool is_data_outside_ifd(const tz_checked_ifd *directory, const tz_ifd_entry *entry)
{
    return entry->size > 0 && (entry->offset < directory->start || entry->offset >= directory->end);
}

static void check_even_offset(tz_checker *checker, const tz_checked_ifd *directory,
                              const tz_ifd_entry *entry)
{
    const tz_container *file = &checker->file->containers[0];
    if (is_data_outside_ifd(directory, entry) && tz_inside(file, entry->offset, entry->size) &&
        entry->offset % 2 != 0)
        TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_TAG,
                       tz_at_tag(entry->tag, entry->offset),
                       "the data of the tag starts at an odd offset");
}

static tz_result check_even_offsets(tz_checker *checker)
{
    check_each_entry(checker, check_even_offset);
    return tz_checker_add_open_warnings(checker);
}

/* Resolutions are fractions, whose denominator must not be 0. */
static tz_result check_resolution_fractions(tz_checker *checker, const tz_checked_ifd *directory)
{
    static const uint16_t tags[] = {TAG_X_RESOLUTION, TAG_Y_RESOLUTION};
    const tz_container *file = &checker->file->containers[0];
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        const tz_ifd_entry *entry = tz_checked_ifd_find(directory, tags[i]);
        uint8_t bytes[8];
        if (!entry || entry->type != TZ_TYPE_RATIONAL || entry->count != 1 ||
            !tz_inside(file, entry->offset, sizeof bytes))
            continue;
        TZ_TRY(tz_source_read(file->source, entry->offset, sizeof bytes, bytes, &checker->ctx));
        if (tz_read_endian_u32(bytes + 4, file->big_endian) == 0)
            TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_TAG,
                           tz_at_tag(entry->tag, entry->offset),
                           "a fraction with the denominator 0");
    }
    return TZ_OK;
}

static tz_result check_tag_values(tz_checker *checker)
{
    const tz_info *info = checker->info;
    for (uint32_t i = 0; i < tz_checker_layer_count(checker); i++) {
        tz_layer layer;
        uint32_t level;
        if (tz_checker_own_layer(checker, i, &layer, &level))
            TZ_TRY(check_resolution_fractions(checker, &checker->directories[i]));
    }
    checker->ctx.ifd = info->levels[0].ifd;
    if (info->orientation < 1 || info->orientation > 8)
        TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_TAG,
                       tz_expecting(tz_at_tag(TZ_TAG_ORIENTATION, info->levels[0].ifd_offset),
                                    TZ_NONE, info->orientation),
                       "the orientation is not one of 1 to 8");
    return tz_checker_add_open_warnings(checker);
}

static tz_result check_required_tags(tz_checker *checker)
{
    size_t row_count;
    const tz_tag_row *rows = tz_tag_rows(&row_count);
    for (uint32_t i = 0; i < tz_checker_layer_count(checker); i++) {
        tz_layer layer;
        uint32_t level;
        if (!tz_checker_own_layer(checker, i, &layer, &level))
            continue;
        const unsigned required =
            TZ_TAG_REQUIRED | (layer.shape.tiled ? TZ_TAG_REQUIRED_TILES : TZ_TAG_REQUIRED_STRIPS);
        for (size_t k = 0; k < row_count; k++)
            if ((rows[k].flags & required) &&
                !tz_checked_ifd_find(&checker->directories[i], rows[k].tag))
                TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_TAG,
                               tz_at_tag(rows[k].tag, layer.shape.ifd_offset),
                               "required tag is missing");
    }
    return TZ_OK;
}

/* Text ends in NUL, and a date has 20 bytes. */
static tz_result check_ifd_texts(tz_checker *checker, const tz_checked_ifd *directory)
{
    const tz_container *file = &checker->file->containers[0];
    for (uint32_t i = 0; i < directory->count; i++) {
        const tz_ifd_entry *entry = &directory->entries[i];
        char last = 0;
        if (entry->type != TZ_TYPE_ASCII || entry->count == 0 ||
            !tz_inside(file, entry->offset, entry->size))
            continue;
        TZ_TRY(
            tz_source_read(file->source, entry->offset + entry->size - 1, 1, &last, &checker->ctx));
        if (last != 0)
            TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_TAG,
                           tz_at_tag(entry->tag, entry->offset), "the text does not end in NUL");
        if (entry->tag == TAG_DATE_TIME && entry->count != 20)
            TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_TAG,
                           tz_expecting(tz_at_tag(entry->tag, entry->offset), 20, entry->count),
                           "a date and time has 20 bytes");
    }
    return TZ_OK;
}

static tz_result check_texts(tz_checker *checker)
{
    for (uint32_t i = 0; i < tz_checker_layer_count(checker); i++) {
        tz_layer layer;
        uint32_t level;
        if (tz_checker_own_layer(checker, i, &layer, &level))
            TZ_TRY(check_ifd_texts(checker, &checker->directories[i]));
    }
    return TZ_OK;
}

/* A mask is marked twice: by its subfile type and by its photometric interpretation. */
static tz_result check_subfiles(tz_checker *checker)
{
    for (uint32_t i = 1; i < tz_checker_layer_count(checker); i += 2) {
        tz_layer layer;
        uint32_t level;
        if (!tz_checker_own_layer(checker, i, &layer, &level))
            continue;
        const tz_ifd_entry *kind =
            tz_checked_ifd_find(&checker->directories[i], TZ_TAG_NEW_SUBFILE_TYPE);
        if (layer.shape.photometric != TZ_PHOTOMETRIC_MASK || !kind)
            TZ_ADD_FINDING(
                checker, TZ_CHECK_WARNING, TZ_CAUSE_META,
                tz_expecting(tz_at_tag(TZ_TAG_PHOTOMETRIC, layer.shape.ifd_offset),
                             TZ_PHOTOMETRIC_MASK, layer.shape.photometric),
                "a mask is to have photometric interpretation 4 and its kind of subfile");
        if (layer.shape.bits_per_sample != 1)
            TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_META,
                           tz_expecting(tz_at_tag(TZ_TAG_BITS_PER_SAMPLE, layer.shape.ifd_offset),
                                        1, layer.shape.bits_per_sample),
                           "a mask is to have one bit");
    }
    return tz_checker_add_open_warnings(checker);
}

static tz_result check_classic_file_size(tz_checker *checker)
{
    const tz_info *info = checker->info;
    if (info->bigtiff)
        return tz_checker_skip(checker, "the file is a BigTIFF");
    if (info->file_size > UINT32_MAX)
        TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_HEADER,
                       tz_expecting(tz_no_location(), UINT32_MAX, info->file_size),
                       "offsets of 32 bits cannot reach the end of the file");
    return TZ_OK;
}

/* clang-format off */
static const tz_check_row tiff_rows[] = {
    {"tiff.header", NULL, "the file starts like a TIFF or BigTIFF", check_tiff_header, 0, false, true},
    {"tiff.opens", NULL, "the directory of the image can be read", check_file_opens, 0, false, true},
    {"tiff.chain", NULL, "the chain of directories is whole, and all can be read",
     tz_checker_add_open_warnings, 0, false, false},
    {"tiff.tag-order", NULL, "tags are in ascending order", tz_checker_add_open_warnings, 0, false, false},
    {"tiff.tag-duplicate", NULL, "no tag occurs twice", tz_checker_add_open_warnings, 0, false, false},
    {"tiff.tag-types", NULL, "tags have the type and the number of values that they should",
     tz_checker_add_open_warnings, 0, false, false},
    {"tiff.tag-data", NULL, "data of tags lies in the file", tz_checker_add_open_warnings, 0, false, false},
    {"tiff.tag-values", NULL, "values of tags are possible and fit together",
     check_tag_values, 0, false, false},
    {"tiff.even-offsets", NULL, "directories and data of tags start at even offsets",
     check_even_offsets, 0, false, false},
    {"tiff.required-tags", NULL, "tags that every image must have are there",
     check_required_tags, 0, false, false},
    {"tiff.text", NULL, "texts end in NUL", check_texts, 0, false, false},
    {"tiff.strips-or-tiles", NULL, "an image has strips or tiles, not both",
     tz_checker_add_open_warnings, 0, false, false},
    {"tiff.tile-size", NULL, "sides of tiles are multiples of 16", tz_checker_add_open_warnings, 0, false, false},
    {"tiff.tile-tables", NULL, "there is an offset and a size for every tile",
     tz_checker_add_open_warnings, 0, false, false},
    {"tiff.tile-spans", NULL, "tiles lie in the file", tz_check_tile_spans, 0, true, false},
    {"tiff.file-end", NULL, "the last tiles of each level lie before the end of the file",
     tz_check_file_end, TZ_COG_TRUNCATED, false, false},
    {"tiff.overlap", NULL, "directories, data of tags and tiles do not lie on top of each other",
     tz_check_overlap, 0, true, false},
    {"tiff.unused-bytes", NULL, "the file ends with the last thing in it",
     tz_check_unused_bytes, 0, true, false},
    {"tiff.file-size", NULL, "offsets reach all of the file", check_classic_file_size, 0, false, false},
    {"tiff.subfiles", NULL, "overviews and masks fit their image", check_subfiles, 0, false, false},
    {"tiff.supported", NULL, "nothing that this library cannot read",
     tz_checker_add_open_warnings, 0, false, false},
    {"tiff.limits", NULL, "nothing beyond the limits", tz_checker_add_open_warnings, 0, false, false},
    {"tiff.pixels", NULL, "every tile can be decoded", tz_check_pixels, 0, true, false},
};
/* clang-format on */
const tz_check_list tz_tiff_checks = {tiff_rows, sizeof tiff_rows / sizeof tiff_rows[0]};
