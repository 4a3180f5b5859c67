/* SPDX-License-Identifier: Apache-2.0
 * Standard output and standard error. Output is buffered in static memory, and failures are
 * reported once, at the end: a full disk or a closed pipe must not look like success. */
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text.h"

#define WORD_COLUMNS 60

static struct {
    bool out_color;
    bool err_color;
    bool quiet;
    char buffer[1 << 16]; /* of stdout, so that printing does not allocate */
} term;

/* Set-up --------------------------------------------------------------------------------------- */

/* If the process starts with this descriptor closed, the next file would get its number. Occupies
 * it with one that cannot be used, so that writing to it still fails. */
static void occupy_descriptor(int fd, int flags)
{
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF)
        return;
    int got = open("/dev/null", flags);
    if (got != fd && got >= 0)
        close(got);
}

/* Returns true for a terminal that understands escape sequences. */
static bool is_capable(FILE *stream)
{
    const char *kind = getenv("TERM");
    return kind != NULL && strcmp(kind, "dumb") != 0 && isatty(fileno(stream)) == 1;
}

static bool wants_color(FILE *stream)
{
    const char *no_color = getenv("NO_COLOR");
    return (no_color == NULL || no_color[0] == '\0') && is_capable(stream);
}

void term_open(void)
{
    occupy_descriptor(0, O_WRONLY);
    occupy_descriptor(1, O_RDONLY);
    occupy_descriptor(2, O_RDONLY);
    signal(SIGPIPE, SIG_DFL);
    setvbuf(stdout, term.buffer, _IOFBF, sizeof term.buffer);
    (void)term_set_color("auto");
}

bool term_set_color(const char *mode)
{
    bool always = strcmp(mode, "always") == 0;
    bool automatic = strcmp(mode, "auto") == 0;
    if (!always && !automatic && strcmp(mode, "never") != 0)
        return false;
    term.out_color = always || (automatic && wants_color(stdout));
    term.err_color = always || (automatic && wants_color(stderr));
    return true;
}

void term_set_quiet(void)
{
    term.quiet = true;
}

bool term_has_color(void)
{
    return term.out_color;
}

bool term_size(uint32_t *columns, uint32_t *rows)
{
    struct winsize size;
    if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
        size.ws_col == 0 || size.ws_row == 0)
        return false;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return true;
}

bool term_shows_progress(void)
{
    return !term.quiet && is_capable(stderr);
}

bool term_is_broken(void)
{
    return ferror(stdout) != 0;
}

int term_close(int status)
{
    errno = 0;
    bool failed = fflush(stdout) != 0;
    int reason = errno;
    if (!failed && !ferror(stdout))
        return status;
    fprintf(stderr, "error: cannot write to standard output%s%s\n", reason != 0 ? ": " : "",
            reason != 0 ? strerror(reason) : "");
    return EXIT_FAILED;
}

/* Colour --------------------------------------------------------------------------------------- */

void term_begin(term_style style)
{
    static const char *const codes[] = {"1", "1;36", "2", "32", "33"};
    if (term.out_color)
        printf("\x1b[%sm", codes[style]);
}

void term_end(void)
{
    if (term.out_color)
        fputs("\x1b[0m", stdout);
}

void term_put(term_style style, const char *text)
{
    term_begin(style);
    fputs(text, stdout);
    term_end();
}

/* Messages ------------------------------------------------------------------------------------- */

static void begin_message(const char *kind, const char *color)
{
    fflush(stdout); /* results come before messages about them */
    if (term.err_color)
        fprintf(stderr, "\x1b[%sm%s:\x1b[0m ", color, kind);
    else
        fprintf(stderr, "%s: ", kind);
}

void term_error(const char *message)
{
    begin_message("error", "1;31");
    text_put_string(stderr, message, 0);
    fputc('\n', stderr);
}

void term_warning(const char *message, uint64_t count)
{
    if (term.quiet)
        return;
    begin_message("warning", "1;33");
    text_put_string(stderr, message, 0);
    if (count > 1)
        fprintf(stderr, " (%" PRIu64 " times)", count);
    fputc('\n', stderr);
}

void term_note(const char *message)
{
    if (term.quiet)
        return;
    begin_message("note", "1");
    text_put_string(stderr, message, 0);
    fputc('\n', stderr);
}

int term_usage(const char *before, const char *word, const char *after)
{
    begin_message("error", "1;31");
    fputs(before, stderr);
    if (word != NULL) {
        fputs(" '", stderr);
        text_put_string(stderr, word, WORD_COLUMNS);
        fputs("'", stderr);
    }
    fprintf(stderr, "%s\n", after);
    return EXIT_USAGE;
}
