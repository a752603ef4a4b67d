/* h5.c - see h5.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dapo/inject.h"
#include "dapo/mem.h"
#include "dapo/pulse.h"
#include "store/h5.h"

/* Upward from where it went wrong: the first message is the innermost. */
static herr_t innermost(unsigned n, const H5E_error2_t *e, void *why)
{
    if (n == 0)
        snprintf(why, sizeof((struct h5 *)0)->why, "%s", e->desc ? e->desc : "?");
    return 0;
}

void h5_fail(struct h5 *h, const char *why)
{
    if (!h->bad)
        snprintf(h->why, sizeof h->why, "%.*s", (int)sizeof h->why - 1, why);
    h->bad = true;
}

void h5_check(struct h5 *h, herr_t rc)
{
    char why[sizeof h->why] = "HDF5 gives no reason";

    if (rc >= 0)
        return;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, why);
    H5Eclear2(H5E_DEFAULT);
    h5_fail(h, why);
}

hid_t h5_keep(struct h5 *h, hid_t id)
{
    if (id < 0) {
        h5_check(h, -1);
        return id;
    }
    if (h->n == H5_IDS) {
        H5Idec_ref(id);
        h5_fail(h, "too many open HDF5 objects");
        return H5I_INVALID_HID;
    }
    return h->id[h->n++] = id;
}

void h5_drop(struct h5 *h, int mark)
{
    while (h->n > mark) {
        hid_t id = h->id[--h->n];

        /* A file is flushed by its own close only. */
        h5_check(h, H5Iget_type(id) == H5I_FILE ? H5Fclose(id) : H5Idec_ref(id));
    }
}

int h5_fault(const struct h5 *h, const char *path, struct fault *f)
{
    return h->bad ? fault_set(f, (enum fault_code)h->code, "%s: %s", path, h->why) : 0;
}

int h5_end(struct h5 *h, const char *path, struct fault *f)
{
    h5_drop(h, 0);
    return h5_fault(h, path, f);
}

hid_t h5_access(struct h5 *h)
{
    hid_t p = h5_keep(h, H5Pcreate(H5P_FILE_ACCESS));

    h5_check(h, H5Pset_libver_bounds(p, H5F_LIBVER_V110, H5F_LIBVER_V110));
    h5_check(h, H5Pset_file_locking(p, false, true));
    h5_check(h, H5Pset_fclose_degree(p, H5F_CLOSE_STRONG));
    /* Few, larger writes of metadata; large columns start where a disk block does. */
    h5_check(h, H5Pset_meta_block_size(p, 1 << 14));
    h5_check(h, H5Pset_alignment(p, 1 << 18, 1 << 12));
    return p;
}

hid_t h5_file_props(struct h5 *h)
{
    hid_t p = h5_keep(h, H5Pcreate(H5P_FILE_CREATE));

    h5_check(h, H5Pset_obj_track_times(p, false));
    return p;
}

void h5_group(struct h5 *h, hid_t file, const char *name)
{
    int mark = h->n;
    hid_t p = h5_keep(h, H5Pcreate(H5P_GROUP_CREATE));

    h5_check(h, H5Pset_obj_track_times(p, false));
    h5_check(h, H5Pset_link_phase_change(p, 256, 128));
    h5_keep(h, H5Gcreate2(file, name, H5P_DEFAULT, p, H5P_DEFAULT));
    h5_drop(h, mark);
}

void h5_groups_to(struct h5 *h, hid_t file, const char *name)
{
    char part[256];

    for (const char *s = strchr(name + 1, '/'); s && !h->bad; s = strchr(s + 1, '/')) {
        size_t n = (size_t)(s - name);
        htri_t there;

        if (n >= sizeof part) {
            h5_fail(h, "a name is too long");
            return;
        }
        memcpy(part, name, n);
        part[n] = '\0';
        h5_check(h, there = H5Lexists(file, part, H5P_DEFAULT));
        if (there == 0)
            h5_group(h, file, part);
    }
}

static hid_t dataset_props(struct h5 *h, H5D_layout_t layout)
{
    hid_t p = h5_keep(h, H5Pcreate(H5P_DATASET_CREATE));

    h5_check(h, H5Pset_layout(p, layout));
    h5_check(h, H5Pset_obj_track_times(p, false));
    if (layout == H5D_CONTIGUOUS) {
        h5_check(h, H5Pset_alloc_time(p, H5D_ALLOC_TIME_EARLY));
        h5_check(h, H5Pset_fill_time(p, H5D_FILL_TIME_NEVER));
    }
    return p;
}

hid_t h5_column(struct h5 *h, hid_t file, const char *name, hid_t type, hsize_t n)
{
    int mark = h->n;
    hid_t p = dataset_props(h, H5D_CONTIGUOUS);
    hid_t space = h5_keep(h, H5Screate_simple(1, &n, NULL));
    hid_t column = H5Dcreate2(file, name, type, space, H5P_DEFAULT, p, H5P_DEFAULT);

    h5_check(h, column < 0 ? -1 : 0);
    h5_drop(h, mark);
    return column < 0 ? column : h5_keep(h, column);
}

