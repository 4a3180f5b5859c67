/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: cuFile. It is loaded when files are first wanted. That it is not there, or that
 * it would copy through memory of the host itself, is no failure: the engine's own way through
 * pinned memory is the better one then. */
#define _GNU_SOURCE /* O_DIRECT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"

#define MODULES "/proc/modules"

static const char *modules_path = MODULES;

void tz_cu_set_modules_path(const char *path)
{
    modules_path = path ? path : MODULES;
}

/* ---- beginning and end ---- */

void tz_cu_files_deinit(tz_cu_files *files)
{
    if (files->is_open)
        (void)files->cufile.api.DriverClose_v2();
    tz_free(files->library);
    pthread_mutex_destroy(&files->lock);
}

tz_result tz_cu_check_file(const char *function, tz_cufile_error answer, const tz_context *ctx)
{
    if (answer.err == 0)
        return TZ_OK;
    const char *of_cuda = answer.cu_err ? tz_cu_error_text((tz_cu_code)answer.cu_err) : "";
    return tz_fail(ctx, TZ_ERR_IO, TZ_CAUSE_IO, tz_no_location(), "%s: %s (%d)%s%s", function,
                   tz_cufile_error_name(answer.err), (int)answer.err, of_cuda[0] ? ", " : "",
                   of_cuda);
}

/* ---- what it can do ---- */

