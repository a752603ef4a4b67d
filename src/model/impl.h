/* impl.h - private: the model's parts, shared by the sources of this folder. */
#ifndef DAPO_MODEL_IMPL_H
#define DAPO_MODEL_IMPL_H

#include <jansson.h>

#include "dapo/mem.h"
#include "dapo/model.h"

/* The tensors of one layer.  A bias follows its matrix, where it may have one. */
enum slot {
    NORM1,
    Q,
    Q_BIAS,
    K,
    K_BIAS,
    V,
    V_BIAS,
    Q_NORM,
    K_NORM,
    O,
    O_BIAS,
    NORM2,
    GATE,
    GATE_BIAS,
    UP,
    UP_BIAS,
    DOWN,
    DOWN_BIAS,
    LAST_BIAS = DOWN_BIAS, /* matrices behind it have none */
    /* linear attention */
    IN_QKV,
    IN_Z,
    IN_B,
    IN_A,
    CONV,
    A_LOG,
    DT_BIAS,
    GATED_NORM,
    OUT,
    N_SLOTS
};

/* The tensor table of a configuration. */
struct table {
    struct model_tensor *tensors;
    int n;
    int *slots;            /* [layers][N_SLOTS]: index into tensors, -1 where absent */
    int embed, norm, head; /* indices; head == embed when tied */
    size_t values;
};

/* Values of all value heads in a row. */
int value_width(const struct model_config *c);
/* Channels of the convolution: q and k of the key heads, v of the value heads. */
int mixed_width(const struct model_config *c);
int table_new(struct table *out, const struct model_config *c, struct fault *f);
void table_free(struct table *t);

/* The shape of a tensor in files; returns how many dimensions, 1 to 3. */
int tensor_dims(size_t dims[3], const struct model_tensor *t);

enum { NESTED_NAME = 128 }; /* of a tensor's name and "language_model." */
/* The other name of a tensor, the model's or an adapter's, in files of a model of
 * several parts, where the text is one level down; "" where it has no other. */
void nested_name(char out[NESTED_NAME], const struct model_config *c, const char *name);

/* n floats of backend memory; FAULT_SYSTEM if that is more than there is. */
int alloc_floats(const struct backend *be, float **out, size_t n, struct fault *f);
/* mem_grow for ints, one per row of a call. */
int grow_ints(int **items, size_t *room, int need, struct fault *f);

/* Backend memory that only grows, handed out anew by each user: touching fresh memory
 * costs more than most ops. */
struct pool {
    char *base;
    size_t size;
};

/* Lays arrays out in a pool: once with base = NULL to measure, once for real. */
struct carve {
    char *base;
    size_t used;
    bool over; /* more than a size_t holds */
};
float *carve_floats(struct carve *c, int rows, int cols);
float *carve_values(struct carve *c, size_t n);
/* *c = where the longer of *c and `other` ends; both began at the same place. */
void carve_join(struct carve *c, const struct carve *other);
int pool_fit(struct pool *p, const struct backend *be, const struct carve *need,
             struct fault *f);

/* What a layer computes on its rows.  Training keeps one per layer for the backward;
 * decoding uses one for all. */
struct acts {
    float *x;             /* [rows][dim] the layer's input */
    float *mid;           /* [rows][dim] after the attention's residual */
    float *gate, *up;     /* [rows][ffn] */
    float *rstd1, *rstd2; /* [rows] */
    /* softmax attention */
    float *qg; /* [rows][heads][2][head_dim] queries and gates, of gated models */
    /* Before the per-head norm; q and k themselves without it.  Queries with gates are
     * gathered from qg into the flow's q0 instead. */
    float *q0, *k0;
    float *q, *k, *v;       /* [rows][heads or kv_heads][head_dim], rotated */
    float *rstd_q, *rstd_k; /* [rows][heads or kv_heads] */
    float *lse;             /* [rows][heads] */
    float *o; /* [rows][heads][head_dim]; linear: [rows][value_heads][value_dim] */
    /* linear attention */
    float *mixed;        /* [rows][mixed_width] q, k and v before the convolution */
    float *z;            /* as o: its gate */
    float *a, *b;        /* [rows][value_heads] before delta_gates */
    float *decay, *beta; /* [rows][value_heads] */
    float *rstd_o;       /* [rows][value_heads] */
};

