/* clock.c - time, for measuring. */
#include <time.h>

#include "dapo/clock.h"

static double read_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double clock_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double clock_cpu(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void clock_sleep(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds};

    t.tv_nsec = (long)(1e9 * (seconds - (double)t.tv_sec));
    nanosleep(&t, NULL);
}

void clock_backoff(double *pause)
{
    const double shortest = 50e-6, longest = 1e-3, growth = 1.25;

    *pause = *pause > 0 ? growth * *pause : shortest;
    if (*pause > longest)
        *pause = longest;
    clock_sleep(*pause);
}
