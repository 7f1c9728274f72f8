/* lmdb_test.c - liblmdb writes databases of many shapes, and both readers must agree; then the
 * files are damaged in every way that comes to mind. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/random.h"
#include "base/thread.h"
#include "data/lmdb.h"
#include "data/lmdb_page.h"
#include "scratch.h"

#include <lmdb.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* --- databases by liblmdb --------------------------------------------------------------------- */

struct shape {
    const char *name;
    unsigned records;
    size_t key_most, value_most; /* lengths are drawn up to these */
    unsigned a_commit;           /* records in a transaction; 0: all of them */
    unsigned delete_each;        /* every so many-th is deleted again; 0: none */
};

static MDB_env *open_env(const char *path, unsigned flags)
{
    MDB_env *env = NULL;

    CHECK(mdb_env_create(&env) == 0);
    CHECK(mdb_env_set_mapsize(env, (size_t)1 << 30) == 0);
    CHECK(mdb_env_open(env, path, flags | MDB_NOSYNC, 0664) == 0);
    return env;
}

static MDB_val make_key(const struct shape *shape, unsigned i, char *room)
{
    size_t length = (size_t)snprintf(room, 600, "%08u", i);
    size_t wanted = psd_random_below(1, 1, i, shape->key_most + 1);

    for (; length < wanted; length++)
        room[length] = (char)psd_random_below(2, i, length, 256);
    return (MDB_val){length, room};
}

static MDB_val make_value(const struct shape *shape, unsigned i, char *room)
{
    size_t length = psd_random_below(3, 1, i, shape->value_most + 1);

    memset(room, (int)i, length);
    return (MDB_val){length, room};
}

static const char *write_shape(const struct shape *shape)
{
    const char *path = scratch(shape->name);
    char key_room[600], *value_room = malloc(shape->value_most + 1);
    CHECK(mkdir(path, 0755) == 0);
    MDB_env *env = open_env(path, 0);
    MDB_txn *txn = NULL;
    MDB_dbi dbi;

    for (unsigned i = 0; i < shape->records; i++) {
        MDB_val key = make_key(shape, i, key_room), value = make_value(shape, i, value_room);
        if (!txn)
            CHECK(mdb_txn_begin(env, NULL, 0, &txn) == 0 && mdb_dbi_open(txn, NULL, 0, &dbi) == 0);
        CHECK(mdb_put(txn, dbi, &key, &value, 0) == 0);
        if (i + 1 == shape->records || (shape->a_commit && (i + 1) % shape->a_commit == 0)) {
            CHECK(mdb_txn_commit(txn) == 0);
            txn = NULL;
        }
    }
    if (shape->delete_each) {
        CHECK(mdb_txn_begin(env, NULL, 0, &txn) == 0 && mdb_dbi_open(txn, NULL, 0, &dbi) == 0);
        for (unsigned i = 0; i < shape->records; i += shape->delete_each) {
            MDB_val key = make_key(shape, i, key_room);
            CHECK(mdb_del(txn, dbi, &key, NULL) == 0);
        }
        CHECK(mdb_txn_commit(txn) == 0);
    }
    mdb_env_close(env);
    free(value_room);
    return path;
}

/* Sees that liblmdb and ours find the same records in the same order; returns how many. */
static uint64_t compare(const char *path)
{
    MDB_env *env = open_env(path, MDB_RDONLY | MDB_NOLOCK);
    MDB_txn *txn = NULL;
    MDB_cursor *cursor = NULL;
    MDB_dbi dbi;
    MDB_val key, value;
    struct psd_lmdb *db = NULL;
    struct psd_record record = {0};
    uint64_t count = 0;

    CHECK_OK(psd_lmdb_open(path, &db));
    CHECK(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) == 0);
    CHECK(mdb_dbi_open(txn, NULL, 0, &dbi) == 0 && mdb_cursor_open(txn, dbi, &cursor) == 0);
    for (; mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0; count++) {
        CHECK(count < psd_lmdb_count(db));
        CHECK_OK(psd_lmdb_record(db, count, &record));
        CHECK(record.key_size == key.mv_size && record.value_size == value.mv_size);
        CHECK(memcmp(record.key, key.mv_data, key.mv_size) == 0);
        CHECK(memcmp(record.value, value.mv_data, value.mv_size) == 0);
    }
    CHECK(count == psd_lmdb_count(db));
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    mdb_env_close(env);
    psd_record_fini(&record);
    psd_lmdb_close(db);
    return count;
}

