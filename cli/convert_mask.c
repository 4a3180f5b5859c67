/* SPDX-License-Identifier: Apache-2.0
 * Nodata and lossy codecs: the nodata value would come back as other values near it, so that a mask
 * replaces it. */
#include "conversion.h"
#include "problem.h"

enum { TAG_GDAL_NODATA = 42113 };

/* LERC does not count as lossy: the library keeps nodata exact whatever the largest error. */
static bool is_lossy_codec(tz_compression codec, tz_choice lossless)
{
    switch (codec) {
    case TZ_COMPRESSION_JPEG:
        return true;
    case TZ_COMPRESSION_WEBP:
        return lossless != TZ_CHOICE_YES;
    case TZ_COMPRESSION_JPEG2000:
    case TZ_COMPRESSION_JXL:
        return lossless == TZ_CHOICE_NO;
    default:
        return false;
    }
}

/* Returns the codec of a level that changes pixels; TZ_COMPRESSION_DEFAULT: none does. */
static tz_compression lossy_codec(const tz_write_options *o)
{
    const tz_codec_options *image = &o->codec;
    const tz_codec_options *smaller = &o->overview_codec;
    bool other = smaller->compression != TZ_COMPRESSION_DEFAULT &&
                 smaller->compression != image->compression;
    tz_compression overviews = other ? smaller->compression : image->compression;
    tz_choice lossless = smaller->lossless != TZ_CHOICE_AUTO ? smaller->lossless
                         : other                             ? TZ_CHOICE_AUTO
                                                             : image->lossless;
    if (is_lossy_codec(image->compression, image->lossless))
        return image->compression;
    return o->cog && o->overview_count >= 0 && is_lossy_codec(overviews, lossless)
               ? overviews
               : TZ_COMPRESSION_DEFAULT;
}

void conversion_mask_nodata(conversion *c)
{
    tz_image_spec *spec = &c->spec;
    tz_compression codec = lossy_codec(&c->options);
    bool has_mask = spec->mask && !conversion_masks_by_alpha(c);
    nodata_mask found;
    if (c->settings->keep_nodata || codec == TZ_COMPRESSION_DEFAULT ||
        !nodata_mask_make(&found, &spec->nodata, spec->dtype))
        return;
    if (!has_mask) {
        c->by_nodata = found;
        c->by_nodata.alpha = conversion_alpha(c);
    }
    (void)problem_make(&c->note, TZ_ERR_ARG, TZ_CAUSE_META,
                       has_mask ? "nodata %s would not last in %s and is left out; the mask of the "
                                  "source stays (--keep-nodata keeps nodata)"
                                : "nodata %s would not last in %s: a mask is written in its place "
                                  "(--keep-nodata keeps it)",
                       spec->nodata_text != NULL ? spec->nodata_text : "",
                       tz_compression_name((uint16_t)codec));
    c->note.tag = TAG_GDAL_NODATA;
    c->note_count = 1;
    spec->mask = true;
    spec->nodata = (tz_nodata){.kind = TZ_NODATA_KIND_NONE};
    spec->nodata_text = NULL;
}
