/* SPDX-License-Identifier: Apache-2.0
 * Zstandard, by libzstd, frame after frame straight into the tile, which needs no window memory.
 * Frames may follow each other and skippable ones may stand between them; together they must make
 * exactly the bytes of the tile. Other bytes after the last frame are ignored with a warning. A
 * frame with a dictionary is refused, and so is a declared size that cannot be right, before any
 * decoding.
 *
 * The encoder makes one frame with its size and a checksum of its content. For inputs as small as
 * tiles libzstd looks for shorter matches than for large ones. That suits text; in predicted
 * samples the short matches cost more than the literals they replace. So the shortest match is the
 * one that the level has for large inputs, and all else is left to libzstd, which then needs no
 * more memory than the tile asks for. */
#include <zstd.h>
#include <zstd_errors.h>

#include "base/minmax.h"
#include "codec/codec.h"
#include "codec/unaligned.h"

/* ---------------------------------------------------------------------------------------------
 * Decoder
 * ------------------------------------------------------------------------------------------ */

#define FRAME_MAGIC     UINT32_C(0xFD2FB528)
#define SKIPPABLE_MAGIC UINT32_C(0x184D2A50) /* and the next 15 */

/* Windows up to this size are normal: zstd's own decoder takes them by default. */
#define MAX_USUAL_WINDOW (UINT64_C(128) << 20)

enum { SKIPPABLE_HEADER = 8, NO_DICTIONARY = 0 };

typedef struct zstd_decoder {
    ZSTD_DCtx *context;
} zstd_decoder;

/* The tile being decoded. */
typedef struct zstd_job {
    const uint8_t *in;
    size_t in_size;
    size_t used;
    uint8_t *out;
    size_t size;
    size_t made;
} zstd_job;

static tz_result zstd_decoder_init(void *opaque, const tz_context *ctx)
{
    zstd_decoder *state = opaque;
    state->context = ZSTD_createDCtx();
    if (!state->context)
        return tz_fail(ctx, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, tz_no_location(),
                       "out of memory for a ZSTD context");
    return TZ_OK;
}

static void zstd_decoder_deinit(void *opaque)
{
    zstd_decoder *state = opaque;
    ZSTD_freeDCtx(state->context);
    state->context = NULL;
}

/* The header of a frame, in front of its blocks. */
typedef struct zstd_frame_header {
    uint64_t window;     /* bytes that the decoder must look back */
    uint64_t dictionary; /* its number; 0: none */
    bool has_content;    /* content is stored */
    uint64_t content;    /* bytes that the frame makes */
} zstd_frame_header;

/* Reads a frame's header; false if it is cut off. */
static bool read_zstd_header(const uint8_t *in, size_t in_size, zstd_frame_header *header)
{
    static const uint8_t dictionary_sizes[] = {0, 1, 2, 4};
    static const uint8_t content_sizes[] = {0, 2, 4, 8};
    if (in_size < 5)
        return false;
    unsigned descriptor = in[4];
    bool single = (descriptor & 0x20) != 0;
    size_t dictionary_size = dictionary_sizes[descriptor & 3];
    size_t content_size = content_sizes[descriptor >> 6];
    if (single && content_size == 0)
        content_size = 1;
    const uint8_t *at = in + 5;
    if (in_size - 5 < (single ? 0 : 1u) + dictionary_size + content_size)
        return false;
    unsigned window = single ? 0 : *at++;
    header->dictionary = tz_load_le_bytes(at, dictionary_size);
    header->has_content = content_size > 0;
    header->content = tz_load_le_bytes(at + dictionary_size, content_size);
    if (content_size == 2)
        header->content += 256;
    uint64_t base = UINT64_C(1) << (10 + (window >> 3));
    header->window = single ? header->content : base + base / 8 * (window & 7);
    return true;
}

