/* model.h - a decoder-only transformer from a Hugging Face directory.
 *
 * Architectures: Qwen2/Qwen2.5 (biases on q, k, v), Qwen3 (RMSNorm of q and k per head
 * before RoPE), Llama, and the text part of Qwen3.5: most layers are Gated DeltaNet
 * (linear attention, Yang et al. 2024, arXiv:2412.06464), the others softmax attention
 * with a gate on its output and RoPE on the first values of each head; RMSNorms are
 * zero-centred.  Its three-axis RoPE is plain RoPE for text, whose positions are the
 * same on all axes.  Every hyperparameter is read from config.json; a missing or
 * unsupported one is FAULT_DATA.  Files are untrusted: every length, offset, shape and
 * count is checked before use.
 *
 * Parameters live in one flat f32 array (the masters), tensor after tensor in the order
 * of model_tensors; gradients and optimizer moments use the same layout.  The compute
 * form (packed f32 or bf16) follows from the masters by model_refresh.
 *
 * A model with an adapter (model_lora) computes with W + (alpha / rank) B A in place of
 * the matrices W it was opened with, and only its A and B are trained: the parameters,
 * tensors, checksum and gradient that the functions below speak of are then theirs.
 */
#ifndef DAPO_MODEL_H
#define DAPO_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include "dapo/backend.h"
#include "dapo/fault.h"

enum arch { ARCH_QWEN2, ARCH_QWEN3, ARCH_LLAMA, ARCH_QWEN35 };

/* How RoPE's frequencies theta^(-2i/rotary) are stretched to longer sequences. */
enum rope_kind {
    ROPE_PLAIN,
    ROPE_LINEAR, /* Chen et al. 2023: all divided by `factor` */
    ROPE_LLAMA3, /* Llama 3.1: those of long wavelength are */
    ROPE_YARN    /* Peng et al. 2023 */
};

/* Names and defaults are those of Hugging Face's rope_scaling / rope_parameters. */
struct rope_scaling {
    enum rope_kind kind;
    double factor;    /* all but plain; >= 1 */
    double low, high; /* llama3: {low,high}_freq_factor; yarn: beta_slow, beta_fast */
    int original;     /* llama3, yarn: original_max_position_embeddings */
    double attention; /* yarn: attention_factor on cos and sin; 0 = 0.1 ln factor + 1 */
    bool whole;       /* yarn: `truncate`, ramp ends are whole dimensions */
};

#define MODEL_STOPS 16
#define MODEL_LAYERS 4096

struct model_config {
    enum arch arch;
    int vocab; /* rows of the embedding in the file, padding included */
    int dim;   /* hidden_size */
    int layers;
    int heads, kv_heads, head_dim;
    int rotary;       /* leading values of a head that RoPE turns; 0 = all */
    int ffn;          /* intermediate_size */
    int max_position; /* max_position_embeddings */
    float norm_eps;
    double rope_theta;
    struct rope_scaling rope;
    float rope_mscale; /* derived: factor on cos and sin; 1 but for yarn */
    float *inv_freq;   /* derived: [rotary / 2]; see model_config_derive */
    bool tied;         /* lm_head is the embedding */
    bool qkv_bias, out_bias, mlp_bias, qk_norm;
    bool gated;   /* q_proj gives [heads][query, gate]; o sigmoid(gate) enters o_proj */
    bool centred; /* norms of layers, q, k and the last one multiply by 1 + weight */
    bool nested;  /* config.json describes other parts (vision), which are left out */
    /* Layers of linear attention, one bit each; the widths below are theirs. */
    uint64_t linear[MODEL_LAYERS / 64];
    struct delta_heads delta;
    int kernel; /* linear_conv_kernel_dim: inputs that the convolution sees */
    int n_stop; /* all ids of generation_config.json and config.json */
    int stop[MODEL_STOPS];
};

static inline bool model_is_linear(const struct model_config *c, int layer)
{
    return c->linear[layer / 64] >> layer % 64 & 1;
}

static inline void model_set_linear(struct model_config *c, int layer)
{
    c->linear[layer / 64] |= (uint64_t)1 << layer % 64;
}

/* Layers of linear attention. */
int model_n_linear(const struct model_config *c);

/* One named tensor of the flat array. */
struct model_tensor {
    char name[96];  /* the Hugging Face name */
    int rows, cols; /* a vector has rows = 1 */
    bool vector;    /* 1-D in the file */
    bool conv;      /* [rows][1][cols] in the file; no matrix of a dense product */
    bool centred;   /* a norm that multiplies by 1 + its values */
    size_t first;   /* offset in values */
};

struct model; /* opaque */

/* Read config.json (and generation_config.json where present) only. */
int model_config_read(struct model_config *out, const char *dir, struct fault *f);
/* Check a configuration made by hand (FAULT_DATA names the wrong field) and compute
 * inv_freq and rope_mscale from the other fields (and rotary where it is 0); again is
 * allowed. */
int model_config_derive(struct model_config *c, struct fault *f);
/* Frees inv_freq. */
void model_config_free(struct model_config *c);
/* Write config.json and generation_config.json as Hugging Face reads them into the
 * existing folder `dir`; model_config_read gives the same configuration back. */
