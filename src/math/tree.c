/* tree.c - nodes from the arena. */
#include <stdalign.h>
#include <string.h>
#include <strings.h>

#include "math/tree.h"

void *tree_take(struct math *m, size_t bytes)
{
    size_t size = (bytes + 15) & ~(size_t)15;
    void *p = m->arena + m->used;

    if (bytes > MAX_ARENA || size > MAX_ARENA - m->used) {
        m->over = true;
        return NULL;
    }
    m->used += size;
    return memset(p, 0, size);
}

const char *tree_name(struct math *m, const char *s, size_t n)
{
    char *p = n < MAX_ARENA ? tree_take(m, n + 1) : NULL;

    if (!p) {
        m->over = true;
        return NULL;
    }
    memcpy(p, s, n);
    return p;
}

mpq_ptr tree_literal(struct math *m)
{
    if (m->n_literals == MAX_LITERALS) {
        m->over = true;
        return NULL;
    }
    return m->literal[m->n_literals++];
}

struct node *tree_node(struct math *m, enum node_kind kind, int n)
{
    struct node *a = tree_take(m, sizeof *a);

    if (!a)
        return NULL;
    a->kind = kind;
    a->n = n;
    a->kid = n ? tree_take(m, (size_t)n * sizeof(struct node *)) : NULL;
    return n && !a->kid ? NULL : a;
}

struct node *tree_many(struct math *m, enum node_kind kind,
                       const struct node *const *kid, int n)
{
    struct node *a = tree_node(m, kind, n);

    for (int i = 0; a && i < n; i++) {
        a->kid[i] = kid[i];
        if (!kid[i])
            return NULL;
    }
    return a;
}

struct node *tree_one(struct math *m, enum node_kind kind, const struct node *a)
{
    return tree_many(m, kind, &a, 1);
}

struct node *tree_two(struct math *m, enum node_kind kind, const struct node *a,
                      const struct node *b)
{
    const struct node *kid[] = {a, b};

    return tree_many(m, kind, kid, 2);
}

const struct node *tree_integer(struct math *m, long v)
{
    mpq_ptr q = tree_literal(m);

    if (q)
        mpq_set_si(q, v, 1);
    return tree_rational(m, q);
}

const struct node *tree_number(struct math *m, mpq_srcptr q, int places)
{
    struct node *a = q ? tree_node(m, NODE_NUMBER, 0) : NULL;

    if (a) {
        a->u.number.q = q;
        a->u.number.places = places;
    }
    return a;
}

const struct node *tree_rational(struct math *m, mpq_srcptr q)
{
    return tree_number(m, q, -1);
}

const struct node *list_of(struct math *m, const struct node *const *item, int n,
                           char open, char close)
{
    struct node *a = tree_many(m, NODE_LIST, item, n);

    if (a) {
        a->u.list.open = open;
        a->u.list.close = close;
    }
    return a;
}

const struct node *tree_function(struct math *m, enum fn fn, const struct node *a)
{
    struct node *f = a ? tree_one(m, NODE_FUNCTION, a) : NULL;

    if (f)
        f->u.fn = fn;
    return f;
}

static bool named(enum node_kind k)
{
    return k == NODE_SYMBOL || k == NODE_CALL || k == NODE_OPAQUE || k == NODE_WORDS ||
           k == NODE_NAMED_SET;
}

static bool same_unit(const struct unit *a, const struct unit *b)
{
    return !memcmp(a->power, b->power, sizeof a->power) && a->degrees == b->degrees &&
           mpq_equal(a->factor, b->factor) && !strcmp(a->name, b->name);
}

static bool same_head(const struct node *a, const struct node *b)
{
    if (a->kind != b->kind || a->n != b->n)
        return false;
    if (named(a->kind))
        return !strcmp(a->u.name, b->u.name);
    switch (a->kind) {
    case NODE_NUMBER:
        return mpq_equal(a->u.number.q, b->u.number.q);
    case NODE_FUNCTION:
        return a->u.fn == b->u.fn;
    case NODE_LIST:
        return a->u.list.open == b->u.list.open && a->u.list.close == b->u.list.close;
    case NODE_RELATION:
        return !memcmp(a->u.ops, b->u.ops, (size_t)(a->n - 1) * sizeof *a->u.ops);
    case NODE_MATRIX:
        return a->u.matrix.rows == b->u.matrix.rows;
    case NODE_QUANTITY:
        return same_unit(a->u.unit, b->u.unit);
    case NODE_PLUSMINUS:
        return a->u.minus_plus == b->u.minus_plus;
    default:
        return true;
    }
}

