/* test_reward.c - verdicts against the official grader's, the overlong penalty against
 * its published numbers, extraction on hostile text. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/mem.h"
#include "dapo/reward.h"
#include "reward/rules.h"

static bool judge_n(enum grader g, int window, const char *gold, const char *text,
                    size_t n, struct verdict *v)
{
    struct fault f = FAULT_INIT;
    struct judge *j;

    CHECK_OK(judge_new(&j, g, window, &f), &f);
    CHECK_OK(judge_run(j, gold, strlen(gold), text, n, v, &f), &f);
    CHECK(v->offset <= n && v->len <= n - v->offset);
    CHECK(v->correct == (v->kind == VERDICT_EQUAL || v->kind == VERDICT_EQUAL_NUMERIC));
    CHECK(v->found == (v->kind != VERDICT_NO_ANSWER));
    judge_free(j);
    return v->correct;
}

static bool judge(enum grader g, const char *gold, const char *text)
{
    struct verdict v;

    return judge_n(g, 300, gold, text, strlen(text), &v);
}

/* Every row of the table in the official grader's own words: tests/ref/reward_cases.py
 * ran it. */
static void dapo_agrees_with_the_official_grader(void)
{
    FILE *in = fopen("tests/ref/reward_cases.jsonl", "r");
    char *line = NULL;
    size_t cap = 0, rows = 0;

    CHECK(in != NULL);
    while (in && getline(&line, &cap, in) > 0) {
        json_t *row = json_loads(line, 0, NULL), *raw = json_object_get(row, "raw");
        struct fault f = FAULT_INIT;
        struct verdict v;

        rows++;
        CHECK(row != NULL);
        if (raw) {
            struct bytes out = {0};

            CHECK_OK(
                normal_dapo(json_string_value(raw), json_string_length(raw), &out, &f),
                &f);
            CHECK_TEXT(out.data, json_string_value(json_object_get(row, "normal")));
            bytes_free(&out);
        } else {
            const char *text = json_string_value(json_object_get(row, "text"));
            const char *gold = json_string_value(json_object_get(row, "gold"));
            const char *pred = json_string_value(json_object_get(row, "pred"));
            bool want = json_is_true(json_object_get(row, "acc"));

            if (judge_n(GRADER_DAPO, 300, gold, text, strlen(text), &v) != want)
                CHECK_TEXT(text, want ? "a right answer" : "a wrong answer");
            CHECK_INT(v.found, strcmp(pred, "[INVALID]") != 0);
        }
        json_decref(row);
    }
    CHECK(rows > 400);
    free(line);
    if (in)
        fclose(in);
}

