/* SPDX-License-Identifier: Apache-2.0
 * Linked into a test program with --wrap=tz_read,--wrap=tz_read_batch, it makes every read of that
 * program a comparison: the CPU reads first, then a device does, into the same buffers and into
 * buffers of its own memory, and the program ends when result, items, warnings or any byte
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

tz_result __real_tz_read(const tz_item *item, const tz_read_options *how, tz_read_report **report,
                         tz_error *err);
tz_result __real_tz_read_batch(const tz_item *items, size_t count, const tz_read_options *how,
                               tz_read_report **report, tz_error *err);
tz_result __wrap_tz_read(const tz_item *item, const tz_read_options *how, tz_read_report **report,
                         tz_error *err);
tz_result __wrap_tz_read_batch(const tz_item *items, size_t count, const tz_read_options *how,
                               tz_read_report **report, tz_error *err);

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
    const int64_t size = b ? (int64_t)tz_dtype_size(b->dtype) : 0;
    int64_t low = 0, high = size;
    if (!b || !b->data || size == 0 || b->bands == 0 || b->height == 0 || b->width == 0)
        return (stretch){0};
    if (b->band_stride == 0 && b->row_stride == 0 && b->column_stride == 0) {
        high = size * b->bands * b->height * b->width;
    } else {
        widen(&low, &high, b->band_stride, b->bands);
        widen(&low, &high, b->row_stride, b->height);
        widen(&low, &high, b->column_stride, b->width);
    }
    return (stretch){.first = (uint8_t *)b->data + b->offset + low, .size = (size_t)(high - low)};
}

static void keep(stretch *s, uint8_t **to)
{
    *to = need(s->size, 1);
    if (s->size > 0)
        memcpy(*to, s->first, s->size);
}

/* ---- items and their tiles ---- */

