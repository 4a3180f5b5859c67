/* SPDX-License-Identifier: Apache-2.0
 * Old-style JPEG: every form gives libjpeg's pixels; what is wrong with a file is an error. */
#include "support/codec/lossless_jpeg.h"
#include "support/codec/old_jpeg_file.h"
#include "support/plain_read.h"

typedef struct outcome {
    tz_result result;
    tz_error err;
    uint32_t warnings; /* of opening and of reading */
    uint8_t pixels[OLD_WIDTH * OLD_HEIGHT * 3];
} outcome;

static void read_file(outcome *out, const old_file *f, unsigned samples, bool strict)
{
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    plain_report report = {0};
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_file *file = NULL;
    options.strict = strict;
    how.threads = 1;
    *out = (outcome){.result = TZ_OK};
    memset(out->pixels, 0xA5, sizeof out->pixels);
    out->result = tz_open_memory(&file, f->data, f->size, &options, &out->err);
    if (out->result != TZ_OK)
        return;
    const tz_info *info = tz_file_get_info(file);
    const plain_item item = {.file = file,
                             .window = {0, 0, OLD_WIDTH, OLD_HEIGHT},
                             .into = {.data = out->pixels,
                                      .dtype = TZ_DTYPE_UINT8,
                                      .bands = samples,
                                      .height = OLD_HEIGHT,
                                      .width = OLD_WIDTH,
                                      .band_stride = 1,
                                      .row_stride = (int64_t)OLD_WIDTH * samples,
                                      .column_stride = samples}};
    out->result = plain_read(&item, &how, &report, &out->err);
    out->warnings = info->warning_count + report.warning_count;
    tz_close(file);
}

/* The file has these pixels, and that many warnings. The file is freed. */
static void check_pixels(old_file *f, unsigned samples, const uint8_t *expected, uint32_t warnings)
{
    outcome out;
    read_file(&out, f, samples, false);
    if (out.result != TZ_OK)
        fail_msg("%s", out.err.message);
    assert_memory_equal(out.pixels, expected, (size_t)OLD_WIDTH * OLD_HEIGHT * samples);
    assert_int_equal(out.warnings, warnings);
    free(f->data);
}

static void check_refused(old_file *f, unsigned samples, tz_result result, tz_cause cause,
                          int32_t tag)
{
    outcome out;
    read_file(&out, f, samples, false);
    if (out.result != result || out.err.cause != cause || out.err.tag != tag)
        print_error("%s, %s, tag %d: %s\n", tz_result_name(out.result),
                    tz_cause_name(out.err.cause), out.err.tag,
                    out.result == TZ_OK ? "" : out.err.message);
    assert_int_equal(out.result, result);
    assert_int_equal(out.err.cause, cause);
    assert_int_equal(out.err.tag, tag);
    free(f->data);
}

/* ---- forms ---- */

static void table_tags(old_file *f, const old_picture *p)
{
    old_begin(f, p->samples, 8);
    old_put_tables(f, p);
    old_put_strips(f, p, 0);
}

static void tables_in_tags(void **state)
{
    (void)state;
    for (unsigned samples = 1; samples <= 3; samples += 2) {
        old_picture p = old_picture_make(samples);
        old_file f;
        table_tags(&f, &p);
        old_finish(&f);
        check_pixels(&f, samples, p.strip_pixels, 0);
        old_begin(&f, samples, 8);
        old_put_tables(&f, &p);
        const uint32_t size = (uint32_t)old_data_size(&p.whole);
        const uint32_t at = old_put(&f, p.whole.data + old_data_at(&p.whole), size);
        old_set_strips(&f, 1, &at, &size);
        old_finish(&f);
        check_pixels(&f, samples, p.whole_pixels, 0);
        old_picture_free(&p);
    }
}

