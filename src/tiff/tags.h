/* SPDX-License-Identifier: Apache-2.0
 * Numbers and names of TIFF: tags, field types, values of single tags, the tag table, and the
 * errors and warnings that name a tag. Numbers are those of TIFF 6.0 and its supplements; names of
 * values that a layer below needs as well (SampleFormat, Compression) are in codec/codec.h. */
#ifndef TZ_TIFF_TAGS_H
#define TZ_TIFF_TAGS_H

#include <terrazzo/terrazzo.h>

#include "base/error.h"
#include "base/tiff_values.h"

enum {
    TZ_TAG_NEW_SUBFILE_TYPE = 254,
    TZ_TAG_SUBFILE_TYPE = 255,
    TZ_TAG_IMAGE_WIDTH = 256,
    TZ_TAG_IMAGE_LENGTH = 257,
    TZ_TAG_BITS_PER_SAMPLE = 258,
    TZ_TAG_COMPRESSION = 259,
    TZ_TAG_PHOTOMETRIC = 262,
    TZ_TAG_FILL_ORDER = 266,
    TZ_TAG_STRIP_OFFSETS = 273,
    TZ_TAG_ORIENTATION = 274,
    TZ_TAG_SAMPLES_PER_PIXEL = 277,
    TZ_TAG_ROWS_PER_STRIP = 278,
    TZ_TAG_STRIP_BYTE_COUNTS = 279,
    TZ_TAG_PLANAR = 284,
    TZ_TAG_T4_OPTIONS = 292,
    TZ_TAG_T6_OPTIONS = 293,
    TZ_TAG_PREDICTOR = 317,
    TZ_TAG_COLOR_MAP = 320,
    TZ_TAG_TILE_WIDTH = 322,
    TZ_TAG_TILE_LENGTH = 323,
    TZ_TAG_TILE_OFFSETS = 324,
    TZ_TAG_TILE_BYTE_COUNTS = 325,
    TZ_TAG_SUB_IFDS = 330,
    TZ_TAG_INK_NAMES = 333,
    TZ_TAG_NUMBER_OF_INKS = 334,
    TZ_TAG_EXTRA_SAMPLES = 338,
    TZ_TAG_SAMPLE_FORMAT = 339,
    TZ_TAG_JPEG_TABLES = 347,
    TZ_TAG_JPEG_PROCESS = 512,
    TZ_TAG_JPEG_INTERCHANGE = 513,
    TZ_TAG_JPEG_INTERCHANGE_SIZE = 514,
    TZ_TAG_JPEG_RESTART_INTERVAL = 515,
    TZ_TAG_JPEG_PREDICTORS = 517,
    TZ_TAG_JPEG_SHIFTS = 518,
    TZ_TAG_JPEG_QUANT_TABLES = 519,
    TZ_TAG_JPEG_DC_TABLES = 520,
    TZ_TAG_JPEG_AC_TABLES = 521,
    TZ_TAG_YCBCR_SUBSAMPLING = 530,
    TZ_TAG_REFERENCE_BLACK_WHITE = 532,
    TZ_TAG_XMP = 700,
    TZ_TAG_PIXEL_SCALE = 33550,
    TZ_TAG_TIEPOINTS = 33922,
    TZ_TAG_TRANSFORMATION = 34264,
    TZ_TAG_EXIF_IFD = 34665,
    TZ_TAG_ICC_PROFILE = 34675,
    TZ_TAG_GEO_KEYS = 34735,
    TZ_TAG_GEO_DOUBLES = 34736,
    TZ_TAG_GEO_ASCII = 34737,
    TZ_TAG_GPS_IFD = 34853,
    TZ_TAG_GDAL_METADATA = 42112,
    TZ_TAG_GDAL_NODATA = 42113,
    TZ_TAG_LERC_PARAMETERS = 50674,
    TZ_TAG_RPC = 50844
};

/* Field types. IFD is of TIFF's technical note 1, the last three are of BigTIFF. */
enum {
    TZ_TYPE_BYTE = 1,
    TZ_TYPE_ASCII = 2,
    TZ_TYPE_SHORT = 3,
    TZ_TYPE_LONG = 4,
    TZ_TYPE_RATIONAL = 5,
    TZ_TYPE_SBYTE = 6,
    TZ_TYPE_UNDEFINED = 7,
    TZ_TYPE_SSHORT = 8,
    TZ_TYPE_SLONG = 9,
    TZ_TYPE_SRATIONAL = 10,
    TZ_TYPE_FLOAT = 11,
    TZ_TYPE_DOUBLE = 12,
    TZ_TYPE_IFD = 13,
    TZ_TYPE_LONG8 = 16,
    TZ_TYPE_SLONG8 = 17,
    TZ_TYPE_IFD8 = 18
};

