/* SPDX-License-Identifier: Apache-2.0
 * NAME.aux.xml, in which GDAL keeps facts about an image that the image's format cannot hold.
 *
 * Its elements become items, as those of tag GDAL_METADATA: metadata_xml.c calls the functions of
 * the first half for each element. After the file is read, tz_aux_apply puts the items in the place
 * of the image's own values, as GDAL does: transform or control points, CRS, nodata, metadata. The
 * order matters: a transform makes control points useless, and the CRS of the control points counts
 * only if they are used.
 *
 * Values that are not metadata pass from one half to the other as items whose role begins with "@"
 * (TZ_AUX_). So a file that is too large or malformed is dropped as a whole, in one place. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "tiff/gdal/metadata_parser.h"
#include "tiff/gdal/nodata.h"
#include "tiff/gdal/sidecar.h"

enum { TRANSFORM_VALUES = 6, GCP_VALUES = 5, NUMBER_SIZE = 64 };

/* ---- elements in ---- */

/* An element whose text is one item. The names are those that GDAL gives them in the tag. */
typedef struct aux_element {
    const char *element;
    const char *name;
    const char *role;
} aux_element;

static const aux_element aux_image_elements[] = {
    {"SRS", "", TZ_AUX_SRS},
    {"GeoTransform", "", TZ_AUX_TRANSFORM},
    {NULL, NULL, NULL},
};
static const aux_element aux_band_elements[] = {
    {"Description", "DESCRIPTION", "description"},
    {"UnitType", "UNITTYPE", "unittype"},
    {"Offset", "OFFSET", "offset"},
    {"Scale", "SCALE", "scale"},
    {"ColorInterp", "COLORINTERP", "colorinterp"},
    {"NoDataValue", "", TZ_AUX_NODATA},
    {NULL, NULL, NULL},
};

/* Begins an item if the element is one of the rows. Others, such as histograms and colour tables,
 * are skipped: tz_info has no member for them. */
static void start_aux_element_item(tz_metadata_parser *parser, const aux_element *rows,
                                   const char *element, int32_t band)
{
    for (; rows->element; rows++)
        if (strcmp(rows->element, element) == 0)
            tz_metadata_begin_item(parser, rows->name, 0, rows->role, band);
}

/* Adds an item whose value is an attribute. */
static void add_aux_item(tz_metadata_parser *parser, const char *role, const char *value)
{
    tz_metadata_begin_item(parser, "", 0, role, -1);
    tz_metadata_append(parser, value, strlen(value));
    tz_metadata_end_item(parser);
}

/* A Metadata element has items, or it is one document, XML or JSON. The document becomes one item,
 * named as GDAL names it in the tag. */
static void start_aux_metadata(tz_metadata_parser *parser, const char **attributes, int32_t band)
{
    const char *domain = tz_metadata_attribute(attributes, "domain");
    const char *format = tz_metadata_attribute(attributes, "format");
    parser->aux_domain = tz_metadata_intern(parser, domain ? domain : "");
    if (!format)
        return;
    tz_metadata_begin_item(parser, "doc", parser->aux_domain, "", band);
    parser->item_is_document = strcmp(format, "xml") == 0;
}

/* Adds a control point as one item: column, row, x, y and z. Only z may be missing. The item of a
 * point with a missing attribute is undone by cutting the pool at its start. */
static void add_aux_gcp(tz_metadata_parser *parser, const char **attributes)
{
    static const char *const names[] = {"Pixel", "Line", "X", "Y", "Z"};
    tz_metadata_begin_item(parser, "", 0, TZ_AUX_GCP, -1);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = tz_metadata_attribute(attributes, names[i]);
        if (!text && i < 4) {
            parser->item_depth = 0;
            parser->pool_size = parser->item_start;
            tz_metadata_drop_if_failed(
                parser,
                TZ_METADATA_WARN(parser, "a control point has no attribute %s; it is left out",
                                 names[i]));
            return;
        }
        tz_metadata_append(parser, " ", 1);
        tz_metadata_append(parser, text ? text : "0", text ? strlen(text) : 1);
    }
    tz_metadata_end_item(parser);
}

