/* utf8.c - well-formed UTF-8, and what to do with the rest. */
#include <string.h>

#include "text_impl.h"

enum utf8 utf8_scan(const char *s, size_t n, size_t *len)
{
    const unsigned char *p = (const unsigned char *)s;
    /* Which second bytes a first byte allows: not the overlong forms, not surrogates,
     * nothing above U+10FFFF. */
    unsigned lo = 0x80, hi = 0xBF;
    size_t want;

    *len = 1;
    if (p[0] < 0x80)
        return UTF8_OK;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return UTF8_BAD;
    want = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (p[0] == 0xE0)
        lo = 0xA0;
    else if (p[0] == 0xED)
        hi = 0x9F;
    else if (p[0] == 0xF0)
        lo = 0x90;
    else if (p[0] == 0xF4)
        hi = 0x8F;
    for (; *len < want; ++*len) {
        if (*len == n)
            return UTF8_CUT;
        if (p[*len] < lo || p[*len] > hi)
            return UTF8_BAD;
        lo = 0x80;
        hi = 0xBF;
    }
    return UTF8_OK;
}

size_t utf8_valid(const char *s, size_t n)
{
    size_t i = 0, len;

    while (i < n) {
        if ((unsigned char)s[i] < 0x80)
            i++;
        else if (utf8_scan(s + i, n - i, &len) == UTF8_OK)
            i += len;
        else
            break;
    }
    return i;
}

int utf8_clean(struct bytes *out, const char *s, size_t n, struct fault *f)
{
    size_t i = 0, good, len;

    do {
        good = utf8_valid(s + i, n - i);
        if (bytes_add(out, s + i, good, f))
            return f->code;
        i += good;
        if (i < n) {
            utf8_scan(s + i, n - i, &len);
            if (bytes_add(out, "\xEF\xBF\xBD", 3, f))
                return f->code;
            i += len;
        }
    } while (i < n);
    return 0;
}
