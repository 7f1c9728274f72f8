/* wire_writer_test.c - the binary form written. */
#include "documents.h"

static bool is_written_as(const struct psd_document *document, const char *bytes, size_t size)
{
    struct written ours = written_wire(document->root);
    bool same = ours.size == size && memcmp(ours.data, bytes, size) == 0;

    free(ours.data);
    return same;
}

static void fields_are_written_in_the_order_of_their_numbers(void)
{
    struct psd_document *document = net_of("layer { name: 'a' } force_backward: true name: 'net'");
    static const char bytes[] = "\x0a\x03net\x28\x01\xa2\x06\x03\x0a\x01"
                                "a";

    CHECK(is_written_as(document, bytes, sizeof bytes - 1));
    psd_document_destroy(document);
}

static void numbers_are_packed_where_caffe_packs_them(void)
{
    struct psd_document *blob = document_of(BLOB, "shape { dim: [300, 2] } data: [1, -2]");
    struct psd_document *net = net_of("input_dim: [300, 2]");
    static const char packed[] = "\x2a\x08\0\0\x80\x3f\0\0\0\xc0\x3a\x05\x0a\x03\xac\x02\x02";

    CHECK(is_written_as(blob, packed, sizeof packed - 1));
    CHECK(is_written_as(net, "\x20\xac\x02\x20\x02", 5));
    psd_document_destroy(blob);
    psd_document_destroy(net);
}

static void what_equals_its_default_is_written_if_it_was_given(void)
{
    struct psd_document *given = document_of(SOLVER, "solver_mode: GPU type: 'SGD'");
    struct psd_document *absent = document_of(SOLVER, "");

    CHECK(is_written_as(given, "\x88\x01\x01\xc2\x02\x03SGD", 9));
    CHECK(is_written_as(absent, "", 0));
    psd_document_destroy(given);
    psd_document_destroy(absent);
}

/* protobuf-c counts before it writes, so bytes that are not there may be counted. */
static void more_than_two_gibibytes_are_refused(void)
{
    struct psd_document *document = document_of(DATUM, "data: 'x'");
    struct written bytes = {0};
    struct psd_sink sink = {.write = written_add, .context = &bytes};

    ((Caffe__Datum *)document->root)->data.len = (size_t)INT32_MAX - 5;
    CHECK_STATUS(PSD_ENOSUP, psd_wire_write(document->root, &sink));
    CHECK_TEXT("a message of 2147483648 bytes does not fit into the binary form, which ends at 2 "
               "GiB; write the weights to HDF5 or in several files",
               psd_error());
    CHECK(bytes.size == 0);
    psd_document_destroy(document);
}

int main(int argc, char **argv)
{
    RUN(fields_are_written_in_the_order_of_their_numbers)
    RUN(numbers_are_packed_where_caffe_packs_them)
    RUN(what_equals_its_default_is_written_if_it_was_given)
    RUN(more_than_two_gibibytes_are_refused)
}
