/* grade.h - private: the rows of dapo grade, judged by threads. */
#ifndef DAPO_CMD_GRADE_H
#define DAPO_CMD_GRADE_H

#include <jansson.h>
#include "dapo/reward.h"

enum expect { EXPECT_NOTHING, EXPECT_RIGHT, EXPECT_WRONG };

struct grade_row {
    long line;
    json_t *json;      /* NULL: malformed */
    char *gold, *text; /* [n_gold], [n_text] */
    size_t n_gold, n_text;
    bool response; /* the answer is to be found in it */
    enum expect expect;
    /* after grade_rows */
    struct verdict verdict; /* its answer is `answer` */
    bool whole;             /* a response that was taken as the answer */
    char *answer;           /* [verdict.n_answer] */
    char *error;            /* what is malformed: a sentence with the line number */
};

struct grading {
    enum grader grader;
    int window, threads;
    bool strict;
    const char *against; /* NULL: nothing is expected */
};

/* Take over `line` and read the row's fields.  FAULT_DATA without a line number: a
 * field is missing or is neither text nor number. */
int grade_row_read(struct grade_row *r, json_t *line, const struct grading *g,
                   struct fault *f);
void grade_row_free(struct grade_row *r);

/* Judge row[n], malformed ones apart, by g->threads threads.  The verdicts don't depend
 * on their number. */
int grade_rows(struct grade_row *row, size_t n, const struct grading *g,
               struct fault *f);

#endif
