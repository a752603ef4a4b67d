/* test_answer.c - what grader = math takes as the answer; verdicts and their versions.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/mem.h"
#include "dapo/reward.h"

/* The answer found in text[n]; "none" if there is none.  The caller frees it. */
static char *answer_in(const char *text, size_t n, int window)
{
    struct fault f = FAULT_INIT;
    struct bytes b = {0};
    struct verdict v;
    struct judge *j;

    CHECK_OK(judge_new(&j, GRADER_MATH, window, &f), &f);
    CHECK_OK(judge_run(j, "1", 1, text, n, &v, &f), &f);
    CHECK(v.offset <= n && v.len <= n - v.offset);
    if (v.found)
        CHECK_OK(bytes_add(&b, v.answer, v.n_answer, &f), &f);
    else
        CHECK_OK(bytes_add(&b, "none", 4, &f), &f);
    judge_free(j);
    return b.data;
}

static void finds(const char *text, const char *want)
{
    char *got = answer_in(text, strlen(text), 300);

    CHECK_TEXT(got, want);
    free(got);
}

static void the_last_box_is_the_answer(void)
{
    finds("the answer is \\boxed{2}. wait, actually \\boxed{3}", "3");
    finds("\\boxed{840} ... **Final Answer** \\boxed{840}", "840");
    finds("\\boxed{wrong}, final \\boxed{42}", "42");
    finds("\\boxed{1} no no no \\boxed{2}", "2");
    finds("Answer: 4 \\boxed{5}", "5");
    finds("</think>\\boxed{\\frac{1}{2}}", "\\frac{1}{2}");
    finds("start \\boxed{never closes", "none");
    finds("<boxed{70}\\).</answer>", "none");
    finds("\\boxed{1} \\boxed{2}", "2"); /* nothing says that they are a list */
    finds("x}, \\boxed{2}", "2");
    finds("\\text{so}, \\boxed{2}", "2");
    finds("\\boxed{1}, sand \\boxed{2}", "2");
    finds("\\boxed{1} sand \\boxed{2}", "2");
    finds("I had \\boxed{1}. And then \\boxed{2}", "2");
    finds("\\boxed{1}. Adding and \\boxed{2}", "2");
    finds("\\boxed{1} and after quite a few more words \\boxed{2}", "2");
}

static void boxes_side_by_side_are_a_list(void)
{
    finds("\\[\n\\boxed{(1, 2)}, \\boxed{(2, 1)}, \\boxed{(-1, -20)}\n\\]",
          "(1, 2), (2, 1), (-1, -20)");
    finds("$$\\boxed{(2, 2)} \\quad \\text{and} \\quad \\boxed{(6, 2)}$$",
          "(2, 2), (6, 2)");
    finds("\\(\\boxed{1}\\) and \\(\\boxed{-2}\\).", "1, -2");
    finds("$\\boxed{x=1}$, $\\boxed{y=2}$, and $\\fbox{z=3}$", "x=1, y=2, z=3");
    finds("\\boxed{\\frac{1}{2}}\\text{ and }\\boxed{3}", "\\frac{1}{2}, 3");
    finds("\\boxed{1}\u3001\\boxed{2}\u548c\\boxed{3}", "1, 2, 3");
    finds("first \\boxed{0}. Then \\boxed{1}, \\boxed{2}", "1, 2");
    finds("\\boxed{1} papers and \\boxed{2} bins", "1, 2");
    finds("\\boxed{(3, 3)} \\text{ for part (a) and } \\boxed{(1, 1)}",
          "(3, 3), (1, 1)");
    finds("\\(x = \\boxed{3}\\) and \\( y_2 = \\boxed{4}\\)", "3, 4");
    finds("\\boxed{1} or \\boxed{2}", "1, 2");
    finds("\\boxed{1} and not \\boxed{2}", "2");
    finds("\\boxed{1} is wrong and \\boxed{2}", "2");
    finds("\\boxed{004}, \\boxed{004}", "004"); /* said twice */
}

