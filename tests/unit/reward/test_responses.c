/* test_responses.c - where responses of all manners say their answer, as grader = math
 * reads them; each by hand. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/mem.h"
#include "dapo/reward.h"

struct literal {
    const char *s;
    size_t n;
};
#define T(s)             \
    {                    \
        s, sizeof(s) - 1 \
    }
#define NONE    \
    {           \
        NULL, 0 \
    }

struct row {
    struct literal text, want; /* NONE: no answer */
};

static void finds(struct judge *j, struct literal text, struct literal want)
{
    struct fault f = FAULT_INIT;
    struct verdict v;

    CHECK_OK(judge_run(j, "1", 1, text.s, text.n, &v, &f), &f);
    if (v.found == (want.s != NULL) &&
        (!v.found || (v.n_answer == want.n && !memcmp(v.answer, want.s, want.n))))
        return;
    printf("  %.*s: %.*s\n", (int)text.n, text.s, v.found ? (int)v.n_answer : 4,
           v.found ? v.answer : "none");
    CHECK(false);
}

static void find_all(int window, const struct row *row, size_t n)
{
    struct fault f = FAULT_INIT;
    struct judge *j;

    CHECK_OK(judge_new(&j, GRADER_MATH, window, &f), &f);
    for (size_t i = 0; i < n; i++)
        finds(j, row[i].text, row[i].want);
    judge_free(j);
}
#define FIND(window, rows) find_all(window, rows, sizeof(rows) / sizeof *(rows))

/* A box as it is written, balanced, nested. */
static void a_box(void)
{
    static const struct row rows[] = {
        {T("So \\boxed{5}"), T("5")},
        {T("\\boxed 5"), T("5")},
        {T("$\\boxed 5$."), T("5")},
        {T("\\boxed\\frac{1}{2}"), NONE},
        {T("$\\boxed5$"), T("5")},
        {T("\\boxed{\n5\n}"), T("\n5\n")},
        {T("\\boxed {5}"), T("5")},
        {T("\\boxed  {5}"), T("5")},
        {T("\\boxed\n{5}"), T("5")},
        {T("\\boxed\t{5}"), T("5")},
        {T("\\fbox{5}"), T("5")},
        {T("\\fbox{$5$}"), T("$5$")},
        {T("\\boxed{\\boxed{5}}"), T("5")},
        {T("\\boxed{\\text{Answer: } 5}"), T("\\text{Answer: } 5")},
        {T("\\boxed{5"), NONE},
        {T("\\boxed{5} and then \\boxed{6"), T("5")},
        {T("\\boxed{5}}"), T("5")},
        {T("{\\boxed{5}"), T("5")},
        {T("\\boxed{{5}"), NONE},
        {T("\\boxed{\\frac{1}{2}}"), T("\\frac{1}{2}")},
        {T("\\boxed{\\{1,2\\}}"), T("\\{1,2\\}")},
        {T("\\boxed{\\left\\{1,2\\right\\}}"), T("\\left\\{1,2\\right\\}")},
        {T("\\boxed{[0,1)}"), T("[0,1)")},
        {T("\\boxed{\\left.\\frac12\\right|}"), T("\\left.\\frac12\\right|")},
        {T("\\boxed{}"), T("")},
        {T("\\boxed{ }"), T(" ")},
    };

    FIND(300, rows);
}

/* Markers, braces and backslashes that make no box, or another one; bytes. */
static void what_is_spelt_like_a_box(void)
{
    static const struct row rows[] = {
        {T("boxed{5}"), NONE},
        {T("\\\\boxed{5}"), T("5")},
        {T("\\\\\\boxed{5}"), T("5")},
        {T("$\\boxed{\\$5}$"), T("\\$5")},
        {T("\\boxed{5\\}"), NONE},
        {T("\\boxed{\\}5}"), T("\\}5")},
        {T("\\boxed{\\\\}"), T("\\\\")},
        {T("\\boxedx{5}"), NONE},
        {T("\\boxed[5]"), NONE},
        {T("\\boxed(5)"), NONE},
        {T("\\text{\\boxed{5}}"), T("5")},
        {T("\\Boxed{5}"), NONE},
        {T("\\boxed{5}}}}}"), T("5")},
        {T("\\boxed{a}\\boxed{"), T("a")},
        {T("\\boxed{\\boxed{"), NONE},
        {T("{{{{{{\\boxed{5}"), T("5")},
        {T("\\boxed{%5}"), T("%5")},
        {T("x\000\\boxed{5}\000"), T("5")},
        {T("\\boxed{5\000}"), T("5\000")},
    };

    FIND(300, rows);
}

