/* SPDX-License-Identifier: Apache-2.0
 * PTX on the CPU: bits, logic, comparisons, choice and moves, each form against C. */
#include "ptx_case.h"

#define U16(x) ((uint16_t)(x))
#define U32(x) ((uint32_t)(x))
#define S16(x) ((int16_t)(x))
#define S32(x) ((int32_t)(x))
#define S64(x) ((int64_t)(x))

/* ---------------------------------------------------------------------------------------------
 * Bit by bit, as PTX describes it
 * ------------------------------------------------------------------------------------------ */

static uint64_t field(uint64_t a, uint64_t b, uint64_t c, unsigned width, bool is_signed)
{
    unsigned pos = b & 255, len = c & 255,
             last = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
    uint64_t fill = is_signed && len ? a >> last & 1 : 0, result = 0;
    for (unsigned i = 0; i < width; i++)
        result |= (i < len && pos + i < width ? a >> (pos + i) & 1 : fill) << i;
    return result;
}

static uint64_t insert(uint64_t a, uint64_t b, uint64_t c, uint64_t e, unsigned width)
{
    unsigned pos = c & 255, len = e & 255;
    for (unsigned i = 0; i < len && pos + i < width; i++)
        b = (b & ~((uint64_t)1 << (pos + i))) | (a >> i & 1) << (pos + i);
    return b;
}

static uint32_t highest(uint64_t a, unsigned width, bool is_signed, bool as_shift)
{
    if (is_signed && a >> (width - 1) & 1)
        a = ~a;
    for (unsigned i = width; i-- > 0;)
        if (a >> i & 1)
            return as_shift ? width - 1 - i : i;
    return UINT32_MAX;
}

static uint64_t reversed(uint64_t a, unsigned width)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < width; i++)
        result = result << 1 | (a >> i & 1);
    return result;
}

static unsigned zeros(uint64_t a, unsigned width)
{
    unsigned count = 0;
    while (count < width && !(a >> (width - 1 - count) & 1))
        count++;
    return count;
}

static unsigned population(uint64_t a)
{
    unsigned count = 0;
    for (; a; a &= a - 1)
        count++;
    return count;
}

/* which: the byte of each place, the lowest first */
static uint32_t bytes_of(uint64_t a, uint64_t b, unsigned b0, unsigned b1, unsigned b2, unsigned b3)
{
    uint64_t all = (a & UINT32_MAX) | b << 32;
    return (uint32_t)((all >> b0 * 8 & 255) | (all >> b1 * 8 & 255) << 8 |
                      (all >> b2 * 8 & 255) << 16 | (all >> b3 * 8 & 255) << 24);
}

static uint32_t permuted(uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t result = bytes_of(a, b, c & 7, c >> 4 & 7, c >> 8 & 7, c >> 12 & 7);
    for (unsigned i = 0; i < 4; i++)
        if (c >> (i * 4 + 3) & 1) {
            uint32_t all = 255u << i * 8, sign = 128u << i * 8;
            result = result & sign ? result | all : result & ~all;
        }
    return result;
}

#define MAX(a, b)       ((a) > (b) ? (a) : (b))
#define MIN(a, b)       ((a) < (b) ? (a) : (b))
#define I               ((unsigned)c & 3)
#define HALF            (2 * ((unsigned)c & 1))
#define FUNNEL_LEFT(n)  (U32(b) << (n) | ((n) ? (uint64_t)U32(a) >> (32 - (n)) : 0))
#define FUNNEL_RIGHT(n) ((n) ? (uint64_t)U32(b) << (32 - (n)) | (uint64_t)U32(a) >> (n) : a)

