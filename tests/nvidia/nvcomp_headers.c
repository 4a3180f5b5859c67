/* SPDX-License-Identifier: Apache-2.0
 * Compiled by check_nvidia.py with the headers of a release of nvCOMP: what
 * device/nvidia/nvcomp_api.h declares is what the vendor declares. */
#include "device/nvidia/nvcomp_api.h"

#include <nvcomp.h>
#include <nvcomp/deflate.h>
#include <nvcomp/lz4.h>
#include <nvcomp/zstd.h>

#include "nvidia/same.h"

SAME_SIZE(tz_nvcomp_status, nvcompStatus_t);
SAME_SIZE(tz_nvcomp_properties, nvcompProperties_t);
SAME_PLACE(tz_nvcomp_properties, nvcompProperties_t, version);
SAME_PLACE(tz_nvcomp_properties, nvcompProperties_t, cudart_version);
SAME_SIZE(tz_nvcomp_alignments, nvcompAlignmentRequirements_t);
SAME_PLACE(tz_nvcomp_alignments, nvcompAlignmentRequirements_t, input);
SAME_PLACE(tz_nvcomp_alignments, nvcompAlignmentRequirements_t, output);
SAME_PLACE(tz_nvcomp_alignments, nvcompAlignmentRequirements_t, temp);

#define ERROR(name, number) SAME_VALUE(number, nvcompError##name);
TZ_NVCOMP_ERRORS(ERROR)
SAME_VALUE(0, nvcompSuccess);
SAME_VALUE(0, NVCOMP_TYPE_CHAR); /* what is left at 0 here is the vendor's default */

/* Options: a word of ours is a member of theirs. */
#define WORD(theirs, member, word)                                                                 \
    _Static_assert(offsetof(theirs, member) == 4 * (word) && sizeof(((theirs *)0)->member) == 4,   \
                   #member " of " #theirs " is another word")
#if NVCOMP_MAJOR == 4
#define OPTIONS(CODEC, codec) SAME_SIZE(tz_nvcomp_options4, nvcompBatched##codec##Opts_t);
WORD(nvcompBatchedDeflateOpts_t, algo, TZ_NVCOMP_ALGORITHM_WORD);
WORD(nvcompBatchedLZ4Opts_t, data_type, 0);
#else
#define OPTIONS(CODEC, codec)                                                                      \
    SAME_SIZE(tz_nvcomp_options, nvcompBatched##codec##CompressOpts_t);                            \
    SAME_SIZE(tz_nvcomp_options, nvcompBatched##codec##DecompressOpts_t);
WORD(nvcompBatchedDeflateCompressOpts_t, algorithm, TZ_NVCOMP_ALGORITHM_WORD);
SAME_VALUE(0, NVCOMP_DECOMPRESS_BACKEND_DEFAULT);
SAME_VALUE(0, NVCOMP_BITSHUFFLE_NONE);
TZ_NVCOMP_ERRORS_5_3(ERROR)
#endif
TZ_NVCOMP_CODECS(OPTIONS)

/* From here on the lists of functions speak of the vendor's types. */
#define tz_nvcomp_status            nvcompStatus_t
#define tz_nvcomp_alignments        nvcompAlignmentRequirements_t
#define tz_nvcomp_properties        nvcompProperties_t
#define tz_nvcomp_DeflateOptions    nvcompBatchedDeflateOpts_t
#define tz_nvcomp_ZstdOptions       nvcompBatchedZstdOpts_t
#define tz_nvcomp_LZ4Options        nvcompBatchedLZ4Opts_t
#define tz_nvcomp_DeflateCompress   nvcompBatchedDeflateCompressOpts_t
#define tz_nvcomp_ZstdCompress      nvcompBatchedZstdCompressOpts_t
#define tz_nvcomp_LZ4Compress       nvcompBatchedLZ4CompressOpts_t
#define tz_nvcomp_DeflateDecompress nvcompBatchedDeflateDecompressOpts_t
#define tz_nvcomp_ZstdDecompress    nvcompBatchedZstdDecompressOpts_t
#define tz_nvcomp_LZ4Decompress     nvcompBatchedLZ4DecompressOpts_t

#define FUNCTION(CODEC, codec, name, arguments)                                                    \
    SAME_FUNCTION(nvcompBatched##codec##name, nvcompStatus_t(*) arguments);
#if NVCOMP_MAJOR == 4
#define FUNCTIONS(CODEC, codec) TZ_NVCOMP_CALLS_4(FUNCTION, CODEC, codec)
#elif NVCOMP_MAJOR == 5
#define FUNCTIONS(CODEC, codec)                                                                    \
    TZ_NVCOMP_CALLS_5_6(FUNCTION, CODEC, codec) TZ_NVCOMP_CALLS_5(FUNCTION, CODEC, codec)
#else
#define FUNCTIONS(CODEC, codec)                                                                    \
    TZ_NVCOMP_CALLS_5_6(FUNCTION, CODEC, codec) TZ_NVCOMP_CALLS_6(FUNCTION, CODEC, codec)
#endif
TZ_NVCOMP_CODECS(FUNCTIONS)
SAME_FUNCTION(nvcompGetProperties, nvcompStatus_t (*)(nvcompProperties_t *));
