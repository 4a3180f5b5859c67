/* SPDX-License-Identifier: Apache-2.0
 * Rows on their way to a file: the bytes that other libraries write, and back again. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pixel/store.h"

enum { GUARD = 32, UNTOUCHED = 0xA5 };

static uint64_t seed = 1;

static uint8_t random_byte(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint8_t)(seed >> 56);
}

static bool host_is_little_endian(void)
{
    return *(const uint8_t *)&(uint16_t){1} == 1;
}

static void *must_alloc(size_t size)
{
    void *block = malloc(size);
    assert_non_null(block);
    return block;
}

/* ---- formats ---- */

typedef struct kind {
    tz_dtype dtype;
    uint16_t bits, sample_format;
} kind;

static const kind kinds[] = {
    {TZ_DTYPE_UINT8, 8, 1},
    {TZ_DTYPE_INT8, 8, 2},
    {TZ_DTYPE_UINT16, 16, 1},
    {TZ_DTYPE_INT16, 16, 2},
    {TZ_DTYPE_UINT32, 32, 1},
    {TZ_DTYPE_INT32, 32, 2},
    {TZ_DTYPE_UINT64, 64, 1},
    {TZ_DTYPE_INT64, 64, 2},
    {TZ_DTYPE_FLOAT16, 16, 3},
    {TZ_DTYPE_FLOAT32, 32, 3},
    {TZ_DTYPE_FLOAT64, 64, 3},
    {TZ_DTYPE_COMPLEX_INT16, 32, 5},
    {TZ_DTYPE_COMPLEX_INT32, 64, 5},
    {TZ_DTYPE_COMPLEX_FLOAT16, 32, 6},
    {TZ_DTYPE_COMPLEX_FLOAT32, 64, 6},
    {TZ_DTYPE_COMPLEX_FLOAT64, 128, 6},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static tz_row_format format_of(const kind *k, uint16_t samples, uint16_t predictor, bool swap,
                               uint32_t width)
{
    return (tz_row_format){.dtype = k->dtype,
                           .bits = k->bits,
                           .sample_format = k->sample_format,
                           .samples = samples,
                           .predictor = predictor,
                           .swap = swap,
                           .width = width};
}

/* Integers of odd widths, in the next wider type. */
static kind odd_kind(uint16_t bits, bool sign)
{
    const tz_dtype dtype = bits <= 8    ? TZ_DTYPE_UINT8
                           : bits <= 16 ? TZ_DTYPE_UINT16
                                        : TZ_DTYPE_UINT32;
    return (kind){sign ? dtype + 1 : dtype, bits, sign ? 2 : 1};
}

/* ---- the definition, written down again ---- */

/* Byte k, from the lowest, of a sample in memory. */
static size_t byte_place(size_t k, size_t size, bool little_endian)
{
    return little_endian ? k : size - 1 - k;
}

/* Samples minus those of the pixel before, byte by byte with a borrow. */
static void reference_predictor2(const tz_row_format *f, const uint8_t *row, uint8_t *out)
{
    const size_t size = f->bits / 8u;
    const bool host = host_is_little_endian();
    for (size_t i = 0; i < (size_t)f->width * f->samples; i++) {
        int borrow = 0;
        for (size_t k = 0; k < size; k++) {
            const uint8_t *p = row + i * size + byte_place(k, size, host);
            const int before = i < f->samples ? 0 : p[-(ptrdiff_t)(f->samples * size)];
            const int x = *p - before - borrow;
            out[i * size + byte_place(k, size, host != f->swap)] = (uint8_t)x;
            borrow = x < 0;
        }
    }
}

static void reference_predictor3(const tz_row_format *f, const uint8_t *row, uint8_t *out)
{
    const size_t size = f->bits / 8u;
    const size_t count = (size_t)f->width * f->samples;
    uint8_t *planes = must_alloc(count * size + 1);
    for (size_t i = 0; i < count * size; i++)
        planes[i] =
            row[i % count * size + byte_place(size - 1 - i / count, size, host_is_little_endian())];
    for (size_t i = 0; i < count * size; i++)
        out[i] = (uint8_t)(planes[i] - (i < f->samples ? 0 : planes[i - f->samples]));
    free(planes);
}

static void reference_swap(const tz_row_format *f, const uint8_t *row, uint8_t *out)
{
    const size_t size = tz_dtype_size(f->dtype) / (f->sample_format >= 5 ? 2 : 1);
    for (size_t i = 0; i < tz_row_bytes(f); i++)
        out[i] = row[f->swap ? i / size * size + size - 1 - i % size : i];
}

/* Bit by bit. */
static void reference_pack(const tz_row_format *f, const uint8_t *row, uint8_t *out)
{
    const size_t size = tz_dtype_size(f->dtype);
    memset(out, 0, tz_row_bytes(f));
    for (size_t i = 0; i < (size_t)f->width * f->samples * f->bits; i++) {
        const size_t bit = f->bits - 1 - i % f->bits;
        const uint8_t *sample = row + i / f->bits * size;
        if (sample[byte_place(bit / 8, size, host_is_little_endian())] >> bit % 8 & 1)
            out[i / 8] |= (uint8_t)(128 >> i % 8);
    }
}

static void reference_row(const tz_row_format *f, const uint8_t *row, uint8_t *out)
{
    if (f->bits != 8 * tz_dtype_size(f->dtype))
        reference_pack(f, row, out);
    else if (f->predictor == 2)
        reference_predictor2(f, row, out);
    else if (f->predictor == 3)
        reference_predictor3(f, row, out);
    else
        reference_swap(f, row, out);
}

/* ---- rows ---- */

/* Samples that fit: of odd widths cut to their bits, with their sign. */
static void random_row(const tz_row_format *f, uint8_t *row)
{
    const size_t size = tz_dtype_size(f->dtype);
    for (size_t i = 0; i < tz_row_prepared_bytes(f); i++)
        row[i] = random_byte();
    for (size_t i = 0; f->bits < 8 * size && i < (size_t)f->width * f->samples; i++) {
        for (size_t bit = f->bits; bit < 8 * size; bit++) {
            uint8_t *sample = row + i * size;
            const size_t top = f->bits - 1u;
            const bool little = host_is_little_endian();
            const bool set =
                f->sample_format == 2 && sample[byte_place(top / 8, size, little)] >> top % 8 & 1;
            uint8_t *byte = &sample[byte_place(bit / 8, size, little)];
            *byte = (uint8_t)((*byte & ~(1u << bit % 8)) | (unsigned)set << bit % 8);
        }
    }
}

static void check_guard(const uint8_t *guard)
{
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(guard[i], UNTOUCHED);
}

/* To the bytes of the definition, within their room, and back to the samples. */
static void check_row(const tz_row_format *f, bool in_place)
{
    const size_t samples = tz_row_prepared_bytes(f);
    const size_t stored = tz_row_bytes(f);
    uint8_t *row = must_alloc(samples + TZ_ROW_SLACK);
    uint8_t *used = must_alloc(samples + TZ_ROW_SLACK);
    uint8_t *expected = must_alloc(stored + 1);
    uint8_t *out = must_alloc(stored + TZ_ROW_SLACK);
    uint8_t *back = must_alloc(samples + 1);
    uint8_t *scratch = must_alloc(tz_store_scratch_bytes(f) + 1);
    memset(row, UNTOUCHED, samples + TZ_ROW_SLACK);
    memset(out, UNTOUCHED, stored + TZ_ROW_SLACK);
    random_row(f, row);
    memcpy(used, row, samples + TZ_ROW_SLACK);
    reference_row(f, row, expected);
    uint8_t *to = in_place ? used : out;
    tz_store_row(f, used, to, scratch);
    assert_memory_equal(to, expected, stored);
    check_guard((in_place ? used + samples : out + stored));
    const uint8_t *found = tz_row_prepare(f, to, f->width, back, NULL);
    assert_memory_equal(found, row, samples);
    free(row);
    free(used);
    free(expected);
    free(out);
    free(back);
    free(scratch);
}

static void check_widths(const kind *k, uint16_t samples, uint16_t predictor, bool swap)
{
    static const uint32_t widths[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 129, 300};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        const tz_row_format f = format_of(k, samples, predictor, swap, widths[w]);
        if (tz_store_unsupported(&f))
            continue;
        check_row(&f, false);
        check_row(&f, true);
    }
}

