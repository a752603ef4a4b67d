/* cmd_export.c - dapo export CHECKPOINT OUT_DIR: weights as a Hugging Face directory,
 * or an adapter as one of PEFT. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "dapo/inspect.h"
#include "dapo/mem.h"
#include "dapo/model.h"
#include "dapo/train.h"

struct job {
    const char *model, *tokenizer; /* folders */
    const char *path;              /* of the checkpoint's file */
    int dtype;                     /* 0 bf16, 1 f32; -1: not said */
    bool adapter;                  /* --adapter */
    bool adapted;                  /* the run trained one */
    struct lora_config lora;       /* it */
    struct config cfg;             /* the run's settings */
    struct inspect_checkpoint k;
};

/* The file itself, or a run directory's newest checkpoint. */
static int find_checkpoint(char **out, const char *path, struct fault *f)
{
    struct inspect_run r;
    struct stat st;
    int rc;

    if (stat(path, &st))
        return fault_set(f, FAULT_FILE, "%s: can't be opened: %s", path,
                         strerror(errno));
    if (!S_ISDIR(st.st_mode)) {
        *out = strdup(path);
        return *out ? 0 : fault_set(f, FAULT_SYSTEM, "no memory for a path");
    }
    rc = inspect_run(&r, path, f);
    if (rc)
        return rc;
    if (r.newest < 0)
        rc = fault_set(f, FAULT_DATA, "%s: has no checkpoint that can be read", path);
    else if (!(*out = inspect_checkpoint_path(path, r.newest, f)))
        rc = f->code;
    inspect_run_free(&r);
    return rc;
}

/* Where config.json and the tokenizer are: --model, or what the run was given. */
static int find_model(struct job *j, struct fault *f)
{
    j->adapted = j->k.n_tensors &&
                 !strncmp(j->k.tensors->name, LORA_PREFIX, sizeof LORA_PREFIX - 1);
    if (j->adapter && !j->adapted)
        return fault_set(f, FAULT_USAGE,
                         "--adapter: %s holds a whole model, not an adapter "
                         "(lora.rank = 0)",
                         j->path);
    if ((j->adapted || !j->model) &&
        config_parse(&j->cfg, j->path, j->k.config, NULL, 0, f))
        return f->code;
    if (j->adapted)
        train_adapter(&j->cfg, &j->lora);
    if (j->model) {
        j->tokenizer = j->model;
        return 0;
    }
    j->model = j->cfg.model.path;
    j->tokenizer = *j->cfg.model.tokenizer ? j->cfg.model.tokenizer : j->model;
    if (access(j->model, R_OK | X_OK))
        return fault_set(f, FAULT_FILE,
                         "%s: the run's model.path can't be opened from here: %s; name "
                         "the folder with --model",
                         j->model, strerror(errno));
    return 0;
}

/* Whether there are weights to read; those that an adapter is added to are the run's.
 */
static int has_weights(const struct job *j, bool *yes, struct fault *f)
{
    char *one = path_join(j->model, "model.safetensors", f);
    char *many = path_join(j->model, "model.safetensors.index.json", f);
    int rc = one && many ? 0 : f->code;

    *yes = j->adapted ? j->cfg.model.init == INIT_PRETRAINED
                      : !rc && (!access(one, F_OK) || !access(many, F_OK));
    free(one);
    free(many);
    return rc;
}

/* The adapter's base, or another one? */
static int check_base(const struct job *j, const struct model *m, struct fault *f)
{
    char base[17];

    snprintf(base, sizeof base, "%016llx", model_base(m));
    if (!strcmp(base, j->k.identity.model + 16))
        return 0;
    return fault_set(f, FAULT_DATA,
                     "%s: its adapter was not trained on the weights in %s; name "
                     "the base with --model",
                     j->path, j->model);
}

/* The model of the run's folder, its weights, or its adapter, yet to be replaced. Drawn
 * anew where it has none. */
static int open_model(struct model **m, const struct job *j, const struct backend *be,
                      struct fault *f)
{
    struct model_config c;
    bool read;
    int rc = has_weights(j, &read, f);

    if (!rc && read) {
        rc = model_open(m, j->model, be, COMPUTE_F32, 0, f);
    } else if (!rc && !(rc = model_config_read(&c, j->model, f))) {
        rc = model_random(m, &c, be, COMPUTE_F32, 0, (uint64_t)j->cfg.run.seed, f);
        model_config_free(&c);
    }
    if (!rc && j->adapted)
        rc = model_lora(*m, &j->lora, 0, f);
    if (!rc && j->adapted)
        rc = check_base(j, *m, f);
    return rc;
}

static int check_tensors(const struct job *j, const struct model *m, struct fault *f)
{
    int n;
    const struct model_tensor *t = model_tensors(m, &n);
    bool same = n == j->k.n_tensors && (int64_t)model_n_params(m) == j->k.n_params;

    for (int i = 0; i < n && same; i++)
        same = !strcmp(t[i].name, j->k.tensors[i].name) &&
               t[i].rows == j->k.tensors[i].rows && t[i].cols == j->k.tensors[i].cols;
    return same ? 0
                : fault_set(f, FAULT_DATA,
                            "%s: its tensors are not those of the model in %s; name "
                            "the run's model with --model",
                            j->path, j->model);
}

static int write_model(struct job *j, const char *out, struct fault *f)
{
    const struct backend *be;
    struct model *m = NULL;
    int rc = backend_find(&be, "cpu", f);

    if (!rc)
        rc = be->open(0, 1, f);
    if (!rc)
        rc = open_model(&m, j, be, f);
    if (!rc)
        rc = check_tensors(j, m, f);
    if (!rc)
        rc = inspect_params(j->path, model_params(m), j->k.n_params, f);
    if (!rc && j->adapted)
        rc = model_refresh(m, f);
    if (!rc && j->adapter)
        rc = model_lora_save(m, out, f);
    else if (!rc)
        rc = model_save(m, model_params(m), out, j->tokenizer, j->dtype == 0, f);
    if (!rc)
        printf("%s: step %" PRId64 ", %zu parameters as %s\n", out, j->k.step,
               j->adapter ? model_n_params(m) : model_count(model_cfg(m)),
               j->dtype == 0 ? "bf16" : "f32");
    model_free(m);
    return rc;
}

int cmd_export(struct cmd_env *e, struct fault *f)
{
    struct job j = {.dtype = -1};
    char *path = NULL;
    int rc = cmd_option(e, "--model", &j.model, f);

    j.adapter = cmd_flag(e, "--adapter");
    if (!rc)
        rc = cmd_choice(e, "--dtype", "bf16|f32", &j.dtype, f);
    if (!rc && j.adapter && j.dtype == 0)
        rc = fault_set(f, FAULT_USAGE, "--dtype bf16: an adapter is written as f32");
    if (j.dtype < 0)
        j.dtype = j.adapter;
    if (!rc)
        rc = cmd_rest(e, 2, 2, f);
    if (!rc)
        rc = find_checkpoint(&path, e->argv[0], f);
    j.path = path;
    if (!rc)
        rc = inspect_checkpoint(&j.k, j.path, f);
    if (!rc)
        rc = find_model(&j, f);
    if (!rc && !j.adapter && path_same(e->argv[1], j.model))
        rc = fault_set(f, FAULT_USAGE,
                       "%s: the run's own model is there, which would be lost; name "
                       "another folder",
                       e->argv[1]);
    if (!rc)
        rc = write_model(&j, e->argv[1], f);
    inspect_checkpoint_free(&j.k);
    free(path);
    return rc;
}
