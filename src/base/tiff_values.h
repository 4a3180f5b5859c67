/* SPDX-License-Identifier: Apache-2.0
 * Values of TIFF's tags that codecs, pixels and devices see as well, and that the public header
 * does not have. No codec sees TZ_SAMPLE_FORMAT_VOID: undefined data are read as unsigned integers.
 */
#ifndef TZ_BASE_TIFF_VALUES_H
#define TZ_BASE_TIFF_VALUES_H

/* Values of Predictor. */
enum { TZ_PREDICTOR_NONE = 1, TZ_PREDICTOR_HORIZONTAL = 2, TZ_PREDICTOR_FLOAT = 3 };

/* Values of FillOrder: the bit of a byte that comes first. */
enum { TZ_FILL_ORDER_HIGH_FIRST = 1, TZ_FILL_ORDER_LOW_FIRST = 2 };

#endif
