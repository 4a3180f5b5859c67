/* SPDX-License-Identifier: Apache-2.0
 * Real files whose reads meet at a gate: a pread returns only once as many calls as the gate is
 * wide are inside, or all that are still to come. Each time the gate opens is a round: a disk that
 * serves so many reads at a time, each in the same time. Nothing sleeps. A gate that does not open
 * within the deadline has failed, and is open from then on. */
#ifndef TESTS_SUPPORT_GATED_FILE_H
#define TESTS_SUPPORT_GATED_FILE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct gate_result {
    uint64_t reads, rounds;
    uint64_t largest; /* bytes that one pread was asked for */
    uint64_t smallest;
    bool failed;
} gate_result;

/* Files as on a disk: nothing of them is in the system's memory, up to gate_end. */
void gate_uncached(void);
/* From now on preads of the library that begin in [from, to) pass the gate; reads of them come. */
void gate_begin(unsigned width, uint64_t reads, uint64_t from, uint64_t to);
/* The same range of offsets again, for other reads. */
void gate_restart(unsigned width, uint64_t reads);
/* The real system calls again. */
gate_result gate_end(void);

#endif
