/* SPDX-License-Identifier: Apache-2.0
 * terrazzo in the measurements of make test-gpu: does what lines of stdin say, and times it.
 *
 *     gpu_player DEVICE LIBRARIES        "cpu" or "cuda:0"; 1: lossy codecs and encoders are also
 * for the vendor's libraries paint KIND SIZE                    an image in memory, of KIND grey16
 * or rgb8; its checksum write host|device CODEC PATH       the image, from memory of either read
 * host|device PATH              all pixels, to memory of either
 *
 * The answer of the last two is `SECONDS BYTES SUM`, a checksum of pixels (not of lossy codecs: see
 * run.py), and then what was done where: see print_use; or `failed MESSAGE`. */
#include "bench/timing.h"

#include <inttypes.h>
#include <terrazzo/terrazzo.h>

static tz_device *device; /* NULL: the CPU */
static bool with_libraries;
static tz_device_memory *on_device; /* for pixels; grows */
static tz_buffer image;             /* as it was painted */
static size_t image_size;

static bool has_failed(tz_result result, const tz_error *err)
{
    return result != TZ_OK && !failed("%s", err->message);
}

/* Rows of whole pixels, as files have them. */
static tz_buffer buffer_of(void *data, tz_dtype dtype, uint32_t bands, uint32_t height,
                           uint32_t width)
{
    const int64_t sample = (int64_t)tz_dtype_size(dtype);
    return (tz_buffer){.struct_size = sizeof(tz_buffer),
                       .data = data,
                       .dtype = dtype,
                       .bands = bands,
                       .height = height,
                       .width = width,
                       .band_stride = sample,
                       .column_stride = sample * bands,
                       .row_stride = sample * bands * width};
}

static bool device_room(uint64_t size)
{
    tz_error err;
    if (!device)
        return failed("the CPU has no memory of a device");
    if (on_device && tz_device_memory_get_size(on_device) >= size)
        return true;
    tz_device_memory_free(on_device);
    on_device = NULL;
    return !has_failed(tz_device_memory_alloc(&on_device, device, size, &err), &err);
}

/* Hills, and a little noise; colours that go along with them. */
static void paint(bool is_rgb, uint32_t size)
{
    const uint32_t bands = is_rgb ? 3 : 1;
    const tz_dtype dtype = is_rgb ? TZ_DTYPE_UINT8 : TZ_DTYPE_UINT16;
    image_size = (size_t)size * size * bands * tz_dtype_size(dtype);
    free(image.data);
    image = buffer_of(malloc(image_size), dtype, bands, size, size);
    if (!image.data)
        abort();
    uint32_t noise = 1;
    for (size_t i = 0; i < (size_t)size * size; i++) {
        const uint32_t x = (uint32_t)(i % size) & 1023, y = (uint32_t)(i / size) & 1023;
        const uint32_t hill = (x * (1023 - x) + y * (1023 - y)) >> 6;
        noise = noise * 1664525u + 1013904223u;
        if (is_rgb) {
            for (uint32_t band = 0; band < 3; band++)
                ((uint8_t *)image.data)[3 * i + band] =
                    (uint8_t)((hill >> (5 + band)) + (noise >> 30));
        } else {
            ((uint16_t *)image.data)[i] = (uint16_t)(hill + (noise >> 29));
        }
    }
}

/* ---- reading ---- */

static bool read_into(const tz_file *file, bool stays, uint8_t *host, tz_device_use *use)
{
    const tz_info *info = tz_file_get_info(file);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_read_report *report = NULL;
    tz_error err;
    tz_buffer into = buffer_of(stays ? (void *)on_device : host, info->dtype, info->bands,
                               (uint32_t)info->height, (uint32_t)info->width);
    const tz_item item = {.struct_size = sizeof item, .file = file, .into = &into};
    into.memory = stays ? TZ_MEMORY_KIND_DEVICE : TZ_MEMORY_KIND_HOST;
    how.device = device;
    how.allow_vendor_codecs = how.allow_inexact = with_libraries;
    if (has_failed(tz_read(&item, &how, &report, &err), &err))
        return false;
    *use = *report->device;
    tz_read_report_free(report);
    return true;
}

static bool prepare(const char *path, bool stays, size_t *size)
{
    tz_file *file = NULL;
    tz_error err;
    if (has_failed(tz_open(&file, path, NULL, &err), &err))
        return false;
    const tz_info *info = tz_file_get_info(file);
    *size = (size_t)info->width * info->height * info->bands * tz_dtype_size(info->dtype);
    tz_close(file);
    return !stays || device_room(*size);
}

/* Opening is part of it; getting memory for pixels is not. */
static bool answer_read(bool stays, const char *path, double *seconds, size_t *size,
                        tz_device_use *use)
{
    tz_file *file = NULL;
    tz_error err;
    if (!prepare(path, stays, size))
        return false;
    uint8_t *host = warm_buffer(*size);
    memset(host, 0x5a, *size);
    const stopwatch start = start_watch();
    bool done = !has_failed(tz_open(&file, path, NULL, &err), &err);
    done = done && read_into(file, stays, host, use);
    tz_close(file);
    *seconds = stop_watch(start, 1).wall;
    return done &&
           (!stays || !has_failed(tz_device_copy_out(host, on_device, 0, *size, &err), &err));
}

