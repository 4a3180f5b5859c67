/* SPDX-License-Identifier: Apache-2.0
 * Damaged files, read whole: pixels or a clear error, never a crash; and what is called success
 * holds no byte that was not decoded: two reads over different poison agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <terrazzo/terrazzo.h>

#include "support/plain_read.h"

enum { MOST_FILE_BYTES = 1 << 17, MOST_PIXEL_BYTES = 1 << 22 };

static uint64_t seed = 1;

static uint32_t next_random(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % below);
}

static size_t pixel_bytes(const tz_info *info)
{
    const double bytes =
        (double)info->width * info->height * info->bands * (double)tz_dtype_size(info->dtype);
    return bytes > MOST_PIXEL_BYTES ? 0 : (size_t)bytes;
}

/* true when there are pixels. */
static bool read_over(const tz_file *file, uint8_t *pixels, size_t size, int poison)
{
    const tz_info *info = tz_file_get_info(file);
    tz_error err = {.result = TZ_OK};
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    const plain_item item = {.file = file,
                             .into = {.data = pixels,
                                      .dtype = info->dtype,
                                      .bands = info->bands,
                                      .height = info->height,
                                      .width = info->width}};
    memset(pixels, poison, size);
    how.threads = 1;
    how.max_host_bytes = 1 << 28;
    if (plain_read(&item, &how, NULL, &err) == TZ_OK)
        return true;
    assert_true(err.message[0] != '\0');
    assert_int_not_equal(err.result, TZ_ERR_INTERNAL);
    return false;
}

static void try_bytes(const uint8_t *data, size_t size, const char *name)
{
    tz_file *file = NULL;
    if (tz_open_memory(&file, data, size, NULL, NULL) != TZ_OK)
        return;
    const size_t bytes = pixel_bytes(tz_file_get_info(file));
    if (bytes > 0) {
        uint8_t *a = malloc(bytes);
        uint8_t *b = malloc(bytes);
        const bool first = read_over(file, a, bytes, 0x00);
        const bool second = read_over(file, b, bytes, 0xFF);
        if (first != second || (first && memcmp(a, b, bytes) != 0))
            fail_msg("%s: two reads differ", name);
        free(a);
        free(b);
    }
    tz_close(file);
}

static void mutate_file(const char *path, const char *name, unsigned times)
{
    FILE *in = fopen(path, "rb");
    uint8_t *data = malloc(MOST_FILE_BYTES + 1);
    const size_t size = in ? fread(data, 1, MOST_FILE_BYTES + 1, in) : 0;
    if (in)
        fclose(in);
    for (unsigned i = 0; size > 16 && size <= MOST_FILE_BYTES && i < times; i++) {
        uint8_t *copy = malloc(size);
        memcpy(copy, data, size);
        for (uint32_t flips = 1 + next_random(3); flips > 0; flips--)
            copy[next_random((uint32_t)size)] ^= (uint8_t)(1u << next_random(8));
        try_bytes(copy, size, name);
        free(copy);
    }
    free(data);
}

static void damaged_files_give_pixels_or_an_error(void **state)
{
    (void)state;
    const char *corpus = getenv("TERRAZZO_CORPUS");
    const unsigned times = getenv("TERRAZZO_LONG") ? 500 : 12;
    char path[8192];
    char line[4096];
    snprintf(path, sizeof path, "%s/MANIFEST.tsv",
             corpus ? corpus : TERRAZZO_SOURCE_DIR "/../shared/corpus");
    FILE *manifest = fopen(path, "r");
    if (!manifest) {
        print_message("skip: no corpus at TERRAZZO_CORPUS or ../shared/corpus\n");
        skip();
    }
    while (fgets(line, sizeof line, manifest)) {
        line[strcspn(line, "\t\n")] = '\0';
        snprintf(path, sizeof path, "%s/%s",
                 corpus ? corpus : TERRAZZO_SOURCE_DIR "/../shared/corpus", line);
        mutate_file(path, line, times);
    }
    fclose(manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_files_give_pixels_or_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
