/* SPDX-License-Identifier: Apache-2.0
 * Hostile files, cases 66 to 72: nodata, GDAL metadata, huge profiles, ghost areas, masks,
 * overviews. All of these are warnings: the pixels of the image stay readable. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/sized.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static tb *gray(unsigned format)
{
    tb *b = tb_new(format);
    tb_gray(b, 64, 64);
    return b;
}

/* One warning; the tile is found as ever. */
static tz_file *check_harmless_open(tb *b, const check_defect *defect)
{
    if (!b->finished)
        tb_finish(b);
    tz_file *file = check_warns(b, NULL, defect);
    assert_true(tz_file_get_level(file, 0)->readable);
    check_locates(file, 0, 0, tb_tile_at(b, 0, 0), tb_tile_size(b, 0, 0));
    return file;
}

static void check_harmless(tb *b, const check_defect *defect)
{
    check_close(check_harmless_open(b, defect));
    tb_free(b);
}

/* ---- 66: nodata ---- */

static tb *with_nodata(unsigned format, uint16_t bits, uint16_t sample_format, const char *text)
{
    tb *b = tb_new(format);
    tb_image(b, &(tb_spec){.bits = bits, .sample_format = sample_format});
    tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, text);
    return b;
}

/* The warning, and the value that is left (NULL: none). */
static void check_bad_nodata(unsigned format, uint16_t bits, uint16_t sample_format,
                             const char *text, const double *left)
{
    tb *b = with_nodata(format, bits, sample_format, text);
    tz_file *file =
        check_harmless_open(b, DEFECT(FORMAT, META, .tag = TZ_TAG_GDAL_NODATA, .text = text));
    const tz_nodata *nodata = &tz_file_get_info(file)->nodata;
    assert_int_equal(nodata->kind, left ? TZ_NODATA_KIND_FLOAT : TZ_NODATA_KIND_NONE);
    if (left)
        assert_true(isnan(*left) ? isnan(nodata->value.f) : nodata->value.f == *left);
    assert_string_equal(tz_file_get_info(file)->nodata_text, text);
    check_close(file);
    tb_free(b);
}

static tz_nodata good_nodata(unsigned format, uint16_t bits, uint16_t sample_format,
                             const char *text)
{
    tb *b = with_nodata(format, bits, sample_format, text);
    tb_finish(b);
    tz_file *file = check_opens(b, NULL);
    tz_nodata nodata = tz_file_get_info(file)->nodata;
    check_close(file);
    tb_free(b);
    return nodata;
}

static void case_66_nodata_that_is_no_number(void **state)
{
    (void)state;
    static const char *const texts[] = {"abc", "-", "0x10", "--1", "e5", "\"5\""};
    FORMATS(f)
    for (size_t i = 0; i < COUNT(texts); i++)
        if (strcmp(texts[i], "0x10") != 0)
            check_bad_nodata(f, 8, 1, texts[i], NULL);
}

static void case_66_nodata_out_of_range(void **state)
{
    (void)state;
    static const double infinity = INFINITY, nan_value = NAN, large = 256, negative = -1,
                        two_64 = 18446744073709551616.0, two_63 = 9223372036854775808.0,
                        huge = 1e39, half = 0.5;
    FORMATS(f)
    {
        check_bad_nodata(f, 8, 1, "256", &large);
        check_bad_nodata(f, 8, 1, "-1", &negative);
        check_bad_nodata(f, 8, 1, "0.5", &half);
        check_bad_nodata(f, 8, 1, "nan", &nan_value);
        check_bad_nodata(f, 8, 1, "-nan", &nan_value);
        check_bad_nodata(f, 64, 1, "18446744073709551616", &two_64);
        check_bad_nodata(f, 64, 2, "9223372036854775808", &two_63);
        check_bad_nodata(f, 32, 3, "1e39", &huge);
        check_bad_nodata(f, 64, 3, "1e999", &infinity);
    }
}

