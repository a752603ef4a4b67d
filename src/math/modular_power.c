/* modular_power.c - powers, roots and exponentials as residues.
 *
 * Roots: sqrt of a rational number whose primes are known squares is exact; everything
 * else is hashed.  Exponentials: b^(u + v) = b^u b^v and b^(ku) = (b^u)^k for integers
 * k, so b^u is the product over the terms of u of powers of hashed values, one for each
 * term without its rational coefficient.  With i a residue, cos and sin are made of
 * e^{iu}: addition theorems, multiple angles and sin^2 + cos^2 = 1 hold by themselves.
 */
#include "math/modular.h"

/* A coefficient n / d has a power of its own if d divides this: the hashed value stands
 * for b^{u / FRACTIONS}. */
enum { FRACTIONS = 720720 };

/* -- roots of rational numbers ------------------------------------------------------
 */
struct root_work {
    struct modular *w;
    struct residues r;
    unsigned long k;
};

/* The square root of a prime: of a small one from the table; below 101^2 what is left
 * is prime too, and any of its roots will do; others are hashed. */
static struct residues prime_root(struct modular *w, const struct prime_power *p)
{
    uint64_t r = field_integer(p->prime);

    if (p->small >= 0)
        return residues_same(w->f->root[p->small]);
    if (mpz_cmp_ui(p->prime, 101 * 101) < 0 && field_root(r, &r))
        return residues_same(r);
    return residues_hash(w, TAG_ROOT + (2 << 8), residues_same(r));
}

static long common(long a, long b)
{
    while (b) {
        long r = a % b;

        a = b;
        b = r;
    }
    return a;
}

/* p^{e / k}: whole powers, then the root of the rest in lowest terms. */
static void root_of_prime(const struct prime_power *p, void *arg)
{
    struct root_work *work = arg;
    struct modular *w = work->w;
    long k = (long)work->k, whole, rest, g;
    struct residues base = residues_same(field_integer(p->prime)), root;

    whole = p->e / k - (p->e % k < 0);
    rest = p->e - whole * k;
    work->r = residues_mul(work->r, residues_small_pow(base, whole));
    if (!rest)
        return;
    g = common(rest, k);
    root = k / g == 2 ? prime_root(w, p)
                      : residues_hash(w, TAG_ROOT + ((uint64_t)(k / g) << 8), base);
    work->r = residues_mul(work->r, residues_small_pow(root, rest / g));
}

struct residues modular_root(struct modular *w, mpq_srcptr q, mpz_srcptr k)
{
    struct root_work work = {.w = w, .r = residues_same(w->f->one)};
    mpq_ptr positive;
    bool ok;

    if (!mpq_sgn(q))
        return residues_same(0);
    if (mpz_cmp_ui(k, MAX_BITS) > 0 ||
        (mpq_sgn(q) < 0 && mpz_even_p(k) && mpz_cmp_ui(k, 2)))
        return residues_hash(w, TAG_ROOT + (field_integer(k) << 8), residues_of(q));
    work.k = mpz_get_ui(k);
    positive = rational_take(w->s);
    if (!positive)
        return residues_none();
    mpq_abs(positive, q);
    ok = rational_factor(w->s, positive, root_of_prime, &work);
    rational_give(w->s, 1);
    if (!ok)
        return residues_none();
    if (mpq_sgn(q) < 0)
        work.r = work.k == 2 ? residues_mul(work.r, residues_same(w->f->i))
                             : residues_negate(work.r);
    return work.r;
}

/* -- exponentials ---------------------------------------------------------------------
 */
struct base {
    enum { BASE_E, BASE_PRIME, BASE_OTHER } kind;
    bool times_i;          /* of BASE_E: the exponent is iu */
    mpz_srcptr prime;      /* of BASE_PRIME */
    struct residues value; /* of BASE_OTHER; not 0 */
};

static struct residues exponential(struct modular *w, const struct base *b, mpq_ptr c,
                                   const struct node *u);

