/* data.h - prompt files, their preparation, their order, the cursor.
 *
 * A prompt file is JSON lines with "id" (string), "question", "answer" (strings) and
 * optionally "data_source" and "solution"; `dapo prepare` makes one from JSON lines or
 * Parquet in verl's schema and writes a manifest beside it.
 */
#ifndef DAPO_DATA_H
#define DAPO_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dapo/fault.h"

struct prompt {
    /* owned by the set; source and solution may be "" */
    const char *id, *question, *answer, *source;
    const char *solution; /* worked answer, for supervised training */
};

struct prompts { /* plain data, free with prompts_free */
    size_t n;
    struct prompt *row;
    unsigned long long hash; /* of the rows' fields in file order: identity in files */
    void *store;             /* what the strings live in */
};

/* Read a prompt file.  FAULT_FILE; FAULT_DATA with file and line (not a JSON object, a
 * field missing, empty or not a string, a key or an id twice, an empty line, no rows).
 * The hash doesn't depend on the file's name, spacing, escapes or further keys. */
int prompts_read(struct prompts *out, const char *path, struct fault *f);
void prompts_free(struct prompts *p);

/* -- order ----------------------------------------------------------------------------
 * Epoch e visits the rows in a permutation keyed by (seed, e); position x of the run is
 * element x % n of epoch x / n, so the cursor is the position alone and any position
 * can be asked for at any time.  With `shuffle` false every epoch is file order.  The
 * permutation is Fisher-Yates from the last element down: element i (n - 1 .. 1)
 * changes places with random_below(i + 1) of the stream (seed, RANDOM_ORDER, e, 0, i, e
 * >> 32). */
struct order; /* opaque; caches the permutations of one even and one odd epoch */
/* 1 <= n < 2^32, or FAULT_DATA; FAULT_SYSTEM. */
int order_new(struct order **out, size_t n, uint64_t seed, bool shuffle,
              struct fault *f);
void order_free(struct order *o);
size_t order_at(struct order *o, uint64_t position);

/* -- preparation
 * ------------------------------------------------------------------------ What `dapo
 * prepare` does, the rules of agentic-rl-lab's 06-dapo/prepare_data.py:
 *   1. read rows in verl's schema (prompt as a list of {role, content} whose last user
 *      turn counts, or a string; reward_model.ground_truth, of a list the first;
 *      extra_info.index) or plain ones (question or problem; answer; id);
 *   2. take the exact wrapper off the question, then white space off both ends; a row
 *      without question or answer is invalid;
 *   3. questions are the same if they are equal after every run of white space has
 *      become one space.  Same question, same answer: a duplicate, the id first in byte
 *      order (its question's spelling with it) stays.  Same question, other answer: all
 *      its rows go;
 *   4. sort by question, shuffle by seed, the first `dev` rows are the dev split.
 * A row without an id gets its line number, from 0; an id that another question already
 * has gets "#2", "#3", ...  Nothing depends on the order of rows or inputs but these
 * numbers. */
struct prepare {
    const char *const
        *inputs; /* JSONL or Parquet (by content), read one after another */
    int n_inputs;
    const char *out;             /* train rows */
    const char *dev_out;         /* dev rows; NULL = no dev split */
    const char *manifest;        /* NULL = OUT + ".manifest.json" */
    int dev;                     /* rows of the dev split; <= 0 = 50 */
    uint64_t seed;               /* the published split of DAPO-Math-17k used 42 */
    const char *prefix, *suffix; /* exact wrapper text to take off; NULL = DAPO's */
};

/* X(name, meaning): rows = invalid + conflicting_rows + duplicates + unique and
 * unique = train + dev. */
#define PREPARE_COUNT_LIST(X)                                                \
    X(rows, "rows read")                                                     \
    X(invalid, "rows without question or answer")                            \
    X(wrapped, "rows whose wrapper text was taken off")                      \
    X(duplicates, "further rows of a question that is kept")                 \
    X(conflicting_questions, "questions with more than one answer, dropped") \
    X(conflicting_rows, "their rows")                                        \
    X(unique, "questions kept")                                              \
    X(renamed, "ids made unique")                                            \
    X(train, "rows written for training")                                    \
    X(dev, "rows written for the dev split")
struct prepare_counts {
#define X(name, text) long name;
    PREPARE_COUNT_LIST(X)
#undef X
};

/* Writes OUT, DEV_OUT and the manifest (inputs and outputs with their XXH3-128 as
 * `xxhsum -H2` prints it, the outputs' prompts hash, settings, counts), each by rename,
 * the manifest last.  The same inputs and settings give the same bytes.
 * FAULT_FILE; FAULT_DATA (malformed rows with file and line, unreadable Parquet,
 * nothing or not enough left); FAULT_SYSTEM (memory; Parquet without a python3 that has
 * pyarrow: $DAPO_PYTHON, else build/venv/bin/python in a folder above the program, as
 * `make deps` made it, else /usr/bin/python3). */
int prepare_run(const struct prepare *p, struct prepare_counts *out, struct fault *f);

/* -- the demo's task: arithmetic word problems
 * ------------------------------------------- Problem number i of a seed: question (15
 * to 45 words), worked solution such as "3+4=7. 7*2=14. \boxed{14}", and answer.
 * `steps` operations (+, -, * by 2..5) in 1..5, <= 0 = 2 to 4 at random; all numbers
 * within 0..99, in a third of the problems within 0..20, in a third within 0..50.
 * Deterministic. A fifth of the number-and-operation sequences, chosen by a hash that
 * knows neither seed nor wording, is held out: `held_out` draws from these only,
 * otherwise none is drawn. */
struct problem {
    char question[512], solution[512], answer[32];
};
void problem_make(struct problem *out, uint64_t seed, uint32_t i, int steps,
                  bool held_out);

#endif
