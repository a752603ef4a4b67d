/* test_config.c - defaults, presets, round trip, and every kind of wrong job file. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "dapo/config.h"

static int parse(struct config *c, const char *text, struct fault *f)
{
    *f = FAULT_INIT;
    return config_parse(c, "job.ini", text, NULL, 0, f);
}

static void defaults_are_the_official_run(void)
{
    struct config c;
    struct fault f;

    CHECK_OK(parse(&c, "", &f), &f);
    CHECK_INT(c.admission.groups, 512);
    CHECK_INT(c.admission.group_size, 16);
    CHECK_NEAR(c.loss.clip_low, 0.2, 0);
    CHECK_NEAR(c.loss.clip_high, 0.28, 0);
    CHECK_INT(c.rollout.max_tokens, 20480);
    CHECK_INT(c.reward.overlong_cache, 4096);
    CHECK(strstr(c.prompt.suffix, "\\boxed{}") && c.prompt.suffix[0] == '\n');
}

/* The presets differ in exactly four switches. */
static void presets_differ_in_four_switches(void)
{
    struct config a, b;
    struct bytes diff = {0};
    struct fault f;

    CHECK_OK(parse(&a, "[loss]\npreset = dapo\n", &f), &f);
    CHECK_OK(parse(&b, "[loss]\npreset = grpo\n", &f), &f);
    CHECK_OK(config_diff(&a, &b, &diff, &f), &f);
    CHECK_TEXT(diff.data, "admission.dynamic\nreward.overlong\nloss.preset\n"
                          "loss.clip_high\nloss.reduction\n");
    CHECK_NEAR(b.loss.clip_high, 0.2, 0);
    CHECK_INT(b.loss.reduction, 1);
    CHECK(!b.admission.dynamic && b.reward.overlong == OVERLONG_OFF);
    bytes_free(&diff);
}

static void what_the_file_says_beats_the_preset(void)
{
    struct config c;
    struct fault f;
    const char *set[] = {"loss.clip_low=0.1", "run.name=x=y"};

    CHECK_OK(
        config_parse(&c, "j", "[loss]\nclip_high = 0.5\npreset = grpo\n", set, 2, &f),
        &f);
    CHECK_NEAR(c.loss.clip_high, 0.5, 0);
    CHECK_NEAR(c.loss.clip_low, 0.1, 0);
    CHECK_TEXT(c.run.name, "x=y");
}

static void printing_parses_back_to_the_same_bits(void)
{
    static const char *const texts[] = {
        "[optimizer]\nlr = 0.1\neps = 3.3333333333333335e-9\n",
        "[prompt]\nprefix = \\s a ; b\\x3b # \\\\boxed{\\n}\\s\nsystem = #\\\n  x\n",
        "[prompt]\nprefix = "
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
        "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n  "
        "cccccccccccccccccccc "
        "\xe4\xbd\xa0\xe5\xa5\xbd\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (int comments = 0; comments < 2; comments++) {
            struct config a, b;
            struct bytes out = {0}, diff = {0};
            struct fault f;

            CHECK_OK(parse(&a, texts[i], &f), &f);
            CHECK_OK(config_print(&a, comments, &out, &f), &f);
            CHECK_OK(parse(&b, out.data, &f), &f);
            CHECK_OK(config_diff(&a, &b, &diff, &f), &f);
            CHECK_INT(diff.len, 0);
            CHECK(!memcmp(&a, &b, sizeof a));
            bytes_free(&out);
            bytes_free(&diff);
        }
}

