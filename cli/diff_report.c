/* SPDX-License-Identifier: Apache-2.0
 * The report of diff: as a page for people, and as JSON (doc/diff.schema.json).
 *
 * Both go through the parts that were compared: pixels, layout, tags. A part without differences
 * says so; in JSON a part that was not compared is null, so that programs need not guess. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diff.h"
#include "json.h"
#include "page.h"
#include "problem.h"
#include "table.h"
#include "tag_values.h"
#include "terminal.h"
#include "text.h"

#define BANDS_SHOWN   16
#define VALUE_COLUMNS 70

/* For people ----------------------------------------------------------------------------------- */

static void level_text(char *text, uint32_t level)
{
    text[0] = '\0';
    if (level != DIFF_NONE)
        snprintf(text, TEXT_NUMBER, "%" PRIu32, level);
}

static void print_facts(const diff *d, unsigned part)
{
    static const table_column columns[] = {
        {"level", true, 0}, {"", false, 0}, {"A", false, 0}, {"B", false, 0}};
    table t;
    bool any = false;
    for (size_t i = 0; i < d->fact_count; i++)
        any = any || d->facts[i].part == part;
    if (!any)
        return;
    for (table_start(&t, columns, 4, 0); table_pass(&t);) {
        for (size_t i = 0; i < d->fact_count; i++) {
            const diff_fact *fact = &d->facts[i];
            char level[TEXT_NUMBER];
            level_text(level, fact->level);
            const char *cells[] = {level, fact->what, fact->texts[0], fact->texts[1]};
            if (fact->part == part)
                table_row(&t, cells);
        }
    }
}

/* Prints the first note: others say the same. */
static void print_note(const diff *d, unsigned part)
{
    for (size_t i = 0; i < d->fact_count; i++) {
        const diff_fact *fact = &d->facts[i];
        if (fact->part == part && fact->note != NULL) {
            printf("  %s%s\n", fact->note,
                   part == DIFF_PIXELS ? "; pixels of these levels were not compared" : "");
            return;
        }
    }
}

static void count_row(table *t, const diff_level *level, const char *band, const diff_count *count)
{
    char number[TEXT_NUMBER];
    char different[TEXT_NUMBER];
    char largest[TEXT_NUMBER] = "";
    char place[2 * TEXT_NUMBER];
    level_text(number, level->level);
    text_count(different, count->different);
    if (count != &level->mask)
        text_double(largest, count->largest);
    snprintf(place, sizeof place, "column %" PRIu32 ", row %" PRIu32, count->column, count->row);
    const char *cells[] = {number, band, different, largest, place};
    table_row(t, cells);
}

static uint32_t count_rows(const diff *d, table *t, const diff_level *level)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < level->band_count; i++) {
        char band[TEXT_NUMBER];
        snprintf(band, sizeof band, "%" PRIu32, i + 1);
        if (level->bands[i].different == 0 ||
            (rows++ >= BANDS_SHOWN && !d->settings->common.verbose))
            continue;
        count_row(t, level, band, &level->bands[i]);
    }
    if (level->mask.different > 0)
        count_row(t, level, "mask", &level->mask);
    return rows;
}

static void print_counts(const diff *d)
{
    static const table_column columns[] = {{"level", true, 0},
                                           {"band", true, 0},
                                           {"different pixels", true, 0},
                                           {"at most by", true, 0},
                                           {"first at", false, 0}};
    table t;
    uint32_t max = 0;
    bool any = false;
    for (size_t i = 0; i < d->level_count; i++) {
        any = any || d->levels[i].mask.different > 0;
        for (uint32_t band = 0; band < d->levels[i].band_count; band++)
            any = any || d->levels[i].bands[band].different > 0;
    }
    if (!any)
        return;
    for (table_start(&t, columns, 5, 0); table_pass(&t);) {
        for (size_t i = 0; i < d->level_count; i++) {
            uint32_t rows = count_rows(d, &t, &d->levels[i]);
            max = rows > max ? rows : max;
        }
    }
    if (max > BANDS_SHOWN && !d->settings->common.verbose)
        printf("  and further bands, up to %" PRIu32 "; -v shows all\n", max);
}

