/* parse.h - private: from normalised text to tokens to a tree.
 *
 * lex.c cuts the text into tokens (names.c says what a command or a name is), list.c
 * reads items with separators, parse.c one with its relations, words.c text, expr.c
 * sums and products, touching.c what touches, atom.c brackets and fractions, symbol.c
 * names, around.c remarks, function.c functions, sums over an index and matrices,
 * number.c literals, units.c units.
 */
#ifndef DAPO_MATH_PARSE_H
#define DAPO_MATH_PARSE_H

#include "math/tree.h"

enum {
    MAX_NORMAL = 2 * MAX_TEXT, /* bytes of a normalised text */
    MAX_TOKENS = 4096,
    MAX_STACK = 1024, /* items of unfinished lists, sums, products */
    MAX_CHAIN = 32    /* sides of one relation */
};

/* -- characters -------------------------------------------------------------------- */
/* LaTeX or ASCII for a code point above 0x7f; NULL: it stands for itself. */
const char *unicode_text(int32_t code);
/* '^' or '_' if the code point is a raised or lowered character, which is *plain. */
char unicode_script(int32_t code, char *plain);
static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static inline bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}
static inline bool is_letter(char c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z');
}
/* A letter, a digit, or part of a character beyond ASCII. */
static inline bool is_wordy(char c)
{
    return is_letter(c) || is_digit(c) || (unsigned char)c >= 0x80;
}

/* -- tokens ------------------------------------------------------------------------ */
enum token_kind {
    T_END,
    T_BAD, /* what no grammar has */
    T_NUMBER,
    T_BASED,  /* digits and letters before a base: 152A in 152A_{11} */
    T_SYMBOL, /* one letter, or a Greek letter by its command */
    T_WORD,   /* letters that are no product of symbols */
    T_FN,     /* id: enum fn, or FN_LG, FN_SQRT ... of names.c */
    T_PLUS,
    T_MINUS,
    T_PM,
    T_MP,
    T_TIMES,
    T_DIV,
    T_CARET,
    T_UNDER,
    T_BANG,
    T_PRIME,
    T_PERCENT,
    T_DEGREE, /* \circ; a degree sign where it stands raised */
    T_CURRENCY,
    T_COMMA,
    T_SEMI,
    T_COLON,
    T_AND,
    T_OR,
    T_GAP, /* \quad */
    T_ROW, /* \\ */
    T_AMP,
    T_DOT,
    T_QUOTE,
    T_OPEN, /* id: the character ( [ { < */
    T_CLOSE,
    T_LBRACE,
    T_RBRACE,
    T_BAR,
    T_LBAR,
    T_RBAR,
    T_LFLOOR,
    T_RFLOOR,
    T_LCEIL,
    T_RCEIL,
    T_REL, /* id: enum rel */
    T_CUP,
    T_CAP,
    T_SETMINUS,
    T_MID,
    T_FRAC,
    T_SQRT, /* id: the index, 2; 0 if [n] may follow */
    T_BINOM,
    T_CHOOSE,
    T_OVER,
    T_PI,
    T_INFINITY,
    T_BIG, /* \sum \prod \int \lim ... */
    T_BEGIN,
    T_ENDENV,
    T_BLACKBOARD,
    T_EMPTY,
    T_ACCENT,       /* a mark over one argument: part of a symbol's name */
    T_PLAIN_ACCENT, /* a mark that changes nothing: \vec, \mathbf */
    T_PMOD,
    T_BMOD,
    T_DOTS,
    T_ARROW,
    T_IMPLIES,
    T_FORALL,
    T_NOT,
    T_SHAPE,   /* \triangle, \angle: a head before a name */
    T_MERIDIEM /* a.m., p.m.; id 0, 12 */
};
enum {
    F_SPACE = 1,   /* white space, or an edge of \text, before it */
    F_TEXT = 2,    /* inside \text or \mathrm */
    F_BOLD = 4,    /* inside \mathbf */
    F_COMMA = 8,   /* number: its point is a comma, 0{,}5 and 1.234,56 */
    F_CJK = 16,    /* word of Chinese or Japanese characters */
    F_COMMAND = 32 /* written with a backslash */
};
struct token {
    uint8_t kind, flags;
    int16_t id;
    uint16_t at, len; /* in the text */
};

