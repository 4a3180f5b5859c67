/* SPDX-License-Identifier: Apache-2.0
 * The loops of resampling give the same in plain form and for an instruction set, of any count and
 * alignment, and write nothing behind their end. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_ops_compare.h"

/* ---- two by two ---- */

static const tz_dtype halved[] = {TZ_DTYPE_UINT8, TZ_DTYPE_UINT16, TZ_DTYPE_INT16,
                                  TZ_DTYPE_FLOAT32};

/* Random bits, and a share of samples that do not count: none, some, runs of them, or all. */
static void spoil(const tz_average_2x2_params *how, input *row, unsigned share)
{
    static const float odd[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e38f, -3e38f, 1e-45f};
    const size_t size = tz_dtype_size(how->dtype);
    const bool is_float = how->dtype == TZ_DTYPE_FLOAT32;
    for (size_t i = 0; i < row->size / size; i++) {
        uint8_t *sample = row->data + i * size;
        const float real = (float)random_below(1000) / 8;
        if (is_float)
            memcpy(sample, random_below(8) == 0 && share > 0 ? &odd[random_below(8)] : &real, 4);
        const bool gone =
            share == 3 || (share == 1 && random_below(5) == 0) || (share == 2 && i / 40 % 2 == 0);
        if (gone && is_float)
            memcpy(sample, &how->nodata_real, 4);
        else if (gone)
            memcpy(sample, &how->nodata, size); /* little endian, as all that have another form */
    }
}

static void check_halve(const tz_average_2x2_params *how, size_t count, unsigned share)
{
    const size_t size = count * how->samples * tz_dtype_size(how->dtype);
    input above = make_input(2 * size);
    input below = make_input(2 * size);
    outputs out = make_outputs(size);
    spoil(how, &above, share);
    spoil(how, &below, share);
    for (int form = 0; form < 2; form++)
        forms[form]->average_2x2(how, above.data, below.data, out.data[form], count);
    compare_outputs(&out);
    free(above.block);
    free(below.block);
}

static void two_by_two_pixels(void **state)
{
    (void)state;
    for (size_t type = 0; type < sizeof halved / sizeof halved[0]; type++) {
        for (uint32_t samples = 1; samples <= 10; samples++) {
            for (int i = 0; i < COUNTS; i += samples < 5 ? 1 : 7) {
                tz_average_2x2_params how = {.dtype = halved[type],
                                             .samples = samples,
                                             .nodata = 7,
                                             .neighbour = 8,
                                             .nodata_real = 7.5f,
                                             .neighbour_real = nextafterf(7.5f, 8),
                                             .none_real = NAN};
                check_halve(&how, count_at(i), 0);
                how.has_nodata = true;
                how.none_real = how.nodata_real;
                check_halve(&how, count_at(i), (unsigned)i % 4);
            }
        }
    }
}

/* The common result of the loops above is right: the mean of four, to the nearest. */
static void means_are_rounded_away_from_zero(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        for (int sum = -40; sum <= 40; sum++) {
            int16_t above[64];
            int16_t below[64];
            int16_t out[32];
            for (int i = 0; i < 64; i++) {
                above[i] = (int16_t)(i % 2 ? sum - sum / 3 : sum / 3);
                below[i] = (int16_t)(i % 2 ? 1000 : -1000);
            }
            const tz_average_2x2_params how = {.dtype = TZ_DTYPE_INT16, .samples = 1};
            forms[form]->average_2x2(&how, (uint8_t *)above, (uint8_t *)below, (uint8_t *)out, 32);
            for (int i = 0; i < 32; i++)
                assert_int_equal(out[i], (int)round(sum / 4.0));
        }
    }
}

/* ---- weighted sums ---- */

