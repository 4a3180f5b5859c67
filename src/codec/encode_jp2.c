/* SPDX-License-Identifier: Apache-2.0
 * JPEG 2000 (compression 34712), by OpenJPEG: a bare codestream of one tile and one layer. Lossless
 * is the reversible 5/3 wavelet; lossy is 9/7, cut off at a signal-to-noise ratio that quality
 * names. The colours of RGB are decorrelated within the codestream. */
#include "codec/encoder.h"

#ifdef TZ_HAVE_OPENJPEG

#include <string.h>

#include <openjpeg.h>

#include "codec/jp2_choice.h"
#include "codec/jp2_markers.h"

#define STREAM_BUFFER 16384
#define TEXT_SIZE     160

/* One call of encode. */
typedef struct jp2_job {
    const tz_tile_format *format;
    uint8_t *out;
    size_t room;
    size_t position;
    size_t size; /* the highest position that was written to */
    bool overflow;
    char error[TEXT_SIZE];
    opj_codec_t *codec;
    opj_stream_t *stream;
    opj_image_t *image;
} jp2_job;

/* ---------------------------------------------------------------------------------------------
 * Choices
 * ------------------------------------------------------------------------------------------ */

static const char *choose(const tz_tile_format *format, tz_encode_choice *choice)
{
    (void)format;
    if (choice->lossless)
        return choice->quality > 0 ? "JPEG 2000 has a quality only when it is not lossless" : NULL;
    if (choice->quality == 0)
        choice->quality = 75;
    return choice->quality > 100 ? "JPEG 2000 quality is 1 to 100" : NULL;
}

static const char *refuse(const tz_tile_format *format, const tz_encode_choice *choice)
{
    (void)choice;
    if ((format->bits != 8 && format->bits != 16) ||
        (format->sample_format != 1 && format->sample_format != 2))
        return "JPEG 2000 takes integers of 8 and 16 bits";
    if (format->samples < 1 || format->samples > TZ_JP2_MAX_COMPONENTS)
        return "JPEG 2000 takes up to 64 bands interleaved by pixel, or any number stored apart";
    if (format->photometric == 6)
        return "JPEG 2000 decorrelates RGB itself: store RGB, not YCbCr";
    return NULL;
}

static bool lossy(const tz_tile_format *format, const tz_encode_choice *choice)
{
    (void)format;
    return !choice->lossless;
}

/* Noise takes up to a third more than it had, when colours are decorrelated that are not related;
 * every component has its headers. */
static size_t bound(const tz_tile_format *format, const tz_encode_choice *choice)
{
    (void)choice;
    return tz_tile_bytes(format) * 2 + (size_t)format->samples * 256 + STREAM_BUFFER;
}

/* OpenJPEG's own: samples in 32 bits twice, code blocks with their passes, and the stream. By
 * measurement, and rounded up. */
static uint64_t memory(const tz_tile_format *format, const tz_encode_choice *choice)
{
    const uint64_t samples = (uint64_t)format->width * format->height * format->samples;
    return samples * 16 + bound(format, choice) + (1u << 20);
}

/* ---------------------------------------------------------------------------------------------
 * The stream: memory that does not grow
 * ------------------------------------------------------------------------------------------ */

static OPJ_SIZE_T stream_write(void *buffer, OPJ_SIZE_T size, void *user)
{
    jp2_job *job = user;
    if (size > job->room - job->position) {
        job->overflow = true;
        return (OPJ_SIZE_T)-1;
    }
    memcpy(job->out + job->position, buffer, size);
    job->position += size;
    job->size = job->position > job->size ? job->position : job->size;
    return size;
}

static OPJ_BOOL stream_seek(OPJ_OFF_T position, void *user)
{
    jp2_job *job = user;
    if (position < 0 || (uint64_t)position > job->size)
        return OPJ_FALSE;
    job->position = (size_t)position;
    return OPJ_TRUE;
}

static OPJ_OFF_T stream_skip(OPJ_OFF_T count, void *user)
{
    const jp2_job *job = user;
    return stream_seek((OPJ_OFF_T)job->position + count, user) ? count : -1;
}

