/* SPDX-License-Identifier: Apache-2.0
 * JPEG 2000 (compression 34712; Aperio's 33003 and 33005), by OpenJPEG. A tile is a codestream, raw
 * or in a JP2 file; OpenJPEG gets the bare codestream, after all its headers were read here.
 *
 * Decoding: headers are read and compared with the tile (jp2_markers.h), OpenJPEG makes components
 * of 32 bits, and these are written to the rows as they are stored. Only YCbCr (photometric 6, and
 * 33003 always) becomes RGB, with coarser chroma repeated. A reduction is a lower resolution of the
 * stream as far as it has them; the rest is made of means of squares of samples.
 *
 * Encoding makes a bare codestream of one tile and one layer. Lossless is the reversible 5/3
 * wavelet; lossy is 9/7, cut off at the signal-to-noise ratio of a quality. The colours of RGB are
 * decorrelated within the codestream.
 *
 * OpenJPEG reports errors as text only; the first text of a call is kept for ours. */
#include <openjpeg.h>
#include <string.h>

#include "base/mem.h"
#include "codec/codec.h"
#include "codec/jp2_markers.h"

#define STREAM_BUFFER 16384
#define TEXT_SIZE     160

/* One call of decode or encode: OpenJPEG's objects, the stream they read or write, and the first
 * message of each kind. */
typedef struct jp2_job {
    const tz_jp2_info *info; /* when decoding */
    unsigned skipped;        /* resolutions that are not decoded, from the highest down */
    uint8_t *out;            /* when encoding */
    size_t capacity;         /* of out */
    size_t size;             /* when decoding, of the stream; when encoding, written so far */
    size_t position;         /* in the stream */
    bool overflow;           /* the encoded tile does not fit */
    char error[TEXT_SIZE];
    char warning[TEXT_SIZE];
    opj_codec_t *codec;
    opj_stream_t *stream;
    opj_image_t *image;
} jp2_job;

/* OpenJPEG's callback for a message. user: the text of TEXT_SIZE bytes that keeps the first one. */
static void keep_first_message(const char *message, void *user)
{
    char *text = user;
    if (text[0] != '\0')
        return;
    size_t size = tz_min_size(strcspn(message, "\r\n"), TEXT_SIZE - 1);
    memcpy(text, message, size);
    text[size] = '\0';
}

static OPJ_BOOL jp2_stream_seek(OPJ_OFF_T position, void *user)
{
    jp2_job *job = user;
    if (position < 0 || (uint64_t)position > job->size)
        return OPJ_FALSE;
    job->position = (size_t)position;
    return OPJ_TRUE;
}

/* Input is skipped forward, up to its end; output only within the bytes that were written. */
static OPJ_OFF_T jp2_stream_skip(OPJ_OFF_T count, void *user)
{
    const jp2_job *job = user;
    if (!job->out && count < 0)
        return -1;
    if (!job->out)
        count = (OPJ_OFF_T)tz_min((uint64_t)count, job->size - job->position);
    return jp2_stream_seek((OPJ_OFF_T)job->position + count, user) ? count : -1;
}

/* OpenJPEG insists on the marker at the end, which some streams lack. */
static const uint8_t end_of_stream[2] = {0xFF, 0xD9};

static OPJ_SIZE_T jp2_stream_read(void *buffer, OPJ_SIZE_T size, void *user)
{
    jp2_job *job = user;
    bool is_past_end = job->position >= job->info->stream_size;
    size_t left = (is_past_end ? job->size : job->info->stream_size) - job->position;
    if (left == 0)
        return (OPJ_SIZE_T)-1;
    size = tz_min_size(size, left);
    memcpy(buffer,
           is_past_end ? end_of_stream + (job->position - job->info->stream_size)
                       : job->info->stream + job->position,
           size);
    job->position += size;
    return size;
}

/* The memory for an encoded tile does not grow. */
static OPJ_SIZE_T jp2_stream_write(void *buffer, OPJ_SIZE_T size, void *user)
{
    jp2_job *job = user;
    if (size > job->capacity - job->position) {
        job->overflow = true;
        return (OPJ_SIZE_T)-1;
    }
    memcpy(job->out + job->position, buffer, size);
    job->position += size;
    job->size = tz_max_size(job->size, job->position);
    return size;
}

