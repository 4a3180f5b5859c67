/* SPDX-License-Identifier: Apache-2.0
 * PTX on the CPU: branches, calls, barriers, warps and races on shared memory. */
#include <stdio.h>
#include <string.h>

#include "ptx_case.h"

/* Threads store what they have at their number: %d2 is the place of 4 bytes. */
#define PLACE "mul.wide.u32 %d2, %r0, 4; add.u64 %d2, %d2, %d0;"
static uint32_t results[256];

static void run(const char *before, const char *body, uint32_t block)
{
    memset(results, 0xEE, sizeof(results));
    ptx_check_runs(&(ptx_kernel){
        .before = before, .body = body, .block = block, .bytes = results, .size = sizeof(results)});
}

#define STOPS(count, text, ...)                                                                    \
    ptx_check_stops(                                                                               \
        &(ptx_kernel){.body = text, .block = count, .bytes = results, .size = sizeof(results)},    \
        __VA_ARGS__, NULL)

/* ---------------------------------------------------------------------------------------------
 * Control
 * ------------------------------------------------------------------------------------------ */

static void test_branches(void **state)
{
    (void)state;
    run(NULL,
        PLACE "mov.u32 %r1, 0; mov.u32 %r2, 0;\n"
              "again: add.u32 %r1, %r1, %r2; add.u32 %r2, %r2, 1; setp.le.u32 %p1, %r2, %r0;\n"
              "@%p1 bra again;\n setp.gt.u32 %p2, %r0, 2; @!%p2 bra.uni done;\n"
              "add.u32 %r1, %r1, 1000;\ndone: st.global.u32 [%d2], %r1;",
        5);
    static const uint32_t wanted[] = {0, 1, 3, 1006, 1010};
    assert_memory_equal(results, wanted, sizeof(wanted));
}

static void test_branch_by_index(void **state)
{
    static const char body[] =
        PLACE "mov.u32 %r1, 7;\n ts: .branchtargets a, b, c;\n rem.u32 %r2, %r0, 4;\n"
              "brx.idx %r2, ts;\n a: mov.u32 %r1, 1; bra done;\n b: mov.u32 %r1, 2; bra done;\n"
              "c: mov.u32 %r1, 3;\n done: st.global.u32 [%d2], %r1;";
    (void)state;
    run(NULL, body, 3);
    static const uint32_t wanted[] = {1, 2, 3, 0xEEEEEEEE};
    assert_memory_equal(results, wanted, sizeof(wanted));
    STOPS(4, body, "brx.idx", "thread (3,0,0)", "index 3 of 3 labels");
}

static void test_special_registers(void **state)
{
    (void)state;
    run(NULL,
        PLACE "mov.u32 %r1, %ntid.x; mad.lo.s32 %r1, %r1, 1000, WARP_SZ; mov.u32 %r2, %laneid;\n"
              "mov.u32 %r3, %warpid; mad.lo.s32 %r1, %r3, 1000000, %r1;\n"
              "add.u32 %r1, %r1, %r2; mov.u64 %d3, %clock64; mov.u64 %d4, %clock64;\n"
              "setp.ge.u64 %p1, %d3, %d4; @%p1 trap; mov.u32 %r4, %nctaid.y;\n"
              "setp.ne.u32 %p1, %r4, 1; @%p1 trap; st.global.u32 [%d2], %r1;",
        40);
    assert_int_equal(results[0], 40032);
    assert_int_equal(results[35], 1040035);
}

static const char functions[] =
    /* the sum of bytes at a generic address, by itself again and again */
    ".func (.param .b32 out) sum(.param .b64 at, .param .b32 count)\n{\n"
    " .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<2>; .local .align 4 .b8 own[4];\n"
    " ld.param.u64 %d1, [at]; ld.param.u32 %r1, [count]; mov.u32 %r2, 0;\n"
    " setp.eq.u32 %p1, %r1, 0; @%p1 bra done;\n"
    " ld.u8 %r3, [%d1]; st.local.u32 [own], %r3; add.u64 %d1, %d1, 1; sub.u32 %r1, %r1, 1;\n"
    " { .param .b64 a; .param .b32 n; .param .b32 got; st.param.b64 [a], %d1;\n"
    "   st.param.b32 [n], %r1; call.uni (got), sum, (a, n); ld.param.b32 %r2, [got]; }\n"
    " ld.local.u32 %r3, [own]; add.u32 %r2, %r2, %r3;\n"
    "done: st.param.b32 [out], %r2; ret;\n}\n";