static void case_66_nodata_empty_is_none(void **state)
{
    (void)state;
    FORMATS(f)
    {
        assert_int_equal(good_nodata(f, 8, 1, "").kind, TZ_NODATA_KIND_NONE);
        assert_int_equal(good_nodata(f, 8, 1, "  ").kind, TZ_NODATA_KIND_NONE);
        assert_int_equal(good_nodata(f, 32, 3, "").kind, TZ_NODATA_KIND_NONE);
    }
}

static void case_66_nodata_of_ten_megabytes(void **state)
{
    (void)state;
    size_t size = 10000000;
    char *text = malloc(size);
    memset(text, '1', size);
    FORMATS(f)
    {
        tb *b = gray(f);
        tb_set_bytes(b, 0, TZ_TAG_GDAL_NODATA, TZ_TYPE_ASCII, size, text, size);
        tb_finish(b);
        tz_file *file = check_harmless_open(
            b, DEFECT(FORMAT, META, .tag = TZ_TAG_GDAL_NODATA,
                      .offset = tb_data_at(b, 0, TZ_TAG_GDAL_NODATA), .found = size));
        assert_int_equal(tz_file_get_info(file)->nodata.kind, TZ_NODATA_KIND_NONE);
        assert_true(tz_file_get_info(file)->bytes_read < 100000);
        check_close(file);
        tb_free(b);
    }
    free(text);
}

static void case_66_nodata_of_64_bits_is_exact(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tz_nodata n = good_nodata(f, 64, 2, "9007199254740993");
        assert_int_equal(n.kind, TZ_NODATA_KIND_INT);
        assert_true(n.value.i == 9007199254740993);
        n = good_nodata(f, 64, 2, "-9223372036854775808");
        assert_int_equal(n.kind, TZ_NODATA_KIND_INT);
        assert_true(n.value.i == INT64_MIN);
        n = good_nodata(f, 64, 1, "18446744073709551615");
        assert_int_equal(n.kind, TZ_NODATA_KIND_UINT);
        assert_true(n.value.u == UINT64_MAX);
        n = good_nodata(f, 32, 3, "-nan");
        assert_int_equal(n.kind, TZ_NODATA_KIND_FLOAT);
        assert_true(isnan(n.value.f));
    }
}

/* ---- 67: GDAL metadata ---- */

#define XML(text) "<GDALMetadata>" text "</GDALMetadata>"

static bool have_expat(void)
{
    return tz_build_feature("expat") != NULL;
}

/* The one warning is this one, or the one that says that metadata is not read at all. */
static void check_metadata(unsigned format, const tz_open_options *options, const char *xml,
                           uint32_t items, const check_defect *defect)
{
    tb *b = gray(format);
    tb_set_text(b, 0, TZ_TAG_GDAL_METADATA, xml);
    tb_finish(b);
    tz_file *file = check_warns(
        b, options, have_expat() ? defect : DEFECT(UNSUPPORTED, META, .tag = TZ_TAG_GDAL_METADATA));
    assert_true(tz_file_get_level(file, 0)->readable);
    if (have_expat())
        assert_int_equal(tz_file_get_info(file)->metadata_count, items);
    check_close(file);
    tb_free(b);
}

static void case_67_entity_bomb(void **state)
{
    (void)state;
    FORMATS(f)
    check_metadata(f, NULL,
                   "<?xml version=\"1.0\"?><!DOCTYPE GDALMetadata ["
                   "<!ENTITY a \"aaaaaaaaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;\">"
                   "<!ENTITY c \"&b;&b;&b;&b;&b;&b;\"><!ENTITY d \"&c;&c;&c;&c;&c;&c;\">"
                   "]><GDALMetadata><Item name=\"x\">&d;&d;&d;</Item></GDALMetadata>",
                   0, DEFECT(FORMAT, META, .tag = TZ_TAG_GDAL_METADATA, .text = "document type"));
}

