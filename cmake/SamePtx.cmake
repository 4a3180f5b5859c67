# SPDX-License-Identifier: Apache-2.0
# cmake -DIN=made.ptx -DOUT=same.ptx -P SamePtx.cmake: PTX that is the same wherever it was made. nvcc puts a hash of
# the source's path into the names of functions that are no kernels; names keep their length, which mangling counts.
cmake_minimum_required(VERSION 3.16)
file(READ "${IN}" text)
string(REGEX REPLACE "_INTERNAL_[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]_"
       "_INTERNAL_00000000_" text "${text}")
file(WRITE "${OUT}" "${text}")
