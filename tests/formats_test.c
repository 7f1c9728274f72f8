/* formats_test.c - every file of tests/fixtures, which Caffe itself wrote, through both forms.
 *
 *     x.prototxt  ->  message  ->  text  ->  message  ->  bytes  ->  message  ->  the same text
 *     x.caffemodel  ->  message  ->  the same bytes, and the bytes protobuf-c makes of it */
#include "base/file.h"
#include "documents.h"
#include "proto/kind.h"
#include "proto/upgrade.h"

#include <ftw.h>

static void (*visit)(const char *path); /* for what nftw finds */
static size_t visited;

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);

    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

static int on_file(const char *path, const struct stat *about, int flag, struct FTW *place)
{
    (void)about;
    (void)place;
    if (flag == FTW_F && (ends_in(path, ".prototxt") || ends_in(path, ".caffemodel") ||
                          ends_in(path, ".solverstate") || ends_in(path, ".binaryproto"))) {
        fprintf(stderr, "    %s\n", path);
        visited++;
        visit(path);
    }
    return 0;
}

static void for_every_fixture(void (*then)(const char *path), size_t at_least)
{
    visit = then;
    CHECK(nftw("tests/fixtures", on_file, 20, FTW_PHYS) == 0);
    CHECK(visited >= at_least);
}

static struct psd_document *read_file(const char *path)
{
    struct psd_document *document = NULL;

    CHECK_OK(psd_document_read(path, PSD_DOCUMENT_AUTO, NULL, &document));
    return document;
}

static bool same_bytes(const struct psd_file *file, const void *data, size_t size)
{
    return file->size == size && memcmp(file->data, data, size) == 0;
}

/* Makes a document of its own text; frees the old one. */
static struct psd_document *through_text(struct psd_document *document)
{
    struct psd_document *again = document_of(document->root->descriptor, text_of(document->root));

    psd_document_destroy(document);
    return again;
}

static struct psd_document *through_bytes(struct psd_document *document)
{
    struct written bytes = written_wire(document->root);
    struct psd_document *again = NULL;

    CHECK_OK(read_bytes(document->root->descriptor, "again", bytes.data, bytes.size, &again));
    free(bytes.data);
    psd_document_destroy(document);
    return again;
}

static void check_stable(const char *path)
{
    struct psd_document *document = read_file(path);
    char *first = strdup(text_of(document->root));
    struct written bytes = written_wire(document->root);

    CHECK(first);
    document = through_text(document);
    CHECK_TEXT(first, text_of(document->root));
    document = through_bytes(document);
    CHECK_TEXT(first, text_of(document->root));
    document = through_text(document);
    struct written again = written_wire(document->root);
    CHECK(again.size == bytes.size && memcmp(again.data, bytes.data, bytes.size) == 0);
    free(again.data);
    free(bytes.data);
    free(first);
    psd_document_destroy(document);
}

static void text_and_bytes_of_every_fixture_say_the_same(void)
{
    for_every_fixture(check_stable, 200);
}

/* Caffe's own parser and protobuf-c agree with ours about a binary file. */
static void check_bytes(const char *path)
{
    struct psd_file file;

    if (ends_in(path, ".prototxt"))
        return;
    struct psd_document *document = read_file(path);
    struct written ours = written_wire(document->root);
    CHECK_OK(psd_file_open(path, &file));
    CHECK(same_bytes(&file, ours.data, ours.size));
    ProtobufCMessage *theirs = protobuf_c_message_unpack(document->root->descriptor, NULL,
                                                         file.size, (const uint8_t *)file.data);
    CHECK(theirs && protobuf_c_message_get_packed_size(theirs) == ours.size);
    protobuf_c_message_pack(theirs, (uint8_t *)ours.data);
    CHECK(same_bytes(&file, ours.data, ours.size));
    protobuf_c_message_free_unpacked(theirs, NULL);
    psd_file_close(&file);
    free(ours.data);
    psd_document_destroy(document);
}

