/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "codec/jp2_markers.h"
#include "fakes/nvidia/nvjpeg2k_state.h"

/* ---- code streams ---- */

tz_nvjpeg2k_status nvjpeg2kStreamCreate(tz_nvjpeg2k_stream *out)
{
    return make("+nvjpeg2kStreamCreate", false, sizeof **out, out);
}

tz_nvjpeg2k_status nvjpeg2kStreamDestroy(tz_nvjpeg2k_stream stream)
{
    if (stream && !idle(&stream->busy, "a code stream is destroyed"))
        return INVALID_PARAMETER;
    return give_back(stream);
}

static tz_nvjpeg2k_status keep_info(tz_nvjpeg2k_stream to, const tz_jp2_info *info)
{
    if (info->component_count > 4)
        return JPEG_NOT_SUPPORTED;
    for (uint16_t i = 0; i < info->component_count; i++) {
        const tz_jp2_component *is = &info->components[i];
        if (is->precision > 16)
            return JPEG_NOT_SUPPORTED;
        to->components[i] = (tz_nvjpeg2k_component_info){(info->width + is->dx - 1u) / is->dx,
                                                         (info->height + is->dy - 1u) / is->dy,
                                                         is->precision, is->is_signed};
    }
    const uint32_t across = (info->width + info->tile_width - 1) / info->tile_width;
    to->image = (tz_nvjpeg2k_image_info){
        info->width,          info->height, info->tile_width,
        info->tile_height,    across,       (uint32_t)(info->tile_count / across),
        info->component_count};
    to->resolutions = info->levels + 1u;
    to->parsed = true;
    return SUCCESS;
}

/* The standard wants a byte in a comment at least, and so does the library itself. */
static bool has_empty_comment(const tz_jp2_info *info)
{
    enum { COM = 0xFF64, SOT = 0xFF90, FIRST = 2, LEAST = 5 };
    const uint8_t *at = info->stream + FIRST, *end = info->stream + info->stream_size;
    while (end - at >= 4 && (at[0] << 8 | at[1]) != SOT) {
        const int length = at[2] << 8 | at[3];
        if ((at[0] << 8 | at[1]) == COM && length < LEAST)
            return true;
        at += 2 + length;
    }
    return false;
}

tz_nvjpeg2k_status nvjpeg2kStreamParse(tz_nvjpeg2k_handle handle, const unsigned char *data,
                                       size_t size, int save_metadata, int save_stream,
                                       tz_nvjpeg2k_stream stream)
{
    const tz_nvjpeg2k_status status = begin("+nvjpeg2kStreamParse", false);
    if (status != SUCCESS)
        return status;
    if (!handle || !data || size == 0 || save_metadata || save_stream || !stream ||
        !idle(&stream->busy, "a code stream is parsed again"))
        return INVALID_PARAMETER;
    tz_limits limits;
    tz_limits_resolve(&limits, NULL);
    const tz_context ctx = {.limits = &limits, .ifd = -1};
    tz_jp2_info info;
    stream->parsed = false;
    stream->data = data;
    stream->size = size;
    const tz_codec_call call = {&ctx, tz_no_location()};
    if (tz_jp2_read_info(&info, data, size, &call) != TZ_OK ||
        tz_jp2_read_headers(&info, &call) != TZ_OK || has_empty_comment(&info))
        return BAD_JPEG;
    return keep_info(stream, &info);
}

tz_nvjpeg2k_status nvjpeg2kStreamGetImageInfo(tz_nvjpeg2k_stream stream,
                                              tz_nvjpeg2k_image_info *out)
{
    if (!stream || !out || !stream->parsed)
        return INVALID_PARAMETER;
    *out = stream->image;
    return SUCCESS;
}

tz_nvjpeg2k_status nvjpeg2kStreamGetImageComponentInfo(tz_nvjpeg2k_stream stream,
                                                       tz_nvjpeg2k_component_info *out,
                                                       uint32_t which)
{
    if (!stream || !out || !stream->parsed || which >= stream->image.num_components)
        return INVALID_PARAMETER;
    *out = stream->components[which];
    return SUCCESS;
}

static uint32_t tile_count(const struct nvjpeg2kStream *stream)
{
    return stream->image.num_tiles_x * stream->image.num_tiles_y;
}

tz_nvjpeg2k_status nvjpeg2kStreamGetResolutionsInTile(tz_nvjpeg2k_stream stream, uint32_t tile,
                                                      uint32_t *out)
{
    if (!stream || !out || !stream->parsed || tile >= tile_count(stream))
        return INVALID_PARAMETER;
    *out = stream->resolutions;
    return SUCCESS;
}

/* For streams of one tile: the fake does not know the sizes of others. */
tz_nvjpeg2k_status nvjpeg2kStreamGetResolutionComponentDim(tz_nvjpeg2k_stream stream,
                                                           uint32_t component, uint32_t tile,
                                                           uint32_t resolution, uint32_t *width,
                                                           uint32_t *height)
{
    if (!stream || !width || !height || !stream->parsed || tile >= tile_count(stream) ||
        component >= stream->image.num_components || resolution >= stream->resolutions)
        return INVALID_PARAMETER;
    if (tile_count(stream) > 1)
        return JPEG_NOT_SUPPORTED;
    const unsigned left_out = stream->resolutions - 1 - resolution;
    *width = tz_reduced_size(stream->components[component].component_width, left_out);
    *height = tz_reduced_size(stream->components[component].component_height, left_out);
    return SUCCESS;
}

/* ---- states and parameters ---- */

