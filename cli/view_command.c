/* SPDX-License-Identifier: Apache-2.0
 * terrazzo view: a picture in the terminal. It is a read whose size is that of the terminal, so
 * that an overview is read instead of the image, and whose sink prints characters (half_blocks.c).
 * */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "half_blocks.h"
#include "picture.h"
#include "problem.h"
#include "progress.h"
#include "read_command.h"
#include "report.h"
#include "terminal.h"
#include "text.h"
#include "value.h"

#define DEFAULT_COLUMNS 80
#define MAX_COLUMNS     1000
#define SPARE_ROWS      3 /* rows of the terminal for the lines below the picture, and the prompt */

enum { COLUMNS = 1 };

/* clang-format off */
static const cli_option view_options[] = {
    REQUEST_WINDOW_OPTIONS,
    {"columns", 0, COLUMNS, "N", "how wide; by default what fits the terminal"},
    PICTURE_OPTIONS(""),
    {"dtype", 0, REQUEST_DTYPE, "TYPE", "cast first: float32 takes the real part of complex\n"
                                        "numbers"},
    {"oriented", 0, REQUEST_ORIENTED, NULL, "turn the image upright as its orientation says"},
    {"salvage", 0, REQUEST_SALVAGE, NULL, "tiles that cannot be read are not valid; a warning\n"
                                          "names them"},
    {"threads", 'j', REQUEST_THREADS, "N", "0, the default: all cores"},
    {"memory", 0, REQUEST_MEMORY, "SIZE", "most memory the process may use; 256M by default"},
    OPENING_OPTIONS,
    COMMON_OPTIONS
};
/* clang-format on */

static int run_view(int argc, char **argv);

const cli_command view_command = {
    .name = "view",
    .arguments = "IN",
    .summary = "shows a picture in the terminal",
    .examples = "terrazzo view a.tif\tfrom the overview that fits\n"
                "terrazzo view --window 0,0,512,512 a.tif\ta corner\n"
                "terrazzo view --bands 4,3,2 --stretch a.tif\tother bands as red, green, blue",
    .options = view_options,
    .run = run_view,
};

typedef struct view_settings {
    request_settings request;
    uint32_t columns; /* 0: as many as fit */
    picture_settings picture;
} view_settings;

static bool apply_view_option(void *user, int id, const char *value)
{
    view_settings *settings = user;
    if (id == COLUMNS)
        return value_number(&settings->columns, MAX_COLUMNS,
                            "--columns needs a number up to 1000, not", value);
    if (picture_has_option(id))
        return picture_apply(&settings->picture, id, value);
    return request_apply(&settings->request, id, value);
}

/* Sets the size of the picture. A character is about twice as high as wide, and shows two rows of
 * pixels. */
static void fit_to_terminal(request *r, uint32_t columns)
{
    uint32_t wide = DEFAULT_COLUMNS;
    uint32_t high = 0;
    bool fits_terminal = term_size(&wide, &high) && columns == 0;
    double scale = (double)(columns != 0 ? columns : wide) / r->window.width;
    if (fits_terminal && high > SPARE_ROWS) {
        double by_rows = 2.0 * (high - SPARE_ROWS) / r->window.height;
        scale = by_rows < scale ? by_rows : scale;
    }
    scale = scale < 1 ? scale : 1;
    double width = r->window.width * scale;
    double height = r->window.height * scale;
    r->width = width < 1 ? 1 : (uint32_t)width;
    r->height = height < 1 ? 1 : (uint32_t)height;
}

/* Showing -------------------------------------------------------------------------------------- */

typedef struct viewing {
    const request *r;
    const picture_settings *settings;
    picture_stretch stretched;
} viewing;

static tz_result show_picture(void *user, const block *where, const tz_buffer *pixels,
                              const tz_buffer *mask, tz_error *err)
{
    viewing *v = user;
    (void)where; /* there is one block */
    unsigned char *rgba = malloc(4 * (size_t)pixels->width * pixels->height);
    if (rgba == NULL)
        return problem_nomem(err, "the picture");
    tz_result result = picture_render(rgba, v->r, pixels, mask, v->settings, &v->stretched, err);
    if (result == TZ_OK)
        half_blocks_print(rgba, pixels->width, pixels->height);
    free(rgba);
    return result;
}

static void report_view(const viewing *v, const transfer_result *result, double seconds)
{
    const request *r = v->r;
    const tz_read_report *t = result->report;
    uint32_t level = result->item.level < r->info->level_count ? result->item.level : 0;
    const tz_level *shape = tz_file_get_level(r->file, level);
    char a[TEXT_NUMBER];
    char b[TEXT_NUMBER];
    char c[TEXT_NUMBER];
    term_begin(TERM_DIM);
    printf("level %" PRIu32 ", %s: ", level, text_pair(a, shape->width, shape->height));
    printf("%s tile%s, ", text_count(a, t->tiles), text_plural(t->tiles));
    printf("%s in %s request%s, %s ms", text_bytes(a, t->bytes_read), text_count(b, t->requests),
           text_plural(t->requests), text_rounded(c, seconds * 1000, 1));
    term_end();
    putchar('\n');
    picture_report_stretch(r, &v->stretched);
    request_print_warnings(r);
    report_warn(result);
}

static tz_result view_image(const view_settings *settings, const char *path, tz_error *err)
{
    transfer_result outcome = {0};
    request r = {0};
    viewing v = {.r = &r, .settings = &settings->picture};
    const transfer_sink sink = {.put = show_picture, .user = &v, .in_order = true, .whole = true};
    double started = progress_clock();
    tz_result result = request_open(&r, &settings->request, path, FORMAT_PNG, err);
    if (result == TZ_OK) {
        fit_to_terminal(&r, settings->columns);
        r.how.resampling = picture_has_palette(&r) ? TZ_RESAMPLING_NEAREST : TZ_RESAMPLING_AVERAGE;
        result = transfer_run(&r, &sink, false, &outcome, err);
    }
    if (result == TZ_OK)
        report_view(&v, &outcome, progress_clock() - started);
    transfer_result_free(&outcome);
    request_close(&r);
    return result;
}

static int run_view(int argc, char **argv)
{
    view_settings settings = {.request = REQUEST_SETTINGS_INIT};
    settings.request.inside_only = true;
    tz_error err;
    int status;
    int count = common_parse(&view_command, argc, argv, &settings.request.common, apply_view_option,
                             &settings, &status);
    if (count < 0)
        return status;
    if (count != 1)
        return common_wrong_operands(&view_command,
                                     count == 0 ? "no IN given" : "unexpected argument",
                                     count == 0 ? NULL : argv[1]);
    if (!request_check(&settings.request))
        return option_hint(&view_command);
    settings.request.has_size = true; /* fit_to_terminal sets it when the image is open */
    settings.request.width = settings.request.height = 1;
    progress_catch_signals();
    if (view_image(&settings, argv[0], &err) == TZ_OK)
        return EXIT_OK;
    term_error(err.message);
    progress_end_by_signal();
    return EXIT_FAILED;
}
