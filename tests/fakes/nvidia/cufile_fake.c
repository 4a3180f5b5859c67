/* SPDX-License-Identifier: Apache-2.0
 * The driver, files, memory and single reads. */
#define _GNU_SOURCE /* O_DIRECT */
#include "fakes/nvidia/cufile_fake.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fakes/nvidia/cufile_state.h"

#define EXPORT                             __attribute__((visibility("default")))
#define PROTOTYPE(result, name, arguments) EXPORT result cuFile##name arguments;
TZ_CUFILE_FUNCTIONS(PROTOTYPE)
TZ_CUFILE_OPTIONAL_FUNCTIONS(PROTOTYPE)

enum { MOST_FILES = 64, MOST_BUFFERS = 64 };

typedef struct file {
    int fd;
    int cached; /* the same without O_DIRECT, to read from */
    dev_t device;
    ino_t inode;
    bool live;
} file;
typedef struct buffer {
    uintptr_t base; /* 0: free */
    size_t size;
} buffer;

cufile_fake_control cufile_control = {CUFILE_FAKE_DEFAULTS};
static file files[MOST_FILES];
static buffer buffers[MOST_BUFFERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

EXPORT cufile_fake_control *cufile_fake(void);
cufile_fake_control *cufile_fake(void)
{
    return &cufile_control;
}

void state_lock(void)
{
    pthread_mutex_lock(&lock);
}

void state_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void misused(const char *format, ...)
{
    va_list list;
    if (cufile_control.misuse[0])
        return;
    va_start(list, format);
    (void)vsnprintf(cufile_control.misuse, sizeof cufile_control.misuse, format, list);
    va_end(list);
}

int32_t begin(const char *name, uint64_t bytes, bool with_context)
{
    const cuda_vendor *cuda = cuda_vendor_find();
    const cuda_vendor_answer said =
        cuda ? cuda->call(name, bytes, NULL, with_context) : (cuda_vendor_answer){0, false};
    if (said.code == 0)
        return with_context && !cuda ? CUDA_DRIVER_ERROR : 0;
    return said.put_in ? said.code : CUDA_DRIVER_ERROR;
}

tz_cufile_error answer(int32_t code)
{
    return (tz_cufile_error){code, code == CUDA_DRIVER_ERROR ? 201 : 0};
}

/* ---- the driver ---- */

tz_cufile_error cuFileGetVersion(int *version)
{
    *version = 1190;
    return answer(0);
}

tz_cufile_error cuFileDriverOpen(void)
{
    int32_t code = begin("+cuFileDriverOpen", 0, false);
    state_lock();
    if (!getenv("CUFILE_LOGFILE_PATH"))
        misused("cufile.log is made in the working directory");
    if (code == 0 && !cufile_control.direct && !cufile_control.compat)
        code = DRIVER_NOT_INITIALIZED;
    cufile_control.opens += code == 0;
    state_unlock();
    return answer(code);
}

tz_cufile_error cuFileSetParameterBool(int32_t parameter, bool value)
{
    state_lock();
    const bool refused = cufile_control.opens > 0 || cufile_control.keeps_compat;
    if (parameter == TZ_CUFILE_PARAM_ALLOW_COMPAT && !refused)
        cufile_control.compat = value;
    state_unlock();
    return answer(refused ? DRIVER_ALREADY_OPEN : 0);
}

tz_cufile_error cuFileDriverClose_v2(void)
{
    int32_t code = begin("+cuFileDriverClose_v2", 0, false);
    state_lock();
    if (code == 0 && cufile_control.opens == 0)
        code = DRIVER_NOT_INITIALIZED;
    if (code == 0 && cufile_control.opens == 1 &&
        (cufile_control.files || cufile_control.buffers || cufile_control.batches))
        misused("the driver is closed with files, memory or batches in use");
    cufile_control.opens -= code == 0;
    state_unlock();
    return answer(code);
}

tz_cufile_error cuFileDriverGetProperties(tz_cufile_properties *out)
{
    const int32_t code = begin("+cuFileDriverGetProperties", 0, false);
    const bool direct = cufile_control.direct && cufile_control.opens > 0;
    memset(out, 0, sizeof *out);
    out->nvfs.major_version = direct ? 2 : 0;
    out->nvfs.minor_version = direct ? 25 : 0;
    out->nvfs.poll_thresh_size = 4;
    out->nvfs.max_direct_io_size = 16384;
    out->nvfs.dstatusflags = direct ? 1u << 4 : 0;
    out->nvfs.dcontrolflags = cufile_control.compat ? TZ_CUFILE_ALLOW_COMPAT : 0;
    out->fflags = cufile_control.no_batches ? 0 : TZ_CUFILE_BATCH;
    out->max_device_cache_size = 131072;
    out->max_batch_io_size = cufile_control.most_batch;
    out->max_batch_io_timeout_msecs = 5;
    return answer(code);
}

/* ---- files ---- */

static file *find_file(tz_cufile_handle handle)
{
    const size_t i = (size_t)((uintptr_t)handle - 1);
    return i < MOST_FILES && files[i].live ? &files[i] : NULL;
}

static int reopen(int fd, int flags)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC | flags);
}

