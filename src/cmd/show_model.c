/* show_model.c - dapo inspect of a Hugging Face directory; no weights are read. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/show.h"
#include "dapo/mem.h"
#include "dapo/model.h"
#include "dapo/text.h"

#define MOST_HEADER (UINT64_C(100) << 20) /* as the safetensors library allows */
#define MOST_TYPES 16

/* Values in the weight files by the name of their type. */
struct types {
    int n, files;
    struct {
        char name[16];
        double values;
    } type[MOST_TYPES];
};

static void add_type(struct types *t, const char *name, double values)
{
    int i = 0;

    while (i < t->n && strcmp(t->type[i].name, name))
        i++;
    if (i == MOST_TYPES)
        return;
    if (i == t->n)
        snprintf(t->type[t->n++].name, sizeof t->type[0].name, "%s", name);
    t->type[i].values += values;
}

static int add_header(struct types *t, json_t *header, const char *path,
                      struct fault *f)
{
    const char *name;
    json_t *tensor;

    json_object_foreach(header, name, tensor)
    {
        const json_t *shape = json_object_get(tensor, "shape"), *side;
        const char *type = json_string_value(json_object_get(tensor, "dtype"));
        double values = 1;
        size_t i;

        if (!strcmp(name, "__metadata__"))
            continue;
        if (!json_is_array(shape) || !type || strlen(type) > 15)
            return fault_set(f, FAULT_DATA, "%s: tensor %.60s has no dtype or shape",
                             path, name);
        json_array_foreach(shape, i, side)
        {
            values *= json_number_value(side);
        }
        add_type(t, type, values);
    }
    return 0;
}

/* The JSON header: its length as 8 bytes, little-endian, then its bytes. */
static int read_header(json_t **out, const char *path, struct fault *f)
{
    FILE *in = fopen(path, "rb");
    unsigned char size[8];
    uint64_t n = 0;
    char *text = NULL;
    json_error_t e;
    struct stat st;

    *out = NULL;
    if (!in || fstat(fileno(in), &st) || fread(size, 1, 8, in) != 8) {
        if (in)
            fclose(in);
        return fault_set(f, FAULT_FILE, "%s: can't be read", path);
    }
    for (int i = 8; i-- > 0;)
        n = n << 8 | size[i];
    if (n > MOST_HEADER || st.st_size < 8 || n > (uint64_t)st.st_size - 8)
        fault_set(f, FAULT_DATA,
                  "%s: its header is larger than the file or %" PRIu64 " bytes", path,
                  MOST_HEADER);
    else if ((text = mem_new((size_t)n + 1, 1, path, f)) &&
             fread(text, 1, (size_t)n, in) != (size_t)n)
        fault_set(f, FAULT_FILE, "%s: can't be read", path);
    else if (text && !(*out = json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, &e)))
        fault_set(f, FAULT_DATA, "%s: its header is not JSON: %s", path, e.text);
    fclose(in);
    free(text);
    return *out ? 0 : f->code;
}

static int add_file(struct types *t, const char *dir, const char *name, struct fault *f)
{
    char *path = path_join(dir, name, f);
    json_t *header = NULL;
    int rc = path ? read_header(&header, path, f) : f->code;

    if (!rc)
        rc = add_header(t, header, path, f);
    t->files++;
    json_decref(header);
    free(path);
    return rc;
}

static int read_types(struct types *t, const char *dir, struct fault *f)
{
    DIR *d = opendir(dir);
    int rc = 0;

    if (!d)
        return fault_set(f, FAULT_FILE, "%s: can't be listed: %s", dir,
                         strerror(errno));
    for (struct dirent *e; !rc && (e = readdir(d));) {
        const char *end = strrchr(e->d_name, '.');

        if (end && !strcmp(end, ".safetensors"))
            rc = add_file(t, dir, e->d_name, f);
    }
    closedir(d);
    return rc;
}