/* The same table as published (gold 34 unless it says otherwise), by hand. */
static void dapo_truth_table(void)
{
    static const char *const right[] = {"Answer: 34",
                                        "Answer:34",
                                        "answer : 34",
                                        "Answer:\n34",
                                        "Answer: $34$",
                                        "Answer: $34$.",
                                        "Answer: 34$",
                                        "Answer: \\boxed{34}",
                                        "Answer: x = 34",
                                        "Answer: 34 units",
                                        "Answer: 34 cm",
                                        "Answer: 34^\\circ",
                                        "Answer: \\$34",
                                        "Answer: \\text{34}",
                                        "Answer: 34\\text{ units}",
                                        "Answer: m+n=34",
                                        "Answer: 3 4",
                                        "Answer: 34 degrees",
                                        "Final Answer: 34",
                                        "Answer: 34\r",
                                        "Answer: \\overline{34}",
                                        "Answer: 41\nAnswer: 34"};
    static const char *const wrong[] = {"Answer: 34.",
                                        "**Answer: 34**",
                                        "**Answer:** 34",
                                        "The answer is 34",
                                        "Answer: 34.0",
                                        "Answer: 034",
                                        "Answer: 34\u00b0",
                                        "Answer: 34\\%",
                                        "Answer: +34",
                                        "Answer: 41 Answer: 34",
                                        "Answer\uff1a34",
                                        "Answer: 34 (thirty-four)",
                                        "Answer: 34<|im_end|>",
                                        "Answer: \\(34\\)",
                                        "Answer: \\[34\\]",
                                        "Answer: 34, 35",
                                        "Answer:",
                                        "Answer: \\boxed{34",
                                        "\\boxed{34}"};

    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        if (!judge(GRADER_DAPO, "34", right[i]))
            CHECK_TEXT(right[i], "right");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (judge(GRADER_DAPO, "34", wrong[i]))
            CHECK_TEXT(wrong[i], "wrong");
    CHECK(judge(GRADER_DAPO, "1234", "Answer: 1,234"));
    CHECK(judge(GRADER_DAPO, "1234", "Answer: 1{,}234"));
    CHECK(!judge(GRADER_DAPO, "1234", "Answer: 1\\,234"));
    CHECK(judge(GRADER_DAPO, "-3", "Answer: -3"));
    CHECK(!judge(GRADER_DAPO, "-3", "Answer: \u22123"));
    CHECK(judge(GRADER_DAPO, "\\frac{1}{2}", "Answer: \\frac12"));
    CHECK(judge(GRADER_DAPO, "\\sqrt2", "Answer: \\sqrt{2}"));
    CHECK(judge(GRADER_DAPO, "3435", "Answer: 34, 35"));
}

/* 300 code points, not bytes: 11 + 289 fit, one more cuts the A off. */
static void window_counts_code_points(void)
{
    struct bytes b = {0};
    struct fault f = FAULT_INIT;
    struct verdict v;

    CHECK_OK(bytes_printf(&b, &f, "Answer: 34\n"), &f);
    for (int i = 0; i < 280; i++)
        CHECK_OK(bytes_add(&b, "\u4e2d", 3, &f), &f);
    CHECK(judge_n(GRADER_DAPO, 300, "34", b.data, b.len, &v));
    CHECK_INT(v.offset, 8);
    CHECK_INT(v.len, 2);
    for (int i = 0; i < 9; i++)
        CHECK_OK(bytes_add(&b, "x", 1, &f), &f);
    CHECK(judge_n(GRADER_DAPO, 300, "34", b.data, b.len, &v));
    CHECK_OK(bytes_add(&b, "x", 1, &f), &f);
    CHECK(!judge_n(GRADER_DAPO, 300, "34", b.data, b.len, &v));
    CHECK(!v.found);
    CHECK_INT(v.len, 0);
    CHECK(judge_n(GRADER_DAPO, 0, "34", b.data, b.len, &v)); /* the whole response */
    CHECK(judge_n(GRADER_EXACT, 0, "34", b.data, b.len, &v));
    CHECK(!judge_n(GRADER_EXACT, 300, "34", b.data, b.len, &v));
    bytes_free(&b);
}