#define BITS(X)                                                                                    \
    X(shl_16, "shl.b16 %hd, %ha, %rb;", h, d, U32(b) < 16 ? a << U32(b) : 0)                       \
    X(shl_32, "shl.b32 %rd, %ra, %rb;", r, d, U32(b) < 32 ? a << U32(b) : 0)                       \
    X(shl_64, "shl.b64 %dd, %da, %rb;", d, d, U32(b) < 64 ? a << U32(b) : 0)                       \
    X(shr_u16, "shr.u16 %hd, %ha, %rb;", h, d, U32(b) < 16 ? U16(a) >> U32(b) : 0)                 \
    X(shr_s16, "shr.s16 %hd, %ha, %rb;", h, d, S16(a) >> (U32(b) < 16 ? U32(b) : 15))              \
    X(shr_b32, "shr.b32 %rd, %ra, %rb;", r, d, U32(b) < 32 ? U32(a) >> U32(b) : 0)                 \
    X(shr_s32, "shr.s32 %rd, %ra, %rb;", r, d, S32(a) >> (U32(b) < 32 ? U32(b) : 31))              \
    X(shr_u64, "shr.u64 %dd, %da, %rb;", d, d, U32(b) < 64 ? a >> U32(b) : 0)                      \
    X(shr_s64, "shr.s64 %dd, %da, %rb;", d, d, S64(a) >> (U32(b) < 64 ? U32(b) : 63))              \
    X(shf_lw, "shf.l.wrap.b32 %rd, %ra, %rb, %rc;", r, d, FUNNEL_LEFT(c & 31))                     \
    X(shf_lc, "shf.l.clamp.b32 %rd, %ra, %rb, %rc;", r, d, U32(c) < 32 ? FUNNEL_LEFT(U32(c)) : a)  \
    X(shf_rw, "shf.r.wrap.b32 %rd, %ra, %rb, %rc;", r, d, FUNNEL_RIGHT(c & 31))                    \
    X(shf_rc, "shf.r.clamp.b32 %rd, %ra, %rb, %rc;", r, d, U32(c) < 32 ? FUNNEL_RIGHT(U32(c)) : b) \
    X(bfe_u32, "bfe.u32 %rd, %ra, %rb, %rc;", r, d, field(a, b, c, 32, false))                     \
    X(bfe_s32, "bfe.s32 %rd, %ra, %rb, %rc;", r, d, field(a, b, c, 32, true))                      \
    X(bfe_u64, "bfe.u64 %dd, %da, %rb, %rc;", d, d, field(a, b, c, 64, false))                     \
    X(bfe_s64, "bfe.s64 %dd, %da, %rb, %rc;", d, d, field(a, b, c, 64, true))                      \
    X(bfi_32, "bfi.b32 %rd, %ra, %rb, %rc, %re;", r, d, insert(a, b, c, e, 32))                    \
    X(bfi_64, "bfi.b64 %dd, %da, %db, %rc, %re;", d, d, insert(a, b, c, e, 64))                    \
    X(bfind_u32, "bfind.u32 %rd, %ra;", r, d, highest(U32(a), 32, false, false))                   \
    X(bfind_s32, "bfind.s32 %rd, %ra;", r, d, highest(U32(a), 32, true, false))                    \
    X(bfind_u64, "bfind.u64 %rd, %da;", r, d, highest(a, 64, false, false))                        \
    X(bfind_s64, "bfind.s64 %rd, %da;", r, d, highest(a, 64, true, false))                         \
    X(bfind_shift, "bfind.shiftamt.u32 %rd, %ra;", r, d, highest(U32(a), 32, false, true))         \
    X(bfind_shift_s64, "bfind.shiftamt.s64 %rd, %da;", r, d, highest(a, 64, true, true))           \
    X(brev_32, "brev.b32 %rd, %ra;", r, d, reversed(a, 32))                                        \
    X(brev_64, "brev.b64 %dd, %da;", d, d, reversed(a, 64))                                        \
    X(clz_32, "clz.b32 %rd, %ra;", r, d, zeros(a, 32))                                             \
    X(clz_64, "clz.b64 %rd, %da;", r, d, zeros(a, 64))                                             \
    X(popc_32, "popc.b32 %rd, %ra;", r, d, population(U32(a)))                                     \
    X(popc_64, "popc.b64 %rd, %da;", r, d, population(a))                                          \
    X(prmt_b32, "prmt.b32 %rd, %ra, %rb, %rc;", r, d, permuted(a, b, c))                           \
    X(prmt_f4e, "prmt.b32.f4e %rd, %ra, %rb, %rc;", r, d, bytes_of(a, b, I, I + 1, I + 2, I + 3))  \
    X(prmt_b4e, "prmt.b32.b4e %rd, %ra, %rb, %rc;", r, d,                                          \
      bytes_of(a, b, I, (I + 7) % 8, (I + 6) % 8, (I + 5) % 8))                                    \
    X(prmt_rc8, "prmt.b32.rc8 %rd, %ra, %rb, %rc;", r, d, bytes_of(a, b, I, I, I, I))              \
    X(prmt_ecl, "prmt.b32.ecl %rd, %ra, %rb, %rc;", r, d,                                          \
      bytes_of(a, b, I, MAX(I, 1), MAX(I, 2), 3))                                                  \
    X(prmt_ecr, "prmt.b32.ecr %rd, %ra, %rb, %rc;", r, d,                                          \
      bytes_of(a, b, 0, MIN(I, 1), MIN(I, 2), I))                                                  \
    X(prmt_rc16, "prmt.b32.rc16 %rd, %ra, %rb, %rc;", r, d,                                        \
      bytes_of(a, b, HALF, HALF + 1, HALF, HALF + 1))

