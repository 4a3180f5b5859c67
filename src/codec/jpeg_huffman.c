/* SPDX-License-Identifier: Apache-2.0
 * The best Huffman code for given symbols: a tree built from two queues, of which only the number
 * of leaves at each depth matters, then limited to 16 bits as ITU-T T.81 Annex K does it. */
#include "codec/jpeg_recode.h"

enum {
    RESERVED_SYMBOL = 256, /* takes the code of all ones, and is left out in the end */
    MAX_LEAVES = 257,
    MAX_NODES = 2 * MAX_LEAVES
};

/* Sorted by how often, then by symbol: equal counts must not depend on the sorting. */
typedef uint64_t huffman_leaf;

static huffman_leaf leaf_of(uint64_t occurrences, unsigned symbol)
{
    return occurrences << 16 |
           (RESERVED_SYMBOL - symbol); /* the reserved one is the rarest of its kind */
}

static unsigned symbol_of(huffman_leaf value)
{
    return RESERVED_SYMBOL - (unsigned)(value & 0xffff);
}

/* Few, and often in order already. */
static void sort_leaves(huffman_leaf *leaves, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        const huffman_leaf moving = leaves[i];
        unsigned to = i;
        for (; to > 0 && leaves[to - 1] > moving; to--)
            leaves[to] = leaves[to - 1];
        leaves[to] = moving;
    }
}

static unsigned collect_leaves(huffman_leaf *leaves, const uint64_t occurrences[256])
{
    unsigned count = 1;
    leaves[0] = leaf_of(0, RESERVED_SYMBOL);
    for (unsigned symbol = 0; symbol < 256; symbol++)
        if (occurrences[symbol] > 0)
            leaves[count++] = leaf_of(occurrences[symbol], symbol);
    sort_leaves(leaves, count);
    return count;
}

/* Nodes are leaves in their order, then pairs in the order they were made: both are sorted, so the
 * two rarest are always at the front of one or the other. */
typedef struct huffman_tree {
    uint64_t weights[MAX_NODES];
    unsigned parents[MAX_NODES];
    unsigned leaves, nodes;
    unsigned next_leaf, next_pair;
} huffman_tree;

static unsigned pop_rarest(huffman_tree *t)
{
    const bool pair =
        t->next_leaf == t->leaves ||
        (t->next_pair < t->nodes && t->weights[t->next_pair] < t->weights[t->next_leaf]);
    return pair ? t->next_pair++ : t->next_leaf++;
}

static void build_tree(huffman_tree *t, const huffman_leaf *leaves, unsigned count)
{
    t->leaves = t->nodes = count;
    t->next_leaf = 0;
    t->next_pair = count;
    for (unsigned i = 0; i < count; i++)
        t->weights[i] = leaves[i] >> 16;
    for (unsigned made = 1; made < count; made++) {
        const unsigned first = pop_rarest(t), second = pop_rarest(t);
        t->weights[t->nodes] = t->weights[first] + t->weights[second];
        t->parents[first] = t->parents[second] = t->nodes;
        t->nodes++;
    }
}

/* How many leaves are so deep. Parents come behind their children. */
static void count_depths(const huffman_tree *t, unsigned depths[MAX_LEAVES])
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
    for (unsigned deep = MAX_LEAVES - 1; deep > TZ_JPEG_MAX_CODE_LENGTH; deep--) {
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

void tz_jpeg_huffman_build(tz_jpeg_huffman *out, const uint64_t occurrences[256])
{
    huffman_leaf leaves[MAX_LEAVES];
    unsigned depths[MAX_LEAVES] = {0};
    huffman_tree t;
    const unsigned count = collect_leaves(leaves, occurrences);
    build_tree(&t, leaves, count);
    count_depths(&t, depths);
    limit_depths(depths);
    unsigned deepest = TZ_JPEG_MAX_CODE_LENGTH;
    while (deepest > 0 && depths[deepest] == 0)
        deepest--;
    depths[deepest]--; /* the reserved symbol */
    *out = (tz_jpeg_huffman){.symbol_count = count - 1};
    for (unsigned i = 1; i <= TZ_JPEG_MAX_CODE_LENGTH; i++)
        out->counts[i] = (uint8_t)depths[i];
    for (unsigned i = 0; i < out->symbol_count; i++) /* the rarest come last */
        out->symbols[i] = (uint8_t)symbol_of(leaves[count - 1 - i]);
}
