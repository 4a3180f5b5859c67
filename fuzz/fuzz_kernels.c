/* SPDX-License-Identifier: Apache-2.0
 * Kernels that decode tiles, beside the codecs of the same name: the first byte chooses one, the
 * rest is as for the codec's own target. Status, warnings and bytes must agree, and so must streams
 * of bare deflate, which no checksum protects. */
#include "codec_target.h"
#include "kernels/inflate.h"
#include "kernels/lz4.h"
#include "kernels/lzw.h"
#include "kernels/packbits.h"
#include "kernels/zstd.h"

#ifdef TZ_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

typedef uint32_t kernel_decode(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                               void *scratch);

/* Compares the status and bytes of one work-item with those of a work-group; frees the first. */
static void check_same_by_work_group(uint32_t status, uint32_t work_group_status,
                                     uint8_t *by_work_item, const uint8_t *by_work_group,
                                     size_t size)
{
    target_check(status == work_group_status);
    target_check((status & TZ_DECODE_ERRORS) != 0 ||
                 memcmp(by_work_item, by_work_group, size) == 0);
    free(by_work_item);
}

static uint32_t decode_lzw(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                           void *scratch)
{
    uint32_t queue[TZ_COPY_QUEUE_WORDS];
    uint8_t *other = target_alloc(size);
    uint32_t status = tz_lzw_tile(in, in_size, other, size, scratch);
    check_same_by_work_group(status, tz_lzw_tile_work_group(in, in_size, out, size, scratch, queue),
                             other, out, size);
    return status;
}

static uint32_t decode_packbits(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                                void *scratch)
{
    uint32_t queue[TZ_COPY_QUEUE_WORDS];
    uint8_t *other = target_alloc(size);
    (void)scratch;
    uint32_t status = tz_packbits_tile(in, in_size, other, size);
    check_same_by_work_group(status, tz_packbits_tile_work_group(in, in_size, out, size, queue),
                             other, out, size);
    return status;
}

#ifdef TZ_HAVE_LIBDEFLATE
static uint32_t decode_deflate(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                               void *scratch)
{
    uint32_t queue[TZ_COPY_QUEUE_WORDS];
    uint8_t *other = target_alloc(size);
    uint32_t status = tz_inflate_tile(in, in_size, other, size, scratch);
    check_same_by_work_group(status,
                             tz_inflate_tile_work_group(in, in_size, out, size, scratch, queue),
                             other, out, size);
    return status;
}
#endif

#ifdef TZ_HAVE_LZ4
static uint32_t decode_lz4(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                           void *scratch)
{
    uint32_t queue[TZ_COPY_QUEUE_WORDS];
    uint8_t *other = target_alloc(size);
    (void)scratch;
    uint32_t status = tz_lz4_tile(in, in_size, other, size);
    check_same_by_work_group(status, tz_lz4_tile_work_group(in, in_size, out, size, queue), other,
                             out, size);
    return status;
}
#endif

#ifdef TZ_HAVE_ZSTD
static uint32_t decode_zstd(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                            void *scratch)
{
    uint32_t shared[TZ_ZSTD_LOCAL_WORDS];
    uint8_t *other = target_alloc(size);
    uint32_t status = tz_zstd_tile(in, in_size, other, size, scratch);
    check_same_by_work_group(
        status, tz_zstd_tile_work_group(in, in_size, out, size, scratch, shared), other, out, size);
    return status;
}
#endif

/* By the first byte; kernels for codecs that this build does not have are NULL. */
static const struct {
    const tz_decoder *codec;
    kernel_decode *decode;
} kernels[] = {
    {&tz_decoder_lzw, decode_lzw}, /* these two are always there */
    {&tz_decoder_packbits, decode_packbits},
#ifdef TZ_HAVE_LIBDEFLATE
    {&tz_decoder_deflate, decode_deflate},
#else
    {NULL, NULL},
#endif
#ifdef TZ_HAVE_LZ4
    {&tz_decoder_lz4, decode_lz4},
#else
    {NULL, NULL},
#endif
#ifdef TZ_HAVE_ZSTD
    {&tz_decoder_zstd, decode_zstd},
#else
    {NULL, NULL},
#endif
};
enum {
    KERNELS = sizeof kernels / sizeof kernels[0],
    BARE_DEFLATE = KERNELS,
    SCRATCH_BYTES = TZ_ZSTD_SCRATCH_BYTES
};
_Static_assert(SCRATCH_BYTES >= TZ_INFLATE_SCRATCH * sizeof(uint16_t) &&
                   SCRATCH_BYTES >= TZ_LZW_SCRATCH * sizeof(uint32_t),
               "one work memory for all");

