/* SPDX-License-Identifier: Apache-2.0
 * Opening and closing devices. A name is "cpu", "auto", or a driver and a number ("cuda:0").
 *
 * "auto" takes the usable GPU with the most memory. If it cannot be opened, the next one is tried,
 * and at last the CPU. The reason why a better device was not taken stays in the info of the device
 * that was: tz_device_info.reason. Closing releases all memory and events that the caller forgot;
 * tz_device_close_checked reports them. */
#include "device/device.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "device/cost.h"
#include "device/device_state.h"
#include "device/device_text.h"

#define MAX_INDEX 999999u

const tz_device_info *tz_device_get_info(const tz_device *device)
{
    return &device->info;
}

bool tz_device_is_auto(const tz_device *device)
{
    return device->is_auto;
}

void *tz_device_get_context(const tz_device *device)
{
    return tz_device_is_ours(device) ? device->driver->native_context(device->state) : NULL;
}

void *tz_device_get_stream(tz_device *device)
{
    const bool has_one = tz_device_is_ours(device) && device->driver->native_stream;
    return has_one ? device->driver->native_stream(device->state) : NULL;
}

/* ---- one device ---- */

static tz_result make_device(tz_device **out, const tz_device_options *options,
                             const tz_context *ctx)
{
    tz_device *device = tz_alloc_zeroed(1, sizeof *device);
    if (!device)
        return tz_fail_nomem(ctx, sizeof *device);
    if (pthread_mutex_init(&device->lock, NULL) != 0) {
        tz_free(device);
        return tz_fail_nomem(ctx, sizeof device->lock);
    }
    device->process = getpid();
    tz_device_info_init(&device->info, &device->texts);
    device->max_bytes = options->max_device_bytes ? options->max_device_bytes : UINT64_MAX;
    device->cache.limit =
        options->max_pinned_bytes ? options->max_pinned_bytes : TZ_DEVICE_CACHE_BYTES;
    *out = device;
    return TZ_OK;
}

static void destroy_device(tz_device *device)
{
    if (device->process == getpid())
        pthread_mutex_destroy(&device->lock);
    tz_free(device);
}

static tz_result open_cpu(tz_device **out, const tz_device_options *options, const char *reason,
                          const tz_context *ctx)
{
    tz_device *device = NULL;
    TZ_TRY(make_device(&device, options, ctx));
    tz_cpu_describe(&device->info, &device->texts);
    tz_device_text(device->texts.reason, sizeof device->texts.reason, reason);
    *out = device;
    return TZ_OK;
}

/* ---- by name ---- */

/* True if name is the driver's name and a number: "opencl:0". */
static bool names_device(const char *name, const tz_driver *driver, uint32_t *index)
{
    const size_t length = strlen(driver->name);
    if (strncmp(name, driver->name, length) != 0 || name[length] != ':')
        return false;
    const char *digits = name + length + 1;
    uint32_t value = 0;
    for (const char *at = digits; *at; at++) {
        if (*at < '0' || *at > '9' || value > MAX_INDEX / 10)
            return false;
        value = value * 10 + (uint32_t)(*at - '0');
    }
    *index = value;
    return *digits != '\0';
}

/* Returns the next usable GPU after `last` in order of memory, the largest first and equal ones in
 * the order of the list; NULL: there is no other. */
static const tz_device_info *next_gpu(const tz_device_list *list, const tz_device_info *last)
{
    const tz_device_info *best = NULL;
    bool is_after = false; /* info comes after last in the list */
    const tz_device_info *info;
    for (size_t i = 0; (info = tz_device_list_get_device(list, i)); i++) {
        const uint64_t memory = info->memory_bytes;
        const bool is_next =
            !last || memory < last->memory_bytes || (memory == last->memory_bytes && is_after);
        is_after = is_after || info == last;
        if (info->type != TZ_DEVICE_TYPE_GPU || !info->usable || !is_next)
            continue;
        if (!best || memory > best->memory_bytes)
            best = info;
    }
    return best;
}

/* Says why there is no GPU: the reason of the first one that is not usable, or else a reason for
 * each driver, loaded drivers first. */
