/* normalise.c - untrusted bytes as one spelling of their LaTeX.
 *
 * Three passes over bounded buffers: characters (Unicode to LaTeX), commands (spacing,
 * delimiters, fonts), ends (braces, quotes, full stops).  What the passes take away has
 * no meaning for the value: white space, sizes of brackets, $, unmatched braces.
 */
#include <string.h>
#include <utf8proc.h>

#include "dapo/utf8.h"
#include "math/normalise.h"

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

/* Brackets round brackets, ((x)), beyond what anybody writes by hand: only the inner
 * ones stay. */
static void flatten(struct text *t)
{
    uint16_t stack[MAX_NORMAL], match[MAX_NORMAL];
    size_t to = 0;
    int deep = 0, most = 0;

    memset(match, 0, t->n * sizeof *match);
    for (size_t i = 0; i < t->n; i++) {
        char c = t->s[i];

        if (c == '\\') {
            i++;
        } else if (c == '(' || c == '{') {
            stack[deep++] = (uint16_t)i;
            most = deep > most ? deep : most;
        } else if ((c == ')' || c == '}') && deep) {
            if (t->s[stack[deep - 1]] != (c == ')' ? '(' : '{'))
                return;
            match[stack[--deep]] = (uint16_t)i;
        }
    }
    if (most < MAX_DEPTH / 2 || deep)
        return;
    for (size_t i = 0; i + 1 < t->n; i++)
        if (match[i] && t->s[i] == t->s[i + 1] && match[i + 1] + 1 == match[i])
            t->s[i] = t->s[match[i]] = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->s[i])
            t->s[to++] = t->s[i];
    t->n = to;
    t->s[to] = 0;
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
           !(t->n > 1 && t->s[t->n - 2] == '\\') &&
           !(t->s[t->n - 1] == '"' && strstr(t->s, "\\circ")))
        t->n--;
    while (from < t->n && strchr(" *`\",;:", t->s[from]))
        from++;
    if (t->n > from + 7 && !strncmp(t->s + t->n - 7, "\\square", 7)) /* q.e.d. */
        t->n -= 7;
    while (t->n > from + 5 && (!strncmp(t->s + t->n - 5, "\\quad", 5)))
        t->n -= 5;
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
    latex(first.s, &then);
    trim(&then);
    python_list(&then);
    balance(&then);
    flatten(&then);
    spaced_unit(&then, text, n);
    if (first.over || then.over) {
        m->over = true;
        return NULL;
    }
    return tree_name(m, then.s, then.n);
}
