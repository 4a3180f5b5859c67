/* SPDX-License-Identifier: Apache-2.0
 * The few functions of GDAL that comparisons need, found in a given libgdal at run time. */
#ifndef TZ_ORACLE_GDAL_API_H
#define TZ_ORACLE_GDAL_API_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define GDAL_OF_RASTER 0x02u

/* Name, result, parameters. */
#define GDAL_FUNCTIONS(F)                                                                          \
    F(GDALAllRegister, void, (void))                                                               \
    F(GDALVersionInfo, const char *, (const char *))                                               \
    F(GDALGetDriverByName, void *, (const char *))                                                 \
    F(GDALOpenEx, void *,                                                                          \
      (const char *, unsigned, const char *const *, const char *const *, const char *const *))     \
    F(GDALCreate, void *, (void *, const char *, int, int, int, int, const char *const *))         \
    F(GDALCreateCopy, void *,                                                                      \
      (void *, const char *, void *, int, const char *const *, void *, void *))                    \
    F(GDALClose, int, (void *))                                                                    \
    F(GDALGetRasterXSize, int, (void *))                                                           \
    F(GDALGetRasterYSize, int, (void *))                                                           \
    F(GDALGetRasterCount, int, (void *))                                                           \
    F(GDALGetGeoTransform, int, (void *, double *))                                                \
    F(GDALGetRasterBand, void *, (void *, int))                                                    \
    F(GDALGetRasterDataType, int, (void *))                                                        \
    F(GDALGetDataTypeName, const char *, (int))                                                    \
    F(GDALGetDataTypeSizeBits, int, (int))                                                         \
    F(GDALGetBlockSize, void, (void *, int *, int *))                                              \
    F(GDALGetRasterNoDataValue, double, (void *, int *))                                           \
    F(GDALGetMaskFlags, int, (void *))                                                             \
    F(GDALGetOverviewCount, int, (void *))                                                         \
    F(GDALGetOverview, void *, (void *, int))                                                      \
    F(GDALGetRasterBandXSize, int, (void *))                                                       \
    F(GDALGetRasterBandYSize, int, (void *))                                                       \
    F(GDALGetGCPCount, int, (void *))                                                              \
    F(GDALGetProjectionRef, const char *, (void *))                                                \
    F(GDALDatasetRasterIOEx, int,                                                                  \
      (void *, int, int, int, int, int, void *, int, int, int, int, const int *, int64_t, int64_t, \
       int64_t, void *))                                                                           \
    F(CPLSetConfigOption, void, (const char *, const char *))                                      \
    F(CPLPushErrorHandler, void, (void (*)(int, int, const char *)))                               \
    F(CPLGetLastErrorMsg, const char *, (void))

typedef struct gdal_api {
#define GDAL_MEMBER(name, result, parameters) result(*name) parameters;
    GDAL_FUNCTIONS(GDAL_MEMBER)
#undef GDAL_MEMBER
} gdal_api;

static void gdal_be_quiet(int level, int number, const char *message)
{
    (void)level;
    (void)number;
    (void)message;
}

/* Loads the library and sets GDAL up to read the named file alone, without sidecars. */
static int gdal_load(gdal_api *api, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
#define GDAL_FIND(name, result, parameters)                                                        \
    {                                                                                              \
        void *symbol = dlsym(library, #name);                                                      \
        if (symbol == NULL) {                                                                      \
            fprintf(stderr, "%s has no %s\n", path, #name);                                        \
            return 1;                                                                              \
        }                                                                                          \
        memcpy(&api->name, &symbol, sizeof symbol);                                                \
    }
    GDAL_FUNCTIONS(GDAL_FIND)
#undef GDAL_FIND
    api->CPLSetConfigOption("GDAL_PAM_ENABLED", "NO");
    api->CPLSetConfigOption("GDAL_DISABLE_READDIR_ON_OPEN", "EMPTY_DIR");
    api->GDALAllRegister();
    api->CPLPushErrorHandler(gdal_be_quiet);
    return 0;
}

#endif
