/* scalar.c - the ladder: each step answers or passes on. */
#include <stdlib.h>

#include "dapo/mem.h"
#include "math/ball.h"
#include "math/scalar.h"

static struct math_result result(const struct math *m, enum math_verdict v,
                                 enum math_step step)
{
    if (v == MATH_UNKNOWN && m->fuel > MAX_FUEL)
        step = MATH_STEP_FUEL;
    return (struct math_result){v, step, m->fuel};
}

static struct scalar *scalar_of(struct math *m)
{
    struct scalar *s = m->scalar;

    s->n_temps = 0;
    return s;
}

/* -- infinity ------------------------------------------------------------------- */
/* +1 or -1 if the tree is infinity times a rational number, else 0. */
static int infinite(struct scalar *s, const struct node *a)
{
    mpq_ptr q;
    int sign = 1, n = 0;

    switch (a->kind) {
    case NODE_INFINITY:
        return 1;
    case NODE_NEGATE:
        return -infinite(s, a->kid[0]);
    case NODE_PRODUCT:
        break;
    default:
        return 0;
    }
    q = rational_take(s);
    for (int i = 0; i < a->n; i++) {
        int k = infinite(s, a->kid[i]);

        n += k != 0;
        if (!k && q && rational_value(s, a->kid[i], NULL, q) == VALUE_OK)
            k = mpq_sgn(q);
        sign *= k;
    }
    if (q)
        rational_give(s, 1);
    return n == 1 ? sign : 0;
}

/* One of the trees has an infinity in it. */
static struct math_result compare_infinite(struct scalar *s, const struct node *a,
                                           const struct node *b, bool in_a, bool in_b)
{
    int x = in_a ? infinite(s, a) : 0, y = in_b ? infinite(s, b) : 0;

    if (x && y)
        return result(s->math, x == y ? MATH_EQUAL : MATH_DIFFERENT,
                      MATH_STEP_RATIONAL);
    if (tree_same(a, b))
        return result(s->math, MATH_EQUAL, MATH_STEP_TEXT);
    if ((x && !in_b) || (y && !in_a)) {
        mpq_ptr q = rational_take(s);
        enum value v = q ? rational_value(s, x ? b : a, NULL, q) : VALUE_UNDEFINED;

        if (q)
            rational_give(s, 1);
        if (v != VALUE_UNDEFINED)
            return result(s->math, MATH_DIFFERENT, MATH_STEP_RATIONAL);
    }
    return result(s->math, MATH_UNKNOWN, MATH_STEP_UNDECIDED);
}

/* -- decimals ------------------------------------------------------------------- */
/* A decimal as it was written, with or without a sign. */
static bool bare_decimal(const struct node *a)
{
    while (a->kind == NODE_NEGATE)
        a = a->kid[0];
    return a->kind == NODE_NUMBER && a->u.number.places >= 0;
}

/* |x - y| <= half a unit of the sixth decimal; below 1/16 as much smaller as the larger
 * of them is. */
static bool decimals_agree(struct scalar *s, mpq_srcptr x, mpq_srcptr y)
{
    mpq_ptr difference = rational_take(s), bound = rational_take(s);
    bool near = false;

    if (difference && bound) {
        mpq_abs(bound, y);
        mpq_abs(difference, x);
        if (mpq_cmp(bound, difference) < 0)
            mpq_set(bound, difference);
        if (mpq_cmp_ui(bound, 1, 16) < 0)
            mpq_mul_2exp(bound, bound, 4);
        else
            mpq_set_ui(bound, 1, 1);
        mpq_sub(difference, x, y);
        mpq_abs(difference, difference);
        mpz_mul_ui(mpq_numref(difference), mpq_numref(difference), 2000000);
        mpq_canonicalize(difference);
        near = mpq_cmp(difference, bound) <= 0;
    }
    rational_give(s, (difference != NULL) + (bound != NULL));
    return near;
}

/* -- the steps ------------------------------------------------------------------ */
/* Exact rationals; then the decimal rule where one side is a decimal and the other a
 * constant.  UNKNOWN/NONE: passes on. */
static struct math_result compare_exact(struct scalar *s, const struct node *a,
                                        const struct node *b, bool constants)
{
    mpq_ptr x = rational_take(s), y = rational_take(s);
    enum value v = rational_value(s, a, NULL, x), w = rational_value(s, b, NULL, y);
    bool decimal_a = bare_decimal(a), decimal = decimal_a || bare_decimal(b);
    struct math_result r = {MATH_UNKNOWN, MATH_STEP_NONE, 0};

    if (v == VALUE_UNDEFINED || w == VALUE_UNDEFINED) {
        bool same = tree_same(a, b);

        r = result(s->math, same ? MATH_EQUAL : MATH_UNKNOWN,
                   same ? MATH_STEP_TEXT : MATH_STEP_UNDECIDED);
    } else if (v == VALUE_OK && w == VALUE_OK) {
        bool equal = mpq_equal(x, y);

        r = result(s->math, equal ? MATH_EQUAL : MATH_DIFFERENT, MATH_STEP_RATIONAL);
        if (!equal && decimal)
            r = result(s->math,
                       decimals_agree(s, decimal_a ? x : y, decimal_a ? y : x)
                           ? MATH_EQUAL
                           : MATH_DIFFERENT,
                       MATH_STEP_DECIMAL);
    } else if (decimal && constants) {
        enum math_verdict d = ball_decimal(s, decimal_a ? b : a, decimal_a ? x : y);

        r = result(s->math, d,
                   d == MATH_UNKNOWN ? MATH_STEP_UNDECIDED : MATH_STEP_DECIMAL);
    }
    rational_give(s, 2);
    return r;
}

