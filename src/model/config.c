/* config.c - reading config.json and generation_config.json.
 *
 * A key that is absent or null counts as missing.  Only keys that Hugging Face itself
 * gives a default which models rely on may be missing; what asks for other arithmetic
 * than this model's is refused by name.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/fields.h"
#include "model/impl.h"
#include "model/qwen35.h"

enum { MOST_CONFIG = 16 << 20 }; /* bytes of a configuration file */

/* -- architecture --------------------------------------------------------------------
 */

static const struct arch_row {
    const char *type, *name;
} arch_rows[] = {
    [ARCH_QWEN2] = {"qwen2", "Qwen2ForCausalLM"},
    [ARCH_QWEN3] = {"qwen3", "Qwen3ForCausalLM"},
    [ARCH_LLAMA] = {"llama", "LlamaForCausalLM"},
    [ARCH_QWEN35] = {"qwen3_5_text", "Qwen3_5ForCausalLM"},
};
enum { N_ARCH = sizeof arch_rows / sizeof arch_rows[0] };

static int read_arch(const struct source *s, struct model_config *c)
{
    const json_t *list = field_find(s, "architectures");
    const char *type, *name;
    int i = 0;

    if (field_text(s, "model_type", &type))
        return s->f->code;
    while (i < N_ARCH && strcmp(arch_rows[i].type, type) != 0)
        i++;
    if (i == N_ARCH)
        return fault_set(s->f, FAULT_DATA,
                         "%s: model_type \"%.60s\" is not supported; qwen2, qwen3, "
                         "llama, qwen3_5 and qwen3_5_text are",
                         s->path, type);
    name = json_string_value(json_array_get(list, 0));
    if (list &&
        (!name || json_array_size(list) != 1 || strcmp(name, arch_rows[i].name)))
        return fault_set(s->f, FAULT_DATA,
                         "%s: architectures is not [\"%s\"], which model_type %s needs",
                         s->path, arch_rows[i].name, type);
    c->arch = (enum arch)i;
    return 0;
}

/* Models without linear attention name one kind only. */
static int refuse_kinds(const struct source *s)
{
    const json_t *types = field_find(s, "layer_types"), *v;
    size_t i;

    if (types && !json_is_array(types))
        return fault_set(s->f, FAULT_DATA, "%s: layer_types is not a list", s->path);
    json_array_foreach(types, i, v)
    {
        const char *kind = json_string_value(v);

        if (!kind || strcmp(kind, "full_attention") != 0)
            return fault_set(s->f, FAULT_DATA,
                             "%s: layer_types[%zu] is not \"full_attention\", the only "
                             "supported kind",
                             s->path, i);
    }
    return 0;
}

/* What would silently give other numbers than the model's authors had. */
static int refuse_unsupported(const struct source *s, const struct model_config *c)
{
    const char *act;
    bool sliding;
    double dropout, part;

    if (field_find(s, "quantization_config"))
        return fault_set(
            s->f, FAULT_DATA,
            "%s: the weights are quantized (quantization_config), which is "
            "not supported; use the unquantized model",
            s->path);
    if (field_text(s, "hidden_act", &act) ||
        field_bool(s, "use_sliding_window", false, &sliding) ||
        field_real(s, "attention_dropout", 0, &dropout) ||
        field_real(s, "partial_rotary_factor", 1, &part))
        return s->f->code;
    if (strcmp(act, "silu") != 0)
        return fault_set(s->f, FAULT_DATA,
                         "%s: hidden_act \"%.60s\" is not supported; silu is", s->path,
                         act);
    if (sliding)
        return fault_set(s->f, FAULT_DATA,
                         "%s: sliding windows (use_sliding_window) are not supported",
                         s->path);
    if (dropout != 0 || (part != 1 && c->arch != ARCH_QWEN35))
        return fault_set(s->f, FAULT_DATA,
                         "%s: attention_dropout %g or partial_rotary_factor %g is not "
                         "supported; 0 and 1 are",
                         s->path, dropout, part);
    return c->arch == ARCH_QWEN35 ? 0 : refuse_kinds(s);
}

