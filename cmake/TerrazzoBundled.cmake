# SPDX-License-Identifier: Apache-2.0
# Builds libdeflate, zstd and, where there is nasm, the inflater of ISA-L from the sources that
# tools/fetch_bundled.sh fetched, as objects that become part of libterrazzo. Their names are hidden.

set(TERRAZZO_BUNDLED_SOURCES ${PROJECT_SOURCE_DIR}/build/bundled-src CACHE PATH
    "Where tools/fetch_bundled.sh put the sources of a bundled build")

# terrazzo_bundle(NAME version include_folder sources...): the objects bundled_NAME. Sets TZ_HAVE_NAME and
# appends to terrazzo_bundled_objects, terrazzo_bundled_includes, terrazzo_bundled and
# terrazzo_optional_definitions.
macro(terrazzo_bundle name version include_folder)
    add_library(bundled_${name} OBJECT ${ARGN})
    set_target_properties(bundled_${name} PROPERTIES
        POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden C_EXTENSIONS ON)
    target_include_directories(bundled_${name} PRIVATE ${include_folder})
    target_compile_options(bundled_${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:-w>)
    set(TZ_HAVE_${name} 1)
    list(APPEND terrazzo_bundled_objects $<TARGET_OBJECTS:bundled_${name}>)
    list(APPEND terrazzo_bundled_includes ${include_folder})
    list(APPEND terrazzo_bundled "${name} ${version}")
    list(APPEND terrazzo_optional_definitions TZ_HAVE_${name}=1 TZ_${name}_VERSION="${version}")
endmacro()

# The folder of a package of cmake/bundled.txt.
function(terrazzo_bundled_folder out package)
    file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/bundled.txt line REGEX "^${package}==")
    string(REGEX REPLACE "^${package}==([0-9.]+) .*" "\\1" version "${line}")
    set(folder ${TERRAZZO_BUNDLED_SOURCES}/${package}-${version})
    if(NOT IS_DIRECTORY ${folder})
        message(FATAL_ERROR "${folder} is missing: run tools/fetch_bundled.sh first")
    endif()
    set(${out} ${folder} PARENT_SCOPE)
endfunction()

terrazzo_bundled_folder(folder deflate)
file(GLOB sources ${folder}/libdeflate/lib/*.c ${folder}/libdeflate/lib/*/*.c)
terrazzo_bundle(LIBDEFLATE 1.26 ${folder}/libdeflate ${sources})

terrazzo_bundled_folder(folder zstandard)
terrazzo_bundle(ZSTD 1.5.7 ${folder}/zstd ${folder}/zstd/zstd.c)
target_compile_definitions(bundled_ZSTD PRIVATE
    ZSTDLIB_VISIBLE= ZSTDLIB_STATIC_API= ZSTDERRORLIB_VISIBLE= ZDICTLIB_VISIBLE=
    ZDICTLIB_STATIC_API=)

set(TZ_HAVE_ISAL 0)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    include(CheckLanguage)
    check_language(ASM_NASM)
    if(CMAKE_ASM_NASM_COMPILER)
        enable_language(ASM_NASM)
        terrazzo_bundled_folder(folder isal)
        set(folder ${folder}/src/isal/isa-l)
        terrazzo_bundle(ISAL 2.31.1 ${folder}/include
            ${PROJECT_SOURCE_DIR}/cmake/isal_unused.c
            ${folder}/igzip/hufftables_c.c
            ${folder}/igzip/igzip_decode_block_stateless_01.asm
            ${folder}/igzip/igzip_decode_block_stateless_04.asm
            ${folder}/igzip/igzip_inflate.c
            ${folder}/igzip/igzip_inflate_multibinary.asm
            ${folder}/igzip/rfc1951_lookup.asm)
        target_include_directories(bundled_ISAL PRIVATE ${folder}/igzip)
    else()
        message(STATUS "no nasm: ISA-L is left out")
    endif()
endif()