static void it_finds_what_liblmdb_finds(void)
{
    static const struct shape shapes[] = {
        {"empty", 0, 0, 0, 0, 0},
        {"one", 1, 8, 100, 0, 0},
        {"one that is gone", 1, 8, 100, 0, 1},
        {"ten thousand", 10000, 8, 100, 1000, 0},
        {"as MNIST", 2000, 8, 800, 1000, 0},
        {"large values", 300, 8, 20000, 50, 0},
        {"very large values", 5, 8, 5000000, 0, 0},
        {"long keys", 2000, 511, 300, 100, 0},
        {"many commits", 500, 20, 3000, 1, 0},
        {"with gaps", 6000, 60, 3000, 1000, 3},
    };

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape *shape = &shapes[i];
        unsigned gone =
            shape->delete_each ? (shape->records + shape->delete_each - 1) / shape->delete_each : 0;
        fprintf(stderr, "    %s\n", shape->name);
        CHECK(compare(write_shape(shape)) == shape->records - gone);
    }
}

static void caffe_s_own_databases_are_read(void)
{
    CHECK(compare("tests/fixtures/data/raw_lmdb") == 10);
    CHECK(compare("tests/fixtures/data/enc_lmdb") == 10);
}

/* --- access ------------------------------------------------------------------------------------
 */

static const struct shape tiny = {"tiny", 16, 8, 3000, 0, 0};
static const struct shape small = {"small", 60, 8, 3000, 0, 0};

static void a_file_is_as_good_as_its_folder_and_order_is_free(void)
{
    const char *path = write_shape(&small);
    struct psd_lmdb *db = NULL;
    struct psd_record record = {0};
    char file[PATH_MAX + 10], key[600], value[4000];

    snprintf(file, sizeof file, "%s/data.mdb", path);
    CHECK_OK(psd_lmdb_open(file, &db));
    for (unsigned i = 60; i-- > 0;) {
        MDB_val wanted = make_value(&small, i, value);
        CHECK_OK(psd_lmdb_record(db, i, &record));
        CHECK(memcmp(record.key, make_key(&small, i, key).mv_data, 8) == 0);
        CHECK(record.value_size == wanted.mv_size &&
              memcmp(record.value, value, wanted.mv_size) == 0);
    }
    psd_alloc_fail_at(0); /* warm: no more memory is asked for */
    for (unsigned i = 0; i < 60; i++)
        CHECK_OK(psd_lmdb_record(db, i, &record));
    CHECK(!psd_alloc_fail_at(-1));
    psd_record_fini(&record);
    psd_lmdb_close(db);
}

static void read_everything(void *arg)
{
    const struct psd_lmdb *db = arg;
    struct psd_record record = {0};

    for (uint64_t i = 0; i < psd_lmdb_count(db); i++)
        CHECK_OK(psd_lmdb_record(db, i, &record));
    psd_record_fini(&record);
}

static void many_threads_read_one_database(void)
{
    struct psd_lmdb *db = NULL;
    pthread_t threads[4];

    CHECK_OK(psd_lmdb_open(write_shape(&small), &db));
    for (int i = 0; i < 4; i++)
        CHECK_OK(psd_thread_start("test", read_everything, db, &threads[i]));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    psd_lmdb_close(db);
}

