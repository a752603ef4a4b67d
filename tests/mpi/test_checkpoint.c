/* test_checkpoint.c - checkpoints: bit for bit, another number of ranks, damage, which
 * is the newest, a full disk. */
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "dapo/clock.h"
#include "dapo/model.h"
#include "dapo/inspect.h"
#include "rundir.h"
#include "store/rundir.h"

#define N_STATE 3
#define N_TENSORS 2

/* Value i of array a (0 params, 1 and 2 moments) of a run's step: no two are alike, and
 * some are awkward. */
static float value(int64_t step, int a, int64_t i)
{
    static const float odd[] = {NAN, -0.0f, 1e-45f, INFINITY};

    if (i % 1000 < 4)
        return odd[i % 1000];
    static const float scale[BIG] = {1.0f, -1e-3f, 1e-6f, -3.0f};

    return (float)(i + 7 * step + 1) / 3.0f * scale[a];
}

struct made {
    struct checkpoint k;
    float *x[BIG];
    double state[N_STATE];
    struct model_tensor tensors[N_TENSORS];
};

/* Every other step's checkpoint also has the weights of before it. */
static int arrays_of(int64_t step)
{
    return step % 2 ? BIG - 1 : BIG;
}

/* Whole arrays on the learners; the other ranks bring params only. */
static void make(struct made *m, int64_t step, int64_t n)
{
    *m = (struct made){
        .state = {1.0 / 3, -0.0, 1e300},
        .tensors = {
            {.name = "model.embed_tokens.weight", .rows = 2, .cols = 3, .first = 0},
            {.name = "model.norm.weight",
             .rows = 1,
             .cols = 3,
             .vector = true,
             .first = 6}}};
    for (int a = 0; a < arrays_of(step); a++) {
        if (a > 0 && !comm_learns(check_comm))
            continue;
        m->x[a] = malloc((size_t)(n + 1) * sizeof(float));
        for (int64_t i = 0; i < n; i++)
            m->x[a][i] = value(step, a, i);
    }
    m->k = (struct checkpoint){.step = step,
                               .updates = 2 * step,
                               .cursor = 100 + step,
                               .n_params = n,
                               .params = m->x[0],
                               .moment1 = m->x[1],
                               .moment2 = m->x[2],
                               .previous = m->x[3],
                               .previous_updates = step % 2 ? -1 : 2 * step - 1,
                               .n_tensors = N_TENSORS,
                               .tensors = m->tensors,
                               .n_state = N_STATE,
                               .identity = identity(),
                               .config = "[run]\nseed = 42\n# caf\xc3\xa9\n"};
    m->k.state = m->state;
}

static void drop(struct made *m)
{
    for (int a = 0; a < BIG; a++)
        free(m->x[a]);
}

static void save(struct store *s, int64_t step, int64_t n)
{
    struct fault f = FAULT_INIT;
    struct made m;

    make(&m, step, n);
    CHECK_OK(store_checkpoint_all(s, &m.k, &f), &f);
    drop(&m);
}

/* Read a step back and compare every bit; returns the reader's code. */
static int load(struct store *s, int64_t step, int64_t n, struct fault *f)
{
    struct checkpoint k;
    struct identity id;
    double state[N_STATE] = {0};
    float *x[BIG] = {0};
    int64_t wrong = 0;
    int rc = store_checkpoint_head_all(s, step, &k, &id, f);

    if (rc)
        return rc;
    CHECK_INT(k.n_params, n);
    CHECK_INT(k.n_state, N_STATE);
    CHECK(!memcmp(&id, identity(), sizeof id));
    CHECK_INT(k.previous_updates, step % 2 ? -1 : 2 * step - 1);
    for (int a = 0; a < arrays_of(step); a++)
        if (a % 3 == 0 || comm_learns(check_comm))
            x[a] = calloc((size_t)n + 1, sizeof(float));
    k.params = x[0];
    k.moment1 = x[1];
    k.moment2 = x[2];
    k.previous = x[3];
    k.state = state;
    rc = store_checkpoint_read_all(s, step, &k, f);
    for (int a = 0; !rc && a < BIG; a++)
        for (int64_t i = 0; x[a] && i < n; i++) {
            float want = value(step, a, i);

            wrong += memcmp(&want, x[a] + i, sizeof want) != 0;
        }
    CHECK_INT(wrong, 0);
    if (!rc) {
        CHECK_INT(k.updates, 2 * step);
        CHECK_INT(k.cursor, 100 + step);
        CHECK(state[0] == 1.0 / 3 && signbit(state[1]) && state[2] == 1e300);
    }
    for (int a = 0; a < BIG; a++)
        free(x[a]);
    return rc;
}

