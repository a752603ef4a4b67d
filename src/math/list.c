/* list.c - items with separators: lists, alternatives, conditions that hold together.
 */
#include <string.h>

#include "math/parse.h"

enum { SEP_GAP = 1, SEP_COMMA, SEP_SEMI, SEP_AND, SEP_OR };

int condition_at(const struct parser *p)
{
    bool open = at_kind(p, T_OPEN) && peek(p)->id == '(';
    bool word = at_kind(p, T_WORD) && token_in(p, peek(p), "where with for 其中");

    if ((!open && !word) || peek_at(p, 1)->kind != T_SYMBOL)
        return -1;
    if (peek_at(p, 2)->kind == T_REL && peek_at(p, 2)->id == REL_IN)
        return word;
    if (word && token_is(p, peek_at(p, 2), "is") &&
        token_in(p, peek_at(p, 3), "an any") && token_is(p, peek_at(p, 4), "integer") &&
        ends_item(peek_at(p, 5)))
        return word;
    return -1;
}

/* Separators in a row count as one, the strongest: ", and" is a comma, "and" between
 * gaps stays one, "and/or" is a comma. */
int separator(struct parser *p)
{
    int sep = 0, k;
    bool comma = false;

    for (;; p->at++) {
        switch (peek(p)->kind) {
        case T_GAP:
        case T_ROW:
            k = SEP_GAP;
            break;
        case T_COMMA:
            k = SEP_COMMA;
            comma = true;
            break;
        case T_SEMI:
            k = SEP_SEMI;
            break;
        case T_AND:
            k = comma ? SEP_COMMA : SEP_AND;
            if (peek_at(p, 1)->kind == T_DIV && peek_at(p, 2)->kind == T_OR) {
                p->at += 2;
                k = SEP_COMMA;
            }
            break;
        case T_OR:
            k = SEP_OR;
            break;
        case T_AMP:
            if (!sep)
                return 0;
            k = 0; /* aligned: \\ & */
            break;
        case T_DOT:
        case T_QUOTE: /* a full stop behind an item says nothing */
            k = sep;
            if (!(peek(p)->flags & F_TEXT) && peek_at(p, 1)->kind != T_END && !sep)
                return 0;
            break;
        default:
            if (p->top && condition_at(p) >= 0) {
                p->at += condition_at(p);
                return sep > SEP_COMMA ? sep : SEP_COMMA;
            }
            return sep;
        }
        sep = k > sep ? k : sep;
    }
}

/* k items from `from`: all equations or all values a bare list; else what holds
 * together. */
static const struct node *together(struct parser *p, int from, int n)
{
    int equations = 0, relations = 0, and = 0;

    if (n == 1)
        return p->stack[from];
    for (int i = from; i < from + n; i++) {
        relations += p->stack[i]->kind == NODE_RELATION;
        equations += is_equation(p->stack[i]);
        and |= p->stack[i]->kind == NODE_WORDS;
    }
    return tree_many(p->m, relations > equations && !and? NODE_AND : NODE_LIST,
                     &p->stack[from], n);
}

static bool is_value(const struct node *a)
{
    return a->kind != NODE_RELATION && a->kind != NODE_WORDS && a->kind != NODE_OPAQUE;
}

/* a with another last side. */
static const struct node *with_side(struct parser *p, const struct node *a,
                                    const struct node *side)
{
    struct node *b = side ? tree_node(p->m, NODE_RELATION, a->n) : NULL;

    if (!b)
        return NULL;
    memcpy(b->kid, a->kid, (size_t)a->n * sizeof *a->kid);
    b->u.ops = a->u.ops;
    b->kid[a->n - 1] = side;
    return b;
}

/* The values behind an equation are more of its right side, as in "n = 2, 3, 4"; behind
 * "x \ne 2" more that x isn't. */
static bool fold(struct parser *p, int base)
{
    int to = base;

    for (int i = base, k; i < p->top; i = k) {
        const struct node *a = p->stack[i];
        bool equation = is_equation(a),
             other = a->kind == NODE_RELATION && a->n == 2 && a->u.ops[0] == REL_NE;

        for (k = i + 1; k < p->top && (equation || other) && is_value(p->stack[k]); k++)
            if (other && !(p->stack[k] = with_side(p, a, p->stack[k])))
                return false;
        k = other ? i + 1 : k;
        if (k > i + 1) {
            p->stack[i] = a->kid[a->n - 1];
            a = with_side(p, a, tree_many(p->m, NODE_LIST, &p->stack[i], k - i));
            if (!a)
                return false;
        }
        p->sep[to] = p->sep[i];
        p->stack[to++] = a;
    }
    p->top = to;
    return true;
}

/* Whether `strong` separators cut the items into groups of one size, two or more each,
 * whose equations have the same left sides: p=5, q=2 and p=7, q=2. */
static int group_size(const struct parser *p, int base, int strong, bool alike)
{
    int n = p->top - base, size = 0;

    for (int i = 1; i < n && !size; i++)
        if (p->sep[base + i] >= strong)
            size = i;
    if (size < 2 || n % size)
        return 0;
    for (int i = 1; i < n; i++) {
        const struct node *a = p->stack[base + i], *b = p->stack[base + i % size];

        if ((p->sep[base + i] >= strong) != (i % size == 0))
            return 0;
        if (alike &&
            (!is_equation(a) || !is_equation(b) || !tree_same(a->kid[0], b->kid[0])))
            return 0;
    }
    return size;
}