static const char call_body[] =
    PLACE ".local .align 8 .b8 mine[64]; cvta.local.u64 %d3, mine; mov.u32 %r1, 0;\n"
          "fill: cvt.u64.u32 %d4, %r1; add.u64 %d4, %d4, %d3; add.u32 %r2, %r1, %r0;\n"
          "st.u8 [%d4], %r2; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 64; @%p1 bra fill;\n"
          "cvt.u32.u64 %r7, %d1;\n"
          "{ .param .b64 a; .param .b32 n; .param .b32 got; st.param.b64 [a], %d3;\n"
          "  st.param.b32 [n], %r7; call.uni (got), sum, (a, n); ld.param.b32 %r3, [got]; }\n"
          "st.global.u32 [%d2], %r3;";

/* A pointer to a caller's own memory is good in all that it calls; there is an end to depth. */
static void test_calls(void **state)
{
    ptx_kernel kernel = {.before = functions,
                         .body = call_body,
                         .block = 3,
                         .number = 60,
                         .bytes = results,
                         .size = sizeof(results)};
    (void)state;
    ptx_check_runs(&kernel);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(results[i], 60 * 59 / 2 + 60 * i);
    kernel.number = 64;
    ptx_check_stops(&kernel, "call.uni", "deeper than 64", NULL);
}

static void test_ends(void **state)
{
    (void)state;
    run(NULL, PLACE "setp.gt.u32 %p1, %r0, 1; @%p1 exit; st.global.u32 [%d2], %r0;", 4);
    assert_true(results[1] == 1 && results[2] == 0xEEEEEEEE);
    STOPS(2, "setp.eq.u32 %p1, %r0, 1; @%p1 trap;", "thread (1,0,0)", "(trap)");
    ptx_check_stops(&(ptx_kernel){.body = "again: bra again;", .most_instructions = 1000}, "(bra)",
                    "did not end within 1000 instructions", NULL);
    ptx_check_runs(&(ptx_kernel){.body = "", .most_instructions = 1000, .grid = 2000});
}

static void test_launches(void **state)
{
    (void)state;
    STOPS(1025, "", "a block of no such size");
    run(NULL, "bar.sync 0; ret.uni;", 1024);
    ptx_check_stops(&(ptx_kernel){.body = "", .dynamic_shared = 65537}, "too much shared", NULL);
    ptx_check_runs(&(ptx_kernel){.before = ".extern .shared .align 8 .b8 more[];",
                                 .body =
                                     ".shared .u32 s; mov.u64 %d2, more; st.shared.u8 [%d2+99], 1;"
                                     "st.shared.u32 [s], 1;",
                                 .dynamic_shared = 100});
    ptx_check_stops(&(ptx_kernel){.before = ".extern .shared .align 8 .b8 more[];",
                                  .body = "mov.u64 %d2, more; st.shared.u8 [%d2+100], 1;",
                                  .dynamic_shared = 100},
                    "of shared memory", NULL);
}

/* ---------------------------------------------------------------------------------------------
 * Barriers
 * ------------------------------------------------------------------------------------------ */

#define SHARED_PLACE                                                                               \
    PLACE ".shared .align 4 .b8 s[1024]; mul.wide.u32 %d3, %r0, 4; mov.u64 %d4, s;"                \
          "add.u64 %d3, %d3, %d4;"
#define WRITTEN_PLACE SHARED_PLACE "st.shared.u32 [%d3], 0; bar.sync 0; "

static void test_barriers(void **state)
{
    (void)state;
    /* each takes what the one on the other side put there */
    run(NULL,
        SHARED_PLACE "st.shared.u32 [%d3], %r0; bar.sync 0; mov.u32 %r1, 99; sub.u32 %r1, %r1, %r0;"
                     "mul.wide.u32 %d5, %r1, 4; add.u64 %d5, %d5, %d4; ld.shared.u32 %r2, [%d5];"
                     "barrier.sync 0; st.shared.u32 [%d3], 0; st.global.u32 [%d2], %r2;",
        100);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(results[i], 99 - i);
    run(NULL,
        PLACE "rem.u32 %r1, %r0, 3; setp.eq.u32 %p1, %r1, 0; bar.red.popc.u32 %r2, 0, %p1;"
              "bar.red.and.pred %p2, 1, !%p1; bar.red.or.pred %p3, 15, 64, %p1;"
              "@%p2 add.u32 %r2, %r2, 100; @%p3 add.u32 %r2, %r2, 200; st.global.u32 [%d2], %r2;",
        64);
    assert_true(results[0] == 222 && results[63] == 222);
}

