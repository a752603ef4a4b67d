/* test_encode.c - a small tokenizer against ids from the tokenizers library
 * (tests/ref/text_cases.py), and training against its trainer. */
#include <stdio.h>
#include <stdlib.h>

#include "rows.h"

static struct tokenizer *fixture(void)
{
    struct fault f = FAULT_INIT;
    struct tokenizer *t = NULL;

    CHECK_OK(tokenizer_open(&t, REF "tokenizer.json", &f), &f);
    return t;
}

/* -- every row of encode.jsonl ---------------------------------------------------- */

static const char qwen35[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}"
    "| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
static const char llama3[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

static json_t *split(const char *pattern)
{
    return json_pack("{s:s, s:{s:s}, s:s, s:b}", "type", "Split", "pattern", "Regex",
                     pattern, "behavior", "Isolated", "invert", 0);
}

/* Trained on 200 words of 12 letters a, b, c, so that nearly all pairs merge. */
static struct tokenizer *dense(void)
{
    struct fault f = FAULT_INIT;
    struct tokenizer *t = NULL;
    char word[200][13], path[128];
    const char *words[200];
    unsigned state = 1;

    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < 12; k++) {
            state = state * 1103515245u + 12345u;
            word[i][k] = "abc"[(state >> 16) % 3];
        }
        word[i][12] = '\0';
        words[i] = word[i];
    }
    snprintf(path, sizeof path, "%s/dense.json", check_tmp());
    CHECK_OK(tokenizer_train(words, 200, 400, NULL, 0, path, &f), &f);
    CHECK_OK(tokenizer_open(&t, path, &f), &f);
    return t;
}

/* The variants of text_cases.py, made of the fixture. */
static struct tokenizer *variant(const char *name)
{
    struct fault f = FAULT_INIT;
    struct tokenizer *t = NULL;
    json_t *root = json_load_file(REF "tokenizer.json", 0, NULL);
    json_t *model = json_object_get(root, "model");
    json_t *pre = json_object_get(root, "pre_tokenizer");
    json_t *list = json_object_get(pre, "pretokenizers");
    json_t *added;
    char path[128];
    size_t i;

    if (!strcmp(name, "gpt2"))
        json_object_set_new(root, "pre_tokenizer",
                            json_pack("{s:s, s:b, s:b}", "type", "ByteLevel",
                                      "add_prefix_space", 0, "use_regex", 1));
    if (!strcmp(name, "qwen3.5"))
        json_array_set_new(list, 0, split(qwen35));
    if (!strcmp(name, "two")) {
        json_array_set_new(list, 0, split("\\p{N}{1,3}"));
        json_array_insert_new(list, 1, split("[a-m]+|[n-z]"));
    }
    if (!strcmp(name, "llama3")) {
        json_array_set_new(list, 0, split(llama3));
        json_object_set_new(root, "normalizer", json_null());
        json_object_set_new(model, "ignore_merges", json_true());
        json_object_set_new(json_object_get(model, "vocab"), "\xC4\xA0xyz",
                            json_integer(400));
        json_array_foreach(json_object_get(root, "added_tokens"), i, added)
            json_object_set_new(added, "id", json_integer(401 + (json_int_t)i));
    }
    snprintf(path, sizeof path, "%s/tokenizer.json", check_tmp());
    CHECK_INT(json_dump_file(root, path, 0), 0);
    CHECK_OK(tokenizer_open(&t, check_tmp(), &f), &f);
    json_decref(root);
    return t;
}

static char current[32];
static struct tokenizer *current_tokenizer;

/* Decoded id by id, which must give what decoding at once gives, with U+FFFD for what
 * isn't UTF-8. */
static void check_back(const json_t *row, const struct ids *ids)
{
    struct fault f = FAULT_INIT;
    struct bytes got = {0};
    struct decoder d;
    size_t n = row_size(row, "back");

    decoder_start(&d, current_tokenizer, true);
    for (size_t i = 0; i < ids->n; i++)
        CHECK_OK(decoder_add(&d, ids->id[i], &got, &f), &f);
    CHECK_OK(decoder_end(&d, &got, &f), &f);
    CHECK(got.len == n && (!n || !memcmp(got.data, row_text(row, "back"), n)));
    bytes_free(&got);
}

static void encode_row(const json_t *row)
{
    struct fault f = FAULT_INIT;
    struct ids got = {0};
    bool special = json_is_true(json_object_get(row, "special"));

    if (strcmp(row_text(row, "variant"), current)) {
        snprintf(current, sizeof current, "%s", row_text(row, "variant"));
        tokenizer_free(current_tokenizer);
        current_tokenizer = strcmp(current, "dense") ? variant(current) : dense();
    }
    CHECK_OK(tokenizer_encode(current_tokenizer, row_text(row, "text"),
                              row_size(row, "text"), special, &got, &f),
             &f);
    CHECK(row_ids(row, "ids", &got));
    if (!json_is_null(json_object_get(row, "back")))
        check_back(row, &got);
    ids_free(&got);
}