static int read_switches(const struct source *s, struct model_config *c)
{
    bool bias;

    if (field_bool(s, "tie_word_embeddings", false, &c->tied) ||
        field_bool(s, "attention_bias", false, &bias) ||
        field_bool(s, "mlp_bias", false, &c->mlp_bias))
        return s->f->code;
    c->qkv_bias = bias || c->arch == ARCH_QWEN2;
    c->out_bias = bias;
    c->qk_norm = c->arch == ARCH_QWEN3 || c->arch == ARCH_QWEN35;
    if (c->arch == ARCH_QWEN35 && bias)
        return fault_set(s->f, FAULT_DATA, "%s: attention_bias is not supported for %s",
                         s->path, arch_rows[c->arch].type);
    if (c->arch == ARCH_QWEN2 && bias)
        return fault_set(
            s->f, FAULT_DATA,
            "%s: attention_bias is not a setting of qwen2, whose q, k and v "
            "always have a bias",
            s->path);
    if (c->arch != ARCH_LLAMA && c->mlp_bias)
        return fault_set(s->f, FAULT_DATA, "%s: mlp_bias is not supported for %s",
                         s->path, arch_rows[c->arch].type);
    if (c->arch == ARCH_LLAMA && field_find(s, "sliding_window"))
        return fault_set(s->f, FAULT_DATA, "%s: sliding_window is not supported",
                         s->path);
    return 0;
}

static int read_widths(const struct source *s, struct model_config *c)
{
    double eps;

    if (field_int(s, "vocab_size", -1, &c->vocab) ||
        field_int(s, "hidden_size", -1, &c->dim) ||
        field_int(s, "num_hidden_layers", -1, &c->layers) ||
        field_int(s, "num_attention_heads", -1, &c->heads) ||
        field_int(s, "intermediate_size", -1, &c->ffn) ||
        field_int(s, "max_position_embeddings", -1, &c->max_position) ||
        field_real(s, "rms_norm_eps", NAN, &eps) ||
        /* The first Llama models say nothing: as many as heads. */
        field_int(s, "num_key_value_heads", c->arch == ARCH_LLAMA ? c->heads : -1,
                  &c->kv_heads) ||
        field_int(s, "head_dim", c->qk_norm ? -1 : 0, &c->head_dim))
        return s->f->code;
    c->norm_eps = (float)eps;
    if (c->head_dim > 0)
        return 0;
    if (c->heads < 1 || c->dim % c->heads)
        return fault_set(
            s->f, FAULT_DATA,
            "%s: hidden_size %d is not a multiple of num_attention_heads %d, "
            "and there is no head_dim",
            s->path, c->dim, c->heads);
    c->head_dim = c->dim / c->heads;
    return 0;
}

/* -- rope ----------------------------------------------------------------------------
 */

static int read_llama3(const struct source *s, struct rope_scaling *r)
{
    r->kind = ROPE_LLAMA3;
    return field_real(s, "low_freq_factor", NAN, &r->low) ||
                   field_real(s, "high_freq_factor", NAN, &r->high) ||
                   field_int(s, "original_max_position_embeddings", -1, &r->original)
               ? s->f->code
               : 0;
}

/* 0.1 m ln factor + 1: Peng et al. 2023, eq. 22, as DeepSeek and Hugging Face have it
 */
static double yarn_scale(double factor, double m)
{
    return factor > 1 ? 0.1 * m * log(factor) + 1 : 1;
}

