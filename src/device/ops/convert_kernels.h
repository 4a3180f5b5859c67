/* SPDX-License-Identifier: Apache-2.0
 * Kernels that make pixels of decoded rows; convert_tiles.h describes their tables. Each kernel is
 * a function of one work-item, which tests call on the CPU, and a wrapper that only a device
 * compiles. No work-item waits for another.
 *
 * Three loops store pixels. tz_convert_sample unpacks, converts and tests one sample. The two
 * copies are for samples that need no conversion: whole rows in units of up to 16 bytes if raster
 * and slab are packed alike, or else pixel by pixel. */
#ifndef TZ_DEVICE_OPS_CONVERT_KERNELS_H
#define TZ_DEVICE_OPS_CONVERT_KERNELS_H

#include "kernels/kernel_entry.h"
#include "kernels/predictor.h"
#include "kernels/stored_sample.h"

/* ---- predictors ---- */

/* tz_unpredict_entry of convert_tiles.h, by bytes */
#define TZ_UNPREDICT_ENTRY_BYTES 40u
#define TZ_UNPREDICT_OFFSET      0u
#define TZ_UNPREDICT_ROW_COUNT   8u
#define TZ_UNPREDICT_ROW_BYTES   12u
#define TZ_UNPREDICT_SAMPLES     16u
#define TZ_UNPREDICT_STRIDE      20u
#define TZ_UNPREDICT_WIDTH       22u
#define TZ_UNPREDICT_PREDICTOR   23u
#define TZ_UNPREDICT_SWAP        24u

/* A work-group has an entry, and each work-item reverts the predictor of one of its rows. Of
 * predictor 3 only the differences are reverted: the bytes stay in planes, and TZ_SAMPLE_PLANES
 * joins them when samples are read. */
TZ_FN void tz_unpredict_work_item(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 work_group,
                                  tz_u32 work_item)
{
    const TZ_GLOBAL tz_u8 *entry = slab + table + work_group * TZ_UNPREDICT_ENTRY_BYTES;
    const tz_u64 row_bytes = tz_load_u32(entry + TZ_UNPREDICT_ROW_BYTES);
    TZ_GLOBAL tz_u8 *row = slab + tz_load_u64(entry + TZ_UNPREDICT_OFFSET) + work_item * row_bytes;
    if (work_item >= tz_load_u32(entry + TZ_UNPREDICT_ROW_COUNT))
        return;
    const tz_u64 count = tz_load_u32(entry + TZ_UNPREDICT_SAMPLES);
    const tz_u32 stride = tz_load_u16(entry + TZ_UNPREDICT_STRIDE);
    const tz_u32 width = entry[TZ_UNPREDICT_WIDTH];
    const tz_u32 swap = tz_load_u32(entry + TZ_UNPREDICT_SWAP);
    if (entry[TZ_UNPREDICT_PREDICTOR] == 3)
        tz_sum_bytes(row, count * width, stride);
    else if (width == 1u)
        tz_unpredict2_u8(row, row, count, stride, swap);
    else if (width == 2u)
        tz_unpredict2_u16(row, row, count, stride, swap);
    else if (width == 4u)
        tz_unpredict2_u32(row, row, count, stride, swap);
    else
        tz_unpredict2_u64(row, row, count, stride, swap);
}

/* ---- formats and entries ---- */

/* tz_convert_format, by words of 8 bytes. The first seven are a tz_sample_form. Formats are shared
 * by the entries of a batch, which have only an index. */
#define TZ_RULE_FORM           0u
#define TZ_RULE_BITS           1u
#define TZ_RULE_SWAP           2u
#define TZ_RULE_IS_SIGN        3u
#define TZ_RULE_COMPONENT_TYPE 4u
#define TZ_RULE_COMPONENTS     5u
#define TZ_RULE_COUNT          6u
#define TZ_RULE_TO             7u  /* TZ_COMPONENT_* of the raster */
#define TZ_RULE_TO_COMPONENTS  8u  /* 1 or 2 */
#define TZ_RULE_STEPS          9u  /* TZ_STEP_* */
#define TZ_RULE_SCALE          10u /* bits of an f64 */
#define TZ_RULE_OFFSET         11u
#define TZ_RULE_NODATA         12u /* wide */
#define TZ_RULE_NODATA_KIND    13u
#define TZ_RULE_COPY           14u /* bytes of a pixel that is only copied; 0: it is converted */
#define TZ_RULE_WORDS          16u

