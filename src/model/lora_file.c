/* lora_file.c - adapters as directories of the PEFT library. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/impl.h"
#include "model/safetensors.h"

enum { MOST_CONFIG = 1 << 20 }; /* bytes of adapter_config.json */

/* -- adapter_config.json -------------------------------------------------------------
 */

/* Settings that would make another function of the tensors unless they say nothing: an
 * absent, null, false, zero or empty value, or this one. */
static const struct plain {
    const char *key, *value;
} plain_keys[] = {
    {"use_dora", ""},
    {"use_rslora", ""},
    {"use_qalora", ""},
    {"lora_bias", ""},
    {"fan_in_fan_out", ""},
    {"bias", "none"},
    {"rank_pattern", ""},
    {"alpha_pattern", ""},
    {"modules_to_save", ""},
    {"exclude_modules", ""},
    {"target_parameters", ""},
    {"trainable_token_indices", ""},
    {"layers_to_transform", ""},
    {"layer_replication", ""},
    {"megatron_config", ""},
    {"alora_invocation_tokens", ""},
    {"use_bdlora", ""},
    {"arrow_config", ""},
    {"kasa_config", ""},
    {"monteclora_config", ""},
    {"velora_config", ""},
    {"loftq_config", ""},
    {"corda_config", ""},
    {"lora_ga_config", ""},
};

static bool says_nothing(const json_t *v, const char *value)
{
    if (json_is_string(v))
        return !*json_string_value(v) || !strcmp(json_string_value(v), value);
    if (json_is_number(v))
        return json_number_value(v) == 0;
    return !v || json_is_null(v) || json_is_false(v) ||
           (json_is_array(v) && !json_array_size(v)) ||
           (json_is_object(v) && !json_object_size(v));
}

static int check_plain(const json_t *o, const char *path, struct fault *f)
{
    const char *type = json_string_value(json_object_get(o, "peft_type"));
    const json_t *init = json_object_get(o, "init_lora_weights");

    if (!type || strcmp(type, "LORA") != 0)
        return fault_set(f, FAULT_DATA,
                         "%s: peft_type is not LORA, the only kind of adapter that is "
                         "supported",
                         path);
    for (size_t i = 0; i < sizeof plain_keys / sizeof plain_keys[0]; i++)
        if (!says_nothing(json_object_get(o, plain_keys[i].key), plain_keys[i].value))
            return fault_set(f, FAULT_DATA,
                             "%s: \"%s\" is set, which is not supported; use an "
                             "adapter without it",
                             path, plain_keys[i].key);
    /* PiSSA, OLoRA and others change the base as well. */
    if (json_is_string(init) && strcmp(json_string_value(init), "gaussian") != 0)
        return fault_set(f, FAULT_DATA,
                         "%s: init_lora_weights \"%.40s\" may have changed the base "
                         "model, which is not supported",
                         path, json_string_value(init));
    return 0;
}

/* The list of target_modules as the text of a setting. */
static int read_targets(struct lora_config *out, const json_t *list, const char *path,
                        struct fault *f)
{
    size_t used = 0, i;
    const json_t *v;

    if (json_is_string(list) && !strcmp(json_string_value(list), "all-linear")) {
        snprintf(out->targets, sizeof out->targets, "all");
        return 0;
    }
    if (!json_is_array(list) || !json_array_size(list))
        return fault_set(f, FAULT_DATA,
                         "%s: target_modules is not a list of module names; patterns "
                         "are not supported",
                         path);
    json_array_foreach(list, i, v)
    {
        const char *name = json_string_value(v);

        if (!name || !*name || name[strcspn(name, ", \t")])
            return fault_set(f, FAULT_DATA,
                             "%s: target_modules[%zu] is not a module's name", path, i);
        used += (size_t)snprintf(out->targets + used, sizeof out->targets - used,
                                 "%s%s", i ? "," : "", name);
        if (used >= sizeof out->targets)
            return fault_set(f, FAULT_DATA, "%s: target_modules is too long", path);
    }
    return 0;
}

static int config_take(struct lora_config *out, const json_t *o, const char *path,
                       struct fault *f)
{
    const json_t *rank = json_object_get(o, "r");
    const json_t *alpha = json_object_get(o, "lora_alpha");

    if (check_plain(o, path, f))
        return f->code;
    if (!json_is_integer(rank) || json_integer_value(rank) < 1 ||
        json_integer_value(rank) > 1 << 20)
        return fault_set(f, FAULT_DATA, "%s: r is not a whole number over 0", path);
    if (!json_is_number(alpha) || !(json_number_value(alpha) > 0))
        return fault_set(f, FAULT_DATA, "%s: lora_alpha is not a number over 0", path);
    out->rank = (int)json_integer_value(rank);
    out->alpha = json_number_value(alpha);
    return read_targets(out, json_object_get(o, "target_modules"), path, f);
}

int lora_config_read(struct lora_config *out, const char *dir, struct fault *f)
{
    char *path = path_join(dir, "adapter_config.json", f);
    json_t *o = NULL;
    int rc = path ? json_object_read(&o, path, MOST_CONFIG, f) : f->code;

    *out = (struct lora_config){0};
    if (!rc)
        rc = config_take(out, o, path, f);
    json_decref(o);
    free(path);
    return rc;
}

/* -- loading -------------------------------------------------------------------------
 */

