// SPDX-License-Identifier: Apache-2.0
// Memory of every kind, calls and control. See tests/ptx/tests/test_ptx_nvcc_memory.c.
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

__constant__ u32 primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__constant__ float halves[2][3] = {{0.5f, 1.5f, 2.5f}, {-0.5f, -1.5f}};
__device__ short table[5] = {-1, 300, -3, 4, -5};
__device__ u32 seen[4];

extern "C" __global__ void tables(u32 *out)
{
    u32 i = threadIdx.x;
    seen[i % 4] = i; // the last one to write is any of them
    out[i] = primes[i % 8] * 1000 + (u32)(int)(halves[i % 2][i % 3] * 10) + (u32)table[i % 5] +
             (seen[i % 4] % 4 == i % 4);
}

// A grid of two dimensions: every place is told who wrote it.
extern "C" __global__ void places(u32 *out, u32 width)
{
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    u32 z = blockIdx.z * blockDim.z + threadIdx.z;
    out[((u64)z * gridDim.y * blockDim.y + y) * width + x] =
        x << 20 | y << 10 | z << 5 | (gridDim.x * blockDim.z);
}

// Sums of a block: in dynamic shared memory, and in what is left after it.
extern "C" __global__ void sums(const u32 *in, u32 *out)
{
    extern __shared__ u32 partial[];
    __shared__ u64 check[2];
    u32 i = threadIdx.x, count = blockDim.x;
    partial[i] = in[blockIdx.x * count + i];
    if (i < 2)
        check[i] = 0;
    __syncthreads();
    atomicAdd(&check[i & 1], (u64)partial[i]);
    __syncthreads();
    for (u32 half = count / 2; half > 0; half /= 2) {
        if (i < half)
            partial[i] += partial[i + half];
        __syncthreads();
    }
    if (i == 0)
        out[blockIdx.x] = partial[0] + (u32)(partial[0] == (u32)(check[0] + check[1])) * 0x80000000u;
}

extern "C" __global__ void vectors(const uint4 *in, uint4 *out, const u8 *bytes, double2 *pairs)
{
    u32 i = threadIdx.x;
    uint4 v = in[i];
    uchar4 b = ((const uchar4 *)bytes)[i];
    ushort2 h = ((const ushort2 *)bytes)[i];
    out[i] = make_uint4(v.w, v.x + b.x, v.y ^ b.w, v.z * h.y);
    double2 p = pairs[i];
    pairs[i] = make_double2(p.y, p.x + b.y);
}

extern "C" __global__ void choices(const u32 *in, u32 *out)
{
    u32 i = threadIdx.x, x = in[i];
    switch (x % 16) {
    case 0: x = x * 3 + i; break;
    case 1: x ^= out[i]; break;
    case 2: out[i + 64] = x; x = 5; break;
    case 3: x = x / 7; break;
    case 4: x = __popc(x); break;
    case 5: x = ~x; out[i + 64] = 1; break;
    case 6: x <<= 5; break;
    case 7: x = x * x; break;
    case 8: x += out[i] * 2; break;
    case 9: x = 0 - x; break;
    case 10: x = __brev(x); out[i + 64] = 2; break;
    default: x = 1000 + x % 16; break;
    }
    out[i] = x;
}

struct thing {
    u32 a;
    double b;
    u8 c[5];
};

__device__ __noinline__ thing turned(thing t, u32 k)
{
    u32 local[16];
    for (u32 i = 0; i < 16; i++)
        local[i] = t.a * i + k;
    for (u32 i = 0; i < 16; i++)
        local[(i * 7 + k) % 16] ^= local[i];
    t.a = local[k % 16];
    t.b = t.b * k + t.c[k % 5];
    t.c[(k + 1) % 5] = (u8)(t.c[k % 5] + 1);
    return t;
}

__device__ __noinline__ u64 power(u64 base, u32 exponent)
{
    return exponent == 0 ? 1 : exponent % 2 ? base * power(base, exponent - 1)
                                            : power(base * base, exponent / 2);
}

__device__ __noinline__ void leave(u64 *where, u64 what)
{
    *where += what;
}

extern "C" __global__ void calls(thing *things, u64 *out, thing by_value, u8 odd)
{
    u32 i = threadIdx.x;
    thing t = turned(things[i], i);
    t = turned(t, i + odd);
    t.a += turned(by_value, i).a;
    things[i] = t;
    u64 own = i;
    leave(&own, power(3, i));
    leave(out + i, own);
}

extern "C" __global__ void atomics(u32 *words, u64 *wides, float *sum)
{
    __shared__ u32 shared[4];
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 4)
        shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    atomicAdd(words, i);
    atomicSub(words + 1, 2);
    atomicMin(words + 2, i * 7 % 100 + 3);
    atomicMax((int *)words + 3, (int)(i * 7 % 100) - 50);
    atomicAnd(words + 4, ~(1u << i % 32));
    atomicOr(words + 5, 1u << i % 32);
    atomicXor(words + 6, i * 77);
    atomicInc(words + 7, 9);
    atomicDec(words + 8, 9);
    while (atomicCAS(words + 9, i, i + 1) != i) // one after the other
        ;
    words[16 + i] = atomicExch(words + 10, i);
    atomicAdd(wides, (u64)i << 33);
    atomicMax(wides + 1, (u64)i << 40);
    atomicCAS(wides + 2, (u64)i, (u64)i + 1);
    atomicAdd(sum, (float)i);
    atomicAdd(&shared[i % 4], 10);
    __syncthreads();
    if (threadIdx.x < 4)
        atomicAdd(words + 11 + threadIdx.x, shared[threadIdx.x]);
}
