/* SPDX-License-Identifier: Apache-2.0
 * Huffman codes of limited length. Lengths come from the usual tree, built with two queues of
 * sorted nodes; codes that are too long are shortened, and others are made longer until the code is
 * complete again. That is not optimal, as package-merge is, but near it, and short. */
#include "huffman.h"

#include <stdlib.h>
#include <string.h>

typedef struct leaf {
    uint32_t count;
    uint16_t symbol;
} leaf;

static int by_count(const void *a, const void *b)
{
    const leaf *x = a;
    const leaf *y = b;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->symbol < y->symbol ? -1 : 1;
}

/* Collects the symbols that occur, rarest first. */
static size_t collect_leaves(leaf *leaves, const uint32_t *counts, size_t symbols)
{
    size_t used = 0;
    for (size_t i = 0; i < symbols; i++) {
        if (counts[i] > 0)
            leaves[used++] = (leaf){counts[i], (uint16_t)i};
    }
    for (uint16_t i = 0; used < 2; i++) {
        if (counts[i] == 0)
            leaves[used++] = (leaf){0, i};
    }
    qsort(leaves, used, sizeof *leaves, by_count);
    return used;
}

/* Counts the codes of each length in the tree of the leaves. Leaves and inner nodes are both made
 * in order of weight, so that the two lightest are always at the front of one of two queues. */
static void count_lengths(const leaf *leaves, size_t used, uint32_t *of_length)
{
    uint64_t weight[2 * HUFFMAN_SYMBOLS];
    uint16_t parent[2 * HUFFMAN_SYMBOLS];
    uint16_t depth[2 * HUFFMAN_SYMBOLS];
    size_t nodes = used;
    size_t next_leaf = 0;
    size_t next_inner = used;
    for (size_t i = 0; i < used; i++)
        weight[i] = leaves[i].count;
    for (; nodes < 2 * used - 1; nodes++) {
        weight[nodes] = 0;
        for (int child = 0; child < 2; child++) {
            size_t taken =
                next_leaf < used && (next_inner >= nodes || weight[next_leaf] <= weight[next_inner])
                    ? next_leaf++
                    : next_inner++;
            weight[nodes] += weight[taken];
            parent[taken] = (uint16_t)nodes;
        }
    }
    depth[nodes - 1] = 0;
    for (size_t i = nodes - 1; i-- > 0;) {
        depth[i] = (uint16_t)(depth[parent[i]] + 1);
        if (i < used)
            of_length[depth[i] < HUFFMAN_BITS ? depth[i] : HUFFMAN_BITS]++;
    }
}

/* Restores a complete code. Codes that were shortened to the largest length use too much of the
 * code space; others are made longer, each time the longest one that can be (Kraft's inequality).
 */
static void limit_lengths(uint32_t *of_length)
{
    uint32_t taken = 0;
    for (unsigned i = 1; i <= HUFFMAN_BITS; i++)
        taken += of_length[i] << (HUFFMAN_BITS - i);
    for (; taken > 1u << HUFFMAN_BITS; taken--) {
        unsigned length = HUFFMAN_BITS - 1;
        while (of_length[length] == 0)
            length--;
        of_length[length]--;
        of_length[length + 1] += 2;
        of_length[HUFFMAN_BITS]--;
    }
}

static uint16_t reverse_bits(uint32_t bits, unsigned length)
{
    uint32_t result = 0;
    for (unsigned i = 0; i < length; i++)
        result |= (bits >> i & 1) << (length - 1 - i);
    return (uint16_t)result;
}

/* Codes of one length follow each other in the order of the symbols. */
static void assign_bits(huffman_code *code, const uint32_t *of_length)
{
    uint32_t next[HUFFMAN_BITS + 1] = {0};
    for (unsigned i = 1; i < HUFFMAN_BITS; i++)
        next[i + 1] = (next[i] + of_length[i]) << 1;
    for (size_t i = 0; i < HUFFMAN_SYMBOLS; i++) {
        unsigned length = code->length[i];
        if (length > 0)
            code->bits[i] = reverse_bits(next[length]++, length);
    }
}

void huffman_make(huffman_code *code, const uint32_t *counts, size_t symbols)
{
    leaf leaves[HUFFMAN_SYMBOLS];
    uint32_t of_length[HUFFMAN_BITS + 1] = {0};
    size_t used = collect_leaves(leaves, counts, symbols);
    count_lengths(leaves, used, of_length);
    limit_lengths(of_length);
    memset(code, 0, sizeof *code);
    size_t at = 0;
    for (unsigned length = HUFFMAN_BITS; length > 0; length--) {
        for (uint32_t i = 0; i < of_length[length]; i++)
            code->length[leaves[at++].symbol] = (uint8_t)length;
    }
    assign_bits(code, of_length);
}