#define TZ_STEP_SAME    1u /* the bits of samples do not change */
#define TZ_STEP_SCALE   2u
#define TZ_STEP_NODATA  4u  /* there is a nodata value */
#define TZ_STEP_TO_NAN  8u  /* samples that are nodata become NaN */
#define TZ_STEP_DOUBLES 16u /* needs double precision */

/* tz_convert_entry of convert_tiles.h, by bytes */
#define TZ_CONVERT_ENTRY_BYTES       96u
#define TZ_CONVERT_ENTRY_FROM        0u
#define TZ_CONVERT_ENTRY_FROM_ROW    8u
#define TZ_CONVERT_ENTRY_FIRST       16u
#define TZ_CONVERT_ENTRY_STEP        20u
#define TZ_CONVERT_ENTRY_ROWS        24u
#define TZ_CONVERT_ENTRY_COLUMNS     28u
#define TZ_CONVERT_ENTRY_FORMAT      32u
#define TZ_CONVERT_ENTRY_FLAGS       36u
#define TZ_CONVERT_ENTRY_INTO        40u
#define TZ_CONVERT_ENTRY_INTO_ROW    48u
#define TZ_CONVERT_ENTRY_INTO_COLUMN 56u
#define TZ_CONVERT_ENTRY_MASK        64u
#define TZ_CONVERT_ENTRY_MASK_ROW    72u
#define TZ_CONVERT_ENTRY_MASK_COLUMN 80u
#define TZ_CONVERT_ENTRY_STATUS      88u

#define TZ_CONVERT_ENTRY_HAS_INTO   1u
#define TZ_CONVERT_ENTRY_HAS_MASK   2u
#define TZ_CONVERT_ENTRY_IS_INVALID 4u
#define TZ_CONVERT_ENTRY_NO_STATUS  0xffffffffffffffffULL

/* A format. */
typedef struct tz_convert_rule {
    tz_sample_form form;
    tz_u32 to, to_components, steps, nodata_kind, copy;
    tz_u64 scale, offset, nodata;
} tz_convert_rule;

/* An entry with its format: a rectangle of one band, which a work-group converts. Strides and
 * offsets are in bytes but for first and step, which count samples. */
typedef struct tz_convert_job {
    tz_convert_rule rule;
    const TZ_GLOBAL tz_u8 *slab;
    TZ_GLOBAL tz_u8 *into;
    TZ_GLOBAL tz_u8 *mask;
    tz_u64 from, from_row;
    tz_u64 first, step;
    tz_u32 rows, columns, flags;
    tz_i64 to, to_row, to_column; /* in the raster */
    tz_i64 at, at_row, at_column; /* in the mask */
} tz_convert_job;

TZ_FN tz_convert_rule tz_convert_rule_at(const TZ_GLOBAL tz_u8 *words)
{
    tz_convert_rule rule;
    rule.form.form = tz_load_u32(words + 8u * TZ_RULE_FORM);
    rule.form.bits = tz_load_u32(words + 8u * TZ_RULE_BITS);
    rule.form.swap = tz_load_u32(words + 8u * TZ_RULE_SWAP);
    rule.form.is_sign = tz_load_u32(words + 8u * TZ_RULE_IS_SIGN);
    rule.form.component = tz_load_u32(words + 8u * TZ_RULE_COMPONENT_TYPE);
    rule.form.components = tz_load_u32(words + 8u * TZ_RULE_COMPONENTS);
    rule.form.count = tz_load_u64(words + 8u * TZ_RULE_COUNT);
    rule.to = tz_load_u32(words + 8u * TZ_RULE_TO);
    rule.to_components = tz_load_u32(words + 8u * TZ_RULE_TO_COMPONENTS);
    rule.steps = tz_load_u32(words + 8u * TZ_RULE_STEPS);
    rule.scale = tz_load_u64(words + 8u * TZ_RULE_SCALE);
    rule.offset = tz_load_u64(words + 8u * TZ_RULE_OFFSET);
    rule.nodata = tz_load_u64(words + 8u * TZ_RULE_NODATA);
    rule.nodata_kind = tz_load_u32(words + 8u * TZ_RULE_NODATA_KIND);
    rule.copy = tz_load_u32(words + 8u * TZ_RULE_COPY);
    return rule;
}

