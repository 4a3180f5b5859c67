/* SPDX-License-Identifier: Apache-2.0
 * JPEG XL (compression 50002, and 52546 of DNG), by libjxl in one thread. Samples beyond grey or
 * RGB are extra channels. A tile is a bare codestream, unless its samples ask for level 10 of the
 * standard, which only a container can say.
 *
 * What versions of libjxl get wrong stays out of files: before 0.12, levels 8 and 9 may end the
 * process; float16 loses NaN and its smallest numbers; and float32 in the smallest of tiles, or
 * integers at level 1, may come back as others, so that these tiles are decoded again and compared.
 * libjxl takes most of its memory past the manager it is given, and its arithmetic is that of the
 * processor's widest instructions: on another kind of processor a tile may take other bytes. */
#include "codec/encoder.h"

#ifdef TZ_HAVE_JXL

#include <string.h>

#include <jxl/encode.h>
#include <jxl/version.h>

#include "base/limits.h"
#include "base/mem.h"

/* Before, extra channels are always lossless. */
#define HAS_CHANNEL_DISTANCE (JPEGXL_NUMERIC_VERSION >= JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0))

enum { MAX_EXTRA_CHANNELS = 256, VERSION_0_12 = 12000 };

typedef struct jxl_state {
    JxlEncoder *encoder;
    size_t refused;   /* what the manager was asked for when there was no memory; 0: never */
    uint8_t *scratch; /* colours, then the extra channels one by one; or a tile to compare */
    size_t scratch_capacity;
    void *decoder; /* of tz_codec_jxl */
} jxl_state;

/* One call of encode. */
typedef struct jxl_job {
    jxl_state *state;
    JxlEncoder *encoder;
    const tz_tile_format *format;
    const tz_encode_choice *choice;
    uint32_t colours;  /* 1 or 3 */
    bool with_alpha;   /* alpha goes together with the colours */
    const uint8_t *in; /* colours, and alpha */
    uint8_t *planes;   /* the other channels */
} jxl_job;

/* ---------------------------------------------------------------------------------------------
 * Choices
 * ------------------------------------------------------------------------------------------ */

static const char *choose_distance(tz_encode_choice *choice)
{
    if (choice->lossless)
        return choice->distance != 0 || choice->alpha_distance > 0
                   ? "JPEG XL has a distance only when it is not lossless"
                   : NULL;
    if (choice->distance == 0)
        choice->distance = 1;
    if (!(choice->distance >= 0.01 && choice->distance <= 25) || !(choice->alpha_distance <= 25))
        return "a distance of JPEG XL is 0.01 to 25";
    if (choice->alpha_distance != 0 && !HAS_CHANNEL_DISTANCE)
        return "a distance of alpha other than that of colours needs libjxl 0.9";
    if (choice->alpha_distance == 0)
        choice->alpha_distance = choice->distance;
    return NULL;
}

static const char *choose(const tz_tile_format *format, tz_encode_choice *choice)
{
    (void)format;
    if (choice->level == TZ_LEVEL_FAST)
        choice->level = 1;
    if (choice->level == 0)
        choice->level = 5;
    if (choice->level < 1 || choice->level > 9)
        return "JPEG XL levels are 1 to 9";
    if (choice->level > 7 && JxlEncoderVersion() < VERSION_0_12)
        return "JPEG XL levels are 1 to 7 with this libjxl; 8 and 9 take 0.12 or later";
    return choose_distance(choice);
}

static bool is_float(const tz_tile_format *format)
{
    return format->sample_format == 3;
}

static uint32_t colours_of(const tz_tile_format *format)
{
    return format->photometric == 2 && format->samples >= 3 ? 3 : 1;
}

static const char *refuse(const tz_tile_format *format, const tz_encode_choice *choice)
{
    const bool whole = format->sample_format == 1 && (format->bits == 8 || format->bits == 16);
    if (!whole && !(is_float(format) && format->bits == 32))
        return "JPEG XL takes uint8, uint16 and float32";
    if (is_float(format) && !choice->lossless)
        return "JPEG XL takes floats only when it is lossless";
    if (format->samples < 1 || format->samples > MAX_EXTRA_CHANNELS)
        return "JPEG XL takes up to 256 bands interleaved by pixel, or any number stored apart";
    if (format->photometric == 6)
        return "JPEG XL decorrelates RGB itself: store RGB, not YCbCr";
    return NULL;
}

static bool lossy(const tz_tile_format *format, const tz_encode_choice *choice)
{
    (void)format;
    return !choice->lossless;
}

/* ---------------------------------------------------------------------------------------------
 * Sizes
 * ------------------------------------------------------------------------------------------ */

/* Noise takes a little more than it had; every channel has its headers. */
static size_t bound(const tz_tile_format *format, const tz_encode_choice *choice)
{
    (void)choice;
    return tz_tile_bytes(format) * 2 + (size_t)format->samples * 1024 + (1u << 16);
}

