/* stop.c - see stop.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapo/clock.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "dapo/random.h"
#include "dapo/train.h"
#include "train/stop.h"

#define PROBE ((size_t)16 << 20)
#define MOST_POISON ((size_t)1 << 20)

/* Written by signal handlers, read between slices. */
static volatile sig_atomic_t stop_flag;

void train_request_stop(void)
{
    stop_flag = 1;
}

int stop_watch_all(struct session *s, const char *dir, struct fault *f)
{
    struct watch_config w = {
        .dir = dir,
        .hang_s = s->cfg->train.watchdog_s,
        .max_hours = s->cfg->train.max_hours,
    };

    return watch_start_all(&s->watch, s->comm, &w, f);
}

bool stop_requested(void)
{
    return stop_flag != 0;
}

const char *stop_text(enum stop_why why)
{
    static const char *const text[] = {"", "on request", "by the file stop",
                                       "before its time is up"};

    return text[why];
}

enum stop_why stop_due(struct session *s, double more)
{
    double needed = s->save_seconds + s->cfg->train.margin_s + more;

    /* Once there is a reason it stays. */
    if (stop_requested())
        s->stop_why = STOP_SIGNAL;
    else if (comm_rank(s->comm) == 0 && s->watch && s->stop_why == STOP_NOT)
        s->stop_why = watch_stop_file(s->watch)            ? STOP_FILE
                      : watch_time_left(s->watch) < needed ? STOP_TIME
                                                           : STOP_NOT;
    return (enum stop_why)s->stop_why;
}

enum stop_why stop_agreed_all(struct session *s, double more)
{
    double why = stop_due(s, more);

    comm_max_f64_all(s->comm, SCOPE_WORLD, &why, 1);
    return (enum stop_why)why;
}

bool stop_may_save_all(struct session *s)
{
    double late = comm_rank(s->comm) == 0 && s->watch &&
                  watch_time_left(s->watch) < s->save_seconds;

    comm_max_f64_all(s->comm, SCOPE_WORLD, &late, 1);
    return late == 0;
}

/* Seconds to write and sync PROBE bytes that don't compress. */
static int probe(const char *dir, double *seconds, struct fault *f)
{
    uint64_t *x = mem_new(PROBE, 1, "a probe of the disk", f);
    char *path = x ? path_join(dir, "probe.tmp", f) : NULL;
    double start = clock_now();
    int fd = -1, rc = path ? 0 : f->code;

    for (size_t i = 0; x && i < PROBE / sizeof *x; i++)
        x[i] = hash64(&i, sizeof i, 0);
    if (!rc) {
        start = clock_now();
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    }
    if (!rc && (fd < 0 || write(fd, x, PROBE) != (ssize_t)PROBE || fsync(fd)))
        rc = fault_set(f, FAULT_FILE,
                       "%s: can't be written: %s; a checkpoint could not be either",
                       path, strerror(errno));
    *seconds = clock_now() - start;
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    free(path);
    free(x);
    return rc;
}

int stop_measure_all(struct session *s, const char *dir, struct fault *f)
{
    int rc = 0;

    if (comm_rank(s->comm) == 0 && isfinite(watch_time_left(s->watch))) {
        double bytes = 3.0 * sizeof(float) * (double)model_n_params(s->model), seconds;

        rc = probe(dir, &seconds, f);
        s->save_seconds = rc ? 0 : seconds * fmax(bytes / (double)PROBE, 1);
        if (!rc)
            log_line(LOG_INFO,
                     "time_left=%.0f s save_estimate=%.1f s (by a probe of the disk)",
                     watch_time_left(s->watch), s->save_seconds);
    }
    return comm_agree_all(s->comm, rc, f);
}

/* -- prompts set aside ------------------------------------------------------------- */

static int add_poison(struct session *s, int64_t row, struct fault *f)
{
    int rc;

    if (poison_has(s, row) || row < 0 || row >= (int64_t)s->train.file.n)
        return 0;
    rc = mem_grow((void **)&s->poison, &s->poison_cap, (size_t)s->n_poison + 1,
                  sizeof *s->poison, "prompts set aside", f);
    if (!rc)
        s->poison[s->n_poison++] = row;
    return rc;
}

bool poison_has(const struct session *s, int64_t row)
{
    for (int i = 0; i < s->n_poison; i++)
        if (s->poison[i] == row)
            return true;
    return false;
}

/* Those of earlier starts: a row number a line. */
static int read_poison(struct session *s, const char *path, struct fault *f)
{
    struct bytes text = {0};
    int rc = 0;

    if (!access(path, F_OK))
        rc = file_read(path, MOST_POISON, &text, f);
    for (char *p = text.data, *end; !rc && p && *p; p = end + (*end == '\n')) {
        int64_t row = strtoll(p, &end, 10);

        if (end == p || (*end != '\n' && *end))
            rc = fault_set(f, FAULT_DATA,
                           "%s: want a row number of data.train a line; correct or "
                           "remove it",
                           path);
        else
            rc = add_poison(s, row, f);
    }
    bytes_free(&text);
    return rc;
}

static int write_poison(const struct session *s, const char *path, struct fault *f)
{
    struct bytes text = {0};
    int rc = 0;

    for (int i = 0; i < s->n_poison && !rc; i++)
        rc = bytes_printf(&text, f, "%" PRId64 "\n", s->poison[i]);
    if (!rc)
        rc = file_publish(path, text.data, text.len, f);
    bytes_free(&text);
    return rc;
}

int poison_load(struct session *s, const char *dir, struct fault *f)
{
    bool able = s->cfg->admission.surplus == SURPLUS_DISCARD;
    char *path = path_join(dir, "poison", f);
    int64_t *rows = NULL;
    int n = 0, before, rc = path ? read_poison(s, path, f) : f->code;

    before = s->n_poison;
    if (!rc)
        rc = watch_poison(dir, (int)s->cfg->train.poison_deaths, s->step + 1, &rows, &n,
                          f);
    for (int i = 0; i < n && !rc; i++) {
        if (rows[i] < 0 || rows[i] >= (int64_t)s->train.file.n)
            continue;
        log_line(
            LOG_WARN,
            "prompt %s was in work on a rank that died, %" PRId64 " times in a row: "
            "%s",
            s->train.file.row[rows[i]].id, s->cfg->train.poison_deaths,
            able ? "it is set aside from now on (RUN/poison)"
                 : "with admission.surplus = resume it can't be set aside; take it "
                   "out of data.train");
        if (able)
            rc = add_poison(s, rows[i], f);
    }
    if (!rc && s->n_poison > before)
        rc = write_poison(s, path, f);
    free(rows);
    free(path);
    return rc;
}