TZ_FN tz_convert_job tz_convert_job_at(const TZ_GLOBAL tz_u8 *slab, TZ_GLOBAL tz_u8 *into,
                                       TZ_GLOBAL tz_u8 *mask, tz_u64 formats,
                                       const TZ_GLOBAL tz_u8 *entry)
{
    tz_convert_job job;
    job.rule = tz_convert_rule_at(
        slab + formats + 8u * TZ_RULE_WORDS * (tz_u64)tz_load_u32(entry + TZ_CONVERT_ENTRY_FORMAT));
    job.slab = slab;
    job.into = into;
    job.mask = mask;
    job.from = tz_load_u64(entry + TZ_CONVERT_ENTRY_FROM);
    job.from_row = tz_load_u64(entry + TZ_CONVERT_ENTRY_FROM_ROW);
    job.first = tz_load_u32(entry + TZ_CONVERT_ENTRY_FIRST);
    job.step = tz_load_u32(entry + TZ_CONVERT_ENTRY_STEP);
    job.rows = tz_load_u32(entry + TZ_CONVERT_ENTRY_ROWS);
    job.columns = tz_load_u32(entry + TZ_CONVERT_ENTRY_COLUMNS);
    job.flags = tz_load_u32(entry + TZ_CONVERT_ENTRY_FLAGS);
    job.to = (tz_i64)tz_load_u64(entry + TZ_CONVERT_ENTRY_INTO);
    job.to_row = (tz_i64)tz_load_u64(entry + TZ_CONVERT_ENTRY_INTO_ROW);
    job.to_column = (tz_i64)tz_load_u64(entry + TZ_CONVERT_ENTRY_INTO_COLUMN);
    job.at = (tz_i64)tz_load_u64(entry + TZ_CONVERT_ENTRY_MASK);
    job.at_row = (tz_i64)tz_load_u64(entry + TZ_CONVERT_ENTRY_MASK_ROW);
    job.at_column = (tz_i64)tz_load_u64(entry + TZ_CONVERT_ENTRY_MASK_COLUMN);
    return job;
}

/* The offset of a pixel in a raster or mask. Strides may be negative. */
TZ_FN tz_i64 tz_convert_offset(tz_i64 first, tz_i64 row, tz_i64 column, tz_u32 y, tz_u32 x)
{
    return first + (tz_i64)y * row + (tz_i64)x * column;
}

/* Visits every work_items-th position of a rectangle, row by row, so that neighbouring work-items
 * have neighbouring pixels. Two divisions at the start replace one for each position. */
typedef struct tz_convert_walk {
    tz_u32 y, x;
    tz_u32 down, across;
    tz_u32 columns;
} tz_convert_walk;

TZ_FN tz_convert_walk tz_convert_walk_from(tz_u32 work_item, tz_u32 work_items, tz_u32 columns)
{
    tz_convert_walk walk;
    walk.columns = columns;
    walk.y = work_item / columns;
    walk.x = work_item % columns;
    walk.down = work_items / columns;
    walk.across = work_items % columns;
    return walk;
}

TZ_FN void tz_convert_walk_next(tz_convert_walk *walk)
{
    walk->x += walk->across;
    walk->y += walk->down;
    if (walk->x >= walk->columns) {
        walk->x -= walk->columns;
        walk->y++;
    }
}

/* ---- copies ---- */

/* Copies of 16, 8 and 4 bytes, at addresses that are multiples of their size. */
#if defined(__OPENCL_VERSION__) || defined(__CUDACC__)
typedef uint4 tz_copy_unit_16;
#define TZ_COPY_UNIT(type, to, from) (*(TZ_GLOBAL type *)(to) = *(const TZ_GLOBAL type *)(from))
#else
typedef struct tz_copy_unit_16 {
    tz_u64 halves[2];
} tz_copy_unit_16;
#define TZ_COPY_UNIT(type, to, from) memcpy(to, from, sizeof(type))
#endif
#define TZ_ADDRESS(p) ((tz_u64)(size_t)(p))

/* The largest unit that divides all addresses, which are combined by "or". */
TZ_FN tz_u32 tz_copy_unit_size(tz_u64 addresses)
{
    return (addresses & 15u) == 0u  ? 16u
           : (addresses & 7u) == 0u ? 8u
           : (addresses & 3u) == 0u ? 4u
                                    : 1u;
}

TZ_FN void tz_copy_unit(TZ_GLOBAL tz_u8 *to, const TZ_GLOBAL tz_u8 *from, tz_u32 unit)
{
    if (unit == 16u)
        TZ_COPY_UNIT(tz_copy_unit_16, to, from);
    else if (unit == 8u)
        TZ_COPY_UNIT(tz_u64, to, from);
    else if (unit == 4u)
        TZ_COPY_UNIT(tz_u32, to, from);
    else
        to[0] = from[0];
}

