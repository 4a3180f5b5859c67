/* SPDX-License-Identifier: Apache-2.0
 * cuFile: many ranges of files read straight into device memory. It is loaded when files are first
 * wanted. A file is registered with a descriptor of its own, a slab of device memory is registered,
 * and then reads are submitted together: in cuFile's batches, or by threads that each read one
 * range at a time if this release or file system has no batches. All reads are submitted before
 * any is waited for, and their results are looked at when none is under way any more.
 *
 * cuFile is used only if it really reads directly. Without the kernel's module, or in its
 * compatibility mode, it accepts any file and copies through host memory; the engine's own path
 * through pinned memory is the better one then. So compatibility mode is switched off, and a driver
 * that would copy is TZ_ERR_UNSUPPORTED with the reason.
 *
 * No failure here is one of the device: results are TZ_ERR_IO. The exception is a batch whose end
 * cannot be determined. Its memory may still be written to, so its handle is not destroyed, the
 * driver stays open, and the device is not used again. */
#define _GNU_SOURCE /* O_DIRECT */
#include "device/nvidia/cufile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pool.h"
#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"

#define MODULES "/proc/modules"

static const char *modules_path = MODULES;

void tz_cu_set_modules_path(const char *path)
{
    modules_path = path ? path : MODULES;
}

void tz_cu_files_close(tz_cu_files *files)
{
    if (files->is_open)
        (void)files->api.DriverClose_v2();
}

const char *tz_cufile_error_name(int32_t err)
{
    switch (err) {
    case 0:
        return "SUCCESS";
        TZ_CUFILE_ERRORS(TZ_CASE_NAME)
    default:
        return "a code that is not known here";
    }
}

/* Returns TZ_OK, or TZ_ERR_IO with "cuFileBufRegister: GPU_MEMORY_PINNING_FAILED (5036)". */
static tz_result check_cufile(const char *function, tz_cufile_error answer, const tz_context *ctx)
{
    if (answer.err == 0)
        return TZ_OK;
    const char *of_cuda = answer.cu_err ? tz_cu_error_text((tz_cu_code)answer.cu_err) : "";
    return tz_fail(ctx, TZ_ERR_IO, TZ_CAUSE_IO, tz_no_location(), "%s: %s (%d)%s%s", function,
                   tz_cufile_error_name(answer.err), (int)answer.err, of_cuda[0] ? ", " : "",
                   of_cuda);
}

/* ---- looking for cuFile ---- */

/* Opens cuFile's driver and checks that it reads directly: that it opens says nothing, because
 * without the kernel's part it copies through the host. It counts its openings, so several devices
 * of a process may open it; a device that finds it open does not close it.
 *
 * Opening makes the file cufile.log in the working directory, against its parameters; only the
 * environment variable prevents that. It is set unless it is set already, and never unset. With C
 * libraries such as glibc before 2.41 other threads may not read the environment at that moment;
 * doc/devices.md says how to avoid it. */
static tz_result open_cufile_driver(tz_cu_files *files, const tz_context *ctx)
{
    enum { DRIVER_NOT_INITIALIZED = 5001, DRIVER_ALREADY_OPEN = 5026, NVFS_SETUP_ERROR = 5033 };
    tz_cufile_properties is;
    (void)setenv("CUFILE_LOGFILE_PATH", "/dev/null", 0);
    if (files->api.SetParameterBool)
        (void)files->api.SetParameterBool(TZ_CUFILE_PARAM_ALLOW_COMPAT, false);
    const tz_cufile_error answer = files->api.DriverOpen();
    files->is_open = answer.err == 0;
    if (answer.err == DRIVER_NOT_INITIALIZED || answer.err == NVFS_SETUP_ERROR)
        return tz_fail(ctx, TZ_ERR_IO, TZ_CAUSE_IO, tz_no_location(),
                       "cuFileDriverOpen: %s (%d): no file system is read directly here (is the "
                       "module nvidia-fs loaded?)",
                       tz_cufile_error_name(answer.err), (int)answer.err);
    if (answer.err != DRIVER_ALREADY_OPEN)
        TZ_TRY(check_cufile("cuFileDriverOpen", answer, ctx));
    memset(&is, 0, sizeof is);
    TZ_TRY(check_cufile("cuFileDriverGetProperties", files->api.DriverGetProperties(&is), ctx));
    const bool has_none = is.nvfs.major_version == 0 && is.nvfs.dstatusflags == 0;
    if (has_none || (is.nvfs.dcontrolflags & TZ_CUFILE_ALLOW_COMPAT))
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "%s would copy through host memory: %s", files->name,
                       has_none ? "no file system is read directly here (nvidia-fs?)"
                                : "its compatibility mode cannot be switched off here");
    files->is_direct = true;
    files->max_batch = is.fflags & TZ_CUFILE_BATCH ? is.max_batch_io_size : 0;
    return TZ_OK;
}

