/* SPDX-License-Identifier: Apache-2.0
 * Tag GDAL_METADATA. In a build without expat every test sees the one warning that says so. */
#include <stdlib.h>

#include "support/alloc_hook.h"
#include "support/context.h"
#include "tiff/gdal/metadata.h"
#include "tiff/gdal/metadata_parser.h"
#include "tiff/tags.h"

#define XML(items) "<GDALMetadata>" items "</GDALMetadata>"
#define META       TZ_CAUSE_META

#ifdef TZ_HAVE_EXPAT
enum { HAVE_EXPAT = 1 };
#else
enum { HAVE_EXPAT = 0 };
#endif

typedef struct fixture {
    bench b;
    uint32_t bands;
    size_t piece; /* bytes fed at once */
    tz_metadata metadata;
} fixture;

static int begin(void **state)
{
    static fixture f;
    f = (fixture){.bands = 3, .piece = SIZE_MAX};
    bench_init(&f.b);
    *state = &f;
    return 0;
}

static int end(void **state)
{
    fixture *f = *state;
    tz_metadata_deinit(&f->metadata);
    bench_deinit(&f->b);
    return 0;
}

static void again(void **state)
{
    end(state);
    begin(state);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

/* Each part is fed from a heap block of its size. */
static tz_result feed(tz_metadata_parser *parser, const char *xml, size_t size, size_t piece)
{
    for (size_t at = 0; at < size;) {
        size_t part = size - at < piece ? size - at : piece;
        char *copy = malloc(part);
        memcpy(copy, xml + at, part);
        tz_result result = tz_metadata_feed(parser, copy, part);
        free(copy);
        if (result != TZ_OK)
            return result;
        at += part;
    }
    return TZ_OK;
}

static tz_result read_all(const fixture *f, const tz_context *ctx, const char *xml, size_t size,
                          tz_metadata *out)
{
    tz_metadata_parser *parser = NULL;
    TZ_TRY(tz_metadata_begin(&parser, size, f->bands, ctx));
    tz_result fed = feed(parser, xml, size, f->piece);
    tz_result finished = tz_metadata_finish(parser, fed == TZ_OK, out);
    return fed != TZ_OK ? fed : finished;
}

static void read_bytes(fixture *f, const char *xml, size_t size)
{
    assert_int_equal(read_all(f, &f->b.ctx, xml, size, &f->metadata), TZ_OK);
    if (!HAVE_EXPAT) {
        bench_warned(&f->b, META, TZ_TAG_GDAL_METADATA, TZ_NO_VALUE, TZ_NO_VALUE, "without expat");
        assert_int_equal(f->metadata.count, 0);
    }
}

/* Without a warning, this many items. False: there is no expat, and nothing more to see. */
static bool reads(fixture *f, const char *xml, uint32_t count)
{
    read_bytes(f, xml, strlen(xml));
    if (!HAVE_EXPAT)
        return false;
    bench_silent(&f->b);
    assert_int_equal(f->metadata.count, count);
    return true;
}

/* With this warning, which strict mode makes an error. */
static void warns_bytes(void **state, const char *xml, size_t size, uint32_t count,
                        const char *text)
{
    fixture *f = *state;
    read_bytes(f, xml, size);
    if (HAVE_EXPAT) {
        bench_warned(&f->b, META, TZ_TAG_GDAL_METADATA, TZ_NO_VALUE, TZ_NO_VALUE, text);
        assert_int_equal(f->metadata.count, count);
    }
    tz_context strict = f->b.ctx;
    tz_metadata nothing = {0};
    strict.strict = true;
    assert_int_equal(read_all(f, &strict, xml, size, &nothing), f->b.warnings.list[0].result);
    assert_string_equal(f->b.err.message, f->b.warnings.list[0].message);
    assert_int_equal(f->b.err.cause, META);
    assert_null(nothing.pool);
    again(state);
}

static void warns(void **state, const char *xml, uint32_t count, const char *text)
{
    warns_bytes(state, xml, strlen(xml), count, text);
}

static void check_item(const fixture *f, uint32_t index, const char *domain, const char *name,
                       const char *value, const char *role, int band)
{
    tz_metadata_item item;
    assert_true(tz_metadata_get_item(&f->metadata, index, &item));
    assert_string_equal(item.domain, domain);
    assert_string_equal(item.name, name);
    assert_string_equal(item.value, value);
    assert_string_equal(item.role, role);
    assert_int_equal(item.band, band);
}

/* ---- good files ---- */

static const char gdal_xml[] = "<GDALMetadata>\n"
                               "  <Item name=\"AREA_OR_POINT\">Area</Item>\n"
                               "  <Item name=\"OFFSET\" sample=\"0\" role=\"offset\">-10.5</Item>\n"
                               "  <Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.01</Item>\n"
                               "  <Item name=\"DESCRIPTION\" sample=\"2\" role=\"description\">Höhe"
                               "</Item>\n"
                               "  <Item name=\"UNITTYPE\" sample=\"2\" role=\"unittype\">m</Item>\n"
                               "  <Item name=\"A\" domain=\"MINE\">1</Item>\n"
                               "  <Item name=\"B\" domain=\"MINE\" sample=\"1\">2</Item>\n"
                               "</GDALMetadata>\n";

/* The image's own first, then band by band. */
static void check_gdal(const fixture *f)
{
    check_item(f, 0, "", "AREA_OR_POINT", "Area", "", -1);
    check_item(f, 1, "MINE", "A", "1", "", -1);
    check_item(f, 2, "", "OFFSET", "-10.5", "offset", 0);
    check_item(f, 3, "", "SCALE", "0.01", "scale", 0);
    check_item(f, 4, "MINE", "B", "2", "", 1);
    check_item(f, 5, "", "DESCRIPTION", "Höhe", "description", 2);
    check_item(f, 6, "", "UNITTYPE", "m", "unittype", 2);
    tz_metadata_item item;
    assert_false(tz_metadata_get_item(&f->metadata, 7, &item));
    assert_string_equal(tz_metadata_find_role(&f->metadata, "scale", 0), "0.01");
    assert_string_equal(tz_metadata_find_role(&f->metadata, "offset", 0), "-10.5");
    assert_string_equal(tz_metadata_find_role(&f->metadata, "unittype", 2), "m");
    assert_null(tz_metadata_find_role(&f->metadata, "scale", 1));
    assert_null(tz_metadata_find_role(&f->metadata, "scale", -1));
    assert_null(tz_metadata_find_role(&f->metadata, "nothing", 0));
}

static void metadata_of_gdal(void **state)
{
    fixture *f = *state;
    if (reads(f, gdal_xml, 7))
        check_gdal(f);
}

static void pieces_of_every_size(void **state)
{
    fixture *f = *state;
    for (size_t piece = 1; piece < sizeof gdal_xml; piece++) {
        f->piece = piece;
        if (reads(f, gdal_xml, 7))
            check_gdal(f);
        again(state);
    }
}

static void same_items(const tz_metadata *a, const tz_metadata *b)
{
    tz_metadata_item x;
    tz_metadata_item y;
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++) {
        assert_true(tz_metadata_get_item(a, i, &x) && tz_metadata_get_item(b, i, &y));
        assert_string_equal(x.domain, y.domain);
        assert_string_equal(x.name, y.name);
        assert_string_equal(x.value, y.value);
        assert_string_equal(x.role, y.role);
        assert_int_equal(x.band, y.band);
    }
}

