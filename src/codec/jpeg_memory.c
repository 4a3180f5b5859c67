/* SPDX-License-Identifier: Apache-2.0
 * libjpeg asks for memory in two pools: one that lives as long as its object (tables), and one that
 * is released after every image. The second is a bump allocator whose block is kept; when
 * an image needed several blocks, the next one starts with a block as large as all of them.
 *
 * "Virtual" arrays of all coefficients (to decode images with many scans, and to encode with
 * Huffman tables of their own) are asked for as a whole, so they are ordinary arrays here too.
 *
 * libjpeg calls error_exit when something fails and does not expect it to return: the guard's jumps
 * back to tz_jpeg_guard_run. All memory is in the pools, so nothing is lost by that. */
#include "codec/jpeg_memory.h"

#include <string.h>

#include <jerror.h>

#include "base/mem.h"

enum {
    ALIGNMENT = 64, /* libjpeg-turbo wants 32 */
    /* bytes of the smallest block of either pool */
    IMAGE_BLOCK = 1 << 16,
    PERMANENT_BLOCK = 1 << 12
};

struct tz_jpeg_pool_block {
    tz_jpeg_pool_block *next;
    size_t used; /* of capacity, from start */
    size_t capacity;
    uint8_t *start;
};

struct jvirt_barray_control {
    JBLOCKARRAY rows; /* NULL until realized */
    JDIMENSION width;
    JDIMENSION height;
    boolean zeroed;
    struct jvirt_barray_control *next;
};

/* Notes the failure for tz_jpeg_guard_fail, and leaves libjpeg. */
_Noreturn static void fail_allocation(j_common_ptr cinfo, size_t size, bool over_limit)
{
    tz_jpeg_memory *memory = cinfo->client_data;
    memory->refused = size;
    memory->over_limit = over_limit;
    cinfo->err->msg_code = JERR_OUT_OF_MEMORY;
    cinfo->err->msg_parm.i[0] = 0;
    cinfo->err->error_exit(cinfo);
    for (;;) /* error_exit does not return */
        ;
}

