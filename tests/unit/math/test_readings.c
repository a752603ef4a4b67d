/* test_readings.c - texts that can be read in two ways, and values with a parameter. */
#include "pairs.h"

static void marks(void)
{
    static const struct pair rows[] = {
        {"5!=120", "120", 'T'},
        {"5! = 120", "120", 'T'},
        {"5! = 120", "121", 'F'},
        {"x != 3", "x \\ne 3", 'T'},
        {"x!=3", "x \\ne 3", 'T'},
        {"n! = 6", "n \\ne 6", 'F'},
        {"7!!", "105", 'T'},
        {"8!!", "384", 'T'},
        {"8!!", "(8!)!", 'N'},
        {"33\\frac13\\%", "\\frac{1}{3}", 'T'},
        {"33\\frac{1}{3}\\%", "33\\frac{1}{3}", 'T'},
        {"33 1/3\\%", "\\frac{100}{3}", 'T'},
        {"33\\frac13\\%", "11\\%", 'F'},
        {"22\\frac12^\\circ", "22.5^\\circ", 'T'},
        {"22\\frac12^\\circ", "11^\\circ", 'F'},
        {"22 1/2^\\circ", "\\frac{\\pi}{8}", 'T'},
        {"\\sfrac{1}{3}", "\\nicefrac{1}{3}", 'T'},
        {"\\sfrac{1}{3}", "13", 'F'},
        {"\\$-5", "-\\$5", 'T'},
        {"0.333...", "\\frac13", 'T'},
        {"0.1666\\ldots", "\\frac16", 'T'},
        {"0.1212\\ldots", "\\frac{4}{33}", 'T'},
        {"0.333...", "0.333", 'F'},
        {"3.14159...", "3.14159", 'N'},
        {"\\operatorname{Re}(3+4i)", "3", 'T'},
        {"\\mathrm{Im}(3+4i)", "4", 'T'},
        {"\\mathrm{Im}(3+4i)", "3", 'F'},
        {"\\overline{3+4i}", "3-4i", 'T'},
        {"\\overline{3+4i}", "3+4i", 'F'},
        {"1011_{(2)}", "1011_2", 'T'},
        {"1011 \\text{ base } 2", "1011_2", 'T'},
        {"1011 \\text{ base } 2", "1011_3", 'F'},
        {"3 to 2", "\\frac32", 'T'},
        {"3 \\text{ to } 2", "6:4", 'T'},
        {"3 to 2", "2 to 3", 'F'},
        {"3h 20min", "200 \\text{ min}", 'T'},
        {"3 hours and 20 minutes", "200 \\text{ min}", 'T'},
        {"3 hours and 20 minutes", "3 hours", 'F'},
        {"3h", "3", 'F'},
    };
    JUDGE(rows);
}

/* The gold decides what a comma between two numbers is. */
static void commas(void)
{
    CHECK(accepts("1,5", "1.5"));
    CHECK(accepts("\\frac32", "1,5"));
    CHECK(accepts("-0.5", "-0,5"));
    CHECK(!accepts("1,2", "\\frac65"));
    CHECK(!accepts("1,2", "1.20"));
    CHECK(!accepts("0,1", "\\frac{1}{10}"));
    CHECK(accepts("0,1", "\\{1, 0\\}"));
    CHECK(accepts("-3,3", "x = \\pm 3"));
    CHECK(accepts("x = \\pm 3", "-3,3"));
    CHECK(!accepts("x = \\pm 3", "-3,2"));
}

static void choices(void)
{
    static const struct pair rows[] = {
        {"12", "(B) 12", 'T'},           {"\\textbf{(B)}\\ \\frac12", "0.5", 'T'},
        {"\\mathrm{(C)}\\ 7", "7", 'T'}, {"B", "(B) 12", 'T'},
        {"13", "(B) 12", 'F'},           {"C", "(B) 12", 'F'},
        {"(B) 12", "(B) 12.0", 'T'},     {"(B) 12", "(C) 12", 'F'},
        {"(B) 12", "(B) 13", 'F'},
    };
    JUDGE(rows);
}

static void exponents(void)
{
    static const struct pair rows[] = {
        {"2e-1", "0.2", 'T'},   {"2e-1", "\\frac15", 'T'}, {"2e-1", "2e - 1", 'T'},
        {"2e-1", "-1+2e", 'T'}, {"2E-1", "0.2", 'T'},      {"2e - 1", "0.2", 'F'},
        {"2e-1", "2", 'F'},     {"2e-1", "2e+1", 'F'},     {"2e-1", "2e-2", 'F'},
    };
    JUDGE(rows);
}

