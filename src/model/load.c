/* load.c - a model from a Hugging Face directory: which file holds which tensor. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/impl.h"
#include "model/safetensors.h"

enum { MOST_SHARDS = 1000, MOST_INDEX = 100 << 20 };

/* The open files of one model. */
struct shards {
    struct st_file **files;
    int n;
};

static void shards_close(struct shards *s)
{
    for (int i = 0; i < s->n; i++)
        st_close(s->files[i]);
    free(s->files);
    *s = (struct shards){0};
}

static int shards_add(struct shards *s, const char *dir, const char *name,
                      struct fault *f)
{
    char *path = path_join(dir, name, f);
    int rc = path ? st_open(&s->files[s->n], path, f) : f->code;

    free(path);
    if (!rc)
        s->n++;
    return rc;
}

/* A shard is a plain name in the model's own folder. */
static bool plain_name(const char *name)
{
    return name && name[0] && name[0] != '.' && !strchr(name, '/') &&
           strlen(name) < 256;
}

/* Position of each shard's name in order of first mention; -1 if there are too many. */
static int shard_number(json_t *seen, const char *name)
{
    json_t *at = json_object_get(seen, name);

    if (at)
        return (int)json_integer_value(at);
    if (json_object_size(seen) == MOST_SHARDS ||
        json_object_set_new(seen, name, json_integer((int)json_object_size(seen))))
        return -1;
    return (int)json_object_size(seen) - 1;
}

/* Every tensor of the map must be in the shard the map says. */
static int open_mapped(struct shards *s, const char *dir, const char *path, json_t *map,
                       json_t *seen, struct fault *f)
{
    const char *name;
    json_t *v;

    json_object_foreach(map, name, v)
    {
        const char *file = json_string_value(v);
        int i;

        if (!plain_name(file))
            return fault_set(
                f, FAULT_DATA,
                "%s: the shard \"%.100s\" of tensor \"%.100s\" is not a file "
                "name in this folder",
                path, file ? file : "", name);
        i = shard_number(seen, file);
        if (i < 0)
            return fault_set(f, FAULT_DATA, "%s: more than %d shards", path,
                             MOST_SHARDS);
        if (i == s->n && shards_add(s, dir, file, f))
            return f->code;
        if (!st_find(s->files[i], name))
            return fault_set(f, FAULT_DATA, "%s: tensor \"%.100s\" is not in %.100s",
                             path, name, file);
    }
    return 0;
}

static int open_index(struct shards *s, const char *dir, const char *path,
                      struct fault *f)
{
    json_t *index, *map, *seen = json_object();
    int rc;

    if (json_object_read(&index, path, MOST_INDEX, f)) {
        json_decref(seen);
        return f->code;
    }
    map = json_object_get(index, "weight_map");
    s->files = mem_new(MOST_SHARDS, sizeof(struct st_file *), "shards", f);
    if (!s->files)
        rc = f->code;
    else if (!json_is_object(map) || json_object_size(map) == 0)
        rc = fault_set(f, FAULT_DATA, "%s: has no \"weight_map\"", path);
    else
        rc = open_mapped(s, dir, path, map, seen, f);
    json_decref(seen);
    json_decref(index);
    return rc;
}

/* A single file is preferred to an index, as Hugging Face does. */
static int shards_open(struct shards *s, const char *dir, struct fault *f)
{
    char *single = path_join(dir, "model.safetensors", f);
    char *index = path_join(dir, "model.safetensors.index.json", f);
    int rc = single && index ? 0 : f->code;

    *s = (struct shards){0};
    if (!rc && access(single, F_OK) && access(index, F_OK) == 0) {
        rc = open_index(s, dir, index, f);
    } else if (!rc) {
        s->files = mem_new(1, sizeof(struct st_file *), "shards", f);
        rc = s->files ? shards_add(s, dir, "model.safetensors", f) : f->code;
    }
    if (rc)
        shards_close(s);
    free(single);
    free(index);
    return rc;
}

/* -- matching ------------------------------------------------------------------------
 */

/* Where each tensor of the table is: its file and its entry there. */
struct place {
    const struct st_file *file;
    const struct st_tensor *entry;
};

static int check_shape(const struct st_file *file, const struct st_tensor *e,
                       const struct model_tensor *t, struct fault *f)
{
    size_t want[3];
    int n = tensor_dims(want, t);

    if (e->n_dims == n && !memcmp(e->dims, want, (size_t)n * sizeof *want))
        return 0;
    if (t->vector)
        return fault_set(f, FAULT_DATA,
                         "%s: tensor \"%s\" is not a vector of %d, as config.json says",
                         st_path(file), e->name, t->cols);
    return fault_set(
        f, FAULT_DATA,
        "%s: tensor \"%s\" is not a matrix of %d x %s%d, as config.json says",
        st_path(file), e->name, t->rows, t->conv ? "1 x " : "", t->cols);
}

