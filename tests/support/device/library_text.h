/* SPDX-License-Identifier: Apache-2.0
 * Texts for tz_device_options.libraries. Each lives until the program ends, and equal ones are one.
 */
#ifndef TESTS_SUPPORT_DEVICE_LIBRARY_TEXT_H
#define TESTS_SUPPORT_DEVICE_LIBRARY_TEXT_H

#include <stdbool.h>
#include <terrazzo/terrazzo.h>

/* "name=path"; NULL where path is. */
const char *library_text(const char *name, const char *path);

/* Names a library in options, in place of a path that it has there. A path of NULL changes nothing.
 */
void library_set(tz_device_options *how, const char *name, const char *path);
bool library_is_set(const tz_device_options *how, const char *name);
/* Names those of NVIDIA's libraries that are not named yet as not to be used. */
void library_set_others_unused(tz_device_options *how);

#endif
