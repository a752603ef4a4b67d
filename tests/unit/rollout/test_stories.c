/* test_stories.c - a real model: 48 greedy ids and log-probs of a float64 forward. */
#include <jansson.h>
#include <stdio.h>

#include "unit/rollout/drive.h"

static int int_at(const json_t *list, size_t i)
{
    return (int)json_integer_value(json_array_get(list, i));
}

static void check_story(struct model *m, const json_t *golden)
{
    const json_t *prompt = json_object_get(golden, "prompt_ids");
    const json_t *ids = json_object_get(golden, "greedy_ids");
    const json_t *logp = json_object_get(golden, "greedy_logprobs");
    struct rollout_config c = drive_config(2);
    struct fault f = FAULT_INIT;
    int start[16], n = (int)json_array_size(prompt);
    struct group *g;

    CHECK(n > 0 && n <= 16);
    for (int i = 0; i < n && i < 16; i++)
        start[i] = int_at(prompt, (size_t)i);
    g = group_new(0, 0, start, n, 3, &f);
    c.max_tokens = (int)json_array_size(ids);
    c.sampling = (struct sampling){0, 0, 1};
    c.n_stop = 0;
    c.prefill_chunk = 3;
    drive(m, &c, g);
    CHECK_INT(g->members[2].n_tokens, 48);
    for (size_t i = 0; i < 48; i++) {
        CHECK_INT(g->members[2].ids[i], int_at(ids, i));
        CHECK_NEAR(g->members[2].logprobs[i], json_real_value(json_array_get(logp, i)),
                   1e-4);
    }
    group_free(g);
}

static void stories_greedy_is_golden(void)
{
    const char *data = check_data();
    struct fault f = FAULT_INIT;
    const struct backend *be;
    struct model *m = NULL;
    char path[512];
    json_t *golden;

    if (!data)
        return;
    snprintf(path, sizeof path, "%s/weights/stories260K/golden.json", data);
    golden = json_load_file(path, 0, NULL);
    snprintf(path, sizeof path, "%s/weights/stories260K", data);
    CHECK(golden != NULL);
    CHECK_OK(backend_find(&be, "cpu", &f), &f);
    CHECK_OK(model_open(&m, path, be, COMPUTE_F32, 0, &f), &f);
    if (m && golden)
        check_story(m, golden);
    model_free(m);
    json_decref(golden);
}

CASES(CASE(stories_greedy_is_golden));
