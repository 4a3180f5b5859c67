/* SPDX-License-Identifier: Apache-2.0
 * See inflate_isal.h. A comparison costs little: the slower inflater decodes one tile of a clear
 * case, three at most. */
#ifdef TZ_HAVE_ISAL
#include <igzip_lib.h>
#endif

#include "base/mem.h"
#include "codec/inflate_isal.h"

/* ---------------------------------------------------------------------------------------------
 * The trial
 * ------------------------------------------------------------------------------------------ */

enum {
    FIRST_INTERVAL = 32,
    MAX_INTERVAL = 1024,
    MAX_ROUNDS = 3,
    /* per cent of the time of inflater 0 that inflater 1 takes */
    FASTER = 97,
    CLEARLY_FASTER = 90,
    CLEARLY_SLOWER = 111
};

unsigned tz_inflate_trial_choose(tz_inflate_trial *trial, bool *timed)
{
    *timed = trial->tiles_left == 0;
    if (!*timed) {
        trial->tiles_left--;
        return trial->preferred;
    }
    return trial->tiles[0] > trial->tiles[1];
}

static void end_comparison(tz_inflate_trial *trial, unsigned preferred, uint32_t interval)
{
    *trial =
        (tz_inflate_trial){.preferred = preferred, .tiles_left = interval, .interval = interval};
}

void tz_inflate_trial_report(tz_inflate_trial *trial, unsigned which, uint64_t nanoseconds,
                             uint64_t bytes)
{
    trial->nanoseconds[which] += nanoseconds;
    trial->bytes[which] += bytes;
    trial->tiles[which]++;
    if (trial->tiles[0] != trial->tiles[1])
        return;
    double cost0 = (double)trial->nanoseconds[0] * (double)trial->bytes[1];
    double cost1 = (double)trial->nanoseconds[1] * (double)trial->bytes[0];
    bool clear = cost1 * 100 < cost0 * CLEARLY_FASTER || cost1 * 100 > cost0 * CLEARLY_SLOWER;
    if (!clear && trial->tiles[0] < MAX_ROUNDS)
        return;
    uint32_t interval = trial->interval == 0 ? FIRST_INTERVAL : trial->interval * 2;
    end_comparison(trial, cost1 * 100 < cost0 * FASTER, tz_min_u32(interval, MAX_INTERVAL));
}

void tz_inflate_trial_give_up(tz_inflate_trial *trial)
{
    end_comparison(trial, 0, MAX_INTERVAL);
}

/* ---------------------------------------------------------------------------------------------
 * ISA-L
 * ------------------------------------------------------------------------------------------ */

#ifdef TZ_HAVE_ISAL

struct tz_isal {
    struct inflate_state state;
};
_Static_assert(sizeof(tz_isal) <= TZ_ISAL_BYTES, "reads plan for this many bytes");

tz_isal *tz_isal_open(void)
{
    tz_isal *isal = tz_alloc(sizeof *isal);
    if (isal)
        isal_inflate_init(&isal->state);
    return isal;
}

void tz_isal_close(tz_isal *isal)
{
    tz_free(isal);
}

bool tz_isal_inflate(tz_isal *isal, const uint8_t *in, size_t in_size, uint8_t *out, size_t size,
                     size_t *used)
{
    struct inflate_state *state = &isal->state;
    if (in_size > UINT32_MAX || size > UINT32_MAX)
        return false;
    isal_inflate_reset(state);
    state->crc_flag = ISAL_DEFLATE;
    state->next_in = (uint8_t *)(uintptr_t)in; /* ISA-L only reads there */
    state->avail_in = (uint32_t)in_size;
    state->next_out = out;
    state->avail_out = (uint32_t)size;
    if (isal_inflate_stateless(state) != ISAL_DECOMP_OK ||
        state->block_state != ISAL_BLOCK_FINISH || state->total_out != size)
        return false;
    *used = (size_t)(state->next_in - in);
    return *used <= in_size;
}

#else

tz_isal *tz_isal_open(void)
{
    return NULL;
}

void tz_isal_close(tz_isal *isal)
{
    (void)isal;
}

bool tz_isal_inflate(tz_isal *isal, const uint8_t *in, size_t in_size, uint8_t *out, size_t size,
                     size_t *used)
{
    (void)isal, (void)in, (void)in_size, (void)out, (void)size, (void)used;
    return false;
}

#endif
