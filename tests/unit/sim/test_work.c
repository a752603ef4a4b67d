/* test_work.c - workloads by law and from files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/mem.h"
#include "dapo/sim.h"

static struct sim_work_config law(double trainable, int size)
{
    return (struct sim_work_config){.size = size,
                                    .max_tokens = 1024,
                                    .seed = 7,
                                    .trainable = trainable,
                                    .trainable_size = size,
                                    .median = 256,
                                    .between = 0.6,
                                    .within = 0.5,
                                    .slope = 0.8};
}

/* The means that tests/ref/sim/dynsim.py prints at the head of its tables, from 200,000
 * groups; 65,536 here. */
static void the_law_is_that_of_the_python_simulation(void)
{
    static const struct {
        int size;
        double trainable, length, trainable_length, truncated;
    } t[] = {
        {8, 0.3, 342, 336, 4.6},  {8, 0.5, 339, 335, 4.3},  {8, 0.8, 335, 334, 4.2},
        {16, 0.3, 342, 337, 4.8}, {16, 0.5, 339, 335, 4.4}, {16, 0.8, 335, 333, 4.2},
    };

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        struct sim_work_config c = law(t[i].trainable, t[i].size);
        struct sim_source source;
        struct sim_work *w;
        struct sim_law l;
        struct fault f = FAULT_INIT;

        CHECK_OK(sim_work_new(&w, &c, &f), &f);
        source = sim_work_source(w);
        CHECK_OK(sim_law(&l, &source, 65536, &f), &f);
        CHECK_NEAR(l.trainable, t[i].trainable, 0.006); /* 3 standard errors */
        CHECK_NEAR(l.length, t[i].length, 4);
        CHECK_NEAR(l.trainable_length, t[i].trainable_length, 5);
        CHECK_NEAR(100 * l.truncated, t[i].truncated, 0.4);
        sim_work_free(w);
    }
}

static int draw(struct sim_work *w, int64_t number, struct sim_member *m,
                int64_t *prompt)
{
    struct sim_source s = sim_work_source(w);
    struct fault f = FAULT_INIT;
    int right = 0;

    CHECK_OK(s.draw(s.context, 3, number, m, prompt, &f), &f);
    for (int k = 0; k < s.size; k++)
        right += m[k].correct;
    return right;
}

/* Whatever was drawn before; and a finite set of prompts comes round again. */
static void a_number_says_all(void)
{
    struct sim_work_config c = law(0.5, 8);
    struct sim_member a[8], b[8];
    struct sim_work *v, *w;
    struct fault f = FAULT_INIT;
    int64_t prompt;
    int same = 0;

    c.prompts = 5;
    CHECK_OK(sim_work_new(&v, &c, &f), &f);
    CHECK_OK(sim_work_new(&w, &c, &f), &f);
    for (int64_t i = 9; i >= 0; i--) {
        draw(v, i, a, &prompt);
        CHECK_INT(prompt, i % 5);
    }
    draw(w, 0, b, &prompt);
    for (int k = 0; k < 8; k++) {
        CHECK_INT(a[k].tokens, b[k].tokens);
        CHECK_INT(a[k].correct, b[k].correct);
    }
    draw(w, 5, b, &prompt);
    for (int k = 0; k < 8; k++)
        same += a[k].tokens == b[k].tokens;
    CHECK(same < 4);
    sim_work_free(v);
    sim_work_free(w);
    /* What a group has in common is its prompt's. */
    c.within = 0;
    CHECK_OK(sim_work_new(&w, &c, &f), &f);
    draw(w, 0, a, &prompt);
    draw(w, 5, b, &prompt);
    CHECK_INT(a[0].tokens, b[7].tokens);
    draw(w, 1, b, &prompt);
    CHECK(a[0].tokens != b[0].tokens);
    sim_work_free(w);
}

