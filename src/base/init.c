/* SPDX-License-Identifier: Apache-2.0
 * Functions that initialise the structs of callers, for languages that have no macros. All of them
 * do the same, because zero is the default in every member. They touch only the bytes that the
 * caller has: a program that was compiled for an older version has shorter structs. */
#include <string.h>
#include <terrazzo/dlpack.h>
#include <terrazzo/terrazzo.h>

#define INIT_OF(type)                                                                              \
    void type##_init(type *value, size_t size)                                                     \
    {                                                                                              \
        memset(value, 0, size);                                                                    \
        value->struct_size = size;                                                                 \
    }

INIT_OF(tz_blob_info)
INIT_OF(tz_blobs)
INIT_OF(tz_block_options)
INIT_OF(tz_buffer)
INIT_OF(tz_cog_block)
INIT_OF(tz_device_options)
INIT_OF(tz_dlpack_options)
INIT_OF(tz_geo)
INIT_OF(tz_image_options)
INIT_OF(tz_image_spec)
INIT_OF(tz_item)
INIT_OF(tz_limits)
INIT_OF(tz_metadata_item)
INIT_OF(tz_open_options)
INIT_OF(tz_read_options)
INIT_OF(tz_read_shape)
INIT_OF(tz_row_source)
INIT_OF(tz_sink)
INIT_OF(tz_source)
INIT_OF(tz_statistics)
INIT_OF(tz_tag)
INIT_OF(tz_tag_value)
INIT_OF(tz_validate_options)
INIT_OF(tz_write_options)
