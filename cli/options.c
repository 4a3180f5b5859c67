/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "terminal.h"

#define LONGEST_NAME    40 /* of commands, options and limits */
#define EXAMPLE_COLUMNS 44

/* Suggestions ---------------------------------------------------------------------------------- */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many letters must be added, removed, replaced or swapped with a neighbour. Both at most
 * LONGEST_NAME letters. */
static unsigned edit_distance(const char *a, const char *b)
{
    unsigned rows[3][LONGEST_NAME + 1];
    size_t b_size = strlen(b);
    for (unsigned i = 0; i <= b_size; i++)
        rows[0][i] = i;
    size_t a_size = strlen(a);
    for (size_t y = 1; y <= a_size; y++) {
        unsigned *row = rows[y % 3];
        const unsigned *above = rows[(y + 2) % 3];
        const unsigned *above2 = rows[(y + 1) % 3];
        row[0] = (unsigned)y;
        for (size_t x = 1; x <= b_size; x++) {
            unsigned differs = a[y - 1] != b[x - 1];
            row[x] = least(least(row[x - 1], above[x]) + 1, above[x - 1] + differs);
            if (y > 1 && x > 1 && a[y - 1] == b[x - 2] && a[y - 2] == b[x - 1])
                row[x] = least(row[x], above2[x - 2] + 1);
        }
    }
    return rows[a_size % 3][b_size];
}

/* A beginning is near, whatever is missing. */
static unsigned distance(const char *word, size_t word_size, const char *name)
{
    if (word_size >= 2 && strncmp(word, name, word_size) == 0)
        return 1;
    return strlen(name) > LONGEST_NAME ? LONGEST_NAME : edit_distance(word, name);
}

const char *suggest(const char *word, const char *(*name)(const void *list, size_t index),
                    const void *list)
{
    size_t word_size = strnlen(word, LONGEST_NAME + 1);
    if (word_size == 0 || word_size > LONGEST_NAME)
        return NULL;
    const char *nearest = NULL;
    unsigned best = word_size < 3 ? 2 : (unsigned)word_size / 3 + 2; /* one less is still near */
    for (size_t i = 0; name(list, i) != NULL; i++) {
        unsigned found = distance(word, word_size, name(list, i));
        if (found < best) {
            best = found;
            nearest = name(list, i);
        }
    }
    return nearest;
}

int usage_unknown(const char *what, const char *word, const char *dashes, const char *near)
{
    char after[LONGEST_NAME + 40] = "";
    if (near != NULL)
        snprintf(after, sizeof after, "; did you mean '%s%s'?", dashes, near);
    return term_usage(what, word, after);
}

static const char *option_name(const void *list, size_t index)
{
    return ((const cli_option *)list)[index].name;
}

/* Parsing -------------------------------------------------------------------------------------- */

void option_start(option_parser *parser, const cli_command *command, int argc, char **argv)
{
    *parser = (option_parser){.command = command, .argc = argc, .argv = argv};
}

static const cli_option *find_letter(const cli_option *option, char letter)
{
    while (option->name != NULL && option->letter != letter)
        option++;
    return option->name != NULL ? option : NULL;
}

static const cli_option *find_name(const cli_option *option, const char *name, size_t size)
{
    while (option->name != NULL &&
           (strlen(option->name) != size || memcmp(option->name, name, size) != 0))
        option++;
    return option->name != NULL ? option : NULL;
}

/* The value of an option that needs one and has none attached: the next argument. */
static int take_value(option_parser *parser, const cli_option *option, const char *shown)
{
    if (option->value == NULL)
        return option->id;
    if (parser->next >= parser->argc) {
        term_usage("option", shown, " needs a value");
        return OPTION_WRONG;
    }
    parser->value = parser->argv[parser->next++];
    return option->id;
}

static int parse_letter(option_parser *parser)
{
    char shown[3] = {'-', *parser->letters++, '\0'};
    if (*parser->letters == '\0')
        parser->letters = NULL;
    const cli_option *option = find_letter(parser->command->options, shown[1]);
    if (option == NULL) {
        usage_unknown("unknown option", shown, "", NULL);
        return OPTION_WRONG;
    }
    if (option->value == NULL || parser->letters == NULL)
        return take_value(parser, option, shown);
    parser->value = parser->letters; /* as in -j8 */
    parser->letters = NULL;
    return option->id;
}

