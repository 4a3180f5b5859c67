/* SPDX-License-Identifier: Apache-2.0
 * Commands and their options. A command is described by one table of options; parsing, help and
 * suggestions are made from it. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_option {
    const char *name;  /* without the dashes */
    char letter;       /* 0: none */
    int id;            /* result of option_next; above 0 */
    const char *value; /* name of its value in help; NULL: it has none */
    const char *text;  /* description; \n ends a line of help */
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *arguments; /* such as "FILE..." */
    const char *summary;
    const char *examples;              /* lines of "command", a tab, "description" */
    const cli_option *options;         /* ended by a NULL name */
    int (*run)(int argc, char **argv); /* without the names of program and command */
    bool to_output;           /* its second argument is written to; '-' is standard output */
    bool takes_dash;          /* it checks '-' itself, in any position */
    const char *code_3;       /* meaning of exit code 3; NULL: not used */
    void (*print_more)(void); /* help after its options; NULL: none */
    /* Finds the creation option of a name that was typed as an option: any case, '-' for '_'. NULL:
     * the command has no creation options. */
    const char *(*creation_key)(const char *name, size_t size);
} cli_command;

/* Options of every command, for the end of its table. */
enum { OPTION_HELP = 1001, OPTION_QUIET, OPTION_VERBOSE, OPTION_COLOR };
/* clang-format off */
#define COMMON_OPTIONS                                                                             \
    {"quiet", 'q', OPTION_QUIET, NULL, "no warnings, no notes, no progress"},                                   \
    {"verbose", 'v', OPTION_VERBOSE, NULL, "report more and shorten nothing"},                                     \
    {"color", 0, OPTION_COLOR, "WHEN", "auto, always or never; auto: on a terminal, unless\n"      \
                                       "NO_COLOR is set or TERM is dumb"},                         \
    {"help", 'h', OPTION_HELP, NULL, "this text"},                                                 \
    {NULL, 0, 0, NULL, NULL}
/* clang-format on */

/* Returned by option_next besides an option's id. */
enum { OPTION_END = 0, OPTION_WRONG = -1 };

/* Reads options from argv and moves the other arguments to its front, in order. */
typedef struct option_parser {
    const cli_command *command;
    int argc;
    char **argv;
    int next;            /* argument to look at */
    int operand_count;   /* arguments that are not options, now argv[0] and so on */
    const char *letters; /* the rest of a group of short options; NULL: none */
    const char *value;   /* of the option that was returned */
    bool operands_only;  /* after -- */
    char joined[160];    /* the value, if it was several arguments */
} option_parser;
void option_start(option_parser *parser, const cli_command *command, int argc, char **argv);
/* Returns an option's id, OPTION_END, or OPTION_WRONG after a message. */
int option_next(option_parser *parser);

void option_print_help(const cli_command *command);
enum { HELP_COLUMN = 24, HELP_COLUMNS = 80 }; /* first and last of the second column */
/* Prints "Try 'terrazzo COMMAND -h'." on standard error. Returns EXIT_USAGE. */
int option_hint(const cli_command *command);

/* term_usage with "; did you mean '--NAME'?" when near is not NULL. */
int usage_unknown(const char *what, const char *word, const char *dashes, const char *near);

#endif
