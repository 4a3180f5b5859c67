/* SPDX-License-Identifier: Apache-2.0
 * A comparison costs little: the slower one decodes one tile of a clear case, three at most. */
#include "codec/inflate_trial.h"

enum {
    FIRST_REST = 32,
    LONGEST_REST = 1024,
    MOST_ROUNDS = 3,
    /* per cent that number 1 takes of number 0's time */
    FASTER = 97,
    CLEARLY_FASTER = 90,
    CLEARLY_SLOWER = 111
};

unsigned tz_inflate_trial_choose(tz_inflate_trial *trial, bool *timed)
{
    *timed = trial->rest == 0;
    if (!*timed) {
        trial->rest--;
        return trial->favourite;
    }
    return trial->tiles[0] > trial->tiles[1];
}

static void end_comparison(tz_inflate_trial *trial, unsigned favourite, uint32_t rest)
{
    *trial = (tz_inflate_trial){.favourite = favourite, .rest = rest, .rest_size = rest};
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
    if (!clear && trial->tiles[0] < MOST_ROUNDS)
        return;
    uint32_t rest = trial->rest_size == 0 ? FIRST_REST : trial->rest_size * 2;
    end_comparison(trial, cost1 * 100 < cost0 * FASTER, rest < LONGEST_REST ? rest : LONGEST_REST);
}

void tz_inflate_trial_give_up(tz_inflate_trial *trial)
{
    end_comparison(trial, 0, LONGEST_REST);
}
