/* source_test.c - records by index, from what a name stands for. */
#include "base/alloc.h"
#include "data/source.h"
#include "samples.h"

static void records_come_by_index(void)
{
    struct psd_source *source = NULL;
    struct psd_record record = {0};
    const char *path = samples_write("db", 20, NULL);

    CHECK_OK(psd_source_open("lmdb", path, &source));
    CHECK_TEXT(path, psd_source_path(source));
    CHECK(psd_source_count(source) == 20);
    for (unsigned i = 20; i-- > 0;) {
        CHECK_OK(psd_source_read(source, i, &record));
        CHECK(record.key_size == 8 && record.datum.label == (int)i && record.datum.width == 3);
        CHECK(record.datum.data_size == 6 && record.datum.data[5] == i);
    }
    psd_record_fini(&record);
    psd_source_close(source);
    psd_source_close(NULL);
}

static void a_record_that_is_no_datum_still_has_a_key(void)
{
    struct psd_lmdb_writer *writer = NULL;
    struct psd_source *source = NULL;
    struct psd_record record = {0};

    CHECK_OK(psd_lmdb_writer_open(scratch("db"), &writer));
    CHECK_OK(psd_lmdb_writer_put(writer, "a", 1, "\x22\x7f", 2));
    CHECK_OK(psd_lmdb_writer_commit(writer));
    CHECK_OK(psd_source_open("lmdb", scratch("db"), &source));
    CHECK_STATUS(PSD_ECONFIG, psd_source_read(source, 0, &record));
    CHECK_TEXT("its Datum ends in the middle of a field, near byte 2", psd_error());
    CHECK(record.key_size == 1 && record.key[0] == 'a');
    psd_record_fini(&record);
    psd_source_close(source);
}

static void unknown_kinds_and_missing_records_are_refused(void)
{
    struct psd_source *source = NULL;

    CHECK_STATUS(PSD_ENOSUP, psd_source_open("leveldb", "x", &source));
    CHECK_TEXT("this build cannot read records from leveldb; it knows: lmdb", psd_error());
    CHECK_STATUS(PSD_ECONFIG, psd_source_open("lmdb", scratch("nothing"), &source));
    CHECK(source == NULL);
}

static void open_survives_every_failed_allocation(void)
{
    const char *path = samples_write("db", 3, NULL);
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_source *source = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_source_open("lmdb", path, &source);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_source_close(source);
    }
}

int main(int argc, char **argv)
{
    RUN(records_come_by_index)
    RUN(a_record_that_is_no_datum_still_has_a_key)
    RUN(unknown_kinds_and_missing_records_are_refused)
    RUN(open_survives_every_failed_allocation)
}
