/* lex.c - the normalised text as tokens. */
#include <string.h>

#include "dapo/utf8.h"
#include "math/parse.h"

struct lexer {
    struct parser *p;
    const char *s;
    size_t at;
    uint8_t flags; /* of the next token */
    int nested;    /* open brackets in which a comma separates */
    int open;      /* open braces */
    int environments;
    bool lines;                     /* in one where & only aligns */
    uint8_t is_text[MAX_DEPTH + 1]; /* brace -> F_TEXT, F_BOLD in it */
    uint8_t pending;                /* the next brace is of \text, \mathbf */
    bool over;
};

static struct token *last(struct lexer *l)
{
    return l->p->n_tok ? &l->p->tok[l->p->n_tok - 1] : NULL;
}

static bool after(struct lexer *l, enum token_kind kind)
{
    return last(l) && last(l)->kind == kind;
}

/* Whether the token before ends a value. */
static bool after_value(struct lexer *l)
{
    return after(l, T_NUMBER) || after(l, T_CLOSE) || after(l, T_RBRACE) ||
           after(l, T_SYMBOL) || after(l, T_PI) || after(l, T_BANG);
}

static void add(struct lexer *l, enum token_kind kind, int id, size_t len)
{
    if (l->p->n_tok == MAX_TOKENS) {
        l->over = true;
        return;
    }
    l->p->tok[l->p->n_tok++] = (struct token){
        .kind = (uint8_t)kind,
        .flags = (uint8_t)(l->flags | (l->open ? l->is_text[l->open] : 0)),
        .id = (int16_t)id,
        .at = (uint16_t)l->at,
        .len = (uint16_t)len,
    };
    l->at += len;
    l->flags = 0;
}

/* -- words ------------------------------------------------------------------------- */
static bool is_vowel(char c)
{
    return strchr("aeiouyAEIOUY", c) != NULL;
}

/* II, III, VII, but not IV, the power of a current. */
static bool roman(const char *s, size_t n)
{
    return n > 1 && strspn(s, "IVX") == n && (n > 2 || s[1] == s[0]);
}

bool word_like(const char *s, size_t n, bool alone)
{
    size_t upper = 0, vowels = 0, rising = 0;

    for (size_t i = 0; i < n; i++) {
        upper += is_upper(s[i]);
        vowels += is_vowel(s[i]);
        rising += i && (s[i] | 32) > (s[i - 1] | 32);
    }
    if (n == 2 && !roman(s, n))
        return word_listed("is of to if no sq", s, n, false) && (alone || !upper);
    if (word_listed(
            "yes odd two one six ten all any the for and are not has red dne day "
            "none true false even when with where such that",
            s, n, false))
        return true;
    if (roman(s, n))
        return true;
    if (n < 2 || rising == n - 1 || (upper > 1 && upper < n))
        return false;
    if (upper == n)
        return n > 4 && vowels;
    if (upper == 1)
        return is_upper(s[0]);
    if (n == 3)
        return alone && vowels == 1 && is_vowel(s[1]);
    return vowels > 0;
}

/* a.m. or p.m. behind a time of day; its length. */
static size_t meridiem(struct lexer *l)
{
    const char *s = l->s + l->at;
    size_t n = 1;
    bool text = l->open && l->is_text[l->open], dot = false;

    if (!strchr("aApP", *s) || !after(l, T_NUMBER))
        return 0;
    dot = s[n] == '.';
    n += dot;
    n += s[n] == ' ';
    if (s[n] != 'm' && s[n] != 'M')
        return 0;
    text |= dot || is_upper(s[n]) ||
            (l->p->n_tok > 1 && l->p->tok[l->p->n_tok - 2].kind == T_COLON);
    n++;
    if (!text || is_letter(s[n]))
        return 0;
    return n + (s[n] == '.');
}

