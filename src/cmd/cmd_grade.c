/* cmd_grade.c - dapo grade: verdicts on rows of gold answers and responses. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/grade.h"
#include "dapo/clock.h"
#include "dapo/mem.h"

/* "|exact|dapo|math" */
#define X(name, text, version) "|" text
static const char graders[] = GRADER_LIST(X);
#undef X

#define BATCH 16384                    /* rows read before they are judged */
#define BATCH_BYTES ((size_t)64 << 20) /* or as many bytes of them */

struct tally {
    long rows, malformed, whole;
    long verdict[VERDICT_COUNT], step[MATH_STEP_COUNT];
    long expected, agreed;
    double seconds;           /* of judging */
    struct bytes differences; /* from what was expected, a line each */
    struct fault first;       /* of a malformed row */
};

struct job {
    struct grading g;
    struct lines in;
    struct grade_row *row;
    size_t n;
    struct tally t;
};

/* -- printing ---------------------------------------------------------------------- */

/* The row's own id, or its line number. */
static json_t *id_of(const struct grade_row *r)
{
    json_t *id = json_object_get(r->json, "id");

    return id ? json_incref(id) : json_integer(r->line);
}

static json_t *result_of(const struct grade_row *r)
{
    json_t *o = json_object();

    if (r->error) {
        json_object_set_new(o, "id", json_integer(r->line));
        json_object_set_new(o, "error", json_string(r->error));
        return o;
    }
    json_object_set_new(o, "id", id_of(r));
    json_object_set_new(o, "verdict", json_string(verdict_text(r->verdict.kind)));
    json_object_set_new(o, "correct", json_boolean(r->verdict.correct));
    json_object_set_new(o, "step", json_string(math_step_text(r->verdict.step)));
    if (r->verdict.found)
        json_object_set_new(o, "answer", json_stringn(r->answer, r->verdict.n_answer));
    if (r->whole)
        json_object_set_new(o, "whole", json_true());
    if (r->expect)
        json_object_set_new(o, "expect", json_boolean(r->expect == EXPECT_RIGHT));
    return o;
}

static int print_row(const struct grade_row *r, struct fault *f)
{
    json_t *o = result_of(r);
    char *text = o ? json_dumps(o, 0) : NULL;

    if (text)
        puts(text);
    free(text);
    json_decref(o);
    return text ? cmd_written(f) : fault_set(f, FAULT_SYSTEM, "no memory for a row");
}

static int add_difference(struct tally *t, const struct grade_row *r, struct fault *f)
{
    json_t *id = id_of(r);
    char *name = json_dumps(id, JSON_ENCODE_ANY);
    int rc = bytes_printf(
        &t->differences, f, "  %s: %s (%s), expected %s: %.80s | %.80s\n",
        name ? name : "?", verdict_text(r->verdict.kind),
        math_step_text(r->verdict.step), r->expect == EXPECT_RIGHT ? "right" : "wrong",
        r->gold, r->answer ? r->answer : "");

    free(name);
    json_decref(id);
    return rc;
}

static int count(struct tally *t, const struct grade_row *r, struct fault *f)
{
    t->rows++;
    if (r->error) {
        if (!t->malformed++)
            fault_set(&t->first, FAULT_DATA, "%s", r->error);
        return 0;
    }
    t->verdict[r->verdict.kind]++;
    t->step[r->verdict.step]++;
    t->whole += r->whole;
    if (!r->expect)
        return 0;
    t->expected++;
    if (r->verdict.correct == (r->expect == EXPECT_RIGHT)) {
        t->agreed++;
        return 0;
    }
    return add_difference(t, r, f);
}

static void print_counts(const char *title, const long *n, int kinds,
                         const char *(*name)(int))
{
    const char *comma = "";

    fprintf(stderr, "%s: ", title);
    for (int i = 0; i < kinds; i++)
        if (n[i]) {
            fprintf(stderr, "%s%s %ld", comma, name(i), n[i]);
            comma = ", ";
        }
    fputs(*comma ? "\n" : "none\n", stderr);
}

static const char *verdict_name(int i)
{
    return verdict_text((enum verdict_kind)i);
}

static const char *step_name(int i)
{
    return math_step_text((enum math_step)i);
}

static void print_summary(const struct job *j)
{
    const struct tally *t = &j->t;

    fprintf(stderr, "rows: %ld, malformed %ld, responses taken whole %ld\n", t->rows,
            t->malformed, t->whole);
    print_counts("verdicts", t->verdict, VERDICT_COUNT, verdict_name);
    print_counts("decided by", t->step, MATH_STEP_COUNT, step_name);
    if (j->g.against && !t->expected)
        fprintf(stderr, "against %s: no row has true or false there\n", j->g.against);
    else if (j->g.against) {
        fprintf(stderr, "against %s: %ld of %ld agree\n", j->g.against, t->agreed,
                t->expected);
        if (t->differences.len)
            fwrite(t->differences.data, 1, t->differences.len, stderr);
    }
    fprintf(stderr, "speed: %.0f rows/s on %d threads (grader %s, %s)\n",
            t->seconds > 0 ? (double)t->rows / t->seconds : 0.0, j->g.threads,
            reward_version(j->g.grader), math_libraries());
}

