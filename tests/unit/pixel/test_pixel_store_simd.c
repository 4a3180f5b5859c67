/* SPDX-License-Identifier: Apache-2.0
 * Every loop of the way to a file gives the same in plain form and for an instruction set: of any
 * count, stride and alignment, in place and not, and writes nothing behind its end. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pixel/store.h"
#include "support/row_ops_compare.h"

enum { LONGEST = 300 };

static const size_t word_sizes[TZ_WORD_SIZES] = {1, 2, 4, 8};

/* ---- predictors ---- */

/* Both forms in place and not. Where a form works in place, its row is its output. */
static void check_do2(unsigned word, size_t count, uint32_t stride, bool swap)
{
    const size_t size = count * word_sizes[word];
    input row = make_input(size + TZ_ROW_SLACK);
    outputs out = make_outputs(size);
    outputs same = make_outputs(size);
    for (int form = 0; form < 2; form++) {
        memcpy(same.data[form], row.data, size);
        forms[form]->predict2[word](row.data, out.data[form], count, stride, swap);
        forms[form]->predict2[word](same.data[form], same.data[form], count, stride, swap);
    }
    assert_memory_equal(out.data[0], same.data[0], size);
    compare_outputs(&out);
    compare_outputs(&same);
    free(row.block);
}

static void predictor_2(void **state)
{
    (void)state;
    static const uint32_t strides[] = {1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 32, 33, 40, 300};
    for (unsigned word = 0; word < TZ_WORD_SIZES; word++) {
        for (size_t s = 0; s < sizeof strides / sizeof strides[0]; s++) {
            for (size_t count = 0; count <= LONGEST; count++) {
                check_do2(word, count, strides[s], false);
                check_do2(word, count, strides[s], true);
            }
            check_do2(word, 100 * (size_t)strides[s], strides[s], word % 2);
        }
    }
}

static void check_do3(size_t pixels, unsigned width, uint32_t stride)
{
    const size_t size = pixels * stride * width;
    input row = make_input(size + TZ_ROW_SLACK);
    outputs out = make_outputs(size);
    for (int form = 0; form < 2; form++)
        forms[form]->predict3(row.data, out.data[form], pixels * stride, width, stride);
    compare_outputs(&out);
    free(row.block);
}

static void predictor_3(void **state)
{
    (void)state;
    static const uint32_t strides[] = {1, 2, 3, 4, 5, 7, 16, 31, 32, 33, 50};
    for (unsigned width = 2; width <= 8; width *= 2) {
        for (size_t s = 0; s < sizeof strides / sizeof strides[0]; s++) {
            for (size_t pixels = 0; pixels <= (strides[s] <= 5 ? LONGEST : 70); pixels++)
                check_do3(pixels, width, strides[s]);
        }
    }
}

/* ---- packing ---- */

static void check_pack(size_t count, unsigned bits, size_t size)
{
    const size_t packed = (count * bits + 7) / 8;
    input row = make_input(count * size);
    outputs out = make_outputs(packed);
    outputs same = make_outputs(count * size);
    for (int form = 0; form < 2; form++) {
        memcpy(same.data[form], row.data, count * size);
        forms[form]->pack(row.data, out.data[form], count, bits, size);
        forms[form]->pack(same.data[form], same.data[form], count, bits, size);
        memset(same.data[form] + packed, 0, count * size - packed); /* what is left of the row */
    }
    assert_memory_equal(out.data[0], same.data[0], packed);
    compare_outputs(&out);
    compare_outputs(&same);
    free(row.block);
}

static void packing(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits < 32; bits++) {
        for (size_t count = 0; count <= LONGEST; count++)
            check_pack(count, bits, bits <= 8 ? 1 : bits <= 16 ? 2 : 4);
    }
}

/* ---- NaN ---- */

/* A third of the samples gets an exponent of all ones. */
static void make_nans(uint8_t *row, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t *last = row + (i + 1) * size - 1;
        if (random_below(3) > 0)
            continue;
        *last |= size == 2 ? 0x7c : 0x7f;
        if (size > 2)
            last[-1] |= size == 4 ? 0x80 : 0xf0;
        for (uint8_t *p = row + i * size; i % 4 == 0 && p + 2 <= last; p++)
            *p = 0; /* infinity, or a NaN of few bits */
    }
}

