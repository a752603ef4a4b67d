/* tally.c - reward/ and rollout/ metrics: local sums, one reduction, ratios. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapo/mem.h"
#include "train/tally.h"

const struct metric_name metric_names[METRIC_COUNT] = {
#define M(id, name, unit, text) {name, unit, text},
#include "train/metrics.def"
#undef M
};

/* Sums over completions; [0] of complete groups, [1] of trained ones. */
enum sum {
    SUM_N,
    SUM_CORRECT,
    SUM_FOUND,
    SUM_RAW,
    SUM_PENALTY,
    SUM_SHAPED,
    SUM_TOKENS,
    SUM_LENGTH,
    SUM_SURPRISAL,
    SUM_UNIQUE,
    SUM_VERDICT, /* by kind */
    SUM_LAST_VERDICT = SUM_VERDICT + VERDICT_COUNT - 1,
    SUM_COUNT
};

struct sums {
    double of[2][SUM_COUNT];
    double groups, effective, effective_tokens;
    double seconds[FATE_COUNT];
    double decode, slot_iterations, iterations;
    double drawn, in, out; /* tokens: in this step, from earlier ones, for later ones */
    double idle_seconds;
    struct leader_times times;
    double trained, behind, stale; /* trained tokens; versions behind, summed; stale */
};

enum most {
    MOST_TOKENS,
    MOST_BEHIND,
    MOST_DECODE,
    MOST_ITERATIONS,
    MOST_RSS,
    MOST_COUNT
};

/* Of this process; 0 where the system doesn't say. */
static double rss_mib(void)
{
    FILE *in = fopen("/proc/self/statm", "r");
    long long pages = 0;

    if (in && fscanf(in, "%*s %lld", &pages) != 1)
        pages = 0;
    if (in)
        fclose(in);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 0x1p20;
}

static bool complete(const struct group *g)
{
    for (int i = 0; i < g->size; i++)
        if (!finish_complete(g->members[i].finish))
            return false;
    return true;
}

static bool seen_before(const struct group *g, int i)
{
    const struct completion *m = &g->members[i];

    for (int k = 0; k < i; k++)
        if (g->members[k].n_tokens == m->n_tokens &&
            !memcmp(g->members[k].ids, m->ids, (size_t)m->n_tokens * sizeof(int)))
            return true;
    return false;
}

/* Addends on a grid of 2^-20 add up exactly in double (below 2^33), so a metric does
 * not depend on how the groups lie on ranks. */
static double on_grid(double x)
{
    return rint(x * 0x1p20) * 0x1p-20;
}

static void add_completion(double *of, const struct group *g, int i)
{
    const struct completion *m = &g->members[i];
    double surprisal = 0;

    of[SUM_N] += 1;
    of[SUM_CORRECT] += m->correct;
    of[SUM_FOUND] += m->answer_found;
    of[SUM_RAW] += on_grid(m->raw_reward);
    of[SUM_PENALTY] += on_grid(m->length_penalty);
    of[SUM_SHAPED] += on_grid(m->shaped_reward);
    of[SUM_TOKENS] += m->n_tokens;
    of[SUM_LENGTH] += m->finish == FINISH_LENGTH;
    of[SUM_UNIQUE] += !seen_before(g, i);
    of[SUM_VERDICT + (int)m->verdict] += 1;
    for (int t = 0; t < m->n_tokens; t++)
        surprisal -= (double)m->logprobs[t];
    of[SUM_SURPRISAL] += on_grid(surprisal);
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0.0;
}

/* Slots there were in so many iterations. */
static double slots_of(const struct session *s, double iterations)
{
    return iterations * (double)s->cfg->rollout.slots;
}

/* A replica's decode time is billed to fates by their share of the tokens it drew in
 * this step; the share of groups that go on is not billed yet. */
static void bill_seconds(struct sums *x, const struct session *s,
                         const struct settled *r)
{
    const struct rollout_stats *st = &r->stats;
    double tokens[FATE_COUNT] = {0}, all = 0;

    if (!s->generator)
        return;
    x->decode = st->seconds;
    x->slot_iterations = (double)st->slot_iterations;
    x->iterations = (double)st->iterations;
    x->idle_seconds =
        st->seconds * (1 - ratio(x->slot_iterations, slots_of(s, x->iterations)));
    x->times = r->times;
    x->drawn = all = (double)st->decoded;
    x->in = (double)r->tokens_in;
    x->out = (double)r->tokens_out;
    for (int i = 0; i < r->n_mine; i++)
        tokens[r->mine[i]->fate] +=
            (double)(group_tokens(r->mine[i]) - group_carried(r->mine[i]));
    for (int k = 0; k < FATE_COUNT && all > 0; k++)
        x->seconds[k] = st->seconds * tokens[k] / all;
}

