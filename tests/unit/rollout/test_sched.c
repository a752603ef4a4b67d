/* test_sched.c - pages, slots and the queue, without a model: a cache of token ids
 * stands for keys and values, so every row can check all that it would attend to, and a
 * hash of all tokens fed for the states of linear attention. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/mem.h"
#include "dapo/model.h"
#include "dapo/random.h"
#include "rollout/sched.h"

static void pages_are_counted(void)
{
    struct fault f = FAULT_INIT;
    struct pages p;

    CHECK_OK(pages_new(&p, 3, &f), &f);
    CHECK_INT(pages_take(&p), 0);
    CHECK_INT(pages_take(&p), 1);
    CHECK_INT(pages_take(&p), 2);
    CHECK_INT(pages_take(&p), -1);
    pages_share(&p, 1);
    pages_drop(&p, 1);
    CHECK_INT(p.n_free, 0); /* one holder is left */
    pages_drop(&p, 1);
    CHECK_INT(p.n_free, 1);
    CHECK_INT(pages_take(&p), 1);
    pages_reset(&p);
    CHECK_INT(p.n_free, 3);
    CHECK_INT(pages_take(&p), 0);
    pages_free(&p);
}

/* By hand, pages of 16: a prompt of 17 caches 16 tokens = 1 page to share; a member of
 * 5 tokens feeds positions 16..20 = 1 page.  A prompt of 16 caches 15 = 1 page, a
 * member's positions are 0 (15 copied rows) to 19 = 2 pages.  So at most 1 + 2. */
static void least_pages_by_hand(void)
{
    CHECK_INT(sched_least_pages(17, 5), 3);
    CHECK_INT(sched_least_pages(1, 1), 1);
    CHECK_INT(sched_least_pages(1, 17), 2);
    CHECK_INT(sched_ample_pages(4, 17, 5), 5 * 3);
    CHECK(sched_ample_pages(1 << 20, 1 << 30, 1 << 30) > INT32_MAX);
}

static struct group *make(int64_t index, int n_prompt, int size)
{
    struct fault f = FAULT_INIT;
    int ids[256];

    for (int i = 0; i < n_prompt; i++)
        ids[i] = (int)index * 1000 + i;
    return group_new(index, index, ids, n_prompt, size, &f);
}

/* The stand-in for a generator: `cell` is the cache, a member's token at position p is
 * a number that only it can have. */
struct bench {
    struct sched s;
    int *cell;
    struct memory {
        uint32_t tokens; /* a hash of them */
        int next;        /* position */
    } memory[16];
    int64_t last_serial; /* of the latest start */
    struct {
        int64_t serial;
        int member;
    } in[16]; /* whom each slot had last */
    int starts, most_rows;
};

static int token_of(const struct group *g, int member, int pos)
{
    if (pos < g->n_prompt)
        return g->prompt_ids[pos];
    return 1000000 + ((int)g->index * 64 + member) * 1000 + pos;
}

static void bench_open(struct bench *t, int slots, int pages, int states, int chunk,
                       int max_prompt, int max_tokens)
{
    struct fault f = FAULT_INIT;

    memset(t, 0, sizeof *t);
    CHECK_OK(sched_new(&t->s, slots, pages, states, chunk, max_prompt, max_tokens, &f),
             &f);
    t->cell = mem_new((size_t)pages * KV_PAGE, sizeof(int), "cells", &f);
    t->last_serial = -1;
    for (int i = 0; i < 16; i++)
        t->in[i].serial = -1;
}

static void bench_close(struct bench *t)
{
    sched_free(&t->s);
    free(t->cell);
}

static int *cell_at(struct bench *t, int seq, int pos)
{
    const struct kv_map map = sched_map(&t->s);

    return &t->cell[map.first[seq * map.stride + pos / map.page] + pos % map.page];
}

