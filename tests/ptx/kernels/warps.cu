// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp that speak with each other. See tests/ptx/tests/test_ptx_nvcc_warps.c.
typedef unsigned int u32;
typedef unsigned long long u64;

#define ALL     0xFFFFFFFFu
#define ANSWERS 24

extern "C" __global__ void lanes(const u32 *in, u32 *out)
{
    u32 i = threadIdx.x, x = in[i];
    u32 *row = out + i * ANSWERS;
    int same;
    row[0] = __shfl_sync(ALL, x, 5);
    row[1] = __shfl_sync(ALL, x, (int)x);
    row[2] = __shfl_sync(ALL, x, (int)i + 3, 8);
    row[3] = __shfl_up_sync(ALL, x, 1);
    row[4] = __shfl_up_sync(ALL, x, 3, 16);
    row[5] = __shfl_down_sync(ALL, x, 2);
    row[6] = __shfl_down_sync(ALL, x, 5, 8);
    row[7] = __shfl_xor_sync(ALL, x, 1);
    row[8] = __shfl_xor_sync(ALL, x, 20);
    row[9] = __ballot_sync(ALL, (int)(x & 1));
    row[10] = (u32)__any_sync(ALL, x % 32 == 31);
    row[11] = (u32)__all_sync(ALL, x < 0x80000000u);
    row[12] = __match_any_sync(ALL, x % 4);
    row[13] = __match_all_sync(ALL, x, &same);
    row[13] ^= same ? 5 : 0;
    row[14] = __match_all_sync(ALL, i / 32, &same);
    row[14] ^= same ? 5 : 0;
    row[15] = __activemask() >> i % 32 & 1; // of others nothing is said
    u64 wide = __shfl_xor_sync(ALL, (u64)x << 20, 3);
    row[16] = (u32)(wide >> 20);
    row[17] = (u32)__double2int_rn(__shfl_down_sync(ALL, (double)(x & 255), 1));
    __syncwarp();
    row[18] = warpSize;
    if (i % 32 < 12) // some lanes among themselves
        row[19] = __ballot_sync(0xFFF, (int)(x & 2)) + __shfl_xor_sync(0xFFF, x, 3);
    else
        row[19] = 0;
    asm("mov.u32 %0, %%laneid;" : "=r"(row[20]));
    asm("mov.u32 %0, %%warpid;" : "=r"(row[21]));
    u32 sum = x & 0xFFFF; // of lanes up to this one
    for (u32 step = 1; step < 32; step *= 2) {
        u32 other = __shfl_up_sync(ALL, sum, step);
        sum += i % 32 >= step ? other : 0;
    }
    row[22] = sum;
    row[23] = (u32)__syncthreads_count((int)(x & 1)) << 2 | (u32)__syncthreads_or(x == 0) << 1 |
              (u32)__syncthreads_and((int)(x | 1));
}