static void case_67_external_entity(void **state)
{
    (void)state;
    FORMATS(f)
    {
        check_metadata(f, NULL,
                       "<!DOCTYPE GDALMetadata [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>"
                       "<GDALMetadata><Item name=\"x\">&x;</Item></GDALMetadata>",
                       0,
                       DEFECT(FORMAT, META, .tag = TZ_TAG_GDAL_METADATA, .text = "document type"));
        check_metadata(f, NULL,
                       "<!DOCTYPE GDALMetadata SYSTEM \"http://127.0.0.1:1/x.dtd\">"
                       "<GDALMetadata><Item name=\"x\">y</Item></GDALMetadata>",
                       0,
                       DEFECT(FORMAT, META, .tag = TZ_TAG_GDAL_METADATA, .text = "document type"));
        check_metadata(f, NULL, XML("<Item name=\"x\">&undeclared;</Item>"), 0,
                       DEFECT(FORMAT, META, .tag = TZ_TAG_GDAL_METADATA));
    }
}

/* text, repeated. */
static char *repeated(const char *first, const char *text, size_t times, const char *last)
{
    size_t unit = strlen(text);
    char *whole = malloc(strlen(first) + unit * times + strlen(last) + 1);
    char *end = whole + sprintf(whole, "%s", first);
    for (size_t i = 0; i < times; i++, end += unit)
        memcpy(end, text, unit);
    strcpy(end, last);
    return whole;
}

static void case_67_a_million_levels_deep(void **state)
{
    (void)state;
    char *xml = repeated("<GDALMetadata>", "<a>", 1000000, "");
    FORMATS(f)
    check_metadata(f, NULL, xml, 0,
                   DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_GDAL_METADATA, .limit = "max_xml_depth",
                          .expected = 64, .found = 65));
    free(xml);
}

static void case_67_a_million_items(void **state)
{
    (void)state;
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.limits = SIZED_LIMITS(.max_xml_bytes = TZ_UNLIMITED);
    char *xml = repeated("<GDALMetadata>", "<Item name=\"a\">b</Item>", 1000000, "</GDALMetadata>");
    FORMATS(f)
    {
        check_metadata(f, NULL, xml, 0,
                       DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_GDAL_METADATA, .limit = "max_xml_bytes",
                              .expected = 8u << 20, .found = strlen(xml) + 1));
        check_metadata(f, &options, xml, 0,
                       DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_GDAL_METADATA,
                              .limit = "max_metadata_items", .expected = 65536, .found = 65537));
    }
    free(xml);
}

static void case_67_as_many_items_as_allowed(void **state)
{
    (void)state;
    char *xml = repeated("<GDALMetadata>", "<Item name=\"a\">b</Item>", 65536, "</GDALMetadata>");
    FORMATS(f)
    {
        tb *b = gray(f);
        tb_set_text(b, 0, TZ_TAG_GDAL_METADATA, xml);
        tb_finish(b);
        tz_file *file = check_opens_somehow(b, NULL);
        if (have_expat())
            assert_int_equal(tz_file_get_info(file)->metadata_count, 65536);
        check_close(file);
        tb_free(b);
    }
    free(xml);
}

static void case_67_sample_that_does_not_exist(void **state)
{
    (void)state;
    static const char *const items[] = {
        XML("<Item name=\"a\" sample=\"-1\">x</Item><Item name=\"b\">y</Item>"),
        XML("<Item name=\"a\" sample=\"70000\">x</Item><Item name=\"b\">y</Item>"),
        XML("<Item name=\"a\" sample=\"1\">x</Item><Item name=\"b\">y</Item>"),
        XML("<Item name=\"a\" sample=\"99999999999999999999\">x</Item><Item name=\"b\">y</Item>"),
        XML("<Item name=\"a\" sample=\"two\">x</Item><Item name=\"b\">y</Item>"),
    };
    FORMATS(f)
    for (size_t i = 0; i < COUNT(items); i++)
        check_metadata(f, NULL, items[i], 1,
                       DEFECT(FORMAT, META, .tag = TZ_TAG_GDAL_METADATA, .text = "sample"));
}

static void case_67_not_utf8(void **state)
{
    (void)state;
    static const char *const texts[] = {XML("<Item name=\"a\">\xff\xfe</Item>"),
                                        XML("<Item name=\"a\">Z\xfcrich</Item>"),
                                        XML("<Item name=\"\xc0\xaf\">x</Item>"), "\xff\xfe<\0G\0"};
    FORMATS(f)
    for (size_t i = 0; i < COUNT(texts); i++)
        check_metadata(f, NULL, texts[i], 0, DEFECT(FORMAT, META, .tag = TZ_TAG_GDAL_METADATA));
}

