/* SPDX-License-Identifier: Apache-2.0
 * The report of read and plan: as a page for people, and as JSON (doc/read.schema.json).
 *
 * A plan fills the same transfer_result as a read, as far as it is known before reading. What only
 * shows when tiles are decoded, such as who decoded them, is left out of a plan. */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "device_report.h"
#include "georeference.h"
#include "info.h"
#include "page.h"
#include "problem.h"
#include "terminal.h"
#include "text.h"

#define BANDS_SHOWN 16

/* Returns the level that was read, or that a plan chose. */
static uint32_t level_read(const report *p)
{
    uint32_t level = p->result->item.level;
    return level < p->r->info->level_count ? level : 0;
}

static const char *codec_of(const report *p, char *buffer)
{
    return info_codec(tz_file_get_level(p->r->file, level_read(p)), buffer);
}

/* The route of tiles is known after they were read; a plan may not know it. */
static bool knows_route(const report *p)
{
    const tz_read_report *t = p->result->report;
    return p->output != NULL || t->tiles_copied + t->tiles_direct + t->tiles_decoded > 0;
}

static device_summary device_of(const report *p)
{
    return (device_summary){.device = p->r->device,
                            .use = p->result->report->device,
                            .verb = "decoded",
                            .planned = p->output == NULL};
}

/* For people ----------------------------------------------------------------------------------- */

static void print_band_list(const request *r)
{
    page_label("Bands");
    for (uint32_t i = 0; i < r->band_count && i < BANDS_SHOWN; i++)
        printf("%s%" PRIu32, i > 0 ? ", " : "", r->bands[i] + 1);
    printf("%s of %s\n", r->band_count > BANDS_SHOWN ? ", ..." : "", tz_dtype_name(r->dtype));
}

static void print_what(const report *p)
{
    const request *r = p->r;
    const tz_level *level = tz_file_get_level(r->file, level_read(p));
    const tz_window *w = &r->window;
    char pair[TEXT_NUMBER];
    page_heading("Pixels");
    page_label("Level");
    printf("%" PRIu32 ", %s pixels%s\n", level_read(p),
           text_pair(pair, level->width, level->height),
           r->level == TZ_LEVEL_AUTO ? ", chosen by size" : "");
    page_label("Window");
    printf("%s from column %" PRId64 ", row %" PRId64 "%s\n", text_pair(pair, w->width, w->height),
           w->column, w->row, r->level == TZ_LEVEL_AUTO ? " of level 0" : "");
    page_label("Result");
    printf("%s", text_pair(pair, r->width, r->height));
    if (p->result->item.resampled)
        printf(", resampled (%s)", tz_resampling_name(r->how.resampling));
    putchar('\n');
    if (p->result->item.reduction > 0) {
        page_label("Reduced");
        printf("by the codec to 1/%u of the level\n", 1u << p->result->item.reduction);
    }
    print_band_list(r);
    georeference_print(r);
}

static void print_read_tiles(const report *p)
{
    const tz_read_report *t = p->result->report;
    char a[TEXT_NUMBER];
    char b[TEXT_NUMBER];
    page_heading("Tiles");
    page_label("Tiles");
    printf("%s, %s sparse", text_count(a, t->tiles), text_count(b, t->tiles_sparse));
    if (t->tiles_shared > 0)
        printf(", %s shared", text_count(a, t->tiles_shared));
    putchar('\n');
    page_label("Decoder");
    printf("%s, largest tile %s\n", codec_of(p, a), text_bytes(b, t->largest_tile));
    if (knows_route(p)) {
        page_label("Way");
        printf("%s copied, ", text_count(a, t->tiles_copied));
        printf("%s straight to the result, ", text_count(a, t->tiles_direct));
        printf("%s by rows\n", text_count(a, t->tiles_decoded));
    }
    if (t->tiles_failed > 0) {
        page_label("Damaged");
        printf("%s\n", text_count(a, t->tiles_failed));
    }
    page_label("Pixel bytes");
    printf("%s\n", text_bytes(a, t->bytes_decoded));
}

static void print_read_cost(const report *p)
{
    const tz_read_report *t = p->result->report;
    char a[TEXT_NUMBER];
    char b[TEXT_NUMBER];
    page_heading("Cost");
    page_label("Requests");
    printf("%s, %s in all", text_count(a, t->requests), text_bytes(b, t->bytes_read));
    if (strcmp(text_bytes(a, t->bytes_compressed), b) != 0)
        printf(", %s of it tiles", a);
    putchar('\n');
    page_label("Blocks");
    printf("%s, in %s wave%s\n", text_count(a, p->result->block_count), text_count(b, t->waves),
           text_plural(t->waves));
    page_label("Threads");
    printf("%" PRIu32 "\n", t->threads);
    page_label("Memory");
    printf("%s for pixels, %s for reading\n", text_bytes(a, p->result->buffer_bytes),
           text_bytes(b, t->peak_host_bytes));
}