static void find_cufile(tz_cu_state *s)
{
    tz_cu_files *files = &s->files;
    tz_error err = {.result = TZ_OK};
    const tz_context ctx = {.err = &err, .ifd = -1};
    char text[sizeof files->reason];
    if (!tz_dynlib_load(&tz_nvidia_libraries[TZ_NVIDIA_CUFILE], s->library_names[TZ_NVIDIA_CUFILE],
                        &files->api, &files->info, text, sizeof text)) {
        tz_device_textf(files->reason, sizeof files->reason, "cuFile is not there: %s", text);
        return;
    }
    const uint32_t *v = files->info.version;
    tz_device_textf(files->name, sizeof files->name, "cuFile %u.%u.%u", v[0], v[1], v[2]);
    const int modules = open(modules_path, O_RDONLY | O_CLOEXEC);
    if (modules < 0) {
        tz_device_textf(files->reason, sizeof files->reason,
                        "%s does not work where %s cannot be read", files->name, modules_path);
        return;
    }
    (void)close(modules);
    tz_result result = tz_cu_enter(s, &ctx);
    if (result == TZ_OK)
        result = tz_cu_leave(s, open_cufile_driver(files, &ctx), &ctx);
    if (result != TZ_OK)
        files->is_direct = false;
    tz_device_text(files->reason, sizeof files->reason, err.message);
}

/* The first call looks for cuFile; threads that come later take no lock. */
bool tz_cu_find_files(void *state, char *name, size_t name_size, char *reason, size_t reason_size)
{
    tz_cu_state *s = state;
    tz_cu_files *files = &s->files;
    if (!atomic_load_explicit(&files->searched, memory_order_acquire)) {
        pthread_mutex_lock(&files->lock);
        if (!atomic_load_explicit(&files->searched, memory_order_relaxed))
            find_cufile(s);
        atomic_store_explicit(&files->searched, true, memory_order_release);
        pthread_mutex_unlock(&files->lock);
    }
    tz_device_text(name, name_size, files->name);
    tz_device_text(reason, reason_size, files->reason);
    return files->is_direct;
}

/* ---- files and memory ---- */

/* A registered file. */
typedef struct direct_file {
    tz_cufile_handle handle;
    int fd; /* of its own */
} direct_file;

/* The descriptor is the file's own: one may not be registered twice, and several reads may use a
 * file at the same time. It is opened again without the page cache, because all releases of cuFile
 * read directly from such a descriptor. If the file system has no such mode, it is a copy of fd,
 * which cuFile may refuse. */
