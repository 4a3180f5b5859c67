/* SPDX-License-Identifier: Apache-2.0
 * Conversion of samples with AVX2, for types of up to 32 bits and double.
 *
 * All loops run over whole blocks of 32 samples that lie together. Samples that do not, and the end
 * of a row, are gathered in a buffer a chunk at a time, and results are spread from a buffer;
 * otherwise loops read and write the row itself.
 *
 * A double holds every sample of these types exactly, so that it is the wide form of all of them:
 * each type has a loop to double and one from it. Frequent pairs of small types have a direct loop
 * besides. Nodata can be compared, and replaced, as a double for the same reason. */
#include "pixel/row_ops.h"

#if defined(__x86_64__)
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "pixel/cast_avx2.h"

enum { CHUNK = 256, BLOCK = 32, WIDEST = 8 };

/* The parts of a tz_conversion that loops need. */
typedef struct value_change {
    bool scaled;
    bool replaces; /* nodata becomes replacement */
    bool nan_is_nodata;
    double scale, offset, nodata;
    double replacement; /* cast to the wanted type already */
} value_change;

/* ---- values ---- */

/* Compares before the scale: nodata is a stored value. */
TZ_AVX2_INLINE __m256d change_four(__m256d v, const value_change *c)
{
    __m256d found = _mm256_setzero_pd();
    if (c->replaces)
        found = c->nan_is_nodata ? _mm256_cmp_pd(v, v, _CMP_UNORD_Q)
                                 : _mm256_cmp_pd(v, _mm256_set1_pd(c->nodata), _CMP_EQ_OQ);
    if (c->scaled)
        v = _mm256_add_pd(_mm256_mul_pd(v, _mm256_set1_pd(c->scale)), _mm256_set1_pd(c->offset));
    return c->replaces ? _mm256_blendv_pd(v, _mm256_set1_pd(c->replacement), found) : v;
}

TZ_AVX2_INLINE void convert_wide(tz_dtype from, size_t from_size, tz_dtype to, size_t to_size,
                                 value_change c, const uint8_t *src, uint8_t *dst, size_t count)
{
    for (size_t i = 0; i < count; i += 8) {
        eight x = load_eight(from, src + i * from_size);
        x.low = change_four(x.low, &c);
        x.high = change_four(x.high, &c);
        store_eight(to, dst + i * to_size, x);
    }
}

/* Converts to f32 from types that f32 holds exactly, unscaled. Nodata that is not an f32 equals no
 * sample. */
TZ_AVX2_INLINE void convert_f32(tz_dtype from, size_t from_size, const value_change *c,
                                const uint8_t *src, uint8_t *dst, size_t count)
{
    const float narrow = (float)c->nodata;
    const bool is_f32 = c->replaces && (c->nan_is_nodata || (double)narrow == c->nodata);
    const __m256 nodata = _mm256_set1_ps(narrow);
    for (size_t i = 0; i < count; i += 8) {
        __m256 v = from == TZ_DTYPE_FLOAT32
                       ? load_floats(src + i * 4)
                       : _mm256_cvtepi32_ps(load_small(from, src + i * from_size));
        if (is_f32) {
            const __m256 found = c->nan_is_nodata ? _mm256_cmp_ps(v, v, _CMP_UNORD_Q)
                                                  : _mm256_cmp_ps(v, nodata, _CMP_EQ_OQ);
            v = _mm256_blendv_ps(v, _mm256_set1_ps((float)c->replacement), found);
        }
        store_floats(dst + i * 4, v);
    }
}

typedef void (*convert_fn)(const value_change *c, const uint8_t *src, uint8_t *dst, size_t count);

