/* SPDX-License-Identifier: Apache-2.0
 * Files beside an image that say more about it: NAME.aux.xml, which GDAL writes, and world files.
 * Overviews and masks, which are TIFFs, are read with the image itself in open.c. */
#ifndef TZ_TIFF_GDAL_SIDECAR_H
#define TZ_TIFF_GDAL_SIDECAR_H

#include "tiff/file.h"

/* Finds the file of this kind beside path; *out is its path in the arena, or NULL. */
tz_result tz_sidecar_find(const char *path, uint32_t sidecar, tz_arena *arena,
                          const tz_context *ctx, const char **out);

/* Notes in file->sidecar_uses the values that came from a file. path lives as long as the handle.
 */
tz_result tz_sidecar_add_use(tz_file *file, uint32_t sidecar, uint32_t values, const char *path,
                             const tz_context *ctx);

/* Reads the files beside path, as GDAL does: NAME.aux.xml wins over the image, and a world file
 * counts if there is no transform yet. A defect of such a file is a warning. */
tz_result tz_sidecars_load(tz_file *file, const char *path, const tz_context *ctx);

/* aux_xml.c: applies the items that tz_metadata_begin_aux gives to file->info; *values gets the
 * TZ_SIDECAR_VALUE_ bits of those that were used. */
tz_result tz_aux_apply(tz_file *file, const tz_metadata *aux, const tz_context *ctx,
                       uint32_t *values);

/* Turns the six numbers of a world file into a transform of pixel corners; a text that is not a
 * world file is a GEO warning, and *usable is false. */
tz_result tz_world_parse(const char *text, size_t size, const tz_context *ctx, double transform[6],
                         bool *usable);

#endif
