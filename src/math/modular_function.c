/* modular_function.c - functions as residues: by exponentials, by logarithms of primes,
 * else hashed by their arguments' residues. */
#include "math/modular.h"

static struct residues one(const struct modular *w)
{
    return residues_same(w->f->one);
}

static struct residues half(const struct modular *w, struct residues r)
{
    return residues_mul(r, residues_same(w->f->half));
}

/* -- sine and cosine, circular and hyperbolic ----------------------------------- */
/* *s = sin u and *c = cos u from e^{iu}; sinh and cosh from e^u. */
static void sine_cosine(struct modular *w, const struct node *u, bool circular,
                        struct residues *s, struct residues *c)
{
    struct residues up = modular_exp(w, u, circular), down = residues_inverse(up);

    *c = half(w, residues_add(up, down));
    *s = half(w, residues_add(up, residues_negate(down)));
    if (circular) /* over i: times -i */
        *s = residues_mul(*s, residues_negate(residues_same(w->f->i)));
}

static struct residues trigonometric(struct modular *w, enum fn fn,
                                     const struct node *u)
{
    bool circular = fn <= FN_CSC;
    struct residues s, c;

    sine_cosine(w, u, circular, &s, &c);
    switch (fn) {
    case FN_SIN:
    case FN_SINH:
        return s;
    case FN_COS:
    case FN_COSH:
        return c;
    case FN_TAN:
    case FN_TANH:
        return residues_mul(s, residues_inverse(c));
    case FN_COT:
    case FN_COTH:
        return residues_mul(c, residues_inverse(s));
    case FN_SEC:
        return residues_inverse(c);
    default:
        return residues_inverse(s);
    }
}

/* -- their inverses ------------------------------------------------------------- */
static struct residues turn(struct modular *w, long k)
{
    struct residues r = residues_mul(
        modular_pi(w), residues_same(field_inverse(field_of(FIELD_ANGLES))));

    r = residues_mul(r, residues_same(field_of((uint64_t)(k < 0 ? -k : k))));
    return k < 0 ? residues_negate(r) : r;
}

static bool constant(struct residues r)
{
    bool same = r.defined == ALL_LANES;

    for (int k = 1; k < LANES; k++)
        same = same && r.v[k] == r.v[0];
    return same;
}

/* Arc sine: pi/2 - k pi/120 where cos(k pi/120) is the argument. */
static struct residues arc_sine(struct modular *w, struct residues r)
{
    bool positive = residues_positive(r);

    for (int k = 0; constant(r) && k <= FIELD_ANGLES; k++)
        if (w->f->cos[k] == r.v[0])
            return turn(w, FIELD_ANGLES / 2 - k);
    r = residues_hash(w, TAG_FUNCTION + FN_ASIN, positive ? r : residues_negate(r));
    return positive ? r : residues_negate(r);
}

static struct residues arc_tangent(struct modular *w, struct residues r)
{
    bool positive = residues_positive(r);

    for (int k = 0; constant(r) && k < FIELD_ANGLES / 2; k++) {
        if (w->f->tan[k] == r.v[0])
            return turn(w, k);
        if (field_sub(0, w->f->tan[k]) == r.v[0])
            return turn(w, -k);
    }
    r = residues_hash(w, TAG_FUNCTION + FN_ATAN, positive ? r : residues_negate(r));
    return positive ? r : residues_negate(r);
}

static struct residues complement(struct modular *w, struct residues r)
{
    return residues_add(turn(w, FIELD_ANGLES / 2), residues_negate(r));
}

/* -- logarithms ----------------------------------------------------------------- */
struct log_work {
    struct modular *w;
    struct residues sum;
};

static void log_of_prime(const struct prime_power *p, void *arg)
{
    struct log_work *work = arg;
    struct residues r = residues_same(field_integer(p->prime));
    uint64_t e = field_of((uint64_t)(p->e < 0 ? -p->e : p->e));

    r = residues_mul(residues_hash(work->w, TAG_LN, r), residues_same(e));
    work->sum = residues_add(work->sum, p->e < 0 ? residues_negate(r) : r);
}

/* ln of a rational number other than 0, by its primes; ln(-q) = ln q + i pi. */
static struct residues log_rational(struct modular *w, mpq_ptr q)
{
    struct log_work work = {w, residues_same(0)};

