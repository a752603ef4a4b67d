/* data.h - prompt files, their preparation, their order, the cursor.
 *
 * A prompt file is JSON lines with "id" (string), "question", "answer" (strings) and
 * optionally "data_source"; `dapo prepare` makes one from JSON lines or Parquet in
 * verl's schema and writes a manifest beside it.
 */
#ifndef DAPO_DATA_H
#define DAPO_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dapo/fault.h"

struct prompt {
    const char *id, *question, *answer,
        *source; /* owned by the set; source may be "" */
};

struct prompts { /* plain data, free with prompts_free */
    size_t n;
    struct prompt *row;
    unsigned long long hash; /* of the rows' content; identity in files */
    void *store;             /* what the strings live in */
};

/* Read a prompt file.  FAULT_FILE; FAULT_DATA with file and line (not JSON, a field
 * missing, empty question, empty answer, an id twice, no rows). */
int prompts_read(struct prompts *out, const char *path, struct fault *f);
void prompts_free(struct prompts *p);

/* -- order ----------------------------------------------------------------------------
 * Epoch e visits the rows in a permutation keyed by (seed, e); position x of the run is
 * element x % n of epoch x / n.  With `shuffle` false every epoch is file order. */
struct order; /* opaque; caches one or two permutations */
int order_new(struct order **out, size_t n, uint64_t seed, bool shuffle,
              struct fault *f);
void order_free(struct order *o);
size_t order_at(struct order *o, uint64_t position);

/* -- preparation (REFERENCE 1.2)
 * -------------------------------------------------------- */
struct prepare {
    const char *const *inputs; /* JSONL or Parquet, read one after another */
    int n_inputs;
    const char *out;      /* OUT: train rows; OUT.dev.jsonl style path below */
    const char *dev_out;  /* NULL = no dev split */
    const char *manifest; /* NULL = OUT + ".manifest.json" */
    int dev;              /* rows of the dev split, default 50 */
    uint64_t seed;
    const char *prefix, *suffix; /* exact wrapper text to take off; NULL = DAPO's */
};
struct prepare_counts {
    long rows, invalid, wrapped, duplicates, conflicting_questions, conflicting_rows,
        unique, train, dev;
};
int prepare_run(const struct prepare *p, struct prepare_counts *out, struct fault *f);

/* -- the demo's task: arithmetic word problems
 * ------------------------------------------- Problem number i of (seed) with `steps`
 * operations; question, worked solution ending in \boxed{}, and answer.  Deterministic.
 * `held_out` picks from a part of the problem space that no problem with held_out =
 * false comes from. */
struct problem {
    char question[512], solution[512], answer[32];
};
void problem_make(struct problem *out, uint64_t seed, uint32_t i, int steps,
                  bool held_out);

#endif
