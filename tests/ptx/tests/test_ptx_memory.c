/* SPDX-License-Identifier: Apache-2.0
 * PTX on the CPU: loads, stores, atomics and addresses in all spaces, and what may not be
 * touched. */
#include <stdio.h>
#include <string.h>

#include "ptx_case.h"

/* %d0 is the address of bytes; what was there is at 0, results go after it. */
static uint64_t room[64];

static void fill(void)
{
    for (unsigned i = 0; i < sizeof(room); i++)
        ((uint8_t *)room)[i] = (uint8_t)(0x81 + i * 7);
}

static void run(const char *before, const char *body)
{
    fill();
    ptx_check_runs(
        &(ptx_kernel){.before = before, .body = body, .bytes = room, .size = sizeof(room)});
}

static void stop(const char *body, const char *word)
{
    fill();
    ptx_check_stops(&(ptx_kernel){.body = body, .bytes = room, .size = sizeof(room)}, "kernel k",
                    "block (0,0,0)", "thread (0,0,0)", word, NULL);
}

/* A narrow load fills a wider register by its type; a narrow store keeps the low bits. */
static void test_widths(void **state)
{
    (void)state;
    run(NULL, "ld.global.u8 %d2, [%d0]; st.global.u64 [%d0+256], %d2;"
              "ld.global.s8 %d2, [%d0]; st.global.u64 [%d0+264], %d2;"
              "ld.global.u16 %r2, [%d0+2]; st.global.u32 [%d0+272], %r2;"
              "ld.global.s16 %r2, [%d0+2]; st.global.u32 [%d0+276], %r2;"
              "ld.global.s32 %d2, [%d0+4]; st.global.u64 [%d0+280], %d2;"
              "ld.global.b64 %d2, [%d0+8]; st.global.u8 [%d0+288], %d2;"
              "st.global.u16 [%d0+290], %d2; st.global.b32 [%d0+292], %d2;"
              "ld.global.nc.f32 %f1, [%d0+4]; st.global.f32 [%d0+296], %f1;"
              "ldu.global.f64 %g1, [%d0+16]; st.global.f64 [%d0+304], %g1;");
    const uint8_t *bytes = (const uint8_t *)room;
    assert_true(room[32] == bytes[0] && room[33] == (uint64_t)(int8_t)bytes[0]);
    uint16_t two;
    uint32_t four;
    memcpy(&two, bytes + 2, 2);
    memcpy(&four, bytes + 4, 4);
    assert_true(((uint32_t *)room)[68] == two && ((int32_t *)room)[69] == (int16_t)two);
    assert_true(room[35] == (uint64_t)(int32_t)four);
    assert_memory_equal(bytes + 288, bytes + 8, 1);
    assert_memory_equal(bytes + 290, bytes + 8, 2);
    assert_memory_equal(bytes + 292, bytes + 8, 4);
    assert_memory_equal(bytes + 296, bytes + 4, 4);
    assert_memory_equal(bytes + 304, bytes + 16, 8);
    assert_int_equal(bytes[289], (uint8_t)(0x81 + 289 * 7));
}

/* The address may be one of the destinations. */
static void test_vectors(void **state)
{
    (void)state;
    run(NULL, "ld.global.v2.u64 {%d3, %d4}, [%d0+16]; st.global.v2.u64 [%d0+256], {%d4, %d3};"
              "mov.u64 %d5, %d0; ld.global.v2.u64 {%d5, %d6}, [%d5+32];"
              "st.global.v2.u64 [%d0+272], {%d5, %d6};"
              "ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%d0];"
              "st.global.v4.u8 [%d0+288], {%h4, %h3, %h2, %h1};"
              "ld.global.v4.s8 {%r1, _, %r3, %r4}, [%d0];"
              "st.global.v4.u32 [%d0+304], {%r1, %r3, %r4, %r4};"
              "ld.global.v2.f32 {%f1, %f2}, [%d0+8]; st.global.v2.f32 [%d0+320], {%f1, %f2};");
    const uint8_t *bytes = (const uint8_t *)room;
    assert_true(room[32] == room[3] && room[33] == room[2]);
    assert_true(room[34] == room[4] && room[35] == room[5]);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(bytes[288 + i], bytes[3 - i]);
    const int32_t *wide = (const int32_t *)room + 76;
    assert_true(wide[0] == (int8_t)bytes[0] && wide[1] == (int8_t)bytes[2]);
    assert_true(wide[2] == (int8_t)bytes[3]);
    assert_true(room[40] == room[1]);
}

