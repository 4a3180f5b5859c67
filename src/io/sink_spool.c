/* SPDX-License-Identifier: Apache-2.0
 * Bytes that wait, in a file that has no name: the system removes it when the process ends, however
 * it ends. Where only files with a name can be made, it has one for a moment, of the kind that the
 * next write and tz_clean remove. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/sink.h"
#include "io/sink_file.h"
#include "io/sink_syscalls.h"

/* Stands for the destination's name when there is none. */
static const char default_name[] = "terrazzo";

typedef struct spool {
    tz_file_sink file; /* first: the two share their address */
    char display_name[];
} spool;

static tz_result open_spool_directory(tz_destination *destination, const tz_file_sink *beside,
                                      const char *directory, const tz_context *ctx)
{
    if (directory)
        TZ_RETRY(destination->dir, tz_sink_syscall->openat(AT_FDCWD, directory,
                                                           O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    else
        destination->dir = tz_sink_syscall->dup(beside->destination.dir);
    if (destination->dir < 0)
        return tz_fail_errno(ctx, tz_no_location(), errno, "cannot open the directory");
    /* For nobody else to read, as what replaces a file. */
    destination->exists = true;
    snprintf(destination->name, sizeof destination->name, "%s",
             beside ? beside->destination.name : default_name);
    return TZ_OK;
}

/* A name that cannot be removed now is removed at the end, or is one that tz_clean knows. */
static void remove_name(tz_temporary *temporary, int dir)
{
    if (temporary->name[0] != '\0' && tz_sink_syscall->unlinkat(dir, temporary->name) == 0)
        temporary->name[0] = '\0';
}

static tz_result open_spool_file(tz_file_sink *file, const tz_file_sink *beside,
                                 const char *directory, const tz_context *ctx)
{
    TZ_TRY(open_spool_directory(&file->destination, beside, directory, ctx));
    tz_result result = tz_temporary_open(&file->temporary, &file->destination, ctx);
    if (result == TZ_OK)
        remove_name(&file->temporary, file->destination.dir);
    else
        tz_destination_close(&file->destination);
    return result;
}

static spool *make_spool(const char *directory, const tz_context *ctx)
{
    const char *before = directory ? "the spool in " : "the spool beside it";
    const char *after = directory ? directory : "";
    size_t size = sizeof(spool) + strlen(before) + strlen(after) + 1;
    spool *made = tz_alloc(size);
    if (!made) {
        (void)tz_fail_nomem(ctx, size);
        return NULL;
    }
    made->file = (tz_file_sink){.base = {.write = tz_file_sink_write,
                                         .read = tz_file_sink_read,
                                         .close = tz_file_sink_close},
                                .display_name = made->display_name,
                                .no_sync = true};
    snprintf(made->display_name, size - sizeof(spool), "%s%s", before, after);
    return made;
}

static tz_result open_file_spool(tz_sink **out, const tz_file_sink *beside, const char *directory,
                                 const tz_context *ctx)
{
    spool *made = make_spool(directory, ctx);
    if (!made)
        return TZ_ERR_NOMEM;
    tz_error failed = {.result = TZ_OK};
    tz_context within = tz_file_sink_context(&made->file, &failed);
    tz_result result = open_spool_file(&made->file, beside, directory, &within);
    if (result != TZ_OK) {
        tz_free(made);
        return tz_propagate_error(ctx, &failed);
    }
    *out = &made->file.base;
    return TZ_OK;
}

static const char *default_spool_directory(void)
{
    const char *directory = getenv("TMPDIR");
    return directory && *directory ? directory : "/tmp";
}

tz_result tz_sink_open_spool(tz_sink **out, tz_sink *sink, const char *directory,
                             const tz_context *ctx)
{
    const tz_file_sink *beside = tz_file_sink_of(sink);
    if (!directory && tz_sink_is_memory(sink))
        return tz_sink_open_memory_spool(out, ctx);
    if (!directory && !beside)
        directory = default_spool_directory();
    return open_file_spool(out, beside, directory, ctx);
}

tz_result tz_open_spool_sink(tz_sink **out, const char *directory, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    return tz_sink_open_spool(out, NULL, directory, &ctx);
}
