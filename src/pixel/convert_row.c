/* SPDX-License-Identifier: Apache-2.0
 * Conversion of samples: type, scale and offset, nodata, and a mask.
 *
 * A chunk at a time goes to a wide form (64-bit integers or doubles), and from there to the wanted
 * type, so that every pair of types is one load and one store. Integers are not widened to doubles
 * unless a scale asks for it: 64-bit ones would lose bits. A conversion to the same type copies the
 * samples, so that a NaN keeps its payload. Complex samples go twice, once for each component.
 * The replacement of nodata is cast once for a row, and stored over what the sample became.
 *
 * tz_row_convert chooses: one sample for a whole row, a copy, or the loops of the table. */
#include <string.h>

#include "base/minmax.h"
#include "pixel/row_ops.h"

enum { CHUNK = 256 };

typedef union wide {
    int64_t i;
    uint64_t u;
    double f;
} wide;

/* ---- loads and stores, one of each by type ---- */

#define LOAD(name, type, member, expression)                                                       \
    static void load_##name(const uint8_t *src, ptrdiff_t step, wide *out, size_t count)           \
    {                                                                                              \
        for (size_t i = 0; i < count; i++, src += step) {                                          \
            type x;                                                                                \
            memcpy(&x, src, sizeof x);                                                             \
            out[i].member = expression;                                                            \
        }                                                                                          \
    }
LOAD(u8, uint8_t, u, x)
LOAD(i8, int8_t, i, x)
LOAD(u16, uint16_t, u, x)
LOAD(i16, int16_t, i, x)
LOAD(u32, uint32_t, u, x)
LOAD(i32, int32_t, i, x)
LOAD(u64, uint64_t, u, x)
LOAD(i64, int64_t, i, x)
LOAD(f16, uint16_t, f, (double)tz_half_to_f32(x))
LOAD(f32, float, f, (double)x)
LOAD(f64, double, f, x)

#define STORE(name, type)                                                                          \
    static void store_##name(const wide *in, uint32_t kind, uint8_t *dst, ptrdiff_t step,          \
                             size_t count)                                                         \
    {                                                                                              \
        for (size_t i = 0; i < count; i++, dst += step) {                                          \
            const type x = kind == TZ_WIDE_I64   ? tz_##name##_of_i64(in[i].i)                     \
                           : kind == TZ_WIDE_U64 ? tz_##name##_of_u64(in[i].u)                     \
                                                 : tz_##name##_of_f64(in[i].f);                    \
            memcpy(dst, &x, sizeof x);                                                             \
        }                                                                                          \
    }
STORE(u8, uint8_t)
STORE(i8, int8_t)
STORE(u16, uint16_t)
STORE(i16, int16_t)
STORE(u32, uint32_t)
STORE(i32, int32_t)
STORE(u64, uint64_t)
STORE(i64, int64_t)
STORE(f16, uint16_t)
STORE(f32, float)
STORE(f64, double)

/* ---- types ---- */

typedef struct type_ops {
    void (*load)(const uint8_t *src, ptrdiff_t step, wide *out, size_t count);
    void (*store)(const wide *in, uint32_t kind, uint8_t *dst, ptrdiff_t step, size_t count);
    uint32_t kind;
    uint8_t size;    /* bytes of a component */
    bool is_complex; /* two components, one right after the other */
} type_ops;

static const type_ops types[] = {
    [TZ_DTYPE_UINT8] = {load_u8, store_u8, TZ_WIDE_U64, 1, false},
    [TZ_DTYPE_INT8] = {load_i8, store_i8, TZ_WIDE_I64, 1, false},
    [TZ_DTYPE_UINT16] = {load_u16, store_u16, TZ_WIDE_U64, 2, false},
    [TZ_DTYPE_INT16] = {load_i16, store_i16, TZ_WIDE_I64, 2, false},
    [TZ_DTYPE_UINT32] = {load_u32, store_u32, TZ_WIDE_U64, 4, false},
    [TZ_DTYPE_INT32] = {load_i32, store_i32, TZ_WIDE_I64, 4, false},
    [TZ_DTYPE_UINT64] = {load_u64, store_u64, TZ_WIDE_U64, 8, false},
    [TZ_DTYPE_INT64] = {load_i64, store_i64, TZ_WIDE_I64, 8, false},
    [TZ_DTYPE_FLOAT16] = {load_f16, store_f16, TZ_WIDE_F64, 2, false},
    [TZ_DTYPE_FLOAT32] = {load_f32, store_f32, TZ_WIDE_F64, 4, false},
    [TZ_DTYPE_FLOAT64] = {load_f64, store_f64, TZ_WIDE_F64, 8, false},
    [TZ_DTYPE_COMPLEX_INT16] = {load_i16, store_i16, TZ_WIDE_I64, 2, true},
    [TZ_DTYPE_COMPLEX_INT32] = {load_i32, store_i32, TZ_WIDE_I64, 4, true},
    [TZ_DTYPE_COMPLEX_FLOAT16] = {load_f16, store_f16, TZ_WIDE_F64, 2, true},
    [TZ_DTYPE_COMPLEX_FLOAT32] = {load_f32, store_f32, TZ_WIDE_F64, 4, true},
    [TZ_DTYPE_COMPLEX_FLOAT64] = {load_f64, store_f64, TZ_WIDE_F64, 8, true},
};

/* ---- chunks ---- */

/* True if samples are copied and not cast: a NaN keeps its bits. */
static bool copies_bits(const tz_conversion *how)
{
    return how->from == how->to && !how->scaled;
}

