/* SPDX-License-Identifier: Apache-2.0
 * Notes about files beside an image. A file that lies there unused is mentioned, since GDAL would
 * have used it. */
#include "sidecars.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "terminal.h"
#include "text.h"

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

enum { PAGES_NAMED = 8, NOTE_SIZE = 8192 };

/* One line that grows; text that does not fit is left out. */
typedef struct note {
    char text[NOTE_SIZE];
    size_t used;
} note;

static void append_text(note *n, const char *text)
{
    const size_t size = strlen(text);
    const size_t capacity = sizeof n->text - 1 - n->used;
    memcpy(n->text + n->used, text, size < capacity ? size : capacity);
    n->used += size < capacity ? size : capacity;
    n->text[n->used] = '\0';
}

/* Returns the TZ_SIDECAR_ bits of the files that were used. */
static uint32_t used_of(const tz_file *file)
{
    const tz_sidecar_use *use;
    uint32_t used = 0;
    for (uint32_t i = 0; (use = tz_file_get_sidecar(file, i)) != NULL; i++)
        used |= use->sidecar;
    return used;
}

/* Calls row for each file of these kinds that exists. */
static void each_file(const char *path, uint32_t kinds, void (*row)(void *user, const char *file),
                      void *user)
{
    for (uint32_t kind = TZ_SIDECAR_OVR; kind <= TZ_SIDECAR_WORLD; kind <<= 1) {
        char file[PATH_MAX];
        if ((kinds & kind) != 0 && tz_sidecar_get_path(file, sizeof file, path, kind))
            row(user, file);
    }
}

static void add_file(void *user, const char *file)
{
    note *n = user;
    if (n->used > 0)
        append_text(n, ", ");
    append_text(n, file);
}

/* Prints "PATH: not used: FILE, FILE" if there are any. */
static void note_unused(const char *path, uint32_t kinds, const char *why)
{
    static note files, line; /* too large for a small stack */
    files.used = line.used = 0;
    each_file(path, kinds, add_file, &files);
    if (files.used == 0)
        return;
    append_text(&line, path);
    append_text(&line, ": not used: ");
    append_text(&line, files.text);
    append_text(&line, why);
    term_note(line.text);
}

/* Prints "PATH: statistics, nodata from FILE". */
static void note_used(const char *path, const tz_sidecar_use *use)
{
    static note line;
    bool first = true;
    line.used = 0;
    append_text(&line, path);
    append_text(&line, ": ");
    for (uint32_t value = 1; value != 0 && value <= use->values; value <<= 1) {
        if (!(use->values & value))
            continue;
        append_text(&line, first ? "" : ", ");
        append_text(&line, tz_sidecar_value_name(value));
        first = false;
    }
    append_text(&line, " from ");
    append_text(&line, use->path);
    term_note(line.text);
}

void sidecars_note(const char *path, const tz_file *file, uint32_t asked)
{
    const tz_sidecar_use *use;
    for (uint32_t i = 0; (use = tz_file_get_sidecar(file, i)) != NULL; i++)
        note_used(path, use);
    note_unused(path, SIDECARS_ALL & ~asked, " (see --sidecars)");
    note_unused(path, asked & ~used_of(file), "");
}

void sidecars_note_unused(const char *path, uint32_t kinds)
{
    note_unused(path, kinds, "");
}

static void write_sidecar_name(void *user, const char *file)
{
    json_text(user, NULL, file);
}

void sidecars_write(json *j, const char *path, const tz_file *file)
{
    const tz_sidecar_use *use;
    json_object(j, "sidecars");
    json_array(j, "used");
    for (uint32_t i = 0; (use = tz_file_get_sidecar(file, i)) != NULL; i++) {
        json_object_row(j, NULL);
        json_text(j, "path", use->path);
        json_array(j, "values");
        for (uint32_t value = 1; value != 0 && value <= use->values; value <<= 1) {
            if (use->values & value)
                json_text(j, NULL, tz_sidecar_value_name(value));
        }
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
    json_array(j, "unused");
    each_file(path, SIDECARS_ALL & ~used_of(file), write_sidecar_name, j);
    json_array_end(j);
    json_object_end(j);
}

void pages_note_left_out(const char *path, const tz_file *file)
{
    const tz_info *info = tz_file_get_info(file);
    static note line;
    char text[64];
    uint32_t named = 0;
    const uint32_t others = info->page_count - 1;
    if (others == 0)
        return;
    line.used = 0;
    append_text(&line, path);
    snprintf(text, sizeof text, ": %" PRIu32 " further page%s left out:", others,
             others == 1 ? " is" : "s are");
    append_text(&line, text);
    for (uint32_t i = 0; i < info->page_count && named < PAGES_NAMED; i++) {
        const tz_page *page = tz_file_get_page(file, i);
        if (i == info->page)
            continue;
        snprintf(text, sizeof text, "%s %" PRIu32 " (%" PRIu32 " x %" PRIu32 ")",
                 named > 0 ? "," : "", i, page->width, page->height);
        append_text(&line, text);
        named++;
    }
    if (named < others)
        append_text(&line, ", ...");
    term_note(line.text);
}
