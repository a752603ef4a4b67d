/* carry_pack.c - what steps leave to each other, as parcels of a checkpoint.
 *
 * Numbers are 64-bit integers of the machine, as in the file's columns.  Reading trusts
 * nothing: the checksum says that the bytes are what was written, not by whom.
 */
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "train/carry.h"

#define MOST_GROUPS (1 << 24)

/* -- writing ----------------------------------------------------------------------- */

static int add_numbers(struct bytes *b, const int64_t *x, size_t n, struct fault *f)
{
    return bytes_add(b, x, n * sizeof *x, f);
}

/* As it was after step s->step: the last settled one may be the next. */
static int pack_history(const struct session *s, struct bytes *b, struct fault *f)
{
    const struct carry *c = s->carry;
    size_t start = b->len;
    int rc = bytes_add(b, c->history, (size_t)c->n_prompts, f);

    for (int i = c->n_visits - 1; i >= 0 && !rc && c->now.step != s->step; i--)
        b->data[start + (size_t)c->visits[i].prompt] = (char)c->visits[i].was;
    return rc;
}

static int pack_root(const struct session *s, struct bytes *b, struct fault *f)
{
    const struct carry *c = s->carry;
    int64_t head[] = {c->n_prompts, c->size, comm_replicas(s->comm), c->n_all};
    int rc = add_numbers(b, head, sizeof head / sizeof *head, f);

    if (!rc)
        rc = pack_history(s, b, f);
    for (int i = 0; i < c->n_all && !rc; i++) {
        const struct candidate *k = &c->all[i];
        int64_t own[] = {k->replica, k->n_prompt};

        rc = add_numbers(b, own, 2, f);
        for (int m = 0; m < c->size && !rc; m++) {
            int64_t of[] = {k->member[m].n_tokens, k->member[m].ended,
                            k->member[m].correct, k->member[m].told};

            rc = add_numbers(b, of, 4, f);
        }
    }
    return rc;
}

static int pack_member(struct bytes *b, const struct completion *m, struct fault *f)
{
    size_t n = (size_t)m->n_tokens, answer = m->answer ? strlen(m->answer) : 0;
    int64_t head[] = {m->n_tokens,      m->finish,
                      m->correct,       m->answer_found,
                      m->answer_offset, m->answer ? (int64_t)answer : -1,
                      m->verdict};
    double rewards[] = {m->raw_reward, m->length_penalty, m->shaped_reward};
    int rc;

    rc = add_numbers(b, head, sizeof head / sizeof *head, f);
    if (!rc)
        rc = bytes_add(b, rewards, sizeof rewards, f);
    if (!rc && n)
        rc = bytes_add(b, m->ids, n * sizeof *m->ids, f);
    if (!rc && n)
        rc = bytes_add(b, m->logprobs, n * sizeof *m->logprobs, f);
    if (!rc && n)
        rc = bytes_add(b, m->versions, n * sizeof *m->versions, f);
    if (!rc && answer)
        rc = bytes_add(b, m->answer, answer, f);
    return rc;
}

static int pack_group(struct bytes *b, const struct group *g, struct fault *f)
{
    int64_t head[] = {g->index,     g->prompt,     g->policy_version,
                      g->born_step, g->born_index, g->size};
    int rc = add_numbers(b, head, sizeof head / sizeof *head, f);

    for (int m = 0; m < g->size && !rc; m++)
        rc = pack_member(b, &g->members[m], f);
    return rc;
}

void parcels_free(struct parcel *p, int n)
{
    for (int i = 0; p && i < n; i++)
        free(p[i].data);
    free(p);
}

