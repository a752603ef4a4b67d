/* modular.c - equality at random points of a prime field (Schwartz 1980, Zippel 1979).
 *
 * Two rational functions that agree at a random point of a field of 2^62 elements are
 * equal but for a chance of about degree / 2^62.
 */
#include <string.h>

#include "dapo/mem.h"
#include "math/modular.h"

struct residues residues_same(uint64_t v)
{
    struct residues r = {.defined = ALL_LANES};

    for (int k = 0; k < LANES; k++)
        r.v[k] = v;
    return r;
}

struct residues residues_none(void)
{
    return (struct residues){.defined = 0};
}

struct residues residues_of(mpq_srcptr q)
{
    uint64_t n = field_integer(mpq_numref(q)), d;

    if (!mpz_cmp_ui(mpq_denref(q), 1))
        return residues_same(n);
    d = field_integer(mpq_denref(q));
    return d ? residues_same(field_mul(n, field_inverse(d))) : residues_none();
}

struct residues residues_add(struct residues a, struct residues b)
{
    for (int k = 0; k < LANES; k++)
        a.v[k] = field_add(a.v[k], b.v[k]);
    a.defined &= b.defined;
    return a;
}

struct residues residues_mul(struct residues a, struct residues b)
{
    for (int k = 0; k < LANES; k++)
        a.v[k] = field_mul(a.v[k], b.v[k]);
    a.defined &= b.defined;
    return a;
}

struct residues residues_negate(struct residues a)
{
    for (int k = 0; k < LANES; k++)
        a.v[k] = field_sub(0, a.v[k]);
    return a;
}

/* One inversion for all lanes (Montgomery 1987). */
struct residues residues_inverse(struct residues a)
{
    uint64_t before[LANES], all = field_of(1);

    for (int k = 0; k < LANES; k++) {
        if (!a.v[k]) {
            a.defined &= ~(1u << k);
            a.v[k] = field_of(1);
        }
        before[k] = all;
        all = field_mul(all, a.v[k]);
    }
    all = field_inverse(all);
    for (int k = LANES - 1; k >= 0; k--) {
        uint64_t v = a.v[k];

        a.v[k] = field_mul(all, before[k]);
        all = field_mul(all, v);
    }
    return a;
}

static struct residues residues_mask(struct residues a, unsigned defined)
{
    a.defined &= defined;
    return a;
}

struct residues residues_small_pow(struct residues a, long e)
{
    if (e < 0)
        a = residues_inverse(a);
    for (int k = 0; k < LANES; k++)
        a.v[k] = field_pow(a.v[k], (uint64_t)(e < 0 ? -e : e));
    return a;
}

/* 0^0 = 1. */
struct residues residues_pow(struct residues a, mpz_srcptr e)
{
    uint64_t n;

    if (!mpz_sgn(e))
        return residues_mask(residues_same(field_of(1)), a.defined);
    if (mpz_sgn(e) < 0)
        a = residues_inverse(a);
    n = mpz_cmpabs_ui(e, 1UL << 62) < 0 ? mpz_get_ui(e) : 0;
    if (!n) { /* by Fermat; a lane of 0 stays 0 */
        n = field_exponent(e);
        n = mpz_sgn(e) < 0 ? FIELD_PRIME - 1 - n : n;
        n = n ? n : FIELD_PRIME - 1;
    }
    for (int k = 0; k < LANES; k++)
        a.v[k] = field_pow(a.v[k], n);
    return a;
}

struct residues residues_hash(struct modular *w, uint64_t tag, struct residues a)
{
    w->opaque = true;
    for (int k = 0; k < LANES; k++)
        a.v[k] = field_of(hash64(&a.v[k], sizeof a.v[k], tag));
    return a;
}

struct residues residues_hash_two(struct modular *w, uint64_t tag, struct residues a,
                                  struct residues b)
{
    return residues_hash(w, tag, residues_add(residues_hash(w, tag, a), b));
}

bool residues_positive(struct residues a)
{
    return a.v[0] <= FIELD_PRIME - a.v[0];
}

/* The symbol's coordinate in each lane: a hash of its name. */
static struct residues symbol(const char *name)
{
    struct residues r = {.defined = ALL_LANES};

    for (uint64_t k = 0; k < LANES; k++)
        r.v[k] = field_of(hash64(name, strlen(name), TAG_SYMBOL + (k << 32)));
    return r;
}

