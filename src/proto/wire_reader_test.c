/* wire_reader_test.c - the binary form read back, whole or damaged. */
#include "base/alloc.h"
#include "base/file.h"
#include "documents.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A message written byte by byte, and what it should come out as. */
struct piece {
    const char *bytes;
    size_t size;
};

#define BYTES(text)            \
    {                          \
        text, sizeof(text) - 1 \
    }

static struct psd_document *read_piece(const ProtobufCMessageDescriptor *type, struct piece piece)
{
    struct psd_document *document = NULL;

    CHECK_OK(read_bytes(type, "a.caffemodel", piece.bytes, piece.size, &document));
    return document;
}

static void check_means(const ProtobufCMessageDescriptor *type, struct piece piece,
                        const char *text)
{
    struct psd_document *document = read_piece(type, piece);

    CHECK_TEXT(text, text_of(document->root));
    psd_document_destroy(document);
}

/* Reads and writes; sees the same bytes again. */
static void check_kept(const ProtobufCMessageDescriptor *type, struct piece piece)
{
    struct psd_document *document = read_piece(type, piece);
    struct written bytes = written_wire(document->root);

    CHECK(bytes.size == piece.size && memcmp(bytes.data, piece.bytes, piece.size) == 0);
    free(bytes.data);
    psd_document_destroy(document);
}

