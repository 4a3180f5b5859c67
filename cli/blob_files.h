/* SPDX-License-Identifier: Apache-2.0
 * Blobs in files: any number of them, one open at a time. */
#ifndef CLI_BLOB_FILES_H
#define CLI_BLOB_FILES_H

#include <terrazzo/terrazzo.h>

typedef struct blob_files {
    char **paths; /* copies */
    size_t count;
    size_t capacity;
    size_t current; /* the one that is open */
    int fd;         /* -1: none is */
} blob_files;

/* Keeps the paths, and those in the file list, one on each line; list NULL: no such file. */
tz_result blob_files_open(blob_files *b, char **paths, size_t count, const char *list,
                          tz_error *err);
void blob_files_close(blob_files *b);

/* Returns the bytes of all blobs; one that does not exist counts as 0. */
uint64_t blob_files_size(const blob_files *b);

/* The read callback of tz_blobs. */
tz_result blob_files_read(void *user, size_t blob, uint64_t offset, void *dst, size_t size,
                          tz_error *err);
/* Reads the head of one blob; the caller frees its data. */
tz_result blob_files_head(blob_files *b, size_t blob, tz_bytes *out, tz_error *err);

#endif
