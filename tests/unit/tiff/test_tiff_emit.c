/* SPDX-License-Identifier: Apache-2.0
 * Directories to bytes: what is written reads back the same, by this library and by libtiff. */
#include <stdio.h>

#include "support/check.h"
#include "support/sized.h"
#include "support/spec_file.h"

static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
static const uint16_t shorts[] = {0x0102, 0x0304, 0x0506, 0x0708, 0x090a};
static const uint32_t longs[] = {0x01020304, 0x05060708, 0x090a0b0c, 1};
static const uint64_t wides[] = {0x0102030405060708, 0x090a0b0c0d0e0f10};
static const float floats[] = {1.5f, -2.25f, 0};
static const double doubles[] = {1.1, -2.2e-200};

/* A small grey image, with a value of every type that fits inline in some format or in none. The
 * size tags are set by the tests. */
static uint16_t width = 64, height = 64, eight = 8, one = 1;
static uint32_t tile = 16;
static const tz_tag_value tags[] = {
    SIZED_TAG(256, TZ_TYPE_SHORT, 1, &width),      SIZED_TAG(257, TZ_TYPE_SHORT, 1, &height),
    SIZED_TAG(258, TZ_TYPE_SHORT, 1, &eight),      SIZED_TAG(259, TZ_TYPE_SHORT, 1, &one),
    SIZED_TAG(262, TZ_TYPE_SHORT, 1, &one),        SIZED_TAG(322, TZ_TYPE_LONG, 1, &tile),
    SIZED_TAG(323, TZ_TYPE_LONG, 1, &tile),        SIZED_TAG(50001, TZ_TYPE_BYTE, 9, bytes),
    SIZED_TAG(50002, TZ_TYPE_BYTE, 3, bytes),      SIZED_TAG(50003, TZ_TYPE_ASCII, 5, "abcd"),
    SIZED_TAG(50004, TZ_TYPE_ASCII, 4, "abc"),     SIZED_TAG(50005, TZ_TYPE_SHORT, 1, shorts),
    SIZED_TAG(50006, TZ_TYPE_SHORT, 2, shorts),    SIZED_TAG(50007, TZ_TYPE_SHORT, 5, shorts),
    SIZED_TAG(50008, TZ_TYPE_LONG, 1, longs),      SIZED_TAG(50009, TZ_TYPE_LONG, 2, longs),
    SIZED_TAG(50010, TZ_TYPE_LONG, 3, longs),      SIZED_TAG(50011, TZ_TYPE_RATIONAL, 1, longs),
    SIZED_TAG(50012, TZ_TYPE_RATIONAL, 2, longs),  SIZED_TAG(50013, TZ_TYPE_SBYTE, 2, bytes),
    SIZED_TAG(50014, TZ_TYPE_UNDEFINED, 7, bytes), SIZED_TAG(50015, TZ_TYPE_SSHORT, 3, shorts),
    SIZED_TAG(50016, TZ_TYPE_SLONG, 2, longs),     SIZED_TAG(50017, TZ_TYPE_SRATIONAL, 1, longs),
    SIZED_TAG(50018, TZ_TYPE_FLOAT, 1, floats),    SIZED_TAG(50019, TZ_TYPE_FLOAT, 3, floats),
    SIZED_TAG(50020, TZ_TYPE_DOUBLE, 1, doubles),  SIZED_TAG(50021, TZ_TYPE_DOUBLE, 2, doubles),
    SIZED_TAG(50022, TZ_TYPE_LONG8, 1, wides),     SIZED_TAG(50023, TZ_TYPE_LONG8, 2, wides),
    SIZED_TAG(50024, TZ_TYPE_SLONG8, 1, wides),
};
enum { TAGS = sizeof tags / sizeof tags[0], TILES = 16 };

static uint64_t offsets[TILES];
static uint32_t sizes[TILES];

static int fill_tables(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TILES; i++) {
        offsets[i] = 16 + 3u * i;
        sizes[i] = i;
    }
    return check_begin(state);
}

