/* SPDX-License-Identifier: Apache-2.0
 * Rows as they are given: whether they are those that the image needs next, and where they are. */
#include "base/mem.h"
#include "write/writer.h"

static tz_result fail_expected(const tz_writer *w, const char *what, uint64_t expected,
                               uint64_t found)
{
    return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                   tz_expecting(tz_no_location(), expected, found), "%s", what);
}

/* All strides 0: packed, band after band. */
static tz_result set_row_strides(const tz_writer *w, const tz_buffer *given, tz_buffer *out)
{
    *out = *given;
    if (given->band_stride != 0 || given->row_stride != 0 || given->column_stride != 0)
        return TZ_OK;
    const uint64_t row = tz_mul_capped(tz_dtype_size(given->dtype), given->width);
    const uint64_t band = tz_mul_capped(row, given->height);
    if (tz_mul_capped(band, given->bands) > INT64_MAX)
        return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "so many rows fit no memory; give the strides of the buffer");
    out->column_stride = (int64_t)tz_dtype_size(given->dtype);
    out->row_stride = (int64_t)row;
    out->band_stride = (int64_t)band;
    return TZ_OK;
}

static tz_result check_rows(const tz_writer *w, const tz_buffer *rows)
{
    const tz_image_spec *spec = &tz_writer_image(w)->spec;
    if (!rows || (!tz_buffer_has_memory(rows) && rows->height > 0))
        return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "rows has no data");
    if (rows->dtype != spec->dtype)
        return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "rows are of type %s, but the image is of type %s",
                       tz_dtype_name(rows->dtype), tz_dtype_name(spec->dtype));
    if (rows->width != spec->width)
        return fail_expected(w, "the rows' width is not the image's", spec->width, rows->width);
    if (rows->bands != spec->bands)
        return fail_expected(w, "rows have another number of bands", spec->bands, rows->bands);
    if (rows->height > spec->height - w->levels[0].next_row)
        return fail_expected(w, "more rows than the image has",
                             spec->height - w->levels[0].next_row, rows->height);
    return TZ_OK;
}

static tz_result check_mask(const tz_writer *w, const tz_buffer *rows, const tz_buffer *mask)
{
    const bool wanted = tz_writer_image(w)->spec.mask;
    if (!wanted && !mask)
        return TZ_OK;
    if (!wanted)
        return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "a mask is given, but the specification has none");
    if (!mask || (!tz_buffer_has_memory(mask) && mask->height > 0))
        return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the mask of the rows is missing");
    if (mask->dtype != TZ_DTYPE_UINT8 || mask->bands != 1)
        return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "a mask is one band of uint8, not %u of %s", mask->bands,
                       tz_dtype_name(mask->dtype));
    if (mask->width != rows->width)
        return fail_expected(w, "the mask's width is not that of the rows", rows->width,
                             mask->width);
    if (mask->height != rows->height)
        return fail_expected(w, "the mask's height is not that of the rows", rows->height,
                             mask->height);
    return TZ_OK;
}

/* Rows and their mask are in one memory. */
static tz_result check_row_memory(const tz_writer *w, const tz_buffer *rows, const tz_buffer *mask)
{
    TZ_TRY(tz_gpu_writer_check_rows(w, rows));
    if (!mask)
        return TZ_OK;
    TZ_TRY(tz_gpu_writer_check_rows(w, mask));
    if ((rows->memory != NULL) == (mask->memory != NULL))
        return TZ_OK;
    return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                   "rows and their mask are not both of the device, or both of the host");
}

tz_result tz_check_rows(const tz_writer *w, const tz_buffer *rows, const tz_buffer *mask,
                        tz_buffer *pixels, tz_buffer *valid)
{
    TZ_TRY(check_rows(w, rows));
    TZ_TRY(check_mask(w, rows, mask));
    TZ_TRY(set_row_strides(w, rows, pixels));
    if (mask)
        TZ_TRY(set_row_strides(w, mask, valid));
    return check_row_memory(w, pixels, mask ? valid : NULL);
}
