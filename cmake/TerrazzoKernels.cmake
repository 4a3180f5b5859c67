# SPDX-License-Identifier: Apache-2.0
# The kernels: the families of src/device/kernel_list.h, each with the file that includes all it takes.
# As text, for drivers that compile them on the machine where they run, and as nvcc compiles them.
file(GLOB_RECURSE terrazzo_kernel_files CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/src/kernels/*.h ${PROJECT_SOURCE_DIR}/src/device/ops/*_kernels.h)
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
terrazzo_kernel_family(overview_integer device/ops/overview_integer_kernels.h)
terrazzo_kernel_family(overview_f64 device/ops/overview_f64_kernels.h)
terrazzo_kernel_family(convert device/ops/convert_kernels.h)
terrazzo_kernel_family(inflate device/ops/decode_inflate_kernels.h)
terrazzo_kernel_family(lzw device/ops/decode_lzw_kernels.h)
terrazzo_kernel_family(lz4 device/ops/decode_lz4_kernels.h)
terrazzo_kernel_family(packbits device/ops/decode_packbits_kernels.h)
terrazzo_kernel_family(zstd device/ops/decode_zstd_kernels.h)
terrazzo_kernel_family(vendor_decode device/ops/vendor_decode_kernels.h)
terrazzo_kernel_family(extract device/ops/extract_kernels.h)
terrazzo_kernel_family(deflate device/ops/encode_deflate_kernels.h)
terrazzo_kernel_family(stats device/ops/stats_kernels.h)
terrazzo_kernel_family(encode_packbits device/ops/encode_packbits_kernels.h)
terrazzo_kernel_family(vendor_encode device/ops/vendor_encode_kernels.h)
terrazzo_kernel_family(compact device/ops/compact_kernels.h)