/* Roles of this many learners, or as many as the job has ranks for. */
static void roles(int learners)
{
    struct fault f = FAULT_INIT;
    int most = comm_size(check_comm) > 1 ? comm_size(check_comm) - 1 : 1;

    CHECK_OK(comm_split_all(check_comm, learners < most ? learners : most, &f), &f);
}

static struct store *open_run(const char *name, int64_t piece, size_t call)
{
    struct fault f = FAULT_INIT;
    struct store *s = NULL;

    CHECK_OK(store_open_all(&s, check_comm, run_path(name), &f), &f);
    s->piece = piece;
    s->call = call;
    return s;
}

/* Sizes around the pieces, slices of many calls, an empty model. */
static void every_bit_comes_back(void)
{
    static const int64_t sizes[] = {0, 1, 99, 100, 101, 1000, 12345};
    struct fault f = FAULT_INIT;

    for (int learners = 1; learners <= 2; learners++) {
        struct store *s = open_run("bits", 100, 1200);
        char *text;

        roles(learners);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            save(s, (int64_t)i + 1, sizes[i]);
            CHECK_OK(load(s, (int64_t)i + 1, sizes[i], &f), &f);
        }
        CHECK_OK(store_checkpoint_config_all(s, 1, &text, &f), &f);
        CHECK_TEXT(text, "[run]\nseed = 42\n# caf\xc3\xa9\n");
        free(text);
        store_close_all(s);
    }
}

/* Written by two learners and read by one, and the other way round; before roles, rank
 * 0 writes. */
static void read_with_other_ranks(void)
{
    struct fault f = FAULT_INIT;
    struct store *s = open_run("others", 1000, 1 << 30);
    struct bytes two = {0}, one = {0};
    const char *path = run_path("others/checkpoints/step-000001.h5");

    roles(2);
    save(s, 1, 5500);
    if (root())
        CHECK_OK(file_read(path, 1 << 24, &two, &f), &f);
    roles(1);
    CHECK_OK(load(s, 1, 5500, &f), &f);
    s->serial = 0;
    save(s, 1, 5500);
    if (root()) {
        CHECK_OK(file_read(path, 1 << 24, &one, &f), &f);
        CHECK(one.len == two.len && !memcmp(one.data, two.data, one.len));
    }
    roles(2);
    CHECK_OK(load(s, 1, 5500, &f), &f);
    bytes_free(&one);
    bytes_free(&two);
    store_close_all(s);
}

/* One flipped bit anywhere is either without effect or refused by name: never another
 * number, never a crash. */
static void damage_is_found(void)
{
    const char *path = run_path("damage/checkpoints/step-000001.h5");
    struct store *s = open_run("damage", 64, 1 << 30);
    struct fault f = FAULT_INIT;
    struct stat st = {0};
    int64_t refused = 0, size = 0;

    roles(2);
    save(s, 1, 300);
    if (root() && !stat(path, &st))
        size = st.st_size;
    comm_bcast_all(check_comm, SCOPE_WORLD, &size, sizeof size);
    CHECK(size > 3600);
    for (int64_t at = 0; at < size; at += 173) {
        int rc;

        flip(path, (long)at, 1 << at % 8);
        rc = load(s, 1, 300, &f);
        CHECK(rc == 0 || (rc == FAULT_DATA && strstr(f.text, "step-000001.h5")));
        refused += rc != 0;
        flip(path, (long)at, 1 << at % 8);
    }
    CHECK(refused > 3600 / 173);
    CHECK_OK(load(s, 1, 300, &f), &f);
    store_close_all(s);
}

/* The values themselves: the sentence names the file and the dataset. */
static void damaged_values_are_named(void)
{
    const char *path = run_path("named/checkpoints/step-000002.h5");
    struct store *s = open_run("named", 1000, 1 << 30);
    struct fault f = FAULT_INIT;
    int64_t at = 0;

    roles(1);
    save(s, 2, 4000);
    if (root()) {
        hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        hid_t m = H5Dopen2(file, "/moment2", H5P_DEFAULT);

        at = (int64_t)H5Dget_offset(m) + 4 * 3999;
        H5Dclose(m);
        H5Fclose(file);
    }
    comm_bcast_all(check_comm, SCOPE_WORLD, &at, sizeof at);
    flip(path, (long)at, 1);
    CHECK_INT(load(s, 2, 4000, &f), FAULT_DATA);
    CHECK(strstr(f.text, "step-000002.h5") && strstr(f.text, "/moment2"));
    store_close_all(s);
}

