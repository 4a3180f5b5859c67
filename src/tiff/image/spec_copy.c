/* SPDX-License-Identifier: Apache-2.0
 * The specification of an image that would be a copy of an open file's image.
 *
 * Everything is copied to an arena that belongs to the specification, so that the file may be
 * closed. Facts that would be wrong in another file are left out: values that the type cannot have,
 * tags that point into the file or follow from the options, and unknown tags of whole numbers,
 * which may be offsets. Colours that cannot be written become grey with extra samples. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "tiff/file.h"
#include "tiff/gdal/nodata.h"
#include "tiff/image/image_steps.h"
#include "tiff/image/spec_holder.h"
#include "tiff/tags.h"

/* A copy that is being made. Only the first member is used after tz_image_spec_from_file. */
typedef struct spec_copy {
    tz_spec_holder owned;
    tz_geo geo; /* of owned.spec */
    const tz_file *file;
    tz_context ctx;
    uint64_t tag_bytes;
} spec_copy;

static tz_result copy_spec_text(spec_copy *copy, const char *text, const char **out)
{
    *out = text ? tz_arena_text(&copy->owned.arena, text, strlen(text)) : NULL;
    return *out || !text ? TZ_OK : tz_fail_nomem(&copy->ctx, strlen(text) + 1);
}

/* ---- pixels ---- */

/* Packed integers stay as narrow as they are; a float of 24 bits is delivered wider. */
static tz_result copy_spec_type(spec_copy *copy)
{
    const tz_info *info = &copy->file->info;
    tz_image_spec *spec = &copy->owned.spec;
    if (info->dtype == TZ_DTYPE_NONE)
        return TZ_FAIL_UNSUPPORTED(&copy->ctx, tz_no_location(),
                                   "the samples have no type that can be read or written");
    spec->width = info->width;
    spec->height = info->height;
    spec->bands = info->bands;
    spec->dtype = info->dtype;
    spec->bits_per_sample = (uint16_t)(tz_dtype_size(info->dtype) * 8);
    if (info->sample_format <= TZ_SAMPLE_FORMAT_INT || info->sample_format == TZ_SAMPLE_FORMAT_VOID)
        spec->bits_per_sample = info->bits_per_sample;
    spec->orientation = info->orientation <= 8 ? info->orientation : 1;
    spec->mask = copy->file->levels[0].has_mask;
    return TZ_OK;
}

/* Returns grey, with the other bands as extra samples, for colours that cannot be written, or for
 * which bands or a colour map are missing. YCbCr that is not of JPEG cannot be written. */
static tz_photometric writable_photometric(const tz_file *file)
{
    const tz_info *info = &file->info;
    const uint16_t number = tz_delivered_photometric(file);
    if (number > TZ_PHOTOMETRIC_ITULAB || !tz_photometric_name(number) ||
        number == TZ_PHOTOMETRIC_MASK || number == TZ_PHOTOMETRIC_YCBCR ||
        (number == TZ_PHOTOMETRIC_PALETTE && !info->color_map) ||
        info->bands < tz_photometric_channels(number))
        return TZ_PHOTOMETRIC_MIN_IS_BLACK;
    return number == TZ_PHOTOMETRIC_NUMBER_MIN_IS_WHITE ? TZ_PHOTOMETRIC_MIN_IS_WHITE
                                                        : (tz_photometric)number;
}

/* Extra samples are the last bands, also if the file describes fewer or more of them. */
static tz_result copy_spec_colors(spec_copy *copy)
{
    const tz_info *info = &copy->file->info;
    tz_image_spec *spec = &copy->owned.spec;
    void *map;
    spec->photometric = writable_photometric(copy->file);
    spec->extra_sample_count =
        info->bands - tz_photometric_channels((uint16_t)tz_photometric_number(spec->photometric));
    if (spec->extra_sample_count > 0) {
        const uint32_t wanted = spec->extra_sample_count;
        const uint32_t given = info->extra_sample_count;
        const uint32_t used = tz_min_u32(given, wanted);
        uint16_t *list = tz_arena_array(&copy->owned.arena, wanted, sizeof *list);
        if (!list)
            return tz_fail_nomem(&copy->ctx, wanted * sizeof *list);
        for (uint32_t i = 0; i < used; i++)
            list[wanted - 1 - i] = info->extra_samples[given - 1 - i];
        spec->extra_samples = list;
    }
    if (spec->photometric != TZ_PHOTOMETRIC_PALETTE)
        return TZ_OK;
    TZ_TRY(tz_copy_array(&copy->owned.arena, info->color_map, 3 * (uint64_t)info->color_map_size,
                         sizeof *info->color_map, &copy->ctx, &map));
    spec->color_map = map;
    spec->color_map_size = info->color_map_size;
    return TZ_OK;
}

