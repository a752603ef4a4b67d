/* safetensors.h - private: one file of named tensors, untrusted.
 *
 * Layout: 8 bytes little-endian length N; N bytes of JSON, {"name": {"dtype", "shape",
 * "data_offsets": [begin, end]}, ..., "__metadata__": {text: text}}; then the data,
 * which the tensors cover without gap or overlap.  Source: huggingface/safetensors,
 * README.
 */
#ifndef DAPO_MODEL_SAFETENSORS_H
#define DAPO_MODEL_SAFETENSORS_H

#include "dapo/mem.h"

#define ST_DIMS 8

struct st_tensor {
    const char *name;
    const char *dtype; /* "F32", ... */
    int n_dims;
    size_t dims[ST_DIMS];
    size_t values;       /* product of dims */
    size_t first, bytes; /* in the file */
};

struct st_file; /* opaque */

/* Open `path` and check its whole header: FAULT_FILE or FAULT_DATA. */
int st_open(struct st_file **out, const char *path, struct fault *f);
void st_close(struct st_file *s);

const char *st_path(const struct st_file *s);
/* All tensors, by name. */
const struct st_tensor *st_list(const struct st_file *s, size_t *n);
const struct st_tensor *st_find(const struct st_file *s, const char *name);

/* All values of an F32, F16 or BF16 tensor as f32; one that is not finite is
 * FAULT_DATA, as is another type. */
int st_read(const struct st_file *s, const struct st_tensor *t, float *out,
            struct fault *f);

/* One tensor to write: values as f32; n_dims is 1 to 3. */
struct st_source {
    const char *name;
    int n_dims;
    size_t dims[3];
    const float *values;
};
/* Write n tensors as F32 or BF16 (round to nearest even) and publish by rename.  A
 * value that is not finite, or not once rounded, is FAULT_DATA. */
int st_write(const char *path, const struct st_source *t, int n, bool bf16,
             struct fault *f);

#endif