/* Rank 0 replaces a file by something else. */
static void replace(const char *path, const void *data, size_t n)
{
    struct fault f = FAULT_INIT;

    if (root())
        CHECK_OK(file_publish(path, data, n, &f), &f);
    comm_barrier_all(check_comm);
}

static void torn_and_foreign_files_are_refused(void)
{
    const char *path = run_path("torn/checkpoints/step-000001.h5");
    struct store *s = open_run("torn", 1000, 1 << 30);
    struct fault f = FAULT_INIT;
    struct bytes whole = {0};
    static const double cut[] = {0, 0.001, 0.1, 0.5, 0.9, 0.9999};

    roles(1);
    save(s, 1, 4000);
    if (root())
        CHECK_OK(file_read(path, 1 << 24, &whole, &f), &f);
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        replace(path, whole.data, (size_t)((double)whole.len * cut[i]));
        CHECK_INT(load(s, 1, 4000, &f), FAULT_DATA);
        CHECK(strstr(f.text, path));
    }
    replace(path, "#!/bin/sh\n", 10);
    CHECK_INT(load(s, 1, 4000, &f), FAULT_DATA);
    if (root()) { /* HDF5, but not ours */
        H5Fclose(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    }
    comm_barrier_all(check_comm);
    CHECK_INT(load(s, 1, 4000, &f), FAULT_DATA);
    CHECK(strstr(f.text, "has no attribute 'schema'"));
    CHECK_INT(load(s, 77, 4000, &f), FAULT_FILE);
    replace(run_path("torn/checkpoints/step-000009.h5"), whole.data, whole.len);
    CHECK_INT(load(s, 9, 4000, &f), FAULT_DATA);
    bytes_free(&whole);
    store_close_all(s);
}

/* The same file with one attribute changed. */
static void set_i64(const char *path, const char *name, int64_t v)
{
    if (root()) {
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        hid_t a = H5Aopen(file, name, H5P_DEFAULT);

        CHECK(H5Awrite(a, H5T_NATIVE_INT64, &v) >= 0);
        H5Aclose(a);
        H5Fclose(file);
    }
    comm_barrier_all(check_comm);
}

static void wrong_heads_are_refused(void)
{
    static const struct {
        const char *name, *says;
        int64_t value, good;
    } t[] = {{"schema", "schema 99", 99, STORE_SCHEMA},
             {"complete", "not complete", 0, 1},
             {"checksum_values", "out of range", 0, 1000},
             {"checksum_values", "disagree", 1, 1000},
             {"step", "out of range", -1, 1},
             {"cursor", "head is damaged", 102, 101}};
    const char *path = run_path("heads/checkpoints/step-000001.h5");
    struct store *s = open_run("heads", 1000, 1 << 30);
    struct fault f = FAULT_INIT;
    struct made m;

    roles(1);
    save(s, 1, 4000);
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        set_i64(path, t[i].name, t[i].value);
        CHECK_INT(load(s, 1, 4000, &f), FAULT_DATA);
        CHECK(strstr(f.text, t[i].says));
        set_i64(path, t[i].name, t[i].good);
    }
    CHECK_OK(load(s, 1, 4000, &f), &f);
    make(&m, 1, 3999); /* a model of another size */
    CHECK_INT(store_checkpoint_read_all(s, 1, &m.k, &f), FAULT_DATA);
    CHECK(strstr(f.text, "4000") && strstr(f.text, "3999"));
    drop(&m);
    store_close_all(s);
}

static void bad_checkpoints_are_bugs(void)
{
    struct store *s = open_run("bugs", 1000, 1 << 30);
    struct fault f = FAULT_INIT;
    struct made m;

    roles(2);
    make(&m, 1, 50);
    if (comm_rank(check_comm) == comm_learners(check_comm) - 1)
        m.k.moment2 = NULL;
    CHECK_INT(store_checkpoint_all(s, &m.k, &f), FAULT_BUG);
    CHECK(!exists(run_path("bugs/checkpoints/step-000001.h5")));
    drop(&m);
    store_close_all(s);
}

