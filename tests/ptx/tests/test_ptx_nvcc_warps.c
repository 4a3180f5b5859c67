/* SPDX-License-Identifier: Apache-2.0
 * Lanes of a warp that speak with each other, as nvcc compiles it
 * (tests/ptx/kernels/warps.cu), against C. */
#include "ptx_nvcc.h"

#define ANSWERS 24
#define THREADS 96u

/* One warp's numbers, and its lanes for which a bit of them is set. */
static uint32_t ballot(const uint32_t *x, uint32_t bit)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < 32; i++)
        lanes |= (x[i] >> bit & 1) << i;
    return lanes;
}

static uint32_t like(const uint32_t *x, uint32_t lane)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < 32; i++)
        lanes |= (uint32_t)(x[i] % 4 == x[lane] % 4) << i;
    return lanes;
}

static bool any_is_last(const uint32_t *x)
{
    for (uint32_t i = 0; i < 32; i++)
        if (x[i] % 32 == 31)
            return true;
    return false;
}

static bool all_are_low(const uint32_t *x)
{
    for (uint32_t i = 0; i < 32; i++)
        if (x[i] >= 0x80000000)
            return false;
    return true;
}

static uint32_t sum_up_to(const uint32_t *x, uint32_t lane)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= lane; i++)
        sum += x[i] & 0xFFFF;
    return sum;
}

static void shuffles_in_c(const uint32_t *x, uint32_t lane, uint32_t *row)
{
    row[0] = x[5];
    row[1] = x[x[lane] % 32];
    row[2] = x[lane / 8 * 8 + (lane + 3) % 8];
    row[3] = x[lane < 1 ? lane : lane - 1];
    row[4] = x[lane % 16 < 3 ? lane : lane - 3];
    row[5] = x[lane > 29 ? lane : lane + 2];
    row[6] = x[lane % 8 > 2 ? lane : lane + 5];
    row[7] = x[lane ^ 1];
    row[8] = x[lane ^ 20];
    row[16] = x[lane ^ 3];
    row[17] = x[lane > 30 ? lane : lane + 1] & 255;
    row[22] = sum_up_to(x, lane);
}

static void votes_in_c(const uint32_t *x, uint32_t lane, uint32_t *row)
{
    row[9] = ballot(x, 0);
    row[10] = any_is_last(x);
    row[11] = all_are_low(x);
    row[12] = like(x, lane);
    row[13] = 0;
    row[14] = UINT32_MAX ^ 5;
    row[15] = 1;
    row[18] = 32;
    row[19] = lane < 12 ? (ballot(x, 1) & 0xFFF) + x[lane ^ 3] : 0;
    row[20] = lane;
}

static void lanes(void **state)
{
    (void)state;
    uint32_t in[THREADS], out[THREADS][ANSWERS], odd = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        in[i] = (uint32_t)kernel_operand(i + 1000, 0) | 1u << 9;
        in[i] = i / 32 == 1 ? in[i] & 0x7FFFFFFE : in[i]; /* of this warp other answers */
    }
    in[40] |= 31;
    in[70] = 0;
    for (uint32_t i = 0; i < THREADS; i++)
        odd += in[i] & 1;
    kernel_check_runs(&(kernel_run){.file = "warps",
                                    .kernel = "lanes",
                                    .block = {THREADS},
                                    .buffers = {{in, sizeof in}, {out, sizeof out}}});
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t row[ANSWERS];
        shuffles_in_c(in + i / 32 * 32, i % 32, row);
        votes_in_c(in + i / 32 * 32, i % 32, row);
        row[21] = i / 32;
        row[23] = odd << 2 | 3;
        for (uint32_t j = 0; j < ANSWERS; j++)
            if (out[i][j] != row[j])
                fail_msg("answer %u of thread %u: expected %x, found %x", j, i, row[j], out[i][j]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
