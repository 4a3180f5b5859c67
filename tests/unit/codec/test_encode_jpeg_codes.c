/* SPDX-License-Identifier: Apache-2.0
 * Huffman codes made for a JPEG tile: as good as they can be, within what JPEG allows, and no
 * change to the picture. */
#include "codec/jpeg.h"
#include "support/codec/encode_codestream.h"
#include "support/codec/jpeg_streams.h"

/* ---------------------------------------------------------------------------------------------
 * Codes
 * ------------------------------------------------------------------------------------------ */

/* Symbols that occur have codes of 1 to 16 bits, rarer ones no shorter codes than others, and the
 * code of all ones is free. The bits that all symbols take. */
static uint64_t check_code(const uint64_t occurrences[256])
{
    tz_jpeg_huffman code;
    tz_jpeg_huffman_build(&code, occurrences);
    unsigned expected = 0, symbol = 0, free_codes = 1u << TZ_JPEG_MAX_CODE_LENGTH;
    uint64_t bits = 0, last = UINT64_MAX;
    bool seen[256] = {false};
    for (unsigned i = 0; i < 256; i++)
        expected += occurrences[i] > 0;
    assert_int_equal(code.symbol_count, expected);
    assert_int_equal(code.counts[0], 0);
    for (unsigned length = 1; length <= TZ_JPEG_MAX_CODE_LENGTH; length++) {
        for (unsigned i = 0; i < code.counts[length]; i++, symbol++) {
            const uint64_t often = occurrences[code.symbols[symbol]];
            assert_true(often > 0 && often <= last && !seen[code.symbols[symbol]]);
            seen[code.symbols[symbol]] = true;
            last = often;
            bits += often * length;
            assert_true(free_codes > 1u << (TZ_JPEG_MAX_CODE_LENGTH - length));
            free_codes -= 1u << (TZ_JPEG_MAX_CODE_LENGTH - length);
        }
    }
    assert_int_equal(symbol, expected);
    return bits;
}

static void codes_are_the_best(void **state)
{
    (void)state;
    uint64_t occurrences[256] = {[7] = 1};
    assert_int_equal(check_code(occurrences), 1);
    occurrences[7] = 1000;
    occurrences[9] = 10; /* with the reserved one: 0, 10, 11 */
    assert_int_equal(check_code(occurrences), 1000 + 2 * 10);
    for (unsigned i = 0; i < 256; i++)
        occurrences[i] = 5; /* one of them and the reserved one are a bit deeper */
    assert_int_equal(check_code(occurrences), 5 * (256 * 8 + 1));
    for (unsigned i = 0; i < 256; i++)
        occurrences[i] = i < 4 ? UINT64_C(1) << (20 - i) : 0;
    assert_int_equal(check_code(occurrences), (1 << 20) + (2 << 19) + (3 << 18) + (4 << 17));
}

/* Each symbol as often as the two before it: without a limit, codes would be as long as there are
 * symbols. */
static void codes_are_no_longer_than_16_bits(void **state)
{
    (void)state;
    for (unsigned count = 10; count <= 60; count++) {
        uint64_t occurrences[256] = {0}, before = 1, now = 1;
        for (unsigned i = 0; i < count; i++) {
            occurrences[(i * 37) % 256] = now;
            const uint64_t next = before + now;
            before = now;
            now = next;
        }
        check_code(occurrences);
    }
    uint64_t occurrences[256];
    for (unsigned i = 0; i < 256; i++)
        occurrences[i] = i < 30 ? UINT64_C(1) << i : 1;
    check_code(occurrences);
}

/* ---------------------------------------------------------------------------------------------
 * Streams
 * ------------------------------------------------------------------------------------------ */

/* libjpeg's own way to codes made for a picture. */
static stream optimised(const tz_tile_format *format, const uint8_t *pixels)
{
    stream s = {0};
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    memset(&c, 0, sizeof c);
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    const bool ycbcr = format->photometric == 6;
    const recipe r = {.width = format->width,
                      .height = format->height,
                      .components = format->samples,
                      .from = ycbcr ? JCS_RGB : JCS_UNKNOWN,
                      .stored = ycbcr ? JCS_YCbCr : JCS_UNKNOWN,
                      .h = format->subsampling[0],
                      .v = format->subsampling[1]};
    set_up(&c, &r);
    c.optimize_coding = TRUE;
    jpeg_mem_dest(&c, &s.data, &s.size);
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < c.image_height) {
        JSAMPROW row =
            (JSAMPROW)(uintptr_t)(pixels + (size_t)c.next_scanline * r.width * r.components);
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return s;
}

static void check_like_libjpegs(tz_tile_format format, const uint8_t *pixels)
{
    encode_run run;
    encode_open(&run, &tz_encoder_jpeg, format,
                (tz_encode_options){.quality = 85, .jpeg_tables = TZ_JPEG_TABLES_NONE});
    encoded ours = encode_rows(&run, format.height, pixels);
    stream theirs = optimised(&format, pixels);
    /* bytes of all ones, which take two, come as they may */
    assert_true(ours.size <= theirs.size + theirs.size / 200 + 4);
    assert_true(ours.size + ours.size / 50 + 100 >= theirs.size);
    const encoded other = {theirs.data, theirs.size};
    uint8_t *back = encode_decoded(&run, format.height, &ours);
    uint8_t *expected = encode_decoded(&run, format.height, &other);
    assert_memory_equal(back, expected, tz_tile_bytes(&format));
    free(back);
    free(expected);
    free(ours.data);
    free_stream(&theirs);
    encode_close(&run);
}

