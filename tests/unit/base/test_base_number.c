/* SPDX-License-Identifier: Apache-2.0
 * Numbers in text. The same tests run twice: as this program, and as test_base_number_fallback on a
 * system that gives out no C locale. */
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/number.h"

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* ---------------------------------------------------------------------------------------------
 * Doubles
 * ------------------------------------------------------------------------------------------ */

static const struct {
    const char *text;
    double value;
} good_doubles[] = {
    {"0", 0.0},
    {"-0", -0.0},
    {"+0", 0.0},
    {"1", 1.0},
    {"-1", -1.0},
    {"+1", 1.0},
    {"0001", 1.0},
    {"1.", 1.0},
    {".5", 0.5},
    {"-.5", -0.5},
    {"0.1", 0.1},
    {"1e3", 1000.0},
    {"1E3", 1000.0},
    {"1e+3", 1000.0},
    {"1e-3", 0.001},
    {"1.e2", 100.0},
    {".5e1", 5.0},
    {"-9999", -9999.0},
    {"-3.4028234663852886e+38", -3.4028234663852886e+38},
    {"1.7976931348623157e308", 1.7976931348623157e308},
    {"2.2250738585072014e-308", 2.2250738585072014e-308},
    {"5e-324", 4.9406564584124654e-324},
    {"1e-400", 0.0},
    {"-1e-400", -0.0},
    {"0e999999999999", 0.0},
    {"9007199254740993", 9007199254740992.0}, /* halfway: to even */
    {"9007199254740993.00000000000000000000001", 9007199254740994.0},
    {" 1.5", 1.5},
    {"1.5 ", 1.5},
    {"\t\n\v\f\r 1.5 \r\n", 1.5},
    {"inf", INFINITY},
    {"-inf", -INFINITY},
    {"+Inf", INFINITY},
    {"INFINITY", INFINITY},
    {" -Infinity ", -INFINITY},
};

static void numbers_are_read_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_doubles / sizeof good_doubles[0]; i++) {
        double value = 77;
        bool out_of_range = true;
        assert_true(tz_parse_double(good_doubles[i].text, &value, &out_of_range));
        assert_int_equal(bits_of(value), bits_of(good_doubles[i].value));
        assert_false(out_of_range);
        assert_true(tz_parse_double(good_doubles[i].text, &value, NULL));
    }
}

static void nan_is_read_in_any_case_and_with_a_sign(void **state)
{
    (void)state;
    static const char *const texts[] = {"nan", "NaN", "NAN", "+nan", "-nan", " nan "};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value = 77;
        bool out_of_range = true;
        assert_true(tz_parse_double(texts[i], &value, &out_of_range));
        assert_true(isnan(value));
        assert_int_equal(signbit(value) != 0, texts[i][0] == '-');
        assert_false(out_of_range);
    }
}

static void what_is_not_a_number_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",      " ",     "abc",     ".",         "+",        "-",    "e5",    ".e5",  "1e",
        "1e+",   "1e-",   "1 2",     "1,5",       "1.5,",     "1..5", "1.5.",  "--1",  "+-1",
        "- 1",   "0x10",  "0x1p4",   "1p4",       "1d5",      "1f",   "1.5m",  "nano", "nan(1)",
        "inf1",  "infin", "infinit", "infinityx", "in",       "na",   "1e5.5", "1e 5", "\302\2401",
        "1\x01", "1_000", "'1",      "1e5e5",     "\xd9\xa1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value = 77;
        bool out_of_range = true;
        assert_false(tz_parse_double(texts[i], &value, &out_of_range));
        assert_true(value == 77.0);
        assert_true(out_of_range);
    }
}

static void too_large_is_infinity_and_said_so(void **state)
{
    (void)state;
    static const char *const texts[] = {"1e999", "-1e999", "1.7976931348623159e308", "1e309",
                                        "-1e99999999999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value = 77;
        bool out_of_range = false;
        assert_true(tz_parse_double(texts[i], &value, &out_of_range));
        assert_true(value == (texts[i][0] == '-' ? -INFINITY : INFINITY));
        assert_true(out_of_range);
        assert_true(tz_parse_double(texts[i], &value, NULL));
    }
}

static void a_very_long_number_is_read_exactly(void **state)
{
    (void)state;
    enum { DIGITS = 1000000 };
    char *text = malloc(DIGITS + 10);
    assert_non_null(text);
    memset(text, '0', DIGITS);
    memcpy(text, "0.", 2);
    snprintf(text + DIGITS, 10, "1e+%d", DIGITS - 2 - 3); /* 0.000...1 moved to 0.0001 */
    double value;
    assert_true(tz_parse_double(text, &value, NULL));
    assert_true(value == 1e-4);
    free(text);
}

