/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/alloc_hook.h"

/* Fail the test at the caller's line. */
static void fail_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void fail_at(const char *file, int line, const char *format, ...)
{
    char text[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    print_error("%s\n", text);
    _fail(file, line);
}

/* Handles that are open now; memory is counted from the moment that there is one. */
static unsigned open_handles;

int check_begin(void **state)
{
    (void)state;
    open_handles = 0; /* a test that failed may have left some */
    return 0;
}

/* ---------------------------------------------------------------------------------------------
 * Sources
 * ------------------------------------------------------------------------------------------ */

typedef struct counting_source {
    tz_source source;
    tz_source *inner;
    const uint8_t *data;
    check_reads *reads;
} counting_source;

static tz_result copy_ranges(const counting_source *self, const tz_request *request, tz_error *err)
{
    for (size_t i = 0; i < request->count; i++) {
        const tz_range *range = &request->ranges[i];
        if (range->offset > self->source.size || range->size > self->source.size - range->offset)
            return tz_error_set(err, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED, range->offset,
                                "read past the end");
        if (range->size)
            memcpy(range->dst, self->data + range->offset, range->size);
    }
    return TZ_OK;
}

static tz_result counting_submit(tz_source *source, tz_request *request, tz_error *err)
{
    counting_source *self = (counting_source *)source;
    self->reads->submits++;
    self->reads->ranges += request->count;
    for (size_t i = 0; i < request->count; i++)
        self->reads->bytes += request->ranges[i].size;
    return self->inner ? self->inner->submit(self->inner, request, err)
                       : copy_ranges(self, request, err);
}

static tz_result counting_wait(tz_source *source, tz_request *request, tz_error *err)
{
    counting_source *self = (counting_source *)source;
    return self->inner ? self->inner->wait(self->inner, request, err) : TZ_OK;
}

static tz_result counting_check(tz_source *source, tz_error *err)
{
    counting_source *self = (counting_source *)source;
    self->reads->checks++;
    if (self->reads->changed)
        return tz_error_set(err, TZ_ERR_CHANGED, TZ_CAUSE_CHANGED, TZ_NO_VALUE, "changed");
    return self->inner && self->inner->check ? self->inner->check(self->inner, err) : TZ_OK;
}

static void counting_close(tz_source *source)
{
    counting_source *self = (counting_source *)source;
    self->reads->closes++;
    if (self->inner)
        self->inner->close(self->inner);
    free(self);
}

static counting_source *new_source(uint64_t size, check_reads *reads)
{
    counting_source *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    self->source = (tz_source){.struct_size = sizeof(tz_source),
                               .size = size,
                               .submit = counting_submit,
                               .wait = counting_wait,
                               .check = counting_check,
                               .close = counting_close};
    self->reads = reads;
    return self;
}

tz_source *check_source_memory(const void *data, size_t size, check_reads *reads)
{
    counting_source *self = new_source(size, reads);
    self->data = data;
    return &self->source;
}

tz_source *check_source_over(tz_source *inner, check_reads *reads)
{
    counting_source *self = new_source(inner->size, reads);
    self->inner = inner;
    return &self->source;
}

/* ---------------------------------------------------------------------------------------------
 * Errors
 * ------------------------------------------------------------------------------------------ */

static const char *number_text(uint64_t value, char text[32])
{
    if (value == ANY)
        return "any";
    if (value == TZ_NO_VALUE)
        return "none";
    snprintf(text, 32, "%" PRIu64, value);
    return text;
}

static void print_fields(const char *what, tz_result result, tz_cause cause, int64_t ifd,
                         int64_t tag, int64_t tile, uint64_t offset, uint64_t expected,
                         uint64_t found, const char *limit, const char *text)
{
    char a[32], b[32], c[32];
    print_error("%s: %s/%s ifd %" PRId64 " tag %" PRId64 " tile %" PRId64
                " offset %s expected %s found %s limit %s: %s\n",
                what, tz_result_name(result), tz_cause_name(cause), ifd, tag, tile,
                number_text(offset, a), number_text(expected, b), number_text(found, c),
                limit ? limit : "none", text ? text : "");
}

static void print_warnings(const tz_file *file)
{
    const tz_info *info = tz_file_get_info(file);
    for (uint32_t i = 0; i < info->warning_count; i++) {
        const tz_error *w = tz_file_get_warning(file, i);
        print_fields("  warning", w->result, w->cause, w->ifd, w->tag, w->tile, w->offset,
                     w->expected, w->found, w->limit, w->message);
    }
}

static bool same_number(uint64_t expected, uint64_t found)
{
    return expected == ANY || expected == found;
}

static bool same_int(int32_t expected, int32_t found)
{
    return expected == ANY_INT || expected == found;
}

static bool matches(const tz_error *err, const check_defect *d)
{
    bool same_limit = d->limit ? err->limit && strcmp(d->limit, err->limit) == 0 : !err->limit;
    return err->result == d->result && err->cause == d->cause && same_int(d->ifd, err->ifd) &&
           same_int(d->tag, err->tag) && same_int(d->level, err->level) &&
           (d->level == ANY_INT || d->mask == (err->mask != 0)) && d->tile == err->tile &&
           same_number(d->offset, err->offset) && same_number(d->expected, err->expected) &&
           same_number(d->found, err->found) && same_limit &&
           (!d->text || strstr(err->message, d->text));
}

/* Checks the form that every error and warning must have. */
static void check_form(const tz_error *err, const char *file, int line)
{
    size_t length = strnlen(err->message, sizeof err->message);
    if (length == 0 || length == sizeof err->message)
        fail_at(file, line, "a message of %zu bytes", length);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)err->message[i] < 0x20 || err->message[i] == 0x7f)
            fail_at(file, line, "control character in the message: %s", err->message);
    if (err->result == TZ_OK || err->cause == TZ_CAUSE_NONE || err->count == 0)
        fail_at(file, line, "an error without result, cause or count: %s", err->message);
    if (err->limit && err->cause != TZ_CAUSE_LIMIT)
        fail_at(file, line, "the name of a limit without the cause: %s", err->message);
    if (err->result == TZ_ERR_INTERNAL)
        fail_at(file, line, "internal error: %s", err->message);
}

