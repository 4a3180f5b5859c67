/* SPDX-License-Identifier: Apache-2.0
 * The georeferencing of an image to be written: checked and copied, and then turned into tags.
 *
 * Keys that are given are copied and must agree with the codes beside them; without keys they are
 * generated from the codes. A transform becomes a scale and a tiepoint if the image is north-up,
 * and a matrix otherwise. Its numbers are chosen so that readers get the very same transform back:
 * with PixelIsPoint they subtract half a pixel, so that the number stored is the one from which the
 * subtraction gives the corner. The three arrays of the key tags are filled by the same function
 * that counts them, first for the limits of the format and then for the memory. */
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
    const size_t finite = tz_count_finite(values, count);
    if (finite == count)
        return TZ_OK;
    return TZ_FAIL_ARG(ctx, "%s: number %zu is infinite or not a number", what, finite);
}

/* ---- transform, control points, RPC ---- */

/* Makes a ModelTransformation of a transform, but with this corner. */
static void make_geo_matrix(const double *t, double x, double y, double out[TZ_MATRIX_VALUES])
{
    const double matrix[] = {t[1], t[2], 0, x, t[4], t[5], 0, y, 0, 0, 0, 0, 0, 0, 0, 1};
    memcpy(out, matrix, sizeof matrix);
}

/* True if a reader accepts the transform: see geo_transform.c. */
static bool is_invertible(const double *t)
{
    double matrix[TZ_MATRIX_VALUES];
    const tz_geo_tags tags = {.matrix = matrix, .matrix_count = TZ_MATRIX_VALUES};
    const tz_context quiet = {.ifd = -1};
    tz_geo read = {0};
    make_geo_matrix(t, t[0], t[3], matrix);
    return tz_geo_parse_transform(&tags, &quiet, &read) == TZ_OK && read.has_transform;
}

/* ---- the arrays of the key tags ---- */

/* The three arrays, first counted, then filled. Memory is NULL while counting. Counts have 64 bits,
 * because those of keys that are given have 32 each. */
typedef struct key_arrays {
    uint16_t *directory;
    uint64_t directory_count;
    double *doubles;
    uint64_t double_count;
    char *text;
    uint64_t text_size;
} key_arrays;

/* Copies to the end of an array and returns the index of the copy. */
static uint16_t append_key_values(void *array, uint64_t *used, const void *values, uint32_t count,
                                  size_t size)
{
    const uint64_t at = *used;
    if (array && count > 0)
        memcpy((char *)array + at * size, values, count * size);
    *used += count;
    return (uint16_t)at;
}

/* Puts the keys into the arrays. An entry has the value itself, if it is one SHORT, or the tag and
 * the index of its values; SHORTs of a longer value follow the last entry. */
static void put_keys(key_arrays *out, const tz_geo *geo)
{
    out->directory_count =
        TZ_GEO_KEY_HEADER_VALUES + (uint64_t)TZ_GEO_KEY_ENTRY_VALUES * geo->key_count;
    for (uint32_t i = 0; i < geo->key_count; i++) {
        const tz_geo_key *key = &geo->keys[i];
        const bool is_text = key->type == TZ_TYPE_ASCII;
        uint16_t tag = 0;
        uint16_t value = 0;
        if (is_text) {
            tag = TZ_TAG_GEO_ASCII;
            value = append_key_values(out->text, &out->text_size, key->value.text, key->count, 1);
            append_key_values(out->text, &out->text_size, "|", 1, 1);
        } else if (key->type == TZ_TYPE_DOUBLE) {
            tag = TZ_TAG_GEO_DOUBLES;
            value = append_key_values(out->doubles, &out->double_count, key->value.doubles,
                                      key->count, sizeof(double));
        } else if (key->count == 1) {
            value = key->value.shorts[0];
        } else {
            tag = TZ_TAG_GEO_KEYS;
            value = append_key_values(out->directory, &out->directory_count, key->value.shorts,
                                      key->count, sizeof(uint16_t));
        }
        const uint16_t entry[TZ_GEO_KEY_ENTRY_VALUES] = {key->id, tag,
                                                         (uint16_t)(key->count + is_text), value};
        if (out->directory)
            memcpy(out->directory + TZ_GEO_KEY_HEADER_VALUES + i * (sizeof entry / sizeof entry[0]),
                   entry, sizeof entry);
    }
}

