/* SPDX-License-Identifier: Apache-2.0
 * The functions of two releases, which differ only in their arguments. OPTIONS is the type of
 * their options, ALGORITHM the algorithm in them. */
#ifndef TESTS_FAKES_NVIDIA_NVCOMP_NAMES_H
#define TESTS_FAKES_NVIDIA_NVCOMP_NAMES_H

#include "fakes/nvidia/nvcomp_batch.h"

/* In the timeline. */
#define NAME(codec, name) "+nvcompBatched" #codec #name

#define DEFINE(codec, name, parameters)                                                            \
    __attribute__((visibility("default"))) tz_nvcomp_status nvcompBatched##codec##name parameters; \
    tz_nvcomp_status nvcompBatched##codec##name parameters

#define ASK_COMPRESS(CODEC, codec)                                                                 \
    DEFINE(codec, CompressGetRequiredAlignments, (OPTIONS options, tz_nvcomp_alignments * out))    \
    {                                                                                              \
        return nvcomp_fake_align(NAME(codec, CompressGetRequiredAlignments), TZ_NVCOMP_##CODEC,    \
                                 true, ALGORITHM(options), out);                                   \
    }                                                                                              \
    DEFINE(codec, CompressGetMaxOutputChunkSize, (size_t chunk, OPTIONS options, size_t * out))    \
    {                                                                                              \
        return nvcomp_fake_max_output(NAME(codec, CompressGetMaxOutputChunkSize),                  \
                                      TZ_NVCOMP_##CODEC, ALGORITHM(options), chunk, out);          \
    }

/* The jobs, of parameters that have the same names everywhere. */
#define COMPRESS_JOB(CODEC, its_statuses)                                                          \
    &(nvcomp_job)                                                                                  \
    {                                                                                              \
        .codec = TZ_NVCOMP_##CODEC, .compress = true, .algorithm = ALGORITHM(options),             \
        .count = count, .max_chunk = chunk, .in = in, .in_sizes = in_sizes, .out = out,            \
        .out_sizes = out_sizes, .statuses = its_statuses, .temp = temp, .temp_bytes = temp_bytes   \
    }
#define DECOMPRESS_JOB(CODEC)                                                                      \
    &(nvcomp_job)                                                                                  \
    {                                                                                              \
        .codec = TZ_NVCOMP_##CODEC, .count = count, .in = in, .in_sizes = in_sizes, .out = out,    \
        .room = room, .out_sizes = out_sizes, .statuses = statuses, .temp = temp,                  \
        .temp_bytes = temp_bytes                                                                   \
    }

#endif
