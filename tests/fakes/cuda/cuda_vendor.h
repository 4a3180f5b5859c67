/* SPDX-License-Identifier: Apache-2.0
 * The interface of the fake of libcuda for fakes of libraries that work on its memory and streams.
 * They load nothing: cuda_vendor_find finds the fake that is loaded, by the names of the functions
 * below, which it exports. */
#ifndef TESTS_FAKES_CUDA_CUDA_VENDOR_H
#define TESTS_FAKES_CUDA_CUDA_VENDOR_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cuda_vendor_answer {
    int32_t code; /* 0: done */
    bool put_in;  /* the code is what the test wanted this function to answer, not CUDA's */
} cuda_vendor_answer;

typedef struct cuda_vendor_memory {
    uint64_t first, size; /* of the allocation */
    bool of_device;       /* else pinned memory of the host */
    bool of_pool;
} cuda_vendor_memory;

typedef struct cuda_vendor_work cuda_vendor_work; /* under way */
/* work of NULL: it will never be done, the context is broken or was reset. */
typedef void (*cuda_vendor_run)(cuda_vendor_work *work, void *state);

/* X(result, name after cuda_vendor_, arguments) */
#define CUDA_VENDOR_FUNCTIONS(X)                                                                   \
    /* A call by its name, as one of the driver's own: in the timeline, counted, failing when the  \
     * test says so. with_context: a context must be current, and work. */                         \
    X(cuda_vendor_answer, call,                                                                    \
      (const char *name, uint64_t bytes, const void *stream, bool with_context))                   \
    /* The same with a context, and run when the stream comes to it. The state is freed then, or   \
     * when it is not taken. The name lives as long as the library and begins with a '+', which    \
     * the timeline leaves out when it is called and shows when it is done. */                     \
    X(cuda_vendor_answer, enqueue,                                                                 \
      (const char *name, uint64_t bytes, const void *stream, cuda_vendor_run run, void *state))    \
    /* Bytes that work may use, of the device or pinned; NULL: the context is broken. */           \
    X(void *, reach, (cuda_vendor_work * work, uint64_t address, uint64_t size))                   \
    /* Break the context as an access to other memory does. */                                     \
    X(void, fault, (cuda_vendor_work * work, const char *text))                                    \
    /* Wait for a stream, as cuStreamSynchronize does. */                                          \
    X(cuda_vendor_answer, sync, (const void *stream))                                              \
    /* Returns true if the context is broken: work that waits in its streams is dropped then. */   \
    X(bool, is_broken, (void))                                                                     \
    /* Bytes of the device, now and in no order with streams; NULL: not all in one allocation. */  \
    X(void *, bytes, (uint64_t address, uint64_t size))                                            \
    /* Finds the memory at an address; false: none. */                                             \
    X(bool, where, (uint64_t address, cuda_vendor_memory * out))

typedef struct cuda_vendor {
#define CUDA_VENDOR_MEMBER(result, name, arguments) result(*name) arguments;
    CUDA_VENDOR_FUNCTIONS(CUDA_VENDOR_MEMBER)
#undef CUDA_VENDOR_MEMBER
} cuda_vendor;

/* The fake that is loaded; NULL: none is, there is no driver (nvidia/cuda_fake_find.c). */
const cuda_vendor *cuda_vendor_find(void);

#endif
