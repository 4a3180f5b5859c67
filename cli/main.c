/* SPDX-License-Identifier: Apache-2.0
 * terrazzo: one command with subcommands. */
#include <stdio.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

#include "block_commands.h"
#include "clean_command.h"
#include "convert.h"
#include "devices_command.h"
#include "diff.h"
#include "info.h"
#include "options.h"
#include "read_command.h"
#include "terminal.h"
#include "validate.h"

static const cli_command *const commands[] = {&info_command,     &read_command,
                                              &view_command,     &plan_command,
                                              &diff_command,     &validate_command,
                                              &cog_command,      &convert_command,
                                              &plan_cog_command, &encode_block_command,
                                              &assemble_command, &clean_command,
                                              &devices_command,  NULL};

static int run_help(int argc, char **argv);
static int run_version(void);

static const cli_command *find_command(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

/* Every word that may stand first, for suggestions. */
static const char *first_word(const void *list, size_t index)
{
    static const char *const others[] = {"help", "--help", "--version", NULL};
    const cli_command *const *c = list;
    size_t i = 0;
    while (c[i] != NULL && i < index)
        i++;
    return c[i] != NULL ? c[i]->name : others[index - i];
}

static int unknown_command(const char *word)
{
    usage_unknown(word[0] == '-' ? "unknown option" : "unknown command", word, "",
                  tz_nearest_name(word, first_word, commands));
    fputs("Try 'terrazzo help'.\n", stderr);
    return EXIT_USAGE;
}

static int print_overview(void)
{
    term_put(TERM_TITLE, "terrazzo");
    printf(" %s: GeoTIFF and Cloud Optimized GeoTIFF\n\n", tz_version());
    term_put(TERM_HEADING, "Examples");
    printf("\n  terrazzo info elevation.tif\n"
           "  terrazzo info --json elevation.tif\n"
           "  terrazzo read --size 1024x0 elevation.tif picture.png\n"
           "  terrazzo view elevation.tif\n"
           "  terrazzo cog elevation.tif cloud.tif\n"
           "  terrazzo convert --co COMPRESS=ZSTD --co TILED=YES elevation.tif small.tif\n\n");
    term_put(TERM_HEADING, "Commands");
    putchar('\n');
    for (size_t i = 0; commands[i] != NULL; i++)
        printf("  %-14s%s\n", commands[i]->name, commands[i]->summary);
    printf("  %-14s%s\n", "help", "shows this text, or that of a command");
    printf("\n'terrazzo COMMAND -h' shows more; 'terrazzo --version' says what this is.\n");
    return EXIT_OK;
}

static int run_help(int argc, char **argv)
{
    if (argc == 0)
        return print_overview();
    const cli_command *command = find_command(argv[0]);
    if (command == NULL && strcmp(argv[0], "help") == 0)
        return print_overview();
    if (command == NULL)
        return unknown_command(argv[0]);
    option_print_help(command);
    return EXIT_OK;
}

static int run_version(void)
{
    static const char *const features[] = {"expat", "proj", "libdeflate", "zstd", "lzma", "lz4",
                                           "jpeg",  "webp", "openjpeg",   "jxl",  "lerc", "cuda"};
    printf("terrazzo %s\n", tz_version());
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        const char *version = tz_build_feature(features[i]);
        printf("  %-10s %s\n", features[i], version != NULL ? version : "left out");
    }
    return EXIT_OK;
}

static int dispatch_command(int argc, char **argv)
{
    if (argc == 0)
        return print_overview();
    const char *word = argv[0];
    const cli_command *command = find_command(word);
    if (command != NULL)
        return command->run(argc - 1, argv + 1);
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return run_help(argc - 1, argv + 1);
    if (strcmp(word, "--version") == 0)
        return run_version();
    return unknown_command(word);
}

int main(int argc, char **argv)
{
    term_open();
    return term_close(dispatch_command(argc > 0 ? argc - 1 : 0, argv + (argc > 0)));
}
