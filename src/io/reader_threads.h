/* SPDX-License-Identifier: Apache-2.0
 * Reader threads: they keep several reads of files under way at once. A disk or a network file
 * system answers eight reads in hardly more time than one.
 *
 * The rule of who reads: tz_source_read reads in the calling thread, and no thread is started for
 * it. All of the CPU path goes that way, since its workers already read at the same time. What is
 * given to a file's submit goes to the readers: that is how the device path, which has one thread,
 * fetches the bytes of a batch. A request of up to 4 MiB is first tried in the calling thread, from
 * memory alone: what the system has cached needs no reader.
 *
 * There is one set of readers in a process, whatever the number of open files. It is apart from the
 * pool of base/pool.h, because readers wait for disks while workers compute. The first reading
 * starts them; they sleep between readings and are never joined. A child of fork starts its own. */
#ifndef TZ_IO_READER_THREADS_H
#define TZ_IO_READER_THREADS_H

#include <terrazzo/terrazzo.h>

enum { TZ_READER_COUNT = 8 };

/* Ranges are read in pieces. The size of a piece is a power of two between these, such that each
 * reader gets about two; pieces are cut where the offset is a multiple of it. */
#define TZ_READER_MIN_SUBRANGE ((size_t)1 << 20)
#define TZ_READER_MAX_SUBRANGE ((size_t)4 << 20)

/* Reads one piece to its end. Called from several threads at once. */
typedef tz_result (*tz_read_range_fn)(const void *user, const tz_range *subrange, tz_error *err);

typedef struct tz_reader_job tz_reader_job;

/* Queues all ranges and returns. The ranges and their memory stay until tz_reader_job_wait. NULL:
 * there is no memory for it, and nothing has begun. */
tz_reader_job *tz_reader_job_start(const tz_range *ranges, size_t count, tz_read_range_fn read,
                                   const void *user);

/* Returns once no piece is under way. The calling thread reads pieces too, so all of it is read
 * even where no thread could be started. The result is that of the piece with the lowest position
 * among those that failed; after a failure no further piece is begun. A reading of the process
 * before fork must not be given to it. */
tz_result tz_reader_job_wait(tz_reader_job *job, tz_error *err);

#endif