    if (mpq_sgn(q) < 0) {
        work.sum = residues_mul(modular_pi(w), residues_same(w->f->i));
        mpq_neg(q, q);
    }
    return rational_factor(w->s, q, log_of_prime, &work) ? work.sum : residues_none();
}

static struct residues logarithm(struct modular *w, const struct node *a);

/* ln e^u = u of a real u; ln q^u = u ln q of a positive rational q. */
static bool log_of_power(struct modular *w, const struct node *a, struct residues *out)
{
    const struct node *base = a->kid[0], *u = a->kid[1];
    struct residues e;
    mpq_ptr q = rational_take(w->s);
    bool ok =
        q && (base->kind == NODE_E ||
              (rational_value(w->s, base, NULL, q) == VALUE_OK && mpq_sgn(q) > 0));

    if (q)
        rational_give(w->s, 1);
    if (!ok || has_kind(u, NODE_I))
        return false;
    e = modular_value(w, u);
    *out = residues_mul(logarithm(w, base),
                        a->kind == NODE_ROOT ? residues_inverse(e) : e);
    return true;
}

static struct residues logarithm(struct modular *w, const struct node *a)
{
    struct residues r = residues_none();
    mpq_ptr q = rational_take(w->s);
    enum value v = q ? rational_value(w->s, a, NULL, q) : VALUE_UNDEFINED;

    if (v == VALUE_OK && mpq_sgn(q))
        r = log_rational(w, q);
    else if (v == VALUE_PASS && a->kind == NODE_E)
        r = one(w);
    else if (v == VALUE_PASS && a->kind == NODE_FUNCTION && a->u.fn == FN_EXP &&
             a->n == 1 && !has_kind(a->kid[0], NODE_I))
        r = modular_value(w, a->kid[0]);
    else if (v == VALUE_PASS && !((a->kind == NODE_POWER || a->kind == NODE_ROOT) &&
                                  log_of_power(w, a, &r)))
        r = residues_hash(w, TAG_LN, modular_value(w, a));
    if (q)
        rational_give(w->s, 1);
    return r;
}

/* -- all ------------------------------------------------------------------------ */
/* gcd, lcm, max and min don't depend on the order of their arguments. */
static struct residues by_arguments(struct modular *w, const struct node *a)
{
    bool any_order = a->u.fn == FN_GCD || a->u.fn == FN_LCM || a->u.fn == FN_MAX ||
                     a->u.fn == FN_MIN;
    uint64_t tag = TAG_FUNCTION + (uint64_t)a->u.fn;
    struct residues r = residues_same(0);

    for (int i = 0; i < a->n; i++) {
        struct residues kid =
            residues_hash(w, tag + ((uint64_t)(any_order ? 1 : i + 1) << 32),
                          modular_value(w, a->kid[i]));

        r = residues_add(r, kid);
    }
    return residues_hash(w, tag, r);
}

struct residues modular_function(struct modular *w, const struct node *a)
{
    const struct node *u = a->n ? a->kid[0] : NULL;

    if (a->u.fn == FN_LOG && a->n == 2)
        return residues_mul(logarithm(w, u), residues_inverse(logarithm(w, a->kid[1])));
    if (a->n != 1)
        return by_arguments(w, a);
    switch (a->u.fn) {
    case FN_SIN:
    case FN_COS:
    case FN_TAN:
    case FN_COT:
    case FN_SEC:
    case FN_CSC:
    case FN_SINH:
    case FN_COSH:
    case FN_TANH:
    case FN_COTH:
        return trigonometric(w, a->u.fn, u);
    case FN_ASIN:
        return arc_sine(w, modular_value(w, u));
    case FN_ACOS:
        return complement(w, arc_sine(w, modular_value(w, u)));
    case FN_ATAN:
        return arc_tangent(w, modular_value(w, u));
    case FN_ACOT:
        return complement(w, arc_tangent(w, modular_value(w, u)));
    case FN_ACSC:
        return arc_sine(w, residues_inverse(modular_value(w, u)));
    case FN_ASEC:
        return complement(w, arc_sine(w, residues_inverse(modular_value(w, u))));
    case FN_LN:
        return logarithm(w, u);
    case FN_EXP:
        return modular_exp(w, u, false);
    default:
        return by_arguments(w, a);
    }
}
