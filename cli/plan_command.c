/* SPDX-License-Identifier: Apache-2.0
 * terrazzo plan: the cost of a read. It resolves the same request as read and goes through the same
 * blocks, but each block is only planned. */
#include "problem.h"
#include "read_command.h"
#include "report.h"
#include "terminal.h"

/* clang-format off */
static const cli_option plan_options[] = {
    REQUEST_OPTIONS,
    {"json", 0, COMMON_JSON, NULL, "as JSON"},
    OPENING_OPTIONS,
    COMMON_OPTIONS
};
/* clang-format on */

static int run_plan(int argc, char **argv);

const cli_command plan_command = {
    .name = "plan",
    .arguments = "IN",
    .summary = "reports what reading pixels would cost, without reading any",
    .examples = "terrazzo plan a.tif\tthe whole image\n"
                "terrazzo plan --window 0,0,512,512 a.tif\ttiles, requests, bytes of a part\n"
                "terrazzo plan --size 1024x0 a.tif\twhich overview a picture needs",
    .options = plan_options,
    .run = run_plan,
};

static bool apply_plan_option(void *user, int id, const char *value)
{
    return request_apply(user, id, value);
}

static int report_failed_plan(const request_settings *settings, const char *path,
                              const tz_error *err)
{
    if (settings->common.json)
        report_write_error(path, err);
    term_error(err->message);
    return EXIT_FAILED;
}

/* The format matters: a picture needs all pixels in one block, and its encoder memory. */
static int plan_read(const request_settings *settings, const char *path)
{
    transfer_result result = {0};
    request r;
    tz_error err;
    request_format format = settings->format != FORMAT_NONE ? settings->format : FORMAT_NPY;
    const transfer_sink sink = {.whole = request_is_picture(format)};
    const picture_settings picture = {0};
    if (request_open(&r, settings, path, format, &err) != TZ_OK)
        return report_failed_plan(settings, path, &err);
    if ((request_is_picture(format) && picture_plan(&r, &picture, &err) != TZ_OK) ||
        transfer_run(&r, &sink, true, &result, &err) != TZ_OK) {
        transfer_result_free(&result);
        request_close(&r);
        return report_failed_plan(settings, path, &err);
    }
    const report shown = {.input = path, .r = &r, .result = &result};
    if (settings->common.json)
        report_write(&shown);
    else
        report_print(&shown);
    request_print_warnings(&r);
    report_warn(&result);
    transfer_result_free(&result);
    request_close(&r);
    return EXIT_OK;
}

static int run_plan(int argc, char **argv)
{
    request_settings settings = REQUEST_SETTINGS_INIT;
    int status;
    int count = common_parse(&plan_command, argc, argv, &settings.common, apply_plan_option,
                             &settings, &status);
    if (count < 0)
        return status;
    if (count != 1)
        return common_wrong_operands(&plan_command,
                                     count == 0 ? "no IN given" : "unexpected argument",
                                     count == 0 ? NULL : argv[1]);
    if (!request_check(&settings))
        return option_hint(&plan_command);
    return plan_read(&settings, argv[0]);
}
