/* approx.c - a value with its decimal behind it: \pi \approx 3.14. */
#include "math/compare.h"

static bool is_approximation(const struct node *a)
{
    return a->kind == NODE_RELATION && a->n == 2 && a->u.ops[0] == REL_APPROX &&
           a->kid[0]->kind < NODE_LIST && !has_symbol(a->kid[0]) &&
           a->kid[1]->kind == NODE_NUMBER;
}

/* Whether d is x to its last digit, cut off or rounded. */
static bool rounds(struct math *m, const struct node *x, const struct node *d)
{
    mpq_srcptr q = d->u.number.q;
    mpq_ptr low = tree_literal(m), high = low ? tree_literal(m) : NULL;
    int places = d->u.number.places;
    bool known = true;

    if (!high || places > 100 || !(x = tree_plain(m, x)))
        return false;
    mpq_set_ui(high, 1, 1);
    mpz_ui_pow_ui(mpq_denref(high), 10, (unsigned long)(places > 0 ? places : 0));
    mpq_div_2exp(low, high, 1); /* rounded; cut off towards 0 */
    if (mpq_sgn(q) < 0)
        mpq_swap(low, high);
    mpq_sub(low, q, low);
    mpq_add(high, q, high);
    return scalar_order(m, x, tree_rational(m, low), &known) >= 0 &&
           scalar_order(m, x, tree_rational(m, high), &known) <= 0 && known;
}

bool stage_approximation(struct math *m, const struct node *gold,
                         const struct node *pred, struct math_result *r)
{
    bool g = is_approximation(gold), p = is_approximation(pred);
    const struct node *pair = g ? gold : pred, *other = g ? pred : gold;

    if (g == p || !rounds(m, pair->kid[0], pair->kid[1]))
        return false;
    *r = tree_compare(m, pair->kid[0], other);
    return is_equal(*r);
}
