/* bench_ticks.c - what admission over ticks costs a step, by the number of ranks.
 *
 * Alone, it prepares the demo's task and starts itself under mpirun; each start runs
 * the generation of some steps exactly as a training job does, with the demo's model at
 * random weights, whose completions nearly all reach rollout.max_tokens.  Measured are
 * the CPU seconds inside ticks and admission at the root and inside ticks at each
 * leader, against the seconds of the generation (a whole step is longer), and which
 * part of these the replicas spend decoding.  Goal: under 1%. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "dapo/log.h"
#include "dapo/train.h"
#include "measure.h"
#include "train/carry.h"
#include "train/leader.h"
#include "train/root.h"

enum { BENCH_STEPS = 5 };

/* -- alone --------------------------------------------------------------------------
 */

static const char default_mpirun[] = "mpirun --allow-run-as-root --oversubscribe "
                                     "--mca mpi_yield_when_idle 1";

static bool shell(const char *command)
{
    int status = system(command);
    bool ok = status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;

    if (!ok)
        fprintf(stderr, "bench_ticks: failed: %s\n", command);
    return ok;
}

static int start_all_sizes(const char *self)
{
    const char *mpirun = getenv("MPIRUN");
    char dir[] = "/tmp/bench_ticks_XXXXXX", command[1024];
    bool ok;

    if (!mkdtemp(dir))
        return 1;
    snprintf(command, sizeof command,
             "bin/dapo prepare --task arithmetic --out %s --seed 1 --train 400 "
             "--eval 10 --sft 10 --model %s/model >/dev/null",
             dir, dir);
    ok = shell(command);
    for (int ranks = 2; ok && ranks <= 32; ranks *= 2) {
        snprintf(command, sizeof command, "%s -n %d %s %s",
                 mpirun ? mpirun : default_mpirun, ranks, self, dir);
        ok = shell(command);
    }
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return shell(command) && ok ? 0 : 1;
}

/* -- under mpirun -------------------------------------------------------------------
 */

static void read_job(struct config *c, const char *dir)
{
    char model[CONFIG_TEXT], train[CONFIG_TEXT];
    const char *set[] = {model,
                         train,
                         "model.init=random",
                         "prompt.template=plain",
                         "prompt.suffix=",
                         "prompt.max_tokens=256",
                         "rollout.max_tokens=96",
                         "reward.overlong=off",
                         "admission.groups=8",
                         "admission.group_size=8",
                         "admission.max_multiplier=3"};
    struct fault f = FAULT_INIT;

    snprintf(model, sizeof model, "model.path=%s/model", dir);
    snprintf(train, sizeof train, "data.train=%s/train.jsonl", dir);
    if (config_read(c, NULL, set, sizeof set / sizeof set[0], &f))
        give_up("config", &f);
}

static void open_rank(struct session *s, struct comm *c, const struct config *cfg)
{
    struct admission_config a;
    struct fault f = FAULT_INIT;

    train_policy(cfg, &a);
    if (comm_split_all(c, 1, &f) || session_open(s, c, cfg, &f) ||
        prompt_set_read(&s->train, s, cfg->data.train, &f) ||
        order_new(&s->order, (size_t)s->train.n, 1, true, &f) ||
        (comm_rank(c) == 0 && admission_new(&s->admission, &a, &f)) ||
        carry_new(&s->carry, s, &f) ||
        (comm_generates(c) && session_generator(s, RANDOM_SAMPLE, &s->generator, &f))) {
        fprintf(stderr, "bench_ticks: %s\n", f.text);
        comm_abort(c, 1);
    }
}

struct measured {
    double ticks, seconds;         /* of the generation */
    double root, leaders, longest; /* inside ticks: root, mean and longest leader */
    double tokens, decoding;
};

