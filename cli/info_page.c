/* SPDX-License-Identifier: Apache-2.0
 * The page for people: what is said once about a file. Lists are in info_tables.c. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "info.h"
#include "tag_values.h"
#include "terminal.h"
#include "text.h"

#define LABEL_COLUMNS 14
#define VALUE_COLUMNS 62

static void heading(const char *text)
{
    putchar('\n');
    term_put(TERM_HEADING, text);
    putchar('\n');
}

static void label(const char *name)
{
    printf("  %-*s", LABEL_COLUMNS, name);
}

static void line(const char *name, const char *value)
{
    label(name);
    printf("%s\n", value);
}

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
    printf("%s, %s", is_georeferenced(&info->geo) ? "GeoTIFF" : "TIFF",
           text_bytes(size, info->file_size));
    if (info->page_count > 1)
        printf(", page %" PRIu32 " of 0 to %" PRIu32, info->page, info->page_count - 1);
    putchar('\n');
}

/* Image ---------------------------------------------------------------------------------------- */

static void print_size(const tz_info *info)
{
    char number[TEXT_NUMBER];
    label("Size");
    printf("%" PRIu32 " x %" PRIu32 " pixels, %s band%s of %s", info->width, info->height,
           text_count(number, info->bands), text_plural(info->bands), tz_dtype_name(info->dtype));
    if (info->dtype == TZ_DTYPE_NONE || info->bits_per_sample != 8 * tz_dtype_size(info->dtype))
        printf(" (%u bit%s stored)", (unsigned)info->bits_per_sample,
               text_plural(info->bits_per_sample));
    putchar('\n');
}

static void print_colour(const tz_info *info)
{
    static const char *const kinds[] = {"another", "premultiplied alpha", "alpha"};
    const char *name = tz_photometric_name(info->photometric);
    label("Colour");
    if (name != NULL)
        fputs(name, stdout);
    else
        printf("photometric %u", (unsigned)info->photometric);
    for (uint32_t i = 0; i < info->extra_sample_count && i < 3; i++)
        printf(", %s", kinds[info->extra_samples[i] < 3 ? info->extra_samples[i] : 0]);
    if (info->extra_sample_count > 3)
        printf(", and %" PRIu32 " more", info->extra_sample_count - 3);
    if (info->photometric == 6)
        printf(", chroma 1 in %u x %u", (unsigned)info->ycbcr_subsampling[0],
               (unsigned)info->ycbcr_subsampling[1]);
    if (info->color_map != NULL)
        printf(", %" PRIu32 " entries", info->color_map_size);
    putchar('\n');
}

static void print_orientation(const tz_info *info)
{
    static const char *const words[] = {"row 0 top, column 0 right",   "row 0 bottom, column 0 right",
                                        "row 0 bottom, column 0 left", "row 0 left, column 0 top",
                                        "row 0 right, column 0 top",   "row 0 right, column 0 bottom",
                                        "row 0 left, column 0 bottom"};
    if (info->orientation < 2 || info->orientation > 8)
        return;
    label("Orientation");
    printf("%u: %s\n", (unsigned)info->orientation, words[info->orientation - 2]);
}

static void print_layout(const info_file *f)
{
    const tz_level *level = &f->info->levels[0];
    char number[TEXT_NUMBER];
    label("Layout");
    if (level->tiled)
        printf("%s tile%s of %" PRIu32 " x %" PRIu32, text_count(number, level->tile_count),
               text_plural(level->tile_count), level->tile_width, level->tile_height);
    else
        printf("%s strip%s of %" PRIu32 " row%s", text_count(number, level->tile_count),
               text_plural(level->tile_count), level->tile_height, text_plural(level->tile_height));
    if (f->info->bands > 1)
        fputs(info_by_band(f, 0) ? ", stored by band" : ", stored by pixel", stdout);
    if (f->info->level_count > 1)
        printf(", %" PRIu32 " overview%s", f->info->level_count - 1,
               text_plural(f->info->level_count - 1));
    putchar('\n');
}

static void print_predictor(uint16_t predictor)
{
    if (predictor == 2)
        fputs(" with horizontal predictor (2)", stdout);
    else if (predictor == 3)
        fputs(" with floating point predictor (3)", stdout);
    else if (predictor != 1)
        printf(" with predictor %u", (unsigned)predictor);
}

