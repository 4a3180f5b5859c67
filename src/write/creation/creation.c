/* SPDX-License-Identifier: Apache-2.0
 * Creation options by name, looked up in the tables of creation_table.c.
 *
 * A value becomes a number: itself, or that of a word of the option's list. tz_creation_check then
 * checks that all go together, and creation_spec.c and creation_layout.c use them. Suggestions,
 * refusals and help are made from the same rows. An option that a driver lacks has GTiff's default,
 * so that code after parsing need not know the driver.
 *
 * The decision that is not obvious: a failed call leaves the options as they were, so values are
 * set in a copy first. */
#include "write/creation/creation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "tiff/tags.h"

enum { MAX_KEY = 40, MAX_SHOWN_WORD = 60, MAX_VALUES_TEXT = 250 };
#define MAX_SHOWN_NUMBER 1e9 /* a larger maximum is not shown */

/* ---- names ---- */

static char to_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool same_name(const char *a, const char *b)
{
    while (*a && to_upper(*a) == to_upper(*b))
        a++, b++;
    return *a == *b;
}

static const tz_creation_driver *find_driver(const char *name)
{
    static const tz_creation_driver *const drivers[] = {&tz_creation_gtiff, &tz_creation_cog};
    for (size_t i = 0; name && i < sizeof drivers / sizeof drivers[0]; i++)
        if (same_name(name, drivers[i]->name))
            return drivers[i];
    return NULL;
}

static tz_creation_id find_option(const tz_creation_driver *driver, const char *name)
{
    for (int id = 0; id < CO_COUNT; id++) {
        const char *known = driver->rows[id].shown.name;
        if (known && same_name(name, known))
            return (tz_creation_id)id;
    }
    return CO_COUNT;
}

static const tz_creation_word *find_word(const tz_creation_row *row, const char *text)
{
    for (const tz_creation_word *word = row->words; word && word->text; word++)
        if (same_name(text, word->text))
            return word;
    return NULL;
}

/* For tz_nearest_name: the options that the driver has, without gaps. */
static const char *option_name(const void *list, size_t index)
{
    const tz_creation_driver *driver = list;
    for (int id = 0; id < CO_COUNT; id++)
        if (driver->rows[id].shown.name && index-- == 0)
            return driver->rows[id].shown.name;
    return NULL;
}

static const char *word_name(const void *list, size_t index)
{
    return ((const tz_creation_word *)list)[index].text;
}

/* Returns the name that is most like a text, which is compared in capitals as names are. */
static const char *nearest_name(const char *text,
                                const char *(*name)(const void *list, size_t index),
                                const void *list)
{
    char word[MAX_KEY + 1] = "";
    const size_t size = strlen(text);
    for (size_t i = 0; i < size && size < sizeof word; i++)
        word[i] = to_upper(text[i]);
    return tz_nearest_name(word, name, list);
}

/* ---- values ---- */

static bool parse_bits(tz_creation_values *values, const char *text, double max)
{
    const char *at = text;
    values->discard_count = 0;
    do {
        unsigned value = 0;
        if (values->discard_count == TZ_CREATION_BITS || !tz_is_digit(*at))
            return false;
        for (; tz_is_digit(*at) && value <= max; at++)
            value = value * 10 + (unsigned)(*at - '0');
        if (value > max)
            return false;
        values->discard[values->discard_count++] = (uint8_t)value;
    } while (*at++ == ',');
    return at[-1] == '\0';
}

static bool parse_number(const tz_creation_row *row, const char *text, double *out)
{
    const bool whole = row->kind == CREATION_NUMBER;
    const bool spaced = strpbrk(text, " \t\n\v\f\r") != NULL;
    return !spaced && tz_parse_double(text, out, NULL) && isfinite(*out) && *out >= row->min &&
           *out <= row->max && (!whole || strspn(text, "0123456789") == strlen(text));
}

static bool add_domain(tz_creation_values *values, const char *text)
{
    if (values->domain_count == TZ_CREATION_DOMAINS)
        return false;
    values->domains[values->domain_count++] = same_name(text, "_DEFAULT_") ? "" : text;
    return true;
}

