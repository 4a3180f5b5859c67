/* SPDX-License-Identifier: Apache-2.0
 * Linked into a test program with --wrap=tz_read,--wrap=tz_read_batch, it makes every read of that
 * program a comparison: the CPU reads first, then a device does, into the same buffers and into
 * buffers of its own memory, and the program ends when result, outcomes, warnings or any byte
 * differ. The caller gets what the CPU gave. So all that is tested of reading is tested of
 * devices too, by the same sources. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

#include "support/alloc_hook.h"
#include "support/device/on_device.h"
#include "support/device/test_device.h"

tz_result __real_tz_read(const tz_item *item, const tz_read_options *how, tz_read_report *report,
                         tz_error *err);
tz_result __real_tz_read_batch(const tz_item *items, size_t count, const tz_read_options *how,
                               tz_read_report *report, tz_error *err);
tz_result __wrap_tz_read(const tz_item *item, const tz_read_options *how, tz_read_report *report,
                         tz_error *err);
tz_result __wrap_tz_read_batch(const tz_item *items, size_t count, const tz_read_options *how,
                               tz_read_report *report, tz_error *err);

static void differ(const char *what, const tz_error *cpu, const tz_error *again)
{
    fprintf(stderr, "the device reads otherwise than the CPU: %s\n  cpu:  %s\n  device: %s\n", what,
            cpu->result == TZ_OK ? "ok" : cpu->message,
            again->result == TZ_OK ? "ok" : again->message);
    test_device_tell();
    abort();
}

static void *need(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory)
        abort();
    return memory;
}

/* ---- buffers ---- */

/* The bytes from the lowest to the highest sample of a buffer. */
typedef struct stretch {
    uint8_t *first;
    size_t size;
    uint8_t *before; /* the reads */
    uint8_t *after;  /* the CPU's one */
} stretch;

static void widen(int64_t *low, int64_t *high, int64_t stride, uint32_t count)
{
    const int64_t far = count > 0 ? stride * (int64_t)(count - 1) : 0;
    *low += far < 0 ? far : 0;
    *high += far > 0 ? far : 0;
}

/* The item's bands where the buffer says nothing of its own. */
static stretch stretch_of(const tz_buffer *b)
{
    const int64_t size = (int64_t)tz_dtype_size(b->dtype);
    int64_t low = 0, high = size;
    if (!b->data || size == 0 || b->bands == 0 || b->height == 0 || b->width == 0)
        return (stretch){0};
    if (b->band_stride == 0 && b->row_stride == 0 && b->column_stride == 0) {
        high = size * b->bands * b->height * b->width;
    } else {
        widen(&low, &high, b->band_stride, b->bands);
        widen(&low, &high, b->row_stride, b->height);
        widen(&low, &high, b->column_stride, b->width);
    }
    return (stretch){.first = (uint8_t *)b->data + low, .size = (size_t)(high - low)};
}

static void keep(stretch *s, uint8_t **to)
{
    *to = need(s->size, 1);
    if (s->size > 0)
        memcpy(*to, s->first, s->size);
}

/* ---- outcomes ---- */

typedef struct kept_outcome {
    tz_outcome *outcome;
    tz_outcome before, after;
    tz_tile_status *list;
} kept_outcome;

static void keep_outcome(kept_outcome *k)
{
    const uint64_t count = k->outcome->tile_room < k->outcome->tile_count ? k->outcome->tile_room
                                                                          : k->outcome->tile_count;
    k->after = *k->outcome;
    k->list = need((size_t)count, sizeof *k->list);
    if (k->outcome->tiles)
        memcpy(k->list, k->outcome->tiles, (size_t)count * sizeof *k->list);
    *k->outcome = k->before;
}

static bool is_same_outcome(const kept_outcome *k)
{
    const tz_outcome *now = k->outcome;
    if (now->tile_count != k->after.tile_count || now->tiles_failed != k->after.tiles_failed ||
        now->level != k->after.level || now->resampled != k->after.resampled)
        return false;
    for (uint64_t i = 0; now->tiles && i < now->tile_count; i++) {
        const tz_tile_status *a = &now->tiles[i], *b = &k->list[i];
        if (a->tile != b->tile || a->level != b->level || a->result != b->result ||
            a->cause != b->cause)
            return false;
    }
    return true;
}

/* ---- both reads ---- */

typedef struct comparison {
    const tz_item *items;
    size_t count;
    const tz_read_options *how;
    stretch *stretches;     /* two of each item: pixels, mask */
    kept_outcome *outcomes; /* of each item */
    tz_result result;       /* of the CPU */
    tz_read_report *report; /* of the CPU, where result is TZ_OK */
} comparison;