static const struct entry *entry_of_seq(const struct bench *t, int row, int *member)
{
    const struct batch *b = &t->s.batch;

    *member = 0;
    if (b->seq[row] < t->s.n_slots) {
        *member = t->s.slots[b->seq[row]].member;
        return t->s.slots[b->seq[row]].e;
    }
    for (int i = 0; i < t->s.n; i++)
        if (t->s.held[i]->g->prompt_ids[0] / 1000 == b->ids[row] / 1000)
            return t->s.held[i];
    return NULL;
}

/* The row's state has seen the tokens before it and no others; feed its own. */
static bool feed_state(struct bench *t, int row)
{
    const struct batch *b = &t->s.batch;
    int state = sched_map(&t->s).state[b->seq[row]], pos = b->pos[row], member;
    const struct entry *e;
    struct memory *m;
    uint32_t want = 0;

    if (t->s.states.total == 0)
        return state <= 0;
    m = &t->memory[state];
    if (t->s.states.holders[state] != 1)
        return false;
    if (pos == 0)
        *m = (struct memory){0};
    e = entry_of_seq(t, row, &member);
    for (int p = 0; p < pos; p++)
        want = want * 31 + (uint32_t)token_of(e->g, member, p);
    if (m->next != pos || m->tokens != want)
        return false;
    *m = (struct memory){want * 31 + (uint32_t)b->ids[row], pos + 1};
    return true;
}

/* One iteration; true if every row sees exactly its own sequence, and rows that are
 * decoded are written to pages nobody else holds. */
static bool bench_step(struct bench *t)
{
    const struct batch *b = &t->s.batch;
    bool good = true;

    sched_plan(&t->s);
    t->most_rows = b->rows > t->most_rows ? b->rows : t->most_rows;
    for (int i = 0; i < b->n_copy; i++)
        memcpy(&t->cell[b->copy[i].dst * KV_PAGE], &t->cell[b->copy[i].src * KV_PAGE],
               (size_t)b->copy[i].rows * sizeof(int));
    for (int i = 0; i < b->n_states; i++)
        t->memory[b->states[i].dst] = t->memory[b->states[i].src];
    for (int i = 0; i < b->rows; i++)
        good &= feed_state(t, i);
    for (int i = 0; i < b->rows; i++) {
        const int *at = cell_at(t, b->seq[i], b->pos[i]);

        *cell_at(t, b->seq[i], b->pos[i]) = b->ids[i];
        if (i < b->busy)
            good &= t->s.pages.holders[(at - t->cell) / KV_PAGE] == 1;
    }
    for (int i = 0; i < b->rows; i++) {
        int member;
        const struct entry *e = entry_of_seq(t, i, &member);

        for (int p = 0; p <= b->pos[i]; p++)
            good &= *cell_at(t, b->seq[i], p) == token_of(e->g, member, p);
    }
    return good && b->rows <= t->s.n_slots + t->s.chunk;
}

/* Starts are in order of submission, then of member. */
static bool starts_in_order(struct bench *t)
{
    bool good = true;

    for (int64_t serial = 0; serial < t->s.serial; serial++)
        for (int i = 0; i < t->s.n_slots; i++) {
            const struct slot *p = &t->s.slots[i];

            if (!p->e || p->e->serial != serial ||
                (t->in[i].serial == serial && t->in[i].member == p->member))
                continue;
            t->in[i].serial = serial;
            t->in[i].member = p->member;
            good &= serial >= t->last_serial;
            t->last_serial = serial;
            t->starts++;
        }
    return good;
}

/* Draw for each slot that draws; a member ends after a length drawn for it. */
static void bench_advance(struct bench *t, int seed)
{
    for (int i = 0; i < t->s.batch.busy; i++) {
        struct slot *p = &t->s.slots[t->s.batch.seq[i]];
        struct completion *m = &p->e->g->members[p->member];
        struct fault f = FAULT_INIT;
        int length;

        length = 1 + (int)random_below((uint64_t)t->s.max_tokens, (uint64_t)seed,
                                       RANDOM_TEST, (uint32_t)p->e->g->index,
                                       (uint32_t)p->member, 0, 0);
        p->pos++;
        CHECK_OK(completion_add(m, token_of(p->e->g, p->member, p->pos), 0, &f), &f);
        if (m->n_tokens >= length)
            sched_end(&t->s, t->s.batch.seq[i]);
    }
}