static void extraction_takes_the_last_balanced_box(void)
{
    static const struct {
        const char *text, *want; /* NULL: none */
    } t[] = {
        {"\\boxed{1} then \\boxed{2}", "2"},
        {"\\boxed{\\frac{1}{2}}", "\\frac{1}{2}"},
        {"\\boxed{1} and \\boxed{2", "1"},
        {"\\fbox{7}", "7"},
        {"\\boxed {8}", "8"},
        {"\\boxed{\\boxed{34}}", "34"},
        {"\\boxed{\\{1, 2\\}}", "\\{1, 2\\}"},
        {"\\boxed{[0, 1\\}}", "[0, 1\\}"},
        {"\\boxed{}", ""},
        {"{\\boxed{3}", "3"},
        {"\\boxed{4}} Answer: 5", "4"}, /* a box goes before a line */
        {"Answer: 5\nsorry, ANSWER :  6 \nbye", "6 "},
        {"no box", NULL},
        {"\\boxed 5", NULL},
        {"boxed{5}", NULL},
        {"\\boxed{5", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct verdict v;
        char got[64];

        judge_n(GRADER_EXACT, 300, "34", t[i].text, strlen(t[i].text), &v);
        CHECK(v.found == (t[i].want != NULL));
        snprintf(got, sizeof got, "%.*s", (int)v.len, t[i].text + v.offset);
        CHECK_TEXT(got, t[i].want ? t[i].want : "");
    }
}

/* reward.h lists the rules; each row exercises one, equal or not by hand. */
static void exact_forms(void)
{
    static const struct {
        const char *gold, *box;
        bool equal;
    } t[] = {
        {"34", " 34 ", true},
        {"34", "$34$", true},
        {"34", "\\(34\\)", true},
        {"34", "34.", true},
        {"34", "34.0", true},
        {"34", "34.00.", true},
        {"34", "034", true},
        {"34", "+34", true},
        {"34", "x = 34", true},
        {"34", "\\text{34}", true},
        {"34", "\\mathrm{ 34 }", true},
        {"34", "34^\\circ", true},
        {"34", "34^{\\circ}", true},
        {"34", "34\u00b0", true},
        {"34", "**34**", true},
        {"34", "\\$34", true},
        {"34", "3 4", false},
        {"34", "34,35", false},
        {"34", "34\\%", false},
        {"34", "-34", false},
        {"34", "34.5", false},
        {"34", "", false},
        {"34", "x", false},
        {"$$", "", false},
        {"0", "-0", true},
        {"0", "0.0", true},
        {"0", "000", true},
        {"0.5", ".5", true},
        {"0.5", "0.50", true},
        {"0.5", "5", false},
        {"-3", "\u22123", true},
        {"-3", "- 3", true},
        {"-0.5", "-.5", true},
        {"1234", "1,234", true},
        {"1234", "1{,}234", true},
        {"1234", "1\\,234", true},
        {"1234", "1,\\!234", true},
        {"1234", "12,34", false},
        {"1234", "1, 234", false},
        {"(1,2)", "(1, 2)", true},
        {"1234567.5", "1,234,567.50", true},
        {"12345678901234567890123", "12,345,678,901,234,567,890,123", true},
        {"12345678901234567890123", "12345678901234567890124", false},
        {"\\frac{3}{7}", "\\dfrac{3}{7}", true},
        {"\\frac{3}{7}", "\\tfrac 3 7", true},
        {"\\frac{3}{7}", "\\frac37", true},
        {"\\frac{3}{7}", "\\frac3{7}", true},
        {"\\frac{3}{7}", "\\frac{7}{3}", false},
        {"\\sqrt{2}", "\\sqrt2", true},
        {"\\left( 3, \\frac{\\pi}{2} \\right)", "(3,\\frac{\\pi}{2})", true},
        {"\\leftarrow", "arrow", false},
        {"\\pi r", "\\pi\\,r", true},
        {"\\pi r", "\\pir", false},
        {"2\\pi", "2 \\pi", true},
        {"x \\le 3", "x\\leq 3", true},
        {"\\text{Monday morning}", "Monday  morning", true},
        {"Mondaymorning", "Monday morning", false},
        {"x+1", "x + 1", true},
        {"y=2x+1", "2x+1", true},
        {"50\\%", "50%", true},
        {"\\{1,2\\}", "\\left\\{1, 2\\right\\}", true},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char text[256];

        snprintf(text, sizeof text, "So \\boxed{%s} it is.", t[i].box);
        if (judge(GRADER_EXACT, t[i].gold, text) != t[i].equal)
            CHECK_TEXT(text, t[i].gold);
    }
    CHECK(judge(GRADER_EXACT, "34", "**Answer:** 34"));
    CHECK(judge(GRADER_EXACT, "34", "**Answer: $34$.**"));
    CHECK(!judge(GRADER_EXACT, "34", "34"));
    CHECK(!judge(GRADER_EXACT, "34", "\\boxed{35} Answer: 34"));
}

/* A completion can't win by hiding bytes: NUL, stray UTF-8, either grader. */
static void hostile_bytes(void)
{
    static const char nul[] = "Answer: 34\0junk", stray[] = "Answer: 34\xff";
    static const char box[] = "\\boxed{34\0}", first[] = "\0\xe2\x88 \\boxed{34}";
    struct verdict v;

    CHECK(!judge_n(GRADER_DAPO, 300, "34", nul, sizeof nul - 1, &v));
    CHECK_INT(v.len, 7);
    CHECK(!judge_n(GRADER_EXACT, 300, "34", nul, sizeof nul - 1, &v));
    CHECK(!judge_n(GRADER_DAPO, 300, "34", stray, sizeof stray - 1, &v));
    CHECK(!judge_n(GRADER_EXACT, 300, "34", box, sizeof box - 1, &v));
    CHECK(judge_n(GRADER_EXACT, 300, "34", first, sizeof first - 1, &v));
    CHECK(judge_n(GRADER_EXACT, 10, "34", first, sizeof first - 1, &v));
    CHECK(!judge_n(GRADER_EXACT, 9, "34", first, sizeof first - 1, &v)); /* cut */
}

/* A megabyte of each pattern through both graders: at n^2 one row alone takes minutes,
 * so a quadratic scan shows as a timeout of the suite. */
static void hostile_length(void)
{
    static const char *const pattern[] = {"\\boxed{", "{",          "}",
                                          "\\",       "\\{",        "Answer:",
                                          "Answer ",  "Answer: \n", " ",
                                          "\n",       "$",          "\\text{",
                                          "\\frac",   "\\sqrt{",    "=",
                                          "\xe2",     "\x80",       "\\left",
                                          "frac\n",   "\\text{}^",  "\\overline{}",
                                          "a ",       "\\dfrac1",   "1,",
                                          "{,}"};
    static const char *const ends[][2] = {
        {"", ""}, {"\\boxed{", "}"}, {"Answer: ", "."}};

    for (size_t i = 0; i < sizeof pattern / sizeof *pattern; i++)
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
            struct fault f = FAULT_INIT;
            struct bytes b = {0};
            struct verdict v;

            CHECK_OK(bytes_printf(&b, &f, "%s", ends[e][0]), &f);
            while (b.len < 1000000)
                if (bytes_add(&b, pattern[i], strlen(pattern[i]), &f))
                    break;
            CHECK_OK(bytes_printf(&b, &f, "%s", ends[e][1]), &f);
            CHECK(!judge_n(GRADER_EXACT, 0, "34", b.data, b.len, &v));
            CHECK(!judge_n(GRADER_DAPO, 0, "34", b.data, b.len, &v));
            bytes_free(&b);
        }
}

