/* carry.h - private: what a step leaves to the next one besides weights and cursor.
 *
 * With admission.surplus = resume the groups behind the last decided one go on: they
 * stay on their replica and keep their tokens.  The root knows of each what admission
 * and the delivery need; what it knows of prompts' earlier visits is here too.
 *
 * All of it is as the running step began: a step that is dropped leaves no trace.
 */
#ifndef DAPO_TRAIN_CARRY_H
#define DAPO_TRAIN_CARRY_H

#include "train/generate.h"

/* A candidate as the root knows it. */
struct member {
    int n_tokens;
    bool ended, correct;
    bool told; /* admission has heard of it */
};
struct candidate {
    int replica, n_prompt;
    int64_t prompt;        /* its place in the kept prompts */
    struct member *member; /* [G] */
};

/* Admission's state after a settled step. */
struct past {
    int64_t step;
    double *state; /* [n_state] */
    int n_state;
};
/* A prompt whose history a step changed, and what it was before. */
struct visit {
    int64_t prompt;
    unsigned char was;
};

struct carry {
    int size; /* G */
    /* root */
    unsigned char *history; /* [n_prompts] enum history, by place in the kept prompts */
    int64_t n_prompts;
    struct candidate *all; /* [n_all] in candidate order */
    int n_all;
    struct past now, before; /* the last settled step, and the one before it */
    struct visit *visits;    /* [n_visits] what the last settled step changed */
    int n_visits;
    /* replicas */
    struct group **mine; /* [n_mine] candidate order; the first n_lent of them are the
                            generator's while a step runs */
    int n_mine, n_lent;
};

/* Nothing is carried and nothing known.  Local; the root has its admission by now. */
int carry_new(struct carry **out, const struct session *s, struct fault *f);
void carry_free(struct carry *c);

int candidate_copy(struct candidate *to, const struct candidate *from, int size,
                   struct fault *f);
/* Root: take admission's state down as that after `step`. */
int carry_note(struct carry *c, const struct session *s, int64_t step, struct fault *f);
/* Root: admission's state for the checkpoint of step s->step, which may be the one
 * before the last settled. */
const struct past *carry_past(const struct session *s);
/* Root, of a settled step and all its candidates: copies of those that go on replace
 * those of the step before, the visits of those that decided the batch are noted, and
 * admission's state is taken down. */
int carry_leave(struct carry *c, const struct session *s, const struct candidate *all,
                const struct settled *r, struct fault *f);

/* Replica: those groups of r->mine that go on leave it, numbered for the next step; of
 * a dropped step, those it began with return as they were. */
int carry_keep(struct session *s, struct settled *r, struct fault *f);

/* What a checkpoint holds of it: parcel 0 is the root's, parcel 1 + i carried group i.
 * This rank's, to be freed after a fault too. */
int carry_pack(const struct session *s, struct parcel **out, int *n, struct fault *f);
void parcels_free(struct parcel *p, int n);
/* Every rank reads parcel 0 first; then it knows which groups it is to take over: with
 * as many replicas as before each its own, else group i goes to replica i mod R.
 * `n_parcels` are in the file.  FAULT_DATA for bytes that don't make sense. */
int carry_unpack_root(struct session *s, const struct parcel *p, int64_t n_parcels,
                      struct fault *f);
/* The numbers of the parcels this rank wants: want[*n], room for n_parcels. */
void carry_wanted(const struct session *s, struct parcel *want, int *n);
int carry_unpack(struct session *s, const struct parcel *p, int n, struct fault *f);

#endif
