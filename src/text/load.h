/* load.h - reading tokenizer.json; private to open.c and load_model.c. */
#ifndef DAPO_TEXT_LOAD_H
#define DAPO_TEXT_LOAD_H

#include <jansson.h>

#include "text_impl.h"

struct load {
    const char *path;    /* for sentences */
    json_t *root;        /* the whole file */
    struct tokenizer *t; /* being filled */
};

/* true: *out is the value of `key` in `object`; false: absent or null. */
bool load_get(const json_t *object, const char *key, const json_t **out);
/* Whether `key` is absent, null or false; FAULT_DATA through *rc if it is not a bool.
 */
int load_flag(const struct load *l, const json_t *object, const char *key, bool *out,
              struct fault *f);
/* The string under `key`, "" if absent. */
const char *load_text(const json_t *object, const char *key);

/* load_model.c: the model and the added tokens into l->t, and its hash. */
int load_model(const struct load *l, struct fault *f);
/* load_added.c: the added tokens of the file, checked.  Empty content, a negative or
 * huge id and what we don't do (lstrip, rstrip, single_word) are faults. */
struct added {
    const char *text;
    size_t n;
    int id;
    unsigned flags;
};
int load_added(const struct load *l, struct added **out, size_t *n, struct fault *f);
/* The finders over what load_added read. */
int load_finders(const struct load *l, const struct added *added, size_t n,
                 struct fault *f);

#endif
