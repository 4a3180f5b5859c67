/* SPDX-License-Identifier: Apache-2.0
 * JSON like gdalinfo's: the metadata, by domain. GDAL makes items out of other tags
 * (TIFFTAG_SOFTWARE, the RPC domain, IMAGE_STRUCTURE), and they are added to the items of
 * GDAL_METADATA here in the same way.
 *
 * A name that a tag has given already is left out of the items: JSON objects must not have a key
 * twice. */
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "tag_values.h"
#include "text.h"

#define IMAGE_STRUCTURE "IMAGE_STRUCTURE"

/* The default domain: text of tags ------------------------------------------------------------ */

enum { MIN_SAMPLE_VALUE = 280, Y_RESOLUTION = 283, RESOLUTION_UNIT = 296, MAX_TAG_ITEMS = 32 };

static const char *unit_words(double unit)
{
    return unit == 1 ? "1 (unitless)" : unit == 2 ? "2 (pixels/inch)" : "3 (pixels/cm)";
}

static void write_tag_item(json *j, info_file *f, const char *name, const tz_tag *tag)
{
    tz_error err;
    double value;
    bool number_tag = tag->tag >= MIN_SAMPLE_VALUE && tag->tag <= Y_RESOLUTION;
    if (!number_tag && tag->tag != RESOLUTION_UNIT) {
        if (tag->size != tag->count) /* of a wide or unknown type: not text */
            return;
        if (tag_write_text(j, name, f->file, tag, &err) != TZ_OK)
            info_problem(f, &err, false);
        return;
    }
    if (!tag_first_number(f->file, tag, &value))
        return;
    if (tag->tag == RESOLUTION_UNIT) {
        json_text(j, name, unit_words(value));
        return;
    }
    char number[TEXT_NUMBER];
    snprintf(number, sizeof number, "%.8g", (double)(float)value); /* as exact as GDAL's */
    json_text(j, name, number);
}

static void write_tag_items(json *j, info_file *f)
{
    const tz_level *level = tz_file_get_level(f->file, 0);
    uint16_t written[MAX_TAG_ITEMS]; /* a tag that is there twice is written once */
    size_t count = 0;
    for (int32_t i = 0; i < level->tag_count; i++) {
        tz_tag tag = TZ_TAG_INIT;
        tz_error err;
        if (tz_file_get_tag(&tag, f->file, level->ifd_offset, (uint32_t)i, &err) != TZ_OK)
            return;
        const char *name = tz_tag_gdal_name(tag.tag);
        size_t same = 0;
        while (same < count && written[same] != tag.tag)
            same++;
        if (name == NULL || same < count || count == MAX_TAG_ITEMS)
            continue;
        write_tag_item(j, f, name, &tag);
        written[count++] = tag.tag;
    }
}

/* The domain IMAGE_STRUCTURE ------------------------------------------------------------------- */

static void write_color_space(json *j, uint16_t photometric)
{
    if (photometric == TZ_PHOTOMETRIC_CMYK)
        json_text(j, "SOURCE_COLOR_SPACE", "CMYK");
    else if (photometric == TZ_PHOTOMETRIC_YCBCR)
        json_text(j, "SOURCE_COLOR_SPACE", "YCbCr");
    else if (photometric == TZ_PHOTOMETRIC_CIELAB)
        json_text(j, "SOURCE_COLOR_SPACE", "CIELAB");
}

static void write_structure(json *j, const info_file *f)
{
    const tz_level *level = tz_file_get_level(f->file, 0);
    char codec[TEXT_NUMBER];
    bool ycbcr_jpeg =
        level->compression == TZ_COMPRESSION_JPEG && f->info->photometric == TZ_PHOTOMETRIC_YCBCR;
    write_color_space(j, f->info->photometric);
    if (level->compression != TZ_COMPRESSION_NONE)
        json_text(j, "COMPRESSION", ycbcr_jpeg ? "YCbCr JPEG" : info_codec(level, codec));
    json_text(j, "INTERLEAVE",
              f->info->bands == 1 || f->info->planar == TZ_PLANAR_SEPARATE ? "BAND" : "PIXEL");
    if (level->predictor > 1) {
        char number[TEXT_NUMBER];
        snprintf(number, sizeof number, "%u", (unsigned)level->predictor);
        json_text(j, "PREDICTOR", number);
    }
    if (level->lerc_version == 4)
        json_text(j, "LERC_VERSION", "2.4");
    if (level->photometric == 0) /* as stored, also beside a colour map */
        json_text(j, "MINISWHITE", "YES");
    if (f->info->ghost->present && f->info->ghost->ifds_before_data && !f->info->ghost->edited)
        json_text(j, "LAYOUT", "COG");
}

