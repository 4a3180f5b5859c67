/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the size, type and levels of a GeoTIFF: cc info.c $(pkg-config --cflags --libs terrazzo)
 */
#include <stdio.h>
#include <terrazzo/terrazzo.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    tz_file *file = NULL;
    tz_error err;
    if (tz_open(&file, argv[1], NULL, &err) != TZ_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    const tz_info *info = tz_file_get_info(file);
    printf("%u x %u pixels, %u bands of %s\n", info->width, info->height, info->bands,
           tz_dtype_name(info->dtype));
    for (uint32_t i = 0; i < info->level_count; i++) {
        const tz_level *level = tz_file_get_level(file, i);
        printf("level %u: %u x %u in tiles of %u x %u\n", i, level->width, level->height,
               level->tile_width, level->tile_height);
    }
    for (uint32_t i = 0; i < info->warning_count; i++)
        fprintf(stderr, "warning: %s\n", tz_file_get_warning(file, i)->message);
    tz_close(file);
    return 0;
}