static void case_67_malformed(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "<GDALMetadata><Item name=\"a\">b</Item>",
        "<GDALMetadata><Item name=\"a\">b</GDALMetadata>",
        "<GDALMetadata><Item name=\"a",
        "<GDALMetadata",
        "<Metadata></Metadata>",
        "no XML",
        XML("<Item name=\"a\" name=\"b\">c</Item>"),
        XML("<Item name=\"a\">b</Item>") "<more/>",
        XML("<Item name=\"a\">\x01</Item>"),
    };
    FORMATS(f)
    for (size_t i = 0; i < COUNT(texts); i++)
        check_metadata(f, NULL, texts[i], 0, DEFECT(FORMAT, META, .tag = TZ_TAG_GDAL_METADATA));
}

static void case_67_cut_off_at_every_byte(void **state)
{
    (void)state;
    static const char whole[] = XML("<Item name=\"a\" sample=\"0\" role=\"scale\">2</Item>");
    for (size_t size = 1; size < sizeof whole - 1; size++) {
        char text[sizeof whole];
        memcpy(text, whole, size);
        text[size] = '\0';
        check_metadata(size % TB_FORMATS, NULL, text, 0,
                       DEFECT(FORMAT, META, .tag = TZ_TAG_GDAL_METADATA));
    }
}

static void case_67_scale_that_is_no_number(void **state)
{
    (void)state;
    static const char *const values[] = {"nan", "inf", "", "abc", "1e999"};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(values); i++) {
            char xml[200];
            snprintf(xml, sizeof xml,
                     XML("<Item name=\"SCALE\" sample=\"0\" role=\"scale\">%s</Item>"
                         "<Item name=\"b\">y</Item>"),
                     values[i]);
            if (values[i][0])
                check_metadata(
                    f, NULL, xml, 1,
                    DEFECT(FORMAT, META, .tag = TZ_TAG_GDAL_METADATA, .text = "not a number"));
        }
    }
}

static void case_67_one_huge_token(void **state)
{
    (void)state;
    char *name =
        repeated("<GDALMetadata><Item name=\"", "x", 2000000, "\">b</Item></GDALMetadata>");
    char *value =
        repeated("<GDALMetadata><Item name=\"x\">", "y", 2000000, "</Item></GDALMetadata>");
    FORMATS(f)
    {
        check_metadata(f, NULL, name, 0, DEFECT(FORMAT, META, .tag = TZ_TAG_GDAL_METADATA));
        tb *b = gray(f);
        tb_set_text(b, 0, TZ_TAG_GDAL_METADATA, value);
        tb_finish(b);
        tz_file *file = check_opens_somehow(b, NULL);
        if (have_expat()) {
            assert_int_equal(strlen(tz_file_get_metadata(file, 0)->value), 2000000);
        }
        check_close(file);
        tb_free(b);
    }
    free(name);
    free(value);
}

/* ---- 68: profiles of 2 GiB ---- */

static void case_68_two_gib_of_xmp_icc_or_anything(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_XMP,
                                    TZ_TAG_ICC_PROFILE,
                                    TZ_TAG_JPEG_TABLES,
                                    TZ_TAG_GDAL_METADATA,
                                    TZ_TAG_GEO_ASCII,
                                    34377,
                                    33723,
                                    65000};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(tags); i++) {
            tb *b = gray(f);
            tb_set_raw(b, 0, tags[i], TZ_TYPE_BYTE, 1u << 31, 8);
            check_harmless(b, DEFECT(LIMIT, LIMIT, .tag = tags[i], .limit = "max_tag_bytes",
                                     .expected = 256u << 20, .found = 1u << 31));
        }
    }
}

static void case_68_two_thousand_million_exif_directories(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_EXIF_IFD, TZ_TAG_GPS_IFD};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(tags); i++) {
            tb *b = gray(f);
            tb_set_raw(b, 0, tags[i], TZ_TYPE_LONG, 1u << 31, 8);
            check_harmless(b,
                           DEFECT(FORMAT, TAG, .tag = tags[i], .expected = 1, .found = 1u << 31));
        }
    }
}

