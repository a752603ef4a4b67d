/* work.c - prompts and completions by law, or as recorded. */
#include <math.h>
#include <stdlib.h>

#include "dapo/data.h"
#include "dapo/mem.h"
#include "dapo/random.h"
#include "dapo/sim.h"
#include "sim/recorded.h"

struct sim_work {
    struct sim_work_config c;
    double middle; /* weight of Beta(2, 2) in the mixture */
    struct rates rates;
    struct order *order; /* of the recorded prompts */
    struct lengths lengths;
};

/* -- draws ------------------------------------------------------------------------- */

/* What a stream of draws is for; each has its own per prompt or candidate, and member.
 */
enum what { PASS_RATE, GROUP, VERDICT, LENGTH, PROBLEM_OF };

struct stream {
    uint64_t seed;
    uint32_t a, b, c, next;
};

static struct stream stream_of(const struct sim_work *w, enum what what, int64_t number,
                               int member)
{
    return (struct stream){w->c.seed, (uint32_t)number, (uint32_t)(number >> 32),
                           (uint32_t)what << 16 | (uint32_t)member, 0};
}

/* In (0, 1). */
static double uniform(struct stream *s)
{
    uint64_t bits = random_bits(s->seed, RANDOM_SIM, s->a, s->b, s->c, s->next++);

    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

static double normal(struct stream *s)
{
    return random_normal(s->seed, RANDOM_SIM, s->a, s->b, s->c, s->next++);
}

static size_t below(struct stream *s, size_t n)
{
    return (size_t)random_below(n, s->seed, RANDOM_SIM, s->a, s->b, s->c, s->next++);
}

/* Gamma(a, 1).  Source: Marsaglia and Tsang, "A simple method for generating gamma
 * variables", ACM TOMS 26 (2000). */
static double gamma_draw(struct stream *s, double a)
{
    double low = a < 1 ? pow(uniform(s), 1 / a) : 1, d = (a < 1 ? a + 1 : a) - 1.0 / 3;
    double c = 1 / sqrt(9 * d);

    for (;;) {
        double x = normal(s), v = 1 + c * x;

        v = v * v * v;
        if (v > 0 && log(uniform(s)) < 0.5 * x * x + d - d * v + d * log(v))
            return low * d * v;
    }
}

static double beta_draw(struct stream *s, double a, double b)
{
    double x = gamma_draw(s, a), y = gamma_draw(s, b);

    return x / (x + y);
}

/* -- the law of pass rates --------------------------------------------------------- */

static double log_beta(double a, double b)
{
    return lgamma(a) + lgamma(b) - lgamma(a + b);
}

/* P(0 < right < G) where p ~ Beta(a, b): 1 - E[p^G] - E[(1 - p)^G]. */
static double mixed(double a, double b, int size)
{
    return 1 - exp(log_beta(a + size, b) - log_beta(a, b)) -
           exp(log_beta(a, b + size) - log_beta(a, b));
}

static int solve(struct sim_work *w, struct fault *f)
{
    int size = w->c.trainable_size;
    double low = mixed(.2, 4, size), high = mixed(2, 2, size);

    w->middle = (w->c.trainable - low) / (high - low);
    if (w->middle >= 0 && w->middle <= 1)
        return 0;
    return fault_set(f, FAULT_CONFIG,
                     "P(trainable) = %g is out of reach of groups of %d: want it in "
                     "[%.3f, %.3f], or recorded pass rates",
                     w->c.trainable, size, low, high);
}

static double pass_rate(const struct sim_work *w, int64_t prompt)
{
    struct stream s = stream_of(w, PASS_RATE, prompt, 0);
    double u = uniform(&s);

    if (u < w->middle)
        return beta_draw(&s, 2, 2);
    return u < (1 + w->middle) / 2 ? beta_draw(&s, .2, 4) : beta_draw(&s, 4, .2);
}

/* -- a candidate ------------------------------------------------------------------- */

/* Exactly `right` of the members, chosen at random. */
static void choose_right(struct stream *s, struct sim_member *m, int size, int right)
{
    for (int k = 0; k < size; k++) {
        m[k].correct = uniform(s) * (size - k) < right;
        right -= m[k].correct;
    }
}

static void verdicts_at(const struct sim_work *w, int64_t number, double p,
                        struct sim_member *m)
{
    struct stream s = stream_of(w, VERDICT, number, 0);

    for (int k = 0; k < w->c.size; k++)
        m[k].correct = uniform(&s) < p;
}

/* Verdicts of this visit as recorded; its pass rate. */
static double recorded_verdicts(struct sim_work *w, int64_t number, int64_t *prompt,
                                struct sim_member *m)
{
    const struct rates *r = &w->rates;
    struct stream s = stream_of(w, PASS_RATE, number, 0);
    size_t row = order_at(w->order, (uint64_t)number), visits;
    double p;

    *prompt = (int64_t)row;
    visits = r->first[row + 1] - r->first[row];
    p = r->value[r->first[row] + (size_t)number / r->n % visits];
    if (r->size && w->c.size % r->size == 0) {
        choose_right(&s, m, w->c.size, (int)rint(p * w->c.size));
        return p;
    }
    if (r->size)
        p = beta_draw(&s, p * r->size + 0.5, (1 - p) * r->size + 0.5);
    verdicts_at(w, number, p, m);
    return p;
}

static int clamp_tokens(const struct sim_work *w, double x)
{
    return (int)fmin(fmax(rint(x), 1), w->c.max_tokens);
}

static void lengths_by_law(const struct sim_work *w, int64_t prompt, int64_t number,
                           double p, struct sim_member *m)
{
    struct stream group = stream_of(w, GROUP, prompt, 0);
    double x =
        log(w->c.median) + w->c.slope * (0.5 - p) + w->c.between * normal(&group);
    struct stream s = stream_of(w, LENGTH, number, 0);

    for (int k = 0; k < w->c.size; k++)
        m[k].tokens = clamp_tokens(w, exp(x + w->c.within * normal(&s)));
}

static void recorded_lengths(const struct sim_work *w, int64_t prompt, int64_t number,
                             double p, struct sim_member *m)
{
    struct stream of = stream_of(w, PROBLEM_OF, prompt, 0);
    struct stream s = stream_of(w, LENGTH, number, 0);
    size_t first, n = lengths_near(&w->lengths, p, &first);
    const struct samples *x = &w->lengths.item[first + below(&of, n)];

    for (int k = 0; k < w->c.size; k++) {
        size_t from = x->first, many = x->n;

        if (m[k].correct && x->right > 0)
            many = x->right;
        else if (!m[k].correct && x->right < x->n) {
            from += x->right;
            many -= x->right;
        }
        m[k].tokens = clamp_tokens(w, w->lengths.tokens[from + below(&s, many)]);
    }
}

static int draw(void *context, int64_t step, int64_t number, struct sim_member *m,
                int64_t *prompt, struct fault *f)
{
    struct sim_work *w = context;
    double p;

    (void)step;
    (void)f;
    for (int k = 0; k < w->c.size; k++)
        m[k].drawn = false;
    if (w->order) {
        p = recorded_verdicts(w, number, prompt, m);
    } else {
        *prompt = w->c.prompts ? number % w->c.prompts : number;
        p = pass_rate(w, *prompt);
        verdicts_at(w, number, p, m);
    }
    if (w->lengths.n)
        recorded_lengths(w, *prompt, number, p, m);
    else
        lengths_by_law(w, *prompt, number, p, m);
    return 0;
}

/* -- life -------------------------------------------------------------------------- */

static int check_config(const struct sim_work_config *c, struct fault *f)
{
    if (c->size < 1 || c->size > 65536 || c->trainable_size < 2 || c->max_tokens < 1)
        return fault_set(f, FAULT_CONFIG,
                         "groups of %d completions of at most %d tokens can't be drawn",
                         c->size, c->max_tokens);
    if (!(c->median > 0 && isfinite(c->median) && c->between >= 0 && c->within >= 0 &&
          isfinite(c->between + c->within + c->slope)))
        return fault_set(
            f, FAULT_CONFIG,
            "lengths of median %g, spread %g between and %g within groups, "
            "slope %g: want a positive median and spreads of at least 0",
            c->median, c->between, c->within, c->slope);
    return 0;
}

int sim_work_new(struct sim_work **out, const struct sim_work_config *c,
                 struct fault *f)
{
    struct sim_work *w;
    int rc = check_config(c, f);

    *out = NULL;
    if (rc)
        return rc;
    if (!(w = mem_new(1, sizeof *w, "a workload", f)))
        return f->code;
    w->c = *c;
    w->c.rates = w->c.lengths = NULL; /* the caller's */
    if (c->rates) {
        rc = rates_read(&w->rates, c->rates, f);
        if (!rc)
            rc = order_new(&w->order, w->rates.n, c->seed, true, f);
    } else {
        rc = solve(w, f);
    }
    if (!rc && c->lengths)
        rc = lengths_read(&w->lengths, c->lengths, f);
    if (rc)
        sim_work_free(w);
    else
        *out = w;
    return rc;
}

void sim_work_free(struct sim_work *w)
{
    if (!w)
        return;
    rates_free(&w->rates);
    lengths_free(&w->lengths);
    order_free(w->order);
    free(w);
}

struct sim_source sim_work_source(struct sim_work *w)
{
    return (struct sim_source){
        .context = w,
        .draw = draw,
        .available = INT64_MAX,
        .prompts = w->order ? (int64_t)w->rates.n : w->c.prompts,
        .size = w->c.size,
        .max_tokens = w->c.max_tokens,
    };
}