static tz_emit_ifd tiled_image(void)
{
    return (tz_emit_ifd){.tags = tags,
                         .tag_count = TAGS,
                         .tile_count = TILES,
                         .tile_offsets = offsets,
                         .tile_sizes = sizes};
}

static void make(emitted *file, const tz_emit_ifd *directories, size_t count, unsigned format,
                 size_t room)
{
    bench b;
    bench_init(&b);
    *file = (emitted){0};
    assert_int_equal(emitted_make(file, directories, count, format, 1040, room, &b.ctx), TZ_OK);
    assert_int_equal(file->next, file->size);
    assert_true(file->most <= room);
    bench_deinit(&b);
}

static void check_tag(const tz_file *handle, const tz_tag_value *wanted)
{
    const tz_tag found = check_find_tag(handle, wanted->tag);
    const size_t size = (size_t)wanted->count * tz_type_size(wanted->type);
    uint8_t data[128];
    tz_error err;
    assert_int_equal(found.type, wanted->type);
    assert_true(found.count == wanted->count && found.size == size && size <= sizeof data);
    assert_int_equal(tz_tag_read(data, sizeof data, handle, &found, &err), TZ_OK);
    assert_memory_equal(data, wanted->data, size);
    const bool wide = tz_file_get_info(handle)->bigtiff;
    if (size > (wide ? 8 : 4))
        assert_int_equal(found.offset % (wide ? 8 : 2), 0);
}

static void check_tables(const tz_file *handle, uint32_t level, const tz_emit_ifd *directory)
{
    tz_error err;
    for (uint64_t i = 0; i < directory->tile_count; i++) {
        tz_tile_span span;
        assert_int_equal(tz_file_get_tile_spans(&span, handle, level, false, i, 1, &err), TZ_OK);
        assert_true(span.offset == directory->tile_offsets[i]);
        assert_true(span.size == directory->tile_sizes[i]);
    }
}

static void values_of_every_type_read_back(void **state)
{
    (void)state;
    const tz_emit_ifd directory = tiled_image();
    FORMATS(f)
    {
        emitted file;
        make(&file, &directory, 1, f, 4096);
        tz_file *handle = spec_file_open(&file);
        const tz_info *info = tz_file_get_info(handle);
        assert_int_equal(info->bigtiff, (f & TB_BIGTIFF) != 0);
        assert_int_equal(info->big_endian, (f & TB_BIG_ENDIAN) != 0);
        assert_int_equal(tz_file_get_level(handle, 0)->tag_count, TAGS + 2);
        assert_int_equal(tz_file_get_level(handle, 0)->ifd_offset % 8, 0);
        for (unsigned i = 0; i < TAGS; i++)
            check_tag(handle, &tags[i]);
        check_tables(handle, 0, &directory);
        tz_close(handle);
        emitted_free(&file);
    }
}

/* The bytes do not depend on the buffer, however narrow. */
static void buffers_of_any_size_give_the_same_bytes(void **state)
{
    (void)state;
    const tz_emit_ifd directories[] = {tiled_image(), tiled_image()};
    FORMATS(f)
    {
        emitted whole;
        make(&whole, directories, 2, f, 1 << 16);
        assert_int_equal(whole.pieces, 1);
        for (size_t room = 64; room < 200; room += 17) {
            emitted pieces;
            make(&pieces, directories, 2, f, room);
            assert_int_equal(pieces.size, whole.size);
            assert_memory_equal(pieces.data, whole.data, whole.size);
            emitted_free(&pieces);
        }
        emitted_free(&whole);
    }
}

