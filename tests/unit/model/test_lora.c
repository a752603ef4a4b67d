/* test_lora.c - models with an adapter: against the PEFT library, the frozen rest,
 * merging, files.  Finite differences and cuts are in test_grad.c, bits of rows in
 * test_rows.c. */
#include "model/impl.h"
#include "reference.h"
#include "tiny.h"

static struct model *open_base(const char *name, const struct backend *be,
                               enum compute compute)
{
    struct fault f = FAULT_INIT;
    struct model *m = NULL;
    char dir[128];

    snprintf(dir, sizeof dir, "tests/ref/models/%s", name);
    CHECK_OK(be->open(0, 1, &f), &f);
    CHECK_OK(model_open(&m, dir, be, compute, 48 - PADDED, &f), &f);
    return m;
}

static struct model *open_adapted(const char *name, const char *adapter,
                                  const struct backend *be, enum compute compute)
{
    struct model *m = open_base(name, be, compute);
    struct lora_config c;
    struct fault f = FAULT_INIT;

    CHECK_OK(lora_config_read(&c, adapter, &f), &f);
    CHECK_OK(model_lora(m, &c, 1, &f), &f);
    CHECK_OK(model_lora_load(m, adapter, &f), &f);
    return m;
}

/* Logits, log-probs and the gradient of A and B are PEFT's (tests/ref/make_lora.py). */
static void peft(void)
{
    static const char *const bases[] = {"qwen2", "qwen3", "llama", "qwen35"};

    for (int i = 0; i < 8; i++) {
        const char *base = bases[i / 2];
        double slack = i / 2 == 3 ? 5 : 1; /* see test_reference.c */
        char dir[128];

        snprintf(dir, sizeof dir, "tests/ref/lora/%s-%s", base, i % 2 ? "qv" : "all");
        for (int k = 0; k < 3; k++) {
            enum compute compute = k == 2 ? COMPUTE_BF16 : COMPUTE_F32;
            struct model *m =
                open_adapted(base, dir, k ? &backend_cpu : &backend_ref, compute);

            CHECK_INT(model_adapter(m)->rank, 4);
            CHECK_NEAR(model_adapter(m)->alpha, 8, 0);
            reference_check(m, dir, compute, slack * (k == 2 ? 0.03 : 2e-5));
            model_free(m);
        }
    }
}

/* -- values --------------------------------------------------------------------------
 */

enum { LEN = 20 };

/* Log-probs of one sequence. */
static void look(struct model *m, float logp[LEN])
{
    int ids[LEN + 1], at[LEN], start[2] = {0, LEN + 1};
    struct fault f = FAULT_INIT;

    for (int i = 0; i <= LEN; i++) {
        ids[i] = (i * i * 3 + i * 5 + 1) % 47;
        at[i < LEN ? i : 0] = i < LEN ? i : 0;
    }
    CHECK_OK(model_forward(m, &(struct pack){LEN + 1, 1, ids, start}, &f), &f);
    CHECK_OK(model_head(m, at, ids + 1, LEN, 1, logp, NULL, NULL, NULL, &f), &f);
}

static const struct lora_config rank4 = {4, 8, "all"};

