/* SPDX-License-Identifier: Apache-2.0
 * Writes files as it is told on stdin, for check_written.py and others. A line is a word and its
 * values, with tabs between; bytes that would disturb are %XX. What was said stays said until
 * "new".
 *
 *     new
 *     image WIDTH HEIGHT BANDS DTYPE
 *     pixels FILE          packed samples, band after band
 *     mask FILE            a byte for each pixel
 *     like FILE            specification, pixels and mask of that file, in place of all these;
 * answers set NAME VALUE       a member of tz_image_spec or tz_write_options that is a number
 *     nodata KIND VALUE    KIND is int, uint or float
 *     nodata_text TEXT
 *     extra_samples VALUE...
 *     color_map VALUE...
 *     item BAND DOMAIN NAME ROLE VALUE
 *     tag NUMBER TYPE COUNT HEX
 *     transform T0 ... T5
 *     gcp COLUMN ROW DEPTH X Y Z
 *     key ID TYPE VALUE... one of GeoTIFF's
 *     rpc VALUE...
 *     way GIVING BATCH LYING SINK
 *     plan                 answers
 *     write PATH           answers
 *
 * The answer is a line, "ok BYTES" or "error RESULT MESSAGE". */
#include <stdio.h>
#include <string.h>

#include "write_case.h"

enum { MOST_WORDS = 1 << 16 };

static const char *const givings[] = {"pushed", "ragged", "pulled", "columns", NULL};
static const char *const lyings[] = {"packed", "band", "pixel", "flipped", NULL};
static const char *const sinkings[] = {"path", "memory", "callback", "blind", NULL};

static void fail(const char *what, const char *where)
{
    fprintf(stderr, "write_case: %s: %s\n", what, where);
    exit(2);
}

/* ---- memory of a case ---- */

static void *remember(write_case *c, void *memory)
{
    c->memory = realloc(c->memory, (c->memory_count + 1) * sizeof *c->memory);
    if (!c->memory)
        abort();
    c->memory[c->memory_count++] = memory;
    return memory;
}

static char *remember_text(write_case *c, const char *text)
{
    const size_t size = strlen(text) + 1;
    return memcpy(remember(c, checked_malloc(size)), text, size);
}

static void forget(write_case *c)
{
    for (size_t i = 0; i < c->memory_count; i++)
        free(c->memory[i]);
    free(c->memory);
    tz_spec_free(c->copied);
    free(c->pixels);
    free(c->mask);
    *c = (write_case){.spec = TZ_IMAGE_SPEC_INIT, .options = TZ_WRITE_OPTIONS_INIT};
    c->geo.raster_type = TZ_RASTER_UNDEFINED;
    c->geo.coordinate_epoch = strtod("nan", NULL);
}

static uint8_t *load(const char *path, size_t size)
{
    uint8_t *data = checked_malloc(size + 1);
    FILE *file = fopen(path, "rb");
    if (!file || fread(data, 1, size + 1, file) != size)
        fail("not as many bytes as the image needs", path);
    fclose(file);
    return data;
}

/* ---- numbers ---- */

typedef enum number_type { UINT16, UINT32, INT32, UINT64, FLOAT64, BOOLEAN, ENUM } number_type;

/* A member of write_case that is a number. */
typedef struct number {
    const char *name;
    number_type type;
    size_t offset;
} number;

#define OF_SPEC(member, type)                                                                      \
    {                                                                                              \
#member, type, offsetof(write_case, spec.member)                                           \
    }
#define OF_OPTIONS(member, type)                                                                   \
    {                                                                                              \
#member, type, offsetof(write_case, options.member)                                        \
    }
#define OF_GEO(member, type)                                                                       \
    {                                                                                              \
#member, type, offsetof(write_case, geo.member)                                            \
    }

