/* test_config.c - config.json: what is read, what is refused, what is written. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "tiny.h"

/* As published for Qwen2.5-0.5B-Instruct. */
static const char qwen25[] =
    "{\"architectures\": [\"Qwen2ForCausalLM\"], \"attention_dropout\": 0.0, "
    "\"bos_token_id\": 151643, \"eos_token_id\": 151645, \"hidden_act\": \"silu\", "
    "\"hidden_size\": 896, \"initializer_range\": 0.02, \"intermediate_size\": 4864, "
    "\"max_position_embeddings\": 32768, \"max_window_layers\": 21, "
    "\"model_type\": \"qwen2\", \"num_attention_heads\": 14, "
    "\"num_hidden_layers\": 24, \"num_key_value_heads\": 2, \"rms_norm_eps\": 1e-06, "
    "\"rope_theta\": 1000000.0, \"sliding_window\": 32768, "
    "\"tie_word_embeddings\": true, \"torch_dtype\": \"bfloat16\", "
    "\"use_sliding_window\": false, \"vocab_size\": 151936}";

static const char stops25[] =
    "{\"eos_token_id\": [151645, 151643], \"temperature\": 0.7}";

static void put(const char *name, const char *text)
{
    struct fault f = FAULT_INIT;
    char *path = path_join(check_tmp(), name, &f);

    CHECK_OK(file_publish(path, text, strlen(text), &f), &f);
    free(path);
}

static void published_qwen25_is_read(void)
{
    struct model_config c;
    struct fault f = FAULT_INIT;

    put("config.json", qwen25);
    put("generation_config.json", stops25);
    CHECK_OK(model_config_read(&c, check_tmp(), &f), &f);
    CHECK_INT(c.arch, ARCH_QWEN2);
    CHECK_INT(c.vocab, 151936);
    CHECK_INT(c.head_dim, 64);
    CHECK_INT(c.kv_heads, 2);
    CHECK(c.tied && c.qkv_bias && !c.out_bias && !c.mlp_bias && !c.qk_norm);
    CHECK_INT(c.n_stop, 2);
    CHECK_INT(c.stop[0], 151645);
    CHECK_INT(c.stop[1], 151643);
    /* The model card says 0.49B, 0.36B of them outside of the embedding. */
    CHECK_INT(model_count(&c), 494032768);
    CHECK_NEAR((double)c.inv_freq[31], pow(1e6, -62.0 / 64), 1e-12);
    model_config_free(&c);
}

/* As released for Qwen3.5-4B, by the fields that count; the lists of 32 kinds that it
 * has are what the interval says. */
static const char qwen35[] =
    "{\"architectures\": [\"Qwen3_5ForConditionalGeneration\"], \"image_token_id\": "
    "248056, \"model_type\": \"qwen3_5\", \"text_config\": {\"attention_bias\": false, "
    "\"attention_dropout\": 0.0, \"attn_output_gate\": true, \"dtype\": \"bfloat16\", "
    "\"eos_token_id\": 248044, \"full_attention_interval\": 4, \"head_dim\": 256, "
    "\"hidden_act\": \"silu\", \"hidden_size\": 2560, \"intermediate_size\": 9216, "
    "\"linear_conv_kernel_dim\": 4, \"linear_key_head_dim\": 128, "
    "\"linear_num_key_heads\": 16, \"linear_num_value_heads\": 32, "
    "\"linear_value_head_dim\": 128, \"max_position_embeddings\": 262144, "
    "\"model_type\": \"qwen3_5_text\", \"mtp_num_hidden_layers\": 1, "
    "\"num_attention_heads\": 16, \"num_hidden_layers\": 32, "
    "\"num_key_value_heads\": 4, \"rms_norm_eps\": 1e-06, "
    "\"tie_word_embeddings\": true, \"vocab_size\": 248320, \"rope_parameters\": "
    "{\"mrope_interleaved\": true, \"mrope_section\": [11, 11, 10], \"rope_type\": "
    "\"default\", \"rope_theta\": 10000000, \"partial_rotary_factor\": 0.25}}, "
    "\"tie_word_embeddings\": true, \"vision_config\": {\"depth\": 24}}";

