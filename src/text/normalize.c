/* normalize.c - Unicode normalisation form C (utf8proc), and when it can be skipped. */
#include <stdlib.h>
#include <utf8proc.h>

#include "text_impl.h"

enum { MARKS_MOST = 1024 };

/* Stretches of characters that are NFC whatever stands beside them within these
 * stretches: NFC_Quick_Check = Yes and combining class 0 (Unicode 15).  Latin,
 * punctuation, mathematics, CJK, kana without the combining marks, full-width forms. */
static bool inert(int point)
{
    static const int range[][2] = {
        {0x0000, 0x02FF}, {0x2002, 0x20CF}, {0x2190, 0x2328}, {0x232B, 0x2ADB},
        {0x3000, 0x3029}, {0x3041, 0x3096}, {0x30A1, 0x30FF}, {0x4E00, 0x9FFF},
        {0xAC00, 0xD7A3}, {0xFF01, 0xFFEF},
    };

    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++)
        if (point <= range[i][1])
            return point >= range[i][0];
    return false;
}

bool nfc_quick(const char *s, size_t n)
{
    int32_t point;

    for (size_t i = 0; i < n;) {
        if ((unsigned char)s[i] < 0x80) {
            i++;
            continue;
        }
        i += utf8_next(s, n, i, &point);
        if (!inert(point))
            return false;
    }
    return true;
}

/* Whether s[n] has so many combining marks in a row that ordering them, which utf8proc
 * does by insertion, would take noticeable time; no writing has over a dozen. */
static bool overloaded(const char *s, size_t n)
{
    int32_t point;
    int run = 0;

    for (size_t i = 0; i < n && run <= MARKS_MOST;) {
        i += utf8_next(s, n, i, &point);
        run = utf8proc_get_property(point)->combining_class ? run + 1 : 0;
    }
    return run > MARKS_MOST;
}

int nfc_add(struct bytes *out, const char *s, size_t n, struct fault *f)
{
    utf8proc_uint8_t *made = NULL;
    utf8proc_ssize_t len;
    int rc;

    if (nfc_quick(s, n))
        return bytes_add(out, s, n, f);
    if (overloaded(s, n))
        return fault_set(f, FAULT_DATA,
                         "a text of %zu bytes has over %d combining marks in a row", n,
                         MARKS_MOST);
    len = utf8proc_map((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)n, &made,
                       UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (len < 0)
        return fault_set(f, FAULT_SYSTEM, "a text of %zu bytes can't be normalised: %s",
                         n, utf8proc_errmsg(len));
    rc = bytes_add(out, made, (size_t)len, f);
    free(made);
    return rc;
}
