/* SPDX-License-Identifier: Apache-2.0
 * JPEG XL (compression 50002, and 52546 of DNG), by libjxl in one thread: unsigned samples of 8 and
 * 16 bits, floats of 16 and 32. Samples beyond grey or RGB are extra channels.
 *
 * Decoding: all headers are read and compared with the tile before libjxl decodes a frame
 * (jxl_headers.h). Pixels go straight to the rows if these are packed and have no extra channels of
 * their own; otherwise by a callback, and extra channels by way of planes. Some builds of libjxl,
 * Debian's 0.7 among them, print to stderr when entropy-coded data is damaged. It has no switch for
 * that, so everything that can be checked before is.
 *
 * Encoding makes a bare codestream, unless the samples ask for level 10 of the standard, which only
 * a container can say. Errors of versions of libjxl stay out of files: before 0.12, levels 8 and 9
 * may end the process; float16 loses NaN and its smallest numbers; and float32 in the smallest of
 * tiles, or integers at level 1, may come back as others, so that these tiles are decoded again and
 * compared. libjxl takes most of its memory past the manager it is given, and its arithmetic is
 * that of the processor's widest instructions: another kind of processor may make other bytes. */
#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/version.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "codec/codec.h"
#include "codec/jxl_headers.h"

/* libjxl's memory manager. user is a size_t, set to the bytes that could not be allocated, or NULL.
 */
static void *jxl_alloc(void *user, size_t size)
{
    size_t *refused = user;
    void *block = tz_alloc(size);
    if (!block && refused)
        *refused = size;
    return block;
}

static void jxl_free(void *user, void *block)
{
    (void)user;
    tz_free(block);
}

static bool is_jxl_float(const tz_tile_format *format)
{
    return format->sample_format == TZ_SAMPLE_FORMAT_FLOAT;
}

/* Describes samples of these bits; only decoders meet floats of 16. */
static JxlPixelFormat jxl_pixel_format(const tz_tile_format *format, uint32_t channels)
{
    const JxlDataType floating = format->bits == 16 ? JXL_TYPE_FLOAT16 : JXL_TYPE_FLOAT;
    const JxlDataType whole = format->bits == 8 ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16;
    return (JxlPixelFormat){.num_channels = channels,
                            .data_type = is_jxl_float(format) ? floating : whole,
                            .endianness = JXL_NATIVE_ENDIAN};
}

typedef struct jxl_decoder {
    JxlDecoder *decoder;
    tz_codec_buffer planes; /* of the extra channels, one after the other */
} jxl_decoder;

/* The tile being decoded. */
typedef struct jxl_decode_job {
    JxlDecoder *decoder;
    const tz_tile_format *format;
    const tz_codec_call *call;
    const tz_jxl_info *info;
    JxlPixelFormat pixels; /* the channels that libjxl delivers together */
    uint32_t separate;     /* extra channels that it delivers one by one */
    size_t sample_size;
    uint8_t *out;
    size_t stride;
} jxl_decode_job;

/* ---------------------------------------------------------------------------------------------
 * Decoder: libjxl
 * ------------------------------------------------------------------------------------------ */

/* Runs libjxl up to its next event, which must be this one. The whole stream is its input, so a
 * wish for more means that the stream is cut off. */
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
 * Decoder: stream and tile
 * ------------------------------------------------------------------------------------------ */

