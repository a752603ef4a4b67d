/* test_store.c - step files: every value back, order without ranks, the ledger, the
 * index. */
#include <hdf5.h>
#include <inttypes.h>
#include <math.h>

#include "dapo/model.h"
#include "rundir.h"
#include "store/rundir.h"

#define GROUPS 11
#define SIZE 3
/* hash of the content of the step file of these groups */
#define CONTENT -2920115560281707204LL

/* Awkward on purpose: empty completions, 1/3, answers of every kind, a group without
 * members. */
static struct group *make_group(int64_t i)
{
    static const char *const answers[] = {"1/3", NULL, "", "\xcf\x80 r^2", "42"};
    struct fault f = FAULT_INIT;
    int prompt[] = {1, 2, 3};
    struct group *g =
        group_new(i, 1000 - i, prompt, (int)(i % 4), i == 7 ? 0 : SIZE, &f);

    if (!g)
        abort();
    g->policy_version = 40 + i % 2;
    g->replica = (int)(i % 5);
    g->fate = (enum fate)(i % FATE_COUNT);
    g->started_s = (double)i / 3;
    g->finished_s = (double)i / 3 + 0.1;
    for (int m = 0; m < g->size; m++) {
        struct completion *c = g->members + m;
        const char *answer = answers[(i + m) % 5];
        int n = (int)((i * 7 + m * 3) % 6);

        for (int t = 0; t < n; t++)
            if (completion_add(c, (int)(i * 1000 + m * 100 + t), -(float)(t + 1) / 3.0f,
                               &f))
                abort();
        c->finish = (enum finish)(1 + (i + m) % 4);
        c->correct = (i + m) % 2;
        c->answer_found = answer != NULL;
        c->verdict = (enum verdict_kind)((i + m) % VERDICT_COUNT);
        c->answer = answer ? strdup(answer) : NULL;
        c->answer_offset = answer ? 10 * i + m : -1;
        c->raw_reward = c->correct ? 1 : -1;
        c->length_penalty = -1.0 / 3;
        c->shaped_reward = c->raw_reward + c->length_penalty;
        c->advantage = m == 2 ? -0.0 : (double)m / 7;
    }
    return g;
}

/* Who holds candidate i. */
typedef int owner(int64_t i, int ranks);
static int owner_dealt(int64_t i, int ranks)
{
    return (int)(i % ranks);
}
static int owner_last(int64_t i, int ranks)
{
    (void)i;
    return ranks - 1;
}
static int owner_reversed(int64_t i, int ranks)
{
    return (int)((GROUPS - 1 - i) * ranks / GROUPS);
}

static const struct metric metrics[] = {
    {"rollout/effective_fill_ratio", 1.0 / 3},
    {"rollout/accuracy", NAN},
    {"time/step_seconds", 1e300},
    {"plain", -0.0},
    {"deep/er/name", 4.9406564584124654e-324},
};
#define METRICS ((int)(sizeof metrics / sizeof metrics[0]))

struct made {
    struct group *group[GROUPS]; /* this rank's, in descending order */
    struct step_record record;
};

static void make_step(struct made *m, int64_t step, int groups, owner *who)
{
    *m = (struct made){.record = {.step = step,
                                  .policy_version = 41,
                                  .closed_by = "full",
                                  .identity = identity(),
                                  .n_metrics = METRICS,
                                  .metrics = metrics}};
    for (int64_t i = groups - 1; i >= 0; i--) {
        struct group *g = make_group(i);

        m->record.ledger_tokens[g->fate] += group_tokens(g);
        m->record.ledger_seconds[g->fate] += 0.25;
        if (who(i, comm_size(check_comm)) == comm_rank(check_comm))
            m->group[m->record.n_groups++] = g;
        else
            group_free(g);
    }
    m->record.groups = (const struct group *const *)m->group;
}

static void free_step(struct made *m)
{
    for (int i = 0; i < m->record.n_groups; i++)
        group_free(m->group[i]);
}

