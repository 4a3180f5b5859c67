/* SPDX-License-Identifier: Apache-2.0
 * The page of info for people: facts that are said once about a file. Lists are in info_tables.c.
 *
 * Sections are image, georeferencing and file, and a line is left out where the file has nothing to
 * say. Coordinates are rounded only as far as --bbox still finds the same pixels by them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "page.h"
#include "tag_values.h"
#include "terminal.h"
#include "text.h"

#define VALUE_COLUMNS 62

/* Title ---------------------------------------------------------------------------------------- */

static bool is_georeferenced(const tz_geo *geo)
{
    return geo->has_transform || geo->gcp_count > 0 || geo->rpc != NULL || geo->has_crs;
}

static void print_title(const info_file *f)
{
    const tz_info *info = f->info;
    char size[TEXT_NUMBER];
    term_begin(TERM_TITLE);
    text_put_string(stdout, f->path, 0);
    term_end();
    printf("\n  ");
    if (info_is_cog(f))
        term_put(TERM_GOOD, "Cloud Optimized ");
    printf("%s, %s", is_georeferenced(info->geo) ? "GeoTIFF" : "TIFF",
           text_bytes(size, info->file_size));
    if (info->page_count > 1)
        printf(", %" PRIu32 " pages, this is page %" PRIu32, info->page_count, info->page);
    putchar('\n');
}

/* Image ---------------------------------------------------------------------------------------- */

static void print_size(const tz_info *info)
{
    char number[TEXT_NUMBER];
    page_label("Size");
    printf("%" PRIu32 " x %" PRIu32 " pixels, %s band%s of %s", info->width, info->height,
           text_count(number, info->bands), text_plural(info->bands), tz_dtype_name(info->dtype));
    if (info->dtype == TZ_DTYPE_NONE || info->bits_per_sample != 8 * tz_dtype_size(info->dtype))
        printf(" (%u bit%s stored)", (unsigned)info->bits_per_sample,
               text_plural(info->bits_per_sample));
    putchar('\n');
}

/* Prints the bands after those of the colour model: "+ alpha + 2 others". */
static void print_extra(const tz_info *info)
{
    bool premultiplied = false;
    bool alpha = false;
    for (uint32_t i = 0; i < info->extra_sample_count; i++) {
        premultiplied = premultiplied || info->extra_samples[i] == TZ_EXTRA_SAMPLE_PREMULTIPLIED;
        alpha = alpha || info->extra_samples[i] == TZ_EXTRA_SAMPLE_ALPHA;
    }
    if (premultiplied)
        fputs(" + premultiplied alpha", stdout);
    if (alpha)
        fputs(" + alpha", stdout);
    uint32_t others = info->extra_sample_count - premultiplied - alpha;
    if (others > 0)
        printf(" + %" PRIu32 " other%s", others, text_plural(others));
}

static void print_colour(const tz_info *info)
{
    const char *name = tz_photometric_name(info->photometric);
    page_label("Colour");
    if (name != NULL)
        fputs(name, stdout);
    else
        printf("photometric %u", (unsigned)info->photometric);
    print_extra(info);
    if (info->photometric == TZ_PHOTOMETRIC_YCBCR)
        printf(", chroma 1 in %u x %u", (unsigned)info->ycbcr_subsampling[0],
               (unsigned)info->ycbcr_subsampling[1]);
    if (info->color_map != NULL)
        printf(", %" PRIu32 " colours", info->color_map_size);
    putchar('\n');
}

static void print_orientation(const tz_info *info)
{
    static const char *const words[] = {
        "row 0 top, column 0 right",   "row 0 bottom, column 0 right",
        "row 0 bottom, column 0 left", "row 0 left, column 0 top",
        "row 0 right, column 0 top",   "row 0 right, column 0 bottom",
        "row 0 left, column 0 bottom"};
    if (info->orientation < 2 || info->orientation > 8)
        return;
    page_label("Orientation");
    printf("%u: %s\n", (unsigned)info->orientation, words[info->orientation - 2]);
}

