/* SPDX-License-Identifier: Apache-2.0
 * Changes of a specification that owns its memory: another grid, other bands, another type, other
 * metadata and georeferencing.
 *
 * Each function changes a copy of the struct, and allocates what the copy points to from the arena
 * of the specification. Only the last step replaces the struct, so that a failure changes nothing.
 * Memory of replaced parts stays in the arena until the specification is freed. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "tiff/file.h"
#include "tiff/gdal/nodata.h"
#include "tiff/image/image_steps.h"
#include "tiff/image/spec_holder.h"
#include "tiff/tags.h"

tz_spec_edit tz_spec_edit_begin(tz_image_spec *spec, tz_error *err)
{
    return (tz_spec_edit){.next = *spec,
                          .holder = (tz_spec_holder *)spec,
                          .ctx = (tz_context){.err = err, .ifd = -1}};
}

tz_result tz_spec_edit_end(tz_spec_edit *edit, tz_result result)
{
    if (result == TZ_OK)
        edit->holder->spec = edit->next;
    return result;
}

tz_result tz_spec_edit_alloc(tz_spec_edit *edit, uint64_t count, size_t size, void *out)
{
    void *part =
        count <= SIZE_MAX ? tz_arena_array(&edit->holder->arena, (size_t)count, size) : NULL;
    if (!part)
        return tz_fail_nomem(&edit->ctx, tz_mul_capped(count, size));
    memcpy(out, &part, sizeof part);
    return TZ_OK;
}

static tz_result copy_part_text(tz_spec_edit *edit, const char **text)
{
    const char *copy = tz_arena_text(&edit->holder->arena, *text, strlen(*text));
    if (!copy)
        return tz_fail_nomem(&edit->ctx, strlen(*text) + 1);
    *text = copy;
    return TZ_OK;
}

tz_result tz_image_spec_create(tz_image_spec **out, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_spec_holder *holder = tz_alloc_zeroed(1, sizeof *holder);
    if (!holder)
        return tz_fail_nomem(&ctx, sizeof *holder);
    holder->spec = (tz_image_spec)TZ_IMAGE_SPEC_INIT;
    *out = &holder->spec;
    return TZ_OK;
}

/* ---- items and tags ---- */

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

bool tz_item_has_role(const tz_metadata_item *item, const char *role)
{
    return strcmp(text_or_empty(item->role), role) == 0;
}

bool tz_item_is_statistics(const tz_metadata_item *item)
{
    static const char start[] = "STATISTICS_";
    return tz_item_has_role(item, "") &&
           strncmp(text_or_empty(item->name), start, sizeof start - 1) == 0;
}

static bool is_palette_color(const tz_metadata_item *item)
{
    tz_color color;
    return tz_item_has_role(item, "colorinterp") && item->value &&
           tz_color_from_name(&color, item->value) && color == TZ_COLOR_PALETTE;
}

tz_result tz_spec_edit_copy_items(tz_spec_edit *edit, tz_metadata_item **out)
{
    tz_image_spec *next = &edit->next;
    tz_metadata_item *items = NULL;
    TZ_TRY(tz_spec_edit_alloc(edit, (uint64_t)next->metadata_count + 1, sizeof *items, &items));
    TZ_TRY(tz_copy_elements(items, sizeof *items, next->metadata, next->metadata_count,
                            "spec->metadata", "TZ_METADATA_ITEM_INIT", &edit->ctx));
    next->metadata = items;
    *out = items;
    return TZ_OK;
}

static tz_result drop_items(tz_spec_edit *edit, bool (*is_dropped)(const tz_metadata_item *item))
{
    tz_metadata_item *items;
    uint32_t kept = 0;
    TZ_TRY(tz_spec_edit_copy_items(edit, &items));
    for (uint32_t i = 0; i < edit->next.metadata_count; i++) {
        if (!is_dropped(&items[i]))
            items[kept++] = items[i];
    }
    edit->next.metadata_count = kept;
    return TZ_OK;
}