int carry_pack(const struct session *s, struct parcel **out, int *n, struct fault *f)
{
    const struct carry *c = s->carry;
    bool root = comm_rank(s->comm) == 0;
    struct parcel *p =
        mem_new((size_t)c->n_mine + 1, sizeof *p, "a checkpoint's parcels", f);
    int rc = p ? 0 : f->code;

    *out = p;
    *n = 0;
    for (int i = root ? -1 : 0; i < c->n_mine && !rc; i++) {
        struct bytes b = {0};

        rc = i < 0 ? pack_root(s, &b, f) : pack_group(&b, c->mine[i], f);
        p[(*n)++] = (struct parcel){i < 0 ? 0 : 1 + c->mine[i]->index, b.len, b.data};
    }
    return rc;
}

/* -- reading ----------------------------------------------------------------------- */

struct reader {
    const char *at;
    size_t left;
};

static bool take(struct reader *r, void *out, size_t n)
{
    if (n > r->left)
        return false;
    if (n)
        memcpy(out, r->at, n);
    r->at += n;
    r->left -= n;
    return true;
}

static bool take_numbers(struct reader *r, int64_t *x, size_t n)
{
    return take(r, x, n * sizeof *x);
}

static int nonsense(struct fault *f)
{
    return fault_set(f, FAULT_DATA,
                     "the checkpoint's carried groups make no sense for this job; take "
                     "an earlier checkpoint, or start a new run with another run.name");
}

static bool take_candidate(struct reader *r, struct candidate *k, int size)
{
    int64_t own[2], of[4];

    if (!take_numbers(r, own, 2) || own[0] < 0 || own[0] > INT32_MAX || own[1] < 0 ||
        own[1] > INT32_MAX)
        return false;
    k->replica = (int)own[0];
    k->n_prompt = (int)own[1];
    for (int m = 0; m < size; m++) {
        if (!take_numbers(r, of, 4) || of[0] < 0 || of[0] > INT32_MAX)
            return false;
        k->member[m] = (struct member){(int)of[0], of[1] != 0, of[2] != 0, of[3] != 0};
    }
    return true;
}

/* The table of carried candidates, with the replicas they go to now. */
static int take_candidates(struct session *s, struct reader *r, int64_t replicas, int n,
                           struct fault *f)
{
    struct carry *c = s->carry;
    int now = comm_replicas(s->comm);

    for (int i = 0; i < n; i++) {
        struct candidate *k = &c->all[i];

        k->member = mem_new((size_t)c->size, sizeof *k->member, "carried groups", f);
        if (!k->member)
            return f->code;
        c->n_all = i + 1;
        if (!take_candidate(r, k, c->size))
            return nonsense(f);
        if (replicas != now)
            k->replica = i % now;
        else if (k->replica >= now)
            return nonsense(f);
        k->prompt = (int64_t)order_at(s->order, (uint64_t)(s->cursor + i));
    }
    return 0;
}

int carry_unpack_root(struct session *s, const struct parcel *p, int64_t n_parcels,
                      struct fault *f)
{
    struct carry *c = s->carry;
    struct reader r = {p->data, p->n};
    int64_t head[4];

    if (!take_numbers(&r, head, 4) || head[0] != s->train.n || head[1] != c->size ||
        head[2] < 1 || head[3] < 0 || head[3] > MOST_GROUPS ||
        n_parcels != 1 + head[3] || (size_t)head[0] > r.left)
        return nonsense(f);
    for (int64_t i = 0; c->history && i < head[0]; i++) {
        unsigned char h = (unsigned char)r.at[i];

        if (h >= HISTORY_COUNT)
            return nonsense(f);
        c->history[i] = h;
    }
    r.at += head[0];
    r.left -= (size_t)head[0];
    c->all = mem_new((size_t)head[3], sizeof *c->all, "carried groups", f);
    if (!c->all)
        return f->code;
    return take_candidates(s, &r, head[2], (int)head[3], f);
}

void carry_wanted(const struct session *s, struct parcel *want, int *n)
{
    const struct carry *c = s->carry;

    *n = 0;
    for (int i = 0; i < c->n_all; i++)
        if (c->all[i].replica == comm_replica(s->comm))
            want[(*n)++] = (struct parcel){.number = 1 + i};
}

