/* task.c - the demo's word problems and a small model to start from. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/task.h"
#include "dapo/data.h"
#include "dapo/mem.h"
#include "dapo/model.h"
#include "dapo/text.h"

struct task {
    const char *dir, *model;
    uint64_t seed;
    int64_t train, eval, sft, steps;
    int64_t vocab, dim, layers, heads, kv_heads, ffn, max_position;
};

/* One file of problems. */
struct part {
    const char *name; /* of the file and in its ids */
    int64_t rows;
    uint32_t first; /* problem numbers start here, so that parts differ */
    bool held_out;  /* from the sequences that nothing is trained on */
    bool solutions;
};

static int model_options(struct task *t, struct cmd_env *e, struct fault *f)
{
    const struct {
        const char *name;
        int64_t lo, hi, *value;
    } numbers[] = {
        {"--vocab", 259, 1 << 20, &t->vocab},
        {"--dim", 1, 1 << 16, &t->dim},
        {"--layers", 1, 1024, &t->layers},
        {"--heads", 1, 1024, &t->heads},
        {"--kv-heads", 1, 1024, &t->kv_heads},
        {"--ffn", 1, 1 << 20, &t->ffn},
        {"--max-position", 1, 1 << 20, &t->max_position},
    };
    int rc = 0;

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && !rc; i++) {
        int64_t before = *numbers[i].value;

        *numbers[i].value = -1;
        rc = cmd_int(e, numbers[i].name, numbers[i].lo, numbers[i].hi, numbers[i].value,
                     f);
        if (!rc && *numbers[i].value >= 0 && !t->model)
            rc = fault_set(f, FAULT_USAGE, "%s is of the model: it needs --model DIR",
                           numbers[i].name);
        if (*numbers[i].value < 0)
            *numbers[i].value = before;
    }
    return rc;
}

static int options(struct task *t, struct cmd_env *e, struct fault *f)
{
    int rc = cmd_int(e, "--train", 1, 1 << 24, &t->train, f);

    if (!rc)
        rc = cmd_int(e, "--eval", 1, 1 << 24, &t->eval, f);
    if (!rc)
        rc = cmd_int(e, "--sft", 0, 1 << 24, &t->sft, f);
    if (!rc)
        rc = cmd_int(e, "--steps", 0, 5, &t->steps, f);
    if (!rc)
        rc = cmd_option(e, "--model", &t->model, f);
    if (!rc)
        rc = model_options(t, e, f);
    return rc ? rc : cmd_rest(e, 0, 0, f);
}

static int add_row(struct bytes *out, const struct part *part, int64_t row,
                   const struct problem *p, struct fault *f)
{
    char id[64];
    json_t *json;
    char *text;
    int rc;

    snprintf(id, sizeof id, "%s-%06" PRId64, part->name, row);
    json = json_pack("{ss ss ss ss}", "id", id, "question", p->question, "answer",
                     p->answer, "data_source", "arithmetic");
    if (json && part->solutions)
        json_object_set_new(json, "solution", json_string(p->solution));
    text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    rc = text ? bytes_printf(out, f, "%s\n", text)
              : fault_set(f, FAULT_SYSTEM, "no memory for a row");
    json_decref(json);
    free(text);
    return rc;
}

/* Problems of the part that were not seen in it before, row after row; `texts` (may be
 * NULL) gets questions and solutions. */
static int fill(const struct task *t, const struct part *part, struct bytes *out,
                json_t *seen, json_t *texts, struct fault *f)
{
    int64_t row = 0, tries = 0, most = 64 * part->rows + 4096;
    int rc = 0;

    for (uint32_t i = part->first; row < part->rows && !rc; i++) {
        struct problem p;

        if (tries++ == most)
            return fault_set(f, FAULT_DATA,
                             "%s.jsonl: only %" PRId64
                             " different problems were found; "
                             "ask for fewer than %" PRId64 " or for more --steps",
                             part->name, row, part->rows);
        problem_make(&p, t->seed, i, (int)t->steps, part->held_out);
        if (json_object_get(seen, p.question))
            continue;
        json_object_set_new(seen, p.question, json_true());
        if (texts) {
            json_array_append_new(texts, json_string(p.question));
            json_array_append_new(texts, json_string(p.solution));
        }
        rc = add_row(out, part, row++, &p, f);
    }
    return rc;
}

