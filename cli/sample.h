/* SPDX-License-Identifier: Apache-2.0
 * Samples of any type as numbers. */
#ifndef CLI_SAMPLE_H
#define CLI_SAMPLE_H

#include <stdbool.h>
#include <terrazzo/terrazzo.h>

bool sample_is_complex(tz_dtype dtype);
/* Returns the type of the components of a complex type; any other type as it is. */
tz_dtype sample_part(tz_dtype dtype);

/* Returns one number of an array of a type that is not complex. */
double sample_real(tz_dtype dtype, const void *samples, size_t index);

#endif