/* Compares the headers with the tile: sizes and bits must be the same. */
static tz_result check_jxl_info(const tz_jxl_info *info, const tz_tile_format *format,
                                const tz_codec_call *call)
{
    if (info->width != format->width || info->height != format->height)
        return tz_codec_fail(call, "JPEG XL: %u x %u pixels in a tile of %u x %u", info->width,
                             info->height, format->width, format->height);
    if (info->bits != format->bits || (info->exponent != 0) != is_jxl_float(format))
        return tz_codec_fail(call, "JPEG XL: %s samples of %u bits in a tile of %u bits",
                             info->exponent ? "float" : "integer", info->bits, format->bits);
    if (info->extra_channels >= format->samples)
        return tz_codec_fail_size(call, format->samples, info->extra_channels,
                                  "JPEG XL: more extra channels than samples");
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Decoder: samples
 * ------------------------------------------------------------------------------------------ */

/* Lets libjxl read up to the first frame, checks all frames from there on, and lets libjxl go on.
 * Only libjxl can read the colour encoding between the headers and the frames. The headers that it
 * read must be those that were read before it. */
static tz_result read_jxl_headers(jxl_decode_job *job)
{
    const tz_jxl_info *info = job->info;
    const tz_tile_format *format = job->format;
    if (JxlDecoderSetInput(job->decoder, info->stream, info->stream_size) != JXL_DEC_SUCCESS)
        return tz_codec_fail(job->call, "JPEG XL: libjxl takes no input");
    TZ_TRY(expect_status(job, JXL_DEC_BASIC_INFO));
    JxlBasicInfo basic;
    if (JxlDecoderGetBasicInfo(job->decoder, &basic) != JXL_DEC_SUCCESS ||
        basic.xsize != format->width || basic.ysize != format->height ||
        basic.bits_per_sample != format->bits || basic.have_animation || basic.have_preview ||
        basic.num_extra_channels != info->extra_channels ||
        basic.orientation != JXL_ORIENT_IDENTITY)
        return tz_codec_fail(job->call, "JPEG XL: broken header");
    const uint32_t channels = basic.num_color_channels + basic.num_extra_channels;
    if (channels != format->samples)
        return tz_codec_fail_size(job->call, format->samples, channels,
                                  "JPEG XL: the number of channels is not that of the tile");
    /* libjxl delivers alpha together with the colours if it is the only extra channel. */
    JxlExtraChannelInfo channel;
    const bool together =
        info->extra_channels == 1 &&
        JxlDecoderGetExtraChannelInfo(job->decoder, 0, &channel) == JXL_DEC_SUCCESS &&
        channel.type == JXL_CHANNEL_ALPHA;
    job->pixels.num_channels = basic.num_color_channels + together;
    job->separate = together ? 0 : basic.num_extra_channels;

    TZ_TRY(expect_status(job, JXL_DEC_COLOR_ENCODING));
    const size_t left = JxlDecoderReleaseInput(job->decoder);
    const size_t first = info->stream_size - left;
    TZ_TRY(tz_jxl_check_frames(info, first, job->call));
    if (JxlDecoderSetInput(job->decoder, info->stream + first, left) != JXL_DEC_SUCCESS)
        return tz_codec_fail(job->call, "JPEG XL: libjxl takes no input");
    return expect_status(job, JXL_DEC_NEED_IMAGE_OUT_BUFFER);
}

/* libjxl's callback for a part of a row. */
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

/* Sets the buffers that libjxl writes to. Rows that are apart, or that have samples of extra
 * channels between the colours, are written by a callback. */
static tz_result set_outputs(jxl_decoder *state, jxl_decode_job *job, size_t *plane_size)
{
    JxlDecoderStatus status = JXL_DEC_SUCCESS;
    JxlPixelFormat single = job->pixels;
    single.num_channels = 1;
    *plane_size = (size_t)job->format->width * job->format->height * job->sample_size;
    if (job->separate > 0)
        TZ_TRY(tz_codec_reserve(&state->planes, tz_mul_capped(*plane_size, job->separate),
                                "bytes of memory for channels of JPEG XL", job->call));
    for (uint32_t i = 0; status == JXL_DEC_SUCCESS && i < job->separate; i++)
        status = JxlDecoderSetExtraChannelBuffer(
            job->decoder, &single, state->planes.data + i * *plane_size, *plane_size, i);
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
        const uint8_t *in = state->planes.data + i * plane_size;
        for (size_t y = 0; y < job->format->height; y++) {
            uint8_t *out = job->out + y * job->stride + (job->pixels.num_channels + i) * size;
            for (size_t x = 0; x < width; x++, in += size, out += step)
                memcpy(out, in, size);
        }
    }
}