static int show_weights(const char *dir, struct fault *f)
{
    struct types t = {0};
    int rc = read_types(&t, dir, f);

    if (rc)
        return rc;
    if (t.files == 0)
        show_line("weights", "none (for model.init = random)");
    for (int i = 0; i < t.n; i++)
        show_line("weights", "%.0f values of %s in %d file%s", t.type[i].values,
                  t.type[i].name, t.files, t.files == 1 ? "" : "s");
    return 0;
}

/* The stop ids, as text where there is a tokenizer. */
static int show_stops(const struct model_config *c, const struct tokenizer *tok,
                      struct fault *f)
{
    int rc = 0;

    if (c->n_stop == 0)
        show_line("stop ids", "none");
    for (int i = 0; i < c->n_stop && !rc; i++) {
        struct bytes text = {0};

        if (tok && c->stop[i] < tokenizer_size(tok))
            rc = tokenizer_decode(tok, &c->stop[i], 1, false, &text, f);
        if (!rc)
            show_line("stop id", "%d%s%s", c->stop[i], text.len ? " " : "",
                      text.len ? text.data : "");
        bytes_free(&text);
    }
    return rc;
}

static int show_tokenizer(const char *dir, const struct model_config *c,
                          struct fault *f)
{
    char *path = path_join(dir, "tokenizer.json", f);
    struct tokenizer *tok = NULL;
    int rc = path ? 0 : f->code;

    if (!rc && access(path, F_OK))
        show_line("tokenizer", "none");
    else if (!rc && !(rc = tokenizer_open(&tok, dir, f)))
        show_line("tokenizer", "%d ids, hash %016llx", tokenizer_size(tok),
                  tokenizer_hash(tok));
    if (!rc)
        rc = show_stops(c, tok, f);
    tokenizer_free(tok);
    free(path);
    return rc;
}

static void show_rope(const struct model_config *c)
{
    static const char *const kinds[] = {"plain", "linear", "llama3", "yarn"};

    char part[48] = "";

    if (c->rotary < c->head_dim)
        snprintf(part, sizeof part, ", %d values of a head", c->rotary);
    if (c->rope.kind == ROPE_PLAIN)
        show_line("rope", "theta %g%s", c->rope_theta, part);
    else
        show_line("rope", "theta %g, %s by %g%s", c->rope_theta, kinds[c->rope.kind],
                  c->rope.factor, part);
}

/* Layers of linear attention, where there are any. */
static void show_linear(const struct model_config *c)
{
    const struct delta_heads *d = &c->delta;

    if (model_n_linear(c) == 0)
        return;
    show_line("linear attention", "%d of the layers, convolution over %d",
              model_n_linear(c), c->kernel);
    show_line("linear heads", "%d of %d values, %d of %d for keys and queries",
              d->value_heads, d->value_dim, d->key_heads, d->key_dim);
}

int show_model(const char *dir, struct fault *f)
{
    static const char *const archs[] = {"qwen2", "qwen3", "llama", "qwen3_5_text"};
    struct model_config c;
    int rc = model_config_read(&c, dir, f);

    if (rc)
        return rc;
    show_line("kind", "model directory");
    show_line("architecture", "%s%s", archs[c.arch],
              c.nested ? ", of a model with vision, which is left out" : "");
    show_line("parameters", "%zu", model_count(&c));
    show_line("vocabulary", "%d rows, head %s", c.vocab, c.tied ? "tied" : "untied");
    show_line("hidden size", "%d", c.dim);
    show_line("layers", "%d", c.layers);
    show_line("heads", "%d of %d values, %d for keys and values", c.heads, c.head_dim,
              c.kv_heads);
    show_linear(&c);
    show_line("intermediate size", "%d", c.ffn);
    show_line("positions", "%d", c.max_position);
    show_line("biases", "qkv %s, out %s, mlp %s", c.qkv_bias ? "yes" : "no",
              c.out_bias ? "yes" : "no", c.mlp_bias ? "yes" : "no");
    show_line("q and k norm", "%s", c.qk_norm ? "yes" : "no");
    show_line("norm epsilon", "%g", (double)c.norm_eps);
    show_rope(&c);
    rc = show_weights(dir, f);
    if (!rc)
        rc = show_tokenizer(dir, &c, f);
    model_config_free(&c);
    return rc;
}