void h5_small(struct h5 *h, hid_t file, const char *name, hid_t type, int n,
              const void *data)
{
    int mark = h->n;
    hsize_t items = n < 0 ? 0 : (hsize_t)n;
    hid_t p = dataset_props(h, H5D_COMPACT), space, data_set;

    space =
        h5_keep(h, n < 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &items, NULL));
    data_set =
        h5_keep(h, H5Dcreate2(file, name, type, space, H5P_DEFAULT, p, H5P_DEFAULT));
    h5_check(h, H5Dwrite(data_set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    h5_drop(h, mark);
}

hid_t h5_text_type(struct h5 *h, size_t size)
{
    hid_t t = h5_keep(h, H5Tcopy(H5T_C_S1));

    h5_check(h, H5Tset_size(t, size));
    h5_check(h, H5Tset_strpad(t, H5T_STR_NULLPAD));
    return t;
}

static void set_attribute(struct h5 *h, hid_t file, const char *name, hid_t type,
                          const void *value)
{
    int mark = h->n;
    hid_t space = h5_keep(h, H5Screate(H5S_SCALAR));
    hid_t a = h5_keep(h, H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT));

    h5_check(h, H5Awrite(a, type, value));
    h5_drop(h, mark);
}

void h5_set_i64(struct h5 *h, hid_t file, const char *name, int64_t value)
{
    set_attribute(h, file, name, H5T_NATIVE_INT64, &value);
}

void h5_set_u64(struct h5 *h, hid_t file, const char *name, uint64_t value)
{
    set_attribute(h, file, name, H5T_NATIVE_UINT64, &value);
}

void h5_set_text(struct h5 *h, hid_t file, const char *name, const char *text,
                 size_t size)
{
    int mark = h->n;

    set_attribute(h, file, name, h5_text_type(h, size), text);
    h5_drop(h, mark);
}

/* An attribute with one item of this class; its type in *type, its bytes in *size. */
static hid_t open_attribute(struct h5 *h, hid_t file, const char *name,
                            H5T_class_t want, hid_t *type, size_t *size)
{
    hid_t a, space;
    char why[96];

    *type = H5I_INVALID_HID;
    *size = 0;
    if (h->bad)
        return H5I_INVALID_HID;
    if (H5Aexists(file, name) <= 0) {
        H5Eclear2(H5E_DEFAULT);
        snprintf(why, sizeof why, "has no attribute '%s'", name);
        h5_fail(h, why);
        return H5I_INVALID_HID;
    }
    a = h5_keep(h, H5Aopen(file, name, H5P_DEFAULT));
    space = h5_keep(h, H5Aget_space(a));
    *type = h5_keep(h, H5Aget_type(a));
    *size = H5Tget_size(*type);
    if (h->bad || H5Tget_class(*type) != want ||
        H5Sget_simple_extent_npoints(space) != 1) {
        snprintf(why, sizeof why, "the attribute '%s' is of another kind", name);
        h5_fail(h, why);
    }
    return a;
}

int64_t h5_get_i64(struct h5 *h, hid_t file, const char *name)
{
    int mark = h->n;
    int64_t value = 0;
    size_t size;
    hid_t type, a = open_attribute(h, file, name, H5T_INTEGER, &type, &size);

    if (!h->bad)
        h5_check(h, H5Aread(a, H5T_NATIVE_INT64, &value));
    h5_drop(h, mark);
    return h->bad ? 0 : value;
}

uint64_t h5_get_u64(struct h5 *h, hid_t file, const char *name)
{
    int mark = h->n;
    uint64_t value = 0;
    size_t size;
    hid_t type, a = open_attribute(h, file, name, H5T_INTEGER, &type, &size);

    if (!h->bad)
        h5_check(h, H5Aread(a, H5T_NATIVE_UINT64, &value));
    h5_drop(h, mark);
    return h->bad ? 0 : value;
}

void h5_get_text(struct h5 *h, hid_t file, const char *name, char *text, size_t size)
{
    int mark = h->n;
    size_t has;
    hid_t type, a = open_attribute(h, file, name, H5T_STRING, &type, &has);

    memset(text, 0, size);
    if (!h->bad && (has > size || H5Tis_variable_str(type) != 0))
        h5_fail(h, "an attribute holds a text of another size");
    if (!h->bad)
        h5_check(h, H5Aread(a, type, text));
    if (!h->bad && memchr(text, '\0', size) == NULL)
        h5_fail(h, "an attribute holds a text without an end");
    if (h->bad)
        text[0] = '\0';
    h5_drop(h, mark);
}