static void ids_are_those_of_the_library(void)
{
    CHECK_INT(rows_each(REF "encode.jsonl", encode_row), 738);
    tokenizer_free(current_tokenizer);
    current_tokenizer = NULL;
}

/* -- bytes ------------------------------------------------------------------------ */

/* What Python's bytes.decode(errors="replace") makes of each, in U+FFFD as '#'. */
static void bad_bytes_are_replaced(void)
{
    static const struct {
        const char *bytes, *want;
    } row[] = {
        {"a\xFF"
         "b",
         "a#b"},
        {"\xE4\xB8", "#"},                 /* cut */
        {"\xE4\xB8x", "#x"},               /* cut by another character */
        {"\xC0\xAF", "##"},                /* overlong */
        {"\xE0\x80\x80", "###"},           /* overlong */
        {"\xED\xA0\x80", "###"},           /* surrogate */
        {"\xF0\x9F\x98", "#"},             /* cut */
        {"\xF0\x9F\xF0\x9F", "##"},        /* cut twice */
        {"\xF4\x90\x80\x80", "####"},      /* above U+10FFFF */
        {"\x80\xBFz", "##z"},              /* no lead byte */
        {"\xF8\x88\x80\x80\x80", "#####"}, /* five-byte form */
    };
    struct tokenizer *t = fixture();
    struct fault f = FAULT_INIT;

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct ids got = {0}, want = {0};
        struct bytes text = {0};

        for (const char *p = row[i].want; *p; p++)
            CHECK_OK(
                bytes_add(&text, *p == '#' ? "\xEF\xBF\xBD" : p, *p == '#' ? 3 : 1, &f),
                &f);
        CHECK_OK(
            tokenizer_encode(t, row[i].bytes, strlen(row[i].bytes), true, &got, &f),
            &f);
        CHECK_OK(tokenizer_encode(t, text.data, text.len, true, &want, &f), &f);
        CHECK(got.n == want.n && !memcmp(got.id, want.id, got.n * sizeof(int)));
        ids_free(&got);
        ids_free(&want);
        bytes_free(&text);
    }
    tokenizer_free(t);
}

/* The same bytes as tokens, decoded one at a time: the same replacement, and nothing of
 * a character comes out before its end. */
static void decoding_holds_back_incomplete_characters(void)
{
    static const char smile[] = "\xF0\x9F\x99\x82";
    struct tokenizer *t = fixture();
    struct fault f = FAULT_INIT;
    struct bytes out = {0}, raw = {0};
    struct decoder d;
    int id[4], cut[] = {0, 1, 3};

    for (int i = 0; i < 4; i++)
        CHECK((id[i] = tokenizer_id(t, (char[]){smile[i], '\0'})) >= 0);
    decoder_start(&d, t, false);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(decoder_add(&d, id[i], &out, &f), &f);
        CHECK_INT(out.len, 0);
    }
    CHECK_OK(decoder_add(&d, id[3], &out, &f), &f);
    CHECK_TEXT(out.data, smile);
    out.len = 0;
    for (int i = 0; i < 3; i++) /* F0 9F, then 82: the last can't go on */
        CHECK_OK(decoder_add(&d, id[cut[i]], &out, &f), &f);
    CHECK_INT(out.len, 0);
    CHECK_OK(decoder_add(&d, tokenizer_id(t, "a"), &out, &f), &f);
    CHECK_TEXT(out.data, "\xEF\xBF\xBD"
                         "a");
    CHECK_OK(decoder_add(&d, id[0], &out, &f), &f);
    CHECK_OK(decoder_end(&d, &out, &f), &f);
    CHECK_TEXT(out.data, "\xEF\xBF\xBD"
                         "a\xEF\xBF\xBD");
    CHECK_OK(tokenizer_decode(t, id, 3, false, &raw, &f), &f);
    CHECK_INT(raw.len, 3); /* decoding at once keeps the bytes */
    bytes_free(&raw);
    bytes_free(&out);
    tokenizer_free(t);
}

static void ids_out_of_range_are_faults(void)
{
    struct tokenizer *t = fixture();
    struct fault f = FAULT_INIT;
    struct bytes out = {0};
    struct decoder d;
    int bad[] = {65, 409}, negative = -1;

    CHECK_INT(tokenizer_size(t), 409);
    CHECK_OK(bytes_add(&out, "x", 1, &f), &f);
    CHECK_INT(tokenizer_decode(t, bad, 2, false, &out, &f), FAULT_DATA);
    CHECK_INT(tokenizer_decode(t, &negative, 1, false, &out, &f), FAULT_DATA);
    decoder_start(&d, t, false);
    CHECK_INT(decoder_add(&d, 409, &out, &f), FAULT_DATA);
    CHECK_TEXT(out.data, "x");
    bytes_free(&out);
    tokenizer_free(t);
}

/* A run of marks whose ordering would take quadratic time is refused, a text with many
 * short runs is not; other long runs just work. */