static int64_t latest(struct store *s)
{
    struct fault f = FAULT_INIT;
    int64_t step = -2;

    CHECK_OK(store_latest_all(s, &step, &f), &f);
    return step;
}

/* Newest means written last: going back to step 2 makes 3' newer than 4. */
static void newest_is_the_last_written(void)
{
    struct store *s = open_run("latest", 1000, 1 << 30);
    const char *named = run_path("latest/checkpoints/latest");
    struct bytes text = {0};
    struct fault f = FAULT_INIT;

    roles(1);
    CHECK_INT(latest(s), -1);
    save(s, 2, 50);
    save(s, 4, 50);
    CHECK_INT(latest(s), 4);
    store_close_all(s);
    s = open_run("latest", 1000, 1 << 30);
    save(s, 3, 50);
    CHECK_INT(latest(s), 3);
    if (root())
        CHECK_OK(file_read(named, 99, &text, &f), &f);
    if (root())
        CHECK_TEXT(text.data, "step-000003.h5\n");
    replace(run_path("latest/checkpoints/step-000003.h5"), "torn", 4);
    CHECK_INT(latest(s), 4);
    replace(named, "../../etc/passwd", 16);
    CHECK_INT(latest(s), 4);
    bytes_free(&text);
    store_close_all(s);
}

static void retention_keeps_the_newest(void)
{
    struct store *s = open_run("retain", 1000, 1 << 30);
    struct fault f = FAULT_INIT;

    roles(1);
    for (int64_t step = 1; step <= 5; step++)
        save(s, step * 10, 50);
    CHECK_OK(store_retain_all(s, 0, 0, &f), &f);
    CHECK(exists(run_path("retain/checkpoints/step-000010.h5")));
    CHECK_OK(store_retain_all(s, 2, 0, &f), &f);
    CHECK(!exists(run_path("retain/checkpoints/step-000030.h5")));
    CHECK(exists(run_path("retain/checkpoints/step-000040.h5")));
    CHECK_OK(load(s, 50, 50, &f), &f);
    CHECK_OK(store_retain_all(s, 2, 0, &f), &f);
    CHECK_OK(load(s, 40, 50, &f), &f);
    /* One that was whole and is no more does not count. */
    replace(run_path("retain/checkpoints/step-000050.h5"), "torn", 4);
    save(s, 60, 50);
    CHECK_OK(store_retain_all(s, 2, 0, &f), &f);
    CHECK_OK(load(s, 40, 50, &f), &f);
    for (int64_t step = 7; step <= 9; step++)
        save(s, step * 10, 50);
    CHECK_OK(store_retain_all(s, 1, 20, &f), &f); /* the newest, 40, 60, 80 */
    CHECK(!exists(run_path("retain/checkpoints/step-000070.h5")));
    for (int64_t step = 4; step <= 9; step++)
        if (step % 2 == 0 || step == 9)
            CHECK_OK(load(s, step * 10, 50, &f), &f);
    store_close_all(s);
}

/* "TMP/name", on rank 0 alone. */
static const char *here(const char *name)
{
    static char path[8][512];
    static int next;
    char *p = path[next++ % 8];

    snprintf(p, sizeof path[0], "%s/%s", check_tmp(), name);
    return p;
}

static void retain_meanwhile(size_t done, size_t all, const char *file)
{
    (void)done, (void)all;
    if (strcmp(file, "checkpoints/step-000010.h5"))
        return;
    CHECK(!unlink(here("moving/checkpoints/step-000010.h5")));
    CHECK(!unlink(here("moving/checkpoints/step-000020.h5")));
    CHECK(!rename(here("moving/later"), here("moving/checkpoints/step-000030.h5")));
}

/* Nothing is damaged where a job replaces checkpoints while they are looked at. */
static void a_job_at_work_is_no_damage(void)
{
    struct store *s = open_run("moving", 1000, 1 << 30);
    struct inspect_findings x;
    struct fault f = FAULT_INIT;
    size_t warned = 0;

    roles(1);
    for (int64_t step = 1; step <= 3; step++)
        save(s, step * 10, 9); /* as the table of tensors has it */
    store_close_all(s);
    if (!root())
        return;
    CHECK(!rename(here("moving/checkpoints/step-000030.h5"), here("moving/later")));
    CHECK_OK(inspect_check_run(&x, here("moving"), retain_meanwhile, &f), &f);
    CHECK_INT(x.resumes, 30);
    for (size_t i = 0; i < x.n; i++) {
        CHECK(x.item[i].level != INSPECT_DAMAGED);
        warned += strstr(x.item[i].text, "has gone meanwhile") != NULL;
    }
    CHECK_INT(warned, 2);
    inspect_findings_free(&x);
}

