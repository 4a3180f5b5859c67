/* SPDX-License-Identifier: Apache-2.0
 * JPEG 2000 (compression 34712), by OpenJPEG: a bare codestream of one tile and one layer. Lossless
 * is the reversible 5/3 wavelet; lossy is 9/7, cut off at a signal-to-noise ratio that quality
 * names. The colours of RGB are decorrelated within the codestream. */
#include "codec/encoder.h"

#ifdef TZ_HAVE_OPENJPEG

#include <string.h>

#include <openjpeg.h>

#include "codec/jp2_markers.h"
#include "codec/jp2_options.h"

#define STREAM_BUFFER 16384
#define TEXT_SIZE     160

/* One call of encode. */
typedef struct jp2_encode_job {
    const tz_tile_format *format;
    uint8_t *out;
    size_t capacity;
    size_t position;
    size_t size; /* the highest position that was written to */
    bool overflow;
    char error[TEXT_SIZE];
    opj_codec_t *codec;
    opj_stream_t *stream;
    opj_image_t *image;
} jp2_encode_job;

/* ---------------------------------------------------------------------------------------------
 * Choices
 * ------------------------------------------------------------------------------------------ */

static const char *jp2_resolve_options(const tz_tile_format *format, tz_encode_options *options)
{
    (void)format;
    if (options->lossless)
        return options->quality > 0 ? "JPEG 2000 has a quality only when it is not lossless" : NULL;
    if (options->quality == 0)
        options->quality = 75;
    return options->quality > 100 ? "JPEG 2000 quality is 1 to 100" : NULL;
}

static const char *jp2_unsupported_reason(const tz_tile_format *format,
                                          const tz_encode_options *options)
{
    (void)options;
    if ((format->bits != 8 && format->bits != 16) ||
        (format->sample_format != 1 && format->sample_format != 2))
        return "JPEG 2000 takes integers of 8 and 16 bits";
    if (format->samples < 1 || format->samples > TZ_JP2_MAX_COMPONENTS)
        return "JPEG 2000 takes up to 64 bands interleaved by pixel, or any number stored apart";
    if (format->photometric == 6)
        return "JPEG 2000 decorrelates RGB itself: store RGB, not YCbCr";
    return NULL;
}

static bool jp2_lossy(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)format;
    return !options->lossless;
}

/* Noise takes up to a third more than it had, when colours are decorrelated that are not related;
 * every component has its headers. */
static size_t jp2_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    return tz_tile_bytes(format) * 2 + (size_t)format->samples * 256 + STREAM_BUFFER;
}

/* OpenJPEG's own: samples in 32 bits twice, code blocks with their passes, and the stream. By
 * measurement, and rounded up. */
static uint64_t jp2_memory(const tz_tile_format *format, const tz_encode_options *options)
{
    const uint64_t samples = (uint64_t)format->width * format->height * format->samples;
    return samples * 16 + jp2_bound(format, options) + (1u << 20);
}

/* ---------------------------------------------------------------------------------------------
 * The stream: memory that does not grow
 * ------------------------------------------------------------------------------------------ */

static OPJ_SIZE_T jp2_output_write(void *buffer, OPJ_SIZE_T size, void *user)
{
    jp2_encode_job *job = user;
    if (size > job->capacity - job->position) {
        job->overflow = true;
        return (OPJ_SIZE_T)-1;
    }
    memcpy(job->out + job->position, buffer, size);
    job->position += size;
    job->size = job->position > job->size ? job->position : job->size;
    return size;
}

static OPJ_BOOL jp2_output_seek(OPJ_OFF_T position, void *user)
{
    jp2_encode_job *job = user;
    if (position < 0 || (uint64_t)position > job->size)
        return OPJ_FALSE;
    job->position = (size_t)position;
    return OPJ_TRUE;
}

static OPJ_OFF_T jp2_output_skip(OPJ_OFF_T count, void *user)
{
    const jp2_encode_job *job = user;
    return jp2_output_seek((OPJ_OFF_T)job->position + count, user) ? count : -1;
}

