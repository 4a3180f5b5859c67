/* SPDX-License-Identifier: Apache-2.0
 * Georeferencing tags, a context to read them with, and what comes out. */
#ifndef TESTS_SUPPORT_GEO_FIXTURE_H
#define TESTS_SUPPORT_GEO_FIXTURE_H

#include "support/context.h"
#include "support/geo_tags.h"

#define GEO TZ_CAUSE_GEO

typedef struct fixture {
    bench b;
    geo_maker m;
    tz_geo geo;
} fixture;

static inline int begin(void **state)
{
    static fixture f;
    f = (fixture){0};
    bench_init(&f.b);
    *state = &f;
    return 0;
}

static inline int end(void **state)
{
    fixture *f = *state;
    bench_deinit(&f->b);
    geo_free(&f->m);
    return 0;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

static inline void parse(fixture *f)
{
    if (!f->m.tags.directory && f->m.entry_values > 0)
        geo_finish(&f->m);
    assert_int_equal(tz_geo_parse(&f->m.tags, &f->b.arena, &f->b.ctx, &f->geo), TZ_OK);
}

/* The same in strict mode and with require_crs, where the first warning is the error. */
static inline void check_strict(fixture *f)
{
    assert_true(f->b.warnings.count > 0);
    const tz_error *first = &f->b.warnings.list[0];
    for (int mode = 0; mode < 2; mode++) {
        tz_context ctx = f->b.ctx;
        tz_geo geo;
        ctx.strict = mode == 0;
        ctx.require_crs = mode == 1;
        ctx.warnings = NULL;
        assert_int_equal(tz_geo_parse(&f->m.tags, &f->b.arena, &ctx, &geo), first->result);
        assert_int_equal(f->b.err.cause, first->cause);
        assert_int_equal(f->b.err.tag, first->tag);
        assert_true(f->b.err.expected == first->expected && f->b.err.found == first->found);
        assert_string_equal(f->b.err.message, first->message);
    }
}

static inline void again(void **state)
{
    end(state);
    begin(state);
}

#define UD 32767 /* user-defined */

/* Keys by their ids, SHORT and DOUBLE alike, up to id 0. */
typedef struct key_value {
    unsigned id;
    double value;
} key_value;

static inline void add_keys(fixture *f, const key_value *keys)
{
    for (; keys->id != 0; keys++) {
        if (tz_geo_key_type((uint16_t)keys->id) == TZ_TYPE_DOUBLE)
            geo_double(&f->m, keys->id, keys->value);
        else
            geo_short(&f->m, keys->id, (unsigned)keys->value);
    }
}
#define KEYS(f, ...) add_keys(f, (const key_value[]){__VA_ARGS__, {0, 0}})

#endif
