/* SPDX-License-Identifier: Apache-2.0
 * Well-known text: a buffer that grows, names from files made safe, and the parts that all kinds of
 * CRS share: units, ellipsoid, datum, prime meridian.
 *
 * The functions that add a part read its keys from wkt->geo: a code of EPSG is looked up in PROJ's
 * database, a user-defined object is written from its numbers, and a missing one gets the default
 * that GDAL uses. Names and numbers come from hostile files, so that control bytes, quotes and
 * invalid UTF-8 are replaced, numbers must be finite, and the text as a whole is bounded. The most
 * common units are in a table, so that most files need no look-up and no PROJ. */
#include "tiff/geo/wkt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "base/number.h"
#include "base/utf8.h"
#include "tiff/tags.h"

enum {
    MAX_WKT_SIZE = 64 * 1024, /* far above any CRS; a bound for hostile keys */
    MAX_NAME_LENGTH = 256
};

/* ---- text ---- */

void tz_wkt_deinit(tz_wkt *wkt)
{
    tz_free(wkt->text);
    wkt->text = NULL;
    wkt->size = wkt->capacity = 0;
}

/* The bound is checked before memory is asked for; the buffer doubles. */
static void add_wkt_bytes(tz_wkt *wkt, const char *text, size_t size)
{
    if (wkt->result == TZ_OK && size > MAX_WKT_SIZE - wkt->size - 1)
        wkt->result = TZ_FAIL_GEO(wkt->ctx, tz_at_geo_keys(),
                                  "the text of the CRS is longer than %d bytes", MAX_WKT_SIZE);
    if (wkt->result != TZ_OK)
        return;
    if (wkt->size + size + 1 > wkt->capacity) {
        const size_t capacity = 2 * (wkt->size + size + 1);
        char *larger = tz_realloc_array(wkt->text, capacity, 1);
        if (!larger) {
            wkt->result = tz_fail_nomem(wkt->ctx, capacity);
            return;
        }
        wkt->text = larger;
        wkt->capacity = capacity;
    }
    memcpy(wkt->text + wkt->size, text, size);
    wkt->size += size;
    wkt->text[wkt->size] = '\0';
}

void tz_wkt_add(tz_wkt *wkt, const char *text)
{
    add_wkt_bytes(wkt, text, strlen(text));
}

/* For short pieces of text with a number in them; longer ones are cut. */
void tz_wkt_addf(tz_wkt *wkt, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tz_wkt_add(wkt, text);
}

void tz_wkt_add_name(tz_wkt *wkt, const char *text, size_t size)
{
    const size_t limit = tz_min_size(size, MAX_NAME_LENGTH);
    tz_wkt_add(wkt, "\"");
    for (size_t i = 0; i < limit;) {
        uint32_t code;
        const unsigned char c = (unsigned char)text[i];
        const size_t step = tz_utf8_decode((const unsigned char *)text + i, size - i, &code);
        if (i + step > limit)
            break;
        if (step == 0) /* not UTF-8 */
            tz_wkt_add(wkt, "?");
        else if (c < 0x20 || c == 0x7F)
            tz_wkt_add(wkt, " ");
        else if (c == '"')
            tz_wkt_add(wkt, "\"\"");
        else
            add_wkt_bytes(wkt, text + i, step);
        i += tz_max_size(step, 1);
    }
    tz_wkt_add(wkt, "\"");
}

void tz_wkt_add_number(tz_wkt *wkt, uint16_t key, double value)
{
    char text[32];
    if (wkt->result != TZ_OK)
        return;
    if (!isfinite(value)) {
        wkt->result = TZ_FAIL_GEO(wkt->ctx, tz_at_tag(TZ_TAG_GEO_DOUBLES, TZ_NO_VALUE),
                                  "key %s (%u) is missing, infinite or not a number",
                                  tz_geo_key_name(key), key);
        return;
    }
    tz_format_double(value, text, sizeof text);
    tz_wkt_add(wkt, text);
}

void tz_wkt_add_epsg(tz_wkt *wkt, tz_epsg_kind kind, uint16_t code)
{
    char *text = NULL;
    if (wkt->result != TZ_OK)
        return;
    wkt->result = tz_epsg_wkt(kind, code, wkt->ctx, &text);
    if (wkt->result == TZ_OK)
        tz_wkt_add(wkt, text);
    tz_free(text);
}

/* ---- names ---- */

/* strstr for text without a closing NUL. */
static const char *find_text(const char *text, size_t size, const char *what)
{
    size_t length = strlen(what);
    for (; size >= length; text++, size--)
        if (memcmp(text, what, length) == 0)
            return text;
    return NULL;
}

