/* carry.c - what a step leaves to the next one. */
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "train/carry.h"

static void candidates_free(struct candidate *c, int n)
{
    for (int i = 0; i < n; i++)
        free(c[i].member);
    free(c);
}

int carry_note(struct carry *c, const struct session *s, int64_t step, struct fault *f)
{
    int n = admission_state_size(s->admission);
    double *state = mem_new((size_t)n, sizeof *state, "admission's state", f);

    if (!state)
        return f->code;
    admission_state_get(s->admission, state);
    free(c->before.state);
    c->before = c->now;
    c->now = (struct past){step, state, n};
    return 0;
}

const struct past *carry_past(const struct session *s)
{
    const struct carry *c = s->carry;

    return c->now.step == s->step ? &c->now : &c->before;
}

int carry_new(struct carry **out, const struct session *s, struct fault *f)
{
    struct carry *c = mem_new(1, sizeof *c, "what steps leave", f);

    *out = c;
    if (!c)
        return f->code;
    c->size = (int)s->cfg->admission.group_size;
    if (!s->admission)
        return 0;
    c->n_prompts = s->train.n;
    c->history = mem_new((size_t)c->n_prompts, 1, "the prompts' history", f);
    return c->history ? carry_note(c, s, 0, f) : f->code;
}

void carry_free(struct carry *c)
{
    if (!c)
        return;
    for (int i = c->n_lent; i < c->n_mine; i++)
        group_free(c->mine[i]);
    free(c->mine);
    candidates_free(c->all, c->n_all);
    free(c->history);
    free(c->now.state);
    free(c->before.state);
    free(c->visits);
    free(c);
}

int candidate_copy(struct candidate *to, const struct candidate *from, int size,
                   struct fault *f)
{
    *to = *from;
    to->member = mem_new((size_t)size, sizeof *to->member, "candidates", f);
    if (!to->member)
        return f->code;
    memcpy(to->member, from->member, (size_t)size * sizeof *to->member);
    return 0;
}

static bool complete(const struct candidate *k, int size)
{
    for (int m = 0; m < size; m++)
        if (!k->member[m].ended)
            return false;
    return true;
}

/* What the candidates that decided the batch say of their prompts. */
static int note_visits(struct carry *c, const struct candidate *all,
                       const struct settled *r, struct fault *f)
{
    struct visit *v =
        mem_new((size_t)r->consumed, sizeof *v, "the prompts' history", f);

    if (!v)
        return f->code;
    free(c->visits);
    c->visits = v;
    c->n_visits = 0;
    for (int64_t i = 0; i < r->consumed; i++) {
        const struct candidate *k = &all[i];
        int correct = 0;

        if (!complete(k, c->size) || r->fate[i] == FATE_FAILED ||
            r->fate[i] == FATE_STALE)
            continue;
        for (int m = 0; m < c->size; m++)
            correct += k->member[m].correct;
        v[c->n_visits++] = (struct visit){k->prompt, c->history[k->prompt]};
        c->history[k->prompt] = (unsigned char)history_after(correct, c->size);
    }
    return 0;
}

int carry_leave(struct carry *c, const struct session *s, const struct candidate *all,
                const struct settled *r, struct fault *f)
{
    int n = (int)r->carried, rc = 0;
    struct candidate *go = mem_new((size_t)n, sizeof *go, "carried groups", f);

    if (!go)
        return f->code;
    for (int i = 0; i < n && !rc; i++)
        rc = candidate_copy(&go[i], &all[r->started + i], c->size, f);
    if (!rc)
        rc = note_visits(c, all, r, f);
    if (!rc)
        rc = carry_note(c, s, s->drawing.step, f);
    if (rc) {
        candidates_free(go, n);
        return rc;
    }
    candidates_free(c->all, c->n_all);
    c->all = go;
    c->n_all = n;
    return 0;
}

/* As the step that is dropped began with it. */
static void rewind_group(struct group *g)
{
    for (int k = 0; k < g->size; k++)
        completion_rewind(&g->members[k]);
}

/* As the next step will begin with it. */
static void renumber(struct group *g, int64_t first)
{
    g->index -= first;
    g->started_s = g->finished_s = 0;
    for (int k = 0; k < g->size; k++)
        g->members[k].n_carried = g->members[k].n_tokens;
}

int carry_keep(struct session *s, struct settled *r, struct fault *f)
{
    struct carry *c = s->carry;
    struct group **keep = mem_new((size_t)r->n_mine, sizeof *keep, "carried groups", f);
    int left = 0;

    if (!keep)
        return f->code;
    free(c->mine);
    c->mine = keep;
    c->n_mine = c->n_lent = 0;
    for (int i = 0; i < r->n_mine; i++) {
        struct group *g = r->mine[i];
        bool kept =
            r->abandoned ? g->born_step < s->drawing.step : g->index >= r->started;

        if (!kept) {
            r->mine[left++] = g;
            continue;
        }
        if (r->abandoned)
            rewind_group(g);
        else
            renumber(g, r->started);
        r->tokens_out += group_carried(g);
        keep[c->n_mine++] = g;
    }
    r->n_mine = left;
    return 0;
}