static void published_qwen35_is_read(void)
{
    struct model_config c;
    struct fault f = FAULT_INIT;

    put("config.json", qwen35);
    put("generation_config.json", "{\"eos_token_id\": [248046, 248044]}");
    CHECK_OK(model_config_read(&c, check_tmp(), &f), &f);
    CHECK_INT(c.arch, ARCH_QWEN35);
    CHECK(c.nested && c.tied && c.gated && c.centred && c.qk_norm && !c.qkv_bias);
    CHECK_INT(model_n_linear(&c), 24);
    for (int l = 0; l < 32; l++)
        CHECK(model_is_linear(&c, l) == (l % 4 != 3));
    CHECK_INT(c.rotary, 64);
    CHECK_NEAR((double)c.inv_freq[31], pow(1e7, -62.0 / 64), 1e-13);
    CHECK_INT(c.delta.value_heads, 32);
    CHECK_INT(c.kernel, 4);
    CHECK_INT(c.n_stop, 2);
    CHECK_INT(model_count(&c), 4205751296); /* as transformers counts its text model */
    model_config_free(&c);
}

/* -- rope -----------------------------------------------------------------------------
 */

/* Frequencies by transformers (tests/ref/make_models.py), to float32 rounding. */
static void rope_scalings_match_transformers(void)
{
    json_t *cases = json_load_file("tests/ref/rope.json", 0, NULL), *one;
    size_t i;

    CHECK_INT(json_array_size(cases), 6);
    json_array_foreach(cases, i, one)
    {
        char *text = json_dumps(json_object_get(one, "config"), 0);
        const json_t *freq = json_object_get(one, "inv_freq");
        struct model_config c;
        struct fault f = FAULT_INIT;

        put("config.json", text);
        put("generation_config.json", "{}");
        CHECK_OK(model_config_read(&c, check_tmp(), &f), &f);
        CHECK_NEAR((double)c.rope_mscale,
                   json_number_value(json_object_get(one, "scale")), 1e-6);
        CHECK_INT(c.head_dim, 64);
        CHECK_INT(json_array_size(freq), c.rotary / 2);
        for (int k = 0; k < c.rotary / 2; k++) {
            double want = json_number_value(json_array_get(freq, (size_t)k));

            CHECK_NEAR((double)c.inv_freq[k] / want, 1, 2e-6);
        }
        model_config_free(&c);
        free(text);
    }
    json_decref(cases);
}

/* -- refusals
 * -------------------------------------------------------------------------- */

/* Each sets `key` of Qwen2.5's file to `value` (NULL: removes it). */
static const struct refusal {
    const char *key, *value, *words;
} refusals[] = {
    {"vocab_size", NULL, "\"vocab_size\" is missing"},
    {"vocab_size", "0", "vocab_size is 0"},
    {"vocab_size", "99999999999", "\"vocab_size\" is not a whole number"},
    {"hidden_size", "897", "not a multiple of num_attention_heads"},
    {"hidden_size", "\"896\"", "\"hidden_size\" is not a whole number"},
    {"num_hidden_layers", "null", "\"num_hidden_layers\" is missing"},
    {"num_hidden_layers", "1000000", "num_hidden_layers is 1000000"},
    {"num_attention_heads", "0", "num_attention_heads"},
    {"num_key_value_heads", NULL, "\"num_key_value_heads\" is missing"},
    {"num_key_value_heads", "4", "not a multiple of num_key_value_heads"},
    {"num_key_value_heads", "0", "num_key_value_heads is 0"},
    {"head_dim", "63", "head_dim is 63"},
    {"intermediate_size", "-1", "\"intermediate_size\" is not a whole number"},
    {"max_position_embeddings", "1.5", "\"max_position_embeddings\" is not"},
    {"rms_norm_eps", NULL, "\"rms_norm_eps\" is missing"},
    {"rms_norm_eps", "0", "rms_norm_eps is 0"},
    {"rope_theta", NULL, "\"rope_theta\" is missing"},
    {"rope_theta", "1", "rope_theta is 1"},
    {"rope_scaling", "{\"type\": \"dynamic\", \"factor\": 2}", "\"dynamic\" is not"},
    {"rope_scaling", "{\"factor\": 2}", "\"type\" is missing"},
    {"rope_scaling", "{\"type\": \"linear\"}", "\"factor\" is missing"},
    {"rope_scaling", "{\"type\": \"linear\", \"factor\": 0.5}", "factor is 0.5"},
    {"rope_scaling", "{\"rope_type\": \"llama3\", \"factor\": 8}",
     "\"low_freq_factor\""},
    {"rope_scaling", "[1]", "not an object"},
    {"rope_parameters", "{\"rope_type\": \"longrope\"}", "\"longrope\" is not"},
    {"hidden_act", "\"gelu\"", "\"gelu\" is not supported"},
    {"hidden_act", NULL, "\"hidden_act\" is missing"},
    {"use_sliding_window", "true", "sliding windows"},
    {"use_sliding_window", "1", "not true or false"},
    {"layer_types", "[\"sliding_attention\"]", "layer_types[0]"},
    {"attention_dropout", "0.1", "attention_dropout 0.1"},
    {"partial_rotary_factor", "0.5", "partial_rotary_factor 0.5"},
    {"quantization_config", "{\"bits\": 4}", "quantized"},
    {"attention_bias", "true", "attention_bias"},
    {"mlp_bias", "true", "mlp_bias"},
    {"model_type", "\"qwen3_moe\"", "\"qwen3_moe\" is not supported"},
    {"model_type", NULL, "\"model_type\" is missing"},
    {"architectures", "[\"Qwen2ForTokenClassification\"]", "architectures"},
    {"eos_token_id", "151936", "eos_token_id"},
    {"eos_token_id", "[1, \"a\"]", "eos_token_id"},
    {"eos_token_id", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]", "more than 16 ids"},
};

