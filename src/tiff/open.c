/* SPDX-License-Identifier: Apache-2.0
 * Opening: bytes -> header -> directories -> pages, levels, masks -> descriptive tags -> sidecars.
 *
 * read_file_structure is the list of the steps. State that is needed only while opening lives in
 * `opening` and is released at the end; everything else goes to the tz_file, mostly to its arena. A
 * defect that costs only a part of the file (an overview, a description, a sidecar) is a warning.
 *
 * A file that was opened with a single read is not checked for changes: one read gives one state of
 * a local file, and the check would be one more system call. */
#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "io/source.h"
#include "tiff/file.h"
#include "tiff/gdal/sidecar.h"
#include "tiff/page.h"
#include "tiff/tags.h"

/* The state of opening. ctx names the file, or the sidecar that is being read. */
typedef struct opening {
    tz_file *file;
    tz_open_options options;
    const char *path; /* NULL: no sidecars */
    tz_context ctx;
    tz_reader reader;
    tz_ifd_walk walk;
    tz_page_ifds page_ifds;
} opening;

/* ---- the main file ---- */

/* Walks the chain of the file, and then the SubIFDs of the chosen page; those of other pages belong
 * to them. Both walks share the set of visited offsets, so that a directory counts once. */
static tz_result read_main_ifds(opening *open)
{
    tz_container *main = &open->file->containers[0];
    const tz_page_ifds *page_ifds = &open->page_ifds;
    main->size = main->source->size;
    TZ_TRY(tz_reader_open(&open->reader, main, &open->ctx));
    TZ_TRY(tz_ghost_read(&open->file->ghost, &open->reader, &open->ctx));
    open->page_ifds.reader = &open->reader;
    open->page_ifds.page = open->options.page;
    open->walk = (tz_ifd_walk){.reader = &open->reader,
                               .ctx = &open->ctx,
                               .progress = &open->options.progress,
                               .page_ifds = &open->page_ifds,
                               .list = TZ_IFD_MAIN_CHAIN};
    TZ_TRY(tz_ifd_walk_chain(&open->walk, main->first_ifd));
    open->file->info.chain_complete = open->walk.complete;
    if (!page_ifds->has_base) {
        const tz_location location =
            tz_expecting(tz_no_location(), page_ifds->page_count, page_ifds->page);
        if (!open->walk.complete)
            return TZ_FAIL_IFD(&open->ctx, location,
                               "page %u was not found: the chain of directories is broken",
                               page_ifds->page);
        return tz_fail(&open->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, location,
                       "there is no page %u; pages are counted from 0", page_ifds->page);
    }
    open->walk.list = TZ_IFD_SUB_IFDS;
    return tz_ifd_walk_sub_ifds(&open->walk, &page_ifds->base.sub_ifds);
}

/* ---- sidecars ---- */

/* Reads a TIFF beside the file, whose directories are overviews or masks of it. A missing sidecar
 * is ignored; a broken one is a warning, and the layers that came before the defect stay. */
static tz_result read_sidecar(opening *open, uint8_t sidecar, const char *suffix)
{
    tz_file *file = open->file;
    tz_error failed;
    const tz_context outer = open->ctx;
    const char *path = NULL;
    TZ_TRY(tz_sidecar_find(open->path, sidecar, &file->arena, &open->ctx, &path));
    if (!path)
        return TZ_OK;
    open->ctx.err = &failed;
    open->ctx.name = path;
    tz_container *container = &file->containers[file->container_count];
    *container = (tz_container){.sidecar = sidecar, .path = path};
    tz_result result = tz_source_open_file(&container->source, path, true, &open->ctx);
    if (result == TZ_OK) {
        tz_reader reader;
        tz_ifd_walk walk = {.reader = &reader,
                            .ctx = &open->ctx,
                            .progress = &open->options.progress,
                            .page_ifds = &open->page_ifds,
                            .list = TZ_IFD_SIDECAR};
        container->size = container->source->size;
        open->page_ifds.reader = &reader;
        open->page_ifds.sidecar = sidecar;
        open->page_ifds.container = (uint8_t)file->container_count++;
        result = tz_reader_open(&reader, container, &open->ctx);
        if (result == TZ_OK)
            result = tz_ifd_walk_chain(&walk, container->first_ifd);
        file->info.bytes_read += reader.bytes_read;
        file->info.reads += (uint32_t)reader.reads;
        tz_ifd_walk_deinit(&walk);
        tz_reader_close(&reader);
    }
    open->ctx = outer;
    return result == TZ_OK ? TZ_OK : tz_warn_from_error(&open->ctx, &failed, suffix);
}

