/* SPDX-License-Identifier: Apache-2.0
 * Blobs in files. There may be more of them than a process may have files open, so that one is open
 * at a time; the library asks for the ranges of one blob together. */
#define _XOPEN_SOURCE 700 /* pread, getline */
#include "blob_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problem.h"

/* Names ---------------------------------------------------------------------------------------- */

static tz_result add_path(blob_files *b, const char *path, tz_error *err)
{
    if (b->count == b->capacity) {
        size_t capacity = b->capacity > 0 ? 2 * b->capacity : 64;
        char **paths = realloc(b->paths, capacity * sizeof *paths);
        if (paths == NULL)
            return problem_nomem(err, "names of blobs");
        b->paths = paths;
        b->capacity = capacity;
    }
    b->paths[b->count] = strdup(path);
    if (b->paths[b->count] == NULL)
        return problem_nomem(err, "a name");
    b->count++;
    return TZ_OK;
}

static tz_result add_lines(blob_files *b, FILE *file, const char *list, tz_error *err)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    tz_result result = TZ_OK;
    while (result == TZ_OK && (length = getline(&line, &capacity, file)) > 0) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        if (line[0] != '\0')
            result = add_path(b, line, err);
    }
    free(line);
    if (result == TZ_OK && !feof(file))
        return problem_io(err, "read", list, errno);
    return result;
}

static tz_result add_list(blob_files *b, const char *list, tz_error *err)
{
    bool is_input = strcmp(list, "-") == 0;
    FILE *file = is_input ? stdin : fopen(list, "r");
    if (file == NULL)
        return problem_io(err, "open", list, errno);
    tz_result result = add_lines(b, file, list, err);
    if (!is_input)
        fclose(file);
    return result;
}

tz_result blob_files_open(blob_files *b, char **paths, size_t count, const char *list,
                          tz_error *err)
{
    tz_result result = TZ_OK;
    *b = (blob_files){.fd = -1};
    for (size_t i = 0; i < count && result == TZ_OK; i++)
        result = add_path(b, paths[i], err);
    if (result == TZ_OK && list != NULL)
        result = add_list(b, list, err);
    return result;
}

void blob_files_close(blob_files *b)
{
    if (b->fd >= 0)
        close(b->fd);
    for (size_t i = 0; i < b->count; i++)
        free(b->paths[i]);
    free(b->paths);
    *b = (blob_files){.fd = -1};
}

uint64_t blob_files_size(const blob_files *b)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < b->count; i++) {
        struct stat found;
        if (stat(b->paths[i], &found) == 0 && found.st_size > 0)
            sum += (uint64_t)found.st_size;
    }
    return sum;
}

/* Bytes ---------------------------------------------------------------------------------------- */

static tz_result open_blob(blob_files *b, size_t blob, tz_error *err)
{
    if (b->fd >= 0 && b->current == blob)
        return TZ_OK;
    if (b->fd >= 0)
        close(b->fd);
    b->current = blob;
    b->fd = open(b->paths[blob], O_RDONLY | O_CLOEXEC);
    return b->fd >= 0 ? TZ_OK : problem_io(err, "open", b->paths[blob], errno);
}

tz_result blob_files_read(void *user, size_t blob, uint64_t offset, void *dst, size_t size,
                          tz_error *err)
{
    blob_files *b = user;
    tz_result result = open_blob(b, blob, err);
    for (size_t done = 0; done < size && result == TZ_OK;) {
        ssize_t got = pread(b->fd, (char *)dst + done, size - done, (off_t)(offset + done));
        if (got > 0)
            done += (size_t)got;
        else if (got == 0)
            result = problem_make(err, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED,
                                  "'%.300s' ends too early for a block", b->paths[blob]);
        else if (errno != EINTR)
            result = problem_io(err, "read", b->paths[blob], errno);
    }
    return result;
}

/* Fails if the head would be larger than the file, before memory is allocated for it. */
static tz_result check_blob_size(const blob_files *b, size_t blob, uint64_t wanted, tz_error *err)
{
    struct stat found;
    if (fstat(b->fd, &found) != 0)
        return problem_io(err, "read", b->paths[blob], errno);
    if (found.st_size >= 0 && wanted <= (uint64_t)found.st_size && wanted <= SIZE_MAX)
        return TZ_OK;
    return problem_make(err, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED,
                        "'%.300s' ends too early for a block", b->paths[blob]);
}

tz_result blob_files_head(blob_files *b, size_t blob, tz_bytes *out, tz_error *err)
{
    unsigned char front[TZ_BLOB_HEADER];
    tz_blob_info block = TZ_BLOB_INFO_INIT;
    tz_result result = blob_files_read(b, blob, 0, front, sizeof front, err);
    if (result == TZ_OK)
        result = tz_blob_read_info(&block, front, sizeof front, err);
    if (result == TZ_OK)
        result = check_blob_size(b, blob, block.head_size, err);
    if (result != TZ_OK)
        return result;
    void *data = malloc((size_t)block.head_size);
    if (data == NULL)
        return problem_nomem(err, "the head of a blob");
    *out = (tz_bytes){data, (size_t)block.head_size};
    return blob_files_read(b, blob, 0, data, (size_t)block.head_size, err);
}
