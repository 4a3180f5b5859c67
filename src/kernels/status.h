/* SPDX-License-Identifier: Apache-2.0
 * What a kernel that decodes a tile says of it; one number for the kernels and for the host.
 *
 * A kernel has no words for what is wrong. The host keeps tiles of status 0 and hands all others to
 * the codec of the same name (src/codec), whose errors and warnings are the ones that users see:
 *
 *     0           the codec takes the tile without a word, and makes the same bytes
 *     warnings    the codec takes it with such warnings, and makes the same bytes
 *     an error    the codec refuses the tile
 *     UNSURE      only the codec can tell: its library decides, and not every version alike
 *
 * What the tile's memory holds after an error is undefined, but nothing outside of it changes. */
#ifndef TZ_KERNELS_STATUS_H
#define TZ_KERNELS_STATUS_H

/* Kernels count bytes of a tile, stored or not, in 32 bits; larger ones stay on the host. */
#define TZ_DECODE_MAX_BYTES 0x7fffffffu

enum tz_decode_status {
    TZ_DECODE_OK = 0,
    TZ_DECODE_TRUNCATED,    /* the stored bytes end too early */
    TZ_DECODE_BAD_HEADER,   /* of the stream, the frame */
    TZ_DECODE_BAD_BLOCK,    /* its kind or its size */
    TZ_DECODE_BAD_CODE,     /* codes that no encoder makes, or a code that means nothing */
    TZ_DECODE_BAD_DISTANCE, /* a copy from before the start */
    TZ_DECODE_TOO_SHORT,    /* fewer bytes than the tile has */
    TZ_DECODE_TOO_LONG,     /* more */
    TZ_DECODE_BAD_CHECKSUM,
    TZ_DECODE_UNSURE,
    TZ_DECODE_ERRORS = 0xff, /* the bits of all of these */
    /* bits of warnings */
    TZ_DECODE_BYTES_AFTER = 0x100,     /* behind the end of the compressed data */
    TZ_DECODE_NO_END = 0x200,          /* LZW that does not end where the tile does */
    TZ_DECODE_OLD_ORDER = 0x400,       /* LZW with the lowest bit first */
    TZ_DECODE_STRING_TRUNCATED = 0x800 /* LZW whose last string passes the end of the tile */
};

/* Where the tile ended: a warning when bytes are left. */
#define TZ_DECODE_END(used, size) ((used) < (size) ? TZ_DECODE_BYTES_AFTER : TZ_DECODE_OK)

#endif
