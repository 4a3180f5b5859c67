/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* pread */
#include "raw_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problem.h"
#include "progress.h"

#define MOST_MEMORY ((uint64_t)4 << 20)
#define LOOK_AFTER  100 /* milliseconds, for a signal while there is no input */

typedef struct raw_rows {
    const conversion *c;
    tz_buffer rows; /* some rows, with the strides of the order that they come in */
    tz_buffer mask; /* of them, where it is made of nodata alone */
    uint64_t sample_size;
    uint64_t row_size; /* of one band */
    uint64_t expected; /* bytes in all */
    uint64_t taken;
    int64_t start; /* where a file on standard input begins; -1: it cannot be read in any order */
} raw_rows;

/* Sizes ---------------------------------------------------------------------------------------- */

static uint64_t all_bands_row(const conversion *c)
{
    return (uint64_t)c->spec.width * c->source_bands * tz_dtype_size(c->spec.dtype);
}

static uint32_t rows_at_a_time(const conversion *c)
{
    uint64_t most = c->memory.work / 8 < MOST_MEMORY ? c->memory.work / 8 : MOST_MEMORY;
    uint64_t rows = most / all_bands_row(c);
    return rows < 1 ? 1 : rows > c->spec.height ? c->spec.height : (uint32_t)rows;
}

static bool needs_mask(const conversion *c)
{
    return c->by_nodata.used && !conversion_masks_by_alpha(c);
}

static uint64_t mask_memory(const conversion *c)
{
    return needs_mask(c) ? (uint64_t)rows_at_a_time(c) * c->spec.width : 0;
}

uint64_t raw_rows_memory(const conversion *c)
{
    return rows_at_a_time(c) * all_bands_row(c) + mask_memory(c);
}

static tz_result take_mask_memory(raw_rows *r, tz_error *err)
{
    uint64_t size = mask_memory(r->c);
    if (size == 0)
        return TZ_OK;
    r->mask = (tz_buffer){.data = size <= SIZE_MAX ? malloc((size_t)size) : NULL,
                          .dtype = TZ_DTYPE_UINT8,
                          .bands = 1,
                          .width = r->c->spec.width,
                          .band_stride = (int64_t)size,
                          .row_stride = r->c->spec.width,
                          .column_stride = 1};
    return r->mask.data != NULL ? TZ_OK : problem_nomem(err, "the mask");
}

static tz_result take_memory(raw_rows *r, tz_error *err)
{
    const tz_image_spec *spec = &r->c->spec;
    raw_order order = r->c->settings->raw.order;
    uint64_t size = raw_rows_memory(r->c) - mask_memory(r->c);
    r->sample_size = tz_dtype_size(spec->dtype);
    r->row_size = r->sample_size * spec->width;
    r->rows = (tz_buffer){.dtype = spec->dtype,
                          .bands = r->c->source_bands,
                          .height = rows_at_a_time(r->c),
                          .width = spec->width};
    r->rows.data = size <= SIZE_MAX ? malloc((size_t)size) : NULL;
    if (r->rows.data == NULL)
        return problem_nomem(err, "rows");
    r->rows.band_stride = (int64_t)(order == ORDER_PIXEL ? r->sample_size
                                    : order == ORDER_ROW ? r->row_size
                                                         : r->row_size * r->rows.height);
    r->rows.row_stride = (int64_t)(order == ORDER_BAND ? r->row_size : r->row_size * r->rows.bands);
    r->rows.column_stride =
        (int64_t)(order == ORDER_PIXEL ? r->sample_size * r->rows.bands : r->sample_size);
    return take_mask_memory(r, err);
}

/* Bytes ---------------------------------------------------------------------------------------- */

static tz_result fail_read(tz_error *err, int reason)
{
    problem_make(err, TZ_ERR_IO, TZ_CAUSE_IO, "cannot read standard input: %s", strerror(reason));
    err->system_error = reason;
    return TZ_ERR_IO;
}

static tz_result wrong_size(const raw_rows *r, bool too_few, uint64_t found, tz_error *err)
{
    const tz_image_spec *spec = &r->c->spec;
    problem_make(err, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED,
                 "standard input has %s%" PRIu64 " bytes, and %" PRIu32 " x %" PRIu32 " x %" PRIu32
                 " of %s are %" PRIu64,
                 too_few ? "" : "more than ", found, spec->height, spec->width, r->c->source_bands,
                 tz_dtype_name(spec->dtype), r->expected);
    err->expected = r->expected;
    return err->result;
}

/* Until there is something to read, or a signal came: one that comes just before read would not
 * end it. */
static void wait_for_input(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int ready = 0;
    while (!progress_is_cancelled() && (ready == 0 || (ready < 0 && errno == EINTR)))
        ready = poll(&input, 1, LOOK_AFTER);
}