/* text must outlive values. */
static bool read_value(tz_creation_values *values, tz_creation_id id, const tz_creation_row *row,
                       const char *text)
{
    const tz_creation_word *word = find_word(row, text);
    if (word)
        values->value[id] = word->value;
    if (word || row->kind == CREATION_WORD)
        return word != NULL;
    if (row->kind == CREATION_BITS)
        return parse_bits(values, text, row->max);
    if (row->kind == CREATION_TEXT)
        return add_domain(values, text);
    return parse_number(row, text, &values->value[id]);
}

/* An option that a driver lacks has GTiff's default. */
void tz_creation_set_defaults(tz_creation_values *values, const tz_creation_driver *driver)
{
    const tz_creation_driver *const drivers[] = {&tz_creation_gtiff, driver};
    *values = (tz_creation_values){.discard_count = 0};
    for (int i = 0; i < 2 * CO_COUNT; i++) {
        const tz_creation_id id = (tz_creation_id)(i % CO_COUNT);
        const tz_creation_row *row = &drivers[i / CO_COUNT]->rows[id];
        if (row->shown.name && row->shown.default_value[0] != '\0')
            (void)read_value(values, id, row, row->shown.default_value);
    }
}

/* ---- messages ---- */

/* A word of the caller in a message: control characters become escapes, and a long word is cut. */
typedef struct shown_word {
    char text[4 * MAX_SHOWN_WORD + 4]; /* characters of UTF-8 */
} shown_word;

/* Appends one character, with its escape if it is a control character. Returns its bytes in the
 * word. */
static size_t show_character(const char *word, char *out, size_t *columns)
{
    const unsigned char first = (unsigned char)word[0];
    size_t size = 1;
    if (first < 0x20 || first == 0x7f) {
        const char *letter = strchr("\nn\rr\tt", first);
        *columns = letter ? (size_t)sprintf(out, "\\%c", letter[1])
                          : (size_t)sprintf(out, "\\x%02x", first);
        return 1;
    }
    while (first >= 0xc0 && size < 4 && ((unsigned char)word[size] & 0xc0) == 0x80)
        size++;
    memcpy(out, word, size);
    out[size] = '\0';
    *columns = 1;
    return size;
}

/* Appends as many characters as fit max columns; returns whether that are all. */
static bool show_fitting(const char *word, size_t max, char *out)
{
    size_t used = 0;
    *out = '\0';
    while (*word) {
        char one[8];
        size_t columns;
        const size_t size = show_character(word, one, &columns);
        if (used + columns > max)
            return false;
        out += sprintf(out, "%s", one);
        used += columns;
        word += size;
    }
    return true;
}

static shown_word show_word(const char *word)
{
    shown_word shown;
    if (!show_fitting(word, MAX_SHOWN_WORD, shown.text)) {
        (void)show_fitting(word, MAX_SHOWN_WORD - 3, shown.text);
        strcat(shown.text, "...");
    }
    return shown;
}

/* Writes "1 to 12, FAST", without refused words and second names. */
size_t tz_creation_option_values(char *out, size_t size, const tz_creation_option *option)
{
    const tz_creation_row *row = (const tz_creation_row *)option;
    char text[MAX_VALUES_TEXT] = "", min[32], max[32];
    size_t used = 0;
    const bool is_number = row->kind == CREATION_NUMBER || row->kind == CREATION_REAL;
    (void)tz_format_double(row->min, min, sizeof min);
    (void)tz_format_double(row->max, max, sizeof max);
    if (is_number && row->max < MAX_SHOWN_NUMBER)
        used += (size_t)snprintf(text, sizeof text, "%s to %s", min, max);
    else if (is_number)
        used += (size_t)snprintf(text, sizeof text, "from %s on", min);
    for (const tz_creation_word *word = row->words; word && word->text; word++) {
        bool known = word->refused != NULL;
        for (const tz_creation_word *before = row->words; before != word; before++)
            known = known || before->value == word->value;
        if (!known && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "",
                                     word->text);
    }
    if (size > 0)
        (void)snprintf(out, size, "%s", text);
    return strlen(text);
}

