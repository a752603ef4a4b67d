/* test_save.c - models written and read back, bit for bit. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapo/pulse.h"
#include "model/impl.h"
#include "tiny.h"

static char *in_tmp(const char *name)
{
    struct fault f = FAULT_INIT;

    return path_join(check_tmp(), name, &f);
}

static bool present(const char *name)
{
    char *path = in_tmp(name);
    bool yes = access(path, F_OK) == 0;

    free(path);
    return yes;
}

static struct model *reopen(const char *dir)
{
    struct model *m = NULL;
    struct fault f = FAULT_INIT;

    CHECK_OK(model_open(&m, dir, &backend_ref, COMPUTE_F32, 0, &f), &f);
    return m;
}

static void same_model(struct model *a, struct model *b)
{
    int n, n_b;
    const struct model_tensor *t = model_tensors(a, &n), *t_b = model_tensors(b, &n_b);

    CHECK_INT(n, n_b);
    for (int i = 0; i < n; i++) {
        CHECK_TEXT(t[i].name, t_b[i].name);
        CHECK_INT(t[i].first, t_b[i].first);
    }
    CHECK_INT(model_n_params(a), model_n_params(b));
    CHECK_INT(model_n_params(a), model_count(model_cfg(a)));
    CHECK(!memcmp(model_params(a), model_params(b), model_n_params(a) * sizeof(float)));
    CHECK(model_checksum(a) == model_checksum(b));
}

static void f32_round_trip(void)
{
    for (int arch = ARCH_QWEN2; arch <= ARCH_QWEN35; arch++) {
        struct model *a = tiny_model((enum arch)arch, &backend_ref, COMPUTE_F32, 0), *b;
        struct fault f = FAULT_INIT;

        CHECK_TEXT(model_dir(a), "");
        CHECK_OK(model_save(a, model_params(a), check_tmp(), NULL, false, &f), &f);
        b = reopen(check_tmp());
        same_model(a, b);
        CHECK_TEXT(model_dir(b), check_tmp());
        model_free(a);
        model_free(b);
    }
}

/* Of a large model it takes minutes, in which the other ranks wait. */
static void writing_is_a_sign_of_life(void)
{
    struct model *m = tiny_model(ARCH_QWEN3, &backend_ref, COMPUTE_F32, 0);
    struct fault f = FAULT_INIT;
    uint64_t before = pulse_now().beats;
    int n;

    model_tensors(m, &n);
    CHECK_OK(model_save(m, model_params(m), check_tmp(), NULL, true, &f), &f);
    CHECK(pulse_now().beats >= before + (uint64_t)n);
    model_free(m);
}

/* By hand: bf16 has 8 significant bits; ties go to the even one. */
static void bf16_rounds_to_nearest_even(void)
{
    static const float t[][2] = {
        {1.0f, 1.0f},
        {1.00390625f, 1.0f},      /* 1 + 2^-8: halfway, down to even */
        {1.01171875f, 1.015625f}, /* 1 + 3 * 2^-8: halfway, up to even */
        {1.005f, 1.0078125f},     /* above halfway */
        {-1.00390625f, -1.0f},
        {0.0f, 0.0f},
        {3.1415927f, 3.140625f},
    };
    struct model *a = tiny_model(ARCH_QWEN2, &backend_ref, COMPUTE_F32, 0), *b;
    struct fault f = FAULT_INIT;

    for (int i = 0; i < 7; i++)
        model_params(a)[i] = t[i][0];
    CHECK_OK(model_save(a, model_params(a), check_tmp(), NULL, true, &f), &f);
    b = reopen(check_tmp());
    for (int i = 0; i < 7; i++)
        CHECK(model_params(b)[i] == t[i][1]);
    model_params(a)[3] = 3.4e38f; /* rounds to infinity */
    CHECK_INT(model_save(a, model_params(a), check_tmp(), NULL, true, &f), FAULT_DATA);
    CHECK(strstr(f.text, "model.embed_tokens.weight") != NULL);
    CHECK(!present("config.json")); /* half a model does not look like one */
    model_params(a)[3] = NAN;
    CHECK_INT(model_save(a, model_params(a), check_tmp(), NULL, false, &f), FAULT_DATA);
    model_free(a);
    model_free(b);
}

