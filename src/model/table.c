/* table.c - which tensors a configuration has, their names and shapes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/impl.h"

enum width {
    ONE,
    DIM,
    QUERY,
    GATED_QUERY,
    KEY,
    HEAD,
    FFN,
    MIXED,
    VALUE,
    VALUES,
    TAPS,
    VALUE_HEAD
};
/* Which layers have a tensor: all, those of either kind, or those of a configuration
 * that asks for it.  What softmax layers may have, linear ones have not. */
enum need { ALWAYS, SOFTMAX, QKV_BIAS, OUT_BIAS, QK_NORM, MLP_BIAS, LINEAR };

static const struct slot_row {
    const char *name;
    enum width rows, cols; /* rows ONE: a vector */
    enum need need;
} slot_rows[N_SLOTS] = {
    [NORM1] = {"input_layernorm.weight", ONE, DIM, ALWAYS},
    [Q] = {"self_attn.q_proj.weight", GATED_QUERY, DIM, SOFTMAX},
    [Q_BIAS] = {"self_attn.q_proj.bias", ONE, GATED_QUERY, QKV_BIAS},
    [K] = {"self_attn.k_proj.weight", KEY, DIM, SOFTMAX},
    [K_BIAS] = {"self_attn.k_proj.bias", ONE, KEY, QKV_BIAS},
    [V] = {"self_attn.v_proj.weight", KEY, DIM, SOFTMAX},
    [V_BIAS] = {"self_attn.v_proj.bias", ONE, KEY, QKV_BIAS},
    [Q_NORM] = {"self_attn.q_norm.weight", ONE, HEAD, QK_NORM},
    [K_NORM] = {"self_attn.k_norm.weight", ONE, HEAD, QK_NORM},
    [O] = {"self_attn.o_proj.weight", DIM, QUERY, SOFTMAX},
    [O_BIAS] = {"self_attn.o_proj.bias", ONE, DIM, OUT_BIAS},
    [NORM2] = {"post_attention_layernorm.weight", ONE, DIM, ALWAYS},
    [GATE] = {"mlp.gate_proj.weight", FFN, DIM, ALWAYS},
    [GATE_BIAS] = {"mlp.gate_proj.bias", ONE, FFN, MLP_BIAS},
    [UP] = {"mlp.up_proj.weight", FFN, DIM, ALWAYS},
    [UP_BIAS] = {"mlp.up_proj.bias", ONE, FFN, MLP_BIAS},
    [DOWN] = {"mlp.down_proj.weight", DIM, FFN, ALWAYS},
    [DOWN_BIAS] = {"mlp.down_proj.bias", ONE, DIM, MLP_BIAS},
    [IN_QKV] = {"linear_attn.in_proj_qkv.weight", MIXED, DIM, LINEAR},
    [IN_Z] = {"linear_attn.in_proj_z.weight", VALUE, DIM, LINEAR},
    [IN_B] = {"linear_attn.in_proj_b.weight", VALUES, DIM, LINEAR},
    [IN_A] = {"linear_attn.in_proj_a.weight", VALUES, DIM, LINEAR},
    [CONV] = {"linear_attn.conv1d.weight", MIXED, TAPS, LINEAR},
    [A_LOG] = {"linear_attn.A_log", ONE, VALUES, LINEAR},
    [DT_BIAS] = {"linear_attn.dt_bias", ONE, VALUES, LINEAR},
    [GATED_NORM] = {"linear_attn.norm.weight", ONE, VALUE_HEAD, LINEAR},
    [OUT] = {"linear_attn.out_proj.weight", DIM, VALUE, LINEAR},
};

bool slot_adapts(enum slot s)
{
    return slot_rows[s].rows != ONE && s != CONV;
}

int value_width(const struct model_config *c)
{
    return c->delta.value_heads * c->delta.value_dim;
}

int mixed_width(const struct model_config *c)
{
    return 2 * c->delta.key_heads * c->delta.key_dim + value_width(c);
}

static int width_of(const struct model_config *c, enum width w)
{
    switch (w) {
    case ONE:
        return 1;
    case DIM:
        return c->dim;
    case QUERY:
        return c->heads * c->head_dim;
    case GATED_QUERY:
        return (c->gated ? 2 : 1) * c->heads * c->head_dim;
    case KEY:
        return c->kv_heads * c->head_dim;
    case HEAD:
        return c->head_dim;
    case FFN:
        return c->ffn;
    case MIXED:
        return mixed_width(c);
    case VALUE:
        return value_width(c);
    case VALUES:
        return c->delta.value_heads;
    case TAPS:
        return c->kernel;
    case VALUE_HEAD:
        return c->delta.value_dim;
    }
    return 0;
}

