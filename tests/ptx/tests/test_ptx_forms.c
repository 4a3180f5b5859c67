/* SPDX-License-Identifier: Apache-2.0
 * PTX on the CPU: comparisons of all types in all ways, memory of all spaces with all types, and
 * atomics of all kinds, each against C. */
#include "ptx_case.h"

#include <string.h>

static float f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, sizeof x);
    return x;
}

static double f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define ROWS(list)                                                                                 \
    static const ptx_row rows[] = {list(PTX_ROW)};                                                 \
    (void)state;                                                                                   \
    ptx_check_rows(rows, sizeof rows / sizeof *rows)

/* ---------------------------------------------------------------------------------------------
 * Comparisons
 * ------------------------------------------------------------------------------------------ */

#define COMPARED(X, way, type, class, read, expression)                                            \
    X(way##_##type, "setp." #way "." #type " %pd, %" #class "a, %" #class "b;", p, d,              \
      (read(a))expression(read(b)))
#define ORDERED(X, type, class, read)                                                              \
    COMPARED(X, eq, type, class, read, ==)                                                         \
    COMPARED(X, ne, type, class, read, !=)                                                         \
    COMPARED(X, lt, type, class, read, <)                                                          \
    COMPARED(X, le, type, class, read, <=)                                                         \
    COMPARED(X, gt, type, class, read, >)                                                          \
    COMPARED(X, ge, type, class, read, >=)
#define UNSIGNED(X, type, class, read)                                                             \
    COMPARED(X, lo, type, class, read, <)                                                          \
    COMPARED(X, ls, type, class, read, <=)                                                         \
    COMPARED(X, hi, type, class, read, >)                                                          \
    COMPARED(X, hs, type, class, read, >=)
#define SAME(X, type, class, read)                                                                 \
    COMPARED(X, eq, type, class, read, ==)                                                         \
    COMPARED(X, ne, type, class, read, !=)

/* NaN is neither below, above nor equal to anything; with u after the comparison it is all of them.
 */
#define UNORDERED(X, way, type, class, expression)                                                 \
    X(way##_##type, "setp." #way "." #type " %pd, %" #class "a, %" #class "b;", p, d,              \
      is_nan(type(a), type(b)) || expression)
#define FLOATS(X, type, class)                                                                     \
    COMPARED(X, eq, type, class, type, ==)                                                         \
    COMPARED(X, lt, type, class, type, <)                                                          \
    COMPARED(X, le, type, class, type, <=)                                                         \
    COMPARED(X, gt, type, class, type, >)                                                          \
    COMPARED(X, ge, type, class, type, >=)                                                         \
    X(ne_##type, "setp.ne." #type " %pd, %" #class "a, %" #class "b;", p, d,                       \
      !is_nan(type(a), type(b)) && type(a) != type(b))                                             \
    UNORDERED(X, equ, type, class, type(a) == type(b))                                             \
    UNORDERED(X, neu, type, class, type(a) != type(b))                                             \
    UNORDERED(X, ltu, type, class, type(a) < type(b))                                              \
    UNORDERED(X, leu, type, class, type(a) <= type(b))                                             \
    UNORDERED(X, gtu, type, class, type(a) > type(b))                                              \
    UNORDERED(X, geu, type, class, type(a) >= type(b))                                             \
    UNORDERED(X, nan, type, class, false)                                                          \
    X(num_##type, "setp.num." #type " %pd, %" #class "a, %" #class "b;", p, d,                     \
      !is_nan(type(a), type(b)))

static bool is_nan(double a, double b)
{
    return a != a || b != b;
}

#define INTEGERS(X)                                                                                \
    ORDERED(X, u16, h, (uint16_t))                                                                 \
    ORDERED(X, s16, h, (int16_t))                                                                  \
    ORDERED(X, u32, r, (uint32_t))                                                                 \
    ORDERED(X, s32, r, (int32_t))                                                                  \
    ORDERED(X, u64, d, (uint64_t))                                                                 \
    ORDERED(X, s64, d, (int64_t))                                                                  \
    UNSIGNED(X, u16, h, (uint16_t))                                                                \
    UNSIGNED(X, u32, r, (uint32_t))                                                                \
    UNSIGNED(X, u64, d, (uint64_t))                                                                \
    SAME(X, b16, h, (uint16_t))                                                                    \
    SAME(X, b32, r, (uint32_t))                                                                    \
    SAME(X, b64, d, (uint64_t))
INTEGERS(PTX_REFERENCE)

#define ALL_FLOATS(X)                                                                              \
    FLOATS(X, f32, f)                                                                              \
    FLOATS(X, f64, g)
