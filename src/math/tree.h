/* tree.h - private: an answer as a tree in an arena.
 *
 * normalise.c and parse.c build it, scalar.c decides two scalars, compare.c everything
 * above.  Nodes never change after they are built; a rewritten tree is a new one from
 * the same arena.
 */
#ifndef DAPO_MATH_TREE_H
#define DAPO_MATH_TREE_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dapo/math.h"

/* -- bounds, all checked before the work (MATH.md, section 3) ---------------------- */
enum {
    MAX_TEXT = 4096,        /* bytes of an answer */
    MAX_DEPTH = 100,        /* nesting of a tree */
    MAX_ARENA = 256 * 1024, /* bytes of both trees together */
    MAX_LITERALS = 512,     /* rational literals of both trees */
    MAX_DIGITS = 2000,      /* of one literal */
    MAX_ITEMS = 250,        /* of a list, sum or product */
    MAX_MATCH = 40          /* items of two sets that are matched in any order */
};

/* -- kinds ------------------------------------------------------------------------- */
enum node_kind {
    /* scalars; "k" children where no number is given */
    NODE_NUMBER, /* q; places >= 0 if it was written as a decimal, e.g. 1.50: 2 */
    NODE_SYMBOL, /* name, case kept: "x", "x_1", "\alpha", "V_{max}" -> "V_max" */
    NODE_PI,
    NODE_E,         /* Euler's number */
    NODE_I,         /* imaginary unit */
    NODE_INFINITY,  /* +infinity; -infinity is its NODE_NEGATE */
    NODE_SUM,       /* k >= 2 terms; a - b is the sum of a and NODE_NEGATE b */
    NODE_PRODUCT,   /* k >= 2 factors */
    NODE_NEGATE,    /* 1 */
    NODE_QUOTIENT,  /* 2: numerator, denominator */
    NODE_POWER,     /* 2: base, exponent */
    NODE_ROOT,      /* 2: radicand, index (a square root has index 2) */
    NODE_ABS,       /* 1; |z|, modulus */
    NODE_FACTORIAL, /* 1 */
    NODE_BINOMIAL,  /* 2: n, k */
    NODE_FUNCTION,  /* fn and 1 child; FN_LOG has 2: argument, base; gcd, max ...: k */
    NODE_CALL, /* name and k children: an unknown function, f(x).  Four names that no
                  text has: "base", 204_5: value, base, the digits read as a
                  decimal (152A: as words), only where it is a whole side;
                  "choice", (B) 12: letter, value, where both are given;
                  "exponent", 2e-1: the sum 2e - 1, the number 0.2;
                  "clock": hours 0..24, minutes, seconds unless 0, of what can be
                  no ratio: 4:30 p.m., 12:00, 20:34:00 */
    NODE_PLUSMINUS, /* 1: +-a; 2: a +- b.  `minus_plus` is \mp (sign of the other) */
    NODE_OPAQUE,    /* known but not evaluated: name is its head, children what could be
                       read; equal only to an opaque node of the same head with equal
                       children.  "\sum_^" (lower, upper, body; without _ or ^ less),
                       likewise \prod \int \lim \max; "cases" (cell by cell); "set"
                       (element, condition); "if", "implies", "to" (2); "where" (what
                       is said, the rest as words); "forall", "exists"; "pmod" (value,
                       modulus, without a relation); "..." */

    /* above scalars */
    NODE_LIST,      /* k items in brackets `open`, `close`; 0, 0: a bare comma list, of
                       values (`or`, `and` too: "5 or 6"), of equations (x=1, y=2 and x=1,
                       x=2 alike), or of such lists of one size (p=5, q=2; p=7, q=2).
                       Values behind an equation are folded: n = (bare list 2 3 4) */
    NODE_RELATION,  /* k >= 2 sides, ops[k - 1] between them */
    NODE_AND,       /* k relations that hold together, not all equations; a value with
                       its conditions too: 2k\pi, k \in Z */
    NODE_OR,        /* k alternatives, relations or NODE_AND or bare lists of them */
    NODE_UNION,     /* k sets */
    NODE_INTERSECT, /* k sets */
    NODE_MINUS_SET, /* 2: A \setminus B */
    NODE_NAMED_SET, /* name: "R", "Z", "N", "Q", "C", "empty", "R+", "Z>0", "R^2" ... */
    NODE_MATRIX,    /* rows * cols children, row by row; \det is NODE_FUNCTION */
    NODE_QUANTITY,  /* 1 child and a unit: 5 cm, 30 degrees, $20, 28% */
    NODE_WORDS, /* name: text answer, lower-cased words with single spaces.  A single
                   letter is a symbol, in \text too: (B), \mathrm{E} */
    NODE_RATIO, /* k >= 2 parts of a : b : c; maybe a time (20:34) */
    NODE_KIND_COUNT
};