tz_result tz_spec_edit_drop_tags(tz_spec_edit *edit, const uint16_t *dropped, size_t count)
{
    tz_image_spec *next = &edit->next;
    tz_tag_value *tags = NULL;
    uint32_t kept = 0;
    if (next->tag_count == 0)
        return TZ_OK;
    TZ_TRY(tz_spec_edit_alloc(edit, next->tag_count, sizeof *tags, &tags));
    TZ_TRY(tz_copy_elements(tags, sizeof *tags, next->tags, next->tag_count, "spec->tags",
                            "TZ_TAG_VALUE_INIT", &edit->ctx));
    for (uint32_t i = 0; i < next->tag_count; i++) {
        size_t found = 0;
        while (found < count && dropped[found] != tags[i].tag)
            found++;
        if (found == count)
            tags[kept++] = tags[i];
    }
    next->tags = tags;
    next->tag_count = kept;
    return TZ_OK;
}

/* Drops items and tags that count pixels: MinSampleValue, MaxSampleValue, and those with an S. */
static tz_result drop_statistics(tz_spec_edit *edit)
{
    static const uint16_t tags[] = {280, 281, 340, 341};
    TZ_TRY(drop_items(edit, tz_item_is_statistics));
    return tz_spec_edit_drop_tags(edit, tags, sizeof tags / sizeof tags[0]);
}

tz_result tz_spec_edit_drop_sample_tags(tz_spec_edit *edit)
{
    static const uint16_t tags[] = {280, 281, 290, 291, 301, 332, 333, 334, 336, 340, 341};
    return tz_spec_edit_drop_tags(edit, tags, sizeof tags / sizeof tags[0]);
}

/* ---- grid ---- */

tz_result tz_spec_edit_geo(tz_spec_edit *edit, tz_geo **out)
{
    TZ_TRY(tz_copy_geo(&edit->holder->arena, edit->next.geo, &edit->ctx, out));
    edit->next.geo = *out;
    return TZ_OK;
}

/* Moves a position along one axis to the new grid, in the order of operations that GDAL has.
 * Without a change of size only the shift is applied, so that nothing is rounded. */
static double move_position(double position, int64_t start, uint32_t from, uint32_t to)
{
    const double moved = position - (double)start;
    return from == to ? moved : moved * ((double)to / from);
}

static tz_result move_gcps(tz_spec_edit *edit, tz_geo *geo, const tz_window *window)
{
    void *copy;
    if (!geo->gcps && geo->gcp_count > 0)
        return TZ_FAIL_ARG(&edit->ctx, "spec->geo->gcps is NULL, although its count is %u",
                           geo->gcp_count);
    TZ_TRY(tz_copy_array(&edit->holder->arena, geo->gcps, geo->gcp_count, sizeof *geo->gcps,
                         &edit->ctx, &copy));
    tz_gcp *gcps = copy;
    for (uint32_t i = 0; i < geo->gcp_count; i++) {
        gcps[i].column =
            move_position(gcps[i].column, window->column, window->width, edit->next.width);
        gcps[i].row = move_position(gcps[i].row, window->row, window->height, edit->next.height);
    }
    geo->gcps = gcps;
    return TZ_OK;
}

/* RPC count from the centre of the first pixel: half a pixel is added before scaling, and taken
 * away again. */
static double move_rpc_offset(double offset, int64_t start, uint32_t from, uint32_t to)
{
    return from == to ? offset - (double)start : move_position(offset + 0.5, start, from, to) - 0.5;
}

static tz_result move_rpc(tz_spec_edit *edit, tz_geo *geo, const tz_window *window)
{
    enum { LINE_OFF = 2, SAMP_OFF = 3, LINE_SCALE = 7, SAMP_SCALE = 8 };
    void *copy;
    if (!geo->rpc)
        return TZ_OK;
    TZ_TRY(tz_copy_array(&edit->holder->arena, geo->rpc, TZ_RPC_VALUES, sizeof *geo->rpc,
                         &edit->ctx, &copy));
    double *rpc = copy;
    const uint32_t width = edit->next.width, height = edit->next.height;
    rpc[LINE_OFF] = move_rpc_offset(rpc[LINE_OFF], window->row, window->height, height);
    rpc[SAMP_OFF] = move_rpc_offset(rpc[SAMP_OFF], window->column, window->width, width);
    rpc[LINE_SCALE] = move_position(rpc[LINE_SCALE], 0, window->height, height);
    rpc[SAMP_SCALE] = move_position(rpc[SAMP_SCALE], 0, window->width, width);
    geo->rpc = rpc;
    return TZ_OK;
}

