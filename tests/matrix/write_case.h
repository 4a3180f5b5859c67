/* SPDX-License-Identifier: Apache-2.0
 * One image to write, as write_case.c reads it and write_run.c writes it. */
#ifndef TZ_TESTS_WRITE_CASE_H
#define TZ_TESTS_WRITE_CASE_H

#include <stdlib.h>
#include <terrazzo/terrazzo.h>

enum { MOST_ITEMS = 4096, MOST_TAGS = 64, MOST_GCPS = 64, MOST_KEYS = 64, MOST_BANDS = 16 };

typedef enum giving {
    GIVE_PUSHED, /* batch rows at a time; 0: all */
    GIVE_RAGGED, /* now one row, now many */
    GIVE_PULLED, /* asked for; batch is what the source would rather give */
    GIVE_COLUMNS /* the same, also for parts of rows */
} giving;

/* The layout of rows in memory. */
typedef enum lying {
    LIE_PACKED, /* all strides 0 */
    LIE_BAND,   /* band after band, with room between rows */
    LIE_PIXEL,  /* the bands of a pixel together */
    LIE_FLIPPED /* the last row first */
} lying;

typedef enum sinking {
    SINK_PATH,
    SINK_MEMORY,
    SINK_CALLBACK,
    SINK_BLIND,    /* a callback that cannot be read back */
    SINK_INSERTING /* one that can make room at the front */
} sinking;

typedef struct write_case {
    tz_image_spec spec;
    tz_write_options options;
    tz_geo geo;
    tz_metadata_item items[MOST_ITEMS];
    tz_tag_value tags[MOST_TAGS];
    tz_gcp gcps[MOST_GCPS];
    tz_geo_key keys[MOST_KEYS];
    tz_image_spec *copied; /* the specification came from a file */
    uint8_t *pixels;       /* packed, band after band */
    uint8_t *mask;
    giving giving;
    uint32_t batch;
    lying lying;
    sinking sinking;
    void **memory; /* what spec, geo and the lists point to */
    size_t memory_count;
} write_case;

/* write_spec.c: a line each; words are what follows the first one. */
void tell_set(write_case *c, char **words, size_t count);
void tell_nodata(write_case *c, char **words, size_t count);
void tell_extra_samples(write_case *c, char **words, size_t count);
void tell_color_map(write_case *c, char **words, size_t count);
void tell_item(write_case *c, char **words, size_t count);
void tell_tag(write_case *c, char **words, size_t count);
void tell_transform(write_case *c, char **words, size_t count);
void tell_gcp(write_case *c, char **words, size_t count);
void tell_key(write_case *c, char **words, size_t count);
void tell_rpc(write_case *c, char **words, size_t count);

/* Numbers as text to a member of that type. */
typedef enum number_type {
    UINT8,
    UINT16,
    UINT32,
    INT32,
    UINT64,
    FLOAT64,
    BOOLEAN,
    ENUM
} number_type;
void store_number(void *to, number_type type, const char *text);

/* The index of a word in a list that ends with NULL. */
unsigned index_in(const char *const *names, const char *word);

/* Ends the program: its input is wrong. */
void fail(const char *what, const char *where);

/* write_run.c: write the case to path and print "ok BYTES" or "error RESULT MESSAGE". */
void run_write(write_case *c, const char *path);

/* tz_plan_write, with the same answers. */
void run_plan(const write_case *c);

static inline void *checked_malloc(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);
    if (!memory)
        abort();
    return memory;
}

#endif