/* Sets of field types, as bits. They are wider than the standard allows, because writers are: a
 * number may come in any integer type as long as its value fits. */
#define TZ_TYPE_BIT(type)   (1u << (type))
#define TZ_TYPES_SHORT_ONLY TZ_TYPE_BIT(TZ_TYPE_SHORT)
#define TZ_TYPES_UNSIGNED                                                                          \
    (TZ_TYPE_BIT(TZ_TYPE_BYTE) | TZ_TYPE_BIT(TZ_TYPE_SHORT) | TZ_TYPE_BIT(TZ_TYPE_LONG) |          \
     TZ_TYPE_BIT(TZ_TYPE_LONG8) | TZ_TYPE_BIT(TZ_TYPE_IFD) | TZ_TYPE_BIT(TZ_TYPE_IFD8))
#define TZ_TYPES_SIGNED                                                                            \
    (TZ_TYPE_BIT(TZ_TYPE_SBYTE) | TZ_TYPE_BIT(TZ_TYPE_SSHORT) | TZ_TYPE_BIT(TZ_TYPE_SLONG) |       \
     TZ_TYPE_BIT(TZ_TYPE_SLONG8))
#define TZ_TYPES_INTEGER (TZ_TYPES_UNSIGNED | TZ_TYPES_SIGNED)
#define TZ_TYPES_REAL    (TZ_TYPE_BIT(TZ_TYPE_DOUBLE) | TZ_TYPE_BIT(TZ_TYPE_FLOAT))
#define TZ_TYPES_TEXT                                                                              \
    (TZ_TYPE_BIT(TZ_TYPE_ASCII) | TZ_TYPE_BIT(TZ_TYPE_BYTE) | TZ_TYPE_BIT(TZ_TYPE_UNDEFINED))
#define TZ_TYPES_BYTES (TZ_TYPES_TEXT | TZ_TYPE_BIT(TZ_TYPE_SBYTE))

/* The origin of a tag in a file that is written. */
typedef enum tz_tag_role {
    TZ_TAG_ROLE_PLAIN,     /* the caller, or the file it is copied from */
    TZ_TAG_ROLE_GENERATED, /* the writer, from the specification or the options; never copied */
    TZ_TAG_ROLE_POINTER    /* the writer, because it points into a file; never copied */
} tz_tag_role;

enum {
    TZ_TAG_STRUCTURAL = 1, /* decides the position or meaning of pixels: a defect is an error */
    TZ_TAG_TABLE = 2,      /* tile offsets or sizes: never loaded whole, a defect costs pixels */
    TZ_TAG_REQUIRED = 8,   /* of every image, by the standard */
    TZ_TAG_REQUIRED_TILES = 16, /* of an image in tiles */
    TZ_TAG_REQUIRED_STRIPS = 32,
    TZ_TAG_GEOTIFF = 64 /* of OGC 19-008 */
};

/* Members of tz_ifd that reading fills. */
typedef enum tz_tag_field { TZ_FIELD_NONE, TZ_FIELD_U16, TZ_FIELD_U32, TZ_FIELD_REF } tz_tag_field;

/* Field types that writing uses. */
typedef enum tz_tag_write {
    TZ_WRITE_NONE,
    TZ_WRITE_SHORT,
    TZ_WRITE_SHORT_OR_LONG, /* SHORT if the value fits */
    TZ_WRITE_LONG,
    TZ_WRITE_SHORT_PER_SAMPLE /* repeated for every sample */
} tz_tag_write;

/* One known tag. The members of reading are unused with TZ_FIELD_NONE, those of writing with
 * TZ_WRITE_NONE: such a tag is loaded on demand, or written by a function of its own. */
typedef struct tz_tag_row {
    uint16_t tag;
    uint8_t role;     /* tz_tag_role */
    const char *name; /* NULL: none */
    uint8_t flags;
    uint8_t field;   /* tz_tag_field */
    uint16_t offset; /* of the member in tz_ifd */
    uint32_t types;  /* bits of the types that are read */
    uint16_t min_count;
    uint16_t max_count; /* 0: any */
    uint8_t write;      /* tz_tag_write */
    uint16_t number;    /* offset of the value in tz_ifd_numbers */
    uint32_t omit;      /* the value that is not written */
} tz_tag_row;
enum { TZ_MAX_TAG_ROWS = 128 };

/* The numbers of a directory that is written; tags without a value of their own have the one that
 * is omitted. */