/* Creates the stream of either direction. OpenJPEG ignores the function that it has no use for. */
static bool open_jp2_stream(jp2_job *job)
{
    job->stream = opj_stream_create(STREAM_BUFFER, job->out == NULL);
    if (!job->stream)
        return false;
    opj_stream_set_user_data(job->stream, job, NULL);
    opj_stream_set_user_data_length(job->stream, job->size);
    opj_stream_set_read_function(job->stream, jp2_stream_read);
    opj_stream_set_write_function(job->stream, jp2_stream_write);
    opj_stream_set_skip_function(job->stream, jp2_stream_skip);
    opj_stream_set_seek_function(job->stream, jp2_stream_seek);
    return true;
}

static void release_job(jp2_job *job)
{
    if (job->stream)
        opj_stream_destroy(job->stream);
    if (job->codec)
        opj_destroy_codec(job->codec);
    opj_image_destroy(job->image);
}

/* ---------------------------------------------------------------------------------------------
 * Decoder: stream and tile
 * ------------------------------------------------------------------------------------------ */

static bool is_jp2_ycbcr(const tz_tile_format *format)
{
    return format->samples == 3 && (format->compression == TZ_COMPRESSION_APERIO_YCBCR ||
                                    format->photometric == TZ_PHOTOMETRIC_YCBCR);
}

/* Compares the stream with the tile. Only chroma may be coarser, by two. Fewer bits than those of
 * the tile, and fewer pixels, lose nothing, so they are a warning. */
tz_result tz_jp2_read_tile(tz_jp2_info *out, const tz_tile_format *format, const uint8_t *data,
                           size_t size, const tz_codec_call *call)
{
    const bool ycbcr = is_jp2_ycbcr(format);
    if ((format->bits != 8 && format->bits != 16 && format->bits != 32) ||
        format->sample_format > TZ_SAMPLE_FORMAT_INT ||
        (ycbcr && (format->bits != 8 || format->sample_format != TZ_SAMPLE_FORMAT_UINT)))
        return tz_codec_fail_unsupported(call, "JPEG 2000 with samples of %u bits and format %u%s",
                                         format->bits, format->sample_format,
                                         ycbcr ? ", as YCbCr" : "");
    TZ_TRY(tz_jp2_read_info(out, data, size, call));

    if (out->component_count != format->samples)
        return tz_codec_fail_size(call, format->samples, out->component_count,
                                  "JPEG 2000: the number of components is not that of the tile");
    for (unsigned i = 0; i < out->component_count; i++) {
        const tz_jp2_component *component = &out->components[i];
        const unsigned coarsest = i > 0 && ycbcr ? 2 : 1; /* pixels of a sample, on a side */
        if (component->dx > coarsest || component->dy > coarsest)
            return tz_codec_fail(call, "JPEG 2000: a component for %u x %u pixels", component->dx,
                                 component->dy);
        if (component->precision > format->bits ||
            component->is_signed != (format->sample_format == TZ_SAMPLE_FORMAT_INT))
            return tz_codec_fail(call, "JPEG 2000: %s samples of %u bits in a tile of %u bits",
                                 component->is_signed ? "signed" : "unsigned", component->precision,
                                 format->bits);
        if (component->precision < format->bits)
            TZ_TRY(tz_codec_warn(call, "JPEG 2000: samples have %u bits, not %u",
                                 component->precision, format->bits));
    }
    if (out->width > format->width || out->height > format->height)
        return tz_codec_fail(call, "JPEG 2000: %u x %u pixels in a tile of %u x %u", out->width,
                             out->height, format->width, format->height);
    if (out->width < format->width || out->height < format->height)
        TZ_TRY(tz_codec_warn(call,
                             "JPEG 2000: only %u x %u pixels in a tile of %u x %u; the rest is 0",
                             out->width, out->height, format->width, format->height));

    /* OpenJPEG keeps samples in 32 bits: those of the image, and of a tile if there are several. */
    TZ_TRY(tz_jp2_read_headers(out, call));
    uint64_t samples = (uint64_t)out->width * out->height;
    if (out->tile_count > 1)
        samples += (uint64_t)out->tile_width * out->tile_height;
    const uint64_t bytes = samples * out->component_count * sizeof(int32_t);
    return tz_codec_check_memory(call, tz_add_capped(bytes, out->coding_bytes),
                                 "bytes of memory for OpenJPEG");
}

/* ---------------------------------------------------------------------------------------------
 * Decoder: OpenJPEG
 * ------------------------------------------------------------------------------------------ */

/* Decodes the stream to job->image. OpenJPEG's strict mode refuses streams that end early, which it
 * would otherwise decode in part. */
