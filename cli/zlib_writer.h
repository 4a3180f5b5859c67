/* SPDX-License-Identifier: Apache-2.0
 * Compresses a stream of bytes to the zlib format: the last match of each four bytes, and codes
 * made for each block. Not as tight as zlib, but small, and PNG files need it only here. */
#ifndef CLI_ZLIB_WRITER_H
#define CLI_ZLIB_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <terrazzo/terrazzo.h>

typedef struct zlib_writer zlib_writer;

/* Receives the compressed bytes, part by part. */
typedef tz_result (*zlib_put)(void *user, const void *bytes, size_t size, tz_error *err);

/* NULL when memory runs out. */
zlib_writer *zlib_open(zlib_put put, void *user);
tz_result zlib_write(zlib_writer *z, const void *bytes, size_t size, tz_error *err);
/* Writes the last block and the checksum. */
tz_result zlib_finish(zlib_writer *z, tz_error *err);
void zlib_close(zlib_writer *z); /* NULL is fine */

#endif
