/* test_parse.c - what an answer is read as: input and tree, by kind.
 *
 * The trees are written by hand from the conventions of tree.h and LaTeX; where two
 * readings are possible the row says which one is meant.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "math/tree.h"
#include "tree_text.h"

struct row {
    const char *text, *tree;
};

static void check_rows(const struct row *row, size_t n)
{
    struct math *m = work_new();

    for (size_t i = 0; i < n; i++) {
        char *got = tree_text(m, row[i].text, strlen(row[i].text));

        check_text(got, row[i].tree, row[i].text, __FILE__, __LINE__);
        free(got);
    }
    work_free(m);
}

static void kinds_at_a_glance(void)
{
    static const struct row rows[] = {
        {"5", "5"},
        {"-5", "-5"},
        {"1,234", "1234"},
        {"1{,}234", "1234"},
        {"1\\,234", "1234"},
        {"1,\\!000,\\!000", "1000000"},
        {"0.5", "1/2"},
        {".5", "1/2"},
        {"\\frac12", "(quotient 1 2)"},
        {"\\frac 1{72}", "(quotient 1 72)"},
        {"\\dfrac{3}{4}", "(quotient 3 4)"},
        {"3\\frac12", "(sum 3 (quotient 1 2))"},
        {"3 1/2", "(sum 3 (quotient 1 2))"},
        {"2 2/3", "(sum 2 (quotient 2 3))"},
        {"4 10/3", "(product 4 (quotient 10 3))"},
        {"\\sqrt2", "(root 2 2)"},
        {"\\sqrt[3]{x}", "(root x 3)"},
        {"sqrt(x)", "(root x 2)"},
        {"x^2", "(power x 2)"},
        {"x**2", "(power x 2)"},
        {"x^{10}", "(power x 10)"},
        {"2x+3", "(sum (product 2 x) 3)"},
        {"1/2x", "(quotient 1 (product 2 x))"},
        {"\\log_2 8", "(function log 8 2)"},
        {"\\log_{10} 250", "(function log 250 10)"},
        {"\\ln 2", "(function ln 2)"},
        {"\\sin^2 x", "(power (function sin x) 2)"},
        {"\\sin^{-1} x", "(function arcsin x)"},
        {"sin(pi/12)", "(function sin (quotient pi 12))"},
        {"\\sin 2x", "(function sin (product 2 x))"},
        {"\\cos 36^\\circ", "(function cos (product 36 (quotient pi 180)))"},
        {"n!", "(factorial n)"},
        {"\\binom{5}{2}", "(binomial 5 2)"},
        {"28\\%", "(quantity [percent] 28)"},
        {"\\$36", "(quantity [usd] 36)"},
        {"$36", "(quantity [usd] 36)"},
        {"36 dollars", "(quantity [usd] 36)"},
        {"15\\mbox{ cm}^2", "(quantity [cm^2] 15)"},
        {"10 cm", "(quantity [cm] 10)"},
        {"10m", "(product 10 m)"},
        {"10 m", "(quantity [m] 10)"},
        {"4t", "(product 4 t)"},
        {"3d", "(product 3 d)"},
        {"204_5", "(call \"base\" 54 5 204)"},
        {"152A_{11}", "(call \"base\" 1968 11 (words \"152A\"))"},
        {"0.\\overline{3}", "1/3"},
        {"0.1\\overline{6}", "1/6"},
        {"1.6\\times10^{-19}", "(product 8/5 (power 10 -19))"},
        {"1e-5", "1/100000"},
        {"4e33", "4000000000000000000000000000000000"},
        {"x=5", "(relation = x 5)"},
        {"f(x)=2x+3", "(relation = (call \"f\" x) (sum (product 2 x) 3))"},
        {"x \\in [-2,7]", "(relation in x (list '[]' -2 7))"},
        {"(-\\infty,-7)\\cup(-7, 3)\\cup(3, \\infty)",
         "(union (list '()' (negate infinity) -7) (list '()' -7 3) (list '()' 3 "
         "infinity))"},
        {"\\{1,2,3\\}", "(list '{}' 1 2 3)"},
        {"1, 2, and 3", "(list 1 2 3)"},
        {"x=1 or x=2", "(or (relation = x 1) (relation = x 2))"},
        {"n=2, 3, 4", "(relation = n (list 2 3 4))"},
        {"1 \\pm \\sqrt{19}", "(plusminus 1 (root 19 2))"},
        {"(1,2)", "(list '()' 1 2)"},
        {"\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}", "(matrix 2x2 1 2 3 4)"},
        {"\\text{(B)}", "B"},
        {"(D) Alina", "D"},
        {"\\text{4:30 p.m.}", "(call \"clock\" 16 30)"},
        {"20:34", "(ratio 20 34)"},
        {"9\\text{ a.m.}", "(call \"clock\" 9 0)"},
        {"7:32", "(ratio 7 32)"},
        {"I(0) e^{-\\frac{t}{R C}}",
         "(product (call \"I\" 0) (power e (negate (quotient t (product R C)))))"},
        {"x_{0} \\cos (\\omega t)+$ $\\dot{x}_{0} \\sin (\\omega t) / \\omega",
         "(sum (product x_0 (function cos (product \\omega t))) (quotient (product "
         "\\dot{x}_0 (function sin (product \\omega t))) \\omega))"},
        {"答案是5", "5"},
        {"5个", "(quantity [个] 5)"},
        {"['(10,0)', '(0,0)']", "(list (list '()' 10 0) (list '()' 0 0))"},
        {"\\text{The midpoints form a regular hexagon}",
         "(words \"the midpoints form a regular hexagon\")"},
        {"1000,99", "(list 1000 99)"},
        {"6,8", "(list 6 8)"},
        {"e^{2\\pi i/3}", "(power e (quotient (product 2 pi i) 3))"},
        {"|x-|y||", "(abs (sum x (negate (abs y))))"},
        {"p=5,q=2;p=7,q=2", "(list (list (relation = p 5) (relation = q 2)) (list "
                            "(relation = p 7) (relation = q 2)))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

CASES(CASE(kinds_at_a_glance));