/* Text that is fed whole and is plain is read without expat; in two parts it never is. */
static void plain_text_is_what_expat_makes_of_it(void **state)
{
    static const char *const texts[] = {
        XML("<Item name=\"a\">b</Item>"),
        XML("  <Item name=\"a\" sample=\"1\" role=\"scale\">0.5</Item>\n"
            "  <Item name=\"c\" domain=\"D\">two\nlines</Item>\n"),
        XML("<Item sample=\"2\" role=\"unittype\" name=\"order\">m</Item>"),
        XML("<Item name=\"no value\"></Item><Item name=\"x\">y</Item>"),
        XML("<Item>no name</Item><Item name=\"x\">y</Item>"),
        XML("<Item name='quotes'>v</Item>"),
        XML("<Item  name=\"spaces\"  >v</Item >"),
        XML("<Item name=\"entity\">&amp;amp;</Item>"),
        XML("<Item name=\"sample\" sample=\"7\">v</Item>"),
        XML("<Item name=\"scale\" role=\"scale\">none</Item>"),
        XML("<Item name=\"twice\" name=\"twice\">v</Item>"),
        XML("<Item name=\"a\" other=\"b\">v</Item>"),
        XML("<Item name=\"open\">v"),
        XML("<Item name=\"a\">v</Item>") "behind",
        "\n" XML("<Item name=\"a\">v</Item>") "\n",
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tz_metadata whole = {0};
        const size_t size = strlen(texts[i]);
        tz_warnings no_warnings = {0};
        const tz_result result = read_all(f, &f->b.ctx, texts[i], size, &whole);
        const uint32_t warnings = f->b.warnings.count;
        tz_warnings_deinit(&f->b.warnings);
        f->b.warnings = no_warnings;
        f->piece = size / 2;
        assert_int_equal(read_all(f, &f->b.ctx, texts[i], size, &f->metadata), result);
        assert_int_equal(f->b.warnings.count, warnings);
        same_items(&whole, &f->metadata);
        tz_metadata_deinit(&whole);
        again(state);
    }
}

