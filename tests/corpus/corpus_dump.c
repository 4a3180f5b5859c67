/* SPDX-License-Identifier: Apache-2.0
 * Opens every file whose path comes on stdin, one per line, and prints one line of JSON for each:
 * what tz_open says of it, its CPU seconds and the peak of live bytes. With the argument --crs also
 * what PROJ makes of its CRS, which takes longer. check_corpus.py compares these lines with the
 * frozen answers of other readers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "terrazzo/terrazzo.h"

typedef struct meter {
    size_t live;
    size_t peak;
} meter;

static bool allow_all(void *user, size_t size)
{
    (void)user;
    (void)size;
    return true;
}

static void count_moved(void *user, size_t released, size_t acquired)
{
    meter *m = user;
    m->live = m->live - released + acquired;
    if (m->live > m->peak)
        m->peak = m->live;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Bytes that are not ASCII become \u00XX, so that the line is JSON whatever the file holds. */
static void put_text(const char *text)
{
    if (text == NULL) {
        fputs("null", stdout);
        return;
    }
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++) {
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < 32 || *c > 126)
            printf("\\u%04x", *c);
        else
            putchar(*c);
    }
    putchar('"');
}

/* JSON has no infinities: those are strings. */
static void put_double(double value)
{
    if (isnan(value))
        fputs("\"nan\"", stdout);
    else if (isinf(value))
        fputs(value > 0 ? "\"inf\"" : "\"-inf\"", stdout);
    else
        printf("%.17g", value);
}

static void put_error(const tz_error *e)
{
    printf("{\"result\":\"%s\",\"cause\":\"%s\",\"ifd\":%" PRId32 ",\"tag\":%" PRId32
           ",\"level\":%" PRId32 ",\"count\":%" PRIu64 ",\"message\":",
           tz_result_name(e->result), tz_cause_name(e->cause), e->ifd, e->tag, e->level, e->count);
    put_text(e->message);
    putchar('}');
}

static void put_nodata(const tz_nodata *nodata)
{
    printf(",\"nodata\":");
    switch (nodata->kind) {
    case TZ_NODATA_KIND_INT:
        put_double((double)nodata->value.i);
        break;
    case TZ_NODATA_KIND_UINT:
        put_double((double)nodata->value.u);
        break;
    case TZ_NODATA_KIND_FLOAT:
        put_double(nodata->value.f);
        break;
    default:
        printf("null");
    }
}

static void put_crs(const tz_file *file)
{
    tz_crs *crs = NULL;
    tz_error err;
    if (tz_crs_from_file(&crs, file, &err) == TZ_OK) {
        printf(",\"epsg_by_proj\":%d,\"crs_name\":", tz_crs_get_epsg(crs));
        put_text(tz_crs_get_name(crs));
        tz_crs_close(crs);
    } else {
        printf(",\"crs_error\":");
        put_error(&err);
    }
}

static void put_geo(const tz_geo *geo)
{
    printf(",\"geotransform\":");
    if (geo->has_transform) {
        for (int i = 0; i < 6; i++) {
            putchar(i == 0 ? '[' : ',');
            put_double(geo->transform[i]);
        }
        putchar(']');
    } else {
        printf("null");
    }
    printf(",\"epsg\":%u,\"epsg_vertical\":%u,\"has_crs\":%s,\"point\":%s,\"gcps\":%" PRIu32,
           geo->epsg, geo->epsg_vertical, geo->has_crs ? "true" : "false",
           geo->raster_type == TZ_RASTER_TYPE_POINT ? "true" : "false", geo->gcp_count);
}