/* For a layer of one kind. */
void carve_acts(struct acts *a, struct carve *c, const struct model_config *cfg,
                int rows, bool linear);
/* For layers of both: a[0] softmax, a[1] linear, of which one is in use at a time. */
void carve_both(struct acts a[2], struct carve *c, const struct model_config *cfg,
                int rows);

/* One call's rows and its scratch. */
struct flow {
    int rows;
    const int *pos; /* [rows] host */
    const struct attend_rows *attend;
    const struct scan_rows *scan; /* the same rows, by state */
    float *h, *s;                 /* [rows][dim], [rows][ffn] */
    float *q0;                    /* [rows][heads][head_dim], of gated models */
    float *n, *g; /* o normed; o behind its gate, what the last product takes */
    float *conv;  /* [rows][mixed_width] q, k and v behind the convolution */
    /* Where keys and values live: NULL = the rows themselves (training). */
    float *keys, *values;
    const int *kv_row; /* [rows] host: row of keys and values that each row writes */
    /* States of linear attention, before and after; NULL: every sequence starts here.
     */
    float *inputs, *state;
};
void carve_flow(struct flow *w, struct carve *c, const struct model_config *cfg,
                int rows);

/* Training state: the last forward. */
struct train {
    struct pool pool, back;
    struct acts *acts; /* [layers] */
    float *out;        /* [rows][dim] after the last layer */
    float *dx;         /* [rows][dim], d loss / d out; then flows back */
    int *pos, *seq, *first;
    int *ids;       /* a copy: the caller's may be gone by the backward */
    size_t room[4]; /* of the four arrays above */
    struct flow flow;
    struct attend_rows attend;
    struct scan_rows scan;
    bool started; /* model_head has put a gradient into dx */
};

struct step {
    struct pool pool;
    int *row, *slot; /* [rows] kv_row; state */
    size_t room[2];
};

struct lora; /* lora.c */

struct model {
    const struct backend *be;
    enum compute compute;
    struct model_config cfg;
    int real_vocab;
    char *dir;                   /* "" for a random one */
    json_t *config, *generation; /* as read; NULL for a random one or where absent */
    struct table table;
    struct weight **weights; /* [table.n]; NULL for what no product uses */
    float *params;     /* [table.values], what the ops use: with an adapter, merged */
    float *grad;       /* [model_n_params] */
    struct lora *lora; /* NULL: every value is trained */
    float *norms;      /* 1 + w of the centred norms, made by model_refresh */
    size_t *norm_at;   /* [table.n]: where in norms, for centred ones */
    struct heads heads;
    int *even; /* [n_even] 0, 2, 4, ...: queries among queries and gates */
    size_t n_even;
    struct train train;
    struct pool head_pool;
    struct step step;
};

/* A model with masters of zeros; takes over *c and the table (and frees them when it
 * fails). */
int model_make(struct model **out, struct model_config *c, struct table *t,
               const struct backend *be, enum compute compute, int real_vocab,
               struct fault *f);

/* Values of tensor `index`, and its gradient: NULL if it is frozen. */
static inline float *param_of(const struct model *m, int index)
{
    return m->params + m->table.tensors[index].first;
}

static inline float *grad_of(const struct model *m, int index)
{
    return m->lora ? NULL : m->grad + m->table.tensors[index].first;
}

static inline int slot_of(const struct model *m, int layer, enum slot s)
{
    return m->table.slots[(size_t)layer * N_SLOTS + s];
}

/* The bias of the matrix in slot `s`; -1 where it has none. */
static inline int bias_of(const struct model *m, int layer, enum slot s)
{
    return s < LAST_BIAS ? slot_of(m, layer, s + 1) : -1;
}

