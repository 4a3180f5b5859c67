/* SPDX-License-Identifier: Apache-2.0
 * The report of a conversion: as a page for people, and as JSON (doc/convert.schema.json).
 *
 * Both are made from the same convert_result, which a plan (--dry-run) fills as far as it is known.
 * Warnings go to standard error in either case, after the report: defects of the source, options
 * that could not be honoured, then warnings of the read and of the write. */
#include "convert_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "device_report.h"
#include "json.h"
#include "page.h"
#include "problem.h"
#include "table.h"
#include "terminal.h"
#include "text.h"

static const char *codec_name(const conversion *c)
{
    static const char *const lerc[] = {"LERC", "LERC_DEFLATE", "LERC_ZSTD"};
    const tz_write_options *o = &c->options;
    if (o->codec.compression == TZ_COMPRESSION_LERC)
        return lerc[o->codec.lerc_compression];
    const char *name = tz_compression_name((uint16_t)o->codec.compression);
    return name != NULL ? name : "unknown";
}

static double bytes_per_second(const conversion *c, const convert_result *result)
{
    return result->seconds > 0 ? (double)conversion_bytes(c) / result->seconds : 0;
}

static uint64_t read_memory(const conversion *c, const convert_result *result)
{
    return result->reading != NULL ? result->reading->peak_host_bytes + c->kept_bytes
                                   : result->input_memory;
}

static device_summary reader_of(const conversion *c, const convert_result *result)
{
    return (device_summary){.device = c->file != NULL ? c->device : NULL,
                            .use = result->reading != NULL ? result->reading->device : NULL,
                            .verb = "decoded",
                            .planned = c->settings->dry_run};
}

static device_summary writer_of(const conversion *c, const convert_result *result)
{
    return (device_summary){.device = c->device,
                            .use = result->writing->device,
                            .verb = "encoded",
                            .planned = c->settings->dry_run};
}

/* For people ----------------------------------------------------------------------------------- */

static void print_output_image(const conversion *c, const convert_result *result)
{
    const tz_write_report *w = result->writing;
    char a[TEXT_NUMBER];
    char b[TEXT_NUMBER];
    page_heading("Image");
    page_label("Size");
    printf("%s pixels, %" PRIu32 " band%s of %s\n", text_pair(a, c->spec.width, c->spec.height),
           c->spec.bands, text_plural(c->spec.bands), tz_dtype_name(c->spec.dtype));
    page_label("Compression");
    printf("%s, by %s%s\n", codec_name(c), tz_interleave_name(c->options.interleave),
           c->spec.mask ? ", with a mask" : "");
    if (c->options.cog) {
        page_label("Overviews");
        printf("%" PRIu32 ", in tiles of %s\n", w->levels > 0 ? w->levels - 1 : 0,
               text_pair(a, c->options.tile_width, c->options.tile_height));
    }
    page_label(c->options.strips ? "Strips" : "Tiles");
    printf("%s", text_count(a, w->tiles));
    if (!c->settings->dry_run || w->tiles_sparse > 0)
        printf(", %s sparse", text_count(b, w->tiles_sparse));
    putchar('\n');
    page_label("File");
    printf("%s%s, %s\n", c->settings->dry_run ? "at most " : "", text_bytes(a, w->file_size),
           w->bigtiff ? "BigTIFF" : "classic TIFF");
    if (c->settings->dry_run || w->file_size == 0)
        return;
    page_label("Ratio");
    printf("%s, of %s of pixels\n", text_ratio(a, (double)conversion_bytes(c), w->file_size),
           text_bytes(b, conversion_bytes(c)));
}

