/* SPDX-License-Identifier: Apache-2.0
 * Linked into a test program beside on_device.c, with --wrap of the three ways to create a file and
 * of tz_commit: all tiles that the program writes are extracted and encoded by a device, as far as
 * that can. What a test then asks of the file, a device's file must have too. */
#include <string.h>
#include <terrazzo/terrazzo.h>

#include "support/device/on_device.h"

tz_result __real_tz_create(tz_writer **out, const char *path, const tz_image_spec *spec,
                           const tz_write_options *options, tz_error *err);
tz_result __real_tz_create_memory(tz_writer **out, tz_memory *into, const tz_image_spec *spec,
                                  const tz_write_options *options, tz_error *err);
tz_result __real_tz_create_sink(tz_writer **out, tz_sink *sink, const char *name,
                                const tz_image_spec *spec, const tz_write_options *options,
                                tz_error *err);
tz_result __real_tz_commit(tz_writer *writer, tz_write_report **report, tz_error *err);
tz_result __wrap_tz_create(tz_writer **out, const char *path, const tz_image_spec *spec,
                           const tz_write_options *options, tz_error *err);
tz_result __wrap_tz_create_memory(tz_writer **out, tz_memory *into, const tz_image_spec *spec,
                                  const tz_write_options *options, tz_error *err);
tz_result __wrap_tz_create_sink(tz_writer **out, tz_sink *sink, const char *name,
                                const tz_image_spec *spec, const tz_write_options *options,
                                tz_error *err);

tz_result __wrap_tz_commit(tz_writer *writer, tz_write_report **report, tz_error *err);

/* The codec of the file that the thread created last. */
static _Thread_local uint16_t compression;

/* Files that must have the same bytes are all given to the device, or none of them is; those with
 * overviews all are: there is much in them. */
static unsigned number_of(const tz_image_spec *spec, const tz_write_options *options)
{
    return spec->width + spec->height / 3 + spec->bands + (unsigned)spec->dtype +
           (unsigned)options->codec.compression;
}

/* The options as given, with the device; or just as given, where they are wrong. */
static const tz_write_options *with_device(const tz_image_spec *spec, const tz_write_options *given,
                                           tz_write_options *room)
{
    const tz_write_options defaults = TZ_WRITE_OPTIONS_INIT;
    *room = defaults;
    if (given && (given->struct_size < sizeof given->struct_size ||
                  given->struct_size > sizeof *given || given->device))
        return given;
    if (given)
        memcpy(room, given, given->struct_size);
    if (!spec || (!room->cog && !on_device_takes(number_of(spec, room))))
        return given;
    room->struct_size = sizeof *room;
    room->device = on_device;
    room->allow_vendor_codecs |= on_device_needs_libraries();
    room->allow_inexact = room->allow_vendor_codecs;
    compression = (uint16_t)room->codec.compression;
    on_device_calls++;
    return room;
}

tz_result __wrap_tz_create(tz_writer **out, const char *path, const tz_image_spec *spec,
                           const tz_write_options *options, tz_error *err)
{
    tz_write_options how;
    return __real_tz_create(out, path, spec, with_device(spec, options, &how), err);
}

tz_result __wrap_tz_create_memory(tz_writer **out, tz_memory *into, const tz_image_spec *spec,
                                  const tz_write_options *options, tz_error *err)
{
    tz_write_options how;
    return __real_tz_create_memory(out, into, spec, with_device(spec, options, &how), err);
}

tz_result __wrap_tz_create_sink(tz_writer **out, tz_sink *sink, const char *name,
                                const tz_image_spec *spec, const tz_write_options *options,
                                tz_error *err)
{
    tz_write_options how;
    return __real_tz_create_sink(out, sink, name, spec, with_device(spec, options, &how), err);
}

tz_result __wrap_tz_commit(tz_writer *writer, tz_write_report **report, tz_error *err)
{
    tz_write_report *own = NULL;
    const tz_result result = __real_tz_commit(writer, &own, err);
    if (result == TZ_OK)
        on_device_count(compression, own->device);
    if (result == TZ_OK && report)
        *report = own;
    else
        tz_write_report_free(own);
    return result;
}
