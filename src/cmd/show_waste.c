/* show_waste.c - dapo inspect RUN --waste: the bill of a run as text.
 *
 * analysis/bill.py prints the same to the letter (tests/cli/test_waste.sh).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/bill.h"
#include "cmd/show.h"

#define MOST_PROMPTS 10

static double share(double part, double all)
{
    return all > 0 ? 100.0 * part / all : 0.0;
}

static double per(double a, double b)
{
    return b > 0 ? a / b : 0.0;
}

/* -- tokens ------------------------------------------------------------------------ */

/* A fate that no token has is left out, but for trained. */
static bool shown(const struct bill *b, int fate)
{
    return fate == FATE_TRAINED || b->sum[fate] > 0;
}

static void show_tokens(const struct bill *b, const char *step,
                        const int64_t tokens[FATE_COUNT])
{
    int64_t total = 0;

    printf("%8s", step);
    for (int k = 0; k < FATE_COUNT; k++) {
        total += tokens[k];
        if (shown(b, k))
            printf(" %12" PRId64, tokens[k]);
    }
    printf(" %12" PRId64 " %7.1f%%\n", total,
           share((double)(total - tokens[FATE_TRAINED]), (double)total));
}

static void show_steps(const struct bill *b)
{
    printf("\n%8s", "step");
    for (int k = 0; k < FATE_COUNT; k++)
        if (shown(b, k))
            printf(" %12s", fate_text((enum fate)k));
    printf(" %12s %8s\n", "total", "wasted");
    for (size_t i = 0; i < b->n_steps; i++) {
        char number[24];

        snprintf(number, sizeof number, "%" PRId64, b->steps[i]);
        show_tokens(b, number, b->tokens[i]);
    }
    show_tokens(b, "sum", b->sum);
    printf("every step's ledger equals its token rows\n");
}

/* -- relations --------------------------------------------------------------------- */

static void show_balance(const struct bill *b)
{
    int64_t most = 0, least = INT64_MAX;
    double mean = per((double)b->total, (double)b->n_replicas);

    for (size_t i = 0; i < b->n_replicas; i++) {
        most = b->replica_tokens[i] > most ? b->replica_tokens[i] : most;
        least = b->replica_tokens[i] < least ? b->replica_tokens[i] : least;
    }
    printf("%-32s %10.3f of the mean\n", "tokens of the busiest replica",
           per((double)most, mean));
    printf("%-32s %10.3f of the mean\n", "tokens of the idlest replica",
           b->n_replicas ? per((double)least, mean) : 0.0);
    if (b->timed)
        printf("%-32s %10.3f of the mean, step by step\n", "decode time of the busiest",
               b->busiest);
}

static void show_relations(const struct bill *b)
{
    double trained = (double)b->sum[FATE_TRAINED];

    printf(
        "\n%-32s %10.3f (%" PRId64 " of %" PRId64 ")\n", "effective / candidate groups",
        per((double)b->effective, (double)b->candidates), b->effective, b->candidates);
    printf("%-32s %10.3f\n", "train / rollout tokens", per(trained, (double)b->total));
    if (b->timed)
        printf("%-32s %10.3f\n", "effective groups per second",
               per((double)b->effective, b->wall));
    printf("%-32s %10.3f tokens\n", "generated per trained token",
           per((double)b->total, trained));
    if (b->timed)
        printf("%-32s %10.3f rank-seconds\n", "cost of 1000 trained tokens",
               per(1000.0 * b->rank_seconds, trained));
    show_balance(b);
}

/* -- seconds ----------------------------------------------------------------------- */

static void show_seconds(const struct bill *b)
{
    double trained = (double)b->sum[FATE_TRAINED];

    if (!b->timed) {
        printf("\nno seconds: there are step files without the metrics for them\n");
        return;
    }
    printf("\n%-28s %12s %7s %22s\n", "seconds of all ranks", "seconds", "share",
           "per 1000 trained tokens");
    for (int i = 0; i < CAUSE_COUNT; i++)
        printf("%-28s %12.3f %6.1f%% %22.4f\n", cause_text((enum cause)i),
               b->seconds[i], share(b->seconds[i], b->rank_seconds),
               per(1000.0 * b->seconds[i], trained));
    printf("%-28s %12.3f %6.1f%% %22.4f\n", "ranks x wall clock", b->rank_seconds,
           share(b->rank_seconds, b->rank_seconds),
           per(1000.0 * b->rank_seconds, trained));
}

/* -- prompts ----------------------------------------------------------------------- */

#define RATES 7
static const char *const rate_text[RATES] = {
    "0", "to 1/4", "to 1/2", "to 3/4", "under 1", "1", "not judged",
};

/* Its class: none right, quarters (the upper end belongs to the next), all right. */
static int rate_of(const struct bill_prompt *p)
{
    if (p->judged == 0)
        return 6;
    if (p->correct == 0)
        return 0;
    if (p->correct == p->judged)
        return 5;
    return 1 + (int)(4 * p->correct / p->judged);
}

static void show_rates(const struct bill *b)
{
    int64_t n[RATES] = {0}, visits[RATES] = {0}, tokens[RATES] = {0}, lost[RATES] = {0};
    double wasted = (double)(b->total - b->sum[FATE_TRAINED]);

    for (size_t i = 0; i < b->n_prompts; i++) {
        const struct bill_prompt *p = &b->prompts[i];
        int k = rate_of(p);

        n[k]++;
        visits[k] += p->visits;
        tokens[k] += p->tokens;
        lost[k] += p->wasted;
    }
    printf("\n%-12s %10s %10s %12s %12s %16s\n", "pass rate", "prompts", "visits",
           "tokens", "wasted", "share of waste");
    for (int k = 0; k < RATES; k++)
        if (n[k])
            printf("%-12s %10" PRId64 " %10" PRId64 " %12" PRId64 " %12" PRId64
                   " %15.1f%%\n",
                   rate_text[k], n[k], visits[k], tokens[k], lost[k],
                   share((double)lost[k], wasted));
}

static void show_prompts(const struct bill *b)
{
    printf("\n%12s %10s %10s %10s %12s %12s   most wasteful first\n", "prompt",
           "visits", "trained", "pass rate", "tokens", "wasted");
    for (size_t i = 0; i < b->n_prompts && i < MOST_PROMPTS; i++) {
        const struct bill_prompt *p = &b->prompts[i];

        printf("%12" PRId64 " %10" PRId64 " %10" PRId64 " ", p->prompt, p->visits,
               p->trained);
        if (p->judged)
            printf("%10.3f", per((double)p->correct, (double)p->judged));
        else
            printf("%10s", "-");
        printf(" %12" PRId64 " %12" PRId64 "\n", p->tokens, p->wasted);
    }
}

/* The folder's own name. */
static void show_name(const char *dir)
{
    size_t n = strlen(dir), first;

    while (n > 1 && dir[n - 1] == '/')
        n--;
    for (first = n; first > 0 && dir[first - 1] != '/'; first--)
        ;
    printf("run %.*s: ", (int)(n - first), dir + first);
}

int show_waste(const char *dir, struct fault *f)
{
    struct bill b;
    int rc = bill_read(&b, dir, f);

    if (rc)
        return rc;
    show_name(dir);
    printf("%zu steps", b.n_steps);
    if (b.timed)
        printf(", %" PRId64 " ranks: %" PRId64 " learn, %" PRId64 " generate", b.ranks,
               b.learners, b.replicas);
    printf("\n");
    show_steps(&b);
    show_relations(&b);
    show_seconds(&b);
    show_rates(&b);
    show_prompts(&b);
    bill_free(&b);
    return 0;
}