/* A value that no pixel can have marks none. */
static tz_result copy_spec_nodata(spec_copy *copy)
{
    const tz_info *info = &copy->file->info;
    tz_image_spec *spec = &copy->owned.spec;
    const uint16_t bits = spec->bits_per_sample;
    tz_nodata value;
    if (info->nodata.kind == TZ_NODATA_KIND_NONE)
        return TZ_OK;
    if (tz_nodata_parse_exact(info->nodata_text, spec->dtype, bits, &value)) {
        spec->nodata = value;
        return copy_spec_text(copy, info->nodata_text, &spec->nodata_text);
    }
    if (tz_nodata_fit_type(&info->nodata, spec->dtype, bits, &value))
        spec->nodata = value;
    return TZ_OK;
}

/* ---- georeferencing ---- */

tz_result tz_copy_geo_keys(tz_arena *arena, tz_geo *geo, const tz_context *ctx)
{
    void *copied;
    TZ_TRY(tz_copy_array(arena, geo->keys, geo->key_count, sizeof *geo->keys, ctx, &copied));
    tz_geo_key *keys = copied;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < geo->key_count; i++) {
        tz_geo_key *key = &keys[kept];
        *key = keys[i];
        if (key->count == 0 && key->type != TZ_TYPE_ASCII)
            continue; /* a key without a value says nothing */
        if (key->type == TZ_TYPE_ASCII && key->count > 0) {
            const char *nul = memchr(key->value.text, '\0', key->count);
            if (nul)
                key->count = (uint32_t)(nul - key->value.text);
        }
        TZ_TRY(tz_copy_array(arena, tz_geo_key_values(key), key->count, tz_type_size(key->type),
                             ctx, &copied));
        tz_geo_key_set_values(key, copied);
        kept++;
    }
    geo->keys = keys;
    geo->key_count = kept;
    return TZ_OK;
}

/* Copies the georeferencing, unless the file has none. Keys are copied as they are, also those that
 * this library does not understand. */
static tz_result copy_spec_geo(spec_copy *copy)
{
    const tz_geo *from = &copy->file->geo;
    tz_geo *geo = &copy->geo;
    void *copied;
    if (!from->has_transform && from->gcp_count == 0 && from->key_revision == 0 && !from->has_crs &&
        !from->rpc)
        return TZ_OK;
    *geo = *from;
    copy->owned.spec.geo = geo;
    TZ_TRY(tz_copy_array(&copy->owned.arena, from->gcps, from->gcp_count, sizeof *from->gcps,
                         &copy->ctx, &copied));
    geo->gcps = copied;
    TZ_TRY(tz_copy_array(&copy->owned.arena, from->rpc, from->rpc ? TZ_RPC_VALUES : 0,
                         sizeof *from->rpc, &copy->ctx, &copied));
    geo->rpc = copied;
    TZ_TRY(copy_spec_text(copy, from->citation, &geo->citation));
    return tz_copy_geo_keys(&copy->owned.arena, geo, &copy->ctx);
}

/* ---- metadata and other tags ---- */

static tz_result copy_spec_metadata(spec_copy *copy)
{
    tz_image_spec *spec = &copy->owned.spec;
    const uint32_t count = copy->file->info.metadata_count;
    tz_metadata_item *items = tz_arena_array(&copy->owned.arena, count, sizeof *items);
    if (!items)
        return tz_fail_nomem(&copy->ctx, count * sizeof *items);
    for (uint32_t i = 0; i < count; i++) {
        const tz_metadata_item *item = &copy->file->items[i];
        items[i] = *item;
        TZ_TRY(copy_spec_text(copy, item->domain, &items[i].domain));
        TZ_TRY(copy_spec_text(copy, item->name, &items[i].name));
        TZ_TRY(copy_spec_text(copy, item->value, &items[i].value));
        TZ_TRY(copy_spec_text(copy, item->role, &items[i].role));
    }
    spec->metadata = items;
    spec->metadata_count = count;
    return TZ_OK;
}

