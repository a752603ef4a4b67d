/* test_comm.c - agreement, reductions, exchange and ticks at any rank count. */
#include <stdlib.h>
#include <string.h>

#include "check_mpi.h"
#include "dapo/clock.h"

/* Fail from each rank upward: every rank must hear the same code, rank and text. */
static void one_ranks_fault_reaches_all(void)
{
    for (int bad = 0; bad < comm_size(check_comm); bad++) {
        struct fault f = FAULT_INIT;
        int rc = 0;

        if (comm_rank(check_comm) >= bad)
            rc = fault_set(&f, FAULT_DATA, "from %d", comm_rank(check_comm));
        CHECK_INT(comm_agree_all(check_comm, rc, &f), FAULT_DATA);
        CHECK_INT(f.rank, bad);
        CHECK_INT(strtol(f.text + 5, NULL, 10), bad);
    }
}

/* Among the learners only; before there are roles each rank is one by itself. */
static void some_agree_without_the_others(void)
{
    int n = comm_size(check_comm), me = comm_rank(check_comm);
    int learners = n > 2 ? 2 : 1;
    struct fault f = FAULT_INIT;

    CHECK_INT(comm_agree_among_all(check_comm, SCOPE_LEARNERS, 0, &f), 0);
    CHECK_INT(comm_agree_among_all(check_comm, SCOPE_LEARNERS,
                                   fault_set(&f, FAULT_DATA, "from %d", me), &f),
              FAULT_DATA);
    CHECK_INT(f.rank, me);
    f = FAULT_INIT;
    CHECK_OK(comm_split_all(check_comm, learners, &f), &f);
    if (comm_learns(check_comm)) {
        int rc = me == learners - 1 ? fault_set(&f, FAULT_FILE, "from %d", me) : 0;

        CHECK_INT(comm_agree_among_all(check_comm, SCOPE_LEARNERS, rc, &f), FAULT_FILE);
        CHECK_INT(f.rank, learners - 1);
    }
    /* The others hear of it by the next agreement of all. */
    CHECK_INT(comm_agree_all(check_comm, f.code, &f), FAULT_FILE);
    CHECK_INT(f.rank, learners - 1);
    CHECK_INT(strtol(f.text + 5, NULL, 10), learners - 1);
}

static void sums_are_over_all_ranks(void)
{
    int n = comm_size(check_comm), me = comm_rank(check_comm);
    double x[2] = {me + 1.0, 0.5};
    int64_t total = 10 + me, all[64];

    comm_sum_f64_all(check_comm, SCOPE_WORLD, x, 2);
    CHECK_NEAR(x[0], n * (n + 1) / 2.0, 0);
    CHECK_NEAR(x[1], 0.5 * n, 0);
    comm_sum_i64_all(check_comm, SCOPE_WORLD, &total, 1);
    CHECK_INT(total, 10 * n + n * (n - 1) / 2);
    comm_gather_i64_all(check_comm, 7 * me, all);
    for (int i = 0; i < n; i++)
        CHECK_INT(all[i], 7 * i);
}

static void exchange_brings_each_its_own(void)
{
    int n = comm_size(check_comm), me = comm_rank(check_comm);
    int out[8], in[8];
    const void *send[8];
    void *recv[8];
    size_t send_n[8], recv_n[8];

    for (int i = 0; i < n; i++) {
        out[i] = 100 * me + i;
        in[i] = -1;
        send[i] = &out[i];
        recv[i] = &in[i];
        send_n[i] = (me + i) % 2 ? 0 : sizeof(int); /* empty messages too */
        recv_n[i] = send_n[i];
    }
    comm_exchange_all(check_comm, send, send_n, recv, recv_n);
    for (int i = 0; i < n; i++)
        CHECK_INT(in[i], (me + i) % 2 ? -1 : 100 * i + me);
}

/* The root adds up what the leaders report and ends when it has heard enough; each
 * leader sees the decisions of all ticks in order, TICK_LAG slices later. */
static void root_ticks(struct ticks *t, int until)
{
    struct fault f = FAULT_INIT;
    double pause = 0;
    int sum = 0, after = 0;

    while (after < TICK_LAG) {
        if (!ticks_poll(t)) {
            clock_backoff(&pause);
            continue;
        }
        pause = 0;
        for (int r = 0; r < comm_replicas(check_comm); r++) {
            size_t n;
            const int *v = ticks_view(t, r, &n);

            for (size_t i = 0; i < n / sizeof *v; i++)
                sum += v[i];
        }
        CHECK_OK(ticks_decide(t, &sum, sizeof sum, &f), &f);
        after += sum >= until;
    }
}

static int leader_ticks(struct ticks *t, int until)
{
    struct fault f = FAULT_INIT;
    int slice = 0, last = -1;

    for (;; slice++) {
        const void *d;
        size_t n;
        int one[3] = {1, 1, 1};

        if (slice >= TICK_LAG) {
            CHECK(ticks_decision(t, true, &d, &n));
            CHECK_INT(n, sizeof(int));
            CHECK(*(const int *)d >= last);
            last = *(const int *)d;
            if (last >= until)
                break;
        }
        /* Reports of 0 to 3 numbers: often nothing. */
        CHECK_OK(ticks_report(t, one, sizeof(int) * (size_t)(slice % 4), &f), &f);
    }
    for (int i = 1; i < TICK_LAG; i++) {
        const void *d;
        size_t n;

        CHECK(ticks_decision(t, true, &d, &n));
    }
    return slice;
}

static void ticks_carry_reports_and_decisions(void)
{
    struct fault f = FAULT_INIT;
    struct ticks *t;

    if (comm_size(check_comm) == 1)
        return; /* the job of one rank is driven in turns: see the next case */
    CHECK_OK(comm_split_all(check_comm, 1, &f), &f);
    CHECK_OK(ticks_new(&t, check_comm, 64, &f), &f);
    if (comm_rank(check_comm) == 0)
        root_ticks(t, 40);
    else
        CHECK(leader_ticks(t, 40) > TICK_LAG);
    CHECK(ticks_count(t) > 0);
    ticks_free(t);
}

static void ticks_of_one_rank_take_turns(void)
{
    struct fault f = FAULT_INIT;
    struct ticks *t;
    const void *d;
    size_t n;

    if (comm_size(check_comm) != 1)
        return;
    CHECK_OK(comm_split_all(check_comm, 1, &f), &f);
    CHECK(comm_learns(check_comm) && comm_generates(check_comm));
    CHECK_OK(ticks_new(&t, check_comm, 64, &f), &f);
    CHECK(!ticks_poll(t));
    for (int i = 0; i < 5; i++) {
        CHECK_OK(ticks_report(t, &i, sizeof i, &f), &f);
        CHECK(ticks_poll(t));
        CHECK_INT(*(const int *)ticks_view(t, 0, &n), i);
        CHECK_OK(ticks_decide(t, &i, sizeof i, &f), &f);
        if (i >= 1) {
            CHECK(ticks_decision(t, true, &d, &n));
            CHECK_INT(*(const int *)d, i - 1);
        }
    }
    ticks_free(t);
}

CASES_MPI(CASE(one_ranks_fault_reaches_all), CASE(some_agree_without_the_others),
          CASE(sums_are_over_all_ranks), CASE(exchange_brings_each_its_own),
          CASE(ticks_carry_reports_and_decisions), CASE(ticks_of_one_rank_take_turns));
