/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

const char *tz_version(void)
{
    return TZ_VERSION_STRING;
}

typedef struct feature {
    const char *name;
    const char *version;
} feature;

/* The build defines TZ_X_VERSION together with TZ_HAVE_X. */
static const feature features[] = {
#ifdef TZ_HAVE_EXPAT
    {"expat", TZ_EXPAT_VERSION},
#endif
#ifdef TZ_HAVE_PROJ
    {"proj", TZ_PROJ_VERSION},
#endif
#ifdef TZ_HAVE_LIBDEFLATE
    {"libdeflate", TZ_LIBDEFLATE_VERSION},
#endif
#ifdef TZ_HAVE_ISAL
    {"isal", TZ_ISAL_VERSION},
#endif
#ifdef TZ_HAVE_ZSTD
    {"zstd", TZ_ZSTD_VERSION},
#endif
#ifdef TZ_HAVE_LZMA
    {"lzma", TZ_LZMA_VERSION},
#endif
#ifdef TZ_HAVE_LZ4
    {"lz4", TZ_LZ4_VERSION},
#endif
#ifdef TZ_HAVE_JPEG
    {"jpeg", TZ_JPEG_VERSION},
#endif
#ifdef TZ_HAVE_WEBP
    {"webp", TZ_WEBP_VERSION},
#endif
#ifdef TZ_HAVE_LERC
    {"lerc", TZ_LERC_VERSION},
#endif
#ifdef TZ_HAVE_OPENJPEG
    {"openjpeg", TZ_OPENJPEG_VERSION},
#endif
#ifdef TZ_HAVE_JXL
    {"jxl", TZ_JXL_VERSION},
#endif
#ifdef TZ_HAVE_CUDA
    {"cuda", TZ_CUDA_VERSION},
#endif
    {NULL, NULL},
};

const char *tz_build_feature(const char *name)
{
    for (const feature *f = features; name && f->name; f++) {
        if (strcmp(f->name, name) == 0)
            return f->version;
    }
    return NULL;
}
