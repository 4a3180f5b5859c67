/* SPDX-License-Identifier: Apache-2.0
 * Handles, headers, and batches of images to decode. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "base/limits.h"
#include "fakes/nvidia/nvjpeg_state.h"

struct nvjpegJpegState {
    atomic_bool busy;
    int count; /* of the batch; 0: not reported yet, or the last one failed */
    tz_nvjpeg_output output;
};

tz_nvjpeg_status nvjpegGetProperty(tz_nvjpeg_property which, int *out)
{
    static const int version[] = {13, 2, 3}, old[] = {12, 4, 0};
    if (which < 0 || which > 2)
        return INVALID_PARAMETER;
    *out = pictures_control.is_old ? old[which] : version[which];
    return SUCCESS;
}

tz_nvjpeg_status nvjpegCreateEx(tz_nvjpeg_backend backend, tz_nvjpeg_device_allocator *device,
                                tz_nvjpeg_pinned_allocator *pinned, unsigned flags,
                                tz_nvjpeg_handle *out)
{
    if (backend < TZ_NVJPEG_BACKEND_DEFAULT || device || pinned || !out ||
        (flags & ~TZ_NVJPEG_FLAG_INTERPOLATE) != 0)
        return INVALID_PARAMETER;
    if (backend > TZ_NVJPEG_BACKEND_GPU_HYBRID) /* such a device is not doubled */
        return ARCH_MISMATCH;
    const tz_nvjpeg_status status = make("+nvjpegCreateEx", true, sizeof **out, out);
    if (status == SUCCESS) {
        (*out)->backend = backend;
        (*out)->interpolates = flags != 0 && !pictures_control.repeats;
    }
    return status;
}

tz_nvjpeg_status nvjpegDestroy(tz_nvjpeg_handle handle)
{
    return give_back(handle);
}

tz_nvjpeg_status nvjpegJpegStateCreate(tz_nvjpeg_handle handle, tz_nvjpeg_state *out)
{
    return handle ? make("+nvjpegJpegStateCreate", true, sizeof **out, out) : INVALID_PARAMETER;
}

tz_nvjpeg_status nvjpegJpegStateDestroy(tz_nvjpeg_state state)
{
    if (state && !idle(&state->busy, "a state is destroyed"))
        return INVALID_PARAMETER;
    return give_back(state);
}

/* ---- headers ---- */

tz_nvjpeg_status read_jpeg(tz_jpeg_info *out, const unsigned char *data, size_t size)
{
    tz_limits limits;
    tz_limits_resolve(&limits, NULL);
    const tz_context ctx = {.limits = &limits, .ifd = -1};
    const tz_codec_call call = {&ctx, tz_no_location()};
    const tz_jpeg_table_set none = {0};
    if (tz_jpeg_read_info(out, data, size, none, &call) != TZ_OK)
        return BAD_JPEG;
    return out->precision == 8 && !out->lossless ? SUCCESS : JPEG_NOT_SUPPORTED;
}

tz_nvjpeg_sampling sampling_of(const tz_jpeg_info *info)
{
    const tz_jpeg_component *c = info->components;
    if (info->component_count == 1)
        return TZ_NVJPEG_SAMPLING_GRAY;
    for (size_t i = 1; i < info->component_count; i++) {
        if (c[i].h != 1 || c[i].v != 1)
            return -1;
    }
    if (c[0].v == 1)
        return c[0].h == 1 ? TZ_NVJPEG_SAMPLING_444 : c[0].h == 2 ? TZ_NVJPEG_SAMPLING_422 : -1;
    return c[0].h == 2 && c[0].v == 2 ? TZ_NVJPEG_SAMPLING_420 : -1;
}

tz_nvjpeg_status nvjpegGetImageInfo(tz_nvjpeg_handle handle, const unsigned char *data, size_t size,
                                    int *components, tz_nvjpeg_sampling *sampling, int *widths,
                                    int *heights)
{
    tz_jpeg_info info;
    if (!handle || !data || size == 0)
        return INVALID_PARAMETER;
    tz_nvjpeg_status status = begin("+nvjpegGetImageInfo", false);
    if (status == SUCCESS)
        status = read_jpeg(&info, data, size);
    if (status != SUCCESS)
        return status;
    *components = info.component_count;
    *sampling = sampling_of(&info);
    for (size_t i = 0; i < 4; i++) {
        const tz_jpeg_component *c = i < info.component_count ? &info.components[i] : NULL;
        widths[i] = c ? (info.width * c->h + info.components[0].h - 1) / info.components[0].h : 0;
        heights[i] = c ? (info.height * c->v + info.components[0].v - 1) / info.components[0].v : 0;
    }
    return SUCCESS;
}

/* ---- batches ---- */

