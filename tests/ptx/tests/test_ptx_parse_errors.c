/* SPDX-License-Identifier: Apache-2.0
 * PTX that is wrong: what is said of it, and that no text, however it is cut or changed, does worse
 * than to be refused. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/kernel_programs.h"
#include "ptx/ptx_program.h"

#define BODY(in)                                                                                   \
    ".entry k()\n{\n.reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;\n" in "\nret;\n}\n"

static const struct {
    const char *text, *error;
} refused[] = {
    /* words */
    {BODY("frob.b32 %r1, %r2;"), "line 4: 'frob.b32': unknown operation 'frob'"},
    {BODY("add.frob.s32 %r1, %r2, 1;"), "line 4: 'add.frob.s32': an unknown modifier '.frob'"},
    {BODY("add.s32.s32.s32.s32;"), "line 4: 'add.s32.s32.s32.s32': a type too many '.s32'"},
    {BODY("ld.global.local.u32;"), "line 4: 'ld.global.local.u32': a second space '.local'"},
    {BODY("ld.v2.v4.u32;"), "line 4: 'ld.v2.v4.u32': a second vector '.v4'"},
    {BODY("add.rn.rn.f32;"), "line 4: 'add.rn.rn.f32': twice '.rn'"},
    {BODY("5;"), "line 4: expected an instruction, found '5'"},
    {BODY(";"), "line 4: expected an instruction, found ';'"},
    {BODY(".global .b32 x;"), "line 4: expected a directive of a function, found '.global'"},
    {BODY(".pragma 5;"), "line 4: expected a string after .pragma, found '5'"},
    /* operands */
    {BODY("mov.u32 %r1, %r4;"), "line 4: 'mov.u32': unknown register '%r4'"},
    {BODY("mov.u32 %r1, %r01;"), "line 4: 'mov.u32': unknown register '%r01'"},
    {BODY("mov.u32 %r1, %r99999999999999999999;"),
     "line 4: 'mov.u32': unknown register '%r99999999999999999999'"},
    {BODY("mov.u32 %r1, %smid;"), "line 4: 'mov.u32': unknown register '%smid'"},
    {BODY("mov.u32 %r1, %tid;"), "line 4: 'mov.u32': unknown register '%tid'"},
    {BODY("mov.u32 %r1, %tid.w;"), "line 4: 'mov.u32': unknown register '%tid.w'"},
    {BODY("mov.u32 %r1, table;"), "line 4: 'mov.u32': unknown name 'table'"},
    {BODY("mov.u32 %r1 %r2;"), "line 4: expected ';', found '%r2'"},
    {BODY("mov.u32 %r1, ;"), "line 4: expected an operand, found ';'"},
    {BODY("mov.u32 %r1, !5;"), "line 4: expected a predicate after '!', found '5'"},
    {BODY("mov.u32 %r1, {%r1, %r2;"), "line 4: expected '}', found ';'"},
    {BODY("mov.u32 {%r1, %r1, %r1, %r1, %r1}, 1;"),
     "line 4: expected at most 4 registers of a vector, found '%r1'"},
    {BODY("mov.b64 %rd1, {1, %r2};"), "line 4: expected a register of a vector, found '1'"},
    {BODY("mov.b64 %rd1, {WARP_SZ, %r2};"), "line 4: 'mov.b64': a vector cannot hold 'WARP_SZ'"},
    {BODY("ld.u32 %r1, [%tid.x];"), "line 4: 'ld.u32': an address cannot be '%tid.x'"},
    {BODY("ld.u32 %r1, [%rd1+%rd2];"), "line 4: expected a whole number, found '%rd2'"},
    {BODY("ld.u32 %r1, [%rd1+0.5];"), "line 4: expected a whole number, found '0.5'"},
    {BODY("ld.u32 %r1, [%rd1;"), "line 4: expected ']', found ';'"},
    {BODY("L: mov.u32 %r1, L;"), "line 4: 'mov.u32': an operand cannot be the label 'L'"},
    {BODY("add.s32 1, 2, 3, 4, 5, 6, 7, 8;"),
     "line 4: expected ';': no instruction has more operands, found '8'"},
    {BODY("@%r1 ret;"), "line 4: expected a predicate after '@', found '%r1'"},
    {BODY("@! ret;"), "line 4: expected a predicate after '@', found 'ret'"},
    {BODY("@%p1 {"), "line 4: expected an instruction, found '{'"},
    {BODY("mov.u32 %r1, \x01;"), "line 4: expected an operand, found '?'"},
    /* numbers */
    {BODY("mov.u32 %r1, 08;"), "line 4: expected a number, found '08'"},
    {BODY("mov.u32 %r1, 5x;"), "line 4: expected a number, found '5x'"},
    {BODY("mov.u32 %r1, 0x;"), "line 4: expected a number, found '0x'"},
    {BODY("mov.u32 %r1, 0b2;"), "line 4: expected a number, found '0b2'"},
    {BODY("mov.f32 %r1, 0f3F8;"), "line 4: expected 0f and 8 digits, found '0f3F8'"},
    {BODY("mov.f64 %r1, 0d3F800000;"), "line 4: expected 0d and 16 digits, found '0d3F800000'"},
    {BODY("mov.u64 %r1, 18446744073709551616;"),
     "line 4: expected a number of 64 bits, found '18446744073709551616'"},
    {BODY("mov.f64 %r1, 1.5e;"), "line 4: expected a number, found '1.5e'"},
    /* names */
    {BODY("bra nowhere;"), "line 4: expected a label, found 'nowhere'"},
    {BODY("bra.uni L; { L: }"), "line 4: expected a label, found 'L'"},
    {BODY("bra.uni 5;"), "line 4: expected a label, found '5'"},
    {BODY(".local .b32 L; { bra L; }"), "line 4: expected a label, found 'L'"},
    {BODY("t: .branchtargets L, M; L: M: ret; brx.idx %r1, u;"),
     "line 4: 'brx.idx': unknown name 'u'"},
    {BODY("t: .branchtargets L;"), "line 4: expected a label, found 'L'"},
    {BODY("L: ret;\nL: ret;"), "line 5: 'L' is defined already, in line 4"},
    {BODY(".reg .b32 a;\n.reg .b64 a;"), "line 5: 'a' is defined already, in line 4"},
    {BODY(".reg .b32 a;\n.local .b32 a;"), "line 5: 'a' is defined already, in line 4"},
    {BODY(".reg .b64 %r<9>;"), "line 4: '%r' is defined already, in line 3"},
    {BODY(".reg .b64 %r3;"), "line 4: '%r3' is defined already, in line 3"},
    {BODY(".reg .b64 a7;\n.reg .b32 a<8>;"), "line 5: 'a7' is defined already, in line 4"},
    {BODY("{ .reg .b32 in; } mov.u32 in, 1;"), "line 4: 'mov.u32': unknown name 'in'"},
    /* declarations */
    {BODY(".reg .b32 %q<4000000000>;"),
     "line 4: expected a number up to 1048576, found 4000000000"},
    {BODY(".reg .b32 %q<1048570>;"),
     "line 4: expected at most 1048576 registers in a function, found 1048578"},
    {BODY(".reg .b32 %q<-1>;"), "line 4: expected a number, found '-'"},
    {BODY(".reg .b128 q;"), "line 4: expected a type, found '.b128'"},
    {BODY(".reg b32 q;"), "line 4: expected a type, found 'b32'"},
    {BODY(".reg .b32 5;"), "line 4: expected the name of a register, found '5'"},
    {BODY(".reg .b32 a b;"), "line 4: expected ';', found 'b'"},
    {BODY(".local .align 3 .b8 a;"), "line 4: expected a power of two after .align, found 3"},
    {BODY(".local .align 0 .b8 a;"), "line 4: expected a power of two after .align, found 0"},
    {BODY(".local .b8 a[];"), "line 4: 'a': expected a size, found []"},
    {BODY(".local .b8 a[0];"), "line 4: expected a size of at least 1, found 0"},
    {BODY(".local .b8 a[1][2][3][4][5];"), "line 4: expected no further dimension, found '5'"},
    {BODY(".local .b64 a[268435456];"),
     "line 4: expected at most 16777216 bytes of 'a', found more"},
    {BODY(".local .b64 a[268435456][268435456][268435456];"),
     "line 4: expected at most 16777216 bytes of 'a', found more"},
    {BODY(".local .b8 a[16777216];\n.local .b8 b;"),
     "line 5: 'b': expected at most 16777216 bytes in all, found 16777217"},
    {BODY(".shared .b8 a[16777216];\n.shared .b8 b;"),
     "line 5: 'b': expected at most 16777216 bytes of .shared, found 16777217"},
    {BODY(".local .b8 a = 5;"),
     "line 4: expected ';': only .global and .const have initial values, found '='"},
    {".extern .shared .b8 a[4];", "line 1: 'a': expected [], found a size"},
    {".extern .global .b8 a[];",
     "line 1: 'a': expected .extern of .shared alone, found another space"},
    {".global .b8 a[2] = {1, 2, 3};",
     "line 1: expected '}': the variable has no room for more, found '3'"},
    {".global .b8 a[1][2] = {{1, 2}, {3}};",
     "line 1: expected '}': the variable has no room for more, found '{'"},
    {".global .b8 a[2] = 1;", "line 1: expected '{', found '1'"},
    {".global .b8 a = {1};",
     "line 1: expected a number (addresses as initial values are not known), found '{'"},
    {".global .b8 a[2] = {256};",
     "line 1: expected a number that fits the variable's type, found '256'"},
    {".global .b8 a[2] = {-129};",
     "line 1: expected a number that fits the variable's type, found '129'"},
    {".global .b32 a = 0f3F800000;",
     "line 1: expected a number of the variable's type, found '0f3F800000'"},
    {".global .f32 a = 1;", "line 1: expected a number of the variable's type, found '1'"},
    {".global .b64 a = generic(b);",
     "line 1: expected a number (addresses as initial values are not known), found 'generic'"},
    {".global .b8 a[2] = \"abc\";",
     "line 1: expected a string that fits the variable, found '\"abc\"'"},
    {".global .b8 a[4] = \"\\q\";", "line 1: expected a string of known escapes, found '\"\\q\"'"},
    {".global .b16 a[4] = \"ab\";",
     "line 1: expected numbers: a string is of bytes, found '\"ab\"'"},
    {".global .b8 a[4] = \"ab\n\";",
     "line 1: expected '\"' at the end of a string, found the end of the line"},
    {".global .b8 a[4] = \"ab",
     "line 1: expected '\"' at the end of a string, found the end of the text"},
    /* modules and functions */
    {".address_size 32", "line 1: expected .address_size 64, found 32"},
    {".frob", "line 1: expected a directive of a module, found '.frob'"},
    {"hello", "line 1: expected a directive of a module, found 'hello'"},
    {".visible .version 9.0",
     "line 1: expected .entry, .func, .global, .const or .shared, found '.version'"},
    {".section .debug {", "line 1: expected '}', found the end of the text"},
    {".entry k() .frob { ret; }", "line 1: expected '{' or ';', found '.frob'"},
    {".entry k() .maxntid x { ret; }", "line 1: expected a number, found 'x'"},
    {".entry k(.reg .b32 a) { ret; }", "line 1: expected .param, found '.reg'"},
    {".entry k(.param .b32 a, .param .b32 a) { ret; }",
     "line 1: 'a' is defined already, in line 1"},
    {".entry k(.param .b32 a[]) { ret; }", "line 1: 'a': expected a size, found []"},
    {".entry (.param .b32 r) k() { ret; }", "line 1: expected the name of a function, found '('"},
    {".entry k() { ret;", "line 1: expected '}' of a function's body, found the end of the text"},
    {".entry k() { ret; }\n.entry k() { ret; }", "line 2: 'k' is defined already, in line 1"},
    {".func k() { ret; }\n.entry k();", "line 2: 'k' is defined already, in line 1"},
    {".func f(.param .b32 a);\n.func f() { ret; }",
     "line 2: 'f': expected parameters and results as in line 1, found others"},
    {".func f(.param .b32 a);\n.func f(.param .b64 a) { ret; }",
     "line 2: 'f': expected parameters and results as in line 1, found others"},
    {".func (.param .b32 r) f();\n.func f() { ret; }",
     "line 2: 'f': expected parameters and results as in line 1, found others"},
    /* calls */
    {BODY("call f;"), "line 4: function 'f' is called, and defined nowhere"},
    {".extern .func f();\n" BODY("call f;"), "line 5: function 'f' is called, and defined nowhere"},
    {BODY("call %rd1;"),
     "line 4: expected the name of a function (calls by address are not known), "
     "found '%rd1'"},
    {BODY("call f, (%r1);"), "line 4: expected a .param variable, found '%r1'"},
    {BODY("call f, (5);"), "line 4: expected a .param variable, found '5'"},
    {BODY("call f, g;"), "line 4: expected '(', found 'g'"},
    {BODY("call k;"), "line 4: expected a function, found the kernel 'k'"},
    {BODY(".param .b32 a; call f, (a);") ".func f() { ret; }",
     "line 4: call of 'f': expected 0 arguments, found 1"},
    {BODY("call f;") ".func (.param .b32 r) f() { ret; }",
     "line 4: call of 'f': expected 1 results, found 0"},
    {BODY(".param .b32 a; call f, (a);") ".func f(.param .b64 b) { ret; }",
     "line 4: call of 'f': argument 0: expected 8 bytes, found 4 ('a')"},
};

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        ptx_error error = {""};
        ptx_module *module = ptx_parse(refused[i].text, &error);
        if (module != NULL)
            fail_msg("expected '%s', and it was accepted: %s", refused[i].error, refused[i].text);
        assert_string_equal(error.text, refused[i].error);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Texts that are cut and changed
 * ------------------------------------------------------------------------------------------ */