static void nothing_follows_the_first_nul(void **state)
{
    fixture *f = *state;
    static const char bytes[] = XML("<Item name=\"a\">b</Item>") "\0\0\xff<not xml";
    for (size_t piece = 1; piece < sizeof bytes; piece += 7) {
        f->piece = piece;
        read_bytes(f, bytes, sizeof bytes - 1);
        if (HAVE_EXPAT) {
            bench_silent(&f->b);
            assert_int_equal(f->metadata.count, 1);
            check_item(f, 0, "", "a", "b", "", -1);
        }
        again(state);
    }
}

static void declaration_cdata_comments(void **state)
{
    fixture *f = *state;
    if (reads(f,
              "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!-- one -->" XML(
                  "<!-- two --><Item name='a'>b<!-- three --><![CDATA[<c>&]]>d</Item>"),
              1))
        check_item(f, 0, "", "a", "b<c>&d", "", -1);
}

/* Unknown elements are skipped, as GDAL does. */
static void other_elements(void **state)
{
    fixture *f = *state;
    if (reads(f,
              XML("<Other name='x'>y</Other><Item>no name</Item><Item name='empty'></Item>"
                  "<Item name='empty'/><Deeper><Item name='x'>y</Item></Deeper>"
                  "<Item name='a'>b</Item>"),
              1))
        check_item(f, 0, "", "a", "b", "", -1);
}

static void no_items(void **state)
{
    fixture *f = *state;
    if (reads(f, XML(""), 0))
        assert_null(f->metadata.pool);
    assert_null(tz_metadata_find_role(&f->metadata, "scale", 0));
    again(state);
    reads(f, "<GDALMetadata/>", 0);
}

/* Roles in another domain are not those of the bands. */
static void roles_are_of_the_default_domain(void **state)
{
    fixture *f = *state;
    if (!reads(f,
               XML("<Item name='a' domain='D' sample='0' role='description'>no</Item>"
                   "<Item name='b' sample='0' role='description'>yes</Item>"
                   "<Item name='c' sample='0' role='description'>late</Item>"),
               3))
        return;
    assert_string_equal(tz_metadata_find_role(&f->metadata, "description", 0), "yes");
}

/* ---- escapes ---- */

static void check_value(void **state, const char *escaped, const char *value)
{
    fixture *f = *state;
    char xml[512];
    snprintf(xml, sizeof xml, XML("<Item name=\"a\">%s</Item>"), escaped);
    if (reads(f, xml, 1))
        check_item(f, 0, "", "a", value, "", -1);
    again(state);
}

static void values_are_unescaped_twice(void **state)
{
    check_value(state, "a &lt; b", "a < b");
    check_value(state, "a &amp;lt; b", "a < b");
    check_value(state, "a &amp;amp;lt; b", "a &lt; b");
    check_value(state, "&amp;quot;&amp;apos;&amp;gt;&amp;amp;", "\"'>&");
    check_value(state, "&amp;#65;&amp;#x42;&amp;#x20AC;&amp;#x1F600;",
                "AB\xe2\x82\xac\xf0\x9f\x98\x80");
    check_value(state, "&#x20AC;", "\xe2\x82\xac");
    check_value(state, "100 &amp;nbsp; &amp; more", "100 &nbsp; & more");
}