static tz_result jxl_decode(void *opaque, const tz_tile_format *format, const uint8_t *in,
                            size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call)
{
    jxl_decoder *state = opaque;
    tz_jxl_info info;
    jxl_decode_job job = {.format = format,
                          .call = call,
                          .info = &info,
                          .pixels = jxl_pixel_format(format, 0),
                          .sample_size = format->bits / 8,
                          .out = out,
                          .stride = stride};
    const bool is_uint = format->sample_format == TZ_SAMPLE_FORMAT_UINT;
    if (!(is_uint && (format->bits == 8 || format->bits == 16)) &&
        !(is_jxl_float(format) && (format->bits == 16 || format->bits == 32)))
        return tz_codec_fail_unsupported(call, "JPEG XL with samples of %u bits and format %u",
                                         format->bits, format->sample_format);
    TZ_TRY(tz_jxl_read_info(&info, in, in_size, call));
    TZ_TRY(check_jxl_info(&info, format, call));
    const JxlMemoryManager manager = {NULL, jxl_alloc, jxl_free};
    if (!state->decoder)
        state->decoder = JxlDecoderCreate(&manager);
    if (!state->decoder)
        return tz_fail_nomem(call->ctx, sizeof(void *));
    job.decoder = state->decoder;
    JxlDecoderReset(job.decoder);
    if (JxlDecoderSubscribeEvents(job.decoder, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING |
                                                   JXL_DEC_FULL_IMAGE) != JXL_DEC_SUCCESS)
        return tz_codec_fail(call, "JPEG XL: libjxl does not start");
    size_t plane_size = 0;
    tz_result result = read_jxl_headers(&job);
    if (result == TZ_OK)
        result = set_outputs(state, &job, &plane_size);
    if (result == TZ_OK)
        result = expect_status(&job, JXL_DEC_FULL_IMAGE);
    if (result == TZ_OK)
        store_jxl_planes(state, &job, plane_size);
    JxlDecoderReset(state->decoder); /* so that it forgets input and output */
    return result;
}

static void jxl_decoder_deinit(void *opaque)
{
    jxl_decoder *state = opaque;
    if (state->decoder)
        JxlDecoderDestroy(state->decoder);
    tz_codec_buffer_deinit(&state->planes);
    state->decoder = NULL;
}

const tz_decoder tz_decoder_jxl = {
    .flags = TZ_DECODER_NATIVE_ENDIAN | TZ_DECODER_ANY_STRIDE | TZ_DECODER_NO_OVERRUN |
             TZ_DECODER_NO_PREDICTOR,
    .state_size = sizeof(jxl_decoder),
    .decode = jxl_decode,
    .deinit = jxl_decoder_deinit,
};

/* ---------------------------------------------------------------------------------------------
 * Encoder: options
 * ------------------------------------------------------------------------------------------ */

/* In versions before, extra channels are always lossless. */
#define HAS_CHANNEL_DISTANCE (JPEGXL_NUMERIC_VERSION >= JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0))

enum { MAX_EXTRA_CHANNELS = 256, VERSION_0_12 = 12000 };

typedef struct jxl_encoder {
    JxlEncoder *encoder;
    size_t refused; /* bytes that could not be allocated; 0: none */
    /* colours, then the extra channels one by one; or a tile to compare */
    tz_codec_buffer scratch;
    void *decoder; /* of tz_decoder_jxl */
} jxl_encoder;

/* The tile being encoded. */
typedef struct jxl_encode_job {
    jxl_encoder *state;
    JxlEncoder *encoder;
    const tz_tile_format *format;
    const tz_encode_options *options;
    uint32_t colours;  /* 1 or 3 */
    bool with_alpha;   /* alpha goes together with the colours */
    const uint8_t *in; /* colours, and alpha */
    uint8_t *planes;   /* the other channels */
} jxl_encode_job;

static const char *jxl_resolve_options(const tz_tile_format *format, tz_encode_options *options)
{
    (void)format;
    if (options->level == TZ_EFFORT_FAST)
        options->level = 1;
    if (options->level == 0)
        options->level = 5;
    if (options->level < 1 || options->level > 9)
        return "JPEG XL levels are 1 to 9";
    if (options->level > 7 && JxlEncoderVersion() < VERSION_0_12)
        return "JPEG XL levels are 1 to 7 with this libjxl; 8 and 9 take 0.12 or later";
    if (options->lossless)
        return options->distance != 0 || options->alpha_distance > 0
                   ? "JPEG XL has a distance only when it is not lossless"
                   : NULL;
    if (options->distance == 0)
        options->distance = 1;
    if (!(options->distance >= 0.01 && options->distance <= 25) || !(options->alpha_distance <= 25))
        return "a distance of JPEG XL is 0.01 to 25";
    if (options->alpha_distance != 0 && !HAS_CHANNEL_DISTANCE)
        return "a distance of alpha other than that of colours needs libjxl 0.9";
    if (options->alpha_distance == 0)
        options->alpha_distance = options->distance;
    return NULL;
}

