/* SPDX-License-Identifier: Apache-2.0
 * Times tz_create to tz_commit with the default options, verification included, but not waiting
 * for the disk; see writer.h. */
#include "terrazzo/terrazzo.h"
#include "writer.h"

typedef struct output {
    tz_writer *writer;
    bool whole; /* all rows came */
} output;

static tz_dtype dtype_of(const char *name)
{
    for (int dtype = TZ_DTYPE_NONE + 1; tz_dtype_size((tz_dtype)dtype) > 0; dtype++) {
        if (strcmp(tz_dtype_name((tz_dtype)dtype), name) == 0)
            return (tz_dtype)dtype;
    }
    return TZ_DTYPE_NONE;
}

static bool set_codec(const char *name, tz_write_options *how)
{
    static const struct {
        const char *name;
        tz_compression compression;
        tz_choice lossless;
    } codecs[] = {{"none", TZ_COMPRESSION_NONE, TZ_CHOICE_AUTO},
                  {"deflate", TZ_COMPRESSION_DEFLATE, TZ_CHOICE_AUTO},
                  {"zstd", TZ_COMPRESSION_ZSTD, TZ_CHOICE_AUTO},
                  {"lzw", TZ_COMPRESSION_LZW, TZ_CHOICE_AUTO},
                  {"packbits", TZ_COMPRESSION_PACKBITS, TZ_CHOICE_AUTO},
                  {"lerc", TZ_COMPRESSION_LERC, TZ_CHOICE_AUTO},
                  {"lzma", TZ_COMPRESSION_LZMA, TZ_CHOICE_AUTO},
                  {"jpeg", TZ_COMPRESSION_JPEG, TZ_CHOICE_AUTO},
                  {"webp", TZ_COMPRESSION_WEBP, TZ_CHOICE_NO},
                  {"webpll", TZ_COMPRESSION_WEBP, TZ_CHOICE_YES}};
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        if (strcmp(codecs[i].name, name) == 0) {
            how->codec.compression = codecs[i].compression;
            how->codec.lossless = codecs[i].lossless;
            return true;
        }
    }
    return failed("no codec %s", name);
}

static void *create(const job *what)
{
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    tz_error err;
    output *o = calloc(1, sizeof *o);
    spec.width = what->width;
    spec.height = what->height;
    spec.bands = what->bands;
    spec.dtype = dtype_of(what->dtype);
    if (strcmp(what->codec, "jpeg") == 0)
        spec.photometric = TZ_PHOTOMETRIC_YCBCR;
    how.codec.effort = what->level;
    how.codec.predictor = (uint16_t)what->predictor;
    how.tile_width = how.tile_height = what->tile;
    how.threads = what->threads;
    how.max_host_bytes = what->buffer;
    how.no_sync = true;
    if (o != NULL && set_codec(what->codec, &how)) {
        if (tz_create(&o->writer, what->out, &spec, &how, &err) == TZ_OK)
            return o;
        failed("%s", err.message);
    }
    free(o);
    return NULL;
}

static bool write_rows(void *file, const job *what, uint32_t row, uint32_t rows,
                       const uint8_t *pixels)
{
    output *o = file;
    tz_error err;
    tz_buffer b = {.struct_size = sizeof(tz_buffer),
                   .data = (void *)(uintptr_t)pixels,
                   .dtype = dtype_of(what->dtype),
                   .bands = what->bands,
                   .height = rows,
                   .width = what->width};
    b.band_stride = (int64_t)what->sample_size;
    b.column_stride = b.band_stride * b.bands;
    b.row_stride = b.column_stride * b.width;
    if (tz_write_rows(o->writer, &b, NULL, &err) != TZ_OK)
        return failed("%s", err.message);
    o->whole = row + rows == what->height;
    return true;
}

static bool close_file(void *file)
{
    output *o = file;
    tz_error err;
    const bool done =
        o->whole && (tz_commit(o->writer, NULL, &err) == TZ_OK || failed("%s", err.message));
    tz_writer_close(o->writer);
    free(o);
    return done;
}

int main(void)
{
    const writer terrazzo = {.create = create, .write = write_rows, .close = close_file};
    return writer_main(&terrazzo);
}
