/* test_answers.c - pairs of answers as models and books write them, judged by hand. */
#include "pairs.h"

static void values(void)
{
    static const struct pair rows[] = {
        {"x^2", "y^2", 'F'},
        {"2x", "2X", 'F'},
        {"1/0", "5", 'N'},
        {"\\sqrt{2}", "1.414", 'F'},
        {"-1", "i", 'F'},
        {"i^2", "-1", 'T'},
        {"n!", "n", 'F'},
        {"\\sin x", "\\cos x", 'F'},
        {"\\binom{5}{2}", "\\binom{5}{1}", 'F'},
        {"\\boxed{5}", "5", 'T'},
        {"e^x+C", "e^x + C", 'T'},
        {"\\ln|x|+C", "C + \\ln |x|", 'T'},
        {"\\log_2 3", "\\log_3 2", 'F'},
        {"x \\equiv 3 \\pmod 7", "x \\equiv 10 \\pmod{7}", 'T'},
        {"x \\equiv 3 \\pmod 7", "x \\equiv 4 \\pmod{7}", 'F'},
        {"x \\equiv 3 \\pmod 7", "x \\equiv 3 \\pmod{8}", 'F'},
    };
    JUDGE(rows);
}

static void names(void)
{
    static const struct pair rows[] = {
        {"\\approx 5", "5", 'T'},
        {"\\log_2 8 = 3", "3", 'T'},
        {"x^2 + 1", "f(x) = x^2+1", 'T'},
        {"P(x) = x^2+1", "x^2 + 1", 'T'},
        {"P(x) = x^2+1", "x^2 - 1", 'F'},
        {"n = 2k+1", "2k+1", 'T'},
        {"\\sqrt{2}+1", "x = 1+\\sqrt2", 'T'},
        {"\\text{Area} = 5", "5", 'T'},
        {"AB = 5", "5", 'T'},
        {"S_{10} = 55", "55", 'T'},
        {"|AB| = 5", "5", 'T'},
        {"P(A) = \\frac{1}{3}", "\\frac13", 'T'},
        {"2^{10} = 1024", "1024", 'T'},
        {"f(x) = x + 1", "f(x) = x - 1", 'F'},
        {"f(x) = x+1", "x", 'F'},
        {"r = 2\\cos\\theta", "2\\cos\\theta", 'T'},
        {"C=5", "5", 'T'},
        {"a_n = 2n+1", "2n+1", 'T'},
        {"a_n = 2n+1", "a_n=1+2n", 'T'},
        {"a_n = 2n+1", "b_n=2n+1", 'F'},
        {"f^{-1}(x) = \\frac{x-1}{2}", "\\frac{x-1}{2}", 'T'},
        {"f'(x) = 2x", "2x", 'T'},
        {"y' = 2x", "2x", 'T'},
        {"\\frac{dy}{dx} = 2x + y", "2x + y", 'T'},
        {"g(x) = x^2", "g(x)=x\\cdot x", 'T'},
        {"g(x) = x^2", "h(x)=x^2", 'F'},
        {"P = 2l + 2w", "2(l+w)", 'T'},
        {"V = \\frac43\\pi r^3", "V = \\frac{4\\pi r^3}{3}", 'T'},
        {"\\lim_{x\\to 0} \\frac{\\sin x}{x} = 1", "1", 'T'},
        {"\\sum_{k=1}^{n} k = \\frac{n(n+1)}{2}", "\\frac{n^2+n}{2}", 'T'},
    };
    JUDGE(rows);
}

