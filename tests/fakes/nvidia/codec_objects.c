/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/nvidia/codec_objects.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

codestreams_fake_control pictures_control;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((visibility("default"))) codestreams_fake_control *codestreams_fake(void);
codestreams_fake_control *codestreams_fake(void)
{
    return &pictures_control;
}

static int32_t status_of(cuda_vendor_answer said)
{
    if (said.code == 0)
        return SUCCESS;
    return said.put_in ? said.code : EXECUTION_FAILED;
}

int32_t begin(const char *name, bool with_context)
{
    const cuda_vendor *cuda = cuda_vendor_find();
    if (!cuda)
        return with_context ? EXECUTION_FAILED : SUCCESS;
    return status_of(cuda->call(name, 0, NULL, with_context));
}

int32_t start(const char *name, tz_cu_stream stream, cuda_vendor_run run, void *state,
              atomic_bool *busy)
{
    atomic_store(busy, true);
    const int32_t status = status_of(cuda_vendor_find()->enqueue(name, 0, stream, run, state));
    if (status != SUCCESS)
        atomic_store(busy, false);
    return status;
}

bool idle(const atomic_bool *busy, const char *what)
{
    if (!atomic_load(busy) || cuda_vendor_find()->is_broken())
        return true;
    pthread_mutex_lock(&lock);
    if (!pictures_control.misuse[0])
        (void)snprintf(pictures_control.misuse, sizeof pictures_control.misuse,
                       "%s while an image that uses it is under way", what);
    pthread_mutex_unlock(&lock);
    return false;
}

static void count(int64_t change)
{
    pthread_mutex_lock(&lock);
    pictures_control.live += change;
    pthread_mutex_unlock(&lock);
}

int32_t make(const char *name, bool with_context, size_t size, void *out)
{
    const int32_t status = begin(name, with_context);
    if (status != SUCCESS)
        return status;
    void *made = calloc(1, size);
    memcpy(out, &made, sizeof made);
    count(1);
    return SUCCESS;
}

int32_t give_back(void *which)
{
    if (!which)
        return INVALID_PARAMETER;
    count(-1);
    free(which);
    return SUCCESS;
}
