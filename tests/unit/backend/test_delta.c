/* test_delta.c - the gated delta rule and its gates on every backend. */
#include <jansson.h>
#include <string.h>

#include "backend/ops.h"
#include "check.h"
#include "fill.h"
#include "scan.h"

/* decay = 1/2, beta = 1/2 at zeros; in the first head A = 3, so decay = 1/8. */
static void gates_by_hand(void)
{
    EACH(b)
    {
        float a[] = {0, 0, 1, -200, 100, 25}, z[] = {0, 1, -100, 100, 0, -1};
        float a_log[] = {logf(3), 0}, dt[] = {0, 0}, decay[6], beta[6], da[6], db[6];
        float one[] = {1, 1, 1, 1, 1, 1}, dlog[] = {10, 20}, dbias[] = {30, 40};
        const double l = log(2);
        struct fault f = FAULT_INIT;

        CHECK_OK(b->delta_gates(decay, beta, a, z, a_log, dt, 3, 2, &f), &f);
        CHECK_NEAR((double)decay[0], 0.125, 1e-7);
        CHECK_NEAR((double)decay[1], 0.5, 1e-7);
        CHECK_NEAR((double)decay[3], 1, 0);
        CHECK_NEAR((double)decay[5], exp(-25), 1e-17);
        CHECK_NEAR((double)beta[0], 0.5, 1e-7);
        CHECK_NEAR((double)beta[1], 1 / (1 + exp(-1)), 1e-7);
        CHECK_NEAR((double)beta[2], 0, 1e-30);
        CHECK_NEAR((double)beta[3], 1, 0);
        CHECK_OK(b->delta_gates_back(da, db, dlog, dbias, one, one, a, z, a_log, dt, 1,
                                     2, &f),
                 &f);
        CHECK_NEAR((double)da[0], -3 * 0.125 / 2, 1e-7);
        CHECK_NEAR((double)da[1], -0.25, 1e-7);
        CHECK_NEAR((double)db[0], 0.25, 1e-7);
        CHECK_NEAR((double)dlog[0], 10 - 3 * 0.125 * l, 2e-6);
        CHECK_NEAR((double)dlog[1], 20 - 0.5 * l, 2e-6);
        CHECK_NEAR((double)dbias[1], 40 - 0.25, 4e-6);
        CHECK_OK(b->delta_gates_back(da, db, dlog, NULL, one, one, a, z, a_log, dt, 3,
                                     2, &f),
                 &f);
        CHECK(isfinite(dlog[0]));
        CHECK_OK(b->delta_gates_back(da, db, NULL, dbias, one, one, a, z, a_log, dt, 3,
                                     2, &f),
                 &f);
        CHECK_NEAR((double)da[3], 0, 1e-30);
        CHECK_NEAR((double)da[4], 0, 1e-30); /* e^100 is no number of f32 */
        CHECK_NEAR((double)da[5], -exp(-25), 1e-17);
    }
}

/* Two orthogonal keys: what is stored under one does not disturb the other.  A value of
 * 8 stored whole, halved, then read, comes out as 4 (over the root of 2). */
static void a_memory_by_hand(void)
{
    EACH(b)
    {
        const float q[] = {7, 0, 0, 0.5f, 3, 0}, k[] = {2, 0, 0, 3, 0, 1};
        const float v[] = {8, 0, 6, 0, 0, 0}, decay[] = {1, 0.5f, 1},
                    beta[] = {1, 0.5f, 0};
        float o[3], state[] = {99, 99};
        struct scan_rows r = {3, (int[]){0, 0, 0}, (int[]){0, 1, 2}};
        struct delta_heads h = {1, 1, 2, 1};
        struct fault f = FAULT_INIT;

        CHECK_OK(b->delta(o, state, q, k, v, 2, decay, beta, &r, &h, &f), &f);
        CHECK_NEAR((double)o[0], 8 / sqrt(2), 1e-5);
        CHECK_NEAR((double)o[1], 3 / sqrt(2), 1e-5);
        CHECK_NEAR((double)o[2], 4 / sqrt(2), 1e-5);
        CHECK_NEAR((double)state[0], 4, 1e-5);
        CHECK_NEAR((double)state[1], 3, 1e-5);
    }
}