void check_error_at(const tz_error *err, const check_defect *d, const char *file, int line)
{
    check_form(err, file, line);
    if (matches(err, d))
        return;
    print_fields("expected", d->result, d->cause, d->ifd, d->tag, d->tile, d->offset, d->expected,
                 d->found, d->limit, d->text);
    print_fields("found   ", err->result, err->cause, err->ifd, err->tag, err->tile, err->offset,
                 err->expected, err->found, err->limit, err->message);
    _fail(file, line);
}

static bool same_error(const tz_error *a, const tz_error *b)
{
    bool same_limit =
        a->limit == b->limit || (a->limit && b->limit && strcmp(a->limit, b->limit) == 0);
    return a->result == b->result && a->cause == b->cause && a->ifd == b->ifd && a->tag == b->tag &&
           a->level == b->level && a->mask == b->mask && a->tile == b->tile &&
           a->offset == b->offset && a->expected == b->expected && a->found == b->found &&
           same_limit && strcmp(a->message, b->message) == 0;
}

const tz_error *check_find_warning(const tz_file *file, tz_cause cause, int32_t tag)
{
    const tz_info *info = tz_file_get_info(file);
    for (uint32_t i = 0; i < info->warning_count; i++)
        if (tz_file_get_warning(file, i)->cause == cause &&
            same_int(tag, tz_file_get_warning(file, i)->tag))
            return tz_file_get_warning(file, i);
    return NULL;
}

/* ---------------------------------------------------------------------------------------------
 * Opening
 * ------------------------------------------------------------------------------------------ */

typedef struct attempt {
    const tb *b;
    const tz_open_options *options;
    bool strict;
    const char *file;
    int line;
} attempt;

static const char *mode_name(const attempt *a)
{
    static char text[64];
    snprintf(text, sizeof text, "%s, %s", tb_format_name(a->b->format),
             a->strict ? "strict" : "lenient");
    return text;
}

static void check_cost_bounds(const attempt *a, const check_cost *cost)
{
    uint64_t ifds = a->b->ifds_in_file;
    uint64_t most_bytes = 65536 + 64 * ifds + a->b->size + 128 * cost->items;
    uint64_t most_ranges = 64 + 4 * ifds + a->b->size / 16384; /* long tags come in parts */
    if (cost->peak_bytes > most_bytes)
        fail_at(a->file, a->line, "%s: opening held %" PRIu64 " bytes, more than %" PRIu64,
                mode_name(a), cost->peak_bytes, most_bytes);
    if (cost->ranges > most_ranges)
        fail_at(a->file, a->line, "%s: opening read %" PRIu64 " ranges, more than %" PRIu64,
                mode_name(a), cost->ranges, most_ranges);
}

static tz_open_options options_of(const attempt *a)
{
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    if (a->options)
        options = *a->options;
    options.strict = options.strict || a->strict;
    return options;
}

