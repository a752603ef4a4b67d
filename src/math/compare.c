/* compare.c - two texts, two trees: the stages in their order. */
#include <string.h>

#include "math/compare.h"
#include "math/scalar.h"

struct math_result found(enum math_verdict v, enum math_step step)
{
    return (struct math_result){.verdict = v, .step = step};
}

/* How strongly a verdict stands in the way of "equal". */
static int doubt(enum math_verdict v)
{
    static const int of[MATH_VERDICT_COUNT] = {
        [MATH_EQUAL] = 0,
        [MATH_EQUAL_NUMERIC] = 1,
        [MATH_UNKNOWN] = 2,
        [MATH_DIFFERENT] = 3,
    };

    return of[v];
}

struct math_result both(struct math_result a, struct math_result b)
{
    if (a.verdict == b.verdict && is_equal(a))
        return a.step > b.step ? a : b;
    return doubt(a.verdict) >= doubt(b.verdict) ? a : b;
}

struct math_result either(struct math_result a, struct math_result b)
{
    return doubt(a.verdict) <= doubt(b.verdict) ? a : b;
}

/* -- the stages -------------------------------------------------------------------- */
static bool stage_same(struct math *m, const struct node *gold, const struct node *pred,
                       struct math_result *r)
{
    (void)m;
    *r = found(MATH_EQUAL, MATH_STEP_TEXT);
    return tree_same(gold, pred);
}

static bool stage_opaque(struct math *m, const struct node *gold,
                         const struct node *pred, struct math_result *r)
{
    if (gold->kind != NODE_OPAQUE || pred->kind != NODE_OPAQUE)
        return false;
    *r = found(MATH_UNKNOWN, MATH_STEP_UNDECIDED);
    if (gold->n == pred->n && !strcmp(gold->u.name, pred->u.name)) {
        struct math_result parts =
            match_items(m, gold->kid, gold->n, pred->kid, pred->n, IN_ORDER);

        if (is_equal(parts))
            *r = parts;
    }
    return true;
}

static bool stage_scalar(struct math *m, const struct node *gold,
                         const struct node *pred, struct math_result *r)
{
    if (gold->kind >= NODE_LIST || pred->kind >= NODE_LIST)
        return false;
    gold = tree_plain(m, gold);
    pred = tree_plain(m, pred);
    *r = gold && pred ? scalar_compare(m, gold, pred)
                      : found(MATH_UNKNOWN, MATH_STEP_UNDECIDED);
    return true;
}

/* Two kinds of object; what isn't evaluated may still be the other. */
static bool stage_shape(struct math *m, const struct node *gold,
                        const struct node *pred, struct math_result *r)
{
    (void)m;
    if (has_kind(gold, NODE_OPAQUE) || has_kind(pred, NODE_OPAQUE))
        *r = found(MATH_UNKNOWN, MATH_STEP_UNDECIDED);
    else
        *r = found(MATH_DIFFERENT, MATH_STEP_SHAPE);
    return true;
}

static compare_stage *const stages[] = {
    stage_same,          stage_choice,        stage_exponent, stage_family,
    stage_letters,       stage_approximation, stage_words,    stage_system,
    stage_assignment,    stage_quantity,      stage_base,     stage_ratio,
    stage_decimal_comma, stage_plusminus,     stage_relation, stage_reals,
    stage_builder,       stage_point,         stage_vector,   stage_list,
    stage_determinant,   stage_matrix,        stage_parts,    stage_opaque,
    stage_scalar,        stage_shape,
};

/* -- one pair ---------------------------------------------------------------------- */
/* cases of relations is a system of them. */
static const struct node *peel_cases(struct math *m, const struct node *a)
{
    for (int i = 0; i < a->n; i++)
        if (!is_relation(a->kid[i]))
            return a;
    return a->n && !strcmp(a->u.name, "cases") ? tree_many(m, NODE_AND, a->kid, a->n)
                                               : a;
}

