/* SPDX-License-Identifier: Apache-2.0
 * Tiles decoded on a device, by groups and by single items: statuses and bytes are
 * those of the kernels as plain C, which agree with the codecs, for good, damaged and hostile
 * streams; nothing else in the slab changes. One launch decodes, however many tiles there are. */
#include <string.h>

#include "device/device.h"
#include "device/device_state.h"
#include "device/ops/decode.h"
#include "support/check.h"
#include "support/codec/decode_in_c.h"
#include "support/codec/kernel_run.h"
#include "support/device/test_device.h"
#include "support/row_ops_compare.h"

enum { POISON = 0xC3, MOST_STREAMS = 1500 };

/* ---- streams, and what they should become ---- */

typedef struct stream {
    uint8_t *bytes;
    uint32_t size;
    uint32_t tile_size;
    uint32_t status;
    uint8_t *tile;
} stream;

typedef struct streams {
    kernel_run run;
    const tz_encoder *encoder;
    stream list[MOST_STREAMS];
    uint32_t count;
} streams;

/* Takes the bytes over. */
static void add(streams *s, uint8_t *bytes, size_t size, size_t tile_size)
{
    assert_true(s->count < MOST_STREAMS);
    stream *one = &s->list[s->count++];
    *one = (stream){.bytes = bytes, .size = (uint32_t)size, .tile_size = (uint32_t)tile_size};
    if (tile_size > 0)
        one->status = kernel_agrees(&s->run, bytes, size, tile_size);
    const uint32_t again = kernel_once(&s->run, bytes, size, tile_size, 0, POISON, &one->tile);
    if (tile_size > 0)
        assert_int_equal(again, one->status);
    one->status = again;
}

static uint8_t *copy(const uint8_t *bytes, size_t size)
{
    uint8_t *out = run_alloc(size);
    if (size > 0)
        memcpy(out, bytes, size);
    return out;
}

static encoded encode(streams *s, size_t size, unsigned kind)
{
    uint8_t *pixels = kernel_pixels(size, kind);
    tz_tile_format format = encode_format(s->encoder, size, 1);
    encode_run opened;
    encoded tile;
    encode_open(&opened, s->encoder, &format, 0);
    assert_int_equal(encode_once(&opened, pixels, 1, &tile), TZ_OK);
    encode_close(&opened);
    free(pixels);
    return tile;
}

static void add_damaged(streams *s, const encoded *tile, size_t size, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        uint8_t *bytes = copy(tile->bytes, tile->size);
        const size_t at = random_below(tile->size);
        if (i % 3 == 0) {
            add(s, bytes, at, size);
            continue;
        }
        bytes[at] = (uint8_t)(bytes[at] ^ (i % 3 == 1 ? 1u << random_below(8) : random_bits()));
        add(s, bytes, tile->size, size);
    }
}

static void add_noise(streams *s, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        const size_t size = random_below(300);
        uint8_t *bytes = run_alloc(size);
        for (size_t k = 0; k < size; k++)
            bytes[k] = (uint8_t)random_bits();
        if (size >= 2 && i % 2) { /* as zlib and old LZW begin */
            bytes[0] = i % 4 == 1 ? 0x78 : 0x00;
            bytes[1] = 0x01;
        }
        add(s, bytes, size, random_below(400));
    }
}

/* Twice the stream, which is two frames of Zstandard for a tile of twice the size; the stream with
 * bytes after it; and one in a tile that begins with a frame to pass over. */
static void add_joined(streams *s, const encoded *tile, size_t size)
{
    static const uint8_t skippable[] = {0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 7};
    uint8_t *twice = run_alloc(2 * tile->size);
    memcpy(twice, tile->bytes, tile->size);
    memcpy(twice + tile->size, tile->bytes, tile->size);
    add(s, copy(twice, 2 * tile->size), 2 * tile->size, 2 * size);
    add(s, copy(twice, 2 * tile->size), tile->size + (tile->size + 1) / 2, size);
    free(twice);
    uint8_t *behind = run_alloc(sizeof skippable + tile->size);
    memcpy(behind, skippable, sizeof skippable);
    memcpy(behind + sizeof skippable, tile->bytes, tile->size);
    add(s, behind, sizeof skippable + tile->size, size);
}

