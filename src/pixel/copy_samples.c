/* SPDX-License-Identifier: Apache-2.0
 * Samples that are moved and not changed: whole rows, single samples by steps, and one sample for a
 * whole row. */
#include <string.h>

#include "base/minmax.h"
#include "pixel/row_ops.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

/* ---- whole rows ---- */

/* Streaming stores write a cache line at a time, so that it leaves the write-combining buffer
 * whole; the ends of a row that do not fill a line are copied. */
void tz_row_copy(uint8_t *dst, const uint8_t *src, size_t size, bool stream)
{
#if defined(__x86_64__)
    enum { LINE = 64 };
    const size_t head = (LINE - (uintptr_t)dst % LINE) % LINE;
    if (stream && size >= 2 * LINE) {
        const size_t end = head + (size - head) / LINE * LINE;
        memcpy(dst, src, head);
        for (size_t at = head; at < end; at += LINE) {
            const __m128i *from = (const __m128i *)(const void *)(src + at);
            __m128i *to = (__m128i *)(void *)(dst + at);
            const __m128i a = _mm_loadu_si128(from);
            const __m128i b = _mm_loadu_si128(from + 1);
            const __m128i c = _mm_loadu_si128(from + 2);
            const __m128i d = _mm_loadu_si128(from + 3);
            _mm_stream_si128(to, a);
            _mm_stream_si128(to + 1, b);
            _mm_stream_si128(to + 2, c);
            _mm_stream_si128(to + 3, d);
        }
        memcpy(dst + end, src + end, size - end);
        return;
    }
#endif
    (void)stream;
    memcpy(dst, src, size);
}

void tz_row_copy_end(void)
{
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

/* ---- samples ---- */

#define COPY_STEPS(bytes)                                                                          \
    static void copy_steps_##bytes(const uint8_t *src, ptrdiff_t src_step, uint8_t *dst,           \
                                   ptrdiff_t dst_step, size_t count)                               \
    {                                                                                              \
        _Pragma("GCC unroll 4") for (size_t i = 0; i < count;                                      \
                                     i++, src += src_step, dst += dst_step)                        \
            memcpy(dst, src, bytes);                                                               \
    }
COPY_STEPS(1)
COPY_STEPS(2)
COPY_STEPS(4)
COPY_STEPS(8)
COPY_STEPS(16)

/* A sample for a whole row is copied once, then all that is there already, again and again. */
void tz_scalar_copy(size_t size, const uint8_t *src, ptrdiff_t src_step, uint8_t *dst,
                    ptrdiff_t dst_step, size_t count)
{
    void (*const copy)(const uint8_t *, ptrdiff_t, uint8_t *, ptrdiff_t, size_t) =
        size == 1   ? copy_steps_1
        : size == 2 ? copy_steps_2
        : size == 4 ? copy_steps_4
        : size == 8 ? copy_steps_8
                    : copy_steps_16;
    const bool together = dst_step == (ptrdiff_t)size;
    const size_t bytes = size * count;
    if (together && src_step == (ptrdiff_t)size) {
        memcpy(dst, src, bytes);
    } else if (together && src_step == 0) {
        size_t done = tz_min_size(bytes, size);
        memcpy(dst, src, done);
        for (size_t more; done < bytes; done += more) {
            more = tz_min_size(bytes - done, done);
            memcpy(dst + done, dst, more);
        }
    } else {
        copy(src, src_step, dst, dst_step, count);
    }
}