static void every_binary_fixture_is_written_back_byte_for_byte(void)
{
    for_every_fixture(check_bytes, 90);
}

/* The first of these that is part of a path names the file's message. */
static void check_kind(const char *path)
{
    static const char *const kinds[][2] = {
        {".solverstate", "SolverState"},   {".caffemodel", "NetParameter"},
        {"/net.prototxt", "NetParameter"}, {"mean.binaryproto", "BlobProto"},
        {"solver", "SolverParameter"},     {"", "NetParameter"},
    };
    struct psd_document *document = read_file(path);
    size_t i = 0;

    while (!strstr(path, kinds[i][0]))
        i++;
    CHECK_TEXT(kinds[i][1], document->root->descriptor->short_name);
    psd_document_destroy(document);
}

static void every_fixture_is_known_for_what_it_is(void)
{
    for_every_fixture(check_kind, 200);
}

static void check_nothing_old(const char *path)
{
    struct psd_document *document = read_file(path);
    struct psd_upgrade report;

    psd_upgrade_init(&report, document);
    if (document->root->descriptor == NET && !strstr(path, "/upgrade/")) {
        char *before = strdup(text_of(document->root));
        CHECK_OK(psd_upgrade_net(document, &report));
        CHECK(before && report.warnings.sentences.count == 0);
        if (!report.done)
            CHECK_TEXT(before, text_of(document->root));
        free(before);
    }
    psd_document_destroy(document);
}

static void every_net_can_be_upgraded_without_a_warning(void)
{
    for_every_fixture(check_nothing_old, 200);
}

/* What our upgrade makes of a file is, byte for byte, what Caffe's made of it. */
static void check_upgrade(const char *old, const char *upgraded)
{
    struct psd_document *document = read_file(old);
    struct psd_upgrade report;
    struct psd_file file;

    psd_upgrade_init(&report, document);
    if (document->root->descriptor == SOLVER)
        CHECK_OK(psd_upgrade_solver(document, &report));
    else
        CHECK_OK(psd_upgrade_net(document, &report));
    CHECK(report.done && report.warnings.sentences.count == 0);
    CHECK_OK(psd_file_open(upgraded, &file));
    struct written bytes = written_wire(document->root);
    const char *text = text_of(document->root);
    CHECK(ends_in(upgraded, ".prototxt") ? same_bytes(&file, text, strlen(text))
                                         : same_bytes(&file, bytes.data, bytes.size));
    free(bytes.data);
    psd_file_close(&file);
    psd_document_destroy(document);
}

static void upgrades_equal_caffes(void)
{
    static const char *const names[][2] = {
        {"v0.prototxt", "v0.upgraded.prototxt"},
        {"v0.prototxt", "v0.upgraded.binaryproto"},
        {"v0.binaryproto", "v0.upgraded.binaryproto"},
        {"v1.prototxt", "v1.upgraded.prototxt"},
        {"v1.prototxt", "v1.upgraded.binaryproto"},
        {"v1.binaryproto", "v1.upgraded.binaryproto"},
        {"solver_old.prototxt", "solver_old.upgraded.prototxt"},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char old[100], upgraded[100];
        snprintf(old, sizeof old, "tests/fixtures/upgrade/%s", names[i][0]);
        snprintf(upgraded, sizeof upgraded, "tests/fixtures/upgrade/%s", names[i][1]);
        fprintf(stderr, "    %s\n", old);
        check_upgrade(old, upgraded);
    }
}

int main(int argc, char **argv)
{
    RUN(text_and_bytes_of_every_fixture_say_the_same)
    RUN(every_binary_fixture_is_written_back_byte_for_byte)
    RUN(every_fixture_is_known_for_what_it_is)
    RUN(every_net_can_be_upgraded_without_a_warning)
    RUN(upgrades_equal_caffes)
}
