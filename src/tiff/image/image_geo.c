/* SPDX-License-Identifier: Apache-2.0
 * The georeferencing of an image to be written: checked, copied, and with keys made of codes where
 * there are none. */
#include <math.h>
#include <string.h>

#include "tiff/image/image_steps.h"
#include "tiff/tags.h"

enum {
    MAX_GCPS = 10922,       /* six numbers each, and readers count them in 16 bits */
    MAX_KEY_VALUES = 65535, /* SHORTs, DOUBLEs, and bytes of text */
    MAX_GENERATED_KEYS = 6
};

static tz_result check_all_finite(const double *values, size_t count, const char *what,
                                  const tz_context *ctx)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return TZ_FAIL_ARG(ctx, "%s: number %zu is infinite or not a number", what, i);
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Where pixels are
 * ------------------------------------------------------------------------------------------ */

/* What a reader would call a transform: see geo_transform.c. */
static bool is_invertible(const double *t)
{
    double matrix[TZ_MATRIX_VALUES];
    const tz_geo_tags tags = {.matrix = matrix, .matrix_count = TZ_MATRIX_VALUES};
    const tz_context quiet = {.ifd = -1};
    tz_geo read = {0};
    tz_geo_matrix(t, t[0], t[3], matrix);
    return tz_geo_parse_transform(&tags, &quiet, &read) == TZ_OK && read.has_transform;
}

static tz_result check_geo_transform(const tz_geo *geo, const tz_context *ctx)
{
    if (!geo->has_transform)
        return TZ_OK;
    if (geo->gcp_count > 0)
        return TZ_FAIL_ARG(ctx, "a transform and control points exclude each other");
    TZ_TRY(check_all_finite(geo->transform, 6, "spec->geo->transform", ctx));
    if (is_invertible(geo->transform))
        return TZ_OK;
    return TZ_FAIL_ARG(ctx, "the transform maps the image to a line or a point");
}

static tz_result copy_gcps(tz_image *image, tz_geo *geo, const tz_context *ctx)
{
    void *copy;
    if (geo->gcp_count > MAX_GCPS)
        return TZ_FAIL_ARG(ctx, "%u control points; there may be %d at most", geo->gcp_count,
                           MAX_GCPS);
    TZ_TRY(tz_image_copy_array(image, geo->gcps, geo->gcp_count, sizeof *geo->gcps,
                               "spec->geo->gcps", ctx, &copy));
    geo->gcps = copy;
    if (!copy)
        return TZ_OK;
    return check_all_finite(&geo->gcps[0].column, (size_t)geo->gcp_count * TZ_TIEPOINT_VALUES,
                            "spec->geo->gcps", ctx);
}

