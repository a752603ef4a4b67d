/* parse.c - answers: lists, relations, words. */
#include <string.h>
#include <utf8proc.h>

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
    struct node *a = tree_node(p->m, kind, n);

    for (int i = 0; a && i < n; i++) {
        a->kid[i] = kid[i];
        if (!kid[i])
            return NULL;
    }
    if (a)
        a->u.name = tree_name(p->m, name, strlen(name));
    return a && a->u.name ? a : NULL;
}

bool token_is(const struct parser *p, const struct token *t, const char *text)
{
    return t->len == strlen(text) && !strncmp(p->s + t->at, text, t->len);
}

/* -- words ------------------------------------------------------------------------- */
static bool ends_item(const struct token *t)
{
    return t->kind == T_END || t->kind == T_COMMA || t->kind == T_SEMI ||
           t->kind == T_OR || t->kind == T_AND || t->kind == T_CLOSE ||
           t->kind == T_RBRACE || t->kind == T_AMP || t->kind == T_ROW ||
           t->kind == T_GAP;
}

/* Whether the item here is a phrase: words, letters and numbers without an operator,
 * and a word among them that comes before any number.  Its tokens, 0 if it is none. */
static int phrase(const struct parser *p)
{
    int n = 0, words = 0, numbers = 0;
    bool in_text = true;

    for (const struct token *t; !ends_item(t = peek_at(p, n)); n++) {
        if (t->kind == T_WORD)
            words += numbers ? words > 0 : 1;
        else if (t->kind == T_NUMBER)
            numbers++;
        else if (!(t->kind == T_SYMBOL && !(t->flags & F_COMMAND)) &&
                 t->kind != T_DOT && t->kind != T_PRIME && t->kind != T_QUOTE &&
                 t->kind != T_COLON && t->kind != T_BANG &&
                 !(t->kind == T_MINUS && n && !(t->flags & F_SPACE)) &&
                 !((t->kind == T_FN || t->kind == T_SHAPE || t->kind == T_BMOD ||
                    t->kind == T_INFINITY) &&
                   !(t->flags & F_COMMAND) && words))
            return 0;
        in_text = in_text && t->flags & F_TEXT;
    }
    return words || (n > 1 && in_text && !numbers) ? n : 0;
}

/* The letters and digits of n tokens, lower-cased, with single spaces. */
static const struct node *words(struct parser *p, int n)
{
    char text[MAX_NORMAL + 8];
    size_t len = 0;
    bool space = false;

    for (int i = 0; i < n; i++) {
        const struct token *t = peek(p);
        const char *s = p->s + t->at;

        p->at++;
        if (t->kind != T_WORD && t->kind != T_SYMBOL && t->kind != T_NUMBER &&
            t->kind != T_FN && t->kind != T_SHAPE && t->kind != T_INFINITY &&
            t->kind != T_BMOD) {
            space = true;
            continue;
        }
        if (len && (space || t->flags & F_SPACE))
            text[len++] = ' ';
        space = t->len > 1;
        for (utf8proc_ssize_t at = 0, k; at < t->len; at += k) {
            utf8proc_int32_t code;

            k = utf8proc_iterate((const utf8proc_uint8_t *)s + at, t->len - at, &code);
            if (k <= 0 || len + 8 >= sizeof text)
                return NULL;
            len += (size_t)utf8proc_encode_char(utf8proc_tolower(code),
                                                (utf8proc_uint8_t *)text + len);
        }
    }
    text[len] = 0;
    return len ? named(p, NODE_WORDS, text, NULL, 0) : NULL;
}