static const number numbers[] = {
    OF_SPEC(bits_per_sample, UINT16),
    OF_SPEC(orientation, UINT16),
    OF_SPEC(photometric, ENUM),
    OF_OPTIONS(compression, ENUM),
    OF_OPTIONS(predictor, UINT16),
    OF_OPTIONS(strips, BOOLEAN),
    OF_OPTIONS(big_endian, BOOLEAN),
    OF_OPTIONS(sparse, BOOLEAN),
    OF_OPTIONS(tile_width, UINT32),
    OF_OPTIONS(tile_height, UINT32),
    OF_OPTIONS(alignment, UINT32),
    OF_OPTIONS(interleave, ENUM),
    OF_OPTIONS(bigtiff, ENUM),
    OF_OPTIONS(level, INT32),
    OF_OPTIONS(quality, UINT32),
    OF_OPTIONS(lossless, ENUM),
    OF_OPTIONS(distance, FLOAT64),
    OF_OPTIONS(alpha_distance, FLOAT64),
    OF_OPTIONS(max_error, FLOAT64),
    OF_OPTIONS(lerc_compression, UINT16),
    OF_OPTIONS(jpeg_tables, ENUM),
    OF_OPTIONS(keep_nan, BOOLEAN),
    OF_OPTIONS(statistics_items, BOOLEAN),
    OF_OPTIONS(threads, UINT32),
    OF_OPTIONS(buffer_bytes, UINT64),
    OF_OPTIONS(no_sync, BOOLEAN),
    OF_OPTIONS(verify, ENUM),
    OF_GEO(raster_type, ENUM),
    OF_GEO(epsg, UINT16),
    OF_GEO(epsg_vertical, UINT16),
    OF_GEO(coordinate_epoch, FLOAT64),
};

static void store(void *to, number_type type, const char *text)
{
    const long long whole = strtoll(text, NULL, 10);
    const double real = strtod(text, NULL);
    switch (type) {
    case UINT16:
        memcpy(to, &(uint16_t){(uint16_t)whole}, sizeof(uint16_t));
        break;
    case UINT32:
        memcpy(to, &(uint32_t){(uint32_t)whole}, sizeof(uint32_t));
        break;
    case INT32:
        memcpy(to, &(int32_t){(int32_t)whole}, sizeof(int32_t));
        break;
    case UINT64:
        memcpy(to, &(uint64_t){(uint64_t)whole}, sizeof(uint64_t));
        break;
    case FLOAT64:
        memcpy(to, &real, sizeof real);
        break;
    case BOOLEAN:
        memcpy(to, &(bool){whole != 0}, sizeof(bool));
        break;
    case ENUM:
        memcpy(to, &(unsigned){(unsigned)whole}, sizeof(unsigned));
        break;
    }
}

static void *list_of(write_case *c, char **words, size_t count, number_type type, size_t size)
{
    uint8_t *list = remember(c, checked_malloc(count * size));
    for (size_t i = 0; i < count; i++)
        store(list + i * size, type, words[i]);
    return list;
}

static unsigned index_in(const char *const *names, const char *word)
{
    for (unsigned i = 0; names[i]; i++) {
        if (strcmp(names[i], word) == 0)
            return i;
    }
    fail("unknown word", word);
    return 0;
}

/* ---- lines ---- */

static void do_image(write_case *c, char **words, size_t count)
{
    (void)count;
    store(&c->spec.width, UINT32, words[0]);
    store(&c->spec.height, UINT32, words[1]);
    store(&c->spec.bands, UINT32, words[2]);
    for (unsigned i = TZ_DTYPE_UINT8; i <= TZ_DTYPE_COMPLEX_FLOAT64; i++) {
        if (strcmp(tz_dtype_name((tz_dtype)i), words[3]) == 0)
            c->spec.dtype = (tz_dtype)i;
    }
}

static size_t pixel_count(const tz_image_spec *spec)
{
    return (size_t)spec->width * spec->height;
}

static size_t image_bytes(const tz_image_spec *spec)
{
    return pixel_count(spec) * spec->bands * tz_dtype_size(spec->dtype);
}

static void do_pixels(write_case *c, char **words, size_t count)
{
    (void)count;
    c->pixels = load(words[0], image_bytes(&c->spec));
}

static void do_mask(write_case *c, char **words, size_t count)
{
    (void)count;
    c->mask = load(words[0], pixel_count(&c->spec));
    c->spec.mask = true;
}

