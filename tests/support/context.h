/* SPDX-License-Identifier: Apache-2.0
 * A tz_context for tests of single functions: default limits, an error, warnings and an arena. */
#ifndef TESTS_SUPPORT_CONTEXT_H
#define TESTS_SUPPORT_CONTEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka wants the first four before it */
#include <cmocka.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"

typedef struct bench {
    tz_error err;
    tz_warnings warnings;
    tz_limits limits;
    tz_arena arena;
    tz_context ctx;
} bench;

static inline void bench_init(bench *b)
{
    *b = (bench){0};
    tz_limits_resolve(&b->limits, NULL);
    b->ctx = (tz_context){
        .name = "test", .limits = &b->limits, .err = &b->err, .warnings = &b->warnings, .ifd = 0};
}

static inline void bench_deinit(bench *b)
{
    tz_warnings_deinit(&b->warnings);
    tz_arena_deinit(&b->arena);
}

/* The warning whose message has this text; NULL: none. */
static inline const tz_error *bench_find(const bench *b, const char *text)
{
    for (uint32_t i = 0; i < b->warnings.count; i++)
        if (strstr(b->warnings.list[i].message, text))
            return &b->warnings.list[i];
    return NULL;
}

static inline void bench_print(const bench *b)
{
    for (uint32_t i = 0; i < b->warnings.count; i++)
        print_message("  %s\n", b->warnings.list[i].message);
}

/* One warning and no other, with these fields. */
#define bench_warned(b, cause_, tag_, expected_, found_, text)                                     \
    do {                                                                                           \
        const tz_error *warning_ = bench_find(b, text);                                            \
        if (!warning_ || (b)->warnings.count != 1)                                                 \
            bench_print(b);                                                                        \
        assert_int_equal((b)->warnings.count, 1);                                                  \
        assert_non_null(warning_);                                                                 \
        assert_int_equal(warning_->cause, cause_);                                                 \
        assert_int_equal(warning_->tag, tag_);                                                     \
        assert_true(warning_->expected == (uint64_t)(expected_));                                  \
        assert_true(warning_->found == (uint64_t)(found_));                                        \
        assert_int_equal(warning_->ifd, 0);                                                        \
    } while (0)

#define bench_silent(b)                                                                            \
    do {                                                                                           \
        bench_print(b); /* nothing, when all is well */                                            \
        assert_int_equal((b)->warnings.count, 0);                                                  \
    } while (0)

#endif