static void write_rpc(json *j, const double *rpc)
{
    static const char *const names[] = {"ERR_BIAS",   "ERR_RAND",  "LINE_OFF",   "SAMP_OFF",
                                        "LAT_OFF",    "LONG_OFF",  "HEIGHT_OFF", "LINE_SCALE",
                                        "SAMP_SCALE", "LAT_SCALE", "LONG_SCALE", "HEIGHT_SCALE"};
    static const char *const lists[] = {"LINE_NUM_COEFF", "LINE_DEN_COEFF", "SAMP_NUM_COEFF",
                                        "SAMP_DEN_COEFF"};
    char number[TEXT_NUMBER];
    json_object(j, "RPC");
    for (size_t i = 0; i < 12; i++)
        json_text(j, names[i], text_double(number, rpc[i]));
    for (size_t i = 0; i < 4; i++) {
        json_text_begin(j, lists[i]);
        for (size_t k = 0; k < 20; k++) {
            text_double(number, rpc[12 + 20 * i + k]);
            json_text_part(j, " ", k > 0, false);
            json_text_part(j, number, strlen(number), false);
        }
        json_text_end(j);
    }
    json_object_end(j);
}

/* Domains -------------------------------------------------------------------------------------- */

/* Returns true for a name that another tag has given: an object must not have it twice. */
static bool is_given(const info_file *f, const tz_metadata_item *item)
{
    if (strcmp(item->domain, IMAGE_STRUCTURE) == 0)
        return true;
    if (item->domain[0] != '\0' || item->band >= 0)
        return false;
    if (strcmp(item->name, "AREA_OR_POINT") == 0)
        return f->info->geo->key_count > 0;
    const tz_level *level = tz_file_get_level(f->file, 0);
    for (int32_t i = 0; i < level->tag_count; i++) {
        tz_tag tag = TZ_TAG_INIT;
        tz_error err;
        if (tz_file_get_tag(&tag, f->file, level->ifd_offset, (uint32_t)i, &err) != TZ_OK)
            return false;
        const char *name = tz_tag_gdal_name(tag.tag);
        if (name != NULL && strcmp(item->name, name) == 0)
            return true;
    }
    return false;
}

/* Writes the items from *at on that have the band and the domain of the first one. */
static void write_items(json *j, const info_file *f, uint32_t *at, const char *domain, int32_t band)
{
    const tz_metadata_item *item;
    uint32_t next = *at;
    while ((item = meta_next(&f->metadata, &next)) != NULL && item->band == band &&
           strcmp(item->domain, domain) == 0) {
        if (!is_given(f, item))
            json_text(j, item->name, item->value);
        *at = next;
    }
}

/* Writes all other domains of a band, in order. */
static void write_domains(json *j, const info_file *f, uint32_t at, int32_t band)
{
    const tz_metadata_item *item;
    uint32_t next = at;
    while ((item = meta_next(&f->metadata, &next)) != NULL && item->band == band) {
        bool skip = strcmp(item->domain, IMAGE_STRUCTURE) == 0 ||
                    (band < 0 && f->info->geo->rpc != NULL && strcmp(item->domain, "RPC") == 0);
        if (!skip) {
            json_object(j, item->domain);
            write_items(j, f, &at, item->domain, band);
            json_object_end(j);
            next = at;
        }
        at = next;
    }
}

void info_write_metadata(json *j, info_file *f)
{
    uint32_t at = 0;
    json_object(j, "metadata");
    json_object(j, "");
    if (f->info->geo->key_count > 0)
        json_text(j, "AREA_OR_POINT",
                  f->info->geo->raster_type == TZ_RASTER_TYPE_POINT ? "Point" : "Area");
    write_tag_items(j, f);
    write_items(j, f, &at, "", -1);
    json_object_end(j);
    json_object(j, IMAGE_STRUCTURE);
    write_structure(j, f);
    json_object_end(j);
    if (f->info->geo->rpc != NULL)
        write_rpc(j, f->info->geo->rpc);
    write_domains(j, f, at, -1);
    json_object_end(j);
}

/* Returns true if samples have fewer bits than their type. */
static bool has_odd_bits(const tz_info *info)
{
    return info->bits_per_sample != 8 * tz_dtype_size(info->dtype);
}

void info_write_band_metadata(json *j, const info_file *f, uint32_t band)
{
    json_object(j, "metadata");
    write_domains(j, f, meta_find(&f->metadata, (int32_t)band), (int32_t)band);
    if (has_odd_bits(f->info)) {
        char number[TEXT_NUMBER];
        snprintf(number, sizeof number, "%u", (unsigned)f->info->bits_per_sample);
        json_object(j, IMAGE_STRUCTURE);
        json_text(j, "NBITS", number);
        json_object_end(j);
    }
    json_object_end(j);
}

/* As gdalinfo does: minimum and maximum, and again with mean and deviation if all four exist. */
void info_write_statistics(json *j, const info_file *f, uint32_t band)
{
    static const struct {
        const char *item;
        const char *key;
        const char *short_key;
    } kinds[] = {{"STATISTICS_MINIMUM", "minimum", "min"},
                 {"STATISTICS_MAXIMUM", "maximum", "max"},
                 {"STATISTICS_MEAN", "mean", NULL},
                 {"STATISTICS_STDDEV", "stdDev", NULL}};
    const char *values[4];
    bool all = true;
    for (size_t i = 0; i < 4; i++) {
        values[i] = meta_value(&f->metadata, (int32_t)band, "", kinds[i].item);
        all = all && values[i] != NULL;
        if (values[i] != NULL && kinds[i].short_key != NULL)
            json_double(j, kinds[i].short_key, strtod(values[i], NULL));
    }
    for (size_t i = 0; all && i < 4; i++)
        json_double(j, kinds[i].key, strtod(values[i], NULL));
}
