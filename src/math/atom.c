/* atom.c - numbers, symbols, brackets, fractions, roots. */
#include <string.h>

#include "math/parse.h"

enum { MAX_NAME = 200 };

/* -- groups ------------------------------------------------------------------------ */
static bool closes_with(const struct token *t, char open)
{
    switch (open) {
    case '(':
        return t->kind == T_CLOSE && (t->id == ')' || t->id == ']');
    case '[':
    case ']':
        return (t->kind == T_CLOSE && (t->id == ')' || t->id == ']')) ||
               (t->kind == T_OPEN && t->id == '[');
    case '{':
        return t->kind == T_CLOSE && t->id == '}';
    case '<':
        return t->kind == T_CLOSE && t->id == '>';
    default:
        return t->kind == T_RBRACE;
    }
}

/* What stands in brackets, as a list if it is one or if only a list has them. */
static const struct node *bracketed(struct parser *p, const struct node *a, char open,
                                    char close)
{
    struct node *list;
    bool one = a && (a->kind != NODE_LIST || a->u.list.open);

    if (!a || (one && open != '{'))
        return a && (open == '{' || (open == '(' && close == ')') ||
                     (open == '[' && close == ']'))
                   ? a
                   : NULL;
    list = tree_node(p->m, NODE_LIST, one ? 1 : a->n);
    if (!list)
        return NULL;
    for (int i = 0; i < list->n; i++)
        list->kid[i] = one ? a : a->kid[i];
    list->u.list.open = open;
    list->u.list.close = close;
    return list;
}

/* {x | x > 0}, {x : x > 0}: opaque, of the element and its condition. */
static const struct node *builder(struct parser *p, const struct node *a)
{
    const struct node *kid[2] = {a, NULL};

    p->at++;
    p->no_bar = false;
    kid[1] = parse_items(p);
    return named(p, NODE_OPAQUE, "set", kid, 2);
}

static const struct node *inside(struct parser *p, char open)
{
    const struct node *a;

    if (open == '{' && closes_with(peek(p), open))
        return named(p, NODE_NAMED_SET, "empty", NULL, 0);
    a = parse_items(p);
    if (a && open == '{' &&
        (at_kind(p, T_BAR) || at_kind(p, T_MID) || at_kind(p, T_COLON)))
        return builder(p, a);
    return a;
}

const struct node *parse_bracket(struct parser *p)
{
    const struct token *t = peek(p);
    char open = t->kind == T_LBRACE ? 0 : (char)t->id;
    int bars = p->bars;
    bool no_bar = p->no_bar;
    const struct node *a;

    if (!enter(p))
        return NULL;
    p->at++;
    p->bars = 0;
    p->no_bar = open == '{';
    a = inside(p, open);
    p->bars = bars;
    p->no_bar = no_bar;
    leave(p);
    if (a && !open && (at_kind(p, T_CHOOSE) || at_kind(p, T_OVER))) {
        enum node_kind kind = at_kind(p, T_CHOOSE) ? NODE_BINOMIAL : NODE_QUOTIENT;

        p->at++;
        a = tree_two(p->m, kind, lower(p, a), lower(p, parse_sum(p)));
    }
    t = peek(p);
    if (!a || !closes_with(t, open))
        return NULL;
    p->at++;
    if (a->kind == NODE_NAMED_SET || (a->kind == NODE_OPAQUE && open == '{'))
        return a;
    if (!open)
        return a->kind == NODE_LIST && !a->u.list.open ? bracketed(p, a, '{', '}') : a;
    return bracketed(p, a, open, (char)t->id);
}

/* Between two marks: |x|, \lfloor x \rfloor. */
static const struct node *between(struct parser *p, enum token_kind close)
{
    int bars = p->bars;
    bool no_bar = p->no_bar;
    const struct node *a;

    if (!enter(p))
        return NULL;
    p->at++;
    p->bars = close == T_BAR;
    p->no_bar = false;
    a = lower(p, parse_side(p));
    p->bars = bars;
    p->no_bar = no_bar;
    leave(p);
    if (close == T_BAR ? !take(p, T_BAR) && !take(p, T_RBAR) : !take(p, close))
        return NULL;
    return a;
}

static const struct node *absolute(struct parser *p)
{
    const struct node *a = between(p, at_kind(p, T_BAR) ? T_BAR : T_RBAR);

    if (a && a->kind == NODE_MATRIX)
        return tree_function(p->m, FN_DET, a);
    return a ? tree_one(p->m, NODE_ABS, a) : NULL;
}

