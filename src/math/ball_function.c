/* ball_function.c - functions of balls. */
#include "math/ball.h"

#ifdef HAVE_FLINT

/* -- sine, cosine and their quotients ------------------------------------------- */
/* Of q pi by its own functions: sin(pi / 6) is exactly 1/2. */
static void sine_cosine_turn(struct ball *w, mpq_srcptr q, acb_t s, acb_t c)
{
    fmpq_t turn;

    fmpq_init(turn);
    fmpq_set_mpq(turn, q);
    acb_zero(s);
    acb_zero(c);
    arb_sin_cos_pi_fmpq(acb_realref(s), acb_realref(c), turn, w->prec);
    fmpq_clear(turn);
}

static enum value sine_cosine(struct ball *w, const struct node *u, bool circular,
                              acb_t s, acb_t c)
{
    mpq_ptr q = rational_take(w->s);
    bool turn = circular && q && rational_turn(w->s, u, q) && rational_bits(q) < 4096;
    enum value v = VALUE_OK;

    if (turn) {
        sine_cosine_turn(w, q, s, c);
    } else if (w->at->integers) {
        v = VALUE_PASS; /* bound.c passed e^u with exact u only */
    } else {
        v = ball_value(w, u, s);
        if (v == VALUE_OK && !ball_below(s, circular && ball_real(s) ? 2000 : 60))
            v = VALUE_PASS;
        if (v == VALUE_OK && circular)
            acb_sin_cos(s, c, s, w->prec);
        else if (v == VALUE_OK)
            acb_sinh_cosh(s, c, s, w->prec);
    }
    if (q)
        rational_give(w->s, 1);
    return ball_spend_function(w, 2) ? v : VALUE_PASS;
}

static enum value divide(struct ball *w, acb_t out, const acb_t x, const acb_t y)
{
    if (acb_is_zero(y))
        return VALUE_UNDEFINED;
    acb_div(out, x, y, w->prec);
    return ball_spend(w, 4) ? VALUE_OK : VALUE_PASS;
}

static enum value trigonometric(struct ball *w, enum fn fn, const struct node *u,
                                acb_t out)
{
    acb_t s, c, one;
    enum value v;

    acb_init(s);
    acb_init(c);
    acb_init(one);
    acb_one(one);
    v = sine_cosine(w, u, fn <= FN_CSC, s, c);
    if (v == VALUE_OK) {
        if (fn == FN_SIN || fn == FN_SINH)
            acb_set(out, s);
        else if (fn == FN_COS || fn == FN_COSH)
            acb_set(out, c);
        else if (fn == FN_TAN || fn == FN_TANH)
            v = divide(w, out, s, c);
        else if (fn == FN_COT || fn == FN_COTH)
            v = divide(w, out, c, s);
        else if (fn == FN_SEC)
            v = divide(w, out, one, c);
        else
            v = divide(w, out, one, s);
    }
    acb_clear(s);
    acb_clear(c);
    acb_clear(one);
    return v;
}

/* -- inverse functions ---------------------------------------------------------- */
/* x = pi/2 - x */
static void complement(struct ball *w, acb_t x)
{
    acb_t half_pi;

    acb_init(half_pi);
    acb_const_pi(half_pi, w->prec);
    acb_mul_2exp_si(half_pi, half_pi, -1);
    acb_sub(x, half_pi, x, w->prec);
    acb_clear(half_pi);
}

static enum value inverse(struct ball *w, enum fn fn, acb_t x)
{
    bool real = ball_real(x);

    if (fn == FN_ASEC || fn == FN_ACSC) {
        if (acb_is_zero(x))
            return VALUE_UNDEFINED;
        acb_inv(x, x, w->prec);
    }
    switch (fn) {
    case FN_ASIN:
    case FN_ACSC:
        acb_asin(x, x, w->prec);
        break;
    case FN_ACOS:
    case FN_ASEC:
        acb_acos(x, x, w->prec);
        break;
    case FN_ATAN:
        acb_atan(x, x, w->prec);
        break;
    case FN_ACOT: /* of reals in (0, pi) */
        acb_atan(x, x, w->prec);
        complement(w, x);
        break;
    case FN_ASINH:
        acb_asinh(x, x, w->prec);
        break;
    case FN_ACOSH:
        acb_acosh(x, x, w->prec);
        break;
    default:
        acb_atanh(x, x, w->prec);
    }
    w->left_reals |= real && !ball_real(x);
    return ball_spend_function(w, 4) ? VALUE_OK : VALUE_PASS;
}

/* -- logarithms ----------------------------------------------------------------- */
/* At a point of integers: of rational numbers. */
static enum value log_exact(struct ball *w, const struct node *u, acb_t out)
{
    mpq_ptr q = rational_take(w->s);
    bool ok = q && rational_value(w->s, u, w->at, q) == VALUE_OK &&
              rational_log(w->s, w->at, q);

    if (ok)
        ball_set(w, out, q);
    if (q)
        rational_give(w->s, 1);
    return ok ? VALUE_OK : VALUE_PASS;
}

static enum value logarithm(struct ball *w, const struct node *u, acb_t out)
{
    enum value v;

    if (w->at->integers) {
        if (u->kind != NODE_E)
            return log_exact(w, u, out);
        acb_one(out);
        return VALUE_OK;
    }
    v = ball_value(w, u, out);
    return v == VALUE_OK ? ball_log(w, out) : v;
}