/* `o` is the object of the configuration `whole` that the key is in. */
static void check_refusal(json_t *whole, json_t *o, const struct refusal *r)
{
    struct fault f = FAULT_INIT;
    struct model_config c;
    char *text;

    if (r->value)
        json_object_set_new(o, r->key, json_loads(r->value, JSON_DECODE_ANY, NULL));
    else
        json_object_del(o, r->key);
    text = json_dumps(whole, 0);
    put("config.json", text);
    CHECK_INT(model_config_read(&c, check_tmp(), &f), FAULT_DATA);
    if (!strstr(f.text, r->words) || !strstr(f.text, "config.json: "))
        fprintf(stderr, "%s = %s: %s\n", r->key, r->value, f.text);
    CHECK(strstr(f.text, r->words) && strstr(f.text, "config.json: "));
    free(text);
    json_decref(whole);
}

static void unsupported_configs_are_refused(void)
{
    put("generation_config.json", stops25);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        json_t *o = json_loads(qwen25, 0, NULL);

        check_refusal(o, o, &refusals[i]);
    }
}

/* The same in the text_config of Qwen3.5's, and around it. */
static const struct refusal text_refusals[] = {
    {"layer_types", "[\"full_attention\"]", "not a list of num_hidden_layers = 32"},
    {"layer_types", "\"linear_attention\"", "not a list of num_hidden_layers = 32"},
    {"num_hidden_layers", "0", "num_hidden_layers is 0"},
    {"num_hidden_layers", "4097", "num_hidden_layers is 4097"},
    {"full_attention_interval", "0", "full_attention_interval is 0"},
    {"linear_num_value_heads", "0", "linear_num_value_heads is 0"},
    {"linear_num_key_heads", "0", "linear_num_key_heads is 0"},
    {"linear_num_key_heads", "5", "not a multiple of linear_num_key_heads, 5"},
    {"linear_key_head_dim", "0", "linear_key_head_dim is 0"},
    {"linear_value_head_dim", "2000000000", "linear_value_head_dim is 2000000000"},
    {"linear_value_head_dim", NULL, "\"linear_value_head_dim\" is missing"},
    {"linear_conv_kernel_dim", "1", "linear_conv_kernel_dim is 1"},
    {"linear_conv_kernel_dim", "17", "linear_conv_kernel_dim is 17"},
    {"attn_output_gate", "false", "attn_output_gate = false is not supported"},
    {"attention_bias", "true", "attention_bias is not supported"},
    {"hidden_act", "\"gelu\"", "\"gelu\" is not supported"},
    {"head_dim", NULL, "\"head_dim\" is missing"},
    {"head_dim", "252", "RoPE turns 63 values; it wants an even"},
    {"model_type", "\"qwen3_5_moe_text\"", "text_config is not qwen3_5_text"},
    {"tie_word_embeddings", "false", "tie_word_embeddings differs"},
    {"quantization_config", "{\"bits\": 4}", "quantized"},
    {"rope_parameters", "{\"rope_type\": \"default\"}", "\"rope_theta\" is missing"},
    {"rope_parameters",
     "{\"rope_type\": \"default\", \"rope_theta\": 1e6, \"partial_rotary_factor\": 2}",
     "partial_rotary_factor is 2"},
    {"rope_parameters",
     "{\"rope_type\": \"default\", \"rope_theta\": 1e6, \"partial_rotary_factor\": "
     "1e-9}",
     "leaves RoPE nothing"},
};
static const struct refusal whole_refusals[] = {
    {"text_config", NULL, "without a text_config"},
    {"text_config", "7", "without a text_config"},
    {"architectures", "[\"Qwen3_5MoeForConditionalGeneration\"]", "architectures is"},
    {"quantization_config", "{\"bits\": 4}", "quantized"},
    {"model_type", "\"qwen3_5_moe\"", "\"qwen3_5_moe\" is not supported"},
};