static void nans(void **state)
{
    (void)state;
    for (unsigned word = 1; word < TZ_WORD_SIZES; word++) {
        const size_t size = word_sizes[word];
        for (size_t count = 0; count <= LONGEST; count++) {
            input row = make_input(count * size);
            input value = make_input(size);
            outputs out = make_outputs(count * size);
            make_nans(row.data, count, size);
            for (int form = 0; form < 2; form++) {
                memcpy(out.data[form], row.data, count * size);
                forms[form]->replace_nan[word](out.data[form], count, value.data);
            }
            compare_outputs(&out);
            free(row.block);
            free(value.block);
        }
    }
}

/* ---- statistics ---- */

/* Random samples: any bits, NaN among them, or numbers of an ordinary size. */
static input make_samples(tz_dtype dtype, size_t count, bool ordinary)
{
    const size_t size = tz_dtype_size(dtype);
    const tz_conversion cast = {.from = TZ_DTYPE_FLOAT64, .to = dtype};
    input in = make_input(count * size);
    for (size_t i = 0; ordinary && i < count; i++) {
        const double number = (double)random_below(100000) / 7 - 3000;
        tz_scalar_convert(&cast, (const uint8_t *)&number, 8, in.data + i * size, 8, 1, NULL, 0);
    }
    if (!ordinary && dtype >= TZ_DTYPE_FLOAT16)
        make_nans(in.data, count, size);
    return in;
}

/* The same bits; a NaN may differ in its sign. */
static void assert_same(double a, double b)
{
    if (!(isnan(a) && isnan(b)))
        assert_memory_equal(&a, &b, sizeof a);
}

static void check_tally(tz_dtype dtype, size_t count, bool ordinary)
{
    static const double pivots[] = {0, 3, -117, 40000, 255};
    const double part = dtype >= TZ_DTYPE_FLOAT16 ? 0.37 : 0;
    const double pivot = pivots[random_below(5)] + part;
    input row = make_samples(dtype, count, ordinary);
    input flags = make_input(count);
    tz_block_stats parts[2];
    for (size_t i = 0; i < count; i++)
        flags.data[i] = random_below(3) ? (uint8_t)(1 + random_below(255)) : 0;
    for (int with = 0; with < 2; with++) {
        for (int form = 0; form < 2; form++)
            forms[form]->block_stats(dtype, row.data, with ? flags.data : NULL, count, pivot,
                                     &parts[form]);
        assert_int_equal(parts[0].valid, parts[1].valid);
        assert_true(parts[0].minimum == parts[1].minimum && parts[0].maximum == parts[1].maximum);
        assert_same(parts[0].sum, parts[1].sum);
        assert_same(parts[0].squares, parts[1].squares);
    }
    free(row.block);
    free(flags.block);
}

static void tallies(void **state)
{
    (void)state;
    for (tz_dtype dtype = TZ_DTYPE_UINT8; dtype <= TZ_DTYPE_FLOAT64; dtype++) {
        for (size_t count = 0; count <= LONGEST; count++) {
            check_tally(dtype, count, false);
            check_tally(dtype, count, true);
        }
        for (size_t count = TZ_STATS_BLOCK - 20; count <= TZ_STATS_BLOCK; count++)
            check_tally(dtype, count, false);
    }
}

/* The largest sums that integers have to hold. */
static void tallies_of_extremes(void **state)
{
    (void)state;
    for (tz_dtype dtype = TZ_DTYPE_UINT8; dtype <= TZ_DTYPE_INT32; dtype++) {
        for (int byte = 0; byte < 2; byte++) {
            for (double pivot = -65536; pivot <= 65536; pivot += 65536) {
                const size_t size = tz_dtype_size(dtype);
                input row = make_input(TZ_STATS_BLOCK * size);
                tz_block_stats parts[2];
                memset(row.data, byte ? 0xff : 0, row.size);
                for (size_t i = size - 1; i < row.size; i += size)
                    row.data[i] ^= dtype % 2 ? 0 : 0x80; /* signed */
                for (int form = 0; form < 2; form++)
                    forms[form]->block_stats(dtype, row.data, NULL, TZ_STATS_BLOCK, pivot,
                                             &parts[form]);
                assert_same(parts[0].sum, parts[1].sum);
                assert_same(parts[0].squares, parts[1].squares);
                free(row.block);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictor_2), cmocka_unit_test(predictor_3),
        cmocka_unit_test(packing),     cmocka_unit_test(nans),
        cmocka_unit_test(tallies),     cmocka_unit_test(tallies_of_extremes),
    };
    return cmocka_run_group_tests(tests, choose_forms, NULL);
}
