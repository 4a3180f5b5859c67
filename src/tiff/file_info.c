/* SPDX-License-Identifier: Apache-2.0
 * Questions to an open file: its info and layers, colour, description and scale of a band, items of
 * metadata, transforms of levels, and any tag of any directory as the file has it.
 *
 * Getters return pointers into the handle, which does not change after opening. Items and bands are
 * therefore made when it opens, by tz_file_describe. Most bands have a colour and nothing else: all
 * such bands of one colour are the same constant, so that a file with many bands costs no memory
 * for them. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/number.h"
#include "codec/codec.h"
#include "io/source.h"
#include "tiff/byte_order.h"
#include "tiff/file.h"
#include "tiff/tags.h"

const tz_info *tz_file_get_info(const tz_file *file)
{
    return &file->info;
}

tz_context tz_file_context(const tz_file *file, tz_error *err)
{
    return (tz_context){.name = file->info.name,
                        .limits = &file->limits,
                        .err = err,
                        .strict = file->strict,
                        .ifd = -1};
}

tz_result tz_file_layer(const tz_file *file, uint32_t level, bool mask, const tz_context *ctx,
                        tz_layer *out)
{
    const tz_level *shape = mask ? tz_file_get_mask(file, level) : tz_file_get_level(file, level);
    if (!shape)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), file->info.level_count, level),
                       "there is no %s %u", mask ? "mask of level" : "level", level);
    *out = (tz_layer){.shape = *shape,
                      .tables = mask ? file->mask_tables[level] : file->level_tables[level],
                      .is_mask = mask};
    return TZ_OK;
}

/* ---- lists ---- */

const tz_level *tz_file_get_level(const tz_file *file, uint32_t level)
{
    return level < file->info.level_count ? &file->levels[level] : NULL;
}

const tz_level *tz_file_get_mask(const tz_file *file, uint32_t level)
{
    return level < file->info.level_count && file->levels[level].has_mask ? &file->masks[level]
                                                                          : NULL;
}

const tz_page *tz_file_get_page(const tz_file *file, uint32_t page)
{
    return page < file->info.page_count ? &file->pages[page] : NULL;
}

const tz_error *tz_file_get_warning(const tz_file *file, uint32_t index)
{
    return index < file->info.warning_count ? &file->warnings.list[index] : NULL;
}

const tz_sidecar_use *tz_file_get_sidecar(const tz_file *file, uint32_t index)
{
    return index < file->info.sidecar_count ? &file->sidecar_uses[index] : NULL;
}

const tz_metadata_item *tz_file_get_metadata(const tz_file *file, uint32_t index)
{
    return index < file->info.metadata_count ? &file->items[index] : NULL;
}

/* ---- georeferencing of levels ---- */

/* The corner is that of level 0: a level covers the same area with fewer pixels. */
bool tz_size_get_transform(double transform[6], const tz_file *file, uint32_t width,
                           uint32_t height)
{
    const double *t = file->geo.transform;
    if (!file->geo.has_transform)
        return false;
    const double across = (double)file->info.width / width;
    const double down = (double)file->info.height / height;
    const double scaled[6] = {t[0], t[1] * across, t[2] * down, t[3], t[4] * across, t[5] * down};
    memcpy(transform, scaled, sizeof scaled);
    return true;
}

bool tz_level_get_transform(double transform[6], const tz_file *file, uint32_t level)
{
    const tz_level *shape = tz_file_get_level(file, level);
    return shape && tz_size_get_transform(transform, file, shape->width, shape->height);
}

bool tz_level_get_bounds(double bounds[4], const tz_file *file, uint32_t level)
{
    double t[6];
    if (!tz_level_get_transform(t, file, level))
        return false;
    const tz_level *shape = tz_file_get_level(file, level);
    for (unsigned corner = 0; corner < 4; corner++) {
        double x, y;
        tz_pixel_to_coordinate(&x, &y, t, corner & 1 ? shape->width : 0,
                               corner & 2 ? shape->height : 0);
        bounds[0] = corner == 0 ? x : fmin(bounds[0], x);
        bounds[1] = corner == 0 ? y : fmin(bounds[1], y);
        bounds[2] = corner == 0 ? x : fmax(bounds[2], x);
        bounds[3] = corner == 0 ? y : fmax(bounds[3], y);
    }
    return true;
}

void tz_pixel_to_coordinate(double *x, double *y, const double transform[6], double column,
                            double row)
{
    *x = transform[0] + column * transform[1] + row * transform[2];
    *y = transform[3] + column * transform[4] + row * transform[5];
}

/* An upright image needs no determinant, which could underflow for tiny pixels. */
bool tz_coordinate_to_pixel(double *column, double *row, const double transform[6], double x,
                            double y)
{
    const double *t = transform;
    const double dx = x - t[0];
    const double dy = y - t[3];
    if (t[2] == 0 && t[4] == 0 && t[1] != 0 && t[5] != 0) {
        *column = dx / t[1];
        *row = dy / t[5];
        return true;
    }
    const double determinant = t[1] * t[5] - t[2] * t[4];
    if (determinant == 0 || !isfinite(determinant))
        return false;
    *column = (dx * t[5] - dy * t[2]) / determinant;
    *row = (dy * t[1] - dx * t[4]) / determinant;
    return true;
}