static void test_spaces(void **state)
{
    static const char before[] =
        ".global .align 8 .u64 counter = 41;\n.const .align 4 .u32 table[3] = {7, 8, 9};\n"
        ".shared .align 8 .u64 first;";
    (void)state;
    run(before,
        ".shared .align 8 .b8 space[16]; .local .align 8 .b8 own[16];"
        "ld.global.u64 %d2, [counter]; add.u64 %d2, %d2, 1; st.global.u64 [counter], %d2;"
        "mov.u64 %d3, counter; ld.global.u64 %d2, [%d3]; st.global.u64 [%d0], %d2;"
        "ld.const.u32 %r2, [table+8]; st.global.u32 [%d0+8], %r2;"
        "mov.u64 %d3, table; ld.const.u32 %r2, [%d3+4]; st.global.u32 [%d0+12], %r2;"
        "mov.u64 %d4, 5; st.shared.u64 [first], %d4; mov.u64 %d5, space;"
        "st.shared.u64 [%d5+8], %d5; ld.shared.u64 %d6, [space+8]; st.global.u64 [%d0+16], %d6;"
        "st.local.u64 [own+8], %d4; mov.u64 %d5, own; ld.local.u64 %d6, [%d5+8];"
        "st.global.u64 [%d0+24], %d6;"
        /* by generic addresses */
        "cvta.shared.u64 %d7, space; ld.u64 %d8, [%d7+8]; st.global.u64 [%d0+32], %d8;"
        "cvta.local.u64 %d9, %d5; ld.u64 %d8, [%d9+8]; st.u64 [%d0+40], %d8;"
        "cvta.to.shared.u64 %d10, %d7; ld.shared.u64 %d8, [%d10+8]; st.global.u64 [%d0+48], %d8;"
        "cvta.global.u64 %d10, counter; ld.u64 %d8, [%d10]; st.global.u64 [%d0+56], %d8;"
        "isspacep.shared %p1, %d7; isspacep.local %p2, %d9; isspacep.global %p3, %d0;"
        "isspacep.global %p4, %d7; isspacep.shared %p5, %d9; isspacep.local %p6, %d0;"
        "selp.u32 %r3, 1, 0, %p1; selp.u32 %r4, 2, 0, %p2; selp.u32 %r5, 4, 0, %p3;"
        "selp.u32 %r6, 8, 0, %p4; selp.u32 %r7, 16, 0, %p5; selp.u32 %r8, 32, 0, %p6;"
        "add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6;"
        "add.u32 %r3, %r3, %r7; add.u32 %r3, %r3, %r8; st.global.u32 [%d0+64], %r3;");
    assert_int_equal(room[0], 42);
    assert_int_equal(room[1], 9 | (uint64_t)8 << 32);
    assert_true(room[2] == room[4] && room[2] == room[6]);
    assert_true(room[3] == 5 && room[5] == 5 && room[7] == 42);
    assert_int_equal((uint32_t)room[8], 7);
}