static void print_tag_value(const diff *d, const diff_tag *tag, int side)
{
    tz_error err;
    printf("    %c  ", "AB"[side]);
    if (!tag->present[side]) {
        printf("none\n");
        return;
    }
    const tz_tag *t = &tag->tags[side];
    bool types =
        tag->present[0] && tag->present[1] &&
        (tag->tags[0].type != tag->tags[1].type || tag->tags[0].count != tag->tags[1].count);
    const char *type = tz_tag_type_name(t->type);
    if (types)
        printf("%" PRIu64 " %s: ", t->count, type != NULL ? type : "of unknown type");
    if (tag_print(stdout, d->sides[side].file, t,
                  d->settings->common.verbose ? SIZE_MAX : VALUE_COLUMNS, &err) != TZ_OK)
        term_put(TERM_BAD, "not readable");
    putchar('\n');
}

static void print_tag_differences(const diff *d)
{
    for (size_t i = 0; i < d->tag_count; i++) {
        const diff_tag *tag = &d->tags[i];
        const char *name = tz_tag_name(tag->number);
        printf("  level %" PRIu32 "%s, tag %u%s%s\n", tag->level, tag->mask ? " mask" : "",
               (unsigned)tag->number, name != NULL ? " " : "", name != NULL ? name : "");
        print_tag_value(d, tag, 0);
        print_tag_value(d, tag, 1);
    }
}

static void print_part(const diff *d, unsigned part, const char *name)
{
    bool differ = (d->different & part) != 0;
    if (!(d->settings->parts & part))
        return;
    page_heading(name);
    if (!differ) {
        fputs("  ", stdout);
        term_put(TERM_GOOD, "equal");
        putchar('\n');
    }
    print_facts(d, part);
    print_note(d, part);
    if (part == DIFF_PIXELS)
        print_counts(d);
    if (part == DIFF_PIXELS && d->not_compared != NULL)
        printf("  pixels were not compared: %s\n", d->not_compared);
    if (part == DIFF_TAGS)
        print_tag_differences(d);
}

static void print_verdict(const diff *d)
{
    static const char *const names[] = {"pixels", "tags", "layout"};
    putchar('\n');
    if (d->different == 0) {
        term_put(TERM_GOOD, d->settings->tolerance > 0 ? "equal within the tolerance" : "equal");
        putchar('\n');
        return;
    }
    term_put(TERM_BAD, "different");
    bool first = true;
    for (unsigned i = 0; i < 3; i++) {
        if (d->different & 1u << i) {
            printf("%s%s", first ? " in " : ", ", names[i]);
            first = false;
        }
    }
    putchar('\n');
}

void diff_print(const diff *d)
{
    for (int i = 0; i < 2; i++) {
        printf("%c  ", "AB"[i]);
        term_begin(TERM_TITLE);
        text_put_string(stdout, d->sides[i].path, 0);
        term_end();
        putchar('\n');
    }
    print_part(d, DIFF_PIXELS, "Pixels");
    print_part(d, DIFF_LAYOUT, "Layout");
    print_part(d, DIFF_TAGS, "Tags");
    print_verdict(d);
}

/* As JSON -------------------------------------------------------------------------------------- */