static int read_yarn(const struct source *s, struct rope_scaling *r, int max_position)
{
    double m, all;

    r->kind = ROPE_YARN;
    if (field_real(s, "beta_fast", 32, &r->high) ||
        field_real(s, "beta_slow", 1, &r->low) ||
        field_int(s, "original_max_position_embeddings", max_position, &r->original) ||
        field_real(s, "attention_factor", 0, &r->attention) ||
        field_real(s, "mscale", 0, &m) || field_real(s, "mscale_all_dim", 0, &all) ||
        field_bool(s, "truncate", true, &r->whole))
        return s->f->code;
    if (r->attention == 0 && m != 0 && all != 0)
        r->attention = yarn_scale(r->factor, m) / yarn_scale(r->factor, all);
    return 0;
}

/* `s` is rope_scaling, or rope_parameters of transformers 5. */
static int read_scaling(const struct source *s, struct model_config *c)
{
    struct rope_scaling *r = &c->rope;
    const char *kind;
    double part;

    if (!json_is_object(s->root))
        return fault_set(s->f, FAULT_DATA, "%s: the rope scaling is not an object",
                         s->path);
    if (field_text(s, field_find(s, "rope_type") ? "rope_type" : "type", &kind) ||
        field_real(s, "partial_rotary_factor", 1, &part))
        return s->f->code;
    if (part != 1 && c->arch != ARCH_QWEN35)
        return fault_set(s->f, FAULT_DATA, "%s: partial_rotary_factor is not supported",
                         s->path);
    if (!strcmp(kind, "default"))
        return 0;
    if (strcmp(kind, "linear") && strcmp(kind, "llama3") && strcmp(kind, "yarn"))
        return fault_set(
            s->f, FAULT_DATA,
            "%s: rope scaling \"%.60s\" is not supported; default, linear, "
            "llama3 and yarn are",
            s->path, kind);
    if (field_real(s, "factor", NAN, &r->factor))
        return s->f->code;
    if (!strcmp(kind, "llama3"))
        return read_llama3(s, r);
    if (!strcmp(kind, "yarn"))
        return read_yarn(s, r, c->max_position);
    r->kind = ROPE_LINEAR;
    return 0;
}

/* int(head_dim * partial_rotary_factor), as Hugging Face has it; a quarter if nothing
 * is said. */
static int read_rotary(const struct source *s, const struct source *rope,
                       struct model_config *c)
{
    double part;

    if (field_real(s, "partial_rotary_factor", 0.25, &part) ||
        (rope->root && field_real(rope, "partial_rotary_factor", part, &part)))
        return s->f->code;
    if (!(part > 0) || part > 1)
        return fault_set(s->f, FAULT_DATA,
                         "%s: partial_rotary_factor is %g; want over 0, at most 1",
                         s->path, part);
    c->rotary = (int)(c->head_dim * part);
    if (c->rotary > 0)
        return 0;
    return fault_set(s->f, FAULT_DATA,
                     "%s: partial_rotary_factor %g leaves RoPE nothing of head_dim %d",
                     s->path, part, c->head_dim);
}

static int read_rope(const struct source *s, struct model_config *c)
{
    const json_t *both = field_find(s, "rope_parameters"),
                 *old = field_find(s, "rope_scaling");
    struct source in = {s->path, both ? both : old, s->f};
    const struct source *theta = both && field_find(&in, "rope_theta") ? &in : s;

    if (field_real(theta, "rope_theta", NAN, &c->rope_theta) ||
        (c->arch == ARCH_QWEN35 && read_rotary(s, &in, c)))
        return s->f->code;
    return in.root ? read_scaling(&in, c) : 0;
}

/* -- stop ids ------------------------------------------------------------------------
 */

static int add_stop(const struct source *s, const json_t *v, struct model_config *c)
{
    json_int_t id = json_integer_value(v);

    if (!json_is_integer(v) || id < 0 || id >= c->vocab)
        return fault_set(s->f, FAULT_DATA,
                         "%s: an eos_token_id is not an id of the vocabulary of %d",
                         s->path, c->vocab);
    for (int i = 0; i < c->n_stop; i++)
        if (c->stop[i] == (int)id)
            return 0;
    if (c->n_stop == MODEL_STOPS)
        return fault_set(s->f, FAULT_DATA, "%s: more than %d ids in eos_token_id",
                         s->path, MODEL_STOPS);
    c->stop[c->n_stop++] = (int)id;
    return 0;
}

