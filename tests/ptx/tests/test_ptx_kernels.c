/* SPDX-License-Identifier: Apache-2.0
 * The kernels as nvcc made them, on the CPU: all families load, and what they decode is what the
 * kernels as plain C and the codecs make of it. The interpreter sees to it that nothing races,
 * waits for ever or reaches beyond the slab. Kernels of which one item works alone are not for
 * CUDA: PoCL and plain C run those. */
#include <string.h>

#include "device/kernel_programs.h"
#include "device/ops/decode.h"
#include "ptx/ptx.h"
#include "support/check.h"
#include "support/codec/decode_in_c.h"
#include "support/codec/kernel_run.h"
#include "support/row_ops_compare.h"

enum { POISON = 0xC3, MOST_STREAMS = 200, GROUP = 64 };

static ptx_module *load(const tz_kernel_image *image)
{
    ptx_error error = {""};
    ptx_module *module = ptx_load((const char *)image->bytes, &error);
    if (!module)
        fail_msg("%s", error.text);
    return module;
}

static void test_all_load(void **state)
{
    static const tz_kernel_image *const images[] = {
#define IMAGE(family, text) &tz_kernel_image_##text,
        TZ_FAMILY_LIST(IMAGE)
#undef IMAGE
    };
    static const struct {
        uint32_t family;
        const char *function;
    } kernels[] = {
#define KERNEL(number, family, function, kinds) {TZ_FAMILY_##family, #function},
        TZ_GPU_KERNEL_LIST(KERNEL)
#undef KERNEL
    };
    (void)state;
    for (uint32_t i = 0; i < TZ_FAMILY_COUNT; i++) {
        ptx_module *module = load(images[i]);
        for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
            if (kernels[k].family == i)
                assert_non_null(ptx_find_kernel(module, kernels[k].function));
        ptx_unload(module);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Streams, and what they should become
 * ------------------------------------------------------------------------------------------ */

typedef struct stream {
    uint8_t *bytes, *tile;
    uint32_t size, tile_size, status;
} stream;

typedef struct streams {
    kernel_run run;
    const tz_encoder *encoder;
    stream list[MOST_STREAMS];
    uint32_t count;
} streams;

static void add(streams *s, const uint8_t *bytes, size_t size, size_t tile_size)
{
    assert_true(s->count < MOST_STREAMS);
    stream *one = &s->list[s->count++];
    *one = (stream){.size = (uint32_t)size, .tile_size = (uint32_t)tile_size};
    one->bytes = run_alloc(size);
    if (size > 0)
        memcpy(one->bytes, bytes, size);
    one->status = kernel_once(&s->run, bytes, size, tile_size, 0, POISON, &one->tile);
}

/* Whole, for tiles of other sizes, cut off and with bits changed. */
static void add_size(streams *s, size_t size, unsigned kind)
{
    uint8_t *pixels = kernel_pixels(size, kind);
    tz_tile_format format = encode_format(s->encoder, size, 1);
    encode_run opened;
    encoded tile;
    encode_open(&opened, s->encoder, &format, 0);
    assert_int_equal(encode_once(&opened, pixels, 1, &tile), TZ_OK);
    encode_close(&opened);
    add(s, tile.bytes, tile.size, size);
    assert_int_equal(s->list[s->count - 1].status, TZ_DECODE_OK);
    assert_memory_equal(s->list[s->count - 1].tile, pixels, size);
    if (size < 4096) {
        add(s, tile.bytes, tile.size, size + 1);
        add(s, tile.bytes, tile.size, size - 1);
        add(s, tile.bytes, tile.size / 2, size);
        for (unsigned i = 0; i < 4; i++) {
            tile.bytes[random_below(tile.size)] ^= (uint8_t)(1u << random_below(8));
            add(s, tile.bytes, tile.size, size);
        }
    }
    free(tile.bytes);
    free(pixels);
}

static streams *make_streams(const tz_decoder *codec, const tz_encoder *encoder,
                             kernel_decode *in_c)
{
    static const size_t sizes[] = {1, 64, 700, 5000};
    streams *s = run_alloc(sizeof *s);
    s->count = 0;
    s->encoder = encoder;
    kernel_open(&s->run, codec, in_c, TZ_ZSTD_SCRATCH_BYTES);
    for (unsigned kind = 0; kind < KERNEL_KINDS; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            add_size(s, sizes[i], kind);
    add(s, NULL, 0, 10);
    return s;
}

static void free_streams(streams *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        free(s->list[i].bytes);
        free(s->list[i].tile);
    }
    kernel_close(&s->run);
    free(s);
}

/* ---------------------------------------------------------------------------------------------
 * The slab
 * ------------------------------------------------------------------------------------------ */

#define SLAB_ADDRESS UINT64_C(0x7f00000100) /* for kernels */

typedef struct slab {
    tz_decode_entry entries[MOST_STREAMS];
    uint64_t table, statuses, scratch, size;
    uint8_t *bytes; /* what it should hold, but for what is decoded */
} slab;

/* No two tiles beside each other, and none aligned. */
static slab *lay_out(const streams *s)
{
    slab *l = run_alloc(sizeof *l);
    uint64_t at = s->count * sizeof *l->entries;
    l->table = 0;
    l->statuses = at;
    at += 4u * s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        at += random_below(9);
        l->entries[i].from = at;
        l->entries[i].from_size = s->list[i].size;
        at += s->list[i].size;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        at += random_below(9);
        l->entries[i].to = at;
        l->entries[i].to_size = s->list[i].tile_size;
        at += s->list[i].tile_size;
    }
    l->scratch = (at + 63) / 64 * 64;
    l->size = l->scratch + (uint64_t)TZ_ZSTD_SCRATCH_BYTES * s->count;
    l->bytes = run_alloc(l->size);
    memset(l->bytes, POISON, l->size);
    memcpy(l->bytes, l->entries, s->count * sizeof *l->entries);
    for (uint32_t i = 0; i < s->count; i++)
        memcpy(l->bytes + l->entries[i].from, s->list[i].bytes, s->list[i].size);
    return l;
}

typedef struct found_slab {
    const slab *slab;
    uint8_t *bytes;
} found_slab;

static bool find_slab(void *state, uint64_t address, uint64_t *first, uint64_t *size, void **bytes)
{
    const found_slab *found = state;
    *first = SLAB_ADDRESS;
    *size = found->slab->size;
    *bytes = found->bytes;
    return address - *first < *size;
}

/* Statuses and tiles are as they should be, and nothing else has changed. */
static void compare(const streams *s, const slab *l, uint8_t *found)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const stream *one = &s->list[i];
        uint8_t *tile = found + l->entries[i].to;
        uint32_t status;
        memcpy(&status, found + l->statuses + 4u * i, 4);
        assert_int_equal(status, one->status);
        if ((one->status & TZ_DECODE_ERRORS) == 0)
            assert_memory_equal(tile, one->tile, one->tile_size);
        memset(tile, POISON, one->tile_size);
    }
    memset(found + l->statuses, POISON, 4u * s->count);
    assert_memory_equal(found, l->bytes, l->scratch);
}