static void unsupported_qwen35_is_refused(void)
{
    put("generation_config.json", "{\"eos_token_id\": [248046, 248044]}");
    for (size_t i = 0; i < sizeof text_refusals / sizeof text_refusals[0]; i++) {
        json_t *o = json_loads(qwen35, 0, NULL);

        check_refusal(o, json_object_get(o, "text_config"), &text_refusals[i]);
    }
    for (size_t i = 0; i < sizeof whole_refusals / sizeof whole_refusals[0]; i++) {
        json_t *o = json_loads(qwen35, 0, NULL);

        check_refusal(o, o, &whole_refusals[i]);
    }
}

static void broken_json_is_refused(void)
{
    static const char *const broken[] = {
        "", "{", "[]", "{\"hidden_size\": 1e999}", "\xff\xfe",
    };
    struct fault f = FAULT_INIT;
    struct model_config c;
    char twice[2 * sizeof qwen25];

    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        put("config.json", broken[i]);
        CHECK_INT(model_config_read(&c, check_tmp(), &f), FAULT_DATA);
    }
    snprintf(twice, sizeof twice, "{\"vocab_size\": 200000, %s", qwen25 + 1);
    put("config.json", twice);
    CHECK_INT(model_config_read(&c, check_tmp(), &f), FAULT_DATA);
    CHECK(strstr(f.text, "duplicate") != NULL);
    put("config.json", qwen25);
    put("generation_config.json", "[]");
    CHECK_INT(model_config_read(&c, check_tmp(), &f), FAULT_DATA);
    CHECK(strstr(f.text, "generation_config.json") != NULL);
    CHECK_INT(model_config_read(&c, "/nonexistent", &f), FAULT_FILE);
}

static void hand_made_configs_are_checked(void)
{
    struct model_config c = tiny_config(ARCH_QWEN3);
    struct fault f = FAULT_INIT;
    struct model *m;

    CHECK_INT(model_random(&m, &c, &backend_ref, COMPUTE_F32, 62, 1, &f), FAULT_CONFIG);
    c.gated = true;
    c.qk_norm = false;
    CHECK_INT(model_config_derive(&c, &f), FAULT_DATA);
    CHECK(strstr(f.text, "without norms of q and k") != NULL);
    c.gated = false;
    c.qk_norm = true;
    model_set_linear(&c, 0);
    c.kernel = 4;
    c.delta = (struct delta_heads){1024, 1024, 1024, 1024};
    CHECK_INT(model_config_derive(&c, &f), FAULT_DATA);
    CHECK(strstr(f.text, "states of more than 67108864 values") != NULL);
    c.linear[0] = 0;
    c.stop[1] = 61;
    CHECK_INT(model_config_derive(&c, &f), FAULT_DATA);
    CHECK(strstr(f.text, "eos_token_id 61") != NULL);
    CHECK_INT(model_random(&m, &c, &backend_ref, COMPUTE_F32, 0, 1, &f), FAULT_DATA);
    CHECK(m == NULL);
}