static void equations(void)
{
    static const struct pair rows[] = {
        {"y = 2x + 1", "2x - y + 1 = 0", 'T'},
        {"y = 2x+1", "2x+1", 'T'},
        {"y - 3 = 2(x-1)", "y = 2x+1", 'T'},
        {"y = 2x+1", "y = 2x - 1", 'F'},
        {"\\frac{x^2}{9}+\\frac{y^2}{4}=1", "4x^2+9y^2=36", 'T'},
        {"\\frac{x^2}{9}+\\frac{y^2}{4}=1", "9x^2+4y^2=36", 'F'},
        {"(x-1)^2+(y+2)^2=9", "x^2-2x+y^2+4y-4=0", 'T'},
        {"x\\approx 5", "x = 5", 'T'},
        {"3x + 2", "3x + 2 = 0", 'F'},
        {"x+1", "x+1=0", 'F'},
        {"3x+2=0", "x = -\\frac23", 'T'},
        {"a^2+b^2=c^2", "c^2", 'F'},
        {"MR=SRMC", "SRMC = MR", 'T'},
        {"y = x^2", "y = x^3", 'F'},
        {"y = x^2", "x = y^2", 'F'},
        {"x + y = 1", "x + y = 2", 'F'},
        {"2x + 3y = 6", "3x + 2y = 6", 'F'},
        {"x = 1", "x = -1", 'F'},
        {"5x-7y+11z+4=0", "-5x+7y-11z-4=0", 'T'},
        {"5x-7y+11z+4=0", "5x-7y+11z=-4", 'T'},
        {"5x-7y+11z+4=0", "5x-7y+11z=4", 'F'},
        {"y=-\\frac{1}{2}x+3", "x+2y=6", 'T'},
        {"x^2=4y", "y=\\frac{x^2}{4}", 'T'},
        {"\\frac{y-1}{2}=x", "y=2x+1", 'T'},
        {"y^2 = 4x", "y = 2\\sqrt{x}", 'F'},
        {"y = \\frac{1}{2} x", "x - 2y = 0", 'T'},
        {"y = \\frac{1}{2} x", "x + 2y = 0", 'F'},
        {"\\frac{x}{2} + \\frac{y}{3} = 1", "3x + 2y - 6 = 0", 'T'},
        {"x^2+y^2=25", "x^2 + y^2 - 25 = 0", 'T'},
    };
    JUDGE(rows);
}

static void systems(void)
{
    static const struct pair rows[] = {
        {"x = 2, 3", "2, 3", 'T'},
        {"x = 2 \\text{ or } 3", "2, 3", 'T'},
        {"x = 2 \\text{ or } 3", "2", 'F'},
        {"(x,y,z) = (1,2,3)", "x=1,\\ y=2,\\ z=3", 'T'},
        {"x = 1, y = 2", "\\begin{cases} x = 1 \\\\ y = 2 \\end{cases}", 'T'},
        {"a = 1, b = 2, c = 3", "(a,b,c) = (1,2,3)", 'T'},
        {"a = 1, b = 2, c = 3", "(a,b,c) = (1,3,2)", 'F'},
        {"(a,b) = (1,2)", "1, 2", 'T'},
        {"x=5, x=-5", "\\pm 5", 'T'},
        {"|x| = 5", "x = \\pm 5", 'T'},
        {"(3,4)", "(x,y)=(3,4)", 'T'},
        {"(3,4)", "x=3 \\text{ and } y=4", 'T'},
        {"(3,4)", "x=4 \\text{ and } y=3", 'F'},
        {"x=1", "x=1,2", 'F'},
        {"x = 1, y = 2", "x = 1, y = 3", 'F'},
        {"p = 2, q = 3 \\text{ or } p = 3, q = 2", "(2,3), (3,2)", 'T'},
        {"(p,q) = (2,3) \\text{ or } (3,2)", "(p,q) = (3,2), (2,3)", 'T'},
        {"(p,q) = (2,3) \\text{ or } (3,2)", "(p,q) = (2,3)", 'F'},
        {"x_1 = 2, x_2 = 3", "x = 2 \\text{ or } x = 3", 'T'},
        {"x_1=1+\\sqrt2,\\ x_2=1-\\sqrt2", "1\\pm\\sqrt2", 'T'},
        {"x=1或x=2", "1,2", 'T'},
        {"\\sin\\alpha = \\frac{3}{5}, \\cos\\alpha = \\frac45",
         "\\cos\\alpha=\\frac{4}{5}, \\sin\\alpha = \\frac{3}{5}", 'T'},
        {"x=3\\text{ and }y=4", "(3,4)", 'T'},
        {"\\int_0^1 x\\,dx = \\frac12", "0.5", 'T'},
    };
    JUDGE(rows);
}

