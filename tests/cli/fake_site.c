/* fake_site.c - preloaded: a place with something wrong about it, for dapo doctor.
 *
 * FAKE_LOCKS = none: the file system has no locks; = alone: each process has its own;
 * = hang: asking for one takes for ever, and alarms go off after a second.
 * FAKE_SKEW = S: rank 1's clock is S s ahead.  FAKE_SYNC = S: fsync takes S s.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int flock(int fd, int operation)
{
    const char *how = getenv("FAKE_LOCKS");

    if (how && !strcmp(how, "alone"))
        return 0;
    if (how && !strcmp(how, "none")) {
        errno = ENOLCK;
        return -1;
    }
    while (how && !strcmp(how, "hang"))
        pause();
    return (int)syscall(SYS_flock, fd, operation);
}

int clock_gettime(clockid_t which, struct timespec *t)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *skew = getenv("FAKE_SKEW");
    int rc = (int)syscall(SYS_clock_gettime, which, t);

    if (skew && rank && !strcmp(rank, "1") && which == CLOCK_REALTIME)
        t->tv_sec += strtol(skew, NULL, 10);
    return rc;
}

int fsync(int fd)
{
    const char *slow = getenv("FAKE_SYNC");

    if (slow)
        usleep((useconds_t)(1e6 * strtod(slow, NULL)));
    return (int)syscall(SYS_fsync, fd);
}

unsigned alarm(unsigned seconds)
{
    const char *how = getenv("FAKE_LOCKS");
    bool soon = how && !strcmp(how, "hang") && seconds > 1;

    return (unsigned)syscall(SYS_alarm, soon ? 1 : seconds);
}
