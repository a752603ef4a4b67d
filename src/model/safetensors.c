/* safetensors.c - reading: the header's checks, values to f32. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/safetensors.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "safetensors are little-endian");

/* As in the reference implementation. */
#define MOST_HEADER ((uint64_t)100 << 20)

struct st_file {
    int fd;
    char *path;
    json_t *header; /* owns the names */
    struct st_tensor *tensors;
    size_t n;
};

static const struct dtype {
    const char *name;
    size_t bytes;
} dtypes[] = {{"F32", 4}, {"BF16", 2}, {"F16", 2},     {"F64", 8},     {"I64", 8},
              {"U64", 8}, {"I32", 4},  {"U32", 4},     {"I16", 2},     {"U16", 2},
              {"I8", 1},  {"U8", 1},   {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"BOOL", 1}};

static const struct dtype *dtype_of(const char *name)
{
    for (size_t i = 0; name && i < sizeof dtypes / sizeof dtypes[0]; i++)
        if (!strcmp(dtypes[i].name, name))
            return &dtypes[i];
    return NULL;
}

/* -- header --------------------------------------------------------------------------
 */

static int bad(const struct st_file *s, struct fault *f, const char *name,
               const char *problem)
{
    return fault_set(f, FAULT_DATA, "%s: tensor \"%.100s\" %s", s->path, name, problem);
}

static bool to_size(const json_t *v, size_t *out)
{
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return false;
    *out = (size_t)json_integer_value(v);
    return true;
}

