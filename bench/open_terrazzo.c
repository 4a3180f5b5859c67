/* SPDX-License-Identifier: Apache-2.0
 * Times tz_open; see opener.h. With --cost after the list it prints instead what opening the first
 * path reads: requests, bytes, directories. */
#include "opener.h"
#include "terrazzo/terrazzo.h"

static double nodata_of(const tz_nodata *nodata)
{
    switch (nodata->kind) {
    case TZ_NODATA_KIND_INT:
        return (double)nodata->value.i;
    case TZ_NODATA_KIND_UINT:
        return (double)nodata->value.u;
    case TZ_NODATA_KIND_FLOAT:
        return nodata->value.f;
    default:
        return 0;
    }
}

static int open_one(const char *path, opened *sums)
{
    tz_file *file = NULL;
    tz_error err;
    if (tz_open(&file, path, NULL, &err) != TZ_OK) {
        fprintf(stderr, "%s: %s\n", path, err.message);
        return 1;
    }
    const tz_info *info = tz_file_get_info(file);
    sums->pixels += (uint64_t)info->width * info->height * info->bands;
    sums->bits += tz_dtype_size(info->dtype) * 8;
    if (info->geo->has_transform) {
        const double *t = info->geo->transform;
        sums->corners += t[0] + t[1] + t[3] + t[5];
    }
    sums->nodata += nodata_of(&info->nodata);
    tz_close(file);
    return 0;
}

static int print_cost(const char *list)
{
    size_t count = 0;
    char **paths = read_list(list, &count);
    tz_file *file = NULL;
    tz_error err;
    if (count == 0 || tz_open(&file, paths[0], NULL, &err) != TZ_OK)
        return 1;
    const tz_info *info = tz_file_get_info(file);
    printf("%" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu64 " %" PRIu32 "\n", info->reads,
           info->bytes_read, info->ifd_count, tz_file_get_level(file, 0)->tile_count,
           info->warning_count);
    tz_close(file);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[2], "--cost") == 0)
        return print_cost(argv[1]);
    if (argc != 2) {
        fprintf(stderr, "usage: open_terrazzo LIST [--cost]\n");
        return 2;
    }
    return opener_main(argv[1]);
}
