/* learner_private.h - what the learner's sources share. */
#ifndef DAPO_LEARNER_PRIVATE_H
#define DAPO_LEARNER_PRIVATE_H

#include "dapo/learner.h"

/* -- packing: sequences into microbatches ------------------------------------------ */

/* The sequences of this rank's share in the order they are packed, and room for one
 * microbatch of them, reused from one to the next. */
struct packer {
    const struct sequence **list; /* [n], by `order` */
    int n;
    /* the microbatch of packer_fill: list[first .. first + n_seq - 1] */
    int first, n_seq, rows, n_out; /* n_out: completion tokens */
    int *ids;                      /* [rows] */
    int *start;                    /* [n_seq + 1], first row of each sequence */
    int *at, *targets;             /* [n_out] row that predicts, id that is predicted */
    int *of, *nth;                 /* [n_out] sequence (from 0), token within it */
    float *logp, *entropy;         /* [n_out] */
    size_t list_cap, ids_cap, start_cap, out_cap[6];
};

/* Take over seq[n], without the truncated ones if `whole_only`. */
int packer_take(struct packer *p, const struct sequence *seq, int n, bool whole_only,
                struct fault *f);
/* The microbatch that begins with list[first]: whole sequences while they fit into
 * `most` rows, one at least.  Returns the first index behind it. */
int packer_cut(const struct packer *p, int first, int most);
/* Lay out list[first .. end - 1] one after another without padding. */
int packer_fill(struct packer *p, int first, int end, struct fault *f);
struct pack packer_view(const struct packer *p);
void packer_free(struct packer *p);

/* -- the reduction ----------------------------------------------------------------- */

struct counts { /* after mask_truncated */
    double tokens, sequences;
};

/* The factor of one token's loss in the update's: `all` counts the update over all
 * learners, `part` the token's microbatch; the completion has n tokens. */
double reduction_weight(enum reduction r, const struct counts *all,
                        const struct counts *part, int n);

/* -- the gradient ------------------------------------------------------------------ */

enum objective { OBJECTIVE_POLICY, OBJECTIVE_SUPERVISED };

/* learner_gradient_all for either objective. */
int gradient_all(struct learner *l, const struct sequence *seq, int n,
                 enum objective objective, const struct learner_reduce *r,
                 struct update_metrics *out, struct fault *f);

/* Let the caller see to its other duties: learner_set_pause. */
void learner_rest(const struct learner *l);

struct learner {
    struct model *model;
    struct loss_config loss;
    struct optimizer_config optimizer;
    int microbatch; /* tokens */
    int64_t updates;
    float *m1, *m2; /* AdamW's moments, backend memory, [model_n_params] */
    struct packer packer;
    void (*pause)(void *ctx);
    void *pause_ctx;
};

#endif
