/* kv.c - the paged cache of keys and values, and the forward that generates. */
#include <stdlib.h>

#include "model/impl.h"

struct kv {
    const struct backend *be;
    int pages, width;      /* width: kv_heads * head_dim */
    int softmax;           /* layers of that kind */
    float *keys, *values;  /* [softmax][pages * KV_PAGE][width] */
    int linear, states;    /* layers of that kind; states of each */
    int n_inputs, n_state; /* values of one state in one layer */
    float *inputs, *state; /* [linear][states][n_inputs or n_state] */
    int *next;             /* [states] the position that a state goes on with */
};

enum { MOST_PAGES = 1 << 26, MOST_STATES = 1 << 22 }; /* row numbers are ints */

static float *kv_layer(const struct kv *kv, float *all, int layer)
{
    return all + (size_t)layer * (size_t)kv->pages * KV_PAGE * (size_t)kv->width;
}

/* The states of one layer, `n` values each. */
static float *state_layer(const struct kv *kv, float *all, int layer, int n)
{
    return all + (size_t)layer * (size_t)kv->states * (size_t)n;
}

static int inputs_of(const struct model_config *c)
{
    return (c->kernel - 1) * mixed_width(c);
}

static int state_of(const struct model_config *c)
{
    return c->delta.value_heads * c->delta.key_dim * c->delta.value_dim;
}

/* a b, or SIZE_MAX: more than any memory, as is what it is multiplied with again. */
static size_t times(size_t a, size_t b)
{
    size_t n;

    return size_mul(a, b, &n) ? n : SIZE_MAX;
}

/* All keys (or values), and all states of n values in a layer, in values. */
static size_t all_keys(const struct model_config *c, int pages)
{
    size_t row = (size_t)c->kv_heads * (size_t)c->head_dim;

    return times(times((size_t)pages * KV_PAGE, row),
                 (size_t)(c->layers - model_n_linear(c)));
}

static size_t all_states(const struct model_config *c, int states, int n)
{
    return times(times((size_t)states, (size_t)n), (size_t)model_n_linear(c));
}

size_t kv_bytes(const struct model_config *c, int pages, int states)
{
    size_t all = times(2, all_keys(c, pages));

    if (model_n_linear(c) &&
        (!size_add(all, all_states(c, states, inputs_of(c)), &all) ||
         !size_add(all, all_states(c, states, state_of(c)), &all)))
        return SIZE_MAX;
    return times(all, sizeof(float));
}

static int alloc_states(struct kv *kv, const struct model_config *c, int states,
                        struct fault *f)
{
    if (kv->linear == 0)
        return 0;
    if (states < 1 || states > MOST_STATES)
        return fault_set(f, FAULT_CONFIG, "a cache of %d states; want 1 to %d", states,
                         MOST_STATES);
    kv->states = states;
    kv->n_inputs = inputs_of(c);
    kv->n_state = state_of(c);
    kv->next = mem_new((size_t)states, sizeof *kv->next, "the states", f);
    if (!kv->next)
        return f->code;
    if (alloc_floats(kv->be, &kv->inputs, all_states(c, states, kv->n_inputs), f))
        return f->code;
    return alloc_floats(kv->be, &kv->state, all_states(c, states, kv->n_state), f);
}

int kv_new(struct kv **out, const struct model *m, int pages, int states,
           struct fault *f)
{
    const struct model_config *c = &m->cfg;
    struct kv *kv;

    *out = NULL;
    if (pages < 1 || pages > MOST_PAGES)
        return fault_set(f, FAULT_CONFIG, "a cache of %d pages; want 1 to %d", pages,
                         MOST_PAGES);
    kv = mem_new(1, sizeof *kv, "the cache", f);
    if (!kv)
        return f->code;
    *kv = (struct kv){.be = m->be,
                      .pages = pages,
                      .width = c->kv_heads * c->head_dim,
                      .linear = model_n_linear(c),
                      .softmax = c->layers - model_n_linear(c)};
    if (alloc_floats(m->be, &kv->keys, all_keys(c, pages), f) ||
        alloc_floats(m->be, &kv->values, all_keys(c, pages), f) ||
        alloc_states(kv, c, states, f)) {
        kv_free(kv);
        return f->code;
    }
    *out = kv;
    return 0;
}

