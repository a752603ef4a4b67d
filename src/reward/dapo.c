/* dapo.c - the official grader's normal form: literal replacements and the effect of
 * seven regular expressions, in the official order, each in one linear pass.
 *
 * Hand-written because the expressions backtrack quadratically on hostile answers; in
 * Python's re a dot matches anything but a newline and a class one code point. */
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "dapo/utf8.h"
#include "rules.h"

/* Order matters: "a " goes before spaces, so "a b c" becomes "bc". */
static const char *const replacements[][2] = {
    {"an ", ""},          {"a ", ""},
    {".$", "$"},          {"\\$", ""},
    {"\\ ", ""},          {" ", ""},
    {"mbox", "text"},     {",\\text{and}", ","},
    {"\\text{and}", ","}, {"\\text{m}", "\\text{}"},
};

static const char *const removals[] = {
    "square",     "ways",       "integers",  "dollars",      "mph",
    "inches",     "hours",      "km",        "units",        "\\ldots",
    "sue",        "points",     "feet",      "minutes",      "digits",
    "cents",      "degrees",    "cm",        "gm",           "pounds",
    "meters",     "meals",      "edges",     "students",     "childrentickets",
    "multiples",  "\\text{s}",  "\\text{.}", "\\text{\ns}",  "\\text{}^2",
    "\\text{}^3", "\\text{\n}", "\\text{}",  "\\mathrm{th}", "^\\circ",
    "^{\\circ}",  "\\;",        ",\\!",      "{,}",          "\"",
    "\\dots",
};

/* Keep part [at, at + k) of b behind its first w bytes; w <= at. */
static void keep(struct bytes *b, size_t *w, size_t at, size_t k)
{
    memmove(b->data + *w, b->data + at, k);
    *w += k;
}

static void finish(struct bytes *b, size_t w)
{
    b->len = w;
    b->data[w] = '\0';
}

/* Offset of `what` in b from `at` on; b->len if absent. */
static size_t find(const struct bytes *b, size_t at, const char *what)
{
    const char *p = memmem(b->data + at, b->len - at, what, strlen(what));

    return p ? (size_t)(p - b->data) : b->len;
}

/* str.replace, in place: no replacement is longer than what it replaces. */
static void replace(struct bytes *b, const char *from, const char *to)
{
    size_t w = 0, at = 0, hit;

    for (; (hit = find(b, at, from)) < b->len; at = hit + strlen(from)) {
        keep(b, &w, at, hit - at);
        memcpy(b->data + w, to, strlen(to));
        w += strlen(to);
    }
    keep(b, &w, at, b->len - at);
    finish(b, w);
}

static size_t line_end(const struct bytes *b, size_t at)
{
    const char *p = memchr(b->data + at, '\n', b->len - at);

    return p ? (size_t)(p - b->data) : b->len;
}

/* (.*?)(\$)(.*?)(\$)(.*) -> $\3$: a line with two dollars keeps what is between the
 * first two. */
static void keep_first_dollars(struct bytes *b)
{
    size_t w = 0;

    for (size_t at = 0, end; at < b->len; at = end + 1) {
        const char *p, *q = NULL;

        end = line_end(b, at);
        p = memchr(b->data + at, '$', end - at);
        if (p)
            q = memchr(p + 1, '$', (size_t)(b->data + end - p) - 1);
        if (q)
            keep(b, &w, (size_t)(p - b->data), (size_t)(q - p) + 1);
        else
            keep(b, &w, at, end - at);
        if (end < b->len)
            keep(b, &w, end, 1);
    }
    finish(b, w);
}

/* (\\name\{)(.*?)(\}) -> \2, `command` being \name{.  The next closing brace or newline
 * is remembered: looking again after each command would be quadratic. */
static void unwrap(struct bytes *b, const char *command)
{
    size_t w = 0, at = 0, hit, inside, stop = 0;

    for (; (hit = find(b, at, command)) < b->len; at = inside) {
        inside = hit + strlen(command);
        if (stop < inside)
            stop = inside;
        while (stop < b->len && b->data[stop] != '}' && b->data[stop] != '\n')
            stop++;
        if (stop == b->len || b->data[stop] == '\n') {
            keep(b, &w, at, inside - at);
        } else {
            keep(b, &w, at, hit - at);
            keep(b, &w, inside, stop - inside);
            inside = stop + 1;
        }
    }
    keep(b, &w, at, b->len - at);
    finish(b, w);
}

/* (\\boxed\{)(.*)(\}) -> \2: greedy, to the line's last brace, behind which no other
 * match can end. */
