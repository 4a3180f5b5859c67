// SPDX-License-Identifier: Apache-2.0
// Integers and bits. Each thread has two numbers and leaves one row of answers: see
// tests/ptx/tests/test_ptx_nvcc_bits.c, which has the same in C.
typedef unsigned int u32;
typedef unsigned long long u64;

#define ANSWERS 32

extern "C" __global__ void words(const u32 *a, const u32 *b, u32 *out)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 x = a[i], y = b[i], s = y & 63, wide;
    u32 *row = out + (u64)i * ANSWERS;
    row[0] = __byte_perm(x, y, y >> 3);
    row[1] = (u32)__popc(x);
    row[2] = __brev(x);
    row[3] = (u32)__ffs((int)x);
    row[4] = (u32)__clz((int)x);
    row[5] = __funnelshift_l(x, y, s);
    row[6] = __funnelshift_r(x, y, s);
    row[7] = __funnelshift_lc(x, y, s);
    row[8] = __funnelshift_rc(x, y, s);
    row[9] = (x & y) ^ (~x | (y >> 5)) ^ (x & ~(y << 3)); // becomes lop3 for a real machine
    asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(row[10]) : "r"(x), "r"(y), "r"(x ^ (y << 1)));
    row[11] = __umulhi(x, y);
    row[12] = (u32)__mulhi((int)x, (int)y);
    row[13] = __usad(x, y, 7);
    row[14] = (u32)__sad((int)x, (int)y, 7);
    row[15] = (u32)__dp4a((int)x, (int)y, (int)(x ^ y));
    row[16] = __dp4a(x, y, x ^ y);
    asm("bfe.u32 %0, %1, %2, 9;" : "=r"(row[17]) : "r"(x), "r"(y & 31));
    asm("bfe.s32 %0, %1, %2, 9;" : "=r"(row[18]) : "r"(x), "r"(y & 31));
    asm("bfi.b32 %0, %1, %2, %3, 7;" : "=r"(row[19]) : "r"(x), "r"(y), "r"(y & 31));
    row[20] = x / (y | 1);
    row[21] = x % (y | 1);
    row[22] = (u32)((int)x / (int)(y >> 1 | 1));
    row[23] = (u32)((int)x % (int)(y >> 1 | 1));
    row[24] = x << s % 32 | x >> (32 - s % 32) % 32;
    row[25] = (u32)((int)x >> s % 32);
    row[26] = (u32)min((int)x, (int)y) + max(x, y);
    row[27] = (u32)abs((int)(x | 1));
    asm("{ .reg .u32 low; add.cc.u32 low, %1, %2; addc.u32 %0, %1, low; }"
        : "=r"(row[28]) : "r"(x), "r"(y));
    asm("{ .reg .pred p; setp.lt.u32 p, %1, %2; selp.u32 %0, 10, 20, p; }"
        : "=r"(wide) : "r"(x), "r"(y));
    row[29] = wide;
    row[30] = (u32)(signed char)x + (u32)(short)(y >> 3) + (unsigned char)(x >> 9);
    row[31] = x * 0x9E3779B1u + y;
}

extern "C" __global__ void wide_words(const u64 *a, const u64 *b, u64 *out)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u64 x = a[i], y = b[i], s = y & 63;
    u64 *row = out + (u64)i * ANSWERS;
    row[0] = (u64)__popcll(x);
    row[1] = __brevll(x);
    row[2] = (u64)__ffsll((long long)x);
    row[3] = (u64)__clzll((long long)x);
    row[4] = __umul64hi(x, y);
    row[5] = (u64)__mul64hi((long long)x, (long long)y);
    row[6] = x / (y >> s | 1);
    row[7] = x % (y >> s | 1);
    row[8] = (u64)((long long)x / (long long)(y >> s >> 1 | 1));
    row[9] = (u64)((long long)x % (long long)(y >> s >> 1 | 1));
    row[10] = x << s | x >> (64 - s) % 64;
    row[11] = (u64)((long long)x >> s);
    row[12] = (x & y) ^ (~x | y);
    row[13] = min(x, y) - (u64)max((long long)x, (long long)y);
    row[14] = x * y + 77;
    row[15] = (u64)(u32)x * (u32)y + (u64)((long long)(int)x * (int)y);
    asm("bfe.u64 %0, %1, 17, 40;" : "=l"(row[16]) : "l"(x));
    asm("bfi.b64 %0, %1, %2, 13, 29;" : "=l"(row[17]) : "l"(x), "l"(y));
}