#define TZ_CONVERT(name, from, size)                                                               \
    TZ_AVX2 static void name##_to_f64(const value_change *c, const uint8_t *src, uint8_t *dst,     \
                                      size_t count)                                                \
    {                                                                                              \
        convert_wide(from, size, TZ_DTYPE_FLOAT64, 8, *c, src, dst, count);                        \
    }                                                                                              \
    TZ_AVX2 static void name##_to_f32(const value_change *c, const uint8_t *src, uint8_t *dst,     \
                                      size_t count)                                                \
    {                                                                                              \
        if (!c->scaled && ((size) < 4 || (from) == TZ_DTYPE_FLOAT32))                              \
            convert_f32(from, size, c, src, dst, count);                                           \
        else                                                                                       \
            convert_wide(from, size, TZ_DTYPE_FLOAT32, 4, *c, src, dst, count);                    \
    }                                                                                              \
    TZ_AVX2 static void wide_to_##name(const uint8_t *src, uint8_t *dst, size_t count)             \
    {                                                                                              \
        for (size_t i = 0; i < count; i += 8)                                                      \
            store_eight(from, dst + i * (size), load_eight(TZ_DTYPE_FLOAT64, src + i * 8));        \
    }
TZ_CONVERT(u8, TZ_DTYPE_UINT8, 1)
TZ_CONVERT(i8, TZ_DTYPE_INT8, 1)
TZ_CONVERT(u16, TZ_DTYPE_UINT16, 2)
TZ_CONVERT(i16, TZ_DTYPE_INT16, 2)
TZ_CONVERT(u32, TZ_DTYPE_UINT32, 4)
TZ_CONVERT(i32, TZ_DTYPE_INT32, 4)
TZ_CONVERT(f32, TZ_DTYPE_FLOAT32, 4)
TZ_CONVERT(f64, TZ_DTYPE_FLOAT64, 8)

/* ---- pairs of small types ---- */

TZ_AVX2 static void u8_to_u16(const uint8_t *src, uint8_t *dst, size_t count)
{
    for (size_t i = 0; i < count; i += 16)
        store_full(dst + 2 * i, _mm256_cvtepu8_epi16(load_half(src + i)));
}

/* Packs two registers of 16-bit numbers to bytes; signed ones saturate. */
TZ_AVX2_INLINE __m256i pack_bytes(__m256i a, __m256i b)
{
    return _mm256_permute4x64_epi64(_mm256_packus_epi16(a, b), 0xD8);
}

TZ_AVX2 static void u16_to_u8(const uint8_t *src, uint8_t *dst, size_t count)
{
    const __m256i limit = _mm256_set1_epi16(255);
    for (size_t i = 0; i < count; i += 32) {
        const __m256i a = _mm256_min_epu16(load_full(src + 2 * i), limit);
        const __m256i b = _mm256_min_epu16(load_full(src + 2 * i + 32), limit);
        store_full(dst + i, pack_bytes(a, b));
    }
}

TZ_AVX2 static void i16_to_u8(const uint8_t *src, uint8_t *dst, size_t count)
{
    for (size_t i = 0; i < count; i += 32)
        store_full(dst + i, pack_bytes(load_full(src + 2 * i), load_full(src + 2 * i + 32)));
}

/* Rounds in f32 as round_away of cast_avx2.h does in double. */
TZ_AVX2_INLINE __m256i u8_of_floats(const uint8_t *p)
{
    const __m256 v =
        _mm256_min_ps(_mm256_max_ps(load_floats(p), _mm256_setzero_ps()), _mm256_set1_ps(255.0f));
    return _mm256_cvttps_epi32(_mm256_add_ps(v, _mm256_set1_ps(0.49999997f)));
}

TZ_AVX2 static void f32_to_u8(const uint8_t *src, uint8_t *dst, size_t count)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (size_t i = 0; i < count; i += 32) {
        const uint8_t *p = src + 4 * i;
        const __m256i a = _mm256_packs_epi32(u8_of_floats(p), u8_of_floats(p + 32));
        const __m256i b = _mm256_packs_epi32(u8_of_floats(p + 64), u8_of_floats(p + 96));
        store_full(dst + i, _mm256_permutevar8x32_epi32(_mm256_packus_epi16(a, b), order));
    }
}

/* ---- tables ---- */

typedef struct type_loops {
    convert_fn to_f32;
    convert_fn to_f64;
    void (*of_f64)(const uint8_t *src, uint8_t *dst, size_t count);
    void (*to_u8)(const uint8_t *src, uint8_t *dst, size_t count); /* NULL: through f64 */
    uint8_t size;                                                  /* bytes; 0: not this type */
} type_loops;