static const char *jxl_unsupported_reason(const tz_tile_format *format,
                                          const tz_encode_options *options)
{
    const bool whole =
        format->sample_format == TZ_SAMPLE_FORMAT_UINT && (format->bits == 8 || format->bits == 16);
    if (!whole && !(is_jxl_float(format) && format->bits == 32))
        return "JPEG XL takes uint8, uint16 and float32";
    if (is_jxl_float(format) && !options->lossless)
        return "JPEG XL takes floats only when it is lossless";
    if (format->samples < 1 || format->samples > MAX_EXTRA_CHANNELS)
        return "JPEG XL takes up to 256 bands interleaved by pixel, or any number stored apart";
    if (format->photometric == TZ_PHOTOMETRIC_YCBCR)
        return "JPEG XL decorrelates RGB itself: store RGB, not YCbCr";
    return NULL;
}

/* ---------------------------------------------------------------------------------------------
 * Encoder: sizes
 * ------------------------------------------------------------------------------------------ */

/* Noise grows a little; every channel has its headers. */
static size_t jxl_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    return tz_tile_bytes(format) * 2 + (size_t)format->samples * 1024 + (1u << 16);
}

/* libjxl's memory, measured and rounded up, and the scratch. */
static uint64_t jxl_memory(const tz_tile_format *format, const tz_encode_options *options)
{
    const uint64_t samples = (uint64_t)format->width * format->height * format->samples;
    return samples * (options->level > 7 ? 128 : 64) + tz_tile_bytes(format) + (8u << 20);
}

/* ---------------------------------------------------------------------------------------------
 * Encoder: libjxl
 * ------------------------------------------------------------------------------------------ */

static uint32_t exponent_bits(const tz_tile_format *format)
{
    return is_jxl_float(format) ? 8 : 0;
}

/* Describes the image. With uses_original_profile libjxl does not convert colours, which would not
 * be lossless. */
static bool set_jxl_image(const jxl_encode_job *job)
{
    const tz_tile_format *format = job->format;
    JxlBasicInfo info;
    JxlColorEncoding colour;
    JxlEncoderInitBasicInfo(&info);
    info.xsize = format->width;
    info.ysize = format->height;
    info.bits_per_sample = format->bits;
    info.exponent_bits_per_sample = exponent_bits(format);
    info.num_color_channels = job->colours;
    info.num_extra_channels = format->samples - job->colours;
    info.alpha_bits = job->with_alpha ? format->bits : 0;
    info.alpha_exponent_bits = job->with_alpha ? exponent_bits(format) : 0;
    info.uses_original_profile = job->options->lossless;
    JxlColorEncodingSetToSRGB(&colour, job->colours == 1);
    return JxlEncoderSetBasicInfo(job->encoder, &info) == JXL_ENC_SUCCESS &&
           JxlEncoderSetColorEncoding(job->encoder, &colour) == JXL_ENC_SUCCESS;
}

