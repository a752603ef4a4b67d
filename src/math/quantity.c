/* quantity.c - numbers with something behind them: units, percent, bases; ratios. */
#include <string.h>

#include "math/compare.h"

/* -- units ------------------------------------------------------------------------- */
enum fit {
    FIT_NONE,    /* of different kinds */
    FIT_VALUE,   /* of one kind: values are compared in base units */
    FIT_FORGIVEN /* one of them says nothing: numbers are compared */
};

/* "3 ways", "10 units": no dimension but perhaps a count. */
static bool is_counted(const struct unit *u)
{
    for (int i = 0; i < UNIT_BASES; i++)
        if (i != UNIT_COUNT && u->power[i])
            return false;
    return true;
}

/* A word that stands for whatever unit was meant. */
static bool is_generic(const struct unit *u)
{
    return is_counted(u) && strstr(u->name, "unit");
}

/* "10 units" for a length or a mass, "10 square units" for an area. */
static bool generic_fits(const struct unit *generic, const struct unit *u)
{
    int8_t power = generic->power[UNIT_COUNT];

    if (u->power[UNIT_PERCENT] || u->power[UNIT_CURRENCY] || u->power[UNIT_ANGLE] ||
        u->power[UNIT_TEMPERATURE])
        return false;
    return power == 1 || u->power[UNIT_LENGTH] == power;
}

static bool same_powers(const struct unit *a, const struct unit *b)
{
    for (int i = 0; i < UNIT_BASES; i++)
        if (i != UNIT_COUNT && a->power[i] != b->power[i])
            return false;
    return true;
}

/* A temperature alone: Celsius, Fahrenheit and Kelvin have their own zeros. */
static bool is_temperature(const struct unit *u)
{
    for (int i = 0; i < UNIT_BASES; i++)
        if (u->power[i] != (i == UNIT_TEMPERATURE))
            return false;
    return true;
}

/* Cents are dollars; others don't convert. */
static bool same_currency(const struct unit *a, const struct unit *b)
{
    const char *x = strcmp(a->name, "cent") ? a->name : "usd";
    const char *y = strcmp(b->name, "cent") ? b->name : "usd";

    return !a->power[UNIT_CURRENCY] || !strcmp(x, y);
}

/* \$18 a day, of which the other says \$18. */
static bool is_rate_of(const struct unit *rate, const struct unit *u)
{
    size_t n = strlen(u->name);

    for (int i = 0; i < UNIT_BASES; i++)
        if (u->power[i] != (i == UNIT_CURRENCY))
            return false;
    return rate->power[UNIT_TIME] == -1 && !strncmp(rate->name, u->name, n) &&
           rate->name[n] == '/';
}

static enum fit unit_fit(const struct unit *a, const struct unit *b)
{
    if (is_counted(a) && is_counted(b)) {
        bool sizes = is_generic(a) && is_generic(b);

        return sizes && a->power[UNIT_COUNT] != b->power[UNIT_COUNT] ? FIT_NONE
                                                                     : FIT_FORGIVEN;
    }
    if (is_rate_of(a, b) || is_rate_of(b, a))
        return FIT_FORGIVEN;
    if (is_generic(a) || is_generic(b))
        return (is_generic(a) ? generic_fits(a, b) : generic_fits(b, a)) ? FIT_FORGIVEN
                                                                         : FIT_NONE;
    /* "20 degrees" of an angle or of a thermometer. */
    if ((a->degrees && b->power[UNIT_TEMPERATURE]) ||
        (b->degrees && a->power[UNIT_TEMPERATURE]))
        return FIT_FORGIVEN;
    if (!same_powers(a, b))
        return FIT_NONE;
    if ((is_temperature(a) && strcmp(a->name, b->name)) || !same_currency(a, b))
        return FIT_NONE;
    return FIT_VALUE;
}

/* number * factor, an angle in radians. */
static const struct node *base_value(struct math *m, const struct node *a)
{
    const struct unit *u = a->u.unit;
    const struct node *v =
        tree_times(m, tree_plain(m, a->kid[0]), tree_rational(m, u->factor));

    if (!u->degrees)
        return v;
    v = tree_times(m, v, tree_node(m, NODE_PI, 0));
    return tree_two(m, NODE_QUOTIENT, v, tree_integer(m, 180));
}

static struct math_result two_quantities(struct math *m, const struct node *a,
                                         const struct node *b)
{
    const struct unit *u = a->u.unit, *v = b->u.unit;
    enum fit fit = unit_fit(u, v);

    if (fit == FIT_NONE)
        return found(MATH_DIFFERENT, MATH_STEP_UNIT);
    if (fit == FIT_FORGIVEN ||
        (u->degrees == v->degrees && mpq_equal(u->factor, v->factor)))
        return tree_compare(m, a->kid[0], b->kid[0]);
    return tree_compare(m, base_value(m, a), base_value(m, b));
}

/* A missing unit is forgiven; 28% is 28 and 0.28, 90 degrees are 90 and pi/2. */
static struct math_result quantity_to_plain(struct math *m, const struct node *q,
                                            const struct node *a)
{
    const struct unit *u = q->u.unit;
    struct math_result r;

    if (is_call(a, "base") || is_call(a, "clock"))
        return found(MATH_DIFFERENT, MATH_STEP_UNIT);
    r = tree_compare(m, q->kid[0], a);
    if (is_equal(r) || (!u->power[UNIT_PERCENT] && !u->degrees))
        return r;
    q = tree_plain(m, q);
    return q ? either(r, tree_compare(m, q, a)) : r;
}