static void put_times(struct session *s, const struct settled *r, const struct sums *x,
                      const double most[MOST_COUNT])
{
    double *m = s->metrics;

    m[METRIC_T_DECODE] = x->decode;
    m[METRIC_T_DECODE_MAX] = most[MOST_DECODE];
    m[METRIC_T_IDLE] = x->idle_seconds;
    m[METRIC_T_JUDGE] = x->times.judge;
    m[METRIC_T_EMPTY] = x->times.empty;
    m[METRIC_T_WAIT] = x->times.wait;
    m[METRIC_T_GENERATE] = r->seconds;
    m[METRIC_T_TICKS] = r->tick_seconds;
    m[METRIC_TICKS] = (double)r->ticks;
    m[METRIC_ROOT_MESSAGES] = (double)r->messages;
    m[METRIC_ROOT_BYTES] = (double)r->bytes;
    m[METRIC_CRITICAL] = (double)r->longest;
    m[METRIC_CRITICAL_SLOTS] = (double)r->busiest;
    m[METRIC_EFFECTIVE_MEAN] =
        ratio(x->effective_tokens, x->effective * (double)r->size);
    m[METRIC_ITERATIONS] = x->iterations;
    m[METRIC_ITERATIONS_MAX] = most[MOST_ITERATIONS];
    m[METRIC_SLOTS_IDLE] = slots_of(s, x->iterations) - x->slot_iterations;
    m[METRIC_SLOTS_BUSY] = ratio(x->slot_iterations, slots_of(s, x->iterations));
    m[METRIC_RSS] = most[MOST_RSS];
    m[METRIC_RANKS] = comm_size(s->comm);
    m[METRIC_LEARNERS] = comm_learners(s->comm);
    m[METRIC_REPLICAS] = comm_replicas(s->comm);
}

static void put_rewards(double *m, const double *all, const double *train)
{
    m[METRIC_REWARD_BASE] = ratio(all[SUM_RAW], all[SUM_N]);
    m[METRIC_REWARD_PENALTY] = ratio(all[SUM_PENALTY], all[SUM_N]);
    m[METRIC_REWARD_SHAPED] = ratio(all[SUM_SHAPED], all[SUM_N]);
    m[METRIC_REWARD_ACCURACY] = ratio(all[SUM_CORRECT], all[SUM_N]);
    m[METRIC_REWARD_FORMAT] = ratio(all[SUM_FOUND], all[SUM_N]);
    m[METRIC_REWARD_TRAIN_ACCURACY] = ratio(train[SUM_CORRECT], train[SUM_N]);
    m[METRIC_REWARD_TRAIN_SHAPED] = ratio(train[SUM_SHAPED], train[SUM_N]);
    m[METRIC_REWARD_TRAIN_FORMAT] = ratio(train[SUM_FOUND], train[SUM_N]);
    m[METRIC_GRADER_WRONG] = all[SUM_VERDICT + VERDICT_DIFFERENT];
    m[METRIC_GRADER_NO_ANSWER] = all[SUM_VERDICT + VERDICT_NO_ANSWER];
    m[METRIC_GRADER_UNKNOWN] = all[SUM_VERDICT + VERDICT_UNKNOWN];
    m[METRIC_GRADER_NUMERIC] = all[SUM_VERDICT + VERDICT_EQUAL_NUMERIC];
    m[METRIC_COMPLETIONS] = all[SUM_N];
    m[METRIC_TRAIN_COMPLETIONS] = m[METRIC_DATUMS] = train[SUM_N];
    m[METRIC_MEAN_TOKENS] = ratio(all[SUM_TOKENS], all[SUM_N]);
    m[METRIC_TRAIN_MEAN_TOKENS] = ratio(train[SUM_TOKENS], train[SUM_N]);
    m[METRIC_TRUNCATED] = ratio(all[SUM_LENGTH], all[SUM_N]);
    m[METRIC_SURPRISAL] = ratio(all[SUM_SURPRISAL], all[SUM_TOKENS]);
    m[METRIC_UNIQUE] = ratio(all[SUM_UNIQUE], all[SUM_N]);
}