/* Accesses outside of allocations, partly outside, not aligned, or to NULL. */
static void test_bounds(void **state)
{
    (void)state;
    stop("ld.global.u8 %r1, [%d0+512];", "no memory there");
    stop("ld.global.u8 %r1, [%d0+-1];", "no memory there");
    stop("ld.global.u64 %d2, [8];", "no memory there");
    stop("mov.u64 %d2, 0; ld.u8 %r1, [%d2];", "no memory there");
    stop("ld.global.u8 %r1, [%d0]; st.global.u8 [%d0+512], %r1;", "st.global.u8");
    stop("ld.global.u32 %r1, [%d0+2];", "not aligned to 4 bytes");
    stop("ld.global.u64 %d2, [%d0]; ld.global.u64 %d2, [%d0+4];", "not aligned to 8 bytes");
    stop("ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%d0+2];", "not aligned to 4 bytes");
    stop("ld.shared.u8 %r1, [0];", "of 0 bytes of shared memory");
    stop(".shared .align 8 .b8 s[6]; st.shared.u32 [s+4], 1;", "byte 4 of 6 bytes of shared");
    stop(".shared .align 8 .b8 s[8]; st.shared.u32 [s+2], 1;", "not aligned to 4");
    stop(".local .align 8 .b8 l[8]; mov.u64 %d3, l; ld.local.u64 %d2, [%d3+8];",
         "byte 8 of 8 bytes of local");
    stop(".local .align 8 .b8 l[8]; cvta.local.u64 %d3, l; ld.u64 %d2, [%d3+-8];",
         "no memory there");
    stop("ld.param.u64 %d2, [p1+8];", "byte 16 of 16 bytes of parameters");
    stop("ld.param.u64 %d2, [p1+-4];", "not aligned to 8");
}

/* A piece that ends within an access. */
static void test_end_of_allocation(void **state)
{
    (void)state;
    ptx_check_stops(&(ptx_kernel){.body = "ld.global.u32 %r1, [%d0+8];", .bytes = room, .size = 10},
                    "line", "ld.global.u32", "4 bytes at 0x7000008: byte 8 of a piece of 10 bytes",
                    NULL);
    ptx_check_runs(&(ptx_kernel){.body = "ld.global.u16 %r1, [%d0+8];", .bytes = room, .size = 10});
}

static void test_unwritten(void **state)
{
    (void)state;
    stop(".shared .align 8 .b8 s[8]; ld.shared.u8 %r1, [s+3];", "nobody wrote them");
    stop(".shared .align 8 .b8 s[8]; st.shared.u16 [s], 1; ld.shared.u32 %r1, [s];",
         "nobody wrote them");
    stop(".shared .align 8 .b8 s[8]; atom.shared.add.u32 %r1, [s], 1;", "nobody wrote them");
    /* what the block before wrote is gone */
    ptx_check_stops(&(ptx_kernel){.grid = 2,
                                  .body = ".shared .u32 s; mov.u32 %r1, %ctaid.x;"
                                          "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 1;"
                                          "ld.shared.u32 %r2, [s];"},
                    "nobody wrote them", "block (1,0,0)", NULL);
}

/* Local memory of a thread never holds the values of an earlier block or call. */
static void test_fresh(void **state)
{
    (void)state;
    fill();
    ptx_check_runs(&(ptx_kernel){.grid = 3,
                                 .body = ".local .align 4 .b8 l[8]; ld.local.u32 %r1, [l+4];"
                                         "st.local.u32 [l+4], 7; mov.u32 %r2, %ctaid.x;"
                                         "mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d2, %d0;"
                                         "st.global.u32 [%d2], %r1;",
                                 .bytes = room,
                                 .size = sizeof(room)});
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(((uint32_t *)room)[i], 0xA5A5A5A5);
}

/* ---------------------------------------------------------------------------------------------
 * Atomics
 * ------------------------------------------------------------------------------------------ */

typedef struct atomic_row {
    const char *text; /* on [%d2], with %r1 or %d3 */
    uint64_t operand, before, after;
    unsigned bits;
} atomic_row;

