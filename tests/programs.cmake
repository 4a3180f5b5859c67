# SPDX-License-Identifier: Apache-2.0
# Functions that make programs and tests of the rows of programs.txt. How a test is run is all in its
# properties, so that ctest and tests/run.py run it alike.

set(terrazzo_hang_seconds 900) # a test that runs longer hangs; this is not a speed limit
set(terrazzo_skipped 77)       # the exit code of a test that skipped something: support/skip_code.c, tap.py

# For every test: results as TAP, kernels that PoCL compiled shared by all builds, strict sanitizers.
set(terrazzo_environment CMOCKA_MESSAGE_OUTPUT=TAP)
cmake_path(GET PROJECT_BINARY_DIR PARENT_PATH terrazzo_pocl_cache)
cmake_path(APPEND terrazzo_pocl_cache pocl)
file(MAKE_DIRECTORY ${terrazzo_pocl_cache})
list(APPEND terrazzo_environment POCL_CACHE_DIR=${terrazzo_pocl_cache})
set(terrazzo_launcher "")
if(TERRAZZO_SANITIZE MATCHES "address")
    set(terrazzo_asan_options detect_stack_use_after_return=1:strict_string_checks=1)
    string(APPEND terrazzo_asan_options :quarantine_size_mb=32) # of 256: memory is used again
    list(APPEND terrazzo_environment ASAN_OPTIONS=detect_leaks=1:${terrazzo_asan_options}
         UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1)
elseif(TERRAZZO_SANITIZE MATCHES "thread")
    list(APPEND terrazzo_environment TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1)
    # It does not start where the kernel randomises too many address bits.
    execute_process(COMMAND setarch -R true RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
        set(terrazzo_launcher setarch -R)
    endif()
endif()

# terrazzo_read_programs(all|fuzz): a program, and its tests, for each row of programs.txt that this
# build has the libraries for; or of fuzz targets alone.
function(terrazzo_read_programs which)
    set(table ${CMAKE_CURRENT_SOURCE_DIR}/programs.txt)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
    file(STRINGS ${table} rows REGEX "^[^#]")
    foreach(row IN LISTS rows)
        string(REPLACE "|" ";" row "${row}")
        foreach(column IN ITEMS program needs labels device sources)
            list(POP_FRONT row ${column})
            string(REGEX MATCHALL "[^ ]+" ${column} "${${column}}")
        endforeach()
        terrazzo_has(found ${needs})
        cmake_path(GET program PARENT_PATH folder)
        cmake_path(GET program FILENAME name)
        list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/ REGEX "^cli/")
        if(found AND folder STREQUAL "fuzz")
            terrazzo_fuzz(${name} ${sources})
        elseif(found AND which STREQUAL "all")
            terrazzo_test(${folder} ${name} LABELS ${labels} DEVICE ${device} SOURCES ${sources})
        endif()
    endforeach()
endfunction()

