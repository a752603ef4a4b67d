/* text_impl.h - what the files of this module share; private.
 *
 * Tokens are kept as the bytes they stand for, not in the printable alphabet that
 * tokenizer.json writes them in (alphabet.c).  A "raw" token is one that can't be
 * written in that alphabet: it decodes to its own UTF-8 and no merge can make it.
 */
#ifndef DAPO_TEXT_IMPL_H
#define DAPO_TEXT_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dapo/fault.h"
#include "dapo/mem.h"
#include "dapo/text.h"
#include "dapo/utf8.h"

enum {
    TOKEN_LIMIT = 1 << 22, /* ids lie below; the largest vocabularies have 2^18 */
    SPLIT_MOST = 8         /* regular expressions in one pre-tokenizer */
};

/* -- utf8.c ----------------------------------------------------------------------- */

enum utf8 {
    UTF8_OK,  /* the first *len bytes are a character */
    UTF8_BAD, /* the first *len bytes can't be completed; they become one U+FFFD */
    UTF8_CUT  /* all n bytes begin a character that is not there yet; *len = n */
};
/* Look at s[n], n > 0.  Unicode 15, table 3-7 (well-formed) and section 3.9
 * (maximal subparts). */
enum utf8 utf8_scan(const char *s, size_t n, size_t *len);
/* Length of the well-formed prefix of s[n]. */
size_t utf8_valid(const char *s, size_t n);
/* Append s[n] with what is not well-formed replaced by U+FFFD. */
int utf8_clean(struct bytes *out, const char *s, size_t n, struct fault *f);

/* -- alphabet.c ------------------------------------------------------------------- */

/* The code point (below 324) that stands for a byte in tokenizer.json. */
int alphabet_point(int byte);
/* Append the bytes that the well-formed text s[n] stands for; *raw, and nothing added,
 * if a character of it is not in the alphabet. */
int alphabet_read(struct bytes *out, const char *s, size_t n, bool *raw,
                  struct fault *f);
/* Append the alphabet's text for s[n]. */
int alphabet_write(struct bytes *out, const char *s, size_t n, struct fault *f);

/* -- normalize.c ------------------------------------------------------------------ */

/* False if NFC may change the well-formed text s[n] (some that it would not, too). */
bool nfc_quick(const char *s, size_t n);
/* Append NFC(s[n]). */
int nfc_add(struct bytes *out, const char *s, size_t n, struct fault *f);

/* -- split.c: regular expressions that cut a text into pieces --------------------- */

struct splitter {
    int n;
    void *code[SPLIT_MOST];  /* pcre2_code */
    unsigned long long hash; /* of the patterns */
};
extern const char split_gpt2[], split_qwen[]; /* patterns of GPT-2 and of Qwen2 */
/* Add an expression in Oniguruma's syntax; `where` begins the sentence of a fault. */
int splitter_add(struct splitter *s, const char *pattern, size_t n, const char *where,
                 struct fault *f);
void splitter_free(struct splitter *s);
/* Call take for the pieces of text[n] (well-formed) in order; none is empty, together
 * they are the text.  Ends early with the code that take returned. */
typedef int piece_taker(void *with, const char *piece, size_t n, struct fault *f);
int splitter_run(const struct splitter *s, const char *text, size_t n,
                 piece_taker *take, void *with, struct fault *f);

/* -- vocab.c ---------------------------------------------------------------------- */

enum word_flag {
    WORD_USED = 1, /* ids may have holes */
    WORD_RAW = 2,
    WORD_ADDED = 4,
    WORD_SPECIAL = 8,
    WORD_NORMALIZED = 16 /* matched after normalisation */
};
struct word {
    size_t at; /* in text.data */
    uint32_t n, flags;
};
struct words {
    struct word *item; /* by id */
    size_t n;
    struct bytes text;
    uint32_t *slot; /* open addressing by hash of the bytes: id + 1, 0 = free */
    size_t mask;
};
int words_new(struct words *w, size_t n, struct fault *f);
void words_free(struct words *w);
/* Give id its bytes; ids in ascending order, each once. */
int words_set(struct words *w, size_t id, const char *s, size_t n, unsigned flags,
              struct fault *f);
/* The id of s[n] among raw or among other words; -1 if none. */
int words_find(const struct words *w, const char *s, size_t n, bool raw);

struct merge {
    int left, right; /* left = -1: a free slot */
    int rank, id;    /* lower ranks first; id of left + right */
};
struct merges {
    struct merge *slot; /* open addressing by the pair */
    size_t mask;
};
/* Room for n merges. */
int merges_new(struct merges *m, size_t n, struct fault *f);
/* The later of two merges of the same pair wins, as in the tokenizers library. */
void merges_put(struct merges *m, struct merge item);
static inline size_t merges_hash(int left, int right)
{
    uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;

    key *= 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */
    return (size_t)(key >> 32 ^ key >> 15);
}
static inline const struct merge *merges_find(const struct merges *m, int left,
                                              int right)
{
    for (size_t i = merges_hash(left, right) & m->mask;; i = (i + 1) & m->mask) {
        const struct merge *s = &m->slot[i];

        if (s->left == left && s->right == right)
            return s;
        if (s->left < 0)
            return NULL;
    }
}

/* -- finder: added tokens in a text (find.c) -------------------------------------- */

struct finder {
    struct found {
        const char *text;
        size_t n;
        int id;
        bool special;
    } * item; /* by first byte, longer ones first */
    size_t n, cap;
    size_t first[257]; /* items of first byte b: first[b] .. first[b + 1] - 1 */
};
int finder_add(struct finder *d, const char *s, size_t n, int id, bool special,
               struct fault *f);
void finder_ready(struct finder *d);
void finder_free(struct finder *d);

/* Parts of a text in which special tokens are not looked for; no token is found across
 * an edge of one, or a text could break the template around it.  In ascending order. */
struct guard {
    size_t begin, end;
};
/* The first added token at or after `from`, the longest one there; NULL if none. */
const struct found *finder_next(const struct finder *d, const char *s, size_t n,
                                size_t from, const struct guard *guard, size_t n_guard,
                                size_t *at);

/* -- the tokenizer ---------------------------------------------------------------- */

struct tokenizer {
    struct words words;
    struct merges merges;
    int byte_id[256];
    bool nfc, ignore_merges;
    struct splitter splitter;
    struct finder raw, normalized; /* added tokens by when they are looked for */
    struct bytes added_text;       /* what the finders point into */
    unsigned long long hash;
};

/* -- bpe.c ------------------------------------------------------------------------ */

struct bpe {
    const struct tokenizer *t;
    struct ids *out;
    struct symbol *symbol; /* scratch for long pieces */
    size_t n_symbol;
    struct candidate *heap;
    size_t n_heap, cap_heap;
};
/* Append the ids of one piece; a piece_taker, `with` is a struct bpe. */
int bpe_piece(void *with, const char *piece, size_t n, struct fault *f);
void bpe_free(struct bpe *b);

/* -- encode.c --------------------------------------------------------------------- */

/* A stretch of a text; special tokens are recognised where it says so, and never
 * across a boundary of one where it doesn't. */
struct part {
    const char *text;
    size_t n;
    bool special;
};
int encode_parts(const struct tokenizer *t, const struct part *part, size_t n_parts,
                 struct ids *out, struct fault *f);

#endif
