# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=file.c -DNAME=tiles -DPTX=tiles.ptx -DCODE=tiles.fatbin -P EmbedImage.cmake: the images of a family as
# constants of C, in words of 8 bytes. After the text of PTX comes the 0 that ends it. CODE may be empty.
cmake_minimum_required(VERSION 3.16)

# Sets `out` to the definitions of `variable` and of its words, with the bytes in hexadecimal.
function(define_image out variable bytes)
    string(LENGTH "${bytes}" size)
    math(EXPR size "${size} / 2")
    math(EXPR padding "(8 - ${size} % 8) % 8")
    string(REPEAT "00" ${padding} padding)
    string(REGEX REPLACE "(..)(..)(..)(..)(..)(..)(..)(..)" "    0x\\8\\7\\6\\5\\4\\3\\2\\1u,\n" words
           "${bytes}${padding}")
    set(${out} "static const uint64_t words_of_${variable}[] = {
${words}};
const tz_kernel_image ${variable} = {(const unsigned char *)words_of_${variable}, ${size}u};
" PARENT_SCOPE)
endfunction()

file(READ "${PTX}" ptx HEX)
define_image(ptx tz_kernel_image_${NAME} "${ptx}00")
if(CODE)
    file(READ "${CODE}" code HEX)
    define_image(code tz_kernel_code_${NAME} "${code}")
else()
    set(code "const tz_kernel_image tz_kernel_code_${NAME} = {NULL, 0};\n")
endif()
file(WRITE "${OUT}" "/* Made by cmake/EmbedImage.cmake. */
#include <stdint.h>

#include \"device/kernel_programs.h\"

/* As machines that keep the lowest byte first see it: CUDA knows no others. */
${ptx}${code}")
