/* decode.c - from ids to bytes, at once or one by one. */
#include <string.h>

#include "text_impl.h"

/* The bytes of an id; none for a hole in the vocabulary and for a skipped special. */
static int word_of(const struct tokenizer *t, int id, bool skip_special, const char **s,
                   size_t *n, struct fault *f)
{
    const struct word *w;

    *s = "";
    *n = 0;
    if (id < 0 || (size_t)id >= t->words.n)
        return fault_set(f, FAULT_DATA,
                         "the id %d is not in the tokenizer, which has %zu", id,
                         t->words.n);
    w = &t->words.item[id];
    *s = t->words.text.data + w->at;
    *n = skip_special && w->flags & WORD_SPECIAL ? 0 : w->n;
    return 0;
}

int tokenizer_decode(const struct tokenizer *t, const int *ids, size_t n,
                     bool skip_special, struct bytes *out, struct fault *f)
{
    size_t before = out->len, len;
    const char *s;
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        rc = word_of(t, ids[i], skip_special, &s, &len, f);
        if (!rc)
            rc = bytes_add(out, s, len, f);
    }
    if (rc && out->data) {
        out->len = before;
        out->data[before] = '\0';
    }
    return rc;
}

void decoder_start(struct decoder *d, const struct tokenizer *t, bool skip_special)
{
    *d = (struct decoder){.t = t, .skip_special = skip_special};
}

/* Append what the held bytes and c complete. */
static int add_byte(struct decoder *d, char c, struct bytes *out, struct fault *f)
{
    char *held = (char *)d->held;
    size_t n = (size_t)d->n_held, len;
    int rc = 0;

    held[n++] = c;
    while (n && !rc) {
        enum utf8 what = utf8_scan(held, n, &len);

        if (what == UTF8_CUT)
            break;
        rc = what == UTF8_OK ? bytes_add(out, held, len, f)
                             : bytes_add(out, "\xEF\xBF\xBD", 3, f);
        n -= len;
        memmove(held, held + len, n);
    }
    d->n_held = (int)n;
    return rc;
}

int decoder_add(struct decoder *d, int id, struct bytes *out, struct fault *f)
{
    const char *s;
    size_t n;
    int rc = word_of(d->t, id, d->skip_special, &s, &n, f);

    for (size_t i = 0; i < n && !rc;) {
        size_t good = d->n_held ? 0 : utf8_valid(s + i, n - i);

        if (good)
            rc = bytes_add(out, s + i, good, f);
        else
            rc = add_byte(d, s[i], out, f);
        i += good ? good : 1;
    }
    return rc;
}

int decoder_end(struct decoder *d, struct bytes *out, struct fault *f)
{
    int n = d->n_held;

    d->n_held = 0;
    return n ? bytes_add(out, "\xEF\xBF\xBD", 3, f) : 0;
}
