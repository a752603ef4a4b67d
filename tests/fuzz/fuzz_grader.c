/* fuzz_grader.c - libFuzzer on extraction and comparison: `make fuzz-grader`.
 *
 * The input is a gold answer, the byte 0x1f, and an answer or a response.  Beside what
 * the sanitizers see, it fails on a verdict that depends on the order of the two, on
 * what was judged before, or on the clock, and on a comparison of over 100 ms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/clock.h"
#include "dapo/reward.h"

#define MOST_SECONDS 0.1 /* of CPU, sanitizers included */

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "fuzz_grader: %s\n", what);
    abort();
}

static struct math_result compare(struct math *m, const char *a, size_t na,
                                  const char *b, size_t nb)
{
    struct math_result r;
    double start = clock_cpu();

    math_compare(m, a, na, b, nb, &r);
    must(clock_cpu() - start < MOST_SECONDS, "a comparison of over 100 ms");
    must((unsigned)r.verdict < MATH_VERDICT_COUNT, "no verdict");
    must((unsigned)r.step < MATH_STEP_COUNT, "no step");
    return r;
}

static bool same(struct math_result a, struct math_result b)
{
    return a.verdict == b.verdict && a.step == b.step && a.fuel == b.fuel;
}

static bool right(struct math_result r)
{
    return r.verdict == MATH_EQUAL || r.verdict == MATH_EQUAL_NUMERIC;
}

/* Whether a word stands in s[n]; \left is no \le. */
static bool says(const char *s, size_t n, const char *word)
{
    size_t k = strlen(word);

    for (const char *p = s; (p = memmem(p, n - (size_t)(p - s), word, k)); p += k)
        if (n - (size_t)(p - s) < k + 2 || memcmp(p + k, "ft", 2))
            return true;
    return false;
}

/* Where the gold's shape may decide: `x = 5` and `5`, `x \in A` and A, bounds. */
static bool has_relation(const char *s, size_t n)
{
    static const char *const word[] = {
        "=",        "<",      ">",     ":",        "\\in",  "\\ni",     "\\le",
        "\\lt",     "\\ge",   "\\gt",  "\\ne",     "\\to",  "\\eq",     "\\approx",
        "\\sim",    "\\cong", "\\not", "\\subset", "\xe2",  "\\mapsto", "\\rightarrow",
        "\xef\xbc", "is",     "and",   "or",       "equal",
    };

    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (says(s, n, word[i]))
            return true;
    return false;
}

static void comparison(const char *gold, size_t n_gold, const char *pred, size_t n)
{
    static struct math *m;
    struct fault f = FAULT_INIT;
    struct math_result a, b;

    must(m || !math_new(&m, &f), f.text);
    a = compare(m, gold, n_gold, pred, n);
    b = compare(m, pred, n, gold, n_gold);
    if (!has_relation(gold, n_gold) && !has_relation(pred, n))
        must(right(a) == right(b), "the order of the two decides");
    must(same(a, compare(m, gold, n_gold, pred, n)), "what was judged before decides");
    must(right(compare(m, gold, n_gold, gold, n_gold)), "a text is not itself");
}

static void extraction(const char *gold, size_t n_gold, const char *text, size_t n)
{
    static struct judge *judge[GRADER_COUNT][2];
    struct fault f = FAULT_INIT;

    for (int g = 0; g < GRADER_COUNT; g++)
        for (int w = 0; w < 2; w++) {
            struct judge **j = &judge[g][w];
            struct verdict v;
            bool good;

            must(*j || !judge_new(j, (enum grader)g, w ? 12 : 0, &f), f.text);
            must(!judge_run(*j, gold, n_gold, text, n, &v, &f), f.text);
            must(v.offset <= n && v.len <= n - v.offset, "an answer out of bounds");
            must(v.found == (v.kind != VERDICT_NO_ANSWER), "found and no answer");
            must(!judge_answer(*j, gold, n_gold, text, n, &v, &f), f.text);
            must(v.found, "an answer that is none");
            must(!judge_gold(*j, gold, n_gold, &good, &f), f.text);
        }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    const char *text = (const char *)data;
    const char *cut = size ? memchr(text, 0x1f, size) : NULL;
    size_t n_gold = cut ? (size_t)(cut - text) : size / 2;
    size_t skip = cut ? n_gold + 1 : n_gold;

    comparison(text, n_gold, text + skip, size - skip);
    extraction(text, n_gold, text + skip, size - skip);
    return 0;
}