/* `x` or `X` as a sign of multiplication: 6.02 x 10^23. */
static bool times_letter(struct lexer *l)
{
    const char *s = l->s + l->at;

    if ((*s != 'x' && *s != 'X') || !after(l, T_NUMBER))
        return false;
    s += 1 + (s[1] == ' ');
    return !strncmp(s, "10^", 3) || !strncmp(s, "10*", 3);
}

/* `U` between two sets. */
static bool cup_letter(struct lexer *l)
{
    const char *s = l->s + l->at;

    return *s == 'U' && (s[1] == '(' || s[1] == '[' || s[1] == '\\') &&
           after(l, T_CLOSE);
}

static void name(struct lexer *l, const struct name *a, size_t len)
{
    if (a->kind == T_OPEN)
        l->nested++;
    add(l, a->kind, a->id, len);
}

/* Whether letters stand before (behind) l->at (+n) with one space between. */
static bool beside_word(struct lexer *l, size_t n)
{
    const char *s = l->s;
    size_t end = l->at + n;

    return (l->at > 2 && s[l->at - 1] == ' ' && is_letter(s[l->at - 2]) &&
            is_letter(s[l->at - 3])) ||
           (s[end] == ' ' && is_letter(s[end + 1]) && is_letter(s[end + 2]));
}

/* sinx, lnt: a function and its argument; "cosh" is another, "sins" a word. */
static bool glued_function(const char *s, size_t n)
{
    const struct name *a = n > 2 ? name_prefix(s, n, true) : NULL;

    return a && a->kind == T_FN && strlen(a->text) == n - 1 &&
           strchr("abcnprtuvwxyz", s[n - 1]);
}

/* 3h 20min: hours, because minutes follow. */
static bool hours(struct lexer *l)
{
    const char *s = l->s + l->at;
    size_t n;

    if (*s != 'h' || !after(l, T_NUMBER))
        return false;
    s += 1 + (s[1] == ' ');
    n = strspn(s, "0123456789");
    return n && !strncmp(s + n + (s[n] == ' '), "min", 3);
}

/* A run of letters that is a unit or two, as if it stood in \text. */
static bool unit_letters(struct lexer *l, size_t n)
{
    const char *s = l->s + l->at;
    size_t k = n;
    bool behind = after(l, T_NUMBER) || after(l, T_RBRACE) || after(l, T_CLOSE) ||
                  after(l, T_DIV) || after(l, T_TIMES) ||
                  (l->p->n_tok > 2 && after(l, T_LBRACE)) ||
                  (l->p->n_tok > 1 && (after(l, T_SYMBOL) || after(l, T_WORD)));

    if (!behind)
        return false;
    if (!unit_word(s, n) && n <= 3 && !word_like(s, n, true))
        for (k--; k > 0 && !(unit_word(s, k) && unit_word(s + k, n - k)); k--)
            ;
    if (!k || (k == n && !unit_word(s, n)))
        return false;
    for (size_t part = k; part > 0; part = n - k, k = n) {
        l->flags |= F_TEXT;
        add(l, part == 1 ? T_SYMBOL : T_WORD, 0, part);
    }
    return true;
}

/* A run of n ASCII letters outside \text. */
static void letters(struct lexer *l, size_t n)
{
    const char *s = l->s + l->at;
    const struct name *a = name_find(s, n);
    bool alone = !l->at || !is_wordy(s[-1]);
    bool pair =
        n == 2 && word_listed("an as at by it we on do be so in am", s, n, false);

    if (l->p->units && unit_letters(l, n))
        return;
    if (a && a->plain && !(pair && beside_word(l, n))) {
        name(l, a, n);
        return;
    }
    if (glued_function(s, n)) {
        a = name_prefix(s, n, true);
        name(l, a, n - 1);
        return;
    }
    if (n > 1 && (word_like(s, n, alone) || (pair && beside_word(l, n)) ||
                  (after_value(l) && unit_known(s, n)))) {
        add(l, T_WORD, 0, n);
        return;
    }
    if (n > 2) {
        a = name_prefix(s, n, true);
        if (a && (strlen(a->text) + 1 == n || (a->kind == T_FN && n > 4)) &&
            (strlen(a->text) > 2 || after_value(l))) {
            name(l, a, strlen(a->text));
            return;
        }
    }
    if (hours(l)) {
        l->flags |= F_TEXT;
        add(l, T_WORD, 0, 1);
    } else if (times_letter(l))
        add(l, T_TIMES, 0, 1);
    else if (cup_letter(l))
        add(l, T_CUP, 0, 1);
    else
        add(l, T_SYMBOL, 0, 1);
}

