/* SPDX-License-Identifier: Apache-2.0
 * JPEG XL (compression 50002, and 52546 of DNG), by libjxl: unsigned samples of 8 and 16 bits,
 * floats of 16 and 32. Samples beyond grey or RGB are extra channels. All headers are read here
 * before libjxl decodes a frame (jxl_headers.h).
 *
 * Some builds of libjxl, Debian's 0.7 among them, print to stderr when entropy-coded data is
 * damaged. It has no switch for that, and damage shows only while it decodes; what can be checked
 * before, is. */
#include "codec/codec.h"

#ifdef TZ_HAVE_JXL

#include <string.h>

#include <jxl/decode.h>

#include "base/mem.h"
#include "codec/jxl_headers.h"

typedef struct jxl_decoder {
    JxlDecoder *decoder;
    uint8_t *plane; /* an extra channel of its own */
    size_t plane_capacity;
} jxl_decoder;

/* One call of decode. */
typedef struct jxl_decode_job {
    JxlDecoder *decoder;
    const tz_tile_format *format;
    const tz_codec_call *call;
    const tz_jxl_info *info;
    JxlPixelFormat pixels; /* what libjxl delivers together */
    uint32_t separate;     /* extra channels that it delivers one by one */
    size_t sample_size;
    uint8_t *out;
    size_t stride;
} jxl_decode_job;

/* ---------------------------------------------------------------------------------------------
 * The decoder
 * ------------------------------------------------------------------------------------------ */

static void *jxl_decoder_alloc(void *user, size_t size)
{
    (void)user;
    return tz_alloc(size);
}

static void jxl_decoder_free(void *user, void *block)
{
    (void)user;
    tz_free(block);
}

static tz_result open_decoder(jxl_decoder *state, const tz_codec_call *call)
{
    const JxlMemoryManager manager = {NULL, jxl_decoder_alloc, jxl_decoder_free};
    if (!state->decoder)
        state->decoder = JxlDecoderCreate(&manager);
    if (!state->decoder)
        return tz_fail_nomem(call->ctx, sizeof(void *));
    JxlDecoderReset(state->decoder);
    if (JxlDecoderSubscribeEvents(state->decoder, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING |
                                                      JXL_DEC_FULL_IMAGE) != JXL_DEC_SUCCESS)
        return tz_codec_fail(call, "JPEG XL: libjxl does not start");
    return TZ_OK;
}

static tz_result expect_status(const jxl_decode_job *job, JxlDecoderStatus expected)
{
    JxlDecoderStatus status = JxlDecoderProcessInput(job->decoder);
    if (status == expected)
        return TZ_OK;
    return tz_codec_fail(job->call, "JPEG XL: %s",
                         status == JXL_DEC_NEED_MORE_INPUT ? "the stream is cut off"
                                                           : "broken stream");
}

/* ---------------------------------------------------------------------------------------------
 * Stream and tile
 * ------------------------------------------------------------------------------------------ */

static tz_result jxl_sample_type(const tz_tile_format *format, JxlDataType *out,
                                 const tz_codec_call *call)
{
    bool is_float = format->sample_format == 3;
    if (format->bits == 8 && format->sample_format == 1)
        *out = JXL_TYPE_UINT8;
    else if (format->bits == 16 && format->sample_format == 1)
        *out = JXL_TYPE_UINT16;
    else if (format->bits == 16 && is_float)
        *out = JXL_TYPE_FLOAT16;
    else if (format->bits == 32 && is_float)
        *out = JXL_TYPE_FLOAT;
    else
        return tz_fail(call->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, call->location,
                       "JPEG XL with samples of %u bits and format %u", format->bits,
                       format->sample_format);
    return TZ_OK;
}

static tz_result check_jxl_info(const tz_jxl_info *info, const tz_tile_format *format,
                                const tz_codec_call *call)
{
    if (info->width != format->width || info->height != format->height)
        return tz_codec_fail(call, "JPEG XL: %u x %u pixels in a tile of %u x %u", info->width,
                             info->height, format->width, format->height);
    if (info->bits != format->bits || (info->exponent != 0) != (format->sample_format == 3))
        return tz_codec_fail(call, "JPEG XL: %s samples of %u bits in a tile of %u bits",
                             info->exponent ? "float" : "integer", info->bits, format->bits);
    if (info->extra_channels >= format->samples)
        return tz_codec_fail_size(call, format->samples, info->extra_channels,
                                  "JPEG XL: more extra channels than samples");
    return TZ_OK;
}