/* Pixels that are 1 or 2 samples apart, or anywhere, and look at 1 to taps samples each. */
static void check_weigh(size_t width, uint32_t taps, uint32_t apart, bool finite)
{
    const size_t most = width * 3 + taps;
    int32_t *from = malloc((width + 1) * sizeof *from);
    double *weights = malloc((width * taps + 1) * sizeof *weights);
    double *values = malloc(most * sizeof *values);
    double out[2][2][44]; /* by form: sums and totals, with what must stay after them */
    memset(out, UNTOUCHED, sizeof out);
    for (size_t i = 0; i < most; i++) {
        static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0};
        values[i] = (double)random_below(100000) / 7;
        if (!finite && random_below(6) == 0)
            values[i] = odd[random_below(4)];
    }
    for (size_t i = 0; i < width; i++) {
        from[i] = (int32_t)(apart > 0 ? i * apart : random_below(most - taps + 1));
        const uint32_t few = 1 + (uint32_t)random_below(taps);
        for (uint32_t k = 0; k < taps; k++)
            weights[k * width + i] = k < few ? (double)random_below(2000) / 999 - 0.5 : 0;
    }
    const tz_tap_weights how = {from, weights, width, taps};
    for (int form = 0; form < 2; form++)
        forms[form]->weighted_sums(&how, values, out[form][0], finite ? NULL : out[form][1]);
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    const double behind = out[1][0][width];
    assert_memory_equal(&behind, &out[1][0][43], sizeof behind);
    free(values);
    free(weights);
    free(from);
}

static void weighted_sums(void **state)
{
    (void)state;
    for (size_t width = 0; width < 40; width++) {
        for (uint32_t taps = 1; taps <= 13; taps++) {
            for (uint32_t apart = 0; apart <= 3; apart++) {
                check_weigh(width, taps, apart, false);
                check_weigh(width, taps, apart, true);
            }
        }
    }
}

static void combined_rows(void **state)
{
    (void)state;
    enum { ROWS = 13, WIDTH = 40 };
    double values[ROWS][WIDTH];
    double weights[ROWS];
    const double *rows[ROWS];
    for (uint32_t k = 0; k < ROWS; k++) {
        rows[k] = values[k];
        weights[k] = (double)random_below(2000) / 999 - 0.5;
        for (size_t i = 0; i < WIDTH; i++)
            values[k][i] = (double)random_below(100000) / 7;
    }
    for (uint32_t count = 0; count <= ROWS; count++) {
        for (size_t width = 0; width <= WIDTH; width++) {
            double out[2][WIDTH + 1];
            memset(out, UNTOUCHED, sizeof out);
            for (int form = 0; form < 2; form++)
                forms[form]->combine_rows(rows, weights, count, width, out[form]);
            assert_memory_equal(out[0], out[1], sizeof out[0]);
        }
    }
}

static void quotients(void **state)
{
    (void)state;
    for (size_t width = 0; width <= 40; width++) {
        for (unsigned share = 0; share < 3; share++) {
            double sums[41];
            double totals[41];
            double out[2][41];
            bool any = false;
            memset(out, UNTOUCHED, sizeof out);
            for (size_t i = 0; i < width; i++) {
                sums[i] = (double)random_below(100000) / 7;
                totals[i] = (double)random_below(1000) / 3 + 1;
                if (share == 1 && random_below(9) == 0)
                    totals[i] = -(double)random_below(2);
                if (share == 2 && i + 1 == width)
                    sums[i] = (double)NAN;
                any |= !(totals[i] > 0) || isnan(sums[i]);
            }
            for (int form = 0; form < 2; form++)
                assert_int_equal(forms[form]->divide(sums, totals, width, out[form]), any);
            assert_memory_equal(out[0], out[1], sizeof out[0]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_by_two_pixels), cmocka_unit_test(means_are_rounded_away_from_zero),
        cmocka_unit_test(weighted_sums),     cmocka_unit_test(combined_rows),
        cmocka_unit_test(quotients),
    };
    return cmocka_run_group_tests(tests, choose_forms, NULL);
}