/* Tiles of all kinds and sizes; cut off, changed, given to tiles of other sizes; bytes of nothing;
 * and empty ones among them. */
static void add_all(streams *s)
{
    static const size_t sizes[] = {1, 7, 64, 1000, 4096, 65537};
    for (unsigned kind = 0; kind < KERNEL_KINDS; kind++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            if (test_device_is_slow() && sizes[i] > 4096 && kind > 0)
                continue;
            encoded tile = encode(s, sizes[i], kind);
            add(s, copy(tile.bytes, tile.size), tile.size, sizes[i]);
            add(s, copy(tile.bytes, tile.size), tile.size, sizes[i] + 1);
            add(s, copy(tile.bytes, tile.size), tile.size, sizes[i] - 1);
            add(s, copy(tile.bytes, 0), 0, sizes[i]);
            add_joined(s, &tile, sizes[i]);
            add_damaged(s, &tile, sizes[i], test_device_sample(sizes[i] == 1000 ? 60 : 15));
            free(tile.bytes);
        }
    }
    add_noise(s, test_device_sample(300));
}

static streams *begin(const tz_decoder *codec, const tz_encoder *encoder, kernel_decode *decode)
{
    streams *s = run_alloc(sizeof *s);
    s->count = 0;
    s->encoder = encoder;
    kernel_open(&s->run, codec, decode, TZ_ZSTD_SCRATCH_BYTES); /* which takes most */
    return s;
}

static void end(streams *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        free(s->list[i].bytes);
        free(s->list[i].tile);
    }
    kernel_close(&s->run);
    free(s);
}

/* ---- on a device ---- */

typedef struct layout {
    tz_decode_entry *entries;
    uint64_t table, statuses, size;
    uint64_t scratch, scratch_size; /* after all that goes to and fro */
    uint8_t *slab;
} layout;

static layout lay_out(const streams *s, uint16_t compression)
{
    layout l = {.entries = run_alloc((s->count + 1) * sizeof *l.entries)};
    uint64_t at = 8;
    l.table = at;
    at += s->count * sizeof *l.entries;
    l.statuses = at;
    at += 4u * s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        at += random_below(9);
        l.entries[i].from = at;
        l.entries[i].from_size = s->list[i].size;
        at += s->list[i].size;
    }
    for (uint32_t i = s->count; i-- > 0;) {
        at += random_below(9);
        l.entries[i].to = at;
        l.entries[i].to_size = s->list[i].tile_size;
        at += s->list[i].tile_size;
    }
    l.size = at + random_below(9);
    l.scratch = (l.size + 63) / 64 * 64;
    tz_decode_need need = {0};
    for (uint32_t i = 0; i < s->count; i++)
        tz_decode_need_add(&need, l.entries[i].from_size, l.entries[i].to_size);
    l.scratch_size = tz_decode_scratch_bytes(test_device, compression, &need);
    l.slab = run_alloc(l.size);
    memset(l.slab, POISON, l.size);
    memcpy(l.slab + l.table, l.entries, s->count * sizeof *l.entries);
    for (uint32_t i = 0; i < s->count; i++)
        memcpy(l.slab + l.entries[i].from, s->list[i].bytes, s->list[i].size);
    return l;
}

/* The library that is there was given the tiles; devices that are CPUs have none. */
static void check_who(const tz_decode_report *done, uint32_t count, uint16_t compression)
{
    const bool by_library = count > 0 && test_device->info.type == TZ_DEVICE_TYPE_GPU &&
                            test_device_nvcomp_decodes(compression);
    assert_int_equal(strncmp(done->library, "nvCOMP ", 7) == 0, by_library);
    assert_string_equal(done->reason, "");
    assert_int_equal(done->launches, count > 0 ? tz_decode_launches(test_device, compression) : 0);
    assert_int_equal(tz_decode_launches(test_device, compression) > 1,
                     test_device->info.type == TZ_DEVICE_TYPE_GPU &&
                         test_device_nvcomp_decodes(compression));
}

