/* SPDX-License-Identifier: Apache-2.0
 * Opening a file has found most of its defects already, as warnings. This table assigns each kind
 * of warning to a check, so that no defect is looked for twice. */
#include <string.h>

#include "tiff/tags.h"
#include "validate/checker.h"

typedef struct warning_kind {
    int cause;        /* -1: any */
    int32_t tag;      /* -1: any */
    const char *text; /* start of the text that the warning was made of; "": any */
    const char *id;   /* NULL: another check looks itself */
    tz_check_outcome weight;
} warning_kind;

#define W TZ_CHECK_OUTCOME_WARNING
#define F TZ_CHECK_OUTCOME_FAIL
/* clang-format off */
/* Ordered from the particular to the general. Texts are the starts of format strings in tiff/: the
 * format of a warning identifies its kind, and arguments do not change it. */
static const warning_kind warning_kinds[] = {
    {-1, -1, ".", NULL, W}, /* a sidecar: .ovr, .msk */
    {TZ_CAUSE_LIMIT, -1, "", "tiff.limits", W},
    {-1, -1, "defective directory", "tiff.chain", F},
    {-1, -1, "directory loop", "tiff.chain", F},
    {-1, -1, "the file ends before the offset of the next", "tiff.chain", F},
    {-1, -1, "directory offset is odd", "tiff.even-offsets", W},
    {-1, -1, "tags are not in ascending order", "tiff.tag-order", W},
    {-1, -1, "duplicate tag", "tiff.tag-duplicate", W},
    {TZ_CAUSE_TRUNCATED, -1, "defective tag", "tiff.tag-data", F},
    {-1, TZ_TAG_STRIP_OFFSETS, "defective tag", "tiff.tag-types", F},
    {-1, TZ_TAG_STRIP_BYTE_COUNTS, "defective tag", "tiff.tag-types", F},
    {-1, TZ_TAG_TILE_OFFSETS, "defective tag", "tiff.tag-types", F},
    {-1, TZ_TAG_TILE_BYTE_COUNTS, "defective tag", "tiff.tag-types", F},
    {-1, -1, "defective tag", "tiff.tag-types", W},
    {-1, -1, "unknown field type", "tiff.tag-types", W},
    {-1, -1, "type is signed", "tiff.tag-types", W},
    {-1, -1, "repeated for every sample", "tiff.tag-types", W},
    {-1, -1, "as many values expected as there are samples", "tiff.tag-types", W},
    {-1, -1, "the tags share their data", "tiff.overlap", W},
    {-1, -1, "points at an image directory", "tiff.tag-data", W},
    {-1, -1, "points outside the file", "tiff.tag-data", W},
    {-1, -1, "0 rows per strip", "tiff.tile-size", W},
    {-1, -1, "tile sizes must be multiples of 16", "tiff.tile-size", W},
    {-1, -1, "strip and tile tags together", "tiff.strips-or-tiles", W},
    {-1, -1, "more values than the image has tiles", "tiff.tile-tables", W},
    {-1, -1, "tile sizes are missing; taken from the layout", "tiff.tile-tables", W},
    {-1, -1, "fewer tile sizes than tiles", "tiff.tile-tables", W},
    {TZ_CAUSE_LAYOUT, -1, "", "tiff.tile-tables", F},
    {-1, -1, "subsampling must be", "tiff.tag-values", F},
    {-1, -1, "overview of", "tiff.subfiles", W},
    {-1, -1, "mask of", "tiff.subfiles", W},
    {-1, TZ_TAG_NEW_SUBFILE_TYPE, "", "tiff.subfiles", W},
    {TZ_CAUSE_UNSUPPORTED, -1, "", "tiff.supported", W},
    {-1, TZ_TAG_GDAL_NODATA, "", "gdal.nodata", W},
    {-1, TZ_TAG_GDAL_METADATA, "GDAL metadata is not read", "tiff.supported", W},
    {-1, TZ_TAG_GDAL_METADATA, "", "gdal.metadata", W},
    {-1, -1, "size of the ghost area", "gdal.ghost", F},
    {-1, -1, "the file was edited", NULL, F},
    {TZ_CAUSE_GEO, TZ_TAG_PIXEL_SCALE, "the y scale is negative", "geotiff.scale", W},
    {TZ_CAUSE_GEO, TZ_TAG_PIXEL_SCALE, "", "geotiff.scale", F},
    {TZ_CAUSE_GEO, TZ_TAG_TIEPOINTS, "the pixel scale has no", "geotiff.scale", F},
    {TZ_CAUSE_GEO, TZ_TAG_TIEPOINTS, "", "geotiff.tiepoints", F},
    {TZ_CAUSE_GEO, TZ_TAG_TRANSFORMATION, "", "geotiff.matrix", F},
    {TZ_CAUSE_GEO, TZ_TAG_GEO_KEYS, "", NULL, F},
    {TZ_CAUSE_GEO, TZ_TAG_GEO_ASCII, "", NULL, F},
    {TZ_CAUSE_GEO, TZ_TAG_GEO_DOUBLES, "", NULL, F},
    {-1, -1, "", "tiff.tag-values", W},
};
/* clang-format on */

/* The first row that matches decides; the last row matches any warning. Warnings of sidecars come
 * after own_warnings and are not looked at. */
tz_result tz_checker_add_open_warnings(tz_checker *checker)
{
    const tz_warnings *warnings = &checker->file->warnings;
    for (uint32_t i = 0; i < checker->file->own_warnings; i++) {
        const tz_error *warning = &warnings->list[i];
        const warning_kind *kind = warning_kinds;
        while (!((kind->cause < 0 || kind->cause == (int)warning->cause) &&
                 (kind->tag < 0 || kind->tag == warning->tag) &&
                 strncmp(warnings->formats[i], kind->text, strlen(kind->text)) == 0))
            kind++;
        if (kind->id && strcmp(kind->id, checker->row->id) == 0)
            tz_checker_add_finding(checker, kind->weight, warning);
    }
    return TZ_OK;
}

/* These two are warnings of the grouping of directories, which have no tag; the texts distinguish
 * them from others of the same cause. */
void tz_checker_add_large_overviews(tz_checker *checker)
{
    const tz_info *info = checker->info;
    for (uint32_t i = 0; i < info->warning_count; i++) {
        const tz_error *warning = &checker->file->warnings.list[i];
        if (warning->cause == TZ_CAUSE_META && warning->tag < 0 &&
            (strstr(warning->message, "is not smaller than the level above it; ignored") ||
             strstr(warning->message, "has the size of the level above it; ignored")))
            tz_checker_add_finding(checker, TZ_CHECK_OUTCOME_FAIL, warning);
    }
}
