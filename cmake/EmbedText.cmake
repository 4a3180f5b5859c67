# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=file.c -DFILES=a.h,b.h -P EmbedText.cmake: the lines of the files as C strings, without
# their #include lines; the files come in the order that includes would give.
string(REPLACE "," ";" files "${FILES}")
set(whole "")
foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(REGEX REPLACE "(^|\n)[ \t]*#[ \t]*include[^\n]*" "\\1" text "${text}")
    string(APPEND whole "${text}")
endforeach()
string(REPLACE "\\" "\\\\" whole "${whole}")
string(REPLACE "\"" "\\\"" whole "${whole}")
string(REGEX REPLACE "\n$" "" whole "${whole}")
string(REPLACE "\n" "\\n\",\n    \"" whole "${whole}")
file(WRITE "${OUT}" "/* Made by cmake/EmbedText.cmake. */
#include \"device/opencl.h\"

const char *tz_kernel_lines[] = {
    \"${whole}\\n\",
};
const size_t tz_kernel_line_count = sizeof tz_kernel_lines / sizeof tz_kernel_lines[0];
")