static void check_failed_open(const attempt *a, tz_result result, const tz_error *err,
                              uint64_t closes)
{
    if (err->result != result)
        fail_at(a->file, a->line, "%s: returned %s, wrote %s", mode_name(a), tz_result_name(result),
                tz_result_name(err->result));
    if (closes != 1)
        fail_at(a->file, a->line, "%s: the source was closed %" PRIu64 " times", mode_name(a),
                closes);
    if (open_handles == 0 && alloc_hook_stats().live_bytes != 0)
        fail_at(a->file, a->line, "%s: a failed open kept memory", mode_name(a));
}

/* Opens b once, through a counting source and a counting allocator. */
static tz_result open_once(const attempt *a, tz_file **out, tz_error *err, check_cost *cost)
{
    static check_reads reads; /* handles keep a pointer to it */
    const tz_open_options options = options_of(a);
    reads = (check_reads){0};
    memset(err, 0x5a, sizeof *err);
    err->limit = NULL;
    if (open_handles == 0)
        alloc_hook_install();
    tz_source *source = check_source_memory(a->b->data, a->b->size, &reads);
    tz_result result = tz_open_source(out, source, "test.tif", &options, err);
    const alloc_stats stats = alloc_hook_stats();
    *cost = (check_cost){.peak_bytes = (uint64_t)stats.peak_bytes,
                         .submits = reads.submits,
                         .ranges = reads.ranges,
                         .bytes_read = reads.bytes,
                         .allocations = stats.allocations,
                         .items = result == TZ_OK ? tz_file_get_info(*out)->metadata_count : 0};
    if (result != TZ_OK)
        check_failed_open(a, result, err, reads.closes);
    else if (!*out)
        fail_at(a->file, a->line, "%s: success without a handle", mode_name(a));
    open_handles += result == TZ_OK;
    return result;
}

/* The same with the cost checked, and the same answer asked of tz_open_memory. */
static tz_result open_checked(const attempt *a, tz_file **out, tz_error *err)
{
    check_cost cost;
    const bool alone = open_handles == 0;
    if (a->b->size < 1000000) {
        const tz_open_options options = options_of(a);
        tz_file *other = NULL;
        tz_error other_err;
        tz_result answer = tz_open_memory(&other, a->b->data, a->b->size, &options, &other_err);
        tz_close(other);
        tz_result result = open_once(a, out, err, &cost);
        if (answer != result)
            fail_at(a->file, a->line, "%s: tz_open_memory says %s, tz_open_source says %s",
                    mode_name(a), tz_result_name(answer), tz_result_name(result));
    } else {
        open_once(a, out, err, &cost);
    }
    if (alone)
        check_cost_bounds(a, &cost);
    if (!*out)
        check_form(err, a->file, a->line);
    return *out ? TZ_OK : err->result;
}

static tz_file *open_leniently(const attempt *a)
{
    tz_error err;
    tz_file *file = NULL;
    if (open_checked(a, &file, &err) != TZ_OK)
        fail_at(a->file, a->line, "%s: does not open: %s/%s %s", mode_name(a),
                tz_result_name(err.result), tz_cause_name(err.cause), err.message);
    const tz_info *info = tz_file_get_info(file);
    for (uint32_t i = 0; i < info->warning_count; i++)
        check_form(tz_file_get_warning(file, i), a->file, a->line);
    return file;
}

/* Strict mode says exactly what the first warning of lenient mode says. */
static void check_strict(const attempt *a, const tz_error *err, const tz_file *file)
{
    const tz_info *info = tz_file_get_info(file);
    if (err->result == TZ_OK && info->warning_count > 0) {
        print_warnings(file);
        fail_at(a->file, a->line, "%s: opens in spite of the warning", mode_name(a));
    }
    if (err->result != TZ_OK && info->warning_count == 0)
        fail_at(a->file, a->line, "%s: fails without a warning in lenient mode: %s", mode_name(a),
                err->message);
    if (err->result != TZ_OK && !same_error(err, tz_file_get_warning(file, 0))) {
        print_fields("strict error", err->result, err->cause, err->ifd, err->tag, err->tile,
                     err->offset, err->expected, err->found, err->limit, err->message);
        print_warnings(file);
        fail_at(a->file, a->line, "%s: not the first warning", mode_name(a));
    }
}

tz_file *check_opens_somehow_at(const tb *b, const tz_open_options *options, const char *file,
                                int line)
{
    const attempt strict = {b, options, true, file, line};
    const attempt lenient = {b, options, false, file, line};
    tz_error err = {.result = TZ_OK};
    tz_file *opened = NULL;
    if (open_checked(&strict, &opened, &err) == TZ_OK) {
        err.result = TZ_OK;
        check_close(opened);
    }
    opened = open_leniently(&lenient);
    check_strict(&strict, &err, opened);
    return opened;
}

