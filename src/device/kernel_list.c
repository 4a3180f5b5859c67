/* SPDX-License-Identifier: Apache-2.0 */
#include "device/kernel_list.h"

const char *const tz_kernel_names[TZ_KERNEL_COUNT] = {
#define NAME(number, family, function, kinds) #function,
    TZ_KERNEL_LIST(NAME)
#undef NAME
};

const uint32_t tz_kernel_families[TZ_KERNEL_COUNT] = {
#define FAMILY(number, family, function, kinds) TZ_FAMILY_##family,
    TZ_KERNEL_LIST(FAMILY)
#undef FAMILY
};