/* Turns an error code of libzstd into one of ours. */
static tz_result fail_zstd_decode(size_t code, const zstd_job *job, const tz_codec_call *call)
{
    ZSTD_ErrorCode error = ZSTD_getErrorCode(code);
    if (error == ZSTD_error_dstSize_tooSmall)
        return tz_codec_fail(call, "ZSTD data makes more than the %zu bytes of the tile",
                             job->size);
    if (error == ZSTD_error_checksum_wrong)
        return tz_codec_fail(call, "the checksum of the decoded ZSTD data is wrong");
    return tz_codec_fail(call, "ZSTD data is damaged or ends too early");
}

/* Checks the header of one frame and decodes it into the tile. */
static tz_result decode_zstd_frame(zstd_decoder *state, zstd_job *job, const tz_codec_call *call)
{
    const uint8_t *at = job->in + job->used;
    size_t left = job->in_size - job->used;
    zstd_frame_header header;
    if (!read_zstd_header(at, left, &header))
        return tz_codec_fail(call, "ZSTD data ends in a frame header");
    if (header.dictionary != NO_DICTIONARY)
        return tz_codec_fail(call, "the ZSTD frame needs dictionary %u",
                             (unsigned)header.dictionary);
    if (header.has_content && header.content > job->size - job->made)
        return tz_codec_fail_size(call, job->size - job->made, header.content,
                                  "a ZSTD frame says it makes more than the tile needs");
    if (!header.has_content && header.window > MAX_USUAL_WINDOW)
        TZ_TRY(tz_codec_check_memory(call, header.window, "bytes of window of a ZSTD frame"));
    size_t frame_size = ZSTD_findFrameCompressedSize(at, left);
    if (ZSTD_isError(frame_size))
        return fail_zstd_decode(frame_size, job, call);
    size_t made = ZSTD_decompressDCtx(state->context, job->out + job->made, job->size - job->made,
                                      at, frame_size);
    if (ZSTD_isError(made))
        return fail_zstd_decode(made, job, call);
    job->used += frame_size;
    job->made += made;
    return TZ_OK;
}

static tz_result zstd_decode(void *opaque, const tz_tile_format *format, const uint8_t *in,
                             size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call)
{
    (void)stride; /* packed rows */
    zstd_job job = {.in = in, .in_size = in_size, .out = out, .size = tz_tile_bytes(format)};
    while (in_size - job.used >= 4) { /* until something else comes */
        const uint8_t *at = in + job.used;
        size_t left = in_size - job.used;
        uint32_t magic = tz_load_le32(at);
        if (magic == FRAME_MAGIC)
            TZ_TRY(decode_zstd_frame(opaque, &job, call));
        else if ((magic & ~UINT32_C(15)) == SKIPPABLE_MAGIC && left >= SKIPPABLE_HEADER &&
                 tz_load_le32(at + 4) <= left - SKIPPABLE_HEADER)
            job.used += SKIPPABLE_HEADER + (size_t)tz_load_le32(at + 4);
        else
            break;
    }
    if (job.used == 0)
        return tz_codec_fail(call, "the tile does not begin with a ZSTD frame");
    if (job.made != job.size)
        return tz_codec_fail_size(call, job.size, job.made, "ZSTD data makes too few bytes");
    return tz_codec_check_end(call, job.used, in_size);
}

const tz_decoder tz_decoder_zstd = {
    .flags = TZ_DECODER_NO_OVERRUN,
    .state_size = sizeof(zstd_decoder),
    .init = zstd_decoder_init,
    .deinit = zstd_decoder_deinit,
    .decode = zstd_decode,
};

/* ---------------------------------------------------------------------------------------------
 * Encoder
 * ------------------------------------------------------------------------------------------ */

enum { DEFAULT_LEVEL = 9, MAX_LEVEL = 22 };

typedef struct zstd_encoder {
    ZSTD_CCtx *context;
} zstd_encoder;

static const char *zstd_resolve_options(const tz_tile_format *format, tz_encode_options *options)
{
    (void)format;
    if (options->level == 0)
        options->level = DEFAULT_LEVEL;
    if (options->level < 1 || options->level > MAX_LEVEL)
        return "ZSTD levels are 1 to 22";
    return NULL;
}

