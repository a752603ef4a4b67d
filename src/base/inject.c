/* inject.c - see inject.h.  The state is the process's, as a debugger's would be. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dapo/inject.h"

static const char *const points[INJECT_COUNT] = {
#define X(name, text, code, meaning) text,
    INJECT_LIST(X)
#undef X
};
static const enum fault_code codes[INJECT_COUNT] = {
#define X(name, text, code, meaning) code,
    INJECT_LIST(X)
#undef X
};

enum how { FAIL, KILL, CRASH, HANG, HOWS };
static const char *const hows[HOWS] = {"fail", "kill", "crash", "hang"};

static int armed = -1; /* the point; -1: none on this rank */
static long left;      /* passages until it goes wrong */
static long nth;
static enum how how;

static int find(const char *const *names, int n, const char *s, size_t len)
{
    for (int i = 0; i < n; i++)
        if (strlen(names[i]) == len && !memcmp(names[i], s, len))
            return i;
    return -1;
}

int inject_arm(const char *spec, int rank, struct fault *f)
{
    size_t len = strcspn(spec, ":");
    int point = find(points, INJECT_COUNT, spec, len);
    long of = -1, count = 0;
    int used = 0, as = FAIL;

    armed = -1;
    if (!*spec)
        return 0;
    if (point >= 0 && sscanf(spec + len, ":%ld:%ld%n", &of, &count, &used) == 2 &&
        spec[len + (size_t)used] == ':') {
        const char *word = spec + len + used + 1;

        as = find(hows, HOWS, word, strlen(word));
        used += (int)strlen(word) + 1;
    }
    if (point < 0 || of < 0 || count < 1 || as < 0 || spec[len + (size_t)used] != '\0')
        return fault_set(f, FAULT_CONFIG,
                         "debug.fault = %.80s: want POINT:RANK:NTH or "
                         "POINT:RANK:NTH:fail|kill|crash|hang, the points are in "
                         "include/dapo/inject.h",
                         spec);
    if (of != rank)
        return 0;
    armed = point;
    left = nth = count;
    how = (enum how)as;
    return 0;
}

int inject_pass(enum inject_point p, struct fault *f)
{
    if ((int)p != armed || --left != 0)
        return 0;
    fflush(NULL);
    switch (how) {
    case KILL:
        kill(getpid(), SIGKILL);
        break;
    case CRASH:
        raise(SIGSEGV);
        break;
    case HANG:
        for (;;)
            pause();
    default:
        break;
    }
    armed = -1;
    return fault_set(f, codes[p], "debug.fault: %s number %ld fails, as asked for",
                     points[p], nth);
}