/* The adapter in `dir` has the matrices that the model's has. */
static int check_same(const struct model *m, const char *dir, struct fault *f)
{
    const struct lora_config *own = model_adapter(m);
    struct lora_config c;
    bool same;

    if (lora_config_read(&c, dir, f))
        return f->code;
    if (c.rank != own->rank || c.alpha != own->alpha)
        return fault_set(f, FAULT_CONFIG,
                         "%s: its rank is %d and its alpha %g, but lora.rank = %d and "
                         "lora.alpha = %g; set them to the adapter's",
                         dir, c.rank, c.alpha, own->rank, own->alpha);
    if (lora_same_targets(m, c.targets, &same, f))
        return f->code;
    if (!same)
        return fault_set(f, FAULT_CONFIG,
                         "%s: its targets (%.100s) are not those of lora.targets "
                         "(%.100s); set them to the adapter's",
                         dir, c.targets, own->targets);
    return 0;
}

/* Adapters that were trained on the model with vision have its names. */
static const struct st_tensor *find_tensor(const struct st_file *s,
                                           const struct model *m,
                                           const struct model_tensor *t)
{
    const struct st_tensor *e = st_find(s, t->name);
    char other[NESTED_NAME];

    nested_name(other, &m->cfg, t->name);
    return e || !*other ? e : st_find(s, other);
}

static int read_tensors(struct model *m, const struct st_file *s, struct fault *f)
{
    size_t in_file;
    int n;
    const struct model_tensor *t = model_tensors(m, &n);
    const struct st_tensor *all = st_list(s, &in_file);

    for (int i = 0; i < n; i++) {
        const struct st_tensor *e = find_tensor(s, m, &t[i]);

        if (!e)
            return fault_set(f, FAULT_DATA, "%s: lacks tensor \"%s\"", st_path(s),
                             t[i].name);
        if (e->n_dims != 2 || e->dims[0] != (size_t)t[i].rows ||
            e->dims[1] != (size_t)t[i].cols)
            return fault_set(f, FAULT_DATA,
                             "%s: tensor \"%s\" is not a matrix of %d x %d, as the "
                             "base model and the rank ask",
                             st_path(s), t[i].name, t[i].rows, t[i].cols);
        if (st_read(s, e, model_params(m) + t[i].first, f))
            return f->code;
    }
    for (size_t k = 0; k < in_file && in_file > (size_t)n; k++) {
        int i = 0;

        while (i < n && find_tensor(s, m, &t[i]) != &all[k])
            i++;
        if (i == n)
            return fault_set(f, FAULT_DATA,
                             "%s: tensor \"%.100s\" belongs to none of the targets of "
                             "adapter_config.json",
                             st_path(s), all[k].name);
    }
    return 0;
}

int model_lora_load(struct model *m, const char *dir, struct fault *f)
{
    char *path = path_join(dir, "adapter_model.safetensors", f);
    struct st_file *s = NULL;
    int rc = path ? 0 : f->code;

    if (!rc && !m->lora)
        rc = fault_set(f, FAULT_BUG, "%s: the model has no adapter to load", dir);
    if (!rc)
        rc = check_same(m, dir, f);
    if (!rc)
        rc = st_open(&s, path, f);
    if (!rc)
        rc = read_tensors(m, s, f);
    if (!rc)
        rc = model_refresh(m, f);
    st_close(s);
    free(path);
    return rc;
}

/* -- saving --------------------------------------------------------------------------
 */

static int tensors_save(const struct model *m, const char *dir, struct fault *f)
{
    int n;
    const struct model_tensor *t = model_tensors(m, &n);
    char *path = path_join(dir, "adapter_model.safetensors", f);
    struct st_source *s = mem_new((size_t)n, sizeof *s, "tensors", f);
    int rc = path && s ? 0 : f->code;

    for (int i = 0; !rc && i < n; i++)
        s[i] = (struct st_source){.name = t[i].name,
                                  .n_dims = 2,
                                  .dims = {(size_t)t[i].rows, (size_t)t[i].cols},
                                  .values = lora_params(m->lora) + t[i].first};
    if (!rc)
        rc = st_write(path, s, n, false, f);
    free(s);
    free(path);
    return rc;
}

static json_t *config_json(const struct model *m)
{
    const struct lora_config *c = model_adapter(m);
    bool whole = c->alpha == floor(c->alpha) && c->alpha < 1e9;
    json_t *alpha = whole ? json_integer((json_int_t)c->alpha) : json_real(c->alpha);

    /* A path that is no UTF-8 can't be named. */
    return json_pack("{s:s, s:i, s:o, s:o, s:o?, s:s, s:s, s:f, s:b, s:b}", "peft_type",
                     "LORA", "r", c->rank, "lora_alpha", alpha, "target_modules",
                     lora_target_names(m), "base_model_name_or_path",
                     json_string(model_dir(m)), "bias", "none", "task_type",
                     "CAUSAL_LM", "lora_dropout", 0.0, "inference_mode", 1,
                     "fan_in_fan_out", 0);
}

int model_lora_save(const struct model *m, const char *dir, struct fault *f)
{
    json_t *o = NULL;
    int rc = m->lora ? dir_make(dir, f)
                     : fault_set(f, FAULT_BUG, "the model has no adapter to save");

    if (!rc) {
        drop_file(dir, "adapter_config.json", f); /* until the rest is there */
        rc = tensors_save(m, dir, f);
    }
    if (!rc && !(o = config_json(m)))
        rc = fault_set(f, FAULT_SYSTEM, "no memory for adapter_config.json");
    if (!rc)
        rc = json_publish(o, dir, "adapter_config.json", f);
    json_decref(o);
    return rc;
}
