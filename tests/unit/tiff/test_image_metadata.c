/* SPDX-License-Identifier: Apache-2.0
 * GDAL_METADATA as it is written: the text that GDAL writes, and items that come back. */
#include "support/check.h"
#include "support/sized.h"
#include "support/spec_case.h"
#include "support/spec_equal.h"

/* The text of the tag. */
static void check_text(const tz_file *handle, const char *wanted)
{
    static char text[4096];
    const tz_tag tag = check_find_tag(handle, TZ_TAG_GDAL_METADATA);
    tz_error err;
    assert_int_equal(tz_tag_read(text, sizeof text, handle, &tag, &err), TZ_OK);
    assert_int_equal(tag.type, TZ_TYPE_ASCII);
    assert_int_equal(tag.size, strlen(wanted) + 1);
    assert_string_equal(text, wanted);
}

static void set_items(const tz_metadata_item *items, uint32_t count)
{
    spec.metadata = items;
    spec.metadata_count = count;
}
#define ITEMS(list) set_items(list, sizeof(list) / sizeof((list)[0]))

/* These come back, in this order. */
static void check_items(const tz_file *handle, const tz_metadata_item *wanted, uint32_t count)
{
    tz_metadata_item items[32];
    assert_int_equal(tz_file_get_info(handle)->metadata_count, count);
    for (uint32_t i = 0; i < count; i++)
        items[i] = *tz_file_get_metadata(handle, i);
    tz_image_spec read = {.metadata = items, .metadata_count = count};
    tz_image_spec given = {.metadata = wanted, .metadata_count = count};
    assert_null(metadata_differs(&given, &read));
}

/* The text that GDAL 3.10 writes for the same items. */
static void it_is_the_text_of_gdal(void **state)
{
    (void)state;
    static const tz_metadata_item items[] = {
        SIZED_ITEM("", "a", "x<y & \"z\" 'q' ]]>", "", -1),
        SIZED_ITEM(NULL, "b", "line1\nline2\ttab", NULL, -1),
        SIZED_ITEM("dom", "k", "v&", "", -1),
        SIZED_ITEM("", "q", "\xc3\xa9", "", 1),
        SIZED_ITEM("", "OFFSET", "3", "offset", 0),
        SIZED_ITEM("", "SCALE", "0.5", "scale", 0),
        SIZED_ITEM("", "UNITTYPE", "m", "unittype", 0),
        SIZED_ITEM("", "DESCRIPTION", "de&sc", "description", 0),
    };
    FORMATS(f)
    {
        start();
        spec.bands = 2;
        ITEMS(items);
        made_file m = made(f);
        check_text(m.handle,
                   "<GDALMetadata>\n"
                   "  <Item name=\"a\">x&amp;lt;y &amp;amp; &amp;quot;z&amp;quot; 'q' "
                   "]]&amp;gt;</Item>\n"
                   "  <Item name=\"b\">line1\nline2\ttab</Item>\n"
                   "  <Item name=\"k\" domain=\"dom\">v&amp;amp;</Item>\n"
                   "  <Item name=\"OFFSET\" sample=\"0\" role=\"offset\">3</Item>\n"
                   "  <Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.5</Item>\n"
                   "  <Item name=\"UNITTYPE\" sample=\"0\" role=\"unittype\">m</Item>\n"
                   "  <Item name=\"DESCRIPTION\" sample=\"0\" role=\"description\">de&amp;amp;sc"
                   "</Item>\n"
                   "  <Item name=\"q\" sample=\"1\">\xc3\xa9</Item>\n"
                   "</GDALMetadata>\n");
        const tz_band *band = tz_file_get_band(m.handle, 0);
        if (tz_build_feature("expat")) {
            assert_true(band->scale == 0.5 && band->offset == 3);
            assert_string_equal(band->description, "de&sc");
        }
        made_close(&m);
    }
}

/* Texts that XML could make something else of. */
static void awkward_texts_come_back(void **state)
{
    (void)state;
    static const tz_metadata_item items[] = {
        SIZED_ITEM("", "a", "]]>", "", -1),
        SIZED_ITEM("", "b", "\r\n mixed \r lines\n", "", -1),
        SIZED_ITEM("", "c", " ", "", -1),
        SIZED_ITEM("", "d", "\n\n", "", -1),
        SIZED_ITEM("", "e", "\t", "", -1),
        SIZED_ITEM("", "f", "&amp;lt; &#65; &", "", -1),
        SIZED_ITEM("", "a\"b<c>&d'", "x", "", -1),
        SIZED_ITEM("<&\">", "g", "</Item></GDALMetadata>", "r\"&", -1),
        SIZED_ITEM("", "h", "<!-- no comment --><![CDATA[x]]>", "", -1),
        SIZED_ITEM("", "", "no name", "", -1),
        SIZED_ITEM("", "i", "\xf0\x9f\x97\xba \xef\xbb\xbf", "", 0),
        SIZED_ITEM("", "same", "1", "", 0),
        SIZED_ITEM("", "same", "2", "", 0),
    };
    if (!tz_build_feature("expat"))
        return;
    FORMATS(f)
    {
        start();
        ITEMS(items);
        made_file m = made(f);
        check_items(m.handle, items, sizeof items / sizeof items[0]);
        made_close(&m);
    }
}

