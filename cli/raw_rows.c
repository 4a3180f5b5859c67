/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples are runs of rows: a run holds some rows of all axes that vary faster than rows, and there
 * is a run for each index of those that vary slower. With no such axis (--order pixel and row, C
 * arrays of pictures) there is one run, and input streams. Otherwise rows are read from every run,
 * at offsets of a file; a pipe is first copied to a spool. */
#include "raw_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problem.h"
#include "text.h"

#define MAX_MEMORY ((uint64_t)4 << 20)
#define MANY_RUNS  64 /* with more runs each read is small, and more memory pays */

typedef struct raw_rows {
    const conversion *c;
    tz_buffer rows; /* some rows, with the strides of the input's order */
    tz_buffer mask; /* of these rows, if it is made from nodata alone */
    uint64_t sample_size;
    uint64_t row_size; /* of one run */
    uint64_t expected; /* bytes in all */
    uint64_t taken;
    tz_sink *spool; /* NULL: none is needed */
} raw_rows;

/* Sizes ---------------------------------------------------------------------------------------- */

static uint64_t all_bands_row(const conversion *c)
{
    return (uint64_t)c->spec.width * c->raw.sides[AXIS_BAND] * tz_dtype_size(c->raw.dtype);
}

uint64_t raw_rows_part(const conversion *c)
{
    return raw_source_runs(&c->raw) > MANY_RUNS ? 4 : 8;
}

static uint32_t rows_at_a_time(const conversion *c)
{
    uint64_t max = c->memory.work / raw_rows_part(c);
    if (raw_source_runs(&c->raw) <= MANY_RUNS && max > MAX_MEMORY)
        max = MAX_MEMORY;
    uint64_t rows = max / all_bands_row(c);
    return rows < 1 ? 1 : rows > c->spec.height ? c->spec.height : (uint32_t)rows;
}

static bool needs_mask(const conversion *c)
{
    return c->by_nodata.used && c->mask_of != MASK_OF_BAND;
}

static uint64_t mask_memory(const conversion *c)
{
    return needs_mask(c) ? (uint64_t)rows_at_a_time(c) * c->spec.width : 0;
}

static uint64_t rows_memory(const conversion *c)
{
    return rows_at_a_time(c) * all_bands_row(c);
}

uint64_t raw_rows_memory(const conversion *c)
{
    return rows_memory(c) + mask_memory(c);
}

static tz_result allocate_mask(raw_rows *r, tz_error *err)
{
    uint64_t size = mask_memory(r->c);
    if (size == 0)
        return TZ_OK;
    r->mask = (tz_buffer){.struct_size = sizeof r->mask,
                          .data = size <= SIZE_MAX ? malloc((size_t)size) : NULL,
                          .dtype = TZ_DTYPE_UINT8,
                          .bands = 1,
                          .width = r->c->spec.width,
                          .band_stride = (int64_t)size,
                          .row_stride = r->c->spec.width,
                          .column_stride = 1};
    return r->mask.data != NULL ? TZ_OK : problem_nomem(err, "the mask");
}

/* Sets the bytes from one sample to the next along each axis, for this many rows. */
static void set_strides(raw_rows *r, uint32_t rows)
{
    const raw_source *from = &r->c->raw;
    int64_t strides[3];
    int64_t stride = (int64_t)r->sample_size;
    for (int i = 2; i >= 0; i--) {
        raw_axis axis = from->axes[i];
        strides[axis] = stride;
        stride *= axis == AXIS_ROW ? rows : from->sides[axis];
    }
    r->rows.height = rows;
    r->rows.band_stride = strides[AXIS_BAND];
    r->rows.row_stride = strides[AXIS_ROW];
    r->rows.column_stride = strides[AXIS_COLUMN];
}

static tz_result allocate_row_buffer(raw_rows *r, tz_error *err)
{
    const conversion *c = r->c;
    uint64_t size = rows_memory(c);
    if (c->settings->raw.npy && size > c->memory.work)
        return memory_refuse(&c->memory, size, err);
    r->sample_size = tz_dtype_size(c->raw.dtype);
    r->row_size = raw_source_row_samples(&c->raw) * r->sample_size;
    r->rows = (tz_buffer){.struct_size = sizeof r->rows,
                          .dtype = c->spec.dtype,
                          .bands = c->raw.sides[AXIS_BAND],
                          .width = c->spec.width};
    r->rows.data = size <= SIZE_MAX ? malloc((size_t)size) : NULL;
    return r->rows.data != NULL ? allocate_mask(r, err) : problem_nomem(err, "rows");
}

/* Bytes ---------------------------------------------------------------------------------------- */

static tz_result wrong_size(const conversion *c, bool too_few, uint64_t found, tz_error *err)
{
    uint64_t expected = all_bands_row(c) * c->spec.height;
    problem_make(err, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED,
                 "%s has %s%" PRIu64 " bytes%s, and %" PRIu32 " x %" PRIu32 " x %" PRIu32
                 " of %s are %" PRIu64,
                 c->raw.name, too_few ? "" : "more than ", found,
                 c->settings->raw.npy ? " after its header" : "", c->spec.height, c->spec.width,
                 c->raw.sides[AXIS_BAND], tz_dtype_name(c->raw.dtype), expected);
    err->expected = expected;
    return err->result;
}

tz_result raw_rows_check(const conversion *c, tz_error *err)
{
    const uint64_t found = c->raw.present;
    if (tz_dtype_size(c->spec.dtype) != tz_dtype_size(c->raw.dtype) && c->settings->reads_arrays)
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            "%s has samples of %s, and NBITS makes %s only of those of a TIFF",
                            c->raw.name, tz_dtype_name(c->raw.dtype), tz_dtype_name(c->spec.dtype));
    if (found == TZ_NO_VALUE || found == all_bands_row(c) * c->spec.height)
        return TZ_OK;
    return wrong_size(c, true, found, err);
}

