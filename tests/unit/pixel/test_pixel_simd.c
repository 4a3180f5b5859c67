/* SPDX-License-Identifier: Apache-2.0
 * Every loop for an instruction set gives the bytes of the plain one: of any count, stride and
 * alignment, for random and for extreme samples, and writes nothing behind them. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pixel/row_ops.h"
#include "support/row_ops_compare.h"

/* ---- preparing ---- */

static void predictor_2(void **state)
{
    (void)state;
    static const uint32_t strides[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 31, 33, 40, 300};
    for (unsigned word = 0; word < TZ_WORD_SIZES; word++) {
        for (size_t s = 0; s < sizeof strides / sizeof strides[0]; s++) {
            for (int i = 0; i < (strides[s] < 100 ? COUNTS : 5); i++) {
                const size_t words = count_at(i) * strides[s];
                input row = make_input((words << word) + TZ_ROW_SLACK);
                outputs out = make_outputs(words << word);
                for (int form = 0; form < 2; form++)
                    forms[form]->unpredict2[word](row.data, out.data[form], words, strides[s],
                                                  i % 2);
                compare_outputs(&out);
                free(row.block);
            }
        }
    }
}

static void predictor_3(void **state)
{
    (void)state;
    static const uint32_t strides[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17};
    for (unsigned width = 2; width <= 8; width *= 2) {
        for (size_t s = 0; s < sizeof strides / sizeof strides[0]; s++) {
            for (int i = 0; i < COUNTS; i++) {
                const size_t pixels = count_at(i);
                const size_t count = pixels * strides[s];
                const size_t wanted = i % 2 ? count : random_below(pixels + 1) * (size_t)strides[s];
                input row = make_input(count * width + TZ_ROW_SLACK);
                input again = copy_input(&row);
                outputs out = make_outputs(wanted * width);
                forms[0]->unpredict3(row.data, out.data[0], count, wanted, width, strides[s]);
                forms[1]->unpredict3(again.data, out.data[1], count, wanted, width, strides[s]);
                compare_outputs(&out);
                free(row.block);
                free(again.block);
            }
        }
    }
}

static void byte_order(void **state)
{
    (void)state;
    for (unsigned word = 1; word < TZ_WORD_SIZES; word++) {
        for (int i = 0; i < COUNTS; i++) {
            const size_t count = count_at(i);
            input row = make_input(count << word);
            outputs out = make_outputs(count << word);
            for (int form = 0; form < 2; form++)
                forms[form]->swap[word](row.data, out.data[form], count);
            compare_outputs(&out);
            free(row.block);
        }
    }
}

static void odd_widths(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits < 32; bits++) {
        const size_t size = bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
        for (int i = 0; i < 2 * COUNTS; i++) {
            const size_t count = count_at(i / 2);
            input row = make_input((count * bits + 7) / 8 + TZ_ROW_SLACK);
            outputs out = make_outputs(count * size);
            for (int form = 0; form < 2; form++)
                forms[form]->unpack(row.data, out.data[form], count, bits, size, i % 2);
            compare_outputs(&out);
            free(row.block);
        }
    }
}

/* ---- storing ---- */

/* Bytes from the first sample to the last. */
static size_t extent(size_t size, size_t step, size_t count)
{
    return count == 0 ? 0 : (count - 1) * step + size;
}

static void bands(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 4, 8, 16};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const size_t size = sizes[s];
        for (size_t from = 0; from <= 5; from++) {
            for (size_t to = 1; to <= 3; to++) {
                for (int i = 0; i < COUNTS; i++) {
                    const size_t count = count_at(i);
                    input src = make_input(extent(size, from * size, count));
                    outputs out = make_outputs(extent(size, to * size, count));
                    for (int form = 0; form < 2 && count > 0; form++)
                        forms[form]->copy(size, src.data, (ptrdiff_t)(from * size), out.data[form],
                                          (ptrdiff_t)(to * size), count);
                    compare_outputs(&out);
                    free(src.block);
                }
            }
        }
    }
}