/* One case: q, k and v side by side in rows of `stride`, three values between rows. */
struct delta_case {
    struct delta_heads h;
    int stride;
    size_t n, out, gates; /* values of qkv, of o and of the gates */
    float *qkv, *dqkv, *decay, *beta, *ddecay, *dbeta, *o, *d_o, *state;
};

static int key_width(const struct delta_heads *h)
{
    return h->key_heads * h->key_dim;
}

static struct delta_case case_new(const struct sequences *s, struct delta_heads h)
{
    struct delta_case c = {.h = h};

    c.stride = 2 * key_width(&h) + h.value_heads * h.value_dim + 3;
    c.n = row_at(s->rows, c.stride);
    c.out = row_at(s->rows, h.value_heads * h.value_dim);
    c.gates = row_at(s->rows, h.value_heads);
    c.qkv = fill_new(c.n, 1);
    c.dqkv = fill_new(c.n, 2);
    c.decay = fill_new(c.gates, 3);
    c.beta = fill_new(c.gates, 4);
    c.ddecay = fill_new(c.gates, 5);
    c.dbeta = fill_new(c.gates, 6);
    c.o = fill_new(c.out, 7);
    c.d_o = fill_new(c.out, 8);
    c.state =
        fill_new(row_at(s->n, h.value_heads * h.value_dim) * (size_t)h.key_dim, 9);
    for (size_t i = 0; i < c.gates; i++) {
        c.decay[i] = 0.8f + 0.2f * c.decay[i]; /* 0.6 to 1 */
        c.beta[i] = 0.5f + 0.5f * c.beta[i];
    }
    return c;
}

