/* SPDX-License-Identifier: Apache-2.0
 * Compiled by check_nvidia.py with the headers of a release of nvCOMP: types and constants of
 * device/nvcomp_api.h are laid out as the vendor's. */
#include <nvcomp.h>
#include <nvcomp/deflate.h>
#include <nvcomp/lz4.h>
#include <nvcomp/zstd.h>

#include "device/nvcomp_api.h"

#define SAME_SIZE(ours, theirs)                                                                    \
    _Static_assert(sizeof(ours) == sizeof(theirs), #theirs " has another size")
#define SAME_PLACE(ours, theirs, member)                                                           \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, member) &&                           \
                       sizeof(((ours *)0)->member) == sizeof(((theirs *)0)->member),               \
                   #member " of " #theirs " is elsewhere")
#define AT(theirs, member, word)                                                                   \
    _Static_assert(offsetof(theirs, member) == 4 * (word) && sizeof(((theirs *)0)->member) == 4,   \
                   #member " of " #theirs " is another word")

SAME_SIZE(tz_nvcomp_status, nvcompStatus_t);
SAME_SIZE(tz_nvcomp_properties, nvcompProperties_t);
SAME_PLACE(tz_nvcomp_properties, nvcompProperties_t, version);
SAME_PLACE(tz_nvcomp_properties, nvcompProperties_t, cudart_version);
SAME_SIZE(tz_nvcomp_alignments, nvcompAlignmentRequirements_t);
SAME_PLACE(tz_nvcomp_alignments, nvcompAlignmentRequirements_t, input);
SAME_PLACE(tz_nvcomp_alignments, nvcompAlignmentRequirements_t, output);
SAME_PLACE(tz_nvcomp_alignments, nvcompAlignmentRequirements_t, temp);

#define ERROR(name, number)                                                                        \
    _Static_assert(nvcompError##name == (number), "nvcompError" #name " has another value");
_Static_assert(nvcompSuccess == 0, "nvcompSuccess has another value");
TZ_NVCOMP_ERRORS(ERROR)

#if NVCOMP_MAJOR == 4
#define OPTIONS(CODEC, codec) SAME_SIZE(tz_nvcomp_##codec##Options, nvcompBatched##codec##Opts_t);
TZ_NVCOMP_CODECS(OPTIONS)
AT(nvcompBatchedDeflateOpts_t, algo, TZ_NVCOMP_ALGORITHM_WORD);
AT(nvcompBatchedLZ4Opts_t, data_type, 0);
#else
TZ_NVCOMP_ERRORS_5_3(ERROR)
#define OPTIONS(CODEC, codec)                                                                      \
    SAME_SIZE(tz_nvcomp_##codec##Compress, nvcompBatched##codec##CompressOpts_t);                  \
    SAME_SIZE(tz_nvcomp_##codec##Decompress, nvcompBatched##codec##DecompressOpts_t);
TZ_NVCOMP_CODECS(OPTIONS)
AT(nvcompBatchedDeflateCompressOpts_t, algorithm, TZ_NVCOMP_ALGORITHM_WORD);
/* what is left at 0 here is the vendor's default */
_Static_assert(NVCOMP_DECOMPRESS_BACKEND_DEFAULT == 0, "the default is another back end");
_Static_assert(NVCOMP_BITSHUFFLE_NONE == 0, "the default shuffles bits");
#endif
_Static_assert(NVCOMP_TYPE_CHAR == 0, "the default is another type of data");
