/* watch.c - the watching thread of a rank. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dapo/clock.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "watch/watch_private.h"

#define ASK_AGAIN 300.0 /* s between two looks at the allocation's end */
#define LOOK 2.0        /* s between two looks for RUN/stop */
#define JUDGES 3        /* lowest ranks, one of which ends a job that hangs */
#define MOST_LINES 64   /* ranks named then */

struct peer {
    int rank, pid;
};

struct watch {
    struct comm *comm;
    char *dir, *stop_file;
    int rank, size;
    double hang_s, beat_s, end_by; /* s; end_by: by max_hours, on clock_now */
    struct site site;
    bool events;
    struct peer *peer; /* [n_peers] other ranks of this node */
    struct pollfd *fd; /* [n_peers + 1] the last one wakes the thread */
    int n_peers;
    int words;       /* file; -1 */
    uint64_t *beats; /* [size] JUDGES: as last read ... */
    double changed;  /* ... and when one of them last changed */
    _Atomic bool stop, stop_file_seen;
    _Atomic double left_until; /* rank 0: the allocation's end, on clock_now */
    pthread_t thread;
    bool running; /* the thread is */
    bool started; /* on every rank */
};

/* -- peers ------------------------------------------------------------------------- */

static int pidfd(int pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    errno = ENOSYS;
    (void)pid;
    return -1;
#endif
}

/* Who else runs here: every rank's process number and node, gathered. */
static int find_peers_all(struct watch *w, struct fault *f)
{
    int64_t host = (int64_t)hash64(comm_host(w->comm), strlen(comm_host(w->comm)), 0);
    int64_t *pids = mem_new((size_t)w->size, sizeof *pids, "peers", f);
    int64_t *hosts = mem_new((size_t)w->size, sizeof *hosts, "peers", f);
    int rc = comm_agree_all(w->comm, pids && hosts ? 0 : f->code, f);

    if (!rc) {
        comm_gather_i64_all(w->comm, getpid(), pids);
        comm_gather_i64_all(w->comm, host, hosts);
        for (int r = 0; r < w->size; r++) {
            int fd = r != w->rank && hosts[r] == host ? pidfd((int)pids[r]) : -1;

            if (fd < 0)
                continue;
            w->peer[w->n_peers] = (struct peer){r, (int)pids[r]};
            w->fd[w->n_peers++] = (struct pollfd){.fd = fd, .events = POLLIN};
        }
    }
    free(pids);
    free(hosts);
    return rc;
}

static void tell_deaths(struct watch *w)
{
    struct pulse p = pulse_now();

    for (int i = 0; i < w->n_peers; i++) {
        if (!(w->fd[i].revents & POLLIN))
            continue;
        log_line(LOG_ERROR,
                 "rank %d (process %d on %s) has died; here: %s, step %lld, tick %lld",
                 w->peer[i].rank, w->peer[i].pid, w->site.host, phase_text(p.phase),
                 (long long)p.step, (long long)p.tick);
        close(w->fd[i].fd);
        w->fd[i].fd = -1;
    }
}

/* -- words and hangs --------------------------------------------------------------- */

/* False if they couldn't be written: then nobody can be called silent. */
static bool say_words(struct watch *w)
{
    struct pulse p = pulse_now();
    struct words mine = {.rank = w->rank,
                         .pid = getpid(),
                         .phase = (int32_t)p.phase,
                         .generates = comm_generates(w->comm),
                         .step = p.step,
                         .tick = p.tick,
                         .beats = p.beats,
                         .seconds = (int64_t)time(NULL)};

    memcpy(mine.host, w->site.host, sizeof mine.host);
    mine.n_rows = deaths_rows(mine.rows);
    return !words_put(w->words, &mine);
}

/* Whether any rank has shown a sign of life since the last look. */
static bool any_change(struct watch *w)
{
    bool change = false;

    for (int r = 0; r < w->size; r++) {
        struct words x;

        if (words_get(w->words, r, &x) || x.beats == w->beats[r])
            continue;
        w->beats[r] = x.beats;
        change = true;
    }
    return change;
}

