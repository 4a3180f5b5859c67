/* SPDX-License-Identifier: Apache-2.0
 * JPEG (compressions 7 and 6), by libjpeg-turbo; lossless streams by jpeg_lossless.c. A tile is a
 * complete stream, or one without tables that relies on tag JPEGTables. Samples of 12 bits, which
 * libjpeg-turbo 3 has, are packed as in an uncompressed TIFF.
 *
 * Decoding: the headers of the stream are compared with the tile before libjpeg sees them
 * (jpeg_markers.c); colour comes from the photometric interpretation, never from markers. FillOrder
 * does not apply: a JPEG stream has an order of its own. The decompressor and the tables of
 * JPEGTables are kept from tile to tile. Settings are libjpeg's defaults (accurate integer DCT,
 * smooth upsampling), which other TIFF readers use too.
 *
 * Encoding makes baseline streams without markers of JFIF or Adobe, which have no say in a TIFF.
 * Tables that all tiles share go to tag JPEGTables and are left out of the tiles; Huffman tables
 * that are not shared are made for each tile (jpeg_recode.c). RGB becomes YCbCr if the photometric
 * interpretation says so, subsampled or not; other samples are encoded as they are.
 *
 * libjpeg fails by longjmp. So every call of it that can fail is in a function of its own, a step,
 * which tz_jpeg_guard_run calls; steps hold nothing that would have to be released. */
#include <stdio.h> /* jpeglib.h needs it */
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#include "base/mem.h"
#include "codec/codec.h"
#include "codec/jpeg.h"
#include "codec/jpeg_memory.h"

#define MAX_TABLES_SIZE (1u << 20) /* tables take less than 3 KB; there may be comments */
#define ROWS_AT_ONCE    16

/* The tile being decoded. */
typedef struct jpeg_decode_job {
    const uint8_t *in;
    size_t in_size;
    uint8_t *out;
    size_t stride;
    uint32_t rows; /* that are wanted */
    bool to_rgb;
} jpeg_decode_job;

typedef struct jpeg_decoder {
    tz_jpeg_guard guard; /* client_data points to it */
    struct jpeg_decompress_struct decompressor;
    struct jpeg_source_mgr source;
    jpeg_decode_job job;
    bool created;
    bool tables_current;    /* libjpeg has the tables of `tables`, and no others on top */
    tz_codec_buffer tables; /* a copy of JPEGTables, which may be freed before the next tile */
    size_t tables_size;
    tz_jpeg_table_set known; /* the tables in it */
    tz_jpeg_lossless lossless;
    tz_codec_buffer old; /* a joined stream of old-style JPEG */
} jpeg_decoder;

/* Warnings of libjpeg after which pixels are made up: they are errors. */
static bool loses_pixels(int code)
{
    return code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC ||
           code == JWRN_BOGUS_PROGRESSION || code == JWRN_JPEG_EOF;
}

/* ---------------------------------------------------------------------------------------------
 * Decoder: the source, bytes in memory and an end of image after them. Data that is really missing
 * shows as a marker in the middle of a scan.
 * ------------------------------------------------------------------------------------------ */

static const uint8_t end_of_image[2] = {0xFF, JPEG_EOI};

static void source_nothing(j_decompress_ptr cinfo)
{
    (void)cinfo;
}

static boolean source_fill(j_decompress_ptr cinfo)
{
    cinfo->src->next_input_byte = end_of_image;
    cinfo->src->bytes_in_buffer = sizeof end_of_image;
    return TRUE;
}

static void source_skip(j_decompress_ptr cinfo, long count)
{
    if (count <= 0)
        return;
    if ((unsigned long)count > cinfo->src->bytes_in_buffer) {
        source_fill(cinfo);
        return;
    }
    cinfo->src->next_input_byte += count;
    cinfo->src->bytes_in_buffer -= (size_t)count;
}