/* B = 0: the base's own bits.  A by hand: 24 bits of Philox in +-1/sqrt(in). */
static void a_fresh_adapter_changes_nothing(void)
{
    struct model *m[3], *base = tiny_model(ARCH_QWEN3, &backend_cpu, COMPUTE_F32, 0);
    float want[LEN], got[LEN];
    struct fault f = FAULT_INIT;
    int n;
    const struct model_tensor *t;

    look(base, want);
    for (int i = 0; i < 3; i++) {
        m[i] = tiny_model(ARCH_QWEN3, &backend_cpu, COMPUTE_F32, 0);
        CHECK_OK(model_lora(m[i], &rank4, i == 2, &f), &f);
        look(m[i], got);
        CHECK(!memcmp(got, want, sizeof got));
    }
    CHECK(model_checksum(m[0]) == model_checksum(m[1]));
    CHECK(model_checksum(m[0]) != model_checksum(m[2]));
    CHECK(model_base(m[0]) == model_checksum(base));
    t = model_tensors(m[0], &n);
    for (int i = 0; i < n; i++) {
        const float *p = model_params(m[0]) + t[i].first;
        size_t values = (size_t)t[i].rows * (size_t)t[i].cols;
        double bound = 1 / sqrt((double)t[i].cols), squares = 0, most = 0;

        for (size_t e = 0; e < values; e++) {
            squares += (double)p[e] * (double)p[e] / (double)values;
            most = fabs((double)p[e]) > most ? fabs((double)p[e]) : most;
        }
        if (i % 2) { /* B */
            CHECK(squares == 0);
            continue;
        }
        CHECK(most <= bound && most > 0.9 * bound);
        CHECK_NEAR(sqrt(squares), bound / sqrt(3.0), 0.1 * bound);
    }
    for (int i = 0; i < 3; i++)
        model_free(m[i]);
    model_free(base);
}

/* What is trained, and how many values that is, counted by hand: of each layer q_proj
 * 24 x 24 and down_proj 24 x 40, at rank 3. */
static void only_the_targets_are_trained(void)
{
    struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct model *base = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct model_config c = tiny_config(ARCH_QWEN2);
    struct lora_config l = {3, 1, "q_proj, mlp.down_proj"};
    size_t trained, adapted;
    struct fault f = FAULT_INIT;
    int n;
    const struct model_tensor *t;

    tiny_adapter(m, l.targets);
    t = model_tensors(m, &n);
    CHECK_INT(n, 8);
    CHECK_INT(model_n_params(m), 2 * (3 * (24 + 24) + 3 * (40 + 24)));
    CHECK_OK(model_lora_count(&c, &l, &trained, &adapted, &f), &f);
    CHECK_INT(trained, model_n_params(m));
    CHECK_INT(adapted, 2 * (24 * 24 + 24 * 40));
    CHECK_TEXT(t[0].name,
               "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight");
    CHECK_TEXT(t[7].name,
               "base_model.model.model.layers.1.mlp.down_proj.lora_B.weight");
    CHECK_INT(t[0].rows, 3);
    CHECK_INT(t[0].cols, 24);
    CHECK_INT(t[7].rows, 24);
    CHECK_INT(t[7].cols, 3);
    for (int i = 0; i < m->table.n; i++) {
        const struct model_tensor *x = &m->table.tensors[i];
        bool same = !memcmp(param_of(m, i), param_of(base, i),
                            (size_t)x->rows * (size_t)x->cols * sizeof(float));

        CHECK_INT(!same, strstr(x->name, "q_proj.weight") || strstr(x->name, "down"));
    }
    model_free(m);
    model_free(base);
}

/* W' = W + alpha / rank B A for one value; anew each time, so that going back to the
 * old A and B gives the old bits; muted, the base's. */
