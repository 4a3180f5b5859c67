/* SPDX-License-Identifier: Apache-2.0
 * terrazzo read: pixels of a window to a .npy or .raw file, or to a picture.
 *
 * request.c turns the options into a request, transfer.c reads it block by block, and this file
 * passes each block on: arrays are written at the block's offset (array_file.c), a picture needs
 * all pixels at once (picture.c). OUT and the mask beside it are committed together at the end, the
 * mask first: where OUT exists, both are whole. */
#include "read_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_file.h"
#include "picture.h"
#include "problem.h"
#include "progress.h"
#include "report.h"
#include "terminal.h"

/* Options -------------------------------------------------------------------------------------- */

enum { OVERWRITE = 1 };

/* clang-format off */
static const cli_option read_options[] = {
    REQUEST_OPTIONS,
    PICTURE_OPTIONS("picture: "),
    PICTURE_FILE_OPTIONS,
    {"overwrite", 0, OVERWRITE, NULL, "replace OUT if it exists"},
    {"json", 0, COMMON_JSON, NULL, "report what was done as JSON"},
    OPENING_OPTIONS,
    COMMON_OPTIONS
};
/* clang-format on */

static int run_read(int argc, char **argv);

const cli_command read_command = {
    .name = "read",
    .arguments = "IN OUT",
    .summary = "reads pixels into a .npy, .raw, .png, .jpg or .webp file",
    .examples = "terrazzo read a.tif a.npy\tall bands, for numpy.load\n"
                "terrazzo read --size 1024x0 a.tif a.png\ta picture, 1024 pixels wide\n"
                "terrazzo read --bands 3,2,1 a.tif a.png\tthree bands as red, green, blue\n"
                "terrazzo read --window 0,0,9,9 a.tif b.raw\t9 x 9 pixels from the upper left\n"
                "terrazzo read --format raw a.tif - | xxd\tto standard output",
    .options = read_options,
    .run = run_read,
    .to_output = true,
};

typedef struct read_settings {
    request_settings request;
    picture_settings picture;
    bool overwrite;
    const char *input;
    const char *output;
} read_settings;

static bool apply_read_option(void *user, int id, const char *value)
{
    read_settings *settings = user;
    if (picture_has_option(id))
        return picture_apply(&settings->picture, id, value);
    if (id != OVERWRITE)
        return request_apply(&settings->request, id, value);
    settings->overwrite = true;
    return true;
}

/* Checks options against the name of the output; false after a message. */
static bool check_output(read_settings *settings)
{
    request_settings *asked = &settings->request;
    const char *out = settings->output;
    bool to_stdout = strcmp(out, "-") == 0;
    if (asked->format == FORMAT_NONE)
        asked->format = request_format_of(out);
    if (asked->format == FORMAT_NONE && request_is_tiff_name(out))
        term_usage("read writes .npy, .raw, .png, .jpg and .webp, not", out,
                   "; 'terrazzo convert' writes a TIFF");
    else if (asked->format == FORMAT_NONE)
        term_usage("cannot tell a format from the name", out,
                   ": give --format npy, raw, png, jpeg or webp");
    else if (to_stdout && asked->common.json)
        term_usage("--json and the pixels cannot both go to standard output", NULL, "");
    else if (to_stdout && asked->masked && !request_is_picture(asked->format))
        term_usage("--masked makes a second file, which standard output cannot be", NULL, "");
    else
        return picture_check(&settings->picture, asked->format) && request_check(asked);
    return false;
}

/* Writing -------------------------------------------------------------------------------------- */

typedef struct reading {
    const read_settings *settings;
    const request *r;
    output out;
    output mask_out;
    char *mask_path; /* NULL: no second file */
    array_file array;
    array_file mask_array;
    picture_stretch stretched;
} reading;

static tz_result put_array(void *user, const block *where, const tz_buffer *pixels,
                           const tz_buffer *mask, tz_error *err)
{
    reading *w = user;
    tz_result result = array_file_put(&w->array, where, pixels, err);
    if (result == TZ_OK && w->mask_path != NULL)
        result = array_file_put(&w->mask_array, where, mask, err);
    return result;
}

static tz_result write_picture(void *user, const block *where, const tz_buffer *pixels,
                               const tz_buffer *mask, tz_error *err)
{
    reading *w = user;
    (void)where; /* there is one block */
    return picture_write(&w->out, w->r, pixels, mask, &w->settings->picture, &w->stretched, err);
}