static void unescape_leaves_the_rest_alone(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"&", "&"},
        {"&&&", "&&&"},
        {"&amp", "&amp"},
        {"&amp;amp;", "&amp;"},
        {"&AMP;", "&AMP;"},
        {"&#;", "&#;"},
        {"&#x;", "&#x;"},
        {"&#0;", "&#0;"},
        {"&#x110000;", "&#x110000;"},
        {"&#99999999999999999999;", "&#99999999999999999999;"},
        {"&#xD800;", "&#xD800;"},
        {"&#xDFFF;&#xE000;", "&#xDFFF;\xee\x80\x80"},
        {"&#x10FFFF;", "\xf4\x8f\xbf\xbf"},
        {"&#65", "&#65"},
        {"&#6a;", "&#6a;"},
        {"&#x6A;&#x6a;", "jj"},
        {"&#-5;", "&#-5;"},
        {"&#128;&#2047;&#2048;&#65535;&#65536;",
         "\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80"},
        {"&lt;&gt;&quot;&apos;&amp;", "<>\"'&"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size = strlen(cases[i].from);
        char *text = malloc(size + 1); /* never read at the end */
        memcpy(text, cases[i].from, size);
        char *exact = realloc(text, size > 0 ? size : 1);
        size_t left = tz_xml_unescape(exact, size);
        assert_int_equal(left, strlen(cases[i].to));
        assert_memory_equal(exact, cases[i].to, left);
        free(exact);
    }
}

static void elements_in_an_item_keep_their_markup(void **state)
{
    fixture *f = *state;
    if (reads(f,
              XML("<Item name='doc' domain='xml:X' format='xml'><a b=\"1 &lt; 2\">x &amp;amp; y<c/>"
                  "<!-- z --></a></Item>"),
              1))
        check_item(f, 0, "xml:X", "doc", "<a b=\"1 &lt; 2\">x &amp;amp; y<c/><!-- z --></a>", "",
                   -1);
    again(state);
    /* The usual form: markup as text. */
    if (reads(f, XML("<Item name='doc' domain='xml:X'>&amp;lt;a&amp;gt;t&amp;lt;/a&amp;gt;</Item>"),
              1))
        check_item(f, 0, "xml:X", "doc", "<a>t</a>", "", -1);
}

/* ---- items that are left out ---- */

static void sample_that_does_not_exist(void **state)
{
    static const char *const samples[] = {
        "-1", "3", "70000", "x", "", "1x", "1.0", "4294967296", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        char xml[256];
        char text[128];
        snprintf(xml, sizeof xml,
                 XML("<Item name='a' sample='%s'>b</Item><Item name='c' sample='2'>d</Item>"),
                 samples[i]);
        snprintf(text, sizeof text, "for sample '%s', and the image has 3", samples[i]);
        warns(state, xml, 1, text);
    }
}

static void scale_and_offset_must_be_numbers(void **state)
{
    static const char *const values[] = {"nan", "inf", "-inf", "abc", "1 m", "1e999", " "};
    static const char *const roles[] = {"scale", "offset"};
    for (size_t i = 0; i < 2 * sizeof values / sizeof values[0]; i++) {
        char xml[256];
        char text[128];
        snprintf(xml, sizeof xml,
                 XML("<Item name='a' sample='0' role='%s'>%s</Item><Item name='c'>d</Item>"),
                 roles[i % 2], values[i / 2]);
        snprintf(text, sizeof text, "role %s is '%s'", roles[i % 2], values[i / 2]);
        warns(state, xml, 1, text);
    }
}

static void warnings_of_one_kind_are_counted(void **state)
{
    fixture *f = *state;
    read_bytes(f,
               XML("<Item name='a' sample='7'>b</Item><Item name='a' sample='8'>b</Item>"
                   "<Item name='a' sample='9'>b</Item>"),
               strlen(XML("<Item name='a' sample='7'>b</Item>")) + 68);
    if (!HAVE_EXPAT)
        return;
    bench_warned(&f->b, META, TZ_TAG_GDAL_METADATA, TZ_NO_VALUE, TZ_NO_VALUE, "sample '7'");
    assert_int_equal(f->b.warnings.list[0].count, 3);
}

/* ---- bad XML ---- */

static void document_types(void **state)
{
    warns(state,
          "<!DOCTYPE GDALMetadata [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;\">"
          "<!ENTITY c \"&b;&b;&b;&b;&b;\">]>" XML("<Item name='x'>&c;&c;&c;</Item>"),
          0, "has a document type");
    warns(
        state,
        "<!DOCTYPE r [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>" XML("<Item name='x'>&x;</Item>"),
        0, "has a document type");
    warns(state, "<!DOCTYPE r SYSTEM \"http://localhost:1/x.dtd\">" XML(""), 0,
          "has a document type");
    warns(state, "<!DOCTYPE GDALMetadata>" XML("<Item name='x'>y</Item>"), 0,
          "has a document type");
}

