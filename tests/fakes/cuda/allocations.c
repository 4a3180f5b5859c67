/* SPDX-License-Identifier: Apache-2.0
 * Pieces of device memory. Their addresses are pages that nobody ever may touch; their bytes are in
 * a mapping of their own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fakes/cuda/state.h"

enum { PAGE = 4096, ALIGNMENT = 256, KEPT = 256, FRESH = 0xa5, PATTERN = 4 << 20 };

static piece **pieces; /* in the order of addresses */
static size_t count, room;
static uint64_t last_number;

/* Addresses of allocations that are freed stay reserved for a while, so that a later use is an
 * error and does not reach another allocation. */
typedef struct ghost {
    uint64_t first, size;
    void *reserved;
    size_t reserved_size;
} ghost;
static ghost ghosts[KEPT];
static size_t next_ghost;

/* A number below limit, the same in each run. */
static uint64_t some_number(uint64_t limit)
{
    static uint64_t state = 0x9e3779b97f4a7c15u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % limit;
}

static void *map(size_t size, int protection)
{
    void *made = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return made == MAP_FAILED ? NULL : made;
}

static _Noreturn void give_up(uint64_t size)
{
    fprintf(stderr, "the fake of CUDA: no %llu bytes to be had\n", (unsigned long long)size);
    abort();
}

/* A file filled like fresh memory. */
static int pattern_file(void)
{
    static int file = -1;
    if (file >= 0)
        return file;
    file = memfd_create("fresh memory", MFD_CLOEXEC);
    void *bytes = MAP_FAILED;
    if (file >= 0 && ftruncate(file, PATTERN) == 0)
        bytes = mmap(NULL, PATTERN, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED)
        give_up(PATTERN);
    memset(bytes, FRESH, PATTERN);
    munmap(bytes, PATTERN);
    return file;
}

/* Fresh memory, page by page as it is touched: large allocations cost what is used of them. */
static void *map_fresh(size_t size)
{
    unsigned char *made = map(size, PROT_READ | PROT_WRITE);
    if (made && size < PATTERN)
        memset(made, FRESH, size);
    for (size_t at = 0; made && size >= PATTERN && at < size; at += PATTERN) {
        const size_t part = size - at < PATTERN ? size - at : PATTERN;
        if (mmap(made + at, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                 pattern_file(), 0) == MAP_FAILED)
            give_up(size);
    }
    return made;
}