tz_result tz_cu_open_file(void *state, int fd, void **file, const tz_context *ctx)
{
    tz_cu_state *s = state;
    direct_file *made = tz_alloc_zeroed(1, sizeof *made);
    if (!made)
        return tz_fail_nomem(ctx, sizeof *made);
    tz_result result = TZ_OK;
    char path[32];
    tz_device_textf(path, sizeof path, "/proc/self/fd/%d", fd);
    made->fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (made->fd < 0)
        made->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (made->fd < 0)
        result =
            tz_fail_errno(ctx, tz_no_location(), errno, "cannot make another descriptor of it");
    if (result == TZ_OK)
        result = tz_cu_enter(s, ctx);
    if (result == TZ_OK) {
        tz_cufile_descr descr;
        memset(&descr, 0, sizeof descr);
        descr.type = TZ_CUFILE_FD;
        descr.handle.fd = made->fd;
        const tz_cufile_error answer = s->files.api.HandleRegister(&made->handle, &descr);
        result = tz_cu_leave(s, check_cufile("cuFileHandleRegister", answer, ctx), ctx);
    }
    if (result == TZ_OK)
        *file = made;
    else
        tz_cu_close_file(state, made);
    return result;
}

/* Also for a file that was opened half: its handle is NULL, or its descriptor negative. */
void tz_cu_close_file(void *state, void *file)
{
    tz_cu_state *s = state;
    direct_file *which = file;
    const tz_context quiet = {.ifd = -1};
    if (which->handle) {
        const bool entered = tz_cu_enter(s, &quiet) == TZ_OK;
        s->files.api.HandleDeregister(which->handle);
        if (entered)
            (void)tz_cu_leave(s, TZ_OK, &quiet);
    }
    if (which->fd >= 0)
        (void)close(which->fd);
    tz_free(which);
}

/* Registered memory is mapped for the storage device once, and not again for each read. */
tz_result tz_cu_share_memory(void *state, const tz_device_memory *memory, const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cufile_error answer =
        s->files.api.BufRegister(memory->handle, (size_t)memory->size, 0);
    return tz_cu_leave(s, check_cufile("cuFileBufRegister", answer, ctx), ctx);
}

void tz_cu_unshare_memory(void *state, const tz_device_memory *memory)
{
    tz_cu_state *s = state;
    const tz_context quiet = {.ifd = -1};
    if (tz_cu_enter(s, &quiet) != TZ_OK)
        return;
    (void)s->files.api.BufDeregister(memory->handle);
    (void)tz_cu_leave(s, TZ_OK, &quiet);
}

/* ---- reads under way ---- */

enum { MAX_THREADS = 8 };

typedef struct io_batch {
    tz_cufile_batch handle; /* NULL: it could not be made */
    unsigned count;         /* reads that are under way */
} io_batch;

/* Reads between begin_reads and end_reads: they are in batches, or done by threads. */
typedef struct direct_reading {
    tz_cu_state *state;
    uint8_t *base; /* of the memory, as it was registered */
    tz_direct_read *reads;
    uint64_t count;
    tz_error failed;      /* the first failure; its result is TZ_OK: none */
    pthread_mutex_t lock; /* of failed */
    /* batches */
    io_batch *batches;
    size_t batch_count;
    tz_cufile_io *io;        /* one entry for each read */
    tz_cufile_event *events; /* one batch of them */
    /* threads */
    atomic_ullong next; /* index of the next read to do */
    pthread_t threads[MAX_THREADS];
    unsigned thread_count;
} direct_reading;

/* Keeps the first failure: later ones are often its consequences. */
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
    if (check_cufile(function, answer, &ctx) != TZ_OK)
        note_failure(r, &err);
}

/* Notes the result of one read: bytes, or a negative error number of the system or of cuFile. */
static void note_result(direct_reading *r, tz_direct_read *read, const char *function, ssize_t done)
{
    enum { FIRST_CUFILE_ERROR = 5000 };
    tz_error err = {.result = TZ_OK};
    const tz_context ctx = {.err = &err, .ifd = -1};
    read->done = done < 0 ? 0 : (uint64_t)done;
    if (done >= 0)
        return;
    if (done > -FIRST_CUFILE_ERROR)
        (void)tz_fail_errno(&ctx, tz_no_location(), (int)-done, "%s", function);
    else
        (void)check_cufile(function, (tz_cufile_error){(int32_t)-done, 0}, &ctx);
    note_failure(r, &err);
}