static void move_transform(const tz_spec_edit *edit, tz_geo *geo, const tz_window *window)
{
    double *t = geo->transform;
    const double column = (double)window->column, row = (double)window->row;
    const double across = (double)window->width / edit->next.width;
    const double down = (double)window->height / edit->next.height;
    t[0] += column * t[1] + row * t[2];
    t[3] += column * t[4] + row * t[5];
    t[1] *= across;
    t[4] *= across;
    t[2] *= down;
    t[5] *= down;
}

static tz_result change_grid(tz_spec_edit *edit, const tz_window *window, uint32_t width,
                             uint32_t height)
{
    tz_image_spec *next = &edit->next;
    tz_geo *geo;
    if (window->width == 0 || window->height == 0)
        return TZ_FAIL_ARG(&edit->ctx, "a window of %u x %u pixels has none", window->width,
                           window->height);
    if (width == 0 || height == 0)
        return TZ_FAIL_ARG(&edit->ctx, "an image of %u x %u pixels has none", width, height);
    if (window->column == 0 && window->row == 0 && window->width == next->width &&
        window->height == next->height && width == next->width && height == next->height)
        return TZ_OK;
    next->width = width;
    next->height = height;
    TZ_TRY(drop_statistics(edit));
    if (!next->geo)
        return TZ_OK;
    TZ_TRY(tz_spec_edit_geo(edit, &geo));
    if (geo->has_transform)
        move_transform(edit, geo, window);
    TZ_TRY(move_gcps(edit, geo, window));
    return move_rpc(edit, geo, window);
}

tz_result tz_image_spec_set_grid(tz_image_spec *spec, const tz_window *window, uint32_t width,
                                 uint32_t height, tz_error *err)
{
    tz_spec_edit edit = tz_spec_edit_begin(spec, err);
    return tz_spec_edit_end(&edit, change_grid(&edit, window, width, height));
}

/* ---- type and nodata ---- */

static uint16_t sample_bits(const tz_image_spec *spec)
{
    return spec->bits_per_sample != 0 ? spec->bits_per_sample
                                      : (uint16_t)(tz_dtype_size(spec->dtype) * 8);
}

/* Returns the value that the specification has, which may be given as text only. */
static tz_nodata current_nodata(const tz_image_spec *spec)
{
    tz_nodata value = spec->nodata;
    if (value.kind == TZ_NODATA_KIND_NONE &&
        (!spec->nodata_text ||
         !tz_nodata_parse_exact(spec->nodata_text, spec->dtype, sample_bits(spec), &value)))
        value = (tz_nodata){.kind = TZ_NODATA_KIND_NONE};
    return value;
}

static bool is_same_nodata(const tz_nodata *a, const tz_nodata *b)
{
    return a->kind == b->kind && (a->kind == TZ_NODATA_KIND_NONE || a->value.u == b->value.u);
}

/* Casts nodata to a type. False: the type does not have the value. */
static bool fit_nodata_value(const tz_nodata *before, tz_dtype dtype, uint16_t bits, tz_nodata *out)
{
    if (tz_nodata_fit_type(before, dtype, bits, out))
        return true;
    /* a float that is too large for the type is infinite there, as the pixels are */
    const tz_nodata infinite = {.kind = TZ_NODATA_KIND_FLOAT,
                                .value = {.f = copysign(INFINITY, before->value.f)}};
    return before->kind == TZ_NODATA_KIND_FLOAT && isfinite(before->value.f) &&
           tz_nodata_fit_type(&infinite, dtype, bits, out);
}

