/* SPDX-License-Identifier: Apache-2.0
 * Coordinate reference systems by PROJ. Each tz_crs has a PROJ context of its own: silent, without
 * network, shared with nobody. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "tiff/geo_wkt.h"
#include "tiff/tags.h"

static tz_context context_of(const tz_file *file, tz_error *err)
{
    const tz_info *info = tz_file_info(file);
    return (tz_context){.name = info->name, .err = err, .ifd = -1};
}

tz_result tz_crs_open(tz_crs **out, const tz_file *file, tz_error *err)
{
    tz_context ctx = context_of(file, err);
    return tz_crs_open_geo(out, &tz_file_info(file)->geo, &ctx);
}

#ifdef TZ_HAVE_PROJ

#include <proj.h>
#include <stdio.h>
#include <stdlib.h>

struct tz_crs {
    PJ_CONTEXT *proj;
    PJ *crs;
    PJ *to_lonlat; /* NULL: PROJ knows no way */
    char *file;    /* name for messages; may be NULL */
    char *wkt;
    const char *name; /* within crs */
    int epsg;
};

static PJ_CONTEXT *open_context(void)
{
    PJ_CONTEXT *proj = proj_context_create();
    if (!proj)
        return NULL;
    proj_log_level(proj, PJ_LOG_NONE);
    proj_context_set_enable_network(proj, 0);
    return proj;
}

static tz_place at_keys(void)
{
    return tz_at_tag(TZ_TAG_GEO_KEYS, TZ_NONE);
}

/* ---------------------------------------------------------------------------------------------
 * What EPSG has under a code
 * ------------------------------------------------------------------------------------------ */

static char *wkt_of(PJ_CONTEXT *proj, const PJ *object)
{
    const char *wkt = object ? proj_as_wkt(proj, object, PJ_WKT2_2019, NULL) : NULL;
    return wkt ? tz_copy_string(wkt) : NULL;
}

/* Text of up to four parts, for tz_free. NULL when one is missing or memory ran out. */
static char *join(const char *parts[4])
{
    size_t size = 1;
    for (size_t i = 0; i < 4; i++) {
        if (!parts[i])
            return NULL;
        size += strlen(parts[i]);
    }
    char *text = tz_alloc(size);
    if (text)
        snprintf(text, size, "%s%s%s%s", parts[0], parts[1], parts[2], parts[3]);
    return text;
}

/* EPSG's names hold no quotes, so that they need no escaping. */
static char *base_wkt(PJ_CONTEXT *proj, PJ *crs, const char *code)
{
    char head[256];
    char id[64];
    PJ *datum = proj_crs_get_datum_forced(proj, crs);
    PJ *meridian = proj_get_prime_meridian(proj, crs);
    char *datum_wkt = wkt_of(proj, datum);
    char *meridian_wkt = wkt_of(proj, meridian);
    char *text = NULL;
    if (datum_wkt && meridian_wkt) {
        bool with_meridian = strstr(datum_wkt, "PRIMEM[") == NULL;
        snprintf(head, sizeof head, "BASEGEOGCRS[\"%s\",", proj_get_name(crs));
        snprintf(id, sizeof id, ",ID[\"EPSG\",%s]]", code);
        size_t size = strlen(head) + strlen(datum_wkt) + strlen(meridian_wkt) + strlen(id) + 2;
        text = tz_alloc(size);
        if (text)
            snprintf(text, size, "%s%s%s%s%s", head, datum_wkt, with_meridian ? "," : "",
                     with_meridian ? meridian_wkt : "", id);
    }
    tz_free(datum_wkt);
    tz_free(meridian_wkt);
    proj_destroy(datum);
    proj_destroy(meridian);
    return text;
}
