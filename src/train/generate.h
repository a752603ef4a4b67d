/* generate.h - private: the generation phase of a step. */
#ifndef DAPO_TRAIN_GENERATE_H
#define DAPO_TRAIN_GENERATE_H

#include "train/session.h"

/* What everyone knows once a step has settled. */
struct settled {
    bool abandoned; /* the run was asked to stop: the step in flight is dropped */
    int64_t started, consumed;
    enum closed_by closed;
    int n_batch; /* trained groups, candidate order */
    int size;    /* G */
    int64_t ledger[FATE_COUNT];
    int64_t *batch;      /* [n_batch] candidate indices */
    int *fate, *replica; /* [started] */
    int *n_prompt;       /* [n_batch] */
    int *n_tokens;       /* [n_batch][size] lengths of the trained completions */
    int64_t ticks;
    double tick_seconds, seconds;
    struct group *
        *mine; /* [n_mine] this replica's groups, candidate order, with fate */
    int n_mine;
};
void settled_free(struct settled *r);

/* Generate and admit candidates until the step is settled. */
int generate_all(struct session *s, int64_t available, struct settled *out,
                 struct fault *f);

/* Set by signals (train_request_stop). */
bool stop_requested(void);

#endif