static void print_layout(const info_file *f)
{
    const tz_level *level = tz_file_get_level(f->file, 0);
    char number[TEXT_NUMBER];
    page_label("Layout");
    if (level->tiled)
        printf("%s tile%s of %" PRIu32 " x %" PRIu32, text_count(number, level->tile_count),
               text_plural(level->tile_count), level->tile_width, level->tile_height);
    else
        printf("%s strip%s of %" PRIu32 " row%s", text_count(number, level->tile_count),
               text_plural(level->tile_count), level->tile_height, text_plural(level->tile_height));
    if (f->info->bands > 1)
        fputs(info_by_band(f, 0, false) ? ", stored by band" : ", stored by pixel", stdout);
    if (f->info->level_count > 1)
        printf(", %" PRIu32 " overview%s", f->info->level_count - 1,
               text_plural(f->info->level_count - 1));
    if (!level->readable)
        term_put(TERM_BAD, ", not readable");
    putchar('\n');
}

static void print_compression(const tz_level *level)
{
    static const char *const names[] = {"", "", " (horizontal)", " (floating point)"};
    char codec[TEXT_NUMBER];
    page_label("Compression");
    fputs(level->compression == TZ_COMPRESSION_NONE ? "none" : info_codec(level, codec), stdout);
    if (level->predictor != 1)
        printf(", predictor %u%s", (unsigned)level->predictor,
               level->predictor < 4 ? names[level->predictor] : "");
    putchar('\n');
}

static void print_stored(info_file *f)
{
    const tz_level *level = tz_file_get_level(f->file, 0);
    char a[TEXT_NUMBER];
    char b[TEXT_NUMBER];
    uint64_t bytes;
    uint64_t sparse;
    if (!info_stored_size(f, 0, false, &bytes, &sparse))
        return;
    page_label("Stored");
    fputs(text_bytes(a, bytes), stdout);
    double raw = info_raw_size(level);
    if (level->compression != TZ_COMPRESSION_NONE && bytes > 0 && raw < 1e18)
        printf(" of %s, %s : 1", text_bytes(a, (uint64_t)raw), text_ratio(b, raw, bytes));
    if (sparse > 0)
        printf("; %s of %s tiles sparse", text_count(a, sparse), text_count(b, level->tile_count));
    putchar('\n');
}

static void print_nodata(const info_file *f)
{
    const tz_nodata *nodata = &f->info->nodata;
    char number[TEXT_NUMBER];
    if (nodata->kind == TZ_NODATA_KIND_NONE && f->info->nodata_text == NULL)
        return;
    page_label("Nodata");
    if (nodata->kind == TZ_NODATA_KIND_NONE) {
        fputs("none; not understood: ", stdout);
        text_put_string(stdout, f->info->nodata_text, VALUE_COLUMNS - 22);
        putchar('\n');
        return;
    }
    if (nodata->kind == TZ_NODATA_KIND_INT)
        printf("%" PRId64 "\n", nodata->value.i);
    else if (nodata->kind == TZ_NODATA_KIND_UINT)
        printf("%" PRIu64 "\n", nodata->value.u);
    else
        printf("%s\n", text_double(number, nodata->value.f));
}

static void print_mask(const info_file *f)
{
    const tz_info *info = f->info;
    const tz_level *mask = tz_file_get_mask(f->file, 0);
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->level_count; i++)
        count += tz_file_get_mask(f->file, i) != NULL;
    if (count == 0)
        return;
    page_label("Mask");
    if (mask != NULL)
        printf("%u bit%s, ", (unsigned)mask->bits_per_sample, text_plural(mask->bits_per_sample));
    printf("for %" PRIu32 " of %" PRIu32 " level%s\n", count, info->level_count,
           text_plural(info->level_count));
}

static void print_image_section(info_file *f)
{
    page_heading("Image");
    print_size(f->info);
    print_colour(f->info);
    print_orientation(f->info);
    print_layout(f);
    print_compression(tz_file_get_level(f->file, 0));
    print_stored(f);
    print_nodata(f);
    print_mask(f);
}

/* Georeferencing ------------------------------------------------------------------------------- */

