/* show.h - private: what dapo inspect prints of each kind of thing. */
#ifndef DAPO_CMD_SHOW_H
#define DAPO_CMD_SHOW_H

#include "dapo/fault.h"

int show_run(const char *dir, struct fault *f);
/* What its tokens and seconds went into. */
int show_waste(const char *dir, struct fault *f);
int show_step(const char *path, struct fault *f);
int show_checkpoint(const char *path, struct fault *f);
int show_model(const char *dir, struct fault *f);

/* "name   value" with the values in one column; control characters are shown as '?'. */
void show_line(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The settings of a resolved job file that aren't the defaults; a text that this build
 * can't read (of an older one) is only said to be so. */
int show_settings(const char *name, const char *text, struct fault *f);

#endif