ALL_FLOATS(PTX_REFERENCE)

static void integers_compare(void **state)
{
    ROWS(INTEGERS);
}

static void floats_compare(void **state)
{
    ROWS(ALL_FLOATS);
}

/* ---------------------------------------------------------------------------------------------
 * Memory: what is stored in one space is loaded again, as another type of the same size
 * ------------------------------------------------------------------------------------------ */

#define KEPT(X, space, type, as, class, read)                                                      \
    X(kept_##space##_##type##_##as,                                                                \
      "." #space " .align 8 .b8 room[16]; st." #space "." #type                                    \
      " [room+8], %" #class "a; ld." #space "." #as " %dd, [room+8];",                             \
      d, d, (uint64_t)(read)a)
#define FLOAT_KEPT(X, space, type, class)                                                          \
    X(kept_##space##_##type,                                                                       \
      "." #space " .align 8 .b8 room[16]; st." #space "." #type                                    \
      " [room+8], %" #class "a; ld." #space "." #type " %" #class "d, [room+8];",                  \
      class, d, a)
#define SPACE(X, space)                                                                            \
    KEPT(X, space, u8, u8, h, uint8_t)                                                             \
    KEPT(X, space, s8, s8, h, int8_t)                                                              \
    KEPT(X, space, b8, s8, h, int8_t)                                                              \
    KEPT(X, space, u16, s16, h, int16_t)                                                           \
    KEPT(X, space, s16, u16, h, uint16_t)                                                          \
    KEPT(X, space, b16, b16, h, uint16_t)                                                          \
    KEPT(X, space, u32, s32, r, int32_t)                                                           \
    KEPT(X, space, s32, u32, r, uint32_t)                                                          \
    KEPT(X, space, b32, b32, r, uint32_t)                                                          \
    KEPT(X, space, u64, s64, d, uint64_t)                                                          \
    KEPT(X, space, s64, b64, d, uint64_t)                                                          \
    FLOAT_KEPT(X, space, f32, f)                                                                   \
    FLOAT_KEPT(X, space, f64, g)
#define SPACES(X) SPACE(X, local) SPACE(X, shared) SPACE(X, param)
SPACES(PTX_REFERENCE)

/* By an address of no space; a is in the global memory that %dp points to. */
#define GENERIC(X)                                                                                 \
    X(generic_global, "ld.u16 %hd, [%dp];", h, d, a)                                               \
    X(generic_global_s8, "ld.s8 %dd, [%dp+1];", d, d, (int8_t)(a >> 8))                            \
    X(generic_local,                                                                               \
      ".local .b64 room; .reg .b64 at, wide; mov.u64 at, room; cvta.local.u64 wide, at;"           \
      "st.u64 [wide], %da; ld.local.u64 %dd, [room];",                                             \
      d, d, a)                                                                                     \
    X(generic_shared,                                                                              \
      ".shared .b64 room; .reg .b64 at, wide; mov.u64 at, room; cvta.shared.u64 wide, at;"         \
      "st.shared.u64 [room], %da; ld.u8 %dd, [wide+3];",                                           \
      d, d, a >> 24 & 255)                                                                         \
    X(generic_back,                                                                                \
      ".shared .b64 room; .reg .b64 at, wide; mov.u64 at, room; cvta.shared.u64 wide, at;"         \
      "cvta.to.shared.u64 wide, wide; sub.u64 %dd, wide, at;",                                     \
      d, d, 0)                                                                                     \
    X(generic_vector,                                                                              \
      ".local .align 16 .b8 room[16]; .reg .b64 at; mov.u64 at, room; cvta.local.u64 at, at;"      \
      "st.v4.u32 [at], {%ra, %rb, %rc, %re}; ld.v2.u64 {%dq, %dd}, [at];",                         \
      d, d, (c & UINT32_MAX) | e << 32)                                                            \
    X(vector_bytes,                                                                                \
      ".local .align 4 .b8 room[4]; st.local.v4.u8 [room], {%ha, %hb, %hc, %he};"                  \
      "ld.local.u32 %rd, [room];",                                                                 \
      r, d, (a & 255) | (b & 255) << 8 | (c & 255) << 16 | (e & 255) << 24)                        \
    X(vector_halves,                                                                               \
      ".local .align 4 .b8 room[4]; st.local.u32 [room], %ra;"                                     \
      "ld.local.v2.s16 {%rq, %rd}, [room];",                                                       \
      r, d, (int16_t)(a >> 16))                                                                    \
    X(volatile_shared,                                                                             \
      ".shared .b32 room; st.volatile.shared.u32 [room], %ra; ld.volatile.shared.u32 %rd, "        \
      "[room];",                                                                                   \
      r, d, a)                                                                                     \
    X(cached, "ld.global.nc.u32 %rd, [%dp];", r, d, a)                                             \
    X(relaxed, "ld.relaxed.gpu.global.u64 %dd, [%dp];", d, d, a)
