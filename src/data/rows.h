/* rows.h - private: rows of raw prompt files, whatever their form. */
#ifndef DAPO_DATA_ROWS_H
#define DAPO_DATA_ROWS_H

#include <jansson.h>
#include <stdbool.h>
#include "dapo/fault.h"

/* Called with each row of a file, in order, `number` from 1.  Nonzero stops. */
typedef int row_taker(void *context, const json_t *row, long number, struct fault *f);

/* Hand the rows of `path` to `take`: JSON lines (blank ones are passed over), or
 * Parquet (known by its first four bytes).  FAULT_FILE, FAULT_DATA with file and line,
 * FAULT_SYSTEM (no python3, no pyarrow), or what `take` said. */
int rows_read(const char *path, row_taker *take, void *context, struct fault *f);

/* Start a program that prints the rows of the Parquet file `path` as JSON lines: their
 * descriptor in *out.  parquet_end waits for it and turns its failure into a fault; it
 * must be called once after parquet_start returned 0, the descriptor closed before. */
struct parquet {
    int pid;
    void *errors; /* FILE *: what it says on stderr */
    char python[4200];
};
int parquet_start(struct parquet *p, int *out, const char *path, struct fault *f);
int parquet_end(struct parquet *p, const char *path, struct fault *f);

/* The fields of a row in verl's schema (prompt: a string or a list of {role, content},
 * of which the last "user" counts; reward_model.ground_truth: a value or a list, of
 * which the first counts; extra_info.index; data_source), or a plain one (question or
 * problem; answer; id; data_source).  Values are strings, integers or reals.  New
 * strings, NULL where absent; source is never NULL.  Give back with row_free. */
struct row {
    char *id, *question, *answer, *source;
};
int row_parse(struct row *out, const json_t *json, struct fault *f);
void row_free(struct row *r);

#endif
