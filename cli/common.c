/* SPDX-License-Identifier: Apache-2.0
 * Options that commands share, and the loop over all options of a command. Ids below 1000 are the
 * command's own, others are applied here. */
#include "common.h"

#include <string.h>

#include "limits.h"
#include "parse.h"
#include "sidecars.h"
#include "terminal.h"

/* Shows what the library reports of a call. Its warnings are shown where the command reports them.
 */
static void note_log(void *user, tz_log_level level, const char *text)
{
    (void)user;
    if (level < TZ_LOG_LEVEL_WARNING)
        term_note(text);
}

static bool set_page(common_settings *settings, const char *text)
{
    uint64_t value;
    const char *at = text;
    settings->all_pages = settings->takes_all_pages && strcmp(text, "all") == 0;
    if (settings->all_pages)
        return true;
    if (!parse_uint(&at, UINT32_MAX - 1, &value) || *at != '\0') {
        term_usage(settings->takes_all_pages ? "--page needs a number from 0 on, or all; not"
                                             : "--page needs a number from 0 on, not",
                   text, "");
        return false;
    }
    settings->open.page = (uint32_t)value;
    return true;
}

static bool set_color_mode(const char *text)
{
    if (term_set_color(text))
        return true;
    term_usage("--color is auto, always or never, not", text, "");
    return false;
}

bool common_apply(common_settings *settings, int id, const char *value)
{
    switch (id) {
    case COMMON_PAGE:
        return set_page(settings, value);
    case COMMON_SIDECARS:
        settings->open.sidecars = SIDECARS_ALL;
        return true;
    case COMMON_STRICT:
        settings->open.strict = true;
        return true;
    case COMMON_LIMIT:
        return limits_set(&settings->limits, value);
    case COMMON_JSON:
        settings->json = true;
        return true;
    case OPTION_COLOR:
        return set_color_mode(value);
    case OPTION_QUIET:
        term_set_quiet();
        return true;
    case OPTION_VERBOSE:
        settings->verbose = true;
        settings->open.log.call = note_log;
        return true;
    default: /* OPTION_HELP */
        return true;
    }
}

int common_parse(const cli_command *command, int argc, char **argv, common_settings *common,
                 bool (*apply)(void *settings, int id, const char *value), void *settings,
                 int *status)
{
    option_parser parser;
    tz_limits_init(&common->limits, sizeof common->limits);
    common->open.limits = &common->limits;
    option_start(&parser, command, argc, argv);
    bool help = false;
    int id;
    while ((id = option_next(&parser)) != OPTION_END) {
        bool right = id != OPTION_WRONG && (id < 1000 ? apply(settings, id, parser.value)
                                                      : common_apply(common, id, parser.value));
        if (!right) {
            *status = option_hint(command);
            return -1;
        }
        help = help || id == OPTION_HELP;
    }
    if (help)
        option_print_help(command);
    *status = help ? EXIT_OK : EXIT_USAGE;
    return help ? -1 : parser.operand_count;
}

int common_wrong_operands(const cli_command *command, const char *message, const char *word)
{
    term_usage(message, word, "");
    return option_hint(command);
}