static const atomic_row atomic_rows[] = {
    {"atom%s.add.u32 %%r2, [%%d2], %%r1;", 5, 0xfffffffe, 3, 32},
    {"atom%s.add.s32 %%r2, [%%d2], %%r1;", 0xffffffff, 7, 6, 32},
    {"atom%s.add.u64 %%d4, [%%d2], %%d3;", 5, UINT64_MAX, 4, 64},
    {"atom%s.and.b32 %%r2, [%%d2], %%r1;", 12, 10, 8, 32},
    {"atom%s.or.b32 %%r2, [%%d2], %%r1;", 12, 10, 14, 32},
    {"atom%s.xor.b32 %%r2, [%%d2], %%r1;", 12, 10, 6, 32},
    {"atom%s.or.b64 %%d4, [%%d2], %%d3;", (uint64_t)1 << 40, 2, ((uint64_t)1 << 40) + 2, 64},
    {"atom%s.exch.b32 %%r2, [%%d2], %%r1;", 12, 10, 12, 32},
    {"atom%s.exch.b64 %%d4, [%%d2], %%d3;", 12, 10, 12, 64},
    {"atom%s.cas.b32 %%r2, [%%d2], 10, %%r1;", 12, 10, 12, 32},
    {"atom%s.cas.b32 %%r2, [%%d2], 11, %%r1;", 12, 10, 10, 32},
    {"atom%s.cas.b64 %%d4, [%%d2], 10, %%d3;", 12, 10, 12, 64},
    {"atom%s.inc.u32 %%r2, [%%d2], %%r1;", 12, 10, 11, 32},
    {"atom%s.inc.u32 %%r2, [%%d2], %%r1;", 12, 12, 0, 32},
    {"atom%s.dec.u32 %%r2, [%%d2], %%r1;", 12, 10, 9, 32},
    {"atom%s.dec.u32 %%r2, [%%d2], %%r1;", 12, 0, 12, 32},
    {"atom%s.dec.u32 %%r2, [%%d2], %%r1;", 12, 13, 12, 32},
    {"atom%s.min.u32 %%r2, [%%d2], %%r1;", 12, 0xffffffff, 12, 32},
    {"atom%s.min.s32 %%r2, [%%d2], %%r1;", 12, 0xffffffff, 0xffffffff, 32},
    {"atom%s.max.u64 %%d4, [%%d2], %%d3;", 12, UINT64_MAX, UINT64_MAX, 64},
    {"atom%s.max.s64 %%d4, [%%d2], %%d3;", 12, UINT64_MAX, 12, 64},
    {"atom%s.add.f32 %%r2, [%%d2], %%r1;", 0x3f800000, 0x3f800000, 0x40000000, 32},
    {"atom%s.add.f64 %%d4, [%%d2], %%d3;", 0x3ff0000000000000, 0x3ff0000000000000,
     0x4000000000000000, 64},
    {"red%s.add.u32 [%%d2], %%r1;", 5, 6, 11, 32},
    {"atom%s.relaxed.gpu.max.u32 %%r2, [%%d2], %%r1;", 5, 6, 6, 32},
};