static bool is_same_item(const tz_read_report *cpu, const tz_read_report *device, uint64_t index)
{
    const tz_item_report *x = tz_read_report_get_item(cpu, index);
    const tz_item_report *y = tz_read_report_get_item(device, index);
    if (x->tile_count != y->tile_count || x->tiles_failed != y->tiles_failed ||
        x->level != y->level || x->mask != y->mask || x->resampled != y->resampled)
        return false;
    for (uint64_t i = 0; i < x->tile_count; i++) {
        const tz_tile_status *a = tz_read_report_get_tile(cpu, index, i);
        const tz_tile_status *b = tz_read_report_get_tile(device, index, i);
        if ((a != NULL) != (b != NULL))
            return false;
        if (a && (a->tile != b->tile || a->level != b->level || a->mask != b->mask ||
                  a->result != b->result || a->cause != b->cause))
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
    tz_result result;       /* of the CPU */
    tz_read_report *report; /* of the CPU; NULL unless result is TZ_OK */
} comparison;

static void begin(comparison *c)
{
    c->stretches = need(2 * c->count, sizeof *c->stretches);
    for (size_t i = 0; i < c->count; i++) {
        c->stretches[2 * i] = stretch_of(c->items[i].into);
        c->stretches[2 * i + 1] = stretch_of(c->items[i].into_mask);
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
}

static void end(comparison *c)
{
    for (size_t i = 0; i < 2 * c->count; i++) {
        free(c->stretches[i].before);
        free(c->stretches[i].after);
    }
    free(c->stretches);
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
    how.max_device_bytes = on_device_calls++ % 3 == 0 ? 1 << 20 : 0;
    how.allow_vendor_codecs |= on_device_needs_libraries(); /* fakes have the CPU's decoders */
    how.allow_inexact |= on_device_needs_libraries();
    return how;
}

/* Uncompressed tiles may be read in parts, and each says that bytes follow: that count may differ.
 */
static const tz_error *find_warning(const tz_read_report *report, const tz_error *warning)
{
    for (uint32_t i = 0; i < report->warning_count; i++) {
        const tz_error *found = tz_read_report_get_warning(report, i);
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
    for (uint32_t i = 0; i < cpu->warning_count; i++)
        if (!find_warning(device, tz_read_report_get_warning(cpu, i)))
            differ("warnings", tz_read_report_get_warning(cpu, i), &none);
    for (uint32_t i = 0; i < device->warning_count; i++)
        if (!find_warning(cpu, tz_read_report_get_warning(device, i)))
            differ("warnings", &none, tz_read_report_get_warning(device, i));
}

static void compare_reports(const comparison *c, const tz_read_report *report, tz_error *err)
{
    const tz_device_use *use = report->device;
    if (c->result == TZ_OK)
        compare_warnings(c->report, report);
    for (size_t i = 0; c->result == TZ_OK && i < c->count; i++) {
        if (!is_same_item(c->report, report, i))
            differ("items", err, err);
    }
    if (report->tiles > 0 && !use->id[0] && !use->reason[0])
        differ("the report does not say who did it", err, err);
    if (c->count > 0)
        on_device_count(tz_file_get_level(c->items[0].file, 0)->compression, use);
}

static tz_result read_items(const comparison *c, const tz_item *items, tz_error *err)
{
    tz_read_options how = options_on_device(c->how);
    tz_read_report *report = NULL;
    tz_result result = __real_tz_read_batch(items, c->count, &how, &report, err);
    if (result == TZ_ERR_LIMIT && how.max_device_bytes > 0) {
        how.max_device_bytes = 0;
        result = __real_tz_read_batch(items, c->count, &how, &report, err);
    }
    if (result == TZ_OK)
        compare_reports(c, report, err);
    tz_read_report_free(report);
    return result;
}

/* Every second time the caller's buffers are in the device's memory on the way. */
static tz_result send_up(const stretch *s, tz_buffer *buffer, tz_error *err)
{
    tz_device_memory *memory = NULL;
    if (s->size == 0)
        return TZ_OK;
    buffer->offset = (uint64_t)((uint8_t *)buffer->data + buffer->offset - s->first);
    buffer->data = NULL;
    tz_result result = tz_device_memory_alloc(&memory, on_device, s->size, err);
    if (result != TZ_OK)
        return result;
    buffer->data = memory;
    buffer->memory = TZ_MEMORY_KIND_DEVICE;
    return tz_device_copy_in(memory, 0, s->first, s->size, err);
}

static void bring_down(const stretch *s, const tz_buffer *buffer)
{
    tz_error err;
    if (buffer->memory != TZ_MEMORY_KIND_DEVICE)
        return;
    if (tz_device_copy_out(s->first, buffer->data, 0, s->size, &err) != TZ_OK)
        differ("memory", &err, &err);
    tz_device_memory_free(buffer->data);
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
    tz_buffer *buffers = need(2 * c->count, sizeof *buffers);
    tz_result result = TZ_OK;
    for (size_t i = 0; i < c->count; i++) {
        items[i] = c->items[i];
        buffers[2 * i] = *items[i].into;
        items[i].into = &buffers[2 * i];
        if (!items[i].into_mask)
            continue;
        buffers[2 * i + 1] = *items[i].into_mask;
        items[i].into_mask = &buffers[2 * i + 1];
    }
    for (size_t i = 0; result == TZ_OK && i < 2 * c->count; i++)
        result = send_up(&c->stretches[i], &buffers[i], err);
    if (result == TZ_OK)
        result = read_items(c, items, err);
    for (size_t i = 0; i < 2 * c->count; i++)
        bring_down(&c->stretches[i], &buffers[i]);
    free(items);
    free(buffers);
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
}

/* Limits of memory that a test sets are for the CPU: a device takes staging memory beside. */
static bool has_own_limit(const tz_read_options *how)
{
    return how && how->struct_size > offsetof(tz_read_options, max_host_bytes) &&
           how->max_host_bytes > 0;
}

static bool has_log(const tz_read_options *how)
{
    return how && how->struct_size >= offsetof(tz_read_options, log) + sizeof how->log &&
           how->log.call;
}

/* A call that is refused may have buffers that do not exist; structs of other versions are for
 * tests of these. */
static bool is_sound(const tz_item *items, size_t count, const tz_read_options *how)
{
    if (tz_plan_read(NULL, items, count, how, NULL) == TZ_ERR_ARG)
        return false;
    for (size_t i = 0; i < count; i++) {
        const tz_buffer *mask = items[0].struct_size == sizeof *items ? items[i].into_mask : NULL;
        if (items[0].struct_size != sizeof *items || items[i].into->struct_size != sizeof *mask ||
            items[i].into->memory != TZ_MEMORY_KIND_HOST ||
            (mask && (mask->struct_size != sizeof *mask || mask->memory != TZ_MEMORY_KIND_HOST)))
            return false;
    }
    return true;
}

tz_result __wrap_tz_read_batch(const tz_item *items, size_t count, const tz_read_options *how,
                               tz_read_report **report, tz_error *err)
{
    comparison c = {.items = items, .count = items ? count : 0, .how = how};
    tz_error first = {.result = TZ_OK}, second = {.result = TZ_OK};
    const bool is_whole =
        !how || (how->struct_size >= sizeof(size_t) && how->struct_size <= sizeof *how &&
                 !how->progress.call && !has_log(how));
    static _Atomic unsigned calls;
    if (!is_whole || !items || !is_sound(items, count, how) || !on_device_takes(calls++))
        return __real_tz_read_batch(items, count, how, report, err);
    if (alloc_hook_is_installed()) { /* a test counts, or lets some fail: of one read */
        const tz_read_options only = options_on_device(how);
        return __real_tz_read_batch(items, count, &only, report, err);
    }
    begin(&c);
    const tz_result result = __real_tz_read_batch(items, count, how, &c.report, &first);
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
    if (report && result == TZ_OK && !has_changed)
        *report = c.report;
    else
        tz_read_report_free(c.report);
    return has_changed ? again : result;
}

tz_result __wrap_tz_read(const tz_item *item, const tz_read_options *how, tz_read_report **report,
                         tz_error *err)
{
    return __wrap_tz_read_batch(item, 1, how, report, err);
}
