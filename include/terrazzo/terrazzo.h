/* SPDX-License-Identifier: Apache-2.0
 *
 * terrazzo: reads and writes GeoTIFF and Cloud Optimized GeoTIFF.
 *
 * A file is opened once and is then an immutable handle: any number of threads may use it, and
 * everything it returns lives until tz_close. Every call that can fail returns a tz_result, and
 * says in a tz_error of the caller's what went wrong and where. The library prints nothing, never
 * exits and installs no signal handlers. Handles share, within the process, a pool of threads that
 * work, up to eight threads that read files, and the choice of instructions for this CPU. They are
 * made when they are first needed, and a child of fork makes its own. Environment variables that
 * are read: TMPDIR, for bytes that wait on disk, and those that name libraries of devices
 * (doc/devices.md).
 *
 *     tz_file *file = NULL;
 *     tz_error err;
 *     if (tz_open(&file, "elevation.tif", NULL, &err) != TZ_OK) {
 *         fprintf(stderr, "%s\n", err.message);
 *         return 1;
 *     }
 *     const tz_info *info = tz_file_get_info(file);
 *     printf("%u x %u, %u bands of %s\n", info->width, info->height, info->bands,
 *            tz_dtype_name(info->dtype));
 *     tz_close(file);
 *
 * Words, in one meaning everywhere: a tile is also a strip (a tile of full width); level 0 is full
 * resolution and the others are its overviews; a span is a byte range of a file; a band is a
 * channel of the raster, counted from 0; a page is a further full-resolution image in the same
 * file.
 */
#ifndef TERRAZZO_H
#define TERRAZZO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------
 * Version and export
 * ------------------------------------------------------------------------------------------ */

#define TZ_VERSION_MAJOR 0
#define TZ_VERSION_MINOR 2
#define TZ_VERSION_PATCH 0

#if defined(__GNUC__)
#define TZ_API       __attribute__((visibility("default")))
#define TZ_NODISCARD __attribute__((warn_unused_result))
#else
#define TZ_API
#define TZ_NODISCARD
#endif

/* Structs that a program allocates begin with their size, so that later versions can append members
 * and still know which ones the program has. TZ_INIT sets it, and every other member to 0; so does
 * the function of each that ends in _init, for languages without macros: its second argument is the
 * size of the struct as the caller has it. A struct that is larger than the library knows is
 * accepted if all members beyond are 0. The elements of an array lie as far apart as the size of
 * the first one says. Structs that the comment calls fixed have no size and never change. Others
 * that the library returns by pointer may get further members at their end. */
#ifdef __cplusplus
extern "C++" {
template <class T> inline T tz_make_sized()
{
    T value = T();
    value.struct_size = sizeof(T);
    return value;
}
}
#define TZ_INIT(type) tz_make_sized<type>()
#else
#define TZ_INIT(type)                                                                              \
    {                                                                                              \
        .struct_size = sizeof(type)                                                                \
    }
#endif

/* Returns the version of the library that runs, for example "0.2.0". */
TZ_API const char *tz_version(void);

/* Returns the version of a library that this one was built with: "expat", "proj", "isal", "cuda",
 * or one of a codec (see tz_codec_get for those). NULL: it was left out, or the name is unknown. */
TZ_API const char *tz_build_feature(const char *name);

/* ---------------------------------------------------------------------------------------------
 * Results and errors
 * ------------------------------------------------------------------------------------------ */

/* Results, by what the caller can do about them. Numbers are fixed; new ones are appended. */
typedef enum tz_result {
    TZ_OK = 0,
    TZ_ERR_ARG = 1,         /* the call itself is wrong: fix the program */
    TZ_ERR_NOMEM = 2,       /* memory ran out: free some and try again */
    TZ_ERR_IO = 3,          /* the operating system or the source refused */
    TZ_ERR_FORMAT = 4,      /* the file is not what it claims to be */
    TZ_ERR_UNSUPPORTED = 5, /* a legal file that this library or this build cannot handle */
    TZ_ERR_LIMIT = 6,       /* a limit of tz_limits was met; raise the one that is named */
    TZ_ERR_DEVICE = 7,      /* a GPU or its driver failed */
    TZ_ERR_CHANGED = 8,     /* the file changed while it was in use: open it again */
    TZ_ERR_CANCELLED = 9,   /* the progress callback asked to stop */
    TZ_ERR_INTERNAL = 10    /* a bug in terrazzo; please report it */
} tz_result;

/* Causes of errors, finer than tz_result. */
typedef enum tz_cause {
    TZ_CAUSE_NONE = 0,
    TZ_CAUSE_ARG = 1,
    TZ_CAUSE_NOT_TIFF = 2,  /* the first bytes are not those of a TIFF */
    TZ_CAUSE_HEADER = 3,    /* a TIFF header with impossible values */
    TZ_CAUSE_IFD = 4,       /* an image directory, or the way to it */
    TZ_CAUSE_TAG = 5,       /* one tag's type, count or value */
    TZ_CAUSE_LIMIT = 6,     /* a limit of tz_limits */
    TZ_CAUSE_LAYOUT = 7,    /* the tags contradict each other about where tiles are */
    TZ_CAUSE_TRUNCATED = 8, /* the file ends too early */
    TZ_CAUSE_CODEC = 9,     /* a tile's compressed bytes */
    TZ_CAUSE_UNSUPPORTED = 10,
    TZ_CAUSE_GEO = 11,  /* georeferencing */
    TZ_CAUSE_META = 12, /* nodata, GDAL metadata, ghost area, masks, overviews */
    TZ_CAUSE_IO = 13,
    TZ_CAUSE_REMOTE = 14,
    TZ_CAUSE_UNSAFE = 15, /* not a regular file, or a path that must not be followed */
    TZ_CAUSE_CHANGED = 16,
    TZ_CAUSE_NOMEM = 17,
    TZ_CAUSE_DEVICE = 18,
    TZ_CAUSE_BUSY = 19,
    TZ_CAUSE_CANCELLED = 20,
    TZ_CAUSE_INTERNAL = 21
} tz_cause;

/* "no value" in the unsigned 64-bit fields of tz_error and tz_info. */
#define TZ_NO_VALUE UINT64_MAX

/* One error or one warning. Fixed layout. The caller owns it and need not initialise it: every call
 * that takes one overwrites it on failure and leaves it alone on success. The message is made of
 * the fields and is one line of text without control characters, whatever the file holds. */
typedef struct tz_error {
    tz_result result; /* of a warning: what strict mode would return */
    tz_cause cause;
    int32_t ifd;          /* directory, in the order of the file's chain; -1: none */
    int32_t tag;          /* tag number; -1: none */
    int32_t level;        /* -1: none; see mask */
    int32_t system_error; /* errno; 0: none */
    int64_t tile;         /* -1: none */
    uint64_t offset;      /* byte of the file; TZ_NO_VALUE: none */
    uint64_t expected;    /* TZ_NO_VALUE: none */
    uint64_t found;       /* TZ_NO_VALUE: none */
    uint64_t count;       /* how often it happened: 1, or more for a warning that repeats */
    const char *limit;    /* the member of tz_limits that stopped it; NULL: none */
    uint8_t mask;         /* 1: the mask of level, 0: level itself */
    uint8_t reserved[63]; /* 0 */
    char message[512];
} tz_error;

/* "ok", "format", "limit", ...; never NULL. */
TZ_API const char *tz_result_name(tz_result result);
/* "NOT_TIFF", "IFD", "TAG", ...; never NULL. */
TZ_API const char *tz_cause_name(tz_cause cause);

/* ---------------------------------------------------------------------------------------------
 * Progress
 * ------------------------------------------------------------------------------------------ */

/* Called now and then by long calls, only on the thread that made the call. Returning false
 * cancels: the call then returns TZ_ERR_CANCELLED. It must not call back into the same handle.
 * total is 0 where it is not known. Fixed layout. */
typedef struct tz_progress {
    bool (*call)(void *user, uint64_t done, uint64_t total); /* NULL: no progress, no cancel */
    void *user;
} tz_progress;

/* ---------------------------------------------------------------------------------------------
 * Log
 * ------------------------------------------------------------------------------------------ */

typedef enum tz_log_level {
    TZ_LOG_LEVEL_DEBUG = 0,  /* facts of a plan or a result: tiles, reads, bytes, threads */
    TZ_LOG_LEVEL_INFO = 1,   /* why a device or a library was not used */
    TZ_LOG_LEVEL_WARNING = 2 /* a warning that the call records in its info or report as well, if it
                                succeeds */
} tz_log_level;
TZ_API const char *tz_log_level_name(tz_log_level level); /* "debug", ...; never NULL */

/* Receives lines about a call, of one line each, without control characters. Called only on the
 * thread that made the call, before the call returns; text lives until the callback returns. The
 * callback must not call back into the same handle. Fixed layout. */
typedef struct tz_log {
    void (*call)(void *user, tz_log_level level, const char *text); /* NULL: no log */
    void *user;
} tz_log;

/* ---------------------------------------------------------------------------------------------
 * Byte sources
 * ------------------------------------------------------------------------------------------ */

/* One piece to read: size bytes at offset, to dst. Fixed layout. */
typedef struct tz_range {
    uint64_t offset;
    size_t size;
    void *dst; /* NULL in prefetch */
} tz_range;

/* Several pieces, read together. The library makes requests: it keeps the request, its ranges and
 * their memory until wait returns. state belongs to the source in between. A source allocates none
 * of its own, so that members may be appended. */
typedef struct tz_request {
    const tz_range *ranges;
    size_t count;
    void *state;
} tz_request;

/* A source of bytes: a local file, memory, or anything that fills in these functions. The library
 * uses the struct where it is, mostly as the first member of one of the caller's own, until close.
 * Members after close may be left 0, and a source of an older version has fewer of them.
 *
 * All functions may be called from several threads at once, with different requests; with
 * caller_thread only on the thread that made the call of the library. doc/extending.md explains how
 * to write one for a network. */
typedef struct tz_source tz_source;
struct tz_source {
    size_t struct_size;
    uint64_t size; /* bytes in all, fixed while open */
    /* The functions are called only on the thread that called the library: tz_open_source, tz_read,
     * tz_file_get_tile_spans, tz_validate_file, tz_close, ... Tiles are still decoded by several
     * threads. */
    bool caller_thread;
    /* Starts every range of a request; a synchronous source completes them here. A submit that
     * fails has ended all that it had started. A range is delivered whole or the request fails:
     * reading past size is TZ_ERR_FORMAT with TZ_CAUSE_TRUNCATED. */
    TZ_NODISCARD tz_result (*submit)(tz_source *source, tz_request *request, tz_error *err);
    /* Ends a request: called once for every submit that succeeded. Only after wait is the memory of
     * the ranges used or released, also when wait fails. */
    TZ_NODISCARD tz_result (*wait)(tz_source *source, tz_request *request, tz_error *err);
    /* Returns TZ_ERR_CHANGED when the bytes are no longer those of the time of opening; NULL: they
     * do not change. */
    TZ_NODISCARD tz_result (*check)(tz_source *source, tz_error *err);
    /* Releases the source; NULL: nothing to release. */
    void (*close)(tz_source *source);

    /* Hints. 0 stands for what suits a local disk. */
    uint32_t max_requests; /* worth having in flight at once; 0: as many as there are threads */
    /* Bytes between two wanted ranges that cost less than a further range: such ranges are read as
     * one, with the bytes between. 0: 4 KiB, and at most a quarter of what is wanted. */
    uint64_t merge_gap;
    /* Bytes of ranges that are read as one, as far as memory allows. 0: up to 256 KiB, less if
     * threads would be idle. */
    uint64_t merge_span;
    /* Bytes of the first read of tz_open_source, 16 to 16 MiB. Directories that it holds cost no
     * further read. 0: 4 KiB. */
    uint64_t first_read_bytes;
    /* Returns a text that changes with the bytes, such as an ETag, which lives until close. Sources
     * of equal text have equal bytes. NULL, or NULL returned: none is known. */
    const char *(*identity)(tz_source *source);
    /* Promises that these ranges will be asked for soon; dst is NULL. The source may start to fetch
     * them, and forget them when it likes. Returns at once. May be NULL. */
    void (*prefetch)(tz_source *source, const tz_range *ranges, size_t count);
    /* Waits until a further range of a submitted request has arrived and sets *range to its index,
     * each index once, in any order. The bytes of a range that was reported are valid, even when a
     * later range fails. After an error next is not called again for the request. wait ends the
     * request in every case. NULL: all ranges have arrived when wait returns. */
    TZ_NODISCARD tz_result (*next)(tz_source *source, tz_request *request, size_t *range,
                                   tz_error *err);
};
#define TZ_SOURCE_INIT TZ_INIT(tz_source)
TZ_API void tz_source_init(tz_source *source, size_t size);

/* Fills *err (NULL is fine) and returns result: for the functions of sources, sinks, row sources
 * and blobs that are written outside the library. message may be NULL. */
TZ_API tz_result tz_error_set(tz_error *err, tz_result result, tz_cause cause, uint64_t offset,
                              const char *message);

/* ---------------------------------------------------------------------------------------------
 * Limits
 * ------------------------------------------------------------------------------------------ */

/* Bounds on what a file may make the library do. 0 means the default that is given here, and
 * TZ_UNLIMITED takes a limit away. A file that meets one gives TZ_ERR_LIMIT (or a warning where
 * only metadata is lost), with the member's name in tz_error.limit. Calls copy the limits that
 * their options point to. */
#define TZ_UNLIMITED UINT64_MAX
typedef struct tz_limits {
    size_t struct_size;
    uint64_t max_ifds;           /* directories in all: 65,536 */
    uint64_t max_ifd_entries;    /* tags in one directory: 4,096 */
    uint64_t max_subifd_depth;   /* directories within directories: 4 */
    uint64_t max_levels;         /* resolution levels of one image: 64 */
    uint64_t max_tag_bytes;      /* data of one tag: 256 MiB; never more than the file has */
    uint64_t max_tile_bytes;     /* one tile, decoded: 512 MiB */
    uint64_t max_image_bytes;    /* decoded pixels of one tile that tz_validate reads: 4 GiB */
    uint64_t max_handle_bytes;   /* metadata held by one handle: 1 GiB */
    uint64_t max_jpeg_scans;     /* scans of a progressive JPEG: 100 */
    uint64_t max_codec_bytes;    /* scratch memory of one codec call: 128 MiB */
    uint64_t max_xml_bytes;      /* GDAL metadata, and NAME.aux.xml: 8 MiB */
    uint64_t max_xml_depth;      /* nesting of GDAL metadata: 64 */
    uint64_t max_metadata_items; /* items of GDAL metadata: 65,536 */
    uint64_t max_geo_keys;       /* 1,024 */
} tz_limits;
#define TZ_LIMITS_INIT TZ_INIT(tz_limits)
TZ_API void tz_limits_init(tz_limits *limits, size_t size);

/* The table of tz_limits, for programs that show or parse limits. */
typedef struct tz_limit_info {
    const char *name; /* the member's name */
    const char *text; /* what it bounds, a few words */
    uint64_t default_value;
    size_t member_offset; /* of the member within tz_limits */
} tz_limit_info;
TZ_API size_t tz_limit_count(void);
TZ_API const tz_limit_info *tz_limit_get(size_t index); /* NULL past the end */

/* ---------------------------------------------------------------------------------------------
 * Opening
 * ------------------------------------------------------------------------------------------ */

typedef struct tz_file tz_file;

/* Files beside the named one, read only when asked for; their endings in lower or upper case. */
#define TZ_SIDECAR_OVR 1u /* NAME.ovr: external overviews */
#define TZ_SIDECAR_MSK 2u /* NAME.msk: external mask */
/* NAME.aux.xml of GDAL: CRS, transform, control points, nodata, metadata, and descriptions, units,
 * scales, offsets and colours of bands. As in GDAL it wins over what the image itself says, item by
 * item. It is that of the first page. */
#define TZ_SIDECAR_AUX 4u
/* A world file: for NAME.tif NAME.tfw, NAME.tifw or NAME.wld. It counts where neither the image nor
 * NAME.aux.xml has a transform. */
#define TZ_SIDECAR_WORLD 8u

/* Finds the file of one of these kinds beside path, on the local disk, without opening it. Writes
 * its path to out and returns true; false when there is none, or size is too small. */
