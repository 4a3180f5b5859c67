/* SPDX-License-Identifier: Apache-2.0
 * What kind of file a mode says, for messages. */
#ifndef TZ_IO_FILE_KIND_H
#define TZ_IO_FILE_KIND_H

#include <sys/stat.h>

const char *tz_file_kind_name(mode_t mode); /* "a directory", "a FIFO", ...; never NULL */

#endif
