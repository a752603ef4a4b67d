/* test_broken.c - model directories that are not what they say: each gets one sentence
 * naming the file and the problem. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapo/mem.h"
#include "tiny.h"

static char *in_tmp(const char *name)
{
    struct fault f = FAULT_INIT;

    return path_join(check_tmp(), name, &f);
}

static struct bytes load(const char *name)
{
    struct bytes b;
    struct fault f = FAULT_INIT;
    char *path = in_tmp(name);

    CHECK_OK(file_read(path, 1 << 20, &b, &f), &f);
    free(path);
    return b;
}

static void store(const char *name, const void *data, size_t n)
{
    struct fault f = FAULT_INIT;
    char *path = in_tmp(name);

    CHECK_OK(file_publish(path, data, n, &f), &f);
    free(path);
}

static void drop(const char *name)
{
    char *path = in_tmp(name);

    unlink(path);
    free(path);
}

/* A sound model of one layer; its tensors lie in the order of the table. */
static void make_one(enum arch arch)
{
    struct model_config c = tiny_config(arch);
    struct fault f = FAULT_INIT;
    struct model *m = NULL;

    c.layers = 1;
    drop("model.safetensors.index.json");
    CHECK_OK(backend_ref.open(0, 1, &f), &f);
    CHECK_OK(model_random(&m, &c, &backend_ref, COMPUTE_F32, 0, 1, &f), &f);
    CHECK_OK(model_save(m, model_params(m), check_tmp(), NULL, false, &f), &f);
    model_free(m);
}

static void make_sound(void)
{
    make_one(ARCH_LLAMA);
}

static void expect(const char *what, int code, const char *words)
{
    struct model *m = NULL;
    struct fault f = FAULT_INIT;
    int rc = model_open(&m, check_tmp(), &backend_ref, COMPUTE_F32, 0, &f);

    if (rc != code || !strstr(f.text, words))
        fprintf(stderr, "%s: %d: %s\n", what, rc, f.text);
    CHECK_INT(rc, code);
    CHECK(strstr(f.text, words) != NULL);
    CHECK((m == NULL) == (code != 0));
    model_free(m);
}

/* -- the header
 * ------------------------------------------------------------------------ */

/* Replace `find` in the header of model.safetensors, and give it its new length. */
static void edit_header(const char *find, const char *put)
{
    struct bytes old = load("model.safetensors"), now = {0};
    struct fault f = FAULT_INIT;
    uint64_t length;
    char *at;

    memcpy(&length, old.data, 8);
    at = memmem(old.data + 8, (size_t)length, find, strlen(find));
    if (!at) {
        fprintf(stderr, "no %s in the header\n", find);
        exit(1);
    }
    CHECK_OK(bytes_add(&now, old.data, (size_t)(at - old.data), &f), &f);
    CHECK_OK(bytes_add(&now, put, strlen(put), &f), &f);
    at += strlen(find);
    CHECK_OK(bytes_add(&now, at, old.len - (size_t)(at - old.data), &f), &f);
    length += strlen(put) - strlen(find);
    memcpy(now.data, &length, 8);
    store("model.safetensors", now.data, now.len);
    bytes_free(&old);
    bytes_free(&now);
}

/* The embedding is 61 x 24 floats, [0,5856]; then comes the first norm, [5856,5952]. */
static const struct edit {
    const char *find, *put, *words;
} edits[] = {
    {"[5856,5952]", "[5852,5948]", "overlaps another one"},
    {"[5856,5952]", "[5860,5956]", "follows a gap"},
    {"[5856,5952]", "[99999999,100000095]", "outside of the file"},
    {"[5856,5952]", "[5952,5856]", "outside of the file"},
    {"[5856,5952]", "[5856,5956]", "don't fit its shape"},
    {"[5856,5952]", "[5856,5952,0]", "no data_offsets of two"},
    {"[5856,5952]", "[-1,95]", "no data_offsets of two"},
    {"[5856,5952]", "[5856.0,5952]", "no data_offsets of two"},
    {"[5856,5952]", "5856", "no data_offsets of two"},
    {"[61,24]", "[61,25]", "don't fit its shape"},
    {"[61,24]", "[24,61]", "not a matrix of 61 x 24"},
    {"[61,24]", "[1464]", "not a matrix of 61 x 24"},
    {"[61,24]", "[61,24,1]", "not a matrix of 61 x 24"},
    {"[61,24]", "[4611686018427387904,8]", "impossible shape"},
    {"[61,24]", "[4611686018427387904,4]", "impossible shape"},
    {"[61,24]", "[-61,-24]", "impossible shape"},
    {"[61,24]", "[1,1,1,1,1,1,1,61,24]", "no shape of at most 8"},
    {"[61,24]", "\"61,24\"", "no shape"},
    {"\"F32\",\"shape\":[61", "\"F4\",\"shape\":[61", "no known dtype"},
    {"\"F32\",\"shape\":[61", "7,\"shape\":[61", "no known dtype"},
    {"\"F32\",\"shape\":[61", "\"I32\",\"shape\":[61", "type I32"},
    {"model.embed_tokens.weight", "model.embed", "lack tensor \"model.embed_tokens"},
    {"\"shape\":[24]", "\"shape\":[1,24]", "not a vector of 24"},
    {"model.norm.weight", "model.embed_tokens.weight", "is not JSON"}, /* twice */
    {"\"__metadata__\"", "\"model.layers.1.x\"", "no known dtype"},
    {"\"dtype\"", "dtype", "is not JSON"},
    {"{", "[", "is not JSON"},
};

