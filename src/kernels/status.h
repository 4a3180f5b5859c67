/* SPDX-License-Identifier: Apache-2.0
 * The status of a decoded tile: one number, for the kernels and for the host.
 *
 * A kernel makes no messages. The host keeps tiles of status 0 and gives all others to the codec of
 * the same name (src/codec), whose errors and warnings are the ones that users see:
 *
 *     0           the codec accepts the tile without a warning, and makes the same bytes
 *     warnings    the codec accepts it with these warnings, and makes the same bytes
 *     an error    the codec refuses the tile
 *     UNSURE      the library of the codec decides, and its versions differ
 *
 * After an error the contents of the tile are undefined, but nothing outside of it changes. */
#ifndef TZ_KERNELS_STATUS_H
#define TZ_KERNELS_STATUS_H

/* Bytes of a tile, stored or decoded, that kernels can count; larger tiles stay on the host. */
#define TZ_DECODE_MAX_BYTES 0x7fffffffu

enum tz_decode_status {
    TZ_DECODE_OK = 0,
    TZ_DECODE_TRUNCATED,    /* the stored bytes end too early */
    TZ_DECODE_BAD_HEADER,   /* of the stream or of a frame */
    TZ_DECODE_BAD_BLOCK,    /* the kind or the size of a block is invalid */
    TZ_DECODE_BAD_CODE,     /* an invalid code, or an invalid description of codes */
    TZ_DECODE_BAD_DISTANCE, /* a copy from before the start */
    TZ_DECODE_TOO_SHORT,    /* fewer bytes than the tile has */
    TZ_DECODE_TOO_LONG,     /* more bytes than the tile has */
    TZ_DECODE_BAD_CHECKSUM,
    TZ_DECODE_UNSURE,
    TZ_DECODE_ERRORS = 0xff, /* mask of the errors above */
    /* bits of warnings */
    TZ_DECODE_BYTES_AFTER = 0x100,     /* bytes follow the compressed data */
    TZ_DECODE_NO_END = 0x200,          /* LZW that does not end where the tile does */
    TZ_DECODE_OLD_ORDER = 0x400,       /* LZW with the lowest bit first */
    TZ_DECODE_STRING_TRUNCATED = 0x800 /* LZW whose last string passes the end of the tile */
};

/* The status of a complete tile: a warning if not all stored bytes were used. */
#define TZ_DECODE_END(used, size) ((used) < (size) ? TZ_DECODE_BYTES_AFTER : TZ_DECODE_OK)

#endif
