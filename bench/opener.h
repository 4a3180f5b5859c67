/* SPDX-License-Identifier: Apache-2.0
 * The loop that times opening, the same for every reader. A program that includes this defines
 * open_one and calls opener_main. Protocol: a file that lists paths, one per line, is the argument;
 * a line `FIRST COUNT` on stdin opens COUNT paths from the FIRST one, starting over at the end, and
 * answers `WALL_NS CPU_NS SUMS` on stdout. The sums are equal when the readers saw the same. */
#ifndef TZ_BENCH_OPENER_H
#define TZ_BENCH_OPENER_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The facts that every file is asked for. */
typedef struct opened {
    uint64_t pixels; /* width * height * bands */
    uint64_t bits;   /* of a pixel of one band */
    double corners;  /* origin and pixel size of the geotransform */
    double nodata;
} opened;

/* Opens, asks, closes; adds to *sums. 0: done. */
static int open_one(const char *path, opened *sums);

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static char **read_list(const char *list, size_t *count)
{
    FILE *file = fopen(list, "r");
    char **paths = NULL;
    size_t capacity = 0;
    char line[4096];
    *count = 0;
    if (file == NULL)
        return NULL;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (*count == capacity) {
            capacity = capacity > 0 ? capacity * 2 : 1024;
            paths = realloc(paths, capacity * sizeof *paths);
            if (paths == NULL)
                abort();
        }
        paths[*count] = malloc(strlen(line) + 1);
        if (paths[*count] == NULL)
            abort();
        strcpy(paths[(*count)++], line);
    }
    fclose(file);
    return paths;
}

static int opener_main(const char *list)
{
    size_t path_count = 0;
    char **paths = read_list(list, &path_count);
    if (path_count == 0) {
        fprintf(stderr, "%s: no paths\n", list);
        return 1;
    }
    size_t first, count;
    while (scanf("%zu %zu", &first, &count) == 2) {
        opened sums = {0, 0, 0, 0};
        uint64_t wall = clock_ns(CLOCK_MONOTONIC);
        uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        for (size_t i = 0; i < count; i++) {
            if (open_one(paths[(first + i) % path_count], &sums) != 0)
                return 1;
        }
        cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        wall = clock_ns(CLOCK_MONOTONIC) - wall;
        printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "/%" PRIu64 "/%.17g/%.17g\n", wall, cpu,
               sums.pixels, sums.bits, sums.corners, sums.nodata);
        fflush(stdout);
    }
    return 0;
}

#endif