static void every_shape_is_read(void)
{
    static const struct {
        const ProtobufCMessageDescriptor *type;
        struct piece piece;
        const char *text;
    } cases[] = {
        {NET, BYTES(""), ""},
        {NET, BYTES("\x0a\x03net"), "name: \"net\"\n"},
        {NET, BYTES("\x0a\x00"), "name: \"\"\n"},
        {NET, BYTES("\x28\x01"), "force_backward: true\n"},
        {NET, BYTES("\x28\x80\x80\x80\x80\x10"), "force_backward: true\n"},
        {NET, BYTES("\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "input_dim: -1\n"},
        {NET, BYTES("\x32\x02\x08\x01"), "state {\n  phase: TEST\n}\n"},
        {NET, BYTES("\x32\x00"), "state {\n}\n"},
        {SOLVER, BYTES("\x2d\x00\x00\x00\x3f"), "base_lr: 0.5\n"},
        {SOLVER, BYTES("\xa0\x01\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
         "random_seed: -9223372036854775808\n"},
        {DATUM, BYTES("\x22\x03\x00\xff\x01"), "data: \"\\000\\377\\001\"\n"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        check_means(cases[i].type, cases[i].piece, cases[i].text);
}

static void numbers_are_read_packed_and_unpacked(void)
{
    static const char floats[] = "data: 1\ndata: -2\n", ints[] = "dim: 300\ndim: 2\n";
    const ProtobufCMessageDescriptor *shape = &caffe__blob_shape__descriptor;

    check_means(BLOB, (struct piece)BYTES("\x2a\x08\0\0\x80\x3f\0\0\0\xc0"), floats);
    check_means(BLOB, (struct piece)BYTES("\x2d\0\0\x80\x3f\x2d\0\0\0\xc0"), floats);
    check_means(BLOB, (struct piece)BYTES("\x2a\x04\0\0\x80\x3f\x2d\0\0\0\xc0"), floats);
    check_means(BLOB, (struct piece)BYTES("\x2d\0\0\x80\x3f\x2a\x00\x2a\x04\0\0\0\xc0"), floats);
    check_means(BLOB, (struct piece)BYTES("\x42\x08\0\0\0\0\0\0\xe0\x3f"), "double_data: 0.5\n");
    check_means(BLOB, (struct piece)BYTES("\x41\0\0\0\0\0\0\xe0\x3f"), "double_data: 0.5\n");
    check_means(shape, (struct piece)BYTES("\x0a\x03\xac\x02\x02"), ints);
    check_means(shape, (struct piece)BYTES("\x08\xac\x02\x08\x02"), ints);
    check_means(NET, (struct piece)BYTES("\x22\x02\x01\x02"), "input_dim: 1\ninput_dim: 2\n");
    check_means(LAYER, (struct piece)BYTES("\x5a\x02\x01\x00"),
                "propagate_down: true\npropagate_down: false\n");
}

static void a_single_value_that_comes_twice_is_the_last(void)
{
    check_means(NET,
                (struct piece)BYTES("\x0a\x01"
                                    "a\x0a\x01"
                                    "b"),
                "name: \"b\"\n");
    check_means(NET, (struct piece)BYTES("\x28\x01\x28\x00"), "force_backward: false\n");
}

static void a_single_message_that_comes_twice_is_merged(void)
{
    check_means(NET,
                (struct piece)BYTES("\x32\x05\x10\x03\x1a\x01"
                                    "a\x32\x05\x10\x04\x1a\x01"
                                    "b"),
                "state {\n  level: 4\n  stage: \"a\"\n  stage: \"b\"\n}\n");
}

static void what_the_schema_does_not_know_is_kept(void)
{
    static const struct piece pieces[] = {
        BYTES("\xc0\x3e\x05"), /* field 1000, a varint */
        BYTES("\xc0\x3e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        BYTES("\xc1\x3e\x01\x02\x03\x04\x05\x06\x07\x08"), /* eight bytes */
        BYTES("\xc2\x3e\x03\x61\x00\x62"),                 /* a length and bytes */
        BYTES("\xc2\x3e\x00"),
        BYTES("\xc5\x3e\x01\x02\x03\x04"),                  /* four bytes */
        BYTES("\xc0\x3e\x05\xc0\x3e\x06\xc8\x3e\x07"),      /* several, in their order */
        BYTES("\xf8\xff\xff\xff\x0f\x01"),                  /* the largest number */
        BYTES("\x0a\x01x\x32\x03\xc0\x3e\x05\xc0\x3e\x05"), /* inside a known one, and behind */
        BYTES("\x32\x02\x08\x07"),                          /* a phase that does not exist */
    };

    for (size_t i = 0; i < COUNT(pieces); i++)
        check_kept(NET, pieces[i]);
}

static void a_choice_of_tomorrow_is_kept_and_absent(void)
{
    struct psd_document *document =
        read_piece(NET, (struct piece)BYTES("\x32\x04\x08\x07\x10\x02"));
    const Caffe__NetState *state = net_in(document)->state;

    CHECK(!state->has_phase && state->phase == CAFFE__PHASE__TEST && state->level == 2);
    CHECK(state->base.n_unknown_fields == 1);
    psd_document_destroy(document);
}

static void unknown_choices_in_a_packed_list_leave_it(void)
{
    struct psd_document *document = NULL;
    static const char bytes[] = "\xd2\x3e\x03\x01\x09\x00"; /* blob_share_mode: 1, 9, 0 */

    CHECK_OK(read_bytes(&caffe__v1_layer_parameter__descriptor, "a", bytes, 6, &document));
    CHECK_TEXT("blob_share_mode: PERMISSIVE\nblob_share_mode: STRICT\n"
               "# field 1002, which this version does not know: 1 bytes\n",
               text_of(document->root));
    psd_document_destroy(document);
}

static void a_known_field_of_another_shape_is_kept_as_unknown(void)
{
    static const struct piece pieces[] = {
        BYTES("\x08\x05"),               /* name as a varint */
        BYTES("\x0d\x01\x02\x03\x04"),   /* name as four bytes */
        BYTES("\x2a\x01x"),              /* force_backward as a string */
        BYTES("\x21\1\2\3\4\5\6\7\x08"), /* input_dim as eight bytes */
        BYTES("\x30\x01"),               /* state as a varint */
    };

    for (size_t i = 0; i < COUNT(pieces); i++) {
        struct psd_document *document = read_piece(NET, pieces[i]);
        CHECK(document->root->n_unknown_fields == 1);
        psd_document_destroy(document);
        check_kept(NET, pieces[i]);
    }
}

#define BEYOND  "a number goes on beyond its end"
#define UNNAMED "a field without a name"

static void damage_is_told_with_its_byte_and_field(void)
{
    static const struct {
        struct piece piece;
        const char *sentence;
    } cases[] = {
        {BYTES("\x80"), "byte 1, in " UNNAMED ": " BEYOND},
        {BYTES("\x0a"), "byte 1, in name: " BEYOND},
        {BYTES("\x0a\x05net"), "byte 2, in name: it says that 5 bytes follow, but there are 3"},
        {BYTES("\x0a\xff\xff\xff"), "byte 4, in name: " BEYOND},
        {BYTES("\x0a\x80\x80\x80\x80\x80\x20"),
         "byte 7, in name: it says that 1099511627776 bytes follow, but there are 0"},
        {BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
         "byte 11, in name: it says that 18446744073709551615 bytes follow, but there are 0"},
        {BYTES("\x28"), "byte 1, in force_backward: " BEYOND},
        {BYTES("\x28\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"),
         "byte 11, in force_backward: a number of more than 64 bits"},
        {BYTES("\x0a\x03"
               "a\0b"),
         "byte 5, in name: a string with a NUL byte in it"},
        {BYTES("\x00\x01"), "byte 1, in " UNNAMED ": a field number that cannot be"},
        {BYTES("\x80\x80\x80\x80\x10"), "byte 5, in " UNNAMED ": a field number that cannot be"},
        {BYTES("\x0b\x01"), "byte 1, in " UNNAMED ": a field of a shape that does not exist"},
        {BYTES("\xc7\x3e"), "byte 2, in " UNNAMED ": a field of a shape that does not exist"},
        {BYTES("\xc5\x3e\x01\x02\x03"), "byte 2, in " UNNAMED ": " BEYOND},
        {BYTES("\xc1\x3e\1\2\3\4\5\6\7"), "byte 2, in " UNNAMED ": " BEYOND},
        {BYTES("\xc2\x3e\x02x"),
         "byte 3, in " UNNAMED ": it says that 2 bytes follow, but there are 1"},
        {BYTES("\xa2\x06\x00\xa2\x06\x08\x3a\x06\x2a\x04\0\0\x80"),
         "byte 6, in layer: it says that 8 bytes follow, but there are 7"},
        {BYTES("\xa2\x06\x00\xa2\x06\x07\x3a\x05\x2a\x03\0\0\x80"),
         "byte 10, in layer[1].blobs[0].data: its length is not a whole number of values"},
        {BYTES("\xa2\x06\x05\x3a\x03\x2d\0\0"), "byte 6, in layer[0].blobs[0].data: " BEYOND},
        {BYTES("\x32\x01\x10"), "byte 3, in state.level: " BEYOND},
        {BYTES("\x32\x02\x1a\x01"
               "aa"),
         "byte 4, in state.stage: it says that 1 bytes follow, but there are 0"},
        {BYTES("\xa2\x06\x03\xa2\x09\x00"),
         "byte 6, in layer[0].clip_param.min: this field is missing"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct psd_document *document = NULL;
        char expected[300];
        CHECK_STATUS(PSD_ECONFIG, read_bytes(NET, "a.caffemodel", cases[i].piece.bytes,
                                             cases[i].piece.size, &document));
        snprintf(expected, sizeof expected, "a.caffemodel: damaged or cut short at %s",
                 cases[i].sentence);
        CHECK_TEXT(expected, psd_error());
    }
}

static void a_required_field_of_another_shape_is_missing(void)
{
    static const char bytes[] = "\xa2\x09\x07\x0d\0\0\0\0\x10\x01";
    struct psd_document *document = NULL;

    CHECK_STATUS(PSD_ECONFIG, read_bytes(LAYER, "a", bytes, sizeof bytes - 1, &document));
    CHECK_TEXT("a: damaged or cut short at byte 10, in clip_param.max: this field is missing",
               psd_error());
}

static void a_claim_of_a_terabyte_takes_no_memory(void)
{
    static const char bytes[] = "\x2a\x80\x80\x80\x80\x80\x20";
    struct psd_document *document = NULL;
    struct psd_bytes source;

    CHECK_OK(psd_document_create(BLOB, "a", sizeof bytes - 1, &document));
    size_t before = psd_arena_used(document->arena);
    psd_bytes_init_memory(&source, "a", bytes, sizeof bytes - 1);
    CHECK_STATUS(PSD_ECONFIG, psd_wire_read(document, &source));
    CHECK(psd_arena_used(document->arena) == before);
    psd_document_destroy(document);
}

static void a_file_that_needs_too_much_memory_is_refused(void)
{
    static const char layer[] = {'\xa2', '\x06', '\x00'}; /* hundreds of bytes in memory */
    size_t size = 500000 * sizeof layer;
    struct psd_document *document = NULL;
    char *bytes = malloc(size);

    CHECK(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = layer[i % sizeof layer];
    CHECK_STATUS(PSD_ENOMEM, read_bytes(NET, "many.caffemodel", bytes, size, &document));
    CHECK_TEXT("many.caffemodel: layer needs more than the 66 MiB of memory that something of this "
               "size may take",
               psd_error());
    free(bytes);
}

static struct psd_file small_model(void)
{
    struct psd_file file;

    CHECK_OK(psd_file_open("tests/fixtures/layers/scale_ch_bias/weights.caffemodel", &file));
    CHECK(file.size > 100 && file.size < 1000);
    return file;
}

/* A read that may fail, but only with a sentence about the file. */
static bool is_read_or_refused(const void *data, size_t size)
{
    struct psd_document *document = NULL;
    psd_status status = read_bytes(NET, "cut.caffemodel", data, size, &document);

    if (status == PSD_OK) {
        struct written bytes = written_wire(document->root);
        text_of(document->root);
        free(bytes.data);
        psd_document_destroy(document);
        return true;
    }
    return status == PSD_ECONFIG && strncmp(psd_error(), "cut.caffemodel: damaged", 23) == 0;
}

static void a_model_cut_short_anywhere_is_shorter_or_refused(void)
{
    struct psd_file file = small_model();

    for (size_t size = 0; size <= file.size; size++) {
        char *exact = malloc(size + !size); /* so that a sanitizer sees a step beyond its end */
        CHECK(exact);
        memcpy(exact, file.data, size);
        CHECK(is_read_or_refused(exact, size));
        free(exact);
    }
    psd_file_close(&file);
}

static void a_model_with_any_bit_flipped_is_read_or_refused(void)
{
    struct psd_file file = small_model();
    unsigned char *copy = malloc(file.size);

    CHECK(copy);
    memcpy(copy, file.data, file.size);
    for (size_t bit = 0; bit < 8 * file.size; bit++) {
        copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CHECK(is_read_or_refused(copy, file.size));
        copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    CHECK(is_read_or_refused(copy, file.size));
    free(copy);
    psd_file_close(&file);
}

static void the_fields_of_a_type_are_counted(void)
{
    static const struct {
        struct piece piece;
        size_t net, solver, blob;
    } cases[] = {
        {BYTES(""), 0, 0, 0},
        {BYTES("\x0a\x01n\xa2\x06\x00"), 2, 1, 0}, /* name, layer; train_net */
        {BYTES("\x2d\0\0\0\0\x38\x05"), 1, 2, 1},  /* base_lr, max_iter; data */
        {BYTES("\xa2\x06\x7f"), 1, 0, 0},          /* cut short */
        {BYTES("\x80"), 0, 0, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct piece *piece = &cases[i].piece;
        CHECK(psd_wire_fit(NET, piece->bytes, piece->size) == cases[i].net);
        CHECK(psd_wire_fit(SOLVER, piece->bytes, piece->size) == cases[i].solver);
        CHECK(psd_wire_fit(BLOB, piece->bytes, piece->size) == cases[i].blob);
    }
}

static void every_failed_allocation_is_survived(void)
{
    static const char head[] = "\x0a\x01n\x32\x03\xc0\x3e\x05\x22\x02\x01\x02\xa2\x06\x02\x3a\x00"
                               "\xc2\x3e\xc0\xb8\x02"; /* and 40000 unknown bytes */
    size_t size = sizeof head - 1 + 40000;
    char *bytes = calloc(size, 1);
    bool failed = true;

    CHECK(bytes);
    memcpy(bytes, head, sizeof head - 1);
    for (long n = 0; failed; n++) {
        struct psd_document *document = NULL;
        psd_alloc_fail_at(n);
        psd_status status = read_bytes(NET, "a", bytes, size, &document);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (document == NULL));
        psd_document_destroy(document);
    }
    free(bytes);
}

int main(int argc, char **argv)
{
    RUN(every_shape_is_read)
    RUN(numbers_are_read_packed_and_unpacked)
    RUN(a_single_value_that_comes_twice_is_the_last)
    RUN(a_single_message_that_comes_twice_is_merged)
    RUN(what_the_schema_does_not_know_is_kept)
    RUN(a_choice_of_tomorrow_is_kept_and_absent)
    RUN(unknown_choices_in_a_packed_list_leave_it)
    RUN(a_known_field_of_another_shape_is_kept_as_unknown)
    RUN(damage_is_told_with_its_byte_and_field)
    RUN(a_required_field_of_another_shape_is_missing)
    RUN(a_claim_of_a_terabyte_takes_no_memory)
    RUN(a_file_that_needs_too_much_memory_is_refused)
    RUN(a_model_cut_short_anywhere_is_shorter_or_refused)
    RUN(a_model_with_any_bit_flipped_is_read_or_refused)
    RUN(the_fields_of_a_type_are_counted)
    RUN(every_failed_allocation_is_survived)
}
