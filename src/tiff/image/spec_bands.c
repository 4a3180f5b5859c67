/* SPDX-License-Identifier: Apache-2.0
 * A selection of bands of a specification: what is known of the bands follows them.
 *
 * The interpretation is the one that GDAL's GTiff driver would choose for the colours of the bands.
 * It decides first, with the extra samples; a band whose colour they do not express has an item of
 * role colorinterp. Items are listed by band once, because there may be many of both. */
#include "tiff/file.h"
#include "tiff/image/image_steps.h"
#include "tiff/image/spec_holder.h"
#include "tiff/tags.h"

/* A band of the source. */
typedef struct band_source {
    uint32_t first_item;   /* index + 1 of its first item; 0: none */
    tz_color color;        /* by item, else by interpretation */
    bool has_item;         /* an item says the colour */
    bool is_other;         /* and it has no tz_color */
    uint16_t extra_sample; /* 0: not alpha */
} band_source;

/* The items of the source, as a list for each band. */
typedef struct item_lists {
    band_source *bands;
    const tz_metadata_item *items;
    uint32_t *after; /* index + 1 of the next item of the same band; 0: none */
} item_lists;

/* Returns the interpretation that the writer would take. Rows of YCbCr are RGB. */
static uint16_t resolved_photometric(const tz_image_spec *spec)
{
    const tz_photometric photometric = tz_spec_photometric(spec);
    return photometric == TZ_PHOTOMETRIC_YCBCR ? TZ_PHOTOMETRIC_RGB
                                               : (uint16_t)tz_photometric_number(photometric);
}

static void describe_source_bands(const tz_image_spec *spec, band_source *bands)
{
    static const uint16_t alpha[] = {TZ_EXTRA_SAMPLE_ALPHA};
    const uint16_t photometric = resolved_photometric(spec);
    const uint16_t *extra = spec->extra_samples;
    uint32_t count = extra ? spec->extra_sample_count : 0;
    if (!extra && photometric == TZ_PHOTOMETRIC_RGB && spec->bands == 4) {
        extra = alpha;
        count = 1;
    }
    const uint32_t first_extra = spec->bands > count ? spec->bands - count : 0;
    for (uint32_t i = 0; i < spec->bands; i++) {
        bands[i].color = tz_band_color(photometric, spec->bands, extra, count, i);
        if (bands[i].color == TZ_COLOR_ALPHA)
            bands[i].extra_sample = extra[i - first_extra];
    }
}

/* Lists the items of each band in their order: they are put in front from the last to the first.
 */
static tz_result list_band_items(tz_spec_edit *edit, item_lists *out)
{
    const uint32_t count = edit->next.metadata_count;
    tz_metadata_item *items;
    TZ_TRY(tz_spec_edit_alloc(edit, edit->next.bands, sizeof *out->bands, &out->bands));
    TZ_TRY(tz_spec_edit_alloc(edit, (uint64_t)count + 1, sizeof *out->after, &out->after));
    TZ_TRY(tz_spec_edit_copy_items(edit, &items));
    out->items = items;
    describe_source_bands(&edit->next, out->bands);
    for (uint32_t i = count; i > 0; i--) {
        const tz_metadata_item *item = &items[i - 1];
        if (item->band < 0 || (uint32_t)item->band >= edit->next.bands)
            continue;
        band_source *band = &out->bands[item->band];
        out->after[i] = band->first_item;
        band->first_item = i;
        if (tz_item_has_role(item, "colorinterp") && item->value) {
            band->has_item = true;
            band->is_other = !tz_color_from_name(&band->color, item->value);
        }
    }
    return TZ_OK;
}

/* True if the first three bands are red, green and blue, of a type for which GDAL writes RGB. */
static bool is_rgb_selection(const tz_image_spec *spec, const item_lists *lists,
                             const uint32_t *bands, uint32_t count)
{
    static const tz_color colors[] = {TZ_COLOR_RED, TZ_COLOR_GREEN, TZ_COLOR_BLUE};
    if (count < 3 || (spec->dtype != TZ_DTYPE_UINT8 && spec->dtype != TZ_DTYPE_UINT16))
        return false;
    for (size_t i = 0; i < 3; i++) {
        if (lists->bands[bands[i]].is_other || lists->bands[bands[i]].color != colors[i])
            return false;
    }
    return true;
}

