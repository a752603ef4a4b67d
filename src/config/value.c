/* value.c - one value from text and back. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/table.h"

static int set_int(int64_t *out, const struct setting *s, const char *v,
                   const char *where, struct fault *f)
{
    char *end;
    double d;

    /* 1e6 is a fine way to write a million: read as a real, insist on an integer. */
    errno = 0;
    d = strtod(v, &end);
    if (end == v || *end || d != floor(d) || !(d >= s->lo && d <= s->hi))
        return fault_set(f, FAULT_CONFIG,
                         "%s: %s.%s = %.100s: want an integer in [%.16g, %.16g]%s%s",
                         where, s->section, s->key, v, s->lo, s->hi,
                         *s->unit ? " " : "", s->unit);
    *out = (int64_t)d;
    return 0;
}

static int set_real(double *out, const struct setting *s, const char *v,
                    const char *where, struct fault *f)
{
    char *end;
    double d;

    d = strtod(v, &end);
    if (end == v || *end || !(d >= s->lo && d <= s->hi))
        return fault_set(
            f, FAULT_CONFIG, "%s: %s.%s = %.100s: want a number in [%g, %g]%s%s", where,
            s->section, s->key, v, s->lo, s->hi, *s->unit ? " " : "", s->unit);
    *out = d;
    return 0;
}

static int set_bool(bool *out, const struct setting *s, const char *v,
                    const char *where, struct fault *f)
{
    if (strcmp(v, "true") && strcmp(v, "false"))
        return fault_set(f, FAULT_CONFIG, "%s: %s.%s = %.100s: want true or false",
                         where, s->section, s->key, v);
    *out = !strcmp(v, "true");
    return 0;
}

static int set_choice(int *out, const struct setting *s, const char *v,
                      const char *where, struct fault *f)
{
    size_t n = strlen(v);
    int i = 0;

    for (const char *c = s->choices; c; i++) {
        const char *bar = strchr(c, '|');
        size_t len = bar ? (size_t)(bar - c) : strlen(c);

        if (n && len == n && !memcmp(c, v, n)) {
            *out = i;
            return 0;
        }
        c = bar ? bar + 1 : NULL;
    }
    return fault_set(f, FAULT_CONFIG, "%s: %s.%s = %.100s: want one of %s", where,
                     s->section, s->key, v, s->choices);
}

/* The character an escape stands for, -1 if there is no such escape; *used bytes. */
static int escape(const char *p, int *used)
{
    *used = 2;
    switch (p[1]) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 's':
        return ' ';
    case '\\':
        return '\\';
    case 'x':
        if (isxdigit((unsigned char)p[2]) && isxdigit((unsigned char)p[3])) {
            char hex[3] = {p[2], p[3], '\0'};

            *used = 4;
            return (int)strtol(hex, NULL, 16);
        }
        return -1;
    }
    return -1;
}

static int set_text(char *out, const struct setting *s, const char *v,
                    const char *where, struct fault *f)
{
    size_t n = 0;

    for (int used; *v; v += used) {
        int c = (unsigned char)*v;

        used = 1;
        if (c == '\\')
            c = escape(v, &used);
        if (c <= 0)
            return fault_set(
                f, FAULT_CONFIG,
                "%s: %s.%s: unknown escape at '%.20s': want \\n, \\t, \\s, "
                "\\\\ or \\xHH",
                where, s->section, s->key, v);
        if (n + 1 >= CONFIG_TEXT)
            return fault_set(f, FAULT_CONFIG, "%s: %s.%s: longer than %d bytes", where,
                             s->section, s->key, CONFIG_TEXT - 1);
        out[n++] = (char)c;
    }
    out[n] = '\0';
    return 0;
}

int config_set(struct config *c, const struct setting *s, const char *value,
               const char *where, struct fault *f)
{
    void *at = (char *)c + s->offset;

    switch (s->kind) {
    case KIND_int:
        return set_int(at, s, value, where, f);
    case KIND_real:
        return set_real(at, s, value, where, f);
    case KIND_bool:
        return set_bool(at, s, value, where, f);
    case KIND_choice:
        return set_choice(at, s, value, where, f);
    case KIND_text:
        return set_text(at, s, value, where, f);
    }
    return fault_set(f, FAULT_BUG, "setting %s.%s has no kind", s->section, s->key);
}

/* The shortest decimal that reads back to the same double. */
static int format_real(double x, struct bytes *out, struct fault *f)
{
    char text[40];

    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    return bytes_printf(out, f, "%s", text);
}

static int format_text(const char *v, struct bytes *out, struct fault *f)
{
    int rc = 0, width = 0;

    for (const char *p = v; *p && !rc; p++) {
        bool edge = p == v || !p[1] || width == 0;
        unsigned char c = (unsigned char)*p;
        size_t before = out->len;

        if (c == '\n')
            rc = bytes_printf(out, f, "\\n");
        else if (c == '\t')
            rc = bytes_printf(out, f, "\\t");
        else if (c == '\\')
            rc = bytes_printf(out, f, "\\\\");
        else if (c == ' ' && edge)
            rc = bytes_printf(out, f, "\\s");
        else if (iscntrl(c) || c == ';' || (c == '#' && edge))
            rc = bytes_printf(out, f, "\\x%02x", c);
        else
            rc = bytes_add(out, p, 1, f);
        width += (int)(out->len - before);
        /* The INI reader has short lines: go on in an indented one.  Never inside a
         * UTF-8 character, whose first byte the reader would take for a line's start.
         */
        if (!rc && width > 100 && p[1] && ((unsigned char)p[1] & 0xc0) != 0x80) {
            rc = bytes_printf(out, f, "\\\n    ");
            width = 0;
        }
    }
    return rc;
}

int config_format(const struct config *c, const struct setting *s, struct bytes *out,
                  struct fault *f)
{
    const void *at = (const char *)c + s->offset;
    const char *p = s->choices;

    switch (s->kind) {
    case KIND_int:
        return bytes_printf(out, f, "%" PRId64, *(const int64_t *)at);
    case KIND_real:
        return format_real(*(const double *)at, out, f);
    case KIND_bool:
        return bytes_printf(out, f, "%s", *(const bool *)at ? "true" : "false");
    case KIND_choice:
        for (int i = *(const int *)at; i > 0; i--)
            p = strchr(p, '|') + 1;
        return bytes_add(out, p, strcspn(p, "|"), f);
    case KIND_text:
        return format_text(at, out, f);
    }
    return fault_set(f, FAULT_BUG, "setting %s.%s has no kind", s->section, s->key);
}
