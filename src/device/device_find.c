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

/* A list with the arrays that it points to. */
typedef struct device_list_owner {
    tz_device_list shown; /* the first member: tz_device_list_free gets a pointer to it */
    tz_driver_info drivers[DRIVER_COUNT];
    tz_library_info libraries[TZ_NVIDIA_LIBRARY_COUNT];
    tz_found_devices found;
} device_list_owner;

const char *tz_device_type_name(tz_device_type type)
{
    return type == TZ_DEVICE_TYPE_CPU ? "cpu" : type == TZ_DEVICE_TYPE_GPU ? "gpu" : "other";
}

tz_result tz_device_copy_options(tz_device_options *out, const tz_device_options *given,
                                 const tz_context *ctx)
{
    *out = (tz_device_options)TZ_DEVICE_OPTIONS_INIT;
    return tz_copy_struct(out, sizeof *out, given, "options", "TZ_DEVICE_OPTIONS_INIT", ctx);
}

tz_device_info *tz_found_devices_add(tz_found_devices *found)
{
    tz_device_info *devices =
        tz_realloc_array(found->devices, found->count + 1, sizeof *found->devices);
    if (!devices)
        return NULL;
    found->devices = devices;
    memset(&devices[found->count], 0, sizeof *devices);
    return &devices[found->count++];
}

void tz_cpu_describe(tz_device_info *info)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    *info = (tz_device_info){.id = "cpu",
                             .driver = "cpu",
                             .name = "the CPU of this machine",
                             .type = TZ_DEVICE_TYPE_CPU,
                             .work = tz_device_all_caps(),
                             .usable = true};
    info->limits.compute_units = tz_available_cpus();
    info->limits.fp64 = true;
    info->limits.unified_memory = true;
    if (pages > 0 && page > 0)
        info->limits.memory = (uint64_t)pages * (uint64_t)page;
}

/* Opens and closes a device, in a context of its own: one of the caller's belongs to one device. If
 * that fails, *info becomes unusable, with the reason. */
static void probe_device(const tz_driver *driver, const tz_device_options *options, uint32_t index,
                         tz_device_info *info)
{
    tz_device_options how = *options;
    tz_device_info opened = {.usable = false};
    tz_error failed;
    void *state = NULL;
    const tz_context probe = {.err = &failed, .ifd = -1};
    how.cuda_context = how.cuda_stream = how.opencl_context = NULL;
    if (driver->open(&state, &how, index, &opened, &probe) == TZ_OK) {
        driver->close(state);
        return;
    }
    info->usable = false;
    tz_device_text(info->reason, sizeof info->reason, failed.message);
}

/* Fills a list that is zeroed. After an error the caller frees it. */
static tz_result fill_list(device_list_owner *list, const tz_device_options *options, bool probes,
                           const tz_context *ctx)
{
    tz_device_info *cpu = tz_found_devices_add(&list->found);
    bool has_cuda = false;
    if (!cpu)
        return tz_fail_nomem(ctx, sizeof *cpu);
    tz_cpu_describe(cpu);
    for (size_t i = 0; i < DRIVER_COUNT; i++) {
        tz_driver_info *about = &list->drivers[i];
        const size_t before = list->found.count;
        tz_device_text(about->name, sizeof about->name, tz_drivers[i]->name);
        TZ_TRY(tz_drivers[i]->find(options, &list->found, about, ctx));
        for (size_t k = before; k < list->found.count; k++) {
            tz_device_info *info = &list->found.devices[k];
            if (probes && info->usable && tz_drivers[i]->probes_when_listed)
                probe_device(tz_drivers[i], options, (uint32_t)(k - before), info);
            info->work = tz_device_caps(tz_drivers[i], info);
            has_cuda = has_cuda || tz_drivers[i] == &tz_driver_cuda;
        }
        about->device_count = (uint32_t)(list->found.count - before);
    }
    list->shown = (tz_device_list){.driver_count = DRIVER_COUNT,
                                   .drivers = list->drivers,
                                   .device_count = list->found.count,
                                   .devices = list->found.devices};
    if (has_cuda) {
        tz_nvidia_libraries_find(list->libraries, options);
        list->shown.library_count = TZ_NVIDIA_LIBRARY_COUNT;
        list->shown.libraries = list->libraries;
    }
    return TZ_OK;
}

static tz_result make_list(tz_device_list **out, const tz_device_options *options, bool probes,
                           tz_error *err)
{
    tz_device_options how;
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!out)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "out is NULL");
    TZ_TRY(tz_device_copy_options(&how, options, &ctx));
    device_list_owner *list = tz_alloc_zeroed(1, sizeof *list);
    if (!list)
        return tz_fail_nomem(&ctx, sizeof *list);
    const tz_result result = fill_list(list, &how, probes, &ctx);
    if (result == TZ_OK)
        *out = &list->shown;
    else
        tz_device_list_free(&list->shown);
    return result;
}

tz_result tz_device_list_create(tz_device_list **out, const tz_device_options *options,
                                tz_error *err)
{
    return make_list(out, options, true, err);
}

tz_result tz_device_list_unprobed(tz_device_list **out, const tz_device_options *options,
                                  tz_error *err)
{
    return make_list(out, options, false, err);
}

void tz_device_list_free(tz_device_list *list)
{
    if (!list)
        return;
    device_list_owner *whole = (device_list_owner *)list;
    tz_free(whole->found.devices);
    tz_free(whole);
}
