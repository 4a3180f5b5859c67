/* SPDX-License-Identifier: Apache-2.0
 * A folder for one test, and what is in it. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "support/scratch.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

int scratch_begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/terrazzo-scratch-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

int scratch_end(void **state)
{
    (void)state;
    return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_folder(void)
{
    return folder;
}

const char *scratch_path(const char *name)
{
    static char path[4][512];
    static int turn;
    char *chosen = path[turn++ % 4];
    snprintf(chosen, sizeof path[0], "%s/%s", folder, name);
    return chosen;
}

void scratch_write(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(scratch_path(name), "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

bool scratch_holds(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(scratch_path(name), "rb");
    if (!file)
        return false;
    unsigned char *bytes = malloc(size + 1);
    bool same = bytes && fread(bytes, 1, size + 1, file) == size && memcmp(bytes, data, size) == 0;
    free(bytes);
    fclose(file);
    return same;
}

bool scratch_exists(const char *name)
{
    struct stat status;
    return lstat(scratch_path(name), &status) == 0;
}

/* Counts the entries of a folder but . and .. and one name, and keeps the last of them. */
static size_t count_entries(const char *path, const char *but, char last[256])
{
    DIR *list = opendir(path);
    size_t count = 0;
    if (!list)
        abort();
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, but) == 0)
            continue;
        snprintf(last, 256, "%s", name);
        count++;
    }
    closedir(list);
    return count;
}

size_t scratch_count(void)
{
    char last[256];
    return count_entries(folder, "", last);
}

const char *scratch_other_than(const char *name)
{
    static char last[256];
    return count_entries(folder, name, last) > 0 ? last : NULL;
}

size_t scratch_open_files(void)
{
    char last[256];
    return count_entries("/proc/self/fd", "", last);
}