/* Two warps each by itself; one that only arrives. */
static void test_partial_barriers(void **state)
{
    (void)state;
    run(NULL,
        SHARED_PLACE "mov.u32 %r3, %warpid; add.u32 %r4, %r3, 1; xor.b32 %r1, %r0, 1;"
                     "mul.wide.u32 %d5, %r1, 4; add.u64 %d5, %d5, %d4; st.shared.u32 [%d3], %r0;"
                     "barrier.sync %r4, 32; ld.shared.u32 %r2, [%d5]; st.global.u32 [%d2], %r2;",
        64);
    assert_true(results[0] == 1 && results[1] == 0 && results[63] == 62);
    run(NULL,
        SHARED_PLACE "setp.ge.u32 %p1, %r0, 32; @%p1 bra late; st.shared.u32 [%d3], %r0;"
                     "bar.arrive 3, 64; bra done;\n late: bar.sync 3, 64;"
                     "ld.shared.u32 %r2, [%d3+-128]; st.global.u32 [%d2], %r2;\ndone:",
        64);
    assert_true(results[32] == 0 && results[63] == 31);
}

static void test_divergent_barriers(void **state)
{
    (void)state;
    STOPS(64, "setp.eq.u32 %p1, %r0, 5; @%p1 exit; bar.sync 0;", "line", "bar.sync",
          "divergent barrier 0: 63 of 64 threads came; thread (5,0,0) has ended");
    STOPS(64, "setp.lt.u32 %p1, %r0, 32; @%p1 bar.sync 1; @!%p1 bar.sync 2;",
          "32 of 64 threads came", "thread (32,0,0) waits at line");
    STOPS(64, "setp.lt.u32 %p1, %r0, 5; @%p1 bra one; bar.sync 0; ret;\n one: bar.sync 0;",
          "divergent barrier", "same warp");
    STOPS(64, "setp.lt.u32 %p1, %r0, 32; @%p1 bar.sync 0, 64; @!%p1 bar.sync 0;",
          "others wait there for");
    STOPS(64, "bar.sync 0, 40;", "not a multiple of 32");
    STOPS(64, "bar.sync 16;", "barrier 16 of 16");
    STOPS(64, "bar.sync 0, 96;", "64 of 96 threads came");
    STOPS(64, "bar.arrive 1, 128; bar.arrive 1, 128;", "again, before it was complete");
    /* a barrier of other warps may be at another line */
    run(NULL, "setp.lt.u32 %p1, %r0, 32; @%p1 bra one; bar.sync 0; ret;\n one: bar.sync 0;", 64);
}

/* ---------------------------------------------------------------------------------------------
 * Races
 * ------------------------------------------------------------------------------------------ */

static void test_races(void **state)
{
    (void)state;
    STOPS(64, SHARED_PLACE "st.shared.u32 [s], %r0;", "st.shared.u32", "thread (1,0,0)",
          "race with the write of thread (0,0,0)");
    STOPS(64, SHARED_PLACE "st.shared.u32 [s], 5;", "race"); /* of the same value */
    STOPS(64, WRITTEN_PLACE "st.shared.u32 [%d3], %r0; ld.shared.u8 %r1, [s+1];",
          "race with the write of thread (0,0,0)", "ld.shared.u8", "thread (1,0,0)");
    STOPS(64, WRITTEN_PLACE "ld.shared.u8 %r1, [s+41]; st.shared.u32 [%d3], %r0;",
          "race with the read of several threads", "st.shared.u32", "thread (10,0,0)");
    STOPS(64,
          SHARED_PLACE "st.shared.u32 [%d3], %r0; bar.sync 0; ld.shared.u32 %r1, [s+252];"
                       "st.shared.u32 [%d3], %r1;",
          "race with the read of several threads");
    STOPS(64,
          SHARED_PLACE "st.shared.u32 [%d3], 0; bar.sync 0; atom.shared.add.u32 %r1, [s], 1;"
                       "ld.shared.u32 %r2, [s];",
          "race with the read of thread (0,0,0)");
    STOPS(64,
          SHARED_PLACE "st.shared.u32 [%d3], 0; bar.sync 0; ld.shared.u32 %r2, [s];"
                       "atom.shared.add.u32 %r1, [s], 1;",
          "race");
    STOPS(64,
          WRITTEN_PLACE "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], 1;"
                        "@!%p1 red.shared.add.u32 [s], 1;",
          "race with the write of thread (0,0,0)", "thread (1,0,0)");
    /* a reader that is not atomic stays one, among others that are */
    STOPS(64,
          WRITTEN_PLACE "setp.eq.u32 %p1, %r0, 0; setp.eq.u32 %p2, %r0, 2;"
                        "@%p1 ld.shared.u32 %r1, [s]; @!%p1 ld.volatile.shared.u32 %r1, [s];"
                        "@%p2 red.shared.add.u32 [s], 1;",
          "race with the read of several threads", "thread (2,0,0)");
    /* in order, by barriers; of neighbours; of atomics and volatile accesses among themselves */
    run(NULL,
        SHARED_PLACE "st.shared.u32 [%d3], %r0; ld.shared.u32 %r1, [%d3]; bar.sync 0;"
                     "ld.shared.u32 %r1, [s+252]; ld.shared.u32 %r2, [s+252]; bar.sync 0;"
                     "st.shared.u32 [%d3], %r1; atom.shared.add.u32 %r1, [%d3], 1; bar.sync 0;"
                     "atom.shared.or.b32 %r1, [s], 1; ld.volatile.shared.u32 %r1, [s];"
                     "st.volatile.shared.u32 [s], %r1;",
        64);
}

