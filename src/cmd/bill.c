/* bill.c - see bill.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/bill.h"
#include "dapo/mem.h"

#define MOST_REPLICAS (INT64_C(1) << 20)

const char *cause_text(enum cause c)
{
    static const char *const text[] = {
#define X(name, printed) printed,
        CAUSE_LIST(X)
#undef X
    };

    return (unsigned)c < CAUSE_COUNT ? text[c] : "?";
}

/* -- rows -------------------------------------------------------------------------- */

/* What is being added up. */
struct adding {
    struct bill *b;
    struct bill_prompt *visit; /* one per candidate so far */
    size_t n, cap, replica_cap;
    double decode_max, decode_mean;
    int64_t step;   /* the last one added ... */
    double carried; /* ... and the tokens of the groups that go on behind it */
};

static int add_replica(struct adding *a, int64_t replica, int64_t tokens,
                       struct fault *f)
{
    struct bill *b = a->b;
    size_t n = (size_t)replica + 1;

    if (replica >= MOST_REPLICAS)
        return fault_set(f, FAULT_DATA, "replica %" PRId64 " is out of range", replica);
    if (mem_grow((void **)&b->replica_tokens, &a->replica_cap, n,
                 sizeof *b->replica_tokens, "replicas", f))
        return f->code;
    b->n_replicas = n > b->n_replicas ? n : b->n_replicas;
    b->replica_tokens[replica] += tokens;
    return 0;
}

static void add_candidate(struct adding *a, const struct inspect_rows *r, int64_t c)
{
    bool trained = r->fate[c] == FATE_TRAINED;
    struct bill_prompt v = {.prompt = r->prompt[c], .visits = 1, .trained = trained};

    for (int64_t k = c * r->size; k < (c + 1) * r->size; k++) {
        bool ended = finish_complete((enum finish)r->finish[k]);

        v.judged += ended;
        v.correct += ended && r->correct[k];
    }
    v.tokens = r->n_tokens[c];
    v.wasted = trained ? 0 : v.tokens;
    a->b->effective += v.judged == r->size && v.correct > 0 && v.correct < r->size;
    a->visit[a->n++] = v;
}

static int add_rows(struct adding *a, const struct inspect_rows *r,
                    int64_t tokens[FATE_COUNT], struct fault *f)
{
    if (mem_grow((void **)&a->visit, &a->cap, a->n + (size_t)r->candidates,
                 sizeof *a->visit, "candidates", f))
        return f->code;
    for (int64_t c = 0; c < r->candidates; c++) {
        tokens[r->fate[c]] += r->n_tokens[c];
        if (add_replica(a, r->replica[c], r->n_tokens[c], f))
            return f->code;
        add_candidate(a, r, c);
    }
    a->b->candidates += r->candidates;
    return 0;
}

/* -- seconds ----------------------------------------------------------------------- */

/* NAN, and *there = false, if the file has no such metric. */
static double seconds(const struct inspect_step *s, const char *name, bool *there)
{
    double x = inspect_metric(s, name);

    *there = *there && !isnan(x);
    return x;
}

/* A step's seconds of decoding, by what was decoded. */
static void bill_decode(double x[CAUSE_COUNT], const double ledger[FATE_COUNT],
                        double decode, double idle)
{
    double busy = decode > 0 ? (decode - idle) / decode : 0, billed = 0;

    for (int k = 0; k < FATE_COUNT; k++)
        billed += ledger[k];
    x[CAUSE_TRAINED] = busy * ledger[FATE_TRAINED];
    x[CAUSE_DEGENERATE] = busy * (ledger[FATE_ALL_CORRECT] + ledger[FATE_ALL_WRONG]);
    x[CAUSE_SURPLUS] = busy * ledger[FATE_SURPLUS];
    x[CAUSE_CANCELLED] = busy * ledger[FATE_CANCELLED];
    x[CAUSE_LOST] = busy * (ledger[FATE_STALE] + ledger[FATE_FAILED]);
    x[CAUSE_GOING_ON] = billed < decode ? busy * (decode - billed) : 0;
    x[CAUSE_IDLE] = idle;
}