/* Brackets round one thing, and words that mean a thing. */
static const struct node *peel(struct math *m, const struct node *a)
{
    while (a && a->n == 1 && a->kid[0]->kind != NODE_NAMED_SET &&
           (a->kind == NODE_LIST || a->kind == NODE_AND || a->kind == NODE_OR ||
            a->kind == NODE_UNION || a->kind == NODE_INTERSECT ||
            a->kind == NODE_MATRIX))
        a = a->kid[0];
    if (a && a->kind == NODE_WORDS)
        a = words_meaning(m, a);
    if (a && a->kind == NODE_OPAQUE)
        a = peel_cases(m, a);
    return a && a->kind == NODE_LIST && !a->n ? named_set(m, "empty") : a;
}

static struct math_result decide(struct math *m, const struct node *gold,
                                 const struct node *pred)
{
    struct math_result r = found(MATH_UNKNOWN, MATH_STEP_UNDECIDED);

    gold = peel(m, gold);
    pred = peel(m, pred);
    if (!gold || !pred)
        return found(MATH_UNKNOWN, MATH_STEP_LIMIT);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (stages[i](m, gold, pred, &r))
            return r;
    return r;
}

static void explain_pair(struct math *m, const struct node *gold,
                         const struct node *pred, struct math_result r)
{
    if (!m->explain || !gold || !pred)
        return;
    fprintf(m->explain, "%*s", 2 * m->level + 2, "");
    tree_print(gold, m->explain);
    fputs(" ~ ", m->explain);
    tree_print(pred, m->explain);
    fprintf(m->explain, ": %s (%s)\n", math_verdict_text(r.verdict),
            math_step_text(r.step));
}

struct math_result tree_compare(struct math *m, const struct node *gold,
                                const struct node *pred)
{
    size_t used = m->used;
    int n_literals = m->n_literals;
    struct math_result r;

    m->fuel += COST_PAIR;
    if (!gold || !pred || m->level >= MAX_LEVEL)
        return found(MATH_UNKNOWN, MATH_STEP_LIMIT);
    if (m->fuel > MAX_FUEL)
        return found(MATH_UNKNOWN, MATH_STEP_FUEL);
    m->level++;
    r = decide(m, gold, pred);
    m->level--;
    explain_pair(m, gold, pred, r);
    m->used = used;
    m->n_literals = n_literals;
    return r;
}

/* -- texts ------------------------------------------------------------------------- */
struct side {
    const char *normal; /* NULL: over a bound */
    const struct node *tree;
    bool over;
};

static struct side read_side(struct math *m, const char *text, size_t n)
{
    struct side s = {0};

    m->over = false;
    s.normal = math_normalise(m, text, n);
    s.over = m->over;
    return s;
}

static void parse_side(struct math *m, struct side *s)
{
    m->over = false;
    s->tree = s->normal ? math_parse(m, s->normal) : NULL;
    if (s->normal && !s->tree && !m->over)
        s->tree = math_parse_units(m, s->normal); /* 12 kg m/s^2 */
    s->over = !s->tree && (s->over || m->over);
    m->over = false;
}

static bool same_text(const struct side *a, const struct side *b)
{
    return a->normal && b->normal && !strcmp(a->normal, b->normal);
}

/* A letter against a letter with its text behind it. */
static bool compare_choice(const struct side *a, const struct side *b,
                           struct math_result *r)
{
    bool only_a = false, only_b = false;
    char x = a->normal ? words_choice(a->normal, &only_a) : 0;
    char y = b->normal ? words_choice(b->normal, &only_b) : 0;

    *r = found(x == y ? MATH_EQUAL : MATH_DIFFERENT, MATH_STEP_WORDS);
    return x && y && (only_a || only_b);
}

/* The side read anew with letters as units, "5 \mu m"; its tree if that has none. */
static const struct node *tree_with_units(struct math *m, const struct side *s)
{
    const struct node *a = has_symbol(s->tree) ? math_parse_units(m, s->normal) : NULL;

    m->over = false;
    return a && has_kind(a, NODE_QUANTITY) ? a : s->tree;
}