/* -- arguments --------------------------------------------------------------------- */
/* The first digit of the number here: \frac12. */
static const struct node *digit(struct parser *p)
{
    struct token *t = &p->tok[p->at];
    const struct node *a;

    if (t->len == 1 || !is_digit(p->s[t->at]))
        return parse_number(p);
    a = tree_integer(p->m, p->s[t->at] - '0');
    t->at++;
    t->len--;
    t->flags &= (uint8_t)~F_SPACE;
    return a;
}

const struct node *parse_argument(struct parser *p, enum argument how)
{
    const struct node *a;
    bool minus = false;

    if (!enter(p))
        return NULL;
    while (how == ARG_SCRIPT && (at_kind(p, T_MINUS) || at_kind(p, T_PLUS))) {
        minus ^= at_kind(p, T_MINUS);
        p->at++;
    }
    if (at_kind(p, T_NUMBER))
        a = how == ARG_FRAC ? digit(p) : parse_number(p);
    else if (at_kind(p, T_SYMBOL))
        a = parse_symbol(p, false);
    else
        a = parse_atom(p);
    leave(p);
    a = lower(p, a);
    return minus && a ? tree_one(p->m, NODE_NEGATE, a) : a;
}

static const struct node *fraction(struct parser *p, enum node_kind kind)
{
    const struct node *a;

    p->at++;
    a = parse_argument(p, ARG_FRAC);
    return a ? tree_two(p->m, kind, a, parse_argument(p, ARG_FRAC)) : NULL;
}

static const struct node *root(struct parser *p)
{
    const struct node *index = NULL, *a;
    int id = peek(p)->id;

    p->at++;
    if (!id && at_kind(p, T_OPEN) && peek(p)->id == '[') {
        p->at++;
        index = parse_sum(p);
        if (!index || !at_kind(p, T_CLOSE) || peek(p)->id != ']')
            return NULL;
        p->at++;
    }
    if (!index)
        index = tree_integer(p->m, id ? id : 2);
    a = parse_argument(p, ARG_SCRIPT);
    return a ? tree_two(p->m, NODE_ROOT, a, index) : NULL;
}

/* -- symbols ----------------------------------------------------------------------- */
struct text {
    char s[MAX_NAME + 2];
    size_t n;
};

static bool add(struct text *to, const char *s, size_t n)
{
    if (to->n + n > MAX_NAME)
        return false;
    memcpy(to->s + to->n, s, n);
    to->s[to->n += n] = 0;
    return true;
}

static bool add_token(struct parser *p, struct text *to)
{
    const struct token *t = peek(p);

    p->at++;
    return add(to, p->s + t->at, t->len);
}

/* A group's tokens as they are written, without the outer braces; or one token. */
static bool add_group(struct parser *p, struct text *to)
{
    int open = 0;

    do {
        int kind = peek(p)->kind;

        if (kind == T_END)
            return false;
        open += kind == T_LBRACE ? 1 : kind == T_RBRACE ? -1 : 0;
        if ((kind == T_LBRACE && open == 1) || (kind == T_RBRACE && !open))
            p->at++;
        else if (!add_token(p, to))
            return false;
    } while (open > 0);
    return true;
}

/* Consecutive \text words in a subscript are one token's worth: V_{\text{max}}, x_a b.
 */
static bool subscript(struct parser *p, struct text *to)
{
    bool text = peek_at(p, 1)->flags & F_TEXT;

    p->at++;
    if (!add(to, "_", 1) || !add_group(p, to))
        return false;
    while (text && peek(p)->flags & F_TEXT && peek(p)->kind == T_WORD &&
           !(peek(p)->flags & F_SPACE))
        if (!add_token(p, to))
            return false;
    return true;
}

/* ', ^\prime, ^{\prime\prime}: tokens; 0 if there is none. */
static int primes(const struct parser *p)
{
    int k = at_kind(p, T_CARET), brace;

    brace = k && peek_at(p, 1)->kind == T_LBRACE;
    k += brace;
    if (peek_at(p, k)->kind != T_PRIME)
        return 0;
    while (peek_at(p, k)->kind == T_PRIME)
        k++;
    return brace && peek_at(p, k)->kind != T_RBRACE ? 0 : k + brace;
}

