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

enum { JPEG = 7, JPEG_2000 = 34712, RGB = 2, YCBCR = 6, MOST_SAMPLES = 4, PLAIN_ALIGNMENT = 16 };

/* ---- which images ---- */

static const char *refuse_jpeg(const tz_image *image)
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

static const char *refuse_jpeg_2000(const tz_image *image)
{
    const tz_tile_format *format = &image->format;
    if (format->bits == 8 && format->sample_format != 1)
        return "the library does not encode int8";
    return format->samples > MOST_SAMPLES ? "the library encodes up to 4 bands" : NULL;
}

/* As many at once as take a quarter of what the write may hold. */
static bool fit(tz_codestream_codec *codec, uint64_t cap)
{
    const uint64_t each = codec->bytes / codec->at_once;
    if (each > cap / 2)
        return false;
    while (codec->at_once > 1 && each * codec->at_once > cap / 4)
        codec->at_once--;
    codec->bytes = each * codec->at_once;
    return true;
}

bool tz_pictures_choose(const tz_device *device, tz_pyramid_level *level, char *missing,
                        size_t missing_size)
{
    const tz_image *image = &level->image;
    const tz_tile_format *format = &image->format;
    const uint64_t samples = (uint64_t)format->width * format->height * format->samples;
    const uint64_t cap = tz_device_cap(&image->options);
    if (format->compression != JPEG && format->compression != JPEG_2000)
        return false;
    const char *why = format->compression == JPEG ? refuse_jpeg(image) : refuse_jpeg_2000(image);
    tz_codestream_codec codec;
    if (!why &&
        !tz_device_find_codestream_codec(device, format->compression, true, samples, &codec))
        why = codec.reason;
    else if (!why && !fit(&codec, cap))
        why = "the library takes more memory than the write may hold";
    if (why) {
        (void)snprintf(missing, missing_size, "%s", why);
        return false;
    }
    level->pictures = codec;
    return true;
}

void tz_pictures_settle(tz_writer *w)
{
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        tz_pyramid_level *level = &w->pyramid.levels[i];
        if (level->pictures.name[0] != '\0' && level->image.format.compression == JPEG)
            level->image.choice.jpeg_tables = TZ_JPEG_TABLES_NONE;
    }
}

/* ---- what they take ---- */

uint64_t tz_pictures_bytes(const tz_budget *b)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < TZ_WAYS; i++)
        if (b->way[i].pictures)
            sum = tz_add_capped(sum, b->way[i].pictures->bytes);
    return sum;
}

uint64_t tz_pictures_host_bytes(const tz_budget *b)
{
    const tz_device_pictures *p = NULL;
    const uint64_t one = sizeof *p->list + sizeof *p->numbers + sizeof *p->sizes;
    return tz_pictures_bytes(b) > 0 ? tz_mul_capped(b->device.batch_tiles, one) : 0;
}

tz_result tz_pictures_open(tz_writer *w)
{
    tz_device_pictures *p = &w->means.pictures;
    const uint32_t count = w->budget.device.batch_tiles;
    if (tz_pictures_bytes(&w->budget) == 0)
        return TZ_OK;
    p->list = tz_alloc_array(count, sizeof *p->list);
    p->numbers = tz_alloc_array(count, sizeof *p->numbers);
    p->sizes = tz_alloc_array(count, sizeof *p->sizes);
    return p->list && p->numbers && p->sizes
               ? TZ_OK
               : tz_fail_nomem(&w->ctx, tz_pictures_host_bytes(&w->budget));
}

void tz_pictures_close(tz_writer *w)
{
    tz_device_pictures *p = &w->means.pictures;
    tz_free(p->list);
    tz_free(p->numbers);
    tz_free(p->sizes);
    *p = (tz_device_pictures){.list = NULL};
}

/* ---- a batch ---- */

/* A batch at work. Results are on the host, as if the device had told them. */
typedef struct picture_batch {
    tz_writer *writer;
    const tz_device_tiles *tiles;
    const tz_image *image;
    const tz_tile_way *way;
    tz_device_rooms one;
    uint32_t count; /* of pictures: of tiles that are not empty */
    uint32_t *sizes;
    uint64_t *places;
    const tz_extract_result *seen;
    uint8_t *payload; /* behind the mask's tiles */
    uint64_t end;     /* of what is in it */
} picture_batch;

static picture_batch batch_of(tz_writer *w, const tz_device_tiles *tiles)
{
    const tz_budget *b = &w->budget;
    const tz_device_places *at = &b->device.at;
    const tz_image *image = w->levels[tiles->level].image;
    uint8_t *results = tiles->memory->host;
    return (picture_batch){
        .writer = w,
        .tiles = tiles,
        .image = image,
        .way = &b->way[tz_way_of(b, tiles->level, false)],
        .one = tz_device_tile_rooms(b, image, tiles->level, false),
        .sizes = (uint32_t *)(void *)results,
        .places = (uint64_t *)(void *)(results + (at->places - at->sizes)),
        .seen = (const tz_extract_result *)(const void *)(results + (at->seen - at->sizes)),
        .payload = results + (at->results_end - at->sizes) + tiles->mask_bytes};
}

static tz_codestream picture_of(const picture_batch *b, const tz_tile_spot *spot, uint32_t number)
{
    const tz_tile_format *format = &b->way->format;
    return (tz_codestream){.at = tz_cut_place(&b->writer->budget.device, &b->one, number),
                           .width = format->width,
                           .height = b->image->options.strips ? spot->height : format->height,
                           .samples = (uint8_t)format->samples,
                           .sample_bytes = (uint8_t)(format->bits / 8),
                           .is_signed = format->sample_format == 2};
}

