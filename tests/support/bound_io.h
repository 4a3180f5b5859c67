/* SPDX-License-Identifier: Apache-2.0
 * A source and a sink in memory that belong to the thread that makes them: with caller_thread set,
 * a call on any other thread ends the test program. Without it they are for any thread. */
#ifndef TESTS_SUPPORT_BOUND_IO_H
#define TESTS_SUPPORT_BOUND_IO_H

#include <pthread.h>
#include <stdatomic.h>
#include <terrazzo/terrazzo.h>

/* Set base.caller_thread and the hints before it is used. The counts may be read between calls. */
typedef struct bound_source {
    tz_source base;
    pthread_t owner;
    const uint8_t *data; /* the caller's, which stays */
    bool deferred;       /* bytes come with wait; else with submit */
    bool slow;           /* wait takes a millisecond */
    /* Ranges that touch these bytes fail with TZ_ERR_IO, each time. */
    uint64_t bad_from, bad_to;
    bool bad_in_wait;   /* the failure comes with wait */
    uint64_t fail_call; /* this call of submit or wait fails, counted from 1; 0: none */
    /* A submit of these bytes waits until another thread than that of the source has called. */
    uint64_t shared_from, shared_to;
    atomic_bool was_called_elsewhere;
    atomic_ullong calls;
    atomic_ullong submits; /* that succeeded */
    atomic_ullong waits;
    atomic_ullong ranges;
    atomic_ullong largest; /* bytes of a range */
    atomic_ullong in_flight, max_in_flight;
    atomic_ullong prefetches; /* calls */
    atomic_ullong promised;   /* ranges of these */
} bound_source;

/* Never fails. Release it by tz_close of a file, or by base.close. */
bound_source *bound_source_new(const void *data, size_t size);

/* Makes prefetch count; it is NULL otherwise. */
void bound_source_count_prefetches(bound_source *source);

/* Opens it, with or without the flag, and ends the program if that fails. */
tz_file *bound_open(bound_source *source, bool caller_thread);

typedef struct bound_sink {
    tz_sink base;
    pthread_t owner;
    uint8_t *data;
    size_t size;
    size_t capacity;
    uint64_t fail_call; /* this call of a function fails, counted from 1; 0: none */
    uint64_t calls;
    bool committed;
} bound_sink;

/* On the stack of the test: close releases the data, unless the write was committed. */
void bound_sink_init(bound_sink *sink, bool caller_thread, bool inserts);

/* Ends the program with a message if this is not the thread. */
void bound_check_thread(pthread_t owner, const char *what);

#endif
