/* boxes.c - the last box, and boxes that stand side by side, for grader = math. */
#include <ctype.h>
#include <stdint.h>
#include <strings.h>

#include "rules.h"

/* Boxes joined to one list; further ones in front of them are left out. */
#define MOST_BOXES 256
/* Bytes of the words that may stand between two of them. */
#define MOST_WORDS 32

/* What may stand between two boxes of a list; longer texts before their endings. */
static const struct {
    const char *text;
    bool separates;
} between[] = {
    {" ", false},
    {"\t", false},
    {"\n", false},
    {"\r", false},
    {"$", false},
    {"~", false},
    {"&", false},
    {"\\,", false},
    {"\\;", false},
    {"\\:", false},
    {"\\!", false},
    {"\\(", false},
    {"\\)", false},
    {"\\[", false},
    {"\\]", false},
    {"\\\\", false},
    {"\\quad", false},
    {"\\qquad", false},
    {",", true},
    {";", true},
    {"and", true},
    {"or", true},
    {"\xef\xbc\x8c", true} /* full-width comma */,
    {"\xe3\x80\x81", true} /* 、 */,
    {"\xe5\x92\x8c", true} /* Chinese "and" */,
    {"\xe6\x88\x96", true} /* Chinese "or" */,
};

/* \text{and}, \text{or} with spaces or a comma in it, up to text[end): its length, or
 * 0. */
static size_t text_and(const char *text, size_t from, size_t end)
{
    size_t at, word;

    if (!ends_in(text, from, end, "}"))
        return 0;
    at = before_any(text, from, end - 1, " ,");
    word = ends_in(text, from, at, "and") ? 3 : ends_in(text, from, at, "or") ? 2 : 0;
    at = before_any(text, from, at - word, " ,");
    return word && ends_in(text, from, at, "\\text{") ? end - (at - 6) : 0;
}

/* The length of the piece of `between` that ends at text[end), or 0. */
static size_t piece(const char *text, size_t from, size_t end, bool *separates)
{
    size_t best = text_and(text, from, end);

    *separates = best > 0;
    for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
        size_t k = strlen(between[i].text);

        if (k > best && ends_in(text, from, end, between[i].text)) {
            best = k;
            *separates = between[i].separates;
        }
    }
    return best;
}

/* The opening brace whose partner is text[close]; SIZE_MAX if there is none. */
static size_t box_open(const char *text, size_t from, size_t close)
{
    size_t depth = 0;

    for (size_t i = close + 1; i-- > from;) {
        if (!box_brace(text, from, i))
            continue;
        if (text[i] == '}')
            depth++;
        else if (--depth == 0)
            return i;
    }
    return SIZE_MAX;
}

static size_t before_alnum(const char *text, size_t from, size_t end)
{
    while (end > from && isalnum((unsigned char)text[end - 1]))
        end--;
    return end;
}

/* Where what hangs on the end of a name starts, "(3)" or "_{12}"; `end` if nothing. */
static size_t before_suffix(const char *text, size_t from, size_t end)
{
    char close = end > from ? text[end - 1] : 0;
    bool group = close == ')' || close == '}';
    size_t at = before_alnum(text, from, end - group);

    if (group && at > from && at < end - 1 &&
        text[at - 1] == (close == ')' ? '(' : '{'))
        at--;
    else if (group || at == end)
        return end;
    if (close == ')')
        return at;
    return at > from && text[at - 1] == '_' ? at - 1 : end;
}

/* Where "x = ", "y_2 = ", "f(3) = " in front of text[end] starts; `end` if something
 * else stands there. */
static size_t before_name(const char *text, size_t from, size_t end)
{
    size_t low = end - from > MOST_WORDS ? end - MOST_WORDS : from;
    size_t at = before_any(text, low, end, " "), name;

    if (at == low || text[at - 1] != '=')
        return end;
    at = before_any(text, low, at - 1, " ");
    at = before_suffix(text, low, at);
    name = before_alnum(text, low, at);
    if (name == at || !isalpha((unsigned char)text[name]))
        return end;
    return name - (name > low && text[name - 1] == '\\');
}

/* Where the box ends from which only pieces with a separator, and perhaps a name, lead
 * to the marker; 0 if something else stands there. */
static size_t listed_end(const char *text, size_t from, size_t marker)
{
    size_t end = marker, k;
    bool separated = false, separates;

    do {
        while ((k = piece(text, from, end, &separates)) > 0) {
            end -= k;
            separated |= separates;
        }
        k = separated ? 0 : end - before_name(text, from, end);
        end -= k;
    } while (k > 0);
    return separated && ends_in(text, from, end, "}") ? end : 0;
}

