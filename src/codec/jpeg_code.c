/* SPDX-License-Identifier: Apache-2.0
 * The best Huffman code for given symbols: a tree built from two queues, of which only the number
 * of leaves at each depth matters, then limited to 16 bits as ITU-T T.81 Annex K does it. */
#include "codec/jpeg_recode.h"

enum {
    RESERVED = 256, /* takes the code of all ones, and is left out in the end */
    MAX_LEAVES = 257,
    MAX_NODES = 2 * MAX_LEAVES
};

/* Sorted by how often, then by symbol: equal counts must not depend on the sorting. */
typedef uint64_t leaf;

static leaf leaf_of(uint64_t occurrences, unsigned symbol)
{
    return occurrences << 16 | (RESERVED - symbol); /* the reserved one is the rarest of its kind */
}

static unsigned symbol_of(leaf value)
{
    return RESERVED - (unsigned)(value & 0xffff);
}

/* Few, and often in order already. */
static void sort_leaves(leaf *leaves, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        const leaf moving = leaves[i];
        unsigned to = i;
        for (; to > 0 && leaves[to - 1] > moving; to--)
            leaves[to] = leaves[to - 1];
        leaves[to] = moving;
    }
}

static unsigned collect_leaves(leaf *leaves, const uint64_t occurrences[256])
{
    unsigned count = 1;
    leaves[0] = leaf_of(0, RESERVED);
    for (unsigned symbol = 0; symbol < 256; symbol++)
        if (occurrences[symbol] > 0)
            leaves[count++] = leaf_of(occurrences[symbol], symbol);
    sort_leaves(leaves, count);
    return count;
}

/* Nodes are leaves in their order, then pairs in the order they were made: both are sorted, so the
 * two rarest are always at the front of one or the other. */
typedef struct tree {
    uint64_t weights[MAX_NODES];
    unsigned parents[MAX_NODES];
    unsigned leaves, nodes;
    unsigned next_leaf, next_pair;
} tree;

static unsigned take_rarest(tree *t)
{
    const bool pair =
        t->next_leaf == t->leaves ||
        (t->next_pair < t->nodes && t->weights[t->next_pair] < t->weights[t->next_leaf]);
    return pair ? t->next_pair++ : t->next_leaf++;
}

static void build(tree *t, const leaf *leaves, unsigned count)
{
    t->leaves = t->nodes = count;
    t->next_leaf = 0;
    t->next_pair = count;
    for (unsigned i = 0; i < count; i++)
        t->weights[i] = leaves[i] >> 16;
    for (unsigned made = 1; made < count; made++) {
        const unsigned first = take_rarest(t), second = take_rarest(t);
        t->weights[t->nodes] = t->weights[first] + t->weights[second];
        t->parents[first] = t->parents[second] = t->nodes;
        t->nodes++;
    }
}

/* How many leaves are so deep. Parents come behind their children. */
static void count_depths(const tree *t, unsigned depths[MAX_LEAVES])
{
    unsigned depth[MAX_NODES];
    depth[t->nodes - 1] = 0;
    for (unsigned i = t->nodes - 1; i-- > 0;) {
        depth[i] = depth[t->parents[i]] + 1;
        if (i < t->leaves)
            depths[depth[i]]++;
    }
}

/* Two leaves that are too deep: one takes the place of their parent, and the other makes a pair
 * with the deepest leaf that is higher up. */
static void limit_depths(unsigned depths[MAX_LEAVES])
{
    for (unsigned deep = MAX_LEAVES - 1; deep > TZ_JPEG_MAX_CODE; deep--) {
        while (depths[deep] > 0) {
            unsigned higher = deep - 2;
            while (depths[higher] == 0)
                higher--;
            depths[deep] -= 2;
            depths[deep - 1]++;
            depths[higher]--;
            depths[higher + 1] += 2;
        }
    }
}

void tz_jpeg_code_make(tz_jpeg_code *out, const uint64_t occurrences[256])
{
    leaf leaves[MAX_LEAVES];
    unsigned depths[MAX_LEAVES] = {0};
    tree t;
    const unsigned count = collect_leaves(leaves, occurrences);
    build(&t, leaves, count);
    count_depths(&t, depths);
    limit_depths(depths);
    unsigned deepest = TZ_JPEG_MAX_CODE;
    while (deepest > 0 && depths[deepest] == 0)
        deepest--;
    depths[deepest]--; /* the reserved symbol */
    *out = (tz_jpeg_code){.symbol_count = count - 1};
    for (unsigned i = 1; i <= TZ_JPEG_MAX_CODE; i++)
        out->counts[i] = (uint8_t)depths[i];
    for (unsigned i = 0; i < out->symbol_count; i++) /* the rarest come last */
        out->symbols[i] = (uint8_t)symbol_of(leaves[count - 1 - i]);
}
