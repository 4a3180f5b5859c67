/* SPDX-License-Identifier: Apache-2.0
 * The loop that times writing, the same for every writer. A program that includes this fills in a
 * writer and calls writer_main. A line on stdin is a job, KEY=VALUE with tabs between:
 *
 *     raster     a .npy file with the pixels; they are loaded once, and start over when the image
 *                has more of them
 *     input      in place of a raster: a TIFF file, which is copied as a whole
 *     out        the file to write; it is removed before each repeat, outside the timing
 *     dtype, width, height, bands    of the image; pixels lie band beside band, in the file too
 *     codec, level, predictor, tile  level 0: the codec's own default; -1: below 1, where there is
 *                one, else 1
 *     threads    to write with
 *     rows       handed over at a time; 0: all at once
 *     buffer     bytes of memory to make do with, for writers that have such an option; 0:
 *                its default
 *     repeats    within the timing
 *     memory     1: measure memory instead; for a process that wrote nothing yet
 *
 * The answer is `SECONDS CPU SUM BYTES`: the time of one repeat on the wall and of all cores, a
 * checksum of the pixels and the size of the file; or, of memory, `RSS ANON`: bytes that the
 * process had more than before, at most ever, and of anonymous memory after any part of the rows;
 * or `failed MESSAGE`. The clock stops when the file is closed. */
#ifndef TZ_BENCH_WRITER_H
#define TZ_BENCH_WRITER_H

#include <inttypes.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "timing.h"

typedef struct job {
    char raster[MAX_LINE], input[MAX_LINE], out[MAX_LINE], dtype[MAX_LINE], codec[MAX_LINE];
    uint32_t width, height, bands, predictor, tile, threads, rows, repeats, memory;
    int32_t level;
    uint64_t buffer;
    size_t sample_size;
} job;

/* Members that a program fills in. Functions return NULL or false after failed(...). */
typedef struct writer {
    void *(*create)(const job *what);
    bool (*write)(void *file, const job *what, uint32_t row, uint32_t rows, const uint8_t *pixels);
    bool (*close)(void *file);     /* always called; true: the file is whole */
    bool (*copy)(const job *what); /* of jobs with an input, in place of the others */
} writer;

/* ---- jobs ---- */

typedef struct job_key {
    const char *name;
    size_t offset;
    enum { JOB_TEXT, JOB_32, JOB_64 } kind;
} job_key;

static bool set_key(job *what, const char *name, const char *value)
{
#define KEY(name, kind)                                                                            \
    {                                                                                              \
#name, offsetof(job, name), kind                                                           \
    }
    static const job_key keys[] = {
        KEY(raster, JOB_TEXT), KEY(input, JOB_TEXT),   KEY(out, JOB_TEXT),  KEY(dtype, JOB_TEXT),
        KEY(codec, JOB_TEXT),  KEY(width, JOB_32),     KEY(height, JOB_32), KEY(bands, JOB_32),
        KEY(level, JOB_32),    KEY(predictor, JOB_32), KEY(tile, JOB_32),   KEY(threads, JOB_32),
        KEY(rows, JOB_32),     KEY(repeats, JOB_32),   KEY(memory, JOB_32), KEY(buffer, JOB_64)};
#undef KEY
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char *at = (char *)what + keys[i].offset;
        const long long number = strtoll(value, NULL, 10);
        const int32_t low = (int32_t)number;
        if (strcmp(keys[i].name, name) != 0)
            continue;
        if (keys[i].kind == JOB_TEXT)
            snprintf(at, MAX_LINE, "%s", value);
        else if (keys[i].kind == JOB_32)
            memcpy(at, &low, sizeof low);
        else
            memcpy(at, &number, sizeof number);
        return true;
    }
    return failed("a job has no %s", name);
}

static bool parse_job(char *line, job *what)
{
    memset(what, 0, sizeof *what);
    for (char *word = strtok(line, "\t\n"); word != NULL; word = strtok(NULL, "\t\n")) {
        char *equals = strchr(word, '=');
        if (equals == NULL)
            return failed("not KEY=VALUE: %s", word);
        *equals = '\0';
        if (!set_key(what, word, equals + 1))
            return false;
    }
    const char *digits = what->dtype + strcspn(what->dtype, "123456789");
    what->sample_size = strtoul(digits, NULL, 10) / 8;
    return (what->sample_size > 0 && what->width > 0 && what->height > 0 && what->bands > 0 &&
            what->tile > 0 && what->repeats > 0) ||
           failed("an incomplete job");
}