/* Strip tables stand among the other tags: some come between the two. */
static void check_strips(uint16_t strips, const uint64_t *at, const uint32_t *bytes_of, bool large,
                         unsigned format)
{
    const uint16_t rows = 1;
    const tz_tag_value list[] = {
        SIZED_TAG(256, TZ_TYPE_SHORT, 1, &width), SIZED_TAG(257, TZ_TYPE_SHORT, 1, &strips),
        SIZED_TAG(258, TZ_TYPE_SHORT, 1, &eight), SIZED_TAG(259, TZ_TYPE_SHORT, 1, &one),
        SIZED_TAG(262, TZ_TYPE_SHORT, 1, &one),   SIZED_TAG(277, TZ_TYPE_SHORT, 1, &one),
        SIZED_TAG(278, TZ_TYPE_SHORT, 1, &rows),  SIZED_TAG(284, TZ_TYPE_SHORT, 1, &one)};
    const tz_emit_ifd directory = {.tags = list,
                                   .tag_count = sizeof list / sizeof list[0],
                                   .strips = true,
                                   .tile_count = strips,
                                   .tile_offsets = at,
                                   .tile_sizes = bytes_of};
    emitted file;
    make(&file, &directory, 1, format, 64);
    tz_file *handle = spec_file_open(&file);
    check_tables(handle, 0, &directory);
    const tz_tag counts = check_find_tag(handle, TZ_TAG_STRIP_BYTE_COUNTS);
    assert_int_equal(counts.type, large ? TZ_TYPE_LONG : TZ_TYPE_SHORT);
    tz_close(handle);
    emitted_free(&file);
}

static void tables_of_every_length(void **state)
{
    (void)state;
    enum { MOST = 1000 };
    static uint64_t at[MOST];
    static uint32_t bytes_of[MOST];
    for (unsigned i = 0; i < MOST; i++) {
        at[i] = 16 + 0x01020304u * (i % 7);
        bytes_of[i] = 65535 - i;
    }
    FORMATS(f)
    {
        for (unsigned large = 0; large < 2; large++) {
            bytes_of[0] = large ? 65536 : 65535;
            for (uint16_t strips = 1; strips <= 17; strips++)
                check_strips(strips, at, bytes_of, large, f);
            for (uint16_t strips = 255; strips <= 257; strips++)
                check_strips(strips, at, bytes_of, large, f);
            check_strips(MOST, at, bytes_of, large, f);
        }
    }
}

/* Directories with their values come first, one after the other, then the tables of all. */
static void directories_come_before_tables(void **state)
{
    (void)state;
    uint32_t reduced = 1;
    tz_tag_value list[TAGS + 1];
    list[0] = (tz_tag_value)SIZED_TAG(254, TZ_TYPE_LONG, 1, &reduced);
    memcpy(list + 1, tags, sizeof tags);
    uint16_t half = 32;
    list[1].data = list[2].data = &half;
    const tz_emit_ifd directories[] = {
        tiled_image(), {list, TAGS + 1, false, 4, offsets + 1, sizes + 1}, tiled_image()};
    FORMATS(f)
    {
        emitted file;
        make(&file, directories, 3, f, 4096);
        tz_file *handle = spec_file_open(&file);
        const tz_info *info = tz_file_get_info(handle);
        assert_int_equal(info->ifd_count, 3);
        assert_int_equal(info->level_count, 2);
        assert_int_equal(info->page_count, 2);
        check_tables(handle, 0, &directories[0]);
        check_tables(handle, 1, &directories[1]);
        const tz_tag table = check_find_tag(handle, TZ_TAG_TILE_OFFSETS);
        assert_true(table.offset >= info->directory_end);
        assert_true(tz_file_get_level(handle, 0)->ifd_offset <
                    tz_file_get_level(handle, 1)->ifd_offset);
        tz_close(handle);
        emitted_free(&file);
    }
}

/* A plan, which knows no sizes yet, counts what they may become. */
static void size_without_tables_is_enough(void **state)
{
    (void)state;
    tz_emit_ifd known = tiled_image(), unknown = tiled_image();
    sizes[0] = UINT32_MAX;
    unknown.tile_offsets = NULL;
    unknown.tile_sizes = NULL;
    FORMATS(f)
    {
        const tz_emit_options how = emitted_how(f, 16);
        assert_true(tz_emit_size(&known, 1, &how) == tz_emit_size(&unknown, 1, &how));
    }
    const tz_emit_options how = emitted_how(TB_BIGTIFF, 16);
    unknown.tile_count = UINT64_MAX / 4;
    assert_true(tz_emit_size(&unknown, 1, &how) == TZ_NO_VALUE);
}

