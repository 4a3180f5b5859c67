/* SPDX-License-Identifier: Apache-2.0
 * Devices as the engine uses them: memory, copies, kernels and events, all checked and counted, and
 * then given to a driver. The cores are a device without a driver: all calls below but those about
 * counts are TZ_ERR_ARG on it.
 *
 * A device that failed stays failed: every further call is TZ_ERR_DEVICE with the first cause, and
 * releasing still works. Another device can be opened, and this one again unless its context is
 * lost to the process: see doc/devices.md.
 *
 * In a child after fork all calls are TZ_ERR_DEVICE, and releasing and closing leave the driver
 * alone: its threads are those of the parent. */
#ifndef TZ_DEVICE_DEVICE_H
#define TZ_DEVICE_DEVICE_H

#include "device/driver.h"

/* ---- opening ---- */

/* tz_device_close that tells what was forgotten: TZ_ERR_INTERNAL when memory or events were not
 * released. They are released here, whatever the answer. */
tz_result tz_device_close_checked(tz_device *device, tz_error *err);

/* ---- memory ---- */

/* The one guard of a plan, before its first allocation: no piece is larger than the device allows,
 * and all together fit into what is free, less a margin for what drivers take beside. TZ_ERR_LIMIT
 * tells what was needed and what there is. */
tz_result tz_device_admit(tz_device *device, const uint64_t *sizes, size_t count, tz_error *err);

/* Whether a call failed because the device has no memory for it; the device still works. */
bool tz_device_is_full(tz_result result, const tz_error *err);

/* Bytes that may still be allocated: what the device tells, what options allow. */
tz_result tz_device_free_memory(tz_device *device, uint64_t *bytes, tz_error *err);

/* How much of free memory is for plans: the margin is left out. */
uint64_t tz_device_usable(uint64_t free_bytes);

/* Memory of the device for the engine's own use, from a pool where the driver has one;
 * tz_device_alloc makes memory that other libraries may be given. */
tz_result tz_device_alloc_own(tz_device *device, uint64_t size, tz_device_memory **out,
                              tz_error *err);

/* Whether so much pinned memory stays with the device when it is freed: it is pinned only once. */
bool tz_device_caches_pinned(const tz_device *device, uint64_t size);

/* Memory of the host: (*out)->host. tz_device_free releases all kinds, or gives them back to the
 * device, which keeps some (device_cache.h): nothing may use memory any more that is freed. */
tz_result tz_device_alloc_pinned(tz_device *device, uint64_t size, tz_device_memory **out,
                                 tz_error *err);
/* Device memory for files that an earlier call has freed, already shared; *out becomes NULL where
 * there is none. */
tz_result tz_device_reuse_shared(tz_device *device, uint64_t size, tz_device_memory **out,
                                 tz_error *err);

/* ---- work ---- */

/* What the caller has put into tz_device_native_stream so far is done before what is put into any
 * queue from here on. */
tz_result tz_device_wait_for_stream(tz_device *device, tz_error *err);

/* Begun here and done later, in the order of the queue; from and to stay until a sync. */
tz_result tz_device_upload(uint32_t queue, tz_device_memory *to, uint64_t offset, const void *from,
                           uint64_t size, tz_error *err);
tz_result tz_device_download(uint32_t queue, void *to, const tz_device_memory *from,
                             uint64_t offset, uint64_t size, tz_error *err);
/* launch->groups of 0 is nothing to do. */
tz_result tz_device_launch(tz_device *device, uint32_t queue, const tz_launch *launch,
                           tz_error *err);

/* A library that decodes; false: there is none for this compression. */
bool tz_device_find_vendor_decoder(const tz_device *device, uint16_t compression,
                                   tz_vendor_decoder *out);
/* TZ_ERR_UNSUPPORTED: it does not take this batch, and nothing has changed. The caller sees to it
 * that all lies within the slab, what kernels write into the arrays included. */
tz_result tz_device_vendor_decode(uint32_t queue, const tz_vendor_batch *batch, tz_error *err);
/* The same the other way: see tz_driver.find_encoder. */
bool tz_device_find_vendor_encoder(const tz_device *device, uint16_t compression, int32_t level,
                                   uint64_t max_chunk, tz_vendor_encoder *out);
tz_result tz_device_vendor_encode(uint32_t queue, int32_t level, const tz_vendor_batch *batch,
                                  tz_error *err);

/* ---- files that are read straight into its memory ---- */

/* Whether there is such a way, its name, and the reason why not. */
bool tz_device_find_files(const tz_device *device, char *name, size_t name_size, char *reason,
                          size_t reason_size);
/* TZ_ERR_IO: not this file, this memory or all of these reads, and the device works on. Files stay
 * open until they are closed here, memory is shared until it is freed, and reads, which are not of
 * 0 bytes and lie within memory that is shared, stay until they are ended. */
tz_result tz_device_open_file(tz_device *device, int fd, void **file, tz_error *err);
void tz_device_close_file(tz_device *device, void *file); /* NULL is fine */
tz_result tz_device_share(tz_device_memory *memory, tz_error *err);
tz_result tz_device_begin_reads(tz_device_memory *to, tz_direct_read *reads, uint64_t count,
                                void **reading, tz_error *err);
/* Also of a device that failed before. */
tz_result tz_device_end_reads(tz_device *device, void *reading, tz_error *err);

tz_result tz_device_record(tz_device *device, uint32_t queue, tz_device_event **out, tz_error *err);
tz_result tz_device_wait(uint32_t queue, const tz_device_event *event, tz_error *err);
tz_result tz_device_query(const tz_device_event *event, bool *happened, tz_error *err);
void tz_device_free_event(tz_device_event *event); /* NULL is fine */

/* Wait until all of a queue is done. Errors of its work come out here. Of a device that failed
 * before, it is waited for all the same. */
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
    uint64_t library_calls; /* batches given to a library */
    uint64_t files;         /* opened */
    uint64_t shares;        /* of memory, with files */
    uint64_t read_calls;    /* lists of reads of files */
    uint64_t read_bytes;
    uint64_t events;
    uint64_t syncs;
    uint64_t bytes_now; /* of device memory */
    uint64_t bytes_peak;
} tz_device_counts;

/* A wave begins: its counts start at 0, its peak at what is held. */
void tz_device_begin_wave(tz_device *device);
void tz_device_get_counts(tz_device *device, tz_device_counts *all, tz_device_counts *wave);

/* ---- timeline, for tests ---- */

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
typedef struct tz_device_step {
    uint64_t sequence; /* from 0 */
    uint64_t thread;   /* tells threads apart */
    tz_device_call call;
    uint32_t queue; /* TZ_NO_QUEUE: of none */
    uint64_t bytes;
} tz_device_step;

/* Calls are kept from here on, what was kept before is forgotten; or no more are. */
void tz_device_record_timeline(tz_device *device, bool keep);
/* The steps so far, no other thread using the device; *lost counts those that found no memory. */
const tz_device_step *tz_device_timeline(const tz_device *device, size_t *count, uint64_t *lost);

#endif