static void case_free(struct delta_case *c)
{
    float *all[] = {c->qkv,   c->dqkv, c->decay, c->beta, c->ddecay,
                    c->dbeta, c->o,    c->d_o,   c->state};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

static void case_forward(const struct backend *b, struct delta_case *c,
                         const struct scan_rows *r, float *state)
{
    const float *k = c->qkv + key_width(&c->h), *v = k + key_width(&c->h);
    struct fault f = FAULT_INIT;

    CHECK_OK(
        b->delta(c->o, state, c->qkv, k, v, c->stride, c->decay, c->beta, r, &c->h, &f),
        &f);
}

/* The work space is full of NaN before. */
static void case_back(const struct backend *b, struct delta_case *c,
                      const struct scan_rows *r)
{
    int keys = key_width(&c->h);
    size_t n = b->delta_scratch(r, &c->h);
    float *scratch = fill_new(n, 0);
    struct fault f = FAULT_INIT;

    for (size_t i = 0; i < n; i++)
        scratch[i] = NAN;
    CHECK_OK(b->delta_back(c->dqkv, c->dqkv + keys, c->dqkv + 2 * keys, c->ddecay,
                           c->dbeta, c->d_o, c->qkv, c->qkv + keys, c->qkv + 2 * keys,
                           c->stride, c->decay, c->beta, r, &c->h, scratch, &f),
             &f);
    free(scratch);
}

/* Forward with and without states, and backward; everything that is in the arrays,
 * what is between the rows included, against ref. */
static void agree(const struct backend *b, const int *lengths, struct delta_heads h)
{
    struct sequences s = sequences_new(lengths);
    struct scan_rows r = training_rows(&s);
    struct delta_case want = case_new(&s, h), got = case_new(&s, h);
    size_t states = row_at(s.n, h.value_heads * h.value_dim) * (size_t)h.key_dim;

    case_forward(&backend_ref, &want, &r, want.state);
    case_forward(b, &got, &r, got.state);
    CHECK_NEAR(fill_gap(got.o, want.o, want.out), 0, 1e-5);
    CHECK_NEAR(fill_gap(got.state, want.state, states), 0, 1e-5);
    memset(got.o, 0, got.out * sizeof *got.o);
    case_forward(b, &got, &r, NULL);
    CHECK_NEAR(fill_gap(got.o, want.o, want.out), 0, 1e-5);
    case_back(&backend_ref, &want, &r);
    case_back(b, &got, &r);
    CHECK_NEAR(fill_gap(got.dqkv, want.dqkv, want.n), 0, 1e-5);
    CHECK_NEAR(fill_gap(got.ddecay, want.ddecay, want.gates), 0, 1e-5);
    CHECK_NEAR(fill_gap(got.dbeta, want.dbeta, want.gates), 0, 1e-5);
    case_free(&want);
    case_free(&got);
}

static void the_rule_agrees_with_ref(void)
{
    EACH(b)
    {
        agree(b, (int[]){1, 0}, (struct delta_heads){1, 1, 1, 1});
        agree(b, (int[]){5, 1, 33, 0}, (struct delta_heads){2, 4, 3, 5});
        agree(b, (int[]){32, 64, 0}, (struct delta_heads){1, 1, 16, 16});
        agree(b, (int[]){65, 3, 0}, (struct delta_heads){1, 3, 20, 24});
        agree(b, (int[]){97, 0}, (struct delta_heads){2, 2, 33, 80});
        agree(b, (int[]){70, 2, 0}, (struct delta_heads){1, 2, 128, 128});
    }
}

static double loss(struct delta_case *c, const struct scan_rows *r)
{
    double sum = 0;

    case_forward(&backend_ref, c, r, NULL);
    for (size_t i = 0; i < c->out; i++)
        sum += (double)c->d_o[i] * (double)c->o[i];
    return sum;
}

static void differences(struct delta_case *c, const struct scan_rows *r, float *x,
                        const float *slope, size_t n)
{
    const float h = 1.0f / 256;

    for (size_t i = 0; i < n; i++) {
        float keep = x[i];
        double up, down;

        x[i] = keep + h;
        up = loss(c, r);
        x[i] = keep - h;
        down = loss(c, r);
        x[i] = keep;
        CHECK_NEAR((double)slope[i], (up - down) / (2 * (double)h), 5e-4);
    }
}

static void gradients_are_the_differences(void)
{
    struct sequences s = sequences_new((int[]){5, 2, 0});
    struct scan_rows r = training_rows(&s);
    struct delta_case c = case_new(&s, (struct delta_heads){1, 2, 4, 3});

    memset(c.dqkv, 0, c.n * sizeof *c.dqkv); /* of what is between rows, too */
    case_back(&backend_ref, &c, &r);
    differences(&c, &r, c.qkv, c.dqkv, c.n);
    differences(&c, &r, c.decay, c.ddecay, c.gates);
    differences(&c, &r, c.beta, c.dbeta, c.gates);
    case_free(&c);
}

/* Copy rows of a case, mixed rows first .. first + n - 1. */
static struct delta_case mixed_case(const struct delta_case *c,
                                    const struct sequences *s, int first, int n)
{
    struct sequences part = {.rows = n, .n = s->n};
    struct delta_case m = case_new(&part, c->h);
    size_t row = (size_t)c->stride, gates = (size_t)c->h.value_heads;

    for (int i = 0; i < n; i++) {
        size_t from = (size_t)s->mixed[first + i], to = (size_t)i;

        memcpy(m.qkv + to * row, c->qkv + from * row, row * sizeof *m.qkv);
        memcpy(m.decay + to * gates, c->decay + from * gates, gates * sizeof *m.decay);
        memcpy(m.beta + to * gates, c->beta + from * gates, gates * sizeof *m.beta);
    }
    return m;
}

/* Calls of `cut` mixed rows against all rows of each sequence together. */
static void cut_rows(const struct backend *b, const struct sequences *s,
                     struct delta_case *c, int cut)
{
    size_t width = row_at(c->h.value_heads, c->h.value_dim);
    size_t states = (size_t)s->n * width * (size_t)c->h.key_dim;
    float *state = fill_new(states, 77);

    for (int i = 0, n; i < s->rows; i += n) {
        struct delta_case m;
        struct scan_rows r;

        n = s->rows - i < cut ? s->rows - i : cut;
        m = mixed_case(c, s, i, n);
        r = mixed_rows(s, i, n);
        case_forward(b, &m, &r, state);
        for (int k = 0; k < n; k++)
            CHECK(!memcmp(m.o + (size_t)k * width,
                          c->o + (size_t)s->mixed[i + k] * width, width * sizeof *m.o));
        case_free(&m);
    }
    CHECK(!memcmp(state, c->state, states * sizeof *state));
    free(state);
}

/* Invariants 4 and 5: a decode gives the bits of training, with and without states. */
static void inv4_rows_do_not_depend_on_the_cut(void)
{
    static const struct delta_heads shapes[] = {
        {1, 2, 5, 7}, {1, 1, 16, 144}, {2, 4, 128, 128}, {1, 1, 9, 48}};
    struct sequences s = sequences_new((int[]){20, 1, 3, 70, 17, 0});

    EACH(b)
    {
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            struct scan_rows r = training_rows(&s);
            struct delta_case c;

            if (b == &backend_ref && shapes[i].key_dim > 16)
                continue;
            c = case_new(&s, shapes[i]);
            case_forward(b, &c, &r, c.state);
            for (int cut = 1; cut < 128; cut = cut * 3 + 2)
                cut_rows(b, &s, &c, cut);
            case_forward(b, &c, &r, NULL);
            cut_rows(b, &s, &c, s.rows);
            case_free(&c);
        }
    }
}

