/* exact.c - the normal form of grader = exact: one pass over the LaTeX, then ornaments
 * off both ends, then plain numbers in canonical form.  reward.h lists the rules. */
#include <stdlib.h>
#include <string.h>

#include "dapo/reward.h"
#include "dapo/utf8.h"
#include "rules.h"

enum gap { GAP_NONE, GAP_THIN, GAP_FULL };

struct tidy {
    const char *in;
    size_t n, at;
    struct bytes *out; /* at most 3n + 8 bytes, allocated beforehand */
    bool *dropped;     /* [depth]: this brace was left out, so is its partner */
    size_t depth;
    enum gap gap;     /* white space seen since the last byte put out */
    bool word;        /* the last thing put out is a control word */
    bool comma_space; /* "1, 234" is a list, not a number */
};

enum action { DROP, SPACE, THIN, UNWRAP, RENAME, SIDE };

static const struct {
    const char *name;
    enum action action;
    const char *to; /* RENAME only */
} commands[] = {
    {"left", SIDE, NULL},      {"right", SIDE, NULL},     {"big", DROP, NULL},
    {"Big", DROP, NULL},       {"bigl", DROP, NULL},      {"bigr", DROP, NULL},
    {"Bigl", DROP, NULL},      {"Bigr", DROP, NULL},      {"displaystyle", DROP, NULL},
    {"degree", DROP, NULL},    {"quad", SPACE, NULL},     {"qquad", SPACE, NULL},
    {"text", UNWRAP, NULL},    {"textbf", UNWRAP, NULL},  {"textit", UNWRAP, NULL},
    {"textrm", UNWRAP, NULL},  {"mathrm", UNWRAP, NULL},  {"mathbf", UNWRAP, NULL},
    {"mbox", UNWRAP, NULL},    {"boxed", UNWRAP, NULL},   {"fbox", UNWRAP, NULL},
    {"dfrac", RENAME, "frac"}, {"tfrac", RENAME, "frac"}, {"cfrac", RENAME, "frac"},
    {"leq", RENAME, "le"},     {"geq", RENAME, "ge"},     {"neq", RENAME, "ne"},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
    return is_digit(c) || is_letter(c);
}

/* Put out k bytes, and before them the one space that keeps two words apart. */
static void put(struct tidy *t, const char *s, size_t k)
{
    struct bytes *out = t->out;
    char last = out->len ? out->data[out->len - 1] : '\0', next = *s;
    bool digits = is_digit(last) && is_digit(next);
    bool apart = t->gap == GAP_FULL || (t->gap == GAP_THIN && !digits);

    if (t->gap != GAP_NONE && last == ',' && is_digit(next))
        t->comma_space = true;
    if (t->word ? is_letter(next) : apart && is_word(last) && is_word(next))
        out->data[out->len++] = ' ';
    memcpy(out->data + out->len, s, k);
    out->len += k;
    t->gap = GAP_NONE;
    t->word = false;
}

static bool follows(const struct tidy *t, const char *s)
{
    return starts(t->in, t->at, t->n, s);
}

static void widen(struct tidy *t, enum gap gap)
{
    if (t->gap < gap)
        t->gap = gap;
}

static void skip_blanks(struct tidy *t)
{
    while (t->at < t->n && t->in[t->at] == ' ')
        t->at++;
}

/* \frac12 and \sqrt2 mean \frac{1}{2} and \sqrt{2}. */
static void put_short_arguments(struct tidy *t, int args)
{
    while (args-- > 0) {
        skip_blanks(t);
        if (t->at == t->n || !is_word(t->in[t->at]))
            return;
        put(t, "{", 1);
        put(t, t->in + t->at++, 1);
        put(t, "}", 1);
    }
}

static void put_word(struct tidy *t, const char *name, size_t k)
{
    put(t, "\\", 1);
    put(t, name, k);
    t->word = true;
    if (k == 4 && !memcmp(name, "frac", 4))
        put_short_arguments(t, 2);
    if (k == 4 && !memcmp(name, "sqrt", 4))
        put_short_arguments(t, 1);
}

/* A control word: in[at, at + k) is its name. */
static void control_word(struct tidy *t, size_t k)
{
    const char *name = t->in + t->at;
    size_t i = 0, n = sizeof commands / sizeof *commands;

    t->at += k;
    while (i < n &&
           (strlen(commands[i].name) != k || memcmp(commands[i].name, name, k)))
        i++;
    if (i == n) {
        put_word(t, name, k);
        return;
    }
    if (commands[i].action == RENAME)
        put_word(t, commands[i].to, strlen(commands[i].to));
    if (commands[i].action == SPACE)
        widen(t, GAP_FULL);
    if (commands[i].action == SIDE && follows(t, "."))
        t->at++; /* the invisible delimiter of \left. and \right. */
    if (commands[i].action == UNWRAP) {
        skip_blanks(t);
        if (follows(t, "{")) {
            t->at++;
            t->dropped[t->depth++] = true;
        }
    }
}