/* Reads the next bytes of a stream. */
static tz_result read_next(raw_rows *r, void *to, uint64_t size, tz_error *err)
{
    uint64_t got;
    const raw_source *from = &r->c->raw;
    tz_result result = input_read(from->fd, from->name, to, size, -1, &got, err);
    r->taken += got;
    return result == TZ_OK && got < size ? wrong_size(r->c, true, r->taken, err) : result;
}

/* Reads bytes at an offset from the first sample. */
static tz_result read_at(raw_rows *r, void *to, uint64_t size, uint64_t offset, tz_error *err)
{
    uint64_t got;
    const raw_source *from = &r->c->raw;
    if (r->spool != NULL)
        return r->spool->read(r->spool, offset, to, (size_t)size, err);
    if (from->start < 0)
        return read_next(r, to, size, err);
    tz_result result =
        input_read(from->fd, from->name, to, size, from->start + (int64_t)offset, &got, err);
    return result == TZ_OK && got < size ? wrong_size(r->c, true, offset + got, err) : result;
}

static tz_result check_end(const raw_rows *r, tz_error *err)
{
    char more;
    uint64_t got;
    const raw_source *from = &r->c->raw;
    if (from->start >= 0)
        return TZ_OK; /* raw_rows_check has checked its size */
    tz_result result = input_read(from->fd, from->name, &more, 1, -1, &got, err);
    return result == TZ_OK && got > 0 ? wrong_size(r->c, false, r->expected, err) : result;
}

/* The spool ------------------------------------------------------------------------------------ */

static tz_result open_spool(raw_rows *r, tz_error *err)
{
    const convert_settings *s = r->c->settings;
    if (s->spool != NULL)
        return tz_spool_sink_open(&r->spool, s->spool, err);
    const char *slash = strrchr(r->c->output, '/');
    char *folder = slash != NULL ? strdup(r->c->output) : strdup(".");
    if (folder == NULL)
        return problem_nomem(err, "a name");
    if (slash != NULL)
        folder[slash - r->c->output + 1] = '\0';
    tz_result result = tz_spool_sink_open(&r->spool, folder, err);
    free(folder);
    return result;
}

/* Copies a pipe to a temporary file, so that rows of all runs can be read together. */
static tz_result fill_spool(raw_rows *r, tz_error *err)
{
    const uint64_t capacity = rows_memory(r->c);
    tz_result result = open_spool(r, err);
    for (uint64_t at = 0; result == TZ_OK && at < r->expected;) {
        tz_bytes piece = {r->rows.data,
                          (size_t)(r->expected - at < capacity ? r->expected - at : capacity)};
        result = read_next(r, r->rows.data, piece.size, err);
        if (result == TZ_OK)
            result = r->spool->write(r->spool, at, &piece, 1, err);
        at += piece.size;
    }
    return result == TZ_OK ? check_end(r, err) : result;
}

/* Rows ----------------------------------------------------------------------------------------- */

/* Reverses the bytes of each sample, or of each component of a complex one. */
static void swap_bytes(const raw_rows *r, uint64_t size)
{
    unsigned char *at = r->rows.data;
    const size_t each = r->sample_size / (r->c->raw.dtype >= TZ_DTYPE_COMPLEX_INT16 ? 2 : 1);
    for (unsigned char *end = at + size; at < end; at += each) {
        for (size_t i = 0; i < each / 2; i++) {
            unsigned char byte = at[i];
            at[i] = at[each - 1 - i];
            at[each - 1 - i] = byte;
        }
    }
}

/* Reads the next rows of every run. */
static tz_result read_row_range(raw_rows *r, uint32_t row, tz_error *err)
{
    const tz_image_spec *spec = &r->c->spec;
    const uint64_t runs = raw_source_runs(&r->c->raw);
    const uint32_t max = rows_at_a_time(r->c);
    set_strides(r, spec->height - row < max ? spec->height - row : max);
    const uint64_t size = r->row_size * r->rows.height;
    tz_result result = TZ_OK;
    for (uint64_t run = 0; run < runs && result == TZ_OK; run++)
        result = read_at(r, (char *)r->rows.data + run * size, size,
                         (run * spec->height + row) * r->row_size, err);
    if (result == TZ_OK && r->c->raw.swapped)
        swap_bytes(r, runs * size);
    return result;
}

/* The last band may be the mask; otherwise nodata marks pixels that are not valid. */
static tz_result write_row_range(const raw_rows *r, tz_writer *writer, tz_error *err)
{
    bool by_alpha = r->c->mask_of == MASK_OF_BAND;
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
    const raw_source *from = &r->c->raw;
    bool waits = from->start < 0 && raw_source_runs(from) > 1;
    tz_result result = waits ? fill_spool(r, err) : TZ_OK;
    for (uint32_t row = 0; result == TZ_OK && row < r->c->spec.height; row += r->rows.height) {
        result = read_row_range(r, row, err);
        if (result == TZ_OK)
            result = write_row_range(r, writer, err);
    }
    return result == TZ_OK && !waits ? check_end(r, err) : result;
}

tz_result raw_rows_write(const conversion *c, tz_writer *writer, tz_error *err)
{
    raw_rows r = {.c = c, .expected = all_bands_row(c) * c->spec.height};
    if (isatty(c->raw.fd) == 1)
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            "standard input is a terminal: pixels are not typed");
    tz_result result = allocate_row_buffer(&r, err);
    if (result == TZ_OK)
        result = write_all(&r, writer, err);
    if (r.spool != NULL)
        r.spool->close(r.spool);
    free(r.rows.data);
    free(r.mask.data);
    return result;
}
