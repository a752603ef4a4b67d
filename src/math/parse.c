/* parse.c - answers: their relations and conditions, and the whole. */
#include <string.h>

#include "math/parse.h"

/* -- small things ------------------------------------------------------------------ */
bool take(struct parser *p, enum token_kind kind)
{
    if (!at_kind(p, kind))
        return false;
    p->at++;
    return true;
}

bool enter(struct parser *p)
{
    if (p->depth >= MAX_DEPTH) {
        p->m->over = true;
        return false;
    }
    p->depth++;
    return true;
}

void leave(struct parser *p)
{
    p->depth--;
}

bool push(struct parser *p, const struct node *a)
{
    if (!a)
        return false;
    if (p->top == MAX_STACK) {
        p->m->over = true;
        return false;
    }
    p->sep[p->top] = 0;
    p->stack[p->top++] = a;
    return true;
}

const struct node *gather(struct parser *p, enum node_kind kind, int base)
{
    int n = p->top - base;

    p->top = base;
    if (n == 1)
        return p->stack[base];
    if (n > MAX_ITEMS) {
        p->m->over = true;
        return NULL;
    }
    return n ? tree_many(p->m, kind, &p->stack[base], n) : NULL;
}

const struct node *named(struct parser *p, enum node_kind kind, const char *name,
                         const struct node *const *kid, int n)
{
    struct node *a = tree_many(p->m, kind, kid, n);

    if (a)
        a->u.name = tree_name(p->m, name, strlen(name));
    return a && a->u.name ? a : NULL;
}

bool token_is(const struct parser *p, const struct token *t, const char *text)
{
    return t->len == strlen(text) && !strncmp(p->s + t->at, text, t->len);
}

/* -- relations --------------------------------------------------------------------- */
static bool is_modulo(const struct node *a)
{
    return a->kind == NODE_FUNCTION && a->u.fn == FN_MOD;
}

/* \pmod 7, (mod 7) */
static bool at_modulus(const struct parser *p)
{
    return at_kind(p, T_PMOD) || (at_kind(p, T_OPEN) && peek_at(p, 1)->kind == T_BMOD);
}

static const struct node *modulus(struct parser *p)
{
    const struct node *a;

    if (take(p, T_PMOD))
        return parse_argument(p, ARG_SCRIPT);
    p->at += 2;
    a = parse_sum(p);
    return take(p, T_CLOSE) ? a : NULL;
}

static const struct node *relation(struct parser *p)
{
    enum rel ops[MAX_CHAIN];
    int base = p->top, n = 0;
    const struct node *mod;
    struct node *a;
    enum rel *kept;

    if (!push(p, parse_side(p)))
        return NULL;
    while (at_kind(p, T_REL)) {
        if (n + 1 == MAX_CHAIN) {
            p->m->over = true;
            return NULL;
        }
        ops[n++] = (enum rel)peek(p)->id;
        p->at++;
        if (!push(p, parse_side(p)))
            return NULL;
    }
    if (n && ops[n - 1] == REL_EQUIV && is_modulo(p->stack[p->top - 1])) {
        mod = p->stack[--p->top]; /* a = b mod m */
        ops[n++] = REL_EQUIV;
        if (!push(p, mod->kid[0]) || !push(p, mod->kid[1]))
            return NULL;
    } else if (at_modulus(p)) {
        mod = modulus(p);
        if (!n) {
            p->top = base;
            return named(p, NODE_OPAQUE, "pmod",
                         (const struct node *[]){p->stack[base], mod}, 2);
        }
        ops[n++] = REL_EQUIV;
        if (!push(p, mod))
            return NULL;
    }
    if (!n) {
        p->top = base;
        return p->stack[base];
    }
    kept = tree_take(p->m, (size_t)n * sizeof *kept);
    a = kept ? (struct node *)gather(p, NODE_RELATION, base) : NULL;
    if (a) {
        memcpy(kept, ops, (size_t)n * sizeof *kept);
        a->u.ops = kept;
    }
    return a;
}

/* Behind an item: "if x > 0", "for all n", \Rightarrow ...: the item and what goes with
 * it, known but not evaluated. */
static const struct node *condition(struct parser *p, const struct node *a)
{
    static const char links[] = "if when for all any every 当";
    const char *head = NULL;
    const struct node *b;

    if (condition_at(p) >= 0)
        return a;
    if (at_kind(p, T_WORD) && token_in(p, peek(p), "if when for 当"))
        head = "if";
    else if (at_kind(p, T_IMPLIES))
        head = "implies";
    else if (at_kind(p, T_ARROW))
        head = "to";
    if (a && at_explanation(p))
        return explained(p, a);
    if (!a || !head || !enter(p))
        return a;
    if (!at_kind(p, T_WORD))
        p->at++;
    while (at_kind(p, T_WORD) && token_in(p, peek(p), links))
        p->at++;
    b = parse_item(p);
    leave(p);
    return named(p, NODE_OPAQUE, head, (const struct node *[]){a, b}, 2);
}

