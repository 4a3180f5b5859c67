/* SPDX-License-Identifier: Apache-2.0
 * Command lines and help, made from the table of options that each command has.
 *
 * option_next looks at one argument at a time: a long option, a group of letters, or an operand,
 * which moves to the front of argv. An unknown word is looked up among the spellings of GDAL and
 * rio-cogeo, then compared with all known names by edit distance, so that the message can say what
 * to write instead. A word with one dash is taken apart only if all of its letters are options:
 * "-json" must not become "-j" with the value "son". */
#include "options.h"

#include <stdio.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

#include "terminal.h"

#define MAX_NAME        40 /* of commands, options and limits */
#define EXAMPLE_COLUMNS 44
#define SHOWN_VALUE     24 /* bytes of a value in an answer, with the NUL */

/* Suggestions ---------------------------------------------------------------------------------- */

int usage_unknown(const char *what, const char *word, const char *dashes, const char *near)
{
    char after[MAX_NAME + 40] = "";
    if (near != NULL)
        snprintf(after, sizeof after, "; did you mean '%s%s'?", dashes, near);
    return term_usage(what, word, after);
}

static const char *command_option_name(const void *list, size_t index)
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

/* Uses the next argument as the value, if the option needs one. */
static int read_value_argument(option_parser *parser, const cli_option *option, const char *shown)
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
    if (option->value == NULL || parser->letters == NULL)
        return read_value_argument(parser, option, shown);
    parser->value = parser->letters; /* as in -j8 */
    parser->letters = NULL;
    return option->id;
}

/* Parses an option by its name. equals is the '=' in word before a value; NULL: there is none. */
static int parse_named(option_parser *parser, const cli_option *option, const char *word,
                       const char *equals)
{
    if (equals == NULL)
        return read_value_argument(parser, option, word);
    if (option->value == NULL) {
        term_usage("option", word, " takes no value");
        return OPTION_WRONG;
    }
    parser->value = equals + 1;
    return option->id;
}

/* Spellings of other programs ------------------------------------------------------------------ */

/* A spelling of GDAL or rio-cogeo, for the commands of a list (NULL: for any) that have its option,
 * if it names one. Numbers in join stand for the arguments after it, which become one value. '*' in
 * an answer stands for the value that was typed. */
typedef struct foreign_spelling {
    const char *word;
    const char *commands;
    const char *option; /* means this one */
    const char *join;   /* of several arguments; NULL: its value is one */
    const char *write;  /* "write 'WRITE'" */
    const char *cannot; /* "COMMAND cannot ... yet" */
    const char *answer; /* anything else */
} foreign_spelling;

static const char readers[] = "read plan";
static const char writers[] = "convert cog";
static const char planner[] = "plan-cog";

/* clang-format off */
static const foreign_spelling foreign[] = {
    {"-co", NULL, .option = "co"},
    {"-json", NULL, .option = "json"},
    {"-stats", NULL, .option = "stats"},
    {"-stats", "info", .answer = "info reads no pixels, 'terrazzo convert --stats' computes them"},
    {"-mdd", "info", .answer = "all domains are shown, and '--verbose' shortens nothing"},
    {"-of", NULL, .option = "format"},
    {"-of", "convert", .answer = "convert always writes GeoTIFF; 'terrazzo cog' writes a COG"},
    {"-of", "cog", .answer = "cog always writes a COG; 'terrazzo convert' writes other GeoTIFF"},
    {"-sds", writers, .write = "--page all"},
    {"-ot", NULL, .option = "dtype"},
    {"-b", NULL, .option = "bands"},
    {"-srcwin", NULL, .option = "window", .join = "1,2,3,4"},
    {"-projwin", NULL, .option = "bbox", .join = "1,4,3,2"},
    {"-te", NULL, .option = "bbox", .join = "1,2,3,4"},
    {"-projwin_srs", NULL, .option = "bbox-crs"},
    {"-te_srs", NULL, .option = "bbox-crs"},
    {"-outsize", NULL, .option = "size", .join = "1x2"},
    {"-tr", NULL, .option = "res", .join = "1,2"},
    {"-tr", readers, .write = "--size WxH"},
    {"-r", NULL, .option = "resampling"},
    {"-r", planner, .write = "--co RESAMPLING=*"},
    {"-a_nodata", NULL, .option = "nodata"},
    {"-a_srs", NULL, .option = "crs"},
    {"-a_ullr", NULL, .option = "bounds", .join = "1,4,3,2"},
    {"-a_gt", NULL, .option = "transform", .join = "1,2,3,4,5,6"},
    {"-gcp", "convert cog plan-cog", .write = "--gcp COLUMN,ROW,X,Y"},
    {"-mo", NULL, .option = "tag"},
    {"-mask", NULL, .option = "mask-from"},
    {"-scale", writers, .write = "--scale SMIN,SMAX,DMIN,DMAX' or '--scale auto"},
    {"-unscale", readers, .write = "--scaled"},
    {"-unscale", writers, .cannot = "apply scales and offsets"},
    {"-expand", writers, .cannot = "expand palettes"},
    {"-colorinterp", writers, .cannot = "change colours"},
    {"-b", planner, .cannot = "pick bands"},
    {"-srcwin", planner, .cannot = "cut"},
    {"-projwin", planner, .cannot = "cut"},
    {"-projwin_srs", planner, .cannot = "cut"},
    {"-te", planner, .cannot = "cut"},
    {"-te_srs", planner, .cannot = "cut"},
    {"-outsize", planner, .cannot = "resample"},
    {"-tr", planner, .cannot = "resample"},
    {"-scale", planner, .cannot = "scale values"},
    {"-t_srs", "convert cog plan-cog", .answer = "the image keeps its own grid; nothing is reprojected"},
    {"--web-optimized", "convert cog plan-cog", .answer = "the image keeps its own grid; nothing is reprojected"},
    {"--cog-profile", "cog plan-cog", .write = "--profile NAME"},
    {"--overview-level", "cog plan-cog", .write = "--co OVERVIEW_COUNT=*"},
    {"--tiled", "convert", .write = "--co TILED=YES"},
    {"--blocksize", "convert", .write = "--co TILED=YES --co BLOCKXSIZE=* --co BLOCKYSIZE=*"},
};
/* clang-format on */