static uint8_t *decode(const layout *l, const streams *s, uint16_t compression)
{
    tz_error err;
    tz_decode_report done;
    tz_device_memory *slab = NULL;
    uint8_t *out = run_alloc(l->size);
    assert_int_equal(tz_device_memory_alloc(&slab, test_device, l->scratch + l->scratch_size, &err),
                     TZ_OK);
    const tz_decode_batch batch = {.compression = compression,
                                   .slab = slab,
                                   .tiles = l->entries,
                                   .count = s->count,
                                   .table = l->table,
                                   .statuses = l->statuses,
                                   .scratch = l->scratch};
    assert_int_equal(tz_device_upload(0, slab, 0, l->slab, l->size, &err), TZ_OK);
    assert_int_equal(tz_decode_launch(&batch, 0, &done, &err), TZ_OK);
    check_who(&done, s->count, compression);
    assert_int_equal(tz_device_download(0, out, slab, 0, l->size, &err), TZ_OK);
    assert_int_equal(tz_device_sync(test_device, 0, &err), TZ_OK);
    tz_device_memory_free(slab);
    return out;
}

/* Compares the slab with the expected bytes; tiles with errors are as they came out. */
static void compare(const layout *l, const streams *s, const uint8_t *found)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const stream *one = &s->list[i];
        uint8_t *tile = l->slab + l->entries[i].to;
        uint32_t status;
        memcpy(&status, found + l->statuses + 4u * i, 4);
        const bool library_is_sure =
            one->status == TZ_DECODE_UNSURE && status == TZ_DECODE_OK && test_device_has_nvcomp();
        if (status != one->status && !library_is_sure)
            print_message("stream %u of %u bytes, tile of %u: status\n", i, one->size,
                          one->tile_size);
        if (!library_is_sure)
            assert_int_equal(status, one->status);
        memcpy(l->slab + l->statuses + 4u * i, &status, 4);
        memcpy(tile, one->status & TZ_DECODE_ERRORS ? found + l->entries[i].to : one->tile,
               one->tile_size);
    }
    assert_memory_equal(found, l->slab, l->size);
}

static void run_form(const streams *s, uint16_t compression, tz_device_type type)
{
    const tz_device_type own = test_device->info.type;
    test_device->info.type =
        test_device_form(type); /* a GPU is given the kernels for groups, or a library */
    layout l = lay_out(s, compression);
    tz_device_counts wave;
    assert_true(tz_device_decodes(test_device, compression));
    tz_device_begin_wave(test_device);
    const uint32_t launches = tz_decode_launches(test_device, compression);
    uint8_t *found = decode(&l, s, compression);
    test_device->info.type = own;
    compare(&l, s, found);
    tz_device_get_counts(test_device, NULL, &wave);
    assert_int_equal(wave.launches, s->count > 0 ? launches : 0);
    assert_int_equal(wave.library_calls, s->count > 0 && launches > 1);
    assert_int_equal(wave.uploads, 1);
    assert_int_equal(wave.downloads, 1);
    assert_int_equal(wave.syncs, 1);
    free(found);
    free(l.slab);
    free(l.entries);
}

static void run_both(const streams *s, uint16_t compression)
{
    run_form(s, compression, TZ_DEVICE_TYPE_CPU);
    run_form(s, compression, TZ_DEVICE_TYPE_GPU);
}

static void check_codec(const tz_decoder *codec, const tz_encoder *encoder, kernel_decode *in_c)
{
    static const uint32_t counts[] = {0, 1, 7, 64};
    streams *s = begin(codec, encoder, in_c);
    add_all(s);
    const uint32_t all = s->count;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        s->count = counts[i];
        run_both(s, decoder_compression(codec));
    }
    s->count = all;
    run_both(s, decoder_compression(codec));
    end(s);
}

/* ---- tests ---- */