static void add_seconds(struct adding *a, const struct inspect_step *s)
{
    struct bill *b = a->b;
    double x[CAUSE_COUNT] = {0}, replicas, learners, ranks, wall, common, most;
    double learn, deliver, publish, files, eval, decode, idle;
    bool there = true;

#define GET(name) seconds(s, name, &there)
    ranks = GET("job/ranks"), learners = GET("job/learners");
    replicas = GET("job/replicas"), most = GET("time/decode_seconds_max");
    decode = GET("time/decode_seconds"), idle = GET("time/idle_slot_seconds");
    learn = GET("time/learn_seconds"), deliver = GET("time/deliver_seconds");
    publish = GET("time/publish_seconds"), files = GET("time/files_seconds");
    eval = GET("time/eval_seconds"), wall = GET("time/step_seconds") + eval + files;
    bill_decode(x, s->ledger_seconds, decode, idle);
    x[CAUSE_LAST] = GET("time/wait_group_seconds");
    x[CAUSE_TICKS] = GET("time/wait_tick_seconds");
    x[CAUSE_JUDGE] = GET("time/judge_seconds");
#undef GET
    b->timed = b->timed && there;
    if (!there)
        return;
    common = deliver + publish + files + eval;
    x[CAUSE_LEARNER] = learners * learn;
    x[CAUSE_DELIVERY] = ranks * deliver;
    x[CAUSE_PUBLISH] = ranks * publish;
    x[CAUSE_FILES] = ranks * files;
    x[CAUSE_EVAL] = ranks * eval;
    if (ranks > 1)
        x[CAUSE_LEARNERS_WAIT] = learners * (wall - learn - common);
    x[CAUSE_REPLICAS_WAIT] = ranks * wall;
    for (int i = 0; i < CAUSE_REPLICAS_WAIT; i++)
        x[CAUSE_REPLICAS_WAIT] -= x[i];
    for (int i = 0; i < CAUSE_COUNT; i++)
        b->seconds[i] += x[i];
    b->rank_seconds += ranks * wall;
    b->wall += wall;
    b->ranks = (int64_t)ranks;
    b->learners = (int64_t)learners;
    b->replicas = (int64_t)replicas;
    a->decode_max += most;
    a->decode_mean += replicas > 0 ? decode / replicas : 0;
}

/* -- the run ----------------------------------------------------------------------- */

/* Tokens drawn in a step are billed in it, or in a later one with the groups that go on
 * (admission.surplus = resume). */
static int check_carried(struct adding *a, const struct inspect_step *s,
                         const int64_t tokens[FATE_COUNT], const char *path,
                         struct fault *f)
{
    bool next = a->step > 0 && s->step == a->step + 1, there;
    double drawn = inspect_metric(s, "rollout/drawn_tokens");
    double in = inspect_metric(s, "rollout/carried_in_tokens");
    double out = inspect_metric(s, "rollout/carried_out_tokens"), billed = 0;

    there = !isnan(drawn + in + out);
    for (int k = 0; k < FATE_COUNT; k++)
        billed += (double)tokens[k];
    if (there && (drawn + in != billed + out || (next && in != a->carried)))
        return fault_set(f, FAULT_DATA,
                         "%s: %.0f tokens were drawn and %.0f carried in (%.0f were "
                         "carried out before), but %.0f are billed and %.0f carried "
                         "out",
                         path, drawn, in, next ? a->carried : in, billed, out);
    a->step = s->step;
    a->carried = there ? out : 0;
    return 0;
}