static void print_conversion_cost(const conversion *c, const convert_result *result)
{
    const tz_write_report *w = result->writing;
    char a[TEXT_NUMBER];
    char b[TEXT_NUMBER];
    page_heading("Cost");
    page_label("Swaths");
    printf("%s, of %" PRIu32 " row%s\n", text_count(a, w->tile_rows), w->rows_per_tile_row,
           text_plural(w->rows_per_tile_row));
    page_label("Threads");
    printf("%" PRIu32 "\n", w->threads);
    page_label("Memory");
    printf("%s for writing, %s for reading\n", text_bytes(a, w->peak_host_bytes),
           text_bytes(b, read_memory(c, result)));
    if (w->spool_bytes > 0) {
        page_label("Disk");
        printf("%s%s beside the file, until it is whole\n", c->settings->dry_run ? "at most " : "",
               text_bytes(a, w->spool_bytes));
    }
    if (w->max_host_bytes + result->input_memory > c->memory.work) {
        page_label("");
        printf("(the least for this image: %s with the program itself)\n",
               text_bytes(a, c->memory.base + w->max_host_bytes + result->input_memory));
    }
    if (c->settings->dry_run)
        return;
    page_label("Verified");
    printf("%s tile%s\n", text_count(a, w->tiles_verified), text_plural(w->tiles_verified));
    page_label("Time");
    printf("%s s, %s/s of pixels\n", text_rounded(a, result->seconds, 2),
           text_bytes(b, (uint64_t)bytes_per_second(c, result)));
}

static void print_statistics(const conversion *c, const convert_result *result)
{
    static const table_column columns[] = {{"Band", true, 0},      {"Minimum", true, 0},
                                           {"Maximum", true, 0},   {"Mean", true, 0},
                                           {"Deviation", true, 0}, {"Valid", true, 0}};
    table t;
    page_heading("Statistics");
    for (table_start(&t, columns, 6, 0); table_pass(&t);) {
        for (uint32_t i = 0; i < c->spec.bands; i++) {
            const tz_statistics *s = tz_write_report_get_statistics(result->writing, i);
            char cells[6][TEXT_NUMBER];
            const char *row[6];
            text_count(cells[0], i + 1);
            text_double(cells[1], s->minimum);
            text_double(cells[2], s->maximum);
            text_double(cells[3], s->mean);
            text_double(cells[4], s->stddev);
            text_count(cells[5], s->valid_count);
            for (size_t k = 0; k < 6; k++)
                row[k] = cells[k];
            table_row(&t, row);
        }
    }
}

static void print_devices(const conversion *c, const convert_result *result)
{
    const device_summary reader = reader_of(c, result);
    const device_summary writer = writer_of(c, result);
    device_report_print(c->settings->dry_run ? "Reading of the first rows" : "Reading", &reader);
    device_report_print("Writing", &writer);
}

void convert_report_print(const conversion *c, const convert_result *result)
{
    const convert_settings *s = c->settings;
    if (s->dry_run || s->common.verbose) {
        term_begin(TERM_TITLE);
        text_put_string(stdout, s->input, 0);
        term_end();
        fputs(" -> ", stdout);
        text_put_string(stdout, c->output, 0);
        putchar('\n');
        print_output_image(c, result);
        print_conversion_cost(c, result);
        print_devices(c, result);
    }
    if (s->statistics && !s->dry_run)
        print_statistics(c, result);
}

/* As JSON -------------------------------------------------------------------------------------- */

static void write_output_image(json *j, const conversion *c, const convert_result *result)
{
    const tz_write_report *w = result->writing;
    json_pair(j, "size", c->spec.width, c->spec.height);
    json_uint(j, "bands", c->spec.bands);
    json_text(j, "dtype", tz_dtype_name(c->spec.dtype));
    json_text(j, "compression", codec_name(c));
    json_text(j, "interleave", tz_interleave_name(c->options.interleave));
    json_bool(j, "tiled", !c->options.strips);
    json_bool(j, "cog", c->options.cog);
    json_uint(j, "levels", w->levels);
    json_bool(j, "mask", c->spec.mask);
    json_bool(j, "clipped", c->clipped);
    json_bool(j, "bigtiff", w->bigtiff);
    json_uint(j, "file_size", w->file_size);
    json_uint(j, "tiles", w->tiles);
}