static void what_the_law_cannot_do_is_refused(void)
{
    struct sim_work_config c = law(0.95, 8);
    struct sim_work *w;
    struct fault f = FAULT_INIT;

    CHECK_INT(sim_work_new(&w, &c, &f), FAULT_CONFIG);
    CHECK(strstr(f.text, "out of reach of groups of 8"));
    c = law(0.5, 8);
    c.median = 0;
    CHECK_INT(sim_work_new(&w, &c, &f), FAULT_CONFIG);
    c = law(0.5, 8);
    c.max_tokens = 0;
    CHECK_INT(sim_work_new(&w, &c, &f), FAULT_CONFIG);
}

/* -- files ------------------------------------------------------------------------- */

static char *file(const char *name, const char *text)
{
    struct fault f = FAULT_INIT;
    char *path = path_join(check_tmp(), name, &f);

    CHECK_OK(file_publish(path, text, strlen(text), &f), &f);
    return path;
}

static int with_files(struct sim_work **w, int size, const char *rates,
                      const char *lengths, struct fault *f)
{
    struct sim_work_config c = law(0.5, size);

    c.rates = rates;
    c.lengths = lengths;
    *f = FAULT_INIT;
    return sim_work_new(w, &c, f);
}

/* Prompt "a": 1 and 3 of 4 right, then again; "b": never. */
static void recorded_verdicts_are_met_in_turn(void)
{
    char *path = file("rates.json", "{\"a\": [0.25, 0.75], \"b\": [0]}");
    int seen[2][4], n = 0;
    struct sim_member m[8];
    struct sim_work *w;
    struct fault f;
    int64_t prompt;

    CHECK_OK(with_files(&w, 4, path, NULL, &f), &f);
    for (int64_t i = 0; i < 8; i++, n++) {
        int right = draw(w, i, m, &prompt);

        seen[prompt][i / 2] = right; /* each epoch has both */
    }
    for (int visit = 0; visit < 4; visit++) {
        CHECK_INT(seen[0][visit], visit % 2 ? 3 : 1);
        CHECK_INT(seen[1][visit], 0);
    }
    sim_work_free(w);
    /* Of 8: twice as many.  Of 3: drawn, and so sometimes mixed for "b" too. */
    CHECK_OK(with_files(&w, 8, path, NULL, &f), &f);
    for (int64_t i = 0; i < 2; i++) {
        n = draw(w, i, m, &prompt);
        CHECK_INT(n, prompt ? 0 : 2);
    }
    sim_work_free(w);
    CHECK_OK(with_files(&w, 3, path, NULL, &f), &f);
    n = 0;
    for (int64_t i = 0; i < 4000; i++) {
        int right = draw(w, i, m, &prompt);

        n += prompt == 1 ? right : 0;
    }
    /* Mean of Beta(1/2, 4 + 1/2) is 0.1: of 6,000 verdicts 600, se 30. */
    CHECK_NEAR(n, 600, 90);
    sim_work_free(w);
    free(path);
}

/* Problem 5: rate 0.5, lengths 10 (right), 20; problem 9: rate 1, 30, 40. */
static void recorded_lengths_follow_verdicts(void)
{
    char *rates = file("half.json", "{\"x\": [0.5]}");
    char *lengths = file("lengths.csv", "correct,problem_idx,level,tokens\n"
                                        "1,9,3,30\n1,5,3,10\r\n0,5,3,20\n1,9,1,40\n");
    struct sim_member m[4], ten[10];
    struct sim_work *w;
    struct fault f;
    int64_t prompt;

    CHECK_OK(with_files(&w, 4, rates, lengths, &f), &f);
    CHECK_INT(draw(w, 0, m, &prompt), 2);
    for (int k = 0; k < 4; k++)
        CHECK_INT(m[k].tokens, m[k].correct ? 10 : 20);
    sim_work_free(w);
    free(rates);
    rates = file("nine.json", "{\"x\": [0.9]}");
    CHECK_OK(with_files(&w, 10, rates, lengths, &f), &f);
    CHECK_INT(draw(w, 0, ten, &prompt), 9);
    for (int k = 0; k < 10; k++)
        CHECK(ten[k].tokens == 30 || ten[k].tokens == 40);
    sim_work_free(w);
    free(rates);
    free(lengths);
}

