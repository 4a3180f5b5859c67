/* SPDX-License-Identifier: Apache-2.0
 * Levels and masks of whole files, for check_levels.py: reads paths from stdin, one a line, and
 * prints for each level "level DTYPE BANDS HEIGHT WIDTH" and then its pixels (band, row, column)
 * and as many bytes of mask, and at last "end", or "error MESSAGE". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

static bool dump_level(const tz_file *file, uint32_t index, tz_error *err)
{
    const tz_info *info = tz_file_get_info(file);
    const tz_level *level = tz_file_get_level(file, index);
    const size_t count = (size_t)level->width * level->height * info->bands;
    const size_t size = count * tz_dtype_size(info->dtype);
    uint8_t *pixels = malloc(size);
    uint8_t *mask = malloc(count);
    if (!pixels || !mask)
        abort();
    memset(pixels, 0xA5, size);
    memset(mask, 0xA5, count);
    const tz_buffer into = {.struct_size = sizeof into,
                            .data = pixels,
                            .dtype = info->dtype,
                            .bands = info->bands,
                            .height = level->height,
                            .width = level->width};
    tz_buffer into_mask = into;
    into_mask.data = mask;
    into_mask.dtype = TZ_DTYPE_UINT8;
    const tz_item item = {.struct_size = sizeof item,
                          .file = file,
                          .level = index,
                          .into = &into,
                          .into_mask = &into_mask};
    const bool good = tz_read(&item, NULL, NULL, err) == TZ_OK;
    if (good) {
        printf("level %s %u %u %u\n", tz_dtype_name(info->dtype), info->bands, level->height,
               level->width);
        fwrite(pixels, 1, size, stdout);
        fwrite(mask, 1, count, stdout);
    }
    free(pixels);
    free(mask);
    return good;
}

static bool dump_levels(const tz_file *file, tz_error *err)
{
    for (uint32_t i = 0; i < tz_file_get_info(file)->level_count; i++) {
        if (!dump_level(file, i, err))
            return false;
    }
    return true;
}

int main(void)
{
    char path[8192];
    while (fgets(path, sizeof path, stdin)) {
        tz_file *file = NULL;
        tz_error err = {.message = ""};
        path[strcspn(path, "\n")] = '\0';
        if (tz_open(&file, path, NULL, &err) != TZ_OK || !dump_levels(file, &err))
            printf("error %s\n", err.message);
        else
            printf("end\n");
        tz_close(file);
        fflush(stdout);
    }
    return 0;
}