/* Rank 0: a whole dataset; *n items. */
static void *read_all(const char *path, const char *name, hid_t type, size_t width,
                      size_t *n)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t data_set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(data_set);
    hssize_t items = H5Sget_simple_extent_npoints(space);
    char *out;

    CHECK(items >= 0);
    *n = items > 0 ? (size_t)items : 0;
    out = calloc(*n + 1, width);
    CHECK(H5Dread(data_set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
    H5Sclose(space);
    H5Dclose(data_set);
    H5Fclose(file);
    return out;
}

static const char *const int_columns[] = {"/candidates/index",
                                          "/candidates/prompt_id",
                                          "/candidates/fate",
                                          "/candidates/n_correct",
                                          "/candidates/n_tokens",
                                          "/candidates/n_prompt",
                                          "/candidates/policy_version",
                                          "/candidates/replica",
                                          "/completions/candidate",
                                          "/completions/member",
                                          "/completions/n_tokens",
                                          "/completions/correct",
                                          "/completions/finish_reason",
                                          "/completions/answer_found",
                                          "/completions/answer_offset",
                                          "/completions/verdict",
                                          "/tokens/completion_offset",
                                          "/answers/completion_offset",
                                          "/ledger/tokens"};
static const char *const real_columns[] = {"/candidates/started_s",
                                           "/candidates/finished_s",
                                           "/completions/raw_reward",
                                           "/completions/length_penalty",
                                           "/completions/shaped_reward",
                                           "/completions/advantage",
                                           "/ledger/seconds",
                                           "/metrics/rollout/effective_fill_ratio",
                                           "/metrics/rollout/accuracy",
                                           "/metrics/time/step_seconds",
                                           "/metrics/plain",
                                           "/metrics/deep/er/name"};
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* A hash of everything in a step file. */
static unsigned long long content(const char *path)
{
    unsigned long long h = 0;
    size_t n;
    char *x;

    for (size_t i = 0; i < COUNT(int_columns); i++) {
        hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        hid_t data_set = H5Dopen2(file, int_columns[i], H5P_DEFAULT);
        hid_t type = H5Dget_type(data_set); /* an enumeration reads as itself only */

        x = read_all(path, int_columns[i], type, 8, &n);
        h = hash64(x, n * 8, h);
        free(x);
        H5Tclose(type);
        H5Dclose(data_set);
        H5Fclose(file);
    }
    for (size_t i = 0; i < COUNT(real_columns); i++) {
        x = read_all(path, real_columns[i], H5T_NATIVE_DOUBLE, 8, &n);
        h = hash64(x, n * 8, h);
        free(x);
    }
    x = read_all(path, "/tokens/ids", H5T_NATIVE_INT, 4, &n);
    h = hash64(x, n * 4, h);
    free(x);
    x = read_all(path, "/tokens/logprobs", H5T_NATIVE_FLOAT, 4, &n);
    h = hash64(x, n * 4, h);
    free(x);
    x = read_all(path, "/answers/bytes", H5T_NATIVE_UCHAR, 1, &n);
    h = hash64(x, n, h);
    free(x);
    return h;
}

static int64_t int_at(const char *path, const char *name, size_t i)
{
    size_t n;
    int64_t *x = read_all(path, name, H5T_NATIVE_INT64, 8, &n), v = -99;

    CHECK(i < n);
    if (i < n)
        v = x[i];
    free(x);
    return v;
}

static void check_tokens(const char *path)
{
    size_t n_ids, n_lp, n_off, n_bytes, n_ans, row = 0;
    int *ids = read_all(path, "/tokens/ids", H5T_NATIVE_INT, 4, &n_ids);
    float *lp = read_all(path, "/tokens/logprobs", H5T_NATIVE_FLOAT, 4, &n_lp);
    int64_t *off =
        read_all(path, "/tokens/completion_offset", H5T_NATIVE_INT64, 8, &n_off);
    char *bytes = read_all(path, "/answers/bytes", H5T_NATIVE_UCHAR, 1, &n_bytes);
    int64_t *ans =
        read_all(path, "/answers/completion_offset", H5T_NATIVE_INT64, 8, &n_ans);

    CHECK_INT(n_off, (GROUPS - 1) * SIZE + 1);
    CHECK_INT(n_ans, n_off);
    CHECK_INT(n_lp, n_ids);
    CHECK_INT(off[n_off - 1], n_ids);
    CHECK_INT(ans[n_ans - 1], n_bytes);
    for (int64_t i = 0; i < GROUPS; i++) {
        struct group *g = make_group(i);

        for (int m = 0; m < g->size; m++, row++) {
            const struct completion *c = g->members + m;
            size_t len = c->answer ? strlen(c->answer) : 0;

            CHECK_INT(off[row + 1] - off[row], c->n_tokens);
            CHECK(!c->n_tokens ||
                  !memcmp(ids + off[row], c->ids, 4u * (size_t)c->n_tokens));
            CHECK(!c->n_tokens ||
                  !memcmp(lp + off[row], c->logprobs, 4u * (size_t)c->n_tokens));
            CHECK_INT(ans[row + 1] - ans[row], len);
            CHECK(!len || !memcmp(bytes + ans[row], c->answer, len));
        }
        group_free(g);
    }
    free(ids);
    free(lp);
    free(off);
    free(bytes);
    free(ans);
}

static void check_rows(const char *path)
{
    size_t row = 0, n;
    double *started = read_all(path, "/candidates/started_s", H5T_NATIVE_DOUBLE, 8, &n);
    double *advantage =
        read_all(path, "/completions/advantage", H5T_NATIVE_DOUBLE, 8, &n);
    double *fill = read_all(path, "/metrics/rollout/effective_fill_ratio",
                            H5T_NATIVE_DOUBLE, 8, &n);
    double *nan = read_all(path, "/metrics/rollout/accuracy", H5T_NATIVE_DOUBLE, 8, &n);

    CHECK_INT(n, 1);
    CHECK(fill[0] == 1.0 / 3 && isnan(nan[0]));
    for (int64_t i = 0; i < GROUPS; i++) {
        struct group *g = make_group(i);

        CHECK_INT(int_at(path, "/candidates/index", (size_t)i), i);
        CHECK_INT(int_at(path, "/candidates/prompt_id", (size_t)i), 1000 - i);
        CHECK_INT(int_at(path, "/candidates/n_prompt", (size_t)i), i % 4);
        CHECK_INT(int_at(path, "/candidates/n_tokens", (size_t)i), group_tokens(g));
        CHECK_INT(int_at(path, "/candidates/n_correct", (size_t)i), group_correct(g));
        CHECK_INT(int_at(path, "/candidates/policy_version", (size_t)i), 40 + i % 2);
        CHECK_INT(int_at(path, "/candidates/replica", (size_t)i), i % 5);
        CHECK(started[i] == g->started_s);
        for (int m = 0; m < g->size; m++, row++) {
            const struct completion *c = g->members + m;

            CHECK_INT(int_at(path, "/completions/candidate", row), i);
            CHECK_INT(int_at(path, "/completions/member", row), m);
            CHECK_INT(int_at(path, "/completions/correct", row), c->correct);
            CHECK_INT(int_at(path, "/completions/verdict", row), (i + m) % 6);
            CHECK_INT(int_at(path, "/completions/answer_offset", row),
                      c->answer_offset);
            CHECK(!memcmp(advantage + row, &c->advantage, 8)); /* -0.0 too */
        }
        group_free(g);
    }
    free(started);
    free(advantage);
    free(fill);
    free(nan);
}

/* Enumerations carry their names; the root says what the file is. */
static void check_head(const char *path)
{
    struct h5 h = H5_INIT;
    hid_t file = h5_keep(&h, H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT));
    hid_t fate = h5_keep(&h, H5Dopen2(file, "/candidates/fate", H5P_DEFAULT));
    hid_t type = h5_keep(&h, H5Dget_type(fate));
    struct identity id;
    char text[32] = "";
    int64_t value = FATE_SURPLUS;
    struct fault f = FAULT_INIT;

    CHECK(H5Tenum_nameof(type, &value, text, sizeof text) >= 0);
    CHECK_TEXT(text, "surplus");
    read_identity(&h, file, "step", &id);
    CHECK(!memcmp(&id, identity(), sizeof id));
    CHECK_INT(h5_get_i64(&h, file, "schema"), STORE_SCHEMA);
    CHECK_INT(h5_get_i64(&h, file, "step"), 3);
    CHECK_INT(h5_get_i64(&h, file, "policy_version"), 41);
    CHECK_INT(h5_get_i64(&h, file, "complete"), 1);
    h5_get_text(&h, file, "closed_by", text, sizeof text);
    CHECK_TEXT(text, "full");
    CHECK_OK(h5_end(&h, path, &f), &f);
}

