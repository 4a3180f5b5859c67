# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=file.c -DNAME=convert -DROOT=src -DFILE=device/ops/convert_kernels.h -P EmbedText.cmake: the lines
# of a file, and before them those of all files that it includes, each once, as C strings.
cmake_minimum_required(VERSION 3.16)
set(seen "")
set(whole "")
function(add_file name)
    if(name IN_LIST seen)
        return()
    endif()
    list(APPEND seen "${name}")
    file(READ "${ROOT}/${name}" text)
    string(REGEX MATCHALL "#[ \t]*include[ \t]+\"[^\"]*\"" includes "${text}")
    foreach(include IN LISTS includes)
        string(REGEX REPLACE ".*\"([^\"]*)\"" "\\1" include "${include}")
        add_file("${include}")
    endforeach()
    string(REGEX REPLACE "(^|\n)[ \t]*#[ \t]*include[^\n]*" "\\1" text "${text}")
    set(whole "${whole}${text}" PARENT_SCOPE)
    set(seen "${seen}" PARENT_SCOPE)
endfunction()
add_file("${FILE}")
string(REPLACE "\\" "\\\\" whole "${whole}")
string(REPLACE "\"" "\\\"" whole "${whole}")
string(REGEX REPLACE "\n$" "" whole "${whole}")
string(REPLACE "\n" "\\n\",\n    \"" whole "${whole}")
file(WRITE "${OUT}" "/* Made by cmake/EmbedText.cmake. */
#include \"device/kernel_programs.h\"

static const char *lines[] = {
    \"${whole}\\n\",
};
const tz_kernel_text tz_kernel_text_${NAME} = {lines, sizeof lines / sizeof lines[0]};
")
