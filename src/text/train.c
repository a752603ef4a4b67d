/* train.c - making a byte-level BPE tokenizer from texts.
 *
 * Words and their counts first; then, until the vocabulary is full, the most frequent
 * pair of neighbours (of equals the one with the lower ids) becomes a token.  The same
 * choices, hence the same file, as BpeTrainer of the tokenizers library with the byte
 * alphabet.  Source: Sennrich et al. 2016, alg. 1.
 */
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "text_impl.h"

struct run { /* a distinct word: ids at symbol[at .. at + n) */
    size_t at, n, bytes;
    long long count;
};

struct pair {
    int left, right;
    long long count;
};

struct trainer {
    struct splitter splitter;
    struct bytes store; /* the words' bytes, one after another as they came */
    struct run *word;
    size_t n_word, cap_word;
    size_t *slot; /* of words by their bytes, + 1; 0 = free */
    size_t n_slot;
    struct ids symbol;
    struct pair *pair; /* open addressing; count 0 = free */
    size_t n_pair;     /* slots */
    struct token {
        size_t at, n; /* in text */
    } * token;
    int n_token;
    struct bytes text;
    json_t *vocab, *merges;
};

/* -- words ------------------------------------------------------------------------ */

static size_t *slot_of(struct trainer *t, const char *s, size_t n)
{
    size_t i = (size_t)hash64(s, n, 0) & (t->n_slot - 1);

    while (t->slot[i]) {
        const struct run *w = &t->word[t->slot[i] - 1];

        if (w->n == n && !memcmp(t->store.data + w->bytes, s, n))
            break;
        i = (i + 1) & (t->n_slot - 1);
    }
    return &t->slot[i];
}

static int widen(struct trainer *t, struct fault *f)
{
    size_t n = t->n_slot ? 2 * t->n_slot : 1024;
    size_t *slot = mem_new(n, sizeof *slot, "words", f);

    if (!slot)
        return f->code;
    free(t->slot);
    t->slot = slot;
    t->n_slot = n;
    for (size_t i = 0; i < t->n_word; i++)
        *slot_of(t, t->store.data + t->word[i].bytes, t->word[i].n) = i + 1;
    return 0;
}

/* A piece_taker: count one more of this word. */
static int count_word(void *with, const char *piece, size_t n, struct fault *f)
{
    struct trainer *t = with;
    size_t *slot;

    if (2 * t->n_word >= t->n_slot && widen(t, f))
        return f->code;
    slot = slot_of(t, piece, n);
    if (*slot) {
        t->word[*slot - 1].count++;
        return 0;
    }
    if (mem_grow((void **)&t->word, &t->cap_word, t->n_word + 1, sizeof t->word[0],
                 "words", f))
        return f->code;
    t->word[t->n_word++] = (struct run){.n = n, .bytes = t->store.len, .count = 1};
    *slot = t->n_word;
    return bytes_add(&t->store, piece, n, f);
}

static int count_words(struct trainer *t, const char *const *texts, size_t n,
                       struct fault *f)
{
    struct bytes clean = {0}, normal = {0};
    int rc = splitter_add(&t->splitter, split_qwen, strlen(split_qwen), "training", f);

    for (size_t i = 0; i < n && !rc; i++) {
        clean.len = normal.len = 0;
        rc = utf8_clean(&clean, texts[i], strlen(texts[i]), f);
        if (!rc)
            rc = nfc_add(&normal, clean.data, clean.len, f);
        if (!rc)
            rc = splitter_run(&t->splitter, normal.data, normal.len, count_word, t, f);
    }
    bytes_free(&clean);
    bytes_free(&normal);
    return rc;
}

/* -- tokens ----------------------------------------------------------------------- */

/* The token s[n]: known, or made new. */
static int add_token(struct trainer *t, const char *s, size_t n, int *id,
                     struct fault *f)
{
    struct bytes name = {0};
    json_t *known = NULL;
    int rc = alphabet_write(&name, s, n, f);

