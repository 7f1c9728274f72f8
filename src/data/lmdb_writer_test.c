/* lmdb_writer_test.c - what is put is found again, and a failure leaves nothing behind. */
#include "base/alloc.h"
#include "data/lmdb.h"
#include "data/lmdb_writer.h"
#include "scratch.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void put_records(struct psd_lmdb_writer *writer, unsigned count, size_t size)
{
    char key[16], *value = malloc(size);

    for (unsigned i = 0; i < count; i++) {
        snprintf(key, sizeof key, "%08u", i);
        memset(value, (int)i, size);
        CHECK_OK(psd_lmdb_writer_put(writer, key, 8, value, size));
    }
    free(value);
}

static void check_records(const char *path, unsigned count, size_t size)
{
    struct psd_lmdb *db = NULL;
    struct psd_record record = {0};
    char key[16];

    CHECK_OK(psd_lmdb_open(path, &db));
    CHECK(psd_lmdb_count(db) == count);
    for (unsigned i = 0; i < count; i++) {
        snprintf(key, sizeof key, "%08u", i);
        CHECK_OK(psd_lmdb_record(db, i, &record));
        CHECK(record.key_size == 8 && memcmp(record.key, key, 8) == 0);
        CHECK(record.value_size == size && record.value[size - 1] == (uint8_t)i);
    }
    psd_record_fini(&record);
    psd_lmdb_close(db);
}

static void what_is_put_is_found(void)
{
    static const struct {
        unsigned count;
        size_t size;
    } cases[] = {{0, 1}, {1, 1}, {1000, 10}, {2500, 800}, {40, 1 << 20}, {2, 40 << 20}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_lmdb_writer *writer = NULL;
        char name[16];
        snprintf(name, sizeof name, "db%zu", i);
        fprintf(stderr, "    %u of %zu bytes\n", cases[i].count, cases[i].size);
        CHECK_OK(psd_lmdb_writer_open(scratch(name), &writer));
        put_records(writer, cases[i].count, cases[i].size);
        CHECK_OK(psd_lmdb_writer_commit(writer));
        check_records(scratch(name), cases[i].count, cases[i].size);
    }
}

static void what_exists_is_left_alone(void)
{
    struct psd_lmdb_writer *writer = NULL;

    CHECK_OK(psd_lmdb_writer_open(scratch("db"), &writer));
    put_records(writer, 3, 10);
    CHECK_OK(psd_lmdb_writer_commit(writer));
    CHECK_STATUS(PSD_ECONFIG, psd_lmdb_writer_open(scratch("db"), &writer));
    CHECK(strstr(psd_error(), "exists already"));
    check_records(scratch("db"), 3, 10);
    CHECK_STATUS(PSD_ECONFIG, psd_lmdb_writer_open(scratch("no/such/folder"), &writer));
    CHECK(strstr(psd_error(), "cannot make the folder"));
}

/* How many names there are in a folder. */
static int names_in(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;

    CHECK(folder);
    while (readdir(folder)) /* NOLINT(concurrency-mt-unsafe): a folder of this thread's own */
        count++;
    closedir(folder);
    return count - 2; /* itself and its parent */
}

static void a_database_has_its_name_only_when_it_is_whole(void)
{
    struct psd_lmdb_writer *writer = NULL;
    struct stat about;

    CHECK_OK(psd_lmdb_writer_open(scratch("db//"), &writer));
    put_records(writer, 1500, 10); /* a transaction is complete */
    CHECK(stat(scratch("db"), &about) != 0);
    CHECK_OK(psd_lmdb_writer_complete(writer));
    CHECK(stat(scratch("db"), &about) != 0);
    CHECK_OK(psd_lmdb_writer_commit(writer));
    check_records(scratch("db"), 1500, 10);
    CHECK(names_in(scratch("db")) == 1); /* no lock file: a full disk is fatal to its map */
    CHECK(names_in(scratch(".")) == 1);
}

static void a_name_that_is_taken_meanwhile_is_left_alone(void)
{
    struct psd_lmdb_writer *writer = NULL;

    CHECK_OK(psd_lmdb_writer_open(scratch("db"), &writer));
    scratch_file("db", "x", 1);
    CHECK_STATUS(PSD_ECONFIG, psd_lmdb_writer_commit(writer));
    CHECK(strstr(psd_error(), "exists already"));
    CHECK(names_in(scratch(".")) == 1);
}

static void what_a_killed_run_left_is_no_obstacle(void)
{
    struct psd_lmdb_writer *writer = NULL;
    char folder[32], file[64];

    snprintf(folder, sizeof folder, "db.tmp-%ld", (long)getpid());
    snprintf(file, sizeof file, "%s/data.mdb", folder);
    CHECK(mkdir(scratch(folder), 0755) == 0);
    scratch_file(file, "half a database", 15);
    CHECK_OK(psd_lmdb_writer_open(scratch("db"), &writer));
    put_records(writer, 3, 10);
    CHECK_OK(psd_lmdb_writer_commit(writer));
    check_records(scratch("db"), 3, 10);
}

static void an_abandoned_database_is_gone(void)
{
    struct psd_lmdb_writer *writer = NULL;

    CHECK_OK(psd_lmdb_writer_open(scratch("db"), &writer));
    put_records(writer, 1500, 10);
    psd_lmdb_writer_abandon(writer);
    CHECK(names_in(scratch(".")) == 0);
    psd_lmdb_writer_abandon(NULL);
}

static void a_full_disk_is_a_sentence_and_leaves_nothing(void)
{
    struct psd_lmdb_writer *writer = NULL;
    struct rlimit limit = {1 << 20, 1 << 20};
    char value[1000] = {0}, key[16];
    psd_status status = PSD_OK;

    signal(SIGXFSZ, SIG_IGN);
    CHECK_OK(psd_lmdb_writer_open(scratch("db"), &writer));
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (int i = 0; i < 5000 && status == PSD_OK; i++) {
        snprintf(key, sizeof key, "%08d", i);
        status = psd_lmdb_writer_put(writer, key, 8, value, sizeof value);
    }
    CHECK_STATUS(PSD_ECONFIG, status);
    CHECK(strstr(psd_error(), "cannot write the database"));
    CHECK(strstr(psd_error(), "db: a part of it could not be written; perhaps the disk is full"));
    CHECK_STATUS(PSD_EINVAL, psd_lmdb_writer_commit(writer));
    CHECK(names_in(scratch(".")) == 0);
}

static void a_key_that_is_too_long_is_refused(void)
{
    struct psd_lmdb_writer *writer = NULL;
    char key[600] = {0};

    CHECK_OK(psd_lmdb_writer_open(scratch("db"), &writer));
    CHECK_STATUS(PSD_ECONFIG, psd_lmdb_writer_put(writer, key, sizeof key, "v", 1));
    psd_lmdb_writer_abandon(writer);
}

static void open_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_lmdb_writer *writer = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_lmdb_writer_open(scratch("db"), &writer);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_lmdb_writer_abandon(writer);
    }
}

int main(int argc, char **argv)
{
    RUN(what_is_put_is_found)
    RUN(what_exists_is_left_alone)
    RUN(a_database_has_its_name_only_when_it_is_whole)
    RUN(a_name_that_is_taken_meanwhile_is_left_alone)
    RUN(what_a_killed_run_left_is_no_obstacle)
    RUN(an_abandoned_database_is_gone)
    RUN(a_full_disk_is_a_sentence_and_leaves_nothing)
    RUN(a_key_that_is_too_long_is_refused)
    RUN(open_survives_every_failed_allocation)
}
