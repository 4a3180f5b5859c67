/* SPDX-License-Identifier: Apache-2.0
 * What happens to samples, as the words that kernels read. */
#include <string.h>

#include "device/ops/convert_kernels.h"
#include "device/ops/convert_launch.h"
#include "pixel/row_ops.h"

_Static_assert(sizeof(tz_convert_format) == 8 * TZ_RULE_WORDS, "kernels read formats as they are");

typedef struct component_type {
    uint8_t part;
    uint8_t count;
} component_type;

static const component_type types[] = {
    [TZ_DTYPE_UINT8] = {TZ_COMPONENT_U8, 1},
    [TZ_DTYPE_INT8] = {TZ_COMPONENT_I8, 1},
    [TZ_DTYPE_UINT16] = {TZ_COMPONENT_U16, 1},
    [TZ_DTYPE_INT16] = {TZ_COMPONENT_I16, 1},
    [TZ_DTYPE_UINT32] = {TZ_COMPONENT_U32, 1},
    [TZ_DTYPE_INT32] = {TZ_COMPONENT_I32, 1},
    [TZ_DTYPE_UINT64] = {TZ_COMPONENT_U64, 1},
    [TZ_DTYPE_INT64] = {TZ_COMPONENT_I64, 1},
    [TZ_DTYPE_FLOAT16] = {TZ_COMPONENT_F16, 1},
    [TZ_DTYPE_FLOAT32] = {TZ_COMPONENT_F32, 1},
    [TZ_DTYPE_FLOAT64] = {TZ_COMPONENT_F64, 1},
    [TZ_DTYPE_COMPLEX_INT16] = {TZ_COMPONENT_I16, 2},
    [TZ_DTYPE_COMPLEX_INT32] = {TZ_COMPONENT_I32, 2},
    [TZ_DTYPE_COMPLEX_FLOAT16] = {TZ_COMPONENT_F16, 2},
    [TZ_DTYPE_COMPLEX_FLOAT32] = {TZ_COMPONENT_F32, 2},
    [TZ_DTYPE_COMPLEX_FLOAT64] = {TZ_COMPONENT_F64, 2},
};

static uint64_t sample_form_of(const tz_row_format *row)
{
    if (row->predictor == 3)
        return TZ_SAMPLE_PLANES;
    if (tz_row_has_words(row))
        return TZ_SAMPLE_WORDS;
    return row->bits == 24 && row->sample_format == 3 ? TZ_SAMPLE_F24 : TZ_SAMPLE_PACKED;
}

/* Whether the lowest byte does not come first, where that matters. */
static bool is_swapped(const tz_row_format *row, uint64_t form)
{
    if (form == TZ_SAMPLE_WORDS)
        return row->swap && row->predictor != 2;
    return form == TZ_SAMPLE_F24 && row->swap == tz_host_is_little_endian();
}

static void set_form(uint64_t *words, const tz_row_format *row)
{
    const uint64_t form = sample_form_of(row);
    words[TZ_RULE_FORM] = form;
    words[TZ_RULE_BITS] = row->bits;
    words[TZ_RULE_SWAP] = is_swapped(row, form);
    words[TZ_RULE_IS_SIGN] = row->sample_format == 2;
    words[TZ_RULE_COMPONENT_TYPE] = types[row->dtype].part;
    words[TZ_RULE_COMPONENTS] = types[row->dtype].count;
    words[TZ_RULE_COUNT] = (uint64_t)row->width * row->samples;
}

static bool is_real(uint64_t part)
{
    return tz_component_kind((uint32_t)part) == TZ_WIDE_F64;
}

static bool needs_doubles(const uint64_t *words)
{
    const uint64_t steps = words[TZ_RULE_STEPS];
    if (steps & (TZ_STEP_SCALE | TZ_STEP_TO_NAN))
        return true;
    if ((steps & TZ_STEP_NODATA) &&
        (is_real(words[TZ_RULE_COMPONENT_TYPE]) || words[TZ_RULE_NODATA_KIND] == TZ_WIDE_F64))
        return true;
    return !(steps & TZ_STEP_SAME) &&
           (is_real(words[TZ_RULE_COMPONENT_TYPE]) || is_real(words[TZ_RULE_TO]));
}

static void set_nodata(uint64_t *words, const tz_nodata *nodata)
{
    if (nodata->kind == TZ_NODATA_NONE)
        return;
    uint32_t kind;
    words[TZ_RULE_STEPS] |= TZ_STEP_NODATA;
    words[TZ_RULE_NODATA] = tz_nodata_wide(nodata, &kind);
    words[TZ_RULE_NODATA_KIND] = kind;
}

static void set_steps(uint64_t *words, const tz_conversion *how)
{
    uint64_t *steps = &words[TZ_RULE_STEPS];
    words[TZ_RULE_TO] = types[how->to].part;
    words[TZ_RULE_TO_COMPONENTS] = types[how->to].count;
    if (how->scaled) {
        *steps |= TZ_STEP_SCALE;
        memcpy(&words[TZ_RULE_SCALE], &how->scale, sizeof words[0]);
        memcpy(&words[TZ_RULE_OFFSET], &how->offset, sizeof words[0]);
    }
    if (how->from == how->to && !how->scaled)
        *steps |= TZ_STEP_SAME;
    if (how->nodata_to_nan)
        *steps |= TZ_STEP_TO_NAN;
    set_nodata(words, &how->nodata);
    if (needs_doubles(words))
        *steps |= TZ_STEP_DOUBLES;
}

tz_convert_format tz_convert_format_make(const tz_row_format *row, const tz_conversion *how)
{
    tz_convert_format format = {{0}};
    set_form(format.words, row);
    set_steps(format.words, how);
    const uint64_t steps = format.words[TZ_RULE_STEPS];
    if ((steps & TZ_STEP_SAME) && !(steps & TZ_STEP_TO_NAN) &&
        format.words[TZ_RULE_FORM] == TZ_SAMPLE_WORDS && !format.words[TZ_RULE_SWAP])
        format.words[TZ_RULE_COPY] = tz_dtype_size(how->to);
    return format;
}

tz_convert_format tz_convert_format_copy(uint32_t width)
{
    tz_convert_format format = {{0}};
    format.words[TZ_RULE_BITS] = 8 * (uint64_t)width;
    format.words[TZ_RULE_STEPS] = TZ_STEP_SAME;
    format.words[TZ_RULE_COPY] = width;
    return format;
}

bool tz_device_converts(const tz_device *device, const tz_convert_format *format)
{
    return tz_device_get_info(device)->limits.fp64 ||
           !(format->words[TZ_RULE_STEPS] & TZ_STEP_DOUBLES);
}
