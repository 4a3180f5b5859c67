/* SPDX-License-Identifier: Apache-2.0
 * The report of validate: checks by class, with their findings; as a page and as JSON
 * (doc/validate.schema.json). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "page.h"
#include "problem.h"
#include "terminal.h"
#include "text.h"
#include "validate.h"

/* For people ----------------------------------------------------------------------------------- */

#define ID_COLUMNS 24

static void put_outcome(tz_check_outcome outcome, int width)
{
    static const char *const words[] = {"not applicable", "pass", "warning", "fail"};
    char word[TEXT_NUMBER];
    snprintf(word, sizeof word, "%-*s", width, words[outcome]);
    switch (outcome) {
    case TZ_CHECK_OUTCOME_FAIL:
    case TZ_CHECK_OUTCOME_WARNING:
        term_put(TERM_BAD, word);
        break;
    case TZ_CHECK_OUTCOME_PASS:
        term_put(TERM_GOOD, word);
        break;
    default:
        term_put(TERM_DIM, word);
        break;
    }
}

/* Returns the message without the name of the file, which the heading shows. */
static const char *without_name(const char *message, const char *path)
{
    const size_t size = strlen(path);
    const bool has_name =
        strncmp(message, path, size) == 0 && strncmp(message + size, ": ", 2) == 0;
    return has_name ? message + size + 2 : message;
}

static void print_findings(const tz_check *check, const char *path)
{
    uint64_t printed = 0;
    for (uint32_t i = 0; i < check->finding_count; i++) {
        const tz_error *found = &check->findings[i];
        char count[TEXT_NUMBER];
        printf("    ");
        text_put_string(stdout, without_name(found->message, path), 0);
        if (found->count > 1)
            printf(" (%s times)", text_count(count, found->count));
        putchar('\n');
        printed += found->count;
    }
    if (check->count > printed)
        printf("    and %" PRIu64 " more\n", check->count - printed);
}

static void print_check(const tz_check *check, const char *path)
{
    printf("  ");
    put_outcome(check->outcome, 16);
    printf("%-*s%s\n", ID_COLUMNS, check->id, check->text);
    if (check->note != NULL)
        printf("    %s\n", check->note);
    print_findings(check, path);
}

static void print_class(const tz_validation *validation, tz_check_class which, const char *title,
                        const char *path, bool verbose)
{
    uint32_t counts[4] = {0};
    char heading[64];
    snprintf(heading, sizeof heading, "%s: ", title);
    putchar('\n');
    term_put(TERM_HEADING, heading);
    put_outcome(tz_validation_get_class(validation, which), 0);
    for (uint32_t i = 0; i < validation->check_count; i++)
        if (tz_validation_get_check(validation, i)->check_class == which)
            counts[tz_validation_get_check(validation, i)->outcome]++;
    printf("  (%" PRIu32 " passed, %" PRIu32 " failed, %" PRIu32 " with warnings, %" PRIu32
           " not applicable)\n",
           counts[TZ_CHECK_OUTCOME_PASS], counts[TZ_CHECK_OUTCOME_FAIL],
           counts[TZ_CHECK_OUTCOME_WARNING], counts[TZ_CHECK_OUTCOME_NOT_APPLICABLE]);
    for (uint32_t i = 0; i < validation->check_count; i++) {
        const tz_check *check = tz_validation_get_check(validation, i);
        if (check->check_class == which && (verbose || check->outcome >= TZ_CHECK_OUTCOME_WARNING))
            print_check(check, path);
    }
}

static void print_conformance(const tz_validation *validation)
{
    static const char *const groups[] = {"format", "keys", "overviews", "optimized", "http-range"};
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        tz_check_outcome outcome = TZ_CHECK_OUTCOME_NOT_APPLICABLE;
        for (uint32_t k = 0; k < validation->check_count; k++) {
            const tz_check *check = tz_validation_get_check(validation, k);
            if (check->group != NULL && strcmp(check->group, groups[i]) == 0 &&
                check->outcome > outcome)
                outcome = check->outcome;
        }
        printf("  class %-*s", ID_COLUMNS - 6 + 16, groups[i]);
        put_outcome(outcome, 0);
        putchar('\n');
    }
}

void validate_print(const char *path, const tz_validation *validation, bool verbose)
{
    static const char *const titles[] = {"TIFF", "GeoTIFF", "OGC COG", "GDAL COG layout"};
    term_begin(TERM_TITLE);
    text_put_string(stdout, path, 0);
    term_end();
    putchar('\n');
    for (unsigned i = 0; i < TZ_CHECK_CLASS_COUNT; i++) {
        print_class(validation, (tz_check_class)i, titles[i], path, verbose);
        if (i == TZ_CHECK_CLASS_COG)
            print_conformance(validation);
    }
    putchar('\n');
    printf("%" PRIu64 " of %" PRIu64 " tiles looked at, %" PRIu64 " decoded\n",
           validation->tiles_looked_at, validation->tiles, validation->tiles_decoded);
    term_put(validation->valid ? TERM_GOOD : TERM_BAD, validation->valid ? "valid" : "not valid");
    printf("%s\n", validation->strict ? ", strictly" : "");
}

/* As JSON -------------------------------------------------------------------------------------- */

static void write_check(json *j, const tz_check *check)
{
    json_object(j, NULL);
    json_text(j, "id", check->id);
    json_text(j, "class", tz_check_class_name(check->check_class));
    json_text_or_null(j, "group", check->group);
    json_text(j, "outcome", tz_check_outcome_name(check->outcome));
    json_text(j, "text", check->text);
    json_text_or_null(j, "note", check->note);
    json_uint(j, "count", check->count);
    json_array(j, "findings");
    problem_write_each(j, check->findings, check->finding_count);
    json_array_end(j);
    json_object_end(j);
}

void validate_write(json *j, const char *path, const tz_validation *validation)
{
    json_object(j, NULL);
    json_text(j, "file", path);
    json_bool(j, "valid", validation->valid);
    json_bool(j, "strict", validation->strict);
    json_bool(j, "full", validation->full);
    json_bool(j, "opened", validation->opened);
    json_object_row(j, "classes");
    for (unsigned i = 0; i < TZ_CHECK_CLASS_COUNT; i++)
        json_text(j, tz_check_class_name((tz_check_class)i),
                  tz_check_outcome_name(tz_validation_get_class(validation, (tz_check_class)i)));
    json_object_end(j);
    json_object_row(j, "tiles");
    json_uint(j, "all", validation->tiles);
    json_uint(j, "looked_at", validation->tiles_looked_at);
    json_uint(j, "decoded", validation->tiles_decoded);
    json_object_end(j);
    json_array(j, "checks");
    for (uint32_t i = 0; i < validation->check_count; i++)
        write_check(j, tz_validation_get_check(validation, i));
    json_array_end(j);
    json_object_end(j);
}

void validate_write_error(json *j, const char *path, const tz_error *err)
{
    json_object(j, NULL);
    json_text(j, "file", path);
    json_object(j, "error");
    problem_write(j, err);
    json_object_end(j);
    json_object_end(j);
}