/* A tile wider and higher than the image. */
static void tables_in_tags_of_a_tile(void **state)
{
    (void)state;
    old_picture p = old_picture_make(3);
    const recipe r = {.width = 48, .height = 48, YCBCR, .h = 2, .v = 2};
    uint8_t *pixels = run_picture(48, 48, 3);
    stream s = encode(&r, pixels);
    uint8_t *expected = reference(&r, &s);
    for (size_t y = 1; y < OLD_HEIGHT; y++)
        memmove(expected + y * OLD_WIDTH * 3, expected + y * 48 * 3, OLD_WIDTH * 3);
    old_file f;
    old_begin(&f, 3, 8);
    old_put_tables(&f, &p);
    OLD_SET(&f, 322, OLD_LONG, 48);
    OLD_SET(&f, 323, OLD_LONG, 48);
    OLD_SET(&f, 325, OLD_LONG, (uint32_t)old_data_size(&s));
    OLD_SET(&f, 324, OLD_LONG, old_put(&f, s.data + old_data_at(&s), old_data_size(&s)));
    old_finish(&f);
    check_pixels(&f, 3, expected, 0);
    free(expected);
    free(pixels);
    free_stream(&s);
    old_picture_free(&p);
}

/* The strip is the stream, its data, or something inside of it, or is not there. */
static void one_stream(void **state)
{
    (void)state;
    for (unsigned samples = 1; samples <= 3; samples += 2)
        for (unsigned form = 0; form < 5; form++) {
            old_picture p = old_picture_make(samples);
            old_file f;
            old_begin(&f, samples, 8);
            const uint32_t at = old_put_stream(&f, &p.whole, p.whole.size);
            const uint32_t data = at + (uint32_t)old_data_at(&p.whole);
            const uint32_t offsets[] = {at, data, data - 3, data, 0};
            const uint32_t sizes[] = {(uint32_t)p.whole.size, (uint32_t)old_data_size(&p.whole), 20,
                                      (uint32_t)old_data_size(&p.whole), 0};
            if (form < 4)
                old_set_strips(&f, 1, &offsets[form], &sizes[form]);
            if (form == 3) /* the strip is what there is */
                old_remove(&f, 514);
            old_finish(&f);
            check_pixels(&f, samples, p.whole_pixels, form == 4);
            old_picture_free(&p);
        }
}

/* Headers are a stream of their own, with the scan header or without; strips are data. */
static void headers_apart(void **state)
{
    (void)state;
    for (unsigned samples = 1; samples <= 3; samples += 2)
        for (unsigned form = 0; form < 2; form++) {
            old_picture p = old_picture_make(samples);
            const stream *s = &p.strips[0];
            const size_t scan_size = old_data_at(s) - find_marker(s, SOS, 0);
            old_file f;
            old_begin(&f, samples, 8);
            old_put_stream(&f, s, old_data_at(s) - (form == 0 ? 0 : scan_size));
            old_put_strips(&f, &p, form == 0 ? 0 : scan_size);
            old_finish(&f);
            check_pixels(&f, samples, p.strip_pixels, 0);
            old_picture_free(&p);
        }
}

/* The first two strips as one stream with a restart marker between them, by libjpeg. */
static uint8_t *join_with_restart(const old_picture *p)
{
    static const uint8_t interval[] = {0xFF, 0xDD, 0, 4, 0, 3};
    const stream *first = &p->strips[0], *second = &p->strips[1];
    stream s = {.data = run_alloc(first->size), .size = first->size - 2};
    memcpy(s.data, first->data, s.size);
    insert(&s, s.size, "\xFF\xD0", 2);
    insert(&s, s.size, second->data + old_data_at(second), old_data_size(second) + 2);
    insert(&s, find_marker(&s, SOS, 0), interval, sizeof interval);
    s.data[find_marker(&s, SOF0, 0) + 6] = 2 * OLD_ROWS;
    const recipe r = old_recipe(p->samples, 2 * OLD_ROWS);
    uint8_t *pixels = reference(&r, &s);
    free_stream(&s);
    return pixels;
}

