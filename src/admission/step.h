/* step.h - private: what admission.c decides on and ledger.c reads. */
#ifndef DAPO_ADMISSION_STEP_H
#define DAPO_ADMISSION_STEP_H

#include "admission/odds.h"
#include "dapo/admission.h"

struct candidate {
    int finished; /* members with a verdict */
    int correct;  /* of these */
    int reported; /* members accounted for: finished or cut */
    int64_t tokens;
    bool failed;
    bool named; /* by admission_cancel */
};

/* Candidates [0, live) count: they are resolved or their verdicts are awaited.  Those
 * in [live, started) are cut: behind the B-th known trainable one.  A failure among the
 * live may make the first of the cut count again, so they keep their state. */
struct admission {
    struct admission_config c;
    struct estimate estimate;
    struct candidate *candidates; /* [max_candidates] */
    bool *reported;               /* [max_candidates][size] */
    unsigned char *correct;       /* [max_candidates][size] */
    int64_t *tokens;              /* [max_candidates][size] */
    int64_t *batch;               /* [groups] */
    int64_t *undecided;           /* [size] live ones by finished verdicts, all equal */
    /* the step */
    enum closed_by closed;
    enum closed_by short_by; /* why it closes when `limit` are resolved */
    int64_t limit;           /* candidates this step may have */
    int64_t started, live;
    int64_t known;     /* live ones known to be trainable */
    int64_t resolved;  /* the longest prefix of resolved candidates ... */
    int64_t trainable; /* ... and how many of these can be trained */
    int64_t wave;      /* WAVES: end of the current wave */
    int64_t unnamed;   /* no candidate before it is still to be named by cancel */
    int64_t awaited;   /* members not accounted for */
    int64_t restarted; /* tokens of cut attempts that were started again */
    int n_batch;
};

/* Known trainable: two finished verdicts differ. */
bool candidate_known(const struct candidate *c);
/* All `size` verdicts are in. */
bool candidate_complete(const struct candidate *c, int size);
/* Complete, and to be trained if its turn comes. */
bool candidate_trains(const struct admission *a, const struct candidate *c);

#endif
