/* rational.c - constants as exact rational numbers, bounded before each operation. */
#include <string.h>

#include "math/scalar.h"

bool fuel_spend(struct math *m, int64_t work)
{
    m->fuel += work;
    return m->fuel <= MAX_FUEL;
}

mpq_ptr rational_take(struct scalar *s)
{
    return s->n_temps < MAX_TEMPS ? s->temp[s->n_temps++] : NULL;
}

void rational_give(struct scalar *s, int n)
{
    s->n_temps -= n;
}

size_t rational_bits(mpq_srcptr q)
{
    return mpz_sizeinbase(mpq_numref(q), 2) + mpz_sizeinbase(mpq_denref(q), 2);
}

static bool is_integer(mpq_srcptr q)
{
    return !mpz_cmp_ui(mpq_denref(q), 1);
}

bool rational_fits(struct scalar *s, mpq_srcptr x, mpq_srcptr y)
{
    size_t bits = rational_bits(x) + rational_bits(y), limbs = bits / 64;

    return bits <= MAX_BITS && fuel_spend(s->math, 20 + (int64_t)(limbs * limbs / 2));
}

/* The kids folded by + or *. */
static enum value fold(struct scalar *s, const struct node *a, const struct point *at,
                       mpq_ptr out)
{
    mpq_ptr t = rational_take(s);
    enum value v = t ? rational_value(s, a->kid[0], at, out) : VALUE_PASS;

    for (int i = 1; v == VALUE_OK && i < a->n; i++) {
        v = rational_value(s, a->kid[i], at, t);
        if (v == VALUE_OK && !rational_fits(s, out, t))
            v = VALUE_PASS;
        if (v != VALUE_OK)
            break;
        if (a->kind == NODE_SUM)
            mpq_add(out, out, t);
        else
            mpq_mul(out, out, t);
    }
    if (t)
        rational_give(s, 1);
    return v;
}

/* out = out^e, e an integer; 0^0 = 1. */
static enum value power(struct scalar *s, mpq_ptr out, mpz_srcptr e)
{
    unsigned long n;
    bool small;

    if (!mpz_sgn(e)) {
        mpq_set_ui(out, 1, 1);
        return VALUE_OK;
    }
    if (!mpq_sgn(out))
        return mpz_sgn(e) > 0 ? VALUE_OK : VALUE_UNDEFINED;
    if (is_integer(out) && !mpz_cmpabs_ui(mpq_numref(out), 1)) {
        if (mpz_even_p(e))
            mpz_abs(mpq_numref(out), mpq_numref(out));
        return VALUE_OK;
    }
    small = mpz_cmpabs_ui(e, MAX_BITS) <= 0;
    n = small ? mpz_get_ui(e) : 0; /* of the absolute value */
    if (!small || rational_bits(out) * n > MAX_BITS ||
        !fuel_spend(s->math, 50 + (int64_t)(rational_bits(out) * n)))
        return VALUE_PASS;
    mpz_pow_ui(mpq_numref(out), mpq_numref(out), n);
    mpz_pow_ui(mpq_denref(out), mpq_denref(out), n);
    if (mpz_sgn(e) < 0)
        mpq_inv(out, out);
    return VALUE_OK;
}

/* out = the real k-th root of out if that is rational. */
static enum value root(struct scalar *s, mpq_ptr out, mpz_srcptr k)
{
    unsigned long n;

    if (mpz_sgn(k) <= 0 || (mpq_sgn(out) < 0 && mpz_even_p(k)))
        return VALUE_PASS;
    if (!mpq_sgn(out) || (is_integer(out) && !mpz_cmpabs_ui(mpq_numref(out), 1)))
        return VALUE_OK;
    if (mpz_cmp_ui(k, MAX_BITS) > 0 ||
        !fuel_spend(s->math, 100 + (int64_t)rational_bits(out) * 4))
        return VALUE_PASS;
    n = mpz_get_ui(k);
    if (!mpz_root(mpq_numref(out), mpq_numref(out), n) ||
        !mpz_root(mpq_denref(out), mpq_denref(out), n))
        return VALUE_PASS;
    return VALUE_OK;
}

