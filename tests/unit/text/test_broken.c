/* test_broken.c - tokenizer files that must be refused, each with one sentence. */
#include <stdio.h>
#include <stdlib.h>

#include "rows.h"

/* The fixture as text, with the first `from` replaced by `to`. */
static int open_changed(const char *from, const char *to, struct fault *f)
{
    struct tokenizer *t = NULL;
    struct bytes file = {0}, made = {0};
    char path[128], *at;
    int rc;

    CHECK_OK(file_read(REF "tokenizer.json", 1 << 20, &file, f), f);
    at = strstr(file.data, from);
    CHECK(at != NULL);
    if (at) {
        CHECK_OK(bytes_add(&made, file.data, (size_t)(at - file.data), f), f);
        CHECK_OK(bytes_printf(&made, f, "%s%s", to, at + strlen(from)), f);
    }
    snprintf(path, sizeof path, "%s/tokenizer.json", check_tmp());
    CHECK_OK(file_publish(path, made.data, made.len, f), f);
    rc = tokenizer_open(&t, check_tmp(), f);
    CHECK(!rc == !!t);
    tokenizer_free(t);
    bytes_free(&file);
    bytes_free(&made);
    return rc;
}

#define TOKEN \
    "\"id\":401,\"content\":\"<|im_start|>\",\"single_word\":false,\"lstrip\":false"
#define REGEX "(?i:'s|'t|'re|'ve|'m|'ll|'d)|"

/* The sentence must say what is wrong: `says` is in it. */
static const struct {
    const char *from, *to, *says;
} broken[] = {
    {"\"merges\":[[\"", "\"merges\":[[", "line 1"}, /* not JSON */
    {"{\"version\"", "[{}, {\"version\"", "line 1"},
    {"\"model\":{", "\"Model\":{", "no model"},
    {"\"model\":{", "\"model\":[1],\"x\":{", "no model"},
    {"\"type\":\"BPE\"", "\"type\":\"Unigram\"", "Unigram"},
    {"\"byte_fallback\":false", "\"byte_fallback\":true", "byte_fallback"},
    {"\"dropout\":null", "\"dropout\":0.1", "dropout"},
    {"\"continuing_subword_prefix\":null", "\"continuing_subword_prefix\":\"##\"",
     "continuing_subword_prefix"},
    {"\"ignore_merges\":false", "\"ignore_merges\":\"no\"", "neither true nor false"},
    {"\"vocab\":{", "\"vocab\":[],\"x\":{", "vocab is not an object"},
    {"\"merges\":[", "\"merges\":{},\"x\":[", "merges are not a list"},
    {"\"!\":0", "\"!\":\"0\"", "\"!\" is not an integer"},
    {"\"!\":0", "\"!\":0.5", "\"!\" is not an integer"},
    {"\"!\":0", "\"!\":-1", "\"!\" is not an integer in 0.."},
    {"\"!\":0", "\"!\":1", "is given to"},
    {"\"!\":0", "\"!\":4194304", "\"!\" is not an integer in 0..4194303"},
    {"\"!\":0", "\"!\":99999999999999999999", "too big"},
    {"\"!\":0", "\"!!!\":0", "no word for the byte 0x21"},
    {"\"!\":0", "\"\\u0000\":0", "line 1"},
    {"[\"e\",\"r\"]", "[\"e\",\"rrrr\"]", "\"rrrr\", which is not in the vocabulary"},
    {"[\"e\",\"r\"]", "[\"e\",\"\xE4\xB8\xAD\"]", "which is not in the vocabulary"},
    {"[\"e\",\"r\"]", "[\"!\",\"r\"]", "makes a word that is not"},
    {"[\"e\",\"r\"]", "[\"er\",\"\"]", "not a pair of words"}, /* er + nothing = er */
    {"[\"e\",\"r\"]", "[\"e\"]", "not a pair of words"},
    {"[\"e\",\"r\"]", "[\"e\",\"r\",\"r\"]", "not a pair of words"},
    {"[\"e\",\"r\"]", "[1,2]", "not a pair of words"},
    {"[\"e\",\"r\"]", "\"er\"", "not a pair of words"},
    {"[\"e\",\"r\"]", "\"e r r\"", "not a pair of words"},
    {"\"id\":401,\"content\":\"<|im_start|>\"",
     "\"id\":400,\"content\":\"<|im_start|>\"", "the id 400 is given to"},
    {"\"id\":401,", "\"id\":65,", "the id 65 is given to"},
    {"\"id\":401,", "\"id\":-7,", "the id -7, outside"},
    {"\"id\":401,", "\"id\":2147483648,", "outside of 0.."},
    {"\"id\":401,", "\"id\":\"401\",", "no id"},
    {"\"id\":401,", "", "no id"},
    {"\"content\":\"<|im_start|>\"", "\"content\":\"\"", "no text"},
    {"\"content\":\"<|im_start|>\"", "\"content\":\"<|im_end|>\"", "has two ids"},
    {"\"content\":\"<|im_start|>\"", "\"content\":\"er\"", "in the vocabulary"},
    {TOKEN, TOKEN ",\"lstrip\":true", "lstrip, which isn't supported"},
    {"\"added_tokens\":[", "\"added_tokens\":{},\"x\":[", "not a list"},
    {"\"added_tokens\":[", "\"added_tokens\":[7,", "added token 0"},
    {"\"type\":\"NFC\"", "\"type\":\"Lowercase\"", "Lowercase"},
    {"\"normalizer\":{", "\"normalizer\":7,\"x\":{", "not an object"},
    {"\"pre_tokenizer\":{", "\"pre_tokenizer\":null,\"x\":{", "no pre_tokenizer"},
    {"\"type\":\"Split\"", "\"type\":\"Metaspace\"", "Metaspace"},
    {"\"pretokenizers\":[", "\"pretokenizers\":[],\"x\":[", "empty Sequence"},
    {"\"behavior\":\"Isolated\"", "\"behavior\":\"Removed\"", "Removed"},
    {"\"invert\":false", "\"invert\":true", "inverted"},
    {"\"Regex\"", "\"String\"", "without a regular expression"},
    {REGEX, "(" REGEX, "bad regular expression"},
    {REGEX, "[a[b]]|", "a set in a set"},
    {REGEX, "\\\\w+|", "\\w"},
    {"add_prefix_space\":false", "add_prefix_space\":true", "add_prefix_space"},
    {"\"decoder\":{", "\"decoder\":null,\"x\":{", "no decoder"},
};