static void streams_are_like_those_that_libjpeg_optimises(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{8, 16}, {17, 32}, {200, 64}, {1, 16}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const size_t size = (size_t)sizes[i][0] * sizes[i][1] * 4;
        uint8_t *picture = run_picture(sizes[i][0], sizes[i][1], 4), *noise = encode_noise(size);
        uint8_t *grey = run_alloc(size);
        memset(grey, 128, size);
        for (uint16_t kind = 1; kind <= 6; kind++) {
            tz_tile_format format = {.width = sizes[i][0],
                                     .height = sizes[i][1],
                                     .samples = kind < 5 ? kind : 3,
                                     .bits = 8,
                                     .sample_format = 1,
                                     .compression = 7,
                                     .photometric = kind < 5 ? 1 : 6};
            format.subsampling[0] = format.subsampling[1] = kind == 6 ? 2 : 1;
            check_like_libjpegs(format, picture);
            check_like_libjpegs(format, noise);
            check_like_libjpegs(format, grey);
        }
        free(grey);
        free(noise);
        free(picture);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Streams of another kind
 * ------------------------------------------------------------------------------------------ */

typedef struct recoding {
    tz_jpeg_huffman_reader readers[TZ_JPEG_HUFFMAN_CODES];
    tz_jpeg_mcu_layout scan;
    stream from; /* without Huffman tables */
    uint32_t *tokens;
} recoding;

static void open_recoding(recoding *out)
{
    const recipe r = {.width = 64,
                      .height = 64,
                      .components = 1,
                      .from = JCS_UNKNOWN,
                      .stored = JCS_UNKNOWN,
                      .apart = true};
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    uint8_t *pixels = run_picture(64, 64, 1);
    *out = (recoding){.scan = {.mcu_count = 64, .blocks = {1, 0}}, .from = encode(&r, pixels)};
    memset(&c, 0, sizeof c);
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    set_up(&c, &r);
    for (unsigned i = 0; i < TZ_JPEG_HUFFMAN_CODES; i++) {
        const JHUFF_TBL *table = i % 2 ? c.ac_huff_tbl_ptrs[i / 2] : c.dc_huff_tbl_ptrs[i / 2];
        tz_jpeg_huffman code = {.symbol_count = 0};
        memcpy(code.counts, table->bits, sizeof code.counts);
        memcpy(code.symbols, table->huffval, sizeof code.symbols);
        tz_jpeg_huffman_reader_init(&out->readers[i], &code);
    }
    jpeg_destroy_compress(&c);
    out->tokens = run_alloc(64 * TZ_JPEG_BLOCK_TOKENS * sizeof *out->tokens);
    free(pixels);
}

/* Buffers of exactly the size that is promised, in and out. */
static bool recode(const recoding *r, const uint8_t *data, size_t size, size_t room)
{
    uint8_t *in = run_alloc(size + TZ_JPEG_RECODE_SLACK), *to = run_alloc(room);
    memcpy(in, data, size);
    memset(in + size, 0xA5, TZ_JPEG_RECODE_SLACK);
    size_t used = 0;
    const bool done = tz_jpeg_recode(r->readers, &r->scan, in, size, r->tokens, to, room, &used);
    assert_true(used <= room);
    free(in);
    free(to);
    return done;
}

static void broken_streams_and_little_room_are_noticed(void **state)
{
    (void)state;
    recoding r;
    open_recoding(&r);
    const size_t size = r.from.size;
    assert_true(recode(&r, r.from.data, size, 65536));
    for (size_t cut = 0; cut < size; cut++)
        assert_false(recode(&r, r.from.data, cut, 65536));
    bool done = false;
    for (size_t room = 0; room < 8192; room += 7) {
        const bool fits = recode(&r, r.from.data, size, room);
        assert_true(fits || !done); /* with more room, too */
        done = fits;
    }
    assert_true(done);
    r.scan.mcu_count = 65;
    uint32_t *more = run_alloc(65 * TZ_JPEG_BLOCK_TOKENS * sizeof *more);
    free(r.tokens);
    r.tokens = more;
    assert_false(recode(&r, r.from.data, size, 65536));
    r.scan.mcu_count = 64;
    uint8_t *damaged = run_alloc(size);
    for (size_t i = 0; i < size; i++) {
        memcpy(damaged, r.from.data, size);
        damaged[i] ^= 0x55;
        recode(&r, damaged, size, 65536); /* whatever it says */
    }
    free(damaged);
    free(r.tokens);
    free_stream(&r.from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_the_best),
        cmocka_unit_test(codes_are_no_longer_than_16_bits),
        cmocka_unit_test(streams_are_like_those_that_libjpeg_optimises),
        cmocka_unit_test(broken_streams_and_little_room_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
