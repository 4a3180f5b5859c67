/* SPDX-License-Identifier: Apache-2.0
 * State that the files of the fake of libcuda share. Everything here is under one lock: call_begin
 * takes it, call_end gives it back. Memory of the fake itself is taken to be enough. */
#ifndef TESTS_FAKES_CUDA_STATE_H
#define TESTS_FAKES_CUDA_STATE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fakes/cuda/cuda_api.h"
#include "fakes/cuda/cuda_fake.h"

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    INVALID_PTX = 218,
    UNSUPPORTED_PTX_VERSION = 222,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    CONTEXT_IS_DESTROYED = 709,
    ALREADY_REGISTERED = 712,
    NOT_REGISTERED = 713,
    NOT_PERMITTED = 800,
    NOT_SUPPORTED = 801
};

/* ---- things: what handles stand for (handles.c) ---- */

typedef enum thing_kind {
    CONTEXT_THING = 1,
    STREAM_THING,
    EVENT_THING,
    MODULE_THING,
    FUNCTION_THING,
    POOL_THING
} thing_kind;

/* Handles are numbers that no pointer can be, and none is given twice. */
typedef struct thing {
    uint64_t handle;
    thing_kind kind;
    struct context *context; /* that it belongs to; of a pool: NULL */
} thing;

/* Adds a new object of a size, zeroed, to the table. */
void *thing_make(thing_kind kind, size_t size, struct context *owner);
void *thing_find(thing_kind kind, const void *handle); /* NULL: not alive */
void thing_free(thing *which);                         /* out of the table, and its memory */
/* Calls visit for each thing of a kind, the oldest first; visit may free the one that it gets. */
void thing_each(thing_kind kind, void (*visit)(void *which, void *state), void *state);

/* As the handle of a CUstream and the like. */
#define HANDLE(type, which) ((type)(uintptr_t)(which)->self.handle)

typedef struct context {
    thing self;
    int device;
    uint32_t references;               /* of a primary one; 0: made by cuCtxCreate */
    CUresult sticky;                   /* what all further calls answer; 0: it works */
    struct queue *legacy, *per_thread; /* the default streams; the latter is one for all threads */
} context;

/* ---- calls (control.c) ---- */

extern cuda_fake_control control;

typedef enum call_need {
    NEEDS_NOTHING = 0,
    NEEDS_INIT = 1,
    NEEDS_CONTEXT = 2, /* one that is current and works */
    IS_RELEASE = 4     /* no fault is put in unless it is named; done in a broken context too */
} call_need;

typedef struct call {
    const char *name; /* with a '+' in front */
    context *context;
    CUresult code;
    bool put_in; /* the code is the test's */
} call;

/* Begin a call: lock it, note it, see whether it may go on. false: it ends with here->code, which
 * call_end answers. Of releases in a broken context, context is set and code is the sticky error.
 */
bool call_begin(call *here, const char *name, unsigned needs, uint64_t bytes, const void *stream);
CUresult call_end(const call *here, CUresult code);

