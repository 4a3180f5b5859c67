/* SPDX-License-Identifier: Apache-2.0
 * Every file of the corpus, cut short and with single bits flipped in its header and directories,
 * is opened from a heap buffer of exactly its size, so that the address sanitizer sees a read of
 * one byte too many. Whatever comes of it must be a file whose every promise holds (fuzz/touch.h)
 * or a clear error, within the bounds on memory and reads given below.
 *
 * A sample runs by default; TERRAZZO_LONG=1 runs all of it. TERRAZZO_ONLY=text takes only the files
 * whose names contain text. Everything is deterministic. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fuzz/touch.h"

#define LONG_CUTS    200
#define LONG_FLIPS   2000
#define SAMPLE_CUTS  10
#define SAMPLE_FLIPS 60

/* Peak of live bytes while opening, beyond the file's own size. */
#define PEAK_BYTES        65536u
#define PEAK_BYTES_OF_IFD 64u

/* Requests to the source while opening: a few, some for each directory, and one for each 4 KiB of
 * long tag values, which cannot be more than the file has; and bytes asked for beyond the file's
 * own size. */
#define READS         16u
#define READS_OF_IFD  4u
#define READ_BLOCK    4096u
#define BYTES_OF_READ 65536u

#define FAILURES_SHOWN 20

/* ---------------------------------------------------------------------------------------------
 * What is being tried, for messages; also printed when a sanitizer ends the program
 * ------------------------------------------------------------------------------------------ */

static struct {
    const char *file;
    const char *what;
    uint64_t where;
    uint64_t failures;
    uint64_t tried;
    uint64_t opened;
} now;

static void touch_fail(const char *what, const char *message)
{
    now.failures++;
    if (now.failures <= FAILURES_SHOWN)
        printf("%s, %s %" PRIu64 ": %s: %s\n", now.file, now.what, now.where, what, message);
}

static void print_last_words(void)
{
    fprintf(stderr, "while opening %s, %s %" PRIu64 "\n", now.file, now.what, now.where);
}

/* In the sanitizers' run-time library, where there is one. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

/* ---------------------------------------------------------------------------------------------
 * Opening, measured
 * ------------------------------------------------------------------------------------------ */

typedef struct meter {
    size_t live;
    size_t peak;
} meter;

static bool allow_all(void *user, size_t size)
{
    (void)user;
    (void)size;
    return true;
}

static void count_moved(void *user, size_t released, size_t acquired)
{
    meter *m = user;
    m->live = m->live - released + acquired;
    if (m->live > m->peak)
        m->peak = m->live;
}

/* A source that counts what is asked of it. It is not closed: it lives on the stack. */
typedef struct counting_source {
    tz_source source;
    const uint8_t *data;
    uint64_t reads;
    uint64_t bytes;
} counting_source;

static tz_result count_submit(tz_source *source, tz_request *request, tz_error *err)
{
    counting_source *counting = (counting_source *)source;
    counting->reads++;
    for (size_t i = 0; i < request->count; i++) {
        const tz_range *range = &request->ranges[i];
        if (range->offset > source->size || range->size > source->size - range->offset)
            return tz_error_set(err, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED, range->offset,
                                "the file ends here");
        memcpy(range->dst, counting->data + range->offset, range->size);
        counting->bytes += range->size;
    }
    return TZ_OK;
}

static tz_result count_wait(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source;
    (void)request;
    (void)err;
    return TZ_OK;
}

static void count_close(tz_source *source)
{
    (void)source;
}

/* Directories that a file of this size can make the library visit, when opening failed and it did
 * not say. */
static uint64_t possible_ifds(size_t size)
{
    return size / 6;
}

