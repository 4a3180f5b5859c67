/* SPDX-License-Identifier: Apache-2.0
 * What a reduction comes to: which pixels it looks at, and what its samples are. */
#include <math.h>
#include <string.h>

#include "kernels/component.h"
#include "pixel/overview_pixels.h"
#include "pixel/pixel.h"

_Static_assert(TZ_COMPONENT_U8 == (unsigned)TZ_DTYPE_UINT8 &&
                   TZ_COMPONENT_I64 == (unsigned)TZ_DTYPE_INT64 &&
                   TZ_COMPONENT_F16 == (unsigned)TZ_DTYPE_FLOAT16 &&
                   TZ_COMPONENT_F64 == (unsigned)TZ_DTYPE_FLOAT64,
               "kernels know types by the same numbers");

const char *tz_resampling_unsupported(tz_resampling method, tz_dtype dtype, bool palette)
{
    if ((unsigned)method > TZ_RESAMPLE_MEDIAN || method == TZ_RESAMPLE_NONE)
        return "there is no such resampling";
    if (palette && method != TZ_RESAMPLE_NEAREST && method != TZ_RESAMPLE_MODE)
        return "numbers in a colour map can be resampled by nearest and mode only";
    if (dtype >= TZ_DTYPE_COMPLEX_INT16 && method >= TZ_RESAMPLE_RMS)
        return "complex samples have no order; they can be resampled by nearest, average, "
               "bilinear, "
               "cubic, lanczos and gauss only";
    return NULL;
}

/* ---- geometry ---- */

static tz_axis_map axis_map_of(const tz_overview_params *how, uint32_t from, uint32_t to)
{
    return (tz_axis_map){
        .method = how->method, .scale = (double)from / to, .high = from, .overview = true};
}

tz_axis_map tz_overview_map_across(const tz_overview_params *how)
{
    return axis_map_of(how, how->from_width, how->to_width);
}

tz_axis_map tz_overview_map_down(const tz_overview_params *how)
{
    return axis_map_of(how, how->from_height, how->to_height);
}

static tz_interval source_interval(const tz_axis_map *map, tz_interval of)
{
    int64_t low;
    int64_t high;
    if (of.first >= of.end)
        return (tz_interval){0, 0};
    tz_axis_range(map, of.first, of.end - of.first, &low, &high);
    return (tz_interval){(uint32_t)low, (uint32_t)high};
}

tz_interval tz_overview_source_rows(const tz_overview_params *how, tz_interval of)
{
    const tz_axis_map map = tz_overview_map_down(how);
    return source_interval(&map, of);
}

tz_interval tz_overview_source_columns(const tz_overview_params *how, tz_interval of)
{
    const tz_axis_map map = tz_overview_map_across(how);
    return source_interval(&map, of);
}

/* ---- types ---- */

/* What each part of a complex sample is, and how many parts there are. */
static tz_dtype component_of(tz_dtype dtype, uint32_t *components)
{
    *components = dtype >= TZ_DTYPE_COMPLEX_INT16 ? 2 : 1;
    switch (dtype) {
    case TZ_DTYPE_COMPLEX_INT16:
        return TZ_DTYPE_INT16;
    case TZ_DTYPE_COMPLEX_INT32:
        return TZ_DTYPE_INT32;
    case TZ_DTYPE_COMPLEX_FLOAT16:
        return TZ_DTYPE_FLOAT16;
    case TZ_DTYPE_COMPLEX_FLOAT32:
        return TZ_DTYPE_FLOAT32;
    case TZ_DTYPE_COMPLEX_FLOAT64:
        return TZ_DTYPE_FLOAT64;
    default:
        return dtype;
    }
}

/* ---- samples ---- */

static size_t sample_offset(tz_dtype dtype)
{
    return tz_host_is_little_endian() ? 0 : 8 - tz_dtype_size(dtype);
}

