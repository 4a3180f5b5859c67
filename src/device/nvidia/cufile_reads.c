/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: many reads of files at once, in cuFile's batches; or by threads, where it has
 * none. All are submitted before any is waited for, and what became of them is looked at when none
 * is under way any more. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"

enum { MAX_THREADS = 8 };

typedef struct io_batch {
    tz_cufile_batch handle; /* NULL: it could not be made */
    unsigned count;         /* of its reads that are under way */
} io_batch;

/* What is under way. */
typedef struct direct_reading {
    tz_cu_state *state;
    uint8_t *base; /* of the memory, as it was registered */
    tz_direct_read *reads;
    uint64_t count;
    tz_error failed; /* the first failure: result is TZ_OK where there was none */
    pthread_mutex_t lock;
    /* batches */
    io_batch *batches;
    size_t batch_count;
    tz_cufile_io *io;
    tz_cufile_event *events;
    /* threads */
    atomic_ullong next;
    pthread_t threads[MAX_THREADS];
    unsigned thread_count;
} direct_reading;

/* ---- failures ---- */

static void note_failure(direct_reading *r, const tz_error *err)
{
    pthread_mutex_lock(&r->lock);
    if (r->failed.result == TZ_OK)
        r->failed = *err;
    pthread_mutex_unlock(&r->lock);
}

static void note_answer(direct_reading *r, const char *function, tz_cufile_error answer)
{
    tz_error err = {.result = TZ_OK};
    const tz_context ctx = {.err = &err, .ifd = -1};
    if (tz_cu_check_file(function, answer, &ctx) != TZ_OK)
        note_failure(r, &err);
}

/* Bytes, or an error as a negative number: of the system's, or of its own. */
static void note_result(direct_reading *r, tz_direct_read *read, const char *function, ssize_t done)
{
    enum { OWN = 5000 };
    tz_error err = {.result = TZ_OK};
    const tz_context ctx = {.err = &err, .ifd = -1};
    read->done = done < 0 ? 0 : (uint64_t)done;
    if (done >= 0)
        return;
    if (done > -OWN)
        (void)tz_fail_errno(&ctx, tz_no_location(), (int)-done, "%s", function);
    else
        (void)tz_cu_check_file(function, (tz_cufile_error){(int32_t)-done, 0}, &ctx);
    note_failure(r, &err);
}

/* ---- batches ---- */

static void fill_io(const direct_reading *r, uint64_t first, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        tz_direct_read *read = &r->reads[first + i];
        tz_cufile_io *io = &r->io[first + i];
        memset(io, 0, sizeof *io);
        io->mode = TZ_CUFILE_MODE;
        io->u.batch.devPtr_base = r->base;
        io->u.batch.devPtr_offset = (off_t)read->to;
        io->u.batch.file_offset = (off_t)read->offset;
        io->u.batch.size = (size_t)read->size;
        io->fh = ((const tz_cu_file *)read->file)->handle;
        io->opcode = TZ_CUFILE_READ;
        io->cookie = read;
    }
}

/* Where it fails, the reads of this batch are not done, and the others are. */
static void submit_batch(direct_reading *r, io_batch *b, uint64_t first, unsigned count)
{
    const tz_cufile_api *api = &r->state->files.cufile.api;
    const char *function = "cuFileBatchIOSetUp";
    tz_cufile_error answer = api->BatchIOSetUp(&b->handle, count);
    if (answer.err != 0) {
        b->handle = NULL;
    } else {
        fill_io(r, first, count);
        function = "cuFileBatchIOSubmit";
        answer = api->BatchIOSubmit(b->handle, count, &r->io[first], 0);
        b->count = answer.err == 0 ? count : 0;
    }
    note_answer(r, function, answer);
}

static void submit_all(direct_reading *r)
{
    const uint32_t max_batch = r->state->files.max_batch;
    for (uint64_t first = 0; first < r->count; first += max_batch) {
        const uint64_t left = r->count - first;
        submit_batch(r, &r->batches[r->batch_count++], first,
                     left < max_batch ? (unsigned)left : max_batch);
    }
}

static void finish_event(direct_reading *r, io_batch *b, const tz_cufile_event *event)
{
    tz_direct_read *read = event->cookie;
    if (event->status == TZ_CUFILE_WAITING || event->status == TZ_CUFILE_PENDING)
        return;
    b->count--;
    const ssize_t done = (ssize_t)event->ret;
    if (event->status == TZ_CUFILE_COMPLETE || done < 0) {
        note_result(r, read, "a read of a batch", done);
        return;
    }
    tz_error err = {.result = TZ_ERR_IO, .cause = TZ_CAUSE_IO};
    tz_device_textf(err.message, sizeof err.message, "a read of a batch ended with status %d",
                    (int)event->status);
    note_failure(r, &err);
}

/* Until all of it have ended; false: that cannot be found out. */
static bool wait_for_batch(direct_reading *r, io_batch *b)
{
    const tz_cufile_api *api = &r->state->files.cufile.api;
    while (b->count > 0) {
        unsigned count = b->count;
        const tz_cufile_error answer =
            api->BatchIOGetStatus(b->handle, b->count, &count, r->events, NULL);
        note_answer(r, "cuFileBatchIOGetStatus", answer);
        if (answer.err != 0)
            return false;
        for (unsigned i = 0; i < count; i++)
            finish_event(r, b, &r->events[i]);
    }
    return true;
}

