/* drive.h - a tiny model, groups for it, and a generator without any cleverness. */
#ifndef DAPO_TEST_DRIVE_H
#define DAPO_TEST_DRIVE_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/mem.h"
#include "dapo/rollout.h"
#include "unit/model/tiny.h"

/* Ids 50..60 of the tiny model's 61 are padding. */
enum { REAL_VOCAB = 50 };

static const int drive_stop[] = {7, 12};

static inline struct model *drive_model_of(enum arch arch)
{
    const struct backend *be = NULL;
    struct fault f = FAULT_INIT;

    CHECK_OK(backend_find(&be, "cpu", &f), &f);
    return tiny_model(arch, be, COMPUTE_F32, REAL_VOCAB);
}

static inline struct model *drive_model(void)
{
    return drive_model_of(ARCH_QWEN2);
}

/* A test for a model that has only a cache of keys and values, and for one that has
 * states of linear attention, too. */
static inline void drive_both(void (*test)(enum arch))
{
    test(ARCH_QWEN2);
    test(ARCH_QWEN35);
}

static inline struct rollout_config drive_config(int slots)
{
    return (struct rollout_config){.slots = slots,
                                   .max_prompt = 40,
                                   .max_tokens = 24,
                                   .prefill_chunk = 16,
                                   .sampling = {0.9f, 30, 0.95f},
                                   .train_temperature = 1.0f,
                                   .n_stop =
                                       (int)(sizeof drive_stop / sizeof drive_stop[0]),
                                   .stop = drive_stop,
                                   .seed = 11,
                                   .use = RANDOM_SAMPLE};
}

static inline struct rollout *drive_new(struct model *m, const struct rollout_config *c)
{
    struct fault f = FAULT_INIT;
    struct rollout *r = NULL;

    CHECK_OK(rollout_new(&r, m, c, &f), &f);
    return r;
}

/* A slice of `n` iterations; *done may be NULL.  False on a fault, after which nothing
 * moves on: a loop that waits for something ends there. */
static inline bool drive_slice(struct rollout *r, int n, bool until_finish, int *done)
{
    struct fault f = FAULT_INIT;
    int rc = rollout_slice(r, n, until_finish, done, &f);

    CHECK_OK(rc, &f);
    return !rc;
}

/* Run to the end in slices of `n` iterations; no case needs nearly as many as these. */
static inline void drive_end(struct rollout *r, int n)
{
    for (int i = 0; rollout_busy(r) > 0 && i < 10000; i += n)
        if (!drive_slice(r, n, false, NULL))
            break;
    CHECK_INT(rollout_busy(r), 0);
}

/* Decode to the end and hand the only group back. */
static inline void drive(struct model *m, const struct rollout_config *c,
                         struct group *g)
{
    struct rollout *r = drive_new(m, c);
    struct fault f = FAULT_INIT;
    int64_t index = g->index;

    CHECK_OK(rollout_submit(r, g, &f), &f);
    drive_end(r, 64);
    CHECK(rollout_take(r, index) == g);
    rollout_free(r);
}

static inline struct group *drive_group(int index, int n_prompt, int size)
{
    struct fault f = FAULT_INIT;
    int ids[64];

    for (int i = 0; i < n_prompt; i++)
        ids[i] = (3 + 5 * index + 7 * i + i * i) % REAL_VOCAB;
    return group_new(index, 100 + index, ids, n_prompt, size, &f);
}

/* One forward over a whole sequence in an empty cache, and a draw after its last
 * token; -1 on a fault. */
static inline int drive_token(struct model *m, struct kv *kv, const int *ids, int n,
                              const struct rollout_config *c, float u, float *logp,
                              struct fault *f)
{
    int seq[128] = {0}, pos[128], first[8], out = n - 1, id = -1, rc;
    struct attend_rows rows = {n, seq, pos, {KV_PAGE, 8, first, NULL}};
    float *logits;

    for (int i = 0; i < n; i++)
        pos[i] = i;
    for (int k = 0; k < 8; k++)
        first[k] = k * KV_PAGE;
    rc = model_step(m, kv, ids, &rows, &out, 1, &logits, f);
    if (!rc)
        rc = model_backend(m)->sample(&id, logp, logits, &u, 1, model_real_vocab(m),
                                      model_cfg(m)->vocab, &c->sampling,
                                      c->train_temperature, f);
    CHECK_OK(rc, f);
    return rc ? -1 : id;
}

/* Fill a group's members one by one, from the tokens they have, each token from a fresh
 * forward of all before. */
static inline void drive_plainly(struct model *m, const struct rollout_config *c,
                                 int64_t step, struct group *g)
{
    struct fault f = FAULT_INIT;
    struct kv *kv = NULL;
    int ids[128];

    CHECK_OK(kv_new(&kv, m, 8, 1, &f), &f);
    memcpy(ids, g->prompt_ids, (size_t)g->n_prompt * sizeof *ids);
    for (int k = 0; k < g->size; k++) {
        struct completion *o = &g->members[k];

        for (int t = 0; t < o->n_tokens; t++)
            ids[g->n_prompt + t] = o->ids[t];
        while (o->finish == FINISH_NONE) {
            float logp = 0, u = random_uniform(c->seed, c->use, (uint32_t)step,
                                               (uint32_t)g->index, (uint32_t)k,
                                               (uint32_t)o->n_tokens);
            int n = g->n_prompt + o->n_tokens;
            int id = drive_token(m, kv, ids, n, c, u, &logp, &f);

            if (id < 0)
                break;
            ids[n] = id;
            CHECK_OK(completion_add(o, id, logp, &f), &f);
            if (o->n_tokens == c->max_tokens)
                o->finish = FINISH_LENGTH;
            for (int i = 0; i < c->n_stop; i++)
                if (id == c->stop[i])
                    o->finish = FINISH_STOP;
        }
    }
    kv_free(kv);
}

/* The first `n` tokens and log-probs are the same bits. */
static inline bool same_tokens(const struct completion *a, const struct completion *b,
                               int n)
{
    size_t bytes = (size_t)n * sizeof(int);

    return n == 0 ||
           (a->n_tokens >= n && b->n_tokens >= n && !memcmp(a->ids, b->ids, bytes) &&
            !memcmp(a->logprobs, b->logprobs, bytes));
}

static inline bool same_group(const struct group *a, const struct group *b)
{
    bool same = a->size == b->size;

    for (int k = 0; same && k < a->size; k++) {
        const struct completion *p = &a->members[k], *q = &b->members[k];

        same = p->finish == q->finish && p->n_tokens == q->n_tokens &&
               same_tokens(p, q, p->n_tokens);
    }
    return same;
}

#endif
