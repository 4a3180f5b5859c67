/* SPDX-License-Identifier: Apache-2.0
 * terrazzo convert and terrazzo cog: their options, and the settings that these are parsed into. */
#ifndef CLI_CONVERT_H
#define CLI_CONVERT_H

#include "common.h"
#include "creation.h"
#include "device_option.h"
#include "edit.h"
#include "value.h"

/* Pixels without a TIFF: a .npy array, or standard input. */
typedef struct raw_settings {
    bool npy; /* there is a header: shape, type and byte order are in it */
    bool has_order;
    uint32_t height, width, bands;
    tz_dtype dtype;
    raw_order order;
} raw_settings;

/* As typed. */
typedef struct convert_settings {
    common_settings common;
    tz_creation *creation;
    tz_error failed; /* result TZ_OK, or why the options could not be stored */
    raw_settings raw;
    edit_settings edit;
    const char *input; /* "-": standard input */
    const char *output;
    const char *spool; /* NULL: the library's choice */
    bool cog;
    bool reads_arrays; /* IN may be a .npy array, also on standard input */
    uint64_t memory;
    device_settings device;
    bool library_encoders;
    uint32_t threads;
    bool has_threads;
    bool overwrite;
    bool dry_run;
    bool no_sync;
    bool statistics;
    bool nan_to_nodata;
    bool keep_nodata;
    tz_verify verify;
} convert_settings;

extern const cli_command convert_command;
extern const cli_command cog_command;

/* Options of these commands. */
enum {
    CONVERT_CREATION = 1,
    CONVERT_OVERWRITE,
    CONVERT_DRY_RUN,
    CONVERT_VERIFY,
    CONVERT_NO_SYNC,
    CONVERT_STATISTICS,
    CONVERT_THREADS,
    CONVERT_MEMORY,
    CONVERT_PROFILE,
    CONVERT_SPOOL,
    CONVERT_LIBRARY_ENCODERS,
    CONVERT_NAN_TO_NODATA,
    CONVERT_KEEP_NODATA,
    CONVERT_SHAPE,
    CONVERT_ORDER
};
/* clang-format off */
#define CONVERT_OPTIONS                                                                            \
    EDIT_PIXEL_OPTIONS,                                                                            \
    EDIT_DESCRIPTION_OPTIONS,                                                                      \
    {"overwrite", 0, CONVERT_OVERWRITE, NULL, "replace OUT if it exists; it may be IN itself"},    \
    {"dry-run", 0, CONVERT_DRY_RUN, NULL, "only report what it would cost"},                         \
    {"verify", 0, CONVERT_VERIFY, "HOW", "what is read back before OUT appears: sample (the\n"     \
                                         "default: up to 16 tiles), all or none"},                 \
    {"no-sync", 0, CONVERT_NO_SYNC, NULL, "do not wait for the disk; a power failure may then\n"   \
                                          "leave anything as OUT"},                                \
    {"stats", 0, CONVERT_STATISTICS, NULL, "report each band's statistics"},                         \
    {"nan-to-nodata", 0, CONVERT_NAN_TO_NODATA, NULL, "NaN becomes nodata; else pixels stay as they are"}, \
    {"keep-nodata", 0, CONVERT_KEEP_NODATA, NULL, "with a lossy codec, too; by default a mask takes the\n" \
                                                  "place of nodata there"},                          \
    {"threads", 'j', CONVERT_THREADS, "N", "0, the default: all cores"},                           \
    {"memory", 0, CONVERT_MEMORY, "SIZE", "most memory the process may use; without it 256M,\n"    \
                                          "or the least that the image needs"},                    \
    DEVICE_OPTIONS,                                                                                \
    {"library-encoders", 0, CONVERT_LIBRARY_ENCODERS, NULL,                                        \
     "let the libraries of the device's vendor encode:\n"                                          \
     "other bytes than the CPU writes, the same pixels\n"                                         \
     "(of a lossy codec nearly)"},                                                                 \
    {"shape", 0, CONVERT_SHAPE, "HxW[xBANDS]", "of standard input: rows, columns, bands"},         \
    {"order", 0, CONVERT_ORDER, "HOW", "of standard input: pixel (the default) by pixel, row:\n"   \
                                       "each row band by band, or band after band; and where\n"    \
                                       "the bands of a .npy array are, if not as guessed"},        \
    {"json", 0, COMMON_JSON, NULL, "report what was done as JSON"},                                  \
    PAGE_OPTION(";\nall: each to a file of its own, OUT_0.tif and so on"),                         \
    OTHER_OPENING_OPTIONS,                                                                         \
    COMMON_OPTIONS
/* clang-format on */
/* Applies one of them; false after a message. */
bool convert_apply(void *settings, int id, const char *value);
/* Returns true if the options go together; otherwise a message was printed. */
bool convert_check(convert_settings *settings); /* may read the first bytes of standard input */
void convert_settings_free(convert_settings *settings);
bool convert_is_raw(const convert_settings *settings);

#endif
