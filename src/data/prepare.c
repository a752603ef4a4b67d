/* prepare.c - from raw prompt files to a clean one. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clean.h"
#include "dapo/data.h"
#include "dapo/mem.h"
#include "dapo/random.h"
#include "rows.h"
#include "keys.h"

/* A question with what is known of its rows. */
struct item {
    char *key;
    struct row row; /* the copy that stays */
    long copies;
    bool conflict; /* rows give different answers */
    bool twin;     /* another question has its id */
};

struct work {
    const struct prepare *p;
    const char *prefix, *suffix;
    struct prepare_counts n;
    struct item *item;
    size_t items, cap;
    struct keys known; /* keys to numbers of items */
};

/* Which of two copies stays: an order of the rows themselves, not of their arrival. */
static bool goes_before(const struct row *a, const struct row *b)
{
    int c = strcmp(a->id, b->id);

    if (!c)
        c = strcmp(a->question, b->question);
    if (!c)
        c = strcmp(a->source, b->source);
    return c < 0;
}

static void merge(struct item *have, struct row *row)
{
    have->copies++;
    if (strcmp(have->row.answer, row->answer) != 0) {
        have->conflict = true;
    } else if (goes_before(row, &have->row)) {
        struct row other = have->row;

        have->row = *row;
        *row = other;
    }
}

/* Takes what it keeps out of *row. */
static int add(struct work *w, struct row *row, struct fault *f)
{
    char *key = clean_key(row->question, f);
    const struct key_slot *slot;
    int fresh;

    if (!key)
        return f->code;
    slot = keys_put(&w->known, key, w->items, &fresh, f);
    if (slot && fresh &&
        !mem_grow((void **)&w->item, &w->cap, w->items + 1, sizeof *w->item,
                  "the questions", f)) {
        w->item[w->items++] = (struct item){.key = key, .row = *row, .copies = 1};
        *row = (struct row){0};
        return 0;
    }
    if (slot && !fresh)
        merge(&w->item[slot->value], row);
    free(key);
    return !slot || fresh ? f->code : 0;
}

static int number_row(struct row *row, long number, struct fault *f)
{
    char text[24];

    snprintf(text, sizeof text, "%ld", number - 1);
    free(row->id);
    row->id = strdup(text);
    return row->id ? 0 : fault_set(f, FAULT_SYSTEM, "no memory for a row");
}

static int take_row(void *context, const json_t *json, long number, struct fault *f)
{
    struct work *w = context;
    struct row row;
    int rc = row_parse(&row, json, f);

    if (rc)
        return rc;
    w->n.rows++;
    if (row.question)
        w->n.wrapped += clean_unwrap(row.question, w->prefix, w->suffix);
    if (row.answer)
        clean_trim(row.answer);
    if (!row.question || !*row.question || !row.answer || !*row.answer)
        w->n.invalid++;
    else if ((row.id && *row.id) || !(rc = number_row(&row, number, f)))
        rc = add(w, &row, f);
    row_free(&row);
    return rc;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct item *)a)->key, ((const struct item *)b)->key);
}

static void item_free(struct item *item)
{
    free(item->key);
    row_free(&item->row);
}

/* Drop the questions in conflict, count, sort. */
static void settle(struct work *w)
{
    size_t kept = 0;

    keys_free(&w->known); /* its keys go with the items */
    for (size_t i = 0; i < w->items; i++) {
        if (w->item[i].conflict) {
            w->n.conflicting_questions++;
            w->n.conflicting_rows += w->item[i].copies;
            item_free(&w->item[i]);
        } else {
            w->n.duplicates += w->item[i].copies - 1;
            w->item[kept++] = w->item[i];
        }
    }
    w->items = kept;
    w->n.unique = (long)kept;
    if (kept)
        qsort(w->item, kept, sizeof *w->item, by_key);
}

/* "id#2" or the next number that is free. */
static int rename_item(struct item *item, struct keys *ids, struct fault *f)
{
    struct bytes name = {0};
    int fresh = 0;

    while (!fresh) {
        struct key_slot *s = keys_put(ids, item->row.id, 1, &fresh, f);

        name.len = 0;
        if (!s || bytes_printf(&name, f, "%s#%zu", s->key, ++s->value) ||
            !keys_put(ids, name.data, 1, &fresh, f)) {
            bytes_free(&name);
            return f->code;
        }
    }
    free(item->row.id);
    item->row.id = name.data;
    return 0;
}

/* Two inputs may number their rows alike, and readers want ids to be unique. */
static int rename_twins(struct work *w, struct fault *f)
{
    struct keys ids = {0};
    int rc = 0, fresh;

    for (size_t i = 0; !rc && i < w->items; i++) {
        if (keys_put(&ids, w->item[i].row.id, 1, &fresh, f))
            w->item[i].twin = !fresh;
        else
            rc = f->code;
    }
    for (size_t i = 0; !rc && i < w->items; i++)
        if (w->item[i].twin) {
            w->n.renamed++;
            rc = rename_item(&w->item[i], &ids, f);
        }
    keys_free(&ids);
    return rc;
}

static void shuffle(struct work *w)
{
    for (size_t i = w->items; i-- > 1;) {
        size_t j = (size_t)random_below(i + 1, w->p->seed, RANDOM_SPLIT, 0, 0,
                                        (uint32_t)i, (uint32_t)((uint64_t)i >> 32));
        struct item other = w->item[j];

        w->item[j] = w->item[i];
        w->item[i] = other;
    }
}