/* One entry of the header; `data` is where the data begins, `total` their bytes. */
static int read_entry(const struct st_file *s, struct st_tensor *t, const char *name,
                      const json_t *entry, size_t data, size_t total, struct fault *f)
{
    const json_t *shape = json_object_get(entry, "shape");
    const json_t *range = json_object_get(entry, "data_offsets");
    const struct dtype *type =
        dtype_of(json_string_value(json_object_get(entry, "dtype")));
    size_t begin, end, bytes;

    *t = (struct st_tensor){.name = name, .values = 1};
    if (!type)
        return bad(s, f, name, "has no known dtype");
    t->dtype = type->name;
    if (!json_is_array(shape) || json_array_size(shape) > ST_DIMS)
        return bad(s, f, name, "has no shape of at most 8 numbers");
    t->n_dims = (int)json_array_size(shape);
    for (int i = 0; i < t->n_dims; i++)
        if (!to_size(json_array_get(shape, (size_t)i), &t->dims[i]) ||
            !size_mul(t->values, t->dims[i], &t->values))
            return bad(s, f, name, "has an impossible shape");
    if (!json_is_array(range) || json_array_size(range) != 2 ||
        !to_size(json_array_get(range, 0), &begin) ||
        !to_size(json_array_get(range, 1), &end))
        return bad(s, f, name, "has no data_offsets of two numbers");
    if (begin > end || end > total)
        return bad(s, f, name, "has data_offsets outside of the file");
    t->first = data + begin;
    t->bytes = end - begin;
    if (!size_mul(t->values, type->bytes, &bytes) || bytes != t->bytes)
        return bad(s, f, name, "has data_offsets that don't fit its shape and dtype");
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct st_tensor *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static int by_name(const void *a, const void *b)
{
    const struct st_tensor *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* The tensors must cover the data exactly: a gap could hide anything, an overlap would
 * make two tensors one. */
static int check_cover(struct st_file *s, size_t data, size_t total, struct fault *f)
{
    size_t at = data;

    qsort(s->tensors, s->n, sizeof *s->tensors, by_place);
    for (size_t i = 0; i < s->n; i++) {
        const struct st_tensor *t = &s->tensors[i];

        if (t->first != at)
            return bad(s, f, t->name,
                       t->first < at ? "overlaps another one" : "follows a gap");
        at += t->bytes;
    }
    if (at != data + total)
        return fault_set(f, FAULT_DATA,
                         "%s: %zu bytes behind the last tensor belong to "
                         "none",
                         s->path, data + total - at);
    qsort(s->tensors, s->n, sizeof *s->tensors, by_name);
    return 0;
}

static int read_entries(struct st_file *s, size_t data, size_t total, struct fault *f)
{
    const char *name;
    json_t *entry;

    s->tensors = mem_new(json_object_size(s->header), sizeof *s->tensors, s->path, f);
    if (!s->tensors)
        return f->code;
    json_object_foreach(s->header, name, entry)
    {
        if (!strcmp(name, "__metadata__"))
            continue;
        if (read_entry(s, &s->tensors[s->n], name, entry, data, total, f))
            return f->code;
        s->n++;
    }
    return check_cover(s, data, total, f);
}

static int read_at(const struct st_file *s, void *out, size_t n, size_t at,
                   struct fault *f)
{
    char *p = out;

    while (n > 0) {
        ssize_t got = pread(s->fd, p, n, (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fault_set(f, FAULT_FILE, "%s: can't be read: %s", s->path,
                             got < 0 ? strerror(errno) : "it became shorter");
        p += got;
        n -= (size_t)got;
        at += (size_t)got;
    }
    return 0;
}

static int read_header(struct st_file *s, size_t size, struct fault *f)
{
    uint64_t length;
    json_error_t e;
    char *text;

    if (size < 8)
        return fault_set(f, FAULT_DATA,
                         "%s: has %zu bytes, too few for a safetensors "
                         "file",
                         s->path, size);
    if (read_at(s, &length, 8, 0, f))
        return f->code;
    if (length > MOST_HEADER || length > size - 8)
        return fault_set(f, FAULT_DATA,
                         "%s: says that its header has %" PRIu64
                         " bytes, but the file has "
                         "%zu (at most %" PRIu64 " are allowed); is it cut short?",
                         s->path, length, size, MOST_HEADER);
    text = mem_new((size_t)length, 1, s->path, f);
    if (!text || read_at(s, text, (size_t)length, 8, f)) {
        free(text);
        return f->code;
    }
    s->header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &e);
    free(text);
    if (!s->header)
        return fault_set(f, FAULT_DATA, "%s: the header is not JSON: %s", s->path,
                         e.text);
    if (!json_is_object(s->header))
        return fault_set(f, FAULT_DATA, "%s: the header is not an object", s->path);
    return read_entries(s, 8 + (size_t)length, size - 8 - (size_t)length, f);
}

int st_open(struct st_file **out, const char *path, struct fault *f)
{
    struct st_file *s = mem_new(1, sizeof *s, path, f);
    struct stat st;
    int rc = s ? 0 : f->code;

    *out = NULL;
    if (rc)
        return rc;
    s->path = strdup(path);
    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (!s->path)
        rc = fault_set(f, FAULT_SYSTEM, "no memory for a path");
    else if (s->fd < 0)
        rc = fault_set(f, FAULT_FILE, "%s: can't be opened: %s", path, strerror(errno));
    else if (fstat(s->fd, &st) || !S_ISREG(st.st_mode))
        rc = fault_set(f, FAULT_FILE, "%s: is not a regular file", path);
    else
        rc = read_header(s, (size_t)st.st_size, f);
    if (rc)
        st_close(s);
    else
        *out = s;
    return rc;
}

void st_close(struct st_file *s)
{
    if (!s)
        return;
    if (s->fd >= 0)
        close(s->fd);
    json_decref(s->header);
    free(s->tensors);
    free(s->path);
    free(s);
}

const char *st_path(const struct st_file *s)
{
    return s->path;
}

const struct st_tensor *st_list(const struct st_file *s, size_t *n)
{
    *n = s->n;
    return s->tensors;
}

const struct st_tensor *st_find(const struct st_file *s, const char *name)
{
    struct st_tensor key = {.name = name};

    return bsearch(&key, s->tensors, s->n, sizeof key, by_name);
}

/* -- values --------------------------------------------------------------------------
 */

static float from_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* IEEE binary16: 1 sign, 5 exponent (bias 15), 10 mantissa bits. */
static float from_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, mantissa = h & 0x3ff;
    int exponent = h >> 10 & 31;
    float x;

    if (exponent == 31)
        return from_bits(sign | 0x7f800000 | mantissa << 13);
    x = exponent ? ldexpf((float)(mantissa | 0x400), exponent - 25)
                 : ldexpf((float)mantissa, -24);
    return sign ? -x : x;
}

enum { BLOCK = 1 << 18 }; /* values converted at a time */

/* n values of 2 bytes at `raw` to floats. */
static void widen(float *out, const uint16_t *raw, size_t n, bool half)
{
    for (size_t i = 0; i < n; i++)
        out[i] = half ? from_half(raw[i]) : from_bits((uint32_t)raw[i] << 16);
}

int st_read(const struct st_file *s, const struct st_tensor *t, float *out,
            struct fault *f)
{
    bool half = !strcmp(t->dtype, "F16"), wide = !strcmp(t->dtype, "F32");
    size_t width = wide ? 4 : 2;
    uint16_t *raw = NULL;
    int rc = 0;

    if (!wide && !half && strcmp(t->dtype, "BF16") != 0) {
        rc = fault_set(f, FAULT_DATA,
                       "%s: tensor \"%.100s\" is of type %s; F32, F16 and BF16 are "
                       "supported",
                       s->path, t->name, t->dtype);
        return rc;
    }
    if (!wide && !(raw = mem_new(BLOCK, sizeof *raw, s->path, f)))
        return f->code;
    for (size_t i = 0, n; !rc && i < t->values; i += n) {
        n = t->values - i < BLOCK ? t->values - i : BLOCK;
        rc = read_at(s, wide ? (void *)(out + i) : raw, n * width, t->first + i * width,
                     f);
        if (!rc && !wide)
            widen(out + i, raw, n, half);
        for (size_t k = i; !rc && k < i + n; k++)
            if (!isfinite(out[k]))
                rc = fault_set(f, FAULT_DATA,
                               "%s: tensor \"%.100s\" has a value that is not finite, "
                               "number %zu",
                               s->path, t->name, k);
    }
    free(raw);
    return rc;
}
