/* SPDX-License-Identifier: Apache-2.0
 * --co KEY=VALUE: creation options, as they are typed and shown. The library knows what they mean.
 */
#ifndef CLI_CREATION_H
#define CLI_CREATION_H

#include <stdbool.h>
#include <terrazzo/terrazzo.h>

/* Sets "KEY=VALUE"; false, with a message, when it is not understood or is refused. If memory ran
 * out, this and what follows set *failed, and return true without a message. */
bool creation_set(tz_creation *c, const char *text, tz_error *failed);
/* Sets the compression of a profile of rio-cogeo, unless COMPRESS is given. false, with a message,
 * when no profile has that name. */
bool creation_set_profile(tz_creation *c, const char *name, tz_error *failed);
/* Returns true if the options go together; otherwise a message was printed. Warns of options that
 * the chosen compression does not use. */
bool creation_check(tz_creation *c, tz_error *failed);

/* Finds an option of a driver by its name, in any case and with '-' for '_'; NULL: there is none.
 */
const char *creation_key(const char *driver, const char *name, size_t size);

void creation_print_help(const char *driver);

#endif
