/* group.c - making, growing and asking groups. */
#include <stdlib.h>
#include <string.h>

#include "dapo/group.h"
#include "dapo/mem.h"

const char *finish_text(enum finish f)
{
    static const char *const text[] = {
#define X(name, text) text,
        FINISH_LIST(X)
#undef X
    };

    return f < FINISH_COUNT ? text[f] : "unknown";
}

bool finish_complete(enum finish f)
{
    return f == FINISH_STOP || f == FINISH_LENGTH;
}

const char *fate_text(enum fate f)
{
    static const char *const text[] = {
#define X(name, text) text,
        FATE_LIST(X)
#undef X
    };

    return f < FATE_COUNT ? text[f] : "unknown";
}

const char *verdict_text(enum verdict_kind v)
{
    static const char *const text[] = {
#define X(name, text) text,
        VERDICT_LIST(X)
#undef X
    };

    return v < VERDICT_COUNT ? text[v] : "unknown";
}

struct group *group_new(int64_t index, int64_t prompt, const int *prompt_ids,
                        int n_prompt, int size, struct fault *f)
{
    struct group *g = mem_new(1, sizeof *g, "a group", f);

    if (!g)
        return NULL;
    g->index = index;
    g->prompt = prompt;
    g->born_step = -1;
    g->n_prompt = n_prompt;
    g->size = size;
    g->prompt_ids = mem_new((size_t)n_prompt, sizeof(int), "a prompt", f);
    g->members = mem_new((size_t)size, sizeof *g->members, "a group", f);
    if (!g->prompt_ids || !g->members) {
        group_free(g);
        return NULL;
    }
    if (n_prompt)
        memcpy(g->prompt_ids, prompt_ids, (size_t)n_prompt * sizeof(int));
    for (int i = 0; i < size; i++)
        g->members[i].answer_offset = -1;
    return g;
}

void group_free(struct group *g)
{
    if (!g)
        return;
    for (int i = 0; g->members && i < g->size; i++) {
        free(g->members[i].ids);
        free(g->members[i].logprobs);
        free(g->members[i].versions);
        free(g->members[i].answer);
    }
    free(g->members);
    free(g->prompt_ids);
    free(g);
}

int completion_add(struct completion *c, int id, float logprob, struct fault *f)
{
    if (c->n_tokens == c->cap) {
        int cap = c->cap ? 2 * c->cap : 32;
        int *ids = realloc(c->ids, (size_t)cap * sizeof *ids);
        int *versions;
        float *lp;

        if (ids)
            c->ids = ids;
        versions = realloc(c->versions, (size_t)cap * sizeof *versions);
        if (versions)
            c->versions = versions;
        lp = realloc(c->logprobs, (size_t)cap * sizeof *lp);
        if (lp)
            c->logprobs = lp;
        if (!ids || !versions || !lp)
            return fault_set(f, FAULT_SYSTEM, "no memory for a completion");
        c->cap = cap;
    }
    c->ids[c->n_tokens] = id;
    c->versions[c->n_tokens] = c->version;
    c->logprobs[c->n_tokens++] = logprob;
    return 0;
}

void completion_rewind(struct completion *c)
{
    if (finish_complete(c->finish) && c->n_tokens == c->n_carried)
        return; /* it ended in an earlier step */
    c->n_tokens = c->n_carried;
    c->finish = FINISH_NONE;
    c->correct = c->answer_found = false;
    c->verdict = VERDICT_NONE;
    c->raw_reward = c->length_penalty = c->shaped_reward = 0;
    free(c->answer);
    c->answer = NULL;
    c->answer_offset = -1;
}

int64_t group_tokens(const struct group *g)
{
    int64_t n = 0;

    for (int i = 0; i < g->size; i++)
        n += g->members[i].n_tokens;
    return n;
}

int64_t group_carried(const struct group *g)
{
    int64_t n = 0;

    for (int i = 0; i < g->size; i++)
        n += g->members[i].n_carried;
    return n;
}

int group_correct(const struct group *g)
{
    int n = 0;

    for (int i = 0; i < g->size; i++)
        n += g->members[i].correct;
    return n;
}

bool group_trainable(int n_correct, int size)
{
    return 0 < n_correct && n_correct < size;
}