/* A document in a domain of its own is text like any other, which is how GDAL finds it. */
static void documents_are_text(void **state)
{
    (void)state;
    static const tz_metadata_item items[] = {
        SIZED_ITEM("xml:A", "doc", "<a x=\"1\"> <b>&lt;</b>\n</a>", "", -1),
        SIZED_ITEM("xml:B", "doc", "</Item><Item name=\"smuggled\">x", "", -1),
    };
    start();
    ITEMS(items);
    made_file m = made(0);
    if (tz_build_feature("expat"))
        check_items(m.handle, items, sizeof items / sizeof items[0]);
    check_text(m.handle,
               "<GDALMetadata>\n"
               "  <Item name=\"doc\" domain=\"xml:A\">&amp;lt;a x=&amp;quot;1&amp;quot;&amp;gt; "
               "&amp;lt;b&amp;gt;&amp;amp;lt;&amp;lt;/b&amp;gt;\n&amp;lt;/a&amp;gt;</Item>\n"
               "  <Item name=\"doc\" domain=\"xml:B\">&amp;lt;/Item&amp;gt;&amp;lt;Item "
               "name=&amp;quot;smuggled&amp;quot;&amp;gt;x</Item>\n"
               "</GDALMetadata>\n");
    made_close(&m);
}

static void statistics_replace_older_ones(void **state)
{
    (void)state;
    static const tz_metadata_item items[] = {
        SIZED_ITEM("", "kept", "1", "", 1),
        SIZED_ITEM("", "STATISTICS_MINIMUM", "old", "", 1),
        SIZED_ITEM("", "STATISTICS_APPROXIMATE", "YES", "", 1),
        SIZED_ITEM("other", "STATISTICS_MINIMUM", "other", "", 1),
        SIZED_ITEM("", "STATISTICS_MAXIMUM", "of nothing", "", 2),
    };
    static const tz_statistics statistics[] = {
        {0, 5000, -1.5, 1e300, 0.1, 3}, {0, 1000, 1, 2, 1.0 / 3, 0}, {0, 0, 0, 0, 0, 0}};
    start();
    spec.bands = 3, spec.photometric = TZ_PHOTOMETRIC_MIN_IS_BLACK;
    ITEMS(items);
    made_file m = made_with(statistics, NULL, 0);
    check_text(m.handle,
               "<GDALMetadata>\n"
               "  <Item name=\"STATISTICS_MAXIMUM\" sample=\"0\">1e+300</Item>\n"
               "  <Item name=\"STATISTICS_MEAN\" sample=\"0\">0.1</Item>\n"
               "  <Item name=\"STATISTICS_MINIMUM\" sample=\"0\">-1.5</Item>\n"
               "  <Item name=\"STATISTICS_STDDEV\" sample=\"0\">3</Item>\n"
               "  <Item name=\"STATISTICS_VALID_PERCENT\" sample=\"0\">100</Item>\n"
               "  <Item name=\"kept\" sample=\"1\">1</Item>\n"
               "  <Item name=\"STATISTICS_MINIMUM\" sample=\"1\" domain=\"other\">other</Item>\n"
               "  <Item name=\"STATISTICS_MAXIMUM\" sample=\"1\">2</Item>\n"
               "  <Item name=\"STATISTICS_MEAN\" sample=\"1\">0.3333333333333333</Item>\n"
               "  <Item name=\"STATISTICS_MINIMUM\" sample=\"1\">1</Item>\n"
               "  <Item name=\"STATISTICS_STDDEV\" sample=\"1\">0</Item>\n"
               "  <Item name=\"STATISTICS_VALID_PERCENT\" sample=\"1\">20</Item>\n"
               "</GDALMetadata>\n");
    made_close(&m);
}

/* Nothing to say: no tag. Statistics of no pixel are nothing. */
static void without_items_there_is_no_tag(void **state)
{
    (void)state;
    static const tz_statistics none = {0};
    start();
    made_file m = made_with(&none, NULL, 0);
    assert_int_equal(tz_file_get_level(m.handle, 0)->tag_count, 12);
    made_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(it_is_the_text_of_gdal),
        CASE(awkward_texts_come_back),
        CASE(documents_are_text),
        CASE(statistics_replace_older_ones),
        CASE(without_items_there_is_no_tag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
