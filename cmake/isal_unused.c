/* SPDX-License-Identifier: Apache-2.0
 * What ISA-L's inflater refers to, and raw deflate never calls: checksums and headers of gzip and
 * zlib. Without them its encoder need not be built. */
#include <stdlib.h>

#include <crc.h>
#include <igzip_lib.h>

uint32_t isal_adler32_bam1(uint32_t sum, const unsigned char *start, uint64_t size);

uint32_t crc32_gzip_refl(uint32_t sum, const unsigned char *start, uint64_t size)
{
    (void)sum, (void)start, (void)size;
    abort();
}

uint32_t isal_adler32_bam1(uint32_t sum, const unsigned char *start, uint64_t size)
{
    (void)sum, (void)start, (void)size;
    abort();
}

void isal_gzip_header_init(struct isal_gzip_header *header)
{
    (void)header;
    abort();
}

void isal_zlib_header_init(struct isal_zlib_header *header)
{
    (void)header;
    abort();
}