static void inequalities(void)
{
    static const struct pair rows[] = {
        {"3 < x \\le 5", "(3,5]", 'T'},
        {"3 < x \\le 5", "5 \\ge x > 3", 'T'},
        {"3 < x \\le 5", "[3,5]", 'F'},
        {"[2,5]", "2 \\le x \\le 5", 'T'},
        {"x > 2 \\text{ and } x < 5", "(2,5)", 'T'},
        {"x < 5", "5", 'F'},
        {"x \\ne 5", "5", 'F'},
        {"x > 0", "x \\ge 0", 'F'},
        {"\\sqrt{x}, x>0", "\\sqrt{x}, x > 0", 'T'},
        {"x \\ge 2", "x \\le 2", 'F'},
        {"x \\ge 2", "x \\ge -2", 'F'},
        {"x + y = 1", "x + y < 1", 'F'},
        {"|x| < 3", "x < 3", 'F'},
        {"|x| < 3", "-3 < x < 3", 'T'},
        {"|x| \\ge 3", "x \\le -3 \\text{ or } x \\ge 3", 'T'},
        {"x<3 \\text{ and } x>1", "x<3 \\text{ or } x>1", 'F'},
        {"x<3 \\text{ and } x>1", "(1,3)", 'T'},
        {"a < b", "b < a", 'F'},
        {"a < b", "b > a", 'T'},
        {"a \\le b", "a < b", 'F'},
        {"-2x+4 > 0", "x < 2", 'T'},
        {"-2x+4 > 0", "x > 2", 'F'},
        {"n \\ge 3", "3 \\le n", 'T'},
        {"n \\ge 3", "n > 2", 'F'},
        {"3 \\geqslant x", "x \\leq 3", 'T'},
        {"x_1 < x_2", "x_2 > x_1", 'T'},
        {"-3\\le a\\le 5", "a \\in [-3,5]", 'T'},
        {"0<a<1 \\text{ or } a>1", "a>0, a\\neq 1", 'T'},
    };
    JUDGE(rows);
}

static void intervals(void)
{
    static const struct pair rows[] = {
        {"x<3", "(-\\infty, 3)", 'T'},
        {"x \\in (-\\infty, -1) \\cup (1, \\infty)", "x < -1 \\text{ or } x > 1", 'T'},
        {"(-\\infty,-2)\\cup(-2,3)\\cup(3,\\infty)", "x \\neq -2, 3", 'T'},
        {"(-\\infty,-2)\\cup(-2,3)\\cup(3,\\infty)", "x \\ne -2 \\text{ and } x \\ne 3",
         'T'},
        {"[0, \\infty)", "x \\geq 0", 'T'},
        {"y \\ge 0", "[0,\\infty)", 'T'},
        {"(-1,0)\\cup(0,1)", "(-1,1)\\setminus\\{0\\}", 'T'},
        {"(-1,0)\\cup(0,1)", "0<|x|<1", 'T'},
        {"-1 \\le x", "[-1,\\infty)", 'T'},
        {"\\{x : x > 2\\}", "(2, \\infty)", 'T'},
        {"(5,\\infty)", "(5,+\\infty)", 'T'},
        {"(5,\\infty)", "[5,\\infty)", 'F'},
        {"(5,\\infty)", "(-\\infty,5)", 'F'},
        {"(-\\infty, 2) \\cup (2, \\infty)", "\\mathbb{R} - \\{2\\}", 'T'},
        {"(2,\\infty)", "(-\\infty, 2)", 'F'},
        {"(1,2) \\cup (3,4)", "(1,4)", 'F'},
        {"(1,2) \\cup (3,4)", "(1,2) \\cap (3,4)", 'F'},
        {"x \\le -3, x \\ge 3", "(-\\infty,-3] \\cup [3,\\infty)", 'T'},
        {"\\frac{x}{2} - 1 \\le 3", "(-\\infty, 8]", 'T'},
        {"\\{2\\} \\cup (3,5)", "(3,5) \\cup \\{2\\}", 'T'},
        {"\\infty", "-\\infty", 'F'},
        {"+\\infty", "\\infty", 'T'},
        {"-\\infty < x < 3", "(-\\infty, 3)", 'T'},
        {"\\mathbb{R} \\backslash \\{3\\}", "(-\\infty,3)\\cup(3,\\infty)", 'T'},
        {"x\\in\\mathbb{R}", "(-\\infty, \\infty)", 'T'},
        {"(-\\infty, -1) \\cup (-1, \\infty)",
         "\\{x \\in \\mathbb{R} \\mid x \\neq -1\\}", 'T'},
        {"x \\leqslant 3", "(-\\infty, 3]", 'T'},
        {"a \\in (0,1) \\cup (1, \\infty)", "a > 0 \\text{ and } a \\ne 1", 'T'},
        {"a \\in (0,1) \\cup (1, \\infty)", "a>0, a\\neq 1", 'T'},
        {"[1,2]", "[1,3]", 'F'},
        {"(1,2]", "[1,2)", 'F'},
        {"[1; 2]", "[1, 2]", 'T'},
        {"]0,1[", "(0,1)", 'T'},
        {"]0,1[", "[0,1]", 'F'},
        {"\\left] 0, 1 \\right]", "(0,1]", 'T'},
    };
    JUDGE(rows);
}

