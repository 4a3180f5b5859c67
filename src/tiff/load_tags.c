/* SPDX-License-Identifier: Apache-2.0
 * The tags that describe an image rather than lay it out: loaded into the handle, within bounds.
 *
 * Each step of tz_file_load_tags loads one kind of tag into tz_info or tz_file. A step that fails
 * becomes a warning, and the others go on: a damaged description costs only itself. Bytes are
 * counted before they are loaded (tz_file_reserve). Text that is not kept, such as XML, is read in
 * pieces. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "codec/codec.h"
#include "tiff/byte_order.h"
#include "tiff/file.h"
#include "tiff/gdal/nodata.h"
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

enum { MAX_NODATA_SIZE = 256 };

/* The arguments that all steps share. ctx has a receiver of errors that makes warnings of them. */
typedef struct tag_loader {
    tz_file *file;
    const tz_ifd *ifd;
    tz_reader *reader;
    const tz_context *ctx;
} tag_loader;

/* Overlapping tags must not make a small file cost many times its size, so that all tags together
 * may not be larger than the file. */
static tz_result reserve_tag_bytes(tag_loader *loader, uint16_t tag, uint64_t size, bool *granted)
{
    const uint64_t total = loader->file->loaded + size;
    const tz_location location = tz_at_tag(tag, loader->ifd->offset);
    *granted = false;
    if (total > loader->reader->container->size)
        return TZ_WARN_TAG(loader->ctx,
                           tz_expecting(location, loader->reader->container->size, total),
                           "the tags share their data and would be larger than the file; skipped");
    return tz_file_reserve(loader->file, location, size, loader->ctx, granted);
}

tz_result tz_file_reserve(tz_file *file, tz_location location, uint64_t size, const tz_context *ctx,
                          bool *granted)
{
    const uint64_t total = tz_add_capped(file->loaded, size);
    *granted = true;
    TZ_TRY(tz_check_soft_limit(ctx, offsetof(tz_limits, max_handle_bytes), location, total,
                               "bytes of metadata in one handle", "metadata size", granted));
    if (*granted)
        file->loaded = total;
    return TZ_OK;
}

/* Loads a whole value, in the machine's byte order; *out stays NULL if there is none. */
static tz_result load_tag_array(tag_loader *loader, const tz_tag_ref *value, uint16_t tag,
                                void **out)
{
    const unsigned width = tz_type_size(value->type);
    bool granted = false;
    size_t size = 0;
    *out = NULL;
    if (value->count == 0)
        return TZ_OK;
    const unsigned copies = value->type == TZ_TYPE_FLOAT ? 3 : 1; /* load_tag_doubles widens them */
    TZ_TRY(reserve_tag_bytes(loader, tag, value->count * width * copies, &granted));
    if (!granted)
        return TZ_OK;
    void *data =
        tz_to_size(value->count * width, &size) ? tz_arena_alloc(&loader->file->arena, size) : NULL;
    if (!data)
        return tz_fail_nomem(loader->ctx, value->count * width);
    TZ_TRY(tz_reader_read(loader->reader, value->offset, size, data, loader->ctx));
    tz_to_host_order(data, value->count, width, loader->reader->container->big_endian);
    *out = data;
    return TZ_OK;
}

/* Loads an array of DOUBLEs, or of FLOATs, which are widened; *count is 0 if there is none. */
static tz_result load_tag_doubles(tag_loader *loader, const tz_tag_ref *value, uint16_t tag,
                                  const double **out, uint64_t *count)
{
    void *data = NULL;
    *out = NULL;
    *count = 0;
    TZ_TRY(load_tag_array(loader, value, tag, &data));
    if (!data)
        return TZ_OK;
    if (value->type == TZ_TYPE_FLOAT) {
        const float *narrow = data;
        double *wide = tz_arena_array(&loader->file->arena, (size_t)value->count, sizeof *wide);
        if (!wide)
            return tz_fail_nomem(loader->ctx, value->count * sizeof *wide);
        for (uint64_t i = 0; i < value->count; i++)
            wide[i] = (double)narrow[i];
        data = wide;
    }
    *out = data;
    *count = value->count;
    return TZ_OK;
}

