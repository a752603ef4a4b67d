/* answer.c - what grader = math takes as the answer: boxes, else a line "Answer:" read
 * generously.  Every scan is linear in the response. */
#include <ctype.h>
#include <strings.h>

#include "dapo/utf8.h"
#include "rules.h"

/* Behind white space, emphasis and braces that close from text[at] on. */
static size_t skip_ornament(const char *text, size_t n, size_t at)
{
    static const char tag[] = "<answer>";
    int32_t code;

    while (at < n) {
        size_t k = utf8_next(text, n, at, &code);

        if (starts(text, at, n, tag))
            k = sizeof tag - 1;
        else if (!utf8_is_space(code) && code != '*' && code != '_' && code != '}')
            break;
        at += k;
    }
    return at;
}

/* Whether nothing but ornament stands before text[at] on its line. */
static bool begins_line(const char *text, size_t from, size_t at)
{
    at = before_any(text, from, at, " *");
    return at == from || text[at - 1] == '\n';
}

/* Behind the word for "answer" at text[at], in any case or Chinese; 0 if it isn't
 * there. *mark: it is a word that needs no colon. */
static size_t behind_word(const char *text, size_t n, size_t at, bool *mark)
{
    static const struct {
        const char *word;
        bool mark;
    } words[] = {
        {"\xe3\x80\x90\xe7\xad\x94\xe6\xa1\x88\xe3\x80\x91", true}, /* in 【】 */
        {"\xe7\xad\x94\xe6\xa1\x88", false},                        /* "answer" */
    };

    *mark = false;
    if (n - at >= 6 && !strncasecmp(text + at, "answer", 6))
        return at + 6;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (starts(text, at, n, words[i].word)) {
            *mark = words[i].mark;
            return at + strlen(words[i].word);
        }
    return 0;
}

/* "is" in English or Chinese at text[at]: its length, or 0. */
static size_t is_word(const char *text, size_t n, size_t at)
{
    return starts(text, at, n, "is") ? 2
           : starts(text, at, n, "\xe6\x98\xaf") || starts(text, at, n, "\xe4\xb8\xba")
               ? 3
               : 0;
}

/* Behind "answer:" or "answer is:" at text[at], in English or Chinese; 0 if it isn't
 * there.  At the start of a line mathematics may follow without a colon. */
static size_t behind_colon(const char *text, size_t from, size_t n, size_t at)
{
    bool mark;
    size_t k = behind_word(text, n, at, &mark), is;

    if (!k)
        return 0;
    k = skip_ornament(text, n, k);
    is = is_word(text, n, k);
    k = is ? skip_ornament(text, n, k + is) : k;
    if (starts(text, k, n, ":"))
        return k + 1;
    if (starts(text, k, n, "\xef\xbc\x9a"))
        return k + 3;
    if (mark)
        return k;
    return !is && begins_line(text, from, at) &&
                   (starts(text, k, n, "$") || starts(text, k, n, "\\(") ||
                    starts(text, k, n, "\\["))
               ? k
               : 0;
}

/* Behind the line that text[at] stands on. */
static size_t one_line(const char *text, size_t n, size_t at)
{
    const char *end = memchr(text + at, '\n', n - at);

    return end ? (size_t)(end - text) : n;
}

/* Where the line from text[at] on ends; behind its display, or behind the line where
 * its environment ends, if those go on. */
static size_t line_end(const char *text, size_t n, size_t at)
{
    static const char *const display[][2] = {{"\\[", "\\]"}, {"$$", "$$"}};
    static const char begin[] = "\\begin{", end[] = "\\end{";
    size_t line = one_line(text, n, at);
    const char *close;

    for (size_t i = 0; i < 2; i++) {
        if (!starts(text, at, n, display[i][0]))
            continue;
        close = memmem(text + at + 2, n - at - 2, display[i][1], 2);
        if (close && (size_t)(close - text) + 2 > line)
            return (size_t)(close - text) + 2;
    }
    if (!memmem(text + at, line - at, begin, sizeof begin - 1) ||
        memmem(text + at, line - at, end, sizeof end - 1))
        return line;
    close = memmem(text + line, n - line, end, sizeof end - 1);
    return close ? one_line(text, n, (size_t)(close - text)) : line;
}

/* Where the end token (<|im_end|>, </s>, </answer>, <eos>) that ends at text[end)
 * starts; `end` if there is none. */
static size_t end_token(const char *text, size_t at, size_t end)
{
    static const char *const plain[] = {"<eos>", "<end_of_turn>", "[/INST]"};
    static const char wide[] = "\xef\xbd\x9c"; /* the full-width bar */
    size_t i = end, most = 40;

    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
        if (ends_in(text, at, end, plain[k]))
            return end - strlen(plain[k]);
    if (!ends_in(text, at, end, ">"))
        return end;
    for (i--; i > at && --most > 0; i--) {
        unsigned char c = (unsigned char)text[i - 1];

        if (c < 0x80 && (!c || !strchr("|/_", c)) && !isalnum(c))
            break;
    }
    if (i == at || text[i - 1] != '<')
        return end;
    return text[i] == '|' || text[i] == '/' || starts(text, i, end, wide) ? i - 1 : end;
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
        else if (!stop && ends_in(text, at, end, "\xe3\x80\x82")) /* 。 */
            end -= 3, stop = true;
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
