/* SPDX-License-Identifier: Apache-2.0
 * Sizes and memory. Every product or sum that involves a number from a file goes through tz_mul and
 * tz_add; every allocation of the library goes through tz_alloc. */
#ifndef TZ_BASE_MEM_H
#define TZ_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/minmax.h"

/* Sets *out to a * b or a + b. Returns false, and leaves *out alone, if the result does not fit. */
static inline bool tz_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

static inline bool tz_add(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

/* For estimates: UINT64_MAX, which no limit allows, if the result does not fit. */
static inline uint64_t tz_mul_capped(uint64_t a, uint64_t b)
{
    uint64_t product = UINT64_MAX;
    (void)tz_mul(a, b, &product);
    return product;
}

static inline uint64_t tz_add_capped(uint64_t a, uint64_t b)
{
    uint64_t sum = UINT64_MAX;
    (void)tz_add(a, b, &sum);
    return sum;
}

/* tz_mul for sizes in memory, which may be narrower than 64 bits. */
static inline bool tz_size_mul(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

/* Converts a 64-bit number to a size in memory; false if it does not fit. */
static inline bool tz_to_size(uint64_t value, size_t *out)
{
    if (value > SIZE_MAX)
        return false;
    *out = (size_t)value;
    return true;
}

/* ceil(a / b) without overflow; b is not 0. */
static inline uint64_t tz_ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* malloc, realloc of an array and free. A size of 0 gives a valid pointer. They return NULL if
 * memory ran out or count * size does not fit; tz_realloc_array then leaves the old block alone. */
void *tz_alloc(size_t size);
void *tz_alloc_array(size_t count, size_t size);
void *tz_alloc_zeroed(size_t count, size_t size);
void *tz_realloc_array(void *block, size_t count, size_t size);
void tz_free(void *block);

/* tz_alloc for memory that will be written completely: in large pages if the system has them, which
 * saves most of the page faults. */
void *tz_alloc_slab(uint64_t size);

char *tz_copy_string(const char *text); /* NULL: no memory; free it with tz_free */

/* Tests see every allocation of the library through this hook: allow is called before each
 * allocation (false makes it fail), and resized after every change of live bytes, with the bytes
 * released and the bytes acquired. NULL removes the hook. Not for use while other threads run
 * library code. */
typedef struct tz_mem_hook {
    bool (*allow)(void *user, size_t size);
    void (*resized)(void *user, size_t released, size_t acquired);
    void *user;
} tz_mem_hook;
void tz_mem_set_hook(const tz_mem_hook *hook);

#endif