static void strips_between_restart_markers(void **state)
{
    (void)state;
    for (unsigned in_stream = 0; in_stream < 2; in_stream++) {
        old_picture p = old_picture_make(3);
        old_file f;
        old_begin(&f, 3, 8);
        old_put_restarts(&f, &p, in_stream);
        old_finish(&f);
        uint8_t *upper = join_with_restart(&p);
        memcpy(p.strip_pixels, upper, (size_t)2 * OLD_ROWS * OLD_WIDTH * 3);
        check_pixels(&f, 3, p.strip_pixels, 0);
        free(upper);
        old_picture_free(&p);
    }
}

static void strips_that_are_whole_streams(void **state)
{
    (void)state;
    old_picture p = old_picture_make(3);
    uint32_t offsets[OLD_STRIPS], sizes[OLD_STRIPS];
    old_file f;
    old_begin(&f, 3, 8);
    for (unsigned i = 0; i < OLD_STRIPS; i++) {
        sizes[i] = (uint32_t)p.strips[i].size;
        offsets[i] = old_put(&f, p.strips[i].data, sizes[i]);
    }
    old_set_strips(&f, OLD_STRIPS, offsets, sizes);
    old_finish(&f);
    check_pixels(&f, 3, p.strip_pixels, 0);
    old_picture_free(&p);
}

static void lossless(void **state)
{
    (void)state;
    const lossless_recipe r = {.width = OLD_WIDTH,
                               .height = OLD_HEIGHT,
                               .components = 1,
                               .precision = 8,
                               .predictor = 4,
                               .shift = 1};
    uint8_t *pixels = run_picture(OLD_WIDTH, OLD_HEIGHT, 1);
    uint16_t samples[OLD_WIDTH * OLD_HEIGHT];
    for (size_t i = 0; i < OLD_WIDTH * OLD_HEIGHT; i++)
        samples[i] = pixels[i] = pixels[i] & 0xFE;
    lossless_stream s = lossless_encode(&r, samples);
    const stream view = {.data = s.data, .size = s.size};
    old_file f;
    old_begin(&f, 1, 8);
    OLD_SET(&f, 512, OLD_SHORT, 14);
    OLD_SET(&f, 517, OLD_SHORT, 4);
    OLD_SET(&f, 518, OLD_SHORT, 1);
    OLD_SET(&f, 520, OLD_LONG, old_put(&f, s.tables + 7, s.tables_size - 9));
    const uint32_t size = (uint32_t)old_data_size(&view);
    const uint32_t at = old_put(&f, s.data + old_data_at(&view), size);
    old_set_strips(&f, 1, &at, &size);
    old_finish(&f);
    check_pixels(&f, 1, pixels, 0);
    free(pixels);
    free(s.data);
}

/* ---- what libtiff puts up with ---- */

static void repairs_are_warnings(void **state)
{
    (void)state;
    old_picture p = old_picture_make(3);
    static const uint16_t tags[] = {262, 258, 277};
    for (size_t i = 0; i < 7; i++) {
        old_file f;
        table_tags(&f, &p);
        if (i < 3)
            old_remove(&f, tags[i]);
        if (i == 3)
            OLD_SET(&f, 262, OLD_SHORT, 2);
        if (i == 4) /* the last colour has the table of the one before */
            for (size_t k = 0; k < f.entry_count; k++)
                f.entries[k].count = f.entries[k].tag == 519 ? 2 : f.entries[k].count;
        if (i == 5)
            OLD_SET(&f, 513, OLD_LONG, 0x7FFFFFFF);
        if (i == 6) { /* the stream's length is wrong */
            free(f.data);
            old_begin(&f, 3, 8);
            old_put_stream(&f, &p.strips[0], old_data_at(&p.strips[0]));
            old_put_strips(&f, &p, 0);
            OLD_SET(&f, 514, OLD_LONG, UINT32_MAX);
            OLD_SET(&f, 515, OLD_SHORT, 3);
        }
        old_finish(&f);
        outcome strict;
        read_file(&strict, &f, 3, true);
        assert_int_equal(strict.result, TZ_ERR_FORMAT);
        check_pixels(&f, 3, p.strip_pixels, 1);
    }
    old_picture_free(&p);
}

