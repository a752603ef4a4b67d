/* show_sim.h - private: what simulate and replay print: a table, and CSV. */
#ifndef DAPO_CMD_SHOW_SIM_H
#define DAPO_CMD_SHOW_SIM_H

#include <stdio.h>

#include "cmd/sweep.h"
#include "dapo/sim.h"

/* The figures of one point. */
struct sim_row {
    struct sim_figures t;
    struct sim_machine m;
    struct sim_bounds bound;
    double reference; /* simulate: mean length of all trainable groups, tokens */
    int groups;       /* B */
    double recorded;  /* replay: seconds per step of the run itself */
    int64_t same;     /* replay: steps whose batch is the recorded one */
};
enum sim_table { SIM_SIMULATE, SIM_REPLAY };

/* Where rows go: to standard output as a table, and to a file of --csv if there is one.
 */
struct sim_out {
    enum sim_table table;
    const struct sweep *sweep;
    const char *path; /* of --csv; NULL: none */
    FILE *csv;        /* NULL: none */
};
/* FAULT_FILE if `path` can't be written; closing says `rc` if that is a fault. */
int sim_out_open(struct sim_out *o, struct fault *f);
int sim_out_close(struct sim_out *o, int rc, struct fault *f);
/* Names and units of the columns. */
void sim_show_head(const struct sim_out *o);
/* The row of a point; -1: of none, its swept keys stay empty.  `name` of the policy:
 * replay's first column. */
void sim_show_row(const struct sim_out *o, int point, const char *name,
                  const struct sim_row *r);

#endif