static uint64_t head_tag(const struct node *a)
{
    uint64_t tag = TAG_KIND + (uint64_t)a->kind;

    switch (a->kind) {
    case NODE_CALL:
    case NODE_OPAQUE:
    case NODE_WORDS:
    case NODE_NAMED_SET:
        return hash64(a->u.name, strlen(a->u.name), tag);
    case NODE_RELATION:
        return hash64(a->u.ops, (size_t)(a->n - 1) * sizeof *a->u.ops, tag);
    case NODE_LIST:
        return hash64(&a->u.list, sizeof a->u.list, tag);
    case NODE_MATRIX:
        return tag + ((uint64_t)a->u.matrix.rows << 32);
    case NODE_QUANTITY:
        return hash64(a->u.unit->name, strlen(a->u.unit->name), tag);
    default:
        return tag;
    }
}

/* By head and kids in their order.  An unknown function is as good as a symbol: what
 * differs for some function differs; other heads are opaque. */
static struct residues by_head(struct modular *w, const struct node *a)
{
    struct residues r = residues_same(field_of(head_tag(a)));

    for (int i = 0; i < a->n; i++) {
        struct residues kid = modular_value(w, a->kid[i]);
        bool opaque = w->opaque;

        r = residues_add(residues_hash(w, TAG_KIND, r), kid);
        r = residues_hash(w, TAG_CALL, r);
        w->opaque = opaque;
    }
    w->opaque |= a->kind != NODE_CALL;
    return r;
}

/* The exact value of a constant, else false. */
static bool exact(struct modular *w, const struct node *a, struct residues *out)
{
    mpq_ptr q = rational_take(w->s);
    enum value v = q ? rational_value(w->s, a, NULL, q) : VALUE_PASS;

    if (v == VALUE_OK)
        *out = residues_of(q);
    else if (v == VALUE_UNDEFINED)
        *out = residues_none();
    if (q)
        rational_give(w->s, 1);
    return v != VALUE_PASS;
}

/* n! = (n - k)! (n - k + 1) ... n where the tree says n = m + k with an integer k. */
static struct residues factorial(struct modular *w, const struct node *n, long shift)
{
    struct residues r = modular_value(w, n), product = residues_same(w->f->one);
    const struct residues one = residues_same(w->f->one);
    long k = shift;

    for (int i = 0; n->kind == NODE_SUM && i < n->n; i++) {
        const struct node *t = n->kid[i];
        bool minus = t->kind == NODE_NEGATE;

        t = minus ? t->kid[0] : t;
        if (t->kind == NODE_NUMBER && !mpz_cmp_ui(mpq_denref(t->u.number.q), 1) &&
            mpz_cmpabs_ui(mpq_numref(t->u.number.q), 100) < 0)
            k += (minus ? -1 : 1) * mpz_get_si(mpq_numref(t->u.number.q));
    }
    for (long i = 0; i < shift; i++)
        r = residues_add(r, one);
    for (long i = 0; i > shift; i--)
        r = residues_add(r, residues_negate(one));
    if (k > 200 || k < -200)
        return residues_hash(w, TAG_FACTORIAL, r);
    for (; k > 0; k--) {
        product = residues_mul(product, r);
        r = residues_add(r, residues_negate(one));
    }
    for (; k < 0; k++) {
        r = residues_add(r, one);
        product = residues_mul(product, residues_inverse(r));
    }
    return residues_mul(product, residues_hash(w, TAG_FACTORIAL, r));
}

/* (n choose k) with a small k is n (n - 1) ... (n - k + 1) / k!. */
static struct residues binomial(struct modular *w, const struct node *a)
{
    struct residues n = modular_value(w, a->kid[0]), r = residues_same(w->f->one);
    const struct node *k = a->kid[1];
    unsigned long small = 100;

    if (k->kind == NODE_NUMBER && !mpz_cmp_ui(mpq_denref(k->u.number.q), 1) &&
        mpz_sgn(mpq_numref(k->u.number.q)) >= 0 &&
        mpz_cmp_ui(mpq_numref(k->u.number.q), small) < 0)
        small = mpz_get_ui(mpq_numref(k->u.number.q));
    if (small == 100)
        return residues_hash_two(w, TAG_BINOMIAL, n, modular_value(w, k));
    for (unsigned long j = 0; j < small; j++) {
        struct residues t =
            residues_add(n, residues_negate(residues_same(field_of(j))));

        r = residues_mul(r, t);
        r = residues_mul(r, residues_same(field_inverse(field_of(j + 1))));
    }
    return r;
}