int model_config_write(const struct model_config *c, const char *dir, struct fault *f);

/* Read config and weights: model.safetensors, or the shards of
 * model.safetensors.index.json; F32, F16 and BF16.  A tensor that is missing, is of
 * another shape, is not of this architecture or holds a value that is not finite is
 * FAULT_DATA and named.  `real_vocab`: number of ids the tokenizer knows, <= vocab
 * (FAULT_CONFIG); columns behind it are masked; 0 = vocab. */
int model_open(struct model **out, const char *dir, const struct backend *be,
               enum compute compute, int real_vocab, struct fault *f);
/* The same with weights drawn from N(0, 0.02^2) (norms 1, biases 0) instead of read;
 * keyed by (seed, tensor, element), so every rank gets the same.  `c` is copied;
 * its derived fields need not be set. */
int model_random(struct model **out, const struct model_config *c,
                 const struct backend *be, enum compute compute, int real_vocab,
                 uint64_t seed, struct fault *f);
void model_free(struct model *m);

const struct model_config *model_cfg(const struct model *m);
const struct backend *model_backend(const struct model *m);
/* Where a Hugging Face directory was read from; "" for a random one. */
const char *model_dir(const struct model *m);
int model_real_vocab(const struct model *m);
/* The flat masters and their length; after writing to them call model_refresh.  They
 * are backend memory, which is host memory in every backend of this build. */
float *model_params(struct model *m);
size_t model_n_params(const struct model *m);
int model_refresh(struct model *m, struct fault *f);
/* XXH3 of the masters (invariant 10). */
unsigned long long model_checksum(const struct model *m);
/* The tensor table; *n tensors. */
const struct model_tensor *model_tensors(const struct model *m, int *n);
/* Values in the tensor table of a configuration, without its weights (dapo plan); those
 * of the whole model, adapter or not. */
size_t model_count(const struct model_config *c);

/* Bytes of activations, without weights and caches (dapo plan).  model_step_bytes: of
 * one model_step; SIZE_MAX if more than can be addressed. */
size_t model_step_bytes(const struct model_config *c, int rows, int n_out);
/* Of a model_forward of `rows` tokens and its backward on backend `be`, the head's
 * logits not counted, where the longest sequence has `longest`.  0 or FAULT_SYSTEM. */
int model_train_bytes(size_t *out, const struct model_config *c,
                      const struct backend *be, int rows, int longest, struct fault *f);

/* Write config.json (the source directory's, dtype amended; of one of several parts
 * that of the text, as of a model of its own), generation_config.json, tokenizer files
 * (copied from `tokenizer_dir`, if not NULL, where present) and model.safetensors from
 * `params` (flat, host) as f32 or bf16.  With an adapter `params` must be model_params,
 * and what is written are the matrices that model_refresh last made of it and the
 * frozen rest: a whole model.  A model over 4 GiB is written in shards with an index.
 * Each file is published by rename, config.json last: a folder that has one is
 * complete.  The folder is made if need be. */
int model_save(const struct model *m, const float *params, const char *dir,
               const char *tokenizer_dir, bool bf16, struct fault *f);

/* -- adapters (LoRA) ---------------------------------------------------------------
 * Source: Hu et al. 2021, arXiv:2106.09685, section 4.1; files and defaults are those
 * of the PEFT library.  model_refresh adds the product to the base matrices in f32,
 * anew each time, then rounds to the compute form as ever: generating costs nothing
 * more, and a generator and a trainer that hold the same base, A and B have the same
 * bits. The gradient is that of the function so computed, straight through the merge;
 * no gradient of a frozen value is formed. */

#define LORA_TEXT 1024
/* What PEFT's names of an adapter's tensors begin with; no model's own do. */
#define LORA_PREFIX "base_model.model."

struct lora_config {
    int rank;     /* r >= 1, at most the larger side of each matrix it is added to */
    double alpha; /* > 0; B A is multiplied by alpha / rank, which an f32 must hold */
    /* "all": every matrix of the layers; or module names ("q_proj", also with what is
     * before it: "self_attn.q_proj") separated by commas or spaces. */
    char targets[LORA_TEXT];
};

/* Give an opened model an adapter, once in its life: A [rank][in] uniform in
 * +-1/sqrt(in), keyed by (seed, tensor, element); B [out][rank] zero, so the model
 * computes what it did before.  The tensors are A and B of each matrix in the order of
 * the base's, under PEFT's names (of the text model alone, where there was vision
 * too).  FAULT_CONFIG names a target that is not in the model or a matrix of which both
 * sides are smaller than the rank. */
int model_lora(struct model *m, const struct lora_config *c, uint64_t seed,
               struct fault *f);
/* The adapter's configuration; NULL without one. */
const struct lora_config *model_adapter(const struct model *m);
/* XXH3 of all values that the model had when it was given its adapter; 0 without. */
unsigned long long model_base(const struct model *m);
/* Compute with the base alone, or with the adapter again (the KL reference of a run).
 * A model that is muted may only be read from. */
