/* SPDX-License-Identifier: Apache-2.0
 * Opens the input as a file in memory and uses all that it offers. The last byte of the input,
 * which is still part of the file, chooses the options: a plain TIFF file is an input as it is. */
#include "touch.h"

static void touch_fail(const char *what, const char *message)
{
    (void)what; /* visible in the debugger */
    (void)message;
    abort();
}

/* A source as a user of the library would write it: hands out copies, refuses what is not there. */
typedef struct copy_source {
    tz_source source;
    const uint8_t *data;
} copy_source;

static tz_result copy_submit(tz_source *source, tz_request *request, tz_error *err)
{
    const copy_source *copy = (const copy_source *)source;
    for (size_t i = 0; i < request->count; i++) {
        const tz_range *range = &request->ranges[i];
        if (range->offset > source->size || range->size > source->size - range->offset)
            return tz_error_set(err, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED, range->offset,
                                "the file ends here");
        memcpy(range->dst, copy->data + range->offset, range->size);
    }
    return TZ_OK;
}

static tz_result copy_wait(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source;
    (void)request;
    (void)err;
    return TZ_OK;
}

static void copy_close(tz_source *source)
{
    free(source);
}

static tz_result open_copy(tz_file **out, const uint8_t *data, size_t size,
                           const tz_open_options *options, tz_error *err)
{
    copy_source *copy = calloc(1, sizeof *copy);
    if (copy == NULL)
        abort();
    copy->source.struct_size = sizeof copy->source;
    copy->source.size = size;
    copy->source.submit = copy_submit;
    copy->source.wait = copy_wait;
    copy->source.close = copy_close;
    copy->source.first_read_bytes = size > 0 ? data[size - 1] : 0; /* 16 at least */
    copy->data = data;
    return tz_open_source(out, &copy->source, "fuzz", options, err);
}

/* Limits so low that small inputs meet every one of them. */
static void set_low_limits(tz_limits *limits)
{
    limits->max_ifds = 3;
    limits->max_ifd_entries = 24;
    limits->max_subifd_depth = 1;
    limits->max_levels = 2;
    limits->max_tag_bytes = 256;
    limits->max_tile_bytes = 1 << 16;
    limits->max_handle_bytes = 1 << 14;
    limits->max_xml_bytes = 200;
    limits->max_xml_depth = 2;
    limits->max_metadata_items = 2;
    limits->max_geo_keys = 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t choice = size > 0 ? data[size - 1] : 0;
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    tz_limits limits = TZ_LIMITS_INIT;
    set_low_limits(&limits);
    options.strict = (choice & 0x07) == 1;
    options.require_crs = (choice & 0x07) == 2;
    if ((choice & 0x07) == 3)
        options.limits = &limits;
    options.page = (choice >> 3) & 3;
    tz_file *file = NULL;
    tz_error err;
    tz_result result = (choice & 0x20) != 0 ? open_copy(&file, data, size, &options, &err)
                                            : tz_open_memory(&file, data, size, &options, &err);
    touch_error(result, &err);
    if (result != TZ_OK) {
        touch_check(file == NULL, "a file in spite of an error");
        return 0;
    }
    touch_check(!options.strict || tz_file_get_info(file)->warning_count == 0, "a strict warning");
    touch_everything(file);
    tz_close(file);
    return 0;
}
