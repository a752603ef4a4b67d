/* test_parse_values.c - what an answer is read as, numbers and functions: input and
 * tree.
 *
 * Each tree was checked by hand against the conventions of tree.h; where LaTeX and the
 * likely meaning differ, the row says which reading is taken.
 */
#include "check.h"
#include "tree_text.h"

static void integers(void)
{
    static const struct row rows[] = {
        {"1.000.000", "1000000"},
        {"12\\,000", "12000"},
        {"0", "0"},
        {"5", "5"},
        {"-5", "-5"},
        {"+2", "2"},
        {"--5", "5"},
        {"-----1", "-1"},
        {"025", "25"},
        {"123456789012345678901234567890", "123456789012345678901234567890"},
        {"1,234", "1234"},
        {"1,234,567", "1234567"},
        {"-28,800", "-28800"},
        {"1{,}234", "1234"},
        {"10{,}000", "10000"},
        {"90{,}900{,}909", "90900909"},
        {"1,\\!000,\\!000,\\!000", "1000000000"},
        {"11,\\! 111,\\! 111,\\! 100", "11111111100"},
        {"1\\,234", "1234"},
        {"1 000", "1000"},
        {"1 234 567", "1234567"},
        {"１２３", "123"},
        {"\\text{13}", "13"},
        {"{5}", "5"},
        {"(5)", "5"},
        {"[5]", "5"},
        {"**34**", "34"},
        {"5.", "5"},
        {"5。", "5"},
        {"114,200", "114200"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void decimals(void)
{
    static const struct row rows[] = {
        {"1.234,56", "30864/25"},
        {"1.234", "617/500"},
        {"0.5", "1/2"},
        {".5", "1/2"},
        {"-.25", "-1/4"},
        {"12.50", "25/2"},
        {"1.", "1"},
        {"0.0000672", "21/312500"},
        {"1,234.5", "2469/2"},
        {"1,234,567.89", "123456789/100"},
        {"0{,}5", "1/2"},
        {"３．５", "7/2"},
        {"-1./3", "(negate (quotient 1 3))"},
        {"0.(3)", "1/3"},
        {"0.\\overline{3}", "1/3"},
        {"0.1\\overline{6}", "1/6"},
        {"0.\\overline{142857}", "1/7"},
        {"2.\\overline{45}", "27/11"},
        {"0.\\dot{3}", "1/3"},
        {"0.\\dot{1}4285\\dot{7}", "1/7"},
        {"0.\\bar{3}", "1/3"},
        {".\\overline{3}", "1/3"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void decimal_commas_are_lists_that_may_be_decimals(void)
{
    static const struct row rows[] = {
        {"1000,99", "(list 1000 99)"}, {"6,8", "(list 6 8)"},
        {"-2,1", "(list -2 1)"},       {"0,111", "(list 0 111)"},
        {"1,05", "(list 1 5)"},        {"11,13", "(list 11 13)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void scientific(void)
{
    static const struct row rows[] = {
        {"1e3", "1000"},
        {"1e-5", "1/100000"},
        {"1E5", "100000"},
        {"4e33", "4000000000000000000000000000000000"},
        {"8.7e8", "870000000"},
        {"2.7778e-6", "13889/5000000000"},
        {"1.5e+10", "15000000000"},
        {"2e3", "2000"},
        {"2e-5", "1/50000"},
        {"1.6\\times10^{-19}", "(product 8/5 (power 10 -19))"},
        {"1.6\\times 10^{-19}", "(product 8/5 (power 10 -19))"},
        {"6.02*10^23", "(product 301/50 (power 10 23))"},
        {"6.02 x 10^23", "(product 301/50 (power 10 23))"},
        {"7.8\\times 10^2", "(product 39/5 (power 10 2))"},
        {"1.0e999999999", "(product 1 (power 10 999999999))"},
        {"1e-999999999", "(product 1 (power 10 -999999999))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void e_is_euler_where_it_is_no_exponent(void)
{
    static const struct row rows[] = {
        {"2e-x", "(sum (product 2 e) (negate x))"},
        {"2e -1", "(sum (product 2 e) -1)"},
        {"2e-1",
         "(call \"exponent\" (sum (product 2 e) -1) (product 2 (power 10 -1)))"},
        {"7p+4e", "(sum (product 7 p) (product 4 e))"},
        {"3e", "(product 3 e)"},
        {"e3", "(product e 3)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void fractions(void)
{
    static const struct row rows[] = {
        {"\\frac12", "(quotient 1 2)"},
        {"\\frac 12", "(quotient 1 2)"},
        {"\\frac 1 2", "(quotient 1 2)"},
        {"\\frac 1{72}", "(quotient 1 72)"},
        {"\\frac1{10}", "(quotient 1 10)"},
        {"\\frac{270}7", "(quotient 270 7)"},
        {"\\frac{17}{2}", "(quotient 17 2)"},
        {"\\frac{1} {2}", "(quotient 1 2)"},
        {"\\dfrac{3}{4}", "(quotient 3 4)"},
        {"\\tfrac{10}{3}", "(quotient 10 3)"},
        {"\\cfrac{1}{3}", "(quotient 1 3)"},
        {"\\\\frac{1}{2}", "(quotient 1 2)"},
        {"\\\\dfrac{2}{3} +\\frac{1}{72}", "(sum (quotient 2 3) (quotient 1 72))"},
        {"\\frac1/2", "(quotient 1 2)"},
        {"\\frac \\pi4", "(quotient pi 4)"},
        {"\\frac12x", "(product (quotient 1 2) x)"},
        {"\\frac34i", "(product (quotient 3 4) i)"},
        {"\\frac{\\frac{1}{2}}{3}", "(quotient (quotient 1 2) 3)"},
        {"\\frac{1,234}{5}", "(quotient 1234 5)"},
        {"a/b", "(quotient a b)"},
        {"1/2", "(quotient 1 2)"},
        {"-1/3", "(negate (quotient 1 3))"},
        {"1/2x", "(quotient 1 (product 2 x))"},
        {"a/b/c", "(quotient (quotient a b) c)"},
        {"2/3 \\sqrt{3}", "(quotient 2 (product 3 (root 3 2)))"},
        {"a \\cdot b / c \\cdot d", "(product (quotient (product a b) c) d)"},
        {"\\frac{1}{2", "(quotient 1 2)"},
        {"½", "(quotient 1 2)"},
        {"3/4", "(quotient 3 4)"},
        {"{1 \\over 2}", "(quotient 1 2)"},
        {"frac{1}{2}", "(quotient 1 2)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void mixed_numbers(void)
{
    static const struct row rows[] = {
        {"3\\frac12", "(sum 3 (quotient 1 2))"},
        {"-3\\frac{1}{2}", "(negate (sum 3 (quotient 1 2)))"},
        {"1\\frac{12}{13}", "(sum 1 (quotient 12 13))"},
        {"137 \\frac{1}{2}", "(sum 137 (quotient 1 2))"},
        {"3 1/2", "(sum 3 (quotient 1 2))"},
        {"2 2/3", "(sum 2 (quotient 2 3))"},
        {"-1 1/4", "(negate (sum 1 (quotient 1 4)))"},
        {"3½", "(sum 3 (quotient 1 2))"},
        {"4 10/3", "(product 4 (quotient 10 3))"},
        {"4\\frac{10}{3}", "(product 4 (quotient 10 3))"},
        {"2\\frac{x}{3}", "(product 2 (quotient x 3))"},
        {"2 \\frac{\\sqrt{149}}{3} \\cdot \\frac{1}{2}",
         "(product (product 2 (quotient (root 149 2) 3)) (quotient 1 2))"},
        {"x\\frac12", "(product x (quotient 1 2))"},
        {"3\\cdot\\frac12", "(product 3 (quotient 1 2))"},
        {"1.5\\frac12", "(product 3/2 (quotient 1 2))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void roots(void)
{
    static const struct row rows[] = {
        {"\\sqrt2", "(root 2 2)"},
        {"\\sqrt 5", "(root 5 2)"},
        {"\\sqrt{17}", "(root 17 2)"},
        {"\\sqrt12", "(root 12 2)"},
        {"\\sqrt2x", "(product (root 2 2) x)"},
        {"11\\sqrt2", "(product 11 (root 2 2))"},
        {"\\sqrt[3]{x}", "(root x 3)"},
        {"\\sqrt[3]{-8}", "(root -8 3)"},
        {"\\sqrt[n]{x+1}", "(root (sum x 1) n)"},
        {"\\sqrt{x}+1", "(sum (root x 2) 1)"},
        {"\\sqrt{2}^3", "(power (root 2 2) 3)"},
        {"\\sqrt\\frac12", "(root (quotient 1 2) 2)"},
        {"\\\\sqrt{5}", "(root 5 2)"},
        {"sqrt(x)", "(root x 2)"},
        {"sqrt(980/7)", "(root (quotient 980 7) 2)"},
        {"np.sqrt(2)", "(root 2 2)"},
        {"√2", "(root 2 2)"},
        {"√12", "(root 12 2)"},
        {"2√3", "(product 2 (root 3 2))"},
        {"√(x+1)", "(root (sum x 1) 2)"},
        {"∛8", "(root 8 3)"},
        {"\\sqrt{2", "(root 2 2)"},
        {"36x \\sqrt{35x}", "(product 36 x (root (product 35 x) 2))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void powers(void)
{
    static const struct row rows[] = {
        {"x^2", "(power x 2)"},
        {"x**2", "(power x 2)"},
        {"x^{10}", "(power x 10)"},
        {"x^10", "(power x 10)"},
        {"x^-1", "(power x -1)"},
        {"10^-3", "(power 10 -3)"},
        {"2^{-3}", "(power 2 -3)"},
        {"2^3^2", "(power 2 (power 3 2))"},
        {"x^{2^{3}}", "(power x (power 2 3))"},
        {"-3^2", "(negate (power 3 2))"},
        {"-x^2", "(negate (power x 2))"},
        {"x²+1", "(sum (power x 2) 1)"},
        {"x⁻¹", "(power x -1)"},
        {"e^x", "(power e x)"},
        {"e^\\pi", "(power e pi)"},
        {"e^{-x^2}", "(power e (negate (power x 2)))"},
        {"2^\\frac12", "(power 2 (quotient 1 2))"},
        {"x^n!", "(factorial (power x n))"},
        {"x^2y", "(product (power x 2) y)"},
        {"(r+5)^2", "(power (sum r 5) 2)"},
        {"M^{1 / 3}", "(power M (quotient 1 3))"},
        {"7z^{96}(4z+1)", "(product 7 (power z 96) (sum (product 4 z) 1))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void sums_and_products(void)
{
    static const struct row rows[] = {
        {"2x+3", "(sum (product 2 x) 3)"},
        {"a+b-c", "(sum a b (negate c))"},
        {"a - -b", "(sum a b)"},
        {"2\\cdot -3", "(product 2 -3)"},
        {"2x y^2 z", "(product 2 x (power y 2) z)"},
        {"2(3)", "(product 2 3)"},
        {"(2)(3)", "(product 2 3)"},
        {"(x+1)(x-1)", "(product (sum x 1) (sum x -1))"},
        {"2\\left(x+1\\right)", "(product 2 (sum x 1))"},
        {"x(x+1)", "(product x (sum x 1))"},
        {"n(n+1)", "(product n (sum n 1))"},
        {"3×4", "(product 3 4)"},
        {"6÷2", "(quotient 6 2)"},
        {"2·3", "(product 2 3)"},
        {"x 2", "(product x 2)"},
        {"4(3-x)(3+x)", "(product 4 (sum 3 (negate x)) (sum 3 x))"},
        {"\\frac{2}{3} \\sqrt{3}", "(product (quotient 2 3) (root 3 2))"},
        {"-(n-1) / 2", "(negate (quotient (sum n -1) 2))"},
        {"x / 2-1 / 4+c e^{-2 x}", "(sum (quotient x 2) (negate (quotient 1 4)) "
                                   "(product c (power e (negate (product 2 x)))))"},
        {"3*x-1*y+13", "(sum (product 3 x) (negate (product 1 y)) 13)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void logarithms(void)
{
    static const struct row rows[] = {
        {"\\ln 2", "(function ln 2)"},
        {"\\ln(x)", "(function ln x)"},
        {"\\ln|x|+C", "(sum (function ln (abs x)) C)"},
        {"\\ln\\ln x", "(function ln (function ln x))"},
        {"\\log x", "(function log x 10)"},
        {"\\log_2 8", "(function log 8 2)"},
        {"\\log_{2}{8}", "(function log 8 2)"},
        {"\\log _{10} 250", "(function log 250 10)"},
        {"\\log_28", "(function log 8 2)"},
        {"\\log_10 250", "(function log 250 10)"},
        {"\\log_a b", "(function log b a)"},
        {"\\log_2^2 x", "(power (function log x 2) 2)"},
        {"\\lg 100", "(function log 100 10)"},
        {"log2(8)", "(function log 8 2)"},
        {"log(8, 2)", "(function log 8 2)"},
        {"lnx", "(function ln x)"},
        {"\\exp(-t)", "(function exp (negate t))"},
        {"\\exp{-a*t}", "(function exp (negate (product a t)))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void trigonometry(void)
{
    static const struct row rows[] = {
        {"\\cos^{-1} x", "(function arccos x)"},
        {"\\tg x", "(function tan x)"},
        {"\\arccot x", "(function arccot x)"},
        {"asin(x)", "(function arcsin x)"},
        {"\\sinh^{-1} x", "(function arsinh x)"},
        {"\\cot^2 x", "(power (function cot x) 2)"},
        {"2\\operatorname{cis}\\frac{\\pi}{3}",
         "(product 2 (power e (product i (quotient pi 3))))"},
        {"\\arctan\\frac{1}{2}", "(function arctan (quotient 1 2))"},
        {"\\sin\\alpha\\cos\\beta",
         "(product (function sin \\alpha) (function cos \\beta))"},
        {"\\sin x", "(function sin x)"},
        {"\\sin^2 x", "(power (function sin x) 2)"},
        {"\\sin ^{2} \\theta", "(power (function sin \\theta) 2)"},
        {"\\sin^{-1} x", "(function arcsin x)"},
        {"\\tan^{-1}(2)", "(function arctan 2)"},
        {"\\arcsin x", "(function arcsin x)"},
        {"arctan(2)", "(function arctan 2)"},
        {"\\operatorname{arctan}(2)", "(function arctan 2)"},
        {"np.arcsin(0.5)", "(function arcsin 1/2)"},
        {"sin(pi/12)", "(function sin (quotient pi 12))"},
        {"\\sin\\pi/12", "(function sin (quotient pi 12))"},
        {"\\cos 2\\pi/7", "(function cos (quotient (product 2 pi) 7))"},
        {"\\sin x/x", "(quotient (function sin x) x)"},
        {"\\sin(x)^2", "(power (function sin x) 2)"},
        {"\\sin^2(x)\\cos(x)", "(product (power (function sin x) 2) (function cos x))"},
        {"\\sin x \\cos x", "(product (function sin x) (function cos x))"},
        {"\\sin 2x \\cos 3x",
         "(product (function sin (product 2 x)) (function cos (product 3 x)))"},
        {"\\sin{\\left(2 t\\right)}", "(function sin (product 2 t))"},
        {"\\cos{2t} u(t)", "(product (function cos (product 2 t)) (call \"u\" t))"},
        {"\\sin x^2", "(function sin (power x 2))"},
        {"\\sin(-x)", "(function sin (negate x))"},
        {"\\sin -x", "(function sin (negate x))"},
        {"sinx", "(function sin x)"},
        {"2sinx", "(product 2 (function sin x))"},
        {"\\sec^2 y", "(power (function sec y) 2)"},
        {"\\cos 36^\\circ", "(function cos (product 36 (quotient pi 180)))"},
        {"2\\cos 15^{\\circ}",
         "(product 2 (function cos (product 15 (quotient pi 180))))"},
        {"\\sin(90^{\\circ}-x)",
         "(function sin (sum (product 90 (quotient pi 180)) (negate x)))"},
        {"16\\cos 20^\\circ\\cos 40^\\circ",
         "(product 16 (function cos (product 20 (quotient pi 180))) (function cos "
         "(product 40 (quotient pi 180))))"},
        {"\\cos\\frac{\\pi}{7}-\\cos\\frac{2\\pi}{7}",
         "(sum (function cos (quotient pi 7)) (negate (function cos (quotient (product "
         "2 pi) 7))))"},
        {"3*cos(sqrt(980/7)*t)",
         "(product 3 (function cos (product (root (quotient 980 7) 2) t)))"},
        {"\\tan^{100000}(1)", "(power (function tan 1) 100000)"},
        {"\\sinh x", "(function sinh x)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void constants_and_complex_numbers(void)
{
    static const struct row rows[] = {
        {"\\pi", "pi"},
        {"pi", "pi"},
        {"math.pi", "pi"},
        {"2π", "(product 2 pi)"},
        {"π/2", "(quotient pi 2)"},
        {"e", "e"},
        {"\\mathrm{e}", "e"},
        {"\\text{e}", "e"},
        {"i", "i"},
        {"3+4i", "(sum 3 (product 4 i))"},
        {"-2 + 7i", "(sum -2 (product 7 i))"},
        {"e^{i\\pi}", "(power e (product i pi))"},
        {"e^{2\\pi i/3}", "(power e (quotient (product 2 pi i) 3))"},
        {"2\\sqrt{3}i", "(product 2 (root 3 2) i)"},
        {"\\overline{z}", "(function conj z)"},
        {"\\Re(z)", "(function Re z)"},
        {"1-1/\\mathrm{e}", "(sum 1 (negate (quotient 1 e)))"},
        {"1-1/\\mathrm{e}}", "(sum 1 (negate (quotient 1 e)))"},
        {"3i+4j", "(sum (product 3 i) (product 4 j))"},
        {"\\mathbf{i}+2\\mathbf{j}", "(sum i (product 2 j))"},
        {"x_i", "x_i"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void factorials_and_binomials(void)
{
    static const struct row rows[] = {
        {"5!", "(factorial 5)"},
        {"n!", "(factorial n)"},
        {"(n+1)!", "(factorial (sum n 1))"},
        {"100!/2^{50}", "(quotient (factorial 100) (power 2 50))"},
        {"\\frac{1}{2004!}", "(quotient 1 (factorial 2004))"},
        {"d !", "(factorial d)"},
        {"5!!", "(call \"!!\" 5)"},
        {"(5!)!", "(factorial (factorial 5))"},
        {"\\binom{5}{2}", "(binomial 5 2)"},
        {"\\binom nk", "(binomial n k)"},
        {"\\dbinom{5}{2}", "(binomial 5 2)"},
        {"{n \\choose k}", "(binomial n k)"},
        {"C(5,2)", "(binomial 5 2)"},
        {"C_5^2", "(binomial 5 2)"},
        {"C_{5}^{2}", "(binomial 5 2)"},
        {"C_1^2", "(power C_1 2)"},
        {"C_{1} e^{t}", "(product C_1 (power e t))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void functions_of_several_kinds(void)
{
    static const struct row rows[] = {
        {"|x|", "(abs x)"},
        {"|x-|y||", "(abs (sum x (negate (abs y))))"},
        {"|x||y|", "(product (abs x) (abs y))"},
        {"2|x|", "(product 2 (abs x))"},
        {"\\left|\\frac{1}{2}\\right|", "(abs (quotient 1 2))"},
        {"\\lvert x \\rvert", "(abs x)"},
        {"\\lfloor 3.7 \\rfloor", "(function floor 37/10)"},
        {"⌊x⌋", "(function floor x)"},
        {"\\lceil n / 2\\rceil+1", "(sum (function ceil (quotient n 2)) 1)"},
        {"\\gcd(12,18)", "(function gcd 12 18)"},
        {"\\max\\{a,b\\}", "(function max a b)"},
        {"\\max(1,2,3)", "(function max 1 2 3)"},
        {"85 \\bmod 7", "(function mod 85 7)"},
        {"\\operatorname{sgn}(x)", "(function sgn x)"},
        {"\\det A", "(function det A)"},
        {"\\Gamma(1/2)", "(function Gamma (quotient 1 2))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

CASES(CASE(integers), CASE(decimals),
      CASE(decimal_commas_are_lists_that_may_be_decimals), CASE(scientific),
      CASE(e_is_euler_where_it_is_no_exponent), CASE(fractions), CASE(mixed_numbers),
      CASE(roots), CASE(powers), CASE(sums_and_products), CASE(logarithms),
      CASE(trigonometry), CASE(constants_and_complex_numbers),
      CASE(factorials_and_binomials), CASE(functions_of_several_kinds));
