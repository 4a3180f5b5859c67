/* SPDX-License-Identifier: Apache-2.0
 * See deflate_choice.h. Up to 4 KiB of the tile, in pieces from all over it, are parted into
 * literals and matches as a simple encoder would. Where little comes out, pieces differ more, and
 * small tiles too get all the pieces there are. Literals are priced by their entropy, and matches
 * by a rule. All arithmetic is of integers, so that the choice is the same everywhere. */
#include "codec/deflate_choice.h"

#include <string.h>

#include "codec/load.h"

enum {
    PIECE = 1024,
    PART = 32 * PIECE, /* of which a piece is taken, within these bounds: */
    FEWEST = 2,
    MOST = 4,
    SAMPLE = PIECE * MOST,
    MIN_MATCH = 4,
    LONGEST_MATCH = 258,
    RUN = 16, /* the shortest run that counts */
    SLOT_BITS = 11,
    FRACTION = 8, /* bits behind the point of what is counted in bits */
    SLACK = 8
};

/* A way to write the sample: literals by value, and bits of matches. */
typedef struct parting {
    uint16_t literals[256];
    uint64_t match_bits;
} parting;

/* So many pieces from the middles of even parts; all of it when it is small. */
static size_t take_sample(const uint8_t *in, size_t size, size_t pieces, uint8_t *sample)
{
    size_t taken = size < pieces * PIECE ? size : pieces * PIECE;
    if (taken == size)
        memcpy(sample, in, size);
    for (size_t i = 0; taken < size && i < pieces; i++)
        memcpy(sample + i * PIECE, in + size / pieces * i + (size / pieces - PIECE) / 2, PIECE);
    memset(sample + taken, 0, SLACK);
    return taken;
}

/* log2(value), value not 0. Between powers of two a parabola is close enough. */
static uint32_t log2_of(uint32_t value)
{
    unsigned whole = 31 - (unsigned)__builtin_clz(value);
    uint32_t part = (uint32_t)(((uint64_t)value << 16 >> whole) - (1 << 16)); /* of 1 << 16 */
    uint64_t bend = (uint64_t)part * ((1 << 16) - part) >> 16;
    return (whole << FRACTION) + (uint32_t)((part + bend * 22713 / 65536) >> (16 - FRACTION));
}

/* What literals take: their entropy, but a bit at least for each, which no code goes below. */
static uint64_t literal_bits(const uint16_t *counts)
{
    uint32_t total = 0;
    uint64_t sum = 0;
    for (size_t i = 0; i < 256; i++) {
        total += counts[i];
        if (counts[i] > 0)
            sum += (uint64_t)counts[i] * log2_of(counts[i]);
    }
    uint64_t least = (uint64_t)total << FRACTION;
    uint64_t bits = total > 0 ? (uint64_t)total * log2_of(total) - sum : 0;
    return bits > least ? bits : least;
}

/* A code for the length, one for the distance, and the lower bits of both. */
static uint64_t match_price(size_t length, size_t distance)
{
    enum { CODES = 8 };
    return (CODES << FRACTION) + log2_of((uint32_t)distance) + log2_of((uint32_t)length) / 4;
}

static size_t match_length(const uint8_t *at, const uint8_t *before, const uint8_t *end)
{
    size_t most = end - at < LONGEST_MATCH ? (size_t)(end - at) : LONGEST_MATCH;
    size_t length = 0;
    while (length < most) {
        uint64_t differ = tz_load_le64(at + length) ^ tz_load_le64(before + length);
        if (differ != 0) {
            length += (size_t)__builtin_ctzll(differ) / 8;
            break;
        }
        length += 8;
    }
    return length < most ? length : most;
}

static void part_by_runs(const uint8_t *sample, size_t size, parting *parts)
{
    for (size_t at = 0; at < size;) {
        size_t run = at > 0 ? match_length(sample + at, sample + at - 1, sample + size) : 0;
        run -= run % RUN;
        if (run > 0) {
            parts->match_bits += match_price(run, 1);
            at += run;
            continue;
        }
        size_t some = size - at < RUN ? size - at : RUN;
        for (size_t i = 0; i < some; i++)
            parts->literals[sample[at + i]]++;
        at += some;
    }
}

static void part_by_matches(const uint8_t *sample, size_t size, uint64_t literal_price,
                            parting *parts)
{
    uint16_t slots[1 << SLOT_BITS] = {0}; /* where four bytes were last */
    parts->literals[sample[0]]++;
    for (size_t at = 1; at < size;) {
        uint32_t four = tz_load_le32(sample + at);
        uint16_t *slot = &slots[four * UINT32_C(0x9E3779B1) >> (32 - SLOT_BITS)];
        size_t before = *slot;
        *slot = (uint16_t)at;
        if (tz_load_le32(sample + before) == four) {
            size_t length = match_length(sample + at, sample + before, sample + size);
            uint64_t price = match_price(length, at - before);
            if (length >= MIN_MATCH && price < length * literal_price) {
                parts->match_bits += price;
                at += length;
                continue;
            }
        }
        parts->literals[sample[at++]]++;
    }
}

static tz_deflate_estimate estimate(const uint8_t *in, size_t size, size_t pieces)
{
    uint8_t sample[SAMPLE + SLACK];
    parting by_runs = {.match_bits = 0}, by_matches = {.match_bits = 0};
    size = take_sample(in, size, pieces, sample);
    part_by_runs(sample, size, &by_runs);
    uint64_t runs_bits = by_runs.match_bits + literal_bits(by_runs.literals);
    part_by_matches(sample, size, runs_bits / size, &by_matches);
    uint64_t matches_bits = by_matches.match_bits + literal_bits(by_matches.literals);
    return (tz_deflate_estimate){size, runs_bits >> FRACTION, matches_bits >> FRACTION};
}

tz_deflate_estimate tz_deflate_estimate_of(const uint8_t *in, size_t size)
{
    enum { FEW_BITS = 3 }; /* a byte, of samples that are hardly continuous */
    size_t pieces = size / PART;
    pieces = pieces < FEWEST ? FEWEST : pieces < MOST ? pieces : MOST;
    tz_deflate_estimate found = estimate(in, size, pieces);
    if (pieces < MOST && found.by_runs < found.bytes * FEW_BITS)
        found = estimate(in, size, MOST);
    return found;
}

bool tz_deflate_wants_matches(const uint8_t *in, size_t size)
{
    tz_deflate_estimate bits = tz_deflate_estimate_of(in, size);
    return bits.by_runs * 12 > bits.by_matches * 13;
}

bool tz_deflate_matches_gain_nothing(const uint8_t *in, size_t size)
{
    enum { BUSY_BITS = 4 }; /* of a byte; where less comes out, samples say little */
    tz_deflate_estimate bits = tz_deflate_estimate_of(in, size);
    return bits.by_runs * 500 <= bits.by_matches * 501 && bits.by_runs >= bits.bytes * BUSY_BITS;
}
