# SPDX-License-Identifier: Apache-2.0
# The kernels: the families of src/device/kernel_list.h, each with the file that includes all it takes.
# As text, for drivers that compile them on the machine where they run, and as nvcc compiles them.
file(GLOB_RECURSE terrazzo_kernel_files CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/src/kernels/*.h ${PROJECT_SOURCE_DIR}/src/device/*_kernels.h)
function(terrazzo_kernel_family name file)
    set(text ${PROJECT_BINARY_DIR}/kernel_text_${name}.c)
    add_custom_command(OUTPUT ${text}
        COMMAND ${CMAKE_COMMAND} -DOUT=${text} -DNAME=${name} -DROOT=${PROJECT_SOURCE_DIR}/src
                -DFILE=${file} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
        DEPENDS ${terrazzo_kernel_files} ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake VERBATIM)
    set(made ${text})
    if(TZ_HAVE_CUDA)
        terrazzo_cuda_images(ptx code ${name} ${file})
        list(APPEND made ${PROJECT_BINARY_DIR}/kernel_image_${name}.c)
        add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/kernel_image_${name}.c
            COMMAND ${CMAKE_COMMAND} -DOUT=${PROJECT_BINARY_DIR}/kernel_image_${name}.c -DNAME=${name}
                    -DPTX=${ptx} -DCODE=${code} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedImage.cmake
            DEPENDS ${ptx} ${code} ${PROJECT_SOURCE_DIR}/cmake/EmbedImage.cmake VERBATIM)
    endif()
    target_sources(terrazzo_objects PRIVATE ${made})
endfunction()
terrazzo_kernel_family(halves device/reduce_half_kernels.h)
terrazzo_kernel_family(reduce device/reduce_kernels.h)
terrazzo_kernel_family(tiles device/place_kernels.h)
terrazzo_kernel_family(inflate device/decode_inflate_kernels.h)
terrazzo_kernel_family(lzw device/decode_lzw_kernels.h)
terrazzo_kernel_family(lz4 device/decode_lz4_kernels.h)
terrazzo_kernel_family(packbits device/decode_packbits_kernels.h)
terrazzo_kernel_family(zstd device/decode_zstd_kernels.h)
terrazzo_kernel_family(chunks device/chunk_kernels.h)
terrazzo_kernel_family(cut device/cut_kernels.h)
terrazzo_kernel_family(deflate device/encode_deflate_kernels.h)
terrazzo_kernel_family(tally device/tally_kernels.h)
terrazzo_kernel_family(encode_packbits device/encode_packbits_kernels.h)
terrazzo_kernel_family(encode_library device/encode_library_kernels.h)
terrazzo_kernel_family(compact device/compact_kernels.h)
