/* test_parse_shapes.c - what an answer is read as, what is above scalars: input and
 * tree.
 *
 * Each tree was checked by hand against the conventions of tree.h; where LaTeX and the
 * likely meaning differ, the row says which reading is taken.
 */
#include "check.h"
#include "tree_text.h"

static void relations(void)
{
    static const struct row rows[] = {
        {"x \\leqslant 2", "(relation <= x 2)"},
        {"x \\geqslant 2", "(relation >= x 2)"},
        {"x \\leq 2", "(relation <= x 2)"},
        {"x \\geq 2", "(relation >= x 2)"},
        {"x =< 2", "(relation <= x 2)"},
        {"x <= 2", "(relation <= x 2)"},
        {"x \\gt 2", "(relation > x 2)"},
        {"x == 2", "(relation = x 2)"},
        {"x \\neq 2", "(relation != x 2)"},
        {"x \\not\\in A", "(relation notin x A)"},
        {"x ≈ 2", "(relation approx x 2)"},
        {"x≡1 mod 4", "(relation equiv equiv x 1 4)"},
        {"x=5", "(relation = x 5)"},
        {"x = -10", "(relation = x -10)"},
        {"f(x)=2x+3", "(relation = (call \"f\" x) (sum (product 2 x) 3))"},
        {"4x-5y=-50", "(relation = (sum (product 4 x) (negate (product 5 y))) -50)"},
        {"(x,y)=(1,2)", "(relation = (list '()' x y) (list '()' 1 2))"},
        {"x=1/3\\approx1.3", "(relation = approx x (quotient 1 3) 13/10)"},
        {"x\\approx11", "(relation approx x 11)"},
        {"\\approx 3.14", "157/50"},
        {"= 5", "5"},
        {"x \\ne 1", "(relation != x 1)"},
        {"x != 1", "(relation != x 1)"},
        {"x \\not= 1", "(relation != x 1)"},
        {"x>5", "(relation > x 5)"},
        {"5 \\ge x", "(relation >= 5 x)"},
        {"x >= 5", "(relation >= x 5)"},
        {"x \\lt 3", "(relation < x 3)"},
        {"x≤5", "(relation <= x 5)"},
        {"-2 \\le x \\le 7", "(relation <= <= -2 x 7)"},
        {"-2 \\\\le x \\\\le 7", "(relation <= <= -2 x 7)"},
        {"0<x<1", "(relation < < 0 x 1)"},
        {"x \\in [-2,7]", "(relation in x (list '[]' -2 7))"},
        {"x\\in\\mathbb{R}", "(relation in x (set \"R\"))"},
        {"x \\notin A", "(relation notin x A)"},
        {"A \\subseteq B", "(relation subset A B)"},
        {"x ≡ 3 (mod 7)", "(relation equiv equiv x 3 7)"},
        {"x \\equiv 3 \\pmod 7", "(relation equiv equiv x 3 7)"},
        {"x \\equiv 3 \\mod 7", "(relation equiv equiv x 3 7)"},
        {"3 \\pmod 7", "(opaque \"pmod\" 3 7)"},
        {"A := 3", "(relation = A 3)"},
        {"x_{1}=2", "(relation = x_1 2)"},
        {"\\frac{dM}{dt}=k M",
         "(relation = (quotient (product d M) (product d t)) (product k M))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void intervals_and_sets(void)
{
    static const struct row rows[] = {
        {"(-\\infty,\\infty)", "(list '()' (negate infinity) infinity)"},
        {"[0,1)", "(list '[)' 0 1)"},
        {"(0,1]", "(list '(]' 0 1)"},
        {"]0,1[", "(list '][' 0 1)"},
        {"[0,1[", "(list '[[' 0 1)"},
        {"]0,1[ \\cup ]2,3]", "(union (list '][' 0 1) (list ']]' 2 3))"},
        {"\\left(\\frac{3}{5},\\frac{8}{3}\\right]",
         "(list '(]' (quotient 3 5) (quotient 8 3))"},
        {"(-\\infty, -7)\\cup(-7, 3)\\cup(3, \\infty)",
         "(union (list '()' (negate infinity) -7) (list '()' -7 3) (list '()' 3 "
         "infinity))"},
        {"(−∞,3]∪[5,∞)",
         "(union (list '(]' (negate infinity) 3) (list '[)' 5 infinity))"},
        {"(-inf, 3) U (5, inf)",
         "(union (list '()' (negate infinity) 3) (list '()' 5 infinity))"},
        {"(1, +\\infty)", "(list '()' 1 infinity)"},
        {"A \\cap B", "(intersect A B)"},
        {"A\\cup B\\cap C", "(union A (intersect B C))"},
        {"\\mathbb{R}", "(set \"R\")"},
        {"\\mathbb R", "(set \"R\")"},
        {"ℝ", "(set \"R\")"},
        {"\\mathbb{R}\\setminus\\{0\\}", "(minus (set \"R\") (list '{}' 0))"},
        {"\\mathbb{Z}^+", "(set \"Z+\")"},
        {"\\mathbb{Z}_{>0}", "(set \"Z>0\")"},
        {"all real numbers", "(set \"R\")"},
        {"\\emptyset", "(set \"empty\")"},
        {"∅", "(set \"empty\")"},
        {"\\{\\}", "(set \"empty\")"},
        {"\\{1,2,3\\}", "(list '{}' 1 2 3)"},
        {"\\{5\\}", "(list '{}' 5)"},
        {"{-2021, 2021}", "(list '{}' -2021 2021)"},
        {"｛1，2｝", "(list '{}' 1 2)"},
        {"\\{x | x>0\\}", "(opaque \"set\" x (relation > x 0))"},
        {"\\{x \\mid x > 0\\}", "(opaque \"set\" x (relation > x 0))"},
        {"\\{x : x \\neq 2\\}", "(opaque \"set\" x (relation != x 2))"},
        {"x \\in \\boxed{\\{-1\\} \\cup [0,7)}.$",
         "(relation in x (union (list '{}' -1) (list '[)' 0 7)))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void lists(void)
{
    static const struct row rows[] = {
        {"1,2,3", "(list 1 2 3)"},
        {"1, 2, and 3", "(list 1 2 3)"},
        {"1、2、3", "(list 1 2 3)"},
        {"19 \\text{ and }43", "(list 19 43)"},
        {"7, -2, \\text{ and } -5", "(list 7 -2 -5)"},
        {"5 \\text{ or } 6", "(list 5 6)"},
        {"$21,16$ or $11$", "(list 21 16 11)"},
        {"$1$ and $2$ and $3$", "(list 1 2 3)"},
        {"-12;-11;-10", "(list -12 -11 -10)"},
        {"1和2", "(list 1 2)"},
        {"1, 2,", "(list 1 2)"},
        {"$8$,$4$", "(list 8 4)"},
        {"$221,$8$", "(list 221 8)"},
        {"1,2,345", "(list 1 2 345)"},
        {"$352146,362145,452136$", "(list 352146 362145 452136)"},
        {"E_{1},E_{2}", "(list E_1 E_2)"},
        {"\\boxed{-5, \\frac{14}{3}}", "(list -5 (quotient 14 3))"},
        {"['(10,0)', '(0,0)']", "(list (list '()' 10 0) (list '()' 0 0))"},
        {"['\\\\left(\tfrac32, -\\\\tfrac52\\\\right)', '\\\\left(-\\\\tfrac52, "
         "-\\\\tfrac52\\\\right)']",
         "(list (list '()' (quotient 3 2) (negate (quotient 5 2))) (list '()' (negate "
         "(quotient 5 2)) (negate (quotient 5 2))))"},
        {"1,2,\\ldots,n", "(list 1 2 (opaque \"...\") n)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void lists_of_relations(void)
{
    static const struct row rows[] = {
        {"x=1 or x=2", "(or (relation = x 1) (relation = x 2))"},
        {"x=1或x=2", "(or (relation = x 1) (relation = x 2))"},
        {"n=2, 3, 4", "(relation = n (list 2 3 4))"},
        {"a=4,\\,-8,\\,-10", "(relation = a (list 4 -8 -10))"},
        {"x=1,y=2", "(list (relation = x 1) (relation = y 2))"},
        {"x = 1, y = 2, z = 3",
         "(list (relation = x 1) (relation = y 2) (relation = z 3))"},
        {"AB=4,CD=5",
         "(list (relation = (product A B) 4) (relation = (product C D) 5))"},
        {"x<-1 or x>1", "(or (relation < x -1) (relation > x 1))"},
        {"x < -1 \\text{ or } x > 1", "(or (relation < x -1) (relation > x 1))"},
        {"x>1 and x<3", "(and (relation > x 1) (relation < x 3))"},
        {"x > 1, x \\ne 3", "(and (relation > x 1) (relation != x 3))"},
        {"x \\neq 0, 1", "(and (relation != x 0) (relation != x 1))"},
        {"(x, y) = (5, 8) \\quad \\text{and} \\quad (8, 5)",
         "(relation = (list '()' x y) (list (list '()' 5 8) (list '()' 8 5)))"},
        {"p = 5, q = 2 \\quad \\text{and} \\quad p = 7, q = 2",
         "(list (list (relation = p 5) (relation = q 2)) (list (relation = p 7) "
         "(relation = q 2)))"},
        {"p=5,q=2;p=7,q=2", "(list (list (relation = p 5) (relation = q 2)) (list "
                            "(relation = p 7) (relation = q 2)))"},
        {"W(x)=1orW(x)=-1",
         "(or (relation = (call \"W\" x) 1) (relation = (call \"W\" x) -1))"},
        {"\\\\boxed{W(n) = 1 \\\\text{ and } W(n) = -1",
         "(list (relation = (call \"W\" n) 1) (relation = (call \"W\" n) -1))"},
        {"f(x)=x$,$f(x)=2-x", "(list (relation = (call \"f\" x) x) (relation = (call "
                              "\"f\" x) (sum 2 (negate x))))"},
        {"x = 2k\\pi, k \\in \\mathbb{Z}",
         "(and (relation = x (product 2 k pi)) (relation in k (set \"Z\")))"},
        {"x=\\frac{1}{6} \\pi, \\frac{1}{3} \\pi",
         "(relation = x (list (product (quotient 1 6) pi) (product (quotient 1 3) "
         "pi)))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void plus_minus(void)
{
    static const struct row rows[] = {
        {"\\pm 2021", "(plusminus 2021)"},
        {"±3", "(plusminus 3)"},
        {"x = \\pm 3", "(relation = x (plusminus 3))"},
        {"1 \\pm \\sqrt{19}", "(plusminus 1 (root 19 2))"},
        {"3 \\pm 2 \\sqrt{2}", "(plusminus 3 (product 2 (root 2 2)))"},
        {"\\pm\\sqrt{2}", "(plusminus (root 2 2))"},
        {"1 \\pm 2 \\pm 3", "(plusminus (plusminus 1 2) 3)"},
        {"1 \\pm 2\\%", "(quantity [percent] (plusminus 1 2))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void tuples_and_vectors(void)
{
    static const struct row rows[] = {
        {"(1,2)", "(list '()' 1 2)"},
        {"（1，2）", "(list '()' 1 2)"},
        {"(1,234)", "(list '()' 1 234)"},
        {"(312,123,231)", "(list '()' 312 123 231)"},
        {"(10,000)", "10000"},
        {"(2,-1,2)", "(list '()' 2 -1 2)"},
        {"\\left( 3, \\frac{\\pi}{2} \\right)", "(list '()' 3 (quotient pi 2))"},
        {"(0;0;0),(0;-2;0)", "(list (list '()' 0 0 0) (list '()' 0 -2 0))"},
        {"(11,7)or(7,11)", "(list (list '()' 11 7) (list '()' 7 11))"},
        {"\\quad(2+\\sqrt{2}, 1+\\sqrt{2})",
         "(list '()' (sum 2 (root 2 2)) (sum 1 (root 2 2)))"},
        {"\\langle 1,2\\rangle", "(list '<>' 1 2)"},
        {"\\left<1,2\\right>", "(list '<>' 1 2)"},
        {"(1,2", "(list '()' 1 2)"},
        {"$(1,1), (3,2)$", "(list (list '()' 1 1) (list '()' 3 2))"},
        {"[x, x + 1]", "(list '[]' x (sum x 1))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void matrices(void)
{
    static const struct row rows[] = {
        {"\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}^{-1}",
         "(power (matrix 2x2 1 2 3 4) -1)"},
        {"\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}", "(matrix 2x2 1 2 3 4)"},
        {"\\begin{bmatrix}1&2\\\\3&4\\end{bmatrix}", "(matrix 2x2 1 2 3 4)"},
        {"\\begin{pmatrix} -1/3 \\\\ 2/3 \\\\ 5/3 \\end{pmatrix}",
         "(matrix 3x1 (negate (quotient 1 3)) (quotient 2 3) (quotient 5 3))"},
        {"\\begin{vmatrix} 1 & 2 \\\\ 3 & 4 \\end{vmatrix}",
         "(function det (matrix 2x2 1 2 3 4))"},
        {"\\left[\\begin{array}{cc}1 & 2 \\\\3 & 4\\end{array}\\right]",
         "(matrix 2x2 1 2 3 4)"},
        {"(\\begin{pmatrix}\\frac{1}{3}\\\\ \\frac{1}{5} \\end{pmatrix})",
         "(matrix 2x1 (quotient 1 3) (quotient 1 5))"},
        {"\\begin{pmatrix}x&0\\\\-\\sin(x)&0\\\\\\end{pmatrix}",
         "(matrix 2x2 x 0 (negate (function sin x)) 0)"},
        {"\\\\begin{bmatrix} 1 \\\\\\\\ 2 \\\\end{bmatrix}", "(matrix 2x1 1 2)"},
        {"\\begin{pmatrix} 1 & 2 \\\\ 3 \\end{pmatrix}", "NULL"},
        {"\\boxed{\n\\begin{pmatrix} 0 & 3 \\\\ 0 & -1 "
         "\\end{pmatrix}\n}.\n\\end{align*}",
         "(matrix 2x2 0 3 0 -1)"},
        {"\\begin{aligned} x &= 1 \\\\ y &= 2 \\end{aligned}",
         "(list (relation = x 1) (relation = y 2))"},
        {"2\\begin{pmatrix}1\\\\2\\end{pmatrix}", "(product 2 (matrix 2x1 1 2))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void ratios_and_times_of_day(void)
{
    static const struct row rows[] = {
        {"1:1", "(ratio 1 1)"},
        {"1:2:3", "(ratio 1 2 3)"},
        {"7:32", "(ratio 7 32)"},
        {"S_{MBCN}:S=7:32", "(relation = (ratio S_MBCN S) (ratio 7 32))"},
        {"A:B=1", "(relation = (ratio A B) 1)"},
        {"20:34", "(ratio 20 34)"},
        {"12:00", "(call \"clock\" 12 0)"},
        {"1:00", "(call \"clock\" 1 0)"},
        {"20:34:00", "(call \"clock\" 20 34)"},
        {"08:34 \\text{P.M.}", "(call \"clock\" 20 34)"},
        {"\\text{4:30 p.m.}", "(call \"clock\" 16 30)"},
        {"3:30 PM", "(call \"clock\" 15 30)"},
        {"9\\text{ a.m.}", "(call \"clock\" 9 0)"},
        {"12:30 AM", "(call \"clock\" 0 30)"},
        {"7：32", "(ratio 7 32)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void choices(void)
{
    static const struct row rows[] = {
        {"\\textbf{(B)}\\ 12", "(call \"choice\" B 12)"},
        {"(B) 12", "(call \"choice\" B 12)"},
        {"B) 12", "(call \"choice\" B 12)"},
        {"A. 3", "(call \"choice\" A 3)"},
        {"(A)(B)", "(product A B)"},
        {"A(B+1)", "(product A (sum B 1))"},
        {"I, III", "(list I (words \"iii\"))"},
        {"II and III", "(list (words \"ii\") (words \"iii\"))"},
        {"A", "A"},
        {"E", "E"},
        {"\\text{(B)}", "B"},
        {"(\\text{E})", "E"},
        {"\\textbf{A}", "A"},
        {"\\mathrm{E}", "E"},
        {"\\text{E}", "E"},
        {"d", "d"},
        {"(D) Alina", "D"},
        {"D. it can't be A or B", "D"},
        {"B不是 A", "B"},
        {"B。不是 A", "B"},
        {"选B", "B"},
        {"Option C", "C"},
        {"Answer: B", "B"},
        {"\\text{B, E, G}", "(list B E G)"},
        {"\\text{A,C,F}", "(list A C F)"},
        {"\\mathrm{E}*2", "(product E 2)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void words(void)
{
    static const struct row rows[] = {
        {"\\text{Evelyn}", "(words \"evelyn\")"},
        {"\\mbox{Saturday}", "(words \"saturday\")"},
        {"Even", "(words \"even\")"},
        {"odd", "(words \"odd\")"},
        {"\\text{odd}", "(words \"odd\")"},
        {"oddd", "(words \"oddd\")"},
        {"yes", "(words \"yes\")"},
        {"\\text{Yes.}", "(words \"yes\")"},
        {"True", "(words \"true\")"},
        {"neither", "(words \"neither\")"},
        {"\\text{no solution}", "(words \"no solution\")"},
        {"no real solutions", "(words \"no real solutions\")"},
        {"infinitely many", "(words \"infinitely many\")"},
        {"DNE", "(words \"dne\")"},
        {"\\text{ACF}", "(words \"acf\")"},
        {"Alice, Bob, and Carol",
         "(list (words \"alice\") (words \"bob\") (words \"carol\"))"},
        {"\\text{The midpoints form a regular hexagon}",
         "(words \"the midpoints form a regular hexagon\")"},
        {"正确", "(words \"正确\")"},
        {"Réponse", "(words \"réponse\")"},
        {"\"yes\"", "(words \"yes\")"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void surroundings(void)
{
    static const struct row rows[] = {
        {"\\n\\n\\[ \\boxed{p = -1 \\text{ and } p = \\dfrac{15}{8}} \\]",
         "(list (relation = p -1) (relation = p (quotient 15 8)))"},
        {"\\18.90", "189/10"},
        {"at least 5", "(words \"at least 5\")"},
        {"the answer is $5$", "5"},
        {"The answer is 5.", "5"},
        {"So the answer is 5", "5"},
        {"Answer: \\[34\\]", "34"},
        {"Step 13: The answer is: 4", "4"},
        {"答案是5", "5"},
        {"答案是 $\\frac{1}{2}$", "(quotient 1 2)"},
        {"所以答案是x=3", "(relation = x 3)"},
        {"5个", "(quantity [个] 5)"},
        {"10米", "(quantity [m] 10)"},
        {"30度", "(quantity [degree] 30)"},
        {"5平方厘米", "(quantity [平方厘米] 5)"},
        {"3小时", "(quantity [h] 3)"},
        {"$5$", "5"},
        {"$$5$$", "5"},
        {"\\(5\\)", "5"},
        {"\\[ 5 \\]", "5"},
        {"5 <", "NULL"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void opaque_heads(void)
{
    static const struct row rows[] = {
        {"f(n)=n \\text{ for all } n > 2",
         "(opaque \"if\" (relation = (call \"f\" n) n) (relation > n 2))"},
        {"0.999\\ldots", "1"},
        {"3.14159\\ldots", "(product 314159/100000 (opaque \"...\"))"},
        {"\\sum_{k=0}^{n-1} F_k F_{n-k-1}",
         "(opaque \"\\sum_^\" (relation = k 0) (sum n -1) (product F_k F_n-k-1))"},
        {"\\sum_{i=1}^{n} i", "(opaque \"\\sum_^\" (relation = i 1) n i)"},
        {"\\prod_{k=1}^{10}k", "(opaque \"\\prod_^\" (relation = k 1) 10 k)"},
        {"\\int_0^1 x^2 dx", "(opaque \"\\int_^\" 0 1 (product (power x 2) d x))"},
        {"\\lim_{x \\to 0} \\frac{\\sin x}{x}",
         "(opaque \"\\lim_\" (opaque \"to\" x 0) (quotient (function sin x) x))"},
        {"\\max_{x} f(x)", "(opaque \"\\max_\" x (call \"f\" x))"},
        {"\\begin{cases} x & x>0 \\\\ 0 & x \\le 0 \\end{cases}",
         "(opaque \"cases\" x (relation > x 0) 0 (relation <= x 0))"},
        {"\\forall x>0, f(x) = 0",
         "(opaque \"forall\" (relation > x 0) (relation = (call \"f\" x) 0))"},
        {"5 \\text{ if } x>0", "(opaque \"if\" 5 (relation > x 0))"},
        {"f(x)=a x+b$, where $b$ is an integer with $\\mho(a)=0$",
         "(opaque \"where\" (relation = (call \"f\" x) (sum (product a x) b)) (words "
         "\"where b is an integer with\\mho(a)=0\"))"},
        {"$34$ (mod 7)", "(opaque \"pmod\" 34 7)"},
        {"x=2 \\Rightarrow y=3",
         "(opaque \"implies\" (relation = x 2) (relation = y 3))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void what_cannot_be_read(void)
{
    static const struct row rows[] = {
        {"x <", "NULL"},
        {"5_", "NULL"},
        {"1_{2.}", "NULL"},
        {"\n", "NULL"},
        {"}", "NULL"},
        {"x+", "NULL"},
        {"(1,2]]", "NULL"},
        {"\\frac{1}", "NULL"},
        {"\\frac{\\sqrt{3}{2}", "NULL"},
        {"\\begin{pmatrix} 1", "NULL"},
        {"1 2", "NULL"},
        {"3..5", "NULL"},
        {"x^^2", "NULL"},
        {"#", "NULL"},
        {"5 divided by 3", "NULL"},
        {"Step 4: #### 2.8", "NULL"},
        {"\\left( \\right)", "NULL"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

CASES(CASE(relations), CASE(intervals_and_sets), CASE(lists), CASE(lists_of_relations),
      CASE(plus_minus), CASE(tuples_and_vectors), CASE(matrices),
      CASE(ratios_and_times_of_day), CASE(choices), CASE(words), CASE(surroundings),
      CASE(opaque_heads), CASE(what_cannot_be_read));