/* Invariant 8.  tests/cli/test_analysis.sh keeps the file to read it by other means. */
static void invariant_8_every_value_comes_back(void)
{
    const char *keep = getenv("DAPO_TEST_KEEP"),
               *dir = keep ? keep : run_path("values");
    char path[600], tmp[608];
    struct fault f = FAULT_INIT;
    struct store *s;
    struct made m;

    snprintf(path, sizeof path, "%s/rollouts/step-000003.h5", dir);
    snprintf(tmp, sizeof tmp, "%s.tmp", path);
    CHECK_OK(store_open_all(&s, check_comm, dir, &f), &f);
    s->window = 64; /* many rounds */
    make_step(&m, 3, GROUPS, owner_dealt);
    CHECK_OK(store_step_all(s, &m.record, &f), &f);
    CHECK(!exists(tmp));
    if (root()) {
        check_tokens(path);
        check_rows(path);
        check_head(path);
    }
    free_step(&m);
    store_close_all(s);
}

/* The same bytes whoever holds what and however it is cut; the hash of the content,
 * being a constant, says so across rank counts. */
static void file_does_not_depend_on_ranks(void)
{
    static owner *const owners[] = {owner_dealt, owner_last, owner_reversed};
    static const size_t windows[] = {64, 1 << 20, 200};
    const char *path = run_path("ranks/rollouts/step-000001.h5");
    struct bytes first = {0}, now = {0};
    struct fault f = FAULT_INIT;
    struct store *s;

    CHECK_OK(store_open_all(&s, check_comm, run_path("ranks"), &f), &f);
    for (size_t i = 0; i < COUNT(owners); i++) {
        struct made m;

        s->window = windows[i];
        make_step(&m, 1, GROUPS, owners[i]);
        CHECK_OK(store_step_all(s, &m.record, &f), &f);
        if (root()) {
            CHECK_INT((long long)content(path), CONTENT);
            CHECK_OK(file_read(path, 1 << 24, i ? &now : &first, &f), &f);
            CHECK(i == 0 ||
                  (now.len == first.len && !memcmp(now.data, first.data, now.len)));
            bytes_free(&now);
        }
        free_step(&m);
    }
    bytes_free(&first);
    store_close_all(s);
}

