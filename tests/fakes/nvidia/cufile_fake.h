/* SPDX-License-Identifier: Apache-2.0
 * A stand-in for cuFile that reads files into the memory of the fake of libcuda, with the rules
 * of the real one and some that it only documents:
 *
 *   - the driver must be open; a file is registered once, and not closed before it is deregistered
 *   - only plain memory of the device, or pinned memory of the host, and not that of a pool, is
 *     registered and read into; within what is registered, reads name the address that was
 *     registered and an offset; all bytes are within one live allocation
 *   - in compatibility mode, which is the default, its driver opens and all files are registered,
 *     whether they can be read directly or not; without, neither (SetParameterBool, before it is
 *     opened). Where a file opens with O_DIRECT, its descriptor must have it
 *   - opening the driver makes a log in the working directory, unless the environment has
 *     CUFILE_LOGFILE_PATH: that is misuse here
 *   - reads are in no order with streams; those of a batch are done when somebody asks for their
 *     status, the last first, and memory and files must be there until then
 *
 * Functions fail by their names, as those of CUDA do: cuda_fake_control.fail_function, with an
 * error of cuFile as the code, or of the system (cuFileRead). */
#ifndef TESTS_FAKES_NVIDIA_CUFILE_FAKE_H
#define TESTS_FAKES_NVIDIA_CUFILE_FAKE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cufile_fake_control {
    bool direct;          /* the kernel's module is there: reads do not pass the host */
    bool compat;          /* mode of compatibility */
    bool keeps_compat;    /* which cannot be changed: another library has opened the driver */
    uint64_t unsupported; /* the inode of a file on a file system that is not read directly; 0 */
    bool no_batches;      /* it says that it has none */
    uint32_t most_batch;  /* entries of a batch */
    uint64_t short_read;  /* most bytes of one read; 0: any */
    uint64_t fail_entry;  /* of batches, counted from 1 as they are done, while it is not 0 */
    /* what happened */
    int64_t opens, files, buffers, batches; /* that live */
    uint64_t reads, bytes;                  /* of files, done */
    uint64_t unaligned;                     /* of these: not of whole pages, to whole pages */
    char misuse[200];                       /* what was done first of what must not be */
} cufile_fake_control;

#define CUFILE_FAKE_DEFAULTS .most_batch = 128, .compat = true

/* Exported as "cufile_fake". */
typedef cufile_fake_control *(*cufile_fake_function)(void);

#endif
