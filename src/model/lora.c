/* lora.c - a model with an adapter: which matrices, its values, merging, gradient. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/random.h"
#include "model/impl.h"

/* One matrix that has an adapter: its row of the model's table; A is tensor 2 i of the
 * adapter's, B tensor 2 i + 1. */
struct pair {
    int index;
    size_t base; /* offset in the base values */
};

struct lora {
    struct lora_config config;
    struct model_tensor *tensors; /* [2 * n] */
    struct pair *pairs;           /* [n] */
    int n;
    int *pair_of;            /* [table.n]; -1: frozen */
    size_t values, adapted;  /* of A and B, of the matrices they are added to */
    float *params;           /* [values] */
    float *base;             /* [adapted] */
    struct weight **weights; /* [2 * n] */
    unsigned long long sum;  /* of all base values */
    bool muted;
    struct pool pool; /* [rows][rank] of the backward */
};

/* -- which matrices ------------------------------------------------------------------
 */

/* The next name of a list of targets in `name`; false at its end. */
static bool next_target(const char **list, char name[LORA_TEXT])
{
    static const char between[] = ", \t";
    size_t n;

    *list += strspn(*list, between);
    n = strcspn(*list, between);
    snprintf(name, LORA_TEXT, "%.*s", (int)n, *list);
    *list += n;
    return n > 0;
}

/* "model.layers.0.self_attn.q_proj" of "...q_proj.weight": bytes of the module's name.
 */
static int module_length(const struct model_tensor *t)
{
    return (int)(strlen(t->name) - strlen(".weight"));
}

/* PEFT's rule: the module's whole name, or what follows a dot in it. */
static bool is_target(const struct model_tensor *t, const char *name)
{
    size_t module = (size_t)module_length(t), n = strlen(name);

    if (n > module || strncmp(t->name + module - n, name, n) != 0)
        return false;
    return n == module || t->name[module - n - 1] == '.';
}

static bool selected(const struct model_tensor *t, const char *targets)
{
    char name[LORA_TEXT];

    while (next_target(&targets, name))
        if (!strcmp(name, "all") || is_target(t, name))
            return true;
    return false;
}

/* Row of the table with the matrix in a slot that may be adapted; -1 if there is none.
 */
static int matrix_at(const struct table *t, int layer, int slot)
{
    int index = t->slots[(size_t)layer * N_SLOTS + (size_t)slot];

    return slot_adapts((enum slot)slot) ? index : -1;
}

/* The last parts of the names of all modules that may be adapted, each once. */
static json_t *module_names(const struct table *t, int layers)
{
    json_t *seen = json_object(), *list = json_array();

    for (int i = 0; i < layers * N_SLOTS; i++) {
        int index = matrix_at(t, i / N_SLOTS, i % N_SLOTS);
        char name[sizeof t->tensors->name];
        const char *dot;

        if (index < 0)
            continue;
        snprintf(name, sizeof name, "%.*s", module_length(&t->tensors[index]),
                 t->tensors[index].name);
        dot = strrchr(name, '.');
        if (json_object_get(seen, dot + 1))
            continue;
        json_object_set_new(seen, dot + 1, json_true());
        json_array_append_new(list, json_string(dot + 1));
    }
    json_decref(seen);
    return list;
}

static int no_target(const struct table *t, int layers, const char *name,
                     struct fault *f)
{
    json_t *list = module_names(t, layers);
    char known[128] = "";
    size_t used = 0;

    for (size_t i = 0; i < json_array_size(list) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s",
                                 json_string_value(json_array_get(list, i)));
    json_decref(list);
    return fault_set(f, FAULT_CONFIG,
                     "the adapter's target \"%.40s\" is no matrix of the model's "
                     "layers; name some of%s, or all",
                     name, known);
}

static int check_targets(const struct table *t, int layers, const char *targets,
                         struct fault *f)
{
    const char *list = targets;
    char name[LORA_TEXT];
    int names = 0;

    for (; next_target(&list, name); names++) {
        bool found = !strcmp(name, "all");

        for (int i = 0; i < layers * N_SLOTS && !found; i++) {
            int index = matrix_at(t, i / N_SLOTS, i % N_SLOTS);

            found = index >= 0 && is_target(&t->tensors[index], name);
        }
        if (!found)
            return no_target(t, layers, name, f);
    }
    return names ? 0
                 : fault_set(f, FAULT_CONFIG,
                             "the adapter has no targets; name matrices of the "
                             "layers, or all");
}

/* -- layout --------------------------------------------------------------------------
 */

static void lora_drop(struct lora *l)
{
    if (!l)
        return;
    free(l->tensors);
    free(l->pairs);
    free(l->pair_of);
    free(l->weights);
    free(l);
}

static void append(struct lora *l, int k, const struct model_tensor *base, char which,
                   int rows, int cols)
{
    struct model_tensor *x = &l->tensors[k];

    *x = (struct model_tensor){.rows = rows, .cols = cols, .first = l->values};
    snprintf(x->name, sizeof x->name, LORA_PREFIX "%.*s.lora_%c.weight",
             module_length(base), base->name, which);
    l->values += (size_t)rows * (size_t)cols;
}