/* Where one has a unit the letters of the other may be one too. */
static struct math_result with_units(struct math *m, const struct side *g,
                                     const struct side *p, struct math_result r)
{
    const struct node *a, *b;

    if (!has_kind(g->tree, NODE_QUANTITY) && !has_kind(p->tree, NODE_QUANTITY))
        return r;
    a = tree_with_units(m, g);
    b = tree_with_units(m, p);
    return a == g->tree && b == p->tree ? r : either(r, tree_compare(m, a, b));
}

static struct math_result compare_sides(struct math *m, struct side *g, struct side *p)
{
    struct math_result r;

    if (same_text(g, p))
        return found(MATH_EQUAL, MATH_STEP_TEXT);
    if (compare_choice(g, p, &r))
        return r;
    parse_side(m, g);
    parse_side(m, p);
    if (g->tree && p->tree) {
        r = tree_compare(m, g->tree, p->tree);
        return is_equal(r) ? r : with_units(m, g, p, r);
    }
    if (g->over || p->over)
        return found(MATH_UNKNOWN, MATH_STEP_LIMIT);
    /* Nothing at all is no answer; anything else that can't be read might be right. */
    if ((g->normal && !*g->normal) || (p->normal && !*p->normal))
        return found(MATH_DIFFERENT, MATH_STEP_PARSE);
    return found(MATH_UNKNOWN, MATH_STEP_PARSE);
}

static void start(struct math *m, FILE *explain)
{
    m->used = 0;
    m->n_literals = 0;
    m->fuel = 0;
    m->level = 0;
    m->explain = explain;
}

void math_compare(struct math *m, const char *gold, size_t n_gold, const char *pred,
                  size_t n_pred, struct math_result *out)
{
    struct side g, p;

    start(m, NULL);
    if (n_gold == n_pred && (!n_gold || !memcmp(gold, pred, n_gold))) {
        *out = found(MATH_EQUAL, MATH_STEP_TEXT);
        return;
    }
    g = read_side(m, gold, n_gold);
    p = read_side(m, pred, n_pred);
    *out = compare_sides(m, &g, &p);
    out->fuel = m->fuel;
}

static void explain_text(FILE *to, const char *name, const char *text, size_t n)
{
    fprintf(to, "%-10s ", name);
    for (size_t i = 0; i < n && i < MAX_TEXT; i++) {
        unsigned char c = (unsigned char)text[i];

        fputc(c < 0x20 || c == 0x7f ? ' ' : c, to);
    }
    fputc('\n', to);
}

static void explain_side(struct math *m, const char *name, struct side *s)
{
    if (!s->normal) {
        fprintf(m->explain, "%-10s over a bound\n", name);
        return;
    }
    explain_text(m->explain, "  reads as", s->normal, strlen(s->normal));
    parse_side(m, s);
    fprintf(m->explain, "%-10s ", "  tree");
    if (s->tree)
        tree_print(s->tree, m->explain);
    else
        fputs(s->over ? "none: over a bound" : "none: can't be read", m->explain);
    fputc('\n', m->explain);
}

void math_explain(struct math *m, const char *gold, size_t n_gold, const char *pred,
                  size_t n_pred, FILE *to, struct math_result *out)
{
    struct side g, p;

    start(m, to);
    explain_text(to, "gold", gold, n_gold);
    g = read_side(m, gold, n_gold);
    explain_side(m, "gold", &g);
    explain_text(to, "pred", pred, n_pred);
    p = read_side(m, pred, n_pred);
    explain_side(m, "pred", &p);
    /* The verdict is math_compare's own, from a fresh start; this prints its way. */
    math_compare(m, gold, n_gold, pred, n_pred, out);
    start(m, to);
    g = read_side(m, gold, n_gold);
    p = read_side(m, pred, n_pred);
    compare_sides(m, &g, &p);
    m->explain = NULL;
    fprintf(to, "%-10s %s (%s), fuel %lld\n", "verdict",
            math_verdict_text(out->verdict), math_step_text(out->step),
            (long long)out->fuel);
}
