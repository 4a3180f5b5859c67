# SPDX-License-Identifier: Apache-2.0
# The kernels as nvcc makes them, for the CUDA driver: see src/device/kernel_programs.h. Each family becomes PTX, which is
# what the tests execute, and all code for real architectures is made of that PTX.
#
# The PTX is an image of its own in every build: drivers older than nvcc refuse a fatbin of nvcc's, whatever is in it.
# So a fatbin holds no PTX. Its label is lowered to what the text needs (SamePtx.cmake), which is known for compute_75:
# PTX 6.3, that of CUDA 10.0. For another compute_N it stays nvcc's, and so does the version that drivers need.

set(TERRAZZO_CUDA_ARCHITECTURES compute_75 CACHE STRING
    "One compute_N, for PTX, and any sm_N, for fatbins with code for these")
set(TERRAZZO_NVCC "" CACHE FILEPATH "nvcc; if empty, the one that tools/find_nvcc.sh finds")

# As the cores compute: no contraction, no approximation, no flushed denormals. These are what nvcc
# does by default but for the first; they are said because results depend on them.
set(terrazzo_nvcc_flags --fmad=false --ftz=false --prec-div=true --prec-sqrt=true -std=c++17
    -I${PROJECT_SOURCE_DIR}/src)

# Sets `out` to an nvcc that works and `version`, or `why` to what is wrong.
function(terrazzo_find_nvcc out version why)
    set(nvcc "${TERRAZZO_NVCC}")
    if(NOT nvcc)
        execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/find_nvcc.sh OUTPUT_VARIABLE nvcc
                        OUTPUT_STRIP_TRAILING_WHITESPACE)
    endif()
    if(NOT nvcc)
        set(${why} "nvcc was not found when this was built" PARENT_SCOPE)
        return()
    endif()
    file(WRITE ${PROJECT_BINARY_DIR}/nvcc_works.cu "extern \"C\" __global__ void works() {}\n")
    execute_process(COMMAND ${nvcc} -ptx -arch=${terrazzo_ptx_target} ${terrazzo_nvcc_flags}
                            ${PROJECT_BINARY_DIR}/nvcc_works.cu -o ${PROJECT_BINARY_DIR}/nvcc_works.ptx
                    RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(failed)
        message(STATUS "${nvcc} fails: ${text}")
        set(${why} "nvcc did not work when this was built" PARENT_SCOPE)
        return()
    endif()
    execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE text)
    string(REGEX REPLACE ".*, V([0-9.]+).*" "\\1" text "${text}")
    set(${out} ${nvcc} PARENT_SCOPE)
    set(${version} ${text} PARENT_SCOPE)
endfunction()

# Sets TZ_HAVE_CUDA, terrazzo_nvcc, terrazzo_images_about, terrazzo_ptx_isa (empty: nvcc's own) and
# terrazzo_images_cuda (10000 for 10.0; 0: no images).
macro(terrazzo_find_cuda)
    set(TZ_HAVE_CUDA 0)
    set(terrazzo_images_cuda 0)
    set(terrazzo_ptx_target ${TERRAZZO_CUDA_ARCHITECTURES})
    list(FILTER terrazzo_ptx_target INCLUDE REGEX "^compute_[0-9]+$")
    set(terrazzo_sass_targets ${TERRAZZO_CUDA_ARCHITECTURES})
    list(FILTER terrazzo_sass_targets INCLUDE REGEX "^sm_[0-9]+$")
    list(LENGTH terrazzo_ptx_target count)
    list(JOIN TERRAZZO_CUDA_ARCHITECTURES " " terrazzo_images_about)
    if(NOT count EQUAL 1 OR NOT "${terrazzo_images_about}" MATCHES "^((compute|sm)_[0-9]+( |$))+$")
        message(FATAL_ERROR "TERRAZZO_CUDA_ARCHITECTURES is '${TERRAZZO_CUDA_ARCHITECTURES}'; it must "
                            "be one compute_N and any number of sm_N")
    endif()
    if(TERRAZZO_WITH_CUDA STREQUAL "OFF")
        set(terrazzo_images_about "the library was built with TERRAZZO_WITH_CUDA=OFF")
    else()
        set(terrazzo_nvcc "")
        terrazzo_find_nvcc(terrazzo_nvcc terrazzo_nvcc_version terrazzo_images_about)
        if(terrazzo_nvcc)
            set(TZ_HAVE_CUDA 1)
            if(terrazzo_ptx_target STREQUAL "compute_75")
                set(terrazzo_ptx_isa 6.3)
                set(terrazzo_images_cuda 10000)
            else()
                set(terrazzo_ptx_isa "")
                string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" text "${terrazzo_nvcc_version}")
                math(EXPR terrazzo_images_cuda "${CMAKE_MATCH_1} * 1000 + ${CMAKE_MATCH_2} * 10")
            endif()
            list(APPEND terrazzo_optional_definitions TZ_HAVE_CUDA=1
                 TZ_CUDA_VERSION="${terrazzo_nvcc_version}")
        elseif(TERRAZZO_WITH_CUDA STREQUAL "ON")
            message(FATAL_ERROR "TERRAZZO_WITH_CUDA=ON, but ${terrazzo_images_about}; "
                                "'tools/setup.sh cuda' installs it")
        endif()
    endif()
endmacro()

# Sets `out_ptx` to the PTX of a family's kernels in `file`, which is below src, and `out_code` to the fatbin of it;
# empty: the build has PTX only.
function(terrazzo_cuda_images out_ptx out_code name file)
    set(source ${PROJECT_SOURCE_DIR}/src/${file})
    set(ptx ${PROJECT_BINARY_DIR}/kernels/${name}.ptx)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/kernels)
    set(script ${PROJECT_SOURCE_DIR}/cmake/SamePtx.cmake)
    add_custom_command(OUTPUT ${ptx}
        COMMAND ${terrazzo_nvcc} -ptx -arch=${terrazzo_ptx_target} ${terrazzo_nvcc_flags}
                -MD -MT ${ptx} -MF ${ptx}.d -x cu ${source} -o ${ptx}.made
        COMMAND ${CMAKE_COMMAND} -DIN=${ptx}.made -DOUT=${ptx} -DISA=${terrazzo_ptx_isa} -P ${script}
        DEPENDS ${source} ${script} DEPFILE ${ptx}.d
        COMMENT "Compiling the kernels of ${file} to PTX" VERBATIM)
    set(${out_ptx} ${ptx} PARENT_SCOPE)
    set(${out_code} "" PARENT_SCOPE)
    if(NOT terrazzo_sass_targets)
        return()
    endif()
    set(fatbin ${PROJECT_BINARY_DIR}/kernels/${name}.fatbin)
    set(codes "")
    foreach(code IN LISTS terrazzo_sass_targets)
        list(APPEND codes -gencode arch=${terrazzo_ptx_target},code=${code})
    endforeach()
    add_custom_command(OUTPUT ${fatbin}
        COMMAND ${terrazzo_nvcc} -fatbin --compress-mode=size ${codes} ${ptx} -o ${fatbin}
        DEPENDS ${ptx} COMMENT "Assembling ${name}.ptx for ${terrazzo_images_about}" VERBATIM)
    set(${out_code} ${fatbin} PARENT_SCOPE)
endfunction()