static void malformed(void **state)
{
    warns(state, "no xml at all", 0, "malformed");
    warns(state, "<GDALMetadata><Item name='a'>b</Item>", 0, "malformed");
    warns(state, "<GDALMetadata><Item name='a'>b</Itm></GDALMetadata>", 0, "malformed");
    warns(state, XML("<Item name='a'>b</Item>") "<more/>", 0, "malformed");
    warns(state, XML("<Item name='a'>&unknown;</Item>"), 0, "malformed");
    warns(state, XML("<Item name='a' name='a'>b</Item>"), 0, "malformed");
    warns(state, XML("<Item name=a>b</Item>"), 0, "malformed");
    warns(state, XML("<Item name='a'>b</Item>") "trailing", 0, "malformed");
    warns(state, "", 0, "malformed");
    warns_bytes(state, "\0", 1, 0, "malformed");
}

static void cut_off_at_every_byte(void **state)
{
    for (size_t size = 0; size < strlen(gdal_xml) - strlen(">\n"); size++)
        warns_bytes(state, gdal_xml, size, 0, "malformed");
}

static void not_utf8(void **state)
{
    warns(state, XML("<Item name='a'>\xff</Item>"), 0, "malformed");
    warns(state, XML("<Item name='a'>\xc0\xaf</Item>"), 0, "malformed");     /* overlong */
    warns(state, XML("<Item name='a'>\xed\xa0\x80</Item>"), 0, "malformed"); /* surrogate */
    warns(state, XML("<Item name='\xe4'>b</Item>"), 0, "malformed");
    /* A declaration does not choose another encoding. */
    warns(state, "<?xml version='1.0' encoding='ISO-8859-1'?>" XML("<Item name='a'>\xe4</Item>"), 0,
          "malformed");
    static const char big[] = "\xfe\xff\0<\0a\0/\0>";
    static const char little[] = "\xff\xfe<\0a\0/\0>\0";
    static const char bare[] = "<\0a\0/\0>\0";
    warns_bytes(state, big, sizeof big - 1, 0, "not in UTF-8");
    warns_bytes(state, little, sizeof little - 1, 0, "not in UTF-8");
    warns_bytes(state, bare, sizeof bare - 1, 0, "malformed");
}

static void another_root(void **state)
{
    warns(state, "<Other><Item name='a'>b</Item></Other>", 0, "'Other' instead of GDALMetadata");
}

/* ---- limits ---- */

static void check_limited(fixture *f, const char *xml, const char *limit, uint64_t expected,
                          uint64_t found)
{
    read_bytes(f, xml, strlen(xml));
    if (!HAVE_EXPAT)
        return;
    assert_int_equal(f->b.warnings.count, 1);
    const tz_error *warning = &f->b.warnings.list[0];
    assert_int_equal(warning->result, TZ_ERR_LIMIT);
    assert_int_equal(warning->cause, TZ_CAUSE_LIMIT);
    assert_int_equal(warning->tag, TZ_TAG_GDAL_METADATA);
    assert_string_equal(warning->limit, limit);
    assert_true(warning->expected == expected && warning->found == found);
    assert_int_equal(f->metadata.count, 0);
    assert_null(f->metadata.pool);
    tz_context strict = f->b.ctx;
    strict.strict = true;
    assert_int_equal(read_all(f, &strict, xml, strlen(xml), &f->metadata), TZ_ERR_LIMIT);
    assert_string_equal(f->b.err.limit, limit);
}

static void too_many_bytes(void **state)
{
    fixture *f = *state;
    f->b.limits.max_xml_bytes = sizeof gdal_xml - 2;
    alloc_hook_install();
    check_limited(f, gdal_xml, "max_xml_bytes", sizeof gdal_xml - 2, sizeof gdal_xml - 1);
    assert_true(!HAVE_EXPAT || alloc_hook_stats().peak_bytes < 8192); /* nothing of it is kept */
    alloc_hook_remove();
    again(state);
    f->b.limits.max_xml_bytes = sizeof gdal_xml - 1;
    reads(f, gdal_xml, 7);
}

static void too_many_items(void **state)
{
    fixture *f = *state;
    f->b.limits.max_metadata_items = 6;
    check_limited(f, gdal_xml, "max_metadata_items", 6, 7);
    again(state);
    f->b.limits.max_metadata_items = 7;
    reads(f, gdal_xml, 7);
}

