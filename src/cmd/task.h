/* task.h - private: dapo prepare --task arithmetic. */
#ifndef DAPO_CMD_TASK_H
#define DAPO_CMD_TASK_H

#include "cmd/cmd.h"

/* Take the task's options and write train.jsonl, eval.jsonl and sft.jsonl into `dir`,
 * and the model directory of --model.  The same options give the same bytes. */
int task_make(struct cmd_env *e, const char *dir, uint64_t seed, struct fault *f);

#endif
