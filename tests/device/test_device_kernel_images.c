/* SPDX-License-Identifier: Apache-2.0
 * The kernels that nvcc made: an image for each family, with the kernels that kernel_list.h says,
 * and arithmetic that a driver cannot make other results of. */
#include <stdio.h>
#include <string.h>

#include "device/driver.h"
#include "device/kernel_programs.h"
#include "support/check.h"

static const struct family {
    const char *name;
    const tz_kernel_image *image, *code;
} families[] = {
#define FAMILY(family, text) {#text, &tz_kernel_image_##text, &tz_kernel_code_##text},
    TZ_FAMILY_LIST(FAMILY)
#undef FAMILY
};
#define FAMILY_COUNT (sizeof families / sizeof families[0])

#ifdef TZ_HAVE_CUDA

static const struct kernel {
    uint32_t family;
    const char *function;
    const char *kinds;
} kernels[] = {
#define KERNEL(number, family, function, kinds) {TZ_FAMILY_##family, #function, kinds},
    TZ_GPU_KERNEL_LIST(KERNEL)
#undef KERNEL
};
#define KERNEL_COUNT (sizeof kernels / sizeof kernels[0])

static const char *text_of(uint32_t family)
{
    return (const char *)families[family].image->bytes;
}

static void every_family_has_an_image(void **state)
{
    (void)state;
    static const unsigned char magic[] = {0x50, 0xed, 0x55, 0xba};
    const bool has_code = strstr(tz_kernel_image_about, "sm_") != NULL;
    assert_memory_not_equal(tz_kernel_image_about, "nvcc", 4);
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        const tz_kernel_image *image = families[i].image, *code = families[i].code;
        assert_non_null(image->bytes);
        assert_int_equal((uintptr_t)image->bytes % 8, 0);
        assert_int_equal(strnlen((const char *)image->bytes, image->size), image->size - 1);
        assert_int_equal(code->size > sizeof magic, has_code);
        assert_int_equal((uintptr_t)code->bytes % 8, 0);
        if (has_code)
            assert_memory_equal(code->bytes, magic, sizeof magic);
    }
}

static void what_they_are_is_said(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FAMILY_COUNT; i++) {
        char about[32] = "", architecture[16] = "";
        const char *target = strstr(text_of(i), "\n.target ");
        assert_non_null(target);
        assert_int_equal(sscanf(target, "\n.target sm_%15[0-9]", architecture), 1);
        snprintf(about, sizeof about, "compute_%s", architecture);
        assert_non_null(strstr(tz_kernel_image_about, about));
    }
}

/* Drivers refuse a text for its label, whatever is in it. That the text is of this version is
 * checked by ptxas (check_ptx.py). */
static void old_drivers_take_their_version(void **state)
{
    (void)state;
    if (!strstr(tz_kernel_image_about, "compute_75")) {
        print_message("skip: the build is for later GPUs\n");
        skip();
    }
    assert_int_equal(tz_kernel_image_cuda, 10000);
    for (uint32_t i = 0; i < FAMILY_COUNT; i++) {
        assert_non_null(strstr(text_of(i), "\n.version 6.3\n"));
        assert_null(strstr(text_of(i), "\"used_bytes_mask"));
    }
}

/* The kinds of a kernel's parameters as its text declares them: the memory of tz_argument_kind is
 * an address, of 8 bytes. Returns where the declaration ends. */
static const char *read_kinds(const char *at, char *kinds, size_t room)
{
    size_t count = 0;
    for (; *at != ')' && *at != '\0'; at++) {
        if (strncmp(at, ".param", 6) != 0)
            continue;
        char type[8] = "";
        assert_int_equal(sscanf(at, ".param .%7[a-z0-9]", type), 1);
        assert_true(count + 1 < room);
        kinds[count++] = strcmp(type, "u64") == 0   ? TZ_ARGUMENT_U64
                         : strcmp(type, "u32") == 0 ? TZ_ARGUMENT_U32
                                                    : '?';
    }
    kinds[count] = '\0';
    return at;
}

