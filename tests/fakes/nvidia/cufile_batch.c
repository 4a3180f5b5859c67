/* SPDX-License-Identifier: Apache-2.0
 * Batches of reads. Nothing of them is done before somebody asks for their status. */
#include <stdlib.h>

#include "fakes/nvidia/cufile_state.h"

#define PROTOTYPE(result, name, arguments)                                                         \
    __attribute__((visibility("default"))) result cuFile##name arguments;
TZ_CUFILE_FUNCTIONS(PROTOTYPE)

typedef struct entry {
    request what;
    void *cookie;
    int32_t status;
} entry;

typedef struct batch {
    struct batch *next;
    unsigned room, count;
    entry entries[]; /* that were submitted and not reported yet */
} batch;

static batch *live;

static batch *find(tz_cufile_batch handle)
{
    batch *found = live;
    while (found && (tz_cufile_batch)found != handle)
        found = found->next;
    return found;
}

tz_cufile_error cuFileBatchIOSetUp(tz_cufile_batch *out, unsigned count)
{
    int32_t code = begin("+cuFileBatchIOSetUp", count, true);
    state_lock();
    if (code == 0 && cufile_control.opens == 0)
        code = DRIVER_NOT_INITIALIZED;
    if (code == 0 && (count == 0 || count > cufile_control.most_batch))
        code = INVALID_VALUE;
    batch *made = code == 0 ? calloc(1, sizeof *made + count * sizeof made->entries[0]) : NULL;
    if (made) {
        made->room = count;
        made->next = live;
        live = made;
        cufile_control.batches++;
        *out = made;
    }
    state_unlock();
    return answer(code);
}

static int32_t add_entry(batch *to, const tz_cufile_io *io)
{
    if (io->mode != TZ_CUFILE_MODE || io->opcode != TZ_CUFILE_READ)
        return INVALID_VALUE;
    entry *made = &to->entries[to->count];
    made->what = (request){io->fh, io->u.batch.devPtr_base, io->u.batch.size,
                           io->u.batch.file_offset, io->u.batch.devPtr_offset};
    made->cookie = io->cookie;
    made->status = request_check(&made->what) == 0 ? TZ_CUFILE_PENDING : TZ_CUFILE_INVALID;
    to->count++;
    return 0;
}

tz_cufile_error cuFileBatchIOSubmit(tz_cufile_batch handle, unsigned count, tz_cufile_io *io,
                                    unsigned flags)
{
    int32_t code = begin("+cuFileBatchIOSubmit", count, true);
    state_lock();
    batch *to = find(handle);
    if (code == 0 && (!to || flags != 0 || count == 0))
        code = INVALID_VALUE;
    if (code == 0 && count > to->room - to->count)
        code = BATCH_FULL;
    for (unsigned i = 0; i < count && code == 0; i++)
        code = add_entry(to, &io[i]);
    state_unlock();
    return answer(code);
}

/* The lock is held, and is not while it reads. */
static tz_cufile_event finish(entry *which)
{
    tz_cufile_event event = {which->cookie, which->status, 0};
    if (which->status == TZ_CUFILE_INVALID)
        event.ret = (size_t)-INVALID_VALUE;
    if (which->status != TZ_CUFILE_PENDING)
        return event;
    const bool fails = cufile_control.fail_entry > 0 && --cufile_control.fail_entry == 0;
    const int32_t code = fails ? IO_ERROR : request_check(&which->what);
    if (code != 0 && !fails)
        misused("a batch reads into memory, or of a file, that is gone: %d", code);
    const request what = which->what;
    state_unlock();
    const ssize_t done = code != 0 ? -code : request_read(&what);
    state_lock();
    event.status = done < 0 ? TZ_CUFILE_FAILED : TZ_CUFILE_COMPLETE;
    event.ret = (size_t)done;
    return event;
}

tz_cufile_error cuFileBatchIOGetStatus(tz_cufile_batch handle, unsigned least, unsigned *count,
                                       tz_cufile_event *events, struct timespec *timeout)
{
    (void)timeout;
    const unsigned room = *count;
    int32_t code = begin("+cuFileBatchIOGetStatus", room, true);
    *count = 0;
    state_lock();
    batch *which = find(handle);
    if (code == 0 && (!which || least > room || least > which->count))
        code = INVALID_VALUE;
    /* one more than it must, while there are some */
    for (unsigned i = 0; code == 0 && i <= least && i < room && which->count > 0; i++) {
        entry last = which->entries[--which->count];
        events[(*count)++] = finish(&last);
    }
    state_unlock();
    return answer(code);
}

tz_cufile_error cuFileBatchIOCancel(tz_cufile_batch handle)
{
    int32_t code = begin("+cuFileBatchIOCancel", 0, true);
    state_lock();
    batch *which = find(handle);
    if (code == 0 && !which)
        code = INVALID_VALUE;
    for (unsigned i = 0; code == 0 && i < which->count; i++) {
        if (which->entries[i].status == TZ_CUFILE_PENDING)
            which->entries[i].status = TZ_CUFILE_CANCELED;
    }
    state_unlock();
    return answer(code);
}

void cuFileBatchIODestroy(tz_cufile_batch handle)
{
    (void)begin("+cuFileBatchIODestroy", 0, false);
    state_lock();
    batch **at = &live;
    while (*at && (tz_cufile_batch)*at != handle)
        at = &(*at)->next;
    batch *found = *at;
    if (!found)
        misused("a batch is destroyed that does not live");
    for (unsigned i = 0; found && i < found->count; i++) {
        if (found->entries[i].status == TZ_CUFILE_PENDING)
            misused("a batch is destroyed with reads under way");
    }
    if (found) {
        *at = found->next;
        cufile_control.batches--;
        free(found);
    }
    state_unlock();
}