static void too_deep(void **state)
{
    fixture *f = *state;
    const char *xml = XML("<a><b><c></c></b></a><Item name='a'>b</Item>");
    f->b.limits.max_xml_depth = 3;
    check_limited(f, xml, "max_xml_depth", 3, 4);
    again(state);
    f->b.limits.max_xml_depth = 4;
    reads(f, xml, 1);
}

static void four_gib(void **state)
{
    fixture *f = *state;
    tz_metadata_parser *parser = NULL;
    f->b.limits.max_xml_bytes = TZ_UNLIMITED;
    for (uint64_t size = UINT64_MAX; size > UINT32_MAX; size /= 2) {
        assert_int_equal(tz_metadata_begin(&parser, size, 3, &f->b.ctx), TZ_OK);
        assert_int_equal(tz_metadata_finish(parser, true, &f->metadata), TZ_OK);
        assert_int_equal(f->metadata.count, 0);
    }
    bench_warned(&f->b, META, TZ_TAG_GDAL_METADATA, TZ_NO_VALUE, TZ_NO_VALUE,
                 HAVE_EXPAT ? "4 GiB" : "without expat");
}

/* ---- memory ---- */

/* text repeated, within the root element. */
static char *repeated(const char *text, size_t count, size_t *size)
{
    size_t length = strlen(text);
    char *xml = malloc(length * count + 64);
    strcpy(xml, "<GDALMetadata>");
    *size = strlen(xml);
    for (size_t i = 0; i < count; i++, *size += length)
        memcpy(xml + *size, text, length);
    strcpy(xml + *size, "</GDALMetadata>");
    *size += strlen(xml + *size);
    return xml;
}

static void check_memory(void **state, const char *text, size_t count, size_t items)
{
    fixture *f = *state;
    size_t size;
    char *xml = repeated(text, count, &size);
    f->b.limits.max_metadata_items = TZ_UNLIMITED;
    f->b.limits.max_xml_bytes = TZ_UNLIMITED;
    f->piece = 16384;
    alloc_hook_install();
    read_bytes(f, xml, size);
    alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    free(xml);
    if (HAVE_EXPAT) {
        bench_silent(&f->b);
        assert_int_equal(f->metadata.count, items);
        assert_true(f->metadata.held <= size + 4);
    }
    assert_true(stats.peak_bytes <= (int64_t)(size + 48 * 1024));
    again(state);
}

static void memory_stays_below_the_tag(void **state)
{
    check_memory(state, "<Item name=\"a\">b</Item>", 1000000, 1000000);
    check_memory(state, "<Item name=\"\">b</Item>", 300000, 300000);
    check_memory(state, "<Item name=\"a\"/>", 300000, 0);
    check_memory(state, "<Item name=''>b</Item><Item name='a' domain='b' role='c'>d</Item>", 100000,
                 200000);
    check_memory(state, "<Item name='a'><b/></Item>", 100000, 100000);
    check_memory(state, "<Item name='a'>&#xFFFFF;&amp;#xFFFFF;</Item>", 100000, 100000);
    check_memory(state, "text in between", 300000, 0);
}

/* More domains than are recognised: stored again, but never more than the XML has of them. */
static void many_domains(void **state)
{
    fixture *f = *state;
    enum { COUNT = 20000 };
    char *xml = malloc(COUNT * 64);
    size_t size = (size_t)sprintf(xml, "<GDALMetadata>");
    for (int i = 0; i < COUNT; i++)
        size += (size_t)sprintf(xml + size, "<Item name='' domain='%d' role='r%d'>%d</Item>",
                                i % 500, i % 70, i);
    size += (size_t)sprintf(xml + size, "</GDALMetadata>");
    alloc_hook_install();
    read_bytes(f, xml, size);
    alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    free(xml);
    assert_true(stats.peak_bytes <= (int64_t)(size + 48 * 1024));
    if (!HAVE_EXPAT)
        return;
    bench_silent(&f->b);
    for (uint32_t i = 0; i < COUNT; i += 77) {
        char domain[16], role[16], value[16];
        snprintf(domain, sizeof domain, "%u", i % 500);
        snprintf(role, sizeof role, "r%u", i % 70);
        snprintf(value, sizeof value, "%u", i);
        check_item(f, i, domain, "", value, role, -1);
    }
}