static void a_line_is_read_generously(void)
{
    finds("Answer: 34", "34");
    finds("Answer: 34.", "34");
    finds("**Answer**: 34", "34");
    finds("**Answer:** 4.", "4");
    finds("**Answer: 34**", "34");
    finds("Final Answer: **73**", "73");
    finds("**Final Answer:**\n\n34\n", "34");
    finds("my answer : 34 <|im_end|>", "34");
    finds("Answer: 34</answer>\n", "34");
    finds("Answer: 34.</s>", "34");
    finds("Answer: \\[34\\]", "\\[34\\]");
    finds("Answer: \\[\n34\n\\]\nDone.", "\\[\n34\n\\]");
    finds("Answer:\n$$\nx\n$$.", "$$\nx\n$$");
    finds("Answer: $$ 3 $$ and $$\n4 $$", "$$ 3 $$ and $$");
    finds("Answer\uff1a34", "34");
    finds("Final Answer: The final answer is $14{,}916$. I hope it is correct.",
          "$14{,}916$");
    finds("Answer: The answer is 34. I hope it is correct. <|im_start|>user", "34");
    finds("Step 3: The answer is: 34", "34");
    finds("The answer is: $4$.", "$4$");
    finds("Answer $ 9 $", "$ 9 $");
    finds("**Answer** \\[ \n 9 \n \\]", "\\[ \n 9 \n \\]");
    finds("Answer: 9\nThe answer $8$ is wrong", "9");
    finds("the Answer $8$ is wrong", "none");
    finds("\u7b54\u6848\uff1a34", "34");
    finds("Answer: 1\nAnswer: 2\n", "2");
    finds("Answer: 1\nAnswer: ", "1");
    finds("Answer: 0.333...", "0.333...");
    finds("Answer: 3 < 5 > 4", "3 < 5 > 4");
    finds("The answer is 34", "none"); /* never a number from prose */
    finds("34", "none");
    finds("Answer:", "none");
    finds("", "none");
}

static void the_window_holds(void)
{
    static const char text[] = "\\boxed{1}, \\boxed{2}";
    char *got = answer_in(text, strlen(text), 0);

    CHECK_TEXT(got, "1, 2");
    free(got);
    got = answer_in(text, strlen(text), 12); /* cuts the first box */
    CHECK_TEXT(got, "2");
    free(got);
    got = answer_in(text, strlen(text), 8);
    CHECK_TEXT(got, "none");
    free(got);
}

/* A megabyte of each pattern: a quadratic scan would take minutes. */
static void hostile_length(void)
{
    static const char *const pattern[] = {
        "\\boxed{1},",
        "\\boxed{",
        "},",
        "and ",
        "Answer:",
        "Answer: \n",
        "Answer:\\[\n",
        "**",
        "answer_",
        "Answer: </s>",
        "\\text{and}",
        "{\\boxed{1},",
        "\\boxed{1",
        "\\boxed{}",
        "Answer: $$\n",
        "\xe7\xad\x94",
        "$",
        ">",
        "\\",
        "\xff",
        "\\boxed 5",
        "\\boxed ",
        "x=\\boxed{1},",
        "\\boxed{1} and ",
        "\\boxed\n\n{",
        "{\n\n",
        "Answer: \\begin{a}\n",
    };

    for (size_t i = 0; i < sizeof pattern / sizeof *pattern; i++)
        for (int end = 0; end < 3; end++) {
            struct fault f = FAULT_INIT;
            struct bytes b = {0};
            char *got;

            while (b.len < 1000000)
                if (bytes_add(&b, pattern[i], strlen(pattern[i]), &f))
                    break;
            if (end)
                CHECK_OK(bytes_printf(&b, &f, "%s",
                                      end == 1 ? "\\boxed{34}" : "\nAnswer: 34"),
                         &f);
            got = answer_in(b.data, b.len, 0);
            CHECK(got != NULL);
            free(got);
            bytes_free(&b);
        }
}

static void verdict_of(enum grader g, const char *gold, const char *text,
                       enum verdict_kind want)
{
    struct fault f = FAULT_INIT;
    struct verdict v;
    struct judge *j;

    CHECK_OK(judge_new(&j, g, 300, &f), &f);
    CHECK_OK(judge_run(j, gold, strlen(gold), text, strlen(text), &v, &f), &f);
    CHECK_TEXT(verdict_text(v.kind), verdict_text(want));
    judge_free(j);
}

