/* SPDX-License-Identifier: Apache-2.0
 * Plans and heads of blobs from anywhere. The input is a plan, whose size and checksum are put
 * right; one that is accepted is saved again, asked for its blocks, and when it is small, carried
 * out: its file must open. The first byte says how much is after the plan: that becomes the
 * sizes in the head of one of its blobs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "write/block_head.h"
#include "write/cog_plan_bytes.h"

enum { MAX_BLOCKS = 8, MAX_BYTES = 1 << 16 };

static bool made(tz_result result, const tz_error *err)
{
    check(result != TZ_ERR_INTERNAL && (result == TZ_OK || err->message[0] != '\0'));
    return result == TZ_OK;
}

/* ---- blocks ---- */

/* False when it is too large for a test. */
static bool is_small(const tz_cog_plan *plan)
{
    const tz_cog_plan_info *info = tz_cog_plan_get_info(plan);
    const tz_cog_level *image = tz_cog_plan_get_level(plan, 0);
    const uint64_t pixels = tz_mul_capped(image->width, image->height);
    const uint64_t tiles = tz_mul_capped(tz_mul_capped(image->tiles_across, image->tiles_down),
                                         (uint64_t)image->tile_width * image->tile_height);
    const uint64_t size = info->bands * tz_dtype_size(info->dtype);
    return info->block_count <= MAX_BLOCKS && tz_mul_capped(pixels, size) <= MAX_BYTES &&
           tz_mul_capped(tiles, size) <= 16 * (uint64_t)MAX_BYTES;
}

/* A buffer of zeros for a window. */
static tz_buffer zeros(tz_dtype dtype, uint32_t bands, const tz_window *window)
{
    const tz_buffer buffer = {
        .struct_size = sizeof(tz_buffer),
        .data = calloc((size_t)window->width * window->height * bands, tz_dtype_size(dtype)),
        .dtype = dtype,
        .bands = bands,
        .height = window->height,
        .width = window->width};
    check(buffer.data != NULL);
    return buffer;
}

static bool make_block(const tz_cog_plan *plan, uint32_t level, uint64_t block, tz_memory *blob)
{
    const tz_cog_plan_info *info = tz_cog_plan_get_info(plan);
    tz_error err;
    tz_cog_block what = TZ_COG_BLOCK_INIT;
    check(tz_cog_plan_get_block(&what, plan, level, block, &err) == TZ_OK);
    const tz_buffer pixels = zeros(info->dtype, info->bands, &what.window);
    const tz_buffer mask = zeros(TZ_DTYPE_UINT8, 1, &what.window);
    if (level > 0) {
        const tz_buffer from = zeros(info->dtype, info->bands, &what.source);
        const tz_buffer from_mask = zeros(TZ_DTYPE_UINT8, 1, &what.source);
        (void)made(tz_overview_block(plan, level, block, &from, info->mask ? &from_mask : NULL,
                                     &pixels, info->mask ? &mask : NULL, NULL, &err),
                   &err);
        free(from.data);
        free(from_mask.data);
    }
    const bool encoded = made(
        tz_encode_block(blob, plan, level, block, &pixels, info->mask ? &mask : NULL, NULL, &err),
        &err);
    free(pixels.data);
    free(mask.data);
    return encoded;
}

/* ---- the file ---- */

static void check_file(const tz_assembly *a, const tz_bytes *blobs, const tz_cog_plan_info *info)
{
    tz_error err;
    tz_file *file = NULL;
    uint8_t *data = calloc((size_t)a->file_size, 1);
    check(data != NULL);
    memcpy(data, a->front.data, a->front.size);
    for (size_t i = 0; i < a->blob_count; i++) {
        size_t count;
        const tz_copy_run *runs = tz_assembly_get_runs(&count, a, i);
        for (size_t k = 0; k < count; k++)
            memcpy(data + runs[k].file_offset, (const uint8_t *)blobs[i].data + runs[k].blob_offset,
                   (size_t)runs[k].size);
    }
    check(tz_open_memory(&file, data, (size_t)a->file_size, NULL, &err) == TZ_OK);
    check(tz_file_get_info(file)->level_count == info->level_count);
    tz_close(file);
    free(data);
}

static void assemble(const tz_cog_plan *plan, const tz_bytes *blobs, size_t count, bool whole)
{
    tz_error err;
    tz_assembly *a = NULL;
    if (!made(tz_assembly_create(&a, plan, blobs, count, &err), &err))
        return;
    if (whole)
        check_file(a, blobs, tz_cog_plan_get_info(plan));
    tz_assembly_free(a);
}