void kv_free(struct kv *kv)
{
    if (!kv)
        return;
    kv->be->free(kv->keys);
    kv->be->free(kv->values);
    kv->be->free(kv->inputs);
    kv->be->free(kv->state);
    free(kv->next);
    free(kv);
}

int kv_copy(struct kv *kv, int dst, int src, int rows, struct fault *f)
{
    int index[KV_PAGE];
    size_t to;

    if (dst < 0 || dst >= kv->pages || src < 0 || src >= kv->pages || dst == src ||
        rows < 0 || rows > KV_PAGE)
        return fault_set(f, FAULT_BUG, "a copy of %d rows of page %d to %d of %d pages",
                         rows, src, dst, kv->pages);
    for (int i = 0; i < rows; i++)
        index[i] = src * KV_PAGE + i;
    to = (size_t)dst * KV_PAGE * (size_t)kv->width;
    for (int l = 0; rows && l < kv->softmax; l++) {
        float *k = kv_layer(kv, kv->keys, l), *v = kv_layer(kv, kv->values, l);

        if (kv->be->gather(k + to, k, index, rows, kv->width, f) ||
            kv->be->gather(v + to, v, index, rows, kv->width, f))
            return f->code;
    }
    return 0;
}

int kv_copy_state(struct kv *kv, int dst, int src, struct fault *f)
{
    if (dst < 0 || dst >= kv->states || src < 0 || src >= kv->states || dst == src)
        return fault_set(f, FAULT_BUG, "a copy of state %d to %d of %d", src, dst,
                         kv->states);
    for (int l = 0; l < kv->linear; l++) {
        float *x = state_layer(kv, kv->inputs, l, kv->n_inputs);
        float *s = state_layer(kv, kv->state, l, kv->n_state);

        if (kv->be->gather(x + (size_t)dst * (size_t)kv->n_inputs, x, &src, 1,
                           kv->n_inputs, f) ||
            kv->be->gather(s + (size_t)dst * (size_t)kv->n_state, s, &src, 1,
                           kv->n_state, f))
            return f->code;
    }
    kv->next[dst] = kv->next[src];
    return 0;
}

/* -- one forward over rows of any sequences ------------------------------------------
 */

/* Where each row's key and value go. */
static int place_rows(struct model *m, const struct kv *kv, const struct attend_rows *r,
                      struct fault *f)
{
    struct step *s = &m->step;
    const struct kv_map *map = &r->map;

    if (grow_ints(&s->row, &s->room[0], r->rows, f))
        return f->code;
    for (int i = 0; i < r->rows; i++) {
        int pos = r->pos[i], page = pos >= 0 ? pos / map->page : -1;
        int64_t row;

        if (pos < 0 || pos >= m->cfg.max_position || page >= map->stride)
            return fault_set(f, FAULT_BUG,
                             "position %d is behind the model's %d or its %d pages",
                             pos, m->cfg.max_position, map->stride);
        row = (int64_t)
                  map->first[(size_t)r->seq[i] * (size_t)map->stride + (size_t)page] +
              pos % map->page;
        if (row < 0 || row >= (int64_t)kv->pages * KV_PAGE)
            return fault_set(f, FAULT_BUG, "position %d is row %lld of a cache of %d",
                             pos, (long long)row, kv->pages * KV_PAGE);
        s->row[i] = (int)row;
    }
    return 0;
}

/* The state that each row goes on from; a state can't be used at another position. */
static int place_states(struct model *m, struct kv *kv, const struct attend_rows *r,
                        struct fault *f)
{
    struct step *s = &m->step;

    if (kv->linear == 0)
        return 0;
    if (grow_ints(&s->slot, &s->room[1], r->rows, f))
        return f->code;
    for (int i = 0; i < r->rows; i++) {
        int seq = r->seq[i], pos = r->pos[i];
        int slot = r->map.state ? r->map.state[seq] : seq;

        if (slot < 0 || slot >= kv->states)
            return fault_set(f, FAULT_BUG, "sequence %d has state %d of %d", seq, slot,
                             kv->states);
        if (pos != 0 && pos != kv->next[slot])
            return fault_set(f, FAULT_BUG,
                             "position %d of sequence %d can't go on from a state of "
                             "%d positions",
                             pos, seq, kv->next[slot]);
        kv->next[slot] = pos + 1;
        s->slot[i] = slot;
    }
    return 0;
}