static bool is_in_list(const char *list, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, name, size) == 0 && (at[size] == ' ' || at[size] == '\0'))
            return true;
    }
    return false;
}

static const foreign_spelling *find_foreign(const cli_command *command, const char *word,
                                            size_t size)
{
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        const foreign_spelling *row = &foreign[i];
        if (strlen(row->word) == size && memcmp(row->word, word, size) == 0 &&
            (row->commands == NULL || is_in_list(row->commands, command->name)) &&
            (row->option == NULL ||
             find_name(command->options, row->option, strlen(row->option)) != NULL))
            return row;
    }
    return NULL;
}

/* Copies the value that was typed after the word, in capitals; "VALUE" if it cannot be shown. */
static void shown_value(const option_parser *parser, const char *equals, char out[SHOWN_VALUE])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    static const char others[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const char *value = equals != NULL                ? equals + 1
                        : parser->next < parser->argc ? parser->argv[parser->next]
                                                      : "";
    size_t size = 0;
    for (; value[size] != '\0' && size + 1 < SHOWN_VALUE; size++) {
        const char *lower = strchr(letters, value[size]);
        if (lower == NULL && strchr(others, value[size]) == NULL)
            break;
        out[size] = lower != NULL ? others[lower - letters] : value[size];
    }
    out[size] = '\0';
    if (size == 0 || value[size] != '\0')
        snprintf(out, SHOWN_VALUE, "VALUE");
}

/* Prints "unknown option 'WORD'; write 'WRITE'", with the value for '*'. */
static int answer_write(const option_parser *parser, const char *word, const char *equals,
                        const char *write)
{
    char value[SHOWN_VALUE];
    char after[200];
    shown_value(parser, equals, value);
    size_t used = (size_t)snprintf(after, sizeof after, "; write '");
    for (const char *c = write; *c != '\0' && used + SHOWN_VALUE + 2 < sizeof after; c++) {
        if (*c == '*')
            used += (size_t)snprintf(after + used, sizeof after - used, "%s", value);
        else
            after[used++] = *c;
    }
    snprintf(after + used, sizeof after - used, "'");
    term_usage("unknown option", word, after);
    return OPTION_WRONG;
}

/* Makes one value of several arguments. */
static int join_arguments(option_parser *parser, const cli_option *option, const char *word,
                          const char *join)
{
    char **arguments = parser->argv + parser->next;
    char *to = parser->joined;
    char *end = to + sizeof parser->joined;
    int count = 0;
    for (const char *c = join; *c != '\0'; c++)
        count = *c >= '0' && *c <= '9' && *c - '0' > count ? *c - '0' : count;
    if (parser->argc - parser->next < count) {
        char after[48];
        snprintf(after, sizeof after, " needs %d values", count);
        term_usage("option", word, after);
        return OPTION_WRONG;
    }
    for (const char *c = join; *c != '\0' && to < end; c++) {
        const bool is_number = *c >= '0' && *c <= '9';
        to += snprintf(to, (size_t)(end - to), is_number ? "%s" : "%.1s",
                       is_number ? arguments[*c - '1'] : c);
    }
    if (to >= end) {
        term_usage("option", word, " has too long a value");
        return OPTION_WRONG;
    }
    parser->next += count;
    parser->value = parser->joined;
    return option->id;
}

