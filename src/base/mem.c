/* mem.c - checked arithmetic, memory, growing arrays, byte strings. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"

bool size_mul(size_t a, size_t b, size_t *out)
{
    size_t r;

    if (__builtin_mul_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

bool size_add(size_t a, size_t b, size_t *out)
{
    size_t r;

    if (__builtin_add_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

void *mem_new(size_t n, size_t width, const char *what, struct fault *f)
{
    void *p = calloc(n ? n : 1, width ? width : 1);

    if (!p)
        fault_set(f, FAULT_SYSTEM, "no memory for %s (%zu x %zu bytes)", what, n,
                  width);
    return p;
}

int mem_grow(void **items, size_t *cap, size_t need, size_t width, const char *what,
             struct fault *f)
{
    size_t room = *cap ? *cap : 8, total;
    char *p;

    if (need <= *cap)
        return 0;
    while (room < need)
        room = room > SIZE_MAX / 2 ? need : 2 * room;
    p = size_mul(room, width, &total) ? realloc(*items, total) : NULL;
    if (!p)
        return fault_set(f, FAULT_SYSTEM, "no memory for %s (%zu x %zu bytes)", what,
                         room, width);
    memset(p + *cap * width, 0, (room - *cap) * width);
    *items = p;
    *cap = room;
    return 0;
}

int bytes_add(struct bytes *b, const void *data, size_t n, struct fault *f)
{
    size_t need;

    if (!size_add(b->len, n, &need) || !size_add(need, 1, &need))
        return fault_set(f, FAULT_SYSTEM, "no memory for a text of %zu bytes", n);
    if (mem_grow((void **)&b->data, &b->cap, need, 1, "a text", f))
        return f->code;
    if (n)
        memcpy(b->data + b->len, data, n);
    b->len += n;
    b->data[b->len] = '\0';
    return 0;
}

int bytes_printf(struct bytes *b, struct fault *f, const char *format, ...)
{
    va_list ap, again;
    int n, rc = 0;

    va_start(ap, format);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, format, ap);
    if (n < 0)
        rc = fault_set(f, FAULT_BUG, "a text could not be formatted");
    else
        rc = mem_grow((void **)&b->data, &b->cap, b->len + (size_t)n + 1, 1, "a text",
                      f);
    if (!rc) {
        vsnprintf(b->data + b->len, (size_t)n + 1, format, again);
        b->len += (size_t)n;
    }
    va_end(again);
    va_end(ap);
    return rc;
}

void bytes_free(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){0};
}

const char *size_text(double bytes, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int u = 0;

    for (; bytes >= 1024 && u < 5; u++)
        bytes /= 1024;
    snprintf(text, 32, "%.2f %s", bytes, units[u]);
    return text;
}