void report_print(const report *p)
{
    term_begin(TERM_TITLE);
    text_put_string(stdout, p->input, 0);
    term_end();
    if (p->output != NULL) {
        fputs(" -> ", stdout);
        text_put_string(stdout, p->output, 0);
    }
    putchar('\n');
    print_what(p);
    print_read_tiles(p);
    print_read_cost(p);
    const device_summary summary = device_of(p);
    device_report_print("Device", &summary);
}

/* As JSON -------------------------------------------------------------------------------------- */

static void write_window(json *j, const char *key, const tz_window *w)
{
    json_array_row(j, key);
    json_int(j, NULL, w->column);
    json_int(j, NULL, w->row);
    json_uint(j, NULL, w->width);
    json_uint(j, NULL, w->height);
    json_array_end(j);
}

static void write_what(json *j, const report *p)
{
    const request *r = p->r;
    bool resampled = p->result->item.resampled;
    json_uint(j, "level", level_read(p));
    json_bool(j, "level_chosen", r->level == TZ_LEVEL_AUTO);
    write_window(j, "window", &r->window);
    json_bool(j, "clipped", r->clipped);
    json_pair(j, "size", r->width, r->height);
    json_array_row(j, "bands");
    for (uint32_t i = 0; i < r->band_count; i++)
        json_uint(j, NULL, r->bands[i] + 1);
    json_array_end(j);
    json_text(j, "dtype", tz_dtype_name(r->dtype));
    json_bool(j, "resampled", resampled);
    json_text_or_null(j, "resampling", resampled ? tz_resampling_name(r->how.resampling) : NULL);
    json_uint(j, "reduction", p->result->item.reduction);
    georeference_write(j, r);
}

static void write_stretch(json *j, const report *p)
{
    const picture_stretch *done = p->stretched;
    if (done == NULL || done->count == 0) {
        json_null(j, "stretch");
        return;
    }
    json_object(j, "stretch");
    json_uint_or_null(j, "overview", done->level, done->level > 0);
    json_array(j, "bands");
    for (uint32_t i = 0; i < done->count; i++) {
        json_object_row(j, NULL);
        json_uint(j, "band", p->r->bands[i] + 1);
        json_double(j, "low", done->range[i].low);
        json_double(j, "high", done->range[i].high);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void write_read_cost(json *j, const report *p)
{
    const tz_read_report *t = p->result->report;
    char codec[TEXT_NUMBER];
    json_object(j, "plan");
    json_uint(j, "tiles", t->tiles);
    json_uint(j, "tiles_sparse", t->tiles_sparse);
    json_uint(j, "tiles_shared", t->tiles_shared);
    json_uint(j, "largest_tile", t->largest_tile);
    json_uint(j, "blocks", p->result->block_count);
    json_uint(j, "waves", t->waves);
    json_uint(j, "threads", t->threads);
    json_uint(j, "buffer_memory", p->result->buffer_bytes);
    json_uint(j, "peak_memory", t->peak_host_bytes);
    json_object_end(j);
    json_object(j, "fetch");
    json_uint(j, "requests", t->requests);
    json_uint(j, "bytes_read", t->bytes_read);
    json_uint(j, "bytes_compressed", t->bytes_compressed);
    json_object_end(j);
    json_object(j, "decode");
    json_text(j, "codec", codec_of(p, codec));
    json_uint_or_null(j, "tiles_copied", t->tiles_copied, knows_route(p));
    json_uint_or_null(j, "tiles_direct", t->tiles_direct, knows_route(p));
    json_uint_or_null(j, "tiles_decoded", t->tiles_decoded, knows_route(p));
    json_uint(j, "tiles_failed", t->tiles_failed);
    json_uint(j, "tiles_reduced", t->tiles_reduced);
    json_uint(j, "bytes_decoded", t->bytes_decoded);
    json_object_end(j);
}

void report_write(const report *p)
{
    json j;
    json_open(&j, stdout);
    json_object(&j, NULL);
    json_text(&j, "input", p->input);
    json_text_or_null(&j, "output", p->output);
    json_text_or_null(&j, "mask_output", p->mask_output);
    json_text(&j, "format", request_format_name(p->r->format));
    write_what(&j, p);
    write_stretch(&j, p);
    write_read_cost(&j, p);
    const device_summary summary = device_of(p);
    device_report_write(&j, "device", &summary);
    damaged_write(&j, &p->result->damaged);
    json_array(&j, "warnings");
    problem_write_warnings(&j, p->r->file);
    for (uint32_t i = 0; i < p->result->report->warning_count; i++)
        problem_write_each(&j, tz_read_report_get_warning(p->result->report, i), 1);
    json_array_end(&j);
    json_object_end(&j);
    json_close(&j);
}

void report_warn(const transfer_result *result)
{
    const tz_read_report *r = result->report;
    for (uint32_t i = 0; i < r->warning_count; i++) {
        const tz_error *warning = tz_read_report_get_warning(r, i);
        term_warning(warning->message, warning->count);
    }
    damaged_warn(&result->damaged);
}

void report_write_error(const char *input, const tz_error *err)
{
    json j;
    json_open(&j, stdout);
    json_object(&j, NULL);
    json_text(&j, "input", input);
    json_object(&j, "error");
    problem_write(&j, err);
    json_object_end(&j);
    json_object_end(&j);
    json_close(&j);
}
