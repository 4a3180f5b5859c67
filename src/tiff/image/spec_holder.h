/* SPDX-License-Identifier: Apache-2.0
 * A specification with the memory it owns: the allocation that tz_image_spec_create and
 * tz_image_spec_from_file return, and that tz_image_spec_free releases. */
#ifndef TZ_TIFF_IMAGE_SPEC_HOLDER_H
#define TZ_TIFF_IMAGE_SPEC_HOLDER_H

#include "base/arena.h"
#include "base/error.h"

typedef struct tz_spec_holder {
    tz_image_spec spec; /* the first member: the caller has a pointer to it */
    tz_arena arena;     /* owns everything that spec points to */
} tz_spec_holder;

/* Copies the keys of *geo, and their values, to arena. Text ends at its first NUL, because the
 * standard allows none inside. A key without a value is left out. */
tz_result tz_copy_geo_keys(tz_arena *arena, tz_geo *geo, const tz_context *ctx);

/* A change of a specification that is being made: a copy of the struct, which points to memory of
 * the arena. tz_spec_edit_end replaces the specification by the copy if result is TZ_OK. */
typedef struct tz_spec_edit {
    tz_image_spec next;
    tz_spec_holder *holder;
    tz_context ctx;
} tz_spec_edit;
tz_spec_edit tz_spec_edit_begin(tz_image_spec *spec, tz_error *err);
tz_result tz_spec_edit_end(tz_spec_edit *edit, tz_result result);

/* Allocates count elements, zeroed. out is the address of the pointer to them. */
tz_result tz_spec_edit_alloc(tz_spec_edit *edit, uint64_t count, size_t size, void *out);
/* Copies the list of items, not their texts, with room for one more. */
tz_result tz_spec_edit_copy_items(tz_spec_edit *edit, tz_metadata_item **out);
tz_result tz_spec_edit_drop_tags(tz_spec_edit *edit, const uint16_t *dropped, size_t count);
/* Drops tags that have a value for each band, or for each value of a sample: extremes, response
 * curves and inks. */
tz_result tz_spec_edit_drop_sample_tags(tz_spec_edit *edit);

/* Makes a copy of the georeferencing, an empty one if there is none; drops one that says nothing.
 */
tz_result tz_spec_edit_geo(tz_spec_edit *edit, tz_geo **out);
void tz_spec_edit_leave_out_empty_geo(tz_spec_edit *edit);

bool tz_item_has_role(const tz_metadata_item *item, const char *role);

/* Returns true for an item that a file has as a tag or a GeoKey: TIFFTAG_..., AREA_OR_POINT. */
bool tz_item_is_of_tag(const tz_metadata_item *item);
/* Sets or removes the tag or the key of such an item, and drops items of that name. */
tz_result tz_spec_edit_set_tag_item(tz_spec_edit *edit, const tz_metadata_item *item);

#endif