/* Numbers at which rules change. Stored in any type, they are its extremes, ties and neighbours. */
static const double numbers[] = {0,
                                 -0.0,
                                 0.5,
                                 -0.5,
                                 0.49999999999999994,
                                 -0.49999999999999994,
                                 0.49999997f,
                                 1,
                                 -1,
                                 1.5,
                                 2.5,
                                 -2.5,
                                 126.5,
                                 127,
                                 127.5,
                                 128,
                                 -128,
                                 -128.5,
                                 -129,
                                 254.5,
                                 254.49999999999997,
                                 255,
                                 255.5,
                                 256,
                                 32767,
                                 32767.5,
                                 -32768,
                                 -32768.5,
                                 -32769,
                                 65534.5,
                                 65535,
                                 65535.5,
                                 65536,
                                 16777217,
                                 2147483646.5,
                                 2147483647,
                                 2147483647.5,
                                 2147483648.0,
                                 -2147483648.0,
                                 -2147483648.5,
                                 -2147483649.0,
                                 4294967294.5,
                                 4294967295.0,
                                 4294967295.5,
                                 4294967296.0,
                                 1e10,
                                 -1e10,
                                 FLT_MAX,
                                 -FLT_MAX,
                                 FLT_MIN,
                                 1e-45,
                                 3.4028235677973366e38, /* the first that f32 rounds to infinity */
                                 1e300,
                                 DBL_MAX,
                                 5e-324,
                                 9007199254740993.0,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 -9999,
                                 -9999.25};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

/* Makes NaNs of random bits, quiet and signalling ones. */
static void set_exponent(tz_dtype dtype, uint8_t *sample)
{
    if (dtype == TZ_DTYPE_FLOAT16) {
        sample[1] |= 0x7c;
    } else if (dtype == TZ_DTYPE_FLOAT32) {
        sample[3] |= 0x7f;
        sample[2] |= 0x80;
    } else if (dtype == TZ_DTYPE_FLOAT64) {
        sample[7] |= 0x7f;
        sample[6] |= 0xf0;
    }
}

/* Half of the samples are random bits, half are numbers, cast by the plain form. */
static input make_samples(tz_dtype dtype, size_t step, size_t count)
{
    const size_t size = tz_dtype_size(dtype);
    const tz_conversion cast = {.from = TZ_DTYPE_FLOAT64, .to = dtype};
    input in = make_input(extent(size, step, count));
    for (size_t i = 0; i < count; i++) {
        if (random_below(2))
            tz_scalar_convert(&cast, (const uint8_t *)&numbers[random_below(NUMBERS)], 8,
                              in.data + i * step, 1, 1, NULL, 0);
        else if (random_below(4) == 0)
            set_exponent(dtype, in.data + i * step);
    }
    return in;
}

static tz_nodata random_nodata(void)
{
    static const int64_t whole[] = {0,     1,         -1,        255,
                                    256,   -128,      -9999,     -32768,
                                    65535, INT32_MIN, INT32_MAX, UINT32_MAX,
                                    -129,  INT64_MIN, INT64_MAX, INT64_C(9007199254740993)};
    const int64_t i = whole[random_below(sizeof whole / sizeof whole[0])];
    switch (random_below(4)) {
    case 0:
        return (tz_nodata){.kind = TZ_NODATA_KIND_NONE};
    case 1:
        return (tz_nodata){.kind = TZ_NODATA_KIND_INT, .value = {.i = i}};
    case 2:
        return (tz_nodata){.kind = TZ_NODATA_KIND_UINT, .value = {.u = (uint64_t)i}};
    default:
        return (tz_nodata){.kind = TZ_NODATA_KIND_FLOAT,
                           .value = {.f = numbers[random_below(NUMBERS)]}};
    }
}

static tz_conversion random_placement(tz_dtype from, tz_dtype to)
{
    static const double scales[] = {1, 0.1, -2.5, 0.0001, 1e300, 0.5};
    return (tz_conversion){.from = from,
                           .to = to,
                           .scaled = random_below(2),
                           .scale = scales[random_below(6)],
                           .offset = scales[random_below(6)] * 1000,
                           .nodata = random_nodata(),
                           .replacement = random_nodata()};
}

