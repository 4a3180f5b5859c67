/* SPDX-License-Identifier: Apache-2.0
 * Input without a TIFF: its shape, type and order, from the header of a .npy array or from options.
 * The order of axes is kept as a list, slowest first, which covers C and Fortran arrays and all of
 * --order. */
#define _XOPEN_SOURCE 700 /* lseek, pread */
#include "raw_source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npy.h"
#include "problem.h"

#define MAX_PICTURE_BANDS 4 /* of an array whose last axis is bands, as in images */

/* Axes of a C array, by raw_order. */
static const raw_axis axes_of[3][3] = {{AXIS_ROW, AXIS_COLUMN, AXIS_BAND},
                                       {AXIS_ROW, AXIS_BAND, AXIS_COLUMN},
                                       {AXIS_BAND, AXIS_ROW, AXIS_COLUMN}};

/* Arrays --------------------------------------------------------------------------------------- */

bool raw_source_is_npy(const char *path)
{
    struct stat found;
    char start[NPY_MAGIC_SIZE];
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = pread(fd, start, sizeof start, 0);
    close(fd);
    return got == NPY_MAGIC_SIZE && memcmp(start, NPY_MAGIC, NPY_MAGIC_SIZE) == 0;
}

bool raw_source_begins_npy(void)
{
    char start[NPY_MAGIC_SIZE];
    uint64_t got;
    tz_error err;
    return isatty(STDIN_FILENO) != 1 &&
           input_read(STDIN_FILENO, "standard input", start, sizeof start, -1, &got, &err) ==
               TZ_OK &&
           got == sizeof start && memcmp(start, NPY_MAGIC, NPY_MAGIC_SIZE) == 0;
}

/* Guesses which axis of three is the bands: the first, as in rasterio, GDAL and `read`; but the
 * last if that has at most four and the first has more, as in arrays of images. */
static raw_order guess_order(const npy_array *array)
{
    return array->shape[2] <= MAX_PICTURE_BANDS && array->shape[0] > MAX_PICTURE_BANDS ? ORDER_PIXEL
                                                                                       : ORDER_BAND;
}

static tz_result check_sides(const raw_source *r, const uint64_t sides[3], tz_error *err)
{
    if (sides[AXIS_BAND] == 0 || sides[AXIS_ROW] == 0 || sides[AXIS_COLUMN] == 0)
        return problem_make(err, TZ_ERR_FORMAT, TZ_CAUSE_HEADER, "%s is an empty array", r->name);
    if (sides[AXIS_BAND] <= UINT16_MAX && sides[AXIS_ROW] <= UINT32_MAX &&
        sides[AXIS_COLUMN] <= UINT32_MAX)
        return TZ_OK;
    return problem_make(err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                        "%s has %" PRIu64 " rows, %" PRIu64 " columns and %" PRIu64
                        " bands; an image has at most 4294967295 of the first two and 65535 bands",
                        r->name, sides[AXIS_ROW], sides[AXIS_COLUMN], sides[AXIS_BAND]);
}

static tz_result describe_array(raw_source *r, const npy_array *array, const raw_settings *asked,
                                tz_error *err)
{
    uint64_t sides[3] = {1, 1, 1};
    if (array->dimensions != 2 && array->dimensions != 3)
        return problem_make(err, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                            "%s is an array of %" PRIu64 " dimension%s; an image has 2 or 3",
                            r->name, array->dimensions, array->dimensions == 1 ? "" : "s");
    bool flat = array->dimensions == 2;
    raw_order order = flat ? ORDER_BAND : asked->has_order ? asked->order : guess_order(array);
    for (int i = 0; i < 3; i++) {
        raw_axis axis = axes_of[order][i];
        r->axes[array->fortran ? 2 - i : i] = axis;
        if (!flat)
            sides[axis] = array->shape[i];
        else if (axis != AXIS_BAND)
            sides[axis] = array->shape[i - 1];
    }
    tz_result result = check_sides(r, sides, err);
    for (int i = 0; i < 3 && result == TZ_OK; i++)
        r->sides[i] = (uint32_t)sides[i];
    r->dtype = array->dtype;
    r->swapped = array->swapped;
    return result;
}

static tz_result open_array(raw_source *r, const convert_settings *s, tz_error *err)
{
    char start[NPY_MAGIC_SIZE];
    npy_array array;
    uint64_t got;
    tz_result result = TZ_OK;
    if (strcmp(s->input, "-") != 0) {
        r->fd = open(s->input, O_RDONLY | O_CLOEXEC);
        if (r->fd < 0)
            return input_fail(r->name, errno, err);
        r->is_open = true;
        result = input_read(r->fd, r->name, start, sizeof start, -1, &got, err);
    }
    if (result == TZ_OK)
        result = npy_read(&array, r->fd, r->name, err);
    return result == TZ_OK ? describe_array(r, &array, &s->raw, err) : result;
}

/* Both ----------------------------------------------------------------------------------------- */

static void copy_settings(raw_source *r, const raw_settings *asked)
{
    r->sides[AXIS_BAND] = asked->bands;
    r->sides[AXIS_ROW] = asked->height;
    r->sides[AXIS_COLUMN] = asked->width;
    memcpy(r->axes, axes_of[asked->order], sizeof r->axes);
    r->dtype = asked->dtype;
}

/* A file can be read in any order, and its size is known. */
static tz_result find_start(raw_source *r, tz_error *err)
{
    struct stat found;
    if (fstat(r->fd, &found) != 0)
        return input_fail(r->name, errno, err);
    off_t at = S_ISREG(found.st_mode) ? lseek(r->fd, 0, SEEK_CUR) : -1;
    r->start = at;
    r->present = at < 0 ? TZ_NO_VALUE : found.st_size > at ? (uint64_t)(found.st_size - at) : 0;
    return TZ_OK;
}

tz_result raw_source_open(raw_source *r, const convert_settings *settings, tz_error *err)
{
    tz_result result = TZ_OK;
    *r = (raw_source){.fd = STDIN_FILENO, .start = -1, .present = TZ_NO_VALUE};
    input_name(r->name, settings->input);
    if (settings->raw.npy)
        result = open_array(r, settings, err);
    else
        copy_settings(r, &settings->raw);
    if (result == TZ_OK && settings->reads_arrays && (settings->raw.npy || !settings->dry_run))
        result = find_start(r, err);
    return result;
}

void raw_source_close(raw_source *r)
{
    if (r->is_open)
        close(r->fd);
    *r = (raw_source){0};
}

uint64_t raw_source_runs(const raw_source *r)
{
    uint64_t runs = 1;
    for (int i = 0; r->axes[i] != AXIS_ROW; i++)
        runs *= r->sides[r->axes[i]];
    return runs;
}

uint64_t raw_source_row_samples(const raw_source *r)
{
    uint64_t samples = 1;
    for (int i = 2; r->axes[i] != AXIS_ROW; i--)
        samples *= r->sides[r->axes[i]];
    return samples;
}
