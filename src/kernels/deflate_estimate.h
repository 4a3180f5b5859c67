/* SPDX-License-Identifier: Apache-2.0
 * The choice of a Deflate encoder for the bytes of a tile: the one that finds only runs (see
 * deflate_encode.h), or one that finds matches.
 *
 * A sample of up to 4 KiB, in probes from all over the tile, is divided into literals and matches
 * as either encoder would do it. Literals are priced by their entropy, matches by a rule. The
 * sample has 2 probes for a small tile, and 4 if the bytes compress well: probes then differ more.
 * All arithmetic is of integers, so that the choice is the same on every device. */
#ifndef TZ_KERNELS_DEFLATE_ESTIMATE_H
#define TZ_KERNELS_DEFLATE_ESTIMATE_H

#include "kernels/kernel.h"
#include "kernels/work_items.h"

#define TZ_ESTIMATE_PROBE          1024u                     /* bytes */
#define TZ_ESTIMATE_PROBE_INTERVAL (32u * TZ_ESTIMATE_PROBE) /* a probe for each, within: */
#define TZ_ESTIMATE_MIN_PROBES     2u
#define TZ_ESTIMATE_MAX_PROBES     4u
#define TZ_ESTIMATE_MIN_MATCH      4u
#define TZ_ESTIMATE_MAX_MATCH      258u
#define TZ_ESTIMATE_MIN_RUN        16u /* the shortest run that counts */
#define TZ_ESTIMATE_HASH_BITS      11u
#define TZ_ESTIMATE_FRACTION_BITS  8u /* prices are bits << this */
#define TZ_ESTIMATE_SLACK          8u /* bytes after the sample that may be loaded */

/* The bits that a sample of some bytes takes with either encoder. */
typedef struct tz_deflate_estimate {
    tz_u64 bytes;
    tz_u64 by_runs;
    tz_u64 by_matches;
} tz_deflate_estimate;

typedef struct tz_estimate_scratch {
    tz_u8 sample[TZ_ESTIMATE_PROBE * TZ_ESTIMATE_MAX_PROBES + TZ_ESTIMATE_SLACK];
    tz_u16 slots[1u << TZ_ESTIMATE_HASH_BITS]; /* last offset of four bytes, by their hash */
    tz_u16 literals[256];                      /* counts by value */
} tz_estimate_scratch;

#if defined(__OPENCL_VERSION__)
TZ_FN tz_u64 tz_estimate_load(const TZ_LOCAL tz_u8 *p, tz_u32 bytes)
{
    tz_u64 word = 0u;
    for (tz_u32 i = 0u; i < bytes; i++)
        word |= (tz_u64)p[i] << 8u * i;
    return word;
}
#define TZ_ESTIMATE_LOAD_FOUR(p)  ((tz_u32)tz_estimate_load(p, 4u))
#define TZ_ESTIMATE_LOAD_EIGHT(p) tz_estimate_load(p, 8u)
#else
#define TZ_ESTIMATE_LOAD_FOUR(p)  tz_little_u32(tz_load_u32(p))
#define TZ_ESTIMATE_LOAD_EIGHT(p) tz_little_u64(tz_load_u64(p))
#endif

/* Bytes of the sample: the whole tile if it is small. */
TZ_FN tz_u32 tz_estimate_sample_size(tz_u64 size, tz_u32 probes)
{
    return size < probes * TZ_ESTIMATE_PROBE ? (tz_u32)size : probes * TZ_ESTIMATE_PROBE;
}

/* Copies the share of a work-item of all probes, and clears the hash table. Each probe is the
 * middle of an interval; intervals are equal parts of the tile. */
TZ_FN void tz_estimate_load_sample(const TZ_GLOBAL tz_u8 *in, tz_u64 size, tz_u32 probes,
                                   TZ_LOCAL tz_estimate_scratch *scratch, tz_u32 work_item,
                                   tz_u32 work_items)
{
    const tz_u64 interval = size / probes;
    const tz_u32 sample_size = tz_estimate_sample_size(size, probes);
    for (tz_u32 at = 0u; at < sample_size; at += TZ_ESTIMATE_PROBE) {
        const tz_u32 some = tz_kernel_min(sample_size - at, TZ_ESTIMATE_PROBE);
        const tz_u64 from = sample_size == size ? at
                                                : interval * (at / TZ_ESTIMATE_PROBE) +
                                                      (interval - TZ_ESTIMATE_PROBE) / 2u;
        for (tz_u32 i = work_item; i < some; i += work_items)
            scratch->sample[at + i] = in[from + i];
    }
    for (tz_u32 i = work_item; i < TZ_ESTIMATE_SLACK; i += work_items)
        scratch->sample[sample_size + i] = 0u;
    for (tz_u32 i = work_item; i < 1u << TZ_ESTIMATE_HASH_BITS; i += work_items)
        scratch->slots[i] = 0u;
}

