/* SPDX-License-Identifier: Apache-2.0
 * terrazzo convert and terrazzo cog, from the command line to the exit code. They differ in their
 * creation options, which are those of GDAL's GTiff and COG drivers, and in what is made of them.
 *
 *   convert_options.c, edit_options.c   options as typed
 *   convert_plan.c, convert_pixels.c, edit.c   what they mean for this image
 *   convert_write.c, convert_rows.c, raw_rows.c   memory is divided, and rows go to the writer
 *   convert_report.c   the report */
#include "convert.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert_report.h"
#include "output.h"
#include "problem.h"
#include "progress.h"
#include "report.h"
#include "request.h"
#include "terminal.h"

/* Commands ------------------------------------------------------------------------------------- */

static const cli_option convert_options[] = {
    {"co", 0, CONVERT_CREATION, "KEY=VALUE", "a creation option, see below; may be given often"},
    CONVERT_OPTIONS};

static int run_convert(int argc, char **argv);

static const char *find_gtiff_key(const char *name, size_t size)
{
    return creation_key("GTiff", name, size);
}

static void print_gtiff_keys(void)
{
    creation_print_help("GTiff");
}

const cli_command convert_command = {
    .name = "convert",
    .arguments = "IN OUT",
    .summary = "writes a GeoTIFF in another layout or compression, or changed",
    .examples = "terrazzo convert a.tif b.tif\tuncompressed strips\n"
                "terrazzo convert --dry-run a.tif b.tif\twhat it would cost\n"
                "terrazzo convert --co COMPRESS=LZW --co PREDICTOR=2 --co TILED=YES a.tif b.tif\t\n"
                "terrazzo convert --window 0,0,512,512 --bands 3,2,1 a.tif b.tif\t\n"
                "terrazzo convert --dtype uint8 --scale 0,3000 a.tif b.tif\t\n"
                "terrazzo convert --shape 512x512x3 --dtype uint8 - b.tif <rows.raw\t",
    .options = convert_options,
    .run = run_convert,
    .takes_dash = true,
    .print_more = print_gtiff_keys,
    .creation_key = find_gtiff_key,
};

static const cli_option cog_options[] = {
    {"co", 0, CONVERT_CREATION, "KEY=VALUE", "a creation option, see below; may be given often"},
    {"profile", 'p', CONVERT_PROFILE, "NAME",
     "compression by rio-cogeo's names: jpeg, webp, zstd,\n"
     "lzw, deflate (the default), packbits, lzma, lerc,\n"
     "lerc_deflate, lerc_zstd or raw; COMPRESS wins"},
    {"spool", 0, CONVERT_SPOOL, "DIR",
     "where overviews wait until their offset is known;\n"
     "beside OUT by default"},
    CONVERT_OPTIONS};

static int run_cog(int argc, char **argv);

static const char *find_cog_key(const char *name, size_t size)
{
    return creation_key("COG", name, size);
}

static void print_cog_keys(void)
{
    creation_print_help("COG");
}

const cli_command cog_command = {
    .name = "cog",
    .arguments = "IN OUT",
    .summary = "writes a Cloud Optimized GeoTIFF, with overviews",
    .examples = "terrazzo cog a.tif b.tif\tDeflate, tiles of 512, averages\n"
                "terrazzo cog --dry-run a.tif b.tif\twhat it would cost\n"
                "terrazzo cog -p zstd a.tif b.tif\tas rio-cogeo's profile\n"
                "terrazzo cog --co COMPRESS=JPEG --co QUALITY=90 rgb.tif b.tif\t\n"
                "terrazzo cog --co RESAMPLING=MODE landcover.tif b.tif\t\n"
                "terrazzo cog --nodata 0 --crs EPSG:32633 a.tif b.tif\t\n"
                "terrazzo cog --epsg 32633 array.npy b.tif\tan array of NumPy",
    .options = cog_options,
    .run = run_cog,
    .takes_dash = true,
    .print_more = print_cog_keys,
    .creation_key = find_cog_key,
};

/* One image ------------------------------------------------------------------------------------ */

static void report_conversion(const conversion *c, const convert_result *result)
{
    if (c->settings->common.json)
        convert_report_write(c, result);
    else
        convert_report_print(c, result);
    convert_report_warn(c, result);
}