static int write_part(const struct task *t, const struct part *part, json_t *texts,
                      struct fault *f)
{
    struct bytes out = {0}, name = {0};
    json_t *seen = json_object();
    int rc = seen ? fill(t, part, &out, seen, texts, f)
                  : fault_set(f, FAULT_SYSTEM, "no memory for the problems");

    if (!rc)
        rc = bytes_printf(&name, f, "%s/%s.jsonl", t->dir, part->name);
    if (!rc)
        rc = file_publish(name.data, out.data, out.len, f);
    if (!rc)
        printf("%-40s %8" PRId64 " problems%s%s\n", name.data, part->rows,
               part->held_out ? ", held out" : "", part->solutions ? ", solved" : "");
    json_decref(seen);
    bytes_free(&out);
    bytes_free(&name);
    return rc;
}

/* -- the model ----------------------------------------------------------------------
 */

static const char *const specials[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
#define N_SPECIALS 3

static int write_tokenizer(const struct task *t, const json_t *texts, struct fault *f)
{
    size_t n = json_array_size(texts);
    const char **list = mem_new(n, sizeof *list, "the texts", f);
    char *path = path_join(t->model, "tokenizer.json", f);
    int rc = list && path ? 0 : f->code;

    for (size_t i = 0; i < n && !rc; i++)
        list[i] = json_string_value(json_array_get(texts, i));
    if (!rc)
        rc = tokenizer_train(list, n, (int)t->vocab, specials, N_SPECIALS, path, f);
    free(path);
    free(list);
    return rc;
}

/* The vocabulary is padded to a multiple of 64, as Qwen's are; the first stop id is the
 * end of a turn, which supervised training appends. */
static int write_config(const struct task *t, const struct tokenizer *tok,
                        struct fault *f)
{
    struct model_config c = {
        .arch = ARCH_QWEN2,
        .vocab = (tokenizer_size(tok) + 63) / 64 * 64,
        .dim = (int)t->dim,
        .layers = (int)t->layers,
        .heads = (int)t->heads,
        .kv_heads = (int)t->kv_heads,
        .head_dim = (int)(t->dim / t->heads),
        .ffn = (int)t->ffn,
        .max_position = (int)t->max_position,
        .norm_eps = 1e-6f,
        .rope_theta = 10000,
        .tied = true,
        .qkv_bias = true,
        .n_stop = 2,
        .stop = {tokenizer_id(tok, "<|im_end|>"), tokenizer_id(tok, "<|endoftext|>")},
    };
    int rc;

    if (t->dim % t->heads)
        return fault_set(f, FAULT_USAGE,
                         "--dim %" PRId64 " is not a multiple of --heads %" PRId64,
                         t->dim, t->heads);
    rc = model_config_derive(&c, f);
    if (rc)
        rc = f->code = FAULT_USAGE;
    if (!rc)
        rc = model_config_write(&c, t->model, f);
    if (!rc)
        printf("%-40s %8zu parameters, %d ids\n", t->model, model_count(&c),
               tokenizer_size(tok));
    model_config_free(&c);
    return rc;
}

static int write_model(const struct task *t, const json_t *texts, struct fault *f)
{
    struct tokenizer *tok = NULL;
    int rc = dir_make(t->model, f);

    if (!rc)
        rc = write_tokenizer(t, texts, f);
    if (!rc)
        rc = tokenizer_open(&tok, t->model, f);
    if (!rc)
        rc = write_config(t, tok, f);
    tokenizer_free(tok);
    return rc;
}

int task_make(struct cmd_env *e, const char *dir, uint64_t seed, struct fault *f)
{
    struct task t = {
        .dir = dir,
        .seed = seed,
        .train = 2000,
        .eval = 200,
        .sft = 2000,
        .vocab = 320,
        .dim = 128,
        .layers = 4,
        .heads = 4,
        .kv_heads = 2,
        .ffn = 384,
        .max_position = 512,
    };
    json_t *texts;
    int rc = options(&t, e, f);
    const struct part parts[] = {
        {"train", t.train, 0, false, false},
        {"eval", t.eval, 0, true, false},
        {"sft", t.sft, 1u << 31, false, true},
    };

    if (rc || (rc = dir_make(dir, f)))
        return rc;
    texts = json_array();
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && !rc; i++)
        rc = write_part(&t, &parts[i], parts[i].solutions ? texts : NULL, f);
    if (!rc && t.model)
        rc = write_model(&t, texts, f);
    json_decref(texts);
    return rc;
}
