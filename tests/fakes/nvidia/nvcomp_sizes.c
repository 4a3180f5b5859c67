/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/nvidia/nvcomp_sizes.h"

tz_nvcomp_alignments sizes_align(tz_nvcomp_codec codec, bool compress)
{
    static const tz_nvcomp_alignments to_compress[] = {
        [TZ_NVCOMP_DEFLATE] = {1, 8, 8}, [TZ_NVCOMP_ZSTD] = {4, 1, 1}, [TZ_NVCOMP_LZ4] = {1, 1, 2}};
    static const tz_nvcomp_alignments to_decompress[] = {
        [TZ_NVCOMP_DEFLATE] = {4, 1, 1}, [TZ_NVCOMP_ZSTD] = {1, 1, 8}, [TZ_NVCOMP_LZ4] = {1, 1, 1}};
    return compress ? to_compress[codec] : to_decompress[codec];
}

size_t sizes_limit(tz_nvcomp_codec codec, bool compress)
{
    if (codec == TZ_NVCOMP_ZSTD)
        return 0x7fffffff;
    if (!compress)
        return 0xffffffff;
    return codec == TZ_NVCOMP_LZ4 ? 0x1000000 : 0x80000000;
}

size_t sizes_output(tz_nvcomp_codec codec, size_t n)
{
    if (codec == TZ_NVCOMP_LZ4)
        return (n + n / 255 + 9) & ~(size_t)7;
    if (codec == TZ_NVCOMP_ZSTD) {
        const size_t blocks = (n + 65535) / 65536;
        return n + (n < 256 ? 6u : n < 65792 ? 8u : 10u) + 3 * (blocks > 0 ? blocks : 1);
    }
    const size_t most = 8 * (n * 579 / 2048) + 32;
    return most > 64 ? most : 64;
}

static tz_nvcomp_status deflate_temp(int32_t algorithm, size_t count, size_t chunk, size_t *out)
{
    const bool small = chunk <= 65536;
    const size_t odd = 8 * (count % 2);
    switch (algorithm) {
    case 0:
        *out = 0;
        return 0;
    case 1:
        *out = count * (small ? 5 * chunk + 32800 : 9 * chunk + 65568) + odd;
        return 0;
    case 2:
    case 3:
        *out = count * (small ? 5 * chunk + 327712 : 9 * chunk + 655392) + odd;
        return 0;
    default:
        if (count * chunk > 0x7fffffff)
            return TZ_NVCOMP_NotSupported;
        *out = count * ((small ? 17 : 33) * chunk + (algorithm == 5 ? chunk : 0) + 72);
        return 0;
    }
}

tz_nvcomp_status sizes_compress_temp(tz_nvcomp_codec codec, int32_t algorithm, size_t count,
                                     size_t chunk, size_t total, bool device, size_t *out)
{
    if (codec == TZ_NVCOMP_LZ4) {
        *out = 32768 * count;
        return 0;
    }
    if (!device && (MAJOR == 4 || codec == TZ_NVCOMP_ZSTD))
        return NO_DEVICE;
    if (codec == TZ_NVCOMP_DEFLATE)
        return deflate_temp(algorithm, count, chunk, out);
    /* Nobody could ask without a device; users report half a gigabyte. */
    *out = ((size_t)1 << 20) + 3 * total;
    return 0;
}

tz_nvcomp_status sizes_decompress_temp(tz_nvcomp_codec codec, size_t count, size_t total,
                                       bool device, size_t *out)
{
    if (codec == TZ_NVCOMP_ZSTD) {
        if (MAJOR == 4 && !device)
            return NO_DEVICE;
        const size_t blocks = total / 65536 > 2 * count ? total / 65536 : 2 * count;
        *out = 3 * total + 3468 * blocks;
        return 0;
    }
    *out = MAJOR > 4 ? 0 : codec == TZ_NVCOMP_DEFLATE ? 16 * count + 3 : 24 * count;
    return 0;
}