/* A warp's own barrier orders what its lanes did, and no others; shuffles order nothing. */
static void test_races_in_warps(void **state)
{
#define TURN(sync)                                                                                 \
    WRITTEN_PLACE "st.shared.u32 [%d3], %r0; " sync " xor.b32 %r1, %r0, 1;"                        \
                  "mul.wide.u32 %d5, %r1, 4; add.u64 %d5, %d5, %d4; ld.shared.u32 %r2, [%d5];"
    (void)state;
    run(NULL, TURN("bar.warp.sync -1;") "st.global.u32 [%d2], %r2;", 64);
    assert_true(results[0] == 1 && results[63] == 62);
    run(NULL, TURN("bar.warp.sync -1;") "bar.warp.sync -1; st.shared.u32 [%d5], %r2;", 64);
    STOPS(64, TURN(""), "race");
    STOPS(64, TURN("shfl.sync.idx.b32 %r3, %r0, 0, 31, -1;"), "race");
    STOPS(64, TURN("bar.warp.sync -1;") "st.shared.u32 [%d3], %r2;",
          "race with the write of thread (0,0,0)", "thread (1,0,0)");
    STOPS(64,
          SHARED_PLACE "st.shared.u32 [%d3], %r0; bar.warp.sync -1; xor.b32 %r1, %r0, 32;"
                       "mul.wide.u32 %d5, %r1, 4; add.u64 %d5, %d5, %d4; ld.shared.u32 %r2, [%d5];",
          "race with the write of thread (32,0,0)");
    /* what was read again after the barrier is read after it */
    STOPS(32,
          WRITTEN_PLACE "setp.eq.u32 %p1, %r0, 0; setp.eq.u32 %p2, %r0, 1;"
                        "@%p1 ld.shared.u32 %r2, [s+4]; bar.warp.sync -1;"
                        "@%p1 ld.shared.u32 %r2, [s+4]; @%p2 st.shared.u32 [s+4], 1;",
          "race with the read of thread (0,0,0)", "thread (1,0,0)");
    /* half a warp is not all of it */
    STOPS(32,
          SHARED_PLACE "st.shared.u32 [%d3], %r0; setp.lt.u32 %p1, %r0, 16;"
                       "selp.b32 %r5, 0xffff, 0xffff0000, %p1; bar.warp.sync %r5;"
                       "ld.shared.u32 %r2, [s+124];",
          "race with the write of thread (31,0,0)");
}

/* ---------------------------------------------------------------------------------------------
 * Warps
 * ------------------------------------------------------------------------------------------ */

/* By the formulas of PTX: lanes of segments of a width, as __shfl_*_sync makes them of c. */
static void check_shuffle(const char *mode, uint32_t b, uint32_t width)
{
    char body[512];
    bool up = strcmp(mode, "up") == 0;
    (void)snprintf(body, sizeof(body),
                   "%s mul.lo.u32 %%r1, %%r0, 10; shfl.sync.%s.b32 %%r2|%%p1, %%r1, %u, %u, -1;"
                   "@%%p1 add.u32 %%r2, %%r2, 1; st.global.u32 [%%d2], %%r2;",
                   PLACE, mode, b, (32 - width) << 8 | (up ? 0 : 31));
    run(NULL, body, 64);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t lane = i % 32, first = lane / width * width, last = first + width - 1;
        int64_t from = up                          ? (int64_t)lane - b
                       : strcmp(mode, "down") == 0 ? (int64_t)lane + b
                       : strcmp(mode, "bfly") == 0 ? lane ^ b
                                                   : first + b % width;
        bool there = up ? from >= first : from <= last;
        uint32_t wanted = (i / 32 * 32 + (there ? (uint32_t)from : lane)) * 10 + there;
        if (results[i] != wanted)
            fail_msg("%s %u of %u, lane %u: %u, expected %u", mode, b, width, i, results[i],
                     wanted);
    }
}

