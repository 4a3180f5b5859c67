/* SPDX-License-Identifier: Apache-2.0
 * A value of a given rank is found digit by digit: numbers become integers that sort the same, and
 * each pass over the pixels counts those that share the digits found so far, by their next 16 bits.
 * Four passes find it exactly, whatever the type, without a copy of the pixels. */
#include "stretch.h"

#include <math.h>
#include <string.h>

#include "sample.h"

#define DIGIT_BITS 16
#define DIGITS     ((size_t)1 << DIGIT_BITS)

typedef struct pixels {
    tz_dtype dtype;
    const void *samples;
    const unsigned char *mask;
    size_t count;
} pixels;

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
    uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool pixel_key(const pixels *p, size_t index, uint64_t *key)
{
    double value = sample_real(p->dtype, p->samples, index);
    if (p->mask[index] == 0 || !isfinite(value))
        return false;
    *key = sort_key(value);
    return true;
}

static uint64_t count_valid(const pixels *p)
{
    uint64_t valid = 0;
    uint64_t key;
    for (size_t i = 0; i < p->count; i++)
        valid += pixel_key(p, i, &key);
    return valid;
}

/* Returns the value with this many smaller ones before it; there must be more pixels than that. */
static double value_of_rank(const pixels *p, uint64_t rank)
{
    static uint64_t counts[DIGITS];
    uint64_t found = 0;
    for (int shift = 64 - DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS) {
        uint64_t key;
        memset(counts, 0, sizeof counts);
        for (size_t i = 0; i < p->count; i++) {
            bool same = pixel_key(p, i, &key) &&
                        (shift == 64 - DIGIT_BITS || (key ^ found) >> (shift + DIGIT_BITS) == 0);
            if (same)
                counts[key >> shift & (DIGITS - 1)]++;
        }
        uint64_t digit = 0;
        while (rank >= counts[digit])
            rank -= counts[digit++];
        found |= digit << shift;
    }
    return key_value(found);
}

stretch stretch_extent(tz_dtype dtype, const void *samples, const unsigned char *mask, size_t count)
{
    const pixels p = {dtype, samples, mask, count};
    uint64_t least = UINT64_MAX;
    uint64_t greatest = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t key;
        if (!pixel_key(&p, i, &key))
            continue;
        least = key < least ? key : least;
        greatest = key > greatest ? key : greatest;
    }
    if (least > greatest)
        return (stretch){0, 0};
    return (stretch){key_value(least), key_value(greatest)};
}

stretch stretch_measure(tz_dtype dtype, const void *samples, const unsigned char *mask,
                        size_t count)
{
    const pixels p = {dtype, samples, mask, count};
    uint64_t valid = count_valid(&p);
    if (valid == 0)
        return (stretch){0, 0};
    uint64_t last = valid - 1;
    stretch s = {value_of_rank(&p, (uint64_t)floor((double)last * 0.02)),
                 value_of_rank(&p, (uint64_t)ceil((double)last * 0.98))};
    if (s.low < s.high)
        return s;
    return stretch_extent(dtype, samples, mask, count);
}

unsigned char stretch_apply(const stretch *s, double value)
{
    if (!(value > s->low))
        return 0;
    if (value >= s->high)
        return 255;
    return (unsigned char)lround((value - s->low) / (s->high - s->low) * 255);
}