hid_t h5_open_column(struct h5 *h, hid_t file, const char *name, hid_t type, hsize_t *n)
{
    hid_t column, has, space, props;
    hssize_t items = -1;
    char why[96];
    bool same;

    *n = 0;
    if (h->bad)
        return H5I_INVALID_HID;
    column = h5_keep(h, H5Dopen2(file, name, H5P_DEFAULT));
    has = h5_keep(h, H5Dget_type(column));
    space = h5_keep(h, H5Dget_space(column));
    props = h5_keep(h, H5Dget_create_plist(column));
    if (h->bad)
        return H5I_INVALID_HID;
    same = H5Tequal(has, type) > 0 && H5Sget_simple_extent_ndims(space) == 1 &&
           H5Pget_layout(props) == H5D_CONTIGUOUS && H5Pget_external_count(props) == 0;
    if (same)
        items = H5Sget_simple_extent_npoints(space);
    if (items < 0) {
        snprintf(why, sizeof why, "the dataset '%s' has another type or shape", name);
        h5_fail(h, why);
        return H5I_INVALID_HID;
    }
    /* Storage that was never written or is too short would read as fill values. */
    if (H5Dget_storage_size(column) != (hsize_t)items * H5Tget_size(type))
        h5_fail(h, "a dataset lacks its storage");
    *n = (hsize_t)items;
    return column;
}

void h5_pass(struct h5 *h, enum inject_point p)
{
    struct fault why = FAULT_INIT;

    if (inject_pass(p, &why)) {
        h->code = h->bad ? h->code : why.code;
        h5_fail(h, why.text);
    }
    pulse_beat();
}

int64_t h5_items(struct h5 *h, hid_t file, const char *name, hid_t type)
{
    int mark = h->n;
    hsize_t n;

    h5_open_column(h, file, name, type, &n);
    h5_drop(h, mark);
    return (int64_t)n;
}

static hid_t select_range(struct h5 *h, hid_t column, hsize_t first, hsize_t n,
                          hid_t *memory)
{
    hid_t space = h5_keep(h, H5Dget_space(column));
    hsize_t one = n ? n : 1;

    *memory = h5_keep(h, H5Screate_simple(1, &one, NULL));
    if (n == 0) {
        h5_check(h, H5Sselect_none(space));
        h5_check(h, H5Sselect_none(*memory));
    } else
        h5_check(h, H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &n, NULL));
    return space;
}

void h5_write(struct h5 *h, hid_t column, hid_t type, hsize_t first, hsize_t n,
              const void *data)
{
    int mark = h->n;
    hid_t memory, space;

    h5_pass(h, INJECT_WRITE);
    space = select_range(h, column, first, n, &memory);
    /* HDF5 1.10 fails on a transfer to a dataset without items. */
    if (!h->bad && H5Sget_simple_extent_npoints(space) > 0)
        h5_check(h,
                 H5Dwrite(column, type, memory, space, H5P_DEFAULT, data ? data : ""));
    h5_drop(h, mark);
}

void h5_read(struct h5 *h, hid_t column, hid_t type, hsize_t first, hsize_t n,
             void *data)
{
    int mark = h->n;
    hid_t memory, space;
    char none = 0;

    h5_pass(h, INJECT_READ);
    space = select_range(h, column, first, n, &memory);
    if (!h->bad && H5Sget_simple_extent_npoints(space) > 0)
        h5_check(
            h, H5Dread(column, type, memory, space, H5P_DEFAULT, data ? data : &none));
    h5_drop(h, mark);
}

/* A file, and ours to read. */
static int readable(const char *path, struct fault *f)
{
    struct stat st;

    if (access(path, R_OK) || stat(path, &st))
        return fault_set(f, FAULT_FILE, "%s: can't be opened: %s", path,
                         strerror(errno));
    return S_ISREG(st.st_mode)
               ? 0
               : fault_set(f, FAULT_DATA, "%s: is not a regular file", path);
}

int h5_open_file(struct h5 *h, hid_t *file, const char *path, struct fault *f)
{
    int rc = readable(path, f);

    *h = H5_INIT;
    *file = H5I_INVALID_HID;
    if (rc)
        return rc;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* we report, once */
    h->code = FAULT_DATA;
    if (H5Fis_hdf5(path) == 0)
        h5_fail(h, "is not an HDF5 file, or not a complete one");
    else
        *file = h5_keep(h, H5Fopen(path, H5F_ACC_RDONLY, h5_access(h)));
    return 0;
}

int64_t *h5_read_i64(struct h5 *h, hid_t file, const char *name, int64_t want,
                     struct fault *f)
{
    int mark = h->n;
    hid_t column = h->bad ? -1 : h5_keep(h, H5Dopen2(file, name, H5P_DEFAULT));
    hid_t type = h->bad ? -1 : h5_keep(h, H5Dget_type(column)), base = type;
    int64_t *data = NULL;
    hsize_t n;

    if (!h->bad && H5Tget_class(type) == H5T_ENUM)
        base = h5_keep(h, H5Tget_super(type));
    if (!h->bad && H5Tequal(base, H5T_NATIVE_INT64) <= 0)
        h5_fail(h, "a column is of another type");
    column = h5_open_column(h, file, name, type, &n);
    if (!h->bad && (int64_t)n != want)
        h5_fail(h, "its columns disagree in length");
    if (!h->bad)
        data = mem_new(n, sizeof *data, "a column", f);
    if (data)
        h5_read(h, column, type, 0, n, data);
    h5_drop(h, mark);
    return data;
}