/* What a killed run leaves is removed when a run is opened to be gone on with, and left
 * alone when it is opened to be looked at. */
static void leftovers_are_swept(void)
{
    struct store *s = open_run("sweep", 1000, 1 << 30);
    const char *left = run_path("sweep/checkpoints/step-000002.h5.tmp");
    const char *dir = run_path("sweep");
    struct fault f = FAULT_INIT;

    roles(1);
    save(s, 1, 50);
    store_close_all(s);
    replace(left, "half", 4);
    CHECK_OK(store_view_all(&s, check_comm, dir, &f), &f);
    CHECK(exists(left));
    CHECK_INT(latest(s), 1);
    store_close_all(s);
    CHECK_OK(store_open_all(&s, check_comm, dir, &f), &f);
    CHECK(!exists(left));
    CHECK_INT(latest(s), 1);
    store_close_all(s);
}

/* No file may grow over 32 KiB: what a full disk looks like to a writer. */
static void full_disk_is_one_sentence(void)
{
    struct store *s = open_run("full", 1000, 1 << 30);
    struct rlimit old, small;
    struct fault f = FAULT_INIT;
    struct made m;

    roles(2);
    save(s, 1, 50);
    make(&m, 2, 20000);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){.rlim_cur = 32768, .rlim_max = old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK_INT(store_checkpoint_all(s, &m.k, &f), FAULT_FILE);
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK(strstr(f.text, "step-000002.h5") && strstr(f.text, "no room"));
    CHECK(!exists(run_path("full/checkpoints/step-000002.h5")));
    CHECK(!exists(run_path("full/checkpoints/step-000002.h5.tmp")));
    CHECK_INT(latest(s), 1);
    CHECK_OK(load(s, 1, 50, &f), &f);
    CHECK_OK(store_checkpoint_all(s, &m.k, &f), &f); /* room again */
    drop(&m);
    store_close_all(s);
}

/* For tests/cli/test_kill.sh: a disk that fails in the middle of a collective write
 * ends the job with a sentence; it must not hang. */
static void writes_past_a_limit(void)
{
    const char *dir = getenv("DAPO_TEST_LIMIT");
    struct rlimit small = {.rlim_cur = 100000, .rlim_max = 100000};
    struct fault f = FAULT_INIT;
    struct store *s;

    if (!dir)
        return;
    roles(1);
    CHECK_OK(store_open_all(&s, check_comm, dir, &f), &f);
    s->reserve = false;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    save(s, 1, 20000);
    CHECK_TEXT("it was written", "the job ended");
}

/* The same script kills this one: write until then. */
static void writes_until_killed(void)
{
    const char *dir = getenv("DAPO_TEST_KILL"), *count = getenv("DAPO_TEST_KILL_COUNT");
    int left = count ? (int)strtol(count, NULL, 10) : 1000;
    struct fault f = FAULT_INIT;
    struct store *s;
    int64_t step;

    if (!dir)
        return;
    roles(1);
    CHECK_OK(store_open_all(&s, check_comm, dir, &f), &f);
    s->piece = 1000;
    step = latest(s);
    if (step >= 0)
        CHECK_OK(load(s, step, 100000, &f), &f);
    while (left-- > 0)
        save(s, ++step, 100000);
    CHECK_INT(latest(s), step);
    store_close_all(s);
}

CASES_MPI(CASE(every_bit_comes_back), CASE(read_with_other_ranks),
          CASE(damage_is_found), CASE(damaged_values_are_named),
          CASE(torn_and_foreign_files_are_refused), CASE(wrong_heads_are_refused),
          CASE(bad_checkpoints_are_bugs), CASE(newest_is_the_last_written),
          CASE(retention_keeps_the_newest), CASE(a_job_at_work_is_no_damage),
          CASE(leftovers_are_swept), CASE(full_disk_is_one_sentence),
          CASE(writes_past_a_limit), CASE(writes_until_killed));