/* Pixels are converted, and nodata with them: 0.1 as float32 is another number as float64. The text
 * stays if it still gives the value. */
static void fit_nodata(tz_image_spec *next, const tz_nodata *before)
{
    const uint16_t bits = sample_bits(next);
    tz_nodata value, spelled;
    if (before->kind == TZ_NODATA_KIND_NONE ||
        !fit_nodata_value(before, next->dtype, bits, &value)) {
        next->nodata = (tz_nodata){.kind = TZ_NODATA_KIND_NONE};
        next->nodata_text = NULL;
        return;
    }
    next->nodata = value;
    if (next->nodata_text &&
        !(tz_nodata_parse_exact(next->nodata_text, next->dtype, bits, &spelled) &&
          is_same_nodata(&spelled, &value)))
        next->nodata_text = NULL;
}

/* The colour map has an entry for each value of the type. */
static tz_result fit_color_map(tz_spec_edit *edit)
{
    tz_image_spec *next = &edit->next;
    uint16_t *map = NULL;
    if (next->color_map_size == 0)
        return TZ_OK;
    if (!next->color_map)
        return TZ_FAIL_ARG(&edit->ctx, "spec->color_map is NULL, although its size is %u",
                           next->color_map_size);
    if (next->dtype != TZ_DTYPE_UINT8 && next->dtype != TZ_DTYPE_UINT16) {
        next->color_map = NULL;
        next->color_map_size = 0;
        next->photometric = TZ_PHOTOMETRIC_MIN_IS_BLACK;
        return drop_items(edit, is_palette_color);
    }
    const uint32_t before = next->color_map_size;
    const uint32_t size = UINT32_C(1) << next->bits_per_sample;
    const uint32_t kept = tz_min_u32(before, size);
    TZ_TRY(tz_spec_edit_alloc(edit, 3 * (uint64_t)size, sizeof *map, &map));
    for (size_t i = 0; i < 3; i++)
        memcpy(map + i * size, next->color_map + i * before, kept * sizeof *map);
    next->color_map = map;
    next->color_map_size = size;
    return TZ_OK;
}

static tz_result change_dtype(tz_spec_edit *edit, tz_dtype dtype)
{
    tz_image_spec *next = &edit->next;
    const tz_nodata before = current_nodata(next);
    const bool had_type = next->dtype != TZ_DTYPE_NONE;
    if (tz_dtype_size(dtype) == 0)
        return TZ_FAIL_ARG(&edit->ctx, "dtype is %d, which is not a type of pixels", (int)dtype);
    if (dtype == next->dtype)
        return TZ_OK;
    next->dtype = dtype;
    next->bits_per_sample = (uint16_t)(tz_dtype_size(dtype) * 8);
    if (!had_type && before.kind == TZ_NODATA_KIND_NONE && next->nodata_text) {
        if (!tz_nodata_parse_exact(next->nodata_text, dtype, sample_bits(next), &next->nodata))
            fit_nodata(next, &before);
    } else {
        fit_nodata(next, &before);
    }
    TZ_TRY(fit_color_map(edit));
    TZ_TRY(tz_spec_edit_drop_sample_tags(edit));
    return drop_statistics(edit);
}

tz_result tz_image_spec_set_dtype(tz_image_spec *spec, tz_dtype dtype, tz_error *err)
{
    tz_spec_edit edit = tz_spec_edit_begin(spec, err);
    return tz_spec_edit_end(&edit, change_dtype(&edit, dtype));
}

