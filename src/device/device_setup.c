/* SPDX-License-Identifier: Apache-2.0
 * Options of the caller, with the text that names libraries taken apart. */
#include <string.h>

#include "base/mem.h"
#include "device/device_state.h"

static const char *const library_names[TZ_LIBRARY_COUNT] = {
    [TZ_LIBRARY_CUDA] = "cuda",         [TZ_LIBRARY_OPENCL] = "opencl",
    [TZ_LIBRARY_NVCOMP] = "nvcomp",     [TZ_LIBRARY_CUFILE] = "cufile",
    [TZ_LIBRARY_NVJPEG2K] = "nvjpeg2k", [TZ_LIBRARY_NVJPEG] = "nvjpeg"};

static tz_result fail_libraries(const char *name, const char *text, const tz_context *ctx)
{
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "libraries: '%s' %s", name,
                   text);
}

/* Ends the entry at ';' or the end of the text, and its name at '='. Returns the next entry. */
static char *split_entry(char *entry, char **value)
{
    char *end = entry + strcspn(entry, ";");
    char *next = *end ? end + 1 : end;
    *end = '\0';
    *value = strchr(entry, '=');
    if (*value)
        *(*value)++ = '\0';
    return next;
}

/* Entries may be empty, so that texts can be joined by ';'. */
static tz_result find_libraries(tz_device_setup *setup, const tz_context *ctx)
{
    char *value, *next;
    for (char *entry = setup->text; *entry; entry = next) {
        size_t i = 0;
        next = split_entry(entry, &value);
        if (!*entry && !value)
            continue;
        while (i < TZ_LIBRARY_COUNT && strcmp(entry, library_names[i]) != 0)
            i++;
        if (i == TZ_LIBRARY_COUNT)
            return fail_libraries(
                entry, "is not one of cuda, opencl, nvcomp, cufile, nvjpeg2k and nvjpeg", ctx);
        if (!value)
            return fail_libraries(entry, "has no = and path after it", ctx);
        if (setup->libraries[i])
            return fail_libraries(entry, "is there twice", ctx);
        setup->libraries[i] = value;
    }
    return TZ_OK;
}

tz_result tz_device_setup_init(tz_device_setup *setup, const tz_device_options *given,
                               const tz_context *ctx)
{
    *setup = (tz_device_setup){.options = TZ_DEVICE_OPTIONS_INIT};
    TZ_TRY(tz_copy_struct(&setup->options, sizeof setup->options, given, "options",
                          "TZ_DEVICE_OPTIONS_INIT", ctx));
    if (!setup->options.libraries)
        return TZ_OK;
    const size_t size = strlen(setup->options.libraries) + 1;
    setup->text = tz_alloc(size);
    if (!setup->text)
        return tz_fail_nomem(ctx, size);
    memcpy(setup->text, setup->options.libraries, size);
    const tz_result result = find_libraries(setup, ctx);
    if (result != TZ_OK)
        tz_device_setup_deinit(setup);
    return result;
}

void tz_device_setup_deinit(tz_device_setup *setup)
{
    tz_free(setup->text);
    setup->text = NULL;
}