static void families(void)
{
    static const struct pair rows[] = {
        {"x=k\\pi, k\\in\\mathbb{Z}", "x=n\\pi, n\\in\\mathbb{Z}", 'T'},
        {"x=k\\pi, k\\in\\mathbb{Z}", "n\\pi\\ (n\\in\\mathbf{Z})", 'T'},
        {"x=k\\pi, k\\in\\mathbb{Z}", "n\\pi", 'T'},
        {"x=k\\pi, k\\in\\mathbb{Z}", "x=2n\\pi, n\\in\\mathbb{Z}", 'F'},
        {"k\\pi, k\\in\\mathbb{Z}", "k\\pi, k\\in\\mathbb{N}", 'N'},
        {"k\\pi \\text{ where } k \\text{ is an integer}", "k\\pi, k\\in\\mathbb{Z}",
         'T'},
        {"x=1 \\text{ or } x=k\\pi, k\\in\\mathbb{Z}", "1, n\\pi\\ (n\\in\\mathbb{Z})",
         'T'},
        {"(k\\pi-1, k\\pi+1)\\ (k\\in\\mathbb{Z})",
         "(n\\pi-1,1+n\\pi), n\\in\\mathbb{Z}", 'T'},
        {"f(x)=cx, c\\in\\mathbb{R}", "f(x)=cx", 'T'},
        {"f(x)=cx, c\\in\\mathbb{R}", "f(x)=kx \\text{ where } k \\in \\mathbb{R}",
         'T'},
        {"f(x)=cx, c\\in\\mathbb{R}", "f(x)=cx^2", 'F'},
        {"\\{x|x=k\\pi,k\\in\\mathbb{Z}\\}", "x=k\\pi\\ (k\\in\\mathbf{Z})", 'T'},
        {"\\{x|x=k\\pi,k\\in\\mathbb{Z}\\}", "\\{y \\mid y=n\\pi,n\\in\\mathbb{Z}\\}",
         'T'},
        {"\\{x|x=k\\pi,k\\in\\mathbb{Z}\\}", "\\{x|x=2k\\pi,k\\in\\mathbb{Z}\\}", 'N'},
        {"\\{2k\\pi : k\\in\\mathbb{Z}\\}", "x=2n\\pi, n\\in\\mathbb{Z}", 'T'},
        {"\\{2k\\pi : k\\in\\mathbb{Z}\\}", "\\{ 2n\\pi \\mid n\\in\\mathbb{Z}\\}",
         'T'},
        {"\\{2k\\pi : k\\in\\mathbb{Z}\\}", "\\{ 2n \\mid n\\in\\mathbb{Z}\\}", 'F'},
        {"\\{2k\\pi : k\\in\\mathbb{Z}\\}", "\\{ 2k\\pi \\mid k\\in\\mathbb{N}\\}",
         'N'},
        {"\\{k : k\\in\\mathbb{Z}\\}", "k", 'N'},
        {"x \\in \\mathbb{Z}", "x", 'F'},
        {"ak, k\\in\\mathbb{Z}", "an, n\\in\\mathbb{Z}", 'T'},
        {"kn, k\\in\\mathbb{Z}", "k^2, k\\in\\mathbb{Z}", 'F'},
        {"kn, k\\in\\mathbb{Z}", "nn, n\\in\\mathbb{Z}", 'F'},
    };
    JUDGE(rows);
}

static void vectors(void)
{
    static const struct pair rows[] = {
        {"\\mathbf{i}-2\\mathbf{j}+\\mathbf{k}", "(1,-2,1)", 'T'},
        {"3\\hat{i}-4\\hat{j}", "\\langle 3,-4\\rangle", 'T'},
        {"\\frac{1}{3}(2\\hat{\\imath}-\\hat{\\jmath})",
         "\\begin{pmatrix} 2/3 \\\\ -1/3 \\end{pmatrix}", 'T'},
        {"3\\hat{i}-4\\hat{j}", "(3,4)", 'F'},
        {"3\\hat{i}-4\\hat{j}", "(-4,3)", 'F'},
        {"\\mathbf{i}+\\mathbf{k}", "(1,1)", 'F'},
        {"\\mathbf{i}+\\mathbf{k}", "(1,0,1)", 'T'},
        {"1+2i", "(1,2)", 'F'},
    };
    JUDGE(rows);
}

static void shapes(void)
{
    static const struct pair rows[] = {
        {"\\left\\{\\begin{array}{l}x=1\\\\y=2\\end{array}\\right.", "x=1,y=2", 'T'},
        {"\\left\\{\\begin{array}{l}x=1\\\\y=2\\end{array}\\right.", "x=2,y=1", 'F'},
        {"a \\equiv b \\pmod{n}", "a\\equiv b\\ (\\text{mod } n)", 'T'},
        {"n \\equiv 3 \\pmod 7", "n \\equiv 10 \\text{ mod } 7", 'T'},
        {"n \\equiv 3 \\pmod 7", "n \\equiv 4\\ (\\text{mod } 7)", 'F'},
        {"42", "forty-two", 'T'},
        {"42", "forty", 'F'},
        {"42", "twenty-four", 'F'},
        {"(t+1) u(t)", "u{\\left(t \\right)} (1+t)", 'T'},
        {"(t+1) u(t)", "u{\\left(t+1 \\right)} (1+t)", 'N'},
        {"2x(y+1)", "2x{\\left(y+1\\right)}", 'T'},
        {"AC", "A, C", 'T'},
        {"A, C", "CA", 'T'},
        {"AC", "A, B", 'F'},
        {"A, C", "ABC", 'F'},
        {"ab", "a, b", 'F'},
    };
    JUDGE(rows);
}

/* Brackets round brackets mean nothing, however many. */
static void nested(void)
{
    char text[1201];

    for (int i = 0; i < 2; i++) {
        memset(text, i ? '{' : '(', 600);
        memset(text + 601, i ? '}' : ')', 599);
        text[600] = '7';
        text[1200] = 0;
        CHECK(!accepts("8", text));
        text[0] = ' ';
        CHECK(accepts("7", text));
        text[700] = ' ';
        CHECK(!accepts("8", text));
    }
}

CASES(CASE(vectors), CASE(shapes), CASE(nested), CASE(marks), CASE(commas),
      CASE(choices), CASE(exponents), CASE(families));
