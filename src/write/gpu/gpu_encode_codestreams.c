/* SPDX-License-Identifier: Apache-2.0
 * Tiles in JPEG and JPEG 2000 that a library of the device's makes, where the caller allows it.
 * They are cut as all tiles are; when that is done they are encoded from where they lie, and their
 * streams come to the host as they are retrieved. A tile that the library does not make is encoded
 * by the cores, of samples that come down for them. */
#include <stdio.h>

#include "base/mem.h"
#include "device/device_codestreams.h"
#include "device/ops/encode.h"
#include "write/cog_layout.h"
#include "write/writer.h"

enum { JPEG = 7, JPEG_2000 = 34712, RGB = 2, YCBCR = 6, MAX_SAMPLES = 4, PLAIN_ALIGNMENT = 16 };

/* ---- which images ---- */

static const char *jpeg_refusal(const tz_image *image)
{
    const tz_tile_format *format = &image->format;
    const tz_jpeg_tables tables = image->options.jpeg_tables;
    if (format->bits != 8)
        return "the library encodes samples of 8 bits";
    if (format->samples != 1 && format->photometric != YCBCR)
        return "the library encodes one band, or three as YCbCr";
    if (tables != TZ_JPEG_TABLES_DEFAULT && tables != TZ_JPEG_TABLES_NONE)
        return "the library makes no tables that tiles share";
    return NULL;
}

static const char *jpeg_2000_refusal(const tz_image *image)
{
    const tz_tile_format *format = &image->format;
    if (format->bits == 8 && format->sample_format != 1)
        return "the library does not encode int8";
    return format->samples > MAX_SAMPLES ? "the library encodes up to 4 bands" : NULL;
}

/* As many at once as take a quarter of what the write may hold. */
static bool fit_library_memory(tz_codestream_codec *codec, uint64_t cap)
{
    const uint64_t each = codec->bytes / codec->at_once;
    if (each > cap / 2)
        return false;
    while (codec->at_once > 1 && each * codec->at_once > cap / 4)
        codec->at_once--;
    codec->bytes = each * codec->at_once;
    return true;
}

bool tz_gpu_codestreams_choose(const tz_device *device, tz_output_level *level, char *missing,
                               size_t missing_size)
{
    const tz_image *image = &level->image;
    const tz_tile_format *format = &image->format;
    const uint64_t samples = (uint64_t)format->width * format->height * format->samples;
    const uint64_t cap = tz_gpu_budget_limit(&image->options);
    if (format->compression != JPEG && format->compression != JPEG_2000)
        return false;
    const char *why = format->compression == JPEG ? jpeg_refusal(image) : jpeg_2000_refusal(image);
    tz_codestream_codec codec;
    if (!why &&
        !tz_device_find_codestream_codec(device, format->compression, true, samples, &codec))
        why = codec.reason;
    else if (!why && !fit_library_memory(&codec, cap))
        why = "the library takes more memory than the write may hold";
    if (why) {
        (void)snprintf(missing, missing_size, "%s", why);
        return false;
    }
    level->codestreams = codec;
    return true;
}

void tz_gpu_codestreams_unshare_tables(tz_writer *w)
{
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        tz_output_level *level = &w->pyramid.levels[i];
        if (level->codestreams.name[0] != '\0' && level->image.format.compression == JPEG)
            level->image.choice.jpeg_tables = TZ_JPEG_TABLES_NONE;
    }
}

/* ---- what they take ---- */

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

/* A batch at work. Results are on the host, as if the device had told them. */
typedef struct codestream_batch {
    tz_writer *writer;
    const tz_gpu_tile_batch *tiles;
    const tz_image *image;
    const tz_tile_encoding *encoding;
    tz_gpu_part_bytes tile_bytes;
    uint32_t count; /* of pictures: of tiles that are not empty */
    uint32_t *sizes;
    uint64_t *offsets;
    const tz_extract_result *results;
    uint8_t *payload; /* behind the mask's tiles */
    uint64_t end;     /* of what is in it */
} codestream_batch;

static codestream_batch make_codestream_batch(tz_writer *w, const tz_gpu_tile_batch *tiles)
{
    const tz_budget *b = &w->budget;
    const tz_gpu_tile_layout *at = &b->device.layout;
    const tz_image *image = w->levels[tiles->level].image;
    uint8_t *results = tiles->memory->host;
    return (codestream_batch){
        .writer = w,
        .tiles = tiles,
        .image = image,
        .encoding = &b->encoding[tz_encoding_index(b, tiles->level, false)],
        .tile_bytes = tz_gpu_tile_bytes(b, image, tiles->level, false),
        .sizes = (uint32_t *)(void *)results,
        .offsets = (uint64_t *)(void *)(results + (at->offsets - at->sizes)),
        .results = (const tz_extract_result *)(const void *)(results + (at->results - at->sizes)),
        .payload = results + (at->results_end - at->sizes) + tiles->mask_bytes};
}

static tz_codestream describe_tile(const codestream_batch *b, const tz_tile_position *position,
                                   uint32_t number)
{
    const tz_tile_format *format = &b->encoding->format;
    return (tz_codestream){
        .at = tz_gpu_extract_offset(&b->writer->budget.device, &b->tile_bytes, number),
        .width = format->width,
        .height = b->image->options.strips ? position->height : format->height,
        .samples = (uint8_t)format->samples,
        .sample_bytes = (uint8_t)(format->bits / 8),
        .is_signed = format->sample_format == 2};
}