/* clang-format off */
#define FN_LIST(X) \
    X(SIN, "sin") X(COS, "cos") X(TAN, "tan") X(COT, "cot") X(SEC, "sec") \
    X(CSC, "csc") X(ASIN, "arcsin") X(ACOS, "arccos") X(ATAN, "arctan") \
    X(ACOT, "arccot") X(ASEC, "arcsec") X(ACSC, "arccsc") X(SINH, "sinh") \
    X(COSH, "cosh") X(TANH, "tanh") X(COTH, "coth") X(ASINH, "arsinh") \
    X(ACOSH, "arcosh") X(ATANH, "artanh") X(LN, "ln") X(LOG, "log") X(EXP, "exp") \
    X(FLOOR, "floor") X(CEIL, "ceil") X(RE, "Re") X(IM, "Im") X(ARG, "arg") \
    X(CONJ, "conj") X(GCD, "gcd") X(LCM, "lcm") X(MAX, "max") X(MIN, "min") \
    X(MOD, "mod") X(SGN, "sgn") X(GAMMA, "Gamma") X(DET, "det")
/* clang-format on */
enum fn {
#define X(name, text) FN_##name,
    FN_LIST(X)
#undef X
        FN_COUNT
};

enum rel {
    REL_EQ,
    REL_NE,
    REL_LT,
    REL_LE,
    REL_GT,
    REL_GE,
    REL_IN,
    REL_NOT_IN,
    REL_SUBSET,
    REL_APPROX,
    REL_EQUIV /* congruent; a "mod m" is a 3rd side */,
    REL_COUNT
};

/* A unit as a product of powers of base units: what converts has equal powers. */
enum unit_base {
    UNIT_LENGTH, /* m */
    UNIT_MASS,   /* kg */
    UNIT_TIME,   /* s */
    UNIT_ANGLE,  /* rad; a degree is pi/180 (`degrees` set, factor 1) */
    UNIT_TEMPERATURE,
    UNIT_CURRENT,
    UNIT_AMOUNT,
    UNIT_CURRENCY, /* which one: `name` */
    UNIT_PERCENT,  /* forgiven as 1 or 1/100: section 1 */
    UNIT_DATA,     /* bit */
    UNIT_COUNT,    /* "ways", "apples", "units": a counted thing, forgiven: `name` */
    UNIT_BASES
};
struct unit {
    int8_t power[UNIT_BASES];
    bool degrees;      /* the angle is in degrees */
    mpq_srcptr factor; /* value in base units = number * factor */
    const char *name;  /* as read, canonical: "cm", "km/h", "usd", "people" */
};

struct node {
    enum node_kind kind;
    int n;                   /* children */
    const struct node **kid; /* [n] */
    union {
        struct {
            mpq_srcptr q;
            int places; /* digits behind the point; -1: not a decimal */
        } number;
        const char *name;
        enum fn fn;
        struct {
            char open, close;     /* one of ( ) [ ] { } < > | or 0; ]a,b[ as written */
            unsigned char places; /* a bare list 1,5 that may be the decimal 1.5
                                     (tree_decimal): digits behind its comma; else 0 */
        } list;
        const enum rel *ops; /* [n - 1] */
        struct {
            int rows, cols;
            char open; /* as written: ( [ | { or 0 */
        } matrix;
        const struct unit *unit;
        bool minus_plus;
    } u;
};

