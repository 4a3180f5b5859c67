/* SPDX-License-Identifier: Apache-2.0
 * Files beside an image that say more about it: NAME.aux.xml, which GDAL writes, and world files.
 * Overviews and masks, which are TIFFs, are read with the image itself in open.c. */
#ifndef TZ_TIFF_GDAL_SIDECAR_H
#define TZ_TIFF_GDAL_SIDECAR_H

#include "tiff/file.h"

/* The path of the file of this kind beside path, in the arena; NULL in *out when there is none. */
tz_result tz_sidecar_find(const char *path, uint32_t sidecar, tz_arena *arena,
                          const tz_context *ctx, const char **out);

/* Notes in info.sidecars what came from a file. path lives as long as the handle. */
tz_result tz_sidecar_add_use(tz_file *file, uint32_t sidecar, uint32_t values, const char *path,
                             const tz_context *ctx);

/* Takes what the files beside path say, as GDAL does: NAME.aux.xml wins over the image, and a world
 * file counts where there is no transform yet. A defect of such a file is a warning. */
tz_result tz_sidecars_load(tz_file *file, const char *path, const tz_context *ctx);

/* aux_xml.c: applies the items that tz_metadata_begin_aux gives to file->info; *values:
 * TZ_VALUE_ bits of what was taken. */
tz_result tz_aux_apply(tz_file *file, const tz_metadata *aux, const tz_context *ctx,
                       uint32_t *values);

/* The six numbers of a world file of size bytes as the transform of pixel corners; a text that is
 * not a world file is a GEO warning, and *usable false. */
tz_result tz_world_parse(const char *text, size_t size, const tz_context *ctx, double transform[6],
                         bool *usable);

#endif