/* base^exponent or the index-th root of it. */
static enum value raise(struct scalar *s, const struct node *a, const struct point *at,
                        mpq_ptr out)
{
    mpq_ptr e = rational_take(s);
    enum value v = e ? rational_value(s, a->kid[1], at, e) : VALUE_PASS;

    if (v == VALUE_OK)
        v = rational_value(s, a->kid[0], at, out);
    if (v == VALUE_OK && a->kind == NODE_ROOT && !mpq_sgn(e))
        v = VALUE_UNDEFINED;
    if (v == VALUE_OK && a->kind == NODE_ROOT)
        mpq_inv(e, e);
    if (v == VALUE_OK && !is_integer(e))
        v = root(s, out, mpq_denref(e));
    if (v == VALUE_OK)
        v = power(s, out, mpq_numref(e));
    if (e)
        rational_give(s, 1);
    return v;
}

/* out!, out!! if `twice`. */
static enum value factorial(struct scalar *s, mpq_ptr out, bool twice)
{
    if (!is_integer(out))
        return VALUE_PASS;
    if (mpq_sgn(out) < 0)
        return twice ? VALUE_PASS : VALUE_UNDEFINED;
    if (mpz_cmp_ui(mpq_numref(out), MAX_FACTORIAL) > 0 ||
        !fuel_spend(s->math, 50 + 10 * (int64_t)mpz_get_ui(mpq_numref(out))))
        return VALUE_PASS;
    if (twice)
        mpz_2fac_ui(mpq_numref(out), mpz_get_ui(mpq_numref(out)));
    else
        mpz_fac_ui(mpq_numref(out), mpz_get_ui(mpq_numref(out)));
    return VALUE_OK;
}

/* out = (out choose k) */
static enum value binomial(struct scalar *s, mpq_ptr out, mpq_srcptr k)
{
    unsigned long n, j;

    if (!is_integer(out) || !is_integer(k) || mpq_sgn(out) < 0 ||
        mpz_cmp_ui(mpq_numref(out), MAX_BINOMIAL) >= 0)
        return VALUE_PASS;
    n = mpz_get_ui(mpq_numref(out));
    if (mpq_sgn(k) < 0 || mpz_cmp_ui(mpq_numref(k), n) > 0) {
        mpq_set_ui(out, 0, 1);
        return VALUE_OK;
    }
    j = mpz_get_ui(mpq_numref(k));
    if (!fuel_spend(s->math, 50 + 10 * (int64_t)(j < n - j ? j : n - j)))
        return VALUE_PASS;
    mpz_bin_uiui(mpq_numref(out), n, j);
    return VALUE_OK;
}

/* out = log of out to base b where both are powers of one integer; log b = b^1. */
static enum value logarithm(struct scalar *s, mpq_ptr out, mpq_ptr b)
{
    int sign = 1;
    unsigned long k;

    if (!mpq_sgn(out) || !mpq_sgn(b) || !mpq_cmp_ui(b, 1, 1))
        return VALUE_UNDEFINED;
    if (mpq_sgn(out) < 0 || mpq_sgn(b) < 0)
        return VALUE_PASS;
    if (!mpq_cmp_ui(out, 1, 1)) {
        mpq_set_ui(out, 0, 1);
        return VALUE_OK;
    }
    if (mpq_cmp_ui(out, 1, 1) < 0) {
        mpq_inv(out, out);
        sign = -sign;
    }
    if (mpq_cmp_ui(b, 1, 1) < 0) {
        mpq_inv(b, b);
        sign = -sign;
    }
    if (!is_integer(out) || !is_integer(b) ||
        !fuel_spend(s->math, 50 + (int64_t)rational_bits(out) * 4))
        return VALUE_PASS;
    k = mpz_remove(mpq_numref(out), mpq_numref(out), mpq_numref(b));
    if (mpz_cmp_ui(mpq_numref(out), 1))
        return VALUE_PASS;
    mpq_set_si(out, sign * (long)k, 1);
    return VALUE_OK;
}

/* Functions whose value is rational at one argument: sin 0 = 0, ln 1 = 0, e^0 = 1. */
static enum value special(enum fn fn, mpq_ptr x)
{
    bool zero = !mpq_sgn(x), one = !mpq_cmp_ui(x, 1, 1);

