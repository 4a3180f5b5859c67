/* SPDX-License-Identifier: Apache-2.0
 * PTX on the CPU: integers, each form against C. */
#include "ptx_case.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

#define U16(x)           ((uint16_t)(x))
#define U32(x)           ((uint32_t)(x))
#define S16(x)           ((int16_t)(x))
#define S32(x)           ((int32_t)(x))
#define S64(x)           ((int64_t)(x))
#define CARRY(sum, bits) ((uint64_t)((sum) >> (bits)) & 1)

static int64_t clamped(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
}

#define SUMS(X)                                                                                    \
    X(add_s16, "add.s16 %hd, %ha, %hb;", h, d, a + b)                                              \
    X(add_u16, "add.u16 %hd, %ha, %hb;", h, d, a + b)                                              \
    X(add_s32, "add.s32 %rd, %ra, %rb;", r, d, a + b)                                              \
    X(add_u64, "add.u64 %dd, %da, %db;", d, d, a + b)                                              \
    X(add_immediate, "add.s32 %rd, %ra, -5;", r, d, a - 5)                                         \
    X(add_sat, "add.sat.s32 %rd, %ra, %rb;", r, d, clamped((int64_t)S32(a) + S32(b)))              \
    X(sub_s16, "sub.s16 %hd, %ha, %hb;", h, d, a - b)                                              \
    X(sub_u32, "sub.u32 %rd, %ra, %rb;", r, d, a - b)                                              \
    X(sub_s64, "sub.s64 %dd, %da, %db;", d, d, a - b)                                              \
    X(sub_sat, "sub.sat.s32 %rd, %ra, %rb;", r, d, clamped((int64_t)S32(a) - S32(b)))              \
    X(addc_32, "add.cc.u32 %rq, %ra, %rb; addc.u32 %rd, %rc, %re;", r, d,                          \
      c + e + ((uint64_t)U32(a) + U32(b) > UINT32_MAX))                                            \
    X(addc_cc, "add.cc.u32 %rq, %ra, %rb; addc.cc.u32 %rq, %rb, %ra; addc.u32 %rd, 0, 0;", r, d,   \
      (uint64_t)U32(a) + U32(b) + ((uint64_t)U32(a) + U32(b) > UINT32_MAX) > UINT32_MAX)           \
    X(addc_64, "add.cc.u64 %dq, %da, %db; addc.u64 %dd, %dc, %de;", d, d, c + e + (a + b < a))     \
    X(subc_32, "sub.cc.u32 %rq, %ra, %rb; subc.u32 %rd, %rc, %re;", r, d,                          \
      c - e - (U32(a) < U32(b)))                                                                   \
    X(subc_64, "sub.cc.u64 %dq, %da, %db; subc.u64 %dd, %dc, %de;", d, d, c - e - (a < b))         \
    X(neg_16, "neg.s16 %hd, %ha;", h, d, 0 - a)                                                    \
    X(neg_32, "neg.s32 %rd, %ra;", r, d, 0 - a)                                                    \
    X(neg_64, "neg.s64 %dd, %da;", d, d, 0 - a)                                                    \
    X(abs_16, "abs.s16 %hd, %ha;", h, d, S16(a) < 0 ? 0 - a : a)                                   \
    X(abs_32, "abs.s32 %rd, %ra;", r, d, S32(a) < 0 ? 0 - a : a)                                   \
    X(abs_64, "abs.s64 %dd, %da;", d, d, S64(a) < 0 ? 0 - a : a)                                   \
    X(min_u16, "min.u16 %hd, %ha, %hb;", h, d, U16(a) < U16(b) ? a : b)                            \
    X(min_s16, "min.s16 %hd, %ha, %hb;", h, d, S16(a) < S16(b) ? a : b)                            \
    X(min_u32, "min.u32 %rd, %ra, %rb;", r, d, U32(a) < U32(b) ? a : b)                            \
    X(min_s32, "min.s32 %rd, %ra, %rb;", r, d, S32(a) < S32(b) ? a : b)                            \
    X(min_u64, "min.u64 %dd, %da, %db;", d, d, a < b ? a : b)                                      \
    X(min_s64, "min.s64 %dd, %da, %db;", d, d, S64(a) < S64(b) ? a : b)                            \
    X(max_u16, "max.u16 %hd, %ha, %hb;", h, d, U16(a) > U16(b) ? a : b)                            \
    X(max_s16, "max.s16 %hd, %ha, %hb;", h, d, S16(a) > S16(b) ? a : b)                            \
    X(max_u32, "max.u32 %rd, %ra, %rb;", r, d, U32(a) > U32(b) ? a : b)                            \
    X(max_s32, "max.s32 %rd, %ra, %rb;", r, d, S32(a) > S32(b) ? a : b)                            \
    X(max_u64, "max.u64 %dd, %da, %db;", d, d, a > b ? a : b)                                      \
    X(max_s64, "max.s64 %dd, %da, %db;", d, d, S64(a) > S64(b) ? a : b)                            \
    X(sad_u16, "sad.u16 %hd, %ha, %hb, %hc;", h, d,                                                \
      c + (uint64_t)(U16(a) > U16(b) ? U16(a) - U16(b) : U16(b) - U16(a)))                         \
    X(sad_s32, "sad.s32 %rd, %ra, %rb, %rc;", r, d, S32(a) > S32(b) ? c + a - b : c + b - a)       \
    X(sad_u64, "sad.u64 %dd, %da, %db, %dc;", d, d, a > b ? c + a - b : c + b - a)                 \
    X(sad_s64, "sad.s64 %dd, %da, %db, %dc;", d, d, S64(a) > S64(b) ? c + a - b : c + b - a)

