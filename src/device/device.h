/* SPDX-License-Identifier: Apache-2.0
 * Devices as the engine uses them: memory, copies, kernels and events. Every call is checked and
 * counted, and then passed to a driver. The CPU is a device without a driver: all calls below
 * except those about counts are TZ_ERR_ARG on it.
 *
 * A device that failed stays failed. Every further call is TZ_ERR_DEVICE with the first cause, and
 * releasing still works. Another device can be opened, and the same one again unless its context is
 * lost to the process: see doc/devices.md.
 *
 * In a child after fork all calls are TZ_ERR_DEVICE. Releasing and closing do not call the driver
 * there, since its threads belong to the parent. */
#ifndef TZ_DEVICE_DEVICE_H
#define TZ_DEVICE_DEVICE_H

#include "device/driver.h"

/* ---- opening ---- */

/* tz_device_close that reports leaks: TZ_ERR_INTERNAL if memory or events were not released. They
 * are released in either case. */
tz_result tz_device_close_checked(tz_device *device, tz_error *err);

/* ---- memory ---- */

/* The guard of a plan, called once before its first allocation: no allocation is larger than the
 * device allows, and all together fit into the free memory less a margin for the driver.
 * TZ_ERR_LIMIT says how much is needed and how much is free. */
tz_result tz_device_admit(tz_device *device, const uint64_t *sizes, size_t count, tz_error *err);

/* True if a call failed because device memory is full; the device still works. */
bool tz_device_is_full(tz_result result, const tz_error *err);

/* Bytes that may still be allocated: free on the device, and allowed by the options. */
tz_result tz_device_free_memory(tz_device *device, uint64_t *bytes, tz_error *err);

/* The part of free memory that plans may use, without the margin. */
uint64_t tz_device_usable(uint64_t free_bytes);

/* Allocates device memory for the engine's own use, from a pool if the driver has one.
 * tz_device_memory_alloc allocates memory that other libraries may be given. */
tz_result tz_device_alloc_own(tz_device *device, uint64_t size, tz_device_memory **out,
                              tz_error *err);

/* True if pinned memory of this size stays in the cache when it is freed, and is pinned only once.
 */
bool tz_device_caches_pinned(const tz_device *device, uint64_t size);

/* Allocates pinned host memory: (*out)->host. tz_device_memory_free releases memory of all kinds or
 * puts it into the device's cache, so that freed memory must not be used even if it is still
 * mapped. */
tz_result tz_device_alloc_pinned(tz_device *device, uint64_t size, tz_device_memory **out,
                                 tz_error *err);
/* Takes device memory from the cache that is already shared with files; *out becomes NULL if there
 * is none. */
tz_result tz_device_reuse_shared(tz_device *device, uint64_t size, tz_device_memory **out,
                                 tz_error *err);

/* ---- commands ---- */

/* Orders later commands of all queues after the work that the caller has put into
 * tz_device_get_stream so far. */
tz_result tz_device_wait_for_native_stream(tz_device *device, tz_error *err);
/* The same for a CUstream, or a cl_command_queue, of the context that the device works in.
 * TZ_ERR_ARG: it is not one. */
tz_result tz_device_wait_for_stream(tz_device *device, void *stream, tz_error *err);

/* These return before the work is done; from and to must stay until a sync. */
tz_result tz_device_upload(uint32_t queue, tz_device_memory *to, uint64_t offset, const void *from,
                           uint64_t size, tz_error *err);
tz_result tz_device_download(uint32_t queue, void *to, const tz_device_memory *from,
                             uint64_t offset, uint64_t size, tz_error *err);
/* launch->work_groups of 0 launches nothing. */
tz_result tz_device_launch(tz_device *device, uint32_t queue, const tz_launch *launch,
                           tz_error *err);

/* Finds a library that decodes batches; false: there is none for this compression. */
bool tz_device_find_vendor_decoder(const tz_device *device, uint16_t compression,
                                   tz_vendor_decoder *out);
/* TZ_ERR_UNSUPPORTED: the library refuses this batch, and nothing has changed. The caller checks
 * that all offsets and all addresses in the arrays lie within the slab. */
