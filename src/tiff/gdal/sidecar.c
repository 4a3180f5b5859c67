/* SPDX-License-Identifier: Apache-2.0
 * Finding and reading the files beside an image: NAME.aux.xml and world files.
 *
 * Names are tried in lower and in upper case, as GDAL does. NAME.aux.xml is read in pieces by the
 * metadata parser and applied by aux_xml.c; it wins over the image, and a world file counts only if
 * there is no transform yet. Messages name the sidecar, and its defects are warnings. */
#include "tiff/gdal/sidecar.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "base/number.h"
#include "io/source.h"

enum { AUX_BUFFER_SIZE = 16384, MAX_WORLD_SIZE = 4096, WORLD_LINES = 6, MAX_EXTENSION_LENGTH = 32 };

/* ---- names ---- */

/* Tries a name: stem bytes of path, and then text. Writes the path if such a file exists, in lower
 * or in upper case. Links and directories are found too: opening refuses them with a reason. */
static bool find_name_beside(const char *path, size_t stem, const char *text, char *out,
                             size_t size)
{
    struct stat found;
    for (int upper = 0; upper < 2; upper++) {
        const int length = snprintf(out, size, "%.*s%s", (int)stem, path, text);
        if (length < 0 || (size_t)length >= size)
            return false;
        for (char *c = out + stem; *c != '\0'; c++)
            *c = (char)(upper ? toupper((unsigned char)*c) : tolower((unsigned char)*c));
        if (lstat(out, &found) == 0)
            return true;
    }
    return false;
}

/* For image.tif: image.tfw, image.tifw, image.wld, as GDAL looks for them. */
static bool find_world_file(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    const char *extension = dot && dot[1] != '\0' ? dot + 1 : NULL;
    const size_t length = extension ? strlen(extension) : 0;
    const size_t stem = extension ? (size_t)(dot - path) : strlen(path);
    char text[MAX_EXTENSION_LENGTH + 3];
    if (length >= 2 && length < MAX_EXTENSION_LENGTH) {
        (void)snprintf(text, sizeof text, ".%c%cw", extension[0], extension[length - 1]);
        if (find_name_beside(path, stem, text, out, size))
            return true;
        (void)snprintf(text, sizeof text, ".%sw", extension);
        if (find_name_beside(path, stem, text, out, size))
            return true;
    }
    return find_name_beside(path, stem, ".wld", out, size);
}

bool tz_sidecar_get_path(char *out, size_t size, const char *path, uint32_t sidecar)
{
    static const struct {
        uint32_t sidecar;
        const char *suffix;
    } rows[] = {{TZ_SIDECAR_OVR, ".ovr"}, {TZ_SIDECAR_MSK, ".msk"}, {TZ_SIDECAR_AUX, ".aux.xml"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].sidecar == sidecar)
            return find_name_beside(path, strlen(path), rows[i].suffix, out, size);
    return sidecar == TZ_SIDECAR_WORLD && find_world_file(path, out, size);
}

tz_result tz_sidecar_find(const char *path, uint32_t sidecar, tz_arena *arena,
                          const tz_context *ctx, const char **out)
{
    const size_t size = strlen(path) + MAX_EXTENSION_LENGTH + 2;
    char *found = tz_arena_alloc(arena, size);
    if (!found)
        return tz_fail_nomem(ctx, size);
    *out = tz_sidecar_get_path(found, size, path, sidecar) ? found : NULL;
    return TZ_OK;
}