static void unwrap_box(struct bytes *b)
{
    static const char command[] = "\\boxed{";
    const size_t k = sizeof command - 1;
    size_t w = 0;

    for (size_t at = 0, end; at < b->len; at = end + 1) {
        const char *box, *brace;

        end = line_end(b, at);
        box = memmem(b->data + at, end - at, command, k);
        brace = memrchr(b->data + at, '}', end - at);
        if (box && brace && brace >= box + k) {
            size_t inside = (size_t)(box - b->data) + k,
                   last = (size_t)(brace - b->data);

            keep(b, &w, at, inside - k - at);
            keep(b, &w, inside, last - inside);
            at = last + 1;
        }
        keep(b, &w, at, end - at);
        if (end < b->len)
            keep(b, &w, end, 1);
    }
    finish(b, w);
}

static char *put(char *to, const char *from, size_t k)
{
    memcpy(to, from, k);
    return to + k;
}

/* (name)([^{])(.) -> name{\2}{\3}, or with one argument (name)([^{]) -> name{\2}. */
static int add_braces(struct bytes *b, const char *name, int args, struct fault *f)
{
    const size_t n = b->len;
    char *to, *out = to = mem_new(n + 1, 2, "an answer", f); /* 6 bytes become 10 */
    size_t at = 0, hit;
    int32_t code;

    if (!out)
        return f->code;
    while ((hit = find(b, at, name)) < n) {
        size_t first = hit + strlen(name), second, end;

        to = put(to, b->data + at, first - at);
        at = first;
        if (first == n || b->data[first] == '{')
            continue;
        end = second = first + utf8_next(b->data, n, first, &code);
        if (args == 2 && (second == n || b->data[second] == '\n'))
            continue;
        if (args == 2)
            end += utf8_next(b->data, n, second, &code);
        to = put(put(to, "{", 1), b->data + first, second - first);
        if (args == 2)
            to = put(put(to, "}{", 2), b->data + second, end - second);
        to = put(to, "}", 1);
        at = end;
    }
    to = put(to, b->data + at, n - at);
    free(b->data);
    *b = (struct bytes){.data = out, .len = (size_t)(to - out), .cap = 2 * (n + 1)};
    return 0;
}

/* Python's str.isdigit of one code point: the decimal digits of all scripts, and those
 * of Numeric_Type=Digit, which the general category doesn't tell. */
static bool is_digit(int32_t c)
{
    static const int32_t other[][2] = {
        {0xb2, 0xb3},       {0xb9, 0xb9},       {0x1369, 0x1371},   {0x19da, 0x19da},
        {0x2070, 0x2070},   {0x2074, 0x2079},   {0x2080, 0x2089},   {0x2460, 0x2468},
        {0x2474, 0x247c},   {0x2488, 0x2490},   {0x24ea, 0x24ea},   {0x24f5, 0x24fd},
        {0x24ff, 0x24ff},   {0x2776, 0x277e},   {0x2780, 0x2788},   {0x278a, 0x2792},
        {0x10a40, 0x10a43}, {0x10e60, 0x10e68}, {0x11052, 0x1105a}, {0x1f100, 0x1f10a},
    };

    if (c < 0)
        return false;
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (c >= other[i][0] && c <= other[i][1])
            return true;
    return utf8proc_category(c) == UTF8PROC_CATEGORY_ND;
}

static bool is_number(const struct bytes *b)
{
    bool any = false;
    int32_t code;

    for (size_t at = 0; at < b->len;) {
        at += utf8_next(b->data, b->len, at, &code);
        if (code == ',')
            continue;
        if (!is_digit(code))
            return false;
        any = true;
    }
    return any;
}

int normal_dapo(const char *answer, size_t n, struct bytes *b, struct fault *f)
{
    const char *equals = n ? memrchr(answer, '=', n) : NULL;
    size_t skip = equals ? (size_t)(equals - answer) + 1 : 0, at = 0, end, w = 0;
    int rc = bytes_add(b, answer + skip, n - skip, f);

    if (rc)
        return rc;
    for (size_t i = 0; i < sizeof replacements / sizeof *replacements; i++)
        replace(b, replacements[i][0], replacements[i][1]);
    for (size_t i = 0; i < sizeof removals / sizeof *removals; i++)
        replace(b, removals[i], "");
    keep_first_dollars(b);
    unwrap(b, "\\text{");
    unwrap(b, "\\textbf{");
    unwrap(b, "\\overline{");
    unwrap_box(b);
    if ((rc = add_braces(b, "frac", 2, f)) || (rc = add_braces(b, "sqrt", 1, f)))
        return rc;
    replace(b, "$", "");
    if (is_number(b))
        replace(b, ",", "");
    end = b->len;
    utf8_trim(b->data, &at, &end);
    keep(b, &w, at, end - at);
    finish(b, w);
    return 0;
}
