/* report.c - lines of the report, the clock over each test, the worst of all ranks. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/comm_mpi.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "doctor/report.h"

#define PATIENCE 120 /* s for one test */

static void say(struct report *r, const char *level, const char *what,
                const char *remedy, char *text)
{
    text_tame(text);
    if (r->how == DOCTOR_START) {
        if (remedy)
            log_line(LOG_WARN, "%s: %s; %s", what, text, remedy);
        return;
    }
    printf("%-8s %-10s %s%s%s\n", level, what, text, remedy ? " -- " : "",
           remedy ? remedy : "");
    fflush(stdout); /* the next test may hang */
}

#define FORMAT(text)                              \
    do {                                          \
        va_list ap;                               \
        va_start(ap, format);                     \
        vsnprintf(text, sizeof text, format, ap); \
        va_end(ap);                               \
    } while (0)

void say_ok(struct report *r, const char *what, const char *format, ...)
{
    char text[1024];

    if (comm_rank(r->comm) != 0)
        return;
    FORMAT(text);
    say(r, "ok", what, NULL, text);
}

void say_warning(struct report *r, const char *what, const char *remedy,
                 const char *format, ...)
{
    char text[1024];

    if (comm_rank(r->comm) != 0)
        return;
    FORMAT(text);
    say(r, "warning", what, remedy, text);
    r->warnings++;
}

void say_failure(struct report *r, enum fault_code code, const char *what,
                 const char *remedy, const char *format, ...)
{
    char text[1024];

    if (comm_rank(r->comm) != 0)
        return;
    FORMAT(text);
    if (r->how != DOCTOR_START) /* there it is the run's last sentence */
        say(r, "failure", what, remedy, text);
    if (!r->failures++)
        fault_set(&r->first, code, "%s: %s; %s", what, text, remedy);
}

/* -- the clock over each test ------------------------------------------------------ */

/* The process's: a signal handler has nothing else to look at. */
static char last_words[256];

static void on_alarm(int number)
{
    (void)number;
    if (write(2, last_words, strlen(last_words)) < 0)
        _exit(FAULT_SYSTEM);
    _exit(FAULT_SYSTEM);
}

void stage(const struct report *r, const char *what)
{
    struct sigaction a = {.sa_handler = on_alarm};

    if (r->how == DOCTOR_START)
        return;
    alarm(0);
    if (!what)
        return;
    snprintf(last_words, sizeof last_words,
             "dapo: rank %d on %s: %s: no progress for %d s; ending the job\n",
             comm_rank(r->comm), comm_host(r->comm), what, PATIENCE);
    sigemptyset(&a.sa_mask);
    sigaction(SIGALRM, &a, NULL);
    alarm(PATIENCE);
}

/* -- helpers ----------------------------------------------------------------------- */

double worst_all(struct comm *c, double badness, void *data, size_t n)
{
    struct {
        double value;
        int rank;
    } mine = {badness, comm_rank(c)}, worst;
    MPI_Request q;

    MUST(MPI_Iallreduce(&mine, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm_mpi(c), &q));
    comm_finish(&q);
    MUST(MPI_Ibcast(data, (int)n, MPI_BYTE, worst.rank, comm_mpi(c), &q));
    comm_finish(&q);
    return worst.value;
}
