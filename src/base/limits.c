/* SPDX-License-Identifier: Apache-2.0
 * The table of limits. A new limit is a member of tz_limits and a line here; messages and the
 * command line find it by its name. All members but the size are uint64_t, which lets one loop
 * treat them by offset. */
#include "base/limits.h"

#include <string.h>

#define KIB ((uint64_t)1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

/* clang-format off */
#define LIMIT(member, default_value, text) \
    {#member, text, default_value, offsetof(tz_limits, member)}
/* clang-format on */

static const tz_limit_info table[] = {
    LIMIT(max_ifds, 65536, "directories in all"),
    LIMIT(max_ifd_entries, 4096, "tags in one directory"),
    LIMIT(max_subifd_depth, 4, "directories within directories"),
    LIMIT(max_levels, 64, "resolution levels of one image"),
    LIMIT(max_tag_bytes, 256 * MIB, "bytes of data of one tag"),
    LIMIT(max_tile_bytes, 512 * MIB, "bytes of one decoded tile"),
    LIMIT(max_image_bytes, 4 * GIB, "bytes of pixels of one tile in a validation"),
    LIMIT(max_handle_bytes, 1 * GIB, "bytes of metadata held by one handle"),
    LIMIT(max_jpeg_scans, 100, "scans of a progressive JPEG"),
    LIMIT(max_codec_bytes, 128 * MIB, "bytes of scratch memory of one codec call"),
    LIMIT(max_xml_bytes, 8 * MIB, "bytes of GDAL metadata"),
    LIMIT(max_xml_depth, 64, "nesting of GDAL metadata"),
    LIMIT(max_metadata_items, 65536, "items of GDAL metadata"),
    LIMIT(max_geo_keys, 1024, "GeoKeys"),
};

enum { LIMIT_COUNT = sizeof table / sizeof table[0] };
_Static_assert(offsetof(tz_limits, max_ifds) + LIMIT_COUNT * sizeof(uint64_t) == sizeof(tz_limits),
               "every member of tz_limits has one line in the table");

size_t tz_limit_count(void)
{
    return LIMIT_COUNT;
}

const tz_limit_info *tz_limit_get(size_t index)
{
    return index < LIMIT_COUNT ? &table[index] : NULL;
}

const char *tz_limit_name(size_t member_offset)
{
    for (size_t i = 0; i < LIMIT_COUNT; i++)
        if (table[i].member_offset == member_offset)
            return table[i].name;
    return NULL;
}

void tz_limits_resolve(tz_limits *out, const tz_limits *given)
{
    tz_limits resolved = given ? *given : (tz_limits){0};
    resolved.struct_size = sizeof resolved;
    for (size_t i = 0; i < LIMIT_COUNT; i++) {
        unsigned char *member = (unsigned char *)&resolved + table[i].member_offset;
        uint64_t value;
        memcpy(&value, member, sizeof value);
        if (value == 0)
            memcpy(member, &table[i].default_value, sizeof value);
    }
    *out = resolved;
}

tz_result tz_limits_copy(tz_limits *out, const tz_limits *given, const char *argument,
                         const tz_context *ctx)
{
    tz_limits copied = TZ_LIMITS_INIT;
    TZ_TRY(tz_copy_struct(&copied, sizeof copied, given, argument, "TZ_LIMITS_INIT", ctx));
    tz_limits_resolve(out, &copied);
    return TZ_OK;
}
