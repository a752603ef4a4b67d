/* test_carry.c - what steps leave to each other as bytes: it comes back, and bytes that
 * make no sense are refused, whatever they are. */
#include <stdlib.h>
#include <string.h>

#include "check_mpi.h"
#include "dapo/config.h"
#include "dapo/mem.h"
#include "train/carry.h"

enum { SIZE = 3, PROMPTS = 5, CARRIED = 2 };

static struct config cfg;

static void open_session(struct session *s)
{
    static const char *const set[] = {"model.path=jobs/demo/model",
                                      "prompt.template=plain",
                                      "prompt.suffix=",
                                      "admission.group_size=3",
                                      "admission.surplus=resume",
                                      "rollout.max_tokens=9",
                                      "reward.overlong=off"};
    static const char rows[] = "{\"id\":\"a\",\"question\":\"1?\",\"answer\":\"1\"}\n"
                               "{\"id\":\"b\",\"question\":\"2?\",\"answer\":\"2\"}\n"
                               "{\"id\":\"c\",\"question\":\"3?\",\"answer\":\"3\"}\n"
                               "{\"id\":\"d\",\"question\":\"4?\",\"answer\":\"4\"}\n"
                               "{\"id\":\"e\",\"question\":\"5?\",\"answer\":\"5\"}\n";
    struct fault f = FAULT_INIT;
    char path[128];

    snprintf(path, sizeof path, "%s/prompts.%d.jsonl", check_tmp(),
             comm_rank(check_comm));
    CHECK_OK(config_read(&cfg, NULL, set, sizeof set / sizeof *set, &f), &f);
    CHECK_OK(file_publish(path, rows, sizeof rows - 1, &f), &f);
    *s = (struct session){.comm = check_comm, .cfg = &cfg, .step = 4, .cursor = 2};
    CHECK_OK(comm_split_all(check_comm, 1, &f), &f);
    CHECK_OK(tokenizer_open(&s->tok, cfg.model.path, &f), &f);
    CHECK_OK(prompt_set_read(&s->train, s, path, &f), &f);
    CHECK_OK(order_new(&s->order, PROMPTS, 1, true, &f), &f);
    CHECK_OK(carry_new(&s->carry, s, &f), &f);
}

/* As a root with two carried groups, of which it generates both. */
static void fill(struct session *s)
{
    struct carry *c = s->carry;
    struct fault f = FAULT_INIT;

    c->history = calloc(PROMPTS, 1);
    c->n_prompts = PROMPTS;
    c->history[1] = HISTORY_MIXED;
    c->now.step = s->step;
    c->all = calloc(CARRIED, sizeof *c->all);
    c->mine = calloc(CARRIED, sizeof *c->mine);
    for (int i = 0; i < CARRIED; i++) {
        int ids[] = {5, 6};
        struct group *g = group_new(i, 1 + i, ids, 2, SIZE, &f);

        c->all[i] = (struct candidate){.n_prompt = 2};
        c->all[i].member = calloc(SIZE, sizeof *c->all[i].member);
        c->n_all++;
        g->born_step = 3;
        g->born_index = 7 + i;
        g->policy_version = 6;
        for (int k = 0; k < SIZE; k++) {
            g->members[k].version = 6;
            for (int t = 0; t < 2 * k + i; t++)
                CHECK_OK(completion_add(&g->members[k], 10 + t, -0.5f, &f), &f);
        }
        g->members[2].finish = FINISH_STOP;
        g->members[2].correct = g->members[2].answer_found = true;
        g->members[2].shaped_reward = 1.0 / 3;
        g->members[2].answer = strdup("42");
        c->all[i].member[2] = (struct member){4 + i, true, true, false};
        c->mine[c->n_mine++] = g;
    }
}

static void close_session(struct session *s)
{
    carry_free(s->carry);
    order_free(s->order);
    prompt_set_free(&s->train);
    tokenizer_free(s->tok);
}

