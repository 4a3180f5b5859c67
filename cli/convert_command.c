/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>

#include "convert_report.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "request.h"
#include "terminal.h"

/* clang-format off */
static const cli_option convert_options[] = {
    {"co", 0, CONVERT_CREATION, "KEY=VALUE", "a creation option, see below; may be given often"},
    {"overwrite", 0, CONVERT_OVERWRITE, NULL, "replace OUT if it exists; it may be IN itself"},
    {"dry-run", 0, CONVERT_DRY_RUN, NULL, "only tell what it would cost"},
    {"verify", 0, CONVERT_VERIFY, "HOW", "what is read back before OUT appears: sample (the\n"
                                         "default: up to 16 tiles), all or none"},
    {"no-sync", 0, CONVERT_NO_SYNC, NULL, "do not wait for the disk; a power failure may then\n"
                                          "leave anything as OUT"},
    {"stats", 0, CONVERT_STATISTICS, NULL, "tell each band's statistics"},
    {"threads", 'j', CONVERT_THREADS, "N", "0, the default: all cores"},
    {"memory", 0, CONVERT_MEMORY, "SIZE", "how much to use at most; 256M by default"},
    {"shape", 0, CONVERT_SHAPE, "HxW[xBANDS]", "of standard input: rows, columns, bands"},
    {"dtype", 0, CONVERT_DTYPE, "TYPE", "of standard input: uint8, int16, float32, ..."},
    {"order", 0, CONVERT_ORDER, "HOW", "of standard input: pixel (the default), row or band\n"
                                       "by band; the last only from a file"},
    {"nodata", 0, CONVERT_NODATA, "VALUE", "of standard input"},
    {"epsg", 0, CONVERT_EPSG, "CODE", "of standard input: its CRS"},
    {"transform", 0, CONVERT_TRANSFORM, "A,B,C,D,E,F",
     "of standard input, in GDAL's order: x, width, 0, y,\n"
     "0, -height of the upper left pixel"},
    {"json", 0, COMMON_JSON, NULL, "tell what was done as JSON"},
    OPENING_OPTIONS,
    COMMON_OPTIONS
};
/* clang-format on */

static int run(int argc, char **argv);

const cli_command convert_command = {
    .name = "convert",
    .arguments = "IN OUT",
    .summary = "writes a GeoTIFF in another layout or compression",
    .examples = "terrazzo convert a.tif b.tif\tuncompressed strips\n"
                "terrazzo convert --dry-run a.tif b.tif\twhat it would cost\n"
                "terrazzo convert --co COMPRESS=LZW --co PREDICTOR=2 --co TILED=YES a.tif b.tif\t\n"
                "terrazzo convert --shape 512x512x3 --dtype uint8 - b.tif <rows.raw\t",
    .options = convert_options,
    .run = run,
    .takes_dash = true,
    .print_more = creation_print_help,
};

static void tell(const conversion *c, const convert_result *result)
{
    if (c->settings->common.json)
        convert_report_write(c, result);
    else
        convert_report_print(c, result);
    convert_report_warn(c, result);
}

static tz_result convert(const convert_settings *settings, tz_error *err)
{
    static convert_result outcome; /* too large for a small stack */
    conversion c = {0};
    tz_result result = settings->overwrite ? TZ_OK : output_check_new(settings->output, err);
    if (result == TZ_OK)
        result = conversion_open(&c, settings, err);
    if (result == TZ_OK)
        result = settings->dry_run ? convert_plan(&c, &outcome, err)
                                   : convert_carry_out(&c, &outcome, err);
    if (result == TZ_OK)
        tell(&c, &outcome);
    conversion_close(&c);
    return result;
}

static int run(int argc, char **argv)
{
    static convert_settings settings = {.common = {.open = TZ_OPEN_OPTIONS_INIT},
                                        .memory = REQUEST_DEFAULT_MEMORY};
    tz_error err;
    int status;
    creation_start(&settings.creation);
    int count = common_parse(&convert_command, argc, argv, &settings.common, convert_apply,
                             &settings, &status);
    if (count < 0)
        return status;
    if (count != 2)
        return common_wrong_operands(&convert_command,
                                     count == 0   ? "no IN given"
                                     : count == 1 ? "no OUT given"
                                                  : "one OUT, not also",
                                     count > 2 ? argv[2] : NULL);
    settings.input = argv[0];
    settings.output = argv[1];
    if (!convert_check(&settings))
        return option_hint(&convert_command);
    progress_catch_signals();
    signal(SIGPIPE, SIG_IGN); /* nobody who listens is no reason to stop half-way */
    if (convert(&settings, &err) == TZ_OK)
        return EXIT_OK;
    if (settings.common.json)
        report_write_error(settings.input, &err);
    term_error(err.message);
    progress_end_by_signal();
    return EXIT_FAILED;
}