/* Something of all that there is. */
static const char whole[] =
    "// a comment\n.version 9.0\n.target sm_75\n.address_size 64\n.file 1 \"a.cu\"\n"
    ".const .align 4 .b8 t[2][3] = {{1, 0x2, 03}, {-1, 0b1}};\n.global .f64 d = "
    "0d4000000000000000;\n"
    ".global .b8 s[6] = \"a\\n\";\n.extern .shared .align 16 .b8 dyn[];\n"
    ".func (.param .b32 r0) f(.param .b32 a, .param .align 8 .b8 b[16]);\n"
    ".visible .entry k(.param .u64 p0, .param .u64 .ptr .global .align 8 p1)\n"
    ".maxntid 64, 1, 1\n{\n.reg .pred %p<3>;\n.reg .b32 %r<9>, x; .reg .v2 .f32 v;\n"
    ".shared .b8 own[64]; .local .align 8 .b8 depot[24];\n/* more */ .loc 1 2 3\n"
    "ld.param.u64 x, [p0+0];\nmov.b64 {%r1, _}, x; mov.u32 %r2, %tid.x;\n"
    "setp.lt.and.s32 %p1|%p2, %r1, -5, !%p0;\n@!%p1 bra.uni $L1;\nadd.f32 v.x, v.y, 1.5e0;\n"
    "{ // callseq 0, 0\n.param .b32 q0; .param .align 8 .b8 q1[16]; .param .b32 ret0;\n"
    "st.param.b32 [q0+0], %r1;\ncall.uni (ret0), f, (q0, q1); }\n"
    "$L1: ts: .branchtargets $L1, $L2;\nbrx.idx %r3, ts; $L2: .pragma \"nounroll\";\n"
    "mov.u32 %r4, own+4; st.shared.u32 [%r4+-4], 7U;\nret;\n}\n"
    ".func (.param .b32 r0) f(.param .b32 a, .param .align 8 .b8 b[16])\n{ st.param.b32 [r0], 1; "
    "ret; }\n";