static void sets(void)
{
    static const struct pair rows[] = {
        {"x \\in \\{1, 2\\}", "x = 1, 2", 'T'},
        {"x=2,\\,x=3", "x \\in \\{2,3\\}", 'T'},
        {"\\{(1,2),(2,1)\\}", "(2,1), (1,2)", 'T'},
        {"x=\\pm 3", "\\{-3,3\\}", 'T'},
        {"\\{1,2,3\\}", "\\{3, 2, 1\\}", 'T'},
        {"\\{1,2,3\\}", "1, 2, 3", 'T'},
        {"\\{1,2,3\\}", "1, 2 \\text{ and } 3", 'T'},
        {"\\{1,2,3\\}", "(1,2,3)", 'F'},
        {"\\{1,2\\}", "[1,2]", 'F'},
        {"\\{1, 1, 2\\}", "\\{1, 2\\}", 'T'},
        {"\\{x \\mid x > 2\\}", "x > 2", 'T'},
        {"\\{x \\in \\mathbb{R} : x \\ne 2\\}", "x \\ne 2", 'T'},
        {"\\{1,2\\}", "\\{1\\}", 'F'},
        {"\\emptyset", "\\{0\\}", 'F'},
        {"\\{\\emptyset\\}", "\\{0\\}", 'F'},
        {"\\mathbb{R}", "\\mathbb{Q}", 'F'},
        {"\\mathbb{R}", "\\mathbb{R} \\setminus \\{0\\}", 'F'},
        {"\\left\\{ \\left(1,2\\right), \\left(3,4\\right) \\right\\}", "(3,4),(1,2)",
         'T'},
        {"\\{-1\\} \\cup \\{2\\}", "\\{-1,2\\}", 'T'},
        {"(-3,3)", "\\{x \\mid -3 < x < 3\\}", 'T'},
        {"x>0", "\\mathbb{R}^+", 'T'},
        {"\\{3, 5\\}", "\\left\\{ 5,\\, 3 \\right\\}", 'T'},
        {"1, 2, 3", "\\{1; 2; 3\\}", 'T'},
        {"x \\in \\mathbb{R}, x \\neq 3", "x \\ne 3", 'T'},
        {"x \\in \\mathbb{R} \\setminus \\{3\\}", "x \\neq 3", 'T'},
        {"x \\in \\mathbb{R}", "\\mathbb{R}", 'T'},
        {"x \\in \\emptyset", "\\emptyset", 'T'},
        {"x=\\frac{\\pi}{4}+k\\pi, k\\in\\mathbb{Z}", "\\frac{\\pi}{4}+k\\pi", 'T'},
        {"\\{(x,y)\\mid x+y=1\\}", "\\{(x,y) \\mid x+y=1\\}", 'T'},
        {"(3,4) \\text{ or } (4,3)", "\\{(4,3),(3,4)\\}", 'T'},
    };
    JUDGE(rows);
}