/* In the order of the bits TZ_SIDECAR_VALUE_. */
const char *tz_sidecar_value_name(uint32_t value)
{
    static const char *const names[] = {"transform", "crs",   "control points", "nodata",
                                        "metadata",  "bands", "overviews",      "masks"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (value == (uint32_t)1 << i)
            return names[i];
    return "unknown";
}

/* The list has room for one use of each kind of sidecar, and is allocated at the first. */
tz_result tz_sidecar_add_use(tz_file *file, uint32_t sidecar, uint32_t values, const char *path,
                             const tz_context *ctx)
{
    tz_info *info = &file->info;
    if (values == 0)
        return TZ_OK;
    if (!file->sidecar_uses)
        file->sidecar_uses = tz_arena_array(&file->arena, TZ_MAX_SIDECARS, sizeof(tz_sidecar_use));
    if (!file->sidecar_uses)
        return tz_fail_nomem(ctx, TZ_MAX_SIDECARS * sizeof(tz_sidecar_use));
    file->sidecar_uses[info->sidecar_count++] = (tz_sidecar_use){sidecar, values, path};
    return TZ_OK;
}

/* ---- NAME.aux.xml ---- */

/* Reads the file through a buffer into the parser, and applies its items. The budget counts twice
 * the bytes of the file, which is the most that the items can take. */
static tz_result load_aux_file(tz_file *file, tz_source *source, const char *path,
                               const tz_context *ctx)
{
    tz_metadata_parser *parser = NULL;
    tz_metadata aux = {0};
    uint32_t values = 0;
    bool granted = false;
    if (file->info.page != 0)
        return tz_warn(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_META, tz_no_location(),
                       "the file describes the first page, and this is another one; not used");
    TZ_TRY(tz_file_reserve(file, tz_no_location(), tz_mul_capped(source->size, 2), ctx, &granted));
    if (!granted)
        return TZ_OK;
    TZ_TRY(tz_metadata_begin_aux(&parser, source->size, file->info.bands, ctx));
    char *buffer = tz_alloc(AUX_BUFFER_SIZE);
    tz_result result = buffer ? TZ_OK : tz_fail_nomem(ctx, AUX_BUFFER_SIZE);
    for (uint64_t done = 0;
         result == TZ_OK && done < source->size && !tz_metadata_is_done(parser);) {
        const size_t size = (size_t)tz_min(source->size - done, AUX_BUFFER_SIZE);
        result = tz_source_read(source, done, size, buffer, ctx);
        if (result == TZ_OK)
            result = tz_metadata_feed(parser, buffer, size);
        done += size;
    }
    tz_free(buffer);
    const tz_result finished = tz_metadata_finish(parser, result == TZ_OK, &aux);
    if (result == TZ_OK)
        result = finished;
    if (result == TZ_OK)
        result = tz_source_check(source, ctx);
    if (result == TZ_OK)
        result = tz_aux_apply(file, &aux, ctx, &values);
    tz_metadata_deinit(&aux);
    TZ_TRY(result);
    return tz_sidecar_add_use(file, TZ_SIDECAR_AUX, values, path, ctx);
}

/* ---- world files ---- */

/* Reads the next number of the text; some files have decimal commas, and some have words after the
 * number in a line. */
static bool next_number(const char **at, const char *end, double *out)
{
    char word[64];
    size_t size = 0;
    while (*at < end && isspace((unsigned char)**at))
        ++*at;
    while (*at < end && !isspace((unsigned char)**at) && size < sizeof word - 1) {
        word[size++] = **at == ',' ? '.' : **at;
        ++*at;
    }
    word[size] = '\0';
    while (*at < end && **at != '\n' && **at != '\r') /* the rest of the line is ignored */
        ++*at;
    return size > 0 && tz_parse_double(word, out, NULL) && isfinite(*out);
}

/* World files refer to pixel centres, also for an image of another raster type. */
tz_result tz_world_parse(const char *text, size_t size, const tz_context *ctx, double transform[6],
                         bool *usable)
{
    const char *at = text;
    const char *end = text + size;
    double c[WORLD_LINES] = {0};
    *usable = true;
    for (size_t i = 0; i < WORLD_LINES && *usable; i++)
        *usable = next_number(&at, end, &c[i]);
    *usable = *usable && (c[0] != 0 || c[2] != 0) && (c[3] != 0 || c[1] != 0);
    const double shifted[6] = {c[4] - 0.5 * c[0] - 0.5 * c[2], c[0], c[2],
                               c[5] - 0.5 * c[1] - 0.5 * c[3], c[1], c[3]};
    *usable =
        *usable && isfinite(shifted[0]) && isfinite(shifted[3]) && c[0] * c[3] - c[1] * c[2] != 0;
    if (!*usable)
        return TZ_WARN_GEO(ctx, tz_no_location(),
                           "a world file has six numbers, one a line, that map pixels to places; "
                           "not used");
    memcpy(transform, shifted, sizeof shifted);
    return TZ_OK;
}

/* A world file is the last choice: an image with a transform of its own ignores it. */
static tz_result load_world_file(tz_file *file, tz_source *source, const char *path,
                                 const tz_context *ctx)
{
    char text[MAX_WORLD_SIZE];
    bool usable = false;
    tz_geo *geo = &file->geo;
    if (geo->has_transform)
        return TZ_OK;
    const size_t size = (size_t)tz_min(source->size, MAX_WORLD_SIZE);
    TZ_TRY(tz_source_read(source, 0, size, text, ctx));
    TZ_TRY(tz_world_parse(text, size, ctx, geo->transform, &usable));
    if (!usable)
        return TZ_OK;
    geo->has_transform = true;
    geo->gcps = NULL;
    geo->gcp_count = 0;
    return tz_sidecar_add_use(file, TZ_SIDECAR_WORLD, TZ_SIDECAR_VALUE_TRANSFORM, path, ctx);
}

/* ---- both ---- */

typedef tz_result (*sidecar_loader)(tz_file *file, tz_source *source, const char *path,
                                    const tz_context *ctx);

/* The name in messages is that of the file beside the image. */
static tz_result load_sidecar(tz_file *file, const char *image, uint32_t sidecar,
                              sidecar_loader load, const tz_context *ctx)
{
    tz_source *source = NULL;
    tz_context inner = *ctx;
    const char *path = NULL;
    if (!(file->sidecars & sidecar))
        return TZ_OK;
    TZ_TRY(tz_sidecar_find(image, sidecar, &file->arena, ctx, &path));
    if (!path)
        return TZ_OK;
    inner.name = path;
    inner.ifd = -1;
    TZ_TRY(tz_source_open_file(&source, path, true, &inner));
    const tz_result result = load(file, source, path, &inner);
    tz_source_close(source);
    return result;
}

tz_result tz_sidecars_load(tz_file *file, const char *path, const tz_context *ctx)
{
    TZ_TRY(load_sidecar(file, path, TZ_SIDECAR_AUX, load_aux_file, ctx));
    return load_sidecar(file, path, TZ_SIDECAR_WORLD, load_world_file, ctx);
}
