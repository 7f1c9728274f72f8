/* document_test.c - from file to message tree and back. */
#include "base/alloc.h"
#include "base/file.h"
#include "documents.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char *put(const char *name, const char *data, size_t size)
{
    const char *path = test_path(name);
    struct psd_file_writer *writer = NULL;

    CHECK_OK(psd_file_create(path, &writer));
    psd_file_write(writer, data, size);
    CHECK_OK(psd_file_commit(writer));
    return path;
}

static const char text[] = "name: \"net\"\nlayer {\n  name: \"a\"\n}\n";
static const char bytes[] = "\x0a\x03net\xa2\x06\x03\x0a\x01"
                            "a";

static void check_net_at(const char *path, enum psd_document_form form,
                         const ProtobufCMessageDescriptor *type)
{
    struct psd_document *document = NULL;

    CHECK_OK(psd_document_read(path, form, type, &document));
    CHECK(document->root->descriptor == NET);
    CHECK_TEXT(path, document->path);
    CHECK_TEXT(text, text_of(document->root));
    psd_document_destroy(document);
}

static void either_form_is_read(void)
{
    check_net_at(put("net.prototxt", text, strlen(text)), PSD_DOCUMENT_AUTO, NET);
    check_net_at(put("net.caffemodel", bytes, sizeof bytes - 1), PSD_DOCUMENT_AUTO, NET);
    check_net_at(put("net.caffemodel", text, strlen(text)), PSD_DOCUMENT_TEXT, NET);
    check_net_at(put("net.prototxt", bytes, sizeof bytes - 1), PSD_DOCUMENT_BINARY, NET);
}

static void form_and_type_are_found_from_the_contents(void)
{
    check_net_at(put("other", text, strlen(text)), PSD_DOCUMENT_AUTO, NULL);
    check_net_at(put("other", bytes, sizeof bytes - 1), PSD_DOCUMENT_AUTO, NULL);
}

static void only_text_has_positions(void)
{
    struct psd_document *document = NULL;
    const char *path = put("net.prototxt", text, strlen(text));

    CHECK_OK(psd_document_read(path, PSD_DOCUMENT_AUTO, NET, &document));
    CHECK(psd_document_where(document, &net_in(document)->layer[0]->base, 1).line == 3);
    psd_document_destroy(document);
    path = put("net.caffemodel", bytes, sizeof bytes - 1);
    CHECK_OK(psd_document_read(path, PSD_DOCUMENT_AUTO, NET, &document));
    CHECK(psd_document_where(document, &net_in(document)->layer[0]->base, 1).line == 0);
    psd_document_destroy(document);
}