/* ---- keys that are given ---- */

/* Checks the keys, and copies them with their values. */
static tz_result copy_given_keys(tz_image *image, tz_geo *geo, const tz_context *ctx)
{
    key_arrays size = {0};
    void *copy;
    TZ_TRY(tz_check_limit(ctx, offsetof(tz_limits, max_geo_keys), tz_no_location(), geo->key_count,
                          "GeoKeys"));
    TZ_TRY(tz_image_copy_array(image, geo->keys, geo->key_count, sizeof *geo->keys,
                               "spec->geo->keys", ctx, &copy));
    tz_geo_key *keys = copy;
    geo->keys = keys;
    for (uint32_t i = 0; i < geo->key_count; i++) {
        tz_geo_key *key = &keys[i];
        const bool text = key->type == TZ_TYPE_ASCII;
        if (i > 0 && key->id <= keys[i - 1].id)
            return TZ_FAIL_ARG(ctx, "GeoKey %u comes after %u; they must ascend", key->id,
                               keys[i - 1].id);
        if (!text && key->type != TZ_TYPE_SHORT && key->type != TZ_TYPE_DOUBLE)
            return TZ_FAIL_ARG(ctx, "GeoKey %u has type %u; it must be 2, 3 or 12", key->id,
                               key->type);
        if (!text && key->count == 0)
            return TZ_FAIL_ARG(ctx, "GeoKey %u has no value", key->id);
        if (text && key->count > 0 && key->value.text && memchr(key->value.text, '\0', key->count))
            return TZ_FAIL_ARG(ctx, "the text of GeoKey %u has a NUL inside", key->id);
        TZ_TRY(tz_image_copy_array(image, tz_geo_key_values(key), key->count,
                                   tz_type_size(key->type), "the value of a GeoKey", ctx, &copy));
        tz_geo_key_set_values(key, copy);
    }
    put_keys(&size, geo);
    if (size.directory_count > MAX_KEY_VALUES || size.double_count > MAX_KEY_VALUES ||
        size.text_size > MAX_KEY_VALUES)
        return TZ_FAIL_ARG(ctx,
                           "the GeoKeys are too long: their directory, their doubles and their "
                           "text may have %d values each",
                           MAX_KEY_VALUES);
    return TZ_OK;
}

/* ---- keys and the codes beside them ---- */

/* A member that is 0 says nothing; any other value must be the one that the keys give. */
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

/* Interprets the keys as a reader would, and takes over the raster type and the citation: the tags
 * of the transform depend on the former. */
