/* SPDX-License-Identifier: Apache-2.0
 * Tiles in JPEG and JPEG 2000 that a vendor library encodes on the device, if the caller allows it.
 *
 * The tiles of a batch are extracted like all tiles. When that is done, the library encodes them in
 * device memory and writes the codestreams to the host, one after the other. Sizes and offsets are
 * then stored in the results of the batch, as if the device's own encoder had reported them, and
 * the tiles are collected like others (gpu_tiles.c).
 *
 * The library may fail for single tiles. Their samples are downloaded after the codestreams, in
 * runs of neighbours, and the CPU encodes them. There is always space for that: a tile's samples
 * take less than its longest codestream. */
#include <stdio.h>

#include "base/mem.h"
#include "device/device_codestreams.h"
#include "device/ops/encode.h"
#include "write/cog_layout.h"
#include "write/writer.h"

enum { MAX_SAMPLES = 4, PLAIN_ALIGNMENT = 16 };

/* ---- the choice ---- */

/* The number of tiles that the library encodes at once is limited here, with its memory. */
bool tz_gpu_codestreams_choose(const tz_device *device, tz_output_level *level, char *missing,
                               size_t missing_size)
{
    const tz_image *image = &level->image;
    const tz_tile_format *format = &image->format;
    const uint64_t samples = (uint64_t)format->width * format->height * format->samples;
    const uint64_t cap = tz_gpu_budget_limit(&image->options);
    if (format->compression != TZ_COMPRESSION_JPEG &&
        format->compression != TZ_COMPRESSION_JPEG2000)
        return false;
    const char *why = NULL;
    if (!image->options.allow_inexact && image->encoder->lossy(format, &image->choice)) {
        why = "the codec is lossy, and allow_inexact is not set";
    } else if (format->compression == TZ_COMPRESSION_JPEG) {
        const tz_jpeg_tables tables = image->options.codec.jpeg_tables;
        if (format->bits != 8)
            why = "the library encodes samples of 8 bits";
        else if (format->samples != 1 && format->photometric != TZ_PHOTOMETRIC_YCBCR)
            why = "the library encodes one band, or three as YCbCr";
        else if (tables != TZ_JPEG_TABLES_DEFAULT && tables != TZ_JPEG_TABLES_NONE)
            why = "the library does not write tables that tiles share";
    } else if (format->bits == 8 && format->sample_format != TZ_SAMPLE_FORMAT_UINT) {
        why = "the library does not encode int8";
    } else if (format->samples > MAX_SAMPLES) {
        why = "the library encodes up to 4 bands";
    }
    tz_codestream_codec codec;
    if (!why &&
        !tz_device_find_codestream_codec(device, format->compression, true, samples, &codec))
        why = codec.reason;
    const uint64_t each = !why ? codec.bytes / codec.at_once : 0;
    if (each > cap / 2)
        why = "the library needs more memory than the write may hold";
    if (why) {
        (void)snprintf(missing, missing_size, "%s", why);
        return false;
    }
    /* The library may use a quarter of the memory that the write may hold. */
    while (codec.at_once > 1 && each * codec.at_once > cap / 4)
        codec.at_once--;
    codec.bytes = each * codec.at_once;
    level->codestreams = codec;
    return true;
}

/* ---- memory ---- */

uint64_t tz_gpu_codestreams_device_bytes(const tz_budget *b)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < TZ_ENCODINGS; i++)
        if (b->encoding[i].codestreams)
            sum = tz_add_capped(sum, b->encoding[i].codestreams->bytes);
    return sum;
}

uint64_t tz_gpu_codestreams_host_bytes(const tz_budget *b)
{
    const tz_gpu_codestreams *p = NULL;
    const uint64_t tile_bytes = sizeof *p->list + sizeof *p->numbers + sizeof *p->sizes;
    return tz_gpu_codestreams_device_bytes(b) > 0 ? tz_mul_capped(b->device.batch_tiles, tile_bytes)
                                                  : 0;
}