static void print_file_crs(const info_file *f)
{
    const tz_geo *geo = f->info->geo;
    int epsg = f->crs != NULL ? tz_crs_get_epsg(f->crs) : geo->epsg != 32767 ? geo->epsg : 0;
    const char *name = f->crs != NULL ? tz_crs_get_name(f->crs) : geo->citation;
    page_label("CRS");
    if (name != NULL)
        text_put_string(stdout, name, f->settings->common.verbose ? 0 : VALUE_COLUMNS - 14);
    if (epsg != 0)
        printf(name != NULL ? " (EPSG:%d)" : "EPSG:%d", epsg);
    if (name == NULL && epsg == 0)
        fputs(geo->has_crs ? "defined by its keys, without a name" : "none", stdout);
    putchar('\n');
    if (geo->epsg_vertical != 0 && geo->epsg_vertical != 32767) {
        page_label("Vertical CRS");
        printf("EPSG:%u\n", (unsigned)geo->epsg_vertical);
    }
    if (!isnan(geo->coordinate_epoch)) {
        char number[TEXT_NUMBER];
        page_line("Epoch", text_double(number, geo->coordinate_epoch));
    }
}

static const char *rotation_words(const double *t)
{
    if (t[2] != 0 || t[4] != 0)
        return ", rotated or sheared";
    if (t[1] < 0)
        return t[5] > 0 ? ", turned by 180 degrees" : ", east is left";
    return t[5] > 0 ? ", south is up" : "";
}

static void print_transform(const info_file *f)
{
    const double *t = f->info->geo->transform;
    char a[TEXT_NUMBER];
    char b[TEXT_NUMBER];
    page_label("Pixel size");
    printf("%s x %s%s%s%s\n", text_double(a, hypot(t[1], t[4])), text_double(b, hypot(t[2], t[5])),
           f->axes.unit[0] != '\0' ? " " : "", f->axes.unit, rotation_words(t));
    page_label("Origin");
    printf("%s, %s (upper left corner)\n", text_double(a, t[0]), text_double(b, t[3]));
    if (t[2] != 0 || t[4] != 0) {
        page_label("Transform");
        for (int i = 0; i < 6; i++) {
            fputs(i == 0 ? "" : i == 3 ? ",\n" : ", ", stdout);
            if (i == 3)
                page_label("");
            fputs(text_double(a, t[i]), stdout);
        }
        putchar('\n');
    }
}

/* Rounds, unless the error exceeds a thousandth of a pixel: printed bounds must work as --bbox. */
static const char *format_coordinate(char *buffer, double value, double pixel)
{
    text_rounded(buffer, value, 9);
    return fabs(strtod(buffer, NULL) - value) <= pixel / 2000 ? buffer : text_double(buffer, value);
}

/* Prints the least and greatest coordinates of the four corners. */
static void print_bounds(const double *t, const info_corner corners[INFO_CORNERS])
{
    const double pixel[2] = {hypot(t[1], t[4]), hypot(t[2], t[5])};
    double low[2] = {corners[0].x, corners[0].y};
    double high[2] = {corners[0].x, corners[0].y};
    for (int i = 1; i < 4; i++) {
        low[0] = fmin(low[0], corners[i].x);
        low[1] = fmin(low[1], corners[i].y);
        high[0] = fmax(high[0], corners[i].x);
        high[1] = fmax(high[1], corners[i].y);
    }
    for (int i = 0; i < 2; i++) {
        char a[TEXT_NUMBER];
        char b[TEXT_NUMBER];
        page_label(i == 0 ? "Bounds" : "");
        printf("%c  %s to %s\n", "xy"[i], format_coordinate(a, low[i], pixel[i]),
               format_coordinate(b, high[i], pixel[i]));
    }
}

static void print_points(const info_file *f)
{
    const tz_geo *geo = f->info->geo;
    char number[TEXT_NUMBER];
    char other[TEXT_NUMBER];
    if (geo->gcp_count > 0) {
        page_label("GCPs");
        printf("%s ground control point%s\n", text_count(number, geo->gcp_count),
               text_plural(geo->gcp_count));
    }
    if (geo->rpc != NULL) {
        page_label("RPC");
        printf("rational polynomials around %s, %s (longitude, latitude)\n",
               text_double(number, geo->rpc[5]), text_double(other, geo->rpc[4]));
    }
}

static void print_wkt(const char *wkt)
{
    page_heading("WKT");
    while (*wkt != '\0') {
        size_t size = strcspn(wkt, "\n");
        fputs("  ", stdout);
        text_put(stdout, wkt, size, 0);
        putchar('\n');
        wkt += size + (wkt[size] == '\n');
    }
}