/* A rank that hangs in generation is behind the others' ticks, which wait for it. */
static bool suspect(const struct words *x, int64_t now, double beat, int64_t last_tick)
{
    return (double)(now - x->seconds) > 3 * beat + 2 ||
           (x->generates && x->phase == PHASE_GENERATE && x->tick < last_tick);
}

static void end_hang(struct watch *w)
{
    int64_t now = (int64_t)time(NULL), last_tick = -1;
    struct words x;
    int lines = 0;

    log_line(LOG_ERROR,
             "nothing has progressed for %.0f s on any rank; last words of those that "
             "are silent or behind, then of the others:",
             clock_now() - w->changed);
    for (int r = 0; r < w->size; r++)
        if (!words_get(w->words, r, &x) && x.generates && x.tick > last_tick)
            last_tick = x.tick;
    for (int pass = 0; pass < 2; pass++)
        for (int r = 0; r < w->size; r++) {
            bool bad;

            if (words_get(w->words, r, &x))
                continue;
            bad = suspect(&x, now, w->beat_s, last_tick);
            if (bad && pass == 0)
                deaths_note(w->dir, &x);
            if (bad == (pass == 0) && lines++ < MOST_LINES)
                log_line(LOG_ERROR,
                         "rank %d on %s (process %d): %s: phase %s, step %lld, tick "
                         "%lld, heard of %lld s ago",
                         r, x.host, x.pid, bad ? "silent or behind" : "waits",
                         phase_text((enum phase)x.phase), (long long)x.step,
                         (long long)x.tick, (long long)(now - x.seconds));
        }
    log_line(LOG_ERROR, "ending the job; the same command goes on from the newest "
                        "checkpoint");
    pmix_end_job(FAULT_STOPPED, "dapo: nothing progresses");
    sleep(1);
    _exit(FAULT_STOPPED);
}

static void judge(struct watch *w, bool told)
{
    /* Should the lower judges be the ones that hang, the next takes over. */
    double patience = w->hang_s * (1 + 0.5 * w->rank);

    /* A full disk must not end a run from here. */
    if (any_change(w) || !told)
        w->changed = clock_now();
    else if (clock_now() - w->changed > patience)
        end_hang(w);
}

/* -- the thread -------------------------------------------------------------------- */

static void *watch_thread(void *p)
{
    struct watch *w = p;
    double next_beat = 0, next_look = 0, next_ask = clock_now() + ASK_AGAIN;
    const double pause = w->beat_s < 1 ? w->beat_s : 1;

    while (!w->stop) {
        double now = clock_now();

        if (w->hang_s > 0 && now >= next_beat) {
            bool told = say_words(w);

            if (w->beats)
                judge(w, told);
            next_beat = now + w->beat_s;
        }
        if (w->rank == 0 && now >= next_look) {
            w->stop_file_seen = access(w->stop_file, F_OK) == 0;
            next_look = now + LOOK;
        }
        if (w->rank == 0 && now >= next_ask) {
            w->left_until = clock_now() + site_time_left();
            next_ask = now + ASK_AGAIN;
        }
        if (poll(w->fd, (nfds_t)w->n_peers + 1, (int)(pause * 1000)) > 0 && !w->stop)
            tell_deaths(w);
    }
    return NULL;
}

/* -- life -------------------------------------------------------------------------- */