static void classic_files_end_before_4_gib(void **state)
{
    (void)state;
    bench b;
    const tz_emit_ifd directory = tiled_image();
    uint8_t buffer[64];
    tz_emit_options how = emitted_how(0, UINT64_C(0xFFFFFFF0));
    emitted file = {0};
    bench_init(&b);
    assert_int_equal(tz_emit_directories(&directory, 1, &how, buffer, sizeof buffer, emitted_write,
                                         &file, &b.ctx),
                     TZ_ERR_ARG);
    assert_non_null(strstr(b.err.message, "too large for classic TIFF; write BigTIFF"));
    how.start = 16;
    offsets[3] = UINT64_C(1) << 32;
    assert_int_equal(tz_emit_directories(&directory, 1, &how, buffer, sizeof buffer, emitted_write,
                                         &file, &b.ctx),
                     TZ_ERR_ARG);
    assert_int_equal(file.pieces, 0);
    bench_deinit(&b);
}

static void a_write_that_fails_ends_it(void **state)
{
    (void)state;
    const tz_emit_ifd directory = tiled_image();
    bench b;
    bench_init(&b);
    tz_result result = TZ_ERR_IO;
    for (size_t n = 1; result != TZ_OK; n++) {
        emitted file = {.fail_at = n};
        result = emitted_make(&file, &directory, 1, TB_BIGTIFF, 16, 64, &b.ctx);
        if (result != TZ_OK) {
            assert_int_equal(result, TZ_ERR_IO);
            assert_int_equal(file.pieces, n);
        }
        emitted_free(&file);
    }
    bench_deinit(&b);
}

/* libtiff's own tool prints every entry and finds nothing to complain about. */
static void tiffdump_prints_it(void **state)
{
    (void)state;
    const tz_emit_ifd directory = tiled_image();
    char path[CHECK_PATH_SIZE], line[512], command[CHECK_PATH_SIZE + 64];
    if (system("command -v tiffdump > /dev/null 2>&1") != 0) {
        print_message("skip: tiffdump is not installed\n");
        skip();
    }
    check_path(path, "emitted.tif");
    FORMATS(f)
    {
        emitted file;
        make(&file, &directory, 1, f, 4096);
        FILE *out = fopen(path, "wb");
        assert_non_null(out);
        assert_int_equal(fwrite(file.data, 1, file.size, out), file.size);
        assert_int_equal(fclose(out), 0);
        snprintf(command, sizeof command, "tiffdump -m 20 '%s' 2>&1", path);
        FILE *dump = popen(command, "r");
        unsigned entries = 0, tables = 0;
        assert_non_null(dump);
        while (fgets(line, sizeof line, dump)) {
            entries += strstr(line, "50011 (0xc35b) RATIONAL (5) 1<") != NULL ||
                       strstr(line, "50021 (0xc365) DOUBLE (12) 2<1.1 -2.2e-200>") != NULL ||
                       strstr(line, "50003 (0xc353) ASCII (2) 5<abcd\\0>") != NULL;
            tables += strstr(line, "16<16 19 22 25 28 31 34") != NULL ||
                      strstr(line, "16<0 1 2 3 4 5 6 7 8") != NULL;
            assert_null(strstr(line, "arning"));
            assert_null(strstr(line, "rror"));
        }
        assert_int_equal(pclose(dump), 0);
        assert_int_equal(entries, 3);
        assert_int_equal(tables, 2);
        emitted_free(&file);
    }
    check_remove(path);
}

#define EMIT(test) cmocka_unit_test_setup(test, fill_tables)
int main(void)
{
    const struct CMUnitTest tests[] = {
        EMIT(values_of_every_type_read_back), EMIT(buffers_of_any_size_give_the_same_bytes),
        EMIT(tables_of_every_length),         EMIT(directories_come_before_tables),
        EMIT(size_without_tables_is_enough),  EMIT(classic_files_end_before_4_gib),
        EMIT(a_write_that_fails_ends_it),     EMIT(tiffdump_prints_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