tz_result tz_device_vendor_decode(uint32_t queue, const tz_vendor_batch *batch, tz_error *err);
/* The same for encoding: see tz_driver.find_encoder. */
bool tz_device_find_vendor_encoder(const tz_device *device, uint16_t compression, int32_t level,
                                   uint64_t max_tile, tz_vendor_encoder *out);
tz_result tz_device_vendor_encode(uint32_t queue, int32_t level, const tz_vendor_batch *batch,
                                  tz_error *err);

/* ---- files that are read straight into device memory ---- */

/* True if the device can read files, with the name of its library; if not, with the reason. */
bool tz_device_find_files(const tz_device *device, char *name, size_t name_size, char *reason,
                          size_t reason_size);
/* TZ_ERR_IO: this file, memory or list of reads is refused, and the device stays usable. Memory is
 * shared until it is freed. Reads have at least one byte, lie within shared memory, and must stay
 * until they are ended. */
tz_result tz_device_open_file(tz_device *device, int fd, void **file, tz_error *err);
void tz_device_close_file(tz_device *device, void *file); /* NULL is fine */
tz_result tz_device_share(tz_device_memory *memory, tz_error *err);
tz_result tz_device_begin_reads(tz_device_memory *to, tz_direct_read *reads, uint64_t count,
                                void **reading, tz_error *err);
/* Waits for all reads, also on a device that failed before. */
tz_result tz_device_end_reads(tz_device *device, void *reading, tz_error *err);

tz_result tz_device_record(tz_device *device, uint32_t queue, tz_device_event **out, tz_error *err);
tz_result tz_device_wait(uint32_t queue, const tz_device_event *event, tz_error *err);
tz_result tz_device_query(const tz_device_event *event, bool *happened, tz_error *err);
void tz_device_free_event(tz_device_event *event); /* NULL is fine */

/* Waits until all commands of a queue are done, also on a device that failed before. Errors of the
 * commands are returned here. */
tz_result tz_device_sync(tz_device *device, uint32_t queue, tz_error *err);

/* ---- counts ---- */

typedef struct tz_device_counts {
    uint64_t allocations; /* of device memory */
    uint64_t pinned;      /* allocations of pinned memory */
    uint64_t uploads;
    uint64_t upload_bytes;
    uint64_t downloads;
    uint64_t download_bytes;
    uint64_t launches;
    uint64_t library_calls; /* batches for a library */
    uint64_t files;         /* opened */
    uint64_t shares;        /* memory registered for files */
    uint64_t read_calls;    /* lists of direct reads */
    uint64_t read_bytes;
    uint64_t events;
    uint64_t syncs;
    uint64_t bytes_now;  /* device memory in use */
    uint64_t bytes_peak; /* the most of it */
} tz_device_counts;

/* Begins a wave: its counts start at 0, its peak at the bytes in use. */
void tz_device_begin_wave(tz_device *device);
void tz_device_get_counts(tz_device *device, tz_device_counts *all, tz_device_counts *wave);

/* ---- calls ---- */

typedef enum tz_device_call {
    TZ_CALL_ALLOC,
    TZ_CALL_ALLOC_PINNED,
    TZ_CALL_WRAP,
    TZ_CALL_FREE,
    TZ_CALL_WAIT_FOR_STREAM,
    TZ_CALL_UPLOAD,
    TZ_CALL_DOWNLOAD,
    TZ_CALL_LAUNCH,
    TZ_CALL_DECODE,
    TZ_CALL_OPEN_FILE,
    TZ_CALL_SHARE,
    TZ_CALL_BEGIN_READS,
    TZ_CALL_END_READS,
    TZ_CALL_ENCODE,
    TZ_CALL_RECORD,
    TZ_CALL_WAIT,
    TZ_CALL_QUERY,
    TZ_CALL_SYNC,
    TZ_CALL_FREE_MEMORY
} tz_device_call;

#define TZ_NO_QUEUE UINT32_MAX

/* Called for each call of the driver before it is made, with the device locked. bytes are those
 * that are allocated or copied; queue may be TZ_NO_QUEUE. */
typedef void tz_device_observer(void *user, tz_device_call call, uint32_t queue, uint64_t bytes);
/* Sets the observer of a device, for tests; NULL: none. */
void tz_device_observe(tz_device *device, tz_device_observer *observer, void *user);

#endif
