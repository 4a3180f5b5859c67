/* SPDX-License-Identifier: Apache-2.0
 * Files of seven codecs on disk, read in one batch by the CPU and by the fake of libcuda with
 * the fakes of nvCOMP, cuFile, nvJPEG2000 and nvJPEG at once. */
#ifndef TESTS_SUPPORT_DEVICE_MIXED_CASE_H
#define TESTS_SUPPORT_DEVICE_MIXED_CASE_H

#include "fakes/cuda/cuda_fake.h"
#include "support/plain_read.h"
#include "support/raster.h"

/* By their codecs; 40 x 36 pixels in tiles of 16 x 16, with overviews, nodata and scales. */
enum {
    MIXED_DEFLATE,
    MIXED_ZSTD,
    MIXED_LZ4,
    MIXED_JPEG,
    MIXED_JP2,
    MIXED_LZW,
    MIXED_NONE,
    MIXED_FILES
};
enum { MIXED_WIDTH = 40, MIXED_HEIGHT = 36, MIXED_BANDS = 3, MIXED_ACROSS = 3, MIXED_TILES = 9 };
enum { MIXED_LIBRARIES = 5 }; /* files whose tiles a library decodes; they come first */

extern cuda_fake_control *mixed_cuda;

/* Setup and teardown of a group, and of a test: nothing may live, nothing be misused. */
int mixed_begin_all(void **state);
int mixed_end_all(void **state);
int mixed_begin(void **state);
int mixed_end(void **state);
#define MIXED(test) cmocka_unit_test_setup_teardown(test, mixed_begin, mixed_end)

/* With all fakes. */
tz_device *mixed_open(void);
void mixed_close(tz_device *device);

/* The damage to a file. */
typedef struct mixed_damage {
    uint32_t spoilt; /* a bit for each tile: its bytes are garbage */
    bool cut;        /* the file ends within its last tile */
} mixed_damage;

typedef struct mixed {
    raster rasters[MIXED_FILES];
    tz_file *files[MIXED_FILES];
} mixed;

/* damage NULL: none. */
mixed mixed_make(const mixed_damage damage[MIXED_FILES]);
void mixed_free(mixed *m);
bool mixed_is_lossy(size_t file);

/* The request for all files. */
typedef struct mixed_ask {
    tz_window window;      /* no width: all of it */
    const uint32_t *bands; /* two; NULL: all of them */
    tz_dtype dtype;        /* NONE: the file's */
    bool is_scattered;     /* with gaps, the last row first */
    bool has_mask, has_list;
    bool on_device;            /* the buffers are there */
    const char *fail_function; /* whose first call in the read fails; NULL: none */
    uint64_t fail_chunk;       /* of nvCOMP's, counted from 1; 0: none */
    int32_t fail_code;
    tz_read_options how; /* device NULL: the CPU */
} mixed_ask;

/* The result; buffers include the bytes between samples. */
typedef struct mixed_answer {
    tz_result result;
    tz_error err;
    plain_report report;
    uint8_t *bytes[2 * MIXED_FILES]; /* pixels and mask of each file */
    size_t sizes[2 * MIXED_FILES];
    tz_tile_status tiles[MIXED_FILES][MIXED_TILES];
    plain_outcome outcomes[MIXED_FILES];
} mixed_answer;

mixed_answer mixed_read(const mixed *m, const mixed_ask *ask);
void mixed_answer_free(mixed_answer *answer);

/* The same by the CPU. */
mixed_answer mixed_read_by_cpu(const mixed *m, const mixed_ask *ask);
/* Fails when they differ in anything but the report. */
void mixed_check_same(const mixed_answer *found, const mixed_answer *cpu);

#endif