/* Whether text[at, end) is only what the first of two answers may be followed by: no
 * word says that it is none. */
static bool only_unit(const char *text, size_t at, size_t end)
{
    static const char *const claims[] = {"is",   "was", "not",  "so", "then", "thus",
                                         "than", "but", "wait", "we", "or",   "if"};

    while (at < end) {
        size_t n = 0;

        while (at + n < end && isalpha((unsigned char)text[at + n]))
            n++;
        for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
            if (n == strlen(claims[i]) && !strncasecmp(text + at, claims[i], n))
                return false;
        at += n ? n : 1;
    }
    return true;
}

/* Where the box ends from which a few words that end in "and", and perhaps a name, lead
 * to the marker: " papers and ", "\text{ for part (a) and }", "\) and \( y = ". */
static size_t and_end(const char *text, size_t from, size_t marker)
{
    size_t low = marker - from > MOST_WORDS ? marker - MOST_WORDS : from, k;
    size_t end = before_name(text, low, marker), and;
    bool separates = false;

    while ((k = piece(text, low, end, &separates)) > 0 && !separates)
        end -= k;
    if (!separates && ends_in(text, low, end, "}"))
        end = before_any(text, low, end - 1, " ");
    if (!ends_in(text, low, end, "and") || end - 3 == low ||
        isalpha((unsigned char)text[end - 4]))
        return 0;
    and = end - 3;
    for (size_t i = and; i > low && !strchr(".!?;\n", text[i - 1]); i--) {
        size_t open;

        if (text[i - 1] != '}')
            continue;
        open = box_open(text, low, i - 1);
        if (open == SIZE_MAX || box_marker(text, from, open) != SIZE_MAX)
            return only_unit(text, i, and) ? i : 0;
    }
    return 0;
}

/* The content of the box that stands before the one whose marker is at text[*marker],
 * as another item of its list; *marker then is its own. */
static bool box_before(const char *text, size_t from, size_t *marker, struct span *out)
{
    size_t end = listed_end(text, from, *marker), open, start;

    if (!end)
        end = and_end(text, from, *marker);
    open = end ? box_open(text, from, end - 1) : SIZE_MAX;
    start = open == SIZE_MAX ? SIZE_MAX : box_marker(text, from, open);
    if (start == SIZE_MAX)
        return false;
    *out = (struct span){open + 1, end - 1 - (open + 1)};
    *marker = start;
    return true;
}

static bool all_same(const char *text, const struct span *box, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (box[i].n != box[0].n ||
            memcmp(text + box[i].at, text + box[0].at, box[0].n))
            return false;
    return true;
}

/* \boxed 5, without braces: the number behind the last marker of this kind. */
static bool bare_box(const char *text, size_t from, size_t n, struct span *out)
{
    static const char marker[] = "\\boxed";

    for (size_t i = n; i-- > from;) {
        size_t at = i + sizeof marker - 1, end;

        if (!starts(text, i, n, marker))
            continue;
        while (at < n && text[at] == ' ')
            at++;
        end = at + (at < n && text[at] == '-');
        while (end < n && (isdigit((unsigned char)text[end]) ||
                           (text[end] && strchr("./", text[end]) && end + 1 < n &&
                            isdigit((unsigned char)text[end + 1]))))
            end++;
        if (end > at && isdigit((unsigned char)text[end - 1])) {
            *out = (struct span){at, end - at};
            return true;
        }
    }
    return false;
}

int answer_boxes(const char *text, size_t from, size_t n, bool *found,
                 struct span *where, struct bytes *joined, struct fault *f)
{
    struct span box[MOST_BOXES]; /* the last one first */
    size_t count = 1, marker;
    int rc = 0;

    joined->len = 0;
    *found = box_find(text, from, n, &box[0].at, &box[0].n);
    if (!*found) {
        *found = bare_box(text, from, n, where);
        return 0;
    }
    *where = box[0];
    marker = box_marker(text, from, box[0].at - 1);
    while (count < MOST_BOXES && box_before(text, from, &marker, &box[count]))
        count++;
    if (all_same(text, box, count))
        return 0;
    for (size_t i = count; i-- > 0 && !rc;) {
        rc = bytes_add(joined, text + box[i].at, box[i].n, f);
        if (!rc && i > 0)
            rc = bytes_add(joined, ", ", 2, f);
    }
    where->at = box[count - 1].at;
    where->n = box[0].at + box[0].n - where->at;
    return rc;
}