typedef struct tz_ifd_numbers {
    uint32_t subfile_type;
    uint32_t width;
    uint32_t height;
    uint32_t bits;
    uint32_t compression;
    uint32_t photometric;
    uint32_t samples;
    uint32_t planar;
    uint32_t sample_format;
    uint32_t orientation;
    uint32_t predictor;
    uint32_t rows_per_strip; /* 0: tiles */
    uint32_t tile_width;     /* 0: strips */
    uint32_t tile_height;
} tz_ifd_numbers;

/* Compares 16-bit numbers, or structs that begin with one: qsort and bsearch of tags and keys. */
int tz_compare_numbers(const void *a, const void *b);

const tz_tag_row *tz_tag_find(uint16_t tag); /* NULL: unknown */
const tz_tag_row *tz_tag_rows(size_t *count);

/* Returns the type that a tag normally has. */
uint16_t tz_tag_usual_type(const tz_tag_row *row);

/* Bits of NewSubfileType. */
enum { TZ_SUBFILE_REDUCED = 1, TZ_SUBFILE_PAGE = 2, TZ_SUBFILE_MASK = 4 };

/* Values of PhotometricInterpretation that tz_photometric does not have: 0 means "choose" there. */
enum { TZ_PHOTOMETRIC_NUMBER_MIN_IS_WHITE = 0, TZ_PHOTOMETRIC_NUMBER_LOGLUV = 32845 };

/* Bytes of one value; 0 for an unknown type. */
unsigned tz_type_size(uint16_t type);

/* Bytes of the words that another byte order reverses: RATIONAL is two LONGs. 0 for an unknown
 * type.
 */
unsigned tz_type_word_size(uint16_t type);

/* Returns TIFF's number of an interpretation; above 16 bits if it has none. */
static inline uint32_t tz_photometric_number(tz_photometric photometric)
{
    return photometric == TZ_PHOTOMETRIC_MIN_IS_WHITE ? TZ_PHOTOMETRIC_NUMBER_MIN_IS_WHITE
                                                      : (uint32_t)photometric;
}

/* Channels that a photometric interpretation itself accounts for. */
uint32_t tz_photometric_channels(uint16_t photometric);

/* Location of a tag for messages: its number, its name, and an offset in the file. */
tz_location tz_at_tag(uint16_t tag, uint64_t offset);

/* Fail or warn because of a defect of the file. The subject in the name decides the cause, and with
 * it the result: a warning becomes that error in strict mode. Then come the location and the text,
 * which must be a literal, because its address identifies the kind of a warning. */
#define TZ_FAIL_TAG(ctx, ...)       tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, __VA_ARGS__)
#define TZ_FAIL_IFD(ctx, ...)       tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_IFD, __VA_ARGS__)
#define TZ_FAIL_LAYOUT(ctx, ...)    tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_LAYOUT, __VA_ARGS__)
#define TZ_FAIL_TRUNCATED(ctx, ...) tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED, __VA_ARGS__)
#define TZ_FAIL_GEO(ctx, ...)       tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO, __VA_ARGS__)
#define TZ_FAIL_UNSUPPORTED(ctx, ...)                                                              \
    tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, __VA_ARGS__)
#define TZ_WARN_TAG(ctx, ...)    tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG, __VA_ARGS__)
#define TZ_WARN_IFD(ctx, ...)    tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_IFD, __VA_ARGS__)
#define TZ_WARN_LAYOUT(ctx, ...) tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_LAYOUT, __VA_ARGS__)
#define TZ_WARN_GEO(ctx, ...)    tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO, __VA_ARGS__)
#define TZ_WARN_META(ctx, ...)   tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_META, __VA_ARGS__)
#define TZ_WARN_UNSUPPORTED(ctx, ...)                                                              \
    tz_warn(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, __VA_ARGS__)

/* Returns the context for a call whose failure is repaired: its error goes to *failed, from which
 * tz_warn_from_error makes a warning. */
static inline tz_context tz_quiet_context(const tz_context *ctx, tz_error *failed)
{
    tz_context quiet = *ctx;
    quiet.err = failed;
    return quiet;
}

/* tz_check_limit for a limit that costs only a part of the file: if value is above it, *allowed
 * becomes false, with a warning of this kind. Otherwise *allowed stays as it is. */
tz_result tz_check_soft_limit(const tz_context *ctx, size_t member_offset, tz_location location,
                              uint64_t value, const char *what, const char *kind, bool *allowed);

/* Fail with the error of a wrong argument; the second one names the tag it is about. */
#define TZ_FAIL_ARG(ctx, ...) tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), __VA_ARGS__)
#define TZ_FAIL_ARG_TAG(ctx, tag, ...)                                                             \
    tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_at_tag(tag, TZ_NO_VALUE), __VA_ARGS__)

#endif
