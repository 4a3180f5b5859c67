/* SPDX-License-Identifier: Apache-2.0
 * Makes the values of georeferencing tags: each array in a heap block of exactly its size, so that
 * the address sanitizer sees a read of one value too many. */
#ifndef TESTS_SUPPORT_GEO_TAGS_H
#define TESTS_SUPPORT_GEO_TAGS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tiff/geo/geo.h"
#include "tiff/tags.h"

typedef struct geo_maker {
    uint16_t entries[256];
    size_t entry_values;
    double doubles[256];
    size_t double_count;
    char ascii[8192];
    size_t ascii_size;
    uint16_t minor;
    tz_geo_tags tags;
    void *blocks[8];
    size_t block_count;
} geo_maker;

static inline void geo_entry(geo_maker *m, unsigned id, unsigned location, size_t count,
                             size_t value)
{
    const uint16_t entry[4] = {(uint16_t)id, (uint16_t)location, (uint16_t)count, (uint16_t)value};
    memcpy(m->entries + m->entry_values, entry, sizeof entry);
    m->entry_values += 4;
}

static inline void geo_short(geo_maker *m, unsigned id, unsigned value)
{
    geo_entry(m, id, 0, 1, value);
}

static inline void geo_double(geo_maker *m, unsigned id, double value)
{
    geo_entry(m, id, TZ_TAG_GEO_DOUBLES, 1, m->double_count);
    m->doubles[m->double_count++] = value;
}

/* Text as it is in the tag: with its bar. */
static inline void geo_text(geo_maker *m, unsigned id, const char *text)
{
    geo_entry(m, id, TZ_TAG_GEO_ASCII, strlen(text), m->ascii_size);
    memcpy(m->ascii + m->ascii_size, text, strlen(text));
    m->ascii_size += strlen(text);
}

static inline void *geo_block(geo_maker *m, const void *data, size_t size)
{
    void *block = malloc(size > 0 ? size : 1);
    if (size > 0)
        memcpy(block, data, size);
    m->blocks[m->block_count++] = block;
    return block;
}

static inline void geo_directory(geo_maker *m, const uint16_t *values, size_t count)
{
    m->tags.directory = geo_block(m, values, count * sizeof *values);
    m->tags.directory_count = count;
}

/* The key directory of all that was added. */
static inline void geo_finish(geo_maker *m)
{
    uint16_t values[4 + 256] = {1, 1, m->minor, (uint16_t)(m->entry_values / 4)};
    memcpy(values + 4, m->entries, m->entry_values * sizeof *values);
    geo_directory(m, values, 4 + m->entry_values);
    if (m->double_count > 0) {
        m->tags.doubles = geo_block(m, m->doubles, m->double_count * sizeof(double));
        m->tags.double_count = m->double_count;
    }
    if (m->ascii_size > 0) {
        m->tags.ascii = geo_block(m, m->ascii, m->ascii_size);
        m->tags.ascii_size = m->ascii_size;
    }
}

static inline void geo_array(geo_maker *m, const double **array, uint64_t *array_count,
                             const double *values, size_t count)
{
    *array = geo_block(m, values, count * sizeof *values);
    *array_count = count;
}

#define GEO_SCALE(m, ...)                                                                          \
    geo_array(m, &(m)->tags.scale, &(m)->tags.scale_count, (const double[]){__VA_ARGS__},          \
              sizeof((const double[]){__VA_ARGS__}) / sizeof(double))
#define GEO_TIEPOINTS(m, ...)                                                                      \
    geo_array(m, &(m)->tags.tiepoints, &(m)->tags.tiepoint_count, (const double[]){__VA_ARGS__},   \
              sizeof((const double[]){__VA_ARGS__}) / sizeof(double))
#define GEO_MATRIX(m, ...)                                                                         \
    geo_array(m, &(m)->tags.matrix, &(m)->tags.matrix_count, (const double[]){__VA_ARGS__},        \
              sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static inline void geo_free(geo_maker *m)
{
    for (size_t i = 0; i < m->block_count; i++)
        free(m->blocks[i]);
    *m = (geo_maker){0};
}

#endif
