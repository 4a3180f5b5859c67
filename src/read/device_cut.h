/* SPDX-License-Identifier: Apache-2.0
 * Which reads of a plan's wave go to a device together, and where in its memory all of it lies. */
#ifndef TZ_READ_DEVICE_CUT_H
#define TZ_READ_DEVICE_CUT_H

#include "device/ops/decode.h"
#include "read/device_direct.h"

/* How tiles become rows. */
typedef enum tz_way {
    TZ_WAY_RAW,      /* they are rows */
    TZ_WAY_DEVICE,   /* the device decodes them */
    TZ_WAY_PICTURES, /* a library does, whose streams stay in memory of the host */
    TZ_WAY_CORES     /* the cores do */
} tz_way;

enum { TZ_DEVICE_CODECS = 8 };

/* Bytes of a device and of pinned memory. */
typedef struct tz_rooms {
    uint64_t device, pinned;
} tz_rooms;

/* What a wave takes. */
typedef struct tz_need {
    uint64_t units, fetches;
    tz_decode_need decodes[TZ_DEVICE_CODECS]; /* tiles by codec */
    uint64_t undos, places;                   /* entries */
    uint64_t input;                           /* bytes as stored, for the device */
    tz_direct_room direct;                    /* the same that come straight from files */
    uint64_t bounced;                         /* of input: those that could, in other files */
    uint64_t kept;                            /* bytes as stored, for the cores and for libraries */
    uint64_t given;                           /* rows that the cores decode for the device */
    uint64_t rows;                            /* rows that the device decodes */
    uint64_t pictures;                        /* tiles for libraries */
    uint64_t streams;                         /* bytes of those that are put together */
    uint64_t spare;                           /* their rows, should the cores have to decode them */
    uint64_t staged;                          /* pixels that go to the host */
} tz_need;

/* Where it lies in the slab. The first upload bytes go up; of spare, only what is used. The first
 * mirrored bytes are in pinned memory as well, which has room for what does not come straight from
 * files after all; and behind them there what comes down and what the device does not see. */
typedef struct tz_layout {
    uint64_t formats, constants;
    uint64_t decodes[TZ_DEVICE_CODECS];
    uint64_t undos, places, input, given, spare;
    uint64_t upload;
    uint64_t direct;
    uint64_t mirrored;
    uint64_t statuses, staged;
    uint64_t download; /* bytes from statuses on */
    uint64_t rows;
    uint64_t scratch[TZ_DEVICE_CODECS];
    uint64_t kept, streams; /* in pinned memory */
    tz_rooms size;          /* of it all */
} tz_layout;
tz_layout tz_layout_of(const tz_device_plan *dp, const tz_need *need);

/* Reads and empty units of the plan's wave, and how many of them are taken already. */
typedef struct tz_work {
    const tz_span *fetches;
    size_t fetch_count, fetch;
    const uint32_t *empty;
    size_t empty_count, empty_at;
    bool by_cores;      /* all of it is decoded by the cores */
    const uint64_t *at; /* by fetch: offset in pinned memory of bytes that are there already; NULL:
                           all bytes are read */
} tz_work;
tz_work tz_work_of(const tz_plan *plan); /* the whole wave */

/* The next part: as much as the rooms hold, and one read at least. false: nothing is left. */
typedef struct tz_cut {
    size_t fetch0, fetch1, empty0, empty1;
    tz_need need;
    tz_layout layout;
} tz_cut;
bool tz_cut_next(const tz_plan *plan, tz_work *work, const tz_rooms *rooms, tz_cut *out);

/* Which way a unit goes, and whether all who want it have buffers of the host: then the device is
 * not asked where the cores have decoded it. */
tz_way tz_unit_way(const tz_plan *plan, const tz_unit *unit, bool by_cores);
bool tz_unit_on_host(const tz_plan *plan, const tz_unit *unit);
/* Whether its bytes are not sent to the device. */
bool tz_way_keeps(tz_way way);

/* Bytes of a part of the slab, with what keeps it apart from the next. */
uint64_t tz_slab_part(uint64_t size);

/* ---- the part of a unit that a target wants ---- */

typedef struct tz_rect {
    const tz_target *target;
    const struct tz_device_target *how;
    uint32_t x, y; /* in the tile */
    uint32_t columns, rows;
    int64_t column, row; /* in the buffer */
    uint32_t plane;
} tz_rect;
/* Of wanted number index of the unit; false: nothing of it. */
bool tz_rect_of(const tz_plan *plan, const tz_unit *unit, uint32_t index, tz_rect *out);

/* Bands that are placed each on its own; whole rows are one. Which of the buffer is number index.
 */
uint32_t tz_rect_bands(const tz_rect *rect);
uint32_t tz_rect_band(const tz_rect *rect, uint32_t index);
/* Samples of a row that are placed one after the other. */
uint32_t tz_rect_samples(const tz_rect *rect);
/* Entries of the table for one band. */
uint64_t tz_place_pieces(uint32_t rows, uint32_t columns);
/* Bytes of its pixels, and of its mask, that go down to the host. */
uint64_t tz_rect_staged_pixels(const tz_rect *rect);
uint64_t tz_rect_staged_mask(const tz_rect *rect);

#endif