bool stage_quantity(struct math *m, const struct node *gold, const struct node *pred,
                    struct math_result *r)
{
    bool g = gold->kind == NODE_QUANTITY, p = pred->kind == NODE_QUANTITY;

    if (g && p)
        *r = two_quantities(m, gold, pred);
    else if (g)
        *r = quantity_to_plain(m, gold, pred);
    else if (p)
        *r = quantity_to_plain(m, pred, gold);
    return g || p;
}

/* -- bases: the parser's call base(value, base, digits) ---------------------------- */
bool stage_base(struct math *m, const struct node *gold, const struct node *pred,
                struct math_result *r)
{
    bool g = is_call(gold, "base") && gold->n == 3;
    bool p = is_call(pred, "base") && pred->n == 3;

    if (!g && !p)
        return false;
    if (!g || !p) {
        /* A missing base is the other's: the digits must agree. */
        *r = g ? tree_compare(m, gold->kid[2], pred)
               : tree_compare(m, gold, pred->kid[2]);
        return true;
    }
    *r = tree_compare(m, gold->kid[1], pred->kid[1]);
    if (is_equal(*r))
        *r = tree_compare(m, gold->kid[0], pred->kid[0]);
    else if (r->verdict == MATH_DIFFERENT)
        r->step = MATH_STEP_UNIT;
    return true;
}

/* -- ratios and times of day ------------------------------------------------------- */
static bool is_integer_in(const struct node *a, unsigned long from, unsigned long to)
{
    return a->kind == NODE_NUMBER && !mpz_cmp_ui(mpq_denref(a->u.number.q), 1) &&
           mpq_cmp_ui(a->u.number.q, from, 1) >= 0 &&
           mpq_cmp_ui(a->u.number.q, to, 1) <= 0;
}

/* Whether it may be a time of day, which isn't a fraction: 12:00 is not 1:00, and 10:30
 * not 20:60.  The parser's call clock(hours, minutes ...) can only be one. */
static bool is_clock(const struct node *a)
{
    if (is_call(a, "clock"))
        return true;
    if (a->kind != NODE_RATIO || a->n > 3 || !is_integer_in(a->kid[0], 0, 24))
        return false;
    for (int i = 1; i < a->n; i++)
        if (!is_integer_in(a->kid[i], 0, 0) && !is_integer_in(a->kid[i], 10, 59))
            return false;
    return true;
}

static bool has_zero(const struct node *a)
{
    for (int i = 0; i < a->n; i++)
        if (is_integer_in(a->kid[i], 0, 0))
            return true;
    return false;
}

static struct math_result proportional(struct math *m, const struct node *a,
                                       const struct node *b)
{
    struct math_result r = found(MATH_EQUAL, MATH_STEP_TEXT);

    for (int i = 1; i < a->n && r.verdict != MATH_DIFFERENT; i++)
        r = both(r, tree_compare(m, tree_times(m, a->kid[0], b->kid[i]),
                                 tree_times(m, a->kid[i], b->kid[0])));
    return r;
}

/* Seconds that are missing are none. */
static struct math_result two_clocks(struct math *m, const struct node *a,
                                     const struct node *b)
{
    const struct node *more = a->n > b->n ? a : b, *less = more == a ? b : a;

    for (int i = less->n; i < more->n; i++)
        if (!is_integer_in(more->kid[i], 0, 0))
            return found(MATH_DIFFERENT, MATH_STEP_ELEMENT);
    return match_items(m, more->kid, less->n, less->kid, less->n, IN_ORDER);
}

static struct math_result two_ratios(struct math *m, const struct node *a,
                                     const struct node *b)
{
    struct math_result r;

    if (is_clock(a) && is_clock(b))
        return two_clocks(m, a, b);
    r = match_items(m, a->kid, a->n, b->kid, b->n, IN_ORDER);
    if (is_equal(r) || a->n != b->n || has_zero(a) || has_zero(b))
        return r;
    return either(r, proportional(m, a, b));
}

bool stage_ratio(struct math *m, const struct node *gold, const struct node *pred,
                 struct math_result *r)
{
    bool g = gold->kind == NODE_RATIO || is_call(gold, "clock");
    bool p = pred->kind == NODE_RATIO || is_call(pred, "clock");
    const struct node *ratio = g ? gold : pred, *other = g ? pred : gold;

    if (g && p) {
        *r = two_ratios(m, gold, pred);
        return true;
    }
    if ((!g && !p) || ratio->n != 2 || other->kind >= NODE_LIST || has_zero(ratio))
        return false;
    /* 3:4 is the fraction; a time of day only where the same numbers are written. */
    if (is_clock(ratio)) {
        if (other->kind != NODE_QUOTIENT || ratio->kind != NODE_RATIO)
            return false;
        *r = match_items(m, ratio->kid, 2, other->kid, 2, IN_ORDER);
        return true;
    }
    *r = tree_compare(m, tree_two(m, NODE_QUOTIENT, ratio->kid[0], ratio->kid[1]),
                      other);
    return true;
}