/* Words that are mathematics: "infinity", "all real numbers". */
static const struct node *known_words(struct parser *p, const struct node *a)
{
    static const struct {
        const char *words, *set;
    } sets[] = {
        {"all real numbers", "R"},
        {"all reals", "R"},
        {"real numbers", "R"},
        {"all integers", "Z"},
        {"empty set", "empty"},
        {"the empty set", "empty"},
        {"实数", "R"},
        {"全体实数", "R"},
        {"空集", "empty"},
    };

    for (size_t i = 0; a && i < sizeof sets / sizeof sets[0]; i++)
        if (!strcmp(a->u.name, sets[i].words))
            return named(p, NODE_NAMED_SET, sets[i].set, NULL, 0);
    return a;
}

/* A letter that names a choice before the choice's text: "(D) Alina", "B. cos".  The
 * choice without its text. */
static const struct node *choice(struct parser *p)
{
    bool bracket = at_kind(p, T_OPEN);
    const struct token *t = peek_at(p, bracket), *behind = peek_at(p, 1 + bracket);
    const struct node *a;
    int at = p->at;

    if (t->kind != T_SYMBOL || !is_upper(p->s[t->at]) || t->len != 1 ||
        p->s[t->at] > 'H')
        return NULL;
    if (bracket ? behind->kind != T_CLOSE
                : behind->kind != T_DOT && !(behind->flags & F_CJK))
        return NULL;
    p->at += 1 + bracket + (bracket || behind->kind == T_DOT);
    if (!at_kind(p, T_WORD) && !at_kind(p, T_SYMBOL)) {
        p->at = at;
        return NULL;
    }
    p->at = at + bracket;
    a = named(p, NODE_SYMBOL, (char[]){p->s[t->at], 0}, NULL, 0);
    while (a && !at_kind(p, T_END))
        p->at++;
    return a;
}

/* -- relations --------------------------------------------------------------------- */
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
    if (at_kind(p, T_PMOD)) {
        p->at++;
        mod = parse_argument(p, ARG_FRAC);
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

/* Behind an item, "where b is an integer ...": all the rest, as it is written. */
static const struct node *explained(struct parser *p, const struct node *a)
{
    const struct node *kid[2] = {a, NULL};

    kid[1] = named(p, NODE_WORDS, p->s + peek(p)->at, NULL, 0);
    p->at = p->n_tok;
    return named(p, NODE_OPAQUE, "where", kid, 2);
}

static bool at_explanation(const struct parser *p)
{
    return !p->depth && at_kind(p, T_WORD) &&
           token_in(p, peek(p), "where with since such because as so 其中");
}

/* Behind an item: "if x > 0", "for all n", \Rightarrow ...: the item and what goes with
 * it, known but not evaluated. */
static const struct node *condition(struct parser *p, const struct node *a)
{
    static const char links[] = "if when for all any every 当";
    const char *head = NULL;
    const struct node *b;

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

const struct node *parse_item(struct parser *p)
{
    int n = phrase(p);

    if (n)
        return known_words(p, words(p, n));
    if (at_kind(p, T_FORALL))
        return quantified(p);
    return condition(p, relation(p));
}

/* -- lists ------------------------------------------------------------------------- */
enum { SEP_GAP = 1, SEP_COMMA, SEP_SEMI, SEP_AND, SEP_OR };

/* Separators in a row count as one, the strongest: ", and" is a comma, "and" between
 * gaps stays one, "and/or" is a comma. */
static int separator(struct parser *p)
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
            return sep;
        }
        sep = k > sep ? k : sep;
    }
}

