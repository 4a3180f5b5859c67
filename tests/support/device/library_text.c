/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/library_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct kept_text {
    struct kept_text *next;
    char text[];
} kept_text;

static const char *keep_text(const char *text)
{
    static kept_text *kept;
    for (const kept_text *at = kept; at; at = at->next) {
        if (strcmp(at->text, text) == 0)
            return at->text;
    }
    kept_text *made = malloc(sizeof *made + strlen(text) + 1);
    if (!made)
        abort();
    strcpy(made->text, text);
    made->next = kept;
    kept = made;
    return made->text;
}

const char *library_text(const char *name, const char *path)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    library_set(&how, name, path);
    return how.libraries;
}

/* Where the entry of a name begins; NULL: there is none. */
static const char *entry_of(const tz_device_options *how, const char *name)
{
    const size_t length = strlen(name);
    const char *at = how->libraries ? how->libraries : "";
    while (*at && (strncmp(at, name, length) != 0 || at[length] != '=')) {
        at += strcspn(at, ";");
        at += *at == ';';
    }
    return *at ? at : NULL;
}

bool library_is_set(const tz_device_options *how, const char *name)
{
    return entry_of(how, name) != NULL;
}

void library_set(tz_device_options *how, const char *name, const char *path)
{
    char text[8192];
    const char *all = how->libraries ? how->libraries : "";
    const char *old = entry_of(how, name);
    if (!path)
        return;
    const size_t before = old ? (size_t)(old - all) : strlen(all);
    const char *after = old ? old + strcspn(old, ";") : "";
    const char *separator = before > 0 && all[before - 1] != ';' ? ";" : "";
    if (snprintf(text, sizeof text, "%.*s%s%s=%s%s", (int)before, all, separator, name, path,
                 after) >= (int)sizeof text)
        abort();
    how->libraries = keep_text(text);
}

void library_set_others_unused(tz_device_options *how)
{
    static const char *const names[] = {"nvcomp", "cufile", "nvjpeg2k", "nvjpeg"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!library_is_set(how, names[i]))
            library_set(how, names[i], "");
    }
}