static const type_loops loops[TZ_DTYPE_COMPLEX_FLOAT64 + 1] = {
    [TZ_DTYPE_UINT8] = {u8_to_f32, u8_to_f64, wide_to_u8, NULL, 1},
    [TZ_DTYPE_INT8] = {i8_to_f32, i8_to_f64, wide_to_i8, NULL, 1},
    [TZ_DTYPE_UINT16] = {u16_to_f32, u16_to_f64, wide_to_u16, u16_to_u8, 2},
    [TZ_DTYPE_INT16] = {i16_to_f32, i16_to_f64, wide_to_i16, i16_to_u8, 2},
    [TZ_DTYPE_UINT32] = {u32_to_f32, u32_to_f64, wide_to_u32, NULL, 4},
    [TZ_DTYPE_INT32] = {i32_to_f32, i32_to_f64, wide_to_i32, NULL, 4},
    [TZ_DTYPE_FLOAT32] = {f32_to_f32, f32_to_f64, wide_to_f32, f32_to_u8, 4},
    [TZ_DTYPE_FLOAT64] = {f64_to_f32, f64_to_f64, wide_to_f64, NULL, 8},
};

/* Converts whole blocks that lie together. Without a direct loop the way is through doubles. */
static void convert_block(const tz_conversion *how, const value_change *c, const uint8_t *src,
                          uint8_t *dst, size_t count)
{
    const type_loops *from = &loops[how->from];
    const type_loops *to = &loops[how->to];
    const bool as_it_is = !c->scaled && !c->replaces;
    if (how->to == TZ_DTYPE_FLOAT32)
        from->to_f32(c, src, dst, count);
    else if (how->to == TZ_DTYPE_FLOAT64)
        from->to_f64(c, src, dst, count);
    else if (how->from == how->to && as_it_is)
        memcpy(dst, src, count * to->size);
    else if (how->to == TZ_DTYPE_UINT8 && from->to_u8 && as_it_is)
        from->to_u8(src, dst, count);
    else if (how->from == TZ_DTYPE_UINT8 && how->to == TZ_DTYPE_UINT16 && as_it_is)
        u8_to_u16(src, dst, count);
    else
        for (size_t done = 0; done < count; done += CHUNK) {
            uint8_t wide[CHUNK * WIDEST];
            const size_t some = tz_min_size(count - done, CHUNK);
            from->to_f64(c, src + done * from->size, wide, some);
            to->of_f64(wide, dst + done * to->size, some);
        }
}

/* ---- masks ---- */

/* Packs 32 words of 32 bits that are 0 or -1 to bytes. */
TZ_AVX2_INLINE __m256i pack_flags(__m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    return _mm256_permutevar8x32_epi32(bytes, order);
}

TZ_AVX2_INLINE __m256i match_floats(const uint8_t *p, __m256 nodata, bool nan)
{
    const __m256 v = load_floats(p);
    return _mm256_castps_si256(nan ? _mm256_cmp_ps(v, v, _CMP_UNORD_Q)
                                   : _mm256_cmp_ps(v, nodata, _CMP_EQ_OQ));
}

TZ_AVX2_INLINE __m256i match_doubles(const uint8_t *p, __m256d nodata, bool nan)
{
    const eight x = load_eight(TZ_DTYPE_FLOAT64, p);
    const __m256d low =
        nan ? _mm256_cmp_pd(x.low, x.low, _CMP_UNORD_Q) : _mm256_cmp_pd(x.low, nodata, _CMP_EQ_OQ);
    const __m256d high = nan ? _mm256_cmp_pd(x.high, x.high, _CMP_UNORD_Q)
                             : _mm256_cmp_pd(x.high, nodata, _CMP_EQ_OQ);
    const __m256 even = _mm256_shuffle_ps(_mm256_castpd_ps(low), _mm256_castpd_ps(high), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(even), 0xD8);
}