static void list_pictures(picture_batch *b)
{
    const tz_device_tiles *t = b->tiles;
    tz_device_pictures *p = &b->writer->means.pictures;
    for (uint32_t i = 0; i < t->images + t->masks; i++) {
        const tz_tile_spot spot = tz_tile_find(b->image, &t->swath, t->first + i);
        const uint32_t number = t->numbers[i];
        if (spot.is_mask)
            continue;
        b->sizes[number] = 0;
        b->places[number] = 0;
        if (b->image->options.sparse && b->seen[number].empty)
            continue;
        p->list[b->count] = picture_of(b, &spot, number);
        p->numbers[b->count++] = number;
    }
}

static tz_codestream_encoding encoding_of(const tz_tile_way *way)
{
    const tz_tile_format *format = &way->format;
    const bool is_jpeg = format->compression == JPEG;
    return (tz_codestream_encoding){
        .quality = way->choice->lossless ? 0 : way->choice->quality,
        .subsampling = {(uint8_t)format->subsampling[0], (uint8_t)format->subsampling[1]},
        .to_ycbcr = format->photometric == (is_jpeg ? YCBCR : RGB),
        .before = TZ_LEADER,
        .after = TZ_TRAILER,
        .max_bytes = way->bytes.bound,
        .at_once = way->pictures->at_once};
}

static tz_result encode(const picture_batch *b)
{
    tz_writer *w = b->writer;
    const tz_device_pictures *p = &w->means.pictures;
    tz_device_use *use = &w->means.counted;
    const tz_codestream_encoding how = encoding_of(b->way);
    const tz_codestream_batch batch = {.compression = b->way->format.compression,
                                       .slab = w->means.pieces[TZ_PIECE_TILES],
                                       .pictures = p->list,
                                       .count = b->count};
    tz_codestream_output out = {b->payload, b->tiles->images * b->one.streams, p->sizes};
    TZ_TRY(tz_device_encode_codestreams(0, &batch, &how, &out, w->ctx.err));
    use->library_calls++;
    (void)snprintf(use->library, sizeof use->library, "%s", b->way->pictures->name);
    return TZ_OK;
}

/* Where streams are is told as the device tells of tiles that it encoded itself. */
static void place_streams(picture_batch *b)
{
    const tz_device_pictures *p = &b->writer->means.pictures;
    for (uint32_t i = 0; i < b->count; i++) {
        if (p->sizes[i] == 0)
            continue;
        b->sizes[p->numbers[i]] = (uint32_t)p->sizes[i];
        b->places[p->numbers[i]] = b->end + TZ_LEADER;
        b->end += TZ_LEADER + p->sizes[i] + TZ_TRAILER;
    }
}

/* ---- what the library did not make ---- */

/* How many failed one behind the other, from this one on. */
static uint32_t run_of(const picture_batch *b, uint32_t first)
{
    const tz_device_pictures *p = &b->writer->means.pictures;
    uint32_t count = 0;
    while (first + count < b->count && p->sizes[first + count] == 0 &&
           p->numbers[first + count] == p->numbers[first] + count)
        count++;
    return count;
}

/* There is room: each takes less than its stream could have. */
static tz_result fetch(picture_batch *b, uint32_t first, uint32_t count)
{
    tz_writer *w = b->writer;
    const tz_device_pictures *p = &w->means.pictures;
    const uint64_t bytes = count * b->one.tiles;
    b->end = tz_ceil_div(b->end, PLAIN_ALIGNMENT) * PLAIN_ALIGNMENT;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = p->numbers[first + i];
        b->sizes[number] =
            TZ_ENCODE_LEFT_TO_CPU | (uint32_t)tz_codestream_sample_bytes(&p->list[first + i]);
        b->places[number] = b->end + i * b->one.tiles;
    }
    TZ_TRY(tz_device_download(0, b->payload + b->end, w->means.pieces[TZ_PIECE_TILES],
                              p->list[first].at, bytes, w->ctx.err));
    b->end += bytes;
    return TZ_OK;
}

static tz_result fetch_failed(picture_batch *b)
{
    tz_writer *w = b->writer;
    tz_device_use *use = &w->means.counted;
    bool any = false;
    for (uint32_t i = 0, count; i<b->count; i += count> 0 ? count : 1) {
        count = run_of(b, i);
        if (count > 0)
            TZ_TRY(fetch(b, i, count));
        any = any || count > 0;
    }
    if (!any)
        return TZ_OK;
    if (b->image->options.strict_device)
        return tz_fail(&w->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "%s did not encode all tiles", b->way->pictures->name);
    if (use->library_reason[0] == '\0')
        (void)snprintf(use->library_reason, sizeof use->library_reason,
                       "%s did not encode all tiles: the cores did", b->way->pictures->name);
    return tz_device_sync(w->device, 0, w->ctx.err);
}

tz_result tz_pictures_make(tz_writer *w, const tz_device_tiles *tiles)
{
    picture_batch b = batch_of(w, tiles);
    if (!b.way->pictures)
        return TZ_OK;
    list_pictures(&b);
    if (b.count == 0)
        return TZ_OK;
    TZ_TRY(encode(&b));
    place_streams(&b);
    return fetch_failed(&b);
}
