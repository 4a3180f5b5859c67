/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx/tests/ptx_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD      ".version 8.0\n.target sm_75\n.address_size 64\n"
#define TEXT_SIZE 16384

static const char registers[] = "  .reg .pred %p<16>;\n  .reg .b16 %h<16>;\n"
                                "  .reg .b32 %r<16>;\n  .reg .b64 %d<16>;\n"
                                "  .reg .f32 %f<16>;\n  .reg .f64 %g<16>;\n";

/* ---------------------------------------------------------------------------------------------
 * Kernels
 * ------------------------------------------------------------------------------------------ */

static bool find_bytes(void *state, uint64_t address, uint64_t *first, uint64_t *size, void **bytes)
{
    const ptx_kernel *kernel = state;
    *first = PTX_CASE_BASE;
    *size = kernel->size;
    *bytes = kernel->bytes;
    return address - *first < *size;
}

static bool run_text(const char *text, const ptx_kernel *kernel, ptx_error *error)
{
    ptx_module *module = ptx_load(text, error);
    if (!module)
        return false;
    uint64_t params[2] = {PTX_CASE_BASE, kernel->number};
    ptx_memory memory = {(void *)(uintptr_t)kernel, find_bytes};
    bool ok = ptx_run(&(ptx_launch){.kernel = ptx_find_kernel(module, "k"),
                                    .grid = {kernel->grid ? kernel->grid : 1, 1, 1},
                                    .block = {kernel->block ? kernel->block : 1, 1, 1},
                                    .dynamic_shared = kernel->dynamic_shared,
                                    .params = params,
                                    .memory = &memory,
                                    .most_instructions = kernel->most_instructions},
                      error);
    ptx_unload(module);
    return ok;
}

bool ptx_case_run(const ptx_kernel *kernel, ptx_error *error)
{
    char text[TEXT_SIZE];
    (void)snprintf(text, sizeof(text),
                   HEAD "%s\n.visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n%s"
                        "  ld.param.u64 %%d0, [p0];\n  ld.param.u64 %%d1, [p1];\n"
                        "  mov.u32 %%r0, %%tid.x;\n%s\n  ret;\n}\n",
                   kernel->before ? kernel->before : "", registers, kernel->body);
    return run_text(text, kernel, error);
}

void ptx_check_runs(const ptx_kernel *kernel)
{
    ptx_error error = {""};
    if (!ptx_case_run(kernel, &error))
        fail_msg("%s\n%s", kernel->body, error.text);
}

void ptx_check_stops(const ptx_kernel *kernel, const char *words, ...)
{
    ptx_error error = {""};
    va_list list;
    if (ptx_case_run(kernel, &error))
        fail_msg("runs, where \"%s\" is expected:\n%s", words, kernel->body);
    va_start(list, words);
    for (const char *word = words; word; word = va_arg(list, const char *))
        if (!strstr(error.text, word))
            fail_msg("\"%s\" is not in: %s", word, error.text);
    va_end(list);
}

void ptx_check_unknown(const char *body)
{
    ptx_check_stops(&(ptx_kernel){.body = body}, "k, line", "does not know this form", NULL);
}

/* ---------------------------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------------------------ */

static const uint64_t extremes[] = {
    0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x7fff, 0x8000,
    0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000,
    0xffffffffffffffff, 0xffffffffffff8000, 0xffffffff80000000, 0x5410, 0x7654, 0xba98, 0xfedc,
    /* floats: 1, -1, 0.5, 2.5, -2.5, infinities, none, the smallest ones, the largest */
    0x3f800000, 0xbf800000, 0x3f000000, 0x40200000, 0xc0200000, 0x7f800000, 0xff800000, 0x7fc00001,
    0xffc00000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0x4f000000, 0xcf000001,
    0x3ff0000000000000, 0xbff0000000000000, 0x3fe0000000000000, 0x4004000000000000,
    0xc004000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001,
    0x0000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,
    0x41dfffffffc00000, 0x41e0000000000000, 0x43e0000000000000, 0xc3e0000000000001,
    0x43f0000000000000, 0x36a0000000000000, 0x47efffffefffffff, 0x47effffff0000000,
    0x380fffffffffffff, 0x3690000000000000, 0x40efffffffffffff, 0x3fdfffffffffffff};
#define EXTREMES (sizeof(extremes) / sizeof(*extremes))

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x9e3779b97f4a7c15);
}

/* Floats whose exponents are near each other, so that sums round. */
static uint64_t random_operand(uint64_t *state)
{
    uint64_t bits = next_random(state);
    switch (next_random(state) % 5) {
    case 0:
        return extremes[bits % EXTREMES];
    case 1:
        return bits >> next_random(state) % 64;
    case 2:
        return (bits & 0x800fffffffffffff) | (1000 + (bits >> 52 & 63)) << 52;
    case 3:
        return (bits & 0x807fffff) | (110 + (bits >> 40 & 31)) << 23;
    default:
        return bits;
    }
}

