/* SPDX-License-Identifier: Apache-2.0
 * What a driver of devices is: one table. Nothing here knows a vendor's interface.
 *
 * A driver trusts its arguments: device.h has checked offsets, sizes, queues and the kinds of
 * arguments before. It keeps no counts and takes no decisions. Its answers are TZ_OK; TZ_ERR_NOMEM
 * with TZ_CAUSE_DEVICE, after which all else still works; or TZ_ERR_DEVICE, after which the device
 * is not used any more but to release what it holds. Any thread may call any function at any time,
 * but close. */
#ifndef TZ_DEVICE_DRIVER_H
#define TZ_DEVICE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <terrazzo/terrazzo.h>

#include "base/error.h"

/* Deflate in old files: a number that tz_compression does not have. */
#define TZ_OLD_DEFLATE 32946u

/* Queues of one device. What is put into one is done in order; the two may overlap. */
#define TZ_QUEUES 2u

/* Memory of the device, or of the host where the device reaches it fast ("pinned"). */
struct tz_device_memory {
    tz_device *device;
    uint64_t size;     /* as it was asked for */
    uint64_t capacity; /* as the driver was asked: memory that was kept may have more */
    void *handle;      /* the driver's */
    void *host;        /* where pinned memory is; NULL: memory of the device */
    bool wrapped;      /* of the caller's */
    bool plain;  /* memory of the device that callers and other libraries are given: no pool's */
    bool shared; /* files are read into it */
    tz_device_memory *before, *after;
};

typedef struct tz_device_event tz_device_event;
struct tz_device_event {
    tz_device *device;
    void *handle;
    tz_device_event *before, *after;
};

/* An argument of a kernel, as data. */
typedef enum tz_argument_kind {
    TZ_ARGUMENT_MEMORY = 'm',
    TZ_ARGUMENT_U32 = '4',
    TZ_ARGUMENT_U64 = '8'
} tz_argument_kind;
typedef struct tz_argument {
    tz_argument_kind kind;
    union {
        const tz_device_memory *memory;
        uint32_t u32;
        uint64_t u64;
    } value;
} tz_argument;

typedef struct tz_launch {
    uint32_t kernel;              /* a number of kernel_list.h */
    uint64_t work_groups;         /* of TZ_WORK_GROUP_ITEMS items each; not 0 */
    const tz_argument *arguments; /* in the order and of the kinds of kernel_list.h */
    uint32_t argument_count;
} tz_launch;

/* A library of the vendor's that decodes batches of chunks: streams of deflate for the compressions
 * 8 and 32946, whole frames for 50000. */
typedef struct tz_vendor_decoder {
    char name[32];    /* "nvCOMP 5.3.0" */
    char reason[160]; /* why one that is there is not used, where none was found */
    bool needs_size;  /* frames that do not say how much they make are not for it */
    /* Of where chunks begin: powers of two. */
    uint32_t input_alignment, output_alignment;
    /* Its own scratch for a batch, at most: for the batch, each chunk, and each 65536 bytes that
     * all of them make. */
    uint64_t temp, temp_per_tile, temp_per_64k;
} tz_vendor_decoder;

/* A batch for it. Places are offsets in the slab; arrays have an element for each chunk. */
typedef struct tz_vendor_batch {
    uint16_t compression;
    const tz_device_memory *slab;
    uint64_t count;     /* of chunks, none of them empty; not 0 */
    uint64_t max_chunk; /* bytes of the largest chunk, decoded */
    uint64_t total;     /* and of all */
    uint64_t in;        /* of addresses */
    uint64_t in_sizes;  /* of uint64_t, as all sizes */
    uint64_t out;       /* of addresses */
    uint64_t capacity;
    uint64_t out_sizes;        /* become the bytes of each chunk */
    uint64_t statuses;         /* of int32_t: become 0 where all is well, as far as it notices */
    uint64_t temp, temp_bytes; /* a multiple of 64 */
} tz_vendor_batch;

/* A library that encodes batches of chunks, at one level: raw streams of deflate, whole frames of
 * Zstandard, blocks of LZ4. */
typedef struct tz_vendor_encoder {
    char name[32];
    char reason[160]; /* why one that is there is not used, where none was found; may be empty */
    uint32_t input_alignment, output_alignment;
    uint64_t max_chunk; /* bytes of the largest chunk that it takes */
    uint64_t capacity;  /* for each chunk that it makes of the max_chunk that was asked for */
    uint64_t temp, temp_per_tile, temp_per_64k;
    bool other_level; /* it has no such level, and this is the nearest */
} tz_vendor_encoder;

/* ---- pictures: libraries that decode and encode whole streams, which are in memory of the host */

