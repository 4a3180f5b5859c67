/* SPDX-License-Identifier: Apache-2.0
 * Writes the samples of a landscape to standard output, for the demo: its heights as float32, or a
 * picture of it as red, green and blue. The samples are the same on every machine: there is nothing
 * in it but sums, products and square roots.
 *
 *     terrain heights|picture SIZE */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OCTAVES    9
#define NODATA     (-9999.0)
#define LAKE_LEVEL 480.0

/* Noise ---------------------------------------------------------------------------------------- */

/* 0 to 1, for each corner of each lattice. */
static double corner(uint32_t lattice, uint32_t x, uint32_t y)
{
    uint32_t h = x * 0x9E3779B1u ^ y * 0x85EBCA77u ^ lattice * 0xC2B2AE3Du;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    h = (h ^ h >> 12) * 0x297A2D39u;
    return (h ^ h >> 15) / 4294967295.0;
}

static double smooth(double fraction)
{
    return fraction * fraction * (3 - 2 * fraction);
}

/* A row of a lattice with cells of so many pixels, smoothly interpolated, 0 to 1. line has room for
 * its corners at that row. */
static void make_noise(double *row, double *line, int size, int y, int cell, uint32_t lattice)
{
    const int corners = size / cell + 2;
    const double down = smooth((double)(y % cell) / cell);
    for (int i = 0; i < corners; i++) {
        const double above = corner(lattice, (uint32_t)i, (uint32_t)(y / cell));
        const double below = corner(lattice, (uint32_t)i, (uint32_t)(y / cell) + 1);
        line[i] = above + (below - above) * down;
    }
    for (int x = 0; x < size; x++) {
        const int i = x / cell;
        row[x] = line[i] + (line[i + 1] - line[i]) * smooth((double)(x % cell) / cell);
    }
}

/* Land ----------------------------------------------------------------------------------------- */

typedef struct land {
    int size;
    double *line;
    double *noise;
    double *weight;
    double *edge; /* how far the survey reaches in, by rows */
} land;

/* Ridges where a lattice passes its middle, and smaller ones upon them, the more the higher:
 * valleys stay smooth. Lakes are level. */
static void make_row(const land *l, int y, double *row)
{
    static const int cells[OCTAVES] = {1361, 709, 353, 181, 89, 47, 23, 11, 5};
    double height = 1150;
    for (int x = 0; x < l->size; x++) {
        row[x] = 250;
        l->weight[x] = 1;
    }
    for (uint32_t i = 0; i < OCTAVES; i++) {
        make_noise(l->noise, l->line, l->size, y, cells[i], i + 1);
        for (int x = 0; x < l->size; x++) {
            const double ridge = 1 - fabs(2 * l->noise[x] - 1);
            row[x] += height * l->weight[x] * ridge * ridge;
            l->weight[x] = 0.12 + 0.88 * l->weight[x] * ridge;
        }
        height *= 0.56;
    }
    for (int x = 0; x < l->size; x++)
        row[x] = row[x] < LAKE_LEVEL ? LAKE_LEVEL : floor(row[x] * 100 + 0.5) / 100;
}

static int is_surveyed(const land *l, int x, int y)
{
    return x > 60 + 300 * l->edge[y] && x < l->size - 40 - 200 * l->edge[l->size - 1 - y];
}

/* Outputs -------------------------------------------------------------------------------------- */

static void put_heights(const land *l, int y, const double *row)
{
    for (int x = 0; x < l->size; x++) {
        const float value = (float)(is_surveyed(l, x, y) ? row[x] : NODATA);
        fwrite(&value, sizeof value, 1, stdout);
    }
}

/* Colours by height, from shore to snow. */
static void color_of(double height, double steepness, double rgb[3])
{
    static const double steps[][4] = {{LAKE_LEVEL, 150, 160, 110}, {500, 112, 146, 78},
                                      {1000, 62, 104, 48},         {1450, 92, 110, 62},
                                      {1800, 132, 122, 104},       {2150, 238, 240, 244}};
    const int last = sizeof steps / sizeof steps[0] - 1;
    int i = 0;
    while (i < last - 1 && height > steps[i + 1][0])
        i++;
    double fraction = (height - steps[i][0]) / (steps[i + 1][0] - steps[i][0]);
    fraction = fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
    const double rock = steepness > 1 ? 1 : steepness;
    for (int k = 0; k < 3; k++) {
        rgb[k] = steps[i][k + 1] + (steps[i + 1][k + 1] - steps[i][k + 1]) * fraction;
        rgb[k] += (118 - 6 * k - rgb[k]) * rock * 0.6;
    }
}

/* In the light of the north-west. */
static void put_picture(const land *l, const double *row, const double *below)
{
    for (int x = 0; x < l->size; x++) {
        const double east = (row[x + 1 < l->size ? x + 1 : x] - row[x]) / 10;
        const double south = (below[x] - row[x]) / 10;
        const double steep = east * east + south * south;
        const double light = (0.75 + 0.6 * (east + south)) / sqrt(1 + steep);
        const double shade = light < 0.25 ? 0.25 : light > 1.3 ? 1.3 : light;
        double rgb[3] = {44, 88, 128};
        if (row[x] > LAKE_LEVEL)
            color_of(row[x], steep * 2, rgb);
        for (int k = 0; k < 3; k++) {
            const double value = rgb[k] * (row[x] > LAKE_LEVEL ? 0.3 + 0.9 * shade : 1);
            putchar(value > 255 ? 255 : (int)value);
        }
    }
}

int main(int argc, char **argv)
{
    const int size = argc == 3 ? atoi(argv[2]) : 0;
    if (size < 16 || size > 32768) {
        fputs("usage: terrain heights|picture SIZE\n", stderr);
        return 2;
    }
    land l = {.size = size};
    l.line = calloc((size_t)size + 2, sizeof *l.line);
    l.noise = calloc((size_t)size, sizeof *l.noise);
    l.weight = calloc((size_t)size, sizeof *l.weight);
    l.edge = calloc((size_t)size, sizeof *l.edge);
    double *row = calloc((size_t)size, sizeof *row);
    double *below = calloc((size_t)size, sizeof *below);
    if (l.line == NULL || l.noise == NULL || l.weight == NULL || l.edge == NULL || row == NULL ||
        below == NULL)
        return 1;
    make_noise(l.edge, l.line, size, 0, 300, 77);
    make_row(&l, 0, below);
    for (int y = 0; y < size; y++) {
        double *free_one = row;
        row = below;
        below = free_one;
        make_row(&l, y + 1, below);
        if (strcmp(argv[1], "picture") == 0)
            put_picture(&l, row, below);
        else
            put_heights(&l, y, row);
    }
    free(l.line);
    free(l.noise);
    free(l.weight);
    free(l.edge);
    free(row);
    free(below);
    return fflush(stdout) == 0 ? 0 : 1;
}