/* Without a type the text is kept as it is: tz_create finds out if the type has the value. */
static tz_result change_nodata(tz_spec_edit *edit, const char *text)
{
    tz_image_spec *next = &edit->next;
    const tz_nodata before = current_nodata(next);
    next->nodata = (tz_nodata){.kind = TZ_NODATA_KIND_NONE};
    next->nodata_text = text;
    if (text) {
        if (!tz_nodata_is_printable(text))
            return TZ_FAIL_ARG(&edit->ctx,
                               "the text of nodata must be 1 to %d printable characters",
                               TZ_MAX_NODATA_TEXT);
        if (next->dtype != TZ_DTYPE_NONE &&
            !tz_nodata_parse_exact(text, next->dtype, sample_bits(next), &next->nodata))
            return TZ_FAIL_ARG(&edit->ctx, "nodata '%s' is not a value of type %s with %u bits",
                               text, tz_dtype_name(next->dtype), sample_bits(next));
        TZ_TRY(copy_part_text(edit, &next->nodata_text));
    }
    return is_same_nodata(&before, &next->nodata) ? TZ_OK : drop_items(edit, tz_item_is_statistics);
}

tz_result tz_image_spec_drop_statistics(tz_image_spec *spec, tz_error *err)
{
    tz_spec_edit edit = tz_spec_edit_begin(spec, err);
    return tz_spec_edit_end(&edit, drop_statistics(&edit));
}

tz_result tz_image_spec_set_nodata(tz_image_spec *spec, const char *text, tz_error *err)
{
    tz_spec_edit edit = tz_spec_edit_begin(spec, err);
    return tz_spec_edit_end(&edit, change_nodata(&edit, text));
}

/* ---- metadata ---- */

static bool is_same_item(const tz_metadata_item *a, const tz_metadata_item *b)
{
    return a->band == b->band && strcmp(text_or_empty(a->name), text_or_empty(b->name)) == 0 &&
           strcmp(text_or_empty(a->domain), text_or_empty(b->domain)) == 0 &&
           tz_item_has_role(a, text_or_empty(b->role));
}

static tz_result check_new_item(tz_spec_edit *edit, tz_metadata_item *item)
{
    const char *value = item->value;
    if (!value)
        item->value = "removed"; /* anything that is checked without an error */
    if (!value && (tz_item_has_role(item, "scale") || tz_item_has_role(item, "offset")))
        item->value = "0";
    TZ_TRY(tz_check_metadata_item(item, edit->next.bands, &edit->ctx));
    item->value = value;
    return TZ_OK;
}

/* The new item takes the place of the first that it replaces. */
static tz_result change_metadata(tz_spec_edit *edit, const tz_metadata_item *given)
{
    tz_image_spec *next = &edit->next;
    tz_metadata_item item = TZ_METADATA_ITEM_INIT;
    tz_metadata_item *items;
    uint32_t kept = 0;
    bool placed;
    TZ_TRY(tz_copy_struct(&item, sizeof item, given, "item", "TZ_METADATA_ITEM_INIT", &edit->ctx));
    TZ_TRY(check_new_item(edit, &item));
    if (tz_item_is_of_tag(&item))
        return tz_spec_edit_set_tag_item(edit, &item);
    placed = !item.value;
    if (item.value) {
        TZ_TRY(copy_part_text(edit, &item.domain));
        TZ_TRY(copy_part_text(edit, &item.name));
        TZ_TRY(copy_part_text(edit, &item.value));
        TZ_TRY(copy_part_text(edit, &item.role));
    }
    TZ_TRY(tz_spec_edit_copy_items(edit, &items));
    for (uint32_t i = 0; i < next->metadata_count; i++) {
        if (!is_same_item(&items[i], &item)) {
            items[kept++] = items[i];
        } else if (!placed) {
            items[kept++] = item;
            placed = true;
        }
    }
    if (!placed)
        items[kept++] = item;
    next->metadata_count = kept;
    return TZ_OK;
}

tz_result tz_image_spec_set_metadata(tz_image_spec *spec, const tz_metadata_item *item,
                                     tz_error *err)
{
    tz_spec_edit edit = tz_spec_edit_begin(spec, err);
    return tz_spec_edit_end(&edit, change_metadata(&edit, item));
}

/* ---- georeferencing ---- */

/* Area is what a file means that does not say it. */
void tz_spec_edit_leave_out_empty_geo(tz_spec_edit *edit)
{
    const tz_geo *geo = edit->next.geo;
    if (!geo->has_transform && geo->gcp_count == 0 && geo->key_count == 0 && geo->epsg == 0 &&
        !geo->rpc && geo->raster_type != TZ_RASTER_TYPE_POINT)
        edit->next.geo = NULL;
}