static void print_compression(info_file *f)
{
    const tz_level *level = &f->info->levels[0];
    char codec[TEXT_NUMBER];
    char number[TEXT_NUMBER];
    uint64_t bytes;
    uint64_t sparse;
    label("Compression");
    fputs(level->compression == 1 ? "none" : info_codec(level, codec), stdout);
    print_predictor(level->predictor);
    if (!info_stored_size(f, 0, &bytes, &sparse)) {
        putchar('\n');
        return;
    }
    printf(", %s", text_bytes(number, bytes));
    if (level->compression != 1 && bytes > 0)
        printf(", %s : 1", text_ratio(number, info_raw_size(level), bytes));
    putchar('\n');
    if (sparse > 0) {
        label("Sparse");
        printf("%s tile%s not stored\n", text_count(number, sparse),
               sparse == 1 ? " is" : "s are");
    }
}

static void print_nodata(const info_file *f)
{
    const tz_nodata *nodata = &f->info->nodata;
    char number[TEXT_NUMBER];
    if (nodata->kind == TZ_NODATA_NONE && f->info->nodata_text == NULL)
        return;
    label("Nodata");
    if (nodata->kind == TZ_NODATA_NONE) {
        fputs("none; not understood: ", stdout);
        text_put_string(stdout, f->info->nodata_text, VALUE_COLUMNS - 22);
        putchar('\n');
        return;
    }
    if (nodata->kind == TZ_NODATA_INT)
        printf("%" PRId64 "\n", nodata->value.i);
    else if (nodata->kind == TZ_NODATA_UINT)
        printf("%" PRIu64 "\n", nodata->value.u);
    else
        printf("%s\n", text_double(number, nodata->value.f));
}

static void print_mask(const tz_info *info)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->level_count; i++)
        count += info->levels[i].has_mask;
    if (count == 0 || info->masks == NULL)
        return;
    label("Mask");
    if (info->levels[0].has_mask)
        printf("%u bit%s, ", (unsigned)info->masks[0].bits_per_sample,
               text_plural(info->masks[0].bits_per_sample));
    printf("for %" PRIu32 " of %" PRIu32 " level%s\n", count, info->level_count,
           text_plural(info->level_count));
}

static void print_image(info_file *f)
{
    heading("Image");
    print_size(f->info);
    print_colour(f->info);
    print_orientation(f->info);
    print_layout(f);
    print_compression(f);
    print_nodata(f);
    print_mask(f->info);
}

/* Georeferencing ------------------------------------------------------------------------------- */