/* On global memory, on shared memory, and by generic addresses of both. */
static void test_atomics(void **state)
{
    static const char *const ways[][2] = {
        {".global", "mov.u64 %d2, %d0;"},
        {"", "mov.u64 %d2, %d0;"},
        {".shared", "mov.u64 %d2, s;"},
        {"", "cvta.shared.u64 %d2, s;"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(atomic_rows) / sizeof(*atomic_rows) * 4; i++) {
        const atomic_row *row = &atomic_rows[i / 4];
        char text[128], body[1024];
        bool shared = i % 4 >= 2;
        uint64_t mask = row->bits == 32 ? UINT32_MAX : UINT64_MAX;
        (void)snprintf(text, sizeof(text), row->text, ways[i % 4][0]);
        (void)snprintf(
            body, sizeof(body),
            ".shared .align 8 .b64 s; ld.global.u64 %%d5, [%%d0]; st.shared.u64 [s], %%d5;"
            "mov.u64 %%d3, %%d1; cvt.u32.u64 %%r1, %%d3; %s %s"
            "%s st.global.u64 [%%d0+8], %%d5; st.global.u64 [%%d0+16], %%d4;",
            ways[i % 4][1], text, shared ? "ld.shared.u64 %d5, [s];" : "ld.global.u64 %d5, [%d0];");
        if (row->bits == 32)
            strcat(body, "st.global.u32 [%d0+16], %r2;");
        uint64_t bytes[3] = {row->before, 0, 0};
        ptx_check_runs(
            &(ptx_kernel){.body = body, .bytes = bytes, .size = 24, .number = row->operand});
        if ((bytes[1] & mask) != row->after ||
            (*text == 'a' && (bytes[2] & mask) != (row->before & mask)))
            fail_msg("%s: %llx, was %llx", text, (unsigned long long)bytes[1],
                     (unsigned long long)bytes[2]);
    }
}

/* Sums of f32 in global memory lose what is too small, those in shared memory do not. */
static void test_small_sums(void **state)
{
    uint32_t sums[4] = {0x80000005, 0x80000005, 0x00800000, 0};
    (void)state;
    ptx_check_runs(
        &(ptx_kernel){.body = ".shared .align 4 .b32 s; st.shared.u32 [s], 5;"
                              "cvta.shared.u64 %d3, s; red.global.add.f32 [%d0], 0f80000001;"
                              "red.add.f32 [%d0+4], 0f80000001;"
                              "red.global.add.f32 [%d0+8], 0f80000001;"
                              "red.shared.add.f32 [s], 0f00000001; red.add.f32 [%d3], 0f00000001;"
                              "ld.shared.u32 %r1, [s]; st.global.u32 [%d0+12], %r1;",
                      .bytes = sums,
                      .size = sizeof(sums)});
    assert_true(sums[0] == 0x80000000 && sums[1] == 0x80000000);
    assert_true(sums[2] == 0x00800000 && sums[3] == 7);
}

/* All threads of all blocks count. */
static void test_counts(void **state)
{
    uint32_t counts[2] = {0};
    (void)state;
    ptx_check_runs(&(ptx_kernel){.grid = 5,
                                 .block = 96,
                                 .body = ".shared .u32 s; setp.eq.u32 %p1, %r0, 0;"
                                         "@%p1 st.shared.u32 [s], 0; bar.sync 0;"
                                         "red.shared.add.u32 [s], 1; bar.sync 0;"
                                         "ld.shared.u32 %r1, [s]; red.global.add.u32 [%d0], 1;"
                                         "@%p1 red.global.add.u32 [%d0+4], %r1;",
                                 .bytes = counts,
                                 .size = sizeof(counts)});
    assert_int_equal(counts[0], 5 * 96);
    assert_int_equal(counts[1], 5 * 96);
}

static void test_unknown(void **state)
{
    (void)state;
    ptx_check_unknown("ld.global.pred %r1, [%d0];");
    ptx_check_unknown("ld.wb.global.u32 %r1, [%d0];");
    ptx_check_unknown("st.global.nc.u32 [%d0], %r1;");
    ptx_check_unknown("st.const.u32 [%d0], %r1;");
    ptx_check_unknown("ldu.shared.u32 %r1, [%d0];");
    ptx_check_unknown("atom.local.add.u32 %r1, [%d0], 1;");
    ptx_check_unknown("atom.global.add.s64 %d1, [%d0], 1;");
    ptx_check_unknown("atom.global.min.b32 %r1, [%d0], 1;");
    ptx_check_unknown("red.global.exch.b32 [%d0], 1;");
    ptx_check_unknown("cvta.param.u64 %d1, %d0;");
    ptx_check_unknown("cvta.shared.u32 %r1, %r0;");
    ptx_check_unknown("isspacep.param %p1, %d0;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_spaces),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_end_of_allocation),
        cmocka_unit_test(test_unwritten),
        cmocka_unit_test(test_fresh),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_small_sums),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