static int add_stops(const struct source *s, struct model_config *c)
{
    const json_t *ids = field_find(s, "eos_token_id"), *v;
    size_t i;

    if (ids && !json_is_array(ids))
        return add_stop(s, ids, c);
    json_array_foreach(ids, i, v)
    {
        if (add_stop(s, v, c))
            return s->f->code;
    }
    return 0;
}

/* -- files ---------------------------------------------------------------------------
 */

int json_object_read(json_t **out, const char *path, size_t most, struct fault *f)
{
    struct bytes b;
    json_error_t e;

    *out = NULL;
    if (file_read(path, most, &b, f))
        return f->code;
    *out = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, &e);
    bytes_free(&b);
    if (!*out)
        return fault_set(f, FAULT_DATA, "%s: is not JSON: line %d: %s", path, e.line,
                         e.text);
    if (json_is_object(*out))
        return 0;
    json_decref(*out);
    *out = NULL;
    return fault_set(f, FAULT_DATA, "%s: is not a JSON object", path);
}

int config_from_json(struct model_config *out, const json_t *config, const char *dir,
                     const json_t *generation, struct fault *f)
{
    char path[300], more[300];
    struct source s = {path, config, f}, g = {more, generation, f};
    struct fault inner = FAULT_INIT;

    *out = (struct model_config){0};
    snprintf(path, sizeof path, "%.280s/config.json", dir);
    snprintf(more, sizeof more, "%.270s/generation_config.json", dir);
    if (read_arch(&s, out) || refuse_unsupported(&s, out) || read_switches(&s, out) ||
        read_widths(&s, out) || read_rope(&s, out) ||
        (out->arch == ARCH_QWEN35 && qwen35_read(&s, out)))
        return f->code;
    if (model_config_derive(out, &inner))
        fault_set(f, (enum fault_code)inner.code, "%s: %s", path, inner.text);
    if (inner.code || add_stops(&g, out) || add_stops(&s, out)) {
        model_config_free(out);
        return f->code;
    }
    return 0;
}

int config_files_read(json_t **config, json_t **generation, bool *nested,
                      const char *dir, struct fault *f)
{
    char *path = path_join(dir, "config.json", f);
    char *more = path_join(dir, "generation_config.json", f);
    int rc = path && more ? 0 : f->code;

    *config = *generation = NULL;
    if (!rc)
        rc = json_object_read(config, path, MOST_CONFIG, f);
    if (!rc)
        rc = qwen35_flatten(config, nested, path, f);
    if (!rc && access(more, F_OK) == 0)
        rc = json_object_read(generation, more, MOST_CONFIG, f);
    if (rc) {
        json_decref(*config);
        *config = NULL;
    }
    free(path);
    free(more);
    return rc;
}

int model_config_read(struct model_config *out, const char *dir, struct fault *f)
{
    json_t *config, *generation;
    bool nested;
    int rc;

    *out = (struct model_config){0};
    if (config_files_read(&config, &generation, &nested, dir, f))
        return f->code;
    rc = config_from_json(out, config, dir, generation, f);
    out->nested = nested;
    json_decref(config);
    json_decref(generation);
    return rc;
}

/* -- writing -------------------------------------------------------------------------
 */

