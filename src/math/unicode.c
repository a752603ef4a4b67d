/* unicode.c - mathematical characters as LaTeX. */
#include <stdlib.h>

#include "math/parse.h"

struct character {
    int32_t code;
    const char *text;
};

/* In the order of their codes, for bsearch. */
static const struct character table[] = {
    {0xa2, "\\cent "},
    {0xa3, "\\pounds "},
    {0xa5, "\\yen "},
    {0xac, "\\neg "},
    {0xad, ""},
    {0xb0, "^\\circ "},
    {0xb1, "\\pm "},
    {0xb4, "'"},
    {0xb5, "\\mu "},
    {0xb7, "\\cdot "},
    {0xba, "^\\circ "},
    {0xbc, "\\frac{1}{4}"},
    {0xbd, "\\frac{1}{2}"},
    {0xbe, "\\frac{3}{4}"},
    {0xc5, "\\AA "},
    {0xd7, "\\times "},
    {0xd8, "\\emptyset "},
    {0xf7, "\\div "},
    {0x2bc, "'"},
    {0x393, "\\Gamma "},
    {0x394, "\\Delta "},
    {0x398, "\\Theta "},
    {0x39b, "\\Lambda "},
    {0x39e, "\\Xi "},
    {0x3a0, "\\Pi "},
    {0x3a3, "\\Sigma "},
    {0x3a6, "\\Phi "},
    {0x3a8, "\\Psi "},
    {0x3a9, "\\Omega "},
    {0x3b1, "\\alpha "},
    {0x3b2, "\\beta "},
    {0x3b3, "\\gamma "},
    {0x3b4, "\\delta "},
    {0x3b5, "\\epsilon "},
    {0x3b6, "\\zeta "},
    {0x3b7, "\\eta "},
    {0x3b8, "\\theta "},
    {0x3b9, "\\iota "},
    {0x3ba, "\\kappa "},
    {0x3bb, "\\lambda "},
    {0x3bc, "\\mu "},
    {0x3bd, "\\nu "},
    {0x3be, "\\xi "},
    {0x3c0, "\\pi "},
    {0x3c1, "\\rho "},
    {0x3c2, "\\sigma "},
    {0x3c3, "\\sigma "},
    {0x3c4, "\\tau "},
    {0x3c5, "\\upsilon "},
    {0x3c6, "\\phi "},
    {0x3c7, "\\chi "},
    {0x3c8, "\\psi "},
    {0x3c9, "\\omega "},
    {0x3d1, "\\theta "},
    {0x3d5, "\\phi "},
    {0x3f5, "\\epsilon "},
    {0x200b, ""},
    {0x200c, ""},
    {0x200d, ""},
    {0x200e, ""},
    {0x200f, ""},
    {0x2010, "-"},
    {0x2011, "-"},
    {0x2012, "-"},
    {0x2013, "-"},
    {0x2014, "-"},
    {0x2015, "-"},
    {0x2016, "\\|"},
    {0x2018, "'"},
    {0x2019, "'"},
    {0x201c, "\""},
    {0x201d, "\""},
    {0x2022, "\\cdot "},
    {0x2026, "\\ldots "},
    {0x2032, "'"},
    {0x2033, "''"},
    {0x2044, "/"},
    {0x2060, ""},
    {0x2061, " "},
    {0x2062, " "},
    {0x2063, " "},
    {0x2064, " "},
    {0x20ac, "\\euro "},
    {0x20b9, "\\rupee "},
    {0x2102, "\\mathbb{C}"},
    {0x2103, "^\\circ C"},
    {0x2109, "^\\circ F"},
    {0x2113, "\\ell "},
    {0x2115, "\\mathbb{N}"},
    {0x211a, "\\mathbb{Q}"},
    {0x211d, "\\mathbb{R}"},
    {0x2124, "\\mathbb{Z}"},
    {0x2126, "\\Omega "},
    {0x212b, "\\AA "},
    {0x2150, "\\frac{1}{7}"},
    {0x2151, "\\frac{1}{9}"},
    {0x2152, "\\frac{1}{10}"},
    {0x2153, "\\frac{1}{3}"},
    {0x2154, "\\frac{2}{3}"},
    {0x2155, "\\frac{1}{5}"},
    {0x2156, "\\frac{2}{5}"},
    {0x2157, "\\frac{3}{5}"},
    {0x2158, "\\frac{4}{5}"},
    {0x2159, "\\frac{1}{6}"},
    {0x215a, "\\frac{5}{6}"},
    {0x215b, "\\frac{1}{8}"},
    {0x215c, "\\frac{3}{8}"},
    {0x215d, "\\frac{5}{8}"},
    {0x215e, "\\frac{7}{8}"},
    {0x2190, "\\leftarrow "},
    {0x2192, "\\to "},
    {0x21d2, "\\Rightarrow "},
    {0x21d4, "\\iff "},
    {0x2200, "\\forall "},
    {0x2202, "\\partial "},
    {0x2203, "\\exists "},
    {0x2205, "\\emptyset "},
    {0x2206, "\\Delta "},
    {0x2207, "\\nabla "},
    {0x2208, "\\in "},
    {0x2209, "\\notin "},
    {0x220f, "\\prod "},
    {0x2211, "\\sum "},
    {0x2212, "-"},
    {0x2213, "\\mp "},
    {0x2215, "/"},
    {0x2216, "\\setminus "},
    {0x2217, "*"},
    {0x2218, "\\circ "},
    {0x2219, "\\cdot "},
    {0x221a, "\\sqrt "},
    {0x221b, "\\sqrt[3] "},
    {0x221c, "\\sqrt[4] "},
    {0x221e, "\\infty "},
    {0x2220, "\\angle "},
    {0x2223, "|"},
    {0x2225, "\\parallel "},
    {0x2227, "\\land "},
    {0x2228, "\\lor "},
    {0x2229, "\\cap "},
    {0x222a, "\\cup "},
    {0x222b, "\\int "},
    {0x2234, " "},
    {0x2236, ":"},
    {0x223c, "\\sim "},
    {0x2245, "\\cong "},
    {0x2248, "\\approx "},
    {0x2252, "\\approx "},
    {0x2260, "\\ne "},
    {0x2261, "\\equiv "},
    {0x2264, "\\le "},
    {0x2265, "\\ge "},
    {0x2266, "\\le "},
    {0x2267, "\\ge "},
    {0x2282, "\\subset "},
    {0x2286, "\\subset "},
    {0x22a5, "\\perp "},
    {0x22c5, "\\cdot "},
    {0x22ef, "\\ldots "},
    {0x2308, "\\lceil "},
    {0x2309, "\\rceil "},
    {0x230a, "\\lfloor "},
    {0x230b, "\\rfloor "},
    {0x2329, "\\langle "},
    {0x232a, "\\rangle "},
    {0x25b3, "\\triangle "},
    {0x27e8, "\\langle "},
    {0x27e9, "\\rangle "},
    {0x2a7d, "\\le "},
    {0x2a7e, "\\ge "},
    {0x3001, ","},
    {0x3002, "."},
    {0x3008, "\\langle "},
    {0x3009, "\\rangle "},
    {0x3010, "["},
    {0x3011, "]"},
    {0xfe63, "-"},
    {0xfeff, ""},
    {0xffe0, "\\cent "},
    {0xffe1, "\\pounds "},
    {0xffe5, "\\yen "},
};

static int by_code(const void *key, const void *row)
{
    int32_t a = *(const int32_t *)key, b = ((const struct character *)row)->code;

    return (a > b) - (a < b);
}

const char *unicode_text(int32_t code)
{
    const struct character *c =
        bsearch(&code, table, sizeof table / sizeof table[0], sizeof table[0], by_code);

    return c ? c->text : NULL;
}

char unicode_script(int32_t code, char *plain)
{
    static const char raised[] = "0\0\0\0" /* 2070; 1, 2, 3 are Latin-1 */
                                 "456789+-=()n";
    static const char lowered[] = "0123456789+-=()";

    *plain = 0;
    if (code == 0xb2 || code == 0xb3)
        *plain = (char)('0' + code - 0xb0);
    else if (code == 0xb9)
        *plain = '1';
    else if (code == 0x2071)
        *plain = 'i';
    else if (code >= 0x2070 && code <= 0x207f)
        *plain = raised[code - 0x2070];
    if (*plain)
        return '^';
    if (code >= 0x2080 && code <= 0x208e)
        *plain = lowered[code - 0x2080];
    else if (code == 0x2099)
        *plain = 'n';
    return *plain ? '_' : 0;
}
