/* SPDX-License-Identifier: Apache-2.0
 * One specification and its options, to be made wrong in one way at a time. */
#ifndef TESTS_SUPPORT_SPEC_CASE_H
#define TESTS_SUPPORT_SPEC_CASE_H

#include "support/spec_file.h"

static tz_image_spec spec;
static tz_write_options options;
static tz_geo geo;

/* 100 x 50 pixels of uint8, uncompressed. */
static inline void start(void)
{
    spec = (tz_image_spec)TZ_IMAGE_SPEC_INIT;
    spec.width = 100, spec.height = 50, spec.bands = 1, spec.dtype = TZ_DTYPE_UINT8;
    options = (tz_write_options)TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = TZ_COMPRESSION_NONE;
    geo = (tz_geo)TZ_GEO_INIT;
}

static inline void check_refused(tz_result result, const char *text, int line)
{
    bench b;
    tz_image image;
    bench_init(&b);
    const tz_result got = tz_image_init(&image, &spec, &options, &b.ctx);
    tz_image_deinit(&image);
    tz_image_deinit(&image);
    if (got != result || !strstr(b.err.message, text))
        fail_msg("line %d: result %d: %s", line, got, got == TZ_OK ? "accepted" : b.err.message);
    bench_deinit(&b);
}

/* The statement makes the specification wrong in one way. */
#define REFUSED(text, ...)                                                                         \
    do {                                                                                           \
        start();                                                                                   \
        __VA_ARGS__;                                                                               \
        check_refused(TZ_ERR_ARG, text, __LINE__);                                                 \
    } while (0)
#define REFUSED_BY(result, text, ...)                                                              \
    do {                                                                                           \
        start();                                                                                   \
        __VA_ARGS__;                                                                               \
        check_refused(result, text, __LINE__);                                                     \
    } while (0)

/* The image is made, silently; the caller releases it. */
static inline tz_image accepted(int line)
{
    bench b;
    tz_image image;
    bench_init(&b);
    if (tz_image_init(&image, &spec, &options, &b.ctx) != TZ_OK)
        fail_msg("line %d: %s", line, b.err.message);
    bench_silent(&b);
    bench_deinit(&b);
    return image;
}
#define ACCEPTED(image, ...)                                                                       \
    tz_image image;                                                                                \
    start();                                                                                       \
    __VA_ARGS__;                                                                                   \
    image = accepted(__LINE__)

static inline bool has_encoder(tz_compression compression)
{
    const tz_context ctx = {.ifd = -1};
    const tz_encoder *encoder;
    return tz_encoder_find((uint16_t)compression, &ctx, &encoder) == TZ_OK;
}

/* The file of the specification as it stands, opened without a warning. */
typedef struct made_file {
    emitted file;
    tz_file *handle;
    const tz_info *info;
} made_file;

static inline made_file made_with(const tz_statistics *statistics, const tz_bytes *jpeg_tables,
                                  unsigned format)
{
    bench b;
    tz_image image;
    made_file m;
    bench_init(&b);
    options.big_endian = (format & TB_BIG_ENDIAN) != 0;
    if (tz_image_init(&image, &spec, &options, &b.ctx) != TZ_OK ||
        spec_file_emit_with(&m.file, &image, statistics, jpeg_tables, format, &b.ctx) != TZ_OK)
        fail_msg("%s", b.err.message);
    bench_silent(&b);
    tz_image_deinit(&image);
    bench_deinit(&b);
    m.handle = spec_file_open(&m.file);
    m.info = tz_file_get_info(m.handle);
    return m;
}

static inline made_file made(unsigned format)
{
    return made_with(NULL, NULL, format);
}

static inline void made_close(made_file *m)
{
    tz_close(m->handle);
    emitted_free(&m->file);
}

#endif
