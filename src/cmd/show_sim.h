/* show_sim.h - private: what simulate and replay print: a table, and CSV. */
#ifndef DAPO_CMD_SHOW_SIM_H
#define DAPO_CMD_SHOW_SIM_H

#include "cmd/sweep.h"
#include "dapo/sim.h"

/* The figures of one point. */
struct sim_row {
    struct sim_figures t;
    struct sim_machine m;
    struct sim_bounds bound; /* simulate */
    double reference;        /* mean length of all trainable groups, tokens */
    int groups;              /* B */
    double recorded;         /* replay: seconds per step of the run itself */
    int64_t same;            /* replay: steps whose batch is the recorded one */
};
enum sim_table { SIM_SIMULATE, SIM_REPLAY };

/* The head: names and units of the columns.  `csv` writes CSV, else a table. */
void sim_show_head(FILE *to, enum sim_table table, const struct sweep *s, bool csv);
/* A row: `name` (may be NULL) stands for a point without swept keys. */
void sim_show_row(FILE *to, enum sim_table table, const struct sweep *s, int point,
                  const char *name, const struct sim_row *r, bool csv);

/* --csv: FAULT_FILE if it can't be written; without a path *out is NULL, and closing it
 * says `rc`. */
int sim_csv_open(FILE **out, const char *path, struct fault *f);
int sim_csv_close(FILE **out, const char *path, int rc, struct fault *f);

#endif
