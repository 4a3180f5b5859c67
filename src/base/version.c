/* SPDX-License-Identifier: Apache-2.0 */
#include <terrazzo/terrazzo.h>

const char *tz_version(void)
{
    return TZ_VERSION_STRING;
}
