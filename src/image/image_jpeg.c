/* SPDX-License-Identifier: Apache-2.0
 * JPEG, by libjpeg-turbo, row by row: baseline, with the standard Huffman tables, so that nothing
 * of the picture is kept. The encoder of tiles does not serve here: it takes whole tiles, and
 * leaves out the marker of JFIF. Memory and errors of libjpeg are treated as there
 * (codec/jpeg_memory.h).
 *
 * libjpeg fails by longjmp. So every call of it that can fail is in a step of its own. A sink that
 * fails in the middle of one ends it in the same way; its error is in the context already. */
#include "image/image_encoder.h"

#ifdef TZ_HAVE_JPEG

#include <stdio.h> /* jpeglib.h needs it */

#include <jerror.h>
#include <jpeglib.h>

#include "base/mem.h"
#include "codec/codec.h"
#include "codec/jpeg_memory.h"

#define OUT_SIZE 65536u

typedef struct jpeg_image {
    tz_jpeg_guard guard; /* client_data points to it */
    struct jpeg_compress_struct compressor;
    struct jpeg_destination_mgr destination;
    const tz_image_task *task;
    const tz_context *ctx;
    tz_result failed; /* of the sink */
    bool created;
    const uint8_t *row;
    uint8_t out[OUT_SIZE];
} jpeg_image;

static jpeg_image *image_of(j_compress_ptr cinfo)
{
    return (jpeg_image *)cinfo->client_data; /* the guard comes first */
}

static void start_out(j_compress_ptr cinfo)
{
    jpeg_image *j = image_of(cinfo);
    j->destination.next_output_byte = j->out;
    j->destination.free_in_buffer = OUT_SIZE;
}

/* Writes the first bytes of the buffer, and leaves the step if the sink fails. */
static void flush_out(jpeg_image *j, size_t size)
{
    j->failed = tz_image_put(j->task->to, &(tz_bytes){j->out, size}, 1, j->ctx);
    if (j->failed == TZ_OK)
        return;
    j->compressor.err->msg_code = JERR_FILE_WRITE;
    j->compressor.err->error_exit((j_common_ptr)&j->compressor);
}

static boolean empty_out(j_compress_ptr cinfo)
{
    flush_out(image_of(cinfo), OUT_SIZE);
    start_out(cinfo);
    return TRUE;
}

static void end_out(j_compress_ptr cinfo)
{
    jpeg_image *j = image_of(cinfo);
    flush_out(j, OUT_SIZE - j->destination.free_in_buffer);
}

/* ---------------------------------------------------------------------------------------------
 * Steps
 * ------------------------------------------------------------------------------------------ */

static void create_step(void *user)
{
    jpeg_create_compress(&((jpeg_image *)user)->compressor);
}

static void start_step(void *user)
{
    jpeg_image *j = user;
    struct jpeg_compress_struct *compressor = &j->compressor;
    const bool is_grey = j->task->channels == 1;
    compressor->image_width = j->task->width;
    compressor->image_height = j->task->height;
    compressor->input_components = is_grey ? 1 : 3;
    compressor->in_color_space = is_grey ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(compressor);
    jpeg_set_quality(compressor, (int)j->task->options->quality, TRUE);
    jpeg_start_compress(compressor, TRUE);
}

static void put_row_step(void *user)
{
    jpeg_image *j = user;
    JSAMPROW row = (JSAMPROW)j->row; /* libjpeg does not change it */
    jpeg_write_scanlines(&j->compressor, &row, 1);
}

static void finish_step(void *user)
{
    jpeg_finish_compress(&((jpeg_image *)user)->compressor);
}

static tz_result run_step(jpeg_image *j, void (*step)(void *user), const tz_context *ctx)
{
    j->ctx = ctx;
    if (tz_jpeg_guard_run(&j->guard, step, j))
        return TZ_OK;
    const tz_codec_call call = {ctx, tz_no_location()};
    return j->failed != TZ_OK ? j->failed : tz_jpeg_guard_fail(&j->guard, &call);
}

/* ---------------------------------------------------------------------------------------------
 * The file
 * ------------------------------------------------------------------------------------------ */

/* libjpeg keeps rows of colour and of coefficients, some dozens of each. */
static uint64_t jpeg_image_memory(const tz_image_task *task)
{
    enum { BYTES_PER_COLUMN = 256, LEAST = 256 << 10 };
    return sizeof(jpeg_image) + LEAST + (uint64_t)task->width * BYTES_PER_COLUMN;
}

static void jpeg_image_close(void *state)
{
    jpeg_image *j = state;
    if (j->created)
        tz_jpeg_memory_deinit(&j->guard.memory, (j_common_ptr)&j->compressor);
    jpeg_destroy_compress(&j->compressor);
    tz_free(j);
}

static tz_result jpeg_image_open(void **state, const tz_image_task *task, const tz_context *ctx)
{
    jpeg_image *j = tz_alloc_zeroed(1, sizeof *j);
    if (!j)
        return tz_fail_nomem(ctx, sizeof *j);
    j->task = task;
    tz_jpeg_guard_init(&j->guard, (j_common_ptr)&j->compressor);
    tz_result result = TZ_OK;
    if (!tz_jpeg_guard_run(&j->guard, create_step, j)) {
        result = tz_fail_nomem(ctx, sizeof j->compressor);
    } else {
        tz_jpeg_memory_init(&j->guard.memory, (j_common_ptr)&j->compressor);
        tz_jpeg_memory_begin(&j->guard.memory, UINT64_MAX);
        j->created = true;
        j->destination = (struct jpeg_destination_mgr){.init_destination = start_out,
                                                       .empty_output_buffer = empty_out,
                                                       .term_destination = end_out};
        j->compressor.dest = &j->destination;
        result = run_step(j, start_step, ctx);
    }
    if (result == TZ_OK)
        *state = j;
    else
        jpeg_image_close(j);
    return result;
}

static tz_result jpeg_image_put_row(void *state, const uint8_t *row, const tz_context *ctx)
{
    jpeg_image *j = state;
    j->row = row;
    return run_step(j, put_row_step, ctx);
}

static tz_result jpeg_image_finish(void *state, const tz_context *ctx)
{
    return run_step(state, finish_step, ctx);
}

#endif

const tz_image_encoder tz_image_encoder_jpeg = {
    .name = "JPEG",
    .compression = TZ_COMPRESSION_JPEG,
    .max_side = 65500, /* libjpeg's JPEG_MAX_DIMENSION */
    .has_quality = true,
#ifdef TZ_HAVE_JPEG
    .memory = jpeg_image_memory,
    .open = jpeg_image_open,
    .put_row = jpeg_image_put_row,
    .finish = jpeg_image_finish,
    .close = jpeg_image_close,
#endif
};