static void lzw(void **state)
{
    (void)state;
    check_codec(&tz_decoder_lzw, &tz_encoder_lzw, lzw_in_c);
}

static void packbits(void **state)
{
    (void)state;
    check_codec(&tz_decoder_packbits, &tz_encoder_packbits, packbits_in_c);
}

#if defined(TZ_HAVE_LIBDEFLATE)
static void deflate(void **state)
{
    (void)state;
    check_codec(&tz_decoder_deflate, &tz_encoder_deflate, inflate_in_c);
    assert_true(tz_device_decodes(test_device, 32946));
}
#endif

#if defined(TZ_HAVE_LZ4)
static void lz4(void **state)
{
    (void)state;
    check_codec(&tz_decoder_lz4, &tz_encoder_lz4, lz4_in_c);
}
#endif

#if defined(TZ_HAVE_ZSTD)
static void zstd(void **state)
{
    (void)state;
    check_codec(&tz_decoder_zstd, &tz_encoder_zstd, zstd_in_c);
}
#endif

/* ---- what a kernel would have to trust ---- */

static void refuse(const tz_decode_batch *batch, const char *text)
{
    tz_error err;
    tz_decode_report done;
    assert_int_equal(tz_decode_launch(batch, 0, &done, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, text));
}

static void refuse_tile(tz_decode_batch batch, tz_decode_entry tile, const char *text)
{
    batch.tiles = &tile;
    refuse(&batch, text);
}

static void wrong_places(void **state)
{
    (void)state;
    tz_error err;
    tz_decode_report done;
    uint8_t zeros[100] = {0};
    tz_device_memory *slab = NULL;
    assert_int_equal(tz_device_memory_alloc(&slab, test_device, 100, &err), TZ_OK);
    assert_int_equal(tz_device_upload(0, slab, 0, zeros, 100, &err), TZ_OK);
    const tz_decode_entry good = {.from = 28, .to = 48, .from_size = 20, .to_size = 52};
    const tz_decode_batch batch = {
        .compression = 32773, .slab = slab, .tiles = &good, .count = 1, .statuses = 24};
    assert_int_equal(tz_decode_launch(&batch, 0, &done, &err), TZ_OK);
    tz_decode_entry tile = good;
    tile.to_size = 53;
    refuse_tile(batch, tile, "the tile is not within the slab");
    tile.to = UINT64_MAX;
    refuse_tile(batch, tile, "the tile is not within the slab");
    tile = good;
    tile.from = UINT64_MAX;
    refuse_tile(batch, tile, "the stored bytes are not within the slab");
    tile.from_size = 0x80000000u;
    refuse_tile(batch, tile, "too large");
    tile = good;
    tile.from_size = 21;
    refuse_tile(batch, tile, "overlap");
    tile = good;
    tile.to = 20;
    refuse_tile(batch, tile, "overlap");
    tz_decode_batch other = batch;
    other.statuses = 26;
    refuse(&other, "not within the slab");
    other.statuses = 100;
    refuse(&other, "not within the slab");
    other.statuses = 28; /* is read */
    refuse(&other, "overlap");
    other = batch;
    other.table = 80;
    refuse(&other, "not within the slab");
    other = batch;
    other.compression = 1;
    refuse(&other, "do not decode");
    assert_false(tz_device_decodes(test_device, 1));
    const tz_decode_need ten = {.count = 10};
    assert_int_equal(tz_decode_scratch_bytes(test_device, 32773, &ten), 0);
    assert_int_equal(tz_device_sync(test_device, 0, &err), TZ_OK);
    tz_device_memory_free(slab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(TZ_HAVE_LIBDEFLATE)
        cmocka_unit_test(deflate),
#endif
#if defined(TZ_HAVE_LZ4)
        cmocka_unit_test(lz4),
#endif
        cmocka_unit_test(lzw),
        cmocka_unit_test(packbits),
#if defined(TZ_HAVE_ZSTD)
        cmocka_unit_test(zstd),
#endif
        cmocka_unit_test(wrong_places),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