tz_file *check_opens_at(const tb *b, const tz_open_options *options, const char *file, int line)
{
    tz_file *opened = check_opens_somehow_at(b, options, file, line);
    if (tz_file_get_info(opened)->warning_count != 0) {
        print_warnings(opened);
        fail_at(file, line, "%s: opens with a warning", tb_format_name(b->format));
    }
    return opened;
}

tz_file *check_warns_also_at(const tb *b, const tz_open_options *options, const check_defect *d,
                             const char *file, int line)
{
    tz_file *opened = check_opens_somehow_at(b, options, file, line);
    const tz_info *info = tz_file_get_info(opened);
    for (uint32_t i = 0; i < info->warning_count; i++)
        if (matches(tz_file_get_warning(opened, i), d))
            return opened;
    print_fields("expected", d->result, d->cause, d->ifd, d->tag, d->tile, d->offset, d->expected,
                 d->found, d->limit, d->text);
    print_warnings(opened);
    fail_at(file, line, "%s: no such warning", tb_format_name(b->format));
    return opened;
}

tz_file *check_warns_at(const tb *b, const tz_open_options *options, const check_defect *d,
                        const char *file, int line)
{
    tz_file *opened = check_warns_also_at(b, options, d, file, line);
    if (tz_file_get_info(opened)->warning_count != 1) {
        print_warnings(opened);
        fail_at(file, line, "%s: more warnings than the one", tb_format_name(b->format));
    }
    return opened;
}

void check_fails_at(const tb *b, const tz_open_options *options, const check_defect *d,
                    const char *file, int line)
{
    for (int strict = 0; strict < 2; strict++) {
        attempt a = {b, options, strict != 0, file, line};
        tz_error err;
        tz_file *opened = NULL;
        if (open_checked(&a, &opened, &err) == TZ_OK) {
            print_warnings(opened);
            fail_at(file, line, "%s: opens, and should not", mode_name(&a));
        }
        if (!matches(&err, d))
            print_error("%s:\n", mode_name(&a));
        check_error_at(&err, d, file, line);
    }
}

check_cost check_cost_of(const tb *b, const tz_open_options *options)
{
    attempt a = {b, options, false, __FILE__, __LINE__};
    check_cost cost;
    tz_error err;
    tz_file *file = NULL;
    if (open_once(&a, &file, &err, &cost) == TZ_OK)
        check_close(file);
    check_cost_bounds(&a, &cost);
    return cost;
}

/* ---------------------------------------------------------------------------------------------
 * Handles
 * ------------------------------------------------------------------------------------------ */

static void ask_tags(const tz_file *file, uint64_t ifd_offset)
{
    tz_tag tag = TZ_TAG_INIT;
    uint8_t data[256];
    for (uint32_t i = 0; tz_file_get_tag(&tag, file, ifd_offset, i, NULL) == TZ_OK && i < 64; i++)
        if (tag.size <= sizeof data)
            (void)!tz_tag_read(data, sizeof data, file, &tag, NULL);
}

static void ask_level(const tz_file *file, uint32_t level, bool mask, const tz_level *l)
{
    tz_tile_span span[3];
    uint64_t bytes, sparse;
    tz_error err;
    for (uint64_t tile = 0; tile < 3; tile++)
        (void)!tz_file_locate_tile(span, file, level, mask, tile, &err);
    (void)!tz_file_locate_tile(span, file, level, mask, l->tile_count - 1, &err);
    (void)!tz_file_locate_tile(span, file, level, mask, l->tile_count, NULL);
    (void)!tz_file_get_tile_spans(span, file, level, mask, 0,
                                  l->tile_count < 3 ? (size_t)l->tile_count : 3, NULL);
    if (l->tile_count < 100000)
        (void)!tz_level_stored_size(&bytes, &sparse, file, level, mask, NULL, NULL);
    if (l->sidecar == 0)
        ask_tags(file, l->ifd_offset);
}