/* ArcGIS writes "GCS Name = ...|Datum = ...|Ellipsoid = ...|Primem = ...|" into one citation. */
bool tz_geo_citation_name(const tz_geo *geo, uint16_t key, const char *field, const char **text,
                          size_t *size)
{
    const tz_geo_key *citation = tz_geo_text(geo, key);
    if (!citation)
        return false;
    const char *start = citation->value.text;
    const char *limit = start + tz_min_u32(citation->count, 4096);
    bool has_fields = find_text(start, (size_t)(limit - start), " = ") != NULL;
    if (has_fields != (field != NULL))
        return false;
    if (field) {
        start = find_text(start, (size_t)(limit - start), field);
        if (!start)
            return false;
        start += strlen(field);
    }
    const char *end = start;
    while (end < limit && *end != '\0' && (!field || *end != '|'))
        end++;
    if (end == start)
        return false;
    *text = start;
    *size = (size_t)(end - start);
    return true;
}

/* Adds a name of the geodetic citation: a field of it, the whole (if that is allowed), or
 * "unknown".
 */
static void add_citation_field(tz_wkt *wkt, const char *field, bool whole)
{
    const char *text = "unknown";
    size_t size = strlen(text);
    if (!tz_geo_citation_name(wkt->geo, TZ_KEY_GEODETIC_CITATION, field, &text, &size) && whole)
        (void)tz_geo_citation_name(wkt->geo, TZ_KEY_GEODETIC_CITATION, NULL, &text, &size);
    tz_wkt_add_name(wkt, text, size);
}

/* ---- units ---- */

/* The units of nearly all files. */
static const struct {
    uint16_t code;
    const char *wkt;
} units[] = {
    {9001, "LENGTHUNIT[\"metre\",1,ID[\"EPSG\",9001]]"},
    {9002, "LENGTHUNIT[\"foot\",0.3048,ID[\"EPSG\",9002]]"},
    {9003, "LENGTHUNIT[\"US survey foot\",0.304800609601219,ID[\"EPSG\",9003]]"},
    {9101, "ANGLEUNIT[\"radian\",1,ID[\"EPSG\",9101]]"},
    {9102, "ANGLEUNIT[\"degree\",0.0174532925199433,ID[\"EPSG\",9102]]"},
    {9105, "ANGLEUNIT[\"grad\",0.0157079632679489,ID[\"EPSG\",9105]]"},
    {9107,
     TZ_WKT_DEGREE}, /* degrees, minutes and seconds: the form of display, not of the values */
    {9108, TZ_WKT_DEGREE},
    {9122, TZ_WKT_DEGREE},
};

static void add_unit_from_code(tz_wkt *wkt, uint16_t code)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (units[i].code == code) {
            tz_wkt_add(wkt, units[i].wkt);
            return;
        }
    }
    tz_wkt_add_epsg(wkt, TZ_EPSG_UNIT, code);
}

/* A user-defined unit has its size in another key; size_key 0 means that there is none, and then
 * the number is missing, which is an error. */
static void add_unit_from_key(tz_wkt *wkt, const char *keyword, uint16_t code, uint16_t size_key)
{
    if (code != TZ_GEO_USER_DEFINED) {
        add_unit_from_code(wkt, code);
        return;
    }
    const double size = tz_geo_double(wkt->geo, size_key, NAN); /* must be above 0 */
    tz_wkt_addf(wkt, "%s[\"unknown\",", keyword);
    tz_wkt_add_number(wkt, size_key, size > 0 ? size : NAN);
    tz_wkt_add(wkt, "]");
}

/* Without a key the unit is the metre, as with GDAL. */
void tz_wkt_add_length_unit(tz_wkt *wkt, uint16_t units_key, uint16_t size_key)
{
    uint16_t code = tz_geo_short(wkt->geo, units_key, 0);
    add_unit_from_key(wkt, "LENGTHUNIT", code != 0 ? code : 9001, size_key);
}

/* Without a key the unit is that of the CRS the angles belong to, or the degree. */
void tz_wkt_add_angle_unit(tz_wkt *wkt)
{
    uint16_t code = tz_geo_short(wkt->geo, TZ_KEY_GEOG_ANGULAR_UNITS, 0);
    uint16_t crs = tz_geo_short(wkt->geo, TZ_KEY_GEODETIC_CRS, 0);
    if (code == 0 && tz_geo_is_code(crs))
        tz_wkt_add_epsg(wkt, TZ_EPSG_UNIT_OF_CRS, crs);
    else
        add_unit_from_key(wkt, "ANGLEUNIT", code != 0 ? code : 9102, TZ_KEY_GEOG_ANGULAR_UNIT_SIZE);
}