static void lists_and_tuples(void)
{
    static const struct pair rows[] = {
        {"(1,2),(2,1)", "(1,2)", 'F'},
        {"(2,3)", "\\left(2,3\\right)", 'T'},
        {"\\pm\\sqrt{2}", "\\sqrt2, -\\sqrt2", 'T'},
        {"\\frac{-1\\pm\\sqrt5}{2}", "\\frac{-1+\\sqrt5}{2}, \\frac{-1-\\sqrt5}{2}",
         'T'},
        {"2\\pm i", "2+i, 2-i", 'T'},
        {"\\pm 3", "3", 'F'},
        {"2, 3 \\text{ and } 5", "5, 3, 2", 'T'},
        {"2, 3", "23", 'F'},
        {"2 \\text{ or } 3", "2, 3", 'T'},
        {"7, -2, \\text{ and } -5", "-5, -2, 7", 'T'},
        {"0 \\text{ and } 1", "0,1", 'T'},
        {"0, 1, 2, \\ldots, n", "0,1,2,\\dots,n", 'T'},
        {"1,2,\\ldots,n", "1,3,5,\\ldots,2n-1", 'F'},
        {"(1,2)", "(1,2,3)", 'F'},
        {"(1,2),(3,4)", "(1,2),(3,5)", 'F'},
        {"1,2,3", "1,2", 'F'},
        {"1000", "1,00", 'F'},
        {"1 \\pm \\sqrt{3}", "1 \\pm \\sqrt{2}", 'F'},
        {"\\pm 1", "\\pm i", 'F'},
        {"1, -1", "1, 1", 'F'},
        {"(-3,3)", "x \\in (-3,3)", 'T'},
        {"3\\text{ and }4", "4, 3", 'T'},
        {"A(1,2)", "(1,2)", 'T'},
        {"1和2", "2,1", 'T'},
        {"(1; 2)", "(1, 2)", 'T'},
        {"2,3,5,7", "7,5,3,2", 'T'},
        {"-1 \\text{ and } 2", "-1, 2", 'T'},
        {"\\text{-1 and 2}", "2,-1", 'T'},
        {"1 \\text{ or } -1", "\\pm 1", 'T'},
        {"(3,4)\\text{ and }(4,3)", "(4,3),(3,4)", 'T'},
        {"(3,4)\\text{ and }(4,3)", "(3,4),(4,4)", 'F'},
        {"\\left(\\frac{1}{2}, -\\frac{3}{4}\\right)", "(0.5, -0.75)", 'T'},
    };
    JUDGE(rows);
}

static void vectors_and_matrices(void)
{
    static const struct pair rows[] = {
        {"\\langle 1, -2, 3 \\rangle",
         "\\begin{pmatrix} 1 \\\\ -2 \\\\ 3 \\end{pmatrix}", 'T'},
        {"1\\mathbf{i} - 2\\mathbf{j}", "\\mathbf{i}-2\\mathbf{j}", 'T'},
        {"\\begin{pmatrix} 1 & 0 \\\\ 0 & 1 \\end{pmatrix}", "[[1,0],[0,1]]", 'T'},
        {"\\begin{pmatrix} 1 & 0 \\\\ 0 & 1 \\end{pmatrix}", "[[0,1],[1,0]]", 'F'},
        {"\\frac{1}{3}\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}",
         "\\begin{pmatrix} 1/3 \\\\ 2/3 \\end{pmatrix}", 'T'},
        {"\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}",
         "\\begin{pmatrix} 2 \\\\ 1 \\end{pmatrix}", 'F'},
        {"\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}",
         "\\begin{pmatrix} 1 & 2 & 3 & 4 \\end{pmatrix}", 'F'},
        {"\\overrightarrow{AB} = (1,2)", "(1,2)", 'T'},
        {"\\begin{bmatrix} 1 \\\\ 2 \\end{bmatrix}", "(1, 2)", 'T'},
        {"\\begin{vmatrix} 1 & 2 \\\\ 3 & 4 \\end{vmatrix}", "-2", 'T'},
        {"\\det\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}", "-2", 'T'},
        {"\\vec{v} = (1,2)", "(1,2)", 'T'},
        {"\\mathbf{v} = \\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}",
         "\\langle 1, 2 \\rangle", 'T'},
        {"\\begin{pmatrix} 1 + t \\\\ 2 - t \\end{pmatrix}",
         "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix} + t \\begin{pmatrix} 1 \\\\ -1 "
         "\\end{pmatrix}",
         'T'},
    };
    JUDGE(rows);
}