static size_t round_up_size(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

static void free_pool_blocks(tz_jpeg_pool_block **list)
{
    while (*list) {
        tz_jpeg_pool_block *next = (*list)->next;
        tz_free(*list);
        *list = next;
    }
}

/* Allocates from the newest block of a pool, or from a new block in front of it. The first block of
 * an image is as large as all blocks of the last image together; the limit is for images alone,
 * because no file decides the size of the tables. */
static void *pool_alloc(j_common_ptr cinfo, int pool, size_t size)
{
    tz_jpeg_memory *memory = cinfo->client_data;
    const bool is_image = pool != JPOOL_PERMANENT;
    tz_jpeg_pool_block **list = is_image ? &memory->image : &memory->permanent;
    tz_jpeg_pool_block *block = *list;
    if (size > SIZE_MAX / 2)
        fail_allocation(cinfo, size, true);
    size = round_up_size(size, ALIGNMENT);
    if (!block || block->capacity - block->used < size) {
        size_t capacity = tz_max_size(size, is_image ? IMAGE_BLOCK : PERMANENT_BLOCK);
        if (is_image && !block && memory->wanted > capacity && memory->wanted <= memory->limit)
            capacity = memory->wanted;
        if (is_image && (capacity > memory->limit || memory->image_held > memory->limit - capacity))
            fail_allocation(cinfo, memory->image_held + capacity, true);
        block = tz_alloc(capacity + round_up_size(sizeof *block, ALIGNMENT) + ALIGNMENT);
        if (!block)
            fail_allocation(cinfo, capacity, false);
        const uintptr_t start = round_up_size((uintptr_t)(block + 1), ALIGNMENT);
        *block =
            (tz_jpeg_pool_block){*list, 0, capacity, (uint8_t *)block + (start - (uintptr_t)block)};
        *list = block;
        memory->image_held += is_image ? capacity : 0;
    }
    void *allocated = block->start + block->used;
    block->used += size;
    return allocated;
}

/* Allocates rows of row_size bytes, one after the other, and pointers to them. */
static void **alloc_rows(j_common_ptr cinfo, int pool, size_t row_size, size_t count)
{
    size_t size, pointers_size;
    /* SIMD code works in steps of two vectors */
    if (row_size > SIZE_MAX / 4 ||
        !tz_size_mul(round_up_size(row_size, 2 * ALIGNMENT), count, &size) ||
        !tz_size_mul(count, sizeof(void *), &pointers_size))
        fail_allocation(cinfo, SIZE_MAX, true);
    void **rows = pool_alloc(cinfo, pool, pointers_size);
    uint8_t *data = pool_alloc(cinfo, pool, size);
    for (size_t i = 0; i < count; i++)
        rows[i] = data + i * round_up_size(row_size, 2 * ALIGNMENT);
    return rows;
}

/* Arrays of samples have the type that fits the image, not that of the pointer. */
static JSAMPARRAY alloc_samples(j_common_ptr cinfo, int pool, JDIMENSION width, JDIMENSION height)
{
    size_t sample_size = sizeof(JSAMPLE);
#if TZ_JPEG_HAS_12_BITS
    if ((cinfo->is_decompressor ? ((j_decompress_ptr)cinfo)->data_precision
                                : ((j_compress_ptr)cinfo)->data_precision) > 8)
        sample_size = sizeof(J12SAMPLE);
#endif
    return (JSAMPARRAY)alloc_rows(cinfo, pool, width * sample_size, height);
}

static JBLOCKARRAY alloc_blocks(j_common_ptr cinfo, int pool, JDIMENSION width, JDIMENSION height)
{
    return (JBLOCKARRAY)alloc_rows(cinfo, pool, (size_t)width * sizeof(JBLOCK), height);
}

/* ---------------------------------------------------------------------------------------------
 * Virtual arrays
 * ------------------------------------------------------------------------------------------ */

/* Arrays are requested first and allocated together, when libjpeg knows all that it needs. */
static jvirt_barray_ptr request_blocks(j_common_ptr cinfo, int pool, boolean zeroed,
                                       JDIMENSION width, JDIMENSION height, JDIMENSION access)
{
    (void)access;
    tz_jpeg_memory *memory = cinfo->client_data;
    struct jvirt_barray_control *array = pool_alloc(cinfo, pool, sizeof *array);
    *array = (struct jvirt_barray_control){NULL, width, height, zeroed, memory->arrays};
    memory->arrays = array;
    return array;
}

static void realize_arrays(j_common_ptr cinfo)
{
    tz_jpeg_memory *memory = cinfo->client_data;
    for (struct jvirt_barray_control *array = memory->arrays; array; array = array->next) {
        array->rows = alloc_blocks(cinfo, JPOOL_IMAGE, array->width, array->height);
        if (array->zeroed)
            for (JDIMENSION i = 0; i < array->height; i++)
                memset(array->rows[i], 0, array->width * sizeof(JBLOCK));
    }
    memory->arrays = NULL;
}

static JBLOCKARRAY access_blocks(j_common_ptr cinfo, jvirt_barray_ptr array, JDIMENSION start,
                                 JDIMENSION count, boolean writable)
{
    (void)writable;
    if (!array->rows || start > array->height || count > array->height - start) {
        cinfo->err->msg_code = JERR_BAD_VIRTUAL_ACCESS;
        cinfo->err->error_exit(cinfo);
    }
    return array->rows + start;
}

/* ---------------------------------------------------------------------------------------------
 * Pools
 * ------------------------------------------------------------------------------------------ */

/* After an image that needed several blocks, one block of their size is to replace them. It is
 * allocated with the next image, since this function cannot fail. */
static void free_pool(j_common_ptr cinfo, int pool)
{
    tz_jpeg_memory *memory = cinfo->client_data;
    if (pool != JPOOL_IMAGE)
        return;
    memory->arrays = NULL;
    if (memory->image && !memory->image->next) {
        memory->image->used = 0;
        return;
    }
    free_pool_blocks(&memory->image);
    memory->wanted = memory->image_held;
    memory->image_held = 0;
}

/* No function for virtual arrays of samples, which only two-pass colour quantization asks for, and
 * none that ends the manager, since tz_jpeg_memory_deinit restores libjpeg's before jpeg_destroy.
 */
void tz_jpeg_memory_init(tz_jpeg_memory *memory, j_common_ptr cinfo)
{
    *memory = (tz_jpeg_memory){.library = cinfo->mem, .limit = UINT64_MAX};
    memory->manager = (struct jpeg_memory_mgr){.alloc_small = pool_alloc,
                                               .alloc_large = pool_alloc,
                                               .alloc_sarray = alloc_samples,
                                               .alloc_barray = alloc_blocks,
                                               .request_virt_barray = request_blocks,
                                               .realize_virt_arrays = realize_arrays,
                                               .access_virt_barray = access_blocks,
                                               .free_pool = free_pool,
                                               .max_alloc_chunk = 1000000000L};
    cinfo->mem = &memory->manager;
}

void tz_jpeg_memory_begin(tz_jpeg_memory *memory, uint64_t limit)
{
    memory->limit = limit;
    memory->refused = 0;
    memory->over_limit = false;
}

void tz_jpeg_memory_deinit(tz_jpeg_memory *memory, j_common_ptr cinfo)
{
    cinfo->mem = memory->library;
    free_pool_blocks(&memory->image);
    free_pool_blocks(&memory->permanent);
}

/* ---------------------------------------------------------------------------------------------
 * The guard: libjpeg's errors made ours
 * ------------------------------------------------------------------------------------------ */

_Noreturn static void on_jpeg_error(j_common_ptr cinfo)
{
    tz_jpeg_guard *guard = cinfo->client_data;
    cinfo->err->format_message(cinfo, guard->text);
    longjmp(guard->jump, 1);
}

/* libjpeg's own function counts warnings and prints the first. */
static void on_jpeg_message(j_common_ptr cinfo, int level)
{
    if (level >= 0)
        return; /* a trace */
    tz_jpeg_guard *guard = cinfo->client_data;
    if (guard->is_fatal && guard->is_fatal(cinfo->err->msg_code))
        on_jpeg_error(cinfo);
    if (guard->text[0] == '\0')
        cinfo->err->format_message(cinfo, guard->text);
}

void tz_jpeg_guard_init(tz_jpeg_guard *guard, j_common_ptr cinfo)
{
    cinfo->err = jpeg_std_error(&guard->errors);
    guard->errors.error_exit = on_jpeg_error;
    guard->errors.emit_message = on_jpeg_message;
    cinfo->client_data = guard;
}

bool tz_jpeg_guard_run(tz_jpeg_guard *guard, void (*step)(void *user), void *user)
{
    guard->text[0] = '\0';
    if (setjmp(guard->jump) != 0)
        return false;
    step(user);
    return true;
}

tz_result tz_jpeg_guard_fail(const tz_jpeg_guard *guard, const tz_codec_call *call)
{
    const tz_jpeg_memory *memory = &guard->memory;
    if (memory->over_limit)
        return tz_codec_check_memory(call, memory->refused, "bytes of memory for libjpeg");
    if (memory->refused)
        return tz_fail_nomem(call->ctx, memory->refused);
    return tz_codec_fail(call, "JPEG: %s", guard->text);
}