static int take_tokens(struct reader *r, struct completion *m, int n, struct fault *f)
{
    m->ids = mem_new((size_t)n, sizeof *m->ids, "a carried group", f);
    m->logprobs = mem_new((size_t)n, sizeof *m->logprobs, "a carried group", f);
    m->versions = mem_new((size_t)n, sizeof *m->versions, "a carried group", f);
    if (!m->ids || !m->logprobs || !m->versions)
        return f->code;
    m->n_tokens = m->n_carried = m->cap = n;
    if (!take(r, m->ids, (size_t)n * sizeof *m->ids) ||
        !take(r, m->logprobs, (size_t)n * sizeof *m->logprobs) ||
        !take(r, m->versions, (size_t)n * sizeof *m->versions))
        return nonsense(f);
    return 0;
}

static int take_member(const struct session *s, struct reader *r, struct completion *m,
                       struct fault *f)
{
    int64_t head[7];
    double rewards[3];
    int rc;

    if (!take_numbers(r, head, 7) || !take(r, rewards, sizeof rewards) || head[0] < 0 ||
        head[0] > s->cfg->rollout.max_tokens || head[1] < 0 ||
        head[1] > FINISH_LENGTH || head[5] < -1 || head[5] > (int64_t)r->left ||
        head[6] < 0 || head[6] >= VERDICT_COUNT)
        return nonsense(f);
    m->verdict = (enum verdict_kind)head[6];
    m->finish = (enum finish)head[1];
    m->correct = head[2] != 0;
    m->answer_found = head[3] != 0;
    m->answer_offset = head[4];
    m->raw_reward = rewards[0];
    m->length_penalty = rewards[1];
    m->shaped_reward = rewards[2];
    if ((rc = take_tokens(r, m, (int)head[0], f)) || head[5] < 0)
        return rc;
    m->answer = mem_new((size_t)head[5] + 1, 1, "an answer", f);
    if (!m->answer)
        return f->code;
    return take(r, m->answer, (size_t)head[5]) ? 0 : nonsense(f);
}

static int unpack_group(const struct session *s, const struct parcel *p,
                        struct group **out, struct ids *prompt, struct fault *f)
{
    struct reader r = {p->data, p->n};
    struct group *g;
    int64_t head[6];
    int rc = 0;

    *out = NULL;
    if (!take_numbers(&r, head, 6) || head[0] != p->number - 1 || head[1] < 0 ||
        head[1] >= (int64_t)s->train.file.n || head[3] < 0 || head[4] < 0 ||
        head[4] > UINT32_MAX || head[5] != s->carry->size)
        return nonsense(f);
    prompt->n = 0;
    rc = prompt_ids(s, &s->train.file.row[head[1]], prompt, f);
    if (rc)
        return rc;
    g = *out = group_new(head[0], head[1], prompt->id, (int)prompt->n, (int)head[5], f);
    if (!g)
        return f->code;
    g->policy_version = head[2];
    g->born_step = head[3];
    g->born_index = head[4];
    g->replica = comm_replica(s->comm);
    for (int m = 0; m < g->size && !rc; m++)
        rc = take_member(s, &r, &g->members[m], f);
    return rc ? rc : r.left ? nonsense(f) : 0;
}

int carry_unpack(struct session *s, const struct parcel *p, int n, struct fault *f)
{
    struct carry *c = s->carry;
    struct ids prompt = {0};
    int rc = 0;

    c->mine = mem_new((size_t)n, sizeof *c->mine, "carried groups", f);
    if (!c->mine)
        return f->code;
    for (int i = 0; i < n && !rc; i++) {
        rc = unpack_group(s, &p[i], &c->mine[c->n_mine], &prompt, f);
        if (c->mine[c->n_mine])
            c->n_mine++;
    }
    ids_free(&prompt);
    return rc;
}
