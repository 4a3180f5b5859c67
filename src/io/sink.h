/* SPDX-License-Identifier: Apache-2.0
 * Byte sinks: see tz_sink in the public header for the contract. */
#ifndef TZ_IO_SINK_H
#define TZ_IO_SINK_H

#include <terrazzo/terrazzo.h>

#include "base/error.h"

/* Opens a file that appears whole or not at all. The sink writes a temporary file in the directory
 * of the destination (without a name if the file system can make such files), and commit renames
 * it. exclusive: a destination that exists is an error, now and at commit. no_sync: neither file
 * nor directory are forced to disk. */
tz_result tz_sink_open_file(tz_sink **out, const char *path, bool exclusive, bool no_sync,
                            const tz_context *ctx);

/* Opens memory that grows; commit moves it to *into. */
tz_result tz_sink_open_memory(tz_sink **out, tz_memory *into, const tz_context *ctx);

/* Opens a spool: bytes that are written and read back but never published. Nothing of it remains
 * when the process ends, however it ends. A spool is a file without a name in directory. If
 * directory is NULL, it lies beside the file that sink writes, in memory if sink is memory, else in
 * TMPDIR or /tmp. sink may be NULL, and may be closed before the spool. */
tz_result tz_sink_open_spool(tz_sink **out, tz_sink *sink, const char *directory,
                             const tz_context *ctx);
tz_result tz_sink_open_memory_spool(tz_sink **out, const tz_context *ctx);

/* Checks the struct of a sink of the caller, before it belongs to a writer. After a failure it must
 * not be used, not even to close it. */
tz_result tz_sink_check_struct(const tz_sink *sink, const tz_context *ctx);

/* Copies size bytes of one sink to another; `from` has a function to read. The system copies them
 * if both are files, else they pass through the buffer of the caller. */
tz_result tz_sink_copy(tz_sink *to, uint64_t to_offset, tz_sink *from, uint64_t from_offset,
                       uint64_t size, void *buffer, size_t buffer_size, const tz_context *ctx);

/* Has a file call progress, in bytes, while an insertion moves bytes step by step; other sinks do
 * not. NULL: no longer. */
void tz_sink_set_progress(tz_sink *sink, const tz_progress *progress);

/* Call the functions of a sink; errors get the name of ctx. A NULL function succeeds, except
 * insert, which the sink must have. */
tz_result tz_sink_write(tz_sink *sink, uint64_t offset, const tz_bytes *buffers, size_t count,
                        const tz_context *ctx);
tz_result tz_sink_read(tz_sink *sink, uint64_t offset, void *dst, size_t size,
                       const tz_context *ctx);
tz_result tz_sink_insert(tz_sink *sink, uint64_t size, const tz_context *ctx);
tz_result tz_sink_sync(tz_sink *sink, uint64_t size, const tz_context *ctx);
tz_result tz_sink_commit(tz_sink *sink, const tz_context *ctx);
void tz_sink_close(tz_sink *sink); /* accepts NULL */

bool tz_sink_is_memory(const tz_sink *sink); /* accepts NULL */

/* True for files and memory, which accept writes at any offset and in any order. */
bool tz_sink_is_seekable(tz_sink *sink);

/* Returns the bytes that the file system of the destination has left for this user; TZ_NO_VALUE:
 * unknown. */
uint64_t tz_sink_free_space(tz_sink *sink);

#endif