static tz_result read_image(write_case *c, const tz_file *file, tz_error *err)
{
    tz_result result = tz_spec_of(&c->copied, file, err);
    if (result != TZ_OK)
        return result;
    tz_image_spec *s = &c->spec;
    *s = *c->copied;
    c->pixels = checked_malloc(image_bytes(s));
    c->mask = checked_malloc(pixel_count(s));
    tz_item item = {.file = file,
                    .into = {.data = c->pixels,
                             .dtype = s->dtype,
                             .bands = s->bands,
                             .height = s->height,
                             .width = s->width}};
    result = tz_read(&item, NULL, NULL, err);
    if (result != TZ_OK || !s->mask)
        return result;
    item.level = TZ_MASK_OF(0u);
    item.into.data = c->mask;
    item.into.dtype = TZ_DTYPE_UINT8;
    item.into.bands = 1;
    return tz_read(&item, NULL, NULL, err);
}

static void do_like(write_case *c, char **words, size_t count)
{
    tz_file *file = NULL;
    tz_error err = {.message = ""};
    (void)count;
    tz_result result = tz_open(&file, words[0], NULL, &err);
    if (result == TZ_OK)
        result = read_image(c, file, &err);
    tz_close(file);
    if (result == TZ_OK)
        printf("ok %zu\n", image_bytes(&c->spec));
    else
        printf("error %s %s\n", tz_result_name(result), err.message);
    fflush(stdout);
}

static void do_set(write_case *c, char **words, size_t count)
{
    (void)count;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(numbers[i].name, words[0]) == 0) {
            store((uint8_t *)c + numbers[i].offset, numbers[i].type, words[1]);
            return;
        }
    }
    fail("no such member", words[0]);
}

static void do_nodata(write_case *c, char **words, size_t count)
{
    static const char *const kinds[] = {"none", "int", "uint", "float", NULL};
    tz_nodata *nodata = &c->spec.nodata;
    (void)count;
    nodata->kind = (tz_nodata_kind)index_in(kinds, words[0]);
    if (nodata->kind == TZ_NODATA_INT)
        nodata->value.i = strtoll(words[1], NULL, 10);
    else if (nodata->kind == TZ_NODATA_UINT)
        nodata->value.u = strtoull(words[1], NULL, 10);
    else
        nodata->value.f = strtod(words[1], NULL);
}

static void do_nodata_text(write_case *c, char **words, size_t count)
{
    (void)count;
    c->spec.nodata_text = remember_text(c, words[0]);
}

static void do_extra_samples(write_case *c, char **words, size_t count)
{
    c->spec.extra_samples = list_of(c, words, count, UINT16, sizeof(uint16_t));
    c->spec.extra_sample_count = (uint32_t)count;
}

static void do_color_map(write_case *c, char **words, size_t count)
{
    c->spec.color_map = list_of(c, words, count, UINT16, sizeof(uint16_t));
    c->spec.color_map_size = (uint32_t)count / 3;
}

static void do_item(write_case *c, char **words, size_t count)
{
    (void)count;
    if (c->spec.metadata_count == MOST_ITEMS)
        fail("too many items", words[2]);
    tz_metadata_item *item = &c->items[c->spec.metadata_count++];
    store(&item->band, INT32, words[0]);
    item->domain = remember_text(c, words[1]);
    item->name = remember_text(c, words[2]);
    item->role = remember_text(c, words[3]);
    item->value = remember_text(c, words[4]);
    c->spec.metadata = c->items;
}