struct math_result scalar_compare(struct math *m, const struct node *a,
                                  const struct node *b)
{
    struct scalar *s = scalar_of(m);
    struct traits ta = {0}, tb = {0};
    struct math_result r;

    traits_add(&ta, a);
    traits_add(&tb, b);
    if (!fuel_spend(m, 100))
        return result(m, MATH_UNKNOWN, MATH_STEP_FUEL);
    if (ta.infinity || tb.infinity)
        return compare_infinite(s, a, b, ta.infinity, tb.infinity);
    r = compare_exact(s, a, b, !ta.symbols && !tb.symbols);
    if (r.step != MATH_STEP_NONE)
        return r;
    switch (modular_compare(s, a, b)) {
    case FINDING_EQUAL:
        return result(m, MATH_EQUAL, MATH_STEP_MODULAR);
    case FINDING_DIFFERENT:
        return result(m, MATH_DIFFERENT, MATH_STEP_MODULAR);
    default:
        break;
    }
    if (tree_same(a, b))
        return result(m, MATH_EQUAL, MATH_STEP_TEXT);
    if (ta.unreadable || tb.unreadable)
        return result(m, MATH_UNKNOWN, MATH_STEP_UNDECIDED);
    r = ball_compare(s, a, b);
    return result(m, r.verdict, r.step);
}

int scalar_order(struct math *m, const struct node *a, const struct node *b,
                 bool *known)
{
    struct scalar *s = scalar_of(m);
    mpq_ptr x = rational_take(s), y = rational_take(s);
    int p = infinite(s, a), q = infinite(s, b), sign = 0;
    enum value v, w;
    struct math_result r;

    *known = true;
    if (p || q)
        return (p > q) - (p < q);
    v = rational_value(s, a, NULL, x);
    w = rational_value(s, b, NULL, y);
    if (v == VALUE_OK && w == VALUE_OK) {
        sign = mpq_cmp(x, y);
        return (sign > 0) - (sign < 0);
    }
    if (v != VALUE_UNDEFINED && w != VALUE_UNDEFINED) {
        if (ball_sign(s, a, b, &sign))
            return sign;
        r = scalar_compare(m, a, b);
        if (r.verdict == MATH_EQUAL && r.step != MATH_STEP_DECIMAL)
            return 0;
    }
    *known = false;
    return 0;
}

/* The sign of c in a = c * b, at points of integers where both are exact; else by
 * balls. */
static int ratio_sign(struct scalar *s, const struct node *a, const struct node *b)
{
    mpq_ptr x = rational_take(s), y = rational_take(s);
    bool fit;
    int sign = 0;

    s->point.n = 0;
    fit = point_symbols(&s->point, a) && point_symbols(&s->point, b);
    for (int k = 0; fit && k < 4 && !sign; k++) {
        point_draw(&s->point, k, true);
        if (rational_value(s, a, &s->point, x) == VALUE_OK &&
            rational_value(s, b, &s->point, y) == VALUE_OK)
            sign = mpq_sgn(x) * mpq_sgn(y);
    }
    rational_give(s, 2);
    if (!sign)
        ball_ratio_sign(s, a, b, &sign);
    return sign;
}

struct math_result scalar_proportional(struct math *m, const struct node *a,
                                       const struct node *b, int *sign)
{
    struct scalar *s = scalar_of(m);
    struct math_result r;

    *sign = 0;
    if (!fuel_spend(m, 100))
        return result(m, MATH_UNKNOWN, MATH_STEP_FUEL);
    switch (modular_proportional(s, a, b)) {
    case FINDING_EQUAL:
        *sign = ratio_sign(s, a, b);
        return result(m, MATH_EQUAL, MATH_STEP_MODULAR);
    case FINDING_DIFFERENT:
        return result(m, MATH_DIFFERENT, MATH_STEP_MODULAR);
    default:
        r = ball_proportional(s, a, b, sign);
        return result(m, r.verdict, r.step);
    }
}

int scalar_open(struct math *m, struct fault *f)
{
    struct scalar *s = mem_new(1, sizeof *s, "the comparison of answers", f);

    m->scalar = s;
    if (!s)
        return f->code;
    s->math = m;
    field_open(&s->field);
    for (int i = 0; i < MAX_TEMPS; i++)
        mpq_init(s->temp[i]);
    return 0;
}

void scalar_close(struct math *m)
{
    struct scalar *s = m->scalar;

    if (!s)
        return;
    for (int i = 0; i < MAX_TEMPS; i++)
        mpq_clear(s->temp[i]);
#ifdef HAVE_FLINT
    flint_cleanup();
#endif
    free(s);
    m->scalar = NULL;
}