/* What the norm in tensor `index` multiplies by. */
static inline const float *norm_of(const struct model *m, int index)
{
    return m->table.tensors[index].centred ? m->norms + m->norm_at[index]
                                           : param_of(m, index);
}

/* Whether slot `s` holds a matrix that an adapter may be added to. */
bool slot_adapts(enum slot s);

/* The flat array of A and B, its tensors and length. */
float *lora_params(const struct lora *l);
const struct model_tensor *lora_tensors(const struct lora *l, int *n);
size_t lora_values(const struct lora *l);
/* Merge anew into the model's values and their compute form. */
int lora_refresh(struct model *m, struct fault *f);
/* Adds to the gradient of A and B of the matrix at table `index`, y = x W'^T, from dy
 * [rows][out] and x [rows][in]; nothing if it has none. */
int lora_back(const struct model *m, int index, const float *dy, const float *x,
              int rows, struct fault *f);
void lora_free(struct model *m);
/* What target_modules lists: the names of the setting, or of all modules. */
json_t *lora_target_names(const struct model *m);
/* Whether `targets` would choose the matrices that the model's adapter has. */
int lora_same_targets(const struct model *m, const char *targets, bool *same,
                      struct fault *f);

/* y = x W^T + b by the matrix in slot `s` of `layer`. */
int project(const struct model *m, int layer, enum slot s, float *y, const float *x,
            int rows, struct fault *f);
/* The whole layer: a->x in, `out` [rows][dim].  Training and decoding share it, so that
 * their rows are the same bits. */
int layer_forward(const struct model *m, int layer, const struct acts *a, float *out,
                  const struct flow *w, struct fault *f);
/* Queries from a->qg into w->q0, and a->o behind its gate into w->g. */
int queries(const struct model *m, const struct acts *a, const struct flow *w,
            struct fault *f);
int open_gate(const struct model *m, const struct acts *a, const struct flow *w,
              struct fault *f);
/* What linear attention adds to the residual stream: from w->h into a->mid. */
int delta_forward(const struct model *m, int layer, const struct acts *a,
                  const struct flow *w, struct fault *f);
/* Make m->even long enough for the queries of `rows` rows. */
int fit_even(struct model *m, int rows, struct fault *f);
/* Norm and vocabulary product of n rows: h [n][dim] scratch, logits [n][vocab]; rstd
 * may be NULL. */
int head_forward(const struct model *m, float *logits, float *h, float *rstd,
                 const float *x, int n, struct fault *f);
/* Before the first gradient of a forward: makes room for the backward, dx = 0. */
int train_start(struct model *m, struct fault *f);
int check_ids(const struct model *m, const int *ids, int n, struct fault *f);

/* config.json of `c` as a new JSON object; NULL with FAULT_SYSTEM. */
json_t *config_to_json(const struct model_config *c, struct fault *f);
/* The value of eos_token_id: all stop ids. */
json_t *stops_to_json(const struct model_config *c);
/* Read a JSON object from a file of at most `most` bytes. */
int json_object_read(json_t **out, const char *path, size_t most, struct fault *f);
/* `dir` is only for messages; `generation` may be NULL. */
int config_from_json(struct model_config *out, const json_t *config, const char *dir,
                     const json_t *generation, struct fault *f);
/* Both files of `dir`; *generation is NULL where there is none.  Of a configuration of
 * several parts (*nested) *config is that of the text. */
int config_files_read(json_t **config, json_t **generation, bool *nested,
                      const char *dir, struct fault *f);

/* Publish a JSON object as a file of the folder `dir`. */
int json_publish(const json_t *o, const char *dir, const char *name, struct fault *f);
/* Remove a file of the folder where there is one. */
void drop_file(const char *dir, const char *name, struct fault *f);

/* Files over `shard_bytes` of tensors are split; model_save uses 4 GiB. */
int weights_save(const struct model *m, const float *params, const char *dir, bool bf16,
                 size_t shard_bytes, struct fault *f);

#endif