int model_lora_mute(struct model *m, bool mute, struct fault *f);
/* Values of A and B in all, and of the matrices that they are added to; the faults of
 * model_lora (dapo plan). */
int model_lora_count(const struct model_config *c, const struct lora_config *l,
                     size_t *trained, size_t *adapted, struct fault *f);

/* PEFT's adapter_config.json in `dir`.  What would make another function of it than the
 * above (DoRA, rsLoRA, biases, patterns of ranks, ...) is FAULT_DATA, named. */
int lora_config_read(struct lora_config *out, const char *dir, struct fault *f);
/* A and B from a PEFT directory.  FAULT_CONFIG where rank, alpha or targets are not the
 * model's, FAULT_DATA for a tensor that is missing, has another shape, belongs to none
 * or is not finite. */
int model_lora_load(struct model *m, const char *dir, struct fault *f);
/* Write A and B as a PEFT directory, f32: adapter_model.safetensors, then
 * adapter_config.json, which makes it complete. */
int model_lora_save(const struct model *m, const char *dir, struct fault *f);

/* -- training: packed sequences, forward and backward ------------------------------ */

/* `rows` tokens of `n_seq` sequences one after another, without padding. */
struct pack {
    int rows, n_seq;
    const int *ids;   /* [rows], each in [0, real vocab) */
    const int *start; /* [n_seq + 1]; sequence s is rows start[s] .. start[s+1]-1 */
};

/* Forward of all layers; keeps what the backward needs (per row and layer about
 * 2 dim + 2 heads*head_dim + 2 kv_heads*head_dim + 2 ffn floats) until the next one.
 * 0 rows is allowed.  FAULT_DATA for an id out of range, FAULT_CONFIG for a sequence
 * longer than max_position. */
int model_forward(struct model *m, const struct pack *p, struct fault *f);

/* Called once per chunk of logits, in row order, with the log-probs of rows
 * `first .. first+n-1` of the list given to model_head; fills dlogp, d loss / d logp.
 */
typedef void model_slope(void *ctx, int first, int n, const float *logp,
                         const float *entropy, float *dlogp);

/* Log-probs of `targets[i]` following row `at[i]` of the last forward, i < n, at the
 * given temperature; chunked over the vocabulary product, so logits are never held for
 * a whole sequence.  logp and entropy: [n] host, NULL to skip.  With `slope` also
 * starts the backward: gradients of the head and of the hidden rows (then the rows `at`
 * must be distinct); several such calls between a forward and its backward add up. */
int model_head(struct model *m, const int *at, const int *targets, int n,
               float temperature, float *logp, float *entropy, model_slope *slope,
               void *ctx, struct fault *f);
/* The N most likely next tokens after row `at`: ids and log-probs, [top]. */
int model_top(struct model *m, int at, int top, int *ids, float *logp, struct fault *f);

/* Backward through the layers after model_head with a slope; adds to the gradient.
 * Once per forward; FAULT_BUG without a head. */
int model_backward(struct model *m, struct fault *f);
/* The flat gradient [model_n_params] in host memory (allocated at first use), and
 * setting it to zero. */
float *model_grad(struct model *m, struct fault *f);
int model_grad_zero(struct model *m, struct fault *f);

/* -- generation: KV cache in pages, states -------------------------------------------
 */

/* Opaque: what generation remembers.  Keys and values of the layers of softmax
 * attention, [pages * KV_PAGE] rows each; and for the layers of linear attention
 * `states` times the state S of the delta rule and the convolution's last inputs. */
struct kv;
#define KV_PAGE 16

/* `states` counts only for a model with linear attention: want 1 or more of it. */
int kv_new(struct kv **out, const struct model *m, int pages, int states,
           struct fault *f);
void kv_free(struct kv *kv);
/* Bytes of what kv_new allocates; SIZE_MAX if more than can be addressed. */
size_t kv_bytes(const struct model_config *c, int pages, int states);

/* One forward over any mix of rows of any sequences (prefill chunks and single decoded
 * tokens alike).  Row i is token ids[i] at position r->pos[i] of sequence r->seq[i];
 * its key and value are written at the row the map gives for that position before any
 * row attends, so the rows of a prefill chunk see each other.  Then logits
 * [n_out][vocab] after rows out[0..n_out-1] go to *logits, owned by the model and valid
 * until the next call.  n_out may be 0.  A position behind the map or the cache, or not
 * under max_position, is a fault, as is an id not in [0, real vocab).
 *
 * With linear attention a sequence's rows come in rising position without a gap, in
 * this call and from one to the next; position 0 starts anew.  Another position than
 * that behind the state's last row is FAULT_BUG. */
int model_step(struct model *m, struct kv *kv, const int *ids,
               const struct attend_rows *r, const int *out, int n_out, float **logits,
               struct fault *f);
/* Copy the first `rows` rows of page `src` to page `dst` (all layers): a member's own
 * copy of its prompt's last, partly filled page. */
int kv_copy(struct kv *kv, int dst, int src, int rows, struct fault *f);
/* Copy state `src` to `dst` (all layers): what a member starts from behind its prompt.
 */
int kv_copy_state(struct kv *kv, int dst, int src, struct fault *f);

#endif