TZ_FN void tz_copy_bytes(TZ_GLOBAL tz_u8 *to, const TZ_GLOBAL tz_u8 *from, tz_u32 size, tz_u32 unit)
{
    tz_u32 at = 0u;
    for (; at + unit <= size; at += unit)
        tz_copy_unit(to + at, from + at, unit);
    for (; at < size; at++)
        to[at] = from[at];
}

/* Copies rows without gaps: neighbouring work-items copy neighbouring units. */
TZ_FN void tz_convert_copy_rows(const tz_convert_job *job, tz_u32 work_item, tz_u32 work_items)
{
    const tz_u32 size = job->columns * job->rule.copy;
    const TZ_GLOBAL tz_u8 *from = job->slab + job->from + job->first * job->rule.copy;
    TZ_GLOBAL tz_u8 *to = job->into + job->to;
    const tz_u32 unit =
        tz_copy_unit_size(TZ_ADDRESS(from) | TZ_ADDRESS(to) | job->from_row | (tz_u64)job->to_row);
    const tz_u32 units = (size + unit - 1u) / unit;
    tz_convert_walk walk = tz_convert_walk_from(work_item, work_items, units);
    for (; walk.y < job->rows; tz_convert_walk_next(&walk)) {
        const tz_u32 at = walk.x * unit;
        tz_copy_bytes(to + (tz_i64)walk.y * job->to_row + at, from + walk.y * job->from_row + at,
                      tz_kernel_min(size - at, unit), unit);
    }
}

/* Copies pixels that have gaps between them or a mask. */
TZ_FN void tz_convert_copy_pixels(const tz_convert_job *job, tz_u32 work_item, tz_u32 work_items)
{
    const tz_u32 copy = job->rule.copy;
    const TZ_GLOBAL tz_u8 *from = job->slab + job->from + job->first * copy;
    const tz_u32 unit = tz_copy_unit_size(copy | TZ_ADDRESS(from) | job->from_row |
                                          (TZ_ADDRESS(job->into) + (tz_u64)job->to) |
                                          (tz_u64)job->to_row | (tz_u64)job->to_column);
    tz_convert_walk walk = tz_convert_walk_from(work_item, work_items, job->columns);
    for (; walk.y < job->rows; tz_convert_walk_next(&walk)) {
        const tz_u32 y = walk.y;
        const tz_u32 x = walk.x;
        if (job->flags & TZ_CONVERT_ENTRY_HAS_MASK)
            job->mask[tz_convert_offset(job->at, job->at_row, job->at_column, y, x)] =
                job->flags & TZ_CONVERT_ENTRY_IS_INVALID ? 0 : 255;
        if (job->flags & TZ_CONVERT_ENTRY_HAS_INTO)
            tz_copy_bytes(job->into + tz_convert_offset(job->to, job->to_row, job->to_column, y, x),
                          from + y * job->from_row + x * job->step * copy, copy, unit);
    }
}

/* ---- conversions ---- */

/* Converts the first component of a sample. */
TZ_FN tz_u64 tz_convert_value(const tz_convert_rule *rule, tz_u64 raw, tz_u64 value,
                              tz_u32 is_nodata)
{
    tz_u32 kind = tz_component_kind(rule->form.component);
    const tz_u32 becomes_nan = is_nodata && (rule->steps & TZ_STEP_TO_NAN);
    if ((rule->steps & TZ_STEP_SAME) && !becomes_nan)
        return raw;
#ifdef TZ_HAS_F64
    if (becomes_nan) {
        value = 0x7ff8000000000000ULL;
        kind = TZ_WIDE_F64;
    } else if (rule->steps & TZ_STEP_SCALE) {
        const tz_f64 product = tz_wide_f64(value, kind) * tz_f64_of_bits(rule->scale);
        value = tz_bits_of_f64(product + tz_f64_of_bits(rule->offset));
        kind = TZ_WIDE_F64;
    }
#endif
    return tz_raw_of_wide(value, kind, rule->to);
}

/* Converts the second component: cast like the first, but neither scaled nor tested. It is 0 if the
 * stored samples have only one. */
TZ_FN tz_u64 tz_convert_second(const tz_convert_rule *rule, const TZ_GLOBAL tz_u8 *row,
                               tz_u64 index)
{
    const tz_u32 component = rule->form.component;
    tz_u64 raw = 0;
    if (rule->form.components == 2u)
        raw = tz_sample_raw(&rule->form, row, index, 1u);
    if (rule->steps & TZ_STEP_SAME)
        return raw;
    return tz_raw_of_wide(tz_wide_of_raw(raw, component), tz_component_kind(component), rule->to);
}