/* Reads a .npy file: its header has the length of its rest in two bytes. */
static bool read_npy(FILE *file, size_t *size)
{
    enum { HEAD = 10 };
    uint8_t head[HEAD];
    struct stat about;
    if (fstat(fileno(file), &about) != 0 || fread(head, 1, HEAD, file) != HEAD)
        return false;
    const size_t start = HEAD + head[8] + 256u * head[9];
    *size = (size_t)about.st_size - start;
    return fseek(file, (long)start, SEEK_SET) == 0 &&
           fread(warm_buffer(*size), 1, *size, file) == *size;
}

/* The pixels of the raster, in the warm buffer; the last one stays. */
static const uint8_t *load_raster(const char *path, size_t *size)
{
    static char loaded[MAX_LINE];
    static size_t loaded_size;
    if (strcmp(path, loaded) != 0) {
        FILE *file = fopen(path, "rb");
        const bool done = file != NULL && read_npy(file, &loaded_size);
        if (file != NULL)
            fclose(file);
        snprintf(loaded, sizeof loaded, "%s", done ? path : "");
        if (!done) {
            failed("%s: cannot read", path);
            return NULL;
        }
    }
    *size = loaded_size;
    return buffer;
}

/* ---- memory ---- */

/* Bytes that /proc/self/status says. */
static size_t memory_line(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    size_t kilobytes = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtoul(line + strlen(name) + 1, NULL, 10);
    }
    if (file != NULL)
        fclose(file);
    return kilobytes * 1024;
}

/* VmHWM starts over. */
static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file != NULL) {
        fputs("5", file);
        fclose(file);
    }
}

/* ---- the loop ---- */

/* anon: NULL, or the most that was seen. */
static bool write_rows_of(const writer *w, const job *what, const uint8_t *pixels, size_t size,
                          size_t *anon)
{
    const size_t row_size = what->width * what->bands * what->sample_size;
    const uint32_t step = what->rows > 0 ? what->rows : what->height;
    void *file = w->create(what);
    bool done = file != NULL;
    for (uint32_t row = 0; done && row < what->height; row += step) {
        const uint32_t rows = what->height - row < step ? what->height - row : step;
        const size_t first = row * row_size % size;
        done = first + rows * row_size <= size || failed("the raster ends within a part");
        done = done && w->write(file, what, row, rows, pixels + first);
        const size_t now = anon != NULL ? memory_line("RssAnon:") : 0;
        if (anon != NULL && now > *anon)
            *anon = now;
    }
    return file != NULL && w->close(file) && done;
}

static bool write_all(const writer *w, const job *what, const uint8_t *pixels, size_t size,
                      size_t *anon)
{
    return what->input[0] != '\0' ? w->copy(what) : write_rows_of(w, what, pixels, size, anon);
}

static bool answer_time(const writer *w, const job *what, const uint8_t *pixels, size_t size)
{
    stopwatch sum = {0, 0};
    struct stat about;
    for (uint32_t i = 0; i < what->repeats; i++) {
        unlink(what->out);
        const stopwatch start = start_watch();
        if (!write_all(w, what, pixels, size, NULL))
            return false;
        const stopwatch time = stop_watch(start, what->repeats);
        sum.wall += time.wall;
        sum.cpu += time.cpu;
    }
    if (stat(what->out, &about) != 0)
        return failed("%s: not there", what->out);
    printf("%.9f %.9f %" PRIx64 " %lld\n", sum.wall, sum.cpu, checksum(pixels, size),
           (long long)about.st_size);
    return true;
}

static bool answer_memory(const writer *w, const job *what, const uint8_t *pixels, size_t size)
{
    unlink(what->out);
    forget_peak();
    const size_t rss = memory_line("VmRSS:"), anon = memory_line("RssAnon:");
    size_t peak = anon;
    if (!write_all(w, what, pixels, size, &peak))
        return false;
    printf("%zu %zu\n", memory_line("VmHWM:") - rss, peak - anon);
    return true;
}

static int writer_main(const writer *w)
{
    static char line[4 * MAX_LINE];
    static job what;
    while (fgets(line, sizeof line, stdin) != NULL) {
        size_t size = 0;
        bool done = parse_job(line, &what);
        const bool copies = done && what.input[0] != '\0';
        const uint8_t *pixels = done && !copies ? load_raster(what.raster, &size) : NULL;
        done = copies ? w->copy != NULL || failed("cannot copy files") : pixels != NULL;
        done = done && (what.memory ? answer_memory(w, &what, pixels, size)
                                    : answer_time(w, &what, pixels, size));
        if (!done)
            printf("failed %s\n", failure);
        fflush(stdout);
    }
    return 0;
}

#endif