uint64_t tz_sample_bits(tz_dtype dtype, const uint8_t *sample)
{
    uint64_t bits = 0;
    memcpy((uint8_t *)&bits + sample_offset(dtype), sample, tz_dtype_size(dtype));
    return bits;
}

void tz_sample_put(tz_dtype dtype, uint64_t bits, uint8_t *sample)
{
    memcpy(sample, (uint8_t *)&bits + sample_offset(dtype), tz_dtype_size(dtype));
}

static uint64_t fill_bits(tz_dtype dtype, const tz_nodata *value)
{
    uint8_t sample[8];
    tz_row_fill(dtype, value, sample, 0, 1);
    return tz_sample_bits(dtype, sample);
}

tz_overview_samples tz_overview_samples_of(const tz_overview_params *how)
{
    const tz_nodata nan = {.kind = TZ_NODATA_FLOAT, .value = {.f = (double)NAN}};
    tz_overview_samples out = {0};
    out.dtype = component_of(how->dtype, &out.parts);
    out.is_float = tz_component_is_float(out.dtype);
    const bool sign = tz_component_is_signed(out.dtype);
    out.clamps = !out.is_float && how->bits < 8 * tz_dtype_size(out.dtype);
    if (out.clamps) { /* else the cast saturates */
        out.high = ldexp(1, how->bits - sign) - 1;
        out.low = sign ? -out.high - 1 : 0;
    }
    out.wants_nan = out.is_float && how->nodata.kind == TZ_NODATA_NONE;
    out.none = fill_bits(out.dtype, &how->nodata);
    out.missing = out.wants_nan ? fill_bits(out.dtype, &nan) : out.none;
    return out;
}

/* ---- two by two ---- */

bool tz_overview_is_average_2x2(const tz_overview_params *how)
{
    const tz_dtype dtype = how->dtype;
    return how->method == TZ_RESAMPLE_AVERAGE && how->from_width == 2 * (uint64_t)how->to_width &&
           how->from_height == 2 * (uint64_t)how->to_height &&
           (dtype == TZ_DTYPE_UINT8 || dtype == TZ_DTYPE_UINT16 || dtype == TZ_DTYPE_INT16 ||
            dtype == TZ_DTYPE_FLOAT32) &&
           (how->alpha == 0 || how->nodata.kind == TZ_NODATA_NONE);
}

static double sample_value(tz_dtype dtype, uint64_t bits)
{
    const tz_conversion widen = {.from = dtype, .to = TZ_DTYPE_FLOAT64};
    uint8_t sample[8];
    double value;
    tz_sample_put(dtype, bits, sample);
    tz_row_convert(&widen, sample, 1, (uint8_t *)&value, sizeof value, 1, NULL, 0);
    return value;
}

/* Nodata may be a value that samples cannot have. */
static bool bits_are_nodata(const tz_overview_params *how, uint64_t bits)
{
    const tz_conversion find = {.from = how->dtype, .to = how->dtype, .nodata = how->nodata};
    uint8_t sample[8];
    uint8_t other;
    tz_sample_put(how->dtype, bits, sample);
    tz_row_convert(&find, sample, 1, NULL, 0, 1, &other, 1);
    return !other;
}

tz_average_2x2_params tz_overview_average_2x2(const tz_overview_params *how)
{
    const tz_overview_samples to = tz_overview_samples_of(how);
    const uint32_t size = (uint32_t)tz_dtype_size(to.dtype);
    const double nodata = sample_value(to.dtype, to.none);
    const double neighbour =
        sample_value(to.dtype, tz_component_neighbour(to.dtype, size, how->bits, to.none));
    tz_average_2x2_params average = {.dtype = to.dtype,
                                     .has_nodata = bits_are_nodata(how, to.none)};
    if (to.is_float) {
        average.nodata_real = (float)nodata;
        average.neighbour_real = (float)neighbour;
        average.none_real = to.wants_nan ? NAN : (float)nodata;
    } else {
        average.nodata = (int32_t)nodata;
        average.neighbour = (int32_t)neighbour;
    }
    return average;
}