void tz_wkt_add_azimuth_unit(tz_wkt *wkt)
{
    uint16_t code = tz_geo_short(wkt->geo, TZ_KEY_GEOG_AZIMUTH_UNITS, 0);
    if (tz_geo_is_code(code))
        add_unit_from_code(wkt, code);
    else
        tz_wkt_add_angle_unit(wkt);
}

/* ---- ellipsoid, datum, prime meridian ---- */

/* Taken from its own key or from the semi-minor axis; 0 is a sphere, for which some files have
 * infinity. */
static double inverse_flattening(const tz_geo *geo, double semi_major)
{
    double value = tz_geo_double(geo, TZ_KEY_INV_FLATTENING, NAN);
    double semi_minor = tz_geo_double(geo, TZ_KEY_SEMI_MINOR_AXIS, NAN);
    if (isinf(value))
        return 0;
    if (!isnan(value) || !(semi_minor > 0))
        return value;
    return semi_major == semi_minor ? 0 : semi_major / (semi_major - semi_minor);
}

static void add_ellipsoid(tz_wkt *wkt)
{
    uint16_t code = tz_geo_short(wkt->geo, TZ_KEY_ELLIPSOID, 0);
    if (tz_geo_is_code(code)) {
        tz_wkt_add_epsg(wkt, TZ_EPSG_ELLIPSOID, code);
        return;
    }
    double semi_major = tz_geo_double(wkt->geo, TZ_KEY_SEMI_MAJOR_AXIS, NAN);
    tz_wkt_add(wkt, "ELLIPSOID[");
    add_citation_field(wkt, "Ellipsoid = ", false);
    tz_wkt_add(wkt, ",");
    tz_wkt_add_number(wkt, TZ_KEY_SEMI_MAJOR_AXIS, semi_major > 0 ? semi_major : NAN);
    tz_wkt_add(wkt, ",");
    tz_wkt_add_number(wkt, TZ_KEY_INV_FLATTENING, inverse_flattening(wkt->geo, semi_major));
    tz_wkt_add(wkt, ",");
    tz_wkt_add_length_unit(wkt, TZ_KEY_GEOG_LINEAR_UNITS, TZ_KEY_GEOG_LINEAR_UNIT_SIZE);
    tz_wkt_add(wkt, "]");
}

/* Without a code, a longitude and a name the meridian is that of Greenwich. Other bodies than the
 * Earth have names for theirs. */
static void add_prime_meridian(tz_wkt *wkt)
{
    uint16_t code = tz_geo_short(wkt->geo, TZ_KEY_PRIME_MERIDIAN, 0);
    double longitude = tz_geo_double(wkt->geo, TZ_KEY_PRIME_MERIDIAN_LONGITUDE, 0);
    const char *name;
    size_t size;
    if (tz_geo_is_code(code)) {
        tz_wkt_add_epsg(wkt, TZ_EPSG_PRIME_MERIDIAN, code);
    } else if (longitude == 0 && !tz_geo_citation_name(wkt->geo, TZ_KEY_GEODETIC_CITATION,
                                                       "Primem = ", &name, &size)) {
        tz_wkt_add(wkt, "PRIMEM[\"Greenwich\",0," TZ_WKT_DEGREE "]");
    } else {
        tz_wkt_add(wkt, "PRIMEM[");
        add_citation_field(wkt, "Primem = ", false);
        tz_wkt_add(wkt, ",");
        tz_wkt_add_number(wkt, TZ_KEY_PRIME_MERIDIAN_LONGITUDE, longitude);
        tz_wkt_add(wkt, ",");
        tz_wkt_add_angle_unit(wkt);
        tz_wkt_add(wkt, "]");
    }
}

/* A datum of EPSG that is not based on Greenwich includes its meridian. */
void tz_wkt_add_frame(tz_wkt *wkt)
{
    uint16_t datum = tz_geo_short(wkt->geo, TZ_KEY_DATUM, 0);
    size_t start = wkt->size;
    if (tz_geo_is_code(datum)) {
        tz_wkt_add_epsg(wkt, TZ_EPSG_DATUM, datum);
    } else {
        tz_wkt_add(wkt, "DATUM[");
        add_citation_field(wkt, "Datum = ", true);
        tz_wkt_add(wkt, ",");
        add_ellipsoid(wkt);
        tz_wkt_add(wkt, "]");
    }
    if (wkt->result != TZ_OK || strstr(wkt->text + start, "PRIMEM["))
        return;
    tz_wkt_add(wkt, ",");
    add_prime_meridian(wkt);
}