static int32_t dot(uint64_t a, uint64_t b, bool a_signed, bool b_signed)
{
    int32_t sum = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        int x = (int)(a >> i & 255), y = (int)(b >> i & 255);
        sum += (a_signed && x > 127 ? x - 256 : x) * (b_signed && y > 127 ? y - 256 : y);
    }
    return sum;
}

#define PRODUCT(type, a, b) ((type)(a) * (type)(b))
#define PRODUCTS(X)                                                                                \
    X(mul_lo_16, "mul.lo.s16 %hd, %ha, %hb;", h, d, a *b)                                          \
    X(mul_lo_32, "mul.lo.s32 %rd, %ra, %rb;", r, d, a *b)                                          \
    X(mul_lo_64, "mul.lo.u64 %dd, %da, %db;", d, d, a *b)                                          \
    X(mul_hi_u16, "mul.hi.u16 %hd, %ha, %hb;", h, d, PRODUCT(uint64_t, U16(a), U16(b)) >> 16)      \
    X(mul_hi_s16, "mul.hi.s16 %hd, %ha, %hb;", h, d, PRODUCT(int64_t, S16(a), S16(b)) >> 16)       \
    X(mul_hi_u32, "mul.hi.u32 %rd, %ra, %rb;", r, d, PRODUCT(uint64_t, U32(a), U32(b)) >> 32)      \
    X(mul_hi_s32, "mul.hi.s32 %rd, %ra, %rb;", r, d, PRODUCT(int64_t, S32(a), S32(b)) >> 32)       \
    X(mul_hi_u64, "mul.hi.u64 %dd, %da, %db;", d, d, PRODUCT(u128, a, b) >> 64)                    \
    X(mul_hi_s64, "mul.hi.s64 %dd, %da, %db;", d, d, PRODUCT(s128, S64(a), S64(b)) >> 64)          \
    X(mul_wide_u16, "mul.wide.u16 %rd, %ha, %hb;", r, d, PRODUCT(uint64_t, U16(a), U16(b)))        \
    X(mul_wide_s16, "mul.wide.s16 %rd, %ha, %hb;", r, d, PRODUCT(int64_t, S16(a), S16(b)))         \
    X(mul_wide_u32, "mul.wide.u32 %dd, %ra, %rb;", d, d, PRODUCT(uint64_t, U32(a), U32(b)))        \
    X(mul_wide_s32, "mul.wide.s32 %dd, %ra, %rb;", d, d, PRODUCT(int64_t, S32(a), S32(b)))         \
    X(mad_lo_16, "mad.lo.u16 %hd, %ha, %hb, %hc;", h, d, a *b + c)                                 \
    X(mad_lo_32, "mad.lo.s32 %rd, %ra, %rb, %rc;", r, d, a *b + c)                                 \
    X(mad_lo_64, "mad.lo.s64 %dd, %da, %db, %dc;", d, d, a *b + c)                                 \
    X(mad_hi_u32, "mad.hi.u32 %rd, %ra, %rb, %rc;", r, d,                                          \
      (PRODUCT(uint64_t, U32(a), U32(b)) >> 32) + c)                                               \
    X(mad_hi_s64, "mad.hi.s64 %dd, %da, %db, %dc;", d, d,                                          \
      (uint64_t)(PRODUCT(s128, S64(a), S64(b)) >> 64) + c)                                         \
    X(mad_hi_sat, "mad.hi.sat.s32 %rd, %ra, %rb, %rc;", r, d,                                      \
      clamped((PRODUCT(int64_t, S32(a), S32(b)) >> 32) + S32(c)))                                  \
    X(mad_wide_u16, "mad.wide.u16 %rd, %ha, %hb, %rc;", r, d,                                      \
      PRODUCT(uint64_t, U16(a), U16(b)) + c)                                                       \
    X(mad_wide_s32, "mad.wide.s32 %dd, %ra, %rb, %dc;", d, d,                                      \
      (uint64_t)PRODUCT(int64_t, S32(a), S32(b)) + c)                                              \
    X(mad_cc, "mad.lo.cc.u32 %rq, %ra, %rb, %rc; madc.hi.u32 %rd, %ra, %rb, %re;", r, d,           \
      (PRODUCT(uint64_t, U32(a), U32(b)) + U32(c)) / ((uint64_t)1 << 32) + e)                      \
    X(mad_cc_64, "mad.lo.cc.u64 %dq, %da, %db, %dc; madc.hi.u64 %dd, %da, %db, %de;", d, d,        \
      ((PRODUCT(u128, a, b) + c) >> 64) + e)                                                       \
    X(madc_cc,                                                                                     \
      "mad.lo.cc.u32 %rq, %ra, %rb, %rc; madc.lo.cc.u32 %rq, %ra, %rb, %rc;"                       \
      "addc.u32 %rd, 0, 0;",                                                                       \
      r, d, ((uint64_t)U32(a * b) + U32(c) + CARRY((uint64_t)U32(a * b) + U32(c), 32)) >> 32)      \
    X(madc_hi_s32, "mad.lo.cc.s32 %rq, %ra, %rb, %rc; madc.hi.s32 %rd, %ra, %rb, %re;", r, d,      \
      (uint64_t)(PRODUCT(int64_t, S32(a), S32(b)) >> 32) + e +                                     \
          CARRY((uint64_t)U32(a * b) + U32(c), 32))                                                \
    X(dp4a_uu, "dp4a.u32.u32 %rd, %ra, %rb, %rc;", r, d, c + (uint64_t)dot(a, b, false, false))    \
    X(dp4a_ss, "dp4a.s32.s32 %rd, %ra, %rb, %rc;", r, d, c + (uint64_t)dot(a, b, true, true))      \
    X(dp4a_su, "dp4a.s32.u32 %rd, %ra, %rb, %rc;", r, d, c + (uint64_t)dot(a, b, true, false))