static void merging_starts_from_the_base(void)
{
    struct model *m = tiny_model(ARCH_LLAMA, &backend_cpu, COMPUTE_F32, 0);
    struct model *base = tiny_model(ARCH_LLAMA, &backend_cpu, COMPUTE_F32, 0);
    float want[LEN], first[LEN], got[LEN], *keep;
    struct fault f = FAULT_INIT;
    size_t n;
    int k;
    const struct model_tensor *t;
    double sum = 0;

    look(base, want);
    tiny_adapter(m, "all");
    look(m, first);
    CHECK(memcmp(first, want, sizeof first) != 0);
    t = model_tensors(m, &k);
    for (k = 0; k < 3; k++) /* row 5, column 7 of the first layer's q_proj */
        sum += (double)model_params(m)[t[1].first + (size_t)(5 * 3 + k)] *
               (double)model_params(m)[t[0].first + (size_t)(k * 24 + 7)];
    CHECK_NEAR((double)param_of(m, 2)[5 * 24 + 7],
               (double)param_of(base, 2)[5 * 24 + 7] + 1.5 * sum, 1e-6);
    CHECK_TEXT(m->table.tensors[2].name, "model.layers.0.self_attn.q_proj.weight");

    n = model_n_params(m);
    keep = mem_new(n, sizeof *keep, "values", &f);
    memcpy(keep, model_params(m), n * sizeof *keep);
    for (int i = 0; i < 5; i++) {
        for (size_t e = 0; e < n; e++)
            model_params(m)[e] += 0.3f;
        CHECK_OK(model_refresh(m, &f), &f);
    }
    memcpy(model_params(m), keep, n * sizeof *keep);
    CHECK_OK(model_lora_mute(m, true, &f), &f);
    look(m, got);
    CHECK(!memcmp(got, want, sizeof got));
    CHECK_OK(model_lora_mute(m, false, &f), &f);
    look(m, got);
    CHECK(!memcmp(got, first, sizeof got));
    free(keep);
    model_free(m);
    model_free(base);
}

/* -- files ---------------------------------------------------------------------------
 */

static void saved_and_loaded(void)
{
    static const char *const targets[] = {"all", "v_proj,self_attn.k_proj"};

    for (int i = 0; i < 2; i++) {
        struct model *a = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
        struct model *b = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
        struct lora_config c;
        struct fault f = FAULT_INIT;
        float want[LEN], got[LEN];

        tiny_adapter(a, targets[i]);
        model_params(a)[1] = 1.0f / 3;
        CHECK_OK(model_refresh(a, &f), &f);
        CHECK_OK(model_lora_save(a, check_tmp(), &f), &f);
        CHECK_OK(lora_config_read(&c, check_tmp(), &f), &f);
        CHECK_INT(c.rank, 3);
        CHECK_NEAR(c.alpha, 4.5, 0);
        CHECK_OK(model_lora(b, &c, 5, &f), &f);
        CHECK_OK(model_lora_load(b, check_tmp(), &f), &f);
        CHECK(model_checksum(a) == model_checksum(b));
        look(a, want);
        look(b, got);
        CHECK(!memcmp(got, want, sizeof got));
        model_free(a);
        model_free(b);
    }
}

/* One that was trained on the model with vision, whose text part is one level down. */
static void saved_of_the_whole_model(void)
{
    struct model *a = tiny_model(ARCH_QWEN35, &backend_cpu, COMPUTE_F32, 0);
    struct model *b = tiny_model(ARCH_QWEN35, &backend_cpu, COMPUTE_F32, 0);
    static const char text[] = LORA_PREFIX "model.";
    struct fault f = FAULT_INIT;
    struct st_source *s;
    char(*name)[160], *path = path_join(check_tmp(), "adapter_model.safetensors", &f);
    const struct model_tensor *t;
    int n;

    tiny_adapter(a, "all");
    tiny_adapter(b, "all");
    CHECK_OK(model_lora_save(a, check_tmp(), &f), &f);
    t = model_tensors(a, &n);
    s = mem_new((size_t)n, sizeof *s, "tensors", &f);
    name = mem_new((size_t)n, sizeof *name, "names", &f);
    for (int i = 0; i < n; i++) {
        snprintf(name[i], sizeof name[i], "%slanguage_model.%s", text,
                 t[i].name + sizeof text - 1);
        s[i] = (struct st_source){name[i],
                                  2,
                                  {(size_t)t[i].rows, (size_t)t[i].cols},
                                  model_params(a) + t[i].first};
    }
    CHECK_OK(st_write(path, s, n, false, &f), &f);
    model_params(b)[1] = 1.0f / 3;
    CHECK_OK(model_lora_load(b, check_tmp(), &f), &f);
    CHECK(model_checksum(a) == model_checksum(b));
    name[0][strlen(text) + 3] = 'x';
    CHECK_OK(st_write(path, s, n, false, &f), &f);
    CHECK_INT(model_lora_load(b, check_tmp(), &f), FAULT_DATA);
    CHECK(strstr(f.text, t[0].name));
    free(s);
    free(name);
    free(path);
    model_free(a);
    model_free(b);
}

