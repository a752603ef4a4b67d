/* test_prompts.c - reading prompt files, good ones and broken ones. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "dapo/data.h"
#include "dapo/mem.h"

static const char *written(const char *name, const char *text, size_t n)
{
    static char path[300];
    struct fault f = FAULT_INIT;

    snprintf(path, sizeof path, "%s/%s", check_tmp(), name);
    CHECK_OK(file_publish(path, text, n, &f), &f);
    return path;
}

static unsigned long long hash_of(const char *text)
{
    struct fault f = FAULT_INIT;
    struct prompts p;
    unsigned long long hash;

    CHECK_OK(prompts_read(&p, written("hash.jsonl", text, strlen(text)), &f), &f);
    hash = p.hash;
    prompts_free(&p);
    return hash;
}

static const char good[] =
    "{\"id\":\"a\",\"question\":\"1+1?\",\"answer\":\"2\",\"data_source\":\"hand\"}\n"
    "{\"answer\":\"\\u4e2d\",\"more\":[1],\"id\":\"b\",\"question\":\"q\\n2\"}\n";

static void fields_arrive(void)
{
    struct fault f = FAULT_INIT;
    struct prompts p;

    CHECK_OK(prompts_read(&p, written("good.jsonl", good, sizeof good - 1), &f), &f);
    CHECK_INT(p.n, 2);
    CHECK_TEXT(p.row[0].id, "a");
    CHECK_TEXT(p.row[0].question, "1+1?");
    CHECK_TEXT(p.row[0].answer, "2");
    CHECK_TEXT(p.row[0].source, "hand");
    CHECK_TEXT(p.row[1].id, "b");
    CHECK_TEXT(p.row[1].question, "q\n2");
    CHECK_TEXT(p.row[1].answer, "\u4e2d");
    CHECK_TEXT(p.row[1].source, "");
    prompts_free(&p);
    CHECK(p.row == NULL && p.n == 0);
}

/* Computed with python3-xxhash: xxh3_64 of the fields, each with a NUL behind it. */
static void hash_is_of_the_content(void)
{
    unsigned long long base =
        hash_of("{\"id\":\"a\",\"question\":\"q\",\"answer\":\"2\"}");

    CHECK(base == 0x3d22b3981ba27747);
    CHECK(base == hash_of("{ \"answer\": \"\\u0032\", \"x\": 0, \"id\": \"a\", "
                          "\"data_source\": \"\", \"question\": \"q\" }\n"));
    CHECK(base != hash_of("{\"id\":\"a\",\"question\":\"q\",\"answer\":\"3\"}"));
    CHECK(base != hash_of("{\"id\":\"aq\",\"question\":\"2\",\"answer\":\"2\"}"));
    CHECK(hash_of(good) != base);
}

#define OK "{\"id\":\"a\",\"question\":\"q\",\"answer\":\"2\"}\n"

static void broken_files_name_the_line(void)
{
    static const struct {
        const char *text, *says;
        size_t n; /* 0 = strlen */
    } t[] = {
        {OK "{\"id\":\"b\",\"question\":\"q\"}\n", "line 2: \"answer\" is missing", 0},
        {OK "{\"id\":\"b\",\"question\":\"q\",\"answer\":2}",
         "line 2: \"answer\" is not a", 0},
        {OK OK, "line 2: has the id \"a\" of line 1", 0},
        {"{\"id\":\"b\",\"question\":\"\",\"answer\":\"2\"}\n",
         "line 1: \"question\" is empty", 0},
        {"{\"id\":\"\",\"question\":\"q\",\"answer\":\"2\"}\n",
         "line 1: \"id\" is empty", 0},
        {"{\"id\":1,\"question\":\"q\",\"answer\":\"2\"}\n", "line 1: \"id\" is not a",
         0},
        {OK "\n" OK, "line 2: is not JSON", 0},
        {OK "[1]\n", "line 2: is not a JSON object", 0},
        {OK "{\"id\":\"b\",\n", "line 2: is not JSON", 0},
        {OK "{\"id\":\"b\",\"question\":\"q\",\"answer\":\"2\"} x\n",
         "line 2: is not JSON", 0},
        {OK "{\"id\":\"b\",\"id\":\"c\",\"question\":\"q\",\"answer\":\"2\"}\n",
         "duplicate", 0},
        {"{\"id\":\"\\u0000\",\"question\":\"q\",\"answer\":\"2\"}\n",
         "line 1: is not JSON", 0},
        {"{\"id\":\"\xff\",\"question\":\"q\",\"answer\":\"2\"}\n",
         "line 1: is not JSON", 0},
        {"{\"id\":\"a\",\"question\":\"q\",\"data_source\":3,\"answer\":\"2\"}\n",
         "line 1: \"data_source\" is not", 0},
        {"{\"id\0\":1}", "line 1: is not JSON", 9},
        {"PAR1", "line 1: is not JSON", 0},
        {"", "has no rows", 0},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct fault f = FAULT_INIT;
        struct prompts p;
        const char *path =
            written("bad.jsonl", t[i].text, t[i].n ? t[i].n : strlen(t[i].text));

        CHECK_INT(prompts_read(&p, path, &f), FAULT_DATA);
        if (!strstr(f.text, t[i].says) || !strstr(f.text, "bad.jsonl"))
            CHECK_TEXT(f.text, t[i].says);
        CHECK(p.row == NULL);
    }
}

/* A million brackets must not exhaust the stack. */
static void deep_json_is_a_fault(void)
{
    struct fault f = FAULT_INIT;
    struct bytes b = {0};
    struct prompts p;

    for (int i = 0; i < 1000000; i++)
        bytes_add(&b, "[", 1, &f);
    CHECK_INT(prompts_read(&p, written("deep.jsonl", b.data, b.len), &f), FAULT_DATA);
    bytes_free(&b);
}

static void missing_file(void)
{
    struct fault f = FAULT_INIT;
    struct prompts p;

    CHECK_INT(prompts_read(&p, "/nonexistent/x.jsonl", &f), FAULT_FILE);
    CHECK(strstr(f.text, "/nonexistent/x.jsonl") != NULL);
    CHECK_INT(prompts_read(&p, check_tmp(), &f), FAULT_FILE);
}

CASES(CASE(fields_arrive), CASE(hash_is_of_the_content),
      CASE(broken_files_name_the_line), CASE(deep_json_is_a_fault), CASE(missing_file));