static void errno_and_the_rounding_mode_are_left_alone(void **state)
{
    (void)state;
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    for (size_t i = 0; i < 4; i++) {
        double value;
        char text[32];
        fesetround(modes[i]);
        errno = EXDEV;
        bool parsed = tz_parse_double("0.1", &value, NULL);
        bool large = tz_parse_double("1e999", &(double){0}, NULL);
        tz_format_double(0.1, text, sizeof text);
        int mode = fegetround();
        fesetround(FE_TONEAREST);
        assert_true(parsed && large);
        assert_int_equal(mode, modes[i]);
        assert_int_equal(errno, EXDEV);
        assert_int_equal(bits_of(value), bits_of(0.1));
        assert_string_equal(text, "0.1");
    }
}

/* ---------------------------------------------------------------------------------------------
 * Integers
 * ------------------------------------------------------------------------------------------ */

static void signed_integers_are_exact_to_both_ends(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"+7", 7},
        {" 42 ", 42},
        {"-00042", -42},
        {"9007199254740993", 9007199254740993},
        {"9223372036854775806", INT64_MAX - 1},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775807", -INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"000000000000000000000000000000000000001", 1},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t value = 77;
        assert_true(tz_parse_int64(good[i].text, &value));
        assert_true(value == good[i].value);
    }
}

static void signed_integers_beyond_either_end_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"9223372036854775808",
                                      "-9223372036854775809",
                                      "18446744073709551615",
                                      "-18446744073709551616",
                                      "99999999999999999999999",
                                      "",
                                      "-",
                                      "+",
                                      "1.0",
                                      "1e3",
                                      "0x1",
                                      "1 1",
                                      "a",
                                      "--1",
                                      "- 1",
                                      "1-"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t value = 77;
        assert_false(tz_parse_int64(bad[i], &value));
        assert_int_equal(value, 77);
    }
}

