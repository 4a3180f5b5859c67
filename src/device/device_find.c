/* SPDX-License-Identifier: Apache-2.0
 * The list of devices: the CPU, then the devices of each driver.
 *
 * Listing a device must not cost what opening it costs, so that a driver describes its devices
 * without opening them. A driver whose descriptions may be wrong (probes_when_listed) has each of
 * its devices opened and closed once for a list that users see, but not for "auto", which opens one
 * anyway. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pool.h"
#include "device/device_state.h"
#include "device/device_text.h"
#include "device/nvidia/nvidia_libraries.h"

/* In order of preference: of several equal devices, "auto" takes the first. */
#define DRIVER_COUNT 2u
const tz_driver *const tz_drivers[DRIVER_COUNT + 1] = {&tz_driver_cuda, &tz_driver_opencl, NULL};

struct tz_device_list {
    tz_found_driver drivers[DRIVER_COUNT];
    tz_found_library libraries[TZ_NVIDIA_LIBRARY_COUNT];
    size_t library_count;
    tz_found_devices found;
};

const char *tz_device_type_name(tz_device_type type)
{
    return type == TZ_DEVICE_TYPE_CPU ? "cpu" : type == TZ_DEVICE_TYPE_GPU ? "gpu" : "other";
}

void tz_device_info_init(tz_device_info *info, tz_device_texts *texts)
{
    memset(texts, 0, sizeof *texts);
    *info = (tz_device_info){.id = texts->id,
                             .driver = texts->driver,
                             .name = texts->name,
                             .vendor = texts->vendor,
                             .platform = texts->platform,
                             .api_version = texts->api_version,
                             .driver_version = texts->driver_version,
                             .reason = texts->reason};
}

/* Each device has memory of its own: the array may move, and the texts must not. */
tz_found_device *tz_found_devices_add(tz_found_devices *found)
{
    tz_found_device **devices =
        tz_realloc_array(found->devices, found->count + 1, sizeof *found->devices);
    if (!devices)
        return NULL;
    found->devices = devices;
    tz_found_device *device = tz_alloc(sizeof *device);
    if (!device)
        return NULL;
    tz_device_info_init(&device->info, &device->texts);
    devices[found->count++] = device;
    return device;
}

void tz_cpu_describe(tz_device_info *info, tz_device_texts *texts)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    tz_device_text(texts->id, sizeof texts->id, "cpu");
    tz_device_text(texts->driver, sizeof texts->driver, "cpu");
    tz_device_text(texts->name, sizeof texts->name, "the CPU of this machine");
    info->type = TZ_DEVICE_TYPE_CPU;
    info->caps = tz_device_all_caps();
    info->usable = true;
    info->fp64 = true;
    info->unified_memory = true;
    info->compute_units = tz_available_cpus();
    if (pages > 0 && page > 0)
        info->memory_bytes = (uint64_t)pages * (uint64_t)page;
}

/* Opens and closes a device, in a context of its own: one of the caller's belongs to one device. If
 * that fails, *info becomes unusable, with the reason. */
static void probe_device(const tz_driver *driver, const tz_device_setup *setup, uint32_t index,
                         tz_found_device *device)
{
    tz_device_setup how = *setup;
    tz_found_device opened;
    tz_error failed;
    void *state = NULL;
    const tz_context probe = {.err = &failed, .ifd = -1};
    how.options.cuda_context = how.options.cuda_stream = how.options.opencl_context = NULL;
    tz_device_info_init(&opened.info, &opened.texts);
    if (driver->open(&state, &how, index, &opened.info, &opened.texts, &probe) == TZ_OK) {
        driver->close(state);
        return;
    }
    device->info.usable = false;
    tz_device_text(device->texts.reason, sizeof device->texts.reason, failed.message);
}

/* Fills a list that is zeroed. After an error the caller frees it. */
static tz_result fill_list(tz_device_list *list, const tz_device_setup *setup, bool probes,
                           const tz_context *ctx)
{
    tz_found_device *cpu = tz_found_devices_add(&list->found);
    bool has_cuda = false;
    if (!cpu)
        return tz_fail_nomem(ctx, sizeof *cpu);
    tz_cpu_describe(&cpu->info, &cpu->texts);
    for (size_t i = 0; i < DRIVER_COUNT; i++) {
        tz_found_driver *about = &list->drivers[i];
        const size_t before = list->found.count;
        about->info = (tz_driver_info){
            .name = tz_drivers[i]->name, .library = about->library, .reason = about->reason};
        TZ_TRY(tz_check_progress(ctx, &setup->options.progress, i, DRIVER_COUNT));
        TZ_TRY(tz_drivers[i]->find(setup, &list->found, about, ctx));
        if (probes && about->reason[0])
            tz_log_line(&setup->options.log, TZ_LOG_LEVEL_INFO, "%s: %s", about->info.name,
                        about->reason);
        for (size_t k = before; k < list->found.count; k++) {
            tz_found_device *device = list->found.devices[k];
            TZ_TRY(tz_check_progress(ctx, &setup->options.progress, i, DRIVER_COUNT));
            if (probes && device->info.usable && tz_drivers[i]->probes_when_listed)
                probe_device(tz_drivers[i], setup, (uint32_t)(k - before), device);
            device->info.caps = tz_device_caps(tz_drivers[i], &device->info);
            has_cuda = has_cuda || tz_drivers[i] == &tz_driver_cuda;
        }
        about->info.device_count = (uint32_t)(list->found.count - before);
    }
    if (has_cuda) {
        tz_nvidia_libraries_find(list->libraries, setup);
        list->library_count = TZ_NVIDIA_LIBRARY_COUNT;
    }
    return TZ_OK;
}

static tz_result make_list(tz_device_list **out, const tz_device_setup *setup, bool probes,
                           const tz_context *ctx)
{
    tz_device_list *list = tz_alloc_zeroed(1, sizeof *list);
    if (!list)
        return tz_fail_nomem(ctx, sizeof *list);
    const tz_result result = fill_list(list, setup, probes, ctx);
    if (result == TZ_OK)
        *out = list;
    else
        tz_device_list_free(list);
    return result;
}

tz_result tz_device_list_create(tz_device_list **out, const tz_device_options *options,
                                tz_error *err)
{
    tz_device_setup setup;
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!out)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "out is NULL");
    TZ_TRY(tz_device_setup_init(&setup, options, &ctx));
    const tz_result result = make_list(out, &setup, true, &ctx);
    tz_device_setup_deinit(&setup);
    return result;
}

tz_result tz_device_list_unprobed(tz_device_list **out, const tz_device_setup *setup,
                                  const tz_context *ctx)
{
    const tz_context unnamed = {.err = ctx->err, .ifd = -1};
    return make_list(out, setup, false, &unnamed);
}

void tz_device_list_free(tz_device_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->found.count; i++)
        tz_free(list->found.devices[i]);
    tz_free(list->found.devices);
    tz_free(list);
}

const tz_device_info *tz_device_list_get_device(const tz_device_list *list, size_t index)
{
    return index < list->found.count ? &list->found.devices[index]->info : NULL;
}

const tz_driver_info *tz_device_list_get_driver(const tz_device_list *list, size_t index)
{
    return index < DRIVER_COUNT ? &list->drivers[index].info : NULL;
}

const tz_library_info *tz_device_list_get_library(const tz_device_list *list, size_t index)
{
    return index < list->library_count ? &list->libraries[index].info : NULL;
}
