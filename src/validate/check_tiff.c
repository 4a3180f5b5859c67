/* SPDX-License-Identifier: Apache-2.0
 * TIFF 6.0 and BigTIFF. A failure means that a part of the file cannot be read or is in doubt; a
 * warning, that the file does not follow the letter of the format, but readers cope with it.
 *
 * Many rows have no code of their own: opening has found the defects, and open_warnings.c assigns
 * its warnings to them. The others look at the entries of the directories that validate.c has read,
 * and read the values of a few tags. tiff.header and tiff.opens also judge a file that did not
 * open: they divide the error between "not a TIFF" and "its directory cannot be read". */
#include "io/source.h"
#include "tiff/byte_order.h"
#include "tiff/tags.h"
#include "validate/checker.h"

enum { TAG_X_RESOLUTION = 282, TAG_Y_RESOLUTION = 283, TAG_DATE_TIME = 306 };

/* ---- files that could not be opened ---- */

/* True if the error is about the first bytes: the file is something else, or nearly empty. */
static bool is_header_error(const tz_error *err)
{
    return err->cause == TZ_CAUSE_NOT_TIFF || err->cause == TZ_CAUSE_HEADER ||
           (err->cause == TZ_CAUSE_TRUNCATED && err->ifd < 0);
}

static tz_result check_tiff_header(tz_checker *checker)
{
    if (checker->open_error && is_header_error(checker->open_error))
        tz_checker_add_finding(checker, TZ_CHECK_OUTCOME_FAIL, checker->open_error);
    return TZ_OK;
}

/* All other reasons why a file does not open: a defective or missing directory of the image. */
static tz_result check_file_opens(tz_checker *checker)
{
    if (checker->open_error && is_header_error(checker->open_error))
        return tz_checker_skip(checker, "the file is not a TIFF");
    if (checker->open_error)
        tz_checker_add_finding(checker, TZ_CHECK_OUTCOME_FAIL, checker->open_error);
    return TZ_OK;
}

/* ---- directories ---- */

/* TIFF 6.0 section 2: data of tags begins on a word boundary. */
static tz_result check_even_offsets(tz_checker *checker)
{
    const tz_container *file = &checker->file->containers[0];
    tz_checked_layer at = {0};
    while (tz_checker_next(checker, TZ_LAYER_ALL | TZ_LAYER_OWN, &at)) {
        for (uint32_t i = 0; i < at.ifd->count; i++) {
            const tz_ifd_entry *entry = &at.ifd->entries[i];
            if (entry->size > 0 && !tz_checked_ifd_holds(at.ifd, entry) &&
                tz_inside(file, entry->offset, entry->size) && entry->offset % 2 != 0)
                TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_TAG,
                               tz_at_tag(entry->tag, entry->offset),
                               "the data of the tag starts at an odd offset");
        }
    }
    return tz_checker_add_open_warnings(checker);
}

/* A resolution is a fraction, whose denominator must not be 0. Orientations are 1 to 8. */
static tz_result check_tag_values(tz_checker *checker)
{
    static const uint16_t tags[] = {TAG_X_RESOLUTION, TAG_Y_RESOLUTION};
    const tz_container *file = &checker->file->containers[0];
    const uint16_t orientation = checker->info->orientation;
    tz_checked_layer at = {0};
    while (tz_checker_next(checker, TZ_LAYER_ALL | TZ_LAYER_OWN, &at)) {
        for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
            const tz_ifd_entry *entry = tz_checked_ifd_find(at.ifd, tags[i]);
            uint8_t bytes[8];
            if (!entry || entry->type != TZ_TYPE_RATIONAL || entry->count != 1 ||
                !tz_inside(file, entry->offset, sizeof bytes))
                continue;
            TZ_TRY(tz_source_read(file->source, entry->offset, sizeof bytes, bytes, &checker->ctx));
            if (tz_read_endian_u32(bytes + 4, file->big_endian) == 0)
                TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_TAG,
                               tz_at_tag(entry->tag, entry->offset),
                               "a fraction with the denominator 0");
        }
    }
    const tz_location location =
        tz_at_tag(TZ_TAG_ORIENTATION, tz_checker_level(checker, 0)->ifd_offset);
    if (orientation < 1 || orientation > 8)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_TAG,
                       tz_expecting(location, TZ_NO_VALUE, orientation),
                       "the orientation is not one of 1 to 8");
    return tz_checker_add_open_warnings(checker);
}