/* ---- writing ---- */

static bool find_codec(const char *name, tz_compression *out)
{
    static const struct {
        const char *name;
        tz_compression is;
    } codecs[] = {{"none", TZ_COMPRESSION_NONE},       {"lzw", TZ_COMPRESSION_LZW},
                  {"deflate", TZ_COMPRESSION_DEFLATE}, {"zstd", TZ_COMPRESSION_ZSTD},
                  {"lz4", TZ_COMPRESSION_LZ4},         {"packbits", TZ_COMPRESSION_PACKBITS},
                  {"jpeg", TZ_COMPRESSION_JPEG},       {"j2k", TZ_COMPRESSION_JPEG2000}};
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        *out = codecs[i].is;
        if (strcmp(name, codecs[i].name) == 0)
            return true;
    }
    return failed("no codec %s", name);
}

static bool write_rows(const char *path, const tz_buffer *rows, tz_compression codec,
                       tz_device_use *use)
{
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    tz_writer *writer = NULL;
    tz_write_report *report = NULL;
    tz_error err;
    spec.width = image.width, spec.height = image.height;
    spec.bands = image.bands, spec.dtype = image.dtype;
    how.codec.compression = codec;
    how.tile_width = how.tile_height = image.width < 256 ? (image.width + 15) / 16 * 16 : 256;
    how.device = device;
    how.allow_vendor_codecs = how.allow_inexact = with_libraries;
    how.verify = TZ_VERIFY_NONE;
    how.no_sync = true;
    tz_result result = tz_create(&writer, path, &spec, &how, &err);
    if (result == TZ_OK)
        result = tz_write_rows(writer, rows, NULL, &err);
    if (result == TZ_OK)
        result = tz_commit(writer, &report, &err);
    tz_writer_close(writer);
    if (has_failed(result, &err))
        return false;
    *use = *report->device;
    tz_write_report_free(report);
    return true;
}

static bool answer_write(bool stays, const char *codec, const char *path, double *seconds,
                         size_t *size, tz_device_use *use)
{
    tz_compression compression;
    tz_buffer rows = image;
    tz_error err;
    *size = image_size;
    if (!find_codec(codec, &compression))
        return false;
    if (stays) {
        if (!device_room(image_size) ||
            has_failed(tz_device_copy_in(on_device, 0, image.data, image_size, &err), &err))
            return false;
        rows.data = on_device;
        rows.memory = TZ_MEMORY_KIND_DEVICE;
    }
    const stopwatch start = start_watch();
    const bool done = write_rows(path, &rows, compression, use);
    *seconds = stop_watch(start, 1).wall;
    return done;
}

/* ---- requests ---- */

static void print_use(const tz_device_use *use)
{
    printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
           " %" PRIu64 " %" PRIu64 " %s\n",
           use->waves, use->tiles, use->tiles_on_cpu + use->tiles_redone, use->uploads,
           use->downloads, use->launches, use->syncs, use->library_calls, use->direct_bytes,
           use->library[0] ? use->library : "-");
}

static void answer(char *line)
{
    char word[16], where[16], codec[16], path[MAX_LINE];
    uint32_t side;
    double seconds = 0;
    size_t size = 0;
    tz_device_use use = {0};
    bool done = false, stays;
    uint64_t sum = 0;
    if (sscanf(line, "paint %15s %u", word, &side) == 2) {
        paint(strcmp(word, "rgb8") == 0, side);
        done = true;
        size = image_size;
        sum = checksum(image.data, image_size);
    } else if (sscanf(line, "read %15s %4095[^\n]", where, path) == 2) {
        stays = strcmp(where, "device") == 0;
        done = answer_read(stays, path, &seconds, &size, &use);
        sum = done ? checksum(warm_buffer(size), size) : 0;
    } else if (sscanf(line, "write %15s %15s %4095[^\n]", where, codec, path) == 3) {
        stays = strcmp(where, "device") == 0;
        done = answer_write(stays, codec, path, &seconds, &size, &use);
    } else {
        failed("not understood");
    }
    if (done) {
        printf("%.9f %zu %" PRIx64, seconds, size, sum);
        print_use(&use);
    } else {
        printf("failed %s\n", failure);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_error err;
    char line[MAX_LINE], libraries[1024];
    const char *cuda = getenv("TERRAZZO_GPU_LIBRARY");
    if (argc != 3)
        return 2;
    snprintf(libraries, sizeof libraries, "cuda=%s", cuda ? cuda : "");
    how.libraries = cuda ? libraries : NULL;
    with_libraries = strcmp(argv[2], "1") == 0;
    if (strcmp(argv[1], "cpu") != 0 && tz_device_open(&device, argv[1], &how, &err) != TZ_OK) {
        printf("failed %s\n", err.message);
        return 1;
    }
    printf("ready terrazzo %s, %s\n", tz_version(), argv[1]);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        answer(line);
    tz_device_memory_free(on_device);
    tz_device_close(device);
    free(image.data);
    free(buffer);
    return 0;
}
