/* rope.c - checks of a configuration and the frequencies that follow from it. */
#include <math.h>
#include <stdlib.h>

#include "model/impl.h"

static const double pi = 3.14159265358979323846;

/* -- checks ------------------------------------------------------------------------ */

static int check_range(const char *name, int v, int lo, int hi, struct fault *f)
{
    if (v >= lo && v <= hi)
        return 0;
    return fault_set(f, FAULT_DATA, "%s is %d; want %d to %d", name, v, lo, hi);
}

static int check_rope(const struct model_config *c, struct fault *f)
{
    const struct rope_scaling *r = &c->rope;

    if (!(c->rope_theta > 1) || !isfinite(c->rope_theta))
        return fault_set(f, FAULT_DATA, "rope_theta is %g; want over 1", c->rope_theta);
    if (r->kind == ROPE_PLAIN)
        return 0;
    if (!(r->factor >= 1) || !isfinite(r->factor))
        return fault_set(f, FAULT_DATA,
                         "the rope scaling's factor is %g; want 1 or more", r->factor);
    if (r->kind == ROPE_LINEAR)
        return 0;
    if (r->original < 1)
        return fault_set(f, FAULT_DATA,
                         "original_max_position_embeddings is %d; want 1 or more",
                         r->original);
    if (!(r->low > 0) || !(r->high > r->low) || !isfinite(r->high))
        return fault_set(f, FAULT_DATA,
                         "the rope scaling's bounds are %g and %g; want 0 < %g < %g",
                         r->low, r->high, r->low, r->high);
    if (!(r->attention >= 0) || !isfinite(r->attention))
        return fault_set(f, FAULT_DATA, "attention_factor is %g; want over 0",
                         r->attention);
    return 0;
}

int model_n_linear(const struct model_config *c)
{
    int n = 0;

    for (int l = 0; l < c->layers; l++)
        n += model_is_linear(c, l);
    return n;
}

enum { MOST_STATE = 1 << 26 }; /* values; states of a cache stay countable */

/* Linear attention: heads, the convolution.  Without such layers nothing is asked. */
static int check_delta(const struct model_config *c, struct fault *f)
{
    const struct delta_heads *d = &c->delta;

    if (model_n_linear(c) == 0)
        return 0;
    if (check_range("linear_num_key_heads", d->key_heads, 1, 1024, f) ||
        check_range("linear_num_value_heads", d->value_heads, 1, 1024, f) ||
        check_range("linear_key_head_dim", d->key_dim, 1, 1024, f) ||
        check_range("linear_value_head_dim", d->value_dim, 1, 1024, f) ||
        check_range("linear_conv_kernel_dim", c->kernel, 2, 16, f))
        return f->code;
    if ((int64_t)d->value_heads * d->key_dim * d->value_dim > MOST_STATE)
        return fault_set(f, FAULT_DATA,
                         "linear_num_value_heads %d of linear_key_head_dim %d and "
                         "linear_value_head_dim %d have states of more than %d values",
                         d->value_heads, d->key_dim, d->value_dim, MOST_STATE);
    if (d->value_heads % d->key_heads)
        return fault_set(f, FAULT_DATA,
                         "linear_num_value_heads is %d, not a multiple of "
                         "linear_num_key_heads, %d",
                         d->value_heads, d->key_heads);
    return 0;
}

