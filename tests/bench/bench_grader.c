/* bench_grader.c - what a verdict costs: CPU per pair, the worst pair, memory, and
 * extraction from a megabyte. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/clock.h"
#include "dapo/mem.h"
#include "dapo/reward.h"
#include "grader_rows.h"
#include "measure.h"

/* Every file of pairs; the first gives the median. */
static const char *const files[] = {"verdict_pairs",     "metamorphic_cases",
                                    "mathverify_cases",  "challenge_cases",
                                    "bug_report_pairs",  "mathverify_issue_cases",
                                    "nemo_skills_cases", "hendrycks_cases",
                                    "mario_cases",       "olympiadbench_cases",
                                    "lighteval_cases",   "rl_reward_cases",
                                    "slime_math_cases",  "golds"};

/* Answers made to be slow. */
static const char *const bombs[] = {
    "9^{9^{9^{9^9}}}",
    "10^{10^{10^{10}}}!",
    "(10^{18})!",
    "\\binom{10^{9}}{5\\cdot 10^{8}}",
    "\\sqrt{2+\\sqrt{2+\\sqrt{2+\\sqrt{2+\\sqrt{2}}}}}",
    "\\sqrt[97]{2}+\\sqrt[89]{3}+\\sqrt[83]{5}",
    "(1+\\sqrt2)^{100000}",
    "\\sin(10^{10^{10}})",
    "e^{e^{e^{e^{e}}}}",
    "((((x+y)^{50}+1)^{50}+1)^{50}+1)^{50}",
    "\\sum_{n=1}^{\\infty}\\frac{1}{n^2}",
    "\\Gamma(\\frac{1}{3}+10^{6}i)",
    "2^{65536}-1",
    "\\tan(\\tan(\\tan(\\tan(10^{20}))))",
    "1/(1-1)",
    "0^{0^{0}}",
    "\\sqrt{1+10^{-400}}",
    "(x_1+x_2+x_3+x_4+x_5+x_6+x_7+x_8)^{1000}",
};

/* Of the kinds that are repeated to the largest size. */
static const char *const repeated[] = {
    "(", "{",       "\\frac{", "\\sqrt{", "-",
    "!", "1+",      "x^",      "1,",      "\\{1,",
    "|", "\\left(", "x_1",     "\\pm ",   "0.",
    "9", "a ",      "\\text{", "\\sqrt[", "\\begin{pmatrix}1&",
    "<1"};

struct timing {
    double *seconds; /* of each pair of the first file */
    size_t n, pairs;
    double worst;
    char who[128];
};

/* The least of some runs: what a neighbour on the machine adds is left out. */
static double seconds_of(struct judge *j, const char *gold, const char *pred, int runs)
{
    double best = INFINITY;

    for (int i = 0; i < runs; i++) {
        struct fault f = FAULT_INIT;
        struct verdict v;
        double start = clock_cpu();

        if (judge_answer(j, gold, strlen(gold), pred, strlen(pred), &v, &f))
            give_up("judge_answer", &f);
        best = fmin(best, clock_cpu() - start);
    }
    return best;
}

static void time_pair(struct timing *t, struct judge *j, const char *gold,
                      const char *pred, const char *who, bool kept)
{
    double s = seconds_of(j, gold, pred, kept ? 5 : 1);

    if (s > 0.005 && !kept) /* once more, as the first time pays for caches */
        s = fmin(s, seconds_of(j, gold, pred, 2));
    t->pairs++;
    if (kept)
        t->seconds[t->n++] = s;
    if (s > t->worst) {
        t->worst = s;
        snprintf(t->who, sizeof t->who, "%s: %.40s | %.40s", who, gold, pred);
    }
}

static void time_files(struct timing *t, struct judge *j, const char *dir)
{
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        json_t *rows = grader_rows(dir, files[k]), *row;
        size_t i;

        if (k == 0)
            t->seconds = calloc(json_array_size(rows) + 1, sizeof *t->seconds);
        json_array_foreach(rows, i, row)
        {
            const char *gold =
                row_text(row, k + 1 < sizeof files / sizeof *files ? "gold" : "answer");
            const char *pred = row_text(row, "pred");

            pred = *pred ? pred : row_text(row, "response");
            pred = *pred ? pred : gold;
            time_pair(t, j, gold, pred, files[k], k == 0);
            if (k > 0)
                time_pair(t, j, pred, gold, files[k], false);
        }
        json_decref(rows);
    }
}

