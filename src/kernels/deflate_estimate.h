/* SPDX-License-Identifier: Apache-2.0
 * Which Deflate encoder suits the bytes of a tile: the one that looks for runs alone (see
 * deflate_encode.h), or one that looks for matches.
 *
 * Up to 4 KiB of the tile, in pieces from all over it, are parted into literals and matches as a
 * simple encoder would. Where little comes out, pieces differ more, and small tiles too get all the
 * pieces there are. Literals are priced by their entropy, and matches by a rule. All arithmetic is
 * of integers, so that the choice is the same everywhere. */
#ifndef TZ_KERNELS_DEFLATE_ESTIMATE_H
#define TZ_KERNELS_DEFLATE_ESTIMATE_H

#include "kernels/items.h"
#include "kernels/kernel.h"

#define TZ_CHOICE_PIECE     1024u
#define TZ_CHOICE_PART      (32u * TZ_CHOICE_PIECE) /* of which a piece is taken, but: */
#define TZ_CHOICE_FEWEST    2u
#define TZ_CHOICE_MOST      4u
#define TZ_CHOICE_MIN_MATCH 4u
#define TZ_CHOICE_LONGEST   258u
#define TZ_CHOICE_RUN       16u /* the shortest run that counts */
#define TZ_CHOICE_SLOT_BITS 11u
#define TZ_CHOICE_FRACTION  8u /* bits behind the point of what is counted in bits */
#define TZ_CHOICE_SLACK     8u

/* What some bytes of the tile take by either, in bits. */
typedef struct tz_deflate_estimate {
    tz_u64 bytes;
    tz_u64 by_runs;
    tz_u64 by_matches;
} tz_deflate_estimate;

typedef struct tz_choice_work {
    tz_u8 sample[TZ_CHOICE_PIECE * TZ_CHOICE_MOST + TZ_CHOICE_SLACK];
    tz_u16 slots[1u << TZ_CHOICE_SLOT_BITS]; /* where four bytes were last */
    tz_u16 literals[256];                    /* by value */
} tz_choice_work;

#if defined(__OPENCL_VERSION__)
TZ_FN tz_u64 tz_choice_load(const TZ_LOCAL tz_u8 *p, tz_u32 bytes)
{
    tz_u64 word = 0u;
    for (tz_u32 i = 0u; i < bytes; i++)
        word |= (tz_u64)p[i] << 8u * i;
    return word;
}
#define TZ_CHOICE_FOUR(p)  ((tz_u32)tz_choice_load(p, 4u))
#define TZ_CHOICE_EIGHT(p) tz_choice_load(p, 8u)
#else
#define TZ_CHOICE_FOUR(p)  tz_little_u32(tz_load_u32(p))
#define TZ_CHOICE_EIGHT(p) tz_little_u64(tz_load_u64(p))
#endif

/* Bytes of the sample: all of them when there are few. */
TZ_FN tz_u32 tz_choice_taken(tz_u64 size, tz_u32 pieces)
{
    return size < pieces * TZ_CHOICE_PIECE ? (tz_u32)size : pieces * TZ_CHOICE_PIECE;
}

/* So many pieces from the middles of even parts; one item's share of the work of several. */
TZ_FN void tz_choice_take(const TZ_GLOBAL tz_u8 *in, tz_u64 size, tz_u32 pieces,
                          TZ_LOCAL tz_choice_work *work, tz_u32 item, tz_u32 items)
{
    const tz_u64 part = size / pieces;
    const tz_u32 taken = tz_choice_taken(size, pieces);
    for (tz_u32 at = 0u; at < taken; at += TZ_CHOICE_PIECE) {
        const tz_u32 some = taken - at < TZ_CHOICE_PIECE ? taken - at : TZ_CHOICE_PIECE;
        const tz_u64 from =
            taken == size ? at : part * (at / TZ_CHOICE_PIECE) + (part - TZ_CHOICE_PIECE) / 2u;
        for (tz_u32 i = item; i < some; i += items)
            work->sample[at + i] = in[from + i];
    }
    for (tz_u32 i = item; i < TZ_CHOICE_SLACK; i += items)
        work->sample[taken + i] = 0u;
    for (tz_u32 i = item; i < 1u << TZ_CHOICE_SLOT_BITS; i += items)
        work->slots[i] = 0u;
}

