/* SPDX-License-Identifier: Apache-2.0
 * From a specification to the tags of a directory, and back by opening the file. */
#include <math.h>

#include "check.h"
#include "spec_file.h"

typedef struct made {
    bench b;
    emitted file;
    tz_file *handle;
    const tz_info *info;
} made;

static tz_image_spec small(tz_dtype dtype, uint32_t bands)
{
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    spec.width = 20;
    spec.height = 10;
    spec.bands = bands;
    spec.dtype = dtype;
    return spec;
}

static tz_write_options plain(void)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.compression = TZ_COMPRESSION_NONE;
    options.tile_width = options.tile_height = 16;
    return options;
}

static made make(const tz_image_spec *spec, const tz_write_options *options, unsigned format)
{
    made m;
    bench_init(&m.b);
    if (spec_file_make(&m.file, spec, options, format, &m.b.ctx) != TZ_OK)
        fail_msg("%s", m.b.err.message);
    bench_silent(&m.b);
    m.handle = spec_file_open(&m.file);
    m.info = tz_file_info(m.handle);
    return m;
}

static void unmake(made *m)
{
    tz_close(m->handle);
    emitted_free(&m->file);
    bench_deinit(&m->b);
}

static void shape_and_type_come_back(void **state)
{
    (void)state;
    for (int dtype = TZ_DTYPE_UINT8; dtype <= TZ_DTYPE_COMPLEX_FLOAT64; dtype++) {
        FORMATS(f)
        {
            tz_image_spec spec = small((tz_dtype)dtype, 2);
            tz_write_options options = plain();
            made m = make(&spec, &options, f);
            assert_int_equal(m.info->dtype, dtype);
            assert_int_equal(m.info->bits_per_sample, tz_dtype_size((tz_dtype)dtype) * 8);
            assert_int_equal(m.info->width, 20);
            assert_int_equal(m.info->height, 10);
            assert_int_equal(m.info->bands, 2);
            assert_int_equal(m.info->photometric, TZ_PHOTOMETRIC_MIN_IS_BLACK);
            assert_int_equal(m.info->levels[0].tile_width, 16);
            assert_int_equal(m.info->levels[0].tile_count, 2);
            assert_true(m.info->levels[0].tiled && m.info->levels[0].readable);
            unmake(&m);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(shape_and_type_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