/* ---- bands ---- */

/* Colours of the first bands by photometric interpretation; others have undefined colours. */
typedef struct photometric_colors {
    uint16_t photometric;
    uint8_t count;
    tz_color colors[4];
} photometric_colors;

static const photometric_colors color_rows[] = {
    {TZ_PHOTOMETRIC_NUMBER_MIN_IS_WHITE, 1, {TZ_COLOR_GRAY}},
    {TZ_PHOTOMETRIC_MIN_IS_BLACK, 1, {TZ_COLOR_GRAY}},
    {TZ_PHOTOMETRIC_RGB, 3, {TZ_COLOR_RED, TZ_COLOR_GREEN, TZ_COLOR_BLUE}},
    {TZ_PHOTOMETRIC_PALETTE, 1, {TZ_COLOR_PALETTE}},
    {TZ_PHOTOMETRIC_CMYK, 4, {TZ_COLOR_CYAN, TZ_COLOR_MAGENTA, TZ_COLOR_YELLOW, TZ_COLOR_BLACK}},
    {TZ_PHOTOMETRIC_YCBCR, 3, {TZ_COLOR_Y, TZ_COLOR_CB, TZ_COLOR_CR}},
};

uint16_t tz_delivered_photometric(const tz_file *file)
{
    const tz_info *info = &file->info;
    const uint16_t compression = file->levels[0].compression;
    const bool jpeg = compression == TZ_COMPRESSION_JPEG || compression == TZ_COMPRESSION_OLD_JPEG;
    return jpeg && info->photometric == TZ_PHOTOMETRIC_YCBCR ? TZ_PHOTOMETRIC_RGB
                                                             : info->photometric;
}

tz_color tz_band_color(uint16_t photometric, uint32_t bands, const uint16_t *extra_samples,
                       uint32_t extra_sample_count, uint32_t band)
{
    for (size_t i = 0; i < sizeof color_rows / sizeof color_rows[0]; i++) {
        if (color_rows[i].photometric == photometric && band < color_rows[i].count)
            return color_rows[i].colors[band];
    }
    /* Extra samples are the last bands, for any photometric interpretation. */
    const uint32_t first_extra = bands > extra_sample_count ? bands - extra_sample_count : 0;
    if (band >= first_extra && band - first_extra < extra_sample_count) {
        const uint16_t kind = extra_samples[band - first_extra];
        if (kind == TZ_EXTRA_SAMPLE_PREMULTIPLIED || kind == TZ_EXTRA_SAMPLE_ALPHA)
            return TZ_COLOR_ALPHA;
    }
    return TZ_COLOR_UNDEFINED;
}

static tz_color band_color(const tz_file *file, uint32_t band)
{
    const tz_info *info = &file->info;
    return tz_band_color(tz_delivered_photometric(file), info->bands, info->extra_samples,
                         info->extra_sample_count, band);
}

/* Reads a number of a band that GDAL stores as an item with a role. */
static bool band_number(const tz_file *file, const char *role, uint32_t band, double *out)
{
    const char *text = tz_metadata_find_role(&file->metadata, role, (int32_t)band);
    return text && tz_parse_double(text, out, NULL);
}

static tz_band describe_band(const tz_file *file, uint32_t band)
{
    tz_band out = {.scale = 1.0, .color = band_color(file, band)};
    out.description = tz_metadata_find_role(&file->metadata, "description", (int32_t)band);
    out.unit = tz_metadata_find_role(&file->metadata, "unittype", (int32_t)band);
    out.color_text = tz_metadata_find_role(&file->metadata, "colorinterp", (int32_t)band);
    out.has_scale = band_number(file, "scale", band, &out.scale);
    out.has_offset = band_number(file, "offset", band, &out.offset);
    return out;
}

#define PLAIN_BAND(color_) [color_] = {.scale = 1.0, .color = color_}
static const tz_band plain_bands[] = {
    PLAIN_BAND(TZ_COLOR_UNDEFINED), PLAIN_BAND(TZ_COLOR_GRAY),  PLAIN_BAND(TZ_COLOR_PALETTE),
    PLAIN_BAND(TZ_COLOR_RED),       PLAIN_BAND(TZ_COLOR_GREEN), PLAIN_BAND(TZ_COLOR_BLUE),
    PLAIN_BAND(TZ_COLOR_ALPHA),     PLAIN_BAND(TZ_COLOR_CYAN),  PLAIN_BAND(TZ_COLOR_MAGENTA),
    PLAIN_BAND(TZ_COLOR_YELLOW),    PLAIN_BAND(TZ_COLOR_BLACK), PLAIN_BAND(TZ_COLOR_Y),
    PLAIN_BAND(TZ_COLOR_CB),        PLAIN_BAND(TZ_COLOR_CR)};

