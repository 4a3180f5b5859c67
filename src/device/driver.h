/* SPDX-License-Identifier: Apache-2.0
 * The interface of a driver: one table of functions. Nothing here knows a vendor's interface.
 *
 * A driver trusts its arguments: device.h has checked offsets, sizes, queues and the kinds of
 * arguments before. It keeps no counts and makes no choices. Its results are TZ_OK; TZ_ERR_NOMEM
 * with TZ_CAUSE_DEVICE, after which the device still works; or TZ_ERR_DEVICE, after which only
 * functions that release are called. Any thread may call any function at any time, except close. */
#ifndef TZ_DEVICE_DRIVER_H
#define TZ_DEVICE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <terrazzo/terrazzo.h>

#include "base/error.h"

/* Queues of one device. The commands of one queue run in order; the two queues may overlap. */
#define TZ_QUEUES 2u

/* Device memory, or host memory that the device reaches fast ("pinned"). */
struct tz_device_memory {
    tz_device *device;
    uint64_t size;     /* bytes that the caller asked for */
    uint64_t capacity; /* bytes that the driver allocated: cached memory may have more than size */
    void *handle;      /* the driver's */
    void *host;        /* address of pinned memory; NULL: device memory */
    bool wrapped;      /* belongs to the caller */
    bool plain;        /* device memory for callers and other libraries; not from a pool */
    bool shared;       /* registered for direct reads of files */
    tz_device_memory *before, *after; /* list of the device */
};

typedef struct tz_device_event tz_device_event;
struct tz_device_event {
    tz_device *device;
    void *handle;                    /* the driver's */
    tz_device_event *before, *after; /* list of the device */
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
    uint64_t work_groups;         /* of TZ_WORK_GROUP_ITEMS work-items each; not 0 */
    const tz_argument *arguments; /* in the order and of the kinds of kernel_list.h */
    uint32_t argument_count;
} tz_launch;

/* ---- libraries of the vendor that decode and encode batches of chunks in device memory ---- */

/* Chunks are raw streams of Deflate, whole frames of Zstandard, or blocks of LZ4. The tile of a
 * file has a header and a checksum around some of them. */
typedef struct tz_vendor_decoder {
    char name[32];    /* "nvCOMP 5.3.0" */
    char reason[160]; /* if none was found: why an available library is not used */
    bool needs_size;  /* decodes only frames with a content size */
    /* Chunks begin at multiples of these powers of two. */
    uint32_t input_alignment, output_alignment;
    /* Temporary memory in bytes, at most: for a batch, for each chunk of it, and for each 65536
     * decoded bytes of it. */
    uint64_t temp, temp_per_tile, temp_per_64k;
} tz_vendor_decoder;

/* A batch for either direction. All of in to temp are offsets in the slab; the arrays have an
 * element for each chunk. */
typedef struct tz_vendor_batch {
    uint16_t compression;
    const tz_device_memory *slab;
    uint64_t count;            /* chunks, none of them empty; not 0 */
    uint64_t max_tile;         /* decoded bytes of the largest chunk */
    uint64_t total;            /* decoded bytes of all chunks */
    uint64_t in;               /* array of addresses */
    uint64_t in_sizes;         /* array of uint64_t */
    uint64_t out;              /* array of addresses */
    uint64_t capacity;         /* array of uint64_t; unused when encoding */
    uint64_t out_sizes;        /* array of uint64_t, which the library writes */
    uint64_t statuses;         /* array of int32_t, which the library writes; 0: no error found */
    uint64_t temp, temp_bytes; /* temporary memory, at a multiple of 64 */
} tz_vendor_batch;