static void every_format_is_what_the_reader_undoes(void **state)
{
    (void)state;
    static const uint16_t samples[] = {1, 2, 3, 4, 5, 7, 13, 40};
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t s = 0; s < sizeof samples / sizeof samples[0]; s++) {
            for (uint16_t predictor = 1; predictor <= 3; predictor++) {
                check_widths(&kinds[k], samples[s], predictor, false);
                check_widths(&kinds[k], samples[s], predictor, true);
            }
        }
    }
}

static void every_odd_width_too(void **state)
{
    (void)state;
    for (uint16_t bits = 1; bits < 32; bits++) {
        for (int sign = 0; sign < 2; sign++) {
            const kind k = odd_kind(bits, sign);
            if (bits == 8 || bits == 16)
                continue;
            check_widths(&k, 1, 1, false);
            check_widths(&k, 3, 1, true);
        }
    }
}

static void what_cannot_be_written_is_named(void **state)
{
    (void)state;
    const kind f24 = {TZ_DTYPE_FLOAT32, 24, 3};
    const kind bits12 = {TZ_DTYPE_UINT16, 12, 1};
    const kind u16 = {TZ_DTYPE_UINT16, 16, 1};
    const kind c128 = {TZ_DTYPE_COMPLEX_FLOAT64, 128, 6};
    const tz_row_format bad[] = {format_of(&f24, 1, 1, false, 4), format_of(&f24, 1, 3, false, 4),
                                 format_of(&bits12, 1, 2, false, 4),
                                 format_of(&u16, 1, 3, false, 4), format_of(&c128, 1, 2, false, 4)};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_non_null(tz_store_unsupported(&bad[i]));
    const tz_row_format plain = format_of(&u16, 3, 1, false, 4);
    assert_null(tz_store_unsupported(&plain));
    assert_true(tz_row_is_plain(&plain));
    const tz_row_format packed = format_of(&bits12, 3, 1, false, 4);
    assert_null(tz_store_unsupported(&packed));
    assert_false(tz_row_is_plain(&packed));
}