static void what_is_no_database_is_said_in_a_sentence(void)
{
    struct psd_lmdb *db = NULL;
    const char *folder = scratch("folder");

    CHECK_STATUS(PSD_ECONFIG, psd_lmdb_open(scratch("nothing"), &db));
    CHECK(strstr(psd_error(), "nothing: No such file"));
    CHECK(mkdir(folder, 0755) == 0);
    CHECK_STATUS(PSD_ECONFIG, psd_lmdb_open(folder, &db));
    CHECK(strstr(psd_error(), "has no file data.mdb"));
    scratch_file("folder/CURRENT", "MANIFEST-000004\n", 16);
    CHECK_STATUS(PSD_ECONFIG, psd_lmdb_open(folder, &db));
    CHECK(strstr(psd_error(), "is a LevelDB database"));
    CHECK_STATUS(PSD_ECONFIG, psd_lmdb_open("/dev/null", &db));
    CHECK(strstr(psd_error(), "neither a file nor a folder"));
    CHECK_STATUS(PSD_ECONFIG, psd_lmdb_open(scratch_file("empty", "", 0), &db));
    CHECK_STATUS(PSD_ECONFIG, psd_lmdb_open("tests/scratch.h", &db));
    CHECK(strstr(psd_error(), "page 0 is not the start of an LMDB database"));
    CHECK(db == NULL);
}

/* --- damage ------------------------------------------------------------------------------------
 */

static uint8_t *image; /* a database of a branch, leaves and overflow pages, as a file's bytes */
static size_t image_size;
static int image_fd;
static char image_path[64];

static void load_image(const struct shape *shape)
{
    char path[PATH_MAX + 10];
    struct psd_file file;

    snprintf(path, sizeof path, "%s/data.mdb", write_shape(shape));
    CHECK_OK(psd_file_open(path, &file));
    image = psd_alloc_copy(file.data, file.size);
    image_size = file.size;
    psd_file_close(&file);
    image_fd = memfd_create("damaged", MFD_CLOEXEC);
    snprintf(image_path, sizeof image_path, "/proc/self/fd/%d", image_fd);
    CHECK(image && pwrite(image_fd, image, image_size, 0) == (ssize_t)image_size);
}

/* Opens the damaged image and reads what can be read; the status of opening. */
static psd_status try_image(void)
{
    struct psd_lmdb *db = NULL;
    struct psd_record record = {0};
    psd_status status = psd_lmdb_open(image_path, &db);

    for (uint64_t i = 0; db && i < psd_lmdb_count(db); i++)
        (void)psd_lmdb_record(db, i, &record);
    psd_record_fini(&record);
    psd_lmdb_close(db);
    return status;
}

static void any_damaged_byte_is_survived(void)
{
    static const uint8_t wrong[] = {0x01, 0xff};

    load_image(&tiny);
    size_t refused = 0;
    for (size_t at = 0; at < image_size; at++) {
        if (at % 4096 > 160 && at % 4096 < 4040) /* headers, lists and a few entries */
            continue;
        for (size_t i = 0; i < sizeof wrong; i++) {
            CHECK(pwrite(image_fd, &wrong[i], 1, (off_t)at) == 1);
            refused += try_image() != PSD_OK;
        }
        CHECK(pwrite(image_fd, &image[at], 1, (off_t)at) == 1);
    }
    CHECK(refused > 100);
    CHECK_OK(try_image());
}

static void any_truncation_is_a_sentence(void)
{
    load_image(&small);
    for (size_t size = image_size; size-- > 0; size -= size < 301 ? size : 301) {
        CHECK(ftruncate(image_fd, (off_t)size) == 0);
        CHECK_STATUS(PSD_ECONFIG, try_image());
    }
}

static void a_file_that_shrinks_is_a_sentence(void)
{
    struct psd_lmdb *db = NULL;
    struct psd_record record = {0};

    load_image(&small);
    CHECK_OK(psd_lmdb_open(image_path, &db));
    CHECK(ftruncate(image_fd, 5000) == 0);
    CHECK_STATUS(PSD_ECONFIG, psd_lmdb_record(db, 0, &record));
    CHECK(strstr(psd_error(), "ends before byte "));
    psd_record_fini(&record);
    psd_lmdb_close(db);
}

/* The meta page in force, and the places of parts of the tree in the image. */
static size_t meta_at(void)
{
    struct psd_lmdb_meta metas[2];

    CHECK(!psd_lmdb_page_meta(image, &metas[0]) && !psd_lmdb_page_meta(image + 4096, &metas[1]));
    return metas[1].commit > metas[0].commit ? 4096 : 0;
}

static size_t root_at(void)
{
    struct psd_lmdb_meta meta;

    CHECK(!psd_lmdb_page_meta(image + meta_at(), &meta));
    return meta.root * 4096;
}