/* root^(c * FRACTIONS) of a root that stands for a power of 1 / FRACTIONS; false if
 * that isn't a whole power. */
static bool whole_power(struct residues root, mpq_srcptr c, struct residues *out)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t e, den;

    if (mpz_cmp_ui(mpq_denref(c), FRACTIONS) > 0)
        return false;
    den = mpz_get_ui(mpq_denref(c));
    if (FRACTIONS % den)
        return false;
    e = (uint64_t)((wide)field_exponent(mpq_numref(c)) * (FRACTIONS / den) %
                   (FIELD_PRIME - 1));
    for (int k = 0; k < LANES; k++)
        root.v[k] = field_pow(root.v[k], e);
    *out = root;
    return true;
}

/* e^c; e^{1 / FRACTIONS} is as transcendental as e. */
static struct residues power_of_e(struct modular *w, mpq_srcptr c)
{
    struct residues r, root = residues_same(field_of(UINT64_C(0x9E3779B97F4A7C15)));

    w->e = true;
    return whole_power(root, c, &r) ? r : residues_hash(w, TAG_EXP, residues_of(c));
}

struct residues modular_e(struct modular *w)
{
    struct residues r = residues_none();
    mpq_ptr one = rational_take(w->s);

    if (one) {
        mpq_set_ui(one, 1, 1);
        r = power_of_e(w, one);
        rational_give(w->s, 1);
    }
    return r;
}

static struct residues base_hash(struct modular *w, const struct base *b,
                                 struct residues r)
{
    if (b->kind == BASE_E)
        return residues_hash(w, TAG_EXP, r);
    if (b->kind == BASE_PRIME)
        return residues_hash(w, TAG_POWER + (field_integer(b->prime) << 8), r);
    return residues_hash_two(w, TAG_POWER, b->value, r);
}

/* e^{c r} where r = i pi: a root of unity. */
static bool unity(const struct modular *w, const struct base *b, mpq_srcptr c,
                  struct residues r, uint64_t *out)
{
    uint64_t turn = field_mul(modular_pi(&(struct modular){0}).v[0], w->f->i);

    return b->kind == BASE_E && r.v[0] == turn && r.v[LANES - 1] == turn &&
           field_unity(w->f, c, out);
}

/* b^{c u} of a term u with residues r.  u and -u share one hashed value. */
static struct residues leaf(struct modular *w, const struct base *b, mpq_ptr c,
                            struct residues r)
{
    struct residues out;
    uint64_t one;

    if (b->times_i)
        r = residues_mul(r, residues_same(w->f->i));
    if (unity(w, b, c, r, &one))
        return residues_same(one);
    r = residues_negate(r);
    mpq_neg(c, c);
    if (unity(w, b, c, r, &one))
        return residues_same(one);
    if (!residues_positive(r)) {
        r = residues_negate(r);
        mpq_neg(c, c);
    }
    if (whole_power(base_hash(w, b, r), c, &out)) {
        out.defined = r.defined;
        return out;
    }
    return base_hash(w, b, residues_mul(r, residues_of(c)));
}

/* b^c with an exact c. */
static struct residues numeric(struct modular *w, const struct base *b, mpq_ptr c)
{
    struct residues r = b->value;
    bool whole = !mpz_cmp_ui(mpq_denref(c), 1);

    if (!mpq_sgn(c))
        return residues_same(w->f->one);
    if (b->kind == BASE_E)
        return b->times_i ? leaf(w, b, c, residues_same(w->f->one)) : power_of_e(w, c);
    if (b->kind == BASE_PRIME && whole) {
        r = residues_same(field_integer(b->prime));
    } else if (b->kind == BASE_PRIME) {
        mpq_ptr q = rational_take(w->s);

        if (!q)
            return residues_none();
        mpq_set_z(q, b->prime);
        r = modular_root(w, q, mpq_denref(c));
        rational_give(w->s, 1);
    } else if (!whole) {
        r = residues_hash(w, TAG_ROOT + (field_integer(mpq_denref(c)) << 8), r);
    }
    return residues_pow(r, mpq_numref(c));
}