/* An adapter of a model whose folder JSON can't name is written all the same. */
static void base_of_any_name(void)
{
    struct model *a = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0), *b = NULL;
    struct fault f = FAULT_INIT;
    struct lora_config c;
    char *dir = path_join(check_tmp(), "m\xff", &f);

    CHECK_OK(model_save(a, model_params(a), dir, NULL, false, &f), &f);
    CHECK_OK(model_open(&b, dir, &backend_cpu, COMPUTE_F32, 0, &f), &f);
    tiny_adapter(b, "q_proj");
    CHECK_OK(model_lora_save(b, check_tmp(), &f), &f);
    CHECK_OK(lora_config_read(&c, check_tmp(), &f), &f);
    CHECK_TEXT(c.targets, "q_proj");
    free(dir);
    model_free(a);
    model_free(b);
}

/* What model_save writes needs no adapter any more. */
static void merged_and_opened(void)
{
    struct model *a = tiny_model(ARCH_QWEN3, &backend_cpu, COMPUTE_F32, 0), *b = NULL;
    struct fault f = FAULT_INIT;
    float want[LEN], got[LEN];

    tiny_adapter(a, "all");
    look(a, want);
    CHECK_INT(model_save(a, want, check_tmp(), NULL, false, &f), FAULT_BUG);
    CHECK_OK(model_save(a, model_params(a), check_tmp(), NULL, false, &f), &f);
    CHECK_OK(model_open(&b, check_tmp(), &backend_cpu, COMPUTE_F32, 0, &f), &f);
    CHECK(model_adapter(b) == NULL);
    CHECK_INT(model_n_params(b), model_count(model_cfg(b)));
    look(b, got);
    CHECK(!memcmp(got, want, sizeof got));
    model_free(a);
    model_free(b);
}

/* -- what is refused -----------------------------------------------------------------
 */

static void refused(struct model *m, int rank, double alpha, const char *targets,
                    const char *says)
{
    struct lora_config c = {.rank = rank, .alpha = alpha};
    struct fault f = FAULT_INIT;

    snprintf(c.targets, sizeof c.targets, "%s", targets);
    CHECK_INT(model_lora(m, &c, 1, &f), FAULT_CONFIG);
    if (!strstr(f.text, says))
        fprintf(stderr, "no '%s' in: %s\n", says, f.text);
    CHECK(strstr(f.text, says));
    CHECK(model_adapter(m) == NULL);
}

static void wrong_adapters_are_named(void)
{
    struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct fault f = FAULT_INIT;

    refused(m, 2, 1, "q_proj,lm_head", "\"lm_head\" is no matrix");
    refused(m, 2, 1, "q_norm", "some of q_proj k_proj v_proj o_proj gate_proj up_proj");
    refused(m, 2, 1, "_proj", "\"_proj\"");
    refused(m, 2, 1, "attn.q_proj", "\"attn.q_proj\"");
    refused(m, 2, 1, " , ", "no targets");
    refused(m, 25, 1, "all", "rank 25 is over the 24 x 24");
    refused(m, 0, 1, "all", "rank 0");
    refused(m, 2, 0, "all", "alpha 0");
    refused(m, 2, (double)NAN, "all", "alpha");
    refused(m, 2, 1e39, "all", "alpha 1e+39"); /* a float has up to 3.4e38 */
    refused(m, 2, 2e-38, "all", "alpha 2e-38");
    CHECK_INT(model_lora_mute(m, true, &f), FAULT_BUG);
    CHECK_INT(model_lora_save(m, check_tmp(), &f), FAULT_BUG);
    CHECK_INT(model_lora_load(m, check_tmp(), &f), FAULT_BUG);
    CHECK(model_base(m) == 0);
    tiny_adapter(m, "all");
    CHECK_INT(model_lora(m, &rank4, 1, &f), FAULT_BUG);
    model_free(m);
    m = tiny_model(ARCH_QWEN35, &backend_cpu, COMPUTE_F32, 0);
    refused(m, 2, 1, "conv1d", "down_proj in_proj_qkv in_proj_z in_proj_b in_proj_a");
    model_free(m);
}

