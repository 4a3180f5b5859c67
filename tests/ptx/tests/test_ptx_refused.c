/* SPDX-License-Identifier: Apache-2.0
 * PTX on the CPU: every kind of instruction is taken as it should be, and refused when it has an
 * operand, a word or a type too few or too many, or a result that is not a register. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "ptx/ptx.h"

/* Other forms that an instruction is accepted in: fewer or more operands, no register first. */
enum { LESS = 1, MORE = 2, NO_RESULT = 4 };

static const struct {
    const char *words, *type, *operands;
    unsigned allowed;
} forms[] = {
    {"abs", ".s32", "%r1, %r2", 0},
    {"abs", ".f64", "%g1, %g2", 0},
    {"activemask", ".b32", "%r1", 0},
    {"add", ".s32", "%r1, %r2, %r3", 0},
    {"add.rz", ".f32", "%f1, %f2, %f3", 0},
    {"addc", ".u32", "%r1, %r2, %r3", 0},
    {"and", ".b32", "%r1, %r2, %r3", 0},
    {"and", ".pred", "%p1, %p2, !%p3", 0},
    {"atom.global.add", ".u32", "%r1, [%d0], %r2", 0},
    {"atom.shared.cas", ".b64", "%d1, [%r2], %d2, %d3", 0},
    {"bar.sync", "", "0", MORE | NO_RESULT},
    {"bar.red.popc", ".u32", "%r1, 0, %p1", MORE},
    {"bar.warp.sync", "", "%r1", NO_RESULT},
    {"bfe", ".u32", "%r1, %r2, %r3, %r4", 0},
    {"bfi", ".b64", "%d1, %d2, %d3, %r4, %r5", 0},
    {"bfind", ".u32", "%r1, %r2", 0},
    {"brev", ".b32", "%r1, %r2", 0},
    {"clz", ".b64", "%r1, %d2", 0},
    {"cnot", ".b32", "%r1, %r2", 0},
    {"copysign", ".f32", "%f1, %f2, %f3", 0},
    {"cvt.rn", ".f32.f64", "%f1, %g1", 0},
    {"cvt.rzi", ".s32.f32", "%r1, %f1", 0},
    {"cvt", ".u64.u32", "%d1, %r1", 0},
    {"cvta.to.global", ".u64", "%d1, %d2", 0},
    {"div", ".u32", "%r1, %r2, %r3", 0},
    {"div.rn", ".f64", "%g1, %g2, %g3", 0},
    {"dp4a", ".s32.s32", "%r1, %r2, %r3, %r4", 0},
    {"fma.rn", ".f64", "%g1, %g2, %g3, %g4", 0},
    {"isspacep.shared", "", "%p1, %d1", 0},
    {"ld.global", ".u32", "%r1, [%d0+4]", 0},
    {"ld.global.v2", ".u32", "{%r1, %r2}, [%d0]", 0},
    {"lop3", ".b32", "%r1, %r2, %r3, %r4, 232", 0},
    {"mad.lo", ".s32", "%r1, %r2, %r3, %r4", 0},
    {"mad.wide", ".u32", "%d1, %r2, %r3, %d4", 0},
    {"madc.hi", ".u32", "%r1, %r2, %r3, %r4", 0},
    {"match.any.sync", ".b32", "%r1, %r2, %r3", 0},
    {"max", ".s64", "%d1, %d2, %d3", 0},
    {"min", ".f32", "%f1, %f2, %f3", 0},
    {"mov", ".u32", "%r1, %tid.x", 0},
    {"mov", ".b64", "{%r1, %r2}, %d1", 0},
    {"mul.hi", ".u64", "%d1, %d2, %d3", 0},
    {"mul.rn", ".f64", "%g1, %g2, %g3", 0},
    {"neg", ".s32", "%r1, %r2", 0},
    {"not", ".b64", "%d1, %d2", 0},
    {"or", ".b16", "%h1, %h2, %h3", 0},
    {"popc", ".b32", "%r1, %r2", 0},
    {"prmt", ".b32", "%r1, %r2, %r3, %r4", 0},
    {"rcp.rn", ".f64", "%g1, %g2", 0},
    {"red.global.max", ".s32", "[%d0], %r2", NO_RESULT},
    {"rem", ".s64", "%d1, %d2, %d3", 0},
    {"sad", ".u32", "%r1, %r2, %r3, %r4", 0},
    {"selp", ".b32", "%r1, %r2, %r3, %p1", 0},
    {"set.lt", ".u32.s32", "%r1, %r2, %r3", 0},
    {"setp.lt.and", ".s32", "%p1, %r2, %r3, %p2", MORE},
    {"setp.gtu", ".f64", "%p1|%p2, %g2, %g3", LESS},
    {"shf.l.wrap", ".b32", "%r1, %r2, %r3, %r4", 0},
    {"shfl.sync.down", ".b32", "%r1|%p1, %r2, %r3, %r4, %r5", LESS},
    {"shl", ".b32", "%r1, %r2, %r3", 0},
    {"shr", ".s64", "%d1, %d2, %r3", 0},
    {"slct", ".b32.s32", "%r1, %r2, %r3, %r4", 0},
    {"sqrt.rn", ".f64", "%g1, %g2", 0},
    {"st.global", ".u16", "[%d0], %h2", NO_RESULT},
    {"st.shared.v4", ".u32", "[%r1], {%r2, %r3, %r4, %r5}", NO_RESULT},
    {"sub", ".u16", "%h1, %h2, %h3", 0},
    {"subc", ".u64", "%d1, %d2, %d3", 0},
    {"testp.finite", ".f32", "%p1, %f1", 0},
    {"vote.sync.ballot", ".b32", "%r1, %p1, %r2", 0},
    {"xor", ".pred", "%p1, %p2, %p3", 0},
};