TZ_API bool tz_sidecar_get_path(char *out, size_t size, const char *path, uint32_t sidecar);

/* Facts that came from a sidecar: bits of tz_sidecar_use.values. */
#define TZ_SIDECAR_VALUE_TRANSFORM 1u
#define TZ_SIDECAR_VALUE_CRS       2u
#define TZ_SIDECAR_VALUE_GCPS      4u
#define TZ_SIDECAR_VALUE_NODATA    8u
#define TZ_SIDECAR_VALUE_METADATA  16u /* items, statistics among them */
#define TZ_SIDECAR_VALUE_BANDS     32u /* descriptions, units, scales, offsets, colours */
#define TZ_SIDECAR_VALUE_OVERVIEWS 64u
#define TZ_SIDECAR_VALUE_MASKS     128u
typedef struct tz_sidecar_use {
    uint32_t sidecar; /* TZ_SIDECAR_ bit */
    uint32_t values;  /* TZ_SIDECAR_VALUE_ bits */
    const char *path;
} tz_sidecar_use;
TZ_API const char *tz_sidecar_value_name(uint32_t value); /* "transform", "crs", ...; never NULL */

/* Zero in any member means the default. Set struct_size with TZ_OPEN_OPTIONS_INIT. */
typedef struct tz_open_options {
    size_t struct_size;
    uint32_t page;           /* which full-resolution image, in file order; 0 is the first */
    uint32_t sidecars;       /* TZ_SIDECAR_ bits */
    bool strict;             /* every warning is an error, of tiles that are read too */
    bool require_crs;        /* no usable coordinate reference system is an error */
    const tz_limits *limits; /* NULL: the defaults */
    tz_progress progress;
    tz_log log;
} tz_open_options;
#define TZ_OPEN_OPTIONS_INIT TZ_INIT(tz_open_options)
TZ_API void tz_open_options_init(tz_open_options *options, size_t size);

/* Open a file for reading. Reads its directories, not its tile tables and not its pixels. A defect
 * that leaves the first image's size and type in doubt is an error; any other is a warning in
 * tz_info, unless options->strict. Only regular files are opened. options and err may be NULL.
 * *out is written only on success. */
TZ_API TZ_NODISCARD tz_result tz_open(tz_file **out, const char *path,
                                      const tz_open_options *options, tz_error *err);

/* The same for bytes in memory, which must stay as they are until tz_close. */
TZ_API TZ_NODISCARD tz_result tz_open_memory(tz_file **out, const void *data, size_t size,
                                             const tz_open_options *options, tz_error *err);

/* The same for a source of the caller's. name is shown in messages; it may be NULL. The file owns
 * the source from the moment of the call: it is closed by tz_close, and also when opening fails,
 * unless its struct_size is wrong. */
TZ_API TZ_NODISCARD tz_result tz_open_source(tz_file **out, tz_source *source, const char *name,
                                             const tz_open_options *options, tz_error *err);

/* Close a file; NULL is fine. No other thread may be using it. */
TZ_API void tz_close(tz_file *file);

/* ---------------------------------------------------------------------------------------------
 * What a file holds
 * ------------------------------------------------------------------------------------------ */

/* Type of one pixel of one band, as pixels are delivered. 1 to 31-bit samples are delivered in the
 * next wider integer, 24-bit floats as float32. */
typedef enum tz_dtype {
    TZ_DTYPE_NONE = 0, /* the file's samples have no type that the library can deliver */
    TZ_DTYPE_UINT8 = 1,
    TZ_DTYPE_INT8 = 2,
    TZ_DTYPE_UINT16 = 3,
    TZ_DTYPE_INT16 = 4,
    TZ_DTYPE_UINT32 = 5,
    TZ_DTYPE_INT32 = 6,
    TZ_DTYPE_UINT64 = 7,
    TZ_DTYPE_INT64 = 8,
    TZ_DTYPE_FLOAT16 = 9,
    TZ_DTYPE_FLOAT32 = 10,
    TZ_DTYPE_FLOAT64 = 11,
    TZ_DTYPE_COMPLEX_INT16 = 12, /* pairs of int16 */
    TZ_DTYPE_COMPLEX_INT32 = 13,
    TZ_DTYPE_COMPLEX_FLOAT16 = 14, /* pairs of float16 */
    TZ_DTYPE_COMPLEX_FLOAT32 = 15,
    TZ_DTYPE_COMPLEX_FLOAT64 = 16
} tz_dtype;
TZ_API const char *tz_dtype_name(tz_dtype dtype); /* "uint8", "complex_int16", ...; never NULL */
TZ_API size_t tz_dtype_size(tz_dtype dtype);      /* bytes; 0 for TZ_DTYPE_NONE */

/* One resolution level, or the mask of one. Strips are tiles of full width. */
typedef struct tz_level {
    uint32_t width;
    uint32_t height;
    uint32_t tile_width;
    uint32_t tile_height; /* strips: rows per strip, at most height */
    uint32_t tiles_across;
    uint32_t tiles_down;
    uint64_t tile_count;       /* tiles_across * tiles_down, times bands when stored by band */
    uint64_t ifd_offset;       /* where its directory starts */
    uint64_t jpeg_tables_size; /* bytes of tag JPEGTables; 0: none */
    int32_t ifd;               /* index of its directory in the order of the chain */
    int32_t tag_count;         /* entries in its directory */
    uint16_t compression;      /* TIFF's number; see tz_compression_name */
    uint16_t predictor;        /* 1 none, 2 horizontal, 3 floating point */
    uint16_t bits_per_sample;
    uint16_t samples; /* bands stored, 1 for a mask */
    uint16_t photometric;
    uint16_t lerc_version;     /* 0: no LercParameters tag */
    uint16_t lerc_compression; /* 0 none, 1 deflate, 2 zstd */
    uint8_t sidecar;           /* 0: in the file itself; else the TZ_SIDECAR_ bit it comes from */
    bool tiled;                /* false: strips */
    bool has_mask;             /* tz_file_get_mask returns it */
    bool readable;             /* false: type or tile tables are unusable; a warning says why */
} tz_level;

/* A further full-resolution image. */
typedef struct tz_page {
    uint64_t ifd_offset;
    uint32_t width;
    uint32_t height;
    int32_t ifd;
    uint16_t bands;
    uint16_t bits_per_sample;
} tz_page;

/* Values of tag PlanarConfiguration. */
typedef enum tz_planar {
    TZ_PLANAR_CONTIG = 1,  /* by pixel */
    TZ_PLANAR_SEPARATE = 2 /* by band */
} tz_planar;

/* Values of tag SampleFormat. */
typedef enum tz_sample_format {
    TZ_SAMPLE_FORMAT_UINT = 1,
    TZ_SAMPLE_FORMAT_INT = 2,
    TZ_SAMPLE_FORMAT_FLOAT = 3,
    TZ_SAMPLE_FORMAT_VOID = 4, /* undefined; delivered as unsigned integers */
    TZ_SAMPLE_FORMAT_COMPLEX_INT = 5,
    TZ_SAMPLE_FORMAT_COMPLEX_FLOAT = 6
} tz_sample_format;

/* Values of tag ExtraSamples. */
typedef enum tz_extra_sample {
    TZ_EXTRA_SAMPLE_UNSPECIFIED = 0,
    TZ_EXTRA_SAMPLE_PREMULTIPLIED = 1, /* alpha by which the colours were multiplied */
    TZ_EXTRA_SAMPLE_ALPHA = 2
} tz_extra_sample;

/* The value that means "no data". Integer types have it exactly, as an integer. */
typedef enum tz_nodata_kind {
    TZ_NODATA_KIND_NONE = 0,
    TZ_NODATA_KIND_INT = 1,  /* signed: value.i */
    TZ_NODATA_KIND_UINT = 2, /* unsigned: value.u */
    TZ_NODATA_KIND_FLOAT = 3 /* value.f; also for an integer type when the text is not one of it */
} tz_nodata_kind;
typedef struct tz_nodata { /* fixed layout */
    tz_nodata_kind kind;
    union {
        int64_t i;
        uint64_t u;
        double f;
    } value;
} tz_nodata;

/* One key of the GeoKey directory. Fixed layout. */
typedef struct tz_geo_key {
    uint16_t id;
    uint16_t type;  /* 3 SHORT, 12 DOUBLE, 2 ASCII: which member of value holds */
    uint32_t count; /* values, or bytes of text without the closing bar */
    union {
        const uint16_t *shorts;
        const double *doubles;
        const char *text; /* not NUL-terminated, not checked to be UTF-8 */
    } value;
} tz_geo_key;

/* A ground control point: raster position (of the pixel's corner) and model position. Fixed layout.
 */
typedef struct tz_gcp {
    double column, row, depth;
    double x, y, z;
} tz_gcp;

typedef enum tz_raster_type {
    TZ_RASTER_TYPE_UNDEFINED = 0,
    TZ_RASTER_TYPE_AREA = 1,
    TZ_RASTER_TYPE_POINT = 2
} tz_raster_type;

/* Georeferencing. Codes are EPSG codes; 0 means not given, 32767 user-defined by the keys. */
typedef struct tz_geo {
    size_t struct_size;
    bool has_transform;
    double transform[6]; /* x = t[0] + column*t[1] + row*t[2]; y = t[3] + column*t[4] + row*t[5],
                            for the upper left corner of a pixel, PixelIsPoint or not */
    tz_raster_type raster_type;
    const tz_gcp *gcps; /* when there is no transform */
    uint32_t gcp_count;
    const tz_geo_key *keys; /* ascending by id */
    uint32_t key_count;
    uint16_t key_revision;   /* 1 */
    uint16_t key_minor;      /* 0 or 1 */
    uint16_t model_type;     /* 1 projected, 2 geographic, 3 geocentric */
    uint16_t epsg;           /* the horizontal CRS: key 3072 or 2048 */
    uint16_t epsg_vertical;  /* key 4096 */
    bool has_crs;            /* the keys say something about a CRS, with or without a code */
    const char *citation;    /* the most telling citation, NUL-terminated; NULL: none */
    double coordinate_epoch; /* NaN: none, in a specification also 0 */
    const double *rpc;       /* 92 values of tag RPCCoefficient; NULL: none */
} tz_geo;
#define TZ_GEO_INIT TZ_INIT(tz_geo)
TZ_API void tz_geo_init(tz_geo *geo, size_t size);

/* Promises of the ghost area of a COG that GDAL or terrazzo has written. */
typedef struct tz_ghost {
    bool present;
    bool ifds_before_data; /* LAYOUT=IFDS_BEFORE_DATA */
    bool row_major;        /* BLOCK_ORDER=ROW_MAJOR */
    bool leaders;          /* BLOCK_LEADER=SIZE_AS_UINT4 */
    bool trailers;         /* BLOCK_TRAILER=LAST_4_BYTES_REPEATED */
    bool mask_interleaved; /* MASK_INTERLEAVED_WITH_IMAGERY=YES */
    bool edited;           /* KNOWN_INCOMPATIBLE_EDITION=YES: the promises no longer hold */
    uint8_t interleave;    /* 0 pixel or not said, 1 band, 2 tile */
    uint32_t size;         /* bytes of the area, from the end of the header */
} tz_ghost;

/* Everything that opening found out, but for lists: tz_file_get_level and its siblings return their
 * elements. Plain data; all pointers live until tz_close. Later versions append members. */
typedef struct tz_info {
    /* the file */
    const char *name; /* as given to tz_open */
    uint64_t file_size;
    bool bigtiff;
    bool big_endian;
    bool chain_complete; /* false: a defect in a later directory ended the search; see warnings */
    uint32_t ifd_count;  /* directories visited */
    uint64_t directory_end; /* one past the last byte of directories and tag values, tile tables
                               apart: how much a first read must fetch */
    uint64_t bytes_read;    /* what opening read */
    uint32_t reads;         /* in how many requests */
    uint32_t page_count;    /* at least one */
    uint32_t page;          /* the one that this handle shows */

    /* the image */
    uint32_t width;
    uint32_t height;
    uint32_t bands;
    tz_dtype dtype;
    uint16_t bits_per_sample;
    uint16_t sample_format; /* TZ_SAMPLE_FORMAT_ */
    /* The interpretation of the pixels: 3, a palette, wherever there is a colour map. The tag's own
     * value is that of level 0. */
    uint16_t photometric;
    uint16_t planar;      /* TZ_PLANAR_ */
    uint16_t orientation; /* 1 to 8 */
    uint16_t fill_order;
    uint16_t ycbcr_subsampling[2];
    const uint16_t *extra_samples; /* TZ_EXTRA_SAMPLE_ */
    uint32_t extra_sample_count;
    /* Colours of the values of the first band: reds, greens, blues, 0 to 65535. NULL: none. A map
     * beside a grey photometric interpretation makes a palette, with a warning. */
    const uint16_t *color_map;
    uint32_t color_map_size; /* entries, each of three values: 2 to the power of bits_per_sample */
    uint32_t level_count;    /* at least one */
    uint64_t exif_ifd;       /* offset of the EXIF directory; TZ_NO_VALUE: none */
    uint64_t gps_ifd;

    /* metadata */
    tz_nodata nodata;
    const char *nodata_text; /* tag GDAL_NODATA as written, trimmed; NULL: none */
    const tz_geo *geo;       /* never NULL */
    const tz_ghost *ghost;   /* never NULL */
    uint32_t metadata_count; /* see tz_file_get_metadata */

    uint32_t warning_count;    /* see tz_file_get_warning */
    uint64_t warnings_dropped; /* distinct warnings that found no room */

    uint32_t sidecar_count; /* see tz_file_get_sidecar */
} tz_info;
TZ_API const tz_info *tz_file_get_info(const tz_file *file);

/* Returns a level: 0 is full resolution, the others are ever smaller. NULL past the end. */
TZ_API const tz_level *tz_file_get_level(const tz_file *file, uint32_t level);
/* Returns the mask of a level; NULL: it has none. */
TZ_API const tz_level *tz_file_get_mask(const tz_file *file, uint32_t level);
/* Returns a page, in the order of the file; NULL past the end. */
TZ_API const tz_page *tz_file_get_page(const tz_file *file, uint32_t page);
/* Returns something that is wrong with the file, each kind once, with its count; NULL past the end.
 */
TZ_API const tz_error *tz_file_get_warning(const tz_file *file, uint32_t index);
/* Returns a file beside this one that something was taken from: one of tz_open_options.sidecars.
 * NULL past the end. */
TZ_API const tz_sidecar_use *tz_file_get_sidecar(const tz_file *file, uint32_t index);

/* Writes the transform of a level, as in tz_geo: that of level 0, with pixels that are larger by
 * the ratio of the widths and of the heights. false: the file has none, or no such level. */
TZ_API bool tz_level_get_transform(double transform[6], const tz_file *file, uint32_t level);
/* Writes xmin, ymin, xmax and ymax of the four corners of a level; false as above. */
TZ_API bool tz_level_get_bounds(double bounds[4], const tz_file *file, uint32_t level);

/* Applies a transform to a position in pixels; 0, 0 is the upper left corner of the first pixel. */
TZ_API void tz_pixel_to_coordinate(double *x, double *y, const double transform[6], double column,
                                   double row);
/* Does the inverse; false: the transform has none. */
TZ_API bool tz_coordinate_to_pixel(double *column, double *row, const double transform[6], double x,
                                   double y);

/* One item of GDAL_METADATA. */
typedef struct tz_metadata_item {
    size_t struct_size;
    const char *domain; /* "" is the default one */
    const char *name;
    const char *value; /* UTF-8 */
    const char *role;  /* "", "scale", "offset", "unittype", "description", "colorinterp", ... */
    int32_t band;      /* counted from 0; -1: of the whole image */
} tz_metadata_item;
#define TZ_METADATA_ITEM_INIT TZ_INIT(tz_metadata_item)
TZ_API void tz_metadata_item_init(tz_metadata_item *item, size_t size);
/* Returns an item: those of the whole image come first, then band by band, each in the order of the
 * file. NULL past the end. */
TZ_API const tz_metadata_item *tz_file_get_metadata(const tz_file *file, uint32_t index);

