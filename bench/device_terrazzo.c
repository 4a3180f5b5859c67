/* SPDX-License-Identifier: Apache-2.0
 * Times reading and writing with a device beside the CPU, in turns:
 *
 *     device_terrazzo DEVICE IMAGE ROUNDS
 *
 * The image is written to memory with each codec, and read from there; and it is written by the
 * device with what that encodes. Lines of `key value ...`, see print_job. The calls of the device
 * are wrapped by the linker: in one more round of each job every call is waited for, which gives
 * the time of each stage, though not how stages overlap. */
#include <inttypes.h>
#include <terrazzo/terrazzo.h>

#include "device/device.h"
#include "device/kernel_list.h"
#include "timing.h"

tz_result __real_tz_device_upload(uint32_t queue, tz_device_memory *to, uint64_t offset,
                                  const void *from, uint64_t size, tz_error *err);
tz_result __real_tz_device_download(uint32_t queue, void *to, const tz_device_memory *from,
                                    uint64_t offset, uint64_t size, tz_error *err);
tz_result __real_tz_device_launch(tz_device *device, uint32_t queue, const tz_launch *launch,
                                  tz_error *err);
tz_result __wrap_tz_device_upload(uint32_t queue, tz_device_memory *to, uint64_t offset,
                                  const void *from, uint64_t size, tz_error *err);
tz_result __wrap_tz_device_download(uint32_t queue, void *to, const tz_device_memory *from,
                                    uint64_t offset, uint64_t size, tz_error *err);
tz_result __wrap_tz_device_launch(tz_device *device, uint32_t queue, const tz_launch *launch,
                                  tz_error *err);

/* ---- stages ---- */

enum { UPLOAD = TZ_KERNEL_COUNT, DOWNLOAD, STAGES };
static const char *const stage_names[STAGES] = {
#define NAME(number, family, function, kinds) #number,
    TZ_KERNEL_LIST(NAME)
#undef NAME
        [UPLOAD] = "UPLOAD",
    [DOWNLOAD] = "DOWNLOAD"};

static bool one_by_one;
static double stage_seconds[STAGES];

static tz_result end_stage(unsigned stage, tz_device *device, uint32_t queue, stopwatch start,
                           tz_result result, tz_error *err)
{
    if (result != TZ_OK || !one_by_one)
        return result;
    result = tz_device_sync(device, queue, err);
    stage_seconds[stage] += stop_watch(start, 1).wall;
    return result;
}

tz_result __wrap_tz_device_upload(uint32_t queue, tz_device_memory *to, uint64_t offset,
                                  const void *from, uint64_t size, tz_error *err)
{
    const stopwatch start = start_watch();
    return end_stage(UPLOAD, tz_device_memory_get_device(to), queue, start,
                     __real_tz_device_upload(queue, to, offset, from, size, err), err);
}

tz_result __wrap_tz_device_download(uint32_t queue, void *to, const tz_device_memory *from,
                                    uint64_t offset, uint64_t size, tz_error *err)
{
    const stopwatch start = start_watch();
    return end_stage(DOWNLOAD, tz_device_memory_get_device(from), queue, start,
                     __real_tz_device_download(queue, to, from, offset, size, err), err);
}

tz_result __wrap_tz_device_launch(tz_device *device, uint32_t queue, const tz_launch *launch,
                                  tz_error *err)
{
    const stopwatch start = start_watch();
    return end_stage(launch->kernel, device, queue, start,
                     __real_tz_device_launch(device, queue, launch, err), err);
}

/* ---- jobs ---- */

typedef struct image {
    tz_image_spec spec;
    tz_buffer pixels;
    size_t size;
    uint8_t *output; /* of the same size, that is read to */
    tz_device_memory *on_device;
} image;

typedef struct job {
    const char *kind; /* read, write, cog */
    const char *name;
    tz_write_options how;
    tz_memory file; /* to read, or as the CPU wrote it */
} job;

static void stop_with(const char *name, const char *why)
{
    failed("%s: %s", name, why);
    fprintf(stderr, "%s\n", failure);
    exit(1);
}

static void stop(const tz_error *err)
{
    stop_with("terrazzo", err->message);
}

static void write_image(const image *i, const tz_write_options *how, tz_memory *into,
                        tz_device_use *use)
{
    tz_writer *writer = NULL;
    tz_write_report *report = NULL;
    tz_error err;
    if (tz_create_memory(&writer, into, &i->spec, how, &err) != TZ_OK ||
        tz_write_rows(writer, &i->pixels, NULL, &err) != TZ_OK ||
        tz_commit(writer, &report, &err) != TZ_OK)
        stop(&err);
    tz_writer_close(writer);
    *use = *report->device;
    tz_write_report_free(report);
}

static void read_image(const image *i, const job *j, tz_device *device, bool stays,
                       tz_device_use *use)
{
    tz_file *file = NULL;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_read_report *report = NULL;
    tz_error err;
    tz_buffer into = i->pixels;
    tz_item item = {.struct_size = sizeof item, .into = &into};
    how.device = device;
    into.data = stays ? (void *)i->on_device : i->output;
    into.memory = stays ? TZ_MEMORY_KIND_DEVICE : TZ_MEMORY_KIND_HOST;
    if (tz_open_memory(&file, j->file.data, j->file.size, NULL, &err) != TZ_OK)
        stop(&err);
    item.file = file;
    if (tz_read(&item, &how, &report, &err) != TZ_OK)
        stop(&err);
    tz_close(file);
    *use = *report->device;
    tz_read_report_free(report);
}