/* Paper eq. 13 at the published settings, and TRL's and verl's own test values. */
static void overlong_numbers(void)
{
    CHECK_NEAR(reward_overlong(16384, 20480, 4096, 1), 0, 0);
    CHECK_NEAR(reward_overlong(16385, 20480, 4096, 1), -0.000244140625, 0);
    CHECK_NEAR(reward_overlong(18432, 20480, 4096, 1), -0.5, 0);
    CHECK_NEAR(reward_overlong(20479, 20480, 4096, 1), -0.999755859375, 0);
    CHECK_NEAR(reward_overlong(20480, 20480, 4096, 1), -1, 0);
    CHECK_NEAR(reward_overlong(20481, 20480, 4096, 1), -1, 0);
    CHECK_NEAR(reward_overlong(99999, 20480, 4096, 1), -1, 0);
    CHECK_NEAR(reward_overlong(3072, 4096, 1024, 1), 0, 0);
    CHECK_NEAR(reward_overlong(3073, 4096, 1024, 1), -0.0009765625, 0);
    CHECK_NEAR(reward_overlong(3584, 4096, 1024, 1), -0.5, 0);
    CHECK_NEAR(reward_overlong(4095, 4096, 1024, 1), -0.9990234375, 0);
    CHECK_NEAR(reward_overlong(4096, 4096, 1024, 1), -1, 0);
    CHECK_NEAR(reward_overlong(50, 100, 20, 1), 0, 0);
    CHECK_NEAR(reward_overlong(90, 100, 20, 1), -0.5, 0);
    CHECK_NEAR(reward_overlong(110, 100, 20, 1), -1, 0);
    CHECK_NEAR(reward_overlong(90, 100, 20, 0.4), -0.2, 0);
    CHECK_NEAR(reward_overlong(0, 4, 4, 1), 0, 0);
    CHECK_NEAR(reward_overlong(1, 4, 4, 1), -0.25, 0);
}

