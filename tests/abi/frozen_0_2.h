/* SPDX-License-Identifier: Apache-2.0
 * The public headers of terrazzo 0.2, made by tools/freeze_abi.py: not to be edited. */
/* clang-format off */
#ifndef TESTS_ABI_FROZEN_0_2_H
#define TESTS_ABI_FROZEN_0_2_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
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
TZ_API const char *tz_version(void);
TZ_API const char *tz_build_feature(const char *name);
typedef enum tz_result {
    TZ_OK = 0,
    TZ_ERR_ARG = 1,
    TZ_ERR_NOMEM = 2,
    TZ_ERR_IO = 3,
    TZ_ERR_FORMAT = 4,
    TZ_ERR_UNSUPPORTED = 5,
    TZ_ERR_LIMIT = 6,
    TZ_ERR_DEVICE = 7,
    TZ_ERR_CHANGED = 8,
    TZ_ERR_CANCELLED = 9,
    TZ_ERR_INTERNAL = 10
} tz_result;
typedef enum tz_cause {
    TZ_CAUSE_NONE = 0,
    TZ_CAUSE_ARG = 1,
    TZ_CAUSE_NOT_TIFF = 2,
    TZ_CAUSE_HEADER = 3,
    TZ_CAUSE_IFD = 4,
    TZ_CAUSE_TAG = 5,
    TZ_CAUSE_LIMIT = 6,
    TZ_CAUSE_LAYOUT = 7,
    TZ_CAUSE_TRUNCATED = 8,
    TZ_CAUSE_CODEC = 9,
    TZ_CAUSE_UNSUPPORTED = 10,
    TZ_CAUSE_GEO = 11,
    TZ_CAUSE_META = 12,
    TZ_CAUSE_IO = 13,
    TZ_CAUSE_REMOTE = 14,
    TZ_CAUSE_UNSAFE = 15,
    TZ_CAUSE_CHANGED = 16,
    TZ_CAUSE_NOMEM = 17,
    TZ_CAUSE_DEVICE = 18,
    TZ_CAUSE_BUSY = 19,
    TZ_CAUSE_CANCELLED = 20,
    TZ_CAUSE_INTERNAL = 21
} tz_cause;
#define TZ_NO_VALUE UINT64_MAX
typedef struct tz_error {
    tz_result result;
    tz_cause cause;
    int32_t ifd;
    int32_t tag;
    int32_t level;
    int32_t system_error;
    int64_t tile;
    uint64_t offset;
    uint64_t expected;
    uint64_t found;
    uint64_t count;
    const char *limit;
    uint8_t mask;
    uint8_t reserved[63];
    char message[512];
} tz_error;
TZ_API const char *tz_result_name(tz_result result);
TZ_API const char *tz_cause_name(tz_cause cause);
typedef struct tz_progress {
    bool (*call)(void *user, uint64_t done, uint64_t total);
    void *user;
} tz_progress;
typedef enum tz_log_level {
    TZ_LOG_LEVEL_DEBUG = 0,
    TZ_LOG_LEVEL_INFO = 1,
    TZ_LOG_LEVEL_WARNING = 2
} tz_log_level;
TZ_API const char *tz_log_level_name(tz_log_level level);
typedef struct tz_log {
    void (*call)(void *user, tz_log_level level, const char *text);
    void *user;
} tz_log;
typedef struct tz_range {
    uint64_t offset;
    size_t size;
    void *dst;
} tz_range;
typedef struct tz_request {
    const tz_range *ranges;
    size_t count;
    void *state;
} tz_request;
typedef struct tz_source tz_source;
struct tz_source {
    size_t struct_size;
    uint64_t size;
    bool caller_thread;
    TZ_NODISCARD tz_result (*submit)(tz_source *source, tz_request *request, tz_error *err);
    TZ_NODISCARD tz_result (*wait)(tz_source *source, tz_request *request, tz_error *err);
    TZ_NODISCARD tz_result (*check)(tz_source *source, tz_error *err);
    void (*close)(tz_source *source);
    uint32_t max_requests;
    uint64_t merge_gap;
    uint64_t merge_span;
    uint64_t first_read_bytes;
    const char *(*identity)(tz_source *source);
    void (*prefetch)(tz_source *source, const tz_range *ranges, size_t count);
    TZ_NODISCARD tz_result (*next)(tz_source *source, tz_request *request, size_t *range,
                                   tz_error *err);
};
#define TZ_SOURCE_INIT TZ_INIT(tz_source)
TZ_API void tz_source_init(tz_source *source, size_t size);
TZ_API tz_result tz_error_set(tz_error *err, tz_result result, tz_cause cause, uint64_t offset,
                              const char *message);
