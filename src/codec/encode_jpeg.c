/* SPDX-License-Identifier: Apache-2.0
 * JPEG (compression 7), by libjpeg-turbo: baseline streams without markers of JFIF or Adobe, which
 * have no say in a TIFF. Tables that all tiles share go to tag JPEGTables and are left out of the
 * tiles; Huffman tables that are not shared are made for each tile.
 *
 * RGB becomes YCbCr when the photometric interpretation says so, subsampled or not; all other
 * samples are encoded as they are. Samples of 12 bits, which libjpeg-turbo 3 encodes, come packed
 * as in an uncompressed TIFF. */
#include "codec/encoder.h"

#ifdef TZ_HAVE_JPEG

#include <stdio.h> /* jpeglib.h needs it */
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#include "base/mem.h"
#include "codec/jpeg_guard.h"
#include "codec/jpeg_options.h"

#define ROWS_AT_ONCE 16

/* What is encoded at present. */
typedef struct jpeg_encode_job {
    const tz_tile_format *format;
    const tz_encode_options *options;
    uint8_t *in;
    uint8_t *out;
    size_t out_size; /* room, and in the end what was used of it */
    bool overflow;
} jpeg_encode_job;

typedef struct jpeg_encoder {
    tz_jpeg_guard guard; /* client_data points to it */
    struct jpeg_compress_struct compressor;
    struct jpeg_destination_mgr destination;
    jpeg_encode_job job;
    bool created;
    tz_jpeg_huffman_reader readers[TZ_JPEG_HUFFMAN_CODES]; /* of the standard Huffman tables */
    uint8_t *standard;                                     /* a tile that was coded with them */
    uint32_t *tokens;                                      /* and its symbols */
} jpeg_encoder;

/* ---------------------------------------------------------------------------------------------
 * The destination: memory that does not grow
 * ------------------------------------------------------------------------------------------ */

static void start_destination(j_compress_ptr cinfo)
{
    jpeg_encoder *state = cinfo->client_data;
    state->destination.next_output_byte = state->job.out;
    state->destination.free_in_buffer = state->job.out_size;
}

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
 * The compressor
 * ------------------------------------------------------------------------------------------ */

static void create_compressor_step(void *user)
{
    jpeg_encoder *state = user;
    jpeg_create_compress(&state->compressor);
}

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

static void destroy_compressor(jpeg_encoder *state)
{
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
    destroy_compressor(state);
    return result;
}

/* A table of which sent_table is set is left out. Chroma has a second set of its own. */
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
 * Encoding
 * ------------------------------------------------------------------------------------------ */

static void encode_jpeg_rows(struct jpeg_compress_struct *compressor, const jpeg_encode_job *job)
{
    const size_t row_size = tz_tile_row_bytes(job->format);
    JSAMPROW rows[ROWS_AT_ONCE];
    while (compressor->next_scanline < compressor->image_height) {
        const JDIMENSION first = compressor->next_scanline;
        JDIMENSION count = compressor->image_height - first;
        count = count < ROWS_AT_ONCE ? count : ROWS_AT_ONCE;
        for (JDIMENSION i = 0; i < count; i++)
            rows[i] = job->in + (size_t)(first + i) * row_size;
        jpeg_write_scanlines(compressor, rows, count);
    }
}

#if TZ_JPEG_HAS_12_BITS
/* Two samples in three bytes, the highest bit first. */
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
    else
#endif
        encode_jpeg_rows(compressor, &state->job);
    jpeg_finish_compress(compressor);
}

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
    destroy_compressor(&state);
    return result;
}

static void read_standard_code(tz_jpeg_huffman_reader *reader, const JHUFF_TBL *table)
{
    tz_jpeg_huffman code;
    memcpy(code.counts, table->bits, sizeof code.counts);
    memcpy(code.symbols, table->huffval, sizeof code.symbols);
    tz_jpeg_huffman_reader_init(reader, &code);
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
        destroy_compressor(state);
        return tz_fail_nomem(ctx, tz_jpeg_encoder_memory(format, options));
    }
    for (unsigned i = 0; i < TZ_JPEG_HUFFMAN_CODES; i++)
        read_standard_code(&state->readers[i], i % 2 == 0
                                                   ? state->compressor.dc_huff_tbl_ptrs[i / 2]
                                                   : state->compressor.ac_huff_tbl_ptrs[i / 2]);
    return TZ_OK;
}

static void jpeg_encoder_deinit(void *opaque)
{
    destroy_compressor(opaque);
}

static bool jpeg_lossy(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)format, (void)options;
    return true;
}

static const uint16_t jpeg_encoder_compressions[] = {7, 0};

const tz_encoder tz_encoder_jpeg = {
    .name = "jpeg",
    .library = "libjpeg-turbo",
    .compressions = jpeg_encoder_compressions,
    .flags = TZ_ENCODER_NATIVE_ENDIAN | TZ_ENCODER_NO_PREDICTOR | TZ_ENCODER_FROM_RGB,
    .state_size = sizeof(jpeg_encoder),
    .resolve_options = tz_jpeg_resolve_options,
    .unsupported_reason = tz_jpeg_unsupported_reason,
    .lossy = jpeg_lossy,
    .bound = tz_jpeg_bound,
    .memory = tz_jpeg_encoder_memory,
    .init = jpeg_encoder_init,
    .deinit = jpeg_encoder_deinit,
    .encode = jpeg_encode,
    .tables = jpeg_shared_tables,
};

#endif
