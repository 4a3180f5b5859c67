/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "support/bound_io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void bound_check_thread(pthread_t owner, const char *what)
{
    if (pthread_equal(owner, pthread_self()))
        return;
    fprintf(stderr, "%s was called on another thread\n", what);
    abort();
}

/* ---- source ---- */

static bound_source *enter_source(tz_source *base, const char *what)
{
    bound_source *s = (bound_source *)base;
    if (base->caller_thread)
        bound_check_thread(s->owner, what);
    else if (!pthread_equal(s->owner, pthread_self()))
        atomic_store(&s->was_called_elsewhere, true);
    return s;
}

static bool touches(const tz_request *request, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < request->count; i++) {
        const tz_range *range = &request->ranges[i];
        if (range->offset < to && range->offset + range->size > from)
            return true;
    }
    return false;
}

static void sleep_a_millisecond(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    nanosleep(&pause, NULL);
}

static void wait_for_others(const bound_source *s)
{
    for (int i = 0; !atomic_load(&s->was_called_elsewhere); i++) {
        sleep_a_millisecond();
        if (i > 60000) {
            fprintf(stderr, "no other thread has called the source for a minute\n");
            abort();
        }
    }
}

static tz_result fail_if_due(bound_source *s, const tz_request *request, bool in_wait,
                             tz_error *err)
{
    const uint64_t call = atomic_fetch_add(&s->calls, 1) + 1;
    const uint64_t at = request->ranges[0].offset;
    if (call == s->fail_call)
        return tz_error_set(err, TZ_ERR_IO, TZ_CAUSE_REMOTE, at, "this call fails");
    if (s->bad_in_wait == in_wait && touches(request, s->bad_from, s->bad_to))
        return tz_error_set(err, TZ_ERR_IO, TZ_CAUSE_REMOTE, at, "these bytes cannot be read");
    return TZ_OK;
}

static void copy_ranges(const bound_source *s, const tz_request *request)
{
    for (size_t i = 0; i < request->count; i++)
        memcpy(request->ranges[i].dst, s->data + request->ranges[i].offset,
               request->ranges[i].size);
}

static void raise_to(atomic_ullong *most, uint64_t value)
{
    unsigned long long known = atomic_load(most);
    while (known < value && !atomic_compare_exchange_weak(most, &known, value))
        continue;
}

static tz_result submit(tz_source *base, tz_request *request, tz_error *err)
{
    bound_source *s = enter_source(base, "submit");
    if (touches(request, s->shared_from, s->shared_to))
        wait_for_others(s);
    const tz_result result = fail_if_due(s, request, false, err);
    if (result != TZ_OK)
        return result;
    for (size_t i = 0; i < request->count; i++) {
        raise_to(&s->largest, request->ranges[i].size);
        memset(request->ranges[i].dst, 0xEE, request->ranges[i].size);
    }
    atomic_fetch_add(&s->submits, 1);
    atomic_fetch_add(&s->ranges, request->count);
    raise_to(&s->max_in_flight, atomic_fetch_add(&s->in_flight, 1) + 1);
    if (!s->deferred)
        copy_ranges(s, request);
    return TZ_OK;
}

static tz_result wait(tz_source *base, tz_request *request, tz_error *err)
{
    bound_source *s = enter_source(base, "wait");
    atomic_fetch_add(&s->waits, 1);
    atomic_fetch_sub(&s->in_flight, 1);
    if (s->slow)
        sleep_a_millisecond();
    const tz_result result = fail_if_due(s, request, true, err);
    if (result == TZ_OK && s->deferred)
        copy_ranges(s, request);
    return result;
}

static tz_result check(tz_source *base, tz_error *err)
{
    (void)err, (void)enter_source(base, "check");
    return TZ_OK;
}

static const char *identity(tz_source *base)
{
    (void)enter_source(base, "identity");
    return "\"v1\"";
}

static void prefetch(tz_source *base, const tz_range *ranges, size_t count)
{
    bound_source *s = enter_source(base, "prefetch");
    atomic_fetch_add(&s->prefetches, 1);
    atomic_fetch_add(&s->promised, count);
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].dst || ranges[i].size == 0 || ranges[i].offset + ranges[i].size > base->size)
            abort();
    }
}

static void release(tz_source *base)
{
    free(enter_source(base, "close"));
}