/* Chinese: "and", "or"; the bytes of the word, 0 if it is another. */
static size_t chinese_link(const char *s, enum token_kind *kind)
{
    static const struct {
        const char *word;
        enum token_kind kind;
    } links[] = {
        {"或者", T_OR},  {"或", T_OR},    {"以及", T_AND},
        {"并且", T_AND}, {"而且", T_AND}, {"和", T_AND},
        {"与", T_AND},   {"及", T_AND},   {"且", T_AND},
    };

    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        if (!strncmp(s, links[i].word, strlen(links[i].word))) {
            *kind = links[i].kind;
            return strlen(links[i].word);
        }
    return 0;
}

static void beyond_ascii(struct lexer *l, size_t total)
{
    const char *s = l->s;
    enum token_kind kind = T_WORD;
    int32_t code;
    size_t n = chinese_link(s + l->at, &kind), end = l->at;

    if (n) {
        add(l, kind, 0, n);
        return;
    }
    while (end < total && (unsigned char)s[end] >= 0x80 &&
           !chinese_link(s + end, &kind)) {
        size_t k = utf8_next(s, total, end, &code);

        if (code == 0xfffd && end > l->at)
            break;
        end += k;
        if (code == 0xfffd) {
            add(l, T_BAD, 0, end - l->at);
            return;
        }
    }
    utf8_next(s, total, l->at, &code);
    l->flags |= code >= 0x2e80 ? F_CJK : 0;
    add(l, T_WORD, 0, end - l->at);
}

/* Letters inside \text: words, but for single letters and links. */
static void text_letters(struct lexer *l, size_t n)
{
    const char *s = l->s + l->at;
    const struct name *a = name_find(s, n);

    if (n == 1)
        add(l, T_SYMBOL, 0, 1);
    else if (a && !word_listed("in oo inf", s, n, false) &&
             (a->kind != T_BMOD || after_value(l) || after(l, T_OPEN)) &&
             (a->plain ||
              (a->kind == T_FN && s[n] == '}' && s[n + 1 + (s[n + 1] == '{')] == '(')))
        name(l, a, n);
    else
        add(l, T_WORD, 0, n);
}

static void word(struct lexer *l, size_t total)
{
    const char *s = l->s + l->at;
    size_t n = meridiem(l), ascii = 0;

    if (n) {
        add(l, T_MERIDIEM, *s == 'p' || *s == 'P' ? 12 : 0, n);
        return;
    }
    if (!strncmp(s, "np.", 3) || !strncmp(s, "math.", 5)) {
        l->at += *s == 'n' ? 3 : 5;
        return;
    }
    while (is_letter(s[ascii]))
        ascii++;
    n = ascii;
    for (int32_t code; ascii && (unsigned char)s[n] >= 0x80;) { /* Reponse, with e' */
        size_t k = utf8_next(l->s, total, l->at + n, &code);

        if (code >= 0x2e80)
            break;
        n += k;
        while (is_letter(s[n]))
            n++;
    }
    if (n > ascii)
        add(l, T_WORD, 0, n);
    else if (!ascii)
        beyond_ascii(l, total);
    else if (l->open && l->is_text[l->open] & F_TEXT)
        text_letters(l, n);
    else
        letters(l, n);
}