static bool open_stream(jp2_job *job)
{
    job->stream = opj_stream_create(STREAM_BUFFER, OPJ_FALSE);
    if (!job->stream)
        return false;
    opj_stream_set_user_data(job->stream, job, NULL);
    opj_stream_set_write_function(job->stream, stream_write);
    opj_stream_set_skip_function(job->stream, stream_skip);
    opj_stream_set_seek_function(job->stream, stream_seek);
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Samples
 * ------------------------------------------------------------------------------------------ */

static void read_samples(int32_t *out, const uint8_t *in, size_t count, size_t step,
                         const tz_tile_format *format)
{
    const bool is_signed = format->sample_format == 2;
    for (size_t i = 0; i < count; i++, in += step) {
        uint16_t value = *in;
        if (format->bits == 16)
            memcpy(&value, in, sizeof value);
        else if (is_signed)
            value = (uint16_t)(int8_t)*in;
        out[i] = is_signed ? (int16_t)value : value;
    }
}

static bool make_image(jp2_job *job, const uint8_t *in)
{
    const tz_tile_format *format = job->format;
    const size_t size = format->bits / 8, pixels = (size_t)format->width * format->height;
    opj_image_cmptparm_t components[TZ_JP2_MAX_COMPONENTS] = {{0}};
    for (unsigned i = 0; i < format->samples; i++)
        components[i] = (opj_image_cmptparm_t){.dx = 1,
                                               .dy = 1,
                                               .w = format->width,
                                               .h = format->height,
                                               .prec = format->bits,
                                               .sgnd = format->sample_format == 2};
    job->image = opj_image_create(format->samples, components, OPJ_CLRSPC_UNSPECIFIED);
    if (!job->image)
        return false;
    job->image->x1 = format->width;
    job->image->y1 = format->height;
    for (unsigned i = 0; i < format->samples; i++)
        read_samples(job->image->comps[i].data, in + i * size, pixels, format->samples * size,
                     format);
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Encoding
 * ------------------------------------------------------------------------------------------ */

static void on_error(const char *message, void *user)
{
    jp2_job *job = user;
    size_t size = strcspn(message, "\r\n");
    size = size < TEXT_SIZE - 1 ? size : TEXT_SIZE - 1;
    if (job->error[0] != '\0')
        return;
    memcpy(job->error, message, size);
    job->error[size] = '\0';
}

static void on_nothing(const char *message, void *user)
{
    (void)message, (void)user;
}

static void set_parameters(opj_cparameters_t *parameters, const tz_tile_format *format,
                           const tz_encode_choice *choice)
{
    static char comment[] = "terrazzo"; /* one without a byte is against the standard */
    opj_set_default_encoder_parameters(parameters);
    parameters->numresolution = (int)tz_jp2_resolutions(format->width, format->height);
    parameters->tcp_numlayers = 1;
    parameters->tcp_mct = format->photometric == 2 && format->samples >= 3;
    parameters->cp_comment = comment;
    if (choice->lossless) {
        parameters->cp_disto_alloc = 1;
    } else {
        parameters->irreversible = 1;
        parameters->cp_fixed_quality = 1;
        parameters->tcp_distoratio[0] = tz_jp2_ratio(choice->quality);
    }
}

static tz_result failure(const jp2_job *job, const tz_encode_choice *choice,
                         const tz_codec_call *call)
{
    if (job->overflow)
        return tz_codec_fail(call, "JPEG 2000: a tile takes more than %zu bytes", job->room);
    if (strstr(job->error, "memory"))
        return tz_fail_nomem(call->ctx, memory(job->format, choice));
    return tz_codec_fail(call, "JPEG 2000: %s",
                         job->error[0] ? job->error : "OpenJPEG cannot encode it");
}

static tz_result run(jp2_job *job, const tz_encode_choice *choice, const uint8_t *in,
                     const tz_codec_call *call)
{
    opj_cparameters_t parameters;
    set_parameters(&parameters, job->format, choice);
    job->codec = opj_create_compress(OPJ_CODEC_J2K);
    if (!job->codec || !open_stream(job) || !make_image(job, in))
        return tz_fail_nomem(call->ctx, memory(job->format, choice));
    opj_set_error_handler(job->codec, on_error, job);
    opj_set_warning_handler(job->codec, on_nothing, NULL);
    opj_set_info_handler(job->codec, on_nothing, NULL);
    if (!opj_setup_encoder(job->codec, &parameters, job->image) ||
        !opj_start_compress(job->codec, job->image, job->stream) ||
        !opj_encode(job->codec, job->stream) || !opj_end_compress(job->codec, job->stream))
        return failure(job, choice, call);
    return TZ_OK;
}

static tz_result encode(void *state, const tz_tile_format *format, const tz_encode_choice *choice,
                        uint8_t *in, uint8_t *out, size_t *out_size, const tz_codec_call *call)
{
    (void)state;
    jp2_job job = {.format = format, .out = out, .room = bound(format, choice)};
    tz_result result = run(&job, choice, in, call);
    if (job.stream)
        opj_stream_destroy(job.stream);
    if (job.codec)
        opj_destroy_codec(job.codec);
    opj_image_destroy(job.image);
    *out_size = job.size;
    return result;
}

static const uint16_t compressions[] = {34712, 0};

const tz_encoder tz_encoder_jp2 = {
    .name = "jpeg2000",
    .library = "OpenJPEG",
    .compressions = compressions,
    .flags = TZ_ENCODER_NATIVE | TZ_ENCODER_NO_PREDICTOR,
    .choose = choose,
    .refuse = refuse,
    .lossy = lossy,
    .bound = bound,
    .memory = memory,
    .encode = encode,
};

#endif
