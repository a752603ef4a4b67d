/* test_wording.c - pairs of answers by kind, each judged by hand: units, bases, ratios,
 * words; and what holds for any pair. */
#include "pairs.h"

static void quantities(void)
{
    static const struct pair rows[] = {
        {"5\\text{ cm}", "5", 'T'},
        {"5\\text{ cm}", "5\\text{ cm}", 'T'},
        {"5\\text{ cm}", "6", 'F'},
        {"5\\text{ cm}", "5\\text{ m}", 'F'},
        {"5\\text{ m}", "500\\text{ cm}", 'T'},
        {"5\\text{ km}", "5000\\text{ m}", 'T'},
        {"5\\text{ km}", "500\\text{ m}", 'F'},
        {"15\\mbox{ cm}^2", "15", 'T'},
        {"15\\text{ cm}^2", "15\\text{ cm}^3", 'F'},
        {"1\\text{ m}^2", "10000\\text{ cm}^2", 'T'},
        {"1\\text{ m}^2", "100\\text{ cm}^2", 'F'},
        {"2\\text{ hours}", "120\\text{ minutes}", 'T'},
        {"2\\text{ hours}", "2\\text{ minutes}", 'F'},
        {"3\\text{ kg}", "3000\\text{ g}", 'T'},
        {"3\\text{ kg}", "3\\text{ m}", 'F'},
        {"10\\text{ units}", "10", 'T'},
        {"10\\text{ square units}", "10\\text{ cm}^2", 'T'},
        {"45\\text{ units}^2", "45\\text{ mph}", 'F'},
        {"45\\text{ units}^2", "45^\\circ", 'F'},
        {"18\\text{ ways}", "18", 'T'},
        {"18\\text{ ways}", "17", 'F'},
        {"81\\text{ teachers}", "81\\text{ people}", 'T'},
        {"81\\text{ teachers}", "81\\text{ cm}", 'F'},
        {"28\\%", "28", 'T'},
        {"28\\%", "0.28", 'T'},
        {"28\\%", "\\frac{7}{25}", 'T'},
        {"28\\%", "2.8", 'F'},
        {"28\\%", "28\\%", 'T'},
        {"28\\%", "29\\%", 'F'},
        {"\\$36", "36", 'T'},
        {"\\$36", "37", 'F'},
        {"\\$36", "36\\text{ dollars}", 'T'},
        {"\\$20", "20\\%", 'F'},
        {"30^\\circ", "30\\%", 'F'},
        {"90^\\circ", "90", 'T'},
        {"90^\\circ", "\\frac{\\pi}{2}", 'T'},
        {"90^\\circ", "45^\\circ", 'F'},
        {"90^\\circ", "\\pi", 'F'},
        {"90^\\circ", "90\\text{ degrees}", 'T'},
        {"45^\\circ, 135^\\circ", "135, 45", 'T'},
        {"45^\\circ, 135^\\circ", "45^\\circ", 'F'},
        {"\\cos 36^\\circ", "\\frac{1+\\sqrt5}{4}", 'T'},
        {"x = 5\\text{ cm}", "5", 'T'},
        {"\\frac{3}{4}\\pi\\text{ inches}", "0.75\\pi", 'T'},
    };
    JUDGE(rows);
}

static void bases_and_ratios(void)
{
    static const struct pair rows[] = {
        {"204_5", "204", 'T'},
        {"204_5", "204_6", 'F'},
        {"204_5", "203_5", 'F'},
        {"204_5", "204_{5}", 'T'},
        {"204_5", "54", 'F'},
        {"11:21", "V_1:V_2=11:21", 'T'},
        {"11:21", "V_1:V_2=11:20", 'F'},
        {"2:3", "4:6", 'T'},
        {"2:3", "3:2", 'F'},
        {"3:4", "\\frac34", 'T'},
        {"3:4", "\\frac43", 'F'},
        {"1:2:3", "2:4:6", 'T'},
        {"1:2:3", "1:2", 'F'},
        {"A:B=1", "1", 'T'},
        {"12:00", "1:00", 'F'},
        {"20:34", "20:34:00", 'T'},
        {"20:34", "20:35", 'F'},
        {"20:34", "20:34:10", 'F'},
        {"10:30", "5:15", 'F'},
        {"20:34", "08:34 \\text{P.M.}", 'T'},
        {"20:34", "08:34 \\text{A.M.}", 'F'},
    };
    JUDGE(rows);
}

