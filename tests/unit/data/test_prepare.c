/* test_prepare.c - cleaning prompt files: each rule by hand, then the real data sets.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "dapo/data.h"
#include "dapo/mem.h"

static char file[8][300];

/* Path number k in the test's folder. */
static const char *path(int k, const char *name)
{
    snprintf(file[k], sizeof file[k], "%s/%s", check_tmp(), name);
    return file[k];
}

static const char *written(int k, const char *name, const char *text)
{
    struct fault f = FAULT_INIT;

    CHECK_OK(file_publish(path(k, name), text, strlen(text), &f), &f);
    return file[k];
}

static const struct prompt *by_id(const struct prompts *p, const char *id)
{
    for (size_t i = 0; i < p->n; i++)
        if (!strcmp(p->row[i].id, id))
            return &p->row[i];
    return NULL;
}

#define PRE                                                                          \
    "Solve the following math problem step by step. The last line of your response " \
    "should be of the form Answer: $Answer (without quotes) where $Answer is the "   \
    "answer to the problem.\\n\\n"
#define POST "\\n\\nRemember to put your answer on its own line after \\\"Answer:\\\"."
#define VERL(id, question, gold)                                                      \
    "{\"data_source\":\"d\",\"prompt\":[{\"role\":\"user\",\"content\":\"" question   \
    "\"}],\"reward_model\":{\"ground_truth\":" gold "},\"extra_info\":{\"index\":" id \
    "}}\n"

/* One row for each way a row can look. */
static const char *const raw[] = {
    VERL("\"u7\"", PRE "One  plus\\n one?" POST, "\"2\""),
    VERL("\"u3\"", "One plus one?", "\" 2 \""), /* a duplicate with a smaller id */
    VERL("5", "Two?", "\"2\""),                 /* a conflict */
    VERL("6", "Two?", "\"3\""),
    VERL("7", "Two?", "\"2\""),
    VERL("8", PRE POST, "\"2\""), /* no question */
    VERL("9", "No answer?", "\"\""),
    VERL("10", "No answer?", "[]"),
    VERL("11", "A list?", "[\"4\", \"5\"]"),
    VERL("12", "A number?", "0"),
    VERL("null", "No id?", "\"-1\""),
    /* prefix and suffix may not share their newlines */
    VERL("13", PRE "Remember to put your answer on its own line after \\\"Answer:\\\".",
         "\"1\""),
    "\n", /* a blank line is no row, but counts as a line */
    "{\"id\":60,\"problem\":\"Plain \\u4e2d?\",\"answer\":\"3.50\"}\n",
    "{\"question\":\"Plainer?\",\"answer\":2.5,\"id\":\"u3\"}\n",
    "{\"prompt\":\"A string?\",\"reward_model\":{\"ground_truth\":7}}\n",
    "{\"prompt\":[{\"role\":\"system\",\"content\":\"S\"},"
    "{\"role\":\"user\",\"content\":\"Turns?\"},"
    "{\"role\":\"assistant\",\"content\":\"Hm.\"}],\"answer\":\"1\",\"id\":\"t\"}\n",
    "{\"prompt\":[],\"answer\":\"1\"}\n",
    "{\"prompt\":[7],\"answer\":\"1\"}\n",
    "{}",
};

static const char *written_raw(int k)
{
    struct bytes all = {0};
    struct fault f = FAULT_INIT;

    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++)
        CHECK_OK(bytes_add(&all, raw[i], strlen(raw[i]), &f), &f);
    written(k, "raw.jsonl", all.data);
    bytes_free(&all);
    return file[k];
}

