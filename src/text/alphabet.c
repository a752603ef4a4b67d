/* alphabet.c - the printable alphabet of byte-level BPE.
 *
 * Bytes that print in Latin-1 stand for themselves; the other 68, in order, are
 * U+0100 to U+0143.  Source: bytes_to_unicode in GPT-2's encoder.py (2019).
 */
#include "text_impl.h"

int alphabet_point(int byte)
{
    if (byte <= 0x20)
        return 0x100 + byte;
    if (byte >= 0x7F && byte <= 0xA0)
        return 0x100 + 0x21 + (byte - 0x7F);
    return byte == 0xAD ? 0x143 : byte;
}

static int byte_of(int point)
{
    if (point >= 0x100 && point <= 0x120)
        return point - 0x100;
    if (point >= 0x121 && point <= 0x142)
        return point - 0x121 + 0x7F;
    if (point == 0x143)
        return 0xAD;
    return point >= 0 && point < 0x100 && alphabet_point(point) == point ? point : -1;
}

int alphabet_read(struct bytes *out, const char *s, size_t n, bool *raw,
                  struct fault *f)
{
    size_t before = out->len;

    *raw = false;
    for (size_t i = 0; i < n;) {
        int32_t point;
        int b;
        char c;

        i += utf8_next(s, n, i, &point);
        b = byte_of(point);
        c = (char)b;

        if (b < 0) {
            *raw = true;
            out->len = before;
            return 0;
        }
        if (bytes_add(out, &c, 1, f))
            return f->code;
    }
    return 0;
}

int alphabet_write(struct bytes *out, const char *s, size_t n, struct fault *f)
{
    for (size_t i = 0; i < n; i++) {
        int point = alphabet_point((unsigned char)s[i]);
        char u[2] = {(char)(0xC0 | point >> 6), (char)(0x80 | (point & 0x3F))};
        char a = (char)point;
        int rc = point < 0x80 ? bytes_add(out, &a, 1, f) : bytes_add(out, u, 2, f);

        if (rc)
            return rc;
    }
    return 0;
}