/* An element right below PAMDataset: one of the image, or the front of a band or a list. */
static void start_aux_image_element(tz_metadata_parser *parser, const char *name,
                                    const char **attributes)
{
    const char *epoch = tz_metadata_attribute(attributes, "coordinateEpoch");
    const char *projection = tz_metadata_attribute(attributes, "Projection");
    const char *number = tz_metadata_attribute(attributes, "band");
    uint64_t band = 0;
    if (strcmp(name, "SRS") == 0 && epoch)
        add_aux_item(parser, TZ_AUX_EPOCH, epoch);
    if (strcmp(name, "PAMRasterBand") == 0) {
        const bool usable =
            number && tz_parse_uint64(number, &band) && band > 0 && band <= parser->bands;
        parser->section = TZ_AUX_SECTION_BAND;
        parser->aux_band = usable ? (int32_t)(band - 1) : -1;
        if (!usable)
            tz_metadata_drop_if_failed(
                parser, TZ_METADATA_WARN(parser,
                                         "an element PAMRasterBand is for band '%.32s', and the "
                                         "image has %lu; it is left out",
                                         number ? number : "", (unsigned long)parser->bands));
    } else if (strcmp(name, "Metadata") == 0) {
        parser->section = TZ_AUX_SECTION_METADATA;
        start_aux_metadata(parser, attributes, -1);
    } else if (strcmp(name, "GCPList") == 0) {
        parser->section = TZ_AUX_SECTION_GCPS;
        if (projection)
            add_aux_item(parser, TZ_AUX_GCP_SRS, projection);
    } else {
        start_aux_element_item(parser, aux_image_elements, name, -1);
    }
}

/* Depth 1 is PAMDataset, 2 an element of the image or a band, 3 an element of a band, an item of
 * metadata or a control point, and 4 an item of a band's metadata. */
void tz_aux_start_element(tz_metadata_parser *parser, const char *name, const char **attributes)
{
    const tz_aux_section section = parser->section;
    const bool in_band = section == TZ_AUX_SECTION_BAND && parser->aux_band >= 0;
    const char *key = strcmp(name, "MDI") == 0 ? tz_metadata_attribute(attributes, "key") : NULL;
    if (parser->depth == 2) {
        start_aux_image_element(parser, name, attributes);
    } else if (parser->depth == 3 && section == TZ_AUX_SECTION_METADATA && key) {
        tz_metadata_begin_item(parser, key, parser->aux_domain, "", -1);
    } else if (parser->depth == 3 && section == TZ_AUX_SECTION_GCPS && strcmp(name, "GCP") == 0) {
        add_aux_gcp(parser, attributes);
    } else if (parser->depth == 3 && in_band && strcmp(name, "Metadata") == 0) {
        parser->band_metadata = true;
        start_aux_metadata(parser, attributes, parser->aux_band);
    } else if (parser->depth == 3 && in_band) {
        start_aux_element_item(parser, aux_band_elements, name, parser->aux_band);
    } else if (parser->depth == 4 && parser->band_metadata && key) {
        tz_metadata_begin_item(parser, key, parser->aux_domain, "", parser->aux_band);
    }
}

void tz_aux_end_element(tz_metadata_parser *parser)
{
    if (parser->depth == 3)
        parser->band_metadata = false;
    if (parser->depth == 2)
        parser->section = TZ_AUX_SECTION_NONE;
}

/* ---- values out ---- */

/* The items of an aux file being applied. */
typedef struct aux_reader {
    tz_file *file;
    const tz_metadata *aux;
    const tz_context *ctx;
    uint32_t values; /* TZ_SIDECAR_VALUE_ bits */
} aux_reader;

/* Parses count numbers with commas or spaces between them, all finite. */
static bool parse_numbers(const char *text, double *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char word[NUMBER_SIZE];
        text += strspn(text, " \t\r\n,");
        const size_t size = strcspn(text, " \t\r\n,");
        if (size == 0 || size >= sizeof word)
            return false;
        memcpy(word, text, size);
        word[size] = '\0';
        text += size;
        if (!tz_parse_double(word, &out[i], NULL) || !isfinite(out[i]))
            return false;
    }
    return text[strspn(text, " \t\r\n,")] == '\0';
}

/* A transform replaces that of the image and its control points: only one of the two can count. */
static tz_result apply_transform(aux_reader *reader)
{
    tz_geo *geo = &reader->file->geo;
    const char *text = tz_metadata_find_role(reader->aux, TZ_AUX_TRANSFORM, -1);
    double t[TRANSFORM_VALUES];
    if (!text)
        return TZ_OK;
    if (!parse_numbers(text, t, TRANSFORM_VALUES) || t[1] * t[5] - t[2] * t[4] == 0)
        return TZ_WARN_GEO(
            reader->ctx, tz_no_location(),
            "GeoTransform is '%.80s', and not six numbers that map pixels to places; "
            "not used",
            text);
    memcpy(geo->transform, t, sizeof t);
    geo->has_transform = true;
    geo->gcps = NULL;
    geo->gcp_count = 0;
    reader->values |= TZ_SIDECAR_VALUE_TRANSFORM;
    return TZ_OK;
}

/* Control points are used only if neither the image nor the file has a transform. Points that are
 * not numbers are left out one by one. */
