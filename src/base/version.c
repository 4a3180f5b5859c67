/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

const char *tz_version(void)
{
    return TZ_VERSION_STRING;
}

/* The build defines TZ_EXPAT_VERSION and TZ_PROJ_VERSION together with TZ_HAVE_... */
const char *tz_build_feature(const char *name)
{
    if (!name)
        return NULL;
#ifdef TZ_HAVE_EXPAT
    if (strcmp(name, "expat") == 0)
        return TZ_EXPAT_VERSION;
#endif
#ifdef TZ_HAVE_PROJ
    if (strcmp(name, "proj") == 0)
        return TZ_PROJ_VERSION;
#endif
    return NULL;
}