/* Converts one pixel of a band and sets its mask. Nodata is compared as stored, before scaling. */
TZ_FN void tz_convert_sample(const tz_convert_job *job, tz_u32 y, tz_u32 x)
{
    const tz_convert_rule *rule = &job->rule;
    const TZ_GLOBAL tz_u8 *row = job->slab + job->from + y * job->from_row;
    const tz_u64 index = job->first + x * job->step;
    const tz_u64 raw = tz_sample_raw(&rule->form, row, index, 0u);
    const tz_u64 value = tz_wide_of_raw(raw, rule->form.component);
    const tz_u32 has_mask = job->flags & TZ_CONVERT_ENTRY_HAS_MASK;
    tz_u32 is_nodata = 0u;
    if ((rule->steps & TZ_STEP_NODATA) && (has_mask || (rule->steps & TZ_STEP_TO_NAN)))
        is_nodata = tz_wide_equals(value, tz_component_kind(rule->form.component), rule->nodata,
                                   rule->nodata_kind);
    if (has_mask)
        job->mask[tz_convert_offset(job->at, job->at_row, job->at_column, y, x)] =
            is_nodata || (job->flags & TZ_CONVERT_ENTRY_IS_INVALID) ? 0 : 255;
    if (job->flags & TZ_CONVERT_ENTRY_HAS_INTO) {
        TZ_GLOBAL tz_u8 *to =
            job->into + tz_convert_offset(job->to, job->to_row, job->to_column, y, x);
        const tz_u32 bytes = tz_component_bytes(rule->to);
        tz_store_raw(to, tz_convert_value(rule, raw, value, is_nodata), bytes);
        if (rule->to_components == 2u)
            tz_store_raw(to + bytes, tz_convert_second(rule, row, index), bytes);
    }
}

/* A work-group has an entry; its work-items share the pixels. Nothing is stored if the tile could
 * not be decoded: the CPU then converts it. Pixels that are only copied still take the first loop
 * if nodata must be found for the mask. */
TZ_FN void tz_convert_work_item(const TZ_GLOBAL tz_u8 *slab, TZ_GLOBAL tz_u8 *into,
                                TZ_GLOBAL tz_u8 *mask, tz_u64 formats, tz_u64 table,
                                tz_u64 work_group, tz_u32 work_item, tz_u32 work_items)
{
    const TZ_GLOBAL tz_u8 *entry = slab + table + work_group * TZ_CONVERT_ENTRY_BYTES;
    const tz_u64 status = tz_load_u64(entry + TZ_CONVERT_ENTRY_STATUS);
    const tz_convert_job job = tz_convert_job_at(slab, into, mask, formats, entry);
    if (job.rows == 0u || job.columns == 0u ||
        (status != TZ_CONVERT_ENTRY_NO_STATUS && tz_load_u32(slab + status) != 0u))
        return;
    const tz_u32 has_mask = job.flags & TZ_CONVERT_ENTRY_HAS_MASK;
    if (!job.rule.copy || (has_mask && (job.rule.steps & TZ_STEP_NODATA))) {
        tz_convert_walk walk = tz_convert_walk_from(work_item, work_items, job.columns);
        for (; walk.y < job.rows; tz_convert_walk_next(&walk))
            tz_convert_sample(&job, walk.y, walk.x);
    } else if (job.flags == TZ_CONVERT_ENTRY_HAS_INTO && job.step == 1u &&
               job.to_column == (tz_i64)job.rule.copy) {
        tz_convert_copy_rows(&job, work_item, work_items);
    } else {
        tz_convert_copy_pixels(&job, work_item, work_items);
    }
}

#ifdef TZ_KERNEL
TZ_KERNEL(tz_kernel_unpredict)(TZ_GLOBAL tz_u8 *slab, tz_u64 table)
{
    tz_unpredict_work_item(slab, table, TZ_WORK_GROUP, TZ_WORK_ITEM);
}

TZ_KERNEL_BOUNDED(tz_kernel_convert, 12)
(const TZ_GLOBAL tz_u8 *slab, TZ_GLOBAL tz_u8 *into, TZ_GLOBAL tz_u8 *mask, tz_u64 formats,
 tz_u64 table)
{
    tz_convert_work_item(slab, into, mask, formats, table, TZ_WORK_GROUP, TZ_WORK_ITEM, 64u);
}
#endif

#endif