/* An adapter of other settings than the model's, or of another model. */
static void another_adapter_is_named(void)
{
    static const char dir[] = "tests/ref/lora/qwen2-qv";
    static const struct {
        struct lora_config c;
        const char *base, *says;
        int code;
    } rows[] = {
        {{2, 8, "q_proj,v_proj"}, "qwen2", "rank is 4", FAULT_CONFIG},
        {{4, 4, "q_proj,v_proj"}, "qwen2", "alpha 8", FAULT_CONFIG},
        {{4, 8, "all"}, "qwen2", "targets (v_proj,q_proj)", FAULT_CONFIG},
        {{4, 8, "q_proj"}, "qwen2", "lora.targets (q_proj)", FAULT_CONFIG},
        {{4, 8, "q_proj,v_proj"}, "llama", "q_proj.lora_B", FAULT_DATA},
        {{4, 8, "v_proj q_proj"}, "qwen2", "", 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct model *m = open_base(rows[i].base, &backend_cpu, COMPUTE_F32);
        struct fault f = FAULT_INIT;

        CHECK_OK(model_lora(m, &rows[i].c, 1, &f), &f);
        CHECK_INT(model_lora_load(m, dir, &f), rows[i].code);
        CHECK(strstr(f.text, rows[i].says));
        model_free(m);
    }
}

static void store(const char *name, const void *data, size_t n)
{
    struct fault f = FAULT_INIT;
    char *path = path_join(check_tmp(), name, &f);

    CHECK_OK(file_publish(path, data, n, &f), &f);
    free(path);
}

/* adapter_config.json, and what it is taken for. */
static void configurations_are_untrusted(void)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"{\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":8,\"target_modules\":"
         "[\"q_proj\"]}",
         NULL},
        {"{\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":2.5,\"target_modules\":"
         "\"all-linear\",\"use_dora\":false,\"bias\":\"none\",\"rank_pattern\":{}}",
         NULL},
        {"[]", "not a JSON object"},
        {"{", "not JSON"},
        {"{}", "peft_type"},
        {"{\"peft_type\":\"IA3\"}", "peft_type"},
        {"{\"peft_type\":\"LORA\",\"lora_alpha\":8}", "r is not"},
        {"{\"peft_type\":\"LORA\",\"r\":-1,\"lora_alpha\":8}", "r is not"},
        {"{\"peft_type\":\"LORA\",\"r\":99999999999,\"lora_alpha\":8}", "r is not"},
        {"{\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":0}", "lora_alpha"},
        {"{\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":8}", "target_modules"},
        {"{\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":8,\"target_modules\":"
         "\".*_proj\"}",
         "patterns"},
        {"{\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":8,\"target_modules\":[]}",
         "target_modules"},
        {"{\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":8,\"target_modules\":[\"q\","
         "3]}",
         "target_modules[1]"},
        {"{\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":8,\"target_modules\":"
         "[\"a b\"]}",
         "target_modules[0]"},
        {"{\"peft_type\":\"LORA\",\"use_dora\":true}", "use_dora"},
        {"{\"peft_type\":\"LORA\",\"use_rslora\":1}", "use_rslora"},
        {"{\"peft_type\":\"LORA\",\"bias\":\"all\"}", "bias"},
        {"{\"peft_type\":\"LORA\",\"modules_to_save\":[\"lm_head\"]}",
         "modules_to_save"},
        {"{\"peft_type\":\"LORA\",\"rank_pattern\":{\"q_proj\":2}}", "rank_pattern"},
        {"{\"peft_type\":\"LORA\",\"init_lora_weights\":\"pissa\"}", "pissa"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct lora_config c;
        struct fault f = FAULT_INIT;
        int rc;

        store("adapter_config.json", rows[i].text, strlen(rows[i].text));
        rc = lora_config_read(&c, check_tmp(), &f);
        CHECK_INT(rc, rows[i].says ? FAULT_DATA : 0);
        if (rows[i].says && !strstr(f.text, rows[i].says))
            fprintf(stderr, "no '%s' in: %s\n", rows[i].says, f.text);
        CHECK(!rows[i].says || strstr(f.text, rows[i].says));
        if (i == 1)
            CHECK_TEXT(c.targets, "all");
    }
}