/* A stream whose frame is padded to whole units: what is beyond the image is left out. */
static void a_padded_frame_is_cut(void **state)
{
    (void)state;
    const recipe padded = {.width = 48, .height = 48, YCBCR, .h = 2, .v = 2};
    const recipe r = old_recipe(3, OLD_HEIGHT);
    uint8_t *pixels = run_picture(48, 48, 3);
    stream s = encode(&padded, pixels);
    old_file f;
    old_begin(&f, 3, 8);
    OLD_SET(&f, 514, OLD_LONG, (uint32_t)s.size);
    OLD_SET(&f, 513, OLD_LONG, old_put(&f, s.data, s.size));
    const uint32_t at = 8, size = (uint32_t)s.size;
    old_set_strips(&f, 1, &at, &size);
    old_finish(&f);
    const size_t frame = find_marker(&s, SOF0, 0);
    s.data[frame + 6] = OLD_HEIGHT;
    s.data[frame + 8] = OLD_WIDTH;
    uint8_t *expected = reference(&r, &s);
    check_pixels(&f, 3, expected, 1);
    free(expected);
    free(pixels);
    free_stream(&s);
}

/* ---- hostile ---- */

static void set_first(old_file *f, uint16_t tag, uint32_t value)
{
    for (size_t i = 0; i < f->entry_count; i++)
        if (f->entries[i].tag == tag)
            f->entries[i].values[0] = value;
}

static void table_offsets_are_checked(void **state)
{
    (void)state;
    old_picture p = old_picture_make(3);
    static const uint32_t offsets[] = {1, 7, 0x7FFFFFFF, UINT32_MAX};
    for (uint16_t tag = 519; tag <= 521; tag++)
        for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
            old_file f;
            table_tags(&f, &p);
            set_first(&f, tag, offsets[i]);
            old_finish(&f);
            check_refused(&f, 3, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED, tag);
        }
    for (uint16_t tag = 519; tag <= 521; tag++) {
        old_file f;
        table_tags(&f, &p);
        old_remove(&f, tag);
        old_finish(&f);
        check_refused(&f, 3, TZ_ERR_FORMAT, TZ_CAUSE_CODEC, tag);
        table_tags(&f, &p); /* more tables than the file has bytes */
        old_finish(&f);
        for (size_t k = 0; k < f.entry_count; k++)
            if (f.entries[k].tag == tag)
                memset(f.data + f.size - 4 - 12 * (f.entry_count - k) + 4, 255, 4);
        check_refused(&f, 3, TZ_ERR_FORMAT, TZ_CAUSE_CODEC, tag);
        table_tags(&f, &p); /* the table is at the end of the file and is cut off */
        old_finish(&f);
        const size_t field = f.size - 4 - 12 * f.entry_count;
        for (size_t k = 0; k < f.entry_count; k++)
            if (f.entries[k].tag == tag) {
                const uint8_t *entry = f.data + field + 12 * k + 8;
                const size_t at = (size_t)entry[0] | (size_t)entry[1] << 8 | (size_t)entry[2] << 16;
                const uint32_t last = (uint32_t)f.size - 10;
                memcpy(f.data + at,
                       &(const uint8_t[]){(uint8_t)last, (uint8_t)(last >> 8),
                                          (uint8_t)(last >> 16), 0},
                       4);
            }
        check_refused(&f, 3, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED, tag);
    }
    old_picture_free(&p);
}

static void tables_of_nonsense_are_refused(void **state)
{
    (void)state;
    old_picture p = old_picture_make(1);
    uint8_t ones[600], zeros[600] = {0};
    memset(ones, 255, sizeof ones);
    for (uint16_t tag = 520; tag <= 521; tag++)
        for (unsigned i = 0; i < 2; i++) {
            old_file f;
            table_tags(&f, &p);
            set_first(&f, tag, old_put(&f, i == 0 ? ones : zeros, sizeof ones));
            old_finish(&f);
            check_refused(&f, 1, TZ_ERR_FORMAT, TZ_CAUSE_CODEC, tag);
        }
    old_picture_free(&p);
}

