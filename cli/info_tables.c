/* SPDX-License-Identifier: Apache-2.0
 * The page of info for people: its lists of levels, pages, bands, colours, metadata, tags and
 * tiles.
 *
 * A list shows its first rows, and a line counts the others; --verbose shows all. Bands that are
 * alike are one row. A table walks over its rows twice, to measure and to print (table.h), so that
 * no list is kept in memory. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "color_table.h"
#include "info.h"
#include "page.h"
#include "table.h"
#include "tag_values.h"
#include "terminal.h"
#include "text.h"

#define PAGE_COLUMNS  80
#define ROWS_SHOWN    12
#define PAGES_SHOWN   12
#define GCPS_SHOWN    6
#define COLORS_SHOWN  8
#define SIDECAR_OF(l) ((l)->sidecar == TZ_SIDECAR_OVR ? "ovr " : (l)->sidecar ? "msk " : "")

static size_t page_width(const info_file *f)
{
    return f->settings->common.verbose ? 0 : PAGE_COLUMNS;
}

static void note_more(uint64_t count, const char *what)
{
    char number[TEXT_NUMBER];
    if (count > 0)
        printf("  ... and %s more %s: -v shows all\n", text_count(number, count), what);
}

/* Corners -------------------------------------------------------------------------------------- */

/* Returns false for coordinates that are longitude and latitude already. */
static bool says_more(const info_corner *corner)
{
    return corner->has_lonlat &&
           (fabs(corner->x - corner->lon) > 1e-7 || fabs(corner->y - corner->lat) > 1e-7);
}

void info_print_corners(const info_file *f, const info_corner corners[INFO_CORNERS])
{
    static const table_column columns[] = {
        {"corner", false, 0},   {"x", true, 0},        {"y", true, 0},
        {"longitude", true, 0}, {"latitude", true, 0},
    };
    static const table_column in_degrees[] = {
        {"corner", false, 0}, {"longitude", true, 0}, {"latitude", true, 0},
        {"", true, 0},        {"", true, 0},
    };
    table t;
    bool lonlat = false;
    for (int i = 0; i < INFO_CORNERS; i++)
        lonlat = lonlat || says_more(&corners[i]) || !corners[i].has_lonlat;
    putchar('\n');
    for (table_start(&t, lonlat ? columns : in_degrees, 5, page_width(f)); table_pass(&t);) {
        for (int i = 0; i < INFO_CORNERS; i++) {
            char numbers[4][TEXT_NUMBER] = {"", "", "", ""};
            text_rounded(numbers[0], corners[i].x, 9);
            text_rounded(numbers[1], corners[i].y, 9);
            if (lonlat && corners[i].has_lonlat) {
                snprintf(numbers[2], TEXT_NUMBER, "%.7f", corners[i].lon);
                snprintf(numbers[3], TEXT_NUMBER, "%.7f", corners[i].lat);
            }
            const char *const cells[] = {corners[i].name, numbers[0], numbers[1], numbers[2],
                                         numbers[3]};
            table_row(&t, cells);
        }
    }
}

static void gcp_row(table *t, const tz_gcp *gcp)
{
    char numbers[5][TEXT_NUMBER];
    const char *const cells[] = {
        text_rounded(numbers[0], gcp->column, 6), text_rounded(numbers[1], gcp->row, 6),
        text_rounded(numbers[2], gcp->x, 9), text_rounded(numbers[3], gcp->y, 9),
        text_rounded(numbers[4], gcp->z, 6)};
    table_row(t, cells);
}

void info_print_gcps(const info_file *f)
{
    static const table_column columns[] = {
        {"column", true, 0}, {"row", true, 0}, {"x", true, 0}, {"y", true, 0}, {"z", true, 0}};
    const tz_geo *geo = f->info->geo;
    if (geo->gcp_count == 0)
        return;
    uint32_t shown = geo->gcp_count;
    if (!f->settings->common.verbose && shown > GCPS_SHOWN)
        shown = GCPS_SHOWN;
    table t;
    putchar('\n');
    for (table_start(&t, columns, 5, page_width(f)); table_pass(&t);) {
        for (uint32_t i = 0; i < shown; i++)
            gcp_row(&t, &geo->gcps[i]);
    }
    note_more(geo->gcp_count - shown, "points");
}

/* Levels --------------------------------------------------------------------------------------- */

