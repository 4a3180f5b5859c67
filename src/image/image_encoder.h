/* SPDX-License-Identifier: Apache-2.0
 * Encoders of pictures. Each is one file with a `const tz_image_encoder`, and a row of the table in
 * image_encode.c. An encoder gets the rows of a picture one by one, 8 bits a channel, and writes
 * its file to a sink in order. */
#ifndef TZ_IMAGE_IMAGE_ENCODER_H
#define TZ_IMAGE_IMAGE_ENCODER_H

#include "base/error.h"

/* The file that is written: bytes go to the sink one after the other. */
typedef struct tz_image_output {
    tz_sink *sink;
    uint64_t offset; /* of the next byte */
} tz_image_output;

tz_result tz_image_put(tz_image_output *to, const tz_bytes *pieces, size_t count,
                       const tz_context *ctx);

/* One picture. channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. */
typedef struct tz_image_task {
    uint32_t width;
    uint32_t height;
    uint32_t channels;
    const tz_image_options *options; /* checked; quality is set */
    tz_image_output *to;
} tz_image_task;

typedef struct tz_image_encoder {
    const char *name;     /* "PNG" */
    uint16_t compression; /* TIFF's number of the codec whose library it needs; 0: none */
    uint32_t max_side;    /* columns, and rows */
    bool has_alpha;
    bool has_quality;
    bool has_lossless;
    int32_t min_effort; /* of the option; 0 is the default */
    int32_t max_effort;
    /* Returns the most bytes that the encoder allocates for such a picture. This and all functions
     * below are NULL if the build lacks the library. */
    uint64_t (*memory)(const tz_image_task *task);
    tz_result (*open)(void **state, const tz_image_task *task, const tz_context *ctx);
    /* Encodes the next row, of width times channels bytes. */
    tz_result (*put_row)(void *state, const uint8_t *row, const tz_context *ctx);
    /* Ends the file, after the last row. */
    tz_result (*finish)(void *state, const tz_context *ctx);
    void (*close)(void *state);
} tz_image_encoder;

extern const tz_image_encoder tz_image_encoder_png, tz_image_encoder_jpeg, tz_image_encoder_webp;

#endif