/* The table of tags says which are required: of every image (TIFF 6.0 section 8), of one in tiles
 * (section 15), or of one in strips. */
static tz_result check_required_tags(tz_checker *checker)
{
    size_t row_count;
    const tz_tag_row *rows = tz_tag_rows(&row_count);
    tz_checked_layer at = {0};
    while (tz_checker_next(checker, TZ_LAYER_ALL | TZ_LAYER_OWN, &at)) {
        const tz_level *shape = &at.layer.shape;
        const unsigned required =
            TZ_TAG_REQUIRED | (shape->tiled ? TZ_TAG_REQUIRED_TILES : TZ_TAG_REQUIRED_STRIPS);
        for (size_t k = 0; k < row_count; k++)
            if ((rows[k].flags & required) && !tz_checked_ifd_find(at.ifd, rows[k].tag))
                TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_TAG,
                               tz_at_tag(rows[k].tag, shape->ifd_offset),
                               "required tag is missing");
    }
    return TZ_OK;
}

/* TIFF 6.0: a text ends in NUL, which counts; a date, "YYYY:MM:DD HH:MM:SS", has 20 bytes. Only the
 * last byte of a text is read. */
static tz_result check_texts(tz_checker *checker)
{
    const tz_container *file = &checker->file->containers[0];
    tz_checked_layer at = {0};
    while (tz_checker_next(checker, TZ_LAYER_ALL | TZ_LAYER_OWN, &at)) {
        for (uint32_t i = 0; i < at.ifd->count; i++) {
            const tz_ifd_entry *entry = &at.ifd->entries[i];
            const tz_location location = tz_at_tag(entry->tag, entry->offset);
            char last = 0;
            if (entry->type != TZ_TYPE_ASCII || entry->count == 0 ||
                !tz_inside(file, entry->offset, entry->size))
                continue;
            TZ_TRY(tz_source_read(file->source, entry->offset + entry->size - 1, 1, &last,
                                  &checker->ctx));
            if (last != 0)
                TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_TAG, location,
                               "the text does not end in NUL");
            if (entry->tag == TAG_DATE_TIME && entry->count != 20)
                TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_TAG,
                               tz_expecting(location, 20, entry->count),
                               "a date and time has 20 bytes");
        }
    }
    return TZ_OK;
}

/* A mask is marked twice, by its subfile type and by its photometric interpretation, and has one
 * bit. */
static tz_result check_subfiles(tz_checker *checker)
{
    tz_checked_layer at = {0};
    while (tz_checker_next(checker, TZ_LAYER_MASKS | TZ_LAYER_OWN, &at)) {
        const tz_level *mask = &at.layer.shape;
        if (mask->photometric != TZ_PHOTOMETRIC_MASK ||
            !tz_checked_ifd_find(at.ifd, TZ_TAG_NEW_SUBFILE_TYPE))
            TZ_ADD_FINDING(
                checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_META,
                tz_expecting(tz_at_tag(TZ_TAG_PHOTOMETRIC, mask->ifd_offset), TZ_PHOTOMETRIC_MASK,
                             mask->photometric),
                "a mask is to have photometric interpretation 4 and its kind of subfile");
        if (mask->bits_per_sample != 1)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_META,
                           tz_expecting(tz_at_tag(TZ_TAG_BITS_PER_SAMPLE, mask->ifd_offset), 1,
                                        mask->bits_per_sample),
                           "a mask is to have one bit");
    }
    return tz_checker_add_open_warnings(checker);
}

