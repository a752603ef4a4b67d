/* engine.c - backend, tokenizer and model for commands without a job file. */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "dapo/model.h"
#include "dapo/text.h"

int engine_options(struct engine *g, struct cmd_env *e, struct fault *f)
{
    int rc = cmd_option(e, "--backend", &g->name, f);

    g->threads = 1;
    if (!rc)
        rc = cmd_option(e, "--adapter", &g->adapter, f);
    if (!rc)
        rc = cmd_choice(e, "--compute", "f32|bf16", &g->compute, f);
    if (!rc)
        rc = cmd_int(e, "--threads", 1, 1024, &g->threads, f);
    return rc;
}

static int open_tokenizer(struct engine *g, const char *dir, bool need, struct fault *f)
{
    char *path = path_join(dir, "tokenizer.json", f);
    int rc = path ? 0 : f->code;

    if (!rc && (need || !access(path, F_OK)))
        rc = tokenizer_open(&g->tok, dir, f);
    free(path);
    return rc;
}

static int add_adapter(struct engine *g, struct fault *f)
{
    struct lora_config c;
    int rc = lora_config_read(&c, g->adapter, f);

    if (!rc)
        rc = model_lora(g->model, &c, 0, f);
    if (!rc)
        rc = model_lora_load(g->model, g->adapter, f);
    return rc;
}

int engine_open(struct engine *g, const char *dir, bool need_tokenizer, struct fault *f)
{
    int rc = backend_find(&g->backend, g->name ? g->name : "cpu", f);

    if (rc == FAULT_CONFIG)
        rc = f->code = FAULT_USAGE;
    if (!rc)
        rc = g->backend->open(0, (int)g->threads, f);
    if (!rc)
        rc = open_tokenizer(g, dir, need_tokenizer, f);
    if (!rc)
        rc = model_open(&g->model, dir, g->backend, (enum compute)g->compute,
                        g->tok ? tokenizer_size(g->tok) : 0, f);
    if (!rc && g->adapter)
        rc = add_adapter(g, f);
    return rc;
}

void engine_close(struct engine *g)
{
    model_free(g->model);
    tokenizer_free(g->tok);
    *g = (struct engine){0};
}