static void why_no_gpu(char *reason, size_t size, const tz_device_list *list)
{
    size_t used = 0;
    const tz_device_info *info;
    const tz_driver_info *driver;
    for (size_t i = 0; (info = tz_device_list_get_device(list, i)); i++) {
        if (info->type == TZ_DEVICE_TYPE_GPU && !info->usable) {
            tz_device_textf(reason, size, "%s: %s", info->id, info->reason);
            return;
        }
    }
    for (int loaded = 1; loaded >= 0; loaded--) {
        for (size_t i = 0; (driver = tz_device_list_get_driver(list, i)); i++) {
            if (driver->loaded != (loaded != 0))
                continue;
            tz_device_textf(reason + used, size - used, "%s%s: %s", used > 0 ? "; " : "",
                            driver->name, driver->reason[0] ? driver->reason : "it has no GPU");
            used += strlen(reason + used);
        }
    }
}

static tz_result open_named(tz_device **out, const char *name, const tz_device_setup *setup,
                            const tz_context *ctx)
{
    for (const tz_driver *const *driver = tz_drivers; *driver; driver++) {
        uint32_t index;
        tz_device *device = NULL;
        if (!names_device(name, *driver, &index))
            continue;
        TZ_TRY(make_device(&device, &setup->options, ctx));
        device->driver = *driver;
        const tz_result result =
            device->driver->open(&device->state, setup, index, &device->info, &device->texts, ctx);
        if (result != TZ_OK) {
            destroy_device(device);
            return result;
        }
        device->info.caps = tz_device_caps(device->driver, &device->info);
        *out = device;
        return TZ_OK;
    }
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                   "no device has this name; the names are cpu, auto, cuda:N and opencl:N");
}

/* For "auto": opens the first GPU that can be opened, or the CPU. A GPU is opened by its id,
 * because its position in the list is not its number. */
static tz_result open_best(tz_device **out, const tz_device_setup *setup, const tz_context *ctx)
{
    char reason[sizeof((tz_device_texts *)0)->reason] = "";
    tz_result result = TZ_ERR_DEVICE;
    tz_device_list *list = NULL;
    TZ_TRY(tz_device_list_unprobed(&list, setup, ctx));
    const tz_device_info *gpu = next_gpu(list, NULL);
    if (!gpu)
        why_no_gpu(reason, sizeof reason, list);
    for (; gpu && result != TZ_OK; gpu = next_gpu(list, gpu)) {
        tz_error failed;
        const tz_context attempt = {.name = gpu->id, .err = &failed, .ifd = -1};
        result = open_named(out, gpu->id, setup, &attempt);
        if (result == TZ_OK)
            tz_device_text((*out)->texts.reason, sizeof reason, reason);
        else if (reason[0] == '\0')
            tz_device_text(reason, sizeof reason, failed.message);
    }
    tz_device_list_free(list);
    if (result != TZ_OK)
        TZ_TRY(open_cpu(out, &setup->options, reason, ctx));
    (*out)->is_auto = true;
    return TZ_OK;
}

tz_result tz_device_open(tz_device **out, const char *name, const tz_device_options *options,
                         tz_error *err)
{
    tz_device_setup setup;
    const tz_context ctx = {.name = name, .err = err, .ifd = -1};
    if (!out || !name)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "out or name is NULL");
    TZ_TRY(tz_device_setup_init(&setup, options, &ctx));
    const tz_result result = strcmp(name, "cpu") == 0    ? open_cpu(out, &setup.options, "", &ctx)
                             : strcmp(name, "auto") == 0 ? open_best(out, &setup, &ctx)
                                                         : open_named(out, name, &setup, &ctx);
    if (result == TZ_OK && (*out)->info.reason[0])
        tz_log_line(&setup.options.log, TZ_LOG_LEVEL_INFO, "%s: %s", (*out)->info.id,
                    (*out)->info.reason);
    tz_device_setup_deinit(&setup);
    return result;
}

/* ---- closing ---- */

tz_result tz_device_close_checked(tz_device *device, tz_error *err)
{
    tz_result result = TZ_OK;
    if (!device)
        return TZ_OK;
    const uint64_t bytes = device->all.bytes_now;
    uint64_t forgotten = 0;
    for (; device->events; forgotten++)
        tz_device_free_event(device->events);
    for (; device->memory; forgotten++)
        tz_device_memory_free(device->memory);
    if (forgotten > 0) {
        const tz_context ctx = {.name = device->info.id, .err = err, .ifd = -1};
        result = tz_fail(&ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL,
                         tz_expecting(tz_no_location(), 0, forgotten),
                         "allocations and events of the device were not released: %llu bytes",
                         (unsigned long long)bytes);
    }
    (void)tz_device_cache_release(device);
    if (tz_device_is_ours(device))
        device->driver->close(device->state);
    destroy_device(device);
    return result;
}

void tz_device_close(tz_device *device)
{
    (void)tz_device_close_checked(device, NULL);
}