/* Loads all georeferencing tags before any is parsed: keys refer to two of the others. */
static tz_result load_geo(tag_loader *loader)
{
    const tz_ifd *ifd = loader->ifd;
    tz_geo_tags tags = {0};
    void *keys = NULL;
    void *ascii = NULL;
    TZ_TRY(load_tag_array(loader, &ifd->geo_keys, TZ_TAG_GEO_KEYS, &keys));
    TZ_TRY(load_tag_array(loader, &ifd->geo_ascii, TZ_TAG_GEO_ASCII, &ascii));
    TZ_TRY(load_tag_doubles(loader, &ifd->geo_doubles, TZ_TAG_GEO_DOUBLES, &tags.doubles,
                            &tags.double_count));
    TZ_TRY(load_tag_doubles(loader, &ifd->pixel_scale, TZ_TAG_PIXEL_SCALE, &tags.scale,
                            &tags.scale_count));
    TZ_TRY(load_tag_doubles(loader, &ifd->tiepoints, TZ_TAG_TIEPOINTS, &tags.tiepoints,
                            &tags.tiepoint_count));
    TZ_TRY(load_tag_doubles(loader, &ifd->transformation, TZ_TAG_TRANSFORMATION, &tags.matrix,
                            &tags.matrix_count));
    TZ_TRY(load_tag_doubles(loader, &ifd->rpc, TZ_TAG_RPC, &tags.rpc, &tags.rpc_count));
    tags.directory = keys;
    tags.directory_count = keys ? ifd->geo_keys.count : 0;
    tags.ascii = ascii;
    tags.ascii_size = ascii ? ifd->geo_ascii.count : 0;
    loader->file->geo_tags = tags;
    tz_context ctx = *loader->ctx;
    /* NAME.aux.xml may have the CRS; open.c requires it after reading that file. */
    if (loader->file->sidecars & TZ_SIDECAR_AUX)
        ctx.require_crs = false;
    return tz_geo_parse(&tags, &loader->file->arena, &ctx, &loader->file->geo);
}

/* The text ends at its first NUL. A text that fills the buffer is longer than any number. */
static tz_result load_nodata(tag_loader *loader)
{
    const tz_tag_ref *value = &loader->ifd->nodata;
    tz_info *info = &loader->file->info;
    static const char spaces[] = " \t\n\r";
    char text[MAX_NODATA_SIZE + 1];
    if (value->count == 0)
        return TZ_OK;
    const size_t size = (size_t)tz_min(value->count, MAX_NODATA_SIZE);
    TZ_TRY(tz_reader_read(loader->reader, value->offset, size, text, loader->ctx));
    text[size] = '\0';
    size_t end = strlen(text);
    if (end == MAX_NODATA_SIZE)
        return TZ_WARN_META(loader->ctx,
                            tz_expecting(tz_at_tag(TZ_TAG_GDAL_NODATA, value->offset),
                                         MAX_NODATA_SIZE, value->count),
                            "the nodata text is too long; ignored");
    const size_t start = strspn(text, spaces);
    while (end > start && strchr(spaces, text[end - 1]))
        end--;
    if (end == start)
        return TZ_OK;
    text[end] = '\0';
    info->nodata_text = tz_arena_text(&loader->file->arena, text + start, end - start);
    if (!info->nodata_text)
        return tz_fail_nomem(loader->ctx, end - start + 1);
    return tz_nodata_parse(text + start, info->dtype, loader->ctx, &info->nodata);
}

/* Feeds the parser in pieces: the XML itself is not kept, only its items are. */
static tz_result load_metadata(tag_loader *loader)
{
    const tz_tag_ref *value = &loader->ifd->metadata;
    tz_metadata_parser *parser = NULL;
    bool granted = false;
    if (value->count == 0)
        return TZ_OK;
    TZ_TRY(reserve_tag_bytes(loader, TZ_TAG_GDAL_METADATA, value->count, &granted));
    if (!granted)
        return TZ_OK;
    TZ_TRY(tz_metadata_begin(&parser, value->count, loader->file->info.bands, loader->ctx));
    tz_result fed = TZ_OK;
    for (uint64_t done = 0; fed == TZ_OK && done < value->count && !tz_metadata_is_done(parser);) {
        const uint8_t *bytes = NULL;
        uint64_t size = value->count - done;
        fed = tz_reader_read_some(loader->reader, value->offset + done, &size, &bytes, loader->ctx);
        if (fed == TZ_OK)
            fed = tz_metadata_feed(parser, (const char *)bytes, (size_t)size);
        done += size;
    }
    const tz_result finished = tz_metadata_finish(parser, fed == TZ_OK, &loader->file->metadata);
    loader->file->info.metadata_count = loader->file->metadata.count;
    return fed != TZ_OK ? fed : finished;
}

/* Writers add a colour map to a grey image and leave its interpretation as it was. As in GDAL, the
 * map counts: values of pixels are not changed, not even those of MinIsWhite. */
static tz_result load_color_map(tag_loader *loader)
{
    tz_info *info = &loader->file->info;
    const uint16_t photometric = info->photometric;
    const tz_location location = tz_expecting(tz_at_tag(TZ_TAG_PHOTOMETRIC, loader->ifd->offset),
                                              TZ_PHOTOMETRIC_PALETTE, photometric);
    const tz_location at_map = tz_at_tag(TZ_TAG_COLOR_MAP, loader->ifd->color_map.offset);
    const uint64_t count = loader->ifd->color_map.count;
    const uint16_t format = info->sample_format;
    const bool grey = photometric <= TZ_PHOTOMETRIC_MIN_IS_BLACK;
    void *data = NULL;
    if (loader->ifd->color_map.count == 0 || photometric == TZ_PHOTOMETRIC_MASK)
        return TZ_OK;
    if (!grey && photometric != TZ_PHOTOMETRIC_PALETTE)
        return TZ_WARN_TAG(loader->ctx, location,
                           "ColorMap is for palettes, and the image is not one; ignored");
    if ((format > TZ_SAMPLE_FORMAT_INT && format != TZ_SAMPLE_FORMAT_VOID) ||
        info->bits_per_sample > 16)
        return TZ_WARN_TAG(loader->ctx, tz_expecting(at_map, 0, count),
                           "a colour map is for integers of up to 16 bits; ignored");
    const uint64_t wanted = UINT64_C(3) << info->bits_per_sample;
    if (count != wanted)
        return TZ_WARN_TAG(loader->ctx, tz_expecting(at_map, wanted, count),
                           "colour map of a wrong length; ignored");
    TZ_TRY(load_tag_array(loader, &loader->ifd->color_map, TZ_TAG_COLOR_MAP, &data));
    if (!data)
        return TZ_OK;
    info->color_map = data;
    info->color_map_size = UINT32_C(1) << info->bits_per_sample;
    info->photometric = TZ_PHOTOMETRIC_PALETTE;
    if (!grey)
        return TZ_OK;
    return TZ_WARN_TAG(loader->ctx, location, "%s with a ColorMap; taken as a palette",
                       tz_photometric_name(photometric));
}