/* log2(value) as a price; value is not 0. A parabola is close enough between powers of two. */
TZ_FN tz_u32 tz_estimate_log2(tz_u32 value)
{
    const tz_u32 whole = tz_kernel_log2(value);
    const tz_u32 fraction = (tz_u32)(((tz_u64)value << 16 >> whole) - (1u << 16)); /* of 1 << 16 */
    const tz_u64 bend = (tz_u64)fraction * ((1u << 16) - fraction) >> 16;
    return (whole << TZ_ESTIMATE_FRACTION_BITS) +
           (tz_u32)((fraction + bend * 22713u / 65536u) >> (16u - TZ_ESTIMATE_FRACTION_BITS));
}

/* The price of all literals: their entropy, but at least one bit each, as in any code. */
TZ_FN tz_u64 tz_estimate_literal_bits(const TZ_LOCAL tz_u16 *counts)
{
    tz_u32 total = 0u;
    tz_u64 sum = 0u;
    for (tz_u32 i = 0u; i < 256u; i++) {
        total += counts[i];
        if (counts[i] > 0u)
            sum += (tz_u64)counts[i] * tz_estimate_log2(counts[i]);
    }
    const tz_u64 min_bits = (tz_u64)total << TZ_ESTIMATE_FRACTION_BITS;
    const tz_u64 bits = total > 0u ? (tz_u64)total * tz_estimate_log2(total) - sum : 0u;
    return bits > min_bits ? bits : min_bits;
}

/* The price of a match: 8 bits for both codes, and the extra bits of distance and length. */
TZ_FN tz_u64 tz_estimate_match_price(tz_u32 length, tz_u32 distance)
{
    const tz_u32 codes = 8u << TZ_ESTIMATE_FRACTION_BITS;
    return codes + tz_estimate_log2(distance) + tz_estimate_log2(length) / 4u;
}

TZ_FN tz_u32 tz_estimate_match_length(const TZ_LOCAL tz_u8 *sample, tz_u32 at, tz_u32 before,
                                      tz_u32 end)
{
    const tz_u32 max_length = tz_kernel_min(end - at, TZ_ESTIMATE_MAX_MATCH);
    tz_u32 length = 0u;
    while (length < max_length) {
        const tz_u64 differ = TZ_ESTIMATE_LOAD_EIGHT(sample + at + length) ^
                              TZ_ESTIMATE_LOAD_EIGHT(sample + before + length);
        if (differ != 0u) {
            length += tz_trailing_zeros_u64(differ) / 8u;
            break;
        }
        length += 8u;
    }
    return tz_kernel_min(length, max_length);
}

/* Divides a sample into literals and runs, of whole segments as in deflate_encode.h. Counts the
 * literals, and returns the price of the runs. */
TZ_FN tz_u64 tz_estimate_by_runs(TZ_LOCAL tz_estimate_scratch *scratch, tz_u32 size)
{
    tz_u64 match_bits = 0u;
    for (tz_u32 at = 0u; at < size;) {
        tz_u32 run = at > 0u ? tz_estimate_match_length(scratch->sample, at, at - 1u, size) : 0u;
        run -= run % TZ_ESTIMATE_MIN_RUN;
        if (run > 0u) {
            match_bits += tz_estimate_match_price(run, 1u);
            at += run;
            continue;
        }
        const tz_u32 some = tz_kernel_min(size - at, TZ_ESTIMATE_MIN_RUN);
        for (tz_u32 i = 0u; i < some; i++)
            scratch->literals[scratch->sample[at + i]]++;
        at += some;
    }
    return match_bits;
}

/* The same with matches anywhere in the sample, if they are cheaper than literals of the price that
 * runs alone came to. */
TZ_FN tz_u64 tz_estimate_by_matches(TZ_LOCAL tz_estimate_scratch *scratch, tz_u32 size,
                                    tz_u64 literal_price)
{
    const TZ_LOCAL tz_u8 *sample = scratch->sample;
    tz_u64 match_bits = 0u;
    scratch->literals[sample[0]]++;
    for (tz_u32 at = 1u; at < size;) {
        const tz_u32 four = TZ_ESTIMATE_LOAD_FOUR(sample + at);
        const tz_u32 slot = four * 0x9E3779B1u >> (32u - TZ_ESTIMATE_HASH_BITS);
        const tz_u32 before = scratch->slots[slot];
        scratch->slots[slot] = (tz_u16)at;
        if (TZ_ESTIMATE_LOAD_FOUR(sample + before) == four) {
            const tz_u32 length = tz_estimate_match_length(sample, at, before, size);
            const tz_u64 price = tz_estimate_match_price(length, at - before);
            if (length >= TZ_ESTIMATE_MIN_MATCH && price < length * literal_price) {
                match_bits += price;
                at += length;
                continue;
            }
        }
        scratch->literals[sample[at++]]++;
    }
    return match_bits;
}