/* Ways: 0 the CPU, 1 the device, 2 the device and the pixels stay there (reading). */
static double run(const image *i, const job *j, tz_device *device, unsigned route,
                  tz_device_use *use)
{
    const bool reads = strcmp(j->kind, "read") == 0;
    tz_memory out = {0};
    tz_write_options how = j->how;
    how.device = route > 0 ? device : NULL;
    const stopwatch start = start_watch();
    if (reads)
        read_image(i, j, how.device, route == 2, use);
    else
        write_image(i, &how, &out, use);
    const double seconds = stop_watch(start, 1).wall;
    if (!reads && (out.size != j->file.size ||
                   checksum(out.data, out.size) != checksum(j->file.data, j->file.size)))
        stop_with(j->name, "the device writes another file than the CPU");
    if (reads && route < 2 && checksum(i->output, i->size) != checksum(i->pixels.data, i->size))
        stop_with(j->name, "other pixels came back");
    tz_memory_free(&out);
    return seconds;
}

static void print_job(const image *i, const job *j, tz_device *device, unsigned rounds)
{
    const unsigned route_count = strcmp(j->kind, "read") == 0 ? 3 : 2;
    tz_device_use use = {0}, other;
    printf("job %s %s %zu %zu\n", j->kind, j->name, i->size, j->file.size);
    for (unsigned route = 0; route < route_count; route++) /* what is compiled and cached, is now */
        run(i, j, device, route, &other);
    for (unsigned round = 0; round < rounds; round++) {
        printf("times");
        for (unsigned route = 0; route < route_count; route++)
            printf(" %.6f", run(i, j, device, route, route == 1 ? &use : &other));
        printf("\n");
    }
    printf("use %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
           " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
           use.waves, use.tiles, use.tiles_on_cpu + use.tiles_redone, use.uploads, use.upload_bytes,
           use.downloads, use.download_bytes, use.launches, use.syncs, use.memory, use.peak);
    one_by_one = true;
    memset(stage_seconds, 0, sizeof stage_seconds);
    const double whole = run(i, j, device, 1, &other);
    one_by_one = false;
    printf("whole %.6f\n", whole);
    for (unsigned s = 0; s < STAGES; s++) {
        if (stage_seconds[s] > 0)
            printf("stage %s %.6f\n", stage_names[s], stage_seconds[s]);
    }
    fflush(stdout);
}

static image load(const char *path, tz_device *device)
{
    tz_file *file = NULL;
    tz_error err;
    image i = {.spec = TZ_IMAGE_SPEC_INIT};
    if (tz_open(&file, path, NULL, &err) != TZ_OK)
        stop(&err);
    const tz_info *info = tz_file_get_info(file);
    i.spec.width = info->width;
    i.spec.height = info->height;
    i.spec.bands = info->bands;
    i.spec.dtype = info->dtype;
    i.size = (size_t)info->width * info->height * info->bands * tz_dtype_size(info->dtype);
    i.pixels = (tz_buffer){.struct_size = sizeof(tz_buffer),
                           .data = malloc(i.size),
                           .dtype = info->dtype,
                           .bands = info->bands,
                           .height = info->height,
                           .width = info->width};
    i.output = warm_buffer(i.size);
    const tz_item item = {.struct_size = sizeof item, .file = file, .into = &i.pixels};
    if (!i.pixels.data || tz_read(&item, NULL, NULL, &err) != TZ_OK ||
        tz_device_memory_alloc(&i.on_device, device, i.size, &err) != TZ_OK)
        stop(&err);
    tz_close(file);
    return i;
}

int main(int argc, char **argv)
{
    static job jobs[] = {
        {.kind = "read", .name = "none", .how.codec.compression = TZ_COMPRESSION_NONE},
        {.kind = "read", .name = "packbits", .how.codec.compression = TZ_COMPRESSION_PACKBITS},
        {.kind = "read", .name = "lzw", .how.codec.compression = TZ_COMPRESSION_LZW},
        {.kind = "read", .name = "lz4", .how.codec.compression = TZ_COMPRESSION_LZ4},
        {.kind = "read", .name = "deflate", .how.codec.compression = TZ_COMPRESSION_DEFLATE},
        {.kind = "read", .name = "zstd", .how.codec.compression = TZ_COMPRESSION_ZSTD},
        {.kind = "write", .name = "none", .how.codec.compression = TZ_COMPRESSION_NONE},
        {.kind = "write", .name = "packbits", .how.codec.compression = TZ_COMPRESSION_PACKBITS},
        {.kind = "write", .name = "deflate-fast", .how.codec.effort = TZ_EFFORT_FAST},
        {.kind = "cog",
         .name = "deflate-fast",
         .how = {.codec.effort = TZ_EFFORT_FAST, .cog = true}},
    };
    tz_device *device = NULL;
    tz_error err;
    if (argc != 4)
        return 2;
    if (tz_device_open(&device, argv[1], NULL, &err) != TZ_OK)
        stop(&err);
    printf("device %s\n", tz_device_get_info(device)->name);
    image i = load(argv[2], device);
    for (size_t k = 0; k < sizeof jobs / sizeof jobs[0]; k++) {
        tz_device_use use;
        jobs[k].how.struct_size = sizeof jobs[k].how;
        jobs[k].how.verify = TZ_VERIFY_NONE;
        write_image(&i, &jobs[k].how, &jobs[k].file, &use);
        print_job(&i, &jobs[k], device, (unsigned)atoi(argv[3]));
        tz_memory_free(&jobs[k].file);
    }
    tz_device_memory_free(i.on_device);
    tz_device_close(device);
    free(i.pixels.data);
    return 0;
}
