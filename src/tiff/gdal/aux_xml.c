/* SPDX-License-Identifier: Apache-2.0
 * What NAME.aux.xml says, put into the place of what the image says, as in GDAL. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "tiff/gdal/nodata.h"
#include "tiff/gdal/sidecar.h"

enum { TRANSFORM_VALUES = 6, GCP_VALUES = 5, NUMBER_SIZE = 64 };

/* The items of an aux file being applied. */
typedef struct aux_reader {
    tz_file *file;
    const tz_metadata *aux;
    const tz_context *ctx;
    uint32_t values; /* TZ_VALUE_ bits */
} aux_reader;

/* count numbers with commas or spaces between them, all finite. */
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

/* ---- georeferencing ---- */

static tz_result apply_transform(aux_reader *reader)
{
    tz_geo *geo = &reader->file->info.geo;
    const char *text = tz_metadata_find_role(reader->aux, TZ_AUX_TRANSFORM, -1);
    double t[TRANSFORM_VALUES];
    if (!text)
        return TZ_OK;
    if (!parse_numbers(text, t, TRANSFORM_VALUES) || t[1] * t[5] - t[2] * t[4] == 0)
        return tz_warn(reader->ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO, tz_no_location(),
                       "GeoTransform is '%.80s', and not six numbers that map pixels to places; "
                       "not used",
                       text);
    memcpy(geo->transform, t, sizeof t);
    geo->has_transform = true;
    geo->gcps = NULL;
    geo->gcp_count = 0;
    reader->values |= TZ_VALUE_TRANSFORM;
    return TZ_OK;
}

static tz_result parse_gcp(aux_reader *reader, const char *text, tz_gcp *out, uint32_t *count)
{
    double v[GCP_VALUES];
    if (!parse_numbers(text, v, GCP_VALUES))
        return tz_warn(reader->ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO, tz_no_location(),
                       "a control point is '%.80s', and not numbers; it is left out", text);
    out[*count] = (tz_gcp){.column = v[0], .row = v[1], .x = v[2], .y = v[3], .z = v[4]};
    ++*count;
    return TZ_OK;
}

/* A transform says all that control points could say. */
static tz_result apply_gcps(aux_reader *reader)
{
    tz_geo *geo = &reader->file->info.geo;
    tz_metadata_item item;
    uint32_t max_count = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; tz_metadata_get_item(reader->aux, i, &item); i++)
        max_count += strcmp(item.role, TZ_AUX_GCP) == 0;
    if (max_count == 0)
        return TZ_OK;
    if (geo->has_transform)
        return tz_warn(reader->ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO, tz_no_location(),
                       "the image has a transform; the control points are not used");
    tz_gcp *list = tz_arena_array(&reader->file->arena, max_count, sizeof *list);
    if (!list)
        return tz_fail_nomem(reader->ctx, max_count * sizeof *list);
    for (uint32_t i = 0; tz_metadata_get_item(reader->aux, i, &item); i++)
        if (strcmp(item.role, TZ_AUX_GCP) == 0)
            TZ_TRY(parse_gcp(reader, item.value, list, &count));
    if (count == 0)
        return TZ_OK;
    geo->gcps = list;
    geo->gcp_count = count;
    reader->values |= TZ_VALUE_GCPS;
    return TZ_OK;
}

/* The SRS of control points counts only with them. */
static tz_result apply_crs(aux_reader *reader)
{
    tz_file *file = reader->file;
    const char *text = tz_metadata_find_role(reader->aux, TZ_AUX_SRS, -1);
    const char *epoch = tz_metadata_find_role(reader->aux, TZ_AUX_EPOCH, -1);
    bool known = false;
    if (reader->values & TZ_VALUE_GCPS) {
        const char *of_gcps = tz_metadata_find_role(reader->aux, TZ_AUX_GCP_SRS, -1);
        text = of_gcps ? of_gcps : text;
    }
    if (!text)
        return TZ_OK;
    TZ_TRY(tz_geo_set_crs(&file->info.geo, text, &file->arena, reader->ctx, &known));
    if (!known)
        return TZ_OK;
    reader->values |= TZ_VALUE_CRS;
    double year = NAN;
    if (epoch && (!tz_parse_double(epoch, &year, NULL) || !isfinite(year)))
        return tz_warn(reader->ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO, tz_no_location(),
                       "coordinateEpoch is '%.32s', and not a number; not used", epoch);
    file->info.geo.coordinate_epoch = year;
    return TZ_OK;
}

/* ---- nodata ---- */

/* GDAL has a nodata for each band, and so may the file beside the image; a TIFF has one for all. */
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
    tz_nodata value = {.kind = TZ_NODATA_NONE};
    TZ_TRY(tz_nodata_parse(first, info->dtype, reader->ctx, &value));
    if (value.kind == TZ_NODATA_NONE)
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
    reader->values |= TZ_VALUE_NODATA;
    return TZ_OK;
}

/* ---- metadata ---- */

static tz_result apply_metadata(aux_reader *reader)
{
    tz_file *file = reader->file;
    uint32_t added = 0;
    uint32_t of_bands = 0;
    TZ_TRY(tz_metadata_merge(&file->metadata, reader->aux, &added, &of_bands, reader->ctx));
    file->info.metadata_count = file->metadata.count;
    if (added > of_bands)
        reader->values |= TZ_VALUE_METADATA;
    if (of_bands > 0)
        reader->values |= TZ_VALUE_BANDS;
    return TZ_OK;
}

tz_result tz_aux_apply(tz_file *file, const tz_metadata *aux, const tz_context *ctx,
                       uint32_t *values)
{
    aux_reader reader = {.file = file, .aux = aux, .ctx = ctx};
    TZ_TRY(apply_transform(&reader));
    TZ_TRY(apply_gcps(&reader));
    TZ_TRY(apply_crs(&reader));
    TZ_TRY(apply_nodata(&reader));
    TZ_TRY(apply_metadata(&reader));
    *values = reader.values;
    return TZ_OK;
}