/* c *= the exact value of u, if it has one. */
static bool absorb(struct modular *w, mpq_ptr c, const struct node *u, bool divide)
{
    mpq_ptr q = rational_take(w->s);
    bool ok = q && rational_value(w->s, u, NULL, q) == VALUE_OK &&
              !(divide && !mpq_sgn(q)) &&
              rational_bits(q) + rational_bits(c) <= MAX_BITS;

    if (ok && divide)
        mpq_div(c, c, q);
    else if (ok)
        mpq_mul(c, c, q);
    if (q)
        rational_give(w->s, 1);
    return ok;
}

/* Rational factors go into c; what is left is one node or a product of residues. */
static struct residues of_product(struct modular *w, const struct base *b, mpq_ptr c,
                                  const struct node *u)
{
    struct residues rest = residues_same(w->f->one);
    const struct node *single = NULL;
    int others = 0;

    for (int i = 0; i < u->n; i++) {
        if (absorb(w, c, u->kid[i], false))
            continue;
        if (others++)
            rest = residues_mul(rest, modular_value(w, u->kid[i]));
        else
            single = u->kid[i];
    }
    if (others == 1)
        return exponential(w, b, c, single);
    return leaf(w, b, c, residues_mul(rest, modular_value(w, single)));
}

/* b^{cu} = the product of b^{ct} over the terms t of u. */
static struct residues of_sum(struct modular *w, const struct base *b, mpq_ptr c,
                              const struct node *u)
{
    struct residues r = residues_same(w->f->one);
    mpq_ptr each = rational_take(w->s);

    if (!each)
        return residues_none();
    for (int i = 0; i < u->n; i++) {
        mpq_set(each, c);
        r = residues_mul(r, exponential(w, b, each, u->kid[i]));
    }
    rational_give(w->s, 1);
    return r;
}

static struct residues of_quotient(struct modular *w, const struct base *b, mpq_ptr c,
                                   const struct node *u)
{
    if (absorb(w, c, u->kid[1], true))
        return exponential(w, b, c, u->kid[0]);
    if (absorb(w, c, u->kid[0], false))
        return leaf(w, b, c, residues_inverse(modular_value(w, u->kid[1])));
    return leaf(w, b, c, modular_value(w, u));
}

static struct residues of_quantity(struct modular *w, const struct base *b, mpq_ptr c,
                                   const struct node *u)
{
    mpq_ptr q = rational_take(w->s);
    bool degrees = false, unit = q && rational_unit(u->u.unit, q, &degrees);

    if (unit)
        mpq_mul(c, c, q);
    if (q)
        rational_give(w->s, 1);
    if (!unit)
        return leaf(w, b, c, modular_value(w, u));
    if (!degrees)
        return exponential(w, b, c, u->kid[0]);
    if (absorb(w, c, u->kid[0], false))
        return leaf(w, b, c, modular_pi(w));
    return leaf(w, b, c, residues_mul(modular_pi(w), modular_value(w, u->kid[0])));
}

/* b^{cu}; c is used up. */
static struct residues exponential(struct modular *w, const struct base *b, mpq_ptr c,
                                   const struct node *u)
{
    if (!fuel_spend(w->s->math, 20))
        return residues_none();
    if (absorb(w, c, u, false))
        return numeric(w, b, c);
    switch (u->kind) {
    case NODE_NEGATE:
        mpq_neg(c, c);
        return exponential(w, b, c, u->kid[0]);
    case NODE_SUM:
        return of_sum(w, b, c, u);
    case NODE_PRODUCT:
        return of_product(w, b, c, u);
    case NODE_QUOTIENT:
        return of_quotient(w, b, c, u);
    case NODE_QUANTITY:
        return of_quantity(w, b, c, u);
    default:
        return leaf(w, b, c, modular_value(w, u));
    }
}

struct residues modular_exp(struct modular *w, const struct node *u, bool times_i)
{
    struct residues r = residues_none();
    mpq_ptr c = rational_take(w->s);