static bool open_jp2_output(jp2_encode_job *job)
{
    job->stream = opj_stream_create(STREAM_BUFFER, OPJ_FALSE);
    if (!job->stream)
        return false;
    opj_stream_set_user_data(job->stream, job, NULL);
    opj_stream_set_write_function(job->stream, jp2_output_write);
    opj_stream_set_skip_function(job->stream, jp2_output_skip);
    opj_stream_set_seek_function(job->stream, jp2_output_seek);
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Samples
 * ------------------------------------------------------------------------------------------ */

static void load_jp2_samples(int32_t *out, const uint8_t *in, size_t count, size_t step,
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

static bool make_jp2_image(jp2_encode_job *job, const uint8_t *in)
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
        load_jp2_samples(job->image->comps[i].data, in + i * size, pixels, format->samples * size,
                         format);
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Encoding
 * ------------------------------------------------------------------------------------------ */

static void on_encode_error(const char *message, void *user)
{
    jp2_encode_job *job = user;
    size_t size = strcspn(message, "\r\n");
    size = size < TEXT_SIZE - 1 ? size : TEXT_SIZE - 1;
    if (job->error[0] != '\0')
        return;
    memcpy(job->error, message, size);
    job->error[size] = '\0';
}

static void ignore_message(const char *message, void *user)
{
    (void)message, (void)user;
}

static void set_openjpeg_parameters(opj_cparameters_t *parameters, const tz_tile_format *format,
                                    const tz_encode_options *options)
{
    static char comment[] = "terrazzo"; /* one without a byte is against the standard */
    opj_set_default_encoder_parameters(parameters);
    parameters->numresolution = (int)tz_jp2_resolution_count(format->width, format->height);
    parameters->tcp_numlayers = 1;
    parameters->tcp_mct = format->photometric == 2 && format->samples >= 3;
    parameters->cp_comment = comment;
    if (options->lossless) {
        parameters->cp_disto_alloc = 1;
    } else {
        parameters->irreversible = 1;
        parameters->cp_fixed_quality = 1;
        parameters->tcp_distoratio[0] = tz_jp2_psnr(options->quality);
    }
}

static tz_result fail_jp2_encode(const jp2_encode_job *job, const tz_encode_options *options,
                                 const tz_codec_call *call)
{
    if (job->overflow)
        return tz_codec_fail(call, "JPEG 2000: a tile takes more than %zu bytes", job->capacity);
    if (strstr(job->error, "memory"))
        return tz_fail_nomem(call->ctx, jp2_memory(job->format, options));
    return tz_codec_fail(call, "JPEG 2000: %s",
                         job->error[0] ? job->error : "OpenJPEG cannot encode it");
}

static tz_result run_openjpeg_encoder(jp2_encode_job *job, const tz_encode_options *options,
                                      const uint8_t *in, const tz_codec_call *call)
{
    opj_cparameters_t parameters;
    set_openjpeg_parameters(&parameters, job->format, options);
    job->codec = opj_create_compress(OPJ_CODEC_J2K);
    if (!job->codec || !open_jp2_output(job) || !make_jp2_image(job, in))
        return tz_fail_nomem(call->ctx, jp2_memory(job->format, options));
    opj_set_error_handler(job->codec, on_encode_error, job);
    opj_set_warning_handler(job->codec, ignore_message, NULL);
    opj_set_info_handler(job->codec, ignore_message, NULL);
    if (!opj_setup_encoder(job->codec, &parameters, job->image) ||
        !opj_start_compress(job->codec, job->image, job->stream) ||
        !opj_encode(job->codec, job->stream) || !opj_end_compress(job->codec, job->stream))
        return fail_jp2_encode(job, options, call);
    return TZ_OK;
}

static tz_result jp2_encode(void *state, const tz_tile_format *format,
                            const tz_encode_options *options, uint8_t *in, uint8_t *out,
                            size_t *out_size, const tz_codec_call *call)
{
    (void)state;
    jp2_encode_job job = {.format = format, .out = out, .capacity = jp2_bound(format, options)};
    tz_result result = run_openjpeg_encoder(&job, options, in, call);
    if (job.stream)
        opj_stream_destroy(job.stream);
    if (job.codec)
        opj_destroy_codec(job.codec);
    opj_image_destroy(job.image);
    *out_size = job.size;
    return result;
}

static const uint16_t jp2_encoder_compressions[] = {34712, 0};

const tz_encoder tz_encoder_jp2 = {
    .name = "jpeg2000",
    .library = "OpenJPEG",
    .compressions = jp2_encoder_compressions,
    .flags = TZ_ENCODER_NATIVE_ENDIAN | TZ_ENCODER_NO_PREDICTOR,
    .resolve_options = jp2_resolve_options,
    .unsupported_reason = jp2_unsupported_reason,
    .lossy = jp2_lossy,
    .bound = jp2_bound,
    .memory = jp2_memory,
    .encode = jp2_encode,
};

#endif
