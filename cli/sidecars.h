/* SPDX-License-Identifier: Apache-2.0
 * Files beside an image: which of them are used, which lie there unused. */
#ifndef CLI_SIDECARS_H
#define CLI_SIDECARS_H

#include <terrazzo/terrazzo.h>

#include "json.h"

/* All kinds that --sidecars asks for. */
#define SIDECARS_ALL (TZ_SIDECAR_OVR | TZ_SIDECAR_MSK | TZ_SIDECAR_AUX | TZ_SIDECAR_WORLD)

/* Prints notes on standard error: which facts came from which file, and which files are not used.
 * asked: the TZ_SIDECAR_ bits that the image was opened with. */
void sidecars_note(const char *path, const tz_file *file, uint32_t asked);
/* Notes the files of these kinds that exist and are not used, for a file that is checked alone. */
void sidecars_note_unused(const char *path, uint32_t kinds);
/* Writes the same as a member "sidecars". */
void sidecars_write(json *j, const char *path, const tz_file *file);

/* Notes which pages of a file with several are left out. */
void pages_note_left_out(const char *path, const tz_file *file);

#endif
