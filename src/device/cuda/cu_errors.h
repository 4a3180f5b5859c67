/* SPDX-License-Identifier: Apache-2.0
 * All error codes of CUDA 13.0's driver interface: X(name without CUDA_ERROR_, code). A test
 * compares them with cuda.h. */
#ifndef TZ_DEVICE_CUDA_CU_ERRORS_H
#define TZ_DEVICE_CUDA_CU_ERRORS_H

#define TZ_CU_ERRORS(X)                                                                            \
    X(INVALID_VALUE, 1)                                                                            \
    X(OUT_OF_MEMORY, 2)                                                                            \
    X(NOT_INITIALIZED, 3)                                                                          \
    X(DEINITIALIZED, 4)                                                                            \
    X(PROFILER_DISABLED, 5)                                                                        \
    X(PROFILER_NOT_INITIALIZED, 6)                                                                 \
    X(PROFILER_ALREADY_STARTED, 7)                                                                 \
    X(PROFILER_ALREADY_STOPPED, 8)                                                                 \
    X(STUB_LIBRARY, 34)                                                                            \
    X(CALL_REQUIRES_NEWER_DRIVER, 36)                                                              \
    X(DEVICE_UNAVAILABLE, 46)                                                                      \
    X(NO_DEVICE, 100)                                                                              \
    X(INVALID_DEVICE, 101)                                                                         \
    X(DEVICE_NOT_LICENSED, 102)                                                                    \
    X(INVALID_IMAGE, 200)                                                                          \
    X(INVALID_CONTEXT, 201)                                                                        \
    X(CONTEXT_ALREADY_CURRENT, 202)                                                                \
    X(MAP_FAILED, 205)                                                                             \
    X(UNMAP_FAILED, 206)                                                                           \
    X(ARRAY_IS_MAPPED, 207)                                                                        \
    X(ALREADY_MAPPED, 208)                                                                         \
    X(NO_BINARY_FOR_GPU, 209)                                                                      \
    X(ALREADY_ACQUIRED, 210)                                                                       \
    X(NOT_MAPPED, 211)                                                                             \
    X(NOT_MAPPED_AS_ARRAY, 212)                                                                    \
    X(NOT_MAPPED_AS_POINTER, 213)                                                                  \
    X(ECC_UNCORRECTABLE, 214)                                                                      \
    X(UNSUPPORTED_LIMIT, 215)                                                                      \
    X(CONTEXT_ALREADY_IN_USE, 216)                                                                 \
    X(PEER_ACCESS_UNSUPPORTED, 217)                                                                \
    X(INVALID_PTX, 218)                                                                            \
    X(INVALID_GRAPHICS_CONTEXT, 219)                                                               \
    X(NVLINK_UNCORRECTABLE, 220)                                                                   \
    X(JIT_COMPILER_NOT_FOUND, 221)                                                                 \
    X(UNSUPPORTED_PTX_VERSION, 222)                                                                \
    X(JIT_COMPILATION_DISABLED, 223)                                                               \
    X(UNSUPPORTED_EXEC_AFFINITY, 224)                                                              \
    X(UNSUPPORTED_DEVSIDE_SYNC, 225)                                                               \
    X(CONTAINED, 226)                                                                              \
    X(INVALID_SOURCE, 300)                                                                         \
    X(FILE_NOT_FOUND, 301)                                                                         \
    X(SHARED_OBJECT_SYMBOL_NOT_FOUND, 302)                                                         \
    X(SHARED_OBJECT_INIT_FAILED, 303)                                                              \
    X(OPERATING_SYSTEM, 304)                                                                       \
    X(INVALID_HANDLE, 400)                                                                         \
    X(ILLEGAL_STATE, 401)                                                                          \
    X(LOSSY_QUERY, 402)                                                                            \
    X(NOT_FOUND, 500)                                                                              \
    X(NOT_READY, 600)                                                                              \
    X(ILLEGAL_ADDRESS, 700)                                                                        \
    X(LAUNCH_OUT_OF_RESOURCES, 701)                                                                \
    X(LAUNCH_TIMEOUT, 702)                                                                         \
    X(LAUNCH_INCOMPATIBLE_TEXTURING, 703)                                                          \
    X(PEER_ACCESS_ALREADY_ENABLED, 704)                                                            \
    X(PEER_ACCESS_NOT_ENABLED, 705)                                                                \
    X(PRIMARY_CONTEXT_ACTIVE, 708)                                                                 \
    X(CONTEXT_IS_DESTROYED, 709)                                                                   \
    X(ASSERT, 710)                                                                                 \
    X(TOO_MANY_PEERS, 711)                                                                         \
    X(HOST_MEMORY_ALREADY_REGISTERED, 712)                                                         \
    X(HOST_MEMORY_NOT_REGISTERED, 713)                                                             \
    X(HARDWARE_STACK_ERROR, 714)                                                                   \
    X(ILLEGAL_INSTRUCTION, 715)                                                                    \
    X(MISALIGNED_ADDRESS, 716)                                                                     \
    X(INVALID_ADDRESS_SPACE, 717)                                                                  \
    X(INVALID_PC, 718)                                                                             \
    X(LAUNCH_FAILED, 719)                                                                          \
    X(COOPERATIVE_LAUNCH_TOO_LARGE, 720)                                                           \
    X(TENSOR_MEMORY_LEAK, 721)                                                                     \
    X(NOT_PERMITTED, 800)                                                                          \
    X(NOT_SUPPORTED, 801)                                                                          \
    X(SYSTEM_NOT_READY, 802)                                                                       \
    X(SYSTEM_DRIVER_MISMATCH, 803)                                                                 \
    X(COMPAT_NOT_SUPPORTED_ON_DEVICE, 804)                                                         \
    X(MPS_CONNECTION_FAILED, 805)                                                                  \
    X(MPS_RPC_FAILURE, 806)                                                                        \
    X(MPS_SERVER_NOT_READY, 807)                                                                   \
    X(MPS_MAX_CLIENTS_REACHED, 808)                                                                \
    X(MPS_MAX_CONNECTIONS_REACHED, 809)                                                            \
    X(MPS_CLIENT_TERMINATED, 810)                                                                  \
    X(CDP_NOT_SUPPORTED, 811)                                                                      \
    X(CDP_VERSION_MISMATCH, 812)                                                                   \
    X(STREAM_CAPTURE_UNSUPPORTED, 900)                                                             \
    X(STREAM_CAPTURE_INVALIDATED, 901)                                                             \
    X(STREAM_CAPTURE_MERGE, 902)                                                                   \
    X(STREAM_CAPTURE_UNMATCHED, 903)                                                               \
    X(STREAM_CAPTURE_UNJOINED, 904)                                                                \
    X(STREAM_CAPTURE_ISOLATION, 905)                                                               \
    X(STREAM_CAPTURE_IMPLICIT, 906)                                                                \
    X(CAPTURED_EVENT, 907)                                                                         \
    X(STREAM_CAPTURE_WRONG_THREAD, 908)                                                            \
    X(TIMEOUT, 909)                                                                                \
    X(GRAPH_EXEC_UPDATE_FAILURE, 910)                                                              \
    X(EXTERNAL_DEVICE, 911)                                                                        \
    X(INVALID_CLUSTER_SIZE, 912)                                                                   \
    X(FUNCTION_NOT_LOADED, 913)                                                                    \
    X(INVALID_RESOURCE_TYPE, 914)                                                                  \
    X(INVALID_RESOURCE_CONFIGURATION, 915)                                                         \
    X(KEY_ROTATION, 916)                                                                           \
    X(UNKNOWN, 999)

#define TZ_CU_ERROR(name, code) TZ_CU_ERROR_##name = (code),
enum { TZ_CU_SUCCESS = 0, TZ_CU_ERRORS(TZ_CU_ERROR) };
#undef TZ_CU_ERROR

#endif