/* The bounds keep every width an int and every count far from overflow. */
static int check_config(const struct model_config *c, struct fault *f)
{
    if (check_range("vocab_size", c->vocab, 1, 1 << 24, f) ||
        check_range("hidden_size", c->dim, 1, 1 << 18, f) ||
        check_range("num_hidden_layers", c->layers, 1, MODEL_LAYERS, f) ||
        check_range("num_attention_heads", c->heads, 1, 1024, f) ||
        check_range("num_key_value_heads", c->kv_heads, 1, c->heads, f) ||
        check_range("head_dim", c->head_dim, 2, 4096, f) ||
        check_range("intermediate_size", c->ffn, 1, 1 << 20, f) ||
        check_range("max_position_embeddings", c->max_position, 1, 1 << 30, f) ||
        check_range("the number of values that RoPE turns", c->rotary, 0, c->head_dim,
                    f) ||
        check_range("the number of stop ids", c->n_stop, 0, MODEL_STOPS, f))
        return f->code;
    if (c->heads % c->kv_heads)
        return fault_set(f, FAULT_DATA,
                         "num_attention_heads is %d, not a multiple of "
                         "num_key_value_heads, %d",
                         c->heads, c->kv_heads);
    if (c->rotary ? c->rotary % 2 : c->head_dim % 2)
        return fault_set(f, FAULT_DATA,
                         "head_dim is %d, of which RoPE turns %d values; it wants an "
                         "even number",
                         c->head_dim, c->rotary ? c->rotary : c->head_dim);
    if (c->gated && !c->qk_norm)
        return fault_set(f, FAULT_DATA,
                         "gates of attention without norms of q and k are not "
                         "supported");
    if (!(c->norm_eps > 0) || !(c->norm_eps < 1))
        return fault_set(f, FAULT_DATA, "rms_norm_eps is %g; want over 0 and under 1",
                         (double)c->norm_eps);
    for (int i = 0; i < c->n_stop; i++)
        if (c->stop[i] < 0 || c->stop[i] >= c->vocab)
            return fault_set(f, FAULT_DATA, "eos_token_id %d is not in the vocabulary",
                             c->stop[i]);
    return check_delta(c, f) ? f->code : check_rope(c, f);
}

/* -- frequencies ------------------------------------------------------------------- */

/* Llama 3.1: wavelengths over original/low are stretched, under original/high are not,
 * between them the two are blended linearly in original/wavelength. */
static double llama3(const struct rope_scaling *r, double freq)
{
    double turns = r->original * freq / (2 * pi); /* over the original context */
    double blend = (turns - r->low) / (r->high - r->low);

    blend = blend < 0 ? 0 : blend > 1 ? 1 : blend;
    return (1 - blend) * freq / r->factor + blend * freq;
}

/* The (fractional) pair that turns `turns` times over the original context. */
static double yarn_dim(const struct model_config *c, double turns)
{
    return c->rotary * log(c->rope.original / (turns * 2 * pi)) /
           (2 * log(c->rope_theta));
}

/* Peng et al. 2023, eq. 16-18, with Hugging Face's ramp over pair numbers. */
static double yarn(const struct model_config *c, int pair, double freq)
{
    double low = yarn_dim(c, c->rope.high), high = yarn_dim(c, c->rope.low), ramp;

    if (c->rope.whole) {
        low = floor(low);
        high = ceil(high);
    }
    low = low < 0 ? 0 : low;
    high = high > c->rotary - 1 ? c->rotary - 1 : high;
    if (low == high)
        high += 0.001;
    ramp = (pair - low) / (high - low);
    ramp = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
    return ramp * freq / c->rope.factor + (1 - ramp) * freq;
}

int model_config_derive(struct model_config *c, struct fault *f)
{
    int pairs;

    if (check_config(c, f))
        return f->code;
    if (c->rotary == 0)
        c->rotary = c->head_dim;
    pairs = c->rotary / 2;
    free(c->inv_freq);
    c->inv_freq = mem_new((size_t)pairs, sizeof *c->inv_freq, "rope frequencies", f);
    if (!c->inv_freq)
        return f->code;
    c->rope_mscale = 1;
    if (c->rope.kind == ROPE_YARN)
        c->rope_mscale = (float)(c->rope.attention > 0 ? c->rope.attention
                                                       : 0.1 * log(c->rope.factor) + 1);
    for (int i = 0; i < pairs; i++) {
        double freq = pow(c->rope_theta, -2.0 * i / c->rotary);

        if (c->rope.kind == ROPE_LINEAR)
            freq /= c->rope.factor;
        if (c->rope.kind == ROPE_LLAMA3)
            freq = llama3(&c->rope, freq);
        if (c->rope.kind == ROPE_YARN)
            freq = yarn(c, i, freq);
        c->inv_freq[i] = (float)freq;
    }
    return 0;
}

void model_config_free(struct model_config *c)
{
    free(c->inv_freq);
    c->inv_freq = NULL;
}