static void each_rule(void)
{
    const char *in = written_raw(0);
    struct prepare p = {.inputs = &in, .n_inputs = 1, .out = path(1, "train.jsonl")};
    struct prepare_counts n;
    struct fault f = FAULT_INIT;
    struct prompts got;
    const struct prompt *row;

    CHECK_OK(prepare_run(&p, &n, &f), &f);
    CHECK_INT(n.rows, 19);
    CHECK_INT(n.wrapped, 3);
    CHECK_INT(n.invalid, 6);
    CHECK_INT(n.duplicates, 1);
    CHECK_INT(n.conflicting_questions, 1);
    CHECK_INT(n.conflicting_rows, 3);
    CHECK_INT(n.unique, 9);
    CHECK_INT(n.train, 9);
    CHECK_INT(n.dev, 0);
    CHECK_INT(n.renamed, 1);
    CHECK_OK(prompts_read(&got, p.out, &f), &f);
    CHECK_INT(got.n, 9);
    CHECK((row = by_id(&got, "u3")) && !strcmp(row->question, "One plus one?") &&
          !strcmp(row->answer, "2") && !strcmp(row->source, "d"));
    CHECK((row = by_id(&got, "u3#2")) && !strcmp(row->answer, "2.5"));
    CHECK((row = by_id(&got, "11")) && !strcmp(row->answer, "4"));
    CHECK((row = by_id(&got, "13")) && !strncmp(row->question, "Remember to put", 15));
    CHECK((row = by_id(&got, "12")) && !strcmp(row->answer, "0"));
    CHECK((row = by_id(&got, "10")) && !strcmp(row->question, "No id?"));
    CHECK((row = by_id(&got, "60")) && !strcmp(row->question, "Plain \u4e2d?") &&
          !strcmp(row->answer, "3.50"));
    CHECK((row = by_id(&got, "15")) && !strcmp(row->question, "A string?"));
    CHECK((row = by_id(&got, "t")) && !strcmp(row->question, "Turns?"));
    prompts_free(&got);
}

/* Shuffling the input's lines, or cutting it in two, changes no byte of the output. */
static void input_order_does_not_matter(void)
{
    static const char a[] = VERL("1", "A?", "\"1\"") VERL("2", "B?", "\"2\"");
    static const char b[] = VERL("3", " B?", "\"2\"") VERL("4", "C?", "\"3\"");
    const char *one[] = {written(0, "a.jsonl", a), written(1, "b.jsonl", b)};
    const char *two[] = {one[1], one[0]};
    struct prepare p = {.inputs = one, .n_inputs = 2, .out = path(2, "one.jsonl")};
    struct prepare_counts n;
    struct fault f = FAULT_INIT;
    struct bytes x, y;

    p.dev_out = path(3, "one.dev.jsonl");
    p.dev = 1;
    CHECK_OK(prepare_run(&p, &n, &f), &f);
    CHECK_INT(n.train, 2);
    CHECK_INT(n.dev, 1);
    p.inputs = two;
    p.out = path(4, "two.jsonl");
    p.dev_out = path(5, "two.dev.jsonl");
    CHECK_OK(prepare_run(&p, &n, &f), &f);
    for (int k = 2; k < 4; k++) {
        CHECK_OK(file_read(file[k], 1 << 20, &x, &f), &f);
        CHECK_OK(file_read(file[k + 2], 1 << 20, &y, &f), &f);
        CHECK_TEXT(x.data, y.data);
        bytes_free(&x);
        bytes_free(&y);
    }
}

static void manifest_tells_all(void)
{
    const char *in = written_raw(0);
    struct prepare p = {
        .inputs = &in, .n_inputs = 1, .out = path(1, "m.jsonl"), .seed = 42};
    struct prepare_counts n;
    struct fault f = FAULT_INIT;
    struct prompts got;
    json_t *m, *out;
    char hex[33], content[20];

    CHECK_OK(prepare_run(&p, &n, &f), &f);
    m = json_load_file(path(2, "m.jsonl.manifest.json"), 0, NULL);
    out = json_array_get(json_object_get(m, "outputs"), 0);
    CHECK(m != NULL);
    CHECK_INT(json_integer_value(json_object_get(m, "seed")), 42);
    CHECK_INT(
        json_integer_value(json_object_get(json_object_get(m, "counts"), "invalid")),
        6);
    CHECK_OK(hash_file(in, hex, &f), &f);
    CHECK_TEXT(json_string_value(json_object_get(
                   json_array_get(json_object_get(m, "inputs"), 0), "xxh3_128")),
               hex);
    CHECK_OK(hash_file(p.out, hex, &f), &f);
    CHECK_TEXT(json_string_value(json_object_get(out, "xxh3_128")), hex);
    CHECK_OK(prompts_read(&got, p.out, &f), &f);
    snprintf(content, sizeof content, "%016llx", got.hash);
    CHECK_TEXT(json_string_value(json_object_get(out, "prompts_hash")), content);
    prompts_free(&got);
    json_decref(m);
}