/* A slot that is given to the next sequence within a call, as by a caller who numbers
 * all sequences alike: the same bits, forward and backward. */
static void a_slot_starts_again_at_position_0(void)
{
    struct sequences s = sequences_new((int[]){7, 9, 0}), same = s;
    struct delta_heads h = {1, 2, 20, 24};

    memset(same.slot, 0, sizeof same.slot);
    EACH(b)
    {
        struct delta_case want = case_new(&s, h), got = case_new(&s, h);
        struct scan_rows apart = training_rows(&s), one = training_rows(&same);

        case_forward(b, &want, &apart, want.state);
        case_back(b, &want, &apart);
        case_forward(b, &got, &one, got.state);
        case_back(b, &got, &one);
        CHECK(!memcmp(got.o, want.o, want.out * sizeof *want.o));
        CHECK(!memcmp(got.dqkv, want.dqkv, want.n * sizeof *want.dqkv));
        CHECK(!memcmp(got.ddecay, want.ddecay, want.gates * sizeof *want.ddecay));
        CHECK(!memcmp(got.state, want.state + 2 * 20 * 24,
                      sizeof(float) * 2 * 20 * 24)); /* the second sequence's */
        case_free(&want);
        case_free(&got);
    }
}

/* The gradient of a sequence does not depend on those beside it. */
static void gradients_do_not_depend_on_company(void)
{
    struct sequences s = sequences_new((int[]){40, 37, 0});

    EACH(b)
    {
        struct delta_case c = case_new(&s, (struct delta_heads){1, 2, 20, 24});
        struct scan_rows all = training_rows(&s), one = {37, s.slot + 40, s.pos + 40};
        struct delta_case part = c;
        float *dqkv = fill_new(c.n, 2);

        case_back(b, &c, &all);
        part.qkv += 40 * c.stride;
        part.dqkv = dqkv + 40 * c.stride;
        part.decay += 80;
        part.beta += 80;
        part.d_o += row_at(40, 48);
        case_back(b, &part, &one);
        CHECK(!memcmp(part.dqkv, c.dqkv + 40 * c.stride,
                      row_at(37, c.stride) * sizeof *dqkv));
        free(dqkv);
        case_free(&c);
    }
}

/* -- by transformers --------------------------------------------------------------- */

static float *numbers(const json_t *root, const char *name)
{
    const json_t *list = json_object_get(root, name);
    float *x = fill_new(json_array_size(list), 0);

    CHECK(json_array_size(list) > 0);
    for (size_t i = 0; i < json_array_size(list); i++)
        x[i] = (float)json_number_value(json_array_get(list, i));
    return x;
}

static int number(const json_t *root, const char *name)
{
    return (int)json_integer_value(json_object_get(root, name));
}

static void matches(const json_t *root, const char *name, const float *got)
{
    float *want = numbers(root, name);
    double gap = fill_gap(got, want, json_array_size(json_object_get(root, name)));

    if (!(gap < 5e-6))
        printf("%s is %g off\n", name, gap);
    CHECK_NEAR(gap, 0, 5e-6);
    free(want);
}