void ptx_operands_make(uint64_t operands[PTX_OPERAND_COUNT][4])
{
    uint64_t state = 88172645463325252u;
    for (uint32_t i = 0; i < PTX_OPERAND_COUNT; i++)
        for (unsigned k = 0; k < 4; k++)
            operands[i][k] = random_operand(&state);
    for (uint32_t i = 0; i < EXTREMES; i++)
        operands[i][0] = extremes[i];
    for (uint32_t i = 0; i < EXTREMES; i++)
        operands[EXTREMES + i][1] = extremes[i];
}

#define LOAD_OPERAND(name, at)                                                                     \
    "  ld.global.u64 %d" name ", [%dp+" at "];\n  cvt.u16.u64 %h" name ", %d" name ";\n"           \
    "  cvt.u32.u64 %r" name ", %d" name ";\n  mov.b32 %f" name ", %r" name ";\n"                   \
    "  mov.b64 %g" name ", %d" name ";\n  and.b64 %dt, %d" name ", 1;\n"                           \
    "  setp.ne.u64 %p" name ", %dt, 0;\n"

static const char row_head[] =
    HEAD ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n"
         "  .reg .pred %pa, %pb, %pc, %pe, %pd, %pq;\n  .reg .b16 %ha, %hb, %hc, %he, %hd, %hq;\n"
         "  .reg .b32 %ra, %rb, %rc, %re, %rd, %rq, %rt;\n"
         "  .reg .b64 %da, %db, %dc, %de, %dd, %dq, %dt, %dp;\n"
         "  .reg .f32 %fa, %fb, %fc, %fe, %fd, %fq;\n  .reg .f64 %ga, %gb, %gc, %ge, %gd, %gq;\n"
         "  ld.param.u64 %dp, [p0];\n  mov.u32 %rt, %ctaid.x;\n  mul.wide.u32 %dt, %rt, 40;\n"
         "  add.u64 %dp, %dp, %dt;\n" LOAD_OPERAND("a", "0") LOAD_OPERAND("b", "8")
             LOAD_OPERAND("c", "16") LOAD_OPERAND("e", "24");

/* The result, as 64 bits in %dt. */
static void result_text(char to, char which, char text[128])
{
    const char *form = "  mov.b64 %%dt, %%%c%c;\n";
    if (to == 'p')
        form = "  selp.u64 %%dt, 1, 0, %%%c%c;\n";
    else if (to == 'h')
        form = "  cvt.u64.u16 %%dt, %%%c%c;\n";
    else if (to == 'r')
        form = "  cvt.u64.u32 %%dt, %%%c%c;\n";
    else if (to == 'f')
        form = "  mov.b32 %%rt, %%%c%c;\n  cvt.u64.u32 %%dt, %%rt;\n";
    (void)snprintf(text, 128, form, to, which);
}

static void row_text(const ptx_row *row, char text[TEXT_SIZE])
{
    char tail[128];
    result_text(*row->to, *row->which, tail);
    (void)snprintf(text, TEXT_SIZE, "%s  %s\n%s  st.global.u64 [%%dp+32], %%dt;\n  ret;\n}\n",
                   row_head, row->text, tail);
}

static uint64_t kept(uint64_t value, char to)
{
    return to == 'h' ? (uint16_t)value : to == 'r' || to == 'f' ? (uint32_t)value : value;
}

static void check_row(const ptx_row *row, uint64_t (*bytes)[5])
{
    char text[TEXT_SIZE];
    ptx_error error = {""};
    row_text(row, text);
    ptx_kernel kernel = {
        .grid = PTX_OPERAND_COUNT, .bytes = bytes, .size = PTX_OPERAND_COUNT * sizeof(*bytes)};
    if (!run_text(text, &kernel, &error))
        fail_msg("%s: %s", row->text, error.text);
    for (uint32_t i = 0; i < PTX_OPERAND_COUNT; i++) {
        uint64_t *o = bytes[i], wanted = kept(row->reference(o[0], o[1], o[2], o[3]), *row->to);
        if (o[4] != wanted)
            fail_msg("%s of %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 ": %" PRIx64
                     ", expected %" PRIx64,
                     row->text, o[0], o[1], o[2], o[3], o[4], wanted);
    }
}

void ptx_check_rows(const ptx_row *rows, size_t count)
{
    uint64_t operands[PTX_OPERAND_COUNT][4];
    uint64_t(*bytes)[5] = calloc(PTX_OPERAND_COUNT, sizeof(*bytes));
    assert_non_null(bytes);
    ptx_operands_make(operands);
    for (uint32_t i = 0; i < PTX_OPERAND_COUNT; i++)
        memcpy(bytes[i], operands[i], sizeof(operands[i]));
    for (size_t i = 0; i < count; i++)
        check_row(&rows[i], bytes);
    free(bytes);
}
