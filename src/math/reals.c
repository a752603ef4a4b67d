/* reals.c - sets of real numbers: intervals, unions, inequalities in one variable.
 *
 * A set is a list of spans.  To merge them their ends must be ordered, which can be
 * proved for constants only; sets with other ends are compared span by span as written.
 */
#include <string.h>

#include "math/reals.h"

/* -- ends -------------------------------------------------------------------------- */
/* Order of two ends: -1, 0, 1; *known is cleared where it can't be proved. */
static int order(struct math *m, const struct node *a, const struct node *b,
                 bool *known)
{
    bool ok = true;
    int c;

    if (tree_same(a, b))
        return 0;
    if (a->kind == NODE_NUMBER && b->kind == NODE_NUMBER)
        return mpq_cmp(a->u.number.q, b->u.number.q);
    a = tree_plain(m, a);
    b = tree_plain(m, b);
    if (!a || !b) {
        *known = false;
        return 0;
    }
    c = scalar_order(m, a, b, &ok);
    *known = *known && ok;
    return c;
}

/* Lower ends; NULL is -infinity.  Of equal ends the closed one is lower. */
static int lower_order(struct math *m, const struct span *a, const struct span *b,
                       bool *known)
{
    int c;

    if (!a->lo || !b->lo)
        return !!a->lo - !!b->lo;
    c = order(m, a->lo, b->lo, known);
    return c ? c : b->lo_in - a->lo_in;
}

static int upper_order(struct math *m, const struct span *a, const struct span *b,
                       bool *known)
{
    int c;

    if (!a->hi || !b->hi)
        return !a->hi - !b->hi;
    c = order(m, a->hi, b->hi, known);
    return c ? c : a->hi_in - b->hi_in;
}

static bool is_empty(struct math *m, const struct span *s, bool *known)
{
    int c;

    if (!s->lo || !s->hi)
        return false;
    c = order(m, s->lo, s->hi, known);
    return c > 0 || (!c && !(s->lo_in && s->hi_in));
}

/* Whether `b`, which doesn't begin before `a`, leaves no gap behind it. */
static bool touches(struct math *m, const struct span *a, const struct span *b,
                    bool *known)
{
    int c;

    if (!a->hi || !b->lo)
        return true;
    c = order(m, a->hi, b->lo, known);
    return c > 0 || (!c && (a->hi_in || b->lo_in));
}

/* -- sets -------------------------------------------------------------------------- */
static bool add(struct reals *s, struct span a)
{
    if (s->n == MAX_SPANS)
        return false;
    s->at[s->n++] = a;
    return true;
}

bool reals_sort(struct math *m, struct reals *s)
{
    bool known = true;
    int n = 0;

    for (int i = 0; i < s->n && known; i++)
        if (!is_empty(m, &s->at[i], &known))
            s->at[n++] = s->at[i];
    s->n = known ? n : s->n;
    for (int i = 1; i < s->n && known; i++) {
        struct span a = s->at[i];
        int j = i;

        for (; j > 0 && lower_order(m, &a, &s->at[j - 1], &known) < 0 && known; j--)
            s->at[j] = s->at[j - 1];
        s->at[j] = a;
    }
    n = 0;
    for (int i = 1; i < s->n && known; i++) {
        struct span *last = &s->at[n];

        if (!touches(m, last, &s->at[i], &known)) {
            s->at[++n] = s->at[i];
        } else if (upper_order(m, &s->at[i], last, &known) > 0) {
            last->hi = s->at[i].hi;
            last->hi_in = s->at[i].hi_in;
        }
    }
    if (known && s->n)
        s->n = n + 1;
    return known;
}

bool reals_complement(struct math *m, struct reals *s)
{
    struct reals out = {.var = s->var};
    struct span gap = {0};

    if (!reals_sort(m, s))
        return false;
    for (int i = 0; i < s->n; i++) {
        gap.hi = s->at[i].lo;
        gap.hi_in = !s->at[i].lo_in;
        if (gap.hi && !add(&out, gap))
            return false;
        gap = (struct span){.lo = s->at[i].hi, .lo_in = !s->at[i].hi_in};
    }
    if ((gap.lo || !s->n) &&
        !add(&out, (struct span){.lo = gap.lo, .lo_in = gap.lo_in}))
        return false;
    *s = out;
    return true;
}

bool reals_union(struct reals *a, const struct reals *b)
{
    for (int i = 0; i < b->n; i++)
        if (!add(a, b->at[i]))
            return false;
    return true;
}

