/* SPDX-License-Identifier: Apache-2.0
 * Byte sinks: see tz_sink in the public header for the contract. */
#ifndef TZ_IO_SINK_H
#define TZ_IO_SINK_H

#include <terrazzo/terrazzo.h>

#include "base/error.h"

/* A file that appears whole or not at all. A temporary file in the destination's directory is
 * written (one without a name where the file system has such), and commit renames it. exclusive: a
 * destination that exists is an error, now and at commit. no_sync: neither file nor directory are
 * forced to disk. */
tz_result tz_sink_open_file(tz_sink **out, const char *path, bool exclusive, bool no_sync,
                            const tz_context *ctx);

/* Memory that grows; commit moves it to *into. */
tz_result tz_sink_open_memory(tz_sink **out, tz_memory *into, const tz_context *ctx);

/* Bytes that wait: written and read back, never published; nothing of it is left behind, however
 * the process ends. A file without a name in directory; where that is NULL, beside the file that
 * sink writes, in memory when sink is memory, else where TMPDIR says, or in /tmp. sink may be NULL;
 * it is not needed any more afterwards. */
tz_result tz_sink_open_spool(tz_sink **out, tz_sink *sink, const char *directory,
                             const tz_context *ctx);

/* Its parts for memory. */
bool tz_sink_is_memory(const tz_sink *sink); /* NULL is not */
tz_result tz_sink_open_memory_spool(tz_sink **out, const tz_context *ctx);

/* size bytes of one sink to another; from has the function to read. By the system alone where both
 * are files, else through the caller's buffer of room bytes. */
tz_result tz_sink_copy(tz_sink *to, uint64_t to_offset, tz_sink *from, uint64_t from_offset,
                       uint64_t size, void *buffer, size_t buffer_size, const tz_context *ctx);

/* The functions of a sink; errors get ctx's name. NULL functions succeed. */
tz_result tz_sink_write(tz_sink *sink, uint64_t offset, const tz_bytes *buffers, size_t count,
                        const tz_context *ctx);
tz_result tz_sink_read(tz_sink *sink, uint64_t offset, void *dst, size_t size,
                       const tz_context *ctx);
/* Only of sinks that have the function. */
tz_result tz_sink_insert(tz_sink *sink, uint64_t size, const tz_context *ctx);
tz_result tz_sink_sync(tz_sink *sink, uint64_t size, const tz_context *ctx);
tz_result tz_sink_commit(tz_sink *sink, const tz_context *ctx);
void tz_sink_close(tz_sink *sink); /* NULL is fine */

/* Whether write takes any order of offsets, as files and memory do. */
bool tz_sink_is_seekable(tz_sink *sink);

/* Bytes that the destination's file system has left for us; TZ_NONE: unknown. */
uint64_t tz_sink_free_space(tz_sink *sink);

#endif