/* Invariant 1, from the other side: what was drawn is what is billed, now or later. */
static int check_bill(const struct session *s, struct fault *f)
{
    const double *m = s->metrics;

    if (m[METRIC_DRAWN] + m[METRIC_CARRIED_IN] ==
        m[METRIC_TOKENS] + m[METRIC_CARRIED_OUT])
        return 0;
    return fault_set(
        f, FAULT_BUG,
        "step %lld: %.0f tokens drawn and %.0f carried in, but %.0f billed "
        "and %.0f carried out",
        (long long)s->step, m[METRIC_DRAWN], m[METRIC_CARRIED_IN], m[METRIC_TOKENS],
        m[METRIC_CARRIED_OUT]);
}

static void put_groups(struct session *s, const struct settled *r, const struct sums *x)
{
    double *m = s->metrics, tokens = 0, wanted = (double)s->cfg->admission.groups;

    for (int k = 0; k < FATE_COUNT; k++)
        tokens += (double)r->ledger[k];
    m[METRIC_CANDIDATES] = (double)r->started;
    m[METRIC_COMPLETE] = x->groups;
    m[METRIC_EFFECTIVE] = x->effective;
    m[METRIC_EFFECTIVE_RATIO] = ratio(x->effective, x->groups);
    m[METRIC_FILL] = r->n_batch / wanted;
    m[METRIC_OVERSAMPLE] = (double)r->started / wanted;
    m[METRIC_TOKENS] = tokens;
    m[METRIC_DRAWN] = x->drawn;
    m[METRIC_CARRIED_IN] = x->in;
    m[METRIC_CARRIED_OUT] = x->out;
    m[METRIC_CARRIED] = (double)r->carried;
    m[METRIC_TRAIN_TOKENS] = (double)r->ledger[FATE_TRAINED];
    m[METRIC_WASTED] = ratio(tokens - (double)r->ledger[FATE_TRAINED], tokens);
    m[METRIC_CURSOR] = (double)s->cursor;
}

/* How far behind the policy that trains it the tokens of a trained completion are. */
static void add_staleness(struct sums *x, const struct settled *r,
                          const struct completion *m, double *most)
{
    for (int t = 0; t < m->n_tokens; t++) {
        double behind = (double)(r->trained_at - m->versions[t]);

        x->trained += 1;
        x->behind += behind;
        x->stale += behind > 0;
        *most = fmax(*most, behind);
    }
}

int tally_all(struct session *s, const struct settled *r,
              double ledger_seconds[FATE_COUNT], struct fault *f)
{
    struct sums x = {0};
    double most[MOST_COUNT] = {0};
    int n = (int)(sizeof x / sizeof(double));

    for (int i = 0; i < r->n_mine; i++) {
        const struct group *g = r->mine[i];
        bool whole = complete(g);

        x.groups += whole;
        if (whole && group_trainable(group_correct(g), g->size)) {
            x.effective++;
            x.effective_tokens += (double)group_tokens(g);
        }
        for (int k = 0; k < g->size; k++) {
            if (whole)
                add_completion(x.of[0], g, k);
            if (g->fate == FATE_TRAINED)
                add_completion(x.of[1], g, k);
            if (g->fate == FATE_TRAINED)
                add_staleness(&x, r, &g->members[k], &most[MOST_BEHIND]);
            most[MOST_TOKENS] = fmax(most[MOST_TOKENS], g->members[k].n_tokens);
        }
    }
    bill_seconds(&x, s, r);
    most[MOST_DECODE] = x.decode;
    most[MOST_ITERATIONS] = x.iterations;
    most[MOST_RSS] = rss_mib();
    comm_sum_f64_all(s->comm, SCOPE_WORLD, (double *)&x, (size_t)n);
    comm_max_f64_all(s->comm, SCOPE_WORLD, most, MOST_COUNT);
    put_rewards(s->metrics, x.of[0], x.of[1]);
    put_groups(s, r, &x);
    put_times(s, r, &x, most);
    s->metrics[METRIC_MAX_TOKENS] = most[MOST_TOKENS];
    s->metrics[METRIC_STALE_MEAN] = ratio(x.behind, x.trained);
    s->metrics[METRIC_STALE_MAX] = most[MOST_BEHIND];
    s->metrics[METRIC_STALE_RATIO] = ratio(x.stale, x.trained);
    memcpy(ledger_seconds, x.seconds, sizeof x.seconds);
    return check_bill(s, f);
}