static void begin(comparison *c)
{
    c->stretches = need(2 * c->count, sizeof *c->stretches);
    c->outcomes = need(c->count, sizeof *c->outcomes);
    for (size_t i = 0; i < c->count; i++) {
        c->stretches[2 * i] = stretch_of(&c->items[i].into);
        c->stretches[2 * i + 1] = stretch_of(&c->items[i].mask);
        c->outcomes[i].outcome = c->items[i].outcome;
        if (c->items[i].outcome)
            c->outcomes[i].before = *c->items[i].outcome;
    }
    for (size_t i = 0; i < 2 * c->count; i++)
        keep(&c->stretches[i], &c->stretches[i].before);
}

static void swap_in(comparison *c)
{
    for (size_t i = 0; i < 2 * c->count; i++)
        keep(&c->stretches[i], &c->stretches[i].after);
    for (size_t i = 0; i < 2 * c->count; i++) {
        if (c->stretches[i].size > 0)
            memcpy(c->stretches[i].first, c->stretches[i].before, c->stretches[i].size);
    }
    for (size_t i = 0; i < c->count; i++) {
        if (c->outcomes[i].outcome)
            keep_outcome(&c->outcomes[i]);
    }
}

static void end(comparison *c)
{
    for (size_t i = 0; i < 2 * c->count; i++) {
        free(c->stretches[i].before);
        free(c->stretches[i].after);
    }
    for (size_t i = 0; i < c->count; i++)
        free(c->outcomes[i].list);
    free(c->stretches);
    free(c->outcomes);
}

/* Returns the caller's options for the device; now and then with little memory, so that there are
 * many waves. */
static tz_read_options options_on_device(const tz_read_options *given)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    if (given)
        memcpy(&how, given, given->struct_size);
    how.struct_size = sizeof how;
    how.device = on_device;
    how.device_bytes = on_device_calls++ % 3 == 0 ? 1 << 20 : 0;
    how.lossy_on_device |= on_device_needs_libraries(); /* fakes have the CPU's decoders */
    return how;
}

/* Uncompressed tiles may be read in parts, and each says that bytes follow: that count may differ.
 */
static const tz_error *find_warning(const tz_read_report *report, const tz_error *warning)
{
    for (uint32_t i = 0; i < report->warning_count && i < TZ_REPORT_WARNINGS; i++) {
        const tz_error *found = &report->warnings[i];
        if (strcmp(found->message, warning->message) == 0 &&
            (found->count == warning->count || strstr(warning->message, "bytes after the end")))
            return found;
    }
    return NULL;
}

/* The same warnings, in any order. */
static void compare_warnings(const tz_read_report *cpu, const tz_read_report *device)
{
    static const tz_error none = {.result = TZ_ERR_FORMAT, .message = "no such warning"};
    for (uint32_t i = 0; i < cpu->warning_count && i < TZ_REPORT_WARNINGS; i++)
        if (!find_warning(device, &cpu->warnings[i]))
            differ("warnings", &cpu->warnings[i], &none);
    for (uint32_t i = 0; i < device->warning_count && i < TZ_REPORT_WARNINGS; i++)
        if (!find_warning(cpu, &device->warnings[i]))
            differ("warnings", &none, &device->warnings[i]);
}

static tz_result read_items(const comparison *c, const tz_item *items, tz_error *err)
{
    tz_read_options how = options_on_device(c->how);
    tz_read_report report = {0};
    tz_result result = __real_tz_read_batch(items, c->count, &how, &report, err);
    if (result == TZ_ERR_LIMIT && how.device_bytes > 0) {
        how.device_bytes = 0;
        result = __real_tz_read_batch(items, c->count, &how, &report, err);
    }
    if (result == TZ_OK && c->result == TZ_OK)
        compare_warnings(c->report, &report);
    if (result == TZ_OK && report.tiles > 0 && !report.device.id[0] && !report.device.reason[0])
        differ("the report does not say who did it", err, err);
    if (result == TZ_OK && c->count > 0)
        on_device_count(tz_file_get_level(items[0].file, 0)->compression, &report.device);
    return result;
}

/* Every second time the caller's buffers are in the device's memory on the way. */
static tz_result send_up(const stretch *s, tz_buffer *buffer, tz_error *err)
{
    if (s->size == 0)
        return TZ_OK;
    buffer->offset = (uint64_t)((uint8_t *)buffer->data - s->first);
    buffer->data = NULL;
    const tz_result result = tz_device_memory_alloc(&buffer->memory, on_device, s->size, err);
    return result == TZ_OK ? tz_device_copy_in(buffer->memory, 0, s->first, s->size, err) : result;
}

static void bring_down(const stretch *s, const tz_buffer *buffer)
{
    tz_error err;
    if (buffer->memory && tz_device_copy_out(s->first, buffer->memory, 0, s->size, &err) != TZ_OK)
        differ("memory", &err, &err);
    tz_device_memory_free(buffer->memory);
}

