/* SPDX-License-Identifier: Apache-2.0
 * The exit code of a test program that skipped something and failed nothing is 77, which ctest
 * shows as skipped. cmocka counts a skip as a success, so this stands in front of main and of
 * skip():
 * --wrap=main --wrap=_skip. */
#include <stdlib.h>

enum { SKIPPED = 77 };

static int skips;

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
_Noreturn void __real__skip(const char *file, int line);
_Noreturn void __wrap__skip(const char *file, int line);

int __wrap_main(int argc, char **argv)
{
    const int code = __real_main(argc, argv);
    return code == 0 && skips > 0 ? SKIPPED : code;
}

_Noreturn void __wrap__skip(const char *file, int line)
{
    skips++;
    __real__skip(file, line);
}
