/* load_model.c - the vocabulary and the merges of tokenizer.json.
 *
 * Every id is checked to be in range and given once, every merge to name words of the
 * vocabulary whose join is one, so that merging ends and can't leave the vocabulary.
 */
#include <stdlib.h>
#include <string.h>

#include "load.h"

struct entry { /* what an id stands for, by id */
    const char *text;
    size_t n;
    unsigned flags;
};

/* Settings of the model that would change ids and that we don't do. */
static int check_settings(const struct load *l, const json_t *model, struct fault *f)
{
    static const char *const flag[] = {"byte_fallback", "dropout"};
    static const char *const text[] = {"continuing_subword_prefix",
                                       "end_of_word_suffix"};
    const char *type = load_text(model, "type");

    /* Older files leave the type out. */
    if (json_object_get(model, "type") && strcmp(type, "BPE"))
        return fault_set(f, FAULT_DATA,
                         "%s: the model \"%.60s\" isn't supported; only BPE", l->path,
                         type);
    for (size_t i = 0; i < sizeof flag / sizeof flag[0]; i++) {
        const json_t *v = json_object_get(model, flag[i]);

        if (v && !json_is_null(v) && !json_is_false(v))
            return fault_set(f, FAULT_DATA, "%s: the model's %s isn't supported",
                             l->path, flag[i]);
    }
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        if (*load_text(model, text[i]))
            return fault_set(f, FAULT_DATA, "%s: the model's %s isn't supported",
                             l->path, text[i]);
    return load_flag(l, model, "ignore_merges", &l->t->ignore_merges, f);
}

/* Largest id + 1 of the vocabulary and the added tokens; ids checked. */
static int count_ids(const struct load *l, json_t *vocab, const struct added *added,
                     size_t n_added, size_t *out, struct fault *f)
{
    const char *key;
    json_t *v;

    *out = 0;
    json_object_foreach(vocab, key, v)
    {
        json_int_t id = json_integer_value(v);

        if (!json_is_integer(v) || id < 0 || id >= TOKEN_LIMIT)
            return fault_set(f, FAULT_DATA,
                             "%s: the id of \"%.60s\" is not an integer in 0..%d",
                             l->path, key, TOKEN_LIMIT - 1);
        if ((size_t)id >= *out)
            *out = (size_t)id + 1;
    }
    for (size_t i = 0; i < n_added; i++)
        if ((size_t)added[i].id >= *out)
            *out = (size_t)added[i].id + 1;
    return 0;
}

static int place_added(const struct load *l, const json_t *vocab, struct entry *entry,
                       const struct added *a, struct fault *f)
{
    const json_t *known = json_object_get(vocab, a->text);
    struct entry *e = &entry[a->id];

    if (known && json_integer_value(known) != a->id)
        return fault_set(f, FAULT_DATA,
                         "%s: the added token \"%.60s\" has the id %d, but %lld in the "
                         "vocabulary",
                         l->path, a->text, a->id, (long long)json_integer_value(known));
    if (e->text && (!known || e->flags & WORD_ADDED))
        return fault_set(f, FAULT_DATA,
                         "%s: the id %d is given to \"%.60s\" and \"%.60s\"", l->path,
                         a->id, e->text, a->text);
    if (!known) /* such a token is no word of the model: no merge makes it */
        *e = (struct entry){a->text, a->n, WORD_RAW};
    e->flags |= a->flags;
    return 0;
}

/* The words by id, from the vocabulary and the added tokens. */
static int place(const struct load *l, json_t *vocab, const struct added *added,
                 size_t n_added, struct entry *entry, struct fault *f)
{
    const char *key;
    json_t *v;

    json_object_foreach(vocab, key, v)
    {
        struct entry *e = &entry[json_integer_value(v)];

        if (e->text)
            return fault_set(f, FAULT_DATA,
                             "%s: the id %lld is given to \"%.60s\" and \"%.60s\"",
                             l->path, (long long)json_integer_value(v), e->text, key);
        *e = (struct entry){key, strlen(key), 0};
    }
    for (size_t i = 0; i < n_added; i++)
        if (place_added(l, vocab, entry, &added[i], f))
            return f->code;
    return 0;
}

/* Into bytes: words of the vocabulary are written in the alphabet. */
static int set_words(const struct load *l, const struct entry *entry, size_t n,
                     struct fault *f)
{
    struct words *w = &l->t->words;
    struct bytes b = {0};
    int rc = words_new(w, n, f);

    for (size_t id = 0; id < n && !rc; id++) {
        const struct entry *e = &entry[id];
        unsigned flags = e->flags;
        bool raw = true;

        if (!e->text)
            continue;
        if (flags & WORD_RAW && words_find(w, e->text, e->n, true) >= 0)
            rc = fault_set(f, FAULT_DATA, "%s: the added token \"%.60s\" has two ids",
                           l->path, e->text);
        b.len = 0;
        if (!rc && !(flags & WORD_RAW))
            rc = alphabet_read(&b, e->text, e->n, &raw, f);
        if (!rc && raw)
            rc = words_set(w, id, e->text, e->n, flags | WORD_RAW, f);
        else if (!rc)
            rc = words_set(w, id, b.len ? b.data : "", b.len, flags, f);
    }
    bytes_free(&b);
    return rc;
}

