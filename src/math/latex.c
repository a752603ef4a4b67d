/* latex.c - commands of one spelling: fonts, sizes, spacing, delimiters, $. */
#include <string.h>

#include "math/normalise.h"

enum action { TO, SPACE, SKIP, LEFT, RIGHT, ROMAN, BOX };

/* Commands that are spelt otherwise or mean nothing; others stand as they are. */
static const struct rewrite {
    const char *name;
    enum action action;
    const char *to;
} rewrites[] = {
    {"left", LEFT, ""},
    {"right", RIGHT, ""},
    {"big", SPACE, ""},
    {"bigl", LEFT, ""},
    {"bigr", RIGHT, ""},
    {"Big", SPACE, ""},
    {"Bigl", LEFT, ""},
    {"Bigr", RIGHT, ""},
    {"bigg", SPACE, ""},
    {"biggl", LEFT, ""},
    {"biggr", RIGHT, ""},
    {"Bigg", SPACE, ""},
    {"Biggl", LEFT, ""},
    {"Biggr", RIGHT, ""},
    {"middle", SPACE, ""},
    {"bigm", SPACE, ""},
    {"Bigm", SPACE, ""},
    {"displaystyle", SPACE, ""},
    {"textstyle", SPACE, ""},
    {"scriptstyle", SPACE, ""},
    {"limits", SPACE, ""},
    {"nolimits", SPACE, ""},
    {"boxed", BOX, ""},
    {"fbox", BOX, ""},
    {"framebox", BOX, ""},
    {"color", SKIP, ""},
    {"textcolor", SKIP, ""},
    {"colorbox", SKIP, ""},
    {"tiny", SPACE, ""},
    {"small", SPACE, ""},
    {"normalsize", SPACE, ""},
    {"large", SPACE, ""},
    {"Large", SPACE, ""},
    {"LARGE", SPACE, ""},
    {"huge", SPACE, ""},
    {"Huge", SPACE, ""},
    {"checkmark", SPACE, ""},
    {"blacksquare", SPACE, ""},
    {"qed", SPACE, ""},
    {"hfill", SPACE, ""},
    {"nonumber", SPACE, ""},
    {"allowbreak", SPACE, ""},
    {"thinspace", SPACE, ""},
    {"enspace", SPACE, ""},
    {"hspace", SKIP, ""},
    {"vspace", SKIP, ""},
    {"mspace", SKIP, ""},
    {"hphantom", SKIP, ""},
    {"phantom", SKIP, ""},
    {"n", SPACE, ""}, /* a line feed as a program prints it */
    {"label", SKIP, ""},
    {"tag", SKIP, ""},
    {"rm", ROMAN, ""},
    {"bf", ROMAN, ""},
    {"it", ROMAN, ""},
    {"dfrac", TO, "\\frac"},
    {"tfrac", TO, "\\frac"},
    {"cfrac", TO, "\\frac"},
    {"sfrac", TO, "\\frac"},
    {"nicefrac", TO, "\\frac"},
    {"dbinom", TO, "\\binom"},
    {"tbinom", TO, "\\binom"},
    {"leq", TO, "\\le"},
    {"leqslant", TO, "\\le"},
    {"leqq", TO, "\\le"},
    {"geq", TO, "\\ge"},
    {"geqslant", TO, "\\ge"},
    {"geqq", TO, "\\ge"},
    {"neq", TO, "\\ne"},
    {"lnot", TO, "\\neg"},
    {"lt", TO, "<"},
    {"gt", TO, ">"},
    {"lbrace", TO, "\\{"},
    {"rbrace", TO, "\\}"},
    {"lbrack", TO, "["},
    {"rbrack", TO, "]"},
    {"vert", TO, "|"},
    {"ast", TO, "*"},
    {"colon", TO, ":"},
    {"text", TO, "\\text"},
    {"textbf", TO, "\\text"},
    {"textit", TO, "\\text"},
    {"textrm", TO, "\\text"},
    {"textsf", TO, "\\text"},
    {"texttt", TO, "\\text"},
    {"textnormal", TO, "\\text"},
    {"textup", TO, "\\text"},
    {"mbox", TO, "\\text"},
    {"hbox", TO, "\\text"},
    {"emph", TO, "\\text"},
    {"mathsf", TO, "\\mathrm"},
    {"mathnormal", TO, "\\mathrm"},
    {"mathit", TO, "\\mathrm"},
    {"operatorname", TO, "\\mathrm"},
    {"boldsymbol", TO, "\\mathbf"},
    {"bm", TO, "\\mathbf"},
    {"mathcal", SPACE, ""},
    {"mathscr", SPACE, ""},
    {"mathfrak", SPACE, ""},
    {"qquad", TO, "\\quad"},
    {"dots", TO, "\\ldots"},
    {"cdots", TO, "\\ldots"},
    {"dotsc", TO, "\\ldots"},
    {"dotsb", TO, "\\ldots"},
    {"varnothing", TO, "\\emptyset"},
    {"infin", TO, "\\infty"},
    {"infinity", TO, "\\infty"},
    {"AA", TO, "\\text{angstrom}"},
    {"degree", TO, "^\\circ"},
    {"degrees", TO, "^\\circ"},
    {"textdegree", TO, "^\\circ"},
    {"textdollar", TO, "\\$"},
    {"dollar", TO, "\\$"},
    {"percent", TO, "%"},
    {"varphi", TO, "\\phi"},
    {"vartheta", TO, "\\theta"},
    {"varepsilon", TO, "\\epsilon"},
    {"rightarrow", TO, "\\to"},
    {"longrightarrow", TO, "\\to"},
    {"backslash", TO, "\\setminus"},
    {"smallsetminus", TO, "\\setminus"},
};

