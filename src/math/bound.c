/* bound.c - how close to 0 an algebraic expression other than 0 can be.
 *
 * Burnikel, Funke, Mehlhorn, Schirra, Schmitt, "A separation bound for real algebraic
 * expressions", ESA 2001, section 3: with u and l by the rules below and D the product
 * of the degrees of its roots, an expression E other than 0 has |E| >= 1 / (u(E)^(D -
 * 1) l(E)). E is a quotient of two algebraic integers of degree at most D whose
 * conjugates are at most u and l.  Equal roots are one number, so they count once.  The
 * bound needs no real numbers: i is a square root.  cos(2 pi k / n) is half an
 * algebraic integer whose conjugates are at most 2; all of them together lie in one
 * field of degree phi(n) / 2, with i in one of degree phi(n).
 */
#include <math.h>

#include "math/modular.h"

enum { MAX_ROOTS = 64, MAX_CYCLE = 1000000 };

/* Both as base 2 logarithms, rounded up. */
struct size {
    double u, l;
};

struct work {
    struct scalar *s;
    const struct point *at;
    double degree;
    unsigned long cycle; /* of the sines and cosines; 1: none */
    bool i, replaced;
    int n_roots;
    struct {
        struct residues of;
        unsigned long k;
    } root[MAX_ROOTS];
};

static bool size_of(struct work *w, const struct node *a, struct size *out);

static double up(double x)
{
    return x * (1 + 1e-12);
}

static double log2_integer(mpz_srcptr n)
{
    long e;
    double m = fabs(mpz_get_d_2exp(&e, n));

    return m > 0 ? up(fmax(0, log2(m) + (double)e + 1e-9)) : 0;
}

static struct size of_rational(mpq_srcptr q)
{
    return (struct size){log2_integer(mpq_numref(q)), log2_integer(mpq_denref(q))};
}

/* log2(2^a + 2^b) */
static double log2_sum(double a, double b)
{
    return up(fmax(a, b) + log2(1 + exp2(-fabs(a - b))));
}

static struct size add(struct size a, struct size b)
{
    return (struct size){log2_sum(a.u + b.l, a.l + b.u), up(a.l + b.l)};
}

static struct size multiply(struct size a, struct size b)
{
    return (struct size){up(a.u + b.u), up(a.l + b.l)};
}

static struct size inverse(struct size a)
{
    return (struct size){a.l, a.u};
}

/* Rational at the point. */
static bool exact(struct work *w, const struct node *a, struct size *out)
{
    mpq_ptr q = rational_take(w->s);
    bool ok = q && rational_value(w->s, a, w->at, q) == VALUE_OK;

    if (ok)
        *out = of_rational(q);
    if (q)
        rational_give(w->s, 1);
    return ok;
}

/* A root of degree k of `radicand`: once for all equal ones. */
static bool count_root(struct work *w, const struct node *radicand, unsigned long k)
{
    struct modular m = {.s = w->s, .f = &w->s->field};
    struct residues r = modular_value(&m, radicand);

    for (int i = 0; i < w->n_roots; i++) {
        bool same =
            w->root[i].k == k && (r.defined & w->root[i].of.defined) == ALL_LANES;

        for (int j = 0; same && j < LANES; j++)
            same = r.v[j] == w->root[i].of.v[j];
        if (same)
            return true;
    }
    if (w->n_roots == MAX_ROOTS)
        return false;
    w->root[w->n_roots].of = r;
    w->root[w->n_roots++].k = k;
    w->degree *= (double)k;
    return w->degree <= MAX_PROOF;
}

static struct size root(struct size a, unsigned long k)
{
    double n = (double)k;

    if (a.u >= a.l)
        return (struct size){up((a.u + (n - 1) * a.l) / n), a.l};
    return (struct size){a.u, up(((n - 1) * a.u + a.l) / n)};
}

/* x^q of x with the size *a and the tree `base`. */
static bool rational_power(struct work *w, const struct node *base, mpq_srcptr q,
                           struct size *a)
{
    double n = fabs(mpz_get_d(mpq_numref(q)));