# Sets `out` to whether the build has all of these; of A/B/C, any.
function(terrazzo_has out)
    set(${out} TRUE PARENT_SCOPE)
    foreach(need IN LISTS ARGN)
        string(REPLACE "/" ";" any ${need})
        list(TRANSFORM any PREPEND TZ_HAVE_)
        list(JOIN any " OR " any)
        cmake_language(EVAL CODE "
            if(NOT (${any}))
                set(${out} FALSE PARENT_SCOPE)
            endif()")
    endforeach()
endfunction()

# terrazzo_test(folder name LABELS label... DEVICE word... SOURCES source...): the program test_name,
# made of folder/test_name.c and the further sources, and a ctest of the same name. Sources that begin
# with --wrap are options of the linker.
function(terrazzo_test folder name)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LABELS;DEVICE;SOURCES")
    set(wrapped ${arg_SOURCES})
    list(FILTER wrapped INCLUDE REGEX "^--wrap")
    list(FILTER arg_SOURCES EXCLUDE REGEX "^--wrap")
    list(TRANSFORM wrapped PREPEND LINKER:)
    set(test test_${name})
    add_executable(${test} ${folder}/${test}.c ${arg_SOURCES})
    target_compile_definitions(${test} PRIVATE TERRAZZO_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                               TERRAZZO_BINARY_DIR="${PROJECT_BINARY_DIR}")
    if(NOT folder STREQUAL "unit/kernels")
        target_compile_options(${test} PRIVATE ${terrazzo_test_options})
    endif()
    target_link_options(${test} PRIVATE ${wrapped})
    target_link_libraries(${test} PRIVATE terrazzo_support)
    if(folder STREQUAL "ptx/tests")
        target_link_libraries(${test} PRIVATE terrazzo_ptx)
    endif()
    if(arg_LABELS)
        terrazzo_add_test(${test} LABELS ${arg_LABELS} COMMAND $<TARGET_FILE:${test}>)
    endif()

    set(label cuda)
    if("large" IN_LIST arg_LABELS) # minutes, for an interpreter
        set(label cuda_more)
    endif()
    foreach(word IN LISTS arg_DEVICE)
        if(word MATCHES "^(link|device|cuda|gpu)$")
            target_link_libraries(${test} PRIVATE terrazzo_test_device)
        endif()
        if(word MATCHES "^(device|cuda)$")
            terrazzo_cuda_test(${test} ${label} $<TARGET_FILE:${test}>)
        elseif(word STREQUAL "gpu")
            terrazzo_cuda_test(${test} gpu $<TARGET_FILE:${test}>)
        elseif(word STREQUAL "nvcomp")
            terrazzo_nvcomp_tests(${test} 4 5 6)
        elseif(word STREQUAL "nvcomp6")
            terrazzo_nvcomp_tests(${test} 6)
        elseif(word STREQUAL "reads")
            terrazzo_device_program(${test})
        elseif(word STREQUAL "writes")
            terrazzo_device_program(${test} WRITES)
        endif()
    endforeach()
endfunction()

# terrazzo_add_test(name LABELS label... [ENVIRONMENT variable=value...] COMMAND word...)
function(terrazzo_add_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LABELS;ENVIRONMENT;COMMAND")
    add_test(NAME ${name} COMMAND ${terrazzo_launcher} ${arg_COMMAND}
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES
        LABELS "${arg_LABELS}"
        ENVIRONMENT "${terrazzo_environment};${arg_ENVIRONMENT}"
        SKIP_RETURN_CODE ${terrazzo_skipped}
        TIMEOUT ${terrazzo_hang_seconds})
endfunction()

# terrazzo_cuda_test(test label command...): a test again, as test_cuda, on the fake of libcuda: the
# same program with another environment.
function(terrazzo_cuda_test test label)
    if(TZ_HAVE_CUDA)
        terrazzo_add_test(${test}_cuda LABELS ${label} ENVIRONMENT TERRAZZO_TEST_DEVICE=cuda
                          COMMAND ${ARGN})
    endif()
endfunction()

# terrazzo_nvcomp_tests(test release...): again on the fake of libcuda, with that of each release of
# nvCOMP; whole reads with the older ones in make test-long.
function(terrazzo_nvcomp_tests test)
    foreach(release IN LISTS ARGN)
        if(TZ_HAVE_CUDA AND TZ_HAVE_NVCOMP_FAKE)
            set(label cuda)
            if(release LESS 6 AND NOT test STREQUAL "test_device_decode")
                set(label cuda_more)
            endif()
            terrazzo_add_test(${test}_nvcomp${release} LABELS ${label}
                ENVIRONMENT TERRAZZO_TEST_DEVICE=cuda
                            TERRAZZO_TEST_NVCOMP=$<TARGET_FILE:nvcomp_fake_${release}>
                COMMAND $<TARGET_FILE:${test}>)
        endif()
    endforeach()
endfunction()

# terrazzo_device_program(program [WRITES]): an earlier program again as program_device, with each of
# its reads done by the CPU and by a device (support/device/on_device_read.c) or, with WRITES, with all
# of its files written by one (support/device/on_device_write.c).
function(terrazzo_device_program program)
    cmake_parse_arguments(PARSE_ARGV 1 arg "WRITES" "" "")
    if(NOT TERRAZZO_DEVICE_TESTS)
        return()
    endif()
    set(wrapper support/device/on_device_read.c)
    set(wrapped tz_read tz_read_batch)
    if(arg_WRITES)
        set(wrapper support/device/on_device_write.c)
        set(wrapped tz_create tz_create_memory tz_create_sink tz_commit)
    endif()
    list(TRANSFORM wrapped PREPEND -Wl,--wrap=)
    add_executable(${program}_device $<TARGET_OBJECTS:${program}> support/device/on_device.c
                                     ${wrapper})
    target_link_libraries(${program}_device PRIVATE terrazzo_support terrazzo_test_device)
    target_link_options(${program}_device PRIVATE ${wrapped})
    if(NOT TEST ${program})
        return()
    endif()
    set(label device)
    set(cuda_label cuda)
    if(program MATCHES "^test_(hostile|mutation)") # damaged files
        set(label device-asan)
    endif()
    if(program STREQUAL "test_mutation_pixels")
        set(cuda_label cuda_more)
    endif()
    terrazzo_add_test(${program}_device LABELS ${label} COMMAND $<TARGET_FILE:${program}_device>)
    terrazzo_cuda_test(${program}_device ${cuda_label} $<TARGET_FILE:${program}_device>)
endfunction()

# terrazzo_script(name script program LABELS label...): the test name, which is a Python script that
# prints TAP; its argument is a program of its own, made of program.c beside the script.
function(terrazzo_script name script program)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "LABELS")
    cmake_path(GET script PARENT_PATH folder)
    add_executable(${program} ${folder}/${program}.c)
    target_link_libraries(${program} PRIVATE terrazzo_internal)
    terrazzo_add_test(${name} LABELS ${arg_LABELS} COMMAND
        python3 ${CMAKE_CURRENT_SOURCE_DIR}/${script} $<TARGET_FILE:${program}>)
endfunction()

# The same again with a device.
function(terrazzo_device_script script program)
    terrazzo_device_program(${program})
    if(TARGET ${program}_device)
        set(command python3 ${CMAKE_CURRENT_SOURCE_DIR}/${script} $<TARGET_FILE:${program}_device>)
        terrazzo_add_test(${program}_device LABELS device COMMAND ${command})
        terrazzo_cuda_test(${program}_device cuda ${command} --every 20)
    endif()
endfunction()

# terrazzo_matrix(label script program [DEVICE|CUDA] [FOLDER folder] [ARGUMENTS word...]): a script of matrix/ or of
# another folder, which needs the packages of .venv, with the program matrix/program.c, or one that there is
# already. CUDA: on the
# fake of libcuda; with --libraries, with those of NVIDIA's. The test is named after the script.
function(terrazzo_matrix label script program)
    cmake_parse_arguments(PARSE_ARGV 3 arg "DEVICE;CUDA" "FOLDER" "ARGUMENTS")
    if(NOT arg_FOLDER)
        set(arg_FOLDER matrix)
    endif()
    if((arg_CUDA AND NOT TZ_HAVE_CUDA) OR (arg_DEVICE OR arg_CUDA) AND NOT TERRAZZO_DEVICE_TESTS)
        return()
    endif()
    if(NOT TARGET ${program})
        add_executable(${program} matrix/${program}.c)
        target_link_libraries(${program} PRIVATE terrazzo_internal)
    endif()
    set(python ${PROJECT_SOURCE_DIR}/.venv/bin/python)
    if(NOT EXISTS ${python}) # it skips itself
        set(python python3)
    endif()
    set(name ${script})
    set(environment "")
    if(arg_DEVICE)
        string(APPEND name _device)
    elseif(arg_CUDA)
        string(APPEND name _cuda)
        list(APPEND environment TERRAZZO_TEST_DEVICE=cuda)
    endif()
    if("--libraries" IN_LIST arg_ARGUMENTS)
        string(APPEND name _libraries)
        list(APPEND environment TERRAZZO_TEST_NVCOMP=$<TARGET_FILE:nvcomp_fake_6>
             TERRAZZO_TEST_CUFILE=$<TARGET_FILE:cufile_fake>
             TERRAZZO_TEST_NVJPEG=$<TARGET_FILE:nvjpeg_fake>
             TERRAZZO_TEST_NVJPEG2K=$<TARGET_FILE:nvjpeg2k_fake>)
    endif()
    terrazzo_add_test(${name} LABELS ${label} ENVIRONMENT ${environment} COMMAND
        ${python} ${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER}/${script}.py $<TARGET_FILE:${program}>
        ${arg_ARGUMENTS})
endfunction()

# terrazzo_fuzz(name [source...]): the program fuzz_name from fuzz/fuzz_name.c. With TERRAZZO_FUZZ it is a
# libFuzzer program; otherwise fuzz/main.c replays the seeds of fuzz/seeds/name as a test.
function(terrazzo_fuzz name)
    add_executable(fuzz_${name} ${PROJECT_SOURCE_DIR}/fuzz/fuzz_${name}.c ${ARGN})
    target_link_libraries(fuzz_${name} PRIVATE terrazzo_internal)
    if(TERRAZZO_FUZZ)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    else()
        target_sources(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/fuzz/main.c)
        terrazzo_add_test(fuzz_${name} LABELS fuzz COMMAND $<TARGET_FILE:fuzz_${name}>
                          ${PROJECT_SOURCE_DIR}/fuzz/seeds/${name})
    endif()
endfunction()