static const struct rewrite *rewrite_find(const char *s, size_t n)
{
    for (size_t i = 0; i < sizeof rewrites / sizeof rewrites[0]; i++)
        if (strlen(rewrites[i].name) == n && !strncmp(rewrites[i].name, s, n))
            return &rewrites[i];
    return NULL;
}

/* Whether a space tells two readings apart: n! = 6 and n != 6, 2e -1 and 2e-1. */
static bool space_matters(const struct text *t, char c)
{
    char last = t->n ? t->s[t->n - 1] : 0, before = t->n > 1 ? t->s[t->n - 2] : 0;

    if (is_wordy(c))
        return is_wordy(last) || last == ',' || last == '.';
    if (c == '=')
        return last == '!';
    return (c == '-' || c == '+') && (last == 'e' || last == 'E') && is_digit(before);
}

/* One character to the output, after a space if it must not touch what is before it. */
static void emit(struct text *t, char c)
{
    if (t->space && space_matters(t, c))
        put(t, ' ');
    t->space = false;
    put(t, c);
}

/* A command or a character that can't touch anything. */
static void emit_text(struct text *t, const char *s)
{
    t->space = false;
    put_text(t, s);
    t->space = t->n && is_letter(t->s[t->n - 1]) && strchr(s, '\\');
}

static size_t skip_space(const char *s, size_t at)
{
    while (s[at] == ' ' || s[at] == '~')
        at++;
    return at;
}

/* Behind \left, \right: the dot goes, a bar says which side it is. */
static size_t delimiter(const char *s, size_t at, enum action side, struct text *t)
{
    at = skip_space(s, at);
    if (s[at] == '.')
        return at + 1;
    if (s[at] == '|' || starts(s + at, "\\|") || starts(s + at, "\\vert")) {
        emit_text(t, side == LEFT ? "\\lvert" : "\\rvert");
        return at + (s[at] == '|' ? 1 : s[at + 1] == '|' ? 2 : 5);
    }
    if (s[at] == '<' || s[at] == '>') {
        emit_text(t, s[at] == '<' ? "\\langle" : "\\rangle");
        return at + 1;
    }
    return at;
}

static size_t skip_argument(const char *s, size_t at)
{
    size_t start = at = skip_space(s, at);
    int open = 0;

    if (s[at] != '{')
        return at;
    for (; s[at]; at++) {
        open += s[at] == '{' ? 1 : s[at] == '}' ? -1 : 0;
        if (!open)
            return at + 1;
    }
    return start;
}

/* Behind \boxed: where its content starts.  Around the whole text its braces go. */
static size_t unbox(const char *s, size_t at, struct text *t)
{
    size_t end = skip_argument(s, at), open = skip_space(s, at);

    t->space = true;
    if (t->n || end <= open || s[end + strspn(s + end, " .,;$\\])")])
        return at;
    t->skip = end - 1;
    return open + 1;
}

