/* clock.h - time, for measuring only: no decision of the algorithm reads it. */
#ifndef DAPO_CLOCK_H
#define DAPO_CLOCK_H

/* Seconds of a monotonic clock, from an arbitrary start. */
double clock_now(void);
/* Seconds of CPU this process has used. */
double clock_cpu(void);
/* Sleep for about `seconds` (0 <= seconds < 10). */
void clock_sleep(double seconds);
/* A waiting rank's pause: 50 us, growing by a quarter up to 1 ms (PLATFORM: ranks share
 * cores, a spinning rank steals a working one's), so that what is waited for is seen at
 * most a quarter of the time too late.  Start with *pause = 0; reset it to 0 after
 * progress. */
void clock_backoff(double *pause);

#endif
