/* SPDX-License-Identifier: Apache-2.0
 * Helpers that crs_epsg.c, which asks PROJ's database, shares with crs_proj.c. */
#ifndef TZ_TIFF_GEO_CRS_PROJ_H
#define TZ_TIFF_GEO_CRS_PROJ_H

#include "tiff/geo/wkt.h"

/* Fails with the error of a build without PROJ. */
tz_result tz_fail_without_proj(const tz_context *ctx);

#ifdef TZ_HAVE_PROJ

#include <proj.h>

/* Creates a context that is silent and stays off the network; NULL if memory ran out. */
PJ_CONTEXT *tz_proj_create_context(void);

/* Adds the WKT of an object; false if PROJ cannot express it. */
bool tz_wkt_add_object(tz_wkt *wkt, PJ_CONTEXT *proj, const PJ *object);
/* Adds a geographic CRS as BASEGEOGCRS[...]. */
bool tz_wkt_add_base_crs(tz_wkt *wkt, PJ_CONTEXT *proj, const PJ *crs);

/* Metres or radians of the unit of a CRS's first axis; 0: not known. */
double tz_proj_unit_size(PJ_CONTEXT *proj, const PJ *crs);
/* The EPSG code that an object carries; 0: none. */
int tz_proj_epsg(const PJ *object);

#endif

#endif
