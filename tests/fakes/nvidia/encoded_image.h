/* SPDX-License-Identifier: Apache-2.0
 * Shared by the encoders of the fakes of nvJPEG2000 and nvJPEG: a state holds one image. */
#ifndef TESTS_FAKES_NVIDIA_ENCODED_IMAGE_H
#define TESTS_FAKES_NVIDIA_ENCODED_IMAGE_H

#include "fakes/nvidia/codec_objects.h"
#include "fakes/nvidia/codestream.h"

typedef struct encoded {
    atomic_bool busy;
    uint8_t *data; /* of the last image; NULL: none */
    size_t size;
} encoded;

typedef struct encode_job {
    encoded *to;
    const tz_encoder *encoder;
    tz_tile_format format;
    picture_planes planes;
    tz_encode_options choice;
} encode_job;

/* Begin to encode, when the stream comes to it. */
int32_t encoded_start(const char *name, const encode_job *wanted, tz_cu_stream stream);
/* Wait for the stream; then the size or, where out is not NULL, the bytes. */
int32_t encoded_retrieve(const char *name, const encoded *from, unsigned char *out, size_t *size,
                         tz_cu_stream stream);
/* Frees a state; false when it is busy. */
bool encoded_free(encoded *which);

#endif