/* Kinds that are not known count as unspecified. A list that is longer than the image has bands
 * says nothing about them, and is ignored. */
static tz_result load_extra_samples(tag_loader *loader)
{
    const tz_tag_ref *value = &loader->ifd->extra_samples;
    tz_info *info = &loader->file->info;
    const uint32_t channels = tz_photometric_channels(info->photometric);
    const uint64_t wanted = info->bands > channels ? info->bands - channels : 0;
    if (value->count != wanted)
        TZ_TRY(TZ_WARN_TAG(loader->ctx,
                           tz_expecting(tz_at_tag(TZ_TAG_EXTRA_SAMPLES, loader->ifd->offset),
                                        wanted, value->count),
                           "as many extra samples expected as bands beyond the colour channels"));
    if (value->count == 0 || value->count > info->bands)
        return TZ_OK;
    uint16_t *list = tz_arena_array(&loader->file->arena, (size_t)value->count, sizeof *list);
    if (!list)
        return tz_fail_nomem(loader->ctx, value->count * sizeof *list);
    for (uint64_t i = 0; i < value->count; i++) {
        uint64_t number = 0;
        TZ_TRY(tz_tag_ref_integer(loader->reader, value, TZ_TAG_EXTRA_SAMPLES, i, loader->ctx,
                                  &number));
        list[i] = number <= TZ_EXTRA_SAMPLE_ALPHA ? (uint16_t)number : TZ_EXTRA_SAMPLE_UNSPECIFIED;
    }
    info->extra_samples = list;
    info->extra_sample_count = (uint32_t)value->count;
    return TZ_OK;
}

/* InkNames has NUL-terminated names one after another, which are counted. */
static tz_result check_inks(tag_loader *loader)
{
    const tz_tag_ref *value = &loader->ifd->ink_names;
    uint64_t names = 0;
    if (value->count == 0 || loader->ifd->ink_count == 0)
        return TZ_OK;
    for (uint64_t done = 0; done < value->count && names < loader->ifd->ink_count;) {
        const uint8_t *bytes = NULL;
        uint64_t size = value->count - done;
        TZ_TRY(
            tz_reader_read_some(loader->reader, value->offset + done, &size, &bytes, loader->ctx));
        for (uint64_t i = 0; i < size; i++)
            names += bytes[i] == 0;
        done += size;
    }
    if (names >= loader->ifd->ink_count)
        return TZ_OK;
    return TZ_WARN_TAG(
        loader->ctx,
        tz_expecting(tz_at_tag(TZ_TAG_INK_NAMES, value->offset), loader->ifd->ink_count, names),
        "fewer ink names than inks");
}

/* A factor that is too large becomes 0; layer.c refuses to read such pixels. */
static tz_result load_subsampling(tag_loader *loader)
{
    for (uint64_t i = 0; i < loader->ifd->subsampling.count && i < 2; i++) {
        uint64_t factor = 0;
        TZ_TRY(tz_tag_ref_integer(loader->reader, &loader->ifd->subsampling,
                                  TZ_TAG_YCBCR_SUBSAMPLING, i, loader->ctx, &factor));
        loader->file->info.ycbcr_subsampling[i] = factor <= UINT16_MAX ? (uint16_t)factor : 0;
    }
    return TZ_OK;
}

/* A failure becomes a warning unless the file is not its cause (tz_warn_from_error decides). */
tz_result tz_file_load_tags(tz_file *file, const tz_ifd *ifd, tz_reader *reader,
                            const tz_context *ctx)
{
    tz_result (*const steps[])(tag_loader *) = {
        load_subsampling, load_extra_samples, load_color_map, check_inks,
        load_geo,         load_nodata,        load_metadata};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        tz_error failed;
        const tz_context quiet = tz_quiet_context(ctx, &failed);
        tag_loader loader = {.file = file, .ifd = ifd, .reader = reader, .ctx = &quiet};
        if (steps[i](&loader) != TZ_OK)
            TZ_TRY(tz_warn_from_error(ctx, &failed, "metadata"));
    }
    return TZ_OK;
}