static bool is_equation(const struct node *a)
{
    if (a->kind != NODE_RELATION)
        return false;
    for (int i = 0; i + 1 < a->n; i++)
        if (a->u.ops[i] != REL_EQ && a->u.ops[i] != REL_APPROX)
            return false;
    return true;
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

/* "n = 2, 3, 4": the values behind an equation are more of its right side. */
static bool fold(struct parser *p, int base)
{
    int to = base;

    for (int i = base; i < p->top;) {
        const struct node *a = p->stack[i];
        int k = i + 1;
        struct node *whole;

        while (k < p->top && a->kind == NODE_RELATION && is_equation(a) &&
               p->stack[k]->kind != NODE_RELATION && p->stack[k]->kind != NODE_WORDS &&
               p->stack[k]->kind != NODE_OPAQUE)
            k++;
        if (k > i + 1) {
            whole = tree_node(p->m, NODE_RELATION, a->n);
            if (!whole || p->top + k - i > MAX_STACK)
                return false;
            memcpy(whole->kid, a->kid, (size_t)a->n * sizeof *a->kid);
            whole->u.ops = a->u.ops;
            p->stack[i] = a->kid[a->n - 1];
            whole->kid[a->n - 1] = tree_many(p->m, NODE_LIST, &p->stack[i], k - i);
            if (!whole->kid[a->n - 1])
                return false;
            a = whole;
        }
        p->sep[to] = p->sep[i];
        p->stack[to++] = a;
        i = k;
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

/* "1,5" and nothing else: a list that may be a decimal. */
static int decimal_places(const struct parser *p, int from, int to)
{
    int at = from + (p->tok[from].kind == T_MINUS);
    const struct token *a = &p->tok[at], *b = &p->tok[at + 2];

    if (to - at != 3 || a->kind != T_NUMBER || p->tok[at + 1].kind != T_COMMA ||
        b->kind != T_NUMBER || b->flags & F_SPACE || p->depth)
        return 0;
    if (strspn(p->s + a->at, "0123456789") != a->len + 1u + b->len &&
        (strspn(p->s + a->at, "0123456789") != a->len ||
         strspn(p->s + b->at, "0123456789") < b->len))
        return 0;
    if ((b->len == 3 && p->s[a->at] != '0') || b->len > 200)
        return 0;
    return b->len;
}

static const struct node *listed(struct parser *p, int base, int from)
{
    int n = p->top - base, size, relations = 0, or = 0, semi = 0;
    struct node *a;

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
    if (n > 1 && relations)
        a = (struct node *)together(p, base, n);
    else
        a = (struct node *)gather(p, NODE_LIST, base);
    p->top = base;
    if (n == 2 && a && !relations)
        a->u.list.places = (unsigned char)decimal_places(p, from, p->at);
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

/* -- the whole answer -------------------------------------------------------------- */
/* "The answer is", "x \approx", "= 5": what may stand before an answer. */
static void lead_in(struct parser *p)
{
    int k = p->at;
    bool answer = false;

    while (token_in(p, &p->tok[k],
                    "so therefore thus hence the my our final correct "
                    "answer is option choice 答案是 答案为 答案 最终答案 "
                    "最终答案是 正确答案是 所以 选项 选 故选 因此答案是 所以答案是")) {
        answer |= token_in(p, &p->tok[k],
                           "answer option choice 答案是 答案为 答案 最终答案 "
                           "最终答案是 正确答案是 选项 选 故选 因此答案是 所以答案是");
        k++;
        while (p->tok[k].kind == T_COLON || p->tok[k].kind == T_COMMA)
            k++;
    }
    if (answer && p->tok[k].kind != T_END)
        p->at = k;
    if (at_kind(p, T_REL) && (peek(p)->id == REL_EQ || peek(p)->id == REL_APPROX))
        p->at++;
}

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

const struct node *math_parse(struct math *m, const char *normal)
{
    struct parser p;
    const struct node *a;

    p.m = m;
    p.s = normal;
    p.at = p.depth = p.bars = p.top = 0;
    p.no_bar = false;
    if (!lex(&p)) {
        m->over = true;
        return NULL;
    }
    p.vector = has_index(&p);
    separator(&p); /* \quad at the start */
    lead_in(&p);
    a = choice(&p);
    if (!a)
        a = parse_items(&p);
    while (at_kind(&p, T_DOT) || at_kind(&p, T_QUOTE))
        p.at++;
    if (!a || m->over || !at_kind(&p, T_END))
        return NULL;
    if (tree_depth(a) > MAX_DEPTH) {
        m->over = true;
        return NULL;
    }
    return a;
}
