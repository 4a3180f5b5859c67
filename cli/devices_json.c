/* SPDX-License-Identifier: Apache-2.0
 * Devices, drivers and libraries as JSON. A number of 0 and an empty text mean that the driver does
 * not know, and become null. */
#include "devices_json.h"

#include <stdio.h>

#include "json.h"
#include "problem.h"

static void write_text(json *j, const char *key, const char *text)
{
    json_text_or_null(j, key, text[0] != '\0' ? text : NULL);
}

static void write_number(json *j, const char *key, uint64_t value)
{
    json_uint_or_null(j, key, value, value > 0);
}

static void write_limits(json *j, const tz_device_info *device)
{
    json_object(j, "limits");
    write_number(j, "memory", device->memory_bytes);
    write_number(j, "max_allocation", device->max_allocation_bytes);
    write_number(j, "alignment", device->alignment);
    write_number(j, "local_memory", device->local_memory_bytes);
    write_number(j, "max_group", device->max_work_group);
    write_number(j, "compute_units", device->compute_units);
    write_number(j, "clock_mhz", device->clock_mhz);
    json_bool(j, "fp64", device->fp64);
    json_bool(j, "unified_memory", device->unified_memory);
    json_object_end(j);
}

static void write_caps(json *j, uint32_t caps)
{
    json_array_row(j, "work");
    for (uint32_t bit = 1; bit != 0 && bit <= caps; bit <<= 1) {
        const char *name = (caps & bit) != 0 ? tz_device_cap_name(bit) : NULL;
        if (name != NULL)
            json_text(j, NULL, name);
    }
    json_array_end(j);
}

static void write_device(json *j, const tz_device_info *device)
{
    json_object(j, NULL);
    json_text(j, "id", device->id);
    json_text(j, "driver", device->driver);
    json_text(j, "type", tz_device_type_name(device->type));
    json_text(j, "name", device->name);
    write_text(j, "vendor", device->vendor);
    write_text(j, "platform", device->platform);
    write_text(j, "api_version", device->api_version);
    write_text(j, "driver_version", device->driver_version);
    write_limits(j, device);
    write_caps(j, device->caps);
    json_bool(j, "usable", device->usable);
    write_text(j, "reason", device->reason);
    json_object_end(j);
}

static void write_driver(json *j, const tz_driver_info *driver)
{
    json_object(j, NULL);
    json_text(j, "name", driver->name);
    json_text(j, "library", driver->library);
    json_bool(j, "loaded", driver->loaded);
    json_uint(j, "devices", driver->device_count);
    write_text(j, "reason", driver->reason);
    json_object_end(j);
}

static void write_library(json *j, const tz_library_info *library)
{
    json_object(j, NULL);
    json_text(j, "name", library->name);
    json_text(j, "library", library->library);
    json_bool(j, "loaded", library->loaded);
    write_text(j, "version", library->version);
    write_text(j, "codecs", library->codecs);
    write_text(j, "reason", library->reason);
    json_object_end(j);
}

static void write_error(json *j, const tz_error *err)
{
    json_object(j, "error");
    problem_write(j, err);
    json_object_end(j);
}

void devices_write(const tz_device_list *list, const tz_error *err)
{
    json j;
    const tz_device_info *device;
    const tz_driver_info *driver;
    const tz_library_info *library;
    json_open(&j, stdout);
    json_object(&j, NULL);
    json_array(&j, "devices");
    for (size_t i = 0; list && (device = tz_device_list_get_device(list, i)); i++)
        write_device(&j, device);
    json_array_end(&j);
    json_array(&j, "drivers");
    for (size_t i = 0; list && (driver = tz_device_list_get_driver(list, i)); i++)
        write_driver(&j, driver);
    json_array_end(&j);
    json_array(&j, "libraries");
    for (size_t i = 0; list && (library = tz_device_list_get_library(list, i)); i++)
        write_library(&j, library);
    json_array_end(&j);
    if (list != NULL)
        json_null(&j, "error");
    else
        write_error(&j, err);
    json_object_end(&j);
    json_close(&j);
}