enum { ROOM = 512 };

/* A layer forward and backward, of tests/ref/make_delta.py. */
static void layer(const struct backend *b, const json_t *j)
{
    struct delta_heads h = {number(j, "key_heads"), number(j, "value_heads"),
                            number(j, "key_dim"), number(j, "value_dim")};
    int rows = number(j, "rows"), kernel = number(j, "kernel"), keys = key_width(&h);
    int cols = 2 * keys + h.value_heads * h.value_dim;
    struct scan_rows r = {rows, (int[ROOM]){0}, (int[]){0, 1, 2, 3, 4, 5, 6}};
    float y[ROOM], o[ROOM], state[ROOM] = {0}, conv[ROOM] = {0}, dy[ROOM], dx[ROOM];
    float beta[ROOM], decay[ROOM], ddecay[ROOM], dbeta[ROOM], da[ROOM], db[ROOM];
    float dw[ROOM] = {0}, dlog[ROOM] = {0}, dbias[ROOM] = {0};
    float *x = numbers(j, "x"), *w = numbers(j, "w"), *a = numbers(j, "a");
    float *z = numbers(j, "b"), *a_log = numbers(j, "a_log");
    float *dt = numbers(j, "dt_bias"), *d_o = numbers(j, "d_o");
    float *scratch = fill_new(b->delta_scratch(&r, &h), 0);
    struct fault f = FAULT_INIT;

    CHECK_INT(rows, 7);
    CHECK_OK(b->conv(y, x, w, conv, &r, cols, kernel, &f), &f);
    CHECK_OK(b->delta_gates(decay, beta, a, z, a_log, dt, rows, h.value_heads, &f), &f);
    CHECK_OK(
        b->delta(o, state, y, y + keys, y + 2 * keys, cols, decay, beta, &r, &h, &f),
        &f);
    CHECK_OK(b->delta_back(dy, dy + keys, dy + 2 * keys, ddecay, dbeta, d_o, y,
                           y + keys, y + 2 * keys, cols, decay, beta, &r, &h, scratch,
                           &f),
             &f);
    CHECK_OK(b->delta_gates_back(da, db, dlog, dbias, ddecay, dbeta, a, z, a_log, dt,
                                 rows, h.value_heads, &f),
             &f);
    CHECK_OK(b->conv_back(dx, dw, dy, x, w, &r, cols, kernel, &f), &f);
    {
        const struct {
            const char *name;
            const float *got;
        } all[] = {{"y", y},          {"decay", decay},   {"beta", beta},
                   {"o", o},          {"state", state},   {"d_y", dy},
                   {"d_x", dx},       {"d_w", dw},        {"d_a", da},
                   {"d_b", db},       {"d_a_log", dlog},  {"d_dt_bias", dbias},
                   {"d_beta", dbeta}, {"d_decay", ddecay}};

        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            matches(j, all[i].name, all[i].got);
    }
    {
        void *all[] = {x, w, a, z, a_log, dt, d_o, scratch};

        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            free(all[i]);
    }
}

static void a_layer_matches_transformers(void)
{
    json_t *j = json_load_file("tests/ref/delta.json", 0, NULL);

    CHECK(j != NULL);
    if (!j)
        return;
    EACH(b)
    {
        float *x = numbers(j, "turned");
        struct fault f = FAULT_INIT;

        layer(b, j);
        CHECK_OK(b->rope(x, (int[]){3, 500}, (float[]){1, 0.01f}, 1, 2, 1, 6, 4, 1, &f),
                 &f);
        matches(j, "rotated", x);
        free(x);
    }
    json_decref(j);
}

CASES(CASE(gates_by_hand), CASE(a_memory_by_hand), CASE(the_rule_agrees_with_ref),
      CASE(gradients_are_the_differences), CASE(inv4_rows_do_not_depend_on_the_cut),
      CASE(a_slot_starts_again_at_position_0), CASE(gradients_do_not_depend_on_company),
      CASE(a_layer_matches_transformers));