static int load_words(const struct load *l, const json_t *model, struct fault *f)
{
    json_t *vocab = json_object_get(model, "vocab");
    struct entry *entry = NULL;
    struct added *added = NULL;
    size_t n_added = 0, n = 0;
    int rc;

    if (!json_is_object(vocab))
        return fault_set(f, FAULT_DATA, "%s: the model's vocab is not an object",
                         l->path);
    rc = load_added(l, &added, &n_added, f);
    if (!rc)
        rc = count_ids(l, vocab, added, n_added, &n, f);
    if (!rc && !(entry = mem_new(n, sizeof *entry, "a vocabulary", f)))
        rc = f->code;
    if (!rc)
        rc = place(l, vocab, added, n_added, entry, f);
    if (!rc)
        rc = set_words(l, entry, n, f);
    if (!rc)
        rc = load_finders(l, added, n_added, f);
    free(entry);
    free(added);
    return rc;
}

static int load_bytes(const struct load *l, struct fault *f)
{
    for (int i = 0; i < 256; i++) {
        char c = (char)i;

        l->t->byte_id[i] = words_find(&l->t->words, &c, 1, false);
        if (l->t->byte_id[i] < 0)
            return fault_set(f, FAULT_DATA,
                             "%s: the vocabulary has no word for the byte 0x%02X; only "
                             "byte-level vocabularies are supported",
                             l->path, (unsigned)i);
    }
    return 0;
}

/* The two halves of a merge: "a b", or ["a", "b"]. */
static bool halves(const json_t *v, const char *half[2], size_t n[2])
{
    const char *space;

    if (json_is_string(v)) {
        half[0] = json_string_value(v);
        space = strchr(half[0], ' ');
        if (!space || strchr(space + 1, ' '))
            return false;
        half[1] = space + 1;
        n[0] = (size_t)(space - half[0]);
        n[1] = strlen(half[1]);
        return n[0] && n[1];
    }
    if (!json_is_array(v) || json_array_size(v) != 2)
        return false;
    for (int i = 0; i < 2; i++) {
        const json_t *s = json_array_get(v, (size_t)i);

        half[i] = json_is_string(s) ? json_string_value(s) : "";
        n[i] = strlen(half[i]);
    }
    return n[0] && n[1];
}

static int load_merge(const struct load *l, const json_t *v, int rank, struct bytes *b,
                      struct merge *out, struct fault *f)
{
    const struct words *w = &l->t->words;
    const char *half[2];
    size_t n[2];
    int id[2] = {-1, -1};
    bool raw = false;

    if (!halves(v, half, n))
        return fault_set(f, FAULT_DATA, "%s: merge %d is not a pair of words", l->path,
                         rank);
    b->len = 0;
    for (int i = 0; i < 2; i++) {
        size_t from = b->len;

        if (alphabet_read(b, half[i], n[i], &raw, f))
            return f->code;
        if (!raw)
            id[i] = words_find(w, b->data + from, b->len - from, false);
        if (id[i] < 0)
            return fault_set(
                f, FAULT_DATA,
                "%s: merge %d names \"%.*s\", which is not in the vocabulary", l->path,
                rank, n[i] > 60 ? 60 : (int)n[i], half[i]);
    }
    *out = (struct merge){id[0], id[1], rank, words_find(w, b->data, b->len, false)};
    if (out->id < 0)
        return fault_set(f, FAULT_DATA,
                         "%s: merge %d makes a word that is not in the vocabulary",
                         l->path, rank);
    return 0;
}

static int load_merges(const struct load *l, const json_t *model, struct fault *f)
{
    const json_t *list = json_object_get(model, "merges");
    size_t n = json_array_size(list);
    unsigned long long *hash = &l->t->hash;
    struct bytes b = {0};
    struct merge m = {0};
    int rc;

    if (!json_is_array(list) || n > INT32_MAX / 2)
        return fault_set(f, FAULT_DATA, "%s: the model's merges are not a list",
                         l->path);
    rc = merges_new(&l->t->merges, n, f);
    for (size_t i = 0; i < n && !rc; i++) {
        rc = load_merge(l, json_array_get(list, i), (int)i, &b, &m, f);
        if (!rc)
            merges_put(&l->t->merges, m);
        if (!rc)
            *hash = hash64(&m, sizeof m, *hash);
    }
    bytes_free(&b);
    return rc;
}

/* Everything that decides ids; the merges are in already. */
static void finish_hash(struct tokenizer *t)
{
    unsigned char flags[2] = {t->nfc, t->ignore_merges};

    t->hash = hash64(flags, sizeof flags, t->hash);
    t->hash = hash64(&t->splitter.hash, sizeof t->splitter.hash, t->hash);
    t->hash = hash64(t->words.item, t->words.n * sizeof t->words.item[0], t->hash);
    t->hash = hash64(t->words.text.data, t->words.text.len, t->hash);
}

int load_model(const struct load *l, struct fault *f)
{
    const json_t *model = json_object_get(l->root, "model");
    int rc;

    if (!json_is_object(model))
        return fault_set(f, FAULT_DATA, "%s: no model in it", l->path);
    rc = check_settings(l, model, f);
    if (!rc)
        rc = load_words(l, model, f);
    if (!rc)
        rc = load_bytes(l, f);
    if (!rc)
        rc = load_merges(l, model, f);
    if (!rc)
        finish_hash(l->t);
    return rc;
}
