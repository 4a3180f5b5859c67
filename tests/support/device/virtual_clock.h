/* SPDX-License-Identifier: Apache-2.0
 * A clock that calls move on, and nothing else: what a timeline of the fake of libcuda would take
 * where each call has a price. It shows the saving by batches, the same each time; it is not a
 * measurement.
 *
 * The host does one thing at a time; each stream too; so does the bus, in each direction; reads of
 * files are done by servers, as many at a time as there are. What kernels and codecs compute is
 * free: it is the same however they are called. Changes of the current context are free, too. Where
 * the timeline does not say what is waited for, all is. */
#ifndef TESTS_SUPPORT_DEVICE_VIRTUAL_CLOCK_H
#define TESTS_SUPPORT_DEVICE_VIRTUAL_CLOCK_H

#include "fakes/cuda/cuda_fake.h"

/* In microseconds. */
typedef struct vclock_prices {
    double call;       /* of any function, for the host */
    double allocation; /* beyond that */
    double pinned; /* and a mebibyte of the host that is pinned: its pages are locked one by one */
    double copy;   /* on the bus, before its first byte */
    double mebibyte; /* on the bus */
    double launch;   /* for the stream */
    double read;     /* of a file, for a server */
    unsigned servers;
} vclock_prices;

/* 2 us a call, 5 us an allocation and 0.25 ms a pinned mebibyte, 8 us a copy and 12 GB/s, 5 us a
 * launch, 1 ms a read, 8 servers.
 */
extern const vclock_prices vclock_usual;

enum { VCLOCK_STREAMS = 16, VCLOCK_SERVERS = 64 };
typedef struct vclock {
    vclock_prices prices;
    double now; /* of the host */
    double bus[2];
    double servers[VCLOCK_SERVERS];
    double reads; /* when all that were submitted are done */
    struct {
        uint64_t stream;
        double free;
    } streams[VCLOCK_STREAMS];
    unsigned stream_count;
} vclock;

vclock vclock_start(const vclock_prices *prices);

/* Reads of files, one by one or several at once; and waiting for all of them. */
void vclock_submit(vclock *clock, uint64_t reads);
void vclock_wait(vclock *clock);

/* One call. Work that a stream does later was counted when it was called. */
void vclock_step(vclock *clock, const cuda_fake_step *step);

/* Kinds of calls; what is none of them is VCLOCK_OTHER. */
enum {
    VCLOCK_ALLOCATION = 1,
    VCLOCK_UPLOAD = 2,
    VCLOCK_DOWNLOAD = 4,
    VCLOCK_WAIT = 8, /* of the host, for streams */
    VCLOCK_READ = 16,
    VCLOCK_OTHER = 32,
    VCLOCK_ALL = 63
};
unsigned vclock_kind(const cuda_fake_step *step);

typedef struct vclock_sum {
    double microseconds;
    size_t calls;
} vclock_sum;
/* Returns the time of the recorded calls of some kinds, as if there were no others. */
vclock_sum vclock_of(const cuda_fake_control *control, const vclock_prices *prices, unsigned kinds);

#endif