/* Alpha right behind the colours, and nothing else, is delivered together with them. */
static bool is_plain_alpha(const jxl_decode_job *job)
{
    JxlExtraChannelInfo channel;
    return job->info->extra_channels == 1 &&
           JxlDecoderGetExtraChannelInfo(job->decoder, 0, &channel) == JXL_DEC_SUCCESS &&
           channel.type == JXL_CHANNEL_ALPHA;
}

/* What libjxl read must be what was read before it. */
static tz_result check_basic_info(jxl_decode_job *job)
{
    const tz_tile_format *format = job->format;
    JxlBasicInfo basic;
    if (JxlDecoderGetBasicInfo(job->decoder, &basic) != JXL_DEC_SUCCESS ||
        basic.xsize != format->width || basic.ysize != format->height ||
        basic.bits_per_sample != format->bits || basic.have_animation || basic.have_preview ||
        basic.num_extra_channels != job->info->extra_channels ||
        basic.orientation != JXL_ORIENT_IDENTITY)
        return tz_codec_fail(job->call, "JPEG XL: broken header");
    uint32_t channels = basic.num_color_channels + basic.num_extra_channels;
    if (channels != format->samples)
        return tz_codec_fail_size(job->call, format->samples, channels,
                                  "JPEG XL: the number of channels is not that of the tile");
    bool together = is_plain_alpha(job);
    job->pixels.num_channels = basic.num_color_channels + together;
    job->separate = together ? 0 : basic.num_extra_channels;
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Decoding
 * ------------------------------------------------------------------------------------------ */

static tz_result read_jxl_headers(jxl_decode_job *job)
{
    const tz_jxl_info *info = job->info;
    if (JxlDecoderSetInput(job->decoder, info->stream, info->stream_size) != JXL_DEC_SUCCESS)
        return tz_codec_fail(job->call, "JPEG XL: libjxl takes no input");
    TZ_TRY(expect_status(job, JXL_DEC_BASIC_INFO));
    TZ_TRY(check_basic_info(job));
    TZ_TRY(expect_status(job, JXL_DEC_COLOR_ENCODING));
    size_t left = JxlDecoderReleaseInput(job->decoder);
    size_t first = info->stream_size - left;
    TZ_TRY(tz_jxl_check_frames(info, first, job->call));
    if (JxlDecoderSetInput(job->decoder, info->stream + first, left) != JXL_DEC_SUCCESS)
        return tz_codec_fail(job->call, "JPEG XL: libjxl takes no input");
    return expect_status(job, JXL_DEC_NEED_IMAGE_OUT_BUFFER);
}

/* A piece of a row. */
static void store_jxl_pixels(void *user, size_t x, size_t y, size_t count, const void *pixels)
{
    const jxl_decode_job *job = user;
    size_t from_step = job->pixels.num_channels * job->sample_size;
    size_t to_step = job->format->samples * job->sample_size;
    uint8_t *out = job->out + y * job->stride + x * to_step;
    const uint8_t *in = pixels;
    if (from_step == to_step) {
        memcpy(out, in, count * to_step);
        return;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * to_step, in + i * from_step, from_step);
}

static tz_result reserve_planes(jxl_decoder *state, const jxl_decode_job *job, size_t *plane_size)
{
    uint64_t size = (uint64_t)job->format->width * job->format->height * job->sample_size, all;
    *plane_size = (size_t)size; /* a part of the tile's */
    if (!tz_mul(size, job->separate, &all))
        all = UINT64_MAX;
    TZ_TRY(tz_check_limit(job->call->ctx, offsetof(tz_limits, max_codec_bytes), job->call->location,
                          all, "bytes of memory for channels of JPEG XL"));
    if (all <= state->plane_capacity)
        return TZ_OK;
    tz_free(state->plane);
    state->plane = tz_alloc((size_t)all);
    state->plane_capacity = state->plane ? (size_t)all : 0;
    return state->plane ? TZ_OK : tz_fail_nomem(job->call->ctx, all);
}

static tz_result set_outputs(jxl_decoder *state, jxl_decode_job *job, size_t *plane_size)
{
    JxlDecoderStatus status = JXL_DEC_SUCCESS;
    JxlPixelFormat single = job->pixels;
    single.num_channels = 1;
    if (job->separate > 0)
        TZ_TRY(reserve_planes(state, job, plane_size));
    for (uint32_t i = 0; status == JXL_DEC_SUCCESS && i < job->separate; i++)
        status = JxlDecoderSetExtraChannelBuffer(job->decoder, &single,
                                                 state->plane + i * *plane_size, *plane_size, i);
    size_t row_size = tz_tile_row_bytes(job->format);
    if (status != JXL_DEC_SUCCESS)
        return tz_codec_fail(job->call, "JPEG XL: an extra channel is refused");
    if (job->separate == 0 && job->stride == row_size)
        status = JxlDecoderSetImageOutBuffer(job->decoder, &job->pixels, job->out,
                                             row_size * job->format->height);
    else
        status = JxlDecoderSetImageOutCallback(job->decoder, &job->pixels, store_jxl_pixels, job);
    return status == JXL_DEC_SUCCESS ? TZ_OK
                                     : tz_codec_fail(job->call, "JPEG XL: the format is refused");
}

static void store_jxl_planes(const jxl_decoder *state, const jxl_decode_job *job, size_t plane_size)
{
    size_t size = job->sample_size, step = job->format->samples * size;
    size_t width = job->format->width;
    for (uint32_t i = 0; i < job->separate; i++) {
        const uint8_t *in = state->plane + i * plane_size;
        for (size_t y = 0; y < job->format->height; y++) {
            uint8_t *out = job->out + y * job->stride + (job->pixels.num_channels + i) * size;
            for (size_t x = 0; x < width; x++, in += size, out += step)
                memcpy(out, in, size);
        }
    }
}

static tz_result run_libjxl_decoder(jxl_decoder *state, jxl_decode_job *job)
{
    size_t plane_size = 0;
    TZ_TRY(read_jxl_headers(job));
    TZ_TRY(set_outputs(state, job, &plane_size));
    TZ_TRY(expect_status(job, JXL_DEC_FULL_IMAGE));
    store_jxl_planes(state, job, plane_size);
    return TZ_OK;
}

static tz_result jxl_decode(void *opaque, const tz_tile_format *format, const uint8_t *in,
                            size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call)
{
    jxl_decoder *state = opaque;
    tz_jxl_info info;
    jxl_decode_job job = {.format = format,
                          .call = call,
                          .info = &info,
                          .pixels = {.endianness = JXL_NATIVE_ENDIAN},
                          .sample_size = format->bits / 8,
                          .out = out,
                          .stride = stride};
    TZ_TRY(jxl_sample_type(format, &job.pixels.data_type, call));
    TZ_TRY(tz_jxl_read_info(&info, in, in_size, call));
    TZ_TRY(check_jxl_info(&info, format, call));
    TZ_TRY(open_decoder(state, call));
    job.decoder = state->decoder;
    tz_result result = run_libjxl_decoder(state, &job);
    JxlDecoderReset(state->decoder); /* lets go of input and output */
    return result;
}

static void jxl_decoder_deinit(void *opaque)
{
    jxl_decoder *state = opaque;
    if (state->decoder)
        JxlDecoderDestroy(state->decoder);
    tz_free(state->plane);
    *state = (jxl_decoder){NULL, NULL, 0};
}

static const uint16_t jxl_compressions[] = {50002, 52546, 0};

const tz_decoder tz_decoder_jxl = {
    .name = "jpegxl",
    .library = "libjxl",
    .compressions = jxl_compressions,
    .flags = TZ_DECODER_NATIVE_ENDIAN | TZ_DECODER_ANY_STRIDE | TZ_DECODER_NO_OVERRUN |
             TZ_DECODER_NO_PREDICTOR,
    .state_size = sizeof(jxl_decoder),
    .decode = jxl_decode,
    .deinit = jxl_decoder_deinit,
};

#endif
