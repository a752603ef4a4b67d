/* vocab.c - the words of a vocabulary, and its merges. */
#include <stdlib.h>
#include <string.h>

#include "text_impl.h"

/* A power of two with at least half of it free. */
static size_t room_for(size_t n)
{
    size_t room = 16;

    while (room < 2 * n)
        room *= 2;
    return room;
}

int words_new(struct words *w, size_t n, struct fault *f)
{
    size_t room = room_for(n);

    *w = (struct words){.n = n, .mask = room - 1};
    w->item = mem_new(n, sizeof w->item[0], "a vocabulary", f);
    w->slot = mem_new(room, sizeof w->slot[0], "a vocabulary", f);
    return w->item && w->slot ? 0 : f->code;
}

void words_free(struct words *w)
{
    free(w->item);
    free(w->slot);
    bytes_free(&w->text);
}

int words_set(struct words *w, size_t id, const char *s, size_t n, unsigned flags,
              struct fault *f)
{
    size_t i = (size_t)hash64(s, n, 0) & w->mask;

    w->item[id] = (struct word){w->text.len, (uint32_t)n, flags | WORD_USED};
    if (bytes_add(&w->text, s, n, f))
        return f->code;
    while (w->slot[i])
        i = (i + 1) & w->mask;
    w->slot[i] = (uint32_t)id + 1;
    return 0;
}

int words_find(const struct words *w, const char *s, size_t n, bool raw)
{
    for (size_t i = (size_t)hash64(s, n, 0) & w->mask; w->slot[i];
         i = (i + 1) & w->mask) {
        const struct word *item = &w->item[w->slot[i] - 1];

        if (item->n == n && !(item->flags & WORD_RAW) == !raw &&
            !memcmp(w->text.data + item->at, s, n))
            return (int)(w->slot[i] - 1);
    }
    return -1;
}

int merges_new(struct merges *m, size_t n, struct fault *f)
{
    size_t room = room_for(n);

    *m = (struct merges){.mask = room - 1};
    m->slot = mem_new(room, sizeof m->slot[0], "the merges", f);
    if (!m->slot)
        return f->code;
    for (size_t i = 0; i < room; i++)
        m->slot[i].left = -1;
    return 0;
}

void merges_put(struct merges *m, struct merge item)
{
    size_t i = merges_hash(item.left, item.right) & m->mask;

    while (m->slot[i].left >= 0 &&
           (m->slot[i].left != item.left || m->slot[i].right != item.right))
        i = (i + 1) & m->mask;
    m->slot[i] = item;
}
