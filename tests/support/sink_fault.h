/* SPDX-License-Identifier: Apache-2.0
 * System calls of the file sink that fail, do less than asked or kill the process when a test says
 * so, and else are the real ones. */
#ifndef TZ_TESTS_SINK_FAULT_H
#define TZ_TESTS_SINK_FAULT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sink_fault {
    int fail_at;         /* the n-th call fails, from 1; 0: none */
    const char *only;    /* only calls of this name are counted; NULL: all */
    int error;           /* errno of those that fail */
    bool persistent;     /* all calls after it fail too */
    int kill_before;     /* this call does not come about: the process is killed */
    int kill_after;      /* it does, and then the process is killed */
    bool no_unnamed;     /* the file system has no files without a name ... */
    bool no_rename_new;  /* ... cannot rename without replacing ... */
    bool no_locks;       /* ... has no locks ... */
    bool no_insert;      /* ... cannot make room within a file ... */
    bool no_copy;        /* ... nor copy between files */
    bool no_disk;        /* nothing waits for it: for tests that make hundreds of files */
    size_t most_written; /* bytes that one write or copy takes; 0: all */
    size_t most_read;    /* bytes that one read gives; 0: all */
    void (*before)(const char *name); /* called before every call; may be NULL */
    bool no_bytes;                    /* writes take all that they are given, and write nothing */
    /* what was seen */
    int calls;
    int failures;
    const char *failed;  /* the name of the first call that failed; of fsync and close which */
    size_t largest_size; /* bytes of one write */
    int largest_count;   /* buffers of one write */
} sink_fault;

extern sink_fault fault;

/* From one call that a process dies at to the next. A process with the address sanitizer's memory
 * takes long to copy: there not all of them, which the optimised build does. */
#ifdef __SANITIZE_ADDRESS__
enum { SINK_DEATH_STEP = 5 };
#else
enum { SINK_DEATH_STEP = 1 };
#endif

/* Start again: nothing fails, nothing is counted yet. */
void sink_fault_install(void);
void sink_fault_remove(void);

/* Setup and teardown of cmocka: these calls, and a scratch folder. */
int sink_fault_begin(void **state);
int sink_fault_end(void **state);

/* From now on calls of this name alone are counted, and the n-th of them fails (0: none). */
void sink_fault_fail(const char *call, int n, int error_number);

/* Run a check with files without a name, and again where there are none. */
void sink_fault_both_ways(void (*check)(void));

#endif