static bool has_all_buffers(const comparison *c)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->stretches[2 * i].size == 0)
            return false;
    }
    return true;
}

static tz_result read_on_device(const comparison *c, tz_error *err)
{
    static _Atomic unsigned calls;
    if (calls++ % 2 == 0 || !has_all_buffers(c))
        return read_items(c, c->items, err);
    tz_item *items = need(c->count, sizeof *items);
    if (c->count > 0)
        memcpy(items, c->items, c->count * sizeof *items);
    tz_result result = TZ_OK;
    for (size_t i = 0; result == TZ_OK && i < 2 * c->count; i++)
        result = send_up(&c->stretches[i], i % 2 ? &items[i / 2].mask : &items[i / 2].into, err);
    if (result == TZ_OK)
        result = read_items(c, items, err);
    for (size_t i = 0; i < c->count; i++) {
        bring_down(&c->stretches[2 * i], &items[i].into);
        bring_down(&c->stretches[2 * i + 1], &items[i].mask);
    }
    free(items);
    return result;
}

static void compare(const comparison *c, const tz_error *cpu, const tz_error *again)
{
    for (size_t i = 0; i < 2 * c->count; i++) {
        const stretch *s = &c->stretches[i];
        size_t at = 0;
        while (at < s->size && s->first[at] == s->after[at])
            at++;
        if (at < s->size) {
            fprintf(stderr, "item %zu, %s, byte %zu of %zu: %u instead of %u\n", i / 2,
                    i % 2 ? "mask" : "pixels", at, s->size, s->first[at], s->after[at]);
            differ("bytes", cpu, again);
        }
    }
    for (size_t i = 0; i < c->count; i++) {
        if (c->outcomes[i].outcome && !is_same_outcome(&c->outcomes[i]))
            differ("outcomes", cpu, again);
    }
}

/* Limits of memory that a test sets are for the CPU: a device takes staging memory beside. */
static bool has_own_limit(const tz_read_options *how)
{
    return how && how->struct_size > offsetof(tz_read_options, max_memory) && how->max_memory > 0;
}

/* A call that is refused may have buffers that do not exist. */
static bool is_sound(const tz_item *items, size_t count, const tz_read_options *how)
{
    tz_item *plain = need(count, sizeof *plain);
    for (size_t i = 0; i < count; i++) {
        plain[i] = items[i];
        plain[i].outcome = NULL;
    }
    const bool sound = tz_plan_read(NULL, plain, count, how, NULL) != TZ_ERR_ARG;
    free(plain);
    return sound;
}

tz_result __wrap_tz_read_batch(const tz_item *items, size_t count, const tz_read_options *how,
                               tz_read_report *report, tz_error *err)
{
    comparison c = {.items = items, .count = items ? count : 0, .how = how};
    tz_error first = {.result = TZ_OK}, second = {.result = TZ_OK};
    const bool is_whole = !how || (how->struct_size >= sizeof(size_t) &&
                                   how->struct_size <= sizeof *how && !how->progress.call);
    static _Atomic unsigned calls;
    if (!is_whole || !items || !is_sound(items, count, how) || !on_device_takes(calls++))
        return __real_tz_read_batch(items, count, how, report, err);
    if (alloc_hook_is_installed()) { /* a test counts, or lets some fail: of one read */
        const tz_read_options only = options_on_device(how);
        return __real_tz_read_batch(items, count, &only, report, err);
    }
    begin(&c);
    tz_read_report own = {0};
    c.report = report ? report : &own;
    const tz_result result = __real_tz_read_batch(items, count, how, c.report, &first);
    c.result = result;
    swap_in(&c);
    const tz_result again = read_on_device(&c, &second);
    const bool is_excused = (has_own_limit(how) && again == TZ_ERR_LIMIT) ||
                            again == TZ_ERR_CHANGED || result == TZ_ERR_CHANGED; /* in between */
    if (!is_excused && (again != result || (result != TZ_OK && first.cause != second.cause)))
        differ("results", &first, &second);
    if (!is_excused && result == TZ_OK)
        compare(&c, &first, &second);
    for (size_t i = 0; i < 2 * c.count; i++) {
        if (c.stretches[i].size > 0)
            memcpy(c.stretches[i].first, c.stretches[i].after, c.stretches[i].size);
    }
    end(&c);
    const bool has_changed = result == TZ_OK && again == TZ_ERR_CHANGED;
    if ((result != TZ_OK || has_changed) && err)
        *err = has_changed ? second : first;
    return has_changed ? again : result;
}

tz_result __wrap_tz_read(const tz_item *item, const tz_read_options *how, tz_read_report *report,
                         tz_error *err)
{
    return __wrap_tz_read_batch(item, 1, how, report, err);
}
