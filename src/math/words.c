/* words.c - what is text in an answer rather than a formula. */
#include <string.h>
#include <utf8proc.h>

#include "math/parse.h"

bool ends_item(const struct token *t)
{
    return t->kind == T_END || t->kind == T_COMMA || t->kind == T_SEMI ||
           t->kind == T_OR || t->kind == T_AND || t->kind == T_CLOSE ||
           t->kind == T_RBRACE || t->kind == T_AMP || t->kind == T_ROW ||
           t->kind == T_GAP;
}

/* Whether the item here is a phrase: words, letters and numbers without an operator,
 * and a word among them that comes before any number.  Its tokens, 0 if it is none. */
int phrase(const struct parser *p)
{
    int n = 0, words = 0, numbers = 0;
    bool in_text = true;

    /* x \text{ cm} */
    if (peek(p)->kind == T_SYMBOL && !(peek(p)->flags & F_TEXT) &&
        peek_at(p, 1)->kind == T_WORD && peek_at(p, 1)->flags & F_TEXT &&
        unit_word(p->s + peek_at(p, 1)->at, peek_at(p, 1)->len))
        return 0;

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
                   !(t->flags & F_COMMAND) && (words || t->flags & F_TEXT)))
            return 0;
        in_text = in_text && t->flags & F_TEXT;
    }
    if (n == 1 && peek(p)->kind == T_FN && peek(p)->flags & F_TEXT)
        return 1;
    return words || (n > 1 && in_text && !numbers) ? n : 0;
}

/* The letters and digits of n tokens, lower-cased, with single spaces. */
static const struct node *text_of(struct parser *p, int n)
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

/* Tokens of the letter of a choice and its punctuation: "(D)", "B.", "B)", \text{B}
 * before Chinese; 0 if there is none. */
static int choice_letter(const struct parser *p)
{
    int k = at_kind(p, T_OPEN) && peek(p)->id == '(';
    const struct token *t = peek_at(p, k), *behind = peek_at(p, k + 1);

    if (t->kind != T_SYMBOL || t->len != 1 || p->s[t->at] < 'A' || p->s[t->at] > 'H')
        return 0;
    if (behind->kind == T_CLOSE && behind->id == ')')
        return k + 2;
    if (k)
        return 0;
    return behind->kind == T_DOT ? 2 : behind->flags & F_CJK ? 1 : 0;
}

const struct node *parse_choice(struct parser *p)
{
    int n = choice_letter(p), base = p->top;
    const struct token *t = peek_at(p, n == 3), *rest = peek_at(p, n);
    const struct node *kid[2];
    bool spaced = rest->flags & F_SPACE || t->flags & F_TEXT ||
                  (n == 3 && (rest->kind == T_NUMBER || rest->kind == T_CURRENCY));

    if (!n || rest->kind == T_END)
        return NULL;
    kid[0] = named(p, NODE_SYMBOL, (char[]){p->s[t->at], 0}, NULL, 0);
    if (rest->kind == T_WORD ||
        (rest->kind == T_SYMBOL && (n == 1 || peek_at(p, n + 1)->kind == T_WORD))) {
        p->at = p->n_tok; /* a text that says which letter it is */
        return kid[0];
    }
    if (!spaced && !(n == 2 && at_kind(p, T_SYMBOL)))
        return NULL;
    p->at += n;
    kid[1] = parse_items(p);
    p->top = base;
    return named(p, NODE_CALL, "choice", kid, 2);
}

const struct node *parse_words(struct parser *p, int n)
{
    return known_words(p, text_of(p, n));
}

/* Behind an item, "where b is an integer ...": all the rest, as it is written. */
const struct node *explained(struct parser *p, const struct node *a)
{
    const struct node *kid[2] = {a, NULL};

    kid[1] = named(p, NODE_WORDS, p->s + peek(p)->at, NULL, 0);
    p->at = p->n_tok;
    return named(p, NODE_OPAQUE, "where", kid, 2);
}

bool at_explanation(const struct parser *p)
{
    return !p->depth && at_kind(p, T_WORD) && condition_at(p) < 0 &&
           token_in(p, peek(p), "where with since such because as so 其中");
}
