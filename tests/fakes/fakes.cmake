# SPDX-License-Identifier: Apache-2.0
# Stand-ins for libraries that need a card or a vendor: modules that tests load by path.

# Loaders of OpenCL that fail when they are told to; the old one lacks a function of 1.2.
foreach(name IN ITEMS opencl_fake opencl_fake_old)
    add_library(${name} MODULE fakes/opencl/opencl_fake.c)
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} PRIVATE terrazzo_flags Threads::Threads)
endforeach()
target_compile_definitions(opencl_fake_old PRIVATE OPENCL_FAKE_OLD)

# libcuda: the old one lacks memory in the order of streams, the broken one a function that nobody can
# do without.
foreach(name IN ITEMS cuda_fake cuda_fake_old cuda_fake_broken)
    add_library(${name} MODULE
        fakes/cuda/allocations.c
        fakes/cuda/context.c
        fakes/cuda/control.c
        fakes/cuda/copy.c
        fakes/cuda/device.c
        fakes/cuda/handles.c
        fakes/cuda/memory.c
        fakes/cuda/module.c
        fakes/cuda/pinned.c
        fakes/cuda/pool_memory.c
        fakes/cuda/queue.c
        fakes/cuda/refused_symbols.c
        fakes/cuda/stream.c
        fakes/cuda/symbols.c
        fakes/cuda/vendor_calls.c)
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
    target_link_libraries(${name} PRIVATE terrazzo_flags terrazzo_ptx Threads::Threads)
endforeach()
target_sources(cuda_fake PRIVATE fakes/cuda/launch.c fakes/cuda/pool_calls.c)
target_sources(cuda_fake_old PRIVATE fakes/cuda/launch.c)
target_compile_definitions(cuda_fake_old PRIVATE CUDA_FAKE_OLD)
target_sources(cuda_fake_broken PRIVATE fakes/cuda/pool_calls.c)
target_compile_definitions(cuda_fake_broken PRIVATE CUDA_FAKE_BROKEN)

# The tests' side, and where the fakes are.
add_library(terrazzo_cuda_fake STATIC fakes/cuda/cuda_fake_load.c fakes/nvidia/nvidia_fake_load.c)
add_dependencies(terrazzo_cuda_fake cuda_fake cuda_fake_old cuda_fake_broken)
target_include_directories(terrazzo_cuda_fake PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(terrazzo_cuda_fake PRIVATE terrazzo_flags PUBLIC ${CMAKE_DL_LIBS})
target_compile_definitions(terrazzo_cuda_fake PUBLIC
    CUDA_FAKE="$<TARGET_FILE:cuda_fake>"
    CUDA_FAKE_OLD="$<TARGET_FILE:cuda_fake_old>"
    CUDA_FAKE_BROKEN="$<TARGET_FILE:cuda_fake_broken>")
target_link_libraries(terrazzo_support PUBLIC terrazzo_cuda_fake)

# NVIDIA's libraries, on top of that of libcuda.
add_library(terrazzo_nvidia_fakes INTERFACE)
target_link_libraries(terrazzo_support PUBLIC terrazzo_nvidia_fakes)

# terrazzo_nvidia_fake(NAME sources... [DEFINITIONS d...] [LIBRARIES l...]): tests know where it is
# by the definition NAME.
function(terrazzo_nvidia_fake name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEFINITIONS;LIBRARIES")
    string(TOLOWER ${name} target)
    add_library(${target} MODULE fakes/nvidia/cuda_fake_find.c ${arg_UNPARSED_ARGUMENTS})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}
                                                 ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS}
        $<TARGET_PROPERTY:terrazzo_cuda_fake,INTERFACE_COMPILE_DEFINITIONS>)
    target_link_libraries(${target} PRIVATE terrazzo_flags Threads::Threads ${CMAKE_DL_LIBS}
                                            ${arg_LIBRARIES})
    add_dependencies(terrazzo_nvidia_fakes ${target})
    target_compile_definitions(terrazzo_nvidia_fakes INTERFACE
        ${name}="$<TARGET_FILE:${target}>")
endfunction()

terrazzo_nvidia_fake(CUFILE_FAKE
    fakes/nvidia/cufile_batch.c
    fakes/nvidia/cufile_fake.c)
if(TZ_HAVE_OPENJPEG)
    terrazzo_nvidia_fake(NVJPEG2K_FAKE
        fakes/nvidia/codec_objects.c
        fakes/nvidia/codestream.c
        fakes/nvidia/encoded_image.c
        fakes/nvidia/nvjpeg2k_decode.c
        fakes/nvidia/nvjpeg2k_encode.c
        fakes/nvidia/nvjpeg2k_fake.c
        LIBRARIES terrazzo_internal)
endif()
if(TZ_HAVE_JPEG)
    terrazzo_nvidia_fake(NVJPEG_FAKE
        fakes/nvidia/codec_objects.c
        fakes/nvidia/codestream.c
        fakes/nvidia/encoded_image.c
        fakes/nvidia/nvjpeg_decode.c
        fakes/nvidia/nvjpeg_encode.c
        LIBRARIES terrazzo_internal)
endif()
set(TZ_HAVE_NVCOMP_FAKE 0)
if(TARGET PkgConfig::LIBDEFLATE AND TARGET PkgConfig::ZSTD AND TARGET PkgConfig::LZ4)
    set(TZ_HAVE_NVCOMP_FAKE 1)
    # By release; of an unknown one, and one that says to be another than its functions are.
    foreach(entry IN ITEMS "4;4200" "5;5300" "6;6000" "7;7000" "LIAR;6000;NVCOMP_FAKE_TOLD=5300")
        list(POP_FRONT entry suffix version)
        set(names fakes/nvidia/nvcomp_names_5.c)
        if(suffix EQUAL 4)
            set(names fakes/nvidia/nvcomp_names_4.c)
        endif()
        terrazzo_nvidia_fake(NVCOMP_FAKE_${suffix}
            fakes/nvidia/nvcomp_batch.c
            fakes/nvidia/nvcomp_fake.c
            fakes/nvidia/nvcomp_sizes.c
            ${names}
            DEFINITIONS NVCOMP_FAKE_VERSION=${version} ${entry}
            LIBRARIES PkgConfig::LIBDEFLATE PkgConfig::ZSTD PkgConfig::LZ4)
    endforeach()
endif()
