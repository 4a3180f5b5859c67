/* SPDX-License-Identifier: Apache-2.0
 * All error codes of OpenCL 1.2: X(name without CL_, code). A test compares them with the
 * standard's headers. */
#ifndef TZ_DEVICE_OPENCL_CL_ERRORS_H
#define TZ_DEVICE_OPENCL_CL_ERRORS_H

#define TZ_CL_ERRORS(X)                                                                            \
    X(SUCCESS, 0)                                                                                  \
    X(DEVICE_NOT_FOUND, -1)                                                                        \
    X(DEVICE_NOT_AVAILABLE, -2)                                                                    \
    X(COMPILER_NOT_AVAILABLE, -3)                                                                  \
    X(MEM_OBJECT_ALLOCATION_FAILURE, -4)                                                           \
    X(OUT_OF_RESOURCES, -5)                                                                        \
    X(OUT_OF_HOST_MEMORY, -6)                                                                      \
    X(PROFILING_INFO_NOT_AVAILABLE, -7)                                                            \
    X(MEM_COPY_OVERLAP, -8)                                                                        \
    X(IMAGE_FORMAT_MISMATCH, -9)                                                                   \
    X(IMAGE_FORMAT_NOT_SUPPORTED, -10)                                                             \
    X(BUILD_PROGRAM_FAILURE, -11)                                                                  \
    X(MAP_FAILURE, -12)                                                                            \
    X(MISALIGNED_SUB_BUFFER_OFFSET, -13)                                                           \
    X(EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -14)                                              \
    X(COMPILE_PROGRAM_FAILURE, -15)                                                                \
    X(LINKER_NOT_AVAILABLE, -16)                                                                   \
    X(LINK_PROGRAM_FAILURE, -17)                                                                   \
    X(DEVICE_PARTITION_FAILED, -18)                                                                \
    X(KERNEL_ARG_INFO_NOT_AVAILABLE, -19)                                                          \
    X(INVALID_VALUE, -30)                                                                          \
    X(INVALID_DEVICE_TYPE, -31)                                                                    \
    X(INVALID_PLATFORM, -32)                                                                       \
    X(INVALID_DEVICE, -33)                                                                         \
    X(INVALID_CONTEXT, -34)                                                                        \
    X(INVALID_QUEUE_PROPERTIES, -35)                                                               \
    X(INVALID_COMMAND_QUEUE, -36)                                                                  \
    X(INVALID_HOST_PTR, -37)                                                                       \
    X(INVALID_MEM_OBJECT, -38)                                                                     \
    X(INVALID_IMAGE_FORMAT_DESCRIPTOR, -39)                                                        \
    X(INVALID_IMAGE_SIZE, -40)                                                                     \
    X(INVALID_SAMPLER, -41)                                                                        \
    X(INVALID_BINARY, -42)                                                                         \
    X(INVALID_BUILD_OPTIONS, -43)                                                                  \
    X(INVALID_PROGRAM, -44)                                                                        \
    X(INVALID_PROGRAM_EXECUTABLE, -45)                                                             \
    X(INVALID_KERNEL_NAME, -46)                                                                    \
    X(INVALID_KERNEL_DEFINITION, -47)                                                              \
    X(INVALID_KERNEL, -48)                                                                         \
    X(INVALID_ARG_INDEX, -49)                                                                      \
    X(INVALID_ARG_VALUE, -50)                                                                      \
    X(INVALID_ARG_SIZE, -51)                                                                       \
    X(INVALID_KERNEL_ARGS, -52)                                                                    \
    X(INVALID_WORK_DIMENSION, -53)                                                                 \
    X(INVALID_WORK_GROUP_SIZE, -54)                                                                \
    X(INVALID_WORK_ITEM_SIZE, -55)                                                                 \
    X(INVALID_GLOBAL_OFFSET, -56)                                                                  \
    X(INVALID_EVENT_WAIT_LIST, -57)                                                                \
    X(INVALID_EVENT, -58)                                                                          \
    X(INVALID_OPERATION, -59)                                                                      \
    X(INVALID_GL_OBJECT, -60)                                                                      \
    X(INVALID_BUFFER_SIZE, -61)                                                                    \
    X(INVALID_MIP_LEVEL, -62)                                                                      \
    X(INVALID_GLOBAL_WORK_SIZE, -63)                                                               \
    X(INVALID_PROPERTY, -64)                                                                       \
    X(INVALID_IMAGE_DESCRIPTOR, -65)                                                               \
    X(INVALID_COMPILER_OPTIONS, -66)                                                               \
    X(INVALID_LINKER_OPTIONS, -67)                                                                 \
    X(INVALID_DEVICE_PARTITION_COUNT, -68)

#endif
