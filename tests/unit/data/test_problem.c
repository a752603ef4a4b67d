/* test_problem.c - the demo's word problems: right, short, and held-out ones apart. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/data.h"

enum { N = 20000, SKELETON = 64 };

/* The numbers of the question and the operations of the solution, "7+3*2": what the
 * partition is about, read back from the texts. */
static void read_skeleton(const struct problem *p, char out[SKELETON])
{
    const char *q = p->question, *w = p->solution;
    size_t n = 0;

    for (; *q; q++) {
        if (!isdigit((unsigned char)*q))
            continue;
        if (n > 0) {
            w += strcspn(w, "+-*");
            out[n++] = *w;
            w += strcspn(w, "=");
        }
        while (isdigit((unsigned char)*q) && n < SKELETON - 2)
            out[n++] = *q++;
        q--;
    }
    out[n] = '\0';
}

/* Work the skeleton out from left to right. */
static long evaluate(const char *s, int *steps)
{
    char *end;
    long value = strtol(s, &end, 10);

    *steps = 0;
    while (*end) {
        char op = *end;
        long by = strtol(end + 1, &end, 10);

        value = op == '+' ? value + by : op == '-' ? value - by : value * by;
        CHECK(value >= 0 && value <= 99);
        ++*steps;
    }
    return value;
}

static int words(const char *s)
{
    int n = 1;

    for (; *s; s++)
        n += *s == ' ';
    return n;
}

/* Every line of the solution is a true equation that starts from the last result. */
static void check_solution(const struct problem *p, long answer)
{
    const char *w = p->solution;
    long a, b, c, last = -1;
    char op, box[40];
    int used;

    while (sscanf(w, "%ld%c%ld=%ld. %n", &a, &op, &b, &c, &used) == 4) {
        CHECK(last < 0 || a == last);
        CHECK_INT(op == '+' ? a + b : op == '-' ? a - b : a * b, c);
        last = c;
        w += used;
    }
    CHECK_INT(last, answer);
    snprintf(box, sizeof box, "\\boxed{%ld}", answer);
    CHECK_TEXT(w, box);
    CHECK_INT(strtol(p->answer, NULL, 10), answer);
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static char (*skeletons(bool held_out, uint64_t seed))[SKELETON]
{
    char(*all)[SKELETON] = calloc(N, SKELETON);

    CHECK(all != NULL);
    for (uint32_t i = 0; all && i < N; i++) {
        struct problem p;
        int steps;
        long answer;

        problem_make(&p, seed, i, 0, held_out);
        read_skeleton(&p, all[i]);
        answer = evaluate(all[i], &steps);
        CHECK(steps >= 2 && steps <= 4);
        CHECK(words(p.question) >= 15 && words(p.question) <= 45);
        CHECK(strlen(p.solution) <= 50);
        check_solution(&p, answer);
    }
    if (all)
        qsort(all, N, SKELETON, compare);
    return all;
}

/* 20,000 of each kind, different seeds: right, and not one skeleton in common. */
static void held_out_skeletons_never_train(void)
{
    char(*train)[SKELETON] = skeletons(false, 1),
    (*held)[SKELETON] = skeletons(true, 2);
    size_t common = 0, distinct = 1;

    for (size_t i = 0; train && held && i < N; i++) {
        common += bsearch(held[i], train, N, SKELETON, compare) != NULL;
        distinct += i > 0 && strcmp(train[i], train[i - 1]) != 0;
    }
    CHECK_INT(common, 0);
    CHECK(distinct > N / 2);
    free(train);
    free(held);
}

static void difficulty_varies(void)
{
    int by_steps[6] = {0}, small = 0, large = 0;

    for (uint32_t i = 0; i < 3000; i++) {
        struct problem p;
        char s[SKELETON];
        int steps;
        long answer;

        problem_make(&p, 5, i, 0, false);
        read_skeleton(&p, s);
        answer = evaluate(s, &steps);
        by_steps[steps]++;
        small += answer <= 20;
        large += answer > 50;
    }
    for (int k = 2; k <= 4; k++)
        CHECK(by_steps[k] > 800);
    CHECK(small > 1000);
    CHECK(large > 300);
}

static void steps_are_as_asked(void)
{
    for (int want = 1; want <= 5; want++)
        for (uint32_t i = 0; i < 200; i++) {
            struct problem p;
            char s[SKELETON];
            int steps;

            problem_make(&p, 9, i, want, i % 2);
            read_skeleton(&p, s);
            evaluate(s, &steps);
            CHECK_INT(steps, want);
            CHECK(words(p.question) <= 51);
        }
}

/* A frozen example: demo models are shipped, so the task may not drift. */
static void problems_are_frozen(void)
{
    struct problem p, again;

    problem_make(&p, 1, 0, 0, false);
    problem_make(&again, 1, 0, 0, false);
    CHECK(memcmp(&p, &again, sizeof p) == 0);
    CHECK_TEXT(
        p.question,
        "Kate has 19 nuts. Then Kate finds 11 more. Then Kate picks up 14 more. Then "
        "Kate buys 5 more. Then Kate picks up 1 more. How many nuts does Kate have "
        "now?");
    CHECK_TEXT(p.solution, "19+11=30. 30+14=44. 44+5=49. 49+1=50. \\boxed{50}");
    CHECK_TEXT(p.answer, "50");
}

CASES(CASE(held_out_skeletons_never_train), CASE(difficulty_varies),
      CASE(steps_are_as_asked), CASE(problems_are_frozen));