static void level_row(info_file *f, table *t, uint32_t level, bool mask)
{
    const tz_level *l = info_level(f, level, mask);
    if (l == NULL)
        return;
    char texts[8][TEXT_NUMBER];
    uint64_t bytes;
    uint64_t sparse;
    bool known = info_stored_size(f, level, mask, &bytes, &sparse);
    snprintf(texts[0], TEXT_NUMBER, "%" PRIu32 "%s", level, mask ? " mask" : "");
    text_pair(texts[1], l->width, l->height);
    text_pair(texts[2], l->tile_width, l->tile_height);
    text_count(texts[3], l->tile_count);
    const char *codec = l->compression == TZ_COMPRESSION_NONE ? "none" : info_codec(l, texts[4]);
    strcpy(texts[5], "-");
    strcpy(texts[6], "-");
    if (known) {
        text_bytes(texts[5], bytes);
        text_ratio(texts[6], info_raw_size(l), bytes);
    }
    snprintf(texts[7], TEXT_NUMBER, "%s%" PRId32 " at %" PRIu64, SIDECAR_OF(l), l->ifd,
             l->ifd_offset);
    const char *const cells[] = {texts[0], texts[1], texts[2], texts[3],
                                 codec,    texts[5], texts[6], texts[7]};
    table_row(t, cells);
}

static void print_levels(info_file *f)
{
    static const table_column columns[] = {
        {"level", false, 0}, {"size", true, 0},   {"block", true, 0}, {"blocks", true, 0},
        {"codec", false, 0}, {"stored", true, 0}, {"ratio", true, 0}, {"directory", false, 0}};
    if (f->info->level_count == 1 && tz_file_get_mask(f->file, 0) == NULL)
        return;
    page_heading("Levels");
    table t;
    for (table_start(&t, columns, 8, 0); table_pass(&t);) {
        for (uint32_t i = 0; i < f->info->level_count; i++) {
            level_row(f, &t, i, false);
            level_row(f, &t, i, true);
        }
    }
}

/* Pages ---------------------------------------------------------------------------------------- */

static void page_row(table *t, const tz_page *page, uint32_t index, bool shown)
{
    char texts[5][TEXT_NUMBER];
    snprintf(texts[0], TEXT_NUMBER, "%" PRIu32 "%s", index, shown ? " (this)" : "");
    text_pair(texts[1], page->width, page->height);
    snprintf(texts[2], TEXT_NUMBER, "%u", (unsigned)page->bands);
    snprintf(texts[3], TEXT_NUMBER, "%u", (unsigned)page->bits_per_sample);
    snprintf(texts[4], TEXT_NUMBER, "%" PRId32 " at %" PRIu64, page->ifd, page->ifd_offset);
    const char *const cells[] = {texts[0], texts[1], texts[2], texts[3], texts[4]};
    table_row(t, cells);
}

static void print_pages(const info_file *f)
{
    static const table_column columns[] = {{"page", false, 0},
                                           {"size", true, 0},
                                           {"bands", true, 0},
                                           {"bits", true, 0},
                                           {"directory", false, 0}};
    const tz_info *info = f->info;
    if (info->page_count <= 1)
        return;
    uint32_t shown = info->page_count;
    if (!f->settings->common.verbose && shown > PAGES_SHOWN)
        shown = PAGES_SHOWN;
    page_heading("Pages");
    table t;
    for (table_start(&t, columns, 5, 0); table_pass(&t);) {
        for (uint32_t i = 0; i < shown; i++)
            page_row(&t, tz_file_get_page(f->file, i), i, i == info->page);
    }
    note_more(info->page_count - shown, "pages");
}

/* Bands ---------------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_band(const tz_band *a, const tz_band *b)
{
    return a->color == b->color && same_text(a->description, b->description) &&
           same_text(a->unit, b->unit) && same_text(a->color_text, b->color_text) &&
           a->has_scale == b->has_scale && a->has_offset == b->has_offset &&
           !(a->scale < b->scale || a->scale > b->scale) &&
           !(a->offset < b->offset || a->offset > b->offset);
}

/* Returns the band that describes those from first, which exists, to *last: they are alike. */
static const tz_band *band_group(const info_file *f, uint32_t first, uint32_t *last)
{
    const tz_band *band = tz_file_get_band(f->file, first);
    const tz_band *next;
    *last = first;
    while ((next = tz_file_get_band(f->file, *last + 1)) != NULL && same_band(band, next))
        ++*last;
    return band;
}