/* Code, with a text that control.refusal keeps. */
CUresult refuse(const call *here, CUresult code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A context breaks, with a text that control.fault keeps if it is the first. */
void fault(context *which, const char *call_name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void note_step(const char *name, uint64_t bytes, uint64_t stream);
bool is_sticky(CUresult code);
/* Host functions are called while the lock is held: what they may call does not take it again. */
void control_in_callback(bool inside);

context *context_current(CUresult *code); /* of this thread; NULL: *code says why (context.c) */

/* ---- order of work (queue.c) ---- */

/* Streams that are not done yet have a slot each. What is put into a stream has a position in its
 * slot, from 1 upwards; slots are used again, their positions are not. */
enum { SLOTS = 128 };
/* The work that is known to come before a point: of each slot, all up to a position. */
typedef struct order {
    uint64_t at[SLOTS];
} order;

typedef struct work work;
struct work {
    work *next;
    const char *name; /* of the call, with a '+' in front */
    context *context;
    uint64_t stream; /* handle, for the timeline */
    uint64_t bytes;
    uint32_t slot;
    uint64_t position;
    order known;
    /* before it may start, that position of that slot is done; 0: nothing */
    uint32_t wait_slot;
    uint64_t wait_position;
    void (*run)(work *which);    /* NULL: nothing to do. Not called in a broken context */
    void (*finish)(work *which); /* NULL: nothing; called in any case */
    union {
        struct {
            CUdeviceptr to, from;
            unsigned char *host_to;
            const unsigned char *host_from; /* NULL: staged */
            unsigned char *staged;
            unsigned value; /* of a fill */
            unsigned width; /* of its elements */
        } copy;
        struct {
            CUfunction function;
            unsigned grid[3], block[3], shared;
            unsigned char *params;
        } launch;
        struct {
            CUhostFn function;
            void *state;
        } host;
        CUdeviceptr released; /* of cuMemFreeAsync */
    } what;
};

typedef struct queue {
    thing self;
    uint32_t slot;
    unsigned flags;
    bool closed; /* destroyed, with work left */
    work *first, *last;
    order known;
} queue;

typedef struct event {
    thing self;
    unsigned flags;
    uint32_t slot;
    uint64_t position; /* 0: never recorded */
    order known;
} event;

/* The stream of a handle in the context of this call; default streams are 0, 1 and 2. NULL:
 * refused.
 */
queue *queue_stream(call *here, CUstream handle);
queue *queue_make(context *which, unsigned flags);
void queue_close(queue *which);
/* New work at the end of a stream. */
work *queue_add(const call *here, queue *to, uint64_t bytes, void (*run)(work *));
/* From here on, it goes on only when that position is done; known is what is before that. */
void queue_wait(const call *here, queue *who, uint32_t slot, uint64_t position, const order *known);
bool queue_done(uint32_t slot, uint64_t position);
uint64_t queue_position(const queue *which);        /* of the last work that was put into it */
void queue_step(uint32_t slot, uint64_t position);  /* do one task that leads there */
void queue_until(uint32_t slot, uint64_t position); /* and all of it */
void queue_all(const context *which);               /* all work of a context; NULL: of all */
void queue_forget(const context *which);            /* drop all that waits; NULL: of all contexts */
/* The host has seen that all of this is done: what it asks for from now on comes after. */
void order_seen(const order *what);

/* ---- memory (allocations.c, pinned.c, pool.c) ---- */

typedef struct pool {
    thing self;
    int device;
    bool destroyed;
    uint64_t threshold, reserved, used, reserved_high, used_high;
} pool;

typedef struct piece {
    uint64_t first; /* address of the device */
    uint64_t size;
    unsigned char *bytes;
    context *context; /* of plain memory; NULL: of a pool */
    pool *pool;
    int device;
    uint64_t number;
    void *reserved, *mapped; /* of the device's addresses, of the bytes */
    size_t reserved_size, mapped_size;
    /* of a pool: the work that allocates it, all that used it, and the work that frees it */
    uint32_t made_slot, freed_slot;
    uint64_t made_position, freed_position; /* 0: not freed yet */
    order used, freed_known;
} piece;

piece *piece_make(context *which, pool *from, int device, uint64_t size); /* NULL: no room */
void piece_free(piece *which);
piece *piece_find(uint64_t address);
/* All bytes within one live allocation that this call may name; NULL: refused. */
piece *piece_range(const call *here, uint64_t address, uint64_t size);
/* The same when work is done; NULL: the context is broken, control.fault says why. */
unsigned char *piece_reach(work *who, uint64_t address, uint64_t size);
/* Why this work may not use it, or NULL; notes the use. */
const char *piece_refuses(piece *which, const work *who);
/* Describes the memory at an address in words. */
void piece_describe(char text[160], uint64_t address);
void piece_free_of(const context *which); /* all of a context that ends */
uint64_t device_memory(int device);
uint64_t device_used(int device);
void device_added(int device, int64_t bytes);

/* Returns true if a range of host memory can be copied: it is not device memory, freed pinned
 * memory, or half pinned. */
bool host_fits(const void *host, uint64_t size, const char **why);
bool host_pinned(const void *host, context **owner, uint64_t *first, uint64_t *size);
void host_free_of(const context *which);

void pool_took(pool *which, uint64_t size);
void pool_gave(pool *which, uint64_t size);
void pool_keep(pool *which, uint64_t bytes); /* no more than that, or what is used */
void pools_shrink(int device, bool all);     /* to their thresholds, or to what is used */

void module_free_of(const context *which);
bool device_exists(CUdevice device);

#endif