static void unsigned_integers_are_exact_or_refused(void **state)
{
    (void)state;
    uint64_t value = 77;
    assert_true(tz_parse_uint64("0", &value));
    assert_int_equal(value, 0);
    assert_true(tz_parse_uint64(" +18446744073709551615\n", &value));
    assert_true(value == UINT64_MAX);
    assert_true(tz_parse_uint64("18446744073709551614", &value));
    assert_true(value == UINT64_MAX - 1);
    static const char *const bad[] = {"18446744073709551616",
                                      "18446744073709551620",
                                      "184467440737095516150",
                                      "-1",
                                      "-0",
                                      "",
                                      " ",
                                      "+",
                                      "1.",
                                      "1x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        value = 77;
        assert_false(tz_parse_uint64(bad[i], &value));
        assert_int_equal(value, 77);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Formatting
 * ------------------------------------------------------------------------------------------ */

static void doubles_are_written_short(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {-9999.0, "-9999"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3.0, "0.3333333333333333"},
        {1e15, "1e+15"},
        {123456.789, "123456.789"},
        {1e100, "1e+100"},
        {-3.4028234663852886e+38, "-3.4028234663852886e+38"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {-2.2250738585072014e-308, "-2.2250738585072014e-308"},
        {NAN, "nan"},
        {-NAN, "nan"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[32];
        size_t size = tz_format_double(rows[i].value, text, sizeof text);
        assert_string_equal(text, rows[i].text);
        assert_int_equal(size, strlen(text));
    }
}

/* Written and read back, it is the same double. */
static void assert_round_trip(double value)
{
    char text[32];
    double back = 0;
    size_t size = tz_format_double(value, text, sizeof text);
    assert_int_equal(size, strlen(text));
    assert_true(strspn(text, "0123456789+-.e") == size);
    assert_true(tz_parse_double(text, &back, NULL));
    assert_int_equal(bits_of(back), bits_of(value));
}

static void random_doubles_come_back_bit_for_bit(void **state)
{
    (void)state;
    uint64_t seed = 20240607;
    for (int i = 0; i < 20000; i++) {
        double value = double_of(next_random(&seed));
        if (isfinite(value))
            assert_round_trip(value);
        double decimal = (double)(int64_t)(next_random(&seed) % 2000000000) / 1000.0 - 1e6;
        assert_round_trip(decimal);
    }
}

static void doubles_at_every_power_of_two_come_back(void **state)
{
    (void)state;
    for (int exponent = -1074; exponent <= 1023; exponent++) {
        double value = ldexp(1.0, exponent);
        assert_round_trip(value);
        assert_round_trip(nextafter(value, INFINITY));
        assert_round_trip(-nextafter(value, 0));
    }
}

/* ---------------------------------------------------------------------------------------------
 * Locales
 * ------------------------------------------------------------------------------------------ */

static bool run_localedef(const char *folder)
{
    char path[300];
    snprintf(path, sizeof path, "%s/de_DE.UTF-8", folder);
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) && freopen("/dev/null", "w", stdout))
            execlp("localedef", "localedef", "--no-archive", "-f", "UTF-8", "-i", "de_DE", path,
                   (char *)NULL);
        _exit(127);
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Locales whose decimal point is a comma: those of the system, or one made for this test. */
static bool set_comma_locale(char *folder)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "fr_FR.UTF-8", "nl_NL.UTF-8",
                                        "pl_PL.UTF-8", "pt_BR.UTF-8", "de_DE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_ALL, names[i]) && strcmp(localeconv()->decimal_point, ",") == 0)
            return true;
    strcpy(folder, "/tmp/terrazzo-locale-XXXXXX");
    if (!mkdtemp(folder)) {
        folder[0] = '\0';
        return false;
    }
    if (!run_localedef(folder))
        return false;
    setenv("LOCPATH", folder, 1);
    return setlocale(LC_ALL, "de_DE.UTF-8") && strcmp(localeconv()->decimal_point, ",") == 0;
}

static void remove_folder(const char *folder)
{
    if (folder[0] == '\0')
        return;
    pid_t child = fork();
    if (child == 0) {
        execlp("rm", "rm", "-rf", "--", folder, (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
}

static char locale_folder[64];

static int leave_locale(void **state)
{
    (void)state;
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    remove_folder(locale_folder);
    locale_folder[0] = '\0';
    return 0;
}

static void a_locale_with_a_decimal_comma_changes_nothing(void **state)
{
    if (!set_comma_locale(locale_folder)) {
        print_message("skip: no locale with a decimal comma is installed, and localedef cannot "
                      "make one\n");
        skip();
    }
    char text[32];
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5"); /* the locale is in force */
    numbers_are_read_exactly(state);
    what_is_not_a_number_is_refused_and_changes_nothing(state);
    too_large_is_infinity_and_said_so(state);
    doubles_are_written_short(state);
    random_doubles_come_back_bit_for_bit(state);
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5"); /* and still is */
}

static void the_locale_of_the_thread_is_left_alone(void **state)
{
    (void)state;
    locale_t own = duplocale(uselocale((locale_t)0));
    assert_true(own != (locale_t)0);
    locale_t before = uselocale(own);
    double value;
    char text[32];
    assert_true(tz_parse_double("0.5", &value, NULL));
    tz_format_double(value, text, sizeof text);
    assert_true(uselocale(before) == own);
    freelocale(own);
}

static void *round_trips(void *argument)
{
    uint64_t seed = *(const uint64_t *)argument;
    uint64_t wrong = 0;
    for (int i = 0; i < 5000; i++) {
        double value = (double)(int64_t)next_random(&seed) / 1e6;
        double back = 0;
        char text[32];
        tz_format_double(value, text, sizeof text);
        wrong += !tz_parse_double(text, &back, NULL) || bits_of(back) != bits_of(value);
    }
    return (void *)(uintptr_t)wrong;
}

static void threads_do_not_disturb_each_other(void **state)
{
    (void)state;
    pthread_t threads[8];
    uint64_t seeds[8];
    for (uint64_t i = 0; i < 8; i++) {
        seeds[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, round_trips, &seeds[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_exactly),
        cmocka_unit_test(nan_is_read_in_any_case_and_with_a_sign),
        cmocka_unit_test(what_is_not_a_number_is_refused_and_changes_nothing),
        cmocka_unit_test(too_large_is_infinity_and_said_so),
        cmocka_unit_test(a_very_long_number_is_read_exactly),
        cmocka_unit_test(errno_and_the_rounding_mode_are_left_alone),
        cmocka_unit_test(signed_integers_are_exact_to_both_ends),
        cmocka_unit_test(signed_integers_beyond_either_end_are_refused),
        cmocka_unit_test(unsigned_integers_are_exact_or_refused),
        cmocka_unit_test(doubles_are_written_short),
        cmocka_unit_test(random_doubles_come_back_bit_for_bit),
        cmocka_unit_test(doubles_at_every_power_of_two_come_back),
        cmocka_unit_test_teardown(a_locale_with_a_decimal_comma_changes_nothing, leave_locale),
        cmocka_unit_test(the_locale_of_the_thread_is_left_alone),
        cmocka_unit_test(threads_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
