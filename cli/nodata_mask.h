/* SPDX-License-Identifier: Apache-2.0
 * A mask of the pixels that are nodata: for lossy files, in which the value would change, and
 * wherever one is asked for. */
#ifndef CLI_NODATA_MASK_H
#define CLI_NODATA_MASK_H

#include <terrazzo/terrazzo.h>

/* Returns nodata as a double, rounded beyond 2^53. */
double nodata_number(const tz_nodata *nodata);

typedef struct nodata_mask {
    bool used;
    tz_dtype dtype;
    double real;             /* nodata of a floating-point type */
    size_t size;             /* of a sample */
    unsigned char sample[8]; /* nodata of an integer type */
    uint32_t alpha;          /* the alpha band, which is not compared; UINT32_MAX: none */
} nodata_mask;

/* Returns false, and *out is not used, unless nodata is a value of the type, which is not complex.
 */
bool nodata_mask_make(nodata_mask *out, const tz_nodata *nodata, tz_dtype dtype);

/* Sets mask to 0 where all bands are nodata, and to 255 elsewhere; with within, pixels that are 0
 * before stay 0. */
void nodata_mask_apply(const nodata_mask *m, const tz_buffer *pixels, const tz_buffer *mask,
                       bool within);

#endif