static size_t child_entry_at(size_t i)
{
    return root_at() + psd_lmdb_page_entry(image + root_at(), i);
}

static size_t leaf_at(size_t i)
{
    size_t page = 0;

    memcpy(&page, image + child_entry_at(i), 6);
    return page * 4096;
}

/* An entry whose value is in overflow pages; one of the first leaves has it. */
static size_t big_entry_at(void)
{
    struct psd_lmdb_node node;
    size_t count = 0;

    for (size_t l = 0; l < 8; l++) {
        const uint8_t *leaf = image + leaf_at(l);
        CHECK(!psd_lmdb_page_check(leaf, 4096, leaf_at(l) / 4096, PSD_LMDB_LEAF, &count));
        for (size_t i = 0; i < count; i++) {
            size_t at = psd_lmdb_page_entry(leaf, i);
            CHECK(!psd_lmdb_page_node(leaf + at, 4096 - at, PSD_LMDB_LEAF, &node));
            if (!node.value)
                return leaf_at(l) + at;
        }
    }
    TEST_FAIL("no value is large");
    return 0;
}

static void each_kind_of_damage_has_its_sentence(void)
{
    load_image(&small);
    size_t meta = meta_at(), root = root_at(), leaf = leaf_at(0), big = big_entry_at();
    size_t first = leaf + psd_lmdb_page_entry(image + leaf, 0);
    uint64_t root_page = root / 4096, leaf_page = leaf / 4096;
    const struct {
        const char *says;
        size_t at;
        uint64_t value;
        size_t size;
    } cases[] = {
        {"page 0 is not the start of an LMDB database", 16, 0xbeefc0df, 4},
        {"page 1 is not the start of an LMDB database", 4096 + 16, 0, 4},
        {"of a version of LMDB", meta + 20, 2, 4},
        {"a page size that LMDB does not have", 40, 4095, 4},
        {"a page size that LMDB does not have", 40, 65536, 4},
        {"another page size than page 0", 4096 + 40, 8192, 4},
        {"keys have several values", meta + 88 + 4, 4, 2},
        {"deeper than LMDB can go", meta + 88 + 6, 33, 2},
        {"contradicts itself", meta + 88 + 6, 0, 2},
        {"the root behind the last page", meta + 88 + 40, 1000000, 8},
        {"refers to pages that are not in the file", meta + 88 + 40, 1, 8},
        {"records and should have", meta + 88 + 32, UINT64_MAX / 2, 8},
        {"perhaps a copy that broke off", meta + 136, 1000000, 8},
        {"perhaps a copy that broke off", meta + 136, UINT64_MAX - 1, 8},
        {"carries the number of another page", root, 77, 8},
        {"should be a branch and is none", root + 10, 2, 2},
        {"should be a leaf and is none", leaf + 10, 1, 2},
        {"should be a leaf and is none", leaf + 10, 2 | 0x20, 2},
        {"has a damaged list of entries", leaf + 12, 4098, 2},
        {"has a damaged list of entries", leaf + 12, 17, 2},
        {"has a damaged list of entries", leaf + 14, 4097, 2},
        {"outside of the space for entries", leaf + 16, 16, 2},
        {"outside of the space for entries", leaf + 16, 65535, 2},
        {"reaches over its end", leaf + 16, 4094, 2},
        {"lie over each other", leaf + 16, psd_lmdb_page_entry(image + leaf, 1), 2},
        {"reaches over its end", first + 6, 5000, 2},
        {"a database inside the database", first + 4, 2, 2},
        {"has a record of more than 256 MiB", big, 0xffffffff, 4},
        {"refers to pages that are not in the file", big + 8 + 8, UINT64_MAX, 8},
        {"has its place elsewhere in the tree", big + 8 + 8, root_page, 8},
        {"refers to pages that are not in the file", child_entry_at(0), 900000, 6},
        {"has its place elsewhere in the tree", child_entry_at(0), root_page, 6},
        {"has its place elsewhere in the tree", child_entry_at(1), leaf_page, 6},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].says);
        CHECK(pwrite(image_fd, &cases[i].value, cases[i].size, (off_t)cases[i].at) > 0);
        CHECK_STATUS(PSD_ECONFIG, try_image());
        if (!strstr(psd_error(), cases[i].says))
            TEST_FAIL("%s", psd_error());
        CHECK(strstr(psd_error(), image_path));
        CHECK(pwrite(image_fd, image, image_size, 0) == (ssize_t)image_size);
    }
}