/* A module, or an error that says its line. The text lies in memory of just its size, so that a
 * sanitizer sees a read after it. */
static bool is_survived(const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    copy[size] = '\0';
    ptx_error error = {""};
    ptx_module *module = ptx_parse(copy, &error);
    free(copy);
    if (module == NULL && strncmp(error.text, "line ", 5) != 0)
        fail_msg("an error without its line: '%s'", error.text);
    ptx_parse_free(module);
    return module != NULL;
}

static void a_text_may_end_anywhere(void **state)
{
    (void)state;
    size_t accepted = 0;
    for (size_t size = 0; size < sizeof whole; size++)
        accepted += is_survived(whole, size);
    assert_true(is_survived(whole, sizeof whole - 1));
    assert_in_range(accepted, 10, sizeof whole / 4);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* A byte becomes another, or a piece of the text is copied over another place. */
static void change(char *text, size_t size, uint32_t *seed)
{
    static const char bytes[] = "{}()[]<>;,:.@!%$-+|_\"\\/*0 9xfdUab\n\x7f\xff\x01";
    size_t at = next_random(seed) % size;
    if (next_random(seed) % 3 != 0) {
        text[at] = bytes[next_random(seed) % (sizeof bytes - 1)];
        return;
    }
    size_t from = next_random(seed) % size;
    size_t count = next_random(seed) % 24;
    size_t far = at > from ? at : from;
    memmove(text + at, text + from, far + count <= size ? count : size - far);
}

static void a_text_may_be_changed_anywhere(void **state)
{
    (void)state;
    uint32_t seed = 1;
    size_t accepted = 0;
    for (size_t i = 0; i < 8000; i++) {
        char text[sizeof whole];
        memcpy(text, whole, sizeof whole);
        for (uint32_t changes = 1 + next_random(&seed) % 4; changes > 0; changes--)
            change(text, sizeof whole - 1, &seed);
        accepted += is_survived(text, strlen(text));
    }
    assert_in_range(accepted, 10, 4000);
}

#ifdef TZ_HAVE_CUDA
static void a_kernel_of_the_library_may_end_anywhere(void **state)
{
    (void)state;
    const tz_kernel_image *image = &tz_kernel_image_compact;
    for (size_t size = 0; size < image->size; size += 97)
        is_survived((const char *)image->bytes, size);
}
#endif

/* Names, scopes and lists without end. */
static void a_text_may_repeat_anything(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "{", "(",  "[",  "[1", ".reg .b32 a;{", "L: ",       "x,", ".b8 ", "@", "!",
        "-", "\"", "/*", "/",  "{{1",           ".visible ", "%r"};
    static const char *const starts[] = {"", ".entry k() { ",
                                         ".global .b8 a[4][4] = ", ".entry k() { mov.u32 "};
    enum { TIMES = 3000 };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (size_t j = 0; j < sizeof starts / sizeof *starts; j++) {
            static char text[64 + TIMES * 16];
            strcpy(text, starts[j]);
            size_t size = strlen(text);
            for (size_t k = 0; k < TIMES; k++, size += strlen(pieces[i]))
                strcpy(text + size, pieces[i]);
            is_survived(text, size);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(a_text_may_end_anywhere),
        cmocka_unit_test(a_text_may_be_changed_anywhere),
#ifdef TZ_HAVE_CUDA
        cmocka_unit_test(a_kernel_of_the_library_may_end_anywhere),
#endif
        cmocka_unit_test(a_text_may_repeat_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