/* ---- from directories to info ---- */

/* Arranges the layers of the page as levels and masks. The arrays of masks exist only if there are
 * candidates, and are shown only if one was assigned. */
static tz_result make_levels(opening *open)
{
    tz_file *file = open->file;
    tz_page_pyramid pyramid = {0};
    const uint32_t images = tz_page_image_count(&open->page_ifds);
    const bool masks = tz_page_mask_count(&open->page_ifds) > 0;
    pyramid.levels = tz_arena_array(&file->arena, images, sizeof *pyramid.levels);
    pyramid.level_tables = tz_arena_array(&file->arena, images, sizeof *pyramid.level_tables);
    if (masks) {
        pyramid.masks = tz_arena_array(&file->arena, images, sizeof *pyramid.masks);
        pyramid.mask_tables = tz_arena_array(&file->arena, images, sizeof *pyramid.mask_tables);
    }
    if (!pyramid.levels || !pyramid.level_tables ||
        (masks && (!pyramid.masks || !pyramid.mask_tables)))
        return tz_fail_nomem(&open->ctx, (uint64_t)images * sizeof(tz_layer));
    TZ_TRY(tz_page_arrange_levels(&open->page_ifds, &pyramid, &open->ctx));
    bool any_mask = false;
    for (uint32_t i = 0; i < pyramid.count; i++)
        any_mask = any_mask || pyramid.levels[i].has_mask;
    file->level_tables = pyramid.level_tables;
    file->mask_tables = pyramid.mask_tables;
    file->levels = pyramid.levels;
    file->info.level_count = pyramid.count;
    file->masks = any_mask ? pyramid.masks : NULL;
    return TZ_OK;
}

/* Reports the sidecars with levels or masks that are in use, then reads the other sidecars. Defects
 * of those are not about the image, so that tz_validate leaves them out. */
static tz_result load_sidecar_descriptions(opening *open)
{
    tz_file *file = open->file;
    const tz_info *info = &file->info;
    for (unsigned i = 1; i < file->container_count; i++) {
        const tz_container *container = &file->containers[i];
        uint32_t values = 0;
        for (uint32_t k = 0; k < info->level_count; k++) {
            if (file->levels[k].sidecar == container->sidecar)
                values |= TZ_SIDECAR_VALUE_OVERVIEWS;
            if (file->levels[k].has_mask && file->masks[k].sidecar == container->sidecar)
                values |= TZ_SIDECAR_VALUE_MASKS;
        }
        TZ_TRY(tz_sidecar_add_use(file, container->sidecar, values, container->path, &open->ctx));
    }
    file->own_warnings = file->warnings.count;
    if (!open->path)
        return TZ_OK;
    TZ_TRY(tz_sidecars_load(file, open->path, &open->ctx));
    return file->sidecars & TZ_SIDECAR_AUX ? tz_geo_require_crs(&file->geo, &open->ctx) : TZ_OK;
}

/* Sets the facts that the descriptive tags are checked against. */
static void set_image_info(tz_file *file, const tz_ifd *ifd)
{
    tz_info *info = &file->info;
    info->width = ifd->width;
    info->height = ifd->height;
    info->bands = ifd->samples;
    info->dtype = file->level_tables[0].dtype;
    info->bits_per_sample = ifd->bits;
    info->sample_format = ifd->sample_format;
    info->photometric = ifd->photometric;
    info->planar = ifd->planar;
    info->orientation = ifd->orientation;
    info->fill_order = ifd->fill_order;
    info->ycbcr_subsampling[0] = 2;
    info->ycbcr_subsampling[1] = 2;
}

/* Sets the facts that are final only at the end: reads, warnings, and the pages, whose memory moves
 * to the handle. */
static void set_file_info(opening *open)
{
    tz_file *file = open->file;
    tz_info *info = &file->info;
    info->file_size = file->containers[0].size;
    info->bigtiff = file->containers[0].bigtiff;
    info->big_endian = file->containers[0].big_endian;
    info->ifd_count = (uint32_t)open->walk.count;
    info->directory_end = open->reader.end;
    info->bytes_read += open->reader.bytes_read;
    info->reads += (uint32_t)open->reader.reads;
    info->page_count = open->page_ifds.page_count;
    file->pages = open->page_ifds.pages;
    open->page_ifds.pages = NULL;
    info->warning_count = file->warnings.count;
    info->warnings_dropped = file->warnings.dropped;
}