/* Bytes past 4 GiB of a classic TIFF cannot be tiles or directories. */
static tz_result check_classic_file_size(tz_checker *checker)
{
    const tz_info *info = checker->info;
    if (info->bigtiff)
        return tz_checker_skip(checker, "the file is a BigTIFF");
    if (info->file_size > UINT32_MAX)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_HEADER,
                       tz_expecting(tz_no_location(), UINT32_MAX, info->file_size),
                       "offsets of 32 bits cannot reach the end of the file");
    return TZ_OK;
}

/* clang-format off */
static const tz_check_row tiff_rows[] = {
    {"tiff.header", NULL, "the file starts like a TIFF or BigTIFF", check_tiff_header, 0, TZ_RUNS_UNOPENED, 0},
    {"tiff.opens", NULL, "the directory of the image can be read", check_file_opens, 0, TZ_RUNS_UNOPENED, 0},
    {"tiff.chain", NULL, "the chain of directories is whole, and all can be read",
     tz_checker_add_open_warnings, 0, 0, 0},
    {"tiff.tag-order", NULL, "tags are in ascending order", tz_checker_add_open_warnings, 0, 0, 0},
    {"tiff.tag-duplicate", NULL, "no tag occurs twice", tz_checker_add_open_warnings, 0, 0, 0},
    {"tiff.tag-types", NULL, "tags have the type and the number of values that they should",
     tz_checker_add_open_warnings, 0, 0, 0},
    {"tiff.tag-data", NULL, "data of tags lies in the file", tz_checker_add_open_warnings, 0, 0, 0},
    {"tiff.tag-values", NULL, "values of tags are possible and fit together",
     check_tag_values, 0, 0, 0},
    {"tiff.even-offsets", NULL, "directories and data of tags start at even offsets",
     check_even_offsets, 0, 0, 0},
    {"tiff.required-tags", NULL, "tags that every image must have are there",
     check_required_tags, 0, 0, 0},
    {"tiff.text", NULL, "texts end in NUL", check_texts, 0, 0, 0},
    {"tiff.strips-or-tiles", NULL, "an image has strips or tiles, not both",
     tz_checker_add_open_warnings, 0, 0, 0},
    {"tiff.tile-size", NULL, "sides of tiles are multiples of 16", tz_checker_add_open_warnings, 0, 0, 0},
    {"tiff.tile-tables", NULL, "there is an offset and a size for every tile",
     tz_checker_add_open_warnings, 0, 0, 0},
    {"tiff.tile-spans", NULL, "tiles lie in the file", tz_check_tile_spans, 0, TZ_SCANS_TILES, 0},
    {"tiff.file-end", NULL, "the last tiles of each level lie before the end of the file",
     tz_check_file_end, TZ_COG_PROBLEM_TRUNCATED, 0, 0},
    {"tiff.overlap", NULL, "directories, data of tags and tiles do not lie on top of each other",
     tz_check_overlap, 0, TZ_SCANS_TILES, 0},
    {"tiff.unused-bytes", NULL, "the file ends with the last thing in it",
     tz_check_unused_bytes, 0, TZ_SCANS_TILES, 0},
    {"tiff.file-size", NULL, "offsets reach all of the file", check_classic_file_size, 0, 0, 0},
    {"tiff.subfiles", NULL, "overviews and masks fit their image", check_subfiles, 0, 0, 0},
    {"tiff.supported", NULL, "nothing that this library cannot read",
     tz_checker_add_open_warnings, 0, 0, 0},
    {"tiff.limits", NULL, "nothing beyond the limits", tz_checker_add_open_warnings, 0, 0, 0},
    {"tiff.pixels", NULL, "every tile can be decoded", tz_check_pixels, 0, TZ_SCANS_TILES, 0},
};
/* clang-format on */
const tz_check_list tz_tiff_checks = {tiff_rows, sizeof tiff_rows / sizeof tiff_rows[0]};
