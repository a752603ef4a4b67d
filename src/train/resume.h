/* resume.h - private: checkpoints of a session and coming back from them. */
#ifndef DAPO_TRAIN_RESUME_H
#define DAPO_TRAIN_RESUME_H

#include "train/session.h"

/* Write the checkpoint of the steps done so far, and retire old ones. */
int save_all(struct session *s, struct fault *f);
/* As run.resume says: continue from a checkpoint or start anew.  Refuses another model,
 * tokenizer, data or a setting that may not change, by name (FAULT_CONFIG). */
int resume_all(struct session *s, const char *dir, struct fault *f);

#endif