static int append_pair(struct lora *l, const struct table *t, int index,
                       struct fault *f)
{
    const struct model_tensor *x = &t->tensors[index];
    int rank = l->config.rank, most = x->rows > x->cols ? x->rows : x->cols;

    /* A rank over the smaller side says no more than that side's; it is PEFT's way to
     * adapt small matrices beside large ones, so only what must be a slip is refused.
     */
    if (rank > most)
        return fault_set(f, FAULT_CONFIG,
                         "the adapter's rank %d is over the %d x %d of \"%s\"; lower "
                         "the rank, or leave that matrix out of the targets",
                         rank, x->rows, x->cols, x->name);
    l->pairs[l->n] = (struct pair){index, l->adapted};
    l->pair_of[index] = l->n;
    append(l, 2 * l->n, x, 'A', rank, x->cols);
    append(l, 2 * l->n + 1, x, 'B', x->rows, rank);
    l->adapted += (size_t)x->rows * (size_t)x->cols;
    l->n++;
    return 0;
}

/* What B A is multiplied by. */
static double scale_of(const struct lora *l)
{
    return l->config.alpha / l->config.rank;
}

static int layout(struct lora *l, const struct table *t, int layers, struct fault *f)
{
    size_t most = (size_t)t->n;

    if (l->config.rank < 1 || !(scale_of(l) >= FLT_MIN) || scale_of(l) > FLT_MAX)
        return fault_set(f, FAULT_CONFIG,
                         "an adapter of rank %d and alpha %g; want both over 0, and "
                         "alpha / rank in the range of f32",
                         l->config.rank, l->config.alpha);
    if (check_targets(t, layers, l->config.targets, f))
        return f->code;
    l->tensors = mem_new(2 * most, sizeof *l->tensors, "an adapter", f);
    l->pairs = mem_new(most, sizeof *l->pairs, "an adapter", f);
    l->pair_of = mem_new(most, sizeof *l->pair_of, "an adapter", f);
    l->weights = mem_new(2 * most, sizeof *l->weights, "an adapter", f);
    if (!l->tensors || !l->pairs || !l->pair_of || !l->weights)
        return f->code;
    for (int i = 0; i < t->n; i++)
        l->pair_of[i] = -1;
    for (int i = 0; i < layers * N_SLOTS; i++) {
        int index = matrix_at(t, i / N_SLOTS, i % N_SLOTS);

        if (index >= 0 && selected(&t->tensors[index], l->config.targets) &&
            append_pair(l, t, index, f))
            return f->code;
    }
    return 0;
}

static int lora_new(struct lora **out, const struct lora_config *c,
                    const struct table *t, int layers, struct fault *f)
{
    struct lora *l = mem_new(1, sizeof *l, "an adapter", f);
    int rc = l ? 0 : f->code;

    *out = NULL;
    if (l) {
        l->config = *c;
        rc = layout(l, t, layers, f);
    }
    if (rc)
        lora_drop(l);
    else
        *out = l;
    return rc;
}

int model_lora_count(const struct model_config *c, const struct lora_config *l,
                     size_t *trained, size_t *adapted, struct fault *f)
{
    struct lora *x = NULL;
    struct table t;
    int rc = table_new(&t, c, f);

    if (!rc)
        rc = lora_new(&x, l, &t, c->layers, f);
    if (!rc) {
        *trained = x->values;
        *adapted = x->adapted;
    }
    lora_drop(x);
    table_free(&t);
    return rc;
}

/* -- life ----------------------------------------------------------------------------
 */

void lora_free(struct model *m)
{
    struct lora *l = m->lora;

    if (!l)
        return;
    for (int k = 0; k < 2 * l->n; k++)
        if (l->weights[k])
            m->be->weight_free(l->weights[k]);
    m->be->free(l->params);
    m->be->free(l->base);
    m->be->free(l->pool.base);
    lora_drop(l);
    m->lora = NULL;
}

/* The base values are kept: the matrices are merged from them each time. */
static int fill(struct model *m, struct lora *l, uint64_t seed, struct fault *f)
{
    for (int i = 0; i < l->n; i++) {
        const struct pair *p = &l->pairs[i];
        const struct model_tensor *x = &m->table.tensors[p->index];
        const struct model_tensor *a = &l->tensors[2 * i];
        size_t n = (size_t)a->rows * (size_t)a->cols;
        float bound = (float)(1 / sqrt((double)a->cols));

        memcpy(l->base + p->base, param_of(m, p->index),
               (size_t)x->rows * (size_t)x->cols * sizeof(float));
        for (size_t e = 0; e < n; e++)
            l->params[a->first + e] =
                bound * (2 * random_uniform(seed, RANDOM_LORA, (uint32_t)p->index,
                                            (uint32_t)e, (uint32_t)(e >> 32), 0) -
                         1);
        for (int k = 2 * i; k < 2 * i + 2; k++)
            if (m->be->weight_new(&l->weights[k], l->tensors[k].rows,
                                  l->tensors[k].cols, m->compute, f))
                return f->code;
    }
    return 0;
}