static void list_tiles_to_encode(codestream_batch *b)
{
    const tz_gpu_tile_batch *t = b->tiles;
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
        p->list[b->count] = describe_tile(b, &position, number);
        p->numbers[b->count++] = number;
    }
}

static tz_codestream_encoding encoder_settings(const tz_tile_encoding *encoding)
{
    const tz_tile_format *format = &encoding->format;
    const bool is_jpeg = format->compression == JPEG;
    return (tz_codestream_encoding){
        .quality = encoding->choice->lossless ? 0 : encoding->choice->quality,
        .subsampling = {(uint8_t)format->subsampling[0], (uint8_t)format->subsampling[1]},
        .to_ycbcr = format->photometric == (is_jpeg ? YCBCR : RGB),
        .before = TZ_LEADER,
        .after = TZ_TRAILER,
        .max_bytes = encoding->bytes.bound,
        .at_once = encoding->codestreams->at_once};
}

static tz_result encode_codestreams(const codestream_batch *b)
{
    tz_writer *w = b->writer;
    const tz_gpu_codestreams *p = &w->gpu.codestreams;
    tz_device_use *use = &w->gpu.counted;
    const tz_codestream_encoding how = encoder_settings(b->encoding);
    const tz_codestream_batch batch = {.compression = b->encoding->format.compression,
                                       .slab = w->gpu.allocations[TZ_ALLOCATION_TILES],
                                       .codestreams = p->list,
                                       .count = b->count};
    tz_codestream_output out = {b->payload, b->tiles->images * b->tile_bytes.codestreams, p->sizes};
    TZ_TRY(tz_device_encode_codestreams(0, &batch, &how, &out, w->ctx.err));
    use->library_calls++;
    (void)snprintf(use->library, sizeof use->library, "%s", b->encoding->codestreams->name);
    return TZ_OK;
}

/* Where streams are is told as the device tells of tiles that it encoded itself. */
static void record_codestreams(codestream_batch *b)
{
    const tz_gpu_codestreams *p = &b->writer->gpu.codestreams;
    for (uint32_t i = 0; i < b->count; i++) {
        if (p->sizes[i] == 0)
            continue;
        b->sizes[p->numbers[i]] = (uint32_t)p->sizes[i];
        b->offsets[p->numbers[i]] = b->end + TZ_LEADER;
        b->end += TZ_LEADER + p->sizes[i] + TZ_TRAILER;
    }
}

/* ---- what the library did not make ---- */

/* How many failed one behind the other, from this one on. */
static uint32_t count_failed_run(const codestream_batch *b, uint32_t first)
{
    const tz_gpu_codestreams *p = &b->writer->gpu.codestreams;
    uint32_t count = 0;
    while (first + count < b->count && p->sizes[first + count] == 0 &&
           p->numbers[first + count] == p->numbers[first] + count)
        count++;
    return count;
}

/* There is room: each takes less than its stream could have. */
static tz_result download_samples(codestream_batch *b, uint32_t first, uint32_t count)
{
    tz_writer *w = b->writer;
    const tz_gpu_codestreams *p = &w->gpu.codestreams;
    const uint64_t bytes = count * b->tile_bytes.tiles;
    b->end = tz_ceil_div(b->end, PLAIN_ALIGNMENT) * PLAIN_ALIGNMENT;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = p->numbers[first + i];
        b->sizes[number] =
            TZ_ENCODE_LEFT_TO_CPU | (uint32_t)tz_codestream_sample_bytes(&p->list[first + i]);
        b->offsets[number] = b->end + i * b->tile_bytes.tiles;
    }
    TZ_TRY(tz_device_download(0, b->payload + b->end, w->gpu.allocations[TZ_ALLOCATION_TILES],
                              p->list[first].at, bytes, w->ctx.err));
    b->end += bytes;
    return TZ_OK;
}

static tz_result download_failed_tiles(codestream_batch *b)
{
    tz_writer *w = b->writer;
    tz_device_use *use = &w->gpu.counted;
    bool any = false;
    for (uint32_t i = 0, count; i<b->count; i += count> 0 ? count : 1) {
        count = count_failed_run(b, i);
        if (count > 0)
            TZ_TRY(download_samples(b, i, count));
        any = any || count > 0;
    }
    if (!any)
        return TZ_OK;
    if (b->image->options.strict_device)
        return tz_fail(&w->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "%s did not encode all tiles", b->encoding->codestreams->name);
    if (use->library_reason[0] == '\0')
        (void)snprintf(use->library_reason, sizeof use->library_reason,
                       "%s did not encode all tiles: the cores did",
                       b->encoding->codestreams->name);
    return tz_device_sync(w->gpu.device, 0, w->ctx.err);
}

tz_result tz_gpu_codestreams_encode(tz_writer *w, const tz_gpu_tile_batch *tiles)
{
    codestream_batch b = make_codestream_batch(w, tiles);
    if (!b.encoding->codestreams)
        return TZ_OK;
    list_tiles_to_encode(&b);
    if (b.count == 0)
        return TZ_OK;
    TZ_TRY(encode_codestreams(&b));
    record_codestreams(&b);
    return download_failed_tiles(&b);
}
