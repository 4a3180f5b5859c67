/* SPDX-License-Identifier: Apache-2.0
 * Creation options: --co KEY=VALUE, looked up in the tables of creation_table.c.
 *
 * A value becomes a number: itself, or that of a word of the option's list. creation_check.c then
 * checks that they go together, and convert_layout.c and convert_spec.c use them. Suggestions and
 * help are made from the same rows. An option that a driver lacks has GTiff's default, so that code
 * after parsing need not know the driver. */
#include "creation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

#include "creation_table.h"
#include "options.h"
#include "parse.h"
#include "terminal.h"
#include "text.h"

#define MAX_KEY   40
#define MAX_SHOWN 1e9 /* a larger maximum is not shown */

/* Names ---------------------------------------------------------------------------------------- */

static char to_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Compares the first size letters of a with all of b, without regard to case. */
static bool same_name(const char *a, size_t size, const char *b)
{
    if (strlen(b) != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (to_upper(a[i]) != to_upper(b[i]))
            return false;
    }
    return true;
}

static creation_id find_option(const creation_driver *driver, const char *name, size_t size)
{
    for (int id = 0; id < CO_COUNT; id++) {
        const char *known = driver->options[id].name;
        if (known != NULL && same_name(name, size, known))
            return (creation_id)id;
    }
    return CO_COUNT;
}

const char *creation_key(const creation_driver *driver, const char *name, size_t size)
{
    char key[MAX_KEY + 1];
    if (size >= sizeof key)
        return NULL;
    for (size_t i = 0; i < size; i++)
        key[i] = name[i] == '-' ? '_' : name[i];
    creation_id id = find_option(driver, key, size);
    return id != CO_COUNT ? driver->options[id].name : NULL;
}

static const creation_word *find_word(const creation_option *option, const char *text)
{
    const creation_word *word = option->words;
    while (word != NULL && word->text != NULL && !same_name(text, strlen(text), word->text))
        word++;
    return word != NULL && word->text != NULL ? word : NULL;
}

/* For suggest: the options that the driver has, without gaps. */
static const char *creation_option_name(const void *list, size_t index)
{
    const creation_driver *driver = list;
    for (int id = 0; id < CO_COUNT; id++) {
        if (driver->options[id].name != NULL && index-- == 0)
            return driver->options[id].name;
    }
    return NULL;
}

static const char *word_name(const void *list, size_t index)
{
    return ((const creation_word *)list)[index].text;
}

/* Suggestions compare in capitals. */
static const char *nearest_word(const char *text, size_t size,
                                const char *(*name)(const void *list, size_t index),
                                const void *list)
{
    char word[MAX_KEY + 1] = "";
    for (size_t i = 0; i < size && size < sizeof word; i++)
        word[i] = to_upper(text[i]);
    return suggest(word, name, list);
}

/* Values --------------------------------------------------------------------------------------- */

static bool parse_bits(creation *c, const char *text, double max)
{
    const char *at = text;
    uint64_t value;
    c->discard_count = 0;
    do {
        if (c->discard_count == CREATION_LIST || !parse_uint(&at, (uint64_t)max, &value))
            return false;
        c->discard[c->discard_count++] = (uint8_t)value;
    } while (parse_char(&at, ','));
    return *at == '\0';
}

static bool parse_number(const creation_option *option, const char *text, double *out)
{
    const char *at = text;
    bool whole = option->kind == CREATION_NUMBER;
    bool read = parse_real(&at, out) && *at == '\0' && isfinite(*out);
    return read && *out >= option->min && *out <= option->max &&
           (!whole || (floor(*out) == *out && strspn(text, "0123456789") == strlen(text)));
}

static bool add_domain(creation *c, const char *text)
{
    if (c->domain_count == CREATION_DOMAINS)
        return false;
    c->domains[c->domain_count++] = same_name(text, strlen(text), "_DEFAULT_") ? "" : text;
    return true;
}