/* The divisor is made odd, so that it is never 0. */
#define BY(text) "or.b64 %db, %db, 1; cvt.u32.u64 %rb, %db; cvt.u16.u64 %hb, %db; " text
#define QUOTIENTS(X)                                                                               \
    X(div_u16, BY("div.u16 %hd, %ha, %hb;"), h, d, U16(a) / U16(b | 1))                            \
    X(div_s16, BY("div.s16 %hd, %ha, %hb;"), h, d, S16(a) / S16(b | 1))                            \
    X(div_u32, BY("div.u32 %rd, %ra, %rb;"), r, d, U32(a) / U32(b | 1))                            \
    X(div_s32, BY("div.s32 %rd, %ra, %rb;"), r, d, (int64_t)S32(a) / S32(b | 1))                   \
    X(div_u64, BY("div.u64 %dd, %da, %db;"), d, d, a / (b | 1))                                    \
    X(div_s64, BY("div.s64 %dd, %da, %db;"), d, d, (s128)S64(a) / S64(b | 1))                      \
    X(rem_u16, BY("rem.u16 %hd, %ha, %hb;"), h, d, U16(a) % U16(b | 1))                            \
    X(rem_s16, BY("rem.s16 %hd, %ha, %hb;"), h, d, S16(a) % S16(b | 1))                            \
    X(rem_u32, BY("rem.u32 %rd, %ra, %rb;"), r, d, U32(a) % U32(b | 1))                            \
    X(rem_s32, BY("rem.s32 %rd, %ra, %rb;"), r, d, (int64_t)S32(a) % S32(b | 1))                   \
    X(rem_u64, BY("rem.u64 %dd, %da, %db;"), d, d, a % (b | 1))                                    \
    X(rem_s64, BY("rem.s64 %dd, %da, %db;"), d, d, (s128)S64(a) % S64(b | 1))

