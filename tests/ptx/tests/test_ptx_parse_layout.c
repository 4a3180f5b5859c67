/* SPDX-License-Identifier: Apache-2.0
 * PTX as the parser leaves it: functions, calls, and where variables lie. */
#include "ptx_text.h"

#include "device/kernel_programs.h"

static void params_lie_as_the_abi_has_them(void **state)
{
    (void)state;
    ptx_module *m =
        parsed(PTX_HEAD ".visible .entry k(\n.param .u8 a, .param .u64 .ptr .global .align 4 b,"
                        ".param .u16 c, .param .align 16 .b8 d[20], .param .b8 e)\n"
                        ".maxntid 8, 4, 2\n.minnctapersm 2\n.maxnreg 40 { ret; }"
                        ".entry other() .reqntid 7 { ret; } .entry bare { ret; }");
    const ptx_function *k = function_of(m, "k");
    static const uint64_t offsets[] = {0, 8, 16, 32, 52};
    assert_true(k->is_kernel);
    assert_ptr_equal(k->module, m);
    assert_int_equal(k->param_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(k->params[i]->offset, offsets[i]);
    assert_int_equal(k->params[3]->size, 20);
    assert_int_equal(k->params[3]->align, 16);
    assert_int_equal(k->param_bytes, 53);
    assert_int_equal(k->param_space, 53);
    assert_int_equal(k->max_threads, 64);
    assert_int_equal(function_of(m, "other")->max_threads, 7);
    assert_int_equal(function_of(m, "bare")->max_threads, 0);
    ptx_parse_free(m);
}

static void calls_name_their_variables(void **state)
{
    (void)state;
    ptx_module *m = parsed(
        PTX_HEAD
        ".extern .func nobody(.param .b32 _);\n"
        ".func (.param .align 8 .b8 out[16]) f(.param .b32 a, .param .b64 b);\n"
        ".visible .entry k(.param .u32 own)\n{"
        "{ // callseq 0, 0\n.reg .b32 temp_param_reg; .param .b32 p0; st.param.b32 [p0+0], 1;"
        ".param .b64 p1; .param .align 8 .b8 r0[16];\ncall.uni (r0), \nf, \n(\np0, \np1\n);}"
        "{ .param .b32 p0; call later, (p0); call.uni last; } ret; }"
        ".func (.param .align 8 .b8 out[16]) f(.param .b32 a, .param .b64 b)"
        "{ st.param.b32 [out+4], 1; ret; }"
        ".func later(.param .b32 a) { .param .b32 p0; call later, (p0); ret; }"
        ".weak .func last() { ret; }");
    const ptx_function *k = function_of(m, "k"), *f = function_of(m, "f");
    const ptx_instruction *call = &k->instructions[1];
    assert_int_equal(m->function_count, 4);
    assert_int_equal(call->operation, PTX_OP_call);
    assert_ptr_equal(call->callee, f);
    assert_int_equal(call->argument_count, 2);
    assert_int_equal(call->result_count, 1);
    assert_int_equal(call->arguments[0]->offset, 4);
    assert_int_equal(call->arguments[1]->offset, 8);
    assert_int_equal(call->results[0]->offset, 16);
    assert_int_equal(call->line, 9);
    assert_ptr_equal(k->instructions[0].operands[0].variable, call->arguments[0]);
    /* the next call has the same room again */
    assert_ptr_equal(k->instructions[2].callee, function_of(m, "later"));
    assert_int_equal(k->instructions[2].arguments[0]->offset, 4);
    assert_int_equal(k->instructions[3].argument_count, 0);
    assert_int_equal(k->param_bytes, 4);
    assert_int_equal(k->param_space, 32);
    assert_int_equal(f->params[1]->offset, 8);
    assert_int_equal(f->param_bytes, 16);
    assert_int_equal(f->results[0]->offset, 16);
    assert_int_equal(f->param_space, 32);
    assert_ptr_equal(f->instructions[0].operands[0].variable, f->results[0]);
    assert_ptr_equal(function_of(m, "later")->instructions[0].callee, function_of(m, "later"));
    ptx_parse_free(m);
}

static const ptx_variable *used_by(const ptx_function *function, uint32_t instruction)
{
    return function->instructions[instruction].operands[1].variable;
}

static void shared_and_local_variables_do_not_overlap(void **state)
{
    (void)state;
    ptx_module *m = parsed(".shared .align 4 .b8 common[6];"
                           ".visible .entry a() { .reg .b64 r; .shared .b64 own;"
                           ".local .align 4 .b8 l[3]; .local .f64 d;"
                           "mov.u64 r, own; mov.u64 r, l; mov.u64 r, d; mov.u64 r, common; ret; }"
                           ".func f() { .reg .b64 r; .shared .b32 kept; mov.u64 r, kept; ret; }"
                           ".visible .entry b() { .shared .b8 own[5]; .reg .b64 r;"
                           "mov.u64 r, own; ret; }");
    const ptx_function *a = function_of(m, "a"), *b = function_of(m, "b");
    assert_int_equal(used_by(a, 3)->offset, 0);
    assert_int_equal(used_by(function_of(m, "f"), 0)->offset, 8);
    assert_int_equal(used_by(a, 0)->offset, 16);
    assert_int_equal(a->shared_space, 24);
    assert_int_equal(used_by(b, 0)->offset, 12);
    assert_int_equal(b->shared_space, 17);
    assert_int_equal(used_by(a, 1)->offset, 0);
    assert_int_equal(used_by(a, 2)->offset, 8);
    assert_int_equal(a->local_space, 16);
    assert_int_equal(b->local_space, 0);
    ptx_parse_free(m);
}

static void an_extern_variable_begins_after_all(void **state)
{
    (void)state;
    ptx_module *m = parsed(".extern .shared .align 16 .b8 dynamic[]; .extern .shared .b32 too[];"
                           ".entry a() { .shared .b8 own[33]; ret; } .entry b() { ret; }");
    assert_int_equal(variable_of(m, "dynamic")->offset, 48);
    assert_int_equal(variable_of(m, "dynamic")->size, 0);
    assert_int_equal(variable_of(m, "too")->offset, 48);
    assert_int_equal(function_of(m, "a")->shared_space, 48);
    assert_int_equal(function_of(m, "b")->shared_space, 48);
    ptx_parse_free(m);
}

static void check_initial(const ptx_module *m, const char *name, const void *bytes, size_t size)
{
    const ptx_variable *variable = variable_of(m, name);
    assert_int_equal(variable->size, size);
    assert_non_null(variable->initial);
    assert_memory_equal(variable->initial, bytes, size);
}

static void initial_values_are_bytes(void **state)
{
    (void)state;
    ptx_module *m = parsed(
        ".const .align 4 .b8 bytes[8] = {1, 0xFF, -1, 0b11, 017};\n"
        ".visible .global .u32 one = 7;\n.weak .global .s16 less[2] = {-2, 65535};"
        ".global .f32 floats[3] = {0f3F800000, 0.5, -1.0}; .global .f64 d = 0d4000000000000000;"
        ".global .u16 grid[2][3] = {{1, 2}, {4, 5, 6}}; .global .u16 flat[2][2] = {1, 2, 3, 4};"
        ".const .b8 text[8] = \"a\\n\\\"b\"; .global .v2 .u32 pairs[2] = {{1, 2}, {3, 4}};"
        ".global .b64 none; .global .align 32 .b8 far;");
    check_initial(m, "bytes", (uint8_t[]){1, 255, 255, 3, 15, 0, 0, 0}, 8);
    check_initial(m, "one", (uint32_t[]){7}, 4);
    check_initial(m, "less", (int16_t[]){-2, -1}, 4);
    check_initial(m, "floats", (float[]){1, 0.5f, -1}, 12);
    check_initial(m, "d", (double[]){2}, 8);
    check_initial(m, "grid", (uint16_t[]){1, 2, 0, 4, 5, 6}, 12);
    check_initial(m, "flat", (uint16_t[]){1, 2, 3, 4}, 8);
    check_initial(m, "text", "a\n\"b\0\0\0", 8);
    check_initial(m, "pairs", (uint32_t[]){1, 2, 3, 4}, 16);
    assert_null(variable_of(m, "none")->initial);
    assert_int_equal(variable_of(m, "bytes")->offset, 0);
    assert_int_equal(variable_of(m, "text")->offset, 8);
    assert_int_equal(m->const_space, 16);
    assert_int_equal(variable_of(m, "less")->offset, 4);
    assert_int_equal(variable_of(m, "d")->offset, 24);
    assert_int_equal(variable_of(m, "pairs")->align, 8);
    assert_int_equal(variable_of(m, "far")->offset, 96);
    assert_int_equal(m->global_space, 97);
    ptx_parse_free(m);
}

static void what_says_nothing_is_skipped(void **state)
{
    (void)state;
    ptx_module *m =
        parsed("/* a\ncomment */ .version 9.0 // line 2\n.target sm_75, debug\n"
               ".file 1 \"x.cu\", 12, 3\n.pragma \"a\";\n"
               ".section .debug_str { .b8 1, 2, \"}\"\n x: .b8 3 }\n"
               ".entry k() {\n.pragma \"nounroll\"; /**/ // }\n.loc 1 2 3, function_name $a\n"
               "\tret /* */ ; }\n// the end");
    assert_int_equal(m->functions[0]->instruction_count, 1);
    assert_int_equal(m->functions[0]->instructions[0].line, 11);
    ptx_parse_free(m);
    m = parsed("");
    assert_int_equal(m->function_count, 0);
    ptx_parse_free(m);
    ptx_parse_free(NULL);
}

#ifdef TZ_HAVE_CUDA
/* The kernels that the library carries for CUDA. */
static void the_library_s_own_kernels(void **state)
{
    (void)state;
#define IMAGE(family, text) &tz_kernel_image_##text,
    static const tz_kernel_image *const images[] = {TZ_FAMILY_LIST(IMAGE)};
#undef IMAGE
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        ptx_module *m = parsed((const char *)images[i]->bytes);
        assert_true(m->function_count > 0);
        for (uint32_t j = 0; j < m->function_count; j++)
            assert_true(m->functions[j]->instruction_count > 10);
        ptx_parse_free(m);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(params_lie_as_the_abi_has_them),
        cmocka_unit_test(calls_name_their_variables),
        cmocka_unit_test(shared_and_local_variables_do_not_overlap),
        cmocka_unit_test(an_extern_variable_begins_after_all),
        cmocka_unit_test(initial_values_are_bytes),
        cmocka_unit_test(what_says_nothing_is_skipped),
#ifdef TZ_HAVE_CUDA
        cmocka_unit_test(the_library_s_own_kernels),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