/* An encoder at one level, for chunks of the size that find_encoder was asked for. */
typedef struct tz_vendor_encoder {
    char name[32];
    char reason[160]; /* if none was found: why an available library is not used; may be empty */
    uint32_t input_alignment, output_alignment;
    uint64_t max_tile;                          /* bytes of the largest chunk that it takes */
    uint64_t capacity;                          /* bytes that an encoded chunk may need */
    uint64_t temp, temp_per_tile, temp_per_64k; /* as in tz_vendor_decoder */
    bool other_level; /* the library does not have the level; this is the nearest */
} tz_vendor_encoder;

/* ---- libraries that decode and encode whole codestreams, which are in host memory ---- */

/* One tile in JPEG or JPEG 2000. All samples have one type. Samples of a pixel lie side by side,
 * and rows have no gap between them. */
typedef struct tz_codestream {
    const uint8_t *bytes; /* the complete stream, with its tables */
    uint64_t size;
    uint64_t at; /* offset of the samples in the slab */
    uint32_t width, height;
    /* JPEG 2000: resolution levels to discard, from the highest down. Width and height are
     * those of the remaining resolution. */
    uint8_t decode_reduction;
    uint8_t samples;      /* of a pixel */
    uint8_t sample_bytes; /* 1 or 2 */
    bool is_signed;
    bool to_rgb; /* JPEG: stored as YCbCr, wanted as RGB */
    bool failed; /* set if the library could not decode it; its samples are undefined then */
} tz_codestream;

typedef struct tz_codestream_batch {
    uint16_t compression;
    const tz_device_memory *slab;
    tz_codestream *codestreams; /* they and their bytes stay until the work is done */
    uint64_t count;             /* not 0 */
} tz_codestream_batch;

typedef struct tz_codestream_codec {
    char name[32];    /* "nvJPEG2000 0.11.0" */
    char reason[160]; /* if none was found: why */
    /* Device memory that the library takes besides the slab, at most, for codestreams of as many
     * samples as it was asked about. */
    uint64_t bytes;
    /* Encoders: codestreams in progress, at most; each takes its share of bytes. */
    uint32_t at_once;
} tz_codestream_codec;

/* Options of an encoder. It does not use bytes and size of a codestream. */
typedef struct tz_codestream_encoding {
    uint32_t quality;       /* 1 to 100; 0: lossless */
    uint8_t subsampling[2]; /* of YCbCr in JPEG */
    bool to_ycbcr;          /* three samples are RGB, and are stored decorrelated */
    uint32_t before, after; /* bytes to leave free around each stream */
    uint64_t max_bytes;     /* of a stream: a larger one counts as failed */
    uint32_t at_once;       /* codestreams in progress, at most; not 0 */
} tz_codestream_encoding;

/* Encoded streams in host memory, one after the other in the order of the codestreams, each with
 * the free bytes around it. A codestream that failed has a size of 0 and takes no bytes. */
typedef struct tz_codestream_output {
    uint8_t *bytes;
    uint64_t capacity;
    uint64_t *sizes; /* of the streams, which the library writes */
} tz_codestream_output;

/* ---- files that are read straight into device memory ---- */

typedef struct tz_direct_read {
    void *file;      /* of open_file */
    uint64_t offset; /* in the file */
    uint64_t to;     /* offset in the memory */
    uint64_t size;   /* bytes */
    uint64_t done; /* bytes that arrived; less than size at the end of the file or after an error */
} tz_direct_read;

/* ---- the driver ---- */

/* Libraries by the names of tz_device_options.libraries; those of NVIDIA in the order of
 * TZ_NVIDIA_*. */
typedef enum tz_library {
    TZ_LIBRARY_CUDA,
    TZ_LIBRARY_OPENCL,
    TZ_LIBRARY_NVCOMP,
    TZ_LIBRARY_CUFILE,
    TZ_LIBRARY_NVJPEG2K,
    TZ_LIBRARY_NVJPEG,
    TZ_LIBRARY_COUNT
} tz_library;

/* The caller's options for the time of a call. */
typedef struct tz_device_setup {
    tz_device_options options;
    const char *libraries[TZ_LIBRARY_COUNT]; /* path or name; empty: not used; NULL: not given */
    char *text;                              /* the libraries are in it; tz_alloc, or NULL */
} tz_device_setup;

