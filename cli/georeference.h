/* SPDX-License-Identifier: Apache-2.0
 * The georeference of a request's result: transform and coordinate reference system. */
#ifndef CLI_GEOREFERENCE_H
#define CLI_GEOREFERENCE_H

#include "json.h"
#include "request.h"

/* Makes the transform from columns and rows of the result, in GDAL's order. false: the file has
 * none. */
bool georeference_transform(const request *r, double out[6]);

/* Prints lines of a page; none if the file has no georeference. */
void georeference_print(const request *r);
/* Writes the object "geo". */
void georeference_write(json *j, const request *r);

#endif
