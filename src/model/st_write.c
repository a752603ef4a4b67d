/* st_write.c - writing safetensors. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapo/pulse.h"
#include "model/safetensors.h"

enum { BLOCK = 1 << 18 }; /* values converted at a time */

static size_t values_of(const struct st_source *t)
{
    size_t n = 1;

    for (int i = 0; i < t->n_dims; i++)
        n *= t->dims[i];
    return n;
}

/* The length and the JSON, padded with spaces so that the data are 8-byte aligned.  The
 * names are ours: nothing to escape. */
static int make_header(struct bytes *b, const struct st_source *t, int n, bool bf16,
                       struct fault *f)
{
    size_t at = 0;
    uint64_t length;
    char shape[72];

    if (bytes_add(b, "\0\0\0\0\0\0\0", 8, f) ||
        bytes_printf(b, f, "{\"__metadata__\":{\"format\":\"pt\"}"))
        return f->code;
    for (int i = 0; i < n; i++) {
        size_t bytes = values_of(&t[i]) * (bf16 ? 2 : 4);

        int k = snprintf(shape, sizeof shape, "%zu", t[i].dims[0]);

        for (int d = 1; d < t[i].n_dims; d++)
            k += snprintf(shape + k, sizeof shape - (size_t)k, ",%zu", t[i].dims[d]);
        if (bytes_printf(b, f,
                         ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],"
                         "\"data_offsets\":[%zu,%zu]}",
                         t[i].name, bf16 ? "BF16" : "F32", shape, at, at + bytes))
            return f->code;
        at += bytes;
    }
    if (bytes_printf(b, f, "}"))
        return f->code;
    while (b->len % 8)
        if (bytes_printf(b, f, " "))
            return f->code;
    length = b->len - 8;
    memcpy(b->data, &length, 8);
    return 0;
}

/* Round to nearest even; a large value may become infinite. */
static uint16_t to_bf16(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static bool finite_bf16(uint16_t h)
{
    return (h & 0x7f80) != 0x7f80;
}

static int write_tensor(FILE *out, const char *path, const struct st_source *t,
                        uint16_t *raw, struct fault *f)
{
    size_t total = values_of(t);

    for (size_t i = 0, n; i < total; i += n) {
        const float *x = t->values + i;
        bool finite = true;

        n = total - i < BLOCK ? total - i : BLOCK;
        for (size_t k = 0; k < n; k++) {
            if (raw)
                raw[k] = to_bf16(x[k]);
            finite &= isfinite(x[k]) && (!raw || finite_bf16(raw[k]));
        }
        if (!finite)
            return fault_set(
                f, FAULT_DATA,
                "%s: tensor \"%s\" has a value that is not finite; it is not "
                "written",
                path, t->name);
        if (fwrite(raw ? (const void *)raw : x, raw ? 2 : 4, n, out) != n)
            return fault_set(f, FAULT_FILE, "%s: can't be written: %s", path,
                             strerror(errno));
        pulse_beat(); /* the other ranks of a job wait for it */
    }
    return 0;
}

int st_write(const char *path, const struct st_source *t, int n, bool bf16,
             struct fault *f)
{
    struct bytes header = {0}, tmp = {0};
    uint16_t *raw = bf16 ? mem_new(BLOCK, sizeof *raw, path, f) : NULL;
    FILE *out = NULL;
    int rc = bf16 && !raw ? f->code : make_header(&header, t, n, bf16, f);

    if (!rc)
        rc = bytes_printf(&tmp, f, "%s.tmp", path);
    if (!rc && !(out = fopen(tmp.data, "wb")))
        rc = fault_set(f, FAULT_FILE, "%s: can't be created: %s", tmp.data,
                       strerror(errno));
    if (!rc && fwrite(header.data, 1, header.len, out) != header.len)
        rc =
            fault_set(f, FAULT_FILE, "%s: can't be written: %s", path, strerror(errno));
    for (int i = 0; !rc && i < n; i++)
        rc = write_tensor(out, path, &t[i], raw, f);
    if (out && fclose(out) && !rc)
        rc =
            fault_set(f, FAULT_FILE, "%s: can't be written: %s", path, strerror(errno));
    if (!rc)
        rc = file_sync_rename(tmp.data, path, f);
    if (rc && out)
        unlink(tmp.data);
    free(raw);
    bytes_free(&header);
    bytes_free(&tmp);
    return rc;
}
