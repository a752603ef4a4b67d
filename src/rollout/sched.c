/* sched.c - slots, pages and the queue; see sched.h for why it can't deadlock. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "dapo/model.h"
#include "rollout/sched.h"

static int at_least(int64_t tokens)
{
    return (int)((tokens + KV_PAGE - 1) / KV_PAGE);
}

/* Pages of a member behind the full ones it shares: the rest of the prompt's cached
 * part, the last prompt token and all completion tokens but the last, which is never
 * fed. */
static int member_pages(const struct sched *s, int n_prompt)
{
    return at_least((int64_t)(n_prompt - 1) % KV_PAGE + s->max_tokens);
}

static int prompt_pages(int n_prompt)
{
    return at_least(n_prompt - 1);
}

static int most_member_pages(int max_prompt, int max_tokens)
{
    int rest = max_prompt < KV_PAGE ? max_prompt - 1 : KV_PAGE - 1;

    return at_least((int64_t)rest + max_tokens);
}

int64_t sched_least_pages(int max_prompt, int max_tokens)
{
    return (int64_t)prompt_pages(max_prompt) +
           most_member_pages(max_prompt, max_tokens);
}

int64_t sched_ample_pages(int slots, int max_prompt, int max_tokens)
{
    /* every slot another group's, and one group prefilled ahead */
    return slots * sched_least_pages(max_prompt, max_tokens) +
           prompt_pages(max_prompt) + most_member_pages(max_prompt, max_tokens);
}

static int batch_new(struct batch *b, int slots, int chunk, struct fault *f)
{
    size_t rows = (size_t)slots + (size_t)chunk, n = (size_t)slots;

    b->ids = mem_new(rows, sizeof *b->ids, "the batch", f);
    b->seq = mem_new(rows, sizeof *b->seq, "the batch", f);
    b->pos = mem_new(rows, sizeof *b->pos, "the batch", f);
    b->out = mem_new(n, sizeof *b->out, "the batch", f);
    b->copy = mem_new(n, sizeof *b->copy, "the batch", f);
    b->states = mem_new(n, sizeof *b->states, "the batch", f);
    if (!b->ids || !b->seq || !b->pos || !b->out || !b->copy || !b->states)
        return FAULT_SYSTEM;
    for (int i = 0; i < slots; i++)
        b->out[i] = i;
    return 0;
}

int sched_prompt_states(int slots)
{
    return slots / 8 + 1;
}

int sched_new(struct sched *s, int slots, int pages, int states, int chunk,
              int max_prompt, int max_tokens, struct fault *f)
{
    size_t cells;
    int rc;

    *s = (struct sched){.n_slots = slots,
                        .chunk = chunk,
                        .max_prompt = max_prompt,
                        .max_tokens = max_tokens};
    s->stride = at_least((int64_t)max_prompt + max_tokens - 1);
    if (!size_mul(2 * (size_t)slots, (size_t)s->stride, &cells))
        return fault_set(f, FAULT_SYSTEM, "no memory for the maps of %d slots", slots);
    s->slots = mem_new((size_t)slots, sizeof *s->slots, "the slots", f);
    s->first = mem_new(cells, sizeof *s->first, "the maps of the slots", f);
    s->state = mem_new(2 * (size_t)slots, sizeof *s->state, "the maps of the slots", f);
    if (!s->slots || !s->first || !s->state)
        return FAULT_SYSTEM;
    if ((rc = pages_new(&s->pages, pages, f)) ||
        (states && (rc = pages_new(&s->states, states, f))))
        return rc;
    return batch_new(&s->batch, slots, chunk, f);
}

static void entry_free(struct entry *e)
{
    group_free(e->g);
    free(e->pages);
    free(e);
}

void sched_reset(struct sched *s)
{
    for (int i = 0; i < s->n; i++)
        entry_free(s->held[i]);
    s->n = s->head = s->running = s->waiting = s->ahead = 0;
    s->serial = 0;
    s->batch.rows = s->batch.busy = s->batch.n_copy = s->batch.n_states = 0;
    for (int i = 0; s->slots && i < s->n_slots; i++)
        s->slots[i] = (struct slot){0};
    if (s->pages.holders)
        pages_reset(&s->pages);
    if (s->states.holders)
        pages_reset(&s->states);
}

void sched_free(struct sched *s)
{
    for (int i = 0; i < s->n; i++)
        entry_free(s->held[i]);
    free(s->held);
    free(s->slots);
    free(s->first);
    free(s->state);
    free(s->batch.ids);
    free(s->batch.seq);
    free(s->batch.pos);
    free(s->batch.out);
    free(s->batch.copy);
    free(s->batch.states);
    pages_free(&s->pages);
    pages_free(&s->states);
    *s = (struct sched){0};
}

/* -- entries ----------------------------------------------------------------------- */