static void bench_take_ended(struct bench *t)
{
    for (int i = 0; i < t->s.n; i++)
        if (t->s.held[i]->ended == t->s.held[i]->g->size)
            group_free(sched_remove(&t->s, t->s.held[i--]));
}

static int below(int n, int seed, int i, int what)
{
    return (int)random_below((uint64_t)n, (uint64_t)seed, RANDOM_TEST, 1, (uint32_t)i,
                             (uint32_t)what, 0);
}

/* Tokens from an earlier step for some members; others had ended there.  Returns how
 * many go on. */
static int begin_earlier(struct group *g, int max_tokens, int seed)
{
    int open = 0;

    for (int k = 0; k < g->size; k++) {
        struct completion *m = &g->members[k];
        int n = seed && below(2, seed, k, 7) ? below(max_tokens, seed, k, 8) : 0;
        struct fault f = FAULT_INIT;

        for (int t = 0; t < n; t++)
            CHECK_OK(completion_add(m, token_of(g, k, g->n_prompt + t), 0, &f), &f);
        if (n > 0 && below(4, seed, k, 9) == 0)
            m->finish = FINISH_STOP;
        open += m->finish == FINISH_NONE;
    }
    return open;
}

/* Random groups, some begun before, and lengths under random slots, chunks and the
 * tightest pages: all end, nobody overtakes, no page is lost, every row sees its own
 * sequence. */
static void every_row_sees_its_own_sequence(void)
{
    for (int seed = 0; seed < 60; seed++) {
        int max_prompt = 1 + below(40, seed, 0, 0),
            max_tokens = 1 + below(40, seed, 0, 1);
        int slots = 1 + below(9, seed, 0, 2), chunk = 1 + below(30, seed, 0, 3);
        int spare = below(3, seed, 0, 4) * 4, groups = 12, members = 0, steps = 0;
        int pages = (int)sched_least_pages(max_prompt, max_tokens) + spare;
        int states = seed % 3 ? slots + sched_prompt_states(slots) : 0;
        struct fault f = FAULT_INIT;
        struct bench t;
        bool good = true;

        bench_open(&t, slots, pages, states, chunk, max_prompt, max_tokens);
        for (int i = 0; i < groups; i++) {
            struct group *g =
                make(i, 1 + below(max_prompt, seed, i, 5), 1 + below(6, seed, i, 6));

            members += begin_earlier(g, max_tokens, seed % 2 ? 100 * seed + i : 0);
            CHECK_OK(sched_add(&t.s, g, &f), &f);
        }
        for (; t.s.running + t.s.waiting > 0 && steps < 20000; steps++) {
            good &= bench_step(&t) && t.s.batch.rows > 0 && starts_in_order(&t);
            bench_advance(&t, seed);
            if (steps % 7 == 0)
                bench_take_ended(&t);
        }
        bench_take_ended(&t);
        CHECK(good);
        CHECK_INT(t.s.running + t.s.waiting, 0);
        CHECK_INT(t.starts, members);
        CHECK_INT(t.s.n, 0);
        CHECK_INT(t.s.pages.n_free, pages);
        CHECK_INT(t.s.states.n_free, t.s.states.total);
        CHECK_INT(t.s.ahead, 0);
        sched_plan(&t.s);
        CHECK_INT(t.s.batch.rows, 0);
        bench_close(&t);
    }
}

