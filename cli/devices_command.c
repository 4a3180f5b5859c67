/* SPDX-License-Identifier: Apache-2.0
 * terrazzo devices: the CPU, devices of all drivers, and why a driver or library cannot be used.
 * Nothing that is missing is an error; the command fails only if the list cannot be made. */
#include "devices_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <terrazzo/terrazzo.h>

#include "common.h"
#include "device_option.h"
#include "devices_json.h"
#include "page.h"
#include "terminal.h"
#include "text.h"

/* clang-format off */
static const cli_option devices_options[] = {
    DEVICE_LIBRARIES,
    {"json", 0, COMMON_JSON, NULL, "as JSON"},
    COMMON_OPTIONS
};
/* clang-format on */

static int run_devices(int argc, char **argv);

const cli_command devices_command = {
    .name = "devices",
    .arguments = "",
    .summary = "lists devices, and says what is missing",
    .examples = "terrazzo devices\tthe CPU, CUDA and OpenCL\n"
                "terrazzo devices --json\tthe same for programs",
    .options = devices_options,
    .run = run_devices,
};

typedef struct devices_settings {
    common_settings common;
    device_libraries libraries;
} devices_settings;

static bool apply_devices_option(void *user, int id, const char *value)
{
    devices_settings *settings = user;
    device_set_library(&settings->libraries, id, value);
    return true;
}

/* ---- for people ---- */

static void text_line(const char *name, const char *text)
{
    if (text[0] == '\0')
        return;
    page_label(name);
    text_put_string(stdout, text, 0);
    putchar('\n');
}

static void bytes_line(const char *name, uint64_t bytes)
{
    char number[TEXT_NUMBER];
    if (bytes > 0)
        page_line(name, text_bytes(number, bytes));
}

/* Prints the names of the bits; bits of a newer library without a name are left out. */
static void print_caps(uint32_t caps)
{
    const char *separator = "";
    page_label("work");
    for (uint32_t bit = 1; bit != 0 && bit <= caps; bit <<= 1) {
        const char *name = (caps & bit) != 0 ? tz_device_cap_name(bit) : NULL;
        if (name == NULL)
            continue;
        printf("%s%s", separator, name);
        separator = ", ";
    }
    putchar('\n');
}

static void print_device_limits(const tz_device_info *device)
{
    bytes_line("local memory", device->local_memory_bytes);
    bytes_line("alignment", device->alignment);
    if (device->max_work_group > 0) {
        page_label("largest group");
        printf("%u\n", (unsigned)device->max_work_group);
    }
    page_line("fp64", device->fp64 ? "yes" : "no");
    page_line("unified", device->unified_memory ? "yes" : "no");
}

static void print_device(const tz_device_info *device, bool verbose)
{
    page_heading(device->id);
    text_line("name", device->name);
    page_line("type", tz_device_type_name(device->type));
    text_line("vendor", device->vendor);
    text_line("platform", device->platform);
    text_line("version", device->api_version);
    text_line("driver", device->driver_version);
    if (device->compute_units > 0) {
        page_label("units");
        printf("%u", (unsigned)device->compute_units);
        if (device->clock_mhz > 0)
            printf(" at %u MHz", (unsigned)device->clock_mhz);
        putchar('\n');
    }
    bytes_line("memory", device->memory_bytes);
    bytes_line("allocation", device->max_allocation_bytes);
    if (verbose)
        print_device_limits(device);
    if (device->usable)
        print_caps(device->caps);
    else
        text_line("not usable", device->reason);
}

static void print_drivers(const tz_device_list *list)
{
    const tz_driver_info *driver;
    page_heading("Drivers");
    for (size_t i = 0; (driver = tz_device_list_get_driver(list, i)) != NULL; i++) {
        page_label(driver->name);
        text_put_string(stdout, driver->library, 0);
        if (!driver->loaded)
            printf(" is not there");
        else
            printf(", %u device%s", (unsigned)driver->device_count,
                   text_plural(driver->device_count));
        if (driver->reason[0] != '\0') {
            printf(": ");
            text_put_string(stdout, driver->reason, 0);
        }
        putchar('\n');
    }
}

static void print_vendor_library(const tz_library_info *library)
{
    page_label(library->name);
    text_put_string(stdout, library->library, 0);
    if (library->loaded)
        printf(", %s", library->version);
    else
        printf(" is not used");
    if (library->codecs[0] != '\0' || library->reason[0] != '\0')
        printf(": ");
    text_put_string(stdout, library->codecs, 0);
    text_put_string(stdout, library->reason, 0);
    putchar('\n');
}

static void print_list(const tz_device_list *list, bool verbose)
{
    const tz_device_info *device;
    const tz_library_info *library;
    term_put(TERM_TITLE, "Devices");
    putchar('\n');
    for (size_t i = 0; (device = tz_device_list_get_device(list, i)) != NULL; i++)
        print_device(device, verbose);
    print_drivers(list);
    if (tz_device_list_get_library(list, 0) != NULL)
        page_heading("Libraries");
    for (size_t i = 0; (library = tz_device_list_get_library(list, i)) != NULL; i++)
        print_vendor_library(library);
}

static int list_devices(const devices_settings *settings)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device_list *list = NULL;
    tz_error err;
    char *text = NULL;
    tz_result result = device_join_libraries(&text, &settings->libraries, &err);
    how.libraries = text;
    if (result == TZ_OK)
        result = tz_device_list_create(&list, &how, &err);
    free(text);
    if (settings->common.json)
        devices_write(list, &err);
    else if (result == TZ_OK)
        print_list(list, settings->common.verbose);
    if (result != TZ_OK)
        term_error(err.message);
    tz_device_list_free(list);
    return result == TZ_OK ? EXIT_OK : EXIT_FAILED;
}

static int run_devices(int argc, char **argv)
{
    devices_settings settings = {.common = {.open = TZ_OPEN_OPTIONS_INIT}};
    int status;
    int count = common_parse(&devices_command, argc, argv, &settings.common, apply_devices_option,
                             &settings, &status);
    if (count < 0)
        return status;
    if (count > 0)
        return common_wrong_operands(&devices_command, "unexpected argument", argv[0]);
    return list_devices(&settings);
}
