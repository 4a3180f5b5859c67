/* SPDX-License-Identifier: Apache-2.0 */
#include "npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ALIGNMENT 64
#define PREFIX    10 /* magic, version and the length of the text */

/* NumPy's letter and size of a type. */
static const char *type_code(tz_dtype dtype)
{
    static const char *const codes[] = {"",   "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8",
                                        "f2", "f4", "f8", "",   "",   "",   "c8", "c16"};
    return codes[dtype];
}

static char byte_order(tz_dtype dtype)
{
    const uint16_t probe = 1;
    unsigned char first;
    memcpy(&first, &probe, 1);
    if (tz_dtype_size(dtype) == 1)
        return '|';
    return first == 1 ? '<' : '>';
}

size_t npy_header(char header[NPY_HEADER_MOST], tz_dtype dtype, uint32_t bands, uint32_t height,
                  uint32_t width)
{
    char shape[40];
    if (type_code(dtype)[0] == '\0')
        return 0;
    if (bands == 1)
        snprintf(shape, sizeof shape, "%" PRIu32 ", %" PRIu32, height, width);
    else
        snprintf(shape, sizeof shape, "%" PRIu32 ", %" PRIu32 ", %" PRIu32, bands, height, width);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    int text = snprintf(header + PREFIX, NPY_HEADER_MOST - PREFIX,
                        "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }",
                        byte_order(dtype), type_code(dtype), shape);
    size_t used = PREFIX + (size_t)text;
    size_t size = (used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(header + used, ' ', size - used);
    header[size - 1] = '\n';
    header[8] = (char)((size - PREFIX) & 0xFF);
    header[9] = (char)((size - PREFIX) >> 8);
    return size;
}