/* Reads all records of the image, of which one is damaged; its sentence. */
static const char *read_damaged(void)
{
    static char sentence[400];
    struct psd_lmdb *db = NULL;
    struct psd_record record = {0};
    unsigned damaged = 0;

    CHECK_OK(psd_lmdb_open(image_path, &db));
    for (uint64_t i = 0; i < psd_lmdb_count(db); i++) {
        psd_status status = psd_lmdb_record(db, i, &record);
        if (status == PSD_OK)
            continue;
        CHECK_STATUS(PSD_ECONFIG, status);
        CHECK(record.key && record.key_size == 8); /* people are told which one */
        snprintf(sentence, sizeof sentence, "%s", psd_error());
        damaged++;
    }
    CHECK(damaged == 1);
    psd_record_fini(&record);
    psd_lmdb_close(db);
    return sentence;
}

static void a_damaged_large_value_costs_one_record(void)
{
    load_image(&small);
    size_t page = 0, big = big_entry_at();
    memcpy(&page, image + big + 8 + 8, sizeof page);
    const struct {
        const char *says;
        size_t at;
        uint64_t value;
        size_t size;
    } cases[] = {
        {"carries the number of another page", 0, page + 1, 8},
        {"should hold a large value and does not", 10, 2, 2},
        {"has fewer pages behind it than its value needs", 12, 0, 4},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        off_t at = (off_t)(page * 4096 + cases[i].at);
        fprintf(stderr, "    %s\n", cases[i].says);
        CHECK(pwrite(image_fd, &cases[i].value, cases[i].size, at) > 0);
        CHECK(strstr(read_damaged(), cases[i].says));
        CHECK(pwrite(image_fd, image, image_size, 0) == (ssize_t)image_size);
    }
}

/* Larger than any value was when the room was made, and in pages that do not exist. */
static void a_value_that_grows_meanwhile_is_a_sentence(void)
{
    struct psd_lmdb *db = NULL;
    struct psd_record record = {0};
    const uint32_t large = 100000000;

    load_image(&small);
    CHECK_OK(psd_lmdb_open(image_path, &db));
    CHECK(pwrite(image_fd, &large, sizeof large, (off_t)big_entry_at()) == sizeof large);
    unsigned changed = 0;
    for (uint64_t i = 0; i < psd_lmdb_count(db); i++) {
        if (psd_lmdb_record(db, i, &record) != PSD_OK)
            changed += strstr(psd_error(), "was changed since it was opened") != NULL;
    }
    CHECK(changed == 1);
    psd_record_fini(&record);
    psd_lmdb_close(db);
}

static void open_survives_every_failed_allocation(void)
{
    const char *path = write_shape(&small);
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_lmdb *db = NULL;
        struct psd_record record = {0};
        psd_alloc_fail_at(n);
        psd_status status = psd_lmdb_open(path, &db);
        if (status == PSD_OK)
            status = psd_lmdb_record(db, 0, &record);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_record_fini(&record);
        psd_lmdb_close(db);
    }
}

int main(int argc, char **argv)
{
    RUN(it_finds_what_liblmdb_finds)
    RUN(caffe_s_own_databases_are_read)
    RUN(a_file_is_as_good_as_its_folder_and_order_is_free)
    RUN(many_threads_read_one_database)
    RUN(what_is_no_database_is_said_in_a_sentence)
    RUN(any_damaged_byte_is_survived)
    RUN(any_truncation_is_a_sentence)
    RUN(a_file_that_shrinks_is_a_sentence)
    RUN(each_kind_of_damage_has_its_sentence)
    RUN(a_damaged_large_value_costs_one_record)
    RUN(a_value_that_grows_meanwhile_is_a_sentence)
    RUN(open_survives_every_failed_allocation)
}
