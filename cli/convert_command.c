/* SPDX-License-Identifier: Apache-2.0
 * terrazzo convert: its options and help. convert_run.c runs it, with the creation options of
 * GDAL's GTiff driver. */
#include "convert.h"

static const cli_option convert_options[] = {
    {"co", 0, CONVERT_CREATION, "KEY=VALUE", "a creation option, see below; may be given often"},
    CONVERT_OPTIONS};

static int run_convert(int argc, char **argv)
{
    return convert_run(&convert_command, "GTiff", argc, argv);
}

static const char *find_gtiff_key(const char *name, size_t size)
{
    return creation_key("GTiff", name, size);
}

static void print_gtiff_keys(void)
{
    creation_print_help("GTiff");
}

const cli_command convert_command = {
    .name = "convert",
    .arguments = "IN OUT",
    .summary = "writes a GeoTIFF in another layout or compression",
    .examples = "terrazzo convert a.tif b.tif\tuncompressed strips\n"
                "terrazzo convert --dry-run a.tif b.tif\twhat it would cost\n"
                "terrazzo convert --co COMPRESS=LZW --co PREDICTOR=2 --co TILED=YES a.tif b.tif\t\n"
                "terrazzo convert --shape 512x512x3 --dtype uint8 - b.tif <rows.raw\t",
    .options = convert_options,
    .run = run_convert,
    .takes_dash = true,
    .print_more = print_gtiff_keys,
    .creation_key = find_gtiff_key,
};