static void a_step_without_groups(void)
{
    const char *path = run_path("empty/rollouts/step-000001.h5");
    struct fault f = FAULT_INIT;
    struct store *s;
    struct made m;
    size_t n;

    CHECK_OK(store_open_all(&s, check_comm, run_path("empty"), &f), &f);
    make_step(&m, 1, 0, owner_dealt);
    m.record.n_metrics = 0;
    CHECK_OK(store_step_all(s, &m.record, &f), &f);
    if (root()) {
        free(read_all(path, "/tokens/ids", H5T_NATIVE_INT, 4, &n));
        CHECK_INT(n, 0);
        CHECK_INT(int_at(path, "/tokens/completion_offset", 0), 0);
    }
    store_close_all(s);
}

static void invariant_1_unbalanced_ledger_is_refused(void)
{
    struct fault f = FAULT_INIT;
    struct store *s;
    struct made m;

    CHECK_OK(store_open_all(&s, check_comm, run_path("ledger"), &f), &f);
    make_step(&m, 1, GROUPS, owner_dealt);
    m.record.ledger_tokens[FATE_SURPLUS]++;
    CHECK_INT(store_step_all(s, &m.record, &f), FAULT_BUG);
    CHECK(strstr(f.text, "surplus") && strstr(f.text, "ledger"));
    CHECK(!exists(run_path("ledger/rollouts/step-000001.h5")));
    CHECK(!exists(run_path("ledger/rollouts/step-000001.h5.tmp")));
    free_step(&m);
    store_close_all(s);
}

/* Each says the same sentence on all ranks, wherever the fault is. */
static void bad_groups_are_refused(void)
{
    static const struct metric odd = {.name = "../up"};
    const char *path = run_path("bad/rollouts/step-000001.h5");
    struct fault f = FAULT_INIT;
    struct store *s;
    struct made m;

    CHECK_OK(store_open_all(&s, check_comm, run_path("bad"), &f), &f);
    for (int what = 0; what < 4; what++) {
        make_step(&m, 1, GROUPS, owner_dealt);
        if (m.record.n_groups && comm_rank(check_comm) == comm_size(check_comm) - 1) {
            struct group *g = m.group[0];

            if (what == 0)
                g->fate = FATE_COUNT;
            else if (what == 1)
                g->index = m.group[1]->index;
            else if (what == 2)
                g->members[0].finish = (enum finish)99;
        }
        if (what == 3) {
            m.record.metrics = &odd;
            m.record.n_metrics = 1;
        }
        CHECK_INT(store_step_all(s, &m.record, &f), FAULT_BUG);
        CHECK(f.text[0] != '\0');
        CHECK(!exists(path));
        free_step(&m);
    }
    store_close_all(s);
}