static int write_row(struct bytes *out, const struct row *r, struct fault *f)
{
    json_t *json = json_pack("{ss ss ss ss}", "id", r->id, "question", r->question,
                             "answer", r->answer, "data_source", r->source);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    int rc = text ? bytes_printf(out, f, "%s\n", text)
                  : fault_set(f, FAULT_SYSTEM, "no memory for a row");

    json_decref(json);
    free(text);
    return rc;
}

/* Write items [from, to) to `path`, read it back and describe it in *about. */
static int publish(const struct work *w, size_t from, size_t to, const char *path,
                   json_t **about, struct fault *f)
{
    struct prompts check = {0};
    struct bytes text = {0};
    char file[33], content[17];
    int rc = 0;

    for (size_t i = from; !rc && i < to; i++)
        rc = write_row(&text, &w->item[i].row, f);
    if (!rc)
        rc = file_publish(path, text.data, text.len, f);
    bytes_free(&text);
    if (!rc)
        rc = prompts_read(&check, path, f);
    if (!rc)
        rc = hash_file(path, file, f);
    if (rc)
        return rc;
    snprintf(content, sizeof content, "%016llx", check.hash);
    prompts_free(&check);
    *about = json_pack("{ss sI ss ss}", "path", path, "rows", (json_int_t)(to - from),
                       "xxh3_128", file, "prompts_hash", content);
    return *about ? 0 : fault_set(f, FAULT_SYSTEM, "no memory for the manifest");
}

static int describe_inputs(const struct prepare *p, json_t *list, struct fault *f)
{
    int rc = 0;

    for (int i = 0; !rc && i < p->n_inputs; i++) {
        char hash[33];

        rc = hash_file(p->inputs[i], hash, f);
        if (!rc &&
            json_array_append_new(
                list, json_pack("{ss ss}", "path", p->inputs[i], "xxh3_128", hash)))
            rc = fault_set(f, FAULT_SYSTEM, "%s: can't be named in the manifest",
                           p->inputs[i]);
    }
    return rc;
}

static int write_manifest(const struct work *w, json_t *outputs, struct fault *f)
{
    const struct prepare *p = w->p;
    json_t *inputs = json_array(), *counts = json_object(), *all;
    struct bytes path = {0};
    char *text = NULL;
    int rc = describe_inputs(p, inputs, f);

#define X(name, meaning) json_object_set_new(counts, #name, json_integer(w->n.name));
    PREPARE_COUNT_LIST(X)
#undef X
    all =
        json_pack("{so sI sI ss ss so sO}", "inputs", inputs, "seed",
                  (json_int_t)p->seed, "dev", (json_int_t)w->n.dev, "prefix", w->prefix,
                  "suffix", w->suffix, "counts", counts, "outputs", outputs);
    if (!rc && (!all || !(text = json_dumps(all, JSON_INDENT(2)))))
        rc = fault_set(f, FAULT_SYSTEM, "%s: no manifest could be made: %s", p->out,
                       "memory is out, or a path or wrapper is not UTF-8");
    if (!rc && p->manifest)
        rc = bytes_printf(&path, f, "%s", p->manifest);
    else if (!rc)
        rc = bytes_printf(&path, f, "%s.manifest.json", p->out);
    if (!rc)
        rc = file_publish(path.data, text, strlen(text), f);
    free(text);
    json_decref(all);
    bytes_free(&path);
    return rc;
}

static int write_splits(struct work *w, struct fault *f)
{
    size_t dev = !w->p->dev_out ? 0 : w->p->dev > 0 ? (size_t)w->p->dev : 50;
    json_t *outputs = json_array(), *about = NULL;
    int rc = 0;

    if (w->items <= dev) {
        rc = fault_set(f, FAULT_DATA,
                       "%s: %zu usable questions are left of %ld rows, more "
                       "than %zu are needed",
                       w->p->inputs[0], w->items, w->n.rows, dev);
        goto out;
    }
    w->n.dev = (long)dev;
    w->n.train = (long)(w->items - dev);
    rc = publish(w, dev, w->items, w->p->out, &about, f);
    if (!rc)
        json_array_append_new(outputs, about);
    if (!rc && dev)
        rc = publish(w, 0, dev, w->p->dev_out, &about, f);
    if (!rc && dev)
        json_array_append_new(outputs, about);
    if (!rc)
        rc = write_manifest(w, outputs, f);
out:
    json_decref(outputs);
    return rc;
}

int prepare_run(const struct prepare *p, struct prepare_counts *out, struct fault *f)
{
    struct work w = {.p = p,
                     .prefix = p->prefix ? p->prefix : CLEAN_PREFIX,
                     .suffix = p->suffix ? p->suffix : CLEAN_SUFFIX};
    int rc = p->n_inputs > 0 ? 0 : fault_set(f, FAULT_USAGE, "no input to prepare");

    for (int i = 0; !rc && i < p->n_inputs; i++)
        rc = rows_read(p->inputs[i], take_row, &w, f);
    settle(&w);
    if (!rc)
        rc = rename_twins(&w, f);
    if (!rc) {
        shuffle(&w);
        rc = write_splits(&w, f);
    }
    *out = w.n;
    for (size_t i = 0; i < w.items; i++)
        item_free(&w.item[i]);
    free(w.item);
    return rc;
}