/* Opens the second file of --masked; a picture has its mask as transparency. */
static tz_result open_mask(reading *w, tz_error *err)
{
    const read_settings *s = w->settings;
    char ending[16];
    if (!s->request.masked || request_is_picture(w->r->format))
        return TZ_OK;
    snprintf(ending, sizeof ending, ".mask.%s", request_format_name(w->r->format));
    w->mask_path = output_beside(s->output, ending);
    if (w->mask_path == NULL)
        return problem_nomem(err, "a name");
    tz_result result = output_open(&w->mask_out, w->mask_path, s->overwrite, s->input, err);
    if (result != TZ_OK)
        return result;
    return array_file_start(&w->mask_array, &w->mask_out, w->r, TZ_DTYPE_UINT8, err);
}

static tz_result open_outputs(reading *w, tz_error *err)
{
    const read_settings *s = w->settings;
    tz_result result = output_open(&w->out, s->output, s->overwrite, s->input, err);
    if (result == TZ_OK)
        result = open_mask(w, err);
    if (result == TZ_OK && !request_is_picture(w->r->format))
        result = array_file_start(&w->array, &w->out, w->r, w->r->dtype, err);
    return result;
}

/* The mask is committed first: where OUT exists, both are whole. */
static tz_result commit_outputs(reading *w, tz_error *err)
{
    tz_result result = w->mask_path != NULL ? output_commit(&w->mask_out, err) : TZ_OK;
    return result == TZ_OK ? output_commit(&w->out, err) : result;
}

/* The command ---------------------------------------------------------------------------------- */

static void report_read(const reading *w, const transfer_result *result)
{
    const read_settings *s = w->settings;
    const report shown = {.input = s->input,
                          .output = s->output,
                          .mask_output = w->mask_path,
                          .r = w->r,
                          .result = result,
                          .stretched = &w->stretched};
    if (s->request.common.json)
        report_write(&shown);
    else if (s->request.common.verbose && strcmp(s->output, "-") != 0)
        report_print(&shown);
    picture_report_stretch(w->r, &w->stretched);
    request_print_warnings(w->r);
    report_warn(result);
}

static tz_result read_to_output(const read_settings *settings, const request *r, tz_error *err)
{
    transfer_result result = {0};
    reading w = {.settings = settings, .r = r, .out = {.fd = -1}, .mask_out = {.fd = -1}};
    bool picture = request_is_picture(r->format);
    tz_result status = open_outputs(&w, err);
    const transfer_sink sink = {.put = picture ? write_picture : put_array,
                                .user = &w,
                                .in_order = w.out.is_stream || w.mask_out.is_stream,
                                .whole = picture};
    if (status == TZ_OK)
        status = transfer_run(r, &sink, false, &result, err);
    if (status == TZ_OK && progress_is_cancelled())
        status = progress_cancelled(err);
    if (status == TZ_OK)
        status = commit_outputs(&w, err);
    if (status == TZ_OK)
        report_read(&w, &result);
    transfer_result_free(&result);
    output_close(&w.mask_out);
    output_close(&w.out);
    free(w.mask_path);
    return status;
}

static int report_failed_read(const read_settings *settings, const tz_error *err)
{
    if (settings->request.common.json)
        report_write_error(settings->input, err);
    term_error(err->message);
    progress_end_by_signal();
    return EXIT_FAILED;
}

static int run_read(int argc, char **argv)
{
    read_settings settings = {.request = REQUEST_SETTINGS_INIT};
    request r = {0};
    tz_error err;
    int status;
    int count = common_parse(&read_command, argc, argv, &settings.request.common, apply_read_option,
                             &settings, &status);
    if (count < 0)
        return status;
    if (count != 2)
        return common_wrong_operands(&read_command,
                                     count == 0   ? "no IN given"
                                     : count == 1 ? "no OUT given"
                                                  : "unexpected argument",
                                     count > 2 ? argv[2] : NULL);
    settings.input = argv[0];
    settings.output = argv[1];
    if (output_check_folder(settings.output, &err) != TZ_OK)
        return report_failed_read(&settings, &err);
    if (!check_output(&settings))
        return option_hint(&read_command);
    progress_catch_signals();
    tz_result result =
        request_open(&r, &settings.request, settings.input, settings.request.format, &err);
    if (result == TZ_OK && request_is_picture(r.format))
        result = picture_plan(&r, &settings.picture, &err);
    if (result == TZ_OK)
        result = read_to_output(&settings, &r, &err);
    request_close(&r);
    return result == TZ_OK ? EXIT_OK : report_failed_read(&settings, &err);
}
