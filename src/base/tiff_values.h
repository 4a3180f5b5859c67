/* SPDX-License-Identifier: Apache-2.0
 * Values of TIFF's tags that codecs, pixels and devices see as well. */
#ifndef TZ_BASE_TIFF_VALUES_H
#define TZ_BASE_TIFF_VALUES_H

/* Values of PlanarConfiguration. */
enum { TZ_PLANAR_CONTIGUOUS = 1, TZ_PLANAR_SEPARATE = 2 };

/* Values of SampleFormat. No codec sees VOID: undefined data are read as unsigned integers. */
enum {
    TZ_SAMPLE_FORMAT_UINT = 1,
    TZ_SAMPLE_FORMAT_INT = 2,
    TZ_SAMPLE_FORMAT_FLOAT = 3,
    TZ_SAMPLE_FORMAT_VOID = 4,
    TZ_SAMPLE_FORMAT_COMPLEX_INT = 5,
    TZ_SAMPLE_FORMAT_COMPLEX_FLOAT = 6
};

/* Values of Predictor. */
enum { TZ_PREDICTOR_NONE = 1, TZ_PREDICTOR_HORIZONTAL = 2, TZ_PREDICTOR_FLOAT = 3 };

/* Values of FillOrder: the bit of a byte that comes first. */
enum { TZ_FILL_ORDER_HIGH_FIRST = 1, TZ_FILL_ORDER_LOW_FIRST = 2 };

/* Values of ExtraSamples. Colours of an image with associated alpha are premultiplied. */
enum { TZ_EXTRA_UNSPECIFIED = 0, TZ_EXTRA_ASSOCIATED_ALPHA = 1, TZ_EXTRA_UNASSOCIATED_ALPHA = 2 };

#endif