    if (!rc)
        known = json_object_get(t->vocab, name.data);
    *id = known ? (int)json_integer_value(known) : t->n_token;
    if (!rc && !known) {
        t->token[t->n_token++] = (struct token){t->text.len, n};
        rc = bytes_add(&t->text, s, n, f);
        if (!rc && json_object_set_new(t->vocab, name.data, json_integer(*id)))
            rc = fault_set(f, FAULT_SYSTEM, "no memory for a vocabulary");
    }
    bytes_free(&name);
    return rc;
}

/* The 256 bytes in the order of their alphabet, which is Qwen's and GPT-2's; and the
 * words in them. */
static int start_tokens(struct trainer *t, int vocab, struct fault *f)
{
    int id_of[256], id, rc = 0;

    t->vocab = json_object();
    t->merges = json_array();
    t->token = mem_new((size_t)vocab, sizeof t->token[0], "a vocabulary", f);
    if (!t->token)
        return f->code;
    for (int point = 0; point < 0x144 && !rc; point++)
        for (int b = 0; b < 256 && !rc; b++)
            if (alphabet_point(b) == point) {
                char c = (char)b;

                rc = add_token(t, &c, 1, &id, f);
                id_of[b] = id;
            }
    for (size_t i = 0; i < t->n_word && !rc; i++) {
        struct run *w = &t->word[i];

        w->at = t->symbol.n;
        for (size_t k = 0; k < w->n && !rc; k++)
            rc = ids_add(&t->symbol, id_of[(unsigned char)t->store.data[w->bytes + k]],
                         f);
    }
    return rc;
}

/* -- pairs ------------------------------------------------------------------------ */

static void count_pair(struct trainer *t, int left, int right, long long count)
{
    size_t i = merges_hash(left, right) & (t->n_pair - 1);

    while (t->pair[i].count && (t->pair[i].left != left || t->pair[i].right != right))
        i = (i + 1) & (t->n_pair - 1);
    t->pair[i] = (struct pair){left, right, t->pair[i].count + count};
}

static bool better(const struct pair *a, const struct pair *b)
{
    if (a->count != b->count)
        return a->count > b->count;
    return a->left != b->left ? a->left < b->left : a->right < b->right;
}

/* The pair to merge next; count 0 if no word has two symbols left. */
static struct pair best_pair(struct trainer *t)
{
    struct pair best = {0};

    memset(t->pair, 0, t->n_pair * sizeof t->pair[0]);
    for (size_t i = 0; i < t->n_word; i++) {
        const int *id = t->symbol.id + t->word[i].at;

        for (size_t k = 0; k + 1 < t->word[i].n; k++)
            count_pair(t, id[k], id[k + 1], t->word[i].count);
    }
    for (size_t i = 0; i < t->n_pair; i++)
        if (t->pair[i].count && better(&t->pair[i], &best))
            best = t->pair[i];
    return best;
}

static void replace(struct trainer *t, int left, int right, int id)
{
    for (size_t i = 0; i < t->n_word; i++) {
        struct run *w = &t->word[i];
        int *s = t->symbol.id + w->at;
        size_t to = 0;

        for (size_t k = 0; k < w->n; k++) {
            bool here = k + 1 < w->n && s[k] == left && s[k + 1] == right;

            s[to++] = here ? id : s[k];
            k += here;
        }
        w->n = to;
    }
}

static int add_merge(struct trainer *t, const struct pair *p, struct fault *f)
{
    const struct token *half[2] = {&t->token[p->left], &t->token[p->right]};
    struct bytes both = {0}, line = {0};
    int id = -1, rc = 0;

    for (int i = 0; i < 2 && !rc; i++) {
        rc = bytes_add(&both, t->text.data + half[i]->at, half[i]->n, f);
        if (!rc && i)
            rc = bytes_add(&line, " ", 1, f);
        if (!rc)
            rc = alphabet_write(&line, t->text.data + half[i]->at, half[i]->n, f);
    }
    if (!rc)
        rc = add_token(t, both.data, both.len, &id, f);
    if (!rc && json_array_append_new(t->merges, json_string(line.data)))
        rc = fault_set(f, FAULT_SYSTEM, "no memory for the merges");
    if (!rc)
        replace(t, p->left, p->right, id);
    bytes_free(&both);
    bytes_free(&line);
    return rc;
}

