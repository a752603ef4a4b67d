/* symbol.c - names: letters with what hangs on them, calls, marks, words. */
#include <string.h>

#include "math/parse.h"

enum { MAX_NAME = 200 };

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
 * one atom or a list of arguments, but for the letters that multiply vectors. */
static bool is_call(const struct parser *p, const char *name)
{
    bool comma, sum, atom;
    size_t n = strcspn(name, "_'^");

    if (!at_kind(p, T_OPEN) || peek(p)->id != '(')
        return false;
    atom = holds_atom(p, &comma, &sum);
    if (comma && (!strcmp(name, "\\lambda") || !strcmp(name, "\\mu") ||
                  (n == 1 && strchr("tskrcmn", name[0]))))
        return false; /* t(1,2,3): a multiple of a vector */
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

/* {( ... )} */
static bool braced_call(const struct parser *p)
{
    int deep = 0, k = 1;

    if (!at_kind(p, T_LBRACE) || peek_at(p, 1)->kind != T_OPEN)
        return false;
    do {
        deep += (peek_at(p, k)->kind == T_OPEN) - (peek_at(p, k)->kind == T_CLOSE);
        k++;
    } while (deep && peek_at(p, k)->kind != T_END);
    return peek_at(p, k)->kind == T_RBRACE;
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
    if (!strcmp(name->s, "\\Gamma") && at_kind(p, T_OPEN) && peek(p)->id == '(')
        return tree_function(p->m, FN_GAMMA, lower(p, parse_bracket(p)));
    a = chinese_binomial(p, name);
    if (a)
        return a;
    if (may_call && braced_call(p)) { /* f{\left(x\right)} of SymPy */
        p->at++;
        if (is_call(p, name->s)) {
            a = call(p, name->s);
            return take(p, T_RBRACE) ? a : NULL;
        }
        p->at--;
    }
    if (may_call && (inverse(p, name) || is_call(p, name->s)))
        return call(p, name->s);
    return named(p, NODE_SYMBOL, name->s, NULL, 0);
}

const struct node *parse_symbol(struct parser *p, bool may_call)
{
    struct text name = {.n = 0};
    bool bold = peek(p)->flags & F_BOLD;

    if (peek(p)->len > 1 && p->s[peek(p)->at] != '\\' && !add(&name, "\\", 1))
        return NULL; /* "theta" is \theta */
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

/* {3 + 4i}: a sum with an i in it. */
static bool at_complex(const struct parser *p)
{
    bool sum = false, unit = false;

    for (int k = 1; at_kind(p, T_LBRACE); k++) {
        const struct token *t = peek_at(p, k);

        if (t->kind == T_END || t->kind == T_LBRACE || t->kind == T_RBRACE)
            break;
        sum |= t->kind == T_PLUS || t->kind == T_MINUS;
        unit |= t->kind == T_SYMBOL && token_is(p, t, "i");
    }
    return sum && unit;
}

/* \overline{AB}, \hat{x}: a symbol of that name; \bar{z}: the conjugate. */
static const struct node *accent(struct parser *p)
{
    const struct token *t = peek(p);
    struct text name = {.n = 0}, group = {.n = 0};
    bool bar = token_is(p, t, "\\overline") || token_is(p, t, "\\bar");

    p->at++;
    if (bar && at_complex(p))
        return tree_function(p->m, FN_CONJ, parse_argument(p, ARG_FRAC));
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

const struct node *parse_named(struct parser *p)
{
    switch (peek(p)->kind) {
    case T_WORD:
        return word(p);
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