#define LOGIC(X)                                                                                   \
    X(and_16, "and.b16 %hd, %ha, %hb;", h, d, a &b)                                                \
    X(and_32, "and.b32 %rd, %ra, %rb;", r, d, a &b)                                                \
    X(and_64, "and.b64 %dd, %da, %db;", d, d, a &b)                                                \
    X(and_pred, "and.pred %pd, %pa, %pb;", p, d, a &b & 1)                                         \
    X(and_not_pred, "and.pred %pd, %pa, !%pb;", p, d, a & ~b & 1)                                  \
    X(or_16, "or.b16 %hd, %ha, %hb;", h, d, a | b)                                                 \
    X(or_64, "or.b64 %dd, %da, %db;", d, d, a | b)                                                 \
    X(or_pred, "or.pred %pd, %pa, %pb;", p, d, (a | b) & 1)                                        \
    X(xor_32, "xor.b32 %rd, %ra, %rb;", r, d, a ^ b)                                               \
    X(xor_pred, "xor.pred %pd, %pa, %pb;", p, d, (a ^ b) & 1)                                      \
    X(not_16, "not.b16 %hd, %ha;", h, d, ~a)                                                       \
    X(not_64, "not.b64 %dd, %da;", d, d, ~a)                                                       \
    X(not_pred, "not.pred %pd, %pa;", p, d, ~a & 1)                                                \
    X(cnot_16, "cnot.b16 %hd, %ha;", h, d, U16(a) == 0)                                            \
    X(cnot_32, "cnot.b32 %rd, %ra;", r, d, U32(a) == 0)                                            \
    X(cnot_64, "cnot.b64 %dd, %da;", d, d, a == 0)                                                 \
    X(lop3_and_or, "lop3.b32 %rd, %ra, %rb, %rc, 0xf8;", r, d, a | (b & c))                        \
    X(lop3_xor, "lop3.b32 %rd, %ra, %rb, %rc, 0x96;", r, d, a ^ b ^ c)                             \
    X(lop3_choose, "lop3.b32 %rd, %ra, %rb, %rc, 0xca;", r, d, (a & b) | (~a & c))                 \
    X(lop3_c, "lop3.b32 %rd, %ra, %rb, %rc, 0xaa;", r, d, c)                                       \
    X(lop3_or, "lop3.or.b32 %rd|%pd, %ra, %rb, %rc, 0x80, %pe;", p, d, U32(a &b &c) != 0 || e & 1) \
    X(lop3_and, "lop3.and.b32 _|%pd, %ra, %rb, %rc, 0x80, !%pe;", p, d,                            \
      U32(a &b &c) != 0 && !(e & 1))                                                               \
    X(selp_16, "selp.b16 %hd, %ha, %hb, %pc;", h, d, c & 1 ? a : b)                                \
    X(selp_64, "selp.u64 %dd, %da, %db, %pc;", d, d, c & 1 ? a : b)                                \
    X(selp_f64, "selp.f64 %gd, %ga, %gb, %pc;", g, d, c & 1 ? a : b)                               \
    X(selp_immediate, "selp.s32 %rd, -1, 7, %pc;", r, d, c & 1 ? UINT64_MAX : 7)                   \
    X(slct_s32, "slct.u64.s32 %dd, %da, %db, %rc;", d, d, S32(c) >= 0 ? a : b)                     \
    X(slct_f32, "slct.b32.f32 %rd, %ra, %rb, %fc;", r, d,                                          \
      U32(c) <= 0x7f800000 || U32(c) == 0x80000000 ? a : b)                                        \
    X(slct_ftz, "slct.ftz.b32.f32 %rd, %ra, %rb, %fc;", r, d,                                      \
      U32(c) <= 0x7f800000 || (U32(c) >= 0x80000000 && U32(c) < 0x80800000) ? a : b)               \
    X(mov_pred, "mov.pred %pd, %pa;", p, d, a & 1)                                                 \
    X(mov_pred_immediate, "mov.pred %pd, -1;", p, d, 1)                                            \
    X(mov_pack_32, "mov.b32 %rd, {%ha, %hb};", r, d, U16(a) | (uint64_t)U16(b) << 16)              \
    X(mov_pack_64, "mov.b64 %dd, {%ra, %rb};", d, d, U32(a) | b << 32)                             \
    X(mov_pack_4, "mov.b64 %dd, {%ha, %hb, %hc, %he};", d, d,                                      \
      U16(a) | (uint64_t)U16(b) << 16 | (uint64_t)U16(c) << 32 | e << 48)                          \
    X(mov_unpack_lo, "mov.b64 {%rd, %rq}, %da;", r, d, a)                                          \
    X(mov_unpack_hi, "mov.b64 {%rd, %rq}, %da;", r, q, a >> 32)                                    \
    X(mov_unpack_one, "mov.b64 {_, %rd}, %da;", r, d, a >> 32)                                     \
    X(mov_unpack_4, "mov.b64 {%he, %hc, %hq, %hd}, %da;", h, d, a >> 48)                           \
    X(mov_swap, "mov.b32 {%ha, %hd}, %ra; mov.b32 %rd, {%hd, %ha};", r, d,                         \
      (a >> 16 & 0xffff) | a << 16)

