/* match.c - items against items, in order or in any. */
#include <stdlib.h>
#include <string.h>

#include "math/compare.h"

/* Verdicts of all pairs; `level` is what an edge may be at worst (doubt). */
struct pairs {
    int na, nb;
    unsigned char verdict[MAX_MATCH][MAX_MATCH];
    enum math_step step; /* the latest among the equals */
};

static const enum math_verdict by_doubt[] = {MATH_EQUAL, MATH_EQUAL_NUMERIC,
                                             MATH_UNKNOWN};

static bool within(const struct pairs *p, int i, int j, int doubt)
{
    for (int d = 0; d <= doubt; d++)
        if (p->verdict[i][j] == by_doubt[d])
            return true;
    return false;
}

static struct math_result in_order(struct math *m, const struct node *const *a,
                                   const struct node *const *b, int n)
{
    struct math_result r = found(MATH_EQUAL, MATH_STEP_TEXT);

    for (int i = 0; i < n && r.verdict != MATH_DIFFERENT; i++)
        r = both(r, tree_compare(m, a[i], b[i]));
    if (r.verdict == MATH_DIFFERENT)
        r.step = MATH_STEP_ELEMENT;
    return r;
}

/* One more pair along an alternating path from item i (Kuhn 1955); at most MAX_MATCH
 * deep. */
static bool augment(const struct pairs *p, int i, int doubt, bool *seen, int *of)
{
    for (int j = 0; j < p->nb; j++) {
        if (seen[j] || !within(p, i, j, doubt))
            continue;
        seen[j] = true;
        if (of[j] < 0 || augment(p, of[j], doubt, seen, of)) {
            of[j] = i;
            return true;
        }
    }
    return false;
}

/* Of as many. */
static bool one_to_one(const struct pairs *p, int doubt)
{
    int of[MAX_MATCH];

    for (int j = 0; j < p->nb; j++)
        of[j] = -1;
    for (int i = 0; i < p->na; i++) {
        bool seen[MAX_MATCH] = {false};

        if (!augment(p, i, doubt, seen, of))
            return false;
    }
    return true;
}

/* Every item of either side is one of the other's. */
static bool covered(const struct pairs *p, int doubt)
{
    bool b_has[MAX_MATCH] = {false};

    for (int i = 0; i < p->na; i++) {
        bool a_has = false;

        for (int j = 0; j < p->nb; j++)
            if (within(p, i, j, doubt))
                a_has = b_has[j] = true;
        if (!a_has)
            return false;
    }
    for (int j = 0; j < p->nb; j++)
        if (!b_has[j])
            return false;
    return true;
}

static struct math_result any_order(struct math *m, const struct node *const *a, int na,
                                    const struct node *const *b, int nb, bool as_set)
{
    struct pairs p = {.na = na, .nb = nb, .step = MATH_STEP_TEXT};

    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++) {
            struct math_result r = tree_compare(m, a[i], b[j]);

            if (r.step == MATH_STEP_FUEL)
                return r;
            p.verdict[i][j] = (unsigned char)r.verdict;
            if (is_equal(r) && r.step > p.step)
                p.step = r.step;
        }
    for (int d = 0; d < 3; d++)
        if (as_set ? covered(&p, d) : one_to_one(&p, d))
            return found(by_doubt[d], d < 2 ? p.step : MATH_STEP_UNDECIDED);
    return found(MATH_DIFFERENT, MATH_STEP_ELEMENT);
}

static bool all_numbers(const struct node *const *a, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i]->kind != NODE_NUMBER)
            return false;
    return true;
}

static int by_value(const void *a, const void *b)
{
    const struct node *const *x = a, *const *y = b;

    return mpq_cmp((*x)->u.number.q, (*y)->u.number.q);
}

/* A sorted copy without repetitions; *n is its length. */
static const struct node **sorted(struct math *m, const struct node *const *a, int *n,
                                  bool as_set)
{
    const struct node **s = tree_take(m, (size_t)*n * sizeof *s + 1);
    int kept = 0;

    if (!s)
        return NULL;
    memcpy(s, a, (size_t)*n * sizeof *s);
    qsort(s, (size_t)*n, sizeof *s, by_value);
    for (int i = 0; i < *n; i++)
        if (!as_set || !kept || by_value(&s[kept - 1], &s[i]))
            s[kept++] = s[i];
    *n = kept;
    return s;
}

/* Too many to try every pair: plain numbers are sorted, others must be in order. */
static struct math_result many(struct math *m, const struct node *const *a, int na,
                               const struct node *const *b, int nb, bool as_set)
{
    struct math_result r = found(MATH_UNKNOWN, MATH_STEP_LIMIT);

    if (all_numbers(a, na) && all_numbers(b, nb)) {
        a = sorted(m, a, &na, as_set);
        b = a ? sorted(m, b, &nb, as_set) : NULL;
        if (!b)
            return r;
        if (na != nb)
            return found(MATH_DIFFERENT, MATH_STEP_ELEMENT);
        return in_order(m, a, b, na);
    }
    if (na == nb)
        r = in_order(m, a, b, na);
    return is_equal(r) ? r : found(MATH_UNKNOWN, MATH_STEP_LIMIT);
}

struct math_result match_items(struct math *m, const struct node *const *a, int na,
                               const struct node *const *b, int nb, enum order order)
{
    if (order != AS_SET && na != nb)
        return found(MATH_DIFFERENT, MATH_STEP_SHAPE);
    if (order == IN_ORDER)
        return in_order(m, a, b, na);
    if (na > MAX_MATCH || nb > MAX_MATCH)
        return many(m, a, na, b, nb, order == AS_SET);
    return any_order(m, a, na, b, nb, order == AS_SET);
}
