/* text.h - byte-level BPE from tokenizer.json, chat templates, incremental UTF-8.
 *
 * Exact against the Hugging Face `tokenizers` library for Qwen2.5/Qwen3-style files:
 * NFC normaliser, Split pre-tokenizer by regular expression (PCRE2, Unicode),
 * byte-level alphabet, ranked merges (as "a b" strings or ["a","b"] arrays), added
 * tokens.  Files and texts are untrusted bytes.
 *
 * Also read: GPT-2's ByteLevel expression, several Splits in a row, ignore_merges
 * (Llama 3).  Refused by name: other models, normalisers, pre-tokenizers and decoders,
 * byte_fallback, dropout, add_prefix_space, added tokens with lstrip, rstrip or
 * single_word.  What is a letter is PCRE2's to say: a script that its Unicode version
 * doesn't know yet (10.42: after Unicode 14) may be cut elsewhere.
 */
#ifndef DAPO_TEXT_H
#define DAPO_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include "dapo/fault.h"
#include "dapo/mem.h"

struct tokenizer; /* opaque, immutable after opening */

/* Read `dir`/tokenizer.json, or the file itself if `dir` names one.  FAULT_FILE,
 * FAULT_DATA (malformed, unsupported model, normaliser or pre-tokenizer: by name). */
int tokenizer_open(struct tokenizer **out, const char *dir, struct fault *f);
void tokenizer_free(struct tokenizer *t);
/* Largest id + 1, added tokens included. */
int tokenizer_size(const struct tokenizer *t);
/* XXH3 over everything that decides ids; for identities in files. */
unsigned long long tokenizer_hash(const struct tokenizer *t);
/* Id of an added token or vocabulary entry given by its exact text (" the", not the
 * file's "\u0120the"); -1 if none. */
int tokenizer_id(const struct tokenizer *t, const char *text);

struct ids {
    int *id;
    size_t n, cap;
};
void ids_free(struct ids *v);
int ids_add(struct ids *v, int id, struct fault *f);

/* Append the ids of text[n].  `special`: whether added tokens with special = true are
 * recognised in it (true for templates and for agreement with Hugging Face's default;
 * false for user text, where "<|im_end|>" is so many characters).  Invalid UTF-8 is
 * replaced by U+FFFD, as Python's decode(errors="replace") does.  No post-processor
 * runs: as encode(add_special_tokens=False).  FAULT_DATA, and nothing appended, on what
 * would take unreasonable time (a run of over 1024 combining marks, an expression of
 * the file that backtracks without end). */
int tokenizer_encode(const struct tokenizer *t, const char *text, size_t n,
                     bool special, struct ids *out, struct fault *f);
/* Append the bytes of ids[n], whether or not they are UTF-8; special added tokens are
 * left out if `skip_special`.  FAULT_DATA, and nothing appended, on an id out of range;
 * a hole in the vocabulary is empty. */
int tokenizer_decode(const struct tokenizer *t, const int *ids, size_t n,
                     bool skip_special, struct bytes *out, struct fault *f);

/* Incremental decoding: bytes that do not yet end a UTF-8 character stay behind; what
 * can't become one comes out as U+FFFD, so the output is always UTF-8. */
struct decoder {
    const struct tokenizer *t;
    bool skip_special;
    unsigned char held[4];
    int n_held;
};
void decoder_start(struct decoder *d, const struct tokenizer *t, bool skip_special);
/* Append what id completes to *out. */
int decoder_add(struct decoder *d, int id, struct bytes *out, struct fault *f);
/* Append U+FFFD for what was left behind. */
int decoder_end(struct decoder *d, struct bytes *out, struct fault *f);

/* Make a byte-level BPE tokenizer and write it to `out_path` as a tokenizer.json in
 * Qwen2's form (NFC, Qwen2's regular expression with single digits): 256 bytes, merges
 * until `vocab` - `n_special` tokens are there or no pair is left, then the special
 * tokens under the next ids.  Deterministic; the same merges as the tokenizers
 * library's BpeTrainer.  Every merge passes over all distinct words: meant for small
 * vocabularies.  FAULT_CONFIG if vocab - n_special < 256 or a special token is empty or
 * given twice. */
int tokenizer_train(const char *const *texts, size_t n, int vocab,
                    const char *const *special, int n_special, const char *out_path,
                    struct fault *f);

/* -- chat templates ---------------------------------------------------------------- */

/* X(name, printed) - order of prompt.template's choices. */
#define CHAT_LIST(X)                                                                  \
    X(PLAIN, "plain")                 /* the user text itself */                      \
    X(QWEN25, "qwen2.5")              /* ChatML with Qwen2.5's default system text */ \
    X(QWEN3, "qwen3")                 /* ChatML, thinking on */                       \
    X(QWEN3_NOTHINK, "qwen3-nothink") /* ChatML, empty think block */                 \
    X(CUSTOM, "custom")               /* prompt.custom, {system} and {user} */
enum chat {
#define X(name, text) CHAT_##name,
    CHAT_LIST(X) CHAT_COUNT
#undef X
};

/* Append the ids of a prompt: system text (NULL or "" = the template's own) and user
 * text, generation prompt added.  `custom` (CHAT_CUSTOM only) has the escapes \n, \t,
 * \\ already resolved; text around {system} and {user} is encoded with special tokens,
 * the texts put in for them without.  Otherwise the ids are those of the rendered
 * string as a whole; no added token is found across the edge of a text put in.
 *
 * Qwen2.5's own system text is that of the Instruct models; the base models' is "You
 * are a helpful assistant.".  FAULT_CONFIG if a custom template has no {user}, or there
 * is a system text and no place for it (plain; custom without {system}). */
int chat_encode(const struct tokenizer *t, enum chat kind, const char *custom,
                const char *system, const char *user, struct ids *out, struct fault *f);
/* The same as bytes, for people and tests. */
int chat_render(enum chat kind, const char *custom, const char *system,
                const char *user, struct bytes *out, struct fault *f);

#endif
