/* test_rollout.c - the generator against one that knows no batch, and its contract. */
#include <malloc.h>
#include <math.h>

#include "unit/rollout/drive.h"

enum { GROUPS = 12 };

/* Around the page of 16, alone and in groups. */
static const int prompt_length[GROUPS] = {1, 2, 15, 16, 17, 18, 31, 32, 33, 34, 40, 5};
static const int group_size[GROUPS] = {3, 1, 2, 4, 3, 2, 1, 5, 2, 3, 2, 6};

struct plain {
    struct model *m;
    struct group *want[GROUPS];
};

static struct plain plain_new(int64_t step, enum arch arch)
{
    struct rollout_config c = drive_config(1);
    struct plain p = {.m = drive_model_of(arch)};

    for (int i = 0; i < GROUPS; i++) {
        p.want[i] = drive_group(i, prompt_length[i], group_size[i]);
        drive_plainly(p.m, &c, step, p.want[i]);
    }
    return p;
}

static void plain_free(struct plain *p)
{
    for (int i = 0; i < GROUPS; i++)
        group_free(p->want[i]);
    model_free(p->m);
}

static void submit(struct rollout *r, int i)
{
    struct fault f = FAULT_INIT;
    struct group *g = drive_group(i, prompt_length[i], group_size[i]);

    CHECK_OK(rollout_submit(r, g, &f), &f);
}

static void check_taken(struct rollout *r, const struct plain *p, int i)
{
    struct group *g = rollout_take(r, i);

    CHECK(g != NULL);
    CHECK(g && same_group(g, p->want[i]));
    group_free(g);
}

static void batched(enum arch arch)
{
    static const struct {
        int slots, chunk, slice, stride; /* submission order: i * stride mod 12 */
        bool tight;                      /* the fewest pages */
    } t[] = {
        {1, 16, 5, 1, false},  {3, 1, 1, 5, false}, {8, 7, 3, 7, true},
        {8, 64, 9, 11, false}, {32, 5, 4, 1, true}, {32, 1000, 1000, 5, false},
        {3, 33, 2, 11, true},
    };
    struct plain p = plain_new(3, arch);
    int stops = 0, limits = 0;

    for (int i = 0; i < GROUPS; i++)
        for (int k = 0; k < group_size[i]; k++) {
            stops += p.want[i]->members[k].finish == FINISH_STOP;
            limits += p.want[i]->members[k].finish == FINISH_LENGTH;
        }
    CHECK(stops > 5 && limits > 5); /* both endings are covered */
    for (size_t n = 0; n < sizeof t / sizeof t[0]; n++) {
        struct rollout_config c = drive_config(t[n].slots);
        struct rollout *r;

        c.prefill_chunk = t[n].chunk;
        c.kv_pages = t[n].tight ? 3 + 3 : 0;
        r = drive_new(p.m, &c);
        rollout_begin(r, 3, 0);
        for (int i = 0; i < GROUPS; i++)
            submit(r, i * t[n].stride % GROUPS);
        drive_end(r, t[n].slice);
        for (int i = 0; i < GROUPS; i++)
            check_taken(r, &p, i);
        rollout_free(r);
    }
    plain_free(&p);
}

static void invariant_4_batching_cant_change_a_token(void)
{
    drive_both(batched);
}

static void alone(enum arch arch)
{
    struct plain p = plain_new(0, arch);
    struct rollout_config c = drive_config(8);
    struct rollout *r = drive_new(p.m, &c);
    struct fault f = FAULT_INIT;

    for (int i = 0; i < GROUPS; i++) {
        rollout_begin(r, 0, 0);
        submit(r, i);
        drive_end(r, 100);
        check_taken(r, &p, i);
    }
    rollout_begin(r, 0, 0);
    for (int i = 0; i < GROUPS; i++)
        submit(r, i);
    for (int i = 0; i < GROUPS; i += 2) { /* at any time, waiting or decoding */
        CHECK_OK(rollout_slice(r, 4, false, NULL, &f), &f);
        rollout_cancel(r, i);
    }
    drive_end(r, 6);
    for (int i = 1; i < GROUPS; i += 2)
        check_taken(r, &p, i);
    rollout_free(r);
    plain_free(&p);
}

static void invariant_4_alone_and_after_cancelling_others(void)
{
    drive_both(alone);
}

