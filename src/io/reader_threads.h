/* SPDX-License-Identifier: Apache-2.0
 * Reader threads, which keep several reads of files in flight. A disk or a network file system
 * answers eight reads in hardly more time than one.
 *
 * tz_source_read reads in the calling thread and starts no reader. All of the CPU path uses it,
 * since its workers already read at the same time. A request to the submit of a file goes to the
 * readers: that is how the GPU path, which has one thread, fetches the bytes of a batch. A request
 * of up to 4 MiB is first tried in the calling thread, from the cache of the system alone.
 *
 * There is one team of readers in a process, whatever the number of open files. It is separate from
 * the pool of base/pool.h, because readers wait for disks while workers compute. The first job
 * starts them; they sleep between jobs and are never joined. A child of fork starts its own. */
#ifndef TZ_IO_READER_THREADS_H
#define TZ_IO_READER_THREADS_H

#include <terrazzo/terrazzo.h>

enum { TZ_READER_COUNT = 8 };

/* Ranges are read in subranges. Their size is a power of two between these, such that each reader
 * gets about two; they end at multiples of that size. */
#define TZ_READER_MIN_SUBRANGE ((size_t)1 << 20)
#define TZ_READER_MAX_SUBRANGE ((size_t)4 << 20)

/* Reads one subrange completely. Called from several threads at once. */
typedef tz_result (*tz_read_range_fn)(const void *user, const tz_range *subrange, tz_error *err);

typedef struct tz_reader_job tz_reader_job;

/* Queues all ranges and returns. The ranges and their memory must live until tz_reader_job_wait.
 * Returns NULL, and reads nothing, if memory ran out. */
tz_reader_job *tz_reader_job_start(const tz_range *ranges, size_t count, tz_read_range_fn read,
                                   const void *user);

/* Waits until the job has ended, and frees it. The calling thread reads subranges too, so all
 * ranges are read even if no thread could be started. Returns the result of the first subrange, in
 * the order of the ranges, that failed; after a failure no further subrange is started. The job
 * must not be one of the parent process. */
tz_result tz_reader_job_wait(tz_reader_job *job, tz_error *err);

#endif
