/* deliver.c - the plan of a step's batch, and the exchange that carries it out.
 *
 * On the wire a completion is: head, prompt ids, completion ids, log-probs.
 */
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "train/deliver.h"

struct head {
    int64_t order;
    double advantage;
    int32_t n_prompt, n, truncated, stale;
};

/* What every rank knows of one completion of the batch. */
struct item {
    int update, owner, source; /* learner; world rank that has it */
    size_t bytes;
};

static size_t wire_bytes(int n_prompt, int n)
{
    size_t raw = sizeof(struct head) + (size_t)n_prompt * 4 + (size_t)n * 8;

    return (raw + 7) & ~(size_t)7;
}

static int make_plan(const struct session *s, const struct settled *r, int updates,
                     struct item *item, struct fault *f)
{
    int learners = comm_learners(s->comm), total = r->n_batch * r->size, rc = 0;
    int *length = mem_new((size_t)total, sizeof(int), "the batch plan", f);
    int *owner = mem_new((size_t)total, sizeof(int), "the batch plan", f);

    if (!length || !owner)
        rc = f->code;
    for (int i = 0; i < total && !rc; i++)
        length[i] = r->n_prompt[i / r->size] + r->n_tokens[i];
    for (int u = 0; u < updates && !rc; u++) {
        int a = plan_update_first(r->n_batch, updates, u) * r->size;
        int b = plan_update_first(r->n_batch, updates, u + 1) * r->size;

        rc = plan_deal(length + a, b - a, learners, owner + a, f);
        for (int i = a; i < b && !rc; i++) {
            int64_t c = r->batch[i / r->size];

            item[i].update = u;
            item[i].owner = owner[i];
            item[i].source = comm_leader(s->comm, r->replica[c]);
            item[i].bytes = wire_bytes(r->n_prompt[i / r->size], r->n_tokens[i]);
        }
    }
    free(length);
    free(owner);
    return rc;
}

/* The first token's policy is the oldest. */
static bool is_stale(const struct completion *m, int64_t now)
{
    return m->n_tokens > 0 && m->versions[0] < now;
}

static char *write_item(char *at, const struct group *g, int member, int64_t order,
                        int64_t now)
{
    const struct completion *m = &g->members[member];
    struct head h = {order,
                     m->advantage,
                     g->n_prompt,
                     m->n_tokens,
                     m->finish == FINISH_LENGTH,
                     is_stale(m, now)};
    char *p = at;

    memcpy(p, &h, sizeof h);
    p += sizeof h;
    memcpy(p, g->prompt_ids, (size_t)g->n_prompt * 4);
    p += (size_t)g->n_prompt * 4;
    memcpy(p, m->ids, (size_t)m->n_tokens * 4);
    p += (size_t)m->n_tokens * 4;
    memcpy(p, m->logprobs, (size_t)m->n_tokens * 4);
    return at + wire_bytes(g->n_prompt, m->n_tokens);
}

static const char *read_item(const char *at, struct sequence *q)
{
    struct head h;
    const char *p = at;

    memcpy(&h, p, sizeof h);
    p += sizeof h;
    *q = (struct sequence){.n_prompt = h.n_prompt,
                           .n = h.n,
                           .advantage = h.advantage,
                           .truncated = h.truncated != 0,
                           .stale = h.stale != 0,
                           .order = h.order};
    q->prompt = (const int *)(const void *)p;
    p += (size_t)h.n_prompt * 4;
    q->ids = (const int *)(const void *)p;
    p += (size_t)h.n * 4;
    q->old_logp = (const float *)(const void *)p;
    return at + wire_bytes(h.n_prompt, h.n);
}

static const struct group *find(const struct settled *r, int64_t index)
{
    for (int i = 0; i < r->n_mine; i++)
        if (r->mine[i]->index == index)
            return r->mine[i];
    return NULL;
}

/* Buffers of one exchange: one region per rank in one block each way. */
struct freight {
    char *out, *in;
    const void **send;
    void **recv;
    size_t *send_n, *recv_n;
};

static void freight_free(struct freight *x)
{
    free(x->out);
    free(x->in);
    free(x->send);
    free(x->recv);
    free(x->send_n);
    free(x->recv_n);
}