/* One of which nobody knows whether it is under way is not destroyed. */
static bool end_batch(direct_reading *r, io_batch *b)
{
    const tz_cufile_api *api = &r->state->files.cufile.api;
    bool ended = wait_for_batch(r, b);
    if (!ended) {
        (void)api->BatchIOCancel(b->handle);
        ended = wait_for_batch(r, b);
    }
    if (b->handle && ended)
        api->BatchIODestroy(b->handle);
    return ended;
}

static bool end_batches(direct_reading *r)
{
    bool ended = true;
    for (size_t i = 0; i < r->batch_count; i++)
        ended = end_batch(r, &r->batches[i]) && ended;
    return ended;
}

/* ---- threads ---- */

static ssize_t read_one(const direct_reading *r, const tz_direct_read *read)
{
    const ssize_t done =
        r->state->files.cufile.api.Read(((const tz_cu_file *)read->file)->handle, r->base,
                                        (size_t)read->size, (off_t)read->offset, (off_t)read->to);
    return done == -1 ? -(ssize_t)errno : done;
}

static void read_some(direct_reading *r)
{
    for (uint64_t i; (i = atomic_fetch_add(&r->next, 1)) < r->count;)
        note_result(r, &r->reads[i], "cuFileRead", read_one(r, &r->reads[i]));
}

static void *run_thread(void *user)
{
    direct_reading *r = user;
    tz_error err = {.result = TZ_OK};
    const tz_context ctx = {.err = &err, .ifd = -1};
    if (tz_cu_enter(r->state, &ctx) == TZ_OK) {
        read_some(r);
        (void)tz_cu_leave(r->state, TZ_OK, &ctx);
    } else {
        note_failure(r, &err);
    }
    return NULL;
}

/* Where there are fewer threads than wanted, who waits does what is left. */
static void start_threads(direct_reading *r)
{
    while (r->thread_count < MAX_THREADS && r->thread_count < r->count &&
           tz_start_thread(&r->threads[r->thread_count], run_thread, r) == 0)
        r->thread_count++;
}

static void end_threads(direct_reading *r)
{
    read_some(r);
    for (unsigned i = 0; i < r->thread_count; i++)
        (void)pthread_join(r->threads[i], NULL);
}

/* ---- */

/* What may be under way needs the driver: it stays open. */
static void keep_driver(tz_cu_files *files)
{
    pthread_mutex_lock(&files->lock);
    files->is_open = false;
    pthread_mutex_unlock(&files->lock);
}

static void free_reading(direct_reading *r)
{
    pthread_mutex_destroy(&r->lock);
    tz_free(r->batches);
    tz_free(r->io);
    tz_free(r->events);
    tz_free(r);
}

static bool make_lists(direct_reading *r, uint32_t max_batch)
{
    if (max_batch == 0)
        return true;
    r->batches = tz_alloc_zeroed((size_t)tz_ceil_div(r->count, max_batch), sizeof *r->batches);
    r->io = tz_alloc_array((size_t)r->count, sizeof *r->io);
    r->events = tz_alloc_array(max_batch, sizeof *r->events);
    return r->batches && r->io && r->events;
}

static tz_result make_reading(direct_reading **out, tz_cu_state *s, tz_direct_read *reads,
                              uint64_t count, const tz_context *ctx)
{
    direct_reading *r = tz_alloc_zeroed(1, sizeof *r);
    if (!r)
        return tz_fail_nomem(ctx, sizeof *r);
    r->state = s;
    r->reads = reads;
    r->count = count;
    if (pthread_mutex_init(&r->lock, NULL) != 0) {
        tz_free(r);
        return tz_fail_nomem(ctx, sizeof r->lock);
    }
    if (!make_lists(r, s->files.max_batch)) {
        free_reading(r);
        return tz_fail_nomem(ctx, count * sizeof *r->io);
    }
    *out = r;
    return TZ_OK;
}

tz_result tz_cu_begin_reads(void *state, const tz_device_memory *to, tz_direct_read *reads,
                            uint64_t count, void **out, const tz_context *ctx)
{
    tz_cu_state *s = state;
    direct_reading *r = NULL;
    for (uint64_t i = 0; i < count; i++)
        reads[i].done = 0;
    TZ_TRY(make_reading(&r, s, reads, count, ctx));
    r->base = to->handle;
    tz_result result = tz_cu_enter(s, ctx);
    if (result != TZ_OK) {
        free_reading(r);
        return result;
    }
    if (s->files.max_batch > 0)
        submit_all(r);
    else
        start_threads(r);
    result = tz_cu_leave(s, TZ_OK, ctx);
    if (result == TZ_OK)
        *out = r;
    else
        (void)tz_cu_end_reads(s, r, &(tz_context){.ifd = -1});
    return result;
}

tz_result tz_cu_end_reads(void *state, void *under_way, const tz_context *ctx)
{
    tz_cu_state *s = state;
    direct_reading *r = under_way;
    const tz_context quiet = {.ifd = -1};
    const bool entered = tz_cu_enter(s, &quiet) == TZ_OK;
    bool ended = true;
    if (s->files.max_batch > 0)
        ended = end_batches(r);
    else
        end_threads(r);
    if (entered)
        (void)tz_cu_leave(s, TZ_OK, &quiet);
    const tz_error failed = r->failed;
    free_reading(r);
    if (!ended) {
        keep_driver(&s->files);
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "reads of files may still be under way: %s", failed.message);
    }
    return failed.result == TZ_OK ? TZ_OK : tz_propagate_error(ctx, &failed);
}