static tz_result apply_gcps(aux_reader *reader)
{
    tz_geo *geo = &reader->file->geo;
    tz_metadata_item item;
    uint32_t max_count = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; tz_metadata_get_item(reader->aux, i, &item); i++)
        max_count += strcmp(item.role, TZ_AUX_GCP) == 0;
    if (max_count == 0)
        return TZ_OK;
    if (geo->has_transform)
        return TZ_WARN_GEO(reader->ctx, tz_no_location(),
                           "the image has a transform; the control points are not used");
    tz_gcp *list = tz_arena_array(&reader->file->arena, max_count, sizeof *list);
    if (!list)
        return tz_fail_nomem(reader->ctx, max_count * sizeof *list);
    for (uint32_t i = 0; tz_metadata_get_item(reader->aux, i, &item); i++) {
        double v[GCP_VALUES];
        if (strcmp(item.role, TZ_AUX_GCP) != 0)
            continue;
        if (parse_numbers(item.value, v, GCP_VALUES))
            list[count++] = (tz_gcp){.column = v[0], .row = v[1], .x = v[2], .y = v[3], .z = v[4]};
        else
            TZ_TRY(TZ_WARN_GEO(reader->ctx, tz_no_location(),
                               "a control point is '%.80s', and not numbers; it is left out",
                               item.value));
    }
    if (count == 0)
        return TZ_OK;
    geo->gcps = list;
    geo->gcp_count = count;
    reader->values |= TZ_SIDECAR_VALUE_GCPS;
    return TZ_OK;
}

/* The CRS of the control points wins if they are used. Text that has no code leaves the image's own
 * CRS, with the warning of tz_geo_set_crs. */
static tz_result apply_crs(aux_reader *reader)
{
    tz_file *file = reader->file;
    const char *text = tz_metadata_find_role(reader->aux, TZ_AUX_SRS, -1);
    const char *epoch = tz_metadata_find_role(reader->aux, TZ_AUX_EPOCH, -1);
    bool known = false;
    if (reader->values & TZ_SIDECAR_VALUE_GCPS) {
        const char *of_gcps = tz_metadata_find_role(reader->aux, TZ_AUX_GCP_SRS, -1);
        text = of_gcps ? of_gcps : text;
    }
    if (!text)
        return TZ_OK;
    TZ_TRY(tz_geo_set_crs(&file->geo, text, &file->arena, reader->ctx, &known));
    if (!known)
        return TZ_OK;
    reader->values |= TZ_SIDECAR_VALUE_CRS;
    double year = NAN;
    if (epoch && (!tz_parse_double(epoch, &year, NULL) || !isfinite(year)))
        return TZ_WARN_GEO(reader->ctx, tz_no_location(),
                           "coordinateEpoch is '%.32s', and not a number; not used", epoch);
    file->geo.coordinate_epoch = year;
    return TZ_OK;
}

/* GDAL has a nodata value for each band, and so may NAME.aux.xml; a TIFF has one for all bands. */
static tz_result apply_nodata(aux_reader *reader)
{
    tz_info *info = &reader->file->info;
    const char *first = NULL;
    uint32_t bands = 0;
    bool differ = false;
    tz_metadata_item item;
    for (uint32_t i = 0; tz_metadata_get_item(reader->aux, i, &item); i++) {
        if (strcmp(item.role, TZ_AUX_NODATA) != 0)
            continue;
        differ = differ || (first && strcmp(first, item.value) != 0);
        first = first ? first : item.value;
        bands++;
    }
    if (!first)
        return TZ_OK;
    tz_nodata value = {.kind = TZ_NODATA_KIND_NONE};
    TZ_TRY(tz_nodata_parse(first, info->dtype, reader->ctx, &value));
    if (value.kind == TZ_NODATA_KIND_NONE)
        return TZ_OK;
    if (differ || bands < info->bands)
        TZ_TRY(tz_warn(reader->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_META,
                       tz_expecting(tz_no_location(), info->bands, bands),
                       "bands have different nodata values; the first, %.32s, is used for all",
                       first));
    info->nodata = value;
    info->nodata_text = tz_arena_text(&reader->file->arena, first, strlen(first));
    if (!info->nodata_text)
        return tz_fail_nomem(reader->ctx, strlen(first) + 1);
    reader->values |= TZ_SIDECAR_VALUE_NODATA;
    return TZ_OK;
}

tz_result tz_aux_apply(tz_file *file, const tz_metadata *aux, const tz_context *ctx,
                       uint32_t *values)
{
    aux_reader reader = {.file = file, .aux = aux, .ctx = ctx};
    uint32_t added = 0;
    uint32_t of_bands = 0;
    TZ_TRY(apply_transform(&reader));
    TZ_TRY(apply_gcps(&reader));
    TZ_TRY(apply_crs(&reader));
    TZ_TRY(apply_nodata(&reader));
    TZ_TRY(tz_metadata_merge(&file->metadata, aux, &added, &of_bands, ctx));
    file->info.metadata_count = file->metadata.count;
    if (added > of_bands)
        reader.values |= TZ_SIDECAR_VALUE_METADATA;
    if (of_bands > 0)
        reader.values |= TZ_SIDECAR_VALUE_BANDS;
    *values = reader.values;
    return TZ_OK;
}
