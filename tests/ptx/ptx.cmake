# SPDX-License-Identifier: Apache-2.0
# The interpreter of PTX: see README.md. It has nothing of the library, since a module that is loaded
# carries it.
add_library(terrazzo_ptx STATIC
    ptx/ptx_lower.c
    ptx/ptx_lower_operands.c
    ptx/ptx_parse.c
    ptx/ptx_parse_call.c
    ptx/ptx_parse_function.c
    ptx/ptx_parse_initial.c
    ptx/ptx_parse_instruction.c
    ptx/ptx_parse_number.c
    ptx/ptx_parse_operand.c
    ptx/ptx_parse_scope.c
    ptx/ptx_parse_token.c
    ptx/ptx_parse_variable.c
    ptx/ptx_parse_word.c
    ptx/ptx_pool.c
    ptx/ptx_race.c
    ptx/ptx_run.c
    ptx/ptx_run_atomic.c
    ptx/ptx_run_barrier.c
    ptx/ptx_run_bits.c
    ptx/ptx_run_compare.c
    ptx/ptx_run_control.c
    ptx/ptx_run_convert.c
    ptx/ptx_run_float.c
    ptx/ptx_run_integer.c
    ptx/ptx_run_logic.c
    ptx/ptx_run_memory.c
    ptx/ptx_run_multiply.c
    ptx/ptx_run_warp.c)
set_target_properties(terrazzo_ptx PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(terrazzo_ptx PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(terrazzo_ptx PRIVATE terrazzo_flags PUBLIC m)
# Whole suites run on it: it is optimised in all builds, and the sanitizer of undefined behaviour
# is left out where it would cost most. Rounding follows fesetround.
target_compile_options(terrazzo_ptx PRIVATE -O2 -frounding-math)
if(TERRAZZO_SANITIZE)
    target_compile_options(terrazzo_ptx PRIVATE -fno-sanitize=undefined)
endif()

# terrazzo_ptx_kernels(name...): ptx/kernels/name.cu as nvcc compiles it, for test_ptx_nvcc_name.
function(terrazzo_ptx_kernels)
    if(NOT TZ_HAVE_CUDA)
        return()
    endif()
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/ptx_kernels)
    file(MAKE_DIRECTORY ${folder})
    foreach(name IN LISTS ARGN)
        set(source ${CMAKE_CURRENT_SOURCE_DIR}/ptx/kernels/${name}.cu)
        add_custom_command(OUTPUT ${folder}/${name}.ptx # jump tables are made only if asked for
            COMMAND ${terrazzo_nvcc} -ptx -arch=${terrazzo_ptx_target} ${terrazzo_nvcc_flags}
                    --jump-table-density=0 ${source} -o ${folder}/${name}.ptx
            DEPENDS ${source} COMMENT "Compiling ${name}.cu to PTX" VERBATIM)
        target_sources(test_ptx_nvcc_${name} PRIVATE ${folder}/${name}.ptx)
        target_compile_definitions(test_ptx_nvcc_${name} PRIVATE PTX_KERNELS="${folder}")
    endforeach()
    # They compute in all directions of rounding.
    target_compile_options(test_ptx_nvcc_floats PRIVATE -frounding-math)
endfunction()
