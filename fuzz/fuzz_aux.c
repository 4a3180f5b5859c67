/* SPDX-License-Identifier: Apache-2.0
 * NAME.aux.xml and world files of any contents.
 *
 * An input is four bytes: flags, bands, size of the parts that are fed, type of the image; and
 * then the file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "feed_metadata.h"
#include "tiff/gdal/sidecar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FLAG_STRICT = 1, FLAG_LIMITS = 2, FLAG_TRUNCATED = 4, FLAG_OWN = 8 };
enum { HEADER = 4 };

static void check_items(const tz_metadata *metadata, uint32_t bands)
{
    tz_metadata_item item;
    for (uint32_t i = 0; i < metadata->count; i++) {
        check(tz_metadata_get_item(metadata, i, &item));
        check(item.band >= -1 && item.band < (int32_t)bands);
        check(item.value[0] != '\0');
        check(strlen(item.name) < metadata->pool_size && strlen(item.domain) < metadata->pool_size);
        check(strlen(item.role) < metadata->pool_size);
    }
}

static void check_applied(const tz_file *file, uint32_t values)
{
    const tz_info *info = &file->info;
    tz_metadata_item item;
    check_items(&file->metadata, info->bands);
    for (uint32_t i = 0; tz_metadata_get_item(&file->metadata, i, &item); i++)
        check(item.role[0] != '@');
    check((unsigned)info->nodata.kind <= TZ_NODATA_KIND_FLOAT);
    check(!file->geo.has_transform || file->geo.gcp_count == 0);
    check(!(values & TZ_SIDECAR_VALUE_GCPS) || file->geo.gcp_count > 0);
    check(!(values & TZ_SIDECAR_VALUE_CRS) || file->geo.has_crs);
    for (unsigned i = 0; file->geo.has_transform && i < 6; i++)
        check(isfinite(file->geo.transform[i]));
    for (uint32_t i = 0; i < file->geo.gcp_count; i++)
        check(isfinite(file->geo.gcps[i].x) && isfinite(file->geo.gcps[i].column));
}

/* Metadata of the image's own, which that of the file meets. */
static void add_own(tz_file *file, const tz_context *ctx)
{
    static const char xml[] = "<GDALMetadata><Item name=\"A\">1</Item>"
                              "<Item name=\"SCALE\" sample=\"0\" role=\"scale\">2</Item>"
                              "<Item name=\"B\" sample=\"0\">2</Item></GDALMetadata>";
    tz_metadata_parser *parser = NULL;
    if (tz_metadata_begin(&parser, sizeof xml, file->info.bands, ctx) != TZ_OK)
        return;
    const tz_result fed = tz_metadata_feed(parser, xml, sizeof xml);
    (void)!tz_metadata_finish(parser, fed == TZ_OK, &file->metadata);
}

static void run_aux(const uint8_t *data, const uint8_t *bytes, size_t size, const tz_context *ctx)
{
    tz_metadata_parser *parser = NULL;
    tz_metadata aux = {0};
    tz_file file = {.info = {.bands = data[1], .dtype = (tz_dtype)(data[3] % 17)}};
    uint32_t values = 0;
    tz_result result = tz_metadata_begin_aux(&parser, size, data[1], ctx);
    if (result == TZ_OK) {
        result = feed(parser, bytes, size, data[2] > 0 ? data[2] : SIZE_MAX);
        tz_result finished =
            tz_metadata_finish(parser, result == TZ_OK && !(data[0] & FLAG_TRUNCATED), &aux);
        check(finished != TZ_ERR_INTERNAL);
        check(aux.held <= 2 * size + 4 && aux.count <= ctx->limits->max_metadata_items);
        check_items(&aux, data[1]);
        if (data[0] & FLAG_OWN)
            add_own(&file, ctx);
        if (result == TZ_OK)
            result = tz_aux_apply(&file, &aux, ctx, &values);
        check_applied(&file, values);
    }
    check(result != TZ_ERR_INTERNAL && result != TZ_ERR_ARG);
    tz_metadata_deinit(&aux);
    tz_metadata_deinit(&file.metadata);
    tz_arena_deinit(&file.arena);
}

static void run_world(const uint8_t *bytes, size_t size, const tz_context *ctx)
{
    double transform[6] = {0};
    bool usable = false;
    tz_result result = tz_world_parse((const char *)bytes, size, ctx, transform, &usable);
    check(result == TZ_OK || (ctx->strict && !usable));
    for (unsigned i = 0; usable && i < 6; i++)
        check(isfinite(transform[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEADER)
        return 0;
    tz_limits limits;
    tz_error err = {.result = TZ_OK};
    tz_warnings warnings = {0};
    tz_limits_resolve(&limits, NULL);
    if (data[0] & FLAG_LIMITS) {
        limits.max_metadata_items = 3;
        limits.max_xml_depth = 4;
        limits.max_xml_bytes = 1000;
    }
    tz_context ctx = {.name = "fuzz",
                      .limits = &limits,
                      .err = &err,
                      .warnings = &warnings,
                      .strict = data[0] & FLAG_STRICT,
                      .ifd = -1};
    run_aux(data, data + HEADER, size - HEADER, &ctx);
    run_world(data + HEADER, size - HEADER, &ctx);
    tz_warnings_deinit(&warnings);
    return 0;
}