static size_t count_warnings(uint32_t status)
{
    size_t count = 0;
    for (uint32_t bit = TZ_DECODE_BYTES_AFTER; bit <= TZ_DECODE_STRING_TRUNCATED; bit <<= 1)
        count += (status & bit) ? 1 : 0;
    return count;
}

static uint32_t run_kernel(kernel_decode *decode, const uint8_t *in, size_t in_size, uint8_t *out,
                           size_t size, uint8_t poison)
{
    static void *scratch = NULL; /* one for all runs: it is large */
    if (!scratch)
        scratch = target_alloc(SCRATCH_BYTES);
    memset(scratch, poison, SCRATCH_BYTES);
    memset(out, poison, size);
    return decode(in, (uint32_t)in_size, out, (uint32_t)size, scratch);
}

static void compare(unsigned which, const tz_tile_format *format, const uint8_t *in, size_t in_size)
{
    size_t row = tz_tile_row_bytes(format), size = tz_tile_bytes(format);
    uint8_t *first = target_alloc(size), *second = target_alloc(size), *rows;
    uint32_t status = run_kernel(kernels[which].decode, in, in_size, first, size, 0xC3);
    target_check(run_kernel(kernels[which].decode, in, in_size, second, size, 0x5A) == status);
    target t;
    target_open(&t, kernels[which].codec);
    tz_result result = target_decode(&t, format, in, in_size, row, 0x77, &rows);
    if (status != TZ_DECODE_UNSURE) {
        target_check((result == TZ_OK) == ((status & TZ_DECODE_ERRORS) == 0));
        target_check(result != TZ_OK || t.warnings.count == count_warnings(status));
        target_check(result != TZ_OK || memcmp(first, rows, size) == 0);
        target_check(result != TZ_OK || memcmp(second, rows, size) == 0);
    }
    target_close(&t);
    free(rows);
    free(second);
    free(first);
}

#ifdef TZ_HAVE_LIBDEFLATE
static void compare_bare(const uint8_t *in, size_t in_size)
{
    enum { CAPACITY = 1 << 16 };
    uint8_t *expected = target_alloc(CAPACITY);
    struct libdeflate_decompressor *oracle = libdeflate_alloc_decompressor();
    target_check(oracle != NULL);
    size_t used = 0, made = 0;
    bool accepted = libdeflate_deflate_decompress_ex(oracle, in, in_size, expected, CAPACITY, &used,
                                                     &made) == LIBDEFLATE_SUCCESS;
    size_t size = accepted ? made : CAPACITY;
    uint8_t *out = target_alloc(size);
    uint16_t scratch[TZ_INFLATE_SCRATCH];
    uint32_t read = 0;
    uint32_t status = tz_inflate_raw(in, (uint32_t)in_size, out, (uint32_t)size, scratch, &read);
    if (status != TZ_DECODE_UNSURE) {
        target_check(accepted == (status == TZ_DECODE_OK));
        target_check(!accepted || (read == used && memcmp(out, expected, made) == 0));
    }
    free(out);
    libdeflate_free_decompressor(oracle);
    free(expected);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 + TARGET_HEAD)
        return 0;
    unsigned which = data[0] % (KERNELS + 1);
    const uint8_t *in = data + 1 + TARGET_HEAD;
    size_t in_size = size - 1 - TARGET_HEAD;
#ifdef TZ_HAVE_LIBDEFLATE
    if (which == BARE_DEFLATE)
        compare_bare(in, in_size);
#endif
    if (which < KERNELS && kernels[which].codec) {
        tz_tile_format format = target_format(kernels[which].codec, data + 1);
        compare(which, &format, in, in_size);
    }
    return 0;
}