static bool suffixes(struct parser *p, struct text *name)
{
    for (int k;;) {
        if (at_kind(p, T_UNDER)) {
            if (!subscript(p, name))
                return false;
        } else if ((k = primes(p)) > 0) {
            for (; k > 0; k--, p->at++)
                if (at_kind(p, T_PRIME) && !add(name, "'", 1))
                    return false;
        } else {
            return true;
        }
    }
}

/* Whether the parentheses that open here hold one atom; *comma: or a list. */
static bool holds_atom(const struct parser *p, bool *comma, bool *sum)
{
    int k = 1, depth = 0, n = 0;

    *comma = *sum = false;
    for (;; k++) {
        const struct token *t = peek_at(p, k);

        if (t->kind == T_END)
            return false;
        if (t->kind == T_CLOSE && !depth--)
            break;
        depth += t->kind == T_OPEN;
        *comma |= !depth && (t->kind == T_COMMA || t->kind == T_SEMI);
        *sum |= !depth && (t->kind == T_PLUS || t->kind == T_MINUS);
        n += t->kind != T_MINUS && t->kind != T_LBRACE && t->kind != T_RBRACE;
        if (t->kind == T_UNDER)
            n -= 2;
        else if (t->kind != T_NUMBER && t->kind != T_SYMBOL && t->kind != T_PI &&
                 t->kind != T_INFINITY && t->kind != T_MINUS && t->kind != T_LBRACE &&
                 t->kind != T_RBRACE)
            n += 2;
    }
    return n == 1;
}

/* Whether the symbol is applied to the parentheses behind it rather than multiplied:
 * f, g, h with anything, P, Q with what is no sum (P(1+r)^t is money), any letter with
 * one atom or a list of arguments. */
static bool is_call(const struct parser *p, const char *name)
{
    bool comma, sum, atom;
    size_t n = strcspn(name, "_'^");

    if (!at_kind(p, T_OPEN) || peek(p)->id != '(')
        return false;
    atom = holds_atom(p, &comma, &sum);
    if (atom || comma)
        return true;
    if (n == 1 && strchr("fghFGH", name[0]))
        return true;
    if (n == 1 && strchr("PQ", name[0]))
        return !sum;
    return !strncmp(name, "\\phi", 4) || !strncmp(name, "\\psi", 4);
}

static const struct node *call(struct parser *p, const char *name)
{
    const struct node *a = parse_bracket(p), *kid[MAX_CHAIN];
    int n = a && a->kind == NODE_LIST && a->u.list.open == '(' ? a->n : 1;

    if (!a || n > MAX_CHAIN)
        return NULL;
    for (int i = 0; i < n; i++) {
        kid[i] =
            lower(p, a->kind == NODE_LIST && a->u.list.open == '(' ? a->kid[i] : a);
        if (!kid[i])
            return NULL;
    }
    if (n == 2 && !strcmp(name, "C"))
        return tree_two(p->m, NODE_BINOMIAL, kid[0], kid[1]);
    return named(p, NODE_CALL, name, kid, n);
}

/* f^{-1}( : the inverse of a function. */
static bool inverse(struct parser *p, struct text *name)
{
    if (name->n != 1 || !strchr("fghFGH", name->s[0]) || !at_kind(p, T_CARET) ||
        peek_at(p, 1)->kind != T_LBRACE || peek_at(p, 2)->kind != T_MINUS ||
        !token_is(p, peek_at(p, 3), "1") || peek_at(p, 4)->kind != T_RBRACE ||
        peek_at(p, 5)->kind != T_OPEN)
        return false;
    p->at += 5;
    return add(name, "^{-1}", 5);
}

/* C_5^2, of two numbers of which the lower one is larger. */
static const struct node *chinese_binomial(struct parser *p, const struct text *name)
{
    const struct token *k = peek_at(p, 1);
    int at = p->at;
    const struct node *n;
    int low = 0, high;

    if (name->n < 3 || name->n > 4 || name->s[0] != 'C' || name->s[1] != '_' ||
        !at_kind(p, T_CARET) ||
        (k->kind == T_LBRACE && peek_at(p, 3)->kind != T_RBRACE))
        return NULL;
    k += k->kind == T_LBRACE;
    for (size_t i = 2; i < name->n; i++) {
        if (!is_digit(name->s[i]))
            return NULL;
        low = 10 * low + name->s[i] - '0';
    }
    if (k->kind != T_NUMBER || k->len > 2 || !is_digit(p->s[k->at]))
        return NULL;
    high = p->s[k->at] - '0';
    if (k->len == 2)
        high = 10 * high + p->s[k->at + 1] - '0';
    if (high > low || low < 2)
        return NULL;
    p->at++;
    n = parse_argument(p, ARG_SCRIPT);
    p->at = n ? p->at : at;
    return tree_two(p->m, NODE_BINOMIAL, tree_integer(p->m, low), n);
}

