/* bill.h - private: what a run's tokens and seconds went into, from its step files.
 *
 * analysis/bill.py computes and prints the same, to the digit: change both.
 */
#ifndef DAPO_CMD_BILL_H
#define DAPO_CMD_BILL_H

#include "dapo/inspect.h"

/* X(name, printed) - causes that the seconds of all ranks are billed to; they
 * add up to ranks times wall clock, from the first candidate to the last file.  A
 * replica's decode time is split over its slots: busy ones go to the fates of their
 * tokens, empty ones are idle. */
#define CAUSE_LIST(X)                            \
    X(TRAINED, "decode of trained")              \
    X(DEGENERATE, "decode of degenerate")        \
    X(SURPLUS, "decode of surplus")              \
    X(CANCELLED, "decode of cancelled")          \
    X(LOST, "decode of stale and failed")        \
    X(GOING_ON, "decode of what goes on")        \
    X(IDLE, "idle slots")                        \
    X(LAST, "waiting for the last group")        \
    X(TICKS, "ticks")                            \
    X(JUDGE, "judging")                          \
    X(LEARNER, "learner")                        \
    X(DELIVERY, "delivery")                      \
    X(PUBLISH, "publish")                        \
    X(FILES, "files")                            \
    X(EVAL, "evaluation")                        \
    X(LEARNERS_WAIT, "learners without a batch") \
    X(REPLICAS_WAIT, "replicas without a step")
enum cause {
#define X(name, text) CAUSE_##name,
    CAUSE_LIST(X)
#undef X
        CAUSE_COUNT
};
const char *cause_text(enum cause c);

struct bill_prompt {
    int64_t prompt, visits, trained; /* candidates; those trained */
    int64_t judged, correct; /* completions that ended by themselves; right ones */
    int64_t tokens, wasted;  /* generated; not trained */
};

struct bill {
    size_t n_steps;
    int64_t *steps;                 /* [n_steps] numbers */
    int64_t (*tokens)[FATE_COUNT];  /* [n_steps] */
    int64_t sum[FATE_COUNT], total; /* over the steps */
    int64_t candidates,
        effective; /* effective: complete, with right and wrong answers */
    size_t n_replicas;
    int64_t *replica_tokens; /* [n_replicas] */
    size_t n_prompts;
    struct bill_prompt *prompts; /* by wasted tokens, most first, then by prompt */
    /* Of steps that have the metrics; timed: all do. */
    bool timed;
    double seconds[CAUSE_COUNT], rank_seconds, wall; /* rank_seconds: their sum */
    double busiest; /* decode seconds of each step's busiest replica over the mean */
    int64_t ranks, learners, replicas; /* of the last step */
};

/* Read all step files of the run.  FAULT_DATA for one whose ledger isn't the sum of its
 * rows, or a run without any. */
int bill_read(struct bill *out, const char *dir, struct fault *f);
void bill_free(struct bill *b);

#endif