/* Each wrong file gets one sentence that holds the given words, and exit code 78. */
static void wrong_job_files_are_refused(void)
{
    static const struct {
        const char *text, *words;
    } t[] = {
        {"[loss]\nclip_hihg = 1\n",
         "job.ini:2: there is no setting loss.clip_hihg; did you mean loss.clip_high?"},
        {"[los]\nclip_high = 1\n", "did you mean loss.clip_high?"},
        {"[critic]\nlayers = 8\n", "there is no setting critic.layers"},
        {"[lora]\nrank = 8\nalpha = 0\n", "want a number in [1e-06,"},
        {"[lora]\nrank = -1\n", "want an integer in [0,"},
        {"[lora]\ninit = adapter\n", "lora.rank = 0 trains the whole model"},
        {"steps = 3\n", "did you mean run.steps?"},
        {"[run]\nsteps\n", "line 2 is neither"},
        {"[run\nsteps = 1\n", "line 1 is neither"},
        {"[run]\nsteps = -1\n", "job.ini:2: run.steps = -1: want an integer in [0,"},
        {"[run]\nsteps = 1.5\n", "want an integer"},
        {"[run]\nsteps = many\n", "want an integer"},
        {"[run]\nsteps = 99999999999999999999\n", "want an integer"},
        {"[run]\nsteps = nan\n", "want an integer"},
        {"[optimizer]\nlr = nan\n", "want a number"},
        {"[optimizer]\nlr = 1e-6x\n", "want a number"},
        {"[optimizer]\nlr =\n", "want a number"},
        {"# a\n\n[data]\n;b\nshuffle = yes\n[run]\n",
         "job.ini:5: data.shuffle = yes: want true or false"},
        {"[model]\ncompute = fp16\n", "want one of f32|bf16"},
        {"[admission]\norder = random\n", "want one of candidate|completion"},
        {"[run]\nname = a/b\n", "without '/'"},
        {"[run]\r\nsteps = 1\r\n  2\r\nseed = 3\r\n",
         "job.ini:2: run.steps = 1 2: want"},
        {"[loss]\n[run]\nname = x\n\n\n  \\q", "job.ini:3: run.name: unknown escape"},
        {"[run]\nname = a\\nb", "run.name has a control character"},
        {"[run]\nsteps = 1\n[loss]\nclip_low = 0.1\n[run]\nsteps = 2\n",
         "job.ini:6: run.steps is set twice, first in line 2"},
        {"[run]\nresume = maybe\n", "want auto, never or a step"},
        {"[rollout]\nmax_tokens = 100\n", "longer than rollout.max_tokens"},
        {"[rollout]\nkv_tokens = 10\n", "can't hold one sequence"},
        {"[admission]\ngroup_size = 1\n", "a group of one"},
        {"[admission]\ngroups = 2\n[optimizer]\nupdates_per_step = 3\n",
         "nothing to train"},
        {"[reward]\ncorrect = -1\n", "unlearned"},
        {"[loss]\ndual_clip = 1.1\n", "must be over"},
        {"[loss]\nreference = x\n", "makes no use of it"},
        {"[prompt]\ntemplate = custom\n", "needs prompt.custom"},
        {"[prompt]\ncustom = {user}\n", "is not custom"},
        {"[prompt]\ntemplate = plain\nsystem = be good\n", "no place"},
        {"[admission]\nsurplus = resume\nrefill = waves\n", "needs admission.refill"},
        {"[admission]\nsurplus = resume\nrefill = full\n", "needs admission.refill"},
        {"[admission]\nsurplus = resume\norder = completion\n",
         "needs admission.order"},
        {"[admission]\nsurplus = resume\ndynamic = false\n", "never a surplus"},
        {"[admission]\nsurplus = resume\n[train]\nmax_staleness = 1\n",
         "use one of the two"},
        {"[admission]\nrefill = full\nmax_multiplier = 2\n", "not one round"},
        {"[loss]\ntis_cap = 2\n", "no group is ever stale"},
        {"[reward]\noverlong = min\n[rollout]\nmax_tokens = 9\n", "punished"},
        {"[ranks]\ntensor_parallel = 2\n", "want an integer in [1, 1]"},
    };

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        struct config c;
        struct fault f;
        char what[700];

        CHECK_INT(parse(&c, t[i].text, &f), FAULT_CONFIG);
        snprintf(what, sizeof what, "'%s' in '%s'", t[i].words, f.text);
        check_true(strstr(f.text, t[i].words) != NULL, what, __FILE__, __LINE__);
    }
}

static void long_lines_and_overrides_are_checked(void)
{
    char line[400] = "[run]\nname = ";
    struct config c;
    struct fault f;
    const char *bad[] = {"loss.clip_hi=1", "clip_high=1", "loss.clip_high", "=3"};

    memset(line + strlen(line), 'x', 300);
    CHECK_INT(parse(&c, line, &f), FAULT_CONFIG);
    CHECK(strstr(f.text, "line 2 is longer"));
    for (int i = 0; i < 4; i++) {
        CHECK_INT(config_parse(&c, "j", "", &bad[i], 1, &f), FAULT_CONFIG);
        CHECK(strstr(f.text, "--set"));
    }
    CHECK_INT(config_read(&c, "/nonexistent.ini", NULL, 0, &f), FAULT_FILE);
}

CASES(CASE(defaults_are_the_official_run), CASE(presets_differ_in_four_switches),
      CASE(what_the_file_says_beats_the_preset),
      CASE(printing_parses_back_to_the_same_bits), CASE(wrong_job_files_are_refused),
      CASE(long_lines_and_overrides_are_checked));