static const struct node *quantified(struct parser *p)
{
    const char *head = token_is(p, peek(p), "\\exists") ? "exists" : "forall";
    const struct node *a;

    p->at++;
    if (!enter(p))
        return NULL;
    a = parse_item(p);
    take(p, T_COMMA);
    take(p, T_COLON);
    if (a && !at_kind(p, T_END) && !ends_item(peek(p)))
        a = named(p, NODE_OPAQUE, head, (const struct node *[]){a, parse_item(p)}, 2);
    else
        a = named(p, NODE_OPAQUE, head, &a, 1);
    leave(p);
    return a;
}

/* 2e-1 and nothing else: the call "exponent" of the sum 2e - 1 and of 0.2. */
static const struct node *exponent(struct parser *p)
{
    const struct token *t = peek(p) + at_kind(p, T_MINUS);
    const struct node *kid[2], *e;

    if (p->depth || t[0].kind != T_NUMBER || t[1].kind != T_SYMBOL ||
        (t[2].kind != T_MINUS && t[2].kind != T_PLUS) || t[3].kind != T_NUMBER ||
        t[4].kind != T_END || strcspn(p->s + t[1].at, "eE") || t[3].len > 3 ||
        (t[1].flags | t[2].flags | t[3].flags) & (F_SPACE | F_COMMAND))
        return NULL;
    kid[0] = parse_sum(p);
    p->at = (int)(t - p->tok) + 3;
    e = parse_number(p);
    if (t[2].kind == T_MINUS)
        e = negate(p, e);
    p->at = (int)(t - p->tok);
    kid[1] = tree_two(p->m, NODE_PRODUCT, parse_number(p),
                      tree_two(p->m, NODE_POWER, tree_integer(p->m, 10), e));
    if (t != p->tok + p->start && t[-1].kind == T_MINUS)
        kid[1] = negate(p, kid[1]);
    p->at = p->n_tok;
    return named(p, NODE_CALL, "exponent", kid, 2);
}

const struct node *parse_item(struct parser *p)
{
    int n = phrase(p);
    const struct node *a;

    if (n)
        return parse_words(p, n);
    a = exponent(p);
    if (a)
        return a;
    if (at_kind(p, T_FORALL))
        return quantified(p);
    return condition(p, relation(p));
}

/* -- the whole answer -------------------------------------------------------------- */
/* An i that is a symbol: beside j, or as the index of a sum. */
static bool has_index(const struct parser *p)
{
    for (int i = 0; i < p->n_tok; i++) {
        const struct token *t = &p->tok[i];

        if (t->kind == T_SYMBOL && t->len == 1 && p->s[t->at] == 'j' &&
            !(t->flags & F_TEXT))
            return true;
        if (t->kind == T_BIG && i + 3 < p->n_tok && t[1].kind == T_UNDER &&
            t[2].kind == T_LBRACE && t[3].len == 1 && p->s[t[3].at] == 'i')
            return true;
    }
    return false;
}

static const struct node *parse(struct math *m, const char *normal, bool units)
{
    struct parser p;
    const struct node *a;

    p.m = m;
    p.s = normal;
    p.units = units;
    p.at = p.depth = p.bars = p.top = 0;
    p.no_bar = false;
    if (!lex(&p)) {
        m->over = true;
        return NULL;
    }
    p.vector = has_index(&p);
    separator(&p); /* \quad at the start */
    lead_in(&p);
    separator(&p);
    remarks(&p);
    p.start = p.at;
    a = parse_choice(&p);
    if (!a)
        a = parse_items(&p);
    while (
        at_kind(&p, T_DOT) || at_kind(&p, T_QUOTE) ||
        (at_kind(&p, T_CLOSE) && peek(&p)->id == ')' && peek_at(&p, 1)->kind == T_END))
        p.at++;
    if (!a || m->over || !at_kind(&p, T_END))
        return NULL;
    if (tree_depth(a) > MAX_DEPTH) {
        m->over = true;
        return NULL;
    }
    return a;
}

const struct node *math_parse(struct math *m, const char *normal)
{
    return parse(m, normal, false);
}

const struct node *math_parse_units(struct math *m, const char *normal)
{
    return parse(m, normal, true);
}