/* Returns 32 bytes: -1 if a sample is nodata, else 0. */
TZ_AVX2_INLINE __m256i match_integers(const uint8_t *p, uint32_t nodata, size_t size)
{
    const __m256i words = _mm256_set1_epi16((int16_t)nodata);
    const __m256i longs = _mm256_set1_epi32((int32_t)nodata);
    if (size == 1)
        return _mm256_cmpeq_epi8(load_full(p), _mm256_set1_epi8((int8_t)nodata));
    if (size == 2)
        return _mm256_permute4x64_epi64(
            _mm256_packs_epi16(_mm256_cmpeq_epi16(load_full(p), words),
                               _mm256_cmpeq_epi16(load_full(p + 32), words)),
            0xD8);
    return pack_flags(
        _mm256_cmpeq_epi32(load_full(p), longs), _mm256_cmpeq_epi32(load_full(p + 32), longs),
        _mm256_cmpeq_epi32(load_full(p + 64), longs), _mm256_cmpeq_epi32(load_full(p + 96), longs));
}

TZ_AVX2_INLINE void store_mask(uint8_t *mask, __m256i found)
{
    store_full(mask, _mm256_andnot_si256(found, _mm256_set1_epi8(-1)));
}

TZ_AVX2 static void mask_integers(const uint8_t *src, uint32_t nodata, size_t size, uint8_t *mask,
                                  size_t count)
{
    for (size_t i = 0; i < count; i += BLOCK)
        store_mask(mask + i, size == 1   ? match_integers(src + i, nodata, 1)
                             : size == 2 ? match_integers(src + i * 2, nodata, 2)
                                         : match_integers(src + i * 4, nodata, 4));
}

TZ_AVX2 static void mask_f32(const uint8_t *src, const value_change *c, uint8_t *mask, size_t count)
{
    const __m256 nodata = _mm256_set1_ps((float)c->nodata);
    for (size_t i = 0; i < count; i += BLOCK) {
        const uint8_t *p = src + i * 4;
        store_mask(mask + i, pack_flags(match_floats(p, nodata, c->nan_is_nodata),
                                        match_floats(p + 32, nodata, c->nan_is_nodata),
                                        match_floats(p + 64, nodata, c->nan_is_nodata),
                                        match_floats(p + 96, nodata, c->nan_is_nodata)));
    }
}

TZ_AVX2 static void mask_f64(const uint8_t *src, const value_change *c, uint8_t *mask, size_t count)
{
    const __m256d nodata = _mm256_set1_pd(c->nodata);
    for (size_t i = 0; i < count; i += BLOCK) {
        const uint8_t *p = src + i * 8;
        store_mask(mask + i, pack_flags(match_doubles(p, nodata, c->nan_is_nodata),
                                        match_doubles(p + 64, nodata, c->nan_is_nodata),
                                        match_doubles(p + 128, nodata, c->nan_is_nodata),
                                        match_doubles(p + 192, nodata, c->nan_is_nodata)));
    }
}

/* Converts nodata to the bits of an integer type; false: no sample can be equal to it. */
static bool integer_nodata(tz_dtype dtype, double nodata, uint32_t *bits)
{
    const unsigned width = 8u * loops[dtype].size;
    const bool sign = dtype == TZ_DTYPE_INT8 || dtype == TZ_DTYPE_INT16 || dtype == TZ_DTYPE_INT32;
    const double lowest = sign ? -ldexp(1.0, (int)width - 1) : 0.0;
    const double limit = ldexp(1.0, (int)(sign ? width - 1 : width));
    if (!(nodata >= lowest && nodata < limit && nodata == floor(nodata)))
        return false;
    *bits = sign ? (uint32_t)(int32_t)nodata : (uint32_t)nodata;
    return true;
}

static void write_mask_avx2(const tz_conversion *how, const value_change *c, const uint8_t *src,
                            uint8_t *mask, size_t count)
{
    uint32_t bits = 0;
    if (how->nodata.kind == TZ_NODATA_KIND_NONE)
        memset(mask, 255, count);
    else if (how->from == TZ_DTYPE_FLOAT64)
        mask_f64(src, c, mask, count);
    else if (how->from == TZ_DTYPE_FLOAT32 &&
             (c->nan_is_nodata || (double)(float)c->nodata == c->nodata))
        mask_f32(src, c, mask, count);
    else if (how->from != TZ_DTYPE_FLOAT32 && integer_nodata(how->from, c->nodata, &bits))
        mask_integers(src, bits, loops[how->from].size, mask, count);
    else
        memset(mask, 255, count);
}

/* ---- rows ---- */

typedef struct strided_output {
    uint8_t *data; /* NULL: nothing is written */
    ptrdiff_t step;
    size_t size;
} strided_output;