static void units(void)
{
    static const struct pair rows[] = {
        {"60 \\text{ mph}", "60 \\text{ miles per hour}", 'T'},
        {"2 \\text{ km}", "2000 \\text{ m}", 'T'},
        {"90 \\text{ minutes}", "1.5 \\text{ hours}", 'T'},
        {"90 \\text{ minutes}", "90 \\text{ seconds}", 'F'},
        {"100 \\text{ cm}^2", "0.01 \\text{ m}^2", 'T'},
        {"12 \\text{ square inches}", "12 \\text{ in}^2", 'T'},
        {"12 \\text{ square inches}", "12 \\text{ in}", 'F'},
        {"5 \\text{ cm}", "5 cm", 'T'},
        {"5\\,\\text{cm}", "5.0\\text{ cm}", 'T'},
        {"3.0 \\times 10^8 \\text{ m/s}", "3\\times 10^8", 'T'},
        {"3.0 \\times 10^8 \\text{ m/s}", "3\\times 10^8 \\text{ km/s}", 'F'},
        {"5\\text{ km/h}", "5 \\text{ km per hour}", 'T'},
        {"36\\text{ km/h}", "10 \\text{ m/s}", 'T'},
        {"3 \\text{ apples}", "4 \\text{ apples}", 'F'},
        {"5\\text{ cm}", "5\\text{ kg}", 'F'},
        {"5\\text{ m/s}", "5\\text{ m}", 'F'},
        {"2\\text{ hours}", "2\\text{ days}", 'F'},
        {"2 \\text{ feet}", "2 \\text{ inches}", 'F'},
        {"2 \\text{ feet}", "24 \\text{ inches}", 'T'},
        {"1.5\\text{ kg}", "1500\\text{ g}", 'T'},
        {"1\\text{ L}", "1000\\text{ mL}", 'T'},
        {"1\\text{ L}", "1000\\text{ cm}^3", 'T'},
        {"\\frac{1}{2}\\text{ hour}", "30\\text{ minutes}", 'T'},
        {"5米", "500厘米", 'T'},
        {"5个", "5", 'T'},
        {"1.2 \\times 10^3 \\text{ kg}", "1200\\text{ kg}", 'T'},
        {"3\\frac{1}{2}\\text{ cups}", "3.5", 'T'},
        {"50\\text{ miles per hour}", "50\\text{ mph}", 'T'},
        {"7\\text{ days}", "1\\text{ week}", 'T'},
        {"3\\sqrt{2}\\text{ cm}", "3\\sqrt2", 'T'},
        {"3\\sqrt{2}\\text{ cm}", "3\\sqrt{2}\\text{ mm}", 'F'},
        {"\\text{2 hours}", "2", 'T'},
    };
    JUDGE(rows);
}

static void money_percent_and_angles(void)
{
    static const struct pair rows[] = {
        {"\\$12.50", "12.50 \\text{ dollars}", 'T'},
        {"\\$12.50", "12.5", 'T'},
        {"50 \\text{ cents}", "\\$0.50", 'T'},
        {"50 \\text{ cents}", "\\$50", 'F'},
        {"\\$20", "20 \\text{ euros}", 'F'},
        {"20\\text{ cm}", "\\$20", 'F'},
        {"45^\\circ", "\\frac{\\pi}{4}", 'T'},
        {"45^\\circ", "\\frac{\\pi}{3}", 'F'},
        {"28\\%", "28 \\text{ percent}", 'T'},
        {"0.5\\%", "0.005", 'T'},
        {"5\\%", "0.5", 'F'},
        {"\\frac{1}{4}", "25\\%", 'T'},
        {"\\angle ABC = 60^\\circ", "60^\\circ", 'T'},
        {"120\\%", "12", 'F'},
        {"0.12\\%", "12", 'F'},
        {"20\\text{ degrees}", "20^\\circ", 'T'},
        {"20^\\circ\\text{C}", "20", 'T'},
        {"20^\\circ\\text{C}", "20^\\circ\\text{F}", 'F'},
        {"5\\text{ dollars}", "\\$5.00", 'T'},
        {"¥5", "5\\text{ yuan}", 'T'},
        {"€5", "\\$5", 'F'},
        {"\\$1,234.50", "1234.5", 'T'},
        {"\\frac{1}{2} \\%", "0.5\\%", 'T'},
        {"120^\\circ", "\\frac{2\\pi}{3}", 'T'},
        {"\\angle A = 120^\\circ", "120^{\\circ}", 'T'},
    };
    JUDGE(rows);
}

