/* inspect_rows.c - the small columns of a step file, checked against each other. */
#include <stdlib.h>

#include "dapo/inspect.h"
#include "dapo/mem.h"
#include "store/rundir.h"

#define MOST_ROWS (INT64_C(1) << 31) /* more is not ours */

static void read_columns(struct h5 *h, hid_t file, struct inspect_rows *r,
                         int64_t completions, struct fault *f)
{
    const struct {
        int64_t **to;
        const char *name;
        int64_t n;
    } column[] = {
        {&r->index, "/candidates/index", r->candidates},
        {&r->prompt, "/candidates/prompt_id", r->candidates},
        {&r->fate, "/candidates/fate", r->candidates},
        {&r->replica, "/candidates/replica", r->candidates},
        {&r->n_correct, "/candidates/n_correct", r->candidates},
        {&r->n_tokens, "/candidates/n_tokens", r->candidates},
        {&r->owner, "/completions/candidate", completions},
        {&r->length, "/completions/n_tokens", completions},
        {&r->finish, "/completions/finish_reason", completions},
        {&r->correct, "/completions/correct", completions},
    };

    for (size_t i = 0; i < sizeof column / sizeof column[0]; i++)
        if (!h->bad && !f->code)
            *column[i].to = h5_read_i64(h, file, column[i].name, column[i].n, f);
}

/* What is wrong with candidate c; NULL if nothing. */
static const char *check_candidate(const struct inspect_rows *r, int64_t c)
{
    int64_t tokens = 0, right = 0;

    if (r->fate[c] < 0 || r->fate[c] >= FATE_COUNT || r->prompt[c] < 0 ||
        r->replica[c] < 0)
        return "a candidate has an unknown fate, prompt or replica";
    for (int64_t k = c * r->size; k < (c + 1) * r->size; k++) {
        if (r->owner[k] != r->index[c])
            return "the completions don't follow the candidates";
        if (r->length[k] < 0 || r->finish[k] < 0 || r->finish[k] >= FINISH_COUNT ||
            (r->correct[k] | 1) != 1)
            return "a completion has an impossible length, finish reason or verdict";
        if (__builtin_add_overflow(tokens, r->length[k], &tokens))
            return "its lengths are impossible";
        right += r->correct[k];
    }
    if (tokens != r->n_tokens[c] || right != r->n_correct[c])
        return "a candidate's numbers are not those of its completions";
    return NULL;
}

static void check_rows(struct h5 *h, const struct inspect_rows *r)
{
    const char *why = NULL;

    for (int64_t c = 0; c < r->candidates && !why; c++)
        why = check_candidate(r, c);
    if (why)
        h5_fail(h, why);
}

int inspect_rows(struct inspect_rows *out, const char *path, struct fault *f)
{
    struct inspect_step s;
    struct fault memory = FAULT_INIT;
    struct h5 h;
    hid_t file;
    int rc = inspect_step(&s, path, f);

    *out = (struct inspect_rows){0};
    if (rc)
        return rc;
    out->candidates = s.candidates;
    out->size = s.candidates ? s.completions / s.candidates : 0;
    rc = h5_open_file(&h, &file, path, f);
    if (!rc) {
        if (s.candidates > MOST_ROWS || s.completions > MOST_ROWS ||
            out->size * out->candidates != s.completions)
            h5_fail(&h, "the candidates are not all of one size");
        read_columns(&h, file, out, s.completions, &memory);
        if (!h.bad && !memory.code)
            check_rows(&h, out);
        rc = h5_end(&h, path, f);
    }
    if (memory.code) {
        *f = memory;
        rc = f->code;
    }
    inspect_step_free(&s);
    if (rc)
        inspect_rows_free(out);
    return rc;
}

void inspect_rows_free(struct inspect_rows *r)
{
    int64_t *const column[] = {r->index,     r->prompt,   r->fate,  r->replica,
                               r->n_correct, r->n_tokens, r->owner, r->length,
                               r->finish,    r->correct};

    for (size_t i = 0; i < sizeof column / sizeof column[0]; i++)
        free(column[i]);
    *r = (struct inspect_rows){0};
}