/* What libjxl holds, by measurement and rounded up, and the scratch. */
static uint64_t memory(const tz_tile_format *format, const tz_encode_choice *choice)
{
    const uint64_t samples = (uint64_t)format->width * format->height * format->samples;
    return samples * (choice->level > 7 ? 128 : 64) + tz_tile_bytes(format) + (8u << 20);
}

/* ---------------------------------------------------------------------------------------------
 * The encoder
 * ------------------------------------------------------------------------------------------ */

static void *manager_alloc(void *user, size_t size)
{
    jxl_state *state = user;
    void *block = tz_alloc(size);
    if (!block)
        state->refused = size;
    return block;
}

static void manager_free(void *user, void *block)
{
    (void)user;
    tz_free(block);
}

static JxlPixelFormat pixels_of(const tz_tile_format *format, uint32_t channels)
{
    JxlPixelFormat pixels = {.num_channels = channels, .endianness = JXL_NATIVE_ENDIAN};
    if (is_float(format))
        pixels.data_type = JXL_TYPE_FLOAT;
    else
        pixels.data_type = format->bits == 8 ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16;
    return pixels;
}

static uint32_t exponent_bits(const tz_tile_format *format)
{
    return is_float(format) ? 8 : 0;
}

static bool set_image(const jxl_job *job)
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
    info.uses_original_profile = job->choice->lossless;
    JxlColorEncodingSetToSRGB(&colour, job->colours == 1);
    return JxlEncoderSetBasicInfo(job->encoder, &info) == JXL_ENC_SUCCESS &&
           JxlEncoderSetColorEncoding(job->encoder, &colour) == JXL_ENC_SUCCESS;
}

static bool set_frame(const jxl_job *job, JxlEncoderFrameSettings *settings)
{
    const tz_encode_choice *choice = job->choice;
    if (JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, choice->level) !=
        JXL_ENC_SUCCESS)
        return false;
    if (!choice->lossless)
        return JxlEncoderSetFrameDistance(settings, (float)choice->distance) == JXL_ENC_SUCCESS;
    return JxlEncoderSetFrameLossless(settings, JXL_TRUE) == JXL_ENC_SUCCESS &&
           JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_KEEP_INVISIBLE, 1) ==
               JXL_ENC_SUCCESS;
}

/* Extra channel index, which is sample colours + index. */
static bool describe_channel(const jxl_job *job, JxlEncoderFrameSettings *settings, uint32_t index)
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
    const double distance = alpha ? job->choice->alpha_distance : job->choice->distance;
    if (!job->choice->lossless)
        return JxlEncoderSetExtraChannelDistance(
                   settings, index, distance < 0 ? 0 : (float)distance) == JXL_ENC_SUCCESS;
#else
    (void)settings;
#endif
    return true;
}