static bool read_value(creation *c, creation_id id, const creation_option *option, const char *text)
{
    const creation_word *word = find_word(option, text);
    if (word != NULL)
        c->value[id] = word->value;
    if (word != NULL || option->kind == CREATION_WORD)
        return word != NULL;
    if (option->kind == CREATION_BITS)
        return parse_bits(c, text, option->max);
    if (option->kind == CREATION_TEXT)
        return add_domain(c, text);
    return parse_number(option, text, &c->value[id]);
}

/* Messages ------------------------------------------------------------------------------------- */

/* Prints the values that an option accepts: "1 to 12 or FAST". Leaves out refused words and second
 * names. */
static void list_values(const creation_option *option, char *buffer, size_t size)
{
    size_t used = 0;
    char min[TEXT_NUMBER];
    char max[TEXT_NUMBER];
    buffer[0] = '\0';
    bool is_number = option->kind == CREATION_NUMBER || option->kind == CREATION_REAL;
    text_double(min, option->min);
    if (is_number && option->max < MAX_SHOWN)
        used += (size_t)snprintf(buffer, size, "%s to %s", min, text_double(max, option->max));
    else if (is_number)
        used += (size_t)snprintf(buffer, size, "from %s on", min);
    for (const creation_word *word = option->words; word != NULL && word->text != NULL; word++) {
        bool known = word->refused != NULL;
        for (const creation_word *before = option->words; before != word; before++)
            known = known || before->value == word->value;
        if (!known && used < size)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     word->text);
    }
}

static bool refuse_value(const creation_option *option, const char *text, const char *reason)
{
    char before[MAX_KEY + 20];
    char after[256];
    snprintf(before, sizeof before, "%s cannot be", option->name);
    snprintf(after, sizeof after, ": %s", reason);
    term_usage(before, text, after);
    return false;
}

static bool wrong_value(const creation_option *option, const char *text)
{
    char before[MAX_KEY + 20];
    char values[250];
    const char *near =
        option->words != NULL ? nearest_word(text, strlen(text), word_name, option->words) : NULL;
    if (near != NULL) {
        snprintf(before, sizeof before, "%s cannot be", option->name);
        usage_unknown(before, text, "", near);
        return false;
    }
    if (option->kind == CREATION_BITS)
        return refuse_value(option, text,
                            "a number of bits, or one for each band with commas between");
    if (option->kind == CREATION_TEXT)
        return refuse_value(option, text, "it was given too often");
    list_values(option, values, sizeof values);
    return refuse_value(option, text, values);
}

static bool unknown_option(const creation_driver *driver, const char *text, size_t size)
{
    char name[MAX_KEY + 1] = "";
    if (size < sizeof name)
        memcpy(name, text, size);
    usage_unknown("unknown creation option", name[0] != '\0' ? name : text, "",
                  nearest_word(text, size, creation_option_name, driver));
    return false;
}

/* The whole ------------------------------------------------------------------------------------ */

/* An option that a driver lacks has GTiff's default. */
void creation_start(creation *c, const creation_driver *driver)
{
    const creation_driver *const drivers[] = {&creation_gtiff, driver};
    *c = (creation){.driver = driver};
    for (int i = 0; i < 2 * CO_COUNT; i++) {
        creation_id id = (creation_id)(i % CO_COUNT);
        const creation_option *option = &drivers[i / CO_COUNT]->options[id];
        if (option->name != NULL && option->normal[0] != '\0')
            (void)read_value(c, id, option, option->normal);
    }
}

static bool set_value(creation *c, creation_id id, const char *text)
{
    const creation_option *option = &c->driver->options[id];
    const creation_word *word = find_word(option, text);
    double normal = c->value[id];
    if (word != NULL && word->refused != NULL)
        return refuse_value(option, text, word->refused);
    if (option->refused != NULL && option->kind == CREATION_TEXT && word == NULL)
        return refuse_value(option, text, option->refused);
    if (!read_value(c, id, option, text))
        return wrong_value(option, text);
    if (option->refused != NULL && c->value[id] != normal)
        return refuse_value(option, text, option->refused);
    return true;
}

