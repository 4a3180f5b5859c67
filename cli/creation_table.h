/* SPDX-License-Identifier: Apache-2.0
 * The tables of creation options. */
#ifndef CLI_CREATION_TABLE_H
#define CLI_CREATION_TABLE_H

#include "creation.h"

/* A word that may be a value. */
typedef struct creation_word {
    const char *text; /* NULL ends a list */
    double value;
    const char *refused; /* why it is refused; NULL: it is not */
} creation_word;

/* Kinds of values. */
typedef enum creation_kind {
    CREATION_WORD,   /* words only */
    CREATION_NUMBER, /* also a whole number from min to max */
    CREATION_REAL,   /* also any number from min to max */
    CREATION_BITS,   /* whole numbers with commas between */
    CREATION_TEXT    /* any text */
} creation_kind;

/* Bits of creation_option.codecs. */
enum {
    FOR_LZW = 1,
    FOR_DEFLATE = 2,
    FOR_ZSTD = 4,
    FOR_LZMA = 8,
    FOR_LZ4 = 16,
    FOR_JPEG = 32,
    FOR_WEBP = 64,
    FOR_JXL = 128,
    FOR_LERC = 256,
    FOR_LERC_DEFLATE = 512,
    FOR_LERC_ZSTD = 1024,
    FOR_JPEG2000 = 2048,
    FOR_OVERVIEWS = 4096, /* the codec is that of the overviews */
    FOR_PREDICTED = FOR_LZW | FOR_DEFLATE | FOR_ZSTD | FOR_LZMA | FOR_LZ4,
    FOR_ANY_LERC = FOR_LERC | FOR_LERC_DEFLATE | FOR_LERC_ZSTD
};

typedef struct creation_option {
    const char *name;           /* NULL: the driver has none of this meaning */
    const creation_word *words; /* NULL: none */
    creation_kind kind;
    double min, max;
    const char *normal;  /* the default, as it would be typed; "": none */
    unsigned codecs;     /* that it is for; 0: all */
    const char *text;    /* description for help; NULL: not shown */
    const char *refused; /* why only the default is accepted; NULL: others are, too */
} creation_option;

struct creation_driver {
    const char *name;               /* GDAL's */
    const creation_option *options; /* CO_COUNT, by their meaning */
};

#endif