    if (mpz_cmp_ui(mpq_denref(q), MAX_PROOF) > 0 || n > MAX_PROOF)
        return false;
    if (mpz_cmp_ui(mpq_denref(q), 1)) {
        unsigned long k = mpz_get_ui(mpq_denref(q));

        if (!count_root(w, base, k))
            return false;
        *a = root(*a, k);
    }
    *a = (struct size){up(a->u * n), up(a->l * n)};
    if (mpq_sgn(q) < 0)
        *a = inverse(*a);
    return true;
}

static bool power(struct work *w, const struct node *a, struct size *out)
{
    mpq_ptr q = rational_take(w->s);
    bool ok = q && rational_value(w->s, a->kid[1], w->at, q) == VALUE_OK &&
              size_of(w, a->kid[0], out) && (a->kind == NODE_POWER || mpq_sgn(q));

    if (ok && a->kind == NODE_ROOT)
        mpq_inv(q, q);
    ok = ok && rational_power(w, a->kid[0], q, out);
    if (q)
        rational_give(w->s, 1);
    return ok;
}

/* -- sines and cosines of rational multiples of pi ------------------------------ */
static unsigned long phi(unsigned long n)
{
    unsigned long r = n;

    for (unsigned long p = 2; p * p <= n; p++) {
        if (n % p)
            continue;
        r -= r / p;
        while (n % p == 0)
            n /= p;
    }
    return n > 1 ? r - r / n : r;
}

static unsigned long lcm(unsigned long a, unsigned long b)
{
    unsigned long x = a, y = b;

    while (y) {
        unsigned long r = x % y;

        x = y;
        y = r;
    }
    return a / x * b;
}

/* cos(q pi), or with `sine` sin(q pi) = cos((1/2 - q) pi); q / 2 of a full turn. */
static bool cosine(struct work *w, mpq_ptr q, bool sine, struct size *out)
{
    if (sine) {
        mpq_ptr half = rational_take(w->s);

        if (!half)
            return false;
        mpq_set_ui(half, 1, 2);
        mpq_sub(q, half, q);
        rational_give(w->s, 1);
    }
    mpq_div_2exp(q, q, 1);
    if (mpz_cmp_ui(mpq_denref(q), MAX_CYCLE) > 0)
        return false;
    w->cycle = lcm(w->cycle, mpz_get_ui(mpq_denref(q)));
    *out = (struct size){1, 1};
    return w->cycle <= MAX_CYCLE;
}

static bool trigonometric(struct work *w, enum fn fn, const struct node *u,
                          struct size *out)
{
    mpq_ptr q = rational_take(w->s), t = rational_take(w->s);
    struct size s, c;
    bool ok = q && t && rational_turn(w->s, u, q);

    if (ok) {
        mpq_set(t, q);
        ok = (fn == FN_COS || fn == FN_SEC || cosine(w, t, true, &s)) &&
             (fn == FN_SIN || fn == FN_CSC || cosine(w, q, false, &c));
    }
    rational_give(w->s, (q != NULL) + (t != NULL));
    if (!ok)
        return false;
    if (fn == FN_SIN || fn == FN_CSC)
        *out = fn == FN_SIN ? s : inverse(s);
    else if (fn == FN_COS || fn == FN_SEC)
        *out = fn == FN_COS ? c : inverse(c);
    else
        *out = fn == FN_TAN ? multiply(s, inverse(c)) : multiply(c, inverse(s));
    return true;
}

/* -- functions ------------------------------------------------------------------ */
static bool logarithm(struct work *w, const struct node *u, struct size *out)
{
    mpq_ptr q = rational_take(w->s);
    bool ok = q && rational_value(w->s, u, w->at, q) == VALUE_OK &&
              rational_log(w->s, w->at, q);

    w->replaced = true;
    if (ok)
        *out = of_rational(q);
    else if (u->kind == NODE_E)
        *out = (struct size){0, 0};
    if (q)
        rational_give(w->s, 1);
    return ok || u->kind == NODE_E;
}

static struct size of_long(int64_t n)
{
    return (struct size){up(log2(fmax(1, fabs((double)n)))), 0};
}

static bool exponential(struct work *w, const struct node *u, struct size *out)
{
    static const struct node e = {.kind = NODE_E};
    mpq_ptr q = rational_take(w->s);
    bool ok = q && rational_value(w->s, u, w->at, q) == VALUE_OK;

    w->replaced = true;
    *out = of_long(w->at->e);
    ok = ok && rational_power(w, &e, q, out);
    if (q)
        rational_give(w->s, 1);
    return ok;
}

