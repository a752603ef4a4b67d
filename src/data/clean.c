/* clean.c - see clean.h. */
#include <stdlib.h>
#include <string.h>

#include "clean.h"
#include "dapo/mem.h"
#include "dapo/utf8.h"

const char CLEAN_PREFIX[] =
    "Solve the following math problem step by step. The last line of your response "
    "should be of the form Answer: $Answer (without quotes) where $Answer is the "
    "answer "
    "to the problem.\n\n";
const char CLEAN_SUFFIX[] =
    "\n\nRemember to put your answer on its own line after \"Answer:\".";

/* Keep text[at, end). */
static void cut(char *text, size_t at, size_t end)
{
    memmove(text, text + at, end - at);
    text[end - at] = '\0';
}

bool clean_unwrap(char *text, const char *prefix, const char *suffix)
{
    size_t n = strlen(text), p = strlen(prefix), s = strlen(suffix), at = 0;
    bool wrapped = false;

    if (p && n >= p && !memcmp(text, prefix, p)) {
        at = p;
        wrapped = true;
    }
    if (s && n - at >= s && !memcmp(text + n - s, suffix, s)) {
        n -= s;
        wrapped = true;
    }
    cut(text, at, n);
    clean_trim(text);
    return wrapped;
}

void clean_trim(char *text)
{
    size_t at = 0, end = strlen(text);

    utf8_trim(text, &at, &end);
    cut(text, at, end);
}

char *clean_key(const char *text, struct fault *f)
{
    size_t n = strlen(text), w = 0;
    char *key = mem_new(n + 1, 1, "a question", f);
    bool gap = false;
    int32_t code;

    for (size_t at = 0, k; key && at < n; at += k) {
        k = utf8_next(text, n, at, &code);
        if (utf8_is_space(code)) {
            gap = w > 0;
            continue;
        }
        if (gap)
            key[w++] = ' ';
        gap = false;
        memcpy(key + w, text + at, k);
        w += k;
    }
    return key;
}