static void try_counted(const uint8_t *data, size_t size, tz_result expected, uint64_t ifds)
{
    counting_source counting = {{.struct_size = sizeof(tz_source),
                                 .size = size,
                                 .submit = count_submit,
                                 .wait = count_wait,
                                 .close = count_close},
                                data,
                                0,
                                0};
    tz_file *file = NULL;
    tz_error err;
    tz_result result = tz_open_source(&file, &counting.source, now.file, NULL, &err);
    touch_check(result == expected, "another result from another source");
    touch_check(counting.reads <= READS + READS_OF_IFD * ifds + size / READ_BLOCK,
                "too many reads");
    touch_check(counting.bytes <= size + BYTES_OF_READ, "too many bytes read");
    tz_close(file);
}

static void try_bytes(const uint8_t *data, size_t size)
{
    meter m = {0, 0};
    tz_mem_hook hook = {allow_all, count_moved, &m};
    tz_file *file = NULL;
    tz_error err;
    tz_mem_set_hook(&hook);
    tz_result result = tz_open_memory(&file, data, size, NULL, &err);
    const size_t peak = m.peak;
    uint64_t ifds = possible_ifds(size);
    now.tried++;
    if (result == TZ_OK) {
        now.opened++;
        ifds = tz_file_get_info(file)->ifd_count;
        touch_everything(file);
    } else {
        touch_error(result, &err);
        touch_check(file == NULL, "a file in spite of an error");
    }
    tz_close(file);
    tz_mem_set_hook(NULL);
    touch_check(peak <= size + PEAK_BYTES + PEAK_BYTES_OF_IFD * ifds, "too much memory");
    touch_check(m.live == 0, "memory that is not given back");
    if (now.tried % 8 == 0)
        try_counted(data, size, result, ifds);
}

/* ---------------------------------------------------------------------------------------------
 * Where a file's structure is: a second reader of directories, as simple as can be
 * ------------------------------------------------------------------------------------------ */

#define MAX_PARTS    4096
#define MAX_WALKED   64
#define SMALL_DATA   1024
#define TAG_SUB_IFDS 330
#define TAG_EXIF     34665
#define TAG_GPS      34853

typedef struct part {
    uint64_t start;
    uint64_t end;
} part;

typedef struct walk {
    const uint8_t *data;
    uint64_t size;
    bool big_endian;
    bool bigtiff;
    part parts[MAX_PARTS];
    size_t part_count;
    uint64_t queue[MAX_WALKED];
    size_t queued;
} walk;

static uint64_t get(const walk *w, uint64_t at, unsigned width)
{
    uint64_t value = 0;
    if (at > w->size || width > w->size - at)
        return 0;
    for (unsigned i = 0; i < width; i++)
        value = value << 8 | w->data[at + (w->big_endian ? i : width - 1 - i)];
    return value;
}

static void add_part(walk *w, uint64_t start, uint64_t size)
{
    if (w->part_count == MAX_PARTS || start >= w->size || size == 0)
        return;
    uint64_t end = size < w->size - start ? start + size : w->size;
    w->parts[w->part_count++] = (part){start, end};
}

static void add_ifd(walk *w, uint64_t offset)
{
    if (offset == 0 || offset >= w->size || w->queued == MAX_WALKED)
        return;
    for (size_t i = 0; i < w->queued; i++)
        if (w->queue[i] == offset)
            return;
    w->queue[w->queued++] = offset;
}

static unsigned type_size(uint64_t type)
{
    static const uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return type < sizeof sizes ? sizes[type] : 0;
}

static void walk_entry(walk *w, uint64_t at)
{
    const uint64_t tag = get(w, at, 2);
    const unsigned unit = type_size(get(w, at + 2, 2));
    const uint64_t count = get(w, at + 4, w->bigtiff ? 8 : 4);
    const unsigned inline_size = w->bigtiff ? 8 : 4;
    uint64_t data = at + (w->bigtiff ? 12 : 8);
    if (unit == 0 || count > w->size)
        return;
    if (count * unit > inline_size) {
        data = get(w, data, inline_size);
        if (count * unit <= SMALL_DATA)
            add_part(w, data, count * unit);
    }
    if (tag == TAG_SUB_IFDS || tag == TAG_EXIF || tag == TAG_GPS)
        for (uint64_t i = 0; i < count && i < MAX_WALKED; i++)
            add_ifd(w, get(w, data + i * unit, unit));
}

