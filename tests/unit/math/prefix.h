/* prefix.h - trees of scalars from a prefix notation, for tests of what is below the
 * parser: (+ x (neg 0.5)), (root 2 3), (log 8 2), (deg 36), (call f x).  Trusted text.
 */
#ifndef TEST_PREFIX_H
#define TEST_PREFIX_H

#include <ctype.h>
#include <string.h>

#include "math/tree.h"

static inline const struct node *read_tree(struct math *m, const char **at);

static inline const struct node *read_number(struct math *m, const char **at)
{
    struct node *a = tree_node(m, NODE_NUMBER, 0);
    mpq_ptr q = tree_literal(m);
    char digits[2048];
    size_t n = 0;
    int places = -1;

    for (; isdigit((unsigned char)**at) || **at == '.'; ++*at) {
        if (**at == '.')
            places = 0;
        else {
            digits[n++] = **at;
            places += places >= 0;
        }
    }
    digits[n] = 0;
    mpz_set_str(mpq_numref(q), digits, 10);
    mpz_ui_pow_ui(mpq_denref(q), 10, places > 0 ? (unsigned long)places : 0);
    mpq_canonicalize(q);
    a->u.number.q = q;
    a->u.number.places = places;
    return a;
}

static inline size_t read_word(const char **at, char word[64])
{
    size_t n = 0;

    while (**at && !strchr(" ()", **at) && n < 63)
        word[n++] = *(*at)++;
    word[n] = 0;
    return n;
}

static inline const struct node *read_atom(struct math *m, const char **at)
{
    static const struct {
        const char *text;
        enum node_kind kind;
    } atoms[] = {{"pi", NODE_PI}, {"e", NODE_E}, {"i", NODE_I}, {"oo", NODE_INFINITY}};
    char word[64];
    struct node *a;
    size_t n = read_word(at, word);

    for (size_t i = 0; i < sizeof atoms / sizeof *atoms; i++)
        if (!strcmp(word, atoms[i].text))
            return tree_node(m, atoms[i].kind, 0);
    a = tree_node(m, NODE_SYMBOL, 0);
    a->u.name = tree_name(m, word, n);
    return a;
}

static inline const struct unit *degrees(struct math *m)
{
    struct unit *u = tree_take(m, sizeof *u);
    mpq_ptr one = tree_literal(m);

    mpq_set_ui(one, 1, 1);
    *u = (struct unit){.degrees = true, .factor = one, .name = "degree"};
    u->power[UNIT_ANGLE] = 1;
    return u;
}

static inline const struct node *read_list(struct math *m, const char **at)
{
    static const char *const functions[FN_COUNT] = {
#define X(name, text) text,
        FN_LIST(X)
#undef X
    };
    static const struct {
        const char *text;
        enum node_kind kind;
    } heads[] = {
        {"+", NODE_SUM},        {"*", NODE_PRODUCT},    {"neg", NODE_NEGATE},
        {"/", NODE_QUOTIENT},   {"^", NODE_POWER},      {"root", NODE_ROOT},
        {"abs", NODE_ABS},      {"!", NODE_FACTORIAL},  {"choose", NODE_BINOMIAL},
        {"deg", NODE_QUANTITY}, {"pm", NODE_PLUSMINUS}, {"opaque", NODE_OPAQUE},
        {"call", NODE_CALL}};
    const struct node *kid[256];
    const char *name = NULL;
    enum node_kind kind = NODE_FUNCTION;
    struct node *a;
    char word[64];
    int n = 0;

    ++*at;
    read_word(at, word);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (!strcmp(word, heads[i].text))
            kind = heads[i].kind;
    if (kind == NODE_CALL || kind == NODE_OPAQUE) {
        char head[64];

        ++*at;
        name = tree_name(m, head, read_word(at, head));
    }
    while (**at == ' ') {
        ++*at;
        kid[n++] = read_tree(m, at);
    }
    ++*at;
    a = tree_node(m, kind, n);
    memcpy(a->kid, kid, (size_t)n * sizeof *kid);
    if (name)
        a->u.name = name;
    if (kind == NODE_QUANTITY)
        a->u.unit = degrees(m);
    for (int f = 0; kind == NODE_FUNCTION && f < FN_COUNT; f++)
        if (!strcmp(word, functions[f]))
            a->u.fn = (enum fn)f;
    return a;
}

static inline const struct node *read_tree(struct math *m, const char **at)
{
    if (**at == '(')
        return read_list(m, at);
    return isdigit((unsigned char)**at) || **at == '.' ? read_number(m, at)
                                                       : read_atom(m, at);
}

static inline const struct node *tree(struct math *m, const char *text)
{
    return read_tree(m, &text);
}

#endif
