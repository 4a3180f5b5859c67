/* SPDX-License-Identifier: Apache-2.0
 * Writes one case in one of many ways that must all give the same bytes: rows pushed or asked for,
 * in any memory layout, into a file, memory or a callback. What the library promises to sources and
 * sinks is checked on the way. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "write_case.h"

/* ---- rows ---- */

static size_t sample_size(const tz_buffer *buffer)
{
    return tz_dtype_size(buffer->dtype);
}

/* The strides that a buffer with all of them 0 has. */
static tz_buffer spelled_out(tz_buffer buffer)
{
    if (buffer.band_stride == 0 && buffer.row_stride == 0 && buffer.column_stride == 0) {
        buffer.column_stride = (int64_t)sample_size(&buffer);
        buffer.row_stride = buffer.column_stride * buffer.width;
        buffer.band_stride = buffer.row_stride * buffer.height;
    }
    return buffer;
}

/* Copy from a whole image, packed band after band, what lies under a buffer at row and column. */
static void fill(const tz_buffer *into, const uint8_t *image, const tz_image_spec *spec,
                 uint32_t row, uint32_t column)
{
    const tz_buffer b = spelled_out(*into);
    const size_t size = sample_size(&b);
    for (uint32_t band = 0; band < b.bands; band++) {
        for (uint32_t r = 0; r < b.height; r++) {
            const uint8_t *from =
                image +
                (((size_t)band * spec->height + row + r) * (size_t)spec->width + column) * size;
            uint8_t *to = (uint8_t *)b.data + band * b.band_stride + r * b.row_stride;
            for (uint32_t c = 0; c < b.width; c++)
                memcpy(to + c * b.column_stride, from + c * size, size);
        }
    }
}

/* Rows in memory of their own, which is spoilt and released after their write. */
typedef struct batch {
    tz_buffer buffer;
    uint8_t *memory;
    size_t size;
} batch;

static batch make_batch(lying how, tz_dtype dtype, uint32_t bands, uint32_t height, uint32_t width)
{
    const int64_t size = (int64_t)tz_dtype_size(dtype);
    const int64_t gap = how == LIE_BAND ? size : 0;
    batch made = {.buffer = {.struct_size = sizeof(tz_buffer),
                             .dtype = dtype,
                             .bands = bands,
                             .height = height,
                             .width = width}};
    tz_buffer *b = &made.buffer;
    made.size = (size_t)((width * size + gap) * height * bands);
    made.memory = checked_malloc(made.size);
    memset(made.memory, 0xEE, made.size);
    b->data = made.memory;
    if (how == LIE_PIXEL) {
        b->band_stride = size;
        b->column_stride = size * bands;
        b->row_stride = b->column_stride * width;
    } else if (how != LIE_PACKED) {
        b->column_stride = size;
        b->row_stride = width * size + gap;
        b->band_stride = b->row_stride * height;
    }
    if (how == LIE_FLIPPED) {
        b->data = made.memory + (int64_t)(height - 1) * b->row_stride;
        b->row_stride = -b->row_stride;
    }
    return made;
}

static void free_batch(batch *made)
{
    memset(made->memory, 0xAB, made->size);
    free(made->memory);
}

static tz_result push_rows(const write_case *c, tz_writer *writer, uint32_t row, uint32_t height,
                           tz_error *err)
{
    const tz_image_spec *s = &c->spec;
    batch pixels = make_batch(c->lying, s->dtype, s->bands, height, s->width);
    batch mask = make_batch(c->lying, TZ_DTYPE_UINT8, 1, height, s->width);
    fill(&pixels.buffer, c->pixels, s, row, 0);
    if (s->mask)
        fill(&mask.buffer, c->mask, s, row, 0);
    const tz_result result =
        tz_write_rows(writer, &pixels.buffer, s->mask ? &mask.buffer : NULL, err);
    free_batch(&pixels);
    free_batch(&mask);
    return result;
}

static tz_result push_all(const write_case *c, tz_writer *writer, tz_error *err)
{
    static const uint32_t ragged[] = {1, 24, 3, 130, 16, 0};
    const uint32_t height = c->spec.height;
    unsigned turn = 0;
    for (uint32_t row = 0; row < height; turn++) {
        uint32_t count = c->batch > 0 ? c->batch : height;
        if (c->giving == GIVE_RAGGED)
            count = ragged[turn % (sizeof ragged / sizeof *ragged)];
        if (count > height - row)
            count = height - row;
        const tz_result result = push_rows(c, writer, row, count, err);
        if (result != TZ_OK)
            return result;
        row += count;
    }
    return TZ_OK;
}

/* The requests to a source so far. */
typedef struct asked {
    const write_case *c;
    uint8_t *times; /* of each pixel */
    int64_t row;    /* of the last window */
    const char *broken;
} asked;