static void put_levels(const tz_file *file, const tz_info *info)
{
    const tz_level *first = tz_file_get_level(file, 0);
    printf(",\"block\":[%" PRIu32 ",%" PRIu32 "],\"tiled\":%s,\"compression\":%u,\"readable\":%s,"
           "\"mask\":%s,\"overviews\":[",
           first->tile_width, first->tile_height, first->tiled ? "true" : "false",
           first->compression, first->readable ? "true" : "false",
           first->has_mask ? "true" : "false");
    for (uint32_t i = 1; i < info->level_count; i++)
        printf("%s[%" PRIu32 ",%" PRIu32 "]", i > 1 ? "," : "", tz_file_get_level(file, i)->width,
               tz_file_get_level(file, i)->height);
    printf("],\"overview_masks\":[");
    for (uint32_t i = 1; i < info->level_count; i++)
        printf("%s%s", i > 1 ? "," : "", tz_file_get_level(file, i)->has_mask ? "true" : "false");
    putchar(']');
}

static void put_bands(const tz_file *file, const tz_info *info)
{
    printf(",\"band_info\":[");
    for (uint32_t i = 0; i < info->bands && i < 64; i++) {
        const tz_band *band = tz_file_get_band(file, i);
        printf("%s{\"description\":", i > 0 ? "," : "");
        put_text(band->description);
        printf(",\"scale\":");
        put_double(band->scale);
        printf(",\"offset\":");
        put_double(band->offset);
        printf(",\"color\":\"%s\"}", tz_color_name(band->color));
    }
    putchar(']');
}

static void put_file(const tz_file *file, bool with_crs)
{
    const tz_info *info = tz_file_get_info(file);
    printf(",\"width\":%" PRIu32 ",\"height\":%" PRIu32 ",\"bands\":%" PRIu32 ",\"dtype\":\"%s\","
           "\"bits\":%u,\"sample_format\":%u,\"photometric\":%u,\"planar\":%u,\"ifds\":%" PRIu32
           ",\"pages\":%" PRIu32 ",\"chain_complete\":%s,\"reads\":%" PRIu32
           ",\"bytes_read\":%" PRIu64,
           info->width, info->height, info->bands, tz_dtype_name(info->dtype),
           info->bits_per_sample, info->sample_format, info->photometric, info->planar,
           info->ifd_count, info->page_count, info->chain_complete ? "true" : "false", info->reads,
           info->bytes_read);
    put_nodata(&info->nodata);
    put_levels(file, info);
    put_bands(file, info);
    put_geo(info->geo);
    if (with_crs && info->geo->has_crs)
        put_crs(file);
    printf(",\"warnings\":[");
    for (uint32_t i = 0; i < info->warning_count; i++) {
        if (i > 0)
            putchar(',');
        put_error(tz_file_get_warning(file, i));
    }
    putchar(']');
}

static void dump(const char *path, bool with_crs)
{
    meter m = {0, 0};
    tz_mem_hook hook = {allow_all, count_moved, &m};
    tz_mem_set_hook(&hook);
    tz_file *file = NULL;
    tz_error err;
    double start = cpu_seconds();
    tz_result result = tz_open(&file, path, NULL, &err);
    double elapsed = cpu_seconds() - start;
    size_t peak = m.peak;

    printf("{\"path\":");
    put_text(path);
    printf(",\"opened\":%s,\"seconds\":%.6f,\"peak\":%zu", result == TZ_OK ? "true" : "false",
           elapsed, peak);
    if (result == TZ_OK) {
        put_file(file, with_crs);
    } else {
        printf(",\"error\":");
        put_error(&err);
    }
    tz_close(file);
    tz_mem_set_hook(NULL);
    printf(",\"left\":%zu}\n", m.live);
}

int main(int argc, char **argv)
{
    const bool with_crs = argc > 1 && strcmp(argv[1], "--crs") == 0;
    char path[4096];
    while (fgets(path, sizeof path, stdin) != NULL) {
        path[strcspn(path, "\n")] = '\0';
        dump(path, with_crs);
        /* After a crash the last line says which file was the last good one. */
        fflush(stdout);
    }
    printf("{\"proj\":");
    put_text(tz_build_feature("proj"));
    printf(",\"expat\":");
    put_text(tz_build_feature("expat"));
    printf("}\n");
    return ferror(stdin) != 0;
}
