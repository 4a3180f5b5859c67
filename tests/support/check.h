/* SPDX-License-Identifier: Apache-2.0
 * Checks of our own on top of cmocka: open bytes, compare what is said of their defects, and count
 * what opening cost.
 *
 * Every open through these functions runs with a counting source and a counting allocator, and
 * fails the test when it took more memory than 64 KiB, 64 bytes a directory and the file's own
 * size, or more reads than 64, 4 a directory and one for 16 KiB of the file; when closing does not
 * give back all memory; or when an error lacks a proper message. */
#ifndef TESTS_SUPPORT_CHECK_H
#define TESTS_SUPPORT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four before it */
#include <cmocka.h>

#include <terrazzo/terrazzo.h>

#include "support/tiff_builder.h"

/* Defaults that a test overrides by naming the member again: DEFECT below. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

/* ---------------------------------------------------------------------------------------------
 * What is expected
 * ------------------------------------------------------------------------------------------ */

#define ANY     (UINT64_MAX - 1) /* of offset, expected and found: not compared */
#define ANY_INT INT32_MIN        /* the same for ifd, tag, level */

typedef struct check_defect {
    tz_result result;
    tz_cause cause;
    int32_t ifd;                      /* (0) */
    int32_t tag;                      /* (none) */
    int32_t level;                    /* (any) */
    bool mask;                        /* (no), of that level */
    int64_t tile;                     /* (none) */
    uint64_t offset, expected, found; /* (any) */
    const char *limit;                /* (none) */
    const char *text;                 /* a part of the message; NULL: any */
} check_defect;

/* DEFECT(FORMAT, IFD, .offset = 8): TZ_ERR_FORMAT with TZ_CAUSE_IFD in directory 0, at byte 8. */
#define DEFECT(RESULT, CAUSE, ...)                                                                 \
    (&(const check_defect){.result = TZ_ERR_##RESULT,                                              \
                           .cause = TZ_CAUSE_##CAUSE,                                              \
                           .ifd = 0,                                                               \
                           .tag = -1,                                                              \
                           .level = ANY_INT,                                                       \
                           .tile = -1,                                                             \
                           .offset = ANY,                                                          \
                           .expected = ANY,                                                        \
                           .found = ANY,                                                           \
                           __VA_ARGS__})

/* Run the block for every byte order, classic and BigTIFF: FORMATS(f) { tb *b = tb_new(f); ... } */
#define FORMATS(f)     for (unsigned f = 0; f < TB_FORMATS; f++)
#define BIG_FORMATS(f) for (unsigned f = TB_BIGTIFF; f < TB_FORMATS; f++)

/* A row of cmocka's list of tests. */
#define CASE(test) cmocka_unit_test_setup(test, check_begin)
int check_begin(void **state);

/* ---------------------------------------------------------------------------------------------
 * Opening
 * ------------------------------------------------------------------------------------------ */

/* The cost of an open, and its findings. */
typedef struct check_cost {
    uint64_t peak_bytes; /* most memory held at once */
    uint64_t submits;
    uint64_t ranges;
    uint64_t bytes_read;
    uint64_t allocations;
    uint64_t items; /* of metadata, which the handle has */
} check_cost;

/* Opens without a warning, also in strict mode. */
#define check_opens(b, options) check_opens_at(b, options, __FILE__, __LINE__)
/* Fails with this defect, in lenient mode and in strict mode. */
#define check_fails(b, options, defect) check_fails_at(b, options, defect, __FILE__, __LINE__)
/* Opens with this one warning; the strict open of the same bytes fails with it, field by field. */
#define check_warns(b, options, defect) check_warns_at(b, options, defect, __FILE__, __LINE__)
/* Opens with this warning among others; the strict open fails with the first. */
#define check_warns_also(b, options, defect)                                                       \
    check_warns_also_at(b, options, defect, __FILE__, __LINE__)
/* Opens, with or without warnings. */
#define check_opens_somehow(b, options) check_opens_somehow_at(b, options, __FILE__, __LINE__)

/* The lenient handle is returned; options may be NULL. */
tz_file *check_opens_at(const tb *b, const tz_open_options *options, const char *file, int line);
void check_fails_at(const tb *b, const tz_open_options *options, const check_defect *defect,
                    const char *file, int line);
tz_file *check_warns_at(const tb *b, const tz_open_options *options, const check_defect *defect,
                        const char *file, int line);
tz_file *check_warns_also_at(const tb *b, const tz_open_options *options,
                             const check_defect *defect, const char *file, int line);