static void walk_ifd(walk *w, uint64_t at)
{
    const unsigned count_size = w->bigtiff ? 8 : 2;
    const unsigned entry_size = w->bigtiff ? 20 : 12;
    const unsigned next_size = w->bigtiff ? 8 : 4;
    uint64_t count = get(w, at, count_size);
    if (count > 4096)
        count = 0;
    add_part(w, at, count_size + count * entry_size + next_size);
    for (uint64_t i = 0; i < count; i++)
        walk_entry(w, at + count_size + i * entry_size);
    add_ifd(w, get(w, at + count_size + count * entry_size, next_size));
}

static int compare_parts(const void *a, const void *b)
{
    const part *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* Header, directories and small tag data as ascending parts that do not overlap. */
static void walk_file(walk *w, const uint8_t *data, size_t size)
{
    w->data = data;
    w->size = size;
    w->part_count = 0;
    w->queued = 0;
    w->big_endian = size > 0 && data[0] == 'M';
    w->bigtiff = get(w, 2, 2) == 43;
    add_part(w, 0, w->bigtiff ? 16 : 8);
    add_ifd(w, get(w, w->bigtiff ? 8 : 4, w->bigtiff ? 8 : 4));
    for (size_t i = 0; i < w->queued; i++)
        walk_ifd(w, w->queue[i]);
    qsort(w->parts, w->part_count, sizeof w->parts[0], compare_parts);
    size_t kept = 0;
    for (size_t i = 0; i < w->part_count; i++) {
        if (kept > 0 && w->parts[i].start <= w->parts[kept - 1].end) {
            if (w->parts[i].end > w->parts[kept - 1].end)
                w->parts[kept - 1].end = w->parts[i].end;
        } else {
            w->parts[kept++] = w->parts[i];
        }
    }
    w->part_count = kept;
}

/* ---------------------------------------------------------------------------------------------
 * Mutations
 * ------------------------------------------------------------------------------------------ */

static uint64_t random_state;

static uint64_t random_below(uint64_t bound)
{
    random_state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = random_state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % bound;
}

static void try_cut(const uint8_t *data, size_t size, uint64_t at)
{
    if (at >= size)
        return;
    now.where = at;
    uint8_t *copy = malloc(at > 0 ? at : 1);
    if (copy == NULL)
        abort();
    memcpy(copy, data, at);
    try_bytes(at > 0 ? copy : copy + 1, at);
    free(copy);
}

/* At the ends of structures and one byte before and after, the first half of the cuts at most; the
 * others spread evenly, and every byte of a file that is short enough. */
static void cut_file(const walk *w, const uint8_t *data, size_t size, uint64_t cuts)
{
    now.what = "cut at byte";
    if (size <= cuts) {
        for (uint64_t at = 0; at < size; at++)
            try_cut(data, size, at);
        return;
    }
    uint64_t edges = w->part_count * 5;
    if (edges > cuts / 2)
        edges = cuts / 2;
    for (uint64_t i = 0; i < edges; i++) {
        uint64_t edge = i * w->part_count * 5 / edges;
        const part *p = &w->parts[edge / 5];
        const uint64_t places[] = {p->start + 1, p->end - 1, p->end, p->start, p->end + 1};
        try_cut(data, size, places[edge % 5]);
    }
    for (uint64_t i = 0; i < cuts - edges; i++)
        try_cut(data, size, i * size / (cuts - edges));
}

static void try_flip(const walk *w, uint8_t *data, size_t size, uint64_t bit)
{
    uint64_t byte = bit / 8;
    size_t i = 0;
    for (; byte >= w->parts[i].end - w->parts[i].start; i++)
        byte -= w->parts[i].end - w->parts[i].start;
    byte += w->parts[i].start;
    now.where = byte * 8 + bit % 8;
    data[byte] ^= (uint8_t)(1u << bit % 8);
    try_bytes(data, size);
    data[byte] ^= (uint8_t)(1u << bit % 8);
}

static void flip_file(const walk *w, uint8_t *data, size_t size, uint64_t flips)
{
    now.what = "bit flipped";
    uint64_t bits = 0;
    for (size_t i = 0; i < w->part_count; i++)
        bits += (w->parts[i].end - w->parts[i].start) * 8;
    for (uint64_t i = 0; i < flips && bits > 0; i++) {
        if (bits > flips)
            try_flip(w, data, size, random_below(bits));
        else if (i < bits)
            try_flip(w, data, size, i);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Files
 * ------------------------------------------------------------------------------------------ */

static const char *corpus_folder(void)
{
    const char *folder = getenv("TERRAZZO_CORPUS");
    return folder != NULL ? folder : TERRAZZO_SOURCE_DIR "/../shared/corpus";
}

static FILE *open_in_corpus(const char *name)
{
    char path[8448];
    snprintf(path, sizeof path, "%s/%s", corpus_folder(), name);
    return fopen(path, "rb");
}

/* The bytes of a file in a buffer of exactly their size. */
static uint8_t *load(const char *name, size_t *size)
{
    FILE *file = open_in_corpus(name);
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        return NULL;
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*size > 0 ? *size : 1);
    if (data == NULL || fread(data, 1, *size, file) != *size)
        abort();
    fclose(file);
    return data;
}

static void mutate_file(const char *name, bool cut, uint64_t times)
{
    static walk w;
    size_t size = 0;
    uint8_t *data = load(name, &size);
    if (data == NULL) {
        touch_fail("cannot be read", name);
        return;
    }
    now.file = name;
    now.what = "unchanged";
    now.where = 0;
    random_state = size;
    try_bytes(data, size);
    walk_file(&w, data, size);
    if (cut)
        cut_file(&w, data, size, times);
    else
        flip_file(&w, data, size, times);
    free(data);
}

/* Every file that the manifest names in the first column of each line but the first. */
static void mutate_corpus(bool cut, uint64_t times)
{
    FILE *manifest = open_in_corpus("MANIFEST.tsv");
    if (manifest == NULL) {
        printf("skip: the 1,115 files of the corpus are not there; set TERRAZZO_CORPUS\n");
        fflush(stdout);
        skip();
    }
    memset(&now, 0, sizeof now);
    const char *only = getenv("TERRAZZO_ONLY");
    char line[4096];
    unsigned files = 0;
    for (bool heading = true; fgets(line, sizeof line, manifest) != NULL; heading = false) {
        line[strcspn(line, "\t\n")] = '\0';
        if (heading || (only != NULL && strstr(line, only) == NULL))
            continue;
        mutate_file(line, cut, times);
        files++;
    }
    fclose(manifest);
    printf("%u files, %" PRIu64 " tries, %" PRIu64 " opened, %" PRIu64 " failures\n", files,
           now.tried, now.opened, now.failures);
    fflush(stdout);
    assert_int_equal(now.failures, 0);
    assert_true(files > 0);
}

static bool is_long(void)
{
    const char *text = getenv("TERRAZZO_LONG");
    return text != NULL && strcmp(text, "1") == 0;
}

static void test_files_cut_short(void **state)
{
    (void)state;
    mutate_corpus(true, is_long() ? LONG_CUTS : SAMPLE_CUTS);
}

static void test_files_with_flipped_bits(void **state)
{
    (void)state;
    mutate_corpus(false, is_long() ? LONG_FLIPS : SAMPLE_FLIPS);
}

int main(void)
{
    if (__sanitizer_set_death_callback != NULL)
        __sanitizer_set_death_callback(print_last_words);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_cut_short),
        cmocka_unit_test(test_files_with_flipped_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