static void shards_round_trip(void)
{
    static const size_t limits[] = {1, 5000, 20000};
    struct model *a = tiny_model(ARCH_LLAMA, &backend_ref, COMPUTE_F32, 0), *b;
    struct fault f = FAULT_INIT;

    CHECK_OK(model_save(a, model_params(a), check_tmp(), NULL, false, &f), &f);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        CHECK_OK(weights_save(a, model_params(a), check_tmp(), false, limits[i], &f),
                 &f);
        CHECK(!present("model.safetensors"));
        CHECK(present("model.safetensors.index.json"));
        b = reopen(check_tmp());
        same_model(a, b);
        model_free(b);
    }
    CHECK_OK(model_save(a, model_params(a), check_tmp(), NULL, false, &f), &f);
    CHECK(!present("model.safetensors.index.json"));
    model_free(a);
}

/* F16 in shards, without generation_config.json, with transformers 5's "dtype". */
static void other_files_follow(void)
{
    struct model *a = reopen("tests/ref/models/qwen3"), *b;
    char *source = in_tmp("tokenizer"), *out = in_tmp("export"), *path;
    struct fault f = FAULT_INIT;
    struct bytes text;
    json_t *config;

    CHECK_OK(dir_make(source, &f), &f);
    path = path_join(source, "tokenizer.json", &f);
    CHECK_OK(file_publish(path, "{\"a\": \"\xc3\xa9\"}", 11, &f), &f);
    free(path);
    CHECK_OK(model_save(a, model_params(a), out, source, true, &f), &f);
    b = reopen(out);
    CHECK(model_cfg(b)->head_dim == 8 && model_cfg(b)->rope_theta == 1e6);
    CHECK_INT(model_cfg(b)->n_stop, 1);
    CHECK(!present("export/generation_config.json"));
    CHECK(present("export/tokenizer.json") && !present("export/merges.txt"));
    path = path_join(out, "tokenizer.json", &f);
    CHECK_OK(file_read(path, 100, &text, &f), &f);
    CHECK_TEXT(text.data, "{\"a\": \"\xc3\xa9\"}");
    free(path);
    path = path_join(out, "config.json", &f);
    config = json_load_file(path, 0, NULL);
    CHECK_TEXT(json_string_value(json_object_get(config, "dtype")), "bfloat16");
    CHECK(json_object_get(config, "torch_dtype") == NULL);
    CHECK_INT(json_array_size(json_object_get(config, "layer_types")), 2);
    json_decref(config);
    bytes_free(&text);
    free(path);
    free(source);
    free(out);
    model_free(a);
    model_free(b);
}

static void generation_config_is_kept(void)
{
    struct model *a = reopen("tests/ref/models/qwen2"), *b;
    struct fault f = FAULT_INIT;

    CHECK_OK(model_save(a, model_params(a), check_tmp(), NULL, true, &f), &f);
    b = reopen(check_tmp());
    same_model(a, b); /* its weights were bf16 all along */
    CHECK_INT(model_cfg(b)->n_stop, 2);
    CHECK_INT(model_cfg(b)->stop[0], 4);
    CHECK_INT(model_cfg(b)->stop[1], 3);
    CHECK(model_cfg(b)->rope.kind == ROPE_YARN);
    model_free(a);
    model_free(b);
}

/* Of a model with vision the text is read, and written as a model of its own. */
static void other_parts_are_left_out(void)
{
    struct model *a = reopen("tests/ref/models/qwen35_vl"), *b;
    struct fault f = FAULT_INIT;
    char *path = in_tmp("config.json");
    json_t *config;
    int n;

    CHECK(model_cfg(a)->nested);
    CHECK_OK(model_save(a, model_params(a), check_tmp(), NULL, true, &f), &f);
    b = reopen(check_tmp());
    same_model(a, b);
    CHECK(!model_cfg(b)->nested);
    CHECK_TEXT(model_tensors(b, &n)[1].name, "model.layers.0.input_layernorm.weight");
    config = json_load_file(path, 0, NULL);
    CHECK_TEXT(json_string_value(json_object_get(config, "model_type")),
               "qwen3_5_text");
    CHECK_TEXT(
        json_string_value(json_array_get(json_object_get(config, "architectures"), 0)),
        "Qwen3_5ForCausalLM");
    CHECK(json_is_true(json_object_get(config, "tie_word_embeddings")));
    CHECK(!json_object_get(config, "vision_config"));
    json_decref(config);
    free(path);
    model_free(a);
    model_free(b);
}