/* Trees are at most MAX_DEPTH deep, so the recursion is bounded. */
bool tree_same(const struct node *a, const struct node *b)
{
    if (a == b)
        return true;
    if (!same_head(a, b))
        return false;
    for (int i = 0; i < a->n; i++)
        if (!tree_same(a->kid[i], b->kid[i]))
            return false;
    return true;
}

int tree_depth(const struct node *a)
{
    int most = 0;

    for (int i = 0; i < a->n; i++) {
        int d = tree_depth(a->kid[i]);

        most = d > most ? d : most;
    }
    return most + 1;
}

bool tree_scalar(const struct node *a)
{
    if (a->kind >= NODE_LIST)
        return false;
    for (int i = 0; i < a->n; i++)
        if (!tree_scalar(a->kid[i]))
            return false;
    return true;
}

bool has_kind(const struct node *a, enum node_kind kind)
{
    if (a->kind == kind)
        return true;
    for (int i = 0; i < a->n; i++)
        if (has_kind(a->kid[i], kind))
            return true;
    return false;
}

bool is_equation(const struct node *a)
{
    if (a->kind != NODE_RELATION)
        return false;
    for (int i = 0; i + 1 < a->n; i++)
        if (a->u.ops[i] != REL_EQ && a->u.ops[i] != REL_APPROX)
            return false;
    return true;
}

bool word_listed(const char *list, const char *s, size_t n, bool exact)
{
    for (const char *w = list; *w;) {
        size_t k = strcspn(w, " ");

        if (k == n && !(exact || n < 2 ? strncmp(w, s, n) : strncasecmp(w, s, n)))
            return true;
        w += k + (w[k] == ' ');
    }
    return false;
}

static const char *const kind_names[NODE_KIND_COUNT] = {
    "number",   "symbol",   "pi",       "e",         "i",      "infinity", "sum",
    "product",  "negate",   "quotient", "power",     "root",   "abs",      "factorial",
    "binomial", "function", "call",     "plusminus", "opaque", "list",     "relation",
    "and",      "or",       "union",    "intersect", "minus",  "set",      "matrix",
    "quantity", "words",    "ratio",
};

static const char *const rel_names[REL_COUNT] = {
    "=", "!=", "<", "<=", ">", ">=", "in", "notin", "subset", "approx", "equiv",
};

static const char *const fn_names[FN_COUNT] = {
#define X(name, text) text,
    FN_LIST(X)
#undef X
};

/* What stands behind the kind. */
static void print_head(const struct node *a, FILE *to)
{
    if (named(a->kind))
        fprintf(to, " \"%s\"", a->u.name);
    else if (a->kind == NODE_FUNCTION)
        fprintf(to, " %s", fn_names[a->u.fn]);
    else if (a->kind == NODE_LIST && a->u.list.open)
        fprintf(to, " '%c%c'", a->u.list.open, a->u.list.close);
    else if (a->kind == NODE_MATRIX)
        fprintf(to, " %dx%d", a->u.matrix.rows, a->u.matrix.cols);
    else if (a->kind == NODE_QUANTITY)
        fprintf(to, " [%s]", a->u.unit->name);
    else if (a->kind == NODE_RELATION)
        for (int i = 0; i + 1 < a->n; i++)
            fprintf(to, " %s", rel_names[a->u.ops[i]]);
}

static void print_number(const struct node *a, FILE *to)
{
    char digits[64];

    if (mpz_sizeinbase(mpq_numref(a->u.number.q), 10) +
            mpz_sizeinbase(mpq_denref(a->u.number.q), 10) >
        sizeof digits - 4)
        fprintf(to, "<%zu-digit number>",
                mpz_sizeinbase(mpq_numref(a->u.number.q), 10));
    else
        fputs(mpq_get_str(digits, 10, a->u.number.q), to);
}

void tree_print(const struct node *a, FILE *to)
{
    if (a->kind == NODE_NUMBER) {
        print_number(a, to);
        return;
    }
    if (a->kind == NODE_SYMBOL) {
        fputs(a->u.name, to);
        return;
    }
    if (!a->n && !named(a->kind) && a->kind != NODE_LIST) {
        fputs(kind_names[a->kind], to);
        return;
    }
    fprintf(to, "(%s", kind_names[a->kind]);
    print_head(a, to);
    for (int i = 0; i < a->n; i++) {
        fputc(' ', to);
        tree_print(a->kid[i], to);
    }
    fputc(')', to);
}