/* Index of the first allocation that begins after address. */
static size_t place_after(uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (pieces[middle]->first <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void put(piece *made)
{
    if (count == room) {
        room = room ? 2 * room : 64;
        pieces = realloc(pieces, room * sizeof(piece *));
    }
    const size_t place = place_after(made->first);
    memmove(pieces + place + 1, pieces + place, (count - place) * sizeof(piece *));
    pieces[place] = made;
    count++;
}

/* Guard pages before and after; within, a base that is aligned to 256 bytes but rarely to pages. */
static void reserve(piece *made)
{
    const uint64_t pages = (made->size + PAGE - 1) / PAGE + 3 + some_number(16);
    const uint64_t slack = (pages - 2) * PAGE - made->size;
    const uint64_t shift = some_number(slack / ALIGNMENT + 1) * ALIGNMENT;
    made->reserved_size = (size_t)pages * PAGE;
    made->reserved = map(made->reserved_size, PROT_NONE);
    made->mapped_size = (size_t)(shift % PAGE + made->size);
    made->mapped = made->reserved ? map_fresh(made->mapped_size) : NULL;
    if (!made->mapped)
        give_up(made->size);
    made->first = (uintptr_t)made->reserved + PAGE + shift;
    made->bytes = (unsigned char *)made->mapped + shift % PAGE;
}

/* Room on the device, if need be by what pools hold for nothing, and by frees that wait. */
static bool has_room(const context *which, const pool *from, int device, uint64_t size)
{
    const uint64_t memory = device_memory(device);
    const uint64_t spare = from ? from->reserved - from->used : 0;
    if (size <= spare || device_used(device) + size - spare <= memory)
        return true;
    pools_shrink(device, true);
    if (device_used(device) + size <= memory)
        return true;
    queue_all(which);
    pools_shrink(device, true);
    return device_used(device) + size <= memory;
}

piece *piece_make(context *which, pool *from, int device, uint64_t size)
{
    if (size > device_memory(device) || !has_room(which, from, device, size))
        return NULL;
    piece *made = calloc(1, sizeof *made);
    made->size = size;
    made->context = from ? NULL : which;
    made->pool = from;
    made->device = device;
    made->number = ++last_number;
    reserve(made);
    put(made);
    if (from)
        pool_took(from, size);
    else
        device_added(device, (int64_t)size);
    control.live++;
    control.bytes += size;
    if (control.peak_bytes < control.bytes)
        control.peak_bytes = control.bytes;
    return made;
}

static void become_ghost(const piece *which)
{
    ghost *kept = &ghosts[next_ghost++ % KEPT];
    if (kept->reserved)
        munmap(kept->reserved, kept->reserved_size);
    *kept = (ghost){which->first, which->size, which->reserved, which->reserved_size};
}

void piece_free(piece *which)
{
    const size_t place = place_after(which->first) - 1;
    memmove(pieces + place, pieces + place + 1, (count - place - 1) * sizeof(piece *));
    count--;
    munmap(which->mapped, which->mapped_size);
    become_ghost(which);
    if (which->pool)
        pool_gave(which->pool, which->size);
    else
        device_added(which->device, -(int64_t)which->size);
    control.live--;
    control.bytes -= which->size;
    free(which);
}

/* Memory that its owner did not free keeps counting as live. */
void piece_free_of(const context *which)
{
    for (size_t i = count; i-- > 0;) {
        if (pieces[i]->context != which)
            continue;
        control.live++;
        control.bytes += pieces[i]->size;
        piece_free(pieces[i]);
    }
}

piece *piece_find(uint64_t address)
{
    const size_t place = place_after(address);
    piece *before = place > 0 ? pieces[place - 1] : NULL;
    return before && address - before->first < before->size ? before : NULL;
}

void piece_describe(char text[160], uint64_t address)
{
    const size_t place = place_after(address);
    const piece *before = place > 0 ? pieces[place - 1] : NULL;
    for (size_t i = 0; i < KEPT; i++) {
        if (ghosts[i].reserved && address - ghosts[i].first < ghosts[i].size) {
            snprintf(text, 160, "%#llx is in memory that was freed: %llu bytes at %#llx",
                     (unsigned long long)address, (unsigned long long)ghosts[i].size,
                     (unsigned long long)ghosts[i].first);
            return;
        }
    }
    if (before && address < (uintptr_t)before->reserved + before->reserved_size)
        snprintf(text, 160, "%#llx is %llu bytes past the end of %llu bytes at %#llx",
                 (unsigned long long)address,
                 (unsigned long long)(address - before->first - before->size),
                 (unsigned long long)before->size, (unsigned long long)before->first);
    else
        snprintf(text, 160, "%#llx is in no memory of the device", (unsigned long long)address);
}

static bool within(const piece *found, uint64_t address, uint64_t size)
{
    return size <= found->first + found->size - address;
}

piece *piece_range(const call *here, uint64_t address, uint64_t size)
{
    char text[160];
    piece *found = piece_find(address);
    if (!found) {
        piece_describe(text, address);
        refuse(here, INVALID_VALUE, "%s", text);
        return NULL;
    }
    if (!within(found, address, size)) {
        refuse(here, INVALID_VALUE, "%llu bytes at %#llx, of %llu at %#llx",
               (unsigned long long)size, (unsigned long long)address,
               (unsigned long long)found->size, (unsigned long long)found->first);
        return NULL;
    }
    if (found->device != here->context->device ||
        (found->context && found->context != here->context)) {
        refuse(here, INVALID_VALUE, "%#llx is memory of another context",
               (unsigned long long)address);
        return NULL;
    }
    if (found->freed_position > 0) {
        refuse(here, INVALID_VALUE, "%#llx was given to cuMemFreeAsync",
               (unsigned long long)address);
        return NULL;
    }
    return found;
}

const char *piece_refuses(piece *which, const work *who)
{
    if (which->device != who->context->device || (which->context && which->context != who->context))
        return "it is memory of another context";
    if (!which->pool)
        return NULL;
    if (who->known.at[which->made_slot] < which->made_position)
        return "it is used on a stream that is not ordered after its allocation";
    if (which->freed_position > 0 && which->freed_known.at[who->slot] < who->position)
        return "its cuMemFreeAsync is not ordered after this use";
    which->used.at[who->slot] = who->position;
    return NULL;
}

unsigned char *piece_reach(work *who, uint64_t address, uint64_t size)
{
    char text[160];
    piece *found = piece_find(address);
    if (!found) {
        piece_describe(text, address);
        fault(who->context, who->name, "%s", text);
        return NULL;
    }
    const char *why = within(found, address, size) ? piece_refuses(found, who) : "it ends before";
    if (why) {
        fault(who->context, who->name, "%llu bytes at %#llx: %s", (unsigned long long)size,
              (unsigned long long)address, why);
        return NULL;
    }
    return found->bytes + (address - found->first);
}