static void verdicts(void)
{
    verdict_of(GRADER_MATH, "34", "\\boxed{34}", VERDICT_EQUAL);
    verdict_of(GRADER_MATH, "34", "\\boxed{35}", VERDICT_DIFFERENT);
    verdict_of(GRADER_MATH, "34", "it is 34", VERDICT_NO_ANSWER);
    verdict_of(GRADER_MATH, "", "\\boxed{}", VERDICT_DIFFERENT);
    verdict_of(GRADER_MATH, " ", "Answer: square", VERDICT_DIFFERENT);
    verdict_of(GRADER_MATH, "$$", "\\boxed{$ $}", VERDICT_DIFFERENT);
    verdict_of(GRADER_MATH, "{}", "Answer: $$", VERDICT_DIFFERENT);
    verdict_of(GRADER_MATH, "So it is \\boxed{34}.", "\\boxed{34}", VERDICT_EQUAL);
    verdict_of(GRADER_EXACT, "34", "\\boxed{34}", VERDICT_EQUAL);
    verdict_of(GRADER_EXACT, "34", "\\boxed{35}", VERDICT_DIFFERENT);
    verdict_of(GRADER_EXACT, "34", "34", VERDICT_NO_ANSWER);
    verdict_of(GRADER_DAPO, "34", "Answer: 34", VERDICT_EQUAL);
    verdict_of(GRADER_DAPO, "34", "\\boxed{34}", VERDICT_NO_ANSWER);
}

static void answers_extracted_before(void)
{
    static const struct {
        enum grader g;
        const char *answer;
        bool right;
    } t[] = {
        {GRADER_MATH, "34", true},           {GRADER_MATH, "so \\boxed{34}.", true},
        {GRADER_MATH, "so 34.", false},      {GRADER_MATH, "34.<|im_end|>", true},
        {GRADER_EXACT, "$34$", true},        {GRADER_EXACT, "\\boxed{34} dogs", true},
        {GRADER_DAPO, "x = 34 units", true}, {GRADER_DAPO, "Answer: 34", true},
        {GRADER_DAPO, "34.", false},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct fault f = FAULT_INIT;
        struct verdict v;
        struct judge *j;

        CHECK_OK(judge_new(&j, t[i].g, 8, &f), &f);
        CHECK_OK(judge_answer(j, "34", 2, t[i].answer, strlen(t[i].answer), &v, &f),
                 &f);
        CHECK(v.found && v.correct == t[i].right);
        judge_free(j);
    }
}

static bool good_gold(enum grader g, int window, const char *gold)
{
    struct fault f = FAULT_INIT;
    struct judge *j;
    bool good;

    CHECK_OK(judge_new(&j, g, window, &f), &f);
    CHECK_OK(judge_gold(j, gold, strlen(gold), &good, &f), &f);
    judge_free(j);
    return good;
}

static void golds_against_themselves(void)
{
    for (int g = 0; g < GRADER_COUNT; g++) {
        CHECK(good_gold((enum grader)g, 300, "34"));
        CHECK(good_gold((enum grader)g, 300, "\\frac{1}{2}"));
        CHECK(!good_gold((enum grader)g, 10, "12345678901234567890"));
    }
    CHECK(!good_gold(GRADER_EXACT, 300, "\\frac{1}{2"));
    CHECK(!good_gold(GRADER_MATH, 300, "\\frac{1}{2"));
    CHECK(!good_gold(GRADER_EXACT, 300, "$$"));
    CHECK(!good_gold(GRADER_MATH, 300, "$$"));
    CHECK(good_gold(GRADER_MATH, 300, "So the answer is \\boxed{34}."));
    CHECK(!good_gold(GRADER_DAPO, 300, "3\n4"));
}

static void versions(void)
{
    CHECK_TEXT(reward_version(GRADER_EXACT), "exact-1");
    CHECK_TEXT(reward_version(GRADER_DAPO), "dapo-1");
    CHECK(!strncmp(reward_version(GRADER_MATH), MATH_VERSION, strlen(MATH_VERSION)));
    CHECK(reward_version_in("dapo-1/exact-1", GRADER_EXACT)); /* as older files say */
    CHECK(reward_version_in("dapo-1/exact-1", GRADER_DAPO));
    CHECK(reward_version_in("exact-1", GRADER_EXACT));
    CHECK(!reward_version_in("dapo-1/exact-1", GRADER_MATH));
    CHECK(!reward_version_in("exact-12/exact-2", GRADER_EXACT));
    CHECK(!reward_version_in("", GRADER_EXACT));
}

CASES(CASE(the_last_box_is_the_answer), CASE(boxes_side_by_side_are_a_list),
      CASE(a_line_is_read_generously), CASE(the_window_holds), CASE(hostile_length),
      CASE(verdicts), CASE(answers_extracted_before), CASE(golds_against_themselves),
      CASE(versions));
