# SPDX-License-Identifier: Apache-2.0
# The kernels as nvcc makes them, for the CUDA driver: see src/device/kernel_image.h. Each family becomes PTX, which is
# what the tests execute, and all code for real architectures is made of that PTX.

set(TERRAZZO_CUDA_ARCHITECTURES compute_75 CACHE STRING
    "One compute_N, for PTX, and any sm_N, for fatbins that hold code for these too")
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

# Sets TZ_HAVE_CUDA, terrazzo_nvcc and terrazzo_images_about.
macro(terrazzo_find_cuda)
    set(TZ_HAVE_CUDA 0)
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
            list(APPEND terrazzo_optional_definitions TZ_HAVE_CUDA=1
                 TZ_CUDA_VERSION="${terrazzo_nvcc_version}")
        elseif(TERRAZZO_WITH_CUDA STREQUAL "ON")
            message(FATAL_ERROR "TERRAZZO_WITH_CUDA=ON, but ${terrazzo_images_about}; "
                                "'tools/setup.sh cuda' installs it")
        endif()
    endif()
endmacro()

# The file `out` of a family's kernels in `file`, which is below src: PTX, or a fatbin of it.
function(terrazzo_cuda_image out name file)
    set(source ${PROJECT_SOURCE_DIR}/src/${file})
    set(ptx ${PROJECT_BINARY_DIR}/kernels/${name}.ptx)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/kernels)
    set(script ${PROJECT_SOURCE_DIR}/cmake/SamePtx.cmake)
    add_custom_command(OUTPUT ${ptx}
        COMMAND ${terrazzo_nvcc} -ptx -arch=${terrazzo_ptx_target} ${terrazzo_nvcc_flags}
                -MD -MT ${ptx} -MF ${ptx}.d -x cu ${source} -o ${ptx}.made
        COMMAND ${CMAKE_COMMAND} -DIN=${ptx}.made -DOUT=${ptx} -P ${script}
        DEPENDS ${source} ${script} DEPFILE ${ptx}.d
        COMMENT "Compiling the kernels of ${file} to PTX" VERBATIM)
    set(${out} ${ptx} PARENT_SCOPE)
    if(NOT terrazzo_sass_targets)
        return()
    endif()
    set(fatbin ${PROJECT_BINARY_DIR}/kernels/${name}.fatbin)
    set(codes "")
    foreach(code IN LISTS terrazzo_sass_targets terrazzo_ptx_target)
        list(APPEND codes -gencode arch=${terrazzo_ptx_target},code=${code})
    endforeach()
    add_custom_command(OUTPUT ${fatbin}
        COMMAND ${terrazzo_nvcc} -fatbin --compress-mode=size ${codes} ${ptx} -o ${fatbin}
        DEPENDS ${ptx} COMMENT "Assembling ${name}.ptx for ${terrazzo_images_about}" VERBATIM)
    set(${out} ${fatbin} PARENT_SCOPE)
endfunction()