/* A command of letters at s[at], behind its backslash. */
static size_t letters(const char *s, size_t at, struct text *t)
{
    const struct rewrite *r;
    size_t end = at;

    while (is_letter(s[end]))
        end++;
    r = rewrite_find(s + at, end - at);
    if (!r) {
        t->space = false;
        put(t, '\\');
        while (at < end)
            put(t, s[at++]);
        return end;
    }
    switch (r->action) {
    case TO:
        emit_text(t, r->to);
        break;
    case SPACE:
        t->space = true;
        break;
    case SKIP:
        t->space = true;
        return skip_argument(s, end);
    case ROMAN:
        t->space = true;
        if (t->n && t->s[t->n - 1] == '{') {
            t->s[--t->n] = 0;
            put_text(t, "\\mathrm{");
        }
        break;
    case BOX:
        return unbox(s, end, t);
    case LEFT:
    case RIGHT:
        return delimiter(s, end, r->action, t);
    }
    return end;
}

static bool is_command(const char *s, size_t n)
{
    return rewrite_find(s, n) || name_find(s, n) ||
           (n == 6 && !strncmp(s, "mathrm", n));
}

/* Two or more backslashes: a new row, or one backslash too many before a command. */
static size_t backslashes(const char *s, size_t at, struct text *t)
{
    size_t n = 0, k = 0;

    while (s[at + n] == '\\')
        n++;
    while (is_letter(s[at + n + k]))
        k++;
    if (n == 2 && k > 1 && is_command(s + at + n, k))
        return at + 1;
    if (n == 2 && strchr("{}%$,!;()", s[at + 2]) && s[at + 2] && !strstr(s, "\\begin"))
        return at + 1;
    emit_text(t, "\\\\");
    at += n;
    if (k && n % 2)
        return at - 1;
    at = skip_space(s, at);
    if (s[at] == '[' && is_digit(s[at + 1])) { /* \\[4pt] */
        size_t end = at + 1 + strspn(s + at + 1, "0123456789.");

        if (is_letter(s[end]) && is_letter(s[end + 1]) && s[end + 2] == ']')
            at = end + 3;
    }
    return at;
}

/* The command at s[at]; where it ends. */
static size_t command(const char *s, size_t at, struct text *t)
{
    char c = s[at + 1];

    if (is_letter(c))
        return letters(s, at + 1, t);
    if (c == '\\')
        return backslashes(s, at, t);
    if (c == '!' && t->n && t->s[t->n - 1] == ',') {
        t->n--;
        emit_text(t, "{,}");
    } else if (c == '|') {
        emit_text(t, "|");
    } else if (c == '{' || c == '}' || c == '$') {
        char both[3] = {'\\', c, 0};

        emit_text(t, both);
    } else if (c == '%' || c == '&' || c == '#' || c == '_' || is_wordy(c)) {
        emit(t, c);
    } else { /* \, \; \: \! \( \) \[ \] ... */
        t->space = true;
    }
    return at + 1 + (c != 0);
}

/* Whether $ is a currency: the only one, before a number that starts the text. */
static bool one_dollar(const char *s)
{
    int n = 0;
    size_t first = skip_space(s, 0), digit;

    for (size_t i = 0; s[i]; i++)
        n += s[i] == '$' && !(i && s[i - 1] == '\\');
    first += s[first] == '-';
    digit = skip_space(s, first + (s[first] == '$'));
    return n == 1 && s[first] == '$' && (is_digit(s[digit]) || s[digit] == '.');
}

void latex(const char *s, struct text *t)
{
    size_t at = 0;
    bool currency = one_dollar(s);

    while (s[at]) {
        char c = s[at];

        if (c == '\\') {
            at = command(s, at, t);
            continue;
        }
        if (c == ' ' || c == '~' || (c == '$' && !currency) ||
            (t->skip && at == t->skip))
            t->space = true;
        else if (c == '$')
            emit_text(t, "\\$");
        else if (starts(s + at, "..."))
            emit_text(t, "\\ldots"), at += 2;
        else if (starts(s + at, "^{}"))
            at += 2;
        else if (starts(s + at, "{\\,}"))
            emit_text(t, "{,}"), at += 3;
        else
            emit(t, c);
        at++;
    }
}