static void time_bombs(struct timing *t, struct judge *j)
{
    size_t n = sizeof bombs / sizeof *bombs, m = sizeof repeated / sizeof *repeated;
    char big[2][4096];

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            time_pair(t, j, bombs[i], bombs[k], "bombs", false);
    for (size_t i = 0; i < m; i++)
        for (size_t size = 64; size <= sizeof big[0]; size *= 4) {
            size_t k = 0, step = strlen(repeated[i]);

            for (; k + step + 2 < size; k += step)
                memcpy(big[0] + k, repeated[i], step);
            big[0][k] = '\0';
            memcpy(big[1], big[0], k + 1);
            big[0][k] = '1';
            big[0][k + 1] = '\0';
            time_pair(t, j, big[0], "1", repeated[i], false);
            time_pair(t, j, big[0], big[1], repeated[i], false);
        }
}

static void time_extraction(void)
{
    static const char *const fill[] = {"words and more words ",
                                       "\\boxed{1}, ",
                                       "{",
                                       "Answer: ",
                                       "\xff\x80",
                                       "\\",
                                       "} and "};
    struct fault f = FAULT_INIT;
    struct bytes b = {0};
    struct judge *j;
    double worst = 0;

    if (judge_new(&j, GRADER_MATH, 0, &f))
        give_up("judge_new", &f);
    for (size_t i = 0; i < sizeof fill / sizeof *fill; i++) {
        b.len = 0;
        while (b.len < (1 << 20))
            if (bytes_add(&b, fill[i], strlen(fill[i]), &f))
                give_up("memory", &f);
        if (bytes_add(&b, "\0 \\boxed{34}", 12, &f))
            give_up("memory", &f);
        for (int k = 0; k < 2; k++) { /* with a box, and without */
            struct verdict v;
            double start = clock_cpu();

            if (judge_run(j, "34", 2, b.data, k ? b.len - 1 : b.len, &v, &f))
                give_up("judge_run", &f);
            worst = fmax(worst, clock_cpu() - start);
        }
    }
    printf("answer out of 1 MiB, the slowest of %zu fillings: %.2f ms (goal < 10)\n",
           2 * sizeof fill / sizeof *fill, 1e3 * worst);
    bytes_free(&b);
    judge_free(j);
}

/* KiB of a row of /proc/self/status. */
static long status(const char *name)
{
    FILE *in = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;

    while (in && fgets(line, sizeof line, in))
        if (!strncmp(line, name, strlen(name)))
            kib = strtol(line + strlen(name), NULL, 10);
    if (in)
        fclose(in);
    return kib;
}

int main(void)
{
    const char *dir = getenv("DAPO_DATA");
    struct fault f = FAULT_INIT;
    struct timing t = {0};
    struct judge *j;
    long before;

    time_extraction();
    before = status("VmRSS:");
    if (judge_new(&j, GRADER_MATH, 300, &f))
        give_up("judge_new", &f);
    time_bombs(&t, j);
    printf("%zu pairs of bombs: worst %.2f ms (goal < 50): %s\n", t.pairs,
           1e3 * t.worst, t.who);
    t.worst = 0;
    t.pairs = 0;
    time_files(&t, j, dir ? dir : "../shared/data");
    if (t.n == 0) {
        printf("skipped: no DAPO_DATA: the cases\n");
    } else {
        double mean = 0;

        for (size_t i = 0; i < t.n; i++)
            mean += t.seconds[i] / (double)t.n;
        printf("%zu real answers: median %.1f us CPU (goal <= 10), mean %.1f, "
               "99%% within %.1f\n",
               t.n, 1e6 * median(t.seconds, (int)t.n), 1e6 * mean,
               1e6 * t.seconds[t.n * 99 / 100]);
        printf("%zu pairs of all files, both ways: worst %.2f ms (goal < 50): %s\n",
               t.pairs, 1e3 * t.worst, t.who);
    }
    printf("resident: %.1f MiB, %.1f MiB before the first verdict (goal < 64)\n",
           (double)status("VmHWM:") / 1024, (double)before / 1024);
    printf("%s\n", math_libraries());
    free(t.seconds);
    judge_free(j);
    return 0;
}