/* generate_all without what follows the last tick. */
static void generate(struct session *s, struct measured *m)
{
    struct fault f = FAULT_INIT;
    struct settled out = {0};
    struct ticks *t;
    struct root *root = NULL;
    struct leader *leader = NULL;
    bool root_done, leader_done;
    double start, pause = 0, sum[3] = {0}, longest[2] = {0};

    comm_barrier_all(s->comm);
    start = clock_now();
    if (ticks_new(&t, s->comm, root_decision_most(s), &f) ||
        (comm_rank(s->comm) == 0 && root_new(&root, s, t, 1 << 20, &f)) ||
        (s->generator && leader_new(&leader, s, t, &f)))
        comm_abort(s->comm, 1);
    root_done = !root;
    leader_done = !leader;
    while (!root_done || !leader_done) {
        bool moved = root && root_turn(root, &root_done);

        if (leader && leader_turn(leader, &leader_done))
            moved = true;
        if (moved)
            pause = 0;
        else
            clock_backoff(&pause);
    }
    longest[0] = clock_now() - start;
    if (leader && (leader_fault(leader, &f) || leader_take(leader, &out, &f)))
        comm_abort(s->comm, 1);
    if (root && (root_fault(root, &f) || root_settle(root, &out, &f)))
        comm_abort(s->comm, 1);
    if (leader) {
        sum[0] = longest[1] = ticks_seconds(t);
        sum[2] = out.stats.seconds;
    }
    for (int i = 0; i < out.n_mine; i++)
        sum[1] += (double)group_tokens(out.mine[i]);
    comm_sum_f64_all(s->comm, SCOPE_WORLD, sum, 3);
    comm_max_f64_all(s->comm, SCOPE_WORLD, longest, 2);
    *m = (struct measured){.ticks = (double)out.ticks,
                           .seconds = longest[0],
                           .root = out.tick_seconds,
                           .leaders = sum[0] / comm_replicas(s->comm),
                           .longest = longest[1],
                           .tokens = sum[1],
                           .decoding = sum[2] / comm_replicas(s->comm) / longest[0]};
    root_free(root);
    leader_free(leader);
    ticks_free(t);
    settled_free(&out);
}

static void report(const struct comm *c, const struct measured *m)
{
    double root[BENCH_STEPS], leader[BENCH_STEPS], share[BENCH_STEPS];
    double decoding[BENCH_STEPS];

    for (int i = 0; i < BENCH_STEPS; i++) {
        double most = m[i].root > m[i].longest ? m[i].root : m[i].longest;

        root[i] = 1e6 * m[i].root / m[i].ticks;
        leader[i] = 1e6 * m[i].leaders / m[i].ticks;
        share[i] = 100 * most / m[i].seconds;
        decoding[i] = 100 * m[i].decoding;
    }
    printf(
        "%d ranks: steps of %.0f ticks, %.0f tokens, %.2f s, %.0f%% of them decoding; "
        "inside ticks: root %.0f us a tick, leaders %.0f us; worst rank %.2f%% of "
        "the step\n",
        comm_size(c), m[0].ticks, m[0].tokens, m[0].seconds,
        median(decoding, BENCH_STEPS), median(root, BENCH_STEPS),
        median(leader, BENCH_STEPS), median(share, BENCH_STEPS));
}

int main(int argc, char **argv)
{
    struct measured m[BENCH_STEPS];
    struct comm *c;
    struct config cfg;
    struct session s;

    if (argc < 2)
        return start_all_sizes(argv[0]);
    comm_open_all(&c, &argc, &argv);
    log_open(comm_rank(c), LOG_ERROR);
    read_job(&cfg, argv[1]);
    open_rank(&s, c, &cfg);
    generate(&s, &m[0]); /* makes the kernels */
    for (s.step = 0; s.step < BENCH_STEPS; s.step++)
        generate(&s, &m[s.step]);
    if (comm_rank(c) == 0)
        report(c, m);
    session_close(&s);
    comm_close_all(c);
    return 0;
}
