/* cmd_tokenize.c - dapo tokenize MODEL: texts to ids, and back with --decode. */
#include <jansson.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "dapo/text.h"

struct job {
    struct tokenizer *tok;
    bool special;
    struct ids ids;
    struct bytes text;
};

/* "text" or {"text": "text"} in, {"ids": [...]} out. */
static int encode(void *job, const json_t *line, struct fault *f)
{
    struct job *j = job;
    const json_t *text = json_is_object(line) ? json_object_get(line, "text") : line;

    if (!json_is_string(text))
        return fault_set(f, FAULT_DATA,
                         "has no text: want a string or {\"text\": \"...\"}");
    j->ids.n = 0;
    if (tokenizer_encode(j->tok, json_string_value(text), json_string_length(text),
                         j->special, &j->ids, f))
        return f->code;
    fputs("{\"ids\": [", stdout);
    for (size_t i = 0; i < j->ids.n; i++)
        printf(i ? ", %d" : "%d", j->ids.id[i]);
    puts("]}");
    return 0;
}

/* {"ids": [...]} in, {"text": "..."} out; what is not UTF-8 becomes U+FFFD. */
static int decode(void *job, const json_t *line, struct fault *f)
{
    struct job *j = job;
    struct decoder d;
    json_t *text;
    int rc;

    j->ids.n = j->text.len = 0;
    decoder_start(&d, j->tok, false);
    rc = json_ids(line, tokenizer_size(j->tok), &j->ids, f);
    for (size_t i = 0; i < j->ids.n && !rc; i++)
        rc = decoder_add(&d, j->ids.id[i], &j->text, f);
    if (!rc)
        rc = decoder_end(&d, &j->text, f);
    if (rc)
        return rc;
    text = json_stringn(j->text.len ? j->text.data : "", j->text.len);
    if (!text)
        return fault_set(f, FAULT_SYSTEM, "no memory for a text");
    fputs("{\"text\": ", stdout);
    json_dumpf(text, stdout, JSON_ENCODE_ANY);
    puts("}");
    json_decref(text);
    return 0;
}

int cmd_tokenize(struct cmd_env *e, struct fault *f)
{
    struct job j = {.special = cmd_flag(e, "--special")};
    bool back = cmd_flag(e, "--decode");
    int rc = cmd_rest(e, 1, 1, f);

    if (!rc && back && j.special)
        rc = fault_set(f, FAULT_USAGE,
                       "--special is for texts; --decode shows special "
                       "tokens as they are");
    if (!rc)
        rc = tokenizer_open(&j.tok, e->argv[0], f);
    if (!rc)
        rc = lines_each(back ? decode : encode, &j, f);
    tokenizer_free(j.tok);
    ids_free(&j.ids);
    bytes_free(&j.text);
    return rc;
}
