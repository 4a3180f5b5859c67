/* SPDX-License-Identifier: Apache-2.0
 * Stand-ins for nvJPEG2000 and nvJPEG that work on the memory and in the streams of the fake of
 * libcuda, with the library's own codecs. What the real ones document, or trust their caller with,
 * they check:
 *
 *   - compressed bytes are read where the caller has them, when the stream comes to it
 *   - a state, and a parsed code stream, are for one image, or batch, at a time: until the host has
 *     waited for it they are not used again, parsed again or destroyed
 *   - of nvJPEG: a batch has the size that it was initialised for, and is initialised again when
 * the last one failed
 *   - of nvJPEG: chroma is repeated, unless the handle was made with the flag for interpolation
 *   - types, components, pitches and planes fit what is decoded or encoded
 *   - damage that parsing does not notice is not reported: the pixels are garbage
 *
 * Functions fail by their names, as those of CUDA do: cuda_fake_control.fail_function, with a
 * status of the library as the code. */
#ifndef TESTS_FAKES_NVIDIA_CODESTREAMS_FAKE_H
#define TESTS_FAKES_NVIDIA_CODESTREAMS_FAKE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct codestreams_fake_control {
    bool is_old;  /* of nvJPEG: 12.4, which lacks a format of 13 */
    bool repeats; /* of nvJPEG: it knows no interpolation of chroma, and takes the flag all the same
                   */
    int64_t live; /* handles, states, streams, parameters, encoders */
    uint64_t decoded, encoded;
    uint64_t damaged; /* of those decoded */
    char misuse[200]; /* what was done first of what must not be */
} codestreams_fake_control;

/* Exported by each as "codestreams_fake". */
typedef codestreams_fake_control *(*codestreams_fake_function)(void);

#endif
