/* SPDX-License-Identifier: Apache-2.0
 * A world file has six lines: A, D, B, E, C, F of x = A column + B row + C and y = D column + E row
 * + F. */
#include "world_file.h"

#include <stdio.h>

#include "text.h"

tz_result world_file_write(output *o, const double t[6], tz_error *err)
{
    const double lines[6] = {
        t[1], t[4], t[2], t[5], t[0] + 0.5 * t[1] + 0.5 * t[2], t[3] + 0.5 * t[4] + 0.5 * t[5]};
    char text[6 * (TEXT_NUMBER + 1)];
    size_t size = 0;
    for (int i = 0; i < 6; i++) {
        char number[TEXT_NUMBER];
        size += (size_t)snprintf(text + size, sizeof text - size, "%s\n",
                                 text_double(number, lines[i]));
    }
    return output_append(o, text, size, err);
}