static bool lacks_direct(int fd)
{
    const int direct = reopen(fd, O_DIRECT);
    if (direct >= 0)
        close(direct);
    return direct >= 0 && !(fcntl(fd, F_GETFL) & O_DIRECT);
}

static int32_t add_file(int fd, tz_cufile_handle *out)
{
    struct stat is;
    if (cufile_control.opens == 0)
        return DRIVER_NOT_INITIALIZED;
    if (fstat(fd, &is) != 0 || !S_ISREG(is.st_mode))
        return INVALID_FILE_TYPE;
    if (!cufile_control.compat && is.st_ino == cufile_control.unsupported)
        return IO_NOT_SUPPORTED;
    if (!cufile_control.compat && lacks_direct(fd))
        return DIO_NOT_SET;
    size_t unused = MOST_FILES;
    for (size_t i = 0; i < MOST_FILES; i++) {
        if (files[i].live && files[i].fd == fd)
            return HANDLE_ALREADY_REGISTERED;
        if (!files[i].live)
            unused = i;
    }
    if (unused == MOST_FILES)
        return INTERNAL_ERROR;
    files[unused] = (file){fd, reopen(fd, 0), is.st_dev, is.st_ino, true};
    cufile_control.files++;
    *out = (void *)(uintptr_t)(unused + 1);
    return 0;
}

tz_cufile_error cuFileHandleRegister(tz_cufile_handle *out, tz_cufile_descr *descr)
{
    int32_t code = begin("+cuFileHandleRegister", 0, false);
    if (code == 0 && (descr->type != TZ_CUFILE_FD || descr->fs_ops))
        code = INVALID_VALUE;
    state_lock();
    if (code == 0)
        code = add_file(descr->handle.fd, out);
    state_unlock();
    return answer(code);
}

/* That its file is still open. */
static bool still_open(const file *which)
{
    struct stat is;
    return fstat(which->fd, &is) == 0 && is.st_dev == which->device && is.st_ino == which->inode;
}

void cuFileHandleDeregister(tz_cufile_handle handle)
{
    (void)begin("+cuFileHandleDeregister", 0, false);
    state_lock();
    file *found = find_file(handle);
    if (!found)
        misused("a file is deregistered that is not registered");
    else if (!still_open(found))
        misused("file %d was closed before it was deregistered", found->fd);
    if (found) {
        found->live = false;
        close(found->cached);
        cufile_control.files--;
    }
    state_unlock();
}

/* ---- memory ---- */

/* Checks that cuFile accepts size bytes of memory at an address. */
static int32_t check_memory(uintptr_t address, size_t size)
{
    const cuda_vendor *cuda = cuda_vendor_find();
    cuda_vendor_memory is;
    if (!cuda || !cuda->where(address, &is))
        return CUDA_POINTER_INVALID;
    if (is.of_pool)
        return CUDA_MEMORY_TYPE_INVALID;
    return size > is.first + is.size - address ? CUDA_POINTER_RANGE_ERROR : 0;
}

/* The buffer that holds an address. */
static const buffer *find_buffer(uintptr_t address)
{
    for (size_t i = 0; i < MOST_BUFFERS; i++) {
        if (buffers[i].base && address >= buffers[i].base &&
            address - buffers[i].base < buffers[i].size)
            return &buffers[i];
    }
    return NULL;
}