static tz_result run_openjpeg_decoder(jp2_job *job, const tz_codec_call *call)
{
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    parameters.cp_reduce = job->skipped;
    job->codec = opj_create_decompress(OPJ_CODEC_J2K);
    if (!job->codec || !open_jp2_stream(job))
        return tz_fail_nomem(call->ctx, STREAM_BUFFER);
    opj_set_error_handler(job->codec, keep_first_message, job->error);
    opj_set_warning_handler(job->codec, keep_first_message, job->warning);
    if (!opj_setup_decoder(job->codec, &parameters) ||
        !opj_decoder_set_strict_mode(job->codec, OPJ_TRUE) ||
        !opj_read_header(job->stream, job->codec, &job->image) ||
        !opj_decode(job->codec, job->stream, job->image)) {
        if (strstr(job->error, "memory"))
            return tz_fail_nomem(call->ctx, job->info->coding_bytes);
        return tz_codec_fail(call, "JPEG 2000: %s",
                             job->error[0] ? job->error : "OpenJPEG cannot decode it");
    }
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Decoder: samples
 * ------------------------------------------------------------------------------------------ */

/* The decoded components must be those of the headers. */
static tz_result check_decoded_image(const jp2_job *job, const tz_codec_call *call)
{
    const tz_jp2_info *info = job->info;
    bool fits = job->image->numcomps == info->component_count;
    for (unsigned i = 0; fits && i < info->component_count; i++) {
        const opj_image_comp_t *component = &job->image->comps[i];
        fits = component->data && component->dx == info->components[i].dx &&
               component->dy == info->components[i].dy && component->w > 0 && component->h > 0 &&
               (component->dx > 1 || component->w == tz_reduced_size(info->width, job->skipped)) &&
               (component->dy > 1 || component->h == tz_reduced_size(info->height, job->skipped));
    }
    return fits ? TZ_OK : tz_codec_fail(call, "JPEG 2000: components are missing");
}

/* Replaces squares of samples by their means, to the nearest integer, halves away from zero. Works
 * in place: each mean is written at or before the samples it was computed from, so later samples
 * are intact. */
static void reduce_component(opj_image_comp_t *component, unsigned reduction)
{
    const size_t side = (size_t)1 << reduction;
    const uint32_t width = tz_reduced_size(component->w, reduction);
    const uint32_t height = tz_reduced_size(component->h, reduction);
    for (size_t y = 0; y < height; y++) {
        const size_t y1 = tz_min_size((y + 1) * side, component->h);
        for (size_t x = 0; x < width; x++) {
            const size_t x1 = tz_min_size((x + 1) * side, component->w);
            const int64_t count = (int64_t)((x1 - x * side) * (y1 - y * side));
            int64_t sum = 0;
            for (size_t row = y * side; row < y1; row++)
                for (size_t column = x * side; column < x1; column++)
                    sum += component->data[row * component->w + column];
            component->data[y * width + x] =
                (int32_t)((sum < 0 ? 2 * sum - count : 2 * sum + count) / (2 * count));
        }
    }
    component->w = width;
    component->h = height;
    component->x0 = component->y0 = 0;
}

/* Writes components of 32 bits to the rows, in the machine's byte order. */
static void write_components(const jp2_job *job, const tz_tile_format *format, uint8_t *out,
                             size_t stride)
{
    const size_t size = format->bits / 8, step = format->samples * size;
    for (unsigned i = 0; i < format->samples; i++) {
        const opj_image_comp_t *component = &job->image->comps[i];
        for (size_t y = 0; y < component->h; y++) {
            const int32_t *in = component->data + y * component->w;
            uint8_t *to = out + y * stride + i * size;
            for (size_t x = 0; x < component->w; x++, to += step) {
                uint32_t value = (uint32_t)in[x];
                uint16_t half = (uint16_t)value;
                if (size == 1)
                    *to = (uint8_t)value;
                else if (size == 2)
                    memcpy(to, &half, sizeof half);
                else
                    memcpy(to, &value, sizeof value);
            }
        }
    }
}

/* Returns the sample of a component that covers a pixel of the image. */
static int32_t sample_at(const opj_image_t *image, unsigned index, uint32_t x, uint32_t y)
{
    const opj_image_comp_t *component = &image->comps[index];
    uint32_t column = (image->x0 + x) / component->dx, row = (image->y0 + y) / component->dy;
    column = column > component->x0 ? column - component->x0 : 0;
    row = row > component->y0 ? row - component->y0 : 0;
    column = tz_min_u32(column, component->w - 1);
    row = tz_min_u32(row, component->h - 1);
    return component->data[(size_t)row * component->w + column];
}

static uint8_t clamp_to_byte(int32_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void write_rgb(const jp2_job *job, unsigned reduction, uint8_t *out, size_t stride)
{
    const opj_image_t *image = job->image;
    const uint32_t width = tz_reduced_size(job->info->width, reduction);
    const uint32_t height = tz_reduced_size(job->info->height, reduction);
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *pixel = out + y * stride;
        for (uint32_t x = 0; x < width; x++, pixel += 3) {
            int32_t luma = sample_at(image, 0, x, y);
            int32_t cb = sample_at(image, 1, x, y) - 128, cr = sample_at(image, 2, x, y) - 128;
            pixel[0] = clamp_to_byte(luma + (int32_t)(1.402 * cr));
            pixel[1] = clamp_to_byte(luma - (int32_t)(0.344 * cb + 0.714 * cr));
            pixel[2] = clamp_to_byte(luma + (int32_t)(1.772 * cb));
        }
    }
}

static tz_result jp2_decode(void *state, const tz_tile_format *format, const uint8_t *in,
                            size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call)
{
    (void)state;
    tz_jp2_info info;
    TZ_TRY(tz_jp2_read_tile(&info, format, in, in_size, call));

    /* Resolutions of an image that does not begin at the origin lie otherwise than the tile's
     * squares do: none of them is left out. */
    const unsigned available = info.has_offset ? 0 : info.levels;
    jp2_job job = {.info = &info,
                   .size = info.stream_size + (info.has_end ? 0 : sizeof end_of_stream),
                   .skipped = tz_min_u32(format->decode_reduction, available)};
    tz_result result = run_openjpeg_decoder(&job, call);
    if (result == TZ_OK)
        result = check_decoded_image(&job, call);
    if (result == TZ_OK) {
        const unsigned rest = format->decode_reduction - job.skipped;
        for (unsigned i = 0; rest > 0 && i < job.image->numcomps; i++)
            reduce_component(&job.image->comps[i], rest);
        if (rest > 0)
            job.image->x0 = job.image->y0 = 0;
        if (is_jp2_ycbcr(format))
            write_rgb(&job, format->decode_reduction, out, stride);
        else
            write_components(&job, format, out, stride);
    }
    release_job(&job);
    TZ_TRY(result);
    tz_codec_clear_rest(format,
                        (size_t)tz_reduced_size(info.width, format->decode_reduction) *
                            format->samples * (format->bits / 8),
                        tz_reduced_size(info.height, format->decode_reduction), out, stride);
    if (job.warning[0] != '\0')
        return tz_codec_warn(call, "JPEG 2000: %s", job.warning);
    return TZ_OK;
}

const tz_decoder tz_decoder_jp2 = {
    .flags = TZ_DECODER_NATIVE_ENDIAN | TZ_DECODER_ANY_STRIDE | TZ_DECODER_NO_OVERRUN |
             TZ_DECODER_NO_PREDICTOR | TZ_DECODER_TO_RGB | TZ_DECODER_REDUCTION,
    .decode = jp2_decode,
};

/* ---------------------------------------------------------------------------------------------
 * Encoder: options and sizes
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
        (format->sample_format != TZ_SAMPLE_FORMAT_UINT &&
         format->sample_format != TZ_SAMPLE_FORMAT_INT))
        return "JPEG 2000 takes integers of 8 and 16 bits";
    if (format->samples < 1 || format->samples > TZ_JP2_MAX_COMPONENTS)
        return "JPEG 2000 takes up to 64 bands interleaved by pixel, or any number stored apart";
    if (format->photometric == TZ_PHOTOMETRIC_YCBCR)
        return "JPEG 2000 decorrelates RGB itself: store RGB, not YCbCr";
    return NULL;
}

/* Noise grows by up to a third if colours are decorrelated that are not related; every component
 * has its headers. */
static size_t jp2_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    return tz_tile_bytes(format) * 2 + (size_t)format->samples * 256 + STREAM_BUFFER;
}