    switch (fn) {
    case FN_SIN:
    case FN_TAN:
    case FN_ASIN:
    case FN_ATAN:
    case FN_SINH:
    case FN_TANH:
    case FN_ASINH:
    case FN_ATANH:
    case FN_ARG:
        return zero ? VALUE_OK : VALUE_PASS;
    case FN_COS:
    case FN_SEC:
    case FN_COSH:
    case FN_EXP:
        mpq_set_ui(x, 1, 1);
        return zero ? VALUE_OK : VALUE_PASS;
    case FN_COT:
    case FN_CSC:
    case FN_COTH:
    case FN_ASEC:
    case FN_ACSC:
        if (zero)
            return VALUE_UNDEFINED;
        mpq_set_ui(x, 0, 1);
        return one && fn == FN_ASEC ? VALUE_OK : VALUE_PASS;
    case FN_LN:
        if (zero)
            return VALUE_UNDEFINED;
        /* fall through */
    case FN_ACOS:
    case FN_ACOSH:
        mpq_set_ui(x, 0, 1);
        return one ? VALUE_OK : VALUE_PASS;
    default:
        return VALUE_PASS;
    }
}

static enum value function_of_one(struct scalar *s, enum fn fn, mpq_ptr x)
{
    switch (fn) {
    case FN_FLOOR:
        mpz_fdiv_q(mpq_numref(x), mpq_numref(x), mpq_denref(x));
        mpz_set_ui(mpq_denref(x), 1);
        return VALUE_OK;
    case FN_CEIL:
        mpz_cdiv_q(mpq_numref(x), mpq_numref(x), mpq_denref(x));
        mpz_set_ui(mpq_denref(x), 1);
        return VALUE_OK;
    case FN_RE:
    case FN_CONJ:
    case FN_MAX:
    case FN_MIN:
        return VALUE_OK;
    case FN_IM:
        mpq_set_ui(x, 0, 1);
        return VALUE_OK;
    case FN_SGN:
        mpq_set_si(x, mpq_sgn(x), 1);
        return VALUE_OK;
    case FN_GAMMA:
        if (is_integer(x) && mpq_sgn(x) <= 0)
            return VALUE_UNDEFINED;
        mpz_sub(mpq_numref(x), mpq_numref(x), mpq_denref(x));
        return factorial(s, x, false);
    case FN_GCD:
    case FN_LCM:
        mpq_abs(x, x);
        return is_integer(x) ? VALUE_OK : VALUE_PASS;
    default:
        return special(fn, x);
    }
}

/* x = fn(x, y); y may be changed. */
static enum value function_of_two(struct scalar *s, enum fn fn, mpq_ptr x, mpq_ptr y)
{
    bool integers = is_integer(x) && is_integer(y);

    if (!rational_fits(s, x, y))
        return VALUE_PASS;
    switch (fn) {
    case FN_LOG:
        return logarithm(s, x, y);
    case FN_MAX:
    case FN_MIN:
        if ((mpq_cmp(x, y) < 0) == (fn == FN_MAX))
            mpq_set(x, y);
        return VALUE_OK;
    case FN_GCD:
        mpz_gcd(mpq_numref(x), mpq_numref(x), mpq_numref(y));
        return integers ? VALUE_OK : VALUE_PASS;
    case FN_LCM:
        mpz_lcm(mpq_numref(x), mpq_numref(x), mpq_numref(y));
        return integers ? VALUE_OK : VALUE_PASS;
    case FN_MOD: /* x - y floor(x / y), of integers */
        if (!mpq_sgn(y))
            return VALUE_UNDEFINED;
        if (!integers || mpq_sgn(y) < 0)
            return VALUE_PASS;
        mpz_fdiv_r(mpq_numref(x), mpq_numref(x), mpq_numref(y));
        return VALUE_OK;
    default:
        return VALUE_PASS;
    }
}

/* out = a mod n or gcd(a, n) of an a too large to have. */
static bool large_by(struct scalar *s, const struct node *a, const struct node *n,
                     bool gcd, mpq_ptr out)
{
    mpq_ptr q = rational_take(s);
    bool ok = q && rational_value(s, n, NULL, q) == VALUE_OK &&
              rational_remainder(s, a, q, out);

    if (ok && gcd)
        mpz_gcd(mpq_numref(out), mpq_numref(out), mpq_numref(q));
    if (q)
        rational_give(s, 1);
    return ok;
}

static bool large(struct scalar *s, const struct node *a, mpq_ptr out)
{
    bool gcd = a->u.fn == FN_GCD;

    return a->n == 2 && (gcd || a->u.fn == FN_MOD) &&
           (large_by(s, a->kid[0], a->kid[1], gcd, out) ||
            (gcd && large_by(s, a->kid[1], a->kid[0], gcd, out)));
}