#define COMPARES(X)                                                                                \
    X(eq_b16, "setp.eq.b16 %pd, %ha, %hb;", p, d, U16(a) == U16(b))                                \
    X(ne_b64, "setp.ne.b64 %pd, %da, %db;", p, d, a != b)                                          \
    X(lt_u16, "setp.lt.u16 %pd, %ha, %hb;", p, d, U16(a) < U16(b))                                 \
    X(lt_s16, "setp.lt.s16 %pd, %ha, %hb;", p, d, S16(a) < S16(b))                                 \
    X(le_u32, "setp.le.u32 %pd, %ra, %rb;", p, d, U32(a) <= U32(b))                                \
    X(le_s32, "setp.le.s32 %pd, %ra, %rb;", p, d, S32(a) <= S32(b))                                \
    X(gt_u64, "setp.gt.u64 %pd, %da, %db;", p, d, a > b)                                           \
    X(gt_s64, "setp.gt.s64 %pd, %da, %db;", p, d, S64(a) > S64(b))                                 \
    X(ge_s64, "setp.ge.s64 %pd, %da, %db;", p, d, S64(a) >= S64(b))                                \
    X(lo_u32, "setp.lo.u32 %pd, %ra, %rb;", p, d, U32(a) < U32(b))                                 \
    X(ls_u32, "setp.ls.u32 %pd, %ra, %rb;", p, d, U32(a) <= U32(b))                                \
    X(hi_u32, "setp.hi.u32 %pd, %ra, %rb;", p, d, U32(a) > U32(b))                                 \
    X(hs_u32, "setp.hs.u32 %pd, %ra, %rb;", p, d, U32(a) >= U32(b))                                \
    X(two_p, "setp.lt.s32 %pd|%pq, %ra, %rb;", p, d, S32(a) < S32(b))                              \
    X(two_q, "setp.lt.s32 %pd|%pq, %ra, %rb;", p, q, S32(a) >= S32(b))                             \
    X(with_and, "setp.lt.and.s32 %pd, %ra, %rb, %pc;", p, d, S32(a) < S32(b) && c & 1)             \
    X(with_or_not, "setp.lt.or.s32 %pd, %ra, %rb, !%pc;", p, d, S32(a) < S32(b) || !(c & 1))       \
    X(with_xor_q, "setp.eq.xor.u32 %pd|%pq, %ra, %rb, %pc;", p, q, (U32(a) != U32(b)) ^ (c & 1))   \
    X(into_own, "setp.lt.and.s32 %pc|%pd, %ra, %rb, %pc;", p, d, S32(a) >= S32(b) && c & 1)        \
    X(set_u32, "set.lt.u32.s32 %rd, %ra, %rb;", r, d, S32(a) < S32(b) ? UINT32_MAX : 0)            \
    X(set_f32, "set.gt.f32.u64 %fd, %da, %db;", f, d, a > b ? 0x3f800000 : 0)                      \
    X(set_and, "set.ne.and.s32.u16 %rd, %ha, %hb, %pc;", r, d,                                     \
      U16(a) != U16(b) && c & 1 ? UINT32_MAX : 0)                                                  \
    X(guard, "@%pa mov.u32 %rd, 5;", r, d, a & 1 ? 5 : 0)                                          \
    X(guard_not, "@!%pa mov.u32 %rd, 5;", r, d, a & 1 ? 0 : 5)

