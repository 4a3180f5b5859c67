/* SPDX-License-Identifier: Apache-2.0
 * See stretch.h. Numbers become integers that sort the same. A value of a given rank is found digit
 * by digit: each pass counts the keys by their next 8 bits, and goes on with those that have the
 * digit in which the rank lies. So the result is exact, whatever the type, and the time does not
 * depend on the order of the pixels.
 *
 * Few pixels are enough for a range, so that the memory has a bound: of a large picture every n-th
 * one is measured. n has no divisor in common with the width, so that all columns are sampled. */
#include "image/stretch.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "pixel/pixel.h"

#define MAX_PIXELS ((uint64_t)512 * 512)
#define DIGIT_BITS 8
#define DIGITS     (1u << DIGIT_BITS)

enum { CHUNK = 256 };

/* Returns an integer that sorts as the number does. */
static uint64_t sort_key(double value)
{
    uint64_t bits;
    value += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static double key_value(uint64_t key)
{
    double value;
    const uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Returns n, of every n-th pixel. */
static uint64_t step_of(const tz_stretch_band *band)
{
    const uint64_t count = (uint64_t)band->height * band->width;
    uint64_t step = (count - 1) / MAX_PIXELS + 1;
    while (step > 1 && common_divisor(band->width, step) > 1)
        step++;
    return step;
}

/* ---------------------------------------------------------------------------------------------
 * Keys of the pixels that count, some at a time
 * ------------------------------------------------------------------------------------------ */

typedef struct key_reader {
    const tz_stretch_band *band;
    uint64_t step;
    uint64_t next; /* pixel */
} key_reader;

/* Reads the keys of the next CHUNK pixels. Returns their number; 0 at the end of the picture, and
 * *more is false then. */
static size_t read_keys(key_reader *r, uint64_t keys[CHUNK], bool *more)
{
    const tz_stretch_band *band = r->band;
    const uint64_t end = (uint64_t)band->height * band->width;
    const size_t size = tz_dtype_size(band->dtype);
    const tz_conversion to_double = {.from = band->dtype, .to = TZ_DTYPE_FLOAT64};
    uint8_t samples[CHUNK * sizeof(double)];
    double values[CHUNK];
    size_t gathered = 0;
    size_t count = 0;
    for (; gathered < CHUNK && r->next < end; r->next += r->step) {
        const int64_t row = (int64_t)(r->next / band->width);
        const int64_t column = (int64_t)(r->next % band->width);
        if (band->mask &&
            *(band->mask + row * band->mask_row_stride + column * band->mask_column_stride) == 0)
            continue;
        memcpy(samples + gathered++ * size,
               band->samples + row * band->row_stride + column * band->column_stride, size);
    }
    tz_row_convert(&to_double, samples, (ptrdiff_t)size, (uint8_t *)values, sizeof *values,
                   gathered, NULL, 0);
    for (size_t i = 0; i < gathered; i++) {
        keys[count] = sort_key(values[i]);
        count += isfinite(values[i]) != 0;
    }
    *more = r->next < end;
    return count;
}

tz_image_range tz_stretch_extent(const tz_stretch_band *band)
{
    key_reader reader = {.band = band, .step = step_of(band)};
    uint64_t keys[CHUNK];
    uint64_t least = UINT64_MAX;
    uint64_t greatest = 0;
    for (bool more = true; more;) {
        const size_t count = read_keys(&reader, keys, &more);
        for (size_t i = 0; i < count; i++) {
            least = tz_min(least, keys[i]);
            greatest = tz_max(greatest, keys[i]);
        }
    }
    if (least > greatest)
        return (tz_image_range){0, 0};
    return (tz_image_range){key_value(least), key_value(greatest)};
}

/* ---------------------------------------------------------------------------------------------
 * Ranks
 * ------------------------------------------------------------------------------------------ */

/* Moves the keys with a smaller digit to the front and those with a greater one to the end. */
static void divide_keys(uint64_t *keys, size_t count, int shift, uint64_t digit)
{
    size_t less = 0;
    for (size_t i = 0; i < count;) {
        const uint64_t key = keys[i];
        const uint64_t found = key >> shift & (DIGITS - 1);
        if (found > digit) {
            keys[i] = keys[--count];
            keys[count] = key;
            continue;
        }
        if (found < digit) {
            keys[i] = keys[less];
            keys[less++] = key;
        }
        i++;
    }
}

/* Returns the key with `rank` smaller ones before it; rank is below count. Changes the order of the
 * keys. */
static uint64_t key_of_rank(uint64_t *keys, size_t count, uint64_t rank)
{
    for (int shift = 64 - DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS) {
        size_t counts[DIGITS] = {0};
        size_t before = 0;
        uint64_t digit = 0;
        for (size_t i = 0; i < count; i++)
            counts[keys[i] >> shift & (DIGITS - 1)]++;
        while (rank >= before + counts[digit])
            before += counts[digit++];
        if (counts[digit] < count)
            divide_keys(keys, count, shift, digit);
        keys += before;
        rank -= before;
        count = counts[digit];
    }
    return keys[0];
}

size_t tz_stretch_max_bytes(void)
{
    return (MAX_PIXELS + CHUNK) * sizeof(uint64_t);
}

tz_result tz_stretch_measure(tz_image_range *out, const tz_stretch_band *band,
                             const tz_context *ctx)
{
    key_reader reader = {.band = band, .step = step_of(band)};
    const uint64_t pixels = (uint64_t)band->height * band->width;
    const size_t capacity = (size_t)((pixels - 1) / reader.step + 1) + CHUNK;
    uint64_t *keys = tz_alloc_array(capacity, sizeof *keys);
    size_t count = 0;
    if (!keys)
        return tz_fail_nomem(ctx, capacity * sizeof *keys);
    for (bool more = true; more;)
        count += read_keys(&reader, keys + count, &more);
    tz_image_range range = {0, 0};
    if (count > 0) {
        const double last = (double)(count - 1);
        range.low = key_value(key_of_rank(keys, count, (uint64_t)floor(last * 0.02)));
        range.high = key_value(key_of_rank(keys, count, (uint64_t)ceil(last * 0.98)));
    }
    tz_free(keys);
    *out = range.low < range.high ? range : tz_stretch_extent(band);
    return TZ_OK;
}
