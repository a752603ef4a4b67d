/* family.c - values with a parameter: k\pi, k \in \mathbb{Z}.
 *
 * That a parameter is an integer (or a real constant) may be left unsaid, and its
 * letter doesn't matter where it is said.
 */
#include <string.h>

#include "math/compare.h"

/* -- parameters -------------------------------------------------------------------- */
struct family {
    const struct node *values; /* without the condition */
    const struct node *letter; /* NULL: nothing is said of a parameter */
    char set;                  /* Z, R, C, N or Q */
};

/* The set's letter; 0 if it isn't one that a parameter runs through. */
static char domain_of(const struct node *set)
{
    const char *name =
        set->kind == NODE_NAMED_SET || set->kind == NODE_SYMBOL ? set->u.name : "";

    if (!name[0] || !strchr("ZRCNQ", name[0]))
        return 0;
    if (!name[1])
        return name[0];
    return 0;
}

/* "k is an integer": the letter as a symbol. */
static const struct node *integer_words(struct math *m, const struct node *a)
{
    static const char *const integer[] = {" is an integer", " is any integer", "为整数",
                                          "是整数"};
    struct node *letter;

    for (size_t i = 0; a->kind == NODE_WORDS && i < sizeof integer / sizeof *integer;
         i++) {
        if (!a->u.name[0] || strcmp(a->u.name + 1, integer[i]))
            continue;
        letter = tree_node(m, NODE_SYMBOL, 0);
        if (letter)
            letter->u.name = tree_name(m, a->u.name, 1);
        return letter && letter->u.name ? letter : NULL;
    }
    return NULL;
}

static bool read_condition(struct math *m, const struct node *a, struct family *out)
{
    if (a->kind == NODE_RELATION && a->n == 2 && a->u.ops[0] == REL_IN &&
        a->kid[0]->kind == NODE_SYMBOL) {
        out->letter = a->kid[0];
        out->set = domain_of(a->kid[1]);
        return out->set != 0;
    }
    out->letter = integer_words(m, a);
    out->set = 'Z';
    return out->letter != NULL;
}

/* Whether `letter` is a whole side of a relation: then it is what is asked for, and its
 * set a condition on the answer. */
static bool asked_for(const struct node *a, const struct node *letter)
{
    if (a->kind == NODE_RELATION)
        for (int i = 0; i < a->n; i++)
            if (tree_same(a->kid[i], letter))
                return true;
    if (a->kind == NODE_AND || a->kind == NODE_OR || is_bare(a))
        for (int i = 0; i < a->n; i++)
            if (asked_for(a->kid[i], letter))
                return true;
    return false;
}

/* The condition at the end of a list, of relations that hold together, or of the last
 * of several alternatives. */
static bool read_family(struct math *m, const struct node *a, struct family *out)
{
    const struct node *last = a->n > 1 ? a->kid[a->n - 1] : NULL;
    struct node *copy;

    *out = (struct family){.values = a};
    if (a->kind == NODE_OPAQUE && a->n == 2 && !strcmp(a->u.name, "set")) {
        /* {2k\pi | k \in \mathbb{Z}} */
        out->values = a->kid[0];
        return read_condition(m, last, out) && has_part(out->values, out->letter) &&
               !tree_same(out->values, out->letter) && !is_relation(out->values);
    }
    if (!last || (!is_bare(a) && a->kind != NODE_AND && a->kind != NODE_OR))
        return false;
    if (a->kind == NODE_OR) {
        if (last->kind != NODE_AND || !read_family(m, last, out) ||
            !(copy = tree_node(m, NODE_OR, a->n)))
            return false;
        memcpy(copy->kid, a->kid, (size_t)a->n * sizeof *a->kid);
        copy->kid[a->n - 1] = out->values;
        out->values = copy;
    } else {
        if (!read_condition(m, last, out))
            return false;
        out->values = a->n == 2 ? a->kid[0] : list_of(m, a->kid, a->n - 1, 0, 0);
    }
    return out->values && has_part(out->values, out->letter) &&
           !asked_for(out->values, out->letter);
}

/* `a` with another letter for the parameter. */
static const struct node *rename_symbol(struct math *m, const struct node *a,
                                        const struct node *from, const struct node *to)
{
    struct node *copy;

    if (tree_same(a, from))
        return to;
    if (!a->n)
        return a;
    if (!(copy = tree_node(m, a->kind, a->n)))
        return NULL;
    copy->u = a->u;
    for (int i = 0; i < a->n; i++)
        if (!(copy->kid[i] = rename_symbol(m, a->kid[i], from, to)))
            return NULL;
    return copy;
}

/* A letter that `a` has and that is usual for integers. */
static const struct node *usual_letter(const struct node *a)
{
    if (a->kind == NODE_SYMBOL)
        return strchr("knmltNK", a->u.name[0]) && !a->u.name[1] ? a : NULL;
    for (int i = 0; i < a->n; i++) {
        const struct node *k = usual_letter(a->kid[i]);

        if (k)
            return k;
    }
    return NULL;
}

bool stage_family(struct math *m, const struct node *gold, const struct node *pred,
                  struct math_result *r)
{
    struct family g, p;
    bool has_g = read_family(m, gold, &g), has_p = read_family(m, pred, &p);
    const struct node *from, *to;

    if (!has_g && !has_p)
        return false;
    if (has_g && has_p && g.set != p.set)
        return false;
    if (!has_g != !has_p && (has_g ? g.set : p.set) != 'Z' &&
        (has_g ? g.set : p.set) != 'R')
        return false;
    g.values = has_g ? g.values : gold;
    p.values = has_p ? p.values : pred;
    to = has_g ? g.letter : usual_letter(g.values);
    from = has_p ? p.letter : usual_letter(p.values);
    if (from && to && !tree_same(from, to) && !has_part(g.values, from) &&
        !has_part(p.values, to))
        p.values = rename_symbol(m, p.values, from, to);
    *r = tree_compare(m, g.values, p.values);
    return true;
}

/* -- sets of what fulfils a condition ---------------------------------------------- */
/* {x | conditions} of one letter: *x and the conditions. */
static const struct node *conditions(const struct node *a, const struct node **x)
{
    if (a->kind != NODE_OPAQUE || strcmp(a->u.name, "set") || a->n != 2 ||
        !is_relation(a->kid[1]))
        return NULL;
    *x = a->kid[0];
    if ((*x)->kind == NODE_RELATION && (*x)->n == 2 && (*x)->u.ops[0] == REL_IN &&
        domain_of((*x)->kid[1]) == 'R')
        *x = (*x)->kid[0];
    return (*x)->kind == NODE_SYMBOL ? a->kid[1] : NULL;
}

/* {x | x = k\pi} and x = k\pi; {x | ...} and {y | ...}.  Equality is proved, difference
 * isn't. */
bool stage_builder(struct math *m, const struct node *gold, const struct node *pred,
                   struct math_result *r)
{
    const struct node *x = NULL, *y = NULL;
    const struct node *g = conditions(gold, &x), *p = conditions(pred, &y);

    if (!g && !p)
        return false;
    if (g && p && !tree_same(x, y)) {
        if (has_part(p, x) || has_part(g, y))
            return false;
        p = rename_symbol(m, p, y, x);
    }
    *r = tree_compare(m, g ? g : gold, p ? p : pred);
    return is_equal(*r);
}