/* Up to size bytes, fewer at the end alone; from a place of a file, or the next ones. */
static tz_result read_bytes(char *to, uint64_t size, int64_t place, uint64_t *got, tz_error *err)
{
    for (*got = 0; *got < size;) {
        size_t left = (size_t)(size - *got);
        if (place < 0)
            wait_for_input();
        if (progress_is_cancelled())
            return progress_cancelled(err);
        ssize_t done = place >= 0
                           ? pread(STDIN_FILENO, to + *got, left, (off_t)(place + (int64_t)*got))
                           : read(STDIN_FILENO, to + *got, left);
        if (done == 0)
            return TZ_OK;
        if (done < 0 && errno != EINTR && errno != EAGAIN)
            return fail_read(err, errno);
        *got += done > 0 ? (uint64_t)done : 0;
    }
    return TZ_OK;
}

static tz_result take(raw_rows *r, char *to, uint64_t size, int64_t place, tz_error *err)
{
    uint64_t got;
    tz_result result = read_bytes(to, size, place, &got, err);
    r->taken += got;
    if (result == TZ_OK && got < size)
        return wrong_size(r, true, r->taken, err);
    return result;
}

/* Rows ----------------------------------------------------------------------------------------- */

/* Band after band: the rows of each are in a place of their own. */
static tz_result take_bands(raw_rows *r, uint32_t row, tz_error *err)
{
    const tz_image_spec *spec = &r->c->spec;
    for (uint32_t band = 0; band < r->rows.bands; band++) {
        uint64_t first = ((uint64_t)band * spec->height + row) * r->row_size;
        char *to = (char *)r->rows.data + (int64_t)band * r->rows.band_stride;
        tz_result result =
            take(r, to, r->row_size * r->rows.height, r->start + (int64_t)first, err);
        if (result != TZ_OK)
            return result;
    }
    return TZ_OK;
}

static tz_result take_rows(raw_rows *r, uint32_t row, tz_error *err)
{
    const tz_image_spec *spec = &r->c->spec;
    if (spec->height - row < r->rows.height)
        r->rows.height = spec->height - row;
    if (r->start >= 0)
        return take_bands(r, row, err);
    return take(r, r->rows.data, r->row_size * r->rows.bands * r->rows.height, -1, err);
}

/* Band after band from a pipe would take memory for the whole image. */
static tz_result find_start(raw_rows *r, tz_error *err)
{
    struct stat found;
    r->start = -1;
    if (r->c->settings->raw.order != ORDER_BAND || r->c->source_bands == 1)
        return TZ_OK;
    if (fstat(STDIN_FILENO, &found) != 0)
        return fail_read(err, errno);
    off_t at = S_ISREG(found.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
    if (at < 0)
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            "--order band needs a file on standard input ('<FILE'), not a pipe");
    uint64_t size = found.st_size > at ? (uint64_t)(found.st_size - at) : 0;
    r->start = at;
    return size == r->expected ? TZ_OK : wrong_size(r, true, size, err);
}

static tz_result check_end(const raw_rows *r, tz_error *err)
{
    char more;
    uint64_t got;
    tz_result result = r->start >= 0 ? TZ_OK : read_bytes(&more, 1, -1, &got, err);
    if (result == TZ_OK && r->start < 0 && got > 0)
        return wrong_size(r, false, r->expected, err);
    return result;
}

/* Of the bands that came, the last one may be the mask; or nodata says what is valid. */
static tz_result give_rows(const raw_rows *r, tz_writer *writer, tz_error *err)
{
    bool by_alpha = conversion_masks_by_alpha(r->c);
    tz_buffer rows = r->rows;
    tz_buffer mask = by_alpha ? r->rows : r->mask;
    if (!by_alpha && !needs_mask(r->c))
        return tz_write_rows(writer, &rows, NULL, err);
    mask.bands = 1;
    mask.height = rows.height;
    if (by_alpha) {
        rows.bands--;
        mask.data = (char *)mask.data + (int64_t)rows.bands * rows.band_stride;
    }
    if (r->c->by_nodata.used)
        nodata_mask_apply(&r->c->by_nodata, &rows, &mask, by_alpha);
    return tz_write_rows(writer, &rows, &mask, err);
}

static tz_result write_all(raw_rows *r, tz_writer *writer, tz_error *err)
{
    tz_result result = find_start(r, err);
    for (uint32_t row = 0; result == TZ_OK && row < r->c->spec.height; row += r->rows.height) {
        result = take_rows(r, row, err);
        if (result == TZ_OK)
            result = give_rows(r, writer, err);
    }
    return result == TZ_OK ? check_end(r, err) : result;
}

tz_result raw_rows_write(const conversion *c, tz_writer *writer, tz_error *err)
{
    raw_rows r = {.c = c, .expected = all_bands_row(c) * c->spec.height};
    if (isatty(STDIN_FILENO) == 1)
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            "standard input is a terminal: pixels are not typed");
    tz_result result = take_memory(&r, err);
    if (result == TZ_OK)
        result = write_all(&r, writer, err);
    free(r.rows.data);
    free(r.mask.data);
    return result;
}
