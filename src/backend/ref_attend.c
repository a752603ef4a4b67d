/* ref_attend.c - attention of the reference backend: one query and head at a time. */
#include <math.h>
#include <stdlib.h>

#include "backend/ref.h"
#include "dapo/mem.h"

/* What one query of one head looks at. */
struct look {
    const float *k, *v; /* of its key-value head */
    size_t width;       /* of a key row */
    int dim, keys, seq;
    double scale;
    const struct kv_map *map;
};

static struct look look_at(const float *k, const float *v, const struct attend_rows *r,
                           const struct heads *h, int row, int head)
{
    size_t at = row_at(head / (h->heads / h->kv_heads), h->dim);

    return (struct look){.k = k + at,
                         .v = v + at,
                         .width = row_at(h->kv_heads, h->dim),
                         .dim = h->dim,
                         .keys = r->pos[row] + 1,
                         .seq = r->seq[row],
                         .scale = (double)h->scale,
                         .map = &r->map};
}

static double dot(const float *a, const float *b, int n)
{
    double sum = 0.0;

    for (int i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* p[j] = softmax of the scaled scores of q; returns their log sum exp. */
static double softmax(double *p, const float *q, const struct look *l)
{
    double most = -INFINITY, sum = 0.0;

    for (int j = 0; j < l->keys; j++) {
        p[j] = l->scale * dot(q, l->k + kv_row(l->map, l->seq, j) * l->width, l->dim);
        most = p[j] > most ? p[j] : most;
    }
    for (int j = 0; j < l->keys; j++)
        sum += p[j] = exp(p[j] - most);
    for (int j = 0; j < l->keys; j++)
        p[j] /= sum;
    return most + log(sum);
}

static double *new_scores(const struct attend_rows *r, struct fault *f)
{
    int most = 0;

    for (int i = 0; i < r->rows; i++)
        most = r->pos[i] > most ? r->pos[i] : most;
    return mem_new((size_t)most + 1, sizeof(double), "attention scores", f);
}

int ref_attend(float *o, float *lse, const float *q, const float *k, const float *v,
               const struct attend_rows *r, const struct heads *h, struct fault *f)
{
    double *p = new_scores(r, f);

    if (!p)
        return f->code;
    for (int i = 0; i < r->rows; i++) {
        for (int head = 0; head < h->heads; head++) {
            struct look l = look_at(k, v, r, h, i, head);
            size_t at = row_at(i, h->heads * h->dim) + row_at(head, h->dim);
            double total = softmax(p, q + at, &l);

            for (int d = 0; d < l.dim; d++) {
                double sum = 0.0;

                for (int j = 0; j < l.keys; j++)
                    sum += p[j] *
                           (double)l.v[kv_row(l.map, l.seq, j) * l.width + (size_t)d];
                o[at + (size_t)d] = (float)sum;
            }
            if (lse)
                lse[row_at(i, h->heads) + (size_t)head] = (float)total;
        }
    }
    free(p);
    return 0;
}

/* With P = softmax(S), S = scale q.k and D = dout.o:
 * dv_j += P_j dout,  dS_j = P_j (dout.v_j - D),  dq = scale sum dS_j k_j,
 * dk_j += scale dS_j q. */
int ref_attend_back(float *dq, float *dk, float *dv, const float *dout, const float *o,
                    const float *lse, const float *q, const float *k, const float *v,
                    const struct attend_rows *r, const struct heads *h, struct fault *f)
{
    double *p = new_scores(r, f);

    (void)lse; /* recomputed */
    if (!p)
        return f->code;
    for (int i = 0; i < r->rows; i++) {
        for (int head = 0; head < h->heads; head++) {
            struct look l = look_at(k, v, r, h, i, head);
            size_t at = row_at(i, h->heads * h->dim) + row_at(head, h->dim);
            double whole = dot(dout + at, o + at, l.dim);

            softmax(p, q + at, &l);
            for (int d = 0; d < l.dim; d++)
                dq[at + (size_t)d] = 0.0f;
            for (int j = 0; j < l.keys; j++) {
                size_t key = kv_row(l.map, l.seq, j) * l.width;
                size_t from = key + (size_t)(l.k - k);
                double ds = l.scale * p[j] * (dot(dout + at, l.v + key, l.dim) - whole);

                for (size_t d = 0; d < (size_t)l.dim; d++) {
                    dq[at + d] += (float)(ds * (double)l.k[key + d]);
                    dk[from + d] += (float)(ds * (double)q[at + d]);
                    dv[from + d] += (float)(p[j] * (double)dout[at + d]);
                }
            }
        }
    }
    free(p);
    return 0;
}