static void what_is_not_supported_is_named(void **state)
{
    (void)state;
    old_picture p = old_picture_make(3);
    old_file f;
    table_tags(&f, &p);
    OLD_SET(&f, 512, OLD_SHORT, 2);
    old_finish(&f);
    check_refused(&f, 3, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, 512);
    table_tags(&f, &p);
    OLD_SET(&f, 512, OLD_SHORT, 14);
    OLD_SET(&f, 517, OLD_SHORT, 1, 2, 1);
    old_finish(&f);
    check_refused(&f, 3, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, 517);
    table_tags(&f, &p); /* three planes of one strip */
    OLD_SET(&f, 284, OLD_SHORT, 2);
    OLD_SET(&f, 278, OLD_LONG, OLD_HEIGHT);
    old_finish(&f);
    check_refused(&f, 3, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, 284);
    old_begin(&f, 3, 8); /* one stream without restart markers in several strips */
    const uint32_t at = old_put_stream(&f, &p.whole, p.whole.size);
    const uint32_t data = at + (uint32_t)old_data_at(&p.whole);
    old_set_strips(&f, 3, (const uint32_t[]){data, data + 20, data + 40},
                   (const uint32_t[]){20, 20, 20});
    old_finish(&f);
    check_refused(&f, 3, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, 513);
    old_picture_free(&p);
}

/* Each byte of the headers in the stream, and each one of the directory, is another: an error, or
 * pixels that do not depend on what was in memory. */
static void damage(void **state)
{
    (void)state;
    static const uint8_t values[] = {0, 1, 0x7F, 0xDA, 0xFF};
    old_picture p = old_picture_make(1);
    for (unsigned form = 0; form < 3; form++) {
        old_file f;
        if (form == 0) {
            table_tags(&f, &p);
        } else {
            old_begin(&f, 1, 8);
            const stream *s = form == 1 ? &p.strips[0] : &p.whole;
            old_put_stream(&f, s, form == 1 ? old_data_at(s) : s->size);
            if (form == 1)
                old_put_strips(&f, &p, 0);
        }
        old_finish(&f);
        for (size_t i = 8; i < f.size; i += 1 + i % 3)
            for (size_t k = 0; k < sizeof values; k++) {
                const uint8_t before = f.data[i];
                f.data[i] = values[k];
                static outcome out;
                read_file(&out, &f, 1, false);
                assert_true(out.result != TZ_ERR_INTERNAL);
                f.data[i] = before;
            }
        for (size_t size = 0; size < f.size; size += 7) {
            const old_file cut = {.data = f.data, .size = size};
            static outcome out;
            read_file(&out, &cut, 1, false);
            assert_true(out.result != TZ_OK);
        }
        free(f.data);
    }
    old_picture_free(&p);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    old_picture p = old_picture_make(3);
    old_file f;
    table_tags(&f, &p);
    old_finish(&f);
    for (uint64_t n = 1;; n++) {
        static outcome out;
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        read_file(&out, &f, 3, false);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        if (out.result == TZ_OK) /* on a device, some memory can be done without */
            assert_memory_equal(out.pixels, p.strip_pixels, sizeof out.pixels);
        else
            assert_int_equal(out.result, stats.failures > 0 ? TZ_ERR_NOMEM : TZ_OK);
        if (stats.failures == 0)
            break;
    }
    free(f.data);
    old_picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_in_tags),
        cmocka_unit_test(tables_in_tags_of_a_tile),
        cmocka_unit_test(one_stream),
        cmocka_unit_test(headers_apart),
        cmocka_unit_test(strips_between_restart_markers),
        cmocka_unit_test(strips_that_are_whole_streams),
        cmocka_unit_test(lossless),
        cmocka_unit_test(repairs_are_warnings),
        cmocka_unit_test(a_padded_frame_is_cut),
        cmocka_unit_test(table_offsets_are_checked),
        cmocka_unit_test(tables_of_nonsense_are_refused),
        cmocka_unit_test(what_is_not_supported_is_named),
        cmocka_unit_test(damage),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