/* ---- batches ---- */

/* A batch that fails leaves its reads undone; the others go on. */
static void submit_batches(direct_reading *r)
{
    const tz_cufile_api *api = &r->state->files.api;
    const uint32_t max_batch = r->state->files.max_batch;
    for (uint64_t first = 0; first < r->count; first += max_batch) {
        io_batch *b = &r->batches[r->batch_count++];
        const unsigned count = (unsigned)tz_min(r->count - first, max_batch);
        const char *function = "cuFileBatchIOSetUp";
        tz_cufile_error answer = api->BatchIOSetUp(&b->handle, count);
        if (answer.err != 0) {
            b->handle = NULL;
        } else {
            for (uint64_t i = first; i < first + count; i++) {
                tz_direct_read *read = &r->reads[i];
                memset(&r->io[i], 0, sizeof r->io[i]);
                r->io[i].mode = TZ_CUFILE_MODE;
                r->io[i].u.batch.devPtr_base = r->base;
                r->io[i].u.batch.devPtr_offset = (off_t)read->to;
                r->io[i].u.batch.file_offset = (off_t)read->offset;
                r->io[i].u.batch.size = (size_t)read->size;
                r->io[i].fh = ((const direct_file *)read->file)->handle;
                r->io[i].opcode = TZ_CUFILE_READ;
                r->io[i].cookie = read;
            }
            function = "cuFileBatchIOSubmit";
            answer = api->BatchIOSubmit(b->handle, count, &r->io[first], 0);
            b->count = answer.err == 0 ? count : 0;
        }
        note_answer(r, function, answer);
    }
}

/* Waits until all reads of a batch have ended, and notes their results; false if that cannot be
 * determined. Events of reads that are still under way are passed over. */
static bool wait_for_batch(direct_reading *r, io_batch *b)
{
    const tz_cufile_api *api = &r->state->files.api;
    while (b->count > 0) {
        unsigned count = b->count;
        const tz_cufile_error answer =
            api->BatchIOGetStatus(b->handle, b->count, &count, r->events, NULL);
        note_answer(r, "cuFileBatchIOGetStatus", answer);
        if (answer.err != 0)
            return false;
        for (unsigned i = 0; i < count; i++) {
            const tz_cufile_event *event = &r->events[i];
            const ssize_t done = (ssize_t)event->ret;
            if (event->status == TZ_CUFILE_WAITING || event->status == TZ_CUFILE_PENDING)
                continue;
            b->count--;
            if (event->status == TZ_CUFILE_COMPLETE || done < 0) {
                note_result(r, event->cookie, "a read of a batch", done);
                continue;
            }
            tz_error err = {.result = TZ_ERR_IO, .cause = TZ_CAUSE_IO};
            tz_device_textf(err.message, sizeof err.message,
                            "a read of a batch ended with status %d", (int)event->status);
            note_failure(r, &err);
        }
    }
    return true;
}

/* ---- threads ---- */

/* Does reads that nobody has begun, until none is left; several threads run this at once. */
static void read_remaining(direct_reading *r)
{
    for (uint64_t i; (i = atomic_fetch_add(&r->next, 1)) < r->count;) {
        tz_direct_read *read = &r->reads[i];
        const ssize_t done =
            r->state->files.api.Read(((const direct_file *)read->file)->handle, r->base,
                                     (size_t)read->size, (off_t)read->offset, (off_t)read->to);
        note_result(r, read, "cuFileRead", done == -1 ? -(ssize_t)errno : done);
    }
}

static void *read_in_thread(void *user)
{
    direct_reading *r = user;
    tz_error err = {.result = TZ_OK};
    const tz_context ctx = {.err = &err, .ifd = -1};
    if (tz_cu_enter(r->state, &ctx) == TZ_OK) {
        read_remaining(r);
        (void)tz_cu_leave(r->state, TZ_OK, &ctx);
    } else {
        note_failure(r, &err);
    }
    return NULL;
}

