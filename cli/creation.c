/* SPDX-License-Identifier: Apache-2.0
 * Creation options on the command line: --co KEY=VALUE, and their help. Names, values, suggestions
 * and refusals are the library's. */
#include "creation.h"

#include <stdio.h>
#include <string.h>

#include "options.h"
#include "terminal.h"

#define MAX_KEY 40

/* Setting -------------------------------------------------------------------------------------- */

/* Prints why an option was not accepted. Memory that ran out is not a mistake in what was typed: it
 * stays in *failed, and the command reports it. */
static bool refuse_option(const char *prefix, const tz_error *err, tz_error *failed)
{
    char message[sizeof err->message + 2];
    if (err->result == TZ_ERR_NOMEM) {
        *failed = *err;
        return true;
    }
    snprintf(message, sizeof message, "%s%s", prefix, err->message);
    term_error(message);
    return false;
}

bool creation_set(tz_creation *c, const char *text, tz_error *failed)
{
    char key[MAX_KEY + 1] = "";
    tz_error err;
    size_t size = strcspn(text, "=");
    if (text[size] == '\0') {
        term_usage("--co needs KEY=VALUE, not", text, "");
        return false;
    }
    if (size == 0 || size >= sizeof key) {
        term_usage("unknown creation option", text, "");
        return false;
    }
    memcpy(key, text, size);
    return tz_creation_set(c, key, text + size + 1, &err) == TZ_OK ||
           refuse_option("", &err, failed);
}

bool creation_set_profile(tz_creation *c, const char *name, tz_error *failed)
{
    tz_error err;
    return tz_creation_set_profile(c, name, &err) == TZ_OK || refuse_option("--", &err, failed);
}

bool creation_check(tz_creation *c, tz_error *failed)
{
    tz_error err;
    const tz_error *warning;
    tz_result result = tz_creation_check(c, &err);
    for (uint32_t i = 0; (warning = tz_creation_get_warning(c, i)) != NULL; i++)
        term_warning(warning->message, 1);
    return result == TZ_OK || refuse_option("", &err, failed);
}

/* Names ---------------------------------------------------------------------------------------- */

static char to_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c == '-' ? '_' : c;
}

const char *creation_key(const char *driver, const char *name, size_t size)
{
    const tz_creation_option *option;
    for (size_t i = 0; (option = tz_creation_option_get(driver, i)) != NULL; i++) {
        size_t same = 0;
        while (same < size && to_upper(name[same]) == option->name[same])
            same++;
        if (same == size && option->name[size] == '\0')
            return option->name;
    }
    return NULL;
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

void creation_print_help(const char *driver)
{
    const tz_creation_option *option;
    putchar('\n');
    term_put(TERM_HEADING, "Creation options");
    printf(", by the names of GDAL's %s driver, with defaults in brackets\n", driver);
    for (size_t i = 0; (option = tz_creation_option_get(driver, i)) != NULL; i++) {
        char values[250];
        char line[500];
        if (option->help == NULL)
            continue;
        bool has_default = option->default_value[0] != '\0';
        tz_creation_option_values(values, sizeof values, option);
        snprintf(line, sizeof line, "%s%s%s%s%s%s", values, has_default ? " [" : "",
                 option->default_value, has_default ? "]" : "", values[0] != '\0' ? ": " : "",
                 option->help);
        printf("  %-*s", HELP_COLUMN - 2, option->name);
        print_wrapped(line);
    }
}