static void test_shuffles(void **state)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        for (uint32_t width = 4; width <= 32; width *= 2)
            for (uint32_t b = 0; b < 32; b += 5)
                check_shuffle(modes[i], b, width);
    STOPS(16, "shfl.sync.down.b32 %r1, %r0, 1, 31, 0xffff;", "takes what lane 16 has");
    STOPS(32, "shfl.sync.idx.b32 %r1, %r0, 5, 31, 0xf;", "lane 4 is not in the mask 0xf");
    STOPS(64,
          "setp.eq.u32 %p1, %r0, 40; @%p1 bra wait; shfl.sync.idx.b32 %r1, %r0, 0, 31, -1; ret;"
          "\nwait: bar.sync 0;",
          "thread (40,0,0) waits at line", "waits for lanes 0xffffffff for ever");
}

static void test_votes(void **state)
{
    (void)state;
    run(NULL,
        PLACE "setp.lt.u32 %p1, %r0, 40; vote.sync.ballot.b32 %r1, %p1, -1;"
              "vote.sync.all.pred %p2, %p1, -1; vote.sync.any.pred %p3, !%p1, -1;"
              "vote.sync.uni.pred %p4, %p1, -1; selp.u32 %r2, 0x10000, 0, %p2;"
              "selp.u32 %r3, 0x20000, 0, %p3; selp.u32 %r4, 0x40000, 0, %p4; popc.b32 %r5, %r1;"
              "add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5;"
              "st.global.u32 [%d2], %r2;",
        64);
    assert_int_equal(results[0], 0x50000 + 32);
    assert_int_equal(results[33], 0x20000 + 8);
    run(NULL,
        PLACE "rem.u32 %r1, %r0, 3; match.any.sync.b32 %r2, %r1, -1; cvt.u64.u32 %d3, %r1;"
              "match.all.sync.b64 %r3|%p1, %d3, -1; @%p1 trap; add.u32 %r2, %r2, %r3;"
              "match.all.sync.b32 %r3|%p1, 5, -1; @!%p1 trap; and.b32 %r2, %r2, %r3;"
              "activemask.b32 %r4; popc.b32 %r4, %r4; setp.ne.u32 %p1, %r4, 1; @%p1 trap;"
              "st.global.u32 [%d2], %r2;",
        32);
    assert_int_equal(results[0], 0x49249249);
    assert_int_equal(results[31], 0x92492492);
    /* those that have ended are not waited for */
    run(NULL,
        PLACE "setp.gt.u32 %p1, %r0, 9; @%p1 exit; vote.sync.ballot.b32 %r1, 1, -1;"
              "st.global.u32 [%d2], %r1;",
        32);
    assert_int_equal(results[9], 0x3ff);
}

static void test_fences(void **state)
{
    (void)state;
    run(NULL, "membar.cta; membar.gl; membar.sys; fence.sc.gpu; fence.acq_rel.cta;", 2);
}

static void test_unknown(void **state)
{
    (void)state;
    ptx_check_unknown("bar.sync;");
    ptx_check_unknown("bar.red.u32 %r1, 0, %p1;");
    ptx_check_unknown("bar.red.popc.pred %p2, 0, %p1;");
    ptx_check_unknown("shfl.sync.b32 %r1, %r2, 0, 31, -1;");
    ptx_check_unknown("shfl.down.b32 %r1, %r2, 0, 31;");
    ptx_check_unknown("vote.all.pred %p1, %p2;");
    ptx_check_unknown("vote.sync.all.b32 %r1, %p2, -1;");
    ptx_check_unknown("match.sync.b32 %r1, %r2, -1;");
    ptx_check_unknown("mov.u32 %r1, %f2, %f3;");
    ptx_check_unknown("membar.wrap;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_branch_by_index),
        cmocka_unit_test(test_special_registers),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_partial_barriers),
        cmocka_unit_test(test_divergent_barriers),
        cmocka_unit_test(test_races),
        cmocka_unit_test(test_races_in_warps),
        cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_fences),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
