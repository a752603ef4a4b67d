/* extract.c - where a response says its answer.  Every scan is linear in the response.
 */
#include <stdint.h>
#include <string.h>

#include "dapo/utf8.h"
#include "rules.h"

bool box_brace(const char *text, size_t from, size_t at)
{
    if (text[at] != '{' && text[at] != '}')
        return false;
    return (at - before_any(text, from, at, "\\")) % 2 == 0;
}

size_t box_marker(const char *text, size_t from, size_t at)
{
    static const char *const marker[] = {"\\boxed", "\\fbox"};

    at = before_any(text, from, at, " \t\n\r");
    for (size_t i = 0; i < sizeof marker / sizeof *marker; i++)
        if (ends_in(text, from, at, marker[i]))
            return at - strlen(marker[i]);
    return SIZE_MAX;
}

/* The partner of the opening brace at text[at], which is known to have one. */
static size_t box_end(const char *text, size_t from, size_t n, size_t at)
{
    size_t depth = 0;

    for (size_t i = at; i < n; i++) {
        if (!box_brace(text, from, i))
            continue;
        if (text[i] == '{')
            depth++;
        else if (--depth == 0)
            return i;
    }
    return n;
}

/* Backwards, so that the first marker met is the last one: a brace has a partner iff a
 * closing one is still free.  Scanning forward from each marker would be quadratic. */
bool box_find(const char *text, size_t from, size_t n, size_t *offset, size_t *len)
{
    size_t closers = 0;

    for (size_t i = n; i-- > from;) {
        if (!box_brace(text, from, i))
            continue;
        if (text[i] == '}') {
            closers++;
        } else if (closers > 0) {
            closers--;
            if (box_marker(text, from, i) != SIZE_MAX) {
                *offset = i + 1;
                *len = box_end(text, from, n, i) - i - 1;
                return true;
            }
        }
    }
    return false;
}

/* Where the word that starts at text[at] ends if it is "answer" in any case, else 0.
 * Python folds U+017F (long s) with s, so it does here. */
static size_t answer_word(const char *text, size_t n, size_t at)
{
    for (const char *w = "answer"; *w; w++) {
        if (at < n && (text[at] | 0x20) == *w)
            at++;
        else if (*w == 's' && starts(text, at, n, "\xc5\xbf"))
            at += 2;
        else
            return 0;
    }
    return at;
}

static size_t skip_space(const char *text, size_t n, size_t at)
{
    int32_t code;

    while (at < n) {
        size_t k = utf8_next(text, n, at, &code);

        if (!utf8_is_space(code))
            break;
        at += k;
    }
    return at;
}

/* Start of the group after the colon's end; n if there is none.  \s* takes all white
 * space; where nothing follows it, the expression gives back as much as lets [^\n]+
 * match: everything from the last character that isn't a newline. */
static size_t group_start(const char *text, size_t n, size_t colon)
{
    size_t at = skip_space(text, n, colon), end = n;
    int32_t code;

    if (at < n)
        return at;
    while (end > colon && text[end - 1] == '\n')
        end--;
    return end > colon ? utf8_prev(text, end, &code) : n;
}

bool line_find(const char *text, size_t from, size_t n, size_t *offset, size_t *len)
{
    bool found = false;

    for (size_t at = from; at < n;) {
        size_t colon = answer_word(text, n, at), start, k;
        const char *end;

        at++;
        if (!colon || (k = skip_space(text, n, colon)) == n || text[k] != ':')
            continue;
        start = group_start(text, n, k + 1);
        if (start == n)
            break; /* only newlines are left */
        end = memchr(text + start, '\n', n - start);
        at = end ? (size_t)(end - text) : n;
        *offset = start;
        *len = at - start;
        found = true;
    }
    return found;
}