static int32_t add_buffer(uintptr_t base, size_t size, int flags)
{
    if (cufile_control.opens == 0)
        return DRIVER_NOT_INITIALIZED;
    if (flags != 0 || size == 0)
        return INVALID_VALUE;
    const int32_t code = check_memory(base, size);
    if (code != 0)
        return code;
    if (find_buffer(base) || find_buffer(base + size - 1))
        return MEMORY_ALREADY_REGISTERED;
    for (size_t i = 0; i < MOST_BUFFERS; i++) {
        if (buffers[i].base)
            continue;
        buffers[i] = (buffer){base, size};
        cufile_control.buffers++;
        return 0;
    }
    return GPU_MEMORY_PINNING_FAILED;
}

tz_cufile_error cuFileBufRegister(const void *base, size_t size, int flags)
{
    int32_t code = begin("+cuFileBufRegister", size, true);
    state_lock();
    if (code == 0)
        code = add_buffer((uintptr_t)base, size, flags);
    state_unlock();
    return answer(code);
}

tz_cufile_error cuFileBufDeregister(const void *base)
{
    int32_t code = begin("+cuFileBufDeregister", 0, true);
    state_lock();
    const buffer *found = find_buffer((uintptr_t)base);
    if (!found || found->base != (uintptr_t)base) {
        code = code != 0 ? code : MEMORY_NOT_REGISTERED;
    } else { /* also in a context that is broken, as CUDA itself releases there */
        if (check_memory(found->base, found->size) != 0)
            misused("memory was freed before it was deregistered");
        buffers[found - buffers].base = 0;
        cufile_control.buffers--;
    }
    state_unlock();
    return answer(code);
}

/* ---- reading ---- */

int32_t request_check(const request *what)
{
    if (cufile_control.opens == 0)
        return DRIVER_NOT_INITIALIZED;
    const uintptr_t base = (uintptr_t)what->base;
    if (!find_file(what->file))
        return HANDLE_NOT_REGISTERED;
    if (what->file_offset < 0 || what->buffer_offset < 0 || what->size == 0)
        return INVALID_VALUE;
    const buffer *registered = find_buffer(base + (size_t)what->buffer_offset);
    if (registered && registered->base != base)
        return INVALID_VALUE;
    if (registered && what->size > registered->size - (size_t)what->buffer_offset)
        return INVALID_MAPPING_RANGE;
    const int32_t code = check_memory(base, 1);
    return code != 0 ? code : check_memory(base + (size_t)what->buffer_offset, what->size);
}

/* Returns the destination of bytes: host memory is itself. */
static void *destination(uintptr_t address, size_t size)
{
    const cuda_vendor *cuda = cuda_vendor_find();
    cuda_vendor_memory is;
    if (!cuda->where(address, &is))
        return NULL;
    return is.of_device ? cuda->bytes(address, size) : (void *)address;
}

static bool is_aligned(const request *what)
{
    return (what->size | (size_t)what->file_offset | (size_t)what->buffer_offset) % 4096 == 0;
}

ssize_t request_read(const request *what)
{
    state_lock();
    const file *from = find_file(what->file);
    const int fd = from ? from->cached : -1;
    size_t size = what->size;
    if (cufile_control.short_read > 0 && size > cufile_control.short_read)
        size = cufile_control.short_read;
    state_unlock();
    void *to = destination((uintptr_t)what->base + (size_t)what->buffer_offset, what->size);
    if (!to)
        return -CUDA_POINTER_RANGE_ERROR;
    const ssize_t done = pread(fd, to, size, what->file_offset);
    state_lock();
    cufile_control.reads++;
    cufile_control.unaligned += !is_aligned(what);
    cufile_control.bytes += done > 0 ? (uint64_t)done : 0;
    state_unlock();
    return done < 0 ? -IO_ERROR : done;
}

ssize_t cuFileRead(tz_cufile_handle handle, void *base, size_t size, off_t file_offset,
                   off_t buffer_offset)
{
    const request what = {handle, base, size, file_offset, buffer_offset};
    if (!handle) {
        errno = EINVAL;
        return -1;
    }
    int32_t code = begin("+cuFileRead", size, true);
    state_lock();
    if (code == 0)
        code = request_check(&what);
    state_unlock();
    if (code == 0)
        return request_read(&what);
    if (code < 5000) {
        errno = code;
        return -1;
    }
    return -code;
}