static bool has_modules(void)
{
    const int fd = open(modules_path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

/* Opening its driver makes the file cufile.log in the working directory, whatever its parameters
 * say: this variable alone is heeded. It is set only where it is not, and never taken back. Other
 * threads may not read the environment at that moment, with C libraries such as glibc before 2.41;
 * doc/devices.md says how to avoid it. */
static void keep_log_away(void)
{
    (void)setenv("CUFILE_LOGFILE_PATH", "/dev/null", 0);
}

/* Several devices of a process may open it: it counts. Who finds it open does not close it. */
static tz_result open_cufile_driver(tz_cu_files *files, const tz_context *ctx)
{
    enum { DRIVER_NOT_INITIALIZED = 5001, DRIVER_ALREADY_OPEN = 5026, NVFS_SETUP_ERROR = 5033 };
    const tz_cufile_api *api = &files->cufile.api;
    keep_log_away();
    if (api->SetParameterBool)
        (void)api->SetParameterBool(TZ_CUFILE_PARAM_ALLOW_COMPAT, false);
    const tz_cufile_error answer = api->DriverOpen();
    files->is_open = answer.err == 0;
    if (answer.err == DRIVER_ALREADY_OPEN)
        return TZ_OK;
    if (answer.err == DRIVER_NOT_INITIALIZED || answer.err == NVFS_SETUP_ERROR)
        return tz_fail(ctx, TZ_ERR_IO, TZ_CAUSE_IO, tz_no_location(),
                       "cuFileDriverOpen: %s (%d): no file system is read directly here (is the "
                       "module nvidia-fs loaded?)",
                       tz_cufile_error_name(answer.err), (int)answer.err);
    return tz_cu_check_file("cuFileDriverOpen", answer, ctx);
}

static tz_result fail_compat(const tz_cu_files *files, const char *why, const tz_context *ctx)
{
    return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                   "%s would copy through memory of the host: %s", files->name, why);
}

/* That its driver opens says nothing: without the kernel's part it copies through the host. And in
 * its compatibility mode it takes any file, and copies those that it cannot read directly: it is
 * used without that mode only, where registering such a file fails. */
static tz_result check_direct_reads(tz_cu_files *files, const tz_context *ctx)
{
    tz_cufile_properties is;
    memset(&is, 0, sizeof is);
    TZ_TRY(open_cufile_driver(files, ctx));
    TZ_TRY(tz_cu_check_file("cuFileDriverGetProperties", files->cufile.api.DriverGetProperties(&is),
                            ctx));
    if (is.nvfs.major_version == 0 && is.nvfs.dstatusflags == 0)
        return fail_compat(files, "no file system is read directly here (nvidia-fs?)", ctx);
    if (is.nvfs.dcontrolflags & TZ_CUFILE_ALLOW_COMPAT)
        return fail_compat(files, "its compatibility mode cannot be switched off here", ctx);
    files->is_direct = true;
    files->max_batch = is.fflags & TZ_CUFILE_BATCH ? is.max_batch_io_size : 0;
    return TZ_OK;
}

static void find_cufile(tz_cu_state *s)
{
    tz_cu_files *files = &s->files;
    tz_cufile *cufile = &files->cufile;
    tz_error err = {.result = TZ_OK};
    const tz_context ctx = {.err = &err, .ifd = -1};
    char text[sizeof files->reason];
    if (!tz_cufile_load(cufile, files->library, text, sizeof text)) {
        tz_device_textf(files->reason, sizeof files->reason, "cuFile is not there: %s", text);
        return;
    }
    tz_device_textf(files->name, sizeof files->name, "cuFile %u.%u.%u", cufile->major,
                    cufile->minor, cufile->patch);
    if (!has_modules()) {
        tz_device_textf(files->reason, sizeof files->reason,
                        "%s does not work where %s cannot be read", files->name, modules_path);
        return;
    }
    tz_result result = tz_cu_enter(s, &ctx);
    if (result == TZ_OK)
        result = tz_cu_leave(s, check_direct_reads(files, &ctx), &ctx);
    if (result != TZ_OK)
        files->is_direct = false;
    tz_device_text(files->reason, sizeof files->reason, err.message);
}

bool tz_cu_find_files(void *state, char *name, size_t name_size, char *reason, size_t reason_size)
{
    tz_cu_state *s = state;
    tz_cu_files *files = &s->files;
    if (!atomic_load_explicit(&files->is_known, memory_order_acquire)) {
        pthread_mutex_lock(&files->lock);
        if (!atomic_load_explicit(&files->is_known, memory_order_relaxed))
            find_cufile(s);
        atomic_store_explicit(&files->is_known, true, memory_order_release);
        pthread_mutex_unlock(&files->lock);
    }
    tz_device_text(name, name_size, files->name);
    tz_device_text(reason, reason_size, files->reason);
    return files->is_direct;
}

/* ---- files ---- */

/* The same file once more, without the page cache: cuFile reads directly from such a descriptor in
 * all of its releases. Where the file system has no such thing, it may refuse the other one. */
static int reopen_direct(int fd)
{
    char path[32];
    tz_device_textf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    return direct >= 0 ? direct : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static tz_result register_file(tz_cu_state *s, tz_cu_file *file, int fd, const tz_context *ctx)
{
    tz_cufile_descr descr;
    memset(&descr, 0, sizeof descr);
    file->fd = reopen_direct(fd);
    if (file->fd < 0)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot make another descriptor of it");
    descr.type = TZ_CUFILE_FD;
    descr.handle.fd = file->fd;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cufile_error answer = s->files.cufile.api.HandleRegister(&file->handle, &descr);
    return tz_cu_leave(s, tz_cu_check_file("cuFileHandleRegister", answer, ctx), ctx);
}

/* A descriptor of its own: the same one may not be registered twice, and several reads may use a
 * file at the same time. */
tz_result tz_cu_open_file(void *state, int fd, void **file, const tz_context *ctx)
{
    tz_cu_file *made = tz_alloc_zeroed(1, sizeof *made);
    if (!made)
        return tz_fail_nomem(ctx, sizeof *made);
    made->fd = -1;
    const tz_result result = register_file(state, made, fd, ctx);
    if (result == TZ_OK)
        *file = made;
    else
        tz_cu_close_file(state, made);
    return result;
}

void tz_cu_close_file(void *state, void *file)
{
    tz_cu_state *s = state;
    tz_cu_file *which = file;
    const tz_context quiet = {.ifd = -1};
    if (which->handle) {
        const bool entered = tz_cu_enter(s, &quiet) == TZ_OK;
        s->files.cufile.api.HandleDeregister(which->handle);
        if (entered)
            (void)tz_cu_leave(s, TZ_OK, &quiet);
    }
    if (which->fd >= 0)
        (void)close(which->fd);
    tz_free(which);
}

/* ---- memory ---- */

tz_result tz_cu_share_memory(void *state, const tz_device_memory *memory, const tz_context *ctx)
{
    tz_cu_state *s = state;
    TZ_TRY(tz_cu_enter(s, ctx));
    const tz_cufile_error answer =
        s->files.cufile.api.BufRegister(memory->handle, (size_t)memory->size, 0);
    return tz_cu_leave(s, tz_cu_check_file("cuFileBufRegister", answer, ctx), ctx);
}

void tz_cu_unshare_memory(void *state, const tz_device_memory *memory)
{
    tz_cu_state *s = state;
    const tz_context quiet = {.ifd = -1};
    if (tz_cu_enter(s, &quiet) != TZ_OK)
        return;
    (void)s->files.cufile.api.BufDeregister(memory->handle);
    (void)tz_cu_leave(s, TZ_OK, &quiet);
}