/* One bounded below and one above: no order is needed, as in a < x < b. */
static bool meet_rays(struct reals *a, const struct reals *b)
{
    struct span *s = a->at;
    const struct span *t = b->at;

    if (a->n != 1 || b->n != 1)
        return false;
    if (!s->lo && !t->hi) {
        s->lo = t->lo;
        s->lo_in = t->lo_in;
        return true;
    }
    if (!s->hi && !t->lo) {
        s->hi = t->hi;
        s->hi_in = t->hi_in;
        return true;
    }
    return false;
}

/* Each span of one with each of the other. */
bool reals_intersect(struct math *m, struct reals *a, const struct reals *b)
{
    struct reals out = {.var = a->var};
    bool known = true;

    if (meet_rays(a, b))
        return true;
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->n; j++) {
            const struct span *s = &a->at[i], *t = &b->at[j];
            bool low = lower_order(m, s, t, &known) > 0;
            bool high = upper_order(m, s, t, &known) < 0;
            struct span meet = {.lo = low ? s->lo : t->lo,
                                .lo_in = low ? s->lo_in : t->lo_in,
                                .hi = high ? s->hi : t->hi,
                                .hi_in = high ? s->hi_in : t->hi_in};

            if (!is_empty(m, &meet, &known) && known && !add(&out, meet))
                return false;
        }
    *a = out;
    return known;
}

/* -- two sets ---------------------------------------------------------------------- */
static struct math_result same_end(struct math *m, const struct node *a,
                                   const struct node *b)
{
    if (!a || !b)
        return found(!a == !b ? MATH_EQUAL : MATH_DIFFERENT, MATH_STEP_SHAPE);
    return tree_compare(m, a, b);
}

static struct math_result same_span(struct math *m, const struct span *a,
                                    const struct span *b)
{
    struct math_result r;

    if ((a->lo && b->lo && a->lo_in != b->lo_in) ||
        (a->hi && b->hi && a->hi_in != b->hi_in))
        return found(MATH_DIFFERENT, MATH_STEP_SHAPE);
    r = both(same_end(m, a->lo, b->lo), same_end(m, a->hi, b->hi));
    if (r.verdict == MATH_DIFFERENT)
        r.step = MATH_STEP_ELEMENT;
    return r;
}

/* Span by span, in any order: what can't be merged may still be written alike. */
static struct math_result as_written(struct math *m, const struct reals *a,
                                     const struct reals *b)
{
    struct math_result all = found(MATH_EQUAL, MATH_STEP_TEXT);

    for (int i = 0; i < a->n; i++) {
        struct math_result best = found(MATH_DIFFERENT, MATH_STEP_ELEMENT);

        for (int j = 0; j < b->n; j++)
            best = either(best, same_span(m, &a->at[i], &b->at[j]));
        all = both(all, best);
    }
    if (a->n == b->n && is_equal(all))
        return all;
    return found(MATH_UNKNOWN, MATH_STEP_UNDECIDED);
}

struct math_result reals_compare(struct math *m, struct reals *a, struct reals *b)
{
    struct math_result r = found(MATH_EQUAL, MATH_STEP_TEXT);

    if (a->n != 1 || b->n != 1) {
        struct reals x = *a, y = *b;

        if (!reals_sort(m, &x) || !reals_sort(m, &y))
            return both(as_written(m, a, b), as_written(m, b, a));
        *a = x;
        *b = y;
        if (x.n != y.n)
            return found(MATH_DIFFERENT, MATH_STEP_ELEMENT);
    }
    for (int i = 0; i < a->n; i++)
        r = both(r, same_span(m, &a->at[i], &b->at[i]));
    return r;
}

/* Whether a tree can only be a set of reals; (a, b), {a, b} and bare lists can be
 * something else. */
static bool is_set(const struct node *a)
{
    return a->kind == NODE_UNION || a->kind == NODE_INTERSECT ||
           a->kind == NODE_MINUS_SET || a->kind == NODE_NAMED_SET ||
           (is_interval(a) && !is_list(a, '(', ')')) || is_relation(a) ||
           a->kind == NODE_AND || a->kind == NODE_OPAQUE;
}

bool stage_reals(struct math *m, const struct node *gold, const struct node *pred,
                 struct math_result *r)
{
    struct reals g = {0}, p = {0};

    if ((!is_set(gold) && !is_set(pred)) || !reals_read(m, gold, &g) ||
        !reals_read(m, pred, &p))
        return false;
    if (g.var && p.var && !tree_same(g.var, p.var))
        *r = found(MATH_DIFFERENT, MATH_STEP_RELATION);
    else
        *r = reals_compare(m, &g, &p);
    return true;
}