static const char *wrong_window(const asked *a, const tz_window *window)
{
    const tz_image_spec *s = &a->c->spec;
    if (window->column < 0 || window->row < 0 || window->width == 0 || window->height == 0 ||
        window->column + window->width > s->width || window->row + window->height > s->height)
        return "asked for a window that the image does not have";
    if (a->c->giving == GIVE_PULLED && window->width != s->width)
        return "asked for a part of the columns";
    if (window->row < a->row)
        return "asked for rows out of order";
    for (int64_t r = window->row; r < window->row + window->height; r++) {
        for (int64_t c = window->column; c < window->column + window->width; c++) {
            if (a->times[r * s->width + c]++ > 0)
                return "asked for a pixel twice";
        }
    }
    return NULL;
}

static tz_result read_window(void *user, const tz_window *window, const tz_buffer *pixels,
                             const tz_buffer *mask, tz_error *err)
{
    asked *a = user;
    const write_case *c = a->c;
    a->broken = wrong_window(a, window);
    if (!a->broken && (pixels->width != window->width || pixels->height != window->height ||
                       pixels->bands != c->spec.bands || pixels->dtype != c->spec.dtype))
        a->broken = "gave a buffer that does not fit";
    if (!a->broken && (mask->data != NULL) != c->spec.mask)
        a->broken = "gave a mask that is not wanted, or none";
    if (a->broken)
        return tz_error_set(err, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL, TZ_NO_VALUE, a->broken);
    a->row = window->row;
    fill(pixels, c->pixels, &c->spec, (uint32_t)window->row, (uint32_t)window->column);
    if (mask->data)
        fill(mask, c->mask, &c->spec, (uint32_t)window->row, (uint32_t)window->column);
    return TZ_OK;
}

static tz_row_source row_source(const write_case *c, asked *a)
{
    return (tz_row_source){.struct_size = sizeof(tz_row_source),
                           .read = read_window,
                           .user = a,
                           .chunk_rows = c->batch,
                           .columns = c->giving == GIVE_COLUMNS};
}

static tz_result pull_all(const write_case *c, tz_writer *writer, tz_error *err)
{
    const size_t pixels = (size_t)c->spec.width * c->spec.height;
    asked a = {.c = c, .times = calloc(pixels, 1)};
    if (!a.times)
        abort();
    const tz_row_source source = row_source(c, &a);
    tz_result result = tz_write_from(writer, &source, err);
    if (result == TZ_OK && memchr(a.times, 0, pixels))
        result = tz_error_set(err, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL, TZ_NO_VALUE,
                              "never asked for some pixel");
    free(a.times);
    return result;
}

/* ---- sinks ---- */

enum { HEADER = 16 };

typedef struct callback_sink {
    tz_sink base; /* first: the two share their address */
    uint8_t *data;
    size_t size;
    size_t room;
    uint64_t end;       /* of what was written in order */
    bool headed;        /* the header came */
    bool inserted;      /* room was made at the front */
    unsigned synced;    /* calls */
    unsigned committed; /* calls */
    unsigned closed;    /* calls */
    const char *broken; /* a promise of the library that it did not keep */
} callback_sink;

static void reserve(callback_sink *s, size_t size)
{
    if (size > s->room) {
        const size_t room = 2 * size;
        s->data = realloc(s->data, room);
        if (!s->data)
            abort();
        memset(s->data + s->room, 0, room - s->room);
        s->room = room;
    }
    if (size > s->size)
        s->size = size;
}

static tz_result sink_write(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                            tz_error *err)
{
    callback_sink *s = (callback_sink *)sink;
    const bool moves = sink->insert && !s->inserted; /* what lies at 0 may not stay there */
    size_t at = (size_t)offset;
    (void)err;
    if (s->headed && !moves)
        s->broken = "wrote behind the header";
    for (size_t i = 0; i < count; i++) {
        reserve(s, at + pieces[i].size);
        memcpy(s->data + at, pieces[i].data, pieces[i].size);
        at += pieces[i].size;
    }
    if (offset == 0 && at <= HEADER)
        s->headed = true;
    else if (offset < s->end || (offset < HEADER && !moves))
        s->broken = "wrote offsets that do not ascend";
    else
        s->end = at;
    return TZ_OK;
}

static tz_result sink_read(tz_sink *sink, uint64_t offset, void *dst, size_t size, tz_error *err)
{
    callback_sink *s = (callback_sink *)sink;
    if (offset > s->size || size > s->size - offset)
        return tz_error_set(err, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED, offset, "past the end");
    memcpy(dst, s->data + offset, size);
    return TZ_OK;
}

/* The bytes that are inserted are garbage. */
static tz_result sink_insert(tz_sink *sink, uint64_t size, tz_error *err)
{
    enum { UNIT = 4096, GARBAGE = 0xA7 };
    callback_sink *s = (callback_sink *)sink;
    const size_t old = s->size;
    (void)err;
    if (s->inserted || size == 0 || size % UNIT != 0)
        s->broken = "asked for room twice, or for none, or for a part of a page";
    reserve(s, old + (size_t)size);
    memmove(s->data + size, s->data, old);
    memset(s->data, GARBAGE, (size_t)size);
    s->inserted = true;
    s->headed = false;
    s->end = 0;
    return TZ_OK;
}