#define TZ_UNLIMITED UINT64_MAX
typedef struct tz_limits {
    size_t struct_size;
    uint64_t max_ifds;
    uint64_t max_ifd_entries;
    uint64_t max_subifd_depth;
    uint64_t max_levels;
    uint64_t max_tag_bytes;
    uint64_t max_tile_bytes;
    uint64_t max_image_bytes;
    uint64_t max_handle_bytes;
    uint64_t max_jpeg_scans;
    uint64_t max_codec_bytes;
    uint64_t max_xml_bytes;
    uint64_t max_xml_depth;
    uint64_t max_metadata_items;
    uint64_t max_geo_keys;
} tz_limits;
#define TZ_LIMITS_INIT TZ_INIT(tz_limits)
TZ_API void tz_limits_init(tz_limits *limits, size_t size);
typedef struct tz_limit_info {
    const char *name;
    const char *text;
    uint64_t default_value;
    size_t member_offset;
} tz_limit_info;
TZ_API size_t tz_limit_count(void);
TZ_API const tz_limit_info *tz_limit_get(size_t index);
typedef struct tz_file tz_file;
#define TZ_SIDECAR_OVR 1u
#define TZ_SIDECAR_MSK 2u
#define TZ_SIDECAR_AUX 4u
#define TZ_SIDECAR_WORLD 8u
TZ_API bool tz_sidecar_get_path(char *out, size_t size, const char *path, uint32_t sidecar);
#define TZ_SIDECAR_VALUE_TRANSFORM 1u
#define TZ_SIDECAR_VALUE_CRS       2u
#define TZ_SIDECAR_VALUE_GCPS      4u
#define TZ_SIDECAR_VALUE_NODATA    8u
#define TZ_SIDECAR_VALUE_METADATA  16u
#define TZ_SIDECAR_VALUE_BANDS     32u
#define TZ_SIDECAR_VALUE_OVERVIEWS 64u
#define TZ_SIDECAR_VALUE_MASKS     128u
typedef struct tz_sidecar_use {
    uint32_t sidecar;
    uint32_t values;
    const char *path;
} tz_sidecar_use;
TZ_API const char *tz_sidecar_value_name(uint32_t value);
typedef struct tz_open_options {
    size_t struct_size;
    uint32_t page;
    uint32_t sidecars;
    bool strict;
    bool require_crs;
    const tz_limits *limits;
    tz_progress progress;
    tz_log log;
} tz_open_options;
#define TZ_OPEN_OPTIONS_INIT TZ_INIT(tz_open_options)
TZ_API void tz_open_options_init(tz_open_options *options, size_t size);
TZ_API TZ_NODISCARD tz_result tz_open(tz_file **out, const char *path,
                                      const tz_open_options *options, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_open_memory(tz_file **out, const void *data, size_t size,
                                             const tz_open_options *options, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_open_source(tz_file **out, tz_source *source, const char *name,
                                             const tz_open_options *options, tz_error *err);
TZ_API void tz_close(tz_file *file);
typedef enum tz_dtype {
    TZ_DTYPE_NONE = 0,
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
    TZ_DTYPE_COMPLEX_INT16 = 12,
    TZ_DTYPE_COMPLEX_INT32 = 13,
    TZ_DTYPE_COMPLEX_FLOAT16 = 14,
    TZ_DTYPE_COMPLEX_FLOAT32 = 15,
    TZ_DTYPE_COMPLEX_FLOAT64 = 16
} tz_dtype;
TZ_API const char *tz_dtype_name(tz_dtype dtype);
TZ_API size_t tz_dtype_size(tz_dtype dtype);
typedef struct tz_level {
    uint32_t width;
    uint32_t height;
    uint32_t tile_width;
    uint32_t tile_height;
    uint32_t tiles_across;
    uint32_t tiles_down;
    uint64_t tile_count;
    uint64_t ifd_offset;
    uint64_t jpeg_tables_size;
    int32_t ifd;
    int32_t tag_count;
    uint16_t compression;
    uint16_t predictor;
    uint16_t bits_per_sample;
    uint16_t samples;
    uint16_t photometric;
    uint16_t lerc_version;
    uint16_t lerc_compression;
    uint8_t sidecar;
    bool tiled;
    bool has_mask;
    bool readable;
} tz_level;
typedef struct tz_page {
    uint64_t ifd_offset;
    uint32_t width;
    uint32_t height;
    int32_t ifd;
    uint16_t bands;
    uint16_t bits_per_sample;
} tz_page;
typedef enum tz_planar {
    TZ_PLANAR_CONTIG = 1,
    TZ_PLANAR_SEPARATE = 2
} tz_planar;
typedef enum tz_sample_format {
    TZ_SAMPLE_FORMAT_UINT = 1,
    TZ_SAMPLE_FORMAT_INT = 2,
    TZ_SAMPLE_FORMAT_FLOAT = 3,
    TZ_SAMPLE_FORMAT_VOID = 4,
    TZ_SAMPLE_FORMAT_COMPLEX_INT = 5,
    TZ_SAMPLE_FORMAT_COMPLEX_FLOAT = 6
} tz_sample_format;
typedef enum tz_extra_sample {
    TZ_EXTRA_SAMPLE_UNSPECIFIED = 0,
    TZ_EXTRA_SAMPLE_PREMULTIPLIED = 1,
    TZ_EXTRA_SAMPLE_ALPHA = 2
} tz_extra_sample;
typedef enum tz_nodata_kind {
    TZ_NODATA_KIND_NONE = 0,
    TZ_NODATA_KIND_INT = 1,
    TZ_NODATA_KIND_UINT = 2,
    TZ_NODATA_KIND_FLOAT = 3
} tz_nodata_kind;
typedef struct tz_nodata {
    tz_nodata_kind kind;
    union {
        int64_t i;
        uint64_t u;
        double f;
    } value;
} tz_nodata;
typedef struct tz_geo_key {
    uint16_t id;
    uint16_t type;
    uint32_t count;
    union {
        const uint16_t *shorts;
        const double *doubles;
        const char *text;
    } value;
} tz_geo_key;
typedef struct tz_gcp {
    double column, row, depth;
    double x, y, z;
} tz_gcp;
typedef enum tz_raster_type {
    TZ_RASTER_TYPE_UNDEFINED = 0,
    TZ_RASTER_TYPE_AREA = 1,
    TZ_RASTER_TYPE_POINT = 2
} tz_raster_type;
typedef struct tz_geo {
    size_t struct_size;
    bool has_transform;
    double transform[6];
    tz_raster_type raster_type;
    const tz_gcp *gcps;
    uint32_t gcp_count;
    const tz_geo_key *keys;
    uint32_t key_count;
    uint16_t key_revision;
    uint16_t key_minor;
    uint16_t model_type;
    uint16_t epsg;
    uint16_t epsg_vertical;
    bool has_crs;
    const char *citation;
    double coordinate_epoch;
    const double *rpc;
} tz_geo;
#define TZ_GEO_INIT TZ_INIT(tz_geo)
TZ_API void tz_geo_init(tz_geo *geo, size_t size);
typedef struct tz_ghost {
    bool present;
    bool ifds_before_data;
    bool row_major;
    bool leaders;
    bool trailers;
    bool mask_interleaved;
    bool edited;
    uint8_t interleave;
    uint32_t size;
} tz_ghost;
typedef struct tz_info {
    const char *name;
    uint64_t file_size;
    bool bigtiff;
    bool big_endian;
    bool chain_complete;
    uint32_t ifd_count;
    uint64_t directory_end;
    uint64_t bytes_read;
    uint32_t reads;
    uint32_t page_count;
    uint32_t page;
    uint32_t width;
    uint32_t height;
    uint32_t bands;
    tz_dtype dtype;
    uint16_t bits_per_sample;
    uint16_t sample_format;
    uint16_t photometric;
    uint16_t planar;
    uint16_t orientation;
    uint16_t fill_order;
    uint16_t ycbcr_subsampling[2];
    const uint16_t *extra_samples;
    uint32_t extra_sample_count;
    const uint16_t *color_map;
    uint32_t color_map_size;
    uint32_t level_count;
    uint64_t exif_ifd;
    uint64_t gps_ifd;
    tz_nodata nodata;
    const char *nodata_text;
    const tz_geo *geo;
    const tz_ghost *ghost;
    uint32_t metadata_count;
    uint32_t warning_count;
    uint64_t warnings_dropped;
    uint32_t sidecar_count;
} tz_info;
TZ_API const tz_info *tz_file_get_info(const tz_file *file);
TZ_API const tz_level *tz_file_get_level(const tz_file *file, uint32_t level);
TZ_API const tz_level *tz_file_get_mask(const tz_file *file, uint32_t level);
TZ_API const tz_page *tz_file_get_page(const tz_file *file, uint32_t page);
TZ_API const tz_error *tz_file_get_warning(const tz_file *file, uint32_t index);
TZ_API const tz_sidecar_use *tz_file_get_sidecar(const tz_file *file, uint32_t index);
TZ_API bool tz_level_get_transform(double transform[6], const tz_file *file, uint32_t level);
TZ_API bool tz_level_get_bounds(double bounds[4], const tz_file *file, uint32_t level);
TZ_API void tz_pixel_to_coordinate(double *x, double *y, const double transform[6], double column,
                                   double row);
TZ_API bool tz_coordinate_to_pixel(double *column, double *row, const double transform[6], double x,
                                   double y);
typedef struct tz_metadata_item {
    size_t struct_size;
    const char *domain;
    const char *name;
    const char *value;
    const char *role;
    int32_t band;
} tz_metadata_item;
#define TZ_METADATA_ITEM_INIT TZ_INIT(tz_metadata_item)
TZ_API void tz_metadata_item_init(tz_metadata_item *item, size_t size);
TZ_API const tz_metadata_item *tz_file_get_metadata(const tz_file *file, uint32_t index);
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
    const char *description;
    const char *unit;
    double scale;
    double offset;
    bool has_scale;
    bool has_offset;
    tz_color color;
    const char *color_text;
} tz_band;
TZ_API const tz_band *tz_file_get_band(const tz_file *file, uint32_t band);
TZ_API const char *tz_color_name(tz_color color);
typedef struct tz_tag {
    size_t struct_size;
    uint16_t tag;
    uint16_t type;
    uint64_t count;
    uint64_t size;
    uint64_t offset;
} tz_tag;
#define TZ_TAG_INIT TZ_INIT(tz_tag)
TZ_API void tz_tag_init(tz_tag *tag, size_t size);
TZ_API TZ_NODISCARD tz_result tz_file_get_tag(tz_tag *out, const tz_file *file, uint64_t ifd_offset,
                                              uint32_t index, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_tag_read(void *dst, size_t size, const tz_file *file,
                                          const tz_tag *tag, tz_error *err);
TZ_API const char *tz_tag_name(uint16_t tag);
TZ_API const char *tz_geo_key_name(uint16_t id);
TZ_API const char *tz_tag_type_name(uint16_t type);
TZ_API const char *tz_compression_name(uint16_t compression);
TZ_API const char *tz_photometric_name(uint16_t photometric);
TZ_API const char *tz_tag_gdal_name(uint16_t tag);
typedef struct tz_tile_span {
    uint64_t offset;
    uint64_t size;
} tz_tile_span;
TZ_API TZ_NODISCARD tz_result tz_file_get_tile_spans(tz_tile_span *out, const tz_file *file,
                                                     uint32_t level, bool mask, uint64_t first,
                                                     size_t count, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_file_locate_tile(tz_tile_span *out, const tz_file *file,
                                                  uint32_t level, bool mask, uint64_t tile,
                                                  tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_level_stored_size(uint64_t *bytes, uint64_t *sparse_tiles,
                                                   const tz_file *file, uint32_t level, bool mask,
                                                   const tz_progress *progress, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_level_check_end(const tz_file *file, uint32_t level, bool mask,
                                                 tz_error *err);
typedef struct tz_window {
    int64_t column;
    int64_t row;
    uint32_t width;
    uint32_t height;
} tz_window;
typedef struct tz_device tz_device;
typedef struct tz_device_memory tz_device_memory;
typedef enum tz_memory_kind {
    TZ_MEMORY_KIND_HOST = 0,
    TZ_MEMORY_KIND_CUDA = 1,
    TZ_MEMORY_KIND_OPENCL = 2,
    TZ_MEMORY_KIND_DEVICE = 3
} tz_memory_kind;
typedef struct tz_buffer {
    size_t struct_size;
    void *data;
    uint64_t offset;
    tz_memory_kind memory;
    tz_dtype dtype;
    uint32_t bands;
    uint32_t height;
    uint32_t width;
    int64_t band_stride;
    int64_t row_stride;
    int64_t column_stride;
} tz_buffer;
#define TZ_BUFFER_INIT TZ_INIT(tz_buffer)
TZ_API void tz_buffer_init(tz_buffer *buffer, size_t size);
#define TZ_LEVEL_AUTO 0x7fffffffu
typedef enum tz_resampling {
    TZ_RESAMPLING_NONE = 0,
    TZ_RESAMPLING_NEAREST = 1,
    TZ_RESAMPLING_AVERAGE = 2,
    TZ_RESAMPLING_BILINEAR = 3,
    TZ_RESAMPLING_CUBIC = 4,
    TZ_RESAMPLING_LANCZOS = 5,
    TZ_RESAMPLING_GAUSS = 6,
    TZ_RESAMPLING_RMS = 7,
    TZ_RESAMPLING_MODE = 8,
    TZ_RESAMPLING_MIN = 9,
    TZ_RESAMPLING_MAX = 10,
    TZ_RESAMPLING_MEDIAN = 11
} tz_resampling;
TZ_API const char *tz_resampling_name(tz_resampling method);
typedef struct tz_item {
    size_t struct_size;
    const tz_file *file;
    uint32_t level;
    bool mask;
    tz_window window;
    const uint32_t *bands;
    uint32_t band_count;
    const tz_buffer *into;
    const tz_buffer *into_mask;
    uint32_t grid_width;
    uint32_t grid_height;
    uint32_t grid_column;
    uint32_t grid_row;
    const double *scales;
    const double *offsets;
} tz_item;
#define TZ_ITEM_INIT TZ_INIT(tz_item)
TZ_API void tz_item_init(tz_item *item, size_t size);
typedef struct tz_read_options {
    size_t struct_size;
    bool scaled;
    bool nodata_to_nan;
    bool boundless;
    bool oriented;
    bool salvage;
    double fill;
    uint32_t threads;
    uint64_t max_host_bytes;
    tz_progress progress;
    tz_resampling resampling;
    tz_device *device;
    bool strict_device;
    uint64_t max_device_bytes;
    bool allow_vendor_codecs;
    bool allow_inexact;
    bool reduced_tiles;
    bool has_fill;
    bool has_stream;
    void *stream;
    tz_log log;
    tz_nodata nodata_as;
} tz_read_options;
#define TZ_READ_OPTIONS_INIT TZ_INIT(tz_read_options)
TZ_API void tz_read_options_init(tz_read_options *options, size_t size);
typedef struct tz_device_use {
    char id[32];
    char reason[160];
    uint64_t memory;
    uint64_t peak;
    uint64_t waves;
    uint64_t tiles;
    uint64_t tiles_on_cpu;
    uint64_t tiles_redone;
    uint64_t uploads;
    uint64_t upload_bytes;
    uint64_t downloads;
    uint64_t download_bytes;
    uint64_t launches;
    uint64_t syncs;
    uint64_t library_calls;
    char library[32];
    char library_reason[160];
    uint64_t direct_reads;
    uint64_t direct_bytes;
    uint64_t bounced_bytes;
    char direct_reason[160];
} tz_device_use;
typedef struct tz_read_report {
    uint64_t tiles;
    uint64_t tiles_sparse;
    uint64_t tiles_shared;
    uint64_t largest_tile;
    uint64_t peak_host_bytes;
    uint32_t threads;
    uint32_t waves;
    uint64_t requests;
    uint64_t bytes_read;
    uint64_t bytes_compressed;
    uint64_t tiles_copied;
    uint64_t tiles_direct;
    uint64_t tiles_decoded;
    uint64_t tiles_failed;
    uint64_t tiles_reduced;
    uint64_t bytes_decoded;
    const tz_device_use *device;
    uint64_t item_count;
    uint32_t warning_count;
    uint64_t warnings_dropped;
} tz_read_report;
typedef struct tz_item_report {
    uint32_t level;
    bool mask;
    bool resampled;
    tz_window window;
    uint32_t reduction;
    uint64_t tile_count;
    uint64_t tiles_failed;
} tz_item_report;
typedef struct tz_tile_status {
    uint64_t tile;
    uint32_t level;
    bool mask;
    tz_result result;
    tz_cause cause;
} tz_tile_status;
TZ_API void tz_read_report_free(tz_read_report *report);
TZ_API const tz_error *tz_read_report_get_warning(const tz_read_report *report, uint32_t index);
TZ_API const tz_item_report *tz_read_report_get_item(const tz_read_report *report, uint64_t index);
TZ_API const tz_tile_status *tz_read_report_get_tile(const tz_read_report *report, uint64_t item,
                                                     uint64_t index);
TZ_API TZ_NODISCARD tz_result tz_read_report_add(tz_read_report **sum, const tz_read_report *more,
                                                 tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_read_batch(const tz_item *items, size_t count,
                                            const tz_read_options *how, tz_read_report **report,
                                            tz_error *err);
typedef struct tz_read_shape {
    size_t struct_size;
    uint32_t level;
    bool resampled;
    tz_window window;
    tz_dtype dtype;
    uint32_t bands;
    uint32_t height;
    uint32_t width;
    bool has_transform;
    double transform[6];
} tz_read_shape;
#define TZ_READ_SHAPE_INIT TZ_INIT(tz_read_shape)
TZ_API void tz_read_shape_init(tz_read_shape *shape, size_t size);
TZ_API TZ_NODISCARD tz_result tz_read_resolve(tz_read_shape *out, const tz_item *item,
                                              const tz_read_options *how, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_read(const tz_item *item, const tz_read_options *how,
                                      tz_read_report **report, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_plan_read(tz_read_report **report, const tz_item *items,
                                           size_t count, const tz_read_options *how, tz_error *err);
typedef enum tz_compression {
    TZ_COMPRESSION_DEFAULT = 0,
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
typedef enum tz_photometric {
    TZ_PHOTOMETRIC_AUTO = 0,
    TZ_PHOTOMETRIC_MIN_IS_BLACK = 1,
    TZ_PHOTOMETRIC_RGB = 2,
    TZ_PHOTOMETRIC_PALETTE = 3,
    TZ_PHOTOMETRIC_MASK = 4,
    TZ_PHOTOMETRIC_CMYK = 5,
    TZ_PHOTOMETRIC_YCBCR = 6,
    TZ_PHOTOMETRIC_CIELAB = 8,
    TZ_PHOTOMETRIC_ICCLAB = 9,
    TZ_PHOTOMETRIC_ITULAB = 10,
    TZ_PHOTOMETRIC_MIN_IS_WHITE = 0x10000
} tz_photometric;
typedef struct tz_tag_value {
    size_t struct_size;
    uint16_t tag;
    uint16_t type;
    uint64_t count;
    const void *data;
} tz_tag_value;
#define TZ_TAG_VALUE_INIT TZ_INIT(tz_tag_value)
TZ_API void tz_tag_value_init(tz_tag_value *value, size_t size);
typedef struct tz_image_spec {
    size_t struct_size;
    uint32_t width;
    uint32_t height;
    uint32_t bands;
    tz_dtype dtype;
    uint16_t bits_per_sample;
    uint16_t orientation;
    tz_photometric photometric;
    const uint16_t *extra_samples;
    uint32_t extra_sample_count;
    const uint16_t *color_map;
    uint32_t color_map_size;
    bool mask;
    tz_nodata nodata;
    const char *nodata_text;
    const tz_geo *geo;
    const tz_metadata_item *metadata;
    uint32_t metadata_count;
    const tz_tag_value *tags;
    uint32_t tag_count;
} tz_image_spec;
#define TZ_IMAGE_SPEC_INIT TZ_INIT(tz_image_spec)
TZ_API void tz_image_spec_init(tz_image_spec *spec, size_t size);
TZ_API TZ_NODISCARD tz_result tz_image_spec_from_file(tz_image_spec **out, const tz_file *file,
                                                      tz_error *err);
TZ_API void tz_image_spec_free(tz_image_spec *spec);
TZ_API TZ_NODISCARD tz_result tz_image_spec_create(tz_image_spec **out, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_image_spec_set_grid(tz_image_spec *spec, const tz_window *window,
                                                     uint32_t width, uint32_t height,
                                                     tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_image_spec_select_bands(tz_image_spec *spec, const uint32_t *bands,
                                                         uint32_t count, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_image_spec_set_dtype(tz_image_spec *spec, tz_dtype dtype,
                                                      tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_image_spec_set_nodata(tz_image_spec *spec, const char *text,
                                                       tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_image_spec_set_metadata(tz_image_spec *spec,
                                                         const tz_metadata_item *item,
                                                         tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_image_spec_drop_statistics(tz_image_spec *spec, tz_error *err);
typedef struct tz_crs tz_crs;
TZ_API TZ_NODISCARD tz_result tz_image_spec_set_crs(tz_image_spec *spec, const tz_crs *crs,
                                                    tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_image_spec_set_transform(tz_image_spec *spec,
                                                          const double transform[6], tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_image_spec_set_gcps(tz_image_spec *spec, const tz_gcp *gcps,
                                                     uint32_t count, tz_error *err);
typedef enum tz_choice { TZ_CHOICE_AUTO = 0, TZ_CHOICE_YES = 1, TZ_CHOICE_NO = 2 } tz_choice;
typedef enum tz_interleave {
    TZ_INTERLEAVE_PIXEL = 0,
    TZ_INTERLEAVE_BAND = 1,
    TZ_INTERLEAVE_TILE = 2
} tz_interleave;
typedef enum tz_bigtiff {
    TZ_BIGTIFF_IF_NEEDED = 0,
    TZ_BIGTIFF_YES = 1,
    TZ_BIGTIFF_NO = 2,
    TZ_BIGTIFF_IF_SAFER = 3
} tz_bigtiff;
typedef enum tz_jpeg_tables {
    TZ_JPEG_TABLES_DEFAULT = 0,
    TZ_JPEG_TABLES_QUANT = 1,
    TZ_JPEG_TABLES_HUFFMAN = 2,
    TZ_JPEG_TABLES_BOTH = 3,
    TZ_JPEG_TABLES_NONE = 4
} tz_jpeg_tables;
typedef enum tz_verify {
    TZ_VERIFY_SAMPLE = 0,
    TZ_VERIFY_ALL = 1,
    TZ_VERIFY_NONE = 2
} tz_verify;
typedef struct tz_statistics {
    size_t struct_size;
    uint64_t valid_count;
    double minimum;
    double maximum;
    double mean;
    double stddev;
} tz_statistics;
#define TZ_STATISTICS_INIT TZ_INIT(tz_statistics)
TZ_API void tz_statistics_init(tz_statistics *statistics, size_t size);
#define TZ_EFFORT_FAST                                                                             \
    (-1)
typedef struct tz_codec_options {
    tz_compression compression;
    int32_t effort;
    uint32_t quality;
    tz_choice lossless;
    uint16_t predictor;
    uint16_t lerc_compression;
    tz_jpeg_tables jpeg_tables;
    double max_error;
    double distance;
    double alpha_distance;
    uint8_t jpeg_subsampling[2];
    uint8_t reserved[78];
} tz_codec_options;
typedef struct tz_write_options {
    size_t struct_size;
    bool strips;
    bool big_endian;
    bool sparse;
    uint32_t tile_width;
    uint32_t tile_height;
    uint32_t alignment;
    tz_interleave interleave;
    tz_bigtiff bigtiff;
    tz_codec_options codec;
    tz_codec_options overview_codec;
    tz_codec_options mask_codec;
    const uint8_t *discard_bits;
    uint32_t discard_count;
    bool cog;
    int32_t overview_count;
    tz_resampling overview_resampling;
    const char *spool_directory;
    bool nan_to_nodata;
    bool statistics_items;
    bool statistics;
    uint32_t threads;
    uint64_t max_host_bytes;
    tz_device *device;
    bool strict_device;
    uint64_t max_device_bytes;
    bool allow_vendor_codecs;
    bool allow_inexact;
    const tz_limits *limits;
    bool exclusive;
    bool no_sync;
    tz_verify verify;
    tz_progress progress;
    tz_log log;
} tz_write_options;
#define TZ_WRITE_OPTIONS_INIT TZ_INIT(tz_write_options)
TZ_API void tz_write_options_init(tz_write_options *options, size_t size);
typedef struct tz_write_report {
    uint64_t file_size;
    uint64_t tiles;
    uint64_t tiles_sparse;
    uint64_t bytes_pixels;
    uint64_t bytes_tiles;
    uint64_t max_host_bytes;
    uint64_t peak_host_bytes;
    uint64_t tile_rows;
    uint64_t writes;
    uint64_t tiles_verified;
    uint64_t spool_bytes;
    uint32_t levels;
    uint32_t rows_per_tile_row;
    uint32_t threads;
    uint32_t warning_count;
    uint64_t warnings_dropped;
    const tz_device_use *device;
    bool bigtiff;
} tz_write_report;
TZ_API const tz_error *tz_write_report_get_warning(const tz_write_report *report, uint32_t index);
TZ_API const tz_statistics *tz_write_report_get_statistics(const tz_write_report *report,
                                                           uint32_t band);
TZ_API void tz_write_report_free(tz_write_report *report);
typedef struct tz_bytes {
    const void *data;
    size_t size;
} tz_bytes;
typedef struct tz_sink tz_sink;
struct tz_sink {
    size_t struct_size;
    bool caller_thread;
    TZ_NODISCARD tz_result (*write)(tz_sink *sink, uint64_t offset, const tz_bytes *pieces,
                                    size_t count, tz_error *err);
    TZ_NODISCARD tz_result (*read)(tz_sink *sink, uint64_t offset, void *dst, size_t size,
                                   tz_error *err);
    TZ_NODISCARD tz_result (*insert)(tz_sink *sink, uint64_t size, tz_error *err);
    TZ_NODISCARD tz_result (*sync)(tz_sink *sink, uint64_t size, tz_error *err);
    TZ_NODISCARD tz_result (*commit)(tz_sink *sink, tz_error *err);
    void (*close)(tz_sink *sink);
};
#define TZ_SINK_INIT TZ_INIT(tz_sink)
TZ_API void tz_sink_init(tz_sink *sink, size_t size);
TZ_API TZ_NODISCARD tz_result tz_file_sink_open(tz_sink **out, const char *path, bool exclusive,
                                                bool no_sync, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_spool_sink_open(tz_sink **out, const char *directory,
                                                 tz_error *err);
typedef struct tz_writer tz_writer;
TZ_API TZ_NODISCARD tz_result tz_create(tz_writer **out, const char *path,
                                        const tz_image_spec *spec, const tz_write_options *options,
                                        tz_error *err);
typedef struct tz_memory {
    void *data;
    size_t size;
} tz_memory;
TZ_API TZ_NODISCARD tz_result tz_create_memory(tz_writer **out, tz_memory *into,
                                               const tz_image_spec *spec,
                                               const tz_write_options *options, tz_error *err);
TZ_API void tz_memory_free(tz_memory *memory);
TZ_API TZ_NODISCARD tz_result tz_create_sink(tz_writer **out, tz_sink *sink, const char *name,
                                             const tz_image_spec *spec,
                                             const tz_write_options *options, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_write_rows(tz_writer *writer, const tz_buffer *rows,
                                            const tz_buffer *mask, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_write_rows_on_stream(tz_writer *writer, const tz_buffer *rows,
                                                      const tz_buffer *mask, void *stream,
                                                      tz_error *err);
typedef struct tz_row_source {
    size_t struct_size;
    TZ_NODISCARD tz_result (*read)(void *user, const tz_window *window, const tz_buffer *pixels,
                                   const tz_buffer *mask, tz_error *err);
    void *user;
    uint32_t chunk_rows;
    bool columns;
    bool on_device;
} tz_row_source;
#define TZ_ROW_SOURCE_INIT TZ_INIT(tz_row_source)
TZ_API void tz_row_source_init(tz_row_source *source, size_t size);
TZ_API TZ_NODISCARD tz_result tz_write_from(tz_writer *writer, const tz_row_source *source,
                                            tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_commit(tz_writer *writer, tz_write_report **report, tz_error *err);
TZ_API void tz_writer_close(tz_writer *writer);
TZ_API TZ_NODISCARD tz_result tz_plan_write(tz_write_report **report, const tz_image_spec *spec,
                                            const tz_write_options *options,
                                            const tz_row_source *source, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_clean(uint64_t *removed, const char *directory, uint64_t min_age,
                                       bool (*found)(void *user, const char *path), void *user,
                                       const tz_progress *progress, tz_error *err);
typedef struct tz_creation tz_creation;
TZ_API TZ_NODISCARD tz_result tz_creation_create(tz_creation **out, const char *driver,
                                                 tz_error *err);
TZ_API void tz_creation_free(tz_creation *creation);
TZ_API TZ_NODISCARD tz_result tz_creation_set(tz_creation *creation, const char *key,
                                              const char *value, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_creation_set_profile(tz_creation *creation, const char *name,
                                                      tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_creation_check(tz_creation *creation, tz_error *err);
TZ_API const tz_error *tz_creation_get_warning(const tz_creation *creation, uint32_t index);
TZ_API TZ_NODISCARD tz_result tz_creation_apply(tz_creation *creation, tz_image_spec *spec,
                                                tz_write_options *options, const tz_file *source,
                                                tz_error *err);
TZ_API const char *tz_creation_get_value(const tz_creation *creation, const char *key);
TZ_API const char *tz_creation_get_world_file(const tz_creation *creation);
typedef struct tz_creation_option {
    const char *name;
    const char *default_value;
    const char *help;
} tz_creation_option;
TZ_API const tz_creation_option *tz_creation_option_get(const char *driver,
                                                        size_t index);
TZ_API size_t tz_creation_option_values(char *out, size_t size, const tz_creation_option *option);
TZ_API const char *tz_nearest_name(const char *word,
                                   const char *(*name)(const void *list, size_t index),
                                   const void *list);
typedef struct tz_cog_plan tz_cog_plan;
TZ_API TZ_NODISCARD tz_result tz_cog_plan_create(tz_cog_plan **out, const tz_image_spec *spec,
                                                 const tz_write_options *options,
                                                 uint32_t block_tiles, tz_error *err);
TZ_API void tz_cog_plan_free(tz_cog_plan *plan);
TZ_API TZ_NODISCARD tz_result tz_cog_plan_save(tz_memory *into, const tz_cog_plan *plan,
                                               tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_cog_plan_load(tz_cog_plan **out, const void *data, size_t size,
                                               const tz_limits *limits, tz_error *err);
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
    uint64_t fingerprint;
    uint32_t level_count;
    uint32_t block_tiles;
    uint64_t block_count;
    uint32_t bands;
    tz_dtype dtype;
    bool mask;
    bool statistics;
    tz_nodata nodata;
} tz_cog_plan_info;
TZ_API const tz_cog_plan_info *tz_cog_plan_get_info(const tz_cog_plan *plan);
TZ_API const tz_cog_level *tz_cog_plan_get_level(const tz_cog_plan *plan, uint32_t level);
typedef struct tz_cog_block {
    size_t struct_size;
    tz_window window;
    tz_window source;
    uint64_t tiles;
} tz_cog_block;
#define TZ_COG_BLOCK_INIT TZ_INIT(tz_cog_block)
TZ_API void tz_cog_block_init(tz_cog_block *block, size_t size);
TZ_API TZ_NODISCARD tz_result tz_cog_plan_get_block(tz_cog_block *out, const tz_cog_plan *plan,
                                                    uint32_t level, uint64_t block, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_cog_plan_get_source(tz_window *source, const tz_cog_plan *plan,
                                                     uint32_t level, const tz_window *window,
                                                     tz_error *err);
typedef struct tz_block_options {
    size_t struct_size;
    uint32_t threads;
    tz_progress progress;
} tz_block_options;
#define TZ_BLOCK_OPTIONS_INIT TZ_INIT(tz_block_options)
TZ_API void tz_block_options_init(tz_block_options *options, size_t size);
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
TZ_API TZ_NODISCARD tz_result tz_encode_block(tz_memory *into, const tz_cog_plan *plan,
                                              uint32_t level, uint64_t block,
                                              const tz_buffer *pixels, const tz_buffer *mask,
                                              const tz_block_options *options, tz_error *err);
#define TZ_BLOB_HEADER 64
typedef struct tz_blob_info {
    size_t struct_size;
    uint64_t fingerprint;
    uint64_t block;
    uint32_t level;
    uint64_t tiles;
    uint64_t head_size;
    uint64_t size;
} tz_blob_info;
#define TZ_BLOB_INFO_INIT TZ_INIT(tz_blob_info)
TZ_API void tz_blob_info_init(tz_blob_info *info, size_t size);
TZ_API TZ_NODISCARD tz_result tz_blob_read_info(tz_blob_info *out, const void *data, size_t size,
                                                tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_blob_read_sizes(uint32_t *sizes, const tz_cog_plan *plan,
                                                 const tz_bytes *head, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_blob_read_statistics(tz_statistics *statistics,
                                                      const tz_cog_plan *plan, const tz_bytes *head,
                                                      tz_error *err);
typedef struct tz_copy_run {
    uint64_t file_offset;
    uint64_t blob_offset;
    uint64_t size;
} tz_copy_run;
typedef struct tz_assembly {
    uint64_t file_size;
    bool bigtiff;
    tz_bytes front;
    uint64_t tiles;
    uint64_t tiles_sparse;
    size_t blob_count;
} tz_assembly;
TZ_API const tz_copy_run *tz_assembly_get_runs(size_t *count, const tz_assembly *assembly,
                                               size_t blob);
TZ_API const tz_statistics *tz_assembly_get_statistics(const tz_assembly *assembly, uint32_t band);
TZ_API TZ_NODISCARD tz_result tz_assembly_create(tz_assembly **out, const tz_cog_plan *plan,
                                                 const tz_bytes *heads, size_t count,
                                                 tz_error *err);
TZ_API void tz_assembly_free(tz_assembly *assembly);
typedef struct tz_blobs {
    size_t struct_size;
    size_t count;
    TZ_NODISCARD tz_result (*read)(void *user, size_t blob, uint64_t offset, void *dst, size_t size,
                                   tz_error *err);
    void *user;
} tz_blobs;
#define TZ_BLOBS_INIT TZ_INIT(tz_blobs)
TZ_API void tz_blobs_init(tz_blobs *blobs, size_t size);
TZ_API TZ_NODISCARD tz_result tz_assemble_file(const char *path, const tz_cog_plan *plan,
                                               const tz_blobs *blobs,
                                               const tz_write_options *options,
                                               tz_write_report **report, tz_error *err);
#define TZ_COG_PROBLEM_NOT_TILED          (1u << 0)
#define TZ_COG_PROBLEM_NO_OVERVIEWS       (1u << 1)
#define TZ_COG_PROBLEM_IFD_NOT_FIRST      (1u << 2)
#define TZ_COG_PROBLEM_IFD_ORDER          (1u << 3)
#define TZ_COG_PROBLEM_DATA_BEFORE_IFDS   (1u << 4)
#define TZ_COG_PROBLEM_DATA_ORDER         (1u << 5)
#define TZ_COG_PROBLEM_EDITED             (1u << 6)
#define TZ_COG_PROBLEM_EXTERNAL_OVERVIEWS (1u << 7)
#define TZ_COG_PROBLEM_NOT_GEOREFERENCED  (1u << 8)
#define TZ_COG_PROBLEM_TRUNCATED          (1u << 9)
#define TZ_COG_PROBLEM_REMARKS (TZ_COG_PROBLEM_NO_OVERVIEWS | TZ_COG_PROBLEM_NOT_GEOREFERENCED)
TZ_API TZ_NODISCARD tz_result tz_file_get_cog_problems(uint32_t *problems, const tz_file *file,
                                                       tz_error *err);
TZ_API const char *tz_cog_problem_text(uint32_t problem);
typedef struct tz_codec_info {
    const char *name;
    const char *title;
    uint16_t compression;
    uint16_t other_compressions[3];
    bool can_read;
    bool can_write;
    bool lossy;
    bool lossless;
    bool takes_predictor;
    bool has_effort;
    bool has_fast_effort;
    bool has_quality;
    bool has_distance;
    bool has_max_error;
    bool built;
    int32_t min_effort;
    int32_t max_effort;
    int32_t default_effort;
    uint32_t min_quality;
    uint32_t max_quality;
    uint32_t default_quality;
    double min_distance;
    double max_distance;
    double default_distance;
    const char *library;
    const char *library_version;
} tz_codec_info;
TZ_API size_t tz_codec_count(void);
TZ_API const tz_codec_info *tz_codec_get(size_t index);
TZ_API bool tz_dtype_from_name(tz_dtype *out, const char *name);
TZ_API const char *tz_dtype_gdal_name(tz_dtype dtype);
TZ_API bool tz_compression_from_name(tz_compression *out, const char *name);
TZ_API bool tz_photometric_from_name(tz_photometric *out, const char *name);
TZ_API bool tz_color_from_name(tz_color *out, const char *name);
TZ_API bool tz_resampling_from_name(tz_resampling *out, const char *name);
TZ_API const char *tz_interleave_name(tz_interleave interleave);
TZ_API bool tz_interleave_from_name(tz_interleave *out, const char *name);
TZ_API const char *tz_bigtiff_name(tz_bigtiff bigtiff);
TZ_API bool tz_bigtiff_from_name(tz_bigtiff *out, const char *name);
TZ_API const char *tz_choice_name(tz_choice choice);
TZ_API bool tz_choice_from_name(tz_choice *out, const char *name);
TZ_API const char *tz_jpeg_tables_name(tz_jpeg_tables tables);
TZ_API bool tz_jpeg_tables_from_name(tz_jpeg_tables *out, const char *name);
TZ_API const char *tz_verify_name(tz_verify verify);
TZ_API bool tz_verify_from_name(tz_verify *out, const char *name);
TZ_API const char *tz_raster_type_name(tz_raster_type type);
TZ_API bool tz_raster_type_from_name(tz_raster_type *out, const char *name);
TZ_API const char *tz_nodata_kind_name(tz_nodata_kind kind);
TZ_API bool tz_nodata_kind_from_name(tz_nodata_kind *out, const char *name);
TZ_API const char *tz_memory_kind_name(tz_memory_kind kind);
TZ_API bool tz_memory_kind_from_name(tz_memory_kind *out, const char *name);
TZ_API const char *tz_sidecar_name(uint32_t sidecar);
TZ_API bool tz_sidecar_from_name(uint32_t *out, const char *name);
typedef enum tz_check_class {
    TZ_CHECK_CLASS_TIFF =
        0,
    TZ_CHECK_CLASS_GEOTIFF = 1,
    TZ_CHECK_CLASS_COG = 2,
    TZ_CHECK_CLASS_GDAL = 3
} tz_check_class;
#define TZ_CHECK_CLASS_COUNT 4
TZ_API const char *tz_check_class_name(tz_check_class which);
typedef enum tz_check_outcome {
    TZ_CHECK_OUTCOME_NOT_APPLICABLE = 0,
    TZ_CHECK_OUTCOME_PASS = 1,
    TZ_CHECK_OUTCOME_WARNING = 2,
    TZ_CHECK_OUTCOME_FAIL = 3
} tz_check_outcome;
TZ_API const char *tz_check_outcome_name(tz_check_outcome outcome);
typedef struct tz_check {
    const char *id;
    const char
        *group;
    const char *text;
    tz_check_class check_class;
    tz_check_outcome outcome;
    const char *note;
    uint64_t count;
    const tz_error *findings;
    uint32_t finding_count;
} tz_check;
typedef struct tz_validate_options {
    size_t struct_size;
    bool strict;
    bool full;
    uint32_t page;
    const tz_limits *limits;
    uint32_t threads;
    uint64_t max_host_bytes;
    tz_progress progress;
    tz_log log;
} tz_validate_options;
#define TZ_VALIDATE_OPTIONS_INIT TZ_INIT(tz_validate_options)
TZ_API void tz_validate_options_init(tz_validate_options *options, size_t size);
typedef struct tz_validation {
    bool valid;
    bool strict;
    bool full;
    bool opened;
    uint32_t check_count;
    uint64_t tiles;
    uint64_t tiles_looked_at;
    uint64_t tiles_decoded;
} tz_validation;
TZ_API TZ_NODISCARD tz_result tz_validate(tz_validation **out, const char *path,
                                          const tz_validate_options *options, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_validate_file(tz_validation **out, const tz_file *file,
                                               const tz_validate_options *options, tz_error *err);
TZ_API tz_check_outcome tz_validation_get_class(const tz_validation *validation,
                                                tz_check_class check_class);
TZ_API const tz_check *tz_validation_get_check(const tz_validation *validation, uint32_t index);
TZ_API void tz_validation_free(tz_validation *validation);
typedef enum tz_device_type {
    TZ_DEVICE_TYPE_CPU = 0,
    TZ_DEVICE_TYPE_GPU = 1,
    TZ_DEVICE_TYPE_OTHER = 2
} tz_device_type;
TZ_API const char *tz_device_type_name(tz_device_type type);
#define TZ_DEVICE_CAP_STORE           (1u << 0)
#define TZ_DEVICE_CAP_PREDICTOR2      (1u << 1)
#define TZ_DEVICE_CAP_PREDICTOR3      (1u << 2)
#define TZ_DEVICE_CAP_CONVERT         (1u << 3)
#define TZ_DEVICE_CAP_DECODE_DEFLATE  (1u << 4)
#define TZ_DEVICE_CAP_DECODE_LZW      (1u << 5)
#define TZ_DEVICE_CAP_DECODE_LZ4      (1u << 6)
#define TZ_DEVICE_CAP_DECODE_PACKBITS (1u << 7)
#define TZ_DEVICE_CAP_DECODE_ZSTD     (1u << 8)
#define TZ_DEVICE_CAP_EXTRACT         (1u << 9)
#define TZ_DEVICE_CAP_ENCODE_DEFLATE  (1u << 10)
#define TZ_DEVICE_CAP_ENCODE_PACKBITS (1u << 11)
#define TZ_DEVICE_CAP_OVERVIEW        (1u << 12)
TZ_API const char *tz_device_cap_name(uint32_t cap);
typedef struct tz_device_info {
    const char *id;
    const char *driver;
    const char *name;
    const char *vendor;
    const char *platform;
    const char *api_version;
    const char *driver_version;
    tz_device_type type;
    uint32_t caps;
    bool usable;
    bool fp64;
    bool unified_memory;
    const char *reason;
    uint64_t memory_bytes;
    uint64_t max_allocation_bytes;
    uint64_t alignment;
    uint64_t local_memory_bytes;
    uint32_t max_work_group;
    uint32_t compute_units;
    uint32_t clock_mhz;
} tz_device_info;
typedef struct tz_device_options {
    size_t struct_size;
    const char *libraries;
    uint64_t max_device_bytes;
    uint64_t max_pinned_bytes;
    uint64_t max_pool_bytes;
    void *opencl_context;
    void *cuda_context;
    void *cuda_stream;
    tz_log log;
    tz_progress progress;
} tz_device_options;
#define TZ_DEVICE_OPTIONS_INIT TZ_INIT(tz_device_options)
TZ_API void tz_device_options_init(tz_device_options *options, size_t size);
TZ_API TZ_NODISCARD tz_result tz_device_open(tz_device **out, const char *name,
                                             const tz_device_options *options, tz_error *err);
TZ_API void tz_device_close(tz_device *device);
TZ_API const tz_device_info *tz_device_get_info(const tz_device *device);
TZ_API void *tz_device_get_context(const tz_device *device);
TZ_API void *tz_device_get_stream(tz_device *device);
TZ_API TZ_NODISCARD tz_result tz_device_memory_alloc(tz_device_memory **out, tz_device *device,
                                                     uint64_t size, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_device_wrap(tz_device_memory **out, tz_device *device,
                                             void *handle, uint64_t size, tz_error *err);
TZ_API void tz_device_memory_free(tz_device_memory *memory);
TZ_API uint64_t tz_device_memory_get_size(const tz_device_memory *memory);
TZ_API void *
tz_device_memory_get_handle(const tz_device_memory *memory);
TZ_API tz_device *tz_device_memory_get_device(const tz_device_memory *memory);
TZ_API TZ_NODISCARD tz_result tz_device_copy_in(tz_device_memory *to, uint64_t offset,
                                                const void *from, uint64_t size, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_device_copy_out(void *to, const tz_device_memory *from,
                                                 uint64_t offset, uint64_t size, tz_error *err);
typedef struct tz_driver_info {
    const char *name;
    const char *library;
    bool loaded;
    uint32_t device_count;
    const char *reason;
} tz_driver_info;
typedef struct tz_library_info {
    const char *name;
    const char *library;
    bool loaded;
    const char *version;
    const char *codecs;
    const char *reason;
} tz_library_info;
typedef struct tz_device_list tz_device_list;
TZ_API TZ_NODISCARD tz_result tz_device_list_create(tz_device_list **out,
                                                    const tz_device_options *options,
                                                    tz_error *err);
TZ_API void tz_device_list_free(tz_device_list *list);
TZ_API const tz_device_info *tz_device_list_get_device(const tz_device_list *list, size_t index);
TZ_API const tz_driver_info *tz_device_list_get_driver(const tz_device_list *list, size_t index);
TZ_API const tz_library_info *tz_device_list_get_library(const tz_device_list *list, size_t index);
typedef enum tz_image_format {
    TZ_IMAGE_FORMAT_PNG = 0,
    TZ_IMAGE_FORMAT_JPEG = 1,
    TZ_IMAGE_FORMAT_WEBP = 2
} tz_image_format;
TZ_API const char *tz_image_format_name(tz_image_format format);
TZ_API bool tz_image_format_from_name(tz_image_format *out, const char *name);
typedef enum tz_image_model {
    TZ_IMAGE_MODEL_AUTO = 0,
    TZ_IMAGE_MODEL_GREY = 1,
    TZ_IMAGE_MODEL_INVERTED = 2,
    TZ_IMAGE_MODEL_RGB = 3,
    TZ_IMAGE_MODEL_YCBCR = 4,
    TZ_IMAGE_MODEL_CMYK = 5
} tz_image_model;
#define TZ_IMAGE_MAX_COLORS 4
TZ_API const char *tz_image_model_name(tz_image_model model);
TZ_API bool tz_image_model_from_name(tz_image_model *out, const char *name);
typedef struct tz_image_range {
    double low;
    double high;
} tz_image_range;
typedef struct tz_image_options {
    size_t struct_size;
    tz_image_format format;
    tz_image_model model;
    bool premultiplied;
    bool lossless;
    uint32_t quality;
    int32_t effort;
    tz_choice stretch;
    uint32_t bits;
    uint32_t range_count;
    const tz_image_range *ranges;
    const uint16_t *color_map;
    uint32_t color_map_size;
    const uint8_t *background;
    tz_progress progress;
} tz_image_options;
#define TZ_IMAGE_OPTIONS_INIT TZ_INIT(tz_image_options)
TZ_API void tz_image_options_init(tz_image_options *options, size_t size);
TZ_API TZ_NODISCARD tz_result tz_image_encode(tz_memory *out, const tz_buffer *pixels,
                                              const tz_buffer *mask,
                                              const tz_image_options *options, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_image_write(tz_sink *sink, const tz_buffer *pixels,
                                             const tz_buffer *mask, const tz_image_options *options,
                                             tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_image_render(const tz_buffer *rgba, const tz_buffer *pixels,
                                              const tz_buffer *mask,
                                              const tz_image_options *options, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_image_measure(tz_image_range *ranges, uint32_t *count,
                                               const tz_buffer *pixels, const tz_buffer *mask,
                                               const tz_image_options *options, tz_error *err);
TZ_API void tz_color_map_to_rgb(uint8_t *rgb, const uint16_t *color_map, uint32_t size);
TZ_API TZ_NODISCARD tz_result tz_plan_image(uint64_t *host_bytes, const tz_buffer *pixels,
                                            const tz_image_options *options, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_crs_create(tz_crs **out, const char *definition, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_crs_from_file(tz_crs **out, const tz_file *file, tz_error *err);
TZ_API void tz_crs_close(tz_crs *crs);
TZ_API const char *tz_crs_get_name(const tz_crs *crs);
TZ_API const char *tz_crs_get_wkt(const tz_crs *crs);
TZ_API int tz_crs_get_epsg(const tz_crs *crs);
TZ_API int tz_crs_get_epsg_horizontal(const tz_crs *crs);
TZ_API int tz_crs_get_epsg_vertical(const tz_crs *crs);
TZ_API bool tz_crs_is_geographic(const tz_crs *crs);
TZ_API bool tz_crs_is_same(const tz_crs *a, const tz_crs *b);
typedef enum tz_crs_format {
    TZ_CRS_FORMAT_WKT2 = 0,
    TZ_CRS_FORMAT_WKT1_GDAL = 1,
    TZ_CRS_FORMAT_WKT1_ESRI = 2,
    TZ_CRS_FORMAT_PROJJSON = 3,
    TZ_CRS_FORMAT_PROJ_STRING = 4
} tz_crs_format;
TZ_API const char *tz_crs_format_name(tz_crs_format format);
TZ_API bool tz_crs_format_from_name(tz_crs_format *out, const char *name);
TZ_API TZ_NODISCARD tz_result tz_crs_export(const char **out, const tz_crs *crs,
                                            tz_crs_format format, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_crs_to_geo(tz_geo **out, const tz_crs *crs,
                                            tz_raster_type raster_type, tz_error *err);
TZ_API void tz_geo_set_transform(tz_geo *geo, const double transform[6]);
TZ_API void tz_geo_free(tz_geo *geo);
TZ_API TZ_NODISCARD tz_result tz_crs_to_lonlat(double *lon, double *lat, const tz_crs *crs,
                                               double x, double y, tz_error *err);
typedef struct tz_transformer tz_transformer;
TZ_API TZ_NODISCARD tz_result tz_transformer_create(tz_transformer **out, const tz_crs *from,
                                                    const tz_crs *to, tz_error *err);
TZ_API void tz_transformer_close(tz_transformer *transformer);
TZ_API TZ_NODISCARD tz_result tz_transformer_apply(size_t *failed,
                                                   const tz_transformer *transformer, double *x,
                                                   double *y, size_t count, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_bounds_transform(double out[4], const double bounds[4],
                                                  const tz_crs *from, const tz_crs *to,
                                                  uint32_t densify_points, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_window_from_bounds(tz_window *out, bool *clipped,
                                                    const tz_file *file, uint32_t level,
                                                    const double bounds[4], const tz_crs *crs,
                                                    bool boundless, tz_error *err);
#ifdef __cplusplus
}
#endif
#ifdef __cplusplus
extern "C" {
#endif
#define TZ_DL_MAJOR 1
#define TZ_DL_MINOR 0
#define TZ_DL_CPU          1
#define TZ_DL_CUDA         2
#define TZ_DL_CUDA_HOST    3
#define TZ_DL_OPENCL       4
#define TZ_DL_CUDA_MANAGED 13
#define TZ_DL_INT     0
#define TZ_DL_UINT    1
#define TZ_DL_FLOAT   2
#define TZ_DL_COMPLEX 5
#define TZ_DL_READ_ONLY ((uint64_t)1)
#define TZ_DL_IS_COPY   ((uint64_t)2)
typedef struct tz_dl_device {
    int32_t type;
    int32_t id;
} tz_dl_device;
typedef struct tz_dl_dtype {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} tz_dl_dtype;
typedef struct tz_dl_tensor {
    void *data;
    tz_dl_device device;
    int32_t ndim;
    tz_dl_dtype dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} tz_dl_tensor;
typedef struct tz_dl_version {
    uint32_t major;
    uint32_t minor;
} tz_dl_version;
typedef struct tz_dl_managed tz_dl_managed;
struct tz_dl_managed {
    tz_dl_version version;
    void *manager_ctx;
    void (*deleter)(tz_dl_managed *self);
    uint64_t flags;
    tz_dl_tensor tensor;
};
typedef struct tz_dl_managed_legacy tz_dl_managed_legacy;
struct tz_dl_managed_legacy {
    tz_dl_tensor tensor;
    void *manager_ctx;
    void (*deleter)(tz_dl_managed_legacy *self);
};
typedef enum tz_dl_axes {
    TZ_DL_AXES_BANDS_FIRST = 0,
    TZ_DL_AXES_BANDS_LAST = 1,
    TZ_DL_AXES_ONE_BAND = 2
} tz_dl_axes;
typedef struct tz_dlpack_options {
    size_t struct_size;
    tz_dl_axes axes;
    bool writable;
    tz_device *device;
    bool read_only;
    void (*release)(
        void *user);
    void *user;
} tz_dlpack_options;
#define TZ_DLPACK_OPTIONS_INIT TZ_INIT(tz_dlpack_options)
TZ_API void tz_dlpack_options_init(tz_dlpack_options *options, size_t size);
TZ_API TZ_NODISCARD tz_result tz_dlpack_to_buffer(tz_buffer *out, const tz_dl_managed *managed,
                                                  const tz_dlpack_options *options, tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_dlpack_tensor_to_buffer(tz_buffer *out, const tz_dl_tensor *tensor,
                                                         const tz_dlpack_options *options,
                                                         tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_dlpack_from_buffer(tz_dl_managed **out, const tz_buffer *buffer,
                                                    const tz_dlpack_options *options,
                                                    tz_error *err);
TZ_API TZ_NODISCARD tz_result tz_dlpack_legacy_from_buffer(tz_dl_managed_legacy **out,
                                                           const tz_buffer *buffer,
                                                           const tz_dlpack_options *options,
                                                           tz_error *err);
#ifdef __cplusplus
}
#endif
#endif