static tz_result refuse_value(const tz_context *ctx, const tz_creation_row *row, const char *text,
                              const char *reason)
{
    return TZ_FAIL_ARG(ctx, "%s cannot be '%s': %s", row->shown.name, show_word(text).text, reason);
}

static tz_result suggest_value(const tz_context *ctx, const tz_creation_row *row, const char *text,
                               const char *near)
{
    return TZ_FAIL_ARG(ctx, "%s cannot be '%s'; did you mean '%s'?", row->shown.name,
                       show_word(text).text, near);
}

static tz_result fail_value(const tz_context *ctx, const tz_creation_row *row, const char *text)
{
    char values[MAX_VALUES_TEXT];
    if (row->kind == CREATION_BITS)
        return refuse_value(ctx, row, text,
                            "a number of bits, or one for each band with commas between");
    if (row->kind == CREATION_TEXT)
        return refuse_value(ctx, row, text, "it was given too often");
    (void)tz_creation_option_values(values, sizeof values, &row->shown);
    return refuse_value(ctx, row, text, values);
}

/* ---- the handle ---- */

tz_result tz_creation_create(tz_creation **out, const char *driver, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    const tz_creation_driver *found = find_driver(driver);
    if (!found)
        return TZ_FAIL_ARG(&ctx, "there is no driver '%s'; there are GTiff and COG",
                           driver ? show_word(driver).text : "");
    tz_creation *creation = tz_alloc_zeroed(1, sizeof *creation);
    if (!creation)
        return tz_fail_nomem(&ctx, sizeof *creation);
    creation->driver = found;
    tz_creation_set_defaults(&creation->set, found);
    creation->used = creation->set;
    *out = creation;
    return TZ_OK;
}

void tz_creation_free(tz_creation *creation)
{
    if (!creation)
        return;
    tz_arena_deinit(&creation->texts);
    tz_arena_deinit(&creation->applied);
    tz_free(creation->warnings);
    tz_free(creation);
}

/* Sets a value in values, or says why it cannot be. */
static tz_result set_value(tz_creation_values *values, tz_creation_id id,
                           const tz_creation_row *row, const char *text, const tz_context *ctx)
{
    const tz_creation_word *word = find_word(row, text);
    const double normal = values->value[id];
    if (word && word->refused)
        return refuse_value(ctx, row, text, word->refused);
    if (row->refused && row->kind == CREATION_TEXT && !word)
        return refuse_value(ctx, row, text, row->refused);
    if (!read_value(values, id, row, text)) {
        const char *near = row->words ? nearest_name(text, word_name, row->words) : NULL;
        return near ? suggest_value(ctx, row, text, near) : fail_value(ctx, row, text);
    }
    if (row->refused && values->value[id] != normal)
        return refuse_value(ctx, row, text, row->refused);
    values->given[id] = true;
    values->text[id] = text;
    return TZ_OK;
}

tz_result tz_creation_set(tz_creation *creation, const char *key, const char *value, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!creation || !key || !value)
        return TZ_FAIL_ARG(&ctx, "creation, key or value is NULL");
    const tz_creation_driver *driver = creation->driver;
    const tz_creation_id id = find_option(driver, key);
    if (id == CO_COUNT) {
        const char *near = nearest_name(key, option_name, driver);
        return near ? TZ_FAIL_ARG(&ctx, "unknown creation option '%s'; did you mean '%s'?",
                                  show_word(key).text, near)
                    : TZ_FAIL_ARG(&ctx, "unknown creation option '%s'", show_word(key).text);
    }
    if (creation->set.given[id] && id != CO_SRC_MDD)
        return TZ_FAIL_ARG(&ctx, "%s is given twice", driver->rows[id].shown.name);
    const char *text = tz_arena_text(&creation->texts, value, strlen(value));
    if (!text)
        return tz_fail_nomem(&ctx, strlen(value) + 1);
    tz_creation_values copy = creation->set;
    TZ_TRY(set_value(&copy, id, &driver->rows[id], text, &ctx));
    creation->set = copy;
    return TZ_OK;
}

