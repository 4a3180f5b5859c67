/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays inputs through a fuzz target without a fuzzing compiler: each argument is a file or a
 * folder (searched through), each file is handed over once in a heap buffer of exactly its size,
 * so that the address sanitizer sees a read of one byte too many.
 */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path, size_t *count);

static int fail(const char *path)
{
    perror(path);
    return 1;
}

static int replay_file(const char *path, size_t size, size_t *count)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return fail(path);
    uint8_t *data = malloc(size > 0 ? size : 1);
    if (data == NULL || fread(data, 1, size, file) != size) {
        free(data);
        fclose(file);
        return fail(path);
    }
    fclose(file);
    /* The name goes out first: after a crash the last line says which input it was. */
    printf("%s\n", path);
    fflush(stdout);
    /* A buffer of no bytes still has an address; no byte of it may be read. */
    (void)LLVMFuzzerTestOneInput(size > 0 ? data : data + 1, size);
    free(data);
    *count += 1;
    return 0;
}

static int replay_child(const char *folder, const char *name, size_t *count)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path == NULL)
        return fail(folder);
    snprintf(path, size, "%s/%s", folder, name);
    int failed = replay(path, count);
    free(path);
    return failed;
}

static int replay_folder(const char *path, size_t *count)
{
    struct dirent **entries = NULL;
    int entry_count = scandir(path, &entries, NULL, alphasort);
    if (entry_count < 0)
        return fail(path);
    int failed = 0;
    for (int i = 0; i < entry_count; i++) {
        if (entries[i]->d_name[0] != '.')
            failed |= replay_child(path, entries[i]->d_name, count);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

static int replay(const char *path, size_t *count)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return fail(path);
    if (S_ISDIR(status.st_mode))
        return replay_folder(path, count);
    return replay_file(path, (size_t)status.st_size, count);
}

int main(int argc, char **argv)
{
    size_t count = 0;
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i], &count);
    printf("%zu inputs replayed\n", count);
    return failed != 0 || count == 0;
}