/* Memory of the texts of a tz_device_info. */
typedef struct tz_device_texts {
    char id[32];
    char driver[16];
    char name[128];
    char vendor[128];
    char platform[128];
    char api_version[128];
    char driver_version[128];
    char reason[256];
} tz_device_texts;
/* Sets all to 0 and empty. The texts must not move as long as *info is used. */
void tz_device_info_init(tz_device_info *info, tz_device_texts *texts);

typedef struct tz_found_device {
    tz_device_info info;
    tz_device_texts texts;
} tz_found_device;

/* The devices that find has found. */
typedef struct tz_found_devices {
    tz_found_device **devices; /* tz_alloc, the array and each device */
    size_t count;
} tz_found_devices;
/* Appends a device without a description; NULL: no memory. */
tz_found_device *tz_found_devices_add(tz_found_devices *found);

/* The description of a driver with the memory of its texts, which must not move. */
typedef struct tz_found_driver {
    tz_driver_info info;
    char library[256];
    char reason[256];
} tz_found_driver;

typedef struct tz_driver {
    const char *name;

    /* The description by find may turn out wrong when a device is opened. Lists for users then open
     * each device once, and report the result. */
    bool probes_when_listed;

    /* Adds all devices in the order of their numbers, and describes the driver in *about. A missing
     * driver is not an error. The caller sets the capabilities (caps), which find leaves 0. */
    tz_result (*find)(const tz_device_setup *setup, tz_found_devices *found, tz_found_driver *about,
                      const tz_context *ctx);

    /* Opens device number index; *info and its texts become what find says of it. */
    tz_result (*open)(void **state, const tz_device_setup *setup, uint32_t index,
                      tz_device_info *info, tz_device_texts *texts, const tz_context *ctx);
    void (*close)(void *state);

    /* Allocate memory->size bytes and set memory->handle; of pinned memory also memory->host. */
    tz_result (*alloc)(void *state, tz_device_memory *memory, const tz_context *ctx);
    tz_result (*alloc_pinned)(void *state, tz_device_memory *memory, const tz_context *ctx);
    void (*free)(void *state, tz_device_memory *memory); /* of either kind, or wrapped */

    /* Holds the caller's memory->handle until free. A memory->size of 0 becomes the whole size.
     * TZ_ERR_ARG if the handle is not memory of memory->size bytes in the device's context. */
    tz_result (*wrap)(void *state, tz_device_memory *memory, const tz_context *ctx);
    /* The context that memory belongs to, for callers that wrap their own. */
    void *(*native_context)(void *state);

    /* The stream on which the caller orders its own work; both NULL: there is none.
     * wait_for_native_stream makes all queues wait for the work that is on the stream by now. It
     * does nothing until native_stream was called. */
    void *(*native_stream)(void *state);
    tz_result (*wait_for_native_stream)(void *state, const tz_context *ctx);
    /* The same for any stream of the caller: a CUstream, or a cl_command_queue, of the context that
     * the device works in. TZ_ERR_ARG if it is not one, as far as that can be found out. Nothing
     * makes a stream wait for the queues: whoever gives memory back to the caller has waited. */
    tz_result (*wait_for_stream)(void *state, void *stream, const tz_context *ctx);

    /* These return before the work is done. Host memory must not change until then. */
    tz_result (*upload)(void *state, uint32_t queue, const tz_device_memory *to, uint64_t offset,
                        const void *from, uint64_t size, const tz_context *ctx);
    tz_result (*download)(void *state, uint32_t queue, void *to, const tz_device_memory *from,
                          uint64_t offset, uint64_t size, const tz_context *ctx);
    tz_result (*launch)(void *state, uint32_t queue, const tz_launch *launch,
                        const tz_context *ctx);

    /* Both NULL: the driver knows no such library. find_decoder is false if there is none for this
     * compression. It gives the same answer each time, unless a library misbehaved: that one is not
     * found any more. decode returns before the work is done. TZ_ERR_UNSUPPORTED: the library
     * refuses this batch, and only its outputs may have changed. */
    bool (*find_decoder)(void *state, uint16_t compression, tz_vendor_decoder *out);
    tz_result (*decode)(void *state, uint32_t queue, const tz_vendor_batch *batch,
                        const tz_context *ctx);

    /* The same for encoding. capacity and temp are for chunks of at most max_tile bytes. If there
     * is a library that does not take chunks of this size, find_encoder is false, but *out has its
     * name and its max_tile; without a library *out is zero. statuses of a batch are 0 before. */
    bool (*find_encoder)(void *state, uint16_t compression, int32_t level, uint64_t max_tile,
                         tz_vendor_encoder *out);
    tz_result (*encode)(void *state, uint32_t queue, int32_t level, const tz_vendor_batch *batch,
                        const tz_context *ctx);

    /* Codestreams; NULL: the driver knows no such library. decode_codestreams returns before the
     * work is done. It waits only for a state of the library that it needs again. A codestream that
     * cannot be decoded is marked as failed, which is not an error. encode_codestreams takes the
     * samples that are in the slab when the queue gets there, and waits for all streams. */
    bool (*find_codestream_codec)(void *state, uint16_t compression, bool encodes, uint64_t samples,
                                  tz_codestream_codec *out);
    tz_result (*decode_codestreams)(void *state, uint32_t queue, const tz_codestream_batch *batch,
                                    const tz_context *ctx);
    tz_result (*encode_codestreams)(void *state, uint32_t queue, const tz_codestream_batch *batch,
                                    const tz_codestream_encoding *how, tz_codestream_output *out,
                                    const tz_context *ctx);

    /* Files; all NULL: the driver cannot read files. find_files is false, with the reason, if reads
     * would pass through host memory after all; it gives the same answer each time. share_memory
     * registers plain memory for reads, until unshare_memory. begin_reads submits all reads, to
     * memory that no queue uses, and returns. end_reads waits until none is in flight. Failures are
     * TZ_ERR_IO and leave the device usable: end_reads returns the first error, and `done` of each
     * read says how many bytes arrived. */
    bool (*find_files)(void *state, char *name, size_t name_size, char *reason, size_t reason_size);
    tz_result (*open_file)(void *state, int fd, void **file, const tz_context *ctx);
    void (*close_file)(void *state, void *file);
    tz_result (*share_memory)(void *state, const tz_device_memory *memory, const tz_context *ctx);
    void (*unshare_memory)(void *state, const tz_device_memory *memory);
    tz_result (*begin_reads)(void *state, const tz_device_memory *to, tz_direct_read *reads,
                             uint64_t count, void **reading, const tz_context *ctx);
    tz_result (*end_reads)(void *state, void *reading, const tz_context *ctx);

    /* An event happens when all earlier commands of its queue are done. */
    tz_result (*record)(void *state, uint32_t queue, tz_device_event *event, const tz_context *ctx);
    tz_result (*wait)(void *state, uint32_t queue, const tz_device_event *event,
                      const tz_context *ctx); /* the queue waits, not the caller */
    tz_result (*query)(void *state, const tz_device_event *event, bool *happened,
                       const tz_context *ctx);
    void (*free_event)(void *state, tz_device_event *event);

    /* Waits for one queue. No function waits for a whole device. */
    tz_result (*sync)(void *state, uint32_t queue, const tz_context *ctx);

    /* Bytes of free device memory; UINT64_MAX: the device does not report them. */
    tz_result (*free_memory)(void *state, uint64_t *bytes, const tz_context *ctx);
} tz_driver;

extern const tz_driver tz_driver_cuda;
extern const tz_driver tz_driver_opencl;

#endif