static int unknown_name(const option_parser *parser, const char *word, size_t size)
{
    char name[LONGEST_NAME + 1] = "";
    if (size <= LONGEST_NAME)
        memcpy(name, word + 2, size);
    usage_unknown("unknown option", word, "--",
                  suggest(name, option_name, parser->command->options));
    return OPTION_WRONG;
}

static int parse_name(option_parser *parser, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t size = equals != NULL ? (size_t)(equals - word - 2) : strlen(word + 2);
    const cli_option *option = find_name(parser->command->options, word + 2, size);
    if (option == NULL)
        return unknown_name(parser, word, size);
    if (equals == NULL)
        return take_value(parser, option, word);
    if (option->value == NULL) {
        term_usage("option", word, " takes no value");
        return OPTION_WRONG;
    }
    parser->value = equals + 1;
    return option->id;
}

/* One argument; OPTION_END when it was no option. */
static int parse_word(option_parser *parser, char *word)
{
    const cli_command *command = parser->command;
    bool takes_dash = command->takes_dash || (command->to_output && parser->operand_count == 1);
    if (strcmp(word, "-") == 0 && !takes_dash) {
        term_usage("cannot read", word,
                   " (standard input): a TIFF is read in any order; for a file of that name, "
                   "write './-'");
        return OPTION_WRONG;
    }
    if (parser->operands_only || word[0] != '-' || word[1] == '\0') {
        parser->argv[parser->operand_count++] = word;
        return OPTION_END;
    }
    if (strcmp(word, "--") == 0) {
        parser->operands_only = true;
        return OPTION_END;
    }
    if (word[1] == '-')
        return parse_name(parser, word);
    parser->letters = word + 1;
    return parse_letter(parser);
}

int option_next(option_parser *parser)
{
    parser->value = NULL;
    if (parser->letters != NULL)
        return parse_letter(parser);
    while (parser->next < parser->argc) {
        int result = parse_word(parser, parser->argv[parser->next++]);
        if (result != OPTION_END)
            return result;
    }
    return OPTION_END;
}

/* Help ----------------------------------------------------------------------------------------- */

static void print_examples(const char *line)
{
    while (*line != '\0') {
        size_t command = strcspn(line, "\t");
        size_t all = strcspn(line, "\n");
        printf("  %-*.*s%.*s\n", EXAMPLE_COLUMNS, (int)command, line, (int)(all - command - 1),
               line + command + 1);
        line += all + (line[all] == '\n');
    }
}

static void print_option(const cli_option *option)
{
    char left[HELP_COLUMN * 2];
    int size = snprintf(
        left, sizeof left, "  %c%c%s--%s%s%s", option->letter != 0 ? '-' : ' ',
        option->letter != 0 ? option->letter : ' ', option->letter != 0 ? ", " : "  ", option->name,
        option->value != NULL ? " " : "", option->value != NULL ? option->value : "");
    if (size >= HELP_COLUMN)
        printf("%s\n%*s", left, HELP_COLUMN, "");
    else
        printf("%-*s", HELP_COLUMN, left);
    for (const char *c = option->text; *c != '\0'; c++) {
        putchar(*c);
        if (*c == '\n')
            printf("%*s", HELP_COLUMN, "");
    }
    putchar('\n');
}

void option_print_help(const cli_command *command)
{
    term_put(TERM_TITLE, "terrazzo ");
    term_put(TERM_TITLE, command->name);
    printf(": %s\n\n", command->summary);
    term_put(TERM_HEADING, "Examples");
    putchar('\n');
    print_examples(command->examples);
    putchar('\n');
    term_put(TERM_HEADING, "Usage");
    printf("\n  terrazzo %s [OPTION]... %s\n", command->name, command->arguments);
    printf("  After --, arguments that start with '-' are files too.\n\n");
    term_put(TERM_HEADING, "Options");
    putchar('\n');
    for (const cli_option *option = command->options; option->name != NULL; option++)
        print_option(option);
    if (command->print_more != NULL)
        command->print_more();
    printf("\nExit code: 0 all went well, 1 something failed, 2 the command line is wrong%s%s.\n",
           command->code_3 != NULL ? ",\n3 " : "", command->code_3 != NULL ? command->code_3 : "");
}

int option_hint(const cli_command *command)
{
    fprintf(stderr, "Try 'terrazzo %s -h'.\n", command->name);
    return EXIT_USAGE;
}