static void mathematics_in_and_behind_a_box(void)
{
    static const struct row rows[] = {
        {T("\\boxed{\\begin{pmatrix}1\\\\2\\end{pmatrix}}"),
         T("\\begin{pmatrix}1\\\\2\\end{pmatrix}")},
        {T("$$\\boxed{\n\\begin{aligned}x&=1\\\\y&=2\\end{aligned}\n}$$"),
         T("\n\\begin{aligned}x&=1\\\\y&=2\\end{aligned}\n")},
        {T("\\boxed{5}\\,\\text{cm}"), T("5")},
        {T("\\boxed{5\\text{ cm}}"), T("5\\text{ cm}")},
        {T("\\boxed{5} cm"), T("5")},
        {T("$\\boxed{5}\\%$"), T("5")},
        {T("\\boxed{\\text{Yes}}"), T("\\text{Yes}")},
        {T("\\boxed{A}"), T("A")},
        {T("The answer is \\boxed{\\textbf{(B)}}."), T("\\textbf{(B)}")},
        {T("\\boxed{\\underline{5}}"), T("\\underline{5}")},
    };

    FIND(300, rows);
}

/* In thoughts, under headings, beside an "Answer:", before an end token. */
static void a_box_among_other_text(void)
{
    static const struct row rows[] = {
        {T("<think>maybe \\boxed{3}</think> The answer is \\boxed{4}."), T("4")},
        {T("<think>\\boxed{3} wait</think> It is 4."), T("3")},
        {T("<think>\\boxed{3} wait</think> Answer: 4"), T("3")},
        {T("\\boxed{3} is wrong, so Answer: 4"), T("3")},
        {T("**Final Answer**\n\\boxed{7}"), T("7")},
        {T("### Final Answer\n$$\\boxed{7}$$"), T("7")},
        {T("**Final Answer:** \\(\\boxed{7}\\)"), T("7")},
        {T("<answer> \\boxed{7} </answer>"), T("7")},
        {T("```python\nprint('\\\\boxed{1}')\n```\n\\boxed{2}"), T("2")},
        {T("Answer: 5 \\boxed{6}"), T("6")},
        {T("\\boxed{6} Answer: 5"), T("6")},
        {T("Answer: see \\boxed{5}"), T("5")},
        {T("\\(\\boxed{5}\\)<|im_end|>\n<|im_start|>user\n\\boxed{9}"), T("9")},
    };

    FIND(300, rows);
}

/* One after another, or side by side as one list. */
static void several_boxes(void)
{
    static const struct row rows[] = {
        {T("\\boxed{5} \\boxed{6}"), T("6")},
        {T("\\boxed{5},\\boxed{6}"), T("5, 6")},
        {T("\\boxed{5} or \\boxed{6}"), T("5, 6")},
        {T("$\\boxed{5}$ or $\\boxed{6}$"), T("5, 6")},
        {T("\\boxed{5} \\text{ or } \\boxed{6}"), T("5, 6")},
        {T("x=\\boxed{5}, y=\\boxed{6}"), T("5, 6")},
        {T("\\boxed{5}\n\n\\boxed{6}"), T("6")},
        {T("\\boxed{5}; \\boxed{6}"), T("5, 6")},
        {T("\\boxed{5}, not \\boxed{6}"), T("6")},
        {T("a = \\boxed{5} and b = \\boxed{6}"), T("5, 6")},
        {T("(a) \\boxed{5}\n(b) \\boxed{6}"), T("6")},
        {T("1. \\boxed{5}\n2. \\boxed{6}"), T("6")},
        {T("not \\boxed{5} and not \\boxed{6}"), T("6")},
        {T("\\boxed{5} and not \\boxed{6}"), T("6")},
        {T("either \\boxed{5} or \\boxed{6}"), T("5, 6")},
        {T("instead of \\boxed{5} and we get \\boxed{6}"), T("6")},
        {T("\\boxed{5} is wrong and \\boxed{6}"), T("6")},
        {T("\\boxed{5} and thus \\boxed{6}"), T("6")},
        {T("\\boxed{5} and therefore the answer is \\boxed{6}"), T("6")},
        {T("\\boxed{5} and so \\boxed{6}"), T("6")},
        {T("\\boxed{\\frac{10}{2}} and simplify \\boxed{5}"), T("5")},
        {T("\\boxed{5} and finally \\boxed{6}"), T("6")},
        {T("\\boxed{5} and again \\boxed{6}"), T("6")},
        {T("\\boxed{5} and hence \\boxed{6}"), T("6")},
        {T("\\boxed{5} and then \\boxed{6}"), T("6")},
        {T("\\boxed{5}, so \\boxed{6}"), T("6")},
        {T("\\boxed{5} = \\boxed{6}"), T("6")},
        {T("\\boxed{5}\\cdot\\boxed{6}"), T("6")},
        {T("\\boxed{5}+\\boxed{6}"), T("6")},
        {T("\\boxed{5}...\\boxed{5}"), T("5")},
        {T("\\boxed{5}, \\boxed{5.0}"), T("5, 5.0")},
    };

    FIND(300, rows);
}

