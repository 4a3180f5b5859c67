/* SPDX-License-Identifier: Apache-2.0
 * The text of a .npy header of any contents: what is accepted is a type that there is. */
#include <stdlib.h>
#include <string.h>

#include "../cli/npy.h"
#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    npy_array array;
    tz_error err = {.result = TZ_OK};
    check(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    tz_result result = npy_parse(&array, text, size, "fuzz", &err);
    if (result == TZ_OK)
        check(tz_dtype_size(array.dtype) > 0);
    else
        check(err.result == result && result != TZ_ERR_INTERNAL && err.message[0] != '\0');
    free(text);
    return 0;
}
