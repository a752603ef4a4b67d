/* keys.c - open addressing over XXH3. */
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "keys.h"

static struct key_slot *seek(const struct keys *t, const char *key,
                             unsigned long long hash)
{
    size_t i = (size_t)hash & (t->cap - 1);

    while (t->slot[i].key &&
           (t->slot[i].hash != hash || strcmp(t->slot[i].key, key) != 0))
        i = (i + 1) & (t->cap - 1);
    return &t->slot[i];
}

static int grow(struct keys *t, struct fault *f)
{
    struct keys bigger = {.n = t->n, .cap = t->cap ? 2 * t->cap : 64};

    bigger.slot = mem_new(bigger.cap, sizeof *bigger.slot, "a set of keys", f);
    if (!bigger.slot)
        return f->code;
    for (size_t i = 0; i < t->cap; i++)
        if (t->slot[i].key)
            *seek(&bigger, t->slot[i].key, t->slot[i].hash) = t->slot[i];
    free(t->slot);
    t->slot = bigger.slot;
    t->cap = bigger.cap;
    return 0;
}

struct key_slot *keys_put(struct keys *t, const char *key, size_t value, int *fresh,
                          struct fault *f)
{
    unsigned long long hash = hash64(key, strlen(key), 0);
    struct key_slot *s;

    if (2 * (t->n + 1) > t->cap && grow(t, f))
        return NULL;
    s = seek(t, key, hash);
    *fresh = !s->key;
    if (*fresh) {
        *s = (struct key_slot){key, hash, value};
        t->n++;
    }
    return s;
}

void keys_free(struct keys *t)
{
    free(t->slot);
    *t = (struct keys){0};
}