static void one_huge_value(void **state)
{
    fixture *f = *state;
    enum { SIZE = 1000000 };
    char *xml = malloc(SIZE + 256);
    size_t head = (size_t)sprintf(xml, "<GDALMetadata><Item name='a'>");
    memset(xml + head, 'x', SIZE);
    strcpy(xml + head + SIZE, "</Item></GDALMetadata>");
    size_t size = strlen(xml);
    f->piece = 1000;
    alloc_hook_install();
    read_bytes(f, xml, size);
    assert_true(alloc_hook_stats().peak_bytes <= (int64_t)(size + 48 * 1024));
    alloc_hook_remove();
    if (HAVE_EXPAT) {
        tz_metadata_item item;
        bench_silent(&f->b);
        assert_true(tz_metadata_get_item(&f->metadata, 0, &item));
        assert_int_equal(strlen(item.value), SIZE);
    }
    free(xml);
}

/* A tag of the XML has to be held in one piece; that is where memory could be used up. */
static void one_huge_token(void **state)
{
    static const char *const heads[] = {"<GDALMetadata><Item name='", "<GDALMetadata><Item ",
                                        "<GDALMetadata><", "<GDALMetadata><!-- ",
                                        "<GDALMetadata><?pi "};
    enum { SIZE = 1000000 };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        fixture *f = *state;
        char *xml = malloc(SIZE + 256);
        size_t head = (size_t)sprintf(xml, "%s", heads[i]);
        memset(xml + head, 'x', SIZE);
        alloc_hook_install();
        read_bytes(f, xml, head + SIZE);
        assert_true(alloc_hook_stats().peak_bytes <= (int64_t)(SIZE + 48 * 1024));
        alloc_hook_remove();
        free(xml);
        if (HAVE_EXPAT)
            bench_warned(&f->b, META, TZ_TAG_GDAL_METADATA, TZ_NO_VALUE, TZ_NO_VALUE,
                         "too large to be read");
        assert_int_equal(f->metadata.count, 0);
        again(state);
    }
}

static void token_of_four_kib_is_fine(void **state)
{
    fixture *f = *state;
    enum { SIZE = 4096 };
    char *xml = malloc(SIZE + 256);
    size_t head = (size_t)sprintf(xml, "<GDALMetadata><Item name='");
    memset(xml + head, 'n', SIZE);
    strcpy(xml + head + SIZE, "'>v</Item></GDALMetadata>");
    for (size_t piece = 100; piece < 10000; piece += 900) {
        f->piece = piece;
        if (reads(f, xml, 1)) {
            tz_metadata_item item;
            assert_true(tz_metadata_get_item(&f->metadata, 0, &item));
            assert_int_equal(strlen(item.name), SIZE);
            assert_string_equal(item.value, "v");
        }
        again(state);
    }
    free(xml);
}

/* A million elements deep, and the parser ends where the limit is. */
static void a_million_levels(void **state)
{
    fixture *f = *state;
    size_t size;
    char *xml = repeated("<a>", 1000000, &size);
    alloc_hook_install();
    read_bytes(f, xml, size);
    alloc_stats stats = alloc_hook_stats();
    alloc_hook_remove();
    free(xml);
    assert_true(stats.peak_bytes <= (int64_t)(size + 48 * 1024));
    if (HAVE_EXPAT) {
        assert_int_equal(f->b.warnings.list[0].cause, TZ_CAUSE_LIMIT);
        assert_string_equal(f->b.warnings.list[0].limit, "max_xml_depth");
    }
}

/* ---- use of the parser ---- */

static void incomplete_is_dropped(void **state)
{
    fixture *f = *state;
    tz_metadata_parser *parser = NULL;
    assert_int_equal(tz_metadata_begin(&parser, sizeof gdal_xml, 3, &f->b.ctx), TZ_OK);
    assert_int_equal(tz_metadata_feed(parser, gdal_xml, sizeof gdal_xml), TZ_OK);
    assert_int_equal(tz_metadata_finish(parser, false, &f->metadata), TZ_OK);
    assert_int_equal(f->metadata.count, 0);
    assert_null(f->metadata.pool);
}

static void more_than_announced_is_refused(void **state)
{
    fixture *f = *state;
    tz_metadata_parser *parser = NULL;
    assert_int_equal(tz_metadata_begin(&parser, 10, 3, &f->b.ctx), TZ_OK);
    assert_int_equal(tz_metadata_feed(parser, "<GDAL", 5), TZ_OK);
    assert_int_equal(tz_metadata_feed(parser, "Metadata", 8), HAVE_EXPAT ? TZ_ERR_ARG : TZ_OK);
    assert_int_equal(tz_metadata_finish(parser, false, &f->metadata),
                     HAVE_EXPAT ? TZ_ERR_ARG : TZ_OK);
    assert_int_equal(f->metadata.count, 0);
}

