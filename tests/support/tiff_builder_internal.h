/* SPDX-License-Identifier: Apache-2.0
 * Shared by the two halves of the builder: describing (tiff_builder.c) and laying out
 * (tiff_builder_bytes.c). */
#ifndef TESTS_SUPPORT_TIFF_BUILDER_INTERNAL_H
#define TESTS_SUPPORT_TIFF_BUILDER_INTERNAL_H

#include "support/tiff_builder.h"

/* End the program with a message. */
void tb_misuse(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void *tb_grow(void *block, size_t size); /* realloc that does not fail */
void tb_encode(bool big_endian, uint8_t *dst, size_t size, uint64_t value);
size_t tb_type_size(uint16_t type);                     /* 1 for unknown types */
tb_ifd *tb_ifd_of(const tb *b, int ifd);                /* must be there */
tb_entry *tb_entry_in(const tb_ifd *ifd, uint16_t tag); /* NULL: none */
void tb_describe_only(const tb *b);                     /* not after tb_finish */

#endif
