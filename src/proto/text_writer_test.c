/* text_writer_test.c - messages as Caffe's tools lay them out. */
#include "documents.h"

static void a_message_is_laid_out_line_by_line(void)
{
    struct psd_document *document =
        net_of("layer { top: ['a', 'b'] convolution_param { kernel_size: [3, 5] engine: CUDNN } "
               "name: 'conv' } name: 'net' force_backward: 0");

    CHECK_TEXT("name: \"net\"\n"
               "force_backward: false\n"
               "layer {\n"
               "  name: \"conv\"\n"
               "  top: \"a\"\n"
               "  top: \"b\"\n"
               "  convolution_param {\n"
               "    kernel_size: 3\n"
               "    kernel_size: 5\n"
               "    engine: CUDNN\n"
               "  }\n"
               "}\n",
               text_of(document->root));
    psd_document_destroy(document);
}

static void what_is_absent_is_not_written_and_what_equals_its_default_is(void)
{
    struct psd_document *document = document_of(SOLVER, "type: 'SGD' momentum2: 0.999");

    CHECK_TEXT("momentum2: 0.999\ntype: \"SGD\"\n", text_of(document->root));
    psd_document_destroy(document);
}

static void strings_are_escaped_however_long_they_are(void)
{
    struct psd_document *document = net_of("name: 'x'");
    char name[3001], expected[12100] = "name: \"";
    size_t used = strlen(expected);

    for (size_t i = 0; i < 3000; i++) {
        name[i] = i % 7 ? '\xc3' : 'a';
        used +=
            (size_t)snprintf(expected + used, sizeof expected - used, "%s", i % 7 ? "\\303" : "a");
    }
    name[3000] = 0;
    snprintf(expected + used, sizeof expected - used, "\"\n");
    net_in(document)->name = name;
    CHECK_TEXT(expected, text_of(document->root));
    psd_document_destroy(document);
}

static void a_choice_without_a_name_is_written_as_a_number(void)
{
    struct psd_document *document = net_of("state { phase: TEST }");

    net_in(document)->state->phase = (Caffe__Phase)7;
    CHECK_TEXT("state {\n  phase: 7\n}\n", text_of(document->root));
    psd_document_destroy(document);
}

static void long_lists_of_numbers_can_be_left_out(void)
{
    struct psd_document *document =
        document_of(BLOB, "shape { dim: [1, 4] } data: [1, 2, 3, 4] diff: [5, 6, 7]");
    struct written text = {0};
    struct psd_sink sink = {.write = written_add, .context = &text};

    psd_text_write(document->root, &(struct psd_text_options){.longest = 3}, &sink);
    written_add(&text, "", 1);
    CHECK_TEXT("# data: 4 values\ndiff: 5\ndiff: 6\ndiff: 7\nshape {\n  dim: 1\n  dim: 4\n}\n",
               text.data);
    free(text.data);
    psd_document_destroy(document);
}

static bool refuse_all(void *context, const void *data, size_t size)
{
    (void)data, (void)size;
    ++*(size_t *)context;
    return false;
}

static void writing_stops_when_nobody_wants_more(void)
{
    struct psd_document *document = document_of(BLOB, "data: [1, 2, 3, 4] diff: [5, 6, 7]");
    size_t calls = 0;
    struct psd_sink sink = {.write = refuse_all, .context = &calls};

    psd_text_write(document->root, NULL, &sink);
    CHECK(calls == 1);
    psd_document_destroy(document);
}

static void messages_and_names_are_never_left_out(void)
{
    struct psd_document *document = net_of("input: ['a', 'b'] layer {} layer {}");
    struct written text = {0};
    struct psd_sink sink = {.write = written_add, .context = &text};

    psd_text_write(document->root, &(struct psd_text_options){.longest = 1}, &sink);
    written_add(&text, "", 1);
    CHECK_TEXT("input: \"a\"\ninput: \"b\"\nlayer {\n}\nlayer {\n}\n", text.data);
    free(text.data);
    psd_document_destroy(document);
}

static void unknown_fields_are_told_in_comments(void)
{
    static const char bytes[] = "\x32\x04\xf8\x3f\x96\x01\xc2\x3e\x03"
                                "abc";
    struct psd_document *document = NULL;

    CHECK_OK(read_bytes(NET, "a", bytes, sizeof bytes - 1, &document));
    CHECK_TEXT("state {\n"
               "  # field 1023, which this version does not know: 2 bytes\n"
               "}\n"
               "# field 1000, which this version does not know: 4 bytes\n",
               text_of(document->root));
    psd_document_destroy(document);
}

static void long_strings_are_written_in_pieces_that_read_as_one(void)
{
    static char text[200000];
    struct psd_document *datum = NULL, *again = NULL;
    size_t lines = 0;

    int start = snprintf(text, sizeof text, "data: '");
    memset(text + start, 'x', sizeof text - 2 - (size_t)start);
    text[sizeof text - 2] = '\'';
    CHECK_OK(read_text(DATUM, "@", text, sizeof text - 1, &datum));
    const char *printed = text_of(datum->root);
    for (const char *at = printed; (at = strchr(at, '\n')); at++)
        lines++;
    CHECK(lines == 4);
    CHECK_OK(read_text(DATUM, "@", printed, strlen(printed), &again));
    const Caffe__Datum *a = (Caffe__Datum *)datum->root, *b = (Caffe__Datum *)again->root;
    CHECK(a->data.len == b->data.len && memcmp(a->data.data, b->data.data, a->data.len) == 0);
    psd_document_destroy(datum);
    psd_document_destroy(again);
}

int main(int argc, char **argv)
{
    RUN(a_message_is_laid_out_line_by_line)
    RUN(what_is_absent_is_not_written_and_what_equals_its_default_is)
    RUN(strings_are_escaped_however_long_they_are)
    RUN(a_choice_without_a_name_is_written_as_a_number)
    RUN(long_lists_of_numbers_can_be_left_out)
    RUN(writing_stops_when_nobody_wants_more)
    RUN(messages_and_names_are_never_left_out)
    RUN(unknown_fields_are_told_in_comments)
    RUN(long_strings_are_written_in_pieces_that_read_as_one)
}
