/* SPDX-License-Identifier: Apache-2.0
 * What the two files that call PROJ share. */
#ifndef TZ_TIFF_GEO_CRS_PROJ_H
#define TZ_TIFF_GEO_CRS_PROJ_H

#include "tiff/geo/wkt.h"

/* The error of a build without PROJ. */
tz_result tz_fail_without_proj(const tz_context *ctx);

/* What EPSG calls a CRS that is given as WKT; 0: it has no code there. */
typedef struct tz_crs_codes {
    uint16_t epsg; /* of the horizontal part */
    uint16_t epsg_vertical;
    uint16_t model_type; /* of tz_geo; 0: not known */
    char *wkt;           /* for tz_free; of a projected CRS without a code: as ArcGIS writes it */
} tz_crs_codes;

/* Without PROJ: the code at the end of the text. Text that is not understood leaves *out as it is.
 */
tz_result tz_proj_identify(const char *text, const tz_context *ctx, tz_crs_codes *out);

#ifdef TZ_HAVE_PROJ

#include <proj.h>

/* A context that is silent and stays off the network; NULL when memory ran out. */
PJ_CONTEXT *tz_proj_create_context(void);

/* WKT of an object; false when PROJ cannot express it. */
bool tz_wkt_add_object(tz_wkt *wkt, PJ_CONTEXT *proj, const PJ *object);
/* A geographic CRS as BASEGEOGCRS[...]. */
bool tz_wkt_add_base_crs(tz_wkt *wkt, PJ_CONTEXT *proj, const PJ *crs);

/* Metres or radians of the unit of a CRS's first axis; 0: not known. */
double tz_proj_unit_size(PJ_CONTEXT *proj, const PJ *crs);
/* The code of an object of EPSG's; 0: none. */
int tz_proj_epsg(const PJ *object);

#endif

#endif