/* -- commands ---------------------------------------------------------------------- */
/* {pmatrix} behind \begin, \end: the token is the name. */
static void environment(struct lexer *l, enum token_kind kind, size_t n)
{
    const char *s = l->s + l->at;
    size_t len;

    l->at += n;
    s += n;
    len = *s == '{' ? strcspn(s + 1, "}") : 0;
    if (!len || s[len + 1] != '}') {
        add(l, T_BAD, 0, 0);
        return;
    }
    l->at++;
    if (kind == T_ENDENV && !l->environments) { /* the end of what isn't here */
        l->at += len + 1;
        return;
    }
    l->lines = kind == T_BEGIN && (!strncmp(l->s + l->at, "align", 5) ||
                                   !strncmp(l->s + l->at, "split", 5) ||
                                   !strncmp(l->s + l->at, "gather", 6));
    l->environments += kind == T_BEGIN ? 1 : -1;
    add(l, kind, 0, len);
    l->at++;
    if (kind == T_BEGIN && s[len + 2] == '{' &&
        (!strncmp(s, "{array}", 7) || !strncmp(s, "{tabular}", 9))) {
        size_t columns = strcspn(l->s + l->at, "}");

        l->at += columns + (l->s[l->at + columns] == '}');
    }
    l->nested += kind == T_BEGIN ? 1 : l->nested ? -1 : 0;
}

static void command(struct lexer *l)
{
    const char *s = l->s + l->at + 1;
    const struct name *a;
    size_t n = 0;

    while (is_letter(s[n]))
        n++;
    a = name_find(s, n);
    if (!a && n > 2) {
        a = name_prefix(s, n, false);
        a = a && n - strlen(a->text) <= 2 ? a : NULL;
        n = a ? strlen(a->text) : n;
    }
    l->flags |= F_COMMAND;
    if ((n == 4 && !strncmp(s, "text", 4)) || (n == 6 && !strncmp(s, "mathrm", 6))) {
        l->pending = s[n] == '{' ? F_TEXT : 0;
        l->at += n + 1;
        l->flags = F_SPACE;
    } else if (!a) {
        add(l, T_SYMBOL, 0, n + 1);
    } else if (a->kind == T_BEGIN || a->kind == T_ENDENV) {
        environment(l, a->kind, n + 1);
    } else if (a->kind == T_REL && after(l, T_NOT)) {
        l->p->n_tok--;
        add(l, T_REL, a->id == REL_IN ? REL_NOT_IN : REL_NE, n + 1);
    } else {
        l->pending = n == 6 && !strncmp(s, "mathbf", 6) && s[n] == '{' ? F_BOLD : 0;
        l->nested -= a->kind == T_CLOSE && l->nested;
        name(l, a, n + 1);
    }
}

static void brace(struct lexer *l, char c)
{
    if (c == '{') {
        if (l->open == MAX_DEPTH) {
            l->over = true;
            return;
        }
        l->open++;
        l->is_text[l->open] = (uint8_t)((l->is_text[l->open - 1] & ~128) | l->pending);
        if (l->pending != F_TEXT) {
            add(l, T_LBRACE, 0, 1);
        } else {
            l->is_text[l->open] |= 128; /* a brace that is no token */
            l->flags |= F_SPACE;
            l->at++;
        }
        l->pending = 0;
        return;
    }
    if (l->open && l->is_text[l->open] & 128) {
        l->flags |= F_SPACE;
        l->at++;
        l->open--;
        return;
    }
    l->open -= l->open > 0;
    add(l, T_RBRACE, 0, 1);
}

/* -- the rest ---------------------------------------------------------------------- */
static void bracket(struct lexer *l, char c, size_t len)
{
    if (strchr("([{", c)) {
        l->nested++;
        add(l, T_OPEN, c, len);
    } else {
        l->nested -= l->nested > 0;
        add(l, T_CLOSE, c, len);
    }
}

