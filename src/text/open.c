/* open.c - tokenizer.json: the file, its normaliser, pre-tokenizer and decoder. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "load.h"

enum { FILE_MOST = 1 << 28 }; /* bytes; real files have up to 40 MB */

bool load_get(const json_t *object, const char *key, const json_t **out)
{
    *out = json_object_get(object, key);
    return *out && !json_is_null(*out);
}

int load_flag(const struct load *l, const json_t *object, const char *key, bool *out,
              struct fault *f)
{
    const json_t *v;

    *out = false;
    if (!load_get(object, key, &v))
        return 0;
    if (!json_is_boolean(v))
        return fault_set(f, FAULT_DATA, "%s: \"%s\" is neither true nor false", l->path,
                         key);
    *out = json_is_true(v);
    return 0;
}

const char *load_text(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);

    return json_is_string(v) ? json_string_value(v) : "";
}

static int unsupported(const struct load *l, const char *what, const json_t *v,
                       struct fault *f)
{
    return fault_set(f, FAULT_DATA, "%s: %s \"%.60s\" isn't supported", l->path, what,
                     json_is_object(v) ? load_text(v, "type") : "(not an object)");
}

/* The steps of a normaliser, pre-tokenizer or decoder: `key`'s list if it is a
 * Sequence, else itself. */
static size_t steps(const json_t *v, const char *key)
{
    if (strcmp(load_text(v, "type"), "Sequence"))
        return 1;
    return json_array_size(json_object_get(v, key));
}

static const json_t *step(const json_t *v, const char *key, size_t i)
{
    if (strcmp(load_text(v, "type"), "Sequence"))
        return v;
    return json_array_get(json_object_get(v, key), i);
}

static int load_normalizer(const struct load *l, struct fault *f)
{
    const json_t *v;

    if (!load_get(l->root, "normalizer", &v))
        return 0;
    for (size_t i = 0; i < steps(v, "normalizers"); i++) {
        const json_t *s = step(v, "normalizers", i);

        if (strcmp(load_text(s, "type"), "NFC"))
            return unsupported(l, "the normaliser", s, f);
        l->t->nfc = true;
    }
    return 0;
}

static int load_split(const struct load *l, const json_t *s, struct fault *f)
{
    const json_t *regex = json_object_get(json_object_get(s, "pattern"), "Regex");
    bool invert;

    if (load_flag(l, s, "invert", &invert, f))
        return f->code;
    if (invert || strcmp(load_text(s, "behavior"), "Isolated"))
        return fault_set(f, FAULT_DATA,
                         "%s: a Split with behavior \"%.40s\"%s isn't supported; it "
                         "should be Isolated",
                         l->path, load_text(s, "behavior"),
                         invert ? ", inverted," : "");
    if (!json_is_string(regex))
        return fault_set(f, FAULT_DATA, "%s: a Split without a regular expression",
                         l->path);
    return splitter_add(&l->t->splitter, json_string_value(regex),
                        json_string_length(regex), l->path, f);
}

static int load_byte_level(const struct load *l, const json_t *s, struct fault *f)
{
    bool prefix, regex = true;

    if (load_flag(l, s, "add_prefix_space", &prefix, f))
        return f->code;
    if (prefix)
        return fault_set(f, FAULT_DATA, "%s: add_prefix_space isn't supported",
                         l->path);
    if (json_object_get(s, "use_regex") && load_flag(l, s, "use_regex", &regex, f))
        return f->code;
    if (!regex)
        return 0;
    return splitter_add(&l->t->splitter, split_gpt2, strlen(split_gpt2), l->path, f);
}

static int load_pre_tokenizer(const struct load *l, struct fault *f)
{
    const json_t *v, *s;
    size_t n;
    int rc = 0;

    if (!load_get(l->root, "pre_tokenizer", &v))
        return fault_set(f, FAULT_DATA, "%s: no pre_tokenizer; it should be ByteLevel",
                         l->path);
    n = steps(v, "pretokenizers");
    for (size_t i = 0; i < n && !rc; i++) {
        const char *type = load_text(s = step(v, "pretokenizers", i), "type");

        if (i + 1 == n && strcmp(type, "ByteLevel"))
            return fault_set(
                f, FAULT_DATA,
                "%s: the pre-tokenizer ends in \"%.60s\", not in ByteLevel", l->path,
                type);
        if (i + 1 == n)
            rc = load_byte_level(l, s, f);
        else if (!strcmp(type, "Split"))
            rc = load_split(l, s, f);
        else
            rc = unsupported(l, "the pre-tokenizer", s, f);
    }
    if (!rc && n == 0)
        rc = fault_set(f, FAULT_DATA, "%s: the pre-tokenizer is an empty Sequence",
                       l->path);
    return rc;
}

static int load_decoder(const struct load *l, struct fault *f)
{
    const json_t *v;

    if (!load_get(l->root, "decoder", &v))
        return fault_set(f, FAULT_DATA, "%s: no decoder; it should be ByteLevel",
                         l->path);
    for (size_t i = 0; i < steps(v, "decoders"); i++)
        if (strcmp(load_text(step(v, "decoders", i), "type"), "ByteLevel"))
            return unsupported(l, "the decoder", step(v, "decoders", i), f);
    return 0;
}

static int load_parts(struct load *l, const struct bytes *file, struct fault *f)
{
    json_error_t e;
    int rc;

    l->root = json_loadb(file->data, file->len, 0, &e);
    if (!l->root)
        return fault_set(f, FAULT_DATA, "%s: line %d: %s", l->path, e.line, e.text);
    if (!json_is_object(l->root))
        return fault_set(f, FAULT_DATA, "%s: is not a JSON object", l->path);
    rc = load_normalizer(l, f);
    if (!rc)
        rc = load_pre_tokenizer(l, f);
    if (!rc)
        rc = load_decoder(l, f);
    return rc ? rc : load_model(l, f);
}

int tokenizer_open(struct tokenizer **out, const char *dir, struct fault *f)
{
    struct stat st;
    bool is_dir = stat(dir, &st) == 0 && S_ISDIR(st.st_mode);
    char *path = path_join(is_dir ? dir : "", is_dir ? "tokenizer.json" : dir, f);
    struct load l = {.path = path};
    struct bytes file = {0};
    int rc = path ? 0 : f->code;

    *out = NULL;
    if (!rc)
        rc = file_read(path, FILE_MOST, &file, f);
    if (!rc && !(l.t = mem_new(1, sizeof *l.t, "a tokenizer", f)))
        rc = f->code;
    if (!rc)
        rc = load_parts(&l, &file, f);
    json_decref(l.root);
    bytes_free(&file);
    free(path);
    if (rc)
        tokenizer_free(l.t);
    else
        *out = l.t;
    return rc;
}

void tokenizer_free(struct tokenizer *t)
{
    if (!t)
        return;
    words_free(&t->words);
    free(t->merges.slot);
    splitter_free(&t->splitter);
    finder_free(&t->raw);
    finder_free(&t->normalized);
    bytes_free(&t->added_text);
    free(t);
}

int tokenizer_size(const struct tokenizer *t)
{
    return (int)t->words.n;
}

unsigned long long tokenizer_hash(const struct tokenizer *t)
{
    return t->hash;
}

int tokenizer_id(const struct tokenizer *t, const char *text)
{
    int id = words_find(&t->words, text, strlen(text), true);

    return id >= 0 ? id : words_find(&t->words, text, strlen(text), false);
}