/* ---- 69, 70: ghost areas ---- */

static tb *with_ghost(unsigned format, const char *area)
{
    tb *b = tb_new(format);
    tb_ghost_raw(b, area, strlen(area));
    tb_tiled(b, 64, 64, 16);
    return b;
}

static void case_69_ghost_size_that_is_none(void **state)
{
    (void)state;
    static const char *const areas[] = {
        "GDAL_STRUCTURAL_METADATA_SIZE=999999 bytes\n" TB_GHOST_COG,
        "GDAL_STRUCTURAL_METADATA_SIZE=004097 bytes\n" TB_GHOST_COG,
        "GDAL_STRUCTURAL_METADATA_SIZE=-00140 bytes\n" TB_GHOST_COG,
        "GDAL_STRUCTURAL_METADATA_SIZE=   140 bytes\n" TB_GHOST_COG,
        "GDAL_STRUCTURAL_METADATA_SIZE=00014x bytes\n" TB_GHOST_COG,
        "GDAL_STRUCTURAL_METADATA_SIZE=140 bytes\n" TB_GHOST_COG,
        "GDAL_STRUCTURAL_METADATA_SIZE=000140 octets\n" TB_GHOST_COG,
        "GDAL_STRUCTURAL_METADATA_SIZE=0000140 bytes\n" TB_GHOST_COG,
    };
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(areas); i++) {
            tb *b = with_ghost(f, areas[i]);
            tz_file *file = check_harmless_open(
                b, DEFECT(FORMAT, META, .ifd = ANY_INT, .offset = tb_header_size(b) + 30));
            const tz_ghost *ghost = tz_file_get_info(file)->ghost;
            assert_false(ghost->present || ghost->leaders || ghost->trailers ||
                         ghost->ifds_before_data);
            check_close(file);
            tb_free(b);
        }
    }
}

/* In a file that is large enough for it; 4,096 bytes are the most that is read. */
static void case_69_ghost_of_many_bytes(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {4096, 4097, 65536, 999999};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(sizes); i++) {
            char area[100];
            snprintf(area, sizeof area, "GDAL_STRUCTURAL_METADATA_SIZE=%06u bytes\n",
                     (unsigned)sizes[i]);
            tb *b = with_ghost(f, area);
            b->ifds[0].gap = 1100000;
            tb_finish(b);
            if (sizes[i] > 4096) {
                check_harmless(
                    b, DEFECT(FORMAT, META, .ifd = ANY_INT, .expected = 4096, .found = sizes[i]));
                continue;
            }
            tz_file *file = check_opens(b, NULL);
            assert_true(tz_file_get_info(file)->ghost->present);
            assert_int_equal(tz_file_get_info(file)->ghost->size, 43 + 4096);
            check_done(file, b);
        }
    }
}

static void case_69_ghost_larger_than_the_file(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = with_ghost(f, "GDAL_STRUCTURAL_METADATA_SIZE=004000 bytes\n" TB_GHOST_COG);
        check_harmless(b, DEFECT(FORMAT, META, .ifd = ANY_INT, .found = 4000));
    }
}

static void case_69_ghost_says_edited(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_ghost(b, "LAYOUT=IFDS_BEFORE_DATA\nBLOCK_LEADER=SIZE_AS_UINT4\n"
                    "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\nKNOWN_INCOMPATIBLE_EDITION=YES\n");
        tb_tiled(b, 64, 64, 16);
        tz_file *file = check_harmless_open(
            b, DEFECT(FORMAT, META, .ifd = ANY_INT, .offset = tb_header_size(b)));
        uint32_t problems = 0;
        assert_true(tz_file_get_info(file)->ghost->edited);
        assert_int_equal(tz_file_get_cog_problems(&problems, file, NULL), TZ_OK);
        assert_true(problems & TZ_COG_PROBLEM_EDITED);
        check_close(file);
        tb_free(b);
    }
}