/* True for plain data. An unknown tag of whole numbers may be an offset and is not copied. */
static bool is_copied_tag(const tz_tag *tag)
{
    const tz_tag_row *row = tz_tag_find(tag->tag);
    const bool wide = tag->type == TZ_TYPE_LONG || tag->type == TZ_TYPE_LONG8;
    if (tag->size == 0 || tag->type == TZ_TYPE_IFD || tag->type == TZ_TYPE_IFD8)
        return false;
    return row ? row->role == TZ_TAG_ROLE_PLAIN : !wide;
}

/* Copies a tag. Tags that share their data must not make a small file cost many times its size.
 * Text without a closing NUL gets one, for which a byte is allocated. */
static tz_result copy_extra_tag(spec_copy *copy, const tz_tag *tag, tz_tag_value *out)
{
    const tz_location location = tz_at_tag(tag->tag, tag->offset);
    const uint64_t file_size = copy->file->info.file_size;
    TZ_TRY(tz_check_limit(&copy->ctx, offsetof(tz_limits, max_tag_bytes), location, tag->size,
                          "bytes in one tag"));
    copy->tag_bytes += tag->size;
    if (copy->tag_bytes > file_size)
        return TZ_FAIL_TAG(&copy->ctx, tz_expecting(location, file_size, copy->tag_bytes),
                           "the tags share their data, and are larger than the file");
    uint8_t *data = tz_arena_array(&copy->owned.arena, (size_t)tag->size + 1, 1);
    if (!data)
        return tz_fail_nomem(&copy->ctx, tag->size + 1);
    TZ_TRY(tz_tag_read(data, (size_t)tag->size, copy->file, tag, copy->ctx.err));
    const bool open = tag->type == TZ_TYPE_ASCII && data[tag->size - 1] != '\0';
    *out = (tz_tag_value){.struct_size = sizeof *out,
                          .tag = tag->tag,
                          .type = tag->type,
                          .count = tag->count + open,
                          .data = data};
    return TZ_OK;
}

/* Copies the tags that say the same in another file. If a tag occurs twice, the first counts, as
 * it does in reading. */
static tz_result copy_extra_tags(spec_copy *copy)
{
    const tz_level *level = &copy->file->levels[0];
    tz_image_spec *spec = &copy->owned.spec;
    const uint32_t entries = (uint32_t)level->tag_count;
    tz_tag_value *tags = tz_arena_array(&copy->owned.arena, entries, sizeof *tags);
    if (!tags)
        return tz_fail_nomem(&copy->ctx, entries * sizeof *tags);
    spec->tags = tags;
    for (uint32_t i = 0; i < entries; i++) {
        tz_tag tag = TZ_TAG_INIT;
        TZ_TRY(tz_file_get_tag(&tag, copy->file, level->ifd_offset, i, copy->ctx.err));
        uint32_t same = 0;
        while (same < spec->tag_count && tags[same].tag != tag.tag)
            same++;
        if (!is_copied_tag(&tag) || same < spec->tag_count ||
            !tz_inside(&copy->file->containers[0], tag.offset, tag.size))
            continue;
        TZ_TRY(copy_extra_tag(copy, &tag, &tags[spec->tag_count]));
        spec->tag_count++;
    }
    return TZ_OK;
}

/* ---- the whole ---- */

tz_result tz_image_spec_from_file(tz_image_spec **out, const tz_file *file, tz_error *err)
{
    const tz_context ctx = tz_file_context(file, err);
    spec_copy *copy = tz_alloc_zeroed(1, sizeof *copy);
    if (!copy)
        return tz_fail_nomem(&ctx, sizeof *copy);
    copy->owned.spec = (tz_image_spec)TZ_IMAGE_SPEC_INIT;
    copy->file = file;
    copy->ctx = ctx;
    static tz_result (*const steps[])(spec_copy *) = {copy_spec_type,     copy_spec_colors,
                                                      copy_spec_nodata,   copy_spec_geo,
                                                      copy_spec_metadata, copy_extra_tags};
    tz_result result = TZ_OK;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && result == TZ_OK; i++)
        result = steps[i](copy);
    if (result == TZ_OK)
        *out = &copy->owned.spec;
    else
        tz_image_spec_free(&copy->owned.spec);
    return result;
}

void tz_image_spec_free(tz_image_spec *spec)
{
    tz_spec_holder *holder = (tz_spec_holder *)spec;
    if (!holder)
        return;
    tz_arena_deinit(&holder->arena);
    tz_free(holder);
}