static void long_runs_end(void)
{
    static const char *const unit[] = {
        "a", " ", "\n ", "<", "\xE4\xB8\xAD", "a\xCC\xA7\xCC\x81"};
    struct tokenizer *t = fixture();
    struct fault f = FAULT_INIT;
    struct bytes text = {0}, back = {0};
    struct ids v = {0};

    for (size_t i = 0; i < sizeof unit / sizeof unit[0]; i++) {
        text.len = back.len = v.n = 0;
        for (int k = 0; k < 100000; k++)
            CHECK_OK(bytes_add(&text, unit[i], strlen(unit[i]), &f), &f);
        CHECK_OK(tokenizer_encode(t, text.data, text.len, true, &v, &f), &f);
        CHECK_OK(tokenizer_decode(t, v.id, v.n, false, &back, &f), &f);
        CHECK(i == 5 ||
              (back.len == text.len && !memcmp(back.data, text.data, text.len)));
    }
    text.len = 0;
    for (int k = 0; k < 1000; k++)
        CHECK_OK(bytes_add(&text, "\xCC\x81\xCC\xA7", 4, &f), &f);
    CHECK_INT(tokenizer_encode(t, text.data, text.len, true, &v, &f), FAULT_DATA);
    ids_free(&v);
    bytes_free(&text);
    bytes_free(&back);
    tokenizer_free(t);
}

/* -- training --------------------------------------------------------------------- */

static void training_makes_the_librarys_merges(void)
{
    static const char *const special[] = {"<|endoftext|>", "<|im_start|>",
                                          "<|im_end|>"};
    struct fault f = FAULT_INIT;
    struct bytes corpus = {0};
    const char *lines[64];
    json_t *want = json_load_file(REF "tokenizer.json", 0, NULL), *got;
    struct tokenizer *t = NULL;
    size_t n = 0;
    char path[128];

    CHECK_OK(file_read(REF "corpus.txt", 1 << 16, &corpus, &f), &f);
    for (char *p = corpus.data, *end; p && n < 64; p = end ? end + 1 : NULL) {
        if ((end = strchr(p, '\n')))
            *end = '\0';
        lines[n++] = p;
    }
    snprintf(path, sizeof path, "%s/trained.json", check_tmp());
    CHECK_OK(tokenizer_train(lines, n, 403, special, 3, path, &f), &f);
    got = json_load_file(path, 0, NULL);
    CHECK(json_equal(json_object_get(json_object_get(got, "model"), "vocab"),
                     json_object_get(json_object_get(want, "model"), "vocab")));
    CHECK_OK(tokenizer_open(&t, path, &f), &f);
    CHECK_INT(tokenizer_size(t), 403);
    CHECK_INT(tokenizer_id(t, "<|im_end|>"), 402);
    /* The library writes pairs, we write "a b". */
    for (size_t i = 0; i < 144; i++) {
        const json_t *g = json_object_get(json_object_get(got, "model"), "merges");
        const json_t *w = json_object_get(json_object_get(want, "model"), "merges");
        char pair[64];

        w = json_array_get(w, i);
        snprintf(pair, sizeof pair, "%s %s", json_string_value(json_array_get(w, 0)),
                 json_string_value(json_array_get(w, 1)));
        CHECK_TEXT(json_string_value(json_array_get(g, i)), pair);
    }
    tokenizer_free(t);
    json_decref(got);
    json_decref(want);
    bytes_free(&corpus);
}

static void training_checks_what_it_is_asked(void)
{
    static const char *const twice[] = {"<a>", "<a>"}, *const empty[] = {""},
                             *const text[] = {"aaaa b\xFF"};
    struct fault f = FAULT_INIT;
    struct tokenizer *t = NULL;
    char path[128];

    snprintf(path, sizeof path, "%s/small.json", check_tmp());
    CHECK_INT(tokenizer_train(text, 1, 255, NULL, 0, path, &f), FAULT_CONFIG);
    CHECK_INT(tokenizer_train(text, 1, 300, twice, 2, path, &f), FAULT_CONFIG);
    CHECK_INT(tokenizer_train(text, 1, 300, empty, 1, path, &f), FAULT_CONFIG);
    CHECK_INT(tokenizer_train(text, 1, 300, twice, 1, "/nowhere/t.json", &f),
              FAULT_FILE);
    /* Few merges to be had: it ends before 300.  aaaa: aa, aa aa.  b + U+FFFD cut. */
    CHECK_OK(tokenizer_train(text, 1, 300, twice, 1, path, &f), &f);
    CHECK_OK(tokenizer_open(&t, path, &f), &f);
    CHECK(tokenizer_size(t) < 300);
    CHECK(tokenizer_id(t, "aaaa") >= 256);
    CHECK_OK(tokenizer_train(NULL, 0, 256, NULL, 0, path, &f), &f);
    tokenizer_free(t);
}

CASES(CASE(ids_are_those_of_the_library), CASE(bad_bytes_are_replaced),
      CASE(decoding_holds_back_incomplete_characters),
      CASE(ids_out_of_range_are_faults), CASE(long_runs_end),
      CASE(training_makes_the_librarys_merges), CASE(training_checks_what_it_is_asked))
