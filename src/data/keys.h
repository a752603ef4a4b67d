/* keys.h - private: a set of strings, each with a number. */
#ifndef DAPO_DATA_KEYS_H
#define DAPO_DATA_KEYS_H

#include <stddef.h>
#include "dapo/fault.h"

struct keys { /* zeroed = empty */
    size_t n, cap;
    struct key_slot {
        const char *key; /* the caller's, must outlive the set; NULL = free slot */
        unsigned long long hash;
        size_t value;
    } * slot;
};

/* The slot of `key`; a new one gets key and value, *fresh says so.  NULL with
 * FAULT_SYSTEM.  A slot is valid until the next call. */
struct key_slot *keys_put(struct keys *t, const char *key, size_t value, int *fresh,
                          struct fault *f);
void keys_free(struct keys *t);

#endif