/* The head of a blob with other sizes, and a body to match or not. */
static void bend(const tz_cog_plan *plan, tz_bytes *blobs, size_t count, const uint8_t *data,
                 size_t size)
{
    const tz_context ctx = {.ifd = -1};
    tz_block_head head;
    check(tz_block_head_read(&head, blobs[0].data, blobs[0].size, &ctx) == TZ_OK && head.at);
    uint8_t *copy = malloc((size_t)head.size);
    check(copy != NULL);
    memcpy(copy, blobs[0].data, (size_t)head.size);
    const size_t capacity = (size_t)head.size - TZ_BLOB_HEADER;
    memcpy(copy + TZ_BLOB_HEADER, data, size < capacity ? size : capacity);
    head.at = copy;
    head.body = 0;
    for (uint64_t i = 0; i < head.tiles; i++)
        head.body +=
            tz_block_head_tile_size(&head, i) > 0 ? tz_block_head_tile_size(&head, i) + 8ull : 0;
    head.body -= size % 7 == 0; /* or not */
    tz_block_head_seal(copy, &head);
    const tz_bytes saved = blobs[0];
    blobs[0] = (tz_bytes){copy, (size_t)head.size};
    assemble(plan, blobs, count, false);
    blobs[0] = saved;
    free(copy);
}

static void carry_out(const tz_cog_plan *plan, const uint8_t *more, size_t size)
{
    const tz_cog_plan_info *info = tz_cog_plan_get_info(plan);
    tz_memory blobs[MAX_BLOCKS] = {{0}};
    tz_bytes heads[MAX_BLOCKS];
    size_t count = 0;
    bool all = true;
    for (uint32_t level = 0; level < info->level_count; level++)
        for (uint64_t i = 0; i < tz_cog_plan_get_level(plan, level)->block_count && all;
             i++, count++)
            all = make_block(plan, level, i, &blobs[count]);
    for (size_t i = 0; i < count; i++)
        heads[i] = (tz_bytes){blobs[i].data, blobs[i].size};
    if (all) {
        assemble(plan, heads, count, true);
        bend(plan, heads, count, more, size);
    }
    for (size_t i = 0; i < count; i++)
        tz_memory_free(&blobs[i]);
}

/* ---- the plan ---- */

static void use_plan(const tz_cog_plan *plan, const uint8_t *data, size_t size)
{
    const tz_cog_plan_info *info = tz_cog_plan_get_info(plan);
    tz_error err;
    tz_memory saved = {0};
    check(tz_cog_plan_save(&saved, plan, &err) == TZ_OK && saved.size == size &&
          memcmp(saved.data, data, size) == 0);
    tz_memory_free(&saved);
    for (uint32_t level = 0; level < info->level_count; level++) {
        const tz_cog_level *l = tz_cog_plan_get_level(plan, level);
        tz_cog_block last = TZ_COG_BLOCK_INIT;
        check(tz_cog_plan_get_block(&last, plan, level, l->block_count - 1, &err) == TZ_OK);
        check(last.window.column + last.window.width == l->width);
        check(last.window.row + last.window.height == l->height);
        check(tz_cog_plan_get_block(&last, plan, level, l->block_count, &err) == TZ_ERR_ARG);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t behind = size > 0 && data[0] < size ? data[0] : 0;
    const size_t plan_size = size > behind ? size - behind - 1 : 0;
    tz_blob_info block = TZ_BLOB_INFO_INIT;
    tz_cog_plan *plan = NULL;
    tz_error err = {.result = TZ_OK};
    (void)made(tz_blob_read_info(&block, data, size, &err), &err);
    if (plan_size < TZ_COG_PLAN_MIN_BYTES)
        return 0;
    uint8_t *copy = malloc(plan_size);
    check(copy != NULL);
    memcpy(copy, data + 1, plan_size);
    tz_cog_plan_seal(copy, plan_size);
    if (made(tz_cog_plan_load(&plan, copy, plan_size, NULL, &err), &err)) {
        use_plan(plan, copy, plan_size);
        if (is_small(plan))
            carry_out(plan, data + 1 + plan_size, behind);
    }
    tz_cog_plan_free(plan);
    free(copy);
    return 0;
}