/* Describes extra channel number index, which is sample colours + index of a pixel. */
static bool describe_channel(const jxl_encode_job *job, JxlEncoderFrameSettings *settings,
                             uint32_t index)
{
    const tz_tile_format *format = job->format;
    const bool alpha = format->alpha && job->colours + index + 1 == format->samples;
    JxlExtraChannelInfo info;
    JxlEncoderInitExtraChannelInfo(alpha ? JXL_CHANNEL_ALPHA : JXL_CHANNEL_OPTIONAL, &info);
    info.bits_per_sample = format->bits;
    info.exponent_bits_per_sample = exponent_bits(format);
    if (!job->with_alpha &&
        JxlEncoderSetExtraChannelInfo(job->encoder, index, &info) != JXL_ENC_SUCCESS)
        return false;
#if HAS_CHANNEL_DISTANCE
    const double distance = alpha ? job->options->alpha_distance : job->options->distance;
    if (!job->options->lossless)
        return JxlEncoderSetExtraChannelDistance(
                   settings, index, distance < 0 ? 0 : (float)distance) == JXL_ENC_SUCCESS;
#else
    (void)settings;
#endif
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Encoder: samples
 * ------------------------------------------------------------------------------------------ */

/* Arranges samples as libjxl takes them: colours, with alpha if that is the only other channel, in
 * one buffer, and further channels in planes. */
static tz_result prepare_channels(jxl_encode_job *job, const uint8_t *in, const tz_codec_call *call)
{
    const tz_tile_format *format = job->format;
    job->colours = format->photometric == TZ_PHOTOMETRIC_RGB && format->samples >= 3 ? 3 : 1;
    job->with_alpha = format->alpha && format->samples == job->colours + 1;
    job->in = in;
    if (format->samples == job->colours + job->with_alpha)
        return TZ_OK;
    TZ_TRY(tz_codec_reserve(&job->state->scratch, tz_tile_bytes(format), NULL, call));
    /* the colours together, then each extra channel by itself */
    const size_t sample = format->bits / 8, step = format->samples * sample;
    const size_t pixels = (size_t)format->width * format->height;
    uint8_t *out = job->state->scratch.data;
    for (size_t i = 0; i < pixels; i++)
        memcpy(out + i * job->colours * sample, in + i * step, job->colours * sample);
    job->in = out;
    job->planes = out += pixels * job->colours * sample;
    for (size_t s = job->colours; s < format->samples; s++)
        for (size_t i = 0; i < pixels; i++, out += sample)
            memcpy(out, in + i * step + s * sample, sample);
    return TZ_OK;
}

/* Describes the frame and hands over its samples: colours and alpha together, then the planes of
 * other channels. Returns false if libjxl refuses something, or has no memory left. */
static bool start_jxl_frame(const jxl_encode_job *job)
{
    JxlEncoderFrameSettings *settings = JxlEncoderFrameSettingsCreate(job->encoder, NULL);
    const tz_encode_options *options = job->options;
    if (!settings || !set_jxl_image(job) ||
        JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, options->level) !=
            JXL_ENC_SUCCESS)
        return false;
    if (options->lossless
            ? JxlEncoderSetFrameLossless(settings, JXL_TRUE) != JXL_ENC_SUCCESS ||
                  JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_KEEP_INVISIBLE,
                                                   1) != JXL_ENC_SUCCESS
            : JxlEncoderSetFrameDistance(settings, (float)options->distance) != JXL_ENC_SUCCESS)
        return false;
    for (uint32_t i = 0; i < job->format->samples - job->colours; i++)
        if (!describe_channel(job, settings, i))
            return false;
    const tz_tile_format *format = job->format;
    const uint32_t together = job->colours + job->with_alpha;
    const size_t plane = (size_t)format->width * format->height * (format->bits / 8);
    const JxlPixelFormat pixels = jxl_pixel_format(format, together);
    const JxlPixelFormat single = jxl_pixel_format(format, 1);
    if (JxlEncoderAddImageFrame(settings, &pixels, job->in, plane * together) != JXL_ENC_SUCCESS)
        return false;
    for (uint32_t i = 0; i < format->samples - together; i++)
        if (JxlEncoderSetExtraChannelBuffer(settings, &single, job->planes + i * plane, plane, i) !=
            JXL_ENC_SUCCESS)
            return false;
    JxlEncoderCloseInput(job->encoder);
    return true;
}

static tz_result fail_jxl_encode(const jxl_encode_job *job, const tz_codec_call *call)
{
    const JxlEncoderError error = JxlEncoderGetError(job->encoder);
    if (job->state->refused > 0 || error == JXL_ENC_ERR_OOM)
        return tz_fail_nomem(call->ctx, jxl_memory(job->format, job->options));
    return tz_codec_fail(call, "JPEG XL: libjxl cannot encode it (error %d)", (int)error);
}

