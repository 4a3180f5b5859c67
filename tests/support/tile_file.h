/* SPDX-License-Identifier: Apache-2.0
 * Files of 16 x 16 tiles of known pixels in every compression, and checks of reading them. A test
 * takes a good file and breaks one tile. */
#ifndef TESTS_SUPPORT_TILE_FILE_H
#define TESTS_SUPPORT_TILE_FILE_H

#include "support/check.h"

/* One tile, encoded: see make_streams.py for its pixels. */
typedef struct tile_stream {
    const char *name;
    uint16_t compression;
    uint16_t bands;
    bool lossy; /* all pixels are 100 */
    const uint8_t *data;
    size_t size;
} tile_stream;

#include "support/codec/streams.h"
#include "support/plain_read.h"

enum { TILE = 16 };

/* Returns true if this build can decode it. */
bool tf_available(const tile_stream *stream);

/* A sample of a tile, by its index within it. */
uint8_t tf_pixel(const tile_stream *stream, uint32_t band, uint32_t row, uint32_t column);

/* A file of across times down tiles; every one is the stream. describe, which may be NULL, changes
 * the directory before it is laid out. */
tb *tf_new(unsigned format, const tile_stream *stream, uint32_t across, uint32_t down,
           void (*describe)(tb *b));

/* Other bytes for a tile: appended to the file. */
void tf_put(tb *b, uint64_t tile, const void *bytes, size_t size);

/* Make what a process makes once, its shared threads: call it before memory is counted. */
void tf_warm_up(void);

/* Open the bytes; must succeed. */
#define tf_open(b) tf_open_at(b, __FILE__, __LINE__)
tz_file *tf_open_at(const tb *b, const char *file, int line);

/* The whole of level 0, or a window of it, as uint8 over a poison; free the pixels. */
tz_result tf_read(const tz_file *file, tz_window window, uint32_t threads, uint8_t poison,
                  uint8_t **pixels, plain_report *report, tz_error *err);

/* Reading the file whole fails with this defect, again and again, with one thread and with several,
 * and everything is released. When it is a tile other than the first that fails, the first can
 * still be read from the same handle; and with a list for tiles, the read succeeds with that one
 * failure noted, its pixels 0 and masked, and all others right. */
#define tf_refuses(b, stream, defect) tf_refuses_at(b, stream, defect, __FILE__, __LINE__)
void tf_refuses_at(const tb *b, const tile_stream *stream, const check_defect *defect,
                   const char *file, int line);
/* The same, and the file is freed. */
#define tf_done_refuses(b, stream, defect)                                                         \
    do {                                                                                           \
        tb *tf_b_ = (b);                                                                           \
        tf_refuses(tf_b_, stream, defect);                                                         \
        tb_free(tf_b_);                                                                            \
    } while (0)

/* Every tile reads as the stream's pixels, whatever the buffer held; the number of warnings about
 * tiles is as given. The file is freed. */
#define tf_done_reads(b, stream, warnings)                                                         \
    do {                                                                                           \
        tb *tf_b_ = (b);                                                                           \
        tf_reads_at(tf_b_, stream, warnings, __FILE__, __LINE__);                                  \
        tb_free(tf_b_);                                                                            \
    } while (0)
void tf_reads_at(const tb *b, const tile_stream *stream, uint32_t warnings, const char *file,
                 int line);

#endif
