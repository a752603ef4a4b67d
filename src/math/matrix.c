/* matrix.c - matrices and vectors; sums, multiples and products of them. */
#include "math/compare.h"

enum { MAX_ENTRIES = 100, MAX_DETERMINANT = 4 };

static struct node *matrix_new(struct math *m, int rows, int cols)
{
    struct node *a =
        rows * cols <= MAX_ENTRIES ? tree_node(m, NODE_MATRIX, rows * cols) : NULL;

    if (a) {
        a->u.matrix.rows = rows;
        a->u.matrix.cols = cols;
        a->u.matrix.open = '(';
    }
    return a;
}

static const struct node *value(struct math *m, const struct node *a);

static const struct node *times(struct math *m, const struct node *a,
                                const struct node *b)
{
    int rows = a->u.matrix.rows, inner = a->u.matrix.cols, cols = b->u.matrix.cols;
    struct node *c = inner == b->u.matrix.rows ? matrix_new(m, rows, cols) : NULL;

    for (int i = 0; c && i < rows; i++)
        for (int j = 0; j < cols; j++) {
            const struct node *sum = NULL;

            for (int k = 0; k < inner; k++) {
                const struct node *term =
                    tree_times(m, a->kid[i * inner + k], b->kid[k * cols + j]);

                sum = sum ? tree_two(m, NODE_SUM, sum, term) : term;
            }
            if (!(c->kid[i * cols + j] = sum))
                return NULL;
        }
    return c;
}

/* Every entry as the kind of `how` makes it: -x, x * by, x / by. */
static const struct node *each(struct math *m, const struct node *a, enum node_kind how,
                               const struct node *by)
{
    struct node *c = a ? matrix_new(m, a->u.matrix.rows, a->u.matrix.cols) : NULL;

    for (int i = 0; c && i < a->n; i++) {
        c->kid[i] = how == NODE_NEGATE ? tree_one(m, how, a->kid[i])
                                       : tree_two(m, how, a->kid[i], by);
        if (!c->kid[i])
            return NULL;
    }
    return c;
}

static const struct node *sum(struct math *m, const struct node *a)
{
    const struct node *total = value(m, a->kid[0]);

    for (int i = 1; total && i < a->n; i++) {
        const struct node *next = value(m, a->kid[i]);
        struct node *c;

        if (!next || next->u.matrix.rows != total->u.matrix.rows ||
            next->u.matrix.cols != total->u.matrix.cols ||
            !(c = matrix_new(m, next->u.matrix.rows, next->u.matrix.cols)))
            return NULL;
        for (int k = 0; k < c->n; k++)
            if (!(c->kid[k] = tree_two(m, NODE_SUM, total->kid[k], next->kid[k])))
                return NULL;
        total = c;
    }
    return total;
}

static const struct node *product(struct math *m, const struct node *a)
{
    const struct node *scale = NULL, *all = NULL;

    for (int i = 0; i < a->n; i++) {
        const struct node *k = a->kid[i];

        if (tree_scalar(k)) {
            scale = scale ? tree_times(m, scale, k) : k;
        } else {
            k = value(m, k);
            all = k && all ? times(m, all, k) : k;
            if (!all)
                return NULL;
        }
    }
    return all && scale ? each(m, all, NODE_PRODUCT, scale) : all;
}

/* An expression of matrices as one; NULL if it isn't one or is too large. */
static const struct node *value(struct math *m, const struct node *a)
{
    switch (a->kind) {
    case NODE_MATRIX:
        return a->n <= MAX_ENTRIES ? a : NULL;
    case NODE_NEGATE:
        return each(m, value(m, a->kid[0]), NODE_NEGATE, NULL);
    case NODE_SUM:
        return sum(m, a);
    case NODE_PRODUCT:
        return product(m, a);
    case NODE_QUOTIENT:
        return tree_scalar(a->kid[1])
                   ? each(m, value(m, a->kid[0]), NODE_QUOTIENT, a->kid[1])
                   : NULL;
    default:
        return NULL;
    }
}

/* A vector as a tuple, a matrix as its rows in brackets. */
static bool matrix_to_list(struct math *m, const struct node *a, const struct node *b,
                           struct math_result *r)
{
    int cols = a->u.matrix.cols;

    *r = found(MATH_DIFFERENT, MATH_STEP_SHAPE);
    if (is_vector(a) && a->n == b->n && !is_braces(b)) {
        *r = match_items(m, a->kid, a->n, b->kid, b->n, IN_ORDER);
        return true;
    }
    if (b->n != a->u.matrix.rows)
        return true;
    for (int i = 0; i < b->n; i++)
        if (b->kid[i]->kind != NODE_LIST || b->kid[i]->n != cols)
            return true;
    *r = found(MATH_EQUAL, MATH_STEP_TEXT);
    for (int i = 0; i < b->n && r->verdict != MATH_DIFFERENT; i++)
        *r = both(*r, match_items(m, a->kid + i * cols, cols, b->kid[i]->kid, cols,
                                  IN_ORDER));
    return true;
}

/* The determinant of the rows from `row` on and the columns in `cols`, by the first of
 * these rows. */
static const struct node *determinant(struct math *m, const struct node *a, int row,
                                      unsigned cols)
{
    const struct node *total = NULL;
    int n = a->u.matrix.cols, sign = 1;

    for (int j = 0; j < n; j++) {
        const struct node *term = a->kid[row * n + j];

        if (!(cols >> j & 1))
            continue;
        if (row + 1 < n)
            term = tree_times(m, term, determinant(m, a, row + 1, cols & ~(1u << j)));
        if (sign < 0)
            term = tree_one(m, NODE_NEGATE, term);
        total = total ? tree_two(m, NODE_SUM, total, term) : term;
        sign = -sign;
    }
    return total;
}

/* A determinant as the scalar it is; anything else as it is. */
static const struct node *expand(struct math *m, const struct node *a)
{
    const struct node *k =
        a->kind == NODE_FUNCTION && a->u.fn == FN_DET ? a->kid[0] : NULL;
    int n;

    if (!k || k->kind != NODE_MATRIX)
        return a;
    n = k->u.matrix.rows;
    if (n != k->u.matrix.cols || n > MAX_DETERMINANT)
        return a;
    return determinant(m, k, 0, (1u << n) - 1);
}

bool stage_determinant(struct math *m, const struct node *gold, const struct node *pred,
                       struct math_result *r)
{
    const struct node *g = expand(m, gold), *p = expand(m, pred);

    if (g == gold && p == pred)
        return false;
    *r = tree_compare(m, g, p);
    return true;
}

bool stage_matrix(struct math *m, const struct node *gold, const struct node *pred,
                  struct math_result *r)
{
    bool g = has_kind(gold, NODE_MATRIX), p = has_kind(pred, NODE_MATRIX);
    const struct node *a = g && gold->kind != NODE_LIST ? value(m, gold) : NULL;
    const struct node *b = p && pred->kind != NODE_LIST ? value(m, pred) : NULL;

    if (a && pred->kind == NODE_LIST)
        return matrix_to_list(m, a, pred, r);
    if (b && gold->kind == NODE_LIST)
        return matrix_to_list(m, b, gold, r);
    if (!a || !b)
        return false;
    if (a->u.matrix.rows != b->u.matrix.rows || a->u.matrix.cols != b->u.matrix.cols)
        *r = found(MATH_DIFFERENT, MATH_STEP_SHAPE);
    else
        *r = match_items(m, a->kid, a->n, b->kid, b->n, IN_ORDER);
    return true;
}