static void print_georeference(info_file *f)
{
    const tz_geo *geo = f->info->geo;
    page_heading("Georeferencing");
    if (!is_georeferenced(geo)) {
        printf("  none\n");
        return;
    }
    print_file_crs(f);
    if (geo->has_transform)
        print_transform(f);
    if (geo->raster_type == TZ_RASTER_TYPE_POINT)
        page_line("Pixel is", "a point; coordinates here are of its cell's corners");
    print_points(f);
    info_print_gcps(f);
    if (geo->has_transform) {
        info_corner corners[INFO_CORNERS];
        info_corners(f, corners);
        print_bounds(geo->transform, corners);
        info_print_corners(f, corners);
    }
    if (f->settings->common.verbose && f->crs != NULL)
        print_wkt(tz_crs_get_wkt(f->crs));
}

/* File ----------------------------------------------------------------------------------------- */

static void print_offset(const char *name, uint64_t offset)
{
    char number[TEXT_NUMBER];
    if (offset == TZ_NO_VALUE)
        return;
    page_label(name);
    printf("at byte %s\n", text_count(number, offset));
}

static void print_embedded(const info_file *f)
{
    for (size_t i = 0; i < INFO_EMBEDDED; i++) {
        tz_tag tag = TZ_TAG_INIT;
        char number[TEXT_NUMBER];
        if (tag_find(f->file, tz_file_get_level(f->file, 0), info_embedded_kinds[i].tag, &tag))
            page_line(info_embedded_kinds[i].name, text_bytes(number, tag.size));
    }
    print_offset("EXIF", f->info->exif_ifd);
    print_offset("EXIF GPS", f->info->gps_ifd);
}

static void print_directories(const tz_info *info)
{
    char number[TEXT_NUMBER];
    page_label("Format");
    printf("%s, %s-endian, %s byte%s\n", info->bigtiff ? "BigTIFF" : "classic TIFF",
           info->big_endian ? "big" : "little", text_count(number, info->file_size),
           text_plural(info->file_size));
    page_label("Directories");
    printf("%s, ", text_count(number, info->ifd_count));
    printf("in the first %s bytes%s\n", text_count(number, info->directory_end),
           info->chain_complete ? "" : "; more are out of reach");
    page_label("Opening read");
    printf("%s bytes in %" PRIu32 " request%s\n", text_count(number, info->bytes_read), info->reads,
           text_plural(info->reads));
}

static void print_ghost(const tz_ghost *ghost)
{
    if (!ghost->present)
        return;
    page_label("Ghost area");
    printf("%" PRIu32 " bytes%s%s\n", ghost->size, ghost->ifds_before_data ? ", IFDs first" : "",
           ghost->row_major ? ", tiles in row order" : "");
    if (!ghost->leaders && !ghost->trailers && !ghost->mask_interleaved && !ghost->edited)
        return;
    page_label("");
    bool first = true;
    const char *const words[] = {ghost->leaders ? "size before each tile" : "",
                                 ghost->trailers ? "trailer after each tile" : "",
                                 ghost->mask_interleaved ? "mask beside image" : "",
                                 ghost->edited ? "edited since" : ""};
    for (size_t i = 0; i < 4; i++) {
        if (words[i][0] != '\0') {
            printf("%s%s", first ? "" : ", ", words[i]);
            first = false;
        }
    }
    putchar('\n');
}

static void print_cog(const info_file *f)
{
    page_label("COG");
    if (!f->cog_known) {
        printf("unknown\n");
        return;
    }
    term_put(info_is_cog(f) ? TERM_GOOD : TERM_BAD, info_is_cog(f) ? "yes" : "no");
    putchar('\n');
    for (uint32_t bit = 1; bit != 0 && bit <= f->cog_problems; bit <<= 1) {
        if (!(f->cog_problems & bit))
            continue;
        page_label("");
        printf("%s%s\n", bit & TZ_COG_PROBLEM_REMARKS ? "note: " : "- ", tz_cog_problem_text(bit));
    }
}

static void print_file(const info_file *f)
{
    page_heading("File");
    print_directories(f->info);
    print_ghost(f->info->ghost);
    print_cog(f);
    print_embedded(f);
}

void info_print_page(info_file *f)
{
    print_title(f);
    print_image_section(f);
    print_georeference(f);
    info_print_lists(f);
    print_file(f);
    info_print_details(f);
}
