/* SPDX-License-Identifier: Apache-2.0
 * Compares the layout: properties of each level and of the file are put into words, and words that
 * differ become a fact. Values that print the same count as the same. */
#include <inttypes.h>
#include <string.h>

#include "diff.h"
#include "info.h"
#include "text.h"

/* Describes a property of a level in words. */
typedef void (*level_words)(diff_fact *fact, int side, const tz_level *level);

static void tile_words(diff_fact *fact, int side, const tz_level *l)
{
    if (l->tiled)
        diff_text(fact, side, "%" PRIu32 " x %" PRIu32, l->tile_width, l->tile_height);
    else
        diff_text(fact, side, "strips of %" PRIu32 " row%s", l->tile_height,
                  text_plural(l->tile_height));
}

static void compression_words(diff_fact *fact, int side, const tz_level *l)
{
    char buffer[TEXT_NUMBER];
    diff_text(fact, side, "%s",
              l->compression == TZ_COMPRESSION_NONE ? "none" : info_codec(l, buffer));
}

static void predictor_words(diff_fact *fact, int side, const tz_level *l)
{
    diff_text(fact, side, "%u", (unsigned)l->predictor);
}

static void bits_words(diff_fact *fact, int side, const tz_level *l)
{
    diff_text(fact, side, "%u", (unsigned)l->bits_per_sample);
}

static void container_words(diff_fact *fact, int side, const tz_level *l)
{
    diff_text(fact, side, "%s", l->sidecar != 0 ? "a file beside it" : "the file itself");
}

static tz_result compare_levels(diff *d, tz_error *err)
{
    static const struct {
        const char *what;
        level_words words;
    } properties[] = {{"tiles", tile_words},
                      {"compression", compression_words},
                      {"predictor", predictor_words},
                      {"bits per sample", bits_words},
                      {"stored in", container_words}};
    const tz_info *a = d->sides[0].info;
    const tz_info *b = d->sides[1].info;
    for (uint32_t i = 0; i < a->level_count && i < b->level_count; i++) {
        for (size_t p = 0; p < sizeof properties / sizeof properties[0]; p++) {
            diff_fact fact = {.part = DIFF_LAYOUT, .level = i, .what = properties[p].what};
            properties[p].words(&fact, 0, tz_file_get_level(d->sides[0].file, i));
            properties[p].words(&fact, 1, tz_file_get_level(d->sides[1].file, i));
            tz_result result = diff_add_fact(d, &fact, err);
            if (result != TZ_OK)
                return result;
        }
    }
    return TZ_OK;
}

static void cog_words(diff_fact *fact, int side, const diff_side *s)
{
    uint32_t problems;
    tz_error err;
    if (tz_file_get_cog_problems(&problems, s->file, &err) != TZ_OK)
        diff_text(fact, side, "unknown");
    else
        diff_text(fact, side, "%s", (problems & ~TZ_COG_PROBLEM_REMARKS) == 0 ? "yes" : "no");
}

static void file_words(diff_fact *fact, int side, const diff_side *s)
{
    const tz_info *info = s->info;
    if (strcmp(fact->what, "format") == 0)
        diff_text(fact, side, "%s", info->bigtiff ? "BigTIFF" : "classic TIFF");
    else if (strcmp(fact->what, "byte order") == 0)
        diff_text(fact, side, "%s", info->big_endian ? "big-endian" : "little-endian");
    else if (strcmp(fact->what, "bands stored") == 0)
        diff_text(fact, side, "%s",
                  info->bands == 1                     ? "one"
                  : info->planar == TZ_PLANAR_SEPARATE ? "by band"
                                                       : "by pixel");
    else if (strcmp(fact->what, "pages") == 0)
        diff_text(fact, side, "%" PRIu32, info->page_count);
    else
        cog_words(fact, side, s);
}

tz_result diff_compare_layout(diff *d, tz_error *err)
{
    static const char *const whats[] = {"format", "byte order", "bands stored", "pages", "COG"};
    for (size_t i = 0; i < sizeof whats / sizeof whats[0]; i++) {
        diff_fact fact = {.part = DIFF_LAYOUT, .level = DIFF_NONE, .what = whats[i]};
        file_words(&fact, 0, &d->sides[0]);
        file_words(&fact, 1, &d->sides[1]);
        tz_result result = diff_add_fact(d, &fact, err);
        if (result != TZ_OK)
            return result;
    }
    tz_result result = diff_compare_overviews(d, DIFF_LAYOUT, err);
    return result == TZ_OK ? compare_levels(d, err) : result;
}