tz_nvjpeg_status nvjpegDecodeBatchedInitialize(tz_nvjpeg_handle handle, tz_nvjpeg_state state,
                                               int count, int threads, tz_nvjpeg_output output)
{
    if (!handle || !state || count < 1 || threads < 1)
        return INVALID_PARAMETER;
    if (output == TZ_NVJPEG_OUTPUT_UNCHANGEDI && pictures_control.is_old)
        return INVALID_PARAMETER;
    if (output != TZ_NVJPEG_OUTPUT_UNCHANGED && output != TZ_NVJPEG_OUTPUT_Y &&
        output != TZ_NVJPEG_OUTPUT_RGBI && output != TZ_NVJPEG_OUTPUT_UNCHANGEDI)
        return IMPLEMENTATION_NOT_SUPPORTED; /* by this fake */
    if (!idle(&state->busy, "a state is initialised"))
        return INVALID_PARAMETER;
    const tz_nvjpeg_status status = begin("+nvjpegDecodeBatchedInitialize", true);
    if (status == SUCCESS) {
        state->count = count;
        state->output = output;
    }
    return status;
}

typedef struct image {
    const unsigned char *data;
    size_t size;
    tz_tile_format format;
    picture_planes planes;
} image;

typedef struct job {
    tz_nvjpeg_state state;
    bool interpolates;
    int count;
    image images[];
} job;

/* One that this fake can decode as the state says; 0, or why not. */
static tz_nvjpeg_status plan(image *out, tz_nvjpeg_output output, const tz_nvjpeg_image *to)
{
    tz_jpeg_info info;
    const tz_nvjpeg_status status = read_jpeg(&info, out->data, out->size);
    if (status != SUCCESS)
        return status;
    const tz_nvjpeg_sampling sampling = sampling_of(&info);
    const bool gray = sampling == TZ_NVJPEG_SAMPLING_GRAY;
    const bool rgb = output == TZ_NVJPEG_OUTPUT_RGBI && info.component_count == 3;
    const bool as_is =
        output == TZ_NVJPEG_OUTPUT_UNCHANGED || output == TZ_NVJPEG_OUTPUT_UNCHANGEDI;
    if (!rgb && !(gray && output != TZ_NVJPEG_OUTPUT_RGBI) &&
        !(as_is && sampling == TZ_NVJPEG_SAMPLING_444))
        return IMPLEMENTATION_NOT_SUPPORTED; /* by this fake */
    out->format = (tz_tile_format){.width = info.width,
                                   .height = info.height,
                                   .samples = info.component_count,
                                   .bits = 8,
                                   .sample_format = 1,
                                   .compression = 7,
                                   .photometric = gray  ? 1
                                                  : rgb ? 6
                                                        : 2};
    out->planes.interleaved = rgb || output == TZ_NVJPEG_OUTPUT_UNCHANGEDI;
    for (size_t i = 0; i < 4; i++) {
        out->planes.at[i] = (uint64_t)(uintptr_t)to->channel[i];
        out->planes.pitch[i] = to->pitch[i];
    }
    return picture_fits(&out->planes, &out->format) ? SUCCESS : INVALID_PARAMETER;
}

/* Decodes again, to RGB with repeated chroma. */
static void repeat_chroma(const image *is, uint8_t *rows)
{
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr errors;
    d.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&d);
    jpeg_mem_src(&d, is->data, is->size);
    (void)jpeg_read_header(&d, TRUE);
    d.jpeg_color_space = JCS_YCbCr;
    d.out_color_space = JCS_RGB;
    d.do_fancy_upsampling = FALSE;
    (void)jpeg_start_decompress(&d);
    while (d.output_scanline < d.output_height) {
        JSAMPROW row = rows + d.output_scanline * tz_tile_row_bytes(&is->format);
        (void)jpeg_read_scanlines(&d, &row, 1);
    }
    (void)jpeg_finish_decompress(&d);
    jpeg_destroy_decompress(&d);
}

static void run(cuda_vendor_work *work, void *state)
{
    const job *j = state;
    for (int i = 0; work && i < j->count; i++) {
        const image *is = &j->images[i];
        uint8_t *rows = picture_decode(&tz_decoder_jpeg, &is->format, is->data, is->size);
        if (rows && !j->interpolates && is->format.photometric == 6)
            repeat_chroma(is, rows);
        pictures_control.decoded++;
        pictures_control.damaged += !rows;
        const bool works = picture_put(work, &is->planes, &is->format, rows);
        free(rows);
        if (!works)
            break;
    }
    atomic_store(&j->state->busy, false);
}

tz_nvjpeg_status nvjpegDecodeBatched(tz_nvjpeg_handle handle, tz_nvjpeg_state state,
                                     const unsigned char *const *data, const size_t *sizes,
                                     tz_nvjpeg_image *to, tz_cu_stream stream)
{
    if (!handle || !state || !data || !sizes || !to || !idle(&state->busy, "a state is used again"))
        return INVALID_PARAMETER;
    if (state->count == 0)
        return NOT_INITIALIZED;
    job *j = calloc(1, sizeof *j + (size_t)state->count * sizeof j->images[0]);
    j->state = state;
    j->interpolates = handle->interpolates;
    j->count = state->count;
    for (int i = 0; i < j->count; i++) {
        j->images[i].data = data[i];
        j->images[i].size = sizes[i];
        const tz_nvjpeg_status status = plan(&j->images[i], state->output, &to[i]);
        if (status != SUCCESS) {
            free(j);
            state->count = 0;
            return status;
        }
    }
    const tz_nvjpeg_status status = start("+nvjpegDecodeBatched", stream, run, j, &state->busy);
    if (status != SUCCESS)
        state->count = 0;
    return status;
}
