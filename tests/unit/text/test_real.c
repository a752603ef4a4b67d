/* test_real.c - the Qwen3 tokenizer against ids made by other programs. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/mem.h"
#include "dapo/text.h"

static struct tokenizer *tokenizer;

static bool open_real(struct bytes *file, const char *name)
{
    const char *data = check_data();
    struct fault f = FAULT_INIT;
    char path[512];

    if (!data)
        return false;
    snprintf(path, sizeof path, "%s/tokenizer", data);
    if (!tokenizer)
        CHECK_OK(tokenizer_open(&tokenizer, path, &f), &f);
    snprintf(path, sizeof path, "%s/tokenizer/%s", data, name);
    *file = (struct bytes){0};
    CHECK_OK(file_read(path, 1 << 25, file, &f), &f);
    return tokenizer && file->data;
}

static bool same(const struct ids *got, const int *want, size_t n)
{
    return got->n == n && (n == 0 || !memcmp(got->id, want, n * sizeof *want));
}

/* Ids and text there and back; complains with the text. */
static void check_row(const char *text, size_t n, const int *want, size_t n_want,
                      bool nfc_only)
{
    struct fault f = FAULT_INIT;
    struct ids got = {0};
    struct bytes back = {0};

    CHECK_OK(tokenizer_encode(tokenizer, text, n, true, &got, &f), &f);
    if (!same(&got, want, n_want))
        fprintf(stderr, "differs: %.200s\n", text);
    CHECK(same(&got, want, n_want));
    CHECK_OK(tokenizer_decode(tokenizer, want, n_want, false, &back, &f), &f);
    if (!nfc_only)
        CHECK(back.len == n && (n == 0 || !memcmp(back.data, text, n)));
    ids_free(&got);
    bytes_free(&back);
}

/* golden_qwen3.jsonl: {src, text, ids} from the tokenizers library. */
static void matches_tokenizers_library(void)
{
    struct bytes file;
    int rows = 0, want[8192];
    char *save = NULL;

    if (!open_real(&file, "golden_qwen3.jsonl"))
        return;
    for (char *line = strtok_r(file.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL);
        const json_t *text = json_object_get(row, "text");
        const json_t *ids = json_object_get(row, "ids");
        size_t n = json_array_size(ids);

        CHECK(row && n <= 8192);
        for (size_t i = 0; i < n; i++)
            want[i] = (int)json_integer_value(json_array_get(ids, i));
        /* Texts that NFC changes do not come back. */
        check_row(json_string_value(text), json_string_length(text), want, n,
                  strcmp(json_string_value(json_object_get(row, "src")), "dapo") != 0);
        json_decref(row);
        rows++;
    }
    CHECK_INT(rows, 421);
    bytes_free(&file);
}

/* ggml-vocab-qwen2.gguf.inp/.out: llama.cpp's vectors, texts between separator lines.
 */
static void matches_llama_cpp(void)
{
    static const char between[] = "\n__ggml_vocab_test__\n";
    struct bytes texts, lists;
    char *text, *list;
    int rows = 0;

    if (!open_real(&texts, "ggml-vocab-qwen2.gguf.inp"))
        return;
    CHECK(open_real(&lists, "ggml-vocab-qwen2.gguf.out"));
    text = texts.data;
    list = lists.data;
    while (text && list && *list) {
        char *end = strstr(text, between), *line_end = strchr(list, '\n');
        int want[1024];
        size_t n = 0;

        if (!end) /* the last text has no newline behind its separator */
            end = text + strlen(text);
        for (char *p = list; p < line_end && n < 1024;) {
            char *next;
            long v = strtol(p, &next, 10);

            if (next == p || next > line_end)
                break;
            want[n++] = (int)v;
            p = next;
        }
        check_row(text, (size_t)(end - text), want, n, false);
        rows++;
        text = *end ? end + strlen(between) : NULL;
        list = line_end ? line_end + 1 : NULL;
    }
    CHECK_INT(rows, 46);
    bytes_free(&texts);
    bytes_free(&lists);
}

static void real_facts(void)
{
    struct bytes file;
    static const char user[] = "a<|im_end|>b";
    static const int plain[] = {64, 27, 91, 318, 6213, 91, 29, 65};
    struct fault f = FAULT_INIT;
    struct ids got = {0};

    if (!open_real(&file, "tokenizer_config.json"))
        return;
    CHECK_INT(tokenizer_size(tokenizer), 151669);
    CHECK_INT(tokenizer_id(tokenizer, "<|im_end|>"), 151645);
    CHECK_INT(tokenizer_id(tokenizer, " world"), 1879);
    CHECK_INT(tokenizer_id(tokenizer, "no such word"), -1);
    CHECK_OK(tokenizer_encode(tokenizer, user, strlen(user), false, &got, &f), &f);
    CHECK(same(&got, plain, 8));
    ids_free(&got);
    bytes_free(&file);
    tokenizer_free(tokenizer);
    tokenizer = NULL;
}

CASES(CASE(matches_tokenizers_library), CASE(matches_llama_cpp), CASE(real_facts))