/* Tensors that a model may carry without our use for them. */
static bool ignorable(const char *name, const struct model_config *c)
{
    size_t n = strlen(name);

    if (c->tied && !strcmp(name, "lm_head.weight"))
        return true;
    if (c->arch ==
            ARCH_QWEN35 && /* the vision part; heads for several tokens at once */
        (!strncmp(name, "model.visual.", 13) || !strncmp(name, "mtp.", 4)))
        return true;
    return n > 20 && !strcmp(name + n - 20, ".rotary_emb.inv_freq");
}

/* A tensor beyond the table means another architecture than config.json says. */
static int check_extra(const struct shards *s, const struct table *t,
                       const struct model_config *c, struct fault *f)
{
    json_t *known = json_object();
    int rc = 0;

    for (int i = 0; i < t->n; i++) {
        char other[NESTED_NAME];

        nested_name(other, c, t->tensors[i].name);
        json_object_set_new(known, t->tensors[i].name, json_true());
        if (*other)
            json_object_set_new(known, other, json_true());
    }
    for (int k = 0; !rc && k < s->n; k++) {
        size_t n;
        const struct st_tensor *e = st_list(s->files[k], &n);

        for (size_t i = 0; !rc && i < n; i++)
            if (!json_object_get(known, e[i].name) && !ignorable(e[i].name, c))
                rc = fault_set(f, FAULT_DATA,
                               "%s: tensor \"%.100s\" is not one of the model that "
                               "config.json describes",
                               st_path(s->files[k]), e[i].name);
    }
    json_decref(known);
    return rc;
}

/* Note where tensor `name` is, if it is in one of the files; twice is a fault. */
static int place(struct place *p, const struct shards *s, const char *name,
                 struct fault *f)
{
    for (int k = 0; k < s->n; k++) {
        const struct st_tensor *e = st_find(s->files[k], name);

        if (e && p->file)
            return fault_set(f, FAULT_DATA, "%s: tensor \"%s\" is also in %s",
                             st_path(s->files[k]), e->name, st_path(p->file));
        if (e)
            *p = (struct place){s->files[k], e};
    }
    return 0;
}

static int match(struct place *places, const struct shards *s, const struct table *t,
                 const struct model_config *c, const char *dir, struct fault *f)
{
    for (int i = 0; i < t->n; i++) {
        char other[NESTED_NAME];

        nested_name(other, c, t->tensors[i].name);
        if (place(&places[i], s, t->tensors[i].name, f) ||
            (*other && place(&places[i], s, other, f)))
            return f->code;
        if (!places[i].file)
            return fault_set(f, FAULT_DATA, "%s: the weights lack tensor \"%s\"", dir,
                             t->tensors[i].name);
        if (check_shape(places[i].file, places[i].entry, &t->tensors[i], f))
            return f->code;
    }
    return check_extra(s, t, c, f);
}

/* -- opening -------------------------------------------------------------------------
 */

static int read_values(struct model *m, const struct place *places, struct fault *f)
{
    for (int i = 0; i < m->table.n; i++)
        if (st_read(places[i].file, places[i].entry, param_of(m, i), f))
            return f->code;
    return model_refresh(m, f);
}

/* Takes over `c`.  Nothing of the size of the model is allocated before the files are
 * known to hold it. */
static int open_weights(struct model **out, struct model_config *c, const char *dir,
                        const struct backend *be, enum compute compute, int real_vocab,
                        struct fault *f)
{
    struct shards s = {0};
    struct table t = {0};
    struct place *places = NULL;
    int rc = shards_open(&s, dir, f);

    if (!rc)
        rc = table_new(&t, c, f);
    if (!rc && !(places = mem_new((size_t)t.n, sizeof *places, "tensors", f)))
        rc = f->code;
    if (!rc)
        rc = match(places, &s, &t, c, dir, f);
    if (!rc)
        rc = model_make(out, c, &t, be, compute, real_vocab, f);
    if (!rc)
        rc = read_values(*out, places, f);
    if (rc) {
        model_free(*out);
        *out = NULL;
        table_free(&t);
        model_config_free(c);
    }
    free(places);
    shards_close(&s);
    return rc;
}

int model_open(struct model **out, const char *dir, const struct backend *be,
               enum compute compute, int real_vocab, struct fault *f)
{
    json_t *config, *generation;
    struct model_config c;
    bool nested;
    int rc;

    *out = NULL;
    if (config_files_read(&config, &generation, &nested, dir, f))
        return f->code;
    rc = config_from_json(&c, config, dir, generation, f);
    c.nested = nested;
    if (!rc)
        rc = open_weights(out, &c, dir, be, compute, real_vocab, f);
    if (!rc && !((*out)->dir = strdup(dir))) {
        model_free(*out);
        *out = NULL;
        rc = fault_set(f, FAULT_SYSTEM, "no memory for a path");
    }
    if (rc) {
        json_decref(config);
        json_decref(generation);
        return rc;
    }
    (*out)->config = config;
    (*out)->generation = generation;
    return 0;
}
