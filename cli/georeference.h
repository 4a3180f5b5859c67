/* SPDX-License-Identifier: Apache-2.0
 * The georeference of a request's result: transform and coordinate reference system. */
#ifndef CLI_GEOREFERENCE_H
#define CLI_GEOREFERENCE_H

#include "json.h"
#include "request.h"

/* From columns and rows of the result, in GDAL's order. False: the file has no transform. */
bool georeference_transform(const request *r, double out[6]);

/* Lines of a page; none where the file has nothing to say. */
void georeference_print(const request *r);
/* The object "geo". */
void georeference_write(json *j, const request *r);

#endif