/* ---- bytes of GDAL ---- */

static size_t from_hex(const char *text, uint8_t *out)
{
    size_t size = 0;
    for (; text[0] && text[1]; text += 2)
        out[size++] = (uint8_t)strtoul((char[]){text[0], text[1], 0}, NULL, 16);
    return size;
}

static void put_number(tz_dtype dtype, double number, uint8_t *out)
{
    const tz_conversion cast = {.from = TZ_DTYPE_FLOAT64, .to = dtype};
    tz_row_convert(&cast, (const uint8_t *)&number, 8, out, 16, 1, NULL, 0);
}

/* Strips of one row, written by GDAL 3.10.3 (rasterio 1.4.4) with these creation options:
 * PREDICTOR and COMPRESS=DEFLATE, here inflated, or NBITS; big: ENDIANNESS=BIG. float16 is float32
 * with NBITS=16. */
static void bytes_are_those_of_gdal(void **state)
{
    (void)state;
    static const struct {
        kind kind;
        uint16_t samples, predictor;
        bool big;
        uint32_t width;
        double numbers[10];
        const char *stored;
    } rows[] = {
        {{TZ_DTYPE_FLOAT16, 16, 3},
         1,
         3,
         false,
         5,
         {-2.5, -1.1298828125, 0.239990234375, 1.6103515625, 2.98046875},
         "c1fb770b03bf8529c385"},
        {{TZ_DTYPE_FLOAT32, 32, 3},
         2,
         3,
         false,
         5,
         {-2.5, -1.13, 0.24, 1.61, 2.98, 4.35, 5.71999979019165, 7.09, 8.46, 9.83},
         "c0bf7e80020100000101df4f553ec9bd7957503bf986c271f61f52ae5266a4908fa4c3b8eb15ec66"},
        {{TZ_DTYPE_FLOAT32, 32, 3},
         2,
         3,
         true,
         5,
         {-2.5, -1.13, 0.24, 1.61, 2.98, 4.35, 5.71999979019165, 7.09, 8.46, 9.83},
         "c0bf7e80020100000101df4f553ec9bd7957503bf986c271f61f52ae5266a4908fa4c3b8eb15ec66"},
        {{TZ_DTYPE_FLOAT64, 64, 3},
         1,
         3,
         true,
         3,
         {-2.5, -1.13, 0.2400000000000002},
         "c0ff80c5eedc3214a4487ad7afe10a15473e7bae70e214ac"},
        {{TZ_DTYPE_UINT16, 16, 1},
         2,
         2,
         false,
         5,
         {65036, 277, 2608, 6493, 11932, 18925, 27472, 37573, 49228, 62437},
         "0cfe1501240c48186c249030b43cd848fc542061"},
        {{TZ_DTYPE_UINT16, 16, 1},
         2,
         2,
         true,
         5,
         {65036, 277, 2608, 6493, 11932, 18925, 27472, 37573, 49228, 62437},
         "fe0c01150c241848246c30903cb448d854fc6120"},
        {{TZ_DTYPE_INT32, 32, 2},
         1,
         2,
         true,
         4,
         {-500, 277, 2608, 6493},
         "fffffe0c000003090000091b00000f2d"},
        {{TZ_DTYPE_UINT8, 1, 1}, 1, 1, false, 7, {0, 1, 0, 1, 0, 1, 0}, "54"},
        {{TZ_DTYPE_UINT8, 3, 1}, 1, 1, false, 7, {0, 1, 0, 3, 0, 5, 0}, "043140"},
        {{TZ_DTYPE_UINT16, 12, 1},
         1,
         1,
         false,
         7,
         {0, 57, 456, 1539, 3648, 3029, 24},
         "0000391c8603e40bd50180"},
        {{TZ_DTYPE_UINT32, 27, 1},
         1,
         1,
         false,
         7,
         {0, 12345, 98760, 333315, 790080, 1543125, 2666520},
         "0000000000c0e400c0e400516030181c8005e2f5414580c0"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const tz_row_format f = format_of(&rows[r].kind, rows[r].samples, rows[r].predictor,
                                          rows[r].big == host_is_little_endian(), rows[r].width);
        uint8_t row[80 + TZ_ROW_SLACK];
        uint8_t out[80 + TZ_ROW_SLACK];
        uint8_t expected[80];
        for (size_t i = 0; i < (size_t)f.width * f.samples; i++)
            put_number(f.dtype, rows[r].numbers[i], row + i * tz_dtype_size(f.dtype));
        assert_int_equal(from_hex(rows[r].stored, expected), tz_row_bytes(&f));
        tz_store_row(&f, row, out, NULL);
        assert_memory_equal(out, expected, tz_row_bytes(&f));
    }
}

/* ---- what does not fit ---- */

static void the_first_misfit_is_found(void **state)
{
    (void)state;
    enum { MOST = 700 };
    uint8_t row[MOST * 4];
    for (uint16_t bits = 1; bits < 32; bits++) {
        for (int sign = 0; sign < 2; sign++) {
            const kind k = odd_kind(bits, sign);
            const size_t size = tz_dtype_size(k.dtype);
            const tz_row_format f = format_of(&k, 1, 1, false, MOST);
            const double highest = ldexp(1, bits - sign) - 1;
            const double lowest = sign ? -ldexp(1, bits - 1) : 0;
            if (bits == 8 || bits == 16)
                continue;
            for (size_t i = 0; i < MOST; i++)
                put_number(k.dtype, i % 2 ? highest : lowest, row + i * size);
            assert_int_equal(tz_store_misfit(&f, row, MOST), MOST);
            assert_int_equal(tz_store_misfit(&f, row, 0), 0);
            put_number(k.dtype, highest + 1, row + 699 * size);
            assert_int_equal(tz_store_misfit(&f, row, MOST), 699);
            put_number(k.dtype, highest + 1, row + 256 * size);
            assert_int_equal(tz_store_misfit(&f, row, MOST), 256);
            put_number(k.dtype, sign ? lowest - 1 : highest + 1, row + 3 * size);
            assert_int_equal(tz_store_misfit(&f, row, MOST), 3);
            assert_int_equal(tz_store_misfit(&f, row, 3), 3);
        }
    }
    memset(row, 255, sizeof row);
    for (size_t k = 0; k < KINDS; k++) {
        const tz_row_format whole = format_of(&kinds[k], 1, 1, false, MOST);
        assert_int_equal(tz_store_misfit(&whole, row, MOST / 4), MOST / 4);
    }
}

/* ---- NaN ---- */

static void nan_becomes_a_value_and_nothing_else_does(void **state)
{
    (void)state;
    uint32_t floats[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0x7fffffff,
                         0x7f800000, 0xff800000, 0x80000000, 0x00000001, 0x3f800000};
    uint64_t doubles[] = {0x7ff8000000000000, 0xfff0000000000001, 0x7ff0000000000000,
                          0x8000000000000000, 0x7fefffffffffffff, 0x7fffffffffffffff};
    uint16_t halves[] = {0x7e00, 0xfc01, 0x7c01, 0x7c00, 0xfc00, 0x7bff, 0x8000, 0xffff};
    const uint32_t floats_after[] = {0xc61c3c00, 0xc61c3c00, 0xc61c3c00, 0xc61c3c00, 0xc61c3c00,
                                     0x7f800000, 0xff800000, 0x80000000, 0x00000001, 0x3f800000};
    const uint64_t doubles_after[] = {0x3fb999999999999a, 0x3fb999999999999a, 0x7ff0000000000000,
                                      0x8000000000000000, 0x7fefffffffffffff, 0x3fb999999999999a};
    const uint16_t halves_after[] = {0x2e66, 0x2e66, 0x2e66, 0x7c00,
                                     0xfc00, 0x7bff, 0x8000, 0x2e66};
    tz_store_replace_nan(TZ_DTYPE_FLOAT32, (uint8_t *)floats, 10, -9999);
    assert_memory_equal(floats, floats_after, sizeof floats);
    tz_store_replace_nan(TZ_DTYPE_FLOAT64, (uint8_t *)doubles, 6, 0.1);
    assert_memory_equal(doubles, doubles_after, sizeof doubles);
    tz_store_replace_nan(TZ_DTYPE_FLOAT16, (uint8_t *)halves, 8, 0.1);
    assert_memory_equal(halves, halves_after, sizeof halves);
}

/* ---- one value everywhere ---- */

static void rows_of_one_value_are_distinguished_from_others(void **state)
{
    (void)state;
    enum { MOST = 133 };
    const tz_nodata values[] = {{.kind = TZ_NODATA_KIND_NONE},
                                {.kind = TZ_NODATA_KIND_INT, .value = {.i = 7}},
                                {.kind = TZ_NODATA_KIND_UINT, .value = {.u = 100}},
                                {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = 3.0}},
                                {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = (double)NAN}}};
    uint8_t row[MOST * 16];
    for (size_t k = 0; k < KINDS; k++) {
        const tz_dtype dtype = kinds[k].dtype;
        const size_t size = tz_dtype_size(dtype);
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            for (size_t count = 1; count <= MOST; count++) {
                tz_row_fill(dtype, &values[v], row, (ptrdiff_t)size, count);
                assert_true(tz_store_is_all(dtype, &values[v], row, count));
                row[count * size - 1] ^= 0x40; /* of a NaN: the exponent is no longer all ones */
                assert_false(tz_store_is_all(dtype, &values[v], row, count));
            }
            assert_true(tz_store_is_all(dtype, &values[v], row, 0));
        }
    }
}

static void every_nan_is_nodata_but_minus_zero_is_not_zero(void **state)
{
    (void)state;
    const tz_nodata nan = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = (double)NAN}};
    const tz_nodata zero = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = 0.0}};
    const uint32_t nans[] = {0x7fc00000, 0xffc12345, 0x7f800001};
    const float zeros[] = {0.0f, -0.0f};
    assert_true(tz_store_is_all(TZ_DTYPE_FLOAT32, &nan, (const uint8_t *)nans, 3));
    assert_false(tz_store_is_all(TZ_DTYPE_FLOAT32, &zero, (const uint8_t *)zeros, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_what_the_reader_undoes),
        cmocka_unit_test(every_odd_width_too),
        cmocka_unit_test(what_cannot_be_written_is_named),
        cmocka_unit_test(bytes_are_those_of_gdal),
        cmocka_unit_test(the_first_misfit_is_found),
        cmocka_unit_test(nan_becomes_a_value_and_nothing_else_does),
        cmocka_unit_test(rows_of_one_value_are_distinguished_from_others),
        cmocka_unit_test(every_nan_is_nodata_but_minus_zero_is_not_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