/* Colours of bands. */
typedef enum tz_color {
    TZ_COLOR_UNDEFINED = 0,
    TZ_COLOR_GRAY = 1,
    TZ_COLOR_PALETTE = 2,
    TZ_COLOR_RED = 3,
    TZ_COLOR_GREEN = 4,
    TZ_COLOR_BLUE = 5,
    TZ_COLOR_ALPHA = 6,
    TZ_COLOR_CYAN = 7,
    TZ_COLOR_MAGENTA = 8,
    TZ_COLOR_YELLOW = 9,
    TZ_COLOR_BLACK = 10,
    TZ_COLOR_Y = 11,
    TZ_COLOR_CB = 12,
    TZ_COLOR_CR = 13
} tz_color;
typedef struct tz_band {
    const char *description; /* NULL: none */
    const char *unit;        /* NULL: none */
    double scale;            /* 1 */
    double offset;           /* 0 */
    bool has_scale;
    bool has_offset;
    tz_color color;
    const char *color_text; /* the item of role colorinterp, if any; else NULL */
} tz_band;
/* Returns a band; NULL past the end. */
TZ_API const tz_band *tz_file_get_band(const tz_file *file, uint32_t band);
TZ_API const char *tz_color_name(tz_color color); /* "Gray", "Red", ...; never NULL */

/* ---------------------------------------------------------------------------------------------
 * Tags
 * ------------------------------------------------------------------------------------------ */

/* One entry of a directory, with its data still in the file. */
typedef struct tz_tag {
    size_t struct_size;
    uint16_t tag;
    uint16_t type;
    uint64_t count;
    uint64_t size;   /* bytes of data; 0 for an unknown type */
    uint64_t offset; /* where the data is in the file */
} tz_tag;
#define TZ_TAG_INIT TZ_INIT(tz_tag)
TZ_API void tz_tag_init(tz_tag *tag, size_t size);

/* Fills *out, whose struct_size is set, with an entry of the directory at ifd_offset
 * (tz_level.ifd_offset, tz_info.exif_ifd, ...) of the file itself; TZ_ERR_ARG past its end. */
TZ_API TZ_NODISCARD tz_result tz_file_get_tag(tz_tag *out, const tz_file *file, uint64_t ifd_offset,
                                              uint32_t index, tz_error *err);

/* Copy tag->size bytes of data to dst, values in the machine's byte order. size is the room in dst;
 * too little is TZ_ERR_ARG. */
TZ_API TZ_NODISCARD tz_result tz_tag_read(void *dst, size_t size, const tz_file *file,
                                          const tz_tag *tag, tz_error *err);

TZ_API const char *tz_tag_name(uint16_t tag);                 /* NULL: unknown */
TZ_API const char *tz_geo_key_name(uint16_t id);              /* NULL: unknown */
TZ_API const char *tz_tag_type_name(uint16_t type);           /* "SHORT", ...; NULL: unknown */
TZ_API const char *tz_compression_name(uint16_t compression); /* "DEFLATE", ...; NULL: unknown */
TZ_API const char *tz_photometric_name(uint16_t photometric); /* "RGB", ...; NULL: unknown */
/* Name of the metadata item by which GDAL shows and sets a tag, "TIFFTAG_SOFTWARE"; NULL: none. */
TZ_API const char *tz_tag_gdal_name(uint16_t tag);

/* ---------------------------------------------------------------------------------------------
 * Tiles
 * ------------------------------------------------------------------------------------------ */

/* The calls of this section are about a level, or with mask set about the mask of that level. */

/* Span of a tile's compressed bytes. Both 0: a sparse tile, which holds nodata (or 0). Fixed
 * layout. */
typedef struct tz_tile_span {
    uint64_t offset;
    uint64_t size;
} tz_tile_span;

/* The raw tile table: spans of tiles first to first + count - 1, as the file has them, unchecked;
 * sizes that are not in the table are taken from the layout, 0: it does not say.
 * Tiles are counted row by row, band after band when stored by band. Reads just the part of the
 * table that is asked for. */
TZ_API TZ_NODISCARD tz_result tz_file_get_tile_spans(tz_tile_span *out, const tz_file *file,
                                                     uint32_t level, bool mask, uint64_t first,
                                                     size_t count, tz_error *err);

/* One tile's span, checked: it lies in the file, and is either sparse or has an offset and a size.
 * The size of a strip that cannot be right is the one by which reads take it, see doc/errors.md. */
TZ_API TZ_NODISCARD tz_result tz_file_locate_tile(tz_tile_span *out, const tz_file *file,
                                                  uint32_t level, bool mask, uint64_t tile,
                                                  tz_error *err);

/* The sum of all tile sizes of a level, and the number of sparse tiles. Reads the level's whole
 * table, page by page. progress is in tiles; it may be NULL. */
TZ_API TZ_NODISCARD tz_result tz_level_stored_size(uint64_t *bytes, uint64_t *sparse_tiles,
                                                   const tz_file *file, uint32_t level, bool mask,
                                                   const tz_progress *progress, tz_error *err);

/* Looks for the end of a level that was cut off: reads the last page of its tile table (256 tiles),
 * and no tile. TZ_ERR_FORMAT with TZ_CAUSE_TRUNCATED names the first of these tiles that reaches
 * past the end of the file: level, tile, offset, the byte where it ends (expected) and the size of
 * the file (found). Sparse tiles, and a level without a usable table, pass. */
TZ_API TZ_NODISCARD tz_result tz_level_check_end(const tz_file *file, uint32_t level, bool mask,
                                                 tz_error *err);

/* ---------------------------------------------------------------------------------------------
 * Reading pixels
 * ------------------------------------------------------------------------------------------ */

/* A rectangle of a level, in its pixels. Fixed layout. */
typedef struct tz_window {
    int64_t column;
    int64_t row;
    uint32_t width;
    uint32_t height;
} tz_window;

typedef struct tz_device tz_device;               /* see "Devices" */
typedef struct tz_device_memory tz_device_memory; /* the same */

/* Kinds of memory that a buffer can be in, and the meaning of tz_buffer.data in each. */
typedef enum tz_memory_kind {
    TZ_MEMORY_KIND_HOST = 0,   /* data is a pointer */
    TZ_MEMORY_KIND_CUDA = 1,   /* data is a CUdeviceptr */
    TZ_MEMORY_KIND_OPENCL = 2, /* data is a cl_mem, a buffer */
    TZ_MEMORY_KIND_DEVICE = 3 /* data is a tz_device_memory *, of tz_device_memory_alloc or _wrap */
} tz_memory_kind;

/* Memory for pixels, described so that any array can be: a sample of band b, row r, column c is
 * offset + b*band_stride + r*row_stride + c*column_stride bytes after data. All three strides 0:
 * packed, band after band. Memory of a device is for calls whose options name that device; that of
 * CUDA and OpenCL is used as tz_device_wrap says, and for the duration of the call. Set struct_size
 * with TZ_BUFFER_INIT. */
typedef struct tz_buffer {
    size_t struct_size;
    void *data;
    uint64_t offset; /* bytes */
    tz_memory_kind memory;
    tz_dtype dtype;
    uint32_t bands;
    uint32_t height;
    uint32_t width;
    int64_t band_stride; /* bytes, also negative */
    int64_t row_stride;
    int64_t column_stride;
} tz_buffer;
#define TZ_BUFFER_INIT TZ_INIT(tz_buffer)
TZ_API void tz_buffer_init(tz_buffer *buffer, size_t size);

/* Instead of a level: the coarsest one that is as fine as the buffer asks for. The window is then
 * in pixels of level 0. */
#define TZ_LEVEL_AUTO 0x7fffffffu

/* Methods that make a buffer of another size of a window; the rules are in doc/numerics.md. */
typedef enum tz_resampling {
    TZ_RESAMPLING_NONE = 0, /* another size is an error */
    TZ_RESAMPLING_NEAREST = 1,
    TZ_RESAMPLING_AVERAGE = 2,  /* of all pixels under the new one, by area */
    TZ_RESAMPLING_BILINEAR = 3, /* a triangle as wide as two of the larger pixels */
    TZ_RESAMPLING_CUBIC = 4,    /* Catmull-Rom's, as wide as four */
    TZ_RESAMPLING_LANCZOS = 5,  /* a windowed sinc, as wide as six */
    TZ_RESAMPLING_GAUSS = 6,    /* a small bell */
    TZ_RESAMPLING_RMS = 7,      /* the root of the mean square, by area */
    TZ_RESAMPLING_MODE = 8,     /* the value that occurs most often under the new pixel */
    TZ_RESAMPLING_MIN = 9,
    TZ_RESAMPLING_MAX = 10,
    TZ_RESAMPLING_MEDIAN = 11
} tz_resampling;
TZ_API const char *tz_resampling_name(tz_resampling method); /* "none", "nearest", ... */

/* One piece to read: a window of some bands of one level of one file, into one buffer. A buffer of
 * another size than the window gets it resampled, as tz_read_options.resampling says. into_mask is
 * of dtype uint8 and of the other buffer's shape, and gets 255 where a pixel is valid and 0 where
 * it is not: by the file's own mask, else by nodata, else by its alpha band; and outside the image.
 * Set struct_size with TZ_ITEM_INIT. */
typedef struct tz_item {
    size_t struct_size;
    const tz_file *file;
    uint32_t level;        /* or TZ_LEVEL_AUTO */
    bool mask;             /* read the samples of the level's mask itself */
    tz_window window;      /* width and height 0: the whole level */
    const uint32_t *bands; /* counted from 0, in any order; NULL: all */
    uint32_t band_count;   /* 0 with bands NULL */
    const tz_buffer *into;
    const tz_buffer *into_mask; /* NULL: none */
    /* A part of a larger result: the window is resampled to grid_width x grid_height pixels, and
       the buffer gets those from grid_column and grid_row on, exactly as the whole result has them.
       0: the width, or the height, of the buffer. */
    uint32_t grid_width;
    uint32_t grid_height;
    uint32_t grid_column;
    uint32_t grid_row;
    /* Scale and offset of each band that is read, in place of the file's: values become value *
       scale + offset. NULL: those of the file with tz_read_options.scaled, else 1 and 0. A mask's
       own samples have none. */
    const double *scales;
    const double *offsets;
} tz_item;
#define TZ_ITEM_INIT TZ_INIT(tz_item)
TZ_API void tz_item_init(tz_item *item, size_t size);

/* Options of a read. Zero in any member means the default. */
typedef struct tz_read_options {
    size_t struct_size;
    bool scaled;        /* apply each band's scale and offset; see also tz_item.scales */
    bool nodata_to_nan; /* buffers of a floating-point type get NaN for nodata; see nodata_as */
    bool boundless;     /* windows may reach beyond the level: see has_fill */
    bool oriented;      /* turn the image as tz_info.orientation says; windows and buffers are then
                           those of the upright image */
    /* Tiles that cannot be read or decoded are not an error: their pixels are nodata (or 0; see
       has_fill) and masked, and the report has their statuses. */
    bool salvage;
    double fill;             /* with has_fill */
    uint32_t threads;        /* 0: as many as there are cores for this process */
    uint64_t max_host_bytes; /* beyond the buffers; 0: 1 GiB */
    tz_progress progress;
    tz_resampling resampling;
    tz_device *device;  /* that decodes and places; NULL: the CPU. Buffers are then of the host
                           or of this device */
    bool strict_device; /* what the device cannot do is an error, and not done by the CPU */
    uint64_t max_device_bytes; /* of its memory, beyond the buffers; 0: what is free */
    /* Tiles of lossy JPEG and JPEG 2000 may be decoded by the vendor's libraries of the device if
       both are set. Libraries that give the samples of the CPU need neither. */
    bool allow_vendor_codecs;
    bool allow_inexact; /* samples may differ from those of the CPU by rounding */
    bool reduced_tiles; /* tiles of JPEG 2000 may be decoded at a lower resolution of their own
                           where the buffer asks for no more: samples are then what wavelets make
                           of them, and only what is left to do is resampled */
    /* Pixels that the file does not have are fill, cast to the buffer's type and not scaled: those
       outside of the level (boundless) and those of tiles that cannot be read (salvage). false:
       they are what nodata pixels become in the same read (scaled, NaN or nodata_as), or 0 where
       the file declares no nodata. Their mask is 0. */
    bool has_fill;
    /* With has_stream, device memory is used only after the work that is on a stream of the caller
       when the call is made: the device waits, and not the host. The stream is a CUstream (NULL
       and 1: the legacy default stream, 2: that of the thread) or a cl_command_queue, of the
       context that device works in; another context is TZ_ERR_ARG. Pixels are in their buffers
       when the call returns, so that work which is put into any stream afterwards sees them. Work
       on buffers in host memory must be finished before the call. */
    bool has_stream;
    void *stream;
    tz_log log;
    /* Value that samples get which are nodata in the file: cast to the buffer's type and not
       scaled, also in tiles that the file leaves out, and in resampled pixels without a valid
       sample under them. Masks do not change: into_mask is by the file's nodata, and a mask's own
       samples have none. Not with nodata_to_nan. Of kind TZ_NODATA_KIND_NONE: nodata is a value
       like any other. */
    tz_nodata nodata_as;
} tz_read_options;
#define TZ_READ_OPTIONS_INIT TZ_INIT(tz_read_options)
TZ_API void tz_read_options_init(tz_read_options *options, size_t size);

/* The share of a device in a read or a write, planned or done. */
typedef struct tz_device_use {
    char id[32];           /* of the device; empty: the CPU did it all */
    char reason[160];      /* why the CPU did what a device was asked for; empty: it did not */
    uint64_t memory;       /* bytes of the device that were planned to be held, at most */
    uint64_t peak;         /* and were held; 0 in a plan */
    uint64_t waves;        /* batches: each goes up once, and comes down at most once */
    uint64_t tiles;        /* decoded, or encoded, by the device */
    uint64_t tiles_on_cpu; /* by the CPU, because the device has no such codec; of a write the
                                mask's */
    uint64_t tiles_redone; /* by the CPU, after the device could not */
    uint64_t uploads;      /* this and what follows: counted; of a plan, the least */
    uint64_t upload_bytes;
    uint64_t downloads;
    uint64_t download_bytes;
    uint64_t launches;
    uint64_t syncs;
    /* the vendor's library that decoded or encoded, with the device's own kernels or the CPU for
       what it could not; 0 and empty in a plan */
    uint64_t library_calls;
    char library[32];         /* "nvCOMP 5.3.0"; empty: none */
    char library_reason[160]; /* why some batch was not given to it; empty: all were */
    /* of a read: bytes of files that went straight to the device, and those that went through
       memory of the host although the former was possible for other tiles */
    uint64_t direct_reads;
    uint64_t direct_bytes;
    uint64_t bounced_bytes;
    char direct_reason[160]; /* why none, or not all, went straight; empty: all did */
} tz_device_use;

/* Costs of a read, or of a plan, stage by stage. The library allocates it, and later versions
 * append members. */
typedef struct tz_read_report {
    /* plan */
    uint64_t tiles;           /* that the windows touch, each once */
    uint64_t tiles_sparse;    /* of these: not in the file */
    uint64_t tiles_shared;    /* tiles saved because several items want the same one */
    uint64_t largest_tile;    /* decoded bytes */
    uint64_t peak_host_bytes; /* beyond the buffers */
    uint32_t threads;
    uint32_t waves;
    /* fetch */
    uint64_t requests;         /* reads of tile data; neighbours in the file are read together */
    uint64_t bytes_read;       /* by these, with what lies between tiles */
    uint64_t bytes_compressed; /* of the tiles themselves */
    /* decode and place: the way each tile went */
    uint64_t tiles_copied;  /* uncompressed */
    uint64_t tiles_direct;  /* decoded straight into the buffer */
    uint64_t tiles_decoded; /* decoded, then placed row by row */
    uint64_t tiles_failed;  /* with tz_read_options.salvage; 0 in a plan */
    uint64_t tiles_reduced; /* of all these: at a lower resolution of their own (reduced_tiles) */
    uint64_t bytes_decoded; /* pixels of all these tiles */
    const tz_device_use *device; /* never NULL */
    uint64_t item_count;         /* for tz_read_report_get_item; 0 in a sum */
    uint32_t warning_count;      /* for tz_read_report_get_warning; 0 in a plan */
    uint64_t warnings_dropped;   /* distinct ones that found no room */
} tz_read_report;