static void words(void)
{
    static const struct pair rows[] = {
        {"\\text{Thursday}", "thursday", 'T'},
        {"\\text{Thursday}", "Friday", 'F'},
        {"\\text{even}", "odd", 'F'},
        {"\\text{yes}", "\\text{Yes.}", 'T'},
        {"\\text{yes}", "no", 'F'},
        {"\\text{odd}", "$odd$", 'T'},
        {"\\text{oddd}", "odd", 'F'},
        {"\\text{Evelyn}", "Evelyn", 'T'},
        {"\\text{the circle}", "\\text{circle}", 'T'},
        {"\\text{(B)}", "B", 'T'},
        {"\\text{(B)}", "\\text{B}", 'T'},
        {"\\text{(B)}", "C", 'F'},
        {"(\\text{E})", "E", 'T'},
        {"\\textbf{A}", "A", 'T'},
        {"\\text{A}", "a", 'F'},
        {"\\text{E}", "d", 'F'},
        {"D", "D. it can't be A or B", 'T'},
        {"D", "C. it can't be A or B", 'N'},
        {"(D) Alina", "D", 'T'},
        {"(D) Alina", "(C)", 'N'},
        {"\\text{ACF}", "ACF", 'T'},
        {"\\text{ACF}", "ACE", 'F'},
        {"\\text{five}", "5", 'T'},
        {"\\text{five}", "6", 'F'},
        {"\\text{circle}", "5", 'F'},
        {"2", "AZYUK2A", 'N'},
        {"A", "A+B", 'F'},
        {"B", "(A)(B)", 'F'},
    };
    JUDGE(rows);
}

/* What isn't evaluated is equal to itself and undecided against anything else. */
static void opaque(void)
{
    static const struct pair rows[] = {
        {"F_n = \\sum_{k=0}^{n-1} F_k F_{n-k-1}",
         "F_n = \\sum_{k=0}^{n-1} F_{n-k-1} F_k", 'T'},
        {"F_n = \\sum_{k=0}^{n-1} F_k F_{n-k-1}",
         "F_n = \\sum_{k=0}^{n-2} F_k F_{n-k-2}", 'N'},
        {"1", "\\prod_{k=1}^{10^7} k", 'N'},
        {"5", "\\frac{1}{0}", 'N'},
        {"f(x) = 0", "\\forall x>0, f(x) = 0", 'N'},
    };
    JUDGE(rows);
}

/* Nothing is too long or too deep to be told from something else. */
static void bounds(void)
{
    static char text[3 * 4096 + 2];
    struct math_result r;

    memset(text, '(', 3 * 4096);
    math_compare(space(), "1", 1, text, 3 * 4096, &r);
    CHECK_INT(r.verdict, MATH_UNKNOWN);
    CHECK_INT(r.step, MATH_STEP_LIMIT);
    math_compare(space(), text, 3 * 4096, text, 3 * 4096, &r);
    CHECK_INT(r.verdict, MATH_EQUAL);
    math_compare(space(), "\0\xff", 2, "1", 1, &r);
    CHECK(r.verdict != MATH_EQUAL);
    for (size_t i = 0; i < 4000; i += 2)
        memcpy(text + i, i % 80 == 78 ? "1;" : "1,", 2);
    text[3999] = 0;
    CHECK(judge("1", text) != 'T');
    CHECK_INT(judge(text, text), 'T');
}

/* 39 * 39 pairs, each of which makes numbers of its own. */
static void temporaries(void)
{
    char gold[1024] = "", pred[1024] = "";

    for (int i = 1; i < 40; i++) {
        snprintf(gold + strlen(gold), 16, "%s%d\\%%", i > 1 ? "," : "", i);
        snprintf(pred + strlen(pred), 16, "%s%d/100", i > 1 ? "," : "", 40 - i);
    }
    CHECK_INT(judge(gold, pred), 'T');
}

/* The same pair costs and gives the same after any other. */
static void repeatable(void)
{
    struct math_result a, b;
    const char *gold = "\\{1,\\sqrt2,x\\}", *pred = "x, 1, \\frac{2}{\\sqrt2}";

    math_compare(space(), gold, strlen(gold), pred, strlen(pred), &a);
    judge("(1,2,3)", "\\sin 5");
    math_compare(space(), gold, strlen(gold), pred, strlen(pred), &b);
    CHECK_INT(a.verdict, MATH_EQUAL);
    CHECK_INT(a.fuel, b.fuel);
    CHECK_INT(a.step, b.step);
    CHECK_INT(judge("x \\ge 3", "3 \\le x"), 'T'); /* proved where pi is an integer */
    CHECK_INT(judge("[0,\\pi]\\cup[3,4]", "[0,4]"), math_has_flint() ? 'T' : 'U');
}

static void explained(void)
{
    struct math_result r, same;
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);

    CHECK(to != NULL);
    if (!to)
        return;
    math_explain(space(), "x=1,y=2", 7, "(1,3)", 5, to, &r);
    fclose(to);
    math_compare(space(), "x=1,y=2", 7, "(1,3)", 5, &same);
    CHECK_INT(r.verdict, MATH_DIFFERENT);
    CHECK_INT(r.step, same.step);
    CHECK_INT(r.fuel, same.fuel);
    CHECK(strstr(text, "  2 ~ 3: different (rational)") != NULL);
    CHECK(strstr(text, "verdict    different (element)") != NULL);
    free(text);
}

CASES(CASE(quantities), CASE(bases_and_ratios), CASE(words), CASE(opaque), CASE(bounds),
      CASE(temporaries), CASE(repeatable), CASE(explained));
