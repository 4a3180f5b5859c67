/* SPDX-License-Identifier: Apache-2.0
 * GDAL_METADATA and GDAL_NODATA of any contents.
 *
 * An input is four bytes: flags, bands, size of the parts that are fed, type of the image; and
 * then the tag. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "feed_metadata.h"
#include "tiff/gdal/metadata.h"
#include "tiff/gdal/nodata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FLAG_STRICT = 1, FLAG_LIMITS = 2, FLAG_TRUNCATED = 4 };
enum { HEADER = 4 };

static void check_metadata(const tz_metadata *metadata, const tz_limits *limits, uint32_t bands)
{
    size_t text = 1;
    tz_metadata_item item;
    check(metadata->count <= limits->max_metadata_items);
    for (uint32_t i = 0; i < metadata->count; i++) {
        check(tz_metadata_get_item(metadata, i, &item));
        check(item.band >= -1 && item.band < (int32_t)bands);
        check(item.value[0] != '\0');
        text += strlen(item.name) + strlen(item.value) + 2;
        check(strlen(item.domain) < metadata->pool_size && strlen(item.role) < metadata->pool_size);
    }
    check(!tz_metadata_get_item(metadata, metadata->count, &item));
    check(metadata->count == 0 || text <= metadata->pool_size);
    check(metadata->count == 0 || tz_metadata_find_role(metadata, "\x01", -1) == NULL);
}

static void run_metadata(const uint8_t *data, const uint8_t *tag, size_t size,
                         const tz_context *ctx)
{
    tz_metadata_parser *parser = NULL;
    tz_metadata metadata = {0};
    uint32_t bands = data[1];
    tz_result result = tz_metadata_begin(&parser, size, bands, ctx);
    if (result == TZ_OK) {
        result = feed(parser, tag, size, data[2] > 0 ? data[2] : SIZE_MAX);
        tz_result finished =
            tz_metadata_finish(parser, result == TZ_OK && !(data[0] & FLAG_TRUNCATED), &metadata);
        check(finished != TZ_ERR_INTERNAL);
        check(metadata.held <= size + 4);
        check_metadata(&metadata, ctx->limits, bands);
        tz_metadata_deinit(&metadata);
    }
    check(result != TZ_ERR_INTERNAL && result != TZ_ERR_ARG);
}

static void run_nodata(const uint8_t *data, const uint8_t *tag, size_t size, const tz_context *ctx)
{
    tz_nodata nodata = {.kind = TZ_NODATA_KIND_NONE};
    char *text = malloc(size + 1);
    check(text != NULL);
    memcpy(text, tag, size);
    text[size] = '\0';
    tz_result result = tz_nodata_parse(text, (tz_dtype)(data[3] % 20), ctx, &nodata);
    check(result != TZ_ERR_INTERNAL);
    check((unsigned)nodata.kind <= TZ_NODATA_KIND_FLOAT);
    free(text);
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
                      .ifd = 0};
    run_metadata(data, data + HEADER, size - HEADER, &ctx);
    run_nodata(data, data + HEADER, size - HEADER, &ctx);
    tz_warnings_deinit(&warnings);
    return 0;
}
