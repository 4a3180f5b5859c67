/* SPDX-License-Identifier: Apache-2.0
 * Runs convert and cog, from the command line to the exit code. */
#include <signal.h>
#include <stdio.h>

#include "convert_report.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "request.h"
#include "terminal.h"

static void report_conversion(const conversion *c, const convert_result *result)
{
    if (c->settings->common.json)
        convert_report_write(c, result);
    else
        convert_report_print(c, result);
    convert_report_warn(c, result);
}

static tz_result convert_image(const convert_settings *settings, tz_error *err)
{
    convert_result outcome = {0};
    conversion c = {0};
    bool may_exist = settings->overwrite || settings->dry_run;
    tz_result result = may_exist ? TZ_OK : output_check_new(settings->output, err);
    if (result == TZ_OK)
        result = conversion_open(&c, settings, err);
    if (result == TZ_OK)
        result = settings->dry_run ? convert_plan(&c, &outcome, err)
                                   : convert_carry_out(&c, &outcome, err);
    if (result == TZ_OK)
        report_conversion(&c, &outcome);
    else
        (void)device_problem(err);
    convert_result_free(&outcome);
    conversion_close(&c);
    return result;
}

/* Ends by the signal if one cancelled the conversion, so that the shell sees it. */
static int report_failed_conversion(const convert_settings *settings, const tz_error *err)
{
    if (settings->common.json)
        report_write_error(settings->input, err);
    term_error(err->message);
    progress_end_by_signal();
    return EXIT_FAILED;
}

int convert_run(const cli_command *command, const char *driver, int argc, char **argv)
{
    static convert_settings settings = {.common = {.open = TZ_OPEN_OPTIONS_INIT}};
    tz_error err;
    int status;
    settings.cog = command == &cog_command;
    settings.reads_arrays = true;
    if (tz_creation_create(&settings.creation, driver, &err) != TZ_OK)
        return report_failed_conversion(&settings, &err);
    int count =
        common_parse(command, argc, argv, &settings.common, convert_apply, &settings, &status);
    if (count < 0)
        return status;
    if (count != 2)
        return common_wrong_operands(command,
                                     count == 0   ? "no IN given"
                                     : count == 1 ? "no OUT given"
                                                  : "unexpected argument",
                                     count > 2 ? argv[2] : NULL);
    settings.input = argv[0];
    settings.output = argv[1];
    if (output_check_folder(settings.output, &err) != TZ_OK)
        return report_failed_conversion(&settings, &err);
    if (!convert_check(&settings))
        return option_hint(command);
    if (settings.failed.result != TZ_OK)
        return report_failed_conversion(&settings, &settings.failed);
    progress_catch_signals();
    signal(SIGPIPE, SIG_IGN); /* a closed standard output is not a reason to stop half-way */
    tz_result result = convert_image(&settings, &err);
    tz_creation_free(settings.creation);
    return result == TZ_OK ? EXIT_OK : report_failed_conversion(&settings, &err);
}