static int parse_foreign(option_parser *parser, const foreign_spelling *row, const char *word,
                         const char *equals)
{
    const cli_command *command = parser->command;
    char after[200];
    if (row->option != NULL) {
        const cli_option *option = find_name(command->options, row->option, strlen(row->option));
        return row->join != NULL && equals == NULL ? join_arguments(parser, option, word, row->join)
                                                   : parse_named(parser, option, word, equals);
    }
    if (row->write != NULL)
        return answer_write(parser, word, equals, row->write);
    if (row->cannot != NULL)
        snprintf(after, sizeof after, "; %s cannot %s yet", command->name, row->cannot);
    else
        snprintf(after, sizeof after, "; %s", row->answer);
    term_usage("unknown option", word, after);
    return OPTION_WRONG;
}

/* Words ---------------------------------------------------------------------------------------- */

/* Returns the option that is most like a word's first size letters; NULL: none is near. */
static const char *nearest_option(const option_parser *parser, const char *name, size_t size)
{
    char copy[MAX_NAME + 1] = "";
    if (size <= MAX_NAME)
        memcpy(copy, name, size);
    return tz_nearest_name(copy, command_option_name, parser->command->options);
}

static int parse_name(option_parser *parser, const char *word)
{
    const cli_command *command = parser->command;
    const char *equals = strchr(word, '=');
    size_t size = equals != NULL ? (size_t)(equals - word - 2) : strlen(word + 2);
    const cli_option *option = find_name(command->options, word + 2, size);
    if (option != NULL)
        return parse_named(parser, option, word, equals);
    const foreign_spelling *row = find_foreign(command, word, size + 2);
    if (row != NULL)
        return parse_foreign(parser, row, word, equals);
    const char *key = command->creation_key != NULL ? command->creation_key(word + 2, size) : NULL;
    if (key == NULL) {
        usage_unknown("unknown option", word, "--", nearest_option(parser, word + 2, size));
        return OPTION_WRONG;
    }
    char write[MAX_NAME + 10];
    snprintf(write, sizeof write, "--co %s=*", key);
    return answer_write(parser, word, equals, write);
}

/* Returns true for letters of options without a value, or for one letter of an option whose value
 * is the next argument or begins with a digit right here. */
static bool is_letters(const cli_option *options, const char *letters)
{
    const cli_option *first = find_letter(options, letters[0]);
    if (first == NULL || letters[1] == '\0')
        return first != NULL;
    if (first->value != NULL)
        return letters[1] >= '0' && letters[1] <= '9';
    for (; *letters != '\0'; letters++) {
        const cli_option *option = find_letter(options, *letters);
        if (option == NULL || option->value != NULL)
            return false;
    }
    return true;
}

/* Returns true if a letter that takes a value comes after others that are known. */
static bool hides_value(const cli_option *options, const char *letters)
{
    const cli_option *option = find_letter(options, *letters);
    while (option != NULL && option->value == NULL)
        option = find_letter(options, *++letters);
    return option != NULL;
}

/* Suggests a spelling for an unknown word with one dash. */
static int unknown_dash(const option_parser *parser, const char *word, size_t size)
{
    const cli_option *options = parser->command->options;
    const cli_option *letter = find_letter(options, word[1]);
    const cli_option *named = find_name(options, word + 1, size - 1);
    const char *near = size > 2 ? nearest_option(parser, word + 1, size - 1) : NULL;
    char after[MAX_NAME + 40] = "";
    if (named != NULL)
        snprintf(after, sizeof after, "; write '--%s'", named->name);
    else if (near != NULL)
        snprintf(after, sizeof after, "; did you mean '--%s'?", near);
    else if (letter != NULL && letter->value != NULL)
        snprintf(after, sizeof after, "; write '-%c %s'", letter->letter, letter->value);
    else if (hides_value(options, word + 1))
        snprintf(after, sizeof after, "; a letter that takes a value stands alone");
    term_usage("unknown option", word, after);
    return OPTION_WRONG;
}

static int parse_dash(option_parser *parser, const char *word)
{
    const cli_command *command = parser->command;
    const char *equals = strchr(word, '=');
    size_t size = equals != NULL ? (size_t)(equals - word) : strlen(word);
    if (is_letters(command->options, word + 1)) {
        parser->letters = word + 1;
        return parse_letter(parser);
    }
    const foreign_spelling *row = find_foreign(command, word, size);
    return row != NULL ? parse_foreign(parser, row, word, equals)
                       : unknown_dash(parser, word, size);
}

/* Parses one argument; OPTION_END if it was not an option. */
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
    return parse_dash(parser, word);
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
