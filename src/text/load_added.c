/* load_added.c - the added tokens of tokenizer.json. */
#include <stdlib.h>
#include <string.h>

#include "load.h"

/* The flags of an added token that change where it matches; none of the models we read
 * sets them. */
static int refuse_flags(const struct load *l, const json_t *item, const char *text,
                        struct fault *f)
{
    static const char *const name[] = {"lstrip", "rstrip", "single_word"};
    bool on;

    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        if (load_flag(l, item, name[i], &on, f))
            return f->code;
        if (on)
            return fault_set(
                f, FAULT_DATA,
                "%s: the added token \"%.60s\" has %s, which isn't supported", l->path,
                text, name[i]);
    }
    return 0;
}

static int load_one(const struct load *l, const json_t *item, size_t i,
                    struct added *out, struct fault *f)
{
    const json_t *id = json_object_get(item, "id");
    const json_t *content = json_object_get(item, "content");
    bool special, normalized;

    if (!json_is_integer(id) || !json_is_string(content) ||
        !json_string_length(content))
        return fault_set(f, FAULT_DATA,
                         "%s: added token %zu has no id or no text under \"content\"",
                         l->path, i);
    if (json_integer_value(id) < 0 || json_integer_value(id) >= TOKEN_LIMIT)
        return fault_set(
            f, FAULT_DATA,
            "%s: the added token \"%.60s\" has the id %lld, outside of 0..%d", l->path,
            json_string_value(content), (long long)json_integer_value(id),
            TOKEN_LIMIT - 1);
    if (refuse_flags(l, item, json_string_value(content), f) ||
        load_flag(l, item, "special", &special, f) ||
        load_flag(l, item, "normalized", &normalized, f))
        return f->code;
    *out = (struct added){json_string_value(content), json_string_length(content),
                          (int)json_integer_value(id),
                          (unsigned)(WORD_ADDED | (special ? WORD_SPECIAL : 0) |
                                     (normalized ? WORD_NORMALIZED : 0))};
    return 0;
}

int load_added(const struct load *l, struct added **out, size_t *n, struct fault *f)
{
    const json_t *list;
    int rc = 0;

    *n = 0;
    *out = NULL;
    if (!load_get(l->root, "added_tokens", &list))
        return 0;
    if (!json_is_array(list))
        return fault_set(f, FAULT_DATA, "%s: added_tokens is not a list", l->path);
    *out = mem_new(json_array_size(list), sizeof **out, "the added tokens", f);
    if (!*out)
        return f->code;
    for (; *n < json_array_size(list) && !rc; ++*n)
        rc = load_one(l, json_array_get(list, *n), *n, &(*out)[*n], f);
    return rc;
}

int load_finders(const struct load *l, const struct added *added, size_t n,
                 struct fault *f)
{
    struct tokenizer *t = l->t;
    size_t *end = mem_new(n, sizeof *end, "the added tokens", f);
    int rc = end ? 0 : f->code;

    for (size_t i = 0; i < n && !rc; i++) {
        rc = added[i].flags & WORD_NORMALIZED && t->nfc
                 ? nfc_add(&t->added_text, added[i].text, added[i].n, f)
                 : bytes_add(&t->added_text, added[i].text, added[i].n, f);
        end[i] = t->added_text.len;
    }
    for (size_t i = 0; i < n && !rc; i++) { /* the text no longer moves */
        size_t begin = i ? end[i - 1] : 0;

        rc = finder_add(added[i].flags & WORD_NORMALIZED ? &t->normalized : &t->raw,
                        t->added_text.data + begin, end[i] - begin, added[i].id,
                        added[i].flags & WORD_SPECIAL, f);
    }
    finder_ready(&t->raw);
    finder_ready(&t->normalized);
    free(end);
    return rc;
}