/* The forward of training gives the stored log-probs, bit for bit: the first ratio is
 * one (invariant 5). */
static void trained(enum arch arch)
{
    struct plain p = plain_new(0, arch);
    const struct group *g = p.want[7];
    struct fault f = FAULT_INIT;

    for (int k = 0; k < g->size; k++) {
        const struct completion *o = &g->members[k];
        int ids[128], at[64], start[2] = {0, g->n_prompt + o->n_tokens};
        struct pack pack = {start[1], 1, ids, start};
        float logp[64];

        for (int i = 0; i < start[1]; i++)
            ids[i] = i < g->n_prompt ? g->prompt_ids[i] : o->ids[i - g->n_prompt];
        for (int i = 0; i < o->n_tokens; i++)
            at[i] = g->n_prompt - 1 + i;
        CHECK_OK(model_forward(p.m, &pack, &f), &f);
        CHECK_OK(
            model_head(p.m, at, o->ids, o->n_tokens, 1.0f, logp, NULL, NULL, NULL, &f),
            &f);
        CHECK(!memcmp(logp, o->logprobs, (size_t)o->n_tokens * sizeof *logp));
    }
    plain_free(&p);
}

static void invariant_5_training_forward_gives_the_stored_logprobs(void)
{
    drive_both(trained);
}

static void cancelled(enum arch arch)
{
    struct plain p = plain_new(0, arch);
    struct rollout_config c = drive_config(4);
    struct rollout *r = drive_new(p.m, &c);
    struct fault f = FAULT_INIT;
    int64_t tokens = 0;
    int cancelled = 0, part = 0;

    for (int i = 0; i < GROUPS; i++)
        submit(r, i);
    CHECK_OK(rollout_slice(r, 17, false, NULL, &f), &f);
    CHECK(rollout_take(r, 7) == NULL); /* still unfinished */
    for (int i = 0; i < GROUPS; i++)
        rollout_cancel(r, i);
    rollout_cancel(r, 999);
    CHECK_INT(rollout_busy(r), 0);
    CHECK_INT(rollout_free_slots(r), 4);
    for (int i = 0; i < GROUPS; i++) {
        struct group *g = rollout_take(r, i);

        tokens += group_tokens(g);
        for (int k = 0; k < g->size; k++) {
            const struct completion *o = &g->members[k];

            CHECK(same_tokens(o, &p.want[i]->members[k], o->n_tokens));
            cancelled += o->finish == FINISH_CANCELLED;
            part += o->finish == FINISH_CANCELLED && o->n_tokens > 0;
            CHECK(o->finish == FINISH_CANCELLED ||
                  o->finish == p.want[i]->members[k].finish);
        }
        group_free(g);
    }
    CHECK(cancelled > 10 && part > 0);
    CHECK_INT(tokens, rollout_stats(r).decoded);
    rollout_free(r);
    plain_free(&p);
}

static void invariant_8_cancelled_members_keep_their_tokens(void)
{
    drive_both(cancelled);
}

/* A stop id at exactly max_tokens is a stop; one token later it never comes. */
static void the_cause_is_the_reason(void)
{
    struct plain p = plain_new(0, ARCH_QWEN2);
    struct rollout_config c = drive_config(6);
    struct fault f = FAULT_INIT;
    int seen = 0;

    for (int i = 0; i < GROUPS; i++) {
        const struct completion *o = &p.want[i]->members[0];

        if (o->finish != FINISH_STOP || o->n_tokens < 2)
            continue;
        for (int cut = 0; cut < 2; cut++) {
            struct group *g = drive_group(i, prompt_length[i], 1);
            struct rollout *r;

            c.max_tokens = o->n_tokens - cut;
            r = drive_new(p.m, &c);
            CHECK_OK(rollout_submit(r, g, &f), &f);
            drive_end(r, 3);
            CHECK_INT(g->members[0].finish, cut ? FINISH_LENGTH : FINISH_STOP);
            CHECK_INT(g->members[0].n_tokens, c.max_tokens);
            CHECK(same_tokens(&g->members[0], o, c.max_tokens));
            rollout_free(r);
        }
        seen++;
    }
    CHECK(seen > 0);
    plain_free(&p);
}