/* adapter_model.safetensors: tensors of other names, shapes and values. */
static void tensors_are_untrusted(void)
{
    struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct st_source s[10];
    float value[2000] = {0};
    char *path;
    struct fault f = FAULT_INIT;
    int n;
    const struct model_tensor *t;

    tiny_adapter(m, "q_proj,k_proj");
    CHECK_OK(model_lora_save(m, check_tmp(), &f), &f);
    t = model_tensors(m, &n);
    path = path_join(check_tmp(), "adapter_model.safetensors", &f);
    for (int i = 0; i < n; i++)
        s[i] = (struct st_source){
            t[i].name, 2, {(size_t)t[i].rows, (size_t)t[i].cols}, value};
    CHECK_OK(st_write(path, s, n, false, &f), &f);
    CHECK_OK(model_lora_load(m, check_tmp(), &f), &f);
    CHECK_OK(st_write(path, s, n, true, &f), &f); /* bf16 is read too */
    CHECK_OK(model_lora_load(m, check_tmp(), &f), &f);

    CHECK_OK(st_write(path, s, n - 1, false, &f), &f);
    CHECK_INT(model_lora_load(m, check_tmp(), &f), FAULT_DATA);
    CHECK(strstr(f.text, "lacks tensor") && strstr(f.text, t[n - 1].name));
    s[n] = s[0];
    s[n].name = "base_model.model.model.layers.0.mlp.up_proj.lora_A.weight";
    CHECK_OK(st_write(path, s, n + 1, false, &f), &f);
    CHECK_INT(model_lora_load(m, check_tmp(), &f), FAULT_DATA);
    CHECK(strstr(f.text, "up_proj.lora_A.weight\" belongs to none"));
    s[1].dims[0] = 25;
    CHECK_OK(st_write(path, s, n, false, &f), &f);
    CHECK_INT(model_lora_load(m, check_tmp(), &f), FAULT_DATA);
    CHECK(strstr(f.text, "24 x 3"));
    store("adapter_model.safetensors", "short", 5);
    CHECK_INT(model_lora_load(m, check_tmp(), &f), FAULT_DATA);
    model_params(m)[0] = NAN;
    CHECK_INT(model_lora_save(m, check_tmp(), &f), FAULT_DATA);
    CHECK_INT(lora_config_read(&(struct lora_config){0}, check_tmp(), &f), FAULT_FILE);
    free(path);
    model_free(m);
}

CASES(CASE(peft), CASE(a_fresh_adapter_changes_nothing),
      CASE(only_the_targets_are_trained), CASE(merging_starts_from_the_base),
      CASE(saved_and_loaded), CASE(saved_of_the_whole_model), CASE(base_of_any_name),
      CASE(merged_and_opened), CASE(wrong_adapters_are_named),
      CASE(another_adapter_is_named), CASE(configurations_are_untrusted),
      CASE(tensors_are_untrusted));
