/* spool_test.c - sets of files appear whole, or not at all. */
#include "base/alloc.h"
#include "base/file.h"
#include "documents.h"
#include "engine/spool.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

static const char *const names[] = {"a.model", "b.state", "c.last"};
enum { FILES = 3 };

static char *path_of(size_t i)
{
    return psd_alloc_text("%s", test_path(names[i]));
}

/* Spools the document as all files of the set. */
static psd_status spool_set(const struct psd_document *document)
{
    struct psd_spool *spool = NULL;

    PSD_TRY(psd_spool_create(&spool));
    psd_status status = PSD_OK;
    for (size_t i = 0; status == PSD_OK && i < FILES; i++)
        status = psd_spool_add(spool, path_of(i), document->root);
    if (status == PSD_OK)
        status = psd_spool_start(spool);
    if (status != PSD_OK) {
        CHECK_OK(psd_spool_end(spool));
        return status;
    }
    return psd_spool_end(spool);
}

/* Temporary files, too. */
static size_t count_files(void)
{
    DIR *folder = opendir(test_folder());
    size_t count = 0;

    CHECK(folder);
    while (readdir(folder)) /* NOLINT(concurrency-mt-unsafe): one thread */
        count++;
    closedir(folder);
    return count - 2;
}

static void check_file(size_t i, const struct psd_document *document)
{
    uint8_t packed[1000];
    size_t size = protobuf_c_message_pack(document->root, packed);
    struct psd_file file = {0};

    CHECK_OK(psd_file_open(test_path(names[i]), &file));
    CHECK(file.size == size && memcmp(file.data, packed, size) == 0);
    psd_file_close(&file);
}

static void a_set_is_written_whole(void)
{
    struct psd_document *document = net_of("name: 'lenet' layer { name: 'x' type: 'Input' }");

    for (int i = 0; i < 2; i++) { /* the second replaces the first */
        CHECK_OK(spool_set(document));
        CHECK(count_files() == FILES);
    }
    for (size_t i = 0; i < FILES; i++)
        check_file(i, document);
    psd_document_destroy(document);
}

/* The spool has a copy. */
static void what_was_packed_may_change(void)
{
    struct psd_document *document = net_of("name: 'first'"), *same = net_of("name: 'first'");
    struct psd_spool *spool = NULL;

    CHECK_OK(psd_spool_create(&spool));
    CHECK_OK(psd_spool_add(spool, path_of(0), document->root));
    psd_document_destroy(document);
    CHECK(count_files() == 0);
    CHECK_OK(psd_spool_start(spool));
    CHECK_OK(psd_spool_end(spool));
    check_file(0, same);
    psd_document_destroy(same);
}

static void a_directory_in_the_way_of_one_leaves_none(void)
{
    struct psd_document *document = net_of("name: 'lenet'");

    for (size_t i = 0; i < FILES; i++) {
        char blocked[400];
        snprintf(blocked, sizeof blocked, "%s", test_path(names[i]));
        CHECK(mkdir(blocked, 0700) == 0);
        CHECK_STATUS(PSD_ECONFIG, spool_set(document));
        CHECK(strstr(psd_error(), names[i]));
        CHECK(count_files() == 1);
        CHECK(rmdir(blocked) == 0);
    }
    psd_document_destroy(document);
}

/* The next set is too large for the disk: the one before stays, whole. */
static void a_full_disk_leaves_the_set_before(void)
{
    struct psd_document *small = net_of("name: 'old'"), *large = net_of("name: 'new'");
    struct rlimit limit = {1000, 1000};
    char name[2000];

    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    CHECK_OK(spool_set(small));
    ((Caffe__NetParameter *)large->root)->name = name;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK_STATUS(PSD_ECONFIG, spool_set(large));
    CHECK(strstr(psd_error(), "File too large") && count_files() == FILES);
    for (size_t i = 0; i < FILES; i++)
        check_file(i, small);
    psd_document_destroy(large);
    psd_document_destroy(small);
}

static void a_folder_that_is_not_there_is_named(void)
{
    struct psd_document *document = net_of("name: 'lenet'");
    struct psd_spool *spool = NULL;

    CHECK_OK(psd_spool_create(&spool));
    CHECK_OK(psd_spool_add(spool, psd_alloc_text("%s/x", test_path("nowhere")), document->root));
    CHECK_OK(psd_spool_start(spool));
    CHECK_STATUS(PSD_ECONFIG, psd_spool_end(spool));
    CHECK(strstr(psd_error(), "nowhere"));
    psd_document_destroy(document);
}

static void no_spool_ends_well(void)
{
    CHECK_OK(psd_spool_end(NULL));
}

/* A folder may stay without its sync for want of memory; the set is there all the same. */
static void a_set_survives_every_failed_allocation(void)
{
    struct psd_document *document = net_of("name: 'lenet' layer { name: 'x' type: 'Input' }");
    bool failed = true;
    int refused = 0;
    long n = 0;

    for (; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = spool_set(document);
        failed = psd_alloc_fail_at(-1);
        CHECK(status == PSD_OK || (failed && status == PSD_ENOMEM));
        CHECK(count_files() == (status == PSD_OK ? FILES : 0));
        refused += status != PSD_OK;
        for (size_t i = 0; status == PSD_OK && i < FILES; i++)
            CHECK(unlink(test_path(names[i])) == 0);
    }
    CHECK(refused > 2 * FILES);
    psd_document_destroy(document);
}

int main(int argc, char **argv)
{
    RUN(a_set_is_written_whole)
    RUN(what_was_packed_may_change)
    RUN(a_directory_in_the_way_of_one_leaves_none)
    RUN(a_full_disk_leaves_the_set_before)
    RUN(a_folder_that_is_not_there_is_named)
    RUN(no_spool_ends_well)
    RUN(a_set_survives_every_failed_allocation)
}