static void do_tag(write_case *c, char **words, size_t count)
{
    const size_t size = strlen(words[3]) / 2;
    uint8_t *data = remember(c, checked_malloc(size));
    (void)count;
    if (c->spec.tag_count == MOST_TAGS)
        fail("too many tags", words[0]);
    for (size_t i = 0; i < size; i++) {
        const char digits[] = {words[3][2 * i], words[3][2 * i + 1], '\0'};
        data[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    tz_tag_value *tag = &c->tags[c->spec.tag_count++];
    store(&tag->tag, UINT16, words[0]);
    store(&tag->type, UINT16, words[1]);
    store(&tag->count, UINT64, words[2]);
    tag->data = data;
    c->spec.tags = c->tags;
}

static void do_transform(write_case *c, char **words, size_t count)
{
    c->geo.has_transform = true;
    for (size_t i = 0; i < 6 && i < count; i++)
        store(&c->geo.transform[i], FLOAT64, words[i]);
}

static void do_gcp(write_case *c, char **words, size_t count)
{
    if (c->geo.gcp_count == MOST_GCPS)
        fail("too many points", words[0]);
    const double *v = list_of(c, words, count, FLOAT64, sizeof(double));
    c->gcps[c->geo.gcp_count++] = (tz_gcp){v[0], v[1], v[2], v[3], v[4], v[5]};
    c->geo.gcps = c->gcps;
}

static void do_key(write_case *c, char **words, size_t count)
{
    if (c->geo.key_count == MOST_KEYS)
        fail("too many keys", words[0]);
    tz_geo_key *key = &c->keys[c->geo.key_count++];
    store(&key->id, UINT16, words[0]);
    store(&key->type, UINT16, words[1]);
    key->count = (uint32_t)count - 2;
    if (key->type == 3) {
        key->value.shorts = list_of(c, words + 2, count - 2, UINT16, sizeof(uint16_t));
    } else if (key->type == 12) {
        key->value.doubles = list_of(c, words + 2, count - 2, FLOAT64, sizeof(double));
    } else {
        key->value.text = remember_text(c, words[2]);
        key->count = (uint32_t)strlen(words[2]);
    }
    c->geo.keys = c->keys;
    c->geo.key_revision = 1;
}

static void do_rpc(write_case *c, char **words, size_t count)
{
    c->geo.rpc = list_of(c, words, count, FLOAT64, sizeof(double));
}

static void do_way(write_case *c, char **words, size_t count)
{
    (void)count;
    c->giving = (giving)index_in(givings, words[0]);
    store(&c->batch, UINT32, words[1]);
    c->lying = (lying)index_in(lyings, words[2]);
    c->sinking = (sinking)index_in(sinkings, words[3]);
}

/* A specification of a file's has its own georeferencing. */
static void complete(write_case *c)
{
    if (!c->copied)
        c->spec.geo = &c->geo;
}

static void do_plan(write_case *c, char **words, size_t count)
{
    (void)words, (void)count;
    complete(c);
    run_plan(c);
}

static void do_write(write_case *c, char **words, size_t count)
{
    (void)count;
    complete(c);
    run_write(c, words[0]);
}

static void do_new(write_case *c, char **words, size_t count)
{
    (void)words, (void)count;
    forget(c);
}

static const struct line {
    const char *word;
    size_t least; /* values */
    void (*run)(write_case *c, char **words, size_t count);
} lines[] = {
    {"new", 0, do_new},
    {"image", 4, do_image},
    {"pixels", 1, do_pixels},
    {"mask", 1, do_mask},
    {"like", 1, do_like},
    {"set", 2, do_set},
    {"nodata", 2, do_nodata},
    {"nodata_text", 1, do_nodata_text},
    {"extra_samples", 0, do_extra_samples},
    {"color_map", 1, do_color_map},
    {"item", 5, do_item},
    {"tag", 4, do_tag},
    {"transform", 6, do_transform},
    {"gcp", 6, do_gcp},
    {"key", 3, do_key},
    {"rpc", 92, do_rpc},
    {"way", 4, do_way},
    {"plan", 0, do_plan},
    {"write", 1, do_write},
};

/* %XX becomes the byte it stands for. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        if (*from == '%') {
            const char digits[] = {from[1], from[2], '\0'};
            *to = (char)strtoul(digits, NULL, 16);
            from += 3;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

static void run_line(write_case *c, char *text)
{
    static char *words[MOST_WORDS];
    size_t count = 0;
    for (char *next = text; next && count < MOST_WORDS;) {
        char *tab = strchr(next, '\t');
        if (tab)
            *tab++ = '\0';
        unescape(next);
        words[count++] = next;
        next = tab;
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (strcmp(lines[i].word, words[0]) == 0 && count > lines[i].least) {
            lines[i].run(c, words + 1, count - 1);
            return;
        }
    }
    fail("not understood", words[0]);
}

int main(void)
{
    static write_case c;
    static char text[1 << 22];
    forget(&c);
    while (fgets(text, sizeof text, stdin)) {
        text[strcspn(text, "\n")] = '\0';
        run_line(&c, text);
    }
    forget(&c);
    return 0;
}
