/* SPDX-License-Identifier: Apache-2.0
 * The list of devices as JSON: doc/devices.schema.json. */
#ifndef CLI_DEVICES_JSON_H
#define CLI_DEVICES_JSON_H

#include <terrazzo/terrazzo.h>

/* list is NULL if it could not be made; err says why. */
void devices_write(const tz_device_list *list, const tz_error *err);

#endif