static int merge_pairs(struct trainer *t, int most, struct fault *f)
{
    int rc = 0;

    t->n_pair = 16;
    while (t->n_pair < 2 * t->symbol.n)
        t->n_pair *= 2;
    t->pair = mem_new(t->n_pair, sizeof t->pair[0], "pairs", f);
    if (!t->pair)
        return f->code;
    while (t->n_token < most && !rc) {
        struct pair p = best_pair(t);

        if (!p.count)
            break;
        rc = add_merge(t, &p, f);
    }
    return rc;
}

/* -- the file --------------------------------------------------------------------- */

static json_t *special_tokens(const struct trainer *t, const char *const *special,
                              int n)
{
    json_t *list = json_array();

    for (int i = 0; i < n; i++)
        json_array_append_new(
            list, json_pack("{s:i, s:s, s:b, s:b, s:b, s:b, s:b}", "id", t->n_token + i,
                            "content", special[i], "single_word", 0, "lstrip", 0,
                            "rstrip", 0, "normalized", 0, "special", 1));
    return list;
}

static json_t *byte_level(void)
{
    return json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", 0,
                     "trim_offsets", 0, "use_regex", 0);
}

static int write_file(const struct trainer *t, const char *const *special,
                      int n_special, const char *path, struct fault *f)
{
    json_t *root = json_pack(
        "{s:s, s:n, s:n, s:o, s:{s:s}, s:{s:s, s:[{s:s, s:{s:s}, s:s, s:b}, o]}, s:o, "
        "s:o,"
        " s:{s:s, s:n, s:n, s:s, s:s, s:b, s:b, s:b, s:O, s:O}}",
        "version", "1.0", "truncation", "padding", "added_tokens",
        special_tokens(t, special, n_special), "normalizer", "type", "NFC",
        "pre_tokenizer", "type", "Sequence", "pretokenizers", "type", "Split",
        "pattern", "Regex", split_qwen, "behavior", "Isolated", "invert", 0,
        byte_level(), "post_processor", byte_level(), "decoder", byte_level(), "model",
        "type", "BPE", "dropout", "unk_token", "continuing_subword_prefix", "",
        "end_of_word_suffix", "", "fuse_unk", 0, "byte_fallback", 0, "ignore_merges", 0,
        "vocab", t->vocab, "merges", t->merges);
    char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
    int rc;

    if (text)
        rc = file_publish(path, text, strlen(text), f);
    else
        rc = fault_set(f, FAULT_SYSTEM, "no memory for writing %s", path);
    free(text);
    json_decref(root);
    return rc;
}

static int check_request(int vocab, const char *const *special, int n_special,
                         struct fault *f)
{
    if (vocab > TOKEN_LIMIT || vocab - n_special < 256 || n_special < 0)
        return fault_set(
            f, FAULT_CONFIG,
            "a vocabulary of %d can't hold 256 bytes and %d special tokens", vocab,
            n_special);
    for (int i = 0; i < n_special; i++) {
        if (!special[i][0] ||
            utf8_valid(special[i], strlen(special[i])) != strlen(special[i]))
            return fault_set(f, FAULT_CONFIG,
                             "special token %d is empty or not valid UTF-8", i);
        for (int k = 0; k < i; k++)
            if (!strcmp(special[i], special[k]))
                return fault_set(f, FAULT_CONFIG,
                                 "the special token \"%.60s\" comes twice", special[i]);
    }
    return 0;
}

int tokenizer_train(const char *const *texts, size_t n, int vocab,
                    const char *const *special, int n_special, const char *out_path,
                    struct fault *f)
{
    struct trainer t = {0};
    int rc = check_request(vocab, special, n_special, f);

    if (!rc)
        rc = count_words(&t, texts, n, f);
    if (!rc)
        rc = start_tokens(&t, vocab - n_special, f);
    if (!rc)
        rc = merge_pairs(&t, vocab - n_special, f);
    if (!rc)
        rc = write_file(&t, special, n_special, out_path, f);
    splitter_free(&t.splitter);
    bytes_free(&t.store);
    bytes_free(&t.text);
    ids_free(&t.symbol);
    free(t.word);
    free(t.slot);
    free(t.pair);
    free(t.token);
    json_decref(t.vocab);
    json_decref(t.merges);
    return rc;
}