static const struct node *groups(struct parser *p, int base, int size,
                                 enum node_kind kind)
{
    int n = 0;

    for (int i = base; i < p->top; i += size) {
        const struct node *a = together(p, i, size);

        if (!a)
            return NULL;
        p->stack[base + n++] = a;
    }
    p->top = base + n;
    return gather(p, kind, base);
}

/* Alternatives, if "or" stands between relations. */
static const struct node *alternatives(struct parser *p, int base)
{
    int to = base, start = base, end = p->top;

    for (int i = base + 1; i <= end; i++) {
        const struct node *a;

        if (i < end && p->sep[i] != SEP_OR)
            continue;
        a = together(p, start, i - start);
        if (!a)
            return NULL;
        p->stack[to++] = a;
        start = i;
    }
    p->top = to;
    return gather(p, NODE_OR, base);
}

/* "1,5" and nothing else: a list that may be a decimal.  The digits behind the comma; 0
 * if it is only a list. */
static int decimal_places(const struct parser *p, int from, int to)
{
    int at = from + (p->tok[from].kind == T_MINUS);
    const struct token *a = &p->tok[at], *b = &p->tok[at + 2];

    if (to - at != 3 || a->kind != T_NUMBER || p->tok[at + 1].kind != T_COMMA ||
        b->kind != T_NUMBER || b->flags & F_SPACE || p->depth)
        return 0;
    if (strspn(p->s + a->at, "0123456789") != a->len ||
        strspn(p->s + b->at, "0123456789") < b->len || b->len > 200 ||
        (b->len == 3 && p->s[a->at] != '0'))
        return 0;
    return b->len;
}

const struct node *tree_decimal(struct math *m, const struct node *list)
{
    mpq_ptr q;
    mpz_t power;

    if (list->kind != NODE_LIST || !list->u.list.places)
        return NULL;
    q = tree_literal(m);
    if (!q)
        return NULL;
    mpz_init(power);
    mpz_ui_pow_ui(power, 10, list->u.list.places);
    mpq_set_z(q, power);
    mpq_div(q, list->kid[1]->u.number.q, q);
    mpz_clear(power);
    if (mpq_sgn(list->kid[0]->u.number.q) < 0)
        mpq_neg(q, q);
    mpq_add(q, q, list->kid[0]->u.number.q);
    return tree_number(m, q, list->u.list.places);
}

/* Two values: maybe one with a decimal comma; -0,5 is no list. */
static const struct node *pair(struct parser *p, int base, int from)
{
    struct node *a = (struct node *)gather(p, NODE_LIST, base);
    const struct node *b;

    if (!a)
        return NULL;
    a->u.list.places = (unsigned char)decimal_places(p, from, p->at);
    if (!a->u.list.places || p->tok[from].kind != T_MINUS ||
        mpq_sgn(a->kid[0]->u.number.q))
        return a;
    b = tree_decimal(p->m, a);
    return b ? negate(p, b) : NULL;
}

/* "3 hours and 20 minutes", "3 hours, 20 minutes": two parts of one value; NULL if they
 * aren't. */
static const struct node *one_value(struct parser *p, int base)
{
    const struct node *a = p->stack[base], *b = p->stack[base + 1];

    if ((p->sep[base + 1] != SEP_AND &&
         (p->sep[base + 1] != SEP_COMMA || a->kind != NODE_QUANTITY ||
          !a->u.unit->power[UNIT_TIME])) ||
        a->kind != NODE_QUANTITY || b->kind != NODE_QUANTITY ||
        a->u.unit->power[UNIT_COUNT] || a->u.unit->degrees || b->u.unit->degrees ||
        mpq_cmp(a->u.unit->factor, b->u.unit->factor) <= 0)
        return NULL;
    return add_quantities(p, a, b);
}

static const struct node *listed(struct parser *p, int base, int from)
{
    int n = p->top - base, size, relations = 0, or = 0, semi = 0;
    const struct node *a;

    if (n == 1)
        return gather(p, NODE_LIST, base);
    if (n > MAX_ITEMS) {
        p->m->over = true;
        return NULL;
    }
    if (!fold(p, base))
        return NULL;
    for (int i = base; i < p->top; i++) {
        relations += p->stack[i]->kind == NODE_RELATION;
        or |= i > base && p->sep[i] == SEP_OR;
        semi |= i > base && p->sep[i] == SEP_SEMI;
    }
    if (semi && ! or &&(size = group_size(p, base, SEP_SEMI, false)))
        return groups(p, base, size, NODE_LIST);
    if (! or &&(size = group_size(p, base, SEP_AND, true)))
        return groups(p, base, size, NODE_LIST);
    if (or &&relations)
        return alternatives(p, base);
    n = p->top - base;
    if (n == 2 && (a = one_value(p, base)) != NULL) {
        p->top = base;
        return a;
    }
    if (n == 2 && !relations)
        return pair(p, base, from);
    a = together(p, base, n);
    p->top = base;
    return a;
}

const struct node *parse_items(struct parser *p)
{
    int base = p->top, from = p->at, sep = 0;
    const struct node *a;

    do {
        if (sep && ends_item(peek(p)) && p->top > base)
            break; /* a separator at the end */
        if (!push(p, parse_item(p)))
            return NULL;
        p->sep[p->top - 1] = (uint8_t)sep;
        sep = separator(p);
    } while (sep && !at_explanation(p));
    a = listed(p, base, from);
    return a && at_explanation(p) ? explained(p, a) : a;
}