/* Result of one item: what was read of its file. */
typedef struct tz_item_report {
    uint32_t level;
    bool mask;             /* the mask's own samples */
    bool resampled;        /* the buffer has another resolution than that level */
    tz_window window;      /* the pixels of that level that were needed */
    uint32_t reduction;    /* how often its tiles were halved in decoding; 0: they were not */
    uint64_t tile_count;   /* tiles under the window, those of the mask included */
    uint64_t tiles_failed; /* of these, with tz_read_options.salvage */
} tz_item_report;

/* Result of one tile. */
typedef struct tz_tile_status {
    uint64_t tile; /* its number in the level */
    uint32_t level;
    bool mask; /* a tile of the level's mask */
    tz_result result;
    tz_cause cause;
} tz_tile_status;

TZ_API void tz_read_report_free(tz_read_report *report); /* NULL is fine */

/* Defects of tiles that could be read, each kind once, with counts. NULL past the end; this and
 * what follows live as long as the report. */
TZ_API const tz_error *tz_read_report_get_warning(const tz_read_report *report, uint32_t index);
TZ_API const tz_item_report *tz_read_report_get_item(const tz_read_report *report, uint64_t index);
/* All tile_count tiles of an item, after a read with tz_read_options.salvage; else NULL. */
TZ_API const tz_tile_status *tz_read_report_get_tile(const tz_read_report *report, uint64_t item,
                                                     uint64_t index);

/* Adds what a further read cost to *sum, which is NULL at first and is freed by the caller: sums of
 * the numbers, but the larger of largest_tile, peak_host_bytes and threads. Equal warnings become
 * one. A sum has no items. */
TZ_API TZ_NODISCARD tz_result tz_read_report_add(tz_read_report **sum, const tz_read_report *more,
                                                 tz_error *err);

/* Reads items: each tile that any of them touches is read and decoded once. All or nothing, unless
 * how->salvage is set: after an error the buffers hold undefined pixels. Values are as stored, cast
 * to the buffer's type by the rules of doc/numerics.md; YCbCr in JPEG becomes RGB. Rows are as
 * stored unless how->oriented is set. how, report and err may be NULL. *report is written only on
 * success; release it with tz_read_report_free. */
TZ_API TZ_NODISCARD tz_result tz_read_batch(const tz_item *items, size_t count,
                                            const tz_read_options *how, tz_read_report **report,
                                            tz_error *err);

/* Shape of the result of an item, as tz_read_resolve finds it. */
typedef struct tz_read_shape {
    size_t struct_size;
    uint32_t level;   /* that will be read */
    bool resampled;   /* the result has another resolution than that level */
    tz_window window; /* of the item, in pixels of the level that it names; level 0 for
                         TZ_LEVEL_AUTO */
    tz_dtype dtype;   /* as into says, else see tz_read_resolve */
    uint32_t bands;
    uint32_t height;
    uint32_t width;
    bool has_transform;
    double transform[6]; /* of the result's pixels, as in tz_geo; of the upright image with
                            tz_read_options.oriented */
} tz_read_shape;
#define TZ_READ_SHAPE_INIT TZ_INIT(tz_read_shape)
TZ_API void tz_read_shape_init(tz_read_shape *shape, size_t size);

/* Fills *out, whose struct_size is set, with the buffer that an item needs, and makes the checks of
 * a read on its arguments. No tile is read. Of item->into, which may be NULL, only bands, height,
 * width and dtype count, and 0 in any of them leaves the choice: of one side, in proportion to the
 * window; of both, the size of the window, or the rest of the grid; of dtype, the file's type.
 * Integers then become floats with how->scaled, how->nodata_to_nan, item->scales or item->offsets:
 * float32 up to 16 bits, else float64; floats and complex numbers stay. A mask's own samples keep
 * their type. Samples without a type (tz_info.dtype is TZ_DTYPE_NONE) give TZ_DTYPE_UINT8: reading
 * them says why they have none. item->into_mask and how->device are not looked at; how and err may
 * be NULL. */
TZ_API TZ_NODISCARD tz_result tz_read_resolve(tz_read_shape *out, const tz_item *item,
                                              const tz_read_options *how, tz_error *err);

/* Reads one item. */
TZ_API TZ_NODISCARD tz_result tz_read(const tz_item *item, const tz_read_options *how,
                                      tz_read_report **report, tz_error *err);

/* Makes the same checks and reads the same tile tables, but no pixels: the report says what a read
 * would cost. */
TZ_API TZ_NODISCARD tz_result tz_plan_read(tz_read_report **report, const tz_item *items,
                                           size_t count, const tz_read_options *how, tz_error *err);

/* ---------------------------------------------------------------------------------------------
 * Writing pixels
 *
 *     tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
 *     spec.width = 10980, spec.height = 10980, spec.bands = 1, spec.dtype = TZ_DTYPE_UINT16;
 *     tz_writer *writer = NULL;
 *     tz_result result = tz_create(&writer, "scene.tif", &spec, NULL, &err);
 *     while (result == TZ_OK && next_rows(&rows))
 *         result = tz_write_rows(writer, &rows, NULL, &err);
 *     if (result == TZ_OK)
 *         result = tz_commit(writer, NULL, &err);
 *     tz_writer_close(writer);
 *
 * The file appears, whole, with tz_commit; before, and after any failure, the destination is what
 * it was. The bytes depend on the pixels and the options alone: not on threads, memory, or how many
 * rows came at a time. A writer belongs to one thread at a time.
 * ------------------------------------------------------------------------------------------ */

typedef enum tz_compression {
    TZ_COMPRESSION_DEFAULT = 0, /* Deflate */
    TZ_COMPRESSION_NONE = 1,
    TZ_COMPRESSION_LZW = 5,
    TZ_COMPRESSION_JPEG = 7,
    TZ_COMPRESSION_DEFLATE = 8,
    TZ_COMPRESSION_PACKBITS = 32773,
    TZ_COMPRESSION_JPEG2000 = 34712,
    TZ_COMPRESSION_LERC = 34887,
    TZ_COMPRESSION_LZMA = 34925,
    TZ_COMPRESSION_ZSTD = 50000,
    TZ_COMPRESSION_WEBP = 50001,
    TZ_COMPRESSION_JXL = 50002,
    TZ_COMPRESSION_LZ4 = 50004
} tz_compression;

/* TIFF's numbers, but for 0, which here means what suits the bands: grey, or RGB for three or four
 * bands of uint8. */
typedef enum tz_photometric {
    TZ_PHOTOMETRIC_AUTO = 0,
    TZ_PHOTOMETRIC_MIN_IS_BLACK = 1,
    TZ_PHOTOMETRIC_RGB = 2,
    TZ_PHOTOMETRIC_PALETTE = 3,
    TZ_PHOTOMETRIC_MASK = 4,
    TZ_PHOTOMETRIC_CMYK = 5,
    TZ_PHOTOMETRIC_YCBCR = 6, /* rows are RGB all the same; JPEG only */
    TZ_PHOTOMETRIC_CIELAB = 8,
    TZ_PHOTOMETRIC_ICCLAB = 9,
    TZ_PHOTOMETRIC_ITULAB = 10,
    TZ_PHOTOMETRIC_MIN_IS_WHITE = 0x10000 /* TIFF's 0 */
} tz_photometric;

/* A tag with its values, in the machine's byte order: count values of TIFF's type. */
typedef struct tz_tag_value {
    size_t struct_size;
    uint16_t tag;
    uint16_t type;
    uint64_t count;
    const void *data;
} tz_tag_value;
#define TZ_TAG_VALUE_INIT TZ_INIT(tz_tag_value)
TZ_API void tz_tag_value_init(tz_tag_value *value, size_t size);

/* Description of an image to be written, without its pixels. Everything it points to must stay
 * until tz_create returns, and no longer. */
typedef struct tz_image_spec {
    size_t struct_size;
    uint32_t width;
    uint32_t height;
    uint32_t bands;
    tz_dtype dtype;
    uint16_t bits_per_sample; /* 0: those of dtype; 1 to 31 for integers: packed that narrow */
    uint16_t orientation;     /* 0: 1, the upper left pixel first */
    tz_photometric photometric;
    const uint16_t *extra_samples; /* NULL: bands beyond the photometric's are unspecified, but a
                                      fourth one of RGB is alpha */
    uint32_t extra_sample_count;
    const uint16_t *color_map; /* as in tz_info */
    uint32_t color_map_size;
    bool mask;               /* rows come with a mask, which becomes the file's own */
    tz_nodata nodata;        /* made to fit dtype, or an error; lossy codecs but LERC change it */
    const char *nodata_text; /* how it is spelled; NULL: in the shortest way. Without nodata: the
                                value as well */
    const tz_geo *geo;       /* NULL: none. Its keys are written as they are; without keys, epsg and
                                epsg_vertical become keys, by model_type where PROJ does not know */
    const tz_metadata_item *metadata; /* of GDAL_METADATA: scale, offset, unit and description of
                                         bands are items with a role */
    uint32_t metadata_count;
    const tz_tag_value *tags; /* others: ICC profile, XMP, DateTime, Software, resolution, ... Those
                                 that the writer makes itself, and pointers into a file, are refused
                               */
    uint32_t tag_count;
} tz_image_spec;
#define TZ_IMAGE_SPEC_INIT TZ_INIT(tz_image_spec)
TZ_API void tz_image_spec_init(tz_image_spec *spec, size_t size);

/* A specification that says of an image all that a file says of its own, but for tags that point
 * into the file and a nodata value that no pixel can have. It is a copy that needs the file no
 * longer. */
TZ_API TZ_NODISCARD tz_result tz_image_spec_from_file(tz_image_spec **out, const tz_file *file,
                                                      tz_error *err);
TZ_API void tz_image_spec_free(tz_image_spec *spec); /* NULL is fine */

/* An empty specification of the same kind, to be filled by assignments and by the functions below.
 */
TZ_API TZ_NODISCARD tz_result tz_image_spec_create(tz_image_spec **out, tz_error *err);

/* The functions below change a specification of tz_image_spec_from_file or tz_image_spec_create,
 * and none that the caller has allocated. They copy what they are given, and on failure leave the
 * specification as it was. Items of statistics (STATISTICS_...) and tags about the values of
 * samples are dropped where they would no longer be true. err may be NULL. */

/* Makes the image a window of what it was, which may reach outside, resampled to width x height.
 * Transform, control points and RPC follow; statistics stay only if nothing changes. */
TZ_API TZ_NODISCARD tz_result tz_image_spec_set_grid(tz_image_spec *spec, const tz_window *window,
                                                     uint32_t width, uint32_t height,
                                                     tz_error *err);

/* Picks bands, counted from 0, in any order; a band may be taken more than once. Their metadata
 * follows them, and so do their colours. The image is RGB if its first three bands are red, green
 * and blue and its type is uint8 or uint16; it keeps a palette if that is its only band, and else
 * becomes grey. Colours that this cannot express become items of role colorinterp, unless all bands
 * were grey or without a colour by their places alone. An alpha band is an extra sample if it is
 * last. */
TZ_API TZ_NODISCARD tz_result tz_image_spec_select_bands(tz_image_spec *spec, const uint32_t *bands,
                                                         uint32_t count, tz_error *err);

/* Changes the type. Nodata is dropped if the type does not have the value; one that is too large for
 * a smaller floating-point type becomes infinite, as pixels do. A colour map is cut or filled up
 * with black for uint8 and uint16, and dropped for others. */
TZ_API TZ_NODISCARD tz_result tz_image_spec_set_dtype(tz_image_spec *spec, tz_dtype dtype,
                                                      tz_error *err);

/* Sets nodata, which must be a value of the type; NULL: none. */
TZ_API TZ_NODISCARD tz_result tz_image_spec_set_nodata(tz_image_spec *spec, const char *text,
                                                       tz_error *err);

/* Adds an item, or replaces the one of the same domain, name, role and band. Removes it if value is
 * NULL. A domain or role of NULL is "". Some items of the image, without domain and role, are not
 * kept as items, because GDAL has them elsewhere in the file: one with a name of tz_tag_gdal_name
 * sets that tag, and AREA_OR_POINT sets the raster type of geo and leaves the transform as it is.
 * These names are found without regard to case. */
TZ_API TZ_NODISCARD tz_result tz_image_spec_set_metadata(tz_image_spec *spec,
                                                         const tz_metadata_item *item,
                                                         tz_error *err);

/* Drops statistics and tags about the values of samples, for pixels that change in another way than
 * by the functions above. */
TZ_API TZ_NODISCARD tz_result tz_image_spec_drop_statistics(tz_image_spec *spec, tz_error *err);

typedef struct tz_crs tz_crs; /* see "Coordinate reference systems" */
/* Sets the CRS, as tz_crs_to_geo makes it; NULL: none. Transform, control points and RPC stay. */
TZ_API TZ_NODISCARD tz_result tz_image_spec_set_crs(tz_image_spec *spec, const tz_crs *crs,
                                                    tz_error *err);

/* Sets the transform, as in tz_geo; NULL: none. Control points are dropped. */
TZ_API TZ_NODISCARD tz_result tz_image_spec_set_transform(tz_image_spec *spec,
                                                          const double transform[6], tz_error *err);

/* Sets the control points; 0: none. The transform is dropped. */
TZ_API TZ_NODISCARD tz_result tz_image_spec_set_gcps(tz_image_spec *spec, const tz_gcp *gcps,
                                                     uint32_t count, tz_error *err);

typedef enum tz_choice { TZ_CHOICE_AUTO = 0, TZ_CHOICE_YES = 1, TZ_CHOICE_NO = 2 } tz_choice;

/* Samples that lie together in the file. Band and tile are both TIFF's planar configuration 2: all
 * tiles of a row of tiles band by band, or tile by tile all its bands. */
typedef enum tz_interleave {
    TZ_INTERLEAVE_PIXEL = 0,
    TZ_INTERLEAVE_BAND = 1,
    TZ_INTERLEAVE_TILE = 2
} tz_interleave;

/* 64-bit offsets. The decision is made by tz_commit, by the size that came about. */
typedef enum tz_bigtiff {
    TZ_BIGTIFF_IF_NEEDED = 0, /* beyond 4 GiB */
    TZ_BIGTIFF_YES = 1,
    TZ_BIGTIFF_NO = 2,      /* a larger file is an error of tz_commit */
    TZ_BIGTIFF_IF_SAFER = 3 /* beyond 2 GiB */
} tz_bigtiff;

/* JPEG tables that all tiles share (tag JPEGTables). Huffman tables that are not shared are made
 * for each tile, which is smaller and slower. */
typedef enum tz_jpeg_tables {
    TZ_JPEG_TABLES_DEFAULT = 0, /* both */
    TZ_JPEG_TABLES_QUANT = 1,
    TZ_JPEG_TABLES_HUFFMAN = 2,
    TZ_JPEG_TABLES_BOTH = 3,
    TZ_JPEG_TABLES_NONE = 4
} tz_jpeg_tables;

/* Tiles that are read back before a file is published. */
typedef enum tz_verify {
    TZ_VERIFY_SAMPLE = 0, /* its directories and up to 16 tiles; these are decoded, and of lossless
                             codecs compared with the pixels that were given */
    TZ_VERIFY_ALL = 1,
    TZ_VERIFY_NONE = 2
} tz_verify;

/* Statistics of one band, without pixels that are nodata, NaN or masked. Where the library returns
 * them, they belong to what they were asked of. */
typedef struct tz_statistics {
    size_t struct_size;
    uint64_t valid_count; /* pixels; all members below are 0 if there are none */
    double minimum;
    double maximum;
    double mean;
    double stddev; /* of the whole population */
} tz_statistics;
#define TZ_STATISTICS_INIT TZ_INIT(tz_statistics)
TZ_API void tz_statistics_init(tz_statistics *statistics, size_t size);

/* tz_codec_options.effort */
#define TZ_EFFORT_FAST                                                                             \
    (-1) /* Deflate: a class of its own below 1, several times as fast, for                        \
            continuous data with a predictor; LZMA: preset 0 */

/* Compression of tiles. Fixed layout: 128 bytes, of which those in reserved must be 0. Zero in any
 * member means the default. A member that the compression does not use is ignored, with a warning.
 */
