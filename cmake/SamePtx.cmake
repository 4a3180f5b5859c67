# SPDX-License-Identifier: Apache-2.0
# cmake -DIN=made.ptx -DOUT=same.ptx -DISA=6.3 -P SamePtx.cmake: PTX that is the same wherever it was made, and that old
# drivers compile.
#
# nvcc puts a hash of the source's path into the names of functions that are no kernels; names keep their length, which
# mangling counts. It labels the text with its own version of PTX (9.0 for CUDA 13.0), which older drivers refuse, whatever
# the text uses. ISA is the version that the text needs: ptxas compares the text with its label, so a label that is too low
# is an error of tests/check_ptx.py. The pragma used_bytes_mask, a hint, came later: it becomes a comment, for the tests'
# interpreter, which reports bytes that are read and that nobody wrote. ISA may be empty: the text stays.
cmake_minimum_required(VERSION 3.16)
file(READ "${IN}" text)
string(REGEX REPLACE "_INTERNAL_[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]_"
       "_INTERNAL_00000000_" text "${text}")
if(ISA)
    string(REGEX REPLACE "\n\\.version [0-9]+\\.[0-9]+" "\n.version ${ISA}" text "${text}")
    string(REGEX REPLACE "\\.pragma \"(used_bytes_mask [^\"]*)\";" "//\\1" text "${text}")
endif()
file(WRITE "${OUT}" "${text}")
