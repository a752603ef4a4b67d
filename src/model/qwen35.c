/* qwen35.c - the configuration of Qwen3.5: nested text part, kinds of layers, widths.
 */
#include <string.h>

#include "model/qwen35.h"

/* -- the text part ------------------------------------------------------------------
 */

/* Keys of the whole that count for the text where its part is silent. */
static const char *const shared[] = {"eos_token_id", "tie_word_embeddings",
                                     "quantization_config", "dtype", "torch_dtype"};

static int check_names(const json_t *config, const json_t *text, const char *path,
                       struct fault *f)
{
    const json_t *list = json_object_get(config, "architectures");
    const char *name = json_string_value(json_array_get(list, 0));
    const json_t *type = json_object_get(text, "model_type");

    if (!json_is_object(text))
        return fault_set(f, FAULT_DATA, "%s: model_type qwen3_5 without a text_config",
                         path);
    if (type &&
        (!json_is_string(type) || strcmp(json_string_value(type), "qwen3_5_text")))
        return fault_set(f, FAULT_DATA,
                         "%s: model_type of text_config is not qwen3_5_text", path);
    if (list && (!name || json_array_size(list) != 1 ||
                 (strcmp(name, "Qwen3_5ForConditionalGeneration") &&
                  strcmp(name, "Qwen3_5ForCausalLM"))))
        return fault_set(f, FAULT_DATA,
                         "%s: architectures is neither "
                         "[\"Qwen3_5ForConditionalGeneration\"] nor "
                         "[\"Qwen3_5ForCausalLM\"], which model_type qwen3_5 needs",
                         path);
    return 0;
}

int qwen35_flatten(json_t **config, bool *nested, const char *path, struct fault *f)
{
    const char *type = json_string_value(json_object_get(*config, "model_type"));
    const json_t *text = json_object_get(*config, "text_config");
    json_t *own;

    *nested = type && !strcmp(type, "qwen3_5");
    if (!*nested)
        return 0;
    if (check_names(*config, text, path, f))
        return f->code;
    own = json_deep_copy(text);
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        json_t *v = json_object_get(*config, shared[i]);
        json_t *inner = json_object_get(own, shared[i]);

        if (v && (!inner || json_is_null(inner)))
            json_object_set(own, shared[i], v);
    }
    if (!own || json_object_set_new(own, "model_type", json_string("qwen3_5_text")) ||
        json_object_set_new(own, "architectures",
                            json_pack("[s]", "Qwen3_5ForCausalLM"))) {
        json_decref(own);
        return fault_set(f, FAULT_SYSTEM, "no memory for a configuration");
    }
    /* Of the two libraries that read both, each takes another one. */
    if (json_is_true(json_object_get(*config, "tie_word_embeddings")) !=
            json_is_true(json_object_get(own, "tie_word_embeddings")) &&
        json_object_get(*config, "tie_word_embeddings")) {
        json_decref(own);
        return fault_set(f, FAULT_DATA,
                         "%s: tie_word_embeddings differs between the whole and its "
                         "text_config",
                         path);
    }
    json_decref(*config);
    *config = own;
    return 0;
}

/* -- layers -------------------------------------------------------------------------
 */

static int read_listed(const struct source *s, const json_t *types,
                       struct model_config *c)
{
    const json_t *v;
    size_t i;

    if (!json_is_array(types) || json_array_size(types) != (size_t)c->layers)
        return fault_set(s->f, FAULT_DATA,
                         "%s: layer_types is not a list of num_hidden_layers = %d",
                         s->path, c->layers);
    json_array_foreach(types, i, v)
    {
        const char *kind = json_string_value(v);

        if (kind && !strcmp(kind, "linear_attention"))
            model_set_linear(c, (int)i);
        else if (!kind || strcmp(kind, "full_attention"))
            return fault_set(s->f, FAULT_DATA,
                             "%s: layer_types[%zu] is neither \"linear_attention\" nor "
                             "\"full_attention\"",
                             s->path, i);
    }
    return 0;
}

/* Without a list every `full_attention_interval`-th layer has softmax attention. */
static int read_layers(const struct source *s, struct model_config *c)
{
    const json_t *types = field_find(s, "layer_types");
    int every;

    if (c->layers < 1 || c->layers > MODEL_LAYERS)
        return fault_set(s->f, FAULT_DATA, "%s: num_hidden_layers is %d; want 1 to %d",
                         s->path, c->layers, MODEL_LAYERS);
    if (types)
        return read_listed(s, types, c);
    if (field_int(s, "full_attention_interval", 4, &every))
        return s->f->code;
    if (every < 1)
        return fault_set(s->f, FAULT_DATA,
                         "%s: full_attention_interval is %d; want 1 or more", s->path,
                         every);
    for (int l = 0; l < c->layers; l++)
        if ((l + 1) % every)
            model_set_linear(c, l);
    return 0;
}

int qwen35_read(const struct source *s, struct model_config *c)
{
    bool gate;

    if (read_layers(s, c) || field_bool(s, "attn_output_gate", true, &gate) ||
        field_int(s, "linear_num_key_heads", -1, &c->delta.key_heads) ||
        field_int(s, "linear_num_value_heads", -1, &c->delta.value_heads) ||
        field_int(s, "linear_key_head_dim", -1, &c->delta.key_dim) ||
        field_int(s, "linear_value_head_dim", -1, &c->delta.value_dim) ||
        field_int(s, "linear_conv_kernel_dim", -1, &c->kernel))
        return s->f->code;
    if (!gate)
        return fault_set(s->f, FAULT_DATA,
                         "%s: attn_output_gate = false is not supported", s->path);
    c->gated = c->centred = true;
    return 0;
}

int qwen35_write(json_t *o, const struct model_config *c)
{
    json_t *types = json_array();
    int bad = 0;

    for (int l = 0; l < c->layers; l++)
        bad |= json_array_append_new(
            types,
            json_string(model_is_linear(c, l) ? "linear_attention" : "full_attention"));
    return bad | json_object_set_new(o, "layer_types", types) |
           json_object_set_new(o, "attn_output_gate", json_true()) |
           json_object_set_new(o, "linear_num_key_heads",
                               json_integer(c->delta.key_heads)) |
           json_object_set_new(o, "linear_num_value_heads",
                               json_integer(c->delta.value_heads)) |
           json_object_set_new(o, "linear_key_head_dim",
                               json_integer(c->delta.key_dim)) |
           json_object_set_new(o, "linear_value_head_dim",
                               json_integer(c->delta.value_dim)) |
           json_object_set_new(o, "linear_conv_kernel_dim", json_integer(c->kernel));
}
