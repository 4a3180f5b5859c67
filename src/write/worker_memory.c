/* SPDX-License-Identifier: Apache-2.0
 * What threads work with, and where tiles wait: all of it is taken before the first tile. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "write/writer.h"

tz_row_format tz_writer_row_format(const tz_image *image, bool mask)
{
    const tz_tile_format *format = mask ? &image->mask_format : &image->format;
    const tz_encoder *encoder = mask ? image->mask_encoder : image->encoder;
    const bool native = (encoder->flags & TZ_ENCODER_NATIVE_ENDIAN) != 0;
    return (tz_row_format){
        .dtype = mask ? TZ_DTYPE_UINT8 : image->spec.dtype,
        .bits = format->bits,
        .sample_format = format->sample_format,
        .samples = format->samples,
        .predictor = mask ? 1 : image->options.predictor,
        .swap = !native && image->options.big_endian,
        .width = format->width,
    };
}

/* The largest of the sizes at an offset in tz_tile_encoding, of all ways. */
static size_t max_over_encodings(const tz_writer *w, size_t member)
{
    size_t size = 0;
    for (unsigned which = 0; which < TZ_ENCODINGS; which++) {
        size_t size_of_encoding;
        memcpy(&size_of_encoding, (const char *)&w->budget.encoding[which] + member,
               sizeof size_of_encoding);
        size = tz_max_size(size, size_of_encoding);
    }
    return size;
}

/* ---- slots ---- */

/* For a leader, and to keep the tile itself aligned. */
enum { SPACE_BEFORE_TILE = 64 };

static uint32_t statistics_bands(const tz_image *image)
{
    return image->options.statistics || image->options.statistics_items ? image->format.samples : 0;
}

size_t tz_tile_slot_bytes(const tz_image *image)
{
    return sizeof(tz_tile_slot) + statistics_bands(image) * sizeof(tz_stats) + SPACE_BEFORE_TILE +
           2 * (TZ_CODEC_SLACK + 64);
}

static tz_result open_slots(tz_writer *w)
{
    const uint32_t count = w->budget.slots;
    const size_t bound = max_over_encodings(w, offsetof(tz_tile_encoding, bytes.bound));
    size_t size = 0;
    const size_t tallies =
        tz_codec_buffer_offset(&size, statistics_bands(tz_writer_image(w)) * sizeof(tz_stats));
    const size_t bytes = tz_codec_buffer_offset(&size, SPACE_BEFORE_TILE + bound);
    const size_t each = tz_codec_buffer_offset(&size, 0); /* where the next one may begin */
    w->slots = tz_alloc_zeroed(count, sizeof *w->slots);
    w->slot_memory = tz_alloc_slab(tz_mul_capped(each, count));
    if (!w->slots || !w->slot_memory)
        return tz_fail_nomem(&w->ctx, tz_mul_capped(each, count));
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *memory = w->slot_memory + i * each;
        w->slots[i].stats = (tz_stats *)(void *)(memory + tallies);
        w->slots[i].own = memory + bytes + SPACE_BEFORE_TILE;
    }
    return TZ_OK;
}

static void close_slots(tz_writer *w)
{
    tz_free(w->slot_memory);
    tz_free(w->slots);
    w->slot_memory = NULL;
    w->slots = NULL;
}

/* ---- workers ---- */

uint64_t tz_encode_worker_bytes(const tz_image *image)
{
    return sizeof(tz_encode_worker) + image->tile_width + 6 * (TZ_CODEC_SLACK + 64);
}

static tz_result open_state(tz_writer *w, tz_encode_worker *worker, unsigned which)
{
    const tz_tile_encoding *encoding = &w->budget.encoding[which];
    const tz_encoder *encoder = encoding->encoder;
    if (!encoder || encoder->state_size == 0)
        return TZ_OK;
    worker->states[which] = tz_alloc_zeroed(1, encoder->state_size);
    if (!worker->states[which])
        return tz_fail_nomem(&w->ctx, encoder->state_size);
    return encoder->init
               ? encoder->init(worker->states[which], &encoding->format, encoding->choice, &w->ctx)
               : TZ_OK;
}

static tz_result open_worker(tz_writer *w, tz_encode_worker *worker)
{
    size_t size = 0;
    const size_t tile = tz_codec_buffer_offset(
        &size, max_over_encodings(w, offsetof(tz_tile_encoding, bytes.tile)));
    const size_t row =
        tz_codec_buffer_offset(&size, max_over_encodings(w, offsetof(tz_tile_encoding, bytes.row)));
    const size_t scratch = tz_codec_buffer_offset(
        &size, max_over_encodings(w, offsetof(tz_tile_encoding, bytes.scratch)));
    const size_t valid = tz_codec_buffer_offset(&size, tz_writer_image(w)->tile_width);
    const size_t overview_scratch = tz_codec_buffer_offset(&size, w->budget.overview_scratch);
    worker->memory = tz_alloc(size);
    if (!worker->memory)
        return tz_fail_nomem(&w->ctx, size);
    worker->tile = worker->memory + tile;
    worker->row = worker->memory + row;
    worker->scratch = worker->memory + scratch;
    worker->valid = worker->memory + valid;
    worker->overview_scratch = worker->memory + overview_scratch;
    for (unsigned which = 0; which < TZ_ENCODINGS; which++)
        TZ_TRY(open_state(w, worker, which));
    return TZ_OK;
}

tz_result tz_workers_open(tz_writer *w)
{
    w->workers = tz_alloc_zeroed(w->budget.threads, sizeof *w->workers);
    if (!w->workers)
        return tz_fail_nomem(&w->ctx, w->budget.threads * sizeof *w->workers);
    for (unsigned i = 0; i < w->budget.threads; i++)
        TZ_TRY(open_worker(w, &w->workers[i]));
    return open_slots(w);
}

static void close_worker(const tz_writer *w, tz_encode_worker *worker)
{
    for (unsigned which = 0; which < TZ_ENCODINGS; which++) {
        const tz_encoder *encoder = w->budget.encoding[which].encoder;
        if (worker->states[which] && encoder->deinit)
            encoder->deinit(worker->states[which]);
        tz_free(worker->states[which]);
    }
    tz_free(worker->memory);
}

void tz_workers_close(tz_writer *w)
{
    for (unsigned i = 0; w->workers && i < w->budget.threads; i++)
        close_worker(w, &w->workers[i]);
    tz_free(w->workers);
    w->workers = NULL;
    close_slots(w);
}
