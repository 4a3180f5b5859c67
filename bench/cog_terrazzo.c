/* SPDX-License-Identifier: Apache-2.0
 * Times a TIFF file becoming a Cloud Optimized GeoTIFF: tz_open, tz_write_from, tz_commit, with the
 * default options, verification included, but not waiting for the disk; see writer.h. */
#include "terrazzo/terrazzo.h"
#include "writer.h"

static bool set_codec(const job *what, tz_image_spec *spec, tz_write_options *how)
{
    static const struct {
        const char *name;
        tz_compression compression;
    } codecs[] = {{"none", TZ_COMPRESSION_NONE},
                  {"deflate", TZ_COMPRESSION_DEFLATE},
                  {"zstd", TZ_COMPRESSION_ZSTD},
                  {"jpeg", TZ_COMPRESSION_JPEG}};
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        if (strcmp(codecs[i].name, what->codec) != 0)
            continue;
        how->codec.compression = codecs[i].compression;
        if (how->codec.compression == TZ_COMPRESSION_JPEG)
            spec->photometric = TZ_PHOTOMETRIC_YCBCR;
        return true;
    }
    return failed("no codec %s", what->codec);
}

static tz_result read_window(void *user, const tz_window *window, const tz_buffer *pixels,
                             const tz_buffer *mask, tz_error *err)
{
    const tz_item item = {
        .struct_size = sizeof item, .file = user, .window = *window, .into = pixels};
    (void)mask;
    return tz_read(&item, NULL, NULL, err);
}

static bool write_cog(const job *what, tz_file *file, tz_image_spec *spec)
{
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    tz_error err;
    tz_writer *made = NULL;
    const tz_row_source source = {
        .struct_size = sizeof source, .read = read_window, .user = file, .chunk_rows = what->tile};
    how.cog = true;
    how.overview_resampling = TZ_RESAMPLING_AVERAGE;
    how.codec.effort = what->level;
    how.codec.predictor = (uint16_t)what->predictor;
    how.tile_width = how.tile_height = what->tile;
    how.threads = what->threads;
    how.max_host_bytes = what->buffer;
    how.no_sync = true;
    if (!set_codec(what, spec, &how))
        return false;
    const bool done = tz_create(&made, what->out, spec, &how, &err) == TZ_OK &&
                      tz_write_from(made, &source, &err) == TZ_OK &&
                      tz_commit(made, NULL, &err) == TZ_OK;
    tz_writer_close(made);
    return done || failed("%s", err.message);
}

static bool copy(const job *what)
{
    tz_file *file = NULL;
    tz_image_spec *spec = NULL;
    tz_error err;
    bool done = (tz_open(&file, what->input, NULL, &err) == TZ_OK &&
                 tz_image_spec_from_file(&spec, file, &err) == TZ_OK) ||
                failed("%s", err.message);
    done = done && write_cog(what, file, spec);
    tz_image_spec_free(spec);
    tz_close(file);
    return done;
}

int main(void)
{
    const writer terrazzo = {.copy = copy};
    return writer_main(&terrazzo);
}
