/* SPDX-License-Identifier: Apache-2.0
 * Records the functions that a program enters, in the order in which each is entered first.
 *
 * The program is compiled with -finstrument-functions and started with this library preloaded: gcc
 * then calls __cyg_profile_func_enter at every entry. A hash table keeps the functions that were
 * seen, each with its first caller. When the program ends, they are written to the file that
 * TERRAZZO_TOUR names, a line each: both addresses relative to the program, in hexadecimal.
 *
 * Nothing here may be instrumented, and nothing may allocate: malloc could be on the stack already.
 */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SLOTS (1u << 15) /* several times the number of functions in the program */

static struct {
    uintptr_t function, caller;
} seen[SLOTS];
static uint32_t order[SLOTS];
static uint32_t count;
static uintptr_t base;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int find_base(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    base = info->dlpi_addr;
    return 1; /* the program is the first object */
}

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
    pthread_mutex_lock(&lock);
    uint32_t slot = (uint32_t)((uintptr_t)function >> 2) * 2654435761u % SLOTS;
    while (seen[slot].function && seen[slot].function != (uintptr_t)function)
        slot = (slot + 1) % SLOTS;
    if (!seen[slot].function && count < SLOTS / 2) {
        seen[slot].function = (uintptr_t)function;
        seen[slot].caller = (uintptr_t)caller;
        order[count++] = slot;
    }
    pthread_mutex_unlock(&lock);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function;
    (void)caller;
}

__attribute__((destructor)) static void write_list(void)
{
    const char *path = getenv("TERRAZZO_TOUR");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out)
        return;
    dl_iterate_phdr(find_base, NULL);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%lx %lx\n", (unsigned long)(seen[order[i]].function - base),
                (unsigned long)(seen[order[i]].caller - 1 - base));
    fclose(out);
}
