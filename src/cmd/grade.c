/* grade.c - reading and judging the rows of dapo grade. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/grade.h"
#include "dapo/mem.h"

#define CHUNK 16        /* rows that a thread takes at once */
#define MOST_WHOLE 1000 /* bytes of a response that may be all answer */

/* A string, or a number as it was written to 15 digits. */
static int take_text(const json_t *row, const char *name, char **out, size_t *n,
                     struct fault *f)
{
    const json_t *v = json_object_get(row, name);

    if (!json_is_string(v) && !json_is_number(v))
        return fault_set(f, FAULT_DATA, "\"%s\" is %s", name,
                         v ? "neither text nor a number" : "missing");
    if (json_is_number(v)) {
        *out = json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        *n = *out ? strlen(*out) : 0;
    } else {
        *n = json_string_length(v);
        *out = mem_new(*n + 1, 1, "a row", f);
        if (*out)
            memcpy(*out, json_string_value(v), *n);
    }
    return *out ? 0 : fault_set(f, FAULT_SYSTEM, "no memory for a row");
}

static enum expect expectation(const json_t *v)
{
    static const char *const yes[] = {"t", "true"}, *const no[] = {"f", "false"};
    const char *s = json_string_value(v);

    if (json_is_boolean(v))
        return json_is_true(v) ? EXPECT_RIGHT : EXPECT_WRONG;
    for (int i = 0; s && i < 2; i++) {
        if (!strcasecmp(s, yes[i]))
            return EXPECT_RIGHT;
        if (!strcasecmp(s, no[i]))
            return EXPECT_WRONG;
    }
    return EXPECT_NOTHING;
}

int grade_row_read(struct grade_row *r, json_t *line, const struct grading *g,
                   struct fault *f)
{
    int rc;

    r->json = line;
    if (!json_is_object(line))
        return fault_set(f, FAULT_DATA, "is not a JSON object");
    r->response = !json_object_get(line, "pred");
    if (r->response && !json_object_get(line, "response"))
        return fault_set(f, FAULT_DATA, "has neither \"pred\" nor \"response\"");
    rc = take_text(line, "gold", &r->gold, &r->n_gold, f);
    if (!rc)
        rc =
            take_text(line, r->response ? "response" : "pred", &r->text, &r->n_text, f);
    if (g->against)
        r->expect = expectation(json_object_get(line, g->against));
    return rc;
}

void grade_row_free(struct grade_row *r)
{
    json_decref(r->json);
    free(r->gold);
    free(r->text);
    free(r->answer);
    free(r->error);
    *r = (struct grade_row){0};
}

/* -- judging ----------------------------------------------------------------------- */

struct shared {
    struct grade_row *row;
    size_t n;
    const struct grading *g;
    atomic_size_t next;
};

struct worker {
    struct shared *shared;
    pthread_t thread;
    struct fault fault;
};

static bool may_be_all_answer(const struct grade_row *r)
{
    return r->n_text <= MOST_WHOLE && !memchr(r->text, '\n', r->n_text);
}

static int judge_row(struct judge *j, struct grade_row *r, const struct grading *g,
                     struct fault *f)
{
    struct verdict *v = &r->verdict;
    int rc;

    if (!r->response)
        rc = judge_answer(j, r->gold, r->n_gold, r->text, r->n_text, v, f);
    else
        rc = judge_run(j, r->gold, r->n_gold, r->text, r->n_text, v, f);
    if (!rc && !v->found && !g->strict && may_be_all_answer(r)) {
        rc = judge_answer(j, r->gold, r->n_gold, r->text, r->n_text, v, f);
        r->whole = true;
    }
    if (rc || !v->found)
        return rc;
    r->answer = mem_new(v->n_answer + 1, 1, "an answer", f);
    if (!r->answer)
        return f->code;
    memcpy(r->answer, v->answer, v->n_answer);
    v->answer = r->answer;
    return 0;
}

/* The judge lives and ends in its thread: libraries below it keep caches per thread. */
static void *work(void *arg)
{
    struct worker *w = arg;
    struct shared *s = w->shared;
    struct judge *j;
    size_t at;
    int rc = judge_new(&j, s->g->grader, s->g->window, &w->fault);

    while (!rc && (at = atomic_fetch_add(&s->next, CHUNK)) < s->n) {
        size_t end = s->n - at < CHUNK ? s->n : at + CHUNK;

        for (size_t i = at; i < end && !rc; i++)
            if (!s->row[i].error)
                rc = judge_row(j, &s->row[i], s->g, &w->fault);
    }
    judge_free(j);
    return NULL;
}

int grade_rows(struct grade_row *row, size_t n, const struct grading *g,
               struct fault *f)
{
    struct shared s = {.row = row, .n = n, .g = g};
    int threads = g->threads > 1 ? g->threads : 1, started = 1, rc;
    struct worker *w = mem_new((size_t)threads, sizeof *w, "the threads", f);

    if (!w)
        return f->code;
    for (int i = 0; i < threads; i++)
        w[i] = (struct worker){.shared = &s, .fault = FAULT_INIT};
    /* Fewer threads than wanted do the same work. */
    while (started < threads &&
           !pthread_create(&w[started].thread, NULL, work, &w[started]))
        started++;
    work(&w[0]);
    rc = w[0].fault.code;
    if (rc)
        *f = w[0].fault;
    for (int i = 1; i < started; i++) {
        pthread_join(w[i].thread, NULL);
        if (!rc && w[i].fault.code) {
            *f = w[i].fault;
            rc = f->code;
        }
    }
    free(w);
    return rc;
}