static void one_token_is_enough(void)
{
    struct model *m = drive_model();
    struct rollout_config c = drive_config(2);
    struct fault f = FAULT_INIT;
    struct group *g = drive_group(0, 1, 5);
    struct rollout *r;

    c.max_tokens = c.max_prompt = 1;
    c.n_stop = 0;
    r = drive_new(m, &c);
    CHECK_OK(rollout_submit(r, g, &f), &f);
    drive_end(r, 100);
    for (int k = 0; k < 5; k++) {
        CHECK_INT(g->members[k].n_tokens, 1);
        CHECK_INT(g->members[k].finish, FINISH_LENGTH);
    }
    CHECK_INT(rollout_stats(r).iterations,
              3); /* 2 + 2 + 1 members, nothing to prefill */
    rollout_free(r);
    model_free(m);
}

/* News comes by iteration, then submission, then member; until_finish stops at it. */
static void news_is_in_order(void)
{
    struct plain p = plain_new(0, ARCH_QWEN2);
    struct rollout_config c = drive_config(5);
    struct rollout *r = drive_new(p.m, &c);
    struct fault f = FAULT_INIT;
    int told = 0, members = 0, total = 0;
    struct group *g;
    int member, done;

    for (int i = 0; i < GROUPS; i++) {
        submit(r, GROUPS - 1 - i);
        members += group_size[i];
    }
    CHECK(!rollout_next(r, &g, &member));
    while (rollout_busy(r) && total < 10000 && drive_slice(r, 1000, true, &done)) {
        int64_t last = -1;

        total += done;
        for (int n = 0; rollout_next(r, &g, &member); n++) {
            int64_t rank = (GROUPS - 1 - g->index) * 100 + member;

            CHECK(rank > last);
            CHECK(g->members[member].finish != FINISH_NONE);
            last = rank;
            told++;
        }
        CHECK(last >= 0); /* each slice ended because of somebody */
    }
    CHECK_INT(told, members);
    CHECK_INT(total, rollout_stats(r).iterations);
    CHECK_OK(rollout_slice(r, 5, false, &done, &f), &f);
    CHECK_INT(done, 0);
    rollout_free(r);
    plain_free(&p);
}

/* Slices of one iteration that stop nowhere else: the same news at the same counts. */
static void slices_are_exact(void)
{
    struct model *m = drive_model();
    struct rollout_config c = drive_config(5);
    struct rollout *r = drive_new(m, &c);
    struct fault f = FAULT_INIT;
    int done, member, first = 0;
    struct group *g;

    submit(r, 7);
    submit(r, 8);
    while (!rollout_next(r, &g, &member) && first < 10000 &&
           drive_slice(r, 1, false, &done)) {
        CHECK_INT(done, 1);
        first++;
    }
    rollout_begin(r, 0, 0);
    submit(r, 7);
    submit(r, 8);
    CHECK_OK(rollout_slice(r, first - 1, true, &done, &f), &f);
    CHECK_INT(done, first - 1);
    CHECK(!rollout_next(r, &g, &member));
    CHECK_OK(rollout_slice(r, 1000, true, &done, &f), &f);
    CHECK_INT(done, 1);
    CHECK(rollout_next(r, &g, &member));
    rollout_begin(r, 0, 0);
    submit(r, 7);
    submit(r, 8);
    CHECK_OK(rollout_slice(r, first + 1, false, &done, &f), &f);
    CHECK_INT(done, first + 1); /* not until_finish: a finish doesn't end it */
    rollout_free(r);
    model_free(m);
}

static void taking_a_group_drops_its_news(void)
{
    struct model *m = drive_model();
    struct rollout_config c = drive_config(8);
    struct rollout *r = drive_new(m, &c);
    struct group *g;
    int member, n = 0;

    submit(r, 3);
    submit(r, 4);
    drive_end(r, 50);
    group_free(rollout_take(r, 3));
    CHECK(rollout_take(r, 3) == NULL);
    for (; rollout_next(r, &g, &member); n++)
        CHECK_INT(g->index, 4);
    CHECK_INT(n, group_size[4]);
    rollout_free(r);
    model_free(m);
}

static struct fault refused(struct rollout *r, struct group *g, int code)
{
    struct fault f = FAULT_INIT;

    CHECK_INT(rollout_submit(r, g, &f), code);
    group_free(g);
    return f;
}