int sched_add(struct sched *s, struct group *g, struct fault *f)
{
    void *held = s->held;
    struct entry *e;
    int rc = mem_grow(&held, &s->cap, (size_t)s->n + 1, sizeof *s->held,
                      "the groups being generated", f);

    s->held = held;
    if (rc)
        return rc;
    e = mem_new(1, sizeof *e, "a group being generated", f);
    if (!e)
        return FAULT_SYSTEM;
    e->pages = mem_new((size_t)prompt_pages(g->n_prompt), sizeof *e->pages,
                       "the pages of a prompt", f);
    if (!e->pages) {
        free(e);
        return FAULT_SYSTEM;
    }
    e->g = g;
    e->state = -1;
    e->serial = s->serial++;
    for (int i = 0; i < g->size; i++)
        e->ended += g->members[i].finish != FINISH_NONE;
    e->waiting = g->size - e->ended;
    s->held[s->n++] = e;
    s->waiting += e->waiting;
    return 0;
}

struct entry *sched_find(const struct sched *s, int64_t index)
{
    for (int i = 0; i < s->n; i++)
        if (s->held[i]->g->index == index)
            return s->held[i];
    return NULL;
}

struct group *sched_remove(struct sched *s, struct entry *e)
{
    struct group *g = e->g;
    int i = 0;

    assert(e->ended == g->size);
    while (s->held[i] != e)
        i++;
    memmove(&s->held[i], &s->held[i + 1], (size_t)(s->n - i - 1) * sizeof *s->held);
    s->n--;
    if (i < s->head)
        s->head--;
    e->g = NULL;
    entry_free(e);
    return g;
}

static bool is_filled(const struct entry *e)
{
    return e->admitted && e->filled == e->g->n_prompt - 1;
}

static void drop_state(struct sched *s, int *state)
{
    if (*state >= 0)
        pages_drop(&s->states, *state);
    *state = -1;
}

/* The group's own hold on its prompt; members that run keep theirs. */
static void drop_prompt(struct sched *s, struct entry *e)
{
    if (e->state >= 0)
        s->ahead--;
    drop_state(s, &e->state);
    for (int k = 0; k < e->n_pages; k++)
        pages_drop(&s->pages, e->pages[k]);
    e->n_pages = 0;
}

/* -- the plan ---------------------------------------------------------------------- */

/* Members and pages that admitted groups still wait for. */
struct wants {
    int members;
    int64_t pages;
};

/* A group is let in for the slots nobody waits for; if there is none, one group is
 * still prefilled ahead, so that the next free slot needn't idle. */
static bool admit(struct sched *s, struct entry *e, const struct wants *w)
{
    int n = prompt_pages(e->g->n_prompt);

    if (w->members > 0 && w->members >= s->n_slots - s->running)
        return false;
    if (s->pages.n_free - w->pages < n + member_pages(s, e->g->n_prompt))
        return false;
    if (s->states.total) {
        if (s->ahead == sched_prompt_states(s->n_slots))
            return false;
        e->state = pages_take(&s->states);
        s->ahead++;
    }
    for (int k = 0; k < n; k++)
        e->pages[k] = pages_take(&s->pages);
    e->n_pages = n;
    e->admitted = true;
    return true;
}

static int free_slot(const struct sched *s)
{
    int i = 0;

    while (s->slots[i].e)
        i++;
    return i;
}

/* The state of a member that starts: a copy of its prompt's, or that itself if nobody
 * else waits for it. */
static int start_state(struct sched *s, struct entry *e)
{
    int own = e->state;

    if (own < 0)
        return -1;
    if (e->waiting > 1) {
        own = pages_take(&s->states);
        if (e->filled > 0)
            s->batch.states[s->batch.n_states++] = (struct state_copy){own, e->state};
        return own;
    }
    e->state = -1;
    s->ahead--;
    return own;
}

static void start(struct sched *s, struct entry *e)
{
    const struct group *g = e->g;
    int cached = g->n_prompt - 1, shared = cached / KV_PAGE, i = free_slot(s);
    int *row = s->first + (size_t)i * (size_t)s->stride;
    struct slot *slot = &s->slots[i];

    while (g->members[e->next].finish != FINISH_NONE)
        e->next++;
    *slot = (struct slot){.e = e, .member = e->next++, .pos = cached};
    s->state[i] = start_state(s, e);
    e->waiting--;
    slot->n_pages = shared + member_pages(s, g->n_prompt);
    for (int k = 0; k < shared; k++) {
        pages_share(&s->pages, e->pages[k]);
        row[k] = e->pages[k] * KV_PAGE;
    }
    for (int k = shared; k < slot->n_pages; k++)
        row[k] = pages_take(&s->pages) * KV_PAGE;
    if (cached % KV_PAGE)
        s->batch.copy[s->batch.n_copy++] = (struct page_copy){
            row[shared] / KV_PAGE, e->pages[shared], cached % KV_PAGE};
    s->running++;
    s->waiting--;
}