/* Limit 100, buffer 20: 0, 0, -0.5, -1, -1 added; and the worked cases of the shaping
 * that takes the minimum, 1616/4096 and 2616/4096 over the edge. */
static void overlong_added_and_minimum(void)
{
    static const double want[5] = {0, 0, -0.5, -1, -1};
    double just = reward_overlong_min(1, 16385, 20480, 4096, 1);

    for (int i = 0; i < 5; i++)
        CHECK_NEAR(reward_overlong(70 + 10 * i, 100, 20, 1), want[i], 0);
    CHECK_NEAR(reward_overlong_min(1, 18000, 20480, 4096, 1), -0.39453125, 0);
    CHECK_NEAR(reward_overlong_min(-1, 19000, 20480, 4096, 1), -1, 0);
    CHECK_NEAR(reward_overlong_min(0, 19000, 20480, 4096, 1), -0.638671875, 0);
    CHECK_NEAR(reward_overlong_min(1, 16384, 20480, 4096, 1), 1, 0); /* not over yet */
    CHECK_NEAR(just, -0.000244140625, 0);
    CHECK_NEAR(reward_overlong_min(1, 30000, 20480, 4096, 1), -1, 0);
    CHECK_NEAR(reward_overlong_min(-1, 30000, 20480, 4096, 2), -2, 0);
}

/* 400 real responses with the verdicts of their source's checker, 375 of them right. */
static void real_responses(void)
{
    const char *dir = check_data();
    char path[512], *line = NULL;
    size_t cap = 0;
    FILE *in;
    int rows = 0, found = 0, agree = 0;

    if (!dir)
        return;
    snprintf(path, sizeof path, "%s/rollouts/math_cot_50x8.jsonl", dir);
    in = fopen(path, "r");
    CHECK(in != NULL);
    while (in && getline(&line, &cap, in) > 0) {
        json_t *row = json_loads(line, 0, NULL), *code = json_object_get(row, "code");
        json_t *score = json_object_get(row, "score");
        const char *gold = json_string_value(json_object_get(row, "gt"));

        for (size_t i = 0; gold && i < json_array_size(code); i++) {
            const char *text = json_string_value(json_array_get(code, i));
            struct verdict v;
            bool right = judge_n(GRADER_EXACT, 0, gold, text, strlen(text), &v);

            rows++;
            found += v.found;
            agree += right == json_is_true(json_array_get(score, i));
        }
        json_decref(row);
    }
    printf("real responses: %d, answer found %d, same verdict %d\n", rows, found,
           agree);
    free(line);
    if (in)
        fclose(in);
}

CASES(CASE(dapo_agrees_with_the_official_grader), CASE(dapo_truth_table),
      CASE(window_counts_code_points), CASE(extraction_takes_the_last_balanced_box),
      CASE(exact_forms), CASE(hostile_bytes), CASE(hostile_length),
      CASE(overlong_numbers), CASE(overlong_added_and_minimum), CASE(real_responses));
