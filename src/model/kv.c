/* kv.c - the paged cache of keys and values, and the forward that generates. */
#include <stdlib.h>

#include "model/impl.h"

struct kv {
    const struct backend *be;
    int layers, pages, width; /* width: kv_heads * head_dim */
    float *keys, *values;     /* [layers][pages * KV_PAGE][width] */
};

enum { MOST_PAGES = 1 << 26 }; /* row numbers are ints */

static float *kv_layer(const struct kv *kv, float *all, int layer)
{
    return all + (size_t)layer * (size_t)kv->pages * KV_PAGE * (size_t)kv->width;
}

size_t kv_bytes(const struct model_config *c, int pages)
{
    return 2 * sizeof(float) * (size_t)c->layers * (size_t)pages * KV_PAGE *
           (size_t)(c->kv_heads * c->head_dim);
}

int kv_new(struct kv **out, const struct model *m, int pages, struct fault *f)
{
    size_t bytes;
    struct kv *kv;
    void *keys = NULL, *values = NULL;

    *out = NULL;
    if (pages < 1 || pages > MOST_PAGES)
        return fault_set(f, FAULT_CONFIG, "a cache of %d pages; want 1 to %d", pages,
                         MOST_PAGES);
    kv = mem_new(1, sizeof *kv, "the cache", f);
    if (!kv)
        return f->code;
    bytes = kv_bytes(&m->cfg, pages) / 2;
    if (m->be->alloc(&keys, bytes, f) || m->be->alloc(&values, bytes, f)) {
        m->be->free(keys);
        free(kv);
        return f->code;
    }
    *kv = (struct kv){.be = m->be,
                      .layers = m->cfg.layers,
                      .pages = pages,
                      .width = m->cfg.kv_heads * m->cfg.head_dim,
                      .keys = keys,
                      .values = values};
    *out = kv;
    return 0;
}

void kv_free(struct kv *kv)
{
    if (!kv)
        return;
    kv->be->free(kv->keys);
    kv->be->free(kv->values);
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
    for (int l = 0; rows && l < kv->layers; l++) {
        float *k = kv_layer(kv, kv->keys, l), *v = kv_layer(kv, kv->values, l);

        if (kv->be->gather(k + to, k, index, rows, kv->width, f) ||
            kv->be->gather(v + to, v, index, rows, kv->width, f))
            return f->code;
    }
    return 0;
}

/* -- one forward over rows of any sequences ------------------------------------------
 */

/* Where each row's key and value go. */
static int place_rows(struct model *m, const struct kv *kv, const struct attend_rows *r,
                      struct fault *f)
{
    struct step *s = &m->step;
    void *p = s->row;
    const struct kv_map *map = &r->map;

    if (mem_grow(&p, &s->room, (size_t)r->rows, sizeof *s->row, "rows of a step", f))
        return f->code;
    s->row = p;
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

/* Arrays of one call. */
struct call {
    struct acts acts;
    float *next;   /* [rows][dim] */
    float *x, *h;  /* [n_out][dim] */
    float *logits; /* [n_out][vocab] */
    struct flow flow;
};

static void carve_call(struct call *k, struct carve *c, const struct model *m, int rows,
                       int n_out)
{
    carve_acts(&k->acts, c, &m->cfg, rows);
    k->next = carve_floats(c, rows, m->cfg.dim);
    k->flow.h = carve_floats(c, rows, m->cfg.dim);
    k->flow.s = carve_floats(c, rows, m->cfg.ffn);
    k->x = carve_floats(c, n_out, m->cfg.dim);
    k->h = carve_floats(c, n_out, m->cfg.dim);
    k->logits = carve_floats(c, n_out, m->cfg.vocab);
}

static int fit_call(struct call *k, struct model *m, int rows, int n_out,
                    struct fault *f)
{
    struct carve c = {0};

    carve_call(k, &c, m, rows, n_out);
    if (pool_fit(&m->step.pool, m->be, &c, f))
        return f->code;
    c = (struct carve){.base = m->step.pool.base};
    carve_call(k, &c, m, rows, n_out);
    return 0;
}

static int call_layers(struct call *k, const struct model *m, const struct kv *kv,
                       const int *ids, struct fault *f)
{
    if (m->be->embed(k->acts.x, param_of(m, m->table.embed), ids, k->flow.rows,
                     m->cfg.dim, f))
        return f->code;
    for (int l = 0; l < m->cfg.layers; l++) {
        float *in = k->acts.x;

        k->flow.keys = kv_layer(kv, kv->keys, l);
        k->flow.values = kv_layer(kv, kv->values, l);
        if (layer_forward(m, l, &k->acts, k->next, &k->flow, f))
            return f->code;
        k->acts.x = k->next;
        k->next = in;
    }
    return 0;
}

int model_step(struct model *m, struct kv *kv, const int *ids,
               const struct attend_rows *r, const int *out, int n_out, float **logits,
               struct fault *f)
{
    struct call k = {.flow = {.rows = r->rows, .pos = r->pos, .attend = r}};

    *logits = NULL;
    for (int i = 0; i < n_out; i++)
        if (out[i] < 0 || out[i] >= r->rows)
            return fault_set(f, FAULT_BUG, "logits after row %d of %d were asked",
                             out[i], r->rows);
    if (r->rows <= 0)
        return 0;
    if (check_ids(m, ids, r->rows, f) || place_rows(m, kv, r, f) ||
        fit_call(&k, m, r->rows, n_out, f))
        return f->code;
    k.flow.kv_row = m->step.row;
    if (call_layers(&k, m, kv, ids, f))
        return f->code;
    if (n_out > 0 && (m->be->gather(k.x, k.acts.x, out, n_out, m->cfg.dim, f) ||
                      head_forward(m, k.logits, k.h, NULL, k.x, n_out, f)))
        return f->code;
    *logits = k.logits;
    return 0;
}