static void band_row(table *t, uint32_t first, uint32_t last, const tz_band *band)
{
    char texts[3][TEXT_NUMBER] = {"", "", ""};
    if (first == last)
        snprintf(texts[0], TEXT_NUMBER, "%" PRIu32, first + 1);
    else
        snprintf(texts[0], TEXT_NUMBER, "%" PRIu32 "-%" PRIu32, first + 1, last + 1);
    if (band->has_scale)
        text_double(texts[1], band->scale);
    if (band->has_offset)
        text_double(texts[2], band->offset);
    const char *const cells[] = {texts[0],
                                 band->color_text != NULL ? band->color_text
                                                          : tz_color_name(band->color),
                                 band->unit != NULL ? band->unit : "",
                                 texts[1],
                                 texts[2],
                                 band->description != NULL ? band->description : ""};
    table_row(t, cells);
}

static bool has_words(const tz_band *band)
{
    return band->description != NULL || band->unit != NULL || band->has_scale || band->has_offset ||
           band->color_text != NULL;
}

/* If no band has a text or a scale of its own, the line "Colour" says enough. */
static bool any_words(const info_file *f)
{
    uint32_t last;
    for (uint32_t first = 0; first < f->info->bands; first = last + 1)
        if (has_words(band_group(f, first, &last)))
            return true;
    return false;
}

static void print_band_table(const info_file *f)
{
    static const table_column columns[] = {{"band", false, 0},  {"colour", false, 16},
                                           {"unit", false, 24}, {"scale", true, 0},
                                           {"offset", true, 0}, {"description", false, 0}};
    if (!any_words(f))
        return;
    page_heading("Bands");
    table t;
    uint32_t end = 0;
    for (table_start(&t, columns, 6, page_width(f)); table_pass(&t);) {
        uint32_t rows = 0;
        for (uint32_t first = 0; first < f->info->bands; first = end) {
            uint32_t last;
            if (rows++ == ROWS_SHOWN && !f->settings->common.verbose)
                break;
            const tz_band *band = band_group(f, first, &last);
            band_row(&t, first, last, band);
            end = last + 1;
        }
    }
    note_more(f->info->bands - end, "bands");
}

/* Colours -------------------------------------------------------------------------------------- */

static void color_row(table *t, uint32_t value, const unsigned char *rgb)
{
    char texts[4][TEXT_NUMBER];
    snprintf(texts[0], TEXT_NUMBER, "%" PRIu32, value);
    for (int i = 0; i < 3; i++)
        snprintf(texts[i + 1], TEXT_NUMBER, "%u", (unsigned)rgb[i]);
    const char *const cells[] = {texts[0], texts[1], texts[2], texts[3]};
    table_row(t, cells);
}

/* All colours, or a few that are not black: maps of classes leave most entries at 0. */
static void print_colors(const info_file *f)
{
    static const table_column columns[] = {
        {"value", true, 0}, {"red", true, 0}, {"green", true, 0}, {"blue", true, 0}};
    const color_table colors = color_table_of(f->info);
    bool all = f->settings->common.verbose || colors.size <= COLORS_SHOWN;
    uint32_t rows = 0;
    if (colors.size == 0)
        return;
    page_heading("Colours");
    table t;
    for (table_start(&t, columns, 4, 0); table_pass(&t);) {
        rows = 0;
        for (uint32_t i = 0; i < colors.size && (all || rows < COLORS_SHOWN); i++) {
            unsigned char rgb[3];
            color_table_get(&colors, i, rgb);
            if (!all && rgb[0] == 0 && rgb[1] == 0 && rgb[2] == 0)
                continue;
            color_row(&t, i, rgb);
            rows++;
        }
    }
    note_more(colors.size - rows, "colours");
}

/* Metadata ------------------------------------------------------------------------------------- */

static const uint16_t text_tags[] = {269, 270, 271, 272, 285, 305, 306, 315, 316, 33432};

static uint32_t tag_rows(const info_file *f, table *t)
{
    uint32_t rows = 0;
    for (size_t i = 0; i < sizeof text_tags / sizeof text_tags[0]; i++) {
        tz_tag tag = TZ_TAG_INIT;
        tz_error err;
        char text[400];
        if (!tag_find(f->file, tz_file_get_level(f->file, 0), text_tags[i], &tag) ||
            tag_read_text(f->file, &tag, text, sizeof text, &err) != TZ_OK)
            continue;
        const char *const cells[] = {tz_tag_name(text_tags[i]), text};
        table_row(t, cells);
        rows++;
    }
    return rows;
}