tz_result tz_gpu_codestreams_open(tz_writer *w)
{
    tz_gpu_codestreams *p = &w->gpu.codestreams;
    const uint32_t count = w->budget.device.batch_tiles;
    if (tz_gpu_codestreams_device_bytes(&w->budget) == 0)
        return TZ_OK;
    p->list = tz_alloc_array(count, sizeof *p->list);
    p->numbers = tz_alloc_array(count, sizeof *p->numbers);
    p->sizes = tz_alloc_array(count, sizeof *p->sizes);
    return p->list && p->numbers && p->sizes
               ? TZ_OK
               : tz_fail_nomem(&w->ctx, tz_gpu_codestreams_host_bytes(&w->budget));
}

void tz_gpu_codestreams_close(tz_writer *w)
{
    tz_gpu_codestreams *p = &w->gpu.codestreams;
    tz_free(p->list);
    tz_free(p->numbers);
    tz_free(p->sizes);
    *p = (tz_gpu_codestreams){.list = NULL};
}

/* ---- a batch ---- */

typedef struct codestream_batch {
    tz_writer *writer;
    const tz_gpu_tile_batch *tiles;
    const tz_image *image;
    const tz_tile_encoding *encoding;
    tz_gpu_part_bytes tile_bytes;
    uint32_t count;  /* of tiles to encode: those that are not sparse */
    uint32_t *sizes; /* results of the batch, on the host */
    uint64_t *offsets;
    const tz_extract_result *results;
    uint8_t *payload; /* after the mask's tiles */
    uint64_t end;     /* of the used bytes of payload */
} codestream_batch;

/* Lists the tiles of the image that are not sparse. Size 0 in the results means sparse until
 * a codestream is recorded. */
static void list_tiles_to_encode(codestream_batch *b)
{
    const tz_gpu_tile_batch *t = b->tiles;
    const tz_tile_format *format = &b->encoding->format;
    tz_gpu_codestreams *p = &b->writer->gpu.codestreams;
    for (uint32_t i = 0; i < t->images + t->masks; i++) {
        const tz_tile_position position = tz_tile_position_of(b->image, &t->tile_row, t->first + i);
        const uint32_t number = t->numbers[i];
        if (position.is_mask)
            continue;
        b->sizes[number] = 0;
        b->offsets[number] = 0;
        if (b->image->options.sparse && b->results[number].empty)
            continue;
        p->list[b->count] = (tz_codestream){
            .at = tz_gpu_extract_offset(&b->writer->budget.device, &b->tile_bytes, number),
            .width = format->width,
            .height = b->image->options.strips ? position.height : format->height,
            .samples = (uint8_t)format->samples,
            .sample_bytes = (uint8_t)(format->bits / 8),
            .is_signed = format->sample_format == TZ_SAMPLE_FORMAT_INT};
        p->numbers[b->count++] = number;
    }
}

/* Encodes the listed tiles, and stores the sizes and offsets of their codestreams. */
static tz_result encode_codestreams(codestream_batch *b)
{
    tz_writer *w = b->writer;
    const tz_tile_encoding *encoding = b->encoding;
    const tz_tile_format *format = &encoding->format;
    const tz_gpu_codestreams *p = &w->gpu.codestreams;
    tz_device_use *use = &w->gpu.counted;
    const bool is_jpeg = format->compression == TZ_COMPRESSION_JPEG;
    const tz_codestream_encoding how = {
        .quality = encoding->choice->lossless ? 0 : encoding->choice->quality,
        .subsampling = {(uint8_t)format->subsampling[0], (uint8_t)format->subsampling[1]},
        .to_ycbcr = format->photometric == (is_jpeg ? TZ_PHOTOMETRIC_YCBCR : TZ_PHOTOMETRIC_RGB),
        .before = TZ_LEADER,
        .after = TZ_TRAILER,
        .max_bytes = encoding->bytes.bound,
        .at_once = encoding->codestreams->at_once};
    const tz_codestream_batch batch = {.compression = format->compression,
                                       .slab = w->gpu.allocations[TZ_ALLOCATION_TILES],
                                       .codestreams = p->list,
                                       .count = b->count};
    tz_codestream_output out = {b->payload, b->tiles->images * b->tile_bytes.codestreams, p->sizes};
    TZ_TRY(tz_device_encode_codestreams(0, &batch, &how, &out, w->ctx.err));
    use->library_calls++;
    (void)snprintf(use->library, sizeof use->library, "%s", encoding->codestreams->name);
    for (uint32_t i = 0; i < b->count; i++) {
        if (p->sizes[i] == 0)
            continue;
        b->sizes[p->numbers[i]] = (uint32_t)p->sizes[i];
        b->offsets[p->numbers[i]] = b->end + TZ_LEADER;
        b->end += TZ_LEADER + p->sizes[i] + TZ_TRAILER;
    }
    return TZ_OK;
}