/* A folder that is gone, a step that can't be named. */
static void failures_are_one_sentence(void)
{
    const char *folder = run_path("gone/rollouts");
    struct fault f = FAULT_INIT;
    struct store *s;
    struct made m;

    CHECK_OK(store_open_all(&s, check_comm, run_path("gone"), &f), &f);
    make_step(&m, 1, GROUPS, owner_dealt);
    if (root())
        CHECK_INT(rmdir(folder), 0);
    comm_barrier_all(check_comm);
    CHECK_INT(store_step_all(s, &m.record, &f), FAULT_FILE);
    CHECK(strstr(f.text, "step-000001.h5") && strstr(f.text, "created"));
    m.record.step = -1;
    CHECK_INT(store_step_all(s, &m.record, &f), FAULT_BUG);
    free_step(&m);
    store_close_all(s);
    CHECK_INT(store_view_all(&s, check_comm, run_path("nothing"), &f), FAULT_FILE);
    CHECK(s == NULL && !exists(run_path("nothing")));
}

static void write_steps(struct store *s, const int64_t *steps, size_t n)
{
    struct fault f = FAULT_INIT;

    for (size_t i = 0; i < n; i++) {
        struct metric two[] = {{"step/number", (double)steps[i]},
                               {"sometimes", 1.0 / 3}};
        struct made m;

        make_step(&m, steps[i], 2, owner_dealt);
        m.record.metrics = two;
        m.record.n_metrics = i % 2 ? 2 : 1;
        CHECK_OK(store_step_all(s, &m.record, &f), &f);
        free_step(&m);
    }
}

/* Steps in order, holes as NaN, links that open, damaged and foreign files left out. */
static void index_is_a_table_of_the_steps(void)
{
    static const int64_t steps[] = {2, 10, 7};
    const char *path = run_path("index/run.h5");
    struct fault f = FAULT_INIT;
    struct store *s;
    double *number = NULL, *sometimes = NULL;
    size_t n;

    CHECK_OK(store_open_all(&s, check_comm, run_path("index"), &f), &f);
    write_steps(s, steps, 3);
    CHECK_OK(store_index_all(s, &f), &f);
    CHECK_OK(store_index_all(s, &f), &f); /* at will */
    if (root()) {
        CHECK_INT(int_at(path, "/step", 0), 2);
        CHECK_INT(int_at(path, "/step", 1), 7);
        CHECK_INT(int_at(path, "/step", 2), 10);
        number = read_all(path, "/metrics/step/number", H5T_NATIVE_DOUBLE, 8, &n);
        sometimes = read_all(path, "/metrics/sometimes", H5T_NATIVE_DOUBLE, 8, &n);
        CHECK_INT(n, 3);
        CHECK(number[0] == 2 && number[1] == 7 && number[2] == 10);
        CHECK(isnan(sometimes[0]) && isnan(sometimes[1]) && sometimes[2] == 1.0 / 3);
        CHECK_INT(int_at(path, "/steps/000007/candidates/index", 1), 1);
    }
    flip(run_path("index/rollouts/step-000007.h5"), 9, 0xff); /* its superblock */
    CHECK_OK(store_index_all(s, &f), &f);
    if (root()) {
        free(read_all(path, "/step", H5T_NATIVE_INT64, 8, &n));
        CHECK_INT(n, 2);
        free(number);
        free(sometimes);
    }
    store_close_all(s);
}

/* A directory is one job's to write into, anyone's to read. */
static void a_second_job_is_kept_out(void)
{
    const char *dir = run_path("locked");
    struct store *first, *second;
    struct fault f = FAULT_INIT;

    CHECK_OK(store_open_all(&first, check_comm, dir, &f), &f);
    CHECK_INT(store_open_all(&second, check_comm, dir, &f), FAULT_FILE);
    CHECK(!second && strstr(f.text, "another job is writing into this run (process "));
    f = (struct fault)FAULT_INIT;
    CHECK_OK(store_view_all(&second, check_comm, dir, &f), &f);
    store_close_all(second);
    store_close_all(first);
    CHECK_OK(store_open_all(&second, check_comm, dir, &f), &f);
    store_close_all(second);
}

CASES_MPI(CASE(invariant_8_every_value_comes_back), CASE(file_does_not_depend_on_ranks),
          CASE(a_step_without_groups), CASE(invariant_1_unbalanced_ledger_is_refused),
          CASE(bad_groups_are_refused), CASE(failures_are_one_sentence),
          CASE(index_is_a_table_of_the_steps), CASE(a_second_job_is_kept_out));