/* Returns true if an instruction is accepted; otherwise the error has its line and text. */
static bool is_taken(const char *words, const char *type, const char *operands)
{
    char text[600], mnemonic[100];
    snprintf(
        text, sizeof text,
        ".version 9.0\n.visible .entry k(.param .u64 p0) {\n.reg .pred %%p<8>;.reg .b16 %%h<8>;"
        ".reg .b32 %%r<8>;.reg .b64 %%d<8>;.reg .f32 %%f<8>;.reg .f64 %%g<8>;\n%s%s %s;\nret;}",
        words, type, operands);
    ptx_error error = {""};
    ptx_module *module = ptx_load(text, &error);
    ptx_unload(module);
    snprintf(mnemonic, sizeof mnemonic, "%.60s%.20s", words, type);
    if (module == NULL &&
        (strstr(error.text, mnemonic) == NULL || strstr(error.text, "line 4: ") == NULL))
        fail_msg("expected '%s' in line 4, found '%s'", mnemonic, error.text);
    return module != NULL;
}

static void must(bool is_so, const char *what, size_t i)
{
    if (!is_so)
        fail_msg("%s%s %s: %s", forms[i].words, forms[i].type, forms[i].operands, what);
}

static void as_it_should_be(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        must(is_taken(forms[i].words, forms[i].type, forms[i].operands), "is refused", i);
}

static void an_operand_too_few(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char operands[100];
        strcpy(operands, forms[i].operands);
        /* a vector or p|q goes as one */
        char *end = strrchr(operands, '}');
        char *comma = strrchr(operands, ',');
        if (end != NULL && end[1] == '\0')
            comma = strchr(operands, '{') > operands ? strchr(operands, '{') - 2 : operands;
        *(comma != NULL ? comma : operands) = '\0';
        must((forms[i].allowed & LESS) != 0 || !is_taken(forms[i].words, forms[i].type, operands),
             "is taken without its last operand", i);
    }
}

static void an_operand_too_many(void **state)
{
    (void)state;
    static const char *const more[] = {", %r6", ", 7", ", [%d1]"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (size_t j = 0; j < 3; j++) {
            char operands[100];
            snprintf(operands, sizeof operands, "%s%s", forms[i].operands, more[j]);
            must((forms[i].allowed & MORE) != 0 ||
                     !is_taken(forms[i].words, forms[i].type, operands),
                 "is taken with one operand more", i);
        }
}

static void a_result_that_is_no_register(void **state)
{
    (void)state;
    static const char *const others[] = {"5", "[%d0]", "!%p0", "%tid.x", "{%r6, %r7}"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        bool is_vector = forms[i].operands[0] == '{';
        if ((forms[i].allowed & NO_RESULT) != 0)
            continue;
        const char *rest = is_vector ? strchr(forms[i].operands, '}') + 1 : forms[i].operands + 3;
        for (size_t j = 0; j < (is_vector ? 4u : 5u); j++) {
            char operands[100];
            snprintf(operands, sizeof operands, "%s%s", others[j], rest);
            must(!is_taken(forms[i].words, forms[i].type, operands),
                 "is taken with a result that is no register", i);
        }
    }
}

static void a_word_that_is_another_s(void **state)
{
    (void)state;
    static const char *const more[] = {".bfly", ".notanumber", ".exch", ".cas"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (size_t j = 0; j < sizeof more / sizeof *more; j++) {
            char words[100];
            snprintf(words, sizeof words, "%s%s", forms[i].words, more[j]);
            must(!is_taken(words, forms[i].type, forms[i].operands), "is taken with another's word",
                 i);
        }
}

static void a_type_too_few_or_too_many(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char type[40];
        snprintf(type, sizeof type, "%s.u32.u32", forms[i].type);
        must(strlen(forms[i].type) > 5 || !is_taken(forms[i].words, type, forms[i].operands),
             "is taken with two types more", i);
        must(forms[i].type[0] == '\0' || !is_taken(forms[i].words, "", forms[i].operands),
             "is taken without a type", i);
        must(!is_taken(forms[i].words, ".f16", forms[i].operands), "is taken as of f16", i);
    }
}

static void a_space_or_a_vector_that_is_another_s(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        bool has_space =
            strstr(forms[i].words, ".global") != NULL || strstr(forms[i].words, ".shared") != NULL;
        bool has_vector = strstr(forms[i].words, ".v") != NULL;
        char words[100];
        snprintf(words, sizeof words, "%s.const", forms[i].words);
        must(has_space || !is_taken(words, forms[i].type, forms[i].operands),
             "is taken with a space", i);
        snprintf(words, sizeof words, "%s.v4", forms[i].words);
        must(has_vector || !is_taken(words, forms[i].type, forms[i].operands),
             "is taken with a vector", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_it_should_be),
        cmocka_unit_test(an_operand_too_few),
        cmocka_unit_test(an_operand_too_many),
        cmocka_unit_test(a_result_that_is_no_register),
        cmocka_unit_test(a_word_that_is_another_s),
        cmocka_unit_test(a_type_too_few_or_too_many),
        cmocka_unit_test(a_space_or_a_vector_that_is_another_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
