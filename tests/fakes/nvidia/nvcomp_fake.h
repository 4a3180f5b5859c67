/* SPDX-License-Identifier: Apache-2.0
 * Stand-ins for nvCOMP, one for each release whose functions differ, which answer questions of
 * sizes, alignments and mistakes as the real ones do (check_nvidia.py compares them), and work on
 * the memory and in the streams of the fake of libcuda, when those come to it. They are stricter
 * where the real ones trust their caller:
 *
 *   - all memory that is named must be within one live allocation: the arrays, the chunks, the
 *     temporary memory, in full; of Deflate 16 bytes more than a chunk has, since readers of bits
 *     fetch ahead; of what is compressed, all the room that it may need
 *   - temporary memory that is less than was asked for is InvalidValue, and it is filled with
 *     garbage
 *   - chunks that are not aligned, or empty, have that as their status; the room of chunks that
 *     fail holds garbage
 *
 * Functions fail by their names as those of CUDA do: cuda_fake_control.fail_function, with a
 * status of nvCOMP as the code. */
#ifndef TESTS_FAKES_NVIDIA_NVCOMP_FAKE_H
#define TESTS_FAKES_NVIDIA_NVCOMP_FAKE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct nvcomp_fake_control {
    uint64_t fail_chunk; /* counted over all batches, from 1, while it is not 0 */
    int32_t fail_status; /* its status; 0: none, it just has other bytes than it should */
    bool needs_size;     /* frames of Zstandard that do not say how much they make fail */
    /* what happened */
    uint64_t batches;
    uint64_t chunks;
} nvcomp_fake_control;

/* Exported by each as "nvcomp_fake". */
typedef nvcomp_fake_control *(*nvcomp_fake_function)(void);

#endif