static tz_result zstd_encoder_init(void *opaque, const tz_tile_format *format,
                                   const tz_encode_options *options, const tz_context *ctx)
{
    (void)format;
    zstd_encoder *state = opaque;
    state->context = ZSTD_createCCtx();
    if (!state->context)
        return tz_fail(ctx, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, tz_no_location(),
                       "out of memory for a ZSTD context");
    /* the shortest match that libzstd's levels have for large inputs */
    const int level = options->level;
    const int min_match = level == 1 ? 7 : level == 2 ? 6 : level <= 12 ? 5 : 4;
    const struct {
        ZSTD_cParameter name;
        int value;
    } settings[] = {
        {ZSTD_c_compressionLevel, level}, {ZSTD_c_minMatch, min_match}, {ZSTD_c_checksumFlag, 1}};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        size_t code = ZSTD_CCtx_setParameter(state->context, settings[i].name, settings[i].value);
        if (ZSTD_isError(code))
            return tz_fail(ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL, tz_no_location(),
                           "libzstd does not take parameter %d: %s", (int)settings[i].name,
                           ZSTD_getErrorName(code));
    }
    return TZ_OK;
}

static void zstd_encoder_deinit(void *opaque)
{
    zstd_encoder *state = opaque;
    ZSTD_freeCCtx(state->context);
    state->context = NULL;
}

static size_t zstd_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    enum { CHECKSUM_SIZE = 4 };
    return ZSTD_compressBound(tz_tile_bytes(format)) + CHECKSUM_SIZE;
}

/* The tables of hashes and of chains or trees up to a level: logarithms of their entries, 4 bytes
 * each. Both shrink to the size of the tile. */
typedef struct level_tables {
    int32_t last_level;
    uint8_t hash_log;
    uint8_t chain_log;
} level_tables;

static const level_tables tables_of_levels[] = {
    {2, 16, 14},  {4, 18, 18},  {6, 19, 18},  {8, 20, 19},  {9, 21, 20},
    {11, 22, 21}, {15, 23, 23}, {19, 22, 24}, {20, 23, 25}, {22, 25, 27},
};

/* libzstd has no stable function for its memory. It takes two tables, a byte or two beside each
 * hash, and for a block its literals, sequences and statistics. */
static uint64_t zstd_memory(const tz_tile_format *format, const tz_encode_options *options)
{
    enum { MIN_LOG = 10, MAX_LOG = 27, BLOCK_LOG = 17, FIXED = 200 << 10 };
    unsigned window_log = MIN_LOG;
    while (window_log < MAX_LOG && (tz_tile_bytes(format) - 1) >> window_log != 0)
        window_log++;
    const level_tables *tables = tables_of_levels;
    while (options->level > tables->last_level)
        tables++;
    unsigned hash_log = tz_min_u32(window_log + 1, tables->hash_log);
    unsigned chain_log = tz_min_u32(window_log + 1, tables->chain_log);
    unsigned block_log = tz_min_u32(window_log, BLOCK_LOG);
    return (UINT64_C(6) << hash_log) + (UINT64_C(4) << chain_log) + (UINT64_C(5) << block_log) +
           FIXED;
}

static tz_result zstd_encode(void *opaque, const tz_tile_format *format,
                             const tz_encode_options *options, uint8_t *in, uint8_t *out,
                             size_t *out_size, const tz_codec_call *call)
{
    const zstd_encoder *state = opaque;
    size_t made =
        ZSTD_compress2(state->context, out, zstd_bound(format, options), in, tz_tile_bytes(format));
    if (ZSTD_getErrorCode(made) == ZSTD_error_memory_allocation)
        return tz_fail(call->ctx, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, call->location,
                       "out of memory for ZSTD at level %d", (int)options->level);
    if (ZSTD_isError(made))
        return tz_codec_fail(call, "libzstd cannot encode the tile: %s", ZSTD_getErrorName(made));
    *out_size = made;
    return TZ_OK;
}

const tz_encoder tz_encoder_zstd = {
    .state_size = sizeof(zstd_encoder),
    .resolve_options = zstd_resolve_options,
    .bound = zstd_bound,
    .memory = zstd_memory,
    .init = zstd_encoder_init,
    .deinit = zstd_encoder_deinit,
    .encode = zstd_encode,
};
