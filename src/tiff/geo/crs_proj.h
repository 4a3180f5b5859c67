/* SPDX-License-Identifier: Apache-2.0
 * The handle of a coordinate reference system, and helpers that the files which ask PROJ share:
 * crs_epsg.c (objects by code), crs_proj.c (handles), crs_compare.c, crs_keys.c (keys for writing)
 * and crs_transform.c. */
#ifndef TZ_TIFF_GEO_CRS_PROJ_H
#define TZ_TIFF_GEO_CRS_PROJ_H

#include "tiff/geo/wkt.h"

/* Fails with the error of a build without PROJ. */
tz_result tz_fail_without_proj(const tz_context *ctx);

/* Creates a handle from text that PROJ reads as it is. The text must not be one that names a file.
 */
tz_result tz_crs_open_text(tz_crs **out, const char *definition, const tz_context *ctx);

/* Returns 360 degrees in the unit of a geographic CRS; 0 for any other. */
double tz_crs_full_turn(const tz_crs *crs);

#ifdef TZ_HAVE_PROJ

#include <proj.h>

/* proj_trans_bounds came with 8.2. */
#if PROJ_VERSION_MAJOR * 100 + PROJ_VERSION_MINOR < 802
#error "terrazzo needs PROJ 8.2 or later, or TERRAZZO_WITH_PROJ=OFF"
#endif

/* PROJ's first complaint since text was set to "". */
typedef struct tz_proj_log {
    char text[256];
} tz_proj_log;

struct tz_crs {
    PJ_CONTEXT *proj;
    tz_proj_log log;
    PJ *crs;
    char *file; /* name for messages; may be NULL */
    char *name;
    char *wkt;
    int epsg; /* of the whole; 0: none */
    int epsg_horizontal;
    int epsg_vertical;
    /* Made on first use. */
    bool has_tried_lonlat;
    PJ *to_lonlat; /* NULL: PROJ has no transform */
    char *exports[TZ_CRS_FORMAT_PROJ_STRING + 1];
};

/* Creates a context that is silent and stays off the network; NULL if memory ran out. */
PJ_CONTEXT *tz_proj_create_context(void);
/* Keeps PROJ's complaints in *log, which must outlive the context. */
void tz_proj_keep_log(PJ_CONTEXT *proj, tz_proj_log *log);
/* Returns the reason of the last failure, for a message. */
const char *tz_proj_reason(PJ_CONTEXT *proj, const tz_proj_log *log);

/* Adds the WKT of an object; false if PROJ cannot express it. */
bool tz_wkt_add_object(tz_wkt *wkt, PJ_CONTEXT *proj, const PJ *object);
/* Adds a geographic CRS as BASEGEOGCRS[...]. */
bool tz_wkt_add_base_crs(tz_wkt *wkt, PJ_CONTEXT *proj, const PJ *crs);

/* True for two sizes of units, axes or angles that differ by rounding only. */
bool tz_proj_is_same_size(double a, double b);
/* Metres or radians of the unit of a CRS's first axis; 0: not known. */
double tz_proj_unit_size(PJ_CONTEXT *proj, const PJ *crs);
/* The EPSG code that an object carries; 0: none. */
int tz_proj_epsg(const PJ *object);
/* Creates a CRS by its EPSG code; NULL if there is none. */
PJ *tz_proj_create_from_code(PJ_CONTEXT *proj, int code);

/* Finds the EPSG code of a CRS by its parameters, whatever it carries; 0: none. */
int tz_proj_identify_epsg(PJ_CONTEXT *proj, const PJ *crs);

/* The horizontal and the vertical part of a CRS, for proj_destroy. The horizontal part of a CRS
 * that is not compound is the CRS itself, and its vertical part is NULL. */
PJ *tz_proj_horizontal(PJ_CONTEXT *proj, const PJ *crs);
PJ *tz_proj_vertical(PJ_CONTEXT *proj, const PJ *crs);

/* True for the same projection of the same geographic CRS in the same unit; with any_datum, of the
 * same ellipsoid. Both must be projected. */
bool tz_proj_is_same_projection(PJ_CONTEXT *proj, const PJ *a, const PJ *b, bool any_datum);

/* True if coordinates, x first, mean the same place in both. */
bool tz_proj_is_same(PJ_CONTEXT *proj, const PJ *a, const PJ *b);

#else

struct tz_crs {
    uint16_t epsg;
    uint16_t epsg_vertical; /* 0: not compound */
};

#endif

#endif
