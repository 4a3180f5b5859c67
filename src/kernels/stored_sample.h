/* SPDX-License-Identifier: Apache-2.0
 * One sample of a decoded row, in any of the forms in which rows store samples, as the bits of its
 * type. unpack.h and predictor.h do the same for whole rows. */
#ifndef TZ_KERNELS_STORED_SAMPLE_H
#define TZ_KERNELS_STORED_SAMPLE_H

#include "kernels/unpack.h"
#include "kernels/wide.h"

#define TZ_SAMPLE_WORDS  0u /* of 1, 2, 4 or 8 bytes; two of them for complex samples */
#define TZ_SAMPLE_PACKED 1u /* packed, highest bit first */
#define TZ_SAMPLE_PLANES 2u /* of bytes, highest first, as predictor 3 leaves them */
#define TZ_SAMPLE_F24    3u /* floats of 24 bits */

typedef struct tz_sample_form {
    tz_u32 form;
    tz_u32 bits;      /* of a stored sample with all its components */
    tz_u32 swap;      /* words and F24: highest byte first */
    tz_u32 is_sign;   /* packed: the highest bit is a sign */
    tz_u32 component; /* TZ_COMPONENT_* of the result */
    tz_u32 components;
    tz_u64 count; /* planes: samples of a row */
} tz_sample_form;

/* Joins the bytes of a sample, which lie in planes of count bytes, the highest byte first. */
TZ_FN tz_u64 tz_join_sample(const TZ_GLOBAL tz_u8 *row, tz_u64 index, tz_u64 count, tz_u32 bytes)
{
    tz_u64 raw = 0;
    for (tz_u32 plane = 0; plane < bytes; plane++)
        raw = raw << 8 | row[plane * count + index];
    return raw;
}

/* Loads a float of 24 bits, whose bytes are in the byte order of the file. */
TZ_FN tz_u32 tz_load_f24(const TZ_GLOBAL tz_u8 *p, tz_u32 highest_first)
{
    return highest_first ? (tz_u32)p[0] << 16 | (tz_u32)p[1] << 8 | p[2]
                         : (tz_u32)p[2] << 16 | (tz_u32)p[1] << 8 | p[0];
}

/* The bits of component 0 or 1 of a sample. */
TZ_FN tz_u64 tz_sample_raw(const tz_sample_form *form, const TZ_GLOBAL tz_u8 *row, tz_u64 index,
                           tz_u32 second)
{
    if (form->form == TZ_SAMPLE_WORDS) {
        const tz_u32 bytes = tz_component_bytes(form->component);
        const tz_u64 raw = tz_load_raw(row + (index * form->components + second) * bytes, bytes);
        return form->swap ? tz_swap_raw(raw, bytes) : raw;
    }
    if (form->form == TZ_SAMPLE_PACKED) {
        const tz_u32 sample = tz_unpack_sample(row, index, form->bits);
        return form->is_sign ? (tz_u64)(tz_i64)tz_sign_extend(sample, form->bits) : sample;
    }
    if (form->form == TZ_SAMPLE_F24)
        return tz_f24_to_f32_bits(tz_load_f24(row + index * 3u, form->swap));
    const tz_u64 raw = tz_join_sample(row, index, form->count, form->bits / 8u);
    return form->bits == 24u ? tz_f24_to_f32_bits((tz_u32)raw) : raw;
}

#endif