static void place_both(const tz_conversion *how, size_t count)
{
    const size_t from_size = tz_dtype_size(how->from);
    const size_t to_size = tz_dtype_size(how->to);
    const size_t src_step = (1 + random_below(3)) * from_size;
    const size_t dst_step = (1 + random_below(2)) * to_size;
    const size_t mask_step = 1 + random_below(2);
    const bool data = random_below(8) > 0;
    const bool mask = random_below(2);
    input src = make_samples(how->from, src_step, count);
    outputs out = make_outputs(extent(to_size, dst_step, count));
    outputs flags = make_outputs(extent(1, mask_step, count));
    for (int form = 0; form < 2; form++)
        forms[form]->convert(how, src.data, (ptrdiff_t)src_step, data ? out.data[form] : NULL,
                             (ptrdiff_t)dst_step, count, mask ? flags.data[form] : NULL,
                             (ptrdiff_t)mask_step);
    compare_outputs(&out);
    compare_outputs(&flags);
    free(src.block);
}

static void every_pair_of_types(void **state)
{
    (void)state;
    for (tz_dtype from = TZ_DTYPE_UINT8; from <= TZ_DTYPE_COMPLEX_FLOAT64; from++) {
        for (tz_dtype to = TZ_DTYPE_UINT8; to <= TZ_DTYPE_COMPLEX_FLOAT64; to++) {
            for (int i = 0; i < COUNTS; i++) {
                const tz_conversion how = random_placement(from, to);
                place_both(&how, count_at(i));
            }
        }
    }
}

static void place_doubles(const double *values, size_t count, tz_dtype to)
{
    const tz_conversion how = {.from = TZ_DTYPE_FLOAT64, .to = to};
    const size_t size = tz_dtype_size(to);
    outputs out = make_outputs(count * size);
    for (int form = 0; form < 2; form++)
        forms[form]->convert(&how, (const uint8_t *)values, 8, out.data[form], (ptrdiff_t)size,
                             count, NULL, 0);
    compare_outputs(&out);
}

/* Ties of every size, and their nearest neighbours; the same as floats. */
static void ties(void **state)
{
    (void)state;
    for (int k = 0; k < 33000; k++) {
        const double whole =
            k < 500 ? k : floor(ldexp((double)random_bits(), -(int)random_below(64)));
        const double tie = whole + 0.5;
        const float float_tie = (float)whole + 0.5f;
        double values[32] = {tie,       nextafter(tie, 0),        nextafter(tie, INFINITY),
                             float_tie, nextafterf(float_tie, 0), nextafterf(float_tie, INFINITY)};
        float floats[32];
        for (int i = 0; i < 6; i++)
            values[i + 6] = -values[i];
        for (int i = 0; i < 32; i++)
            floats[i] = (float)values[i];
        for (tz_dtype to = TZ_DTYPE_UINT8; to <= TZ_DTYPE_INT32; to++)
            place_doubles(values, 32, to);
        const tz_conversion how = {.from = TZ_DTYPE_FLOAT32, .to = TZ_DTYPE_UINT8};
        uint8_t out[2][32];
        for (int form = 0; form < 2; form++)
            forms[form]->convert(&how, (const uint8_t *)floats, 4, out[form], 1, 32, NULL, 0);
        assert_memory_equal(out[0], out[1], 32);
    }
}

/* ---- all of it, as it is called ---- */

static void a_forced_form_is_used_and_released(void **state)
{
    (void)state;
    static const tz_row_ops other = {0};
    tz_row_ops_force(&other);
    assert_ptr_equal(tz_row_ops_get(), &other);
    tz_row_ops_force(NULL);
    assert_ptr_equal(tz_row_ops_get(), forms[1]);
}

