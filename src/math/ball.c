/* ball.c - a tree at a point as a complex ball (Johansson, Arb: efficient
 * arbitrary-precision midpoint-radius interval arithmetic, 2017). */
#include "math/ball.h"

#ifdef HAVE_FLINT

bool ball_spend(const struct ball *w, int weight)
{
    return fuel_spend(w->s->math, 30 + (int64_t)weight * w->prec);
}

bool ball_spend_function(const struct ball *w, int weight)
{
    return ball_spend(w, weight * (int)(16 + w->prec / 512));
}

bool ball_real(const acb_t x)
{
    return arb_is_zero(acb_imagref(x));
}

bool ball_below(const acb_t x, slong e)
{
    mag_t size;
    bool below;

    mag_init(size);
    acb_get_mag(size, x);
    below = mag_cmp_2exp_si(size, e) < 0;
    mag_clear(size);
    return below;
}

void ball_set(struct ball *w, acb_t out, mpq_srcptr q)
{
    fmpq_t r;

    fmpq_init(r);
    fmpq_set_mpq(r, q);
    acb_set_fmpq(out, r, w->prec);
    fmpq_clear(r);
}

bool ball_exact(struct ball *w, const struct node *a, acb_t out)
{
    mpq_ptr q = rational_take(w->s);
    bool ok = q && rational_value(w->s, a, w->at, q) == VALUE_OK;

    if (ok)
        ball_set(w, out, q);
    if (q)
        rational_give(w->s, 1);
    return ok;
}

static enum value fold(struct ball *w, const struct node *a, acb_t out)
{
    enum value v = ball_value(w, a->kid[0], out);
    acb_t t;

    acb_init(t);
    for (int i = 1; v == VALUE_OK && i < a->n; i++) {
        v = ball_value(w, a->kid[i], t);
        if (!ball_spend(w, a->kind == NODE_SUM ? 1 : 2))
            v = VALUE_PASS;
        if (v != VALUE_OK)
            break;
        if (a->kind == NODE_SUM)
            acb_add(out, out, t, w->prec);
        else
            acb_mul(out, out, t, w->prec);
    }
    acb_clear(t);
    return v;
}

static enum value quotient(struct ball *w, const struct node *a, acb_t out)
{
    enum value v = ball_value(w, a->kid[0], out);
    acb_t t;

    acb_init(t);
    if (v == VALUE_OK)
        v = ball_value(w, a->kid[1], t);
    if (v == VALUE_OK && acb_is_zero(t))
        v = VALUE_UNDEFINED;
    if (v == VALUE_OK && !ball_spend(w, 4))
        v = VALUE_PASS;
    if (v == VALUE_OK)
        acb_div(out, out, t, w->prec);
    acb_clear(t);
    return v;
}

/* n! = Gamma(n + 1), of what isn't a small integer. */
enum value ball_factorial(struct ball *w, acb_t x)
{
    slong prec = w->prec < GAMMA_BITS ? w->prec : GAMMA_BITS;

    if (!ball_below(x, 64) || !ball_spend(w, 2) ||
        !fuel_spend(w->s->math, 400 * (int64_t)prec))
        return VALUE_PASS;
    w->capped = w->capped || w->prec > GAMMA_BITS;
    acb_add_ui(x, x, 1, w->prec);
    acb_gamma(x, x, prec);
    return VALUE_OK;
}

/* Gamma(n + 1) / (Gamma(k + 1) Gamma(n - k + 1)) */
static enum value binomial(struct ball *w, const struct node *a, acb_t out)
{
    enum value v = ball_value(w, a->kid[0], out);
    acb_t k, rest;

    acb_init(k);
    acb_init(rest);
    if (v == VALUE_OK)
        v = ball_value(w, a->kid[1], k);
    if (v == VALUE_OK) {
        acb_sub(rest, out, k, w->prec);
        v = ball_factorial(w, out);
    }
    if (v == VALUE_OK)
        v = ball_factorial(w, k);
    if (v == VALUE_OK)
        v = ball_factorial(w, rest);
    if (v == VALUE_OK) {
        acb_mul(k, k, rest, w->prec);
        acb_div(out, out, k, w->prec);
    }
    acb_clear(k);
    acb_clear(rest);
    return v;
}

static enum value absolute(struct ball *w, const struct node *a, acb_t out)
{
    enum value v = ball_value(w, a->kid[0], out);

    if (v != VALUE_OK)
        return v;
    if (!ball_real(out) && w->at->integers)
        return VALUE_PASS; /* bound.c took it for one of +-x */
    acb_abs(acb_realref(out), out, w->prec);
    arb_zero(acb_imagref(out));
    return ball_spend(w, 3) ? VALUE_OK : VALUE_PASS;
}

static enum value quantity(struct ball *w, const struct node *a, acb_t out)
{
    mpq_ptr q = rational_take(w->s);
    bool degrees = false;
    enum value v = VALUE_PASS;
    acb_t factor;

    acb_init(factor);
    if (q && rational_unit(a->u.unit, q, &degrees))
        v = ball_value(w, a->kid[0], out);
    if (v == VALUE_OK) {
        ball_set(w, factor, q);
        acb_mul(out, out, factor, w->prec);
        if (degrees && w->at->integers)
            acb_mul_si(out, out, w->at->pi, w->prec);
        else if (degrees) {
            acb_const_pi(factor, w->prec);
            acb_mul(out, out, factor, w->prec);
        }
    }
    if (q)
        rational_give(w->s, 1);
    acb_clear(factor);
    return v;
}

static enum value constant(struct ball *w, const struct node *a, acb_t out)
{
    if (!ball_spend_function(w, 1))
        return VALUE_PASS;
    if (a->kind == NODE_I)
        acb_onei(out);
    else if (w->at->integers)
        acb_set_si(out, a->kind == NODE_PI ? w->at->pi : w->at->e);
    else if (a->kind == NODE_PI)
        acb_const_pi(out, w->prec);
    else {
        acb_zero(out);
        arb_const_e(acb_realref(out), w->prec);
    }
    return VALUE_OK;
}

enum value ball_value(struct ball *w, const struct node *a, acb_t out)
{
    enum value v;

    if (!ball_spend(w, 1))
        return VALUE_PASS;
    switch (a->kind) {
    case NODE_NUMBER:
    case NODE_SYMBOL:
        return ball_exact(w, a, out) ? VALUE_OK : VALUE_PASS;
    case NODE_PI:
    case NODE_E:
    case NODE_I:
        return constant(w, a, out);
    case NODE_SUM:
    case NODE_PRODUCT:
        return fold(w, a, out);
    case NODE_NEGATE:
        v = ball_value(w, a->kid[0], out);
        acb_neg(out, out);
        return v;
    case NODE_QUOTIENT:
        return quotient(w, a, out);
    case NODE_POWER:
    case NODE_ROOT:
        return ball_power(w, a, out);
    case NODE_ABS:
        return absolute(w, a, out);
    case NODE_FACTORIAL:
        if (ball_exact(w, a, out))
            return VALUE_OK;
        v = ball_value(w, a->kid[0], out);
        return v == VALUE_OK ? ball_factorial(w, out) : v;
    case NODE_BINOMIAL:
        return ball_exact(w, a, out) ? VALUE_OK : binomial(w, a, out);
    case NODE_FUNCTION:
        return ball_exact(w, a, out) ? VALUE_OK : ball_function(w, a, out);
    case NODE_QUANTITY:
        return quantity(w, a, out);
    default:
        return VALUE_PASS;
    }
}

#else
typedef int without_flint; /* ISO C has no empty files */
#endif