typedef struct tz_codec_options {
    tz_compression compression;
    int32_t effort;            /* Deflate 1 to 12 (6), ZSTD 1 to 22 (9), LZMA 1 to 9 (6), LZ4
                                  1 to 12 (1), JPEG XL
                                  1 to 9 (5), or TZ_EFFORT_FAST; 0: the one in brackets, but
                                  with a device TZ_EFFORT_FAST of Deflate, which is what devices
                                  have */
    uint32_t quality;          /* of JPEG, WebP and JPEG 2000, 1 to 100; 0: 75 */
    tz_choice lossless;        /* auto: WebP no, JPEG XL and JPEG 2000 yes */
    uint16_t predictor;        /* 0: what suits dtype where the codec takes one; 1 none, 2, 3 */
    uint16_t lerc_compression; /* within LERC: 0 none, 1 Deflate, 2 ZSTD, at effort */
    tz_jpeg_tables jpeg_tables;
    double max_error;            /* LERC; nodata is exact all the same */
    double distance;             /* JPEG XL, 0.01 to 25; 0: 1 */
    double alpha_distance;       /* 0: as distance; below 0: lossless */
    uint8_t jpeg_subsampling[2]; /* of YCbCr, across and down, 1 or 2; 0: 2 */
    uint8_t reserved[78];
} tz_codec_options;

/* Options of a write. Zero in any member means the default. */
typedef struct tz_write_options {
    size_t struct_size;
    /* layout */
    bool strips;          /* instead of tiles */
    bool big_endian;      /* byte order of the file */
    bool sparse;          /* tiles of nothing but nodata (or 0) are left out */
    uint32_t tile_width;  /* a multiple of 16; 0: 256; not of strips */
    uint32_t tile_height; /* the same; rows of a strip, 0: as many as make 64 KiB */
    uint32_t alignment;   /* of tiles in the file: a power of two up to 65,536; 0: none */
    tz_interleave interleave;
    tz_bigtiff bigtiff;
    /* codecs */
    tz_codec_options codec; /* of the image */
    /* Codec of overviews. A member that is 0 is that of the image if both have the same
     * compression, and else the default. If lossless is set here, quality is not that of the image;
     * if it is TZ_CHOICE_YES, distances are not either. max_error below 0: none. */
    tz_codec_options overview_codec;
    /* Codec of masks, whose tiles have 1 bit: compression and effort; any other member is an error.
     * 0: Deflate at its default, or the best that the build has. */
    tz_codec_options mask_codec;
    const uint8_t *discard_bits; /* low bits of samples to round away, one number or one a band */
    uint32_t discard_count;
    /* Cloud Optimized GeoTIFF: directories in front, then the tiles of all levels, the smallest
     * first; tiles of 512 by default. Overviews are made of the rows as they pass. */
    bool cog;
    int32_t overview_count; /* each half the size of the one before; 0: until one fits a tile; below
                               0: none */
    tz_resampling overview_resampling; /* 0: average; of palettes nearest */
    const char *spool_directory;       /* where overviews wait until their place is known, in a file
                                          without a name; NULL: beside the destination, or what TMPDIR
                                          says when there is none */
    /* pixels */
    bool nan_to_nodata;    /* floating-point NaN becomes nodata, where that is another value */
    bool statistics_items; /* write STATISTICS_ items to the metadata */
    bool statistics;       /* gather them for tz_write_report_get_statistics; with statistics_items
                              they are gathered in any case */
    /* means */
    uint32_t threads;        /* 0: as many as there are cores for this process */
    uint64_t max_host_bytes; /* all memory, but a memory sink's; 0: 256 MiB. Less than it takes
                                at least is not an error: see tz_write_report.max_host_bytes */
    tz_device *device;       /* that cuts, encodes and makes overviews; NULL: the CPU. Rows are then
                                of the host or of this device */
    bool strict_device;      /* what the device cannot do is an error, and not done by the CPU: but
                                for the bits of masks, and for tiles of Deflate that would lose by
                                the fast class, which they always encode */
    uint64_t max_device_bytes; /* most of its memory to take; 0: 128 MiB, or what is free. One
                                  row of tiles of each level is a floor: see
                                  tz_device_use.memory */
    bool allow_vendor_codecs;  /* the device's tiles may be encoded by the vendor's libraries: the
                                  bytes are then others than those of the CPU */
    bool allow_inexact;      /* and those of lossy codecs too: the pixels are then others as well */
    const tz_limits *limits; /* NULL: the defaults */
    /* commit */
    bool exclusive; /* a destination that exists is an error */
    bool no_sync;   /* do not wait for the disk: after a power failure the destination
                       may be anything */
    tz_verify verify;
    tz_progress progress; /* in rows */
    tz_log log;
} tz_write_options;
#define TZ_WRITE_OPTIONS_INIT TZ_INIT(tz_write_options)
TZ_API void tz_write_options_init(tz_write_options *options, size_t size);

/* The cost of a write, planned or real. The library allocates reports; later versions may append
 * members. */
typedef struct tz_write_report {
    uint64_t file_size; /* of a plan: at most */
    uint64_t tiles;     /* the mask's included */
    uint64_t tiles_sparse;
    uint64_t bytes_pixels;    /* of all tiles before encoding */
    uint64_t bytes_tiles;     /* and after */
    uint64_t max_host_bytes;  /* allowed: that of the options, or what it takes at least */
    uint64_t peak_host_bytes; /* planned to be held, within max_host_bytes */
    uint64_t tile_rows;       /* groups of rows that came, or were asked for, at a time */
    uint64_t writes;          /* calls of the sink */
    uint64_t tiles_verified;
    uint64_t spool_bytes;       /* that waited on disk beside the file, at most */
    uint32_t levels;            /* the image and its overviews */
    uint32_t rows_per_tile_row; /* rows of one group, at most */
    uint32_t threads;
    uint32_t warning_count;      /* see tz_write_report_get_warning */
    uint64_t warnings_dropped;   /* kinds of warnings that were too many to keep */
    const tz_device_use *device; /* never NULL */
    bool bigtiff;
} tz_write_report;
/* Returns a warning: an option that could not be honoured, each kind once. NULL past the end. */
TZ_API const tz_error *tz_write_report_get_warning(const tz_write_report *report, uint32_t index);
/* Returns the statistics of a band; NULL: none were gathered, or there is no such band. */
TZ_API const tz_statistics *tz_write_report_get_statistics(const tz_write_report *report,
                                                           uint32_t band);
TZ_API void tz_write_report_free(tz_write_report *report); /* NULL is fine */

/* A piece of memory; of several, each comes after the other in the file. Fixed layout. */
typedef struct tz_bytes {
    const void *data;
    size_t size;
} tz_bytes;

/* A destination of bytes: a file, memory, or anything that fills in these functions. write is given
 * ascending offsets that may leave gaps, which are zero; the first 16 bytes come last. Not two
 * calls at a time, but from any thread. Any function but write may be NULL, and then does nothing.
 * The library uses the struct where it is, mostly as the first member of one of the caller's own,
 * until close. */
typedef struct tz_sink tz_sink;
struct tz_sink {
    size_t struct_size;
    /* The functions are called only on the thread that called the library: tz_create_sink,
     * tz_write_rows, tz_write_from, tz_commit, tz_writer_close. Tiles are still encoded by several
     * threads. */
    bool caller_thread;
    TZ_NODISCARD tz_result (*write)(tz_sink *sink, uint64_t offset, const tz_bytes *pieces,
                                    size_t count, tz_error *err);
    /* For what is verified; NULL: it is not. */
    TZ_NODISCARD tz_result (*read)(tz_sink *sink, uint64_t offset, void *dst, size_t size,
                                   tz_error *err);
    /* Make room at the front: what was written moves up by size bytes, a multiple of 4096. What is
     * then in front may be anything, and is written next. NULL: never asked for; the writer keeps
     * all tiles elsewhere until their places are known. */
    TZ_NODISCARD tz_result (*insert)(tz_sink *sink, uint64_t size, tz_error *err);
    /* All is written, size bytes in all: make it lasting ... */
    TZ_NODISCARD tz_result (*sync)(tz_sink *sink, uint64_t size, tz_error *err);
    /* ... and visible. */
    TZ_NODISCARD tz_result (*commit)(tz_sink *sink, tz_error *err);
    /* The last call; without a commit that succeeded, nothing must be left. */
    void (*close)(tz_sink *sink);
};
#define TZ_SINK_INIT TZ_INIT(tz_sink)
TZ_API void tz_sink_init(tz_sink *sink, size_t size);

/* A file that appears whole or not at all, as those of tz_create do: for other files that belong to
 * an image, and for tz_create_sink. Takes any order of offsets. exclusive: a destination that
 * exists is an error, now and at commit. no_sync: sync and commit do not wait for the disk. err may
 * be NULL. */
TZ_API TZ_NODISCARD tz_result tz_file_sink_open(tz_sink **out, const char *path, bool exclusive,
                                                bool no_sync, tz_error *err);

/* Bytes that wait: written and read back in any order, never published (sync and commit are NULL).
 * They are in a file without a name in a directory (NULL: where TMPDIR says, else /tmp), of which
 * nothing is left however the process ends. err may be NULL. */
TZ_API TZ_NODISCARD tz_result tz_spool_sink_open(tz_sink **out, const char *directory,
                                                 tz_error *err);

typedef struct tz_writer tz_writer;

/* Begin to write. Arguments are checked before anything is created. path: a temporary file in the
 * same directory becomes the destination at tz_commit. options and err may be NULL. *out is written
 * only on success. */
TZ_API TZ_NODISCARD tz_result tz_create(tz_writer **out, const char *path,
                                        const tz_image_spec *spec, const tz_write_options *options,
                                        tz_error *err);

/* Memory that the library fills, and tz_memory_free releases. Fixed layout. */
typedef struct tz_memory {
    void *data;
    size_t size;
} tz_memory;
/* The same into memory: tz_commit fills *into. */
TZ_API TZ_NODISCARD tz_result tz_create_memory(tz_writer **out, tz_memory *into,
                                               const tz_image_spec *spec,
                                               const tz_write_options *options, tz_error *err);
TZ_API void tz_memory_free(tz_memory *memory); /* zeroed is fine */

/* The same into a sink of the caller's, which is closed by tz_writer_close and also when this
 * fails, unless its struct_size is wrong. name is shown in messages; it may be NULL. */
TZ_API TZ_NODISCARD tz_result tz_create_sink(tz_writer **out, tz_sink *sink, const char *name,
                                             const tz_image_spec *spec,
                                             const tz_write_options *options, tz_error *err);

/* The next rows->height rows, all bands of them, of the type of the specification. mask, of dtype
 * uint8 and one band, is given exactly when the specification says so; what is not 0 is valid. The
 * pixels are never changed, and may be released afterwards. After an error the writer can only be
 * discarded. */
TZ_API TZ_NODISCARD tz_result tz_write_rows(tz_writer *writer, const tz_buffer *rows,
                                            const tz_buffer *mask, tz_error *err);
/* The same for rows in device memory that work on a stream of the caller is about to make: the
 * device waits for what is on the stream now. stream is that of tz_read_options, for
 * tz_write_options.device. The rows may be changed by any stream when the call has returned. */
TZ_API TZ_NODISCARD tz_result tz_write_rows_on_stream(tz_writer *writer, const tz_buffer *rows,
                                                      const tz_buffer *mask, void *stream,
                                                      tz_error *err);

/* Pixels on demand. read fills pixels (and mask, when the specification has one; else its data is
 * NULL) with window; the buffers have the window's size. Every pixel is asked for once, in order of
 * rows. read is called only on the thread that called tz_write_from. */
typedef struct tz_row_source {
    size_t struct_size;
    TZ_NODISCARD tz_result (*read)(void *user, const tz_window *window, const tz_buffer *pixels,
                                   const tz_buffer *mask, tz_error *err);
    void *user;
    uint32_t chunk_rows; /* rows that the source would rather give together: of its own tiles; 0:
                            it does not matter */
    bool columns;        /* may be asked for a part of the columns, where memory is short */
    bool on_device;      /* fills memory of tz_write_options.device, and has done so on return, or
                            is about to, on tz_device_get_stream */
} tz_row_source;
#define TZ_ROW_SOURCE_INIT TZ_INIT(tz_row_source)
TZ_API void tz_row_source_init(tz_row_source *source, size_t size);

/* All rows that are left. */
TZ_API TZ_NODISCARD tz_result tz_write_from(tz_writer *writer, const tz_row_source *source,
                                            tz_error *err);

/* Finish: directories, verification, publication. TZ_ERR_ARG when rows are missing, or when called
 * twice. *report is written only on success, and released by tz_write_report_free; report and err
 * may be NULL. */
TZ_API TZ_NODISCARD tz_result tz_commit(tz_writer *writer, tz_write_report **report, tz_error *err);

/* Release a writer; without tz_commit nothing of the file is left. NULL is fine. */
TZ_API void tz_writer_close(tz_writer *writer);

/* The same checks, but nothing is created: what it would cost. source may be NULL: rows are pushed.
 */
TZ_API TZ_NODISCARD tz_result tz_plan_write(tz_write_report **report, const tz_image_spec *spec,
                                            const tz_write_options *options,
                                            const tz_row_source *source, tz_error *err);

/* Remove what writes that were killed left in a directory: temporary files of this library that no
 * process holds and that were not written to for min_age seconds. found (may be NULL) is called for
 * each with its path; returning false keeps it. progress is in entries of the directory, of which
 * the total is not known and 0; it may be NULL. */
TZ_API TZ_NODISCARD tz_result tz_clean(uint64_t *removed, const char *directory, uint64_t min_age,
                                       bool (*found)(void *user, const char *path), void *user,
                                       const tz_progress *progress, tz_error *err);

/* ---------------------------------------------------------------------------------------------
 * Creation options of GDAL
 *
 *     tz_creation *creation = NULL;
 *     tz_result result = tz_creation_create(&creation, "COG", &err);
 *     if (result == TZ_OK)
 *         result = tz_creation_set(creation, "COMPRESS", "ZSTD", &err);
 *     if (result == TZ_OK)
 *         result = tz_creation_apply(creation, &spec, &options, NULL, &err);
 *     if (result == TZ_OK)
 *         result = tz_create(&writer, "scene.tif", &spec, &options, &err);
 *     tz_creation_free(creation);
 * ------------------------------------------------------------------------------------------ */

/* Options of one of GDAL's drivers, by their names, and a few of our own. They may be set in any
 * order, since what they mean is decided when they are applied. One thread at a time. */
typedef struct tz_creation tz_creation;

/* driver: "GTiff" or "COG", in any case. *out is written only on success. */
TZ_API TZ_NODISCARD tz_result tz_creation_create(tz_creation **out, const char *driver,
                                                 tz_error *err);
TZ_API void tz_creation_free(tz_creation *creation); /* NULL is fine */

/* Set an option; key and words of value may be in any case. An option or a value that does not
 * exist is TZ_ERR_ARG, and the message says what was probably meant, or what the values are. One
 * that GDAL has and this library does not is refused with the reason, but for its default. An
 * option is set once, except SRC_MDD. After an error all is as before. */
TZ_API TZ_NODISCARD tz_result tz_creation_set(tz_creation *creation, const char *key,
                                              const char *value, tz_error *err);

/* Set the compression by a name of rio-cogeo's profiles: "jpeg", "webp", "zstd", "lzw", "deflate",
 * "packbits", "lzma", "lerc", "lerc_deflate", "lerc_zstd" or "raw". COMPRESS wins over it. */
TZ_API TZ_NODISCARD tz_result tz_creation_set_profile(tz_creation *creation, const char *name,
                                                      tz_error *err);

/* Check that the options go together; tz_creation_apply does so, too. Options that the compression
 * does not use are warnings, also when this fails. */
TZ_API TZ_NODISCARD tz_result tz_creation_check(tz_creation *creation, tz_error *err);
/* Returns a warning of the last check; NULL past the end. It is valid until the next one. */
TZ_API const tz_error *tz_creation_get_warning(const tz_creation *creation, uint32_t index);