/* The symbol of this name with what hangs on it; `may_call`: it may be a function. */
static const struct node *symbol(struct parser *p, struct text *name, bool may_call,
                                 bool constant)
{
    const struct node *a;

    if (!suffixes(p, name))
        return NULL;
    if (constant && !strcmp(name->s, "e"))
        return tree_node(p->m, NODE_E, 0);
    if (constant && !strcmp(name->s, "i") && !p->vector)
        return tree_node(p->m, NODE_I, 0);
    a = chinese_binomial(p, name);
    if (a)
        return a;
    if (may_call && (inverse(p, name) || is_call(p, name->s)))
        return call(p, name->s);
    return named(p, NODE_SYMBOL, name->s, NULL, 0);
}

const struct node *parse_symbol(struct parser *p, bool may_call)
{
    struct text name = {.n = 0};
    bool bold = peek(p)->flags & F_BOLD;

    return add_token(p, &name) ? symbol(p, &name, may_call, !bold) : NULL;
}

/* \vec{v}, \mathbf{v}: v; its subscript may stand behind. */
static const struct node *plain_accent(struct parser *p)
{
    struct text name = {.n = 0};

    p->at++;
    if (at_kind(p, T_LBRACE) && peek_at(p, 1)->kind == T_SYMBOL &&
        peek_at(p, 2)->kind == T_RBRACE)
        return add_group(p, &name) ? symbol(p, &name, true, false) : NULL;
    return at_kind(p, T_SYMBOL) ? parse_symbol(p, true) : parse_argument(p, ARG_FRAC);
}

/* \overline{AB}, \hat{x}: a symbol of that name; \bar{z}: the conjugate. */
static const struct node *accent(struct parser *p)
{
    const struct token *t = peek(p), *in = peek_at(p, 1);
    struct text name = {.n = 0}, group = {.n = 0};
    bool bar = token_is(p, t, "\\overline") || token_is(p, t, "\\bar");

    if (bar && in->kind == T_LBRACE)
        in = peek_at(p, 2);
    p->at++;
    if (!add(&name, p->s + t->at, t->len) || !add_group(p, &group))
        return NULL;
    if (bar && group.n == 1 && strchr("zw", group.s[0]) && !at_kind(p, T_UNDER))
        return tree_function(p->m, FN_CONJ, named(p, NODE_SYMBOL, group.s, NULL, 0));
    if (!add(&name, "{", 1) || !add(&name, group.s, group.n) || !add(&name, "}", 1))
        return NULL;
    return symbol(p, &name, true, false);
}

/* \angle ABC, \triangle ABC: one symbol. */
static const struct node *shape(struct parser *p)
{
    struct text name = {.n = 0};

    if (!add_token(p, &name))
        return NULL;
    for (int i = 0; i < 6 && at_kind(p, T_SYMBOL); i++)
        if (!add_token(p, &name))
            return NULL;
    return symbol(p, &name, false, false);
}

/* Words in a formula are a symbol: \text{base} \times \text{height}. */
static const struct node *word(struct parser *p)
{
    struct text name = {.n = 0};

    do {
        if (name.n && !add(&name, " ", 1))
            return NULL;
        if (!add_token(p, &name))
            return NULL;
    } while (at_kind(p, T_WORD));
    return symbol(p, &name, false, false);
}

/* \mathbb{R}, \mathbb R^+, \mathbb{Z}_{>0}, \mathbb{R}^2. */
static const struct node *blackboard(struct parser *p)
{
    struct text name = {.n = 0};

    p->at++;
    if (!add_group(p, &name))
        return NULL;
    while (at_kind(p, T_CARET) || at_kind(p, T_UNDER)) {
        bool power = at_kind(p, T_CARET);

        p->at++;
        if (power && at_kind(p, T_NUMBER) && !add(&name, "^", 1))
            return NULL;
        if (!add_group(p, &name))
            return NULL;
    }
    return named(p, NODE_NAMED_SET, name.s, NULL, 0);
}