static struct residues absolute(struct modular *w, struct residues r)
{
    return residues_hash(w, TAG_ABS, residues_positive(r) ? r : residues_negate(r));
}

/* Angles, percent and counted things; other units only compare with themselves. */
static struct residues quantity(struct modular *w, const struct node *a)
{
    mpq_ptr q = rational_take(w->s);
    struct residues r;
    bool degrees = false;

    if (!q)
        return residues_none();
    if (rational_unit(a->u.unit, q, &degrees)) {
        r = residues_mul(modular_value(w, a->kid[0]), residues_of(q));
        if (degrees)
            r = residues_mul(r, modular_pi(w));
    } else {
        r = by_head(w, a);
    }
    rational_give(w->s, 1);
    return r;
}

struct residues modular_pi(struct modular *w)
{
    w->pi = true;
    return residues_same(field_of(hash64("pi", 2, TAG_SYMBOL)));
}

static struct residues fold(struct modular *w, const struct node *a)
{
    struct residues r = modular_value(w, a->kid[0]);

    for (int i = 1; i < a->n; i++) {
        struct residues t = modular_value(w, a->kid[i]);

        r = a->kind == NODE_SUM ? residues_add(r, t) : residues_mul(r, t);
    }
    return r;
}

struct residues modular_value(struct modular *w, const struct node *a)
{
    struct residues r;

    if (!fuel_spend(w->s->math, 20))
        return residues_none();
    switch (a->kind) {
    case NODE_NUMBER:
        return residues_of(a->u.number.q);
    case NODE_SYMBOL:
        return symbol(a->u.name);
    case NODE_PI:
        return modular_pi(w);
    case NODE_E:
        return modular_e(w);
    case NODE_I:
        return residues_same(w->f->i);
    case NODE_SUM:
    case NODE_PRODUCT:
        return fold(w, a);
    case NODE_NEGATE:
        return residues_negate(modular_value(w, a->kid[0]));
    case NODE_QUOTIENT:
        r = residues_inverse(modular_value(w, a->kid[1]));
        return residues_mul(modular_value(w, a->kid[0]), r);
    case NODE_POWER:
    case NODE_ROOT:
        return modular_power(w, a);
    case NODE_ABS:
        return exact(w, a, &r) ? r : absolute(w, modular_value(w, a->kid[0]));
    case NODE_FACTORIAL:
        return exact(w, a, &r) ? r : factorial(w, a->kid[0], 0);
    case NODE_BINOMIAL:
        return exact(w, a, &r) ? r : binomial(w, a);
    case NODE_FUNCTION:
        if (exact(w, a, &r))
            return r;
        if (a->u.fn == FN_GAMMA && a->n == 1)
            return factorial(w, a->kid[0], -1);
        return modular_function(w, a);
    case NODE_QUANTITY:
        return quantity(w, a);
    case NODE_INFINITY:
    case NODE_PLUSMINUS:
        return residues_none();
    default:
        return by_head(w, a);
    }
}

enum finding modular_compare(struct scalar *s, const struct node *a,
                             const struct node *b)
{
    struct modular w = {.s = s, .f = &s->field};
    struct residues x = modular_value(&w, a), y = modular_value(&w, b);
    unsigned both = x.defined & y.defined;

    if (!both || s->math->fuel > MAX_FUEL)
        return FINDING_PASS;
    for (int k = 0; k < LANES; k++)
        if (both & 1u << k && x.v[k] != y.v[k])
            return w.opaque || (w.pi && w.e) ? FINDING_PASS : FINDING_DIFFERENT;
    return FINDING_EQUAL;
}

/* With 0 = c * 0: equal. */
enum finding modular_proportional(struct scalar *s, const struct node *a,
                                  const struct node *b)
{
    struct modular w = {.s = s, .f = &s->field};
    struct residues x = modular_value(&w, a), y = modular_value(&w, b);
    unsigned both = x.defined & y.defined;
    bool same = true, zero_x = true, zero_y = true;

    if (both != ALL_LANES || s->math->fuel > MAX_FUEL)
        return FINDING_PASS;
    for (int k = 0; k < LANES; k++) {
        zero_x = zero_x && !x.v[k];
        zero_y = zero_y && !y.v[k];
        same = same && field_mul(x.v[k], y.v[0]) == field_mul(x.v[0], y.v[k]);
    }
    if (same && zero_x == zero_y)
        return FINDING_EQUAL;
    return w.opaque || (w.pi && w.e) ? FINDING_PASS : FINDING_DIFFERENT;
}