/* Returns the address for a loop to write to: the row itself, or a buffer that output_end copies to
 * it. */
static uint8_t *output_begin(const strided_output *at, uint8_t *buffer, bool whole)
{
    return whole && at->step == (ptrdiff_t)at->size ? at->data : buffer;
}

static void output_end(strided_output *at, const uint8_t *written, size_t count)
{
    if (written != at->data)
        tz_scalar_copy(at->size, written, (ptrdiff_t)at->size, at->data, at->step, count);
    at->data += at->step * (ptrdiff_t)count;
}

/* Converts whole blocks, or fewer samples than a block, which become one with zeros; at most CHUNK
 * samples, unless nothing has to be gathered or spread. */
static void convert_chunk_avx2(const tz_conversion *how, const value_change *c, const uint8_t *src,
                               ptrdiff_t src_step, strided_output *dst, strided_output *mask,
                               size_t count)
{
    const size_t size = loops[how->from].size;
    const bool whole = count % BLOCK == 0;
    const size_t done = whole ? count : BLOCK;
    uint8_t gathered[CHUNK * WIDEST];
    uint8_t buffer[CHUNK * WIDEST];
    if (!whole || src_step != (ptrdiff_t)size) {
        if (!whole)
            memset(gathered, 0, BLOCK * WIDEST);
        tz_avx2_copy(size, src, src_step, gathered, (ptrdiff_t)size, count);
        src = gathered;
    }
    if (mask->data) {
        uint8_t *to = output_begin(mask, buffer, whole);
        write_mask_avx2(how, c, src, to, done);
        output_end(mask, to, count);
    }
    if (dst->data) {
        uint8_t *to = output_begin(dst, buffer, whole);
        convert_block(how, c, src, to, done);
        output_end(dst, to, count);
    }
}

/* Returns the replacement of nodata, cast to the wanted type: any of these is a double exactly. */
static double replacement_number(const tz_conversion *how)
{
    const tz_conversion widen = {.from = how->to, .to = TZ_DTYPE_FLOAT64};
    uint8_t sample[16];
    double number;
    tz_row_fill(how->to, &how->replacement, sample, sizeof sample, 1);
    tz_scalar_convert(&widen, sample, 0, (uint8_t *)&number, sizeof number, 1, NULL, 0);
    return number;
}

void tz_avx2_convert(const tz_conversion *how, const uint8_t *src, ptrdiff_t src_step, uint8_t *dst,
                     ptrdiff_t dst_step, size_t count, uint8_t *mask, ptrdiff_t mask_step)
{
    if (loops[how->from].size == 0 || loops[how->to].size == 0) {
        tz_scalar_convert(how, src, src_step, dst, dst_step, count, mask, mask_step);
        return;
    }
    const tz_nodata *nodata = &how->nodata;
    const double number = nodata->kind == TZ_NODATA_KIND_NONE   ? 0.0
                          : nodata->kind == TZ_NODATA_KIND_INT  ? (double)nodata->value.i
                          : nodata->kind == TZ_NODATA_KIND_UINT ? (double)nodata->value.u
                                                                : nodata->value.f;
    value_change c = {.scaled = how->scaled,
                      .nan_is_nodata = isnan(number),
                      .scale = how->scale,
                      .offset = how->offset,
                      .nodata = number};
    if (how->replacement.kind != TZ_NODATA_KIND_NONE && nodata->kind != TZ_NODATA_KIND_NONE) {
        c.replaces = true;
        c.replacement = replacement_number(how);
    }
    strided_output to = {dst, dst_step, loops[how->to].size};
    strided_output flags = {mask, mask_step, 1};
    const bool together = src_step == loops[how->from].size &&
                          (!dst || dst_step == (ptrdiff_t)to.size) && (!mask || mask_step == 1);
    while (count > 0) {
        const size_t limit = together ? count : tz_min_size(count, CHUNK);
        const size_t some = limit >= BLOCK ? limit / BLOCK * BLOCK : limit;
        convert_chunk_avx2(how, &c, src, src_step, &to, &flags, some);
        src += src_step * (ptrdiff_t)some;
        count -= some;
    }
}

#endif