static bool add_pixels(const jxl_job *job, JxlEncoderFrameSettings *settings)
{
    const tz_tile_format *format = job->format;
    const uint32_t together = job->colours + job->with_alpha;
    const size_t plane = (size_t)format->width * format->height * (format->bits / 8);
    const JxlPixelFormat pixels = pixels_of(format, together), single = pixels_of(format, 1);
    if (JxlEncoderAddImageFrame(settings, &pixels, job->in, plane * together) != JXL_ENC_SUCCESS)
        return false;
    for (uint32_t i = 0; i < format->samples - together; i++)
        if (JxlEncoderSetExtraChannelBuffer(settings, &single, job->planes + i * plane, plane, i) !=
            JXL_ENC_SUCCESS)
            return false;
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Encoding
 * ------------------------------------------------------------------------------------------ */

/* Colours together, then each extra channel by itself. */
static void split_channels(uint8_t *out, const tz_tile_format *format, uint32_t colours,
                           const uint8_t *in)
{
    const size_t size = format->bits / 8, step = format->samples * size;
    const size_t pixels = (size_t)format->width * format->height;
    for (size_t i = 0; i < pixels; i++)
        memcpy(out + i * colours * size, in + i * step, colours * size);
    out += pixels * colours * size;
    for (size_t s = colours; s < format->samples; s++)
        for (size_t i = 0; i < pixels; i++, out += size)
            memcpy(out, in + i * step + s * size, size);
}

static tz_result reserve(jxl_state *state, size_t size, const tz_codec_call *call)
{
    if (size <= state->scratch_capacity)
        return TZ_OK;
    tz_free(state->scratch);
    state->scratch = tz_alloc(size);
    state->scratch_capacity = state->scratch ? size : 0;
    return state->scratch ? TZ_OK : tz_fail_nomem(call->ctx, size);
}

static tz_result prepare(jxl_job *job, const uint8_t *in, const tz_codec_call *call)
{
    const tz_tile_format *format = job->format;
    const size_t size = tz_tile_bytes(format);
    job->colours = colours_of(format);
    job->with_alpha = format->alpha && format->samples == job->colours + 1;
    job->in = in;
    if (format->samples == job->colours + job->with_alpha)
        return TZ_OK;
    TZ_TRY(reserve(job->state, size, call));
    split_channels(job->state->scratch, format, job->colours, in);
    job->in = job->state->scratch;
    job->planes = job->state->scratch + size / format->samples * job->colours;
    return TZ_OK;
}

/* false when libjxl refuses something, or has no memory left. */
static bool start(const jxl_job *job)
{
    JxlEncoderFrameSettings *settings = JxlEncoderFrameSettingsCreate(job->encoder, NULL);
    if (!settings || !set_image(job) || !set_frame(job, settings))
        return false;
    for (uint32_t i = 0; i < job->format->samples - job->colours; i++)
        if (!describe_channel(job, settings, i))
            return false;
    if (!add_pixels(job, settings))
        return false;
    JxlEncoderCloseInput(job->encoder);
    return true;
}

static tz_result failure(const jxl_job *job, const tz_codec_call *call)
{
    const JxlEncoderError error = JxlEncoderGetError(job->encoder);
    if (job->state->refused > 0 || error == JXL_ENC_ERR_OOM)
        return tz_fail_nomem(call->ctx, memory(job->format, job->choice));
    return tz_codec_fail(call, "JPEG XL: libjxl cannot encode it (error %d)", (int)error);
}

/* Our decoder must make the tile of it. */
static tz_result check(const jxl_job *job, const uint8_t *in, const uint8_t *out, size_t out_size,
                       const tz_codec_call *call)
{
    jxl_state *state = job->state;
    const tz_tile_format *format = job->format;
    const size_t size = tz_tile_bytes(format);
    tz_limits limits;
    tz_context ctx = *call->ctx;
    const tz_codec_call unlimited = {&ctx, call->place};
    tz_limits_resolve(&limits, NULL);
    limits.max_codec_bytes = UINT64_MAX;
    ctx.limits = &limits;
    TZ_TRY(reserve(state, size, call));
    TZ_TRY(tz_codec_jxl.decode(state->decoder, format, out, out_size, state->scratch,
                               tz_tile_row_bytes(format), &unlimited));
    if (memcmp(state->scratch, in, size) == 0)
        return TZ_OK;
    return tz_fail(call->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_CODEC, call->place,
                   "JPEG XL: libjxl does not give back the samples of this tile; larger tiles or "
                   "another level may help");
}

static bool needs_check(const tz_tile_format *format, const tz_encode_choice *choice)
{
    return choice->lossless && (is_float(format) || choice->level == 1);
}

static tz_result encode(void *opaque, const tz_tile_format *format, const tz_encode_choice *choice,
                        uint8_t *in, uint8_t *out, size_t *out_size, const tz_codec_call *call)
{
    jxl_state *state = opaque;
    jxl_job job = {.state = state, .encoder = state->encoder, .format = format, .choice = choice};
    TZ_TRY(prepare(&job, in, call));
    state->refused = 0;
    JxlEncoderReset(job.encoder);
    if (!start(&job))
        return failure(&job, call);
    const size_t room = bound(format, choice) - TZ_CODEC_SLACK; /* the decoder may want it */
    size_t left = room;
    uint8_t *next = out;
    const JxlEncoderStatus status = JxlEncoderProcessOutput(job.encoder, &next, &left);
    if (status == JXL_ENC_NEED_MORE_OUTPUT)
        return tz_codec_fail(call, "JPEG XL: a tile takes more than %zu bytes", room);
    if (status != JXL_ENC_SUCCESS)
        return failure(&job, call);
    *out_size = room - left;
    return needs_check(format, choice) ? check(&job, in, out, *out_size, call) : TZ_OK;
}

static void deinit(void *opaque)
{
    jxl_state *state = opaque;
    if (state->encoder)
        JxlEncoderDestroy(state->encoder);
    if (state->decoder)
        tz_codec_jxl.deinit(state->decoder);
    tz_free(state->decoder);
    tz_free(state->scratch);
    *state = (jxl_state){.encoder = NULL};
}

static tz_result init(void *opaque, const tz_tile_format *format, const tz_encode_choice *choice,
                      const tz_context *ctx)
{
    jxl_state *state = opaque;
    const JxlMemoryManager manager = {state, manager_alloc, manager_free};
    state->encoder = JxlEncoderCreate(&manager);
    if (needs_check(format, choice))
        state->decoder = tz_alloc_zeroed(1, tz_codec_jxl.state_size);
    if (state->encoder && (state->decoder || !needs_check(format, choice)))
        return TZ_OK;
    deinit(state);
    return tz_fail_nomem(ctx, memory(format, choice));
}

static const uint16_t compressions[] = {50002, 52546, 0};

const tz_encoder tz_encoder_jxl = {
    .name = "jpegxl",
    .library = "libjxl",
    .compressions = compressions,
    .flags = TZ_ENCODER_NATIVE | TZ_ENCODER_NO_PREDICTOR,
    .state_size = sizeof(jxl_state),
    .choose = choose,
    .refuse = refuse,
    .lossy = lossy,
    .bound = bound,
    .memory = memory,
    .init = init,
    .deinit = deinit,
    .encode = encode,
};

#endif