/* Any row that tz_row_unsupported has nothing against. */
static tz_row_format random_format(void)
{
    static const struct {
        tz_dtype dtype;
        uint16_t bits, sample_format;
    } kinds[] = {
        {TZ_DTYPE_UINT8, 8, 1},
        {TZ_DTYPE_INT8, 8, 2},
        {TZ_DTYPE_UINT16, 16, 1},
        {TZ_DTYPE_INT32, 32, 2},
        {TZ_DTYPE_UINT64, 64, 1},
        {TZ_DTYPE_FLOAT16, 16, 3},
        {TZ_DTYPE_FLOAT32, 32, 3},
        {TZ_DTYPE_FLOAT32, 24, 3},
        {TZ_DTYPE_FLOAT64, 64, 3},
        {TZ_DTYPE_COMPLEX_INT16, 32, 5},
        {TZ_DTYPE_COMPLEX_INT32, 64, 5},
        {TZ_DTYPE_COMPLEX_FLOAT32, 64, 6},
        {TZ_DTYPE_COMPLEX_FLOAT64, 128, 6},
        {TZ_DTYPE_UINT8, 1, 1},
        {TZ_DTYPE_UINT16, 12, 1},
        {TZ_DTYPE_INT16, 11, 2},
        {TZ_DTYPE_UINT32, 27, 1},
    };
    for (;;) {
        const size_t kind = random_below(sizeof kinds / sizeof kinds[0]);
        const tz_row_format format = {.dtype = kinds[kind].dtype,
                                      .bits = kinds[kind].bits,
                                      .sample_format = kinds[kind].sample_format,
                                      .samples = (uint16_t)(1 + random_below(5)),
                                      .predictor = (uint16_t)(1 + random_below(3)),
                                      .swap = random_below(2),
                                      .width = (uint32_t)random_below(300)};
        if (!tz_row_unsupported(&format))
            return format;
    }
}

static void rows_are_prepared_alike(void **state)
{
    (void)state;
    for (int i = 0; i < 5000; i++) {
        const tz_row_format format = random_format();
        const uint32_t pixels = (uint32_t)random_below(format.width + 1);
        const size_t size = pixels * format.samples * tz_dtype_size(format.dtype);
        input row = make_input(tz_row_bytes(&format) + TZ_ROW_SLACK);
        input scratch = make_input(tz_row_scratch_bytes(&format));
        outputs out = make_outputs(size);
        for (int form = 0; form < 2; form++) {
            input copy = copy_input(&row);
            tz_row_ops_force(forms[form]);
            const uint8_t *found =
                tz_row_prepare(&format, copy.data, pixels, out.data[form], scratch.data);
            if (found == copy.data) {
                for (size_t k = 0; k < size; k++)
                    assert_int_equal(out.data[form][k], UNTOUCHED);
                memcpy(out.data[form], found, size);
            } else {
                assert_ptr_equal(found, out.data[form]);
            }
            free(copy.block);
        }
        tz_row_ops_force(NULL);
        compare_outputs(&out);
        free(row.block);
        free(scratch.block);
    }
}

static void one_sample_everywhere(void **state)
{
    (void)state;
    const int16_t sample = -7;
    const tz_conversion how = {.from = TZ_DTYPE_INT16,
                               .to = TZ_DTYPE_FLOAT32,
                               .nodata = {.kind = TZ_NODATA_KIND_INT, .value = {.i = -7}}};
    for (size_t count = 0; count <= MOST; count++) {
        outputs out = make_outputs(count * sizeof(float));
        outputs flags = make_outputs(count);
        tz_row_convert(&how, (const uint8_t *)&sample, 0, out.data[0], 4, count, flags.data[0], 1);
        memset(flags.data[1], 0, count);
        for (size_t i = 0; i < count; i++)
            memcpy(out.data[1] + i * 4, &(float){-7}, 4);
        compare_outputs(&out);
        compare_outputs(&flags);
    }
}

static void rows_are_copied_and_streamed(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 1023, 1024, 1025, 1087, 1088, 4096, 5000};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int i = 0; i < 64; i++) {
            input src = make_input(sizes[s]);
            outputs out = make_outputs(sizes[s]);
            memcpy(out.data[0], src.data, sizes[s]);
            tz_row_copy(out.data[1], src.data, sizes[s], i % 4 > 0);
            tz_row_copy_end();
            compare_outputs(&out);
            free(src.block);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictor_2),
        cmocka_unit_test(predictor_3),
        cmocka_unit_test(byte_order),
        cmocka_unit_test(odd_widths),
        cmocka_unit_test(bands),
        cmocka_unit_test(every_pair_of_types),
        cmocka_unit_test(ties),
        cmocka_unit_test(a_forced_form_is_used_and_released),
        cmocka_unit_test(rows_are_prepared_alike),
        cmocka_unit_test(one_sample_everywhere),
        cmocka_unit_test(rows_are_copied_and_streamed),
    };
    return cmocka_run_group_tests(tests, choose_forms, NULL);
}
