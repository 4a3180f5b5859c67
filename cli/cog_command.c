/* SPDX-License-Identifier: Apache-2.0
 * terrazzo cog: its options and help. convert_run.c runs it, with the creation options of GDAL's
 * COG driver. */
#include "convert.h"

static const cli_option cog_options[] = {
    {"co", 0, CONVERT_CREATION, "KEY=VALUE", "a creation option, see below; may be given often"},
    {"profile", 'p', CONVERT_PROFILE, "NAME",
     "compression by rio-cogeo's names: jpeg, webp, zstd,\n"
     "lzw, deflate (the default), packbits, lzma, lerc,\n"
     "lerc_deflate, lerc_zstd or raw; COMPRESS wins"},
    {"spool", 0, CONVERT_SPOOL, "DIR",
     "where overviews wait until their offset is known;\n"
     "beside OUT by default"},
    CONVERT_OPTIONS};

static int run_cog(int argc, char **argv)
{
    return convert_run(&cog_command, "COG", argc, argv);
}

static const char *find_cog_key(const char *name, size_t size)
{
    return creation_key("COG", name, size);
}

static void print_cog_keys(void)
{
    creation_print_help("COG");
}

const cli_command cog_command = {
    .name = "cog",
    .arguments = "IN OUT",
    .summary = "writes a Cloud Optimized GeoTIFF, with overviews",
    .examples = "terrazzo cog a.tif b.tif\tDeflate, tiles of 512, averages\n"
                "terrazzo cog --dry-run a.tif b.tif\twhat it would cost\n"
                "terrazzo cog -p zstd a.tif b.tif\tas rio-cogeo's profile\n"
                "terrazzo cog --co COMPRESS=JPEG --co QUALITY=90 rgb.tif b.tif\t\n"
                "terrazzo cog --co RESAMPLING=MODE landcover.tif b.tif\t\n"
                "terrazzo cog --epsg 32633 array.npy b.tif\tan array of NumPy",
    .options = cog_options,
    .run = run_cog,
    .takes_dash = true,
    .print_more = print_cog_keys,
    .creation_key = find_cog_key,
};