static void ratios_times_and_bases(void)
{
    static const struct pair rows[] = {
        {"3:2", "6:4", 'T'},
        {"3:2", "\\frac{3}{2}", 'T'},
        {"3:2", "2:3", 'F'},
        {"1:\\sqrt{2}", "\\sqrt2:2", 'T'},
        {"4:30 \\text{ PM}", "16:30", 'T'},
        {"4:30 \\text{ AM}", "4:30 \\text{ PM}", 'F'},
        {"1011_2", "1011", 'T'},
        {"1011_2", "1011_3", 'F'},
        {"1011_2", "1011_{\\text{two}}", 'T'},
        {"1011_2", "1010_2", 'F'},
        {"\\text{9 a.m.}", "9^\\circ", 'F'},
        {"9^\\circ", "9\\text{ a.m.}", 'F'},
        {"12:00", "12", 'F'},
        {"11:21", "21:11", 'F'},
        {"\\frac{11}{21}", "21:11", 'F'},
        {"101_2", "101_3", 'F'},
        {"5", "101_2", 'F'},
        {"4:30", "4:31", 'F'},
        {"1 : 2", "1:2", 'T'},
        {"1 : 2 : 3", "1:2:3", 'T'},
        {"2:1", "2", 'T'},
        {"1/2", "1:2", 'T'},
    };
    JUDGE(rows);
}

static void choices_and_words(void)
{
    static const struct pair rows[] = {
        {"\\text{No solution}", "\\emptyset", 'T'},
        {"\\varnothing", "\\text{no solutions}", 'T'},
        {"\\text{No solutions.}", "\\{\\}", 'T'},
        {"\\text{None}", "\\text{none}", 'T'},
        {"\\text{None}", "0", 'F'},
        {"\\text{all real numbers}", "\\mathbb{R}", 'T'},
        {"\\text{(A)}", "A", 'T'},
        {"\\text{(A)}", "(A)", 'T'},
        {"A", "A. 42", 'T'},
        {"A", "\\text{A) } 42", 'T'},
        {"A", "B. 42", 'F'},
        {"A", "a", 'F'},
        {"\\text{True}", "true", 'T'},
        {"\\text{True}", "false", 'F'},
        {"\\text{Monday}", "\\text{monday}", 'T'},
        {"\\text{the parabola}", "parabola", 'T'},
        {"\\text{B, E, G}", "B,E,G", 'T'},
        {"E_{1},E_{2}", "E_1, E_2", 'T'},
        {"\\text{(B)}", "\\text{B. } 5", 'T'},
        {"\\text{yes}", "\\text{no}", 'F'},
        {"\\text{A}", "\\text{B}", 'F'},
        {"\\text{red}", "\\text{blue}", 'F'},
        {"\\text{Evelyn}", "\\text{Evan}", 'F'},
        {"\\text{Yes, it is}", "\\text{yes, it is}", 'T'},
        {"\\text{infinitely many}", "\\text{Infinitely many}", 'T'},
        {"\\infty", "\\text{infinity}", 'T'},
        {"\\text{undefined}", "\\text{Undefined}", 'T'},
        {"A", "(A) 42", 'T'},
        {"\\text{(A)}", "\\textbf{(A)}", 'T'},
        {"\\text{(A)}", "\\textbf{(A) } 42", 'T'},
        {"B", "\\text{B) } \\frac{1}{2}", 'T'},
        {"A", "(A)(B)", 'F'},
        {"\\text{Sunday}", "\\textbf{Sunday}", 'T'},
        {"\\text{No}", "\\text{No}", 'T'},
        {"\\text{no}", "No.", 'T'},
        {"\\text{Alice}", "\\text{alice}", 'T'},
        {"\\text{increasing}", "\\text{Increasing}", 'T'},
    };
    JUDGE(rows);
}

CASES(CASE(values), CASE(names), CASE(equations), CASE(systems), CASE(inequalities),
      CASE(intervals), CASE(sets), CASE(lists_and_tuples), CASE(vectors_and_matrices),
      CASE(units), CASE(money_percent_and_angles), CASE(ratios_times_and_bases),
      CASE(choices_and_words));