static tz_result check_geo_agrees_with_keys(tz_image *image, tz_geo *geo, const tz_context *ctx)
{
    tz_context quiet = *ctx; /* readers warn of odd keys; the writer does not */
    quiet.warnings = NULL;
    quiet.strict = quiet.require_crs = false;
    tz_geo meaning = {.keys = geo->keys,
                      .key_count = geo->key_count,
                      .key_revision = geo->key_revision,
                      .key_minor = geo->key_minor,
                      .coordinate_epoch = NAN};
    TZ_TRY(tz_geo_interpret_keys(&image->arena, &quiet, &meaning));
    const bool area = geo->raster_type == TZ_RASTER_TYPE_AREA;
    if (!area || meaning.raster_type != TZ_RASTER_TYPE_UNDEFINED) /* without a key it is area */
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

/* ---- generated keys ---- */

/* Without keys, the codes are all that is known of the CRS. */
static tz_result check_epsg_codes(const tz_geo *geo, const tz_context *ctx)
{
    const uint16_t codes[] = {geo->epsg, geo->epsg_vertical};
    for (size_t i = 0; i < 2; i++)
        if (codes[i] != 0 && !tz_geo_is_code(codes[i]))
            return TZ_FAIL_ARG(
                ctx, "spec->geo->%s is %u; codes of EPSG are 1024 to 32766, and others need keys",
                i == 0 ? "epsg" : "epsg_vertical", codes[i]);
    const bool more = geo->epsg_vertical != 0 || geo->model_type != 0 || has_epoch(geo);
    if (geo->epsg == 0 && more)
        return TZ_FAIL_ARG(ctx,
                           "spec->geo says more of a CRS, but neither epsg nor keys say which");
    if (isinf(geo->coordinate_epoch))
        return TZ_FAIL_ARG(ctx, "spec->geo->coordinate_epoch is infinite");
    return TZ_OK;
}

/* Makes the keys of the codes, in the order of their ids. Their values are the members of *geo,
 * which lives as long as the image. A caller who sets model_type may use codes that the database
 * does not have: they are not looked up. */
static tz_result generate_keys(tz_image *image, tz_geo *geo, const tz_context *ctx)
{
    static const uint16_t raster_types[] = {TZ_RASTER_TYPE_UNDEFINED, TZ_RASTER_TYPE_AREA,
                                            TZ_RASTER_TYPE_POINT};
    uint32_t count = 0;
    TZ_TRY(check_epsg_codes(geo, ctx));
    if (geo->epsg == 0 && geo->raster_type == TZ_RASTER_TYPE_UNDEFINED && !geo->citation)
        return TZ_OK;
    if (geo->epsg != 0 && geo->model_type == 0) {
        if (geo->epsg_vertical != 0)
            TZ_TRY(tz_epsg_check_vertical(geo->epsg_vertical, ctx));
        geo->model_type = tz_epsg_model_type(geo->epsg);
        if (geo->model_type == 0)
            return tz_epsg_fail_unusable(geo->epsg, ctx);
    }
    if (geo->model_type > TZ_MODEL_GEOCENTRIC)
        return TZ_FAIL_ARG(ctx, "spec->geo->model_type is %u; it must be 1, 2 or 3",
                           geo->model_type);
    if (geo->raster_type == TZ_RASTER_TYPE_UNDEFINED)
        geo->raster_type = TZ_RASTER_TYPE_AREA;
    if (geo->citation) {
        const size_t size = strlen(geo->citation);
        if (size >= MAX_KEY_VALUES)
            return TZ_FAIL_ARG(ctx, "spec->geo->citation is longer than %d bytes",
                               MAX_KEY_VALUES - 1);
        geo->citation = tz_arena_text(&image->arena, geo->citation, size);
        if (!geo->citation)
            return tz_fail_nomem(ctx, MAX_KEY_VALUES);
    }
    const uint16_t crs =
        geo->model_type == TZ_MODEL_PROJECTED ? TZ_KEY_PROJECTED_CRS : TZ_KEY_GEODETIC_CRS;
    const uint16_t *raster_type = &raster_types[geo->raster_type];
    tz_geo_key *keys = tz_arena_array(&image->arena, MAX_GENERATED_KEYS, sizeof *keys);
    if (!keys)
        return tz_fail_nomem(ctx, MAX_GENERATED_KEYS * sizeof *keys);
    if (geo->epsg != 0)
        keys[count++] =
            (tz_geo_key){TZ_KEY_MODEL_TYPE, TZ_TYPE_SHORT, 1, {.shorts = &geo->model_type}};
    keys[count++] = (tz_geo_key){TZ_KEY_RASTER_TYPE, TZ_TYPE_SHORT, 1, {.shorts = raster_type}};
    if (geo->citation)
        keys[count++] = (tz_geo_key){TZ_KEY_CITATION,
                                     TZ_TYPE_ASCII,
                                     (uint32_t)strlen(geo->citation),
                                     {.text = geo->citation}};
    if (geo->epsg != 0)
        keys[count++] = (tz_geo_key){crs, TZ_TYPE_SHORT, 1, {.shorts = &geo->epsg}};
    if (geo->epsg_vertical != 0)
        keys[count++] =
            (tz_geo_key){TZ_KEY_VERTICAL, TZ_TYPE_SHORT, 1, {.shorts = &geo->epsg_vertical}};
    if (has_epoch(geo))
        keys[count++] = (tz_geo_key){
            TZ_KEY_COORDINATE_EPOCH, TZ_TYPE_DOUBLE, 1, {.doubles = &geo->coordinate_epoch}};
    geo->keys = keys;
    geo->key_count = count;
    geo->key_revision = 1;
    geo->key_minor = geo->epsg_vertical != 0; /* vertical keys came with GeoTIFF 1.1 */
    return TZ_OK;
}

/* Copies tz_geo and everything it points to, and makes sure that it has keys. A tz_geo that says
 * nothing is dropped, so that no tag is written for it. */
tz_result tz_image_resolve_geo(tz_image *image, const tz_context *ctx)
{
    void *copy;
    tz_geo *geo;
    if (!image->spec.geo)
        return TZ_OK;
    TZ_TRY(tz_copy_geo(&image->arena, image->spec.geo, ctx, &geo));
    image->spec.geo = geo;
    if ((unsigned)geo->raster_type > TZ_RASTER_TYPE_POINT)
        return TZ_FAIL_ARG(ctx, "spec->geo->raster_type is %u, which is none of its values",
                           (unsigned)geo->raster_type);
    if (geo->has_transform && geo->gcp_count > 0)
        return TZ_FAIL_ARG(ctx, "a transform and control points exclude each other");
    if (geo->has_transform) {
        TZ_TRY(check_all_finite(geo->transform, 6, "spec->geo->transform", ctx));
        if (!is_invertible(geo->transform))
            return TZ_FAIL_ARG(ctx, "the transform maps the image to a line or a point");
    }
    if (geo->gcp_count > MAX_GCPS)
        return TZ_FAIL_ARG(ctx, "%u control points; there may be %d at most", geo->gcp_count,
                           MAX_GCPS);
    TZ_TRY(tz_image_copy_array(image, geo->gcps, geo->gcp_count, sizeof *geo->gcps,
                               "spec->geo->gcps", ctx, &copy));
    geo->gcps = copy;
    if (geo->gcps)
        TZ_TRY(check_all_finite(&geo->gcps[0].column, (size_t)geo->gcp_count * TZ_TIEPOINT_VALUES,
                                "spec->geo->gcps", ctx));
    if (geo->rpc) {
        TZ_TRY(check_all_finite(geo->rpc, TZ_RPC_VALUES, "spec->geo->rpc", ctx));
        TZ_TRY(tz_image_copy_array(image, geo->rpc, TZ_RPC_VALUES, sizeof *geo->rpc,
                                   "spec->geo->rpc", ctx, &copy));
        geo->rpc = copy;
    }
    if (geo->key_count == 0) {
        TZ_TRY(generate_keys(image, geo, ctx));
    } else {
        if (geo->key_revision == 0)
            geo->key_revision = 1;
        TZ_TRY(copy_given_keys(image, geo, ctx));
        TZ_TRY(check_geo_agrees_with_keys(image, geo, ctx));
    }
    if (!geo->has_transform && geo->gcp_count == 0 && geo->key_revision == 0 && !geo->rpc)
        image->spec.geo = NULL;
    return TZ_OK;
}

/* ---- tags ---- */

/* With PixelIsPoint, tags refer to pixel centres, and readers subtract half a pixel. Returns the
 * number from which they get this corner: the sum, or one of its neighbours if rounding hides it.
 */
static double unshift_corner(double corner, double half)
{
    const double sum = corner + half;
    const double tries[] = {sum, nextafter(sum, -INFINITY), nextafter(sum, INFINITY)};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        if (tries[i] - half == corner)
            return tries[i];
    return sum;
}

static void add_transform_tags(tz_tag_list *tags, const tz_geo *geo)
{
    const double *t = geo->transform;
    /* Axes in the usual directions without a rotation, not even one of -0. */
    const bool north_up =
        t[1] > 0 && t[5] < 0 && t[2] == 0 && t[4] == 0 && !signbit(t[2]) && !signbit(t[4]);
    double x = t[0];
    double y = t[3];
    if (geo->raster_type == TZ_RASTER_TYPE_POINT) {
        x = unshift_corner(x, t[1] * 0.5 + t[2] * 0.5);
        y = unshift_corner(y, t[4] * 0.5 + t[5] * 0.5);
    }
    if (north_up) {
        const double scale[TZ_SCALE_VALUES] = {t[1], -t[5], 0};
        const double tiepoint[TZ_TIEPOINT_VALUES] = {0, 0, 0, x, y, 0};
        tz_tag_list_add_copy(tags, TZ_TAG_PIXEL_SCALE, TZ_TYPE_DOUBLE, TZ_SCALE_VALUES, scale);
        tz_tag_list_add_copy(tags, TZ_TAG_TIEPOINTS, TZ_TYPE_DOUBLE, TZ_TIEPOINT_VALUES, tiepoint);
    } else {
        double matrix[TZ_MATRIX_VALUES];
        make_geo_matrix(t, x, y, matrix);
        tz_tag_list_add_copy(tags, TZ_TAG_TRANSFORMATION, TZ_TYPE_DOUBLE, TZ_MATRIX_VALUES, matrix);
    }
}

/* Counts, allocates and fills the three arrays. Text is stored without a NUL for each key: a bar
 * ends it, and one NUL ends the tag. */
static void add_key_tags(tz_tag_list *tags, const tz_geo *geo)
{
    key_arrays size = {0};
    key_arrays out = {0};
    put_keys(&size, geo);
    out.directory = tz_tag_list_alloc(tags, (size_t)size.directory_count, sizeof *out.directory);
    out.doubles = tz_tag_list_alloc(tags, (size_t)size.double_count, sizeof *out.doubles);
    out.text = tz_tag_list_alloc(tags, (size_t)size.text_size + 1, 1);
    if (tags->result != TZ_OK)
        return;
    put_keys(&out, geo);
    out.directory[0] = 1; /* the version of the directory */
    out.directory[1] = geo->key_revision;
    out.directory[2] = geo->key_minor;
    out.directory[3] = (uint16_t)geo->key_count;
    tz_tag_list_add(tags, TZ_TAG_GEO_KEYS, TZ_TYPE_SHORT, out.directory_count, out.directory);
    if (out.double_count > 0)
        tz_tag_list_add(tags, TZ_TAG_GEO_DOUBLES, TZ_TYPE_DOUBLE, out.double_count, out.doubles);
    if (out.text_size > 0)
        tz_tag_list_add(tags, TZ_TAG_GEO_ASCII, TZ_TYPE_ASCII, out.text_size + 1, out.text);
}

/* A directory without keys is written if a file had one. */
void tz_image_add_geo_tags(tz_tag_list *tags, const tz_geo *geo)
{
    if (!geo)
        return;
    if (geo->has_transform) {
        add_transform_tags(tags, geo);
    } else if (geo->gcp_count > 0) {
        const double half = geo->raster_type == TZ_RASTER_TYPE_POINT ? 0.5 : 0;
        tz_gcp *list = tz_tag_list_alloc(tags, geo->gcp_count, sizeof *list);
        for (uint32_t i = 0; list && i < geo->gcp_count; i++) {
            list[i] = geo->gcps[i];
            list[i].column -= half;
            list[i].row -= half;
        }
        tz_tag_list_add(tags, TZ_TAG_TIEPOINTS, TZ_TYPE_DOUBLE,
                        (uint64_t)geo->gcp_count * TZ_TIEPOINT_VALUES, list);
    }
    if (geo->key_revision != 0)
        add_key_tags(tags, geo);
    if (geo->rpc)
        tz_tag_list_add(tags, TZ_TAG_RPC, TZ_TYPE_DOUBLE, TZ_RPC_VALUES, geo->rpc);
}