/* What a command or a plain name is; NULL: unknown.  `plain`: without a backslash. */
struct name {
    const char *text;
    uint8_t kind;
    bool plain;
    int16_t id;
};
const struct name *name_find(const char *s, size_t n);
/* The longest known name that s[n] starts with (two letters at least). */
const struct name *name_prefix(const char *s, size_t n, bool plain);
/* Names that work like functions but are none in the tree. */
enum { FN_LG = FN_COUNT, FN_LB, FN_ABS, FN_CIS };

/* A number at s; its bytes, 0 if there is none.  `nested`: a comma separates here. */
size_t number_scan(const char *s, bool nested, uint8_t *flags);
/* The digits of `t` read in base b: the call "base" of tree.h; NULL if one isn't b's.
 */
struct parser;
const struct node *parse_based(struct parser *p, const struct token *t, int b);
/* Whether letters behind a number are a unit even outside \text: cm, not mg. */
bool unit_known(const char *s, size_t n);
bool unit_word(const char *s, size_t n); /* the same inside \text */
/* Whether a run of letters is English rather than a product of symbols. */
bool word_like(const char *s, size_t n, bool alone);

/* -- the parser -------------------------------------------------------------------- */
struct parser {
    struct math *m;
    const char *s; /* normalised text */
    struct token tok[MAX_TOKENS + 1];
    int n_tok, at;
    int start;   /* the first token of the answer */
    int depth;   /* open parentheses, arguments ... */
    int bars;    /* open |...| */
    bool no_bar; /* inside a set: | does not open an absolute value after a factor */
    bool units;  /* letters behind a number are a unit where they can be */
    bool vector; /* i is a symbol: j is one, or i is an index of summation */
    const struct node *stack[MAX_STACK];
    uint8_t sep[MAX_STACK]; /* the separator before stack[k] */
    int top;
};
/* Fill p->tok.  False: more than MAX_TOKENS. */
bool lex(struct parser *p);

/* All functions below: NULL if what follows can't be read, or with m->over. */
/* Items up to a token that can't go on; one item is itself, more a bare list (or AND,
 * OR, as tree.h says). */
const struct node *parse_items(struct parser *p);
const struct node *parse_item(struct parser *p);
/* Step over separators, which are \quad, comma, semicolon, "and", "or"; 0 if there was
 * none. */
int separator(struct parser *p);
/* One side of a relation, one element of a list: a sum, sets, a ratio; maybe a unit. */
const struct node *parse_side(struct parser *p);
const struct node *parse_sum(struct parser *p);
const struct node *parse_product(struct parser *p);
/* Factors that touch.  `argument`: of a function, so the next function ends it. */
const struct node *parse_touching(struct parser *p, bool argument);
/* One atom without what may follow it; the argument of \frac, \sqrt, ^ or _. */
const struct node *parse_atom(struct parser *p);
enum argument {
    ARG_FRAC,   /* of a number its first digit: \frac12 */
    ARG_SCRIPT, /* a whole number, with its sign: \sqrt12, \log_10 */
    ARG_POWER   /* and the powers behind it: 2^3^2 */
};
const struct node *parse_argument(struct parser *p, enum argument how);
const struct node *parse_function(struct parser *p);
/* `may_call`: it may be a function that is applied to what follows. */
const struct node *parse_symbol(struct parser *p, bool may_call);
/* \vec{v}, \overline{AB}, \mathbb{R}, \angle ABC, words in a formula. */
const struct node *parse_named(struct parser *p);
const struct node *parse_big(struct parser *p);
const struct node *parse_environment(struct parser *p);
const struct node *parse_number(struct parser *p);
/* Whether `p` stands before a factor; whether a group in brackets is open there. */
bool starts_factor(const struct parser *p);
/* ( ... ), [ ... ), \{ ... \}, { ... }, \langle ... \rangle */
const struct node *parse_bracket(struct parser *p);