SUMS(PTX_REFERENCE)
PRODUCTS(PTX_REFERENCE)
QUOTIENTS(PTX_REFERENCE)

static void test_sums(void **state)
{
    static const ptx_row rows[] = {SUMS(PTX_ROW)};
    (void)state;
    ptx_check_rows(rows, sizeof(rows) / sizeof(*rows));
}

static void test_products(void **state)
{
    static const ptx_row rows[] = {PRODUCTS(PTX_ROW)};
    (void)state;
    ptx_check_rows(rows, sizeof(rows) / sizeof(*rows));
}

static void test_quotients(void **state)
{
    static const ptx_row rows[] = {QUOTIENTS(PTX_ROW)};
    (void)state;
    ptx_check_rows(rows, sizeof(rows) / sizeof(*rows));
}

static void test_by_zero(void **state)
{
    (void)state;
    ptx_check_stops(&(ptx_kernel){.body = "div.u32 %r1, 5, %r2;"}, "kernel k, line", "div.u32",
                    "by 0", NULL);
    ptx_check_stops(&(ptx_kernel){.body = "rem.s64 %d2, 5, %d3;"}, "rem.s64", "by 0", NULL);
}

static void test_unknown(void **state)
{
    (void)state;
    ptx_check_unknown("add.sat.u32 %r1, %r2, %r3;");
    ptx_check_unknown("add.s8 %h1, %h2, %h3;");
    ptx_check_unknown("add.b32 %r1, %r2, %r3;");
    ptx_check_unknown("mul.s32 %r1, %r2, %r3;");
    ptx_check_unknown("mul.wide.u64 %d1, %d2, %d3;");
    ptx_check_unknown("mad.wide.cc.u32 %d1, %r2, %r3, %d3;");
    ptx_check_unknown("neg.u32 %r1, %r2;");
    ptx_check_unknown("min.ftz.s32 %r1, %r2, %r3;");
    ptx_check_unknown("addc.s16 %h1, %h2, %h3;");
    ptx_check_unknown("div.rn.s32 %r1, %r2, %r3;");
    ptx_check_unknown("dp4a.u32.u64 %r1, %r2, %r3, %r4;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),      cmocka_unit_test(test_products),
        cmocka_unit_test(test_quotients), cmocka_unit_test(test_by_zero),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
