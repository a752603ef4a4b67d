/* remainder.c - integers too large to write down, modulo one that isn't. */
#include "math/scalar.h"

enum { MAX_MODULUS = 512, MAX_EXPONENT = 4096 }; /* bits */

static bool remainder_of(struct scalar *s, const struct node *a, mpz_srcptr n,
                         mpz_ptr out);

/* An exact integer of the tree; in the numerator of *q. */
static bool integer(struct scalar *s, const struct node *a, mpq_ptr q)
{
    return rational_value(s, a, NULL, q) == VALUE_OK && !mpz_cmp_ui(mpq_denref(q), 1);
}

static bool fold(struct scalar *s, const struct node *a, mpz_srcptr n, mpz_ptr out)
{
    mpq_ptr t = rational_take(s);
    bool ok = t && remainder_of(s, a->kid[0], n, out);

    for (int i = 1; ok && i < a->n; i++) {
        ok = remainder_of(s, a->kid[i], n, mpq_numref(t));
        if (a->kind == NODE_SUM)
            mpz_add(out, out, mpq_numref(t));
        else
            mpz_mul(out, out, mpq_numref(t));
        mpz_fdiv_r(out, out, n);
    }
    if (t) {
        mpz_set_ui(mpq_denref(t), 1);
        rational_give(s, 1);
    }
    return ok;
}

static bool power(struct scalar *s, const struct node *a, mpz_srcptr n, mpz_ptr out)
{
    mpq_ptr e = rational_take(s);
    bool ok = e && integer(s, a->kid[1], e) && mpq_sgn(e) >= 0 &&
              mpz_sizeinbase(mpq_numref(e), 2) <= MAX_EXPONENT &&
              remainder_of(s, a->kid[0], n, out) &&
              fuel_spend(s->math, 200 * (int64_t)mpz_sizeinbase(mpq_numref(e), 2));

    if (ok)
        mpz_powm(out, out, mpq_numref(e), n);
    if (e)
        rational_give(s, 1);
    return ok;
}

static bool remainder_of(struct scalar *s, const struct node *a, mpz_srcptr n,
                         mpz_ptr out)
{
    mpq_ptr q = rational_take(s);
    bool ok = q && fuel_spend(s->math, 100) && integer(s, a, q);

    if (ok)
        mpz_fdiv_r(out, mpq_numref(q), n);
    if (q)
        rational_give(s, 1);
    if (ok)
        return true;
    switch (a->kind) {
    case NODE_SUM:
    case NODE_PRODUCT:
        return fold(s, a, n, out);
    case NODE_NEGATE:
        ok = remainder_of(s, a->kid[0], n, out);
        mpz_neg(out, out);
        mpz_fdiv_r(out, out, n);
        return ok;
    case NODE_POWER:
        return power(s, a, n, out);
    default:
        return false;
    }
}

bool rational_remainder(struct scalar *s, const struct node *a, mpq_srcptr n,
                        mpq_ptr out)
{
    if (mpz_cmp_ui(mpq_denref(n), 1) || mpq_sgn(n) <= 0 ||
        mpz_sizeinbase(mpq_numref(n), 2) > MAX_MODULUS)
        return false;
    mpz_set_ui(mpq_denref(out), 1);
    return remainder_of(s, a, mpq_numref(n), mpq_numref(out));
}
