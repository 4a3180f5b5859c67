/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx/tests/ptx_nvcc.h"

#include <stdio.h>
#include <stdlib.h>

#include "ptx/ptx.h"

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s cannot be opened", path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    return text;
}

static bool find_buffer(void *state, uint64_t address, uint64_t *first, uint64_t *size,
                        void **bytes)
{
    const kernel_run *run = state;
    for (size_t i = 0; i < KERNEL_BUFFERS; i++) {
        *first = KERNEL_BUFFER(i);
        *size = run->buffers[i].size;
        *bytes = run->buffers[i].bytes;
        if (address - *first < *size)
            return true;
    }
    return false;
}

static void launch(const kernel_run *run, const ptx_module *module)
{
    uint64_t addresses[KERNEL_BUFFERS];
    ptx_memory memory = {(void *)(uintptr_t)run, find_buffer};
    ptx_launch launch = {.kernel = ptx_find_kernel(module, run->kernel),
                         .dynamic_shared = run->dynamic_shared,
                         .params = run->params != NULL ? run->params : addresses,
                         .memory = &memory};
    for (size_t i = 0; i < KERNEL_BUFFERS; i++)
        addresses[i] = KERNEL_BUFFER(i);
    for (size_t i = 0; i < 3; i++) {
        launch.grid[i] = run->grid[i] > 0 ? run->grid[i] : 1;
        launch.block[i] = run->block[i] > 0 ? run->block[i] : 1;
    }
    assert_non_null(launch.kernel);
    ptx_error error = {""};
    if (!ptx_run(&launch, &error))
        fail_msg("%s", error.text);
}

void kernel_check_runs(const kernel_run *run)
{
    char path[1000];
    snprintf(path, sizeof path, PTX_KERNELS "/%s.ptx", run->file);
    char *text = read_text(path);
    ptx_error error = {""};
    ptx_module *module = ptx_load(text, &error);
    free(text);
    if (module == NULL)
        fail_msg("%s: %s", run->file, error.text);
    launch(run, module);
    ptx_unload(module);
}

uint64_t kernel_operand(uint32_t number, uint32_t seed)
{
    static const uint64_t extremes[] = {0,
                                        1,
                                        2,
                                        UINT64_MAX,
                                        INT64_MAX,
                                        (uint64_t)1 << 63,
                                        UINT32_MAX,
                                        INT32_MAX,
                                        (uint64_t)1 << 31,
                                        (uint64_t)1 << 32,
                                        0x8000000080000000,
                                        0x00FF00FF00FF00FF,
                                        31,
                                        32,
                                        33,
                                        0xFFFFFFFF00000000};
    enum { COUNT = sizeof extremes / sizeof *extremes };
    if (number < COUNT * COUNT)
        return extremes[seed % 2 ? number % COUNT : number / COUNT];
    uint64_t x = ((uint64_t)seed << 32 | number) * 0x9E3779B97F4A7C15;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    x ^= x >> 31;
    return number % 3 == 0 ? x >> x % 64 : x;
}