static void run_kernel(const streams *s, const ptx_module *module, const char *name)
{
    slab *l = lay_out(s);
    found_slab found = {l, run_alloc(l->size)};
    const ptx_memory memory = {&found, find_slab};
    const uint64_t params[] = {SLAB_ADDRESS, l->table, l->statuses, l->scratch};
    ptx_error error = {""};
    memcpy(found.bytes, l->bytes, l->size);
    if (!ptx_run(&(ptx_launch){.kernel = ptx_find_kernel(module, name),
                               .grid = {s->count, 1, 1},
                               .block = {GROUP, 1, 1},
                               .params = params,
                               .memory = &memory},
                 &error))
        fail_msg("%s", error.text);
    compare(s, l, found.bytes);
    free(found.bytes);
    free(l->bytes);
    free(l);
}

static void check_codec(const tz_decoder *codec, const tz_encoder *encoder, kernel_decode *in_c,
                        const tz_kernel_image *image, const char *name)
{
    char kernel[64];
    streams *s = make_streams(codec, encoder, in_c);
    ptx_module *module = load(image);
    (void)snprintf(kernel, sizeof kernel, "tz_kernel_%s_work_group", name);
    run_kernel(s, module, kernel);
    ptx_unload(module);
    free_streams(s);
}

/* ---------------------------------------------------------------------------------------------
 * Codecs
 * ------------------------------------------------------------------------------------------ */

static void test_lzw(void **state)
{
    (void)state;
    check_codec(&tz_decoder_lzw, &tz_encoder_lzw, lzw_in_c, &tz_kernel_image_lzw, "lzw");
}

static void test_packbits(void **state)
{
    (void)state;
    check_codec(&tz_decoder_packbits, &tz_encoder_packbits, packbits_in_c,
                &tz_kernel_image_packbits, "packbits");
}

#if defined(TZ_HAVE_LIBDEFLATE)
static void test_inflate(void **state)
{
    (void)state;
    check_codec(&tz_decoder_deflate, &tz_encoder_deflate, inflate_in_c, &tz_kernel_image_inflate,
                "inflate");
}
#endif

#if defined(TZ_HAVE_LZ4)
static void test_lz4(void **state)
{
    (void)state;
    check_codec(&tz_decoder_lz4, &tz_encoder_lz4, lz4_in_c, &tz_kernel_image_lz4, "lz4");
}
#endif

#if defined(TZ_HAVE_ZSTD)
static void test_zstd(void **state)
{
    (void)state;
    check_codec(&tz_decoder_zstd, &tz_encoder_zstd, zstd_in_c, &tz_kernel_image_zstd, "zstd");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_load),
        cmocka_unit_test(test_lzw),
        cmocka_unit_test(test_packbits),
#if defined(TZ_HAVE_LIBDEFLATE)
        cmocka_unit_test(test_inflate),
#endif
#if defined(TZ_HAVE_LZ4)
        cmocka_unit_test(test_lz4),
#endif
#if defined(TZ_HAVE_ZSTD)
        cmocka_unit_test(test_zstd),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