/* "Answer:" as it is written; prose is never searched. */
static void the_word_of_a_line(void)
{
    static const struct row rows[] = {
        {T("**Final Answer**\n7"), NONE},
        {T("**Answer**: 7"), T("7")},
        {T("**Answer:** 7"), T("7")},
        {T("__Answer__: 7"), T("7")},
        {T("*Answer*: 7"), T("7")},
        {T("Answer : 7"), T("7")},
        {T("Answer:7"), T("7")},
        {T("ANSWER: 7"), T("7")},
        {T("answer: 7"), T("7")},
        {T("Answer:\n7"), T("7")},
        {T("Answer:\n\n\n7\n"), T("7")},
        {T("Final answer: 7"), T("7")},
        {T("The final answer is: 7"), T("7")},
        {T("The final answer is 7"), NONE},
        {T("The answer is 7."), NONE},
        {T("the answer is: $7$"), T("$7$")},
        {T("So the answer is: **7**"), T("7")},
        {T("My final answer: 7"), T("7")},
        {T("The correct answer: (B)"), T("(B)")},
        {T("Correct Answer: B"), T("B")},
        {T("Answer - 7"), NONE},
        {T("Answer = 7"), NONE},
        {T("Answer is 7"), NONE},
        {T("Ans: 7"), NONE},
        {T("A: 7"), NONE},
        {T("Final Answer\n\n7"), NONE},
        {T("# Answer: 7"), T("7")},
        {T("- **Answer:** 7"), T("7")},
        {T("> Answer: 7"), T("7")},
        {T("1. Answer: 7"), T("7")},
        {T("| Answer: | 7 |"), T("| 7 |")},
        {T("\\textbf{Answer:} 7"), T("7")},
        {T("\\textbf{Answer: } 7"), T("7")},
        {T("\\text{Answer: }7"), T("7")},
        {T("\\textbf{Answer}: 7"), T("7")},
        {T("$\\text{Answer: } 7$"), T("7$")},
        {T("<answer>7</answer>"), NONE},
        {T("Answer: <answer>7</answer>"), T("7")},
        {T("answers: 7"), NONE},
        {T("Answered: 7"), NONE},
        {T("unanswer: 7"), T("7")},
        {T("The answer to part (a): 7"), NONE},
        {T("Answer\u00a0: 5"), T("5")},
        {T("ＡＮＳＷＥＲ: 5"), NONE},
        {T("Step 1: Answer the question: 5"), NONE},
        {T("To answer: compute. Then 5"), T("compute. Then 5")},
    };

    FIND(300, rows);
}

/* Full stops and end tokens go, what follows on the line stays. */
static void the_end_of_a_line(void)
{
    static const struct row rows[] = {
        {T("Answer: 7."), T("7")},
        {T("Answer: 7<|im_end|>"), T("7")},
        {T("Answer: 7.<|im_end|>\n"), T("7")},
        {T("Answer: 7<|endoftext|>"), T("7")},
        {T("Answer: 7</s>"), T("7")},
        {T("Answer: 7<eos>"), T("7")},
        {T("Answer: 7<|eot_id|>"), T("7")},
        {T("Answer: 7[/INST]"), T("7")},
        {T("Answer: 7<end_of_turn>"), T("7")},
        {T("Answer: 7 <|end▁of▁sentence|>"), T("7")},
        {T("Answer: 7<｜end▁of▁sentence｜>"), T("7")},
        {T("Answer: 7, because 3+4=7."), T("7, because 3+4=7")},
        {T("Answer: 7\nLet me double check."), T("7")},
        {T("Answer: 7\n\nAnswer: 8"), T("8")},
        {T("```\nAnswer: 3\n```"), T("3")},
    };

    FIND(300, rows);
}

