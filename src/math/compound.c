/* compound.c - numbers in several parts: degrees, minutes and seconds, feet and inches;
 * ordinals. */
#include <string.h>

#include "math/parse.h"

/* Tokens of n marks behind a number, ', '', ^\prime, ^{\prime\prime} or " for two; 0 if
 * they aren't there. */
static int marks(const struct parser *p, int n)
{
    int k = 1 + (peek_at(p, 1)->kind == T_CARET), brace;

    brace = k == 2 && peek_at(p, k)->kind == T_LBRACE;
    k += brace;
    if (n == 2 && k == 1 && peek_at(p, k)->kind == T_QUOTE)
        return 1;
    for (int i = 0; i < n; i++)
        if (peek_at(p, k + i)->kind != T_PRIME)
            return 0;
    return k - 1 + n + brace;
}

/* 12^\circ 30' 15'': minutes and seconds behind degrees. */
const struct node *minutes(struct parser *p, const struct node *a)
{
    int base = p->top;

    if (!push(p, a->kid[0]))
        return NULL;
    for (int i = 1; i < 3; i++) {
        int n = at_kind(p, T_NUMBER) ? marks(p, i) : 0;
        const struct node *part;

        if (!n)
            break;
        part = parse_number(p);
        p->at += n;
        part = part ? tree_two(p->m, NODE_QUOTIENT, part,
                               tree_integer(p->m, i == 1 ? 60 : 3600))
                    : NULL;
        if (!push(p, part))
            return NULL;
    }
    return quantity(p, gather(p, NODE_SUM, base), a->u.unit);
}

static bool of_powers(const struct unit *u, int base)
{
    for (int i = 0; i < UNIT_BASES; i++)
        if (u->power[i] != (i == base))
            return false;
    return true;
}

/* *q = how many of u one v is, of the same kind; minutes behind degrees are of arc. */
static bool in_unit(const struct unit *u, const struct unit *v, mpq_ptr q)
{
    if (u->degrees && of_powers(v, UNIT_TIME)) {
        mpq_set_ui(q, 1, 3600);
        mpq_mul(q, q, v->factor);
        return true;
    }
    mpq_div(q, v->factor, u->factor);
    return !memcmp(u->power, v->power, sizeof u->power);
}

const struct node *add_quantities(struct parser *p, const struct node *a,
                                  const struct node *b)
{
    const struct node *c;
    mpq_ptr q;

    if (!b || b->kind != NODE_QUANTITY)
        return NULL;
    q = tree_literal(p->m);
    if (!q || !in_unit(a->u.unit, b->u.unit, q))
        return NULL;
    c = tree_two(p->m, NODE_PRODUCT, b->kid[0], tree_rational(p->m, q));
    return quantity(p, tree_two(p->m, NODE_SUM, a->kid[0], c), a->u.unit);
}

const struct node *compound(struct parser *p, const struct node *a)
{
    const struct node *b;

    if (!a || !at_kind(p, T_NUMBER) || !enter(p))
        return a;
    b = parse_touching(p, false);
    leave(p);
    return add_quantities(p, a, b);
}

/* The st, nd, rd or th of an ordinal behind a whole number, 21^{st} or 21st; its
 * tokens, 0 if something else is there. */
int ordinal(const struct parser *p)
{
    const struct token *number = &p->tok[p->at - 1], *t = peek(p);
    bool caret = t->kind == T_CARET, brace = caret && t[1].kind == T_LBRACE;
    const char *s = p->s + number->at, *end = s + number->len, *letters, *want;
    int k = caret + brace, n = 0;

    if (number->kind != T_NUMBER || !number->len ||
        strspn(s, "0123456789") < number->len)
        return 0;
    letters = p->s + t[k].at;
    want = number->len > 1 && end[-2] == '1' ? "th"
           : end[-1] == '1'                  ? "st"
           : end[-1] == '2'                  ? "nd"
           : end[-1] == '3'                  ? "rd"
                                             : "th";
    if (strncmp(letters, want, 2) || is_letter(letters[2]) ||
        (!caret && !(t->flags & F_TEXT) && letters != end))
        return 0;
    for (; n < 2 && k < 8; k++)
        n += t[k].len;
    if (n != 2 || (brace && t[k].kind != T_RBRACE) || (brace ? letters[2] != '}' : 0))
        return 0;
    k += brace;
    return ends_item(&t[k]) || t[k].kind == T_WORD || t[k].kind == T_DOT ? k : 0;
}
