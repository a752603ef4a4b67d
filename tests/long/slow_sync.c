/* slow_sync.c - preloaded: each fsync takes SLOW_SYNC seconds longer, on every rank or
 * on SLOW_RANK only, and then does what it would have done. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int fsync(int fd)
{
    const char *seconds = getenv("SLOW_SYNC"), *who = getenv("SLOW_RANK");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");

    if (seconds && (!who || (rank && !strcmp(who, rank)))) {
        double s = strtod(seconds, NULL);
        struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};

        nanosleep(&t, NULL);
    }
    return (int)syscall(SYS_fsync, fd);
}