tz_file *check_opens_somehow_at(const tb *b, const tz_open_options *options, const char *file,
                                int line);

/* tb_finish when that was not done, an open without a warning, and what it found. */
#define check_info(b, out) check_info_at(b, out, __FILE__, __LINE__)
const tz_info *check_info_at(tb *b, tz_file **out, const char *file, int line);
/* check_close and tb_free. */
void check_done(tz_file *file, tb *b);

/* Ask a handle everything it may be asked, close it, and see that all memory came back. */
void check_close(tz_file *file);

/* The check, and both closed and freed: for tests that need no more than the defect. */
#define check_done_fails(b, options, defect)                                                       \
    do {                                                                                           \
        tb *check_b_ = (b);                                                                        \
        check_fails(check_b_, options, defect);                                                    \
        tb_free(check_b_);                                                                         \
    } while (0)
#define check_done_warns(b, options, defect)                                                       \
    do {                                                                                           \
        tb *check_b_ = (b);                                                                        \
        check_close(check_warns(check_b_, options, defect));                                       \
        tb_free(check_b_);                                                                         \
    } while (0)
#define check_done_opens(b, options)                                                               \
    do {                                                                                           \
        tb *check_b_ = (b);                                                                        \
        check_close(check_opens(check_b_, options));                                               \
        tb_free(check_b_);                                                                         \
    } while (0)

/* tb_finish when that was not done, the one warning, and everything freed: after it the pixels of
 * level 0 are lost; or they are as good as ever. */
#define check_pixels_lost(b, defect) check_pixels_at(b, defect, false, __FILE__, __LINE__)
#define check_pixels_kept(b, defect) check_pixels_at(b, defect, true, __FILE__, __LINE__)
void check_pixels_at(tb *b, const check_defect *defect, bool kept, const char *file, int line);

/* The cost of a lenient open alone. */
check_cost check_cost_of(const tb *b, const tz_open_options *options);

/* An error that some other call gave. */
#define check_error(err, defect) check_error_at(err, defect, __FILE__, __LINE__)
void check_error_at(const tz_error *err, const check_defect *defect, const char *file, int line);

/* tz_file_locate_tile fails with this defect, or gives this span. */
#define check_locate_fails(f, level, tile, defect)                                                 \
    check_locate_fails_at(f, level, false, tile, defect, __FILE__, __LINE__)
#define check_locates(f, level, tile, offset, size)                                                \
    check_locates_at(f, level, false, tile, offset, size, __FILE__, __LINE__)
#define check_mask_locate_fails(f, level, tile, defect)                                            \
    check_locate_fails_at(f, level, true, tile, defect, __FILE__, __LINE__)
#define check_mask_locates(f, level, tile, offset, size)                                           \
    check_locates_at(f, level, true, tile, offset, size, __FILE__, __LINE__)
void check_locate_fails_at(const tz_file *f, uint32_t level, bool mask, uint64_t tile,
                           const check_defect *defect, const char *file, int line);
void check_locates_at(const tz_file *f, uint32_t level, bool mask, uint64_t tile, uint64_t offset,
                      uint64_t size, const char *file, int line);

/* The entry of this tag in the directory of level 0; it must be there. */
tz_tag check_find_tag(const tz_file *file, uint16_t tag);

/* The warning of this cause and tag (ANY_INT: whatever tag); NULL when there is none. */
const tz_error *check_find_warning(const tz_file *file, tz_cause cause, int32_t tag);

/* ---------------------------------------------------------------------------------------------
 * Sources
 * ------------------------------------------------------------------------------------------ */

/* The reads that a counting source saw; outlives the source. */
typedef struct check_reads {
    uint64_t submits;
    uint64_t ranges;
    uint64_t bytes;
    bool changed;    /* set: check answers TZ_ERR_CHANGED */
    uint64_t checks; /* calls of check */
    uint64_t closes;
} check_reads;

/* Bytes in memory. */
tz_source *check_source_memory(const void *data, size_t size, check_reads *reads);
/* Another source, which it closes. */
tz_source *check_source_over(tz_source *inner, check_reads *reads);

/* ---------------------------------------------------------------------------------------------
 * Files
 * ------------------------------------------------------------------------------------------ */

/* A folder of this process that is gone at its end: "FOLDER/name", in the caller's room. */
#define CHECK_PATH_SIZE 512
void check_path(char path[CHECK_PATH_SIZE], const char *name);
void check_remove(const char *path);

#endif