static void the_end_is_reported(void **state)
{
    fixture *f = *state;
    tz_metadata_parser *parser = NULL;
    assert_int_equal(tz_metadata_begin(&parser, 100, 3, &f->b.ctx), TZ_OK);
    assert_int_equal(tz_metadata_is_done(parser), !HAVE_EXPAT);
    assert_int_equal(tz_metadata_feed(parser, "<GDALMetadata>", 14), TZ_OK);
    assert_int_equal(tz_metadata_is_done(parser), !HAVE_EXPAT);
    assert_int_equal(tz_metadata_feed(parser, "</GDALMetadata>\0x", 17), TZ_OK);
    assert_true(tz_metadata_is_done(parser));
    assert_int_equal(tz_metadata_feed(parser, "<more>", 6), TZ_OK);
    assert_int_equal(tz_metadata_finish(parser, true, &f->metadata), TZ_OK);
    if (HAVE_EXPAT)
        bench_silent(&f->b);
}

/* Two parsers on one thread, in turns: each has its own count of expat's memory. */
static void parsers_side_by_side(void **state)
{
    fixture *f = *state;
    tz_metadata_parser *parsers[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        assert_int_equal(tz_metadata_begin(&parsers[i], sizeof gdal_xml, 3, &f->b.ctx), TZ_OK);
    for (size_t at = 0; at < sizeof gdal_xml; at++)
        for (int i = 0; i < 2; i++)
            assert_int_equal(tz_metadata_feed(parsers[i], gdal_xml + at, 1), TZ_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tz_metadata_finish(parsers[i], true, &f->metadata), TZ_OK);
        if (HAVE_EXPAT)
            check_gdal(f);
        tz_metadata_deinit(&f->metadata);
    }
}

static void every_allocation_fails_in_turn(void **state)
{
    fixture *f = *state;
    static const char xml[] = XML("<Item name='a' sample='9'>b</Item>"
                                  "<Item name='c' role='scale'>x</Item><Item name='e'>f</Item>");
    for (uint64_t n = 1;; n++) {
        bench b;
        tz_metadata metadata = {0};
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        bench_init(&b);
        tz_result result = read_all(f, &b.ctx, xml, sizeof xml - 1, &metadata);
        alloc_stats stats = alloc_hook_stats();
        bool shrunk = metadata.held < sizeof xml - 1;
        tz_metadata_deinit(&metadata);
        bench_deinit(&b);
        assert_int_equal(alloc_hook_stats().live_bytes, 0);
        alloc_hook_remove();
        if (stats.failures == 0) {
            assert_int_equal(result, TZ_OK);
            assert_true(n > 2);
            break;
        }
        /* Only giving memory back may fail without harm. */
        if (result == TZ_OK)
            assert_false(shrunk);
        else
            assert_int_equal(result, TZ_ERR_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(metadata_of_gdal),
        CASE(pieces_of_every_size),
        CASE(plain_text_is_what_expat_makes_of_it),
        CASE(nothing_follows_the_first_nul),
        CASE(declaration_cdata_comments),
        CASE(other_elements),
        CASE(no_items),
        CASE(roles_are_of_the_default_domain),
        CASE(values_are_unescaped_twice),
        CASE(unescape_leaves_the_rest_alone),
        CASE(elements_in_an_item_keep_their_markup),
        CASE(sample_that_does_not_exist),
        CASE(scale_and_offset_must_be_numbers),
        CASE(warnings_of_one_kind_are_counted),
        CASE(document_types),
        CASE(malformed),
        CASE(cut_off_at_every_byte),
        CASE(not_utf8),
        CASE(another_root),
        CASE(too_many_bytes),
        CASE(too_many_items),
        CASE(too_deep),
        CASE(four_gib),
        CASE(memory_stays_below_the_tag),
        CASE(many_domains),
        CASE(one_huge_value),
        CASE(one_huge_token),
        CASE(token_of_four_kib_is_fine),
        CASE(a_million_levels),
        CASE(incomplete_is_dropped),
        CASE(more_than_announced_is_refused),
        CASE(the_end_is_reported),
        CASE(parsers_side_by_side),
        CASE(every_allocation_fails_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
