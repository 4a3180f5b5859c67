/* SPDX-License-Identifier: Apache-2.0
 * A comparison costs little: the slower one decodes one tile of a clear case, three at most. */
#include "codec/inflate_trial.h"

enum {
    FIRST_INTERVAL = 32,
    MAX_INTERVAL = 1024,
    MAX_ROUNDS = 3,
    /* per cent that number 1 takes of number 0's time */
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
    end_comparison(trial, cost1 * 100 < cost0 * FASTER,
                   interval < MAX_INTERVAL ? interval : MAX_INTERVAL);
}

void tz_inflate_trial_give_up(tz_inflate_trial *trial)
{
    end_comparison(trial, 0, MAX_INTERVAL);
}
