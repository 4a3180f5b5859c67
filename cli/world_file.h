/* SPDX-License-Identifier: Apache-2.0
 * A transform as six lines of text beside an image, for programs that do not know GeoTIFF. */
#ifndef CLI_WORLD_FILE_H
#define CLI_WORLD_FILE_H

#include "output.h"

/* transform refers to corners of pixels, as GDAL's does; a world file refers to their centres. */
tz_result world_file_write(output *o, const double transform[6], tz_error *err);

#endif