static void broken_files_get_a_sentence(void)
{
    struct fault f = FAULT_INIT;

    CHECK_INT(open_changed("{\"version\"", "{\"version\"", &f), 0);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        f = FAULT_INIT;
        CHECK_INT(open_changed(broken[i].from, broken[i].to, &f), FAULT_DATA);
        if (!strstr(f.text, broken[i].says))
            fprintf(stderr, "row %zu: %s\n", i, f.text);
        CHECK(strstr(f.text, broken[i].says) != NULL);
        CHECK(strstr(f.text, "tokenizer.json") != NULL);
    }
}

/* Cut anywhere, a file is refused or (behind its last brace) whole. */
static void cut_files_are_refused(void)
{
    struct fault f = FAULT_INIT;
    struct tokenizer *t = NULL;
    struct bytes file = {0};
    char path[128];

    CHECK_OK(file_read(REF "tokenizer.json", 1 << 20, &file, &f), &f);
    snprintf(path, sizeof path, "%s/cut.json", check_tmp());
    for (size_t n = 0; n < file.len; n += 1 + file.len / 50) {
        CHECK_OK(file_publish(path, file.data, n, &f), &f);
        CHECK_INT(tokenizer_open(&t, path, &f), FAULT_DATA);
        CHECK(t == NULL);
    }
    bytes_free(&file);
}

static void missing_files(void)
{
    struct fault f = FAULT_INIT;
    struct tokenizer *t = NULL;

    CHECK_INT(tokenizer_open(&t, "/nowhere", &f), FAULT_FILE);
    CHECK_INT(tokenizer_open(&t, check_tmp(), &f) != 0, 1);
    CHECK_INT(tokenizer_open(&t, "tests", &f), FAULT_FILE);
}

/* An expression that backtracks without end is given up, not waited for. */
static void hopeless_expressions_end(void)
{
    struct fault f = FAULT_INIT;
    struct tokenizer *t = NULL;
    struct ids v = {0};
    static const char text[] =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!";
    char path[128];

    CHECK_OK(open_changed(REGEX, "(a?a?a?)*(a?a?a?)*(a?a?a?)*c|", &f), &f);
    snprintf(path, sizeof path, "%s/tokenizer.json", check_tmp());
    CHECK_OK(tokenizer_open(&t, path, &f), &f);
    CHECK_OK(ids_add(&v, 5, &f), &f);
    CHECK_INT(tokenizer_encode(t, text, strlen(text), true, &v, &f), FAULT_DATA);
    CHECK(strstr(f.text, "gave up") != NULL);
    CHECK_INT(v.n, 1);
    ids_free(&v);
    tokenizer_free(t);
}

CASES(CASE(broken_files_get_a_sentence), CASE(cut_files_are_refused),
      CASE(missing_files), CASE(hopeless_expressions_end))