static void start_members(struct sched *s, struct entry *e)
{
    int need = member_pages(s, e->g->n_prompt);

    while (e->waiting && s->running < s->n_slots && s->pages.n_free >= need)
        start(s, e);
    if (!e->waiting)
        drop_prompt(s, e);
}

static void admit_and_start(struct sched *s)
{
    struct wants w = {0};

    while (s->head < s->n && !s->held[s->head]->waiting)
        s->head++;
    for (int i = s->head; i < s->n; i++) {
        struct entry *e = s->held[i];

        if (!e->waiting)
            continue;
        if (!e->admitted && !admit(s, e, &w))
            break;
        if (is_filled(e) && !w.members)
            start_members(s, e);
        w.members += e->waiting;
        w.pages += (int64_t)e->waiting * member_pages(s, e->g->n_prompt);
    }
}

static void add_row(struct batch *b, int id, int seq, int pos)
{
    b->ids[b->rows] = id;
    b->seq[b->rows] = seq;
    b->pos[b->rows++] = pos;
}

/* The token at a position of the slot's sequence. */
static int token_at(const struct slot *p, int pos)
{
    const struct group *g = p->e->g;

    return pos < g->n_prompt ? g->prompt_ids[pos]
                             : g->members[p->member].ids[pos - g->n_prompt];
}

/* Where the token is fed whose logits the next draw is from. */
static int last_pos(const struct slot *p)
{
    return p->e->g->n_prompt - 1 + p->e->g->members[p->member].n_tokens;
}

/* Members that go on from an earlier step: what they have drawn, but for the last. */
static int add_earlier(struct sched *s)
{
    int left = s->chunk;

    for (int i = 0; i < s->n_slots && left > 0; i++) {
        struct slot *p = &s->slots[i];

        for (; p->e && p->pos < last_pos(p) && left > 0; left--, p->pos++)
            add_row(&s->batch, token_at(p, p->pos), i, p->pos);
    }
    return left;
}

/* Admitted groups that are not filled are fewer than the slots: see admit. */
static void add_prompts(struct sched *s, int left)
{
    int seq = s->n_slots;

    for (int i = s->head; i < s->n && s->held[i]->admitted && left > 0; i++) {
        struct entry *e = s->held[i];
        int *row;

        if (!e->waiting || is_filled(e))
            continue;
        assert(seq < 2 * s->n_slots);
        row = s->first + (size_t)seq * (size_t)s->stride;
        for (int k = 0; k < e->n_pages; k++)
            row[k] = e->pages[k] * KV_PAGE;
        s->state[seq] = e->state;
        for (; e->filled < e->g->n_prompt - 1 && left > 0; left--, e->filled++)
            add_row(&s->batch, e->g->prompt_ids[e->filled], seq, e->filled);
        seq++;
    }
}

void sched_plan(struct sched *s)
{
    struct batch *b = &s->batch;

    b->rows = b->n_copy = b->n_states = 0;
    admit_and_start(s);
    for (int i = 0; i < s->n_slots; i++) {
        const struct slot *p = &s->slots[i];

        if (p->e && p->pos == last_pos(p))
            add_row(b, token_at(p, p->pos), i, p->pos);
    }
    b->busy = b->rows;
    add_prompts(s, add_earlier(s));
}

struct kv_map sched_map(const struct sched *s)
{
    return (struct kv_map){
        .page = KV_PAGE, .stride = s->stride, .first = s->first, .state = s->state};
}

/* -- endings ----------------------------------------------------------------------- */

void sched_end(struct sched *s, int slot)
{
    const int *row = s->first + (size_t)slot * (size_t)s->stride;
    struct slot *p = &s->slots[slot];

    for (int k = 0; k < p->n_pages; k++)
        pages_drop(&s->pages, row[k] / KV_PAGE);
    drop_state(s, &s->state[slot]);
    p->e->ended++;
    *p = (struct slot){0};
    s->running--;
}

void sched_cancel(struct sched *s, struct entry *e)
{
    for (int i = 0; i < s->n_slots; i++)
        if (s->slots[i].e == e)
            sched_end(s, i);
    s->waiting -= e->waiting;
    e->waiting = 0;
    e->ended = e->g->size;
    drop_prompt(s, e);
}

int sched_room(const struct sched *s)
{
    int64_t pages = s->pages.n_free, room = s->n_slots - s->running - s->waiting;

    for (int i = s->head; i < s->n; i++) {
        const struct entry *e = s->held[i];
        int n = e->g->n_prompt;

        if (!e->waiting)
            continue;
        pages -= (int64_t)e->waiting * member_pages(s, n);
        pages -= e->admitted ? 0 : prompt_pages(n);
    }
    pages -= prompt_pages(s->max_prompt);
    pages /= most_member_pages(s->max_prompt, s->max_tokens);
    room = room < pages ? room : pages;
    return room > 0 ? (int)room : 0;
}
