/* SPDX-License-Identifier: Apache-2.0
 * The loop that times reading, the same for every reader. A program that includes this fills in a
 * reader and calls reader_main. A line on stdin is a request:
 *
 *     whole THREADS REPEATS CHECK LAYOUT PATH   open, read all, close
 *     each  THREADS REPEATS CHECK LAYOUT LIST   one window after the other: open, read, close
 *     kept  THREADS REPEATS CHECK LAYOUT LIST   the same with the file open all the time
 *     batch THREADS REPEATS CHECK LAYOUT LIST   all windows, however the reader does it best
 *
 * LAYOUT is `pixel` or `band`: what lies side by side in the buffer, as in the file, so that nobody
 * has to transpose. A LIST has lines `COLUMN ROW WIDTH HEIGHT PATH`, sorted by path. The answer is
 * `SECONDS CPU SUM BYTES`: the time of one repeat on the wall and of all cores, a checksum of all
 * pixels (CHECK 1; else 0), and their size; or `failed MESSAGE`. Pixels go to a buffer that is warm
 * and on huge pages. */
#ifndef TZ_BENCH_READER_H
#define TZ_BENCH_READER_H

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "timing.h"

enum { MAX_THREADS = 256 };

typedef struct shape {
    uint32_t width, height, bands;
    size_t sample_size;
} shape;

typedef struct window {
    uint32_t column, row, width, height;
} window;

typedef struct window_read {
    window window;
    char *path;
    size_t offset; /* of its pixels among those of the list */
    uint8_t *into;
} window_read;

/* Members that a program fills in. Functions return NULL or false after failed(...). */
typedef struct reader {
    void *(*open)(const char *path, unsigned threads, shape *what);
    bool (*read)(void *file, const window *where, bool by_pixel, unsigned threads, uint8_t *into);
    void (*close)(void *file);
    /* NULL: each thread takes one file after the other and reads its windows. */
    bool (*batch)(const window_read *reads, size_t count, bool by_pixel, unsigned threads);
} reader;

static size_t window_bytes(const window *w, const shape *what)
{
    return (size_t)w->width * w->height * what->bands * what->sample_size;
}

/* ---- whole images ---- */

static bool read_whole(const reader *r, const char *path, bool by_pixel, unsigned threads,
                       size_t *size)
{
    shape what;
    void *file = r->open(path, threads, &what);
    if (file == NULL)
        return false;
    const window all = {0, 0, what.width, what.height};
    *size = window_bytes(&all, &what);
    const bool done = r->read(file, &all, by_pixel, threads, warm_buffer(*size));
    r->close(file);
    return done;
}

/* ---- windows ---- */

typedef struct window_list {
    window_read *reads;
    size_t count;
    size_t size; /* bytes of all pixels */
} window_list;

static bool measure_reads(const reader *r, window_list *list)
{
    shape what = {0};
    for (size_t i = 0; i < list->count; i++) {
        window_read *p = &list->reads[i];
        if (i == 0 || strcmp(p->path, p[-1].path) != 0) {
            void *file = r->open(p->path, 1, &what);
            if (file == NULL)
                return false;
            r->close(file);
        }
        p->offset = list->size;
        list->size += window_bytes(&p->window, &what);
    }
    return true;
}

static void assign_outputs(window_list *list)
{
    uint8_t *base = warm_buffer(list->size);
    for (size_t i = 0; i < list->count; i++)
        list->reads[i].into = base + list->reads[i].offset;
}

/* The list stays in memory until another one is asked for. */
static bool load_list(const reader *r, const char *path, window_list *list)
{
    FILE *file = fopen(path, "r");
    char line[MAX_LINE], name[MAX_LINE];
    size_t capacity = 0;
    window w;
    memset(list, 0, sizeof *list);
    if (file == NULL)
        return failed("%s: cannot open", path);
    while (fgets(line, sizeof line, file) != NULL &&
           sscanf(line, "%u %u %u %u %4095[^\n]", &w.column, &w.row, &w.width, &w.height, name) ==
               5) {
        if (list->count == capacity) {
            capacity = capacity > 0 ? 2 * capacity : 1024;
            list->reads = realloc(list->reads, capacity * sizeof *list->reads);
            if (list->reads == NULL)
                abort();
        }
        list->reads[list->count++] = (window_read){.window = w, .path = strdup(name)};
    }
    fclose(file);
    return measure_reads(r, list);
}

static void free_list(window_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->reads[i].path);
    free(list->reads);
}

static bool read_each(const reader *r, const window_list *list, bool by_pixel, unsigned threads)
{
    for (size_t i = 0; i < list->count; i++) {
        const window_read *p = &list->reads[i];
        shape what;
        void *file = r->open(p->path, threads, &what);
        if (file == NULL)
            return false;
        const bool done = r->read(file, &p->window, by_pixel, threads, p->into);
        r->close(file);
        if (!done)
            return false;
    }
    return true;
}

