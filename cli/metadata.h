/* SPDX-License-Identifier: Apache-2.0
 * The items of GDAL_METADATA in order of band, domain and name. Of items with the same name the
 * last one holds, as in GDAL. Items that describe a band (scale, unit, ...) are left out: see
 * tz_band. */
#ifndef CLI_METADATA_H
#define CLI_METADATA_H

#include <terrazzo/terrazzo.h>

typedef struct meta_list {
    const tz_file *file;
    uint32_t *order; /* indices of items, sorted */
    uint32_t count;
} meta_list;

/* Returns TZ_ERR_NOMEM if there is no memory for the order. meta_close accepts a zeroed list. */
tz_result meta_open(meta_list *list, const tz_file *file);
void meta_close(meta_list *list);

/* Gets items one by one: *at starts at 0, or at the result of meta_find. false at the end. */
const tz_metadata_item *meta_next(const meta_list *list, uint32_t *at);
/* Returns the index of the first item of this band or a later one (-1: the whole image). */
uint32_t meta_find(const meta_list *list, int32_t band);
/* Returns the value of one item; NULL: there is none. */
const char *meta_value(const meta_list *list, int32_t band, const char *domain, const char *name);

#endif
