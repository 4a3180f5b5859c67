# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=file.c -DNAME=tiles -DIMAGE=tiles.ptx -P EmbedImage.cmake: a file as a constant of C, in
# words of 8 bytes. Behind the text of PTX comes the 0 that ends it.
cmake_minimum_required(VERSION 3.16)
file(READ "${IMAGE}" bytes HEX)
if(IMAGE MATCHES "\\.ptx$")
    string(APPEND bytes "00")
endif()
string(LENGTH "${bytes}" size)
math(EXPR size "${size} / 2")
math(EXPR padding "(8 - ${size} % 8) % 8")
string(REPEAT "00" ${padding} padding)
string(REGEX REPLACE "(..)(..)(..)(..)(..)(..)(..)(..)" "    0x\\8\\7\\6\\5\\4\\3\\2\\1u,\n" words "${bytes}${padding}")
file(WRITE "${OUT}" "/* Made by cmake/EmbedImage.cmake. */
#include <stdint.h>

#include \"device/kernel_image.h\"

/* As machines that keep the lowest byte first see it: CUDA knows no others. */
static const uint64_t words[] = {
${words}};
const tz_kernel_image tz_kernel_image_${NAME} = {(const unsigned char *)words, ${size}u};
")