/* -- the work space ---------------------------------------------------------------- */
struct math {
    _Alignas(16) unsigned char arena[MAX_ARENA];
    size_t used;
    mpq_t literal[MAX_LITERALS]; /* initialised once, reused */
    int n_literals;
    int64_t fuel;  /* spent on this pair */
    FILE *explain; /* NULL: silent */
    int level;     /* of tree_compare within itself */
    bool over;     /* a bound was met while a tree was built */
    void *scalar;  /* scalar.c's own, made by scalar_open */
};

/* All of tree.c: NULL and m->over set when a bound is met; callers pass NULL on (a NULL
 * child gives a NULL node). */
void *tree_take(struct math *m, size_t bytes); /* zeroed, aligned to 16 */
const char *tree_name(struct math *m, const char *s, size_t n);
/* A rational to be set by the caller, from the pool. */
mpq_ptr tree_literal(struct math *m);
struct node *tree_node(struct math *m, enum node_kind kind, int n); /* kids unset */
/* Of these kids; `u` is left to the caller where the kind has one. */
struct node *tree_one(struct math *m, enum node_kind kind, const struct node *a);
struct node *tree_two(struct math *m, enum node_kind kind, const struct node *a,
                      const struct node *b);
struct node *tree_many(struct math *m, enum node_kind kind,
                       const struct node *const *kid, int n);
const struct node *tree_integer(struct math *m, long v);
/* The number q, which isn't copied; places as in the node. */
const struct node *tree_number(struct math *m, mpq_srcptr q, int places);
const struct node *tree_rational(struct math *m, mpq_srcptr q); /* no decimal */
const struct node *list_of(struct math *m, const struct node *const *item, int n,
                           char open, char close);
const struct node *tree_function(struct math *m, enum fn fn, const struct node *a);
/* The same tree, node by node (numbers by value, places ignored). */
bool tree_same(const struct node *a, const struct node *b);
/* The decimal that a bare list of two integers may be; NULL if it is only a list. */
const struct node *tree_decimal(struct math *m, const struct node *list);
int tree_depth(const struct node *a);
bool tree_scalar(const struct node *a); /* no node above scalars anywhere in it */
bool has_kind(const struct node *a, enum node_kind kind); /* anywhere in it */
bool is_equation(const struct node *a); /* a relation by = and \approx alone */
/* Whether s[n] is one of the words of `list`, with single spaces between them; single
 * letters, and all if `exact`, in their case. */
bool word_listed(const char *list, const char *s, size_t n, bool exact);
/* One line in a prefix notation, for people: (sum 1 (root 2 2)). */
void tree_print(const struct node *a, FILE *to);

/* -- the parts --------------------------------------------------------------------- */
/* normalise.c: bounded text -> text in the arena, NUL-terminated, valid UTF-8.  NULL:
 * over a bound (m->over) .  Never deletes braces (\frac{17}{2} isn't \frac 1{72}). */
const char *math_normalise(struct math *m, const char *text, size_t n);
/* parse.c: the normalised text as a tree; NULL if it can't be read (m->over tells a
 * bound from a syntax error).  Trailing garbage is a failure. */
const struct node *math_parse(struct math *m, const char *normal);
/* The same where another answer has a unit: letters behind a number that read as one,
 * "5 mg", are a unit instead of a product. */
const struct node *math_parse_units(struct math *m, const char *normal);
/* scalar.c: two scalar trees by the ladder from RATIONAL on.  Spends m->fuel. */
struct math_result scalar_compare(struct math *m, const struct node *a,
                                  const struct node *b);
/* Order of two real constants: -1, 0, 1 with *known; not known if it can't be proved.
 */
int scalar_order(struct math *m, const struct node *a, const struct node *b,
                 bool *known);
/* Whether the equations a = 0 and b = 0 have the same solutions because a = c*b with a
 * constant c != 0; *sign is that of c if it is real (0 if not known). */
struct math_result scalar_proportional(struct math *m, const struct node *a,
                                       const struct node *b, int *sign);
int scalar_open(struct math *m, struct fault *f);
void scalar_close(struct math *m);
/* compare.c: any two trees. */
struct math_result tree_compare(struct math *m, const struct node *gold,
                                const struct node *pred);

#endif