/* ---- beginning and ending ---- */

static void free_reading(direct_reading *r)
{
    pthread_mutex_destroy(&r->lock);
    tz_free(r->batches);
    tz_free(r->io);
    tz_free(r->events);
    tz_free(r);
}

/* Submits all batches, or starts threads. If fewer threads start than wanted, the one that ends the
 * reads does the rest. */
tz_result tz_cu_begin_reads(void *state, const tz_device_memory *to, tz_direct_read *reads,
                            uint64_t count, void **out, const tz_context *ctx)
{
    tz_cu_state *s = state;
    const uint32_t max_batch = s->files.max_batch;
    direct_reading *r = tz_alloc_zeroed(1, sizeof *r);
    if (!r)
        return tz_fail_nomem(ctx, sizeof *r);
    if (pthread_mutex_init(&r->lock, NULL) != 0) {
        tz_free(r);
        return tz_fail_nomem(ctx, sizeof r->lock);
    }
    r->state = s;
    r->base = to->handle;
    r->reads = reads;
    r->count = count;
    for (uint64_t i = 0; i < count; i++)
        reads[i].done = 0;
    tz_result result = TZ_OK;
    if (max_batch > 0) {
        r->batches = tz_alloc_zeroed((size_t)tz_ceil_div(count, max_batch), sizeof *r->batches);
        r->io = tz_alloc_array((size_t)count, sizeof *r->io);
        r->events = tz_alloc_array(max_batch, sizeof *r->events);
        if (!r->batches || !r->io || !r->events)
            result = tz_fail_nomem(ctx, count * sizeof *r->io);
    }
    if (result == TZ_OK)
        result = tz_cu_enter(s, ctx);
    if (result != TZ_OK) {
        free_reading(r);
        return result;
    }
    if (max_batch > 0)
        submit_batches(r);
    while (max_batch == 0 && r->thread_count < MAX_THREADS && r->thread_count < count &&
           tz_start_thread(&r->threads[r->thread_count], read_in_thread, r) == 0)
        r->thread_count++;
    result = tz_cu_leave(s, TZ_OK, ctx);
    if (result == TZ_OK)
        *out = r;
    else
        (void)tz_cu_end_reads(s, r, &(tz_context){.ifd = -1});
    return result;
}

/* Waits for all reads, also failed ones, and returns the first failure. */
tz_result tz_cu_end_reads(void *state, void *reading, const tz_context *ctx)
{
    tz_cu_state *s = state;
    direct_reading *r = reading;
    const tz_context quiet = {.ifd = -1};
    const bool entered = tz_cu_enter(s, &quiet) == TZ_OK;
    bool ended = true;
    for (size_t i = 0; i < r->batch_count; i++) {
        io_batch *b = &r->batches[i];
        bool batch_ended = wait_for_batch(r, b);
        if (!batch_ended) {
            (void)s->files.api.BatchIOCancel(b->handle);
            batch_ended = wait_for_batch(r, b);
        }
        if (b->handle && batch_ended) /* one that may be under way is not destroyed */
            s->files.api.BatchIODestroy(b->handle);
        ended = ended && batch_ended;
    }
    if (s->files.max_batch == 0)
        read_remaining(r);
    for (unsigned i = 0; i < r->thread_count; i++)
        (void)pthread_join(r->threads[i], NULL);
    if (entered)
        (void)tz_cu_leave(s, TZ_OK, &quiet);
    const tz_error failed = r->failed;
    free_reading(r);
    if (!ended) {
        /* reads that may be under way need cuFile's driver: it stays open */
        pthread_mutex_lock(&s->files.lock);
        s->files.is_open = false;
        pthread_mutex_unlock(&s->files.lock);
        return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "reads of files may still be under way: %s", failed.message);
    }
    return failed.result == TZ_OK ? TZ_OK : tz_propagate_error(ctx, &failed);
}
