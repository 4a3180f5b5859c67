/* SPDX-License-Identifier: Apache-2.0
 * Adler-32 of whole tiles and of their parts, beside its definition. */
#include "kernels/adler32.h"
#include "support/codec/kernel_run.h"

/* As RFC 1950 says it: a remainder at every byte. */
static uint32_t by_definition(const uint8_t *bytes, size_t size)
{
    uint32_t low = 1, high = 0;
    for (size_t i = 0; i < size; i++) {
        low = (low + bytes[i]) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

/* In parts of the same size, added from the last to the first. */
static uint32_t in_parts(const uint8_t *bytes, uint32_t size, uint32_t count)
{
    tz_adler_partial sum = {0, 0};
    for (uint32_t i = count; i > 0; i--) {
        uint32_t begin = (uint32_t)((uint64_t)size * (i - 1) / count);
        uint32_t end = (uint32_t)((uint64_t)size * i / count);
        tz_adler_partial part = tz_adler_partial_of(bytes, begin, end, size);
        sum.sum += part.sum;
        sum.weighted += part.weighted;
    }
    return tz_adler32_from_partial(sum, size);
}

static void check_size(uint32_t size, unsigned kind)
{
    static const uint32_t counts[] = {1, 2, 3, 64, 256, 1000};
    uint8_t *bytes = kernel_pixels(size, kind);
    if (kind == 0)
        memset(bytes, 255, size); /* the largest sums */
    uint32_t expected = by_definition(bytes, size);
    assert_int_equal(tz_adler32(bytes, size), expected);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        assert_int_equal(in_parts(bytes, size, counts[i]), expected);
    free(bytes);
}

static void sums_of_every_size_are_right(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0,    1,    7,     64,    4096,  5551,
                                     5552, 5553, 11104, 65520, 65521, 65537};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (unsigned kind = 0; kind < KERNEL_KINDS; kind++)
            check_size(sizes[i], kind);
    check_size(3000000, 0);
}

static void known_sums_are_right(void **state)
{
    (void)state;
    static const uint8_t name[] = "Wikipedia";
    assert_int_equal(tz_adler32(name, 0), 1);
    assert_int_equal(tz_adler32(name, 9), 0x11E60398);
    assert_int_equal(in_parts(name, 9, 4), 0x11E60398);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_every_size_are_right),
        cmocka_unit_test(known_sums_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
