/* save.c - a model as a Hugging Face directory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/impl.h"
#include "model/safetensors.h"

/* What a tokenizer may consist of; no model has all. */
static const char *const tokenizer_files[] = {
    "tokenizer.json",     "tokenizer_config.json",   "vocab.json",
    "merges.txt",         "special_tokens_map.json", "added_tokens.json",
    "chat_template.jinja"};

/* 15 digits keep 1e-06 readable; 17 where those would lose something. */
static char *json_text(const json_t *o)
{
    char *text = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_t *back = text ? json_loads(text, 0, NULL) : NULL;

    if (!json_equal(o, back)) {
        free(text);
        text = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    }
    json_decref(back);
    return text;
}

int json_publish(const json_t *o, const char *dir, const char *name, struct fault *f)
{
    char *path = path_join(dir, name, f);
    char *text = json_text(o);
    int rc = path ? 0 : f->code;

    if (!rc && !text)
        rc = fault_set(f, FAULT_SYSTEM, "no memory for %s", name);
    if (!rc)
        rc = file_publish(path, text, strlen(text), f);
    free(path);
    free(text);
    return rc;
}

static int stops_publish(const struct model_config *c, const char *dir, struct fault *f)
{
    json_t *o = json_pack("{s:o}", "eos_token_id", stops_to_json(c));
    int rc = json_publish(o, dir, "generation_config.json", f);

    json_decref(o);
    return rc;
}

int model_config_write(const struct model_config *c, const char *dir, struct fault *f)
{
    json_t *o = config_to_json(c, f);
    int rc = o ? stops_publish(c, dir, f) : f->code;

    if (!rc)
        rc = json_publish(o, dir, "config.json", f);
    json_decref(o);
    return rc;
}

/* -- weights -------------------------------------------------------------------------
 */

void drop_file(const char *dir, const char *name, struct fault *f)
{
    char *path = path_join(dir, name, f);

    if (path)
        unlink(path);
    free(path);
}

static int shard_write(const struct st_source *t, int n, const char *dir,
                       const char *name, bool bf16, struct fault *f)
{
    char *path = path_join(dir, name, f);
    int rc = path ? st_write(path, t, n, bf16, f) : f->code;

    free(path);
    return rc;
}

/* Number of tensors from t[0] on that fit in one shard, at least 1. */
static int shard_take(const struct model_tensor *t, int n, size_t width, size_t most)
{
    size_t bytes = 0;
    int k = 0;

    while (k < n) {
        bytes += (size_t)t[k].rows * (size_t)t[k].cols * width;
        if (k > 0 && bytes > most)
            break;
        k++;
    }
    return k;
}

static int index_publish(json_t *map, size_t bytes, const char *dir, struct fault *f)
{
    json_t *o = json_pack("{s:{s:I}, s:O}", "metadata", "total_size", (json_int_t)bytes,
                          "weight_map", map);
    int rc = o ? json_publish(o, dir, "model.safetensors.index.json", f)
               : fault_set(f, FAULT_SYSTEM, "no memory for the index");

    json_decref(o);
    return rc;
}

static int shards_write(const struct model *m, const struct st_source *t,
                        const char *dir, bool bf16, size_t most, struct fault *f)
{
    const struct table *tab = &m->table;
    size_t width = bf16 ? 2 : 4;
    int n_shards = 0, rc = 0;
    json_t *map = json_object();

    for (int i = 0; i < tab->n; n_shards++)
        i += shard_take(&tab->tensors[i], tab->n - i, width, most);
    for (int i = 0, k, shard = 1; !rc && i < tab->n; i += k, shard++) {
        char name[64];

        k = shard_take(&tab->tensors[i], tab->n - i, width, most);
        snprintf(name, sizeof name, "model-%05d-of-%05d.safetensors", shard, n_shards);
        if (n_shards == 1)
            snprintf(name, sizeof name, "model.safetensors");
        for (int j = i; j < i + k; j++)
            json_object_set_new(map, t[j].name, json_string(name));
        rc = shard_write(t + i, k, dir, name, bf16, f);
    }
    /* A single file is what readers look for first: no old one may stay beside shards.
     */
    if (!rc && n_shards > 1)
        rc = index_publish(map, tab->values * width, dir, f);
    if (!rc)
        drop_file(dir,
                  n_shards > 1 ? "model.safetensors" : "model.safetensors.index.json",
                  f);
    json_decref(map);
    return rc;
}

int weights_save(const struct model *m, const float *params, const char *dir, bool bf16,
                 size_t shard_bytes, struct fault *f)
{
    const struct table *tab = &m->table;
    struct st_source *t = mem_new((size_t)tab->n, sizeof *t, "tensors", f);
    int rc;

    if (!t)
        return f->code;
    for (int i = 0; i < tab->n; i++) {
        const struct model_tensor *x = &tab->tensors[i];

        t[i] = (struct st_source){.name = x->name, .values = params + x->first};
        t[i].n_dims = tensor_dims(t[i].dims, x);
    }
    rc = shards_write(m, t, dir, bf16, shard_bytes, f);
    free(t);
    return rc;
}

/* -- the rest of the folder ----------------------------------------------------------
 */

/* Copy `name` from one folder to another where it exists. */
static int copy_present(const char *from, const char *to, const char *name,
                        struct fault *f)
{
    char *src = path_join(from, name, f), *dst = path_join(to, name, f);
    struct bytes b = {0};
    int rc = src && dst ? 0 : f->code;

    if (!rc && access(src, F_OK) == 0 && strcmp(src, dst) != 0) {
        rc = file_read(src, (size_t)1 << 30, &b, f);
        if (!rc)
            rc = file_publish(dst, b.data, b.len, f);
    }
    bytes_free(&b);
    free(src);
    free(dst);
    return rc;
}

/* The source's configuration with the type of the weights as written. */
static json_t *amended_config(const struct model *m, bool bf16, struct fault *f)
{
    json_t *o = m->config ? json_deep_copy(m->config) : config_to_json(&m->cfg, f);
    const char *type = bf16 ? "bfloat16" : "float32";
    bool newer = o && json_object_get(o, "dtype");

    if (!o) {
        fault_set(f, FAULT_SYSTEM, "no memory for config.json");
        return NULL;
    }
    if (newer)
        json_object_set_new(o, "dtype", json_string(type));
    if (!newer || json_object_get(o, "torch_dtype"))
        json_object_set_new(o, "torch_dtype", json_string(type));
    return o;
}

int model_save(const struct model *m, const float *params, const char *dir,
               const char *tokenizer_dir, bool bf16, struct fault *f)
{
    const float *values = m->lora ? m->params : params;
    json_t *config;
    int rc =
        m->lora && params != lora_params(m->lora)
            ? fault_set(f, FAULT_BUG, "only its own adapter can be merged into a model")
            : dir_make(dir, f);

    if (!rc) {
        drop_file(dir, "config.json", f); /* until the rest is there */
        rc = weights_save(m, values, dir, bf16, (size_t)4 << 30, f);
    }
    for (size_t i = 0; tokenizer_dir && i < sizeof tokenizer_files / sizeof(char *);
         i++)
        if (!rc)
            rc = copy_present(tokenizer_dir, dir, tokenizer_files[i], f);
    if (!rc && m->generation)
        rc = json_publish(m->generation, dir, "generation_config.json", f);
    if (!rc && !m->config)
        rc = stops_publish(&m->cfg, dir, f);
    if (rc)
        return rc;
    config = amended_config(m, bf16, f);
    rc = config ? json_publish(config, dir, "config.json", f) : f->code;
    json_decref(config);
    return rc;
}