static void write_facts(json *j, const char *key, const diff *d, unsigned part)
{
    json_array(j, key);
    for (size_t i = 0; i < d->fact_count; i++) {
        const diff_fact *fact = &d->facts[i];
        if (fact->part != part)
            continue;
        json_object_row(j, NULL);
        json_uint_or_null(j, "level", fact->level, fact->level != DIFF_NONE);
        json_text(j, "what", fact->what);
        json_text(j, "a", fact->texts[0]);
        json_text(j, "b", fact->texts[1]);
        json_text_or_null(j, "note", fact->note);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_count(json *j, const diff_count *count, bool is_mask)
{
    json_uint(j, "different", count->different);
    if (!is_mask)
        json_double(j, "largest", count->largest);
    if (count->different > 0)
        json_pair(j, "first", count->column, count->row);
    else
        json_null(j, "first");
}

static void write_level_differences(json *j, const diff_level *level)
{
    json_object(j, NULL);
    json_uint(j, "level", level->level);
    json_array(j, "bands");
    for (uint32_t i = 0; i < level->band_count; i++) {
        json_object_row(j, NULL);
        json_uint(j, "band", i + 1);
        write_count(j, &level->bands[i], false);
        json_object_end(j);
    }
    json_array_end(j);
    if (level->has_mask) {
        json_object_row(j, "mask");
        write_count(j, &level->mask, true);
        json_object_end(j);
    } else {
        json_null(j, "mask");
    }
    json_object_end(j);
}

static void write_pixels(json *j, const diff *d)
{
    json_object(j, "pixels");
    json_bool(j, "equal", !(d->different & DIFF_PIXELS));
    json_double(j, "tolerance", d->settings->tolerance);
    write_facts(j, "differences", d, DIFF_PIXELS);
    json_text_or_null(j, "not_compared", d->not_compared);
    json_array(j, "levels");
    for (size_t i = 0; i < d->level_count; i++)
        write_level_differences(j, &d->levels[i]);
    json_array_end(j);
    json_object_end(j);
}

static void write_tag_difference(json *j, const diff *d, const diff_tag *tag)
{
    tz_error err;
    json_object(j, NULL);
    json_uint(j, "level", tag->level);
    json_bool(j, "of_mask", tag->mask);
    json_uint(j, "tag", tag->number);
    json_text_or_null(j, "name", tz_tag_name(tag->number));
    for (int side = 0; side < 2; side++) {
        const char *key = side == 0 ? "a" : "b";
        const tz_tag *t = &tag->tags[side];
        if (!tag->present[side]) {
            json_null(j, key);
            continue;
        }
        json_object(j, key);
        json_uint(j, "type", t->type);
        json_uint(j, "count", t->count);
        if (tag_write(j, d->sides[side].file, t, &err) != TZ_OK)
            json_text(j, "error", err.message);
        json_object_end(j);
    }
    json_object_end(j);
}

static void write_tag_differences(json *j, const diff *d)
{
    json_object(j, "tags");
    json_bool(j, "equal", !(d->different & DIFF_TAGS));
    json_array(j, "differences");
    for (size_t i = 0; i < d->tag_count; i++)
        write_tag_difference(j, d, &d->tags[i]);
    json_array_end(j);
    json_object_end(j);
}

static void write_layout_differences(json *j, const diff *d)
{
    json_object(j, "layout");
    json_bool(j, "equal", !(d->different & DIFF_LAYOUT));
    write_facts(j, "differences", d, DIFF_LAYOUT);
    json_object_end(j);
}

static void write_part(json *j, const diff *d, unsigned part, const char *key,
                       void (*write)(json *, const diff *))
{
    if (d->settings->parts & part)
        write(j, d);
    else
        json_null(j, key);
}

void diff_write(const diff *d)
{
    json j;
    json_open(&j, stdout);
    json_object(&j, NULL);
    json_text(&j, "a", d->sides[0].path);
    json_text(&j, "b", d->sides[1].path);
    json_bool(&j, "equal", d->different == 0);
    write_part(&j, d, DIFF_PIXELS, "pixels", write_pixels);
    write_part(&j, d, DIFF_LAYOUT, "layout", write_layout_differences);
    write_part(&j, d, DIFF_TAGS, "tags", write_tag_differences);
    json_object_end(&j);
    json_close(&j);
}

void diff_write_error(const char *a, const char *b, const tz_error *err)
{
    json j;
    json_open(&j, stdout);
    json_object(&j, NULL);
    json_text(&j, "a", a);
    json_text(&j, "b", b);
    json_object(&j, "error");
    problem_write(&j, err);
    json_object_end(&j);
    json_object_end(&j);
    json_close(&j);
}