static void print_crs(const info_file *f)
{
    const tz_geo *geo = &f->info->geo;
    int epsg = f->crs != NULL ? tz_crs_epsg(f->crs) : geo->epsg != 32767 ? geo->epsg : 0;
    const char *name = f->crs != NULL ? tz_crs_name(f->crs) : geo->citation;
    label("CRS");
    if (name != NULL)
        text_put_string(stdout, name, f->settings->verbose ? 0 : VALUE_COLUMNS - 14);
    if (epsg != 0)
        printf(name != NULL ? " (EPSG:%d)" : "EPSG:%d", epsg);
    if (name == NULL && epsg == 0)
        fputs(geo->has_crs ? "defined by its keys, without a name" : "none", stdout);
    putchar('\n');
    if (geo->epsg_vertical != 0 && geo->epsg_vertical != 32767) {
        label("Vertical CRS");
        printf("EPSG:%u\n", (unsigned)geo->epsg_vertical);
    }
    if (!isnan(geo->coordinate_epoch)) {
        char number[TEXT_NUMBER];
        line("Epoch", text_double(number, geo->coordinate_epoch));
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
    const double *t = f->info->geo.transform;
    char a[TEXT_NUMBER];
    char b[TEXT_NUMBER];
    label("Pixel size");
    printf("%s x %s%s%s%s\n", text_double(a, hypot(t[1], t[4])), text_double(b, hypot(t[2], t[5])),
           f->axes.unit[0] != '\0' ? " " : "", f->axes.unit, rotation_words(t));
    label("Origin");
    printf("%s, %s\n", text_double(a, t[0]), text_double(b, t[3]));
    if (t[2] != 0 || t[4] != 0) {
        label("Transform");
        for (int i = 0; i < 6; i++) {
            fputs(i == 0 ? "" : i == 3 ? ",\n" : ", ", stdout);
            if (i == 3)
                label("");
            fputs(text_double(a, t[i]), stdout);
        }
        putchar('\n');
    }
}

/* West, south, east and north of all four corners. */
static void print_bounds(const info_corner corners[INFO_CORNERS])
{
    double low[2] = {corners[0].x, corners[0].y};
    double high[2] = {corners[0].x, corners[0].y};
    for (int i = 1; i < 4; i++) {
        low[0] = fmin(low[0], corners[i].x);
        low[1] = fmin(low[1], corners[i].y);
        high[0] = fmax(high[0], corners[i].x);
        high[1] = fmax(high[1], corners[i].y);
    }
    char a[TEXT_NUMBER];
    char b[TEXT_NUMBER];
    label("Bounds");
    printf("%s, %s, ", text_rounded(a, low[0], 9), text_rounded(b, low[1], 9));
    printf("%s, %s\n", text_rounded(a, high[0], 9), text_rounded(b, high[1], 9));
}

static void print_points(const info_file *f)
{
    const tz_geo *geo = &f->info->geo;
    char number[TEXT_NUMBER];
    char other[TEXT_NUMBER];
    if (geo->gcp_count > 0) {
        label("GCPs");
        printf("%s ground control point%s\n", text_count(number, geo->gcp_count),
               text_plural(geo->gcp_count));
    }
    if (geo->rpc != NULL) {
        label("RPC");
        printf("rational polynomials around %s, %s (longitude, latitude)\n",
               text_double(number, geo->rpc[5]), text_double(other, geo->rpc[4]));
    }
}

static void print_place(info_file *f)
{
    const tz_geo *geo = &f->info->geo;
    heading("Georeferencing");
    if (!is_georeferenced(geo)) {
        printf("  none\n");
        return;
    }
    print_crs(f);
    if (geo->has_transform)
        print_transform(f);
    if (geo->raster_type == TZ_RASTER_PIXEL_IS_POINT)
        line("Pixel is", "a point; coordinates here are of its cell's corners");
    print_points(f);
    if (geo->has_transform) {
        info_corner corners[INFO_CORNERS];
        info_corners(f, corners);
        print_bounds(corners);
        info_print_corners(f, corners);
    }
}

/* File ----------------------------------------------------------------------------------------- */

static void print_embedded(const info_file *f)
{
    static const struct {
        uint16_t tag;
        const char *name;
    } kinds[] = {{34675, "ICC profile"}, {700, "XMP"}, {33723, "IPTC"}, {34377, "Photoshop"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        tz_tag tag;
        char number[TEXT_NUMBER];
        if (tag_find(f->file, &f->info->levels[0], kinds[i].tag, &tag))
            line(kinds[i].name, text_bytes(number, tag.size));
    }
    char where[TEXT_NUMBER + 16];
    char number[TEXT_NUMBER];
    if (f->info->exif_ifd != TZ_NONE) {
        snprintf(where, sizeof where, "at byte %s", text_count(number, f->info->exif_ifd));
        line("EXIF", where);
    }
    if (f->info->gps_ifd != TZ_NONE) {
        snprintf(where, sizeof where, "at byte %s", text_count(number, f->info->gps_ifd));
        line("EXIF GPS", where);
    }
}

static void print_directories(const tz_info *info)
{
    char number[TEXT_NUMBER];
    label("Format");
    printf("%s, %s-endian\n", info->bigtiff ? "BigTIFF" : "classic TIFF",
           info->big_endian ? "big" : "little");
    label("Directories");
    printf("%s, ", text_count(number, info->ifd_count));
    printf("in the first %s bytes%s\n", text_count(number, info->directory_end),
           info->chain_complete ? "" : "; more are out of reach");
    label("Opening read");
    printf("%s bytes in %" PRIu32 " request%s\n", text_count(number, info->bytes_read), info->reads,
           text_plural(info->reads));
}

static void print_ghost(const tz_ghost *ghost)
{
    if (!ghost->present)
        return;
    label("Ghost area");
    printf("%" PRIu32 " bytes%s%s\n", ghost->size, ghost->ifds_before_data ? ", IFDs first" : "",
           ghost->row_major ? ", tiles in row order" : "");
    if (!ghost->leaders && !ghost->trailers && !ghost->mask_interleaved && !ghost->edited)
        return;
    label("");
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
    label("COG");
    if (!f->cog_known) {
        printf("cannot be told\n");
        return;
    }
    term_put(info_is_cog(f) ? TERM_GOOD : TERM_BAD, info_is_cog(f) ? "yes" : "no");
    putchar('\n');
    for (uint32_t bit = 1; bit != 0 && bit <= f->cog_problems; bit <<= 1) {
        if (!(f->cog_problems & bit))
            continue;
        label("");
        printf("- %s\n", tz_cog_problem_text(bit));
    }
}

static void print_file(const info_file *f)
{
    heading("File");
    print_directories(f->info);
    print_ghost(&f->info->ghost);
    print_cog(f);
    print_embedded(f);
}

void info_print_page(info_file *f)
{
    print_title(f);
    print_image(f);
    print_place(f);
    info_print_lists(f);
    print_file(f);
    info_print_details(f);
}