/* -- bases ------------------------------------------------------------------------- */
static int word_base(const struct parser *p, const struct token *t)
{
    static const char *const names[] = {"two", "three",  "four",  "five",
                                        "six", "seven",  "eight", "nine",
                                        "ten", "eleven", "twelve"};

    for (int i = 0; i < 11; i++)
        if (token_is(p, t, names[i]))
            return i + 2;
    return token_is(p, t, "sixteen") ? 16 : 0;
}

/* 204_5, 101_{\text{two}}, (101)_2: the digits are token t, the base is next. */
static const struct node *based(struct parser *p, const struct token *t)
{
    const struct token *b = peek_at(p, 1);
    bool brace = b->kind == T_LBRACE, alone;
    const struct node *a;
    int base = 0, first = (int)(t - p->tok), end;

    b += brace;
    if (b->kind == T_NUMBER && b->len <= 2)
        for (int i = 0; i < b->len; i++)
            base = 10 * base + p->s[b->at + i] - '0';
    else if (b->kind == T_WORD)
        base = word_base(p, b);
    if (brace && b[1].kind != T_RBRACE)
        return NULL;
    p->at += 2 + 2 * brace;
    a = parse_based(p, t, base);
    /* Inside an expression only the value counts. */
    first -= first && p->tok[first - 1].kind == T_OPEN;
    first -= first && p->tok[first - 1].kind == T_MINUS;
    end = peek(p)->kind;
    alone = (!first || p->tok[first - 1].kind == T_REL ||
             p->tok[first - 1].kind == T_COMMA) &&
            (end == T_END || end == T_COMMA || end == T_REL);
    return a && !alone ? a->kid[0] : a;
}

static const struct node *number(struct parser *p)
{
    const struct token *t = peek(p);

    if (t->kind == T_BASED || peek_at(p, 1)->kind == T_UNDER) {
        p->at++;
        return based(p, t);
    }
    return parse_number(p);
}

static const struct node *in_brackets(struct parser *p)
{
    const struct token *t = peek_at(p, 1);

    if (t->kind == T_NUMBER && peek_at(p, 2)->kind == T_CLOSE &&
        peek_at(p, 3)->kind == T_UNDER && peek(p)->id == '(') {
        p->at += 3;
        return based(p, t);
    }
    return parse_bracket(p);
}

/* -- atoms ------------------------------------------------------------------------- */
const struct node *parse_atom(struct parser *p)
{
    const struct node *a;

    switch (peek(p)->kind) {
    case T_NUMBER:
    case T_BASED:
        return number(p);
    case T_SYMBOL:
        return parse_symbol(p, true);
    case T_WORD:
        return word(p);
    case T_PI:
        p->at++;
        return tree_node(p->m, NODE_PI, 0);
    case T_INFINITY:
        p->at++;
        return tree_node(p->m, NODE_INFINITY, 0);
    case T_EMPTY:
        p->at++;
        return named(p, NODE_NAMED_SET, "empty", NULL, 0);
    case T_DOTS:
        p->at++;
        return named(p, NODE_OPAQUE, "...", NULL, 0);
    case T_OPEN:
        return in_brackets(p);
    case T_LBRACE:
        return parse_bracket(p);
    case T_CLOSE: /* ]0,1[ */
        return peek(p)->id == ']' ? parse_bracket(p) : NULL;
    case T_BAR:
    case T_LBAR:
        return absolute(p);
    case T_LFLOOR:
        a = between(p, T_RFLOOR);
        return tree_function(p->m, FN_FLOOR, a);
    case T_LCEIL:
        a = between(p, T_RCEIL);
        return tree_function(p->m, FN_CEIL, a);
    case T_FRAC:
        return fraction(p, NODE_QUOTIENT);
    case T_BINOM:
        return fraction(p, NODE_BINOMIAL);
    case T_SQRT:
        return root(p);
    case T_FN:
        return parse_function(p);
    case T_BIG:
        return parse_big(p);
    case T_BEGIN:
        return parse_environment(p);
    case T_BLACKBOARD:
        return blackboard(p);
    case T_ACCENT:
        return accent(p);
    case T_PLAIN_ACCENT:
        return plain_accent(p);
    case T_SHAPE:
        return shape(p);
    default:
        return NULL;
    }
}