/* Reads what a writer sends through a pipe, as standard input. */
static psd_status read_piped(const char *data, size_t size, struct psd_document **out)
{
    int ends[2];

    CHECK(pipe(ends) == 0 && dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    CHECK(write(ends[1], data, size) == (ssize_t)size);
    close(ends[0]);
    close(ends[1]);
    return psd_document_read("-", PSD_DOCUMENT_AUTO, NULL, out);
}

static void standard_input_is_a_file_too(void)
{
    struct psd_document *document = NULL;

    CHECK_OK(read_piped(text, strlen(text), &document));
    CHECK_TEXT(text, text_of(document->root));
    psd_document_destroy(document);
    CHECK_OK(read_piped(bytes, sizeof bytes - 1, &document));
    CHECK_TEXT(text, text_of(document->root));
    psd_document_destroy(document);
    document = NULL;
    CHECK_STATUS(PSD_ECONFIG, read_piped("nam: 1", 6, &document));
    CHECK_TEXT("-:1:1: unknown field \"nam\" in NetParameter; did you mean \"name\"?", psd_error());
}

static void an_empty_text_is_an_empty_message_but_an_empty_model_is_none(void)
{
    struct psd_document *document = NULL;

    CHECK_OK(psd_document_read(put("net.prototxt", "", 0), PSD_DOCUMENT_AUTO, NULL, &document));
    CHECK_TEXT("", text_of(document->root));
    psd_document_destroy(document);
    document = NULL;
    const char *path = put("net.caffemodel", "", 0);
    CHECK_STATUS(PSD_ECONFIG, psd_document_read(path, PSD_DOCUMENT_AUTO, NET, &document));
    CHECK(!document && strstr(psd_error(), "net.caffemodel is empty"));
}

/* Sees a read fail with "FOLDER/name" and the rest of a sentence. */
static void check_refused(psd_status expected, const char *path, const char *before,
                          const char *after)
{
    struct psd_document *document = NULL;
    char sentence[300];

    CHECK_STATUS(expected, psd_document_read(path, PSD_DOCUMENT_AUTO, NULL, &document));
    CHECK(!document);
    snprintf(sentence, sizeof sentence, "%s%s%s", before, path, after);
    CHECK_TEXT(sentence, psd_error());
}

static void what_cannot_be_read_is_told_in_a_sentence(void)
{
    check_refused(PSD_ECONFIG, test_path("none.prototxt"), "cannot open ",
                  ": No such file or directory");
    check_refused(PSD_ECONFIG, test_folder(), "", " is a directory, not a file");
    check_refused(PSD_ECONFIG, put("net.prototxt", "quux: 1", 7), "",
                  ":1:1: unknown field \"quux\" in NetParameter");
    check_refused(PSD_ECONFIG, put("net.caffemodel", "\x0a\x05x", 3), "",
                  ": damaged or cut short at byte 2, in name: it says that 5 bytes follow, but "
                  "there are 1");
    check_refused(PSD_ENOSUP, put("net.h5.caffemodel", "\x89HDF\r\n\x1a\n", 8), "",
                  " is an HDF5 file, not a binary protobuf");
}

static bool holds(const char *path, const char *data, size_t size)
{
    struct psd_file file;

    CHECK_OK(psd_file_open(path, &file));
    bool same = file.size == size && memcmp(file.data, data, size) == 0;
    psd_file_close(&file);
    return same;
}

static void the_form_of_a_written_file_follows_its_name(void)
{
    struct psd_document *document = net_of(text);
    static const struct {
        const char *name;
        enum psd_document_form form;
        bool is_text;
    } cases[] = {
        {"net.prototxt", PSD_DOCUMENT_AUTO, true},   {"net.caffemodel", PSD_DOCUMENT_AUTO, false},
        {"other", PSD_DOCUMENT_AUTO, true},          {"other", PSD_DOCUMENT_BINARY, false},
        {"net.caffemodel", PSD_DOCUMENT_TEXT, true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = test_path(cases[i].name);
        CHECK_OK(psd_document_write(document, cases[i].form, NULL, path));
        CHECK(cases[i].is_text ? holds(path, text, strlen(text))
                               : holds(path, bytes, sizeof bytes - 1));
    }
    psd_document_destroy(document);
}

static void a_document_that_cannot_be_written_leaves_the_old_file(void)
{
    struct psd_document *document = document_of(DATUM, "data: 'x'");
    const char *path = put("other", "old", 3);

    ((Caffe__Datum *)document->root)->data.len = (size_t)3 << 30;
    CHECK_STATUS(PSD_ENOSUP, psd_document_write(document, PSD_DOCUMENT_BINARY, NULL, path));
    CHECK(holds(path, "old", 3));
    CHECK_STATUS(PSD_ECONFIG, psd_document_write(document, PSD_DOCUMENT_TEXT, NULL,
                                                 test_path("none/net.prototxt")));
    psd_document_destroy(document);
}

static void the_forms_have_names(void)
{
    CHECK_TEXT("auto", psd_form_names[PSD_DOCUMENT_AUTO]);
    CHECK_TEXT("text", psd_form_names[PSD_DOCUMENT_TEXT]);
    CHECK_TEXT("binary", psd_form_names[PSD_DOCUMENT_BINARY]);
    CHECK(!psd_form_names[3]);
}

static void every_failed_allocation_is_survived(void)
{
    const char *sources[] = {put("net.prototxt", text, strlen(text)),
                             put("net.caffemodel", bytes, sizeof bytes - 1)};

    for (size_t i = 0; i < 2; i++) {
        bool failed = true;
        for (long n = 0; failed; n++) {
            struct psd_document *document = NULL;
            psd_alloc_fail_at(n);
            psd_status status = psd_document_read(sources[i], PSD_DOCUMENT_AUTO, NULL, &document);
            failed = psd_alloc_fail_at(-1);
            CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
            CHECK(failed == (document == NULL));
            psd_document_destroy(document);
        }
    }
}

int main(int argc, char **argv)
{
    RUN(either_form_is_read)
    RUN(form_and_type_are_found_from_the_contents)
    RUN(only_text_has_positions)
    RUN(standard_input_is_a_file_too)
    RUN(an_empty_text_is_an_empty_message_but_an_empty_model_is_none)
    RUN(what_cannot_be_read_is_told_in_a_sentence)
    RUN(the_form_of_a_written_file_follows_its_name)
    RUN(a_document_that_cannot_be_written_leaves_the_old_file)
    RUN(the_forms_have_names)
    RUN(every_failed_allocation_is_survived)
}