/* Takes over everything that is of the CRS, with copies of the keys and the citation. */
static tz_result take_crs(tz_spec_edit *edit, tz_geo *geo, const tz_geo *crs)
{
    tz_geo taken = *crs;
    TZ_TRY(tz_copy_geo_keys(&edit->holder->arena, &taken, &edit->ctx));
    if (taken.citation)
        TZ_TRY(copy_part_text(edit, &taken.citation));
    taken.struct_size = sizeof taken;
    taken.has_transform = geo->has_transform;
    memcpy(taken.transform, geo->transform, sizeof taken.transform);
    taken.gcps = geo->gcps;
    taken.gcp_count = geo->gcp_count;
    taken.rpc = geo->rpc;
    *geo = taken;
    return TZ_OK;
}

static tz_result change_crs(tz_spec_edit *edit, const tz_crs *crs)
{
    tz_geo *geo, *made;
    tz_geo none = TZ_GEO_INIT;
    TZ_TRY(tz_spec_edit_geo(edit, &geo));
    if (geo->raster_type == TZ_RASTER_TYPE_POINT) /* areas need no key */
        none.raster_type = TZ_RASTER_TYPE_POINT;
    if (!crs) {
        TZ_TRY(take_crs(edit, geo, &none));
        tz_spec_edit_leave_out_empty_geo(edit);
        return TZ_OK;
    }
    TZ_TRY(tz_crs_to_geo(&made, crs, geo->raster_type, edit->ctx.err));
    const tz_result result = take_crs(edit, geo, made);
    tz_geo_free(made);
    return result;
}

tz_result tz_image_spec_set_crs(tz_image_spec *spec, const tz_crs *crs, tz_error *err)
{
    tz_spec_edit edit = tz_spec_edit_begin(spec, err);
    return tz_spec_edit_end(&edit, change_crs(&edit, crs));
}

/* Replaces transform and control points; either may be none. */
static tz_result change_place(tz_spec_edit *edit, const double *transform, const tz_gcp *gcps,
                              uint32_t count)
{
    tz_geo *geo;
    void *copy;
    if (count > 0 && !gcps)
        return TZ_FAIL_ARG(&edit->ctx, "gcps is NULL, although count is %u", count);
    if (transform && tz_count_finite(transform, 6) != 6)
        return TZ_FAIL_ARG(&edit->ctx, "transform: number %zu is infinite or not a number",
                           tz_count_finite(transform, 6));
    if (count > 0 && tz_count_finite(&gcps[0].column, (size_t)count * TZ_TIEPOINT_VALUES) !=
                         (size_t)count * TZ_TIEPOINT_VALUES)
        return TZ_FAIL_ARG(&edit->ctx, "a control point has a number that is infinite or NaN");
    TZ_TRY(tz_spec_edit_geo(edit, &geo));
    TZ_TRY(tz_copy_array(&edit->holder->arena, gcps, count, sizeof *gcps, &edit->ctx, &copy));
    geo->has_transform = transform != NULL;
    memset(geo->transform, 0, sizeof geo->transform);
    if (transform)
        memcpy(geo->transform, transform, sizeof geo->transform);
    geo->gcps = copy;
    geo->gcp_count = count;
    tz_spec_edit_leave_out_empty_geo(edit);
    return TZ_OK;
}

tz_result tz_image_spec_set_transform(tz_image_spec *spec, const double transform[6], tz_error *err)
{
    tz_spec_edit edit = tz_spec_edit_begin(spec, err);
    return tz_spec_edit_end(&edit, change_place(&edit, transform, NULL, 0));
}

tz_result tz_image_spec_set_gcps(tz_image_spec *spec, const tz_gcp *gcps, uint32_t count,
                                 tz_error *err)
{
    tz_spec_edit edit = tz_spec_edit_begin(spec, err);
    return tz_spec_edit_end(&edit, change_place(&edit, NULL, gcps, count));
}