/* -- the rows ---------------------------------------------------------------------- */

/* A malformed row is an answer of its own: what is wrong with it. */
static int keep_error(struct job *j, struct grade_row *r, struct fault *f)
{
    if (f->code != FAULT_DATA)
        return f->code;
    r->error = strdup(f->text);
    if (!r->error)
        return fault_set(f, FAULT_SYSTEM, "no memory for a row");
    j->n++;
    *f = FAULT_INIT;
    return 0;
}

/* The next rows into j->row[0, j->n); none at the end. */
static int read_batch(struct job *j, struct fault *f)
{
    size_t bytes = 0;
    int rc = 0;

    j->n = 0;
    while (!rc && j->n < BATCH && bytes < BATCH_BYTES) {
        struct grade_row *r = &j->row[j->n];
        json_t *line;

        rc = lines_next(&j->in, &line, f);
        r->line = j->in.number;
        if (!rc && !line)
            break;
        if (!rc && (rc = grade_row_read(r, line, &j->g, f)))
            rc = lines_fault(&j->in, f);
        if (rc) {
            rc = keep_error(j, r, f);
        } else {
            bytes += r->n_gold + r->n_text;
            j->n++;
        }
    }
    return rc;
}

static int grade_batch(struct job *j, struct fault *f)
{
    double start = clock_now();
    int rc = grade_rows(j->row, j->n, &j->g, f);

    j->t.seconds += clock_now() - start;
    for (size_t i = 0; i < j->n && !rc; i++) {
        rc = print_row(&j->row[i], f);
        if (!rc)
            rc = count(&j->t, &j->row[i], f);
    }
    return rc;
}

static int grade_file(struct job *j, const char *path, struct fault *f)
{
    bool standard = !strcmp(path, "-");
    int rc = 0;

    j->in = (struct lines){.in = standard ? stdin : fopen(path, "rb"),
                           .name = standard ? NULL : path};
    if (!j->in.in)
        return fault_set(f, FAULT_FILE, "%s: can't be opened: %s", path,
                         strerror(errno));
    j->row = mem_new(BATCH, sizeof *j->row, "the rows", f);
    rc = j->row ? 0 : f->code;
    do {
        if (!rc)
            rc = read_batch(j, f);
        if (!rc)
            rc = grade_batch(j, f);
        for (size_t i = 0; j->row && i < BATCH; i++)
            grade_row_free(&j->row[i]);
    } while (!rc && j->n > 0);
    if (!rc)
        print_summary(j);
    if (!rc && j->t.malformed)
        rc = fault_set(f, FAULT_DATA, "%.400s; malformed rows in all: %ld",
                       j->t.first.text, j->t.malformed);
    free(j->row);
    lines_free(&j->in);
    bytes_free(&j->t.differences);
    if (!standard)
        fclose(j->in.in);
    return rc;
}

static int explain(const struct grading *g, char *const *text, struct fault *f)
{
    struct judge *j;
    struct verdict v;
    int rc = judge_new(&j, g->grader, g->window, f);

    if (!rc)
        rc = judge_explain(j, text[0], strlen(text[0]), text[1], strlen(text[1]),
                           stdout, &v, f);
    judge_free(j);
    return rc;
}

int cmd_grade(struct cmd_env *e, struct fault *f)
{
    bool explains = cmd_flag(e, "--explain");
    int64_t window = 300, threads = 1;
    struct job j = {.g = {.strict = cmd_flag(e, "--strict")}};
    int grader = GRADER_MATH;
    int rc = cmd_choice(e, "--grader", graders + 1, &grader, f);

    if (!rc)
        rc = cmd_int(e, "--window", 0, 1000000000, &window, f);
    if (!rc)
        rc = cmd_int(e, "--threads", 1, 1024, &threads, f);
    if (!rc)
        rc = cmd_option(e, "--against", &j.g.against, f);
    j.g.grader = (enum grader)grader;
    j.g.window = (int)window;
    j.g.threads = (int)threads;
    if (!rc && explains)
        return e->argc == 2 ? explain(&j.g, e->argv, f) : cmd_rest(e, 2, 2, f);
    if (!rc)
        rc = cmd_rest(e, 1, 1, f);
    return rc ? rc : grade_file(&j, e->argv[0], f);
}
