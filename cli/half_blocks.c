/* SPDX-License-Identifier: Apache-2.0
 * A picture in the terminal. The block elements U+2580 and U+2584 divide a cell into two halves,
 * one with the foreground colour and one with the background colour, so that a line of text shows
 * two rows of pixels. Colours are set only when they change. */
#include "half_blocks.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal.h"

#define UPPER_HALF "\xe2\x96\x80" /* U+2580 */
#define LOWER_HALF "\xe2\x96\x84" /* U+2584 */

typedef struct half_blocks {
    bool deep; /* 24-bit colours; else the cube of 216 */
    uint32_t width;
} half_blocks;

/* A pixel; no colour is transparent. */
typedef struct ink {
    bool seen;
    unsigned char rgb[3];
} ink;

static bool same_ink(const ink *a, const ink *b)
{
    return a->seen == b->seen && (!a->seen || memcmp(a->rgb, b->rgb, 3) == 0);
}

static ink ink_at(const unsigned char *row, uint32_t column)
{
    const unsigned char *pixel = row + 4 * (size_t)column;
    return (ink){.seen = pixel[3] >= 128, .rgb = {pixel[0], pixel[1], pixel[2]}};
}

/* In colour ------------------------------------------------------------------------------------ */

/* The steps of the cube are 0, 95, 135, 175, 215 and 255. */
static unsigned cube_step(unsigned char value)
{
    return value < 48 ? 0 : value < 115 ? 1 : (value - 35u) / 40u;
}

/* After the cube there are 24 greys, from 8 in steps of 10. */
static unsigned nearest_of_256(const unsigned char rgb[3])
{
    unsigned step = (rgb[0] - 4u) / 10u;
    if (rgb[0] == rgb[1] && rgb[1] == rgb[2] && rgb[0] >= 4 && rgb[0] < 247)
        return 232 + (step < 24 ? step : 23);
    return 16 + 36 * cube_step(rgb[0]) + 6 * cube_step(rgb[1]) + cube_step(rgb[2]);
}

/* role: 38 for the letter, 48 for its background (ECMA-48, SGR). */
static void set_cell_color(const half_blocks *h, int role, const ink *i)
{
    if (!i->seen)
        printf("\x1b[%dm", role + 1); /* the terminal's default */
    else if (h->deep)
        printf("\x1b[%d;2;%u;%u;%um", role, i->rgb[0], i->rgb[1], i->rgb[2]);
    else
        printf("\x1b[%d;5;%um", role, nearest_of_256(i->rgb));
}

static void put_colored(const half_blocks *h, const unsigned char *above,
                        const unsigned char *below)
{
    ink letter = {.seen = false};
    ink ground = {.seen = false};
    for (uint32_t x = 0; x < h->width; x++) {
        ink top = ink_at(above, x);
        ink bottom = below != NULL ? ink_at(below, x) : (ink){.seen = false};
        bool lower = !top.seen; /* the visible half is the letter, the other its background */
        const ink *new_letter = lower ? &bottom : &top;
        const ink *new_ground = lower ? &top : &bottom;
        if (new_letter->seen && !same_ink(new_letter, &letter))
            set_cell_color(h, 38, new_letter);
        if (!same_ink(new_ground, &ground))
            set_cell_color(h, 48, new_ground);
        letter = new_letter->seen ? *new_letter : letter;
        ground = *new_ground;
        fputs(!new_letter->seen ? " " : lower ? LOWER_HALF : UPPER_HALF, stdout);
    }
    fputs("\x1b[0m\n", stdout);
}

/* In letters ----------------------------------------------------------------------------------- */

/* Luma by ITU-R BT.601; a transparent pixel is black. */
static unsigned brightness(const ink *i)
{
    return i->seen ? (299u * i->rgb[0] + 587u * i->rgb[1] + 114u * i->rgb[2]) / 1000u : 0;
}

static void put_letters(uint32_t width, const unsigned char *above, const unsigned char *below)
{
    static const char ramp[] = " .:-=+*#%@";
    for (uint32_t x = 0; x < width; x++) {
        ink top = ink_at(above, x);
        ink bottom = below != NULL ? ink_at(below, x) : top;
        putchar(ramp[(brightness(&top) + brightness(&bottom)) * 5u / 256u]);
    }
    putchar('\n');
}

/* Rows ----------------------------------------------------------------------------------------- */

void half_blocks_print(const unsigned char *rgba, uint32_t width, uint32_t height)
{
    const char *depth = getenv("COLORTERM");
    const half_blocks h = {.deep = depth != NULL &&
                                   (strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0),
                           .width = width};
    for (uint32_t y = 0; y < height; y += 2) {
        const unsigned char *above = rgba + 4 * (size_t)width * y;
        const unsigned char *below = y + 1 < height ? above + 4 * (size_t)width : NULL;
        if (term_has_color())
            put_colored(&h, above, below);
        else
            put_letters(width, above, below);
    }
}
