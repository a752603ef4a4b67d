/* deaths.c - RUN/deaths: what a rank was generating for when it crashed or hung.
 *
 * A line per rank: "job=J step=S rank=R how=H rows=A,B,C", J the job's start in
 * seconds, H the signal, 0 for a hang.  The same prompts in the same step twice in a
 * row are to blame; a killed process (SIGKILL) leaves no line, since nothing speaks
 * against them.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapo/mem.h"
#include "watch/watch_private.h"

#define MOST_FILE ((size_t)16 << 20)
#define MOST_DEATHS 100

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define CRASHES ((int)(sizeof crashes / sizeof crashes[0]))

/* The process's: a signal handler has nothing else to look at. */
static char path[4096];
static int my_rank;
static struct sigaction before[CRASHES];
static _Atomic int64_t job;
static _Atomic int n_rows;
static _Atomic int64_t row[WATCH_PROMPTS];
static char stack[1 << 16];

void watch_generating(const int64_t *rows, int n)
{
    atomic_store(&n_rows, 0);
    n = n < WATCH_PROMPTS ? n : WATCH_PROMPTS;
    for (int i = 0; i < n; i++)
        atomic_store(&row[i], rows[i]);
    atomic_store(&n_rows, n);
}

int deaths_rows(int64_t rows[WATCH_PROMPTS])
{
    int n = atomic_load(&n_rows);

    for (int i = 0; i < n; i++)
        rows[i] = atomic_load(&row[i]);
    return n;
}

/* Append text and a number; only what a signal handler may do. */
static size_t add(char *line, size_t at, const char *text, int64_t v)
{
    char digits[24];
    int n = 0;

    while (*text)
        line[at++] = *text++;
    if (v < 0) {
        line[at++] = '-';
        v = -v;
    }
    do
        digits[n++] = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    while (n > 0)
        line[at++] = digits[--n];
    return at;
}

static void write_line(int64_t step, int rank, int how, const int64_t *rows, int n)
{
    char line[1024];
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    size_t at = add(line, 0, "job=", job);

    at = add(line, at, " step=", step);
    at = add(line, at, " rank=", rank);
    at = add(line, at, " how=", how);
    for (int i = 0; i < n; i++)
        at = add(line, at, i ? "," : " rows=", rows[i]);
    line[at++] = '\n';
    if (fd >= 0) {
        /* Nothing can be done about a failure in a process that is dying. */
        ssize_t written = write(fd, line, at);

        (void)written;
        close(fd);
    }
}

static void on_crash(int number)
{
    int64_t rows[WATCH_PROMPTS];
    int n = deaths_rows(rows);

    if (n)
        write_line(pulse_now().step, my_rank, number, rows, n);
    deaths_uncatch(); /* whoever was asked before us comes next */
    raise(number);
}

void deaths_catch(const char *dir, int rank, int64_t number)
{
    struct sigaction a = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER};
    stack_t s = {.ss_sp = stack, .ss_size = sizeof stack};

    snprintf(path, sizeof path, "%s/deaths", dir);
    my_rank = rank;
    job = number;
    watch_generating(NULL, 0);
    sigaltstack(&s, NULL);
    sigemptyset(&a.sa_mask);
    for (int i = 0; i < CRASHES; i++)
        sigaction(crashes[i], &a, &before[i]);
}

void deaths_uncatch(void)
{
    for (int i = 0; i < CRASHES; i++)
        sigaction(crashes[i], &before[i], NULL);
}

void deaths_note(const char *dir, const struct words *w)
{
    snprintf(path, sizeof path, "%s/deaths", dir);
    if (w->n_rows > 0 && w->n_rows <= WATCH_PROMPTS)
        write_line(w->step, w->rank, 0, w->rows, w->n_rows);
}

/* -- whom to blame ----------------------------------------------------------------- */

struct death {
    long long job, step;
    int64_t *rows;
    size_t n, cap;
};

static int add_rows(struct death *d, const char *text, struct fault *f)
{
    const char *rows = strstr(text, " rows=");

    for (const char *p = rows ? rows + 6 : ""; *p >= '0' && *p <= '9';) {
        char *end;
        int64_t v = strtoll(p, &end, 10);
        int rc = mem_grow((void **)&d->rows, &d->cap, d->n + 1, sizeof *d->rows,
                          "a death's prompts", f);

        if (rc)
            return rc;
        d->rows[d->n++] = v;
        p = end + (*end == ',');
    }
    return 0;
}

static bool has(const struct death *d, int64_t v)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->rows[i] == v)
            return true;
    return false;
}

/* The last deaths of the file, newest first: lines of one job are one death. */
static int read_deaths(char *text, int most, struct death *d, int *n, struct fault *f)
{
    char *end = text + strlen(text);

    *n = 0;
    while (end > text) {
        char *line = end;
        long long of_job, step;

        while (line > text && line[-1] != '\n')
            line--;
        if (sscanf(line, "job=%lld step=%lld", &of_job, &step) == 2) {
            if (*n == 0 || d[*n - 1].job != of_job) {
                if (*n == most)
                    break;
                d[(*n)++] = (struct death){.job = of_job, .step = step};
            }
            if (add_rows(&d[*n - 1], line, f))
                return f->code;
        }
        end = line > text ? line - 1 : line;
        *end = '\0';
    }
    return 0;
}

int watch_poison(const char *dir, int deaths, int64_t next_step, int64_t **rows, int *n,
                 struct fault *f)
{
    struct death d[MOST_DEATHS] = {0};
    struct fault why = FAULT_INIT;
    struct bytes text = {0};
    char *file = path_join(dir, "deaths", f);
    int found = 0, rc = file ? 0 : f->code;

    *rows = NULL;
    *n = 0;
    if (!rc && deaths > 0 && deaths <= MOST_DEATHS &&
        !file_read(file, MOST_FILE, &text, &why))
        rc = read_deaths(text.data, deaths, d, &found, f);
    for (int i = 0; i < found; i++)
        if (d[i].step != next_step)
            found = 0; /* the run has got past it since */
    if (!rc && found == deaths && deaths > 0) {
        *rows = mem_new(d[0].n, sizeof **rows, "prompts set aside", f);
        rc = *rows ? 0 : f->code;
        for (size_t i = 0; !rc && i < d[0].n; i++) {
            bool everywhere = true;

            for (int k = 1; k < found; k++)
                everywhere = everywhere && has(&d[k], d[0].rows[i]);
            if (everywhere)
                (*rows)[(*n)++] = d[0].rows[i];
        }
    }
    for (int i = 0; i < MOST_DEATHS; i++)
        free(d[i].rows);
    bytes_free(&text);
    free(file);
    return rc;
}
