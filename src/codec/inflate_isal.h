/* SPDX-License-Identifier: Apache-2.0
 * Inflate by ISA-L, which is faster than libdeflate where literals rule (images after a predictor).
 * It is there in bundled builds only; without it these functions do nothing. */
#ifndef TZ_CODEC_INFLATE_ISAL_H
#define TZ_CODEC_INFLATE_ISAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tz_isal tz_isal; /* tables of one thread */

#ifdef TZ_HAVE_ISAL

enum { TZ_ISAL_BYTES = 96 << 10 }; /* of a tz_isal, at most */

/* NULL when there is no memory. */
tz_isal *tz_isal_open(void);
void tz_isal_close(tz_isal *isal); /* NULL is fine */

/* Raw deflate data that makes exactly size bytes, of which *used are read. false: it does not, and
 * why is for libdeflate to say. Whatever this takes libdeflate takes too, with the same bytes. */
bool tz_isal_inflate(tz_isal *isal, const uint8_t *in, size_t in_size, uint8_t *out, size_t size,
                     size_t *used);

#else

enum { TZ_ISAL_BYTES = 0 };

static inline tz_isal *tz_isal_open(void)
{
    return NULL;
}

static inline void tz_isal_close(tz_isal *isal)
{
    (void)isal;
}

static inline bool tz_isal_inflate(tz_isal *isal, const uint8_t *in, size_t in_size, uint8_t *out,
                                   size_t size, size_t *used)
{
    (void)isal, (void)in, (void)in_size, (void)out, (void)size, (void)used;
    return false;
}

#endif
#endif