bound_source *bound_source_new(const void *data, size_t size)
{
    bound_source *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    tz_source_init(&s->base, sizeof s->base);
    s->base.size = size;
    s->base.submit = submit;
    s->base.wait = wait;
    s->base.check = check;
    s->base.close = release;
    s->base.identity = identity;
    s->owner = pthread_self();
    s->data = data;
    return s;
}

void bound_source_count_prefetches(bound_source *source)
{
    source->base.prefetch = prefetch;
}

tz_file *bound_open(bound_source *source, bool caller_thread)
{
    tz_file *file = NULL;
    tz_error err;
    source->base.caller_thread = caller_thread;
    if (tz_open_source(&file, &source->base, "bound", NULL, &err) == TZ_OK)
        return file;
    fprintf(stderr, "%s\n", err.message);
    abort();
}

/* ---- sink ---- */

static bound_sink *enter_sink(tz_sink *base, const char *what)
{
    bound_sink *s = (bound_sink *)base;
    if (base->caller_thread)
        bound_check_thread(s->owner, what);
    return s;
}

static tz_result count_call(bound_sink *s, tz_error *err)
{
    if (++s->calls == s->fail_call)
        return tz_error_set(err, TZ_ERR_IO, TZ_CAUSE_REMOTE, TZ_NO_VALUE, "this call fails");
    return TZ_OK;
}

static void make_room(bound_sink *s, uint64_t end)
{
    if (end > s->capacity) {
        const size_t capacity = (size_t)end * 2;
        uint8_t *data = realloc(s->data, capacity);
        if (!data)
            abort();
        memset(data + s->capacity, 0, capacity - s->capacity);
        s->data = data;
        s->capacity = capacity;
    }
    if (end > s->size)
        s->size = (size_t)end;
}

static tz_result sink_write(tz_sink *base, uint64_t offset, const tz_bytes *pieces, size_t count,
                            tz_error *err)
{
    bound_sink *s = enter_sink(base, "write");
    const tz_result result = count_call(s, err);
    for (size_t i = 0; result == TZ_OK && i < count; i++) {
        make_room(s, offset + pieces[i].size);
        memcpy(s->data + offset, pieces[i].data, pieces[i].size);
        offset += pieces[i].size;
    }
    return result;
}

static tz_result sink_read(tz_sink *base, uint64_t offset, void *dst, size_t size, tz_error *err)
{
    bound_sink *s = enter_sink(base, "read");
    const tz_result result = count_call(s, err);
    if (offset > s->size || size > s->size - offset)
        abort();
    if (result == TZ_OK)
        memcpy(dst, s->data + offset, size);
    return result;
}

static tz_result sink_insert(tz_sink *base, uint64_t size, tz_error *err)
{
    bound_sink *s = enter_sink(base, "insert");
    const size_t before = s->size;
    const tz_result result = count_call(s, err);
    if (result != TZ_OK)
        return result;
    make_room(s, before + size);
    memmove(s->data + size, s->data, before);
    memset(s->data, 0, (size_t)size);
    return TZ_OK;
}

static tz_result sink_sync(tz_sink *base, uint64_t size, tz_error *err)
{
    bound_sink *s = enter_sink(base, "sync");
    const tz_result result = count_call(s, err);
    if (result == TZ_OK)
        make_room(s, size);
    return result;
}

static tz_result sink_commit(tz_sink *base, tz_error *err)
{
    bound_sink *s = enter_sink(base, "commit");
    const tz_result result = count_call(s, err);
    s->committed = result == TZ_OK;
    return result;
}

static void sink_close(tz_sink *base)
{
    bound_sink *s = enter_sink(base, "close");
    if (s->committed)
        return;
    free(s->data);
    s->data = NULL;
    s->size = s->capacity = 0;
}

void bound_sink_init(bound_sink *sink, bool caller_thread, bool inserts)
{
    *sink = (bound_sink){.owner = pthread_self()};
    tz_sink_init(&sink->base, sizeof sink->base);
    sink->base.caller_thread = caller_thread;
    sink->base.write = sink_write;
    sink->base.read = sink_read;
    sink->base.insert = inserts ? sink_insert : NULL;
    sink->base.sync = sink_sync;
    sink->base.commit = sink_commit;
    sink->base.close = sink_close;
}