static void broken_input_is_a_fault(void)
{
    static const struct {
        const char *text, *says;
        int code;
    } t[] = {
        {VERL("1", "A?", "\"1\"") "{\"question\":", "line 2: is not JSON", FAULT_DATA},
        {"[]\n", "line 1: is not a JSON object", FAULT_DATA},
        {"", "0 usable questions", FAULT_DATA},
        {VERL("1", "A?", "\"\""), "0 usable questions are left of 1", FAULT_DATA},
        {VERL("1", "A?", "\"1\""), "more than 50", FAULT_DATA},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *in = written(0, "bad.jsonl", t[i].text);
        struct prepare p = {.inputs = &in, .n_inputs = 1, .out = path(1, "no.jsonl")};
        struct prepare_counts n;
        struct fault f = FAULT_INIT;
        struct stat st;

        p.dev_out = path(2, "no.dev.jsonl");
        CHECK_INT(prepare_run(&p, &n, &f), t[i].code);
        if (!strstr(f.text, t[i].says))
            CHECK_TEXT(f.text, t[i].says);
        CHECK(stat(p.out, &st) != 0);
    }
}

/* White space and a NUL byte are not a blank line. */
static void a_nul_is_not_blank(void)
{
    const char *in = path(0, "nul.jsonl");
    struct prepare p = {.inputs = &in, .n_inputs = 1, .out = path(1, "no.jsonl")};
    struct prepare_counts n;
    struct fault f = FAULT_INIT;

    CHECK_OK(file_publish(in, " \0x\n", 4, &f), &f);
    CHECK_INT(prepare_run(&p, &n, &f), FAULT_DATA);
    CHECK(strstr(f.text, "line 1: is not JSON") != NULL);
}

/* A stand-in for python3: a shell script in DAPO_PYTHON's place. */
static int with_python(const char *script, struct prepare_counts *n, struct fault *f)
{
    const char *in = written(0, "x.parquet", "PAR1 and so on"),
               *old = getenv("DAPO_PYTHON");
    struct prepare p = {.inputs = &in, .n_inputs = 1, .out = path(1, "x.jsonl")};
    char *kept = old ? strdup(old) : NULL;
    int rc;

    if (script)
        chmod(written(2, "python", script), 0700);
    setenv("DAPO_PYTHON", script ? file[2] : "/nonexistent/python", 1);
    rc = prepare_run(&p, n, f);
    if (kept)
        setenv("DAPO_PYTHON", kept, 1);
    else
        unsetenv("DAPO_PYTHON");
    free(kept);
    return rc;
}

static void the_reader_of_parquet_fails(void)
{
    static const struct {
        const char *script, *says;
        int code;
    } t[] = {
        {NULL, "/nonexistent/python, which reads Parquet, can't be run", FAULT_SYSTEM},
        {"#!/bin/sh\nexit 3\n", "needs pyarrow", FAULT_SYSTEM},
        {"#!/bin/sh\necho first >&2; echo 'no such column' >&2; exit 1\n",
         "status 1): no such column", FAULT_DATA},
        {"#!/bin/sh\nkill -9 $$\n", "signal 9", FAULT_SYSTEM},
        {"#!/bin/sh\necho '{\"question\":'\n", "line 1: is not JSON", FAULT_DATA},
        /* Rows, then failure: nothing may come of the rows. */
        {"#!/bin/sh\necho '{\"question\":\"q\",\"answer\":\"1\"}'\necho bad page "
         ">&2\nexit 1\n",
         "bad page", FAULT_DATA},
        /* Nobody reads any more: the program dies of the pipe, the row is the fault. */
        {"#!/bin/sh\necho x; while echo '{}'; do :; done\n", "line 1: is not JSON",
         FAULT_DATA},
    };
    struct prepare_counts n;
    struct fault ok = FAULT_INIT;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct fault f = FAULT_INIT;

        CHECK_INT(with_python(t[i].script, &n, &f), t[i].code);
        if (!strstr(f.text, t[i].says))
            CHECK_TEXT(f.text, t[i].says);
    }
    CHECK_OK(
        with_python("#!/bin/sh\ntest -r \"$1\" && test \"$(head -c 4 \"$2\")\" = PAR1 "
                    "&& echo '{\"question\":\"q\",\"answer\":\"1\"}'\n",
                    &n, &ok),
        &ok);
    CHECK_INT(n.train, 1);
}

/* Whether the interpreter at hand has pyarrow; else the case is skipped. */
static bool no_pyarrow(int rc, const struct fault *f)
{
    if (!rc || (!strstr(f->text, "pyarrow") && !strstr(f->text, "can't be run")))
        return false;
    check_skip("no pyarrow (set DAPO_PYTHON)");
    return true;
}

