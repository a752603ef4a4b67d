/* readings.c - texts that can be read in two ways; the other side decides. */
#include <string.h>

#include "math/compare.h"

/* Whether q is written as this decimal, digit by digit: 1.5, not 3/2. */
static bool written_as(const struct node *a, const struct node *decimal)
{
    if (a->kind == NODE_NEGATE && decimal->kind == NODE_NEGATE)
        return written_as(a->kid[0], decimal->kid[0]);
    return a->kind == NODE_NUMBER && decimal->kind == NODE_NUMBER &&
           a->u.number.places == decimal->u.number.places &&
           mpq_equal(a->u.number.q, decimal->u.number.q);
}

/* A comma between two integers separates them, unless the other side is one number.  A
 * gold 1,2 is a list before it is a decimal: then only 1.2, so written, agrees. */
bool stage_decimal_comma(struct math *m, const struct node *gold,
                         const struct node *pred, struct math_result *r)
{
    const struct node *g = gold->kind == NODE_LIST ? tree_decimal(m, gold) : NULL;
    const struct node *p = pred->kind == NODE_LIST ? tree_decimal(m, pred) : NULL;

    if (!g == !p || (g ? pred : gold)->kind >= NODE_LIST ||
        has_kind(g ? pred : gold, NODE_PLUSMINUS))
        return false;
    if (!g)
        *r = tree_compare(m, gold, p);
    else
        *r =
            found(written_as(pred, g) ? MATH_EQUAL : MATH_DIFFERENT, MATH_STEP_DECIMAL);
    return true;
}

/* "(B) 12" is the choice B and the value 12: either may be asked for. */
static bool is_choice(const struct node *a)
{
    return is_call(a, "choice") && a->n == 2;
}

static bool is_letter(const struct node *a)
{
    return a->kind == NODE_SYMBOL && a->u.name[0] >= 'A' && a->u.name[0] <= 'J' &&
           !a->u.name[1];
}

bool stage_choice(struct math *m, const struct node *gold, const struct node *pred,
                  struct math_result *r)
{
    bool g = is_choice(gold), p = is_choice(pred);
    const struct node *choice = g ? gold : pred, *other = g ? pred : gold;

    if (!g && !p)
        return false;
    if (g && p)
        *r = match_items(m, gold->kid, 2, pred->kid, 2, IN_ORDER);
    else if (is_letter(other) && is_letter(choice->kid[1])) /* "B) C" says two */
        *r = both(tree_compare(m, choice->kid[0], other),
                  tree_compare(m, choice->kid[1], other));
    else if (is_letter(other))
        *r = tree_compare(m, choice->kid[0], other);
    else if (g)
        *r = tree_compare(m, gold->kid[1], pred);
    else
        *r = tree_compare(m, gold, pred->kid[1]);
    return true;
}

/* The letters of several choices, AC or A, C, as bits; 0 if it isn't that. */
static unsigned letter_bits(const struct node *a, bool list)
{
    unsigned bits = 0;

    if (list ? !is_bare(a) : a->kind != NODE_PRODUCT)
        return 0;
    for (int i = 0; i < a->n; i++) {
        unsigned bit = is_letter(a->kid[i]) ? 1u << (a->kid[i]->u.name[0] - 'A') : 0;

        if (!bit || bits & bit)
            return 0;
        bits |= bit;
    }
    return bits;
}

/* AC and A, C: the choices A and C. */
bool stage_letters(struct math *m, const struct node *gold, const struct node *pred,
                   struct math_result *r)
{
    unsigned g = letter_bits(gold, true), p = letter_bits(pred, !g);

    (void)m;
    g = g ? g : letter_bits(gold, false);
    if (!g || !p)
        return false;
    *r = found(g == p ? MATH_EQUAL : MATH_DIFFERENT, MATH_STEP_WORDS);
    return true;
}

/* 2e-1 is 2e - 1 or 0.2: the parser's call "exponent" of both. */
bool stage_exponent(struct math *m, const struct node *gold, const struct node *pred,
                    struct math_result *r)
{
    bool g = is_call(gold, "exponent"), p = is_call(pred, "exponent");

    if (!g && !p)
        return false;
    if (g && p) {
        *r = tree_compare(m, gold->kid[0], pred->kid[0]);
        return true;
    }
    *r = found(MATH_DIFFERENT, MATH_STEP_SHAPE);
    for (int i = 0; i < 2 && !is_equal(*r); i++)
        *r = either(*r,
                    tree_compare(m, g ? gold->kid[i] : gold, p ? pred->kid[i] : pred));
    return true;
}