/* Downloads the samples of tiles that the library did not encode. Neighbours are one range of
 * device memory. With strict_device the write fails instead. */
static tz_result download_failed_tiles(codestream_batch *b)
{
    tz_writer *w = b->writer;
    const tz_gpu_codestreams *p = &w->gpu.codestreams;
    tz_device_use *use = &w->gpu.counted;
    bool any = false;
    for (uint32_t first = 0, count; first < b->count; first += tz_max_u32(count, 1)) {
        for (count = 0; first + count < b->count && p->sizes[first + count] == 0 &&
                        p->numbers[first + count] == p->numbers[first] + count;
             count++)
            ;
        if (count == 0)
            continue;
        any = true;
        b->end = tz_ceil_div(b->end, PLAIN_ALIGNMENT) * PLAIN_ALIGNMENT;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t number = p->numbers[first + i];
            b->sizes[number] =
                TZ_ENCODE_LEFT_TO_CPU | (uint32_t)tz_codestream_sample_bytes(&p->list[first + i]);
            b->offsets[number] = b->end + i * b->tile_bytes.tiles;
        }
        TZ_TRY(tz_device_download(0, b->payload + b->end, w->gpu.allocations[TZ_ALLOCATION_TILES],
                                  p->list[first].at, count * b->tile_bytes.tiles, w->ctx.err));
        b->end += count * b->tile_bytes.tiles;
    }
    if (!any)
        return TZ_OK;
    if (b->image->options.strict_device)
        return tz_fail(&w->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "%s did not encode all tiles", b->encoding->codestreams->name);
    if (use->library_reason[0] == '\0')
        (void)snprintf(use->library_reason, sizeof use->library_reason,
                       "%s did not encode all tiles: the CPU encoded the rest",
                       b->encoding->codestreams->name);
    return tz_device_sync(w->gpu.device, 0, w->ctx.err);
}

/* The results were downloaded to the beginning of the batch's memory; the payload follows them. */
tz_result tz_gpu_codestreams_encode(tz_writer *w, const tz_gpu_tile_batch *tiles)
{
    const tz_budget *budget = &w->budget;
    const tz_gpu_tile_layout *at = &budget->device.layout;
    const tz_image *image = w->levels[tiles->level].image;
    uint8_t *results = tiles->memory->host;
    codestream_batch b = {
        .writer = w,
        .tiles = tiles,
        .image = image,
        .encoding = &budget->encoding[tz_encoding_index(budget, tiles->level, false)],
        .tile_bytes = tz_gpu_tile_bytes(budget, image, tiles->level),
        .sizes = (uint32_t *)(void *)results,
        .offsets = (uint64_t *)(void *)(results + (at->offsets - at->sizes)),
        .results = (const tz_extract_result *)(const void *)(results + (at->results - at->sizes)),
        .payload = results + (at->results_end - at->sizes) + tiles->mask_bytes};
    if (!b.encoding->codestreams)
        return TZ_OK;
    list_tiles_to_encode(&b);
    if (b.count == 0)
        return TZ_OK;
    TZ_TRY(encode_codestreams(&b));
    return download_failed_tiles(&b);
}