/* README of the data: 17,917 rows, every gold -?[0-9]+, 366 negative ones, the longest
 * of 23 digits.  The published preparation keeps 17,126 + 50 questions; 17,188 distinct
 * keys, 12 of them with conflicting answers in 24 rows, by a few lines of Python. */
static void dapo_math_17k(void)
{
    const char *dir = check_data(), *in = path(0, "17k.parquet");
    struct prepare p = {.inputs = &in, .n_inputs = 1, .seed = 42};
    struct prepare_counts n;
    struct fault f = FAULT_INIT;
    struct prompts got, dev;
    size_t longest = 0, negative = 0;
    int rc;

    if (!dir)
        return;
    snprintf(file[0], sizeof file[0], "%s/math/dapo_math_17k.svs.parquet", dir);
    p.out = path(1, "17k.jsonl");
    p.dev_out = path(2, "17k.dev.jsonl");
    rc = prepare_run(&p, &n, &f);
    if (no_pyarrow(rc, &f))
        return;
    CHECK_OK(rc, &f);
    CHECK_INT(n.rows, 17917);
    CHECK_INT(n.invalid, 0);
    CHECK_INT(n.conflicting_questions, 12);
    CHECK_INT(n.conflicting_rows, 24);
    CHECK_INT(n.unique, 17176);
    CHECK_INT(n.duplicates, 17917 - 24 - 17176);
    CHECK_INT(n.train, 17126);
    CHECK_INT(n.dev, 50);
    CHECK_OK(prompts_read(&got, p.out, &f), &f);
    for (size_t i = 0; i < got.n; i++) {
        const char *a = got.row[i].answer;
        size_t minus = *a == '-';

        negative += minus;
        longest = strlen(a + minus) > longest ? strlen(a + minus) : longest;
        CHECK_INT(strspn(a + minus, "0123456789"), strlen(a + minus));
    }
    CHECK_INT(got.n, 17126);
    CHECK_OK(prompts_read(&dev, p.dev_out, &f), &f);
    CHECK_INT(dev.n, 50);
    for (size_t i = 0; i < dev.n; i++)
        CHECK(by_id(&got, dev.row[i].id) == NULL);
    prompts_free(&dev);
    CHECK(negative > 340 && negative <= 366);
    CHECK_INT(longest, 23);
    prompts_free(&got);
}

/* Counts by pyarrow and a few lines of Python. */
static void every_real_file(void)
{
    static const struct {
        const char *name;
        long rows, wrapped, invalid, unique, conflicting;
    } t[] = {
        {"aime-2024.dapo.parquet", 960, 960, 0, 30, 0},
        {"dapo_mini16_zstd.cogrpo.parquet", 16, 0, 0, 16, 0},
        {"dsr_sub_1209.osr.parquet", 1209, 0, 1, 1206, 0},
        {"gsm8k_train.verl-data.parquet", 7473, 0, 0, 7473, 0},
        {"math500.osr.parquet", 500, 0, 0, 500, 0},
        {"aime24.osr.jsonl", 30, 0, 0, 30, 0},
    };
    const char *dir = check_data();

    for (size_t i = 0; dir && i < sizeof t / sizeof *t; i++) {
        const char *in = path(0, "in");
        struct prepare p = {.inputs = &in, .n_inputs = 1, .out = path(1, "real.jsonl")};
        struct prepare_counts n;
        struct fault f = FAULT_INIT;
        int rc;

        snprintf(file[0], sizeof file[0], "%s/math/%s", dir, t[i].name);
        rc = prepare_run(&p, &n, &f);
        if (no_pyarrow(rc, &f))
            return;
        CHECK_OK(rc, &f);
        CHECK_INT(n.rows, t[i].rows);
        CHECK_INT(n.wrapped, t[i].wrapped);
        CHECK_INT(n.invalid, t[i].invalid);
        CHECK_INT(n.unique, t[i].unique);
        CHECK_INT(n.conflicting_questions, t[i].conflicting);
    }
}

CASES(CASE(each_rule), CASE(input_order_does_not_matter), CASE(manifest_tells_all),
      CASE(broken_input_is_a_fault), CASE(a_nul_is_not_blank),
      CASE(the_reader_of_parquet_fails), CASE(dapo_math_17k), CASE(every_real_file));