static int freight_new(struct freight *x, const struct session *s,
                       const struct item *item, int total, struct fault *f)
{
    int me = comm_rank(s->comm), size = comm_size(s->comm);
    size_t out = 0, in = 0;

    *x = (struct freight){0};
    x->send = mem_new((size_t)size, sizeof *x->send, "delivery", f);
    x->recv = mem_new((size_t)size, sizeof *x->recv, "delivery", f);
    x->send_n = mem_new((size_t)size, sizeof *x->send_n, "delivery", f);
    x->recv_n = mem_new((size_t)size, sizeof *x->recv_n, "delivery", f);
    if (!x->send || !x->recv || !x->send_n || !x->recv_n)
        return f->code;
    for (int i = 0; i < total; i++) {
        if (item[i].source == me)
            x->send_n[item[i].owner] += item[i].bytes;
        if (item[i].owner == me)
            x->recv_n[item[i].source] += item[i].bytes;
    }
    for (int k = 0; k < size; k++) {
        out += x->send_n[k];
        in += x->recv_n[k];
    }
    x->out = mem_new(out, 1, "delivery", f);
    x->in = mem_new(in, 1, "delivery", f);
    if (!x->out || !x->in)
        return f->code;
    out = in = 0;
    for (int k = 0; k < size; k++) {
        x->send[k] = x->out + out;
        x->recv[k] = x->in + in;
        out += x->send_n[k];
        in += x->recv_n[k];
    }
    return 0;
}

static int pack(const struct session *s, const struct settled *r,
                const struct item *item, struct freight *x, struct fault *f)
{
    int me = comm_rank(s->comm), size = comm_size(s->comm);
    char **at = mem_new((size_t)size, sizeof *at, "delivery", f);
    int rc = at ? 0 : f->code;

    for (int k = 0; k < size && !rc; k++)
        at[k] = x->out + ((const char *)x->send[k] - x->out);
    for (int i = 0; i < r->n_batch * r->size && !rc; i++) {
        const struct group *g;

        if (item[i].source != me)
            continue;
        g = find(r, r->batch[i / r->size]);
        if (g)
            at[item[i].owner] =
                write_item(at[item[i].owner], g, i % r->size, i, s->updates);
        else
            rc = fault_set(f, FAULT_BUG, "candidate %lld is not with its replica",
                           (long long)r->batch[i / r->size]);
    }
    free(at);
    return rc;
}

static int by_order(const void *a, const void *b)
{
    const struct sequence *x = a, *y = b;

    return (x->order > y->order) - (x->order < y->order);
}

static int unpack(const struct session *s, const struct item *item, int total,
                  const struct freight *x, struct share *out, struct fault *f)
{
    int me = comm_rank(s->comm), n = 0;

    for (int i = 0; i < total; i++)
        n += item[i].owner == me;
    out->seq = mem_new((size_t)n, sizeof *out->seq, "the learner's share", f);
    out->first =
        mem_new((size_t)out->updates + 1, sizeof(int), "the learner's share", f);
    if (!out->seq || !out->first)
        return f->code;
    for (int k = 0; k < comm_size(s->comm); k++) {
        const char *p = x->recv[k], *end = p + x->recv_n[k];

        while (p < end && out->n < n)
            p = read_item(p, &out->seq[out->n++]);
    }
    if (out->n)
        qsort(out->seq, (size_t)out->n, sizeof *out->seq, by_order);
    /* Updates are runs of the batch order: count the sequences before each. */
    for (int i = 0; i < out->n; i++)
        out->first[item[out->seq[i].order].update + 1]++;
    for (int u = 0; u < out->updates; u++)
        out->first[u + 1] += out->first[u];
    return 0;
}

void share_free(struct share *h)
{
    for (int i = 0; i < h->n; i++) {
        free(h->seq[i].ref_logp);
        free(h->seq[i].prox_logp);
    }
    free(h->seq);
    free(h->first);
    free(h->store);
    *h = (struct share){0};
}

static void note_bytes(struct session *s, const struct item *item, int total)
{
    double all = 0, root = 0;

    for (int i = 0; i < total; i++) {
        all += (double)item[i].bytes;
        root += item[i].owner == 0 ? (double)item[i].bytes : 0;
    }
    s->metrics[METRIC_DELIVERED] = all;
    s->metrics[METRIC_ROOT_SHARE] = root;
}

int deliver_all(struct session *s, const struct settled *r, struct share *out,
                struct fault *f)
{
    int total = r->n_batch * r->size;
    struct item *item;
    struct freight x = {0};
    int64_t updates = s->cfg->optimizer.updates_per_step;
    int rc = session_enter_all(s, PHASE_DELIVER, INJECT_DELIVER, f);

    *out = (struct share){0};
    if (rc)
        return rc;
    item = mem_new((size_t)total, sizeof *item, "the batch plan", f);
    out->updates = (int)(updates < r->n_batch ? updates : r->n_batch);
    rc = item ? make_plan(s, r, out->updates, item, f) : f->code;
    if (!rc)
        rc = freight_new(&x, s, item, total, f);
    if (!rc)
        note_bytes(s, item, total);
    if (!rc)
        rc = pack(s, r, item, &x, f);
    rc = comm_agree_all(s->comm, rc, f);
    if (!rc) {
        comm_exchange_all(s->comm, x.send, x.send_n, x.recv, x.recv_n);
        out->store = x.in; /* the share points into it */
        x.in = NULL;
        rc = unpack(s, item, total, &x, out, f);
        rc = comm_agree_all(s->comm, rc, f);
    }
    freight_free(&x);
    free(item);
    return rc;
}
