/* turn.c - angles that are a rational multiple of pi. */
#include "math/scalar.h"

/* q = the sum of the kids' turns; all must be turns. */
static bool turn_sum(struct scalar *s, const struct node *a, mpq_ptr q)
{
    mpq_ptr t = rational_take(s);
    bool ok = t && rational_turn(s, a->kid[0], q);

    for (int i = 1; ok && i < a->n; i++) {
        ok = rational_turn(s, a->kid[i], t) && rational_fits(s, q, t);
        if (ok)
            mpq_add(q, q, t);
    }
    if (t)
        rational_give(s, 1);
    return ok;
}

/* q = the product of the kids: one a turn, the others rational. */
static bool turn_product(struct scalar *s, const struct node *a, mpq_ptr q)
{
    mpq_ptr t = rational_take(s);
    int turns = 0;
    bool ok = t;

    mpq_set_ui(q, 1, 1);
    for (int i = 0; ok && i < a->n; i++) {
        enum value v = rational_value(s, a->kid[i], NULL, t);

        if (v != VALUE_OK) {
            turns++;
            ok = v == VALUE_PASS && turns == 1 && rational_turn(s, a->kid[i], t);
        }
        ok = ok && rational_fits(s, q, t);
        if (ok)
            mpq_mul(q, q, t);
    }
    if (t)
        rational_give(s, 1);
    return ok && turns == 1;
}

static bool turn_quotient(struct scalar *s, const struct node *a, mpq_ptr q)
{
    mpq_ptr t = rational_take(s);
    bool ok = t && rational_turn(s, a->kid[0], q) &&
              rational_value(s, a->kid[1], NULL, t) == VALUE_OK && mpq_sgn(t) &&
              rational_fits(s, q, t);

    if (ok)
        mpq_div(q, q, t);
    if (t)
        rational_give(s, 1);
    return ok;
}

static bool turn_quantity(struct scalar *s, const struct node *a, mpq_ptr q)
{
    mpq_ptr t = rational_take(s);
    bool degrees = false;
    bool ok = t && rational_unit(a->u.unit, t, &degrees) &&
              (degrees ? rational_value(s, a->kid[0], NULL, q) == VALUE_OK
                       : rational_turn(s, a->kid[0], q)) &&
              rational_fits(s, q, t);

    if (ok)
        mpq_mul(q, q, t);
    if (t)
        rational_give(s, 1);
    return ok;
}

bool rational_turn(struct scalar *s, const struct node *a, mpq_ptr q)
{
    if (!fuel_spend(s->math, 10))
        return false;
    switch (a->kind) {
    case NODE_NUMBER:
        mpq_set_ui(q, 0, 1);
        return !mpq_sgn(a->u.number.q);
    case NODE_PI:
        mpq_set_ui(q, 1, 1);
        return true;
    case NODE_NEGATE:
        if (!rational_turn(s, a->kid[0], q))
            return false;
        mpq_neg(q, q);
        return true;
    case NODE_SUM:
        return turn_sum(s, a, q);
    case NODE_PRODUCT:
        return turn_product(s, a, q);
    case NODE_QUOTIENT:
        return turn_quotient(s, a, q);
    case NODE_QUANTITY:
        return turn_quantity(s, a, q);
    default:
        return false;
    }
}