/* -- random weights
 * -------------------------------------------------------------------- */

static void random_weights_are_as_said(void)
{
    struct model_config c = tiny_config(ARCH_QWEN3);
    struct model *m[3];
    struct fault f = FAULT_INIT;
    const struct model_tensor *t;
    double sum = 0, square = 0, pairs = 0, rows = 0, n = 0;
    int n_tensors;

    for (int i = 0; i < 3; i++)
        CHECK_OK(model_random(&m[i], &c, &backend_ref, COMPUTE_F32, 0,
                              (uint64_t)(i == 2 ? 8 : 7), &f),
                 &f);
    CHECK(model_checksum(m[0]) == model_checksum(m[1]));
    CHECK(model_checksum(m[0]) != model_checksum(m[2]));
    t = model_tensors(m[0], &n_tensors);
    for (int i = 0; i < n_tensors; i++)
        for (int e = 0; e < t[i].rows * t[i].cols; e++) {
            double x = (double)model_params(m[0])[t[i].first + (size_t)e];

            if (t[i].vector) {
                CHECK(x == 1);
                continue;
            }
            if (e + 1 < t[i].rows * t[i].cols)
                pairs += x * (double)model_params(m[0])[t[i].first + (size_t)e + 1];
            sum += x;
            square += x * x;
            n++;
        }
    CHECK_NEAR(sum / n, 0, 4 * 0.02 / sqrt(n));
    CHECK_NEAR(pairs / n, 0, 4 * 0.0004 / sqrt(n));
    /* gate_proj and up_proj are of the same shape */
    for (int e = 0; e < c.ffn * c.dim; e++)
        rows += (double)model_params(m[0])[t[9].first + (size_t)e] *
                (double)model_params(m[0])[t[10].first + (size_t)e];
    CHECK_TEXT(t[9].name, "model.layers.0.mlp.gate_proj.weight");
    CHECK_NEAR(rows / (c.ffn * c.dim), 0, 4 * 0.0004 / sqrt(c.ffn * c.dim));
    CHECK_NEAR(square / n, 0.0004, 4 * 0.0004 * sqrt(2 / n));
    for (int i = 0; i < 3; i++)
        model_free(m[i]);
}

/* As Hugging Face: norms multiply by 1, dt_bias is 1, exp(A_log) within [0.01, 16). */
static void random_linear_attention_is_as_said(void)
{
    struct model_config c = tiny_config(ARCH_QWEN35);
    struct fault f = FAULT_INIT;
    struct model *m = NULL;
    const struct model_tensor *t;
    double least = 16, most = 0;
    int n;

    c.delta.value_heads = 64;
    CHECK_OK(model_random(&m, &c, &backend_ref, COMPUTE_F32, 0, 7, &f), &f);
    t = model_tensors(m, &n);
    for (int i = 0; i < n; i++)
        for (int e = 0; t[i].vector && e < t[i].cols; e++) {
            double x = (double)model_params(m)[t[i].first + (size_t)e];
            bool a_log = strstr(t[i].name, "A_log") != NULL;

            least = a_log && exp(x) < least ? exp(x) : least;
            most = a_log && exp(x) > most ? exp(x) : most;
            CHECK(a_log || x == (t[i].centred ? 0 : 1));
            CHECK(t[i].centred == (strstr(t[i].name, "norm.weight") &&
                                   !strstr(t[i].name, "linear_attn")));
        }
    CHECK(least >= 0.01 && least < 1 && most > 15 && most < 16);
    model_free(m);
}

CASES(CASE(other_parts_are_left_out), CASE(random_linear_attention_is_as_said),
      CASE(f32_round_trip), CASE(writing_is_a_sign_of_life),
      CASE(bf16_rounds_to_nearest_even), CASE(shards_round_trip),
      CASE(other_files_follow), CASE(generation_config_is_kept),
      CASE(random_weights_are_as_said));