/* page < 0: the one that the settings say. */
static tz_result convert_image(const convert_settings *settings, const char *path, int64_t page,
                               tz_error *err)
{
    convert_result outcome = {0};
    conversion c = {0};
    bool may_exist = settings->overwrite || settings->dry_run;
    tz_result result = may_exist ? TZ_OK : output_check_new(path, err);
    if (result == TZ_OK)
        result = conversion_open(&c, settings, path, page, err);
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

/* All pages ------------------------------------------------------------------------------------ */

static tz_result count_pages(const convert_settings *settings, uint32_t *out, tz_error *err)
{
    tz_file *file = NULL;
    tz_result result = tz_open(&file, settings->input, &settings->common.open, err);
    if (result == TZ_OK)
        *out = tz_file_get_info(file)->page_count;
    tz_close(file);
    return result;
}

/* Converts each page to a file whose name has the number of the page before the extension. */
static tz_result convert_pages(const convert_settings *settings, tz_error *err)
{
    uint32_t count = 0;
    const char *slash = strrchr(settings->output, '/');
    const char *dot = strrchr(slash != NULL ? slash : settings->output, '.');
    const char *extension = dot != NULL ? dot : "";
    const int stem = (int)(strlen(settings->output) - strlen(extension));
    const size_t size = strlen(settings->output) + 16;
    char *name = malloc(size);
    tz_result result =
        name != NULL ? count_pages(settings, &count, err) : problem_nomem(err, "a name");
    for (uint32_t i = 0; result == TZ_OK && i < count; i++) {
        snprintf(name, size, "%.*s_%" PRIu32 "%s", stem, settings->output, i, extension);
        result = convert_image(settings, name, i, err);
    }
    free(name);
    return result;
}

/* Command lines -------------------------------------------------------------------------------- */

/* Ends by the signal if one cancelled the conversion, so that the shell sees it. */
static int report_failed_conversion(const convert_settings *settings, const tz_error *err)
{
    if (settings->common.json)
        report_write_error(settings->input, err);
    term_error(err->message);
    progress_end_by_signal();
    return EXIT_FAILED;
}

/* Runs a command whose options are in *settings. */
static int run_settings(const cli_command *command, convert_settings *settings)
{
    tz_error err;
    if (output_check_folder(settings->output, &err) != TZ_OK)
        return report_failed_conversion(settings, &err);
    if (!convert_check(settings))
        return option_hint(command);
    if (settings->failed.result != TZ_OK)
        return report_failed_conversion(settings, &settings->failed);
    progress_catch_signals();
    signal(SIGPIPE, SIG_IGN); /* a closed standard output is not a reason to stop half-way */
    const tz_result result = settings->common.all_pages
                                 ? convert_pages(settings, &err)
                                 : convert_image(settings, settings->output, -1, &err);
    return result == TZ_OK ? EXIT_OK : report_failed_conversion(settings, &err);
}

static int run_command(const cli_command *command, const char *driver, int argc, char **argv)
{
    convert_settings settings = {
        .common = {.open = TZ_OPEN_OPTIONS_INIT, .takes_all_pages = true},
        .cog = command == &cog_command,
        .reads_arrays = true,
    };
    tz_error err;
    int status;
    if (tz_creation_create(&settings.creation, driver, &err) != TZ_OK)
        return report_failed_conversion(&settings, &err);
    int count =
        common_parse(command, argc, argv, &settings.common, convert_apply, &settings, &status);
    if (count == 2) {
        settings.input = argv[0];
        settings.output = argv[1];
        status = run_settings(command, &settings);
    } else if (count >= 0) {
        status = common_wrong_operands(command,
                                       count == 0   ? "no IN given"
                                       : count == 1 ? "no OUT given"
                                                    : "unexpected argument",
                                       count > 2 ? argv[2] : NULL);
    }
    convert_settings_free(&settings);
    return status;
}

static int run_convert(int argc, char **argv)
{
    return run_command(&convert_command, "GTiff", argc, argv);
}

static int run_cog(int argc, char **argv)
{
    return run_command(&cog_command, "COG", argc, argv);
}