    if (c) {
        mpq_set_ui(c, 1, 1);
        r = exponential(w, &(struct base){.kind = BASE_E, .times_i = times_i}, c, u);
        rational_give(w->s, 1);
    }
    return r;
}

/* -- powers --------------------------------------------------------------------- */
struct power_work {
    struct modular *w;
    struct residues r;
    const struct node *exponent;
};

static void power_of_prime(const struct prime_power *p, void *arg)
{
    struct power_work *work = arg;
    struct modular *w = work->w;
    struct residues r = residues_none();
    mpq_ptr c = rational_take(w->s);

    if (c) {
        mpq_set_si(c, p->e, 1);
        r = exponential(w, &(struct base){.kind = BASE_PRIME, .prime = p->prime}, c,
                        work->exponent);
        rational_give(w->s, 1);
    }
    work->r = residues_mul(work->r, r);
}

static bool has_zero(struct residues r)
{
    bool zero = false;

    for (int k = 0; k < LANES; k++)
        zero |= !r.v[k];
    return zero;
}

/* base^u with a u that isn't rational. */
static struct residues symbolic_power(struct modular *w, const struct node *base,
                                      const struct node *u)
{
    struct power_work work = {w, residues_same(w->f->one), u};
    struct residues value;
    mpq_ptr q;

    if (base->kind == NODE_E)
        return modular_exp(w, u, false);
    q = rational_take(w->s);
    if (q && rational_value(w->s, base, NULL, q) == VALUE_OK && mpq_sgn(q) > 0) {
        if (!rational_factor(w->s, q, power_of_prime, &work))
            work.r = residues_none();
        rational_give(w->s, 1);
        return work.r;
    }
    rational_give(w->s, q ? 1 : 0);
    value = modular_value(w, base);
    q = has_zero(value) ? NULL : rational_take(w->s);
    if (!q)
        return residues_hash(
            w, TAG_POWER,
            residues_add(residues_hash(w, TAG_POWER + 1, value), modular_value(w, u)));
    mpq_set_ui(q, 1, 1);
    value = exponential(w, &(struct base){.kind = BASE_OTHER, .value = value}, q, u);
    rational_give(w->s, 1);
    return value;
}

/* base^q with an exact q = n / d: the n-th power of the d-th root. */
static struct residues rational_power(struct modular *w, const struct node *base,
                                      mpq_srcptr q)
{
    struct residues r;
    mpq_ptr b;

    if (!mpz_cmp_ui(mpq_denref(q), 1))
        return residues_pow(modular_value(w, base), mpq_numref(q));
    if (base->kind == NODE_E)
        return power_of_e(w, q);
    b = rational_take(w->s);
    if (b && rational_value(w->s, base, NULL, b) == VALUE_OK)
        r = modular_root(w, b, mpq_denref(q));
    else
        r = residues_hash(w, TAG_ROOT + (field_integer(mpq_denref(q)) << 8),
                          modular_value(w, base));
    if (b)
        rational_give(w->s, 1);
    return residues_pow(r, mpq_numref(q));
}

struct residues modular_power(struct modular *w, const struct node *a)
{
    mpq_ptr q = rational_take(w->s);
    enum value v = q ? rational_value(w->s, a->kid[1], NULL, q) : VALUE_UNDEFINED;
    struct residues r = residues_none();

    if (v == VALUE_OK && a->kind == NODE_ROOT && mpq_sgn(q))
        mpq_inv(q, q);
    else if (v == VALUE_OK && a->kind == NODE_ROOT)
        v = VALUE_UNDEFINED;
    if (v == VALUE_OK)
        r = rational_power(w, a->kid[0], q);
    else if (v == VALUE_PASS && a->kind == NODE_POWER)
        r = symbolic_power(w, a->kid[0], a->kid[1]);
    else if (v == VALUE_PASS)
        r = residues_hash_two(w, TAG_ROOT, modular_value(w, a->kid[0]),
                              modular_value(w, a->kid[1]));
    if (q)
        rational_give(w->s, 1);
    return r;
}
