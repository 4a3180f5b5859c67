/* SPDX-License-Identifier: Apache-2.0
 * Georeferencing tags of any contents: keys, transform, and the definition of the CRS.
 *
 * An input is a byte of flags, seven lengths of one byte (in values of the seven tags) and then the
 * tags' bytes one after the other; what is missing of them is cut off. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "check.h"
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FLAG_STRICT = 1, FLAG_REQUIRE_CRS = 2, FLAG_DEFINITION = 4, FLAG_CRS = 8, FLAG_LIMIT = 16 };
enum { TAGS = 7, HEADER = 1 + TAGS };

typedef struct input {
    const uint8_t *at;
    size_t left;
    void *blocks[TAGS];
    size_t block_count;
} input;

/* The next count values in a block of exactly their size; NULL and 0 for none. */
static void *read_values(input *in, size_t count, size_t value_size, uint64_t *value_count)
{
    size_t whole = in->left / value_size < count ? in->left / value_size : count;
    *value_count = whole;
    if (whole == 0)
        return NULL;
    void *block = malloc(whole * value_size);
    if (!block)
        abort();
    memcpy(block, in->at, whole * value_size);
    in->at += whole * value_size;
    in->left -= whole * value_size;
    in->blocks[in->block_count++] = block;
    return block;
}

/* Read every value; where the sum goes keeps the compiler from leaving it out. */
static volatile double sink;
static double sum_of(const tz_geo_key *key)
{
    double sum = 0;
    for (uint32_t i = 0; i < key->count; i++) {
        if (key->type == TZ_TYPE_ASCII)
            sum += key->value.text[i];
        else if (key->type == TZ_TYPE_DOUBLE)
            sum += key->value.doubles[i];
        else
            sum += key->value.shorts[i];
    }
    return sum;
}

static void check_geo(const tz_geo *geo)
{
    for (uint32_t i = 0; i < geo->key_count; i++) {
        check(i == 0 || geo->keys[i].id > geo->keys[i - 1].id);
        check(tz_geo_find_key(geo, geo->keys[i].id) == &geo->keys[i]);
        sink = sum_of(&geo->keys[i]);
    }
    for (int i = 0; geo->has_transform && i < 6; i++)
        check(isfinite(geo->transform[i]));
    check(!geo->has_transform || geo->gcp_count == 0);
    for (uint32_t i = 0; i < geo->gcp_count; i++)
        check(isfinite(geo->gcps[i].column) && isfinite(geo->gcps[i].z));
    check(!geo->citation || strlen(geo->citation) <= 4096);
    check(geo->epsg == 0 || (geo->epsg >= 1024 && geo->epsg <= TZ_GEO_USER_DEFINED));
    check(!isinf(geo->coordinate_epoch));
}

static void check_definition(const tz_geo *geo, const tz_context *ctx)
{
    char *text = NULL;
    tz_result result = tz_geo_crs_definition(geo, ctx, &text);
    check(result != TZ_ERR_INTERNAL && (result == TZ_OK) == (text != NULL));
    for (const char *c = text; c && *c; c++)
        check((unsigned char)*c >= 0x20 || *c == '\n'); /* PROJ breaks lines */
    tz_free(text);
}

static void check_crs(const tz_geo *geo, const tz_context *ctx)
{
    tz_crs *crs = NULL;
    tz_result result = tz_crs_open_geo(&crs, geo, ctx);
    check(result != TZ_ERR_INTERNAL && (result == TZ_OK) == (crs != NULL));
    double lon, lat;
    if (crs &&
        tz_crs_to_lonlat(&lon, &lat, crs, geo->transform[0], geo->transform[3], NULL) == TZ_OK)
        check(isfinite(lon) && isfinite(lat));
    tz_crs_close(crs);
}

static void run(const tz_geo_tags *tags, uint8_t flags)
{
    tz_limits limits;
    tz_error err = {.result = TZ_OK};
    tz_warnings warnings = {0};
    tz_arena arena = {0};
    tz_geo geo;
    tz_limits_resolve(&limits, NULL);
    if (flags & FLAG_LIMIT)
        limits.max_geo_keys = 4;
    tz_context ctx = {.name = "fuzz",
                      .limits = &limits,
                      .err = &err,
                      .warnings = &warnings,
                      .strict = flags & FLAG_STRICT,
                      .require_crs = flags & FLAG_REQUIRE_CRS,
                      .ifd = 0};
    tz_result result = tz_geo_parse(tags, &arena, &ctx, &geo);
    check(result != TZ_ERR_INTERNAL);
    if (result == TZ_OK)
        check_geo(&geo);
    if (result == TZ_OK && (flags & FLAG_DEFINITION))
        check_definition(&geo, &ctx);
    if (result == TZ_OK && (flags & FLAG_CRS))
        check_crs(&geo, &ctx);
    tz_warnings_deinit(&warnings);
    tz_arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tz_geo_tags tags = {0};
    if (size < HEADER)
        return 0;
    input in = {.at = data + HEADER, .left = size - HEADER};
    tags.directory = read_values(&in, data[1], 2, &tags.directory_count);
    tags.doubles = read_values(&in, data[2], 8, &tags.double_count);
    tags.ascii = read_values(&in, data[3], 1, &tags.ascii_size);
    tags.scale = read_values(&in, data[4], 8, &tags.scale_count);
    tags.tiepoints = read_values(&in, data[5], 8, &tags.tiepoint_count);
    tags.matrix = read_values(&in, data[6], 8, &tags.matrix_count);
    tags.rpc = read_values(&in, data[7], 8, &tags.rpc_count);
    run(&tags, data[0]);
    for (size_t i = 0; i < in.block_count; i++)
        free(in.blocks[i]);
    return 0;
}
