/* SPDX-License-Identifier: Apache-2.0
 * The name that was probably meant, for messages. */
#include <string.h>
#include <terrazzo/terrazzo.h>

#include "base/mem.h"

enum { MAX_NAME = 40 }; /* longer words and names are like no other */

/* Returns the edit distance: letters added, removed, replaced or swapped with a neighbour. Both
 * words have at most MAX_NAME letters. */
static unsigned edit_distance(const char *a, const char *b)
{
    unsigned rows[3][MAX_NAME + 1];
    size_t b_size = strlen(b);
    for (unsigned i = 0; i <= b_size; i++)
        rows[0][i] = i;
    size_t a_size = strlen(a);
    for (size_t y = 1; y <= a_size; y++) {
        unsigned *row = rows[y % 3];
        const unsigned *above = rows[(y + 2) % 3];
        const unsigned *above2 = rows[(y + 1) % 3];
        row[0] = (unsigned)y;
        for (size_t x = 1; x <= b_size; x++) {
            unsigned differs = a[y - 1] != b[x - 1];
            row[x] = tz_min_u32(tz_min_u32(row[x - 1], above[x]) + 1, above[x - 1] + differs);
            if (y > 1 && x > 1 && a[y - 1] == b[x - 2] && a[y - 2] == b[x - 1])
                row[x] = tz_min_u32(row[x], above2[x - 2] + 1);
        }
    }
    return rows[a_size % 3][b_size];
}

/* Returns the distance of a typed word; the beginning of a name is near, however short. */
static unsigned name_distance(const char *word, size_t word_size, const char *name)
{
    if (word_size >= 2 && strncmp(word, name, word_size) == 0)
        return 1;
    return strlen(name) > MAX_NAME ? MAX_NAME : edit_distance(word, name);
}

const char *tz_nearest_name(const char *word, const char *(*name)(const void *list, size_t index),
                            const void *list)
{
    size_t word_size = strnlen(word, MAX_NAME + 1);
    if (word_size == 0 || word_size > MAX_NAME)
        return NULL;
    const char *nearest = NULL;
    unsigned best = word_size < 3 ? 2 : (unsigned)word_size / 3 + 2; /* less than this is near */
    for (size_t i = 0; name(list, i); i++) {
        unsigned found = name_distance(word, word_size, name(list, i));
        if (found < best) {
            best = found;
            nearest = name(list, i);
        }
    }
    return nearest;
}
