/* SPDX-License-Identifier: Apache-2.0
 * Contexts of libraries that run out of memory. The linker puts these functions in front of the
 * libraries': --wrap=libdeflate_alloc_decompressor --wrap=ZSTD_createDCtx. */
#include <libdeflate.h>
#include <zstd.h>

#include "support/codec/codec_run.h"

static bool no_memory;

/* Shared libraries that use libdeflate or libzstd themselves must find them too. */
#define SEEN_BY_ALL __attribute__((visibility("default")))

struct libdeflate_decompressor *__real_libdeflate_alloc_decompressor(void);
SEEN_BY_ALL struct libdeflate_decompressor *__wrap_libdeflate_alloc_decompressor(void);
ZSTD_DCtx *__real_ZSTD_createDCtx(void);
SEEN_BY_ALL ZSTD_DCtx *__wrap_ZSTD_createDCtx(void);

struct libdeflate_decompressor *__wrap_libdeflate_alloc_decompressor(void)
{
    return no_memory ? NULL : __real_libdeflate_alloc_decompressor();
}

ZSTD_DCtx *__wrap_ZSTD_createDCtx(void)
{
    return no_memory ? NULL : __real_ZSTD_createDCtx();
}

static void check_init(const tz_decoder *codec, const char *text)
{
    bench b;
    bench_init(&b);
    void *state = calloc(1, codec->state_size);
    assert_non_null(state);
    no_memory = true;
    assert_int_equal(codec->init(state, &b.ctx), TZ_ERR_NOMEM);
    assert_int_equal(b.err.cause, TZ_CAUSE_NOMEM);
    assert_non_null(strstr(b.err.message, text));
    codec->deinit(state);
    no_memory = false;
    assert_int_equal(codec->init(state, &b.ctx), TZ_OK);
    codec->deinit(state);
    free(state);
    bench_deinit(&b);
}

static void libdeflate_may_have_no_memory(void **state)
{
    (void)state;
    check_init(&tz_decoder_deflate, "libdeflate");
}

static void libzstd_may_have_no_memory(void **state)
{
    (void)state;
    check_init(&tz_decoder_zstd, "ZSTD");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libdeflate_may_have_no_memory),
        cmocka_unit_test(libzstd_may_have_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
