/* SPDX-License-Identifier: Apache-2.0
 * --memory bounds the whole process. The program itself, its libraries and its threads take a part
 * of it; the library gets the rest to plan with. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <terrazzo/terrazzo.h>

typedef struct memory_share {
    uint64_t given; /* --memory */
    uint64_t base;  /* of that, for the program; 0 with a device, where only buffers are bounded */
    uint64_t work;  /* the rest; 0: none is left */
} memory_share;

/* Measures the memory that the process has now. threads 0: one for each core. */
memory_share memory_divide(uint64_t given, uint32_t threads, bool on_device);

/* Makes the error of a command that needs more memory, with the least --memory that suffices. */
tz_result memory_refuse(const memory_share *share, uint64_t work, tz_error *err);

/* Returns true if a read failed for its max_host_bytes; err->found is then the least that suffices.
 */
bool memory_is_short(const tz_error *err);

/* Returns the least max_host_bytes for such a read. */
uint64_t memory_needed(const tz_error *err, uint64_t max_host_bytes);

/* Returns the least bytes that a read needs; 0: not known. Reads tile tables, but no tile. */
uint64_t memory_to_read(const tz_item *items, size_t count, const tz_read_options *how);

/* Makes the error of a command that divides its share into halves, one for a block of pixels and
 * one for reading. A block that cannot be so small may have taken more than half. */
tz_result memory_refuse_blocks(const memory_share *share, uint64_t pixels, uint64_t reading,
                               tz_error *err);

#endif
