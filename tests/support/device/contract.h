/* SPDX-License-Identifier: Apache-2.0
 * Contracts: what reads and writes may ask of a device for a batch of 0, 1, 10 and 1000 tiles. All
 * runs on the fakes of libcuda and of the libraries on top of it, whose timeline is looked at
 * afterwards. */
#ifndef TESTS_SUPPORT_DEVICE_CONTRACT_H
#define TESTS_SUPPORT_DEVICE_CONTRACT_H

#include "support/check.h"
#include "support/deferred_source.h"
#include "support/device/cuda_steps.h"
#include "support/device/virtual_clock.h"
#include "support/gated_file.h"
#include "support/plain_read.h"
#include "support/raster.h"

enum { CONTRACT_TILE = 16, CONTRACT_SIZES = 4 };
typedef struct contract_size {
    uint32_t tiles, across, down;
} contract_size;
extern const contract_size contract_sizes[CONTRACT_SIZES]; /* from the smallest on */

/* Setup and teardown of each test: the fake as it was, and no more of it alive than before. */
extern cuda_fake_control *contract_cuda;
int contract_begin(void **state);
int contract_end(void **state);
#define CONTRACT(test) cmocka_unit_test_setup_teardown(test, contract_begin, contract_end)

/* So many of what there may be for a batch of that many tiles. */
void contract_expect(const contract_size *size, const char *what, uint64_t found,
                     uint64_t expected);

/* Libraries that are not named are not there. They are tried, which is done once for a device; or
 * that is left to the first who wants them. Without max_pinned_bytes the device keeps no memory, so
 * that each read shows all that it asks for. */
tz_device *contract_open(tz_device_options how);
tz_device *contract_open_untried(tz_device_options how);
void contract_close(tz_device *device);

/* No two tiles are alike, nor of the same size once they are compressed. */
raster contract_raster(const contract_size *size);
/* Tiles of 16 x 16. */
tz_write_options contract_options(tz_compression compression);

/* A file in memory; without tiles there is none. */
typedef struct contract_file {
    raster raster;
    tz_memory bytes;
    tz_file *file;
} contract_file;
contract_file contract_file_of(const contract_size *size, tz_compression compression);
contract_file contract_file_with(const contract_size *size, const tz_write_options *options);
/* One whose tiles lie so far apart that reads of them are not merged. */
contract_file contract_spaced_file(const contract_size *size, tz_compression compression);
/* The same file is read through a source of the caller's, which counts reads of its tiles. */
deferred_source *contract_deferred(contract_file *f, uint32_t tiles);
/* The same file is read from a disk, through a gate (support/gated_file.h) for reads of its tiles.
 */
void contract_gated(contract_file *f, uint32_t tiles, unsigned width);
void contract_file_free(contract_file *f);

/* Read all of it, by the device alone, and check each bit. The steps of this are kept. */
plain_report contract_read(const contract_file *f, tz_device *device, uint64_t device_bytes);

#endif
