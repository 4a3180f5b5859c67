/* SPDX-License-Identifier: Apache-2.0
 * Compiled by check_nvidia.py with the headers of a release of nvCOMP: the functions that
 * device/nvcomp_calls.h lists have the types that the vendor declares. */
#include <nvcomp.h>
#include <nvcomp/deflate.h>
#include <nvcomp/lz4.h>
#include <nvcomp/zstd.h>

#include "device/nvcomp_calls.h"

typedef nvcompStatus_t tz_nvcomp_status;
typedef nvcompAlignmentRequirements_t tz_nvcomp_alignments;
typedef cudaStream_t tz_cu_stream;

#if NVCOMP_MAJOR == 4
#define TYPES(CODEC, codec) typedef nvcompBatched##codec##Opts_t tz_nvcomp_##codec##Options;
#define CALLS(CODEC, codec) TZ_NVCOMP_CALLS_4(CHECK, CODEC, codec)
#else
#define TYPES(CODEC, codec)                                                                        \
    typedef nvcompBatched##codec##CompressOpts_t tz_nvcomp_##codec##Compress;                      \
    typedef nvcompBatched##codec##DecompressOpts_t tz_nvcomp_##codec##Decompress;
#if NVCOMP_MAJOR == 5
#define CALLS(CODEC, codec)                                                                        \
    TZ_NVCOMP_CALLS_5_6(CHECK, CODEC, codec) TZ_NVCOMP_CALLS_5(CHECK, CODEC, codec)
#else
#define CALLS(CODEC, codec)                                                                        \
    TZ_NVCOMP_CALLS_5_6(CHECK, CODEC, codec) TZ_NVCOMP_CALLS_6(CHECK, CODEC, codec)
#endif
#endif

#define CHECK(CODEC, codec, name, arguments)                                                       \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&nvcompBatched##codec##name),           \
                                                tz_nvcomp_status(*) arguments),                    \
                   "nvcompBatched" #codec #name " has another type");
TZ_NVCOMP_CODECS(TYPES)
TZ_NVCOMP_CODECS(CALLS)
_Static_assert(__builtin_types_compatible_p(__typeof__(&nvcompGetProperties),
                                            tz_nvcomp_status (*)(nvcompProperties_t *)),
               "nvcompGetProperties has another type");
