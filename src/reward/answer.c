/* answer.c - what grader = math takes as the answer: boxes side by side, else a line
 * "Answer:" read generously.  Every scan is linear in the response. */
#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "dapo/utf8.h"
#include "rules.h"

/* Boxes joined to one list; further ones in front of them are left out. */
#define MOST_BOXES 256
/* Bytes of the words that may stand between two of them. */
#define MOST_WORDS 32

/* -- boxes ------------------------------------------------------------------------- */

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
    {"\xef\xbc\x8c", true} /* full-width comma */,
    {"\xe3\x80\x81", true} /* 、 */,
    {"\xe5\x92\x8c", true} /* Chinese "and" */,
};

static bool ends_in(const char *text, size_t from, size_t end, const char *what)
{
    size_t k = strlen(what);

    return end - from >= k && !memcmp(text + end - k, what, k);
}

/* \text{and} with spaces or a comma in it, up to text[end): its length, or 0. */
static size_t text_and(const char *text, size_t from, size_t end)
{
    size_t at = end;
    bool word = false;

    if (!ends_in(text, from, end, "}"))
        return 0;
    at--;
    while (at > from && strchr(" ,", text[at - 1]) && text[at - 1])
        at--;
    if (ends_in(text, from, at, "and"))
        at -= 3, word = true;
    while (at > from && strchr(" ,", text[at - 1]) && text[at - 1])
        at--;
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
        if ((text[i] != '{' && text[i] != '}') || box_escaped(text, from, i))
            continue;
        if (text[i] == '}')
            depth++;
        else if (--depth == 0)
            return i;
    }
    return SIZE_MAX;
}

/* Where the box ends from which only pieces with a separator lead to the marker; 0 if
 * something else stands there. */
static size_t listed_end(const char *text, size_t from, size_t marker)
{
    size_t end = marker, k;
    bool separated = false, separates;

    while ((k = piece(text, from, end, &separates)) > 0) {
        end -= k;
        separated |= separates;
    }
    return separated && ends_in(text, from, end, "}") ? end : 0;
}

static bool has_and(const char *text, size_t at, size_t end)
{
    for (; end - at >= 3; at++)
        if (!memcmp(text + at, "and", 3) && !isalpha((unsigned char)text[at - 1]) &&
            (end - at == 3 || !isalpha((unsigned char)text[at + 3])))
            return true;
    return false;
}

/* Where the box ends from which a few words with "and" among them lead to the marker:
 * " papers and ", "\) and \( y = ". */
