/* test_rows.c - a row's bits do not depend on what it is computed with (invariants 4
 * and 5): the same sequences packed in any order, and decoded token by token through
 * pages shared by a group, give the same log-probs. */
#include <stdio.h>
#include <string.h>

#include "tiny.h"

enum { SEQS = 5, PROMPT = 21, LEN = 50, PAGES = 40, STRIDE = 4 };

/* Sequences 0..2 share their first PROMPT tokens; 3 is one token, 4 others. */
static int length_of(int s)
{
    static const int n[SEQS] = {50, 37, 22, 1, 49};

    return n[s];
}

static int token(int s, int i)
{
    int who = s < 3 && i < PROMPT ? 0 : s;

    return (i * i * 7 + i * 3 + who * 17 + 1) % 53;
}

/* logp[s][i]: of token i + 1 after token i; the last one of each sequence unused. */
struct result {
    float logp[SEQS][LEN];
};

static void train_pass(struct model *m, const int *order, int n_seq, struct result *out)
{
    int ids[SEQS * LEN], start[SEQS + 1] = {0}, at[SEQS * LEN], next[SEQS * LEN];
    float logp[SEQS * LEN];
    int rows = 0, n = 0;
    struct fault f = FAULT_INIT;

    for (int j = 0; j < n_seq; j++) {
        int s = order[j];

        for (int i = 0; i < length_of(s); i++, rows++) {
            ids[rows] = token(s, i);
            if (i + 1 < length_of(s)) {
                at[n] = rows;
                next[n++] = token(s, i + 1);
            }
        }
        start[j + 1] = rows;
    }
    CHECK_OK(model_forward(m, &(struct pack){rows, n_seq, ids, start}, &f), &f);
    CHECK_OK(model_head(m, at, next, n, 0.8f, logp, NULL, NULL, NULL, &f), &f);
    n = 0;
    for (int j = 0; j < n_seq; j++)
        for (int i = 0; i + 1 < length_of(order[j]); i++)
            out->logp[order[j]][i] = logp[n++];
}

/* Rows of one model_step call. */
struct batch {
    int n, ids[SEQS * LEN], seq[SEQS * LEN], pos[SEQS * LEN];
};

static void add_row(struct batch *b, int s, int i)
{
    b->ids[b->n] = token(s, i);
    b->seq[b->n] = s;
    b->pos[b->n++] = i;
}

/* `state` as in struct kv_map. */
static void run_batch(struct model *m, struct kv *kv, const int *first,
                      const int *state, const struct batch *b, struct result *out)
{
    struct attend_rows r = {b->n, b->seq, b->pos, {KV_PAGE, STRIDE, first, state}};
    int want[SEQS * LEN], next[SEQS * LEN], n = 0, vocab = model_cfg(m)->vocab;
    float *logits, logp[SEQS * LEN];
    struct fault f = FAULT_INIT;

    for (int i = 0; i < b->n; i++)
        if (b->pos[i] + 1 < length_of(b->seq[i])) {
            want[n] = i;
            next[n++] = token(b->seq[i], b->pos[i] + 1);
        }
    CHECK_OK(model_step(m, kv, b->ids, &r, want, n, &logits, &f), &f);
    if (n == 0)
        return;
    CHECK_OK(model_backend(m)->logprob(logp, NULL, NULL, logits, next, n,
                                       model_real_vocab(m), vocab, 0.8f, &f),
             &f);
    for (int i = 0; i < n; i++)
        out->logp[b->seq[want[i]]][b->pos[want[i]]] = logp[i];
}

/* Each member's rows side by side, each sequence starting at its own time. */
static void decode_all(struct model *m, struct kv *kv, const int *first,
                       struct result *out)
{
    for (int i = 0; i < LEN + SEQS; i++) {
        struct batch b = {0};

        for (int s = SEQS - 1; s >= 0; s--) {
            int pos = i - s + (s < 3 ? PROMPT : 0);

            if (i >= s && pos < length_of(s))
                add_row(&b, s, pos);
        }
        if (b.n)
            run_batch(m, kv, first, NULL, &b, out);
    }
}

/* The prompt of 0..2 but for its last token, in sequence 0 and a state of its own; then
 * each of the three starts from it with that token. */
static void share_prompt(struct model *m, struct kv *kv, const int *first, int chunk,
                         struct result *out)
{
    const int prompt = SEQS;
    struct fault f = FAULT_INIT;

    for (int i = 0; i < PROMPT - 1; i += chunk) {
        struct batch b = {0};

        for (int k = i; k < i + chunk && k < PROMPT - 1; k++)
            add_row(&b, 0, k);
        run_batch(m, kv, first, &prompt, &b, out);
    }
    for (int s = 0; s < 3; s++) {
        struct batch b = {0};

        if (s > 0)
            CHECK_OK(kv_copy(kv, first[s * STRIDE + 1] / KV_PAGE, first[1] / KV_PAGE,
                             (PROMPT - 1) % KV_PAGE, &f),
                     &f);
        if (model_n_linear(model_cfg(m)))
            CHECK_OK(kv_copy_state(kv, s, prompt, &f), &f);
        memcpy(out->logp[s], out->logp[0], (PROMPT - 1) * sizeof(float));
        add_row(&b, s, PROMPT - 1); /* the member's own first token */
        run_batch(m, kv, first, NULL, &b, out);
    }
}