static void headers_are_not_trusted(void)
{
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        make_sound();
        edit_header(edits[i].find, edits[i].put);
        expect(edits[i].put, FAULT_DATA, edits[i].words);
    }
}

/* A 25th tensor behind the others that this architecture does not have. */
static void foreign_tensors_are_refused(void)
{
    make_sound();
    edit_header("{\"__metadata__\"",
                "{\"model.layers.0.self_attn.q_norm.weight\":{\"dtype\":\"F32\","
                "\"shape\":[0],\"data_offsets\":[0,0]},\"__metadata__\"");
    expect("an extra tensor", FAULT_DATA, "q_norm.weight\" is not one of the model");
    make_sound();
    edit_header("{\"__metadata__\"",
                "{\"model.layers.0.self_attn.rotary_emb.inv_freq\":{"
                "\"dtype\":\"F32\",\"shape\":[0],"
                "\"data_offsets\":[0,0]},\"__metadata__\"");
    expect("a harmless tensor", 0, "");
}

/* Its convolution has 2 * 2 * 5 + 4 * 3 = 32 channels of 4. */
static void linear_attention_is_not_trusted(void)
{
    static const struct edit wrong[] = {
        {"[32,1,4]", "[32,4]", "not a matrix of 32 x 1 x 4"},
        {"[32,1,4]", "[4,1,32]", "not a matrix of 32 x 1 x 4"},
        {"[32,1,4]", "[32,4,1]", "not a matrix of 32 x 1 x 4"},
        {"[32,1,4]", "[32,2,2]", "not a matrix of 32 x 1 x 4"},
        {"0.linear_attn.A_log", "0.linear_attn.A_lag", "lack tensor"},
        {"0.linear_attn.dt_bias", "0.linear_attn.dt_bius", "lack tensor"},
        {"0.linear_attn.norm.weight", "0.linear_attn.nerm.weight", "lack tensor"},
        {"model.layers.0.linear_attn.A_log",
         "model.language_model.layers.0.linear_attn.A_log", NULL},
    };
    static const struct {
        const char *name;
        bool known;
    } extra[] = {
        {"model.visual.blocks.0.attn.qkv.weight", true},
        {"mtp.fc.weight", true},
        {"visual.x", false},
        {"model.layers.0.linear_attn.conv1d.bias", false},
        {"model.layers.0.self_attn.q_proj.weight", false},
    };
    char text[256];

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        make_one(ARCH_QWEN35);
        edit_header(wrong[i].find, wrong[i].put);
        expect(wrong[i].put, wrong[i].words ? FAULT_DATA : 0,
               wrong[i].words ? wrong[i].words : "");
    }
    for (size_t i = 0; i < sizeof extra / sizeof extra[0]; i++) {
        make_one(ARCH_QWEN35);
        snprintf(text, sizeof text,
                 "{\"%s\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},"
                 "\"__metadata__\"",
                 extra[i].name);
        edit_header("{\"__metadata__\"", text);
        expect(extra[i].name, extra[i].known ? 0 : FAULT_DATA,
               extra[i].known ? "" : "is not one of the model");
    }
    make_one(ARCH_QWEN35); /* under both names */
    edit_header(
        "{\"__metadata__\"",
        "{\"model.language_model.norm.weight\":{\"dtype\":\"F32\",\"shape\":[0],"
        "\"data_offsets\":[0,0]},\"__metadata__\"");
    expect("twice", FAULT_DATA, "\"model.language_model.norm.weight\" is also in");
}

static void lengths_are_not_trusted(void)
{
    static const uint64_t lengths[] = {
        0, 1, 7, 1 << 20, (uint64_t)1 << 40, UINT64_MAX, UINT64_MAX - 7};
    struct bytes b;

    make_sound();
    b = load("model.safetensors");
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        memcpy(b.data, &lengths[i], 8);
        store("model.safetensors", b.data, b.len);
        expect("header length", FAULT_DATA, "model.safetensors");
    }
    bytes_free(&b);
}