bool creation_set(creation *c, const char *text)
{
    size_t size = strcspn(text, "=");
    if (text[size] == '\0') {
        term_usage("--co needs KEY=VALUE, not", text, "");
        return false;
    }
    creation_id id = find_option(c->driver, text, size);
    if (id == CO_COUNT)
        return unknown_option(c->driver, text, size);
    if (c->given[id] && id != CO_SRC_MDD) {
        term_usage(c->driver->options[id].name, NULL, " is given twice");
        return false;
    }
    c->given[id] = true;
    return set_value(c, id, text + size + 1);
}

/* Profiles ------------------------------------------------------------------------------------- */

static const creation_word profiles[] = {{"jpeg", TZ_COMPRESSION_JPEG, NULL},
                                         {"webp", TZ_COMPRESSION_WEBP, NULL},
                                         {"zstd", TZ_COMPRESSION_ZSTD, NULL},
                                         {"lzw", TZ_COMPRESSION_LZW, NULL},
                                         {"deflate", TZ_COMPRESSION_DEFLATE, NULL},
                                         {"packbits", TZ_COMPRESSION_PACKBITS, NULL},
                                         {"lzma", TZ_COMPRESSION_LZMA, NULL},
                                         {"lerc", TZ_COMPRESSION_LERC, NULL},
                                         {"lerc_deflate", CREATION_LERC_DEFLATE, NULL},
                                         {"lerc_zstd", CREATION_LERC_ZSTD, NULL},
                                         {"raw", TZ_COMPRESSION_NONE, NULL},
                                         {NULL, 0, NULL}};
static const creation_option profile_option = {"--profile", profiles, CREATION_WORD, 0,   0,
                                               "",          0,        NULL,          NULL};

bool creation_set_profile(creation *c, const char *name)
{
    const creation_word *word = find_word(&profile_option, name);
    if (word == NULL) {
        const char *near = suggest(name, word_name, profiles); /* these are not in capitals */
        if (near == NULL)
            return wrong_value(&profile_option, name);
        usage_unknown("--profile cannot be", name, "", near);
        return false;
    }
    if (!c->given[CO_COMPRESS])
        c->value[CO_COMPRESS] = word->value;
    return true;
}

/* Help ----------------------------------------------------------------------------------------- */

/* Prints the second column, in lines that end between words. */
static void print_wrapped(const char *text)
{
    const size_t capacity = HELP_COLUMNS - HELP_COLUMN;
    size_t used = 0;
    while (*text != '\0') {
        size_t size = strcspn(text, " ");
        if (used > 0 && used + 1 + size > capacity) {
            printf("\n%*s", HELP_COLUMN, "");
            used = 0;
        }
        used += (size_t)printf("%s%.*s", used > 0 ? " " : "", (int)size, text);
        text += size + (text[size] == ' ');
    }
    putchar('\n');
}

void creation_print_help(const creation_driver *driver)
{
    putchar('\n');
    term_put(TERM_HEADING, "Creation options");
    printf(", by the names of GDAL's %s driver, with defaults in brackets\n", driver->name);
    for (int id = 0; id < CO_COUNT; id++) {
        const creation_option *option = &driver->options[id];
        char values[250];
        char line[500];
        if (option->text == NULL)
            continue;
        bool has_normal = option->normal[0] != '\0';
        list_values(option, values, sizeof values);
        snprintf(line, sizeof line, "%s%s%s%s%s%s", values, has_normal ? " [" : "", option->normal,
                 has_normal ? "]" : "", values[0] != '\0' ? ": " : "", option->text);
        printf("  %-*s", HELP_COLUMN - 2, option->name);
        print_wrapped(line);
    }
}