/* Arrays of one call. */
struct call {
    struct acts acts[2]; /* softmax, linear: in one place */
    float *in, *next;    /* [rows][dim] */
    float *x, *h;        /* [n_out][dim] */
    float *logits;       /* [n_out][vocab] */
    struct flow flow;
};

static void carve_call(struct call *k, struct carve *c, const struct model_config *cfg,
                       int rows, int n_out)
{
    carve_both(k->acts, c, cfg, rows);
    k->in = k->acts[0].x;
    k->next = carve_floats(c, rows, cfg->dim);
    carve_flow(&k->flow, c, cfg, rows);
    k->x = carve_floats(c, n_out, cfg->dim);
    k->h = carve_floats(c, n_out, cfg->dim);
    k->logits = carve_floats(c, n_out, cfg->vocab);
}

size_t model_step_bytes(const struct model_config *cfg, int rows, int n_out)
{
    struct carve c = {0};
    struct call k = {0};

    carve_call(&k, &c, cfg, rows, n_out);
    return c.over ? SIZE_MAX : c.used;
}

static int fit_call(struct call *k, struct model *m, int rows, int n_out,
                    struct fault *f)
{
    struct carve c = {0};

    carve_call(k, &c, &m->cfg, rows, n_out);
    if (pool_fit(&m->step.pool, m->be, &c, f))
        return f->code;
    c = (struct carve){.base = m->step.pool.base};
    carve_call(k, &c, &m->cfg, rows, n_out);
    return fit_even(m, rows, f);
}

/* The caches of the layer that is the i-th of its kind. */
static void use_caches(struct flow *w, const struct kv *kv, bool linear, int i)
{
    if (linear) {
        w->inputs = state_layer(kv, kv->inputs, i, kv->n_inputs);
        w->state = state_layer(kv, kv->state, i, kv->n_state);
    } else {
        w->keys = kv_layer(kv, kv->keys, i);
        w->values = kv_layer(kv, kv->values, i);
    }
}

static int call_layers(struct call *k, const struct model *m, const struct kv *kv,
                       const int *ids, struct fault *f)
{
    int seen[2] = {0};

    if (m->be->embed(k->in, param_of(m, m->table.embed), ids, k->flow.rows, m->cfg.dim,
                     f))
        return f->code;
    for (int l = 0; l < m->cfg.layers; l++) {
        bool linear = model_is_linear(&m->cfg, l);
        struct acts *a = &k->acts[linear];
        float *in = k->in;

        use_caches(&k->flow, kv, linear, seen[linear]++);
        a->x = in;
        if (layer_forward(m, l, a, k->next, &k->flow, f))
            return f->code;
        k->in = k->next;
        k->next = in;
    }
    return 0;
}

int model_step(struct model *m, struct kv *kv, const int *ids,
               const struct attend_rows *r, const int *out, int n_out, float **logits,
               struct fault *f)
{
    struct scan_rows scan = {.rows = r->rows, .pos = r->pos};
    struct call k = {
        .flow = {.rows = r->rows, .pos = r->pos, .attend = r, .scan = &scan}};

    *logits = NULL;
    for (int i = 0; i < n_out; i++)
        if (out[i] < 0 || out[i] >= r->rows)
            return fault_set(f, FAULT_BUG, "logits after row %d of %d were asked",
                             out[i], r->rows);
    if (r->rows <= 0)
        return 0;
    if (check_ids(m, ids, r->rows, f) || place_rows(m, kv, r, f) ||
        fit_call(&k, m, r->rows, n_out, f) || place_states(m, kv, r, f))
        return f->code;
    k.flow.kv_row = m->step.row;
    scan.slot = m->step.slot;
    if (call_layers(&k, m, kv, ids, f))
        return f->code;
    if (n_out > 0 && (m->be->gather(k.x, k.in, out, n_out, m->cfg.dim, f) ||
                      head_forward(m, k.logits, k.h, NULL, k.x, n_out, f)))
        return f->code;
    *logits = k.logits;
    return 0;
}