/* Finds a directory of another kind (EXIF, GPS). It is read on demand, and must not be one of the
 * images. */
static tz_result find_linked_ifd(opening *open, const tz_tag_ref *value, uint16_t tag,
                                 uint64_t *out)
{
    const tz_container *container = &open->file->containers[0];
    uint64_t offset = 0;
    *out = TZ_NO_VALUE;
    if (value->count == 0)
        return TZ_OK;
    TZ_TRY(tz_tag_ref_integer(&open->reader, value, tag, 0, &open->ctx, &offset));
    if (tz_ifd_walk_has_visited(&open->walk, offset))
        return TZ_WARN_IFD(&open->ctx, tz_at_tag(tag, offset),
                           "points at an image directory; ignored");
    if (offset < tz_header_size(container) ||
        !tz_inside(container, offset, tz_ifd_entry_count_size(container)))
        return TZ_WARN_IFD(&open->ctx,
                           tz_expecting(tz_at_tag(tag, offset), container->size, offset),
                           "points outside the file or into its header; ignored");
    *out = offset;
    return TZ_OK;
}

static void log_opened(const opening *open)
{
    const tz_info *info = &open->file->info;
    tz_source *source = open->file->containers[0].source;
    if (!open->options.log.call)
        return;
    const tz_source members = tz_source_members(source);
    const char *identity = members.identity ? members.identity(source) : NULL;
    tz_log_line(&open->options.log, TZ_LOG_LEVEL_DEBUG,
                "%s: %u directories in %u reads of %llu bytes%s%s", info->name, info->ifd_count,
                info->reads, (unsigned long long)info->bytes_read, identity ? ", identity " : "",
                identity ? identity : "");
}

/* The steps of opening, in the order in which they depend on each other. The sidecars with levels
 * come before the levels are arranged, those that describe the image after its own tags. */
static tz_result read_file_structure(opening *open)
{
    tz_file *file = open->file;
    const tz_ifd *base = &open->page_ifds.base;
    TZ_TRY(read_main_ifds(open));
    if (open->path && (open->options.sidecars & TZ_SIDECAR_OVR))
        TZ_TRY(read_sidecar(open, TZ_SIDECAR_OVR, ".ovr"));
    if (open->path && (open->options.sidecars & TZ_SIDECAR_MSK))
        TZ_TRY(read_sidecar(open, TZ_SIDECAR_MSK, ".msk"));
    TZ_TRY(make_levels(open));
    open->ctx.ifd = file->levels[0].ifd;
    set_image_info(file, base);
    TZ_TRY(tz_file_load_tags(file, base, &open->reader, &open->ctx));
    TZ_TRY(find_linked_ifd(open, &base->exif, TZ_TAG_EXIF_IFD, &file->info.exif_ifd));
    TZ_TRY(find_linked_ifd(open, &base->gps, TZ_TAG_GPS_IFD, &file->info.gps_ifd));
    file->info.page = open->page_ifds.page;
    TZ_TRY(load_sidecar_descriptions(open));
    TZ_TRY(tz_file_describe(file, &open->ctx));
    if (!open->path || file->info.reads + open->reader.reads > 1)
        for (unsigned i = 0; i < file->container_count; i++)
            TZ_TRY(tz_source_check(file->containers[i].source, &open->ctx));
    set_file_info(open);
    log_opened(open);
    return TZ_OK;
}

/* ---- the handle ---- */

/* A tz_file and its cache, in one block: an open file costs few allocations. */
typedef struct file_handle {
    tz_file file;
    tz_table_cache cache;
} file_handle;

/* Opens a source, which belongs to the handle from now on, also after a failure. path is NULL if
 * there are no sidecars. */