static enum value logarithm_to_base(struct ball *w, const struct node *a, acb_t out)
{
    enum value v = logarithm(w, a->kid[0], out);
    acb_t b;

    acb_init(b);
    if (v == VALUE_OK)
        v = logarithm(w, a->kid[1], b);
    if (v == VALUE_OK)
        v = divide(w, out, out, b);
    acb_clear(b);
    return v;
}

static enum value exponential(struct ball *w, const struct node *u, acb_t out)
{
    mpq_ptr q = rational_take(w->s);
    enum value v;

    if (w->at->integers) {
        v = q ? rational_value(w->s, u, w->at, q) : VALUE_PASS;
        acb_set_si(out, w->at->e);
        if (v == VALUE_OK)
            v = ball_rational_power(w, out, q);
    } else {
        v = ball_value(w, u, out);
        if (v == VALUE_OK)
            v = ball_exp(w, out);
    }
    if (q)
        rational_give(w->s, 1);
    return v;
}

/* -- parts of numbers ----------------------------------------------------------- */
static enum value part(struct ball *w, enum fn fn, acb_t x)
{
    arb_ptr re = acb_realref(x), im = acb_imagref(x);
    arb_t angle;

    if ((fn == FN_FLOOR || fn == FN_CEIL) && !ball_real(x))
        return VALUE_PASS;
    switch (fn) {
    case FN_FLOOR:
        arb_floor(re, re, w->prec);
        break;
    case FN_CEIL:
        arb_ceil(re, re, w->prec);
        break;
    case FN_CONJ:
        acb_conj(x, x);
        break;
    case FN_IM:
        arb_set(re, im);
        arb_zero(im);
        break;
    case FN_RE:
        arb_zero(im);
        break;
    case FN_ARG:
        arb_init(angle);
        acb_arg(angle, x, w->prec);
        acb_set_arb(x, angle);
        arb_clear(angle);
        break;
    default: /* FN_SGN */
        if (acb_is_zero(x))
            break;
        acb_sgn(x, x, w->prec);
    }
    return ball_spend_function(w, 1) ? VALUE_OK : VALUE_PASS;
}

/* max, min; x mod y = x - y floor(x / y) */
static enum value of_reals(struct ball *w, const struct node *a, acb_t out)
{
    enum value v = ball_value(w, a->kid[0], out);
    arb_ptr x = acb_realref(out), y;
    acb_t t;

    acb_init(t);
    y = acb_realref(t);
    for (int i = 1; v == VALUE_OK && i < a->n; i++) {
        v = ball_value(w, a->kid[i], t);
        if (v == VALUE_OK && (!ball_real(out) || !ball_real(t) || !ball_spend(w, 8)))
            v = VALUE_PASS;
        if (v == VALUE_OK && a->u.fn == FN_MOD && acb_is_zero(t))
            v = VALUE_UNDEFINED;
        if (v != VALUE_OK)
            break;
        if (a->u.fn == FN_MAX) {
            arb_max(x, x, y, w->prec);
        } else if (a->u.fn == FN_MIN) {
            arb_min(x, x, y, w->prec);
        } else {
            arb_t n;

            arb_init(n);
            arb_div(n, x, y, w->prec);
            arb_floor(n, n, w->prec);
            arb_submul(x, n, y, w->prec);
            arb_clear(n);
        }
    }
    acb_clear(t);
    return v;
}

/* Functions of one argument that is evaluated first. */
static enum value of_value(struct ball *w, const struct node *a, acb_t out)
{
    enum value v = ball_value(w, a->kid[0], out);

    if (v != VALUE_OK)
        return v;
    switch (a->u.fn) {
    case FN_ASIN:
    case FN_ACOS:
    case FN_ATAN:
    case FN_ACOT:
    case FN_ASEC:
    case FN_ACSC:
    case FN_ASINH:
    case FN_ACOSH:
    case FN_ATANH:
        return inverse(w, a->u.fn, out);
    case FN_FLOOR:
    case FN_CEIL:
    case FN_RE:
    case FN_IM:
    case FN_ARG:
    case FN_CONJ:
    case FN_SGN:
        return part(w, a->u.fn, out);
    case FN_GAMMA:
        acb_sub_ui(out, out, 1, w->prec);
        return ball_factorial(w, out);
    default:
        return VALUE_PASS;
    }
}

enum value ball_function(struct ball *w, const struct node *a, acb_t out)
{
    const struct node *u = a->n ? a->kid[0] : NULL;
    enum fn fn = a->u.fn;

    if (fn == FN_LOG && a->n == 2)
        return logarithm_to_base(w, a, out);
    if (fn == FN_MAX || fn == FN_MIN || (fn == FN_MOD && a->n == 2))
        return a->n ? of_reals(w, a, out) : VALUE_PASS;
    if (a->n != 1)
        return VALUE_PASS;
    if (fn == FN_LN)
        return logarithm(w, u, out);
    if (fn == FN_EXP)
        return exponential(w, u, out);
    if (fn <= FN_CSC || (fn >= FN_SINH && fn <= FN_COTH))
        return trigonometric(w, fn, u, out);
    return of_value(w, a, out);
}

#else
typedef int without_flint; /* ISO C has no empty files */
#endif