static void backslash(struct tidy *t)
{
    size_t k = 0;
    char c;

    t->at++;
    while (t->at + k < t->n && is_letter(t->in[t->at + k]))
        k++;
    if (k > 0) {
        control_word(t, k);
        return;
    }
    c = t->at < t->n ? t->in[t->at++] : '\0';
    switch (c) {
    case ' ':
        widen(t, GAP_FULL);
        break;
    case ',':
    case ';':
    case ':':
        widen(t, GAP_THIN);
        break;
    case '\0': /* a lone backslash at the end (or before a NUL byte) */
    case '!':
    case '$':
    case '(':
    case ')':
    case '[':
    case ']':
        break;
    case '%':
        put(t, "%", 1);
        break;
    default:
        put(t, "\\", 1);
        put(t, &c, 1);
    }
}

static void brace(struct tidy *t, bool opens)
{
    bool dropped = false;

    if (opens) {
        t->dropped[t->depth++] = false;
    } else if (t->depth > 0) {
        dropped = t->dropped[--t->depth];
    }
    if (!dropped)
        put(t, opens ? "{" : "}", 1);
    t->at++;
}

static void plain(struct tidy *t)
{
    int32_t code;
    size_t k = utf8_next(t->in, t->n, t->at, &code);

    if (utf8_is_space(code))
        widen(t, GAP_FULL);
    else if (code == 0x2212)
        put(t, "-", 1);
    else if (code != 0xb0) /* the degree sign */
        put(t, t->in + t->at, k);
    t->at += k;
}

static void rewrite(struct tidy *t)
{
    while (t->at < t->n) {
        char c = t->in[t->at];

        if (c == '\\')
            backslash(t);
        else if (c == '$')
            t->at++;
        else if (c == '~')
            t->at++, widen(t, GAP_FULL);
        else if (follows(t, "{,}"))
            t->at += 3, put(t, ",", 1);
        else if (c == '{' || c == '}')
            brace(t, c == '{');
        else if (follows(t, "^\\circ"))
            t->at += 6;
        else if (follows(t, "^{\\circ}"))
            t->at += 8;
        else
            plain(t);
    }
}

/* Emphasis and a full stop around the answer, then "x=" and "+" before it. */
static void strip(const char *s, size_t *at, size_t *end)
{
    while (*at < *end && (s[*at] == '*' || s[*at] == ' '))
        ++*at;
    *end = before_any(s, *at, *end, "*. ");
    if (*end - *at > 2 && is_letter(s[*at]) && s[*at + 1] == '=')
        *at += 2;
    if (*end - *at > 1 && s[*at] == '+')
        ++*at;
}

/* Copy the integer part s[0, n) to `to` without thousands commas; the number of digits,
 * or 0 if it is none.  Behind the first comma every group has three digits. */
static size_t integer_part(const char *s, size_t n, bool commas, char *to)
{
    size_t group = 0, digits = 0;
    bool grouped = false;

    for (size_t i = 0; i <= n; i++) {
        if (i < n && is_digit(s[i])) {
            to[digits++] = s[i];
            group++;
            continue;
        }
        if (i < n && (s[i] != ',' || !commas))
            return 0;
        if ((grouped && group != 3) || (!grouped && i < n && (group == 0 || group > 3)))
            return 0;
        grouped = true;
        group = 0;
    }
    return digits;
}

/* Bring a plain decimal number into canonical form, in place; anything else stays. */
static int canonical_number(struct bytes *b, bool commas, struct fault *f)
{
    bool minus = b->len && b->data[0] == '-';
    const char *s = b->data + minus;
    size_t n = b->len - minus, whole, fraction, digits, zeros = 0, k = 0;
    const char *dot = n ? memchr(s, '.', n) : NULL;
    char *to;

    whole = dot ? (size_t)(dot - s) : n;
    fraction = dot ? n - whole - 1 : 0;
    for (size_t i = 0; i < fraction; i++)
        if (!is_digit(dot[1 + i]))
            return 0;
    while (fraction > 0 && dot[fraction] == '0')
        fraction--;
    to = mem_new(n + 4, 1, "an answer", f);
    if (!to)
        return f->code;
    digits = integer_part(s, whole, commas, to + 2);
    if (digits || (whole == 0 && fraction)) {
        while (zeros < digits && to[2 + zeros] == '0')
            zeros++;
        b->len = 0;
        if (minus && (digits > zeros || fraction))
            to[k++] = '-';
        if (digits == zeros)
            to[k++] = '0';
        memmove(to + k, to + 2 + zeros, digits - zeros);
        k += digits - zeros;
        if (fraction)
            memcpy(to + k, dot, fraction + 1), k += fraction + 1;
        memcpy(b->data, to, k);
        b->len = k;
    }
    free(to);
    return 0;
}

int normal_exact(const char *answer, size_t n, struct bytes *out, struct fault *f)
{
    struct tidy t = {.in = answer, .n = n, .out = out};
    size_t at = 0, end, cap;
    int rc = 0;

    if (!size_mul(n, 3, &cap) || !size_add(cap, 8, &cap))
        return fault_set(f, FAULT_SYSTEM, "no memory for an answer of %zu bytes", n);
    rc = mem_grow((void **)&out->data, &out->cap, cap, 1, "an answer", f);
    if (rc)
        return rc;
    t.dropped = mem_new(n, sizeof *t.dropped, "an answer's braces", f);
    if (!t.dropped)
        return f->code;
    rewrite(&t);
    end = out->len;
    strip(out->data, &at, &end);
    memmove(out->data, out->data + at, end - at);
    out->len = end - at;
    rc = canonical_number(out, !t.comma_space, f);
    out->data[out->len] = '\0';
    free(t.dropped);
    return rc;
}
