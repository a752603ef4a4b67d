/* utf8.c - stepping over code points, see utf8.h. */
#include <utf8proc.h>

#include "dapo/utf8.h"

size_t utf8_next(const char *text, size_t n, size_t at, int32_t *code)
{
    const utf8proc_uint8_t *p = (const utf8proc_uint8_t *)text + at;
    size_t left = n - at;
    utf8proc_ssize_t k;

    if (*p < 0x80) {
        *code = *p;
        return 1;
    }
    k = utf8proc_iterate(p, left < 4 ? (utf8proc_ssize_t)left : 4, code);
    if (k > 0)
        return (size_t)k;
    *code = -1;
    return 1;
}

size_t utf8_prev(const char *text, size_t at, int32_t *code)
{
    for (size_t k = 1; k <= 4 && k <= at; k++)
        if (utf8_next(text, at, at - k, code) == k && *code >= 0)
            return at - k;
    *code = -1;
    return at - 1;
}

size_t utf8_tail(const char *text, size_t n, size_t count)
{
    int32_t code;

    while (n > 0 && count-- > 0)
        n = utf8_prev(text, n, &code);
    return n;
}

bool utf8_is_space(int32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 ||
           c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
           c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

void utf8_trim(const char *text, size_t *at, size_t *end)
{
    int32_t code;
    size_t k;

    while (*at < *end && (k = utf8_next(text, *end, *at, &code), utf8_is_space(code)))
        *at += k;
    while (*end > *at && (k = utf8_prev(text, *end, &code), utf8_is_space(code)))
        *end = k;
}
