/* SPDX-License-Identifier: Apache-2.0
 * One line of text out of the fields of an error. Names and texts may come from a hostile file and
 * end up on a terminal, so all that is not a printable character of valid UTF-8 becomes '?'. The
 * end of the line (what was expected, where, what to do) is kept even when the text in front is too
 * long. */
#define _POSIX_C_SOURCE 200809L /* strnlen, the int strerror_r */
#include "base/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

enum { MAX_NAME_BYTES = 200 }; /* longer names keep their end: it tells files apart */

/* A message that grows at its end and never beyond its size. */
typedef struct message_line {
    char *text;
    size_t used;
    size_t size; /* with the closing NUL */
} message_line;

/* ---------------------------------------------------------------------------------------------
 * Characters
 * ------------------------------------------------------------------------------------------ */

/* Controls, line ends and marks that turn the direction of writing: they would let a file's text
 * look like something else than a part of this line. */
static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

/* The size without a character that was cut in two at the end. */
static size_t size_of_whole_characters(const char *text, size_t size)
{
    for (size_t back = 1; back <= 4 && back <= size; back++) {
        unsigned char byte = (unsigned char)text[size - back];
        if (!tz_utf8_is_continuation(byte))
            return tz_utf8_length(byte) > back ? size - back : size;
    }
    return size;
}

/* ---------------------------------------------------------------------------------------------
 * Lines
 * ------------------------------------------------------------------------------------------ */

static void append_bytes(message_line *out, const char *text, size_t size)
{
    const unsigned char *at = (const unsigned char *)text;
    const unsigned char *end = at + size;
    while (at < end) {
        uint32_t code;
        size_t length = tz_utf8_decode(at, (size_t)(end - at), &code);
        bool shown = length > 0 && !is_control(code);
        size_t written = shown ? length : 1;
        if (written >= out->size - out->used)
            break;
        if (shown)
            memcpy(out->text + out->used, at, length);
        else
            out->text[out->used] = '?';
        out->used += written;
        at += length > 0 ? length : 1;
    }
    out->text[out->used] = '\0';
}

static void append_text(message_line *out, const char *text)
{
    append_bytes(out, text, strlen(text));
}

static void append_va_list(message_line *out, const char *format, va_list args)
{
    char text[sizeof(((tz_error *)0)->message)];
    int length = vsnprintf(text, sizeof text, format, args);
    if (length < 0) /* an argument that cannot be shown: say at least this much */
        append_text(out, format);
    else if ((size_t)length < sizeof text)
        append_bytes(out, text, (size_t)length);
    else
        append_bytes(out, text, size_of_whole_characters(text, sizeof text - 1));
}

static void append_format(message_line *out, const char *format, ...) TZ_PRINTF(2, 3);
static void append_format(message_line *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append_va_list(out, format, args);
    va_end(args);
}

/* ---------------------------------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------------------------------ */

static void append_file_name(message_line *out, const char *name)
{
    size_t size = strlen(name);
    if (size > MAX_NAME_BYTES) {
        name += size - MAX_NAME_BYTES;
        while (tz_utf8_is_continuation((unsigned char)*name))
            name++;
        append_text(out, "...");
    }
    append_text(out, name);
    append_text(out, ": ");
}

static void append_file_and_directory(message_line *out, const char *name, int32_t ifd)
{
    if (name)
        append_file_name(out, name);
    if (ifd >= 0)
        append_format(out, "IFD %" PRId32 ": ", ifd);
}

static void append_location(message_line *out, const tz_error *error, const char *tag_name)
{
    if (error->tag >= 0 && tag_name)
        append_format(out, "tag %" PRId32 " (%s): ", error->tag, tag_name);
    else if (error->tag >= 0)
        append_format(out, "tag %" PRId32 ": ", error->tag);
    if (error->level >= 0)
        append_format(out, "level %" PRId32 ": ", error->level);
    else if (error->level != -1) /* TZ_MASK_OF */
        append_format(out, "mask of level %" PRIu32 ": ", (uint32_t)error->level & 0x7fffffffu);
    if (error->tile >= 0)
        append_format(out, "tile %" PRId64 ": ", error->tile);
}

static void append_values(message_line *out, const tz_error *error)
{
    const char *word = error->limit ? "limit" : "expected";
    if (error->expected != TZ_NONE && error->found != TZ_NONE)
        append_format(out, " (%s %" PRIu64 ", found %" PRIu64 ")", word, error->expected,
                      error->found);
    else if (error->expected != TZ_NONE)
        append_format(out, " (%s %" PRIu64 ")", word, error->expected);
    else if (error->found != TZ_NONE)
        append_format(out, " (found %" PRIu64 ")", error->found);
}

static void append_system_error(message_line *out, int error_number)
{
    char text[128];
    if (strerror_r(error_number, text, sizeof text) == 0)
        append_format(out, ": %s", text);
    else
        append_format(out, ": error %d", error_number);
}

static void append_ending(message_line *out, const tz_error *error)
{
    if (error->system_error != 0)
        append_system_error(out, error->system_error);
    append_values(out, error);
    if (error->offset != TZ_NONE)
        append_format(out, " at byte %" PRIu64, error->offset);
    if (error->limit)
        append_format(out, "; raise tz_limits.%s (--limit %s=N)", error->limit, error->limit);
}

void tz_message_make(tz_error *error, const char *name, const char *tag_name, const char *format,
                     va_list args)
{
    char end_text[sizeof error->message / 2];
    message_line end = {end_text, 0, sizeof end_text};
    end_text[0] = '\0';
    append_ending(&end, error);

    message_line out = {error->message, 0, sizeof error->message - end.used};
    append_file_and_directory(&out, name, error->ifd);
    append_location(&out, error, tag_name);
    append_va_list(&out, format, args);
    out.size = sizeof error->message;
    append_text(&out, end_text);
}

void tz_message_prefix(tz_error *error, const char *name, const char *text)
{
    char message[sizeof error->message];
    message_line out = {message, 0, sizeof message};
    append_file_and_directory(&out, name, error->ifd);
    /* The text may be another program's, and not even end. */
    append_bytes(&out, text, strnlen(text, sizeof message));
    memcpy(error->message, message, sizeof message);
}
