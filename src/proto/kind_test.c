/* kind_test.c - what a file is, by its name and its first bytes. */
#include "documents.h"
#include "proto/kind.h"

static void the_form_follows_the_name_then_the_bytes(void)
{
    static const struct {
        const char *path, *head;
        size_t length;
        enum psd_document_form form;
    } cases[] = {
        {"lenet.prototxt", "\x0a\x01", 2, PSD_DOCUMENT_TEXT},
        {"lenet.pbtxt", "", 0, PSD_DOCUMENT_TEXT},
        {"lenet.txt", "", 0, PSD_DOCUMENT_TEXT},
        {"lenet.caffemodel", "name: 'x'", 9, PSD_DOCUMENT_BINARY},
        {"lenet_iter_10.solverstate", "", 0, PSD_DOCUMENT_BINARY},
        {"mean.binaryproto", "", 0, PSD_DOCUMENT_BINARY},
        {"x.pb", NULL, 0, PSD_DOCUMENT_BINARY},
        {"-", "name: 'caf\xc3\xa9'\r\n\t", 16, PSD_DOCUMENT_TEXT},
        {"-", "\x0a\x01x", 3, PSD_DOCUMENT_BINARY},
        {"net", "", 0, PSD_DOCUMENT_TEXT},
        {"prototxt", "\x01", 1, PSD_DOCUMENT_BINARY},
        {"", NULL, 0, PSD_DOCUMENT_TEXT},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].path);
        CHECK(psd_kind_form(cases[i].path, cases[i].head, cases[i].length) == cases[i].form);
    }
}

static void a_name_may_ask_for_no_form(void)
{
    CHECK(psd_kind_form_of_name("lenet.prototxt") == PSD_DOCUMENT_TEXT);
    CHECK(psd_kind_form_of_name("lenet.caffemodel") == PSD_DOCUMENT_BINARY);
    CHECK(psd_kind_form_of_name("lenet") == PSD_DOCUMENT_AUTO);
    CHECK(psd_kind_form_of_name("-") == PSD_DOCUMENT_AUTO);
}

static void a_kind_is_found_by_its_name(void)
{
    CHECK(psd_kind_find("NetParameter") == NET);
    CHECK(psd_kind_find("SolverState") == &caffe__solver_state__descriptor);
    CHECK(!psd_kind_find("LayerParameter") && !psd_kind_find("netparameter"));
    for (size_t i = 0; psd_kinds[i]; i++)
        CHECK(psd_kind_find(psd_kinds[i]->short_name) == psd_kinds[i]);
}

/* The last of them has but one field, and in bytes that field cannot be told from a net's name. */
static const struct {
    const char *name, *text;
} examples[] = {
    {"NetParameter", "name: 'net' layer { name: 'base_lr' }"},
    {"NetParameter", "layers { type: RELU } force_backward: true"},
    {"SolverParameter", "net: 'lenet.prototxt' base_lr: 0.01 momentum: 0.9"},
    {"SolverParameter", "solver_mode: CPU net: 'x' 'layer'"},
    {"SolverParameter", "# name: 'a'\ntrain_net: 'layer' solver_mode: CPU"},
    {"SolverState", "iter: 10 learned_net: 'x' history { data: 1 }"},
    {"BlobProto", "num: 1 channels: 3 height: 2 width: 1 data: [1, 2, 3]"},
    {"Datum", "channels: 3 height: 2 width: 1 data: 'abcdef' label: 4"},
    {"BlobProtoVector", "blobs { num: 1 data: 1 } blobs { num: 2 }"},
    {"BlobProtoVector", "blobs { data: [1, 2] shape { dim: 2 } }"},
};

static void a_text_is_what_knows_most_of_its_fields(void)
{
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const char *text = examples[i].text;
        CHECK_TEXT(examples[i].name,
                   psd_kind_guess(PSD_DOCUMENT_TEXT, text, strlen(text))->short_name);
    }
}

static void bytes_are_what_knows_most_of_their_fields(void)
{
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct psd_document *document =
            document_of(psd_kind_find(examples[i].name), examples[i].text);
        struct written bytes = written_wire(document->root);
        fprintf(stderr, "    %s\n", examples[i].text);
        CHECK_TEXT(examples[i].name,
                   psd_kind_guess(PSD_DOCUMENT_BINARY, bytes.data, bytes.size)->short_name);
        free(bytes.data);
        psd_document_destroy(document);
    }
}

static void what_fits_nothing_is_taken_for_a_net(void)
{
    CHECK(psd_kind_guess(PSD_DOCUMENT_TEXT, "", 0) == NET);
    CHECK(psd_kind_guess(PSD_DOCUMENT_TEXT, "quux: 1", 7) == NET);
    CHECK(psd_kind_guess(PSD_DOCUMENT_BINARY, "\xff\xff", 2) == NET);
    CHECK(psd_kind_guess(PSD_DOCUMENT_BINARY, NULL, 0) == NET);
}

int main(int argc, char **argv)
{
    RUN(the_form_follows_the_name_then_the_bytes)
    RUN(a_name_may_ask_for_no_form)
    RUN(a_kind_is_found_by_its_name)
    RUN(a_text_is_what_knows_most_of_its_fields)
    RUN(bytes_are_what_knows_most_of_their_fields)
    RUN(what_fits_nothing_is_taken_for_a_net)
}