/* The same with candidates cancelled in any state: waiting, in prefill, running. */
static void cancelling_gives_all_pages_back(void)
{
    for (int seed = 100; seed < 140; seed++) {
        int pages = (int)sched_least_pages(33, 20) + 3 * below(4, seed, 0, 0);
        struct fault f = FAULT_INIT;
        struct bench t;
        bool good = true;

        bench_open(&t, 4, pages, seed % 2 ? 4 + 1 : 0, 5, 33, 20);
        for (int i = 0; i < 12; i++)
            CHECK_OK(sched_add(&t.s, make(i, 1 + below(33, seed, i, 1), 3), &f), &f);
        for (int i = 0; t.s.running + t.s.waiting > 0 && i < 5000; i++) {
            struct entry *e = sched_find(&t.s, below(12, seed, i, 2));

            good &= bench_step(&t);
            bench_advance(&t, seed);
            if (below(4, seed, i, 3) == 0 && e && e->ended < e->g->size)
                sched_cancel(&t.s, e);
            bench_take_ended(&t);
        }
        CHECK(good);
        CHECK_INT(t.s.running + t.s.waiting + t.s.n, 0);
        CHECK_INT(t.s.pages.n_free, pages);
        CHECK_INT(t.s.states.n_free, t.s.states.total);
        CHECK_INT(t.s.ahead, 0);
        bench_close(&t);
    }
}

/* 40 prompt tokens, 39 of them prefilled 16 at a time; then both members start. */
static void prefill_is_cut_into_chunks(void)
{
    struct fault f = FAULT_INIT;
    struct bench t;

    bench_open(&t, 2, 64, 2 + 1, 16, 64, 8);
    CHECK_OK(sched_add(&t.s, make(0, 40, 2), &f), &f);
    CHECK_OK(sched_add(&t.s, make(1, 5, 1), &f), &f);
    for (int i = 0; i < 2; i++) {
        CHECK(bench_step(&t));
        CHECK_INT(t.s.batch.rows, 16);
        CHECK_INT(t.s.batch.busy, 0);
    }
    CHECK(bench_step(&t));
    CHECK_INT(t.s.batch.rows, 7); /* the second waits: both slots are spoken for */
    CHECK(bench_step(&t));
    CHECK_INT(t.s.batch.busy, 2);
    CHECK_INT(t.s.batch.n_copy, 2);
    CHECK_INT(t.s.batch.n_states, 1); /* the last member takes the prompt's over */
    CHECK_INT(t.s.batch.rows, 2 + 4); /* one group is prefilled ahead */
    bench_close(&t);
}

/* 4 slots; room counts down as members are submitted, and with pages for one member
 * only, nobody else is asked for. */
static void room_is_what_can_run(void)
{
    struct fault f = FAULT_INIT;
    struct bench t;

    bench_open(&t, 4, (int)sched_ample_pages(4, 17, 5), 0, 8, 17, 5);
    CHECK_INT(sched_room(&t.s), 4);
    CHECK_OK(sched_add(&t.s, make(0, 3, 3), &f), &f);
    CHECK_INT(sched_room(&t.s), 1);
    CHECK_OK(sched_add(&t.s, make(1, 3, 3), &f), &f);
    CHECK_INT(sched_room(&t.s), 0);
    bench_close(&t);
    bench_open(&t, 4, (int)sched_least_pages(17, 5), 0, 8, 17, 5);
    CHECK_INT(sched_room(&t.s), 1);
    CHECK_OK(sched_add(&t.s, make(0, 3, 1), &f), &f);
    CHECK_INT(sched_room(&t.s), 0);
    bench_close(&t);
    bench_open(&t, 4, 4, 0, 8, 17, 5); /* two of a group may need 1 + 2 + 2 pages */
    CHECK_INT(sched_room(&t.s), 1);
    bench_close(&t);
}

CASES(CASE(pages_are_counted), CASE(least_pages_by_hand),
      CASE(every_row_sees_its_own_sequence), CASE(cancelling_gives_all_pages_back),
      CASE(prefill_is_cut_into_chunks), CASE(room_is_what_can_run));
