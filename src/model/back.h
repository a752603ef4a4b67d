/* back.h - private: the backward of a layer, shared by its parts. */
#ifndef DAPO_MODEL_BACK_H
#define DAPO_MODEL_BACK_H

#include "model/impl.h"

/* Scratch of the backward.  `dx` is the gradient of the residual stream; it enters a
 * layer as that of the output and leaves as that of the input.  The arrays of the MLP
 * and those of both kinds of attention share their place: they are used in turn. */
struct back {
    const struct model *m;
    const struct acts *a;
    int layer, rows;
    float *dx, *dh; /* [rows][dim] */
    float *h, *s;   /* recomputed norm and swiglu; s then holds ds */
    /* MLP */
    float *dgate, *dup; /* [rows][ffn] */
    /* softmax attention */
    float *dq, *dk, *dv; /* [rows][heads or kv_heads][head_dim] */
    float *d_o, *dk0;    /* the same; d_o is reused for dq0 */
    float *dqg;          /* [rows][heads][2][head_dim], of gated models */
    /* linear attention */
    float *dg, *dz, *dn;     /* [rows][value_heads][value_dim]; dg then holds d_o */
    float *dmixed, *dconv;   /* [rows][mixed_width] */
    float *ddecay, *dbeta;   /* [rows][value_heads] */
    float *da, *db;          /* the same */
    float *scratch;          /* of delta_back */
    const struct flow *flow; /* n, g and conv are recomputed in its arrays */
};

/* The matrix in slot `s`, y = x W^T + b: dw, db, and dx (+= if add) from dy. */
int project_back(const struct back *b, enum slot s, float *dx, const float *dy,
                 const float *x, int add, struct fault *f);
/* b->h = the norm in slot `s` of x. */
int norm_forward(const struct back *b, enum slot s, const float *x, struct fault *f);
/* dx += the norm's part of d loss / d x, from b->dh. */
int norm_back(const struct back *b, enum slot s, const float *x, const float *rstd,
              struct fault *f);

/* `scratch`: floats that delta_back wants. */
void carve_delta_back(struct back *b, struct carve *c, const struct model_config *cfg,
                      int rows, size_t scratch);
/* mid = x + delta_forward, from dx of mid to that of x. */
int delta_backward(const struct back *b, struct fault *f);

#endif
