/* SPDX-License-Identifier: Apache-2.0
 * The header of a .npy file: of version 1.0 as NumPy writes it, and of versions 1.0 to 3.0 read. */
#ifndef CLI_NPY_H
#define CLI_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <terrazzo/terrazzo.h>

#define MAX_NPY_HEADER 256

/* Writes the header of an array of shape (bands, height, width), or (height, width, bands) by
 * pixel, or (height, width) for one band. Returns its bytes, a multiple of 64; 0 for a type that
 * NumPy does not have. */
size_t npy_header(char header[MAX_NPY_HEADER], tz_dtype dtype, uint32_t bands, uint32_t height,
                  uint32_t width, bool by_pixel);

#define NPY_MAGIC      "\x93NUMPY"
#define NPY_MAGIC_SIZE 6

typedef struct npy_array {
    tz_dtype dtype; /* booleans are uint8 */
    bool swapped;   /* samples are in the other byte order than the machine's */
    bool fortran;   /* the first axis varies fastest, not the last */
    uint64_t dimensions;
    uint64_t shape[3]; /* of the first axes */
} npy_array;

/* Parses the text of a header, which ends with a NUL after size bytes. name is that of the input,
 * for messages. An array of any number of dimensions is fine here. */
tz_result npy_parse(npy_array *out, const char *text, size_t size, const char *name, tz_error *err);
/* Reads the header that follows NPY_MAGIC, up to the first sample. */
tz_result npy_read(npy_array *out, int fd, const char *name, tz_error *err);

#endif
