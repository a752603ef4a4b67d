/* group.h - the thing that travels: one prompt and its G completions.
 *
 * Plain data.  Who fills which field is the table of stations in DESIGN section 1:
 * admission numbers it, rollout generates it, reward judges it, admission settles its
 * fate, the learner trains it, store records it.
 */
#ifndef DAPO_GROUP_H
#define DAPO_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include "dapo/fault.h"

/* X(name, printed) - why a completion ended.  Truncation comes from here, never from
 * looking at the last id (a stop id may sit exactly at the limit). */
#define FINISH_LIST(X)                                                     \
    X(NONE, "none")           /* still being decoded */                    \
    X(STOP, "stop")           /* a stop id was drawn; it is the last id */ \
    X(LENGTH, "length")       /* max_tokens reached without a stop id */   \
    X(CANCELLED, "cancelled") /* its candidate was cancelled or surplus */ \
    X(FAILED, "failed")       /* could not be generated */
enum finish {
#define X(name, text) FINISH_##name,
    FINISH_LIST(X)
#undef X
        FINISH_COUNT
};
const char *finish_text(enum finish f);
/* It ended of itself, so that there is something to judge: STOP or LENGTH. */
bool finish_complete(enum finish f);

/* X(name, printed) - what became of a candidate, and so of its tokens.  The ledger
 * bills every generated token to exactly one of these. */
#define FATE_LIST(X)                                                               \
    X(TRAINED, "trained")                                                          \
    X(ALL_CORRECT, "all_correct") /* complete, no signal: every member right */    \
    X(ALL_WRONG, "all_wrong")     /* complete, no signal: every member wrong */    \
    X(SURPLUS, "surplus")         /* complete, behind the last one needed */       \
    X(CANCELLED, "cancelled")     /* started, not complete, not needed any more */ \
    X(STALE, "stale")             /* too old to be trained on */                   \
    X(FAILED, "failed")           /* its generation failed */
enum fate {
#define X(name, text) FATE_##name,
    FATE_LIST(X)
#undef X
        FATE_COUNT
};
const char *fate_text(enum fate f);

/* X(name, printed) - what the grader says of an answer (reward.h); the numbers are in
 * step files.  Right are equal and equal-numeric. */
#define VERDICT_LIST(X)                                                            \
    X(NONE, "none")                   /* not judged: cancelled, failed */          \
    X(EQUAL, "equal")                 /* the gold answer */                        \
    X(EQUAL_NUMERIC, "equal-numeric") /* the same number to 1,000 digits */        \
    X(DIFFERENT, "different")         /* another answer */                         \
    X(UNKNOWN, "unknown")             /* not decided; the reward of a wrong one */ \
    X(NO_ANSWER, "no-answer")         /* none was found in the response */
enum verdict_kind {
#define X(name, text) VERDICT_##name,
    VERDICT_LIST(X)
#undef X
        VERDICT_COUNT
};
const char *verdict_text(enum verdict_kind v);

struct completion {
    int n_tokens;    /* generated tokens, the stop id included */
    int n_carried;   /* the first of these: generated in earlier steps than this one */
    int cap;         /* room in ids, logprobs and versions */
    int *ids;        /* [n_tokens] */
    float *logprobs; /* [n_tokens] nats, full vocabulary, at the training temperature */
    int *versions;   /* [n_tokens] the policy version that drew each token */
    int version;     /* the one that draws the next */
    enum finish finish;
    bool correct, answer_found;
    enum verdict_kind verdict;
    double raw_reward;     /* e.g. +1 / -1 */
    double length_penalty; /* <= 0 */
    double shaped_reward;  /* raw + penalty */
    double advantage;      /* learner; 0 for a group that is not trained */
    char *answer;          /* extracted answer, NUL-terminated; NULL if none */
    int64_t answer_offset; /* byte offset of the answer in the decoded text; -1 */
};

struct group {
    int64_t index;          /* candidate number within its step, in draw order */
    int64_t prompt;         /* row of the prompt file */
    int64_t policy_version; /* optimizer updates in the weights that began it; with
                               admission.surplus = resume later tokens may have been
                               drawn by newer ones: completion.versions */
    int64_t born_step;      /* the step that began it, whose number its draws are keyed
                               by; -1 before rollout_submit */
    int64_t born_index;     /* its candidate number there */
    int replica;            /* which replica generated it */
    enum fate fate;
    double started_s, finished_s; /* seconds since the step began */
    int n_prompt;
    int *prompt_ids;            /* [n_prompt] */
    int size;                   /* G */
    struct completion *members; /* [size] */
};

/* A group of `size` empty completions with a copy of the prompt; NULL with a fault. */
struct group *group_new(int64_t index, int64_t prompt, const int *prompt_ids,
                        int n_prompt, int size, struct fault *f);
void group_free(struct group *g);
/* Append one token, drawn by c->version.  0 or FAULT_SYSTEM. */
int completion_add(struct completion *c, int id, float logprob, struct fault *f);
/* Back to the first n_carried tokens, as the step began: a member that ended since is
 * unfinished again, without a verdict. */
void completion_rewind(struct completion *c);
/* Sum of n_tokens. */
int64_t group_tokens(const struct group *g);
/* Sum of n_carried. */
int64_t group_carried(const struct group *g);
/* Members with correct = true. */
int group_correct(const struct group *g);
/* Invariant 9: trainable iff 0 < correct < G as integers; the shaped reward has no
 * say (a length penalty must not rescue an all-wrong group). */
bool group_trainable(int n_correct, int size);

#endif
