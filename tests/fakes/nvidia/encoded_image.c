/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/nvidia/encoded_image.h"

#include <stdlib.h>
#include <string.h>

static void run(cuda_vendor_work *work, void *state)
{
    const encode_job *j = state;
    uint8_t *rows = picture_rows(&j->format);
    if (work && picture_get(work, &j->planes, &j->format, rows)) {
        j->to->data = picture_encode(j->encoder, &j->format, &j->choice, rows, &j->to->size);
        pictures_control.encoded++;
    } else {
        free(rows);
    }
    atomic_store(&j->to->busy, false);
}

int32_t encoded_start(const char *name, const encode_job *wanted, tz_cu_stream stream)
{
    if (!idle(&wanted->to->busy, "a state is used again") ||
        !picture_fits(&wanted->planes, &wanted->format))
        return INVALID_PARAMETER;
    free(wanted->to->data);
    wanted->to->data = NULL;
    encode_job *j = malloc(sizeof *j);
    *j = *wanted;
    return start(name, stream, run, j, &wanted->to->busy);
}

int32_t encoded_retrieve(const char *name, const encoded *from, unsigned char *out, size_t *size,
                         tz_cu_stream stream)
{
    const int32_t status = begin(name, true);
    if (status != SUCCESS)
        return status;
    if (cuda_vendor_find()->sync(stream).code != 0 || atomic_load(&from->busy) || !from->data)
        return EXECUTION_FAILED;
    const size_t room = *size;
    *size = from->size;
    if (out && room < from->size)
        return INVALID_PARAMETER;
    if (out)
        memcpy(out, from->data, from->size);
    return SUCCESS;
}

bool encoded_free(encoded *which)
{
    if (!idle(&which->busy, "a state is destroyed"))
        return false;
    free(which->data);
    return true;
}