/* -- writing
 * --------------------------------------------------------------------------- */

static void check_same(const struct model_config *a, const struct model_config *b)
{
    CHECK(a->arch == b->arch && a->vocab == b->vocab && a->dim == b->dim);
    CHECK(a->layers == b->layers && a->heads == b->heads && a->kv_heads == b->kv_heads);
    CHECK(a->head_dim == b->head_dim && a->ffn == b->ffn);
    CHECK(a->max_position == b->max_position && a->norm_eps == b->norm_eps);
    CHECK(a->rope_theta == b->rope_theta && a->tied == b->tied);
    CHECK(a->qkv_bias == b->qkv_bias && a->out_bias == b->out_bias);
    CHECK(a->mlp_bias == b->mlp_bias && a->qk_norm == b->qk_norm);
    CHECK(a->rope.kind == b->rope.kind && a->rope_mscale == b->rope_mscale);
    CHECK_INT(a->n_stop, b->n_stop);
    CHECK(!memcmp(a->stop, b->stop, (size_t)a->n_stop * sizeof a->stop[0]));
    CHECK(a->gated == b->gated && a->centred == b->centred && a->rotary == b->rotary);
    CHECK(!memcmp(a->linear, b->linear, sizeof a->linear) && a->kernel == b->kernel);
    CHECK(!memcmp(&a->delta, &b->delta, sizeof a->delta));
    CHECK(!memcmp(a->inv_freq, b->inv_freq, (size_t)a->rotary / 2 * sizeof(float)));
}

static void written_configs_read_back(void)
{
    static const struct rope_scaling scalings[] = {
        {ROPE_PLAIN, 0, 0, 0, 0, 0, false},
        {ROPE_LINEAR, 10.0 / 3, 0, 0, 0, 0, false},
        {ROPE_LLAMA3, 8, 1.1, 4.3, 128, 0, false},
        {ROPE_YARN, 4, 1, 32, 64, 0, true},
        {ROPE_YARN, 7, 1.5, 31, 64, 1.0 / 3, false},
    };

    for (int arch = ARCH_QWEN2; arch <= ARCH_QWEN35; arch++)
        for (size_t i = 0; i < sizeof scalings / sizeof scalings[0]; i++) {
            struct model_config c = tiny_config((enum arch)arch), back;
            struct fault f = FAULT_INIT;

            c.norm_eps = i % 2 ? 1e-5f : 1.0f / 3;
            c.rope_theta = i % 2 ? 5e5 : 1e6 / 3;
            c.rope = scalings[i];
            CHECK_OK(model_config_derive(&c, &f), &f);
            CHECK_OK(model_config_write(&c, check_tmp(), &f), &f);
            CHECK_OK(model_config_read(&back, check_tmp(), &f), &f);
            check_same(&c, &back);
            model_config_free(&c);
            model_config_free(&back);
        }
}

/* The factor of the file is rotary / head_dim in decimal, and readers round down. */
static void parts_of_heads_read_back(void)
{
    static const int dims[] = {6, 49, 107, 254};

    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++)
        for (int rotary = 2; rotary <= dims[i]; rotary += 2) {
            struct model_config c = tiny_config(ARCH_QWEN35), back;
            struct fault f = FAULT_INIT;

            c.head_dim = dims[i];
            c.rotary = rotary;
            CHECK_OK(model_config_derive(&c, &f), &f);
            CHECK_OK(model_config_write(&c, check_tmp(), &f), &f);
            CHECK_OK(model_config_read(&back, check_tmp(), &f), &f);
            CHECK_INT(back.rotary, rotary);
            model_config_free(&c);
            model_config_free(&back);
        }
}

CASES(CASE(parts_of_heads_read_back), CASE(published_qwen25_is_read),
      CASE(published_qwen35_is_read), CASE(unsupported_qwen35_is_refused),
      CASE(rope_scalings_match_transformers), CASE(unsupported_configs_are_refused),
      CASE(broken_json_is_refused), CASE(hand_made_configs_are_checked),
      CASE(written_configs_read_back));
