/* test_cases.c - published cases of other graders whose point is extraction, and of
 * their bug reports, against grader = math; exceptions by name, with the reason. */
#include <string.h>

#include "check.h"
#include "dapo/reward.h"
#include "grader_rows.h"

struct exception {
    const char *id, *reason;
};

#define PROSE "neither a box nor an Answer: line: nothing is taken from prose"
#define SENTENCE "behind Answer: stands a sentence, which is not searched either"
#define BOX "an intermediate result in the last box, which goes before a line"
#define TURNED "the gold is the prose"

static const struct exception exceptions[] = {
    {"mv-008", PROSE},    {"mv-014", PROSE},    {"mv-015", PROSE},
    {"mv-016", PROSE},    {"mv-017", PROSE},    {"mv-089", PROSE},
    {"mv-090", PROSE},    {"mv-092", PROSE},    {"mv-124", PROSE},
    {"mv-142", PROSE},    {"mv-144", PROSE},    {"le-002", PROSE},
    {"le-003", PROSE},    {"le-017", PROSE},    {"le-018", PROSE},
    {"le-020", PROSE},    {"le-022", PROSE},    {"le-023", PROSE},
    {"le-025", PROSE},    {"le-026", PROSE},    {"le-027", PROSE},
    {"le-028", PROSE},    {"le-036", PROSE},    {"le-037", PROSE},
    {"le-038", PROSE},    {"le-117", PROSE},    {"le-118", PROSE},
    {"le-137", PROSE},    {"le-141", PROSE},    {"le-159", PROSE},
    {"le-161", PROSE},    {"bug-69", PROSE},    {"mv-148", SENTENCE},
    {"mv-160", SENTENCE}, {"le-004", SENTENCE}, {"le-165", SENTENCE},
    {"le-173", SENTENCE}, {"mv-173", BOX},      {"le-188", BOX},
    {"le-009", TURNED},   {"le-011", TURNED},
};

/* Rows that agreed, and those that are excepted. */
struct score {
    int agreed, excepted;
};

static const char *excepted(const char *id)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (!strcmp(exceptions[i].id, id))
            return exceptions[i].reason;
    return NULL;
}

/* An exception that is none any more is to be taken off the list. */
static void row_is(struct score *s, const char *id, bool agrees, const char *gold,
                   const char *text, const struct verdict *v)
{
    const char *reason = excepted(id);
    char line[600];

    /* Less is decided without balls, and nothing wrongly. */
    if (!agrees && v->kind == VERDICT_UNKNOWN && !math_has_flint())
        return;
    s->agreed += agrees;
    s->excepted += reason && !agrees;
    if (agrees == !reason)
        return;
    snprintf(line, sizeof line, "%s: %s by %s: %.200s | %.*s | %.200s", id,
             verdict_text(v->kind), math_step_text(v->step), gold,
             v->answer ? (int)(v->n_answer < 100 ? v->n_answer : 100) : 0,
             v->answer ? v->answer : "", text);
    CHECK_TEXT(line, reason ? "still an exception" : "agreement");
}

static struct judge *new_judge(void)
{
    struct fault f = FAULT_INIT;
    struct judge *j;

    CHECK_OK(judge_new(&j, GRADER_MATH, 300, &f), &f);
    return j;
}

/* Every row of the files, by a judge of their own. */
static void each_row(const char *title, const char *const *files, size_t n,
                     void (*take)(struct score *, struct judge *, const json_t *))
{
    const char *dir = check_data();
    struct score s = {0};
    struct judge *j;

    if (!dir)
        return;
    j = new_judge();
    for (size_t k = 0; k < n; k++) {
        json_t *rows = grader_rows(dir, files[k]), *row;
        size_t i;

        json_array_foreach(rows, i, row)
        {
            take(&s, j, row);
        }
        json_decref(rows);
    }
    printf("%s: %d rows agree, %d are excepted\n", title, s.agreed, s.excepted);
    CHECK(s.agreed > 0);
    judge_free(j);
}
#define EACH_ROW(title, files, take) \
    each_row(title, files, sizeof(files) / sizeof *(files), take)

/* As dapo grade does with a field pred: the answer found in it, or all of it. */
static void extraction_row(struct score *s, struct judge *j, const json_t *row)
{
    const char *gold = row_text(row, "gold"), *pred = row_text(row, "pred");
    struct fault f = FAULT_INIT;
    struct verdict v;

    if (strcmp(row_text(row, "kind"), "extraction") || !*gold ||
        json_object_get(row, "dispute"))
        return;
    CHECK_OK(judge_answer(j, gold, strlen(gold), pred, strlen(pred), &v, &f), &f);
    row_is(s, row_text(row, "id"),
           v.correct == json_is_true(json_object_get(row, "expect")), gold, pred, &v);
}

static void extraction_rows(void)
{
    static const char *const files[] = {"mathverify_cases",  "mathverify_issue_cases",
                                        "lighteval_cases",   "rl_reward_cases",
                                        "slime_math_cases",  "slime_dapo_cases",
                                        "nemo_skills_cases", "challenge_cases"};

    EACH_ROW("extraction", files, extraction_row);
}

/* Rows of other graders' functions: what they take out of a text, and their normal
 * forms, which must be equal to what they came from. */
static void function_row(struct score *s, struct judge *j, const json_t *row)
{
    const char *raw = row_text(row, "raw"), *want = row_text(row, "normalized");
    bool normal = !strcmp(row_text(row, "kind"), "normalize");
    struct fault f = FAULT_INIT;
    struct verdict v, box;
    bool agrees;

    if (!json_is_string(json_object_get(row, "raw")))
        return;
    if (normal) {
        CHECK_OK(judge_answer(j, want, strlen(want), raw, strlen(raw), &v, &f), &f);
        agrees = v.correct;
    } else {
        struct judge *other = new_judge();

        CHECK_OK(judge_answer(other, "", 0, want, strlen(want), &box, &f), &f);
        CHECK_OK(judge_run(j, "", 0, raw, strlen(raw), &v, &f), &f);
        agrees = v.found == (*want != '\0') &&
                 (!v.found || (v.n_answer == box.n_answer &&
                               !memcmp(v.answer, box.answer, v.n_answer)));
        judge_free(other);
    }
    row_is(s, row_text(row, "id"), agrees, want, raw, &v);
}

static void function_rows(void)
{
    static const char *const files[] = {"slime_math_cases", "slime_dapo_cases",
                                        "rl_reward_cases"};

    EACH_ROW("functions", files, function_row);
}

/* As dapo grade does with a field response. */
static void bug_report(struct score *s, struct judge *j, const json_t *row)
{
    const char *gold = row_text(row, "gold"), *text = row_text(row, "response");
    const char *right = row_text(row, "right");
    struct fault f = FAULT_INIT;
    struct verdict v;
    char id[32];

    if (!strcmp(right, "policy"))
        return;
    CHECK_OK(judge_run(j, gold, strlen(gold), text, strlen(text), &v, &f), &f);
    if (!v.found)
        CHECK_OK(judge_answer(j, gold, strlen(gold), text, strlen(text), &v, &f), &f);
    snprintf(id, sizeof id, "bug-%lld",
             (long long)json_integer_value(json_object_get(row, "n")));
    row_is(s, id, v.correct == !strcmp(right, "T"), gold, text, &v);
}

static void bug_reports(void)
{
    static const char *const files[] = {"bug_report_pairs"};

    EACH_ROW("bug reports", files, bug_report);
}

CASES(CASE(extraction_rows), CASE(function_rows), CASE(bug_reports));