static tz_result open_handle(tz_file **out, tz_source *source, const char *path, const char *name,
                             const tz_open_options *options, const tz_context *ctx)
{
    file_handle *handle = tz_alloc_zeroed(1, sizeof *handle);
    if (!handle) {
        tz_source_close(source);
        return tz_fail_nomem(ctx, sizeof *handle);
    }
    tz_file *file = &handle->file;
    tz_table_cache_init(&handle->cache);
    file->cache = &handle->cache;
    file->containers[0].source = source;
    file->container_count = 1;
    file->limits = *options->limits;
    file->geo = (tz_geo){.struct_size = sizeof file->geo, .coordinate_epoch = NAN};
    file->info.geo = &file->geo;
    file->info.ghost = &file->ghost;
    file->sidecars = path ? options->sidecars : 0;
    file->strict = options->strict;
    file->info.name = tz_arena_text(&file->arena, name, strlen(name));
    opening open = {.file = file,
                    .options = *options,
                    .path = path,
                    .ctx = {.name = file->info.name,
                            .limits = &file->limits,
                            .err = ctx->err,
                            .warnings = &file->warnings,
                            .log = &options->log,
                            .strict = options->strict,
                            .require_crs = options->require_crs,
                            .ifd = -1}};
    const tz_result result =
        file->info.name ? read_file_structure(&open) : tz_fail_nomem(&open.ctx, strlen(name) + 1);
    tz_page_ifds_deinit(&open.page_ifds);
    tz_ifd_walk_deinit(&open.walk);
    tz_reader_close(&open.reader);
    if (result == TZ_OK)
        *out = file;
    else
        tz_close(file);
    return result;
}

/* Copies the options, and to *limits those that they point to, with all defaults filled in. */
static tz_result copy_open_options(tz_open_options *out, tz_limits *limits,
                                   const tz_open_options *given, const tz_context *ctx)
{
    *out = (tz_open_options)TZ_OPEN_OPTIONS_INIT;
    TZ_TRY(tz_copy_struct(out, sizeof *out, given, "options", "TZ_OPEN_OPTIONS_INIT", ctx));
    TZ_TRY(tz_limits_copy(limits, out->limits, "options->limits", ctx));
    out->limits = limits;
    return TZ_OK;
}

tz_result tz_open(tz_file **out, const char *path, const tz_open_options *options, tz_error *err)
{
    const tz_context ctx = {.name = path, .err = err, .ifd = -1};
    tz_open_options copied;
    tz_limits limits;
    tz_source *source = NULL;
    if (!out || !path)
        return TZ_FAIL_ARG(&ctx, "out and path must not be NULL");
    TZ_TRY(copy_open_options(&copied, &limits, options, &ctx));
    TZ_TRY(tz_source_open_file(&source, path, false, &ctx));
    return open_handle(out, source, path, path, &copied, &ctx);
}

tz_result tz_open_memory(tz_file **out, const void *data, size_t size,
                         const tz_open_options *options, tz_error *err)
{
    const tz_context ctx = {.name = "memory", .err = err, .ifd = -1};
    tz_open_options copied;
    tz_limits limits;
    tz_source *source = NULL;
    if (!out || (!data && size > 0))
        return TZ_FAIL_ARG(&ctx, "out and data must not be NULL");
    TZ_TRY(copy_open_options(&copied, &limits, options, &ctx));
    TZ_TRY(tz_source_open_memory(&source, data, size, &ctx));
    return open_handle(out, source, NULL, "memory", &copied, &ctx);
}

tz_result tz_open_source(tz_file **out, tz_source *source, const char *name,
                         const tz_open_options *options, tz_error *err)
{
    const tz_context ctx = {.name = name, .err = err, .ifd = -1};
    tz_open_options copied;
    tz_limits limits;
    bool is_usable;
    if (!source)
        return TZ_FAIL_ARG(&ctx, "source must not be NULL");
    tz_result result = tz_source_check_struct(source, &is_usable, &ctx);
    if (result == TZ_OK)
        result = out ? copy_open_options(&copied, &limits, options, &ctx)
                     : TZ_FAIL_ARG(&ctx, "out must not be NULL");
    if (result != TZ_OK) {
        if (is_usable)
            tz_source_close(source);
        return result;
    }
    return open_handle(out, source, NULL, name ? name : "source", &copied, &ctx);
}

void tz_close(tz_file *file)
{
    if (!file)
        return;
    for (unsigned i = 0; i < file->container_count; i++)
        tz_source_close(file->containers[i].source);
    tz_metadata_deinit(&file->metadata);
    tz_warnings_deinit(&file->warnings);
    tz_free(file->pages);
    tz_arena_deinit(&file->arena);
    tz_table_cache_deinit(file->cache);
    tz_free(file); /* the first member of its handle */
}
