/* SPDX-License-Identifier: Apache-2.0
 * What is to be written, as a value that other processes can be given: specification, options and
 * size of blocks, in bytes and back. The format is in doc/blocks.md. */
#ifndef TZ_WRITE_COG_PLAN_BYTES_H
#define TZ_WRITE_COG_PLAN_BYTES_H

#include "base/arena.h"
#include "base/error.h"

/* What bytes of a file depend on, and no more: how much memory or how many threads is for each
 * process to say. */
typedef struct tz_cog_plan_params {
    tz_image_spec spec;
    tz_write_options options;
    uint32_t block_tiles;  /* across and down */
    bool wants_statistics; /* statistics are gathered */
} tz_cog_plan_params;

/* What the parts that are read live in. */
typedef struct tz_cog_plan_parsed {
    tz_cog_plan_params params;
    tz_geo geo;
    tz_arena arena;
} tz_cog_plan_parsed;

/* *out is made by tz_alloc. Counts and pointers of the value are in order; of geo only transform,
 * control points, keys and RPC are kept, so its keys must say all that it says. */
tz_result tz_cog_plan_to_bytes(tz_memory *out, const tz_cog_plan_params *value,
                               const tz_context *ctx);

/* Nothing but the form is checked: whether there can be such an image is for tz_image_init to say.
 * The holder needs the bytes no longer; its arena is the caller's to release, also after a failure.
 */
tz_result tz_cog_plan_from_bytes(tz_cog_plan_parsed *out, const uint8_t *data, size_t size,
                                 const tz_context *ctx);

/* Put size and checksum where they belong; there is room for both. */
void tz_cog_plan_seal(uint8_t *data, size_t size);

/* What blocks name their plan by: the checksum of its bytes, which were read or written here. */
uint64_t tz_cog_plan_fingerprint(const uint8_t *data, size_t size);

/* FNV-1a of 64 bits, goes on from the one of the bytes before. */
#define TZ_FNV1A_INIT UINT64_C(0xcbf29ce484222325)
uint64_t tz_fnv1a(uint64_t before, const uint8_t *data, size_t size);

enum { TZ_COG_PLAN_MIN_BYTES = 32 }; /* bytes around the fields */

#endif