static void case_69_leaders_and_trailers_that_lie(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_ghost(b, TB_GHOST_COG);
        b->leaders = true;
        tb_tiled(b, 64, 64, 16);
        tb_finish(b);
        /* the table counts, whatever the leader says */
        tb_patch_bytes(b, tb_tile_at(b, 0, 1) - 4, "\xff\xff\xff\xff", 4);
        tb_patch_bytes(b, tb_tile_at(b, 0, 2) - 4, "\x00\x00\x00\x00", 4);
        tb_patch_bytes(b, tb_tile_at(b, 0, 3) + 16, "\xde\xad\xbe\xef", 4);
        /* and without a size in the table both must be right */
        tb_patch_tile(b, 0, 4, tb_tile_at(b, 0, 4), 0);
        tb_patch_tile(b, 0, 5, tb_tile_at(b, 0, 5), 0);
        tb_patch_bytes(b, tb_tile_at(b, 0, 5) - 4, "\x11\x00\x00\x00", 4);
        tb_patch_tile(b, 0, 6, tb_tile_at(b, 0, 6), 0);
        tb_patch_bytes(b, tb_tile_at(b, 0, 6) - 4, "\xff\xff\xff\xff", 4);
        tb_patch_tile(b, 0, 7, tb_tile_at(b, 0, 7), 0);
        tb_patch_bytes(b, tb_tile_at(b, 0, 7) + 16, "\xde\xad\xbe\xef", 4);
        tz_file *file = check_opens(b, NULL);
        for (uint64_t tile = 0; tile < 5; tile++)
            check_locates(file, 0, tile, tb_tile_at(b, 0, tile), 16);
        for (int64_t tile = 5; tile < 8; tile++)
            check_locate_fails(file, 0, (uint64_t)tile,
                               DEFECT(FORMAT, LAYOUT, .tag = ANY_INT, .level = 0, .tile = tile));
        check_close(file);
        tb_free(b);
    }
}

static void case_69_leaders_are_promised_and_not_there(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_ghost(b, TB_GHOST_COG);
        tb_tiled(b, 64, 64, 16);
        tb_finish(b);
        tz_file *file = check_opens(b, NULL);
        for (uint64_t tile = 0; tile < 16; tile++)
            check_locates(file, 0, tile, tb_tile_at(b, 0, tile), 16);
        check_close(file);
        tb_free(b);
    }
}

static void case_70_no_room_for_a_leader(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_ghost(b, TB_GHOST_COG);
        b->leaders = true;
        tb_tiled(b, 64, 64, 16);
        tb_finish(b);
        for (uint64_t i = 1; i < 4; i++) {
            tb_patch_tile(b, 0, i, i, 16);
            tb_patch_tile(b, 0, i + 3, i, 0);
        }
        tz_file *file = check_opens(b, NULL);
        for (uint64_t i = 1; i < 7; i++)
            check_locate_fails(file, 0, i,
                               DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_OFFSETS, .level = 0,
                                      .tile = (int64_t)i, .expected = 4,
                                      .found = i < 4 ? i : i - 3));
        check_close(file);
        tb_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(case_66_nodata_that_is_no_number),
        CASE(case_66_nodata_out_of_range),
        CASE(case_66_nodata_empty_is_none),
        CASE(case_66_nodata_of_ten_megabytes),
        CASE(case_66_nodata_of_64_bits_is_exact),
        CASE(case_67_entity_bomb),
        CASE(case_67_external_entity),
        CASE(case_67_a_million_levels_deep),
        CASE(case_67_a_million_items),
        CASE(case_67_as_many_items_as_allowed),
        CASE(case_67_sample_that_does_not_exist),
        CASE(case_67_not_utf8),
        CASE(case_67_malformed),
        CASE(case_67_cut_off_at_every_byte),
        CASE(case_67_scale_that_is_no_number),
        CASE(case_67_one_huge_token),
        CASE(case_68_two_gib_of_xmp_icc_or_anything),
        CASE(case_68_two_thousand_million_exif_directories),
        CASE(case_69_ghost_size_that_is_none),
        CASE(case_69_ghost_of_many_bytes),
        CASE(case_69_ghost_larger_than_the_file),
        CASE(case_69_ghost_says_edited),
        CASE(case_69_leaders_and_trailers_that_lie),
        CASE(case_69_leaders_are_promised_and_not_there),
        CASE(case_70_no_room_for_a_leader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