/* Decodes the encoded tile and compares it with the input. */
static tz_result check_round_trip(const jxl_encode_job *job, const uint8_t *in, const uint8_t *out,
                                  size_t out_size, const tz_codec_call *call)
{
    jxl_encoder *state = job->state;
    const tz_tile_format *format = job->format;
    const size_t size = tz_tile_bytes(format);
    tz_limits limits;
    tz_context ctx = *call->ctx;
    const tz_codec_call unlimited = {&ctx, call->location};
    tz_limits_resolve(&limits, NULL);
    limits.max_codec_bytes = UINT64_MAX;
    ctx.limits = &limits;
    TZ_TRY(tz_codec_reserve(&state->scratch, size, NULL, call));
    TZ_TRY(tz_decoder_jxl.decode(state->decoder, format, out, out_size, state->scratch.data,
                                 tz_tile_row_bytes(format), &unlimited));
    if (memcmp(state->scratch.data, in, size) == 0)
        return TZ_OK;
    return tz_fail(call->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_CODEC, call->location,
                   "JPEG XL: libjxl does not give back the samples of this tile; larger tiles or "
                   "another level may help");
}

/* Tiles that libjxl may not give back as they were: see the head of this file. */
static bool needs_check(const tz_tile_format *format, const tz_encode_options *options)
{
    return options->lossless && (is_jxl_float(format) || options->level == 1);
}

static tz_result jxl_encode(void *opaque, const tz_tile_format *format,
                            const tz_encode_options *options, uint8_t *in, uint8_t *out,
                            size_t *out_size, const tz_codec_call *call)
{
    jxl_encoder *state = opaque;
    jxl_encode_job job = {
        .state = state, .encoder = state->encoder, .format = format, .options = options};
    TZ_TRY(prepare_channels(&job, in, call));
    state->refused = 0;
    JxlEncoderReset(job.encoder);
    if (!start_jxl_frame(&job))
        return fail_jxl_encode(&job, call);
    const size_t capacity =
        jxl_bound(format, options) - TZ_CODEC_SLACK; /* the decoder may want it */
    size_t left = capacity;
    uint8_t *next = out;
    const JxlEncoderStatus status = JxlEncoderProcessOutput(job.encoder, &next, &left);
    if (status == JXL_ENC_NEED_MORE_OUTPUT)
        return tz_codec_fail(call, "JPEG XL: a tile takes more than %zu bytes", capacity);
    if (status != JXL_ENC_SUCCESS)
        return fail_jxl_encode(&job, call);
    *out_size = capacity - left;
    return needs_check(format, options) ? check_round_trip(&job, in, out, *out_size, call) : TZ_OK;
}

static void jxl_encoder_deinit(void *opaque)
{
    jxl_encoder *state = opaque;
    if (state->encoder)
        JxlEncoderDestroy(state->encoder);
    if (state->decoder)
        tz_decoder_jxl.deinit(state->decoder);
    tz_free(state->decoder);
    tz_codec_buffer_deinit(&state->scratch);
    *state = (jxl_encoder){.encoder = NULL};
}

static tz_result jxl_encoder_init(void *opaque, const tz_tile_format *format,
                                  const tz_encode_options *options, const tz_context *ctx)
{
    jxl_encoder *state = opaque;
    const JxlMemoryManager manager = {&state->refused, jxl_alloc, jxl_free};
    state->encoder = JxlEncoderCreate(&manager);
    if (needs_check(format, options))
        state->decoder = tz_alloc_zeroed(1, tz_decoder_jxl.state_size);
    if (state->encoder && (state->decoder || !needs_check(format, options)))
        return TZ_OK;
    jxl_encoder_deinit(state);
    return tz_fail_nomem(ctx, jxl_memory(format, options));
}

const tz_encoder tz_encoder_jxl = {
    .flags = TZ_ENCODER_NATIVE_ENDIAN | TZ_ENCODER_NO_PREDICTOR,
    .state_size = sizeof(jxl_encoder),
    .resolve_options = jxl_resolve_options,
    .unsupported_reason = jxl_unsupported_reason,
    .lossy = tz_encoder_is_lossy,
    .bound = jxl_bound,
    .memory = jxl_memory,
    .init = jxl_encoder_init,
    .deinit = jxl_encoder_deinit,
    .encode = jxl_encode,
};