static tz_result sink_sync(tz_sink *sink, uint64_t size, tz_error *err)
{
    callback_sink *s = (callback_sink *)sink;
    (void)err;
    if (!s->headed || size < s->size)
        s->broken = "ended before all was written";
    reserve(s, (size_t)size);
    s->synced++;
    return TZ_OK;
}

static tz_result sink_commit(tz_sink *sink, tz_error *err)
{
    (void)err;
    ((callback_sink *)sink)->committed++;
    return TZ_OK;
}

static void sink_close(tz_sink *sink)
{
    ((callback_sink *)sink)->closed++;
}

static const char *broken_promise(const callback_sink *s, bool succeeded)
{
    if (s->broken)
        return s->broken;
    if (s->closed != 1)
        return "did not close the sink once";
    if (succeeded && (s->synced != 1 || s->committed != 1))
        return "did not sync and commit once";
    if (!succeeded && s->committed > 0)
        return "failed behind the commit";
    return NULL;
}

/* ---- running ---- */

static void answer(tz_result result, uint64_t size, const tz_error *err)
{
    if (result == TZ_OK)
        printf("ok %" PRIu64 "\n", size);
    else
        printf("error %s %s\n", tz_result_name(result), err->message);
    fflush(stdout);
}

static void save(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

static tz_result create(write_case *c, const char *path, tz_memory *memory, callback_sink *sink,
                        tz_writer **writer, tz_error *err)
{
    c->options.statistics = c->options.statistics_items;
    if (c->sinking == SINK_PATH)
        return tz_create(writer, path, &c->spec, &c->options, err);
    if (c->sinking == SINK_MEMORY)
        return tz_create_memory(writer, memory, &c->spec, &c->options, err);
    sink->base = (tz_sink){.struct_size = sizeof sink->base,
                           .write = sink_write,
                           .read = c->sinking == SINK_BLIND ? NULL : sink_read,
                           .insert = c->sinking == SINK_INSERTING ? sink_insert : NULL,
                           .sync = sink_sync,
                           .commit = sink_commit,
                           .close = sink_close};
    return tz_create_sink(writer, &sink->base, "callback", &c->spec, &c->options, err);
}

static tz_result give_and_commit(const write_case *c, tz_writer *writer, tz_write_report **report,
                                 tz_error *err)
{
    const bool pulled = c->giving == GIVE_PULLED || c->giving == GIVE_COLUMNS;
    const tz_result result = pulled ? pull_all(c, writer, err) : push_all(c, writer, err);
    return result == TZ_OK ? tz_commit(writer, report, err) : result;
}

/* Copies a file that was written elsewhere to path; size is the library's answer. */
static tz_result keep(const write_case *c, const char *path, tz_memory *memory,
                      const callback_sink *sink, tz_result result, uint64_t size, tz_error *err)
{
    const bool called = c->sinking != SINK_PATH && c->sinking != SINK_MEMORY;
    const char *broken = called ? broken_promise(sink, result == TZ_OK) : NULL;
    const size_t found = called ? sink->size : memory->size;
    if (!broken && result == TZ_OK && c->sinking != SINK_PATH && found != size)
        broken = "reported another size";
    if (broken)
        return tz_error_set(err, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL, TZ_NO_VALUE, broken);
    if (result == TZ_OK && c->sinking != SINK_PATH)
        save(path, called ? sink->data : memory->data, found);
    return result;
}

void run_write(write_case *c, const char *path)
{
    tz_writer *writer = NULL;
    tz_memory memory = {0};
    callback_sink sink = {.closed = 0};
    tz_write_report *report = NULL;
    tz_error err = {.message = ""};
    tz_result result = create(c, path, &memory, &sink, &writer, &err);
    if (result == TZ_OK)
        result = give_and_commit(c, writer, &report, &err);
    tz_writer_close(writer);
    result = keep(c, path, &memory, &sink, result, report ? report->file_size : 0, &err);
    answer(result, report ? report->file_size : 0, &err);
    tz_write_report_free(report);
    tz_memory_free(&memory);
    free(sink.data);
}

void run_plan(const write_case *c)
{
    tz_write_report *report = NULL;
    tz_error err = {.message = ""};
    const bool pulled = c->giving == GIVE_PULLED || c->giving == GIVE_COLUMNS;
    asked a = {.c = c};
    const tz_row_source source = row_source(c, &a);
    const tz_result result =
        tz_plan_write(&report, &c->spec, &c->options, pulled ? &source : NULL, &err);
    answer(result, report ? report->file_size : 0, &err);
    tz_write_report_free(report);
}