static bool needed(const struct model_config *c, int layer, enum need n)
{
    bool linear = model_is_linear(c, layer);

    switch (n) {
    case ALWAYS:
        return true;
    case SOFTMAX:
        return !linear;
    case QKV_BIAS:
        return !linear && c->qkv_bias;
    case OUT_BIAS:
        return !linear && c->out_bias;
    case QK_NORM:
        return !linear && c->qk_norm;
    case MLP_BIAS:
        return c->mlp_bias;
    case LINEAR:
        return linear;
    }
    return false;
}

/* The next free row of the table. */
static struct model_tensor *append(struct table *t, int rows, int cols, bool vector)
{
    struct model_tensor *x = &t->tensors[t->n++];

    *x = (struct model_tensor){
        .rows = rows, .cols = cols, .vector = vector, .first = t->values};
    t->values += (size_t)rows * (size_t)cols;
    return x;
}

static void append_layer(struct table *t, const struct model_config *c, int layer)
{
    for (int s = 0; s < N_SLOTS; s++) {
        const struct slot_row *r = &slot_rows[s];
        struct model_tensor *x;

        t->slots[(size_t)layer * N_SLOTS + (size_t)s] =
            needed(c, layer, r->need) ? t->n : -1;
        if (!needed(c, layer, r->need))
            continue;
        x = append(t, width_of(c, r->rows), width_of(c, r->cols), r->rows == ONE);
        x->conv = s == CONV;
        x->centred =
            c->centred && (s == NORM1 || s == NORM2 || s == Q_NORM || s == K_NORM);
        snprintf(x->name, sizeof x->name, "model.layers.%d.%s", layer, r->name);
    }
}

int table_new(struct table *out, const struct model_config *c, struct fault *f)
{
    size_t layers = (size_t)c->layers;

    *out = (struct table){0};
    out->tensors =
        mem_new(layers * N_SLOTS + 3, sizeof *out->tensors, "the tensor table", f);
    out->slots = mem_new(layers * N_SLOTS, sizeof *out->slots, "the tensor table", f);
    if (!out->tensors || !out->slots) {
        table_free(out);
        return f->code;
    }
    out->embed = out->n;
    snprintf(append(out, c->vocab, c->dim, false)->name, sizeof out->tensors->name,
             "model.embed_tokens.weight");
    for (int l = 0; l < c->layers; l++)
        append_layer(out, c, l);
    out->norm = out->n;
    snprintf(append(out, 1, c->dim, true)->name, sizeof out->tensors->name,
             "model.norm.weight");
    out->tensors[out->norm].centred = c->centred;
    out->head = c->tied ? out->embed : out->n;
    if (!c->tied)
        snprintf(append(out, c->vocab, c->dim, false)->name, sizeof out->tensors->name,
                 "lm_head.weight");
    return 0;
}

void table_free(struct table *t)
{
    free(t->tensors);
    free(t->slots);
    *t = (struct table){0};
}

int tensor_dims(size_t dims[3], const struct model_tensor *t)
{
    int n = 0;

    if (!t->vector)
        dims[n++] = (size_t)t->rows;
    if (t->conv)
        dims[n++] = 1;
    dims[n++] = (size_t)t->cols;
    return n;
}

void nested_name(char out[NESTED_NAME], const struct model_config *c, const char *name)
{
    static const char adapter[] = LORA_PREFIX, text[] = "model.";
    size_t n = strncmp(name, adapter, sizeof adapter - 1) ? 0 : sizeof adapter - 1;

    *out = '\0';
    if (c->arch != ARCH_QWEN35 || strncmp(name + n, text, sizeof text - 1) != 0)
        return;
    n += sizeof text - 1;
    snprintf(out, NESTED_NAME, "%.*slanguage_model.%s", (int)n, name, name + n);
}

size_t model_count(const struct model_config *c)
{
    size_t all = 0, embed = (size_t)c->vocab * (size_t)c->dim;

    for (int l = 0; l < c->layers; l++)
        for (int s = 0; s < N_SLOTS; s++)
            if (needed(c, l, slot_rows[s].need))
                all += (size_t)width_of(c, slot_rows[s].rows) *
                       (size_t)width_of(c, slot_rows[s].cols);
    return all + (c->tied ? 1 : 2) * embed + (size_t)c->dim;
}
