/* SPDX-License-Identifier: Apache-2.0
 * A folder for one test, and what is in it. */
#ifndef TZ_TESTS_SCRATCH_H
#define TZ_TESTS_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Setup and teardown of cmocka: an empty folder, and its removal with all that is in it. */
int scratch_begin(void **state);
int scratch_end(void **state);

const char *scratch_folder(void);

/* "FOLDER/name"; good until some more of them were asked for. */
const char *scratch_path(const char *name);

void scratch_write(const char *name, const void *data, size_t size);
/* Returns true if the file exists and holds just this. */
bool scratch_holds(const char *name, const void *data, size_t size);
bool scratch_exists(const char *name);

/* Returns the number of names in the folder; and one that is not expected, NULL: none. */
size_t scratch_count(void);
const char *scratch_other_than(const char *name);

/* Descriptors that this process has open. */
size_t scratch_open_files(void);

#endif
