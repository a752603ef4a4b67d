/* batch.h - an update's worth of uneven completions for the tiny models. */
#ifndef DAPO_TEST_BATCH_H
#define DAPO_TEST_BATCH_H

#include "dapo/learner.h"
#include "dapo/random.h"

enum { BATCH = 11, BATCH_MOST = 24 };

struct batch {
    struct sequence seq[BATCH];
    int prompt[BATCH][BATCH_MOST], ids[BATCH][BATCH_MOST];
    float old_logp[BATCH][BATCH_MOST], ref_logp[BATCH][BATCH_MOST];
    float prox_logp[BATCH][BATCH_MOST];
};

/* Prompts of 1 to 6 tokens, completions of 1 to 18, advantages of both signs; stored
 * log-probs around -4, where a random model's are, so that ratios scatter. */
static inline void batch_make(struct batch *b, int vocab)
{
    for (int i = 0; i < BATCH; i++) {
        uint32_t k = (uint32_t)i;
        struct sequence *s = &b->seq[i];

        *s = (struct sequence){.prompt = b->prompt[i],
                               .ids = b->ids[i],
                               .old_logp = b->old_logp[i],
                               .ref_logp = b->ref_logp[i],
                               .order = i,
                               .truncated = i % 4 == 2};
        s->n_prompt = 1 + (int)random_below(6, 3, RANDOM_TEST, k, 0, 0, 0);
        s->n = 1 + (int)random_below(18, 3, RANDOM_TEST, k, 1, 0, 0);
        s->advantage = random_normal(3, RANDOM_TEST, k, 2, 0, 0);
        for (uint32_t t = 0; t < BATCH_MOST; t++) {
            b->prompt[i][t] =
                (int)random_below((uint64_t)vocab, 3, RANDOM_TEST, k, 3, t, 0);
            b->ids[i][t] =
                (int)random_below((uint64_t)vocab, 3, RANDOM_TEST, k, 4, t, 0);
            b->old_logp[i][t] = (float)(-4 + random_normal(3, RANDOM_TEST, k, 5, t, 0));
            b->ref_logp[i][t] = (float)(-4 + random_normal(3, RANDOM_TEST, k, 6, t, 0));
        }
    }
}

static const struct loss_config batch_loss = {.clip_low = .2,
                                              .clip_high = .28,
                                              .dual_clip = 3,
                                              .kl_coef = .1,
                                              .temperature = .9f};
static const struct optimizer_config batch_optimizer = {.lr = 1e-3,
                                                        .beta1 = .9,
                                                        .beta2 = .95,
                                                        .eps = 1e-8,
                                                        .weight_decay = .1,
                                                        .grad_clip = 1,
                                                        .warmup_updates = 4};

#endif