/* log2(value), value not 0. Between powers of two a parabola is close enough. */
TZ_FN tz_u32 tz_choice_log2(tz_u32 value)
{
    const tz_u32 whole = 31u - tz_leading_zeros_u32(value);
    const tz_u32 part = (tz_u32)(((tz_u64)value << 16 >> whole) - (1u << 16)); /* of 1 << 16 */
    const tz_u64 bend = (tz_u64)part * ((1u << 16) - part) >> 16;
    return (whole << TZ_CHOICE_FRACTION) +
           (tz_u32)((part + bend * 22713u / 65536u) >> (16u - TZ_CHOICE_FRACTION));
}

/* What literals take: their entropy, but a bit at least for each, which no code goes below. */
TZ_FN tz_u64 tz_choice_literal_bits(const TZ_LOCAL tz_u16 *counts)
{
    tz_u32 total = 0u;
    tz_u64 sum = 0u;
    for (tz_u32 i = 0u; i < 256u; i++) {
        total += counts[i];
        if (counts[i] > 0u)
            sum += (tz_u64)counts[i] * tz_choice_log2(counts[i]);
    }
    const tz_u64 least = (tz_u64)total << TZ_CHOICE_FRACTION;
    const tz_u64 bits = total > 0u ? (tz_u64)total * tz_choice_log2(total) - sum : 0u;
    return bits > least ? bits : least;
}

/* A code for the length, one for the distance, and the lower bits of both. */
TZ_FN tz_u64 tz_choice_match_price(tz_u32 length, tz_u32 distance)
{
    const tz_u32 codes = 8u << TZ_CHOICE_FRACTION;
    return codes + tz_choice_log2(distance) + tz_choice_log2(length) / 4u;
}

TZ_FN tz_u32 tz_choice_match_length(const TZ_LOCAL tz_u8 *sample, tz_u32 at, tz_u32 before,
                                    tz_u32 end)
{
    const tz_u32 most = end - at < TZ_CHOICE_LONGEST ? end - at : TZ_CHOICE_LONGEST;
    tz_u32 length = 0u;
    while (length < most) {
        const tz_u64 differ =
            TZ_CHOICE_EIGHT(sample + at + length) ^ TZ_CHOICE_EIGHT(sample + before + length);
        if (differ != 0u) {
            length += tz_trailing_zeros_u64(differ) / 8u;
            break;
        }
        length += 8u;
    }
    return length < most ? length : most;
}

/* Both partings count literals, and return the bits of matches. */
TZ_FN tz_u64 tz_choice_by_runs(TZ_LOCAL tz_choice_work *work, tz_u32 size)
{
    tz_u64 match_bits = 0u;
    for (tz_u32 at = 0u; at < size;) {
        tz_u32 run = at > 0u ? tz_choice_match_length(work->sample, at, at - 1u, size) : 0u;
        run -= run % TZ_CHOICE_RUN;
        if (run > 0u) {
            match_bits += tz_choice_match_price(run, 1u);
            at += run;
            continue;
        }
        const tz_u32 some = size - at < TZ_CHOICE_RUN ? size - at : TZ_CHOICE_RUN;
        for (tz_u32 i = 0u; i < some; i++)
            work->literals[work->sample[at + i]]++;
        at += some;
    }
    return match_bits;
}

TZ_FN tz_u64 tz_choice_by_matches(TZ_LOCAL tz_choice_work *work, tz_u32 size, tz_u64 literal_price)
{
    const TZ_LOCAL tz_u8 *sample = work->sample;
    tz_u64 match_bits = 0u;
    work->literals[sample[0]]++;
    for (tz_u32 at = 1u; at < size;) {
        const tz_u32 four = TZ_CHOICE_FOUR(sample + at);
        const tz_u32 slot = four * 0x9E3779B1u >> (32u - TZ_CHOICE_SLOT_BITS);
        const tz_u32 before = work->slots[slot];
        work->slots[slot] = (tz_u16)at;
        if (TZ_CHOICE_FOUR(sample + before) == four) {
            const tz_u32 length = tz_choice_match_length(sample, at, before, size);
            const tz_u64 price = tz_choice_match_price(length, at - before);
            if (length >= TZ_CHOICE_MIN_MATCH && price < length * literal_price) {
                match_bits += price;
                at += length;
                continue;
            }
        }
        work->literals[sample[at++]]++;
    }
    return match_bits;
}

