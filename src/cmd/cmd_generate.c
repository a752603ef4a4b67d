/* cmd_generate.c - dapo generate MODEL: complete a prompt. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "dapo/mem.h"
#include "dapo/model.h"
#include "dapo/rollout.h"
#include "dapo/text.h"

#define MOST_PROMPT ((size_t)16 << 20)
#define MOST_SLOTS 32

struct job {
    struct engine g;
    const char *prompt, *system, *custom;
    int template; /* enum chat */
    int64_t n, max_tokens, top_k, seed;
    double temperature, top_p;
    bool json;
    struct bytes text;
    struct ids ids;
    struct rollout *rollout;
    struct group *group; /* the generator's */
};

static int options(struct job *j, struct cmd_env *e, struct fault *f)
{
    int rc = engine_options(&j->g, e, f);

    if (!rc)
        rc = cmd_option(e, "--prompt", &j->prompt, f);
    if (!rc)
        rc = cmd_option(e, "--system", &j->system, f);
    if (!rc)
        rc = cmd_choice(e, "--template", "plain|qwen2.5|qwen3|qwen3-nothink",
                        &j->template, f);
    if (!rc)
        rc = cmd_option(e, "--custom", &j->custom, f);
    if (!rc && j->custom && j->template != CHAT_PLAIN)
        rc = fault_set(f, FAULT_USAGE, "--template and --custom exclude each other");
    if (!rc && j->custom)
        j->template = CHAT_CUSTOM;
    if (!rc)
        rc = cmd_int(e, "-n", 1, 4096, &j->n, f);
    if (!rc)
        rc = cmd_int(e, "--max-tokens", 1, 1 << 20, &j->max_tokens, f);
    if (!rc)
        rc = cmd_int(e, "--top-k", 0, 1 << 24, &j->top_k, f);
    if (!rc)
        rc = cmd_int(e, "--seed", 0, INT64_MAX, &j->seed, f);
    if (!rc)
        rc = cmd_real(e, "--temperature", 0, 100, &j->temperature, f);
    if (!rc)
        rc = cmd_real(e, "--top-p", 1e-6, 1, &j->top_p, f);
    j->json = cmd_flag(e, "--json");
    return rc ? rc : cmd_rest(e, 1, 1, f);
}

static int read_prompt(struct job *j, struct fault *f)
{
    char block[4096];
    size_t n;
    int rc = 0;

    if (j->prompt)
        return bytes_printf(&j->text, f, "%s", j->prompt);
    while (!rc && (n = fread(block, 1, sizeof block, stdin)) > 0) {
        rc = bytes_add(&j->text, block, n, f);
        if (!rc && j->text.len > MOST_PROMPT)
            rc = fault_set(f, FAULT_DATA, "standard input: is longer than %zu bytes",
                           MOST_PROMPT);
    }
    if (!rc && ferror(stdin))
        rc = fault_set(f, FAULT_FILE, "standard input: can't be read");
    if (!rc && j->text.len && memchr(j->text.data, '\0', j->text.len))
        rc = fault_set(f, FAULT_DATA, "standard input: has a NUL byte, so is no text");
    if (!rc && j->text.len && j->text.data[j->text.len - 1] == '\n')
        j->text.data[--j->text.len] = '\0';
    return rc;
}

static int encode(struct job *j, struct fault *f)
{
    int rc = chat_encode(j->g.tok, (enum chat)j->template, j->custom, j->system,
                         j->text.len ? j->text.data : "", &j->ids, f);
    int64_t room = model_cfg(j->g.model)->max_position - (int64_t)j->ids.n;

    if (rc == FAULT_CONFIG)
        rc = f->code = FAULT_USAGE;
    if (rc)
        return rc;
    if (j->ids.n == 0)
        return fault_set(f, FAULT_DATA,
                         "the prompt is empty: there is nothing to "
                         "continue; give --prompt or a --template");
    if (room < 1 || j->max_tokens > room)
        return fault_set(f, FAULT_DATA,
                         "the prompt has %zu tokens and the model %d positions: there "
                         "is room for %lld more tokens, and %lld are wanted",
                         j->ids.n, model_cfg(j->g.model)->max_position,
                         (long long)(room < 0 ? 0 : room),
                         (long long)(j->max_tokens ? j->max_tokens : 1));
    if (!j->max_tokens)
        j->max_tokens = room < 512 ? room : 512;
    return 0;
}