/* Emphasis goes, delimiters of mathematics and code stay. */
static void delimiters_in_a_line(void)
{
    static const struct row rows[] = {
        {T("Answer: $7$"), T("$7$")},          {T("Answer: $7$."), T("$7$")},
        {T("Answer: \\(7\\)."), T("\\(7\\)")}, {T("Answer: \\[7\\]"), T("\\[7\\]")},
        {T("Answer: $$7$$"), T("$$7$$")},      {T("Answer: `7`"), T("`7`")},
        {T("Answer: \"7\""), T("\"7\"")},      {T("Answer: **7**"), T("7")},
        {T("Answer: **7.**"), T("7")},         {T("Answer: *7*"), T("7")},
    };

    FIND(300, rows);
}

static void a_display_over_several_lines(void)
{
    static const struct row rows[] = {
        {T("Answer:\n$$\n7\n$$"), T("$$\n7\n$$")},
        {T("Answer:\n\\[\n7\n\\]"), T("\\[\n7\n\\]")},
        {T("Answer:\n\\begin{pmatrix}1\\\\2\\end{pmatrix}"),
         T("\\begin{pmatrix}1\\\\2\\end{pmatrix}")},
        {T("Answer:\n\\begin{pmatrix}\n1\\\\\n2\n\\end{pmatrix}"),
         T("\\begin{pmatrix}\n1\\\\\n2\n\\end{pmatrix}")},
        {T("Answer: $\\begin{cases} x=1\\\\\ny=2\\end{cases}$"),
         T("$\\begin{cases} x=1\\\\\ny=2\\end{cases}$")},
    };

    FIND(300, rows);
}

/* All of the line, but for white space, emphasis and a full stop around it. */
static void what_a_line_says(void)
{
    static const struct row rows[] = {
        {T("Answer: (B) 12"), T("(B) 12")},
        {T("Answer: 5\0006"), T("5\0006")},
        {T("Answer: x = 5"), T("x = 5")},
        {T("Answer: $x = 5$ cm"), T("$x = 5$ cm")},
        {T("Answer: 5%"), T("5%")},
        {T("Answer: $5"), T("$5")},
        {T("Answer: 5/6"), T("5/6")},
        {T("Answer: -5"), T("-5")},
        {T("Answer: − 5"), T("− 5")},
        {T("Answer: .5"), T(".5")},
        {T("Answer: 5."), T("5")},
        {T("Answer: 5.."), T("5..")},
        {T("Answer: 5!"), T("5!")},
        {T("Answer: 5 ?"), T("5 ?")},
        {T("Answer: [5]"), T("[5]")},
        {T("Answer: {5}"), T("{5}")},
        {T("Answer: _5_"), T("5")},
        {T("Answer: ***5***"), T("5")},
        {T("Answer:  \t 5"), T("5")},
        {T("Answer:\r\n5\r\n"), T("5")},
        {T("Answer: 5\r\nmore"), T("5")},
        {T("Answer: 5 5"), T("5 5")},
        {T("Answer: \u00a05\u00a0"), T("5")},
        {T("Answer: (see above)"), T("(see above)")},
        {T("**Answer: $\\frac{1}{2}$**"), T("$\\frac{1}{2}$")},
        {T("**Answer:** $\\dfrac{1}{2}$."), T("$\\dfrac{1}{2}$")},
        {T("Answer:   \\( \\sqrt{2} \\)   "), T("\\( \\sqrt{2} \\)")},
        {T("Answer: 5 (five)"), T("5 (five)")},
        {T("Answer: 5 -- done"), T("5 -- done")},
    };

    FIND(300, rows);
}

