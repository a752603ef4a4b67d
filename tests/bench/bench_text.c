/* bench_text.c - opening the real tokenizer, and MB/s of encoding on one core. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/clock.h"
#include "dapo/mem.h"
#include "dapo/text.h"

/* Texts of DAPO-Math-17k's prompts, from the tokenizer's own reference rows. */
static size_t read_texts(const char *dir, json_t **texts, size_t *bytes)
{
    struct fault f = FAULT_INIT;
    struct bytes file = {0};
    char *save = NULL, *line;
    char path[512];

    *texts = json_array();
    *bytes = 0;
    snprintf(path, sizeof path, "%s/tokenizer/golden_qwen3.jsonl", dir);
    if (file_read(path, 1 << 25, &file, &f))
        return 0;
    for (line = strtok_r(file.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL);
        json_t *text = json_object_get(row, "text");
        const char *source = json_string_value(json_object_get(row, "src"));

        if (source && !strcmp(source, "dapo")) {
            *bytes += json_string_length(text);
            json_array_append(*texts, text);
        }
        json_decref(row);
    }
    bytes_free(&file);
    return json_array_size(*texts);
}

static double encode_all(const struct tokenizer *t, const json_t *texts, struct ids *v)
{
    struct fault f = FAULT_INIT;
    double start = clock_cpu();

    v->n = 0;
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const json_t *s = json_array_get(texts, i);

        if (tokenizer_encode(t, json_string_value(s), json_string_length(s), false, v,
                             &f))
            return 0;
    }
    return clock_cpu() - start;
}

int main(void)
{
    const char *dir = getenv("DAPO_DATA");
    struct fault f = FAULT_INIT;
    struct tokenizer *t;
    struct ids v = {0};
    double start = clock_cpu(), best = 1e9;
    size_t bytes;
    json_t *texts;
    char path[512];

    snprintf(path, sizeof path, "%s/tokenizer", dir ? dir : "../shared/data");
    if (tokenizer_open(&t, path, &f)) {
        printf("skipped: %s\n", f.text);
        return 77;
    }
    printf("tokenizer_open: %.3f s CPU for %d tokens\n", clock_cpu() - start,
           tokenizer_size(t));
    if (read_texts(dir ? dir : "../shared/data", &texts, &bytes) > 0) {
        for (int i = 0; i < 20; i++) {
            double took = encode_all(t, texts, &v);

            best = took < best ? took : best;
        }
        printf("tokenizer_encode: %.1f MB/s (best of 20 over %zu texts, %zu bytes)\n",
               (double)bytes / 1e6 / best, json_array_size(texts), bytes);
    }
    ids_free(&v);
    json_decref(texts);
    tokenizer_free(t);
    return 0;
}