/* COMPRESS wins, whichever is set first. The text of its value is that of the word for it. */
tz_result tz_creation_set_profile(tz_creation *creation, const char *name, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!creation || !name)
        return TZ_FAIL_ARG(&ctx, "creation or name is NULL");
    const tz_creation_row *profiles = &tz_creation_profiles;
    const tz_creation_word *profile = find_word(profiles, name);
    if (!profile) {
        const char *near = tz_nearest_name(name, word_name, profiles->words);
        return near ? suggest_value(&ctx, profiles, name, near) : fail_value(&ctx, profiles, name);
    }
    if (creation->set.given[CO_COMPRESS])
        return TZ_OK;
    const tz_creation_word *word = creation->driver->rows[CO_COMPRESS].words;
    while (word->value != profile->value)
        word++;
    creation->set.value[CO_COMPRESS] = word->value;
    creation->set.text[CO_COMPRESS] = word->text;
    return TZ_OK;
}

const char *tz_creation_get_value(const tz_creation *creation, const char *key)
{
    const tz_creation_id id = find_option(creation->driver, key);
    if (id == CO_COUNT)
        return NULL;
    const char *normal = creation->driver->rows[id].shown.default_value;
    return creation->set.text[id] ? creation->set.text[id] : normal[0] != '\0' ? normal : NULL;
}

const char *tz_creation_get_world_file(const tz_creation *creation)
{
    const double *value = creation->set.value;
    return value[CO_WORLDFILE] != 0 ? ".wld" : value[CO_TFW] != 0 ? ".tfw" : NULL;
}

const tz_creation_option *tz_creation_option_get(const char *driver, size_t index)
{
    const tz_creation_driver *found = find_driver(driver);
    for (int id = 0; found && id < CO_COUNT; id++)
        if (found->rows[id].shown.name && index-- == 0)
            return &found->rows[id].shown;
    return NULL;
}

/* ---- application ---- */

/* The caller's structs may be shorter or longer than ours. The memory of an earlier application is
 * released last: the caller's specification may point to it. */
tz_result tz_creation_apply(tz_creation *creation, tz_image_spec *spec, tz_write_options *options,
                            const tz_file *source, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_image_spec own_spec = TZ_IMAGE_SPEC_INIT;
    tz_write_options own_options = TZ_WRITE_OPTIONS_INIT;
    tz_arena arena = {.blocks = NULL};
    if (!creation || !spec || !options)
        return TZ_FAIL_ARG(&ctx, "creation, spec or options is NULL");
    TZ_TRY(tz_copy_struct(&own_spec, sizeof own_spec, spec, "spec", "TZ_IMAGE_SPEC_INIT", &ctx));
    TZ_TRY(tz_copy_struct(&own_options, sizeof own_options, options, "options",
                          "TZ_WRITE_OPTIONS_INIT", &ctx));
    TZ_TRY(tz_creation_check(creation, err));
    const tz_creation_job job = {.co = &creation->used,
                                 .cog = creation->driver == &tz_creation_cog,
                                 .spec = &own_spec,
                                 .options = &own_options,
                                 .source = source,
                                 .arena = &arena,
                                 .ctx = &ctx};
    tz_result result = tz_creation_apply_spec(&job);
    if (result == TZ_OK)
        result = tz_creation_apply_layout(&job);
    if (result == TZ_OK)
        result =
            tz_fill_struct(spec, &own_spec, sizeof own_spec, "spec", "TZ_IMAGE_SPEC_INIT", &ctx);
    if (result == TZ_OK)
        result = tz_fill_struct(options, &own_options, sizeof own_options, "options",
                                "TZ_WRITE_OPTIONS_INIT", &ctx);
    if (result != TZ_OK) {
        tz_arena_deinit(&arena);
        return result;
    }
    tz_arena_deinit(&creation->applied);
    creation->applied = arena;
    return TZ_OK;
}
