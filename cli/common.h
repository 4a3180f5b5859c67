/* SPDX-License-Identifier: Apache-2.0
 * The options that commands share, and their settings. */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include <terrazzo/terrazzo.h>

#include "options.h"

typedef struct common_settings {
    tz_open_options open;
    tz_limits limits;     /* of open, by common_parse */
    bool takes_all_pages; /* the command has --page all */
    bool all_pages;
    bool json;
    bool verbose;
} common_settings;

/* For the end of a command's table: options of opening files, then those of every command. */
enum { COMMON_PAGE = 2001, COMMON_SIDECARS, COMMON_STRICT, COMMON_LIMIT, COMMON_JSON };
/* clang-format off */
#define PAGE_OPTION(more)                                                                          \
    {"page", 0, COMMON_PAGE, "N", "take the N-th full-resolution image; 0 is the first" more}
#define OPENING_OPTIONS PAGE_OPTION(""), OTHER_OPENING_OPTIONS
#define OTHER_OPENING_OPTIONS                                                                      \
    {"sidecars", 0, COMMON_SIDECARS, NULL, "use FILE.ovr, .msk, .aux.xml and world files"},         \
    {"strict", 0, COMMON_STRICT, NULL, "every warning is an error"},                               \
    {"limit", 0, COMMON_LIMIT, "NAME=VALUE", "set a limit; K, M, G, T: each 1024 times the one\n"  \
                                             "before; 0 or off: no limit"}
/* clang-format on */

/* Applies an option of this header or of COMMON_OPTIONS. false when its value is wrong; then a
 * message was printed. */
bool common_apply(common_settings *settings, int id, const char *value);

/* Parses all options of a command; apply gets its own ones, with ids below 1000. Returns the number
 * of operands, now at the front of argv, or -1 when the command ends here with *status. */
int common_parse(const cli_command *command, int argc, char **argv, common_settings *common,
                 bool (*apply)(void *settings, int id, const char *value), void *settings,
                 int *status);

/* Prints the message for a wrong number of operands. Returns EXIT_USAGE. */
int common_wrong_operands(const cli_command *command, const char *message, const char *word);

#endif