int model_lora(struct model *m, const struct lora_config *c, uint64_t seed,
               struct fault *f)
{
    struct lora *l;
    int rc;

    if (m->lora)
        return fault_set(f, FAULT_BUG, "the model has an adapter already");
    if (lora_new(&l, c, &m->table, m->cfg.layers, f))
        return f->code;
    l->sum = model_checksum(m);
    m->be->free(m->grad); /* of the whole model */
    m->grad = NULL;
    m->train.started = false;
    m->lora = l;
    rc = alloc_floats(m->be, &l->params, l->values, f);
    if (!rc)
        rc = alloc_floats(m->be, &l->base, l->adapted, f);
    if (!rc)
        rc = fill(m, l, seed, f);
    if (!rc)
        rc = lora_refresh(m, f);
    if (rc)
        lora_free(m);
    return rc;
}

int lora_refresh(struct model *m, struct fault *f)
{
    struct lora *l = m->lora;
    float scale = (float)scale_of(l);

    for (int i = 0; i < l->n; i++) {
        const struct pair *p = &l->pairs[i];
        const struct model_tensor *x = &m->table.tensors[p->index];
        float *a = l->params + l->tensors[2 * i].first;
        float *b = l->params + l->tensors[2 * i + 1].first;

        if (m->be->weight_set(l->weights[2 * i], a, f) ||
            m->be->weight_set(l->weights[2 * i + 1], b, f) ||
            m->be->merge(param_of(m, p->index), l->base + p->base, b, a, scale, x->rows,
                         x->cols, l->muted ? 0 : l->config.rank, f) ||
            m->be->weight_set(m->weights[p->index], param_of(m, p->index), f))
            return f->code;
    }
    return 0;
}

int model_lora_mute(struct model *m, bool mute, struct fault *f)
{
    if (!m->lora)
        return fault_set(f, FAULT_BUG, "a model without an adapter can't be muted");
    m->lora->muted = mute;
    return lora_refresh(m, f);
}

/* -- gradient ------------------------------------------------------------------------
 */

/* With s = alpha / rank, u = x A^T and v = dy B:  dB += s dy^T u,  dA += s v^T x. */
int lora_back(const struct model *m, int index, const float *dy, const float *x,
              int rows, struct fault *f)
{
    struct lora *l = m->lora;
    int i = l->pair_of[index], rank = l->config.rank;
    const struct weight *a, *b;
    struct carve need = {0};
    float scale = (float)scale_of(l), *h;
    size_t n = (size_t)rows * (size_t)rank;

    if (i < 0)
        return 0;
    a = l->weights[2 * i];
    b = l->weights[2 * i + 1];
    carve_floats(&need, rows, rank);
    if (pool_fit(&l->pool, m->be, &need, f))
        return f->code;
    h = (float *)(void *)l->pool.base;
    if (m->be->linear(h, x, a, rows, f) || m->be->scale(h, scale, n, f) ||
        m->be->linear_dw(m->grad + l->tensors[2 * i + 1].first, dy, h, b, rows, f) ||
        m->be->linear_dx(h, dy, b, rows, 0, f) || m->be->scale(h, scale, n, f) ||
        m->be->linear_dw(m->grad + l->tensors[2 * i].first, h, x, a, rows, f))
        return f->code;
    return 0;
}

/* -- views ---------------------------------------------------------------------------
 */

float *lora_params(const struct lora *l)
{
    return l->params;
}

const struct model_tensor *lora_tensors(const struct lora *l, int *n)
{
    *n = 2 * l->n;
    return l->tensors;
}

size_t lora_values(const struct lora *l)
{
    return l->values;
}

json_t *lora_target_names(const struct model *m)
{
    const char *targets = m->lora->config.targets;
    json_t *list = json_array();
    char name[LORA_TEXT];

    while (next_target(&targets, name)) {
        if (!strcmp(name, "all")) {
            json_decref(list);
            return module_names(&m->table, m->cfg.layers);
        }
        json_array_append_new(list, json_string(name));
    }
    return list;
}

int lora_same_targets(const struct model *m, const char *targets, bool *same,
                      struct fault *f)
{
    if (check_targets(&m->table, m->cfg.layers, targets, f))
        return f->code;
    *same = true;
    for (int i = 0; i < m->cfg.layers * N_SLOTS; i++) {
        int index = matrix_at(&m->table, i / N_SLOTS, i % N_SLOTS);

        if (index >= 0 && selected(&m->table.tensors[index], targets) !=
                              (m->lora->pair_of[index] >= 0))
            *same = false;
    }
    return 0;
}

const struct lora_config *model_adapter(const struct model *m)
{
    return m->lora ? &m->lora->config : NULL;
}

unsigned long long model_base(const struct model *m)
{
    return m->lora ? m->lora->sum : 0;
}