GENERIC(PTX_REFERENCE)

static void memory_keeps_all_types(void **state)
{
    ROWS(SPACES);
}

static void addresses_of_no_space(void **state)
{
    ROWS(GENERIC);
}

/* ---------------------------------------------------------------------------------------------
 * Atomics: a is there, b comes; what is there then, and what was there before
 * ------------------------------------------------------------------------------------------ */

#define UPDATED(X, form, type, class, expression)                                                  \
    X(then_##form##_##type, ATOMIC(form, type, class, "%" #class "b"), class, d, expression)       \
    X(before_##form##_##type, ATOMIC(form, type, class, "%" #class "b"), class, q, a)
#define ATOMIC(form, type, class, operands)                                                        \
    ".shared .align 8 .b8 room[8]; st.shared." #type                                               \
    " [room], %" #class "a;"                                                                       \
                        "atom.shared." #form "." #type " %" #class "q, [room], " operands ";"      \
                                                                   "ld.shared." #type              \
                                                                   " %" #class "d, [room];"
#define U32(x) ((uint32_t)(x))
#define S32(x) ((int32_t)(x))
#define S64(x) ((int64_t)(x))

#define ATOMICS(X)                                                                                 \
    UPDATED(X, add, u32, r, a + b)                                                                 \
    UPDATED(X, add, s32, r, a + b)                                                                 \
    UPDATED(X, add, u64, d, a + b)                                                                 \
    UPDATED(X, and, b32, r, a &b)                                                                  \
    UPDATED(X, and, b64, d, a &b)                                                                  \
    UPDATED(X, or, b32, r, a | b)                                                                  \
    UPDATED(X, or, b64, d, a | b)                                                                  \
    UPDATED(X, xor, b32, r, a ^ b)                                                                 \
    UPDATED(X, xor, b64, d, a ^ b)                                                                 \
    UPDATED(X, exch, b32, r, b)                                                                    \
    UPDATED(X, exch, b64, d, b)                                                                    \
    UPDATED(X, inc, u32, r, U32(a) >= U32(b) ? 0 : a + 1)                                          \
    UPDATED(X, dec, u32, r, U32(a) == 0 || U32(a) > U32(b) ? b : a - 1)                            \
    UPDATED(X, min, u32, r, U32(a) < U32(b) ? a : b)                                               \
    UPDATED(X, min, s32, r, S32(a) < S32(b) ? a : b)                                               \
    UPDATED(X, min, u64, d, a < b ? a : b)                                                         \
    UPDATED(X, min, s64, d, S64(a) < S64(b) ? a : b)                                               \
    UPDATED(X, max, u32, r, U32(a) > U32(b) ? a : b)                                               \
    UPDATED(X, max, s32, r, S32(a) > S32(b) ? a : b)                                               \
    UPDATED(X, max, u64, d, a > b ? a : b)                                                         \
    UPDATED(X, max, s64, d, S64(a) > S64(b) ? a : b)                                               \
    X(cas_other_32, ATOMIC(cas, b32, r, "%rb, %rc"), r, d, U32(a) == U32(b) ? c : a)               \
    X(cas_same_32, ATOMIC(cas, b32, r, "%ra, %rc"), r, d, c)                                       \
    X(cas_other_64, ATOMIC(cas, b64, d, "%db, %dc"), d, d, a == b ? c : a)                         \
    X(cas_same_64, ATOMIC(cas, b64, d, "%da, %dc"), d, d, c)                                       \
    X(cas_same_16, ATOMIC(cas, b16, h, "%ha, %hc"), h, d, c)                                       \
    X(cas_before_16, ATOMIC(cas, b16, h, "%ha, %hc"), h, q, a)                                     \
    X(red_64,                                                                                      \
      ".shared .b64 room; st.shared.u64 [room], %da; red.shared.max.u64 [room], %db;"              \
      "ld.shared.u64 %dd, [room];",                                                                \
      d, d, a > b ? a : b)
ATOMICS(PTX_REFERENCE)

static void atomics_say_what_was_there(void **state)
{
    ROWS(ATOMICS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_compare),           cmocka_unit_test(floats_compare),
        cmocka_unit_test(memory_keeps_all_types),     cmocka_unit_test(addresses_of_no_space),
        cmocka_unit_test(atomics_say_what_was_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
