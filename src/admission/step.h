/* step.h - private: the open step, what its events lead to, and who reads it. */
#ifndef DAPO_ADMISSION_STEP_H
#define DAPO_ADMISSION_STEP_H

#include <stddef.h>

#include "admission/estimate.h"
#include "dapo/admission.h"

struct member {
    int32_t tokens;
    bool reported; /* finished or cut */
    bool finished; /* it has a verdict: */
    bool correct;
};

struct candidate {
    int finished; /* members with a verdict */
    int correct;  /* of these */
    int reported; /* members accounted for: finished or cut */
    int age;      /* steps it was carried over */
    int64_t tokens;
    enum history history;
    bool failed;
    bool stale;   /* carried over max_age */
    bool named;   /* by admission_cancel */
    bool trained; /* of a closed step */
};

/* Candidates [0, live) count: they are resolved or their verdicts are awaited.  Those
 * in [live, started) are cut: no outcome of those before them lets them decide.  A
 * failure among the live may make the first of the cut count again, so they keep their
 * state. */
struct admission {
    struct admission_config c;
    struct estimate estimate;
    bool cuts;                    /* candidates may be cut before the step closes */
    bool whole_rounds;            /* the step closes at the end of a round only */
    struct candidate *candidates; /* [max_candidates]; unbounded: grows */
    struct member *members;       /* [max_candidates][size] */
    size_t room, room_members;    /* of these two arrays */
    int64_t *batch;               /* [groups] */
    int64_t *undecided;     /* [HISTORY_COUNT][size] live ones without a verdict that
                               differs from another, by finished verdicts */
    unsigned char *correct; /* [size] scratch: one group, for the estimates */
    int64_t *tokens;        /* [size] */
    struct fault fault;     /* no memory to launch another */
    /* the step */
    enum closed_by closed;
    enum closed_by decided;  /* why it closes, at the end of its round */
    enum closed_by short_by; /* why it closes when `limit` are resolved */
    int64_t limit;           /* candidates this step may have */
    int64_t started, live;
    int64_t wave;      /* end of the current wave or round */
    int64_t unnamed;   /* no candidate before it is still to be named by cancel */
    int64_t awaited;   /* members not accounted for */
    int64_t restarted; /* tokens of cut attempts that were started again */
    int64_t carried;   /* tokens that came with carried candidates */
    /* of the live candidates: */
    int64_t known;    /* known to be trainable */
    int64_t done;     /* resolved */
    int64_t spent;    /* tokens of finished members */
    int64_t to_train; /* of these in groups known to be trainable */
    double needed;    /* P(another is needed); < 0: to be computed */
    /* what is decided: */
    int64_t resolved;    /* order = candidate: the longest resolved prefix */
    int64_t trainable;   /* groups in the batch ... */
    int64_t taken;       /* ... tokens of the candidates that were decided ... */
    int64_t taken_train; /* ... and of the batch */
    int64_t consumed;
};

/* It can't be trained any more, whatever its members give. */
static inline bool candidate_lost(const struct candidate *c)
{
    return c->failed || c->stale;
}
/* Known trainable: two finished verdicts differ. */
bool candidate_known(const struct candidate *c);
/* All `size` verdicts are in, and count. */
bool candidate_complete(const struct candidate *c, int size);
/* Complete, and to be trained if its turn comes. */
bool candidate_trains(const struct admission *a, const struct candidate *c);
/* Does it go on in the next step?  Of a closed step only. */
bool candidate_goes_on(const struct admission *a, int64_t index);

/* Room for n candidates.  0 or FAULT_SYSTEM. */
int step_reserve(struct admission *a, int64_t n, struct fault *f);
/* Count a live candidate in (+1) or out (-1); wrap each change to one in these. */
void step_count(struct admission *a, const struct candidate *c, int sign);
/* Draw the consequences of what changed, up to closing the step. */
void step_advance(struct admission *a);
/* The live candidate `index` is complete: with order = completion its turn is now. */
void step_completed(struct admission *a, int64_t index);
/* Close it: note the batch, and learn from the candidates that decided it. */
void step_close(struct admission *a, enum closed_by why);
/* Trainable groups aimed at: B, or 2B so that the next step finds some (resume). */
int64_t step_target(const struct admission *a);
/* No further candidate can be needed as things stand. */
bool step_enough(const struct admission *a);

static inline struct member *step_members(const struct admission *a, int64_t index)
{
    return a->members + (size_t)index * (size_t)a->c.size;
}

#endif