static void item_row(table *t, const tz_metadata_item *item)
{
    char name[120];
    char band[TEXT_NUMBER] = "";
    if (item->band >= 0)
        snprintf(band, sizeof band, "band %" PRId32 " ", item->band + 1);
    snprintf(name, sizeof name, "%s%s%s%s", band, item->domain, item->domain[0] != '\0' ? " " : "",
             item->name);
    const char *const cells[] = {name, item->value};
    table_row(t, cells);
}

static void print_metadata(const info_file *f)
{
    static const table_column columns[] = {{NULL, false, 36}, {NULL, false, 0}};
    table t;
    table_start(&t, columns, 2, page_width(f));
    table_pass(&t);
    uint32_t tags = tag_rows(f, &t);
    if (tags == 0 && f->metadata.count == 0)
        return;
    page_heading("Metadata");
    uint32_t at = 0;
    for (table_start(&t, columns, 2, page_width(f)); table_pass(&t);) {
        const tz_metadata_item *item;
        uint32_t rows = tag_rows(f, &t);
        at = 0;
        while ((rows++ < ROWS_SHOWN || f->settings->common.verbose) &&
               (item = meta_next(&f->metadata, &at)) != NULL)
            item_row(&t, item);
    }
    note_more(f->metadata.count - at, "items");
}

void info_print_lists(info_file *f)
{
    print_levels(f);
    print_pages(f);
    print_band_table(f);
    print_colors(f);
    print_metadata(f);
}

/* Tables of --tags and --tiles ---------------------------------------------------------------- */

static bool print_tag(void *user, info_file *f, const tz_tag *tag)
{
    tz_error err;
    const char *name = tz_tag_name(tag->tag);
    const char *type = tz_tag_type_name(tag->type);
    (void)user;
    printf("  %5u  %-25s  %-9s  %7" PRIu64 "  ", (unsigned)tag->tag, name != NULL ? name : "",
           type != NULL ? type : "?", tag->count);
    if (tag_print(stdout, f->file, tag, f->settings->common.verbose ? SIZE_MAX : 24, &err) !=
        TZ_OK) {
        fputs("?", stdout);
        info_problem(f, &err, false);
    }
    putchar('\n');
    return !term_is_broken();
}

static void print_directory_tags(info_file *f, const char *what, uint64_t ifd_offset)
{
    char title[80];
    snprintf(title, sizeof title, "Tags of %s, directory at byte %" PRIu64, what, ifd_offset);
    page_heading(title);
    info_each_tag(f, ifd_offset, print_tag, NULL);
}

static void print_level_tags(info_file *f, uint32_t level, bool mask)
{
    const tz_level *l = info_level(f, level, mask);
    char what[TEXT_NUMBER];
    if (l == NULL || l->sidecar != 0)
        return;
    snprintf(what, sizeof what, "%s %" PRIu32, mask ? "the mask of level" : "level", level);
    print_directory_tags(f, what, l->ifd_offset);
}

static void print_all_tags(info_file *f)
{
    for (uint32_t i = 0; i < f->info->level_count; i++) {
        print_level_tags(f, i, false);
        print_level_tags(f, i, true);
    }
    if (f->info->exif_ifd != TZ_NO_VALUE)
        print_directory_tags(f, "EXIF", f->info->exif_ifd);
    if (f->info->gps_ifd != TZ_NO_VALUE)
        print_directory_tags(f, "EXIF GPS", f->info->gps_ifd);
}

static bool print_tile(void *user, const info_tile *tile)
{
    info_file *f = user;
    char level[TEXT_NUMBER];
    char band[TEXT_NUMBER] = "-";
    snprintf(level, sizeof level, "%" PRIu32 "%s", tile->level, tile->mask ? " mask" : "");
    if (info_by_band(f, tile->level, tile->mask))
        snprintf(band, sizeof band, "%" PRIu32, tile->band + 1);
    printf("  %-7s%10" PRIu64 "%8" PRIu32 "%8" PRIu32 "%7s", level, tile->tile, tile->row,
           tile->column, band);
    if (tile->span.offset == 0 && tile->span.size == 0)
        printf("%16s%12s\n", "sparse", "0");
    else
        printf("%16" PRIu64 "%12" PRIu64 "\n", tile->span.offset, tile->span.size);
    return !term_is_broken();
}

void info_print_details(info_file *f)
{
    if (f->settings->tags)
        print_all_tags(f);
    if (!f->settings->tiles)
        return;
    page_heading("Tiles");
    term_begin(TERM_DIM);
    printf("  %-7s%10s%8s%8s%7s%16s%12s\n", "level", "tile", "row", "column", "band", "offset",
           "size");
    term_end();
    info_each_tile(f, print_tile, f);
}