/* Minerva's sentence is left off, no other. */
static void a_sentence_in_a_line(void)
{
    static const struct row rows[] = {
        {T("Final Answer: The final answer is $5$. I hope it is correct."), T("$5$")},
        {T("Final Answer: The final answer is 5. I hope it is correct."), T("5")},
        {T("Answer: The answer is \\(5\\)."), T("\\(5\\)")},
        {T("The answer is: 5. I hope it is correct."), T("5")},
        {T("Answer: I don't know"), T("I don't know")},
        {T("Answer: Let me think. 5"), T("Let me think. 5")},
        {T("Q: What is 2+2?\nAnswer: 4\n\nQ: What is 3+3?\nAnswer: 6"), T("6")},
        {T("Answer: 4\n\nQuestion: 3+3?\n"), T("4")},
    };

    FIND(300, rows);
}

static void the_last_line_that_says_something(void)
{
    static const struct row rows[] = {
        {T("Answer: 1\nAnswer:"), T("1")},
        {T("Answer: 1\nAnswer: \n\n"), T("1")},
        {T("Answer: 1 Answer: 2"), T("2")},
        {T("Answer: 1, Answer: 2"), T("2")},
    };

    FIND(300, rows);
}

static void lines_without_an_answer(void)
{
    static const struct row rows[] = {
        {T("Answer:"), NONE},           {T("Answer: "), NONE},
        {T("Answer:\n\n"), NONE},       {T("Answer"), NONE},
        {T("```output\n7\n```"), NONE}, {T("5 is in the box"), NONE},
    };

    FIND(300, rows);
}

static void the_line_in_chinese(void)
{
    static const struct row rows[] = {
        {T("答案：7"), T("7")},       {T("答案: 7"), T("7")},
        {T("答案是7"), NONE},         {T("答案是：7"), T("7")},
        {T("**答案**：7"), T("7")},   {T("答案：7。"), T("7")},
        {T("最终答案：7"), T("7")},   {T("答案：B。故选B"), T("B。故选B")},
        {T("故选B"), NONE},           {T("故选：B"), NONE},
        {T("答案为：$7$"), T("$7$")}, {T("答案为7"), NONE},
        {T("答案：\n7"), T("7")},     {T("【答案】7"), T("7")},
        {T("【答案】：7"), T("7")},   {T("所以答案是 \\boxed{7}。"), T("7")},
        {T("答案：**7**"), T("7")},   {T("參考答案：7"), T("7")},
        {T("Answer：5"), T("5")},
    };
    FIND(300, rows);
}

/* `unit` n times around a text. */
static void padded(const char *unit, int before, const char *text, int after,
                   int window, struct literal want)
{
    struct fault f = FAULT_INIT;
    struct bytes b = {0};
    struct row row = {.want = want};

    for (int i = 0; i < before; i++)
        CHECK_OK(bytes_add(&b, unit, strlen(unit), &f), &f);
    CHECK_OK(bytes_add(&b, text, strlen(text), &f), &f);
    for (int i = 0; i < after; i++)
        CHECK_OK(bytes_add(&b, unit, strlen(unit), &f), &f);
    row.text = (struct literal){b.data, b.len};
    find_all(window, &row, 1);
    bytes_free(&b);
}

/* The window counts code points, and bytes that are none. */
static void the_windows_edge(void)
{
    static const struct literal none = NONE, five = T("5");
    static const char *const units[] = {"x", "\u00e9", "\u4e2d", "\U0001f600", "\xff"};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        padded(units[i], 400, "\\boxed{5}", 0, 300, five);
        padded(units[i], 400, "\\boxed{5}", 291, 300, five);
        padded(units[i], 400, "\\boxed{5}", 292, 300, none);
        padded(units[i], 400, "\\boxed{5}", 400, 0, five);
        padded(units[i], 400, "Answer: 5\n", 290, 300, five);
        padded(units[i], 400, "Answer: 5\n", 291, 300, none);
    }
    padded("", 0, "\\boxed{5}", 0, 9, five);
    padded("", 0, "\\boxed{5}", 0, 8, none);
    padded("", 0, "Answer: 5", 0, 9, five);
    padded("", 0, "Answer: 5", 0, 8, none);
}

CASES(CASE(a_box), CASE(what_is_spelt_like_a_box),
      CASE(mathematics_in_and_behind_a_box), CASE(a_box_among_other_text),
      CASE(several_boxes), CASE(the_word_of_a_line), CASE(the_end_of_a_line),
      CASE(delimiters_in_a_line), CASE(a_display_over_several_lines),
      CASE(what_a_line_says), CASE(a_sentence_in_a_line),
      CASE(the_last_line_that_says_something), CASE(lines_without_an_answer),
      CASE(the_line_in_chinese), CASE(the_windows_edge));