/* Sets interpretation and extra samples. An ICC profile is for the interpretation it came with. */
static tz_result select_colors(tz_spec_edit *edit, const item_lists *lists, const uint32_t *bands,
                               uint32_t count)
{
    static const uint16_t profile[] = {34675};
    tz_image_spec *next = &edit->next;
    const uint16_t before = resolved_photometric(next);
    const band_source *last = &lists->bands[bands[count - 1]];
    uint16_t *extra = NULL;
    if (is_rgb_selection(next, lists, bands, count))
        next->photometric = TZ_PHOTOMETRIC_RGB;
    else if (before == TZ_PHOTOMETRIC_PALETTE && count == 1 && bands[0] == 0)
        next->photometric = TZ_PHOTOMETRIC_PALETTE;
    else if (before == TZ_PHOTOMETRIC_NUMBER_MIN_IS_WHITE && bands[0] == 0)
        next->photometric = TZ_PHOTOMETRIC_MIN_IS_WHITE;
    else
        next->photometric = TZ_PHOTOMETRIC_MIN_IS_BLACK;
    if (next->photometric != TZ_PHOTOMETRIC_PALETTE) {
        next->color_map = NULL;
        next->color_map_size = 0;
    }
    const uint16_t number = (uint16_t)tz_photometric_number(next->photometric);
    const uint32_t extra_count = count - tz_photometric_channels(number);
    if (extra_count > 0) {
        TZ_TRY(tz_spec_edit_alloc(edit, extra_count, sizeof *extra, &extra));
        if (!last->is_other && last->color == TZ_COLOR_ALPHA)
            extra[extra_count - 1] =
                last->extra_sample != 0 ? last->extra_sample : TZ_EXTRA_SAMPLE_ALPHA;
    }
    next->extra_samples = extra;
    next->extra_sample_count = extra_count;
    return number == before ? TZ_OK : tz_spec_edit_drop_tags(edit, profile, 1);
}

/* Returns the number of items of the new bands at most: one more for the colour of each. */
static uint64_t count_selected_items(const item_lists *lists, uint32_t item_count,
                                     const uint32_t *bands, uint32_t count)
{
    uint64_t total = count;
    for (uint32_t i = 0; i < item_count; i++)
        total += lists->items[i].band < 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t at = lists->bands[bands[i]].first_item; at != 0; at = lists->after[at])
            total++;
    return total;
}

/* True if all bands have colours of their places alone, grey for the first and none for others:
 * these do not follow them to other places. */
static bool have_colors_of_places(const item_lists *lists, const uint32_t *bands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const band_source *band = &lists->bands[bands[i]];
        if (band->has_item || (band->color != TZ_COLOR_GRAY && band->color != TZ_COLOR_UNDEFINED))
            return false;
    }
    return true;
}

/* Copies the items of the image, and those of each band. Items of colours are written only where
 * interpretation and extra samples do not say the same. */
static tz_result select_items(tz_spec_edit *edit, const item_lists *lists, const uint32_t *bands,
                              uint32_t count)
{
    tz_image_spec *next = &edit->next;
    const uint16_t number = (uint16_t)tz_photometric_number(next->photometric);
    const uint64_t most = count_selected_items(lists, next->metadata_count, bands, count);
    const bool by_place = have_colors_of_places(lists, bands, count);
    tz_metadata_item *items = NULL;
    uint32_t kept = 0;
    if (most > UINT32_MAX)
        return TZ_FAIL_ARG(&edit->ctx, "the bands have too many items of metadata");
    TZ_TRY(tz_spec_edit_alloc(edit, most, sizeof *items, &items));
    for (uint32_t i = 0; i < next->metadata_count; i++) {
        if (lists->items[i].band < 0)
            items[kept++] = lists->items[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        const band_source *band = &lists->bands[bands[i]];
        const tz_color color =
            tz_band_color(number, count, next->extra_samples, next->extra_sample_count, i);
        const bool is_redundant = !band->is_other && band->color == color;
        bool is_said = is_redundant || by_place;
        for (uint32_t at = band->first_item; at != 0; at = lists->after[at]) {
            const bool is_color = tz_item_has_role(&lists->items[at - 1], "colorinterp");
            if (is_color && is_redundant)
                continue;
            is_said = is_said || is_color;
            items[kept] = lists->items[at - 1];
            items[kept++].band = (int32_t)i;
        }
        if (!is_said)
            items[kept++] = (tz_metadata_item){.struct_size = sizeof *items,
                                               .domain = "",
                                               .name = "COLORINTERP",
                                               .value = tz_color_name(band->color),
                                               .role = "colorinterp",
                                               .band = (int32_t)i};
    }
    next->metadata = items;
    next->metadata_count = kept;
    return TZ_OK;
}

static tz_result change_bands(tz_spec_edit *edit, const uint32_t *bands, uint32_t count)
{
    item_lists lists = {0};
    bool is_changed = count != edit->next.bands;
    if (count == 0 || count > UINT16_MAX || !bands)
        return TZ_FAIL_ARG(&edit->ctx, "an image of %u bands; there may be 1 to 65535",
                           bands ? count : 0);
    for (uint32_t i = 0; i < count; i++) {
        if (bands[i] >= edit->next.bands)
            return TZ_FAIL_ARG(&edit->ctx, "bands[%u] is %u, and the image has %u", i, bands[i],
                               edit->next.bands);
        is_changed = is_changed || bands[i] != i;
    }
    if (!is_changed)
        return TZ_OK;
    TZ_TRY(list_band_items(edit, &lists));
    TZ_TRY(select_colors(edit, &lists, bands, count));
    TZ_TRY(select_items(edit, &lists, bands, count));
    edit->next.bands = count;
    return tz_spec_edit_drop_sample_tags(edit);
}

tz_result tz_image_spec_select_bands(tz_image_spec *spec, const uint32_t *bands, uint32_t count,
                                     tz_error *err)
{
    tz_spec_edit edit = tz_spec_edit_begin(spec, err);
    return tz_spec_edit_end(&edit, change_bands(&edit, bands, count));
}