static const struct {
    const char *text;
    enum token_kind kind;
    int id;
} marks[] = {
    {"**", T_CARET, 0},    {"!=", T_REL, REL_NE},    {":=", T_REL, REL_EQ},
    {"==", T_REL, REL_EQ}, {"=>", T_IMPLIES, 0},     {"=<", T_REL, REL_LE},
    {"<=", T_REL, REL_LE}, {">=", T_REL, REL_GE},    {"->", T_ARROW, 0},
    {"\\\\", T_ROW, 0},    {"\\$", T_CURRENCY, '$'}, {"+-", T_PM, 0},
    {"+", T_PLUS, 0},      {"-", T_MINUS, 0},        {"*", T_TIMES, 0},
    {"/", T_DIV, 0},       {"^", T_CARET, 0},        {"_", T_UNDER, 0},
    {"!", T_BANG, 0},      {"'", T_PRIME, 0},        {"%", T_PERCENT, 0},
    {",", T_COMMA, 0},     {";", T_SEMI, 0},         {":", T_COLON, 0},
    {"|", T_BAR, 0},       {"=", T_REL, REL_EQ},     {"<", T_REL, REL_LT},
    {">", T_REL, REL_GT},  {"&", T_AMP, 0},          {".", T_DOT, 0},
    {"\"", T_QUOTE, 0},    {"`", T_QUOTE, 0},        {"?", T_QUOTE, 0},
};

static void mark(struct lexer *l)
{
    const char *s = l->s + l->at;

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t n = strlen(marks[i].text);

        if (strncmp(s, marks[i].text, n))
            continue;
        if (marks[i].id == REL_NE && marks[i].kind == T_REL && after(l, T_NUMBER) &&
            !(l->flags & F_SPACE))
            continue; /* 5!=120 */
        if (marks[i].kind == T_AMP && l->lines) {
            l->at++;
            return;
        }
        if (marks[i].kind == T_REL && after(l, T_NOT)) {
            l->p->n_tok--;
            add(l, T_REL, REL_NE, n);
        } else {
            add(l, marks[i].kind, marks[i].id, n);
        }
        return;
    }
    add(l, T_BAD, 0, 1);
}

/* 152A before a base. */
static size_t based_digits(const char *s)
{
    size_t n = 0, letter = 0;

    while (is_digit(s[n]) || is_upper(s[n]))
        letter |= is_upper(s[n++]);
    return n && letter && s[n] == '_' && is_digit(s[0]) ? n : 0;
}

/* A number here: its length.  Behind ^ or _ only digits, behind the comma of a list
 * without thousands. */
static size_t number(struct lexer *l, uint8_t *flags)
{
    const char *s = l->s + l->at;
    bool glued = !(l->flags & F_SPACE);

    if (!is_digit(*s) && *s != '.')
        return 0;
    if (glued && is_digit(*s) && (after(l, T_CARET) || after(l, T_UNDER)))
        return strspn(s, "0123456789");
    return number_scan(s, l->nested > 0 || (glued && after(l, T_COMMA)), flags);
}

static void one(struct lexer *l, size_t total)
{
    const char *s = l->s + l->at;
    uint8_t flags = 0;
    size_t n = is_digit(*s) ? based_digits(s) : 0;

    if (n) {
        add(l, T_BASED, 0, n);
        return;
    }
    n = number(l, &flags);
    if (n) {
        l->flags |= flags;
        add(l, T_NUMBER, 0, n);
    } else if (*s == ' ') {
        l->flags |= F_SPACE;
        l->at++;
    } else if (*s == '\\' && is_letter(s[1])) {
        command(l);
    } else if (*s == '{' || *s == '}') {
        brace(l, *s);
    } else if (*s == '\\' && (s[1] == '{' || s[1] == '}')) {
        bracket(l, s[1], 2);
    } else if (strchr("()[]", *s)) {
        bracket(l, *s, 1);
    } else if (is_wordy(*s)) {
        word(l, total);
    } else {
        mark(l);
    }
}

bool lex(struct parser *p)
{
    struct lexer l = {.p = p, .s = p->s};
    size_t total = strlen(p->s);

    p->n_tok = 0;
    while (l.at < total && !l.over)
        one(&l, total);
    p->tok[p->n_tok] = (struct token){.kind = T_END, .at = (uint16_t)total};
    return !l.over;
}