static int start(struct job *j, struct fault *f)
{
    const struct model_config *m = model_cfg(j->g.model);
    struct rollout_config c = {
        .slots = (int)(j->n < MOST_SLOTS ? j->n : MOST_SLOTS),
        .max_prompt = (int)j->ids.n,
        .max_tokens = (int)j->max_tokens,
        .prefill_chunk = 256,
        .sampling = {(float)j->temperature, (int)j->top_k, (float)j->top_p},
        .train_temperature = 1,
        .n_stop = m->n_stop,
        .stop = m->stop,
        .seed = (uint64_t)j->seed,
        .use = RANDOM_SAMPLE,
    };
    int rc = rollout_new(&j->rollout, j->g.model, &c, f);

    if (rc)
        return rc;
    j->group = group_new(0, 0, j->ids.id, (int)j->ids.n, (int)j->n, f);
    if (!j->group)
        return f->code;
    rc = rollout_submit(j->rollout, j->group, f);
    if (rc)
        group_free(j->group);
    return rc;
}

/* The generator's news: how many members ended; a failed one is a fault. */
static int collect(struct job *j, struct fault *f)
{
    struct group *g;
    int member;

    while (rollout_next(j->rollout, &g, &member))
        if (g->members[member].finish == FINISH_FAILED)
            return fault_set(f, FAULT_DATA, "the model's logits are not finite");
    return 0;
}

static int print_bytes(struct bytes *b, struct fault *f)
{
    if (b->len)
        fwrite(b->data, 1, b->len, stdout);
    b->len = 0;
    fflush(stdout);
    return cmd_written(f);
}

/* One completion, each character as soon as it is there. */
static int stream(struct job *j, struct fault *f)
{
    const struct completion *c = &j->group->members[0];
    struct decoder d;
    int seen = 0, rc = 0;

    decoder_start(&d, j->g.tok, true);
    j->text.len = 0;
    while (rollout_busy(j->rollout) && !rc) {
        rc = rollout_slice(j->rollout, 1, true, NULL, f);
        if (!rc)
            rc = collect(j, f);
        for (; seen < c->n_tokens && !rc; seen++)
            rc = decoder_add(&d, c->ids[seen], &j->text, f);
        if (!rc)
            rc = print_bytes(&j->text, f);
    }
    if (!rc)
        rc = decoder_end(&d, &j->text, f);
    if (!rc)
        rc = bytes_add(&j->text, "\n", 1, f);
    return rc ? rc : print_bytes(&j->text, f);
}

static int decode(struct job *j, const struct completion *c, struct fault *f)
{
    struct decoder d;
    int rc = 0;

    decoder_start(&d, j->g.tok, true);
    j->text.len = 0;
    for (int i = 0; i < c->n_tokens && !rc; i++)
        rc = decoder_add(&d, c->ids[i], &j->text, f);
    return rc ? rc : decoder_end(&d, &j->text, f);
}

static int print_json(struct job *j, const struct completion *c, struct fault *f)
{
    json_t *text = json_stringn(j->text.len ? j->text.data : "", j->text.len);

    if (!text)
        return fault_set(f, FAULT_SYSTEM, "no memory for a text");
    fputs("{\"text\": ", stdout);
    json_dumpf(text, stdout, JSON_ENCODE_ANY);
    json_decref(text);
    fputs(", \"ids\": [", stdout);
    for (int i = 0; i < c->n_tokens; i++)
        printf(i ? ", %d" : "%d", c->ids[i]);
    fputs("], \"logprobs\": [", stdout);
    for (int i = 0; i < c->n_tokens; i++)
        printf(i ? ", %.9g" : "%.9g", (double)c->logprobs[i]);
    printf("], \"finish\": \"%s\"}\n", finish_text(c->finish));
    return cmd_written(f);
}

static int print_member(struct job *j, int i, struct fault *f)
{
    const struct completion *c = &j->group->members[i];
    int rc = decode(j, c, f);

    if (rc)
        return rc;
    if (j->json)
        return print_json(j, c, f);
    printf("--- %d of %d: %d tokens, %s ---\n", i + 1, (int)j->n, c->n_tokens,
           finish_text(c->finish));
    rc = print_bytes(&j->text, f);
    putchar('\n');
    return rc;
}

static int complete(struct job *j, struct fault *f)
{
    int rc = 0;

    if (j->n == 1 && !j->json)
        return stream(j, f);
    while (rollout_busy(j->rollout) && !rc) {
        rc = rollout_slice(j->rollout, 64, false, NULL, f);
        if (!rc)
            rc = collect(j, f);
    }
    for (int i = 0; i < j->n && !rc; i++)
        rc = print_member(j, i, f);
    return rc;
}

int cmd_generate(struct cmd_env *e, struct fault *f)
{
    struct job j = {.n = 1, .seed = 42, .temperature = 1, .top_p = 1};
    int rc = options(&j, e, f);

    if (!rc)
        rc = read_prompt(&j, f);
    if (!rc)
        rc = engine_open(&j.g, e->argv[0], true, f);
    if (!rc)
        rc = encode(&j, f);
    if (!rc)
        rc = start(&j, f);
    if (!rc)
        rc = complete(&j, f);
    rollout_free(j.rollout); /* and the group with it */
    engine_close(&j.g);
    ids_free(&j.ids);
    bytes_free(&j.text);
    return rc;
}