/* Parcel 0 into a new carry, then the groups; 0 or the reader's code. */
static int read_back(struct session *s, const struct parcel *p, int n, struct fault *f)
{
    int rc;

    carry_free(s->carry);
    rc = carry_new(&s->carry, s, f);
    s->carry->history = calloc(PROMPTS, 1);
    s->carry->n_prompts = PROMPTS;
    if (!rc)
        rc = carry_unpack_root(s, p, n, f);
    return rc ? rc : carry_unpack(s, p + 1, n - 1, f);
}

/* The packed form of `fill`, from every rank as if it were the root of a job. */
static struct parcel *pack(struct session *s, int *n)
{
    struct fault f = FAULT_INIT;
    struct parcel *p = NULL;

    CHECK_OK(carry_pack(s, &p, n, &f), &f);
    CHECK_INT(*n, 1 + CARRIED);
    return p;
}

static void groups_come_back(void)
{
    struct session s;
    struct fault f = FAULT_INIT;
    struct parcel *p;
    const struct group *g;
    int n;

    open_session(&s);
    if (comm_rank(check_comm) == 0) {
        fill(&s);
        p = pack(&s, &n);
        CHECK_OK(read_back(&s, p, n, &f), &f);
        CHECK_INT(s.carry->history[1], HISTORY_MIXED);
        CHECK_INT(s.carry->n_all, CARRIED);
        CHECK(!s.carry->all[1].member[2].told && s.carry->all[1].member[2].ended);
        CHECK_INT(s.carry->all[1].prompt, (int64_t)order_at(s.order, 3));
        CHECK_INT(s.carry->n_mine, CARRIED);
        g = s.carry->mine[1];
        CHECK_INT(g->index, 1);
        CHECK_INT(g->born_index, 8);
        CHECK_INT(g->members[1].n_tokens, 3);
        CHECK_INT(g->members[1].n_carried, 3);
        CHECK_INT(g->members[1].ids[2], 12);
        CHECK_INT(g->members[1].versions[2], 6);
        CHECK(g->members[1].finish == FINISH_NONE && !g->members[1].answer);
        CHECK(g->members[2].finish == FINISH_STOP && g->members[2].correct);
        CHECK(g->members[2].shaped_reward == 1.0 / 3);
        CHECK_TEXT(g->members[2].answer, "42");
        parcels_free(p, n);
    }
    close_session(&s);
}

/* Cut anywhere, and with any 8 bytes made large or negative: refused or read, and never
 * read past its end (the sanitizers look). */
static void nonsense_is_refused(void)
{
    static const int64_t values[] = {-1, INT64_MAX, 1 << 20};
    struct session s;
    struct fault f = FAULT_INIT;
    struct parcel *p;
    int n, refused = 0;

    open_session(&s);
    if (comm_rank(check_comm) == 0) {
        fill(&s);
        p = pack(&s, &n);
        for (int i = 0; i < n; i++) {
            size_t whole = p[i].n;

            for (p[i].n = 0; p[i].n < whole; p[i].n++)
                CHECK_INT(read_back(&s, p, n, &f), FAULT_DATA);
            for (size_t at = 0; at + 8 <= whole; at += 4)
                for (int v = 0; v < 3; v++) {
                    int64_t was;

                    memcpy(&was, (char *)p[i].data + at, 8);
                    memcpy((char *)p[i].data + at, &values[v], 8);
                    refused += read_back(&s, p, n, &f) == FAULT_DATA;
                    memcpy((char *)p[i].data + at, &was, 8);
                }
        }
        CHECK(refused > 200);
        CHECK_INT(read_back(&s, p, n - 1, &f), FAULT_DATA);
        f = FAULT_INIT;
        CHECK_OK(read_back(&s, p, n, &f), &f);
        parcels_free(p, n);
    }
    close_session(&s);
}

CASES_MPI(CASE(groups_come_back), CASE(nonsense_is_refused));
