/* normalise.c - untrusted bytes as one spelling of their LaTeX.
 *
 * Three passes over bounded buffers: characters (Unicode to LaTeX), commands (spacing,
 * delimiters, fonts), ends (braces, quotes, full stops).  What the passes take away has
 * no meaning for the value: white space, sizes of brackets, $, unmatched braces.
 */
#include <string.h>
#include <utf8proc.h>

#include "dapo/utf8.h"
#include "math/parse.h"

struct text {
    size_t n;
    bool over;
    bool space; /* white space came before what is emitted next */
    char s[MAX_NORMAL + 4];
};

static void start(struct text *t)
{
    t->n = 0;
    t->over = t->space = false;
    t->s[0] = 0;
}

static void put(struct text *t, char c)
{
    if (t->n == MAX_NORMAL)
        t->over = true;
    else
        t->s[t->n++] = c;
    t->s[t->n] = 0;
}

static void put_text(struct text *t, const char *s)
{
    while (*s)
        put(t, *s++);
}

static bool starts(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

/* -- characters -------------------------------------------------------------------- */
/* A program took the backslash and the first letter of a command for an escape, as in
 * "\frac" -> form feed, "rac".  The letter; 0 if this is just white space. */
static char lost_letter(char c, const char *rest)
{
    static const struct {
        char control;
        char letter;
        const char *rest;
    } lost[] = {
        {'\f', 'f', "rac"},   {'\f', 'f', "orall"}, {'\b', 'b', "oxed"},
        {'\b', 'b', "egin"},  {'\b', 'b', "inom"},  {'\b', 'b', "eta"},
        {'\t', 't', "frac"},  {'\t', 't', "ext"},   {'\t', 't', "imes"},
        {'\t', 't', "heta"},  {'\r', 'r', "ight"},  {'\r', 'r', "angle"},
        {'\r', 'r', "floor"}, {'\a', 'a', "lpha"},  {'\a', 'a', "pprox"},
    };

    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
        if (c == lost[i].control && starts(rest, lost[i].rest))
            return lost[i].letter;
    return 0;
}

/* Compatibility forms: full width, mathematical alphabets, ligatures. */
static void put_plain(struct text *t, int32_t code)
{
    utf8proc_int32_t as[18];
    int last = 0;
    utf8proc_ssize_t n = utf8proc_decompose_char(
        code, as, 18, UTF8PROC_COMPAT | UTF8PROC_COMPOSE, &last);

    for (utf8proc_ssize_t i = 0; i < n && i < 18; i++) {
        const char *latex = unicode_text(as[i]);
        utf8proc_uint8_t bytes[4];
        utf8proc_ssize_t k = utf8proc_encode_char(as[i], bytes);

        if (latex)
            put_text(t, latex);
        else
            for (utf8proc_ssize_t j = 0; j < k; j++)
                put(t, (char)bytes[j]);
    }
}

/* A run of raised or lowered characters as ^{...} or _{...}. */
static size_t put_scripts(struct text *t, const char *s, size_t n, size_t at, char how)
{
    put(t, how);
    put(t, '{');
    while (at < n) {
        int32_t code;
        size_t k = utf8_next(s, n, at, &code);
        char plain;

        if (unicode_script(code, &plain) != how)
            break;
        put(t, plain);
        at += k;
    }
    put(t, '}');
    return at;
}

static void put_ascii(struct text *t, char c, const char *rest, size_t n_rest)
{
    char head[8] = "", lost;

    if (c >= ' ' && c != 0x7f) {
        put(t, c);
        return;
    }
    memcpy(head, rest, n_rest < sizeof head - 1 ? n_rest : sizeof head - 1);
    lost = lost_letter(c, head);
    if (lost && !(t->n && t->s[t->n - 1] == '\\'))
        put(t, '\\');
    put(t, lost ? lost : ' ');
}

static void characters(struct text *t, const char *s, size_t n)
{
    for (size_t at = 0, k; at < n; at += k) {
        int32_t code;
        const char *latex;
        char plain, how;

        k = utf8_next(s, n, at, &code);
        how = code > 0x7f ? unicode_script(code, &plain) : 0;
        latex = code > 0x7f ? unicode_text(code) : NULL;
        if (how)
            k = put_scripts(t, s, n, at, how) - at;
        else if (code < 0)
            put_text(t, "\xef\xbf\xbd");
        else if (latex)
            put_text(t, latex);
        else if (utf8_is_space(code) && code > ' ')
            put(t, ' ');
        else if (code > 0x7f)
            put_plain(t, code);
        else
            put_ascii(t, s[at], s + at + 1, n - at - 1);
    }
}

/* -- commands ---------------------------------------------------------------------- */
enum action { TO, SPACE, SKIP, LEFT, RIGHT, ROMAN };

/* Commands that are spelt otherwise or mean nothing; others stand as they are. */
static const struct {
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
    {"boxed", SPACE, ""},
    {"fbox", SPACE, ""},
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
    {"label", SKIP, ""},
    {"tag", SKIP, ""},
    {"rm", ROMAN, ""},
    {"bf", ROMAN, ""},
    {"it", ROMAN, ""},
    {"dfrac", TO, "\\frac"},
    {"tfrac", TO, "\\frac"},
    {"cfrac", TO, "\\frac"},
    {"dbinom", TO, "\\binom"},
    {"tbinom", TO, "\\binom"},
    {"leq", TO, "\\le"},
    {"leqslant", TO, "\\le"},
    {"leqq", TO, "\\le"},
    {"geq", TO, "\\ge"},
    {"geqslant", TO, "\\ge"},
    {"geqq", TO, "\\ge"},
    {"neq", TO, "\\ne"},
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

/* One character to the output, after a space if it would otherwise touch what is a
 * number, a name or a comma before it. */
static void emit(struct text *t, char c)
{
    char last = t->n ? t->s[t->n - 1] : 0;

    if (t->space && is_wordy(c) && (is_wordy(last) || last == ',' || last == '.'))
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

/* A command of letters at s[at], behind its backslash. */
static size_t letters(const char *s, size_t at, struct text *t)
{
    size_t n = 0;

    while (is_letter(s[at + n]))
        n++;
    for (size_t i = 0; i < sizeof rewrites / sizeof rewrites[0]; i++) {
        if (strlen(rewrites[i].name) != n || strncmp(rewrites[i].name, s + at, n))
            continue;
        switch (rewrites[i].action) {
        case TO:
            emit_text(t, rewrites[i].to);
            break;
        case SPACE:
            t->space = true;
            break;
        case SKIP:
            t->space = true;
            return skip_argument(s, at + n);
        case ROMAN:
            t->space = true;
            if (t->n && t->s[t->n - 1] == '{') {
                t->s[--t->n] = 0;
                put_text(t, "\\mathrm{");
            }
            break;
        case LEFT:
        case RIGHT:
            return delimiter(s, at + n, rewrites[i].action, t);
        }
        return at + n;
    }
    t->space = false;
    put(t, '\\');
    for (size_t i = 0; i < n; i++)
        put(t, s[at + i]);
    return at + n;
}

static bool is_command(const char *s, size_t n)
{
    for (size_t i = 0; i < sizeof rewrites / sizeof rewrites[0]; i++)
        if (strlen(rewrites[i].name) == n && !strncmp(rewrites[i].name, s, n))
            return true;
    return name_find(s, n) || (n == 6 && !strncmp(s, "mathrm", n));
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
    } else if (c == '%' || c == '&' || c == '#' || c == '_') {
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

static void commands(const char *s, struct text *t)
{
    size_t at = 0;
    bool currency = one_dollar(s);

    while (s[at]) {
        char c = s[at];

        if (c == '\\') {
            at = command(s, at, t);
            continue;
        }
        if (c == ' ' || c == '~' || (c == '$' && !currency))
            t->space = true;
        else if (c == '$')
            emit_text(t, "\\$");
        else if (starts(s + at, "..."))
            emit_text(t, "\\ldots"), at += 2;
        else
            emit(t, c);
        at++;
    }
}

/* -- ends -------------------------------------------------------------------------- */
/* Braces that have no partner: a closing one goes, a missing one is added. */
static void balance(struct text *t)
{
    size_t to = 0;
    int open = 0;

    for (size_t i = 0; i < t->n; i++) {
        char c = t->s[i];

        if (c == '\\' && i + 1 < t->n) {
            t->s[to++] = c;
            c = t->s[++i];
        } else if (c == '}' && open == 0) {
            continue;
        } else {
            open += c == '{' ? 1 : c == '}' ? -1 : 0;
        }
        t->s[to++] = c;
    }
    t->n = to;
    t->s[to] = 0;
    if (open > 8)
        t->over = true;
    for (; open > 0 && !t->over; open--)
        put(t, '}');
}

/* A list as Python prints it, ['a', 'b']: its items. */
static void python_list(struct text *t)
{
    char quote = t->n > 4 && t->s[0] == '[' ? t->s[1] : 0;
    size_t to = 0;

    if ((quote != '\'' && quote != '"') || t->s[t->n - 1] != ']' ||
        t->s[t->n - 2] != quote)
        return;
    for (size_t i = 2; i < t->n - 2; i++)
        if (t->s[i] != quote)
            t->s[to++] = t->s[i];
    t->n = to;
    t->s[to] = 0;
}

/* Emphasis, quotes and full stops around the text. */
static void trim(struct text *t)
{
    size_t from = 0;

    while (t->n && strchr(" .,;:*`\"", t->s[t->n - 1]) &&
           !(t->n > 1 && t->s[t->n - 2] == '\\'))
        t->n--;
    while (from < t->n && strchr(" *`\",;:", t->s[from]))
        from++;
    t->n -= from;
    memmove(t->s, t->s + from, t->n);
    t->s[t->n] = 0;
}

/* "10 m", without any LaTeX: the letter is a unit.  "10m" and "$10 m$" are algebra. */
static void spaced_unit(struct text *t, const char *original, size_t n)
{
    char unit;

    if (t->n < 3 || memchr(original, '\\', n) || memchr(original, '$', n))
        return;
    unit = t->s[t->n - 1];
    if (t->s[t->n - 2] != ' ' || !is_digit(t->s[t->n - 3]) ||
        !strchr("msghLJNWKVAC", unit))
        return;
    t->n -= 2;
    put_text(t, "\\text{");
    put(t, unit);
    put(t, '}');
}

const char *math_normalise(struct math *m, const char *text, size_t n)
{
    struct text first, then;

    if (n > MAX_TEXT) {
        m->over = true;
        return NULL;
    }
    start(&first);
    start(&then);
    characters(&first, text, n);
    commands(first.s, &then);
    python_list(&then);
    trim(&then);
    balance(&then);
    spaced_unit(&then, text, n);
    if (first.over || then.over) {
        m->over = true;
        return NULL;
    }
    return tree_name(m, then.s, then.n);
}