static void cut_files_are_refused(void)
{
    struct bytes b;

    make_sound();
    b = load("model.safetensors");
    for (size_t n = 0; n < b.len; n += n < 16 ? 1 : 911) {
        store("model.safetensors", b.data, n);
        expect("cut", FAULT_DATA, "model.safetensors");
    }
    CHECK_OK(bytes_add(&b, "tail", 4, &(struct fault){0}), &(struct fault){0});
    store("model.safetensors", b.data, b.len);
    expect("a tail", FAULT_DATA, "4 bytes behind the last tensor");
    drop("model.safetensors");
    expect("no weights", FAULT_FILE, "model.safetensors");
    bytes_free(&b);
}

static void values_must_be_finite(void)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};

    for (int i = 0; i < 3; i++) {
        struct bytes b;
        uint64_t length;

        make_sound();
        b = load("model.safetensors");
        memcpy(&length, b.data, 8);
        memcpy(b.data + 8 + length + 5856 + 4, &bad[i], 4);
        store("model.safetensors", b.data, b.len);
        expect("not finite", FAULT_DATA,
               "\"model.layers.0.input_layernorm.weight\" has a value that is not "
               "finite, number 1");
        bytes_free(&b);
    }
}

static void config_and_weights_must_agree(void)
{
    static const struct edit wrong[] = {
        {"\"vocab_size\": 61", "\"vocab_size\": 60", "not a matrix of 60 x 24"},
        {"\"num_hidden_layers\": 1", "\"num_hidden_layers\": 2", "lack tensor"},
        {"\"mlp_bias\": true", "\"mlp_bias\": false", "is not one of the model"},
        {"\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true", NULL},
        {"\"num_key_value_heads\": 2", "\"num_key_value_heads\": 1", "not a matrix"},
        {"\"intermediate_size\": 40", "\"intermediate_size\": 1000000", "1000000 x 24"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct bytes b;
        struct fault f = FAULT_INIT;
        struct bytes now = {0};
        char *at;

        make_sound();
        b = load("config.json");
        at = strstr(b.data, wrong[i].find);
        CHECK(at != NULL);
        CHECK_OK(bytes_printf(&now, &f, "%.*s%s%s", (int)(at - b.data), b.data,
                              wrong[i].put, at + strlen(wrong[i].find)),
                 &f);
        store("config.json", now.data, now.len);
        if (wrong[i].words)
            expect(wrong[i].put, FAULT_DATA, wrong[i].words);
        else /* transformers ignores an lm_head of a tied model, too */
            expect(wrong[i].put, 0, "");
        bytes_free(&b);
        bytes_free(&now);
    }
}

/* -- shards
 * ---------------------------------------------------------------------------- */

static void indices_are_not_trusted(void)
{
    static const struct {
        const char *text;
        int code;
        const char *words;
    } t[] = {
        {"{}", FAULT_DATA, "has no \"weight_map\""},
        {"{\"weight_map\": {}}", FAULT_DATA, "has no \"weight_map\""},
        {"{\"weight_map\": [1]}", FAULT_DATA, "has no \"weight_map\""},
        {"[", FAULT_DATA, "is not JSON"},
        {"{\"weight_map\": {\"a\": 3}}", FAULT_DATA, "not a file name"},
        {"{\"weight_map\": {\"a\": \"../s\"}}", FAULT_DATA, "not a file name"},
        {"{\"weight_map\": {\"a\": \"/etc/passwd\"}}", FAULT_DATA, "not a file name"},
        {"{\"weight_map\": {\"a\": \"..\"}}", FAULT_DATA, "not a file name"},
        {"{\"weight_map\": {\"a\": \"\"}}", FAULT_DATA, "not a file name"},
        {"{\"weight_map\": {\"a\": \"gone.safetensors\"}}", FAULT_FILE, "gone"},
        {"{\"weight_map\": {\"a\": \"s\"}}", FAULT_DATA, "\"a\" is not in s"},
        {"{\"weight_map\": {\"model.norm.weight\": \"s\", \"lm_head.weight\": \"t\"}}",
         FAULT_DATA, "is also in"},
    };

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        struct bytes b;

        make_sound();
        b = load("model.safetensors");
        store("s", b.data, b.len);
        store("t", b.data, b.len);
        bytes_free(&b);
        drop("model.safetensors");
        store("model.safetensors.index.json", t[i].text, strlen(t[i].text));
        expect(t[i].text, t[i].code, t[i].words);
    }
}

CASES(CASE(headers_are_not_trusted), CASE(foreign_tensors_are_refused),
      CASE(linear_attention_is_not_trusted), CASE(lengths_are_not_trusted),
      CASE(cut_files_are_refused), CASE(values_must_be_finite),
      CASE(config_and_weights_must_agree), CASE(indices_are_not_trusted));