static int add_step(struct adding *a, const char *path, size_t i, struct fault *f)
{
    struct inspect_rows r;
    struct inspect_step s;
    int64_t *tokens = a->b->tokens[i];
    int rc = inspect_step(&s, path, f);

    if (rc)
        return rc;
    rc = inspect_rows(&r, path, f);
    if (!rc)
        rc = add_rows(a, &r, tokens, f);
    for (int k = 0; k < FATE_COUNT && !rc; k++) {
        if (tokens[k] != s.ledger_tokens[k])
            rc =
                fault_set(f, FAULT_DATA,
                          "%s: the ledger bills %" PRId64 " tokens to %s, the token "
                          "rows hold %" PRId64,
                          path, s.ledger_tokens[k], fate_text((enum fate)k), tokens[k]);
        a->b->sum[k] += tokens[k];
        a->b->total += tokens[k];
    }
    if (!rc)
        rc = check_carried(a, &s, tokens, path, f);
    if (!rc)
        add_seconds(a, &s);
    inspect_rows_free(&r);
    inspect_step_free(&s);
    return rc;
}

static int by_prompt(const void *a, const void *b)
{
    const struct bill_prompt *x = a, *y = b;

    return (x->prompt > y->prompt) - (x->prompt < y->prompt);
}

static int by_waste(const void *a, const void *b)
{
    const struct bill_prompt *x = a, *y = b;

    if (x->wasted != y->wasted)
        return x->wasted > y->wasted ? -1 : 1;
    return by_prompt(a, b);
}

/* Visits of one prompt become one row. */
static void merge_prompts(struct adding *a)
{
    struct bill *b = a->b;

    b->prompts = a->visit;
    if (a->n == 0)
        return;
    qsort(a->visit, a->n, sizeof *a->visit, by_prompt);
    for (size_t i = 0; i < a->n; i++) {
        const struct bill_prompt *v = &a->visit[i];
        struct bill_prompt *p;

        if (!b->n_prompts || a->visit[b->n_prompts - 1].prompt != v->prompt) {
            a->visit[b->n_prompts++] = *v;
            continue;
        }
        p = &a->visit[b->n_prompts - 1];
        p->visits += v->visits;
        p->trained += v->trained;
        p->judged += v->judged;
        p->correct += v->correct;
        p->tokens += v->tokens;
        p->wasted += v->wasted;
    }
    qsort(a->visit, b->n_prompts, sizeof *a->visit, by_waste);
}

static int read_steps(struct adding *a, const char *dir, const struct inspect_run *r,
                      struct fault *f)
{
    struct bill *b = a->b;
    int rc = 0;

    b->n_steps = r->n_steps;
    b->steps = mem_new(r->n_steps, sizeof *b->steps, "the steps", f);
    b->tokens = mem_new(r->n_steps, sizeof *b->tokens, "the steps", f);
    if (!b->steps || !b->tokens)
        return f->code;
    for (size_t i = 0; i < r->n_steps && !rc; i++) {
        char *path = inspect_step_path(dir, r->steps[i], f);

        b->steps[i] = r->steps[i];
        rc = path ? add_step(a, path, i, f) : f->code;
        free(path);
    }
    return rc;
}

int bill_read(struct bill *out, const char *dir, struct fault *f)
{
    struct inspect_run r;
    struct adding a = {.b = out};
    int rc = inspect_list(&r, dir, f);

    *out = (struct bill){.timed = true};
    if (rc)
        return rc;
    if (r.n_steps == 0)
        rc = fault_set(f, FAULT_DATA,
                       "%s: no step files in rollouts/; is it a run directory?", dir);
    if (!rc)
        rc = read_steps(&a, dir, &r, f);
    merge_prompts(&a);
    out->busiest = a.decode_mean > 0 ? a.decode_max / a.decode_mean : 0;
    inspect_run_free(&r);
    if (rc)
        bill_free(out);
    return rc;
}

void bill_free(struct bill *b)
{
    free(b->steps);
    free(b->tokens);
    free(b->replica_tokens);
    free(b->prompts);
    *b = (struct bill){0};
}