static json_t *rope_to_json(const struct model_config *c)
{
    const struct rope_scaling *r = &c->rope;

    switch (r->kind) {
    case ROPE_PLAIN:
        return json_null();
    case ROPE_LINEAR:
        return json_pack("{s:s, s:f}", "rope_type", "linear", "factor", r->factor);
    case ROPE_LLAMA3:
        return json_pack("{s:s, s:f, s:f, s:f, s:i}", "rope_type", "llama3", "factor",
                         r->factor, "low_freq_factor", r->low, "high_freq_factor",
                         r->high, "original_max_position_embeddings", r->original);
    case ROPE_YARN:
        return json_pack("{s:s, s:f, s:f, s:f, s:i, s:b, s:o*}", "rope_type", "yarn",
                         "factor", r->factor, "beta_slow", r->low, "beta_fast", r->high,
                         "original_max_position_embeddings", r->original, "truncate",
                         r->whole, "attention_factor",
                         r->attention > 0 ? json_real(r->attention) : NULL);
    }
    return NULL;
}

/* The short decimal number that a float came from, if there is one: 1e-06 rather than
 * 9.9999999747524271e-07. */
static double decimal(float x)
{
    char text[32];
    double short_form;

    snprintf(text, sizeof text, "%.7g", (double)x);
    short_form = strtod(text, NULL);
    return (float)short_form == x ? short_form : (double)x;
}

json_t *stops_to_json(const struct model_config *c)
{
    json_t *list = json_array();

    for (int i = 0; i < c->n_stop; i++)
        json_array_append_new(list, json_integer(c->stop[i]));
    return list;
}

/* The factor that read_rotary turns into c->rotary again. */
static double rotary_part(const struct model_config *c)
{
    double part = (double)c->rotary / c->head_dim;

    return (int)(c->head_dim * part) == c->rotary ? part : nextafter(part, 2);
}

/* What only Qwen3.5 has: RoPE under its newer name, kinds of layers, widths. */
static int add_qwen35(json_t *o, const struct model_config *c)
{
    json_t *rope = rope_to_json(c);

    if (json_is_null(rope))
        rope = json_pack("{s:s}", "rope_type", "default");
    json_object_del(o, "rope_scaling");
    json_object_del(o, "rope_theta");
    return json_object_set_new(rope, "rope_theta", json_real(c->rope_theta)) |
           json_object_set_new(rope, "partial_rotary_factor",
                               json_real(rotary_part(c))) |
           json_object_set_new(o, "rope_parameters", rope) | qwen35_write(o, c);
}

json_t *config_to_json(const struct model_config *c, struct fault *f)
{
    const struct arch_row *a = &arch_rows[c->arch];
    json_t *o = json_pack(
        "{s:[s], s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:o, s:s, s:b, "
        "s:o, s:s}",
        "architectures", a->name, "model_type", a->type, "vocab_size", c->vocab,
        "hidden_size", c->dim, "num_hidden_layers", c->layers, "num_attention_heads",
        c->heads, "num_key_value_heads", c->kv_heads, "head_dim", c->head_dim,
        "intermediate_size", c->ffn, "max_position_embeddings", c->max_position,
        "rms_norm_eps", decimal(c->norm_eps), "rope_theta", c->rope_theta,
        "rope_scaling", rope_to_json(c), "hidden_act", "silu", "tie_word_embeddings",
        c->tied, "eos_token_id", stops_to_json(c), "torch_dtype", "float32");
    int bad = !o;

    if (!bad && c->arch != ARCH_QWEN2)
        bad = json_object_set_new(o, "attention_bias", json_boolean(c->out_bias));
    if (!bad && c->arch == ARCH_LLAMA)
        bad = json_object_set_new(o, "mlp_bias", json_boolean(c->mlp_bias));
    if (!bad && c->arch != ARCH_LLAMA && c->arch != ARCH_QWEN35)
        bad = json_object_set_new(o, "use_sliding_window", json_false());
    if (!bad && c->arch == ARCH_QWEN35)
        bad = add_qwen35(o, c);
    if (!bad)
        return o;
    json_decref(o);
    fault_set(f, FAULT_SYSTEM, "no memory for config.json");
    return NULL;
}