static void ask_everything(const tz_file *file)
{
    const tz_info *info = tz_file_get_info(file);
    for (uint32_t i = 0; i < info->level_count && i < 16; i++) {
        ask_level(file, i, false, tz_file_get_level(file, i));
        if (tz_file_get_mask(file, i))
            ask_level(file, i, true, tz_file_get_mask(file, i));
    }
    for (uint32_t i = 0; i <= info->bands && i < 16; i++)
        assert_true((tz_file_get_band(file, i) != NULL) == (i < info->bands));
    for (uint32_t i = 0; i <= info->metadata_count && i < 100; i++)
        assert_true((tz_file_get_metadata(file, i) != NULL) == (i < info->metadata_count));
    if (info->exif_ifd != TZ_NO_VALUE)
        ask_tags(file, info->exif_ifd);
    if (info->gps_ifd != TZ_NO_VALUE)
        ask_tags(file, info->gps_ifd);
    uint32_t problems;
    (void)!tz_file_get_cog_problems(&problems, file, NULL);
}

void check_close(tz_file *file)
{
    ask_everything(file);
    tz_close(file);
    open_handles--;
    const int64_t left = alloc_hook_stats().live_bytes;
    if (open_handles == 0 && left != 0)
        fail_at(__FILE__, __LINE__, "closing left %" PRId64 " bytes behind", left);
}

const tz_info *check_info_at(tb *b, tz_file **out, const char *file, int line)
{
    if (!b->finished)
        tb_finish(b);
    *out = check_opens_at(b, NULL, file, line);
    return tz_file_get_info(*out);
}

void check_done(tz_file *file, tb *b)
{
    check_close(file);
    tb_free(b);
}

tz_tag check_find_tag(const tz_file *file, uint16_t wanted)
{
    tz_tag tag = TZ_TAG_INIT;
    uint64_t ifd = tz_file_get_level(file, 0)->ifd_offset;
    for (uint32_t i = 0; tz_file_get_tag(&tag, file, ifd, i, NULL) == TZ_OK; i++)
        if (tag.tag == wanted)
            return tag;
    fail_at(__FILE__, __LINE__, "tag %u is not there", wanted);
    return tag;
}

void check_locate_fails_at(const tz_file *f, uint32_t level, bool mask, uint64_t tile,
                           const check_defect *d, const char *file, int line)
{
    tz_tile_span span = {77, 77};
    tz_error err;
    tz_result result = tz_file_locate_tile(&span, f, level, mask, tile, &err);
    if (result == TZ_OK)
        fail_at(file, line, "tile %" PRIu64 " is found at %" PRIu64 ", size %" PRIu64, tile,
                span.offset, span.size);
    if (result != err.result)
        fail_at(file, line, "returned %s, wrote %s", tz_result_name(result),
                tz_result_name(err.result));
    check_error_at(&err, d, file, line);
}

void check_locates_at(const tz_file *f, uint32_t level, bool mask, uint64_t tile, uint64_t offset,
                      uint64_t size, const char *file, int line)
{
    tz_tile_span span = {77, 77};
    tz_error err;
    if (tz_file_locate_tile(&span, f, level, mask, tile, &err) != TZ_OK)
        fail_at(file, line, "tile %" PRIu64 " is not found: %s", tile, err.message);
    if (span.offset != offset || span.size != size)
        fail_at(file, line,
                "tile %" PRIu64 " is at %" PRIu64 ", size %" PRIu64 ", expected %" PRIu64
                ", size %" PRIu64,
                tile, span.offset, span.size, offset, size);
}

void check_pixels_at(tb *b, const check_defect *defect, bool kept, const char *file, int line)
{
    if (!b->finished)
        tb_finish(b);
    tz_file *opened = check_warns_at(b, NULL, defect, file, line);
    if (tz_file_get_level(opened, 0)->readable != kept)
        fail_at(file, line, "%s: level 0 is %sreadable", tb_format_name(b->format),
                kept ? "not " : "");
    if (kept)
        check_locates_at(opened, 0, false, 0, tb_tile_at(b, 0, 0), tb_tile_size(b, 0, 0), file,
                         line);
    check_close(opened);
    tb_free(b);
}

/* ---------------------------------------------------------------------------------------------
 * Files
 * ------------------------------------------------------------------------------------------ */

static char folder[CHECK_PATH_SIZE];

static void remove_folder(void)
{
    rmdir(folder);
}

void check_path(char path[CHECK_PATH_SIZE], const char *name)
{
    if (!folder[0]) {
        const char *base = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/terrazzo-XXXXXX", base ? base : "/tmp");
        if (!mkdtemp(folder))
            fail_at(__FILE__, __LINE__, "cannot make %s", folder);
        atexit(remove_folder);
    }
    if (snprintf(path, CHECK_PATH_SIZE, "%s/%s", folder, name) >= CHECK_PATH_SIZE)
        fail_at(__FILE__, __LINE__, "path too long");
}

void check_remove(const char *path)
{
    unlink(path);
}