TZ_FN void tz_choice_no_literals(TZ_LOCAL tz_choice_work *work)
{
    for (tz_u32 i = 0u; i < 256u; i++)
        work->literals[i] = 0u;
}

/* What a sample of size bytes says. */
TZ_FN tz_deflate_estimate tz_choice_estimate(TZ_LOCAL tz_choice_work *work, tz_u32 size)
{
    tz_deflate_estimate found;
    tz_choice_no_literals(work);
    tz_u64 runs = tz_choice_by_runs(work, size);
    runs += tz_choice_literal_bits(work->literals);
    tz_choice_no_literals(work);
    tz_u64 matches = tz_choice_by_matches(work, size, runs / size);
    matches += tz_choice_literal_bits(work->literals);
    found.bytes = size;
    found.by_runs = runs >> TZ_CHOICE_FRACTION;
    found.by_matches = matches >> TZ_CHOICE_FRACTION;
    return found;
}

/* The pieces to begin with. */
TZ_FN tz_u32 tz_choice_pieces(tz_u64 size)
{
    const tz_u64 pieces = size / TZ_CHOICE_PART;
    if (pieces < TZ_CHOICE_FEWEST)
        return TZ_CHOICE_FEWEST;
    return pieces < TZ_CHOICE_MOST ? (tz_u32)pieces : TZ_CHOICE_MOST;
}

/* Whether these were too few: samples are hardly continuous where a byte takes so few bits. */
TZ_FN tz_u32 tz_choice_wants_more(tz_deflate_estimate found, tz_u32 pieces)
{
    return pieces < TZ_CHOICE_MOST && found.by_runs < found.bytes * 3u;
}

/* Of size bytes, not 0, by one item. */
TZ_FN tz_deflate_estimate tz_choice_estimate_tile(const TZ_GLOBAL tz_u8 *in, tz_u64 size,
                                                  TZ_LOCAL tz_choice_work *work)
{
    tz_u32 pieces = tz_choice_pieces(size);
    tz_deflate_estimate found;
    tz_u32 again;
    do {
        tz_choice_take(in, size, pieces, work, 0u, 1u);
        found = tz_choice_estimate(work, tz_choice_taken(size, pieces));
        again = tz_choice_wants_more(found, pieces);
        pieces = TZ_CHOICE_MOST;
    } while (again);
    return found;
}

/* Whether runs alone make the bytes larger than matches would, by more than a twelfth. */
TZ_FN tz_u32 tz_choice_is_matches(tz_deflate_estimate bits)
{
    return bits.by_runs * 12u > bits.by_matches * 13u;
}

/* The same question by a group, of which all items get the answer. answer: 2 words. Both rounds are
 * always gone through: barriers that depend on conditions make compilers copy what comes behind. */
TZ_FN tz_u32 tz_choice_is_matches_group(const TZ_GLOBAL tz_u8 *in, tz_u64 size,
                                        TZ_LOCAL tz_choice_work *work, TZ_LOCAL tz_u32 *answer)
{
    tz_u32 pieces = tz_choice_pieces(size);
    tz_u32 wanted = size > 0u;
    for (TZ_ITEMS(item)) {
        if (item == 0u) /* compilers read it before they ask whether it is wanted */
            answer[0] = answer[1] = 0u;
    }
    for (tz_u32 round = 0u; round < 2u; round++) {
        for (TZ_ITEMS(item)) {
            if (wanted)
                tz_choice_take(in, size, pieces, work, item, TZ_GROUP_SIZE);
        }
        TZ_SYNC;
        for (TZ_ITEMS(item)) {
            if (item == 0u && wanted) {
                const tz_deflate_estimate found =
                    tz_choice_estimate(work, tz_choice_taken(size, pieces));
                answer[0] = tz_choice_is_matches(found);
                answer[1] = tz_choice_wants_more(found, pieces);
            }
        }
        TZ_SYNC;
        wanted = wanted && answer[1];
        pieces = TZ_CHOICE_MOST;
    }
    return size > 0u && answer[0];
}

#endif
