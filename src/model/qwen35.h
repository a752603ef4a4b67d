/* qwen35.h - private: what config.json of Qwen3.5 has beyond that of other models. */
#ifndef DAPO_MODEL_QWEN35_H
#define DAPO_MODEL_QWEN35_H

#include "dapo/model.h"
#include "model/fields.h"

/* Where *config has model_type qwen3_5 (text and vision in one), replace it by its text
 * part as a configuration of its own: model_type qwen3_5_text, architecture
 * Qwen3_5ForCausalLM.  *nested says whether it was one. */
int qwen35_flatten(json_t **config, bool *nested, const char *path, struct fault *f);

/* The kinds of the layers and the widths of linear attention; c->layers is known. */
int qwen35_read(const struct source *s, struct model_config *c);

/* Set the keys that qwen35_read reads; nonzero without memory. */
int qwen35_write(json_t *config, const struct model_config *c);

#endif
