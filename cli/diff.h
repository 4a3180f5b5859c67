/* SPDX-License-Identifier: Apache-2.0
 * terrazzo diff: two files compared in pixels (diff_pixels.c), tags (diff_tags.c) and layout
 * (diff_layout.c), shown as a page or as JSON (diff_report.c). */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "common.h"
#include "memory.h"

extern const cli_command diff_command;

/* The parts that are compared. */
enum { DIFF_PIXELS = 1, DIFF_TAGS = 2, DIFF_LAYOUT = 4 };

typedef struct diff_settings {
    common_settings common;
    unsigned parts; /* DIFF_ bits */
    bool all_levels;
    double tolerance;
    uint32_t threads;
    uint64_t memory;
} diff_settings;

typedef struct diff_side {
    const char *path;
    tz_file *file;
    const tz_info *info;
} diff_side;

/* A property in words, different in the two files. */
#define DIFF_TEXT 48
#define DIFF_NONE UINT32_MAX
typedef struct diff_fact {
    unsigned part;  /* DIFF_PIXELS or DIFF_LAYOUT */
    uint32_t level; /* DIFF_NONE: of the file */
    const char *what;
    char texts[2][DIFF_TEXT];
    const char *note; /* the reason; NULL: not known */
} diff_fact;

/* The number of samples that differ, and by how much. */
typedef struct diff_count {
    uint64_t different;
    double largest;       /* difference; infinite if only one of two is a number */
    uint32_t column, row; /* of the first one */
} diff_count;

/* The pixels of one level. */
typedef struct diff_level {
    uint32_t level;
    uint32_t band_count;
    diff_count *bands;
    bool has_mask; /* validity was compared, too */
    diff_count mask;
} diff_level;

/* A tag that is not the same. */
typedef struct diff_tag {
    uint32_t level;
    bool mask; /* of the directory of that level's mask */
    uint16_t number;
    bool present[2];
    tz_tag tags[2];
} diff_tag;

typedef struct diff {
    const diff_settings *settings;
    diff_side sides[2];
    memory_share memory;
    unsigned different; /* DIFF_ bits */
    diff_fact *facts;
    size_t fact_count;
    diff_tag *tags;
    size_t tag_count;
    diff_level *levels;
    size_t level_count;
    const char *not_compared; /* why pixels were not compared; NULL: they were */
} diff;

/* Adds an element to the end of an array of malloc; NULL when memory runs out. */
void *diff_grow(void **array, size_t *count, size_t size);
/* Notes a fact if its two texts differ. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void diff_text(diff_fact *fact, int side, const char *format, ...);
tz_result diff_add_fact(diff *d, const diff_fact *fact, tz_error *err);

tz_result diff_compare_pixels(diff *d, tz_error *err);
/* Compares the number of overviews and their sizes: with the pixels when those of all levels are
 * compared, otherwise with the layout. Does nothing for the other part. */
tz_result diff_compare_overviews(diff *d, unsigned part, tz_error *err);
tz_result diff_compare_tags(diff *d, tz_error *err);
tz_result diff_compare_layout(diff *d, tz_error *err);

void diff_print(const diff *d);
void diff_write(const diff *d);
void diff_write_error(const char *a, const char *b, const tz_error *err);

#endif
