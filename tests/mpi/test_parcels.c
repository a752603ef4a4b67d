/* test_parcels.c - bytes that ranks bring for a checkpoint: they come back, or it is
 * said what is wrong with them. */
#include "rundir.h"

/* Parcel `number` of a test: a length and bytes that only it has. */
static struct parcel parcel(int64_t number)
{
    struct parcel p = {.number = number, .n = (size_t)(number * 37 % 101)};

    p.data = calloc(p.n + 1, 1);
    for (size_t i = 0; i < p.n; i++)
        ((char *)p.data)[i] = (char)(number * 7 + (int64_t)i);
    return p;
}

/* Save with parcels 0 .. n-1 dealt to the ranks from `shift` on, less the one `lost`.
 */
static int save_parcels(struct store *s, int64_t step, int64_t n, int shift,
                        int64_t lost, struct fault *f)
{
    struct parcel own[32];
    float none = 0;
    struct checkpoint k = {.step = step,
                           .n_params = 1,
                           .params = &none,
                           .moment1 = &none,
                           .moment2 = &none,
                           .previous_updates = -1,
                           .identity = identity(),
                           .parcels = own};
    int rc;

    for (int64_t i = n - 1; i >= 0; i--)
        if ((i + shift) % comm_size(check_comm) == comm_rank(check_comm) && i != lost)
            own[k.n_parcels++] = parcel(i);
    rc = store_checkpoint_all(s, &k, f);
    for (int i = 0; i < k.n_parcels; i++)
        free(own[i].data);
    return rc;
}

/* Every rank reads some, and gets what was written, whoever wrote it. */
static int load_parcels(struct store *s, int64_t step, int64_t n, struct fault *f)
{
    struct parcel want[2] = {{.number = n - 1}, {.number = comm_rank(check_comm) % n}};
    int64_t total = -1;
    int rc = store_parcels_all(s, step, want, 2, &total, f);

    CHECK(rc || total == n);
    for (int i = 0; i < 2; i++) {
        struct parcel p = parcel(want[i].number);

        CHECK(rc || (want[i].n == p.n && !memcmp(want[i].data, p.data, p.n)));
        free(want[i].data);
        free(p.data);
    }
    return rc;
}

static void parcels_come_back(void)
{
    const char *path = run_path("parcels/checkpoints/step-000001.h5");
    struct store *s = NULL;
    struct parcel none = {.number = 7};
    struct fault f = FAULT_INIT;
    int64_t at = 0, total = -1;

    CHECK_OK(comm_split_all(check_comm, 1, &f), &f);
    CHECK_OK(store_open_all(&s, check_comm, run_path("parcels"), &f), &f);
    CHECK_OK(save_parcels(s, 1, 7, 0, -1, &f), &f);
    CHECK_OK(load_parcels(s, 1, 7, &f), &f);
    CHECK_INT(store_parcels_all(s, 1, &none, 1, &total, &f), FAULT_DATA);
    CHECK(strstr(f.text, "lacks a parcel"));
    f = FAULT_INIT;
    CHECK_OK(save_parcels(s, 2, 1, 1, -1, &f), &f);
    CHECK_OK(load_parcels(s, 2, 1, &f), &f);
    CHECK_OK(save_parcels(s, 3, 0, 0, -1, &f), &f);
    CHECK_OK(store_parcels_all(s, 3, NULL, 0, &total, &f), &f);
    CHECK_INT(total, 0);
    CHECK_INT(save_parcels(s, 4, 7, 0, 3, &f), FAULT_BUG); /* 3 is missing */
    if (root()) {
        hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        hid_t bytes = H5Dopen2(file, "/parcels/bytes", H5P_DEFAULT);

        at = (int64_t)H5Dget_offset(bytes) + (int64_t)H5Dget_storage_size(bytes) - 1;
        H5Dclose(bytes);
        H5Fclose(file);
    }
    comm_bcast_all(check_comm, SCOPE_WORLD, &at, sizeof at);
    flip(path, (long)at, 4);
    f = FAULT_INIT;
    CHECK_INT(load_parcels(s, 1, 7, &f), FAULT_DATA);
    CHECK(strstr(f.text, "step-000001.h5") && strstr(f.text, "parcel is damaged"));
    store_close_all(s);
}

CASES_MPI(CASE(parcels_come_back));