/* Change a specification and options as the creation options say. Of the options, layout, codecs
 * of the image and of overviews, overviews, discarded bits, statistics_items and, with NUM_THREADS,
 * threads are set, and no others. Of the specification change sample type and bits (pixels are then
 * to be given in that type), colours, metadata, tags, nodata and georeferencing. Alpha of a COG in
 * JPEG becomes the mask: spec->mask is then set, and bands is one less. source is the file that the
 * pixels are of, whose layout may be kept; NULL: none. Both structs may then point to memory of
 * creation, which is valid until it is applied again or freed. After an error both are as before.
 */
TZ_API TZ_NODISCARD tz_result tz_creation_apply(tz_creation *creation, tz_image_spec *spec,
                                                tz_write_options *options, const tz_file *source,
                                                tz_error *err);

/* Returns the value of an option as it was set, or its default; NULL: it has neither, or the driver
 * has no such option. It lives as long as creation. */
TZ_API const char *tz_creation_get_value(const tz_creation *creation, const char *key);
/* Returns the ending of the world file that TFW or WORLDFILE ask for, ".tfw" or ".wld"; NULL: none.
 * Programs write it themselves. */
TZ_API const char *tz_creation_get_world_file(const tz_creation *creation);

/* A creation option, for help. Later versions may append members. */
typedef struct tz_creation_option {
    const char *name;
    const char *default_value; /* as it would be set; "": none */
    const char *help;          /* NULL: only the default is accepted */
} tz_creation_option;
TZ_API const tz_creation_option *tz_creation_option_get(const char *driver,
                                                        size_t index); /* NULL past the end */
/* Writes the values of an option, such as "1 to 12, FAST", cut to size bytes with the closing NUL.
 * Returns the length of the whole text, as snprintf does; "" where any text is a value. */
TZ_API size_t tz_creation_option_values(char *out, size_t size, const tz_creation_option *option);

/* Returns the name that is most like word among name(list, 0), name(list, 1), ... up to NULL, to
 * say what was probably meant; NULL: none is near. */
TZ_API const char *tz_nearest_name(const char *word,
                                   const char *(*name)(const void *list, size_t index),
                                   const void *list);

/* ---------------------------------------------------------------------------------------------
 * Cloud Optimized GeoTIFF by many processes
 *
 *     tz_cog_plan_create(&plan, &spec, &options, 0, &err);       once; tz_cog_plan_save and _load
 *                                                                take it to other processes
 *     tz_cog_plan_get_block(&what, plan, level, block, &err);    for each block, anywhere and in
 *     tz_overview_block(plan, level, block, &source, ...);       any order; level 0 is the image
 *     tz_encode_block(&blob, plan, level, block, &pixels, ...);
 *     tz_assembly_create(&layout, plan, heads, count, &err);     once, from the blobs' heads
 *
 * A block is a square of tiles of one level, and is made of its own pixels alone. What it becomes,
 * the blob, begins with a head that says the sizes of its tiles: the file's layout follows from
 * the heads of all blobs. The file is the one that a writer with options.cog makes of the same
 * pixels, byte for byte. Nothing here keeps a state: every call may be made from any thread.
 * ------------------------------------------------------------------------------------------ */

/* A plan of a COG: a value that does not change. */
typedef struct tz_cog_plan tz_cog_plan;

/* block_tiles: tiles across and down of a block, up to 65,536; 0: 8. Of the options, those about
 * the file count, and cog is taken as set; options may be NULL. */
TZ_API TZ_NODISCARD tz_result tz_cog_plan_create(tz_cog_plan **out, const tz_image_spec *spec,
                                                 const tz_write_options *options,
                                                 uint32_t block_tiles, tz_error *err);
TZ_API void tz_cog_plan_free(tz_cog_plan *plan); /* NULL is fine */

/* As bytes, for tz_cog_plan_load of the same version of the library: doc/blocks.md. What others
 * have sent may be anything, and is checked against limits (NULL: the defaults). */