static void set_jpeg_source(jpeg_decoder *state, const uint8_t *data, size_t size)
{
    state->source = (struct jpeg_source_mgr){.next_input_byte = data,
                                             .bytes_in_buffer = size,
                                             .init_source = source_nothing,
                                             .fill_input_buffer = source_fill,
                                             .skip_input_data = source_skip,
                                             .resync_to_restart = jpeg_resync_to_restart,
                                             .term_source = source_nothing};
    state->decompressor.src = &state->source;
}

/* ---------------------------------------------------------------------------------------------
 * Decoder: the decompressor and its tables
 * ------------------------------------------------------------------------------------------ */

static void create_decompressor_step(void *user)
{
    jpeg_decoder *state = user;
    jpeg_create_decompress(&state->decompressor);
}

static tz_result create_decompressor(jpeg_decoder *state, const tz_codec_call *call)
{
    if (state->created)
        return TZ_OK;
    tz_jpeg_guard_init(&state->guard, (j_common_ptr)&state->decompressor);
    state->guard.is_fatal = loses_pixels;
    if (!tz_jpeg_guard_run(&state->guard, create_decompressor_step, state)) {
        jpeg_destroy_decompress(&state->decompressor);
        return tz_fail_nomem(call->ctx, sizeof state->decompressor);
    }
    tz_jpeg_memory_init(&state->guard.memory, (j_common_ptr)&state->decompressor);
    state->created = true;
    return TZ_OK;
}

static void read_tables_step(void *user)
{
    jpeg_decoder *state = user;
    set_jpeg_source(state, state->tables.data, state->tables_size);
    jpeg_read_header(&state->decompressor, FALSE);
}

/* Makes libjpeg's tables those of JPEGTables again, unless they still are. Without JPEGTables those
 * of the last tile stay, but tz_jpeg_read_info makes sure that none of them is used. */