static void bad_groups_get_a_sentence(void)
{
    struct model *m = drive_model();
    struct rollout_config c = drive_config(2);
    struct rollout *r = drive_new(m, &c);
    struct group *g;

    CHECK_TEXT(refused(r, drive_group(0, 0, 2), FAULT_DATA).text,
               "prompt 100 is empty");
    CHECK_TEXT(refused(r, drive_group(1, 41, 2), FAULT_DATA).text,
               "prompt 101 has 41 tokens, over max_prompt 40; raise it or drop the "
               "prompt");
    g = drive_group(2, 4, 2);
    g->prompt_ids[3] = REAL_VOCAB; /* a padded row of the embedding */
    CHECK_TEXT(refused(r, g, FAULT_DATA).text,
               "prompt 102: token 3 is id 50, outside the model's [0, 50)");
    g = drive_group(2, 4, 2);
    g->prompt_ids[0] = -1;
    refused(r, g, FAULT_DATA);
    refused(r, drive_group(3, 4, 0), FAULT_BUG);
    submit(r, 5);
    refused(r, drive_group(5, 4, 2), FAULT_BUG);
    g = drive_group(6, 4, 2);
    g->members[1].finish = FINISH_CANCELLED;
    refused(r, g, FAULT_BUG);
    CHECK_INT(rollout_busy(r), group_size[5]);
    drive_end(r, 10);
    rollout_free(r);
    model_free(m);
}

static void bad_settings_get_a_sentence(void)
{
    struct model *m = drive_model();
    struct rollout *r;
    struct fault f = FAULT_INIT;

#define REFUSES(change)                                      \
    do {                                                     \
        struct rollout_config c = drive_config(2);           \
        change;                                              \
        CHECK_INT(rollout_new(&r, m, &c, &f), FAULT_CONFIG); \
        CHECK(r == NULL);                                    \
    } while (0)
    REFUSES(c.slots = 0);
    REFUSES(c.prefill_chunk = 0);
    REFUSES(c.max_prompt = 0);
    REFUSES(c.max_tokens = 0);
    REFUSES(c.max_tokens = 473); /* 40 + 473 is over 512 positions */
    REFUSES(c.max_tokens = INT32_MAX);
    REFUSES(c.sampling.temperature = -1);
    REFUSES(c.sampling.temperature = NAN);
    REFUSES(c.sampling.top_k = -1);
    REFUSES(c.sampling.top_p = 0);
    REFUSES(c.sampling.top_p = 1.5f);
    REFUSES(c.train_temperature = 0);
    REFUSES(c.kv_pages = -1);
    REFUSES(c.kv_pages = INT32_MAX);
    REFUSES(c.kv_pages = 5); /* 39 cached: 3 pages; 15 + 24 positions: 3 pages */
    CHECK_TEXT(f.text, "5 KV pages of 16 tokens can't hold one longest sequence, "
                       "max_prompt 40 + max_tokens 24; it needs 6 pages (or 0: as many "
                       "as the slots can use)");
#undef REFUSES
    model_free(m);
}

/* Weights that are not finite give no distribution to draw from: the members fail, are
 * told, and the bill has no tokens of theirs. */
static void broken_logits_fail_their_members(void)
{
    struct model *m = drive_model();
    struct rollout_config c = drive_config(2);
    struct rollout *r = drive_new(m, &c);
    struct fault f = FAULT_INIT;
    struct group *g = drive_group(0, 5, 3), *told;
    int member, n = 0;

    model_params(m)[0] = NAN; /* the embedding of id 0, and so its logit */
    CHECK_OK(model_refresh(m, &f), &f);
    CHECK_OK(rollout_submit(r, g, &f), &f);
    drive_end(r, 10);
    for (; rollout_next(r, &told, &member); n++) {
        CHECK_INT(told->members[member].finish, FINISH_FAILED);
        CHECK_INT(told->members[member].n_tokens, 0);
    }
    CHECK_INT(n, 3);
    CHECK_INT(rollout_stats(r).failed, 3);
    CHECK_INT(rollout_stats(r).decoded, 0);
    rollout_free(r);
    model_free(m);
}