/* The prompt prefilled once in chunks, then shared; all decoded together. */
static void decode_pass(struct model *m, int chunk, struct result *out)
{
    int first[SEQS * STRIDE], page = 0;
    struct fault f = FAULT_INIT;
    struct kv *kv = NULL;

    CHECK_OK(kv_new(&kv, m, PAGES, SEQS + 1, &f), &f);
    for (int i = 0; i < SEQS * STRIDE; i++) /* scattered over the cache */
        first[i] = page++ * 7 % PAGES * KV_PAGE;
    first[STRIDE] = first[2 * STRIDE] = first[0]; /* the prompt's full page */
    share_prompt(m, kv, first, chunk, out);
    decode_all(m, kv, first, out);
    kv_free(kv);
}

static void compare(const struct result *a, const struct result *b, const char *what)
{
    int differ = 0;

    for (int s = 0; s < SEQS; s++)
        for (int i = 0; i + 1 < length_of(s); i++)
            differ += memcmp(&a->logp[s][i], &b->logp[s][i], sizeof(float)) != 0;
    if (differ)
        fprintf(stderr, "%s: %d log-probs differ\n", what, differ);
    CHECK_INT(differ, 0);
}

static void same_bits(struct model *m)
{
    static const int orders[2][SEQS] = {{0, 1, 2, 3, 4}, {4, 2, 3, 0, 1}};
    struct result a = {0}, b = {0};

    train_pass(m, orders[0], SEQS, &a);
    train_pass(m, orders[1], SEQS, &b);
    compare(&a, &b, "another order");
    memset(&b, 0, sizeof b);
    for (int s = 0; s < SEQS; s++)
        train_pass(m, &s, 1, &b);
    compare(&a, &b, "one by one");
    for (int chunk = 1; chunk <= PROMPT; chunk += 4) {
        memset(&b, 0, sizeof b);
        decode_pass(m, chunk, &b);
        compare(&a, &b, "decoded");
    }
    model_free(m);
}

static void on_backend(const struct backend *be, bool adapter)
{
    for (int i = 0; i < 2 * (ARCH_QWEN35 + 1); i++) {
        struct model *m =
            tiny_model((enum arch)(i / 2), be, i % 2 ? COMPUTE_BF16 : COMPUTE_F32, 53);

        if (adapter)
            tiny_adapter(m, "all");
        same_bits(m);
    }
}

static void invariants_4_and_5_cpu(void)
{
    on_backend(&backend_cpu, false);
}

static void invariants_4_and_5_ref(void)
{
    on_backend(&backend_ref, false);
}

static void invariants_4_and_5_with_an_adapter(void)
{
    on_backend(&backend_cpu, true);
}

/* A state is of one position; used at another it would silently give other numbers. */
static void states_go_on_where_they_are(void)
{
    struct model *m = tiny_model(ARCH_QWEN35, &backend_cpu, COMPUTE_F32, 53);
    int first[4] = {0, KV_PAGE, 2 * KV_PAGE, 3 * KV_PAGE}, id = 1, seq = 0, pos = 0;
    int state = 1;
    struct attend_rows r = {1, &seq, &pos, {KV_PAGE, 4, first, &state}};
    struct fault f = FAULT_INIT;
    struct kv *kv = NULL;
    float *logits;

    CHECK_INT(kv_new(&kv, m, 4, 0, &f), FAULT_CONFIG);
    CHECK_OK(kv_new(&kv, m, 4, 2, &f), &f);
    for (; pos < 3; pos++)
        CHECK_OK(model_step(m, kv, &id, &r, NULL, 0, &logits, &f), &f);
    for (pos = 1; pos < 5; pos++)
        if (pos != 3)
            CHECK_INT(model_step(m, kv, &id, &r, NULL, 0, &logits, &f), FAULT_BUG);
    CHECK(strstr(f.text, "position 4 of sequence 0 can't go on") != NULL);
    pos = 3;
    state = 2;
    CHECK_INT(model_step(m, kv, &id, &r, NULL, 0, &logits, &f), FAULT_BUG);
    CHECK_INT(kv_copy_state(kv, 0, 0, &f), FAULT_BUG);
    CHECK_INT(kv_copy_state(kv, 2, 1, &f), FAULT_BUG);
    CHECK_OK(kv_copy_state(kv, 0, 1, &f), &f);
    state = 0;
    CHECK_OK(model_step(m, kv, &id, &r, NULL, 0, &logits, &f), &f);
    pos = 0; /* anew */
    CHECK_OK(model_step(m, kv, &id, &r, NULL, 0, &logits, &f), &f);
    kv_free(kv);
    model_free(m);
}

/* Counted by hand: 2 x 3 pages x 16 x 20 of one layer; 5 states of 3 x 32 inputs and
 * 4 x 5 x 3 values each of two layers.  The largest keys that a configuration may have
 * are over 64 bits, which once around would be a small number; so would be states that
 * only model_config_derive keeps from being that large. */
static void bytes_of_a_cache(void)
{
    struct model_config c = tiny_config(ARCH_QWEN35);

    CHECK_INT(kv_bytes(&c, 3, 5), 4 * (1920 + 2 * 5 * (96 + 60)));
    c.layers = 4096;
    c.kv_heads = 1024;
    c.head_dim = 4096;
    CHECK(kv_bytes(&c, 1 << 26, 1) == SIZE_MAX);
    for (int l = 0; l < c.layers; l++)
        model_set_linear(&c, l);
    c.delta = (struct delta_heads){1, 1024, 1024, 1024};
    CHECK(kv_bytes(&c, 1, 1 << 22) == SIZE_MAX);
}

CASES(CASE(states_go_on_where_they_are), CASE(bytes_of_a_cache),
      CASE(invariants_4_and_5_cpu), CASE(invariants_4_and_5_ref),
      CASE(invariants_4_and_5_with_an_adapter));
