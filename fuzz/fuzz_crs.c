/* SPDX-License-Identifier: Apache-2.0
 * Definitions of coordinate reference systems: any text that is taken has keys, which are read as
 * the same CRS, or an error that says why not. The bytes are the text. */
#include <stdlib.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

#include "check.h"
#include "tiff/geo/geo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_message(tz_result result, const tz_error *err)
{
    check(result != TZ_ERR_INTERNAL && err->result == result && err->cause != TZ_CAUSE_NONE);
    check(err->message[0] != '\0' && memchr(err->message, '\0', sizeof err->message));
    for (const char *c = err->message; *c != '\0'; c++)
        check((unsigned char)*c >= 32 && *c != 127);
}

static void check_keys(const tz_crs *crs)
{
    tz_geo *geo = NULL;
    tz_crs *read = NULL;
    tz_error err;
    tz_result result = tz_crs_to_geo(&geo, crs, TZ_RASTER_TYPE_AREA, &err);
    check((result == TZ_OK) == (geo != NULL));
    if (!geo) {
        check_message(result, &err);
        return;
    }
    check(geo->has_crs && geo->citation && geo->key_count > 3);
    for (uint32_t i = 1; i < geo->key_count; i++)
        check(geo->keys[i].id > geo->keys[i - 1].id);
    const tz_context ctx = {.err = &err, .ifd = -1};
    result = tz_crs_open_geo(&read, geo, &ctx);
    check(result == TZ_OK || !tz_build_feature("proj"));
    tz_crs_close(read);
    tz_geo_free(geo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    check(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    tz_crs *crs = NULL;
    tz_error err;
    const tz_result result = tz_crs_create(&crs, text, &err);
    check((result == TZ_OK) == (crs != NULL));
    if (!crs) {
        check_message(result, &err);
    } else {
        const char *exported = NULL;
        for (int format = 0; format <= TZ_CRS_FORMAT_PROJ_STRING; format++) {
            const tz_result done = tz_crs_export(&exported, crs, (tz_crs_format)format, &err);
            if (done != TZ_OK)
                check_message(done, &err);
        }
        check(tz_crs_is_same(crs, crs));
        (void)tz_crs_is_geographic(crs);
        check_keys(crs);
    }
    tz_crs_close(crs);
    free(text);
    return 0;
}