TZ_API TZ_NODISCARD tz_result tz_cog_plan_save(tz_memory *into, const tz_cog_plan *plan,
                                               tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_cog_plan_load(tz_cog_plan **out, const void *data, size_t size,
                                               const tz_limits *limits, tz_error *err);

/* One level of a plan. Blocks are counted row by row. Later versions may append members, here and
 * to tz_cog_plan_info. */
typedef struct tz_cog_level {
    uint32_t width;
    uint32_t height;
    uint32_t tile_width;
    uint32_t tile_height;
    uint32_t tiles_across;
    uint32_t tiles_down;
    uint32_t blocks_across;
    uint32_t blocks_down;
    uint64_t block_count;
} tz_cog_level;
typedef struct tz_cog_plan_info {
    uint64_t fingerprint; /* of the plan's bytes: blobs name their plan by it */
    uint32_t level_count; /* see tz_cog_plan_get_level */
    uint32_t block_tiles;
    uint64_t block_count; /* of all levels */
    uint32_t bands;
    tz_dtype dtype;
    bool mask;        /* pixels come with a mask */
    bool statistics;  /* are gathered: statistics or statistics_items of the options were set */
    tz_nodata nodata; /* kind NONE: none is written */
} tz_cog_plan_info;
/* Both live as long as the plan. NULL past the last level. */
TZ_API const tz_cog_plan_info *tz_cog_plan_get_info(const tz_cog_plan *plan);
TZ_API const tz_cog_level *tz_cog_plan_get_level(const tz_cog_plan *plan, uint32_t level);

typedef struct tz_cog_block {
    size_t struct_size;
    tz_window window; /* of the level: the pixels it has */
    tz_window source; /* of the level before: what these are made of, with what the method of
                         resampling sees around it; empty for level 0 */
    uint64_t tiles;   /* the mask's included */
} tz_cog_block;
#define TZ_COG_BLOCK_INIT TZ_INIT(tz_cog_block)
TZ_API void tz_cog_block_init(tz_cog_block *block, size_t size);
/* Fills *out, whose struct_size is set. TZ_ERR_ARG when there is no such level or block. */
TZ_API TZ_NODISCARD tz_result tz_cog_plan_get_block(tz_cog_block *out, const tz_cog_plan *plan,
                                                    uint32_t level, uint64_t block, tz_error *err);

/* The same source for any window of a level but 0, to go down more than one level at a time. */
TZ_API TZ_NODISCARD tz_result tz_cog_plan_get_source(tz_window *source, const tz_cog_plan *plan,
                                                     uint32_t level, const tz_window *window,
                                                     tz_error *err);

/* Options of the calls that make pixels and blobs. Zero in any member means the default. */
typedef struct tz_block_options {
    size_t struct_size;
    uint32_t threads;     /* 0: 1, since blocks are made by many processes */
    tz_progress progress; /* in rows of an overview, or in tiles of a blob */
} tz_block_options;
#define TZ_BLOCK_OPTIONS_INIT TZ_INIT(tz_block_options)
TZ_API void tz_block_options_init(tz_block_options *options, size_t size);

/* Pixels of a window from those of its source, into buffers of the window's size; masks are given
 * exactly when the plan has them, else NULL. tz_overview_block: the window of a block. options may
 * be NULL. */
TZ_API TZ_NODISCARD tz_result tz_overview_window(const tz_cog_plan *plan, uint32_t level,
                                                 const tz_window *window, const tz_buffer *source,
                                                 const tz_buffer *source_mask,
                                                 const tz_buffer *pixels, const tz_buffer *mask,
                                                 const tz_block_options *options, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_overview_block(const tz_cog_plan *plan, uint32_t level,
                                                uint64_t block, const tz_buffer *source,
                                                const tz_buffer *source_mask,
                                                const tz_buffer *pixels, const tz_buffer *mask,
                                                const tz_block_options *options, tz_error *err);

/* Encode a block of these pixels. *into becomes the blob, released by tz_memory_free. options may
 * be NULL. */
TZ_API TZ_NODISCARD tz_result tz_encode_block(tz_memory *into, const tz_cog_plan *plan,
                                              uint32_t level, uint64_t block,
                                              const tz_buffer *pixels, const tz_buffer *mask,
                                              const tz_block_options *options, tz_error *err);

/* Facts that a blob has in its first TZ_BLOB_HEADER bytes; more may be given. */
#define TZ_BLOB_HEADER 64
typedef struct tz_blob_info {
    size_t struct_size;
    uint64_t fingerprint; /* of its plan */
    uint64_t block;
    uint32_t level;
    uint64_t tiles;
    uint64_t head_size; /* the first bytes, which tz_assembly_create needs; then come the tiles */
    uint64_t size;      /* of the whole blob */
} tz_blob_info;
#define TZ_BLOB_INFO_INIT TZ_INIT(tz_blob_info)
TZ_API void tz_blob_info_init(tz_blob_info *info, size_t size);
/* Fills *out, whose struct_size is set. */
TZ_API TZ_NODISCARD tz_result tz_blob_read_info(tz_blob_info *out, const void *data, size_t size,
                                                tz_error *err);
/* Read a head: the sizes of its tiles (0: sparse), and the statistics of each band, all 0 where
 * none were gathered. statistics has an element for each band, as far apart as the first one's
 * struct_size says. */
TZ_API TZ_NODISCARD tz_result tz_blob_read_sizes(uint32_t *sizes, const tz_cog_plan *plan,
                                                 const tz_bytes *head, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_blob_read_statistics(tz_statistics *statistics,
                                                      const tz_cog_plan *plan, const tz_bytes *head,
                                                      tz_error *err);

/* Bytes of a blob that belong together in the file. Fixed layout. */
typedef struct tz_copy_run {
    uint64_t file_offset;
    uint64_t blob_offset;
    uint64_t size;
} tz_copy_run;

/* The layout of the file. Bytes that neither front nor runs cover are zero. The library allocates
 * it; later versions may append members. */
typedef struct tz_assembly {
    uint64_t file_size;
    bool bigtiff;
    tz_bytes front; /* the file's first bytes: header, directories, tile tables */
    uint64_t tiles; /* of all levels and masks */
    uint64_t tiles_sparse;
    size_t blob_count;
} tz_assembly;
/* Returns the runs of a blob, counted as the heads were given, ascending by blob_offset; NULL: it
 * has none, or there is no such blob, and *count is 0. */
TZ_API const tz_copy_run *tz_assembly_get_runs(size_t *count, const tz_assembly *assembly,
                                               size_t blob);
/* Returns the statistics of a band; NULL: none were gathered, or there is no such band. */
TZ_API const tz_statistics *tz_assembly_get_statistics(const tz_assembly *assembly, uint32_t band);

/* Lay out the file from the heads of all blobs (whole blobs are fine), in any order. One that is
 * missing, given twice, damaged or of another plan is TZ_ERR_FORMAT, and is named. */
TZ_API TZ_NODISCARD tz_result tz_assembly_create(tz_assembly **out, const tz_cog_plan *plan,
                                                 const tz_bytes *heads, size_t count,
                                                 tz_error *err);
TZ_API void tz_assembly_free(tz_assembly *assembly); /* NULL is fine */

/* Blobs that are somewhere: read fills dst with size bytes of one. It is called only on the thread
 * that called tz_assemble_file. */
typedef struct tz_blobs {
    size_t struct_size;
    size_t count;
    TZ_NODISCARD tz_result (*read)(void *user, size_t blob, uint64_t offset, void *dst, size_t size,
                                   tz_error *err);
    void *user;
} tz_blobs;
#define TZ_BLOBS_INIT TZ_INIT(tz_blobs)
TZ_API void tz_blobs_init(tz_blobs *blobs, size_t size);

/* The same, and the file itself, which appears whole or not at all as with tz_commit. Of the
 * options, those of the commit count, with progress in bytes, of which the total is not known
 * before the heads of all blobs are read. Statistics are in the report if the plan has them; to ask
 * for them is an error if it has none. options, report and err may be NULL. */
TZ_API TZ_NODISCARD tz_result tz_assemble_file(const char *path, const tz_cog_plan *plan,
                                               const tz_blobs *blobs,
                                               const tz_write_options *options,
                                               tz_write_report **report, tz_error *err);

/* ---------------------------------------------------------------------------------------------
 * Cloud Optimized GeoTIFF
 * ------------------------------------------------------------------------------------------ */

/* Why a file is not a Cloud Optimized GeoTIFF: bits of tz_file_get_cog_problems. */
#define TZ_COG_PROBLEM_NOT_TILED          (1u << 0) /* a level above 512 pixels is not tiled */
#define TZ_COG_PROBLEM_NO_OVERVIEWS       (1u << 1) /* a remark only: above 512 pixels, none */
#define TZ_COG_PROBLEM_IFD_NOT_FIRST      (1u << 2) /* the first directory is not at the front */
#define TZ_COG_PROBLEM_IFD_ORDER          (1u << 3) /* directories are not in order of level */
#define TZ_COG_PROBLEM_DATA_BEFORE_IFDS   (1u << 4) /* tiles before the end of the directories */
#define TZ_COG_PROBLEM_DATA_ORDER         (1u << 5) /* tiles not from smallest to largest level */
#define TZ_COG_PROBLEM_EDITED             (1u << 6) /* the ghost area says it was edited */
#define TZ_COG_PROBLEM_EXTERNAL_OVERVIEWS (1u << 7) /* overviews in another file */
#define TZ_COG_PROBLEM_NOT_GEOREFERENCED  (1u << 8) /* a remark only: it still is one */
#define TZ_COG_PROBLEM_TRUNCATED          (1u << 9) /* it was cut off: see tz_level_check_end */

/* Bits that are remarks only: with nothing else it still is one, also for tz_validate. */
#define TZ_COG_PROBLEM_REMARKS (TZ_COG_PROBLEM_NO_OVERVIEWS | TZ_COG_PROBLEM_NOT_GEOREFERENCED)

/* A quick look by directories, first and last tiles; 0 or only remarks means that it is one. The
 * checks are those of tz_validate. */
TZ_API TZ_NODISCARD tz_result tz_file_get_cog_problems(uint32_t *problems, const tz_file *file,
                                                       tz_error *err);
/* One bit of the above in words; never NULL. */
TZ_API const char *tz_cog_problem_text(uint32_t problem);

/* ---------------------------------------------------------------------------------------------
 * Codecs and names
 * ------------------------------------------------------------------------------------------ */

/* Abilities of this library with one codec. It belongs to the library and never changes. */
typedef struct tz_codec_info {
    const char *name;               /* "DEFLATE": GDAL's word where GDAL has one */
    const char *title;              /* "Deflate": for people */
    uint16_t compression;           /* TIFF's number, which new files get */
    uint16_t other_compressions[3]; /* further numbers that mean the same; 0: none */
    bool can_read;                  /* in this build, as can_write */
    bool can_write;
    bool lossy;           /* files may have lost something */
    bool lossless;        /* files may have lost nothing */
    bool takes_predictor; /* tz_codec_options.predictor */
    bool has_effort;      /* in whole numbers from min_effort to max_effort; LERC has those of the
                             codec around it */
    bool has_fast_effort; /* also TZ_EFFORT_FAST */
    bool has_quality;     /* where it is lossy; the larger, the better */
    bool has_distance;    /* where it is lossy; the smaller, the better */
    bool has_max_error;   /* 0: lossless */
    /* false: this build lacks the library; can_read and can_write say what it can do without */
    bool built;
    int32_t min_effort; /* these and what follows: 0 without effort, quality, distance */
    int32_t max_effort;
    int32_t default_effort;
    uint32_t min_quality;
    uint32_t max_quality;
    uint32_t default_quality;
    double min_distance;
    double max_distance;
    double default_distance;
    const char *library;         /* "libdeflate"; NULL: it needs none */
    const char *library_version; /* that it was built with; NULL: none */
} tz_codec_info;

/* All codecs that the library knows, also those that it only reads and those that were left out of
 * this build. */
TZ_API size_t tz_codec_count(void);
TZ_API const tz_codec_info *tz_codec_get(size_t index); /* NULL past the end */

/* Values of enumerations by name, and the other way round. Names are found without regard to case;
 * each value has the name that its _name function returns, and some have further ones. An unknown
 * name, or NULL, gives false and leaves *out alone. Names are never NULL, "unknown" for what is not
 * a value. */

/* Also GDAL's "Byte", "CInt16", "CFloat32", ..., and NumPy's "complex64" and "complex128". */
TZ_API bool tz_dtype_from_name(tz_dtype *out, const char *name);
TZ_API const char *tz_dtype_gdal_name(tz_dtype dtype); /* "Byte", "UInt16", "CFloat32", ... */
/* Finds names of tz_codec_info and those of compressions that cannot even be read. "LERC_DEFLATE"
 * and "LERC_ZSTD" are LERC, too: the codec around it is chosen by another option. */
TZ_API bool tz_compression_from_name(tz_compression *out, const char *name);
/* Finds names of tz_photometric_name, and "auto". */
TZ_API bool tz_photometric_from_name(tz_photometric *out, const char *name);
TZ_API bool tz_color_from_name(tz_color *out, const char *name);
TZ_API bool tz_resampling_from_name(tz_resampling *out, const char *name);
TZ_API const char *tz_interleave_name(tz_interleave interleave); /* "pixel", "band", "tile" */
TZ_API bool tz_interleave_from_name(tz_interleave *out, const char *name);
TZ_API const char *tz_bigtiff_name(tz_bigtiff bigtiff); /* "if_needed", "yes", ... */
TZ_API bool tz_bigtiff_from_name(tz_bigtiff *out, const char *name);
TZ_API const char *tz_choice_name(tz_choice choice); /* "auto", "yes", "no" */
TZ_API bool tz_choice_from_name(tz_choice *out, const char *name);
TZ_API const char *tz_jpeg_tables_name(tz_jpeg_tables tables); /* "default", "quant", ... */
TZ_API bool tz_jpeg_tables_from_name(tz_jpeg_tables *out, const char *name);
TZ_API const char *tz_verify_name(tz_verify verify); /* "sample", "all", "none" */
TZ_API bool tz_verify_from_name(tz_verify *out, const char *name);
TZ_API const char *tz_raster_type_name(tz_raster_type type); /* "undefined", "area", "point" */
TZ_API bool tz_raster_type_from_name(tz_raster_type *out, const char *name);
TZ_API const char *tz_nodata_kind_name(tz_nodata_kind kind); /* "none", "int", "uint", "float" */
TZ_API bool tz_nodata_kind_from_name(tz_nodata_kind *out, const char *name);
TZ_API const char *tz_memory_kind_name(tz_memory_kind kind); /* "host", "cuda", ... */
TZ_API bool tz_memory_kind_from_name(tz_memory_kind *out, const char *name);
/* One TZ_SIDECAR_ bit: "ovr", "msk", "aux", "world". */
TZ_API const char *tz_sidecar_name(uint32_t sidecar);
TZ_API bool tz_sidecar_from_name(uint32_t *out, const char *name);

/* ---------------------------------------------------------------------------------------------
 * Validation
 *
 *     tz_validation *report = NULL;
 *     if (tz_validate(&report, "scene.tif", NULL, &err) == TZ_OK) {
 *         printf("%s\n", report->valid ? "valid" : "not valid");
 *         tz_validation_free(report);
 *     }
 * ------------------------------------------------------------------------------------------ */

/* Whose rules a check is about. */
typedef enum tz_check_class {
    TZ_CHECK_CLASS_TIFF =
        0, /* TIFF 6.0 and BigTIFF: a failure means that something cannot be read */
    TZ_CHECK_CLASS_GEOTIFF = 1, /* OGC 19-008: its abstract tests, of the full-resolution image */
    TZ_CHECK_CLASS_COG = 2,     /* OGC 21-026: its conformance classes */
    TZ_CHECK_CLASS_GDAL = 3     /* what GDAL's COG driver writes and its validation asks for */
} tz_check_class;
#define TZ_CHECK_CLASS_COUNT 4
TZ_API const char *tz_check_class_name(tz_check_class which); /* "tiff", "cog", ...; never NULL */

/* In order of weight: that of a class is the largest of its checks. */
typedef enum tz_check_outcome {
    TZ_CHECK_OUTCOME_NOT_APPLICABLE = 0,
    TZ_CHECK_OUTCOME_PASS = 1,
    TZ_CHECK_OUTCOME_WARNING = 2,
    TZ_CHECK_OUTCOME_FAIL = 3
} tz_check_outcome;
TZ_API const char *tz_check_outcome_name(tz_check_outcome outcome); /* "pass", ...; never NULL */

/* One check. New ones may come with any version; what an id means stays. */
typedef struct tz_check {
    const char *id; /* "cog.ifd-order" */
    const char
        *group; /* of TZ_CHECK_CLASS_COG: its conformance class, such as "format"; else NULL */
    const char *text; /* what it asks for */
    tz_check_class check_class;
    tz_check_outcome outcome;
    const char *note; /* why it does not apply, or how far it looked; NULL: nothing to say */
    uint64_t count;   /* findings in all */
    const tz_error *findings; /* the first of them, with their places */
    uint32_t finding_count;
} tz_check;

/* Zero in any member means the default. */
typedef struct tz_validate_options {
    size_t struct_size;
    bool strict;   /* see tz_validation.valid */
    bool full;     /* look at every tile, and decode it; else at the first and last of a level */
    uint32_t page; /* of tz_validate: as in tz_open_options */
    const tz_limits *limits; /* the same */
    uint32_t threads;        /* of decoding; 0: as many as there are cores for this process */
    uint64_t max_host_bytes; /* for decoding; 0: 256 MiB, or what one tile takes */
    tz_progress progress;    /* in tiles */
    tz_log log;
} tz_validate_options;
#define TZ_VALIDATE_OPTIONS_INIT TZ_INIT(tz_validate_options)
TZ_API void tz_validate_options_init(tz_validate_options *options, size_t size);

typedef struct tz_validation {
    /* No check of TZ_CHECK_CLASS_TIFF and TZ_CHECK_CLASS_GDAL fails, which is the sense of GDAL's
     * validation and of rio-cogeo. With strict: no check of any class fails or warns. */
    bool valid;
    bool strict;
    bool full;
    bool opened;          /* false: it could not be opened as a TIFF; most checks do not apply */
    uint32_t check_count; /* see tz_validation_get_check */
    uint64_t tiles;       /* of all levels and masks */
    uint64_t tiles_looked_at; /* of these: whose bytes around them were looked at */
    uint64_t tiles_decoded;   /* 0 without full */
} tz_validation;

/* Judge a file. Whatever is wrong with the file is in the report; the call itself fails when the
 * file cannot be read at all (TZ_ERR_IO), changes, or memory runs out. A file NAME.ovr beside it is
 * noticed. options and err may be NULL. */
TZ_API TZ_NODISCARD tz_result tz_validate(tz_validation **out, const char *path,
                                          const tz_validate_options *options, tz_error *err);

/* The same for a file that is open, and the page it shows. Open it without strict, so that its
 * defects are warnings; external overviews are noticed if it was opened with TZ_SIDECAR_OVR. */
TZ_API TZ_NODISCARD tz_result tz_validate_file(tz_validation **out, const tz_file *file,
                                               const tz_validate_options *options, tz_error *err);

/* Returns the outcome of a class. */
TZ_API tz_check_outcome tz_validation_get_class(const tz_validation *validation,
                                                tz_check_class check_class);
/* Returns a check; they are in order of their classes. NULL past the end. */
TZ_API const tz_check *tz_validation_get_check(const tz_validation *validation, uint32_t index);

TZ_API void tz_validation_free(tz_validation *validation); /* NULL is fine */

/* ---------------------------------------------------------------------------------------------
 * Devices
 * ------------------------------------------------------------------------------------------ */

/* Devices that work on pixels: the CPU, and those of drivers that are found at run time. The
 * library links none of them. A device is used where tz_read_options or tz_write_options name it:
 * reads then decode and place whole batches of tiles there, and writes cut and encode them, with
 * the same pixels and, for the same encoder, the same bytes as the CPU. */

typedef enum tz_device_type {
    TZ_DEVICE_TYPE_CPU = 0,
    TZ_DEVICE_TYPE_GPU = 1,
    TZ_DEVICE_TYPE_OTHER = 2 /* an accelerator that is neither */
} tz_device_type;
TZ_API const char *tz_device_type_name(tz_device_type type); /* "cpu", "gpu", "other" */

/* Work that a device can do: bits of tz_device_info.caps. */
#define TZ_DEVICE_CAP_STORE           (1u << 0) /* rows of tiles into a raster */
#define TZ_DEVICE_CAP_PREDICTOR2      (1u << 1) /* undo horizontal differences */
#define TZ_DEVICE_CAP_PREDICTOR3      (1u << 2) /* and those of floating-point numbers */
#define TZ_DEVICE_CAP_CONVERT         (1u << 3) /* samples to another type, with scale, offset, nodata */
#define TZ_DEVICE_CAP_DECODE_DEFLATE  (1u << 4)
#define TZ_DEVICE_CAP_DECODE_LZW      (1u << 5)
#define TZ_DEVICE_CAP_DECODE_LZ4      (1u << 6)
#define TZ_DEVICE_CAP_DECODE_PACKBITS (1u << 7)
#define TZ_DEVICE_CAP_DECODE_ZSTD     (1u << 8)
#define TZ_DEVICE_CAP_EXTRACT         (1u << 9)  /* tiles out of rows, as a file stores them */
#define TZ_DEVICE_CAP_ENCODE_DEFLATE  (1u << 10) /* at TZ_EFFORT_FAST */
#define TZ_DEVICE_CAP_ENCODE_PACKBITS (1u << 11)
#define TZ_DEVICE_CAP_OVERVIEW        (1u << 12) /* overviews */
/* Returns the name of one bit; NULL for a bit that means nothing. */
TZ_API const char *tz_device_cap_name(uint32_t cap);

/* The description of a device. Texts are one line without control characters, and never NULL; a
 * long text is cut. */
typedef struct tz_device_info {
    const char *id;     /* the name for tz_device_open: "cpu", "cuda:0", "opencl:0" */
    const char *driver; /* "cpu", "cuda", "opencl" */
    const char *name;
    const char *vendor;         /* empty: not known */
    const char *platform;       /* of OpenCL; else empty */
    const char *api_version;    /* such as "OpenCL 3.0", "CUDA 13.0, compute capability 7.5" */
    const char *driver_version; /* the vendor's own number; empty: not known */
    tz_device_type type;
    uint32_t caps;       /* TZ_DEVICE_CAP_STORE, ... */
    bool usable;         /* false: reason says why */
    bool fp64;           /* it has double precision */
    bool unified_memory; /* its memory is the host's */
    /* For a device that "auto" chose: why it is not the GPU with most memory, or not a GPU. Empty
       for any other usable device. */
    const char *reason;
    /* In these, 0 means not known. */
    uint64_t memory_bytes;
    uint64_t max_allocation_bytes; /* of one allocation */
    uint64_t alignment;            /* bytes, of the address of an allocation */
    uint64_t local_memory_bytes;   /* that one work-group shares */
    uint32_t max_work_group;       /* threads of one work-group */
    uint32_t compute_units;
    uint32_t clock_mhz; /* of the compute units, at most */
} tz_device_info;

/* Zero in any member means the default. Set struct_size with TZ_DEVICE_OPTIONS_INIT. */
typedef struct tz_device_options {
    size_t struct_size;
    /* Libraries to load, as "nvcomp=/path/libnvcomp.so;cufile=;opencl=libOpenCL.so.1": names with a
       path, or with a name that the loader knows. Nothing after the =: the library is not used. An
       unknown name, and one that is given twice, is TZ_ERR_ARG. NULL names none.
         cuda      the driver of CUDA; by default libcuda.so.1
         opencl    the ICD loader; by default libOpenCL.so.1
         nvcomp    NVIDIA's nvCOMP, which decodes and encodes Deflate, Zstandard and LZ4
         cufile    NVIDIA's cuFile, which reads files into device memory. Where it is used and the
                   environment has no CUFILE_LOGFILE_PATH, that is set: see doc/devices.md for what
                   it means to threads
         nvjpeg2k  NVIDIA's nvJPEG2000
         nvjpeg    NVIDIA's nvJPEG
       The default of the last four is the value of TERRAZZO_NVCOMP_LIBRARY and so on in the
       environment, in the same way; and else the newest release that is known here, where the
       loader looks or in a Python environment. */
    const char *libraries;
    uint64_t max_device_bytes; /* device memory to hold at once; 0: all the device has */
    /* Pinned host memory that the device keeps for later reads and writes, and as much device
       memory that is registered with cuFile; 0: 64 MiB of each, 1: none. Plans and reports do not
       count what is kept. */
    uint64_t max_pinned_bytes;
    /* Device memory that a CUDA device keeps for later reads and writes, of what they took for
       themselves; what is beyond that is given back when none of them is under way. 0: 256 MiB,
       1: none. */
    uint64_t max_pool_bytes;
    void *opencl_context; /* a cl_context of that loader's to open the device in, so that memory of
                             the caller's can be wrapped; NULL: one of its own. It is retained until
                             the device is closed */
    void *cuda_context;   /* a CUcontext of the device to work in, which outlives it here; NULL: its
                             primary context, which the runtime and most libraries use */
    void *cuda_stream;    /* a CUstream of the caller's: see tz_device_get_stream; NULL: none */
    tz_log log;
    tz_progress progress; /* in drivers that were looked for */
} tz_device_options;
#define TZ_DEVICE_OPTIONS_INIT TZ_INIT(tz_device_options)
TZ_API void tz_device_options_init(tz_device_options *options, size_t size);

/* Open a device by its name: "cpu", "cuda:N", "opencl:N", or "auto": of the GPUs that
 * can be opened the one with most memory, by CUDA rather than by OpenCL, and the CPU where none
 * can. "auto" never is an OpenCL device that runs on the CPU. A device that is not there or does
 * not work is TZ_ERR_DEVICE, with the reason. options and err may be NULL. *out is written only on
 * success. A device may be used from any thread; in a child after fork it can only be closed. */
TZ_API TZ_NODISCARD tz_result tz_device_open(tz_device **out, const char *name,
                                             const tz_device_options *options, tz_error *err);
/* NULL is fine. No other thread may be using it, and its memory is gone with it. */
TZ_API void tz_device_close(tz_device *device);
/* Lives as long as the device. */
TZ_API const tz_device_info *tz_device_get_info(const tz_device *device);
/* The cl_context or CUcontext that the device works in, which lives as long as it; NULL: the CPU.
 */
TZ_API void *tz_device_get_context(const tz_device *device);
/* The CUstream on which the caller's work and the device's meet: that of the options, or one of the
 * device's own. Reads, writes and copies wait, on the device, for all that was put into it before
 * they were called, and are done when they return: so a producer of arrays makes its data
 * ready on this stream (the stream of DLPack's __dlpack__), and a consumer of ours need wait for
 * nothing. NULL: the CPU and OpenCL. For a stream of one call see tz_read_options.stream and
 * tz_write_rows_on_stream. */
TZ_API void *tz_device_get_stream(tz_device *device);

/* Memory of a device, for buffers of TZ_MEMORY_KIND_DEVICE; size is not 0. *out is written only on
 * success. */
TZ_API TZ_NODISCARD tz_result tz_device_memory_alloc(tz_device_memory **out, tz_device *device,
                                                     uint64_t size, tz_error *err);
/* The same for memory that exists: handle is OpenCL's cl_mem, a buffer of the context that the
 * device works in, or CUDA's CUdeviceptr as a pointer; size 0: all of it, of CUDA from handle to
 * the end of the piece of memory that it is in. The caller's reference of a cl_mem stays the
 * caller's: the wrapper has one of its own until tz_device_memory_free; memory of CUDA has no
 * references, and must outlive the wrapper. Work of the caller's queues on it must be finished
 * before it is used here, or be on tz_device_get_stream or on the stream of the call that uses
 * it. It counts neither as memory held nor
 * against max_device_bytes. */
TZ_API TZ_NODISCARD tz_result tz_device_wrap(tz_device_memory **out, tz_device *device,
                                             void *handle, uint64_t size, tz_error *err);
/* NULL is fine. Nothing that uses it may be under way. */
TZ_API void tz_device_memory_free(tz_device_memory *memory);
TZ_API uint64_t tz_device_memory_get_size(const tz_device_memory *memory);
TZ_API void *
tz_device_memory_get_handle(const tz_device_memory *memory); /* cl_mem or CUdeviceptr */
TZ_API tz_device *tz_device_memory_get_device(const tz_device_memory *memory);

/* Copy size bytes, and wait until that is done. */
TZ_API TZ_NODISCARD tz_result tz_device_copy_in(tz_device_memory *to, uint64_t offset,
                                                const void *from, uint64_t size, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_device_copy_out(void *to, const tz_device_memory *from,
                                                 uint64_t offset, uint64_t size, tz_error *err);

/* A driver, and what became of it. Texts are never NULL. */
typedef struct tz_driver_info {
    const char *name;    /* "cuda", "opencl" */
    const char *library; /* the library that was looked for, or loaded */
    bool loaded;
    uint32_t device_count;
    const char *reason; /* why there is none of its devices, or not all; empty: all is well */
} tz_driver_info;

/* A library that drivers can do without, and what became of it. Texts are never NULL. */
typedef struct tz_library_info {
    const char *name;    /* "nvCOMP", "cuFile", "nvJPEG2000", "nvJPEG" */
    const char *library; /* the path of the library, or the name that was looked for */
    bool loaded;
    const char *version; /* such as "6.0.0"; empty: not known */
    const char *codecs;  /* the work that is given to it, such as "decodes Deflate"; empty: none */
    const char *reason;  /* why it is not loaded; empty: it is */
} tz_library_info;

/* All devices, drivers and libraries that can be found. Nothing that is missing is an error. A CUDA
 * device is opened, and closed, to learn whether its driver takes the kernels. */
typedef struct tz_device_list tz_device_list;
TZ_API TZ_NODISCARD tz_result tz_device_list_create(tz_device_list **out,
                                                    const tz_device_options *options,
                                                    tz_error *err);
TZ_API void tz_device_list_free(tz_device_list *list); /* NULL is fine */
/* Elements from index 0 on; NULL after the last. They live as long as the list. The CPU is the
 * first device. Libraries are looked for, and listed, only where there is a CUDA device. */
TZ_API const tz_device_info *tz_device_list_get_device(const tz_device_list *list, size_t index);
TZ_API const tz_driver_info *tz_device_list_get_driver(const tz_device_list *list, size_t index);
TZ_API const tz_library_info *tz_device_list_get_library(const tz_device_list *list, size_t index);

/* ---------------------------------------------------------------------------------------------
 * Pictures
 * ------------------------------------------------------------------------------------------ */

/* Pixels as a picture that people look at, of 8 bits a channel: grey or RGB, and alpha if a pixel
 * is transparent. Pixels and masks are in host memory and have the same size. The mask is of dtype
 * uint8, 0 where a pixel is not valid, and has one band or one for each band of pixels; NULL: all
 * are valid. A pixel is transparent if a colour of it is not valid or not a number. */

/* The format of a file with a picture. */
typedef enum tz_image_format {
    TZ_IMAGE_FORMAT_PNG = 0,
    TZ_IMAGE_FORMAT_JPEG = 1, /* without alpha; needs libjpeg */
    TZ_IMAGE_FORMAT_WEBP = 2  /* needs libwebp */
} tz_image_format;
TZ_API const char *tz_image_format_name(tz_image_format format); /* "png", ...; never NULL */
TZ_API bool tz_image_format_from_name(tz_image_format *out, const char *name); /* "jpg", too */

/* The colours of the bands of pixels. A further band after them is alpha. */
typedef enum tz_image_model {
    TZ_IMAGE_MODEL_AUTO = 0, /* grey for 1 or 2 bands, RGB for 3 or 4 */
    TZ_IMAGE_MODEL_GREY = 1,
    TZ_IMAGE_MODEL_INVERTED = 2, /* grey, and 0 is white */
    TZ_IMAGE_MODEL_RGB = 3,
    TZ_IMAGE_MODEL_YCBCR = 4, /* by ITU-R BT.601 over the full range, as in JPEG */
    TZ_IMAGE_MODEL_CMYK = 5   /* without a colour profile */
} tz_image_model;
#define TZ_IMAGE_MAX_COLORS 4
TZ_API const char *tz_image_model_name(tz_image_model model); /* "rgb", ...; never NULL */
TZ_API bool tz_image_model_from_name(tz_image_model *out, const char *name);

/* The values of a band that are black and white; those beyond are clipped. Fixed layout. */
typedef struct tz_image_range {
    double low;
    double high;
} tz_image_range;

typedef struct tz_image_options {
    size_t struct_size;
    tz_image_format format;
    tz_image_model model;
    bool premultiplied; /* colours were multiplied by alpha; ignored if they are stretched */
    bool lossless;      /* WebP */
    uint32_t quality;   /* JPEG, and WebP unless lossless: 1 to 100; 0: 75 */
    int32_t effort;     /* PNG: TZ_EFFORT_FAST; WebP: 1 to 6; 0: the default */
    /* YES: 2 to 98 % of the valid pixels of each band fill the range from black to white. NO:
     * values as they are. AUTO: YES for types other than uint8, and for one band of uint8 without
     * a colour map that uses less than a quarter of its range. */
    tz_choice stretch;
    /* Bits of an unsigned sample, whose greatest value is white without a stretch, and opaque as
     * alpha; 0: 8 for uint8, 16 for uint16, and for other types alpha is 0 to 1. */
    uint32_t bits;
    uint32_t range_count; /* 0: none; else the number of colours */
    /* The range of each band of colour, as tz_image_measure gives them: nothing is measured. */
    const tz_image_range *ranges;
    /* Colours by the sample of a single band, as in tz_info; NULL: none. Ignored if stretch is YES.
     */
    const uint16_t *color_map;
    uint32_t color_map_size;
    /* Red, green and blue under transparent pixels: the picture has no alpha then. NULL: none;
     * pixels that are transparent have alpha 0, and are an error in JPEG. */
    const uint8_t *background;
    tz_progress progress;
} tz_image_options;
#define TZ_IMAGE_OPTIONS_INIT TZ_INIT(tz_image_options)
TZ_API void tz_image_options_init(tz_image_options *options, size_t size);

/* Encodes a picture to memory, which tz_memory_free releases. options and err may be NULL.
 * TZ_ERR_UNSUPPORTED names the library if the build lacks it. */
TZ_API TZ_NODISCARD tz_result tz_image_encode(tz_memory *out, const tz_buffer *pixels,
                                              const tz_buffer *mask,
                                              const tz_image_options *options, tz_error *err);

/* Writes the same bytes to a sink, from offset 0 on and in order. PNG and JPEG take memory for some
 * rows only. The caller then calls sync, commit and close. */
TZ_API TZ_NODISCARD tz_result tz_image_write(tz_sink *sink, const tz_buffer *pixels,
                                             const tz_buffer *mask, const tz_image_options *options,
                                             tz_error *err);

/* Makes the same picture in a buffer of uint8 with 4 bands, RGBA, of the size of pixels. Format,
 * quality and effort do not matter. */
TZ_API TZ_NODISCARD tz_result tz_image_render(const tz_buffer *rgba, const tz_buffer *pixels,
                                              const tz_buffer *mask,
                                              const tz_image_options *options, tz_error *err);

/* Measures the range of each band of colour, exactly by rank, to use it for other pixels: those of
 * an overview for the tiles of its image. ranges has TZ_IMAGE_MAX_COLORS elements. *count is the
 * number of colours, or 0 if options ask for no stretch: set stretch to NO then. Of more than
 * 512 x 512 pixels, every n-th one is measured. */
TZ_API TZ_NODISCARD tz_result tz_image_measure(tz_image_range *ranges, uint32_t *count,
                                               const tz_buffer *pixels, const tz_buffer *mask,
                                               const tz_image_options *options, tz_error *err);

/* Converts a colour map, as in tz_info, to red, green and blue of 8 bits for each of its entries:
 * values up to 255 stay as they are, multiples of 256 are divided by 256, and others by 257. rgb
 * has 3 times size bytes. */
TZ_API void tz_color_map_to_rgb(uint8_t *rgb, const uint16_t *color_map, uint32_t size);

/* Makes the checks of tz_image_write that need no pixels, whose data may be NULL, and estimates the
 * bytes of memory that it takes at most. */
TZ_API TZ_NODISCARD tz_result tz_plan_image(uint64_t *host_bytes, const tz_buffer *pixels,
                                            const tz_image_options *options, tz_error *err);

/* ---------------------------------------------------------------------------------------------
 * Coordinate reference systems, by PROJ
 * ------------------------------------------------------------------------------------------ */

/* A coordinate reference system (CRS) as PROJ understands it. One thread at a time may use a
 * handle; different handles share nothing. PROJ never goes to the network and prints nothing: its
 * reasons are in our errors.
 *
 * Coordinates of all calls are x before y: easting or longitude first, whatever order of axes the
 * definition of the CRS has. Angles are in the unit of the CRS, which is almost always the degree.
 *
 * Without PROJ a CRS is its EPSG codes and nothing else: it can be created from them, compared and
 * written, and all other calls return TZ_ERR_UNSUPPORTED. */

/* Creates a CRS from text: "EPSG:32633", another authority that PROJ knows ("OGC:CRS84",
 * "ESRI:54030"), the codes of a horizontal and a vertical CRS ("EPSG:25832+5783"), a URN or URL of
 * OGC, WKT 1 or 2, PROJJSON, or a PROJ string ("+proj=utm +zone=33"), with or without +type=crs.
 * Names of CRSs, names of files and +init are refused. TZ_ERR_ARG with TZ_CAUSE_GEO quotes PROJ's
 * reason. Without PROJ: EPSG codes only, unchecked, and TZ_ERR_UNSUPPORTED for other text. */
TZ_API TZ_NODISCARD tz_result tz_crs_create(tz_crs **out, const char *definition, tz_error *err);
/* Creates the CRS that the GeoKeys of a file describe. TZ_ERR_UNSUPPORTED if the library was built
 * without PROJ; TZ_ERR_FORMAT with TZ_CAUSE_GEO if the file has no CRS or PROJ does not understand
 * it. */
TZ_API TZ_NODISCARD tz_result tz_crs_from_file(tz_crs **out, const tz_file *file, tz_error *err);
TZ_API void tz_crs_close(tz_crs *crs); /* NULL is fine */
/* Text that lives until tz_crs_close; "" without PROJ. */
TZ_API const char *tz_crs_get_name(const tz_crs *crs);
TZ_API const char *tz_crs_get_wkt(const tz_crs *crs); /* WKT2:2019, several lines */
/* Codes of EPSG that PROJ knows it by; 0: none. A compound CRS may have a code as a whole, and its
 * parts have their own; of any other CRS the horizontal code is that of the whole. */
TZ_API int tz_crs_get_epsg(const tz_crs *crs);
TZ_API int tz_crs_get_epsg_horizontal(const tz_crs *crs);
TZ_API int tz_crs_get_epsg_vertical(const tz_crs *crs);
/* True if x and y are longitude and latitude. Without PROJ: false also for codes that are not among
 * the common ones. */
TZ_API bool tz_crs_is_geographic(const tz_crs *crs);
/* True if coordinates, x first, mean the same place in both: names and the order of axes do not
 * matter. Without PROJ: true if the codes are the same. */
TZ_API bool tz_crs_is_same(const tz_crs *a, const tz_crs *b);

typedef enum tz_crs_format {
    TZ_CRS_FORMAT_WKT2 = 0,      /* WKT2:2019, several lines */
    TZ_CRS_FORMAT_WKT1_GDAL = 1, /* several lines */
    TZ_CRS_FORMAT_WKT1_ESRI = 2,
    TZ_CRS_FORMAT_PROJJSON = 3,
    TZ_CRS_FORMAT_PROJ_STRING = 4 /* most loses something: for people and old programs */
} tz_crs_format;
TZ_API const char *tz_crs_format_name(tz_crs_format format); /* "wkt2", ...; never NULL */
/* Also those of gdalsrsinfo: "wkt2_2019", "wkt1", "wkt_esri", "proj4". */
TZ_API bool tz_crs_format_from_name(tz_crs_format *out, const char *name);
/* Gets the CRS as text, which lives until tz_crs_close. TZ_ERR_UNSUPPORTED if the format cannot
 * express it. */
TZ_API TZ_NODISCARD tz_result tz_crs_export(const char **out, const tz_crs *crs,
                                            tz_crs_format format, tz_error *err);

/* Makes GeoKeys of a CRS, for tz_image_spec.geo: codes where EPSG has them, else the parameters of
 * datum, ellipsoid, prime meridian, unit and projection, else for a projected CRS the text of
 * ArcGIS; and its name as citation. Keys without a code are read back before they are returned: a
 * CRS that would not come back as the same is TZ_ERR_UNSUPPORTED, and the message says which part
 * GeoTIFF cannot express. Parameters to WGS 84 (TOWGS84) are written, but not beside a code.
 * raster_type becomes a key as well; TZ_RASTER_TYPE_UNDEFINED stands for area.
 *
 * The result is plain data: set transform by tz_geo_set_transform, or gcps, gcp_count and rpc to
 * arrays of your own. Its codes and types follow from the keys: to change them make another. */
TZ_API TZ_NODISCARD tz_result tz_crs_to_geo(tz_geo **out, const tz_crs *crs,
                                            tz_raster_type raster_type, tz_error *err);
/* Sets has_transform and transform. Control points of *geo are dropped. */
TZ_API void tz_geo_set_transform(tz_geo *geo, const double transform[6]);
/* Frees the result of tz_crs_to_geo; NULL is fine. Writers copy what they need of it. */
TZ_API void tz_geo_free(tz_geo *geo);

/* Longitude and latitude, in degrees on WGS 84, of a point in the CRS. */
TZ_API TZ_NODISCARD tz_result tz_crs_to_lonlat(double *lon, double *lat, const tz_crs *crs,
                                               double x, double y, tz_error *err);

/* A transform of points from one CRS to another. Creating it costs milliseconds, applying it less
 * than a microsecond for each point. One thread at a time; it does not need the two handles any
 * more. Heights are taken as 0 and of a compound CRS only the horizontal part counts; a geocentric
 * CRS is TZ_ERR_UNSUPPORTED. Where PROJ lacks a grid it takes the best transform that it has. */
typedef struct tz_transformer tz_transformer;
TZ_API TZ_NODISCARD tz_result tz_transformer_create(tz_transformer **out, const tz_crs *from,
                                                    const tz_crs *to, tz_error *err);
TZ_API void tz_transformer_close(tz_transformer *transformer); /* NULL is fine */
/* Transforms count points in place. A point that has no counterpart becomes NaN, NaN. With failed
 * such points are counted there and are not an error; with NULL the first of them is TZ_ERR_ARG
 * with TZ_CAUSE_GEO, after all points were transformed. */
TZ_API TZ_NODISCARD tz_result tz_transformer_apply(size_t *failed,
                                                   const tz_transformer *transformer, double *x,
                                                   double *y, size_t count, tz_error *err);

/* Bounds are the least x, the least y, the greatest x and the greatest y. */

/* Transforms bounds: *out encloses them in the other CRS. densify_points more points of each edge
 * are transformed, because straight edges become curves; 0: 21. A pole within the bounds is
 * enclosed. Bounds in degrees that cross the antimeridian have a least x above the greatest one, in
 * bounds and in out. TZ_ERR_ARG with TZ_CAUSE_GEO if they have no counterpart. */
TZ_API TZ_NODISCARD tz_result tz_bounds_transform(double out[4], const double bounds[4],
                                                  const tz_crs *from, const tz_crs *to,
                                                  uint32_t densify_points, tz_error *err);

/* Finds the window of a level that covers bounds, outward to whole pixels; a corner within a
 * thousandth of a pixel of an edge lies on it. crs is that of the bounds; NULL: that of the file.
 * TZ_LEVEL_AUTO: pixels of level 0. The window is clipped to the image, and *clipped (may be NULL)
 * says if that was needed; with boundless it is not clipped, and *clipped is false.
 *
 * TZ_ERR_ARG with TZ_CAUSE_GEO: the file has no transform, or the bounds have no counterpart in its
 * CRS. TZ_ERR_UNSUPPORTED: the image is rotated or sheared, or the bounds are in two parts of it,
 * on both sides of the antimeridian. TZ_ERR_ARG with TZ_CAUSE_ARG: the bounds do not meet the
 * image; the message shows both. */
TZ_API TZ_NODISCARD tz_result tz_window_from_bounds(tz_window *out, bool *clipped,
                                                    const tz_file *file, uint32_t level,
                                                    const double bounds[4], const tz_crs *crs,
                                                    bool boundless, tz_error *err);

#ifdef __cplusplus
}
#endif

#endif