/* Described bands are found by bisection: a file may have as many of them as items. */
const tz_band *tz_file_get_band(const tz_file *file, uint32_t band)
{
    uint32_t low = 0;
    uint32_t high = file->described_bands;
    if (band >= file->info.bands)
        return NULL;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (file->bands[middle].number < band)
            low = middle + 1;
        else
            high = middle;
    }
    return low < file->described_bands && file->bands[low].number == band
               ? &file->bands[low].band
               : &plain_bands[band_color(file, band)];
}

/* ---- metadata ---- */

/* True for the first item with a role of its band; items are sorted by band. */
static bool begins_described_band(const tz_file *file, uint32_t index, int32_t before)
{
    return file->items[index].band > before && file->items[index].role[0] != '\0';
}

/* Items and bands are small beside the text of the items, and counted like it: without memory for
 * them there is no metadata. */
tz_result tz_file_describe(tz_file *file, const tz_context *ctx)
{
    const uint32_t count = file->metadata.count;
    const uint64_t bytes = (uint64_t)count * (sizeof *file->items + sizeof *file->bands);
    int32_t band = -1;
    uint32_t bands = 0;
    bool granted = false;
    if (count == 0)
        return TZ_OK;
    TZ_TRY(
        tz_file_reserve(file, tz_at_tag(TZ_TAG_GDAL_METADATA, TZ_NO_VALUE), bytes, ctx, &granted));
    if (!granted) {
        tz_metadata_deinit(&file->metadata);
        file->info.metadata_count = 0;
        return TZ_OK;
    }
    file->items = tz_arena_array(&file->arena, count, sizeof *file->items);
    if (!file->items)
        return tz_fail_nomem(ctx, bytes);
    for (uint32_t i = 0; i < count; i++) {
        (void)tz_metadata_get_item(&file->metadata, i, &file->items[i]);
        if (begins_described_band(file, i, band)) {
            band = file->items[i].band;
            bands++;
        }
    }
    if (bands == 0)
        return TZ_OK;
    file->bands = tz_arena_array(&file->arena, bands, sizeof *file->bands);
    if (!file->bands)
        return tz_fail_nomem(ctx, bytes);
    band = -1;
    for (uint32_t i = 0; i < count; i++) {
        if (!begins_described_band(file, i, band))
            continue;
        band = file->items[i].band;
        file->bands[file->described_bands++] = (tz_described_band){
            .number = (uint32_t)band, .band = describe_band(file, (uint32_t)band)};
    }
    return TZ_OK;
}

/* ---- tags as the file has them ---- */

tz_result tz_file_get_tag(tz_tag *out, const tz_file *file, uint64_t ifd_offset, uint32_t index,
                          tz_error *err)
{
    const tz_context ctx = tz_file_context(file, err);
    tz_reader reader = tz_reader_direct(&file->containers[0]);
    tz_ifd_entry entry;
    TZ_TRY(tz_ifd_read_entry(&reader, ifd_offset, index, &ctx, &entry));
    TZ_TRY(tz_source_check(file->containers[0].source, &ctx));
    const tz_tag found = {.struct_size = sizeof found,
                          .tag = entry.tag,
                          .type = entry.type,
                          .count = entry.count,
                          .size = entry.size,
                          .offset = entry.offset};
    return tz_fill_struct(out, &found, sizeof found, "out", "TZ_TAG_INIT", &ctx);
}

/* RATIONALs stay two LONGs each: words are converted to the machine's byte order, not values. The
 * tag may be the caller's own, so that its extent is checked again. */
tz_result tz_tag_read(void *dst, size_t size, const tz_file *file, const tz_tag *given,
                      tz_error *err)
{
    const tz_context ctx = tz_file_context(file, err);
    tz_reader reader = tz_reader_direct(&file->containers[0]);
    tz_tag copied = TZ_TAG_INIT;
    const tz_tag *tag = &copied;
    TZ_TRY(tz_copy_struct(&copied, sizeof copied, given, "tag", "TZ_TAG_INIT", &ctx));
    const tz_location location = tz_at_tag(tag->tag, tag->offset);
    const unsigned word = tz_type_word_size(tag->type);
    if (tag->size > size)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_expecting(location, tag->size, size),
                       "the buffer is too small for the tag");
    if (!tz_inside(&file->containers[0], tag->offset, tag->size))
        return TZ_FAIL_TRUNCATED(&ctx, tz_expecting(location, tag->size, TZ_NO_VALUE),
                                 "the tag's data reaches past the end of the file");
    if (tag->size == 0)
        return TZ_OK;
    if (word == 0) /* not a tag of tz_file_get_tag */
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, location, "the tag's type is unknown");
    TZ_TRY(tz_reader_read(&reader, tag->offset, (size_t)tag->size, dst, &ctx));
    tz_to_host_order(dst, tag->size / word, word, file->containers[0].big_endian);
    return tz_source_check(file->containers[0].source, &ctx);
}
