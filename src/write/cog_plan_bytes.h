/* SPDX-License-Identifier: Apache-2.0
 * The plan of a distributed COG as bytes that other processes can be given: specification, options
 * and size of blocks. The format is in doc/blocks.md. */
#ifndef TZ_WRITE_COG_PLAN_BYTES_H
#define TZ_WRITE_COG_PLAN_BYTES_H

#include "base/arena.h"
#include "base/error.h"

/* Everything that the bytes of the file depend on. Memory and threads are not part of it: each
 * process has its own. */
typedef struct tz_cog_plan_params {
    tz_image_spec spec;
    tz_write_options options;
    uint32_t block_tiles; /* across and down */
    bool wants_statistics;
} tz_cog_plan_params;

/* Parameters that were read, with their memory. */
typedef struct tz_cog_plan_parsed {
    tz_cog_plan_params params;
    tz_geo geo;
    tz_arena arena;
} tz_cog_plan_parsed;

/* *out is allocated by tz_alloc. Counts and pointers of params must be valid, and the structs that
 * spec points to of this version. Of spec.geo only
 * transform, control points, keys and RPC are stored, so its keys must be complete. */
tz_result tz_cog_plan_to_bytes(tz_memory *out, const tz_cog_plan_params *params,
                               const tz_context *ctx);

/* Checks the form only; tz_image_init checks the specification. *out does not refer to data. The
 * caller releases out->arena, also after a failure. */
tz_result tz_cog_plan_from_bytes(tz_cog_plan_parsed *out, const uint8_t *data, size_t size,
                                 const tz_context *ctx);

/* Writes size and checksum into complete bytes. */
void tz_cog_plan_seal(uint8_t *data, size_t size);

/* The checksum in valid bytes, by which blocks name their plan. */
uint64_t tz_cog_plan_fingerprint(const uint8_t *data, size_t size);

/* Fails at an offset of a plan, or of the head of a block; TZ_NO_VALUE: nothing was expected or
 * found.
 */
tz_result tz_fail_plan_bytes(const tz_context *ctx, tz_result result, uint64_t offset,
                             uint64_t expected, uint64_t found, const char *what);

/* FNV-1a of 64 bits; before: that of earlier bytes. */
#define TZ_FNV1A_INIT UINT64_C(0xcbf29ce484222325)
uint64_t tz_fnv1a(uint64_t before, const uint8_t *data, size_t size);

enum { TZ_COG_PLAN_MIN_BYTES = 32 }; /* bytes without fields */

#endif