static bool read_open_file(const reader *r, const window_list *list, bool by_pixel,
                           unsigned threads, void *file)
{
    for (size_t i = 0; i < list->count; i++) {
        const window_read *p = &list->reads[i];
        if (!r->read(file, &p->window, by_pixel, threads, p->into))
            return false;
    }
    return true;
}

typedef struct batch {
    const reader *r;
    const window_list *list;
    bool by_pixel;
    const size_t *starts; /* of each file in the list, and the end */
    size_t file_count;
    atomic_size_t next;
    atomic_bool failed;
} batch;

static void *run_batch(void *user)
{
    batch *b = user;
    size_t at;
    while ((at = atomic_fetch_add(&b->next, 1)) < b->file_count) {
        const window_read *reads = b->list->reads + b->starts[at];
        const window_list some = {(window_read *)(uintptr_t)reads,
                                  b->starts[at + 1] - b->starts[at], 0};
        shape what;
        void *file = b->r->open(reads->path, 1, &what);
        if (file == NULL || !read_open_file(b->r, &some, b->by_pixel, 1, file))
            atomic_store(&b->failed, true);
        if (file != NULL)
            b->r->close(file);
    }
    return NULL;
}

static bool read_batch(const reader *r, const window_list *list, bool by_pixel, unsigned threads)
{
    if (r->batch != NULL)
        return r->batch(list->reads, list->count, by_pixel, threads);
    size_t *starts = malloc((list->count + 1) * sizeof *starts);
    pthread_t helpers[MAX_THREADS];
    batch b = {.r = r, .list = list, .by_pixel = by_pixel, .starts = starts};
    if (starts == NULL)
        abort();
    for (size_t i = 0; i < list->count; i++) {
        if (i == 0 || strcmp(list->reads[i].path, list->reads[i - 1].path) != 0)
            starts[b.file_count++] = i;
    }
    starts[b.file_count] = list->count;
    for (unsigned i = 1; i < threads; i++)
        pthread_create(&helpers[i], NULL, run_batch, &b);
    run_batch(&b);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(helpers[i], NULL);
    free(starts);
    return !atomic_load(&b.failed);
}

/* ---- requests ---- */

typedef struct request {
    char mode[16], layout[16], path[MAX_LINE];
    unsigned threads, repeats, check;
} request;

static bool answer_whole(const reader *r, const request *q, stopwatch *time, size_t *size)
{
    const bool by_pixel = strcmp(q->layout, "pixel") == 0;
    const stopwatch start = start_watch();
    for (unsigned i = 0; i < q->repeats; i++) {
        if (!read_whole(r, q->path, by_pixel, q->threads, size))
            return false;
    }
    *time = stop_watch(start, q->repeats);
    return true;
}

static bool answer_list(const reader *r, const request *q, stopwatch *time, size_t *size)
{
    static char loaded[MAX_LINE];
    static window_list list;
    const bool by_pixel = strcmp(q->layout, "pixel") == 0;
    const bool keep_open = strcmp(q->mode, "kept") == 0;
    const bool in_batch = strcmp(q->mode, "batch") == 0;
    if (strcmp(loaded, q->path) != 0) {
        free_list(&list);
        loaded[0] = '\0';
        if (!load_list(r, q->path, &list))
            return false;
        strcpy(loaded, q->path);
    }
    assign_outputs(&list);
    shape what;
    void *file = keep_open ? r->open(list.reads[0].path, q->threads, &what) : NULL;
    if (keep_open && file == NULL)
        return false;
    /* A table that a reader loads when it first needs it belongs to opening. */
    bool done = !keep_open || r->read(file, &list.reads[0].window, by_pixel, q->threads, buffer);
    const stopwatch start = start_watch();
    for (unsigned i = 0; done && i < q->repeats; i++) {
        done = keep_open  ? read_open_file(r, &list, by_pixel, q->threads, file)
               : in_batch ? read_batch(r, &list, by_pixel, q->threads)
                          : read_each(r, &list, by_pixel, q->threads);
    }
    *time = stop_watch(start, q->repeats);
    if (keep_open)
        r->close(file);
    *size = list.size;
    return done;
}

static int reader_main(const reader *r)
{
    char line[MAX_LINE];
    request q;
    while (fgets(line, sizeof line, stdin) != NULL &&
           sscanf(line, "%15s %u %u %u %15s %4095[^\n]", q.mode, &q.threads, &q.repeats, &q.check,
                  q.layout, q.path) == 6) {
        stopwatch time = {0, 0};
        size_t size = 0;
        if (q.check && buffer != NULL) /* what is not written must show */
            memset(buffer, 0x5a, buffer_capacity);
        const bool done = strcmp(q.mode, "whole") == 0 ? answer_whole(r, &q, &time, &size)
                                                       : answer_list(r, &q, &time, &size);
        if (done)
            printf("%.9f %.9f %" PRIx64 " %zu\n", time.wall, time.cpu,
                   q.check ? checksum(warm_buffer(size), size) : 0, size);
        else
            printf("failed %s\n", failure);
        fflush(stdout);
    }
    return 0;
}

#endif