TZ_FN void tz_estimate_clear_literals(TZ_LOCAL tz_estimate_scratch *scratch)
{
    for (tz_u32 i = 0u; i < 256u; i++)
        scratch->literals[i] = 0u;
}

/* The estimate of a sample of size bytes. */
TZ_FN tz_deflate_estimate tz_estimate_sample(TZ_LOCAL tz_estimate_scratch *scratch, tz_u32 size)
{
    tz_deflate_estimate found;
    tz_estimate_clear_literals(scratch);
    tz_u64 runs = tz_estimate_by_runs(scratch, size);
    runs += tz_estimate_literal_bits(scratch->literals);
    tz_estimate_clear_literals(scratch);
    tz_u64 matches = tz_estimate_by_matches(scratch, size, runs / size);
    matches += tz_estimate_literal_bits(scratch->literals);
    found.bytes = size;
    found.by_runs = runs >> TZ_ESTIMATE_FRACTION_BITS;
    found.by_matches = matches >> TZ_ESTIMATE_FRACTION_BITS;
    return found;
}

/* The number of probes of the first sample. */
TZ_FN tz_u32 tz_estimate_first_probes(tz_u64 size)
{
    const tz_u64 probes = size / TZ_ESTIMATE_PROBE_INTERVAL;
    if (probes < TZ_ESTIMATE_MIN_PROBES)
        return TZ_ESTIMATE_MIN_PROBES;
    return probes < TZ_ESTIMATE_MAX_PROBES ? (tz_u32)probes : TZ_ESTIMATE_MAX_PROBES;
}

/* True if these probes were too few: bytes that compress to less than 3 bits are seldom alike all
 * over a tile. */
TZ_FN tz_u32 tz_estimate_wants_more(tz_deflate_estimate found, tz_u32 probes)
{
    return probes < TZ_ESTIMATE_MAX_PROBES && found.by_runs < found.bytes * 3u;
}

/* The estimate of size bytes, not 0, by one work-item. */
TZ_FN tz_deflate_estimate tz_estimate_tile(const TZ_GLOBAL tz_u8 *in, tz_u64 size,
                                           TZ_LOCAL tz_estimate_scratch *scratch)
{
    tz_u32 probes = tz_estimate_first_probes(size);
    tz_deflate_estimate found;
    tz_u32 again;
    do {
        tz_estimate_load_sample(in, size, probes, scratch, 0u, 1u);
        found = tz_estimate_sample(scratch, tz_estimate_sample_size(size, probes));
        again = tz_estimate_wants_more(found, probes);
        probes = TZ_ESTIMATE_MAX_PROBES;
    } while (again);
    return found;
}

/* True if the encoder that finds only runs makes a tile larger by more than a twelfth. */
TZ_FN tz_u32 tz_estimate_prefers_matches(tz_deflate_estimate bits)
{
    return bits.by_runs * 12u > bits.by_matches * 13u;
}

/* The same by a work-group; all work-items get the result. answer: 2 words. Both rounds are always
 * executed: compilers copy the code after a barrier that depends on a condition. */
TZ_FN tz_u32 tz_estimate_prefers_matches_work_group(const TZ_GLOBAL tz_u8 *in, tz_u64 size,
                                                    TZ_LOCAL tz_estimate_scratch *scratch,
                                                    TZ_LOCAL tz_u32 *answer)
{
    tz_u32 probes = tz_estimate_first_probes(size);
    tz_u32 wanted = size > 0u;
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (work_item == 0u) /* compilers load it before they test `wanted` */
            answer[0] = answer[1] = 0u;
    }
    for (tz_u32 round = 0u; round < 2u; round++) {
        for (TZ_EACH_WORK_ITEM(work_item)) {
            if (wanted)
                tz_estimate_load_sample(in, size, probes, scratch, work_item, TZ_WORK_GROUP_SIZE);
        }
        TZ_SYNC;
        for (TZ_EACH_WORK_ITEM(work_item)) {
            if (work_item == 0u && wanted) {
                const tz_deflate_estimate found =
                    tz_estimate_sample(scratch, tz_estimate_sample_size(size, probes));
                answer[0] = tz_estimate_prefers_matches(found);
                answer[1] = tz_estimate_wants_more(found, probes);
            }
        }
        TZ_SYNC;
        wanted = wanted && answer[1];
        probes = TZ_ESTIMATE_MAX_PROBES;
    }
    return size > 0u && answer[0];
}

#endif
