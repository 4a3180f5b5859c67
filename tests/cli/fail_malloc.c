/* SPDX-License-Identifier: Apache-2.0
 * For terrazzo_nomem: the linker sends malloc, calloc and realloc here (--wrap). The call whose
 * number is in TERRAZZO_FAIL_ALLOCATION fails, once. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static bool fails(void)
{
    static long calls;
    static long chosen = -1;
    if (chosen < 0) {
        const char *text = getenv("TERRAZZO_FAIL_ALLOCATION");
        chosen = text != NULL ? strtol(text, NULL, 10) : 0;
    }
    return ++calls == chosen;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fails() ? NULL : __real_realloc(block, size);
}