static int make(struct watch *w, const struct watch_config *c, struct fault *f)
{
    size_t n = (size_t)w->size;

    site_read(&w->site);
    w->hang_s = c->hang_s;
    w->beat_s = fmin(fmax(c->hang_s / 6, 0.05), 15);
    w->end_by = c->max_hours > 0 ? clock_now() + 3600 * c->max_hours : INFINITY;
    w->left_until = INFINITY;
    w->changed = clock_now();
    w->dir = path_join(c->dir, "", f);
    w->stop_file = path_join(c->dir, "stop", f);
    w->peer = mem_new(n, sizeof *w->peer, "peers", f);
    w->fd = mem_new(n + 1, sizeof *w->fd, "peers", f);
    if (w->rank < JUDGES && c->hang_s > 0)
        w->beats = mem_new(n, sizeof *w->beats, "the ranks' words", f);
    if (!w->dir || !w->stop_file || !w->peer || !w->fd ||
        (w->rank < JUDGES && c->hang_s > 0 && !w->beats))
        return f->code;
    if (w->rank == 0 && !unlink(w->stop_file))
        log_line(LOG_INFO, "%s removed: it was for an earlier job", w->stop_file);
    else if (w->rank == 0 && errno != ENOENT)
        return fault_set(f, FAULT_FILE,
                         "%s: is there, of an earlier job, and can't be removed: %s",
                         w->stop_file, strerror(errno));
    if (c->hang_s > 0 && (w->words = words_open(c->dir)) < 0)
        return fault_set(f, FAULT_FILE, "%s/words: can't be opened: %s", c->dir,
                         strerror(errno));
    return 0;
}

static int start_thread(struct watch *w, struct fault *f)
{
    sigset_t all, old;
    int bad;

    w->fd[w->n_peers] =
        (struct pollfd){.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN};
    sigfillset(&all); /* signals are the working thread's */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bad = pthread_create(&w->thread, NULL, watch_thread, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (bad)
        return fault_set(f, FAULT_SYSTEM, "no thread for the watchdog: %s",
                         strerror(bad));
    w->running = true;
    return 0;
}

int watch_start_all(struct watch **out, struct comm *c, const struct watch_config *cfg,
                    struct fault *f)
{
    struct watch *w = mem_new(1, sizeof *w, "the watchdog", f);
    int64_t job = (int64_t)time(NULL);
    int rc = comm_agree_all(c, w ? 0 : f->code, f);

    *out = w;
    if (rc)
        return rc;
    w->comm = c;
    w->rank = comm_rank(c);
    w->size = comm_size(c);
    w->words = -1;
    rc = comm_agree_all(c, make(w, cfg, f), f);
    if (!rc)
        rc = find_peers_all(w, f);
    if (rc)
        return rc;
    comm_bcast_all(c, SCOPE_WORLD, &job, sizeof job);
    w->events = pmix_watch();
    deaths_catch(w->dir, w->rank, job);
    if (w->rank == 0)
        w->left_until = clock_now() + site_time_left();
    rc = comm_agree_all(c, start_thread(w, f), f);
    w->started = !rc;
    return rc;
}

void watch_stop_all(struct watch *w)
{
    uint64_t one = 1;

    if (!w)
        return;
    if (w->running) {
        w->stop = true;
        if (write(w->fd[w->n_peers].fd, &one, sizeof one) < 0)
            log_line(LOG_DEBUG, "the watchdog ends at its next look");
        pthread_join(w->thread, NULL);
        deaths_uncatch();
    }
    if (w->started) {
        comm_barrier_all(w->comm); /* nobody watches any more: leave as you like */
        pmix_unwatch();
    }
    for (int i = 0; w->fd && i <= w->n_peers; i++)
        if (w->fd[i].fd > 0)
            close(w->fd[i].fd);
    if (w->words >= 0)
        close(w->words);
    free(w->dir);
    free(w->stop_file);
    free(w->peer);
    free(w->fd);
    free(w->beats);
    free(w);
}

double watch_time_left(const struct watch *w)
{
    return fmin(w->left_until, w->end_by) - clock_now();
}

bool watch_stop_file(const struct watch *w)
{
    return w->stop_file_seen;
}

void watch_say(const struct watch *w)
{
    const struct site *s = &w->site;
    double left = watch_time_left(w);
    char text[32] = "none", server[80] = "";

    if (isfinite(left))
        snprintf(text, sizeof text, "%.0f s", left);
    if (*s->pmix_server)
        snprintf(server, sizeof server, " (server %s)", s->pmix_server);
    log0_line(LOG_INFO,
              "launcher=%s nodes=%d ranks_here=%d cpus=%d pmix=%s%s peer_events=%s "
              "watchdog=%.0f s time_limit=%s",
              s->launcher, s->nodes, s->local_size, s->cpus, s->pmix_client, server,
              w->events ? "yes" : "not from this launcher", w->hang_s, text);
}
