/* SPDX-License-Identifier: Apache-2.0
 * See standalone_stream.h. The headers of a tile are read by the same functions as our codecs use,
 * in strict mode: a stream passes only if decoding it gives no warning. */
#include "codec/standalone_stream.h"

#include <string.h>

#include "codec/jp2_markers.h"
#include "codec/jpeg.h"

enum { MAX_SAMPLES = 4 };

bool tz_standalone_is_lossy(const tz_tile_format *format)
{
    return format->compression == TZ_COMPRESSION_JPEG;
}

/* ---------------------------------------------------------------------------------------------
 * JPEG 2000
 * ------------------------------------------------------------------------------------------ */

#ifdef TZ_HAVE_OPENJPEG

static bool find_standalone_jp2(tz_standalone_stream *out, const tz_tile_format *format,
                                const uint8_t *data, size_t size, const tz_codec_call *call)
{
    tz_jp2_info info;
    const unsigned reduction = format->decode_reduction;
    if (tz_jp2_read_tile(&info, format, data, size, call) != TZ_OK || info.tile_count != 1 ||
        info.has_offset || info.is_unusual || !info.has_end ||
        (reduction > 0 && (info.levels < reduction || info.has_other_levels)))
        return false;
    *out = (tz_standalone_stream){
        .bytes = info.stream, .size = info.stream_size, .is_lossy = info.is_irreversible};
    return true;
}

#endif

/* ---------------------------------------------------------------------------------------------
 * JPEG
 * ------------------------------------------------------------------------------------------ */

#ifdef TZ_HAVE_JPEG

enum { MARKER_SIZE = 2, MAX_TABLES_SIZE = 65536 };

static bool ends_image(const uint8_t *data, size_t size)
{
    return size >= 2 * MARKER_SIZE && data[size - 2] == 0xFF && data[size - 1] == TZ_MARKER_EOI;
}

/* A stream that lacks its end may lack more, which our codec notices. */
static bool find_standalone_jpeg(tz_standalone_stream *out, const tz_tile_format *format,
                                 const uint8_t *data, size_t size, uint8_t *buffer,
                                 const tz_codec_call *call)
{
    const tz_jpeg_table_set none = {0};
    tz_jpeg_info info;
    if (!ends_image(data, size) || data[0] != 0xFF || data[1] != TZ_MARKER_SOI)
        return false;
    *out = (tz_standalone_stream){.bytes = data, .size = size, .is_lossy = true};
    if (format->tables) { /* joined: tables without their end, the tile without its beginning */
        const bool has_end = ends_image(format->tables, format->tables_size);
        const size_t tables = format->tables_size - (has_end ? MARKER_SIZE : 0);
        memcpy(buffer, format->tables, tables);
        memcpy(buffer + tables, data + MARKER_SIZE, size - MARKER_SIZE);
        out->bytes = buffer;
        out->size = tables + size - MARKER_SIZE;
    }
    if (tz_jpeg_read_info(&info, out->bytes, out->size, none, call) != TZ_OK || info.lossless ||
        tz_jpeg_check_tile(&info, format, call) != TZ_OK)
        return false;
    /* Libraries take components with these names for RGB if no marker says otherwise. */
    const bool is_named_rgb = info.components[0].id == 'R' && info.components[1].id == 'G' &&
                              info.components[2].id == 'B';
    out->to_rgb = info.component_count == 3 && format->photometric == TZ_PHOTOMETRIC_YCBCR;
    return !out->to_rgb || !is_named_rgb;
}

#endif

/* ---------------------------------------------------------------------------------------------
 * Either
 * ------------------------------------------------------------------------------------------ */

bool tz_standalone_is_possible(const tz_tile_format *format)
{
    /* No library has a type for signed bytes. Colours of JPEG 2000 are converted by our codec only.
     */
    const bool is_byte = format->bits == 8 && format->sample_format == TZ_SAMPLE_FORMAT_UINT;
    const bool is_word = format->bits == 16 && format->sample_format <= TZ_SAMPLE_FORMAT_INT;
#ifdef TZ_HAVE_OPENJPEG
    if (format->compression == TZ_COMPRESSION_JPEG2000)
        return (is_byte || is_word) && format->samples >= 1 && format->samples <= MAX_SAMPLES &&
               !(format->photometric == TZ_PHOTOMETRIC_YCBCR && format->samples == 3);
#endif
#ifdef TZ_HAVE_JPEG
    if (format->compression == TZ_COMPRESSION_JPEG)
        return is_byte && (format->samples == 1 || format->samples == 3) &&
               format->tables_size <= MAX_TABLES_SIZE;
#endif
    (void)is_byte, (void)is_word;
    return false;
}

size_t tz_standalone_buffer_size(const tz_tile_format *format, size_t size)
{
    return format->compression == TZ_COMPRESSION_JPEG && format->tables ? format->tables_size + size
                                                                        : 0;
}

bool tz_standalone_find(tz_standalone_stream *out, const tz_tile_format *format,
                        const uint8_t *data, size_t size, uint8_t *buffer, const tz_limits *limits)
{
    const tz_context ctx = {.limits = limits, .strict = true, .ifd = -1};
    const tz_codec_call call = {&ctx, tz_no_location()};
#ifdef TZ_HAVE_OPENJPEG
    if (format->compression == TZ_COMPRESSION_JPEG2000)
        return find_standalone_jp2(out, format, data, size, &call);
#endif
#ifdef TZ_HAVE_JPEG
    if (format->compression == TZ_COMPRESSION_JPEG)
        return find_standalone_jpeg(out, format, data, size, buffer, &call);
#endif
    (void)out, (void)format, (void)data, (void)size, (void)buffer, (void)call;
    return false;
}