BITS(PTX_REFERENCE)
LOGIC(PTX_REFERENCE)
COMPARES(PTX_REFERENCE)

static void test_bits(void **state)
{
    static const ptx_row rows[] = {BITS(PTX_ROW)};
    (void)state;
    ptx_check_rows(rows, sizeof(rows) / sizeof(*rows));
}

static void test_logic(void **state)
{
    static const ptx_row rows[] = {LOGIC(PTX_ROW)};
    (void)state;
    ptx_check_rows(rows, sizeof(rows) / sizeof(*rows));
}

static void test_compares(void **state)
{
    static const ptx_row rows[] = {COMPARES(PTX_ROW)};
    (void)state;
    ptx_check_rows(rows, sizeof(rows) / sizeof(*rows));
}

static void test_unknown(void **state)
{
    (void)state;
    ptx_check_unknown("shl.u32 %r1, %r2, %r3;");
    ptx_check_unknown("shf.l.b32 %r1, %r2, %r3, %r4;");
    ptx_check_unknown("bfe.b32 %r1, %r2, %r3, %r4;");
    ptx_check_unknown("bfi.u32 %r1, %r2, %r3, %r4, %r5;");
    ptx_check_unknown("popc.u32 %r1, %r2;");
    ptx_check_unknown("prmt.b64 %d1, %d2, %d3, %r1;");
    ptx_check_unknown("and.u32 %r1, %r2, %r3;");
    ptx_check_unknown("setp.s32 %p1, %r2, %r3;");
    ptx_check_unknown("setp.lt.b32 %p1, %r2, %r3;");
    ptx_check_unknown("setp.lo.s32 %p1, %r2, %r3;");
    ptx_check_unknown("setp.ltu.s32 %p1, %r2, %r3;");
    ptx_check_unknown("set.lt.u64.s32 %d1, %r2, %r3;");
    ptx_check_unknown("slct.u32.s64 %r1, %r2, %r3, %d1;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_logic),
        cmocka_unit_test(test_compares),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
