/* pairs.h - pairs of answers and what is thought of them; one work space a program. */
#ifndef DAPO_TEST_MATH_PAIRS_H
#define DAPO_TEST_MATH_PAIRS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/math.h"

/* T: equal.  F: different.  U: unknown.  N: F or U. */
struct pair {
    const char *gold, *pred;
    char want;
};

static inline struct math *space(void)
{
    static struct math *m;
    struct fault f = FAULT_INIT;

    if (!m)
        CHECK_OK(math_new(&m, &f), &f);
    return m;
}

static inline char judge(const char *gold, const char *pred)
{
    struct math_result r;

    math_compare(space(), gold, strlen(gold), pred, strlen(pred), &r);
    return r.verdict == MATH_EQUAL || r.verdict == MATH_EQUAL_NUMERIC ? 'T'
           : r.verdict == MATH_DIFFERENT                              ? 'F'
                                                                      : 'U';
}

/* Every pair in both directions.  Without FLINT some are undecided; none may be decided
 * otherwise. */
static inline void judge_all(const struct pair *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int turn = 0; turn < 2; turn++) {
            const char *a = turn ? p[i].pred : p[i].gold;
            const char *b = turn ? p[i].gold : p[i].pred;
            char got = judge(a, b);
            bool ok = got == p[i].want || (p[i].want == 'N' && got != 'T') ||
                      (got == 'U' && !math_has_flint());

            if (!ok)
                printf("  %s ~ %s: got %c, want %c\n", a, b, got, p[i].want);
            CHECK(ok);
        }
}
#define JUDGE(rows) judge_all(rows, sizeof(rows) / sizeof *(rows))

static inline bool accepts(const char *gold, const char *pred)
{
    return judge(gold, pred) == 'T';
}

#endif