/* 256 e^(0.8 / 2) = 381.9 where nothing is right, 256 e^(-0.8 / 2) = 171.6 where all
 * is. */
static void hard_prompts_are_longer(void)
{
    char *path = file("two.json", "{\"x\": [0], \"y\": [1]}");
    struct sim_work_config c = law(0.5, 2);
    struct sim_member m[2];
    struct sim_work *w;
    struct fault f = FAULT_INIT;
    int64_t prompt;

    c.rates = path;
    c.between = c.within = 0;
    CHECK_OK(sim_work_new(&w, &c, &f), &f);
    for (int64_t i = 0; i < 2; i++) {
        int right = draw(w, i, m, &prompt);

        CHECK_INT(m[0].tokens, right ? 172 : 382);
        CHECK_INT(right, 2 * prompt);
    }
    sim_work_free(w);
    free(path);
}

static void bad_files_are_named(void)
{
    static const struct {
        bool rates;
        const char *text, *why;
    } t[] = {
        {true, "", "line 1"},
        {true, "[0.5]", "holds no prompts"},
        {true, "{}", "holds no prompts"},
        {true, "{\"p\": []}", "prompt p has no list"},
        {true, "{\"p\": 0.5}", "prompt p has no list"},
        {true, "{\"p\": [0.5, 1.5]}", "prompt p: visit 2 is no accuracy"},
        {true, "{\"p\": [\"1\"]}", "visit 1 is no accuracy"},
        {true, "{\"p\": [1], \"p\": [0]}", "line 1"},
        {false, "", "holds no samples"},
        {false, "problem_idx,tokens\n1,2\n", "columns problem_idx, correct and tokens"},
        {false, "problem_idx,correct,tokens\n", "holds no samples"},
        {false, "problem_idx,correct,tokens\n1,1,0\n", "line 2"},
        {false, "problem_idx,correct,tokens\n1,1,5\n1,2,5\n", "line 3"},
        {false, "problem_idx,correct,tokens\n1,1\n", "line 2"},
        {false, "problem_idx,correct,tokens\n1,1,99999999999999999999\n", "line 2"},
    };

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        char *path = file("bad", t[i].text);
        struct sim_work *w;
        struct fault f;

        CHECK_INT(
            with_files(&w, 4, t[i].rates ? path : NULL, t[i].rates ? NULL : path, &f),
            FAULT_DATA);
        CHECK(!w);
        CHECK_TEXT(strstr(f.text, t[i].why) ? t[i].why : f.text, t[i].why);
        CHECK(strstr(f.text, path) != NULL);
        free(path);
    }
}

/* 60,450 groups of 8 of a real run: 50 visits to each of 1,209 prompts.  The share of
 * mixed ones, counted by Python from the file, is exact. */
static void a_real_run_is_met_exactly(void)
{
    const char *data = check_data();
    struct sim_source source;
    struct sim_work *w;
    struct sim_law l;
    struct fault f = FAULT_INIT;
    char *rates, *lengths;

    if (!data)
        return;
    rates = path_join(data, "rollouts/acc_step_500.osr.json", &f);
    lengths = path_join(data, "rollouts/math100x8_lengths.csv", &f);
    CHECK_OK(with_files(&w, 8, rates, lengths, &f), &f);
    source = sim_work_source(w);
    CHECK_INT(source.prompts, 1209);
    CHECK_OK(sim_law(&l, &source, 1209 * 50, &f), &f);
    CHECK_NEAR(l.trainable * 1209 * 50, 30993, 0.5);
    sim_work_free(w);
    free(rates);
    free(lengths);
}

CASES(CASE(the_law_is_that_of_the_python_simulation), CASE(a_number_says_all),
      CASE(what_the_law_cannot_do_is_refused), CASE(recorded_verdicts_are_met_in_turn),
      CASE(recorded_lengths_follow_verdicts), CASE(hard_prompts_are_longer),
      CASE(bad_files_are_named), CASE(a_real_run_is_met_exactly));