static enum value function(struct scalar *s, const struct node *a,
                           const struct point *at, mpq_ptr out)
{
    enum fn fn = a->u.fn;
    mpq_ptr y;
    enum value v;

    if (a->n == 0 || (y = rational_take(s)) == NULL)
        return VALUE_PASS;
    v = rational_value(s, a->kid[0], at, out);
    if (v == VALUE_OK && a->n == 1)
        v = function_of_one(s, fn, out);
    for (int i = 1; v == VALUE_OK && i < a->n; i++) {
        v = rational_value(s, a->kid[i], at, y);
        if (v == VALUE_OK)
            v = function_of_two(s, fn, out, y);
    }
    rational_give(s, 1);
    return v == VALUE_PASS && large(s, a, out) ? VALUE_OK : v;
}

bool rational_unit(const struct unit *u, mpq_ptr factor, bool *degrees)
{
    int kind = UNIT_COUNT;

    for (int i = 0; i < UNIT_BASES; i++)
        if (u->power[i]) {
            if (u->power[i] != 1 ||
                (i != UNIT_ANGLE && i != UNIT_PERCENT && i != UNIT_COUNT))
                return false;
            kind = i;
        }
    *degrees = kind == UNIT_ANGLE && u->degrees;
    mpq_set_ui(factor, 1, *degrees ? 180 : kind == UNIT_PERCENT ? 100 : 1);
    return true;
}

/* An angle in degrees is rational only if it is 0. */
static enum value quantity(struct scalar *s, const struct node *a,
                           const struct point *at, mpq_ptr out)
{
    mpq_ptr factor = rational_take(s);
    bool degrees = false;
    enum value v = VALUE_PASS;

    if (!factor)
        return v;
    if (rational_unit(a->u.unit, factor, &degrees))
        v = rational_value(s, a->kid[0], at, out);
    if (v == VALUE_OK && degrees && mpq_sgn(out))
        v = VALUE_PASS;
    if (v == VALUE_OK)
        mpq_mul(out, out, factor);
    rational_give(s, 1);
    return v;
}

/* Binary nodes: quotient, binomial. */
static enum value pair(struct scalar *s, const struct node *a, const struct point *at,
                       mpq_ptr out)
{
    mpq_ptr y = rational_take(s);
    enum value v = y ? rational_value(s, a->kid[0], at, out) : VALUE_PASS;
    enum value w = y ? rational_value(s, a->kid[1], at, y) : VALUE_PASS;

    /* x / 0 is undefined whatever x is */
    if (w == VALUE_UNDEFINED ||
        (w == VALUE_OK && a->kind == NODE_QUOTIENT && !mpq_sgn(y)))
        v = VALUE_UNDEFINED;
    else if (v == VALUE_OK)
        v = w;
    if (v == VALUE_OK && a->kind == NODE_BINOMIAL)
        v = binomial(s, out, y);
    else if (v == VALUE_OK && rational_fits(s, out, y))
        mpq_div(out, out, y);
    else if (v == VALUE_OK)
        v = VALUE_PASS;
    if (y)
        rational_give(s, 1);
    return v;
}

enum value rational_value(struct scalar *s, const struct node *a,
                          const struct point *at, mpq_ptr out)
{
    enum value v;

    if (!fuel_spend(s->math, 10))
        return VALUE_PASS;
    switch (a->kind) {
    case NODE_NUMBER:
        mpq_set(out, a->u.number.q);
        return VALUE_OK;
    case NODE_SYMBOL:
        return at && point_value(at, a->u.name, out) ? VALUE_OK : VALUE_PASS;
    case NODE_SUM:
    case NODE_PRODUCT:
        return fold(s, a, at, out);
    case NODE_NEGATE:
    case NODE_ABS:
    case NODE_FACTORIAL:
        v = rational_value(s, a->kid[0], at, out);
        if (v == VALUE_OK && a->kind == NODE_NEGATE)
            mpq_neg(out, out);
        else if (v == VALUE_OK && a->kind == NODE_ABS)
            mpq_abs(out, out);
        else if (v == VALUE_OK)
            v = factorial(s, out, false);
        return v;
    case NODE_CALL:
        if (strcmp(a->u.name, "!!") || a->n != 1)
            return VALUE_PASS;
        v = rational_value(s, a->kid[0], at, out);
        return v == VALUE_OK ? factorial(s, out, true) : v;
    case NODE_QUOTIENT:
    case NODE_BINOMIAL:
        return pair(s, a, at, out);
    case NODE_POWER:
    case NODE_ROOT:
        return raise(s, a, at, out);
    case NODE_FUNCTION:
        return function(s, a, at, out);
    case NODE_QUANTITY:
        return quantity(s, a, at, out);
    default:
        return VALUE_PASS;
    }
}