static void check_kernel(const struct kernel *k)
{
    char entry[128], found[64], expected[64], group[64];
    snprintf(entry, sizeof entry, ".visible .entry %s(", k->function);
    const char *at = strstr(text_of(k->family), entry);
    if (at == NULL)
        fail_msg("%s is not in %s", k->function, families[k->family].name);
    at = read_kinds(at, found, sizeof found);
    snprintf(expected, sizeof expected, "%s", k->kinds);
    for (char *kind = expected; *kind != '\0'; kind++)
        *kind = *kind == TZ_ARGUMENT_MEMORY ? TZ_ARGUMENT_U64 : *kind;
    if (strcmp(found, expected) != 0)
        fail_msg("%s takes %s, and the list says %s", k->function, found, k->kinds);
    snprintf(group, sizeof group, ")\n.maxntid %u, 1, 1\n", TZ_WORK_GROUP_ITEMS);
    if (strncmp(at, group, strlen(group)) != 0)
        fail_msg("%s is not compiled for groups of %u", k->function, TZ_WORK_GROUP_ITEMS);
}

static void kernels_take_what_the_list_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < KERNEL_COUNT; i++)
        check_kernel(&kernels[i]);
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        count++;
    return count;
}

static void no_kernel_is_missing_in_the_list(void **state)
{
    (void)state;
    size_t count = 0;
    for (uint32_t i = 0; i < FAMILY_COUNT; i++)
        count += count_of(text_of(i), ".entry ");
    assert_int_equal(count, KERNEL_COUNT);
}

/* Drivers may contract operations that do not say how they round. */
static void arithmetic_says_how_it_rounds(void **state)
{
    (void)state;
    static const char *const loose[] = {"\tadd.f",    "\tsub.f", "\tmul.f", "\tfma.", "\tmad.f",
                                        "\tmad.rn.f", ".approx", ".full",   ".ftz"};
    size_t exact = 0;
    for (uint32_t i = 0; i < FAMILY_COUNT; i++) {
        for (size_t k = 0; k < sizeof loose / sizeof loose[0]; k++) {
            if (count_of(text_of(i), loose[k]) > 0)
                fail_msg("%s of %s", loose[k], families[i].name);
        }
        exact += count_of(text_of(i), "\tmul.rn.f64");
    }
    assert_true(exact > 0);
}

static void names_do_not_show_where_they_were_made(void **state)
{
    (void)state;
    size_t names = 0;
    for (uint32_t i = 0; i < FAMILY_COUNT; i++) {
        const size_t count = count_of(text_of(i), "_INTERNAL_");
        assert_int_equal(count, count_of(text_of(i), "_INTERNAL_00000000_"));
        names += count;
    }
    assert_true(names > 0);
}

#else

static void without_nvcc_there_are_none_and_it_is_said_why(void **state)
{
    (void)state;
    assert_true(strlen(tz_kernel_image_about) > 0);
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        assert_null(families[i].image->bytes);
        assert_int_equal(families[i].image->size, 0);
        assert_int_equal(families[i].code->size, 0);
    }
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef TZ_HAVE_CUDA
        cmocka_unit_test(every_family_has_an_image),
        cmocka_unit_test(what_they_are_is_said),
        cmocka_unit_test(old_drivers_take_their_version),
        cmocka_unit_test(kernels_take_what_the_list_says),
        cmocka_unit_test(no_kernel_is_missing_in_the_list),
        cmocka_unit_test(arithmetic_says_how_it_rounds),
        cmocka_unit_test(names_do_not_show_where_they_were_made),
#else
        cmocka_unit_test(without_nvcc_there_are_none_and_it_is_said_why),
#endif
    };
    return cmocka_run_group_tests_name("device_images", tests, NULL, NULL);
}