/* OpenJPEG's memory, measured and rounded up: samples in 32 bits twice, code blocks with their
 * passes, and the stream. */
static uint64_t jp2_memory(const tz_tile_format *format, const tz_encode_options *options)
{
    const uint64_t samples = (uint64_t)format->width * format->height * format->samples;
    return samples * 16 + jp2_bound(format, options) + (1u << 20);
}

/* ---------------------------------------------------------------------------------------------
 * Encoder: samples
 * ------------------------------------------------------------------------------------------ */

/* Copies the rows to an image of OpenJPEG, component by component in 32 bits. */
static bool make_jp2_image(jp2_job *job, const tz_tile_format *format, const uint8_t *in)
{
    const bool is_signed = format->sample_format == TZ_SAMPLE_FORMAT_INT;
    const size_t size = format->bits / 8, pixels = (size_t)format->width * format->height;
    opj_image_cmptparm_t components[TZ_JP2_MAX_COMPONENTS] = {{0}};
    for (unsigned i = 0; i < format->samples; i++)
        components[i] = (opj_image_cmptparm_t){.dx = 1,
                                               .dy = 1,
                                               .w = format->width,
                                               .h = format->height,
                                               .prec = format->bits,
                                               .sgnd = is_signed};
    job->image = opj_image_create(format->samples, components, OPJ_CLRSPC_UNSPECIFIED);
    if (!job->image)
        return false;
    job->image->x1 = format->width;
    job->image->y1 = format->height;
    for (unsigned i = 0; i < format->samples; i++) {
        const uint8_t *from = in + i * size;
        for (size_t pixel = 0; pixel < pixels; pixel++, from += format->samples * size) {
            uint16_t value = *from;
            if (size == 2)
                memcpy(&value, from, sizeof value);
            else if (is_signed)
                value = (uint16_t)(int8_t)*from;
            job->image->comps[i].data[pixel] = is_signed ? (int16_t)value : value;
        }
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Encoder: OpenJPEG
 * ------------------------------------------------------------------------------------------ */

static tz_result run_openjpeg_encoder(jp2_job *job, const tz_tile_format *format,
                                      const tz_encode_options *options, const uint8_t *in,
                                      const tz_codec_call *call)
{
    static char comment[] = "terrazzo"; /* an empty one is against the standard */
    opj_cparameters_t parameters;
    opj_set_default_encoder_parameters(&parameters);
    parameters.numresolution = (int)tz_jp2_resolution_count(format->width, format->height);
    parameters.tcp_numlayers = 1;
    parameters.tcp_mct = format->photometric == TZ_PHOTOMETRIC_RGB && format->samples >= 3;
    parameters.cp_comment = comment;
    if (options->lossless) {
        parameters.cp_disto_alloc = 1;
    } else {
        parameters.irreversible = 1;
        parameters.cp_fixed_quality = 1;
        parameters.tcp_distoratio[0] = tz_jp2_psnr(options->quality);
    }
    job->codec = opj_create_compress(OPJ_CODEC_J2K);
    if (!job->codec || !open_jp2_stream(job) || !make_jp2_image(job, format, in))
        return tz_fail_nomem(call->ctx, jp2_memory(format, options));
    opj_set_error_handler(job->codec, keep_first_message, job->error);
    if (!opj_setup_encoder(job->codec, &parameters, job->image) ||
        !opj_start_compress(job->codec, job->image, job->stream) ||
        !opj_encode(job->codec, job->stream) || !opj_end_compress(job->codec, job->stream)) {
        if (job->overflow)
            return tz_codec_fail(call, "JPEG 2000: a tile takes more than %zu bytes",
                                 job->capacity);
        if (strstr(job->error, "memory"))
            return tz_fail_nomem(call->ctx, jp2_memory(format, options));
        return tz_codec_fail(call, "JPEG 2000: %s",
                             job->error[0] ? job->error : "OpenJPEG cannot encode it");
    }
    return TZ_OK;
}

static tz_result jp2_encode(void *state, const tz_tile_format *format,
                            const tz_encode_options *options, uint8_t *in, uint8_t *out,
                            size_t *out_size, const tz_codec_call *call)
{
    (void)state;
    jp2_job job = {.out = out, .capacity = jp2_bound(format, options)};
    tz_result result = run_openjpeg_encoder(&job, format, options, in, call);
    release_job(&job);
    *out_size = job.size;
    return result;
}

const tz_encoder tz_encoder_jp2 = {
    .flags = TZ_ENCODER_NATIVE_ENDIAN | TZ_ENCODER_NO_PREDICTOR,
    .resolve_options = jp2_resolve_options,
    .unsupported_reason = jp2_unsupported_reason,
    .lossy = tz_encoder_is_lossy,
    .bound = jp2_bound,
    .memory = jp2_memory,
    .encode = jp2_encode,
};