/* Scales in two roundings, as the kernels do, and not with a fused multiply-add. */
static void scale_values(const tz_conversion *how, wide *chunk, uint32_t kind, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double product = tz_wide_f64(chunk[i].u, kind) * how->scale;
        chunk[i].f = product + how->offset;
    }
}

/* Converts the imaginary components: cast like real ones but not scaled, or 0 if there are none. */
static void convert_imaginary(const tz_conversion *how, const uint8_t *src, ptrdiff_t src_step,
                              uint8_t *dst, ptrdiff_t dst_step, size_t count)
{
    const type_ops *from = &types[how->from];
    const type_ops *to = &types[how->to];
    wide chunk[CHUNK] = {{0}};
    if (from->is_complex)
        from->load(src + from->size, src_step, chunk, count);
    to->store(chunk, from->kind, dst + to->size, dst_step, count);
}

/* Converts samples and writes the mask. Nodata is found before the scale; replacement is a sample
 * of the type to. */
static void convert_chunk(const tz_conversion *how, const uint8_t *src, ptrdiff_t src_step,
                          uint8_t *dst, ptrdiff_t dst_step, size_t count, uint8_t *mask,
                          ptrdiff_t mask_step, const uint8_t *replacement)
{
    const bool replaces = how->replacement.kind != TZ_NODATA_KIND_NONE;
    const type_ops *from = &types[how->from];
    const type_ops *to = &types[how->to];
    wide chunk[CHUNK];
    bool nodata[CHUNK] = {false};
    uint32_t kind = from->kind;
    from->load(src, src_step, chunk, count);
    if (how->nodata.kind != TZ_NODATA_KIND_NONE && (mask || replaces)) {
        uint32_t nodata_kind;
        const uint64_t bits = tz_nodata_wide(&how->nodata, &nodata_kind);
        for (size_t i = 0; i < count; i++)
            nodata[i] = tz_wide_equals(chunk[i].u, kind, bits, nodata_kind);
    }
    for (size_t i = 0; mask && i < count; i++)
        mask[(ptrdiff_t)i * mask_step] = nodata[i] ? 0 : 255;
    if (!dst)
        return;
    if (copies_bits(how)) {
        tz_scalar_copy(tz_dtype_size(how->to), src, src_step, dst, dst_step, count);
    } else {
        if (how->scaled) {
            scale_values(how, chunk, kind, count);
            kind = TZ_WIDE_F64;
        }
        to->store(chunk, kind, dst, dst_step, count);
        if (to->is_complex)
            convert_imaginary(how, src, src_step, dst, dst_step, count);
    }
    for (size_t i = 0; replaces && i < count; i++)
        if (nodata[i])
            memcpy(dst + (ptrdiff_t)i * dst_step, replacement, tz_dtype_size(how->to));
}

void tz_scalar_convert(const tz_conversion *how, const uint8_t *src, ptrdiff_t src_step,
                       uint8_t *dst, ptrdiff_t dst_step, size_t count, uint8_t *mask,
                       ptrdiff_t mask_step)
{
    uint8_t replacement[16];
    if (how->replacement.kind != TZ_NODATA_KIND_NONE)
        tz_row_fill(how->to, &how->replacement, replacement, sizeof replacement, 1);
    for (size_t done = 0; done < count;) {
        const size_t some = tz_min_size(count - done, CHUNK);
        convert_chunk(how, src, src_step, dst, dst_step, some, mask, mask_step, replacement);
        done += some;
        src += src_step * (ptrdiff_t)some;
        if (dst)
            dst += dst_step * (ptrdiff_t)some;
        if (mask)
            mask += mask_step * (ptrdiff_t)some;
    }
}

/* ---- rows ---- */

void tz_row_convert(const tz_conversion *how, const uint8_t *src, ptrdiff_t src_step, uint8_t *dst,
                    ptrdiff_t dst_step, size_t count, uint8_t *mask, ptrdiff_t mask_step)
{
    const tz_row_ops *ops = tz_row_ops_get();
    if (!dst && !mask)
        return;
    if (src_step == 0) { /* one sample is converted, and then repeated */
        uint8_t sample[16];
        uint8_t flag;
        ops->convert(how, src, 0, sample, sizeof sample, 1, &flag, 0);
        if (dst)
            ops->copy(tz_dtype_size(how->to), sample, 0, dst, dst_step, count);
        if (mask)
            ops->copy(1, &flag, 0, mask, mask_step, count);
    } else if (copies_bits(how) && how->replacement.kind == TZ_NODATA_KIND_NONE && !mask) {
        ops->copy(tz_dtype_size(how->to), src, src_step, dst, dst_step, count);
    } else {
        ops->convert(how, src, src_step, dst, dst_step, count, mask, mask_step);
    }
}

void tz_row_fill(tz_dtype dtype, const tz_nodata *value, uint8_t *dst, ptrdiff_t dst_step,
                 size_t count)
{
    static const tz_dtype kinds[] = {[TZ_NODATA_KIND_NONE] = TZ_DTYPE_UINT64,
                                     [TZ_NODATA_KIND_INT] = TZ_DTYPE_INT64,
                                     [TZ_NODATA_KIND_UINT] = TZ_DTYPE_UINT64,
                                     [TZ_NODATA_KIND_FLOAT] = TZ_DTYPE_FLOAT64};
    const tz_conversion how = {.from = kinds[value->kind], .to = dtype};
    uint64_t bits = 0;
    if (value->kind != TZ_NODATA_KIND_NONE)
        memcpy(&bits, &value->value, sizeof bits);
    tz_row_convert(&how, (const uint8_t *)&bits, 0, dst, dst_step, count, NULL, 0);
}
