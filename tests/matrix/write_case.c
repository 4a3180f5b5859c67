/* SPDX-License-Identifier: Apache-2.0
 * Writes files as stdin says, for check_written.py, check_cogs.py and others. A line is a
 * word and its values, with tabs between; bytes that would disturb are %XX. What was said stays
 * said until "new".
 *
 *     new
 *     image WIDTH HEIGHT BANDS DTYPE
 *     pixels FILE          packed samples, band after band
 *     mask FILE            a byte for each pixel
 *     like FILE            in place of these: all that this file has; answers
 *     set NAME VALUE       a member of tz_image_spec, tz_geo or tz_write_options: a number
 *     nodata KIND VALUE    KIND is int, uint or float
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

enum { MOST_WORDS = 1 << 16, MOST_COPIED = 1 << 26 };

static const char *const givings[] = {"pushed", "ragged", "pulled", "columns", NULL};
static const char *const lyings[] = {"packed", "band", "pixel", "flipped", NULL};
static const char *const sinkings[] = {"path", "memory", "callback", "blind", "inserting", NULL};

/* ---- memory of a case ---- */

static void forget(write_case *c)
{
    for (size_t i = 0; i < c->memory_count; i++)
        free(c->memory[i]);
    free(c->memory);
    tz_image_spec_free(c->copied);
    free(c->pixels);
    free(c->mask);
    *c = (write_case){.spec = TZ_IMAGE_SPEC_INIT, .options = TZ_WRITE_OPTIONS_INIT};
    c->geo.struct_size = sizeof c->geo;
    c->geo.raster_type = TZ_RASTER_TYPE_UNDEFINED;
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

/* ---- lines ---- */

static void do_image(write_case *c, char **words, size_t count)
{
    (void)count;
    store_number(&c->spec.width, UINT32, words[0]);
    store_number(&c->spec.height, UINT32, words[1]);
    store_number(&c->spec.bands, UINT32, words[2]);
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
    tz_result result = tz_image_spec_from_file(&c->copied, file, err);
    if (result != TZ_OK)
        return result;
    tz_image_spec *s = &c->spec;
    *s = *c->copied;
    if ((double)s->width * s->height * s->bands > MOST_COPIED)
        return tz_error_set(err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT, TZ_NO_VALUE,
                            "too large to be copied");
    c->pixels = checked_malloc(image_bytes(s));
    c->mask = checked_malloc(pixel_count(s));
    tz_buffer into = {.struct_size = sizeof into,
                      .data = c->pixels,
                      .dtype = s->dtype,
                      .bands = s->bands,
                      .height = s->height,
                      .width = s->width};
    tz_item item = {.struct_size = sizeof item, .file = file, .into = &into};
    result = tz_read(&item, NULL, NULL, err);
    if (result != TZ_OK || !s->mask)
        return result;
    item.mask = true;
    into.data = c->mask;
    into.dtype = TZ_DTYPE_UINT8;
    into.bands = 1;
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

static void do_way(write_case *c, char **words, size_t count)
{
    (void)count;
    c->giving = (giving)index_in(givings, words[0]);
    store_number(&c->batch, UINT32, words[1]);
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
    {"set", 2, tell_set},
    {"nodata", 2, tell_nodata},
    {"extra_samples", 0, tell_extra_samples},
    {"color_map", 1, tell_color_map},
    {"item", 5, tell_item},
    {"tag", 4, tell_tag},
    {"transform", 6, tell_transform},
    {"gcp", 6, tell_gcp},
    {"key", 3, tell_key},
    {"rpc", 92, tell_rpc},
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
