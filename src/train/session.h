/* session.h - private: what a rank holds open for the length of a job. */
#ifndef DAPO_TRAIN_SESSION_H
#define DAPO_TRAIN_SESSION_H

#include "dapo/admission.h"
#include "dapo/comm.h"
#include "dapo/config.h"
#include "dapo/data.h"
#include "dapo/group.h"
#include "dapo/inject.h"
#include "dapo/learner.h"
#include "dapo/model.h"
#include "dapo/pulse.h"
#include "dapo/reward.h"
#include "dapo/rollout.h"
#include "dapo/store.h"
#include "dapo/text.h"
#include "dapo/watch.h"

enum metric_id {
#define M(id, name, unit, text) METRIC_##id,
#include "train/metrics.def"
#undef M
    METRIC_COUNT
};

/* Prompts that fit, of one file. */
struct prompt_set {
    struct prompts file;
    int64_t *kept; /* [n] rows not longer than prompt.max_tokens, in file order */
    int64_t n, too_long;
    int64_t bad_gold; /* answers that the grader does not take for right */
};

struct carry; /* train/carry.h */

/* Whom the learner's reductions are among. */
struct among {
    struct comm *comm;
    enum scope scope;
};

/* A step as its generation sees it: with train.max_staleness = 1 that is one ahead of
 * the step being trained. */
struct drawing {
    int64_t step, cursor; /* its number; prompts drawn for good before it */
    double since;         /* clock when it began */
};

struct session {
    struct comm *comm;
    const struct config *cfg;
    const struct backend *backend;
    struct model *model;
    struct tokenizer *tok;
    struct judge *judge;
    struct prompt_set train, eval;
    struct order *order;
    struct rollout *generator;   /* generating ranks */
    struct rollout *evaluator;   /* generating ranks, made at the first evaluation */
    struct learner *learner;     /* learning ranks */
    struct model *reference;     /* learning ranks, with KL */
    struct admission *admission; /* root */
    struct carry *carry;         /* what the last step left; of a training job */
    struct store *store;
    struct watch *watch;
    int stop_why;        /* enum stop_why */
    double save_seconds; /* root: of the last save, or an estimate */
    double tail_seconds; /* root: of the last step after its generation */
    int64_t *poison;     /* root: [n_poison] rows set aside */
    int n_poison;
    size_t poison_cap;
    struct identity identity;
    struct among learners;        /* who learns: SCOPE_LEARNERS; sft: the world */
    struct learner_reduce reduce; /* its ctx is the session's `learners` */
    int64_t step, cursor;         /* steps done; prompts drawn for good */
    int64_t updates;              /* policy version: updates in the weights */
    int64_t published;            /* updates in the weights that generate */
    struct drawing drawing;       /* the step being generated */
    /* train.max_staleness = 1.  A checkpoint of step k holds what step k + 1 is
     * generated from: the weights of before step k's updates. */
    float *previous;          /* learners: [model_n_params] the weights ... */
    int64_t previous_updates; /* ... and the updates in them */
    double metrics[METRIC_COUNT];
    double started;  /* clock when the step began */
    bool short_stop; /* a short batch ends the run (admission.on_short_batch = stop) */
    bool saved;      /* this job has written a checkpoint */
    double files;    /* seconds that writing took since the last step file's metrics */
};

/* Open what every job needs: backend, tokenizer, model.  Local; the caller agrees. */
int session_open(struct session *s, struct comm *c, const struct config *cfg,
                 struct fault *f);
void session_close(struct session *s);

/* A phase of the step that all ranks enter together: the watchdog hears of it, a test
 * may ask for a failure.  Generating and learning begin by themselves. */
/* session_enter: one that begins with local work, which all then agree on. */
int session_enter(struct session *s, enum phase p, enum inject_point i,
                  struct fault *f);
int session_enter_all(struct session *s, enum phase p, enum inject_point i,
                      struct fault *f);

/* Read a prompt file and leave out what is too long. */
int prompt_set_read(struct prompt_set *p, const struct session *s, const char *path,
                    struct fault *f);
void prompt_set_free(struct prompt_set *p);
/* Judge every answer of the set against itself (judge_gold) and do as data.on_bad_gold
 * says with those that fail: the same on every rank. */
int prompt_set_judge(struct prompt_set *p, const struct session *s, const char *path,
                     struct fault *f);
/* Ids of a row's prompt, appended to *out. */
int prompt_ids(const struct session *s, const struct prompt *p, struct ids *out,
               struct fault *f);

/* A generator as the job file says, for training or for evaluation. */
int session_generator(struct session *s, enum random_use use, struct rollout **out,
                      struct fault *f);
/* Decode and judge one finished completion: text, verdict, rewards. */
int session_judge(const struct session *s, struct completion *m, const char *gold,
                  struct fault *f);
/* Groups may be generated across steps (admission.surplus = resume). */
bool session_spans(const struct session *s);
/* Fill s->identity (needs train prompts). */
int session_identify(struct session *s, struct fault *f);

#endif