tz_nvjpeg2k_status nvjpeg2kDecodeStateCreate(tz_nvjpeg2k_handle handle,
                                             tz_nvjpeg2k_decode_state *out)
{
    if (!handle)
        return INVALID_PARAMETER;
    return make("+nvjpeg2kDecodeStateCreate", true, sizeof **out, out);
}

tz_nvjpeg2k_status nvjpeg2kDecodeStateDestroy(tz_nvjpeg2k_decode_state state)
{
    if (state && !idle(&state->busy, "a state is destroyed"))
        return INVALID_PARAMETER;
    return give_back(state);
}

tz_nvjpeg2k_status nvjpeg2kDecodeParamsCreate(tz_nvjpeg2k_decode_params *out)
{
    return make("+nvjpeg2kDecodeParamsCreate", false, sizeof **out, out);
}

tz_nvjpeg2k_status nvjpeg2kDecodeParamsDestroy(tz_nvjpeg2k_decode_params params)
{
    return give_back(params);
}

tz_nvjpeg2k_status nvjpeg2kDecodeParamsSetRGBOutput(tz_nvjpeg2k_decode_params params, int32_t rgb)
{
    return params && (rgb == 0 || rgb == 1) ? SUCCESS : INVALID_PARAMETER;
}

tz_nvjpeg2k_status nvjpeg2kDecodeParamsSetOutputFormat(tz_nvjpeg2k_decode_params params,
                                                       tz_nvjpeg2k_format format)
{
    if (!params || format < TZ_NVJPEG2K_PLANAR || format > TZ_NVJPEG2K_INTERLEAVED)
        return INVALID_PARAMETER;
    params->format = format;
    return SUCCESS;
}

/* ---- decoding ---- */

typedef struct job {
    tz_nvjpeg2k_decode_state state;
    tz_nvjpeg2k_stream stream;
    tz_tile_format format;
    picture_planes planes;
} job;

static void run(cuda_vendor_work *work, void *state)
{
    const job *j = state;
    if (work) {
        uint8_t *rows =
            picture_decode(&tz_decoder_jp2, &j->format, j->stream->data, j->stream->size);
        pictures_control.decoded++;
        pictures_control.damaged += !rows;
        (void)picture_put(work, &j->planes, &j->format, rows);
        free(rows);
    }
    atomic_store(&j->stream->busy, false);
    atomic_store(&j->state->busy, false);
}

/* left_out: resolutions, from the highest down. */
static tz_nvjpeg2k_status check(job *j, const tz_nvjpeg2k_image *image,
                                tz_nvjpeg2k_decode_params params, unsigned left_out)
{
    if (!idle(&j->state->busy, "a state is used again") ||
        !idle(&j->stream->busy, "a code stream is used again") || !j->stream->parsed)
        return INVALID_PARAMETER;
    const tz_nvjpeg2k_image_info *is = &j->stream->image;
    if (image->num_components != is->num_components)
        return INVALID_PARAMETER;
    for (uint32_t i = 1; i < is->num_components; i++) {
        if (memcmp(&j->stream->components[i], &j->stream->components[0],
                   sizeof j->stream->components[0]) != 0)
            return JPEG_NOT_SUPPORTED; /* the codec of this fake wants them alike */
    }
    const tz_nvjpeg2k_status status =
        image_format(&j->format, j->stream->components, is->num_components, image->pixel_type);
    if (status != SUCCESS)
        return status;
    j->format.decode_reduction = (uint8_t)left_out;
    image_planes(&j->planes, image, params ? params->format : TZ_NVJPEG2K_PLANAR);
    return picture_fits(&j->planes, &j->format) ? SUCCESS : INVALID_PARAMETER;
}

static tz_nvjpeg2k_status decode(const char *call, const job *wanted, tz_cu_stream cuda_stream)
{
    job *j = malloc(sizeof *j);
    *j = *wanted;
    atomic_store(&wanted->stream->busy, true);
    const tz_nvjpeg2k_status status = start(call, cuda_stream, run, j, &wanted->state->busy);
    if (status != SUCCESS)
        atomic_store(&wanted->stream->busy, false);
    return status;
}

tz_nvjpeg2k_status nvjpeg2kDecodeImage(tz_nvjpeg2k_handle handle, tz_nvjpeg2k_decode_state state,
                                       tz_nvjpeg2k_stream stream, tz_nvjpeg2k_decode_params params,
                                       tz_nvjpeg2k_image *image, tz_cu_stream cuda_stream)
{
    job wanted = {.state = state, .stream = stream};
    if (!handle || !state || !stream || !image)
        return INVALID_PARAMETER;
    const tz_nvjpeg2k_status status = check(&wanted, image, params, 0);
    return status == SUCCESS ? decode("+nvjpeg2kDecodeImage", &wanted, cuda_stream) : status;
}

/* For streams of one tile. */
tz_nvjpeg2k_status nvjpeg2kDecodeTile(tz_nvjpeg2k_handle handle, tz_nvjpeg2k_decode_state state,
                                      tz_nvjpeg2k_stream stream, tz_nvjpeg2k_decode_params params,
                                      uint32_t tile, uint32_t resolutions, tz_nvjpeg2k_image *image,
                                      tz_cu_stream cuda_stream)
{
    job wanted = {.state = state, .stream = stream};
    if (!handle || !state || !stream || !image || !stream->parsed || tile >= tile_count(stream) ||
        resolutions > stream->resolutions)
        return INVALID_PARAMETER;
    if (tile_count(stream) > 1)
        return JPEG_NOT_SUPPORTED;
    const unsigned left_out = resolutions == 0 ? 0 : stream->resolutions - resolutions;
    const tz_nvjpeg2k_status status = check(&wanted, image, params, left_out);
    return status == SUCCESS ? decode("+nvjpeg2kDecodeTile", &wanted, cuda_stream) : status;
}
