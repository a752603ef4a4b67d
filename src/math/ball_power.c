/* ball_power.c - powers, roots and exponentials of balls. */
#include "math/ball.h"

#ifdef HAVE_FLINT

/* Below 2^60 the result has an exponent of at most 61 bits. */
enum value ball_exp(struct ball *w, acb_t x)
{
    if (!ball_below(x, 60) || !ball_spend_function(w, 1))
        return VALUE_PASS;
    acb_exp(x, x, w->prec);
    return VALUE_OK;
}

enum value ball_log(struct ball *w, acb_t x)
{
    if (acb_is_zero(x))
        return VALUE_UNDEFINED;
    if (!ball_spend_function(w, 1))
        return VALUE_PASS;
    w->left_reals |= ball_real(x) && !arb_is_positive(acb_realref(x));
    acb_log(x, x, w->prec);
    return VALUE_OK;
}

/* x^n, |n| < 2^62. */
static enum value integer_power(struct ball *w, acb_t x, mpz_srcptr n)
{
    slong e;

    if (mpz_cmpabs_ui(n, 1UL << 62) >= 0)
        return VALUE_PASS;
    if (mpz_sgn(n) < 0 && acb_is_zero(x))
        return VALUE_UNDEFINED;
    if (!ball_spend(w, 4 * (int)mpz_sizeinbase(n, 2)))
        return VALUE_PASS;
    e = mpz_get_si(n);
    acb_pow_si(x, x, e, w->prec);
    return VALUE_OK;
}

/* A ball around 0 with the k-th root of the largest |x|. */
static void root_of_zero(acb_t x, ulong k, bool real)
{
    mag_t size;

    mag_init(size);
    acb_get_mag(size, x);
    mag_root(size, size, k);
    acb_zero(x);
    arb_add_error_mag(acb_realref(x), size);
    if (!real)
        arb_add_error_mag(acb_imagref(x), size);
    mag_clear(size);
}

/* The principal k-th root; of negative reals and an odd k the real one. */
static enum value root(struct ball *w, acb_t x, mpz_srcptr index)
{
    bool real = ball_real(x), odd = mpz_odd_p(index);
    bool negative = arb_is_negative(acb_realref(x));
    ulong k;

    if (mpz_cmp_ui(index, MAX_BITS) > 0 || !ball_spend_function(w, 1))
        return VALUE_PASS;
    k = mpz_get_ui(index);
    if (!acb_is_finite(x))
        return VALUE_OK;
    if (acb_contains_zero(x)) {
        w->left_reals |= real && !odd && !arb_is_nonnegative(acb_realref(x));
        root_of_zero(x, k, real && odd);
        return VALUE_OK;
    }
    w->left_reals |= real && !odd && negative;
    if (real && odd && negative) {
        acb_neg(x, x);
        acb_root_ui(x, x, k, w->prec);
        acb_neg(x, x);
    } else {
        acb_root_ui(x, x, k, w->prec);
    }
    return VALUE_OK;
}

enum value ball_rational_power(struct ball *w, acb_t x, mpq_srcptr q)
{
    enum value v = VALUE_OK;

    if (mpz_cmp_ui(mpq_denref(q), 1))
        v = root(w, x, mpq_denref(q));
    return v == VALUE_OK ? integer_power(w, x, mpq_numref(q)) : v;
}

/* base^u = e^{u ln base}; 0^u = 0 where u is positive. */
static enum value general_power(struct ball *w, const struct node *a, acb_t out)
{
    bool e = a->kid[0]->kind == NODE_E;
    enum value v = e ? VALUE_OK : ball_value(w, a->kid[0], out);
    acb_t u;

    acb_init(u);
    if (v == VALUE_OK)
        v = ball_value(w, a->kid[1], u);
    if (v == VALUE_OK && a->kind == NODE_ROOT) {
        if (acb_is_zero(u))
            v = VALUE_UNDEFINED;
        else
            acb_inv(u, u, w->prec);
    }
    if (v != VALUE_OK)
        goto out;
    if (e) {
        acb_set(out, u);
        v = ball_exp(w, out);
    } else if (acb_is_zero(out)) {
        v = arb_is_positive(acb_realref(u)) ? VALUE_OK : VALUE_UNDEFINED;
    } else {
        v = ball_log(w, out);
        acb_mul(out, out, u, w->prec);
        if (v == VALUE_OK)
            v = ball_exp(w, out);
    }
out:
    acb_clear(u);
    return v;
}

enum value ball_power(struct ball *w, const struct node *a, acb_t out)
{
    mpq_ptr q = rational_take(w->s);
    enum value v = q ? rational_value(w->s, a->kid[1], w->at, q) : VALUE_UNDEFINED;

    if (v == VALUE_OK && a->kind == NODE_ROOT) {
        if (mpq_sgn(q))
            mpq_inv(q, q);
        else
            v = VALUE_UNDEFINED;
    }
    /* a symbol of value 2^-20 n in an exponent: by logarithms */
    if (v == VALUE_OK && mpz_cmp_ui(mpq_denref(q), MAX_BITS) > 0)
        v = VALUE_PASS;
    if (v == VALUE_OK) {
        v = ball_value(w, a->kid[0], out);
        if (v == VALUE_OK)
            v = ball_rational_power(w, out, q);
    } else if (v == VALUE_PASS) {
        v = general_power(w, a, out);
    }
    if (q)
        rational_give(w->s, 1);
    return v;
}

#else
typedef int without_flint; /* ISO C has no empty files */
#endif
