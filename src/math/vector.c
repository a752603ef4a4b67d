/* vector.c - 3\hat{i} - 4\hat{j} and \mathbf{i} + 2\mathbf{j} as tuples. */
#include <string.h>

#include "math/compare.h"

enum { AXES = 3 };

/* 0, 1, 2 of a unit vector; -1 of anything else. */
static int axis(const struct node *a)
{
    static const char *const names[][3] = {
        {"i", "j", "k"},
        {"\\hat{i}", "\\hat{j}", "\\hat{k}"},
        {"\\hat{\\imath}", "\\hat{\\jmath}", "\\hat{k}"},
        {"\\imath", "\\jmath", "k"},
    };

    for (int i = 0; a->kind == NODE_SYMBOL && i < 4; i++)
        for (int k = 0; k < AXES; k++)
            if (!strcmp(a->u.name, names[i][k]))
                return k;
    return -1;
}

static bool has_axis(const struct node *a)
{
    if (axis(a) >= 0)
        return true;
    for (int i = 0; i < a->n; i++)
        if (has_axis(a->kid[i]))
            return true;
    return false;
}

static bool add_terms(struct math *m, const struct node *a, const struct node *scale,
                      const struct node *part[AXES]);

/* A product of numbers and one vector. */
static bool add_product(struct math *m, const struct node *a, const struct node *scale,
                        const struct node *part[AXES])
{
    const struct node *vector = NULL;

    for (int i = 0; i < a->n; i++) {
        if (!has_axis(a->kid[i]))
            scale = tree_times(m, scale, a->kid[i]);
        else if (vector)
            return false;
        else
            vector = a->kid[i];
    }
    return vector && scale && add_terms(m, vector, scale, part);
}

/* Add scale * a to the parts; NULL is none. */
static bool add_terms(struct math *m, const struct node *a, const struct node *scale,
                      const struct node *part[AXES])
{
    int k = axis(a);

    if (k >= 0) {
        part[k] = part[k] ? tree_two(m, NODE_SUM, part[k], scale) : scale;
        return part[k] != NULL;
    }
    switch (a->kind) {
    case NODE_SUM:
        for (int i = 0; i < a->n; i++)
            if (!add_terms(m, a->kid[i], scale, part))
                return false;
        return true;
    case NODE_NEGATE:
        scale = tree_one(m, NODE_NEGATE, scale);
        return scale && add_terms(m, a->kid[0], scale, part);
    case NODE_PRODUCT:
        return add_product(m, a, scale, part);
    case NODE_QUOTIENT:
        scale = tree_two(m, NODE_QUOTIENT, scale, a->kid[1]);
        return scale && !has_axis(a->kid[1]) && add_terms(m, a->kid[0], scale, part);
    default:
        return false;
    }
}

static bool is_components(const struct node *a)
{
    return (is_tuple(a) || is_vector(a)) && (a->n == 2 || a->n == AXES);
}

bool stage_vector(struct math *m, const struct node *gold, const struct node *pred,
                  struct math_result *r)
{
    bool g = is_components(gold), p = is_components(pred);
    const struct node *sum = g ? pred : gold, *tuple = g ? gold : pred;
    const struct node *part[AXES] = {0};

    if (g == p || sum->kind >= NODE_LIST || !has_axis(sum) ||
        !add_terms(m, sum, tree_integer(m, 1), part) || (part[2] && tuple->n == 2))
        return false;
    for (int k = 0; k < AXES; k++)
        if (!part[k] && !(part[k] = tree_integer(m, 0)))
            return false;
    *r = g ? match_items(m, tuple->kid, tuple->n, part, tuple->n, IN_ORDER)
           : match_items(m, part, tuple->n, tuple->kid, tuple->n, IN_ORDER);
    return true;
}