static tz_result use_tables(jpeg_decoder *state, const tz_tile_format *format,
                            const tz_codec_call *call)
{
    const size_t size = format->tables_size;
    const bool is_same = format->tables && state->tables_size != 0 && state->tables_size == size &&
                         memcmp(state->tables.data, format->tables, size) == 0;
    if (is_same && state->tables_current)
        return TZ_OK;
    if (!is_same) {
        state->tables_size = 0;
        state->known = (tz_jpeg_table_set){0};
        if (!format->tables)
            return TZ_OK;
        state->tables_current = false;
        if (size > MAX_TABLES_SIZE)
            return tz_codec_fail(call, "JPEGTables of %zu bytes", size);
        TZ_TRY(tz_codec_reserve(&state->tables, size + TZ_CODEC_SLACK, NULL, call));
        memcpy(state->tables.data, format->tables, size);
        /* known points into the copy */
        TZ_TRY(tz_jpeg_read_tables(&state->known, state->tables.data, size, call));
        state->tables_size = size;
    }
    if (!tz_jpeg_guard_run(&state->guard, read_tables_step, state)) {
        jpeg_abort_decompress(&state->decompressor);
        return tz_jpeg_guard_fail(&state->guard, call);
    }
    state->tables_current = true;
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Decoder: stream and tile
 * ------------------------------------------------------------------------------------------ */

#define TEXT_OF(value)  TEXT_OF_(value)
#define TEXT_OF_(value) #value

/* Only YCbCr may be subsampled, by the factors of the stream rather than the tag. */
static tz_result check_jpeg_sampling(const tz_jpeg_info *info, const tz_tile_format *format,
                                     const tz_codec_call *call)
{
    const tz_jpeg_component *first = &info->components[0];
    if (info->component_count == 1)
        return TZ_OK;
    if (format->photometric != TZ_PHOTOMETRIC_YCBCR) {
        for (unsigned i = 0; i < info->component_count; i++)
            if (info->components[i].h != 1 || info->components[i].v != 1)
                return tz_codec_fail(call, "JPEG: subsampled, but not YCbCr");
        return TZ_OK;
    }
    for (unsigned i = 1; i < info->component_count; i++)
        if (info->components[i].h != 1 || info->components[i].v != 1)
            return tz_codec_warn(call, "JPEG: sampling factors that TIFF does not know");
    if (format->subsampling[0] != 0 &&
        (format->subsampling[0] != first->h || format->subsampling[1] != first->v))
        return tz_codec_warn(call,
                             "JPEG: subsampled by %u x %u, but tag YCbCrSubSampling says %u x %u",
                             first->h, first->v, format->subsampling[0], format->subsampling[1]);
    return TZ_OK;
}

/* Compares the stream with the tile. The photometric interpretation decides about colours, and a
 * marker that contradicts it is a warning. So is a stream that is smaller than the tile, whose rest
 * is 0; a larger one is an error, unless it is the last strip with as many rows as the others. */
tz_result tz_jpeg_check_tile(const tz_jpeg_info *info, const tz_tile_format *format,
                             const tz_codec_call *call)
{
    const unsigned count = info->component_count;
    const bool is_ycbcr = format->photometric == TZ_PHOTOMETRIC_YCBCR;
    if (count != format->samples)
        return tz_codec_fail_size(call, format->samples, count,
                                  "JPEG: the number of components is not that of the tile");
    if (info->precision != format->bits)
        return tz_codec_fail_size(call, format->bits, info->precision,
                                  "JPEG: the bits of a sample are not those of the tile");
    if (info->precision != 8 && !(info->precision == 12 && TZ_JPEG_HAS_12_BITS))
        return tz_codec_fail_unsupported(
            call, "JPEG with %u bits a sample is not supported by libjpeg-turbo %s",
            info->precision, TEXT_OF(LIBJPEG_TURBO_VERSION));

    if (is_ycbcr && count != 3 && count != 1)
        return tz_codec_fail_unsupported(call, "JPEG: YCbCr with %u components", count);
    const bool says_rgb = info->adobe_transform == 0, says_ycbcr = info->adobe_transform == 1;
    if (count == 3 &&
        ((says_rgb && is_ycbcr) || (says_ycbcr && format->photometric == TZ_PHOTOMETRIC_RGB)))
        TZ_TRY(tz_codec_warn(call,
                             "JPEG: an Adobe marker says that the colours are %s; they are not",
                             says_rgb ? "RGB" : "YCbCr"));
    TZ_TRY(check_jpeg_sampling(info, format, call));
    if (info->many_scans)
        TZ_TRY(tz_codec_check_memory(call, tz_jpeg_coefficient_bytes(info),
                                     "bytes of JPEG coefficients"));

    if (info->width == format->width && info->height > format->height &&
        info->height <= format->strip_height)
        return tz_codec_warn(call, "JPEG: %u rows in the last strip, which has %u", info->height,
                             format->height);
    if (info->width > format->width || info->height > format->height)
        return tz_codec_fail(call, "JPEG: %u x %u pixels in a tile of %u x %u", info->width,
                             info->height, format->width, format->height);
    if (info->width < format->width || info->height < format->height)
        return tz_codec_warn(call, "JPEG: only %u x %u pixels in a tile of %u x %u; the rest is 0",
                             info->width, info->height, format->width, format->height);
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Decoder: rows
 * ------------------------------------------------------------------------------------------ */

#if TZ_JPEG_HAS_12_BITS
/* Packs two samples in three bytes, the highest bit first. */
static void pack_12_bits(uint8_t *out, const J12SAMPLE *samples, size_t count)
{
    for (; count >= 2; count -= 2, samples += 2, out += 3) {
        unsigned first = (unsigned)samples[0] & 0xfff, second = (unsigned)samples[1] & 0xfff;
        out[0] = (uint8_t)(first >> 4);
        out[1] = (uint8_t)(first << 4 | second >> 8);
        out[2] = (uint8_t)second;
    }
    if (count > 0) {
        out[0] = (uint8_t)(samples[0] >> 4);
        out[1] = (uint8_t)(samples[0] << 4);
    }
}

static void decode_jpeg_rows_12(struct jpeg_decompress_struct *decompressor,
                                const jpeg_decode_job *job)
{
    JDIMENSION count = decompressor->output_width * (JDIMENSION)decompressor->output_components;
    /* of J12SAMPLE, as their number of bits is 12 */
    J12SAMPARRAY row = (J12SAMPARRAY)decompressor->mem->alloc_sarray((j_common_ptr)decompressor,
                                                                     JPOOL_IMAGE, count, 1);
    while (decompressor->output_scanline < decompressor->output_height &&
           decompressor->output_scanline < job->rows) {
        uint8_t *out = job->out + (size_t)decompressor->output_scanline * job->stride;
        jpeg12_read_scanlines(decompressor, row, 1);
        pack_12_bits(out, row[0], count);
    }
}
#endif

/* Decodes the stream of state->job. Colour spaces are set after the header was read, which sets
 * libjpeg's guess. */
static void decode_image_step(void *user)
{
    jpeg_decoder *state = user;
    struct jpeg_decompress_struct *decompressor = &state->decompressor;
    set_jpeg_source(state, state->job.in, state->job.in_size);
    jpeg_read_header(decompressor, TRUE);
    decompressor->jpeg_color_space = state->job.to_rgb ? JCS_YCbCr : JCS_UNKNOWN;
    decompressor->out_color_space = state->job.to_rgb ? JCS_RGB : JCS_UNKNOWN;
    jpeg_start_decompress(decompressor);
#if TZ_JPEG_HAS_12_BITS
    if (decompressor->data_precision == 12) {
        decode_jpeg_rows_12(decompressor, &state->job);
        return;
    }
#endif
    JSAMPROW rows[ROWS_AT_ONCE];
    const JDIMENSION end = tz_min_u32(decompressor->output_height, state->job.rows);
    while (decompressor->output_scanline < end) {
        const JDIMENSION first = decompressor->output_scanline;
        const JDIMENSION count = tz_min_u32(end - first, ROWS_AT_ONCE);
        for (JDIMENSION i = 0; i < count; i++)
            rows[i] = state->job.out + (size_t)(first + i) * state->job.stride;
        jpeg_read_scanlines(decompressor, rows, count);
    }
}

/* Decodes a complete stream, or one that relies on format->tables. */
static tz_result decode_jpeg_stream(jpeg_decoder *state, const tz_tile_format *format,
                                    const uint8_t *in, size_t in_size, uint8_t *out, size_t stride,
                                    const tz_codec_call *call)
{
    TZ_TRY(create_decompressor(state, call));
    tz_jpeg_memory_begin(&state->guard.memory, call->ctx->limits->max_codec_bytes);
    TZ_TRY(use_tables(state, format, call));
    tz_jpeg_info info;
    TZ_TRY(tz_jpeg_read_info(&info, in, in_size, state->known, call));
    if (info.lossless)
        return tz_jpeg_decode_lossless(&state->lossless, &info, format, in + in_size, out, stride,
                                       call);
    TZ_TRY(tz_jpeg_check_tile(&info, format, call));

    if (info.changes_tables)
        state->tables_current = false;
    const bool to_rgb = tz_jpeg_is_ycbcr(format) && info.component_count == 3;
    state->job = (jpeg_decode_job){in, in_size, out, stride, format->height, to_rgb};
    bool decoded = tz_jpeg_guard_run(&state->guard, decode_image_step, state);
    jpeg_abort_decompress(&state->decompressor);
    if (!decoded)
        return tz_jpeg_guard_fail(&state->guard, call);
    tz_codec_clear_rest(format,
                        ((size_t)info.width * info.component_count * info.precision + 7) / 8,
                        info.height, out, stride);
    if (state->guard.text[0] != '\0')
        return tz_codec_warn(call, "JPEG: %s", state->guard.text);
    return TZ_OK;
}

/* Old-style JPEG is joined to a complete stream first; its headers came as format->tables. */
static tz_result jpeg_decode(void *opaque, const tz_tile_format *format, const uint8_t *in,
                             size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call)
{
    jpeg_decoder *state = opaque;
    tz_tile_format whole = *format;
    size_t size = 0;
    if (format->compression != TZ_COMPRESSION_OLD_JPEG)
        return decode_jpeg_stream(state, format, in, in_size, out, stride, call);
    TZ_TRY(tz_jpeg_old_join(&state->old, format, in, in_size, call, &size));
    whole.tables = NULL;
    whole.tables_size = 0;
    return decode_jpeg_stream(state, &whole, state->old.data, size, out, stride, call);
}

static void jpeg_decoder_deinit(void *opaque)
{
    jpeg_decoder *state = opaque;
    if (state->created) {
        tz_jpeg_memory_deinit(&state->guard.memory, (j_common_ptr)&state->decompressor);
        jpeg_destroy_decompress(&state->decompressor);
    }
    tz_codec_buffer_deinit(&state->tables);
    tz_codec_buffer_deinit(&state->lossless.rows);
    tz_codec_buffer_deinit(&state->old);
    *state = (jpeg_decoder){.created = false};
}

const tz_decoder tz_decoder_jpeg = {
    .flags = TZ_DECODER_NATIVE_ENDIAN | TZ_DECODER_ANY_STRIDE | TZ_DECODER_NO_OVERRUN |
             TZ_DECODER_NO_PREDICTOR | TZ_DECODER_TO_RGB | TZ_DECODER_ANY_FILL_ORDER,
    .state_size = sizeof(jpeg_decoder),
    .decode = jpeg_decode,
    .deinit = jpeg_decoder_deinit,
};

/* ---------------------------------------------------------------------------------------------
 * Encoder: the destination, memory that does not grow
 * ------------------------------------------------------------------------------------------ */

/* The tile being encoded. */
typedef struct jpeg_encode_job {
    const tz_tile_format *format;
    const tz_encode_options *options;
    uint8_t *in;
    uint8_t *out;
    size_t out_size; /* bytes of out; after encoding, those that were used */
    bool overflow;
} jpeg_encode_job;

typedef struct jpeg_encoder {
    tz_jpeg_guard guard; /* client_data points to it */
    struct jpeg_compress_struct compressor;
    struct jpeg_destination_mgr destination;
    jpeg_encode_job job;
    bool created;
    tz_jpeg_huffman_reader readers[TZ_JPEG_HUFFMAN_CODES]; /* of the standard Huffman tables */
    uint8_t *standard;                                     /* a tile coded with them */
    uint32_t *tokens;                                      /* of that tile */
} jpeg_encoder;

static void start_destination(j_compress_ptr cinfo)
{
    jpeg_encoder *state = cinfo->client_data;
    state->destination.next_output_byte = state->job.out;
    state->destination.free_in_buffer = state->job.out_size;
}

/* libjpeg calls this when the buffer is full. The buffer cannot grow, so the step fails. */
static boolean overflow_destination(j_compress_ptr cinfo)
{
    jpeg_encoder *state = cinfo->client_data;
    state->job.overflow = true;
    cinfo->err->msg_code = JERR_CANT_SUSPEND;
    cinfo->err->error_exit((j_common_ptr)cinfo);
    return FALSE;
}

static void end_destination(j_compress_ptr cinfo)
{
    jpeg_encoder *state = cinfo->client_data;
    state->job.out_size -= state->destination.free_in_buffer;
}

/* ---------------------------------------------------------------------------------------------
 * Encoder: the compressor
 * ------------------------------------------------------------------------------------------ */

static void create_compressor_step(void *user)
{
    jpeg_encoder *state = user;
    jpeg_create_compress(&state->compressor);
}

/* Sets all parameters but the height. libjpeg makes Huffman tables of a tile only for 12 bits,
 * where the standard ones will not do. */
static void set_up_compressor_step(void *user)
{
    jpeg_encoder *state = user;
    const tz_tile_format *format = state->job.format;
    struct jpeg_compress_struct *compressor = &state->compressor;
    compressor->image_width = format->width;
    compressor->image_height = format->height;
    compressor->input_components = format->samples;
    compressor->in_color_space = tz_jpeg_is_ycbcr(format) ? JCS_RGB : JCS_UNKNOWN;
    compressor->data_precision = format->bits;
    jpeg_set_defaults(compressor);
    jpeg_set_colorspace(compressor, tz_jpeg_is_ycbcr(format) ? JCS_YCbCr : JCS_UNKNOWN);
    compressor->comp_info[0].h_samp_factor = (int)tz_jpeg_factor_across(format);
    compressor->comp_info[0].v_samp_factor = (int)tz_jpeg_factor_down(format);
    jpeg_set_quality(compressor, (int)state->job.options->quality, FALSE);
    compressor->write_JFIF_header = FALSE;
    compressor->write_Adobe_marker = FALSE;
    compressor->optimize_coding =
        !tz_jpeg_shares_huffman(state->job.options) && !tz_jpeg_recodes(format, state->job.options);
}

static void jpeg_encoder_deinit(void *opaque)
{
    jpeg_encoder *state = opaque;
    if (!state->created)
        return;
    tz_jpeg_memory_deinit(&state->guard.memory, (j_common_ptr)&state->compressor);
    jpeg_destroy_compress(&state->compressor);
    tz_free(state->standard);
    tz_free(state->tokens);
    state->standard = NULL;
    state->tokens = NULL;
    state->created = false;
}

/* Makes a compressor with all settings of the tiles; each tile only sets its height. */
static tz_result create_compressor(jpeg_encoder *state, const tz_tile_format *format,
                                   const tz_encode_options *options, const tz_context *ctx)
{
    tz_jpeg_guard_init(&state->guard, (j_common_ptr)&state->compressor);
    if (!tz_jpeg_guard_run(&state->guard, create_compressor_step, state)) {
        jpeg_destroy_compress(&state->compressor);
        return tz_fail_nomem(ctx, sizeof state->compressor);
    }
    tz_jpeg_memory_init(&state->guard.memory, (j_common_ptr)&state->compressor);
    state->created = true;
    state->destination = (struct jpeg_destination_mgr){.init_destination = start_destination,
                                                       .empty_output_buffer = overflow_destination,
                                                       .term_destination = end_destination};
    state->compressor.dest = &state->destination;
    state->job = (jpeg_encode_job){.format = format, .options = options};
    if (tz_jpeg_guard_run(&state->guard, set_up_compressor_step, state))
        return TZ_OK;
    const tz_codec_call nowhere = {ctx, tz_no_location()};
    tz_result result = tz_jpeg_guard_fail(&state->guard, &nowhere);
    jpeg_encoder_deinit(state);
    return result;
}

/* libjpeg leaves out a table if its sent_table is set. Chroma has a second set of tables. */
static void set_tables_sent(struct jpeg_compress_struct *compressor, const jpeg_encode_job *job,
                            boolean sent, bool quantization, bool huffman)
{
    const int sets = tz_jpeg_is_ycbcr(job->format) ? 2 : 1;
    jpeg_suppress_tables(compressor, !sent);
    for (int i = 0; i < sets; i++) {
        if (quantization)
            compressor->quant_tbl_ptrs[i]->sent_table = sent;
        if (huffman) {
            compressor->dc_huff_tbl_ptrs[i]->sent_table = sent;
            compressor->ac_huff_tbl_ptrs[i]->sent_table = sent;
        }
    }
}

/* ---------------------------------------------------------------------------------------------
 * Encoder: rows
 * ------------------------------------------------------------------------------------------ */

#if TZ_JPEG_HAS_12_BITS
/* Unpacks two samples from three bytes, the highest bit first. */
static void unpack_12_bits(J12SAMPLE *samples, const uint8_t *in, size_t count)
{
    for (; count >= 2; count -= 2, samples += 2, in += 3) {
        samples[0] = (J12SAMPLE)(in[0] << 4 | in[1] >> 4);
        samples[1] = (J12SAMPLE)((in[1] & 15) << 8 | in[2]);
    }
    if (count > 0)
        samples[0] = (J12SAMPLE)(in[0] << 4 | in[1] >> 4);
}

static void encode_jpeg_rows_12(struct jpeg_compress_struct *compressor, const jpeg_encode_job *job)
{
    const JDIMENSION count = compressor->image_width * (JDIMENSION)compressor->input_components;
    /* of J12SAMPLE, as their number of bits is 12 */
    J12SAMPARRAY row = (J12SAMPARRAY)compressor->mem->alloc_sarray((j_common_ptr)compressor,
                                                                   JPOOL_IMAGE, count, 1);
    while (compressor->next_scanline < compressor->image_height) {
        unpack_12_bits(row[0],
                       job->in + (size_t)compressor->next_scanline * tz_tile_row_bytes(job->format),
                       count);
        jpeg12_write_scanlines(compressor, row, 1);
    }
}
#endif

static void encode_image_step(void *user)
{
    jpeg_encoder *state = user;
    struct jpeg_compress_struct *compressor = &state->compressor;
    compressor->image_height = state->job.format->height;
    set_tables_sent(compressor, &state->job, TRUE, tz_jpeg_shares_quantization(state->job.options),
                    tz_jpeg_shares_huffman(state->job.options) ||
                        tz_jpeg_recodes(state->job.format, state->job.options));
    jpeg_start_compress(compressor, FALSE);
#if TZ_JPEG_HAS_12_BITS
    if (compressor->data_precision == 12)
        encode_jpeg_rows_12(compressor, &state->job);
#endif
    const size_t row_size = tz_tile_row_bytes(state->job.format);
    JSAMPROW rows[ROWS_AT_ONCE];
    while (compressor->next_scanline < compressor->image_height) {
        const JDIMENSION first = compressor->next_scanline;
        const JDIMENSION count = tz_min_u32(compressor->image_height - first, ROWS_AT_ONCE);
        for (JDIMENSION i = 0; i < count; i++)
            rows[i] = state->job.in + (size_t)(first + i) * row_size;
        jpeg_write_scanlines(compressor, rows, count);
    }
    jpeg_finish_compress(compressor);
}

/* libjpeg writes to out, or to state->standard if the tile gets Huffman codes of its own. */
static tz_result jpeg_encode(void *opaque, const tz_tile_format *format,
                             const tz_encode_options *options, uint8_t *in, uint8_t *out,
                             size_t *out_size, const tz_codec_call *call)
{
    jpeg_encoder *state = opaque;
    const bool recode = tz_jpeg_recodes(format, options);
    const size_t capacity = tz_jpeg_bound(format, options);
    tz_jpeg_memory_begin(&state->guard.memory, UINT64_MAX);
    state->job =
        (jpeg_encode_job){format, options, in, recode ? state->standard : out, capacity, false};
    if (!tz_jpeg_guard_run(&state->guard, encode_image_step, state)) {
        jpeg_abort_compress(&state->compressor);
        if (!state->job.overflow)
            return tz_jpeg_guard_fail(&state->guard, call);
    }
    *out_size = state->job.out_size;
    const tz_jpeg_mcu_layout layout = tz_jpeg_mcu_layout_of(format);
    if (state->job.overflow ||
        (recode && !tz_jpeg_recode(state->readers, &layout, state->standard, state->job.out_size,
                                   state->tokens, out, capacity, out_size)))
        return tz_codec_fail(call, "JPEG: a tile takes more than %zu bytes", capacity);
    return TZ_OK;
}

static void write_tables_step(void *user)
{
    jpeg_encoder *state = user;
    set_tables_sent(&state->compressor, &state->job, FALSE,
                    tz_jpeg_shares_quantization(state->job.options),
                    tz_jpeg_shares_huffman(state->job.options));
    jpeg_write_tables(&state->compressor);
}

/* Writes the tables for tag JPEGTables, by a compressor of its own: the writer needs them before
 * any thread has a state. */
static tz_result jpeg_shared_tables(const tz_tile_format *format, const tz_encode_options *options,
                                    uint8_t *out, size_t *out_size, const tz_context *ctx)
{
    *out_size = 0;
    if (options->jpeg_tables == TZ_JPEG_TABLES_NONE)
        return TZ_OK;
    jpeg_encoder state = {.created = false};
    TZ_TRY(create_compressor(&state, format, options, ctx));
    state.job.out = out;
    state.job.out_size = tz_jpeg_bound(format, options);
    tz_result result = TZ_OK;
    if (tz_jpeg_guard_run(&state.guard, write_tables_step, &state)) {
        *out_size = state.job.out_size;
    } else {
        const tz_codec_call nowhere = {ctx, tz_no_location()};
        result = tz_jpeg_guard_fail(&state.guard, &nowhere);
    }
    jpeg_encoder_deinit(&state);
    return result;
}

static tz_result jpeg_encoder_init(void *opaque, const tz_tile_format *format,
                                   const tz_encode_options *options, const tz_context *ctx)
{
    jpeg_encoder *state = opaque;
    TZ_TRY(create_compressor(state, format, options, ctx));
    if (!tz_jpeg_recodes(format, options))
        return TZ_OK;
    size_t count;
    state->standard = tz_alloc(tz_jpeg_bound(format, options) + TZ_JPEG_RECODE_SLACK);
    if (tz_to_size(tz_jpeg_block_count(format), &count))
        state->tokens = tz_alloc_array(count, TZ_JPEG_BLOCK_TOKENS * sizeof *state->tokens);
    if (!state->standard || !state->tokens) {
        jpeg_encoder_deinit(state);
        return tz_fail_nomem(ctx, tz_jpeg_encoder_memory(format, options));
    }
    for (unsigned i = 0; i < TZ_JPEG_HUFFMAN_CODES; i++) {
        const JHUFF_TBL *table = i % 2 == 0 ? state->compressor.dc_huff_tbl_ptrs[i / 2]
                                            : state->compressor.ac_huff_tbl_ptrs[i / 2];
        tz_jpeg_huffman code;
        memcpy(code.counts, table->bits, sizeof code.counts);
        memcpy(code.symbols, table->huffval, sizeof code.symbols);
        tz_jpeg_huffman_reader_init(&state->readers[i], &code);
    }
    return TZ_OK;
}

const tz_encoder tz_encoder_jpeg = {
    .flags = TZ_ENCODER_NATIVE_ENDIAN | TZ_ENCODER_NO_PREDICTOR | TZ_ENCODER_FROM_RGB,
    .state_size = sizeof(jpeg_encoder),
    .resolve_options = tz_jpeg_resolve_options,
    .unsupported_reason = tz_jpeg_unsupported_reason,
    .lossy = tz_encoder_is_lossy,
    .bound = tz_jpeg_bound,
    .memory = tz_jpeg_encoder_memory,
    .init = jpeg_encoder_init,
    .deinit = jpeg_encoder_deinit,
    .encode = jpeg_encode,
    .tables = jpeg_shared_tables,
};