/* One tile in JPEG (7) or JPEG 2000 (34712). All samples have one type; those of a pixel lie
 * together, and rows without a gap. */
typedef struct tz_codestream {
    const uint8_t *bytes; /* the stream, complete: tables are in it already */
    uint64_t size;
    uint64_t at; /* its samples, in the slab */
    uint32_t width, height;
    uint8_t reduction; /* JPEG 2000: resolutions of the stream that are left out, from the highest
                          down; width and height are of what is left */
    uint8_t samples;   /* of a pixel */
    uint8_t sample_bytes; /* 1 or 2 */
    bool is_signed;
    bool to_rgb; /* JPEG: stored as YCbCr, wanted as RGB */
    bool failed; /* becomes so where the library could not: what is in the slab then is anything */
} tz_codestream;

typedef struct tz_codestream_batch {
    uint16_t compression;
    const tz_device_memory *slab;
    tz_codestream *codestreams; /* stay, as their streams do, until the work is done */
    uint64_t count;             /* not 0 */
} tz_codestream_batch;

typedef struct tz_codestream_codec {
    char name[32];    /* "nvJPEG2000 0.11.0" */
    char reason[160]; /* why there is none, where none was found */
    uint64_t bytes; /* of the device that it takes beside the slab, at most, for pictures of so many
                       samples as was asked for */
    uint32_t at_once; /* of one that encodes: pictures under way, at most; each takes its share of
                         bytes */
} tz_codestream_codec;

/* How pictures are made: of those, bytes and size are not used. */
typedef struct tz_codestream_encoding {
    uint32_t quality;       /* 1 to 100; 0: lossless */
    uint8_t subsampling[2]; /* of YCbCr in JPEG */
    bool to_ycbcr;          /* three samples are RGB, and their colours are stored decorrelated */
    uint32_t before, after; /* bytes that are left free around each stream */
    uint64_t max_bytes;     /* of one stream: a larger one has failed */
    uint32_t at_once;       /* pictures under way, at most; not 0 */
} tz_codestream_encoding;

/* Where streams go, in memory of the host: in the order of pictures, one behind the other, each
 * with the bytes around it. One that failed has no size, and takes no room. */
typedef struct tz_codestream_output {
    uint8_t *bytes;
    uint64_t capacity;
    uint64_t *sizes; /* becomes those of the streams, by picture */
} tz_codestream_output;

/* ---- files that are read straight into memory of the device ---- */

typedef struct tz_direct_read {
    void *file;      /* of open_file */
    uint64_t offset; /* in it */
    uint64_t to;     /* in memory */
    uint64_t size;
    uint64_t done; /* becomes what has come; less than size: the file ends there, or it failed */
} tz_direct_read;

/* Devices as find meets them. */
typedef struct tz_found_devices {
    tz_device_info *devices; /* tz_alloc */
    size_t count;
} tz_found_devices;
/* Room for one more, zeroed; NULL: no memory. */
tz_device_info *tz_found_devices_add(tz_found_devices *found);