/* One of its arguments, real numbers. */
static bool largest(struct work *w, const struct node *a, struct size *out)
{
    struct size kid;

    *out = (struct size){0, 0};
    for (int i = 0; i < a->n; i++) {
        if (!size_of(w, a->kid[i], &kid))
            return false;
        out->u = fmax(out->u, kid.u);
        out->l = fmax(out->l, kid.l);
    }
    return a->n > 0;
}

static bool function(struct work *w, const struct node *a, struct size *out)
{
    struct size base;

    if (exact(w, a, out))
        return true;
    if (a->u.fn == FN_MAX || a->u.fn == FN_MIN)
        return largest(w, a, out);
    if (a->u.fn == FN_LOG && a->n == 2) {
        if (!logarithm(w, a->kid[0], out) || !logarithm(w, a->kid[1], &base))
            return false;
        *out = multiply(*out, inverse(base));
        return true;
    }
    if (a->n != 1)
        return false;
    if (a->u.fn <= FN_CSC)
        return trigonometric(w, a->u.fn, a->kid[0], out);
    if (a->u.fn == FN_LN)
        return logarithm(w, a->kid[0], out);
    return a->u.fn == FN_EXP && exponential(w, a->kid[0], out);
}

static bool quantity(struct work *w, const struct node *a, struct size *out)
{
    mpq_ptr q = rational_take(w->s);
    bool degrees = false,
         ok = q && rational_unit(a->u.unit, q, &degrees) && size_of(w, a->kid[0], out);

    if (ok)
        *out = multiply(*out, of_rational(q));
    if (ok && degrees) {
        w->replaced = true;
        *out = multiply(*out, of_long(w->at->pi));
    }
    if (q)
        rational_give(w->s, 1);
    return ok;
}

static bool fold(struct work *w, const struct node *a, struct size *out)
{
    struct size kid;

    if (!size_of(w, a->kid[0], out))
        return false;
    for (int i = 1; i < a->n; i++) {
        if (!size_of(w, a->kid[i], &kid))
            return false;
        *out = a->kind == NODE_SUM        ? add(*out, kid)
               : a->kind == NODE_QUOTIENT ? multiply(*out, inverse(kid))
                                          : multiply(*out, kid);
    }
    return true;
}

static bool size_of(struct work *w, const struct node *a, struct size *out)
{
    if (!fuel_spend(w->s->math, 40))
        return false;
    switch (a->kind) {
    case NODE_SYMBOL:
        w->replaced = true;
        return exact(w, a, out);
    case NODE_NUMBER:
    case NODE_FACTORIAL:
    case NODE_BINOMIAL:
        return exact(w, a, out);
    case NODE_PI:
    case NODE_E:
        w->replaced = true;
        *out = of_long(a->kind == NODE_PI ? w->at->pi : w->at->e);
        return true;
    case NODE_I:
        w->i = true;
        *out = (struct size){0, 0};
        return true;
    case NODE_SUM:
    case NODE_PRODUCT:
    case NODE_QUOTIENT:
        return fold(w, a, out);
    case NODE_NEGATE:
    case NODE_ABS: /* ball.c takes it of reals only */
        return size_of(w, a->kid[0], out);
    case NODE_POWER:
    case NODE_ROOT:
        return power(w, a, out);
    case NODE_FUNCTION:
        return function(w, a, out);
    case NODE_QUANTITY:
        return quantity(w, a, out);
    default:
        return false;
    }
}

bool bound_find(struct scalar *s, const struct point *at, const struct node *a,
                const struct node *b, struct bound *out)
{
    struct work w = {.s = s, .at = at, .degree = 1, .cycle = 1};
    struct size x, y;

    if (!size_of(&w, a, &x) || !size_of(&w, b, &y))
        return false;
    if (w.i)
        w.cycle = lcm(w.cycle, 4);
    if (w.cycle > 2)
        w.degree *= (double)(w.i ? phi(w.cycle) : phi(w.cycle) / 2);
    x = add(x, y);
    out->bits = ceil((w.degree - 1) * x.u + x.l);
    out->replaced = w.replaced;
    return out->bits <= MAX_PROOF;
}