/* -- words ------------------------------------------------------------------------- */
bool ends_item(const struct token *t);
/* Whether the item here is a phrase: words, letters and numbers without an operator,
 * and a word among them that comes before any number.  Its tokens, 0 if it is none. */
int phrase(const struct parser *p);
/* The next n tokens as NODE_WORDS, or the set they name. */
const struct node *parse_words(struct parser *p, int n);
/* A choice and its text, "(D) Alina": the letter; a choice and its value, "(B) 12": the
 * call "choice" of letter and value.  NULL without consuming if there is none. */
const struct node *parse_choice(struct parser *p);
/* "where b is ...", behind an item: all the rest, as it is written. */
bool at_explanation(const struct parser *p);
/* (k \in \mathbb{Z}), "where k \in ...", behind an item: what holds for it is the next
 * item.  Tokens to step over before that; -1 if there is no condition here. */
int condition_at(const struct parser *p);
const struct node *explained(struct parser *p, const struct node *a);
/* around.c: step over what may stand before an answer, "the answer is", "="; cut off
 * what may stand behind it, "(since x > 0)", "for all real x". */
void lead_in(struct parser *p);
void remarks(struct parser *p);

/* -- units ------------------------------------------------------------------------- */
/* A unit at the parser's place, consumed; NULL without consuming if there is none. */
const struct unit *parse_unit(struct parser *p);
/* Step over "per pound", "each": words behind a number that are no unit. */
void skip_rate(struct parser *p);
const struct unit *unit_currency(struct parser *p, int id);
const struct unit *unit_degree(struct parser *p);
const struct unit *unit_percent(struct parser *p);
const struct node *quantity(struct parser *p, const struct node *a,
                            const struct unit *u);
/* The sum of two quantities of one kind, in the unit of the first; NULL if they differ.
 */
const struct node *add_quantities(struct parser *p, const struct node *a,
                                  const struct node *b);
const struct node *negate(struct parser *p, const struct node *a);
/* The items from `base` on as a product; a unit behind the last is the product's. */
const struct node *product_of(struct parser *p, int base);
/* compound.c.  A quantity in degrees with the minutes and seconds behind it; a quantity
 * with more of its kind behind it, in the first one's unit; the tokens of the letters
 * behind the number just read that make it an ordinal, 0 if there are none. */
const struct node *minutes(struct parser *p, const struct node *a);
const struct node *compound(struct parser *p, const struct node *a);
int ordinal(const struct parser *p);
/* Tokens of a raised degree sign, ^\circ or ^{\circ}; 0 if there is none. */
int raised_degree(const struct parser *p);
/* A quantity inside an expression as its value in base units. */
const struct node *lower(struct parser *p, const struct node *a);

/* -- small things ------------------------------------------------------------------ */
static inline const struct token *peek(const struct parser *p)
{
    return &p->tok[p->at];
}
static inline const struct token *peek_at(const struct parser *p, int k)
{
    int i = p->at + k;

    return &p->tok[i < p->n_tok ? i : p->n_tok];
}
static inline bool at_kind(const struct parser *p, enum token_kind kind)
{
    return peek(p)->kind == kind;
}
/* Step over a token of this kind, if it is next. */
bool take(struct parser *p, enum token_kind kind);
/* Go in one deeper; false and m->over at MAX_DEPTH. */
bool enter(struct parser *p);
void leave(struct parser *p);
/* Keep an item; false if it is NULL or there are too many. */
bool push(struct parser *p, const struct node *a);
/* The items from `base` on as one node; a single one as itself. */
const struct node *gather(struct parser *p, enum node_kind kind, int base);
/* A node of a kind that has a name. */
const struct node *named(struct parser *p, enum node_kind kind, const char *name,
                         const struct node *const *kid, int n);
bool token_is(const struct parser *p, const struct token *t, const char *text);
/* Whether the token is one of the words, which have single spaces between them. */
bool token_in(const struct parser *p, const struct token *t, const char *words);

#endif