static size_t and_end(const char *text, size_t from, size_t marker)
{
    size_t low = marker - from > MOST_WORDS ? marker - MOST_WORDS : from;

    for (size_t i = marker; i > low; i--) {
        size_t open;

        if (strchr(".!?;\n", text[i - 1]))
            break;
        if (text[i - 1] != '}')
            continue;
        open = box_open(text, low, i - 1);
        if (open == SIZE_MAX || box_marker(text, from, open) != SIZE_MAX)
            return has_and(text, i, marker) ? i : 0;
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

static int answer_boxes(const char *text, size_t from, size_t n, bool *found,
                        struct span *where, struct bytes *joined, struct fault *f)
{
    struct span box[MOST_BOXES]; /* the last one first */
    size_t count = 1, marker;
    int rc = 0;

    joined->len = 0;
    *found = box_find(text, from, n, &box[0].at, &box[0].n);
    if (!*found)
        return 0;
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

/* -- the line ---------------------------------------------------------------------- */

static bool starts(const char *text, size_t at, size_t n, const char *what)
{
    size_t k = strlen(what);

    return n - at >= k && !memcmp(text + at, what, k);
}

/* Behind white space and emphasis from text[at] on. */
static size_t skip_ornament(const char *text, size_t n, size_t at)
{
    int32_t code;

    while (at < n) {
        size_t k = utf8_next(text, n, at, &code);

        if (!utf8_is_space(code) && code != '*' && code != '_')
            break;
        at += k;
    }
    return at;
}

/* Whether nothing but ornament stands before text[at] on its line. */
static bool begins_line(const char *text, size_t from, size_t at)
{
    while (at > from && (text[at - 1] == ' ' || text[at - 1] == '*'))
        at--;
    return at == from || text[at - 1] == '\n';
}

/* Behind "answer:" or "answer is:" at text[at], in any case, or the Chinese word; 0 if
 * it isn't there. At the start of a line mathematics may follow without a colon. */
static size_t behind_colon(const char *text, size_t from, size_t n, size_t at)
{
    static const char chinese[] = "\xe7\xad\x94\xe6\xa1\x88";
    size_t k = at;
    bool is = false;

    if (starts(text, at, n, chinese))
        k += sizeof chinese - 1;
    else if (n - at >= 6 && !strncasecmp(text + at, "answer", 6))
        k += 6;
    else
        return 0;
    k = skip_ornament(text, n, k);
    if (starts(text, k, n, "is")) {
        is = true;
        k = skip_ornament(text, n, k + 2);
    }
    if (starts(text, k, n, ":"))
        return k + 1;
    if (starts(text, k, n, "\xef\xbc\x9a"))
        return k + 3;
    return !is && begins_line(text, from, at) &&
                   (starts(text, k, n, "$") || starts(text, k, n, "\\(") ||
                    starts(text, k, n, "\\["))
               ? k
               : 0;
}

/* Where the line from text[at] on ends; behind its display where that goes on. */
static size_t line_end(const char *text, size_t n, size_t at)
{
    static const char *const display[][2] = {{"\\[", "\\]"}, {"$$", "$$"}};
    const char *end = memchr(text + at, '\n', n - at);
    size_t line = end ? (size_t)(end - text) : n;

    for (size_t i = 0; i < 2; i++) {
        const char *close;

        if (!starts(text, at, n, display[i][0]))
            continue;
        close = memmem(text + at + 2, n - at - 2, display[i][1], 2);
        if (close && (size_t)(close - text) + 2 > line)
            return (size_t)(close - text) + 2;
    }
    return line;
}

/* Where the end token (<|im_end|>, </s>, </answer>) that ends at text[end) starts;
 * `end` if there is none. */
static size_t end_token(const char *text, size_t at, size_t end)
{
    size_t i = end, most = 32;

    if (!ends_in(text, at, end, ">"))
        return end;
    for (i--; i > at && --most > 0; i--)
        if (!strchr("|/_", text[i - 1]) && !isalnum((unsigned char)text[i - 1]))
            break;
    return i > at && text[i - 1] == '<' && (text[i] == '|' || text[i] == '/') ? i - 1
                                                                              : end;
}

size_t answer_end(const char *text, size_t at, size_t end)
{
    bool stop = false;

    while (end > at) {
        size_t before = end, start = at;

        utf8_trim(text, &start, &end);
        if (end > at && (text[end - 1] == '*' || text[end - 1] == '_'))
            end--;
        else if (end > at + 1 && text[end - 1] == '.' && text[end - 2] != '.' && !stop)
            end--, stop = true;
        else
            end = end_token(text, at, end);
        if (end == before)
            break;
    }
    return end;
}

/* "The final answer is X. I hope it is correct." (Lewkowycz et al., 2022, the prompt of
 * Minerva): what stands for X. */
static void inside_sentence(const char *text, size_t *at, size_t *end)
{
    static const char *const begin[] = {"the final answer is", "the answer is"};
    static const char hope[] = "I hope it is correct";
    const char *p = memmem(text + *at, *end - *at, hope, sizeof hope - 1);

    if (p)
        *end = (size_t)(p - text);
    for (size_t i = 0; i < 2; i++) {
        size_t k = strlen(begin[i]);

        if (*end - *at <= k || strncasecmp(text + *at, begin[i], k))
            continue;
        *at += k;
        *at += text[*at] == ':';
        *at = skip_ornament(text, *end, *at);
        return;
    }
}

static bool answer_line(const char *text, size_t from, size_t n, struct span *where)
{
    size_t last = 0, end;

    for (size_t i = from; i < n; i++) {
        size_t k = behind_colon(text, from, n, i);

        if (k && (k = skip_ornament(text, n, k)) < n) {
            last = k;
            i = k - 1;
        }
    }
    if (!last)
        return false;
    end = line_end(text, n, last);
    inside_sentence(text, &last, &end);
    *where = (struct span){last, answer_end(text, last, end) - last};
    return true;
}

int answer_math(const char *text, size_t from, size_t n, bool *found,
                struct span *where, struct bytes *joined, struct fault *f)
{
    int rc = answer_boxes(text, from, n, found, where, joined, f);

    if (!rc && !*found)
        *found = answer_line(text, from, n, where);
    return rc;
}