static tz_result copy_rpc(tz_image *image, tz_geo *geo, const tz_context *ctx)
{
    void *copy;
    if (!geo->rpc)
        return TZ_OK;
    TZ_TRY(check_all_finite(geo->rpc, TZ_RPC_VALUES, "spec->geo->rpc", ctx));
    TZ_TRY(tz_image_copy_array(image, geo->rpc, TZ_RPC_VALUES, sizeof *geo->rpc, "spec->geo->rpc",
                               ctx, &copy));
    geo->rpc = copy;
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Keys that are given
 * ------------------------------------------------------------------------------------------ */

/* What a list of keys takes in the three tags. */
typedef struct key_sums {
    uint64_t shorts;
    uint64_t doubles;
    uint64_t text;
} key_sums;

static void add_key_sums(key_sums *sums, const tz_geo_key *key)
{
    sums->shorts += 4;
    if (key->type == TZ_TYPE_ASCII)
        sums->text += (uint64_t)key->count + 1;
    else if (key->type == TZ_TYPE_DOUBLE)
        sums->doubles += key->count;
    else if (key->count > 1)
        sums->shorts += key->count;
}

static tz_result check_given_key(const tz_geo_key *key, const tz_context *ctx)
{
    const bool text = key->type == TZ_TYPE_ASCII;
    if (!text && key->type != TZ_TYPE_SHORT && key->type != TZ_TYPE_DOUBLE)
        return TZ_FAIL_ARG(ctx, "GeoKey %u has type %u; it must be 2, 3 or 12", key->id, key->type);
    if (!text && key->count == 0)
        return TZ_FAIL_ARG(ctx, "GeoKey %u has no value", key->id);
    if (text && key->count > 0 && key->value.text && memchr(key->value.text, '\0', key->count))
        return TZ_FAIL_ARG(ctx, "the text of GeoKey %u has a NUL inside", key->id);
    return TZ_OK;
}

static tz_result copy_given_key(tz_image *image, tz_geo_key *key, const tz_context *ctx)
{
    void *copy;
    const void *data = key->type == TZ_TYPE_ASCII    ? (const void *)key->value.text
                       : key->type == TZ_TYPE_DOUBLE ? (const void *)key->value.doubles
                                                     : (const void *)key->value.shorts;
    TZ_TRY(tz_image_copy_array(image, data, key->count, tz_type_size(key->type),
                               "the value of a GeoKey", ctx, &copy));
    if (key->type == TZ_TYPE_ASCII)
        key->value.text = copy;
    else if (key->type == TZ_TYPE_DOUBLE)
        key->value.doubles = copy;
    else
        key->value.shorts = copy;
    return TZ_OK;
}

static tz_result copy_given_keys(tz_image *image, tz_geo *geo, const tz_context *ctx)
{
    key_sums sums = {.shorts = 4};
    void *copy;
    TZ_TRY(tz_check_limit(ctx, offsetof(tz_limits, max_geo_keys), tz_no_location(), geo->key_count,
                          "GeoKeys"));
    TZ_TRY(tz_image_copy_array(image, geo->keys, geo->key_count, sizeof *geo->keys,
                               "spec->geo->keys", ctx, &copy));
    tz_geo_key *keys = copy;
    geo->keys = keys;
    for (uint32_t i = 0; i < geo->key_count; i++) {
        if (i > 0 && keys[i].id <= keys[i - 1].id)
            return TZ_FAIL_ARG(ctx, "GeoKey %u comes after %u; they must ascend", keys[i].id,
                               keys[i - 1].id);
        TZ_TRY(check_given_key(&keys[i], ctx));
        TZ_TRY(copy_given_key(image, &keys[i], ctx));
        add_key_sums(&sums, &keys[i]);
    }
    if (sums.shorts > MAX_KEY_VALUES || sums.doubles > MAX_KEY_VALUES || sums.text > MAX_KEY_VALUES)
        return TZ_FAIL_ARG(ctx,
                           "the GeoKeys are too long: their directory, their doubles and their "
                           "text may have %d values each",
                           MAX_KEY_VALUES);
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * What the keys say, and what was said beside them
 * ------------------------------------------------------------------------------------------ */

static tz_result check_agrees_with_keys(const char *member, unsigned given, unsigned by_keys,
                                        const tz_context *ctx)
{
    if (given == 0 || given == by_keys)
        return TZ_OK;
    return TZ_FAIL_ARG(ctx, "spec->geo->%s is %u, and its keys say %u; give one or the other",
                       member, given, by_keys);
}

static bool has_epoch(const tz_geo *geo)
{
    return !isnan(geo->coordinate_epoch) && geo->coordinate_epoch != 0;
}

static tz_result check_geo_agrees_with_keys(tz_image *image, tz_geo *geo, const tz_context *ctx)
{
    tz_context quiet = *ctx; /* an oddity of keys is for readers to tell */
    quiet.warnings = NULL;
    quiet.strict = quiet.require_crs = false;
    tz_geo meaning = {.keys = geo->keys,
                      .key_count = geo->key_count,
                      .key_revision = geo->key_revision,
                      .key_minor = geo->key_minor,
                      .coordinate_epoch = NAN};
    TZ_TRY(tz_geo_interpret_keys(&image->arena, &quiet, &meaning));
    const bool area = geo->raster_type == TZ_RASTER_PIXEL_IS_AREA;
    if (!area || meaning.raster_type != TZ_RASTER_UNDEFINED) /* area is what no key means */
        TZ_TRY(check_agrees_with_keys("raster_type", geo->raster_type, meaning.raster_type, ctx));
    TZ_TRY(check_agrees_with_keys("model_type", geo->model_type, meaning.model_type, ctx));
    TZ_TRY(check_agrees_with_keys("epsg", geo->epsg, meaning.epsg, ctx));
    TZ_TRY(check_agrees_with_keys("epsg_vertical", geo->epsg_vertical, meaning.epsg_vertical, ctx));
    if (has_epoch(geo) && geo->coordinate_epoch != meaning.coordinate_epoch)
        return TZ_FAIL_ARG(ctx, "spec->geo->coordinate_epoch is %g, and its keys say %g",
                           geo->coordinate_epoch, meaning.coordinate_epoch);
    geo->raster_type = meaning.raster_type;
    geo->citation = meaning.citation;
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Keys that are made
 * ------------------------------------------------------------------------------------------ */

typedef struct key_generator {
    tz_image *image;
    tz_geo_key *keys;
    uint32_t count;
} key_generator;

static void generate_short_key(key_generator *generator, uint16_t id, uint16_t value)
{
    uint16_t *data = tz_arena_alloc(&generator->image->arena, sizeof *data);
    if (data)
        *data = value;
    generator->keys[generator->count++] =
        (tz_geo_key){.id = id, .type = TZ_TYPE_SHORT, .count = 1, .value.shorts = data};
}

/* Who sets model_type knows codes that the database does not: nothing is looked up then. */
static tz_result resolve_model_type(tz_geo *geo, const tz_context *ctx)
{
    if (geo->model_type == 0 && geo->epsg_vertical != 0)
        TZ_TRY(tz_epsg_check_vertical(geo->epsg_vertical, ctx));
    if (geo->model_type == 0)
        geo->model_type = tz_epsg_model_type(geo->epsg);
    if (geo->model_type == 0)
        return tz_epsg_fail_unusable(geo->epsg, ctx);
    if (geo->model_type > 3)
        return TZ_FAIL_ARG(ctx, "spec->geo->model_type is %u; it must be 1, 2 or 3",
                           geo->model_type);
    return TZ_OK;
}

static tz_result check_epsg_range(uint16_t code, const char *member, const tz_context *ctx)
{
    if (code == 0 || (code >= 1024 && code < TZ_GEO_USER_DEFINED))
        return TZ_OK;
    return TZ_FAIL_ARG(ctx,
                       "spec->geo->%s is %u; codes of EPSG are 1024 to 32766, and others need keys",
                       member, code);
}

static tz_result check_epsg_codes(const tz_geo *geo, const tz_context *ctx)
{
    TZ_TRY(check_epsg_range(geo->epsg, "epsg", ctx));
    TZ_TRY(check_epsg_range(geo->epsg_vertical, "epsg_vertical", ctx));
    const bool more = geo->epsg_vertical != 0 || geo->model_type != 0 || has_epoch(geo);
    if (geo->epsg == 0 && more)
        return TZ_FAIL_ARG(ctx,
                           "spec->geo says more of a CRS, but neither epsg nor keys say which");
    if (isinf(geo->coordinate_epoch))
        return TZ_FAIL_ARG(ctx, "spec->geo->coordinate_epoch is infinite");
    return TZ_OK;
}

static tz_result check_citation(const char *text, const tz_context *ctx)
{
    if (strlen(text) < MAX_KEY_VALUES)
        return TZ_OK;
    return TZ_FAIL_ARG(ctx, "spec->geo->citation is longer than %d bytes", MAX_KEY_VALUES - 1);
}

/* In the order of their ids. */
static void generate_all_keys(key_generator *generator, tz_geo *geo)
{
    const uint16_t crs = geo->model_type == 1 ? TZ_KEY_PROJECTED_CRS : TZ_KEY_GEODETIC_CRS;
    if (geo->epsg != 0)
        generate_short_key(generator, TZ_KEY_MODEL_TYPE, geo->model_type);
    generate_short_key(generator, TZ_KEY_RASTER_TYPE, (uint16_t)geo->raster_type);
    if (geo->citation)
        generator->keys[generator->count++] = (tz_geo_key){.id = TZ_KEY_CITATION,
                                                           .type = TZ_TYPE_ASCII,
                                                           .count = (uint32_t)strlen(geo->citation),
                                                           .value.text = geo->citation};
    if (geo->epsg != 0)
        generate_short_key(generator, crs, geo->epsg);
    if (geo->epsg_vertical != 0)
        generate_short_key(generator, TZ_KEY_VERTICAL, geo->epsg_vertical);
    if (has_epoch(geo))
        generator->keys[generator->count++] = (tz_geo_key){.id = TZ_KEY_COORDINATE_EPOCH,
                                                           .type = TZ_TYPE_DOUBLE,
                                                           .count = 1,
                                                           .value.doubles = &geo->coordinate_epoch};
}

static tz_result copy_citation(tz_image *image, tz_geo *geo, const tz_context *ctx)
{
    if (!geo->citation)
        return TZ_OK;
    TZ_TRY(check_citation(geo->citation, ctx));
    geo->citation = tz_arena_text(&image->arena, geo->citation, strlen(geo->citation));
    return geo->citation ? TZ_OK : tz_fail_nomem(ctx, MAX_KEY_VALUES);
}

static tz_result generate_keys(tz_image *image, tz_geo *geo, const tz_context *ctx)
{
    key_generator generator = {.image = image};
    TZ_TRY(check_epsg_codes(geo, ctx));
    if (geo->epsg == 0 && geo->raster_type == TZ_RASTER_UNDEFINED && !geo->citation)
        return TZ_OK;
    if (geo->epsg != 0)
        TZ_TRY(resolve_model_type(geo, ctx));
    if (geo->raster_type == TZ_RASTER_UNDEFINED)
        geo->raster_type = TZ_RASTER_PIXEL_IS_AREA;
    TZ_TRY(copy_citation(image, geo, ctx));
    generator.keys = tz_arena_array(&image->arena, MAX_GENERATED_KEYS, sizeof *generator.keys);
    if (!generator.keys)
        return tz_fail_nomem(ctx, MAX_GENERATED_KEYS * sizeof *generator.keys);
    generate_all_keys(&generator, geo);
    for (uint32_t i = 0; i < generator.count; i++)
        if (!generator.keys[i].value.shorts)
            return tz_fail_nomem(ctx, sizeof(uint16_t));
    geo->keys = generator.keys;
    geo->key_count = generator.count;
    geo->key_revision = 1;
    geo->key_minor = geo->epsg_vertical != 0; /* vertical keys came with GeoTIFF 1.1 */
    return TZ_OK;
}

static tz_result resolve_crs_keys(tz_image *image, tz_geo *geo, const tz_context *ctx)
{
    if (geo->key_count == 0)
        return generate_keys(image, geo, ctx);
    if (geo->key_revision == 0)
        geo->key_revision = 1;
    TZ_TRY(copy_given_keys(image, geo, ctx));
    return check_geo_agrees_with_keys(image, geo, ctx);
}

static bool is_empty_geo(const tz_geo *geo)
{
    return !geo->has_transform && geo->gcp_count == 0 && geo->key_revision == 0 && !geo->rpc;
}

tz_result tz_image_resolve_geo(tz_image *image, const tz_context *ctx)
{
    void *copy;
    if (!image->spec.geo)
        return TZ_OK;
    TZ_TRY(tz_image_copy_array(image, image->spec.geo, 1, sizeof *image->spec.geo, "spec->geo", ctx,
                               &copy));
    tz_geo *geo = copy;
    image->spec.geo = geo;
    if ((unsigned)geo->raster_type > TZ_RASTER_PIXEL_IS_POINT)
        return TZ_FAIL_ARG(ctx, "spec->geo->raster_type is %u, which is none of its values",
                           (unsigned)geo->raster_type);
    TZ_TRY(check_geo_transform(geo, ctx));
    TZ_TRY(copy_gcps(image, geo, ctx));
    TZ_TRY(copy_rpc(image, geo, ctx));
    TZ_TRY(resolve_crs_keys(image, geo, ctx));
    if (is_empty_geo(geo))
        image->spec.geo = NULL;
    return TZ_OK;
}