typedef struct tz_driver {
    const char *name;

    /* What find says of a device may turn out wrong when it is opened. A list for users then opens
     * it once, and says what became of it. */
    bool probes_when_listed;

    /* Add all devices, in the order of their numbers, and say in *about what became of the driver.
     * What is missing is no error. Their work is left 0: it is the same for all drivers. */
    tz_result (*find)(const tz_device_options *options, tz_found_devices *found,
                      tz_driver_info *about, const tz_context *ctx);

    /* Open device number index; *info is what find says of it. */
    tz_result (*open)(void **state, const tz_device_options *options, uint32_t index,
                      tz_device_info *info, const tz_context *ctx);
    void (*close)(void *state);

    /* Fill in memory->handle, and of pinned memory memory->host too; its size is set. */
    tz_result (*alloc)(void *state, tz_device_memory *memory, const tz_context *ctx);
    tz_result (*alloc_pinned)(void *state, tz_device_memory *memory, const tz_context *ctx);
    void (*free)(void *state, tz_device_memory *memory); /* of either kind, or wrapped */

    /* Hold the caller's memory->handle until free; memory->size of 0 becomes all of it. A handle
     * that is not a piece of memory of so many bytes in the device's context is TZ_ERR_ARG. */
    tz_result (*wrap)(void *state, tz_device_memory *memory, const tz_context *ctx);
    /* What its memory belongs to, for callers that wrap their own. */
    void *(*native_context)(void *state);

    /* Where work of the caller's meets that of the queues; both NULL: nowhere. meet makes all
     * queues wait for what is on the stream by now; it does nothing while nobody knows of the
     * stream. */
    void *(*native_stream)(void *state);
    tz_result (*wait_for_stream)(void *state, const tz_context *ctx);

    /* These return before the work is done. Host memory stays as it is until then. */
    tz_result (*upload)(void *state, uint32_t queue, const tz_device_memory *to, uint64_t offset,
                        const void *from, uint64_t size, const tz_context *ctx);
    tz_result (*download)(void *state, uint32_t queue, void *to, const tz_device_memory *from,
                          uint64_t offset, uint64_t size, const tz_context *ctx);
    tz_result (*launch)(void *state, uint32_t queue, const tz_launch *launch,
                        const tz_context *ctx);

    /* Both NULL: the driver knows no such library. find_decoder is false where there is none for
     * this compression, and says the same each time; but one that misbehaves is not found any more.
     * decode returns before the work is done; TZ_ERR_UNSUPPORTED: the library does not take this
     * batch, and nothing has changed but what it was to write. */
    bool (*find_decoder)(void *state, uint16_t compression, tz_vendor_decoder *out);
    tz_result (*decode)(void *state, uint32_t queue, const tz_vendor_batch *batch,
                        const tz_context *ctx);

    /* The same the other way, NULL where there is none; room and temp are for chunks of max_chunk
     * bytes at most. Where there is a library and it does not take so large ones, it is false too,
     * and *out has its name and max_chunk, else zeros. In a batch, room is not used, and statuses
     * are 0 before. */
    bool (*find_encoder)(void *state, uint16_t compression, int32_t level, uint64_t max_chunk,
                         tz_vendor_encoder *out);
    tz_result (*encode)(void *state, uint32_t queue, int32_t level, const tz_vendor_batch *batch,
                        const tz_context *ctx);

    /* Pictures; NULL where there is no such library. decode_codestreams returns before the work is
     * done, without waiting for anything but a state of the library's that it needs again; what
     * fails is noted in the picture, and is no error. encode_codestreams waits: it takes what is in
     * the slab when the queue has come so far, and returns when all streams are there. */
    bool (*find_codestream_codec)(void *state, uint16_t compression, bool encodes, uint64_t samples,
                                  tz_codestream_codec *out);
    tz_result (*decode_codestreams)(void *state, uint32_t queue, const tz_codestream_batch *batch,
                                    const tz_context *ctx);
    tz_result (*encode_codestreams)(void *state, uint32_t queue, const tz_codestream_batch *batch,
                                    const tz_codestream_encoding *how, tz_codestream_output *out,
                                    const tz_context *ctx);

    /* Files; all NULL where the driver has no such thing. find_files is false, with the reason,
     * where reads would go through memory of the host all the same; it says the same each time.
     * share_memory readies a piece of plain memory for them, from then until unshare_memory.
     * begin_reads submits all of them, to memory that no queue uses, and returns; end_reads waits
     * until none is under way, whatever became of them. What fails of all this is TZ_ERR_IO, and
     * the device works on: end_reads says the first cause then, and each read what of it has come.
     */
    bool (*find_files)(void *state, char *name, size_t name_size, char *reason, size_t reason_size);
    tz_result (*open_file)(void *state, int fd, void **file, const tz_context *ctx);
    void (*close_file)(void *state, void *file);
    tz_result (*share_memory)(void *state, const tz_device_memory *memory, const tz_context *ctx);
    void (*unshare_memory)(void *state, const tz_device_memory *memory);
    tz_result (*begin_reads)(void *state, const tz_device_memory *to, tz_direct_read *reads,
                             uint64_t count, void **reading, const tz_context *ctx);
    tz_result (*end_reads)(void *state, void *reading, const tz_context *ctx);

    /* An event happens when all that was put into the queue before it is done. */
    tz_result (*record)(void *state, uint32_t queue, tz_device_event *event, const tz_context *ctx);
    tz_result (*wait)(void *state, uint32_t queue, const tz_device_event *event,
                      const tz_context *ctx); /* the queue waits, not the caller */
    tz_result (*query)(void *state, const tz_device_event *event, bool *happened,
                       const tz_context *ctx);
    void (*free_event)(void *state, tz_device_event *event);

    /* The caller waits for one queue. There is no way to wait for all of a device. */
    tz_result (*sync)(void *state, uint32_t queue, const tz_context *ctx);

    /* Bytes that may still be had, as far as the device tells; UINT64_MAX: it does not. */
    tz_result (*free_memory)(void *state, uint64_t *bytes, const tz_context *ctx);
} tz_driver;

extern const tz_driver tz_driver_cuda;
extern const tz_driver tz_driver_opencl;

#endif