static void write_conversion_cost(json *j, const conversion *c, const convert_result *result)
{
    const tz_write_report *w = result->writing;
    bool done = !c->settings->dry_run;
    json_object(j, "plan");
    json_uint(j, "swaths", w->tile_rows);
    json_uint(j, "swath_rows", w->rows_per_tile_row);
    json_uint(j, "threads", w->threads);
    json_uint(j, "memory", w->max_host_bytes + result->input_memory + c->kept_bytes);
    json_uint(j, "write_memory", w->peak_host_bytes);
    json_uint(j, "read_memory", read_memory(c, result));
    json_uint(j, "bytes_pixels", w->bytes_pixels);
    json_uint(j, "spool_bytes", w->spool_bytes);
    json_object_end(j);
    json_object(j, "done");
    json_uint_or_null(j, "tiles_sparse", w->tiles_sparse, done);
    json_uint_or_null(j, "tiles_verified", w->tiles_verified, done);
    json_uint_or_null(j, "tiles_failed", result->damaged.count, done);
    json_uint_or_null(j, "bytes_tiles", w->bytes_tiles, done);
    json_uint_or_null(j, "bytes_read", result->reading != NULL ? result->reading->bytes_read : 0,
                      done);
    json_uint_or_null(j, "writes", w->writes, done);
    if (done)
        json_double(j, "seconds", result->seconds);
    else
        json_null(j, "seconds");
    json_object_end(j);
}

static void write_statistics(json *j, const conversion *c, const convert_result *result)
{
    if (!c->settings->statistics || c->settings->dry_run) {
        json_null(j, "statistics");
        return;
    }
    json_array(j, "statistics");
    for (uint32_t i = 0; i < c->spec.bands; i++) {
        const tz_statistics *s = tz_write_report_get_statistics(result->writing, i);
        json_object_row(j, NULL);
        json_uint(j, "valid", s->valid_count);
        json_double(j, "minimum", s->minimum);
        json_double(j, "maximum", s->maximum);
        json_double(j, "mean", s->mean);
        json_double(j, "deviation", s->stddev);
        json_object_end(j);
    }
    json_array_end(j);
}

void convert_report_write(const conversion *c, const convert_result *result)
{
    json j;
    json_open(&j, stdout);
    json_object(&j, NULL);
    json_text(&j, "input", c->settings->input);
    json_text(&j, "output", c->output);
    json_bool(&j, "dry_run", c->settings->dry_run);
    write_output_image(&j, c, result);
    write_conversion_cost(&j, c, result);
    const device_summary reader = reader_of(c, result);
    const device_summary writer = writer_of(c, result);
    device_report_write(&j, "read_device", &reader);
    device_report_write(&j, "write_device", &writer);
    write_statistics(&j, c, result);
    damaged_write(&j, &result->damaged);
    json_array(&j, "warnings");
    if (c->info != NULL)
        problem_write_warnings(&j, c->file);
    problem_write_each(&j, &c->note, c->note_count);
    for (uint32_t i = 0; result->reading != NULL && i < result->reading->warning_count; i++)
        problem_write_each(&j, tz_read_report_get_warning(result->reading, i), 1);
    for (uint32_t i = 0; i < result->writing->warning_count; i++)
        problem_write_each(&j, tz_write_report_get_warning(result->writing, i), 1);
    json_array_end(&j);
    json_object_end(&j);
    json_close(&j);
}

/* Warnings ------------------------------------------------------------------------------------- */

static void warn_each(const tz_error *list, uint32_t count, uint64_t dropped)
{
    for (uint32_t i = 0; i < count; i++)
        term_warning(list[i].message, list[i].count);
    if (dropped > 0)
        term_warning("there are further kinds of warnings", dropped);
}

void convert_report_warn(const conversion *c, const convert_result *result)
{
    const tz_read_report *r = result->reading;
    const tz_write_report *w = result->writing;
    if (c->info != NULL)
        problem_print_warnings(c->file);
    if (c->clipped)
        term_warning(WINDOW_BEYOND_IMAGE ", and is clipped to it", 1);
    warn_each(&c->note, c->note_count, 0);
    for (uint32_t i = 0; r != NULL && i < r->warning_count; i++)
        warn_each(tz_read_report_get_warning(r, i), 1, 0);
    if (r != NULL)
        warn_each(NULL, 0, r->warnings_dropped);
    damaged_warn(&result->damaged);
    for (uint32_t i = 0; i < w->warning_count; i++)
        warn_each(tz_write_report_get_warning(w, i), 1, 0);
    warn_each(NULL, 0, w->warnings_dropped);
}
