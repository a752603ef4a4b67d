/* encode.c - from text to ids.
 *
 * The order of the tokenizers library: invalid bytes replaced; added tokens that are
 * looked for in the text as it is; normalisation of what lies between; added tokens
 * looked for after it; pre-tokenisation of what lies between those; merges.
 */
#include <stdlib.h>
#include <string.h>

#include "text_impl.h"

struct guards {
    struct guard *item;
    size_t n, cap;
};

static int guards_add(struct guards *g, size_t begin, size_t end, struct fault *f)
{
    if (begin == end)
        return 0;
    if (mem_grow((void **)&g->item, &g->cap, g->n + 1, sizeof g->item[0], "a prompt",
                 f))
        return f->code;
    g->item[g->n++] = (struct guard){begin, end};
    return 0;
}

/* Pieces of `text` between normalised added tokens, and those tokens. */
static int encode_normal(struct bpe *b, const char *text, size_t n,
                         const struct guard *guard, size_t n_guard, struct fault *f)
{
    const struct tokenizer *t = b->t;
    const struct found *found;
    size_t done = 0, at;
    int rc = 0;

    do {
        found = finder_next(&t->normalized, text, n, done, guard, n_guard, &at);
        if (!found)
            at = n;
        if (at > done)
            rc = splitter_run(&t->splitter, text + done, at - done, bpe_piece, b, f);
        if (!rc && found) {
            rc = ids_add(b->out, found->id, f);
            done = at + found->n;
        }
    } while (!rc && found);
    return rc;
}

static int normal_add(const struct tokenizer *t, struct bytes *out, const char *s,
                      size_t n, struct fault *f)
{
    return t->nfc ? nfc_add(out, s, n, f) : bytes_add(out, s, n, f);
}

/* Normalise text[begin, end), stretch by stretch between the edges of the guards, so
 * that these are still known afterwards (and a user's combining mark can't change a
 * character of the template), then encode it. */
static int encode_between(struct bpe *b, const char *text, size_t begin, size_t end,
                          const struct guards *guards, struct fault *f)
{
    struct bytes normal = {0};
    struct guards moved = {0};
    size_t at = begin;
    int rc = 0;

    for (size_t g = 0; g <= guards->n && at < end && !rc; g++) {
        struct guard it = g < guards->n ? guards->item[g] : (struct guard){end, end};
        size_t from;

        if (it.end <= at)
            continue;
        it.begin = it.begin < at ? at : it.begin > end ? end : it.begin;
        it.end = it.end > end ? end : it.end;
        rc = normal_add(b->t, &normal, text + at, it.begin - at, f);
        from = normal.len;
        if (!rc)
            rc = normal_add(b->t, &normal, text + it.begin, it.end - it.begin, f);
        if (!rc)
            rc = guards_add(&moved, from, normal.len, f);
        at = it.end;
    }
    if (!rc)
        rc = encode_normal(b, normal.data, normal.len, moved.item, moved.n, f);
    bytes_free(&normal);
    free(moved.item);
    return rc;
}

static int encode_clean(struct bpe *b, const char *text, size_t n,
                        const struct guards *guards, struct fault *f)
{
    const struct tokenizer *t = b->t;
    const struct found *found;
    size_t done = 0, at;
    int rc = 0;

    do {
        found = finder_next(&t->raw, text, n, done, guards->item, guards->n, &at);
        if (!found)
            at = n;
        if (at > done)
            rc = encode_between(b, text, done, at, guards, f);
        if (!rc && found) {
            rc = ids_add(b->out, found->id, f);
            done = at + found->n;
        }
    } while (!rc && found);
    return rc;
}

int encode_parts(const struct tokenizer *t, const struct part *part, size_t n_parts,
                 struct ids *out, struct fault *f)
{
    struct bpe b = {.t = t, .out = out};
    struct guards guards = {0};
    struct bytes text = {0};
    size_t before = out->n;
    int rc = 0;

    for (size_t i = 0; i < n_parts && !rc; i++) {
        size_t from = text.len;

        rc = utf8_clean(&text, part[i].text, part[i].n, f);
        if (!rc && !part[i].special)
            rc = guards_add(&guards, from, text.len, f);
    }
    if (!rc)
        rc = encode_clean(&b, text.data, text.len, &guards, f);
    if (rc)
        out->n = before;
    bpe_free(&b);
    bytes_free(&text);
    free(guards.item);
    return rc;
}

int tokenizer_encode(const struct tokenizer *t, const char *text, size_t n,
                     bool special, struct ids *out, struct fault *f)
{
    struct part part = {text, n, special};

    return encode_parts(t, &part, 1, out, f);
}
