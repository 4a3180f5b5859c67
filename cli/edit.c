/* SPDX-License-Identifier: Apache-2.0
 * Changes of the description of an image: CRS, transform, control points and metadata, as the
 * options say. The library knows what follows from each. */
#include "edit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"

/* Georeferencing ------------------------------------------------------------------------------- */

/* A number alone, or two with '+' between them, are codes of EPSG. */
static bool is_code(const char *text)
{
    return text[strspn(text, "0123456789+")] == '\0' && text[0] != '+' && text[0] != '\0';
}

static tz_result set_crs(tz_image_spec *spec, const char *text, tz_error *err)
{
    char code[64];
    tz_crs *crs = NULL;
    tz_result result = TZ_OK;
    if (is_code(text) && strlen(text) + sizeof "EPSG:" <= sizeof code) {
        snprintf(code, sizeof code, "EPSG:%s", text);
        text = code;
    }
    if (strcmp(text, "none") != 0)
        result = tz_crs_create(&crs, text, err);
    if (result == TZ_OK)
        result = tz_image_spec_set_crs(spec, crs, err);
    tz_crs_close(crs);
    return result;
}

static tz_result set_bounds(tz_image_spec *spec, const double bounds[4], tz_error *err)
{
    const double transform[6] = {bounds[0], (bounds[2] - bounds[0]) / spec->width, 0, bounds[3],
                                 0,         (bounds[1] - bounds[3]) / spec->height};
    return tz_image_spec_set_transform(spec, transform, err);
}

/* The CRS is that of other control points, or the one of --crs: the CRS of a transform may not be
 * that of the points. */
static tz_result set_gcps(tz_image_spec *spec, const edit_settings *s, tz_error *err)
{
    const bool has_points = spec->geo != NULL && spec->geo->gcp_count > 0;
    uint32_t count = 0;
    tz_gcp *points = malloc((s->text_count + 1) * sizeof *points);
    if (points == NULL)
        return problem_nomem(err, "control points");
    for (size_t i = 0; i < s->text_count; i++) {
        if (s->texts[i].id == EDIT_GCP && edit_parse_gcp(s->texts[i].text, &points[count]))
            count++;
    }
    tz_result result = TZ_OK;
    if (count > 0 && !has_points && s->crs == NULL)
        result = tz_image_spec_set_crs(spec, NULL, err);
    if (count > 0 && result == TZ_OK)
        result = tz_image_spec_set_gcps(spec, points, count, err);
    free(points);
    return result;
}

/* Metadata ------------------------------------------------------------------------------------- */

static tz_result check_band(const tz_image_spec *spec, uint32_t band, const char *option,
                            tz_error *err)
{
    if (band < spec->bands)
        return TZ_OK;
    return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                        "%s: there is no band %" PRIu32 "; OUT has %" PRIu32, option, band + 1,
                        spec->bands);
}

/* Sets an item of KEY=VALUE, or removes it if VALUE is empty. band -1: of the whole image. */
static tz_result set_pair(tz_image_spec *spec, const char *text, int32_t band, tz_error *err)
{
    const char *equals = strchr(text, '=');
    char *key = strdup(text);
    if (key == NULL)
        return problem_nomem(err, "metadata");
    key[equals - text] = '\0';
    tz_metadata_item item = TZ_METADATA_ITEM_INIT;
    item.name = key;
    item.value = equals[1] != '\0' ? equals + 1 : NULL;
    item.band = band;
    tz_result result = tz_image_spec_set_metadata(spec, &item, err);
    free(key);
    return result;
}

/* Sets a property of a band, which an empty text removes. */
static tz_result set_band_text(tz_image_spec *spec, const edit_text *option, tz_error *err)
{
    const bool is_unit = option->id == EDIT_UNIT;
    const char *at = option->text;
    uint32_t band = 0;
    (void)edit_parse_band(&at, '=', &band); /* was checked */
    tz_result result = check_band(spec, band, is_unit ? "--unit" : "--description", err);
    tz_metadata_item item = TZ_METADATA_ITEM_INIT;
    item.name = is_unit ? "UNITTYPE" : "DESCRIPTION";
    item.role = is_unit ? "unittype" : "description";
    item.value = at[0] != '\0' ? at : NULL;
    item.band = (int32_t)band;
    return result == TZ_OK ? tz_image_spec_set_metadata(spec, &item, err) : result;
}

static tz_result set_band_pair(tz_image_spec *spec, const char *text, tz_error *err)
{
    uint32_t band = 0;
    (void)edit_parse_band(&text, ':', &band); /* was checked */
    tz_result result = check_band(spec, band, "--band-tag", err);
    return result == TZ_OK ? set_pair(spec, text, (int32_t)band, err) : result;
}

static tz_result set_text(tz_image_spec *spec, const edit_text *option, tz_error *err)
{
    tz_metadata_item item = TZ_METADATA_ITEM_INIT;
    switch (option->id) {
    case EDIT_TAG:
        return set_pair(spec, option->text, -1, err);
    case EDIT_UNSET:
        item.name = option->text;
        item.band = -1;
        return tz_image_spec_set_metadata(spec, &item, err);
    case EDIT_BAND_TAG:
        return set_band_pair(spec, option->text, err);
    case EDIT_DESCRIPTION:
    case EDIT_UNIT:
        return set_band_text(spec, option, err);
    default: /* bands and control points are not metadata */
        return TZ_OK;
    }
}

tz_result edit_describe(tz_image_spec *spec, const edit_settings *s, tz_error *err)
{
    tz_result result = s->crs != NULL ? set_crs(spec, s->crs, err) : TZ_OK;
    if (result == TZ_OK && s->has_transform)
        result = tz_image_spec_set_transform(spec, s->transform, err);
    if (result == TZ_OK && s->has_bounds)
        result = set_bounds(spec, s->bounds, err);
    if (result == TZ_OK)
        result = set_gcps(spec, s, err);
    for (size_t i = 0; result == TZ_OK && i < s->text_count; i++)
        result = set_text(spec, &s->texts[i], err);
    return result;
}