static void stats_add_up(void)
{
    struct plain p = plain_new(0, ARCH_QWEN2);
    struct rollout_config c = drive_config(8);
    struct rollout *r = drive_new(p.m, &c);
    int64_t tokens = 0, prompts = 0;
    struct rollout_stats s;

    rollout_begin(r, 0, 77);
    CHECK_INT(rollout_free_slots(r), 8);
    for (int i = 0; i < GROUPS; i++) {
        submit(r, i);
        tokens += group_tokens(p.want[i]);
        prompts += prompt_length[i] - 1; /* the last token is each member's first row */
    }
    CHECK_INT(rollout_free_slots(r), 0);
    drive_end(r, 10);
    s = rollout_stats(r);
    CHECK_INT(s.decoded, tokens);
    CHECK_INT(s.slot_iterations, tokens);
    CHECK_INT(s.prefilled, prompts);
    CHECK_INT(s.failed, 0);
    CHECK(s.iterations >= tokens / 8 && s.iterations < tokens);
    CHECK(s.seconds > 0 && s.prefill_seconds > 0 && s.prefill_seconds < s.seconds);
    for (int i = 0; i < GROUPS; i++) {
        struct group *g = rollout_take(r, i);

        CHECK(g != NULL);
        if (!g)
            continue;
        CHECK_INT(g->policy_version, 77);
        CHECK(g->started_s > 0 && g->finished_s > g->started_s);
        group_free(g);
    }
    rollout_begin(r, 1, 78);
    CHECK_INT(rollout_stats(r).iterations, 0);
    rollout_free(r);
    plain_free(&p);
}

/* Steps broken off in the middle leave nothing behind, and step numbers matter. */
static void begin_starts_afresh(void)
{
    struct plain p = plain_new(5, ARCH_QWEN2);
    struct rollout_config c = drive_config(3);
    struct rollout *r = drive_new(p.m, &c);
    struct fault f = FAULT_INIT;
    struct group *g;
    int member;

    for (int step = 0; step < 30; step++) {
        rollout_begin(r, step, 0);
        CHECK_INT(rollout_busy(r), 0);
        for (int i = 0; i < 4; i++)
            submit(r, (step + i) % GROUPS);
        CHECK_OK(rollout_slice(r, step, false, NULL, &f), &f);
    }
    rollout_begin(r, 5, 0);
    CHECK(!rollout_next(r, &g, &member));
    for (int i = 0; i < GROUPS; i++)
        submit(r, i);
    drive_end(r, 10);
    for (int i = 0; i < GROUPS; i++)
        check_taken(r, &p, i);
    rollout_begin(r, 6, 0);
    submit(r, 7);
    drive_end(r, 10);
    g = rollout_take(r, 7);
    CHECK(g && !same_group(g, p.want[7]));
    group_free(g);
    rollout_free(r);
    plain_free(&p);
}

/* Bytes in use after a step don't depend on how many came before. */
static void step_after_step(enum arch arch)
{
    struct model *m = drive_model_of(arch);
    struct rollout_config c = drive_config(5);
    struct rollout *r = drive_new(m, &c);
    size_t after_two = 0;

    for (int step = 0; step < 20; step++) {
        rollout_begin(r, 1, step); /* the same draws, so the same work */
        for (int i = 0; i < GROUPS; i++)
            submit(r, i);
        drive_end(r, 7);
        rollout_begin(r, 1, step);
        if (step == 1)
            after_two = mallinfo2().uordblks;
    }
    CHECK_INT(mallinfo2().uordblks, after_two);
    rollout_free(r);
    model_free(m);
}

static void steps_dont_grow_memory(void)
{
    drive_both(step_after_step);
}

CASES(CASE(invariant_4_batching_cant_change_a_token),
      CASE(invariant_4_alone_and_after_cancelling_others),
      CASE(invariant_5_training_forward_gives_the_stored_logprobs),
      CASE(invariant_8_cancelled_members_keep_their_tokens),
      CASE(the_cause_is_the_reason), CASE(one_token_is_enough), CASE(news_is_in_order),
      CASE(slices_are_exact), CASE(taking_a_group_drops_its_news),
      CASE(bad_groups_get_a_sentence), CASE(bad_settings_get_a_sentence),
      CASE(broken_logits_fail_their_members), CASE(stats_add_up),
      CASE(begin_starts_afresh), CASE(steps_dont_grow_memory));
